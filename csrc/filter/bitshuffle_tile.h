/*
 * bitshuffle_tile.h: the bitshuffle of every instruction set, over the operations of
 * vec_u64.h, or of vec_<isa>.h and vec_net.h.
 *
 * 8 consecutive elements are a super-element of 8 * typesize bytes.  Bytes of
 * super-elements are gathered into the planes of a tile (as in a shuffle); then
 * the 8 planes that hold byte j of the 8 elements become rows 8 * j … 8 * j + 7
 * by a transposition of 8 by 8 bits across the planes, for all bytes of a vector at
 * once.  Going backward the same happens in reverse.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_BITSHUFFLE_TILE_H
#define B2I_BITSHUFFLE_TILE_H

/* Bytes of a plane: a cache line, so that rows are written in whole lines. */
enum { PLANE = 64 };

/* Planes of the 8 elements' bytes [c, c + width): width = STRIP, or all when fewer. */
typedef struct tile {
    uint8_t planes[8 * STRIP * PLANE];
} tile;

B2I_KERNEL void swap_bits(vec *a, vec *b, int nbits, uint8_t mask)
{
    vec t = vec_and(vec_xor(vec_shr(*a, nbits), *b), vec_splat(mask));
    *b = vec_xor(*b, t);
    *a = vec_xor(*a, vec_shl(t, nbits));
}

/* 8 by 8 bits across vectors, in each byte: its own inverse. */
B2I_KERNEL void transpose_bits(const uint8_t *src, size_t src_stride, uint8_t *dst,
                               size_t dst_stride)
{
    vec v[8];
    B2I_UNROLL
    for (size_t i = 0; i < 8; i++) {
        v[i] = vec_load(src + i * src_stride);
    }
    B2I_UNROLL
    for (size_t i = 0; i < 4; i++) {
        swap_bits(&v[i], &v[i + 4], 4, 0x0F);
    }
    B2I_UNROLL
    for (size_t i = 0; i < 8; i += 4) {
        swap_bits(&v[i], &v[i + 2], 2, 0x33);
        swap_bits(&v[i + 1], &v[i + 3], 2, 0x33);
    }
    B2I_UNROLL
    for (size_t i = 0; i < 8; i += 2) {
        swap_bits(&v[i], &v[i + 1], 1, 0x55);
    }
    B2I_UNROLL
    for (size_t i = 0; i < 8; i++) {
        vec_store(dst + i * dst_stride, v[i]);
    }
}

/* n super-elements at src: bytes [c, c + width) of their elements into the tile. */
B2I_KERNEL void tile_gather(const uint8_t *src, size_t typesize, size_t c, size_t n, tile *t)
{
    size_t stride = 8 * typesize;
    if (stride == 8) {
        octet_shuffle(src, n, t->planes, PLANE);
    } else if (typesize <= STRIP) {
        for (size_t s = 0; s < stride; s = next_step(s, STRIP, stride)) {
            strip_shuffle(src + s, stride, n, t->planes + s * PLANE, PLANE);
        }
    } else {
        for (size_t i = 0; i < 8; i++) {
            strip_shuffle(src + i * typesize + c, stride, n, t->planes + i * STRIP * PLANE, PLANE);
        }
    }
}

B2I_KERNEL void tile_scatter(const tile *t, size_t typesize, size_t c, size_t n, uint8_t *dst)
{
    size_t stride = 8 * typesize;
    if (stride == 8) {
        octet_unshuffle(t->planes, PLANE, n, dst);
    } else if (typesize <= STRIP) {
        for (size_t s = 0; s < stride; s = next_step(s, STRIP, stride)) {
            strip_unshuffle(t->planes + s * PLANE, PLANE, n, dst + s, stride);
        }
    } else {
        for (size_t i = 0; i < 8; i++) {
            strip_unshuffle(t->planes + i * STRIP * PLANE, PLANE, n, dst + i * typesize + c,
                            stride);
        }
    }
}

/* row_len >= VEC_LEN */
B2I_KERNEL void tiled_shuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    tile t;
    size_t width = typesize < STRIP ? typesize : STRIP;
    size_t n = row_len < PLANE ? VEC_LEN : PLANE;
    bool apart = row_len % LINE_LEN == 0; /* no two rows share a line */

    for (size_t at = 0; at < row_len; at = next_step(at, n, row_len)) {
        for (size_t c = 0; c < typesize; c = next_step(c, width, typesize)) {
            tile_gather(src + at * 8 * typesize, typesize, c, n, &t);
            for (size_t j = 0; j < width; j++) {
                uint8_t *rows = dst + 8 * (c + j) * row_len + at;
                for (size_t b = 0; b < 8 && !apart; b++) {
                    claim_next(rows + b * row_len);
                }
                for (size_t v = 0; v < n; v += VEC_LEN) {
                    transpose_bits(t.planes + j * PLANE + v, width * PLANE, rows + v, row_len);
                }
            }
        }
    }
}

B2I_KERNEL void tiled_unshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    tile t;
    size_t width = typesize < STRIP ? typesize : STRIP;
    size_t n = row_len < PLANE ? VEC_LEN : PLANE;

    for (size_t at = 0; at < row_len; at = next_step(at, n, row_len)) {
        for (size_t c = 0; c < typesize; c = next_step(c, width, typesize)) {
            for (size_t j = 0; j < width; j++) {
                const uint8_t *rows = src + 8 * (c + j) * row_len + at;
                for (size_t v = 0; v < n; v += VEC_LEN) {
                    transpose_bits(rows + v, row_len, t.planes + j * PLANE + v, width * PLANE);
                }
            }
            tile_scatter(&t, typesize, c, n, dst + at * 8 * typesize);
        }
    }
}

#endif
