/*
 * blosclz_enc.c: the BloscLZ encoder.  The stream is described in blosclz_dec.c.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A look at a part of the stream tells whether it is worth decoding; if so, the search of all our
 * encoders finds the matches, or one of its own if that part is of words.
 */
#include "lz.h"

enum {
    LOOK_HASH_LOG = 13,  /* a table that fits the L1 cache: most steps store to it */
    MIN_LOOK = 2048,     /* bytes of a first look, if there are so many */
    SMALL_LOOK = 1024,   /* up to so many bytes, clearing that would take most of the time: */
    SMALL_HASH_LOG = 11, /* a smaller one */
    LOOK_LEN = 8,        /* shortest near match that it counts: others decode too slowly, */
    ITEM_LEN = 7,        /* unless those of small numbers, which share that with the next one, */
    LEAST_SAVED = 3,     /* save a third of what a shorter look covers, */
    ITEM_LEVEL = 3,      /* from this level on */
    TO_HALF = 200,       /* hundredths */
    SOON_DONE = 4096,    /* these are soon searched, also at low levels: */
    LEAST_LEVEL = 4,     /* like at this one */
    MIN_LEN = 16,        /* shorter inputs cannot gain */
    LZ_MAX_DISTANCE = 73724, /* the format has 73727; other encoders stop here */
    LZ_LAST_LITERALS = 1,
    LZ_PREFERS_RUNS = 0,
    LZ_HAS_DICTS = 0,
    LZ_HAS_BRIEF = 0,
    LZ_HAS_SPARSE = 1,
    LZ_SPARSE_DISTANCE = 8191, /* what is farther takes two more bytes */
    LZ_AVOIDS_NEAR = 0,        /* it gains nothing */
    LZ_MAX_MORE = 0,
    FAR_BASE = 8191, /* distance - 1 of the smallest far match */
    MAX_RUN = 32,    /* literals per control byte */
    MIN_LONG = 9,    /* bytes of a match from which on its length needs more than three bits, */
    MAX_SHORT = MIN_LONG + 255, /* and more than another byte */
    SHORT = 1 + MAX_RUN + 8,    /* room for a sequence of no more, and a short match */
    FIRST_MARK = 0x20           /* encoders set it in the first byte, decoders ignore it */
};

/* Of texts at level 1. */
enum {
    WORD_STEP = 6,                       /* between the positions where words are looked for */
    MIN_WORD = LOOK_LEN + WORD_STEP - 1, /* so that all are found from here on */
    MAX_WORD = 63,
    MIN_WORDS = 256,      /* bytes of words that a look must find */
    LONG_TEXT = 24 * 1024 /* from here on, there is more to gain from shorter matches */
};

/* Bytes that n literals take. */
static inline size_t literals_len(size_t n)
{
    return n + (n + MAX_RUN - 1) / MAX_RUN;
}

/* Where the output goes. */
typedef struct lz_sink {
    uint8_t *op, *op_end;              /* the stream must not reach beyond */
    const uint8_t *op_fast, *src_fast; /* before these, wide copies may be made */
} lz_sink;

static inline size_t lz_cost(const lz_sink *s)
{
    return (size_t)(uintptr_t)s->op;
}

/* n literals; there is room for them. */
static inline uint8_t *put_literals(uint8_t *op, const uint8_t *from, size_t n)
{
    for (; n >= MAX_RUN; n -= MAX_RUN) {
        *op++ = MAX_RUN - 1;
        memcpy(op, from, MAX_RUN);
        op += MAX_RUN;
        from += MAX_RUN;
    }
    if (n > 0) {
        *op++ = (uint8_t)(n - 1);
        memcpy(op, from, n);
        op += n;
    }
    return op;
}

/* The high bits of a distance less 1, in the control byte. */
static inline size_t high_bits(size_t d)
{
    return d >= FAR_BASE ? 31 : d >> 8;
}

/* The rest of it; writes three bytes even where it takes one. */
static inline uint8_t *put_distance(uint8_t *op, size_t d)
{
    const size_t is_far = d >= FAR_BASE;
    op[0] = (uint8_t)(is_far ? 255 : d);
    b2i_st16be(op + 1, (uint16_t)(d - FAR_BASE));
    return op + 1 + 2 * is_far;
}

