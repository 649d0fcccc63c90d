/*
 * site.c: calls of a user's function for the blocks of a chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "site.h"
#include "checked.h"
#include "plugin.h"

b2c_block b2i_site_block(const b2i_site *site, uint32_t i, uint32_t at, size_t n, uint32_t typesize)
{
    return (b2c_block){ .schunk = site->schunk,
                        .nchunk = site->schunk == NULL ? B2C_NO_NUMBER : (int64_t)site->nchunk,
                        .chunk_at = site->at,
                        .nblock = i,
                        .block_at = at,
                        .block_len = (uint32_t)n,
                        .typesize = site->typesize == 0 ? typesize : site->typesize,
                        .ndim = site->ndim,
                        .blockshape = site->ndim == 0 ? NULL : site->blockshape };
}

b2c_status b2i_hook_call(const b2i_hook *hook, const b2c_block *block, const uint8_t *src,
                         uint8_t *dst, b2c_error *err)
{
    int result = hook->fn(hook->user, block, src, dst, block->block_len);
    return result == 0 ? B2C_OK
                       : b2i_fail_callback(err, NULL, result, "the user's function failed");
}

typedef struct hook_job {
    const b2i_site *site;
    uint32_t blocksize, typesize;
    const uint8_t *src;
    uint8_t *dst;
    size_t n;
} hook_job;

static b2c_status filter_block(void *arg, uint32_t i, uint32_t worker, b2c_error *err)
{
    const hook_job *j = arg;
    size_t at = (size_t)i * j->blocksize, left = j->n - at;
    b2c_block block = b2i_site_block(j->site, i, (uint32_t)at,
                                     left < j->blocksize ? left : j->blocksize, j->typesize);
    (void)worker;
    b2c_status st = b2i_hook_call(&j->site->hook, &block, j->src == NULL ? NULL : j->src + at,
                                  j->dst + at, err);
    if (st != B2C_OK) {
        b2i_err_block(err, i);
    }
    return st;
}

b2c_status b2i_site_filter(b2c_ctx *ctx, const b2i_site *site, uint32_t blocksize,
                           uint32_t typesize, const uint8_t *src, size_t n, uint8_t *dst,
                           b2c_error *err)
{
    hook_job j = { site, blocksize, typesize, src, dst, n };
    uint32_t nworkers, nblocks = (uint32_t)b2i_ceil_div(n, blocksize);
    B2I_TRY(b2i_ctx_prepare(ctx, nblocks, &nworkers, err));
    return b2i_pool_run(ctx->pool, nworkers, nblocks, filter_block, &j, err);
}
