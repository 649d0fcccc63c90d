/*
 * ctx.c: life of a context and of its workers' scratch memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "ctx.h"
#include "need.h"

#include <string.h>

enum { DEFAULT_OPEN_FILES = 64 };

static uint64_t or_max(uint64_t v, uint64_t max)
{
    return v == 0 || v > max ? max : v;
}

static uint32_t or_default(uint32_t v, uint32_t dflt)
{
    return v == 0 ? dflt : v;
}

b2c_limits b2i_limits_full(const b2c_limits *limits)
{
    b2c_limits l = { 0 };
    if (limits != NULL) {
        l = *limits;
    }
    l.max_chunk_nbytes = or_max(l.max_chunk_nbytes, B2C_MAX_CHUNK_NBYTES);
    l.max_meta_nbytes = l.max_meta_nbytes == 0 ? B2C_MAX_META_NBYTES : l.max_meta_nbytes;
    l.max_meta_nbytes = or_max(l.max_meta_nbytes, B2C_MAX_CHUNK_NBYTES);
    l.max_nbytes = or_max(l.max_nbytes, B2I_NO_LIMIT);
    l.max_nchunks = or_max(l.max_nchunks, B2I_NO_LIMIT);
    l.max_nmeta = or_default(l.max_nmeta, UINT32_MAX);
    l.max_ndim = or_default(l.max_ndim, B2C_MAX_DIM);
    l.max_open_files = or_default(l.max_open_files, DEFAULT_OPEN_FILES);
    return l;
}

b2c_status b2c_ctx_new(b2c_pool *pool, uint32_t nthreads, const b2c_limits *limits, b2c_ctx **ctx,
                       b2c_error *err)
{
    NEED(ctx);
    B2I_TRY(b2i_check_nthreads(nthreads, err));
    b2c_ctx *c = b2i_calloc(sizeof *c);
    if (c == NULL) {
        return b2i_fail_memory(err);
    }
    c->pool = pool;
    c->nthreads = nthreads;
    c->limits = b2i_limits_full(limits);
    *ctx = c;
    return B2C_OK;
}

void b2c_ctx_free(b2c_ctx *ctx)
{
    if (ctx == NULL) {
        return;
    }
    for (uint32_t i = 0; i < ctx->nworkers; i++) {
        b2i_worker *w = &ctx->workers[i];
        b2i_codec_state_free(w->codecs);
        b2i_scratch_free(&w->a);
        b2i_scratch_free(&w->b);
        b2i_scratch_free(&w->c);
        b2i_scratch_free(&w->d);
        b2i_scratch_free(&w->in);
    }
    for (uint32_t i = 0; i < ctx->nhelpers; i++) {
        b2c_ctx_free(ctx->helpers[i]);
    }
    b2i_free(ctx->helpers);
    if (ctx->cache != NULL) {
        b2i_cache_free(ctx->cache);
        b2i_free(ctx->cache);
    }
    if (ctx->strips != NULL) {
        b2i_strips_free(ctx->strips);
        b2i_free(ctx->strips);
    }
    if (ctx->above != NULL) {
        ctx->free_above(ctx->above);
    }
    b2i_free(ctx->workers);
    b2i_buf_free(&ctx->damage);
    b2i_scratch_free(&ctx->ref);
    b2i_free(ctx);
}

b2c_status b2c_ctx_set_nthreads(b2c_ctx *ctx, uint32_t nthreads, b2c_error *err)
{
    NEED(ctx);
    B2I_TRY(b2i_check_nthreads(nthreads, err));
    ctx->nthreads = nthreads;
    return B2C_OK;
}

b2c_status b2c_ctx_set_limits(b2c_ctx *ctx, const b2c_limits *limits, b2c_error *err)
{
    NEED(ctx);
    ctx->limits = b2i_limits_full(limits);
    return B2C_OK;
}

b2c_status b2i_ctx_prepare(b2c_ctx *ctx, uint32_t nitems, uint32_t *nworkers, b2c_error *err)
{
    uint32_t n = ctx->pool == NULL ? 1 : ctx->nthreads;
    n = n > nitems ? nitems : n;
    n = n < 1 ? 1 : n;
    if (n > ctx->nworkers) {
        b2i_worker *w = b2i_realloc(ctx->workers, n * sizeof *w);
        if (w == NULL) {
            return b2i_fail_memory(err);
        }
        memset(w + ctx->nworkers, 0, (n - ctx->nworkers) * sizeof *w);
        ctx->workers = w;
        ctx->nworkers = n;
    }
    *nworkers = n;
    return B2C_OK;
}

static b2c_status add_helpers(b2c_ctx *ctx, uint32_t n, b2c_error *err)
{
    b2c_ctx **helpers = b2i_realloc(ctx->helpers, n * sizeof(b2c_ctx *));
    if (helpers == NULL) {
        return b2i_fail_memory(err);
    }
    ctx->helpers = helpers;
    while (ctx->nhelpers < n) {
        B2I_TRY(b2c_ctx_new(NULL, 1, &ctx->limits, &helpers[ctx->nhelpers], err));
        ctx->nhelpers++;
    }
    return B2C_OK;
}

b2c_status b2i_ctx_helpers(b2c_ctx *ctx, uint64_t nitems, uint32_t *nworkers, b2c_error *err)
{
    uint32_t n = ctx->pool == NULL ? 1 : ctx->nthreads;
    n = n > nitems ? (uint32_t)nitems : n;
    n = n < 1 ? 1 : n;
    if (n > ctx->nhelpers) {
        B2I_TRY(add_helpers(ctx, n, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        ctx->helpers[i]->limits = ctx->limits;
        ctx->helpers[i]->collects = ctx->collects;
    }
    *nworkers = n;
    return B2C_OK;
}

b2i_block_cache *b2i_ctx_cache(b2c_ctx *ctx)
{
    if (ctx->cache == NULL) {
        ctx->cache = b2i_calloc(sizeof *ctx->cache);
    }
    return ctx->cache;
}

b2i_strip_cache *b2i_ctx_strips(b2c_ctx *ctx)
{
    if (ctx->strips == NULL) {
        ctx->strips = b2i_calloc(sizeof *ctx->strips);
    }
    return ctx->strips;
}

b2c_status b2i_ctx_worker(b2c_ctx *ctx, uint32_t worker, b2i_worker **out, b2c_error *err)
{
    b2i_worker *w = &ctx->workers[worker];
    if (w->codecs == NULL) {
        w->codecs = b2i_codec_state_new();
        if (w->codecs == NULL) {
            return b2i_fail_memory(err);
        }
    }
    *out = w;
    return B2C_OK;
}
