/*
 * shuffle_vec.h: the shuffle of every instruction set with vectors, over vec_net.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_SHUFFLE_VEC_H
#define B2I_SHUFFLE_VEC_H

/* ---- units of 2, 4, 8 and 16 bytes; nelems >= VEC_LEN ---- */

B2I_KERNEL void even_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                             size_t stride)
{
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        prefetch_ahead(src + i * unit, VEC_LEN * unit);
        group_shuffle(src + i * unit, unit, dst + i, stride);
    }
}

B2I_KERNEL void join_all(const b2i_plane *planes, size_t unit, size_t nelems, bool streaming,
                         uint8_t *dst)
{
    b2i_plane own[16]; /* that no store changes */
    memcpy(own, planes, unit * sizeof *planes);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[16];
        B2I_UNROLL
        for (size_t k = 0; k < unit; k++) {
            v[k] = vec_load(plane_at(&own[k], i));
        }
        group_join(v, unit, streaming, dst + i * unit);
    }
}

B2I_KERNEL void even_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    join_all(planes, unit, nelems, false, dst);
}

B2I_KERNEL void even_stream(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    join_all(planes, unit, nelems, true, dst);
}

/* ---- other units below 16: one strip that is wider than an element ---- */

/* How many elements, from the first, have 16 bytes before the end of all elements. */
B2I_KERNEL size_t strip_limit(size_t unit, size_t nelems)
{
    size_t beyond = (STRIP - 1) / unit; /* elements at the end that have fewer */
    return nelems > beyond ? nelems - beyond : 0;
}

B2I_KERNEL void narrow_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                               size_t stride)
{
    size_t limit = strip_limit(unit, nelems);
    if (limit < VEC_LEN) {
        plain_shuffle(src, unit, 0, nelems, dst, stride);
        return;
    }
    for (size_t i = 0; i < limit; i = next_step(i, VEC_LEN, limit)) {
        prefetch_ahead(src + i * unit, VEC_LEN * unit);
        columns_shuffle(src + i * unit, unit, unit, dst + i, stride);
    }
    plain_shuffle(src, unit, limit, nelems, dst, stride);
}

B2I_KERNEL void narrow_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    size_t limit = strip_limit(unit, nelems);
    if (limit < VEC_LEN) {
        plain_unshuffle(planes, unit, 0, nelems, dst);
        return;
    }
    for (size_t i = 0; i < limit; i = next_step(i, VEC_LEN, limit)) {
        vec v[16];
        B2I_UNROLL
        for (size_t k = 0; k < 16; k++) {
            v[k] = k < unit ? vec_load(plane_at(&planes[k], i)) : vec_zero();
        }
        columns_join(v, dst + i * unit, unit);
    }
    plain_unshuffle(planes, unit, limit, nelems, dst);
}

#ifdef VEC_HAS_LOOKUP
/* ---- units of 3, 5, 6 and 7: every vector looks its bytes up in all the others ---- */

/*
 * LANE elements are t lanes of elements, or a lane of each of t planes.  Lane 'to' of one side has
 * its bytes by lookups[to][from] from lanes 'from' of the other.
 */
typedef struct lookups {
    vec at[7][7];
} lookups;

enum { FEW = 512, NOWHERE = 0x80 }; /* elements that do not pay for making lookups */

B2I_KERNEL void make_lookups(lookups *l, size_t t, bool to_planes)
{
    uint8_t index[7][7][LANE];
    memset(index, NOWHERE, sizeof index);
    for (size_t e = 0; e < LANE; e++) {
        for (size_t k = 0; k < t; k++) {
            size_t at = e * t + k;
            if (to_planes) {
                index[k][at / LANE][e] = (uint8_t)(at % LANE);
            } else {
                index[at / LANE][k][at % LANE] = (uint8_t)e;
            }
        }
    }
    for (size_t i = 0; i < t * t; i++) {
        l->at[i / t][i % t] = vec_load_lanes(index[i / t][i % t], 0);
    }
}

