/*
 * test_codecs.c: what holds for every codec: round trips, sizes, dictionaries, determinism, damage.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers that are read or written by codecs have their exact size, so that a memory checker sees
 * every overrun.
 */
#include "harness.h"
#include "alloc.h"
#include "codec.h"
#include "kinds.h"

static const uint8_t ids[] = { B2C_CODEC_BLOSCLZ, B2C_CODEC_LZ4, B2C_CODEC_LZ4HC, B2C_CODEC_ZLIB,
                               B2C_CODEC_ZSTD };
static const int kinds[] = { RANDOM, SHORT_RUNS, PERIODIC, NUMBERS, RECORDS };
enum { NIDS = sizeof ids / sizeof ids[0], NUSED = sizeof kinds / sizeof kinds[0] };

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

/* ---- the table ---- */

static void test_table(void)
{
    static const struct {
        uint8_t id;
        const char *name;
    } names[] = { { 0, "blosclz" },   { 1, "lz4" },        { 2, "lz4hc" },    { 4, "zlib" },
                  { 5, "zstd" },      { 32, "ndlz" },      { 33, "zfp_acc" }, { 34, "zfp_prec" },
                  { 35, "zfp_rate" }, { 36, "openhtj2k" }, { 37, "grok" },    { 38, "openzl" },
                  { 39, "j2k" },      { 40, "htj2k" } };
    size_t nnames = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = b2c_codec_name(names[i].id);
        CHECK(name != NULL && strcmp(name, names[i].name) == 0);
    }
    for (int id = 0; id < 256; id++) {
        const b2i_codec *codec = b2i_codec_by_id((uint8_t)id);
        nnames += b2c_codec_name((uint8_t)id) != NULL;
        CHECK_EQ(b2c_codec_available((uint8_t)id), codec != NULL);
        CHECK((b2c_codec_library((uint8_t)id) != NULL) == (codec != NULL));
        CHECK((b2c_codec_library_version((uint8_t)id) != NULL) == (codec != NULL));
        if (codec != NULL) {
            CHECK_EQ(codec->id, id);
            CHECK(strcmp(codec->name, b2c_codec_name((uint8_t)id)) == 0);
        }
    }
    CHECK_EQ(nnames, sizeof names / sizeof names[0]);
    CHECK(b2c_codec_available(B2C_CODEC_BLOSCLZ));
}

/* ---- round trips, and sizes that are not the right one ---- */

static b2c_status decode(const b2i_codec *codec, const b2i_dict *dict, const uint8_t *stream,
                         size_t len, size_t n, const uint8_t *expected)
{
    uint8_t *in = copy_of(stream, len), *out = room_of(n);
    b2c_status status = codec->decode(state, dict, b2i_span_of(in, len), out, n);
    if (status == B2C_OK && expected != NULL) {
        CHECK(memcmp(out, expected, n) == 0);
    }
    free(in);
    free(out);
    return status;
}

/* Returns the compressed size, 0 when the codec does not make it smaller. */
static size_t round_trip(const b2i_codec *codec, int clevel, const b2i_dict *dict,
                         const uint8_t *data, size_t n)
{
    uint8_t *src = copy_of(data, n), *dst = room_of(n);
    size_t len = n + 1;
    CHECK_EQ(codec->encode(state, clevel, dict, src, n, dst, n, &len), B2C_OK);
    CHECK(len <= n);
    if (len > 0) {
        CHECK_EQ(decode(codec, dict, dst, len, n, data), B2C_OK);
        CHECK_EQ(decode(codec, dict, dst, len, n + 1, NULL), B2C_E_CORRUPT);
        CHECK_EQ(decode(codec, dict, dst, len, n - 1, NULL), B2C_E_CORRUPT);
        CHECK_EQ(decode(codec, dict, dst, len - 1, n, NULL), B2C_E_CORRUPT);
        CHECK_EQ(decode(codec, dict, dst, 0, n, NULL), B2C_E_CORRUPT);
        uint8_t *longer = room_of(len + 1);
        memcpy(longer, dst, len);
        longer[len] = 0;
        CHECK_EQ(decode(codec, dict, longer, len + 1, n, NULL), B2C_E_CORRUPT);
        free(longer);
    }
    free(src);
    free(dst);
    return len;
}

