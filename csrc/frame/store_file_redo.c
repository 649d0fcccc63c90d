/*
 * store_file_redo.c: what an unpacked frame leaves for the next one who opens it.
 *
 * A commit record follows the frame (bytes there are ignored by others):
 *
 *     0   "B2CR"                     64  u32 slot, u32 0
 *     4   u32 version, 1             72  u64 number of the commit
 *     8   u64 frame_len              80  fingerprint of the frame
 *     16  u64 nbytes                 96  16 bytes: the packed frame from which commits are counted
 *     24  u64 place of the index    112  u64 dead bytes among the chunks, as far as is known
 *     32  u64 end of the chunks     120  u64 XXH3 of bytes 0…119
 *     40  u64 place of the slots
 *     48  u64 room of a slot
 *     56  u64 number of the commit after which room was used again the last time
 *
 * A redo record follows the checksum record of a chunk that was added after the commit:
 *
 *     0   u64 first bytes of the fingerprint of the commit that it follows
 *     8   u56 chunk number, u8 kind (append, insert, update)
 *     16  u32 number since that commit
 *     20  u32 XXH3 of bytes 0…19
 *
 * A chunk in room that was used before has none: a pointer stands behind all chunks instead.  The
 * hash tells the chunk from the one that was there before.
 *
 *     0   "B2CP"                     16  u64 XXH3 of the chunk
 *     4   u32 XXH3 of bytes 8…47     24  redo record
 *     8   u64 place of the chunk
 *
 * All little-endian.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
#include "checksum.h"

enum { RECORD_VERSION = 1, HASHED_LEN = 120 };

static const uint8_t magic[4] = { 'B', '2', 'C', 'R' }, pointer_magic[4] = { 'B', '2', 'C', 'P' };

void b2i_commit_record_make(const b2i_file_store *f, uint64_t frame_len,
                            uint8_t out[B2I_COMMIT_RECORD_LEN])
{
    memset(out, 0, B2I_COMMIT_RECORD_LEN);
    memcpy(out, magic, sizeof magic);
    b2i_st32le(out + 4, RECORD_VERSION);
    b2i_st64le(out + 8, frame_len);
    b2i_st64le(out + 16, f->nbytes);
    b2i_st64le(out + 24, f->tail_at);
    b2i_st64le(out + 32, f->committed_end);
    b2i_st64le(out + 40, f->region_at);
    b2i_st64le(out + 48, f->slot_cap);
    b2i_st64le(out + 56, f->base.reuse_no);
    b2i_st32le(out + 64, f->slot);
    b2i_st64le(out + 72, f->commit_no);
    memcpy(out + 80, f->fingerprint, B2I_FINGERPRINT_LEN);
    memcpy(out + 96, f->base.shown.since, B2I_SINCE_LEN);
    b2i_st64le(out + 112, f->dead);
    b2i_st64le(out + HASHED_LEN, b2i_xxh3_64(b2i_span_of(out, HASHED_LEN)));
}

typedef struct commit_record {
    uint64_t frame_len, nbytes, tail_at, end, region_at, slot_cap, reuse_no, commit_no, dead;
    uint32_t slot;
    uint8_t fingerprint[B2I_FINGERPRINT_LEN], since[B2I_SINCE_LEN];
} commit_record;

static bool parse_commit(b2i_span bytes, commit_record *c)
{
    b2i_reader r = b2i_rd_init(bytes, 0);
    const uint8_t *name = b2i_rd_take(&r, sizeof magic);
    uint32_t version = b2i_rd_u32le(&r);
    c->frame_len = b2i_rd_u64le(&r);
    c->nbytes = b2i_rd_u64le(&r);
    c->tail_at = b2i_rd_u64le(&r);
    c->end = b2i_rd_u64le(&r);
    c->region_at = b2i_rd_u64le(&r);
    c->slot_cap = b2i_rd_u64le(&r);
    c->reuse_no = b2i_rd_u64le(&r);
    c->slot = b2i_rd_u32le(&r);
    (void)b2i_rd_u32le(&r);
    c->commit_no = b2i_rd_u64le(&r);
    b2i_rd_copy(&r, c->fingerprint, sizeof c->fingerprint);
    b2i_rd_copy(&r, c->since, sizeof c->since);
    c->dead = b2i_rd_u64le(&r);
    uint64_t hash = b2i_rd_u64le(&r);
    return !r.failed && memcmp(name, magic, sizeof magic) == 0 && version == RECORD_VERSION &&
           hash == b2i_xxh3_64(b2i_span_of(bytes.p, HASHED_LEN));
}

/*
 * Whether the record belongs to the frame that was opened and makes sense.  Slots take not much
 * more than twice the tail for which they were chosen, which the file had room for.
 */
