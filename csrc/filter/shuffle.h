/*
 * shuffle.h: byte k of every element goes to plane k.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_SHUFFLE_H
#define B2I_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

/* n bytes in units of 'unit' (1 or more); bytes after the last whole unit are copied. */
void b2i_shuffle(const uint8_t *src, size_t n, size_t unit, uint8_t *dst);
void b2i_unshuffle(const uint8_t *src, size_t n, size_t unit, uint8_t *dst);

/* ---- kernels ---- */

/* nelems elements of 'unit' bytes, unit >= 2; any alignment, no overlap. */
typedef void b2i_shuffle_fn(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems);

typedef struct b2i_shuffle_ops {
    const char *name;
    b2i_shuffle_fn *shuffle; /* NULL: keep the weaker level's */
    b2i_shuffle_fn *unshuffle;
} b2i_shuffle_ops;

extern const b2i_shuffle_ops b2i_shuffle_generic;
extern const b2i_shuffle_ops b2i_shuffle_sse2;
extern const b2i_shuffle_ops b2i_shuffle_avx2;
extern const b2i_shuffle_ops b2i_shuffle_neon;

/* The i-th table that this machine can run, weakest first; NULL after the last. */
const b2i_shuffle_ops *b2i_shuffle_table(size_t i);

#endif
