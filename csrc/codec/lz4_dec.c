/*
 * lz4_dec.c: our decoder of LZ4 blocks.  The block is described in lz4_enc.c.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What the format asks of the end of a block (five literals, the distance of the last match from
 * it) is there for decoders that copy in wide steps; this one does not need it and does not check
 * it.  Every block that other decoders take is decoded to the same bytes.
 */
#include "codec_impl.h"
#include "lz_copy.h"

enum {
    MIN_MATCH = 4,
    FAST_IN = 32, /* a token, 16 bytes for its literals, the distance, a byte of length; and more */
    FAST_OUT = 64, /* 16 bytes for literals, then 18 for a short match; and more */
    MANY = 64,     /* literals of a sequence that need this much more room on both sides */
    WIDE = 64      /* a step of copying a match: few, as their number cannot be predicted */
};

typedef struct decoder {
    const uint8_t *ip, *ip_end, *ip_fast; /* the last: where decode_fast() stops */
    uint8_t *dst, *op, *op_end, *op_fast;
    b2i_span dict; /* stands before dst */
} decoder;

/*
 * Adds the bytes that continue a length to *len and returns where they end, or NULL when the input
 * ends first or the length passes max, which also keeps the sum from overflowing.
 */
static const uint8_t *read_length(const uint8_t *ip, const uint8_t *ip_end, size_t max, size_t *len)
{
    uint8_t b;
    do {
        if (ip == ip_end || *len > max) {
            return NULL;
        }
        b = *ip++;
        *len += b;
    } while (b == 255);
    return ip;
}

/* Whether the d bytes before op (3 to 8) are all the same; eight are there. */
static inline bool repeats_one(const uint8_t *op, size_t d)
{
    const uint64_t v = b2i_ld64le(op - 8);
    return (v ^ v << 8) >> (72 - 8 * d) == 0;
}

/*
 * The matches that decode_fast() meets seldom: near or long ones.  Encoders that step over some
 * positions, like that of the LZ4 library, make runs with distances of up to 8.
 */
static B2I_LZ_APART void copy_near(uint8_t *op, size_t distance, size_t len, size_t done,
                                   size_t room)
{
    const bool fits = room >= B2I_LZ_RUN && len <= B2I_LZ_RUN;
    if (fits && (distance == 2 || distance == 4)) {
        b2i_lz_fill(op, distance);
    } else if (fits && distance >= 3 && distance <= 8 && done >= 8 && repeats_one(op, distance)) {
        memset(op, op[-1], B2I_LZ_RUN);
    } else {
        b2i_lz_copy(op, distance, len);
    }
}

/*
 * A match of which the first bytes may be in the dictionary: it goes on with the first of the
 * output.
 */
static B2I_LZ_APART void copy_any(const decoder *d, uint8_t *op, size_t distance, size_t len)
{
    const size_t done = (size_t)(op - d->dst);
    if (distance > done) {
        const size_t before = distance - done, n = before < len ? before : len;
        memcpy(op, d->dict.p + (d->dict.n - before), n);
        op += n;
        len -= n;
    }
    if (len > 0 && (size_t)(d->op_end - op) >= len + B2I_LZ_STEP) {
        b2i_lz_copy(op, distance, len);
    } else if (len > 0) {
        b2i_lz_copy_end(op, d->op_end, distance, len);
    }
}

/*
 * Sequences of few literals, while there is room for wide copies.  Stops in front of any other.
 * Branches, not selects, where the kind of a sequence makes a difference: what is read next
 * depends on it, and only a guess lets the processor go ahead.  A token waits for the one before,
 * so it is loaded as soon as that tells where it is.
 */
