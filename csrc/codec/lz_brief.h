/*
 * lz_brief.h: the search of lz_search.h for many short matches: text, items that were not shuffled.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of that template.  Here a sequence takes as long as the processor needs to find out that
 * it guessed wrongly where the match would be, and how long; what can be shortened is the way from
 * a match to the next position of the table.  So this loop finds matches of four bytes, does not
 * look for runs, and has a table of its own, of positions in a window of 64 kB: it stays in the
 * first cache, and whatever it holds is near enough.
 */
#ifndef B2I_LZ_BRIEF_H
#define B2I_LZ_BRIEF_H

/*
 * Whether so many matches, and no runs, are in n bytes that this search would do well; what filters
 * made may only begin like that.  Streams of no more than MIN_BRIEF would be at their end before
 * the table, which is empty at first, has what is in that of the search so far.
 */
static inline bool is_brief(const search *c, const habits *h, size_t n)
{
    enum { MIN_BRIEF = 8192 };
    const size_t least = n / (c->made == B2I_MADE_ITEMS ? 24 : 16);
    return c->src_end - c->src > MIN_BRIEF && h->nmatches >= least && h->nruns == 0;
}

/* The window of a segment up to 'end': from 'base' on, which stays or moves on by its half. */
typedef struct window {
    const uint8_t *base;
    uint16_t *table;
} window;

static window window_for(search *c, const uint8_t *end)
{
    enum { HALF = B2I_LZ_WINDOW / 2 };
    uint16_t *table = c->t->brief;
    if (c->base == NULL) {
        memset(table, 0, sizeof c->t->brief);
        c->base = c->src;
    }
    for (; end - c->base >= B2I_LZ_WINDOW; c->base += HALF) {
        for (size_t i = 0; i < sizeof c->t->brief / sizeof *table; i++) {
            table[i] = (uint16_t)(table[i] < HALF ? 0 : table[i] - HALF);
        }
    }
    return (window){ c->base, table };
}

/* What may equal the word at p, which takes its place: something before p, never p itself. */
static inline const uint8_t *swap_word(const window *w, size_t slot, const uint8_t *p)
{
    const uint8_t *q = w->base + w->table[slot];
    w->table[slot] = (uint16_t)(p - w->base);
    return q;
}

/* Matches of five bytes, or of four that are found by chance. */
static inline size_t word_slot(uint64_t word)
{
    return b2i_lz_hash(word, 5, B2I_LZ_BRIEF_LOG);
}

/* Number of equal bytes at p and q, up to 'end' for p. */
static inline size_t equal_briefly(const uint8_t *p, const uint8_t *q, const uint8_t *end)
{
    enum { MANY = 32 };
    const size_t max = (size_t)(end - p);
    size_t n = 0;
    for (; n < MANY && max - n >= 8; n += 8) {
        const uint64_t x = b2i_lz_difference(p + n, q + n);
        if (x != 0) {
            return n + b2i_lz_low_zero_bytes(x);
        }
    }
    return b2i_lz_equal_more(p, q, n, max);
}

/*
 * The distance to take for a match of len bytes at p, which is noted; 'spreads' as in
 * search_segment().  What is elected has won more often than it has lost.
 */
static inline size_t note_match(search *c, habits *h, const uint8_t *p, size_t len,
                                const bool spreads)
{
    const size_t taken = spreads ? distance_to_take(c->src, p, len, c->distance) : c->distance;
    h->nmatches++;
    h->nruns += c->distance == 1;
    if (!spreads) {
        return taken;
    }
    if (taken == h->elected) {
        h->nvotes++;
    } else if (h->nvotes > 0) {
        h->nvotes--;
    } else {
        h->elected = taken;
    }
    return taken;
}

/* search_segment() with steps that begin with 'first' and grow slowly. */
B2I_LZ_TEMPLATE bool search_briefly(search *state, unsigned first, const bool spreads,
                                    const uint8_t *end)
{
    enum { STEP_LOG = 16, LONGER = 1 << 10 };
    search c = *state;
    const window w = window_for(&c, end);
    const uint8_t *p = c.p, *match_end = c.src_end - LZ_LAST_LITERALS;
    uint32_t step = c.step, next_step = c.next_step;
    habits lately = { 0, 0, 0, 0 };
    size_t taken, len;
    next_step = next_step > first << STEP_LOG ? next_step : first << STEP_LOG;
    while (p < end) {
        const uint8_t *q, *next = p;
        uint64_t word = b2i_ld64le(p);
        size_t slot = word_slot(word);
        for (;;) { /* the next word is on its way while this one is compared */
            const uint32_t four = (uint32_t)word;
            p = next;
            q = swap_word(&w, slot, p);
            next += step;
            step = next_step >> STEP_LOG;
            next_step += LONGER;
            if (next >= end) {
                p = next;
                goto done;
            }
            word = b2i_ld64le(next);
            slot = word_slot(word);
            if (b2i_ld32le(q) == four) {
                break;
            }
        }
        for (; p > c.anchor && q > c.src && p[-1] == q[-1]; p--, q--) {
        }
        len = 4 + equal_briefly(p + 4, q + 4, match_end);
        c.distance = (size_t)(p - q);
        taken = note_match(&c, &lately, p, len, spreads);
        if (!lz_put(&c.sink, c.anchor, p, len, taken)) {
            return false;
        }
        step = 1;
        next_step = first << STEP_LOG;
        for (;;) {
            p += len;
            c.anchor = p;
            if (p >= end) {
                goto done;
            }
            (void)swap_word(&w, word_slot(b2i_ld64le(p - 2)), p - 2);
            word = b2i_ld64le(p);
            q = swap_word(&w, word_slot(word), p);
            if (b2i_ld32le(q) != (uint32_t)word) {
                p++;
                break;
            }
            len = 4 + equal_briefly(p + 4, q + 4, match_end);
            c.distance = (size_t)(p - q);
            taken = note_match(&c, &lately, p, len, spreads);
            if (!lz_put_match(&c.sink, p, len, taken)) {
                return false;
            }
        }
    }
done:
    c.is_brief = is_brief(&c, &lately, (size_t)(p - state->p));
    c.period = lately.nvotes > lately.nmatches / 4 * 3 ? lately.elected : 0;
    c.p = p;
    c.step = step;
    c.next_step = next_step;
    *state = c;
    return true;
}

