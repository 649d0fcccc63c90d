/*
 * shuffle_avx512.c: shuffle for AVX-512 with VBMI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "vec_avx512.h"
#include "vec_net.h"
#include "shuffle_vec.h"

/*
 * ---- units of 3 and 5 bytes: every vector gathers its bytes from all the others ----
 *
 * 64 elements are t vectors, or a vector of each of t planes.  A permutation takes the
 * lower 6 bits of an index, so that a vector needs one index for all its sources, and a
 * mask for each.
 */

enum { FEW = 1024 }; /* elements that do not pay for making masks */

typedef struct gather {
    vec index[5];
    __mmask64 from[5][5];
} gather;

/* Plane k of 64 elements: byte i is byte i * t + k of the elements. */
B2I_KERNEL void gather_planes(gather *g, size_t t)
{
    for (size_t k = 0; k < t; k++) {
        uint8_t index[64];
        memset(g->from[k], 0, sizeof g->from[k]);
        for (size_t i = 0; i < 64; i++) {
            index[i] = (uint8_t)((i * t + k) % 64);
            g->from[k][(i * t + k) / 64] |= (__mmask64)1 << i;
        }
        g->index[k] = vec_load(index);
    }
}

/* Vector r of elements: byte x is byte (64 * r + x) / t of plane (64 * r + x) % t. */
B2I_KERNEL void gather_elements(gather *g, size_t t)
{
    for (size_t r = 0; r < t; r++) {
        uint8_t index[64];
        memset(g->from[r], 0, sizeof g->from[r]);
        for (size_t x = 0; x < 64; x++) {
            index[x] = (uint8_t)((64 * r + x) / t);
            g->from[r][(64 * r + x) % t] |= (__mmask64)1 << x;
        }
        g->index[r] = vec_load(index);
    }
}

B2I_KERNEL vec gathered(const gather *g, const vec *v, size_t t, size_t k)
{
    vec sum = _mm512_maskz_permutexvar_epi8(g->from[k][0], g->index[k], v[0]);
    B2I_UNROLL
    for (size_t r = 1; r < t; r++) {
        sum = _mm512_mask_permutexvar_epi8(sum, g->from[k][r], g->index[k], v[r]);
    }
    return sum;
}

B2I_KERNEL void odd_shuffle(const uint8_t *src, size_t t, size_t nelems, uint8_t *dst,
                            size_t stride)
{
    gather g;
    gather_planes(&g, t);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[5];
        prefetch_ahead(src + i * t, VEC_LEN * t);
        B2I_UNROLL
        for (size_t r = 0; r < t; r++) {
            v[r] = vec_load(src + i * t + 64 * r);
        }
        B2I_UNROLL
        for (size_t k = 0; k < t; k++) {
            vec_store(dst + k * stride + i, gathered(&g, v, t, k));
        }
    }
}

B2I_KERNEL void odd_unshuffle(const b2i_plane *planes, size_t t, size_t nelems, uint8_t *dst)
{
    gather g;
    gather_elements(&g, t);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[5];
        B2I_UNROLL
        for (size_t k = 0; k < t; k++) {
            v[k] = vec_load(plane_at(&planes[k], i));
        }
        B2I_UNROLL
        for (size_t r = 0; r < t; r++) {
            vec_store(dst + i * t + 64 * r, gathered(&g, v, t, r));
        }
    }
}

/* ---- entry ---- */

static void shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst, size_t stride)
{
    if (unit == 3 && nelems >= FEW) {
        odd_shuffle(src, 3, nelems, dst, stride);
    } else if (unit == 5 && nelems >= FEW) {
        odd_shuffle(src, 5, nelems, dst, stride);
    } else {
        vec_shuffle(src, unit, nelems, dst, stride);
    }
}

static void unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    if (unit == 3 && nelems >= FEW) {
        odd_unshuffle(planes, 3, nelems, dst);
    } else if (unit == 5 && nelems >= FEW) {
        odd_unshuffle(planes, 5, nelems, dst);
    } else {
        vec_unshuffle(planes, unit, nelems, dst);
    }
}

const b2i_shuffle_ops b2i_shuffle_avx512 = { "avx512", shuffle, unshuffle, vec_stream_unshuffle };
