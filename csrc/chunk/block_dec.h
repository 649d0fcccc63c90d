/*
 * block_dec.h: one block of a chunk; private to csrc/chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_BLOCK_DEC_H
#define B2I_BLOCK_DEC_H

#include "chunk.h"

/* What user code is told about unit i. */
b2c_block b2i_chunk_about(const b2i_chunk *chunk, uint32_t i);

/*
 * Decodes block i (n bytes) of a chunk that has blocks into dst.  'ref' is the
 * restored block 0 for the delta filter, NULL for block 0 itself; 'streaming' that dst is part
 * of a result that is better written past the caches.
 */
b2c_status b2i_block_decode(b2i_worker *w, const b2i_chunk *chunk, uint32_t i, size_t n,
                            b2i_span ref, bool streaming, uint8_t *dst, b2c_error *err);

/* The same but for undoing the shuffle; for chunks of which b2i_chunk_has_planes() is true. */
b2c_status b2i_block_decode_planes(b2i_worker *w, const b2i_chunk *chunk, uint32_t i, size_t n,
                                   uint8_t *dst, b2c_error *err);

#endif
