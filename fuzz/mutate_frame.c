/*
 * mutate_frame.c: mutations of frames and of sections of metalayers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "checksum.h"
#include "mutate.h"
#include "store_file.h"

enum {
    MAX_METAS = 24,
    MAX_ENTRIES = 512,
    AT_HEADER_LEN = 0x0B,
    AT_FRAME_LEN = 0x10,
    AT_NBYTES = 0x1E,
    AT_CBYTES = 0x27,
    AT_CHUNKSIZE = 0x3A,
    TAIL_LEN = B2I_TRAILER_TAIL_LEN,
};

/* ---- metalayers ---- */

typedef struct named {
    uint8_t name[32];
    uint8_t name_len;
    b2i_span content;
} named;

static int read_section(b2i_span s, const mut_section *how, named v[MAX_METAS])
{
    b2i_reader r = b2i_rd_init(s, how->at);
    (void)b2i_rd_take(&r, 5);
    uint16_t n = b2i_rd_u16be(&r);
    if (r.failed || s.p[how->at] != 0x93 || n > MAX_METAS - 2) {
        return -1;
    }
    for (uint16_t i = 0; i < n; i++) {
        v[i].name_len = b2i_rd_u8(&r) & 31u;
        b2i_rd_copy(&r, v[i].name, v[i].name_len);
        (void)b2i_rd_u8(&r);
        uint32_t at = b2i_rd_u32be(&r);
        b2i_reader c = b2i_rd_init(s, at < how->base ? s.n + 1 : at - how->base);
        (void)b2i_rd_u8(&c);
        uint32_t len = b2i_rd_u32be(&c);
        v[i].content = b2i_rd_span(&c, len);
        if (r.failed || c.failed) {
            return -1;
        }
    }
    return n;
}

/* Another content: of a chunk, of an array's shapes, or of bytes. */
static b2i_span change_content(b2i_span old, bool is_vl)
{
    static mut_buf b;
    b.n = 0;
    if (is_vl && mut_chunk_len(old) != 0) {
        mut_chunk(old, &b);
        return b2i_span_of(b.p, b.n);
    }
    mut_put(&b, old.p, old.n);
    if (mut_nd(b.p, b.n) == 0 || mut_chance(8)) {
        b.n = mut_bytes(b.p, b.n, b.n + 32);
    }
    return b2i_span_of(b.p, b.n);
}

static int change_section(named *v, int n, bool is_vl)
{
    int i = (int)mut_random((uint32_t)n);
    switch (mut_random(5)) {
    case 0: /* one more */
        if (n < MAX_METAS) {
            v[n] = n == 0 ? (named){ .name = "b2nd", .name_len = 4 } : v[i];
            v[n].name[0] = (uint8_t)('a' + mut_random(26));
            n++;
        }
        break;
    case 1: /* one less */
        if (n > 0) {
            v[i] = v[--n];
        }
        break;
    case 2:
        if (n > 0) {
            v[i].name_len = mut_chance(4) ? 0 : (uint8_t)mut_bytes(v[i].name, v[i].name_len, 31);
        }
        break;
    default:
        if (n > 0) {
            v[i].content = change_content(v[i].content, is_vl);
        }
        break;
    }
    return n;
}

bool mut_metas(b2i_span s, const mut_section *how, mut_buf *out)
{
    named v[MAX_METAS];
    uint8_t word[8] = { 0 };
    size_t from = out->n, names;
    int n = read_section(s, how, v);
    if (n < 0) {
        return false;
    }
    n = how->change ? change_section(v, n, how->is_vl) : n;
    mut_put(out, "\x93\xcd\0\0\xde\0", 6);
    out->p[out->n++] = (uint8_t)n;
    names = out->n;
    for (int i = 0; i < n; i++) {
        word[0] = (uint8_t)(0xA0 + v[i].name_len);
        mut_put(out, word, 1);
        mut_put(out, v[i].name, v[i].name_len);
        mut_put(out, "\xd2\0\0\0\0", 5);
    }
    b2i_st16be(out->p + from + 2, (uint16_t)(out->n - from));
    mut_put(out, "\xdc\0", 2);
    out->p[out->n++] = (uint8_t)n;
    for (int i = 0; i < n; i++) {
        names += 2 + (size_t)v[i].name_len;
        b2i_st32be(out->p + names, (uint32_t)(out->n + how->to_base));
        names += 4;
        word[0] = 0xC6;
        b2i_st32be(word + 1, (uint32_t)v[i].content.n);
        mut_put(out, word, 5);
        mut_put(out, v[i].content.p, v[i].content.n);
    }
    return true;
}