/* Random bytes; and short numbers that are not shuffled, where BloscLZ wants to gain much. */
static bool stays_raw(const b2i_codec *codec, int clevel, int kind, size_t n)
{
    return kinds[kind] == RANDOM ||
           (codec->id == B2C_CODEC_BLOSCLZ && clevel == 1 && kinds[kind] == NUMBERS && n < 20000);
}

static void test_round_trips(const b2i_codec *codec)
{
    static const size_t sizes[] = { 1,    2,     3,     15,    16,    17,     31,
                                    63,   64,    65,    100,   255,   256,    1000,
                                    4096, 10007, 65535, 65536, 65537, 131072, 300001 };
    enum { MAX = 300001 };
    uint8_t *data = room_of(MAX);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int kind = 0; kind < NUSED; kind++) {
            generate(data, sizes[s], kinds[kind], s);
            for (int clevel = 1; clevel <= 9; clevel += sizes[s] > 70000 ? 4 : 1) {
                size_t len = round_trip(codec, clevel, NULL, data, sizes[s]);
                if (sizes[s] >= 4096) {
                    CHECK((len == 0) == stays_raw(codec, clevel, kind, sizes[s]));
                }
            }
        }
    }
    free(data);
}

/* Streams that end with one long match, with what is 1 to 70 bytes and more before it. */
static void test_long_end(const b2i_codec *codec)
{
    enum { MAX = 5000 };
    uint8_t *data = room_of(MAX);
    uint64_t r = 9;
    for (size_t period = 1; period <= 1400; period += period < 70 ? 1 : 133) {
        for (size_t n = period + 500; n <= MAX; n += n < period + 530 ? 1 : 1111) {
            end_with_match(data, n, period, n - period, period, &r);
            CHECK(round_trip(codec, n % 2 == 0 ? 1 : 9, NULL, data, n) > 0);
        }
    }
    free(data);
}

/* Runs of all lengths with one to four other bytes between them, and up to 70 behind the last. */
static void test_runs(const b2i_codec *codec)
{
    enum { LONGEST = 700, MAX = LONGEST * (LONGEST + 8) / 2, MAX_REST = 70 };
    uint8_t *data = room_of(MAX + MAX_REST);
    uint64_t r = 4;
    size_t n = 0;
    for (size_t len = 1; len <= LONGEST; len++) {
        for (size_t i = 0; i <= len % 4; i++) {
            data[n++] = (uint8_t)(harness_random(&r) >> 20);
        }
        memset(data + n, data[n - 1], len);
        n += len;
    }
    for (size_t i = 0; i < MAX_REST; i++) {
        data[n + i] = (uint8_t)(harness_random(&r) >> 20);
    }
    for (size_t rest = 0; rest <= MAX_REST; rest++) {
        CHECK(round_trip(codec, 1, NULL, data + n - 4000, 4000 + rest) > 0);
        CHECK(round_trip(codec, 5, NULL, data, 9000 + 100 * rest) > 0);
    }
    CHECK(round_trip(codec, 1, NULL, data, n + MAX_REST) > 0);
    CHECK(round_trip(codec, 9, NULL, data, n) > 0);
    free(data);
}

/*
 * What begins with noise, as bitshuffled data do, is no larger for it than the noise is, also where
 * something is repeated by chance.
 */
static void test_hard_start(const b2i_codec *codec)
{
    enum { REST = 30000, MAX = 200000 };
    uint8_t *data = room_of(MAX + REST);
    for (size_t hard = 1000; hard <= MAX; hard += hard < 9000 ? 1990 : 21111) {
        generate(data, hard, RANDOM, hard);
        generate(data + hard, REST, NUMBERS, hard);
        memcpy(data + hard / 2, data, hard / 19 % 16);
        for (int clevel = 3; clevel <= 9; clevel += 2) {
            size_t rest = round_trip(codec, clevel, NULL, data + hard, REST);
            size_t len = round_trip(codec, clevel, NULL, data, hard + REST);
            len = len > 0 ? len : hard + REST; /* it may do too little */
            CHECK(rest > 0 && len <= hard + hard / 200 + rest + REST / 50);
        }
    }
    free(data);
}

/* Never beyond cap; whatever fits is complete. */
static void test_cap(const b2i_codec *codec)
{
    enum { N = 500 };
    uint8_t data[N];
    for (int kind = 0; kind < NUSED; kind++) {
        for (int clevel = 1; clevel <= 9; clevel += 4) {
            generate(data, N, kinds[kind], 9);
            for (size_t cap = 0; cap < N + 100; cap += 1 + cap / 200 * 7) {
                uint8_t *dst = room_of(cap);
                size_t len = N + 101;
                CHECK_EQ(codec->encode(state, clevel, NULL, data, N, dst, cap, &len), B2C_OK);
                CHECK(len <= cap);
                if (len > 0) {
                    CHECK_EQ(decode(codec, NULL, dst, len, N, data), B2C_OK);
                }
                free(dst);
            }
        }
    }
}

