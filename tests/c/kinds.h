/*
 * kinds.h: kinds of bytes to code.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef KINDS_H
#define KINDS_H

#include "harness.h"

/* The first NKINDS, of whose streams the tests of our own coders know the hash, and some more. */
enum { RANDOM, PERIODIC = 3, NKINDS = 12, SHORT_RUNS = NKINDS, NUMBERS, RECORDS };

static inline void generate(uint8_t *p, size_t n, int kind, uint64_t seed)
{
    uint64_t r = seed * 2654435761U + 88172645463325252U;
    size_t period = 1 + (size_t)(harness_random(&r) % 300);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = harness_random(&r);
        switch (kind) {
        case RANDOM:
            p[i] = (uint8_t)(x >> 32);
            break;
        case 1: /* one value, rarely another */
            p[i] = x % 200 == 0 ? (uint8_t)(x >> 32) : 9;
            break;
        case 2: /* few values */
            p[i] = (uint8_t) "aaab"[x >> 40 & 3];
            break;
        case PERIODIC:
            p[i] = i < period ? (uint8_t)(x >> 32) : p[i - period];
            break;
        case 4: /* the low byte of a ramp */
            p[i] = (uint8_t)(i / 3);
            break;
        case 5: /* the second byte of a ramp: runs */
            p[i] = (uint8_t)(i / 700);
            break;
        case 6: /* repeats from anywhere before */
            p[i] = (uint8_t)(x >> 32);
            if (i > 300 && x % 16 == 0) {
                size_t from = (size_t)((x >> 8) % (i - 40)), len = 3 + (size_t)(x >> 60) * 4;
                for (; len > 0 && i < n; len--) {
                    p[i++] = p[from++];
                }
                i--;
            }
            break;
        case 7: /* random, then regular */
            p[i] = i < n / 3 ? (uint8_t)(x >> 32) : (uint8_t)(i >> 4);
            break;
        case 8: /* words */
            p[i] = (uint8_t) "the quick brown fox jumps over it "[(i + (i >> 5) * 7) % 34];
            break;
        case 9: /* items of eight bytes, six of which stay the same */
            p[i] = i % 8 < 2 || i < 8 ? (uint8_t)(x >> 32) : p[i - 8];
            break;
        case 10: /* many short repeats */
            p[i] = (uint8_t) "abcd"[(x >> 33 & 1) + (i > 9 && p[i - 9] != 'a')];
            break;
        case 11: /* one value */
            p[i] = 7;
            break;
        case SHORT_RUNS:
            p[i] = i == 0 || x % 16 == 0 ? (uint8_t)(x >> 32) : p[i - 1];
            break;
        case NUMBERS:
            p[i] = (uint8_t)(i % 4 == 0 ? i / 4 : i % 4 == 1 ? i / 65536 : 0);
            break;
        default: /* records: fixed texts with numbers in them */
            p[i] = i % 32 < 24 ? (uint8_t) "temperature=____;station"[i % 32]
                               : (uint8_t)('0' + x % 10);
            break;
        }
    }
}

/* Items of eight bytes, which repeat their high ones. */
static inline void generate_stamps(uint8_t *p, size_t n, uint64_t *r)
{
    uint64_t stamp = 1700000000000000;
    for (size_t i = 0; i < n; i++) {
        stamp += i % 8 == 0 ? 900 + (harness_random(r) >> 20) % 200 : 0;
        p[i] = (uint8_t)(stamp >> i % 8 * 8);
    }
}

/*
 * The last bytes of n become noise, but for those at the end, which are as 'period' bytes before.
 */
static inline void end_with_match(uint8_t *p, size_t n, size_t nnoise, size_t len, size_t period,
                                  uint64_t *r)
{
    for (size_t i = n - nnoise - len; i < n; i++) {
        p[i] = i < n - len ? (uint8_t)(harness_random(r) >> 20) : p[i - period];
    }
}

/*
 * One value, but for single bytes, so many in a thousand or twice as many, by the seed; which may
 * be another in the second half, and have none in the middle.
 */
static inline void generate_sparse(uint8_t *p, size_t n, unsigned density, uint64_t seed)
{
    const uint8_t value = seed % 3 == 0 ? 0 : (uint8_t)seed;
    const uint64_t most = density * (1 + seed % 2);
    uint64_t r = seed + 1;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = harness_random(&r) >> 20;
        p[i] = x % 1000 < most ? (uint8_t)(x >> 10) : i < n / 2 || seed % 5 > 0 ? value : 9;
    }
    if (seed % 7 < 3) {
        memset(p + n / 3, value, n / 3);
    }
}

/*
 * Values by frequency, one independent of the other, so that there are no matches but by chance.
 * shift is added to all.
 */
enum { AROUND_MEAN, FEW_VALUES, HALF_ZEROS, MANY_VALUES, NVALUES };

static inline void generate_values(uint8_t *p, size_t n, int kind, unsigned shift, uint64_t *seed)
{
    static const uint8_t few[16] = { [8] = 1, 1, 1, 1, 2, 2, 3, 4 };
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = harness_random(seed) >> 20;
        const unsigned a = x & 15, b = x >> 4 & 15, c = x >> 8 & 15, d = x >> 12 & 255;
        const unsigned values[NVALUES] = { [AROUND_MEAN] = a + b + c,
                                           [FEW_VALUES] = few[a],
                                           [HALF_ZEROS] = a < 8 ? 0 : d,
                                           [MANY_VALUES] = d * d / 512 };
        p[i] = (uint8_t)(values[kind] + shift);
    }
}

#endif
