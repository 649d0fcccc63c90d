/*
 * edit.c: appending, inserting, replacing, deleting and reordering chunks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"
#include "checked.h"
#include "special.h"
#include "tune.h"

/* ---- the arrays ---- */

bool b2i_state_stays_regular(const b2i_state *state, b2i_redo where, uint64_t nbytes)
{
    uint64_t n = state->nchunks, size = (uint64_t)state->chunksize;
    if (state->chunksize == B2I_CHUNKSIZE_NEW) {
        return true;
    }
    if (nbytes > size) {
        return false;
    }
    if (where.kind == B2I_REDO_UPDATE) {
        return nbytes == size || where.nchunk == n - 1;
    }
    if (where.nchunk == n) {
        return n == 0 || state->nbytes == n * size;
    }
    return nbytes == size;
}

/* Moves the ends of chunks from 'first' on by the change of a size. */
static void shift_ends(b2i_state *state, uint64_t first, uint64_t added, uint64_t removed)
{
    for (uint64_t i = first; state->ends != NULL && i < state->nchunks; i++) {
        state->ends[i] = state->ends[i] + added - removed;
    }
}

static void make_gap(b2i_state *state, uint64_t at)
{
    size_t bytes = (size_t)(state->nchunks - at) * sizeof(uint64_t);
    memmove(state->entries + at + 1, state->entries + at, bytes);
    if (state->ends != NULL) {
        memmove(state->ends + at + 1, state->ends + at, bytes);
        state->ends[at] = at == 0 ? 0 : state->ends[at - 1];
    }
    state->nchunks++;
}

/* Puts an entry of nbytes into the arrays: at the end, before or in place of a chunk. */
static void place_entry(b2i_state *state, b2i_redo where, b2i_entry entry, uint64_t nbytes)
{
    bool replaces = where.kind == B2I_REDO_UPDATE;
    if (state->chunksize == B2I_CHUNKSIZE_NEW) {
        state->chunksize = (int64_t)nbytes;
    }
    uint64_t old = replaces ? b2i_state_chunk_nbytes(state, where.nchunk) : 0;
    if (replaces) {
        state->nspecial -= b2i_is_special(state->entries[where.nchunk]);
    } else {
        make_gap(state, where.nchunk);
    }
    state->entries[where.nchunk] = entry;
    state->nspecial += b2i_is_special(entry);
    shift_ends(state, where.nchunk, nbytes, old);
    state->nbytes = state->nbytes + nbytes - old;
}

/* Whether all entries are the same special one, as the index of a huge array of zeros. */
static bool is_uniform(const b2i_state *now, b2i_entry entry)
{
    if (now->nspecial != now->nchunks || !b2i_is_special(entry)) {
        return false;
    }
    if (now->nchunks > 0 && (now->entries == NULL || now->nchunks > B2I_SAFE_NCHUNKS)) {
        /* they were compared when there were fewer */
        return b2i_state_entry(now, 0) == entry;
    }
    for (uint64_t i = 0; i < now->nchunks; i++) {
        if (b2i_state_entry(now, i) != entry) {
            return false;
        }
    }
    return true;
}

/*
 * B2C_E_LIMIT when a frame of n chunks with 'cbytes' of payload, of which the new one is 'entry',
 * could not be opened again with the super-chunk's limits.
 */
static b2c_status check_count(const b2c_schunk *s, uint64_t n, uint64_t cbytes, b2i_entry entry,
                              b2c_error *err)
{
    if (n > B2I_MAX_NCHUNKS) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET, "a frame cannot have more chunks",
                              B2I_MAX_NCHUNKS, n);
    }
    b2i_index_room room = b2i_index_room_of(&s->limits, n, cbytes);
    if (n <= room.max || (n <= room.max_uniform && is_uniform(&s->now, entry))) {
        return B2C_OK;
    }
    return b2i_fail_limit(err, B2C_NO_OFFSET, "max_nchunks",
                          "with the same limits nobody could open a frame of so many chunks that "
                          "are not all the same special value",
                          room.max, n);
}

