/*
 * streams.h: what the tests of our own coders share: memory between pages that may not be touched,
 * and what holds for every coder of streams.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "harness.h"
#include "codec.h"
#include "kinds.h"
#include "long_use.h"

#include <sys/mman.h>
#include <unistd.h>

/* ---- memory ---- */

/* Room for bytes, whose start and end are those of what may be read and written. */
typedef struct guarded {
    uint8_t *start, *end;
    size_t max;
} guarded;

static inline guarded guarded_new(size_t max)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), len = (max + page - 1) / page * page;
    uint8_t *p = mmap(NULL, page + len + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + page, len, PROT_READ | PROT_WRITE) != 0) {
        perror("mmap");
        exit(2);
    }
    return (guarded){ p + page, p + page + len, len };
}

/* The last n bytes of the room. */
static inline uint8_t *guarded_room(const guarded *g, size_t n)
{
    if (n > g->max) {
        abort();
    }
    return g->end - n;
}

static inline uint8_t *guarded_copy(const guarded *g, const uint8_t *p, size_t n)
{
    return n == 0 ? g->end : memcpy(guarded_room(g, n), p, n);
}

/* ---- a coder ---- */

/* What the codec does, and a decoder that is as plain as the description of the format. */
typedef struct coder_under_test {
    b2c_status (*encode)(b2i_codec_state *state, int clevel, const uint8_t *src, size_t n,
                         uint8_t *dst, size_t cap, size_t *out_len);
    b2c_status (*decode)(b2i_codec_state *state, b2i_span dict, b2i_span src, uint8_t *dst,
                         size_t n);
    b2c_status (*plain_decode)(b2i_span dict, b2i_span src, uint8_t *dst, size_t n);
    /* another implementation that reads streams of ours, or NULL */
    b2c_status (*foreign_decode)(b2i_span src, uint8_t *dst, size_t n);
    int max_clevel;
    uint64_t hash; /* of the streams that check_round_trips() makes */
    size_t slack;  /* a stream is made when there are so many bytes more than it needs */
} coder_under_test;

static const coder_under_test *coder;
static b2i_codec_state *state;
static guarded in_room, out_room;

static inline void begin(const coder_under_test *c, size_t max)
{
    coder = c;
    state = b2i_codec_state_new();
    CHECK(state != NULL);
    in_room = guarded_new(max);
    out_room = guarded_new(max);
}

static inline uint8_t *room_of(size_t n)
{
    uint8_t *p = malloc(n == 0 ? 1 : n);
    if (p == NULL) {
        abort();
    }
    return p;
}

/*
 * Decodes with ours, to both ends of the room, and the plain one: they agree.  'expected' may be
 * NULL.
 */
static inline b2c_status decode_with(b2i_span dict, const uint8_t *stream, size_t len, size_t n,
                                     const uint8_t *expected)
{
    uint8_t *in = guarded_copy(&in_room, stream, len), *out = guarded_room(&out_room, n);
    b2i_span src = b2i_span_of(in, len);
    uint8_t *plain = room_of(n);
    b2c_status status = coder->plain_decode(dict, src, plain, n);
    CHECK_EQ(coder->decode(state, dict, src, out_room.start, n), status);
    CHECK(status != B2C_OK || memcmp(out_room.start, plain, n) == 0);
    CHECK_EQ(coder->decode(state, dict, src, out, n), status);
    if (status == B2C_OK) {
        CHECK(memcmp(out, plain, n) == 0);
        CHECK(expected == NULL || memcmp(out, expected, n) == 0);
    }
    free(plain);
    return status;
}

static inline b2c_status decode(const uint8_t *stream, size_t len, size_t n,
                                const uint8_t *expected)
{
    return decode_with(b2i_span_of(NULL, 0), stream, len, n, expected);
}

static inline size_t encode(int clevel, const uint8_t *data, size_t n, uint8_t *dst, size_t cap)
{
    size_t len = cap + 1;
    CHECK_EQ(coder->encode(state, clevel, data, n, dst, cap, &len), B2C_OK);
    CHECK(len <= cap);
    return len;
}

/* FNV-1a of all streams so far. */
static uint64_t streams_hash = 14695981039346656037U;

static inline void add_to_hash(const uint8_t *stream, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        streams_hash = (streams_hash ^ stream[i]) * 1099511628211U;
    }
}

