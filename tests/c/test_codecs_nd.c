/*
 * test_codecs_nd.c: codecs of blocks of arrays: NDLZ token by token, ZFP, damage, failing
 * allocations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "codec.h"
#include "harness.h"

enum { NDLZ = 32, ZFP_ACC = 33, ZFP_RATE = 35, MAX_N = 4096 };

static b2c_error err;

static b2c_block block_of(uint32_t typesize, uint8_t meta, uint32_t ndim, const uint32_t *shape)
{
    return (b2c_block){
        .typesize = typesize, .meta = meta, .clevel = 5, .ndim = ndim, .blockshape = shape
    };
}

/* Exactly sized, so that a memory checker sees every overrun. */
static b2c_status decode(uint8_t id, const b2c_block *block, const uint8_t *stream, size_t len,
                         uint8_t *out, size_t n)
{
    uint8_t *in = malloc(len == 0 ? 1 : len), *room = malloc(n);
    memcpy(in, stream, len);
    const b2i_codec *codec = b2i_codec_by_id(id);
    b2c_status st = codec->decode_block(codec, block, b2i_span_of(in, len), room, n, &err);
    if (st == B2C_OK) {
        memcpy(out, room, n);
    }
    free(in);
    free(room);
    return st;
}

/* ---- NDLZ: tokens ---- */

static const uint8_t line[4][4] = { "abcd", "efgh", "ijkl", "mnop" };

/* A stream of two cells of 4 x 4, side by side: the first one is literal. */
static size_t two_cells(uint8_t *p, const void *second, size_t n)
{
    static const uint8_t head[] = { 2, 4, 0, 0, 0, 8, 0, 0, 0, 0 };
    memcpy(p, head, sizeof head);
    memcpy(p + 10, line, 16);
    memcpy(p + 26, second, n);
    return 26 + n;
}

static void check_second(const void *token, size_t n, const char *expected)
{
    b2c_block job = { .meta = 4, .typesize = 1 };
    uint8_t stream[64], out[32], cell[16];
    size_t len = two_cells(stream, token, n);
    CHECK_EQ(decode(NDLZ, &job, stream, len, out, 32), B2C_OK);
    for (size_t i = 0; i < 4; i++) {
        CHECK(memcmp(out + 8 * i, line[i], 4) == 0);
        memcpy(cell + 4 * i, out + 8 * i + 4, 4);
    }
    CHECK(memcmp(cell, expected, 16) == 0);
    CHECK_EQ(decode(NDLZ, &job, stream, len - 1, out, 32), B2C_E_CORRUPT);
    CHECK_EQ(decode(NDLZ, &job, stream, len + 1, out, 32), B2C_E_CORRUPT);
}

static void test_tokens(void)
{
    /* the first cell begins 16 bytes before the second token */
    check_second("\x00"
                 "0123456789ABCDEF",
                 17, "0123456789ABCDEF");
    check_second("\x40z", 2, "zzzzzzzzzzzzzzzz");
    check_second("\xC0\x10\0", 3, "abcdefghijklmnop");
    check_second("\xE0\x10\0WXYZ", 7, "WXYZabcdefghijkl");
    check_second("\xE8\x0C\0WXYZ", 7, "efghijklmnopWXYZ");
    check_second("\xF0\x10\0WXYZ", 7, "abcdefghWXYZijkl");
    check_second("\xF8\x10\0WXYZ", 7, "abcdWXYZefghijkl");
    check_second("\x80\x10\0stuvWXYZ", 11, "stuvWXYZabcdefgh");
    check_second("\x88\x10\0stuvWXYZ", 11, "abcdefghstuvWXYZ");
    check_second("\x90\x10\0stuvWXYZ", 11, "abcdstuvefghWXYZ");
    check_second("\x98\x10\0stuvWXYZ", 11, "abcdstuvWXYZefgh");
    check_second("\xB0\x10\0stuvWXYZ", 11, "stuvabcdefghWXYZ");
    check_second("\xB8\x10\0stuvWXYZ", 11, "stuvabcdWXYZefgh");
    check_second("\x28\x10\0\x08\0", 5, "abcdefghijklmnop");
    check_second("\x30\x10\0\x08\0", 5, "abcdijklefghmnop");
    check_second("\x38\x10\0\x08\0", 5, "abcdijklmnopefgh");
}