/* Noise that comes again is not passed over, also where something else was repeated before. */
static void test_noise_that_recurs(const b2i_codec *codec)
{
    enum { NOISE = 12000, BETWEEN = 4000, N = 3 * (NOISE + BETWEEN) };
    uint8_t *data = room_of(N);
    for (size_t stray = 0; stray <= 12; stray += 12) {
        generate(data, N, 2, 1); /* few values */
        generate(data, NOISE, RANDOM, 2);
        memcpy(data + NOISE / 3, data, stray);
        memcpy(data + NOISE + BETWEEN, data, NOISE);
        for (int clevel = 3; clevel <= 9; clevel += 2) {
            size_t len = round_trip(codec, clevel, NULL, data, N);
            CHECK(len > 0 && len < NOISE + (N - 2 * NOISE) / 5 * 2);
        }
    }
    free(data);
}

/* Planes of noise are stored without a search, but not where codes or repetitions save something.
 */
static void test_planes_of_noise(const b2i_codec *codec)
{
    enum { MAX = 45000, MIN = 4096 };
    uint8_t *data = room_of(MAX);
    b2i_codec_state_tell(state, B2I_MADE_BYTES);
    for (size_t n = MIN; n <= MAX; n += n / 2) {
        for (int clevel = 1; clevel <= 7; clevel += 2) {
            generate(data, n, RANDOM, n);
            CHECK_EQ(round_trip(codec, clevel, NULL, data, n), 0);
            for (size_t i = 0; i < n; i++) { /* 7.5 bits */
                data[i] = data[i] < 128 ? data[i] : data[i] | 1;
            }
            const size_t by_codes = round_trip(codec, clevel, NULL, data, n);
            CHECK(by_codes > 0 && by_codes < n - n / 50);
            for (size_t row = 64; row <= 512; row += row) { /* of which a quarter is noise */
                generate(data, n, RANDOM, n);
                for (size_t i = 0; i < n; i++) {
                    data[i] = i % row < row / 4 ? data[i] : data[i] & 15;
                }
                const size_t len = round_trip(codec, clevel, NULL, data, n);
                CHECK(len > 0 && len < n - n / 8);
            }
            for (size_t period = 200; period <= n / 2; period += period) {
                generate(data, period, RANDOM, n);
                for (size_t i = period; i < n; i++) {
                    data[i] = data[i - period];
                }
                const size_t len = round_trip(codec, clevel, NULL, data, n);
                CHECK(len > 0 && len < period + period / 50 + 100);
            }
            generate(data, n, RANDOM, n);
            const size_t part = n / 4, at = n / 3;
            memcpy(data + at + (part | 15) + 9, data + at, part); /* no multiple of 16 away */
            const size_t rest = round_trip(codec, clevel, NULL, data, n);
            CHECK(rest > 0 && rest < n - part + part / 8 + 100);
            for (size_t step = 1; step < 256; step += 50) {
                for (size_t i = 0; i < n; i++) {
                    data[i] = (uint8_t)(i * step + i / 600);
                }
                const size_t len = round_trip(codec, clevel, NULL, data, n);
                CHECK(len > 0 && len < n / 3);
            }
        }
    }
    b2i_codec_state_tell(state, B2I_MADE_ITEMS);
    free(data);
}

