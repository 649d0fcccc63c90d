/*
 * test_vlblocks.c: chunks of blocks of variable size: room, failing allocations, damage, threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "alloc.h"
#include "blosc2c.h"

#include <stdbool.h>

enum { NBLOCKS = 200, MAX_LEN = 5000, CAP = NBLOCKS * (MAX_LEN + 8) + 32 };

static uint8_t data[NBLOCKS][MAX_LEN], chunk[CAP], again[CAP], out[CAP];
static const void *blocks[NBLOCKS];
static size_t lens[NBLOCKS];
static size_t total;
static b2c_pool *pool;
static b2c_ctx *serial, *parallel;

static void make_blocks(void)
{
    uint64_t seed = 4242;
    for (size_t i = 0; i < NBLOCKS; i++) {
        lens[i] = 1 + (size_t)(harness_random(&seed) % MAX_LEN);
        blocks[i] = data[i];
        total += lens[i];
        for (size_t k = 0; k < lens[i]; k++) {
            data[i][k] = i % 4 == 0 ? (uint8_t)harness_random(&seed) : (uint8_t)(k * i / 50);
        }
    }
}

static b2c_cparams params(uint8_t codec, bool use_dict)
{
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.codec = codec;
    cp.typesize = 2;
    cp.use_dict = use_dict;
    return cp;
}

static void check_blocks(b2c_ctx *ctx, const uint8_t *c, size_t len)
{
    uint32_t got[NBLOCKS];
    size_t n, at = 0;
    CHECK_EQ(b2c_vlblock_lens(ctx, c, len, got, NBLOCKS, &n, NULL), B2C_OK);
    CHECK_EQ(n, NBLOCKS);
    CHECK_EQ(b2c_decompress(ctx, c, len, out, CAP, &n, NULL), B2C_OK);
    CHECK_EQ(n, total);
    for (size_t i = 0; i < NBLOCKS; i++) {
        CHECK(got[i] == lens[i] && memcmp(out + at, data[i], lens[i]) == 0);
        at += lens[i];
    }
    CHECK_EQ(b2c_vldecompress_block(ctx, c, len, 77, out, CAP, &n, NULL), B2C_OK);
    CHECK(n == lens[77] && memcmp(out, data[77], n) == 0);
}

static void test_round_trip(uint8_t codec, bool use_dict)
{
    size_t len, len2;
    b2c_cparams cp = params(codec, use_dict);
    if (!b2c_codec_available(codec)) {
        return;
    }
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, lens, NBLOCKS, chunk, CAP, &len, NULL), B2C_OK);
    CHECK_EQ(b2c_vlcompress(parallel, &cp, blocks, lens, NBLOCKS, again, CAP, &len2, NULL), B2C_OK);
    CHECK(len == len2 && memcmp(chunk, again, len) == 0);
    check_blocks(serial, chunk, len);
    check_blocks(parallel, chunk, len);
    b2c_chunk_info info;
    CHECK_EQ(b2c_chunk_inspect(chunk, len, &info, NULL), B2C_OK);
    CHECK(info.has_vlblocks && info.nblocks == NBLOCKS && info.nbytes == total);
    CHECK_EQ(info.has_dict, use_dict);
    for (size_t cap = len; cap > len / 3; cap -= len / 50) { /* no other chunk in less room */
        b2c_status st = b2c_vlcompress(serial, &cp, blocks, lens, NBLOCKS, again, cap, &len2, NULL);
        CHECK_EQ(st, cap == len ? B2C_OK : B2C_E_OUTPUT_SIZE);
        CHECK(st == B2C_OK ? memcmp(chunk, again, len) == 0 : len2 >= len);
    }
}

