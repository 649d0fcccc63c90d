/*
 * deflate_enc.h: our encoder of deflate streams; private to csrc/codec.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_DEFLATE_ENC_H
#define B2I_DEFLATE_ENC_H

#include "codec_impl.h"

typedef enum b2i_deflate_search {
    B2I_SEARCH_QUICKLY,
    B2I_SEARCH_PAIRS,    /* harder */
    B2I_SEARCH_SHORT,    /* as quickly, for matches of four bytes */
    B2I_SEARCH_CHEAPEST, /* for what has many runs; after another search of the same stream */
    B2I_SEARCH_NOTHING
} b2i_deflate_search;

typedef struct b2i_deflate_effort {
    b2i_deflate_search search;
    uint8_t easy_ratio; /* give up what is not likely to shrink so much; 0: nothing */
    uint8_t worth;      /* 64ths to which blocks without matches must shrink, or they are stored */
    uint16_t depth;     /* of B2I_SEARCH_CHEAPEST: how many places a match is looked for in */
    uint8_t haste; /* parts of a block that it may be larger, so that its codes need not be made */
} b2i_deflate_effort;

/*
 * A raw deflate stream; otherwise the contract is that of b2i_codec.  Where 'misses' is not NULL,
 * streams that another search should have are given up, and it is told: of which this one misses
 * much, as it takes no short matches; with easy_ratio, those that shrink to little less than that
 * part.  Their first blocks have made codes, which B2I_SEARCH_CHEAPEST takes.
 */
b2c_status b2i_deflate_encode(b2i_codec_state *state, const b2i_deflate_effort *effort,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len, bool *misses);

#endif