static inline size_t round_trip(const uint8_t *data, size_t n, int clevel)
{
    uint8_t *dst = room_of(n), *src = guarded_copy(&in_room, data, n);
    size_t len = encode(clevel, src, n, dst, n);
    CHECK(len < n); /* as long as the input would mean raw */
    add_to_hash(dst, len);
    if (len != 0) {
        CHECK_EQ(decode(dst, len, n, data), B2C_OK);
        if (coder->foreign_decode != NULL) {
            uint8_t *back = guarded_room(&out_room, n);
            memset(back, 0, n);
            CHECK_EQ(coder->foreign_decode(b2i_span_of(dst, len), back, n), B2C_OK);
            CHECK(memcmp(back, data, n) == 0);
        }
    }
    free(dst);
    return len;
}

/* Pieces of noise of few or many values, and of what came before. */
static inline void generate_mosaic(uint8_t *p, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n;) {
        const uint64_t x = harness_random(&seed);
        const size_t most = (x & 7) == 0 ? 4000 : (x & 7) < 4 ? 300 : 20;
        const size_t len = 1 + (size_t)(x >> 8 & 0xffff) % most, end = len < n - i ? i + len : n;
        if (i == 0 || (x >> 3 & 3) == 0) {
            for (const unsigned mask = (1U << (x >> 5 & 7)) * 2 - 1; i < end; i++) {
                p[i] = (uint8_t)(harness_random(&seed) & mask);
            }
        } else {
            for (const size_t distance = 1 + (size_t)(x >> 32) % i; i < end; i++) {
                p[i] = p[i - distance];
            }
        }
    }
}

static inline void check_round_trips(void)
{
    enum { MAX = 70000, BIG = 1000000, NMOSAICS = 1000, MOSAIC = 1000 };
    uint8_t *data = room_of(BIG);
    uint64_t r = 11;
    size_t sum[NKINDS] = { 0 }, total = 0;
    for (size_t n = 1; n <= MAX; n += n < 100    ? 1
                                      : n < 2000 ? 61
                                                 : 3500 + harness_random(&r) % 16) {
        for (int kind = 0; kind < NKINDS; kind++) {
            generate(data, n, kind, n);
            for (int clevel = 1; clevel <= coder->max_clevel; clevel += n < 100 ? 4 : 1) {
                size_t len = round_trip(data, n, clevel);
                if (n > 1000) {
                    sum[kind] += len == 0 ? n : len;
                    total += kind == 0 ? n : 0;
                }
            }
        }
    }
    CHECK_EQ(sum[0], total); /* random bytes do not compress, all else does */
    for (int kind = 1; kind < NKINDS; kind++) {
        CHECK(sum[kind] < total - total / 8);
    }
    for (int kind = 0; kind < NKINDS; kind++) {
        generate(data, BIG, kind, 1);
        CHECK((round_trip(data, BIG, 1 + kind % coder->max_clevel) == 0) == (kind == 0));
    }
    for (size_t i = 0; i < NMOSAICS; i++) {
        const size_t n = MOSAIC + i * i % 9973;
        generate_mosaic(data, n, i + 1);
        (void)round_trip(data, n, 1 + (int)(i % (size_t)coder->max_clevel));
    }
    /* All machines make these bytes.  A change of the encoder that means to change them says so. */
    if (streams_hash != coder->hash) {
        fprintf(stderr, "the streams have the hash 0x%llx\n", (unsigned long long)streams_hash);
    }
    CHECK(streams_hash == coder->hash);
    free(data);
}

/* Whatever room there is: no byte beyond it, and what fits is the same. */
static inline void check_cap(void)
{
    enum { N = 700 };
    uint8_t data[N];
    for (int kind = 1; kind < NKINDS; kind++) {
        generate(data, N, kind, 3);
        uint8_t *whole = room_of(N + 40);
        size_t whole_len = encode(5, data, N, whole, N + 40), smallest = N + 40;
        for (size_t cap = N + 40; cap + 1 > 0; cap--) {
            uint8_t *dst = guarded_room(&out_room, cap);
            size_t len = encode(5, data, N, dst, cap);
            CHECK(len == 0 || (len == whole_len && memcmp(dst, whole, len) == 0));
            smallest = len != 0 ? cap : smallest;
        }
        CHECK(whole_len == 0 || smallest <= whole_len + coder->slack);
        free(whole);
    }
}

