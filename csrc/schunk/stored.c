/*
 * stored.c: the chunks of a super-chunk as they are stored: read in parts or whole, checked,
 * decoded.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"
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
    if ((entry & B2I_ENTRY_SPECIAL) == 0) {
        b2i_err_shift(err, s->store->ops->place(s->store, entry));
    }
    return st;
}

/* The chunk of 32 bytes that an entry without payload stands for. */
static b2c_status special_bytes(const b2c_schunk *s, uint64_t nchunk, uint8_t out[32],
                                b2c_error *err)
{
    uint64_t nbytes = b2i_schunk_chunk_nbytes(s, nchunk);
    uint8_t kind = b2i_entry_kind(b2i_state_entry(&s->now, nchunk));
    uint32_t typesize = b2i_tune_typesize(&s->now.cparams);
    if (kind == B2C_SPECIAL_NAN && ((typesize != 4 && typesize != 8) || nbytes % typesize != 0)) {
        return b2i_fail_field(err, B2C_E_CORRUPT, B2C_NO_OFFSET, "typesize",
                              "a chunk of NaN in a frame whose items are not of 4 or 8 bytes");
    }
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_BLOSCLZ;
    cp.typesize = nbytes % typesize == 0 ? typesize : 1;
    cp.blocksize = s->now.cparams.blocksize; /* the blocks that a post-filter sees */
    size_t len;
    return b2i_special_encode(&cp, kind, nbytes, NULL, out, 32, &len, err);
}

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

/* Bytes that a chunk with payload may have: it does not reach into the next one. */
static b2c_status find_len(const b2c_schunk *s, uint64_t nchunk, b2i_entry entry, uint64_t *len,
                           b2c_error *err)
{
    uint64_t room = b2i_places_room(&s->now, nchunk);
    B2I_TRY(s->store->ops->len(s->store, entry, len, err));
    *len = *len < room ? *len : room;
    return B2C_OK;
}

static b2c_status make_source(const b2c_schunk *s, uint64_t nchunk, b2i_stored_chunk *c,
                              b2i_source *source, b2c_error *err)
{
    c->store = s->store;
    c->entry = b2i_state_entry(&s->now, nchunk);
    if ((c->entry & B2I_ENTRY_SPECIAL) != 0) {
        B2I_TRY(special_bytes(s, nchunk, c->special, err));
        c->bytes = b2i_span_of(c->special, sizeof c->special);
        *source = b2i_source_mem(&c->bytes);
        return B2C_OK;
    }
    *source = (b2i_source){ .read = read_stored, .arg = c };
    return find_len(s, nchunk, c->entry, &source->len, err);
}

