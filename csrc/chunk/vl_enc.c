/*
 * vl_enc.c: several buffers to one chunk, each a block of its own size.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "checked.h"
#include "chunk_enc.h"

/* Bytes that a chunk of these blocks needs at most, if it has no dictionary. */
static size_t bound_of(const b2i_span *blocks, uint32_t nblocks)
{
    size_t bound = B2C_HEADER_LEN;
    for (uint32_t i = 0; i < nblocks; i++) {
        bound += blocks[i].n + 8; /* where it starts, and its size */
    }
    return bound;
}

/* Checks the blocks; *total is their size. */
static b2c_status check_blocks(const b2i_span *blocks, size_t nblocks, size_t *total,
                               b2c_error *err)
{
    uint64_t n = 0; /* with what tells where they are and how long */
    if (nblocks == 0) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nblocks",
                              "a chunk has at least one block");
    }
    for (size_t i = 0; i < nblocks; i++) {
        if (blocks[i].n == 0) {
            (void)b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "blocks",
                                 "a block has at least one byte");
            b2i_err_block(err, (int64_t)i);
            return B2C_E_ARGUMENT;
        }
        n = b2i_add_most(n, b2i_add_most(blocks[i].n, 8));
        if (n > B2C_MAX_CHUNK_NBYTES) {
            return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                                  "the blocks are too large or too many for a chunk",
                                  B2C_MAX_CHUNK_NBYTES, n);
        }
    }
    *total = (size_t)(n - 8 * (uint64_t)nblocks);
    return B2C_OK;
}

static b2c_status check_cparams(const b2c_cparams *cparams, b2c_error *err)
{
    B2I_TRY(b2i_cparams_check(cparams, err));
    if (memchr(cparams->filters, B2C_FILTER_DELTA, sizeof cparams->filters) != NULL) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "filters",
                              "the reference library cannot undo the delta filter in blocks of "
                              "variable size");
    }
    return B2C_OK;
}

/* The blocks as the pre-filter makes them, in memory at p. */
static b2c_status filter_blocks(const b2i_site *site, uint32_t typesize, const uint32_t *at,
                                b2i_span *blocks, uint32_t nblocks, uint8_t *p, b2c_error *err)
{
    for (uint32_t i = 0; i < nblocks; i++) {
        b2c_block about = b2i_site_block(site, i, at[i], blocks[i].n, typesize);
        b2c_status st = b2i_hook_call(&site->hook, &about, blocks[i].p, p + at[i], err);
        if (st != B2C_OK) {
            b2i_err_block(err, i);
            return st;
        }
        blocks[i].p = p + at[i];
    }
    return B2C_OK;
}

static uint32_t largest(const b2i_span *blocks, uint32_t nblocks)
{
    size_t n = 0;
    for (uint32_t i = 0; i < nblocks; i++) {
        n = blocks[i].n > n ? blocks[i].n : n;
    }
    return (uint32_t)n;
}

/* In no more room than the bound. */
static b2c_status encode_here(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t dst_cap,
                              size_t *dst_len, b2c_error *err)
{
    uint32_t nworkers;
    b2c_cparams plain = *p->cparams;
    plain.use_dict = 0;
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    b2c_status st = b2i_plan_put_blocks(ctx, p, dst, dst_cap, dst_len, err);
    bool had_dict = p->dict != NULL;
    b2i_dict_free(p->dict);
    if (st == B2C_OK && *dst_len == 0 && had_dict) { /* the bound is that of chunks without */
        p->dict = NULL;
        p->cparams = &plain;
        st = b2i_plan_put_blocks(ctx, p, dst, dst_cap, dst_len, err);
    }
    if (st == B2C_OK && *dst_len == 0) {
        *dst_len = bound_of(p->vl, p->nblocks);
        st = b2i_fail_room(*dst_len, dst_cap, err);
    }
    return st;
}

static b2c_status encode(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                         b2c_error *err)
{
    const size_t bound = bound_of(p->vl, p->nblocks);
    if (dst_cap < bound && p->cparams->use_dict) {
        return b2i_encode_apart(encode_here, ctx, p, bound, dst, dst_cap, dst_len, err);
    }
    return encode_here(ctx, p, dst, dst_cap < bound ? dst_cap : bound, dst_len, err);
}

b2c_status b2i_vl_encode(b2c_ctx *ctx, const b2c_cparams *cparams, const b2i_site *site,
                         b2i_span *blocks, size_t nblocks, uint8_t *dst, size_t dst_cap,
                         size_t *dst_len, b2c_error *err)
{
    size_t total;
    b2i_scratch filtered = { 0 };
    b2c_status st = B2C_OK;
    B2I_TRY(check_cparams(cparams, err));
    B2I_TRY(check_blocks(blocks, nblocks, &total, err));
    uint32_t *at = b2i_malloc(nblocks * sizeof *at), n = (uint32_t)nblocks;
    if (at == NULL) {
        return b2i_fail_memory(err);
    }
    at[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        at[i] = at[i - 1] + (uint32_t)blocks[i - 1].n;
    }
    b2i_plan p = b2i_plan_init(cparams, site, b2i_span_of(NULL, total));
    p.vl = blocks;
    p.vl_at = at;
    p.nblocks = n;
    p.blocksize = largest(blocks, n);
    st = b2i_plan_check_blocks(&p, err);
    if (st == B2C_OK && site->hook.fn != NULL) {
        uint8_t *data = b2i_scratch_get(&filtered, total);
        st = data == NULL ? b2i_fail_memory(err)
                          : filter_blocks(site, p.typesize, at, blocks, n, data, err);
    }
    if (st == B2C_OK) {
        st = encode(ctx, &p, dst, dst_cap, dst_len, err);
    }
    b2i_scratch_free(&filtered);
    b2i_free(at);
    return st;
}