/* Noise, of which chunks with a dictionary are larger: the one without is made in any room. */
static void test_useless_dict(uint8_t codec)
{
    enum { N = 20, LEN = 150000, ROOM = N * (LEN + 8) + 32 };
    uint8_t *noise = malloc((size_t)N * LEN), *made = malloc(ROOM), *same = malloc(ROOM);
    const void *p[N];
    size_t n[N], len, got;
    uint64_t seed = 5;
    b2c_cparams cp = params(codec, true);
    for (size_t i = 0; i < (size_t)N * LEN; i++) {
        noise[i] = i < LEN / 8 ? 7 : (uint8_t)(harness_random(&seed) >> 20);
    }
    for (size_t i = 0; i < N; i++) {
        p[i] = noise + i * LEN;
        n[i] = LEN;
    }
    if (b2c_codec_available(codec)) {
        b2c_chunk_info info;
        CHECK_EQ(b2c_vlcompress(serial, &cp, p, n, N, made, ROOM, &len, NULL), B2C_OK);
        CHECK_EQ(b2c_chunk_inspect(made, len, &info, NULL), B2C_OK);
        CHECK(!info.has_dict && len < ROOM - LEN / 10);
        for (size_t cap = len - 2; cap < ROOM; cap += ROOM / 500) {
            b2c_status st = b2c_vlcompress(serial, &cp, p, n, N, same, cap, &got, NULL);
            CHECK_EQ(st, cap >= len ? B2C_OK : B2C_E_OUTPUT_SIZE);
            CHECK(got == len && (st != B2C_OK || memcmp(made, same, len) == 0));
        }
    }
    free(noise);
    free(made);
    free(same);
}

/* Every room from none to enough: the chunk, or the size that suffices. */
static void test_room(void)
{
    static const char *const texts[] = { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "b",
                                         "xyzzy" };
    const void *p[] = { texts[0], texts[1], texts[2] };
    const size_t n[] = { 44, 1, 5 };
    b2c_cparams cp = params(B2C_CODEC_BLOSCLZ, false);
    size_t whole, len;
    b2c_error err;
    CHECK_EQ(b2c_vlcompress(serial, &cp, p, n, 3, chunk, CAP, &whole, NULL), B2C_OK);
    for (size_t cap = 0; cap < 120; cap++) {
        uint8_t *dst = malloc(cap == 0 ? 1 : cap); /* the sanitizer looks at its end */
        len = 0;
        b2c_status st = b2c_vlcompress(serial, &cp, p, n, 3, dst, cap, &len, &err);
        if (st == B2C_OK) {
            CHECK(len == whole && cap >= whole && memcmp(dst, chunk, len) == 0);
        } else {
            CHECK(st == B2C_E_OUTPUT_SIZE && len == 32 + 50 + 3 * 8 && cap < len);
        }
        free(dst);
    }
    uint32_t sizes[3];
    CHECK_EQ(b2c_vlblock_lens(serial, chunk, whole, sizes, 2, &len, &err), B2C_E_OUTPUT_SIZE);
    CHECK_EQ(len, 3);
    CHECK_EQ(b2c_vldecompress_block(serial, chunk, whole, 2, out, 4, &len, &err),
             B2C_E_OUTPUT_SIZE);
    CHECK_EQ(len, 5);
    CHECK_EQ(b2c_vldecompress_block(serial, chunk, whole, 3, out, CAP, &len, &err), B2C_E_RANGE);
}

static void test_arguments(void)
{
    b2c_error err;
    size_t len;
    b2c_cparams cp = params(B2C_CODEC_BLOSCLZ, false);
    const size_t with_empty[] = { 5, 0, 5 };
    const size_t huge[] = { 5, SIZE_MAX, SIZE_MAX };
    const void *with_null[] = { data[0], NULL, data[1] };
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, lens, 0, chunk, CAP, &len, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, with_empty, 3, chunk, CAP, &len, &err),
             B2C_E_ARGUMENT);
    CHECK_EQ(err.block, 1);
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, huge, 3, chunk, CAP, &len, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, lens, SIZE_MAX, chunk, CAP, &len, &err),
             B2C_E_LIMIT);
    const size_t together[] = { 5, B2C_MAX_CHUNK_NBYTES - 34, 6 }; /* and 8 for each */
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, together, 3, chunk, CAP, &len, &err), B2C_E_LIMIT);
    CHECK_EQ(err.expected, B2C_MAX_CHUNK_NBYTES);
    CHECK_EQ(err.actual, B2C_MAX_CHUNK_NBYTES + 1);
    CHECK_EQ(b2c_vlcompress(serial, &cp, with_null, lens, 3, chunk, CAP, &len, &err),
             B2C_E_ARGUMENT);
    CHECK_EQ(b2c_vlcompress(serial, &cp, NULL, lens, 3, chunk, CAP, &len, &err), B2C_E_ARGUMENT);
    cp.filters[0] = B2C_FILTER_DELTA;
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, lens, 3, chunk, CAP, &len, &err), B2C_E_ARGUMENT);
    cp = params(B2C_CODEC_BLOSCLZ, false);
    CHECK_EQ(b2c_compress(serial, &cp, data, 1000, chunk, CAP, &len, &err), B2C_OK);
    CHECK_EQ(b2c_vldecompress_block(serial, chunk, len, 0, out, CAP, &len, &err),
             B2C_E_UNSUPPORTED);
}

