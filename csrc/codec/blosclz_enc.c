/*
 * blosclz_enc.c: the BloscLZ encoder.  The stream is described in blosclz_dec.c.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A greedy search with one hash table of positions.  What makes it fast on
 * shuffled planes: runs of a byte are tried before the table, and positions
 * inside runs do not enter it, so that it keeps the starts of runs and periodic
 * planes line up; and misses make the search step wider.
 */
#include "lz.h"

enum {
    LOOK_HASH_LOG = 13,   /* a table that fits the L1 cache: most steps store to it */
    MIN_LOOK = 2048,      /* bytes of a first look, if there are so many */
    LOOK_LEN = 8,         /* shortest near match that it counts: a word */
    SMALL_STREAM = 65536, /* up to here a smaller table does */
    MIN_LEN = 16,         /* shorter inputs cannot gain */
    MAX_DISTANCE = 73724, /* the format has 73727; other encoders stop here */
    FAR_BASE = 8191,      /* distance - 1 of the smallest far match */
    MAX_RUN = 32,         /* literals per control byte */
    SEARCH_END = 12,      /* no search in the last bytes: hashes and compares read 8 */
    FIRST_MARK = 0x20     /* encoders set it in the first byte, decoders ignore it */
};

typedef struct level {
    uint8_t look_at;        /* eighths of the stream before what a first look covers */
    uint8_t look_log;       /* of the bytes that it covers, up to 64 KiB */
    uint8_t least_ratio;    /* hundredths: with less in that look, there is a second one */
    uint8_t again_at;       /* eighths of the stream before what that covers */
    uint8_t hash_log;       /* of small streams */
    uint8_t hash_log_large; /* of others */
    uint8_t min_near;       /* shortest matches that are taken */
    uint8_t min_far;
    uint8_t skip_log; /* the step grows by one every 2^skip_log misses */
} level;

/*
 * Streams that shrink little are not worth the time that decoding takes, for raw bytes are read
 * some ten times faster: so the lower the level, the more a first look must find.  Where it looks
 * is where the reference's encoder looks, which leaves the same streams raw.
 */
static const level levels[B2I_MAX_CLEVEL + 1] = {
    { 0, 0, 0, 0, 0, 0, 0, 0, 0 },      { 7, 12, 200, 4, 12, 13, 6, 8, 4 },
    { 6, 13, 150, 3, 12, 13, 6, 8, 5 }, { 6, 14, 120, 3, 12, 14, 6, 8, 5 },
    { 4, 14, 120, 1, 12, 14, 5, 8, 5 }, { 4, 14, 120, 1, 12, 14, 5, 7, 5 },
    { 4, 14, 120, 1, 13, 14, 5, 7, 6 }, { 0, 14, 115, 4, 13, 14, 5, 7, 6 },
    { 0, 14, 110, 4, 13, 14, 4, 7, 6 }, { 0, 14, 100, 4, 13, 14, 4, 7, 7 },
};

/* Where the output goes. */
typedef struct sink {
    uint8_t *op;
    const uint8_t *op_end;  /* the stream must not reach beyond */
    const uint8_t *cap_end; /* wide copies may write up to here */
    const uint8_t *src_end; /* and read up to here */
} sink;

static inline size_t hash5(uint64_t word, unsigned hash_log)
{
    return (size_t)(((word << 24) * 889523592379U) >> (64 - hash_log));
}

/* Bytes that n literals take. */
static inline size_t literals_len(size_t n)
{
    return n + (n + MAX_RUN - 1) / MAX_RUN;
}

/* n literals; there is room for them. */
static inline void put_literals(sink *s, const uint8_t *from, size_t n)
{
    uint8_t *op = s->op;
    for (; n >= MAX_RUN; n -= MAX_RUN) {
        *op++ = MAX_RUN - 1;
        memcpy(op, from, MAX_RUN);
        op += MAX_RUN;
        from += MAX_RUN;
    }
    if (n > 0) {
        *op++ = (uint8_t)(n - 1);
        if (s->cap_end - op >= MAX_RUN && s->src_end - from >= MAX_RUN) {
            memcpy(op, from, MAX_RUN);
        } else {
            memcpy(op, from, n);
        }
        op += n;
    }
    s->op = op;
}

/* A match of len >= 3 bytes; there is room for it. */
static inline void put_match(sink *s, size_t len, size_t distance)
{
    uint8_t *op = s->op;
    size_t d = distance - 1;
    bool far = d >= FAR_BASE;
    uint8_t hi = far ? 31 : (uint8_t)(d >> 8);
    len -= 2;
    if (len < 7) {
        *op++ = (uint8_t)(len << 5 | hi);
    } else {
        *op++ = 7 << 5 | hi;
        for (len -= 7; len >= 255; len -= 255) {
            *op++ = 255;
        }
        *op++ = (uint8_t)len;
    }
    if (far) {
        *op++ = 255;
        b2i_st16be(op, (uint16_t)(d - FAR_BASE));
        op += 2;
    } else {
        *op++ = (uint8_t)d;
    }
    s->op = op;
}

