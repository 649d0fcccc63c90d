/*
 * shuffle.c: chooses the kernels of the machine, and handles what they leave.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "blosc2c.h"
#include "cpu.h"
#include "kernel.h"

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
#ifdef B2I_HAVE_NEON
    { B2I_CPU_NEON, &b2i_shuffle_neon },
#endif
};

enum { NLEVELS = sizeof levels / sizeof levels[0] };

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

static void apply(b2i_shuffle_fn *kernel, const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    size_t nelems = n / unit;
    size_t done = nelems * unit;

    if (unit == 1 || nelems <= 1) {
        done = 0; /* nothing changes place */
    } else {
        kernel(src, dst, unit, nelems);
    }
    copy_rest(src, n, done, dst);
}

void b2i_shuffle(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    apply(best()->shuffle, src, n, unit, dst);
}

void b2i_unshuffle(const uint8_t *src, size_t n, size_t unit, uint8_t *dst)
{
    apply(best()->unshuffle, src, n, unit, dst);
}
