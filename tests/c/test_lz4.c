/*
 * test_lz4.c: our own LZ4 coder: known and malformed blocks, round trips, damage, and, where it is
 * there, the LZ4 library in both directions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "streams.h"
#include "codec_impl.h"

#ifdef B2I_HAVE_LZ4
#include <lz4.h>
#include <lz4hc.h>
#endif

static b2c_status encode_own(b2i_codec_state *s, int clevel, const uint8_t *src, size_t n,
                             uint8_t *dst, size_t cap, size_t *out_len)
{
    b2i_codec_state_tell(s, (b2i_made)((n + 2) % 3)); /* any, and in test_items() the truth */
    return b2i_lz4_encode(s, clevel, NULL, src, n, dst, cap, out_len);
}

static b2c_status decode_own(b2i_codec_state *s, b2i_span dict, b2i_span src, uint8_t *dst,
                             size_t n)
{
    (void)s;
    return b2i_lz4_decode(dict, src, dst, n);
}

/* A length of 15 and the bytes that continue it. */
static uint64_t read_long(b2i_reader *r, uint64_t len)
{
    uint8_t b = 255;
    while (len >= 15 && b == 255 && !r->failed) {
        b = b2i_rd_u8(r);
        len += b;
    }
    return len;
}

/* Why the plain decoder refused a block: libraries copy what the output buffer happened to hold. */
static bool saw_zero_distance;

static b2c_status decode_plainly(b2i_span dict, b2i_span src, uint8_t *dst, size_t n)
{
    b2i_reader r = b2i_rd_init(src, 0);
    size_t at = 0;
    for (;;) {
        uint8_t token = b2i_rd_u8(&r);
        uint64_t nlit = read_long(&r, token >> 4);
        if (r.failed || nlit > n - at || nlit > b2i_rd_left(&r)) {
            return B2C_E_CORRUPT;
        }
        b2i_rd_copy(&r, dst + at, (size_t)nlit);
        at += (size_t)nlit;
        if (b2i_rd_left(&r) == 0) {
            return at == n ? B2C_OK : B2C_E_CORRUPT;
        }
        size_t distance = b2i_rd_u8(&r);
        distance |= (size_t)b2i_rd_u8(&r) << 8;
        uint64_t len = read_long(&r, token & 15) + 4;
        saw_zero_distance = distance == 0 && !r.failed;
        if (r.failed || distance == 0 || distance > at + dict.n || len > n - at) {
            return B2C_E_CORRUPT;
        }
        for (; len > 0; len--, at++) {
            dst[at] = distance > at ? dict.p[dict.n - (distance - at)] : dst[at - distance];
        }
    }
}

#ifdef B2I_HAVE_LZ4
static b2c_status decode_by_library(b2i_span src, uint8_t *dst, size_t n)
{
    int len = LZ4_decompress_safe((const char *)src.p, (char *)dst, (int)src.n, (int)n);
    return len >= 0 && (size_t)len == n ? B2C_OK : B2C_E_CORRUPT;
}

/* The last sequences of a block keep their distance from its end. */
static void test_library_reads_ours(void)
{
    uint8_t data[64], stream[64], back[64];
    for (size_t n = 16; n <= sizeof data; n++) {
        for (size_t from = 0; from < n; from++) {
            memset(data, 1, n);
            generate(data + from, n - from, 0, from);
            size_t len = encode(9, data, n, stream, n - 1);
            if (len != 0) {
                CHECK_EQ(decode_by_library(b2i_span_of(stream, len), back, n), B2C_OK);
                CHECK(memcmp(back, data, n) == 0);
            }
        }
    }
}

/* At all levels, a stream takes less than so many hundredths of what the library makes of it. */
static void check_beside_library(const uint8_t *data, size_t n, size_t percent)
{
    uint8_t *stream = room_of(n);
    for (int level = 1; level <= 9; level++) {
        const int theirs =
            LZ4_compress_fast((const char *)data, (char *)stream, (int)n, (int)n, 10 - level);
        const size_t ours = encode(level, data, n, stream, n - 1);
        CHECK(ours > 0 && ours * 100 < (size_t)theirs * percent);
    }
    free(stream);
}

/*
 * Items of which some bytes repeat: the search in long steps alone would pass them by; and a plane
 * of sparse data, which takes a good deal less.
 */
static void test_items(void)
{
    enum { NITEMS = 8192, N = 8 * NITEMS };
    uint8_t *data = room_of(N);
    uint64_t r = 3, stamp = 1700000000000000;
    for (size_t i = 0; i < NITEMS; i++) {
        stamp += 900 + harness_random(&r) % 200;
        b2i_st64le(data + 8 * i, stamp);
    }
    check_beside_library(data, N, 104);
    generate_sparse(data, N, 20, 1);
    check_beside_library(data, N, 90);
    free(data);
}

