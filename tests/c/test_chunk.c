/*
 * test_chunk.c: chunks: worked examples, round trips, threads, damage.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "blosc2c.h"
#include "harness.h"
#include "alloc.h"
#include "bytes.h"
#include "chunk_enc.h"

static b2c_ctx *ctx, *parallel;

/* "05 01 | ff" to bytes; returns their number. */
static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (const char *p = hex; *p != '\0';) {
        unsigned v;
        int used;
        if (*p == ' ' || *p == '|') {
            p++;
        } else if (sscanf(p, "%2x%n", &v, &used) == 1) {
            out[n++] = (uint8_t)v;
            p += used;
        }
    }
    return n;
}

static void fill(uint8_t *p, size_t n, int kind)
{
    uint64_t seed = 88172645463325252u + (uint64_t)kind;
    for (size_t i = 0; i < n; i++) {
        uint32_t item = (uint32_t)(i / 4);
        switch (kind) {
        case 0: /* a ramp of 4-byte integers */
            p[i] = (uint8_t)(item >> 8 * (i % 4));
            break;
        case 1: /* noise */
            p[i] = (uint8_t)harness_random(&seed);
            break;
        case 2: /* zeros */
            p[i] = 0;
            break;
        case 3: /* one repeated item of 4 bytes */
            p[i] = (uint8_t)(1 + i % 4);
            break;
        default: /* noise in the first half, text in the second */
            p[i] = i < n / 2 ? (uint8_t)harness_random(&seed) : (uint8_t) "blosc2c "[i % 8];
        }
    }
}

static void test_worked_examples(void)
{
    static uint8_t chunk[256], out[4096];
    size_t n = from_hex("05 01 05 04 a0 0f 00 00 00 04 00 00 8b 00 00 00"
                        "00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00"
                        "30 00 00 00 43 00 00 00 56 00 00 00 69 00 00 00"
                        "00 00 00 00 fd ff ff ff 01 fe ff ff ff 01 ff ff ff ff 01"
                        "00 00 00 00 fd ff ff ff 01 fe ff ff ff 01 ff ff ff ff 01"
                        "00 00 00 00 fd ff ff ff 01 fe ff ff ff 01 ff ff ff ff 01"
                        "1e 00 00 00 23 00 00 00 00 e0 da 03 01 00 03 e0 dd 00 01 03"
                        "02 e0 dd 00 01 02 01 e0 db 00 02 01 01 01",
                        chunk);
    size_t len = 0;
    CHECK_EQ(n, 139);
    CHECK_EQ(b2c_decompress(ctx, chunk, n, out, sizeof out, &len, NULL), B2C_OK);
    CHECK_EQ(len, 4000);
    int wrong = 0;
    for (size_t i = 0; i < 4000; i++) {
        wrong += out[i] != (uint8_t)(0x01020300u >> 8 * (i % 4));
    }
    CHECK_EQ(wrong, 0);

    /* items [990, 995) lie in the short last block */
    CHECK_EQ(b2c_getitem(ctx, chunk, n, 990, 5, out, sizeof out, &len, NULL), B2C_OK);
    CHECK_EQ(len, 20);
    CHECK(memcmp(out, "\0\3\2\1\0\3\2\1", 8) == 0);

    n = from_hex("05 01 05 04 e8 03 00 00 e8 03 00 00 24 00 00 00"
                 "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 30 44 33 22 11",
                 chunk);
    CHECK_EQ(b2c_getitem(ctx, chunk, n, 3, 2, out, sizeof out, &len, NULL), B2C_OK);
    CHECK(len == 8 && memcmp(out, "\x44\x33\x22\x11\x44\x33\x22\x11", 8) == 0);

    n = from_hex("05 01 07 01 05 00 00 00 05 00 00 00 25 00 00 00"
                 "01 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 68 65 6c 6c 6f",
                 chunk);
    CHECK_EQ(b2c_decompress(ctx, chunk, n, out, sizeof out, &len, NULL), B2C_OK);
    CHECK(len == 5 && memcmp(out, "hello", 5) == 0);

    /* a special chunk whose writer left the memcpy flag */
    n = from_hex("05 01 07 05 1e 00 00 00 1e 00 00 00 20 00 00 00"
                 "01 02 00 00 00 00 02 00 00 00 00 00 00 00 00 10",
                 chunk);
    CHECK_EQ(b2c_decompress(ctx, chunk, n, out, sizeof out, &len, NULL), B2C_OK);
    CHECK(len == 30 && out[0] == 0 && out[29] == 0);
}