/* Any sequence.  Returns where it ends, or NULL when it does not fit. */
static B2I_LZ_APART uint8_t *put_any(uint8_t *op, const uint8_t *op_end, const uint8_t *anchor,
                                     size_t nlit, size_t len, size_t distance)
{
    if (literals_len(nlit) + 4 + len / 255 + 1 > (size_t)(op_end - op)) {
        return NULL;
    }
    op = put_literals(op, anchor, nlit);
    if (len < MIN_LONG) {
        *op++ = (uint8_t)((len - 2) << 5 | high_bits(distance - 1));
    } else {
        size_t more = len - MIN_LONG;
        *op++ = (uint8_t)(7 << 5 | high_bits(distance - 1));
        for (; more >= 255; more -= 255) {
            *op++ = 255;
        }
        *op++ = (uint8_t)more;
    }
    return put_distance(op, distance - 1);
}

/* A match of less than MAX_SHORT bytes, without a branch. */
static inline uint8_t *put_short_match(uint8_t *op, size_t len, size_t distance)
{
    const size_t is_long = len >= MIN_LONG;
    op[0] = (uint8_t)((is_long ? 7 : len - 2) << 5 | high_bits(distance - 1));
    op[1] = (uint8_t)(len - MIN_LONG);
    return put_distance(op + 1 + is_long, distance - 1);
}

B2I_LZ_TEMPLATE bool lz_put(lz_sink *s, const uint8_t *anchor, const uint8_t *p, size_t len,
                            size_t distance)
{
    const size_t nlit = (size_t)(p - anchor);
    uint8_t *op = s->op;
    if (nlit > MAX_RUN || len >= MAX_SHORT || op >= s->op_fast || anchor >= s->src_fast) {
        s->op = put_any(op, s->op_end, anchor, nlit, len, distance);
        return s->op != NULL;
    }
    op[0] = (uint8_t)(nlit - 1);
    memcpy(op + 1, anchor, MAX_RUN / 2);
    if (nlit > MAX_RUN / 2) {
        memcpy(op + 1 + MAX_RUN / 2, anchor + MAX_RUN / 2, MAX_RUN / 2);
    }
    s->op = put_short_match(op + nlit + (nlit > 0), len, distance);
    return true;
}

B2I_LZ_TEMPLATE bool lz_put_match(lz_sink *s, const uint8_t *p, size_t len, size_t distance)
{
    if (len >= MAX_SHORT || s->op >= s->op_fast) {
        s->op = put_any(s->op, s->op_end, p, 0, len, distance);
        return s->op != NULL;
    }
    s->op = put_short_match(s->op, len, distance);
    return true;
}

#include "lz_search.h"

/*
 * The search for short texts of repeated words: matches of eight bytes and more, in large steps,
 * and no runs.  The fewer and longer the matches are, the faster they are found, and decoded.
 */
static B2I_LZ_APART bool search_words(search *state, const uint8_t *end)
{
    enum { STEP_LOG = 16, LONGER = 1 << 12, FIRST_STEP = WORD_STEP << STEP_LOG };
    search c = *state;
    const positions in = c.positions;
    uint32_t *table = c.t->far;
    const uint8_t *p = c.p, *match_end = c.src_end - LZ_LAST_LITERALS;
    uint32_t step = 1, next_step = FIRST_STEP;
    while (p < end) {
        const uint8_t *q, *next = p;
        uint64_t word, next_word = b2i_ld64le(p);
        uint32_t *slot = &table[b2i_lz_hash(next_word, LOOK_LEN, HASH_LOG)];
        do { /* the next word is on its way while this one is compared */
            p = next;
            word = next_word;
            const uint32_t last = *slot;
            *slot = position(&in, p);
            q = (const uint8_t *)(in.origin + (last < in.lowest ? in.lowest : last));
            next += step;
            step = next_step >> STEP_LOG;
            next_step += LONGER;
            if (next >= end) {
                goto done;
            }
            next_word = b2i_ld64le(next);
            slot = &table[b2i_lz_hash(next_word, LOOK_LEN, HASH_LOG)];
        } while (b2i_ld64le(q) != word);
        const size_t distance = (size_t)(p - q), back = equal_before(&c, p, distance);
        const size_t len = LOOK_LEN + b2i_lz_equal(p + LOOK_LEN, q + LOOK_LEN, match_end);
        if (!lz_put(&c.sink, c.anchor, p - back, back + len, distance)) {
            return false;
        }
        p += len;
        c.anchor = p;
        step = WORD_STEP;
        next_step = FIRST_STEP;
        if (p < end) {
            table[b2i_lz_hash(b2i_ld64le(p - 2), LOOK_LEN, HASH_LOG)] = position(&in, p - 2);
        }
    }
done:
    *state = c;
    return true;
}

