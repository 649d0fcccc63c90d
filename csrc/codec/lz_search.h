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
 * There are two gears.  The high one hashes eight bytes and strides: it finds fewer but longer
 * matches, which suits most planes and makes a stream of fewer sequences, so that it is also
 * decoded faster.  The low one finds the short matches that other data consist of.  Which of them
 * pays is measured on the way: of every few segments the first ones are coded in both gears in
 * turn, the others in the one that was better.  Each gear keeps a table of its own.
 *
 * Some data have searches by themselves: lz_brief.h, or what the codec has as own_low, takes the
 * place of the low gear, and lz_sparse.h that of both, where it pays.
 */
#ifndef B2I_LZ_SEARCH_H
#define B2I_LZ_SEARCH_H

#include "lz.h"

enum {
    SEARCH_END = 12,   /* no match starts in the last bytes */
    PAIR_LEN = 5,      /* shortest match of search_pairs() */
    MIN_SEGMENT = 256, /* of short streams: all trials and more shall fit */
    MAX_SEGMENT = 4096,
    HASH_LOG = 12,  /* of search_segment() */
    KNOWN_LOG = 14, /* of a dictionary: 2^12 would forget most of 32 kB */
    FAR_LOG = 13,   /* of search_pairs(), by eight bytes */
    NEAR_LOG = 14,  /* by five */
    NTRIALS = 4,    /* segments searched high, low, low, high */
    CLEARLY = 10,   /* hundredths saved that make the first two of them enough */
    NSEGMENTS = 16  /* until the next trial */
};

typedef struct gear {
    uint8_t skip_log; /* 4 or more: the step grows by one every 2^skip_log misses */
    uint8_t step;     /* after a match; of search_pairs(), 0: capped_more() */
} gear;

enum {
    PAIRS = 0,    /* low_len: the low gear is search_pairs() */
    NO_HIGH = 255 /* patience: there is but the low gear */
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

/* Distance from a position to what a slot held, 0 when that is too far; the slot gets it. */
static inline size_t swap_slot(uint32_t *slot, uint32_t at)
{
    uint32_t distance = at - *slot;
    *slot = at;
    return distance <= LZ_MAX_DISTANCE ? distance : 0;
}

/*
 * By how much steps grow after n bytes without a match: not beyond LZ_MAX_MORE, or hardly anything
 * enters the tables, until it is clear that there is nothing.  By how much less depends on the
 * word: steps of one length would pass by all rows that repeat at a distance that is no multiple of
 * it.
 */
static inline size_t capped_more(size_t n, uint64_t word, unsigned skip_log)
{
    enum { CLEAR = 2 * 65536, LESS_LOG = 4 };
    const size_t more = LZ_MAX_MORE - b2i_lz_hash(word, 8, LESS_LOG);
    return more + (n > CLEAR ? (n - CLEAR) >> skip_log : 0);
}

/*
 * The tables of search_pairs() get the first and the last positions of a match of len bytes at p.
 */
static inline void learn_match(const search *c, const uint8_t *p, size_t len)
{
    b2i_lz_table *t = c->t;
    const size_t far[] = { 1, 2, len - 3, len - 2 }, near[] = { 1, len - 2, len - 1 };
    const uint32_t at = position(&c->positions, p);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        t->far[learn_slot(p + far[i], 8, FAR_LOG)] = at + (uint32_t)far[i];
    }
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        t->near[learn_slot(p + near[i], PAIR_LEN, NEAR_LOG)] = at + (uint32_t)near[i];
    }
}

/*
 * search_segment() with more effort: two tables, for long matches and for short ones, and after a
 * short one a look for a longer one at the next position.
 */
