/*
 * ctx.c: life of a context and of its workers' scratch memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "ctx.h"

#include <string.h>

static uint64_t or_default(uint64_t v, uint64_t dflt)
{
    return v == 0 ? dflt : v;
}

static b2c_limits full_limits(const b2c_limits *limits)
{
    b2c_limits l = { 0 };
    if (limits != NULL) {
        l = *limits;
    }
    l.max_chunk_nbytes = or_default(l.max_chunk_nbytes, B2C_MAX_CHUNK_NBYTES);
    l.max_nchunks = or_default(l.max_nchunks, ((uint64_t)1 << 28) - 1);
    l.max_meta_nbytes = or_default(l.max_meta_nbytes, B2C_MAX_CHUNK_NBYTES);
    return l;
}

static b2c_status check_nthreads(uint32_t nthreads, b2c_error *err)
{
    if (nthreads < 1 || nthreads > B2I_MAX_THREADS) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nthreads",
                              "the number of threads must be from 1 to 256");
    }
    return B2C_OK;
}

b2c_status b2c_ctx_new(b2c_pool *pool, uint32_t nthreads, const b2c_limits *limits, b2c_ctx **ctx,
                       b2c_error *err)
{
    if (ctx == NULL) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "ctx", "must not be NULL");
    }
    B2I_TRY(check_nthreads(nthreads, err));
    b2c_ctx *c = b2i_calloc(sizeof *c);
    if (c == NULL) {
        return b2i_fail_memory(err);
    }
    c->pool = pool;
    c->nthreads = nthreads;
    c->limits = full_limits(limits);
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
    b2i_free(ctx->workers);
    b2i_scratch_free(&ctx->ref);
    b2i_free(ctx);
}

b2c_status b2c_ctx_set_nthreads(b2c_ctx *ctx, uint32_t nthreads, b2c_error *err)
{
    if (ctx == NULL) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "ctx", "must not be NULL");
    }
    B2I_TRY(check_nthreads(nthreads, err));
    ctx->nthreads = nthreads;
    return B2C_OK;
}

b2c_status b2c_ctx_set_limits(b2c_ctx *ctx, const b2c_limits *limits, b2c_error *err)
{
    if (ctx == NULL) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "ctx", "must not be NULL");
    }
    ctx->limits = full_limits(limits);
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