/* ---- items that were not shuffled ---- */

enum { NCOMPARED = 64 };

/* Which of so many bytes at p equal those at q, the first one in the lowest bit. */
static inline uint64_t equal_mask(const uint8_t *p, const uint8_t *q)
{
    uint64_t mask = 0;
#if defined(__SSE2__)
    for (unsigned i = 0; i < NCOMPARED / 16; i++) {
        const __m128i a = _mm_loadu_si128((const __m128i *)p + i);
        const __m128i b = _mm_loadu_si128((const __m128i *)q + i);
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << (16 * i);
    }
#else
    for (unsigned i = 0; i < NCOMPARED; i++) {
        mask |= (uint64_t)(p[i] == q[i]) << i;
    }
#endif
    return mask;
}

/* How many bits of a mask are set, from the lowest on. */
static inline unsigned low_ones(uint64_t mask)
{
    return ~mask != 0 ? b2i_lz_lowest_bit(~mask) : NCOMPARED;
}

/* The literals that are pending and a match; the table gets the latter. */
static inline bool put_item(search *c, const window *w, const uint8_t *p, size_t len,
                            size_t distance)
{
    (void)swap_word(w, word_slot(b2i_ld64le(p)), p);
    if (!lz_put(&c->sink, c->anchor, p, len, distance)) {
        return false;
    }
    c->anchor = p + len;
    return true;
}

/*
 * Matches with what is a period back, in the bytes at p that 'same' tells of: four or more.  False
 * when the output is full.
 */
static inline bool put_items(search *c, const window *w, const uint8_t *p, uint64_t same)
{
    uint64_t starts = same & same >> 1 & same >> 2 & same >> 3;
    while (starts != 0) {
        const unsigned first = b2i_lz_lowest_bit(starts);
        const unsigned len = low_ones(same >> first);
        if (first + len == NCOMPARED) { /* or longer */
            const uint8_t *behind = p + NCOMPARED;
            const size_t more =
                equal_briefly(behind, behind - c->period, c->src_end - LZ_LAST_LITERALS);
            return put_item(c, w, p + first, len + more, c->period);
        }
        if (!put_item(c, w, p + first, len, c->period)) {
            return false;
        }
        starts = starts >> (first + len) << (first + len);
    }
    return true;
}

/*
 * A match that the table has for one of the positions from *at up to 'stop': *at becomes its end,
 * or 'stop' where there is none.  That may be some bytes beyond the window, so that not all in it
 * is near enough.  False when the output is full.
 */
static inline bool put_other(search *c, const window *w, const uint8_t **at, const uint8_t *stop)
{
    const uint8_t *p = *at;
    for (; p < stop; p++) {
        const uint64_t word = b2i_ld64le(p);
        const uint8_t *q = swap_word(w, word_slot(word), p);
        if (b2i_ld32le(q) == (uint32_t)word && p - q <= LZ_MAX_DISTANCE) {
            const size_t found = (size_t)(p - q), back = equal_before(c, p, found);
            const size_t len =
                back + 4 + equal_briefly(p + 4, q + 4, c->src_end - LZ_LAST_LITERALS);
            p -= back;
            *at = p + len;
            return put_item(c, w, p, len, distance_to_take(c->src, p, len, found));
        }
    }
    *at = stop;
    return true;
}

/*
 * Where nearly all matches were with the items before: all of some bytes are compared with those a
 * period back at once, and only where nothing is found the table is asked.  That is four times as
 * fast: no match waits for the one before.
 */
static B2I_LZ_APART bool search_items(search *state, const uint8_t *end)
{
    enum { NASKED = 16 };
    search c = *state;
    const window w = window_for(&c, end);
    const uint8_t *p = c.p;
    unsigned nlooks = 0, nasked = 0;
    /* no match starts in the last bytes, and the word where one does is read as a whole */
    for (; p < end && c.src_end - p >= NCOMPARED + SEARCH_END; nlooks++) {
        if (!put_items(&c, &w, p, equal_mask(p, p - c.period))) {
            return false;
        }
        if (c.anchor > p) {
            p = c.anchor;
        } else if (put_other(&c, &w, &p, p + NASKED)) {
            nasked++;
        } else {
            return false;
        }
    }
    c.period = nasked > nlooks / 4 ? 0 : c.period;
    c.p = p < end ? end : p;
    *state = c;
    return true;
}

#endif
