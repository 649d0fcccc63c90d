/*
 * deflate_table.h: the tables that codes of deflate streams are decoded by.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of deflate_decoder.h.  The next bits of the input index a table.  An entry says all there
 * is to know about a symbol: what it stands for and how many bits it and what follows it take.
 * Codes longer than an index have a second table.
 */
#ifndef B2I_DEFLATE_TABLE_H
#define B2I_DEFLATE_TABLE_H

#include "codec_impl.h"

enum {
    MAX_LEN = 15, /* bits of a code */
    NLITLENS = 288,
    NDISTS = 32,
    NPRECODES = 19,
    LIT_BITS = 11, /* that index the tables */
    DIST_BITS = 8,
    PRE_BITS = 7,     /* there are no longer ones */
    MAX_SMALL = 8192, /* bytes of output for which */
    SMALL_BITS = 10,  /* fewer bits index the first table: it is made sooner */
    LIT_TABLE =
        (1 << LIT_BITS) + 2048, /* second tables: each has twice as many entries as codes at most */
    DIST_TABLE = (1 << DIST_BITS) + 1024,
    PRE_TABLE = 1 << PRE_BITS,
    END_OF_BLOCK = 256,
    MIN_PAIRED = 4096,  /* bytes of output for which literals are paired, */
    MIN_PAIRS_IN = 1024 /* and of input: making pairs takes longer than a short block */
};

/*
 * An entry of a table:
 *   bits 0–7    to drop: the code and its extra bits; or what indexes the first table
 *   bits 8–11   of the code; or index bits of the second table
 *   bits 12–14  what is special: a second table, the end of the block, no code at all
 *   bit 15      a literal; then bit 12 says that there are two, whose bits are dropped together
 *   bits 16–31  the base of a length or distance; or where the second table starts; or literals,
 *               the first one lower
 * What a symbol stands for is its part of an entry; each bit of its code adds ONE_BIT.
 */
typedef uint32_t entry;

#define ONE_BIT ((entry)0x101)
#define SECOND  ((entry)1 << 12)
#define PAIR    ((entry)1 << 12)
#define END     ((entry)1 << 13)
#define INVALID ((entry)1 << 14)
#define SPECIAL (SECOND | END | INVALID)
#define LITERAL ((entry)1 << 15)

typedef struct tables {
    entry lit[LIT_TABLE], dist[DIST_TABLE], pre[PRE_TABLE];
    unsigned lit_bits, dist_bits; /* that index them */
    bool is_fixed;                /* they hold the codes of the format */
    entry lit_parts[NLITLENS], dist_parts[NDISTS], pre_parts[NPRECODES];
} tables;

/* The input as bits.  After its end come zeros; how many are taken tells whether it was passed. */
typedef struct bit_reader {
    const uint8_t *ip, *ip_end;
    uint64_t bits;
    unsigned nbits;    /* in 'bits' */
    unsigned nmissing; /* bytes taken after the end */
} bit_reader;

/* At least 56 bits, and less than 64, as the fast loop wants it. */
static inline void refill(bit_reader *r)
{
    if (r->ip_end - r->ip >= 8) {
        r->bits |= b2i_ld64le(r->ip) << r->nbits;
        r->ip += (63 - r->nbits) >> 3;
        r->nbits |= 56;
        return;
    }
    for (; r->nbits < 56; r->nbits += 8) {
        if (r->ip < r->ip_end) {
            r->bits |= (uint64_t)*r->ip++ << r->nbits;
        } else {
            r->nmissing++;
        }
    }
}

static inline uint32_t take(bit_reader *r, unsigned n)
{
    uint32_t x = (uint32_t)r->bits & (((uint32_t)1 << n) - 1);
    r->bits >>= n;
    r->nbits -= n;
    return x;
}

/* Whether bits were used that the input does not have. */
static bool is_beyond(const bit_reader *r)
{
    return r->nmissing > r->nbits / 8;
}