/* What fits is the same stream in any room, also where there is hardly more than it takes. */
static void test_room(const b2i_codec *codec)
{
    enum { MAX = 15000, PLENTY = 2 * MAX, NEAR = 24 };
    uint8_t *data = room_of(MAX), *stream = room_of(PLENTY), *dst = room_of(PLENTY);
    uint64_t r = 5;
    for (size_t n = 24; n < MAX; n += 1 + n / 24) {
        const uint32_t range = 256 - (uint32_t)(harness_random(&r) % 96); /* it hardly shrinks */
        /* or next to nothing is left, for which ZLIB tries two ways where there is room for both */
        const bool is_sparse = n % 2 == 0 && codec->id != B2C_CODEC_ZLIB;
        const uint64_t rarity = is_sparse ? 60 + n % 200 : 1;
        for (size_t i = 0; i < n; i++) {
            const uint8_t x = (uint8_t)((harness_random(&r) >> 32) % range);
            data[i] = harness_random(&r) % rarity == 0 ? x : 0;
        }
        generate(data, is_sparse ? 0 : n / 16, NUMBERS, n);
        for (int clevel = n < 3000 ? 1 : 5; clevel <= (n < 3000 ? 9 : 5); clevel += 4) {
            size_t len, again;
            CHECK_EQ(codec->encode(state, clevel, NULL, data, n, stream, PLENTY, &len), B2C_OK);
            for (size_t cap = len - (len > 0); len > 0 && cap <= len + NEAR; cap++) {
                CHECK_EQ(codec->encode(state, clevel, NULL, data, n, dst, cap, &again), B2C_OK);
                CHECK(again == len || (again == 0 && cap < len + NEAR));
                CHECK(again == 0 || (again <= cap && memcmp(dst, stream, len) == 0));
            }
        }
    }
    free(data);
    free(stream);
    free(dst);
}

/* The highest level takes what is smaller of two ways to encode data that shrink much. */
static void test_highest_level(const b2i_codec *codec)
{
    enum { N = 65536 };
    uint8_t *data = room_of(N);
    for (int kind = 0; kind < 2; kind++) { /* counters, which a library codes better; few values */
        uint64_t r = 3;
        for (size_t i = 0; i < N; i += 4) {
            uint32_t sparse = harness_random(&r) >> 20 & 63;
            b2i_st32le(data + i, kind == 0     ? (uint32_t)(i / 4 % 1000)
                                 : sparse == 0 ? (uint32_t)(harness_random(&r) >> 24)
                                               : 0);
        }
        size_t high = round_trip(codec, 9, NULL, data, N);
        size_t lower = round_trip(codec, 8, NULL, data, N);
        /* LZ4 has one: its highest level never strides, which some few data gain by */
        const size_t chance = codec->id == B2C_CODEC_LZ4 ? lower / 200 : 0;
        CHECK(high > 0 && high <= lower + chance);
        CHECK(kind == 1 || codec->id != B2C_CODEC_ZLIB || high < lower - lower / 8);
    }
    free(data);
}

/* Short streams of ZSTD get as much effort as pays: at levels 5 and 9 that of 4 and 8, unless they
 * shrink to a sixth at once. */
static void test_effort(const b2i_codec *codec)
{
    enum { N = 16000, LETTERS = 2, RARELY = 1 };
    uint8_t *data = room_of(N);
    generate(data, N, LETTERS, 3);
    CHECK(round_trip(codec, 9, NULL, data, N) == round_trip(codec, 8, NULL, data, N));
    CHECK(round_trip(codec, 5, NULL, data, N) == round_trip(codec, 4, NULL, data, N));
    generate(data, N, RARELY, 3);
    CHECK(round_trip(codec, 9, NULL, data, N) < round_trip(codec, 8, NULL, data, N));
    free(data);
}

/*
 * Where ZSTD finds no matches but by chance, level 5 does as little as the lowest; with few values
 * it finds cheap matches, and so does the highest unless there are many.
 */
static void test_no_effort(const b2i_codec *codec)
{
    enum { MAX = 100000 };
    uint8_t *data = room_of(MAX);
    uint64_t seed = 1;
    for (size_t n = 20000; n <= MAX; n *= 2) {
        for (int kind = 0; kind < NVALUES; kind++) {
            generate_values(data, n, kind, 0, &seed);
            const size_t lowest = round_trip(codec, 1, NULL, data, n);
            const size_t middle = round_trip(codec, 5, NULL, data, n);
            const size_t highest = round_trip(codec, 9, NULL, data, n);
            CHECK((middle == lowest) == (kind != FEW_VALUES));
            CHECK((highest == lowest) == (kind == MANY_VALUES));
        }
    }
    free(data);
}

/*
 * ZSTD finds the longest matches of streams of runs, where rows of candidates miss them, with
 * parameters of its own: as the highest level does for short streams, by the same state.
 */
