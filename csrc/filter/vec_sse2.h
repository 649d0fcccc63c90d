/*
 * vec_sse2.h: vectors of one 16-byte lane, for SSE2.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_VEC_SSE2_H
#define B2I_VEC_SSE2_H

#include "kernel.h"

#include <emmintrin.h>

typedef __m128i vec;

enum { VEC_LANES = 1 };

B2I_KERNEL vec vec_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

B2I_KERNEL void vec_store(uint8_t *p, vec v)
{
    _mm_storeu_si128((__m128i *)p, v);
}

/* Lane l from p + l * stride. */
B2I_KERNEL vec vec_load_lanes(const uint8_t *p, size_t stride)
{
    (void)stride;
    return vec_load(p);
}

/* Vector j of the first lanes of t vectors one after the other: there are no others. */
B2I_KERNEL vec vec_by_lanes(const vec *v, size_t t, size_t j)
{
    (void)t;
    return v[j];
}

/* Past the caches; aligned.  See stream.h. */
#define VEC_HAS_STREAM
B2I_KERNEL void vec_stream(uint8_t *p, vec v)
{
    _mm_stream_si128((__m128i *)p, v);
}

B2I_KERNEL void vec_store_lane(uint8_t *p, vec v, size_t lane)
{
    (void)lane;
    vec_store(p, v);
}

B2I_KERNEL vec vec_zero(void)
{
    return _mm_setzero_si128();
}

/* In each lane: bytes of a and b in turn, from the lower or the upper halves. */
B2I_KERNEL vec vec_zip_lo(vec a, vec b)
{
    return _mm_unpacklo_epi8(a, b);
}

B2I_KERNEL vec vec_zip_hi(vec a, vec b)
{
    return _mm_unpackhi_epi8(a, b);
}

/* In each lane: the even bytes of a, then those of b; and the odd ones. */
B2I_KERNEL vec vec_unzip_even(vec a, vec b)
{
    const vec low = _mm_set1_epi16(0xFF);
    return _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
}

B2I_KERNEL vec vec_unzip_odd(vec a, vec b)
{
    return _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
}

/* Three instructions each, where zipping takes one: worth it for one round instead of four. */
enum { UNZIP_MAX = 2 };

B2I_KERNEL vec vec_splat(uint8_t byte)
{
    return _mm_set1_epi8((char)byte);
}

B2I_KERNEL vec vec_and(vec a, vec b)
{
    return _mm_and_si128(a, b);
}

B2I_KERNEL vec vec_xor(vec a, vec b)
{
    return _mm_xor_si128(a, b);
}

/* Shifts whose bits that cross into another byte are masked out by the caller. */
B2I_KERNEL vec vec_shr(vec v, int nbits)
{
    return _mm_srli_epi16(v, nbits);
}

B2I_KERNEL vec vec_shl(vec v, int nbits)
{
    return _mm_slli_epi16(v, nbits);
}

/* Sums of bytes, modulo 256. */
B2I_KERNEL vec vec_add(vec a, vec b)
{
    return _mm_add_epi8(a, b);
}

/* In each lane: 1, 2, 4 or 8 bytes up, behind zeros. */
B2I_KERNEL vec vec_slide(vec v, int nbytes)
{
    return nbytes == 1   ? _mm_slli_si128(v, 1)
           : nbytes == 2 ? _mm_slli_si128(v, 2)
           : nbytes == 4 ? _mm_slli_si128(v, 4)
                         : _mm_slli_si128(v, 8);
}

/* The last byte of each lane all over that lane. */
B2I_KERNEL vec vec_last(vec v)
{
    v = _mm_shufflehi_epi16(_mm_unpackhi_epi8(v, v), 0xFF);
    return _mm_shuffle_epi32(v, 0xFF);
}

/* Of vectors that are the same all over each lane: sums of the lanes before, and of all. */
B2I_KERNEL vec vec_sum_before(vec v)
{
    (void)v;
    return vec_zero();
}

B2I_KERNEL vec vec_sum_all(vec v)
{
    return v;
}

#endif
