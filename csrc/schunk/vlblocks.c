/*
 * vlblocks.c: chunks whose blocks have sizes of their own, in super-chunks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"

b2c_status b2i_schunk_vl_lens(const b2c_schunk *s, uint64_t nchunk, uint32_t *lens, size_t lens_cap,
                              size_t *nblocks, b2c_error *err)
{
    b2i_stored_chunk c;
    B2I_TRY(b2i_stored_chunk_open(s, nchunk, NULL, &c, err));
    b2c_status st = b2i_chunk_vl_lens(&c.chunk, lens, lens_cap, nblocks, err);
    b2i_stored_chunk_close(&c);
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, nchunk, st, err);
}

b2c_status b2i_schunk_vl_block(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, uint64_t nblock,
                               uint8_t *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    b2i_stored_chunk *c;
    b2c_status st;
    do {
        B2I_TRY(b2i_kept_chunk_open(s, ctx, nchunk, &c, err));
        c->chunk.site.hook = s->post;
        /* Opening it was within the limits of the super-chunk; the context may have others. */
        st = b2i_chunk_head_check_limit(&c->chunk.head, &ctx->limits, err);
        if (st == B2C_OK) {
            st = b2i_chunk_vl_block(ctx, &c->chunk, nblock, dst, dst_cap, dst_len, err);
        }
        st = st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, nchunk, st, err);
    } while (b2i_kept_chunk_close(ctx, c, st));
    return st;
}

static size_t total_of(const b2i_span *blocks, size_t nblocks)
{
    size_t n = 0;
    for (size_t i = 0; i < nblocks; i++) {
        n = blocks[i].n > SIZE_MAX - n - 8 ? SIZE_MAX - 8 : n + blocks[i].n + 8;
    }
    return n;
}

b2c_status b2i_schunk_append_vlblocks(b2c_schunk *s, b2c_ctx *ctx, b2i_span *blocks, size_t nblocks,
                                      b2c_error *err)
{
    size_t len = 0, n = total_of(blocks, nblocks);
    b2i_scratch scratch = { 0 };
    b2i_site site = b2i_schunk_site(s, s->now.nchunks, &s->pre);
    B2I_TRY(b2i_schunk_check_writable(s, err));
    size_t cap = n > B2C_MAX_CHUNK_NBYTES ? 0 : n + B2C_HEADER_LEN; /* refused anyway */
    uint8_t *p = b2i_scratch_get(&scratch, cap);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = b2i_vl_encode(ctx, &s->now.cparams, &site, blocks, nblocks, p, cap, &len, err);
    if (st == B2C_OK) {
        st = b2i_schunk_append_chunk(s, b2i_span_of(p, len), err);
    } else {
        b2i_err_chunk(err, (int64_t)s->now.nchunks);
    }
    b2i_scratch_free(&scratch);
    return st;
}
