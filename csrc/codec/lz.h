/*
 * lz.h: what our own encoders share: the hash table, comparing, hashing.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Words are read little endian, so that every machine finds the same matches.
 */
#ifndef B2I_LZ_H
#define B2I_LZ_H

#include "codec_impl.h"

enum { B2I_LZ_MAX_HASH_LOG = 14 };

/*
 * Positions of words by their hash.  Nothing is cleared between streams: the table holds
 * positions above a base that moves on by the length of each stream, so that what older streams
 * left lies below it and counts as empty.
 */
typedef struct b2i_lz_table {
    uint32_t base;                           /* never 0 */
    uint32_t near[1 << B2I_LZ_MAX_HASH_LOG]; /* by few bytes: close, short matches */
    uint32_t far[1 << B2I_LZ_MAX_HASH_LOG];  /* by eight bytes */
} b2i_lz_table;

/* The table of a worker, ready for a stream of n bytes, or NULL when there is no memory. */
static inline b2i_lz_table *b2i_lz_begin(b2i_codec_state *state, size_t n)
{
    b2i_lz_table *t = state->lz;
    if (t == NULL) {
        t = b2i_calloc(sizeof *t);
        if (t == NULL) {
            return NULL;
        }
        t->base = 1;
        state->lz = t;
    }
    if (n > UINT32_MAX - t->base) {
        memset(t->near, 0, sizeof t->near);
        memset(t->far, 0, sizeof t->far);
        t->base = 1;
    }
    return t;
}

/* The stream that began last, of n bytes, is done. */
static inline void b2i_lz_end(b2i_lz_table *t, size_t n)
{
    t->base += (uint32_t)n;
}

/* The hash of the first nbytes (4…8) of a word. */
static inline size_t b2i_lz_hash(uint64_t word, unsigned nbytes, unsigned hash_log)
{
    return (size_t)(((word << (64 - 8 * nbytes)) * 0x9E3779B185EBCA87U) >> (64 - hash_log));
}

static inline unsigned b2i_lz_low_zero_bytes(uint64_t x)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(x) / 8;
#else
    unsigned n = 0;
    for (; (x & 255) == 0; x >>= 8) {
        n++;
    }
    return n;
#endif
}

/* What differs in the words at p and q. */
static inline uint64_t b2i_lz_difference(const uint8_t *p, const uint8_t *q)
{
    return b2i_ld64le(p) ^ b2i_ld64le(q);
}

enum { LONG = 128, STRETCH = 256 };
/* Number of equal bytes at p and q < p, up to 'end' for p. */
static inline size_t b2i_lz_equal(const uint8_t *p, const uint8_t *q, const uint8_t *end)
{
    const size_t max = (size_t)(end - p);
    size_t n = 0;
    for (; max - n >= 8; n += 8) {
        uint64_t x = b2i_lz_difference(p + n, q + n);
        if (x != 0) {
            return n + b2i_lz_low_zero_bytes(x);
        }
        if (n == LONG) { /* the C library compares with whatever the machine has */
            while (max - n >= 8 + STRETCH && memcmp(p + n + 8, q + n + 8, STRETCH) == 0) {
                n += STRETCH;
            }
        }
    }
    while (n < max && p[n] == q[n]) {
        n++;
    }
    return n;
}

/* Whether four equal bytes start before p, which are then a match at distance 1. */
static inline bool b2i_lz_is_run(const uint8_t *p)
{
    return b2i_ld32le(p) == b2i_ld32le(p - 1);
}

#endif
