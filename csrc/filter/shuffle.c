/*
 * shuffle.c: chooses the kernels of the machine, and handles what they leave.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "blosc2c.h"
#include "cpu.h"
#include "kernel.h"
#include "stream.h"

#include <pthread.h>

static const struct {
    unsigned features; /* all of them are needed */
    const b2i_shuffle_ops *ops;
} levels[] = {
    { 0, &b2i_shuffle_generic },
#ifdef B2I_HAVE_SSE2
    { B2I_CPU_SSE2, &b2i_shuffle_sse2 },
#endif
#ifdef B2I_HAVE_AVX2
    { B2I_CPU_AVX2, &b2i_shuffle_avx2 },
#endif
#ifdef B2I_HAVE_AVX512
    { B2I_CPU_AVX512, &b2i_shuffle_avx512 },
#endif
#ifdef B2I_HAVE_NEON
    { B2I_CPU_NEON, &b2i_shuffle_neon },
#endif
};

enum {
    NLEVELS = sizeof levels / sizeof levels[0],
    STREAM_TILE = 16384 /* a third of a small L1 cache; B2I_RUN_LEN elements of any unit */
};

const b2i_shuffle_ops *b2i_shuffle_table(size_t i)
{
    unsigned features = b2i_cpu_features();

    for (size_t level = 0; level < NLEVELS; level++) {
        if ((levels[level].features & ~features) == 0 && i-- == 0) {
            return levels[level].ops;
        }
    }
    return NULL;
}

/* Written once, by choose(). */
static b2i_shuffle_ops chosen;
static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    const b2i_shuffle_ops *ops;

    for (size_t i = 0; (ops = b2i_shuffle_table(i)) != NULL; i++) {
        chosen.name = ops->name;
        chosen.shuffle = ops->shuffle != NULL ? ops->shuffle : chosen.shuffle;
        chosen.unshuffle = ops->unshuffle != NULL ? ops->unshuffle : chosen.unshuffle;
        chosen.stream = ops->stream != NULL ? ops->stream : chosen.stream;
        chosen.sum = ops->sum != NULL ? ops->sum : chosen.sum;
    }
}

static const b2i_shuffle_ops *best(void)
{
    (void)pthread_once(&chosen_once, choose);
    return &chosen;
}

const char *b2c_simd_level(void)
{
    return best()->name;
}

void b2i_unshuffle_planes(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    if (nelems > 1 && unit > 1) {
        best()->unshuffle(planes, unit, nelems, dst);
        return;
    }
    for (size_t k = 0; k < unit; k++) {
        if (planes[k].mask == 0) {
            memset(dst + k * nelems, planes[k].p[0], nelems);
        } else {
            memcpy(dst + k * nelems, planes[k].p, nelems);
        }
    }
}

/* The fewest elements after which dst is at the start of a cache line, if there is such a place. */
static size_t nelems_to_line(const uint8_t *dst, size_t unit)
{
    for (size_t n = 0; n < B2I_RUN_LEN; n++) {
        if (((uintptr_t)dst + n * unit) % B2I_RUN_LEN == 0) {
            return n;
        }
    }
    return 0;
}

static void planes_from(const b2i_plane *planes, size_t unit, size_t i, b2i_plane *out)
{
    for (size_t k = 0; k < unit; k++) {
        out[k] = (b2i_plane){ plane_at(&planes[k], i), planes[k].mask };
    }
}

/* Through a tile in the L1 cache. */
static void stream_tiles(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    uint8_t tile[STREAM_TILE];
    b2i_plane at[B2I_MAX_UNIT];
    size_t n = STREAM_TILE / unit / B2I_RUN_LEN * B2I_RUN_LEN;
    for (size_t i = 0; i < nelems; i += n) {
        n = n < nelems - i ? n : nelems - i;
        planes_from(planes, unit, i, at);
        b2i_unshuffle_planes(at, unit, n, tile);
        b2i_stream_copy(dst + i * unit, tile, n * unit);
    }
}

void b2i_unshuffle_stream(const b2i_plane *planes, size_t unit, size_t nelems, uint8_t *dst)
{
    bool even = unit == 2 || unit == 4 || unit == 8 || unit == 16;
    b2i_plane at[B2I_MAX_UNIT];
    size_t n = nelems_to_line(dst, unit);
    n = n < nelems ? n : nelems;
    b2i_unshuffle_planes(planes, unit, n, dst);
    planes_from(planes, unit, n, at);
    dst += n * unit;
    nelems -= n;
    if (even && best()->stream != NULL && (uintptr_t)dst % B2I_RUN_LEN == 0) {
        n = nelems / B2I_RUN_LEN * B2I_RUN_LEN;
        best()->stream(at, unit, n, dst);
        planes_from(at, unit, n, at);
        b2i_unshuffle_planes(at, unit, nelems - n, dst + n * unit);
    } else {
        stream_tiles(at, unit, nelems, dst);
    }
    b2i_stream_end();
}

void b2i_shuffle(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    size_t nelems = n / unit, done = 0;
    if (nelems > 1 && unit > 1) { /* else nothing changes its order */
        best()->shuffle(src, unit, nelems, dst, nelems);
        done = nelems * unit;
    }
    copy_rest(src, n, done, dst);
}

void b2i_unshuffle(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    b2i_plane planes[B2I_MAX_UNIT];
    size_t nelems = n / unit;
    for (size_t k = 0; k < unit; k++) {
        planes[k] = (b2i_plane){ src + k * nelems, SIZE_MAX };
    }
    b2i_unshuffle_planes(planes, unit, nelems, dst);
    copy_rest(src, n, nelems * unit, dst);
}

void b2i_plane_sum(const uint8_t *src, size_t n, uint8_t *dst)
{
    best()->sum(src, n, dst);
}
