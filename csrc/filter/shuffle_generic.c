/*
 * shuffle_generic.c: shuffle in portable C; the specification of the other kernels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "bytes.h"
#include "vec_u64.h"

/*
 * Up to 7 columns go byte by byte with a constant number of columns, which
 * compilers vectorise; from 8 columns on by 8 by 8 bytes at a time.
 */

static void shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst, size_t stride)
{
    switch (unit) {
    case 2:
        plain_shuffle(src, 2, 0, nelems, dst, stride);
        return;
    case 3:
        plain_shuffle(src, 3, 0, nelems, dst, stride);
        return;
    case 4:
        plain_shuffle(src, 4, 0, nelems, dst, stride);
        return;
    default:
        break;
    }
    if (unit < STRIP || nelems < VEC_LEN) {
        plain_shuffle(src, unit, 0, nelems, dst, stride);
        return;
    }
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            transpose8(src + i * unit + c, unit, dst + c * stride + i, stride);
        }
    }
}

static void unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    switch (unit) {
    case 2:
        plain_unshuffle(planes, 2, 0, nelems, dst);
        return;
    case 3:
        plain_unshuffle(planes, 3, 0, nelems, dst);
        return;
    case 4:
        plain_unshuffle(planes, 4, 0, nelems, dst);
        return;
    default:
        break;
    }
    if (unit < STRIP || nelems < VEC_LEN) {
        plain_unshuffle(planes, unit, 0, nelems, dst);
        return;
    }
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            vec v[8];
            for (size_t k = 0; k < 8; k++) {
                v[k ^ ROW_FLIP] = vec_load(plane_at(&planes[c + k], i));
            }
            transpose_words(v, dst + i * unit + c, unit);
        }
    }
}

/* Sums in each byte of a word, modulo 256. */
static uint64_t add_bytes(uint64_t a, uint64_t b)
{
    const uint64_t low7 = UINT64_C(0x7F7F7F7F7F7F7F7F);
    return ((a & low7) + (b & low7)) ^ ((a ^ b) & ~low7);
}

static void sum(const uint8_t *src, size_t n, uint8_t *dst)
{
    uint64_t before = 0; /* the sum of all words before, in each byte */
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t x = b2i_ld64le(src + i);
        x = add_bytes(x, x << 8);
        x = add_bytes(x, x << 16);
        x = add_bytes(x, x << 32);
        b2i_st64le(dst + i, add_bytes(x, before));
        before = add_bytes(before, (x >> 56) * UINT64_C(0x0101010101010101));
    }
    sum_rest(src, n, i, dst);
}

const b2i_shuffle_ops b2i_shuffle_generic = { "generic", shuffle, unshuffle, NULL, sum };