/* The chunk of len bytes fits in just so many; in less room it fails, and no other one is made. */
static void try_less_room(const b2c_cparams *cp, const uint8_t *src, size_t n, const uint8_t *chunk,
                          size_t len, uint8_t *out)
{
    const size_t rooms[] = { len, len - 1, len - len / 20, len / 2, 31, 0 };
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        size_t got = 0;
        b2c_status st = b2c_compress(ctx, cp, src, n, out, rooms[i], &got, NULL);
        CHECK_EQ(st, rooms[i] >= len ? B2C_OK : B2C_E_OUTPUT_SIZE);
        CHECK(st == B2C_OK ? got == len && memcmp(out, chunk, len) == 0 : got >= len);
    }
}

/* Compresses twice (serially and with the pool), compares the chunks, decodes both ways. */
static void round_trip(const b2c_cparams *cp, const uint8_t *src, size_t n, uint8_t *chunk,
                       uint8_t *chunk2, uint8_t *out)
{
    size_t cap = b2c_compress_bound(n), len = 0, len2 = 0, got = 0;
    b2c_error err = { 0 };
    CHECK_EQ(b2c_compress(ctx, cp, src, n, chunk, cap, &len, &err), B2C_OK);
    CHECK_EQ(b2c_compress(parallel, cp, src, n, chunk2, cap, &len2, &err), B2C_OK);
    CHECK(len == len2 && memcmp(chunk, chunk2, len) == 0);
    CHECK(len <= cap);
    memset(out, 0xAA, n);
    CHECK_EQ(b2c_decompress(parallel, chunk, len, out, n, &got, &err), B2C_OK);
    CHECK(got == n && memcmp(out, src, n) == 0);
    if (n > cp->typesize && cp->typesize <= 255) {
        uint64_t items = n / cp->typesize, first = items / 3, count = (items - first) / 2;
        CHECK_EQ(b2c_getitem(ctx, chunk, len, first, count, out, n, &got, &err), B2C_OK);
        CHECK_EQ(got, count * cp->typesize);
        CHECK(memcmp(out, src + first * cp->typesize, got) == 0);
    }
    CHECK_EQ(b2c_decompress(ctx, chunk, len, out, n - (n > 0), &got, &err),
             n > 0 ? B2C_E_OUTPUT_SIZE : B2C_OK);
    CHECK_EQ(got, n);
    try_less_room(cp, src, n, chunk, len, chunk2);
}

