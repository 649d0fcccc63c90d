/*
 * stored.h: what reading chunks whole, in parts and for nothing have in common; private to
 * csrc/schunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_STORED_H
#define B2I_STORED_H

#include "schunk.h"

/* The chunk of 32 bytes that an entry without payload stands for. */
b2c_status b2i_stored_special(const b2c_schunk *s, uint64_t nchunk, uint8_t out[B2C_HEADER_LEN],
                              b2c_error *err);

/* Bytes that a chunk with payload may have: it does not reach into the next one. */
b2c_status b2i_stored_len(const b2c_schunk *s, uint64_t nchunk, b2i_entry entry, uint64_t *len,
                          b2c_error *err);

/* The n bytes of a chunk, compared with the stored checksum when there is one. */
b2c_status b2i_stored_read(b2i_store *store, b2i_entry entry, size_t n, b2i_scratch *scratch,
                           b2i_span *out, b2c_error *err);
b2c_status b2i_stored_fail_checksum(const b2i_verdict *v, b2c_error *err);

/* That a header is the one of a chunk of the size that the super-chunk expects. */
b2c_status b2i_stored_check_size(const b2c_schunk *s, uint64_t nchunk, const b2i_chunk_head *head,
                                 b2c_error *err);

/*
 * Opens a chunk all bytes of which were read, after its header.  Unless they are our own, somebody
 * may have changed both meanwhile.
 */
b2c_status b2i_stored_open_bytes(const b2c_schunk *s, const b2i_source *source,
                                 const b2c_limits *limits, const b2i_chunk_head *head,
                                 b2i_chunk *out, b2c_error *err);

/*
 * The checksums of the parts of an open chunk whose bytes are sound, where reads compare them.
 * head: as it is told; opening the chunk may have found another to be right.
 */
b2c_status b2i_stored_chunk_check_parts(b2i_stored_chunk *c, const b2i_chunk_head *head,
                                        b2i_span bytes, b2c_error *err);

#endif
