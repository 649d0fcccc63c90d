/*
 * verify.c: whether chunks are what their checksums say, and decode.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "stored.h"

static b2c_status check_decodes(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, b2i_span bytes,
                                b2c_error *err)
{
    b2i_stored_chunk c = { .store = s->store, .entry = b2i_state_entry(&s->now, nchunk) };
    b2i_source source = b2i_source_mem(&bytes);
    b2i_chunk_head head; /* as it is told: opening the chunk may find others to be right */
    B2I_TRY(b2i_chunk_head_parse(bytes, NULL, &head, err));
    B2I_TRY(b2i_chunk_open(&source, &s->limits, &c.chunk, err));
    c.chunk.site = b2i_schunk_site(s, nchunk, NULL);
    b2c_status st = b2i_chunk_check(ctx, &c.chunk, err);
    bool has_payload = !b2i_is_special(c.entry);
    if (st == B2C_OK && has_payload) {
        st = b2i_stored_chunk_check_parts(&c, &head, bytes, err);
    }
    b2i_stored_chunk_close(&c);
    return st;
}

/* Bytes and checksum of a chunk, and that it decodes. */
static b2c_status verify(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, b2i_scratch *stored,
                         int *has_checksum, b2c_error *err)
{
    b2i_verdict v = { .check = B2I_CHECK_NONE };
    b2i_entry entry = b2i_state_entry(&s->now, nchunk);
    b2i_span bytes;
    B2I_TRY(b2i_schunk_chunk_bytes(s, nchunk, stored, &bytes, err));
    b2c_status st = B2C_OK;
    if (!b2i_is_special(entry) && s->store->ops->check != NULL) {
        st = s->store->ops->check(s->store, entry, bytes, &v, err);
    }
    if (v.check == B2I_CHECK_BAD) { /* when reading does not compare */
        st = b2i_stored_fail_checksum(&v, err);
    }
    if (st == B2C_OK) {
        st = check_decodes(s, ctx, nchunk, bytes, err);
    }
    /* The checksum of the structure vouches for what stands in the index. */
    bool is_in_index = b2i_is_special(entry);
    *has_checksum = is_in_index ? s->store->is_trusted : v.check == B2I_CHECK_GOOD;
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, nchunk, st, err);
}

b2c_status b2i_schunk_verify_chunk(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                                   int *has_checksum, b2c_error *err)
{
    b2i_scratch stored = { 0 };
    int has;
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    b2c_status st = verify(s, ctx, nchunk, &stored, &has, err);
    if (st == B2C_OK) {
        *has_checksum = has;
    }
    b2i_scratch_free(&stored);
    return st;
}

/*
 * How many chunks from number i on are verified together: of a run of the same special ones each is
 * like the first, but the last chunk, which may be shorter.
 */
static uint64_t run_from(const b2i_state *now, uint64_t i)
{
    uint64_t last = now->nchunks - 1, n = 1;
    b2i_entry entry = b2i_state_entry(now, i);
    if (!b2i_is_special(entry) || now->ends != NULL || i == last) {
        return 1;
    }
    if (now->entries == NULL) { /* without a loop: there may be hundreds of millions */
        return last - i;
    }
    while (i + n < last && now->entries[i + n] == entry) {
        n++;
    }
    return n;
}

b2c_status b2i_schunk_verify_chunks(const b2c_schunk *s, b2c_ctx *ctx, uint64_t first,
                                    uint64_t max_payloads, uint64_t *nsound, uint64_t *nunverified,
                                    b2c_error *err)
{
    const b2i_state *now = &s->now;
    uint64_t npayloads = 0, unverified = 0, i = first;
    b2c_status st = B2C_OK;
    while (i < now->nchunks && npayloads < max_payloads) {
        int has_checksum;
        st = b2i_schunk_verify_chunk(s, ctx, i, &has_checksum, err);
        if (st != B2C_OK) {
            break;
        }
        uint64_t n = run_from(now, i);
        unverified += has_checksum ? 0 : n;
        npayloads += !b2i_is_special(b2i_state_entry(now, i));
        i += n;
    }
    *nsound = i - first;
    *nunverified = unverified;
    return st;
}