static bool fits(const b2i_file_store *f, uint64_t size, const commit_record *c)
{
    const uint64_t max = (uint64_t)1 << 62;
    return f->nbytes > 0 && c->frame_len == f->base.frame_len && c->nbytes == f->nbytes &&
           c->tail_at == f->tail_at && c->slot < B2I_NSLOTS && c->region_at < max &&
           c->slot_cap < max / 4 && c->slot_cap / 2 <= size && c->end <= c->region_at &&
           c->tail_at == c->region_at + c->slot * c->slot_cap &&
           c->slot_cap >= f->tail_len + B2I_COMMIT_RECORD_LEN && c->commit_no < max &&
           memcmp(c->fingerprint, f->fingerprint, sizeof c->fingerprint) == 0;
}

/* ---- redo records ---- */

void b2i_redo_make(const b2i_redo_log *log, const b2i_redo *redo, uint8_t out[B2I_REDO_LEN])
{
    memcpy(out, log->base, sizeof log->base);
    b2i_st64le(out + 8, redo->nchunk | (uint64_t)redo->kind << 56);
    b2i_st32le(out + 16, log->seq);
    b2i_st32le(out + 20, (uint32_t)b2i_xxh3_64(b2i_span_of(out, 20)));
}

static bool parse_redo(const b2i_redo_log *log, b2i_span bytes, b2i_redo *redo)
{
    b2i_reader r = b2i_rd_init(bytes, 0);
    const uint8_t *base = b2i_rd_take(&r, sizeof log->base);
    uint64_t packed = b2i_rd_u64le(&r);
    uint32_t seq = b2i_rd_u32le(&r), hash = b2i_rd_u32le(&r);
    uint64_t kind = packed >> 56;
    redo->nchunk = packed & (((uint64_t)1 << 56) - 1);
    redo->kind = (b2i_redo_kind)kind;
    return !r.failed && memcmp(base, log->base, sizeof log->base) == 0 && seq == log->seq &&
           hash == (uint32_t)b2i_xxh3_64(b2i_span_of(bytes.p, 20)) &&
           (kind == B2I_REDO_APPEND || kind == B2I_REDO_INSERT || kind == B2I_REDO_UPDATE);
}

void b2i_pointer_make(const b2i_redo_log *log, const b2i_redo *redo, uint64_t place, b2i_span chunk,
                      uint8_t out[B2I_POINTER_LEN])
{
    memcpy(out, pointer_magic, sizeof pointer_magic);
    b2i_st64le(out + 8, place);
    b2i_st64le(out + 16, b2i_xxh3_64(chunk));
    b2i_redo_make(log, redo, out + 24);
    b2i_st32le(out + 4, (uint32_t)b2i_xxh3_64(b2i_span_of(out + 8, B2I_POINTER_LEN - 8)));
}

static bool parse_pointer(const b2i_redo_log *log, b2i_span bytes, uint64_t *place,
                          uint64_t *chunk_hash, b2i_redo *redo)
{
    b2i_reader r = b2i_rd_init(bytes, 0);
    const uint8_t *name = b2i_rd_take(&r, sizeof pointer_magic);
    uint32_t hash = b2i_rd_u32le(&r);
    *place = b2i_rd_u64le(&r);
    *chunk_hash = b2i_rd_u64le(&r);
    return !r.failed && memcmp(name, pointer_magic, sizeof pointer_magic) == 0 &&
           hash == (uint32_t)b2i_xxh3_64(b2i_span_sub(bytes, 8, bytes.n - 8)) &&
           parse_redo(log, b2i_span_sub(bytes, 24, B2I_REDO_LEN), redo);
}

/* Reads n bytes at 'at' of the file; *found false: it ends before. */
static b2c_status read_at(const b2i_redo_place *place, uint64_t at, uint8_t *dst, size_t n,
                          bool *found, b2c_error *err)
{
    *found = at <= place->end && place->end - at >= n;
    b2c_status st = *found ? place->io->ops->read(place->io, at, dst, n, err) : B2C_OK;
    if (st == B2C_E_TRUNCATED) { /* somebody has cut it meanwhile */
        *found = false;
        return B2C_OK;
    }
    return st;
}

