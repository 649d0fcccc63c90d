/*
 * bitshuffle.h: bit b of byte j of every element goes to row 8 * j + b.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_BITSHUFFLE_H
#define B2I_BITSHUFFLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * n bytes in elements of 'typesize' (1 or more).  Whole groups of 8 elements are
 * transposed, the bytes after them copied.
 */
void b2i_bitshuffle(const uint8_t *src, size_t n, size_t typesize, uint8_t *dst);
void b2i_bitunshuffle(const uint8_t *src, size_t n, size_t typesize, uint8_t *dst);

/* ---- kernels ---- */

/* 8 * row_len elements of 'typesize' bytes; any alignment, no overlap. */
typedef void b2i_bitshuffle_fn(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len);

typedef struct b2i_bitshuffle_ops {
    const char *name;
    b2i_bitshuffle_fn *shuffle; /* NULL: keep the weaker level's */
    b2i_bitshuffle_fn *unshuffle;
} b2i_bitshuffle_ops;

extern const b2i_bitshuffle_ops b2i_bitshuffle_generic;
extern const b2i_bitshuffle_ops b2i_bitshuffle_sse2;
extern const b2i_bitshuffle_ops b2i_bitshuffle_avx2;
extern const b2i_bitshuffle_ops b2i_bitshuffle_avx512;
extern const b2i_bitshuffle_ops b2i_bitshuffle_neon;

/* The i-th table that this machine can run, weakest first; NULL after the last. */
const b2i_bitshuffle_ops *b2i_bitshuffle_table(size_t i);

#endif
