/*
 * vec_u64.h: portable stand-in for vec_<isa>.h and vec_net.h: vectors of 8 bytes
 * in a 64-bit word, strips of 8 columns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_VEC_U64_H
#define B2I_VEC_U64_H

#include "kernel.h"

typedef uint64_t vec;

enum { VEC_LEN = 8, STRIP = 8 };

/* ---- bitwise operations: which byte is where does not matter to them ---- */

B2I_KERNEL vec vec_load(const uint8_t *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

B2I_KERNEL void vec_store(uint8_t *p, vec v)
{
    memcpy(p, &v, sizeof v);
}

B2I_KERNEL vec vec_splat(uint8_t byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

B2I_KERNEL vec vec_and(vec a, vec b)
{
    return a & b;
}

B2I_KERNEL vec vec_xor(vec a, vec b)
{
    return a ^ b;
}

B2I_KERNEL vec vec_shr(vec v, int nbits)
{
    return v >> nbits;
}

B2I_KERNEL vec vec_shl(vec v, int nbits)
{
    return v << nbits;
}

/* ---- transposition of bytes ---- */

/* Exchanges the bytes of a that 'mask' << nbits selects with those of b that 'mask' selects. */
B2I_KERNEL void swap_bytes(uint64_t *a, uint64_t *b, int nbits, uint64_t mask)
{
    uint64_t t = ((*a >> nbits) ^ *b) & mask;
    *b ^= t;
    *a ^= t << nbits;
}

/*
 * Words are loaded as they are.  On a big-endian machine that turns the bytes of
 * each row around; taking the rows in reverse as well gives the same transposition.
 */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { ROW_FLIP = 7 };
#else
enum { ROW_FLIP = 0 };
#endif

/* 8 rows of 8 bytes, row i in v[i ^ ROW_FLIP], transposed to rows dst + i * dst_stride. */
B2I_KERNEL void transpose_words(uint64_t *v, uint8_t *dst, size_t dst_stride)
{
    for (size_t i = 0; i < 4; i++) {
        swap_bytes(&v[i], &v[i + 4], 32, UINT64_C(0x00000000FFFFFFFF));
    }
    for (size_t i = 0; i < 8; i += 4) {
        swap_bytes(&v[i], &v[i + 2], 16, UINT64_C(0x0000FFFF0000FFFF));
        swap_bytes(&v[i + 1], &v[i + 3], 16, UINT64_C(0x0000FFFF0000FFFF));
    }
    for (size_t i = 0; i < 8; i += 2) {
        swap_bytes(&v[i], &v[i + 1], 8, UINT64_C(0x00FF00FF00FF00FF));
    }
    for (size_t i = 0; i < 8; i++) {
        vec_store(dst + i * dst_stride, v[i ^ ROW_FLIP]);
    }
}

/* 8 by 8 bytes from rows src + i * src_stride to rows dst + i * dst_stride. */
B2I_KERNEL void transpose8(const uint8_t *src, size_t src_stride, uint8_t *dst, size_t dst_stride)
{
    uint64_t v[8];
    for (size_t i = 0; i < 8; i++) {
        v[i ^ ROW_FLIP] = vec_load(src + i * src_stride);
    }
    transpose_words(v, dst, dst_stride);
}

/* Columns [0, STRIP) of n (a multiple of VEC_LEN) rows, 'stride' apart, to planes. */
B2I_KERNEL void strip_shuffle(const uint8_t *src, size_t stride, size_t n, uint8_t *planes,
                              size_t plane_stride)
{
    for (size_t i = 0; i < n; i += VEC_LEN) {
        transpose8(src + i * stride, stride, planes + i, plane_stride);
    }
}

B2I_KERNEL void strip_unshuffle(const uint8_t *planes, size_t plane_stride, size_t n, uint8_t *dst,
                                size_t stride)
{
    for (size_t i = 0; i < n; i += VEC_LEN) {
        transpose8(planes + i, plane_stride, dst + i * stride, stride);
    }
}

/* The same for contiguous rows of 8 bytes. */
B2I_KERNEL void octet_shuffle(const uint8_t *src, size_t n, uint8_t *planes, size_t plane_stride)
{
    strip_shuffle(src, 8, n, planes, plane_stride);
}

B2I_KERNEL void octet_unshuffle(const uint8_t *planes, size_t plane_stride, size_t n, uint8_t *dst)
{
    strip_unshuffle(planes, plane_stride, n, dst, 8);
}

#endif
