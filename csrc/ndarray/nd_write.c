/*
 * nd_write.c: C-ordered items into chunks of blocks: whole chunks, and selections
 * of arrays that are there already.
 *
 * The blocks of a large chunk are gathered and compressed by several threads; of small chunks
 * several are made at once.  They are stored in their order, so that the bytes do not depend on it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"

enum { PARALLEL_NBYTES = 1024 * 1024 };

/* Chunks up to half of this are made several at once, as many as it holds. */
#define BATCH_NBYTES ((uint64_t)4 << 20)

/* Gathering the blocks of one chunk. */
typedef struct gather_job {
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

/* Whether the blocks of a chunk follow each other in C order: ones, a cut axis, whole axes. */
static bool blocks_follow(const b2i_grid *g)
{
    uint32_t d = 0;
    while (d < g->ndim && g->blocks[d] == 1) {
        d++;
    }
    for (d++; d < g->ndim; d++) {
        if (g->blocks[d] != g->ext[d]) {
            return false;
        }
    }
    return true;
}

/* The chunk as it is stored: 'scratch' filled, or the source itself when it is in order already. */
static b2c_status gather(b2c_ctx *ctx, gather_job *j, b2i_scratch *scratch, b2i_span *out,
                         b2c_error *err)
{
    const b2i_grid *g = j->grid;
    uint32_t nworkers;
    b2i_copy whole = { .ndim = g->ndim, .itemsize = g->itemsize };
    uint64_t nbytes = g->itemsize;
    b2i_strides(g->ndim, g->ext, g->itemsize, whole.dst_stride);
    for (uint32_t d = 0; d < g->ndim; d++) {
        whole.n[d] = j->valid[d];
        whole.src_stride[d] = j->src_stride[d];
        nbytes *= j->valid[d];
    }
    b2i_copy_simplify(&whole);
    if (blocks_follow(g) && nbytes == g->chunk_nbytes && b2i_copy_is_run(&whole)) {
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

static b2c_status check_len(uint64_t want, size_t have, b2c_error *err)
{
    if (want != have) {
        return b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                              "the source does not have the size of the items", want, have);
    }
    return B2C_OK;
}

/* ---- several chunks ---- */

typedef struct write_job {
    b2c_schunk *s;
    b2c_ctx *ctx;
    const b2i_selection *sel;
    const uint8_t *src;
    bool repeats; /* src is one item, which goes everywhere */
    bool appends;
    uint64_t first;      /* chunk of the selection that the batch begins with */
    b2i_scratch *data;   /* of each worker: a chunk in the order of storage */
    b2i_scratch *packed; /* of each chunk of the batch: its compressed form */
    b2i_span *made;      /* in 'packed' */
} write_job;

/* A chunk whose items are all overwritten: what it held before is not needed. */
static b2c_status replace_chunk(const write_job *w, b2c_ctx *ctx, const b2i_chunk_part *part,
                                b2i_scratch *data, b2i_span *out, b2c_error *err)
{
    const b2i_walk *walk = &part->walk;
    gather_job j = { .grid = w->sel->grid, .src = w->src };
    for (uint32_t d = 0; d < j.grid->ndim; d++) {
        j.src_stride[d] = w->repeats ? 0 : walk->stride[d];
        j.src += walk->first[d] * j.src_stride[d];
        j.valid[d] = walk->valid[d];
    }
    return gather(ctx, &j, data, out, err);
}

static void put_rows(const write_job *w, const b2i_chunk_part *part, const b2i_block_rows *rows,
                     uint8_t *block)
{
    if (w->repeats) {
        b2i_select_spread(part, rows, block, w->src);
    } else {
        b2i_select_put(part, rows, block, w->src);
    }
}

typedef struct put_job {
    const write_job *w;
    const b2i_chunk_part *part;
    uint8_t *chunk;
} put_job;

static b2c_status put_block(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const put_job *j = arg;
    b2i_block_rows rows;
    (void)worker;
    (void)err;
    b2i_select_block(j->part, item, &rows);
    uint8_t *block = j->chunk + rows.part.rank * j->part->sel->grid->block_nbytes;
    put_rows(j->w, j->part, &rows, block);
    return B2C_OK;
}

/* A chunk whose items change in part: all of it decoded, and changed. */
static b2c_status change_chunk(const write_job *w, b2c_ctx *ctx, const b2i_chunk_part *part,
                               b2i_scratch *data, b2i_span *out, b2c_error *err)
{
    const b2i_grid *g = w->sel->grid;
    size_t n = (size_t)g->chunk_nbytes, len;
    uint32_t nworkers;
    put_job j = { w, part, b2i_scratch_get(data, n) };
    if (j.chunk == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_schunk_decode_chunk(w->s, ctx, part->nchunk, NULL, j.chunk, n, &len, err));
    bool small = part->nblocks * g->block_nbytes < PARALLEL_NBYTES;
    B2I_TRY(b2i_ctx_prepare(ctx, small ? 1 : part->nblocks, &nworkers, err));
    B2I_TRY(b2i_pool_run(ctx->pool, nworkers, part->nblocks, put_block, &j, err));
    *out = b2i_span_of(j.chunk, n);
    return B2C_OK;
}

/* The same where few blocks change: only these are decoded and compressed again. */
typedef struct patch_job {
    const write_job *w;
    b2c_ctx *ctx;
    const b2i_chunk *chunk;
    const b2i_chunk_part *part;
    uint8_t *blocks; /* those that change */
    uint32_t *which; /* as for b2i_chunk_patch() */
} patch_job;

static b2c_status change_block(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const patch_job *j = arg;
    b2i_block_rows rows;
    b2i_select_block(j->part, item, &rows);
    uint8_t *block = j->blocks + item * j->part->sel->grid->block_nbytes;
    uint32_t rank = (uint32_t)rows.part.rank;
    B2I_TRY(b2i_chunk_decode_unit(j->ctx, worker, j->chunk, rank, block, err));
    put_rows(j->w, j->part, &rows, block);
    j->which[rank] = item;
    return B2C_OK;
}

static b2c_status patch_blocks(patch_job *j, b2i_scratch *packed, b2i_span *out, b2c_error *err)
{
    const write_job *w = j->w;
    uint32_t nworkers, n = j->part->nblocks;
    size_t nbytes = n * (size_t)w->sel->grid->block_nbytes;
    memset(j->which, 0xFF, j->chunk->head.nblocks * sizeof *j->which);
    B2I_TRY(b2i_ctx_prepare(j->ctx, nbytes < PARALLEL_NBYTES ? 1 : n, &nworkers, err));
    B2I_TRY(b2i_pool_run(j->ctx->pool, nworkers, n, change_block, j, err));
    return b2i_chunk_patch(j->ctx, &w->s->now.cparams, j->chunk, j->which,
                           b2i_span_of(j->blocks, nbytes), packed, out, err);
}

/* out->n is 0 when that cannot be done, or not with profit. */
static b2c_status patch_chunk(const write_job *w, b2c_ctx *ctx, const b2i_chunk_part *part,
                              b2i_scratch *data, b2i_scratch *packed, b2i_span *out, b2c_error *err)
{
    const b2i_grid *g = w->sel->grid;
    b2i_stored_chunk c;
    b2c_status st = B2C_OK;
    *out = b2i_span_of(NULL, 0);
    if (part->nblocks > g->block_total / 2 || w->s->pre.fn != NULL) {
        return B2C_OK;
    }
    B2I_TRY(b2i_stored_chunk_open(w->s, part->nchunk, &ctx->limits, &c, err));
    patch_job j = { w, ctx, &c.chunk, part, NULL, NULL };
    if (c.chunk.head.blocksize == g->block_nbytes &&
        b2i_chunk_can_patch(&c.chunk, &w->s->now.cparams)) {
        j.blocks = b2i_scratch_get(data, part->nblocks * (size_t)g->block_nbytes);
        j.which = b2i_malloc(c.chunk.head.nblocks * sizeof *j.which);
        st = j.blocks == NULL || j.which == NULL ? b2i_fail_memory(err)
                                                 : patch_blocks(&j, packed, out, err);
        b2i_free(j.which);
    }
    b2i_stored_chunk_close(&c);
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(w->s, part->nchunk, st, err);
}

/* A chunk that becomes one item all over, if a few bytes can stand for it; else *out is empty. */
static b2c_status repeat_item(const write_job *w, const b2i_chunk_part *part, b2i_scratch *packed,
                              b2i_span *out, b2c_error *err)
{
    const b2i_grid *g = w->sel->grid;
    const b2c_cparams *cparams = &w->s->now.cparams;
    bool is_padded = false;
    size_t len, cap = B2C_HEADER_LEN + g->itemsize;
    *out = b2i_span_of(NULL, 0);
    if (!w->repeats || w->s->pre.fn != NULL || (size_t)cparams->typesize != g->itemsize) {
        return B2C_OK;
    }
    for (uint32_t d = 0; d < g->ndim; d++) {
        is_padded = is_padded || part->walk.valid[d] < g->ext[d];
    }
    uint8_t *p = b2i_scratch_get(packed, cap);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_chunk_encode_repeated(cparams, w->src, (size_t)g->chunk_nbytes, is_padded, p, cap,
                                      &len, err));
    *out = b2i_span_of(p, len);
    return B2C_OK;
}

/* Makes the i-th chunk of the selection, compressed, in 'packed'. */
static b2c_status make_chunk(const write_job *w, b2c_ctx *ctx, uint64_t i, b2i_scratch *data,
                             b2i_scratch *packed, b2i_span *out, b2c_error *err)
{
    b2i_chunk_part part;
    b2i_span bytes;
    b2i_select_chunk(w->sel, i, &part);
    if (b2i_select_covers(&part)) {
        B2I_TRY(repeat_item(w, &part, packed, out, err));
        if (out->n > 0) {
            return B2C_OK;
        }
        B2I_TRY(replace_chunk(w, ctx, &part, data, &bytes, err));
    } else {
        B2I_TRY(patch_chunk(w, ctx, &part, data, packed, out, err));
        if (out->n > 0) {
            return B2C_OK;
        }
        B2I_TRY(change_chunk(w, ctx, &part, data, &bytes, err));
    }
    return b2i_schunk_compress(w->s, ctx, part.nchunk, &w->s->pre, bytes, packed, out, err);
}

/* The number of the i-th chunk. */
static uint64_t number_of(const write_job *w, uint64_t i)
{
    b2i_chunk_part part;
    b2i_select_chunk(w->sel, i, &part);
    return part.nchunk;
}

/* The same for a chunk that must be there; its number goes with a failure. */
static b2c_status make_checked(const write_job *w, b2c_ctx *ctx, uint64_t i, b2i_scratch *data,
                               b2i_scratch *packed, b2i_span *out, b2c_error *err)
{
    uint64_t nchunk = number_of(w, i);
    if (!w->appends) {
        B2I_TRY(b2i_nd_check_chunk(w->s, w->sel->grid, nchunk, err));
    }
    b2c_status st = make_chunk(w, ctx, i, data, packed, out, err);
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
    }
    return st;
}

