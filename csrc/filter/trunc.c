/*
 * trunc.c: trunc_prec and int_trunc, which clear low bits and cannot be undone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "elementwise.h"
#include "filter.h"

#include <string.h>

/* Bits that may be cleared: the mantissa of a float, all of an integer; 0: no such type. */
static int width_of(uint8_t filter, size_t typesize)
{
    if (filter == B2C_FILTER_TRUNC_PREC) {
        return typesize == 4 ? 23 : typesize == 8 ? 52 : 0;
    }
    return typesize == 1 || typesize == 2 || typesize == 4 || typesize == 8 ? 8 * (int)typesize : 0;
}

int b2i_trunc_nbits(uint8_t filter, size_t typesize, uint8_t meta)
{
    int width = width_of(filter, typesize);
    int m = meta < 128 ? meta : meta - 256;

    if (m > 0 && m <= width) {
        return width - m; /* so many bits are kept */
    }
    if (m < 0 && -m < width) {
        return -m; /* so many bits are cleared */
    }
    return -1;
}

void b2i_trunc(const uint8_t *src, size_t n, size_t typesize, unsigned nbits, uint8_t *dst)
{
    uint64_t element = ~UINT64_C(0) << nbits;
    uint8_t mask[8];
    for (size_t i = 0; i < 8; i++) {
        mask[i] = (uint8_t)(element >> 8 * (i % typesize));
    }

    size_t len = n - n % typesize;
    size_t i = 0;
    uint64_t mask_word;
    memcpy(&mask_word, mask, 8);
    for (; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, src + i, 8);
        word &= mask_word;
        memcpy(dst + i, &word, 8);
    }
    for (; i < n; i++) {
        dst[i] = i < len ? src[i] & mask[i % 8] : src[i];
    }
}
