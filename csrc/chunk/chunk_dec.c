/*
 * chunk_dec.c: whole chunks, single units and ranges, for every kind of chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "block_dec.h"
#include "chunk.h"
#include "checked.h"
#include "special.h"
#include "stream.h"

/* Decoded extent of unit i: [*at, *at + *n). */
static void find_unit(const b2i_chunk *chunk, uint32_t i, uint32_t *at, uint32_t *n)
{
    const b2i_chunk_head *h = &chunk->head;
    if (h->has_vlblocks) {
        *at = chunk->vl_at[i];
        *n = chunk->vl_at[i + 1] - chunk->vl_at[i];
        return;
    }
    *at = i * h->blocksize;
    *n = h->nbytes - *at < h->blocksize ? h->nbytes - *at : h->blocksize;
}

b2c_block b2i_chunk_about(const b2i_chunk *chunk, uint32_t i)
{
    uint32_t at, n;
    find_unit(chunk, i, &at, &n);
    return b2i_site_block(&chunk->site, i, at, n, chunk->head.typesize);
}

uint32_t b2i_chunk_head_nparts(const b2i_chunk_head *h)
{
    if (h->has_vlblocks) {
        return 0;
    }
    return h->is_memcpy && h->nbytes > 0 ? (uint32_t)b2i_ceil_div(h->nbytes, h->blocksize)
                                         : h->nblocks;
}

bool b2i_chunk_head_has_parts(const b2i_chunk_head *h)
{
    return b2i_chunk_head_nparts(h) > 1 && h->blocksize % h->typesize == 0;
}

void b2i_chunk_part_at(const b2i_chunk *chunk, uint32_t i, uint32_t *at, uint32_t *n)
{
    if (chunk->head.nblocks > 0) {
        *at = chunk->starts[i];
        *n = chunk->ends[i] - chunk->starts[i];
        return;
    }
    find_unit(chunk, i, at, n);
    *at += chunk->head.header_len;
}

/* Whether blocks after the first need it as reference. */
static bool needs_ref(const b2i_chunk *chunk)
{
    return chunk->head.nblocks > 1 && !chunk->head.has_vlblocks &&
           b2i_pipeline_has(&chunk->head.pipeline, B2C_FILTER_DELTA);
}

/* A special chunk, from byte 'at': past the caches from copies of a tile that repeats its item. */
static void fill_streaming(const b2i_chunk *c, b2i_span value, uint32_t at, size_t n, uint8_t *dst)
{
    enum { LINE = 64, MAX_ITEM = 255 };
    uint8_t tile[LINE * MAX_ITEM];
    size_t item = value.n > 0 ? value.n : 8; /* NaN has up to so many bytes */
    if (item > MAX_ITEM) {
        b2i_special_fill(c->head.special, c->head.typesize, value, at, dst, n);
        return;
    }
    size_t len = sizeof tile / (LINE * item) * (LINE * item);
    b2i_special_fill(c->head.special, c->head.typesize, value, at, tile, len);
    for (size_t done = 0; done < n; done += len) {
        b2i_stream_copy(dst + done, tile, len < n - done ? len : n - done);
    }
    b2i_stream_end();
}

static void put(uint8_t *dst, b2i_span bytes, bool streaming)
{
    if (streaming) {
        b2i_stream_copy(dst, bytes.p, bytes.n);
        b2i_stream_end();
    } else {
        b2i_copy(dst, bytes.p, bytes.n);
    }
}

/* Part [at, at + n) of a chunk that has no blocks. */
static b2c_status fill_range(b2i_worker *w, const b2i_chunk *c, uint32_t at, size_t n,
                             bool streaming, uint8_t *dst, b2c_error *err)
{
    b2i_span s = { NULL, 0 };
    if (c->head.special == B2C_SPECIAL_VALUE) {
        B2I_TRY(
            c->source.read(c->source.arg, c->head.header_len, c->head.value_len, &w->in, &s, err));
    }
    if (c->head.special != B2C_SPECIAL_NONE && streaming) {
        fill_streaming(c, s, at, n, dst);
        return B2C_OK;
    }
    if (c->head.special != B2C_SPECIAL_NONE) {
        b2i_special_fill(c->head.special, c->head.typesize, s, at, dst, n);
        return B2C_OK;
    }
    B2I_TRY(c->source.read(c->source.arg, (uint64_t)c->head.header_len + at, n, &w->in, &s, err));
    put(dst, s, streaming);
    return B2C_OK;
}

