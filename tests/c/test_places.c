/*
 * test_places.c: places of chunks in any order, with gaps and chunks that share bytes or a place,
 * against the plain way to compare each one with all others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "harness.h"
#include "new_schunk.h"

#include <pthread.h>

#define MAX_PLACE (((b2i_entry)1 << 63) - 1)

enum { MAX_ENTRIES = 700, NMANY = 4000 };

static uint64_t below(uint64_t n)
{
    return harness_random(&seed) % n;
}

/* ---- layouts ---- */

/* How long chunks are with what is between them; of zero bytes: both are at one place. */
enum { EQUAL, SIMILAR, MOSTLY_TINY, TOUCHING, OF_ANY_LENGTH, WITH_EMPTY, MOSTLY_EMPTY, NSIZES };

static uint64_t length_of(int sizes)
{
    uint64_t nbits = below(17);
    switch (sizes) {
    case EQUAL:
        return 1000;
    case SIMILAR:
        return 100 + below(400);
    case MOSTLY_TINY:
        return below(8) != 0 ? 1 + below(40) : 1000000;
    case TOUCHING:
        return 1;
    case OF_ANY_LENGTH:
        return 1 + below((uint64_t)1 << nbits);
    case WITH_EMPTY:
        return below(200) == 0 ? 0 : 50;
    default:
        return below(3) == 0 ? 50 : 0;
    }
}

enum { IN_ORDER, REVERSED, SHUFFLED, SOME_MOVED, NORDERS };

static void swap(b2i_entry *e, size_t i, size_t k)
{
    b2i_entry other = e[i];
    e[i] = e[k];
    e[k] = other;
}

static void put_in_order(b2i_entry *e, size_t n, int order)
{
    for (size_t i = 0; order == REVERSED && i < n / 2; i++) {
        swap(e, i, n - 1 - i);
    }
    for (size_t i = n; order == SHUFFLED && i > 1; i--) {
        swap(e, i - 1, below(i));
    }
    for (size_t i = 0; order == SOME_MOVED && i < n / 10 + 1; i++) {
        size_t at = below(n);
        swap(e, at, below(n));
    }
}

/* At the limits: the first place, the last there may be, one behind another. */
static void put_odd_ones(b2i_entry *e, size_t n)
{
    const b2i_entry odd[] = { 0,         1, MAX_PLACE, MAX_PLACE - 1, B2I_ENTRY_ZERO, B2I_ENTRY_NAN,
                              UINT32_MAX };
    for (uint64_t i = below(4); i > 0; i--) {
        size_t at = below(n), from = below(n);
        switch (below(4)) {
        case 0:
            e[at] = odd[below(sizeof odd / sizeof *odd)];
            break;
        case 1:
            e[at] = e[from];
            break;
        case 2:
            e[at] = e[from] + (e[from] < MAX_PLACE);
            break;
        default:
            for (size_t k = at; k < n && k < at + 90; k++) {
                e[k] = B2I_ENTRY_UNINIT;
            }
        }
    }
}

static void make_layout(b2i_entry *e, size_t n)
{
    int sizes = (int)below(NSIZES);
    b2i_entry at = below(2) == 0 ? 0 : below(100000);
    for (size_t i = 0; i < n; i++) {
        e[i] = at;
        at += length_of(sizes);
    }
    put_in_order(e, n, (int)below(NORDERS));
    put_odd_ones(e, n);
}

/* ---- the plain way ---- */

static bool has_payload(b2i_entry e)
{
    return e >> 63 == 0;
}

static uint64_t plain_room(const b2i_entry *e, size_t n, size_t of)
{
    uint64_t room = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (has_payload(e[i]) && e[i] > e[of] && e[i] - e[of] < room) {
            room = e[i] - e[of];
        }
    }
    return room;
}

/* The first two numbers of the lowest place that has two; false: there is none. */
static bool plain_shared(const b2i_entry *e, size_t n, size_t *first, size_t *second)
{
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n && has_payload(e[i]); k++) {
            if (e[k] == e[i]) {
                if (!found || e[i] < e[*first]) {
                    *first = i;
                    *second = k;
                }
                found = true;
                break;
            }
        }
    }
    return found;
}

static b2i_entry plain_last(const b2i_entry *e, size_t n)
{
    b2i_entry last = B2I_ENTRY_SPECIAL;
    for (size_t i = 0; i < n; i++) {
        if (has_payload(e[i]) && (!has_payload(last) || e[i] > last)) {
            last = e[i];
        }
    }
    return last;
}