static void test_round_trips(void)
{
    static const size_t sizes[] = { 0, 1, 31, 32, 33, 127, 4000, 65537, 300001 };
    static const uint32_t typesizes[] = { 1, 2, 3, 4, 8, 12, 16, 255, 300 };
    static const uint8_t filters[] = { B2C_FILTER_NONE, B2C_FILTER_SHUFFLE, B2C_FILTER_BITSHUFFLE,
                                       B2C_FILTER_DELTA };
    size_t max = sizes[8];
    uint8_t *src = malloc(max), *chunk = malloc(max + 32), *chunk2 = malloc(max + 32),
            *out = malloc(max);
    uint64_t seed = 42;
    for (int i = 0; i < 1500; i++) {
        b2c_cparams cp;
        b2c_cparams_init(&cp);
        do {
            cp.codec = (uint8_t)(harness_random(&seed) % 6);
        } while (!b2c_codec_available(cp.codec));
        cp.clevel = (uint8_t)(harness_random(&seed) % 8);
        cp.splitmode = (uint8_t)(1 + harness_random(&seed) % 4);
        cp.typesize = typesizes[harness_random(&seed) % 9];
        cp.filters[5] = filters[harness_random(&seed) % 4];
        cp.filters[2] = filters[harness_random(&seed) % 4];
        cp.blocksize =
            harness_random(&seed) % 3 == 0 ? 1 + (uint32_t)(harness_random(&seed) % 9999) : 0;
        cp.use_dict = harness_random(&seed) % 4 == 0 && cp.codec != B2C_CODEC_BLOSCLZ &&
                      cp.codec != B2C_CODEC_ZLIB;
        size_t n = sizes[harness_random(&seed) % 9];
        fill(src, n, (int)(harness_random(&seed) % 5));
        int before = harness_failures;
        round_trip(&cp, src, n, chunk, chunk2, out);
        if (harness_failures != before) {
            fprintf(stderr,
                    "codec %d level %d split %d T %u filters %d %d block %u dict %d n %zu\n",
                    cp.codec, cp.clevel, cp.splitmode, cp.typesize, cp.filters[2], cp.filters[5],
                    cp.blocksize, cp.use_dict, n);
        }
    }
    free(src);
    free(chunk);
    free(chunk2);
    free(out);
}

/* Numbers that a lossy filter makes zeros: known only when they are filtered, in any room. */
static void test_room_of_zeros(void)
{
    enum { N = 4000 };
    uint8_t src[N], chunk[N + 32], out[N + 32];
    size_t len, got;
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_BLOSCLZ; /* in every build */
    cp.typesize = 4;
    cp.filters[4] = B2C_FILTER_TRUNC_PREC;
    cp.filters_meta[4] = 10;
    for (uint32_t i = 0; i < N; i += 4) {
        b2i_st32le(src + i, 1 + i % 99);
    }
    CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
    CHECK_EQ(len, 32);
    try_less_room(&cp, src, N, chunk, len, out);
    size_t n = 0; /* without memory at any point: a failure, or the same chunk */
    for (b2c_status st = B2C_E_MEMORY; st != B2C_OK && n < 1000;) {
        b2c_ctx *fresh = NULL;
        CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &fresh, NULL), B2C_OK);
        b2i_alloc_fail_at(++n, false);
        st = b2c_compress(fresh, &cp, src, N, out, len, &got, NULL);
        b2i_alloc_fail_at(0, false);
        CHECK(st == B2C_E_MEMORY || (st == B2C_OK && got == len));
        b2c_ctx_free(fresh);
    }
    CHECK(n > 1 && n < 1000 && memcmp(chunk, out, len) == 0);
}

/* Chunks so large that the encoder tries levels and splitting on a sample. */
static void test_trials(void)
{
    enum { N = 600000 };
    uint8_t *src = malloc(N), *chunk = malloc(N + 32), *chunk2 = malloc(N + 32), *out = malloc(N);
    uint64_t seed = 7;
    for (size_t i = 0; i < N; i += 4) { /* a noisy plane, one of few values, two of a counter */
        uint64_t r = harness_random(&seed) >> 20;
        b2i_st32le(src + i,
                   (uint32_t)(i << 14) | (uint32_t)(r & 255) | (uint32_t)(r >> 8 & 7) << 8);
    }
    for (int codec = 0; codec < 6; codec++) {
        b2c_cparams cp;
        b2c_cparams_init(&cp);
        cp.codec = (uint8_t)codec;
        cp.typesize = 4;
        cp.clevel = 4;
        if (!b2c_codec_available(cp.codec)) {
            continue;
        }
        for (int filter = 0; filter < 3; filter++) {
            cp.filters[5] = (uint8_t)filter;
            round_trip(&cp, src, N, chunk, chunk2, out);
        }
        /* Without memory at any point: a failure, or the same bytes. */
        size_t len = 0, len2 = 0, n = 0;
        cp.filters[5] = B2C_FILTER_SHUFFLE;
        CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, N + 32, &len, NULL), B2C_OK);
        for (b2c_status st = B2C_E_MEMORY; st != B2C_OK && n < 1000;) {
            b2c_ctx *fresh = NULL;
            CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &fresh, NULL), B2C_OK);
            b2i_alloc_fail_at(++n, false);
            st = b2c_compress(fresh, &cp, src, N, chunk2, N + 32, &len2, NULL);
            b2i_alloc_fail_at(0, false);
            CHECK(st == B2C_E_MEMORY || (st == B2C_OK && len2 == len));
            b2c_ctx_free(fresh);
        }
        CHECK(n > 3 && n < 1000 && memcmp(chunk, chunk2, len) == 0);
    }
    free(src);
    free(chunk);
    free(chunk2);
    free(out);
}

