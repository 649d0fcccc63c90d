/*
 * deflate_decoder.h: our decoder of deflate streams (RFC 1951).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A template, of which everything is static: the file that includes it makes its decoder of
 * decode(), with the instructions that this file is compiled for.
 */
#ifndef B2I_DEFLATE_DECODER_H
#define B2I_DEFLATE_DECODER_H

#include "deflate_dec.h"

#include "deflate_table.h"
#include "lz_copy.h"

enum {
    MAX_DIST_BITS = 28,                /* of a code and its extra bits */
    FAST_IN = 32,                      /* bytes that a round of the fast loop may read */
    WORDS = 40,                        /* bytes that a match is given at once */
    FAST_OUT = 8 + WORDS + B2I_LZ_STEP /* and that one may write, but for long matches */
};

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
