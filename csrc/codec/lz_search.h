/*
 * lz_search.h: the search for matches of our own encoders.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A template: the file that includes it has defined before
 *
 *   LZ_MAX_DISTANCE, LZ_LAST_LITERALS   what the format asks for
 *   lz_sink                             where sequences go; small, copied while searching
 *   lz_put()                            literals and a match into the sink
 *   lz_put_match()                      a match without literals into the sink
 *   lz_cost()                           about how many bytes the sink has become
 *   LZ_PREFERS_RUNS                     whether a run may be better than a match far away
 *   LZ_HAS_DICTS                        whether there are words that are known before
 *   LZ_HAS_BRIEF, LZ_HAS_SPARSE         whether lz_brief.h, lz_sparse.h are used
 *   LZ_SPARSE_DISTANCE                  how far back matches of the latter may be
 *   LZ_AVOIDS_NEAR                      whether near matches are avoided, see distance_to_take()
 *   LZ_MAX_MORE                         see capped_more(); 0: steps grow
 *
 * The search is greedy, with a hash table of positions, and the step between positions grows with
 * every miss.  Runs of a byte are tried before the table and do not enter it: it keeps the starts
 * of runs, and periodic planes line up.
 *
 * The input is searched in segments, each in one of two gears (lz_gears.h).  Some data have
 * searches by themselves: lz_pairs.h, lz_brief.h and lz_sparse.h.
 */
#ifndef B2I_LZ_SEARCH_H
#define B2I_LZ_SEARCH_H

#include "lz.h"

enum {
    SEARCH_END = 12,   /* no match starts in the last bytes */
    MIN_SEGMENT = 256, /* of short streams: all trials and more shall fit */
    MAX_SEGMENT = 4096,
    HASH_LOG = 12,  /* of search_segment() */
    KNOWN_LOG = 14, /* of a dictionary: 2^12 would forget most of 32 kB */
};

typedef struct gear {
    uint8_t skip_log; /* 4 or more: the step grows by one every 2^skip_log misses */
    uint8_t step;     /* after a match; of search_in_pairs(), 0: capped_more() */
} gear;

enum {
    PAIRS = 0,      /* low_len: the low gear is search_in_pairs(), */
    FINE_PAIRS = 1, /* which finds matches of four bytes as well where that pays */
    NO_HIGH = 255   /* patience: there is but the low gear */
};

typedef struct level {
    gear high, low;
    uint8_t low_len;  /* shortest match of the low gear: 5 or 6; that of the high one is 8 */
    uint8_t patience; /* hundredths that the low gear must save to be used */
    uint8_t brief[2]; /* first steps of search_briefly(): in short streams, and in others */
} level;

/* What the tables hold of a word is its address less an origin. */
typedef struct positions {
    uintptr_t origin;
    uint32_t lowest; /* of this input: what is below belongs to older ones */
} positions;

/* Offsets of the words of a dictionary by their hashes, the last ones; 0 where there is none. */
typedef struct known_words {
    uint16_t near[1 << KNOWN_LOG], far[1 << KNOWN_LOG];
} known_words;

/* The matches of a segment: all, and runs; and whether one distance is that of most of them. */
typedef struct habits {
    unsigned nmatches, nruns, nvotes;
    size_t elected;
} habits;

typedef struct search {
    b2i_lz_table *t;
    const known_words *known; /* of what src begins with, or NULL */
    const uint8_t *src, *src_end;
    const uint8_t *p, *anchor; /* where the search is, and the literals that are pending begin */
    lz_sink sink;
    size_t begin, enough; /* cost of nothing; bytes saved that end the search */
    uint32_t easy_ratio;  /* hoped for, or 0: none is; see is_hopeless() */
    size_t segment;
    positions positions;
    uint32_t next_step; /* the step behind the next one, see search_segment() */
    uint32_t step;   /* to the next position; a match is often followed by another, so 1 at first */
    size_t distance; /* of the last match that was found */
    const uint8_t *base;          /* of the window of lz_brief.h, NULL: there is none yet */
    b2i_made made;                /* what src is */
    bool seems_brief, is_brief;   /* its search would do well: in one segment, in two */
    size_t period;                /* how far back nearly all matches of it were lately, or 0 */
    bool is_sparse, sparse_began; /* the search of lz_sparse.h would do well; it has begun */
    bool saves_little;            /* the low gear, up to half */
    bool is_dense;                /* some segment was, see seems_dense() */
    /* takes the place of the low gear's search, or NULL */
    bool (*own_low)(struct search *c, const level *lv, const uint8_t *end);
    bool (*gives_up)(const struct search *c); /* whether the rest would be in vain, or NULL */
    bool gave_up;
} search;

/* Whether two literals and a run do as well as a match of len bytes at p that is far away. */
static inline bool run_does(const uint8_t *p, size_t len, const uint8_t *match_end)
{
    return b2i_lz_is_run(p + 2) && 6 + b2i_lz_equal(p + 6, p + 5, match_end) >= len;
}

