/*
 * nd_write.c: C-ordered items into chunks of blocks: whole chunks, and boxes of
 * arrays that are there already.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "checked.h"

enum { PARALLEL_NBYTES = 1024 * 1024 };

/* Gathering the blocks of one chunk. */
typedef struct b2i_gather_job {
    const b2i_grid *grid;
    const uint8_t *src; /* first item of the chunk */
    uint64_t src_stride[B2C_MAX_DIM];
    uint64_t valid[B2C_MAX_DIM]; /* items of the chunk inside the array */
    uint8_t *dst;                /* grid->chunk_nbytes */
} gather_job;

static b2c_status gather_block(void *arg, uint32_t rank, uint32_t worker, b2c_error *err)
{
    const gather_job *j = arg;
    const b2i_grid *g = j->grid;
    uint64_t block[B2C_MAX_DIM], block_stride[B2C_MAX_DIM], src_at = 0;
    b2i_copy copy = { .ndim = g->ndim, .itemsize = g->itemsize };
    uint8_t *dst = j->dst + rank * g->block_nbytes;
    bool is_full = true, is_empty = false;
    (void)worker;
    (void)err;

    b2i_unrank(g->ndim, g->nblocks, rank, block);
    b2i_strides(g->ndim, g->blocks, g->itemsize, block_stride);
    for (uint32_t d = 0; d < g->ndim; d++) {
        uint64_t lo = block[d] * g->blocks[d];
        uint64_t left = j->valid[d] > lo ? j->valid[d] - lo : 0;
        copy.n[d] = left < g->blocks[d] ? left : g->blocks[d];
        copy.src_stride[d] = j->src_stride[d];
        copy.dst_stride[d] = block_stride[d];
        src_at += lo * j->src_stride[d];
        is_full = is_full && copy.n[d] == g->blocks[d];
        is_empty = is_empty || copy.n[d] == 0;
    }
    if (!is_full) {
        memset(dst, 0, (size_t)g->block_nbytes); /* padding is zeros */
    }
    if (!is_empty) {
        b2i_copy_simplify(&copy);
        b2i_copy_run(&copy, j->src + src_at, dst);
    }
    return B2C_OK;
}

/* Items of a chunk (by its coordinate) that lie inside the array. */
static void valid_items(const b2i_grid *g, const uint64_t *chunk, uint64_t *valid)
{
    for (uint32_t d = 0; d < g->ndim; d++) {
        uint64_t left = g->shape[d] - chunk[d] * g->chunks[d];
        valid[d] = left < g->chunks[d] ? left : g->chunks[d];
    }
}

/* The chunk as it is stored: 'scratch' filled, or the source itself when it is in order already. */
static b2c_status gather(b2c_ctx *ctx, gather_job *j, b2i_scratch *scratch, b2i_span *out,
                         b2c_error *err)
{
    const b2i_grid *g = j->grid;
    uint32_t nworkers;
    b2i_copy whole = { .ndim = g->ndim, .itemsize = g->itemsize };
    uint64_t nbytes = g->itemsize;
    b2i_strides(g->ndim, g->blocks, g->itemsize, whole.dst_stride);
    for (uint32_t d = 0; d < g->ndim; d++) {
        whole.n[d] = j->valid[d];
        whole.src_stride[d] = j->src_stride[d];
        nbytes *= j->valid[d];
    }
    b2i_copy_simplify(&whole);
    if (g->block_total == 1 && nbytes == g->chunk_nbytes && b2i_copy_is_run(&whole)) {
        *out = b2i_span_of(j->src, (size_t)nbytes);
        return B2C_OK;
    }
    j->dst = b2i_scratch_get(scratch, (size_t)g->chunk_nbytes);
    if (j->dst == NULL) {
        return b2i_fail_memory(err);
    }
    bool small = g->chunk_nbytes < PARALLEL_NBYTES;
    B2I_TRY(b2i_ctx_prepare(ctx, small ? 1 : g->block_total, &nworkers, err));
    B2I_TRY(b2i_pool_run(ctx->pool, nworkers, g->block_total, gather_block, j, err));
    *out = b2i_span_of(j->dst, (size_t)g->chunk_nbytes);
    return B2C_OK;
}

static b2c_status check_next(const b2c_schunk *s, const b2i_grid *g, uint64_t nchunk,
                             b2c_error *err)
{
    if (nchunk != s->now.nchunks || nchunk >= g->chunk_total) {
        return b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "not the next chunk of the array",
                              s->now.nchunks, nchunk);
    }
    return B2C_OK;
}

static b2c_status check_len(uint64_t want, size_t have, b2c_error *err)
{
    if (want != have) {
        return b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                              "the source does not have the size of the items", want, have);
    }
    return B2C_OK;
}

/* Compresses a chunk in the order of storage and makes it chunk n, new or not. */
static b2c_status store_chunk(b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, b2i_span data,
                              b2i_scratch *scratch, b2c_error *err)
{
    b2i_span chunk;
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(b2i_schunk_compress(s, ctx, data, scratch, &chunk, err));
    return nchunk == s->now.nchunks ? b2i_schunk_append_chunk(s, chunk, err)
                                    : b2i_schunk_update_chunk(s, nchunk, chunk, err);
}

b2c_status b2i_nd_append_chunk(b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid,
                               uint64_t nchunk, b2i_span src, b2c_error *err)
{
    uint64_t chunk[B2C_MAX_DIM], want = grid->itemsize;
    gather_job j = { .grid = grid, .src = src.p };
    b2i_scratch data = { 0 }, packed = { 0 };
    b2i_span bytes;
    B2I_TRY(check_next(schunk, grid, nchunk, err));
    b2i_unrank(grid->ndim, grid->nchunks, nchunk, chunk);
    valid_items(grid, chunk, j.valid);
    b2i_strides(grid->ndim, j.valid, grid->itemsize, j.src_stride);
    for (uint32_t d = 0; d < grid->ndim; d++) {
        want *= j.valid[d];
    }
    B2I_TRY(check_len(want, src.n, err));
    b2c_status st = gather(ctx, &j, &data, &bytes, err);
    if (st == B2C_OK) {
        st = store_chunk(schunk, ctx, nchunk, bytes, &packed, err);
    }
    b2i_scratch_free(&data);
    b2i_scratch_free(&packed);
    return st;
}

b2c_status b2i_nd_append_all(b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid, b2i_span src,
                             b2c_error *err)
{
    uint64_t want = grid->itemsize;
    gather_job j = { .grid = grid };
    b2i_scratch data = { 0 }, packed = { 0 };
    b2c_status st = B2C_OK;
    for (uint32_t d = 0; d < grid->ndim; d++) {
        want = grid->chunk_total == 0 ? 0 : want * grid->shape[d];
    }
    B2I_TRY(check_len(want, src.n, err));
    if (grid->chunk_total > 0) {
        B2I_TRY(check_next(schunk, grid, 0, err));
    }
    b2i_strides(grid->ndim, grid->shape, grid->itemsize, j.src_stride);
    for (uint64_t i = 0; st == B2C_OK && i < grid->chunk_total; i++) {
        uint64_t chunk[B2C_MAX_DIM], at = 0;
        b2i_span bytes;
        b2i_unrank(grid->ndim, grid->nchunks, i, chunk);
        valid_items(grid, chunk, j.valid);
        for (uint32_t d = 0; d < grid->ndim; d++) {
            at += chunk[d] * grid->chunks[d] * j.src_stride[d];
        }
        j.src = src.p + at;
        st = gather(ctx, &j, &data, &bytes, err);
        if (st == B2C_OK) {
            st = store_chunk(schunk, ctx, i, bytes, &packed, err);
        }
    }
    b2i_scratch_free(&data);
    b2i_scratch_free(&packed);
    return st;
}

/* ---- boxes ---- */

typedef struct b2i_box_job {
    b2c_schunk *s;
    b2c_ctx *ctx;
    b2i_walk walk;
    const uint8_t *src; /* the box, C-ordered */
    b2i_scratch data;   /* a chunk in the order of storage */
    b2i_scratch packed; /* its compressed form */
} box_job;

