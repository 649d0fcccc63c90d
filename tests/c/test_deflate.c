/*
 * test_deflate.c: our own deflate coder: known and malformed streams, round trips, damage, and,
 * where one is there, a library in both directions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "streams.h"
#include "deflate_dec.h"
#include "deflate_enc.h"
#include "huffman.h"

#if defined(B2I_HAVE_LIBDEFLATE)
#include <libdeflate.h>
#elif defined(B2I_HAVE_ZLIB)
#include <zlib.h>
#endif

static b2c_status encode_own(b2i_codec_state *s, int clevel, const uint8_t *src, size_t n,
                             uint8_t *dst, size_t cap, size_t *out_len)
{
    static const b2i_deflate_effort efforts[] = { { B2I_SEARCH_PAIRS, 0, 62, 0, 0 },
                                                  { B2I_SEARCH_QUICKLY, 0, 48, 0, 128 },
                                                  { B2I_SEARCH_PAIRS, 0, 62, 0, 0 },
                                                  { B2I_SEARCH_NOTHING, 0, 62, 0, 0 } };
    return b2i_deflate_encode(s, &efforts[clevel % 4], src, n, dst, cap, out_len, NULL);
}

/*
 * By the plain decoder and that of this machine, then the other way round: streams.h decodes twice,
 * to both ends of a room.
 */
static b2c_status decode_own(b2i_codec_state *s, b2i_span dict, b2i_span src, uint8_t *dst,
                             size_t n)
{
    static unsigned turn;
    (void)dict;
    const bool plainly = ++turn / 2 % 2 == 0;
    size_t used = 0;
    b2c_status status =
        (plainly ? b2i_deflate_decode_plain : b2i_deflate_decode)(s, src, dst, n, &used);
    return status == B2C_OK && used != src.n ? B2C_E_CORRUPT : status;
}

/* ---- a decoder as plain as the description of the format: bit by bit ---- */

/*
 * Why the plain decoder refused a stream: libdeflate takes symbols and repeats that do not exist.
 */
static bool saw_reserved;

typedef struct plain {
    b2i_span src;
    uint64_t at; /* in bits */
    bool failed;
    uint8_t *dst;
    size_t n, done;
} plain;

static unsigned bits(plain *p, unsigned n)
{
    unsigned x = 0;
    for (unsigned i = 0; i < n; i++, p->at++) {
        if (p->at / 8 >= p->src.n) {
            p->failed = true;
            return 0;
        }
        x |= (unsigned)(p->src.p[p->at / 8] >> p->at % 8 & 1) << i;
    }
    return x;
}

typedef struct plain_code {
    unsigned counts[16], nsyms;
    uint16_t syms[288];
} plain_code;

static bool make_code(plain_code *c, const uint8_t *lens, unsigned n)
{
    int left = 1;
    unsigned nused = 0;
    memset(c, 0, sizeof *c);
    for (unsigned len = 1; len < 16; len++) {
        for (unsigned i = 0; i < n; i++) {
            if (lens[i] == len) {
                c->counts[len]++;
                c->syms[nused++] = (uint16_t)i;
            }
        }
        left = 2 * left - (int)c->counts[len];
        if (left < 0) {
            return false;
        }
    }
    return left == 0 || nused == 0 || (nused == 1 && c->counts[1] == 1);
}

static unsigned symbol(plain *p, const plain_code *c)
{
    unsigned code = 0, first = 0, at = 0;
    for (unsigned len = 1; len < 16 && !p->failed; len++) {
        code = code << 1 | bits(p, 1);
        first <<= 1;
        if (code - first < c->counts[len]) {
            return c->syms[at + code - first];
        }
        at += c->counts[len];
        first += c->counts[len];
    }
    p->failed = true;
    return 0;
}

static void plain_block(plain *p, const plain_code *lit, const plain_code *dist)
{
    while (!p->failed) {
        unsigned sym = symbol(p, lit);
        if (p->failed || sym == 256) {
            return;
        }
        if (sym < 256) {
            if (p->done == p->n) {
                p->failed = true;
                return;
            }
            p->dst[p->done++] = (uint8_t)sym;
            continue;
        }
        if (sym > 285) {
            saw_reserved = true;
            p->failed = true;
            return;
        }
        unsigned x = sym - 257, extra = x < 8 || x == 28 ? 0 : x / 4 - 1;
        size_t len = x == 28 ? 258 : x < 8 ? 3 + x : 3 + ((4 + x % 4) << extra);
        len += bits(p, extra);
        sym = symbol(p, dist);
        extra = sym < 4 ? 0 : sym / 2 - 1;
        if (sym > 29 || p->failed) {
            saw_reserved = !p->failed;
            p->failed = true;
            return;
        }
        size_t distance = sym < 4 ? 1 + sym : 1 + ((2 + sym % 2) << extra);
        distance += bits(p, extra);
        if (p->failed || distance > p->done || len > p->n - p->done) {
            p->failed = true;
            return;
        }
        for (; len > 0; len--, p->done++) {
            p->dst[p->done] = p->dst[p->done - distance];
        }
    }
}

static void plain_stored(plain *p)
{
    p->at = (p->at + 7) / 8 * 8;
    unsigned n = bits(p, 16), check = bits(p, 16);
    if (p->failed || n != (check ^ 0xffff) || n > p->src.n - p->at / 8 || n > p->n - p->done) {
        p->failed = true;
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        p->dst[p->done++] = (uint8_t)bits(p, 8);
    }
}

