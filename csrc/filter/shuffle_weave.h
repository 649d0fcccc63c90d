/*
 * shuffle_weave.h: the shuffle of units of m words of q bytes, m = 3, 5, … 15 and q = 1, 2, 4
 * or 8, for instruction sets that look bytes up: AVX2 and NEON in rows of 16 bytes, the lanes of a
 * vector, which hold different elements; AVX-512 in rows of 64, whole vectors.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A row has places for W = ROW / q words, and m rows hold W elements: word k of each is of
 * sort k.  Word x = W * r + s of all, at place s of row r, is of the sort x mod m.  As W and m have
 * no common factor, the m rows have, at any place, a word of each sort.  So one lookup brings all
 * words of a sort to their places.  Then blends alone make the rows: place s of that with
 * W * r mod m = j comes from sort j + s, in a round for each bit of s mod m.  Going back,
 * blends make the sorts and a lookup puts each in order.
 *
 * For m = 4 and W = 8 a row has a sort at the same places as all others.  Each row is thus
 * rotated, by r places of 4, as long as its words are woven.
 *
 * A sort of W words is W bytes of each of its q planes: parts of the planes, transposed.
 */
#ifndef B2I_SHUFFLE_WEAVE_H
#define B2I_SHUFFLE_WEAVE_H

#include <pthread.h>

enum { MAX_WORDS = 15 };

#ifdef VEC_IS_ROW
enum { ROW = VEC_LEN, MAX_WOVEN = 32 };

B2I_KERNEL vec load_rows(const uint8_t *p, size_t stride)
{
    (void)stride;
    return vec_load(p);
}

/* Row j of t has just been made, all before it as well. */
B2I_KERNEL void store_row(uint8_t *p, const vec *rows, size_t t, size_t m, size_t j)
{
    (void)t;
    (void)m;
    vec_store(p + VEC_LEN * j, rows[j]);
}
#else
enum { ROW = LANE, MAX_WOVEN = 24 };

/* A row of each lane's elements, which are 'stride' apart. */
B2I_KERNEL vec load_rows(const uint8_t *p, size_t stride)
{
    return vec_load_lanes(p, stride);
}

/* Row j of t has just been made, all before it as well: a vector has lanes of two or more. */
B2I_KERNEL void store_row(uint8_t *p, const vec *rows, size_t t, size_t m, size_t j)
{
    if (j + 1 < t) {
        return;
    }
    B2I_UNROLL
    for (size_t h = 0; h < t; h += m) { /* two loops: none is too long to unroll */
        B2I_UNROLL
        for (size_t r = 0; r < m; r++) {
            vec_store(p + VEC_LEN * (h + r), vec_by_lanes(rows, t, h + r));
        }
    }
}

B2I_KERNEL vec vec_turn(vec v, size_t r, size_t m)
{
    (void)r;
    (void)m;
    return v;
}

/* q rows of q parts of ROW / q bytes, transposed. */
B2I_KERNEL void vec_swap_parts(vec *v, size_t q)
{
    const int rounds = q == 1 ? 0 : log2_of(q);
    B2I_UNROLL
    for (int l = 0; l < rounds; l++) {
        vec w[8];
        B2I_UNROLL
        for (size_t j = 0; j < q / 2; j++) {
            w[2 * j] = vec_zip_parts(v[j], v[j + q / 2], q, false);
            w[2 * j + 1] = vec_zip_parts(v[j], v[j + q / 2], q, true);
        }
        copy_vectors(v, w, q);
    }
}
#endif

