/*
 * lz4_enc.c: our encoder of LZ4 blocks, made for the byte planes of arrays.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block is a sequence of
 *
 *   token      literals << 4 | match length - 4; a part of 15 is continued by bytes that are added,
 *              a byte of 255 saying that one more follows
 *   literals
 *   distance   1…65535, little endian
 *
 * and ends with literals alone, five at least; the last match starts twelve bytes before the end
 * or earlier.
 */
#include "lz.h"
#include "unique.h"

enum {
    MIN_LEN = 16,  /* shorter inputs cannot gain */
    MIN_MATCH = 4, /* of the format */
    LZ_MAX_DISTANCE = 65535,
    LZ_LAST_LITERALS = 5,
    LZ_PREFERS_RUNS = 0,
    LZ_HAS_DICTS = 1,
    LZ_AVOIDS_NEAR = 1,
    LZ_HAS_BRIEF = 1,
    LZ_HAS_SPARSE = 1,
    LZ_SPARSE_DISTANCE = LZ_MAX_DISTANCE,
    LZ_MAX_MORE = 44,
    LOOK = B2I_CLEVEL_FINE + 1, /* rows of levels[] */
    SHORT_PLANE,
    WIDE = 32,        /* literals that are copied in two steps, or one */
    SHORT = WIDE + 16 /* room for a sequence of no more, and a short match */
};

typedef struct lz_sink {
    uint8_t *op, *op_end;
    const uint8_t *op_fast, *src_fast; /* before these, a short sequence is put in wide steps */
} lz_sink;

static inline size_t lz_cost(const lz_sink *s)
{
    return (size_t)(uintptr_t)s->op;
}

/* What does not fit in the token of a length n.  Writes a byte even where it returns op. */
static inline uint8_t *put_length(uint8_t *op, size_t n)
{
    if (n >= 15 + 255) {
        for (n -= 15; n >= 255; n -= 255) {
            *op++ = 255;
        }
        *op = (uint8_t)n;
        return op + 1;
    }
    *op = (uint8_t)(n - 15);
    return op + (n >= 15);
}

/* Any sequence.  Returns where it ends, or NULL when it does not fit. */
static B2I_LZ_APART uint8_t *put_any(uint8_t *op, const uint8_t *op_end, const uint8_t *anchor,
                                     size_t nlit, size_t n, size_t distance)
{
    if (nlit + (nlit + n) / 255 + 6 > (size_t)(op_end - op)) {
        return NULL;
    }
    *op = (uint8_t)((nlit < 15 ? nlit : 15) << 4 | (n < 15 ? n : 15));
    op = put_length(op + 1, nlit);
    memcpy(op, anchor, nlit);
    op += nlit;
    op[0] = (uint8_t)distance;
    op[1] = (uint8_t)(distance >> 8);
    return put_length(op + 2, n);
}

/*
 * The literals from 'anchor' to p, then a match.  False when they do not fit, and no more may be
 * put then.  Sequences that are not long get a byte of each length even where there is none.
 */
B2I_LZ_TEMPLATE bool lz_put(lz_sink *s, const uint8_t *anchor, const uint8_t *p, size_t len,
                            size_t distance)
{
    const size_t nlit = (size_t)(p - anchor), n = len - MIN_MATCH;
    uint8_t *op = s->op;
    if (nlit > WIDE || n >= 15 + 255 || op >= s->op_fast || anchor >= s->src_fast) {
        s->op = put_any(op, s->op_end, anchor, nlit, n, distance);
        return s->op != NULL;
    }
    uint8_t *const token = op++;
    unsigned lens = 0;
    if (nlit >= 15) {
        lens = 15 << 4;
        *op++ = (uint8_t)(nlit - 15);
        memcpy(op, anchor, WIDE);
    } else {
        lens = (unsigned)nlit << 4;
        memcpy(op, anchor, WIDE / 2);
    }
    op += nlit;
    op[0] = (uint8_t)distance;
    op[1] = (uint8_t)(distance >> 8);
    op[2] = (uint8_t)(n - 15);
    *token = (uint8_t)(lens | (n < 15 ? n : 15));
    s->op = op + 2 + (n >= 15);
    return true;
}

