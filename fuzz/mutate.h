/*
 * mutate.h: mutations that know the formats: what is changed is put back with lengths, offsets and
 * checksums that fit, so that the change is what is tested, and not the check of a length.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MUTATE_H
#define MUTATE_H

#include "bytes.h"

enum { MUT_MAX_LEN = 1 << 16 }; /* larger inputs are left to the engine */

/* For the engines: another input out of one of n bytes, in room for cap; returns its size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t cap, unsigned seed);

/* A growing copy of a part of the input. */
typedef struct mut_buf {
    size_t n;
    uint8_t p[MUT_MAX_LEN];
} mut_buf;

void mut_put(mut_buf *b, const void *p, size_t n); /* what does not fit is left out */

/* A number below n (0 when n is 0), and whether something of one in n happens. */
uint32_t mut_random(uint32_t n);
bool mut_chance(uint32_t n);
/* A value of which there is something to be feared, of up to so many bits. */
uint64_t mut_number(unsigned bits);
/* What the engine makes of n bytes in room for cap; returns their new number. */
size_t mut_bytes(uint8_t *p, size_t n, size_t cap);

/* Whether a chunk seems to begin here; its size, or 0. */
size_t mut_chunk_len(b2i_span s);
/* Another chunk out of one, with sizes and block starts that fit. */
void mut_chunk(b2i_span chunk, mut_buf *out);
/* A chunk that holds bytes as they are. */
void mut_plain_chunk(uint8_t typesize, b2i_span data, mut_buf *out);

/* The same for a frame of the length its header says; false when it is not understood. */
bool mut_frame(b2i_span frame, mut_buf *out);
size_t mut_frame_len(b2i_span s);

/* Changes the commit record behind an unpacked frame in place; false when there is none. */
bool mut_record(uint8_t *p, size_t n);

/*
 * A section of metalayers, at 'at' of s, whose places count from 'base' bytes before s: another one
 * appended to out, where they count from 'to_base' bytes before out.  is_vl: contents are chunks.
 */
typedef struct mut_section {
    size_t at;
    size_t base, to_base;
    bool is_vl, change;
} mut_section;
bool mut_metas(b2i_span s, const mut_section *how, mut_buf *out);

/* Changes a b2nd metalayer in place; its size, or 0 when there is none here. */
size_t mut_nd(uint8_t *p, size_t n);

#endif
