/*
 * stored.c: the chunks of a super-chunk as they are stored: headers, bytes, and what they decode to
 * as a whole.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "stored.h"
#include "stream.h"
#include "tune.h"

b2c_status b2i_schunk_check_nchunk(const b2c_schunk *s, uint64_t nchunk, uint64_t end,
                                   b2c_error *err)
{
    if (nchunk >= end) {
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET, "there is no chunk of this number",
                              s->now.nchunks, nchunk);
    }
    return B2C_OK;
}

b2c_status b2i_schunk_fail_in_chunk(const b2c_schunk *s, uint64_t nchunk, b2c_status st,
                                    b2c_error *err)
{
    b2i_err_chunk(err, (int64_t)nchunk);
    b2i_entry entry = b2i_state_entry(&s->now, nchunk);
    if (!b2i_is_special(entry)) {
        b2i_err_shift(err, s->store->ops->place(s->store, entry));
    }
    return st;
}

b2c_status b2i_stored_special(const b2c_schunk *s, uint64_t nchunk, uint8_t out[B2C_HEADER_LEN],
                              b2c_error *err)
{
    uint64_t nbytes = b2i_schunk_chunk_nbytes(s, nchunk);
    uint8_t kind = b2i_entry_kind(b2i_state_entry(&s->now, nchunk));
    uint32_t typesize = b2i_tune_typesize(&s->now.cparams);
    if (kind == B2C_SPECIAL_NAN && ((typesize != 4 && typesize != 8) || nbytes % typesize != 0)) {
        return b2i_fail_field(err, B2C_E_CORRUPT, B2C_NO_OFFSET, "typesize",
                              "a chunk of NaN in a frame whose items are not of 4 or 8 bytes");
    }
    b2c_cparams cp = b2i_special_cparams(nbytes % typesize == 0 ? typesize : 1);
    cp.blocksize = s->now.cparams.blocksize; /* the blocks that a post-filter sees */
    size_t len;
    return b2i_special_encode(&cp, kind, nbytes, NULL, out, B2C_HEADER_LEN, &len, err);
}

b2c_status b2i_stored_len(const b2c_schunk *s, uint64_t nchunk, b2i_entry entry, uint64_t *len,
                          b2c_error *err)
{
    uint64_t room = b2i_places_room(&s->now, nchunk);
    B2I_TRY(s->store->ops->len(s->store, entry, len, err));
    *len = *len < room ? *len : room;
    return B2C_OK;
}

b2c_status b2i_stored_check_size(const b2c_schunk *s, uint64_t nchunk, const b2i_chunk_head *head,
                                 b2c_error *err)
{
    uint64_t nbytes = b2i_schunk_chunk_nbytes(s, nchunk);
    if (head->nbytes != nbytes) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 4,
                              "the chunk's decoded size is not the one the frame expects", nbytes,
                              head->nbytes);
    }
    return B2C_OK;
}

b2c_status b2i_stored_fail_checksum(const b2i_verdict *v, b2c_error *err)
{
    return b2i_fail_sizes(err, B2C_E_CHECKSUM, 0, "the chunk's bytes differ from its checksum",
                          v->stored, v->computed);
}

b2c_status b2i_stored_read(b2i_store *store, b2i_entry entry, size_t n, b2i_scratch *scratch,
                           b2i_span *out, b2c_error *err)
{
    b2i_verdict v = { .check = B2I_CHECK_NONE };
    const bool checks = store->ops->check != NULL && store->verifies;
    if (checks && store->ops->read_whole != NULL) {
        B2I_TRY(store->ops->read_whole(store, entry, n, scratch, out, &v, err));
    } else {
        B2I_TRY(store->ops->read(store, entry, 0, n, scratch, out, err));
        B2I_TRY(checks ? store->ops->check(store, entry, *out, &v, err) : B2C_OK);
    }
    return v.check == B2I_CHECK_BAD ? b2i_stored_fail_checksum(&v, err) : B2C_OK;
}

b2c_status b2i_stored_open_bytes(const b2c_schunk *s, const b2i_source *source,
                                 const b2c_limits *limits, const b2i_chunk_head *head,
                                 b2i_chunk *out, b2c_error *err)
{
    return s->store->storage == B2C_STORAGE_MEMORY ? b2i_chunk_open_as(source, head, out, err)
                                                   : b2i_chunk_open(source, limits, out, err);
}

