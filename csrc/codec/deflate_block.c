/*
 * deflate_block.c: the blocks of our deflate streams (RFC 1951).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of sequences are sent with the code that makes them smallest: the fixed one, one of their
 * own, or as they are.
 */
#include "deflate_block.h"

#include "lz.h"

enum {
    NPRECODES = 19,
    MAX_PRECODE = 7,
    MAX_STORED = 65535,
    MARGIN = 8 /* bytes that are written beyond the bits there are */
};

/* ---- symbols ---- */

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

void b2i_deflate_init(deflater *d)
{
    fill_syms(d);
    b2i_deflate_fixed_lens(d->fixed_lit.lens, d->fixed_dist.lens);
    b2i_huff_words(d->fixed_lit.lens, B2I_HUFF_MAX_SYMS, d->fixed_lit.words);
    b2i_huff_words(d->fixed_dist.lens, NDISTS, d->fixed_dist.words);
    d->has_codes = false;
    d->block_len = 0;
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

/* Bits that the symbols of a block take, without what follows them. */
static uint64_t cost_of(const deflater *d, const code *lit, const code *dist)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < NLITLENS; i++) {
        n += (uint64_t)d->lit_freqs[i] * lit->lens[i];
    }
    for (unsigned i = 0; i < NDISTS; i++) {
        n += (uint64_t)d->dist_freqs[i] * dist->lens[i];
    }
    return n;
}

/* And what follows them. */
static uint64_t extras_of(const deflater *d)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < NLENS; i++) {
        n += (uint64_t)d->lit_freqs[FIRST_LEN + i] * len_extras[i];
    }
    for (unsigned i = 0; i < NDISTS; i++) {
        n += (uint64_t)d->dist_freqs[i] * dist_extras[i];
    }
    return n;
}

void b2i_deflate_fixed_lens(uint8_t *lit_lens, uint8_t *dist_lens)
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