static B2I_LZ_APART bool search_pairs(search *state, const gear *g, const uint8_t *end)
{
    search c = *state;
    const unsigned skip_log = g->skip_log, unused = 64 - 8 * PAIR_LEN;
    const uint8_t *p = c.p, *match_end = c.src_end - LZ_LAST_LITERALS;
    const bool spreads = LZ_AVOIDS_NEAR && is_near(c.distance);
    habits lately = { 0, 0, 0, 0 };
    while (p < end) {
        const uint64_t word = b2i_ld64le(p);
        const uint32_t at = position(&c.positions, p);
        size_t len, distance = 1;
        if (b2i_lz_is_run(p)) {
            len = 4 + b2i_lz_equal(p + 4, p + 3, match_end);
        } else {
            size_t far = swap_slot(&c.t->far[b2i_lz_hash(word, 8, FAR_LOG)], at);
            size_t near = swap_slot(&c.t->near[b2i_lz_hash(word, PAIR_LEN, NEAR_LOG)], at);
            distance = far;
            if (far != 0 && b2i_ld64le(p - far) == word) {
                len = 8 + b2i_lz_equal(p + 8, p + 8 - far, match_end);
            } else if (near != 0 && (b2i_ld64le(p - near) ^ word) << unused == 0) {
                distance = near;
                len = PAIR_LEN + b2i_lz_equal(p + PAIR_LEN, p + PAIR_LEN - near, match_end);
                const uint64_t next = b2i_ld64le(p + 1);
                far = swap_slot(&c.t->far[b2i_lz_hash(next, 8, FAR_LOG)], at + 1);
                if (far != 0 && p + 1 < end && b2i_ld64le(p + 1 - far) == next) {
                    size_t longer = 8 + b2i_lz_equal(p + 9, p + 9 - far, match_end);
                    if (longer > len) {
                        distance = far;
                        len = longer;
                        p++;
                    }
                }
            } else {
                size_t more = (size_t)(p - c.anchor) >> skip_log;
                if (LZ_MAX_MORE > 0 && more > LZ_MAX_MORE && g->step == 0) {
                    more = capped_more((size_t)(p - c.anchor), word, skip_log);
                }
                p += 1 + more;
                continue;
            }
        }
        if (LZ_PREFERS_RUNS && distance > 1 && run_does(p, len, match_end)) {
            p += 2;
            continue;
        }
        const size_t back = equal_before(&c, p, distance);
        c.distance = distance;
        lately.nmatches++;
        lately.nruns += distance == 1;
        distance = spreads ? distance_to_take(c.src, p - back, len + back, distance) : distance;
        if (!lz_put(&c.sink, c.anchor, p - back, len + back, distance)) {
            return false;
        }
        p += len;
        c.anchor = p;
        if (p < end) {
            learn_match(&c, p - len - back, len + back);
        }
    }
    c.is_sparse = LZ_HAS_SPARSE && seems_sparse(&lately, (size_t)(p - state->p));
    c.p = p;
    *state = c;
    return true;
}

/*
 * In planes of bytes of which the low gear saves little, longer steps find nearly all of it; but
 * for levels that step slowly.
 */
static inline gear low_gear(const search *c, const level *lv)
{
    enum { SLOW_LOG = 5 };
    gear low = lv->low;
    low.step += c->made == B2I_MADE_BYTES && c->saves_little && low.skip_log < SLOW_LOG;
    return low;
}

/* One copy of the loop for each length, apart, so that each has the registers to itself. */
static B2I_LZ_APART bool search_high(search *c, const level *lv, const uint8_t *end)
{
    return search_segment(c, &lv->high, 8, false, end);
}

static B2I_LZ_APART bool search_low_6(search *c, const level *lv, const uint8_t *end)
{
    const gear low = low_gear(c, lv);
    return search_segment(c, &low, 6, false, end);
}

static B2I_LZ_APART bool search_low_5(search *c, const level *lv, const uint8_t *end)
{
    const gear low = low_gear(c, lv);
    return search_segment(c, &low, 5, false, end);
}

/* The same where words are known; near ones are those of the low gears that there are then. */
enum { KNOWN_NEAR_LEN = 5 };

static B2I_LZ_APART bool search_high_known(search *c, const level *lv, const uint8_t *end)
{
    return search_segment(c, &lv->high, 8, true, end);
}

static B2I_LZ_APART bool search_low_known(search *c, const level *lv, const uint8_t *end)
{
    const gear low = low_gear(c, lv);
    return search_segment(c, &low, KNOWN_NEAR_LEN, true, end);
}

static B2I_LZ_APART bool search_brief(search *c, const level *lv, const uint8_t *end)
{
    return search_briefly(c, lv->brief[c->src_end - c->src > B2I_LZ_WINDOW], false, end);
}

static B2I_LZ_APART bool search_brief_near(search *c, const level *lv, const uint8_t *end)
{
    return search_briefly(c, lv->brief[c->src_end - c->src > B2I_LZ_WINDOW], true, end);
}

/* Where matches are many and short. */
static bool search_shortly(search *c, const level *lv, const uint8_t *end)
{
    if (c->period != 0) {
        return search_items(c, end);
    }
    return (LZ_AVOIDS_NEAR && is_near(c->distance) ? search_brief_near : search_brief)(c, lv, end);
}