/* The header of chunk n, which has a payload, and the bytes that it may have at most. */
static b2c_status parse_payload_head(const b2c_schunk *s, uint64_t nchunk, b2i_chunk_head *head,
                                     uint64_t *len, b2c_error *err)
{
    b2i_entry entry = b2i_state_entry(&s->now, nchunk);
    b2i_scratch scratch = { 0 };
    b2i_span bytes;
    B2I_TRY(b2i_stored_len(s, nchunk, entry, len, err));
    size_t n = *len < B2C_HEADER_LEN ? (size_t)*len : B2C_HEADER_LEN;
    b2c_status st = s->store->ops->read(s->store, entry, 0, n, &scratch, &bytes, err);
    if (st == B2C_OK) {
        st = b2i_chunk_head_parse(bytes, &s->limits, head, err);
    }
    b2i_scratch_free(&scratch);
    return st;
}

static b2c_status read_payload_head(const b2c_schunk *s, uint64_t nchunk, b2i_chunk_head *head,
                                    b2c_error *err)
{
    uint64_t len;
    B2I_TRY(parse_payload_head(s, nchunk, head, &len, err));
    if (head->cbytes > len) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 12, "the chunk reaches beyond its place", len,
                              head->cbytes);
    }
    return B2C_OK;
}

/* The first bytes of chunk n, as a header. */
static b2c_status read_head(const b2c_schunk *s, uint64_t nchunk, b2i_chunk_head *head,
                            b2c_error *err)
{
    b2i_entry entry = b2i_state_entry(&s->now, nchunk);
    uint8_t special[B2C_HEADER_LEN];
    if (!b2i_is_special(entry)) {
        return read_payload_head(s, nchunk, head, err);
    }
    B2I_TRY(b2i_stored_special(s, nchunk, special, err));
    return b2i_chunk_head_parse(b2i_span_of(special, sizeof special), &s->limits, head, err);
}

b2c_status b2i_schunk_chunk_head(const b2c_schunk *s, uint64_t nchunk, b2i_chunk_head *head,
                                 b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    b2c_status st = read_head(s, nchunk, head, err);
    if (st == B2C_OK) {
        st = b2i_stored_check_size(s, nchunk, head, err);
    }
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, nchunk, st, err);
}

b2c_status b2i_schunk_next_dict(const b2c_schunk *s, uint64_t first, uint64_t *nchunk,
                                b2c_error *err)
{
    const b2i_state *now = &s->now;
    uint64_t i = now->entries == NULL ? now->nchunks : first; /* without: special ones */
    for (; i < now->nchunks; i++) {
        b2i_chunk_head head;
        if (b2i_is_special(now->entries[i])) {
            continue;
        }
        B2I_TRY(b2i_schunk_chunk_head(s, i, &head, err));
        if (head.has_dict) {
            break;
        }
    }
    *nchunk = i < now->nchunks ? i : now->nchunks;
    return B2C_OK;
}

/* As many bytes as its header says, and needs no more of 'scratch'. */
static b2c_status read_all(const b2c_schunk *s, uint64_t nchunk, const b2i_chunk_head *head,
                           b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    b2i_entry entry = b2i_state_entry(&s->now, nchunk);
    b2c_status st;
    if (b2i_is_special(entry)) {
        uint8_t *p = b2i_scratch_get(scratch, B2C_HEADER_LEN);
        st = p == NULL ? b2i_fail_memory(err) : b2i_stored_special(s, nchunk, p, err);
        *out = b2i_span_of(p, B2C_HEADER_LEN);
    } else {
        st = b2i_stored_read(s->store, entry, head->cbytes, scratch, out, err);
    }
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, nchunk, st, err);
}

b2c_status b2i_schunk_chunk_bytes(const b2c_schunk *s, uint64_t nchunk, b2i_scratch *scratch,
                                  b2i_span *out, b2c_error *err)
{
    b2i_chunk_head head;
    B2I_TRY(b2i_schunk_chunk_head(s, nchunk, &head, err));
    return read_all(s, nchunk, &head, scratch, out, err);
}

b2i_site b2i_schunk_site(const b2c_schunk *s, uint64_t nchunk, const b2i_hook *hook)
{
    b2i_site site = { .schunk = s, .nchunk = nchunk, .typesize = s->now.cparams.typesize };
    site.at = nchunk < s->now.nchunks ? b2i_schunk_chunk_at(s, nchunk) : s->now.nbytes;
    if (hook != NULL) {
        site.hook = *hook;
    }
    b2i_schunk_blockshape(s, &site);
    return site;
}

