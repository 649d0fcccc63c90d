/*
 * deflate_enc.c: our encoder of deflate streams (RFC 1951): quick, and for data that the
 * library's searches take too long over.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The search gives sequences: literals, then a match.  deflate_block.c sends blocks of them.  A
 * long row of literals is a block by itself, so that noise between regular data is stored and costs
 * its reader nothing.
 */
#include "deflate_block.h"

enum {
    MIN_LEN = 16, /* shorter inputs cannot gain */
    LZ_MAX_DISTANCE = 32768,
    LZ_LAST_LITERALS = 0,
    LZ_PREFERS_RUNS = 1,
    LZ_HAS_DICTS = 0,
    LZ_HAS_BRIEF = 0,
    LZ_HAS_SPARSE = 0,
    LZ_SPARSE_DISTANCE = 0,
    LZ_AVOIDS_NEAR = 0, /* near distances take fewer bits */
    LZ_MAX_MORE = 0,
    LONG_ROW = 4096, /* literals that are a block by themselves, */
    FLAT_ROW = 512   /* and those that are one if codes would save little */
};

/* ---- sequences ---- */

typedef struct lz_sink {
    deflater *d;
    seq *next;    /* of the block, in d->seqs */
    size_t nlits; /* in the block, before matches */
    size_t cost;
} lz_sink;

static inline size_t lz_cost(const lz_sink *s)
{
    return s->cost;
}

/* The literals that end a block. */
static B2I_LZ_APART bool end_with_literals(deflater *d, seq *last, size_t nlit, bool is_last)
{
    *last = (seq){ (uint32_t)nlit, 0, 0 };
    return b2i_deflate_end_block(d, is_last);
}

/*
 * How many of so many literals, FLAT_ROW or more, should be blocks by themselves: all, or none, or
 * all but the last ones, which may be where what follows begins.
 */
static B2I_LZ_APART size_t row_len(const uint8_t *lits, size_t n)
{
    enum { LITTLE = 32 }; /* part that codes would save */
    const size_t front = n - n / 8;
    return n >= LONG_ROW || b2i_is_flat(lits, n, LITTLE) ? n
           : b2i_is_flat(lits, front, LITTLE)            ? front
                                                         : 0;
}

/* Whether there may be room for a row.  Codes do not halve flat ones, as all but long ones are. */
static bool may_fit(const deflater *d, size_t nlit)
{
    return nlit >= LONG_ROW || (ptrdiff_t)(nlit / 2) <= d->op_end - d->out.op;
}

/*
 * How many of the first literals of a row are a block: all but the last quarter, where codes would
 * make that a good deal smaller, as with planes behind those that are noise.
 */
static size_t row_front(const deflater *d, size_t n)
{
    enum { LOOKED_AT = 2048, LITTLE = 16, MUCH = 6 }; /* parts that codes would save */
    const size_t tail = n / 4, last = tail < LOOKED_AT ? tail : LOOKED_AT;
    const size_t first = n - tail < LOOKED_AT ? n - tail : LOOKED_AT;
    const bool splits = d->effort->search != B2I_SEARCH_NOTHING && n >= LONG_ROW &&
                        !b2i_is_flat(d->block + (n - last), last, MUCH) &&
                        b2i_is_flat(d->block, first, LITTLE);
    return splits ? n - tail : n;
}

/* Many literals, in blocks of their own. */
static B2I_LZ_APART bool add_row(deflater *d, seq *next, size_t nlit)
{
    bool fits = may_fit(d, nlit) && (next == d->seqs || end_with_literals(d, next, 0, false));
    while (nlit > 0 && fits) {
        size_t n = row_front(d, nlit < MAX_LITERALS ? nlit : MAX_LITERALS);
        fits = end_with_literals(d, d->seqs, n, false);
        nlit -= n;
    }
    return fits;
}

static inline void begin_block(lz_sink *s)
{
    s->next = s->d->seqs;
    s->nlits = 0;
}

/* One part of a match, with the literals before it. */
static inline bool add_seq(lz_sink *s, size_t nlit, size_t len, size_t distance)
{
    if (s->next == s->d->seqs + MAX_SEQS - 1 || s->nlits > MAX_LITERALS) {
        if (!end_with_literals(s->d, s->next, 0, false)) {
            return false;
        }
        begin_block(s);
    }
    *s->next++ = (seq){ (uint32_t)nlit, (uint16_t)len, (uint16_t)(distance - 1) };
    s->nlits += nlit;
    return true;
}

