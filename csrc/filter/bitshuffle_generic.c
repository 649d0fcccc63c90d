/*
 * bitshuffle_generic.c: bitshuffle in portable C; the specification of the other kernels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bitshuffle.h"
#include "vec_u64.h"
#include "bitshuffle_tile.h"

static void shuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len >= VEC_LEN) {
        tiled_shuffle(src, dst, typesize, row_len);
        return;
    }
    for (size_t at = 0; at < row_len; at++) {
        const uint8_t *group = src + at * 8 * typesize;
        for (size_t row = 0; row < 8 * typesize; row++) {
            unsigned bits = 0;
            for (size_t i = 0; i < 8; i++) {
                bits |= (group[i * typesize + row / 8] >> row % 8 & 1u) << i;
            }
            dst[row * row_len + at] = (uint8_t)bits;
        }
    }
}

static void unshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len >= VEC_LEN) {
        tiled_unshuffle(src, dst, typesize, row_len);
        return;
    }
    for (size_t at = 0; at < row_len; at++) {
        uint8_t *group = dst + at * 8 * typesize;
        for (size_t i = 0; i < 8; i++) {
            for (size_t j = 0; j < typesize; j++) {
                unsigned byte = 0;
                for (size_t b = 0; b < 8; b++) {
                    byte |= (src[(8 * j + b) * row_len + at] >> i & 1u) << b;
                }
                group[i * typesize + j] = (uint8_t)byte;
            }
        }
    }
}

const b2i_bitshuffle_ops b2i_bitshuffle_generic = { "generic", shuffle, unshuffle };