/* Literals from 'anchor' to p, then a match.  False when they do not fit. */
static inline bool put_sequence(sink *s, const uint8_t *anchor, const uint8_t *p, size_t len,
                                size_t distance)
{
    size_t nlit = (size_t)(p - anchor);
    size_t need = literals_len(nlit) + 4 + len / 255 + 1;
    if (need > (size_t)(s->op_end - s->op)) {
        return false;
    }
    put_literals(s, anchor, nlit);
    put_match(s, len, distance);
    return true;
}

/*
 * Whether n bytes would shrink to 'limit' with the matches that a plain greedy search finds.
 * Shorter ones decode too slowly to count.  Looks no further than it takes to know.
 */
static bool shrinks(const uint8_t *p, size_t n, size_t limit)
{
    uint16_t places[1 << LOOK_HASH_LOG] = { 0 };
    size_t at = 1, size = 0, anchor = 0, end = n > SEARCH_END ? n - SEARCH_END : 0;
    size_t stop = limit < end ? limit + 1 : end; /* so many literals are too many */
    while (at < stop) {
        uint64_t word = b2i_ld64le(p + at);
        uint16_t *slot = &places[((uint32_t)word * 2654435761U) >> (32 - LOOK_HASH_LOG)];
        size_t from = *slot;
        *slot = (uint16_t)at;
        if (b2i_ld64le(p + from) != word) {
            at++;
            continue;
        }
        bool far = at - from > FAR_BASE;
        size_t match = LOOK_LEN + b2i_lz_equal(p + at + LOOK_LEN, p + from + LOOK_LEN, p + n);
        if (match < (size_t)(far ? LOOK_LEN + 2 : LOOK_LEN)) {
            at++;
            continue;
        }
        size += literals_len(at - anchor) + (far ? 4 : 2) + match / 255;
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
 * The size that a stream must shrink to, 0 when that is not likely, after a look at one place, and
 * a shorter one at another for streams that begin with noise, or end with it, and are very regular
 * elsewhere: half of them, at least.
 */
static size_t worth(const level *lv, const uint8_t *src, size_t n)
{
    size_t left = n - n / 8 * lv->look_at, len = (size_t)1 << lv->look_log;
    left = left > MIN_LOOK ? left : n < MIN_LOOK ? n : MIN_LOOK;
    len = len < left ? len : left;
    if (shrinks(src + n - left, len, len * 100 / lv->least_ratio)) {
        return n - 1;
    }
    len /= 4;
    return shrinks(src + n / 8 * lv->again_at, len, len / 3) ? n / 2 : 0;
}

/*
 * Writes the stream without its last literals.  *rest is where these start.
 * False: it does not fit.
 */
static bool put_sequences(b2i_lz_table *t, const level *lv, const uint8_t *src, size_t n, sink *s,
                          size_t *rest)
{
    const unsigned hash_log = n <= SMALL_STREAM ? lv->hash_log : lv->hash_log_large;
    const unsigned skip_log = lv->skip_log;
    const uint32_t base = t->base;
    const uint8_t *match_end = src + n - 1; /* at least one literal comes last */
    const size_t search_end = n - SEARCH_END;
    size_t anchor = 0, at = 1; /* and one literal comes first */
    uint32_t nmisses = 0;

    while (at < search_end) {
        const uint8_t *p = src + at;
        size_t distance = 1, back = 0;
        if (!b2i_lz_is_run(p)) {
            uint64_t word = b2i_ld64le(p);
            uint32_t *slot = &t->near[hash5(word, hash_log)];
            uint32_t found = *slot;
            *slot = base + (uint32_t)at;
            distance = *slot - found;
            if (found < base || distance > MAX_DISTANCE ||
                b2i_ld32le(p - distance) != (uint32_t)word) {
                at += 1 + (nmisses++ >> skip_log);
                continue;
            }
        }
        size_t len = 4 + b2i_lz_equal(p + 4, p + 4 - distance, match_end);
        size_t max_back = at - anchor < at - distance ? at - anchor : at - distance;
        while (back < max_back && *(p - back - 1) == *(p - back - 1 - distance)) {
            back++;
        }
        if (len + back < (distance > FAR_BASE ? lv->min_far : lv->min_near)) {
            at += 1 + (nmisses++ >> skip_log);
            continue;
        }
        if (!put_sequence(s, src + anchor, p - back, len + back, distance)) {
            return false;
        }
        at += len;
        anchor = at;
        nmisses = 0;
        if (at < search_end && !b2i_lz_is_run(src + at - 2)) {
            t->near[hash5(b2i_ld64le(src + at - 2), hash_log)] = base + (uint32_t)(at - 2);
        }
    }
    *rest = anchor;
    return true;
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
    const level *lv = &levels[clevel];
    size_t limit = worth(lv, src, n), rest;
    if (limit == 0) {
        return B2C_OK;
    }
    sink s = { dst, dst + (limit < cap ? limit : cap), dst + cap, src + n };
    bool fits = put_sequences(t, lv, src, n, &s, &rest);
    b2i_lz_end(t, n);
    if (!fits || literals_len(n - rest) > (size_t)(s.op_end - s.op)) {
        return B2C_OK;
    }
    put_literals(&s, src + rest, n - rest);
    dst[0] |= FIRST_MARK;
    *out_len = (size_t)(s.op - dst);
    return B2C_OK;
}
