/*
 * test_blosclz.c: BloscLZ streams: known ones, malformed ones, round trips, mutations.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All buffers are allocated with their exact size, so that a memory checker sees every overrun.
 */
#include "harness.h"
#include "codec.h"
#include "kinds.h"
#include "long_use.h"

static const b2i_codec *codec;
static b2i_codec_state *state;

static uint8_t *room_of(size_t n)
{
    uint8_t *p = malloc(n == 0 ? 1 : n);
    if (p == NULL) {
        abort();
    }
    return p;
}

static uint8_t *copy_of(const uint8_t *p, size_t n)
{
    uint8_t *copy = room_of(n);
    if (n != 0) {
        memcpy(copy, p, n);
    }
    return copy;
}

/* ---- a decoder as plain as the description of the format ---- */

static b2c_status plain_decode(b2i_span src, uint8_t *dst, size_t n)
{
    b2i_reader r = b2i_rd_init(src, 0);
    size_t at = 0;
    uint32_t ctrl = b2i_rd_u8(&r) & 31;
    while (!r.failed) {
        if (ctrl < 32) {
            const uint8_t *p = b2i_rd_take(&r, ctrl + 1);
            if (p == NULL || n - at < ctrl + 1) {
                return B2C_E_CORRUPT;
            }
            memcpy(dst + at, p, ctrl + 1);
            at += ctrl + 1;
            if (b2i_rd_left(&r) == 0) {
                return at == n ? B2C_OK : B2C_E_CORRUPT;
            }
            ctrl = b2i_rd_u8(&r);
            continue;
        }
        uint64_t len = (ctrl >> 5) + 2;
        uint32_t hi = ctrl & 31, ext = ctrl >> 5 == 7 ? 255 : 0;
        while (ext == 255 && !r.failed) {
            ext = b2i_rd_u8(&r);
            len += ext;
        }
        uint32_t lo = b2i_rd_u8(&r), d = hi << 8 | lo;
        if (hi == 31 && lo == 255) {
            d += b2i_rd_u16be(&r);
        }
        ctrl = b2i_rd_u8(&r);
        if (r.failed || len > n - at || (size_t)d + 1 > at) {
            return B2C_E_CORRUPT;
        }
        for (; len > 0; len--, at++) {
            dst[at] = dst[at - d - 1];
        }
    }
    return B2C_E_CORRUPT;
}

/* Decodes with both; they agree.  The decoded bytes go to *out (to be freed) unless it is NULL. */
static b2c_status decode(const uint8_t *stream, size_t len, size_t n, uint8_t **out)
{
    enum { BEHIND = 64 };
    static const uint8_t zeros[BEHIND];
    uint8_t *in = copy_of(stream, len), *a = room_of(n), *b = room_of(n + BEHIND);
    b2i_span src = b2i_span_of(in, len);
    b2c_status status = codec->decode(state, NULL, src, a, n);
    memset(b + n, 0, BEHIND);
    CHECK_EQ(codec->decode(state, NULL, src, b, n), status);
    CHECK(memcmp(b + n, zeros, BEHIND) == 0);
    CHECK_EQ(plain_decode(src, b, n), status);
    if (status == B2C_OK) {
        CHECK(memcmp(a, b, n) == 0);
    }
    free(in);
    free(b);
    if (out != NULL) {
        *out = a;
    } else {
        free(a);
    }
    return status;
}

/* ---- known streams ---- */

