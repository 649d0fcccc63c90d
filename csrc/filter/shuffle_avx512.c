/*
 * shuffle_avx512.c: shuffle for AVX-512 with VBMI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "vec_avx512.h"
#include "vec_net.h"
#include "shuffle_vec.h"

#include <pthread.h>

/*
 * ---- units of m words of q bytes, q = 1, 2, 4 or 8: the words are woven ----
 *
 * A vector has places for W = 64 / q words, and m vectors hold W elements: word k of each is of
 * sort k.  Word x = W * r + s of all, at place s of vector r, is of the sort x mod m.  For odd m
 * the m vectors have, at any place, a word of each sort, as W and m have no common factor.  So
 * one permutation brings all words of a sort to their places.  Then blends alone make the vectors:
 * place s of that with W * r mod m = j comes from sort j + s, in a round for each bit of
 * s mod m.  Going back, blends make the sorts and a permutation puts each in order.
 *
 * For m = 4 a vector has a sort at the same places as all others.  Each vector is thus rotated, by
 * r places of 4, as long as its words are woven.
 *
 * A sort of W words is W bytes of each of its q planes: parts of the planes, transposed.
 */
enum { MAX_WORDS = 15, MAX_WOVEN = 32 };

typedef struct weave {
    uint8_t to_elements[MAX_WORDS][64]; /* by sort: the bytes that go to its places */
    uint8_t to_planes[MAX_WORDS][64];   /* the inverse */
    uint64_t step[4];                   /* the bytes of places s, bit l of s mod m being set */
} weave;

static const uint8_t woven[] = { 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 24, 32 };

/* By unit.  Written once, by make_weaves(). */
static weave weaves[MAX_WOVEN + 1];
static pthread_once_t weaves_once = PTHREAD_ONCE_INIT;

B2I_KERNEL size_t word_len(size_t unit)
{
    return unit % 8 == 0 ? 8 : unit % 4 == 0 ? 4 : unit % 2 == 0 ? 2 : 1;
}

/* Where word x is while it is woven. */
B2I_KERNEL size_t place_of(size_t x, size_t nwords, size_t m)
{
    size_t r = x / nwords, s = x % nwords;
    return m == 4 ? s / 4 * 4 + (s + r) % 4 : s;
}

/* The number j of vector r. */
B2I_KERNEL size_t number_of(size_t r, size_t nwords, size_t m)
{
    return m == 4 ? (4 - r) % 4 : nwords * r % m;
}

static void make_weave(weave *w, size_t q, size_t m)
{
    size_t nwords = 64 / q;
    for (size_t k = 0; k < m; k++) {
        for (size_t e = 0; e < nwords; e++) {
            for (size_t b = 0; b < q; b++) {
                size_t at = place_of(e * m + k, nwords, m) * q + b, part = b * nwords + e;
                w->to_elements[k][at] = (uint8_t)part;
                w->to_planes[k][part] = (uint8_t)at;
            }
        }
    }
    for (size_t i = 0; i < 64; i++) {
        for (size_t l = 0; l < 4; l++) {
            w->step[l] |= (uint64_t)(i / q % m >> l & 1) << i;
        }
    }
}

static void make_weaves(void)
{
    for (size_t i = 0; i < sizeof woven; i++) {
        size_t q = word_len(woven[i]);
        make_weave(&weaves[woven[i]], q, woven[i] / q);
    }
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
B2I_KERNEL void swap_parts(vec *v, size_t q)
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
B2I_KERNEL vec turn(vec v, size_t r, size_t m)
{
    if (m != 4 || r == 0) {
        return v;
    }
    return r == 1   ? _mm512_permutex_epi64(v, 0x39)
           : r == 2 ? _mm512_permutex_epi64(v, 0x4E)
                    : _mm512_permutex_epi64(v, 0x93);
}

/* At place s, vector j of v becomes vector j + s (mod m), or j - s. */
B2I_KERNEL void slant(const weave *w, vec *v, size_t m, bool up)
{
    const size_t rounds = m <= 4 ? 2 : m < 8 ? 3 : 4;
    B2I_UNROLL
    for (size_t l = 0; l < rounds; l++) {
        vec from[MAX_WORDS];
        B2I_UNROLL
        for (size_t j = 0; j < m; j++) {
            size_t other = up ? j + ((size_t)1 << l) : j + m - ((size_t)1 << l);
            from[j] = _mm512_mask_blend_epi8(w->step[l], v[j], v[other % m]);
        }
        copy_vectors(v, from, m);
    }
}

B2I_KERNEL void weave_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                              size_t stride)
{
    const size_t q = word_len(unit), m = unit / q;
    const weave *w = &weaves[unit];
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[8][MAX_WORDS];
        prefetch_ahead(src + i * unit, VEC_LEN * unit);
        B2I_UNROLL
        for (size_t h = 0; h < q; h++) {
            B2I_UNROLL
            for (size_t r = 0; r < m; r++) {
                vec row = vec_load(src + i * unit + 64 * (h * m + r));
                v[h][number_of(r, 64 / q, m)] = turn(row, (4 - r) % 4, m);
            }
            slant(w, v[h], m, false);
        }
        B2I_UNROLL
        for (size_t k = 0; k < m; k++) {
            vec part[8];
            B2I_UNROLL
            for (size_t h = 0; h < q; h++) {
                part[h] = _mm512_permutexvar_epi8(vec_load(w->to_planes[k]), v[h][k]);
            }
            swap_parts(part, q);
            B2I_UNROLL
            for (size_t b = 0; b < q; b++) {
                vec_store(dst + (k * q + b) * stride + i, part[b]);
            }
        }
    }
}

