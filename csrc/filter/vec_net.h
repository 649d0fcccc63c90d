/*
 * vec_net.h: transposition of bytes by networks of interleavings, over the
 * operations of vec_<isa>.h.  VEC_LANES lanes of 16 bytes work side by side,
 * lane l on elements 16 * l … 16 * l + 15 of a step of VEC_LEN elements.
 *
 * One round interleaves vector j with vector j + t/2 of t vectors.  A byte's
 * position (vector, place in lane) read as one binary number is thereby rotated
 * left by one bit.  16 elements of t bytes start at (element, column): 4 rounds
 * give (column, element), planes; log2(t) rounds lead back.  Undoing log2(t) rounds
 * gives planes as well.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_VEC_NET_H
#define B2I_VEC_NET_H

enum { LANE = 16, VEC_LEN = LANE * VEC_LANES, STRIP = 16 };

B2I_KERNEL void net_round(const vec *a, vec *b, size_t t)
{
    B2I_UNROLL
    for (size_t j = 0; j < t / 2; j++) {
        b[2 * j] = vec_zip_lo(a[j], a[j + t / 2]);
        b[2 * j + 1] = vec_zip_hi(a[j], a[j + t / 2]);
    }
}

/* As memcpy() would, but clang keeps these in registers. */
B2I_KERNEL void copy_vectors(vec *to, const vec *from, size_t n)
{
    B2I_UNROLL
    for (size_t j = 0; j < n; j++) {
        to[j] = from[j];
    }
}

/* t is 2, 4, 8 or 16; both are constants where this is used. */
B2I_KERNEL void net(vec *v, size_t t, size_t rounds)
{
    vec w[16];
    net_round(v, w, t);
    if (rounds == 1) {
        copy_vectors(v, w, t);
        return;
    }
    net_round(w, v, t);
    if (rounds == 2) {
        return;
    }
    net_round(v, w, t);
    if (rounds == 3) {
        copy_vectors(v, w, t);
        return;
    }
    net_round(w, v, t);
}

/* ---- VEC_LEN contiguous elements of t = 2, 4, 8 or 16 bytes ---- */

#ifndef VEC_HAS_STREAM
#define vec_stream vec_store
#endif

#ifndef VEC_HAS_GROUPS
/* log2(t) rounds are undone. */
B2I_KERNEL void net_undo(vec *v, size_t t)
{
    B2I_UNROLL
    for (int round = 0; round < log2_of(t); round++) {
        vec w[16];
        B2I_UNROLL
        for (size_t j = 0; j < t / 2; j++) {
            w[j] = vec_unzip_even(v[2 * j], v[2 * j + 1]);
            w[j + t / 2] = vec_unzip_odd(v[2 * j], v[2 * j + 1]);
        }
        copy_vectors(v, w, t);
    }
}

/* Elements to vectors of one plane each. */
B2I_KERNEL void group_split(const uint8_t *src, size_t t, vec *v)
{
    B2I_UNROLL
    for (size_t j = 0; j < t; j++) {
        v[j] = vec_load_lanes(src + j * LANE, t * LANE);
    }
    if (t <= UNZIP_MAX) {
        net_undo(v, t);
    } else {
        net(v, t, 4);
    }
}

/* And back. */
B2I_KERNEL void group_join(vec *v, size_t t, bool streaming, uint8_t *dst)
{
    net(v, t, (size_t)log2_of(t));
    B2I_UNROLL
    for (size_t j = 0; j < t; j++) {
        if (streaming) {
            vec_stream(dst + j * VEC_LEN, vec_by_lanes(v, t, j));
        } else {
            vec_store(dst + j * VEC_LEN, vec_by_lanes(v, t, j));
        }
    }
}
#endif

B2I_KERNEL void group_shuffle(const uint8_t *src, size_t t, uint8_t *planes, size_t plane_stride)
{
    vec v[16];
    group_split(src, t, v);
    B2I_UNROLL
    for (size_t k = 0; k < t; k++) {
        claim_next(planes + k * plane_stride);
        vec_store(planes + k * plane_stride, v[k]);
    }
}

/* ---- up to 16 columns of VEC_LEN elements that lie 'stride' apart ---- */

/* Reads 16 bytes of every element. */
B2I_KERNEL void columns_shuffle(const uint8_t *src, size_t stride, size_t ncols, uint8_t *planes,
                                size_t plane_stride)
{
    vec v[16];
    B2I_UNROLL
    for (size_t i = 0; i < 16; i++) {
        v[i] = vec_load_lanes(src + i * stride, LANE * stride);
    }
    net(v, 16, 4);
    B2I_UNROLL
    for (size_t k = 0; k < ncols; k++) {
        claim_next(planes + k * plane_stride);
        vec_store(planes + k * plane_stride, v[k]);
    }
}

/* Writes 16 bytes for every element, in ascending order: elements follow one another closely. */
B2I_KERNEL void columns_join(vec *v, uint8_t *dst, size_t stride)
{
    net(v, 16, 4);
    B2I_UNROLL
    for (size_t lane = 0; lane < VEC_LANES; lane++) {
        B2I_UNROLL
        for (size_t i = 0; i < 16; i++) {
            vec_store_lane(dst + (lane * LANE + i) * stride, v[i], lane);
        }
    }
}

/* ---- for the tiles of bitshuffle: n elements, n a multiple of VEC_LEN ---- */

/* The 16 columns of a strip. */
B2I_KERNEL void strip_shuffle(const uint8_t *src, size_t stride, size_t n, uint8_t *planes,
                              size_t plane_stride)
{
    for (size_t i = 0; i < n; i += VEC_LEN) {
        columns_shuffle(src + i * stride, stride, STRIP, planes + i, plane_stride);
    }
}

B2I_KERNEL void strip_unshuffle(const uint8_t *planes, size_t plane_stride, size_t n, uint8_t *dst,
                                size_t stride)
{
    for (size_t i = 0; i < n; i += VEC_LEN) {
        vec v[16];
        B2I_UNROLL
        for (size_t k = 0; k < 16; k++) {
            v[k] = vec_load(planes + k * plane_stride + i);
        }
        columns_join(v, dst + i * stride, stride);
    }
}

/* Contiguous elements of 8 bytes. */
B2I_KERNEL void octet_shuffle(const uint8_t *src, size_t n, uint8_t *planes, size_t plane_stride)
{
    for (size_t i = 0; i < n; i += VEC_LEN) {
        group_shuffle(src + i * 8, 8, planes + i, plane_stride);
    }
}

B2I_KERNEL void octet_unshuffle(const uint8_t *planes, size_t plane_stride, size_t n, uint8_t *dst)
{
    for (size_t i = 0; i < n; i += VEC_LEN) {
        vec v[8];
        B2I_UNROLL
        for (size_t k = 0; k < 8; k++) {
            v[k] = vec_load(planes + k * plane_stride + i);
        }
        group_join(v, 8, false, dst + i * 8);
    }
}

#endif