/* Rows of items that repeat, one item further on, are found although items repeat each other. */
static void test_rows_of_items(void)
{
    enum { NROWS = 128, NCOLUMNS = 1024, N = 8 * NROWS * NCOLUMNS };
    uint8_t *data = room_of(N), *stream = room_of(N);
    for (size_t i = 0; i < NROWS * NCOLUMNS; i++) {
        const double sum = (double)(i / NCOLUMNS + i % NCOLUMNS);
        uint64_t bits;
        memcpy(&bits, &sum, sizeof bits);
        b2i_st64le(data + 8 * i, bits);
    }
    for (int level = 1; level <= 8; level++) { /* the last one has no gear for long matches */
        const size_t len = encode(level, data, N, stream, N - 1);
        CHECK(len > 0 && len < N / 4);
    }
    free(data);
    free(stream);
}

/* Blocks of the library, whole and damaged.  What it takes we take, to the same bytes. */
static void test_ours_reads_library(void)
{
    enum { N = 100000 };
    uint8_t *data = room_of(N), *stream = room_of(N + N / 200 + 16), *back = room_of(N);
    uint64_t r = 23;
    size_t ngood = 0;
    for (int kind = 0; kind < NKINDS; kind++) {
        for (int level = -8; level <= 9; level++) {
            size_t n = level % 3 == 0 ? N : 1 + (size_t)(harness_random(&r) % 3000);
            int cap = LZ4_compressBound((int)n);
            generate(data, n, kind, (uint64_t)level + 100);
            const char *src = (const char *)data;
            char *dst = (char *)stream;
            int len = level <= 0 ? LZ4_compress_fast(src, dst, (int)n, cap, 1 - level)
                                 : LZ4_compress_HC(src, dst, (int)n, cap, level);
            CHECK(len > 0);
            CHECK_EQ(decode(stream, (size_t)len, n, data), B2C_OK);
            for (int round = 0; round < 200; round++) {
                size_t at = (size_t)(harness_random(&r) % (uint64_t)len);
                uint8_t kept = stream[at];
                stream[at] = (uint8_t)harness_random(&r);
                b2c_status theirs = decode_by_library(b2i_span_of(stream, (size_t)len), back, n);
                if (theirs == B2C_OK) {
                    b2c_status ours = decode(stream, (size_t)len, n, back);
                    CHECK(ours == B2C_OK || saw_zero_distance);
                    ngood += ours == B2C_OK;
                } else if (n < 3000) {
                    (void)decode(stream, (size_t)len, n, NULL);
                }
                stream[at] = kept;
            }
        }
    }
    CHECK(ngood > 1000);
    free(data);
    free(stream);
    free(back);
}

/* So many bytes of noise at the start, or more, are not all given to the library. */
static bool begins_hard(const uint8_t *block, size_t len)
{
    enum { HARD = 1024 };
    b2i_reader r = b2i_rd_init(b2i_span_of(block, len), 0);
    return read_long(&r, b2i_rd_u8(&r) >> 4) >= HARD;
}

/* LZ4HC keeps the library's state from stream to stream: that shows in nothing it makes. */
static void test_kept_state(void)
{
    enum { N = 70000 };
    const b2i_codec *hc = b2i_codec_by_id(B2C_CODEC_LZ4HC);
    uint8_t *data = room_of(N), *ours = room_of(N), *theirs = room_of(N + N / 200 + 16);
    uint64_t r = 29;
    size_t nlarge = 0;
    for (int round = 0; round < 600; round++) {
        int level = 3 + round % 7;
        size_t n = 200 + (size_t)(harness_random(&r) % (round % 8 == 0 ? N - 200 : 3000));
        size_t cap = round % 5 == 0 ? n / 3 : n - 1, len = 0;
        generate(data, n, 1 + round % (NKINDS - 1), (uint64_t)round);
        CHECK_EQ(hc->encode(state, level, NULL, data, n, ours, cap, &len), B2C_OK);
        if (len != 0 && !begins_hard(ours, len)) {
            int want = LZ4_compress_HC((const char *)data, (char *)theirs, (int)n,
                                       LZ4_compressBound((int)n), level);
            CHECK_EQ(len, want);
            b2i_lz4_spread(data, theirs, len);
            CHECK(memcmp(ours, theirs, len) == 0);
            nlarge++;
        }
    }
    CHECK(nlarge > 300);
    free(data);
    free(ours);
    free(theirs);
}

