/*
 * deflate_enc.c: our encoder of deflate streams (RFC 1951): quick, and for data that the
 * library's searches take too long over.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The search gives sequences: literals, then a match.  Blocks of them are sent with the code that
 * makes them smallest: the fixed one, one of their own, or as they are.  A long row of literals is
 * a block by itself, so that noise between regular data is stored and costs its reader nothing.
 */
#include "deflate_enc.h"

#include "huffman.h"

enum {
    MIN_LEN = 16, /* shorter inputs cannot gain */
    MIN_MATCH = 3,
    MAX_MATCH = 258,
    LZ_MAX_DISTANCE = 32768,
    LZ_LAST_LITERALS = 0,
    LZ_PREFERS_RUNS = 1,
    LZ_HAS_DICTS = 0,
    LZ_HAS_BRIEF = 0,
    LZ_AVOIDS_NEAR = 0, /* near distances take fewer bits */
    LZ_MAX_MORE = 0,
    END_OF_BLOCK = 256,
    FIRST_LEN = 257,
    NLENS = 29,
    NLITLENS = FIRST_LEN + NLENS,
    NDISTS = 30,
    NPRECODES = 19,
    MAX_CODE = 14, /* bits: four literals and what was left fill a word */
    MAX_PRECODE = 7,
    MAX_SEQS = 8192, /* of a block */
    MAX_LITERALS = 65536,
    NEAR_DISTS = 256, /* whose symbols are in a table by themselves */
    FAR_LOG2 = 7,     /* those beyond have the same symbol as 2^7 - 1 others, at least */
    LONG_ROW = 4096,  /* literals that are a block by themselves; */
    FLAT_ROW = 512,   /* those that are stored then */
    MAX_STORED = 65535,
    MARGIN = 8 /* bytes that are written beyond the bits there are */
};

/* Literals, then a match; the last sequence of a block has none, its len is 0. */
typedef struct seq {
    uint32_t nlit;
    uint16_t len;
    uint16_t distance; /* less 1 */
} seq;

/* A code as it is sent, by symbol. */
typedef struct code {
    uint8_t lens[B2I_HUFF_MAX_SYMS];
    uint32_t words[B2I_HUFF_MAX_SYMS]; /* as b2i_huff_words() makes them */
} code;

/* Where bits go; small, copied while many are put. */
typedef struct bit_sink {
    uint8_t *op;
    uint64_t bits; /* that do not fill a byte yet */
    unsigned nbits;
} bit_sink;

typedef struct deflater {
    const b2i_deflate_effort *effort;
    bit_sink out;
    const uint8_t *op_end;
    size_t src_len;
    bool *misses;         /* see b2i_deflate_encode() */
    size_t nlit, missed;  /* bytes in blocks of literals, and saved if they had short matches */
    const uint8_t *block; /* where the block begins in the input */
    size_t block_len;
    uint32_t lit_freqs[NLITLENS], dist_freqs[NDISTS];
    code lit, dist;
    bool has_codes; /* lit and dist are those of the last block */
    uint16_t len_syms[MAX_MATCH + 1];
    uint8_t dist_syms[2 * NEAR_DISTS]; /* of near distances, then of all by their high bits */
    seq seqs[MAX_SEQS];
} deflater;

/* ---- symbols ---- */

/* Number of bits that follow the symbol of a length, from FIRST_LEN on, or distance. */
static const uint8_t len_extras[NLENS] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
static const uint8_t dist_extras[NDISTS] = { 0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                             6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13 };

/* The symbols of all lengths and distances, which have consecutive values. */
static void fill_syms(deflater *d)
{
    for (unsigned i = 0, len = MIN_MATCH; i < NLENS - 1; i++) {
        for (unsigned n = 1U << len_extras[i]; n > 0; n--) {
            d->len_syms[len++] = (uint16_t)(FIRST_LEN + i);
        }
    }
    d->len_syms[MAX_MATCH] = FIRST_LEN + NLENS - 1;
    for (unsigned i = 0, at = 0; i < NDISTS; i++) {
        const unsigned end = at + (1U << dist_extras[i]);
        for (; at < end && at < NEAR_DISTS; at++) {
            d->dist_syms[at] = (uint8_t)i;
        }
        for (; at < end; at += 1U << FAR_LOG2) {
            d->dist_syms[NEAR_DISTS + (at >> FAR_LOG2)] = (uint8_t)i;
        }
    }
}

/* The distance is less 1, as in sequences. */
static inline unsigned dist_sym(const deflater *d, unsigned distance)
{
    return d->dist_syms[distance < NEAR_DISTS ? distance : NEAR_DISTS + (distance >> FAR_LOG2)];
}

/* ---- bits ---- */

B2I_LZ_TEMPLATE void put_bits(bit_sink *to, uint64_t bits, unsigned n)
{
    to->bits |= bits << to->nbits;
    to->nbits += n;
}