/* Blocks far smaller than the sample: levels that are lowered must do as well for these. */
static void test_trial_of_small_blocks(void)
{
    enum { N = 1 << 20, BLOCK = 16384, ROOM = N + 32 + N / BLOCK * 40 };
    uint8_t *src = malloc(N), *chunk = malloc(ROOM);
    uint64_t seed = 7;
    for (size_t i = 0; i < N; i += 4) { /* a plane of 6 bits is between noise and order */
        uint64_t r = harness_random(&seed) >> 20;
        b2i_st32le(src + i, (uint32_t)(i << 12 & 0xFF000000) | (uint32_t)(r & 0xFFFF) |
                                (uint32_t)(((i >> 7) + (r >> 16 & 15)) & 63) << 16);
    }
    for (int codec = 0; codec < 6; codec++) {
        size_t whole = 0, alone = 0, len;
        b2c_cparams cp;
        b2c_cparams_init(&cp);
        cp.codec = (uint8_t)codec;
        cp.typesize = 4;
        cp.blocksize = BLOCK;
        cp.splitmode = B2C_SPLIT_ALWAYS;
        if (!b2c_codec_available(cp.codec)) {
            continue;
        }
        CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &whole, NULL), B2C_OK);
        for (size_t at = 0; at < N; at += BLOCK) { /* these are too small for a trial */
            CHECK_EQ(b2c_compress(ctx, &cp, src + at, BLOCK, chunk, ROOM, &len, NULL), B2C_OK);
            alone += len - 32;
        }
        CHECK(whole <= alone + alone / 100);
    }
    free(src);
    free(chunk);
}

/* Few items that are not zero: in short streams high levels of ZSTD do worse than the first. */
static void test_trial_of_sparse_data(void)
{
    enum { N = 1 << 20, ROOM = N + 32 };
    uint8_t *src = calloc(1, N), *chunk = malloc(ROOM);
    uint64_t seed = 7;
    for (size_t i = 0; i < N; i += 4) {
        uint64_t r = harness_random(&seed) >> 20;
        b2i_st32le(src + i, r % 100 == 0 ? (uint32_t)(r >> 8) : 0);
    }
    size_t low, high;
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_ZSTD;
    cp.typesize = 4;
    cp.blocksize = 65536;
    if (b2c_codec_available(cp.codec)) {
        cp.clevel = 1;
        CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &low, NULL), B2C_OK);
        cp.clevel = 5;
        CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &high, NULL), B2C_OK);
        CHECK(high <= low);
    }
    free(src);
    free(chunk);
}

/*
 * Short chunks of items that are rarely others than the ones before: where the others differ in all
 * bytes, planes of their own are larger, and else smaller.
 */