/* A start without matches is not searched at length, with room to spare or to the byte. */
static void test_hard_start(void)
{
    enum { N = 40000 };
    const b2i_codec *hc = b2i_codec_by_id(B2C_CODEC_LZ4HC);
    uint8_t *data = room_of(N), *out = room_of(N), *theirs = room_of(N + N / 200 + 16);
    for (size_t hard = 1000; hard < 35000; hard += 3331) {
        generate(data, hard, 0, hard);
        generate(data + hard, N - hard, 2, hard);
        b2i_lz4_look look;
        size_t len, again;
        CHECK_EQ(b2i_lz4_look_at(state, data, N, out, N - 1, &look), B2C_OK);
        CHECK(hard < 5000 || look.nhard > 0);
        CHECK_EQ(hc->encode(state, 5, NULL, data, N, out, N - 1, &len), B2C_OK);
        CHECK_EQ(decode_with(b2i_span_of(NULL, 0), out, len, N, data), B2C_OK);
        const int want =
            LZ4_compress_HC((const char *)data, (char *)theirs, N, LZ4_compressBound(N), 5);
        CHECK(len <= (size_t)want + (size_t)want / 100);
        CHECK_EQ(hc->encode(state, 5, NULL, data, N, out, len + 8, &again), B2C_OK);
        CHECK_EQ(again, len);
        for (size_t cap = 1; cap < len; cap += 997) {
            CHECK_EQ(hc->encode(state, 5, NULL, data, N, out, cap, &again), B2C_OK);
            CHECK_EQ(again, 0);
        }
    }
    free(data);
    free(out);
    free(theirs);
}

/* Matches of four bytes, which the quick look does not see, keep a start from being passed over. */
static void test_words(void)
{
    enum { NWORDS = 3000, STEP = 6, HARD = 20000 * STEP, N = HARD + 60000 };
    uint8_t words[NWORDS * 4], *data = room_of(N), *out = room_of(N), *theirs = room_of(N);
    const b2i_codec *hc = b2i_codec_by_id(B2C_CODEC_LZ4HC);
    uint64_t r = 11;
    generate(words, sizeof words, 0, 1);
    generate(data, HARD, 0, 2);
    for (size_t i = 0; i < HARD; i += STEP) {
        memcpy(data + i, words + 4 * (harness_random(&r) % NWORDS), 4);
    }
    generate(data + HARD, N - HARD, 2, 3);
    for (size_t n = HARD; n <= N; n += N - HARD) {
        size_t len;
        CHECK_EQ(hc->encode(state, 5, NULL, data, n, out, n - 1, &len), B2C_OK);
        const int want = LZ4_compress_HC((const char *)data, (char *)theirs, (int)n, (int)n - 1, 5);
        CHECK(want > 0 && len > 0 && len <= (size_t)want + (size_t)want / 100);
    }
    free(data);
    free(out);
    free(theirs);
}

/* Blocks that the library makes with a dictionary, and damaged ones. */
static void test_dictionary(void)
{
    enum { N = 5000, DICT = 66000 };
    uint8_t *dict = room_of(DICT), data[N], stream[N + 100], back[N];
    uint64_t r = 5;
    generate(dict, DICT, 6, 1);
    for (int round = 0; round < 300; round++) {
        size_t dict_len = round % 3 == 0 ? DICT : 1 + (size_t)(harness_random(&r) % 3000);
        const char *prefix = (const char *)dict + DICT - dict_len;
        LZ4_streamHC_t *s = LZ4_createStreamHC();
        memcpy(data, dict + DICT - 2500, N / 2);
        generate(data + N / 2, N / 2, round % NKINDS, (uint64_t)round);
        CHECK_EQ(LZ4_loadDictHC(s, prefix, (int)dict_len), dict_len > 65536 ? 65536 : dict_len);
        int len = LZ4_compress_HC_continue(s, (const char *)data, (char *)stream, N, N + 100);
        LZ4_freeStreamHC(s);
        CHECK(len > 0);
        b2i_span d = b2i_span_of(prefix, dict_len);
        CHECK_EQ(decode_with(d, stream, (size_t)len, N, data), B2C_OK);
        for (int k = 0; k < 30; k++) {
            stream[harness_random(&r) % (uint64_t)len] = (uint8_t)harness_random(&r);
            int theirs = LZ4_decompress_safe_usingDict((const char *)stream, (char *)back, len, N,
                                                       (const char *)d.p, (int)d.n);
            b2c_status ours = decode_with(d, stream, (size_t)len, N, theirs == N ? back : NULL);
            CHECK(theirs != N || ours == B2C_OK || saw_zero_distance);
        }
    }
    free(dict);
}
#endif

