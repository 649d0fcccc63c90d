/*
 * vec_avx512.h: vectors of four 16-byte lanes, for AVX-512 with VBMI, and the
 * transposition of contiguous elements with its byte permutations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_VEC_AVX512_H
#define B2I_VEC_AVX512_H

#include "kernel.h"

#include <immintrin.h>
#include <stdbool.h>

typedef __m512i vec;

enum { VEC_LANES = 4 };

B2I_KERNEL vec vec_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

B2I_KERNEL void vec_store(uint8_t *p, vec v)
{
    _mm512_storeu_si512(p, v);
}

/* Past the caches; aligned.  See stream.h. */
#define VEC_HAS_STREAM
B2I_KERNEL void vec_stream(uint8_t *p, vec v)
{
    _mm512_stream_si512((void *)p, v);
}

B2I_KERNEL __m128i load_lane(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* Lane l from p + l * stride. */
B2I_KERNEL vec vec_load_lanes(const uint8_t *p, size_t stride)
{
    __m512i v = _mm512_castsi128_si512(load_lane(p));
    v = _mm512_inserti32x4(v, load_lane(p + stride), 1);
    v = _mm512_inserti32x4(v, load_lane(p + 2 * stride), 2);
    return _mm512_inserti32x4(v, load_lane(p + 3 * stride), 3);
}

B2I_KERNEL void vec_store_lane(uint8_t *p, vec v, size_t lane)
{
    __m128i part = lane == 0   ? _mm512_castsi512_si128(v)
                   : lane == 1 ? _mm512_extracti32x4_epi32(v, 1)
                   : lane == 2 ? _mm512_extracti32x4_epi32(v, 2)
                               : _mm512_extracti32x4_epi32(v, 3);
    _mm_storeu_si128((__m128i *)p, part);
}

/* In each lane: bytes of a and b in turn, from the lower or the upper halves. */
B2I_KERNEL vec vec_zip_lo(vec a, vec b)
{
    return _mm512_unpacklo_epi8(a, b);
}

B2I_KERNEL vec vec_zip_hi(vec a, vec b)
{
    return _mm512_unpackhi_epi8(a, b);
}

B2I_KERNEL vec vec_splat(uint8_t byte)
{
    return _mm512_set1_epi8((char)byte);
}

B2I_KERNEL vec vec_and(vec a, vec b)
{
    return _mm512_and_si512(a, b);
}

B2I_KERNEL vec vec_xor(vec a, vec b)
{
    return _mm512_xor_si512(a, b);
}

/* Shifts whose bits that cross into another byte are masked out by the caller. */
B2I_KERNEL vec vec_shr(vec v, int nbits)
{
    return _mm512_srli_epi16(v, (unsigned)nbits);
}

B2I_KERNEL vec vec_shl(vec v, int nbits)
{
    return _mm512_slli_epi16(v, (unsigned)nbits);
}

/* ---- for shuffle_weave.h: a vector is one lane ---- */

#define VEC_HAS_LOOKUP
#define VEC_IS_ROW

/* Byte x is byte index[x] of v. */
B2I_KERNEL vec vec_lookup(vec v, vec index)
{
    return _mm512_permutexvar_epi8(index, v);
}

typedef __mmask64 vec_mask;

/* Of bytes that are 0 or 0xFF. */
B2I_KERNEL vec_mask vec_mask_load(const uint8_t *p)
{
    return _mm512_movepi8_mask(vec_load(p));
}

/* b where the mask is set. */
B2I_KERNEL vec vec_choose(vec_mask mask, vec a, vec b)
{
    return _mm512_mask_blend_epi8(mask, a, b);
}

/* Four vectors as rows of four lanes, transposed. */
B2I_KERNEL void swap_lanes(vec *v, size_t apart)
{
    vec ab = _mm512_shuffle_i64x2(v[0], v[apart], 0x44);
    vec cd = _mm512_shuffle_i64x2(v[2 * apart], v[3 * apart], 0x44);
    vec ab_hi = _mm512_shuffle_i64x2(v[0], v[apart], 0xEE);
    vec cd_hi = _mm512_shuffle_i64x2(v[2 * apart], v[3 * apart], 0xEE);
    v[0] = _mm512_shuffle_i64x2(ab, cd, 0x88);
    v[apart] = _mm512_shuffle_i64x2(ab, cd, 0xDD);
    v[2 * apart] = _mm512_shuffle_i64x2(ab_hi, cd_hi, 0x88);
    v[3 * apart] = _mm512_shuffle_i64x2(ab_hi, cd_hi, 0xDD);
}

/* q vectors as rows of q parts, transposed: q planes to q times W bytes of each, and back. */
B2I_KERNEL void vec_swap_parts(vec *v, size_t q)
{
    if (q == 2) {
        vec low = _mm512_shuffle_i64x2(v[0], v[1], 0x44);
        v[1] = _mm512_shuffle_i64x2(v[0], v[1], 0xEE);
        v[0] = low;
    } else if (q == 4) {
        swap_lanes(v, 1);
    } else if (q == 8) {
        B2I_UNROLL
        for (size_t i = 0; i < 8; i += 2) {
            vec low = _mm512_unpacklo_epi64(v[i], v[i + 1]);
            v[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
            v[i] = low;
        }
        swap_lanes(v, 2);
        swap_lanes(v + 1, 2);
    }
}

/* Vector r for m = 4: place s of each 4 becomes place s + r, modulo 4. */
B2I_KERNEL vec vec_turn(vec v, size_t r, size_t m)
{
    if (m != 4 || r == 0) {
        return v;
    }
    return r == 1   ? _mm512_permutex_epi64(v, 0x39)
           : r == 2 ? _mm512_permutex_epi64(v, 0x4E)
                    : _mm512_permutex_epi64(v, 0x93);
}

/*
 * ---- 64 contiguous elements of t = 2, 4, 8 or 16 bytes ----
 *
 * A vector holds 64 / t elements, row r of t rows; a slot is a t-th of a vector.  A
 * permutation of bytes puts row r's piece of plane k into slot (k + r) mod t.  Slot s
 * of plane k then comes from row (s - k) mod t: log2(t) rounds of blends fetch it, in
 * each of which a bit of s tells whether to go on by so many rows.  Last, plane k is rotated
 * by k slots.  Blends do not need the shuffle units, which are few.
 */
#define VEC_HAS_GROUPS

/* Byte x = a * w + b of the result, w = 64 / t, is byte b * t + (a - row) mod t of a vector. */
B2I_KERNEL vec slot_index(size_t t, size_t row)
{
    const vec x = _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
                                  47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
                                  31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                                  15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    vec a = vec_and(vec_shr(x, 6 - log2_of(t)), vec_splat((uint8_t)(t - 1)));
    vec b = vec_and(x, vec_splat((uint8_t)(64 / t - 1)));
    a = vec_and(_mm512_sub_epi8(a, vec_splat((uint8_t)row)), vec_splat((uint8_t)(t - 1)));
    return _mm512_or_si512(vec_shl(b, log2_of(t)), a);
}

/* The inverse: byte x = b * t + a is byte ((a + row) mod t) * w + b. */
B2I_KERNEL vec element_index(size_t t, size_t row)
{
    const vec x = _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
                                  47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
                                  31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                                  15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    vec a = _mm512_add_epi8(x, vec_splat((uint8_t)row));
    a = vec_and(a, vec_splat((uint8_t)(t - 1)));
    vec b = vec_and(vec_shr(x, log2_of(t)), vec_splat((uint8_t)(64 / t - 1)));
    return _mm512_or_si512(vec_shl(a, 6 - log2_of(t)), b);
}

#define ROTATION(n)                                                                                \
    case n:                                                                                        \
        return _mm512_alignr_epi32(v, v, n)

/* Slot s of the result is slot (s + k) mod t. */
B2I_KERNEL vec rotate_slots(vec v, size_t k, size_t t)
{
    switch (k % t * (16 / t)) {
        ROTATION(1);
        ROTATION(2);
        ROTATION(3);
        ROTATION(4);
        ROTATION(5);
        ROTATION(6);
        ROTATION(7);
        ROTATION(8);
        ROTATION(9);
        ROTATION(10);
        ROTATION(11);
        ROTATION(12);
        ROTATION(13);
        ROTATION(14);
        ROTATION(15);
    default:
        return v;
    }
}

/* Slot s of vector k comes from vector k + s (mod t), or from k - s. */
B2I_KERNEL void skew(vec *v, size_t t, bool up)
{
    static const __mmask16 bit_set[4] = { 0xAAAA, 0xCCCC, 0xF0F0, 0xFF00 }; /* by 4-byte word */
    B2I_UNROLL
    for (int l = 0; l < log2_of(t); l++) {
        vec w[16];
        B2I_UNROLL
        for (size_t k = 0; k < t; k++) {
            size_t other = up ? k + ((size_t)1 << l) : k + t - ((size_t)1 << l);
            w[k] = _mm512_mask_blend_epi32(bit_set[4 - log2_of(t) + l], v[k], v[other % t]);
        }
        memcpy(v, w, t * sizeof *v);
    }
}

/* Rows of elements to vectors of one plane each; 'a' is used up. */
B2I_KERNEL void rows_split(vec *a, size_t t, vec *v)
{
    B2I_UNROLL
    for (size_t r = 0; r < t; r++) {
        a[r] = _mm512_permutexvar_epi8(slot_index(t, r), a[r]);
    }
    skew(a, t, true);
    B2I_UNROLL
    for (size_t k = 0; k < t; k++) {
        v[k] = rotate_slots(a[(t - k) % t], k, t);
    }
}

/* And back. */
B2I_KERNEL void rows_join(const vec *v, size_t t, vec *a)
{
    B2I_UNROLL
    for (size_t k = 0; k < t; k++) {
        a[(t - k) % t] = rotate_slots(v[k], t - k, t);
    }
    skew(a, t, false);
    B2I_UNROLL
    for (size_t r = 0; r < t; r++) {
        a[r] = _mm512_permutexvar_epi8(element_index(t, r), a[r]);
    }
}

/* The same from and to memory. */
B2I_KERNEL void group_split(const uint8_t *src, size_t t, vec *v)
{
    vec a[16];
    B2I_UNROLL
    for (size_t r = 0; r < t; r++) {
        a[r] = vec_load(src + 64 * r);
    }
    rows_split(a, t, v);
}

B2I_KERNEL void group_join(const vec *v, size_t t, bool streaming, uint8_t *dst)
{
    vec a[16];
    rows_join(v, t, a);
    B2I_UNROLL
    for (size_t r = 0; r < t; r++) {
        if (streaming) {
            vec_stream(dst + 64 * r, a[r]);
        } else {
            vec_store(dst + 64 * r, a[r]);
        }
    }
}

#endif