static void test_examples(void)
{
    static const uint8_t runs[] = { 0x23, 0x00, 0x00, 0x00, 0x00, 0xe0, 0xda, 0x03, 0x01, 0x00,
                                    0x03, 0xe0, 0xdd, 0x00, 0x01, 0x03, 0x02, 0xe0, 0xdd, 0x00,
                                    0x01, 0x02, 0x01, 0xe0, 0xdb, 0x00, 0x02, 0x01, 0x01, 0x01 };
    static const char text[] = "\x27"
                               "abcdefgh\xe0\x4e\x07\x14"
                               "h01234567890123456789";
    uint8_t *out = NULL;
    CHECK_EQ(decode(runs, sizeof runs, 928, &out), B2C_OK);
    for (size_t i = 0; i < 928; i++) {
        uint8_t expected = i < 232 ? 0 : i < 464 ? 3 : i < 696 ? 2 : 1;
        if (out[i] != expected) {
            CHECK_EQ(out[i], expected);
            break;
        }
    }
    free(out);
    CHECK_EQ(decode((const uint8_t *)text, sizeof text - 1, 116, &out), B2C_OK);
    for (size_t i = 0; i < 12; i++) {
        CHECK(memcmp(out + 8 * i, "abcdefgh", 8) == 0);
    }
    CHECK(memcmp(out + 96, "01234567890123456789", 20) == 0);
    free(out);
    CHECK_EQ(decode(runs, sizeof runs, 927, NULL), B2C_E_CORRUPT);
    CHECK_EQ(decode(runs, sizeof runs, 929, NULL), B2C_E_CORRUPT);
}

/* ---- malformed streams: the rule that each breaks ---- */

