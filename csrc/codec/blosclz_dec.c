/*
 * blosclz_dec.c: the BloscLZ decoder.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream is a sequence of operations, each led by a control byte:
 *
 *   000rrrrr               literal run: r + 1 bytes follow
 *   LLLhhhhh [ext…] lo     match of L + 2 bytes (L = 1…6), or of 9 + sum of the extension
 *                          bytes (L = 7; a byte of 255 says that one more follows), at
 *                          distance (h << 8 | lo) + 1
 *   LLL11111 [ext…] FF a b the same at distance 8192 + (a << 8 | b)
 *
 * The first and the last operation are literal runs; the top bits of the first
 * control byte are no part of it.
 *
 * While there is room, copies are made in fixed steps that write beyond their
 * end; what they write too much is overwritten by the next operation.
 */
#include "codec_impl.h"
#include "lz_copy.h"

enum {
    LITERALS = 32,       /* at most, of one operation, and the step they are copied in */
    FULL = LITERALS - 1, /* the control byte of so many */
    FAST_IN = 72,        /* two full runs of literals and what leads the next, or a match */
    FAST_OUT = LITERALS + B2I_LZ_RUN_ROOM,
    FAR_BASE = 8191, /* distance - 1 of the smallest far match */
    NEAR_HI = 31     /* high bits that, with a low byte of 255, announce a far match */
};

typedef struct decoder {
    const uint8_t *ip, *ip_end, *ip_fast; /* the last: where decode_fast() stops */
    uint8_t *dst, *op, *op_end, *op_fast;
    uint32_t ctrl; /* the control byte before ip */
} decoder;

/*
 * Operations while there is much input and room.  Stops in front of any other, and of many full
 * runs of literals.  A control byte waits for the one before, so it is loaded as soon as that tells
 * where it is; another load gets all that a match may have.
 */
static void decode_fast(decoder *state)
{
    decoder d = *state;
    while (d.ip < d.ip_fast && d.op < d.op_fast) {
        uint64_t w;
        if (d.ctrl < LITERALS) {
            const uint32_t before = d.ctrl;
            memcpy(d.op, d.ip, LITERALS);
            d.op += before + 1;
            w = b2i_ld64le(d.ip + before + 1) >> 8;
            d.ip += before + 2;
            d.ctrl = d.ip[-1];
            if (d.ctrl < LITERALS) {
                if ((before & d.ctrl) == FULL && d.ip[LITERALS] == FULL) {
                    break;
                }
                continue;
            }
        } else {
            w = b2i_ld64le(d.ip);
        }
        const uint8_t *ip = d.ip;
        size_t len = (d.ctrl >> 5) + 2;
        if (d.ctrl >> 5 == 7) {
            const uint32_t b = w & 255;
            if (b == 255) {
                break; /* more follow */
            }
            len += b;
            w >>= 8;
            ip++;
        }
        size_t distance = (d.ctrl & 31) << 8 | (w & 255);
        w >>= 8;
        ip++;
        if (distance == FAR_BASE) {
            distance += (w & 255) << 8 | (w >> 8 & 255);
            w >>= 16;
            ip += 2;
        }
        distance++;
        const size_t room = (size_t)(d.op_end - d.op);
        if (distance > (size_t)(d.op - d.dst) || room < len + B2I_LZ_RUN_ROOM) {
            break; /* damaged, or at the end */
        }
        if (len <= B2I_LZ_RUN) {
            b2i_lz_copy_short(d.op, distance, len);
        } else {
            b2i_lz_copy(d.op, distance, len);
        }
        d.op += len;
        d.ip = ip + 1;
        d.ctrl = *ip;
    }
    *state = d;
}

/*
 * Full runs of literals, one at least, while there is much input and room: noise.  Where the next
 * control byte is waits for nothing here.
 */
static void decode_full(decoder *state)
{
    decoder d = *state;
    do {
        memcpy(d.op, d.ip, LITERALS);
        d.op += LITERALS;
        d.ip += LITERALS + 1;
        d.ctrl = d.ip[-1];
    } while (d.ctrl == FULL && d.ip < d.ip_fast && d.op < d.op_fast);
    *state = d;
}

/*
 * Reads the rest of a match.  Returns the new input position, or NULL when the input ends before,
 * or the match is longer than max, which also keeps the sum of extension bytes from overflowing.
 */
static const uint8_t *read_match(const uint8_t *ip, const uint8_t *ip_end, uint32_t ctrl,
                                 size_t max, size_t *len, size_t *distance)
{
    *len = (ctrl >> 5) + 2;
    if (ctrl >> 5 == 7) {
        uint8_t b;
        do {
            if (ip == ip_end || *len > max) {
                return NULL;
            }
            b = *ip++;
            *len += b;
        } while (b == 255);
    }
    if (ip == ip_end || *len > max) {
        return NULL;
    }
    const uint32_t hi = ctrl & 31, lo = *ip++;
    *distance = (size_t)(hi << 8 | lo) + 1;
    if (hi == NEAR_HI && lo == 255) {
        if (ip_end - ip < 2) {
            return NULL;
        }
        *distance = (size_t)b2i_ld16be(ip) + FAR_BASE + 1;
        ip += 2;
    }
    return ip;
}

/* Any operation, and the control byte of the next.  *is_last: these were the last literals. */
static b2c_status decode_any(decoder *d, bool *is_last)
{
    const size_t room = (size_t)(d->op_end - d->op);
    size_t n = d->ctrl + 1, distance = 0;
    if (d->ctrl < LITERALS) {
        if (n > room || n > (size_t)(d->ip_end - d->ip)) {
            return B2C_E_CORRUPT;
        }
        memcpy(d->op, d->ip, n);
        d->ip += n;
        *is_last = d->ip == d->ip_end;
    } else {
        d->ip = read_match(d->ip, d->ip_end, d->ctrl, room, &n, &distance);
        if (d->ip == NULL || d->ip == d->ip_end || distance > (size_t)(d->op - d->dst)) {
            return B2C_E_CORRUPT; /* a match may not be the last operation, either */
        }
        if (room >= n + B2I_LZ_STEP) {
            b2i_lz_copy(d->op, distance, n);
        } else {
            b2i_lz_copy_end(d->op, d->op_end, distance, n);
        }
    }
    d->op += n;
    d->ctrl = *is_last ? 0 : *d->ip++;
    return B2C_OK;
}

b2c_status b2i_blosclz_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                              uint8_t *dst, size_t n)
{
    (void)state;
    (void)dict;
    if (src.n == 0) {
        return B2C_E_CORRUPT;
    }
    decoder d = { .ip = src.p + 1,
                  .ip_end = src.p + src.n,
                  .dst = dst,
                  .op = dst,
                  .op_end = dst + n,
                  .ctrl = *src.p & 31 };
    d.ip_fast = d.ip_end - (src.n < FAST_IN ? src.n : FAST_IN);
    d.op_fast = d.op_end - (n < FAST_OUT ? n : FAST_OUT);
    bool is_last = false;
    while (!is_last) {
        while (d.ip < d.ip_fast && d.op < d.op_fast) { /* here, too: the ends of short streams */
            decode_fast(&d);
            if (d.ctrl != FULL || d.ip >= d.ip_fast || d.op >= d.op_fast) {
                break;
            }
            decode_full(&d);
        }
        B2I_TRY(decode_any(&d, &is_last));
    }
    return d.op == d.op_end ? B2C_OK : B2C_E_CORRUPT;
}