/* Our own streams with a dictionary, whatever the state has seen before. */
static void test_own_dictionary(void)
{
    enum { MAX = 20000, DICT = 70000, HEAD = 2500, FAR = 60000 };
    static const size_t dict_lens[] = { 1, 7, 8, 9, 100, 3000, 65535, 65536, 65537, DICT };
    uint8_t *bytes = room_of(DICT), *data = room_of(MAX), *stream = room_of(MAX);
    uint8_t *expected = room_of(MAX);
    uint64_t r = 5;
    generate(bytes, DICT, 6, 1);
    for (int round = 0; round < 200; round++) {
        const size_t n = 16 + (size_t)(harness_random(&r) % (round % 2 == 0 ? MAX - 16 : 200));
        const int clevel = 1 + round % B2I_MAX_CLEVEL;
        b2i_span content = b2i_span_of(bytes, dict_lens[round % 10]);
        b2i_lz4_dict *dict = b2i_lz4_dict_new(content); /* often where the one before was */
        CHECK(dict != NULL);
        generate(data, n, round % NKINDS, (uint64_t)round);
        const size_t head = n / 2 < HEAD ? n / 2 : HEAD;
        memcpy(data, bytes + (content.n > FAR ? content.n - FAR : 0), head);
        if (content.n < HEAD) { /* matches that begin in the dictionary and go on in the stream */
            for (size_t i = 0; i < n; i++) {
                data[i] = bytes[i % content.n];
            }
            data[n / 3] ^= 1;
        }
        size_t len, again, plain;
        for (int k = 0; k < 2; k++) { /* where the dictionary is joined with it, and where it was */
            uint8_t *src = guarded_copy(&in_room, data, n);
            CHECK_EQ(b2i_lz4_encode(state, clevel, dict, src, n, stream, n - 1, &len), B2C_OK);
            add_to_hash(stream, len);
        }
        memcpy(expected, stream, len);
        CHECK_EQ(b2i_lz4_encode(state, clevel, NULL, data, n, stream, n - 1, &plain), B2C_OK);
        for (size_t cap = len + 8; len > 0 && cap-- > 0; cap -= cap < len ? cap / 5 : 0) {
            uint8_t *dst = guarded_room(&out_room, cap);
            CHECK_EQ(b2i_lz4_encode(state, clevel, dict, data, n, dst, cap, &again), B2C_OK);
            CHECK(again == 0 || again == len);
            CHECK(again == len || cap < len + coder->slack);
            CHECK(memcmp(dst, expected, again) == 0);
        }
        b2i_free(dict);
        if (len > 0) {
            CHECK_EQ(decode_with(content, expected, len, n, data), B2C_OK);
        }
        if (content.n >= HEAD && head == HEAD) { /* that saves some of the head at least */
            CHECK(len > 0 && (plain == 0 || len + HEAD / 5 < plain));
            size_t body; /* beside it, a third of the head is saved */
            CHECK_EQ(b2i_lz4_encode(state, clevel, NULL, data + HEAD, n - HEAD, stream,
                                    n - HEAD - 1, &body),
                     B2C_OK);
            CHECK(body == 0 || len + HEAD / 3 < body + HEAD);
        }
    }
    free(bytes);
    free(data);
    free(stream);
    free(expected);
}

/* Whether it shrinks is known without doing it, wherever in the data what repeats is. */
static void test_look(void)
{
    enum { N = 60000 };
    uint8_t *data = room_of(N), *out = room_of(N);
    for (size_t n = 100; n <= N; n *= 5) {
        for (size_t from = 0; from < n; from += n / 20) {
            b2i_lz4_look look;
            generate(data, n, 0, n + from);
            CHECK_EQ(b2i_lz4_look_at(state, data, n, out, n - 1, &look), B2C_OK);
            CHECK(!look.shrinks && look.nhard == 0);
            if (from + n / 20 + 20 > n) {
                break;
            }
            memset(data + from, 0, n / 20 + 20);
            CHECK_EQ(b2i_lz4_look_at(state, data, n, out, n - 1, &look), B2C_OK);
            CHECK(look.shrinks && look.nhard <= from);
            CHECK(from < n / 8 || from < 2000 || look.nhard > from / 2);
            CHECK(encode(B2I_LZ4_MID, data, n, out, n - 1) != 0);
        }
    }
    free(data);
    free(out);
}