static void test_malformed(void)
{
    static const struct {
        const char *rule;
        size_t n, len;
        b2c_status status;
        uint8_t stream[12];
    } cases[] = {
        { "fine: one literal", 1, 2, B2C_OK, { 0x20, 7 } },
        { "fine: top bits of the first byte are ignored", 1, 2, B2C_OK, { 0xe0, 7 } },
        { "fine: match between literals", 8, 6, B2C_OK, { 0x20, 7, 0x80, 0, 0, 7 } },
        { "fine: long match of 9", 11, 7, B2C_OK, { 0x20, 7, 0xe0, 0, 0, 0, 7 } },
        { "fine: long match of 9 + 255", 266, 8, B2C_OK, { 0x20, 7, 0xe0, 255, 0, 0, 0, 7 } },
        { "empty", 1, 0, B2C_E_CORRUPT, { 0 } },
        { "only a control byte", 1, 1, B2C_E_CORRUPT, { 0x20 } },
        { "literals cut short", 3, 3, B2C_E_CORRUPT, { 0x22, 1, 2 } },
        { "literals beyond the output", 2, 4, B2C_E_CORRUPT, { 0x22, 1, 2, 3 } },
        { "output too short", 4, 4, B2C_E_CORRUPT, { 0x22, 1, 2, 3 } },
        { "match beyond the output", 6, 6, B2C_E_CORRUPT, { 0x20, 7, 0xa0, 0, 0, 7 } },
        { "literals beyond the output after a match",
          7,
          6,
          B2C_E_CORRUPT,
          { 0x20, 7, 0x80, 0, 1, 7 } },
        { "match ends the stream", 7, 4, B2C_E_CORRUPT, { 0x20, 7, 0x80, 0 } },
        { "long match ends the stream", 10, 5, B2C_E_CORRUPT, { 0x20, 7, 0xe0, 0, 0 } },
        { "far match ends the stream", 7, 6, B2C_E_CORRUPT, { 0x20, 7, 0x9f, 255, 0, 0 } },
        { "no low byte", 7, 3, B2C_E_CORRUPT, { 0x20, 7, 0x80 } },
        { "no extension byte", 10, 3, B2C_E_CORRUPT, { 0x20, 7, 0xe0 } },
        { "no extension byte after 255", 300, 4, B2C_E_CORRUPT, { 0x20, 7, 0xe0, 255 } },
        { "no low byte after the extension", 10, 4, B2C_E_CORRUPT, { 0x20, 7, 0xe0, 0 } },
        { "no far pair", 7, 4, B2C_E_CORRUPT, { 0x20, 7, 0x9f, 255 } },
        { "half a far pair", 7, 5, B2C_E_CORRUPT, { 0x20, 7, 0x9f, 255, 0 } },
        { "literals after a match cut short", 8, 5, B2C_E_CORRUPT, { 0x20, 7, 0x80, 0, 0 } },
        { "distance 2 after one byte", 8, 6, B2C_E_CORRUPT, { 0x20, 7, 0x80, 1, 0, 7 } },
        { "distance 257 after one byte", 8, 6, B2C_E_CORRUPT, { 0x20, 7, 0x81, 0, 0, 7 } },
        { "far distance after one byte", 8, 8, B2C_E_CORRUPT, { 0x20, 7, 0x9f, 255, 0, 0, 0, 7 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b2c_status status = decode(cases[i].stream, cases[i].len, cases[i].n, NULL);
        if (status != cases[i].status) {
            fprintf(stderr, "malformed stream: %s\n", cases[i].rule);
        }
        CHECK_EQ(status, cases[i].status);
    }
}

/*
 * Noise: many full runs of literals, with what may stand behind them; cut at any place, and for
 * other sizes of the output.
 */
static void test_full_runs(void)
{
    enum { MAX_RUNS = 9, MAX = 33 * (MAX_RUNS + 3) + 70 };
    uint8_t stream[MAX];
    uint64_t seed = 3;
    for (size_t nruns = 1; nruns <= MAX_RUNS; nruns++) {
        for (int behind = 0; behind < 4; behind++) {
            size_t at = 0, n = 32 * nruns;
            for (size_t i = 0; i < 33 * nruns; i++) {
                stream[at++] = i % 33 == 0 ? 31 : (uint8_t)harness_random(&seed);
            }
            if (behind % 2 == 1) { /* a match, and again noise */
                static const uint8_t match[] = { 0xe0, 50, 31 };
                memcpy(stream + at, match, sizeof match);
                at += sizeof match;
                for (size_t i = 0; i < 33 * 3; i++) {
                    stream[at++] = i % 33 == 0 ? 31 : (uint8_t)harness_random(&seed);
                }
                n += 59 + 32 * 3;
            }
            for (int i = 0; i < (behind < 2 ? 1 : 30); i++, n++) { /* single literals */
                stream[at++] = 0;
                stream[at++] = (uint8_t)i;
            }
            CHECK_EQ(decode(stream, at, n, NULL), B2C_OK);
            for (size_t len = 0; len < at; len++) {
                CHECK_EQ(decode(stream, len, n, NULL), B2C_E_CORRUPT);
            }
            for (size_t less = 1; less < 100 && less < n; less++) {
                CHECK_EQ(decode(stream, at, n - less, NULL), B2C_E_CORRUPT);
                CHECK_EQ(decode(stream, at, n + less, NULL), B2C_E_CORRUPT);
            }
        }
    }
}

/* A match that claims more bytes than any memory has, by a long chain of extension bytes. */
static void test_huge_length(void)
{
    size_t len = 100000;
    uint8_t *stream = room_of(len);
    memset(stream, 255, len);
    stream[0] = 0x20;
    stream[2] = 0xe0;
    CHECK_EQ(decode(stream, len, 1000, NULL), B2C_E_CORRUPT);
    stream[len - 4] = 0;
    stream[len - 3] = 0;
    stream[len - 2] = 0;
    CHECK_EQ(decode(stream, len, 1000, NULL), B2C_E_CORRUPT);
    CHECK_EQ(decode(stream, len, 2 + 9 + 255 * (len - 7), NULL), B2C_OK);
    free(stream);
}

/* All distances and lengths at which copying differs, at all places near the end of the output. */
static void test_copies(void)
{
    static const uint32_t distances[] = { 1,    2,    3,    4,    5,    6,    7,     8,
                                          9,    10,   11,   12,   13,   14,   15,    16,
                                          17,   31,   32,   33,   63,   255,  256,   257,
                                          8190, 8191, 8192, 8193, 8447, 8448, 70000, 73727 };
    static const uint32_t lens[] = { 3,   4,   8,   9,   10,  31,  32,  33,  64,  100,
                                     121, 127, 128, 129, 263, 264, 265, 519, 1000 };
    uint8_t *stream = room_of(100000);
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        for (size_t k = 0; k < sizeof lens / sizeof lens[0]; k++) {
            for (uint32_t tail = 1; tail <= 96; tail += tail < 8 ? 1 : 11) {
                uint32_t at = 0, d = distances[i] - 1, left = distances[i], biased = lens[k] - 2;
                for (; left > 0; left -= left < 32 ? left : 32) {
                    uint32_t run = left < 32 ? left : 32;
                    stream[at++] = (uint8_t)(run - 1);
                    for (uint32_t j = 0; j < run; j++) {
                        stream[at++] = (uint8_t)harness_random(&seed);
                    }
                }
                uint32_t hi = d >= 8191 ? 31 : d >> 8;
                stream[at++] = (uint8_t)((biased < 7 ? biased : 7) << 5 | hi);
                if (biased >= 7) {
                    for (biased -= 7; biased >= 255; biased -= 255) {
                        stream[at++] = 255;
                    }
                    stream[at++] = (uint8_t)biased;
                }
                stream[at++] = (uint8_t)(d >= 8191 ? 255 : d);
                if (d >= 8191) {
                    stream[at++] = (uint8_t)((d - 8191) >> 8);
                    stream[at++] = (uint8_t)(d - 8191);
                }
                for (left = tail; left > 0; left--) {
                    stream[at++] = 0;
                    stream[at++] = (uint8_t)left;
                }
                CHECK_EQ(decode(stream, at, distances[i] + lens[k] + tail, NULL), B2C_OK);
            }
        }
    }
    free(stream);
}

/* ---- round trips ---- */

enum { NUSED = 9 }; /* of the kinds */

/* FNV-1a of all streams that round_trip() makes. */
static uint64_t streams_hash = 14695981039346656037U;

static void add_to_hash(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        streams_hash = (streams_hash ^ p[i]) * 1099511628211U;
    }
}

