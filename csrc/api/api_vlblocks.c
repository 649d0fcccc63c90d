/*
 * api_vlblocks.c: public functions on blocks of variable size: checks arguments, then calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "edit.h"
#include "need.h"

/* Pointers and lengths as spans; *spans is the caller's to free. */
static b2c_status make_spans(const void *const *blocks, const size_t *block_lens, size_t nblocks,
                             b2i_span **spans, b2c_error *err)
{
    if (nblocks > B2C_MAX_CHUNK_NBYTES / 8) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET, "there are too many blocks",
                              B2C_MAX_CHUNK_NBYTES / 8, nblocks);
    }
    b2i_span *s = b2i_malloc(nblocks * sizeof *s);
    if (s == NULL) {
        return b2i_fail_memory(err);
    }
    for (size_t i = 0; i < nblocks; i++) {
        if (blocks[i] == NULL && block_lens[i] != 0) {
            b2i_free(s);
            return b2i_null_argument(err, "blocks");
        }
        s[i] = b2i_span_of(blocks[i], block_lens[i]);
    }
    *spans = s;
    return B2C_OK;
}

b2c_status b2c_vlcompress(b2c_ctx *ctx, const b2c_cparams *cparams, const void *const *blocks,
                          const size_t *block_lens, size_t nblocks, void *dst, size_t dst_cap,
                          size_t *dst_len, b2c_error *err)
{
    b2i_span *spans;
    NEED(ctx);
    NEED(cparams);
    NEED_BYTES(blocks, nblocks);
    NEED_BYTES(block_lens, nblocks);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    B2I_TRY(make_spans(blocks, block_lens, nblocks, &spans, err));
    b2i_site site = { .typesize = cparams->typesize, .hook = ctx->pre };
    b2c_status st = b2i_vl_encode(ctx, cparams, &site, spans, nblocks, dst, dst_cap, dst_len, err);
    b2i_free(spans);
    return st;
}

b2c_status b2c_vlblock_lens(b2c_ctx *ctx, const void *chunk, size_t chunk_len, uint32_t *lens,
                            size_t lens_cap, size_t *nblocks, b2c_error *err)
{
    b2i_chunk c;
    b2i_span bytes = b2i_span_of(chunk, chunk_len);
    b2i_source source = b2i_source_mem(&bytes);
    NEED(ctx);
    NEED_BYTES(chunk, chunk_len);
    NEED_BYTES(lens, lens_cap);
    NEED(nblocks);
    B2I_TRY(b2i_chunk_open(&source, &ctx->limits, &c, err));
    b2c_status st = b2i_chunk_vl_lens(&c, lens, lens_cap, nblocks, err);
    b2i_chunk_close(&c);
    return st;
}

b2c_status b2c_vldecompress_block(b2c_ctx *ctx, const void *chunk, size_t chunk_len,
                                  uint64_t nblock, void *dst, size_t dst_cap, size_t *dst_len,
                                  b2c_error *err)
{
    b2i_chunk c;
    b2i_span bytes = b2i_span_of(chunk, chunk_len);
    b2i_source source = b2i_source_mem(&bytes);
    NEED(ctx);
    NEED_BYTES(chunk, chunk_len);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    B2I_TRY(b2i_chunk_open(&source, &ctx->limits, &c, err));
    c.site.hook = ctx->post;
    b2c_status st = b2i_chunk_vl_block(ctx, &c, nblock, dst, dst_cap, dst_len, err);
    b2i_chunk_close(&c);
    return st;
}

b2c_status b2c_schunk_vlblock_lens(const b2c_schunk *schunk, uint64_t nchunk, uint32_t *lens,
                                   size_t lens_cap, size_t *nblocks, b2c_error *err)
{
    NEED(schunk);
    NEED_BYTES(lens, lens_cap);
    NEED(nblocks);
    return b2i_schunk_vl_lens(schunk, nchunk, lens, lens_cap, nblocks, err);
}

b2c_status b2c_schunk_get_vlblock(const b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nchunk,
                                  uint64_t nblock, void *dst, size_t dst_cap, size_t *dst_len,
                                  b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    return b2i_schunk_vl_block(schunk, ctx, nchunk, nblock, dst, dst_cap, dst_len, err);
}

b2c_status b2c_schunk_append_vlblocks(b2c_schunk *schunk, b2c_ctx *ctx, const void *const *blocks,
                                      const size_t *block_lens, size_t nblocks, b2c_error *err)
{
    b2i_span *spans;
    bool changed;
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(blocks, nblocks);
    NEED_BYTES(block_lens, nblocks);
    B2I_TRY(make_spans(blocks, block_lens, nblocks, &spans, err));
    b2c_status st = b2i_schunk_lock(schunk, true, &changed, err);
    if (st == B2C_OK) {
        st = b2i_schunk_append_vlblocks(schunk, ctx, spans, nblocks, err);
        st = b2i_schunk_unlock(schunk, st, err);
    }
    b2i_free(spans);
    return st;
}