static void refuse_blocks(b2c_schunk *s, const size_t *block_lens, size_t n, int64_t nth)
{
    b2c_error err;
    CHECK_EQ(b2c_schunk_append_vlblocks(s, serial, blocks, block_lens, n, &err), B2C_E_ARGUMENT);
    CHECK_EQ(err.block, nth);
}

/* ndcell, ndmean, ndlz and zfp take blocks of arrays only, and those of their size. */
static void test_shapes(void)
{
    static const struct {
        uint8_t codec, filter, meta;
    } kinds[] = { { 0, 32, 4 }, { 0, 33, 4 }, { 32, 0, 4 }, { 33, 0, 4 } };
    const size_t fitting[] = { 256, 256 }, short_one[] = { 256, 16 }, long_one[] = { 4096, 256 };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        b2c_error err;
        size_t len;
        b2c_schunk *s = NULL;
        b2c_schunk_params p;
        b2c_schunk_params_init(&p);
        p.cparams.codec = kinds[i].codec;
        p.cparams.codec_meta = kinds[i].meta;
        p.cparams.typesize = kinds[i].codec == 32 ? 1 : 4;
        p.cparams.splitmode = B2C_SPLIT_NEVER;
        memset(p.cparams.filters, 0, sizeof p.cparams.filters);
        p.cparams.filters[0] = kinds[i].filter;
        p.cparams.filters_meta[0] = kinds[i].meta;
        if (!b2c_codec_available(kinds[i].codec)) {
            continue;
        }
        CHECK_EQ(b2c_vlcompress(serial, &p.cparams, blocks, lens, 3, chunk, CAP, &len, &err),
                 B2C_E_ARGUMENT);
        CHECK_EQ(err.block, 0);
        CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
        refuse_blocks(s, fitting, 2, 0);

        uint8_t meta[100];
        b2c_nd nd = { .size = sizeof nd,
                      .ndim = 2,
                      .itemsize = p.cparams.typesize,
                      .shape = { 256 / p.cparams.typesize / 8, 8 },
                      .chunks = { 256 / p.cparams.typesize / 8, 8 },
                      .blocks = { 256 / p.cparams.typesize / 8, 8 } };
        CHECK_EQ(b2c_nd_meta_encode(&nd, "|V4", 3, meta, sizeof meta, &len, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_meta_add(s, "b2nd", meta, len, &err), B2C_OK);
        refuse_blocks(s, short_one, 2, 1);
        refuse_blocks(s, long_one, 2, 0);
        CHECK_EQ(b2c_schunk_append_vlblocks(s, serial, blocks, fitting, 2, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_get_vlblock(s, serial, 0, 1, out, CAP, &len, &err), B2C_OK);
        CHECK_EQ(len, 256);
        b2c_schunk_free(s);
    }
}

static void test_memory(void)
{
    b2c_cparams cp =
        params(b2c_codec_available(B2C_CODEC_ZSTD) ? B2C_CODEC_ZSTD : B2C_CODEC_BLOSCLZ,
               b2c_codec_available(B2C_CODEC_ZSTD));
    b2c_status st = B2C_E_MEMORY;
    int n = 0;
    for (; st == B2C_E_MEMORY && n < 1000; n++) {
        b2c_ctx *ctx = NULL;
        b2c_schunk *s = NULL;
        b2c_schunk_params p;
        size_t len;
        b2c_schunk_params_init(&p);
        p.cparams = cp;
        CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
        CHECK_EQ(b2c_schunk_new(&p, &s, NULL), B2C_OK);
        b2i_alloc_fail_at((uint64_t)n + 1, false);
        st = b2c_schunk_append_vlblocks(s, ctx, blocks, lens, 20, NULL);
        if (st == B2C_OK) {
            st = b2c_schunk_get_vlblock(s, ctx, 0, 7, out, CAP, &len, NULL);
        }
        b2i_alloc_fail_at(0, false);
        CHECK(st == B2C_OK || st == B2C_E_MEMORY);
        b2c_schunk_free(s);
        b2c_ctx_free(ctx);
    }
    CHECK(st == B2C_OK && n > 5);
}

/* Damaged chunks decode or fail; nothing is read or written beside them. */
static void test_damage(void)
{
    b2c_cparams cp = params(B2C_CODEC_BLOSCLZ, false);
    uint64_t seed = 7;
    size_t len, n;
    CHECK_EQ(b2c_vlcompress(serial, &cp, blocks, lens, 12, chunk, CAP, &len, NULL), B2C_OK);
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)(harness_random(&seed) % (i % 2 == 0 ? 120 : len));
        uint8_t was = chunk[at];
        chunk[at] ^= (uint8_t)(1u << harness_random(&seed) % 8);
        uint8_t *copy = malloc(len);
        memcpy(copy, chunk, len);
        uint32_t sizes[64];
        b2c_status st = b2c_vldecompress_block(serial, copy, len, harness_random(&seed) % 12, out,
                                               CAP, &n, NULL);
        CHECK(st != B2C_E_INTERNAL);
        st = b2c_vlblock_lens(serial, copy, len, sizes, 64, &n, NULL);
        CHECK(st != B2C_E_INTERNAL);
        free(copy);
        chunk[at] = was;
    }
}

