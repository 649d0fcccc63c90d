/*
 * index.c: the index chunk: a chunk of one 64-bit little-endian entry per chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"

enum { ENTRY_LEN = 8, WIDE_LEN = 16, INDEX_BLOCKSIZE = 16384 };

uint8_t b2i_entry_kind(b2i_entry entry)
{
    /* In this order when several bits are set, as the reference library tests them. */
    if ((entry >> 56 & 1) != 0) {
        return B2C_SPECIAL_ZERO;
    }
    if ((entry >> 56 & 4) != 0) {
        return B2C_SPECIAL_UNINIT;
    }
    return (entry >> 56 & 2) != 0 ? B2C_SPECIAL_NAN : B2C_SPECIAL_NONE;
}

b2i_entry b2i_special_entry(uint8_t kind)
{
    if (kind == B2C_SPECIAL_ZERO) {
        return B2I_ENTRY_ZERO;
    }
    return kind == B2C_SPECIAL_NAN ? B2I_ENTRY_NAN : B2I_ENTRY_UNINIT;
}

uint64_t b2i_index_nspecial(const b2i_entry *entries, uint64_t n)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) {
        count += b2i_is_special(entries[i]);
    }
    return count;
}

/* Whether all are like the first one. */
static bool repeats(const b2i_entry *e, size_t n)
{
    b2i_entry differing = 0;
    for (size_t i = 1; i < n; i++) {
        differing |= e[i] ^ e[0];
    }
    return differing == 0;
}

typedef struct piece {
    bool has_special;
    bool ascends; /* if it has none */
} piece;

/* Whether any is special, and whether they ascend, from 'next' on. */
static piece look_at(const b2i_entry *e, size_t n, b2i_entry next)
{
    /*
     * The top bit of a difference tells, if neither entry has it: compilers make vectors of this.
     */
    b2i_entry any = e[0], descends = e[0] - next;
    for (size_t i = 1; i < n; i++) {
        any |= e[i];
        descends |= e[i] - e[i - 1] - 1;
    }
    return (piece){ (any & B2I_ENTRY_SPECIAL) != 0, (descends & B2I_ENTRY_SPECIAL) == 0 };
}

static b2i_entry highest(const b2i_entry *e, size_t n)
{
    b2i_entry last = e[0];
    for (size_t i = 1; i < n; i++) {
        last = e[i] > last ? e[i] : last;
    }
    return last;
}

static void survey_each(const b2i_entry *entries, uint64_t from, size_t n, uint64_t end,
                        b2i_entry *next, b2i_survey *out)
{
    for (uint64_t i = from; i < from + n; i++) {
        b2i_entry e = entries[i];
        bool is_special = b2i_is_special(e);
        bool is_odd = is_special ? b2i_entry_kind(e) == B2C_SPECIAL_NONE : e >= end;
        out->odd = is_odd && i < out->odd ? i : out->odd;
        out->nspecial += is_special;
        if (!is_special) {
            out->last = e > out->last ? e : out->last;
            out->is_ordered = out->is_ordered && e >= *next;
            *next = e + 1;
        }
    }
}

b2i_survey b2i_index_survey(const b2i_entry *entries, uint64_t n, uint64_t end)
{
    enum { PIECE = 256 }; /* entries that are mostly of one sort */
    b2i_survey out = { .odd = n, .is_ordered = true };
    b2i_entry next = 0; /* the least that keeps the order */
    for (uint64_t at = 0; at < n; at += PIECE) {
        const b2i_entry *e = entries + at;
        size_t here = n - at < PIECE ? (size_t)(n - at) : PIECE;
        const piece p = look_at(e, here, next);
        b2i_entry last = p.has_special ? 0 : p.ascends ? e[here - 1] : highest(e, here);
        if (!p.has_special && last < end) {
            out.last = last > out.last ? last : out.last;
            out.is_ordered = out.is_ordered && p.ascends;
            next = last + 1;
        } else if (b2i_is_special(e[0]) && repeats(e, here) &&
                   b2i_entry_kind(e[0]) != B2C_SPECIAL_NONE) {
            out.nspecial += here;
        } else {
            survey_each(entries, at, here, end, &next, &out);
        }
    }
    return out;
}