/* ---- what is found ---- */

static void check_refused(b2c_status st, size_t first, size_t second)
{
    CHECK_EQ(st, B2C_E_CORRUPT);
    CHECK(st == B2C_OK || strcmp(err.what, "the index names a chunk by a second number") == 0);
    CHECK(st == B2C_OK || strcmp(err.field, "index") == 0);
    CHECK_EQ(err.chunk, second);
    CHECK_EQ(err.expected, first);
    CHECK_EQ(err.actual, second);
    CHECK_EQ(err.offset, B2C_NO_OFFSET);
}

/* More often than they are looked for before they are sorted. */
static void check_rooms(const b2i_state *now, const b2i_entry *e, size_t n)
{
    CHECK_EQ(b2i_places_last(now), plain_last(e, n));
    for (size_t i = 0; i < n; i++) {
        if (has_payload(e[i])) {
            CHECK_EQ(b2i_places_room(now, i), plain_room(e, n, i));
        }
    }
}

static void check_sorted(const b2i_state *now, size_t nplaces)
{
    b2i_entry *sorted = NULL;
    size_t n = 0;
    CHECK_EQ(b2i_places_sorted(now, &sorted, &n, &err), B2C_OK);
    CHECK_EQ(n, nplaces);
    for (size_t i = 1; i < n; i++) {
        CHECK(sorted[i - 1] <= sorted[i]);
    }
    b2i_free(sorted);
}

static void check_layout(b2i_entry *e, size_t n)
{
    b2i_state now = { .entries = e, .nchunks = n };
    b2i_survey found = b2i_index_survey(e, n, MAX_PLACE + 1);
    size_t first = 0, second = 0;
    bool is_shared = plain_shared(e, n, &first, &second);
    b2i_entry last = plain_last(e, n);
    CHECK_EQ(found.odd, n);
    CHECK_EQ(found.last, has_payload(last) ? last : 0);
    for (int k = 0; k < 3; k++) { /* with a survey, without one, and of a directory */
        b2c_status st = b2i_places_check(&now, k < 2, k == 1 ? NULL : &found, &err);
        if (is_shared) {
            check_refused(st, first, second);
        } else {
            CHECK_EQ(st, B2C_OK);
        }
        if (st == B2C_OK && k < 2) {
            check_rooms(&now, e, n);
        }
        CHECK(k < 2 || b2i_places_room(&now, 0) == UINT64_MAX);
        b2i_places_forget(&now);
        CHECK_EQ(b2i_places_room(&now, 0), UINT64_MAX);
    }
    check_sorted(&now, n - (size_t)found.nspecial);
}

static void test_layouts(void)
{
    static b2i_entry e[MAX_ENTRIES];
    for (int run = 0; run < 1500; run++) {
        size_t n = 1 + below(run % 8 == 0 ? MAX_ENTRIES : 60);
        make_layout(e, n);
        check_layout(e, n);
    }
    b2i_state none = { .uniform = B2I_ENTRY_ZERO, .nchunks = 5 };
    CHECK_EQ(b2i_places_check(&none, true, NULL, &err), B2C_OK);
    CHECK_EQ(b2i_places_last(&none), B2I_ENTRY_SPECIAL);
}

/* ---- no memory ---- */

/* How many bytes a check asks for: none that the number of entries does not justify. */
static void test_memory(void)
{
    static b2i_entry e[NMANY];
    for (int sizes = EQUAL; sizes <= OF_ANY_LENGTH; sizes++) {
        b2i_entry at = 0;
        for (size_t i = 0; i < NMANY; i++) {
            e[i] = at;
            at += length_of(sizes);
        }
        put_in_order(e, NMANY, SHUFFLED);
        e[7] = MAX_PLACE;
        b2i_state now = { .entries = e, .nchunks = NMANY };
        b2i_alloc_fail_at(0, false);
        CHECK_EQ(b2i_places_check(&now, true, NULL, &err), B2C_OK);
        CHECK(b2i_alloc_nbytes() <= 3 * sizeof e);
        uint64_t ncalls = b2i_alloc_count();
        b2i_places_forget(&now);
        for (uint64_t k = 1; k <= ncalls; k++) {
            b2i_alloc_fail_at(k, true);
            CHECK_EQ(b2i_places_check(&now, true, NULL, &err), B2C_E_MEMORY);
            b2i_places_forget(&now);
        }
        b2i_alloc_fail_at(0, false);
        CHECK_EQ(b2i_places_check(&now, true, NULL, &err), B2C_OK);
        for (uint64_t k = 1; k <= 3; k++) { /* what cannot be sorted is looked for */
            b2i_alloc_fail_at(k % 3, true);
            for (size_t i = 0; i < 50; i++) {
                CHECK_EQ(b2i_places_room(&now, i), plain_room(e, NMANY, i));
            }
        }
        b2i_alloc_fail_at(0, false);
        b2i_places_forget(&now);
    }
}