/* What a first look must find. */
typedef struct look {
    uint8_t at;          /* eighths of the stream before what it covers */
    uint8_t log;         /* of the bytes that it covers, up to 64 KiB */
    uint8_t least_ratio; /* hundredths: with less in that look, there is a second one */
    uint8_t again_at;    /* eighths of the stream before what that covers */
} look;

/*
 * Streams that shrink little are not worth the time that decoding takes, for raw bytes are read
 * some ten times faster: so the lower the level, the more a first look must find.  Where it looks
 * is where the reference's encoder looks, which leaves the same streams raw.
 */
static const look looks[B2I_MAX_CLEVEL + 1] = {
    { 0, 0, 0, 0 },    { 7, 12, 200, 4 }, { 6, 13, 150, 3 }, { 6, 14, 120, 3 }, { 4, 14, 120, 1 },
    { 4, 14, 120, 1 }, { 4, 14, 120, 1 }, { 0, 14, 115, 4 }, { 0, 14, 110, 4 }, { 0, 14, 100, 4 },
};

/* The bytes of all matches that a look saw, and of those that are words. */
typedef struct sight {
    size_t matches, words;
} sight;

/* Whether words are nearly all that repeats. */
static inline bool is_text(const sight *seen)
{
    return seen->words >= MIN_WORDS && seen->words >= seen->matches - seen->matches / 5;
}

/* Whether eight bytes are what texts consist of: 9 to 127. */
static inline bool are_letters(uint64_t word)
{
    const uint64_t each = 0x0101010101010101U;
    return ((word | (word - 9 * each)) & (each << 7)) == 0;
}

/* Without a high gear: in what passed the look, the low one is as fast and makes less. */
static const level levels[B2I_MAX_CLEVEL + 1] = {
    { { 0, 0 }, { 0, 0 }, 0, 0, { 0, 0 } },       /* none */
    { { 0, 0 }, { 4, 1 }, 6, NO_HIGH, { 0, 0 } }, /* 1 */
    { { 0, 0 }, { 4, 1 }, 6, NO_HIGH, { 0, 0 } }, /* 2 */
    { { 0, 0 }, { 4, 1 }, 6, NO_HIGH, { 0, 0 } }, /* 3 */
    { { 0, 0 }, { 5, 1 }, 5, NO_HIGH, { 0, 0 } }, /* 4 */
    { { 0, 0 }, { 5, 1 }, 5, NO_HIGH, { 0, 0 } }, /* 5 */
    { { 0, 0 }, { 5, 1 }, 5, NO_HIGH, { 0, 0 } }, /* 6 */
    { { 0, 0 }, { 6, 1 }, 5, NO_HIGH, { 0, 0 } }, /* 7 */
    { { 0, 0 }, { 6, 1 }, 5, NO_HIGH, { 0, 0 } }, /* 8 */
    { { 0, 0 }, { 7, 1 }, 5, NO_HIGH, { 0, 0 } }, /* 9 */
};

/*
 * For streams that only the second look found worth it: the high gear alone.  They are rows that
 * repeat, and noise; short matches would save little and take half of the time of decoding.
 */
static const level late = { { 4, 2 }, { 0, 0 }, 0, NO_HIGH, { 0, 0 } };

/*
 * Whether n bytes would shrink to 'limit' with the matches of min_len <= 8 and more that a plain
 * greedy search finds.  Looks no further than it takes to know.
 */
static bool shrinks(const uint8_t *p, size_t n, size_t min_len, size_t limit, sight *seen)
{
    uint16_t places[1 << LOOK_HASH_LOG];
    const unsigned hash_log = n > SMALL_LOOK ? LOOK_HASH_LOG : SMALL_HASH_LOG;
    size_t at = 1, size = 0, anchor = 0, end = n > SEARCH_END ? n - SEARCH_END : 0;
    size_t stop = limit < end ? limit + 1 : end; /* so many literals are too many */
    memset(places, 0, sizeof *places << hash_log);
    while (at < stop) {
        uint64_t word = b2i_ld64le(p + at);
        uint16_t *slot = &places[((uint32_t)word * 2654435761U) >> (32 - hash_log)];
        size_t from = *slot;
        *slot = (uint16_t)at;
        if ((b2i_ld64le(p + from) ^ word) << (64 - 8 * min_len) != 0) {
            at++;
            continue;
        }
        bool far = at - from > FAR_BASE;
        size_t match = min_len + b2i_lz_equal(p + at + min_len, p + from + min_len, p + n);
        if (match < (far ? min_len + 2 : min_len)) {
            at++;
            continue;
        }
        size += literals_len(at - anchor) + (far ? 4 : 2) + match / 255;
        const bool is_run = at - from == 1;
        const bool is_word = !is_run && are_letters(word) && match >= MIN_WORD && match <= MAX_WORD;
        seen->matches += match;
        seen->words += is_word ? match : 0;
        at += match;
        anchor = at;
        if (size + literals_len(n - at) <= limit) {
            return true;
        }
        if (size > limit) {
            return false;
        }
        stop = at < end && limit - size < end - at ? at + (limit - size) + 1 : end;
    }
    return size + literals_len(n - anchor) <= limit;
}

