/*
 * test_filters.c: every filter against vectors of the format, pipelines, checks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "bitshuffle.h"
#include "elementwise.h"
#include "filter.h"
#include "shuffle.h"

enum {
    NDCELL = 32,
    NDMEAN = 33,
    BYTEDELTA_34 = 34,
    BYTEDELTA = 35,
    INT_TRUNC = 36,
    MAX_LEN = 4096,
    CURRENT_VERSION = 5
};

static uint8_t noise[MAX_LEN];

/* A pipeline of one filter in slot 5. */
static b2i_pipeline one(uint8_t filter, uint8_t meta, uint32_t typesize)
{
    return (b2i_pipeline){ .filters = { 0, 0, 0, 0, 0, filter },
                           .metas = { 0, 0, 0, 0, 0, meta },
                           .typesize = typesize,
                           .chunk_version = CURRENT_VERSION };
}

/* Applies and undoes the pipeline; the forward result is left in 'result'. */
static bool round_trip(const b2i_pipeline *pl, const uint8_t *src, size_t n, const uint8_t *ref,
                       size_t ref_len, uint8_t *result, uint8_t *restored)
{
    static uint8_t copy[MAX_LEN], a[MAX_LEN], b[MAX_LEN], in[MAX_LEN], tmp[MAX_LEN];
    const uint8_t *out = NULL;

    memcpy(copy, src, n);
    memset(a, 0xEE, sizeof a);
    memset(b, 0xEE, sizeof b);
    CHECK_EQ(b2i_pipeline_forward(pl, src, n, ref, ref_len, a, b, &out, NULL), B2C_OK);
    CHECK(memcmp(src, copy, n) == 0);
    CHECK(out == a || out == b || out == src);
    CHECK((out == src) == (n == 0 || b2i_pipeline_is_empty(pl, false)));
    memcpy(result, out, n);

    memcpy(in, out, n);
    memset(restored, 0xEE, n);
    CHECK_EQ(b2i_pipeline_backward(pl, in, n, ref, ref_len, tmp, restored, NULL), B2C_OK);
    if (b2i_pipeline_single(pl)) {
        static uint8_t again[MAX_LEN];
        memset(again, 0xEE, n);
        CHECK_EQ(b2i_pipeline_backward_single(pl, result, n, ref, ref_len, again, NULL), B2C_OK);
        CHECK(memcmp(again, restored, n) == 0);
    }
    return memcmp(src, restored, n) == 0;
}

/* ---- vectors ---- */

typedef struct vector {
    uint8_t filter, meta, typesize, n;
    uint8_t in[24], out[24];
} vector;

#define COUNT_TO_19 { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 }

static const vector vectors[] = {
    { B2C_FILTER_SHUFFLE,
      0,
      2,
      19,
      COUNT_TO_19,
      { 1, 3, 5, 7, 9, 11, 13, 15, 17, 2, 4, 6, 8, 10, 12, 14, 16, 18, 19 } },
    { B2C_FILTER_SHUFFLE,
      4,
      2,
      19,
      COUNT_TO_19, /* the parameter replaces the type size */
      { 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16, 17, 18, 19 } },
    { B2C_FILTER_SHUFFLE, 0, 1, 19, COUNT_TO_19, COUNT_TO_19 },
    { B2C_FILTER_SHUFFLE, 0, 100, 19, COUNT_TO_19, COUNT_TO_19 },
    { B2C_FILTER_BITSHUFFLE,
      0,
      2,
      19,
      COUNT_TO_19,
      { 0xff, 0xaa, 0xcc, 0xf0, 0, 0, 0, 0, 0, 0x55, 0x66, 0x78, 0x80, 0, 0, 0, 17, 18, 19 } },
    { B2C_FILTER_BITSHUFFLE,
      4,
      1,
      19,
      COUNT_TO_19, /* the parameter means nothing */
      { 0x55, 0x55, 0x66, 0x66, 0x78, 0x78, 0x80, 0x7f, 0, 0x80, 0, 0, 0, 0, 0, 0, 17, 18, 19 } },
    { B2C_FILTER_BITSHUFFLE, 0, 4, 19, COUNT_TO_19, COUNT_TO_19 },
    { B2C_FILTER_DELTA,
      0,
      2,
      8,
      { 0x10, 0, 0x13, 0, 0x13, 0, 0, 1 },
      { 0x10, 0, 3, 0, 0, 0, 0x13, 1 } },
    { B2C_FILTER_DELTA,
      0,
      2,
      9, /* an odd byte at the end */
      { 0x10, 0, 0x13, 0, 0x13, 0, 0, 1, 0x77 },
      { 0x10, 0, 3, 0, 0, 0, 0x13, 1, 0x77 } },
    { B2C_FILTER_DELTA, 0, 3, 5, { 1, 3, 3, 7, 7 }, { 1, 2, 0, 4, 0 } }, /* by bytes */
    { B2C_FILTER_DELTA,
      0,
      16,
      17, /* by 8 bytes */
      { 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 9, 5 },
      { 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1, 5 } },
    { BYTEDELTA,
      2,
      8,
      9,
      { 0x10, 0x11, 0x13, 0x12, 0, 0, 1, 1, 9 },
      { 0x10, 1, 2, 0xff, 0, 0, 1, 0, 9 } },
};

