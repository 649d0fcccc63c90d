/*
 * bitshuffle_vec.h: the kernels of instruction sets whose vectors have lanes of 16 bytes, over
 * bitshuffle_tile.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_BITSHUFFLE_VEC_H
#define B2I_BITSHUFFLE_VEC_H

/* Frequent type sizes get functions of their own, in which they are constants. */
#define BITSHUFFLE_OF(n)                                                                           \
    static void shuffle_##n(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)     \
    {                                                                                              \
        (void)typesize;                                                                            \
        tiled_shuffle(src, dst, n, row_len);                                                       \
    }                                                                                              \
    static void unshuffle_##n(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)   \
    {                                                                                              \
        (void)typesize;                                                                            \
        tiled_unshuffle(src, dst, n, row_len);                                                     \
    }

BITSHUFFLE_OF(1)
BITSHUFFLE_OF(2)
BITSHUFFLE_OF(4)
BITSHUFFLE_OF(8)
BITSHUFFLE_OF(16)

static void shuffle_any(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    tiled_shuffle(src, dst, typesize, row_len);
}

static void unshuffle_any(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    tiled_unshuffle(src, dst, typesize, row_len);
}

#define KERNEL_FOR(name, typesize)                                                                 \
    ((typesize) == 1    ? name##_1                                                                 \
     : (typesize) == 2  ? name##_2                                                                 \
     : (typesize) == 4  ? name##_4                                                                 \
     : (typesize) == 8  ? name##_8                                                                 \
     : (typesize) == 16 ? name##_16                                                                \
                        : name##_any)

static void vec_bitshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    b2i_bitshuffle_fn *kernel = KERNEL_FOR(shuffle, typesize);
    kernel = row_len < VEC_LEN ? b2i_bitshuffle_generic.shuffle : kernel;
    kernel(src, dst, typesize, row_len);
}

static void vec_bitunshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    b2i_bitshuffle_fn *kernel = KERNEL_FOR(unshuffle, typesize);
    kernel = row_len < VEC_LEN ? b2i_bitshuffle_generic.unshuffle : kernel;
    kernel(src, dst, typesize, row_len);
}

#endif
