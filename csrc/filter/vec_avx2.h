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

/* Lane l from or to p + l * stride. */
B2I_KERNEL vec vec_load_lanes(const uint8_t *p, size_t stride)
{
    __m128i low = _mm_loadu_si128((const __m128i *)p);
    __m128i high = _mm_loadu_si128((const __m128i *)(p + stride));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

B2I_KERNEL void vec_store_lanes(uint8_t *p, size_t stride, vec v)
{
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(p + stride), _mm256_extracti128_si256(v, 1));
}

/* Past the caches; aligned.  See stream.h. */
#define VEC_HAS_STREAM
B2I_KERNEL void vec_stream_lanes(uint8_t *p, size_t stride, vec v)
{
    _mm_stream_si128((__m128i *)p, _mm256_castsi256_si128(v));
    _mm_stream_si128((__m128i *)(p + stride), _mm256_extracti128_si256(v, 1));
}

B2I_KERNEL void vec_store_lane(uint8_t *p, vec v, size_t lane)
{
    __m128i half = lane == 0 ? _mm256_castsi256_si128(v) : _mm256_extracti128_si256(v, 1);
    _mm_storeu_si128((__m128i *)p, half);
}

B2I_KERNEL vec vec_zero(void)
{
    return _mm256_setzero_si256();
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
    return _mm256_slli_epi16(v, nbits);
}

#endif
