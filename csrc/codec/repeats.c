/*
 * repeats.c: estimates of what matches, and codes by frequency, would save.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * High levels find matches of four and five bytes.  These pay where a byte takes about eight bits
 * when it is coded by itself, as in pictures with some noise; where it takes much less, as in
 * numbers around a mean, they save nothing.
 */
#include "lz.h"

enum {
    ONE_BIT = 256,   /* bits are counted in so many parts */
    MATCH_BITS = 24, /* what a match takes, about */
    PICK_LOG = 8,
    PICK = 37,
    STRIDE = 64,
    TABLE_LOG = 12,
    NPIECES = 64, /* that bytes are counted in */
    PIECE_LEN = 64
};

/* The logarithm of n > 0 to base 2 in parts of a bit, up to 2 of them too small. */
static uint32_t log2_of(uint32_t n)
{
    uint32_t whole = 0;
    while (n >> whole > 1) {
        whole++;
    }
    uint32_t part = (uint32_t)((uint64_t)n * ONE_BIT >> whole) - ONE_BIT;
    return whole * ONE_BIT + part + (part * (ONE_BIT - part) * 88 >> 16);
}

/* The entropy of a byte by the bytes in some pieces. */
static uint32_t bits_of_byte(const uint8_t *src, size_t n)
{
    uint16_t counts[4][256] = { { 0 } };
    const size_t len = n < NPIECES * PIECE_LEN ? n / NPIECES : PIECE_LEN;
    const uint32_t total = (uint32_t)(NPIECES * len);
    uint64_t bits = 0;
    for (size_t i = 0; i < NPIECES; i++) {
        const uint8_t *piece = src + (n - len) / (NPIECES - 1) * i;
        for (size_t k = 0; k < len; k++) {
            counts[k % 4][piece[k]]++; /* the same value again does not wait for the last one */
        }
    }
    for (size_t i = 0; i < 256 && total > 0; i++) {
        const uint32_t count = (uint32_t)counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
        bits += count == 0 ? 0 : (uint64_t)count * (log2_of(total) - log2_of(count));
    }
    return total == 0 ? 0 : (uint32_t)(bits / total);
}

bool b2i_is_flat(const uint8_t *src, size_t n, unsigned part)
{
    enum { BY_CHANCE = 255 + 3 * 22 }; /* chi-squared of equal frequencies and 256 values */
    uint32_t counts[2][256] = { { 0 } };
    uint64_t squares = 0;
    if (n >> 28 != 0) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        counts[i % 2][src[i]]++; /* the same value again does not wait for the last one */
    }
    for (size_t i = 0; i < 256; i++) {
        const uint64_t count = counts[0][i] + counts[1][i];
        squares += count * count;
    }
    /* chi-squared times n; a code for so uneven values saves 0.72 bits for each 1 of it */
    return 256 * squares - (uint64_t)n * n <= n * (BY_CHANCE + (uint64_t)n * 11 / part);
}

/*
 * Which of the words that start at STRIDE bytes are looked at: one in 2^PICK_LOG, the same wherever
 * it occurs.  Zeros are not among them.
 */
static void pick(const uint8_t *p, uint8_t is_picked[STRIDE])
{
    for (size_t i = 0; i < STRIDE; i += 2) { /* pairs of bytes, as processors take them */
        const uint32_t a = b2i_ld16le(p + i), c = b2i_ld16le(p + i + 2);
        const uint32_t b = b2i_ld16le(p + i + 1), d = b2i_ld16le(p + i + 3);
        is_picked[i] = (uint16_t)(a * 0x9E37 + c * 0x79B1) >> (16 - PICK_LOG) == PICK;
        is_picked[i + 1] = (uint16_t)(b * 0x9E37 + d * 0x79B1) >> (16 - PICK_LOG) == PICK;
    }
}

bool b2i_short_matches_save(const uint8_t *src, size_t n, size_t nbytes)
{
    uint32_t last[1 << TABLE_LOG] = { 0 }, bits = 0;
    const uint64_t enough = (uint64_t)nbytes * 8 * ONE_BIT >> PICK_LOG;
    uint64_t saved = 0;
    size_t behind = 0; /* the last match */
    uint8_t is_picked[STRIDE];
    for (size_t from = 0; from + STRIDE + 8 <= n; from += STRIDE) {
        pick(src + from, is_picked);
        for (size_t i = 0; i < STRIDE; i += 8) {
            for (uint64_t left = b2i_ld64le(is_picked + i); left != 0; left &= left - 1) {
                const size_t at = from + i + b2i_lz_low_zero_bytes(left);
                const uint32_t word = b2i_ld32le(src + at);
                uint32_t *slot = &last[b2i_lz_hash(word, 4, TABLE_LOG)];
                const size_t then = *slot;
                *slot = (uint32_t)at;
                if (b2i_ld32le(src + then) != word || at == then || at < behind) {
                    continue;
                }
                const size_t len = 4 + b2i_lz_equal(src + at + 4, src + then + 4, src + n);
                behind = at + len;
                bits = bits == 0 ? bits_of_byte(src, n) : bits;
                const uint64_t literals = (uint64_t)len * bits;
                saved += literals > MATCH_BITS * ONE_BIT ? literals - MATCH_BITS * ONE_BIT : 0;
                if (saved > enough) {
                    return true;
                }
            }
        }
    }
    return false;
}

bool b2i_has_matches(const uint8_t *src, size_t n)
{
    enum { LOG = 12, MAX_STEP = 16 };
    uint32_t last[1 << LOG] = { 0 };
    const size_t enough = n / 512;
    size_t saved = 0, at = 1, misses = 0;
    while (at + 8 <= n) {
        const uint64_t word = b2i_ld64le(src + at);
        uint32_t *slot = &last[b2i_lz_hash(word, 6, LOG)];
        size_t then = *slot;
        *slot = (uint32_t)at;
        if ((b2i_ld64le(src + then) ^ word) << 16 != 0) {
            size_t step = 1 + (misses++ >> 5);
            at += step < MAX_STEP ? step : MAX_STEP;
            continue;
        }
        const uint8_t *p = src + at + 6;
        const size_t left = (size_t)(src + n - p), most = enough - saved;
        const size_t len = 6 + b2i_lz_equal(p, src + then + 6, p + (left < most ? left : most));
        saved += len - 5;
        if (saved > enough) {
            return true;
        }
        at += len;
        misses = 0;
    }
    return false;
}

bool b2i_recurs(const uint8_t *src, size_t nfront, size_t n, size_t window)
{
    enum { LOG = 12, EVERY = 16, STEP = 5 }; /* without a common divisor */
    uint32_t places[1 << LOG] = { 0 };
    size_t saved = 0;
    const size_t enough = 64 + n / 128, end = n - nfront < window ? n : nfront + window;
    for (size_t i = nfront < window ? 0 : nfront - window; i + 8 <= nfront; i += EVERY) {
        places[b2i_lz_hash(b2i_ld64le(src + i), 6, LOG)] = (uint32_t)i;
    }
    for (size_t at = nfront; at + 8 <= end; at += STEP) {
        const uint64_t word = b2i_ld64le(src + at);
        const size_t then = places[b2i_lz_hash(word, 6, LOG)];
        if ((b2i_ld64le(src + then) ^ word) << 16 == 0 && at - then <= window) {
            const size_t len = 6 + b2i_lz_equal(src + at + 6, src + then + 6, src + end);
            saved += len - 5;
            if (saved > enough) {
                return true;
            }
            at += len;
        }
    }
    return false;
}
