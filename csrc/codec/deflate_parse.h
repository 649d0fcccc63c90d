/*
 * deflate_parse.h: the sequences of a stream that take the fewest bits, for data that are runs
 * between which there are few values.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of deflate_enc.c.  Symbols have prices, at first what they took when the stream was coded
 * before, then what they would take in the part that was parsed last.  All ways through a part are
 * followed, but for two shortcuts: matches are looked for only where a value differs from the one
 * before, and tried with what equals before them; and runs are gone through in one step.
 */
#ifndef B2I_DEFLATE_PARSE_H
#define B2I_DEFLATE_PARSE_H

enum {
    PARSED = 32768, /* bytes of a part, and how far back matches are looked for */
    PARSE_LOG = 12,
    HASHED = 8,    /* bytes */
    MAX_BACK = 16, /* bytes before a match that are compared */
    SHORT = 4096,  /* bytes of a stream */
    LONG = 48,     /* bytes of a match that will do where only one is looked at */
    UNUSED_LIT = 13,
    UNUSED_LEN = 11,
    UNUSED_DIST = 9 /* bits that symbols are thought to take that were not used */
};

/* Where ways meet. */
typedef struct place {
    uint32_t cost;     /* of the cheapest way there, in bits; of a match taken: where it is */
    uint16_t len;      /* of its last step */
    uint16_t distance; /* less 1 */
} place;

struct b2i_deflate_parser {
    place places[PARSED + 1];
    uint32_t heads[1 << PARSE_LOG]; /* positions by the next bytes, plus 1 */
    uint16_t chain[PARSED];         /* distances to the last ones, or 0 */
    uint8_t lit[256], len[MAX_MATCH + 1], dist[NDISTS], run[MAX_MATCH + 1]; /* prices */
};

typedef struct b2i_deflate_parser parser;

static void set_prices(const deflater *d, parser *s)
{
    for (unsigned i = 0; i < 256; i++) {
        s->lit[i] = d->lit.lens[i] > 0 ? d->lit.lens[i] : UNUSED_LIT;
    }
    for (unsigned i = 0; i < NDISTS; i++) {
        const unsigned bits = d->dist.lens[i];
        s->dist[i] = (uint8_t)((bits > 0 ? bits : UNUSED_DIST) + dist_extras[i]);
    }
    for (unsigned i = MIN_MATCH; i <= MAX_MATCH; i++) {
        const unsigned sym = d->len_syms[i], bits = d->lit.lens[sym];
        s->len[i] = (uint8_t)((bits > 0 ? bits : UNUSED_LEN) + len_extras[sym - FIRST_LEN]);
        s->run[i] = (uint8_t)(s->dist[0] + s->len[i]);
    }
}

/* A step of len bytes from a place; false where another way leads to its end as cheaply. */
static inline bool relax(parser *s, size_t from, size_t len, size_t distance, uint32_t price)
{
    const uint32_t cost = s->places[from].cost + price;
    place *to = &s->places[from + len];
    if (cost >= to->cost) {
        return false;
    }
    *to = (place){ cost, (uint16_t)len, (uint16_t)(distance - 1) };
    return true;
}

/*
 * How many bytes at p and m are equal, as many as a match may be: or periods took quadratic time.
 */
static inline size_t match_len(const uint8_t *p, const uint8_t *m, const uint8_t *end)
{
    return b2i_lz_equal(p, m, end - p < MAX_MATCH ? end : p + MAX_MATCH);
}

/* How many bytes at p are a run with the one before. */
static inline size_t run_len(const uint8_t *p, const uint8_t *end)
{
    return p < end && p[0] == p[-1] ? match_len(p, p - 1, end) : 0;
}

