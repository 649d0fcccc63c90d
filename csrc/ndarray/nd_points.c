/*
 * nd_points.c: single items of an array, in the order of the blocks that hold them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "checked.h"

enum { PARALLEL_NBYTES = 256 * 1024 }; /* below this the caller decodes alone */

typedef struct b2i_point {
    uint64_t key; /* number of the block, counted through all chunks */
    uint64_t i;   /* number of the point */
    uint32_t at;  /* item in the block */
} point;

typedef struct b2i_points_job {
    b2c_ctx *ctx;
    const b2i_grid *grid;
    const b2i_chunk *chunk;
    const point *points;  /* sorted by key */
    const uint64_t *runs; /* where the points of each block of the chunk begin, and the end */
    bool other_blocks;    /* the stored blocks are not the array's */
    b2i_scratch tmp;      /* a block of such a chunk */
    uint8_t *dst;
} points_job;

/* ---- order ---- */

static b2c_status make_point(const b2c_schunk *s, const b2i_grid *g, const uint64_t *coord,
                             point *out, b2c_error *err)
{
    uint64_t nchunk = 0, block = 0, at = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        if (coord[d] >= g->shape[d]) {
            return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                                  "a place lies outside the array's shape", g->shape[d], coord[d]);
        }
        uint64_t in_chunk = coord[d] % g->chunks[d];
        nchunk = nchunk * g->nchunks[d] + coord[d] / g->chunks[d];
        block = block * g->nblocks[d] + in_chunk / g->blocks[d];
        at = at * g->blocks[d] + in_chunk % g->blocks[d];
    }
    B2I_TRY(b2i_nd_check_chunk(s, g, nchunk, err));
    out->key = nchunk * g->block_total + block; /* < 2^28 * 2^31 */
    out->at = (uint32_t)at;
    return B2C_OK;
}

/* Distributes n points by 8 bits of their keys; keeps the order of equal ones. */
static void sort_pass(const point *from, point *to, uint64_t n, unsigned shift)
{
    uint64_t at[257] = { 0 };
    for (uint64_t i = 0; i < n; i++) {
        at[(from[i].key >> shift & 0xFF) + 1]++;
    }
    for (unsigned v = 1; v < 256; v++) {
        at[v] += at[v - 1];
    }
    for (uint64_t i = 0; i < n; i++) {
        to[at[from[i].key >> shift & 0xFF]++] = from[i];
    }
}

/* Sorts *p by key, with as many points of room at *spare; may exchange the two. */
static void sort_points(point **p, point **spare, uint64_t n)
{
    uint64_t varies = 0;
    bool sorted = true;
    for (uint64_t i = 1; i < n; i++) {
        varies |= (*p)[i].key ^ (*p)[0].key;
        sorted = sorted && (*p)[i - 1].key <= (*p)[i].key;
    }
    for (unsigned shift = 0; !sorted && shift < 64; shift += 8) {
        if ((varies >> shift & 0xFF) != 0) {
            sort_pass(*p, *spare, n, shift);
            point *swap = *p;
            *p = *spare;
            *spare = swap;
        }
    }
}

/* ---- items ---- */

static void copy_item(uint8_t *dst, const uint8_t *src, size_t n)
{
    switch (n) { /* constant sizes become loads and stores */
    case 1:
        *dst = *src;
        break;
    case 2:
        memcpy(dst, src, 2);
        break;
    case 4:
        memcpy(dst, src, 4);
        break;
    case 8:
        memcpy(dst, src, 8);
        break;
    default:
        memcpy(dst, src, n);
    }
}

static b2c_status read_run(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    points_job *j = arg;
    const b2i_grid *g = j->grid;
    const point *p = j->points + j->runs[item], *end = j->points + j->runs[item + 1];
    uint64_t rank = p->key % g->block_total, n = g->block_nbytes;
    b2i_scratch *scratch = j->other_blocks ? &j->tmp : &j->ctx->workers[worker].d;
    uint8_t *block = b2i_scratch_get(scratch, (size_t)n);
    if (block == NULL) {
        return b2i_fail_memory(err);
    }
    if (j->other_blocks) {
        B2I_TRY(b2i_chunk_decode_range(j->ctx, j->chunk, rank * n, n, block, err));
    } else {
        B2I_TRY(b2i_chunk_decode_unit(j->ctx, worker, j->chunk, (uint32_t)rank, block, err));
    }
    for (; p < end; p++) {
        copy_item(j->dst + p->i * g->itemsize, block + p->at * g->itemsize, g->itemsize);
    }
    return B2C_OK;
}

