/*
 * stored_parts.c: opens chunks of which only some blocks are wanted.  Large ones are read part by
 * part, and where the store has checksums of these, each is compared when it is read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "stored.h"

/* Number of the block that is [at, at + n), or nblocks.  Writers with one order sort the starts. */
static uint32_t find_block(const b2i_chunk *c, uint64_t at, size_t n)
{
    uint32_t lo = 0, hi = c->head.nblocks;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->starts[mid] < at) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    bool found = lo < c->head.nblocks && c->starts[lo] == at && c->ends[lo] - at == n;
    return found ? lo : c->head.nblocks;
}

static b2c_status check_part(const b2i_stored_chunk *c, uint32_t i, b2i_span part, b2c_error *err)
{
    b2i_reader r = b2i_rd_init(c->hashes, 4 * (size_t)i);
    uint32_t stored = b2i_rd_u32le(&r), computed = c->store->ops->part_hash(part), at = 0, n;
    if (!r.failed && stored != computed) {
        if (i > 0) {
            b2i_chunk_part_at(&c->chunk, i - 1, &at, &n);
        }
        return b2i_fail_sizes(err, B2C_E_CHECKSUM, at,
                              i == 0 ? "the chunk's header or table differs from its checksum"
                                     : "the block's bytes differ from its checksum",
                              stored, computed);
    }
    return B2C_OK;
}

static b2c_status read_bytes(const b2i_stored_chunk *c, uint64_t at, size_t n, b2i_scratch *scratch,
                             b2i_span *out, b2c_error *err)
{
    if (c->ahead.n > 0 && at >= c->ahead_at && at - c->ahead_at <= c->ahead.n &&
        n <= c->ahead.n - (at - c->ahead_at)) {
        *out = b2i_span_of(c->ahead.p + (at - c->ahead_at), n);
        return B2C_OK;
    }
    return c->store->ops->read(c->store, c->entry, at, n, scratch, out, err);
}

/* Bytes of a memcpy chunk, by whole parts, so that these can be checked. */
static b2c_status read_parts(const b2i_stored_chunk *c, uint64_t at, size_t n, b2i_scratch *scratch,
                             b2i_span *out, b2c_error *err)
{
    const b2i_chunk_head *h = &c->chunk.head;
    uint32_t first = (uint32_t)((at - h->header_len) / h->blocksize);
    uint32_t last = (uint32_t)((at - h->header_len + n - 1) / h->blocksize), lo, hi, len;
    b2i_span bytes;
    b2i_chunk_part_at(&c->chunk, first, &lo, &len);
    b2i_chunk_part_at(&c->chunk, last, &hi, &len);
    B2I_TRY(read_bytes(c, lo, hi + len - lo, scratch, &bytes, err));
    for (uint32_t i = first; i <= last; i++) {
        uint32_t part_at;
        b2i_chunk_part_at(&c->chunk, i, &part_at, &len);
        B2I_TRY(check_part(c, i + 1, b2i_span_sub(bytes, part_at - lo, len), err));
    }
    *out = b2i_span_sub(bytes, (size_t)(at - lo), n);
    return B2C_OK;
}

/* b2i_source.read of a chunk with payload. */
static b2c_status read_stored(void *arg, uint64_t at, size_t n, b2i_scratch *scratch, b2i_span *out,
                              b2c_error *err)
{
    const b2i_stored_chunk *c = arg;
    if (c->hashes.n != 0 && c->chunk.head.is_memcpy && n > 0) {
        return read_parts(c, at, n, scratch, out, err);
    }
    B2I_TRY(read_bytes(c, at, n, scratch, out, err));
    if (c->hashes.n == 0) {
        return B2C_OK;
    }
    uint32_t i = find_block(&c->chunk, at, n);
    return i < c->chunk.head.nblocks ? check_part(c, i + 1, *out, err) : B2C_OK;
}

/* Loads the hashes of the parts, and compares that of header and table. */
static b2c_status load_hashes(b2i_stored_chunk *c, b2c_error *err)
{
    b2i_span hashes, prefix;
    const b2i_chunk_head *head = &c->chunk.head;
    uint32_t nparts = b2i_chunk_head_nparts(head), first = head->cbytes, at, n;
    if (c->store->ops->part_hashes == NULL || !c->store->verifies || nparts == 0) {
        return B2C_OK;
    }
    B2I_TRY(c->store->ops->part_hashes(c->store, c->entry, head, &c->hash_bytes, &hashes, err));
    if (hashes.n == 0) {
        return B2C_OK;
    }
    if (c->hash_bytes.p == NULL) { /* a view of a file that somebody may cut before they are used */
        uint8_t *copy = b2i_scratch_get(&c->hash_bytes, hashes.n);
        if (copy == NULL) {
            return b2i_fail_memory(err);
        }
        memcpy(copy, hashes.p, hashes.n);
        hashes = b2i_span_of(copy, hashes.n);
    }
    for (uint32_t i = 0; i < nparts; i++) {
        b2i_chunk_part_at(&c->chunk, i, &at, &n);
        first = at < first ? at : first;
    }
    b2i_scratch scratch = { 0 };
    b2c_status st = c->store->ops->read(c->store, c->entry, 0, first, &scratch, &prefix, err);
    if (st == B2C_OK) {
        c->hashes = hashes;
        st = check_part(c, 0, prefix, err);
    }
    b2i_scratch_free(&scratch);
    return st;
}

