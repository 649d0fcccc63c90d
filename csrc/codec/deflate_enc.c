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
    END_OF_BLOCK = 256,
    FIRST_LEN = 257,
    NLITLENS = 286,
    NDISTS = 30,
    NPRECODES = 19,
    MAX_CODE = 14, /* bits: four literals and what was left fill a word */
    MAX_PRECODE = 7,
    MAX_SEQS = 8192, /* of a block */
    MAX_LITERALS = 65536,
    LONG_ROW = 4096, /* literals that are a block by themselves */
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
    uint16_t codes[B2I_HUFF_MAX_SYMS];
} code;

typedef struct deflater {
    const b2i_deflate_effort *effort;
    uint8_t *op, *op_end;
    uint64_t bits; /* that do not fill a byte yet */
    unsigned nbits;
    const uint8_t *block; /* where the block begins in the input */
    size_t block_len;
    uint32_t nlits;
    unsigned nseqs;
    uint32_t lit_freqs[NLITLENS], dist_freqs[NDISTS];
    code lit, dist;
    seq seqs[MAX_SEQS];
} deflater;

/* ---- symbols ---- */

static inline unsigned log_of(unsigned x)
{
#if defined(__GNUC__)
    return 31U - (unsigned)__builtin_clz(x);
#else
    unsigned n = 0;
    for (; x > 1; x >>= 1) {
        n++;
    }
    return n;
#endif
}

/* Number of bits that follow the symbol of a length or distance. */
static inline unsigned len_extra(unsigned len)
{
    return len < MIN_MATCH + 8 || len == MAX_MATCH ? 0 : log_of(len - MIN_MATCH) - 2;
}

static inline unsigned dist_extra(unsigned d)
{
    return d < 4 ? 0 : log_of(d) - 1;
}

static inline unsigned len_sym(unsigned len)
{
    unsigned x = len - MIN_MATCH, k = len_extra(len);
    return len == MAX_MATCH ? 285 : FIRST_LEN + 4 * k + (x >> k);
}

/* d is the distance less 1 */
static inline unsigned dist_sym(unsigned d)
{
    unsigned k = dist_extra(d);
    return 2 * k + (d >> k);
}

/* ---- bits ---- */

static inline void put_bits(deflater *d, uint64_t bits, unsigned n)
{
    d->bits |= bits << d->nbits;
    d->nbits += n;
}

/* Whole bytes to the output; there is room for MARGIN. */
static inline void flush_bits(deflater *d)
{
    b2i_st64le(d->op, d->bits);
    d->op += d->nbits >> 3;
    d->bits >>= d->nbits & ~7U;
    d->nbits &= 7;
}

/* Whether so many bits, a few more and the margin fit. */
static bool has_room(const deflater *d, uint64_t nbits)
{
    return nbits / 8 + 2 + MARGIN <= (uint64_t)(d->op_end - d->op);
}

/* ---- the kinds of blocks ---- */

/* Bits that the symbols of a block take. */
static uint64_t cost_of(const deflater *d, const uint8_t *lit_lens, const uint8_t *dist_lens)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < NLITLENS; i++) {
        n += (uint64_t)d->lit_freqs[i] * lit_lens[i];
    }
    for (unsigned i = 8; i < 28; i++) { /* lengths that have extra bits: 265…284 */
        n += (uint64_t)d->lit_freqs[FIRST_LEN + i] * (i / 4 - 1);
    }
    for (unsigned i = 0; i < NDISTS; i++) {
        n += (uint64_t)d->dist_freqs[i] * (dist_lens[i] + (i < 4 ? 0 : i / 2 - 1));
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
    b2i_huff_codes(h->pre.lens, NPRECODES, h->pre.codes);
    for (h->npre = NPRECODES; h->npre > 4 && h->pre.lens[precode_order[h->npre - 1]] == 0;) {
        h->npre--;
    }
    h->cost += 3 * h->npre;
    for (unsigned i = 0; i < NPRECODES; i++) {
        h->cost += (uint64_t)freqs[i] * h->pre.lens[i];
    }
}

static void put_head(deflater *d, const head *h)
{
    put_bits(d, (h->nlit - FIRST_LEN) | (h->ndist - 1) << 5 | (uint64_t)(h->npre - 4) << 10, 14);
    flush_bits(d);
    for (unsigned i = 0; i < h->npre; i++) {
        put_bits(d, h->pre.lens[precode_order[i]], 3);
        flush_bits(d);
    }
    for (unsigned i = 0; i < h->nsyms; i++) {
        unsigned sym = h->syms[i], len = h->pre.lens[sym];
        put_bits(d, h->pre.codes[sym] | (uint64_t)h->extras[i] << len, len + precode_extra(sym));
        flush_bits(d);
    }
}

