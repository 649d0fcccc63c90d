/*
 * test_stream.c: results that are written past the caches: they must be those of small parts,
 * which are not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "blosc2c.h"
#include "harness.h"
#include "stream.h"

#ifdef __linux__
#define HAVE_MINCORE 1
#include <sys/mman.h>
#endif

/* A multiple of all type sizes below. */
enum { SIZE = (32 << 20) + 1216, SLACK = 64, PART = 1 << 20, CANARY = 0xA5 };

static uint8_t *data, *chunk, *out;
static b2c_ctx *ctx;

static void test_copy(void)
{
    for (size_t at = 0; at < 64; at += 7) {
        for (size_t n = 0; n < 400; n += 13) {
            memset(out, CANARY, 1024);
            b2i_stream_copy(out + 64 + at, data + 3, n);
            b2i_stream_end();
            CHECK(memcmp(out + 64 + at, data + 3, n) == 0);
            CHECK(out[63 + at] == CANARY && out[64 + at + n] == CANARY);
        }
    }
}

/* Short and long ones, from and to anywhere in a line. */
static void check_plain_copy(void (*copy)(uint8_t *dst, const uint8_t *src, size_t n))
{
    static const size_t lens[] = { 0, 1, 63, 64, 4096, 65535, 65536, 65537, 65600, 70001, PART };
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (size_t at = 0; at < 64; at += 9) {
            const size_t n = lens[i];
            memset(out, CANARY, PART + 256);
            copy(out + 64 + at, data + (at * 5 & 63), n);
            CHECK(memcmp(out + 64 + at, data + (at * 5 & 63), n) == 0);
            CHECK(out[63 + at] == CANARY && out[64 + at + n] == CANARY);
        }
    }
}

/* Only what is large, and was written before. */
static void test_pays(void)
{
    CHECK(!b2i_stream_pays(out, PART));
#ifdef HAVE_MINCORE
    uint8_t *fresh = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)fresh != MAP_FAILED);
    CHECK(!b2i_stream_pays(fresh, SIZE));
#if defined(__SSE2__)
    memset(fresh, 1, SIZE);
    CHECK(b2i_stream_pays(fresh + 16, SIZE - 16));
#endif
    munmap(fresh, SIZE);
#endif
}

/* Decodes items [first, SIZE / typesize - 1) at once, and the chunk, and wants the data. */
static void check_chunk(size_t len, uint32_t typesize, size_t first)
{
    b2c_error err;
    size_t n, nitems = SIZE / typesize - 1 - first;
    uint8_t *dst = out + SLACK - typesize; /* where an allocator's header would leave it */
    memset(out, CANARY, SIZE + 2 * SLACK);
    CHECK_EQ(b2c_decompress(ctx, chunk, len, dst, SIZE, &n, &err), B2C_OK);
    CHECK(n == SIZE && memcmp(dst, data, SIZE) == 0);
    CHECK(dst[-1] == CANARY && dst[SIZE] == CANARY);
    memset(out, CANARY, SIZE + 2 * SLACK);
    CHECK_EQ(b2c_getitem(ctx, chunk, len, first, nitems, dst, SIZE, &n, &err), B2C_OK);
    CHECK(memcmp(dst, data + first * typesize, nitems * typesize) == 0);
    CHECK(dst[-1] == CANARY && dst[nitems * typesize] == CANARY);
}

static void check_filter(uint8_t filter, uint32_t typesize, uint8_t clevel)
{
    b2c_cparams p;
    b2c_error err;
    size_t len;
    b2c_cparams_init(&p);
    p.codec = B2C_CODEC_BLOSCLZ;
    p.clevel = clevel;
    p.typesize = typesize;
    p.filters[5] = filter;
    CHECK_EQ(b2c_compress(ctx, &p, data, SIZE, chunk, SIZE + 32, &len, &err), B2C_OK);
    check_chunk(len, typesize, 5);
}

static void check_special(uint8_t kind, uint32_t typesize, const uint8_t *value)
{
    b2c_cparams p;
    b2c_error err;
    size_t len;
    b2c_cparams_init(&p);
    p.typesize = typesize;
    CHECK_EQ(b2c_special_chunk(&p, kind, SIZE, value, chunk, SIZE, &len, &err), B2C_OK);
    for (size_t at = 0; at < SIZE; at += PART / typesize * typesize) {
        size_t part = PART / typesize, left = (SIZE - at) / typesize, got;
        CHECK_EQ(b2c_getitem(ctx, chunk, len, at / typesize, part < left ? part : left, data + at,
                             SIZE - at, &got, &err),
                 B2C_OK);
    }
    check_chunk(len, typesize, 3);
}

int main(void)
{
    static const uint8_t value[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    b2c_error err;
    uint64_t state = 88172645463325252;
    data = malloc(SIZE);
    chunk = malloc(SIZE + 32);
    out = malloc(SIZE + 2 * SLACK);
    if (data == NULL || chunk == NULL || out == NULL ||
        b2c_ctx_new(NULL, 1, NULL, &ctx, &err) != B2C_OK) {
        return 2;
    }
    for (size_t i = 0; i < SIZE; i += 8) { /* noise, a counter and zeros */
        uint64_t item = (harness_random(&state) & 0xFFFF) | i << 16;
        memcpy(data + i, &item, 8);
    }
    test_copy();
    check_plain_copy(b2i_copy);
    check_plain_copy(b2i_copy_by_lines);
    check_plain_copy(b2i_copy_prefetching);
    check_plain_copy(b2i_copy_by_string);
    test_pays();
    check_filter(B2C_FILTER_SHUFFLE, 8, 5);
    check_filter(B2C_FILTER_SHUFFLE, 4, 5);
    check_filter(B2C_FILTER_SHUFFLE, 12, 1);
    check_filter(B2C_FILTER_BITSHUFFLE, 8, 5);
    check_filter(B2C_FILTER_NONE, 4, 0);
    check_special(B2C_SPECIAL_VALUE, 12, value);
    check_special(B2C_SPECIAL_NAN, 8, NULL);
    check_special(B2C_SPECIAL_ZERO, 4, NULL);
    b2c_ctx_free(ctx);
    free(data);
    free(chunk);
    free(out);
    return RESULT();
}