/* A match at p by itself. */
B2I_LZ_TEMPLATE bool lz_put_match(lz_sink *s, const uint8_t *p, size_t len, size_t distance)
{
    const size_t n = len - MIN_MATCH;
    uint8_t *op = s->op;
    if (n >= 15 + 255 || op >= s->op_fast) {
        s->op = put_any(op, s->op_end, p, 0, n, distance);
        return s->op != NULL;
    }
    b2i_st32le(op, (uint32_t)((n < 15 ? n : 15) | distance << 8 | (n - 15) << 24));
    s->op = op + 3 + (n >= 15);
    return true;
}

#include "lz_search.h"

static const level levels[] = {
    { { 0, 0 }, { 0, 0 }, 0, 0, { 0, 0 } },       /* none */
    { { 4, 4 }, { 4, 2 }, 5, 6, { 3, 8 } },       /* 1 */
    { { 4, 4 }, { 4, 2 }, 5, 5, { 3, 6 } },       /* 2 */
    { { 4, 3 }, { 4, 1 }, 5, 4, { 2, 4 } },       /* 3 */
    { { 4, 2 }, { 4, 1 }, 5, 3, { 2, 3 } },       /* 4 */
    { { 4, 1 }, { 4, 1 }, 5, 2, { 1, 2 } },       /* 5 */
    { { 4, 1 }, { 4, 1 }, 5, 2, { 1, 2 } },       /* 6 */
    { { 5, 1 }, { 5, 1 }, 5, 1, { 1, 1 } },       /* 7 */
    { { 5, 1 }, { 5, 1 }, 5, 1, { 1, 1 } },       /* 8 */
    { { 5, 1 }, { 5, 1 }, 5, NO_HIGH, { 1, 1 } }, /* 9 */
    [B2I_LZ4_MID] = { { 0, 0 }, { 8, 0 }, PAIRS, NO_HIGH, { 0, 0 } },
    [B2I_CLEVEL_FINE] = { { 0, 0 }, { 8, 0 }, FINE_PAIRS, NO_HIGH, { 0, 0 } },
    [LOOK] = { { 0, 0 }, { 9, 1 }, PAIRS, NO_HIGH, { 0, 0 } },             /* b2i_lz4_look_at() */
    [SHORT_PLANE] = { { 0, 0 }, { 6, 0 }, FINE_PAIRS, NO_HIGH, { 0, 0 } }, /* of bytes, at 9 */
};

/*
 * The highest level has time for matches of four bytes in short streams, but for those of items.
 */
static const level *level_of(int clevel, size_t n, b2i_made made)
{
    const bool is_fine = clevel == B2I_MAX_CLEVEL && n <= MAX_SHORT_PAIRS && made != B2I_MADE_ITEMS;
    return &levels[!is_fine ? clevel : made == B2I_MADE_BITS ? B2I_CLEVEL_FINE : SHORT_PLANE];
}

/* ---- dictionaries ---- */

/* The end of a dictionary, as far as matches reach. */
struct b2i_lz4_dict {
    uint64_t id;
    known_words words;
    size_t n;
    uint8_t bytes[];
};

b2i_lz4_dict *b2i_lz4_dict_new(b2i_span bytes)
{
    const size_t n = bytes.n < B2I_LZ_WINDOW ? bytes.n : B2I_LZ_WINDOW;
    b2i_lz4_dict *dict = b2i_calloc(sizeof *dict + n);
    if (dict == NULL) {
        return NULL;
    }
    dict->id = b2i_unique_number();
    dict->n = n;
    memcpy(dict->bytes, bytes.p + bytes.n - n, n);
    for (size_t i = 1; i + 8 <= n; i++) {
        const uint8_t *p = dict->bytes + i;
        dict->words.near[learn_slot(p, KNOWN_NEAR_LEN, KNOWN_LOG)] = (uint16_t)i;
        dict->words.far[learn_slot(p, 8, KNOWN_LOG)] = (uint16_t)i;
    }
    return dict;
}

