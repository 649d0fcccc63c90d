/*
 * deflate_block.h: the blocks of our deflate streams; private to deflate_enc.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_DEFLATE_BLOCK_H
#define B2I_DEFLATE_BLOCK_H

#include "deflate_enc.h"

#include "huffman.h"

enum {
    MIN_MATCH = 3,
    MAX_MATCH = 258,
    END_OF_BLOCK = 256,
    FIRST_LEN = 257,
    NLENS = 29,
    NLITLENS = FIRST_LEN + NLENS,
    NDISTS = 30,
    MAX_CODE = 14,   /* bits: four literals and what was left fill a word */
    MAX_SEQS = 8192, /* of a block */
    MAX_LITERALS = 65536,
    NEAR_DISTS = 256, /* whose symbols are in a table by themselves */
    FAR_LOG2 = 7      /* those beyond have the same symbol as 2^7 - 1 others, at least */
};

/* Literals, then a match; the last sequence of a block has none, its len is 0. */
typedef struct seq {
    uint32_t nlit;
    uint16_t len;
    uint16_t distance; /* less 1 */
} seq;

/* A code as it is sent, by symbol. */
typedef struct code {
    uint8_t lens[B2I_HUFF_MAX_SYMS];
    uint32_t words[B2I_HUFF_MAX_SYMS]; /* as b2i_huff_words() makes them */
} code;

/* Where bits go; small, copied while many are put. */
typedef struct bit_sink {
    uint8_t *op;
    uint64_t bits; /* that do not fill a byte yet */
    unsigned nbits;
} bit_sink;

typedef struct deflater {
    const b2i_deflate_effort *effort;
    bit_sink out;
    const uint8_t *op_end;
    size_t src_len;
    bool *misses;         /* see b2i_deflate_encode() */
    size_t nlit, missed;  /* bytes in blocks of literals, and saved if they had short matches */
    const uint8_t *block; /* where the block begins in the input */
    size_t block_len;
    uint32_t lit_freqs[NLITLENS], dist_freqs[NDISTS];
    code lit, dist, fixed_lit, fixed_dist;
    bool has_codes; /* lit and dist have the lengths of the last block's codes */
    uint16_t len_syms[MAX_MATCH + 1];
    uint8_t dist_syms[2 * NEAR_DISTS]; /* of near distances, then of all by their high bits */
    seq seqs[MAX_SEQS];
} deflater;

/* Number of bits that follow the symbol of a length, from FIRST_LEN on, or distance. */
static const uint8_t len_extras[NLENS] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
static const uint8_t dist_extras[NDISTS] = { 0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                             6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13 };

/* The distance is less 1, as in sequences. */
static inline unsigned dist_sym(const deflater *d, unsigned distance)
{
    return d->dist_syms[distance < NEAR_DISTS ? distance : NEAR_DISTS + (distance >> FAR_LOG2)];
}

/* A deflater without a stream, and its tables of symbols. */
void b2i_deflate_init(deflater *d);

/* Lengths of the codes that the format has ready. */
void b2i_deflate_fixed_lens(uint8_t *lit_lens, uint8_t *dist_lens);

/*
 * Sends the block of d->seqs in the cheapest way and begins the next one.  False when it does not
 * fit, or the stream is given up.
 */
bool b2i_deflate_end_block(deflater *d, bool is_last);

#endif