b2i_index_room b2i_index_room_of(const b2c_limits *limits, uint64_t nchunks, uint64_t frame_len)
{
    b2i_index_room room = { nchunks, limits->max_nchunks, limits->max_nchunks, false };
    if (limits->max_nchunks == B2I_NO_LIMIT) {
        room.max = B2I_SAFE_NCHUNKS + frame_len / B2C_HEADER_LEN;
        room.max = room.max < B2I_MAX_NCHUNKS ? room.max : B2I_MAX_NCHUNKS;
        room.max_uniform = B2I_MAX_NCHUNKS;
    }
    return room;
}

static b2c_status check_count(const b2i_chunk_head *head, const b2i_index_room *room,
                              bool is_uniform, b2c_error *err)
{
    size_t entry_len = room->is_wide ? WIDE_LEN : ENTRY_LEN;
    if (head->nbytes % entry_len != 0) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 4, "nbytes",
                              room->is_wide ? "the index chunk does not hold 128-bit entries"
                                            : "the index chunk does not hold 64-bit entries");
    }
    uint64_t n = head->nbytes / entry_len, max = is_uniform ? room->max_uniform : room->max;
    if (room->nchunks != UINT64_MAX && n != room->nchunks) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 4,
                              "the index has not as many entries as the frame has chunks",
                              room->nchunks, n);
    }
    if (n > max) {
        return b2i_fail_limit(err, 4, "max_nchunks", "the frame has more chunks than the limit",
                              max, n);
    }
    return B2C_OK;
}

/* The special entry that all of an index are, when its chunk is one repeated value. */
static bool find_uniform(b2i_span chunk, const b2i_chunk_head *head, b2i_entry *entry)
{
    if (head->special != B2C_SPECIAL_VALUE || head->value_len != ENTRY_LEN) {
        return false;
    }
    b2i_reader r = b2i_rd_init(chunk, head->header_len);
    *entry = b2i_rd_u64le(&r);
    return !r.failed && b2i_is_special(*entry);
}

/* Of 128 bits, 64 are enough for a place. */
static b2c_status narrow(uint8_t *bytes, size_t n, b2c_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (b2i_ld64le(bytes + WIDE_LEN * i + ENTRY_LEN) != 0) {
            return b2i_fail_field(err, B2C_E_CORRUPT, B2C_NO_OFFSET, "index",
                                  "a 128-bit entry of the index is no place in a frame");
        }
        memmove(bytes + ENTRY_LEN * i, bytes + WIDE_LEN * i, ENTRY_LEN);
    }
    return B2C_OK;
}

static b2c_status decode(b2c_ctx *ctx, const b2i_chunk *chunk, bool is_wide, b2i_entry **entries,
                         b2c_error *err)
{
    size_t n = chunk->head.nbytes;
    uint8_t *bytes = b2i_malloc(n);
    if (bytes == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = b2i_chunk_decode(ctx, chunk, bytes, n, err);
    if (st == B2C_OK && is_wide) {
        n = n / WIDE_LEN * ENTRY_LEN;
        st = narrow(bytes, n / ENTRY_LEN, err);
    }
    if (st != B2C_OK) {
        b2i_free(bytes);
        return st;
    }
    b2i_entry *e = (b2i_entry *)(void *)bytes; /* malloc's memory suits any type */
    for (size_t i = 0; i < n / ENTRY_LEN; i++) {
        e[i] = b2i_ld64le(bytes + ENTRY_LEN * i);
    }
    *entries = e;
    return B2C_OK;
}

b2c_status b2i_index_decode(b2i_span chunk, b2i_index_room room, b2i_index *out, b2c_error *err)
{
    b2i_source source = b2i_source_mem(&chunk);
    b2i_chunk c = { 0 };
    b2c_ctx *ctx = NULL;
    b2i_chunk_head head;
    b2i_index index = { .entries = NULL };
    /* Before anything is read that depends on how many blocks the index claims. */
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, &head, err));
    bool is_uniform = !room.is_wide && find_uniform(chunk, &head, &index.uniform);
    B2I_TRY(check_count(&head, &room, is_uniform, err));
    index.n = head.nbytes / (room.is_wide ? WIDE_LEN : ENTRY_LEN);

    b2c_status st = B2C_OK;
    if (!is_uniform) {
        B2I_GO(st, b2c_ctx_new(NULL, 1, NULL, &ctx, err));
        B2I_GO(st, b2i_chunk_open(&source, NULL, &c, err));
        B2I_GO(st, decode(ctx, &c, room.is_wide, &index.entries, err));
    }
    *out = index;