static void round_trip(const uint8_t *data, size_t n, int clevel, size_t *out_len)
{
    uint8_t *src = copy_of(data, n), *dst = room_of(n), *back = NULL;
    *out_len = 99;
    CHECK_EQ(codec->encode(state, clevel, NULL, src, n, dst, n, out_len), B2C_OK);
    CHECK(*out_len < n); /* as long as the input would mean raw */
    add_to_hash(dst, *out_len);
    if (*out_len != 0) {
        CHECK((dst[0] & 0xe0) == 0x20);
        CHECK_EQ(decode(dst, *out_len, n, &back), B2C_OK);
        CHECK(memcmp(back, data, n) == 0);
        free(back);
    }
    free(src);
    free(dst);
}

/* Lines of a log: words that are repeated, and numbers that are not.  Returns what was written. */
static size_t make_log(uint8_t *p, size_t n, uint64_t seed)
{
    static const char *const verbs[] = { "opened", "closed", "read", "wrote" };
    size_t at = 0;
    for (unsigned second = 0; at + 100 <= n; second++) {
        const uint64_t x = harness_random(&seed);
        at += (size_t)snprintf(
            (char *)p + at, 100,
            "2024-05-02 11:22:%02u storage worker %s /data/station/run%u.bin with %u bytes\n",
            second % 60, verbs[x >> 4 & 3], (unsigned)(x >> 8 & 1023),
            (unsigned)(x >> 20 & 0xfffff));
    }
    return at;
}

/* Level 1 takes the long matches of short texts only, which is faster both ways. */
static void test_texts(void)
{
    enum { LONG = 30000 };
    uint8_t data[LONG];
    for (size_t most = 300; most <= LONG; most += most < 4000 ? 100 : 2171) {
        const size_t n = make_log(data, most, most);
        size_t len, more;
        round_trip(data, n, 1, &len);
        round_trip(data, n, 2, &more);
        CHECK(n < 1000 || (len > 0 && len < n * 7 / 10));
        if (n >= 4000) {
            CHECK(n < 24 * 1024 ? len > more + more / 8 : len == more);
        }
    }
}