/* ---- readers ---- */

typedef struct reader {
    pthread_t thread;
    const b2i_state *now;
    const uint64_t *rooms;
    size_t first, nwrong;
} reader;

static void *read_rooms(void *arg)
{
    reader *r = arg;
    for (size_t i = 0; i < 300; i++) {
        size_t of = (r->first + i) % NMANY;
        r->nwrong += b2i_places_room(r->now, of) != r->rooms[of];
    }
    return NULL;
}

/* Several that look at once, of whom each may be the one who sorts. */
static void test_readers(void)
{
    enum { NREADERS = 4 };
    static b2i_entry e[NMANY];
    static uint64_t rooms[NMANY];
    for (size_t i = 0; i < NMANY; i++) {
        e[i] = 100 * i;
        rooms[i] = 0;
    }
    put_in_order(e, NMANY, SHUFFLED);
    for (size_t i = 0; i < NMANY; i++) {
        rooms[i] = e[i] == 100 * (NMANY - 1) ? UINT64_MAX : 100;
    }
    for (int run = 0; run < 40; run++) {
        b2i_state now = { .entries = e, .nchunks = NMANY };
        reader readers[NREADERS];
        CHECK_EQ(b2i_places_check(&now, true, NULL, &err), B2C_OK);
        for (size_t i = 0; i < NREADERS; i++) {
            readers[i] = (reader){ .now = &now, .rooms = rooms, .first = i * 1000 };
            CHECK_EQ(pthread_create(&readers[i].thread, NULL, read_rooms, &readers[i]), 0);
        }
        for (size_t i = 0; i < NREADERS; i++) {
            CHECK_EQ(pthread_join(readers[i].thread, NULL), 0);
            CHECK_EQ(readers[i].nwrong, 0);
        }
        CHECK(now.places->sorted != NULL); /* so many looks are worth it */
        b2i_places_forget(&now);
    }
}

/* ---- frames ---- */

enum { NCHUNKS = 40, CBYTES_AT = 0x27, FRAME_LEN_AT = 0x10, NO_FINGERPRINT_FROM_END = 17 };

/* A frame and what it consists of. */
typedef struct frame {
    b2i_buf bytes;
    size_t header_len, payload_len, trailer_len;
} frame;

static uint64_t u64be(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) {
        x = x << 8 | p[i];
    }
    return x;
}