b2c_status b2i_schunk_check_zeros(const b2c_schunk *s, uint64_t nchunks, b2c_error *err)
{
    return check_count(s, nchunks, s->now.cbytes, B2I_ENTRY_ZERO, err);
}

/* ---- one chunk ---- */

static b2c_status check_chunk(const b2c_schunk *s, b2i_span chunk, b2i_chunk_head *head,
                              b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, head, err));
    if (head->cbytes > chunk.n) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, chunk.n, "the chunk is cut short", head->cbytes,
                              chunk.n);
    }
    if (head->nbytes == 0) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, 4, "nbytes",
                              "a frame cannot hold an empty chunk");
    }
    if (head->cbytes < B2I_MIN_STORED_LEN) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, 12, "cbytes",
                              "a frame cannot hold a chunk of less than 32 bytes");
    }
    return B2C_OK;
}

bool b2i_state_fits_index(const b2i_state *state, const b2i_chunk_head *head)
{
    uint32_t typesize = b2i_tune_typesize(&state->cparams);
    bool has_entry = head->special == B2C_SPECIAL_ZERO || head->special == B2C_SPECIAL_UNINIT ||
                     (head->special == B2C_SPECIAL_NAN && head->typesize == typesize);
    bool has_items = head->nbytes % state->cparams.typesize == 0; /* others refuse it otherwise */
    return has_entry && has_items && state->ends == NULL;
}

b2c_status b2i_schunk_fill_uniform(b2c_schunk *s, b2i_span chunk, b2i_span last, uint64_t nbytes,
                                   bool *done, b2c_error *err)
{
    const b2i_redo none = { B2I_REDO_NONE, 0 };
    b2i_chunk_head head, last_head;
    *done = false;
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, &head, err));
    B2I_TRY(b2i_chunk_head_parse(last, NULL, &last_head, err));
    if (last_head.special != head.special || !b2i_state_fits_index(&s->now, &head) ||
        !b2i_state_fits_index(&s->now, &last_head) || (int64_t)head.nbytes != s->now.chunksize ||
        s->now.nchunks > 0) {
        return B2C_OK;
    }
    b2i_entry entry = b2i_special_entry(head.special);
    B2I_TRY(check_count(s, b2i_ceil_div(nbytes, head.nbytes), 0, entry, err));
    if (!b2i_state_set_uniform(&s->now, entry, nbytes)) {
        return B2C_OK;
    }
    *done = true;
    s->edits++; /* who fails after this has failed halfway */
    /* The log of single edits ends here, as with any other transaction. */
    return s->store->ops->log == NULL ? B2C_OK : s->store->ops->log(s->store, chunk, &none, err);
}

/* A chunk that holds the data as they are. */
static b2c_status encode_stored(b2c_cparams cp, b2i_span data, uint8_t *dst, size_t cap,
                                size_t *len, b2c_error *err)
{
    b2c_ctx *ctx;
    B2I_TRY(b2c_ctx_new(NULL, 1, NULL, &ctx, err));
    cp.clevel = 0;
    cp.typesize = 1;
    b2c_status st = b2i_chunk_encode(ctx, &cp, NULL, data, dst, cap, len, err);
    b2c_ctx_free(ctx);
    return st;
}

/*
 * A chunk with payload for zeros, NaN or uninitialised data: the reference library reads
 * their special chunks only from the index, and needs a repeated value to
 * have at least the frame's type size.  Zeros that are no multiple of it become blocks of zeros,
 * NaN are stored as they are.
 */
static b2c_status plain_chunk(const b2c_schunk *s, const b2i_chunk_head *head, b2i_scratch *scratch,
                              b2i_span *out, b2c_error *err)
{
    bool is_nan = head->special == B2C_SPECIAL_NAN;
    uint32_t width = is_nan ? head->typesize : 1, typesize = s->now.cparams.typesize;
    b2c_cparams cp = b2i_special_cparams(typesize > width ? typesize : width);
    cp.blocksize = s->now.cparams.blocksize; /* the reference library wants it of arrays */
    bool repeats = head->nbytes % cp.typesize == 0 && cp.typesize % width == 0;
    if (!repeats && !is_nan) {
        return b2i_zeros_encode(head->nbytes, scratch, out, err);
    }
    size_t n = repeats ? cp.typesize : head->nbytes;
    size_t len, cap = n + B2C_HEADER_LEN;
    uint8_t *p = b2i_scratch_get(scratch, cap + n);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    uint8_t *data = p + cap;
    b2i_special_fill(head->special, head->typesize, b2i_span_of(NULL, 0), 0, data, n);
    B2I_TRY(repeats
                ? b2i_special_encode(&cp, B2C_SPECIAL_VALUE, head->nbytes, data, p, cap, &len, err)
                : encode_stored(cp, b2i_span_of(data, n), p, cap, &len, err));
    *out = b2i_span_of(p, len);
    return B2C_OK;
}

