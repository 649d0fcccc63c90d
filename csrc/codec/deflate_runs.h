/*
 * deflate_runs.h: the quick search where most matches have one distance: runs with values between
 * them, as in planes of sparse data, and items that were not shuffled.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of deflate_enc.c.  There a match takes as long as the processor needs to find out that it
 * guessed wrongly where the next one begins, and how long it is.  So 64 bytes are compared at once,
 * and where they differ is a matter of bits, not of branches.  For items lz_brief.h does so.
 */
#ifndef B2I_DEFLATE_RUNS_H
#define B2I_DEFLATE_RUNS_H

/*
 * How many bytes at p and q are equal, where their first 64 are as 'mask' tells, from 'first' on.
 */
static inline size_t equal_from(const search *c, const uint8_t *p, const uint8_t *q, uint64_t mask,
                                size_t first)
{
    const size_t n = first + low_ones(mask >> first);
    return n < NCOMPARED ? n : b2i_lz_equal_more(p, q, NCOMPARED, (size_t)(c->src_end - p));
}

/*
 * Runs of four bytes or more, and what the table has of six or more that ends behind the next run.
 * Which of them is taken cannot be predicted, so no branch depends on it.  What is near a run is
 * not looked up: it saves little.  False when the output is full.
 */
static B2I_LZ_APART bool search_runs(search *state, const uint8_t *end)
{
    enum { LEAST = 6, NEAR_RUN = 5, SKIP_LOG = 4, NO_RUN = 1 << 30 };
    search c = *state;
    const positions in = c.positions;
    const uint8_t *p = c.p;
    while (p < end && c.src_end - p > NCOMPARED) {
        const uint64_t runs = equal_mask(p, p - 1);
        const uint64_t starts = runs & runs >> 1 & runs >> 2 & runs >> 3;
        const size_t first = starts != 0 ? b2i_lz_lowest_bit(starts) : NO_RUN;
        const size_t run_end = starts != 0 ? equal_from(&c, p, p - 1, runs, first) : 0;
        uint32_t *slot = &c.t->near[b2i_lz_hash(b2i_ld64le(p), LEAST, HASH_LOG)];
        const uint32_t last = *slot;
        const uint8_t *q = (const uint8_t *)(in.origin + (last < in.lowest ? in.lowest : last));
        *slot = position(&in, p);
        const bool reaches = p - q <= LZ_MAX_DISTANCE;
        const size_t same = reaches ? equal_from(&c, p, q, equal_mask(p, q), 0) : 0;
        const size_t step = 1 + ((size_t)(p - c.anchor) >> SKIP_LOG);
        const bool has_run = (first <= NEAR_RUN) | (first < step);
        const bool is_far = (same >= LEAST) & (!has_run | (same > run_end));
        if (!is_far & !has_run) {
            p += step;
            continue;
        }
        const size_t distance = is_far ? (size_t)(p - q) : 1;
        const uint8_t *from = p + (is_far ? 0 : first);
        const uint8_t *stop = p + (is_far ? same : run_end);
        if (from == p && p > c.anchor) {
            from -= equal_before(&c, p, distance);
        }
        if (!lz_put(&c.sink, c.anchor, from, (size_t)(stop - from), distance)) {
            return false;
        }
        c.anchor = p = stop;
    }
    c.p = p;
    *state = c;
    return true;
}

/*
 * The distance that most of the last matches have, 1: runs, where one is seldom behind the other;
 * or 0.  Where there are very many or few matches, or few yet, the other searches do as well.
 */
static size_t elect_period(const search *c)
{
    enum { LATELY = 16, FEW = 8, MAX_ITEM = 64, RARE = 320, DENSE = 24 };
    const seq *last = c->sink.next, *s = last - LATELY;
    if (last - c->sink.d->seqs < LATELY) {
        return 0;
    }
    const unsigned period = c->period > 1 ? (unsigned)c->period : last[-1].distance + 1U;
    size_t span = 0, nmatches = 0, nruns = 0, nitems = 0;
    for (; s < last; s++) {
        span += s->nlit + s->len;
        nmatches += s->len < MAX_MATCH; /* else it is a part of one */
        nruns += s->len < MAX_MATCH && s->distance == 0 && s->nlit != 1;
        nitems += s->distance + 1U == period;
    }
    if (nmatches < FEW) {
        return 0;
    }
    if (period > 1 && period <= MAX_ITEM && 4 * nitems >= 3 * nmatches &&
        nmatches * DENSE >= span) {
        return period;
    }
    return 4 * nruns >= 3 * nmatches && nmatches * DENSE <= span &&
           nmatches * RARE >= span + (size_t)(c->p - c->anchor);
}

/* A segment in the low gear.  The end of the stream is left to the search of others. */
static bool search_low_or_period(search *c, const level *lv, const uint8_t *end)
{
    c->period = elect_period(c);
    const bool fits = c->period == 0 || (c->period == 1 ? search_runs : search_items)(c, end);
    return fits && (c->p >= end || search_low_6(c, lv, end));
}

#endif