static entry lit_part(unsigned sym)
{
    if (sym < END_OF_BLOCK) {
        return LITERAL | sym << 16;
    }
    if (sym == END_OF_BLOCK) {
        return END;
    }
    if (sym > 285) {
        return INVALID;
    }
    unsigned x = sym - 257, extra = x < 8 || sym == 285 ? 0 : x / 4 - 1;
    unsigned base = sym == 285 ? 258 : x < 8 ? 3 + x : 3 + ((4 + x % 4) << extra);
    return base << 16 | extra;
}

static entry dist_part(unsigned sym)
{
    if (sym > 29) {
        return INVALID;
    }
    unsigned extra = sym < 4 ? 0 : sym / 2 - 1;
    unsigned base = sym < 4 ? 1 + sym : 1 + ((2 + sym % 2) << extra);
    return base << 16 | extra;
}

/* A length, or a literal here; or how many lengths are zero, or are as the one before: SECOND. */
static entry pre_part(unsigned sym)
{
    return sym < 16    ? LITERAL | sym << 16
           : sym == 16 ? SECOND | 3 << 16 | 2
           : sym == 17 ? 3 << 16 | 3
                       : 11 << 16 | 7;
}

static void fill_parts(tables *t)
{
    for (unsigned i = 0; i < NLITLENS; i++) {
        t->lit_parts[i] = lit_part(i);
    }
    for (unsigned i = 0; i < NDISTS; i++) {
        t->dist_parts[i] = dist_part(i);
    }
    for (unsigned i = 0; i < NPRECODES; i++) {
        t->pre_parts[i] = pre_part(i);
    }
}

/*
 * The symbols that a code has, in order: each with its length, and how many of that length there
 * were before it, by which its place among all is known as soon as all are counted.
 */
typedef struct lengths {
    struct {
        uint16_t sym, rank;
        uint8_t len;
    } used[NLITLENS + NDISTS + 1]; /* and one that is not */
    unsigned nused;
    uint16_t counts[MAX_LEN + 1]; /* of each length; that of 0 is arbitrary */
} lengths;

/* Adds a symbol to 'nused' ones; returns how many there are then. */
static inline unsigned add_length(lengths *l, unsigned nused, unsigned sym, unsigned len)
{
    l->used[nused].sym = (uint16_t)sym;
    l->used[nused].rank = l->counts[len]++;
    l->used[nused].len = (uint8_t)len;
    return nused + (len != 0); /* no branch: it could not be predicted */
}

/* The last 'len' bits of a code in the other order; 15 at most. */
static inline unsigned reversed(unsigned code, unsigned len)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
    return code >> (16 - len);
}

/*
 * Makes the table for symbols of a code, those from 'first' on; *index_bits are at most so many as
 * it says.  counts[] has those of them alone, before[] how many ranks of each length are others'.
 * False when it is not a code, or not a complete one; one code of one bit, or none, is allowed.
 */
