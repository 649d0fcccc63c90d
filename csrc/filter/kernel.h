/*
 * kernel.h: what the filters share.  Everything is static: the
 * kernels are compiled for different instruction sets and must not be merged.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_KERNEL_H
#define B2I_KERNEL_H

#include "shuffle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Constant arguments must reach the loops inside. */
#if defined(__GNUC__) || defined(__clang__)
#define B2I_KERNEL static inline __attribute__((always_inline))
#else
#define B2I_KERNEL static inline
#endif

/* In front of a loop over vectors: arrays of vectors become registers once it is unrolled. */
#if defined(__clang__)
#define B2I_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define B2I_UNROLL _Pragma("GCC unroll 16")
#else
#define B2I_UNROLL
#endif

/*
 * Where the step after the one at i starts, for steps of 'len' that cover
 * [0, end) with end >= len.  The last step is moved back to end exactly at the
 * end: it does some items twice, which is cheaper than doing the rest singly.
 */
B2I_KERNEL size_t next_step(size_t i, size_t len, size_t end)
{
    size_t next = i + len;
    return next < end && next > end - len ? end - len : next;
}

/* The bytes that a filter leaves as they are: [done, n). */
B2I_KERNEL void copy_rest(const uint8_t *src, size_t n, size_t done, uint8_t *dst)
{
    if (done < n) {
        memcpy(dst + done, src + done, n - done);
    }
}

/* dst[i] = src[0] + … + src[i] for i in [done, n), where those before are there. */
B2I_KERNEL void sum_rest(const uint8_t *src, size_t n, size_t done, uint8_t *dst)
{
    uint8_t sum = done > 0 ? dst[done - 1] : 0;
    for (size_t i = done; i < n; i++) {
        sum = (uint8_t)(sum + src[i]);
        dst[i] = sum;
    }
}

/* Where bytes i and following of a plane are. */
B2I_KERNEL const uint8_t *plane_at(const b2i_plane *plane, size_t i)
{
    return plane->p + (i & plane->mask);
}

/* Of 2, 4, 8 and 16. */
B2I_KERNEL int log2_of(size_t t)
{
    return t == 2 ? 1 : t == 4 ? 2 : t == 8 ? 3 : 4;
}

/* Elements [from, nelems) one byte at a time: the definition of the filter. */
B2I_KERNEL void plain_shuffle(const uint8_t *restrict src, size_t unit, size_t from, size_t nelems,
                              uint8_t *restrict dst, size_t stride)
{
    for (size_t i = from; i < nelems; i++) {
        for (size_t k = 0; k < unit; k++) {
            dst[k * stride + i] = src[i * unit + k];
        }
    }
}

/* In pieces whose planes are plain arrays, which lets compilers vectorise for a constant unit. */
B2I_KERNEL void plain_unshuffle(const b2i_plane *planes, size_t unit, size_t from, size_t nelems,
                                uint8_t *restrict dst)
{
    for (size_t i = from; i < nelems; i += B2I_RUN_LEN) {
        size_t n = nelems - i < B2I_RUN_LEN ? nelems - i : B2I_RUN_LEN;
        const uint8_t *p[B2I_MAX_UNIT];
        for (size_t k = 0; k < unit; k++) {
            p[k] = plane_at(&planes[k], i);
        }
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < unit; k++) {
                dst[(i + j) * unit + k] = p[k][j];
            }
        }
    }
}

enum { LINE_LEN = 64 }; /* bytes of a cache line */

/* Memory that will be read soon: by the time it is there the loop has come near. */
B2I_KERNEL void prefetch_ahead(const uint8_t *p, size_t len)
{
#if defined(__GNUC__) || defined(__clang__)
    enum { AHEAD = 2048 };
    for (size_t at = 0; at < len; at += LINE_LEN) {
        __builtin_prefetch((const void *)((uintptr_t)p + AHEAD + at)); /* harmless past the end */
    }
#else
    (void)p;
    (void)len;
#endif
}

/* The line at p, which is about to be written. */
B2I_KERNEL void claim(const void *p)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(p, 1);
#else
    (void)p;
#endif
}

/*
 * The line behind the one at p.  A vector of a plane that does not begin with a line is stored
 * across two, and Intel processors fetch the second one only when the store is due:
 * shuffles then take up to 2.3 times as long.
 */
B2I_KERNEL void claim_next(const uint8_t *p)
{
    claim((const void *)((uintptr_t)p + LINE_LEN));
}

#endif