/* A dictionary and behind it a stream, as the search wants them. */
struct b2i_lz4_joined {
    uint64_t dict; /* its ID: most streams find it here */
    size_t n;
    uint8_t bytes[];
};

/* Returns the dictionary, behind which src is copied; NULL: no memory. */
static const uint8_t *join(b2i_codec_state *state, const b2i_lz4_dict *dict, const uint8_t *src,
                           size_t n)
{
    struct b2i_lz4_joined *joined = state->lz4;
    if (joined == NULL || joined->n < dict->n + n) {
        b2i_free(joined);
        joined = state->lz4 = b2i_malloc(sizeof *joined + dict->n + n);
        if (joined == NULL) {
            return NULL;
        }
        joined->n = dict->n + n;
        joined->dict = 0;
    }
    if (joined->dict != dict->id) {
        memcpy(joined->bytes, dict->bytes, dict->n);
        joined->dict = dict->id;
    }
    memcpy(joined->bytes + dict->n, src, n);
    return joined->bytes;
}

/*
 * Begins to put what is found in src into at most room bytes.  The first bytes of src are those of
 * the dictionary, if there is one.
 */
static b2c_status begin(b2i_codec_state *state, const b2i_lz4_dict *dict, const uint8_t *src,
                        size_t n, uint8_t *dst, size_t room, search *s)
{
    b2i_lz_table *t = b2i_lz_begin(state, n);
    if (t == NULL) {
        return B2C_E_MEMORY;
    }
    const lz_sink sink = { .op = dst,
                           .op_end = dst + room,
                           .op_fast = dst + (room < SHORT ? 0 : room - SHORT),
                           .src_fast = src + (n < WIDE ? 0 : n - WIDE) };
    *s = search_begin(t, src, n, sink);
    s->made = state->made;
    if (dict != NULL) {
        search_behind(s, dict->n, &dict->words);
    }
    return B2C_OK;
}

/* Whether what is left fits as literals. */
static bool rest_fits(const search *s)
{
    const size_t rest = (size_t)(s->src_end - s->anchor);
    return rest + rest / 255 + 2 <= (size_t)(s->sink.op_end - s->sink.op);
}

static bool takes(size_t n)
{
    return n >= MIN_LEN && n <= UINT32_MAX / 2;
}

b2c_status b2i_lz4_encode(b2i_codec_state *state, int clevel, const b2i_lz4_dict *dict,
                          const uint8_t *src, size_t n, uint8_t *dst, size_t cap, size_t *out_len)
{
    *out_len = 0;
    if (!takes(n)) {
        return B2C_OK;
    }
    const size_t worth = n - 1 - n / 64, room = cap < worth ? cap : worth;
    if (dict != NULL) {
        src = join(state, dict, src, n);
        if (src == NULL) {
            return B2C_E_MEMORY;
        }
        n += dict->n;
    }
    search s;
    B2I_TRY(begin(state, dict, src, n, dst, room, &s));
    const level *lv = dict != NULL ? &levels[clevel] : level_of(clevel, n, state->made);
    const bool fits = search_all(&s, lv, search_end(&s)) && rest_fits(&s);
    b2i_lz_end(s.t, n);
    if (fits) {
        const size_t rest = (size_t)(s.src_end - s.anchor);
        *s.sink.op = (uint8_t)((rest < 15 ? rest : 15) << 4);
        uint8_t *op = put_length(s.sink.op + 1, rest);
        memcpy(op, s.anchor, rest);
        *out_len = (size_t)(op + rest - dst);
    }
    return B2C_OK;
}

