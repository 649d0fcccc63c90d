/*
 * chunk_parse.h: a chunk as one reading of its header has it; private to csrc/chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CHUNK_PARSE_H
#define B2I_CHUNK_PARSE_H

#include "chunk.h"

/*
 * The tables of a chunk whose header says 'head'; whether its blocks decode is not known then, see
 * chunk_open.c.  The source has head->cbytes bytes.  On success *out must be closed.
 */
b2c_status b2i_chunk_parse(const b2i_source *source, const b2i_chunk_head *head, b2i_chunk *out,
                           b2c_error *err);

#endif