static void plain_own_codes(plain *p)
{
    static const uint8_t order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                       11, 4,  12, 3, 13, 2, 14, 1, 15 };
    uint8_t lens[288 + 32] = { 0 };
    plain_code pre, lit, dist;
    unsigned nlit = 257 + bits(p, 5), ndist = 1 + bits(p, 5), npre = 4 + bits(p, 4), at = 0;
    for (unsigned i = 0; i < npre; i++) {
        lens[order[i]] = (uint8_t)bits(p, 3);
    }
    if (!make_code(&pre, lens, 19)) {
        p->failed = true;
        return;
    }
    while (at < nlit + ndist && !p->failed) {
        unsigned sym = symbol(p, &pre), count = 1;
        uint8_t len = (uint8_t)sym;
        if (sym == 16) {
            count = 3 + bits(p, 2);
            len = at == 0 ? 0 : lens[at - 1];
            p->failed = p->failed || at == 0;
        } else if (sym > 16) {
            count = sym == 17 ? 3 + bits(p, 3) : 11 + bits(p, 7);
            len = 0;
        }
        if (count > nlit + ndist - at) {
            saw_reserved = true;
            p->failed = true;
            return;
        }
        memset(lens + at, len, count);
        at += count;
    }
    if (p->failed || !make_code(&lit, lens, nlit) || !make_code(&dist, lens + nlit, ndist)) {
        p->failed = true;
        return;
    }
    plain_block(p, &lit, &dist);
}