/* ---- frames ---- */

typedef struct parts {
    b2i_span header, payload, index, trailer;
    bool is_sparse;
    size_t nentries;
    uint64_t entries[MAX_ENTRIES];
    int64_t chunksize;
} parts;

size_t mut_frame_len(b2i_span s)
{
    static const uint8_t magic[] = { 0x9e, 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 };
    if (s.n < B2I_FRAME_FIXED_LEN + TAIL_LEN || memcmp(s.p, magic, sizeof magic) != 0) {
        return 0;
    }
    uint64_t n = b2i_ld64be(s.p + AT_FRAME_LEN);
    return n > s.n || n < B2I_FRAME_FIXED_LEN + TAIL_LEN ? 0 : (size_t)n;
}

static bool read_entries(parts *f)
{
    static uint8_t bytes[8 * MAX_ENTRIES];
    b2c_ctx *ctx = NULL;
    size_t n = 0;
    bool ok = b2c_ctx_new(NULL, 1, NULL, &ctx, NULL) == B2C_OK &&
              b2c_decompress(ctx, f->index.p, f->index.n, bytes, sizeof bytes, &n, NULL) == B2C_OK;
    b2c_ctx_free(ctx);
    f->nentries = ok ? n / 8 : 0;
    for (size_t i = 0; i < f->nentries; i++) {
        f->entries[i] = b2i_ld64le(bytes + 8 * i);
    }
    return ok && n % 8 == 0;
}

static bool split(b2i_span s, parts *f)
{
    size_t n = mut_frame_len(s);
    if (n == 0 || n > MUT_MAX_LEN / 2) {
        return false;
    }
    uint32_t header_len = b2i_ld32be(s.p + AT_HEADER_LEN);
    uint32_t trailer_len = b2i_ld32be(s.p + n - TAIL_LEN + 1);
    uint64_t nbytes = b2i_ld64be(s.p + AT_NBYTES), cbytes = b2i_ld64be(s.p + AT_CBYTES);
    f->is_sparse = s.p[0x1A] == 1;
    f->chunksize = (int32_t)b2i_ld32be(s.p + AT_CHUNKSIZE);
    cbytes = f->is_sparse || nbytes == 0 ? 0 : cbytes;
    if (header_len < B2I_FRAME_FIXED_LEN || trailer_len < TAIL_LEN || header_len > n ||
        trailer_len > n - header_len || cbytes > n - header_len - trailer_len) {
        return false;
    }
    f->header = b2i_span_of(s.p, header_len);
    f->payload = b2i_span_of(s.p + header_len, (size_t)cbytes);
    f->index = b2i_span_of(f->payload.p + cbytes, n - header_len - trailer_len - (size_t)cbytes);
    f->trailer = b2i_span_of(s.p + n - trailer_len, trailer_len);
    f->nentries = 0;
    return nbytes == 0 || read_entries(f);
}

/* The checksum record behind a chunk, if there is one, for its new place and bytes. */
static void fix_record(mut_buf *out, size_t payload_at, uint64_t entry, size_t len)
{
    uint8_t place[8];
    uint64_t room = out->n - payload_at;
    if (entry > room || len > room - entry || B2I_RECORD_LEN > room - entry - len) {
        return;
    }
    uint8_t *record = out->p + payload_at + entry + len;
    if (memcmp(record, "B2CK", 4) != 0) {
        return;
    }
    b2i_st64le(place, entry);
    uint32_t tag = (uint32_t)b2i_xxh3_64(b2i_span_of(place, 8)) << 8;
    b2i_st32le(record + 4, tag | record[4]);
    b2i_st64le(record + 8, b2i_xxh3_64(b2i_span_of(record - len, len)));
}

/* A chunk of the payload becomes another one; those behind it move. */
static void change_chunk(parts *f, mut_buf *out)
{
    size_t from = out->n, i = mut_random((uint32_t)f->nentries);
    uint64_t at = f->nentries == 0 ? UINT64_MAX : f->entries[i];
    size_t len =
        at >= f->payload.n ? 0 : mut_chunk_len(b2i_span_of(f->payload.p + at, f->payload.n - at));
    if (len == 0) {
        mut_put(out, f->payload.p, f->payload.n);
        if (f->payload.n > 0 && mut_chance(2)) {
            (void)mut_bytes(out->p + from, f->payload.n, f->payload.n);
        }
        return;
    }
    mut_put(out, f->payload.p, at);
    mut_chunk(b2i_span_of(f->payload.p + at, len), out);
    size_t new_len = out->n - from - at;
    mut_put(out, f->payload.p + at + len, f->payload.n - at - len);
    fix_record(out, from, at, new_len);
    for (size_t k = 0; k < f->nentries; k++) {
        if (f->entries[k] > at && f->entries[k] >> 63 == 0) {
            f->entries[k] += new_len - len;
            size_t n = f->entries[k] >= out->n - from
                           ? 0
                           : mut_chunk_len(b2i_span_of(out->p + from + f->entries[k],
                                                       out->n - from - f->entries[k]));
            fix_record(out, from, f->entries[k], n);
        }
    }
}

static void change_entries(parts *f)
{
    static const uint64_t kinds[] = { B2I_ENTRY_ZERO, B2I_ENTRY_NAN, B2I_ENTRY_UNINIT };
    size_t i = mut_random((uint32_t)f->nentries), k = mut_random((uint32_t)f->nentries);
    switch (mut_random(5)) {
    case 0:
        if (f->nentries < MAX_ENTRIES) {
            f->entries[f->nentries] = f->nentries == 0 ? B2I_ENTRY_ZERO : f->entries[i];
            f->nentries++;
        }
        break;
    case 1:
        f->nentries -= f->nentries > 1;
        break;
    case 2:
        f->entries[i] = kinds[mut_random(3)];
        break;
    case 3:
        f->entries[i] = mut_chance(2) ? mut_number(64) : f->entries[i] + mut_random(65) - 32;
        break;
    default: {
        uint64_t swap = f->entries[i];
        f->entries[i] = f->entries[k];
        f->entries[k] = swap;
    }
    }
}

static void put_index(parts *f, bool changed, mut_buf *out)
{
    static uint8_t bytes[8 * MAX_ENTRIES];
    if (!changed || f->nentries == 0) {
        mut_put(out, f->nentries == 0 ? NULL : f->index.p, f->nentries == 0 ? 0 : f->index.n);
        return;
    }
    for (size_t i = 0; i < f->nentries; i++) {
        b2i_st64le(bytes + 8 * i, f->entries[i]);
    }
    if (mut_chance(8)) { /* as one repeated value */
        size_t from = out->n;
        mut_plain_chunk(8, b2i_span_of(bytes, 8), out);
        out->p[from + 2] = 5;
        out->p[from + 31] = 0x30;
        b2i_st32le(out->p + from + 4, 8 * (uint32_t)f->nentries);
        return;
    }
    mut_plain_chunk(8, b2i_span_of(bytes, 8 * f->nentries), out);
}

static void put_trailer(const parts *f, bool change, mut_buf *out)
{
    size_t from = out->n, body = f->trailer.n - TAIL_LEN;
    static mut_buf section;
    section.n = 0;
    mut_put(&section, f->trailer.p, 2);
    const mut_section how = { .at = 2, .is_vl = true, .change = true };
    if (change && mut_metas(b2i_span_of(f->trailer.p, body), &how, &section)) {
        mut_put(out, section.p, section.n);
    } else {
        mut_put(out, f->trailer.p, body);
    }
    mut_put(out, f->trailer.p + body, TAIL_LEN);
    b2i_st32be(out->p + out->n - TAIL_LEN + 1, (uint32_t)(out->n - from));
}

static void put_header(const parts *f, uint32_t what, mut_buf *out)
{
    static const uint8_t fields[] = { 0x19, 0x1A, 0x1B, 0x1C, 0x33, 0x38, 0x47, 0x4D, 0x4E, 0x4F };
    const mut_section how = { .at = B2I_FRAME_FIXED_LEN, .change = true };
    mut_put(out, f->header.p, B2I_FRAME_FIXED_LEN);
    if (what != 1 || !mut_metas(f->header, &how, out)) {
        mut_put(out, f->header.p + B2I_FRAME_FIXED_LEN, f->header.n - B2I_FRAME_FIXED_LEN);
    }
    if (what == 2) {
        out->p[fields[mut_random(sizeof fields)]] = (uint8_t)mut_number(8);
    } else if (what == 3) {
        b2i_st32be(out->p + AT_CHUNKSIZE, (uint32_t)mut_number(32));
    }
    b2i_st32be(out->p + AT_HEADER_LEN, (uint32_t)out->n);
}