static b2c_status make_source(const b2c_schunk *s, uint64_t nchunk, b2i_stored_chunk *c,
                              b2i_source *source, b2c_error *err)
{
    c->store = s->store;
    c->entry = b2i_state_entry(&s->now, nchunk);
    if (b2i_is_special(c->entry)) {
        B2I_TRY(b2i_stored_special(s, nchunk, c->special, err));
        c->bytes = b2i_span_of(c->special, sizeof c->special);
        *source = b2i_source_mem(&c->bytes);
        return B2C_OK;
    }
    *source = (b2i_source){ .read = read_stored, .arg = c };
    return b2i_stored_len(s, nchunk, c->entry, &source->len, err);
}

/*
 * Below this many stored bytes a chunk is read whole also when only a part of it is
 * wanted: that takes fewer calls, and its checksum can be compared.
 */
#define WHOLE_READ_MAX 65536u

/* Larger ones have a checksum for each block, unless they have no parts. */
static bool is_read_whole(const b2i_store *store, const b2i_chunk_head *head)
{
    bool is_checked =
        store->ops->check != NULL && store->verifies && (store->is_trusted || store->is_complete);
    return head->cbytes <= WHOLE_READ_MAX || (is_checked && !b2i_chunk_head_has_parts(head));
}

static b2c_status open_payload(const b2c_schunk *s, const b2c_limits *limits, b2i_source *source,
                               b2i_stored_chunk *c, b2c_error *err)
{
    b2i_span bytes;
    b2i_chunk_head head;
    size_t n = source->len < B2C_HEADER_LEN ? (size_t)source->len : B2C_HEADER_LEN;
    B2I_TRY(source->read(source->arg, 0, n, &c->whole, &bytes, err));
    B2I_TRY(b2i_chunk_head_parse(bytes, limits, &head, err));
    if (!is_read_whole(s->store, &head) || head.cbytes > source->len) {
        return b2i_chunk_open_as(source, &head, &c->chunk, err);
    }
    B2I_TRY(b2i_stored_read(s->store, c->entry, head.cbytes, &c->whole, &c->bytes, err));
    *source = b2i_source_mem(&c->bytes);
    return b2i_stored_open_bytes(s, source, limits, &head, &c->chunk, err);
}

b2c_status b2i_stored_chunk_open(const b2c_schunk *s, uint64_t nchunk, const b2c_limits *limits,
                                 b2i_stored_chunk *out, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    *out = (b2i_stored_chunk){ 0 };
    b2i_source source;
    limits = limits == NULL ? &s->limits : limits;
    b2c_status st = make_source(s, nchunk, out, &source, err);
    bool has_payload = !b2i_is_special(out->entry);
    if (st == B2C_OK) {
        st = has_payload ? open_payload(s, limits, &source, out, err)
                         : b2i_chunk_open(&source, limits, &out->chunk, err);
    }
    if (st == B2C_OK) {
        out->chunk.site = b2i_schunk_site(s, nchunk, NULL);
        st = b2i_stored_check_size(s, nchunk, &out->chunk.head, err);
    }
    if (st == B2C_OK && has_payload && out->bytes.n == 0) {
        st = load_hashes(out, err);
    }
    if (st != B2C_OK) {
        b2i_stored_chunk_close(out);
        return b2i_schunk_fail_in_chunk(s, nchunk, st, err);
    }
    return B2C_OK;
}

void b2i_stored_chunk_read_ahead(b2i_stored_chunk *c, uint32_t first, uint32_t last)
{
    enum { MAX_LEN = 32 * 1024 * 1024 };
    uint32_t from = UINT32_MAX, to = 0;
    uint64_t wanted = 0;
    if (c->bytes.n != 0 || c->chunk.head.nblocks <= last || first >= last) {
        return;
    }
    for (uint32_t i = first; i <= last; i++) {
        from = c->chunk.starts[i] < from ? c->chunk.starts[i] : from;
        to = c->chunk.ends[i] > to ? c->chunk.ends[i] : to;
        wanted += c->chunk.ends[i] - c->chunk.starts[i];
    }
    if (to - from > MAX_LEN || to - from > wanted + wanted / 4) {
        return; /* writers with several threads store blocks in any order */
    }
    b2i_span ahead;
    if (c->store->ops->read(c->store, c->entry, from, to - from, &c->whole, &ahead, NULL) ==
        B2C_OK) {
        c->ahead = ahead;
        c->ahead_at = from;
    }
}

void b2i_stored_chunk_close(b2i_stored_chunk *c)
{
    b2i_chunk_close(&c->chunk);
    b2i_scratch_free(&c->hash_bytes);
    b2i_scratch_free(&c->whole);
    c->hashes = b2i_span_of(NULL, 0);
}

b2c_status b2i_stored_chunk_check_parts(b2i_stored_chunk *c, const b2i_chunk_head *head,
                                        b2i_span bytes, b2c_error *err)
{
    uint32_t at, n;
    if (is_read_whole(c->store, head)) {
        return B2C_OK;
    }
    B2I_TRY(load_hashes(c, err));
    for (uint32_t i = 0; c->hashes.n != 0 && i < b2i_chunk_head_nparts(&c->chunk.head); i++) {
        b2i_chunk_part_at(&c->chunk, i, &at, &n);
        b2c_status st = check_part(c, i + 1, b2i_span_sub(bytes, at, n), err);
        if (st != B2C_OK) {
            b2i_err_block(err, i);
            return st;
        }
    }
    return B2C_OK;
}
