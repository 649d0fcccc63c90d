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

/* A plane to read, anywhere: the block decoder takes them from where they are. */
typedef struct b2i_plane {
    const uint8_t *p; /* byte i is p[i & mask] */
    size_t mask;      /* SIZE_MAX; or 0: one byte, which p holds B2I_RUN_LEN times */
} b2i_plane;

enum { B2I_RUN_LEN = 64, B2I_MAX_UNIT = 255 };

/* Distance for planes of 'len' bytes: whole cache lines, and not all in the same cache set. */
static inline size_t b2i_plane_stride(size_t len)
{
    return (len + 63) / 64 * 64 + 64;
}

/* Whole elements of such planes. */
void b2i_unshuffle_planes(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst);

/* The same, past the caches: see stream.h. */
void b2i_unshuffle_stream(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst);

/* dst[i] = src[0] + … + src[i], modulo 256: undoes bytedelta in a plane.  dst may be src. */
void b2i_plane_sum(const uint8_t *src, size_t n, uint8_t *dst);

/* ---- kernels ---- */

/*
 * nelems elements of 'unit' bytes, unit from 2 to 255; any alignment, no overlap.  Planes to write
 * lie 'stride' >= nelems bytes from each other.
 */
typedef void b2i_shuffle_fn(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                            size_t stride);
typedef void b2i_unshuffle_fn(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst);

typedef struct b2i_shuffle_ops {
    const char *name;
    b2i_shuffle_fn *shuffle; /* NULL: keep the weaker level's */
    b2i_unshuffle_fn *unshuffle;
    /*
     * Past the caches, see stream.h: units of 2, 4, 8 and 16 bytes, whole lines of elements to
     * lines of dst.  NULL: there is none.
     */
    b2i_unshuffle_fn *stream;
    void (*sum)(const uint8_t *src, size_t n, uint8_t *dst);
} b2i_shuffle_ops;

extern const b2i_shuffle_ops b2i_shuffle_generic;
extern const b2i_shuffle_ops b2i_shuffle_sse2;
extern const b2i_shuffle_ops b2i_shuffle_avx2;
extern const b2i_shuffle_ops b2i_shuffle_avx512;
extern const b2i_shuffle_ops b2i_shuffle_neon;

/* The i-th table that this machine can run, weakest first; NULL after the last. */
const b2i_shuffle_ops *b2i_shuffle_table(size_t i);

#endif