static void test_bad_streams(void)
{
    static const uint8_t bad[] = { 0x01, 0x20, 0x27, 0x41, 0x7F, 0x81, 0xA0, 0xA8, 0xC1, 0xDF };
    b2c_block job = { .meta = 4, .typesize = 1 }, eight = { .meta = 8, .typesize = 1 };
    uint8_t stream[64], token[12] = { 0, 16 }, out[32];
    for (size_t i = 0; i < sizeof bad; i++) {
        token[0] = bad[i];
        size_t len = two_cells(stream, token, 11);
        CHECK_EQ(decode(NDLZ, &job, stream, len, out, 32), B2C_E_CORRUPT);
        CHECK_EQ(err.status, B2C_E_CORRUPT);
    }
    size_t len = two_cells(stream, "\xC0\x1B\0", 3); /* before the stream */
    CHECK_EQ(decode(NDLZ, &job, stream, len, out, 32), B2C_E_CORRUPT);
    len = two_cells(stream, "\xC0\x0C\0", 3); /* beyond its end */
    CHECK_EQ(decode(NDLZ, &job, stream, len, out, 32), B2C_E_CORRUPT);
    len = two_cells(stream, "\x40z", 2);
    CHECK_EQ(decode(NDLZ, &job, stream, len, out, 31), B2C_E_CORRUPT);
    CHECK_EQ(decode(NDLZ, &eight, stream, len, out, 32), B2C_E_CORRUPT);
    stream[0] = 3; /* dimensions */
    CHECK_EQ(decode(NDLZ, &job, stream, len, out, 32), B2C_E_CORRUPT);
    memset(stream + 1, 0, 8);
    CHECK_EQ(decode(NDLZ, &job, stream, len, out, 32), B2C_E_CORRUPT);
}

/* ---- NDLZ: any data, any shape, any room ---- */

static void fill(uint8_t *p, size_t n, uint64_t *seed, unsigned kind)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t r = harness_random(seed);
        p[i] = kind == 0   ? (uint8_t)r
               : kind == 1 ? (uint8_t)(i / 4 % 3)
               : kind == 2 ? (uint8_t)(r % 2)
               : i < 64    ? (uint8_t)r
               : r % 50    ? p[i - 64]
                           : (uint8_t)r;
    }
}

static void test_round_trips(void)
{
    const b2i_codec *ndlz = b2i_codec_by_id(NDLZ);
    static uint8_t src[MAX_N], dst[MAX_N], out[MAX_N];
    uint64_t seed = 77;
    for (int round = 0; round < 2000; round++) {
        uint32_t shape[2] = { (uint32_t)(harness_random(&seed) % 64 + 1),
                              (uint32_t)(harness_random(&seed) % 64 + 1) };
        size_t n = (size_t)shape[0] * shape[1], len = 0, again = 0;
        b2c_block job = block_of(1, round % 2 == 0 ? 4 : 8, 2, shape);
        fill(src, n, &seed, (unsigned)(round / 2 % 4));
        CHECK_EQ(ndlz->check_block(&job, n, &err), B2C_OK);
        CHECK_EQ(ndlz->encode_block(ndlz, &job, b2i_span_of(src, n), dst, MAX_N, &len, &err),
                 B2C_OK);
        if (len != 0) {
            CHECK_EQ(decode(NDLZ, &job, dst, len, out, n), B2C_OK);
            CHECK(memcmp(src, out, n) == 0);
        }
        /* With room for less it says so, and never writes beyond. */
        size_t cap = (size_t)harness_random(&seed) % (len + 1);
        uint8_t *small = malloc(cap + 1);
        CHECK_EQ(ndlz->encode_block(ndlz, &job, b2i_span_of(src, n), small, cap, &again, &err),
                 B2C_OK);
        CHECK(again == 0 || again <= cap);
        free(small);
    }
}

/* ---- ZFP ---- */

static double item_of(size_t i)
{
    return 100.0 + (double)(i % 37) * 0.25 + (double)(i / 37);
}