/* All sequences. */
static void put_seqs(deflater *d, const uint32_t *lit, const uint32_t *dist)
{
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

/* Of literals: how many there are, and the sum of the squares of how often each is. */
static uint64_t count_literals(const deflater *d, uint64_t *squares)
{
    uint64_t n = 0, sum = 0;
    for (unsigned i = 0; i < END_OF_BLOCK; i++) {
        n += d->lit_freqs[i];
        sum += (uint64_t)d->lit_freqs[i] * d->lit_freqs[i];
    }
    *squares = sum;
    return n;
}

/* Whether the search has missed so many matches, as it takes no short ones: some bytes tell. */
static bool misses_matches(deflater *d)
{
    enum { LOOKED_AT = 1536, MUCH = 8, SAVED = 48 }; /* parts of the stream */
    const size_t len = d->block_len, n = len < LOOKED_AT ? len : LOOKED_AT;
    d->nlit += len;
    const uint64_t saved = b2i_short_repeats(d->block + (len - n) / 2, n);
    d->missed += (size_t)(saved * len / n);
    return d->nlit > d->src_len / MUCH && d->missed > d->src_len / SAVED;
}

/*
 * Whether codes cannot be worth it, as values are nearly all as frequent; quicker than making them.
 */
static bool is_flat(const deflater *d, unsigned worth)
{
    const uint64_t n = d->block_len;
    uint64_t squares;
    (void)count_literals(d, &squares);
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

/*
 * Whether the fixed codes, with which the block takes so many bits, are not worth replacing: making
 * its own ones takes as long as coding a thousand bytes, and reading them as long as decoding some
 * hundred.  Only where there are few symbols: else the question is not worth asking.
 */
static bool fixed_will_do(const deflater *d, uint64_t fixed)
{
    enum { HEAD = 64, PER_SYM = 5, PART = 4, MOST = 8 * 256 }; /* bits, or parts */
    const uint64_t len = d->block_len;
    uint64_t used = 0;
    if (d->effort->haste == 0 || fixed > len / 4 * 3) { /* a symbol takes seven or eight */
        return false;
    }
    for (unsigned i = 0; i < NLITLENS; i++) {
        used += d->lit_freqs[i] != 0;
    }
    const uint64_t own = b2i_entropy(d->lit_freqs, NLITLENS) + b2i_entropy(d->dist_freqs, NDISTS) +
                         HEAD + PER_SYM * used;
    return fixed <= own + own / PART && fixed <= own + 8 * len / d->effort->haste &&
           fixed <= own + MOST;
}

/* The cheapest way. */
static void make_plan(deflater *d, plan *p)
{
    const bool is_row = d->seqs[0].len == 0;
    const uint64_t stored = 8 * (uint64_t)d->block_len;
    const unsigned worth = is_row ? d->effort->worth : 63;
    p->kind = STORED;
    p->cost = stored;
    d->has_codes = false;
    if (is_row && is_flat(d, worth)) {
        return;
    }
    const uint64_t fixed = cost_of(d, &d->fixed_lit, &d->fixed_dist), extras = extras_of(d);
    bool is_fixed = fixed_will_do(d, fixed);
    p->cost = fixed + extras;
    if (!is_fixed) {
        b2i_huff_lengths(d->lit_freqs, NLITLENS, MAX_CODE, d->lit.lens);
        b2i_huff_lengths(d->dist_freqs, NDISTS, MAX_CODE, d->dist.lens);
        make_head(&p->head, &d->lit, &d->dist);
        d->has_codes = true;
        /* Reading a block's own codes takes time, decoding at all takes more. */
        const uint64_t own = cost_of(d, &d->lit, &d->dist) + p->head.cost + extras;
        is_fixed = p->cost <= own + own / 64;
        p->cost = is_fixed ? p->cost : own;
    }
    p->kind = p->cost > stored / 64 * worth ? STORED : is_fixed ? FIXED : OWN;
    if (p->kind == FIXED) {
        memcpy(d->lit.lens, d->fixed_lit.lens, sizeof d->lit.lens);
        memcpy(d->dist.lens, d->fixed_dist.lens, sizeof d->dist.lens);
    }
}

/*
 * Blocks that are literals for the better part, and do not halve, may miss matches.  That they do
 * not halve is known of some before their cost is: no code takes less than
 * log2(nlit^2 / squares) bits for a literal, here 4 / 0.75 of them.
 */
typedef enum may_miss { MISSES_NONE, UNLESS_IT_HALVES, MAY_MISS } may_miss;

static may_miss may_miss_matches(const deflater *d)
{
    uint64_t squares;
    if (d->misses == NULL) {
        return MISSES_NONE;
    }
    const uint64_t nlit = count_literals(d, &squares);
    return nlit <= d->block_len / 4 * 3 ? MISSES_NONE
           : squares < nlit * nlit / 41 ? MAY_MISS
                                        : UNLESS_IT_HALVES;
}

bool b2i_deflate_end_block(deflater *d, bool is_last)
{
    plan p;
    count_symbols(d);
    const may_miss may = may_miss_matches(d);
    bool misses = may == MAY_MISS && misses_matches(d);
    if (!misses) {
        make_plan(d, &p);
        misses =
            may == UNLESS_IT_HALVES && p.cost > 4 * (uint64_t)d->block_len && misses_matches(d);
    }
    if (misses) {
        *d->misses = true;
        return false;
    }
    const bool fits = p.kind == STORED ? put_stored(d, is_last) : has_room(d, p.cost);
    if (fits && p.kind != STORED) {
        put_bits(&d->out, p.kind | (is_last ? 1 : 0), 3);
        if (p.kind == OWN) {
            put_head(&d->out, &p.head);
            b2i_huff_words(d->lit.lens, NLITLENS, d->lit.words);
            b2i_huff_words(d->dist.lens, NDISTS, d->dist.words);
            put_seqs(d, d->lit.words, d->dist.words);
        } else {
            put_seqs(d, d->fixed_lit.words, d->fixed_dist.words);
        }
    }
    d->block += d->block_len;
    return fits;
}
