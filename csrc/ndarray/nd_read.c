/*
 * nd_read.c: strided boxes of an array, decoding only the blocks they touch.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "checked.h"

enum { PARALLEL_NBYTES = 256 * 1024 }; /* below this the caller decodes alone */

/* Items k in [first, first + n) of a box's dimension that fall into [lo, hi) of the array. */
static void clip(b2i_box box, uint32_t d, uint64_t lo, uint64_t hi, uint64_t *first, uint64_t *n)
{
    uint64_t start = box.start[d], step = box.step[d];
    uint64_t from = lo <= start ? 0 : b2i_ceil_div(lo - start, step);
    uint64_t to = hi <= start ? 0 : b2i_ceil_div(hi - start, step);
    to = to > box.count[d] ? box.count[d] : to;
    *first = from;
    *n = to > from ? to - from : 0;
}

/* What one chunk gives to the box. */
typedef struct b2i_read_job {
    b2c_ctx *ctx;
    const b2i_grid *grid;
    const b2i_chunk *chunk;
    b2i_box box;
    uint64_t dst_stride[B2C_MAX_DIM];
    uint64_t origin[B2C_MAX_DIM];      /* of the chunk, in items of the array */
    uint64_t first_block[B2C_MAX_DIM]; /* first block touched along each dimension */
    uint64_t touched[B2C_MAX_DIM];     /* blocks from it on that may be touched */
    uint8_t *dst;
    b2i_scratch *scratch; /* for chunks whose stored blocks are not the array's; else NULL */
} read_job;

/*
 * The copy from a decoded block (by its coordinate in the chunk) into the box.
 * Returns false when the block holds none of its items.
 */
static bool plan_copy(const read_job *j, const uint64_t *block, b2i_copy *copy, uint64_t *src_at,
                      uint64_t *dst_at)
{
    const b2i_grid *g = j->grid;
    uint64_t block_stride[B2C_MAX_DIM];
    b2i_strides(g->ndim, g->blocks, g->itemsize, block_stride);
    copy->ndim = g->ndim;
    copy->itemsize = g->itemsize;
    *src_at = *dst_at = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        uint64_t lo = j->origin[d] + block[d] * g->blocks[d], hi = lo + g->blocks[d];
        uint64_t chunk_end = j->origin[d] + g->chunks[d], first;
        hi = hi > chunk_end ? chunk_end : hi;
        clip(j->box, d, lo, hi, &first, &copy->n[d]);
        if (copy->n[d] == 0) {
            return false;
        }
        copy->src_stride[d] = block_stride[d] * j->box.step[d];
        copy->dst_stride[d] = j->dst_stride[d];
        *src_at += (j->box.start[d] + first * j->box.step[d] - lo) * block_stride[d];
        *dst_at += first * j->dst_stride[d];
    }
    b2i_copy_simplify(copy);
    return true;
}

static b2c_status decode_block(const read_job *j, uint32_t worker, uint64_t rank, uint8_t *dst,
                               b2c_error *err)
{
    if (j->scratch == NULL) {
        return b2i_chunk_decode_unit(j->ctx, worker, j->chunk, (uint32_t)rank, dst, err);
    }
    return b2i_chunk_decode_range(j->ctx, j->chunk, rank * j->grid->block_nbytes,
                                  j->grid->block_nbytes, dst, err);
}

static b2c_status read_block(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const read_job *j = arg;
    const b2i_grid *g = j->grid;
    uint64_t block[B2C_MAX_DIM], rank = 0, src_at, dst_at;
    b2i_copy copy;
    b2i_unrank(g->ndim, j->touched, item, block);
    for (uint32_t d = 0; d < g->ndim; d++) {
        block[d] += j->first_block[d];
        rank = rank * g->nblocks[d] + block[d];
    }
    if (!plan_copy(j, block, &copy, &src_at, &dst_at)) {
        return B2C_OK;
    }
    uint64_t run = copy.ndim == 0 ? g->itemsize : copy.n[0] * g->itemsize;
    if (b2i_copy_is_run(&copy) && run == g->block_nbytes) {
        return decode_block(j, worker, rank, j->dst + dst_at, err);
    }
    b2i_scratch *scratch = j->scratch != NULL ? j->scratch : &j->ctx->workers[worker].d;
    uint8_t *tmp = b2i_scratch_get(scratch, (size_t)g->block_nbytes);
    if (tmp == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(decode_block(j, worker, rank, tmp, err));
    b2i_copy_run(&copy, tmp + src_at, j->dst + dst_at);
    return B2C_OK;
}

/* Blocks of the chunk at j->origin that the box touches; their number. */
static uint64_t touched_blocks(read_job *j)
{
    const b2i_grid *g = j->grid;
    uint64_t total = 1;
    for (uint32_t d = 0; d < g->ndim; d++) {
        uint64_t first, n;
        clip(j->box, d, j->origin[d], j->origin[d] + g->chunks[d], &first, &n);
        if (n == 0) {
            return 0;
        }
        uint64_t lo = j->box.start[d] + first * j->box.step[d] - j->origin[d];
        uint64_t hi = lo + (n - 1) * j->box.step[d];
        j->first_block[d] = lo / g->blocks[d];
        j->touched[d] = hi / g->blocks[d] - j->first_block[d] + 1;
        total *= j->touched[d];
    }
    return total;
}

static b2c_status read_open_chunk(read_job *j, uint64_t nblocks, b2c_error *err)
{
    const b2i_grid *g = j->grid;
    uint32_t nworkers;
    if (j->chunk->head.nbytes != g->chunk_nbytes) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                              "a chunk does not have the size that the array's shapes ask for",
                              g->chunk_nbytes, j->chunk->head.nbytes);
    }
    if (j->chunk->head.has_vlblocks || j->chunk->head.blocksize != g->block_nbytes) {
        b2i_scratch scratch = { 0 };
        b2c_status st = B2C_OK;
        j->scratch = &scratch;
        for (uint64_t i = 0; st == B2C_OK && i < nblocks; i++) {
            st = read_block(j, (uint32_t)i, 0, err);
        }
        b2i_scratch_free(&scratch);
        j->scratch = NULL;
        return st;
    }
    B2I_TRY(b2i_chunk_decode_begin(j->ctx, j->chunk, err));
    bool small = nblocks * g->block_nbytes < PARALLEL_NBYTES;
    B2I_TRY(b2i_ctx_prepare(j->ctx, small ? 1 : (uint32_t)nblocks, &nworkers, err));
    return b2i_pool_run(j->ctx->pool, nworkers, (uint32_t)nblocks, read_block, j, err);
}

