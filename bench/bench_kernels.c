/*
 * bench_kernels.c: speed of every table of kernels, in GB/s and as a ratio to memcpy of
 * the same block.
 *
 * usage: bench_kernels [bytes of a block [peer library]]
 *
 * A peer library is one that exports blosc2_shuffle() and its like: its kernels are measured
 * beside ours.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "bitshuffle.h"
#include "shuffle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NSAMPLES = 25 };

typedef int32_t peer_fn(int32_t typesize, int32_t n, const void *src, void *dst);

typedef struct work {
    const b2i_shuffle_ops *shuffle;
    const b2i_bitshuffle_ops *bits;
    peer_fn *peer;
    int what; /* 0 shuffle, 1 unshuffle, 2 bitshuffle, 3 bitunshuffle, 4 memcpy */
    size_t unit, n;
    uint8_t *src, *dst;
} work;

static void once(const work *w)
{
    size_t nelems = w->n / w->unit;
    b2i_plane planes[B2I_MAX_UNIT];
    if (w->what == 4) {
        memcpy(w->dst, w->src, w->n);
    } else if (w->peer != NULL) {
        (void)w->peer((int32_t)w->unit, (int32_t)w->n, w->src, w->dst);
    } else if (w->what == 0) {
        w->shuffle->shuffle(w->src, w->unit, nelems, w->dst, nelems + 64);
    } else if (w->what == 1) {
        for (size_t k = 0; k < w->unit; k++) {
            planes[k] = (b2i_plane){ w->src + k * (nelems + 64), SIZE_MAX };
        }
        w->shuffle->unshuffle(planes, w->unit, nelems, w->dst);
    } else if (w->what == 2) {
        w->bits->shuffle(w->src, w->dst, w->unit, nelems / 8);
    } else {
        w->bits->unshuffle(w->src, w->dst, w->unit, nelems / 8);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* GB/s, the best of some samples. */
static double speed(const work *w)
{
    size_t repeats = ((size_t)1 << 22) / w->n + 1;
    double best = 1e9;
    for (int i = 0; i < NSAMPLES; i++) {
        double start = seconds();
        for (size_t r = 0; r < repeats; r++) {
            once(w);
        }
        double t = (seconds() - start) / (double)repeats;
        best = t < best ? t : best;
    }
    return (double)w->n / best / 1e9;
}

static void *peer_of(void *library, int what)
{
    static const char *const names[] = { "blosc2_shuffle", "blosc2_unshuffle", "blosc2_bitshuffle",
                                         "blosc2_bitunshuffle" };
    return library == NULL ? NULL : dlsym(library, names[what]);
}

int main(int argc, char **argv)
{
    static const size_t units[] = { 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32 };
    static const char *const names[] = { "shuffle", "unshuffle", "bitshuffle", "bitunshuffle" };
    work w = { .what = 4, .unit = 1, .n = argc > 1 ? strtoul(argv[1], NULL, 0) : 256 * 1024 };
    void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
    const b2i_shuffle_ops *ops;
    size_t room = w.n + 64 * (B2I_MAX_UNIT + 1);
    w.src = b2i_aligned_alloc(room);
    w.dst = b2i_aligned_alloc(room);
    if (w.src == NULL || w.dst == NULL || (argc > 2 && library == NULL)) {
        fprintf(stderr, "no memory, or no library: %s\n", library == NULL ? dlerror() : "");
        return 1;
    }
    memset(w.src, 1, room);
    memset(w.dst, 1, room);
    double copy = speed(&w);
    printf("%zu bytes; memcpy %.0f GB/s; columns are type sizes: GB/s (ratio to memcpy)\n", w.n, copy);
    for (w.what = 0; w.what < 4; w.what++) {
        printf("\n%-22s", names[w.what]);
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
            printf("%10zu ", units[u]);
        }
        peer_fn *peer = NULL;
        *(void **)&peer = peer_of(library, w.what);
        for (size_t t = 0;; t++) {
            ops = b2i_shuffle_table(t);
            w.peer = ops == NULL ? peer : NULL;
            if (ops == NULL && peer == NULL) {
                break;
            }
            w.shuffle = ops;
            w.bits = ops == NULL ? NULL : b2i_bitshuffle_table(t);
            printf("\n  %-20s", ops == NULL ? "peer" : ops->name);
            for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
                w.unit = units[u];
                if (w.unit == 1 && w.what < 2) {
                    printf("%11s", "");
                    continue;
                }
                double s = speed(&w);
                printf("%5.1f (%.2f)", s, s / copy);
            }
            if (ops == NULL) {
                break;
            }
        }
        printf("\n");
    }
    b2i_aligned_free(w.src);
    b2i_aligned_free(w.dst);
    return 0;
}
