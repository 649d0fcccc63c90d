/*
 * deflate_decoder.h: our decoder of deflate streams (RFC 1951).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A template, of which everything is static: the file that includes it makes its decoder of
 * decode(), with the instructions that this file is compiled for.
 *
 * Codes are decoded by tables that the next bits of the input index.  An entry says all there is
 * to know about a symbol: what it stands for and how many bits it and what follows it take.  Codes
 * longer than an index have a second table.
 */
#ifndef B2I_DEFLATE_DECODER_H
#define B2I_DEFLATE_DECODER_H

#include "deflate_dec.h"

#include "lz_copy.h"

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
    MAX_DIST_BITS = 28,                 /* of a code and its extra bits */
    FAST_IN = 32,                       /* bytes that a round of the fast loop may read */
    WORDS = 40,                         /* bytes that a match is given at once */
    FAST_OUT = 8 + WORDS + B2I_LZ_STEP, /* and that one may write, but for long matches */
    MIN_PAIRED = 4096,                  /* bytes of output for which literals are paired, */
    MIN_PAIRS_IN = 256 /* and of input: making pairs takes longer than a short block */
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

/* ---- tables ---- */

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

/* ---- blocks ---- */

typedef struct output {
    uint8_t *start, *op, *end;
} output;

static bool copy_stored(bit_reader *r, output *o)
{
    (void)take(r, r->nbits & 7);
    refill(r);
    const uint32_t n = take(r, 16), check = take(r, 16);
    if (is_beyond(r) || n != (check ^ 0xffff)) {
        return false;
    }
    r->ip -= r->nbits / 8 - r->nmissing; /* whole bytes, give them back */
    r->nmissing = 0;
    r->bits = 0;
    r->nbits = 0;
    if (n > (size_t)(r->ip_end - r->ip) || n > (size_t)(o->end - o->op)) {
        return false;
    }
    if (n > 0) {
        memcpy(o->op, r->ip, n);
    }
    r->ip += n;
    o->op += n;
    return true;
}

/* The entry of the symbol that comes next, with its bits still to be dropped. */
static inline entry look_up(bit_reader *r, const entry *table, unsigned bits)
{
    entry e = table[r->bits & ((1U << bits) - 1)];
    if ((e & (LITERAL | SECOND)) == SECOND) {
        (void)take(r, e & 255);
        e = table[(e >> 16) + (r->bits & ((1U << (e >> 8 & 15)) - 1))];
    }
    return e;
}

/* Base and extra bits of a length or distance; drops its bits. */
static inline size_t value_of(bit_reader *r, entry e)
{
    const uint64_t saved = r->bits;
    const unsigned code = e >> 8 & 15, all = e & 255;
    r->bits >>= all;
    r->nbits -= all;
    return (e >> 16) + ((saved & (((uint64_t)1 << all) - 1)) >> code);
}

enum { GOING, ENDED, BROKEN };

/*
 * Four to eight bytes that do not overlap themselves: nothing is read that is not copied.  Where
 * items repeat their high bytes, each match is with the item before, and behind it the literals
 * between were written last: a load of all of them waits until they have left the processor's
 * buffer of stores.
 */
static inline void copy_item(uint8_t *op, const uint8_t *from, size_t len)
{
    b2i_st64le(op, b2i_ld32le(from) | (uint64_t)b2i_ld32le(from + len - 4) << 8 * (len - 4));
}

/* A match of up to WORDS bytes; may write so many, or B2I_LZ_STEP more than there are. */
static inline void copy_short(uint8_t *op, size_t distance, size_t len)
{
    const uint8_t *from = op - distance;
    if (distance > 8) {
        for (size_t i = 0; i < WORDS; i += 8) {
            memcpy(op + i, from + i, 8);
        }
    } else if (distance == 1) {
        const uint64_t v = op[-1] * 0x0101010101010101U;
        for (size_t i = 0; i < WORDS; i += 8) {
            b2i_st64le(op + i, v);
        }
    } else if (len > distance) {
        b2i_lz_repeat(op, op + len, distance);
    } else if (len >= 4) {
        copy_item(op, from, len);
    } else {
        b2i_st64le(op, b2i_ld64le(from));
    }
}