B2I_LZ_TEMPLATE bool make_table(entry *table, unsigned *index_bits, const entry *parts,
                                const lengths *l, unsigned first, unsigned end,
                                const uint16_t *counts, const uint16_t *before,
                                const unsigned max_len)
{
    enum { LOWEST = 3 }; /* bits: for shorter codes each place is filled, then they are doubled */
    unsigned starts[MAX_LEN + 2], max = max_len, sum = 0;
    uint16_t sorted[NLITLENS];
    starts[1] = 0;
    for (unsigned len = 1; len <= max_len; len++) {
        starts[len + 1] = starts[len] + counts[len];
        sum += (unsigned)counts[len] << (max_len - len);
    }
    for (; max > 1 && counts[max] == 0; max--) {
    }
    const bool is_complete = sum == 1U << max_len;
    if (!is_complete && (end - first > 1 || max > 1)) {
        return false;
    }
    for (unsigned i = first; i < end; i++) {
        const unsigned len = l->used[i].len;
        sorted[starts[len] + l->used[i].rank - before[len]] = l->used[i].sym;
    }
    const unsigned most = max > LOWEST ? max : LOWEST,
                   bits = most < *index_bits ? most : *index_bits;
    *index_bits = bits;
    if (!is_complete) {
        for (unsigned i = 0; i < 1U << LOWEST; i++) {
            table[i] = INVALID;
        }
    }
    unsigned code = 0, at = 0, len = 1; /* the code by its value, its first bit highest */
    for (; len <= LOWEST; len++, code *= 2) {
        for (unsigned k = 0; k < counts[len]; k++, at++, code++) {
            for (unsigned i = reversed(code, len); i < 1U << LOWEST; i += 1U << len) {
                table[i] = parts[sorted[at]] + len * ONE_BIT;
            }
        }
    }
    for (; len <= bits; len++, code *= 2) {
        const size_t half = (size_t)1 << (len - 1);
        for (size_t i = 0; i < half && (at > 0 || !is_complete); i += 1U << LOWEST) {
            memcpy(table + half + i, table + i, sizeof(entry) << LOWEST);
        }
        for (const unsigned stop = at + counts[len]; at < stop; at++, code++) {
            table[reversed(code, len)] = parts[sorted[at]] + len * ONE_BIT;
        }
    }
    unsigned used = 1U << bits, prefix = ~0U, sub_at = 0, sub_bits = 0;
    for (; len <= max; len++, code *= 2) { /* second tables */
        for (unsigned left = counts[len]; left > 0; left--, at++, code++) {
            const unsigned bottom = reversed(code, len);
            if ((bottom & ((1U << bits) - 1)) != prefix) {
                prefix = bottom & ((1U << bits) - 1);
                sub_bits = len - bits;
                int room = (1 << sub_bits) - (int)left; /* for longer ones with this prefix */
                for (unsigned longer = len + 1; room > 0 && longer <= max; longer++) {
                    room = 2 * room - (int)counts[longer];
                    sub_bits++;
                }
                sub_at = used;
                used += 1U << sub_bits;
                table[prefix] = SECOND | sub_at << 16 | sub_bits << 8 | bits;
            }
            const entry e = parts[sorted[at]] + (len - bits) * ONE_BIT;
            for (unsigned i = bottom >> bits; i < 1U << sub_bits; i += 1U << (len - bits)) {
                table[sub_at + i] = e;
            }
        }
    }
    return true;
}

/* Those of all, of nlit symbols of literals and lengths and then of distances. */
static bool make_tables(tables *t, lengths *l, unsigned nlit, unsigned lit_bits)
{
    static const uint16_t none[MAX_LEN + 1] = { 0 };
    uint16_t lits[MAX_LEN + 1], dists[MAX_LEN + 1] = { 0 };
    unsigned first = l->nused; /* distance */
    for (; first > 0 && l->used[first - 1].sym >= nlit; first--) {
        l->used[first - 1].sym = (uint16_t)(l->used[first - 1].sym - nlit);
        dists[l->used[first - 1].len]++;
    }
    for (unsigned len = 0; len <= MAX_LEN; len++) {
        lits[len] = (uint16_t)(l->counts[len] - dists[len]);
    }
    t->lit_bits = lit_bits;
    t->dist_bits = DIST_BITS;
    return make_table(t->lit, &t->lit_bits, t->lit_parts, l, 0, first, lits, none, MAX_LEN) &&
           make_table(t->dist, &t->dist_bits, t->dist_parts, l, first, l->nused, dists, lits,
                      MAX_LEN);
}

/*
 * Whether literals are so frequent and their codes so short that many pairs fit an index: that of
 * all places in the table, three quarters are those of such codes.
 */
static bool has_short_codes(const lengths *l)
{
    enum { MAX_SHORT = 5, PLACES = 1 << MAX_SHORT };
    unsigned places = 0;
    for (unsigned i = 0; i < l->nused && l->used[i].sym < END_OF_BLOCK; i++) {
        places += (unsigned)PLACES >> l->used[i].len;
    }
    return places >= PLACES / 4 * 3;
}

/* Entries of literals become those of pairs where another one follows within the index. */
static void pair_literals(entry *table)
{
    for (unsigned i = 1U << LIT_BITS; i-- > 0;) { /* those that follow are lower, not paired yet */
        const entry e = table[i], next = table[i >> (e & 15)];
        const unsigned n = (e & 15) + (next & 255);
        if ((e & next & LITERAL) != 0 && n <= LIT_BITS) {
            table[i] = (next & 0xff0000) << 8 | (e & 0xff0000) | LITERAL | PAIR | n;
        }
    }
}

