/*
 * bitshuffle.c: chooses the kernels of the machine, and handles what they leave.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bitshuffle.h"
#include "cpu.h"
#include "kernel.h"

#include <pthread.h>

static const struct {
    unsigned features; /* all of them are needed */
    const b2i_bitshuffle_ops *ops;
} levels[] = {
    { 0, &b2i_bitshuffle_generic },
#ifdef B2I_HAVE_SSE2
    { B2I_CPU_SSE2, &b2i_bitshuffle_sse2 },
#endif
#ifdef B2I_HAVE_AVX2
    { B2I_CPU_AVX2, &b2i_bitshuffle_avx2 },
#endif
#ifdef B2I_HAVE_AVX512
    { B2I_CPU_AVX512, &b2i_bitshuffle_avx512 },
#endif
#ifdef B2I_HAVE_NEON
    { B2I_CPU_NEON, &b2i_bitshuffle_neon },
#endif
};

enum { NLEVELS = sizeof levels / sizeof levels[0] };

const b2i_bitshuffle_ops *b2i_bitshuffle_table(size_t i)
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
static b2i_bitshuffle_ops chosen;
static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    const b2i_bitshuffle_ops *ops;

    for (size_t i = 0; (ops = b2i_bitshuffle_table(i)) != NULL; i++) {
        chosen.name = ops->name;
        chosen.shuffle = ops->shuffle != NULL ? ops->shuffle : chosen.shuffle;
        chosen.unshuffle = ops->unshuffle != NULL ? ops->unshuffle : chosen.unshuffle;
    }
}

static const b2i_bitshuffle_ops *best(void)
{
    (void)pthread_once(&chosen_once, choose);
    return &chosen;
}

static void apply(b2i_bitshuffle_fn *kernel, const uint8_t *src, size_t n, size_t typesize,
                  uint8_t *dst)
{
    size_t row_len = n / typesize / 8;
    size_t done = row_len * 8 * typesize;

    if (row_len > 0) {
        kernel(src, dst, typesize, row_len);
    }
    copy_rest(src, n, done, dst);
}

void b2i_bitshuffle(const uint8_t *src, size_t n, size_t typesize, uint8_t *dst)
{
    apply(best()->shuffle, src, n, typesize, dst);
}

void b2i_bitunshuffle(const uint8_t *src, size_t n, size_t typesize, uint8_t *dst)
{
    apply(best()->unshuffle, src, n, typesize, dst);
}