static void test_long_runs(const b2i_codec *codec)
{
    enum { N = 32768, SHORT = 4000 };
    static const struct {
        int clevel;
        size_t n;
    } uses[] = { { 5, N }, { B2I_CLEVEL_OF_PLANE, SHORT }, { 4, N }, { B2I_CLEVEL_OF_PLANE, N } };
    uint8_t *data = room_of(N), *a = room_of(N), *b = room_of(N);
    b2i_codec_state *used = b2i_codec_state_new();
    for (size_t i = 0; i < N; i++) { /* the second byte of numbers that count up to 4096 */
        data[i] = (uint8_t)(i >> 8 & 15);
    }
    for (size_t i = 0; i < 2 * sizeof uses / sizeof uses[0]; i++) {
        const int clevel = uses[i % 4].clevel;
        const size_t n = uses[i % 4].n;
        size_t la, lb;
        b2i_codec_state *fresh = b2i_codec_state_new();
        CHECK_EQ(codec->encode(fresh, clevel, NULL, data, n, a, n, &la), B2C_OK);
        CHECK_EQ(codec->encode(used, clevel, NULL, data, n, b, n, &lb), B2C_OK);
        CHECK(la > 0 && la < 100);
        CHECK(la == lb && memcmp(a, b, la) == 0);
        CHECK_EQ(decode(codec, NULL, a, la, n, data), B2C_OK);
        b2i_codec_state_free(fresh);
    }
    b2i_codec_state_free(used);
    free(data);
    free(a);
    free(b);
}

/* The same bytes whatever the state was used for. */
static void test_determinism(const b2i_codec *codec, const b2i_dict *dict)
{
    enum { N = 40000 };
    uint8_t *data = room_of(N), *a = room_of(N), *b = room_of(N), *other = room_of(N);
    generate(other, N, RECORDS, 77);
    for (int clevel = 1; clevel <= 9; clevel++) {
        for (int kind = 1; kind < NUSED; kind++) {
            size_t n = kind % 2 == 0 ? N : N / 7, la = 0, lb = 0, unused = 0;
            b2i_codec_state *fresh = b2i_codec_state_new();
            generate(data, n, kinds[kind], 5);
            CHECK_EQ(codec->encode(fresh, clevel, dict, data, n, a, n, &la), B2C_OK);
            CHECK((la == 0) == stays_raw(codec, clevel, kind, n));
            /* other sizes, levels, failures and streams in between */
            CHECK_EQ(codec->encode(fresh, 10 - clevel, NULL, other, N, b, N, &unused), B2C_OK);
            CHECK_EQ(codec->encode(fresh, clevel, NULL, data, n / 2, b, 3, &unused), B2C_OK);
            (void)codec->decode(fresh, NULL, b2i_span_of(other, 100), b, N);
            CHECK_EQ(codec->encode(fresh, clevel, dict, data, n, b, n, &lb), B2C_OK);
            CHECK_EQ(la, lb);
            CHECK(memcmp(a, b, la) == 0);
            if (la > 0) {
                CHECK_EQ(decode(codec, dict, a, la, n, data), B2C_OK);
            }
            b2i_codec_state_free(fresh);
        }
    }
    free(data);
    free(other);
    free(a);
    free(b);
}

/* Damaged streams: an error or other bytes, never an access out of bounds. */
static void test_mutations(const b2i_codec *codec, const b2i_dict *dict)
{
    enum { N = 2000 };
    uint8_t data[N], stream[N], bad[N];
    uint64_t r = 3;
    size_t nbad = 0;
    for (int round = 0; round < 1500; round++) {
        size_t n = 30 + (size_t)(harness_random(&r) % (N - 30)), len = 0;
        generate(data, n, kinds[1 + round % (NUSED - 1)], (uint64_t)round);
        CHECK_EQ(codec->encode(state, 1 + round % 6, dict, data, n, stream, n, &len), B2C_OK);
        for (int k = 0; k < 4 && len > 0; k++) {
            memcpy(bad, stream, len);
            for (uint64_t nchanges = 1 + harness_random(&r) % 4; nchanges > 0; nchanges--) {
                size_t at = (size_t)(harness_random(&r) % (k == 0 && len > 12 ? 12 : len));
                bad[at] = (uint8_t)harness_random(&r);
            }
            size_t m = k == 3 ? (size_t)(harness_random(&r) % len) : len;
            size_t want = k == 2 ? n - (size_t)(harness_random(&r) % 20) : n;
            b2c_status status = decode(codec, dict, bad, m, want, NULL);
            CHECK(status == B2C_OK || status == B2C_E_CORRUPT);
            nbad += status == B2C_E_CORRUPT;
        }
    }
    CHECK(nbad > 1000);
}

/* ---- dictionaries ---- */