/* The header of a chunk and n bytes behind it; *found false: no record can be there. */
static b2c_status read_head(const b2i_redo_place *place, b2i_chunk_head *head, uint8_t *record,
                            size_t n, bool *found, b2c_error *err)
{
    uint8_t first[B2C_HEADER_LEN];
    *head = (b2i_chunk_head){ .nbytes = 0 };
    B2I_TRY(read_at(place, place->at, first, sizeof first, found, err));
    /* The limits are for what is a chunk of the log, not for any bytes. */
    *found = *found &&
             b2i_chunk_head_parse(b2i_span_of(first, sizeof first), NULL, head, NULL) == B2C_OK &&
             head->nbytes > 0;
    if (*found) {
        B2I_TRY(read_at(place, place->at + head->cbytes, record, n, found, err));
    }
    *found = *found && b2i_record_extent(b2i_span_of(record, n), head, place->entry) > 0;
    return B2C_OK;
}

b2c_status b2i_redo_look(const b2i_redo_place *place, const b2i_redo_log *log, b2i_chunk_head *head,
                         b2i_redo *redo, bool *found, b2c_error *err)
{
    uint8_t record[B2I_RECORD_LEN + B2I_REDO_LEN];
    B2I_TRY(read_head(place, head, record, sizeof record, found, err));
    *found = *found && (record[4] & B2I_RECORD_FLAG_REDO) != 0 &&
             parse_redo(log, b2i_span_of(record + B2I_RECORD_LEN, B2I_REDO_LEN), redo);
    return B2C_OK;
}

b2c_status b2i_redo_check(const b2i_redo_place *place, const b2i_chunk_head *head,
                          const b2c_limits *limits, b2i_scratch *scratch, bool *fits,
                          bool *is_unchecked, b2c_error *err)
{
    size_t n = head->cbytes + (size_t)B2I_RECORD_LEN;
    b2c_status st = b2i_chunk_head_check_limit(head, limits, err);
    if (st != B2C_OK) {
        b2i_err_shift(err, place->at);
        return st;
    }
    uint8_t *p = b2i_scratch_get(scratch, n);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(read_at(place, place->at, p, n, fits, err));
    *fits = *fits && b2i_record_fits(b2i_span_of(p + head->cbytes, B2I_RECORD_LEN),
                                     b2i_span_of(p, head->cbytes), place->entry);
    *is_unchecked = *fits && (p[head->cbytes + 4] & B2I_RECORD_FLAG_LOG) != 0;
    return B2C_OK;
}

/* Whether the edit is possible in the state that it claims to follow. */
static bool is_possible(const b2i_state *now, const b2i_redo *redo)
{
    uint64_t n = now->nchunks;
    if (redo->kind == B2I_REDO_APPEND) {
        return redo->nchunk == n;
    }
    return redo->kind == B2I_REDO_INSERT ? redo->nchunk <= n : redo->nchunk < n;
}

static b2c_status fail_impossible(b2c_error *err)
{
    return b2i_fail(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                    "the log of a killed writer tells of an edit that is not possible");
}

b2c_status b2i_redo_apply(const b2c_schunk *s, b2i_replay *replay, const b2i_redo *redo,
                          b2i_entry entry, const b2i_chunk_head *head, b2c_error *err)
{
    b2i_state *now = replay->state;
    bool done;
    if (!is_possible(now, redo)) {
        return fail_impossible(err);
    }
    if (redo->kind != B2I_REDO_UPDATE && now->nchunks >= s->limits.max_nchunks) {
        return b2i_fail_limit(err, B2C_NO_OFFSET, "max_nchunks",
                              "with what a killed writer has added, these are more chunks than "
                              "the limit",
                              s->limits.max_nchunks, now->nchunks + 1);
    }
    if (b2i_state_fits_index(now, head)) {
        entry = b2i_special_entry(head->special);
    }
    b2i_places_forget(now);
    B2I_TRY(b2i_replay_edit(replay, *redo, entry, head->nbytes, &done, err));
    if (!done) {
        return fail_impossible(err);
    }
    if (now->nbytes > s->limits.max_nbytes) {
        return b2i_fail_limit(err, B2C_NO_OFFSET, "max_nbytes",
                              "with what a killed writer has added, the frame decodes to more "
                              "than the limit",
                              s->limits.max_nbytes, now->nbytes);
    }
    now->has_vlblocks = now->has_vlblocks || head->has_vlblocks;
    now->cbytes += b2i_is_special(entry) ? 0 : head->cbytes;
    return B2C_OK;
}