/* A longer one; false where there is no room. */
static inline bool copy_long(uint8_t *op, const uint8_t *op_end, size_t distance, size_t len)
{
    const size_t room = (size_t)(op_end - op);
    if (room >= len + B2I_LZ_STEP) {
        b2i_lz_copy(op, distance, len);
    } else if (room >= len) {
        b2i_lz_copy_end(op, op_end, distance, len);
    }
    return room >= len;
}

/* One literal, or two; writes four bytes. */
static inline uint8_t *put_literals(uint8_t *op, entry e)
{
    b2i_st32le(op, e >> 16); /* one store */
    return op + 1 + (e / PAIR & 1);
}

/*
 * While there is much input and room: a row of literals and a match per round.  Of the 56 bits
 * that a round has at least, two literals and a length use 42 at most; a third literal ends the
 * round, and a distance, of up to 28, gets more where these are not there.  Of 'nbits' the low byte
 * counts: whole entries are subtracted from it.
 */
static int decode_fast(bit_reader *reader, output *out, const tables *t)
{
    const uint8_t *ip = reader->ip, *const ip_fast = reader->ip_end - FAST_IN;
    uint64_t bits = reader->bits, saved;
    uint32_t nbits = reader->nbits;
    uint8_t *op = out->op, *const start = out->start, *const op_fast = out->end - FAST_OUT;
    const uint64_t lit_mask = ((uint64_t)1 << t->lit_bits) - 1;
    const uint64_t dist_mask = ((uint64_t)1 << t->dist_bits) - 1;
    int state = GOING;

#define REFILL()                                                                                   \
    do {                                                                                           \
        bits |= b2i_ld64le(ip) << (nbits & 63);                                                    \
        ip += 7 - (nbits >> 3 & 7);                                                                \
        nbits |= 56;                                                                               \
    } while (0)
#define DROP(e)                                                                                    \
    do {                                                                                           \
        saved = bits;                                                                              \
        bits >>= (e) & 63;                                                                         \
        nbits -= (e);                                                                              \
    } while (0)
#define VALUE(e) (((e) >> 16) + ((saved & (((uint64_t)1 << ((e) & 63)) - 1)) >> ((e) >> 8 & 15)))

    REFILL();
    entry e = t->lit[bits & lit_mask];
    while (ip < ip_fast && op < op_fast) {
        DROP(e);
        if ((e & LITERAL) != 0) {
            entry next = t->lit[bits & lit_mask];
            DROP(next);
            op = put_literals(op, e);
            e = next;
            if ((e & LITERAL) != 0) {
                next = t->lit[bits & lit_mask];
                DROP(next);
                op = put_literals(op, e);
                e = next;
                if ((e & LITERAL) != 0) {
                    REFILL();
                    next = t->lit[bits & lit_mask];
                    op = put_literals(op, e);
                    e = next;
                    continue;
                }
            }
        }
        if ((e & SPECIAL) != 0) {
            if ((e & SECOND) != 0) {
                e = t->lit[(e >> 16) + (bits & ((1U << (e >> 8 & 15)) - 1))];
                DROP(e);
            }
            if ((e & LITERAL) != 0) {
                op = put_literals(op, e);
                REFILL();
                e = t->lit[bits & lit_mask];
                continue;
            }
            if ((e & SPECIAL) != 0) {
                state = (e & END) != 0 ? ENDED : BROKEN;
                break;
            }
        }
        const size_t len = VALUE(e);
        e = t->dist[bits & dist_mask];
        if ((nbits & 255) < MAX_DIST_BITS) {
            REFILL();
            e = t->dist[bits & dist_mask];
        }
        DROP(e);
        if ((e & SPECIAL) != 0) {
            if ((e & SECOND) != 0) {
                e = t->dist[(e >> 16) + (bits & ((1U << (e >> 8 & 15)) - 1))];
                DROP(e);
            }
            if ((e & SPECIAL) != 0) {
                state = BROKEN;
                break;
            }
        }
        const size_t distance = VALUE(e);
        if (distance > (size_t)(op - start)) {
            state = BROKEN;
            break;
        }
        REFILL();
        e = t->lit[bits & lit_mask];
        if (len <= WORDS) {
            copy_short(op, distance, len);
        } else if (!copy_long(op, out->end, distance, len)) {
            state = BROKEN;
            break;
        }
        op += len;
    }
#undef REFILL
#undef DROP
#undef VALUE
    reader->ip = ip;
    reader->bits = bits;
    reader->nbits = nbits & 255;
    out->op = op;
    return state;
}