static b2c_status store_made(const write_job *w, uint64_t i, b2i_scratch *packed, b2i_span chunk,
                             b2c_error *err)
{
    uint64_t nchunk = number_of(w, i);
    b2c_status st = w->appends ? b2i_schunk_append_made(w->s, packed, chunk, err)
                               : b2i_schunk_update_chunk(w->s, nchunk, chunk, err);
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
    }
    return st;
}

static b2c_status make_in_batch(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const write_job *w = arg;
    return make_checked(w, w->ctx->helpers[worker], w->first + item, &w->data[worker],
                        &w->packed[item], &w->made[item], err);
}

static b2c_status run_batches(write_job *w, uint32_t nworkers, uint32_t nbatch, b2c_error *err)
{
    for (; w->first < w->sel->nchunks; w->first += nbatch) {
        uint64_t left = w->sel->nchunks - w->first;
        nbatch = left < nbatch ? (uint32_t)left : nbatch;
        B2I_TRY(b2i_pool_run(w->ctx->pool, nworkers, nbatch, make_in_batch, w, err));
        for (uint32_t i = 0; i < nbatch; i++) {
            B2I_TRY(store_made(w, w->first + i, &w->packed[i], w->made[i], err));
        }
    }
    return B2C_OK;
}

static void free_all(b2i_scratch *list, uint32_t n)
{
    for (uint32_t i = 0; list != NULL && i < n; i++) {
        b2i_scratch_free(&list[i]);
    }
    b2i_free(list);
}