/* A code; nothing for 0. */
B2I_LZ_TEMPLATE void put_word(bit_sink *to, uint32_t word)
{
    put_bits(to, word & 0xffff, word >> B2I_HUFF_LEN_AT);
}

/* A code, and the low k bits of what is to follow it. */
B2I_LZ_TEMPLATE void put_sym(bit_sink *to, uint32_t word, uint32_t extra, unsigned k)
{
    const unsigned n = word >> B2I_HUFF_LEN_AT;
    put_bits(to, (word & 0xffff) | (uint64_t)(extra & ((1U << k) - 1)) << n, n + k);
}

/* Whole bytes to the output; there is room for MARGIN. */
B2I_LZ_TEMPLATE void flush_bits(bit_sink *to)
{
    b2i_st64le(to->op, to->bits);
    to->op += to->nbits >> 3;
    to->bits >>= to->nbits & ~7U;
    to->nbits &= 7;
}

/* Whether so many bits, a few more and the margin fit. */
static bool has_room(const deflater *d, uint64_t nbits)
{
    return nbits / 8 + 2 + MARGIN <= (uint64_t)(d->op_end - d->out.op);
}

/* ---- the kinds of blocks ---- */

/* Bits that the symbols of a block take. */
static uint64_t cost_of(const deflater *d, const uint8_t *lit_lens, const uint8_t *dist_lens)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < NLITLENS; i++) {
        n += (uint64_t)d->lit_freqs[i] * lit_lens[i];
    }
    for (unsigned i = 0; i < NLENS; i++) {
        n += (uint64_t)d->lit_freqs[FIRST_LEN + i] * len_extras[i];
    }
    for (unsigned i = 0; i < NDISTS; i++) {
        n += (uint64_t)d->dist_freqs[i] * (dist_lens[i] + dist_extras[i]);
    }
    return n;
}

/* Lengths of the codes that the format has ready. */
static void fixed_lens(uint8_t *lit_lens, uint8_t *dist_lens)
{
    memset(lit_lens, 8, 144);
    memset(lit_lens + 144, 9, 112);
    memset(lit_lens + 256, 7, 24);
    memset(lit_lens + 280, 8, 8);
    memset(dist_lens, 5, NDISTS);
}

/* The lengths of both codes as symbols of a third one, with what follows each. */
typedef struct head {
    unsigned nlit, ndist, nsyms, npre;
    uint8_t syms[NLITLENS + NDISTS], extras[NLITLENS + NDISTS];
    code pre;
    uint64_t cost;
} head;

static const uint8_t precode_order[NPRECODES] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15 };

static unsigned count_lens(const uint8_t *lens, unsigned n, unsigned least)
{
    while (n > least && lens[n - 1] == 0) {
        n--;
    }
    return n;
}

static unsigned precode_extra(unsigned sym)
{
    return sym < 16 ? 0 : sym == 16 ? 2 : sym == 17 ? 3 : 7;
}

static void add_sym(head *h, uint32_t *freqs, unsigned sym, size_t extra)
{
    h->syms[h->nsyms] = (uint8_t)sym;
    h->extras[h->nsyms++] = (uint8_t)extra;
    freqs[sym]++;
    h->cost += precode_extra(sym);
}

static void make_head(head *h, const code *lit, const code *dist)
{
    uint8_t lens[NLITLENS + NDISTS];
    uint32_t freqs[NPRECODES] = { 0 };
    h->nlit = count_lens(lit->lens, NLITLENS, FIRST_LEN);
    h->ndist = count_lens(dist->lens, NDISTS, 1);
    h->nsyms = 0;
    h->cost = 14;
    memcpy(lens, lit->lens, h->nlit);
    memcpy(lens + h->nlit, dist->lens, h->ndist);
    const size_t n = h->nlit + h->ndist;
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && lens[i + run] == lens[i] && run < 138; run++) {
        }
        if (lens[i] == 0 && run >= 11) {
            add_sym(h, freqs, 18, run - 11);
        } else if (lens[i] == 0 && run >= 3) {
            add_sym(h, freqs, 17, run - 3);
        } else if (run >= 4) {
            run = run > 7 ? 7 : run;
            add_sym(h, freqs, lens[i], 0);
            add_sym(h, freqs, 16, run - 4);
        } else {
            run = 1;
            add_sym(h, freqs, lens[i], 0);
        }
    }
    b2i_huff_lengths(freqs, NPRECODES, MAX_PRECODE, h->pre.lens);
    b2i_huff_words(h->pre.lens, NPRECODES, h->pre.words);
    for (h->npre = NPRECODES; h->npre > 4 && h->pre.lens[precode_order[h->npre - 1]] == 0;) {
        h->npre--;
    }
    h->cost += 3 * h->npre;
    for (unsigned i = 0; i < NPRECODES; i++) {
        h->cost += (uint64_t)freqs[i] * h->pre.lens[i];
    }
}