/* A failure after which the store is not to be written to any more. */
static bool is_lasting(b2c_status st)
{
    return st == B2C_E_IO || st == B2C_E_CONFLICT;
}

/* 'made' is the memory of the chunk where the store may keep it, or NULL. */
static b2c_status put_bytes(b2c_schunk *s, b2i_span chunk, b2i_scratch *made, b2i_redo redo,
                            b2i_entry *entry, b2c_error *err)
{
    /* Smaller ones are copied to memory that was freed before, which costs less than new memory. */
    enum { WORTH_KEEPING = 2 * 1024 * 1024 };
    const b2i_store_ops *ops = s->store->ops;
    bool is_kept = made != NULL && chunk.p == made->p && chunk.n >= WORTH_KEEPING;
    b2c_status st = is_kept && ops->keep != NULL ? ops->keep(s->store, made, chunk.n, entry, err)
                                                 : ops->put(s->store, chunk, &redo, entry, err);
    if (st == B2C_OK) {
        s->now.cbytes += chunk.n;
        s->put_len += chunk.n;
    } else {
        s->store->failed = s->store->failed || is_lasting(st);
    }
    return st;
}

static b2c_status put(b2c_schunk *s, b2i_span chunk, b2i_scratch *made, const b2i_chunk_head *head,
                      b2i_redo redo, b2i_entry *entry, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2c_status st = B2C_OK;
    if (b2i_state_fits_index(&s->now, head)) {
        *entry = b2i_special_entry(head->special);
        if (s->store->ops->log != NULL) {
            st = s->store->ops->log(s->store, b2i_span_of(chunk.p, head->cbytes), &redo, err);
            s->store->failed = s->store->failed || is_lasting(st);
        }
        return st;
    }
    chunk.n = head->cbytes;
    if (head->special != B2C_SPECIAL_NONE && head->special != B2C_SPECIAL_VALUE) {
        st = plain_chunk(s, head, &scratch, &chunk, err);
    }
    if (st == B2C_OK) {
        st = put_bytes(s, chunk, made, redo, entry, err);
    }
    b2i_scratch_free(&scratch);
    return st;
}

/*
 * Stored size of chunk n, 0 for entries without payload.  Unreadable chunks count as 0, too: they
 * can be replaced and deleted, but who knows what room is theirs.
 */
static b2c_status stored_len(const b2c_schunk *s, uint64_t nchunk, uint64_t *len, b2c_error *err)
{
    b2i_chunk_head head;
    *len = 0;
    if (b2i_is_special(b2i_state_entry(&s->now, nchunk))) {
        return B2C_OK;
    }
    b2c_status st = b2i_schunk_chunk_head(s, nchunk, &head, err);
    if (st == B2C_OK) {
        *len = head.cbytes;
    }
    return b2i_is_bad_data(st) || st == B2C_E_IO ? B2C_OK : st;
}

static void drop(b2c_schunk *s, b2i_entry entry, uint64_t len)
{
    if (!b2i_is_special(entry)) {
        s->store->ops->drop(s->store, entry, len);
        s->now.cbytes -= len < s->now.cbytes ? len : s->now.cbytes;
    }
}

void b2i_schunk_let_go(b2c_schunk *s, uint64_t nchunk)
{
    uint64_t len;
    b2i_entry entry = b2i_state_entry(&s->now, nchunk);
    (void)stored_len(s, nchunk, &len, NULL); /* without memory the room stays unused */
    s->now.nspecial -= b2i_is_special(entry);
    drop(s, entry, len);
}