/* Literals, four at a time. */
static const uint8_t *put_literals(deflater *d, const uint8_t *p, size_t n)
{
    const uint16_t *codes = d->lit.codes;
    const uint8_t *lens = d->lit.lens, *end = p + n;
    uint64_t bits = d->bits;
    unsigned nbits = d->nbits;
    uint8_t *op = d->op;
    for (; end - p >= 4; p += 4) {
        for (int i = 0; i < 4; i++) {
            bits |= (uint64_t)codes[p[i]] << nbits;
            nbits += lens[p[i]];
        }
        b2i_st64le(op, bits);
        op += nbits >> 3;
        bits >>= nbits & ~7U;
        nbits &= 7;
    }
    for (; p < end; p++) {
        bits |= (uint64_t)codes[*p] << nbits;
        nbits += lens[*p];
    }
    d->op = op;
    d->bits = bits;
    d->nbits = nbits;
    flush_bits(d);
    return p;
}

/* All sequences in the codes d->lit and d->dist. */
static void put_seqs(deflater *d)
{
    const uint8_t *p = d->block;
    for (unsigned i = 0; i < d->nseqs; i++) {
        const seq s = d->seqs[i];
        p = put_literals(d, p, s.nlit);
        if (s.len == 0) {
            break;
        }
        unsigned sym = len_sym(s.len), k = len_extra(s.len);
        put_bits(d, d->lit.codes[sym], d->lit.lens[sym]);
        put_bits(d, (unsigned)(s.len - MIN_MATCH) & ((1U << k) - 1), k);
        sym = dist_sym(s.distance);
        k = dist_extra(s.distance);
        put_bits(d, d->dist.codes[sym], d->dist.lens[sym]);
        put_bits(d, s.distance & ((1U << k) - 1), k);
        flush_bits(d);
        p += s.len;
    }
    put_bits(d, d->lit.codes[END_OF_BLOCK], d->lit.lens[END_OF_BLOCK]);
    flush_bits(d);
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
        put_bits(d, is_last && left == 0, 3);
        put_bits(d, 0, (8 - (d->nbits & 7)) & 7);
        flush_bits(d);
        put_bits(d, n | (uint64_t)(n ^ 0xffff) << 16, 32);
        flush_bits(d);
        memcpy(d->op, p, n);
        d->op += n;
        p += n;
    }
    return true;
}

/* Many literals: equal ones that follow each other would wait for each other's count. */
static void count_many(uint32_t *freqs, const uint8_t *p, size_t n)
{
    uint32_t more[3][256] = { { 0 } };
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        freqs[p[i]]++;
        more[0][p[i + 1]]++;
        more[1][p[i + 2]]++;
        more[2][p[i + 3]]++;
    }
    for (unsigned k = 0; k < 256; k++) {
        freqs[k] += more[0][k] + more[1][k] + more[2][k];
    }
    for (; i < n; i++) {
        freqs[p[i]]++;
    }
}

