/*
 * api_chunk.c: public functions on chunks: check arguments, then call one thing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "checked.h"
#include "chunk.h"
#include "need.h"

void b2c_cparams_init(b2c_cparams *cparams)
{
    if (cparams == NULL) {
        return;
    }
    *cparams = (b2c_cparams){
        .size = sizeof *cparams,
        .typesize = 8,
        .codec = b2c_codec_available(B2C_CODEC_ZSTD) ? B2C_CODEC_ZSTD : B2C_CODEC_BLOSCLZ,
        .clevel = 5,
        .splitmode = B2C_SPLIT_AUTO,
        .filters = { 0, 0, 0, 0, 0, B2C_FILTER_SHUFFLE },
    };
}

b2c_status b2c_cparams_check(const b2c_cparams *cparams, b2c_error *err)
{
    return b2i_cparams_check(cparams, err);
}

size_t b2c_compress_bound(size_t src_len)
{
    return src_len > SIZE_MAX - B2C_HEADER_LEN ? SIZE_MAX : src_len + B2C_HEADER_LEN;
}

b2c_status b2c_chunk_inspect(const void *chunk, size_t chunk_len, b2c_chunk_info *info,
                             b2c_error *err)
{
    b2i_chunk_head h;
    NEED(info);
    NEED_BYTES(chunk, chunk_len);
    B2I_TRY(b2i_chunk_head_parse(b2i_span_of(chunk, chunk_len), NULL, &h, err));
    b2i_chunk_info_from_head(&h, info);
    return B2C_OK;
}

b2c_status b2c_compress(b2c_ctx *ctx, const b2c_cparams *cparams, const void *src, size_t src_len,
                        void *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    NEED(ctx);
    NEED(cparams);
    NEED_BYTES(src, src_len);
    NEED(dst_len);
    NEED_BYTES(dst, dst_cap);
    b2i_site site = { .typesize = cparams->typesize, .hook = ctx->pre };
    return b2i_chunk_encode(ctx, cparams, &site, b2i_span_of(src, src_len), dst, dst_cap, dst_len,
                            err);
}

b2c_status b2c_decompress(b2c_ctx *ctx, const void *chunk, size_t chunk_len, void *dst,
                          size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    b2i_chunk c;
    b2i_span bytes = b2i_span_of(chunk, chunk_len);
    b2i_source source = b2i_source_mem(&bytes);
    NEED(ctx);
    NEED_BYTES(chunk, chunk_len);
    NEED(dst_len);
    NEED_BYTES(dst, dst_cap);
    B2I_TRY(b2i_chunk_open(&source, &ctx->limits, &c, err));
    c.site.hook = ctx->post;
    b2c_status st = b2i_chunk_decode(ctx, &c, dst, dst_cap, err);
    if (st == B2C_OK || st == B2C_E_OUTPUT_SIZE) {
        *dst_len = c.head.nbytes;
    }
    b2i_chunk_close(&c);
    return st;
}

static b2c_status getitem(b2c_ctx *ctx, const b2i_chunk *c, uint64_t first, uint64_t nitems,
                          void *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    uint64_t total = c->head.nbytes / c->head.typesize;
    if (c->head.has_vlblocks) {
        return b2i_fail(err, B2C_E_UNSUPPORTED, 30, "a chunk of variable-size blocks has no items");
    }
    if (first > total || nitems > total - first) {
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                              "the items pass the end of the chunk", total,
                              b2i_add_most(first, nitems));
    }
    uint64_t n = nitems * c->head.typesize;
    if (n > dst_cap) {
        *dst_len = (size_t)n;
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the items", n, dst_cap);
    }
    B2I_TRY(b2i_chunk_decode_range(ctx, c, first * c->head.typesize, n, dst, err));
    *dst_len = (size_t)n;
    return B2C_OK;
}

b2c_status b2c_getitem(b2c_ctx *ctx, const void *chunk, size_t chunk_len, uint64_t first,
                       uint64_t nitems, void *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    b2i_chunk c;
    b2i_span bytes = b2i_span_of(chunk, chunk_len);
    b2i_source source = b2i_source_mem(&bytes);
    NEED(ctx);
    NEED_BYTES(chunk, chunk_len);
    NEED(dst_len);
    NEED_BYTES(dst, dst_cap);
    B2I_TRY(b2i_chunk_open(&source, &ctx->limits, &c, err));
    c.site.hook = ctx->post;
    b2c_status st = getitem(ctx, &c, first, nitems, dst, dst_cap, dst_len, err);
    b2i_chunk_close(&c);
    return st;
}

b2c_status b2c_special_chunk(const b2c_cparams *cparams, uint8_t kind, uint64_t nbytes,
                             const void *value, void *dst, size_t dst_cap, size_t *dst_len,
                             b2c_error *err)
{
    B2I_TRY(b2i_cparams_check(cparams, err));
    NEED(dst_len);
    NEED_BYTES(dst, dst_cap);
    return b2i_special_encode(cparams, kind, nbytes, value, dst, dst_cap, dst_len, err);
}