void b2i_schunk_keep_first(b2c_schunk *s, uint64_t n)
{
    b2i_state *now = &s->now;
    while (now->nchunks > n) {
        uint64_t last = now->nchunks - 1, nbytes = b2i_schunk_chunk_nbytes(s, last);
        b2i_schunk_let_go(s, last);
        now->nchunks = last;
        now->nbytes -= nbytes;
        s->edits++;
    }
}

/* Gives entry i, which has no payload, one. */
static b2c_status make_payload(b2c_schunk *s, uint64_t i, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_chunk_head head;
    b2i_span chunk;
    B2I_TRY(b2i_schunk_chunk_head(s, i, &head, err));
    b2c_status st = plain_chunk(s, &head, &scratch, &chunk, err);
    if (st == B2C_OK) {
        const b2i_redo none = { B2I_REDO_NONE, 0 };
        st = put_bytes(s, chunk, NULL, none, &s->now.entries[i], err);
        s->now.nspecial -= st == B2C_OK;
    }
    b2i_scratch_free(&scratch);
    return st;
}

/* A frame of variable chunk sizes can have no entries without payload: nothing tells their size. */
static b2c_status make_variable(b2c_schunk *s, b2c_error *err)
{
    /* Whoever opens such a frame learns the sizes from the chunks: all must tell theirs. */
    for (uint64_t i = 0; i < s->now.nchunks; i++) {
        b2i_chunk_head head;
        B2I_TRY(b2i_schunk_chunk_head(s, i, &head, err));
    }
    for (uint64_t i = 0; s->now.nspecial > 0 && i < s->now.nchunks; i++) {
        if (b2i_is_special(s->now.entries[i])) {
            B2I_TRY(make_payload(s, i, err));
        }
    }
    B2I_TRY(b2i_state_make_ends(&s->now, err));
    s->now.chunksize = B2I_CHUNKSIZE_VAR;
    return B2C_OK;
}

/* Before an edit: whether its result is within the limits. */
static b2c_status check_room(const b2c_schunk *s, b2i_redo where, const b2i_chunk_head *head,
                             b2c_error *err)
{
    bool in_index = b2i_state_fits_index(&s->now, head);
    uint64_t n = s->now.nchunks + (where.kind != B2I_REDO_UPDATE), old_len = 0;
    if (n <= B2I_SAFE_NCHUNKS && n <= s->limits.max_nchunks) {
        return B2C_OK;
    }
    if (where.kind == B2I_REDO_UPDATE) {
        B2I_TRY(stored_len(s, where.nchunk, &old_len, err));
    }
    uint64_t cbytes = s->now.cbytes + (in_index ? 0 : head->cbytes);
    return check_count(s, n, cbytes > old_len ? cbytes - old_len : 0,
                       in_index ? b2i_special_entry(head->special) : 0, err);
}

/* The edit itself; the arrays have room and suit the chunk's size. */
static b2c_status place(b2c_schunk *s, b2i_redo where, b2i_span chunk, b2i_scratch *made,
                        const b2i_chunk_head *head, b2c_error *err)
{
    b2i_entry entry, old = B2I_ENTRY_ZERO;
    uint64_t old_len = 0;
    b2i_redo redo = { s->saved == NULL ? where.kind : B2I_REDO_NONE, where.nchunk };
    if (where.kind == B2I_REDO_UPDATE) {
        old = s->now.entries[where.nchunk];
        B2I_TRY(stored_len(s, where.nchunk, &old_len, err));
    }
    B2I_TRY(put(s, chunk, made, head, redo, &entry, err));
    s->now.has_vlblocks = s->now.has_vlblocks || head->has_vlblocks;
    place_entry(&s->now, where, entry, head->nbytes);
    drop(s, old, old_len);
    return B2C_OK;
}