static void plain_fixed(plain *p)
{
    uint8_t lens[288], dist_lens[32];
    plain_code lit, dist;
    for (unsigned i = 0; i < 288; i++) {
        lens[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    memset(dist_lens, 5, sizeof dist_lens);
    (void)make_code(&lit, lens, 288);
    (void)make_code(&dist, dist_lens, 32);
    plain_block(p, &lit, &dist);
}

static b2c_status decode_plainly(b2i_span dict, b2i_span src, uint8_t *dst, size_t n)
{
    (void)dict;
    plain p = { .src = src, .dst = dst, .n = n };
    saw_reserved = false;
    for (bool is_last = false; !is_last && !p.failed;) {
        is_last = bits(&p, 1) != 0;
        unsigned kind = bits(&p, 2);
        if (p.failed || kind == 3) {
            return B2C_E_CORRUPT;
        }
        (kind == 0 ? plain_stored : kind == 1 ? plain_fixed : plain_own_codes)(&p);
    }
    return !p.failed && p.done == n && (p.at + 7) / 8 == src.n ? B2C_OK : B2C_E_CORRUPT;
}

/* ---- a library ---- */

#if defined(B2I_HAVE_LIBDEFLATE)

static b2c_status decode_by_library(b2i_span src, uint8_t *dst, size_t n)
{
    static struct libdeflate_decompressor *d;
    size_t used = 0;
    d = d == NULL ? libdeflate_alloc_decompressor() : d;
    enum libdeflate_result r =
        libdeflate_deflate_decompress_ex(d, src.p, src.n, dst, n, &used, NULL);
    return r == LIBDEFLATE_SUCCESS && used == src.n ? B2C_OK : B2C_E_CORRUPT;
}

static size_t encode_by_library(int level, const uint8_t *src, size_t n, uint8_t *dst, size_t cap)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    size_t len = libdeflate_deflate_compress(c, src, n, dst, cap);
    libdeflate_free_compressor(c);
    return len;
}

#elif defined(B2I_HAVE_ZLIB)

static b2c_status decode_by_library(b2i_span src, uint8_t *dst, size_t n)
{
    z_stream z = { 0 };
    CHECK_EQ(inflateInit2(&z, -15), Z_OK);
    z.next_in = (z_const Bytef *)(uintptr_t)src.p;
    z.avail_in = (uInt)src.n;
    z.next_out = dst;
    z.avail_out = (uInt)n;
    bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0 && z.avail_out == 0;
    (void)inflateEnd(&z);
    return ok ? B2C_OK : B2C_E_CORRUPT;
}

static size_t encode_by_library(int level, const uint8_t *src, size_t n, uint8_t *dst, size_t cap)
{
    z_stream z = { 0 };
    CHECK_EQ(deflateInit2(&z, level > 9 ? 9 : level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (z_const Bytef *)(uintptr_t)src;
    z.avail_in = (uInt)n;
    z.next_out = dst;
    z.avail_out = (uInt)cap;
    size_t len = deflate(&z, Z_FINISH) == Z_STREAM_END ? cap - z.avail_out : 0;
    (void)deflateEnd(&z);
    return len;
}

#endif

#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)

/* Streams of the library, whole and damaged. */
static void test_ours_reads_library(void)
{
    enum { N = 200000 };
    uint8_t *data = room_of(N), *stream = room_of(2 * N), *back = room_of(N);
    uint64_t r = 23;
    size_t ngood = 0;
    for (int kind = 0; kind < NKINDS; kind++) {
        for (int level = 0; level <= 12; level += level < 10 ? 1 : 2) {
            size_t n = level % 3 == 0 ? N : 1 + (size_t)(harness_random(&r) % 3000);
            generate(data, n, kind, (uint64_t)level + 100);
            size_t len = encode_by_library(level, data, n, stream, 2 * N);
            CHECK(len > 0);
            CHECK_EQ(decode(stream, len, n, data), B2C_OK);
            for (int round = 0; round < 100; round++) {
                size_t at = (size_t)(harness_random(&r) % (round % 2 == 0 && len > 90 ? 90 : len));
                uint8_t kept = stream[at];
                stream[at] = (uint8_t)harness_random(&r);
                b2c_status theirs = decode_by_library(b2i_span_of(stream, len), back, n);
                if (theirs == B2C_OK) {
                    b2c_status ours = decode(stream, len, n, back);
                    CHECK(ours == B2C_OK || saw_reserved);
                    ngood += ours == B2C_OK;
                } else if (n < 3000) {
                    (void)decode(stream, len, n, NULL);
                }
                stream[at] = kept;
            }
        }
    }
    CHECK(ngood > 500);
    free(data);
    free(stream);
    free(back);
}

#endif

/* ---- malformed streams: the rule that each breaks ---- */

static void test_malformed(void)
{
    static const struct {
        const char *rule;
        size_t n, len;
        b2c_status status;
        uint8_t stream[24];
    } cases[] = {
        { "fine: nothing, stored", 0, 5, B2C_OK, { 1, 0, 0, 0xff, 0xff } },
        { "fine: nothing, fixed codes", 0, 2, B2C_OK, { 3, 0 } },
        { "fine: stored", 2, 7, B2C_OK, { 1, 2, 0, 0xfd, 0xff, 7, 8 } },
        { "fine: two stored blocks",
          2,
          12,
          B2C_OK,
          { 0, 1, 0, 0xfe, 0xff, 7, 1, 1, 0, 0xfe, 0xff, 8 } },
        { "fine: fixed codes, a literal", 1, 3, B2C_OK, { 0x63, 0, 0 } },
        { "fine: fixed codes, a run of zeros", 100, 6, B2C_OK, { 0x63, 0x60, 0xa0, 0x3d, 0, 0 } },
        { "empty", 0, 0, B2C_E_CORRUPT, { 0 } },
        { "kind 3", 0, 2, B2C_E_CORRUPT, { 7, 0 } },
        { "no last block", 2, 7, B2C_E_CORRUPT, { 0, 2, 0, 0xfd, 0xff, 7, 8 } },
        { "stored length does not match its complement",
          2,
          7,
          B2C_E_CORRUPT,
          { 1, 2, 0, 0xfc, 0xff, 7, 8 } },
        { "stored length cut short", 2, 4, B2C_E_CORRUPT, { 1, 2, 0, 0xfd } },
        { "stored bytes cut short", 2, 6, B2C_E_CORRUPT, { 1, 2, 0, 0xfd, 0xff, 7 } },
        { "stored bytes beyond the output", 1, 7, B2C_E_CORRUPT, { 1, 2, 0, 0xfd, 0xff, 7, 8 } },
        { "output too short", 3, 7, B2C_E_CORRUPT, { 1, 2, 0, 0xfd, 0xff, 7, 8 } },
        { "bytes behind the end", 0, 3, B2C_E_CORRUPT, { 3, 0, 0 } },
        { "end of block cut short", 0, 1, B2C_E_CORRUPT, { 3 } },
        { "literal beyond the output", 0, 3, B2C_E_CORRUPT, { 0x63, 0, 0 } },
        { "match before the first byte", 3, 3, B2C_E_CORRUPT, { 0x03, 0x02, 0 } },
        { "match beyond the output", 99, 6, B2C_E_CORRUPT, { 0x63, 0x60, 0xa0, 0x3d, 0, 0 } },
        { "length symbol 286", 99, 3, B2C_E_CORRUPT, { 0x1b, 0x03, 0 } },
        { "no lengths of codes", 9, 2, B2C_E_CORRUPT, { 5, 0 } },
        { "all codes of codes one bit long",
          9,
          20,
          B2C_E_CORRUPT,
          { 0xfd, 0xff, 0x49, 0x92, 0x24, 0x49, 0x92, 0x24, 0x49, 0x92 } },
        { "only zeros", 9, 20, B2C_E_CORRUPT, { 4 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b2c_status status = decode(cases[i].stream, cases[i].len, cases[i].n, NULL);
        if (status != cases[i].status) {
            fprintf(stderr, "malformed stream: %s\n", cases[i].rule);
        }
        CHECK_EQ(status, cases[i].status);
    }
}

/* ---- codes ---- */

/* Codes are complete, not too long, and cost no more than they have to. */
static void test_codes(void)
{
    uint64_t r = 9;
    for (int round = 0; round < 3000; round++) {
        uint32_t freqs[286];
        uint8_t lens[286];
        unsigned n = 2 + (unsigned)(harness_random(&r) % 285), nused = 0;
        unsigned max = 9 + (unsigned)(harness_random(&r) % 7);
        int steep = round % 30;
        for (unsigned i = 0; i < n; i++) {
            uint64_t x = harness_random(&r);
            freqs[i] =
                x % 5 == 0 ? 0 : (uint32_t)(x >> 40 & 0x7fffff) >> (i % 32 * (unsigned)steep / 30);
            nused += freqs[i] != 0;
        }
        b2i_huff_lengths(freqs, n, max, lens);
        uint32_t sum = 0, with_code = 0;
        for (unsigned i = 0; i < n; i++) {
            CHECK(lens[i] <= max && (lens[i] != 0 || freqs[i] == 0));
            sum += lens[i] == 0 ? 0 : (uint32_t)1 << (max - lens[i]);
            with_code += lens[i] != 0;
            for (unsigned k = 0; k < n; k += 17) { /* the more frequent, the shorter */
                CHECK(freqs[i] <= freqs[k] || lens[k] == 0 || lens[i] <= lens[k]);
            }
        }
        CHECK_EQ(sum, (uint32_t)1 << max);
        CHECK_EQ(with_code, nused < 2 ? 2 : nused);
    }
    static const uint32_t fibonacci[] = { 1, 1, 2, 3, 5, 8, 13, 21 };
    static const uint8_t expected[] = { 7, 7, 6, 5, 4, 3, 2, 1 },
                         limited[] = { 5, 5, 5, 5, 4, 4, 2, 1 };
    uint8_t lens[8];
    b2i_huff_lengths(fibonacci, 8, 15, lens);
    CHECK(memcmp(lens, expected, 8) == 0);
    b2i_huff_lengths(fibonacci, 8, 5, lens);
    CHECK(memcmp(lens, limited, 8) == 0);
    for (unsigned shift = 0; shift <= 27; shift++) { /* 21 << 27 is nearly 2^32 */
        uint32_t many[8];
        for (unsigned i = 0; i < 8; i++) {
            many[i] = fibonacci[i] << shift;
        }
        b2i_huff_lengths(many, 8, 15, lens);
        CHECK(memcmp(lens, expected, 8) == 0);
    }
    static const uint32_t uneven[] = { 1, 3000000000U, 1, 1000000000 };
    static const uint8_t of_uneven[] = { 3, 1, 3, 2 };
    b2i_huff_lengths(uneven, 4, 15, lens);
    CHECK(memcmp(lens, of_uneven, 4) == 0);
}

/* ---- streams by hand ---- */

typedef struct writer {
    uint8_t *p;
    size_t nbits;
} writer;

/* n bits, the lowest first. */
static void put(writer *w, unsigned x, unsigned n)
{
    for (unsigned i = 0; i < n; i++, w->nbits++) {
        if (w->nbits % 8 == 0) {
            w->p[w->nbits / 8] = 0;
        }
        w->p[w->nbits / 8] |= (uint8_t)((x >> i & 1) << w->nbits % 8);
    }
}

typedef struct hand_code {
    uint8_t lens[286];
    uint32_t words[286];
} hand_code;

/* The start of a last block with codes of its own. */
static void put_head(writer *w, hand_code *lit, hand_code *dist)
{
    b2i_huff_words(lit->lens, 286, lit->words);
    b2i_huff_words(dist->lens, 30, dist->words);
    put(w, 5, 3);
    put(w, 286 - 257, 5);
    put(w, 30 - 1, 5);
    put(w, 19 - 4, 4);
    for (unsigned i = 0; i < 19; i++) { /* lengths of 0 to 15 take four bits, 16 to 18 come first */
        put(w, i < 3 ? 0 : 4, 3);
    }
    for (unsigned i = 0; i < 286 + 30; i++) {
        const unsigned len = i < 286 ? lit->lens[i] : dist->lens[i - 286];
        put(w, (len & 1) << 3 | (len & 2) << 1 | (len & 4) >> 1 | len >> 3, 4);
    }
}

static void put_symbol(writer *w, const hand_code *c, unsigned sym)
{
    CHECK(c->lens[sym] != 0);
    put(w, c->words[sym] & 0xffff, c->lens[sym]);
}

/* Distances 30 and 31 have a code in blocks of fixed codes, but are no distances: also far from
 * both ends. */
static void test_no_distances(void)
{
    enum { N = 2000, BEFORE = 700 };
    uint8_t *stream = room_of(N * 2);
    for (unsigned sym = 0; sym < 32; sym++) {
        writer w = { stream, 0 };
        put(&w, 3, 3);
        for (unsigned i = 0; i < BEFORE; i++) {
            put(&w, 0x0c, 8); /* a zero */
        }
        put(&w, 0x40, 7); /* length 3 */
        for (unsigned bit = 5; bit-- > 0;) {
            put(&w, sym >> bit & 1, 1);
        }
        put(&w, 0, sym < 4 || sym > 29 ? 0 : sym / 2 - 1);
        for (unsigned i = BEFORE + 3; i < N; i++) {
            put(&w, 0x0c, 8);
        }
        put(&w, 0, 7);
        b2c_status status = decode(stream, (w.nbits + 7) / 8, N, NULL);
        CHECK_EQ(status, sym < 19 ? B2C_OK : B2C_E_CORRUPT); /* of 769 and more bytes before */
    }
    free(stream);
}

/* With one distance the code has one bit, and only a zero stands for it. */
static void test_one_distance(void)
{
    enum { N = 2000, BEFORE = 700 };
    uint8_t *stream = room_of(N);
    hand_code lit = { { 0 }, { 0 } }, dist = { { 0 }, { 0 } };
    lit.lens['a'] = 1;
    lit.lens[256] = lit.lens[257] = 2;
    dist.lens[3] = 1;
    for (unsigned bit = 0; bit < 2; bit++) {
        writer w = { stream, 0 };
        put_head(&w, &lit, &dist);
        for (unsigned i = 0; i < N - 3; i++) {
            put_symbol(&w, &lit, 'a');
            if (i == BEFORE) {
                put_symbol(&w, &lit, 257);
                put(&w, bit, 1);
            }
        }
        put_symbol(&w, &lit, 256);
        CHECK_EQ(decode(stream, (w.nbits + 7) / 8, N, NULL), bit == 0 ? B2C_OK : B2C_E_CORRUPT);
    }
    free(stream);
}

/* Codes as long as they may be, with all the extra bits there are, behind others of any length. */
static void test_long_codes(void)
{
    enum { ROUNDS = 3000, MAX = 1 << 20 };
    hand_code lit = { { 0 }, { 0 } }, dist = { { 0 }, { 0 } };
    uint8_t *stream = room_of(MAX);
    uint64_t r = 3;
    size_t n = 1;
    lit.lens['a'] = 1;
    lit.lens[256] = 2;
    for (unsigned i = 3; i < 15; i++) {
        lit.lens['a' + i] = (uint8_t)i;
    }
    lit.lens[283] = lit.lens[284] = 15;
    for (unsigned i = 0; i < 14; i++) {
        dist.lens[i] = (uint8_t)(i + 1);
    }
    dist.lens[28] = dist.lens[29] = 15;
    writer w = { stream, 0 };
    put_head(&w, &lit, &dist);
    put_symbol(&w, &lit, 'a');
    while (n < 40000) { /* runs, so that there are far distances */
        put_symbol(&w, &lit, 283);
        put(&w, 31, 5);
        put_symbol(&w, &dist, 0);
        n += 195 + 31;
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (uint64_t nlit = harness_random(&r) % 4; nlit > 0; nlit--, n++) {
            const unsigned len = 2 + (unsigned)(harness_random(&r) % 13);
            put_symbol(&w, &lit, len == 2 ? 'a' : 'a' + len);
        }
        const uint64_t x = harness_random(&r);
        const unsigned extra = (unsigned)(x & 31), far = (unsigned)(x >> 8 & 8191);
        put_symbol(&w, &lit, extra == 31 ? 283 : 284 - (unsigned)(x >> 40 & 1));
        put(&w, extra, 5);
        n += ((x >> 40 & 1) != 0 || extra == 31 ? 195 : 227) + extra;
        put_symbol(&w, &dist, 28 + (unsigned)(x >> 41 & 1));
        put(&w, far, 13);
    }
    put_symbol(&w, &lit, 256);
    CHECK((w.nbits + 7) / 8 <= MAX);
    CHECK_EQ(decode(stream, (w.nbits + 7) / 8, n, NULL), B2C_OK);
    free(stream);
}

/*
 * What is easy fits as it does with patience, behind a little noise as well.  What is not is given
 * up, even where the rest would make up for how it begins.
 */
static void test_only_easy(void)
{
    enum { N = 60000, RATIO = 8, ROOM = N / RATIO };
    static const b2i_deflate_effort patient = { B2I_SEARCH_PAIRS, 0, 62, 0, 0 };
    static const b2i_deflate_effort easy = { B2I_SEARCH_PAIRS, RATIO, 62, 0, 0 };
    uint8_t *data = room_of(N), *dst = room_of(ROOM), *same = room_of(ROOM);
    unsigned neasy = 0, ngiven_up = 0;
    for (int kind = 1; kind < NKINDS; kind++) {
        for (size_t begin = 0; begin <= N; begin += N / 20) {
            size_t len, len_easy;
            memset(data, 0, N);
            generate(data, begin, begin == N / 20 ? 0 : kind, 9);
            CHECK_EQ(b2i_deflate_encode(state, &patient, data, N, dst, ROOM, &len, NULL), B2C_OK);
            CHECK_EQ(b2i_deflate_encode(state, &easy, data, N, same, ROOM, &len_easy, NULL),
                     B2C_OK);
            CHECK(len_easy == len || (len_easy == 0 && len > ROOM / 4));
            CHECK(memcmp(dst, same, len_easy) == 0);
            neasy += len_easy > 0;
            ngiven_up += len_easy == 0 && len > 0;
        }
    }
    CHECK(neasy > 0 && ngiven_up > 0);
    free(data);
    free(dst);
    free(same);
}

/*
 * Noise of 512 bytes and more, or all but its end, is stored, also what is nearly flat: it is
 * there, wherever in the data, and what is around it takes no more than alone.
 */
static void test_rows_of_noise(void)
{
    enum { SIDE = 3000, MAX_ROW = 3000, ROOM = 2 * SIDE + MAX_ROW, HEADS = 200 };
    uint8_t *data = room_of(ROOM), *dst = room_of(ROOM);
    for (size_t row = 600; row <= MAX_ROW; row += 300) {
        for (unsigned place = 0; place < 3; place++) { /* at the start, in the middle, at the end */
            const size_t before = place == 0 ? 0 : SIDE, after = place == 2 ? 0 : SIDE;
            const size_t n = before + row + after, noise = row - row / 8 - 40;
            for (unsigned is_skewed = 0; is_skewed < 2; is_skewed++) {
                memset(data, 7, n);
                for (size_t i = 0; i < SIDE; i += 5) { /* what is worth codes */
                    data[place == 0 ? row + i : i] = (uint8_t)(i % 11);
                }
                generate(data + before, row, RANDOM, row + place);
                for (size_t i = before; i < before + row && is_skewed; i++) {
                    data[i] = data[i] < 20 ? data[i] + 100 : data[i];
                }
                for (int clevel = 0; clevel < 2; clevel++) {
                    size_t len, at = 0;
                    CHECK_EQ(encode_own(state, clevel, data, n, dst, ROOM, &len), B2C_OK);
                    CHECK(len > 0 && len <= row + HEADS + (before + after) / 8);
                    CHECK_EQ(decode(dst, len, n, data), B2C_OK);
                    while (at + noise < len && memcmp(dst + at, data + before + 20, noise) != 0) {
                        at++;
                    }
                    CHECK(at + noise < len);
                }
            }
        }
    }
    free(data);
    free(dst);
}

/*
 * Words of four bytes that come again: the quick search takes few of these matches and is given up
 * where that is asked for, the one for short matches halves them.  Of noise nothing is missed.
 */
static void test_short_matches(void)
{
    enum { N = 20000, NWORDS = 200, WORD = 4 };
    static const b2i_deflate_effort quick = { B2I_SEARCH_QUICKLY, 0, 48, 0, 0 };
    static const b2i_deflate_effort shorter = { B2I_SEARCH_SHORT, 0, 62, 0, 0 };
    static const b2i_deflate_effort cheapest = { B2I_SEARCH_CHEAPEST, 0, 62, 8, 0 };
    uint8_t *data = room_of(N), *words = room_of(NWORDS * WORD), *out = room_of(N);
    uint64_t r = 3;
    for (int kind = 0; kind < NKINDS; kind++) {
        for (size_t n = 16; n <= N; n = n * 5 / 4) {
            size_t len = 0;
            generate(data, n, kind, n);
            CHECK_EQ(b2i_deflate_encode(state, &shorter, data, n, out, n - 1, &len, NULL), B2C_OK);
            CHECK(len == 0 || decode(out, len, n, data) == B2C_OK);
            CHECK_EQ(b2i_deflate_encode(state, &cheapest, data, n, out, n - 1, &len, NULL), B2C_OK);
            CHECK(len == 0 || decode(out, len, n, data) == B2C_OK);
        }
    }
    generate(words, NWORDS * WORD, RANDOM, 1);
    for (size_t n = 2000; n <= N; n += 2000) {
        size_t len, len_quick, unused;
        bool misses = false, misses_noise = false;
        for (size_t i = 0; i < n; i += WORD) {
            memcpy(data + i, words + harness_random(&r) % NWORDS * WORD, WORD);
        }
        CHECK_EQ(b2i_deflate_encode(state, &quick, data, n, out, n, &len_quick, NULL), B2C_OK);
        CHECK_EQ(b2i_deflate_encode(state, &quick, data, n, out, n, &len, &misses), B2C_OK);
        CHECK(misses && len == 0);
        CHECK_EQ(b2i_deflate_encode(state, &shorter, data, n, out, n, &len, NULL), B2C_OK);
        CHECK(len > 0 && (len_quick == 0 || len < len_quick) && len < n * 3 / 4);
        CHECK_EQ(decode(out, len, n, data), B2C_OK);
        generate(data, n, RANDOM, n);
        CHECK_EQ(b2i_deflate_encode(state, &quick, data, n, out, n, &unused, &misses_noise),
                 B2C_OK);
        CHECK(!misses_noise);
    }
    free(data);
    free(words);
    free(out);
}

/*
 * Of bytes that are rarely not 0, also such of which parts differ, the cheapest way saves a tenth.
 */
static void test_sparse(void)
{
    enum { N = 90000 };
    static const b2i_deflate_effort pairs = { B2I_SEARCH_PAIRS, 0, 62, 0, 0 };
    static const b2i_deflate_effort cheapest = { B2I_SEARCH_CHEAPEST, 0, 62, 16, 0 };
    uint8_t *data = room_of(N), *out = room_of(N);
    uint64_t r = 17;
    for (size_t n = 30000; n <= N; n += 20000) {
        size_t len, len_pairs;
        for (size_t i = 0; i < n; i++) {
            const uint64_t x = harness_random(&r) >> 20;
            data[i] = x % 11 > 0 ? 0 : (uint8_t)(i < n / 2 ? 1U << (x >> 8) % 8 : (x >> 8) % 40);
        }
        CHECK_EQ(b2i_deflate_encode(state, &pairs, data, n, out, n, &len_pairs, NULL), B2C_OK);
        CHECK_EQ(b2i_deflate_encode(state, &cheapest, data, n, out, n, &len, NULL), B2C_OK);
        CHECK(len > 0 && len < len_pairs - len_pairs / 50);
        CHECK_EQ(decode(out, len, n, data), B2C_OK);
    }
    free(data);
    free(out);
}

/*
 * Where little less is made than was hoped for, the search is given up for the cheapest way, which
 * does as well with the codes of a part.  What is far from that is searched to its end.
 */
static void test_middling(void)
{
    enum { N = 90000 };
    static const b2i_deflate_effort easy = { B2I_SEARCH_PAIRS, 8, 62, 0, 0 };
    static const b2i_deflate_effort cheapest = { B2I_SEARCH_CHEAPEST, 0, 62, 1, 0 };
    static const unsigned rarities[] = { 4, 20, 200 };
    uint8_t *data = room_of(N), *out = room_of(N);
    uint64_t r = 19;
    for (size_t n = 20000; n <= N; n += 35000) {
        for (size_t k = 0; k < 3; k++) {
            size_t len, len_easy, len_whole;
            bool misses = false;
            for (size_t i = 0; i < n; i++) {
                const uint64_t x = harness_random(&r) >> 20;
                data[i] = x % rarities[k] > 0 ? 0 : (uint8_t)(1U << (x >> 12) % 8);
            }
            CHECK_EQ(b2i_deflate_encode(state, &easy, data, n, out, n, &len_easy, NULL), B2C_OK);
            CHECK_EQ(len_easy > 0, k > 0);
            CHECK_EQ(b2i_deflate_encode(state, &cheapest, data, n, out, n, &len_whole, NULL),
                     B2C_OK);
            CHECK_EQ(b2i_deflate_encode(state, &easy, data, n, out, n, &len, &misses), B2C_OK);
            CHECK_EQ(misses, k == 1);
            CHECK_EQ(len, k == 1 ? 0 : len_easy);
            CHECK_EQ(b2i_deflate_encode(state, &cheapest, data, n, out, n, &len, NULL), B2C_OK);
            CHECK(k != 1 || (len < len_easy - len_easy / 20 && len < len_whole + len_whole / 64));
            CHECK_EQ(decode(out, len, n, data), B2C_OK);
        }
    }
    free(data);
    free(out);
}

/* Of level 1. */
static const b2i_deflate_effort quickly = { B2I_SEARCH_QUICKLY, 0, 48, 0, 128 };

/* Single values, or four, between runs that vary; or counts of eight bytes, two of them random. */
static void generate_regular(uint8_t *p, size_t n, int kind, uint64_t *r)
{
    uint64_t run = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = harness_random(r) >> 20;
        if (kind == 2) {
            p[i] = (uint8_t)(i % 8 < 2 ? x : i % 8 == 2 ? i / 128 : i % 8 == 3 ? i / 32768 : 7);
            continue;
        }
        p[i] = run < (kind == 0 ? 1 : 4) ? (uint8_t)(1 + x % 200) : 0;
        run = run > 0 ? run - 1 : 4 + (x >> 8) % (kind == 0 ? 90 : 300);
    }
}

/*
 * What has one period is searched by it: streams are right up to the end of their data, behind
 * which nothing may be read, and with copies of what is about as far back as a match may be; they
 * take little more than what there is to tell.
 */
static void test_periods(void)
{
    enum { MAX = 150000, WINDOW = 32768, COPY = 150, NKINDS_OF_PERIODS = 3 };
    static const size_t parts[NKINDS_OF_PERIODS] = { 5, 6, 2 }; /* of the data, at most */
    uint8_t *data = room_of(MAX), *out = room_of(MAX);
    uint64_t r = 31;
    for (int kind = 0; kind < NKINDS_OF_PERIODS; kind++) {
        for (size_t n = 3000; n <= MAX; n += 1 + n / 9) {
            size_t len = 0;
            generate_regular(data, n, kind, &r);
            for (size_t i = 99; i + COPY < n && n % 2 == 0; i += 1024) {
                if (i > WINDOW + 99) {
                    memcpy(data + i, data + i - WINDOW - 12 + harness_random(&r) % 24, COPY);
                } else {
                    generate(data + i, COPY, RANDOM, i);
                }
            }
            const uint8_t *src = guarded_copy(&in_room, data, n);
            CHECK_EQ(b2i_deflate_encode(state, &quickly, src, n, out, n - 1, &len, NULL), B2C_OK);
            CHECK(len > 0 && len <= n / parts[kind] + 900);
            CHECK_EQ(decode(out, len, n, data), B2C_OK);
            size_t same = len;
            CHECK_EQ(b2i_deflate_encode(state, &quickly, data, n, out, len / 2, &same, NULL),
                     B2C_OK);
            CHECK_EQ(same, 0); /* no room */
        }
    }
    free(data);
    free(out);
}

/* Items that end with noise and a match, behind which nothing may be read. */
static void test_end_of_items(void)
{
    enum { N = 4000, PERIOD = 8 };
    uint8_t *data = room_of(N), *out = room_of(N);
    uint64_t r = 7;
    for (size_t last = 60; last < 84; last++) {
        for (size_t match = 1; match < 16; match++) {
            size_t len = 0;
            generate_regular(data, N, 2, &r);
            end_with_match(data, N, last - match, match, PERIOD, &r);
            const uint8_t *src = guarded_copy(&in_room, data, N);
            CHECK_EQ(b2i_deflate_encode(state, &quickly, src, N, out, N - 1, &len, NULL), B2C_OK);
            CHECK(len > 0);
            CHECK_EQ(decode(out, len, N, data), B2C_OK);
        }
    }
    free(data);
    free(out);
}

/* Short streams that were literals for the most part are not parsed again; others are. */
static void test_few_matches(void)
{
    enum { N = 4096, VALUES = 256 };
    static const b2i_deflate_effort pairs = { B2I_SEARCH_PAIRS, 0, 62, 0, 0 };
    static const b2i_deflate_effort cheapest = { B2I_SEARCH_CHEAPEST, 0, 62, 16, 0 };
    uint8_t *data = room_of(N), *out = room_of(N);
    uint64_t r = 3;
    for (int kind = 0; kind < 2; kind++) {
        size_t len, len_pairs;
        for (size_t i = 0; i < N; i++) {
            const uint64_t x = harness_random(&r) >> 20;
            data[i] = (uint8_t)(kind == 0 ? (i < VALUES ? i : i / 600) : x % 11 == 0);
        }
        CHECK_EQ(b2i_deflate_encode(state, &pairs, data, N, out, N, &len_pairs, NULL), B2C_OK);
        CHECK_EQ(b2i_deflate_encode(state, &cheapest, data, N, out, N, &len, NULL), B2C_OK);
        CHECK(len_pairs > 0 && (kind == 0 ? len == 0 : len > 0 && len < len_pairs));
    }
    free(data);
    free(out);
}

/* Values that are nearly all as frequent: codes still make them a few hundredths smaller. */
static void test_many_values(void)
{
    enum { MAX = 5000 };
    static const b2i_deflate_effort good = { B2I_SEARCH_PAIRS, 0, 62, 0, 0 };
    uint8_t *data = room_of(MAX), *out = room_of(MAX);
    uint64_t seed = 11;
    for (size_t n = 2000; n < MAX; n += 100) {
        size_t len = 0;
        for (size_t i = 0; i < n; i++) {
            data[i] = (uint8_t)((harness_random(&seed) >> 20) % 190);
        }
        CHECK_EQ(b2i_deflate_encode(state, &good, data, n, out, n - 7, &len, NULL), B2C_OK);
        CHECK(len > 0);
    }
    free(data);
    free(out);
}

/* Damage to streams that are decoded by pairs of literals: the verdict of the plain decoder. */
static void check_damaged(const uint8_t *stream, size_t len, size_t n, const uint8_t *data)
{
    enum { ROUNDS = 100, END = 40 };
    uint8_t *bad = room_of(len);
    uint64_t r = len;
    CHECK_EQ(decode(stream, len, n, data), B2C_OK);
    for (size_t m = len - END; m < len; m++) {
        CHECK_EQ(decode(stream, m, n, NULL), B2C_E_CORRUPT);
    }
    for (size_t other = n - END; other < n + END; other++) {
        CHECK_EQ(decode(stream, len, other, NULL), other == n ? B2C_OK : B2C_E_CORRUPT);
    }
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(bad, stream, len);
        const size_t at =
            i % 2 == 0 ? len - 1 - harness_random(&r) % END : harness_random(&r) % len;
        bad[at] ^= (uint8_t)(1 + harness_random(&r) % 255);
        (void)decode(bad, len, n, NULL);
        (void)decode(bad, len, n - harness_random(&r) % END, NULL);
    }
    free(bad);
}

/*
 * Codes alone are as small as the entropy lets them be; they are decoded well, whole and damaged,
 * with matches between them too.
 */
static void test_literals(void)
{
    enum { MAX = 20000 };
    static const size_t milli_bits[] = { 5050, 1880, 4990, 6600 }; /* entropy of each kind, about */
    uint8_t *data = room_of(MAX), *out = room_of(MAX);
    uint64_t seed = 5;
    for (size_t n = 4000; n <= MAX; n += n < 4200 ? 13 : 5300) {
        for (int kind = 0; kind < NVALUES; kind++) {
            generate_values(data, n, kind, 7, &seed);
            const size_t len = encode(3, data, n, out, n);
            CHECK(len > 0 && len <= n * milli_bits[kind] / 8000 * 102 / 100 + 200);
            check_damaged(out, len, n, data);
            for (size_t i = n / 8; i + 400 < n; i += 500) { /* repeats */
                memcpy(data + i, data + i / 3, i % 7 * 9);
            }
            const size_t len_mixed = encode(2, data, n, out, n);
            CHECK(len_mixed > 0);
            check_damaged(out, len_mixed, n, data);
        }
    }
    free(data);
    free(out);
}

#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)

enum { AROUND = 6 }; /* bytes of zlib's head and tail */

static size_t zlib_len(int clevel, const uint8_t *data, size_t n, uint8_t *out)
{
    size_t len = 0;
    CHECK_EQ(b2i_codec_zlib.codec.encode(state, clevel, NULL, data, n, out, n, &len), B2C_OK);
    return len;
}

/* Levels from the third on take codes alone where matches do not pay, and only there. */
static void test_codes_suffice(void)
{
    enum { MAX = 80000 };
    static const int kinds[] = { AROUND_MEAN, HALF_ZEROS, MANY_VALUES };
    uint8_t *data = room_of(MAX), *out = room_of(MAX);
    uint64_t seed = 7;
    for (size_t n = 16384; n <= MAX; n += n / 2) {
        for (int clevel = 3; clevel <= 9; clevel++) {
            for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
                generate_values(data, n, kinds[k], 0, &seed);
                CHECK_EQ(zlib_len(clevel, data, n, out), encode(3, data, n, out, n) + AROUND);
                for (size_t i = 0; i < n; i += n / 4) { /* other values in each part */
                    generate_values(data + i, n / 4, kinds[k], (unsigned)(i / (n / 4)) * 60, &seed);
                }
                const size_t len = zlib_len(clevel, data, n, out);
                const size_t codes_len = encode(3, data, n, out, n); /* 0: all values occur */
                CHECK(kinds[k] == HALF_ZEROS || (len > 0 && (codes_len == 0 || len < codes_len)));
            }
        }
    }
    free(data);
    free(out);
}

/*
 * Matches that are near, of few bytes, far and long of few values; runs between the looks; and
 * items of two bytes, one of them always the same.
 */
static void test_codes_do_not_suffice(void)
{
    enum { CLOSE_BY, APART, TILES, RUNS, ITEMS, NCASES, N = 65536 };
    static const size_t every[] = { 24, 40, 7000, 1024, 2 }, lens[] = { 8, 8, 7000, 300, 1 };
    uint8_t *data = room_of(N), *out = room_of(N);
    uint64_t seed = 9;
    for (int clevel = 3; clevel <= 9; clevel++) {
        for (int kind = 0; kind < NCASES; kind++) {
            generate_values(data, N, kind == CLOSE_BY || kind == ITEMS ? AROUND_MEAN : MANY_VALUES,
                            0, &seed);
            for (size_t i = 0; i < N && (kind == TILES || kind == ITEMS); i++) {
                const uint8_t x = (uint8_t)(harness_random(&seed) >> 30);
                data[i] = (uint8_t)(kind == TILES ? x % 7 : data[i] * 2 + x % 2);
            }
            const size_t begin = kind == RUNS    ? 23000
                                 : kind == ITEMS ? 0
                                                 : 8000,
                         end = kind == RUNS ? 42000 : N;
            for (size_t i = begin; i + every[kind] <= end; i += every[kind]) {
                const size_t far = 5000 + harness_random(&seed) % 3000;
                const size_t back = kind == CLOSE_BY ? 12 : kind == APART ? far : every[kind];
                if (kind == RUNS || kind == ITEMS) {
                    memset(data + i, 3, lens[kind]);
                } else {
                    memcpy(data + i, data + i - back, lens[kind]);
                }
            }
            CHECK(zlib_len(clevel, data, N, out) != encode(3, data, N, out, N) + AROUND);
        }
    }
    free(data);
    free(out);
}

/* Noise that a stream begins with is stored, up to where words begin: also a 15th of it. */
static void test_noisy_start(void)
{
    enum { N = 262144, WORD = 12, NWORDS = 300, HEAD = 2 };
    static const size_t lens[] = { 17 * 1024, 48 * 1024 };
    uint8_t *data = room_of(N), *words = room_of(NWORDS * WORD), *out = room_of(N);
    uint64_t seed = 11;
    for (size_t i = 0; i < NWORDS * WORD; i++) {
        words[i] = (uint8_t)(harness_random(&seed) >> 20) % 8;
    }
    for (int clevel = 3; clevel <= 9; clevel++) {
        for (size_t k = 0; k < 2; k++) {
            generate(data, N, RANDOM, (size_t)clevel);
            for (size_t i = lens[k]; i + WORD <= N; i += WORD) {
                memcpy(data + i, words + harness_random(&seed) % NWORDS * WORD, WORD);
            }
            const size_t len = zlib_len(clevel, data, N, out), nstored = b2i_ld16le(out + HEAD + 1);
            CHECK(len > 0 && (out[HEAD] & 7) == 0); /* a block that is stored, and not the last */
            CHECK_EQ(nstored, lens[k]);
        }
    }
    free(data);
    free(words);
    free(out);
}

#endif

#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)

/*
 * Items whose first bytes are random and whose last ones repeat those of the item before, with long
 * runs of these at the end: short matches nearby, up to the last bytes of input and output.  Cut
 * anywhere near its end, a stream is refused.
 */
static void test_items(void)
{
    enum { MAX = 3000, CUTS = 48 };
    uint8_t *data = room_of(MAX), *stream = room_of(2 * MAX);
    uint64_t r = 5;
    for (size_t item = 2; item <= 12; item++) {
        for (size_t nrandom = 1; nrandom < item; nrandom++) {
            const size_t n = 1000 + (size_t)(harness_random(&r) % (MAX - 1000)), tail = n % 300;
            for (size_t i = 0; i < n; i++) {
                const bool is_random = i % item < nrandom && i < n - tail;
                data[i] = (uint8_t)(is_random ? harness_random(&r) % 200 : i % item + 200);
            }
            const size_t len = encode_by_library(6, data, n, stream, 2 * MAX);
            CHECK(len > 0);
            CHECK_EQ(decode(stream, len, n, data), B2C_OK);
            for (size_t cut = 1; cut <= CUTS && cut < len; cut++) {
                CHECK_EQ(decode(stream, len - cut, n, NULL), B2C_E_CORRUPT);
            }
        }
    }
    free(data);
    free(stream);
}

#endif

int main(void)
{
    static const coder_under_test deflate_coder = {
        .encode = encode_own,
        .decode = decode_own,
        .plain_decode = decode_plainly,
#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)
        .foreign_decode = decode_by_library,
#endif
        .max_clevel = 2,
        .hash = 0xaadfd3288a12dc93,
        .slack = 16,
    };
    begin(&deflate_coder, 1 << 20);
    test_malformed();
    test_codes();
    test_no_distances();
    test_one_distance();
    test_long_codes();
    test_only_easy();
    test_rows_of_noise();
    test_short_matches();
#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)
    test_items();
#endif
    test_sparse();
    test_middling();
    test_periods();
    test_end_of_items();
    test_few_matches();
    test_many_values();
    test_literals();
    check_round_trips();
    check_cap();
    check_determinism();
    check_long_use(long_use_encode);
    check_truncations();
    check_mutations();
#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)
    test_ours_reads_library();
    test_codes_suffice();
    test_codes_do_not_suffice();
    test_noisy_start();
#endif
    b2i_codec_state_free(state);
    return RESULT();
}