/* What a reader checks first: lengths, the decoded size, the checksum of the structure. */
static void fix(const parts *f, size_t index_at, size_t trailer_at, uint32_t what, mut_buf *out)
{
    size_t header_len = b2i_ld32be(out->p + AT_HEADER_LEN);
    b2i_st64be(out->p + AT_FRAME_LEN, out->n);
    if (!f->is_sparse && f->nentries > 0) {
        b2i_st64be(out->p + AT_CBYTES, index_at - header_len);
    }
    if (what == 4 && f->chunksize > 0) {
        b2i_st64be(out->p + AT_NBYTES, f->nentries * (uint64_t)f->chunksize - mut_random(3));
    }
    uint8_t *end = out->p + out->n;
    if (mut_chance(4)) {
        end[-B2I_FINGERPRINT_LEN - 1] = 0;
    } else if (end[-B2I_FINGERPRINT_LEN - 1] == B2I_FINGERPRINT_XXH3) {
        b2i_frame_fingerprint(b2i_span_of(out->p, header_len),
                              b2i_span_of(out->p + index_at, trailer_at - index_at),
                              b2i_span_of(out->p + trailer_at, out->n - trailer_at), mut_chance(2),
                              end - B2I_FINGERPRINT_LEN);
    }
}

/* How much room in front of the index nobody names; see store_file_room.c. */
static void put_note(size_t payload_at, mut_buf *out)
{
    const uint64_t at = out->n - payload_at;
    uint8_t note[B2I_DEAD_LEN];
    b2i_file_dead_make(at, mut_chance(2) ? mut_random((uint32_t)at + 17) : mut_number(64), note);
    mut_put(out, note, sizeof note);
}

bool mut_frame(b2i_span frame, mut_buf *out)
{
    static parts f;
    uint32_t what = 1 + mut_random(10);
    out->n = 0;
    if (!split(frame, &f)) {
        return false;
    }
    put_header(&f, what, out);
    const size_t payload_at = out->n;
    if (what == 4) {
        change_entries(&f);
    }
    if (what > 5 && what < 10) {
        change_chunk(&f, out);
    } else {
        mut_put(out, f.payload.p, f.payload.n);
    }
    if (what == 10 && f.payload.n > 0) {
        put_note(payload_at, out);
    }
    size_t index_at = out->n;
    put_index(&f, what == 4 || what > 5, out);
    size_t trailer_at = out->n;
    put_trailer(&f, what == 5, out);
    if (out->n >= MUT_MAX_LEN - 64) {
        return false;
    }
    fix(&f, index_at, trailer_at, what, out);
    return true;
}

/* ---- commit records; see store_file_redo.c ---- */

bool mut_record(uint8_t *p, size_t n)
{
    enum { LEN = 128, TAIL = 24, END = 32, REGION = 40, SLOT_CAP = 48, SLOT = 64, HASH = 120 };
    static const uint8_t fields[] = { 8,  16,   TAIL, END, END, REGION, SLOT_CAP,
                                      56, SLOT, 72,   80,  96,  112 };
    size_t at = 0;
    while (at + LEN <= n && memcmp(p + at, "B2CR", 4) != 0) {
        at++;
    }
    if (at + LEN > n) {
        return false;
    }
    uint8_t *record = p + at, field = fields[mut_random(sizeof fields)];
    uint64_t old = b2i_ld64le(record + field), tail = b2i_ld64le(record + TAIL);
    b2i_st64le(record + field, mut_chance(2)   ? mut_number(64)
                               : mut_chance(2) ? mut_random((uint32_t)tail)
                                               : old + mut_random(65) - 32);
    uint64_t region = b2i_ld64le(record + REGION);
    if (field == END && mut_chance(2)) { /* the slots move as well */
        region = b2i_ld64le(record + END);
        b2i_st64le(record + REGION, region);
    }
    if (mut_chance(2)) { /* the current slot still is where the index is */
        b2i_st32le(record + SLOT, 1);
        b2i_st64le(record + SLOT_CAP, tail - region);
    }
    b2i_st64le(record + HASH, b2i_xxh3_64(b2i_span_of(record, HASH)));
    return true;
}