enum { DICT_DATA = 200000, DICT_MAX = 8192, DICT_BLOCK = 512 };

/* Trains on records; returns the dictionary's bytes, to be freed. */
static uint8_t *train(const b2i_codec *codec, const uint8_t *data, size_t *len)
{
    uint8_t *bytes = room_of(DICT_MAX), *again = room_of(DICT_MAX);
    size_t again_len = 0;
    b2i_span src = b2i_span_of(data, DICT_DATA);
    CHECK_EQ(b2i_dict_train(codec, src, DICT_BLOCK, bytes, DICT_MAX, len), B2C_OK);
    CHECK(*len > 0 && *len <= DICT_MAX);
    CHECK_EQ(b2i_dict_train(codec, src, DICT_BLOCK, again, DICT_MAX, &again_len), B2C_OK);
    CHECK_EQ(*len, again_len);
    CHECK(memcmp(bytes, again, again_len) == 0);
    free(again);
    return bytes;
}

static void check_dict(const b2i_codec *codec, b2i_span bytes, int clevel, const uint8_t *data)
{
    b2i_dict *dict = NULL, *reader = NULL;
    size_t plain = 0, with = 0;
    uint8_t out[DICT_BLOCK], back[DICT_BLOCK];
    CHECK_EQ(b2i_dict_new(codec, bytes, clevel, &dict), B2C_OK);
    CHECK_EQ(b2i_dict_new(codec, bytes, 0, &reader), B2C_OK);
    for (size_t at = 0; at + DICT_BLOCK <= 40 * DICT_BLOCK; at += DICT_BLOCK) {
        size_t a = round_trip(codec, clevel, NULL, data + at, DICT_BLOCK);
        size_t b = round_trip(codec, clevel, dict, data + at, DICT_BLOCK);
        plain += a == 0 ? DICT_BLOCK : a;
        with += b == 0 ? DICT_BLOCK : b;
        size_t len = 0;
        CHECK_EQ(codec->encode(state, clevel, dict, data + at, DICT_BLOCK, out, DICT_BLOCK, &len),
                 B2C_OK);
        CHECK(len > 0);
        /* a dictionary made for reading only, and none */
        CHECK_EQ(decode(codec, reader, out, len, DICT_BLOCK, data + at), B2C_OK);
        b2c_status none = codec->decode(state, NULL, b2i_span_of(out, len), back, DICT_BLOCK);
        CHECK(none == B2C_E_CORRUPT || (none == B2C_OK && memcmp(back, data + at, 512) == 0));
    }
    CHECK(with < plain - plain / 20);
    if (clevel == 5) {
        test_determinism(codec, dict);
        test_mutations(codec, dict);
    }
    b2i_dict_free(dict);
    b2i_dict_free(reader);
}

static void test_dict(const b2i_codec *codec)
{
    uint8_t *data = room_of(DICT_DATA), small[DICT_MAX];
    size_t len = 99;
    b2i_dict *dict = NULL;
    generate(data, DICT_DATA, RECORDS, 1);
    for (size_t i = 0; i + 40 < DICT_DATA; i += 32) { /* more to learn than one record */
        for (size_t k = 12; k < 16; k++) {
            data[i + k] = (uint8_t)('a' + (i / 32 * 7 + k * (i / 32 % 5)) % 26);
        }
    }
    if (!codec->has_dict) {
        b2i_span src = b2i_span_of(data, DICT_DATA);
        CHECK_EQ(b2i_dict_train(codec, src, DICT_BLOCK, small, DICT_MAX, &len), B2C_OK);
        CHECK_EQ(len, 0);
        CHECK_EQ(b2i_dict_new(codec, src, 5, &dict), B2C_E_CORRUPT);
        free(data);
        return;
    }
    uint8_t *bytes = train(codec, data, &len);
    CHECK((b2i_ld32le(bytes) == 0xEC30A437) == (codec->id == B2C_CODEC_ZSTD));
    for (int clevel = 1; clevel <= 9; clevel += 2) {
        check_dict(codec, b2i_span_of(bytes, len), clevel, data);
        check_dict(codec, b2i_span_of(data + 7, DICT_MAX), clevel, data); /* raw content */
    }
    /* sizes at the edges */
    for (size_t n = 1; n < 400; n++) {
        size_t room = n % 32 == 0 ? 256 : n;
        CHECK_EQ(b2i_dict_train(codec, b2i_span_of(data, n), n, small, room, &len), B2C_OK);
        CHECK(len <= room);
        CHECK_EQ(b2i_dict_new(codec, b2i_span_of(data, n), 3, &dict), B2C_OK);
        round_trip(codec, 3, dict, data + 1000, 600);
        b2i_dict_free(dict);
    }
    CHECK_EQ(b2i_dict_new(codec, b2i_span_of(data, 0), 5, &dict), B2C_E_CORRUPT);
    CHECK_EQ(b2i_dict_new(codec, b2i_span_of(data, 131072), 5, &dict), B2C_OK); /* old ones */
    round_trip(codec, 5, dict, data + 150000, 20000);
    b2i_dict_free(dict);
    b2i_dict_free(NULL);
    free(bytes);
    free(data);
}