out:
    b2i_chunk_close(&c);
    b2c_ctx_free(ctx);
    return st;
}

static b2c_cparams index_cparams(void)
{
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.typesize = ENTRY_LEN;
    cp.codec = B2C_CODEC_BLOSCLZ;
    cp.clevel = 5;
    cp.blocksize = INDEX_BLOCKSIZE;
    cp.splitmode = B2C_SPLIT_NEVER;
    return cp;
}

/* A uniform index takes 40 bytes, also when it is shorter than that decoded. */
static b2c_status encode_uniform(b2i_entry uniform, uint64_t n, b2i_buf *out, b2c_error *err)
{
    uint8_t value[ENTRY_LEN];
    size_t len;
    b2c_cparams cp = index_cparams();
    if (!b2i_buf_reserve(out, B2C_HEADER_LEN + ENTRY_LEN)) {
        return b2i_fail_memory(err);
    }
    b2i_st64le(value, uniform);
    B2I_TRY(b2i_special_encode(&cp, B2C_SPECIAL_VALUE, n * ENTRY_LEN, value, out->p + out->n,
                               out->cap - out->n, &len, err));
    out->n += len;
    return B2C_OK;
}

static b2c_status encode(b2c_ctx *ctx, const b2i_entry *entries, size_t n, b2i_buf *out,
                         b2c_error *err)
{
    b2c_cparams cp = index_cparams();
    size_t len;
    uint8_t *bytes = b2i_malloc(n * ENTRY_LEN);
    if (bytes == NULL) {
        return b2i_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        b2i_st64le(bytes + ENTRY_LEN * i, entries[i]);
    }
    b2c_status st = b2i_chunk_encode(ctx, &cp, NULL, b2i_span_of(bytes, n * ENTRY_LEN),
                                     out->p + out->n, out->cap - out->n, &len, err);
    b2i_free(bytes);
    out->n += st == B2C_OK ? len : 0;
    return st;
}

b2c_status b2i_index_encode(const b2i_entry *entries, b2i_entry uniform, uint64_t n, b2i_buf *out,
                            b2c_error *err)
{
    b2c_ctx *ctx = NULL;
    if (n > B2I_MAX_NCHUNKS || n > (SIZE_MAX - B2C_HEADER_LEN) / ENTRY_LEN) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET, "a frame cannot have more chunks",
                              B2I_MAX_NCHUNKS, n);
    }
    if (entries == NULL || (b2i_is_special(entries[0]) && repeats(entries, (size_t)n))) {
        return encode_uniform(entries == NULL ? uniform : entries[0], n, out, err);
    }
    if (!b2i_buf_reserve(out, (size_t)n * ENTRY_LEN + B2C_HEADER_LEN)) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2c_ctx_new(NULL, 1, NULL, &ctx, err));
    b2c_status st = encode(ctx, entries, (size_t)n, out, err);
    b2c_ctx_free(ctx);
    return st;
}