static b2c_status decode_bytes(b2c_ctx *ctx, const b2i_site *site, const b2i_chunk_head *head,
                               b2i_span bytes, uint8_t *dst, size_t dst_cap, b2c_error *err)
{
    b2i_chunk chunk;
    b2i_source source = b2i_source_mem(&bytes);
    B2I_TRY(b2i_stored_open_bytes(site->schunk, &source, &site->schunk->limits, head, &chunk, err));
    chunk.site = *site;
    b2c_status st = b2i_stored_check_size(site->schunk, site->nchunk, &chunk.head, err);
    if (st == B2C_OK) {
        st = b2i_chunk_decode(ctx, &chunk, dst, dst_cap, err);
    }
    b2i_chunk_close(&chunk);
    return st;
}

b2c_status b2i_schunk_decode_chunk(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                                   const b2i_hook *post, uint8_t *dst, size_t dst_cap,
                                   size_t *dst_len, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    uint64_t nbytes = b2i_schunk_chunk_nbytes(s, nchunk);
    if (dst_cap < nbytes) {
        *dst_len = (size_t)nbytes; /* at most 2^31 */
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the decoded chunk", nbytes,
                              dst_cap);
    }
    b2i_scratch scratch = { 0 };
    b2i_chunk_head head;
    b2i_span bytes;
    B2I_TRY(b2i_schunk_chunk_head(s, nchunk, &head, err));
    b2c_status st = read_all(s, nchunk, &head, &scratch, &bytes, err);
    if (st == B2C_OK) {
        b2i_site site = b2i_schunk_site(s, nchunk, post);
        st = decode_bytes(ctx, &site, &head, bytes, dst, dst_cap, err);
        st = st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, nchunk, st, err);
    }
    b2i_scratch_free(&scratch);
    if (st == B2C_OK) {
        *dst_len = (size_t)nbytes;
    }
    return st;
}

b2c_status b2i_schunk_get_chunk(const b2c_schunk *s, uint64_t nchunk, uint8_t *dst, size_t dst_cap,
                                size_t *dst_len, b2c_error *err)
{
    b2i_chunk_head head;
    b2i_span bytes;
    B2I_TRY(b2i_schunk_chunk_head(s, nchunk, &head, err));
    *dst_len = head.cbytes;
    if (head.cbytes > dst_cap) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the chunk", head.cbytes, dst_cap);
    }
    b2i_scratch there = { dst, dst_cap }; /* a file is read into it, in one go */
    B2I_TRY(read_all(s, nchunk, &head, &there, &bytes, err));
    if (bytes.p != dst) {
        b2i_copy(dst, bytes.p, bytes.n);
    }
    return B2C_OK;
}

/* ---- sizes of variable chunks, when a frame is opened ---- */

/* Whether it is within its place is for its readers: it would keep them from all others here. */
static b2c_status load_size(const b2c_schunk *s, uint64_t nchunk, uint64_t *nbytes, b2c_error *err)
{
    bool is_special = b2i_is_special(b2i_state_entry(&s->now, nchunk));
    b2i_chunk_head head;
    uint64_t len;
    b2c_status st =
        is_special ? b2i_fail(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                              "special chunks of unknown size in a frame of variable chunk sizes")
                   : parse_payload_head(s, nchunk, &head, &len, err);
    if (st != B2C_OK) {
        return b2i_schunk_fail_in_chunk(s, nchunk, st, err);
    }
    *nbytes = head.nbytes;
    return B2C_OK;
}

b2c_status b2i_schunk_load_sizes(b2c_schunk *s, b2c_error *err)
{
    b2i_state *now = &s->now;
    uint64_t total = 0, unsized = UINT64_MAX;
    for (uint64_t i = 0; i < now->nchunks; i++) {
        uint64_t nbytes = 0;
        b2c_status st = load_size(s, i, &nbytes, err);
        if ((b2i_is_bad_data(st) || st == B2C_E_IO) && unsized == UINT64_MAX) {
            unsized = i; /* those who read it are told what is wrong */
        } else {
            B2I_TRY(st);
        }
        total += nbytes; /* below 2^28 * 2^31 */
        now->ends[i] = total;
    }
    if (unsized != UINT64_MAX && now->nbytes > total &&
        now->nbytes - total <= s->limits.max_chunk_nbytes) {
        /* One size that no chunk tells follows from the others. */
        for (uint64_t i = unsized; i < now->nchunks; i++) {
            now->ends[i] += now->nbytes - total;
        }
        total = now->nbytes;
    }
    if (total != now->nbytes) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 0x1E,
                              "the chunks' sizes do not add up to the frame's", now->nbytes, total);
    }
    return B2C_OK;
}