static inline void count_literals(uint32_t *freqs, const uint8_t *p, size_t n)
{
    if (n > 1024) {
        count_many(freqs, p, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        freqs[p[i]]++;
    }
}

static void count_symbols(deflater *d)
{
    const uint8_t *p = d->block;
    memset(d->lit_freqs, 0, sizeof d->lit_freqs);
    memset(d->dist_freqs, 0, sizeof d->dist_freqs);
    for (unsigned i = 0; i < d->nseqs; i++) {
        const seq s = d->seqs[i];
        count_literals(d->lit_freqs, p, s.nlit);
        p += s.nlit + s.len;
        if (s.len > 0) {
            d->lit_freqs[len_sym(s.len)]++;
            d->dist_freqs[dist_sym(s.distance)]++;
        }
    }
    d->lit_freqs[END_OF_BLOCK] = 1;
}

/* Sends the block in the cheapest way and begins the next one.  False when it does not fit. */
static bool end_block(deflater *d, bool is_last)
{
    enum { STORED = 0, FIXED = 2, OWN = 4 }; /* above the bit that says whether it is the last */
    code fixed_lit, fixed_dist;
    head h;
    count_symbols(d);
    fixed_lens(fixed_lit.lens, fixed_dist.lens);
    b2i_huff_lengths(d->lit_freqs, NLITLENS, MAX_CODE, d->lit.lens);
    b2i_huff_lengths(d->dist_freqs, NDISTS, MAX_CODE, d->dist.lens);
    make_head(&h, &d->lit, &d->dist);

    /* Reading a block's own codes takes time, decoding at all takes more. */
    const uint64_t fixed = cost_of(d, fixed_lit.lens, fixed_dist.lens);
    const uint64_t own = cost_of(d, d->lit.lens, d->dist.lens) + h.cost;
    const uint64_t stored = 8 * (uint64_t)d->block_len;
    const unsigned worth = d->nseqs > 1 ? 63 : d->effort->worth;
    unsigned kind = fixed <= own + own / 64 ? FIXED : OWN;
    const uint64_t cost = kind == FIXED ? fixed : own;
    kind = cost > stored / 64 * worth ? STORED : kind;
    bool fits;
    if (kind == STORED) {
        fits = put_stored(d, is_last);
    } else {
        fits = has_room(d, cost);
    }
    if (fits && kind != STORED) {
        put_bits(d, kind | (is_last ? 1 : 0), 3);
        if (kind == OWN) {
            put_head(d, &h);
        } else {
            d->lit = fixed_lit;
            d->dist = fixed_dist;
        }
        b2i_huff_codes(d->lit.lens, kind == OWN ? NLITLENS : B2I_HUFF_MAX_SYMS, d->lit.codes);
        b2i_huff_codes(d->dist.lens, NDISTS, d->dist.codes);
        put_seqs(d);
    }
    d->block += d->block_len;
    d->block_len = 0;
    d->nseqs = 0;
    d->nlits = 0;
    return fits;
}

/* ---- sequences ---- */

typedef struct lz_sink {
    deflater *d;
    size_t cost;
} lz_sink;

static inline size_t lz_cost(const lz_sink *s)
{
    return s->cost;
}

/* The literals that end a block. */
static bool end_with_literals(deflater *d, size_t nlit, bool is_last)
{
    d->seqs[d->nseqs++] = (seq){ (uint32_t)nlit, 0, 0 };
    d->block_len += nlit;
    return end_block(d, is_last);
}

/* Many literals, in blocks of their own. */
static bool add_row(deflater *d, size_t nlit)
{
    bool fits = d->nseqs == 0 || end_with_literals(d, 0, false);
    while (nlit > 0 && fits) {
        size_t n = nlit < MAX_LITERALS ? nlit : MAX_LITERALS;
        fits = end_with_literals(d, n, false);
        nlit -= n;
    }
    return fits;
}

/* One part of a match, with the literals before it. */
static inline bool add_seq(deflater *d, size_t nlit, size_t len, size_t distance)
{
    if (d->nseqs == MAX_SEQS - 1 || d->nlits > MAX_LITERALS) {
        if (!end_with_literals(d, 0, false)) {
            return false;
        }
    }
    d->seqs[d->nseqs++] = (seq){ (uint32_t)nlit, (uint16_t)len, (uint16_t)(distance - 1) };
    d->block_len += nlit + len;
    d->nlits += (uint32_t)nlit;
    return true;
}

static inline bool lz_put(lz_sink *s, const uint8_t *anchor, const uint8_t *p, size_t len,
                          size_t distance)
{
    enum { ABOUT = 3 }; /* bytes of a match */
    size_t nlit = (size_t)(p - anchor);
    s->cost += nlit + ABOUT;
    if (nlit >= LONG_ROW) {
        if (!add_row(s->d, nlit)) {
            return false;
        }
        nlit = 0;
    }
    while (len > MAX_MATCH) { /* what remains must not be shorter than a match may be */
        size_t n = len < MAX_MATCH + MIN_MATCH ? MAX_MATCH - MIN_MATCH : MAX_MATCH;
        if (!add_seq(s->d, nlit, n, distance)) {
            return false;
        }
        nlit = 0;
        len -= n;
    }
    return add_seq(s->d, nlit, len, distance);
}

static inline bool lz_put_match(lz_sink *s, const uint8_t *p, size_t len, size_t distance)
{
    return lz_put(s, p, p, len, distance);
}

#include "lz_search.h"

/* The encoder of a worker, or NULL when there is no memory. */
static deflater *kept_deflater(b2i_codec_state *state)
{
    if (state->deflate == NULL) {
        state->deflate = b2i_malloc(sizeof(deflater));
    }
    return state->deflate;
}

b2c_status b2i_deflate_encode(b2i_codec_state *state, const b2i_deflate_effort *effort,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len)
{
    static const level fast = { { 4, 2 }, { 4, 1 }, 6, 3 };
    static const level good = { { 4, 1 }, { 9, 1 }, PAIRS, 1 };
    *out_len = 0;
    if (n < MIN_LEN || n > UINT32_MAX / 2) {
        return B2C_OK;
    }
    b2i_lz_table *t = b2i_lz_begin(state, n);
    deflater *d = kept_deflater(state);
    if (t == NULL || d == NULL) {
        return B2C_E_MEMORY;
    }
    d->effort = effort;
    d->op = dst;
    d->op_end = dst + cap;
    d->bits = 0;
    d->nbits = 0;
    d->block = src;
    d->block_len = 0;
    d->nlits = 0;
    d->nseqs = 0;
    search s = search_begin(t, src, n, (lz_sink){ d, 0 });
    s.easy_ratio = effort->easy_ratio;
    bool fits = search_all(&s, effort->pairs ? &good : &fast);
    b2i_lz_end(t, n);

    size_t rest = (size_t)(s.src_end - s.anchor);
    if (fits && rest >= LONG_ROW && d->nseqs > 0) {
        fits = end_with_literals(d, 0, false);
    }
    fits = fits && end_with_literals(d, rest, true);
    if (fits && d->op < d->op_end) {
        *d->op = (uint8_t)d->bits;
        d->op += d->nbits > 0;
        *out_len = (size_t)(d->op - dst);
    }
    return B2C_OK;
}