static void put_head(bit_sink *to, const head *h)
{
    put_bits(to, (h->nlit - FIRST_LEN) | (h->ndist - 1) << 5 | (uint64_t)(h->npre - 4) << 10, 14);
    flush_bits(to);
    for (unsigned i = 0; i < h->npre; i++) {
        put_bits(to, h->pre.lens[precode_order[i]], 3);
        flush_bits(to);
    }
    for (unsigned i = 0; i < h->nsyms; i++) {
        put_sym(to, h->pre.words[h->syms[i]], h->extras[i], precode_extra(h->syms[i]));
        flush_bits(to);
    }
}

/* Literals, four at a time. */
B2I_LZ_TEMPLATE const uint8_t *put_fours(bit_sink *to, const uint32_t *words, const uint8_t *p,
                                         const uint8_t *end)
{
    for (; end - p >= 4; p += 4) {
        for (unsigned i = 0; i < 4; i++) {
            put_word(to, words[p[i]]);
        }
        flush_bits(to);
    }
    return p;
}

/* All sequences in the codes d->lit and d->dist. */
static void put_seqs(deflater *d)
{
    const uint32_t *lit = d->lit.words, *dist = d->dist.words;
    const uint8_t *p = d->block;
    const seq *s = d->seqs;
    bit_sink to = d->out;
    for (; s->len > 0; s++) {
        const uint8_t *match = p + s->nlit;
        p = put_fours(&to, lit, p, match);
        for (unsigned i = 0; i < 3; i++) { /* no branch: see count_symbols() */
            put_word(&to, lit[p[i]] & (0 - (uint32_t)(p + i < match)));
        }
        flush_bits(&to);
        const unsigned of_len = d->len_syms[s->len], of_dist = dist_sym(d, s->distance);
        put_sym(&to, lit[of_len], s->len - MIN_MATCH, len_extras[of_len - FIRST_LEN]);
        put_sym(&to, dist[of_dist], s->distance, dist_extras[of_dist]);
        flush_bits(&to);
        p = match + s->len;
    }
    const uint8_t *end = p + s->nlit;
    for (p = put_fours(&to, lit, p, end); p < end; p++) {
        put_word(&to, lit[*p]);
    }
    flush_bits(&to);
    put_word(&to, lit[END_OF_BLOCK]);
    flush_bits(&to);
    d->out = to;
}

/* The block as it is.  False when it does not fit. */
static bool put_stored(deflater *d, bool is_last)
{
    const uint8_t *p = d->block;
    for (size_t left = d->block_len; left > 0;) {
        size_t n = left < MAX_STORED ? left : MAX_STORED;
        left -= n;
        if (!has_room(d, 64 + 8 * (uint64_t)n)) {
            return false;
        }
        put_bits(&d->out, is_last && left == 0, 3);
        put_bits(&d->out, 0, (8 - (d->out.nbits & 7)) & 7);
        flush_bits(&d->out);
        put_bits(&d->out, n | (uint64_t)(n ^ 0xffff) << 16, 32);
        flush_bits(&d->out);
        memcpy(d->out.op, p, n);
        d->out.op += n;
        p += n;
    }
    return true;
}

/* How often each symbol is, and how long the block. */
static void count_symbols(deflater *d)
{
    uint32_t lits[4][256] = { { 0 } }; /* equal ones in a row would wait for each other's count */
    const uint8_t *p = d->block;
    const seq *s = d->seqs;
    memset(d->lit_freqs, 0, sizeof d->lit_freqs);
    memset(d->dist_freqs, 0, sizeof d->dist_freqs);
    for (;; s++) {
        const uint8_t *match = p + s->nlit;
        for (; match - p >= 4; p += 4) {
            for (unsigned i = 0; i < 4; i++) {
                lits[i][p[i]]++;
            }
        }
        if (s->len == 0) {
            for (; p < match; p++) {
                lits[0][*p]++;
            }
            break;
        }
        for (unsigned i = 0; i < 3; i++) { /* no branch: how many are left cannot be predicted */
            lits[i][p[i]] += p + i < match;
        }
        d->lit_freqs[d->len_syms[s->len]]++;
        d->dist_freqs[dist_sym(d, s->distance)]++;
        p = match + s->len;
    }
    d->block_len = (size_t)(p - d->block);
    for (unsigned i = 0; i < 256; i++) {
        d->lit_freqs[i] = lits[0][i] + lits[1][i] + lits[2][i] + lits[3][i];
    }
    d->lit_freqs[END_OF_BLOCK] = 1;
}

/*
 * Whether the search has missed so many matches, as it takes no short ones: of blocks that are
 * literals for the better part and do not halve, some bytes in the middle tell.
 */