/* The runs of one open chunk. */
static b2c_status read_runs(points_job *j, uint32_t nruns, b2c_error *err)
{
    uint32_t nworkers;
    uint64_t block_nbytes = j->grid->block_nbytes;
    j->other_blocks = j->chunk->head.has_vlblocks || j->chunk->head.blocksize != block_nbytes;
    if (j->other_blocks) { /* one after the other: each may use the whole pool */
        for (uint32_t i = 0; i < nruns; i++) {
            B2I_TRY(read_run(j, i, 0, err));
        }
        return B2C_OK;
    }
    B2I_TRY(b2i_chunk_decode_begin(j->ctx, j->chunk, err));
    bool small = nruns * block_nbytes < PARALLEL_NBYTES;
    B2I_TRY(b2i_ctx_prepare(j->ctx, small ? 1 : nruns, &nworkers, err));
    return b2i_pool_run(j->ctx->pool, nworkers, nruns, read_run, j, err);
}

static b2c_status read_chunk(const b2c_schunk *s, points_job *j, uint64_t nchunk, uint32_t nruns,
                             b2c_error *err)
{
    b2i_stored_chunk c;
    B2I_TRY(b2i_stored_chunk_open(s, nchunk, &j->ctx->limits, &c, err));
    j->chunk = &c.chunk;
    b2c_status st = read_runs(j, nruns, err);
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
    }
    b2i_stored_chunk_close(&c);
    return st;
}

/* All chunks in turn.  'runs' has room for n + 1 numbers. */
static b2c_status read_sorted(const b2c_schunk *s, points_job *j, uint64_t n, uint64_t *runs,
                              b2c_error *err)
{
    const point *p = j->points;
    for (uint64_t at = 0; at < n;) {
        uint64_t nchunk = p[at].key / j->grid->block_total, end_key;
        uint32_t nruns = 0;
        end_key = (nchunk + 1) * j->grid->block_total;
        runs[0] = at;
        while (at < n && p[at].key < end_key) {
            uint64_t key = p[at].key;
            while (at < n && p[at].key == key) {
                at++;
            }
            nruns++;
            runs[nruns] = at;
        }
        j->runs = runs;
        B2I_TRY(read_chunk(s, j, nchunk, nruns, err));
    }
    return B2C_OK;
}

static b2c_status check_points(const b2i_grid *g, uint64_t n, size_t dst_cap, size_t *room,
                               b2c_error *err)
{
    uint64_t nbytes, need;
    if (!b2i_mul_u64(n, g->itemsize, &nbytes) || nbytes > dst_cap) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the items",
                              n > UINT64_MAX / g->itemsize ? UINT64_MAX : nbytes, dst_cap);
    }
    if (!b2i_mul_u64(n + 1, sizeof(point), &need) || !b2i_u64_to_size(need, room)) {
        return b2i_fail_memory(err);
    }
    return B2C_OK;
}

b2c_status b2i_nd_read_points(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid,
                              const uint64_t *coords, uint64_t npoints, uint8_t *dst,
                              size_t dst_cap, b2c_error *err)
{
    points_job j = { .ctx = ctx, .grid = grid, .dst = dst };
    size_t room;
    uint32_t nworkers;
    b2c_status st = B2C_OK;
    B2I_TRY(check_points(grid, npoints, dst_cap, &room, err));
    if (npoints == 0) {
        return B2C_OK;
    }
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    point *points = b2i_malloc(room), *spare = b2i_malloc(room);
    if (points == NULL || spare == NULL) {
        st = b2i_fail_memory(err);
    }
    for (uint64_t i = 0; st == B2C_OK && i < npoints; i++) {
        points[i].i = i;
        st = make_point(schunk, grid, coords, &points[i], err);
        coords = grid->ndim == 0 ? coords : coords + grid->ndim;
    }
    if (st == B2C_OK) {
        sort_points(&points, &spare, npoints);
        j.points = points;
        st = read_sorted(schunk, &j, npoints, (uint64_t *)(void *)spare, err);
    }
    b2i_scratch_free(&j.tmp);
    b2i_free(points);
    b2i_free(spare);
    return st;
}