B2I_KERNEL void weave_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    const size_t q = word_len(unit), m = unit / q;
    const weave *w = &weaves[unit];
    b2i_plane own[MAX_WOVEN]; /* that no store changes */
    memcpy(own, planes, unit * sizeof *planes);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[8][MAX_WORDS];
        B2I_UNROLL
        for (size_t k = 0; k < m; k++) {
            vec part[8];
            B2I_UNROLL
            for (size_t b = 0; b < q; b++) {
                part[b] = vec_load(plane_at(&own[k * q + b], i));
            }
            swap_parts(part, q);
            B2I_UNROLL
            for (size_t h = 0; h < q; h++) {
                v[h][k] = _mm512_permutexvar_epi8(vec_load(w->to_elements[k]), part[h]);
            }
        }
        B2I_UNROLL
        for (size_t h = 0; h < q; h++) {
            slant(w, v[h], m, true);
            B2I_UNROLL
            for (size_t r = 0; r < m; r++) {
                vec row = turn(v[h][number_of(r, 64 / q, m)], r, m);
                vec_store(dst + i * unit + 64 * (h * m + r), row);
            }
        }
    }
}

/* ---- entry ---- */

#define WOVEN(n)                                                                                   \
    SHUFFLE_OF(woven, n, weave_shuffle)                                                            \
    UNSHUFFLE_OF(unwoven, n, weave_unshuffle)

WOVEN(3)
WOVEN(5)
WOVEN(6)
WOVEN(7)
WOVEN(9)
WOVEN(10)
WOVEN(11)
WOVEN(12)
WOVEN(13)
WOVEN(14)
WOVEN(15)
WOVEN(24)
WOVEN(32)

static b2i_shuffle_fn *const shuffles_woven[MAX_WOVEN + 1] = {
    [3] = woven_3,   [5] = woven_5,   [6] = woven_6,   [7] = woven_7,   [9] = woven_9,
    [10] = woven_10, [11] = woven_11, [12] = woven_12, [13] = woven_13, [14] = woven_14,
    [15] = woven_15, [24] = woven_24, [32] = woven_32,
};
static b2i_unshuffle_fn *const unshuffles_woven[MAX_WOVEN + 1] = {
    [3] = unwoven_3,   [5] = unwoven_5,   [6] = unwoven_6,   [7] = unwoven_7,   [9] = unwoven_9,
    [10] = unwoven_10, [11] = unwoven_11, [12] = unwoven_12, [13] = unwoven_13, [14] = unwoven_14,
    [15] = unwoven_15, [24] = unwoven_24, [32] = unwoven_32,
};

static bool is_woven(size_t unit, size_t nelems)
{
    if (nelems < VEC_LEN || unit > MAX_WOVEN || shuffles_woven[unit] == NULL) {
        return false;
    }
    (void)pthread_once(&weaves_once, make_weaves);
    return true;
}

static void shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst, size_t stride)
{
    b2i_shuffle_fn *kernel = is_woven(unit, nelems) ? shuffles_woven[unit] : vec_shuffle;
    kernel(src, unit, nelems, dst, stride);
}

static void unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    b2i_unshuffle_fn *kernel = is_woven(unit, nelems) ? unshuffles_woven[unit] : vec_unshuffle;
    kernel(planes, unit, nelems, dst);
}

const b2i_shuffle_ops b2i_shuffle_avx512 = { "avx512", shuffle, unshuffle, vec_stream_unshuffle };
