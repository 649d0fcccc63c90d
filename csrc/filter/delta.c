/*
 * delta.c: XOR with block 0, or inside block 0 with the unit before.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "elementwise.h"
#include "bytes.h"
#include "kernel.h"

static size_t unit_of(size_t typesize)
{
    if (typesize == 1 || typesize == 2 || typesize == 4) {
        return typesize;
    }
    return typesize % 8 == 0 ? 8 : 1;
}

static void xor_bytes(const uint8_t *restrict a, const uint8_t *restrict b, size_t n,
                      uint8_t *restrict dst)
{
    for (size_t i = 0; i < n; i++) {
        dst[i] = a[i] ^ b[i];
    }
}

/* Forward and backward are the same operation. */
static void xor_ref(const uint8_t *src, size_t n, size_t unit, const uint8_t *ref, size_t ref_len,
                    uint8_t *dst)
{
    size_t len = n < ref_len ? n : ref_len;
    len -= len % unit;
    xor_bytes(src, ref, len, dst);
    copy_rest(src, n, len, dst);
}

void b2i_delta_forward(const uint8_t *src, size_t n, size_t typesize, const uint8_t *ref,
                       size_t ref_len, uint8_t *dst)
{
    size_t unit = unit_of(typesize);

    if (ref != NULL) {
        xor_ref(src, n, unit, ref, ref_len, dst);
        return;
    }
    size_t len = n - n % unit;
    if (len > 0) {
        memcpy(dst, src, unit);
        xor_bytes(src + unit, src, len - unit, dst + unit);
    }
    copy_rest(src, n, len, dst);
}

/*
 * Running XOR of units, 8 bytes at a time: first inside the word, by doubling
 * shifts, then with the last unit so far, repeated over the word.
 */
B2I_KERNEL void running_xor(const uint8_t *restrict src, size_t len, size_t unit,
                            uint8_t *restrict dst)
{
    const uint64_t repeat = unit == 1   ? UINT64_C(0x0101010101010101)
                            : unit == 2 ? UINT64_C(0x0001000100010001)
                            : unit == 4 ? UINT64_C(0x0000000100000001)
                                        : 1;
    uint64_t before = 0; /* all that a step waits for */
    size_t i = 0;

    for (; i + 8 <= len; i += 8) {
        uint64_t x = b2i_ld64le(src + i);
        for (size_t shift = 8 * unit; shift < 64; shift *= 2) {
            x ^= x << shift;
        }
        b2i_st64le(dst + i, x ^ before);
        before ^= (x >> (64 - 8 * unit)) * repeat;
    }
    for (; i < len; i++) {
        dst[i] = i < unit ? src[i] : src[i] ^ dst[i - unit];
    }
}

void b2i_delta_backward(const uint8_t *src, size_t n, size_t typesize, const uint8_t *ref,
                        size_t ref_len, uint8_t *dst)
{
    size_t unit = unit_of(typesize);
    size_t len = n - n % unit;

    if (ref != NULL) {
        xor_ref(src, n, unit, ref, ref_len, dst);
        return;
    }
    switch (unit) {
    case 1:
        running_xor(src, len, 1, dst);
        break;
    case 2:
        running_xor(src, len, 2, dst);
        break;
    case 4:
        running_xor(src, len, 4, dst);
        break;
    default:
        running_xor(src, len, 8, dst);
        break;
    }
    copy_rest(src, n, len, dst);
}
