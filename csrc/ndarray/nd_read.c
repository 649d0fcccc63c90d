/*
 * nd_read.c: strided boxes of an array, decoding only the blocks they touch.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"

enum { PARALLEL_NBYTES = 256 * 1024 }; /* below this the caller decodes alone */

/* What the present chunk of a walk gives to the box. */
typedef struct b2i_read_job {
    b2c_ctx *ctx;
    const b2i_chunk *chunk;
    b2i_walk walk;
    bool other_blocks; /* the stored blocks are not the array's */
    b2i_scratch tmp;   /* a block of such a chunk */
    uint8_t *dst;
} read_job;

static b2c_status decode_block(const read_job *j, uint32_t worker, uint64_t rank, uint8_t *dst,
                               b2c_error *err)
{
    uint64_t n = j->walk.grid->block_nbytes;
    if (j->other_blocks) {
        return b2i_chunk_decode_range(j->ctx, j->chunk, rank * n, n, dst, err);
    }
    return b2i_chunk_decode_unit(j->ctx, worker, j->chunk, (uint32_t)rank, dst, err);
}

static b2c_status read_block(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    read_job *j = arg;
    const b2i_grid *g = j->walk.grid;
    b2i_block_part part;
    b2i_walk_block(&j->walk, item, &part);
    uint64_t run = part.copy.ndim == 0 ? g->itemsize : part.copy.n[0] * g->itemsize;
    if (b2i_copy_is_run(&part.copy) && run == g->block_nbytes) {
        return decode_block(j, worker, part.rank, j->dst + part.box_at, err);
    }
    /* Decoding a range uses the worker's scratch itself. */
    b2i_scratch *scratch = j->other_blocks ? &j->tmp : &j->ctx->workers[worker].d;
    uint8_t *tmp = b2i_scratch_get(scratch, (size_t)g->block_nbytes);
    if (tmp == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(decode_block(j, worker, part.rank, tmp, err));
    b2i_copy_run(&part.copy, tmp + part.block_at, j->dst + part.box_at);
    return B2C_OK;
}

static b2c_status read_open_chunk(read_job *j, b2c_error *err)
{
    const b2i_grid *g = j->walk.grid;
    uint32_t n = j->walk.block_total, nworkers;
    j->other_blocks = j->chunk->head.has_vlblocks || j->chunk->head.blocksize != g->block_nbytes;
    if (j->other_blocks) { /* one after the other: each may use the whole pool */
        for (uint32_t i = 0; i < n; i++) {
            B2I_TRY(read_block(j, i, 0, err));
        }
        return B2C_OK;
    }
    B2I_TRY(b2i_chunk_decode_begin(j->ctx, j->chunk, err));
    bool small = n * g->block_nbytes < PARALLEL_NBYTES;
    B2I_TRY(b2i_ctx_prepare(j->ctx, small ? 1 : n, &nworkers, err));
    return b2i_pool_run(j->ctx->pool, nworkers, n, read_block, j, err);
}

b2c_status b2i_nd_check_chunk(const b2c_schunk *s, const b2i_grid *g, uint64_t nchunk,
                              b2c_error *err)
{
    b2c_status st = B2C_OK;
    if (nchunk >= s->now.nchunks) {
        st = b2i_fail_sizes(err, B2C_E_TRUNCATED, B2C_NO_OFFSET,
                            "the array has fewer chunks than its shape asks for", g->chunk_total,
                            s->now.nchunks);
    } else if (b2i_schunk_chunk_nbytes(s, nchunk) != g->chunk_nbytes) {
        st = b2i_fail_sizes(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                            "a chunk does not have the size that the array's shapes ask for",
                            g->chunk_nbytes, b2i_schunk_chunk_nbytes(s, nchunk));
    }
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
    }
    return st;
}

/* Blocks that lie together are read together, unless the box leaves many between them out. */
static void read_ahead(const b2i_walk *walk, b2i_stored_chunk *c)
{
    b2i_block_part first, last;
    b2i_walk_block(walk, 0, &first);
    b2i_walk_block(walk, walk->block_total - 1, &last);
    uint64_t span = last.rank - first.rank + 1;
    if (span <= walk->block_total + walk->block_total / 4 &&
        c->chunk.head.blocksize == walk->grid->block_nbytes) {
        b2i_stored_chunk_read_ahead(c, (uint32_t)first.rank, (uint32_t)last.rank);
    }
}

static b2c_status read_chunk(const b2c_schunk *s, read_job *j, b2c_error *err)
{
    b2i_stored_chunk c;
    uint64_t nchunk = j->walk.nchunk;
    B2I_TRY(b2i_nd_check_chunk(s, j->walk.grid, nchunk, err));
    B2I_TRY(b2i_stored_chunk_open(s, nchunk, &j->ctx->limits, &c, err));
    j->chunk = &c.chunk;
    read_ahead(&j->walk, &c);
    b2c_status st = read_open_chunk(j, err);
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
    }
    b2i_stored_chunk_close(&c);
    return st;
}

b2c_status b2i_nd_read(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid, b2i_box box,
                       uint8_t *dst, size_t dst_cap, b2c_error *err)
{
    read_job j = { .ctx = ctx, .dst = dst };
    b2c_status st = B2C_OK;
    uint32_t nworkers;
    B2I_TRY(b2i_walk_init(grid, box, &j.walk, err));
    if (j.walk.nbytes > dst_cap) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the box", j.walk.nbytes, dst_cap);
    }
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    for (uint64_t i = 0; st == B2C_OK && i < j.walk.chunk_total; i++) {
        b2i_walk_to(&j.walk, i);
        st = read_chunk(schunk, &j, err);
    }
    b2i_scratch_free(&j.tmp);
    return st;
}
