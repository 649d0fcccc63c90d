/*
 * bitshuffle_avx512.c: bitshuffle for AVX-512 with VBMI and GFNI.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In groups of 512 elements, so that rows are read and written in whole cache lines: a byte shuffle
 * of a group, or of several, into planes that stay in the L1 cache, then for each plane of a group
 * 64 times 8 by 8 bits, and the bytes of these to 8 rows.
 */
#include "bitshuffle.h"
#include "shuffle.h"
#include "vec_avx512.h"
#include "vec_net.h"
#include "bitshuffle_tile.h"

enum {
    ROW = 64,
    GROUP = 8 * ROW, /* elements */
    MAX_UNIT = 32,   /* so many planes of a group are 18 kB */
    ROOM = MAX_UNIT * (GROUP + VEC_LEN)
};

/*
 * How many groups of units of 3 are shuffled at once: their byte shuffle has much to prepare, and
 * reads across what was just written, for which it had to wait with a single group.  Steps are of
 * about the same length.
 */
static size_t groups_of_3(size_t row_len)
{
    const size_t most = MAX_UNIT / 3, ngroups = (row_len + ROW - 1) / ROW;
    const size_t nsteps = (ngroups + most - 1) / most, n = (ngroups + nsteps - 1) / nsteps;
    return n * ROW <= row_len ? n : row_len / ROW;
}

/*
 * Each 8 bytes as a matrix of 8 by 8 bits.  The instruction multiplies it with
 * vectors, here with those of one bit, and takes its rows in reverse.
 */
B2I_KERNEL vec transpose_reversed(vec rows)
{
    const vec unit_vectors = _mm512_set1_epi64((long long)0x8040201008040201);
    return _mm512_gf2p8affine_epi64_epi8(unit_vectors, rows, 0);
}

B2I_KERNEL vec reverse_each_8(vec v)
{
    const vec order =
        _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    return _mm512_shuffle_epi8(v, order);
}

/* The bits of GROUP bytes to 8 rows, and back. */
B2I_KERNEL void plane_to_rows(const uint8_t *plane, uint8_t *rows, size_t row_len)
{
    vec a[8], v[8];
    B2I_UNROLL
    for (size_t r = 0; r < 8; r++) {
        a[r] = transpose_reversed(reverse_each_8(vec_load(plane + ROW * r)));
    }
    rows_split(a, 8, v);
    B2I_UNROLL
    for (size_t b = 0; b < 8; b++) {
        vec_store(rows + b * row_len, v[b]);
    }
}

B2I_KERNEL void rows_to_plane(const uint8_t *rows, size_t row_len, uint8_t *plane)
{
    vec a[8], v[8];
    B2I_UNROLL
    for (size_t b = 0; b < 8; b++) {
        v[7 - b] = vec_load(rows + b * row_len); /* reversed at no cost */
    }
    rows_join(v, 8, a);
    B2I_UNROLL
    for (size_t r = 0; r < 8; r++) {
        vec_store(plane + ROW * r, transpose_reversed(a[r]));
    }
}

/* n groups at a time, whose planes are apart for the sake of cache sets. */
B2I_KERNEL void shuffle_groups(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len,
                               size_t n)
{
    uint8_t planes[ROOM];
    const size_t stride = n * GROUP + VEC_LEN;
    for (size_t at = 0; at < row_len; at = next_step(at, n * ROW, row_len)) {
        const uint8_t *from = src + 8 * at * typesize;
        if (typesize > 1) {
            b2i_shuffle_avx512.shuffle(from, typesize, n * GROUP, planes, stride);
            from = planes;
        }
        for (size_t j = 0; j < typesize; j++) {
            uint8_t *rows = dst + 8 * j * row_len + at;
            for (size_t g = 0; g < n; g++) {
                plane_to_rows(from + j * stride + g * GROUP, rows + g * ROW, row_len);
            }
        }
    }
}

B2I_KERNEL void unshuffle_groups(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len,
                                 size_t n)
{
    uint8_t bytes[ROOM];
    b2i_plane planes[MAX_UNIT];
    const size_t stride = n * GROUP + VEC_LEN;
    for (size_t j = 0; j < typesize; j++) {
        planes[j] = (b2i_plane){ bytes + j * stride, SIZE_MAX };
    }
    for (size_t at = 0; at < row_len; at = next_step(at, n * ROW, row_len)) {
        uint8_t *to = dst + 8 * at * typesize;
        for (size_t j = 0; j < typesize; j++) {
            const uint8_t *rows = src + 8 * j * row_len + at;
            for (size_t g = 0; g < n; g++) {
                rows_to_plane(rows + g * ROW, row_len,
                              typesize == 1 ? to : bytes + j * stride + g * GROUP);
            }
        }
        if (typesize > 1) {
            b2i_shuffle_avx512.unshuffle(planes, typesize, n * GROUP, to);
        }
    }
}

static void shuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len < VEC_LEN) {
        b2i_bitshuffle_generic.shuffle(src, dst, typesize, row_len);
    } else if (typesize > MAX_UNIT) {
        tiled_shuffle(src, dst, typesize, row_len);
    } else if (typesize == 3) {
        shuffle_groups(src, dst, 3, row_len, groups_of_3(row_len));
    } else {
        shuffle_groups(src, dst, typesize, row_len, 1);
    }
}

static void unshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len < VEC_LEN) {
        b2i_bitshuffle_generic.unshuffle(src, dst, typesize, row_len);
    } else if (typesize > MAX_UNIT) {
        tiled_unshuffle(src, dst, typesize, row_len);
    } else if (typesize == 3) {
        unshuffle_groups(src, dst, 3, row_len, groups_of_3(row_len));
    } else {
        unshuffle_groups(src, dst, typesize, row_len, 1);
    }
}

const b2i_bitshuffle_ops b2i_bitshuffle_avx512 = { "avx512", shuffle, unshuffle };
