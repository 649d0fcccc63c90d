/*
 * chunk_enc.h: what the encoder has decided for a chunk, shared by the files that make one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CHUNK_ENC_H
#define B2I_CHUNK_ENC_H

#include "chunk.h"
#include "tune.h"

typedef struct b2i_plan {
    const b2c_cparams *cparams;
    const b2i_site *site;
    b2i_span src;
    const b2i_codec *codec;
    b2i_pipeline pipeline;
    uint32_t blocksize;
    uint32_t nblocks;
    uint8_t typesize; /* as in the header */
    bool is_split;
    uint8_t clevels[255]; /* of each stream of a full block; as codecs know them */
    b2i_dict *dict;       /* or NULL */
    b2i_span ref;         /* delta: block 0 as the decoder will restore it */

    /*
     * Blocks of variable size and where they are in the decoded data, else NULL.  blocksize is then
     * that of the largest one, and of src only the length counts.
     */
    const b2i_span *vl;
    const uint32_t *vl_at;
    bool raw_later; /* b2i_block_encode() counts bytes of raw streams, but does not copy them */
} b2i_plan;

/* What follows from the parameters alone; they were checked. */
b2i_plan b2i_plan_init(const b2c_cparams *cparams, const b2i_site *site, b2i_span src);

/* Whether the codec and the filters take blocks of these sizes and shapes.  B2C_E_ARGUMENT. */
b2c_status b2i_plan_check_blocks(const b2i_plan *plan, b2c_error *err);

/* Header, table, dictionary and blocks in 'limit' bytes; *dst_len 0 when they do not fit. */
b2c_status b2i_plan_put_blocks(b2c_ctx *ctx, b2i_plan *plan, uint8_t *dst, size_t limit,
                               size_t *dst_len, b2c_error *err);

/* Makes a chunk in dst_cap bytes. */
typedef b2c_status b2i_encode_fn(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t dst_cap,
                                 size_t *dst_len, b2c_error *err);

/*
 * The same with as much room as any chunk of the plan needs, for plans of which the room might
 * decide what the chunk is; then the chunk is copied.
 */
b2c_status b2i_encode_apart(b2i_encode_fn *encode, b2c_ctx *ctx, b2i_plan *p, size_t bound,
                            uint8_t *dst, size_t dst_cap, size_t *dst_len, b2c_error *err);

/* The failure of a chunk that needs more than dst_cap bytes. */
b2c_status b2i_fail_room(size_t need, size_t dst_cap, b2c_error *err);

/* Source bytes of block i. */
b2i_span b2i_plan_block(const b2i_plan *plan, uint32_t i);
size_t b2i_plan_block_len(const b2i_plan *plan, uint32_t i);

/* What user code is told about it; clevel is that of the plan. */
b2c_block b2i_plan_about(const b2i_plan *plan, uint32_t i);

/* A stream by itself: encode() of the codec, which is told where it comes from. */
b2c_status b2i_plan_encode(b2i_worker *w, const b2i_plan *plan, const b2i_dict *dict, int clevel,
                           b2i_span src, uint8_t *dst, size_t room, size_t *len, b2c_error *err);

/* Streams of a block of n bytes. */
uint32_t b2i_plan_nstreams(const b2i_plan *plan, size_t n);

/* The level asked for, for the streams of a plan that splits or does not. */
int b2i_plan_clevel(const b2i_plan *plan);

/* The same where whole blocks have planes that are the same. */
int b2i_plan_clevel_far(const b2i_plan *plan);

/* Whether shuffled blocks of the source are likely to. */
bool b2i_plan_has_twins(const b2i_plan *plan);

/*
 * Decides 'is_split' where 'split' leaves it open, or planes are the same, and lowers 'clevels'
 * where the data does not gain from the level; all by trying on a sample.  B2C_E_MEMORY.
 */
b2c_status b2i_plan_try(b2c_ctx *ctx, b2i_plan *plan, b2i_split split, b2c_error *err);

/*
 * Source of block i after the filters, or a copy of it for codecs that read it again; w->a and
 * w->b are its scratch.  B2C_E_MEMORY, B2C_E_CALLBACK.
 */
b2c_status b2i_block_filter(b2i_worker *w, const b2i_plan *plan, uint32_t i, const uint8_t **out,
                            b2c_error *err);

/* Block i, of variable size n, in at most cap >= n + 4 bytes; as b2i_block_encode(). */
b2c_status b2i_vlblock_encode(b2i_worker *w, const b2i_plan *plan, uint32_t i, uint8_t *dst,
                              size_t cap, size_t *len, b2c_error *err);

/* Whether n >= 1 bytes are all the same: such streams are stored as that byte. */
bool b2i_is_run(const uint8_t *p, size_t n);

/*
 * Block i as streams in at most cap bytes.  *len is their size, 0 when they do
 * not fit; *all_zero tells whether every stream is a run of zeros.  B2C_E_MEMORY,
 * B2C_E_CALLBACK.
 */
b2c_status b2i_block_encode(b2i_worker *w, const b2i_plan *plan, uint32_t i, uint8_t *dst,
                            size_t cap, size_t *len, bool *all_zero, b2c_error *err);

#endif
