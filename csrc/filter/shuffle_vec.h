/*
 * shuffle_vec.h: the shuffle of every instruction set with vectors, over vec_net.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_SHUFFLE_VEC_H
#define B2I_SHUFFLE_VEC_H

/* ---- units of 2, 4, 8 and (backward) 16 bytes; nelems >= VEC_LEN ---- */

B2I_KERNEL void even_shuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        group_shuffle(src + i * unit, unit, dst + i, nelems);
    }
}

B2I_KERNEL void even_unshuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        group_unshuffle(src + i, nelems, dst + i * unit, unit);
    }
}

/* ---- other units below 16: one strip that is wider than an element ---- */

/* How many elements, from the first, have 16 bytes before the end of all elements. */
B2I_KERNEL size_t strip_limit(size_t unit, size_t nelems)
{
    size_t beyond = (STRIP - 1) / unit; /* elements at the end that have fewer */
    return nelems > beyond ? nelems - beyond : 0;
}

B2I_KERNEL void narrow_shuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    size_t limit = strip_limit(unit, nelems);
    size_t i = 0;
    for (; i + VEC_LEN <= limit; i += VEC_LEN) {
        columns_shuffle(src + i * unit, unit, unit, dst + i, nelems);
    }
    plain_shuffle(src, dst, unit, i, nelems);
}

B2I_KERNEL void narrow_unshuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    size_t limit = strip_limit(unit, nelems);
    size_t i = 0;
    for (; i + VEC_LEN <= limit; i += VEC_LEN) {
        columns_unshuffle(src + i, nelems, unit, dst + i * unit, unit);
    }
    plain_unshuffle(src, dst, unit, i, nelems);
}

/* ---- units of 16 and more: strips side by side, the last one moved back; nelems >= VEC_LEN ----
 */

enum { LINE = 64, CROWDED = 512 };

/*
 * Through a tile, so that planes are written in whole cache lines.  It is worth
 * the copy when planes lie a multiple of CROWDED bytes apart: their lines then share
 * a few cache sets and would not stay there until a later step fills them up.
 */
static void crowded_shuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    uint8_t tile[STRIP * LINE];

    for (size_t i = 0; i < nelems; i += LINE) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            strip_shuffle(src + i * unit + c, unit, LINE, tile, LINE);
            for (size_t k = 0; k < STRIP; k++) {
                for (size_t v = 0; v < LINE; v += VEC_LEN) {
                    vec_store(dst + (c + k) * nelems + i + v, vec_load(tile + k * LINE + v));
                }
            }
        }
    }
}

static void wide_shuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    if (nelems % CROWDED == 0) {
        crowded_shuffle(src, dst, unit, nelems);
        return;
    }
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            columns_shuffle(src + i * unit + c, unit, STRIP, dst + c * nelems + i, nelems);
        }
    }
}

static void wide_unshuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            columns_unshuffle(src + c * nelems + i, nelems, STRIP, dst + i * unit + c, unit);
        }
    }
}

/* ---- entry: frequent units get code of their own ---- */

#define UNIT_CASE(n, kernel)                                                                       \
    case n:                                                                                        \
        kernel(src, dst, n, nelems);                                                               \
        return

static void vec_shuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    if (nelems < VEC_LEN) {
        b2i_shuffle_generic.shuffle(src, dst, unit, nelems);
        return;
    }
    switch (unit) {
        UNIT_CASE(2, even_shuffle);
        UNIT_CASE(4, even_shuffle);
        UNIT_CASE(8, even_shuffle);
        UNIT_CASE(3, narrow_shuffle);
        UNIT_CASE(5, narrow_shuffle);
        UNIT_CASE(6, narrow_shuffle);
        UNIT_CASE(7, narrow_shuffle);
        UNIT_CASE(12, narrow_shuffle);
    default:
        break;
    }
    if (unit < STRIP) {
        narrow_shuffle(src, dst, unit, nelems);
    } else {
        wide_shuffle(src, dst, unit, nelems);
    }
}

static void vec_unshuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    if (nelems < VEC_LEN) {
        b2i_shuffle_generic.unshuffle(src, dst, unit, nelems);
        return;
    }
    switch (unit) {
        UNIT_CASE(2, even_unshuffle);
        UNIT_CASE(4, even_unshuffle);
        UNIT_CASE(8, even_unshuffle);
        UNIT_CASE(16, even_unshuffle);
        UNIT_CASE(3, narrow_unshuffle);
        UNIT_CASE(5, narrow_unshuffle);
        UNIT_CASE(6, narrow_unshuffle);
        UNIT_CASE(7, narrow_unshuffle);
        UNIT_CASE(12, narrow_unshuffle);
    default:
        break;
    }
    if (unit < STRIP) {
        narrow_unshuffle(src, dst, unit, nelems);
    } else {
        wide_unshuffle(src, dst, unit, nelems);
    }
}

#endif
