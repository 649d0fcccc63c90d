/*
 * elementwise.h: filters that leave bytes in their places.
 * In all of them n bytes go from src to dst (no overlap), and bytes after the
 * last whole unit are copied.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_ELEMENTWISE_H
#define B2I_ELEMENTWISE_H

#include <stddef.h>
#include <stdint.h>

/*
 * XOR with the block 'ref', or, when it is NULL, of every unit with the one
 * before it.  A reference that is shorter than n leaves the rest as it is.
 */
void b2i_delta_forward(const uint8_t *src, size_t n, size_t typesize, const uint8_t *ref,
                       size_t ref_len, uint8_t *dst);
void b2i_delta_backward(const uint8_t *src, size_t n, size_t typesize, const uint8_t *ref,
                        size_t ref_len, uint8_t *dst);

/* How many low bits of an element trunc_prec (4) or int_trunc (36) clears; -1: bad parameters. */
int b2i_trunc_nbits(uint8_t filter, size_t typesize, uint8_t meta);

/* Clears the lowest 'nbits' bits of little-endian elements of 1, 2, 4 or 8 bytes. */
void b2i_trunc(const uint8_t *src, size_t n, size_t typesize, unsigned nbits, uint8_t *dst);

/* Differences of consecutive bytes in each of the 'unit' planes of a shuffled block. */
void b2i_bytedelta_forward(const uint8_t *src, size_t n, size_t unit, uint8_t *dst);
void b2i_bytedelta_backward(const uint8_t *src, size_t n, size_t unit, uint8_t *dst);

/* Undoes filter 34: its sums start anew at the last multiple of 16 of each plane. */
void b2i_bytedelta34_backward(const uint8_t *src, size_t n, size_t unit, uint8_t *dst);

#endif