static b2c_status write_batches(write_job *w, uint32_t nworkers, uint32_t nbatch, b2c_error *err)
{
    b2c_status st = B2C_E_MEMORY;
    w->data = b2i_calloc(nworkers * sizeof *w->data);
    w->packed = b2i_calloc(nbatch * sizeof *w->packed);
    w->made = b2i_calloc(nbatch * sizeof *w->made);
    if (w->data == NULL || w->packed == NULL || w->made == NULL) {
        (void)b2i_fail_memory(err);
    } else {
        st = run_batches(w, nworkers, nbatch, err);
    }
    free_all(w->data, nworkers);
    free_all(w->packed, nbatch);
    b2i_free(w->made);
    return st;
}

static b2c_status write_in_turn(const write_job *w, b2c_error *err)
{
    b2i_scratch data = { 0 }, packed = { 0 };
    b2c_status st = B2C_OK;
    for (uint64_t i = 0; st == B2C_OK && i < w->sel->nchunks; i++) {
        b2i_span chunk;
        st = make_checked(w, w->ctx, i, &data, &packed, &chunk, err);
        if (st == B2C_OK) {
            st = store_made(w, i, &packed, chunk, err);
        }
    }
    b2i_scratch_free(&data);
    b2i_scratch_free(&packed);
    return st;
}

