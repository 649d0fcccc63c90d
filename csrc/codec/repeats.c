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
    ONE_BIT = 256,     /* bits are counted in so many parts */
    MATCH_BITS = 24,   /* what a match takes, about */
    WORD_LOW = 0x9E37, /* factors of the halves of a word, for a hash of 16 bits */
    WORD_HIGH = 0x79B1,
    PICKED = 0x2500, /* words whose hashes begin so are picked: not zeros */
    STRIDE = 64,
    TABLE_LOG = 12,
    NPIECES = 64,       /* that bytes are counted in */
    CODES_SUFFICE = 128 /* where matches save no more than such a part */
};

/* The logarithm of n > 0 to base 2 in parts of a bit, up to 2 of them too small. */
static uint32_t log2_of(uint32_t n)
{
#if defined(__GNUC__)
    const unsigned whole = 31 - (unsigned)__builtin_clz(n);
#else
    unsigned whole = 0;
    while (n >> whole > 1) {
        whole++;
    }
#endif
    uint32_t part = (uint32_t)((uint64_t)n * ONE_BIT >> whole) - ONE_BIT;
    return whole * ONE_BIT + part + (part * (ONE_BIT - part) * 88 >> 16);
}

/* b2i_entropy() in parts of a bit. */
static uint64_t entropy(const uint32_t *counts, size_t n)
{
    uint64_t total = 0, bits = 0;
    for (size_t i = 0; i < n; i++) {
        total += counts[i];
        bits += counts[i] == 0 ? 0 : (uint64_t)counts[i] * log2_of(counts[i]);
    }
    return total == 0 ? 0 : total * log2_of((uint32_t)total) - bits;
}

uint64_t b2i_entropy(const uint32_t *counts, size_t n)
{
    return entropy(counts, n) / ONE_BIT;
}

/* Adds to counts the bytes of p, in table k those whose places leave k when divided by four. */
static void count_bytes(const uint8_t *p, size_t n, uint32_t counts[4][256])
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) { /* the same value again does not wait for the last one */
        counts[0][p[i]]++;
        counts[1][p[i + 1]]++;
        counts[2][p[i + 2]]++;
        counts[3][p[i + 3]]++;
    }
    for (; i < n; i++) {
        counts[i % 4][p[i]]++;
    }
}

/* How often each value is in n bytes. */
static uint32_t count_of(uint32_t counts[4][256], size_t value)
{
    return counts[0][value] + counts[1][value] + counts[2][value] + counts[3][value];
}

/*
 * Counts the bytes of NPIECES pieces of len <= n bytes.  They are an odd number of bytes apart, so
 * that not all are of the same columns, of which rows have 64 or the like.
 */
static void count_pieces(const uint8_t *src, size_t n, size_t len, uint32_t counts[4][256])
{
    const size_t most = (n - len) / (NPIECES - 1), step = most - (most > 0 && most % 2 == 0);
    for (size_t i = 0; i < NPIECES; i++) {
        count_bytes(src + step * i, len, counts);
    }
}

/* The entropy of a byte by the bytes in some pieces. */
static uint32_t bits_of_byte(const uint8_t *src, size_t n)
{
    enum { MAX_LEN = 64 };
    uint32_t counts[4][256] = { { 0 } }, all[256];
    const size_t len = n < NPIECES * MAX_LEN ? n / NPIECES : MAX_LEN;
    count_pieces(src, n, len, counts);
    for (size_t i = 0; i < 256; i++) {
        all[i] = count_of(counts, i);
    }
    return len == 0 ? 0 : (uint32_t)(entropy(all, 256) / (NPIECES * len));
}

/* b2i_is_flat() of n bytes that were counted. */
static bool are_flat(uint32_t counts[4][256], size_t n, unsigned part)
{
    enum { BY_CHANCE = 255 + 3 * 22 }; /* chi-squared of equal frequencies and 256 values */
    uint64_t squares = 0;
    for (size_t i = 0; i < 256; i++) {
        const uint64_t count = count_of(counts, i);
        squares += count * count;
    }
    /* chi-squared times n; a code for so uneven values saves 0.72 bits for each 1 of it */
    return 256 * squares - (uint64_t)n * n <= n * (BY_CHANCE + (uint64_t)n * 11 / part);
}