static void test_split_of_sparse_data(void)
{
    enum { N = 1 << 16, ROOM = N + 32 };
    static const uint8_t codecs[] = { B2C_CODEC_LZ4HC, B2C_CODEC_ZLIB, B2C_CODEC_ZSTD };
    static const uint32_t masks[] = { UINT32_MAX, 0xFF };
    uint8_t *src = malloc(N), *chunk = malloc(ROOM);
    for (size_t k = 0; k < 2; k++) {
        uint64_t seed = 7;
        for (size_t i = 0; i < N; i += 4) {
            uint64_t r = harness_random(&seed) >> 20;
            b2i_st32le(src + i, 0xABCDEF01 ^ (r % 100 == 0 ? (uint32_t)(r >> 8) & masks[k] : 0));
        }
        for (size_t i = 0; i < sizeof codecs; i++) {
            size_t split = 0, len = 0;
            b2c_cparams cp;
            b2c_cparams_init(&cp);
            cp.codec = codecs[i];
            cp.typesize = 4;
            if (!b2c_codec_available(cp.codec)) {
                continue;
            }
            cp.splitmode = B2C_SPLIT_ALWAYS;
            CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &split, NULL), B2C_OK);
            cp.splitmode = B2C_SPLIT_AUTO;
            CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &len, NULL), B2C_OK);
            CHECK(k == 0 ? len < split : len == split);
        }
    }
    free(src);
    free(chunk);
}

/* A picture, where only matches of four and five bytes from row to row save something. */
static void test_noisy_picture(void)
{
    enum { WIDTH = 2000, N = WIDTH * WIDTH, BLOCK = 131072, ROOM = N + 1024 };
    uint8_t *src = malloc(N), *chunk = malloc(ROOM);
    uint64_t seed = 7;
    for (size_t i = 0; i < N; i++) {
        size_t x = i % WIDTH, y = i / WIDTH, slope = (x < WIDTH / 2 ? x : WIDTH - x) * (y + 1000);
        uint64_t r = harness_random(&seed) >> 20;
        src[i] = (uint8_t)(slope / 20000 + (r & 7) + (r >> 3 & 7));
    }
    size_t len, in_blocks, low;
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_ZSTD;
    cp.typesize = 1;
    memset(cp.filters, 0, sizeof cp.filters);
    if (b2c_codec_available(cp.codec)) {
        CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &len, NULL), B2C_OK);
        cp.blocksize = BLOCK;
        CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &in_blocks, NULL), B2C_OK);
        cp.clevel = 1;
        CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, ROOM, &low, NULL), B2C_OK);
        CHECK(len <= in_blocks && in_blocks < low - low / 16);
    }
    free(src);
    free(chunk);
}

