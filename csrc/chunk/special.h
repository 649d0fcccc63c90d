/*
 * special.h: contents of special chunks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_SPECIAL_H
#define B2I_SPECIAL_H

#include "bytes.h"

/*
 * Bytes [at, at + n) of the data that a special chunk stands for.  'value' is the
 * repeated item of B2C_SPECIAL_VALUE.  Uninitialised data reads as zeros.
 */
void b2i_special_fill(uint8_t kind, uint8_t typesize, b2i_span value, uint64_t at, uint8_t *dst,
                      size_t n);

/*
 * Block size to record for a repeated value: a multiple of its length, also
 * above 255, or the reference cannot decode a chunk of several blocks.
 */
uint32_t b2i_special_blocksize(uint32_t blocksize, uint32_t value_len);

#endif