bool b2i_looks_flat(const uint8_t *src, size_t n)
{
    enum { LEN = 16, PART = 256, MOST_TWICE = 16, PERIOD = 256 };
    uint32_t counts[4][256];
    uint64_t seen[4] = { 0 };
    size_t ntwice = 0;
    /* What most streams are that are not flat is seen at once: few values, and those that rise. */
    if (n < NPIECES * LEN || b2i_ld64le(src) == b2i_ld64le(src + PERIOD)) {
        return false;
    }
    for (size_t i = 0; i < NPIECES; i++) {
        const uint8_t value = src[n / NPIECES * i];
        ntwice += seen[value / 64] >> value % 64 & 1;
        seen[value / 64] |= (uint64_t)1 << value % 64;
    }
    if (ntwice > MOST_TWICE) {
        return false;
    }
    memset(counts, 0, sizeof counts);
    count_pieces(src, n, LEN, counts);
    return are_flat(counts, NPIECES * LEN, PART);
}

bool b2i_is_flat(const uint8_t *src, size_t n, unsigned part)
{
    uint32_t counts[4][256] = { { 0 } };
    if (n >> 28 != 0) {
        return false;
    }
    count_bytes(src, n, counts);
    return are_flat(counts, n, part);
}

/*
 * Which of the words that start at STRIDE bytes are looked at, a bit each: one in 2^log, the same
 * wherever it occurs.
 */
#if defined(__SSE2__)
static inline uint64_t pick(const uint8_t *p, const unsigned log)
{
    const __m128i low = _mm_set1_epi16((short)WORD_LOW), high = _mm_set1_epi16((short)WORD_HIGH);
    const __m128i wanted = _mm_set1_epi16((short)(PICKED >> (16 - log)));
    const __m128i even = _mm_set1_epi16(0xff);
    uint64_t picked = 0;
    for (size_t i = 0; i < STRIDE; i += 16) {
        __m128i is[2]; /* words that start at even places, and at odd ones */
        for (size_t k = 0; k < 2; k++) {
            const __m128i a = _mm_loadu_si128((const __m128i *)(p + i + k));
            const __m128i b = _mm_loadu_si128((const __m128i *)(p + i + k + 2));
            const __m128i hash = _mm_add_epi16(_mm_mullo_epi16(a, low), _mm_mullo_epi16(b, high));
            is[k] = _mm_cmpeq_epi16(_mm_srli_epi16(hash, 16 - (int)log), wanted);
        }
        const __m128i all = _mm_or_si128(_mm_and_si128(is[0], even), _mm_andnot_si128(even, is[1]));
        picked |= (uint64_t)(unsigned)_mm_movemask_epi8(all) << i;
    }
    return picked;
}
#else
static inline uint64_t pick(const uint8_t *p, const unsigned log)
{
    uint64_t picked = 0;
    for (size_t i = 0; i < STRIDE; i++) {
        const uint32_t low = b2i_ld16le(p + i), high = b2i_ld16le(p + i + 2);
        const uint16_t hash = (uint16_t)(low * WORD_LOW + high * WORD_HIGH);
        picked |= (uint64_t)(hash >> (16 - log) == PICKED >> (16 - log)) << i;
    }
    return picked;
}
#endif

static uint64_t cost_of(const uint8_t *p, size_t n, const uint16_t *costs)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += costs[p[i]];
    }
    return sum;
}

static uint64_t key_of(const uint8_t *p, size_t len)
{
    return len == 4 ? b2i_ld32le(p) : b2i_ld64le(p) * 0x9E3779B185EBCA87U + b2i_ld64le(p + 8);
}

/*
 * Whether matches of min_len bytes, 4 or 16, or more save so many parts of a bit, given what values
 * cost, or NULL: all as much as they do on average.  Looks for those that begin with one word in
 * 2^log.
 */
B2I_LZ_TEMPLATE bool picked_save(const uint8_t *src, size_t n, size_t min_len, unsigned log,
                                 const uint16_t *costs, uint64_t enough)
{
    const unsigned hashed = min_len < 8 ? 4 : 8;
    uint32_t last[1 << TABLE_LOG] = { 0 }, bits = 0;
    uint64_t saved = 0;
    size_t behind = 0; /* the last match */
    for (size_t from = 0; from + STRIDE + min_len + 4 <= n; from += STRIDE) {
        for (uint64_t left = pick(src + from, log); left != 0; left &= left - 1) {
            const size_t at = from + b2i_lz_lowest_bit(left);
            const uint8_t *p = src + at;
            uint32_t *slot = &last[b2i_lz_hash(key_of(p, min_len), hashed, TABLE_LOG)];
            const uint8_t *q = src + *slot;
            *slot = (uint32_t)at;
            if (memcmp(p, q, min_len) != 0 || p == q || at < behind) {
                continue;
            }
            const size_t len = min_len + b2i_lz_equal(p + min_len, q + min_len, src + n);
            behind = at + len;
            if (costs == NULL && bits == 0) {
                bits = bits_of_byte(src, n);
            }
            const uint64_t literals = costs != NULL ? cost_of(p, len, costs) : (uint64_t)len * bits;
            saved += literals > MATCH_BITS * ONE_BIT ? literals - MATCH_BITS * ONE_BIT : 0;
            if (saved > enough) {
                return true;
            }
        }
    }
    return false;
}

