/*
 * shuffle_vec.h: the shuffle of every instruction set with vectors, over vec_net.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_SHUFFLE_VEC_H
#define B2I_SHUFFLE_VEC_H

/* ---- units of 2, 4, 8 and 16 bytes; nelems >= VEC_LEN ---- */

B2I_KERNEL void even_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                             size_t stride)
{
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        prefetch_ahead(src + i * unit, VEC_LEN * unit);
        group_shuffle(src + i * unit, unit, dst + i, stride);
    }
}

B2I_KERNEL void join_all(const b2i_plane *planes, size_t unit, size_t nelems, bool streaming,
                         uint8_t *dst)
{
    b2i_plane own[16]; /* that no store changes */
    memcpy(own, planes, unit * sizeof *planes);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[16];
        B2I_UNROLL
        for (size_t k = 0; k < unit; k++) {
            v[k] = vec_load(plane_at(&own[k], i));
        }
        group_join(v, unit, streaming, dst + i * unit);
    }
}

B2I_KERNEL void even_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    join_all(planes, unit, nelems, false, dst);
}

B2I_KERNEL void even_stream(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    join_all(planes, unit, nelems, true, dst);
}

/* ---- other units below 16 ---- */

#ifdef VEC_HAS_LOOKUP
#include "shuffle_weave.h"
#else
#define weave_shuffle   narrow_shuffle
#define weave_unshuffle narrow_unshuffle

/*
 * By one strip that is wider than an element: how many elements, from the first, have 16 bytes
 * before the end of all elements.
 */
B2I_KERNEL size_t strip_limit(size_t unit, size_t nelems)
{
    size_t beyond = (STRIP - 1) / unit; /* elements at the end that have fewer */
    return nelems > beyond ? nelems - beyond : 0;
}

B2I_KERNEL void narrow_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                               size_t stride)
{
    size_t limit = strip_limit(unit, nelems);
    if (limit < VEC_LEN) {
        plain_shuffle(src, unit, 0, nelems, dst, stride);
        return;
    }
    for (size_t i = 0; i < limit; i = next_step(i, VEC_LEN, limit)) {
        prefetch_ahead(src + i * unit, VEC_LEN * unit);
        columns_shuffle(src + i * unit, unit, unit, dst + i, stride);
    }
    plain_shuffle(src, unit, limit, nelems, dst, stride);
}

B2I_KERNEL void narrow_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    size_t limit = strip_limit(unit, nelems);
    if (limit < VEC_LEN) {
        plain_unshuffle(planes, unit, 0, nelems, dst);
        return;
    }
    for (size_t i = 0; i < limit; i = next_step(i, VEC_LEN, limit)) {
        vec v[16];
        B2I_UNROLL
        for (size_t k = 0; k < 16; k++) {
            v[k] = k < unit ? vec_load(plane_at(&planes[k], i)) : vec_zero();
        }
        columns_join(v, dst + i * unit, unit);
    }
    plain_unshuffle(planes, unit, limit, nelems, dst);
}
#endif

/*
 * ---- units of 16 and more: strips side by side, the last one moved back; nelems >= VEC_LEN ----
 */

enum { LINE = 64, CROWDED = 512 };

/*
 * Through a tile, so that planes are written in whole cache lines.  It is worth
 * the copy when planes lie a multiple of CROWDED bytes apart: their lines then share
 * a few cache sets and would not stay there until a later step fills them up.
 */
static void crowded_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                            size_t stride)
{
    uint8_t tile[STRIP * LINE];

    for (size_t i = 0; i < nelems; i = next_step(i, LINE, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            strip_shuffle(src + i * unit + c, unit, LINE, tile, LINE);
            for (size_t k = 0; k < STRIP; k++) {
                for (size_t v = 0; v < LINE; v += VEC_LEN) {
                    vec_store(dst + (c + k) * stride + i + v, vec_load(tile + k * LINE + v));
                }
            }
        }
    }
}

static void wide_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                         size_t stride)
{
    if (sizeof(vec) < LINE && stride % CROWDED == 0 && nelems >= LINE) {
        crowded_shuffle(src, unit, nelems, dst, stride);
        return;
    }
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            columns_shuffle(src + i * unit + c, unit, STRIP, dst + c * stride + i, stride);
        }
    }
}

static void wide_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            vec v[16];
            B2I_UNROLL
            for (size_t k = 0; k < 16; k++) {
                v[k] = vec_load(plane_at(&planes[c + k], i));
            }
            columns_join(v, dst + i * unit + c, unit);
        }
    }
}

/* ---- entry: frequent units get functions of their own, in which 'unit' is a constant ---- */