/* One symbol, or a length and a distance, close to the end of the input or the output. */
static int decode_one(bit_reader *r, output *o, const tables *t)
{
    refill(r);
    entry e = look_up(r, t->lit, t->lit_bits);
    const size_t room = (size_t)(o->end - o->op);
    if ((e & LITERAL) != 0) {
        (void)take(r, e & 255);
        if (room < ((e & PAIR) != 0 ? 2 : 1) || is_beyond(r)) {
            return BROKEN; /* also where only the first one fits: what is left does not end well */
        }
        *o->op++ = (uint8_t)(e >> 16);
        if ((e & PAIR) != 0) {
            *o->op++ = (uint8_t)(e >> 24);
        }
        return GOING;
    }
    if ((e & SPECIAL) != 0) {
        (void)take(r, e & 255);
        return (e & END) != 0 && !is_beyond(r) ? ENDED : BROKEN;
    }
    const size_t len = value_of(r, e);
    e = look_up(r, t->dist, t->dist_bits);
    if ((e & SPECIAL) != 0) {
        return BROKEN;
    }
    const size_t distance = value_of(r, e);
    if (is_beyond(r) || len > room || distance > (size_t)(o->op - o->start)) {
        return BROKEN;
    }
    b2i_lz_copy_end(o->op, o->end, distance, len);
    o->op += len;
    return GOING;
}

/* The last bytes of the input, with zeros behind them, as if there were many. */
static int decode_last(bit_reader *r, output *o, const tables *t)
{
    uint8_t last[2 * FAST_IN + 8] = { 0 }; /* 8: bits that were taken, but not used yet */
    const size_t left = (size_t)(r->ip_end - r->ip);
    bit_reader here = { last, last + left + 8 + FAST_IN, r->bits, r->nbits, 0 };
    memcpy(last, r->ip, left);
    const int state = decode_fast(&here, o, t);
    const size_t taken = (size_t)(here.ip - last), there = taken < left ? taken : left;
    r->ip += there;
    r->nmissing += (unsigned)(taken - there);
    r->bits = here.bits;
    r->nbits = here.nbits;
    return state;
}

static bool decode_block(bit_reader *r, output *o, const tables *t)
{
    int state = GOING;
    while (state == GOING) {
        if (o->end - o->op <= FAST_OUT || r->ip == r->ip_end) {
            state = decode_one(r, o, t);
        } else if (r->ip_end - r->ip > FAST_IN) {
            state = decode_fast(r, o, t);
        } else {
            state = decode_last(r, o, t);
        }
    }
    return state == ENDED;
}

B2I_LZ_TEMPLATE b2c_status decode(b2i_codec_state *state, b2i_span src, uint8_t *dst, size_t n,
                                  size_t *used)
{
    if (state->inflate == NULL) {
        state->inflate = b2i_calloc(sizeof(tables));
        if (state->inflate == NULL) {
            return B2C_E_MEMORY;
        }
        fill_parts(state->inflate);
    }
    tables *t = state->inflate;
    bit_reader r = { .ip = src.p, .ip_end = src.p + src.n };
    output o = { dst, dst, dst + n };
    bool is_last = false;
    while (!is_last) {
        refill(&r);
        is_last = take(&r, 1) != 0;
        const uint32_t kind = take(&r, 2);
        bool ok = false;
        if (kind == 0) {
            ok = copy_stored(&r, &o);
        } else if (kind == 1) {
            ok = (t->is_fixed || make_fixed(t)) && decode_block(&r, &o, t);
        } else if (kind == 2) {
            ok = read_codes(&r, t, (size_t)(o.end - o.op)) && decode_block(&r, &o, t);
        }
        if (!ok || is_beyond(&r)) {
            return B2C_E_CORRUPT;
        }
    }
    if (o.op != o.end) {
        return B2C_E_CORRUPT;
    }
    *used = (size_t)(r.ip - src.p) + r.nmissing - r.nbits / 8;
    return B2C_OK;
}

#endif