static bool misses_matches(deflater *d, uint64_t cost)
{
    enum { LOOKED_AT = 1536, MUCH = 8, SAVED = 48 }; /* parts of the stream */
    const size_t len = d->block_len, n = len < LOOKED_AT ? len : LOOKED_AT;
    size_t nlit = 0;
    for (unsigned i = 0; i < END_OF_BLOCK; i++) {
        nlit += d->lit_freqs[i];
    }
    if (cost > 4 * (uint64_t)len && nlit > len / 4 * 3) {
        d->nlit += len;
        d->missed += b2i_short_repeats(d->block + (len - n) / 2, n) * len / n;
    }
    return d->nlit > d->src_len / MUCH && d->missed > d->src_len / SAVED;
}

/* Whether codes cannot be worth it, as values are nearly all as frequent; quicker than making them.
 */
static bool is_flat(const deflater *d, unsigned worth)
{
    const uint64_t n = d->block_len;
    uint64_t squares = 0;
    for (unsigned i = 0; i < END_OF_BLOCK; i++) {
        squares += (uint64_t)d->lit_freqs[i] * d->lit_freqs[i];
    }
    /* as in b2i_is_flat(): n * 11 / 64 of chi-squared for each 64th, at least */
    return n <= MAX_LITERALS && 256 * squares - n * n <= n * (n * 11 * (64 - worth) / 64);
}

enum { STORED = 0, FIXED = 2, OWN = 4 }; /* above the bit that says whether a block is the last */

/* A block as it is going to be sent. */
typedef struct plan {
    unsigned kind;
    uint64_t cost; /* bits */
    head head;     /* of its own codes */
} plan;

/* The cheapest way; the codes for it are d->lit and d->dist. */
static void make_plan(deflater *d, plan *p)
{
    const bool is_row = d->seqs[0].len == 0;
    const uint64_t stored = 8 * (uint64_t)d->block_len;
    const unsigned worth = is_row ? d->effort->worth : 63;
    code fixed_lit, fixed_dist;
    p->kind = STORED;
    p->cost = stored;
    d->has_codes = false;
    if (is_row && is_flat(d, worth)) {
        return;
    }
    fixed_lens(fixed_lit.lens, fixed_dist.lens);
    b2i_huff_lengths(d->lit_freqs, NLITLENS, MAX_CODE, d->lit.lens);
    b2i_huff_lengths(d->dist_freqs, NDISTS, MAX_CODE, d->dist.lens);
    make_head(&p->head, &d->lit, &d->dist);
    d->has_codes = true;

    /* Reading a block's own codes takes time, decoding at all takes more. */
    const uint64_t fixed = cost_of(d, fixed_lit.lens, fixed_dist.lens);
    const uint64_t own = cost_of(d, d->lit.lens, d->dist.lens) + p->head.cost;
    const bool is_fixed = fixed <= own + own / 64;
    p->cost = is_fixed ? fixed : own;
    p->kind = p->cost > stored / 64 * worth ? STORED : is_fixed ? FIXED : OWN;
    if (p->kind == FIXED) {
        d->lit = fixed_lit;
        d->dist = fixed_dist;
    }
}

/* Sends the block in the cheapest way and begins the next one.  False when it does not fit. */
static bool end_block(deflater *d, bool is_last)
{
    plan p;
    count_symbols(d);
    make_plan(d, &p);
    if (d->misses != NULL && misses_matches(d, p.cost)) {
        *d->misses = true;
        return false;
    }
    const bool fits = p.kind == STORED ? put_stored(d, is_last) : has_room(d, p.cost);
    if (fits && p.kind != STORED) {
        put_bits(&d->out, p.kind | (is_last ? 1 : 0), 3);
        if (p.kind == OWN) {
            put_head(&d->out, &p.head);
        }
        b2i_huff_words(d->lit.lens, p.kind == OWN ? NLITLENS : B2I_HUFF_MAX_SYMS, d->lit.words);
        b2i_huff_words(d->dist.lens, NDISTS, d->dist.words);
        put_seqs(d);
    }
    d->block += d->block_len;
    return fits;
}

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
    return end_block(d, is_last);
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

/* The encoder of a worker, or NULL when there is no memory. */
static deflater *kept_deflater(b2i_codec_state *state)
{
    if (state->deflate == NULL) {
        state->deflate = b2i_malloc(sizeof(deflater));
        if (state->deflate != NULL) {
            fill_syms(state->deflate);
            ((deflater *)state->deflate)->has_codes = false;
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
    d->misses = misses;
    d->nlit = d->missed = 0;
    search s = search_begin(t, src, n, (lz_sink){ d, d->seqs, 0, 0 });
    s.easy_ratio = effort->easy_ratio;
    bool fits = search_by_effort(d, state->deflate_parser, &s);
    b2i_lz_end(t, n);

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
