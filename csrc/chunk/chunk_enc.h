/*
 * chunk_enc.h: what the encoder has decided for a chunk, shared by chunk_enc.c
 * and block_enc.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CHUNK_ENC_H
#define B2I_CHUNK_ENC_H

#include "chunk.h"

typedef struct b2i_plan {
    const b2c_cparams *cparams;
    b2i_span src;
    const b2i_codec *codec;
    b2i_pipeline pipeline;
    uint32_t blocksize;
    uint32_t nblocks;
    uint8_t typesize; /* as in the header */
    bool is_split;
    b2i_dict *dict; /* or NULL */
    b2i_span ref;   /* delta: block 0 as the decoder will restore it */
} b2i_plan;

/* Source bytes of block i. */
b2i_span b2i_plan_block(const b2i_plan *plan, uint32_t i);

/* Streams of a block of n bytes. */
uint32_t b2i_plan_nstreams(const b2i_plan *plan, size_t n);

/* Source of block i after the filters; w->a and w->b are its scratch.  B2C_E_MEMORY. */
b2c_status b2i_block_filter(b2i_worker *w, const b2i_plan *plan, uint32_t i, const uint8_t **out,
                            b2c_error *err);

/*
 * Block i as streams in at most cap bytes.  *len is their size, 0 when they do
 * not fit; *all_zero tells whether every stream is a run of zeros.  B2C_E_MEMORY.
 */
b2c_status b2i_block_encode(b2i_worker *w, const b2i_plan *plan, uint32_t i, uint8_t *dst,
                            size_t cap, size_t *len, bool *all_zero, b2c_error *err);

#endif