/* Of the super-chunk and of the context, whichever is less, also for a chunk that is kept open. */
static void test_limits(void)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_error err;
    size_t n = 0;
    b2c_limits limits = { .max_chunk_nbytes = total - 1 };
    b2c_schunk_params_init(&p);
    p.cparams = params(B2C_CODEC_BLOSCLZ, false);
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append_vlblocks(s, serial, blocks, lens, NBLOCKS, &err), B2C_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(b2c_schunk_get_vlblock(s, serial, 0, 77, out, CAP, &n, &err), B2C_OK);
        CHECK(n == lens[77] && memcmp(out, data[77], n) == 0);
        CHECK_EQ(b2c_ctx_set_limits(serial, &limits, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_get_vlblock(s, serial, 0, 77, out, CAP, &n, &err), B2C_E_LIMIT);
        CHECK_EQ(err.actual, total);
        CHECK_EQ(b2c_ctx_set_limits(serial, NULL, &err), B2C_OK);
    }
    b2c_schunk_free(s);
}

int main(void)
{
    make_blocks();
    if (b2c_pool_new(4, &pool, NULL) != B2C_OK ||
        b2c_ctx_new(NULL, 1, NULL, &serial, NULL) != B2C_OK ||
        b2c_ctx_new(pool, 4, NULL, &parallel, NULL) != B2C_OK) {
        return 1;
    }
    test_round_trip(B2C_CODEC_BLOSCLZ, false);
    test_round_trip(B2C_CODEC_LZ4, false);
    test_round_trip(B2C_CODEC_LZ4HC, true);
    test_round_trip(B2C_CODEC_ZLIB, false);
    test_round_trip(B2C_CODEC_ZSTD, true);
    test_useless_dict(B2C_CODEC_LZ4);
    test_useless_dict(B2C_CODEC_ZSTD);
    test_room();
    test_arguments();
    test_shapes();
    test_memory();
    test_damage();
    test_limits();
    b2c_ctx_free(parallel);
    b2c_ctx_free(serial);
    b2c_pool_free(pool);
    return RESULT();
}