/* Planes of one value but for single bytes, which are found 64 at once. */
static void test_sparse(void)
{
    enum { N = 300000 };
    uint8_t *data = room_of(N);
    for (unsigned density = 3; density <= 192; density *= 4) {
        size_t sum = 0, total = 0, len;
        for (size_t n = 250; n <= N; n += n < 2000 ? 19 : n / 8) {
            generate_sparse(data, n, density, n);
            round_trip(data, n, 1 + (int)(n % 9), &len);
            sum += len == 0 ? n : len;
            total += n;
        }
        CHECK(sum < total / 1000 * (density < 100 ? 20 + 6 * density : 800));
    }
    free(data);
}

static void test_round_trips(void)
{
    enum { MAX = 70000, BIG = 5000000 };
    uint8_t *data = room_of(BIG);
    uint64_t r = 11;
    size_t len, sum[NUSED] = { 0 }, total = 0;
    for (size_t n = 1; n <= MAX; n += n < 100    ? 1
                                      : n < 2000 ? 61
                                                 : 2500 + (harness_random(&r) & 15)) {
        for (int kind = 0; kind < NUSED; kind++) {
            generate(data, n, kind, n);
            for (int clevel = 1; clevel <= 9; clevel += n < 100 ? 4 : 1) {
                round_trip(data, n, clevel, &len);
                if (n > 1000) {
                    sum[kind] += len == 0 ? n : len;
                    total += kind == 0 ? n : 0;
                }
            }
        }
    }
    CHECK_EQ(sum[0], total); /* random bytes do not compress, all else does */
    for (int kind = 1; kind < NUSED; kind++) {
        CHECK(sum[kind] < total - total / 8);
    }
    for (int kind = 0; kind < NUSED; kind++) {
        generate(data, BIG, kind, 1);
        round_trip(data, BIG, 1 + kind % 9, &len);
        CHECK((len == 0) == (kind == 0));
    }
    /* All machines make these bytes.  A change of the encoder that means to change them says so. */
    const uint64_t expected = 0x416644906ccdba93;
    CHECK(streams_hash == expected);
    if (streams_hash != expected) {
        fprintf(stderr, "the streams have the hash 0x%llx\n", (unsigned long long)streams_hash);
    }
    free(data);
}

/* A stream of n bytes, of which those from 'at' on, 'len' in number, are noise. */
static bool is_coded(size_t n, size_t at, size_t len, int clevel)
{
    uint8_t *data = room_of(n), *dst = room_of(n);
    uint64_t r = 5;
    size_t out_len;
    for (size_t i = 0; i < n; i++) {
        data[i] = i >= at && i - at < len ? (uint8_t)(harness_random(&r) >> 32) : (uint8_t)(i >> 9);
    }
    CHECK_EQ(codec->encode(state, clevel, NULL, data, n, dst, n, &out_len), B2C_OK);
    free(data);
    free(dst);
    return out_len > 0;
}

/* What shrinks too little for the level stays raw, for raw bytes are read faster. */
static void test_low_levels_want_more(void)
{
    enum { N = 60000 };
    static const double least[] = { 0, 2, 1.5, 1.2, 1.2, 1.2, 1.2, 1.15, 1.1, 1 };
    for (int clevel = 1; clevel <= 9; clevel++) {
        bool some = false, others = false;
        for (int parts = 1; parts < 100; parts++) { /* of noise, in each 1000 bytes */
            uint8_t *data = room_of(N), *dst = room_of(N);
            uint64_t r = 5;
            size_t len;
            for (size_t i = 0; i < N; i++) {
                uint8_t noise = (uint8_t)(harness_random(&r) >> 32);
                data[i] = i % 1000 < 10 * (size_t)parts ? noise : 3;
            }
            CHECK_EQ(codec->encode(state, clevel, NULL, data, N, dst, N, &len), B2C_OK);
            double ratio = 100.0 / parts;
            if (ratio > least[clevel] * 1.1) {
                CHECK(len > 0 && (double)len < N / least[clevel]);
                some = true;
            } else if (ratio < least[clevel] * 0.97) {
                CHECK_EQ(len, 0);
                others = true;
            }
            free(data);
            free(dst);
        }
        CHECK(some && (others || clevel == 9));
    }
}