/* 'made' as in put_bytes() */
static b2c_status place_chunk(b2c_schunk *s, b2i_redo where, b2i_span chunk, b2i_scratch *made,
                              b2c_error *err)
{
    b2i_chunk_head head;
    B2I_TRY(check_chunk(s, chunk, &head, err));
    B2I_TRY(check_room(s, where, &head, err));
    B2I_TRY(b2i_state_reserve(&s->now, 1, err));
    if (s->now.ends == NULL && !b2i_state_stays_regular(&s->now, where, head.nbytes)) {
        b2i_steps steps;
        B2I_TRY(b2i_schunk_begin_steps(s, &steps, err));
        b2c_status st = make_variable(s, err);
        if (st == B2C_OK) {
            st = place(s, where, chunk, made, &head, err);
        }
        return b2i_schunk_end_steps(s, steps, st, err);
    }
    B2I_TRY(place(s, where, chunk, made, &head, err));
    bool may_wait = where.kind == B2I_REDO_APPEND || s->store->has_redo;
    return b2i_schunk_edited(s, may_wait ? B2I_COMMIT_SOON : B2I_COMMIT_NOW, err);
}

b2c_status b2i_schunk_append_made(b2c_schunk *s, b2i_scratch *made, b2i_span chunk, b2c_error *err)
{
    return place_chunk(s, (b2i_redo){ B2I_REDO_APPEND, s->now.nchunks }, chunk, made, err);
}

b2c_status b2i_schunk_append_chunk(b2c_schunk *s, b2i_span chunk, b2c_error *err)
{
    return b2i_schunk_append_made(s, NULL, chunk, err);
}

b2c_status b2i_schunk_insert_chunk(b2c_schunk *s, uint64_t nchunk, b2i_span chunk, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks + 1, err));
    return place_chunk(s, (b2i_redo){ B2I_REDO_INSERT, nchunk }, chunk, NULL, err);
}

b2c_status b2i_schunk_update_chunk(b2c_schunk *s, uint64_t nchunk, b2i_span chunk, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    return place_chunk(s, (b2i_redo){ B2I_REDO_UPDATE, nchunk }, chunk, NULL, err);
}

b2c_status b2i_schunk_compress(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                               const b2i_hook *pre, b2i_span src, b2i_scratch *scratch,
                               b2i_span *out, b2c_error *err)
{
    B2I_TRY(b2i_chunk_check_nbytes(src.n, err));
    size_t len, cap = src.n + B2C_HEADER_LEN;
    uint8_t *p = b2i_scratch_get(scratch, cap);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    b2i_site site = b2i_schunk_site(s, nchunk, pre);
    if (nchunk > s->now.nchunks) { /* several chunks of one size are made at once */
        site.at += (nchunk - s->now.nchunks) * src.n;
    }
    b2c_status st = b2i_chunk_encode(ctx, &s->now.cparams, &site, src, p, cap, &len, err);
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
        return st;
    }
    *out = b2i_span_of(p, len);
    return B2C_OK;
}

/* A chunk of src at a place that there is. */
static b2c_status place_data(b2c_schunk *s, b2c_ctx *ctx, b2i_redo where, b2i_span src,
                             b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_span chunk;
    const uint64_t nchunks = s->now.nchunks;
    b2c_status st = b2i_schunk_compress(s, ctx, where.nchunk, &s->pre, src, &scratch, &chunk, err);
    if (st == B2C_OK && s->now.nchunks != nchunks) {
        st = b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                            "the pre-filter has changed the super-chunk that it works for", nchunks,
                            s->now.nchunks);
    } else if (st == B2C_OK) {
        st = place_chunk(s, where, chunk, &scratch, err);
    }
    b2i_scratch_free(&scratch);
    return st;
}

b2c_status b2i_schunk_insert_data(b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, b2i_span src,
                                  b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks + 1, err));
    const b2i_redo_kind kind = nchunk == s->now.nchunks ? B2I_REDO_APPEND : B2I_REDO_INSERT;
    return place_data(s, ctx, (b2i_redo){ kind, nchunk }, src, err);
}

b2c_status b2i_schunk_update_data(b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, b2i_span src,
                                  b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    return place_data(s, ctx, (b2i_redo){ B2I_REDO_UPDATE, nchunk }, src, err);
}

/* ---- without new chunks ---- */

