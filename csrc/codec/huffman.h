/*
 * huffman.h: code lengths and codes of deflate.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_HUFFMAN_H
#define B2I_HUFFMAN_H

#include <stdint.h>

enum { B2I_HUFF_MAX_SYMS = 288, B2I_HUFF_MAX_LEN = 15, B2I_HUFF_LEN_AT = 16 };

/*
 * Lengths of a complete code for the symbols that occur, each of at most max_len bits; 0 for the
 * others.  Frequencies from 2^23 on are counted in larger units.  Where less than two symbols
 * occur, others get a code too: decoders refuse a code that is not complete.
 */
void b2i_huff_lengths(const uint32_t *freqs, unsigned nsyms, unsigned max_len, uint8_t *lens);

/*
 * The canonical codes to the lengths, with the first bit lowest, as deflate sends them, and from
 * bit B2I_HUFF_LEN_AT on their lengths.  Words of symbols that have none stay as they are.
 */
void b2i_huff_words(const uint8_t *lens, unsigned nsyms, uint32_t *words);

#endif