/* A place of noise does not hide that all else is regular, wherever it is. */
static void test_noise_somewhere(void)
{
    for (int clevel = 1; clevel <= 9; clevel++) {
        for (size_t at = 0; at < 300000; at += 9000) {
            CHECK(is_coded(300000, at, 30000, clevel));
            CHECK(is_coded(40000, at / 8, 4000, clevel));
        }
    }
}

/* A stream that begins with noise is coded where it becomes half as long, and raw else. */
static void test_noise_first(void)
{
    enum { N = 200000 };
    for (size_t percent = 10; percent < 100; percent += 10) {
        CHECK_EQ(is_coded(N, 0, N / 100 * percent, 9), percent < 50);
    }
}

/*
 * Planes of numbers that rise, or fall, by the same repeat after 256 steps, farther away than a
 * look at level 1 reaches: they are coded, and not where each step goes somewhere else.
 */
static void test_stairs(void)
{
    enum { N = 32768, WIDTH = 8 };
    for (int by = -3; by <= 3; by++) {
        uint8_t *data = room_of(N), *dst = room_of(N), value = 0;
        uint64_t r = 5;
        size_t len;
        for (size_t i = 0; i < N; i++) {
            uint8_t step = (uint8_t)(by != 0 ? (uint64_t)by : harness_random(&r) >> 32);
            value = (uint8_t)(value + (i % WIDTH == 0 ? step : 0));
            data[i] = value;
        }
        CHECK_EQ(codec->encode(state, 1, NULL, data, N, dst, N, &len), B2C_OK);
        CHECK(by != 0 ? len > 0 && len < N / 10 : len == 0);
        free(data);
        free(dst);
    }
}

/* Of short streams, a regular end is enough at level 1. */
static void test_regular_end(void)
{
    for (size_t at = 0; at < 4096; at += 128) {
        const bool is_short = is_coded(4096, 0, at, 1), is_long = is_coded(8192, 0, 2 * at, 1);
        CHECK_EQ(is_short, at < 3800);
        CHECK(is_short || !is_long);
    }
    CHECK(!is_coded(8192, 0, 7300, 1));
}

/* Whatever room there is: no byte beyond it, and what fits is right. */
static void test_cap(void)
{
    enum { N = 700 };
    uint8_t data[N];
    for (int kind = 1; kind < NUSED; kind++) {
        generate(data, N, kind, 3);
        size_t whole = 0, smallest = N;
        for (size_t cap = N + 40; cap + 1 > 0; cap--) {
            uint8_t *dst = room_of(cap);
            size_t len = 99;
            CHECK_EQ(codec->encode(state, 5, NULL, data, N, dst, cap, &len), B2C_OK);
            CHECK(len <= cap);
            whole = cap == N + 40 ? len : whole;
            CHECK(len == 0 || len == whole);
            if (len != 0) {
                CHECK_EQ(decode(dst, len, N, NULL), B2C_OK);
                smallest = cap;
            }
            free(dst);
        }
        CHECK(whole == 0 ||
              smallest <= whole + 8); /* not much more room than needed is asked for */
    }
}