/* Matches of four bytes, which the look does not see, and a run at the end: it is not awaited. */
static void test_look_at_short_matches(void)
{
    enum { N = 64 * 1024, RUN = 8192, WORD = 4, NWORDS = 256 };
    uint8_t *data = room_of(N), *out = room_of(N), words[NWORDS * WORD];
    uint64_t seed = 3;
    b2i_lz4_look look;
    generate(words, sizeof words, RANDOM, 5);
    generate(data, N, RANDOM, 4);
    memset(data + N - RUN, 0, RUN);
    CHECK_EQ(b2i_lz4_look_at(state, data, N, out, N - 1, &look), B2C_OK);
    CHECK(look.shrinks && look.nhard > N / 2);
    for (size_t i = 0; i + WORD <= N - RUN; i += WORD + 1) {
        memcpy(data + i, words + harness_random(&seed) % NWORDS * WORD, WORD);
    }
    CHECK_EQ(b2i_lz4_look_at(state, data, N, out, N - 1, &look), B2C_OK);
    CHECK(look.shrinks && look.nhard == 0);
    free(data);
    free(out);
}

/* Blocks with literals of all lengths in front of theirs. */
static void test_literals_in_front(void)
{
    enum { MAX_INNER = 600, TAIL = 100, MAX_FRONT = 1500, N = MAX_FRONT + MAX_INNER + TAIL };
    uint8_t data[N], out[N + 32];
    generate(data, N, 0, 5);
    for (size_t inner = 1; inner <= MAX_INNER; inner += inner < 20 ? 1 : 97) {
        const uint8_t *from = data + MAX_FRONT;
        memset(data + MAX_FRONT + inner, data[MAX_FRONT + inner - 1], TAIL);
        for (size_t front = 0; front <= MAX_FRONT; front += front < 600 ? 1 : 13) {
            uint8_t *block = out + b2i_lz4_room_in_front(front);
            size_t len = encode(1, from, inner + TAIL, block, inner + TAIL - 1);
            CHECK(len > 0);
            len = b2i_lz4_put_in_front(from - front, front, out, len);
            CHECK_EQ(
                decode_with(b2i_span_of(NULL, 0), out, len, front + inner + TAIL, from - front),
                B2C_OK);
        }
        generate(data + MAX_FRONT + inner, TAIL, 0, 5);
    }
}

/* How many matches of a block are with the last 31 bytes, but not runs; nseqs: of all. */
static size_t count_near(b2i_span block, size_t *nseqs)
{
    b2i_reader r = b2i_rd_init(block, 0);
    size_t nnear = 0;
    for (*nseqs = 0;; ++*nseqs) {
        const uint8_t token = b2i_rd_u8(&r);
        (void)b2i_rd_take(&r, (size_t)read_long(&r, token >> 4));
        if (b2i_rd_left(&r) == 0) {
            CHECK(!r.failed);
            return nnear;
        }
        size_t distance = b2i_rd_u8(&r);
        distance |= (size_t)b2i_rd_u8(&r) << 8;
        (void)read_long(&r, token & 15);
        nnear += distance > 1 && distance < 32;
    }
}

/* Copying what was put just before is slow: items repeat their high bytes from farther back. */
static void test_near_matches(void)
{
    enum { N = 65536 };
    static uint8_t src[N], block[N], out[N];
    static const uint8_t levels[] = { 1, 5, 9, B2I_LZ4_MID, B2I_CLEVEL_FINE };
    uint64_t seed = 5, stamp = 1700000000000000;
    size_t len, nseqs;
    for (size_t i = 0; i < N; i += 8) {
        stamp += 900 + harness_random(&seed) % 200;
        b2i_st64le(src + i, stamp);
    }
    for (size_t k = 0; k < sizeof levels; k++) {
        CHECK_EQ(b2i_lz4_encode(state, levels[k], NULL, src, N, block, N, &len), B2C_OK);
        CHECK(len > 0 && count_near(b2i_span_of(block, len), &nseqs) < nseqs / 2);
        CHECK_EQ(b2i_lz4_decode(b2i_span_of(NULL, 0), b2i_span_of(block, len), out, N), B2C_OK);
        CHECK(memcmp(out, src, N) == 0);
    }
#ifdef B2I_HAVE_LZ4
    len = (size_t)LZ4_compress_HC((const char *)src, (char *)block, N, N, 5);
    CHECK(count_near(b2i_span_of(block, len), &nseqs) > nseqs / 4 * 3);
    b2i_lz4_spread(src, block, len);
    CHECK(count_near(b2i_span_of(block, len), &nseqs) < nseqs / 8);
    CHECK_EQ(b2i_lz4_decode(b2i_span_of(NULL, 0), b2i_span_of(block, len), out, N), B2C_OK);
    CHECK(memcmp(out, src, N) == 0);
    CHECK_EQ(LZ4_decompress_safe((char *)block, (char *)out, (int)len, N), N);
    CHECK(memcmp(out, src, N) == 0);
#endif
}