static inline bool lz_put(lz_sink *s, const uint8_t *anchor, const uint8_t *p, size_t len,
                          size_t distance)
{
    enum { ABOUT = 3 }; /* bytes of a match */
    size_t nlit = (size_t)(p - anchor);
    s->cost += nlit + ABOUT;
    const size_t row = nlit >= FLAT_ROW ? row_len(anchor, nlit) : 0;
    if (row > 0) {
        if (!add_row(s->d, s->next, row)) {
            return false;
        }
        begin_block(s);
        nlit -= row;
    }
    while (len > MAX_MATCH) { /* what remains must not be shorter than a match may be */
        size_t n = len < MAX_MATCH + MIN_MATCH ? MAX_MATCH - MIN_MATCH : MAX_MATCH;
        if (!add_seq(s, nlit, n, distance)) {
            return false;
        }
        nlit = 0;
        len -= n;
    }
    return add_seq(s, nlit, len, distance);
}

static inline bool lz_put_match(lz_sink *s, const uint8_t *p, size_t len, size_t distance)
{
    return lz_put(s, p, p, len, distance);
}

#include "lz_search.h"

#include "deflate_parse.h"
#include "deflate_runs.h"

/* The encoder of a worker, or NULL when there is no memory. */
static deflater *kept_deflater(b2i_codec_state *state)
{
    if (state->deflate == NULL) {
        state->deflate = b2i_malloc(sizeof(deflater));
        if (state->deflate != NULL) {
            b2i_deflate_init(state->deflate);
        }
    }
    return state->deflate;
}

/* Searches as the effort says.  False when it does not fit. */
static bool search_by_effort(deflater *d, parser *cheapest, search *s)
{
    static const level levels[] = {
        [B2I_SEARCH_QUICKLY] = { { 4, 2 }, { 4, 1 }, 6, 3, { 0, 0 } },
        [B2I_SEARCH_PAIRS] = { { 4, 1 }, { 9, 1 }, PAIRS, 1, { 0, 0 } },
    };
    static const gear shortest = { 5, 1 };
    switch (d->effort->search) {
    case B2I_SEARCH_NOTHING:
        return true;
    case B2I_SEARCH_SHORT:
        return search_segment(s, &shortest, 4, false, search_end(s));
    case B2I_SEARCH_CHEAPEST:
        return search_cheapest(d, cheapest, s);
    default:
        s->own_low = d->effort->search == B2I_SEARCH_QUICKLY ? search_low_or_period : NULL;
        return search_all(s, &levels[d->effort->search], search_end(s));
    }
}

b2c_status b2i_deflate_encode(b2i_codec_state *state, const b2i_deflate_effort *effort,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len, bool *misses)
{
    *out_len = 0;
    if (n < MIN_LEN || n > UINT32_MAX / 2) {
        return B2C_OK;
    }
    b2i_lz_table *t = b2i_lz_begin(state, n);
    deflater *d = kept_deflater(state);
    if (effort->search == B2I_SEARCH_CHEAPEST && state->deflate_parser == NULL) {
        state->deflate_parser = b2i_malloc(sizeof(parser));
    }
    if (t == NULL || d == NULL ||
        (effort->search == B2I_SEARCH_CHEAPEST && state->deflate_parser == NULL)) {
        return B2C_E_MEMORY;
    }
    d->effort = effort;
    d->out = (bit_sink){ dst, 0, 0 };
    d->op_end = dst + cap;
    d->block = src;
    d->src_len = n;
    d->misses = effort->easy_ratio == 0 ? misses : NULL;
    d->nlit = d->missed = 0;
    search s = search_begin(t, src, n, (lz_sink){ d, d->seqs, 0, 0 });
    s.easy_ratio = effort->easy_ratio;
    s.gives_up = s.easy_ratio > 0 && misses != NULL ? is_for_parser : NULL;
    bool fits = search_by_effort(d, state->deflate_parser, &s);
    b2i_lz_end(t, n);
    if (s.gave_up) {
        *misses = s.sink.next == d->seqs || end_with_literals(d, s.sink.next, 0, false);
        return B2C_OK;
    }

    size_t rest = (size_t)(s.src_end - s.anchor);
    const size_t row = fits && rest >= FLAT_ROW ? row_len(s.anchor, rest) : 0;
    seq *last = s.sink.next;
    if (!fits || !may_fit(d, row)) {
        return B2C_OK;
    }
    if (row > 0 && last > d->seqs) {
        fits = end_with_literals(d, last, 0, false);
        last = d->seqs;
    }
    const size_t front = row > 0 && row == rest ? row_front(d, row) : row;
    if (fits && front > 0 && front < rest) {
        fits = add_row(d, last, front);
        rest -= front;
    }
    fits = fits && end_with_literals(d, last, rest, true);
    uint8_t *op = d->out.op;
    if (fits && op < d->op_end) {
        *op = (uint8_t)d->out.bits;
        *out_len = (size_t)(op + (d->out.nbits > 0) - dst);
    }
    return B2C_OK;
}
