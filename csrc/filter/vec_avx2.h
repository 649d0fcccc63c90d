/*
 * vec_avx2.h: vectors of two 16-byte lanes, for AVX2.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_VEC_AVX2_H
#define B2I_VEC_AVX2_H

#include "kernel.h"

#include <immintrin.h>

typedef __m256i vec;

enum { VEC_LANES = 2 };

B2I_KERNEL vec vec_load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

B2I_KERNEL void vec_store(uint8_t *p, vec v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

/* Lane l from p + l * stride. */
B2I_KERNEL vec vec_load_lanes(const uint8_t *p, size_t stride)
{
    __m128i low = _mm_loadu_si128((const __m128i *)p);
    __m128i high = _mm_loadu_si128((const __m128i *)(p + stride));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* Past the caches; aligned.  See stream.h. */
#define VEC_HAS_STREAM
B2I_KERNEL void vec_stream(uint8_t *p, vec v)
{
    _mm256_stream_si256((__m256i *)p, v);
}

/* Vector j of the first lanes of t vectors one after the other, then the second ones. */
B2I_KERNEL vec vec_by_lanes(const vec *v, size_t t, size_t j)
{
    return 2 * j + 1 == t ? _mm256_permute2x128_si256(v[t - 1], v[0], 0x30)
           : 2 * j < t    ? _mm256_permute2x128_si256(v[2 * j], v[2 * j + 1], 0x20)
                          : _mm256_permute2x128_si256(v[2 * j - t], v[2 * j - t + 1], 0x31);
}

B2I_KERNEL void vec_store_lane(uint8_t *p, vec v, size_t lane)
{
    __m128i half = lane == 0 ? _mm256_castsi256_si128(v) : _mm256_extracti128_si256(v, 1);
    _mm_storeu_si128((__m128i *)p, half);
}

/* In each lane: bytes of a and b in turn, from the lower or the upper halves. */
B2I_KERNEL vec vec_zip_lo(vec a, vec b)
{
    return _mm256_unpacklo_epi8(a, b);
}

B2I_KERNEL vec vec_zip_hi(vec a, vec b)
{
    return _mm256_unpackhi_epi8(a, b);
}

/* In each lane: byte x is byte index[x] of v. */
#define VEC_HAS_LOOKUP
B2I_KERNEL vec vec_lookup(vec v, vec index)
{
    return _mm256_shuffle_epi8(v, index);
}

typedef vec vec_mask;

/* Of bytes that are 0 or 0xFF. */
B2I_KERNEL vec_mask vec_mask_load(const uint8_t *p)
{
    return vec_load(p);
}

/* b where the mask is set. */
B2I_KERNEL vec vec_choose(vec_mask mask, vec a, vec b)
{
    return _mm256_blendv_epi8(a, b, mask);
}

/* Parts of 16 / q bytes of a and b in turn, from the lower or the upper halves of each lane. */
B2I_KERNEL vec vec_zip_parts(vec a, vec b, size_t q, bool upper)
{
    return q == 2   ? (upper ? _mm256_unpackhi_epi64(a, b) : _mm256_unpacklo_epi64(a, b))
           : q == 4 ? (upper ? _mm256_unpackhi_epi32(a, b) : _mm256_unpacklo_epi32(a, b))
                    : (upper ? _mm256_unpackhi_epi16(a, b) : _mm256_unpacklo_epi16(a, b));
}

/* In each lane: the even bytes of a, then those of b; and the odd ones. */
B2I_KERNEL vec vec_unzip_even(vec a, vec b)
{
    const vec low = _mm256_set1_epi16(0xFF);
    return _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
}

B2I_KERNEL vec vec_unzip_odd(vec a, vec b)
{
    return _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
}

/* Three instructions each, where zipping takes one: worth it for one round instead of four. */
enum { UNZIP_MAX = 2 };

B2I_KERNEL vec vec_splat(uint8_t byte)
{
    return _mm256_set1_epi8((char)byte);
}

B2I_KERNEL vec vec_and(vec a, vec b)
{
    return _mm256_and_si256(a, b);
}

B2I_KERNEL vec vec_xor(vec a, vec b)
{
    return _mm256_xor_si256(a, b);
}

/* Shifts whose bits that cross into another byte are masked out by the caller. */
B2I_KERNEL vec vec_shr(vec v, int nbits)
{
    return _mm256_srli_epi16(v, nbits);
}

B2I_KERNEL vec vec_shl(vec v, int nbits)
{
    /* fewer units can shift than add */
    return nbits == 1 ? _mm256_add_epi8(v, v) : _mm256_slli_epi16(v, nbits);
}

/* Sums of bytes, modulo 256. */
B2I_KERNEL vec vec_add(vec a, vec b)
{
    return _mm256_add_epi8(a, b);
}

/* In each lane: 1, 2, 4 or 8 bytes up, behind zeros. */
B2I_KERNEL vec vec_slide(vec v, int nbytes)
{
    return nbytes == 1   ? _mm256_slli_si256(v, 1)
           : nbytes == 2 ? _mm256_slli_si256(v, 2)
           : nbytes == 4 ? _mm256_slli_si256(v, 4)
                         : _mm256_slli_si256(v, 8);
}

/* The last byte of each lane all over that lane. */
B2I_KERNEL vec vec_last(vec v)
{
    return _mm256_shuffle_epi8(v, _mm256_set1_epi8(15));
}

/* Of vectors that are the same all over each lane: sums of the lanes before, and of all. */
B2I_KERNEL vec vec_sum_before(vec v)
{
    return _mm256_permute2x128_si256(v, v, 0x08);
}

B2I_KERNEL vec vec_sum_all(vec v)
{
    return _mm256_add_epi8(v, _mm256_permute2x128_si256(v, v, 0x01));
}

#endif
