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
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[16];
        B2I_UNROLL
        for (size_t k = 0; k < unit; k++) {
            v[k] = vec_load(plane_at(&planes[k], i));
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

/* ---- other units below 16: one strip that is wider than an element ---- */

/* How many elements, from the first, have 16 bytes before the end of all elements. */
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

/* ---- entry: frequent units get code of their own ---- */

#define SHUFFLE_CASE(n, kernel)                                                                    \
    case n:                                                                                        \
        kernel(src, n, nelems, dst, stride);                                                       \
        return

static void vec_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst, size_t stride)
{
    if (nelems < VEC_LEN) {
        b2i_shuffle_generic.shuffle(src, unit, nelems, dst, stride);
        return;
    }
    switch (unit) {
        SHUFFLE_CASE(2, even_shuffle);
        SHUFFLE_CASE(4, even_shuffle);
        SHUFFLE_CASE(8, even_shuffle);
#ifdef VEC_HAS_GROUPS
        SHUFFLE_CASE(16, even_shuffle);
#endif
        SHUFFLE_CASE(3, narrow_shuffle);
        SHUFFLE_CASE(5, narrow_shuffle);
        SHUFFLE_CASE(6, narrow_shuffle);
        SHUFFLE_CASE(7, narrow_shuffle);
        SHUFFLE_CASE(12, narrow_shuffle);
    default:
        break;
    }
    if (unit < STRIP) {
        narrow_shuffle(src, unit, nelems, dst, stride);
    } else {
        wide_shuffle(src, unit, nelems, dst, stride);
    }
}

#define UNSHUFFLE_CASE(n, kernel)                                                                  \
    case n:                                                                                        \
        kernel(planes, n, nelems, dst);                                                            \
        return

static void vec_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    if (nelems < VEC_LEN) {
        b2i_shuffle_generic.unshuffle(planes, unit, nelems, dst);
        return;
    }
    switch (unit) {
        UNSHUFFLE_CASE(2, even_unshuffle);
        UNSHUFFLE_CASE(4, even_unshuffle);
        UNSHUFFLE_CASE(8, even_unshuffle);
        UNSHUFFLE_CASE(16, even_unshuffle);
        UNSHUFFLE_CASE(3, narrow_unshuffle);
        UNSHUFFLE_CASE(5, narrow_unshuffle);
        UNSHUFFLE_CASE(6, narrow_unshuffle);
        UNSHUFFLE_CASE(7, narrow_unshuffle);
        UNSHUFFLE_CASE(12, narrow_unshuffle);
    default:
        break;
    }
    if (unit < STRIP) {
        narrow_unshuffle(planes, unit, nelems, dst);
    } else {
        wide_unshuffle(planes, unit, nelems, dst);
    }
}

#ifdef VEC_HAS_STREAM
/* Units of 2, 4, 8 and 16 bytes. */
static void vec_stream_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    switch (unit) {
        UNSHUFFLE_CASE(2, even_stream);
        UNSHUFFLE_CASE(4, even_stream);
        UNSHUFFLE_CASE(8, even_stream);
    default:
        even_stream(planes, 16, nelems, dst);
    }
}
#endif

#endif
