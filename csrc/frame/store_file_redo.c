/*
 * store_file_redo.c: what an unpacked frame leaves for the next one who opens it.
 *
 * A commit record follows the frame (bytes there are ignored by others):
 *
 *     0   "B2CR"                     64  u32 slot, u32 0
 *     4   u32 version, 1             72  u64 number of the commit
 *     8   u64 frame_len              80  fingerprint of the frame
 *     16  u64 nbytes                 96  zeros
 *     24  u64 place of the index    120  u64 XXH3 of bytes 0…119
 *     32  u64 end of the chunks
 *     40  u64 place of the slots
 *     48  u64 room of a slot
 *     56  u64 0
 *
 * A redo record follows the checksum record of a chunk that was added after the commit:
 *
 *     0   u64 first bytes of the fingerprint of the commit that it follows
 *     8   u56 chunk number, u8 kind (append, insert, update)
 *     16  u32 number since that commit
 *     20  u32 XXH3 of bytes 0…19
 *
 * All little-endian.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
#include "checked.h"
#include "checksum.h"

enum { RECORD_VERSION = 1, HASHED_LEN = 120 };

static const uint8_t magic[4] = { 'B', '2', 'C', 'R' };

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
    b2i_st32le(out + 64, f->slot);
    b2i_st64le(out + 72, f->commit_no);
    memcpy(out + 80, f->fingerprint, B2I_FINGERPRINT_LEN);
    b2i_st64le(out + HASHED_LEN, b2i_xxh3_64(b2i_span_of(out, HASHED_LEN)));
}

typedef struct commit_record {
    uint64_t frame_len, nbytes, tail_at, end, region_at, slot_cap, commit_no;
    uint32_t slot;
    uint8_t fingerprint[B2I_FINGERPRINT_LEN];
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
    (void)b2i_rd_u64le(&r);
    c->slot = b2i_rd_u32le(&r);
    (void)b2i_rd_u32le(&r);
    c->commit_no = b2i_rd_u64le(&r);
    b2i_rd_copy(&r, c->fingerprint, sizeof c->fingerprint);
    (void)b2i_rd_take(&r, HASHED_LEN - r.at);
    uint64_t hash = b2i_rd_u64le(&r);
    return !r.failed && memcmp(name, magic, sizeof magic) == 0 && version == RECORD_VERSION &&
           hash == b2i_xxh3_64(b2i_span_of(bytes.p, HASHED_LEN));
}

/* Whether the record belongs to the frame that was opened and makes sense. */
static bool fits(const b2i_file_store *f, const commit_record *c)
{
    const uint64_t max = (uint64_t)1 << 62;
    return f->has_fingerprint && c->frame_len == f->base.frame_len && c->nbytes == f->nbytes &&
           c->tail_at == f->tail_at && c->slot < B2I_NSLOTS && c->region_at < max &&
           c->slot_cap < max / 4 && c->end <= c->region_at &&
           c->tail_at == c->region_at + c->slot * c->slot_cap && c->slot_cap >= f->tail_len &&
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

bool b2i_redo_find(const b2i_redo_place *place, const b2i_redo_log *log, const b2c_limits *limits,
                   b2i_scratch *scratch, b2i_chunk_head *head, b2i_redo *redo)
{
    const size_t records = B2I_RECORD_LEN + B2I_REDO_LEN;
    b2i_io *io = place->io;
    uint64_t at = place->at;
    uint8_t first[B2C_HEADER_LEN];
    if (at > place->end || place->end - at < sizeof first ||
        io->ops->read(io, at, first, sizeof first, NULL) != B2C_OK ||
        b2i_chunk_head_parse(b2i_span_of(first, sizeof first), limits, head, NULL) != B2C_OK) {
        return false;
    }
    if (head->nbytes == 0 || place->end - at < head->cbytes + (uint64_t)records) {
        return false;
    }
    size_t n = head->cbytes + records;
    uint8_t *p = b2i_scratch_get(scratch, n);
    if (p == NULL || io->ops->read(io, at, p, n, NULL) != B2C_OK) {
        return false;
    }
    b2i_span all = b2i_span_of(p, n), chunk = b2i_span_sub(all, 0, head->cbytes);
    b2i_span record = b2i_span_sub(all, head->cbytes, B2I_RECORD_LEN);
    b2i_span extra = b2i_span_sub(all, head->cbytes + B2I_RECORD_LEN, B2I_REDO_LEN);
    return b2i_record_fits(record, chunk, place->entry) &&
           (record.p[4] & B2I_RECORD_FLAG_REDO) != 0 && parse_redo(log, extra, redo);
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

b2c_status b2i_redo_apply(b2c_schunk *s, const b2i_redo *redo, b2i_entry entry,
                          const b2i_chunk_head *head, bool *done, b2c_error *err)
{
    b2i_state *now = &s->now;
    *done = false;
    if (!is_possible(now, redo) || now->nchunks >= s->limits.max_nchunks) {
        return B2C_OK;
    }
    B2I_TRY(b2i_state_reserve(now, 1, err));
    if (head->special != B2C_SPECIAL_NONE && head->special != B2C_SPECIAL_VALUE) {
        entry = b2i_special_entry(head->special); /* others have got their payload */
    }
    *done = b2i_state_place(now, *redo, entry, head->nbytes);
    if (*done) {
        now->has_vlblocks = now->has_vlblocks || head->has_vlblocks;
        now->cbytes += (entry & B2I_ENTRY_SPECIAL) != 0 ? 0 : head->cbytes;
    }
    return B2C_OK;
}

/* ---- recovery of a file ---- */

b2i_redo_log b2i_file_redo_log(const b2i_file_store *f)
{
    b2i_redo_log log = { .seq = f->seq };
    memcpy(log.base, f->fingerprint, sizeof log.base);
    return log;
}

static b2c_status roll_forward(b2i_file_store *f, b2c_schunk *s, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_chunk_head head;
    b2i_redo redo;
    b2i_redo_place place = { .io = f->io };
    bool done = true;
    B2I_TRY(f->io->ops->size(f->io, &place.end, err));
    b2c_status st = B2C_OK;
    while (st == B2C_OK && done) {
        b2i_redo_log log = b2i_file_redo_log(f);
        place.at = f->header_len + f->end;
        place.entry = f->end;
        if (!b2i_redo_find(&place, &log, &s->limits, &scratch, &head, &redo)) {
            break;
        }
        st = b2i_redo_apply(s, &redo, f->end, &head, &done, err);
        if (st == B2C_OK && done) {
            f->end += head.cbytes + (uint64_t)b2i_records_len(&head) + B2I_REDO_LEN;
            f->limit = f->end > f->limit ? f->end : f->limit;
            f->seq++;
            f->is_dirty = f->base.is_writable;
        }
    }
    b2i_scratch_free(&scratch);
    return st;
}

b2c_status b2i_file_recover(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    uint8_t bytes[B2I_COMMIT_RECORD_LEN];
    commit_record c;
    uint64_t file_len;
    if (f->origin != 0 || f->path == NULL) {
        return B2C_OK;
    }
    B2I_TRY(f->io->ops->size(f->io, &file_len, err));
    if (file_len < store->frame_len + sizeof bytes ||
        f->io->ops->read(f->io, store->frame_len, bytes, sizeof bytes, NULL) != B2C_OK ||
        !parse_commit(b2i_span_of(bytes, sizeof bytes), &c) || !fits(f, &c)) {
        return B2C_OK;
    }
    f->is_unpacked = true;
    f->end = c.end;
    f->committed_end = c.end;
    f->region_at = c.region_at;
    f->slot_cap = c.slot_cap;
    f->slot = c.slot;
    f->commit_no = c.commit_no;
    return roll_forward(f, s, err);
}
