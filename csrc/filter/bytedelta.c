/*
 * bytedelta.c: differences of consecutive bytes in the planes of a shuffled block.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "elementwise.h"
#include "bytes.h"
#include "kernel.h"

/* Sums in each byte of a word, modulo 256. */
static uint64_t add_bytes(uint64_t a, uint64_t b)
{
    const uint64_t low7 = UINT64_C(0x7F7F7F7F7F7F7F7F);
    return ((a & low7) + (b & low7)) ^ ((a ^ b) & ~low7);
}

/* dst[i] = src[0] + … + src[i], 8 bytes at a time. */
static void running_sum(const uint8_t *restrict src, size_t n, uint8_t *restrict dst)
{
    uint8_t last = 0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t x = b2i_ld64le(src + i);
        x = add_bytes(x, x << 8);
        x = add_bytes(x, x << 16);
        x = add_bytes(x, x << 32);
        x = add_bytes(x, last * UINT64_C(0x0101010101010101));
        b2i_st64le(dst + i, x);
        last = (uint8_t)(x >> 56);
    }
    for (; i < n; i++) {
        last = (uint8_t)(last + src[i]);
        dst[i] = last;
    }
}

static void differences(const uint8_t *restrict src, size_t n, uint8_t *restrict dst)
{
    dst[0] = src[0];
    for (size_t i = 1; i < n; i++) {
        dst[i] = (uint8_t)(src[i] - src[i - 1]);
    }
}

void b2i_bytedelta_forward(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    size_t len = n / unit; /* of a plane */
    size_t done = len * unit;
    for (size_t at = 0; at < done; at += len) {
        differences(src + at, len, dst + at);
    }
    copy_rest(src, n, done, dst);
}

void b2i_bytedelta_backward(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    size_t len = n / unit;
    size_t done = len * unit;
    for (size_t at = 0; at < done; at += len) {
        running_sum(src + at, len, dst + at);
    }
    copy_rest(src, n, done, dst);
}

void b2i_bytedelta34_backward(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    size_t len = n / unit;
    size_t done = len * unit;
    size_t vectors = len - len % 16; /* what its vector loop did before a second loop began */
    for (size_t at = 0; at < done; at += len) {
        running_sum(src + at, vectors, dst + at);
        running_sum(src + at + vectors, len - vectors, dst + at + vectors);
    }
    copy_rest(src, n, done, dst);
}
