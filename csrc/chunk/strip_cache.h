/*
 * strip_cache.h: thin boxes of items that a context keeps, such as some neighbouring columns, so
 * that the next of them need not decode all the blocks that they run through.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_STRIP_CACHE_H
#define B2I_STRIP_CACHE_H

#include "alloc.h"
#include "blosc2c.h"

/* Bytes that a context keeps at most, but for strips that are larger alone: */
#define B2I_STRIPS_NBYTES ((size_t)4 << 20)

/* bytes of these that all contexts of the process keep together at most. */
#define B2I_WIDE_NBYTES ((size_t)32 << 20)

/*
 * A box but for where it lies along one dimension, of one state of one object as an array; 0 where
 * there is no dimension.
 */
typedef struct b2i_strip_key {
    uint64_t owner; /* b2i_unique_number() of the object; 0: no strip */
    uint64_t state; /* whoever changes the object changes it */
    uint64_t itemsize;
    uint64_t shape[B2C_MAX_DIM], chunks[B2C_MAX_DIM], blocks[B2C_MAX_DIM];
    uint64_t dim; /* that dimension, along which the box is 0 */
    uint64_t start[B2C_MAX_DIM], count[B2C_MAX_DIM], step[B2C_MAX_DIM];
} b2i_strip_key;

/* What was read last with a key: items first, …, first + n - 1 along its dimension. */
typedef struct b2i_strip {
    b2i_strip_key key;
    uint64_t first, n;
    bool is_filled; /* the items are in 'bytes', as a C-ordered array; else they were only wanted */
    uint32_t nfar;  /* reads of the same blocks, but far from the items before */
    b2i_scratch bytes;
    uint64_t round; /* the last one that used it */
} b2i_strip;

enum { B2I_NSTRIPS = 4 };

/* All zero is the empty one.  It belongs to one thread. */
typedef struct b2i_strip_cache {
    b2i_strip strips[B2I_NSTRIPS];
    uint64_t round;
} b2i_strip_cache;

/* The strip of a key; for a new one that which was not used for longest, without items (n is 0). */
b2i_strip *b2i_strip_of(b2i_strip_cache *cache, const b2i_strip_key *key);

/*
 * Room for the items of a strip, no more than B2I_WIDE_NBYTES, which others may lose for it unless
 * it is a wide one; NULL when there is none.
 */
uint8_t *b2i_strip_room(b2i_strip_cache *cache, b2i_strip *strip, size_t nbytes);

/* Its items are no longer there; gives back what a wide one has. */
void b2i_strip_forget(b2i_strip *strip);

void b2i_strips_free(b2i_strip_cache *cache);

#endif
