/*
 * record.c: the checksum record that follows a chunk in dead space:
 *
 *     0  "B2CK"
 *     4  u8 flags, B2I_RECORD_FLAG_…
 *     5  u24 tag, the low bits of the hash of the chunk's place in the index
 *     8  u64 XXH3 of the chunk's bytes
 *
 * Then, where the flags say so, a redo record (store_file_redo.c), and u32 hashes, low bits of
 * XXH3: of what comes before the first block, and of each block, so that blocks can be read
 * and checked alone.
 *
 * All little-endian.  Other libraries move chunks and put new ones in front of records of
 * removed ones; the tag tells a record that does not belong to the chunk before it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "checksum.h"

static const uint8_t magic[4] = { 'B', '2', 'C', 'K' };

static uint32_t tag_of(b2i_entry entry)
{
    uint8_t bytes[8];
    b2i_st64le(bytes, entry);
    return (uint32_t)b2i_xxh3_64(b2i_span_of(bytes, sizeof bytes)) & 0xFFFFFFu;
}

/* Smaller chunks are read whole, and checked as a whole. */
#define PARTS_MIN_LEN 65536u

static bool has_parts(const b2i_chunk_head *head)
{
    return head->cbytes > PARTS_MIN_LEN && b2i_chunk_head_has_parts(head);
}

static size_t parts_len(const b2i_chunk_head *head)
{
    return has_parts(head) ? 4 * ((size_t)b2i_chunk_head_nparts(head) + 1) : 0;
}

size_t b2i_records_len(const b2i_chunk_head *head)
{
    return B2I_RECORD_LEN + parts_len(head);
}

uint32_t b2i_record_part_hash(b2i_span part)
{
    return (uint32_t)b2i_xxh3_64(part);
}

/* Appends the hashes of an open chunk's parts; there is room. */
static void add_parts(const b2i_chunk *c, b2i_span chunk, b2i_buf *out)
{
    uint32_t nparts = b2i_chunk_head_nparts(&c->head), first = c->head.cbytes, at, n;
    for (uint32_t i = 0; i < nparts; i++) {
        b2i_chunk_part_at(c, i, &at, &n);
        first = at < first ? at : first;
    }
    b2i_st32le(out->p + out->n, b2i_record_part_hash(b2i_span_sub(chunk, 0, first)));
    out->n += 4;
    for (uint32_t i = 0; i < nparts; i++) {
        b2i_chunk_part_at(c, i, &at, &n);
        b2i_st32le(out->p + out->n, b2i_record_part_hash(b2i_span_sub(chunk, at, n)));
        out->n += 4;
    }
}

b2c_status b2i_records_make(b2i_span chunk, b2i_entry entry, b2i_span redo, bool for_log,
                            b2i_buf *out, b2c_error *err)
{
    b2i_chunk_head head;
    b2i_source source = b2i_source_mem(&chunk);
    b2i_chunk c = { 0 };
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, &head, err));
    bool parts = has_parts(&head);
    if (parts) {
        B2I_TRY(b2i_chunk_open(&source, NULL, &c, err));
    }
    unsigned flags = (parts ? B2I_RECORD_FLAG_PARTS : 0u) |
                     (redo.n > 0 ? B2I_RECORD_FLAG_REDO : 0u) |
                     (for_log ? B2I_RECORD_FLAG_LOG : 0u);
    b2c_status st = B2C_OK;
    if (!b2i_buf_reserve(out, b2i_records_len(&head) + redo.n)) {
        st = b2i_fail_memory(err);
        goto out;
    }
    uint8_t *p = out->p + out->n;
    memcpy(p, magic, sizeof magic);
    b2i_st32le(p + 4, tag_of(entry) << 8 | flags);
    b2i_st64le(p + 8, b2i_xxh3_64(chunk));
    out->n += B2I_RECORD_LEN;
    (void)b2i_buf_append(out, redo.p, redo.n);
    if (parts) {
        add_parts(&c, chunk, out);
    }
out:
    b2i_chunk_close(&c);
    return st;
}

/* Whether the bytes are a record of the chunk at an entry. */
static bool is_record(b2i_span record, b2i_entry entry)
{
    b2i_reader r = b2i_rd_init(record, 0);
    const uint8_t *name = b2i_rd_take(&r, sizeof magic);
    uint32_t tag = b2i_rd_u32le(&r);
    return !r.failed && memcmp(name, magic, sizeof magic) == 0 && tag >> 8 == tag_of(entry);
}

/* The same, and it is there for readers. */
static bool is_checksum(b2i_span record, b2i_entry entry)
{
    return is_record(record, entry) && (record.p[4] & B2I_RECORD_FLAG_LOG) == 0;
}

uint64_t b2i_record_extent(b2i_span record, const b2i_chunk_head *head, b2i_entry entry)
{
    if (!is_record(record, entry)) {
        return 0;
    }
    uint64_t n = B2I_RECORD_LEN;
    n += (record.p[4] & B2I_RECORD_FLAG_REDO) != 0 ? B2I_REDO_LEN : 0;
    n += (record.p[4] & B2I_RECORD_FLAG_PARTS) != 0 ? parts_len(head) : 0;
    return n;
}

