/*
 * checked.h: arithmetic on sizes that says when it overflows.
 * Each function returns false on overflow and leaves *out alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CHECKED_H
#define B2I_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool b2i_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a > UINT64_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

static inline bool b2i_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    if (b != 0 && a > UINT64_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

static inline bool b2i_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

static inline bool b2i_mul_size(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

static inline bool b2i_u64_to_size(uint64_t a, size_t *out)
{
    if (a > SIZE_MAX) {
        return false;
    }
    *out = (size_t)a;
    return true;
}

/* Sums and products for messages: UINT64_MAX where they overflow. */
static inline uint64_t b2i_add_most(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t b2i_mul_most(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* ceil(a / b) without overflow; b > 0. */
static inline uint64_t b2i_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif
