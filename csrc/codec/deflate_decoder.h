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
    PRE_BITS = 7, /* there are no longer ones */
    LIT_TABLE =
        (1 << LIT_BITS) + 2048, /* second tables: each has twice as many entries as codes at most */
    DIST_TABLE = (1 << DIST_BITS) + 1024,
    PRE_TABLE = 1 << PRE_BITS,
    END_OF_BLOCK = 256,
    MAX_DIST_BITS = 28, /* of a code and its extra bits */
    FAST_IN = 32,       /* bytes that a round of the fast loop may read */
    WORDS = 40,         /* bytes that a match is given at once */
    FAST_OUT = 6 + 258 + WORDS,
    MIN_PAIRED = 4096, /* bytes of output for which literals are paired, */
    MIN_PAIRS_IN = 256 /* and of input: making pairs takes longer than a short block */
};

/*
 * An entry of a table:
 *   bits 0–7    to drop: the code and its extra bits; or what indexes the first table
 *   bits 8–11   of the code; or index bits of the second table
 *   bit 12–14   what is special: a second table, the end of the block, no code at all
 *   bits 16–30  the base of a length or distance; or where the second table starts
 *   bit 31      a literal, or two: the first one is in bits 8–15; if bit 24 is set, the next one is
 *               in bits 16–23, and the bits to drop are those of both
 */
typedef uint32_t entry;

#define LITERAL ((entry)1 << 31)
#define PAIR    ((entry)1 << 24)
#define SECOND  ((entry)1 << 12)
#define END     ((entry)1 << 13)
#define INVALID ((entry)1 << 14)
#define SPECIAL (SECOND | END | INVALID)

typedef struct tables {
    entry lit[LIT_TABLE], dist[DIST_TABLE], pre[PRE_TABLE];
    unsigned lit_bits, dist_bits; /* that index them */
    bool is_fixed;                /* they hold the codes of the format */
} tables;

/* The input as bits.  After its end come zeros; how many are taken tells whether it was passed. */
typedef struct bit_reader {
    const uint8_t *ip, *ip_end;
    uint64_t bits;
    unsigned nbits;    /* in 'bits' */
    unsigned nmissing; /* bytes taken after the end */
} bit_reader;

/* At least 56 bits. */
static inline void refill(bit_reader *r)
{
    if (r->ip_end - r->ip >= 8) {
        r->bits |= b2i_ld64le(r->ip) << r->nbits;
        r->ip += (63 - r->nbits) >> 3;
        r->nbits |= 56;
        return;
    }
    for (; r->nbits <= 56; r->nbits += 8) {
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

static inline entry lit_entry(unsigned sym, unsigned len)
{
    if (sym < END_OF_BLOCK) {
        return LITERAL | sym << 8 | len;
    }
    if (sym == END_OF_BLOCK) {
        return END | len << 8 | len;
    }
    if (sym > 285) {
        return INVALID;
    }
    unsigned x = sym - 257, extra = x < 8 || sym == 285 ? 0 : x / 4 - 1;
    unsigned base = sym == 285 ? 258 : x < 8 ? 3 + x : 3 + ((4 + x % 4) << extra);
    return base << 16 | len << 8 | (len + extra);
}

static inline entry dist_entry(unsigned sym, unsigned len)
{
    if (sym > 29) {
        return INVALID;
    }
    unsigned extra = sym < 4 ? 0 : sym / 2 - 1;
    unsigned base = sym < 4 ? 1 + sym : 1 + ((2 + sym % 2) << extra);
    return base << 16 | len << 8 | (len + extra);
}

static inline entry pre_entry(unsigned sym, unsigned len)
{
    return sym << 16 | len << 8 | len;
}

/* The code with its first bit lowest, plus one. */
static inline unsigned next_code(unsigned code, unsigned len)
{
    unsigned bit = 1U << (len - 1);
    while ((code & bit) != 0) {
        code ^= bit;
        bit >>= 1;
    }
    return bit == 0 ? 0 : code | bit;
}

/*
 * Returns how many symbols of a code are used, and in 'used', with room for all, which; adds to
 * counts[1…MAX_LEN], which are 0, how many have each length.
 */
static inline unsigned count_lengths(const uint8_t *lens, unsigned nsyms, uint16_t *used,
                                     unsigned *counts)
{
    unsigned nused = 0, odd[MAX_LEN + 1] = { 0 }; /* counts of their own: adding twice waits */
    for (unsigned i = 0; i < nsyms;) {
        if (nsyms - i >= 8 && b2i_ld64le(lens + i) == 0) {
            i += 8;
            continue;
        }
        for (const unsigned end = nsyms - i < 8 ? nsyms : i + 8; i < end; i++) {
            used[nused] = (uint16_t)i;
            nused += lens[i] != 0;
            (i % 2 ? odd : counts)[lens[i]]++;
        }
    }
    for (unsigned len = 1; len <= MAX_LEN; len++) {
        counts[len] += odd[len];
    }
    counts[0] = 0;
    return nused;
}

/*
 * Makes the table for a code given by the lengths of its symbols; *index_bits are at most so
 * many as it says.  False when it is not a code, or not a complete one; one code of one bit, or
 * none, is allowed.
 */
B2I_LZ_TEMPLATE bool make_table(entry *table, unsigned *index_bits, const uint8_t *lens,
                                unsigned nsyms, entry (*entry_of)(unsigned sym, unsigned len))
{
    unsigned counts[MAX_LEN + 1] = { 0 }, starts[MAX_LEN + 2], max = MAX_LEN;
    uint16_t syms[NLITLENS], sorted[NLITLENS];
    const unsigned nused = count_lengths(lens, nsyms, syms, counts);
    for (; max > 1 && counts[max] == 0; max--) {
    }
    int left = 1; /* codes that the lengths so far leave */
    starts[1] = 0;
    for (unsigned len = 1; len <= MAX_LEN; len++) {
        left = 2 * left - (int)counts[len];
        if (left < 0) {
            return false;
        }
        starts[len + 1] = starts[len] + counts[len];
    }
    bool is_complete = left == 0;
    if (!is_complete && (nused > 1 || max > 1)) {
        return false;
    }
    for (unsigned i = 0; i < nused; i++) {
        sorted[starts[lens[syms[i]]]++] = syms[i];
    }
    const unsigned bits = max < *index_bits ? max : *index_bits;
    *index_bits = bits;
    if (!is_complete) {
        table[0] = table[1] = INVALID;
    }
    unsigned code = 0, at = 0, size = 2, len = 1; /* size: 2^len entries are filled so far */
    for (; len <= bits; len++, size *= 2) {
        if (len > 1) {
            memcpy(table + size / 2, table, size / 2 * sizeof *table);
        }
        for (unsigned k = 0; k < counts[len]; k++, at++) {
            table[code] = entry_of(sorted[at], len);
            code = next_code(code, len);
        }
    }
    unsigned used = 1U << bits, prefix = ~0U, sub_at = 0, sub_bits = 0;
    for (; at < nused; at++) { /* second tables */
        for (; counts[len] == 0; len++) {
        }
        counts[len]--;
        if ((code & ((1U << bits) - 1)) != prefix) {
            prefix = code & ((1U << bits) - 1);
            sub_bits = len - bits;
            int room =
                (1 << sub_bits) - 1 - (int)counts[len]; /* for longer ones with this prefix */
            for (unsigned longer = len + 1; room > 0 && longer <= max; longer++) {
                room = 2 * room - (int)counts[longer];
                sub_bits++;
            }
            sub_at = used;
            used += 1U << sub_bits;
            table[prefix] = SECOND | sub_at << 16 | sub_bits << 8 | bits;
        }
        entry e = entry_of(sorted[at], len - bits);
        for (unsigned i = code >> bits; i < 1U << sub_bits; i += 1U << (len - bits)) {
            table[sub_at + i] = e;
        }
        code = next_code(code, len);
    }
    return true;
}

/*
 * Whether literals are so frequent and their codes so short that many pairs fit an index: that of
 * all places in the table, three quarters are those of such codes.
 */
static bool has_short_codes(const uint8_t *lens)
{
    enum { PLACES = 1 << LIT_BITS / 2 };
    static const uint8_t places_of[MAX_LEN + 1] = { 0,          PLACES / 2,  PLACES / 4,
                                                    PLACES / 8, PLACES / 16, PLACES / 32 };
    unsigned places = 0;
    for (unsigned i = 0; i < END_OF_BLOCK; i++) {
        places += places_of[lens[i]];
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
            table[i] = (e & ~(entry)255) | PAIR | (next & 0xff00) << 8 | n;
        }
    }
}

static bool make_fixed(tables *t)
{
    uint8_t lens[NLITLENS];
    memset(lens, 8, 144);
    memset(lens + 144, 9, 112);
    memset(lens + 256, 7, 24);
    memset(lens + 280, 8, 8);
    t->lit_bits = LIT_BITS;
    t->dist_bits = DIST_BITS;
    t->is_fixed = make_table(t->lit, &t->lit_bits, lens, NLITLENS, lit_entry);
    memset(lens, 5, NDISTS);
    return make_table(t->dist, &t->dist_bits, lens, NDISTS, dist_entry) && t->is_fixed;
}

/* The codes of a block that brings its own; there are so many bytes that it may decode to. */
static bool read_codes(bit_reader *reader, tables *t, size_t room)
{
    static const uint8_t order[NPRECODES] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15 };
    uint8_t pre_lens[NPRECODES] = { 0 }, lens[NLITLENS + NDISTS] = { 0 };
    bit_reader here = *reader, *r = &here; /* stays in registers */
    t->is_fixed = false;
    refill(r);
    const unsigned nlit = 257 + take(r, 5), ndist = 1 + take(r, 5), npre = 4 + take(r, 4);
    for (unsigned i = 0; i < npre; i++) {
        refill(r);
        pre_lens[order[i]] = (uint8_t)take(r, 3);
    }
    unsigned bits = PRE_BITS, at = 0;
    if (nlit > NLITLENS || !make_table(t->pre, &bits, pre_lens, NPRECODES, pre_entry)) {
        return false;
    }
    while (at < nlit + ndist) {
        refill(r);
        const entry e = t->pre[r->bits & ((1U << bits) - 1)];
        if ((e & INVALID) != 0) {
            return false;
        }
        (void)take(r, e & 255);
        const unsigned sym = e >> 16;
        if (sym < 16) {
            lens[at++] = (uint8_t)sym;
            continue;
        }
        const unsigned count = sym == 16   ? 3 + take(r, 2)
                               : sym == 17 ? 3 + take(r, 3)
                                           : 11 + take(r, 7);
        if ((sym == 16 && at == 0) || count > nlit + ndist - at) {
            return false;
        }
        if (sym == 16) { /* the others are for zeros, which are there */
            for (unsigned i = 0; i < count; i++) {
                lens[at + i] = lens[at - 1];
            }
        }
        at += count;
    }
    *reader = here;
    t->lit_bits = LIT_BITS;
    t->dist_bits = DIST_BITS;
    if (!make_table(t->lit, &t->lit_bits, lens, nlit, lit_entry) ||
        !make_table(t->dist, &t->dist_bits, lens + nlit, ndist, dist_entry)) {
        return false;
    }
    if (room >= MIN_PAIRED && r->ip_end - r->ip >= MIN_PAIRS_IN && has_short_codes(lens)) {
        for (; t->lit_bits < LIT_BITS; t->lit_bits++) {
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
 * A match; may write up to WORDS - 3 bytes too much.  Most are short, and a near one that does not
 * overlap itself is a word: to prepare for repeating it takes longer.
 */
static inline void copy_match(uint8_t *op, size_t distance, size_t len)
{
    const uint8_t *from = op - distance;
    if (distance >= 8) {
        for (size_t i = 0; i < WORDS; i += 8) {
            memcpy(op + i, from + i, 8);
        }
        if (len > WORDS) {
            b2i_lz_copy(op, distance, len);
        }
    } else if (len <= distance) {
        b2i_st64le(op, b2i_ld64le(from));
    } else {
        b2i_lz_copy(op, distance, len);
    }
}

/* One literal, or two; writes a byte more. */
static inline uint8_t *put_literals(uint8_t *op, entry e)
{
    op[0] = (uint8_t)(e >> 8);
    op[1] = (uint8_t)(e >> 16);
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
        copy_match(op, distance, len);
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
        *o->op++ = (uint8_t)(e >> 8);
        if ((e & PAIR) != 0) {
            *o->op++ = (uint8_t)(e >> 16);
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

static bool decode_block(bit_reader *r, output *o, const tables *t)
{
    int state = GOING;
    while (state == GOING) {
        if (r->ip_end - r->ip > FAST_IN && o->end - o->op > FAST_OUT) {
            state = decode_fast(r, o, t);
        } else {
            state = decode_one(r, o, t);
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