/* The same bytes whatever the state was used for. */
static void test_determinism(void)
{
    enum { N = 66000 };
    uint8_t *data = room_of(N), *a = room_of(N), *b = room_of(N);
    for (int kind = 1; kind < NUSED; kind++) {
        for (int clevel = 1; clevel <= 9; clevel++) {
            size_t n = clevel % 2 == 0 ? N : N / 2, la = 0, lb = 0;
            b2i_codec_state *fresh = b2i_codec_state_new();
            generate(data, n, kind, 7);
            CHECK_EQ(codec->encode(state, clevel, NULL, data, n, a, n, &la), B2C_OK);
            CHECK_EQ(codec->encode(fresh, clevel, NULL, data, n, b, n, &lb), B2C_OK);
            CHECK_EQ(la, lb);
            CHECK(memcmp(a, b, la) == 0);
            CHECK_EQ(codec->encode(fresh, clevel, NULL, data, n, b, n, &lb), B2C_OK);
            CHECK_EQ(la, lb);
            CHECK(memcmp(a, b, la) == 0);
            b2i_codec_state_free(fresh);
        }
    }
    free(data);
    free(a);
    free(b);
}

static size_t long_use_encode(b2i_codec_state *s, const uint8_t *src, uint8_t *dst)
{
    size_t len;
    CHECK_EQ(codec->encode(s, 5, NULL, src, LONG_USE_LEN, dst, LONG_USE_LEN, &len), B2C_OK);
    return len;
}

/* ---- mutations: never out of bounds, and the same verdict as the plain decoder ---- */

static void test_mutations(void)
{
    enum { N = 3000 };
    uint8_t data[N], stream[N], bad[N];
    uint64_t r = 17;
    size_t ngood = 0, nbad = 0;
    for (int round = 0; round < 6000; round++) {
        size_t n = 20 + (size_t)(harness_random(&r) % (N - 20)), len = 0;
        generate(data, n, 1 + round % (NUSED - 1), (uint64_t)round);
        CHECK_EQ(codec->encode(state, 9, NULL, data, n, stream, n, &len), B2C_OK);
        if (len == 0) {
            continue;
        }
        for (int k = 0; k < 4; k++) {
            size_t m = len;
            memcpy(bad, stream, len);
            for (uint64_t nchanges = harness_random(&r) % 4; nchanges > 0; nchanges--) {
                size_t at = (size_t)(harness_random(&r) % len);
                bad[at] = (uint8_t)harness_random(&r);
            }
            if (harness_random(&r) % 4 == 0) {
                m = (size_t)(harness_random(&r) % len);
            }
            size_t want = harness_random(&r) % 3 == 0 ? n - (size_t)(harness_random(&r) % 20) : n;
            b2c_status status = decode(bad, m, want, NULL);
            ngood += status == B2C_OK;
            nbad += status == B2C_E_CORRUPT;
        }
    }
    for (int round = 0; round < 20000; round++) { /* no stream at all */
        size_t m = (size_t)(harness_random(&r) % 60);
        for (size_t i = 0; i < m; i++) {
            uint64_t x = harness_random(&r);
            bad[i] = (uint8_t)(x >> (x >> 60)); /* small numbers more often */
        }
        b2c_status status = decode(bad, m, (size_t)(harness_random(&r) % 200), NULL);
        ngood += status == B2C_OK;
        nbad += status == B2C_E_CORRUPT;
    }
    CHECK(ngood > 100);
    CHECK(nbad > 1000);
}

int main(void)
{
    codec = b2i_codec_by_id(B2C_CODEC_BLOSCLZ);
    state = b2i_codec_state_new();
    CHECK(codec != NULL && state != NULL);
    test_examples();
    test_malformed();
    test_full_runs();
    test_huge_length();
    test_copies();
    test_texts(); /* its streams, and those of the next, count for the hash, too */
    test_sparse();
    test_round_trips();
    test_low_levels_want_more();
    test_noise_somewhere();
    test_noise_first();
    test_stairs();
    test_regular_end();
    test_cap();
    test_determinism();
    check_long_use(long_use_encode);
    test_mutations();
    b2i_codec_state_free(state);
    return RESULT();
}