#define SHUFFLE_OF(name, n, kernel)                                                                \
    static void name##_##n(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,           \
                           size_t stride)                                                          \
    {                                                                                              \
        (void)unit;                                                                                \
        kernel(src, n, nelems, dst, stride);                                                       \
    }

#define UNSHUFFLE_OF(name, n, kernel)                                                              \
    static void name##_##n(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)      \
    {                                                                                              \
        (void)unit;                                                                                \
        kernel(planes, n, nelems, dst);                                                            \
    }

#define UNEVEN(n)                                                                                  \
    SHUFFLE_OF(shuffle, n, weave_shuffle)                                                          \
    UNSHUFFLE_OF(unshuffle, n, weave_unshuffle)

SHUFFLE_OF(shuffle, 2, even_shuffle)
SHUFFLE_OF(shuffle, 4, even_shuffle)
SHUFFLE_OF(shuffle, 8, even_shuffle)
#ifdef VEC_HAS_GROUPS
SHUFFLE_OF(shuffle, 16, even_shuffle)
#else
#define shuffle_16 wide_shuffle
#endif
UNSHUFFLE_OF(unshuffle, 2, even_unshuffle)
UNSHUFFLE_OF(unshuffle, 4, even_unshuffle)
UNSHUFFLE_OF(unshuffle, 8, even_unshuffle)
UNSHUFFLE_OF(unshuffle, 16, even_unshuffle)
UNEVEN(3)
UNEVEN(5)
UNEVEN(6)
UNEVEN(7)
UNEVEN(9)
UNEVEN(10)
UNEVEN(11)
UNEVEN(12)
UNEVEN(13)
UNEVEN(14)
UNEVEN(15)
#ifdef VEC_HAS_LOOKUP
UNEVEN(24)
#else
#define shuffle_24   wide_shuffle
#define unshuffle_24 wide_unshuffle
#endif
#ifdef VEC_IS_ROW
UNEVEN(32)
#else
#define shuffle_32   wide_shuffle
#define unshuffle_32 wide_unshuffle
#endif

enum { MAX_OWN = 32 };

/* By unit; what is not here is wide. */
static b2i_shuffle_fn *const shuffles[MAX_OWN + 1] = {
    [2] = shuffle_2,   [3] = shuffle_3,   [4] = shuffle_4,   [5] = shuffle_5,   [6] = shuffle_6,
    [7] = shuffle_7,   [8] = shuffle_8,   [9] = shuffle_9,   [10] = shuffle_10, [11] = shuffle_11,
    [12] = shuffle_12, [13] = shuffle_13, [14] = shuffle_14, [15] = shuffle_15, [16] = shuffle_16,
    [24] = shuffle_24, [32] = shuffle_32,
};
static b2i_unshuffle_fn *const unshuffles[MAX_OWN + 1] = {
    [2] = unshuffle_2,   [3] = unshuffle_3,   [4] = unshuffle_4,   [5] = unshuffle_5,
    [6] = unshuffle_6,   [7] = unshuffle_7,   [8] = unshuffle_8,   [9] = unshuffle_9,
    [10] = unshuffle_10, [11] = unshuffle_11, [12] = unshuffle_12, [13] = unshuffle_13,
    [14] = unshuffle_14, [15] = unshuffle_15, [16] = unshuffle_16, [24] = unshuffle_24,
    [32] = unshuffle_32,
};

static void vec_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst, size_t stride)
{
    b2i_shuffle_fn *own = unit <= MAX_OWN ? shuffles[unit] : NULL;
    (nelems < VEC_LEN ? b2i_shuffle_generic.shuffle
     : own != NULL    ? own
                      : wide_shuffle)(src, unit, nelems, dst, stride);
}

static void vec_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    b2i_unshuffle_fn *own = unit <= MAX_OWN ? unshuffles[unit] : NULL;
    (nelems < VEC_LEN ? b2i_shuffle_generic.unshuffle
     : own != NULL    ? own
                      : wide_unshuffle)(planes, unit, nelems, dst);
}

#ifdef VEC_HAS_STREAM
UNSHUFFLE_OF(stream, 2, even_stream)
UNSHUFFLE_OF(stream, 4, even_stream)
UNSHUFFLE_OF(stream, 8, even_stream)
UNSHUFFLE_OF(stream, 16, even_stream)

/* Units of 2, 4, 8 and 16 bytes. */
static void vec_stream_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    (unit == 2   ? stream_2
     : unit == 4 ? stream_4
     : unit == 8 ? stream_8
                 : stream_16)(planes, unit, nelems, dst);
}
#endif

#endif
