/*
 * kernel.h: what the filters share.  Everything is static: the
 * kernels are compiled for different instruction sets and must not be merged.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_KERNEL_H
#define B2I_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Constant arguments must reach the loops inside. */
#if defined(__GNUC__) || defined(__clang__)
#define B2I_KERNEL static inline __attribute__((always_inline))
#else
#define B2I_KERNEL static inline
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

/* Elements [from, nelems) one byte at a time: the definition of the filter. */
B2I_KERNEL void plain_shuffle(const uint8_t *restrict src, uint8_t *restrict dst, size_t unit,
                              size_t from, size_t nelems)
{
    for (size_t i = from; i < nelems; i++) {
        for (size_t k = 0; k < unit; k++) {
            dst[k * nelems + i] = src[i * unit + k];
        }
    }
}

B2I_KERNEL void plain_unshuffle(const uint8_t *restrict src, uint8_t *restrict dst, size_t unit,
                                size_t from, size_t nelems)
{
    for (size_t i = from; i < nelems; i++) {
        for (size_t k = 0; k < unit; k++) {
            dst[i * unit + k] = src[k * nelems + i];
        }
    }
}

#endif