/* b2i_short_matches_save(), given what values cost, or NULL. */
static bool short_save(const uint8_t *src, size_t n, size_t nbytes, const uint16_t *costs)
{
    enum { SHORT = 4, LOG = 8 };
    return picked_save(src, n, SHORT, LOG, costs, (uint64_t)nbytes * 8 * ONE_BIT >> LOG);
}

bool b2i_short_matches_save(const uint8_t *src, size_t n, size_t nbytes)
{
    return short_save(src, n, nbytes, NULL);
}

/*
 * What each value takes when it is coded by its frequency in pieces of src, a bit at least. Returns
 * the entropy of a byte, or 0 where a value is so frequent that a whole bit is much too long for
 * it.
 */
static uint32_t costs_of_bytes(const uint8_t *src, size_t n, uint16_t costs[256])
{
    enum { LEN = 16, TOTAL = NPIECES * LEN, TOTAL_LOG = 10, TOO_FREQUENT = TOTAL / 16 * 9 };
    uint32_t counts[4][256] = { { 0 } }, bits = 0;
    count_pieces(src, n, LEN, counts);
    for (size_t i = 0; i < 256; i++) {
        const uint32_t count = count_of(counts, i);
        const uint32_t cost = TOTAL_LOG * ONE_BIT - (count > 0 ? log2_of(count) : 0);
        if (count > TOO_FREQUENT) {
            return 0;
        }
        costs[i] = (uint16_t)(cost < ONE_BIT ? ONE_BIT : cost);
        bits += count * cost;
    }
    return bits / TOTAL;
}

/* How often values are in groups of bytes. */
typedef struct groups {
    uint32_t sums[256];
    uint64_t squares[256]; /* the sums of them */
} groups;

static void add_count(groups *of, size_t value, uint64_t count)
{
    of->sums[value] += (uint32_t)count;
    of->squares[value] += count * count;
}

/*
 * How many bits codes that know the group would save: by chi-squared, each 1 of which is about
 * 0.72 bits, but for so much for each value.
 */
static uint64_t saved_by_groups(const groups *of, size_t ngroups, uint64_t by_chance)
{
    uint64_t chi_squared = 0;
    for (size_t i = 0; i < 256; i++) {
        const uint64_t sum = of->sums[i];
        const uint64_t found = sum > 0 ? ngroups * of->squares[i] / sum - sum : 0;
        chi_squared += found > by_chance ? found - by_chance : 0;
    }
    return chi_squared * 72 / 100;
}

/* Whether parts of src would take clearly less with codes of their own. */
static bool varies(const uint8_t *src, size_t n, uint32_t bits)
{
    enum { MIN_PARTS = 4, MAX_PART = 8192, CODES = 80 * 8 };
    const size_t nparts = n / MAX_PART < MIN_PARTS ? MIN_PARTS : n / MAX_PART, len = n / nparts;
    groups parts = { 0 };
    for (size_t k = 0; k < nparts; k++) {
        uint32_t counts[4][256] = { { 0 } };
        count_bytes(src + len * k, len, counts);
        for (size_t i = 0; i < 256; i++) {
            add_count(&parts, i, count_of(counts, i));
        }
    }
    return saved_by_groups(&parts, nparts, 0) >
           nparts * CODES + (uint64_t)n * bits / (CODES_SUFFICE * ONE_BIT);
}

/*
 * What a greedy search for matches of three bytes and more saves of len bytes at src + at, given
 * what their values cost.  Looks back as far as 'last' knows.
 */
static uint64_t saved_by_matches(const uint8_t *src, size_t at, size_t len, uint32_t *last,
                                 const uint16_t *costs)
{
    enum { SAME = 3, OTHER = 12 }; /* bits, without those of the distance, of all but its first */
    const size_t end = at + len;
    size_t distance = 0, behind = 0;
    uint64_t saved = 0;
    while (at + 4 <= end) {
        const uint32_t word = b2i_ld32le(src + at);
        uint32_t *slot = &last[b2i_lz_hash(word, 3, TABLE_LOG)];
        const size_t then = *slot;
        *slot = (uint32_t)at;
        if (at == then || (b2i_ld32le(src + then) ^ word) << 8 != 0) {
            at++;
            continue;
        }
        const size_t n = 3 + b2i_lz_equal(src + at + 3, src + then + 3, src + end);
        const bool is_same = at - then == distance && at >= behind; /* often so in items */
        distance = at - then;
        behind = at + n;
        const uint64_t literals = cost_of(src + at, n, costs);
        const uint32_t cost =
            is_same ? SAME * ONE_BIT : OTHER * ONE_BIT + log2_of((uint32_t)distance);
        if (literals > cost) {
            saved += literals - cost;
            at += n;
        } else {
            at++;
        }
    }
    return saved;
}