/* Unit i as it is stored. */
static b2c_status decode_unit(b2c_ctx *ctx, uint32_t worker, const b2i_chunk *c, uint32_t i,
                              b2i_span ref, bool streaming, uint8_t *dst, b2c_error *err)
{
    uint32_t at, n;
    b2i_worker *w;
    find_unit(c, i, &at, &n);
    B2I_TRY(b2i_ctx_worker(ctx, worker, &w, err));
    if (c->head.nblocks == 0) {
        return fill_range(w, c, at, n, streaming, dst, err);
    }
    if (!needs_ref(c)) {
        ref = b2i_span_of(NULL, 0);
    } else if (i == 0 && ref.n > 0) { /* the reference itself */
        put(dst, ref, streaming);
        return B2C_OK;
    }
    b2c_status st = b2i_block_decode(w, c, i, n, ref, streaming, dst, err);
    if (st != B2C_OK) {
        b2i_err_block(err, i);
    }
    return st;
}

/* Unit i as it is to be read: through the post-filter, when there is one. */
static b2c_status read_unit(b2c_ctx *ctx, uint32_t worker, const b2i_chunk *c, uint32_t i,
                            b2i_span ref, bool streaming, uint8_t *dst, b2c_error *err)
{
    if (c->site.hook.fn == NULL) {
        return decode_unit(ctx, worker, c, i, ref, streaming, dst, err);
    }
    b2c_block about = b2i_chunk_about(c, i);
    uint8_t *stored = b2i_scratch_get(&ctx->workers[worker].c, about.block_len);
    if (stored == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(decode_unit(ctx, worker, c, i, ref, false, stored, err));
    b2c_status st = b2i_hook_call(&c->site.hook, &about, stored, dst, err);
    if (st != B2C_OK) {
        b2i_err_block(err, i);
    }
    return st;
}

b2c_status b2i_chunk_decode_begin(b2c_ctx *ctx, const b2i_chunk *chunk, b2c_error *err)
{
    uint32_t nworkers;
    if (!needs_ref(chunk)) {
        return B2C_OK;
    }
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    uint8_t *ref = b2i_scratch_get(&ctx->ref, chunk->head.blocksize);
    if (ref == NULL) {
        return b2i_fail_memory(err);
    }
    return decode_unit(ctx, 0, chunk, 0, b2i_span_of(NULL, 0), false, ref, err);
}

b2c_status b2i_chunk_decode_unit(b2c_ctx *ctx, uint32_t worker, const b2i_chunk *chunk, uint32_t i,
                                 uint8_t *dst, b2c_error *err)
{
    return read_unit(ctx, worker, chunk, i, b2i_span_of(ctx->ref.p, chunk->head.blocksize), false,
                     dst, err);
}

bool b2i_chunk_has_planes(const b2i_chunk *chunk)
{
    const b2i_chunk_head *h = &chunk->head;
    return h->nblocks > 0 && !h->has_vlblocks && !h->is_instrumented &&
           chunk->site.hook.fn == NULL && h->blocksize % h->typesize == 0 &&
           b2i_pipeline_is_shuffle(&h->pipeline, h->typesize);
}

b2c_status b2i_chunk_decode_planes(b2c_ctx *ctx, uint32_t worker, const b2i_chunk *chunk,
                                   uint32_t i, uint8_t *dst, b2c_error *err)
{
    b2i_worker *w;
    B2I_TRY(b2i_ctx_worker(ctx, worker, &w, err));
    b2c_status st = b2i_block_decode_planes(w, chunk, i, chunk->head.blocksize, dst, err);
    if (st != B2C_OK) {
        b2i_err_block(err, i);
    }
    return st;
}

/* ---- several units through the pool ---- */

typedef struct range_job {
    b2c_ctx *ctx;
    const b2i_chunk *chunk;
    uint64_t at, n; /* decoded range wanted */
    uint32_t first; /* its first unit */
    b2i_span ref;
    bool streaming; /* past the caches, to dst */
    uint8_t *dst;
} range_job;

static b2c_status run_unit(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const range_job *j = arg;
    uint32_t i = j->first + item, at, n;
    find_unit(j->chunk, i, &at, &n);
    uint64_t from = at > j->at ? at : j->at;
    uint64_t to = at + (uint64_t)n < j->at + j->n ? at + (uint64_t)n : j->at + j->n;
    uint8_t *dst = j->dst + (from - j->at);
    if (to - from == n) {
        return read_unit(j->ctx, worker, j->chunk, i, j->ref, j->streaming, dst, err);
    }
    uint8_t *tmp = b2i_scratch_get(&j->ctx->workers[worker].d, n);
    if (tmp == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(read_unit(j->ctx, worker, j->chunk, i, j->ref, false, tmp, err));
    memcpy(dst, tmp + (from - at), (size_t)(to - from));
    return B2C_OK;
}

/* The unit that holds decoded byte 'at' (which exists). */
static uint32_t unit_at(const b2i_chunk *c, uint64_t at)
{
    if (!c->head.has_vlblocks) {
        return (uint32_t)(at / c->head.blocksize);
    }
    uint32_t lo = 0, hi = c->head.nblocks - 1;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo + 1) / 2;
        if (c->vl_at[mid] <= at) {
            lo = mid;
        } else {
            hi = mid - 1;
        }
    }
    return lo;
}