bool b2i_record_fits(b2i_span record, b2i_span chunk, b2i_entry entry)
{
    b2i_reader r = b2i_rd_init(record, B2I_RECORD_LEN - 8);
    uint64_t hash = b2i_rd_u64le(&r);
    return is_record(record, entry) && !r.failed && hash == b2i_xxh3_64(chunk);
}

b2i_verdict b2i_record_check(const b2i_store *store, b2i_span record, b2i_span chunk,
                             b2i_entry entry)
{
    b2i_verdict v = { .check = B2I_CHECK_GOOD, .computed = b2i_xxh3_64(chunk) };
    b2i_reader r = b2i_rd_init(record, B2I_RECORD_LEN - 8);
    bool is_there = is_checksum(record, entry);
    v.stored = is_there ? b2i_rd_u64le(&r) : 0;
    if (!is_there || v.stored != v.computed) {
        bool must_fit = is_there ? store->is_trusted : store->is_complete;
        v.check = must_fit ? B2I_CHECK_BAD : B2I_CHECK_NONE;
    }
    return v;
}

static b2c_status no_parts(const b2i_store *store, b2c_error *err)
{
    if (store->is_complete) {
        return b2i_fail(err, B2C_E_CHECKSUM, 0, "the checksum of the chunk is not there any more");
    }
    return B2C_OK;
}

b2c_status b2i_record_part_hashes(b2i_store *store, b2i_entry entry, const b2i_chunk_head *head,
                                  b2i_scratch *scratch, b2i_span *hashes, b2c_error *err)
{
    b2i_span record;
    uint64_t len;
    *hashes = b2i_span_of(NULL, 0);
    B2I_TRY(store->ops->len(store, entry, &len, err));
    if (!store->is_trusted || !has_parts(head)) {
        return B2C_OK;
    }
    if (len < head->cbytes || len - head->cbytes < b2i_records_len(head)) {
        return no_parts(store, err);
    }
    B2I_TRY(store->ops->read(store, entry, head->cbytes, B2I_RECORD_LEN, scratch, &record, err));
    if (!is_checksum(record, entry) || (record.p[4] & B2I_RECORD_FLAG_PARTS) == 0) {
        return no_parts(store, err);
    }
    uint64_t at = head->cbytes + (uint64_t)B2I_RECORD_LEN;
    at += (record.p[4] & B2I_RECORD_FLAG_REDO) != 0 ? B2I_REDO_LEN : 0;
    if (len - at < parts_len(head)) {
        return B2C_OK;
    }
    return store->ops->read(store, entry, at, parts_len(head), scratch, hashes, err);
}

typedef struct settle_job {
    b2c_schunk *s;
    b2i_scratch record, chunk;
} settle_job;

/* What is behind a chunk; BAD: a record that does not fit '*chunk'. */
static b2c_status look_at(settle_job *j, uint64_t nchunk, b2i_check *check, b2i_span *chunk)
{
    b2i_store *store = j->s->store;
    b2i_entry entry = b2i_state_entry(&j->s->now, nchunk);
    b2i_chunk_head head;
    b2i_span record;
    uint64_t len;
    *check = B2I_CHECK_NONE;
    B2I_TRY(b2i_schunk_chunk_head(j->s, nchunk, &head, NULL));
    B2I_TRY(store->ops->len(store, entry, &len, NULL));
    if (len - head.cbytes < B2I_RECORD_LEN) { /* the head was compared with it */
        return B2C_OK;
    }
    B2I_TRY(store->ops->read(store, entry, head.cbytes, B2I_RECORD_LEN, &j->record, &record, NULL));
    if (!is_checksum(record, entry)) {
        return B2C_OK;
    }
    B2I_TRY(store->ops->read(store, entry, 0, head.cbytes, &j->chunk, chunk, NULL));
    *check = b2i_record_fits(record, *chunk, entry) ? B2I_CHECK_GOOD : B2I_CHECK_BAD;
    return B2C_OK;
}

b2c_status b2i_records_settle(b2c_schunk *s,
                              b2c_status (*forget)(b2i_store *store, b2i_entry entry,
                                                   b2i_span chunk, b2c_error *err),
                              b2c_error *err)
{
    settle_job j = { .s = s };
    b2c_status st = B2C_OK;
    bool is_complete = true;
    uint64_t n = s->now.entries == NULL ? 0 : s->now.nchunks; /* without: special ones */
    for (uint64_t i = 0; i < n && st == B2C_OK; i++) {
        b2i_check check;
        b2i_span chunk;
        if (b2i_is_special(s->now.entries[i])) {
            continue;
        }
        /* A chunk that cannot be read is not the business of those who edit others. */
        if (look_at(&j, i, &check, &chunk) != B2C_OK) {
            check = B2I_CHECK_NONE;
        }
        if (check == B2I_CHECK_BAD) {
            st = forget(s->store, s->now.entries[i], chunk, err);
        }
        is_complete = is_complete && check == B2I_CHECK_GOOD;
    }
    b2i_scratch_free(&j.record);
    b2i_scratch_free(&j.chunk);
    if (st == B2C_OK) {
        s->store->is_trusted = true;
        s->store->is_complete = is_complete;
    }
    return st;
}