/* Words, or items that repeat their high bytes, with something long between: 'kind' tells which. */
static void generate_brief(uint8_t *p, size_t n, int kind, uint64_t seed)
{
    static const char *const words[] = { "read ",  "write ", "open ", "closed ", "disk ",
                                         "file: ", "error ", "of ",   "blocks ", "(none)\n" };
    uint64_t stamp = 1700000000000000;
    for (size_t i = 0; i < n;) {
        const uint64_t x = harness_random(&seed) >> 20;
        size_t len = 8;
        uint8_t item[16];
        if (kind == 0) {
            len = (size_t)snprintf((char *)item, sizeof item, "%s%u", words[x % 10],
                                   x % 7 == 0 ? (unsigned)(x >> 8 & 4095) : 0);
        } else {
            stamp += 900 + x % 200;
            b2i_st64le(item, stamp);
        }
        if ((x >> 20) % 8192 == 0) { /* the window moves on by more than its length */
            for (size_t run = 0; run < 150000 && i < n; run++) {
                p[i++] = 7;
            }
        }
        len = len < n - i ? len : n - i;
        memcpy(p + i, item, len);
        i += len;
    }
}

/* Streams of many windows, in which short matches and long ones, with all that is known, change. */
static void test_brief(void)
{
    enum { N = 1000000 };
    uint8_t *data = room_of(N), *stream = room_of(N), *exact;
    for (int kind = 0; kind < 3; kind++) {
        for (int level = 1; level <= 9; level += 2) {
            generate_brief(data, N / 2, kind, (uint64_t)level);
            generate_brief(data + N / 2, N / 2, kind == 2 ? 0 : kind, (uint64_t)level + 50);
            const size_t len = encode(level, data, N, stream, N - 1);
            CHECK(len > 0 && len < N / 4 * 3);
            exact = room_of(N);
            CHECK_EQ(b2i_lz4_decode(b2i_span_of(NULL, 0), b2i_span_of(stream, len), exact, N),
                     B2C_OK);
            CHECK(memcmp(exact, data, N) == 0);
            CHECK_EQ(encode(level, data, N, stream, len - 1), 0);
            free(exact);
        }
    }
    free(data);
    free(stream);
}

/* Items that end with noise and a match: it starts no later than the format allows. */
static void test_end_of_items(void)
{
    enum { N = 20020, PERIOD = 32 };
    uint8_t *data = room_of(N);
    uint64_t r = 7;
    for (size_t last = 64; last < 80; last++) {
        for (size_t len = 4; len < 16; len++) {
            generate_stamps(data, N, &r);
            end_with_match(data, N, last - len, len, PERIOD, &r);
            CHECK(round_trip(data, N, 1 + (int)(last % 9)) > 0);
        }
    }
    free(data);
}

/*
 * Items, and the first bytes of all once more where the window that searches them ends: these are
 * too far away by then.  A run of items before makes a segment end just there.
 */
static void test_end_of_window(void)
{
    enum { N = 70000, AT = 49000, FIRST = 12 };
    uint8_t *data = room_of(N);
    uint64_t r = 7;
    for (size_t k = 0; k < 300; k++) {
        const size_t nsame = 2184 + k % 9, nnoise = k / 9;
        generate_stamps(data, N, &r);
        for (size_t i = 0; i < FIRST; i++) {
            data[i] = (uint8_t)(128 | harness_random(&r) >> 20);
        }
        for (size_t i = AT; i < AT + nsame; i++) {
            data[i] = data[i - 8];
        }
        for (size_t i = B2I_LZ_WINDOW - 32 - nnoise; i < B2I_LZ_WINDOW + 64; i++) {
            data[i] = (uint8_t)(127 & harness_random(&r) >> 20);
        }
        memcpy(data + B2I_LZ_WINDOW + harness_random(&r) % 14, data, FIRST);
        CHECK(round_trip(data, N, 2 + (int)(k % 8)) > 0);
    }
    free(data);
}

/* Planes of one value but for single bytes, which are found 64 at once. */
static void test_sparse(void)
{
    enum { N = 300000 };
    uint8_t *data = room_of(N);
    for (unsigned density = 3; density <= 192; density *= 4) {
        size_t sum = 0, total = 0;
        for (size_t n = 250; n <= N; n += n < 2000 ? 19 : n / 8) {
            generate_sparse(data, n, density, n);
            sum += round_trip(data, n, 1 + (int)(n % 9));
            total += n;
        }
        CHECK(sum < total / 1000 * (density < 100 ? 20 + 6 * density : 800));
    }
    free(data);
}