/* A dictionary with the magic number and nonsense behind it; damaged ones. */
static void test_bad_dicts(void)
{
    const b2i_codec *codec = b2i_codec_by_id(B2C_CODEC_ZSTD);
    if (codec == NULL) {
        return;
    }
    uint8_t *data = room_of(DICT_DATA), magic[200];
    size_t len = 0;
    uint64_t r = 99;
    b2i_dict *dict = NULL;
    generate(data, DICT_DATA, RECORDS, 1);
    memset(magic, 0xff, sizeof magic);
    b2i_st32le(magic, 0xEC30A437);
    for (int clevel = 0; clevel <= 5; clevel += 5) {
        b2i_span nonsense = b2i_span_of(magic, sizeof magic);
        CHECK_EQ(b2i_dict_new(codec, nonsense, clevel, &dict), B2C_E_CORRUPT);
    }
    uint8_t *bytes = train(codec, data, &len);
    for (int round = 0; round < 300; round++) {
        uint8_t *bad = copy_of(bytes, len);
        bad[4 + harness_random(&r) % 120] ^= (uint8_t)(1 + harness_random(&r) % 255);
        size_t m = round % 3 == 0 ? 8 + (size_t)(harness_random(&r) % 150) : len;
        b2c_status status = b2i_dict_new(codec, b2i_span_of(bad, m), 0, &dict);
        CHECK(status == B2C_OK || status == B2C_E_CORRUPT);
        if (status == B2C_OK) {
            uint8_t out[600];
            (void)codec->decode(state, dict, b2i_span_of(data, 300), out, sizeof out);
            b2i_dict_free(dict);
        }
        free(bad);
    }
    free(bytes);
    free(data);
}

/* ---- particular streams, all of "abcdefgh" x 12 ---- */

static void test_samples(void)
{
    static const uint8_t zlib[] = { 0x78, 0x5e, 0x4b, 0x4c, 0x4a, 0x4e, 0x49, 0x4d, 0x4b, 0xcf,
                                    0x48, 0xa4, 0x11, 0x0d, 0x00, 0x22, 0xa9, 0x25, 0xb1 };
    static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x60, 0x7d, 0x00,
                                    0x00, 0x40, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66,
                                    0x67, 0x68, 0x01, 0x00, 0xb5, 0xa9, 0x70, 0x01 };
    static const uint8_t lz4[] = { 0x8f, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
                                   0x08, 0x00, 0x40, 0x50, 0x64, 0x65, 0x66, 0x67, 0x68 };
    static const struct {
        uint8_t id;
        const uint8_t *p;
        size_t n;
    } samples[] = { { B2C_CODEC_ZLIB, zlib, sizeof zlib },
                    { B2C_CODEC_ZSTD, zstd, sizeof zstd },
                    { B2C_CODEC_LZ4HC, lz4, sizeof lz4 } };
    uint8_t text[96];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (uint8_t)('a' + i % 8);
    }
    for (size_t i = 0; i < 3; i++) {
        const b2i_codec *codec = b2i_codec_by_id(samples[i].id);
        if (codec != NULL) {
            CHECK_EQ(decode(codec, NULL, samples[i].p, samples[i].n, 96, text), B2C_OK);
        }
    }
    const b2i_codec *codec = b2i_codec_by_id(B2C_CODEC_ZLIB);
    if (codec != NULL) {
        uint8_t bad[sizeof zlib];
        memcpy(bad, zlib, sizeof zlib);
        bad[sizeof zlib - 1] ^= 1; /* Adler-32 */
        CHECK_EQ(decode(codec, NULL, bad, sizeof bad, 96, NULL), B2C_E_CORRUPT);
    }
    codec = b2i_codec_by_id(B2C_CODEC_ZSTD);
    if (codec != NULL) {
        static const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0 };
        static const uint8_t empty[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0 };
        uint8_t two[sizeof zstd * 2];
        memcpy(two, skippable, sizeof skippable);
        memcpy(two + sizeof skippable, zstd, sizeof zstd);
        CHECK_EQ(decode(codec, NULL, two, sizeof skippable + sizeof zstd, 96, NULL), B2C_E_CORRUPT);
        memcpy(two, zstd, sizeof zstd);
        memcpy(two + sizeof zstd, skippable, sizeof skippable);
        CHECK_EQ(decode(codec, NULL, two, sizeof zstd + sizeof skippable, 96, NULL), B2C_E_CORRUPT);
        memcpy(two + sizeof zstd, empty, sizeof empty);
        CHECK_EQ(decode(codec, NULL, two, sizeof zstd + sizeof empty, 96, NULL), B2C_E_CORRUPT);
        memcpy(two + sizeof zstd, zstd, sizeof zstd);
        CHECK_EQ(decode(codec, NULL, two, sizeof two, 192, NULL), B2C_E_CORRUPT);
    }
}

