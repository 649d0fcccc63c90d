/*
 * bitshuffle_sse2.c: bitshuffle for SSE2.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bitshuffle.h"
#include "vec_sse2.h"
#include "vec_net.h"
#include "bitshuffle_tile.h"

static void shuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len < VEC_LEN) {
        b2i_bitshuffle_generic.shuffle(src, dst, typesize, row_len);
    } else {
        tiled_shuffle(src, dst, typesize, row_len);
    }
}

static void unshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len < VEC_LEN) {
        b2i_bitshuffle_generic.unshuffle(src, dst, typesize, row_len);
    } else {
        tiled_unshuffle(src, dst, typesize, row_len);
    }
}

const b2i_bitshuffle_ops b2i_bitshuffle_sse2 = { "sse2", shuffle, unshuffle };