/*
 * How many bytes before p, of the literals that are pending and no more, equal those 'distance'
 * further back.
 */
static inline size_t equal_before(const search *c, const uint8_t *p, size_t distance)
{
    const size_t pending = (size_t)(p - c->anchor), before = (size_t)(p - c->src) - distance;
    size_t n = 0;
    if (before >= 8) { /* few branches: how many bytes are equal cannot be predicted */
        const uint64_t x = b2i_lz_difference(p - 8, p - 8 - distance);
        if (x != 0) {
            n = b2i_lz_high_zero_bytes(x);
            return n < pending ? n : pending;
        }
        n = pending < 8 ? pending : 8;
    }
    while (n < pending && n < before && *(p - n - 1) == *(p - n - 1 - distance)) {
        n++;
    }
    return n;
}

/* Whether the n bytes at p, 4 to 16, equal those at q; there are eight. */
static inline bool are_equal(const uint8_t *p, const uint8_t *q, size_t n)
{
    return n <= 8 ? b2i_lz_difference(p, q) << (64 - 8 * n) == 0
                  : (b2i_lz_difference(p, q) | b2i_lz_difference(p + n - 8, q + n - 8)) == 0;
}

enum { NEAR = 32, MAX_NEAR_LEN = 16 };

/* Not a run: these are written without reading more than a byte. */
static inline bool is_near(size_t distance)
{
    return distance - 2 < NEAR - 2;
}

/*
 * How far back a match of len bytes at p is taken, which is the same at 'distance': of short ones
 * with what is near, from NEAR bytes back or more, if it is the same there.
 *
 * A copy of what the sequences just before have put waits until that has left the processor's
 * buffer of stores.  Where items repeat their high bytes, each match is with the item before, and
 * each copy waits for the last one: from some items back, they are decoded three times as fast.
 */
static inline size_t distance_to_take(const uint8_t *start, const uint8_t *p, size_t len,
                                      size_t distance)
{
    /* the least multiple of each that is NEAR or more */
    static const uint8_t multiples[NEAR] = { 0,  0,  32, 33, 32, 35, 36, 35, 32, 36, 40,
                                             33, 36, 39, 42, 45, 32, 34, 36, 38, 40, 42,
                                             44, 46, 48, 50, 52, 54, 56, 58, 60, 62 };
    if (!is_near(distance) || len > MAX_NEAR_LEN) {
        return distance;
    }
    const size_t farther = multiples[distance];
    const bool is_there = (size_t)(p - start) >= farther && are_equal(p, p - farther, len);
    return is_there ? farther : distance;
}

static inline uint32_t position(const positions *in, const uint8_t *p)
{
    return (uint32_t)((uintptr_t)p - in->origin);
}

/*
 * What may equal the word at p: in a run, the byte before; else, as p takes its place in the table,
 * where the hash was seen last: in this stream, in what is known, or the start of the input.  What
 * a slot holds cannot be predicted, so no branch depends on it, and the way is short, for where the
 * next search begins waits for it.
 */
static inline const uint8_t *probe(const positions *in, uint32_t *table, const uint16_t *known,
                                   const uint8_t *p, uint64_t word, const unsigned min_len)
{
    if ((uint32_t)word == b2i_ld32le(p - 1)) { /* b2i_lz_is_run(), of what is loaded: 5 % faster */
        return p - 1;
    }
    const size_t slot = b2i_lz_hash(word, min_len, HASH_LOG);
    const uint32_t last = table[slot];
    const uint32_t first =
        in->lowest + (known != NULL ? known[b2i_lz_hash(word, min_len, KNOWN_LOG)] : 0);
    table[slot] = position(in, p);
    return (const uint8_t *)(in->origin + (last < in->lowest ? first : last));
}

/* Whether what probe() found at q is a match for the word at p. */
static inline bool is_match(const uint8_t *p, uint64_t word, const uint8_t *q,
                            const unsigned min_len)
{
    return (word ^ b2i_ld64le(q)) << (64 - 8 * min_len) == 0 && p - q <= LZ_MAX_DISTANCE;
}

/*
 * The slot of a word that is learned without being looked up.  What is inside a run goes to the
 * last one, without a branch; the first is that of zeros.
 */
static inline size_t learn_slot(const uint8_t *p, const unsigned min_len, const unsigned hash_log)
{
    const size_t run = 0 - (size_t)b2i_lz_is_run(p);
    return (b2i_lz_hash(b2i_ld64le(p), min_len, hash_log) | run) & (((size_t)1 << hash_log) - 1);
}

#include "lz_brief.h"
#include "lz_sparse.h"

/*
 * Searches up to 'end', or a little further.  False when the output is full.  A match is at
 * least min_len long, which is a constant wherever this is inlined, and so is whether words are
 * known.
 */
