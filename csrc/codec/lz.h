/*
 * lz.h: what our own encoders share: the hash table, comparing, hashing.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Words are read little endian, so that every machine finds the same matches.
 */
#ifndef B2I_LZ_H
#define B2I_LZ_H

#include "codec_impl.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { B2I_LZ_MAX_HASH_LOG = 14, B2I_LZ_BRIEF_LOG = 13, B2I_LZ_WINDOW = 65536 };

/*
 * Of lz_sparse.h: a byte at a position and the run behind it, so many bytes; 0: there is none yet.
 */
typedef struct b2i_lz_run {
    uint32_t at, len;
} b2i_lz_run;

typedef struct b2i_lz_sparse {
    b2i_lz_run longest, behind[256]; /* lately, of all and of each byte */
    uint8_t value;                   /* of the runs */
} b2i_lz_sparse;

/*
 * Positions of words by their hash.  Nothing is cleared between streams: the table holds
 * positions above a base that moves on by the length of each stream and the largest window, so
 * that what older streams left is too far away to be used.
 */
typedef struct b2i_lz_table {
    uint32_t base;                           /* never below B2I_LZ_WINDOW */
    uint32_t near[1 << B2I_LZ_MAX_HASH_LOG]; /* by few bytes: close, short matches */
    uint32_t far[1 << B2I_LZ_MAX_HASH_LOG];  /* by eight bytes */
    uint16_t brief[1 << B2I_LZ_BRIEF_LOG];   /* of lz_brief.h, by itself */
    b2i_lz_sparse sparse;                    /* of lz_sparse.h */
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
        t->base = B2I_LZ_WINDOW;
        state->lz = t;
    }
    if (n > UINT32_MAX - t->base || UINT32_MAX - t->base - n < B2I_LZ_WINDOW) {
        memset(t->near, 0, sizeof t->near);
        memset(t->far, 0, sizeof t->far);
        t->base = B2I_LZ_WINDOW;
    }
    return t;
}

/* The stream that began last, of n bytes, is done. */
static inline void b2i_lz_end(b2i_lz_table *t, size_t n)
{
    t->base += (uint32_t)n + B2I_LZ_WINDOW;
}

/* The hash of the first nbytes (3…8) of a word. */
static inline size_t b2i_lz_hash(uint64_t word, unsigned nbytes, unsigned hash_log)
{
    return (size_t)(((word << (64 - 8 * nbytes)) * 0x9E3779B185EBCA87U) >> (64 - hash_log));
}

/* The number of the lowest bit that is set of a word that is not 0. */
static inline unsigned b2i_lz_lowest_bit(uint64_t x)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(x);
#else
    unsigned n = 0;
    for (; (x & 1) == 0; x >>= 1) {
        n++;
    }
    return n;
#endif
}

/* Of a word that is not 0: how many bytes from its low end, or high end, are. */
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

static inline unsigned b2i_lz_high_zero_bytes(uint64_t x)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_clzll(x) / 8;
#else
    unsigned n = 0;
    for (; x >> 56 == 0; x <<= 8) {
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

/* How many of the first B2I_LZ_STRETCH bytes at p and q are equal. */
#if defined(__SSE2__) && defined(__GNUC__)
enum { B2I_LZ_STRETCH = 32 };

static inline unsigned b2i_lz_equal_stretch(const uint8_t *p, const uint8_t *q)
{
    const __m128i *a = (const __m128i *)p, *b = (const __m128i *)q;
    __m128i lo = _mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b));
    __m128i hi = _mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1));
    if (_mm_movemask_epi8(_mm_and_si128(lo, hi)) == 0xffff) {
        return B2I_LZ_STRETCH;
    }
    return (unsigned)__builtin_ctz(
        ~((unsigned)_mm_movemask_epi8(lo) | (unsigned)_mm_movemask_epi8(hi) << 16));
}
#else
enum { B2I_LZ_STRETCH = 8 };

static inline unsigned b2i_lz_equal_stretch(const uint8_t *p, const uint8_t *q)
{
    uint64_t x = b2i_lz_difference(p, q);
    return x != 0 ? b2i_lz_low_zero_bytes(x) : 8;
}
#endif

/* b2i_lz_equal() behind the first n bytes; not inline, as most matches end before. */
static B2I_LZ_APART size_t b2i_lz_equal_more(const uint8_t *p, const uint8_t *q, size_t n,
                                             size_t max)
{
    enum { LONG = 1024, STRIDE = 512 };
    size_t stop = max - n > LONG ? n + LONG : max;
    for (;;) {
        for (; stop - n >= B2I_LZ_STRETCH; n += B2I_LZ_STRETCH) {
            unsigned same = b2i_lz_equal_stretch(p + n, q + n);
            if (same < B2I_LZ_STRETCH) {
                return n + same;
            }
        }
        if (stop == max) {
            break;
        }
        while (max - n >= STRIDE && memcmp(p + n, q + n, STRIDE) == 0) {
            n += STRIDE; /* the C library compares with whatever the machine has */
        }
        stop = max;
    }
    while (n < max && p[n] == q[n]) {
        n++;
    }
    return n;
}

/*
 * Number of equal bytes at p and q < p, up to 'end' for p.  Two words first, as most matches end
 * there; behind them, where the end cannot be predicted, stretches: fewer tests.
 */
static inline size_t b2i_lz_equal(const uint8_t *p, const uint8_t *q, const uint8_t *end)
{
    const size_t max = (size_t)(end - p);
    if (max < 16) {
        return b2i_lz_equal_more(p, q, 0, max);
    }
    uint64_t x = b2i_lz_difference(p, q);
    if (x != 0) {
        return b2i_lz_low_zero_bytes(x);
    }
    x = b2i_lz_difference(p + 8, q + 8);
    return x != 0 ? 8 + b2i_lz_low_zero_bytes(x) : b2i_lz_equal_more(p, q, 16, max);
}

/* Whether four equal bytes start before p, which are then a match at distance 1. */
static inline bool b2i_lz_is_run(const uint8_t *p)
{
    return b2i_ld32le(p) == b2i_ld32le(p - 1);
}

#endif
