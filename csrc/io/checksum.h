/*
 * checksum.h: XXH3, the hash of chunk records and of the structure fingerprint.
 * It finds accidents; it is no defence against an attacker.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CHECKSUM_H
#define B2I_CHECKSUM_H

#include "bytes.h"

uint64_t b2i_xxh3_64(b2i_span bytes);
uint64_t b2i_xxh3_64_avx2(b2i_span bytes); /* the same, for CPUs that have it */

/* The 128-bit hash of the parts in a row, in its canonical (big-endian) byte order. */
void b2i_xxh3_128(const b2i_span *parts, unsigned nparts, uint8_t out[16]);

#endif