#ifdef B2I_FAIL_ALLOC
/* Every allocation fails once: memory errors only, and the state is usable afterwards. */
static void test_no_memory(const b2i_codec *codec)
{
    enum { N = 20000 };
    uint8_t *data = room_of(N), *out = room_of(N), *back = room_of(N), *bytes = room_of(DICT_MAX);
    generate(data, N, RECORDS, 8);
    for (uint64_t n = 1; n < 40; n++) {
        size_t len = 0, dict_len = 0;
        b2i_dict *dict = NULL;
        b2i_alloc_fail_at(n, false);
        b2i_codec_state *s = b2i_codec_state_new();
        if (s != NULL) {
            b2c_status st =
                b2i_dict_train(codec, b2i_span_of(data, N), 500, bytes, DICT_MAX, &dict_len);
            CHECK(st == B2C_OK || (st == B2C_E_MEMORY && dict_len == 0));
            if (dict_len != 0) {
                st = b2i_dict_new(codec, b2i_span_of(bytes, dict_len), 5, &dict);
                CHECK(st == B2C_OK || (st == B2C_E_MEMORY && dict == NULL));
            }
            st = codec->encode(s, 5, dict, data, N, out, N, &len);
            CHECK(st == B2C_OK || st == B2C_E_MEMORY);
            CHECK((st == B2C_OK) == (len != 0));
            if (st == B2C_OK) {
                st = codec->decode(s, dict, b2i_span_of(out, len), back, N);
                CHECK(st == B2C_OK || st == B2C_E_MEMORY);
            }
            b2i_alloc_fail_at(0, false);
            CHECK_EQ(codec->encode(s, 5, dict, data, N, out, N, &len), B2C_OK);
            CHECK_EQ(codec->decode(s, dict, b2i_span_of(out, len), back, N), B2C_OK);
            CHECK(memcmp(data, back, N) == 0);
        }
        b2i_alloc_fail_at(0, false);
        b2i_codec_state_free(s);
        b2i_dict_free(dict);
    }
    free(data);
    free(out);
    free(back);
    free(bytes);
}
#endif

int main(void)
{
    state = b2i_codec_state_new();
    CHECK(state != NULL);
    test_table();
    test_samples();
    test_bad_dicts();
    for (int i = 0; i < NIDS; i++) {
        const b2i_codec *codec = b2i_codec_by_id(ids[i]);
        if (codec == NULL) {
            continue; /* not in this build */
        }
        test_round_trips(codec);
        if (codec->id == B2C_CODEC_LZ4HC || codec->id == B2C_CODEC_ZLIB) {
            test_hard_start(codec);
            test_noise_that_recurs(codec);
        }
        test_cap(codec);
        test_room(codec);
        test_highest_level(codec);
        if (codec->id == B2C_CODEC_ZSTD) {
            test_long_end(codec);
            test_runs(codec);
            test_effort(codec);
            test_no_effort(codec);
            test_long_runs(codec);
            test_planes_of_noise(codec);
        }
        test_determinism(codec, NULL);
        test_mutations(codec, NULL);
        test_dict(codec);
#ifdef B2I_FAIL_ALLOC
        test_no_memory(codec);
#endif
    }
    b2i_codec_state_free(state);
    b2i_codec_state_free(NULL);
    return RESULT();
}
