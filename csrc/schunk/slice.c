/*
 * slice.c: ranges of the decoded data, across chunks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"
#include "checked.h"

static b2c_status read_blocks(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, uint64_t at,
                              uint64_t n, uint8_t *dst, b2c_error *err)
{
    b2i_stored_chunk c;
    B2I_TRY(b2i_stored_chunk_open(s, nchunk, NULL, &c, err));
    if (c.chunk.head.nblocks > 0 && !c.chunk.head.has_vlblocks && n > 0) {
        uint32_t blocksize = c.chunk.head.blocksize;
        b2i_stored_chunk_read_ahead(&c, (uint32_t)(at / blocksize),
                                    (uint32_t)((at + n - 1) / blocksize));
    }
    c.chunk.site.hook = s->post;
    b2c_status st = b2i_chunk_decode_range(ctx, &c.chunk, at, n, dst, err);
    b2i_stored_chunk_close(&c);
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, nchunk, st, err);
}

static b2c_status read_part(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, uint64_t at,
                            uint64_t n, uint8_t *dst, b2c_error *err)
{
    uint64_t nbytes = b2i_schunk_chunk_nbytes(s, nchunk);
    size_t len;
    if (n == nbytes) {
        return b2i_schunk_decode_chunk(s, ctx, nchunk, &s->post, dst, (size_t)n, &len, err);
    }
    return read_blocks(s, ctx, nchunk, at, n, dst, err);
}

b2c_status b2i_schunk_read(const b2c_schunk *s, b2c_ctx *ctx, uint64_t at, uint64_t n, uint8_t *dst,
                           b2c_error *err)
{
    if (at > s->now.nbytes || n > s->now.nbytes - at) {
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                              "the range passes the end of the data", s->now.nbytes,
                              b2i_add_most(at, n));
    }
    while (n > 0) {
        uint64_t nchunk = b2i_schunk_chunk_of(s, at);
        uint64_t inner = at - b2i_schunk_chunk_at(s, nchunk);
        uint64_t left = b2i_schunk_chunk_nbytes(s, nchunk) - inner;
        uint64_t part = n < left ? n : left;
        b2c_status st = read_part(s, ctx, nchunk, inner, part, dst, err);
        if (st != B2C_OK) {
            b2i_err_chunk(err, (int64_t)nchunk);
            B2I_TRY(b2i_damage_skip(ctx, s->now.nchunks, st, err));
        }
        at += part;
        n -= part;
        dst += part;
    }
    return b2i_damage_status(ctx, err);
}