static b2c_status check_size(const b2c_schunk *s, uint64_t nchunk, const b2i_chunk_head *head,
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

static b2c_status fail_checksum(const b2i_verdict *v, b2c_error *err)
{
    return b2i_fail_sizes(err, B2C_E_CHECKSUM, 0, "the chunk's bytes differ from its checksum",
                          v->stored, v->computed);
}

/* The n bytes of a chunk, compared with the stored checksum when there is one. */
static b2c_status read_checked(b2i_store *store, b2i_entry entry, size_t n, b2i_scratch *scratch,
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
    return v.check == B2I_CHECK_BAD ? fail_checksum(&v, err) : B2C_OK;
}

/*
 * Below this many stored bytes a chunk is read whole also when only a part of it is
 * wanted: that takes fewer calls, and its checksum can be compared.
 */
#define WHOLE_READ_MAX 65536u

/*
 * Larger ones have a checksum for each block, unless they have no or one block, or VL blocks, or
 * blocks that may be others than the header tells: see b2i_chunk_open().
 */
static bool is_read_whole(const b2i_store *store, const b2i_chunk_head *head)
{
    bool has_parts = b2i_chunk_head_nparts(head) > 1 && head->blocksize % head->typesize == 0;
    bool is_checked =
        store->ops->check != NULL && store->verifies && (store->is_trusted || store->is_complete);
    return head->cbytes <= WHOLE_READ_MAX || (is_checked && !has_parts);
}

/*
 * Opens a chunk all bytes of which were read, after its header.  Unless they are our own, somebody
 * may have changed both meanwhile.
 */
static b2c_status open_bytes(const b2c_schunk *s, const b2i_source *source,
                             const b2c_limits *limits, const b2i_chunk_head *head, b2i_chunk *out,
                             b2c_error *err)
{
    return s->store->storage == B2C_STORAGE_MEMORY ? b2i_chunk_open_as(source, head, out, err)
                                                   : b2i_chunk_open(source, limits, out, err);
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
    B2I_TRY(read_checked(s->store, c->entry, head.cbytes, &c->whole, &c->bytes, err));
    *source = b2i_source_mem(&c->bytes);
    return open_bytes(s, source, limits, &head, &c->chunk, err);
}

b2c_status b2i_stored_chunk_open(const b2c_schunk *s, uint64_t nchunk, const b2c_limits *limits,
                                 b2i_stored_chunk *out, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    *out = (b2i_stored_chunk){ 0 };
    b2i_source source;
    limits = limits == NULL ? &s->limits : limits;
    b2c_status st = make_source(s, nchunk, out, &source, err);
    bool has_payload = (out->entry & B2I_ENTRY_SPECIAL) == 0;
    if (st == B2C_OK) {
        st = has_payload ? open_payload(s, limits, &source, out, err)
                         : b2i_chunk_open(&source, limits, &out->chunk, err);
    }
    if (st == B2C_OK) {
        out->chunk.site = b2i_schunk_site(s, nchunk, NULL);
        st = check_size(s, nchunk, &out->chunk.head, err);
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

static b2c_status read_payload_head(const b2c_schunk *s, uint64_t nchunk, b2i_entry entry,
                                    b2i_chunk_head *head, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_span bytes;
    uint64_t len;
    B2I_TRY(find_len(s, nchunk, entry, &len, err));
    size_t n = len < B2C_HEADER_LEN ? (size_t)len : B2C_HEADER_LEN;
    b2c_status st = s->store->ops->read(s->store, entry, 0, n, &scratch, &bytes, err);
    if (st == B2C_OK) {
        st = b2i_chunk_head_parse(bytes, &s->limits, head, err);
    }
    if (st == B2C_OK && head->cbytes > len) {
        st = b2i_fail_sizes(err, B2C_E_CORRUPT, 12, "the chunk reaches beyond its place", len,
                            head->cbytes);
    }
    b2i_scratch_free(&scratch);
    return st;
}

/* The first bytes of chunk n, as a header. */
static b2c_status read_head(const b2c_schunk *s, uint64_t nchunk, b2i_chunk_head *head,
                            b2c_error *err)
{
    b2i_entry entry = b2i_state_entry(&s->now, nchunk);
    uint8_t special[B2C_HEADER_LEN];
    if ((entry & B2I_ENTRY_SPECIAL) == 0) {
        return read_payload_head(s, nchunk, entry, head, err);
    }
    B2I_TRY(special_bytes(s, nchunk, special, err));
    return b2i_chunk_head_parse(b2i_span_of(special, sizeof special), &s->limits, head, err);
}

b2c_status b2i_schunk_chunk_head(const b2c_schunk *s, uint64_t nchunk, b2i_chunk_head *head,
                                 b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    b2c_status st = read_head(s, nchunk, head, err);
    if (st == B2C_OK) {
        st = check_size(s, nchunk, head, err);
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
        if ((now->entries[i] & B2I_ENTRY_SPECIAL) != 0) {
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
    if ((entry & B2I_ENTRY_SPECIAL) != 0) {
        uint8_t *p = b2i_scratch_get(scratch, B2C_HEADER_LEN);
        st = p == NULL ? b2i_fail_memory(err) : special_bytes(s, nchunk, p, err);
        *out = b2i_span_of(p, B2C_HEADER_LEN);
    } else {
        st = read_checked(s->store, entry, head->cbytes, scratch, out, err);
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
    B2I_TRY(open_bytes(site->schunk, &source, &site->schunk->limits, head, &chunk, err));
    chunk.site = *site;
    b2c_status st = check_size(site->schunk, site->nchunk, &chunk.head, err);
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

/* The checksums of the parts of a chunk whose bytes are sound: reads of parts compare them. */
static b2c_status check_hashes(b2i_stored_chunk *c, b2i_span bytes, b2c_error *err)
{
    uint32_t at, n;
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
    bool has_payload = (c.entry & B2I_ENTRY_SPECIAL) == 0;
    if (st == B2C_OK && has_payload && !is_read_whole(s->store, &head)) {
        st = check_hashes(&c, bytes, err);
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
    if ((entry & B2I_ENTRY_SPECIAL) == 0 && s->store->ops->check != NULL) {
        st = s->store->ops->check(s->store, entry, bytes, &v, err);
    }
    if (v.check == B2I_CHECK_BAD) { /* when reading does not compare */
        st = fail_checksum(&v, err);
    }
    if (st == B2C_OK) {
        st = check_decodes(s, ctx, nchunk, bytes, err);
    }
    /* The checksum of the structure vouches for what stands in the index. */
    bool is_in_index = (entry & B2I_ENTRY_SPECIAL) != 0;
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

b2c_status b2i_schunk_verify_chunks(const b2c_schunk *s, b2c_ctx *ctx, uint64_t first,
                                    uint64_t max_payloads, uint64_t *nsound, uint64_t *nunverified,
                                    b2c_error *err)
{
    const b2i_state *now = &s->now;
    uint64_t npayloads = 0, unverified = 0, i = first;
    int has_checksum = 0;
    b2c_status st = B2C_OK;
    for (; i < now->nchunks && npayloads < max_payloads; i++) {
        bool is_special = (b2i_state_entry(now, i) & B2I_ENTRY_SPECIAL) != 0;
        /* Of a run of the same special chunks one is like the other; the last may be shorter. */
        bool is_known = is_special && i > first &&
                        b2i_state_entry(now, i) == b2i_state_entry(now, i - 1) &&
                        now->ends == NULL && i + 1 < now->nchunks;
        if (!is_known) {
            st = b2i_schunk_verify_chunk(s, ctx, i, &has_checksum, err);
        }
        if (st != B2C_OK) {
            break;
        }
        if (now->entries == NULL && i + 2 < now->nchunks) { /* go on with the last one */
            unverified += has_checksum == 0 ? now->nchunks - 2 - i : 0;
            i = now->nchunks - 2;
        }
        unverified += has_checksum == 0;
        npayloads += !is_special;
    }
    *nsound = i - first;
    *nunverified = unverified;
    return st;
}

/* ---- sizes of variable chunks, when a frame is opened ---- */

static b2c_status load_size(b2c_schunk *s, uint64_t nchunk, uint64_t *nbytes, b2c_error *err)
{
    b2i_chunk_head head;
    b2c_status st = read_head(s, nchunk, &head, err);
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
        if ((b2i_state_entry(now, i) & B2I_ENTRY_SPECIAL) == 0) {
            B2I_TRY(load_size(s, i, &nbytes, err));
        } else if (unsized == UINT64_MAX) {
            unsized = i;
        } else {
            (void)b2i_fail(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                           "special chunks of unknown size in a frame of variable chunk sizes");
            b2i_err_chunk(err, (int64_t)i);
            return B2C_E_CORRUPT;
        }
        total += nbytes; /* below 2^28 * 2^31 */
        now->ends[i] = total;
    }
    if (unsized != UINT64_MAX && now->nbytes > total &&
        now->nbytes - total <= s->limits.max_chunk_nbytes) {
        /* One size that is not stored follows from the others. */
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