/* A chunk that hardly shrinks is a copy of its source, which is read as fast as memory is. */
static void test_little_gain(void)
{
    enum { N = 1 << 20, FEW = N / 512, MORE = N / 128 };
    static uint8_t src[N], chunk[N + B2C_HEADER_LEN], out[N];
    static const uint8_t codecs[] = { B2C_CODEC_LZ4, B2C_CODEC_LZ4HC, B2C_CODEC_ZSTD };
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.typesize = 4;
    cp.blocksize = 65536;
    fill(src, N, 1);
    for (size_t k = 0; k < sizeof codecs / sizeof codecs[0]; k++) {
        if (!b2c_codec_available(codecs[k])) {
            continue; /* not in this build */
        }
        for (int clevel = 5; clevel <= 9; clevel += 4) {
            cp.codec = codecs[k];
            cp.clevel = (uint8_t)clevel;
            memset(src, 0, MORE);
            size_t len = 0;
            CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
            CHECK(len < N - MORE / 2);
            fill(src, N, 1);
            memset(src, 0, FEW);
            CHECK_EQ(b2c_compress(ctx, &cp, src, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
            CHECK_EQ(len < N, clevel == 9); /* where the ratio was asked for */
            CHECK_EQ(b2c_decompress(ctx, chunk, len, out, sizeof out, &len, NULL), B2C_OK);
            CHECK(len == N && memcmp(out, src, N) == 0);
        }
    }
}

/*
 * Memory of users may change during the call.  What counts symbols before it puts them, and knows
 * from that how much room they take, gets a copy.
 */
static void test_changing_source(void)
{
    static const b2i_site alone;
    static uint8_t src[4096];
    b2c_cparams cp;
    b2i_worker *w;
    uint32_t nworkers;
    b2c_cparams_init(&cp);
    memset(cp.filters, 0, sizeof cp.filters);
    fill(src, sizeof src, 0);
    CHECK_EQ(b2i_ctx_prepare(ctx, 1, &nworkers, NULL), B2C_OK);
    CHECK_EQ(b2i_ctx_worker(ctx, 0, &w, NULL), B2C_OK);
    for (cp.codec = B2C_CODEC_BLOSCLZ; cp.codec <= B2C_CODEC_ZSTD; cp.codec++) {
        if (!b2c_codec_available(cp.codec)) {
            continue; /* not in this build; 3 is no codec */
        }
        b2i_plan plan = b2i_plan_init(&cp, &alone, b2i_span_of(src, sizeof src));
        const uint8_t *out = NULL;
        plan.blocksize = sizeof src;
        plan.nblocks = 1;
        CHECK_EQ(b2i_block_filter(w, &plan, 0, &out, NULL), B2C_OK);
        CHECK_EQ(out != src, cp.codec == B2C_CODEC_ZLIB);
        CHECK(memcmp(out, src, sizeof src) == 0);
    }
}

static void test_specials(void)
{
    uint8_t chunk[332], out[64], value[4] = { 1, 2, 3, 4 };
    size_t len = 0, got = 0;
    b2c_cparams cp;
    b2c_error err;
    b2c_cparams_init(&cp);
    cp.typesize = 4;
    cp.codec = B2C_CODEC_BLOSCLZ; /* in every build */
    CHECK_EQ(b2c_special_chunk(&cp, B2C_SPECIAL_VALUE, 20, value, chunk, 64, &len, NULL), B2C_OK);
    CHECK_EQ(len, 36);
    CHECK_EQ(b2c_decompress(ctx, chunk, len, out, 64, &got, NULL), B2C_OK);
    CHECK(got == 20 && memcmp(out + 16, value, 4) == 0);
    /* a block size that the reference takes: a multiple of the value */
    uint8_t *large = calloc(300 + 32, 1);
    cp.typesize = 300;
    CHECK_EQ(b2c_special_chunk(&cp, B2C_SPECIAL_VALUE, 330000, chunk, large, 332, &len, NULL),
             B2C_OK);
    uint32_t blocksize = large[8] | (uint32_t)large[9] << 8 | (uint32_t)large[10] << 16;
    CHECK(blocksize > 300 && blocksize % 300 == 0);
    free(large);
    cp.typesize = 4;
    CHECK_EQ(b2c_special_chunk(&cp, B2C_SPECIAL_NAN, 8, NULL, chunk, 64, &len, NULL), B2C_OK);
    CHECK_EQ(b2c_decompress(ctx, chunk, len, out, 64, &got, NULL), B2C_OK);
    CHECK(memcmp(out + 4, "\0\0\xc0\x7f", 4) == 0);
    CHECK_EQ(b2c_special_chunk(&cp, B2C_SPECIAL_ZERO, 9, NULL, chunk, 64, &len, &err),
             B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "nbytes") == 0);
    CHECK_EQ(b2c_special_chunk(&cp, 5, 8, NULL, chunk, 64, &len, NULL), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_special_chunk(&cp, 1, 8, NULL, chunk, 31, &len, NULL), B2C_E_OUTPUT_SIZE);
    CHECK_EQ(len, 32);
}

/* Every truncation and every changed byte of a chunk gives data or a status, never a crash. */
static void test_damage(void)
{
    static uint8_t src[3000], bad[3100], out[3000];
    uint8_t *chunk = malloc(3100);
    size_t len = 0, got = 0;
    for (int kind = 0; kind < 5; kind++) {
        for (uint8_t codec = 0; codec < 6; codec++) {
            b2c_cparams cp;
            b2c_cparams_init(&cp);
            cp.codec = codec;
            cp.typesize = 4;
            cp.blocksize = 1024;
            if (!b2c_codec_available(codec)) {
                continue;
            }
            fill(src, sizeof src, kind);
            CHECK_EQ(b2c_compress(ctx, &cp, src, sizeof src, chunk, 3100, &len, NULL), B2C_OK);
            for (size_t n = 0; n < len; n++) {
                uint8_t *cut = malloc(n + 1); /* its end is watched by the sanitizer */
                memcpy(cut, chunk, n);
                b2c_error err;
                b2c_status st = b2c_decompress(ctx, cut, n, out, sizeof out, &got, &err);
                CHECK(st == B2C_E_TRUNCATED && err.what != NULL && err.offset == n);
                free(cut);
            }
            for (size_t i = 0; i < len; i++) {
                memcpy(bad, chunk, len);
                bad[i] ^= (uint8_t)(1u << i % 8);
                b2c_error err = { 0 };
                b2c_status st = b2c_decompress(ctx, bad, len, out, sizeof out, &got, &err);
                CHECK(st == B2C_OK || err.what != NULL);
            }
        }
    }
    free(chunk);
}

#ifdef B2I_FAIL_ALLOC
/*
 * A chunk of Blosc1 that is split against its rule: both readings are tried, and missing memory in
 * one of them is no reason to take the other.
 */
static void test_no_memory_for_readings(void)
{
    enum { N = 256, LEN = N / 4, TABLE = 16, DATA = TABLE + 4 };
    uint8_t chunk[DATA + 4 * (4 + LEN)] = { 2, 1, 0, 4 }, back[N];
    b2i_st32le(chunk + 4, N);
    b2i_st32le(chunk + 8, N);
    b2i_st32le(chunk + 12, sizeof chunk);
    b2i_st32le(chunk + TABLE, DATA);
    for (size_t k = 0; k < 4; k++) {
        b2i_st32le(chunk + DATA + k * (4 + LEN), LEN);
        memset(chunk + DATA + k * (4 + LEN) + 4, 0xF0 + (int)k, LEN);
    }
    bool done = false;
    for (uint64_t n = 1; !done && n < 100; n++) {
        size_t len;
        b2i_alloc_fail_at(n, false);
        b2c_status st = b2c_decompress(ctx, chunk, sizeof chunk, back, N, &len, NULL);
        done = b2i_alloc_count() < n;
        b2i_alloc_fail_at(0, false);
        CHECK(st == B2C_OK || st == B2C_E_MEMORY);
        CHECK(st != B2C_OK || (len == N && back[0] == 0xF0 && back[N - 1] == 0xF3));
    }
    CHECK(done);
}
#endif

/* A source whose call number 'fails_at' fails as a function of the user's does. */
typedef struct flaky {
    b2i_span bytes;
    int ncalls, fails_at;
} flaky;

static b2c_status flaky_read(void *arg, uint64_t at, size_t n, b2i_scratch *scratch, b2i_span *out,
                             b2c_error *err)
{
    flaky *f = arg;
    b2i_source below = b2i_source_mem(&f->bytes);
    return f->ncalls++ == f->fails_at ? b2i_fail(err, B2C_E_CALLBACK, at, "the function failed")
                                      : below.read(below.arg, at, n, scratch, out, err);
}

/*
 * Blocks of 1000 bytes, which are no multiple of the type size, and all runs: they decode as well
 * as blocks of 999.  That a block could not be had is no reason to take them for such.
 */
static void test_no_source_for_readings(void)
{
    enum { SIZE = 1000, NBLOCKS = 9, N = NBLOCKS * 999, DATA = 32 + 4 * NBLOCKS, RUN = 5 };
    static uint8_t chunk[DATA + NBLOCKS * RUN] = { 5, 1, 0x15, 3 }, back[N];
    b2i_st32le(chunk + 4, N);
    b2i_st32le(chunk + 8, SIZE);
    b2i_st32le(chunk + 12, sizeof chunk);
    for (uint32_t i = 0; i < NBLOCKS; i++) {
        b2i_st32le(chunk + 32 + 4 * i, DATA + RUN * i);
        b2i_st32le(chunk + DATA + RUN * i, 0 - (i + 1));
        chunk[DATA + RUN * i + 4] = 1;
    }
    flaky f = { .bytes = b2i_span_of(chunk, sizeof chunk) };
    b2i_source source = { flaky_read, &f, sizeof chunk };
    for (bool done = false; !done; f.fails_at++) {
        b2i_chunk c;
        b2c_error err;
        f.ncalls = 0;
        b2c_status st = b2i_chunk_open(&source, NULL, &c, &err);
        done = f.ncalls <= f.fails_at;
        CHECK_EQ(st, done ? B2C_OK : B2C_E_CALLBACK);
        if (st == B2C_OK) {
            CHECK_EQ(c.head.blocksize, SIZE);
            f.ncalls = f.fails_at + 1;
            CHECK_EQ(b2i_chunk_decode(ctx, &c, back, N, &err), B2C_OK);
            CHECK(back[0] == 1 && back[999] == 1 && back[1000] == 2 && back[N - 1] == NBLOCKS);
            b2i_chunk_close(&c);
        }
    }
    CHECK_EQ(f.fails_at, NBLOCKS + 3); /* header, table, blocks, and not at all */
}

static void test_arguments(void)
{
    b2c_cparams cp;
    b2c_error err;
    uint8_t buf[64] = { 0 };
    size_t len;
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_BLOSCLZ;
    CHECK_EQ(b2c_compress(NULL, &cp, buf, 8, buf, 64, &len, NULL), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_compress(ctx, NULL, buf, 8, buf, 64, &len, NULL), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_compress(ctx, &cp, NULL, 8, buf, 64, &len, NULL), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_compress(ctx, &cp, NULL, 0, buf, 64, &len, NULL), B2C_OK);
    CHECK_EQ(b2c_compress(ctx, &cp, buf, 8, NULL, 0, &len, NULL), B2C_E_OUTPUT_SIZE);
    CHECK_EQ(len, 40);
    cp.clevel = 10;
    CHECK_EQ(b2c_compress(ctx, &cp, buf, 8, buf, 64, &len, &err), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "clevel") == 0);
    cp.clevel = 5;
    cp.codec = 77;
    CHECK_EQ(b2c_compress(ctx, &cp, buf, 8, buf, 64, &len, NULL), B2C_E_UNKNOWN_CODEC);
    CHECK_EQ(b2c_decompress(ctx, NULL, 0, buf, 64, &len, NULL), B2C_E_TRUNCATED);
    CHECK_EQ(b2c_ctx_set_nthreads(ctx, 0, NULL), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_ctx_set_nthreads(ctx, 257, NULL), B2C_E_ARGUMENT);

    b2c_limits limits = { .max_chunk_nbytes = 100 };
    CHECK_EQ(b2c_ctx_set_limits(ctx, &limits, NULL), B2C_OK);
    cp.codec = B2C_CODEC_BLOSCLZ;
    CHECK_EQ(b2c_special_chunk(&cp, B2C_SPECIAL_ZERO, 800, NULL, buf, 64, &len, NULL), B2C_OK);
    CHECK_EQ(b2c_decompress(ctx, buf, len, buf, 0, &len, &err), B2C_E_LIMIT);
    CHECK(err.expected == 100 && err.actual == 800 && err.offset == 4);
    CHECK_EQ(b2c_ctx_set_limits(ctx, NULL, NULL), B2C_OK);
}

int main(void)
{
    b2c_pool *pool = NULL;
    CHECK_EQ(b2c_pool_new(3, &pool, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(pool, 3, NULL, &parallel, NULL), B2C_OK);
    test_worked_examples();
    test_round_trips();
    test_room_of_zeros();
    test_trials();
    test_trial_of_small_blocks();
    test_trial_of_sparse_data();
    test_split_of_sparse_data();
    test_noisy_picture();
    test_little_gain();
    test_changing_source();
    test_specials();
    test_damage();
#ifdef B2I_FAIL_ALLOC
    test_no_memory_for_readings();
#endif
    test_no_source_for_readings();
    test_arguments();
    b2c_ctx_free(ctx);
    b2c_ctx_free(parallel);
    b2c_pool_free(pool);
    return RESULT();
}
