/*
 * lz_copy.h: copying matches, for our decoders.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * While there is room, copies are made in fixed steps that write beyond their end; what they
 * write too much is overwritten by the next operation.
 */
#ifndef B2I_LZ_COPY_H
#define B2I_LZ_COPY_H

#include "bytes.h"

enum {
    B2I_LZ_STEP = 32, /* bytes that b2i_lz_copy() may write beyond its end */
    B2I_LZ_RUN = 128, /* bytes that a run is given at once: its length cannot be predicted */
    B2I_LZ_RUN_ROOM = B2I_LZ_RUN + 16, /* repeating what is near writes beyond its end */
    B2I_LZ_LONG = 512,                 /* from here on the C library copies faster */
    B2I_LZ_SHORT = 16                  /* distances below overlap within a step */
};

/*
 * Repeats the d bytes before op (2 <= d < 16) up to 'end'.  Two words hold the first 16 bytes of
 * the repetition; they are written again and again at steps of the largest multiple of d that is
 * not above 16.
 */
static inline void b2i_lz_repeat(uint8_t *op, const uint8_t *end, size_t d)
{
    /* one bit at each multiple of d bytes: multiplying repeats d bytes over a word */
    static const uint64_t ones[8] = { 0,
                                      0,
                                      0x0001000100010001,
                                      0x0001000001000001,
                                      0x0000000100000001,
                                      0x10000000001,
                                      0x1000000000001,
                                      0x100000000000001 };
    static const uint8_t step[16] = { 0, 0, 16, 15, 16, 15, 12, 14, 16, 9, 10, 11, 12, 13, 14, 15 };
    /* for d < 8: where in the d bytes the second word starts, 8 mod d */
    static const uint8_t phase[8] = { 0, 0, 0, 2, 0, 3, 2, 1 };

    uint64_t first = b2i_ld64le(op - d), second;
    if (d < 8) {
        uint64_t mask = ((uint64_t)1 << (8 * d)) - 1;
        uint64_t v = first & mask;
        unsigned r = 8U * phase[d];
        first = v * ones[d];
        second = ((v >> r | v << (8 * d - r)) & mask) * ones[d];
    } else {
        unsigned k = 8 * ((unsigned)d - 8);
        uint64_t mask = ((uint64_t)1 << k) - 1;
        second = (b2i_ld64le(op - d + 8) & mask) | first << k;
    }
    size_t by = step[d];
    do {
        b2i_st64le(op, first);
        b2i_st64le(op + 8, second);
        op += by;
    } while (op < end);
}

/*
 * Copies a match from B2I_LZ_SHORT bytes before or more, in steps of a constant length: writes less
 * than one of them too much.
 */
static inline void b2i_lz_copy_steps(uint8_t *op, size_t distance, size_t len, const size_t step)
{
    const uint8_t *from = op - distance, *end = op + len;
    do { /* each part may take what the one before has written */
        for (size_t i = 0; i < step; i += B2I_LZ_SHORT) {
            memcpy(op + i, from + i, B2I_LZ_SHORT);
        }
        op += step;
        from += step;
    } while (op < end);
}

/*
 * Repeats the 2 or 4 bytes before op over B2I_LZ_RUN bytes.  Loads no others: what was written
 * before these is still in the processor's buffer of stores, and a load of both waits for it.
 */
static inline void b2i_lz_fill(uint8_t *op, size_t d)
{
    const uint64_t v = d == 2 ? b2i_ld16le(op - 2) * 0x0001000100010001U
                              : b2i_ld32le(op - 4) * 0x0000000100000001U;
    for (size_t i = 0; i < B2I_LZ_RUN; i += 8) {
        b2i_st64le(op + i, v);
    }
}

/* A match of up to B2I_LZ_RUN bytes, where B2I_LZ_RUN_ROOM may be written. */
static inline void b2i_lz_copy_short(uint8_t *op, size_t distance, size_t len)
{
    if (distance >= B2I_LZ_SHORT) {
        b2i_lz_copy_steps(op, distance, len, B2I_LZ_STEP);
    } else if (distance == 1) {
        memset(op, op[-1], B2I_LZ_RUN);
    } else if (distance == 2 || distance == 4) {
        b2i_lz_fill(op, distance);
    } else {
        b2i_lz_repeat(op, op + len, distance);
    }
}

/* A long match, exactly.  Every copy doubles what the next one can take. */
static inline void b2i_lz_copy_long(uint8_t *op, size_t distance, size_t len)
{
    const uint8_t *from = op - distance;
    if (distance == 1) {
        memset(op, *from, len);
        return;
    }
    for (size_t n = distance; n < len; n *= 2) {
        memcpy(op, from, n);
        op += n;
        len -= n;
    }
    memcpy(op, from, len);
}

/* Copies a match of any length; may write up to B2I_LZ_STEP - 1 bytes too much. */
static inline void b2i_lz_copy(uint8_t *op, size_t distance, size_t len)
{
    const uint8_t *end = op + len;
    if (len >= B2I_LZ_LONG) {
        b2i_lz_copy_long(op, distance, len);
    } else if (distance >= B2I_LZ_SHORT) {
        b2i_lz_copy_steps(op, distance, len, B2I_LZ_STEP);
    } else if (distance == 1) {
        uint8_t byte = op[-1];
        do {
            memset(op, byte, 32);
            op += 32;
        } while (op < end);
    } else {
        b2i_lz_repeat(op, end, distance);
    }
}

/* The same close to the end of the output: exact. */
static inline void b2i_lz_copy_end(uint8_t *op, const uint8_t *op_end, size_t distance, size_t len)
{
    uint8_t *end = op + len;
    size_t room = (size_t)(op_end - op);
    if (distance == 1) {
        memset(op, op[-1], len);
        return;
    }
    if (room > B2I_LZ_STEP) {
        size_t fast = room - B2I_LZ_STEP < len ? room - B2I_LZ_STEP : len;
        b2i_lz_copy(op, distance, fast);
        op += fast;
    }
    for (; distance >= 8 && end - op >= 8; op += 8) {
        memcpy(op, op - distance, 8);
    }
    for (; op < end; op++) {
        *op = op[-(ptrdiff_t)distance];
    }
}

#endif