/* The same bytes whatever the state was used for, and nothing before the data is read. */
static inline void check_determinism(void)
{
    enum { N = 66000 };
    uint8_t *data = room_of(N), *a = room_of(N), *b = room_of(N);
    const guarded front = guarded_new(N);
    for (int kind = 1; kind < NKINDS; kind++) {
        for (int clevel = 1; clevel <= coder->max_clevel; clevel++) {
            const size_t n = N / (clevel % 2 == 0 ? 1 : clevel % 3 == 0 ? 9 : 2);
            generate(data, n, kind, 7);
            memcpy(front.start, data, n);
            size_t la = encode(clevel, data, n, a, n), lb = 0;
            b2i_codec_state *fresh = b2i_codec_state_new();
            for (int again = 0; again < 2; again++) {
                CHECK_EQ(coder->encode(fresh, clevel, front.start, n, b, n, &lb), B2C_OK);
                CHECK(la == lb && memcmp(a, b, la) == 0);
                (void)coder->encode(fresh, coder->max_clevel + 1 - clevel, data + 5, n / 3, b,
                                    n / 9, &lb);
                for (size_t m = 300; m < n; m *= 3) { /* of all short sizes */
                    (void)coder->encode(fresh, clevel, front.start, m, b, m, &lb);
                }
            }
            b2i_codec_state_free(fresh);
        }
    }
    free(data);
    free(a);
    free(b);
}

static inline size_t long_use_encode(b2i_codec_state *s, const uint8_t *src, uint8_t *dst)
{
    size_t len;
    CHECK_EQ(coder->encode(s, 5, src, LONG_USE_LEN, dst, LONG_USE_LEN, &len), B2C_OK);
    return len;
}

/* Every stream cut short at every place, and with every wrong size around the right one. */
static inline void check_truncations(void)
{
    enum { N = 900 };
    uint8_t data[N], stream[N];
    for (int kind = 1; kind < NKINDS; kind++) {
        generate(data, N, kind, 4);
        size_t len = encode(9, data, N, stream, N - 1);
        for (size_t m = 0; m < len; m++) {
            CHECK_EQ(decode(stream, m, N, NULL), B2C_E_CORRUPT);
            (void)decode(stream, m, N / 2, NULL);
        }
        for (size_t n = 0; len > 0 && n < N + 100; n++) {
            CHECK_EQ(decode(stream, len, n, NULL), n == N ? B2C_OK : B2C_E_CORRUPT);
        }
    }
}

/* Damaged streams: never out of bounds, and the same verdict as the plain decoder. */
static inline void check_mutations(void)
{
    enum { N = 3000 };
    uint8_t data[N], stream[N], bad[N];
    uint64_t r = 17;
    size_t ngood = 0, nbad = 0;
    for (int round = 0; round < 6000; round++) {
        size_t n = 20 + (size_t)(harness_random(&r) % (N - 20));
        generate(data, n, 1 + round % (NKINDS - 1), (uint64_t)round);
        size_t len = encode(1 + round % coder->max_clevel, data, n, stream, n - 1);
        for (int k = 0; k < 4 && len > 0; k++) {
            memcpy(bad, stream, len);
            for (uint64_t nchanges = harness_random(&r) % 4; nchanges > 0; nchanges--) {
                size_t at = (size_t)(harness_random(&r) % len);
                bad[at] = (uint8_t)harness_random(&r);
            }
            size_t m = harness_random(&r) % 4 == 0 ? (size_t)(harness_random(&r) % len) : len;
            size_t want = harness_random(&r) % 3 == 0 ? n - (size_t)(harness_random(&r) % 20) : n;
            b2c_status status = decode(bad, m, want, NULL);
            ngood += status == B2C_OK;
            nbad += status == B2C_E_CORRUPT;
        }
    }
    CHECK(ngood > 1000);
    CHECK(nbad > 1000);
    for (int round = 0; round < 20000; round++) { /* no stream at all */
        size_t m = (size_t)(harness_random(&r) % 60);
        for (size_t i = 0; i < m; i++) {
            uint64_t x = harness_random(&r);
            bad[i] = (uint8_t)(x >> (x >> 60)); /* small numbers more often */
        }
        b2c_status status = decode(bad, m, (size_t)(harness_random(&r) % 200), NULL);
        CHECK(status == B2C_OK || status == B2C_E_CORRUPT);
    }
}

#endif