/* Adds to a part of a length in a token what continues it at p, if anything: so many bytes. */
static size_t add_length(const uint8_t *p, size_t *n)
{
    size_t used = 0;
    if (*n == 15) {
        do {
            *n += p[used];
        } while (p[used++] == 255);
    }
    return used;
}

static size_t literals_of_first(const uint8_t *block)
{
    size_t n = *block >> 4;
    (void)add_length(block + 1, &n);
    return n;
}

/* The token of n literals and what continues it. */
static size_t header_len(size_t n)
{
    return n < 15 ? 1 : 2 + (n - 15) / 255;
}

/* All bytes up to the first match are literals: where what that repeats begins. */
static size_t first_repeat(const uint8_t *block)
{
    const size_t nlit = literals_of_first(block);
    return nlit - b2i_ld16le(block + header_len(nlit) + nlit);
}

b2c_status b2i_lz4_look_at(b2i_codec_state *state, const uint8_t *src, size_t n, uint8_t *dst,
                           size_t cap, b2i_lz4_look *look)
{
    enum { LONG = 32 * 1024, FIRST = 4096 };
    *look = (b2i_lz4_look){ false, 0 };
    if (!takes(n)) {
        return B2C_OK;
    }
    /* a 128th is enough: literals take no more than a 255th more than they are */
    const size_t worth = n - 1 - n / 512;
    search s;
    B2I_TRY(begin(state, NULL, src, n, dst, cap < worth ? cap : worth, &s));
    s.enough = n / 128 + 16;
    s.segment = MIN_SEGMENT; /* it is often found soon */
    bool fits = n < LONG || search_all(&s, &levels[LOOK], src + FIRST);
    if (n >= LONG && fits && !saves_enough(&s) && b2i_short_matches_save(src, FIRST, FIRST / 64)) {
        look->shrinks = true;
    } else {
        fits = fits && search_all(&s, &levels[LOOK], search_end(&s));
        look->shrinks = (fits && rest_fits(&s)) || saves_enough(&s);
        look->nhard = s.anchor > src ? first_repeat(dst) : 0;
    }
    b2i_lz_end(s.t, n);
    return B2C_OK;
}

size_t b2i_lz4_room_in_front(size_t nlit)
{
    return nlit == 0 ? 0 : header_len(nlit) + nlit;
}

size_t b2i_lz4_put_in_front(const uint8_t *lits, size_t nlit, uint8_t *dst, size_t len)
{
    if (nlit == 0) {
        return len;
    }
    const uint8_t *block = dst + b2i_lz4_room_in_front(nlit);
    const size_t first = literals_of_first(block), total = nlit + first;
    const uint8_t token = *block, *rest = block + header_len(first);
    *dst = (uint8_t)((total < 15 ? total : 15) << 4 | (token & 15));
    uint8_t *op = put_length(dst + 1, total);
    memcpy(op, lits, nlit);
    memmove(op + nlit, rest, len - header_len(first)); /* backward: headers add up to more */
    return (size_t)(op - dst) + nlit + len - header_len(first);
}

void b2i_lz4_spread(const uint8_t *src, uint8_t *block, size_t len)
{
    enum { PROBE = 64 };
    const uint8_t *at = src;
    uint8_t *p = block;
    for (size_t nseqs = 0, nnear = 0; nseqs % PROBE > 0 || nnear >= nseqs / 2; nseqs++) {
        size_t nlit = *p >> 4, n = *p & 15;
        p += 1 + add_length(p + 1, &nlit);
        p += nlit;
        if (p == block + len) {
            return;
        }
        uint8_t *const where = p;
        const size_t distance = b2i_ld16le(p);
        at += nlit;
        p += 2 + add_length(p + 2, &n);
        n += MIN_MATCH;
        if (is_near(distance)) {
            where[0] = (uint8_t)distance_to_take(src, at, n, distance);
            nnear++;
        }
        at += n;
    }
}