/*
 * How many bytes a gear was given and made of it: less than none where a match of its own reaches
 * back over literals that were counted before.
 */
typedef struct tally {
    int64_t in, out;
} tally;

/* Where a search ends at the latest. */
static inline const uint8_t *search_end(const search *c)
{
    return c->src_end - SEARCH_END;
}

/* A table gets one of 'step' places of the last 'most' bytes. */
static void learn_last(search *c, uint32_t *table, unsigned min_len, size_t most, size_t step)
{
    const size_t before = (size_t)(c->p - c->src) - 1; /* the first byte has none before it */
    const uint8_t *p = c->p - (before < most ? before : most);
    for (; (size_t)(c->p - p) >= step; p += step) {
        table[learn_slot(p, min_len, HASH_LOG)] = position(&c->positions, p);
    }
}

/*
 * The low gear begins: its table gets some of what the high one has seen.  With an empty table it
 * would lose the trial where something repeats only now and then.
 */
static void learn_before(search *c, const level *lv)
{
    learn_last(c, c->t->near, lv->low_len, 1024, 8);
}

/*
 * The table of the high gear gets some of what a search by a period has passed by: where rows of
 * items repeat, a trial in which all that it has seen is the last trial would find nothing.
 */
static void learn_rows(search *c)
{
    learn_last(c, c->t->far, 8, 16384, 32);
}

typedef enum gear_kind { HIGH, LOW, SPARSE, NKINDS } gear_kind;

/* Codes the next segment in a gear and adds to its tally. */
static bool shift_and_search(search *c, const level *lv, gear_kind kind, tally *t)
{
    const bool low = kind == LOW;
    const uint8_t *p = c->p, *anchor = c->anchor;
    const size_t before = lz_cost(&c->sink);
    const size_t left = (size_t)(search_end(c) - p);
    const uint8_t *end = p + (left < c->segment ? left : c->segment);
    if (LZ_HAS_SPARSE && kind == SPARSE && c->src_end - end < SPARSE_LOOK_AT) {
        end = c->src_end - SPARSE_LOOK_AT;
    }
    bool fits = LZ_HAS_SPARSE && kind == SPARSE ? search_sparse(c, end)
                : LZ_HAS_DICTS && c->known != NULL
                    ? (low ? search_low_known : search_high_known)(c, lv, end)
                : !low                                            ? search_high(c, lv, end)
                : c->own_low != NULL                              ? c->own_low(c, lv, end)
                : LZ_HAS_BRIEF && c->is_brief && lv->brief[0] > 0 ? search_shortly(c, lv, end)
                : lv->low_len == PAIRS                            ? search_pairs(c, &lv->low, end)
                : lv->low_len == 5                                ? search_low_5(c, lv, end)
                                                                  : search_low_6(c, lv, end);
    /* literals that are pending will be put out one for one, unless a match reaches back to them */
    t->in += c->p - p;
    t->out += (int64_t)(lz_cost(&c->sink) - before) + (c->p - c->anchor) - (p - anchor);
    c->saves_little = low ? t->out * 2 > t->in : c->saves_little;
    return fits;
}

/*
 * Whether the low gear saves so many hundredths.  Where nearly nothing is left to save, which gear
 * was better is chance.
 */
static bool low_saves(const tally *high, const tally *low, int percent)
{
    enum { LEAST = 512 }; /* part of the input */
    const int64_t h = high->out * low->in, l = low->out * high->in;
    return l * 100 < h * (100 - percent) && l + high->in * low->in / LEAST < h;
}

/* Whether half of the cost that is hoped for is reached, and all will cost far more. */
static bool is_hopeless(const search *c)
{
    enum { TENTHS = 22 };
    if (c->easy_ratio == 0) {
        return false;
    }
    const uint64_t cost = lz_cost(&c->sink) - c->begin, in = (uint64_t)(c->anchor - c->src);
    const size_t hoped = (size_t)(c->src_end - c->src) / c->easy_ratio;
    return cost > hoped / 2 && cost * c->easy_ratio * 10 > in * TENTHS;
}

static inline bool saves_enough(const search *c)
{
    return (size_t)(c->anchor - c->src) >= lz_cost(&c->sink) - c->begin + c->enough;
}

/*
 * The length of segment k.  Where matches may be brief, short trials are enough, as the high gear
 * loses much; and longer segments are faster.
 */