static b2c_status read_chunk(const b2c_schunk *s, read_job *j, uint64_t nchunk, b2c_error *err)
{
    b2i_stored_chunk c;
    uint64_t nblocks = touched_blocks(j);
    if (nblocks == 0) {
        return B2C_OK; /* the step passes over it */
    }
    if (nchunk >= s->now.nchunks) {
        b2c_status st = b2i_fail_sizes(err, B2C_E_TRUNCATED, B2C_NO_OFFSET,
                                       "the array has fewer chunks than its shape asks for",
                                       j->grid->chunk_total, s->now.nchunks);
        b2i_err_chunk(err, (int64_t)nchunk);
        return st;
    }
    B2I_TRY(b2i_stored_chunk_open(s, nchunk, &j->ctx->limits, &c, err));
    j->chunk = &c.chunk;
    b2c_status st = read_open_chunk(j, nblocks, err);
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
    }
    b2i_stored_chunk_close(&c);
    return st;
}

static b2c_status check_box(const b2i_grid *g, b2i_box box, size_t dst_cap, uint64_t *nbytes,
                            b2c_error *err)
{
    *nbytes = g->itemsize;
    for (uint32_t d = 0; d < g->ndim; d++) {
        if (box.step[d] == 0) {
            return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "step", "must not be 0");
        }
        if (box.count[d] > 0 && (box.start[d] >= g->shape[d] ||
                                 box.count[d] - 1 > (g->shape[d] - 1 - box.start[d]) / box.step[d])) {
            return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                                  "the box leaves the array's shape", g->shape[d], box.start[d]);
        }
        /* Never above the array itself, unless another dimension is 0. */
        *nbytes = *nbytes > UINT64_MAX / (box.count[d] + 1) ? 0 : *nbytes * box.count[d];
    }
    if (*nbytes > dst_cap) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the box", *nbytes, dst_cap);
    }
    return B2C_OK;
}

b2c_status b2i_nd_read(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid, b2i_box box,
                       uint8_t *dst, size_t dst_cap, b2c_error *err)
{
    read_job j = { .ctx = ctx, .grid = grid, .box = box, .dst = dst };
    uint64_t nbytes, total = 1, first[B2C_MAX_DIM], n[B2C_MAX_DIM];
    uint32_t nworkers;
    B2I_TRY(check_box(grid, box, dst_cap, &nbytes, err));
    if (nbytes == 0) {
        return B2C_OK;
    }
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    b2i_strides(grid->ndim, box.count, grid->itemsize, j.dst_stride);
    for (uint32_t d = 0; d < grid->ndim; d++) {
        uint64_t last = box.start[d] + (box.count[d] - 1) * box.step[d];
        first[d] = box.start[d] / grid->chunks[d];
        n[d] = last / grid->chunks[d] - first[d] + 1;
        total *= n[d];
    }
    for (uint64_t i = 0; i < total; i++) {
        uint64_t chunk[B2C_MAX_DIM], nchunk = 0;
        b2i_unrank(grid->ndim, n, i, chunk);
        for (uint32_t d = 0; d < grid->ndim; d++) {
            chunk[d] += first[d];
            nchunk = nchunk * grid->nchunks[d] + chunk[d];
            j.origin[d] = chunk[d] * grid->chunks[d];
        }
        B2I_TRY(read_chunk(schunk, &j, nchunk, err));
    }
    return B2C_OK;
}