static void make_frame(frame *f, b2i_entry *entries, uint64_t *lens)
{
    b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    uint8_t data[CHUNK];
    size_t n = 0, chunk_len = 0;
    for (size_t i = 0; i < NCHUNKS; i++) {
        for (size_t k = 0; k < CHUNK; k++) { /* the more noise, the longer */
            data[k] = k < 8 * i ? (uint8_t)below(256) : (uint8_t)(i + 1);
        }
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_to_frame(s, NULL, 0, &n, &err), B2C_E_OUTPUT_SIZE);
    CHECK(b2i_buf_reserve(&f->bytes, n));
    CHECK_EQ(b2c_schunk_to_frame(s, f->bytes.p, n, &f->bytes.n, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    const uint8_t *end = f->bytes.p + f->bytes.n;
    f->header_len = (size_t)u64be(f->bytes.p + 0x07) & UINT32_MAX; /* 32 bits at 0x0B */
    f->payload_len = (size_t)u64be(f->bytes.p + CBYTES_AT);
    f->trailer_len = (size_t)(u64be(end - 26) & UINT32_MAX);
    s = NULL;
    CHECK_EQ(b2c_schunk_open_mem(f->bytes.p, f->bytes.n, 0, NULL, &s, &err), B2C_OK);
    for (size_t i = 0; s != NULL && i < NCHUNKS; i++) {
        entries[i] = b2i_state_entry(&s->now, i);
        uint8_t chunk[2 * CHUNK];
        CHECK_EQ(b2c_schunk_get_chunk(s, i, chunk, sizeof chunk, &chunk_len, &err), B2C_OK);
        lens[i] = chunk_len;
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

static void store_u64be(uint8_t *p, uint64_t x)
{
    for (int i = 7; i >= 0; i--, x >>= 8) {
        p[i] = (uint8_t)x;
    }
}

/* The frame with other entries, and without a checksum of its index. */
static b2c_status open_with(const frame *f, const b2i_entry *entries, b2i_buf *out, b2c_schunk **s)
{
    const uint8_t *p = f->bytes.p, *end = p + f->bytes.n;
    out->n = 0;
    CHECK(b2i_buf_append(out, p, f->header_len + f->payload_len));
    CHECK_EQ(b2i_index_encode(entries, 0, NCHUNKS, out, &err), B2C_OK);
    CHECK(b2i_buf_append(out, end - f->trailer_len, f->trailer_len));
    out->p[out->n - NO_FINGERPRINT_FROM_END] = 0;
    store_u64be(out->p + FRAME_LEN_AT, out->n);
    return b2c_schunk_open_mem(out->p, out->n, 0, NULL, s, &err);
}

/* Each chunk is read when it ends before the next place, whatever its number is. */
static void check_reads(b2c_schunk *s, const b2i_entry *e, const b2i_entry *places,
                        const uint64_t *lens)
{
    uint8_t data[CHUNK];
    size_t n;
    for (size_t i = 0; i < NCHUNKS; i++) {
        size_t of = 0;
        while (of < NCHUNKS && places[of] != e[i]) {
            of++;
        }
        uint64_t room = plain_room(e, NCHUNKS, i);
        b2c_status st = b2c_schunk_decode_chunk(s, ctx, i, data, sizeof data, &n, &err);
        if (of == NCHUNKS) { /* somewhere within a chunk */
            CHECK(st != B2C_OK);
        } else if (lens[of] <= room) {
            CHECK_EQ(st, B2C_OK);
            CHECK_EQ(data[CHUNK - 1], of + 1);
        } else if (room < B2C_HEADER_LEN) {
            CHECK_EQ(st, B2C_E_TRUNCATED);
            CHECK_EQ(err.chunk, i);
        } else {
            CHECK_EQ(st, B2C_E_CORRUPT);
            CHECK(st == B2C_OK || strcmp(err.what, "the chunk reaches beyond its place") == 0);
            CHECK_EQ(err.chunk, i);
            CHECK_EQ(err.expected, room);
            CHECK_EQ(err.actual, lens[of]);
        }
    }
}

static void test_frames(void)
{
    enum { MIN_LEN = 16 };
    frame f = { .header_len = 0 };
    b2i_buf bytes = { .p = NULL };
    b2i_entry places[NCHUNKS] = { 0 }, e[NCHUNKS];
    uint64_t lens[NCHUNKS] = { 0 };
    size_t first, second;
    make_frame(&f, places, lens);
    for (int run = 0; run < 400; run++) {
        memcpy(e, places, sizeof e);
        put_in_order(e, NCHUNKS, (int)below(NORDERS));
        size_t at = below(NCHUNKS), from = below(NCHUNKS);
        int kind = (int)below(5);
        if (kind == 1) { /* within another one */
            e[at] = e[from] + 1 + below(2 * B2C_HEADER_LEN);
        } else if (kind == 2) {
            e[at] = e[from];
        } else if (kind == 3) { /* the last place at which a header fits */
            e[at] = f.payload_len - MIN_LEN;
        } else if (kind == 4) {
            e[at] = f.payload_len - MIN_LEN + 1 + (below(2) ? 0 : MAX_PLACE / 2);
        }
        b2c_schunk *s = NULL;
        bool is_outside = e[at] > f.payload_len - MIN_LEN;
        b2c_status st = open_with(&f, e, &bytes, &s);
        if (is_outside) {
            CHECK_EQ(st, B2C_E_CORRUPT);
            CHECK(st == B2C_OK || strcmp(err.what, "a chunk lies outside the frame") == 0);
            CHECK_EQ(err.chunk, at);
        } else if (plain_shared(e, NCHUNKS, &first, &second)) {
            check_refused(st, first, second);
        } else {
            CHECK_EQ(st, B2C_OK);
        }
        if (st == B2C_OK) {
            check_reads(s, e, places, lens);
            CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        }
    }
    b2i_buf_free(&bytes);
    b2i_buf_free(&f.bytes);
}

int main(void)
{
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_layouts();
    test_memory();
    test_readers();
    test_frames();
    b2c_ctx_free(ctx);
    return RESULT();
}
