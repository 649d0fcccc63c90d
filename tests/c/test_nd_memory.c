/*
 * test_nd_memory.c: reading takes memory for blocks, never for chunks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd_array.h"

#include <stdio.h>
#include <unistd.h>

enum {
    ROWS = 2048,
    CHUNK_NBYTES = ROWS * ROWS * 4, /* 16 MiB: the array is one chunk, of 256 blocks */
    LIMIT = 5 * 1024 * 1024         /* what a read may take besides its result */
};

static const b2c_nd nd = { sizeof nd, 2, 4, { ROWS, ROWS }, { ROWS, ROWS }, { 32, 512 } };
static uint32_t *items;

/* Memory that reading a box takes, with a context that has none yet. */
static uint64_t cost_of_box(const b2c_schunk *s, b2c_pool *pool, const uint64_t *start,
                            const uint64_t *count, const uint64_t *step, uint32_t *out)
{
    b2c_ctx *ctx = NULL;
    CHECK_EQ(b2c_ctx_new(pool, 2, NULL, &ctx, NULL), B2C_OK);
    b2i_alloc_fail_at(0, false);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, start, count, step, out, CHUNK_NBYTES, NULL), B2C_OK);
    uint64_t cost = b2i_alloc_nbytes();
    b2c_ctx_free(ctx);
    int wrong = 0;
    for (uint64_t i = 0; i < count[0]; i++) {
        for (uint64_t k = 0; k < count[1]; k++) {
            uint64_t at = (start[0] + i * step[0]) * ROWS + start[1] + k * step[1];
            wrong += out[i * count[1] + k] != items[at];
        }
    }
    CHECK_EQ(wrong, 0);
    return cost;
}

static void check_boxes(const b2c_schunk *s, b2c_pool *pool, uint32_t *out)
{
    static const uint64_t boxes[][6] = {
        { 0, 0, ROWS, ROWS, 1, 1 },
        { 5, 0, 1, ROWS, 1, 1 },
        { 0, 7, ROWS, 1, 1, 1 },
        { 100, 200, 300, 400, 1, 1 },
        { 1, 1, ROWS / 2, ROWS / 2, 2, 2 },
        { 0, 0, ROWS / 32, ROWS, 32, 1 },
        { 64, 512, 32, 512, 1, 1 },
    };
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        const uint64_t *b = boxes[i];
        uint64_t cost = cost_of_box(s, pool, b, b + 2, b + 4, out);
        CHECK(cost <= LIMIT);
        if (cost > LIMIT) {
            fprintf(stderr, "box %zu took %llu bytes\n", i, (unsigned long long)cost);
        }
    }
}

static void check_places(const b2c_schunk *s, b2c_pool *pool, uint32_t *out)
{
    enum { N = 200 };
    uint64_t coords[2 * N];
    b2c_ctx *ctx = NULL;
    b2c_nd_places p = { .size = sizeof p, .naxes = 2, .axes = { 0, 1 }, .nplaces = N };
    p.coords = coords;
    for (uint64_t i = 0; i < N; i++) {
        coords[2 * i] = i * 7919 % ROWS;
        coords[2 * i + 1] = i * 104729 % ROWS;
    }
    CHECK_EQ(b2c_ctx_new(pool, 2, NULL, &ctx, NULL), B2C_OK);
    b2i_alloc_fail_at(0, false);
    CHECK_EQ(b2c_nd_read_places(s, ctx, &nd, &p, out, CHUNK_NBYTES, NULL), B2C_OK);
    CHECK(b2i_alloc_nbytes() <= LIMIT);
    for (int i = 0; i < N; i++) { /* one after the other: only the kept blocks stay */
        CHECK_EQ(b2c_nd_read_item(s, ctx, &nd, coords + 2 * i, 0, out, 4, NULL), B2C_OK);
        CHECK_EQ(out[0], items[coords[2 * i] * ROWS + coords[2 * i + 1]]);
    }
    CHECK(ctx->cache != NULL && ctx->cache->nbytes <= B2I_CACHE_NBYTES);
    b2c_ctx_free(ctx);
}

/* Blocks of 64 MiB that are one item again and again: only what is read takes memory. */
static void test_special(b2c_ctx *own)
{
    static const b2c_nd huge = {
        sizeof huge, 2, 8, { 1 << 14, 1 << 14 }, { 1 << 13, 1 << 12 }, { 1 << 12, 1 << 11 }
    };
    static const uint8_t kinds[] = { B2C_SPECIAL_ZERO, B2C_SPECIAL_NAN, B2C_SPECIAL_VALUE };
    static const uint64_t start[] = { 4000, 2000 }, count[] = { 30, 20 }, step[] = { 7, 300 };
    static const uint8_t expected[3][8] = { { 0 },
                                            { 0, 0, 0, 0, 0, 0, 0xF8, 0x7F }, /* little-endian */
                                            { 1, 2, 3, 4, 5, 6, 7, 8 } };
    for (int k = 0; k < 3; k++) {
        b2c_schunk *s = nd_array_new(&huge, NULL, B2C_FILTER_SHUFFLE);
        uint64_t n = b2c_nd_chunksize(&huge) * b2c_nd_nchunks(&huge);
        CHECK_EQ(b2c_schunk_fill_special(s, n, kinds[k], expected[2], NULL), B2C_OK);
        static uint8_t out[600][8];
        uint8_t item[8] = { 1 };
        int wrong = 0;
        b2i_alloc_fail_at(0, false);
        CHECK_EQ(b2c_nd_read(s, own, &huge, start, count, step, out, sizeof out, NULL), B2C_OK);
        CHECK(b2i_alloc_nbytes() <= 1 << 16);
        for (int i = 0; i < 600; i++) {
            wrong += memcmp(out[i], expected[k], sizeof item) != 0;
        }
        CHECK_EQ(wrong, 0);
        CHECK_EQ(b2c_nd_read_item(s, own, &huge, start, 0, item, sizeof item, NULL), B2C_OK);
        CHECK(memcmp(item, expected[k], sizeof item) == 0);
        CHECK(b2i_alloc_nbytes() <= 1 << 16);
        b2c_schunk_free(s);
    }
}

int main(void)
{
    b2c_pool *pool = NULL;
    b2c_ctx *ctx = NULL;
    char path[64];
    uint32_t *out = malloc(CHUNK_NBYTES);
    items = malloc(CHUNK_NBYTES);
    uint64_t seed = 3;
    (void)snprintf(path, sizeof path, "test_nd_memory.%ld.b2nd", (long)getpid());
    for (size_t i = 0; i < CHUNK_NBYTES / 4;
         i++) { /* hardly compressible, so that stored bytes count */
        items[i] = (uint32_t)harness_random(&seed) & 0xFFFFFF;
    }
    CHECK_EQ(b2c_pool_new(2, &pool, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(pool, 2, NULL, &ctx, NULL), B2C_OK);
    for (int k = 0; k < 4; k++) { /* in memory and in a file; with shuffle and with delta */
        b2c_schunk *s = nd_array_new(&nd, k % 2 == 0 ? NULL : path,
                                     k < 2 ? B2C_FILTER_SHUFFLE : B2C_FILTER_DELTA);
        CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, items, CHUNK_NBYTES, NULL), B2C_OK);
        check_boxes(s, NULL, out);
        check_boxes(s, pool, out);
        check_places(s, pool, out);
        b2c_schunk_free(s);
        (void)remove(path);
    }
    test_special(ctx);
    free(items);
    free(out);
    b2c_ctx_free(ctx);
    b2c_pool_free(pool);
    return RESULT();
}