/* ---- recovery of a file ---- */

b2i_redo_log b2i_file_redo_log(const b2i_file_store *f)
{
    b2i_redo_log log = { .seq = f->seq };
    memcpy(log.base, f->fingerprint, sizeof log.base);
    return log;
}

/* An edit of the log, and how many bytes behind the chunks tell it; 0: nothing is known of it. */
typedef struct step {
    b2i_redo redo;
    b2i_redo_place place;
    b2i_chunk_head head;
    uint64_t len;
    bool has_record;   /* that continues the log */
    bool is_sound;     /* and the chunk is the record's */
    bool is_unchecked; /* and that is no checksum for readers */
} step;

/*
 * What a pointer at 'end' leads to: a chunk in front of it, whose record bears the same hash.  It
 * and what belongs to it end there, too: others are put behind the pointer.
 */
static b2c_status look_at_pointer(const b2i_redo_log *log, step *out, b2c_error *err)
{
    uint8_t bytes[B2I_POINTER_LEN], record[B2I_RECORD_LEN];
    uint64_t entry, end = out->place.entry, hash;
    bool found;
    B2I_TRY(read_at(&out->place, out->place.at, bytes, sizeof bytes, &found, err));
    if (!found ||
        !parse_pointer(log, b2i_span_of(bytes, sizeof bytes), &entry, &hash, &out->redo) ||
        entry >= end) {
        return B2C_OK;
    }
    out->place.at -= end - entry;
    out->place.entry = entry;
    out->len = sizeof bytes;
    B2I_TRY(read_head(&out->place, &out->head, record, sizeof record, &found, err));
    uint64_t len = out->head.cbytes;
    len += found ? b2i_record_extent(b2i_span_of(record, sizeof record), &out->head, entry) : 0;
    out->has_record = found && len <= end - entry && b2i_ld64le(record + 8) == hash;
    return B2C_OK;
}

/* What stands at 'end', to be number 'seq' of the log; 'size' is that of the file. */
static b2c_status look(const b2i_file_store *f, uint64_t size, uint64_t end, uint32_t seq,
                       step *out, b2c_error *err)
{
    b2i_redo_log log = b2i_file_redo_log(f);
    log.seq = seq;
    *out = (step){ .place = { .io = f->io, .at = f->header_len + end, .end = size, .entry = end } };
    B2I_TRY(b2i_redo_look(&out->place, &log, &out->head, &out->redo, &out->has_record, err));
    if (out->head.nbytes > 0) {
        out->len = out->head.cbytes + (uint64_t)b2i_records_len(&out->head) + B2I_REDO_LEN;
    }
    if (!out->has_record) {
        B2I_TRY(look_at_pointer(&log, out, err));
    }
    /* A writer chooses other slots before chunks reach them: the next commit goes there. */
    bool has_room = end <= f->region_at && out->len <= f->region_at - end;
    out->has_record = out->has_record && has_room;
    return B2C_OK;
}

static b2c_status fail_log(uint64_t at, b2c_error *err)
{
    return b2i_fail(err, B2C_E_CHECKSUM, at,
                    "the log of a killed writer is damaged in front of further edits");
}

/*
 * The edit that continues the log.  One whose chunk or record does not fit is the last one, which
 * was not finished, unless the log goes on behind it: then it is damaged.
 */
static b2c_status find_step(const b2i_file_store *f, uint64_t size, const b2c_limits *limits,
                            b2i_scratch *scratch, step *out, bool *found, b2c_error *err)
{
    step behind = { .has_record = false };
    *found = true;
    for (int i = 0; i < 2; i++) { /* a writer that lives may have finished it meanwhile */
        B2I_TRY(look(f, size, f->end, f->seq, out, err));
        if (out->has_record) {
            B2I_TRY(b2i_redo_check(&out->place, &out->head, limits, scratch, &out->is_sound,
                                   &out->is_unchecked, err));
        }
        if (!out->is_sound && !behind.has_record && out->len > 0) {
            B2I_TRY(look(f, size, f->end + out->len, f->seq + 1, &behind, err));
        }
        if (out->is_sound || !behind.has_record) {
            *found = out->is_sound;
            return B2C_OK;
        }
    }
    if (!out->has_record || !f->base.is_trusted) {
        return fail_log(out->place.at, err);
    }
    out->head.special = B2C_SPECIAL_NONE; /* who reads the chunk at its place is told */
    return B2C_OK;
}

