/*
 * block_dec.c: one block: its streams, then its filters backward.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "block_dec.h"
#include "chunk_format.h"
#include "shuffle.h"
#include "stream.h"

static b2c_status fail_codec(const b2i_chunk *c, uint64_t offset, b2c_error *err)
{
    if (c->head.codec_id == CODEC_NONE) {
        const char *what = "the chunk does not say which codec it needs";
        if (c->head.codec_format == FORMAT_SNAPPY) {
            what = "codec Snappy: only C-Blosc 1, where it was built with Snappy, has it";
        } else if (c->head.codec_format == FORMAT_LIZARD) {
            what = "codec Lizard: only C-Blosc2 before 2.0.0 (alphas and betas) has it";
        }
        return b2i_fail_field(err, B2C_E_UNKNOWN_CODEC, offset, "codec", what);
    }
    return b2i_codec_fail_unknown(c->head.codec_id, offset, err);
}

/* Payload of a codec, or raw bytes when it is as long as the n bytes of block i it stands for. */
static b2c_status decode_payload(b2i_worker *w, const b2i_chunk *c, uint32_t i, b2i_span src,
                                 uint64_t offset, uint8_t *dst, size_t n, b2c_error *err)
{
    if (src.n == n) {
        b2i_copy(dst, src.p, n);
        return B2C_OK;
    }
    if (c->codec == NULL) {
        return fail_codec(c, offset, err);
    }
    b2c_status st;
    if (c->codec->decode_block != NULL) {
        b2c_block about = b2i_chunk_about(c, i);
        about.meta = c->head.codec_meta;
        st = c->codec->decode_block(c->codec, &about, src, dst, n, err);
        if (st != B2C_OK && err != NULL) {
            err->offset = offset;
        }
        return st;
    }
    st = c->codec->decode(w->codecs, c->dict, src, dst, n);
    if (st != B2C_OK) {
        return b2i_fail(err, st, offset,
                        st == B2C_E_MEMORY ? "out of memory" : "a compressed stream is damaged");
    }
    return B2C_OK;
}

/* One stream of a block as it is stored. */
typedef struct stream {
    b2i_span bytes;  /* payload of the codec, or raw; empty for a run */
    uint8_t value;   /* the byte that a run repeats */
    uint64_t offset; /* in the chunk, for errors */
} stream;

/* A stream whose size is not positive: zeros, or the repeated byte -size. */
static b2c_status read_run(const b2i_chunk *c, b2i_reader *r, int32_t csize, stream *s,
                           b2c_error *err)
{
    if (c->head.header_len != B2C_HEADER_LEN || csize < -255) {
        return b2i_fail_field(err, B2C_E_CORRUPT, s->offset, "csize",
                              "the size of a stream is invalid");
    }
    if (csize < 0 && (b2i_rd_u8(r) & 1) == 0) {
        return b2i_fail_field(err, B2C_E_CORRUPT, s->offset + 4, "token",
                              "a run of one byte has no valid token");
    }
    s->bytes = b2i_span_of(NULL, 0);
    s->value = (uint8_t)-csize;
    return B2C_OK;
}

/* The next stream of the block that starts at 'start' in the chunk. */
static b2c_status read_stream(const b2i_chunk *c, uint64_t start, b2i_reader *r, stream *s,
                              b2c_error *err)
{
    s->offset = start + (uint64_t)r->at;
    int32_t csize = (int32_t)b2i_rd_u32le(r);
    if (csize <= 0 && !r->failed) {
        return read_run(c, r, csize, s, err);
    }
    s->bytes = b2i_rd_span(r, (size_t)csize);
    if (r->failed) {
        return b2i_fail_field(err, B2C_E_CORRUPT, s->offset, "csize",
                              "a stream runs past the end of its block");
    }
    return B2C_OK;
}

static b2c_status count_streams(const b2i_chunk *c, size_t n, size_t *nstreams, b2c_error *err)
{
    *nstreams = c->head.is_split && n == c->head.blocksize ? c->head.typesize : 1;
    if (n % *nstreams != 0) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 8, "blocksize",
                              "split blocks are no multiple of the type size");
    }
    return B2C_OK;
}

/* The streams of block i, one after the other, into n bytes. */
static b2c_status decode_streams(b2i_worker *w, const b2i_chunk *c, uint32_t i, b2i_span in,
                                 uint8_t *dst, size_t n, b2c_error *err)
{
    size_t nstreams;
    stream s;
    b2i_reader r = b2i_rd_init(in, 0);
    B2I_TRY(count_streams(c, n, &nstreams, err));
    size_t len = n / nstreams;
    for (size_t k = 0; k < nstreams; k++, dst += len) {
        B2I_TRY(read_stream(c, c->starts[i], &r, &s, err));
        if (s.bytes.n == 0) {
            memset(dst, s.value, len);
        } else {
            B2I_TRY(decode_payload(w, c, i, s.bytes, s.offset, dst, len, err));
        }
    }
    return B2C_OK;
}