static b2c_status write_chunks(write_job *w, b2c_error *err)
{
    enum { MAX_BATCH = 256 };
    uint64_t nbytes = w->sel->grid->chunk_nbytes, n = w->sel->nchunks;
    uint32_t nworkers = 1;
    if (n > 1 && nbytes <= BATCH_NBYTES / 2 && n > B2I_ND_SERIAL_NBYTES / nbytes) {
        B2I_TRY(b2i_ctx_helpers(w->ctx, n, &nworkers, err));
    }
    if (nworkers == 1) {
        return write_in_turn(w, err);
    }
    uint64_t nbatch = BATCH_NBYTES / nbytes < nworkers ? nworkers : BATCH_NBYTES / nbytes;
    nbatch = nbatch < MAX_BATCH ? nbatch : MAX_BATCH;
    return write_batches(w, nworkers, (uint32_t)(nbatch < n ? nbatch : n), err);
}

/* The box of n chunks from number 'first' on; false when they do not make one. */
static bool box_of_chunks(const b2i_grid *g, uint64_t first, uint64_t n, uint64_t *start,
                          uint64_t *count)
{
    uint64_t lo[B2C_MAX_DIM], hi[B2C_MAX_DIM], total = 1;
    b2i_unrank(g->ndim, g->nchunks, first, lo);
    b2i_unrank(g->ndim, g->nchunks, first + n - 1, hi);
    for (uint32_t d = 0; d < g->ndim; d++) {
        if (hi[d] < lo[d]) {
            return false;
        }
        uint64_t end = (hi[d] + 1) * g->chunks[d];
        start[d] = lo[d] * g->chunks[d];
        count[d] = (end < g->shape[d] ? end : g->shape[d]) - start[d];
        total *= hi[d] - lo[d] + 1; /* not above the number of all chunks */
    }
    return total == n;
}

b2c_status b2i_nd_append_chunks(b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid,
                                uint64_t first, uint64_t n, b2i_span src, b2c_error *err)
{
    b2i_selection box;
    uint64_t start[B2C_MAX_DIM], count[B2C_MAX_DIM];
    write_job w = { .s = schunk, .ctx = ctx, .sel = &box, .src = src.p, .appends = true };
    B2I_TRY(b2i_schunk_check_writable(schunk, err));
    if (n == 0) {
        return check_len(0, src.n, err);
    }
    if (first != schunk->now.nchunks || n > grid->chunk_total || first > grid->chunk_total - n) {
        return b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                              "not the next chunks of the array", schunk->now.nchunks, first);
    }
    if (!box_of_chunks(grid, first, n, start, count)) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nchunks",
                              "the chunks do not make a box");
    }
    B2I_TRY(b2i_select_box(grid, (b2i_box){ start, count, b2i_ones }, &box, err));
    B2I_TRY(check_len(box.nbytes, src.n, err));
    return write_chunks(&w, err);
}

b2c_status b2i_nd_write(b2c_schunk *schunk, b2c_ctx *ctx, const b2i_selection *sel, b2i_span src,
                        b2c_error *err)
{
    write_job w = { .s = schunk, .ctx = ctx, .sel = sel, .src = src.p };
    b2i_steps steps = { .edits = schunk->edits };
    B2I_TRY(b2i_schunk_check_writable(schunk, err));
    w.repeats = src.n == sel->grid->itemsize && sel->nbytes != src.n;
    if (!w.repeats) {
        B2I_TRY(check_len(sel->nbytes, src.n, err));
    }
    if (sel->grid->chunk_nbytes > schunk->limits.max_chunk_nbytes) {
        return b2i_fail_limit(err, B2C_NO_OFFSET, "max_chunk_nbytes",
                              "the array's chunks are larger than the limit",
                              schunk->limits.max_chunk_nbytes, sel->grid->chunk_nbytes);
    }
    if (sel->nchunks > 1) { /* a single chunk is one edit anyway */
        B2I_TRY(b2i_schunk_begin_steps(schunk, &steps, err));
    }
    b2c_status st = write_chunks(&w, err);
    return b2i_schunk_end_steps(schunk, steps, st, err);
}
