/*
 * block_dec.c: one block: its streams, then its filters backward.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "block_dec.h"
#include "chunk_format.h"

static b2c_status fail_codec(const b2i_chunk *c, uint64_t offset, b2c_error *err)
{
    if (c->head.codec_id == CODEC_NONE) {
        return b2i_fail_field(err, B2C_E_UNKNOWN_CODEC, offset, "codec",
                              "the codec (Snappy, Lizard or a reserved number) is not supported");
    }
    const char *name = b2c_codec_name(c->head.codec_id);
    return b2i_fail_field(err, B2C_E_UNKNOWN_CODEC, offset, name == NULL ? "codec" : name,
                          "the chunk's codec is not built in or registered");
}

/* Payload of a codec, or raw bytes when it is as long as the n bytes it stands for. */
static b2c_status decode_payload(b2i_worker *w, const b2i_chunk *c, b2i_span src, uint64_t offset,
                                 uint8_t *dst, size_t n, b2c_error *err)
{
    if (src.n == n) {
        memcpy(dst, src.p, n);
        return B2C_OK;
    }
    if (c->codec == NULL) {
        return fail_codec(c, offset, err);
    }
    b2c_status st = c->codec->decode(w->codecs, c->dict, src, dst, n);
    if (st != B2C_OK) {
        return b2i_fail(err, st, offset,
                        st == B2C_E_MEMORY ? "out of memory" : "a compressed stream is damaged");
    }
    return B2C_OK;
}

/* A stream whose size is not positive: zeros, or the repeated byte -size. */
static b2c_status decode_run(const b2i_chunk *c, b2i_reader *r, int32_t csize, uint64_t offset,
                             uint8_t *dst, size_t n, b2c_error *err)
{
    if (c->head.header_len != B2C_HEADER_LEN || csize < -255) {
        return b2i_fail_field(err, B2C_E_CORRUPT, offset, "csize",
                              "the size of a stream is invalid");
    }
    if (csize < 0 && (b2i_rd_u8(r) & 1) == 0) {
        return b2i_fail_field(err, B2C_E_CORRUPT, offset + 4, "token",
                              "a run of one byte has no valid token");
    }
    memset(dst, csize < 0 ? -csize : 0, n);
    return B2C_OK;
}

/* The streams of block i, one after the other, into n bytes. */
static b2c_status decode_streams(b2i_worker *w, const b2i_chunk *c, uint32_t i, b2i_span in,
                                 uint8_t *dst, size_t n, b2c_error *err)
{
    b2i_reader r = b2i_rd_init(in, 0);
    size_t nstreams = c->head.is_split && n == c->head.blocksize ? c->head.typesize : 1;
    if (n % nstreams != 0) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 8, "blocksize",
                              "split blocks are no multiple of the type size");
    }
    size_t len = n / nstreams;
    for (size_t k = 0; k < nstreams; k++, dst += len) {
        uint64_t offset = c->starts[i] + (uint64_t)r.at;
        int32_t csize = (int32_t)b2i_rd_u32le(&r);
        if (csize <= 0 && !r.failed) {
            B2I_TRY(decode_run(c, &r, csize, offset, dst, len, err));
            continue;
        }
        b2i_span src = b2i_rd_span(&r, (size_t)csize);
        if (r.failed) {
            return b2i_fail_field(err, B2C_E_CORRUPT, offset, "csize",
                                  "a stream runs past the end of its block");
        }
        B2I_TRY(decode_payload(w, c, src, offset, dst, len, err));
    }
    return B2C_OK;
}

static b2c_status decode_bytes(b2i_worker *w, const b2i_chunk *c, uint32_t i, b2i_span in,
                               uint8_t *dst, size_t n, b2c_error *err)
{
    if (!c->head.has_vlblocks) {
        return decode_streams(w, c, i, in, dst, n, err);
    }
    /* The size in front was read when the chunk was opened. */
    b2i_span payload = b2i_span_sub(in, 4, in.n - 4);
    return decode_payload(w, c, payload, c->starts[i] + (uint64_t)4, dst, n, err);
}

/* The whole block stored raw in one stream, so that the filter can read it in place. */
static bool is_raw(const b2i_chunk *c, b2i_span in, size_t n, b2i_span *raw)
{
    bool one = !c->head.is_split || n != c->head.blocksize || c->head.typesize == 1;
    b2i_reader r = b2i_rd_init(in, 0);
    uint32_t size = b2i_rd_u32le(&r);
    *raw = b2i_rd_span(&r, n);
    return one && !c->head.has_vlblocks && !r.failed && size == n;
}

b2c_status b2i_block_decode(b2i_worker *w, const b2i_chunk *c, uint32_t i, size_t n, b2i_span ref,
                            uint8_t *dst, b2c_error *err)
{
    const b2i_pipeline *pl = &c->head.pipeline;
    b2i_span in, raw;
    B2I_TRY(
        c->source.read(c->source.arg, c->starts[i], c->ends[i] - c->starts[i], &w->in, &in, err));
    if (c->head.is_instrumented || b2i_pipeline_is_empty(pl, true)) {
        return decode_bytes(w, c, i, in, dst, n, err);
    }
    if (b2i_pipeline_single(pl) && is_raw(c, in, n, &raw)) {
        b2i_pipeline_backward_single(pl, raw.p, n, ref.p, ref.n, dst);
        return B2C_OK;
    }
    uint8_t *a = b2i_scratch_get(&w->a, n);
    uint8_t *b = b2i_scratch_get(&w->b, n);
    if (a == NULL || b == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(decode_bytes(w, c, i, in, a, n, err));
    b2i_pipeline_backward(pl, a, n, ref.p, ref.n, b, dst);
    return B2C_OK;
}
