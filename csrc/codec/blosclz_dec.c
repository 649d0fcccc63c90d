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
    STEP = B2I_LZ_STEP, /* bytes that a fast copy may write beyond its end */
    FAR_BASE = 8191,    /* distance - 1 of the smallest far match */
    NEAR_HI = 31        /* high bits that, with a low byte of 255, announce a far match */
};

typedef struct match {
    size_t len;
    size_t distance;
    uint32_t next; /* the control byte that follows */
} match;

/*
 * Reads the rest of a match and the next control byte.  Returns the new input
 * position, or NULL when the input ends before or the match is longer than
 * max_len, which also keeps the sum of extension bytes from overflowing.
 */
static const uint8_t *read_match(const uint8_t *ip, const uint8_t *ip_end, uint32_t ctrl,
                                 size_t max_len, match *m)
{
    m->len = (ctrl >> 5) + 2;
    if (ctrl >> 5 == 7) {
        uint8_t b;
        do {
            if (ip == ip_end || m->len > max_len) {
                return NULL;
            }
            b = *ip++;
            m->len += b;
        } while (b == 255);
    }
    if (ip == ip_end) {
        return NULL;
    }
    uint32_t hi = ctrl & 31, lo = *ip++;
    m->distance = (size_t)(hi << 8 | lo) + 1;
    if (hi == NEAR_HI && lo == 255) {
        if (ip_end - ip < 2) {
            return NULL;
        }
        m->distance = (size_t)b2i_ld16be(ip) + FAR_BASE + 1;
        ip += 2;
    }
    if (ip == ip_end) {
        return NULL; /* a match may not be the last operation */
    }
    m->next = *ip++;
    return ip;
}

/*
 * The same for at least 8 bytes of input, which one load gets all at once.  NULL: not for a match
 * of two extension bytes and more.
 */
static inline const uint8_t *read_match_fast(const uint8_t *ip, uint32_t ctrl, match *m)
{
    uint64_t w = b2i_ld64le(ip);
    size_t len = (ctrl >> 5) + 2;
    if (ctrl >> 5 == 7) {
        uint32_t b = w & 255;
        if (b == 255) {
            return NULL;
        }
        len += b;
        w >>= 8;
        ip++;
    }
    uint32_t d = (ctrl & 31) << 8 | (w & 255);
    w >>= 8;
    ip++;
    if (d == FAR_BASE) {
        d += (uint32_t)(w & 255) << 8 | (uint32_t)(w >> 8 & 255);
        w >>= 16;
        ip += 2;
    }
    m->len = len;
    m->distance = (size_t)d + 1;
    m->next = w & 255;
    return ip + 1;
}

b2c_status b2i_blosclz_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                              uint8_t *dst, size_t n)
{
    (void)state;
    (void)dict;
    if (src.n == 0) {
        return B2C_E_CORRUPT;
    }
    const uint8_t *ip = src.p, *ip_end = ip + src.n;
    uint8_t *op = dst, *op_end = dst + n;
    /* Before these, literals are copied in a step, and matches read at once. */
    const uint8_t *op_fast = n >= STEP ? op_end - STEP + 1 : dst;
    const uint8_t *ip_fast = src.n >= STEP ? ip_end - STEP + 1 : ip;
    const uint8_t *ip_word = src.n >= 8 ? ip_end - 8 + 1 : ip;
    uint32_t ctrl = *ip++ & 31;
    for (;;) {
        if (ctrl < 32) {
            const size_t run = ctrl + 1;
            if (op < op_fast && ip < ip_fast) {
                memcpy(op, ip, STEP);
            } else if (run <= (size_t)(op_end - op) && run <= (size_t)(ip_end - ip)) {
                memcpy(op, ip, run);
            } else {
                return B2C_E_CORRUPT;
            }
            op += run;
            ip += run;
            if (ip == ip_end) {
                break;
            }
            ctrl = *ip++;
            if (ctrl < 32) {
                continue;
            }
        }
        match m;
        const size_t room = (size_t)(op_end - op);
        const uint8_t *next = ip < ip_word ? read_match_fast(ip, ctrl, &m) : NULL;
        if (next == NULL) {
            match slow; /* apart, so that the other one stays in registers */
            next = read_match(ip, ip_end, ctrl, room, &slow);
            if (next == NULL) {
                return B2C_E_CORRUPT;
            }
            m = slow;
        }
        ip = next;
        if (m.len > room || m.distance > (size_t)(op - dst)) {
            return B2C_E_CORRUPT;
        }
        if (room >= B2I_LZ_RUN_ROOM && m.len <= B2I_LZ_RUN) {
            b2i_lz_copy_short(op, m.distance, m.len);
        } else if (room >= m.len + STEP) {
            b2i_lz_copy(op, m.distance, m.len);
        } else {
            b2i_lz_copy_end(op, op_end, m.distance, m.len);
        }
        op += m.len;
        ctrl = m.next;
    }
    return op == op_end ? B2C_OK : B2C_E_CORRUPT;
}