B2I_LZ_TEMPLATE bool search_segment(search *state, const gear *g, const unsigned min_len,
                                    const bool knows, const uint8_t *end)
{
    enum { STEP_LOG = 16 }; /* steps are counted in parts of 2^-16 */
    search c = *state;
    const positions in = c.positions;
    uint32_t *table = min_len == 8 ? c.t->far : c.t->near;
    const uint16_t *known = !knows ? NULL : min_len == 8 ? c.known->far : c.known->near;
    /* a step of 2^16 would be one of 0: inputs of 2 GiB reach a quarter of it */
    const uint32_t longer = (uint32_t)1 << (STEP_LOG - g->skip_log);
    const uint32_t first_step = (uint32_t)g->step << STEP_LOG;
    const uint8_t *p = c.p, *match_end = c.src_end - LZ_LAST_LITERALS;
    uint32_t next_step = c.next_step > first_step ? c.next_step : first_step, step = c.step;
    const bool spreads =
        LZ_AVOIDS_NEAR && min_len < 8 && is_near(c.distance); /* as it was lately */
    habits lately = { 0, 0, 0, 0 };
    const uint8_t *q;
    size_t len;

    for (;;) {
        /* A loop by itself, with few variables, so that they stay in registers. */
        for (;; p += step, step = next_step >> STEP_LOG, next_step += longer) {
            if (p >= end) {
                goto done;
            }
            const uint64_t word = b2i_ld64le(p);
            q = probe(&in, table, known, p, word, min_len);
            if (is_match(p, word, q, min_len)) {
                break;
            }
        }
        len = min_len + b2i_lz_equal(p + min_len, q + min_len, match_end);
        if (LZ_PREFERS_RUNS && q < p - 1 && run_does(p, len, match_end)) {
            p += 2;
            continue;
        }
        c.distance = (size_t)(p - q);
        lately.nmatches++;
        lately.nruns += c.distance == 1;
        const size_t back = equal_before(&c, p, c.distance);
        const size_t distance =
            spreads ? distance_to_take(c.src, p - back, len + back, c.distance) : c.distance;
        if (!lz_put(&c.sink, c.anchor, p - back, len + back, distance)) {
            return false;
        }
        step = 1;
        next_step = first_step;
        /* Often one match follows another: by itself, too, as there are no literals to put. */
        for (;;) {
            p += len;
            c.anchor = p;
            if (p >= end) {
                goto done;
            }
            table[learn_slot(p - 2, min_len, HASH_LOG)] = position(&in, p - 2);
            const uint64_t word = b2i_ld64le(p);
            q = probe(&in, table, known, p, word, min_len);
            if (!is_match(p, word, q, min_len)) {
                p++;
                step = g->step;
                next_step += longer;
                break;
            }
            len = min_len + b2i_lz_equal(p + min_len, q + min_len, match_end);
            if (LZ_PREFERS_RUNS && q < p - 1 && run_does(p, len, match_end)) {
                p += 2;
                break;
            }
            c.distance = (size_t)(p - q);
            lately.nmatches++;
            lately.nruns += c.distance == 1;
            if (!lz_put_match(&c.sink, p, len,
                              spreads ? distance_to_take(c.src, p, len, c.distance) : c.distance)) {
                return false;
            }
        }
    }
done:
    if (LZ_HAS_BRIEF && !knows && min_len < 8) {
        const bool was_brief = c.seems_brief;
        c.seems_brief = is_brief(&c, &lately, (size_t)(p - state->p));
        c.is_brief = (was_brief || c.made == B2I_MADE_ITEMS) && c.seems_brief;
    }
    c.is_sparse = LZ_HAS_SPARSE && seems_sparse(&lately, (size_t)(p - state->p));
    c.p = p;
    c.next_step = next_step;
    c.step = step;
    *state = c;
    return true;
}

#include "lz_pairs.h"
#include "lz_gears.h"

static inline size_t segment_len(size_t n)
{
    const size_t part = n / NSEGMENTS;
    return part < MIN_SEGMENT ? MIN_SEGMENT : part > MAX_SEGMENT ? MAX_SEGMENT : part;
}

/* A search that is to begin. */
static inline search search_begin(b2i_lz_table *t, const uint8_t *src, size_t n, lz_sink sink)
{
    search s = { .t = t,
                 .src = src,
                 .src_end = src + n,
                 .p = src + 1,
                 .anchor = src,
                 .sink = sink,
                 .begin = lz_cost(&sink),
                 .enough = n,
                 .segment = segment_len(n),
                 .positions = { (uintptr_t)src - t->base, t->base },
                 .step = 1 };
    return s;
}

/* The first bytes, nknown > 0, whose words are known, are not to be coded. */
static inline void search_behind(search *s, size_t nknown, const known_words *known)
{
    s->p = s->anchor = s->src + nknown;
    s->segment = segment_len((size_t)(s->src_end - s->anchor));
    s->known = known;
}

#endif