/* They save something in bytes of all values, but not where each is coded in few bits. */
static void test_short_matches(void)
{
    enum { N = 60000 };
    uint8_t *data = room_of(N);
    uint64_t r = 5;
    for (size_t i = 0; i < N; i++) {
        data[i] = (uint8_t)(harness_random(&r) >> 20);
    }
    CHECK(!b2i_short_matches_save(data, N, 0));
    for (size_t i = N / 2; i + 5 <= N; i += 5) { /* half of it once more, in pieces of five */
        memcpy(data + i, data + (i - N / 2) / 5 * 7919 % (N / 2 - 5), 5);
    }
    CHECK(b2i_short_matches_save(data, N, N / 32));
    CHECK(!b2i_short_matches_save(data, N, N / 2));
    CHECK(!b2i_short_matches_save(data, 7, 0));
    for (size_t i = 0; i < N; i++) { /* numbers around a mean */
        uint64_t x = harness_random(&r) >> 20;
        data[i] = (uint8_t)((x & 3) + (x >> 2 & 3) + (x >> 4 & 3) + (x >> 6 & 3));
    }
    CHECK(!b2i_short_matches_save(data, N, N / 128));
    free(data);
}

/* They are seen in any part of a stream, and where one byte in 512 is saved by them. */
static void test_has_matches(void)
{
    enum { N = 65536, PART = N / 8, PERIOD = 40 };
    uint8_t *data = room_of(N);
    for (size_t part = 0; part <= 8; part++) { /* the last time, in none */
        generate(data, N, RANDOM, 5);
        for (size_t i = PERIOD; part < 8 && i < PART; i++) {
            data[part * PART + i] = data[part * PART + i % PERIOD];
        }
        CHECK(b2i_has_matches(data, N) == (part < 8));
    }
    for (size_t len = 100; len <= 400; len += 300) { /* 128 bytes are enough */
        generate(data, N, RANDOM, 5);
        memcpy(data + len, data, len);
        CHECK(b2i_has_matches(data, N) == (len > N / 512));
    }
    CHECK(!b2i_has_matches(data, 8));
    CHECK(!b2i_has_matches(data, 0));
    free(data);
}

/* ---- malformed blocks: the rule that each breaks ---- */