B2I_KERNEL vec looked_up(const lookups *l, const vec *v, size_t t, size_t to)
{
    vec sum = vec_lookup(v[0], l->at[to][0]);
    B2I_UNROLL
    for (size_t from = 1; from < t; from++) {
        sum = vec_or(sum, vec_lookup(v[from], l->at[to][from]));
    }
    return sum;
}

B2I_KERNEL void lookup_shuffle(const uint8_t *src, size_t t, size_t nelems, uint8_t *dst,
                               size_t stride)
{
    lookups l;
    if (nelems < FEW) {
        narrow_shuffle(src, t, nelems, dst, stride);
        return;
    }
    make_lookups(&l, t, true);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[7];
        prefetch_ahead(src + i * t, VEC_LEN * t);
        B2I_UNROLL
        for (size_t r = 0; r < t; r++) {
            v[r] = vec_load_lanes(src + i * t + r * LANE, t * LANE);
        }
        B2I_UNROLL
        for (size_t k = 0; k < t; k++) {
            vec_store(dst + k * stride + i, looked_up(&l, v, t, k));
        }
    }
}

B2I_KERNEL void lookup_unshuffle(const b2i_plane *planes, size_t t, size_t nelems, uint8_t *dst)
{
    lookups l;
    if (nelems < FEW) {
        narrow_unshuffle(planes, t, nelems, dst);
        return;
    }
    make_lookups(&l, t, false);
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        vec v[7];
        B2I_UNROLL
        for (size_t k = 0; k < t; k++) {
            v[k] = vec_load(plane_at(&planes[k], i));
        }
        B2I_UNROLL
        for (size_t r = 0; r < t; r++) {
            vec w = looked_up(&l, v, t, r);
            B2I_UNROLL
            for (size_t lane = 0; lane < VEC_LANES; lane++) {
                vec_store_lane(dst + i * t + (lane * t + r) * LANE, w, lane);
            }
        }
    }
}
#else
#define lookup_shuffle   narrow_shuffle
#define lookup_unshuffle narrow_unshuffle
#endif

/*
 * ---- units of 16 and more: strips side by side, the last one moved back; nelems >= VEC_LEN ----
 */

enum { LINE = 64, CROWDED = 512 };

/*
 * Through a tile, so that planes are written in whole cache lines.  It is worth
 * the copy when planes lie a multiple of CROWDED bytes apart: their lines then share
 * a few cache sets and would not stay there until a later step fills them up.
 */
static void crowded_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                            size_t stride)
{
    uint8_t tile[STRIP * LINE];

    for (size_t i = 0; i < nelems; i = next_step(i, LINE, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            strip_shuffle(src + i * unit + c, unit, LINE, tile, LINE);
            for (size_t k = 0; k < STRIP; k++) {
                for (size_t v = 0; v < LINE; v += VEC_LEN) {
                    vec_store(dst + (c + k) * stride + i + v, vec_load(tile + k * LINE + v));
                }
            }
        }
    }
}

static void wide_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,
                         size_t stride)
{
    if (sizeof(vec) < LINE && stride % CROWDED == 0 && nelems >= LINE) {
        crowded_shuffle(src, unit, nelems, dst, stride);
        return;
    }
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            columns_shuffle(src + i * unit + c, unit, STRIP, dst + c * stride + i, stride);
        }
    }
}

static void wide_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    for (size_t i = 0; i < nelems; i = next_step(i, VEC_LEN, nelems)) {
        for (size_t c = 0; c < unit; c = next_step(c, STRIP, unit)) {
            vec v[16];
            B2I_UNROLL
            for (size_t k = 0; k < 16; k++) {
                v[k] = vec_load(plane_at(&planes[c + k], i));
            }
            columns_join(v, dst + i * unit + c, unit);
        }
    }
}

/* ---- entry: frequent units get functions of their own, in which 'unit' is a constant ---- */

#define SHUFFLE_OF(name, n, kernel)                                                                \
    static void name##_##n(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst,           \
                           size_t stride)                                                          \
    {                                                                                              \
        (void)unit;                                                                                \
        kernel(src, n, nelems, dst, stride);                                                       \
    }