static void test_vectors(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const vector *v = &vectors[i];
        b2i_pipeline pl = one(v->filter, v->meta, v->typesize);
        uint8_t result[24], restored[24];
        bool same = round_trip(&pl, v->in, v->n, NULL, 0, result, restored);
        if (!same || memcmp(result, v->out, v->n) != 0) {
            fprintf(stderr, "vector %zu\n", i);
        }
        CHECK(same);
        CHECK(memcmp(result, v->out, v->n) == 0);
    }
}

static void test_truncation(void)
{
    static const struct {
        uint8_t filter;
        uint8_t typesize;
        int meta;
        uint8_t in[9], out[9];
    } cases[] = {
        { 4, 4, 10, { 0xdb, 0x0f, 0x49, 0x40, 0xff }, { 0, 0, 0x49, 0x40, 0xff } },
        { 4, 4, -10, { 0xdb, 0x0f, 0x49, 0x40, 0xff }, { 0, 0x0c, 0x49, 0x40, 0xff } },
        { 4, 4, 23, { 0xdb, 0x0f, 0x49, 0x40, 0xff }, { 0xdb, 0x0f, 0x49, 0x40, 0xff } },
        { 4, 4, 1, { 0xff, 0xff, 0xff, 0xff, 0xff }, { 0, 0, 0xc0, 0xff, 0xff } },
        { 4,
          8,
          1,
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          { 0, 0, 0, 0, 0, 0, 0xf8, 0xff, 0xff } },
        { 4,
          8,
          -9,
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          { 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
        { INT_TRUNC,
          1,
          3,
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          { 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0, 0xe0 } },
        { INT_TRUNC,
          2,
          -9,
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          { 0, 0xfe, 0, 0xfe, 0, 0xfe, 0, 0xfe, 0xff } },
        { INT_TRUNC,
          4,
          1,
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          { 0, 0, 0, 0x80, 0, 0, 0, 0x80, 0xff } },
        { INT_TRUNC,
          8,
          -63,
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          { 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = cases[i].typesize == 4 && cases[i].filter == 4 ? 5 : 9;
        b2i_pipeline pl = one(cases[i].filter, (uint8_t)cases[i].meta, cases[i].typesize);
        uint8_t result[9], restored[9];
        CHECK(b2i_pipeline_check(&pl, true, NULL) == B2C_OK);
        (void)round_trip(&pl, cases[i].in, n, NULL, 0, result, restored);
        CHECK(memcmp(result, cases[i].out, n) == 0);
        CHECK(memcmp(restored, cases[i].out, n) == 0); /* nothing is undone */
        CHECK(b2i_pipeline_is_empty(&pl, true) && !b2i_pipeline_is_empty(&pl, false));
    }
}

/* ---- each filter, by its definition, for all lengths ---- */

static size_t delta_unit(size_t typesize)
{
    return typesize == 1 || typesize == 2 || typesize == 4 ? typesize : typesize % 8 == 0 ? 8 : 1;
}

/* Delta and bytedelta, one byte at a time. */
static void define(const b2i_pipeline *pl, const uint8_t *src, size_t n, const uint8_t *ref,
                   size_t ref_len, uint8_t *dst)
{
    size_t unit = pl->filters[5] == BYTEDELTA ? pl->metas[5] : delta_unit(pl->typesize);
    size_t whole = n / unit * unit;
    memcpy(dst, src, n);
    for (size_t i = 0; i < whole; i++) {
        if (pl->filters[5] == BYTEDELTA) {
            dst[i] = i % (n / unit) == 0 ? src[i] : (uint8_t)(src[i] - src[i - 1]);
        } else if (ref == NULL) {
            dst[i] = i < unit ? src[i] : src[i] ^ src[i - unit];
        } else if (i < ref_len / unit * unit) {
            dst[i] = src[i] ^ ref[i];
        }
    }
}

static void test_elementwise(void)
{
    static const uint8_t typesizes[] = { 1, 2, 3, 4, 5, 8, 12, 16, 24, 255 };
    static const size_t ref_lens[] = { 0, 1, 7, 64, 100, 333 };
    static uint8_t result[MAX_LEN], restored[MAX_LEN], expected[MAX_LEN];
    const uint8_t *src = noise, *ref = noise + 1000;

    for (size_t t = 0; t < sizeof typesizes; t++) {
        b2i_pipeline delta = one(B2C_FILTER_DELTA, 0, typesizes[t]);
        b2i_pipeline bytedelta = one(BYTEDELTA, typesizes[t], 1);
        for (size_t n = 0; n < 333; n++) {
            CHECK(round_trip(&delta, src, n, NULL, 0, result, restored));
            define(&delta, src, n, NULL, 0, expected);
            CHECK(memcmp(result, expected, n) == 0);

            CHECK(round_trip(&bytedelta, src, n, NULL, 0, result, restored));
            define(&bytedelta, src, n, NULL, 0, expected);
            CHECK(memcmp(result, expected, n) == 0);
            for (size_t r = 0; r < sizeof ref_lens / sizeof ref_lens[0]; r++) {
                CHECK(round_trip(&delta, src, n, ref, ref_lens[r], result, restored));
                define(&delta, src, n, ref, ref_lens[r], expected);
                CHECK(memcmp(result, expected, n) == 0);
            }
        }
    }
}

static void test_truncation_lengths(void)
{
    static const uint8_t typesizes[] = { 1, 2, 4, 8 };
    uint8_t result[100], restored[100];

    for (size_t t = 0; t < sizeof typesizes; t++) {
        size_t w = typesizes[t];
        for (int meta = 1 - 8 * (int)w; meta <= 8 * (int)w; meta++) {
            b2i_pipeline pl = one(INT_TRUNC, (uint8_t)meta, (uint32_t)w);
            size_t nbits = meta < 0 ? (size_t)-meta : 8 * w - (size_t)meta;
            size_t n = 64 + (size_t)(meta & 15);
            if (meta == 0) {
                CHECK(b2i_pipeline_check(&pl, true, NULL) == B2C_E_ARGUMENT);
                continue;
            }
            CHECK_EQ(b2i_trunc_nbits(INT_TRUNC, w, (uint8_t)meta), nbits);
            (void)round_trip(&pl, noise, n, NULL, 0, result, restored);
            bool same = true;
            for (size_t i = 0; i < n; i++) {
                size_t low = 8 * (i % w); /* number of the byte's lowest bit */
                unsigned mask = nbits >= low + 8 ? 0u : nbits <= low ? 255u : 255u << (nbits - low);
                mask = i < n / w * w ? mask & 255u : 255u;
                same = same && result[i] == (noise[i] & mask);
            }
            CHECK(same);
        }
    }
}

static void test_buggy_bytedelta(void)
{
    static uint8_t encoded[MAX_LEN], restored[MAX_LEN];

    for (size_t unit = 1; unit <= 9; unit++) {
        for (size_t n = 0; n < 300; n++) {
            size_t len = n / unit;
            memcpy(encoded, noise, n);
            for (size_t k = 0; k < unit; k++) {
                for (size_t i = 0; i < len; i++) {
                    size_t at = k * len + i;
                    bool starts = i == 0 || i == len / 16 * 16;
                    encoded[at] = starts ? noise[at] : (uint8_t)(noise[at] - noise[at - 1]);
                }
            }
            b2i_pipeline by_meta = one(BYTEDELTA_34, (uint8_t)unit, 77);
            b2i_pipeline by_typesize = one(BYTEDELTA_34, 0, (uint32_t)unit);
            CHECK_EQ(b2i_pipeline_backward_single(&by_meta, encoded, n, NULL, 0, restored, NULL),
                     B2C_OK);
            CHECK(memcmp(restored, noise, n) == 0);
            memset(restored, 0, n);
            CHECK_EQ(
                b2i_pipeline_backward_single(&by_typesize, encoded, n, NULL, 0, restored, NULL),
                B2C_OK);
            CHECK(memcmp(restored, noise, n) == 0);
        }
    }
}

/* Chunks up to version 2 store blocks whose element count is no multiple of 8 as they are. */
static void test_old_bitshuffle(void)
{
    uint8_t restored[100], transposed[100];

    for (uint8_t version = 1; version <= CURRENT_VERSION; version++) {
        b2i_pipeline pl = one(B2C_FILTER_BITSHUFFLE, 0, 4);
        pl.chunk_version = version;
        CHECK_EQ(b2i_pipeline_backward_single(&pl, noise, 71, NULL, 0, restored, NULL),
                 B2C_OK); /* 17 elements */
        b2i_bitshuffle(restored, 71, 4, transposed);
        CHECK((memcmp(restored, noise, 71) == 0) == (version <= 2));
        CHECK((memcmp(transposed, noise, 71) == 0) == (version > 2));

        CHECK_EQ(b2i_pipeline_backward_single(&pl, noise, 67, NULL, 0, restored, NULL),
                 B2C_OK); /* 16 and 3 bytes */
        b2i_bitshuffle(restored, 67, 4, transposed);
        CHECK(memcmp(transposed, noise, 67) == 0);
        CHECK(memcmp(restored + 64, noise + 64, 3) == 0);
    }
}

/* ---- pipelines ---- */

static void test_order(void)
{
    b2i_pipeline pl = { .filters = { 1, 0, BYTEDELTA }, .metas = { 0, 0, 4 }, .typesize = 4 };
    static uint8_t result[MAX_LEN], restored[MAX_LEN], step[MAX_LEN], expected[MAX_LEN];

    pl.chunk_version = CURRENT_VERSION;
    b2i_shuffle(noise, 1003, 4, step);
    b2i_bytedelta_forward(step, 1003, 4, expected);
    CHECK(round_trip(&pl, noise, 1003, NULL, 0, result, restored));
    CHECK(memcmp(result, expected, 1003) == 0);

    /* A parameter of 0 stands for the type size when reading. */
    b2i_pipeline without = one(BYTEDELTA, 0, 4);
    b2i_bytedelta_forward(noise, 1003, 4, step);
    CHECK_EQ(b2i_pipeline_backward_single(&without, step, 1003, NULL, 0, restored, NULL), B2C_OK);
    CHECK(memcmp(restored, noise, 1003) == 0);

    /* Two shuffles; and one whose unit of 1 changes nothing. */
    b2i_pipeline twice = { .filters = { 1, 0, 0, 1 }, .metas = { 8, 0, 0, 2 }, .typesize = 4 };
    b2i_shuffle(noise, 1003, 8, step);
    b2i_shuffle(step, 1003, 2, expected);
    CHECK(round_trip(&twice, noise, 1003, NULL, 0, result, restored));
    CHECK(memcmp(result, expected, 1003) == 0);
    b2i_pipeline nothing = one(B2C_FILTER_SHUFFLE, 0, 1);
    CHECK(b2i_pipeline_is_empty(&nothing, false) && b2i_pipeline_is_empty(&nothing, true));
    CHECK(b2i_pipeline_has(&nothing, B2C_FILTER_SHUFFLE));
    CHECK(!b2i_pipeline_has(&nothing, B2C_FILTER_DELTA));
}

static void test_random_pipelines(void)
{
    static const uint8_t kinds[] = { 0, 1, 2, 3, BYTEDELTA };
    static uint8_t result[MAX_LEN], restored[MAX_LEN];
    uint64_t state = 1234567;

    for (int round = 0; round < 3000; round++) {
        b2i_pipeline pl = { .chunk_version = CURRENT_VERSION };
        pl.typesize = (uint32_t)(harness_random(&state) % 40 + 1);
        for (size_t slot = 0; slot < 6; slot++) {
            pl.filters[slot] = kinds[harness_random(&state) % sizeof kinds];
            pl.metas[slot] = (uint8_t)(harness_random(&state) % 20 + 1);
        }
        size_t n = harness_random(&state) % 1500;
        const uint8_t *ref = round % 2 == 0 ? NULL : noise + 2000;
        CHECK(b2i_pipeline_check(&pl, true, NULL) == B2C_OK);
        CHECK(round_trip(&pl, noise, n, ref, 1600, result, restored));
    }
}

/* Delta behind trunc_prec: with block 0 as the decoder restores it, block 1 loses the same bits. */
static void test_delta_of_truncated(void)
{
    enum { N = 400 };
    b2i_pipeline pl = { .filters = { 4, 3, 1 }, .metas = { 10 }, .typesize = 4 };
    uint8_t truncated[N], block0[N], block1[N], result[N];

    pl.chunk_version = CURRENT_VERSION;
    b2i_trunc(noise, N, 4, 13, truncated);
    (void)round_trip(&pl, noise, N, NULL, 0, result, block0);
    CHECK(memcmp(block0, truncated, N) == 0);
    b2i_trunc(noise + N, N, 4, 13, truncated);
    (void)round_trip(&pl, noise + N, N, block0, N, result, block1);
    CHECK(memcmp(block1, truncated, N) == 0);
}

/* ---- blocks of arrays ---- */

static b2c_block block_of(uint32_t typesize, uint32_t ndim, const uint32_t *shape)
{
    return (b2c_block){ .typesize = typesize, .ndim = ndim, .blockshape = shape };
}

/* Cells of 2 x 2 items in a block of 3 x 5: whole ones, and such that are cut off. */
static void test_cells(void)
{
    static const uint32_t shape[] = { 3, 5 };
    static const uint8_t expected[] = { 0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14 };
    b2c_block block = block_of(1, 2, shape);
    b2i_pipeline pl = one(NDCELL, 2, 1);
    uint8_t in[15], result[15], restored[15];
    for (uint8_t i = 0; i < 15; i++) {
        in[i] = i;
    }
    pl.block = &block;
    CHECK_EQ(b2i_pipeline_check_block(&pl, 15, true, NULL), B2C_OK);
    CHECK(round_trip(&pl, in, 15, NULL, 0, result, restored));
    CHECK(memcmp(result, expected, 15) == 0);
}

/* Every edge in blocks of one to eight dimensions: a permutation, undone exactly. */
static void test_cells_of_any_shape(void)
{
    static uint8_t result[MAX_LEN], restored[MAX_LEN];
    uint64_t state = 99;
    for (int round = 0; round < 500; round++) {
        uint32_t shape[8], ndim = (uint32_t)(harness_random(&state) % 8 + 1);
        uint32_t typesize = (uint32_t)(harness_random(&state) % 5 + 1);
        size_t n = typesize;
        for (uint32_t d = 0; d < ndim; d++) {
            shape[d] = (uint32_t)(harness_random(&state) % (ndim > 4 ? 3 : 6) + 1);
            n *= shape[d];
        }
        if (n > MAX_LEN) {
            continue;
        }
        b2c_block block = block_of(typesize, ndim, shape);
        b2i_pipeline pl = one(NDCELL, (uint8_t)(harness_random(&state) % 7 + 1), typesize);
        pl.block = &block;
        CHECK_EQ(b2i_pipeline_check_block(&pl, n, false, NULL), B2C_OK);
        CHECK(round_trip(&pl, noise, n, NULL, 0, result, restored));
    }
}

/* All items of a cell get its mean. */
static void test_means(void)
{
    static const uint32_t shape[] = { 2, 3 };
    static const float in[] = { 1, 3, 10, 5, 7, 20 }, expected[] = { 4, 4, 15, 4, 4, 15 };
    b2c_block block = block_of(4, 2, shape);
    b2i_pipeline pl = one(NDMEAN, 2, 4);
    uint8_t bytes[24], result[24], restored[24];
    for (size_t i = 0; i < 6; i++) {
        uint32_t bits;
        memcpy(&bits, &in[i], 4);
        b2i_st32le(bytes + 4 * i, bits);
    }
    pl.block = &block;
    CHECK(!round_trip(&pl, bytes, 24, NULL, 0, result, restored));
    for (size_t i = 0; i < 6; i++) {
        uint32_t bits = b2i_ld32le(restored + 4 * i);
        CHECK(memcmp(&bits, &expected[i], 4) == 0);
    }
}

static void test_block_checks(void)
{
    static const uint32_t shape[] = { 4, 6 }, none[] = { 4, 0 };
    b2c_block block = block_of(4, 2, shape), empty = block_of(4, 2, none);
    b2c_block nine = { .typesize = 4, .ndim = 9 };
    b2i_pipeline pl = one(NDCELL, 4, 4), mean = one(NDMEAN, 9, 4);
    b2c_error err;
    CHECK_EQ(b2i_pipeline_check_block(&pl, 96, true, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2i_pipeline_check_block(&pl, 96, false, &err), B2C_E_UNSUPPORTED);
    pl.block = &block;
    CHECK_EQ(b2i_pipeline_check_block(&pl, 96, true, &err), B2C_OK);
    CHECK_EQ(b2i_pipeline_check_block(&pl, 92, false, &err), B2C_E_UNSUPPORTED);
    CHECK_EQ(b2i_pipeline_check_block(&pl, 192, false, &err), B2C_E_UNSUPPORTED);
    pl.metas[5] = 5; /* larger than a side of the block */
    CHECK_EQ(b2i_pipeline_check_block(&pl, 96, true, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2i_pipeline_check_block(&pl, 96, false, &err), B2C_OK);
    mean.block = &block;
    CHECK_EQ(b2i_pipeline_check_block(&mean, 96, true, &err), B2C_OK);
    mean.metas[5] = 0;
    CHECK_EQ(b2i_pipeline_check_block(&mean, 96, false, &err), B2C_E_UNSUPPORTED);
    pl.block = &empty;
    CHECK_EQ(b2i_pipeline_check_block(&pl, 0, false, &err), B2C_E_UNSUPPORTED);
    pl.block = &nine;
    CHECK_EQ(b2i_pipeline_check_block(&pl, 4, false, &err), B2C_E_UNSUPPORTED);
}

/* ---- checks ---- */

static void check_one(uint8_t filter, int meta, uint32_t typesize, b2c_status reading,
                      b2c_status writing)
{
    b2i_pipeline pl = one(filter, (uint8_t)meta, typesize);
    b2c_error err = { .status = B2C_OK };

    CHECK_EQ(b2i_pipeline_check(&pl, false, NULL), reading);
    CHECK_EQ(b2i_pipeline_check(&pl, true, &err), writing);
    CHECK_EQ(err.status, writing);
    CHECK((writing == B2C_OK) == (err.what == NULL));
    CHECK((writing == B2C_OK) == (err.field == NULL));
}

static void test_checks(void)
{
    const b2c_status ok = B2C_OK, bad = B2C_E_ARGUMENT, unknown = B2C_E_UNKNOWN_FILTER;

    for (unsigned id = 0; id < 256; id++) {
        bool known = id <= 4 || (id >= 32 && id <= 36);
        bool can_write = known && id != BYTEDELTA_34;
        check_one((uint8_t)id, 5, 4, known ? ok : unknown, !known ? unknown : can_write ? ok : bad);
        CHECK((b2c_filter_name((uint8_t)id) != NULL) == (id <= 4 || (id >= 32 && id <= 36)));
    }
    static const int limits[][2] = { { 4, 23 }, { 8, 52 } };
    for (size_t i = 0; i < 2; i++) {
        uint32_t typesize = (uint32_t)limits[i][0];
        for (int m = -128; m < 128; m++) {
            bool good = (m >= 1 && m <= limits[i][1]) || (m <= -1 && m > -limits[i][1]);
            check_one(4, m, typesize, ok, good ? ok : bad);
        }
    }
    check_one(4, 5, 2, ok, bad);
    check_one(NDCELL, 0, 4, ok, bad);
    check_one(NDMEAN, 4, 2, ok, bad);
    check_one(4, 5, 1, ok, bad);
    check_one(INT_TRUNC, 8, 1, ok, ok);
    check_one(INT_TRUNC, 9, 1, ok, bad);
    check_one(INT_TRUNC, -7, 1, ok, ok);
    check_one(INT_TRUNC, -8, 1, ok, bad);
    check_one(INT_TRUNC, 64, 8, ok, ok);
    check_one(INT_TRUNC, 65, 8, ok, bad);
    check_one(INT_TRUNC, 5, 3, ok, bad);
    check_one(INT_TRUNC, 0, 8, ok, bad);
    check_one(BYTEDELTA, 0, 4, ok, bad);
    check_one(BYTEDELTA, 255, 4, ok, ok);

    static const char *const names[] = { "nofilter", "shuffle", "bitshuffle", "delta",
                                         "trunc_prec" };
    for (uint8_t id = 0; id < 5; id++) {
        CHECK(strcmp(b2c_filter_name(id), names[id]) == 0);
    }
    CHECK(strcmp(b2c_filter_name(32), "ndcell") == 0);
    CHECK(strcmp(b2c_filter_name(33), "ndmean") == 0);
    CHECK(strcmp(b2c_filter_name(35), "bytedelta") == 0);
    CHECK(strcmp(b2c_filter_name(36), "int_trunc") == 0);
}

static void test_version(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", B2C_VERSION_MAJOR, B2C_VERSION_MINOR,
             B2C_VERSION_PATCH);
    CHECK(strcmp(b2c_version(), text) == 0);
}

/* Which pipelines the block decoder may undo by gathering planes. */
static void test_lone_shuffle(void)
{
    b2i_pipeline pl = { .filters = { 0, 0, 0, 0, 0, B2C_FILTER_SHUFFLE }, .typesize = 4 };
    CHECK(b2i_pipeline_is_shuffle(&pl, 4) && !b2i_pipeline_is_shuffle(&pl, 8));
    pl.filters[0] = B2C_FILTER_TRUNC_PREC; /* nothing to undo */
    CHECK(b2i_pipeline_is_shuffle(&pl, 4));
    pl.metas[5] = 8;
    CHECK(b2i_pipeline_is_shuffle(&pl, 8) && !b2i_pipeline_is_shuffle(&pl, 4));
    pl.metas[5] = 1;
    CHECK(!b2i_pipeline_is_shuffle(&pl, 1) && !b2i_pipeline_is_shuffle(&pl, 4));
    pl.metas[5] = 0;
    pl.filters[1] = B2C_FILTER_SHUFFLE;
    CHECK(!b2i_pipeline_is_shuffle(&pl, 4));
    pl.filters[1] = B2C_FILTER_DELTA;
    CHECK(!b2i_pipeline_is_shuffle(&pl, 4));
    pl.filters[1] = 0;
    pl.filters[5] = B2C_FILTER_BITSHUFFLE;
    CHECK(!b2i_pipeline_is_shuffle(&pl, 4));
}

int main(void)
{
    uint64_t state = 42424242;
    for (size_t i = 0; i < MAX_LEN; i++) {
        noise[i] = (uint8_t)(harness_random(&state) >> 24);
    }
    test_vectors();
    test_truncation();
    test_elementwise();
    test_truncation_lengths();
    test_buggy_bytedelta();
    test_old_bitshuffle();
    test_lone_shuffle();
    test_order();
    test_random_pipelines();
    test_delta_of_truncated();
    test_cells();
    test_cells_of_any_shape();
    test_means();
    test_block_checks();
    test_checks();
    test_version();
    return RESULT();
}