static void test_zfp(uint8_t id, uint8_t meta, uint32_t ndim)
{
    const b2i_codec *zfp = b2i_codec_by_id(id);
    static const uint32_t shape[] = { 20, 6, 4, 7 };
    b2c_block job = block_of(8, meta, ndim, shape);
    static double items[MAX_N], back[MAX_N];
    static uint8_t dst[MAX_N * 8];
    size_t n = 8, len = 0;
    uint64_t seed = id + ndim;
    for (uint32_t d = 0; d < ndim; d++) {
        n *= shape[d];
    }
    for (size_t i = 0; i < n / 8; i++) {
        items[i] = item_of(i);
    }
    CHECK_EQ(zfp->check_block(&job, n, &err), B2C_OK);
    CHECK_EQ(zfp->check_block(&job, n - 8, &err), B2C_E_ARGUMENT);
    CHECK_EQ(zfp->encode_block(zfp, &job, b2i_span_of(items, n), dst, sizeof dst, &len, &err),
             B2C_OK);
    CHECK(len > 0);
    CHECK_EQ(decode(id, &job, dst, len, (uint8_t *)back, n), B2C_OK);
    for (size_t i = 0; i < n / 8; i++) {
        double e = back[i] - items[i];
        CHECK(id != ZFP_ACC || (e < 0.001 && e > -0.001));
    }
    CHECK_EQ(decode(id, &job, dst, len, (uint8_t *)back, n - 8), B2C_E_UNSUPPORTED);
    job.ndim = 0;
    CHECK_EQ(decode(id, &job, dst, len, (uint8_t *)back, n), B2C_E_UNSUPPORTED);
    job.ndim = ndim;
    CHECK_EQ(decode(id, &job, dst, len - 8, (uint8_t *)back, n), B2C_E_CORRUPT);
    memset(dst + len, 0, 8);
    CHECK_EQ(decode(id, &job, dst, len + 8, (uint8_t *)back, n), B2C_E_CORRUPT);
    /* Bits of any kind: zfp itself asserts that it does not leave its buffer. */
    for (int round = 0; round < 300; round++) {
        size_t m = harness_random(&seed) % (len + 1);
        for (size_t i = 0; i < m; i++) {
            uint64_t r = harness_random(&seed);
            dst[i] = round % 3 == 0 ? (uint8_t)r : round % 3 == 1 ? 0xFF : (uint8_t)(r & r >> 8);
        }
        b2c_status st = decode(id, &job, dst, m, (uint8_t *)back, n);
        CHECK(st == B2C_OK || st == B2C_E_CORRUPT);
    }
}

/* ---- allocations ---- */

static void test_no_memory(uint8_t id, uint32_t ndim)
{
    static const uint32_t shape[] = { 16, 16 };
    const b2i_codec *codec = b2i_codec_by_id(id);
    b2c_block job = block_of(id == NDLZ ? 1 : 4, 4, ndim, shape);
    static uint8_t src[1024], dst[2048];
    size_t n = id == NDLZ ? 256 : 1024, len = 0;
    b2c_status st = B2C_E_MEMORY;
    int failures = 0;
    for (uint64_t k = 1; st != B2C_OK; k++, failures++) {
        b2i_alloc_fail_at(k, false);
        st = codec->encode_block(codec, &job, b2i_span_of(src, n), dst, sizeof dst, &len, &err);
        if (st == B2C_OK) {
            st = codec->decode_block(codec, &job, b2i_span_of(dst, len), src, n, &err);
        }
        b2i_alloc_fail_at(0, false);
        CHECK(st == B2C_OK || (st == B2C_E_MEMORY && err.status == B2C_E_MEMORY));
    }
    CHECK(failures > 0);
}

int main(void)
{
    test_tokens();
    test_bad_streams();
    test_round_trips();
    test_no_memory(NDLZ, 2);
    if (b2c_codec_available(ZFP_ACC)) {
        for (uint8_t id = ZFP_ACC; id <= ZFP_RATE; id++) {
            for (uint32_t ndim = 1; ndim <= 4; ndim++) {
                test_zfp(id, id == ZFP_ACC ? 253 : 20, ndim);
            }
        }
        test_no_memory(ZFP_ACC, 2);
    }
    return RESULT();
}
