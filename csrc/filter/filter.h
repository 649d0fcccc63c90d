/*
 * filter.h: the six filter slots, forward (compression) and backward.
 * Filters work on one block and keep its length.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_FILTER_H
#define B2I_FILTER_H

#include "bytes.h"
#include "status.h"

typedef struct b2i_pipeline {
    uint8_t filters[6];
    uint8_t metas[6];
    uint32_t typesize;      /* as in the chunk header, 1…255 */
    uint8_t chunk_version;  /* versions up to 2 have another bitshuffle rule for odd lengths */
    const b2c_block *block; /* what user-defined filters are told; NULL when there are none */
} b2i_pipeline;

/* Whether this library itself has the filter. */
bool b2i_filter_is_built_in(uint8_t filter);

/* As b2c_register_filter(). */
b2c_status b2i_filter_register(const b2c_filter_plugin *plugin, b2c_error *err);

/*
 * Checks IDs; for writing also the metas and type sizes that a filter needs.
 * B2C_E_UNKNOWN_FILTER, B2C_E_ARGUMENT.
 */
b2c_status b2i_pipeline_check(const b2i_pipeline *pl, bool writing, b2c_error *err);

/* Whether a filter can do nothing without the shape of the block. */
bool b2i_pipeline_needs_shape(const b2i_pipeline *pl);

/* Checks that a block of n bytes, which pl->block is about, suits filters that need its shape. */
b2c_status b2i_pipeline_check_block(const b2i_pipeline *pl, size_t n, bool writing, b2c_error *err);

/* Whether no filter does anything; backward: whether there is nothing to undo. */
bool b2i_pipeline_is_empty(const b2i_pipeline *pl, bool backward);
bool b2i_pipeline_has(const b2i_pipeline *pl, uint8_t filter);

/* Whether any filter is one that users have registered. */
bool b2i_pipeline_has_user(const b2i_pipeline *pl);

/* Whether what is restored may be something else: who knows what users' filters do. */
bool b2i_pipeline_is_lossy(const b2i_pipeline *pl);

/* Whether a filter of this library's leaves no items: bytes or bits of several, or differences. */
bool b2i_pipeline_breaks_items(const b2i_pipeline *pl);

/* Whether all that is to be undone is one shuffle of 'unit' > 1 bytes. */
bool b2i_pipeline_is_shuffle(const b2i_pipeline *pl, size_t unit);

/* Whether it is one of bytedelta, and then one shuffle, both of 'unit' > 1 planes. */
bool b2i_pipeline_is_bytedelta(const b2i_pipeline *pl, size_t unit);

/*
 * Applies slots 0…5 to n bytes.  The result is src itself when no filter is
 * active, else a or b (each of n bytes or more, 64-byte aligned, not src):
 * *out tells which.  src is never written.  'ref' is the delta reference, block 0 of
 * the chunk as the decoder will restore it, with ref_len bytes; NULL when this
 * is block 0.  Fails with B2C_E_CALLBACK only: the pipeline was checked.
 */
b2c_status b2i_pipeline_forward(const b2i_pipeline *pl, const uint8_t *src, size_t n,
                                const uint8_t *ref, size_t ref_len, uint8_t *a, uint8_t *b,
                                const uint8_t **out, b2c_error *err);

/*
 * Undoes slots 5…0 from src into dst (n bytes each).  src is used as scratch
 * and holds anything afterwards; tmp is n bytes of scratch; none overlap.  B2C_E_CALLBACK.
 */
b2c_status b2i_pipeline_backward(const b2i_pipeline *pl, uint8_t *src, size_t n, const uint8_t *ref,
                                 size_t ref_len, uint8_t *tmp, uint8_t *dst, b2c_error *err);

/*
 * The same with an immutable src, for streams read in place: at most one filter
 * is active backward (b2i_pipeline_single()), so no scratch is needed.
 */
bool b2i_pipeline_single(const b2i_pipeline *pl);
b2c_status b2i_pipeline_backward_single(const b2i_pipeline *pl, const uint8_t *src, size_t n,
                                        const uint8_t *ref, size_t ref_len, uint8_t *dst,
                                        b2c_error *err);

#endif