/* The sums of a plane of 'len' differences of bytes, in 'room' where they are not all 0. */
static b2i_plane sum_plane(b2i_plane plane, size_t len, uint8_t *room)
{
    bool is_run = plane.mask == 0;
    if (is_run && plane.p[0] == 0) {
        return plane;
    }
    if (is_run) {
        memset(room, plane.p[0], len);
    }
    b2i_plane_sum(is_run ? room : plane.p, len, room);
    return (b2i_plane){ room, SIZE_MAX };
}

/*
 * A block whose streams are the planes of a shuffle, in one go from where they are: raw streams
 * in the chunk, runs in a line, and only what the codec decodes in scratch memory.  'deltas':
 * they went through bytedelta, whose sums are in scratch memory, too.
 */
static b2c_status gather_streams(b2i_worker *w, const b2i_chunk *c, uint32_t i, b2i_span in,
                                 bool deltas, bool streaming, uint8_t *dst, size_t n,
                                 b2c_error *err)
{
    b2i_plane planes[B2I_MAX_UNIT];
    size_t nstreams;
    stream s;
    b2i_reader r = b2i_rd_init(in, 0);
    B2I_TRY(count_streams(c, n, &nstreams, err));
    size_t len = n / nstreams, room = b2i_plane_stride(len);
    uint8_t *scratch = b2i_scratch_get(&w->a, nstreams * (room + B2I_RUN_LEN));
    if (scratch == NULL) {
        return b2i_fail_memory(err);
    }
    for (size_t k = 0; k < nstreams; k++) {
        B2I_TRY(read_stream(c, c->starts[i], &r, &s, err));
        if (s.bytes.n == 0) {
            uint8_t *line = scratch + nstreams * room + k * B2I_RUN_LEN;
            memset(line, s.value, B2I_RUN_LEN);
            planes[k] = (b2i_plane){ line, 0 };
        } else if (s.bytes.n == len) {
            planes[k] = (b2i_plane){ s.bytes.p, SIZE_MAX };
        } else {
            planes[k] = (b2i_plane){ scratch + k * room, SIZE_MAX };
            B2I_TRY(decode_payload(w, c, i, s.bytes, s.offset, scratch + k * room, len, err));
        }
        if (deltas) {
            planes[k] = sum_plane(planes[k], len, scratch + k * room);
        }
    }
    if (streaming) {
        b2i_unshuffle_stream(planes, nstreams, len, dst);
    } else {
        b2i_unshuffle_planes(planes, nstreams, len, dst);
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
    return decode_payload(w, c, i, payload, c->starts[i] + (uint64_t)4, dst, n, err);
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

/* A block that has filters. */
static b2c_status unfilter(b2i_worker *w, const b2i_chunk *c, uint32_t i, b2i_span in,
                           const b2i_pipeline *pl, b2i_span ref, uint8_t *dst, size_t n,
                           b2c_error *err)
{
    b2i_span raw;
    if (b2i_pipeline_single(pl) && is_raw(c, in, n, &raw)) {
        return b2i_pipeline_backward_single(pl, raw.p, n, ref.p, ref.n, dst, err);
    }
    uint8_t *a = b2i_scratch_get(&w->a, n);
    uint8_t *b = b2i_scratch_get(&w->b, n);
    if (a == NULL || b == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(decode_bytes(w, c, i, in, a, n, err));
    return b2i_pipeline_backward(pl, a, n, ref.p, ref.n, b, dst, err);
}

b2c_status b2i_block_decode(b2i_worker *w, const b2i_chunk *c, uint32_t i, size_t n, b2i_span ref,
                            bool streaming, uint8_t *dst, b2c_error *err)
{
    b2c_block about = b2i_chunk_about(c, i);
    b2i_pipeline pipeline = c->head.pipeline;
    const b2i_pipeline *pl = &pipeline;
    b2i_span in;
    pipeline.block = &about;
    B2I_TRY(
        c->source.read(c->source.arg, c->starts[i], c->ends[i] - c->starts[i], &w->in, &in, err));
    if (c->head.is_instrumented || b2i_pipeline_is_empty(pl, true)) {
        return decode_bytes(w, c, i, in, dst, n, err);
    }
    if (c->head.is_split && n == c->head.blocksize && !c->head.has_vlblocks) {
        bool plain = b2i_pipeline_is_shuffle(pl, c->head.typesize);
        if (plain || b2i_pipeline_is_bytedelta(pl, c->head.typesize)) {
            return gather_streams(w, c, i, in, !plain, streaming, dst, n, err);
        }
    }
    B2I_TRY(b2i_pipeline_check_block(pl, n, false, err));
    uint8_t *out = streaming ? b2i_scratch_get(&w->c, n) : dst;
    if (out == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(unfilter(w, c, i, in, pl, ref, out, n, err));
    if (streaming) {
        b2i_stream_copy(dst, out, n);
        b2i_stream_end();
    }
    return B2C_OK;
}

b2c_status b2i_block_decode_planes(b2i_worker *w, const b2i_chunk *c, uint32_t i, size_t n,
                                   uint8_t *dst, b2c_error *err)
{
    b2i_span in;
    B2I_TRY(
        c->source.read(c->source.arg, c->starts[i], c->ends[i] - c->starts[i], &w->in, &in, err));
    return decode_bytes(w, c, i, in, dst, n, err);
}