/*
 * Whether long matches or runs save a part of what src takes, given what its values cost and that
 * they take so many bits on average.  Of few values the last place of a shorter word is one by
 * chance, however far back a long match begins.
 */
static bool long_save(const uint8_t *src, size_t n, const uint16_t *costs, uint32_t bits)
{
    enum { LONG = 16, LOG = 6 };
    const uint64_t enough = (uint64_t)n * bits / CODES_SUFFICE;
    uint64_t saved = 0;
    for (const uint8_t *p = src; p + LONG < src + n && saved <= enough; p += LONG) {
        if (b2i_lz_difference(p, p + 1) == 0 && b2i_lz_difference(p + 8, p + 9) == 0) {
            saved += LONG * (uint64_t)costs[*p];
        }
    }
    return saved > enough || picked_save(src, n, LONG, LOG, costs, enough - saved);
}

/*
 * Whether frequencies depend on the place by so much that knowing it would save a 64th, as in
 * items that were not shuffled: of integers, matches find some of that.
 */
static bool has_items(const uint8_t *src, size_t n, uint32_t bits)
{
    enum { MAX_LEN = 4096, PART = 64 };
    const size_t len = n < MAX_LEN ? n : MAX_LEN;
    const uint8_t *p = src + (n - len) / 2;
    uint32_t counts[4][256] = { { 0 } };
    groups places = { 0 };
    count_bytes(p, len, counts);
    for (size_t i = 0; i < 256; i++) {
        for (size_t k = 0; k < 4; k++) {
            add_count(&places, i, counts[k][i]);
        }
    }
    return saved_by_groups(&places, 4, 3) > (uint64_t)len * bits / (PART * ONE_BIT);
}

bool b2i_codes_suffice(const uint8_t *src, size_t n, unsigned least)
{
    enum { HIGH = 6 * ONE_BIT, MOST = 31 * ONE_BIT / 4, NPLACES = 8, LEN = 512 };
    uint32_t last[1 << TABLE_LOG] = { 0 };
    uint16_t costs[256];
    if (n < NPLACES * LEN || n >> 24 != 0) {
        return false;
    }
    const uint32_t bits = costs_of_bytes(src, n, costs);
    uint64_t saved = 0;
    if (bits < least * ONE_BIT / 8 || bits > MOST) {
        return false;
    }
    if (bits < HIGH && has_items(src, n, bits)) { /* floats take more */
        return false;
    }
    for (size_t k = 0; k < NPLACES; k++) {
        saved += saved_by_matches(src, (n - LEN) / (NPLACES - 1) * k, LEN, last, costs);
        if (saved * CODES_SUFFICE > NPLACES * LEN * (uint64_t)bits) {
            return false;
        }
    }
    return !short_save(src, n, n / CODES_SUFFICE, costs) && !long_save(src, n, costs, bits) &&
           !varies(src, n, bits);
}

static bool has_enough_matches(const uint8_t *src, size_t n, size_t enough)
{
    enum { LOG = 12, FEW_LOG = 10, FEW = 16384, MAX_STEP = 16 };
    const unsigned log = n <= FEW ? FEW_LOG : LOG; /* clearing it would take most of the time */
    uint32_t last[1 << LOG];
    size_t saved = 0, at = 1, misses = 0;
    memset(last, 0, sizeof *last << log);
    while (at + 8 <= n) {
        const uint64_t word = b2i_ld64le(src + at);
        uint32_t *slot = &last[b2i_lz_hash(word, 6, log)];
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

bool b2i_has_matches(const uint8_t *src, size_t n)
{
    const size_t enough = n / 512, nlast = n / 4; /* in rows of bits, the last ones have most */
    return has_enough_matches(src + n - nlast, nlast, enough) || has_enough_matches(src, n, enough);
}

size_t b2i_short_repeats(const uint8_t *src, size_t n)
{
    enum { LOG = 11, MATCH = 3 }; /* bytes that a match takes */
    uint16_t last[1 << LOG] = { 0 };
    size_t saved = 0;
    for (size_t at = 1; at + 8 <= n;) {
        const uint32_t word = b2i_ld32le(src + at);
        uint16_t *slot = &last[b2i_lz_hash(word, 4, LOG)];
        const uint8_t *q = src + *slot;
        *slot = (uint16_t)at;
        if (b2i_ld32le(q) != word) {
            at++;
            continue;
        }
        const size_t len = 4 + b2i_lz_equal(src + at + 4, q + 4, src + n);
        saved += len - MATCH;
        at += len;
    }
    return saved;
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