/* To the end of a run, n bytes from a place: as literals where a match is longer. */
static inline void relax_run(parser *s, size_t from, const uint8_t *p, size_t n)
{
    if (n >= MIN_MATCH) {
        (void)relax(s, from, n, 1, s->run[n]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        (void)relax(s, from + i, 1, 1, s->lit[*p]);
    }
}

/* How many bytes before p and m are equal, of MAX_BACK, which there are. */
static inline size_t equal_back(const uint8_t *p, const uint8_t *m)
{
    uint64_t x = b2i_lz_difference(p - 8, m - 8);
    if (x != 0) {
        return b2i_lz_high_zero_bytes(x);
    }
    x = b2i_lz_difference(p - MAX_BACK, m - MAX_BACK);
    return x != 0 ? 8 + b2i_lz_high_zero_bytes(x) : MAX_BACK;
}

/* A part of a stream: from 'begin' to 'end', behind which there are eight bytes or more. */
typedef struct part {
    const uint8_t *src;
    size_t begin, end;
    unsigned depth; /* matches that are looked at for each position */
    size_t enough;  /* the length of a match inside of which nothing is looked for */
} part;

/* The last position with the bytes at 'at', which is learned: how far back, or 0. */
static inline size_t last_seen(parser *s, const part *t, size_t at)
{
    uint32_t *slot = &s->heads[b2i_lz_hash(b2i_ld64le(t->src + at), HASHED, PARSE_LOG)];
    size_t distance = *slot > 0 ? at + 1 - *slot : 0;
    distance = distance < PARSED ? distance : 0;
    *slot = (uint32_t)at + 1;
    s->chain[at % PARSED] = (uint16_t)distance;
    return distance;
}

/*
 * Matches for what is at 'at', with what is equal before it also.  The length of one inside of
 * which others are not worth looking for, or 0.
 */
static size_t try_matches(const deflater *d, parser *s, const part *t, size_t at)
{
    const uint8_t *p = t->src + at, *end = t->src + t->end;
    size_t distance = last_seen(s, t, at), longest = MIN_MATCH, step = distance;
    for (unsigned left = t->depth; step > 0 && distance < PARSED && left > 0 && longest < MAX_MATCH;
         left--) {
        const uint8_t *m = p - distance;
        const size_t same = p[longest] == m[longest] ? match_len(p, m, end) : 0;
        const uint32_t price = s->dist[dist_sym(d, (unsigned)distance - 1)];
        if (same > longest) {
            const bool has_back = at - t->begin >= MAX_BACK && at - distance >= MAX_BACK;
            longest = same;
            for (size_t back = has_back ? equal_back(p, m) : 0;; back = 0) {
                const size_t len = same + back < MAX_MATCH ? same + back : MAX_MATCH;
                const size_t from = at - t->begin - back, to = from + len;
                const uint8_t *behind = t->src + t->begin + to;
                if (relax(s, from, len, distance, price + s->len[len])) {
                    relax_run(s, to, behind, run_len(behind, end));
                }
                if (back == 0) {
                    break;
                }
            }
        }
        step = s->chain[(at - distance) % PARSED];
        distance += step;
    }
    return longest >= t->enough ? longest : 0;
}

/* Finds the cheapest way through a part. */
static void find_way(const deflater *d, parser *s, const part *t)
{
    const uint8_t *src = t->src;
    memset(s->places, 0xff, (t->end - t->begin + 1) * sizeof s->places[0]);
    s->places[0].cost = 0;
    for (size_t at = t->begin; at < t->end;) {
        const size_t from = at - t->begin, run = at > 0 ? run_len(src + at, src + t->end) : 0;
        (void)relax(s, from, 1, 1, s->lit[src[at]]);
        if (run == 0) {
            const bool runs = b2i_ld32le(src + at) == b2i_ld32le(src + at + 1); /* from here on */
            const size_t long_match = runs ? 0 : try_matches(d, s, t, at);
            const size_t next = at + (long_match > 0 ? long_match : 1);
            for (at++; at < next; at++) { /* inside of a long match nothing is looked for */
                (void)relax(s, at - t->begin, 1, 1, s->lit[src[at]]);
            }
            continue;
        }
        if (run > 1) {
            (void)relax(s, from + 1, 1, 1, s->lit[src[at]]);
        }
        for (size_t n = run > MAX_BACK + MIN_MATCH ? run - MAX_BACK : MIN_MATCH; n <= run; n++) {
            (void)relax(s, from, n, 1, s->run[n]); /* no match begins before */
        }
        at += run;
    }
}

/*
 * Counts the symbols of the way through n bytes at p, and puts its matches, which are fewer than
 * places, in order at the end of those.  Returns how many there are.
 */
static size_t take_way(deflater *d, parser *s, const uint8_t *p, size_t n)
{
    size_t first = n;
    memset(d->lit_freqs, 0, sizeof d->lit_freqs);
    memset(d->dist_freqs, 0, sizeof d->dist_freqs);
    d->lit_freqs[END_OF_BLOCK] = 1;
    for (size_t at = n; at > 0;) {
        const place last = s->places[at];
        at -= last.len;
        if (last.len == 1) {
            d->lit_freqs[p[at]]++;
        } else {
            d->lit_freqs[d->len_syms[last.len]]++;
            d->dist_freqs[dist_sym(d, last.distance)]++;
            s->places[first--] = (place){ (uint32_t)at, last.len, last.distance };
        }
    }
    return n - first;
}

/* Prices by what symbols are on the way. */
static void learn_prices(deflater *d, parser *s)
{
    b2i_huff_lengths(d->lit_freqs, NLITLENS, MAX_CODE, d->lit.lens);
    b2i_huff_lengths(d->dist_freqs, NDISTS, MAX_CODE, d->dist.lens);
    set_prices(d, s);
}

/* Matches from the part that begins at 'begin'. */
static bool put_matches(search *c, const uint8_t *begin, const place *matches, size_t n)
{
    for (const place *m = matches; m < matches + n; m++) {
        const uint8_t *p = begin + m->cost;
        if (!lz_put(&c->sink, c->anchor, p, m->len, (size_t)m->distance + 1)) {
            return false;
        }
        c->anchor = p + m->len;
    }
    return true;
}

/*
 * Whether a stream of n bytes, which was one block before, is short, and so few of its symbols were
 * matches that other ones would save nothing: its literals have to be told, and their codes.  Of
 * shorter ones the codes are so much that they may become smaller.
 */
static bool has_few_matches(const deflater *d, size_t n)
{
    enum { MIN_SHORT = 3072, FEW = 12 }; /* part of the literals */
    uint32_t nlit = 0, nmatches = 0;
    if (n <= MIN_SHORT || n > SHORT || d->block_len != n) {
        return false;
    }
    for (unsigned i = 0; i < END_OF_BLOCK; i++) {
        nlit += d->lit_freqs[i];
    }
    for (unsigned i = FIRST_LEN; i < NLITLENS; i++) {
        nmatches += d->lit_freqs[i];
    }
    return nmatches < nlit / FEW;
}

/*
 * Whether a quarter is seen, and all will take hardly less than what is easy, with many runs, which
 * do not begin with their first value: then the stream will be parsed, whatever the rest of a
 * quicker search finds.
 */
static bool is_for_parser(const search *c)
{
    enum { TENTHS = 14, LATELY = 256 };
    const uint64_t cost = lz_cost(&c->sink) - c->begin, in = (uint64_t)(c->anchor - c->src);
    const seq *last = c->sink.next;
    if (in < (uint64_t)(c->src_end - c->src) / 4 || cost * c->easy_ratio * 10 <= in * TENTHS ||
        last - c->sink.d->seqs < LATELY) {
        return false;
    }
    unsigned nruns = 0;
    for (const seq *s = last - LATELY; s < last; s++) {
        nruns += s->distance == 0 && s->nlit != 1;
    }
    return 5 * nruns >= 2 * LATELY;
}

/*
 * The whole stream, by the codes that it had before.  False when it does not fit, or is not likely
 * to become smaller.
 */
static bool search_cheapest(deflater *d, parser *s, search *c)
{
    const size_t n = (size_t)(c->src_end - c->src), end = n > HASHED ? n - HASHED : 0;
    const bool is_quick = d->effort->depth == 1 && n > SHORT; /* a few bytes are much of others */
    part t = { .src = c->src, .depth = d->effort->depth, .enough = is_quick ? LONG : MAX_MATCH };
    if (has_few_matches(d, n)) {
        return false;
    }
    if (!d->has_codes) {
        b2i_deflate_fixed_lens(d->lit.lens, d->dist.lens);
    }
    set_prices(d, s);
    memset(s->heads, 0, sizeof s->heads);
    for (; t.begin < end; t.begin = t.end) {
        t.end = end - t.begin < PARSED ? end : t.begin + PARSED;
        find_way(d, s, &t);
        const size_t len = t.end - t.begin;
        const size_t nmatches = take_way(d, s, t.src + t.begin, len);
        if (t.end < end) {
            learn_prices(d, s);
        }
        if (!put_matches(c, t.src + t.begin, s->places + len + 1 - nmatches, nmatches)) {
            return false;
        }
    }
    return true;
}

#endif
