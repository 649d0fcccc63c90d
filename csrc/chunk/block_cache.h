/*
 * block_cache.h: decoded blocks that a context keeps, so that the next small read of the same
 * block need not decode it again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_BLOCK_CACHE_H
#define B2I_BLOCK_CACHE_H

#include "alloc.h"

/*
 * Bytes that a context keeps at most; a single block may be larger.  Enough for the blocks of a row
 * or two, and no more than the second-level cache of a core, beyond which decoding is as fast.
 */
#define B2I_CACHE_NBYTES ((size_t)2 << 20)

/* A block of one state of one object: whoever changes the object changes 'state'. */
typedef struct b2i_block_key {
    uint64_t owner; /* b2i_unique_number() of the object; 0: no block */
    uint64_t state;
    uint64_t nchunk;
    uint64_t block;
    uint64_t nbytes, itemsize; /* as the caller describes the array */
} b2i_block_key;

typedef struct b2i_cached {
    b2i_block_key key;
    b2i_scratch bytes;
    size_t unit;    /* 1, or the size of items whose planes the bytes are still */
    uint64_t round; /* the last one that used it */
} b2i_cached;

enum { B2I_CACHE_SETS = 32, B2I_CACHE_WAYS = 4 };

/* All zero is the empty one.  It belongs to one thread. */
typedef struct b2i_block_cache {
    b2i_cached slots[B2I_CACHE_SETS][B2I_CACHE_WAYS];
    uint64_t round;
    size_t nbytes; /* of all slots */
    uint32_t hand; /* where the search for memory to free goes on */
} b2i_block_cache;

/* Begins a read: what it finds or reserves stays in place until the next one begins. */
static inline void b2i_cache_begin(b2i_block_cache *cache)
{
    cache->round++;
}

/* A decoded block, or NULL. */
const b2i_cached *b2i_cache_find(b2i_block_cache *cache, const b2i_block_key *key);

/*
 * Room of n bytes for a block that is not there.  Whoever has decoded it into slot->bytes sets
 * slot->key and slot->unit.  NULL when all the room is in use by this read, or there is no memory.
 */
b2i_cached *b2i_cache_reserve(b2i_block_cache *cache, const b2i_block_key *key, size_t n);

void b2i_cache_free(b2i_block_cache *cache);

#endif
