/*
 * vec_neon.h: vectors of one 16-byte lane, for 64-bit ARM.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_VEC_NEON_H
#define B2I_VEC_NEON_H

#include "kernel.h"

#include <arm_neon.h>

typedef uint8x16_t vec;

enum { VEC_LANES = 1 };

B2I_KERNEL vec vec_load(const uint8_t *p)
{
    return vld1q_u8(p);
}

B2I_KERNEL void vec_store(uint8_t *p, vec v)
{
    vst1q_u8(p, v);
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

B2I_KERNEL void vec_store_lane(uint8_t *p, vec v, size_t lane)
{
    (void)lane;
    vec_store(p, v);
}

/* In each lane: bytes of a and b in turn, from the lower or the upper halves. */
B2I_KERNEL vec vec_zip_lo(vec a, vec b)
{
    return vzip1q_u8(a, b);
}

B2I_KERNEL vec vec_zip_hi(vec a, vec b)
{
    return vzip2q_u8(a, b);
}

/* Byte x is byte index[x] of v. */
#define VEC_HAS_LOOKUP
B2I_KERNEL vec vec_lookup(vec v, vec index)
{
    return vqtbl1q_u8(v, index);
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
    return vbslq_u8(mask, b, a);
}

#define ZIPPED(bits, upper, a, b)                                                                  \
    vreinterpretq_u8_u##bits(                                                                      \
        (upper) ? vzip2q_u##bits(vreinterpretq_u##bits##_u8(a), vreinterpretq_u##bits##_u8(b))     \
                : vzip1q_u##bits(vreinterpretq_u##bits##_u8(a), vreinterpretq_u##bits##_u8(b)))

/* Parts of 16 / q bytes of a and b in turn, from the lower or the upper halves. */
B2I_KERNEL vec vec_zip_parts(vec a, vec b, size_t q, bool upper)
{
    return q == 2   ? ZIPPED(64, upper, a, b)
           : q == 4 ? ZIPPED(32, upper, a, b)
                    : ZIPPED(16, upper, a, b);
}

/* The even bytes of a, then those of b; and the odd ones. */
B2I_KERNEL vec vec_unzip_even(vec a, vec b)
{
    return vuzp1q_u8(a, b);
}

B2I_KERNEL vec vec_unzip_odd(vec a, vec b)
{
    return vuzp2q_u8(a, b);
}

/* One instruction each, as for zipping: worth it for up to three rounds instead of four. */
enum { UNZIP_MAX = 8 };

B2I_KERNEL vec vec_splat(uint8_t byte)
{
    return vdupq_n_u8(byte);
}

B2I_KERNEL vec vec_and(vec a, vec b)
{
    return vandq_u8(a, b);
}

B2I_KERNEL vec vec_xor(vec a, vec b)
{
    return veorq_u8(a, b);
}

/* By a vector of counts: the forms with an immediate need a constant even without optimisation. */
B2I_KERNEL vec vec_shr(vec v, int nbits)
{
    return vshlq_u8(v, vdupq_n_s8((int8_t)-nbits));
}

B2I_KERNEL vec vec_shl(vec v, int nbits)
{
    return vshlq_u8(v, vdupq_n_s8((int8_t)nbits));
}

/* Sums of bytes, modulo 256. */
B2I_KERNEL vec vec_add(vec a, vec b)
{
    return vaddq_u8(a, b);
}

/* 1, 2, 4 or 8 bytes up, behind zeros. */
B2I_KERNEL vec vec_slide(vec v, int nbytes)
{
    const vec zero = vdupq_n_u8(0);
    return nbytes == 1   ? vextq_u8(zero, v, 15)
           : nbytes == 2 ? vextq_u8(zero, v, 14)
           : nbytes == 4 ? vextq_u8(zero, v, 12)
                         : vextq_u8(zero, v, 8);
}

/* The last byte all over the vector. */
B2I_KERNEL vec vec_last(vec v)
{
    return vdupq_laneq_u8(v, 15);
}

/* Of vectors that are the same all over the one lane: sums of the lanes before, and of all. */
B2I_KERNEL vec vec_sum_before(vec v)
{
    (void)v;
    return vdupq_n_u8(0);
}

B2I_KERNEL vec vec_sum_all(vec v)
{
    return v;
}

#endif
