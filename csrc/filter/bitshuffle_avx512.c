/*
 * bitshuffle_avx512.c: bitshuffle for AVX-512 with VBMI and GFNI.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In groups of 512 elements, so that rows are read and written in whole cache lines: the bytes
 * of a group into planes that stay in the L1 cache, 8 by 8 bits transposed, and for each plane the
 * bytes of these to 8 rows.
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
    MAX_NEAR = 12,   /* with more, two lines of each row do not stay in the L1 cache */
    MIN_FAR = 20,    /* and of so many not even one until the next group */
    STRIDE = GROUP + VEC_LEN
};

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

/*
 * The bits of GROUP bytes, those of each 8 transposed, to 8 rows, and back.
 */
B2I_KERNEL void bits_to_rows(vec *a, bool claiming, uint8_t *rows, size_t row_len)
{
    vec v[8];
    rows_split(a, 8, v);
    B2I_UNROLL
    for (size_t b = 0; b < 8; b++) {
        if (claiming) {
            claim_next(rows + b * row_len);
        }
        vec_store(rows + b * row_len, v[b]);
    }
}

B2I_KERNEL void rows_to_bits(const uint8_t *rows, size_t row_len, vec *a)
{
    vec v[8];
    B2I_UNROLL
    for (size_t b = 0; b < 8; b++) {
        v[7 - b] = vec_load(rows + b * row_len); /* reversed at no cost */
    }
    rows_join(v, 8, a);
}

/* The lines of the 8 rows that are written next. */
B2I_KERNEL void claim_rows(const uint8_t *rows, size_t row_len)
{
    B2I_UNROLL
    for (size_t b = 0; b < 8; b++) {
        claim(rows + b * row_len);
        claim(rows + b * row_len + ROW - 1);
    }
}

/* ---- by planes: those of a group are apart for the sake of cache sets ---- */

B2I_KERNEL void shuffle_planes(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len,
                               bool far)
{
    uint8_t planes[MAX_UNIT * STRIDE];
    for (size_t at = 0; at < row_len; at = next_step(at, ROW, row_len)) {
        const uint8_t *from = src + 8 * at * typesize;
        if (typesize > 1) {
            b2i_shuffle_avx512.shuffle(from, typesize, GROUP, planes, STRIDE);
            from = planes;
        }
        for (size_t j = 0; j < typesize; j++) {
            uint8_t *rows = dst + 8 * j * row_len + at;
            if (far && j + 1 < typesize) {
                claim_rows(rows + 8 * row_len, row_len);
            }
            vec a[8];
            B2I_UNROLL
            for (size_t r = 0; r < 8; r++) {
                a[r] = transpose_reversed(reverse_each_8(vec_load(from + j * STRIDE + ROW * r)));
            }
            bits_to_rows(a, !far && typesize <= MAX_NEAR, rows, row_len);
        }
    }
}

B2I_KERNEL void unshuffle_planes(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    uint8_t bytes[MAX_UNIT * STRIDE];
    b2i_plane planes[MAX_UNIT];
    for (size_t j = 0; j < typesize; j++) {
        planes[j] = (b2i_plane){ bytes + j * STRIDE, SIZE_MAX };
    }
    for (size_t at = 0; at < row_len; at = next_step(at, ROW, row_len)) {
        uint8_t *to = dst + 8 * at * typesize, *plane = typesize == 1 ? to : bytes;
        for (size_t j = 0; j < typesize; j++) {
            vec a[8];
            rows_to_bits(src + 8 * j * row_len + at, row_len, a);
            B2I_UNROLL
            for (size_t r = 0; r < 8; r++) {
                vec_store(plane + j * STRIDE + ROW * r, transpose_reversed(a[r]));
            }
        }
        if (typesize > 1) {
            b2i_shuffle_avx512.unshuffle(planes, typesize, GROUP, to);
        }
    }
}

/* ---- entry ---- */

static void shuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len < VEC_LEN) {
        b2i_bitshuffle_generic.shuffle(src, dst, typesize, row_len);
        return;
    }
    if (typesize > MAX_UNIT) {
        tiled_shuffle(src, dst, typesize, row_len);
    } else if (typesize >= MIN_FAR) {
        shuffle_planes(src, dst, typesize, row_len, true);
    } else {
        shuffle_planes(src, dst, typesize, row_len, false);
    }
}

static void unshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    if (row_len < VEC_LEN) {
        b2i_bitshuffle_generic.unshuffle(src, dst, typesize, row_len);
        return;
    }
    if (typesize > MAX_UNIT) {
        tiled_unshuffle(src, dst, typesize, row_len);
    } else {
        unshuffle_planes(src, dst, typesize, row_len);
    }
}

const b2i_bitshuffle_ops b2i_bitshuffle_avx512 = { "avx512", shuffle, unshuffle };