/* A chunk whose items are all overwritten: what it held before is not needed. */
static b2c_status replace_chunk(box_job *j, b2i_span *out, b2c_error *err)
{
    const b2i_walk *w = &j->walk;
    gather_job gj = { .grid = w->grid, .src = j->src };
    for (uint32_t d = 0; d < w->grid->ndim; d++) {
        gj.src += w->first[d] * w->stride[d];
        gj.src_stride[d] = w->stride[d];
        gj.valid[d] = w->valid[d];
    }
    return gather(j->ctx, &gj, &j->data, out, err);
}

static b2c_status scatter_block(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const box_job *j = arg;
    b2i_block_part part;
    (void)worker;
    (void)err;
    b2i_walk_block(&j->walk, item, &part);
    b2i_copy to_block = part.copy;
    memcpy(to_block.src_stride, part.copy.dst_stride, sizeof to_block.src_stride);
    memcpy(to_block.dst_stride, part.copy.src_stride, sizeof to_block.dst_stride);
    uint8_t *block = j->data.p + part.rank * j->walk.grid->block_nbytes;
    b2i_copy_run(&to_block, j->src + part.box_at, block + part.block_at);
    return B2C_OK;
}

static b2c_status patch_chunk(box_job *j, b2i_span *out, b2c_error *err)
{
    const b2i_grid *g = j->walk.grid;
    size_t n = (size_t)g->chunk_nbytes, len;
    uint32_t nworkers;
    uint8_t *p = b2i_scratch_get(&j->data, n);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_schunk_decode_chunk(j->s, j->ctx, j->walk.nchunk, p, n, &len, err));
    bool small = j->walk.block_total * g->block_nbytes < PARALLEL_NBYTES;
    B2I_TRY(b2i_ctx_prepare(j->ctx, small ? 1 : j->walk.block_total, &nworkers, err));
    B2I_TRY(b2i_pool_run(j->ctx->pool, nworkers, j->walk.block_total, scatter_block, j, err));
    *out = b2i_span_of(p, n);
    return B2C_OK;
}

static b2c_status write_chunk(box_job *j, b2c_error *err)
{
    uint64_t nchunk = j->walk.nchunk;
    b2i_span data;
    B2I_TRY(b2i_nd_check_chunk(j->s, j->walk.grid, nchunk, err));
    B2I_TRY(b2i_walk_covers(&j->walk) ? replace_chunk(j, &data, err) : patch_chunk(j, &data, err));
    return store_chunk(j->s, j->ctx, nchunk, data, &j->packed, err);
}

static b2c_status write_chunks(box_job *j, b2c_error *err)
{
    for (uint64_t i = 0; i < j->walk.chunk_total; i++) {
        b2i_walk_to(&j->walk, i);
        b2c_status st = write_chunk(j, err);
        if (st != B2C_OK) {
            b2i_err_chunk(err, (int64_t)j->walk.nchunk);
            return st;
        }
    }
    return B2C_OK;
}

b2c_status b2i_nd_write(b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid, b2i_box box,
                        b2i_span src, b2c_error *err)
{
    box_job j = { .s = schunk, .ctx = ctx, .src = src.p };
    bool opened = false;
    B2I_TRY(b2i_schunk_check_writable(schunk, err));
    B2I_TRY(b2i_walk_init(grid, box, &j.walk, err));
    B2I_TRY(check_len(j.walk.nbytes, src.n, err));
    if (grid->chunk_nbytes > ctx->limits.max_chunk_nbytes) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                              "the array's chunks are larger than the limit",
                              ctx->limits.max_chunk_nbytes, grid->chunk_nbytes);
    }
    if (j.walk.chunk_total > 1) { /* a single chunk is one edit anyway */
        B2I_TRY(b2i_schunk_begin_steps(schunk, &opened, err));
    }
    b2c_status st = write_chunks(&j, err);
    b2i_scratch_free(&j.data);
    b2i_scratch_free(&j.packed);
    return b2i_schunk_end_steps(schunk, opened, st, err);
}