static void decode_fast(decoder *state)
{
    decoder d = *state;
    uint32_t token = d.ip < d.ip_fast ? *d.ip : 0;
    while (d.ip < d.ip_fast && d.op < d.op_fast) {
        const uint8_t *ip = d.ip + 1;
        uint8_t *op = d.op;
        size_t nlit = token >> 4, len = token & 15;
        if (nlit == 15) {
            nlit += *ip++;
            if (nlit > MANY || d.ip_end - ip < MANY + FAST_IN || d.op_end - op < MANY + FAST_OUT) {
                break;
            }
            memcpy(op + 16, ip + 16, 16);
            memcpy(op + 32, ip + 32, 32);
        }
        memcpy(op, ip, 16);
        op += nlit;
        token = ip[nlit + 2];
        const size_t distance = b2i_ld16le(ip + nlit), done = (size_t)(op - d.dst);
        ip += nlit + 2;
        if (len < 15 && (distance >= 8) & (distance <= done)) {
            const uint8_t *from = op - distance;
            memcpy(op, from, 8);
            memcpy(op + 8, from + 8, 8);
            memcpy(op + 16, from + 16, 2);
            d.op = op + len + MIN_MATCH;
            d.ip = ip;
            continue;
        }
        if (len == 15) {
            size_t whole = len; /* its address is taken; len stays in a register */
            len += *ip++;
            if (len == 15 + 255) {
                ip = read_length(ip - 1, d.ip_end, (size_t)(d.op_end - op), &whole);
                len = whole;
            }
        }
        len += MIN_MATCH;
        const size_t room = (size_t)(d.op_end - op);
        if (ip == NULL || ip == d.ip_end || distance == 0 || distance > done + d.dict.n ||
            room < len + WIDE) {
            break; /* damaged, or at the end */
        }
        token = *ip;
        if (distance > done) {
            copy_any(state, op, distance, len);
        } else if ((distance >= B2I_LZ_SHORT) & (len < B2I_LZ_LONG)) {
            b2i_lz_copy_steps(op, distance, len, WIDE);
        } else if ((distance == 1) & (room >= B2I_LZ_RUN) & (len <= B2I_LZ_RUN)) {
            memset(op, op[-1], B2I_LZ_RUN);
        } else {
            copy_near(op, distance, len, done, room);
        }
        d.op = op + len;
        d.ip = ip;
    }
    *state = d;
}

/* Any sequence.  *is_last when it was the last one and the output is complete. */
static b2c_status decode_any(decoder *d, bool *is_last)
{
    const uint8_t *ip = d->ip;
    size_t room = (size_t)(d->op_end - d->op);
    if (ip == d->ip_end) {
        return B2C_E_CORRUPT; /* a match was last */
    }
    const uint32_t token = *ip++;
    size_t nlit = token >> 4, len = token & 15;
    if (nlit == 15) {
        ip = read_length(ip, d->ip_end, room, &nlit);
    }
    if (ip == NULL || nlit > room || nlit > (size_t)(d->ip_end - ip)) {
        return B2C_E_CORRUPT;
    }
    if (nlit > 0) {
        memcpy(d->op, ip, nlit);
        d->op += nlit;
        ip += nlit;
        room -= nlit;
    }
    *is_last = ip == d->ip_end;
    if (d->ip_end - ip < 2) {
        return *is_last && room == 0 ? B2C_OK : B2C_E_CORRUPT;
    }
    const size_t distance = b2i_ld16le(ip), done = (size_t)(d->op - d->dst);
    ip += 2;
    if (len == 15) {
        ip = read_length(ip, d->ip_end, room, &len);
    }
    len += MIN_MATCH;
    if (ip == NULL || len > room || distance == 0 || distance > done + d->dict.n) {
        return B2C_E_CORRUPT;
    }
    copy_any(d, d->op, distance, len);
    d->op += len;
    d->ip = ip;
    return B2C_OK;
}

b2c_status b2i_lz4_decode(b2i_span dict, b2i_span src, uint8_t *dst, size_t n)
{
    decoder d = {
        .ip = src.p, .ip_end = src.p + src.n, .dst = dst, .op = dst, .op_end = dst + n, .dict = dict
    };
    d.ip_fast = d.ip_end - (src.n < FAST_IN ? src.n : FAST_IN);
    d.op_fast = d.op_end - (n < FAST_OUT ? n : FAST_OUT);
    bool is_last = false;
    while (!is_last) {
        decode_fast(&d);
        B2I_TRY(decode_any(&d, &is_last));
    }
    return B2C_OK;
}
