/*
 * shuffle_generic.c: shuffle in portable C; the specification of the other kernels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "vec_u64.h"

/*
 * Up to 7 columns go byte by byte with a constant number of columns, which
 * compilers vectorise; from 8 columns on by 8 by 8 bytes at a time.
 */

static void shuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    switch (unit) {
    case 2:
        plain_shuffle(src, dst, 2, 0, nelems);
        return;
    case 3:
        plain_shuffle(src, dst, 3, 0, nelems);
        return;
    case 4:
        plain_shuffle(src, dst, 4, 0, nelems);
        return;
    default:
        break;
    }
    if (unit < STRIP || nelems < VEC_LEN) {
        plain_shuffle(src, dst, unit, 0, nelems);
        return;
    }
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            transpose8(src + i * unit + c, unit, dst + c * nelems + i, nelems);
        }
    }
}

static void unshuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    switch (unit) {
    case 2:
        plain_unshuffle(src, dst, 2, 0, nelems);
        return;
    case 3:
        plain_unshuffle(src, dst, 3, 0, nelems);
        return;
    case 4:
        plain_unshuffle(src, dst, 4, 0, nelems);
        return;
    default:
        break;
    }
    if (unit < STRIP || nelems < VEC_LEN) {
        plain_unshuffle(src, dst, unit, 0, nelems);
        return;
    }
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            transpose8(src + c * nelems + i, nelems, dst + i * unit + c, unit);
        }
    }
}

const b2i_shuffle_ops b2i_shuffle_generic = { "generic", shuffle, unshuffle };