/* The same in each row. */
typedef struct weave {
    uint8_t to_elements[MAX_WORDS][VEC_LEN]; /* by sort: the bytes that go to its places */
    uint8_t to_planes[MAX_WORDS][VEC_LEN];   /* the inverse */
    uint8_t step[4][VEC_LEN];                /* 0xFF at the places s, bit l of s mod m being set */
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

/* The number j of row r. */
B2I_KERNEL size_t number_of(size_t r, size_t nwords, size_t m)
{
    return m == 4 ? (4 - r) % 4 : nwords * r % m;
}

static void make_weave(weave *w, size_t q, size_t m)
{
    size_t nwords = ROW / q;
    for (size_t i = 0; i < VEC_LEN; i++) {
        size_t e = i % ROW % nwords, b = i % ROW / nwords, row = i / ROW * ROW;
        for (size_t k = 0; k < m; k++) {
            size_t at = place_of(e * m + k, nwords, m) * q + b;
            w->to_elements[k][row + at] = (uint8_t)(i % ROW);
            w->to_planes[k][i] = (uint8_t)at;
        }
        for (size_t l = 0; l < 4; l++) {
            w->step[l][i] = (i % ROW / q % m >> l & 1) != 0 ? 0xFF : 0;
        }
    }
}

static void make_weaves(void)
{
    for (size_t i = 0; i < sizeof woven && woven[i] <= MAX_WOVEN; i++) {
        size_t q = word_len(woven[i]);
        make_weave(&weaves[woven[i]], q, woven[i] / q);
    }
}

/* At place s, vector j of v becomes vector j + s (mod m), or j - s. */
B2I_KERNEL void slant(const weave *w, vec *v, size_t m, bool up)
{
    const size_t rounds = m <= 4 ? 2 : m < 8 ? 3 : 4;
    B2I_UNROLL
    for (size_t l = 0; l < rounds; l++) {
        const vec_mask step = vec_mask_load(w->step[l]);
        vec from[MAX_WORDS];
        B2I_UNROLL
        for (size_t j = 0; j < m; j++) {
            size_t other = up ? j + ((size_t)1 << l) : j + m - ((size_t)1 << l);
            from[j] = vec_choose(step, v[j], v[other % m]);
        }
        copy_vectors(v, from, m);
    }
}

B2I_KERNEL void weave_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                              size_t stride)
{
    const size_t q = word_len(unit), m = unit / q;
    const weave *w = &weaves[unit];
    (void)pthread_once(&weaves_once, make_weaves);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[8][MAX_WORDS];
        prefetch_ahead(src + i * unit, VEC_LEN * unit);
        B2I_UNROLL
        for (size_t h = 0; h < q; h++) {
            B2I_UNROLL
            for (size_t r = 0; r < m; r++) {
                vec row = load_rows(src + i * unit + ROW * (h * m + r), ROW * unit);
                v[h][number_of(r, ROW / q, m)] = vec_turn(row, (4 - r) % 4, m);
            }
            slant(w, v[h], m, false);
        }
        B2I_UNROLL
        for (size_t k = 0; k < m; k++) {
            vec part[8];
            B2I_UNROLL
            for (size_t h = 0; h < q; h++) {
                part[h] = vec_lookup(v[h][k], vec_load(w->to_planes[k]));
            }
            vec_swap_parts(part, q);
            B2I_UNROLL
            for (size_t b = 0; b < q; b++) {
                claim_next(dst + (k * q + b) * stride + i);
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
    (void)pthread_once(&weaves_once, make_weaves);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[8][MAX_WORDS], rows[MAX_WOVEN];
        B2I_UNROLL
        for (size_t k = 0; k < m; k++) {
            vec part[8];
            B2I_UNROLL
            for (size_t b = 0; b < q; b++) {
                part[b] = vec_load(plane_at(&own[k * q + b], i));
            }
            vec_swap_parts(part, q);
            B2I_UNROLL
            for (size_t h = 0; h < q; h++) {
                v[h][k] = vec_lookup(part[h], vec_load(w->to_elements[k]));
            }
        }
        B2I_UNROLL
        for (size_t h = 0; h < q; h++) {
            slant(w, v[h], m, true);
            B2I_UNROLL
            for (size_t r = 0; r < m; r++) {
                rows[h * m + r] = vec_turn(v[h][number_of(r, ROW / q, m)], r, m);
                store_row(dst + i * unit, rows, unit, m, h * m + r);
            }
        }
    }
}

#endif