b2c_status b2i_schunk_set_cparams(b2c_schunk *s, const b2c_cparams *cparams, b2c_error *err)
{
    b2c_cparams *now = &s->now.cparams;
    bool is_alike = cparams->typesize == now->typesize && cparams->blocksize == now->blocksize;
    if (!is_alike) {
        B2I_TRY(b2i_schunk_check_writable(s, err));
    }
    *now = *cparams;
    s->has_own_cparams = true;
    /* Readers take both sizes from the frame. */
    return is_alike ? B2C_OK : b2i_schunk_edited(s, B2I_COMMIT_NOW, err);
}

b2c_status b2i_schunk_delete_chunk(b2c_schunk *s, uint64_t nchunk, b2c_error *err)
{
    b2i_state *now = &s->now;
    uint64_t len;
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, now->nchunks, err));
    B2I_TRY(b2i_state_list_entries(now, err));
    B2I_TRY(stored_len(s, nchunk, &len, err));
    uint64_t nbytes = b2i_schunk_chunk_nbytes(s, nchunk);
    b2i_entry entry = now->entries[nchunk];
    size_t after = (size_t)(now->nchunks - nchunk - 1) * sizeof(uint64_t);
    memmove(now->entries + nchunk, now->entries + nchunk + 1, after);
    if (now->ends != NULL) {
        memmove(now->ends + nchunk, now->ends + nchunk + 1, after);
    }
    now->nchunks--;
    now->nbytes -= nbytes;
    now->nspecial -= b2i_is_special(entry);
    shift_ends(now, nchunk, 0, nbytes);
    drop(s, entry, len);
    return b2i_schunk_edited(s, B2I_COMMIT_NOW, err);
}

/* Sets seen[i] for every element; false when one is out of range or there twice. */
static bool is_permutation(const uint64_t *order, uint64_t n, uint8_t *seen)
{
    for (uint64_t i = 0; i < n; i++) {
        if (order[i] >= n || seen[order[i]] != 0) {
            return false;
        }
        seen[order[i]] = 1;
    }
    return true;
}

static void permute(b2i_state *now, const uint64_t *order, b2i_entry *entries, uint64_t *sizes)
{
    for (uint64_t i = 0; i < now->nchunks; i++) {
        entries[i] = now->entries[order[i]];
        sizes[i] = b2i_state_chunk_nbytes(now, order[i]);
    }
    uint64_t end = 0;
    for (uint64_t i = 0; i < now->nchunks; i++) {
        now->entries[i] = entries[i];
        end += sizes[i];
        if (now->ends != NULL) {
            now->ends[i] = end;
        }
    }
}

/* tmp: room for two numbers of each chunk. */
static b2c_status reorder(b2c_schunk *s, const uint64_t *order, uint64_t *tmp, b2c_error *err)
{
    b2i_steps steps;
    uint64_t n = s->now.nchunks;
    B2I_TRY(b2i_schunk_begin_steps(s, &steps, err));
    bool short_moves = s->now.ends == NULL && order[n - 1] != n - 1 &&
                       s->now.nbytes != n * (uint64_t)s->now.chunksize;
    b2c_status st = short_moves ? make_variable(s, err) : B2C_OK;
    if (st == B2C_OK) {
        permute(&s->now, order, tmp, tmp + n);
    }
    return b2i_schunk_end_steps(s, steps, st, err);
}

b2c_status b2i_schunk_reorder(b2c_schunk *s, const uint64_t *order, uint64_t norder, b2c_error *err)
{
    uint64_t n = s->now.nchunks;
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (norder != n) {
        return b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                              "the order must name every chunk once", n, norder);
    }
    if (n == 0) {
        return B2C_OK;
    }
    B2I_TRY(b2i_state_list_entries(&s->now, err));
    uint64_t *tmp = b2i_malloc((size_t)n * 2 * sizeof *tmp); /* nchunks < 2^28 */
    uint8_t *seen = b2i_calloc((size_t)n);
    b2c_status st;
    if (tmp == NULL || seen == NULL) {
        st = b2i_fail_memory(err);
    } else if (!is_permutation(order, n, seen)) {
        st = b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "order",
                            "the order must name every chunk once");
    } else {
        st = reorder(s, order, tmp, err);
    }
    b2i_free(seen);
    b2i_free(tmp);
    return st;
}