static void test_malformed(void)
{
    static const struct {
        const char *rule;
        size_t n, len;
        b2c_status status;
        uint8_t stream[24];
    } cases[] = {
        { "fine: nothing", 0, 1, B2C_OK, { 0x00 } },
        { "fine: one literal", 1, 2, B2C_OK, { 0x10, 7 } },
        { "fine: match between literals", 6, 6, B2C_OK, { 0x10, 7, 1, 0, 0x10, 7 } },
        { "fine: no literals at the end", 5, 5, B2C_OK, { 0x10, 7, 1, 0, 0x00 } },
        { "fine: long match", 21, 7, B2C_OK, { 0x1f, 7, 1, 0, 0, 0x10, 7 } },
        { "fine: longer match", 275, 7, B2C_OK, { 0x1f, 7, 1, 0, 255, 0, 0x00 } },
        { "empty", 0, 0, B2C_E_CORRUPT, { 0 } },
        { "empty for a byte", 1, 0, B2C_E_CORRUPT, { 0 } },
        { "literals cut short", 3, 3, B2C_E_CORRUPT, { 0x30, 1, 2 } },
        { "literals beyond the output", 2, 4, B2C_E_CORRUPT, { 0x30, 1, 2, 3 } },
        { "output too short", 4, 4, B2C_E_CORRUPT, { 0x30, 1, 2, 3 } },
        { "no length of literals", 20, 1, B2C_E_CORRUPT, { 0xf0 } },
        { "no length of literals after 255", 300, 2, B2C_E_CORRUPT, { 0xf0, 255 } },
        { "half a distance", 8, 3, B2C_E_CORRUPT, { 0x10, 7, 1 } },
        { "no length of the match", 20, 4, B2C_E_CORRUPT, { 0x1f, 7, 1, 0 } },
        { "no length of the match after 255", 300, 5, B2C_E_CORRUPT, { 0x1f, 7, 1, 0, 255 } },
        { "a match is last", 5, 4, B2C_E_CORRUPT, { 0x10, 7, 1, 0 } },
        { "match beyond the output", 4, 6, B2C_E_CORRUPT, { 0x10, 7, 1, 0, 0x10, 7 } },
        { "distance 0", 6, 6, B2C_E_CORRUPT, { 0x10, 7, 0, 0, 0x10, 7 } },
        { "distance 2 after one byte", 6, 6, B2C_E_CORRUPT, { 0x10, 7, 2, 0, 0x10, 7 } },
        { "distance before the first byte", 5, 5, B2C_E_CORRUPT, { 0x00, 1, 0, 0x10, 7 } },
        { "bytes behind the end", 6, 7, B2C_E_CORRUPT, { 0x10, 7, 1, 0, 0x10, 7, 7 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b2c_status status = decode(cases[i].stream, cases[i].len, cases[i].n, NULL);
        if (status != cases[i].status) {
            fprintf(stderr, "malformed block: %s\n", cases[i].rule);
        }
        CHECK_EQ(status, cases[i].status);
    }
}

/* Lengths that claim more bytes than any memory has, by long chains of bytes that continue them. */
static void test_huge_length(void)
{
    enum { LEN = 100000 };
    uint8_t *stream = room_of(LEN);
    memset(stream, 255, LEN);
    CHECK_EQ(decode(stream, LEN, 1000, NULL), B2C_E_CORRUPT); /* literals */
    stream[0] = 0x1f;
    stream[2] = 1;
    stream[3] = 0;
    CHECK_EQ(decode(stream, LEN, 1000, NULL), B2C_E_CORRUPT); /* a match */
    stream[LEN - 2] = 0;
    stream[LEN - 1] = 0;
    CHECK_EQ(decode(stream, LEN, 1000, NULL), B2C_E_CORRUPT);
    free(stream);
}

static size_t put_long(uint8_t *p, size_t n)
{
    size_t at = 0;
    if (n >= 15) {
        for (n -= 15; n >= 255; n -= 255) {
            p[at++] = 255;
        }
        p[at++] = (uint8_t)n;
    }
    return at;
}

/*
 * All distances and lengths at which copying differs, at all places near the end of the output;
 * there are so many more literals in front than the distance.
 */
static void copy_everywhere(const uint8_t *data, size_t more)
{
    static const uint32_t distances[] = { 1,  2,  3,  4,   5,   6,   7,    8,    9,  10,
                                          11, 12, 13, 14,  15,  16,  17,   31,   32, 33,
                                          63, 64, 65, 255, 256, 257, 8191, 65535 };
    static const uint32_t lens[] = { 4,   5,   8,   18,  19,  31,  32,  33,  64,  100,
                                     121, 127, 128, 129, 273, 274, 511, 512, 513, 2000 };
    uint8_t *stream = room_of(100000);
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        for (size_t k = 0; k < sizeof lens / sizeof lens[0]; k++) {
            for (uint32_t tail = 0; tail <= 140; tail += tail < 8 ? 1 : 11) {
                size_t at = 1, d = distances[i], nlit = d + more, m = lens[k] - 4;
                stream[0] = (uint8_t)((nlit < 15 ? nlit : 15) << 4 | (m < 15 ? m : 15));
                at += put_long(stream + at, nlit);
                memcpy(stream + at, data, nlit);
                at += nlit;
                stream[at++] = (uint8_t)d;
                stream[at++] = (uint8_t)(d >> 8);
                at += put_long(stream + at, m);
                stream[at++] = (uint8_t)((tail < 15 ? tail : 15) << 4);
                at += put_long(stream + at, tail);
                memcpy(stream + at, data, tail);
                CHECK_EQ(decode(stream, at + tail, nlit + lens[k] + tail, NULL), B2C_OK);
            }
        }
    }
    free(stream);
}

static void test_copies(void)
{
    uint8_t *data = room_of(100000);
    generate(data, 100000, 0, 5);
    copy_everywhere(data, 0);
    for (size_t more = 0; more <= 8; more += 8) {
        memset(data, 0, 100000); /* runs, whatever the distance */
        copy_everywhere(data, more);
        data[more] = 8; /* but for the first byte that is repeated */
        copy_everywhere(data, more);
    }
    free(data);
}

int main(void)
{
    static const coder_under_test lz4 = {
        .encode = encode_own,
        .decode = decode_own,
        .plain_decode = decode_plainly,
#ifdef B2I_HAVE_LZ4
        .foreign_decode = decode_by_library,
#endif
        .max_clevel = B2I_CLEVEL_FINE,
        .hash = 0xf098c6e9fc4d6d0c,
        .slack = 8,
    };
    begin(&lz4, 1 << 20);
    test_look();
    test_look_at_short_matches();
    test_literals_in_front();
    test_brief();
    test_end_of_items();
    test_end_of_window();
    test_sparse();
    test_short_matches();
    test_has_matches();
    test_near_matches();
    test_malformed();
    test_huge_length();
    test_copies();
    test_own_dictionary();
    check_round_trips();
    check_cap();
    check_determinism();
    check_long_use(long_use_encode);
    check_truncations();
    check_mutations();
#ifdef B2I_HAVE_LZ4
    test_library_reads_ours();
    test_items();
    test_rows_of_items();
    test_ours_reads_library();
    test_kept_state();
    test_hard_start();
    test_words();
    test_dictionary();
#endif
    b2i_codec_state_free(state);
    return RESULT();
}