static inline size_t length_of(const search *c, const level *lv, unsigned k, size_t segment)
{
    if (c->is_brief) {
        return k >= 2 ? MAX_SEGMENT : segment / 4;
    }
    const bool tries = LZ_HAS_BRIEF && lv->patience != NO_HIGH && k < 2;
    return tries && segment == MAX_SEGMENT ? segment / 2 : segment;
}

/*
 * Whether segment k is for search_sparse(): where it seems to do well, at some of them, or has
 * saved a 16th of what the other gear made so far.
 */
static bool sparse_pays(search *c, unsigned k, const tally *sparse, const tally *other)
{
    enum { PART = 16 };
    if (!LZ_HAS_SPARSE || !c->is_sparse || c->known != NULL || c->made == B2I_MADE_BITS || k == 0 ||
        c->src_end - c->p <= SPARSE_LOOK_AT) {
        return false;
    }
    return sparse->in == 0 ? (k & (k - 1)) == 0 && elect_value(c)
                           : sparse->out * other->in * PART <= other->out * sparse->in * (PART - 1);
}

/*
 * Rows of bits often begin with those of noise.  Where no gear has saved anything so far, the trial
 * begins anew as soon as one does.  Until then it is the low one, for the high one passes by what
 * is short; in long streams, where that would take too long, one segment of three.
 */
static bool waits(const search *c, const tally *tallies)
{
    enum { LEAST = 512 }; /* part that is saved */
    const int64_t in = tallies[HIGH].in + tallies[LOW].in;
    return c->made == B2I_MADE_BITS && tallies[HIGH].out + tallies[LOW].out > in - in / LEAST;
}

static gear_kind waiting_gear(const search *c, unsigned k)
{
    return c->src_end - c->src > B2I_LZ_WINDOW && k % 3 > 0 ? HIGH : LOW;
}

/*
 * Whether to search low, after so many trials.  A search of its own that has its kind of data is
 * faster, and stays where it costs some hundredths: which gear was better in one pair of segments
 * is often chance.
 */
static bool prefers_low(const search *c, const level *lv, unsigned ntrials, const tally *tallies)
{
    enum { PAIR = 3, BOTH = 5 };
    const tally *high = &tallies[HIGH], *low = &tallies[LOW];
    if (c->own_low != NULL && c->period > 0) {
        return !low_saves(low, high, ntrials < NTRIALS ? PAIR : BOTH);
    }
    return low_saves(high, low, ntrials < NTRIALS ? CLEARLY : lv->patience);
}

/* Up to 'end', or a little further, or until enough is saved.  False when that will not fit. */
static bool search_all(search *c, const level *lv, const uint8_t *end)
{
    const size_t segment = c->segment;
    tally tallies[NKINDS] = { { 0, 0 } };
    unsigned ntrials = NTRIALS;
    gear_kind kind = HIGH;
    bool has_low = lv->low_len == PAIRS;
    for (unsigned k = 0; c->p < end && !saves_enough(c);) {
        c->segment = length_of(c, lv, k, segment);
        if (sparse_pays(c, k, &tallies[SPARSE], &tallies[kind])) { /* until it pays no more */
            if (!shift_and_search(c, lv, SPARSE, &tallies[SPARSE])) {
                return false;
            }
            continue;
        }
        if (k == 0) {
            memset(tallies, 0, sizeof tallies);
            ntrials = NTRIALS;
        } else if (k == 2 && prefers_low(c, lv, k, tallies)) {
            ntrials = k;
        }
        if (lv->patience == NO_HIGH) {
            kind = LOW;
        } else if (k < ntrials) {
            kind = k == 1 || k == 2 ? LOW : HIGH;
        } else if (k == ntrials) {
            kind = prefers_low(c, lv, ntrials, tallies) ? LOW : HIGH;
        }
        const bool waited = lv->patience != NO_HIGH && k >= ntrials && waits(c, tallies);
        kind = waited ? waiting_gear(c, k) : kind;
        if (kind == LOW && !has_low) {
            learn_before(c, lv);
            has_low = true;
        }
        if (k == 0 && c->period != 0) {
            learn_rows(c);
        }
        if (!shift_and_search(c, lv, kind, &tallies[kind]) || is_hopeless(c)) {
            return false;
        }
        if (c->gives_up != NULL && c->gives_up(c)) {
            c->gave_up = true;
            return false;
        }
        k = waited && !waits(c, tallies) ? 0 : (k + 1) % NSEGMENTS;
    }
    return true;
}

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
