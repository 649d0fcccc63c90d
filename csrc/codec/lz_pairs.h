/*
 * lz_pairs.h: the search of lz_search.h with more effort: two tables at once, for long matches and
 * for short ones.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of that template.
 */
#ifndef B2I_LZ_PAIRS_H
#define B2I_LZ_PAIRS_H

/*
 * Streams of so many bytes or less have search_short_pairs(): with short matches, which there is
 * time for, and with tables that need no more places.
 */
enum { MAX_SHORT_PAIRS = 4096 };

/* What a copy of the search is made for. */
typedef struct pairing {
    unsigned len;               /* shortest match */
    unsigned far_log, near_log; /* of the tables by eight bytes, and by so many */
} pairing;

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
static inline void learn_match(const search *c, const uint8_t *p, size_t len, const pairing of)
{
    b2i_lz_table *t = c->t;
    const size_t far[] = { 1, 2, len - 3, len - 2 }, near[] = { 1, len - 2, len - 1 };
    const uint32_t at = position(&c->positions, p);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        t->far[learn_slot(p + far[i], 8, of.far_log)] = at + (uint32_t)far[i];
    }
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        t->near[learn_slot(p + near[i], of.len, of.near_log)] = at + (uint32_t)near[i];
    }
}

/* Whether n bytes are hardly more than matches of four: longer ones are missed for those. */
static inline bool seems_dense(const habits *h, size_t n)
{
    enum { MEAN = 5 }; /* of a match and the literals before it */
    return (h->nmatches - h->nruns) * MEAN > n;
}

/*
 * search_segment() with more effort: two tables, for long matches and for short ones, and after a
 * short one a look for a longer one at the next position.
 */
B2I_LZ_TEMPLATE bool search_pairs(search *state, const gear *g, const pairing of,
                                  const uint8_t *end)
{
    search c = *state;
    const unsigned skip_log = g->skip_log, unused = 64 - 8 * of.len;
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
            size_t far = swap_slot(&c.t->far[b2i_lz_hash(word, 8, of.far_log)], at);
            size_t near = swap_slot(&c.t->near[b2i_lz_hash(word, of.len, of.near_log)], at);
            distance = far;
            if (far != 0 && b2i_ld64le(p - far) == word) {
                len = 8 + b2i_lz_equal(p + 8, p + 8 - far, match_end);
            } else if (near != 0 && (b2i_ld64le(p - near) ^ word) << unused == 0) {
                distance = near;
                len = of.len + b2i_lz_equal(p + of.len, p + of.len - near, match_end);
                const uint64_t next = b2i_ld64le(p + 1);
                far = swap_slot(&c.t->far[b2i_lz_hash(next, 8, of.far_log)], at + 1);
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
            learn_match(&c, p - len - back, len + back, of);
        }
    }
    c.is_sparse = LZ_HAS_SPARSE && seems_sparse(&lately, (size_t)(p - state->p));
    if (of.len == 4) { /* a constant: the others need not know */
        c.is_dense = seems_dense(&lately, (size_t)(p - state->p));
    }
    c.p = p;
    *state = c;
    return true;
}

static B2I_LZ_APART bool search_pairs_5(search *c, const gear *g, const uint8_t *end)
{
    return search_pairs(c, g, (pairing){ 5, 13, 14 }, end);
}

static B2I_LZ_APART bool search_pairs_4(search *c, const gear *g, const uint8_t *end)
{
    return search_pairs(c, g, (pairing){ 4, 13, 14 }, end);
}

/* With tables that leave the other data in the nearest cache. */
static B2I_LZ_APART bool search_short_pairs(search *c, const gear *g, const uint8_t *end)
{
    return search_pairs(c, g, (pairing){ 4, 11, 11 }, end);
}

/*
 * Matches of four bytes make categories, prices and pixels up to a sixth smaller where filters have
 * made bytes or bits of them; in items, longer matches are missed for those, and so they are in
 * dense streams, of which short ones would be at their end before a search for others knows them.
 * In long streams five do nearly as well, in three quarters of the time where half is noise.
 */
static bool search_in_pairs(search *c, const level *lv, const uint8_t *end)
{
    enum { MOST = 32768 };
    const size_t n = (size_t)(c->src_end - c->src);
    const bool is_short = n <= MAX_SHORT_PAIRS;
    const bool is_fine = lv->low_len == FINE_PAIRS && c->made != B2I_MADE_ITEMS && n <= MOST &&
                         (is_short || !c->is_dense);
    return (!is_fine   ? search_pairs_5
            : is_short ? search_short_pairs
                       : search_pairs_4)(c, &lv->low, end);
}

#endif