b2c_status b2i_chunk_decode_range(b2c_ctx *ctx, const b2i_chunk *chunk, uint64_t at, uint64_t n,
                                  uint8_t *dst, b2c_error *err)
{
    uint32_t nworkers;
    if (at > chunk->head.nbytes || n > chunk->head.nbytes - at) {
        return b2i_fail(err, B2C_E_RANGE, B2C_NO_OFFSET, "the range passes the end of the chunk");
    }
    if (n == 0) {
        return B2C_OK;
    }
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    bool streaming = b2i_stream_pays(dst, n);
    if (chunk->head.nblocks == 0 && chunk->site.hook.fn == NULL) {
        return fill_range(&ctx->workers[0], chunk, (uint32_t)at, (size_t)n, streaming, dst, err);
    }
    range_job j = {
        .ctx = ctx, .chunk = chunk, .at = at, .n = n, .streaming = streaming, .dst = dst
    };
    j.first = unit_at(chunk, at);
    uint32_t nunits = unit_at(chunk, at + n - 1) - j.first + 1;
    if (needs_ref(chunk)) {
        B2I_TRY(b2i_chunk_decode_begin(ctx, chunk, err));
        j.ref = b2i_span_of(ctx->ref.p, chunk->head.blocksize);
    }
    if (n >= B2I_PARALLEL_NBYTES) {
        B2I_TRY(b2i_ctx_prepare(ctx, nunits, &nworkers, err));
    }
    return b2i_pool_run(ctx->pool, nworkers, nunits, run_unit, &j, err);
}

b2c_status b2i_chunk_decode(b2c_ctx *ctx, const b2i_chunk *chunk, uint8_t *dst, size_t dst_cap,
                            b2c_error *err)
{
    if (dst_cap < chunk->head.nbytes) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the decoded chunk",
                              chunk->head.nbytes, dst_cap);
    }
    return b2i_chunk_decode_range(ctx, chunk, 0, chunk->head.nbytes, dst, err);
}

/* ---- decoding for nothing ---- */

static b2c_status check_unit(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const range_job *j = arg;
    uint32_t at, n;
    find_unit(j->chunk, item, &at, &n);
    uint8_t *tmp = b2i_scratch_get(&j->ctx->workers[worker].d, n);
    if (tmp == NULL) {
        return b2i_fail_memory(err);
    }
    return decode_unit(j->ctx, worker, j->chunk, item, j->ref, false, tmp, err);
}

b2c_status b2i_chunk_check(b2c_ctx *ctx, const b2i_chunk *chunk, b2c_error *err)
{
    uint32_t nworkers, nunits = chunk->head.nblocks;
    range_job j = { .ctx = ctx, .chunk = chunk };
    if (nunits == 0) {
        return B2C_OK; /* special and memcpy chunks decode when they are there */
    }
    if (needs_ref(chunk)) {
        B2I_TRY(b2i_chunk_decode_begin(ctx, chunk, err));
        j.ref = b2i_span_of(ctx->ref.p, chunk->head.blocksize);
    }
    bool is_large = chunk->head.nbytes >= B2I_PARALLEL_NBYTES;
    B2I_TRY(b2i_ctx_prepare(ctx, is_large ? nunits : 1, &nworkers, err));
    return b2i_pool_run(ctx->pool, nworkers, nunits, check_unit, &j, err);
}

/* ---- blocks of variable size ---- */

static b2c_status need_vlblocks(const b2i_chunk *chunk, b2c_error *err)
{
    return chunk->head.has_vlblocks ? B2C_OK
                                    : b2i_fail_field(err, B2C_E_UNSUPPORTED, 30, "blosc2_flags2",
                                                     "not a chunk of variable-size blocks");
}

b2c_status b2i_chunk_vl_lens(const b2i_chunk *chunk, uint32_t *lens, size_t lens_cap,
                             size_t *nblocks, b2c_error *err)
{
    B2I_TRY(need_vlblocks(chunk, err));
    uint32_t n = chunk->head.nblocks;
    *nblocks = n;
    if (lens_cap < n) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "there are more blocks than room for their sizes", n, lens_cap);
    }
    for (uint32_t i = 0; i < n; i++) {
        lens[i] = chunk->vl_at[i + 1] - chunk->vl_at[i];
    }
    return B2C_OK;
}

b2c_status b2i_chunk_vl_block(b2c_ctx *ctx, const b2i_chunk *chunk, uint64_t nblock, uint8_t *dst,
                              size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    uint32_t at, n, nworkers;
    B2I_TRY(need_vlblocks(chunk, err));
    if (nblock >= chunk->head.nblocks) {
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET, "there is no block of this number",
                              chunk->head.nblocks, nblock);
    }
    find_unit(chunk, (uint32_t)nblock, &at, &n);
    *dst_len = n;
    if (dst_cap < n) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the block", n, dst_cap);
    }
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    return b2i_chunk_decode_unit(ctx, 0, chunk, (uint32_t)nblock, dst, err);
}