/* Whether n bytes hold a redo record of a later edit than the one that the log lacks. */
static bool has_later(const b2i_file_store *f, const uint8_t *p, size_t n)
{
    b2i_redo_log log = b2i_file_redo_log(f);
    b2i_redo redo;
    for (const uint8_t *q = p, *end = p + n; end - q >= B2I_REDO_LEN; q++) {
        q = memchr(q, log.base[0], (size_t)(end - q) - B2I_REDO_LEN + 1);
        if (q == NULL) {
            return false;
        }
        log.seq = b2i_ld32le(q + 16);
        if (log.seq > f->seq && parse_redo(&log, b2i_span_of(q, B2I_REDO_LEN), &redo)) {
            return true;
        }
    }
    return false;
}

/*
 * Where the log ends in a chunk whose header is damaged, nothing tells where it goes on: looks for
 * a record within the length of a chunk.  Nothing was written where there are zeros.
 */
static b2c_status search_later(const b2i_file_store *f, uint64_t size, const b2c_limits *limits,
                               b2i_scratch *scratch, bool *found, b2c_error *err)
{
    enum { WINDOW = 1 << 16 };
    static const uint8_t zeros[B2C_HEADER_LEN] = { 0 };
    uint64_t at = f->header_len + f->end, end = f->header_len + f->region_at;
    uint64_t max = 2 * limits->max_chunk_nbytes + WINDOW;
    b2i_redo_place place = { .io = f->io, .end = end < size ? end : size };
    uint8_t *p = b2i_scratch_get(scratch, WINDOW);
    bool is_there;
    *found = false;
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(read_at(&place, at, p, sizeof zeros, &is_there, err));
    if (!is_there || memcmp(p, zeros, sizeof zeros) == 0) {
        return B2C_OK;
    }
    place.end = place.end - at > max ? at + max : place.end;
    while (is_there && !*found && place.end - at >= B2I_REDO_LEN) {
        size_t n = place.end - at < WINDOW ? (size_t)(place.end - at) : WINDOW;
        B2I_TRY(read_at(&place, at, p, n, &is_there, err));
        *found = is_there && has_later(f, p, n);
        at += n - B2I_REDO_LEN + 1;
    }
    return B2C_OK;
}

/* The same as find_step(), and a log that ends too early is a failure. */
static b2c_status next_step(b2i_file_store *f, uint64_t size, const b2c_limits *limits,
                            b2i_scratch *scratch, step *out, bool *found, b2c_error *err)
{
    bool goes_on;
    B2I_TRY(find_step(f, size, limits, scratch, out, found, err));
    if (!*found) {
        f->base.is_cut = out->has_record;
        B2I_TRY(search_later(f, size, limits, scratch, &goes_on, err));
        if (goes_on) { /* a writer that lives may have finished it meanwhile */
            B2I_TRY(find_step(f, size, limits, scratch, out, found, err));
            return *found ? B2C_OK : fail_log(f->header_len + f->end, err);
        }
    }
    return B2C_OK;
}

static b2c_status take_steps(b2i_file_store *f, b2c_schunk *s, b2i_replay *replay,
                             b2i_scratch *scratch, b2c_error *err)
{
    step next;
    uint64_t size, pointed = 0;
    bool found;
    B2I_TRY(f->io->ops->size(f->io, &size, err));
    for (;;) {
        B2I_TRY(next_step(f, size, &s->limits, scratch, &next, &found, err));
        if (!found) {
            return B2C_OK;
        }
        pointed += next.len == B2I_POINTER_LEN ? next.head.cbytes : 0;
        if (pointed > size) { /* room that was used before is used once */
            return b2i_fail_sizes(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                                  "the edits of a killed writer name chunks that share bytes", size,
                                  pointed);
        }
        B2I_TRY(b2i_redo_apply(s, replay, &next.redo, next.place.entry, &next.head, err));
        f->base.is_complete = f->base.is_complete && !next.is_unchecked;
        f->end += next.len;
        f->limit = f->end > f->limit ? f->end : f->limit;
        f->seq++;
        f->is_dirty = f->base.is_writable;
    }
}

