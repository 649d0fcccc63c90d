/*
 * bytedelta.c: differences of consecutive bytes in the planes of a shuffled block.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "elementwise.h"
#include "kernel.h"
#include "shuffle.h"

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
        b2i_plane_sum(src + at, len, dst + at);
    }
    copy_rest(src, n, done, dst);
}

void b2i_bytedelta34_backward(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    size_t len = n / unit;
    size_t done = len * unit;
    size_t vectors = len - len % 16; /* what its vector loop did before a second loop began */
    for (size_t at = 0; at < done; at += len) {
        b2i_plane_sum(src + at, vectors, dst + at);
        b2i_plane_sum(src + at + vectors, len - vectors, dst + at + vectors);
    }
    copy_rest(src, n, done, dst);
}