/*
 * Whether bytes stay for eight or more, and then rise or fall by the same, as those of evenly
 * spaced numbers do: they are the same ones again 256 steps later, which a look may be too short to
 * see.
 */
static bool are_stairs(const uint8_t *p, size_t n)
{
    const size_t most = n / 8, most_others = most / 16;
    uint8_t step = 0;
    size_t nsteps = 0, nothers = 0;
    for (size_t i = 1; i < n && nsteps <= most && nothers <= most_others; i++) {
        const uint8_t d = (uint8_t)(p[i] - p[i - 1]);
        step = step == 0 ? d : step;
        nsteps += d != 0;
        nothers += d != 0 && d != step;
    }
    return nsteps <= most && nothers <= most_others;
}

/*
 * The size that a stream must shrink to, 0 when that is not likely, after a look at one place, and
 * a shorter one at another for streams that begin with noise, or end with it, and are very regular
 * elsewhere: half of them, at least.  Of short streams that would have to become half as long, a
 * regular end is enough: it is all that the reference looks at.
 */
static size_t worth(int clevel, const uint8_t *src, size_t n, sight *seen)
{
    const look *at = &looks[clevel];
    size_t left = n - n / 8 * at->at, len = (size_t)1 << at->log;
    left = left > MIN_LOOK ? left : n < MIN_LOOK ? n : MIN_LOOK;
    len = len < left ? len : left;
    const uint8_t *first = src + n - left;
    if (shrinks(first, len, LOOK_LEN, len * 100 / at->least_ratio, seen)) {
        return n - 1;
    }
    const size_t part = len / 4;
    if (clevel >= ITEM_LEVEL && shrinks(first, part, ITEM_LEN, part - part / LEAST_SAVED, seen)) {
        return n - 1;
    }
    if (at->least_ratio >= TO_HALF && n >= MIN_LOOK && n <= SOON_DONE &&
        shrinks(src + n - n / 8, n / 8, LOOK_LEN, n / 8 / 3, seen)) {
        return n - 1;
    }
    if (at->least_ratio >= TO_HALF && are_stairs(first, len)) {
        return n - 1;
    }
    return shrinks(src + n / 8 * at->again_at, part, LOOK_LEN, part / 3, seen) ? n / 2 : 0;
}

b2c_status b2i_blosclz_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len)
{
    (void)dict;
    *out_len = 0;
    if (n < MIN_LEN || n > UINT32_MAX / 2) {
        return B2C_OK;
    }
    b2i_lz_table *t = b2i_lz_begin(state, n);
    if (t == NULL) {
        return B2C_E_MEMORY;
    }
    sight seen = { 0, 0 };
    size_t limit = worth(clevel, src, n, &seen);
    if (limit == 0) {
        return B2C_OK;
    }
    const bool is_late = limit == n / 2;
    limit = limit < cap ? limit : cap;
    const lz_sink sink = { .op = dst,
                           .op_end = dst + limit,
                           .op_fast = dst + (limit < SHORT ? 0 : limit - SHORT),
                           .src_fast = src + (n < MAX_RUN ? 0 : n - MAX_RUN) };
    search s = search_begin(t, src, n, sink);
    s.made = state->made;
    const uint8_t *stop = search_end(&s);
    const level *lv = &levels[n > SOON_DONE || clevel > LEAST_LEVEL ? clevel : LEAST_LEVEL];
    const bool is_short_text = n < LONG_TEXT && is_text(&seen);
    const bool fits = is_late                        ? search_high(&s, &late, stop)
                      : clevel == 1 && is_short_text ? search_words(&s, stop)
                                                     : search_all(&s, lv, stop);
    b2i_lz_end(t, n);
    const size_t rest = (size_t)(s.src_end - s.anchor);
    if (!fits || literals_len(rest) > (size_t)(s.sink.op_end - s.sink.op)) {
        return B2C_OK;
    }
    const uint8_t *end = put_literals(s.sink.op, s.anchor, rest);
    dst[0] |= FIRST_MARK;
    *out_len = (size_t)(end - dst);
    return B2C_OK;
}