static b2c_status roll_forward(b2i_file_store *f, b2c_schunk *s, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_replay replay = { .state = &s->now };
    b2c_status st = take_steps(f, s, &replay, &scratch, err);
    b2i_replay_end(&replay);
    b2i_scratch_free(&scratch);
    return st;
}

b2c_status b2i_file_has_more(const b2i_file_store *f, bool *has, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    step next;
    uint64_t size;
    B2I_TRY(f->io->ops->size(f->io, &size, err));
    b2c_status st = find_step(f, size, NULL, &scratch, &next, has, err);
    b2i_scratch_free(&scratch);
    return st;
}

/* The record of the last commit, if there is one that belongs to the frame. */
static b2c_status read_commit(b2i_file_store *f, uint64_t size, commit_record *c, bool *found,
                              b2c_error *err)
{
    uint8_t bytes[B2I_COMMIT_RECORD_LEN];
    uint64_t frame_len = f->base.frame_len;
    *found = false;
    if (size < frame_len || size - frame_len < sizeof bytes) {
        return B2C_OK;
    }
    B2I_TRY(f->io->ops->read(f->io, frame_len, bytes, sizeof bytes, err));
    if (!parse_commit(b2i_span_of(bytes, sizeof bytes), c)) {
        return B2C_OK;
    }
    if (!f->has_fingerprint) {
        B2I_TRY(b2i_frame_fingerprint_load(f->io, f->header_len, f->tail_at, f->tail_len,
                                           f->base.trailer_len, f->fingerprint, err));
        f->has_fingerprint = true;
    }
    *found = fits(f, size, c);
    return B2C_OK;
}

/*
 * Whether the chunks of the index end before 'end', behind which a writer puts others.  What cannot
 * be told of a damaged one is no reason to doubt it.
 */
static b2c_status end_before(const b2i_file_store *f, const b2i_state *now, uint64_t end, bool *yes,
                             b2c_error *err)
{
    uint8_t record[B2I_RECORD_LEN];
    b2i_chunk_head head;
    bool has_record;
    b2i_entry last = b2i_places_last(now);
    *yes = b2i_is_special(last);
    if (*yes || last > end) {
        return B2C_OK;
    }
    const b2i_redo_place place = {
        .io = f->io, .at = f->header_len + last, .end = f->base.frame_len, .entry = last
    };
    B2I_TRY(read_head(&place, &head, record, sizeof record, &has_record, err));
    uint64_t len = head.cbytes; /* 0: it is no chunk */
    if (has_record && f->base.is_trusted) {
        len += b2i_record_extent(b2i_span_of(record, sizeof record), &head, last);
    }
    *yes = len <= end - last;
    return B2C_OK;
}

b2c_status b2i_file_recover(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    commit_record c;
    uint64_t size;
    bool found;
    if (f->origin != 0) {
        return B2C_OK;
    }
    if (f->path != NULL) {
        b2i_file_tidy(f);
    }
    B2I_TRY(f->io->ops->size(f->io, &size, err));
    /* What others have left may pass for more of a log: until the next commit there is none. */
    f->chain_broken = size > f->base.frame_len;
    B2I_TRY(read_commit(f, size, &c, &found, err));
    if (!found && store->is_writable) {
        b2i_file_dead_read(f);
    }
    if (!found) {
        return B2C_OK;
    }
    bool is_behind = true;
    if (store->is_writable) {
        B2I_TRY(end_before(f, &s->now, c.end, &is_behind, err));
    }
    f->is_unpacked = is_behind;
    f->end = c.end;
    f->committed_end = c.end;
    f->region_at = c.region_at;
    f->slot_cap = c.slot_cap;
    f->slot = c.slot;
    f->commit_no = c.commit_no;
    f->dead = c.dead < c.end ? c.dead : c.end;
    store->shown.no = c.commit_no;
    store->reuse_no = c.reuse_no;
    memcpy(store->shown.since, c.since, sizeof c.since);
    b2c_status st = roll_forward(f, s, err);
    if (!is_behind) { /* the record was made up: chunks go where they would go without it */
        f->end = f->limit;
    }
    f->first_end = f->end;
    return st;
}