#define UNSHUFFLE_OF(name, n, kernel)                                                              \
    static void name##_##n(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)      \
    {                                                                                              \
        (void)unit;                                                                                \
        kernel(planes, n, nelems, dst);                                                            \
    }

/* As many lookups as 6 and 7 need take longer than four rounds over 16 columns. */
SHUFFLE_OF(shuffle, 2, even_shuffle)
SHUFFLE_OF(shuffle, 3, lookup_shuffle)
SHUFFLE_OF(shuffle, 4, even_shuffle)
SHUFFLE_OF(shuffle, 5, lookup_shuffle)
SHUFFLE_OF(shuffle, 6, narrow_shuffle)
SHUFFLE_OF(shuffle, 7, narrow_shuffle)
SHUFFLE_OF(shuffle, 8, even_shuffle)
SHUFFLE_OF(shuffle, 12, narrow_shuffle)
#ifdef VEC_HAS_GROUPS
SHUFFLE_OF(shuffle, 16, even_shuffle)
#else
#define shuffle_16 wide_shuffle
#endif

UNSHUFFLE_OF(unshuffle, 2, even_unshuffle)
UNSHUFFLE_OF(unshuffle, 3, lookup_unshuffle)
UNSHUFFLE_OF(unshuffle, 4, even_unshuffle)
UNSHUFFLE_OF(unshuffle, 5, lookup_unshuffle)
UNSHUFFLE_OF(unshuffle, 6, lookup_unshuffle)
UNSHUFFLE_OF(unshuffle, 7, lookup_unshuffle)
UNSHUFFLE_OF(unshuffle, 8, even_unshuffle)
UNSHUFFLE_OF(unshuffle, 12, narrow_unshuffle)
UNSHUFFLE_OF(unshuffle, 16, even_unshuffle)

/* By unit; what is not here is narrow below STRIP, and wide above. */
static b2i_shuffle_fn *const shuffles[STRIP + 1] = {
    [2] = shuffle_2, [3] = shuffle_3, [4] = shuffle_4,   [5] = shuffle_5,   [6] = shuffle_6,
    [7] = shuffle_7, [8] = shuffle_8, [12] = shuffle_12, [16] = shuffle_16,
};
static b2i_unshuffle_fn *const unshuffles[STRIP + 1] = {
    [2] = unshuffle_2, [3] = unshuffle_3,   [4] = unshuffle_4,
    [5] = unshuffle_5, [6] = unshuffle_6,   [7] = unshuffle_7,
    [8] = unshuffle_8, [12] = unshuffle_12, [16] = unshuffle_16,
};

static void vec_shuffle(const uint8_t *src, size_t unit, size_t nelems, uint8_t *dst, size_t stride)
{
    if (nelems < VEC_LEN) {
        b2i_shuffle_generic.shuffle(src, unit, nelems, dst, stride);
    } else if (unit > STRIP) {
        wide_shuffle(src, unit, nelems, dst, stride);
    } else if (shuffles[unit] != NULL) {
        shuffles[unit](src, unit, nelems, dst, stride);
    } else {
        narrow_shuffle(src, unit, nelems, dst, stride);
    }
}

static void vec_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    if (nelems < VEC_LEN) {
        b2i_shuffle_generic.unshuffle(planes, unit, nelems, dst);
    } else if (unit > STRIP) {
        wide_unshuffle(planes, unit, nelems, dst);
    } else if (unshuffles[unit] != NULL) {
        unshuffles[unit](planes, unit, nelems, dst);
    } else {
        narrow_unshuffle(planes, unit, nelems, dst);
    }
}

#ifdef VEC_HAS_STREAM
UNSHUFFLE_OF(stream, 2, even_stream)
UNSHUFFLE_OF(stream, 4, even_stream)
UNSHUFFLE_OF(stream, 8, even_stream)
UNSHUFFLE_OF(stream, 16, even_stream)

/* Units of 2, 4, 8 and 16 bytes. */
static void vec_stream_unshuffle(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    (unit == 2   ? stream_2
     : unit == 4 ? stream_4
     : unit == 8 ? stream_8
                 : stream_16)(planes, unit, nelems, dst);
}
#endif

#endif