static bool make_fixed(tables *t)
{
    lengths l = { .nused = 0 };
    for (unsigned i = 0; i < NLITLENS; i++) {
        l.nused = add_length(&l, l.nused, i, i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    }
    for (unsigned i = 0; i < NDISTS; i++) {
        l.nused = add_length(&l, l.nused, NLITLENS + i, 5);
    }
    t->is_fixed = make_tables(t, &l, NLITLENS, LIT_BITS);
    return t->is_fixed;
}

/* The code that lengths of codes are in. */
static bool read_precode(bit_reader *r, tables *t, unsigned n)
{
    static const uint8_t order[NPRECODES] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15 };
    static const uint16_t none[PRE_BITS + 1] = { 0 };
    uint8_t lens[NPRECODES] = { 0 };
    lengths l;
    memset(l.counts, 0, sizeof l.counts);
    l.nused = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i % 16 == 0) {
            refill(r);
        }
        lens[order[i]] = (uint8_t)take(r, 3);
    }
    for (unsigned i = 0; i < NPRECODES; i++) {
        l.nused = add_length(&l, l.nused, i, lens[i]);
    }
    unsigned bits = PRE_BITS;
    if (!make_table(t->pre, &bits, t->pre_parts, &l, 0, l.nused, l.counts, none, PRE_BITS)) {
        return false;
    }
    for (; bits < PRE_BITS; bits++) { /* an index of constant length */
        memcpy(t->pre + (1U << bits), t->pre, sizeof(entry) << bits);
    }
    return true;
}

/* The lengths of n codes. */
static bool read_lengths(bit_reader *r, const tables *t, lengths *l, unsigned n)
{
    enum { ONCE = 4 }; /* symbols of 14 bits at most that a refill is enough for */
    unsigned last = 0, nused = 0;
    for (unsigned at = 0; at < n;) {
        refill(r);
        for (unsigned k = 0; k < ONCE && at < n; k++) {
            const uint64_t saved = r->bits;
            const entry e = t->pre[saved & (PRE_TABLE - 1)];
            const unsigned all = e & 255;
            r->bits >>= all;
            r->nbits -= all;
            if ((e & LITERAL) != 0) {
                last = e >> 16;
                nused = add_length(l, nused, at++, last);
                continue;
            }
            const unsigned extra = (unsigned)saved & ((1U << all) - 1);
            const unsigned count = (e >> 16) + (extra >> (e >> 8 & 15));
            if (((e & SECOND) != 0 && at == 0) || (e & INVALID) != 0 || count > n - at) {
                return false;
            }
            last = (e & SECOND) != 0 ? last : 0;
            at += count;
            for (unsigned i = last > 0 ? count : 0; i > 0; i--) {
                nused = add_length(l, nused, at - i, last);
            }
        }
    }
    l->nused = nused;
    return true;
}

/* The codes of a block that brings its own; there are so many bytes that it may decode to. */
static bool read_codes(bit_reader *reader, tables *t, size_t room)
{
    bit_reader here = *reader, *r = &here; /* stays in registers */
    lengths l;
    memset(l.counts, 0, sizeof l.counts);
    l.nused = 0;
    t->is_fixed = false;
    refill(r);
    const unsigned nlit = 257 + take(r, 5), ndist = 1 + take(r, 5), npre = 4 + take(r, 4);
    if (nlit > NLITLENS || !read_precode(r, t, npre) || !read_lengths(r, t, &l, nlit + ndist)) {
        return false;
    }
    *reader = here;
    const bool pairs =
        room >= MIN_PAIRED && r->ip_end - r->ip >= MIN_PAIRS_IN && has_short_codes(&l);
    if (!make_tables(t, &l, nlit, pairs || room > MAX_SMALL ? LIT_BITS : SMALL_BITS)) {
        return false;
    }
    if (pairs) {
        for (; t->lit_bits < LIT_BITS; t->lit_bits++) { /* there are no second tables then */
            memcpy(t->lit + (1U << t->lit_bits), t->lit, sizeof(entry) << t->lit_bits);
        }
        pair_literals(t->lit);
    }
    return true;
}

#endif
