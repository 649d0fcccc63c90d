/*
 * damage.c: chunks that a read could not have, noted so that one read finds all of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "ctx.h"
#include "need.h"

static void forget(b2c_ctx *ctx, bool on)
{
    ctx->collects = on;
    ctx->damage.n = 0;
    if (!on) {
        b2i_buf_free(&ctx->damage);
    }
}

b2c_status b2c_ctx_collect_damage(b2c_ctx *ctx, int on, b2c_error *err)
{
    NEED(ctx);
    forget(ctx, on != 0);
    for (uint32_t i = 0; i < ctx->nhelpers; i++) {
        forget(ctx->helpers[i], on != 0);
    }
    return B2C_OK;
}

static size_t ndamages(const b2c_ctx *ctx)
{
    return ctx->damage.n / sizeof(b2c_error);
}

static const b2c_error *damage_at(const b2c_ctx *ctx, size_t i)
{
    return (const b2c_error *)(const void *)ctx->damage.p + i;
}

b2c_status b2c_ctx_damage(const b2c_ctx *ctx, uint64_t i, b2c_error *damage, b2c_error *err)
{
    NEED(ctx);
    NEED(damage);
    const b2c_ctx *c = ctx;
    for (uint32_t k = 0; i >= ndamages(c); c = ctx->helpers[k++]) {
        i -= ndamages(c);
        if (k == ctx->nhelpers) {
            return b2i_fail(err, B2C_E_NOT_FOUND, B2C_NO_OFFSET, "there is no more damage");
        }
    }
    *damage = *damage_at(c, (size_t)i);
    return B2C_OK;
}

b2c_status b2i_damage_skip(b2c_ctx *ctx, uint64_t nchunks, b2c_status st, const b2c_error *err)
{
    bool of_chunk = st != B2C_OK && st != B2C_E_MEMORY && st != B2C_E_CALLBACK && err != NULL &&
                    err->chunk != B2C_NO_NUMBER && (uint64_t)err->chunk < nchunks;
    if (!ctx->collects || !of_chunk || !b2i_buf_append(&ctx->damage, err, sizeof *err)) {
        return st;
    }
    return B2C_OK;
}

b2c_status b2i_damage_status(const b2c_ctx *ctx, b2c_error *err)
{
    const b2c_error *lowest = NULL;
    const b2c_ctx *c = ctx;
    for (uint32_t k = 0; ctx->collects; c = ctx->helpers[k++]) {
        for (size_t i = 0; i < ndamages(c); i++) {
            const b2c_error *e = damage_at(c, i);
            if (lowest == NULL || e->chunk < lowest->chunk ||
                (e->chunk == lowest->chunk && e->block < lowest->block)) {
                lowest = e;
            }
        }
        if (k == ctx->nhelpers) {
            break;
        }
    }
    if (lowest == NULL) {
        return B2C_OK;
    }
    if (err != NULL) {
        *err = *lowest;
    }
    return lowest->status;
}
