/*
 * codec_zlib.c: ZLIB: our own coder, and libdeflate or, without that, zlib for the higher levels.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream is one complete zlib stream (RFC 1950), whoever made it.
 */
#include "deflate_dec.h"
#include "deflate_enc.h"

#if defined(B2I_HAVE_LIBDEFLATE)

#include <libdeflate.h>

/* The library's levels 1…9 are those of zlib in effort; its 10…12 are far slower. */
static b2c_status deflate_by_library(b2i_codec_state *state, int clevel, const uint8_t *src,
                                     size_t n, uint8_t *dst, size_t cap, size_t *out_len)
{
    *out_len = 0;
    void **kept = &state->zlib_enc[clevel - 1];
    if (*kept == NULL) {
        *kept = b2i_library_may_alloc() ? libdeflate_alloc_compressor(clevel) : NULL;
        if (*kept == NULL) {
            return B2C_E_MEMORY;
        }
    }
    *out_len = libdeflate_deflate_compress(*kept, src, n, dst, cap); /* 0: no room */
    return B2C_OK;
}

static void state_free(b2i_codec_state *state)
{
    for (int i = 0; i < B2I_MAX_CLEVEL; i++) {
        if (state->zlib_enc[i] != NULL) {
            libdeflate_free_compressor(state->zlib_enc[i]);
        }
    }
}

static uint32_t adler(const uint8_t *src, size_t n)
{
    return libdeflate_adler32(1, src, n);
}

static const char *version(void)
{
    return LIBDEFLATE_VERSION_STRING;
}

#define LIBRARY "libdeflate"

#elif defined(B2I_HAVE_ZLIB)

#include <zlib.h>

#define LIBRARY "zlib"

static voidpf take_memory(voidpf opaque, uInt nitems, uInt len)
{
    (void)opaque;
    return b2i_calloc((size_t)nitems * len);
}

static void give_memory(voidpf opaque, voidpf p)
{
    (void)opaque;
    b2i_free(p);
}

static z_stream *new_stream(void)
{
    z_stream *z = b2i_calloc(sizeof *z);
    if (z != NULL) {
        z->zalloc = take_memory;
        z->zfree = give_memory;
    }
    return z;
}

/* A compressor of the level, ready to begin, or NULL when there is no memory. */
static z_stream *begin_deflate(void **kept, int clevel)
{
    z_stream *z = *kept;
    if (z != NULL) {
        (void)deflateReset(z);
        return z;
    }
    z = new_stream();
    enum { WINDOW_LOG = 15, MEM_LEVEL = 8 }; /* negative: deflate without zlib's head and tail */
    if (z == NULL ||
        deflateInit2(z, clevel, Z_DEFLATED, -WINDOW_LOG, MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        b2i_free(z);
        return NULL;
    }
    *kept = z;
    return z;
}

static uInt clamp_len(size_t n)
{
    return n > (uInt)-1 ? (uInt)-1 : (uInt)n;
}

static b2c_status deflate_by_library(b2i_codec_state *state, int clevel, const uint8_t *src,
                                     size_t n, uint8_t *dst, size_t cap, size_t *out_len)
{
    *out_len = 0;
    z_stream *z = begin_deflate(&state->zlib_enc[clevel - 1], clevel);
    if (z == NULL) {
        return B2C_E_MEMORY;
    }
    z->next_in = (z_const Bytef *)(uintptr_t)src; /* not const in older versions of the library */
    z->avail_in = clamp_len(n);
    z->next_out = dst;
    z->avail_out = clamp_len(cap);
    if (z->avail_in == n && deflate(z, Z_FINISH) == Z_STREAM_END) {
        *out_len = (size_t)(z->next_out - dst);
    }
    return B2C_OK;
}

static void state_free(b2i_codec_state *state)
{
    for (int i = 0; i < B2I_MAX_CLEVEL; i++) {
        if (state->zlib_enc[i] != NULL) {
            (void)deflateEnd(state->zlib_enc[i]);
            b2i_free(state->zlib_enc[i]);
        }
    }
}

static uint32_t adler(const uint8_t *src, size_t n)
{
    uint32_t a = 1;
    for (size_t at = 0; at < n; at += clamp_len(n - at)) {
        a = (uint32_t)adler32(a, src + at, clamp_len(n - at));
    }
    return a;
}

static const char *version(void)
{
    return zlibVersion();
}

#endif

#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)

enum {
    HEAD_LEN = 2, /* of the zlib stream around deflate; and its checksum */
    TAIL_LEN = 4,
    MAX_STORED = 65535,
    STORED_HEAD = 5,
    MIN_LIBRARY = 3,
    MIN_CHEAPEST = 5,
    EASY = 8,              /* what shrinks to such a part needs no library */
    QUITE_EASY = 16,       /* what does to such a part is not parsed again, */
    QUITE_EASY_LONG = 64,  /* nor are long streams that do to such a part, */
    EASIEST = 24,          /* or, at the highest level, to such a one */
    NEXT_TO_NOTHING = 512, /* at the highest level, only what shrinks to such a part */
    EASY_LEVEL = 8,        /* of the library, for what is between: it saves a quarter of some */
    VERY_EASY = 32,        /* what shrinks to such a part */
    VERY_EASY_LEVEL = 7,   /* does with this level */
    MAX_SHORT = 4096,      /* streams in which the levels that follow */
    SHORT_LEVEL = 6,       /* longer chains gain next to nothing for twice the time */
    MAX_CHEAPEST = 65536,  /* streams that are not long */
    MIN_TRIED = 16384,     /* streams in which trying codes alone is worth it */
    LEAST_BITS = 18        /* eighths: of fewer, codes of whole bits are too long */
};

/* Puts head and tail around len bytes of deflate that are in their place, and tells the sum. */
static size_t wrap(const uint8_t *src, size_t n, uint8_t *dst, size_t len)
{
    b2i_st16be(dst, 0x7801); /* a window of 32 KiB, little effort */
    b2i_st32be(dst + HEAD_LEN + len, adler(src, n));
    return HEAD_LEN + len + TAIL_LEN;
}

/* By our own encoder. */
static b2c_status encode_quickly(b2i_codec_state *state, const b2i_deflate_effort *effort,
                                 const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                                 size_t *out_len, bool *misses)
{
    *out_len = 0;
    if (cap < HEAD_LEN + TAIL_LEN) {
        return B2C_OK;
    }
    size_t len = 0;
    B2I_TRY(b2i_deflate_encode(state, effort, src, n, dst + HEAD_LEN, cap - HEAD_LEN - TAIL_LEN,
                               &len, misses));
    *out_len = len > 0 ? wrap(src, n, dst, len) : 0;
    return B2C_OK;
}

static size_t stored_len(size_t n)
{
    return n + (n + MAX_STORED - 1) / MAX_STORED * STORED_HEAD;
}

/* The first n bytes as stored blocks, none of which is the last block. */
static void put_stored(const uint8_t *src, size_t n, uint8_t *dst)
{
    while (n > 0) {
        const size_t len = n < MAX_STORED ? n : MAX_STORED;
        dst[0] = 0;
        b2i_st32le(dst + 1, (uint32_t)(len | (len ^ MAX_STORED) << 16)); /* and its complement */
        memcpy(dst + STORED_HEAD, src, len);
        src += len;
        dst += STORED_HEAD + len;
        n -= len;
    }
}

/* By the library, but for the first nstored bytes. */
static b2c_status encode_well(b2i_codec_state *state, int level, size_t nstored, const uint8_t *src,
                              size_t n, uint8_t *dst, size_t cap, size_t *out_len)
{
    const size_t before = stored_len(nstored);
    size_t len = 0;
    *out_len = 0;
    if (cap < HEAD_LEN + before + TAIL_LEN) {
        return B2C_OK;
    }
    B2I_TRY(deflate_by_library(state, level, src + nstored, n - nstored, dst + HEAD_LEN + before,
                               cap - HEAD_LEN - before - TAIL_LEN, &len));
    if (len > 0) {
        put_stored(src, nstored, dst + HEAD_LEN);
        *out_len = wrap(src, n, dst, before + len);
    }
    return B2C_OK;
}

/* How many bytes at the start codes would make less than a 64th smaller, of short streams none. */
static size_t flat_start(const uint8_t *src, size_t n)
{
    enum { SEGMENT = 4096, LAST = 1024, LEAST = 4 * SEGMENT };
    size_t flat = 0;
    for (size_t len = SEGMENT; n >= LEAST && len >= LAST; len /= 2) {
        while (n - flat >= len && b2i_is_flat(src + flat, len, 64)) {
            flat += len;
        }
    }
    return flat;
}

/*
 * How many bytes at the start, or all, are not worth the effort: they have no matches, or few, also
 * with what follows, and their values are all as frequent.  Planes of noise are so, and the rows
 * that bitshuffled data begin with.  What matches of three bytes save of whole planes, up to a
 * thirtieth, is not seen.
 */
static b2c_status find_hard(b2i_codec_state *state, const uint8_t *src, size_t n, uint8_t *dst,
                            size_t cap, size_t *nhard)
{
    enum { LEAST = 2048, PART = 16, WINDOW = 32768 };
    b2i_lz4_look look;
    B2I_TRY(b2i_lz4_look_at(state, src, n, dst, cap, &look));
    size_t start = look.shrinks ? look.nhard : n;
    bool is_hard =
        (start == n || (start >= LEAST && start >= n / PART)) && b2i_is_flat(src, start, 512);
    if (!is_hard && look.shrinks) {
        start = flat_start(src, n);
        is_hard = start < n && start >= n / PART && !b2i_has_matches(src, start);
    }
    is_hard = is_hard && !b2i_short_matches_save(src, start, start / 256) &&
              (start == n || !b2i_recurs(src, start, n, WINDOW));
    *nhard = is_hard ? start : 0;
    return B2C_OK;
}

static const uint8_t library_levels[B2I_MAX_CLEVEL + 1] = { 0, 0, 0, 3, 4, 5, 6, 6, 7, 7 };

static const b2i_deflate_effort if_easy = { B2I_SEARCH_PAIRS, EASY, 62, 0, 0 };
static const b2i_deflate_effort codes_alone = { B2I_SEARCH_NOTHING, 0, 62, 0, 0 };

/* Whether the library makes clearly less of some pieces of a stream than codes alone. */
static b2c_status try_library(b2i_codec_state *state, int clevel, const uint8_t *src, size_t n,
                              bool *pays)
{
    enum { PART = 8, NPIECES = 4, MAX_PIECE = 1024, LEAST = 128 };
    uint8_t sample[NPIECES * MAX_PIECE], out[2 * sizeof sample];
    const size_t part = n / PART / NPIECES, piece = part < MAX_PIECE ? part : MAX_PIECE;
    const size_t len = NPIECES * piece;
    size_t by_codes, by_library;
    b2i_dict_sample(b2i_span_of(src, n), NPIECES, piece, sample);
    B2I_TRY(encode_quickly(state, &codes_alone, sample, len, out, sizeof out, &by_codes, NULL));
    B2I_TRY(
        encode_well(state, library_levels[clevel], 0, sample, len, out, sizeof out, &by_library));
    *pays = by_library > 0 && by_library + by_library / LEAST < by_codes;
    return B2C_OK;
}

/* What is smaller than the stream of *out_len bytes, and stands behind it, takes its place. */
static void keep_smaller(uint8_t *dst, size_t *out_len, size_t len)
{
    if (len > 0) {
        memmove(dst, dst + *out_len, len);
        *out_len = len;
    }
}

/* By our own encoder, in the fewest bits that its codes before make of it. */
static b2c_status encode_cheapest(b2i_codec_state *state, int clevel, const uint8_t *src, size_t n,
                                  uint8_t *dst, size_t cap, size_t *out_len)
{
    static const uint16_t depths[B2I_MAX_CLEVEL + 1] = { 0, 0, 0, 0, 0, 1, 4, 16, 64, 256 };
    const b2i_deflate_effort cheapest = { B2I_SEARCH_CHEAPEST, 0, 62, depths[clevel], 0 };
    return encode_quickly(state, &cheapest, src, n, dst, cap, out_len, NULL);
}

/* By the library, instead of the stream of *out_len bytes if that is larger. */
static b2c_status try_well(b2i_codec_state *state, int level, const uint8_t *src, size_t n,
                           uint8_t *dst, size_t *out_len)
{
    size_t len;
    B2I_TRY(encode_well(state, level, 0, src, n, dst + *out_len, *out_len - 1, &len));
    keep_smaller(dst, out_len, len);
    return B2C_OK;
}

static b2c_status try_cheapest(b2i_codec_state *state, int clevel, const uint8_t *src, size_t n,
                               uint8_t *dst, size_t *out_len)
{
    size_t len;
    B2I_TRY(encode_cheapest(state, clevel, src, n, dst + *out_len, *out_len - 1, &len));
    keep_smaller(dst, out_len, len);
    return B2C_OK;
}

/*
 * Whether the library makes a sixteenth less of the eighth in the middle than the search for what
 * is easy, which takes a quarter of its time.
 */
static b2c_status try_middle(b2i_codec_state *state, int level, const uint8_t *src, size_t n,
                             uint8_t *dst, size_t cap, bool *pays)
{
    enum { PART = 8 };
    const size_t len = n / PART;
    size_t by_us, by_library;
    src += n / 2 - len / 2;
    B2I_TRY(encode_quickly(state, &if_easy, src, len, dst, cap, &by_us, NULL));
    B2I_TRY(encode_well(state, level, 0, src, len, dst, cap, &by_library));
    *pays = by_us == 0 || (by_library > 0 && by_library < by_us - by_us / 16);
    return B2C_OK;
}

/*
 * A smaller stream than the one of *out_len bytes that the search for what is easy has made, at
 * levels that may take long; where there is room for both.  Of long streams the library makes half
 * as much when their matches are short and far away, as in planes of evenly spaced numbers, where
 * our search would take ten times as long.
 */
static b2c_status improve(b2i_codec_state *state, int clevel, const uint8_t *src, size_t n,
                          uint8_t *dst, size_t cap, size_t *out_len)
{
    const bool is_best = clevel == B2I_MAX_CLEVEL, is_long = n > MAX_CHEAPEST;
    const size_t easy = *out_len;
    if (clevel < MIN_CHEAPEST || cap - easy < easy) {
        return B2C_OK;
    }
    if (is_long && !is_best) {
        bool pays = easy > n / QUITE_EASY_LONG;
        if (pays) {
            B2I_TRY(
                try_middle(state, library_levels[clevel], src, n, dst + easy, cap - easy, &pays));
        }
        return pays ? try_well(state, library_levels[clevel], src, n, dst, out_len) : B2C_OK;
    }
    const int level = easy <= n / VERY_EASY ? VERY_EASY_LEVEL
                      : easy <= n / EASY    ? EASY_LEVEL
                                            : SHORT_LEVEL;
    if (is_long && easy > n / NEXT_TO_NOTHING) {
        B2I_TRY(try_well(state, level, src, n, dst, out_len));
        const bool pays = easy > n / EASIEST && *out_len > easy - easy / 8;
        return pays ? try_cheapest(state, clevel, src, n, dst, out_len) : B2C_OK;
    }
    if (easy > n / (is_best ? EASIEST : QUITE_EASY)) {
        B2I_TRY(try_cheapest(state, clevel, src, n, dst, out_len));
    }
    return is_best && *out_len > n / NEXT_TO_NOTHING ? try_well(state, level, src, n, dst, out_len)
                                                     : B2C_OK;
}

/* Whether three of four bytes are as the one before. */
static bool has_runs(const uint8_t *src, size_t n)
{
    size_t nequal = 0;
    for (size_t i = 1; i < n; i++) {
        nequal += src[i] == src[i - 1];
    }
    return nequal > n / 4 * 3;
}

/*
 * Our own encoder finds what there is in very regular data, and codes what has no matches worth
 * the name: the library takes those by chance, for five times as long, and makes up to a tenth more
 * of it.  For the rest the library is better from the third level on, but for what is not worth the
 * effort; at the highest one both are tried where either may be.
 */
static b2c_status zlib_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len)
{
    static const b2i_deflate_effort fast = { B2I_SEARCH_QUICKLY, 0, 48, 0, 128 };
    static const b2i_deflate_effort shorter = { B2I_SEARCH_SHORT, 0, 62, 0, 128 };
    static const b2i_deflate_effort good = { B2I_SEARCH_PAIRS, 0, 62, 0, 0 };
    (void)dict;
    if (clevel < MIN_LIBRARY) {
        bool misses = false;
        B2I_TRY(encode_quickly(state, clevel == 1 ? &fast : &good, src, n, dst, cap, out_len,
                               clevel == 1 ? &misses : NULL));
        return misses ? encode_quickly(state, &shorter, src, n, dst, cap, out_len, NULL) : B2C_OK;
    }
    if (n >= MIN_TRIED && b2i_codes_suffice(src, n, LEAST_BITS)) {
        bool library_pays;
        B2I_TRY(try_library(state, clevel, src, n, &library_pays));
        if (!library_pays) {
            return encode_quickly(state, &codes_alone, src, n, dst, cap, out_len, NULL);
        }
    }
    /* of short streams with many runs, both are tried whatever is left */
    const bool tries_both = clevel == B2I_MAX_CLEVEL && n <= MAX_SHORT && has_runs(src, n);
    const size_t room = tries_both || n / EASY > cap ? cap : n / EASY;
    const bool stops = n >= MIN_TRIED && clevel >= MIN_CHEAPEST && clevel < B2I_MAX_CLEVEL;
    bool misses = false;
    size_t nhard;
    B2I_TRY(encode_quickly(state, tries_both ? &good : &if_easy, src, n, dst, room, out_len,
                           stops ? &misses : NULL));
    if (misses) {
        B2I_TRY(encode_cheapest(state, clevel, src, n, dst, room, out_len));
        if (*out_len > 0) {
            return B2C_OK;
        }
    }
    if (*out_len == 0) {
        B2I_TRY(find_hard(state, src, n, dst, cap, &nhard));
        if (nhard == n) {
            if (clevel < B2I_CLEVEL_OF_RATIO) { /* others try what looks as if it were in vain */
                return B2C_OK;
            }
            nhard = 0;
        }
        const int level = n <= MAX_SHORT && library_levels[clevel] > SHORT_LEVEL
                              ? SHORT_LEVEL
                              : library_levels[clevel];
        return encode_well(state, level, nhard, src, n, dst, cap, out_len);
    }
    const b2c_status st = improve(state, clevel, src, n, dst, cap, out_len);
    *out_len = st == B2C_OK ? *out_len : 0;
    return st;
}

static b2c_status zlib_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                              uint8_t *dst, size_t n)
{
    (void)dict;
    size_t used = 0;
    if (src.n < HEAD_LEN + TAIL_LEN || b2i_ld16be(src.p) % 31 != 0 || (src.p[0] & 15) != 8 ||
        src.p[0] >> 4 > 7 || (src.p[1] & 0x20) != 0) {
        return B2C_E_CORRUPT; /* not deflate in a window of 32 KiB at most, or with a dictionary */
    }
    b2i_span body = b2i_span_of(src.p + HEAD_LEN, src.n - HEAD_LEN - TAIL_LEN);
    B2I_TRY(b2i_deflate_decode(state, body, dst, n, &used));
    bool ok = used == body.n && adler(dst, n) == b2i_ld32be(src.p + src.n - TAIL_LEN);
    return ok ? B2C_OK : B2C_E_CORRUPT;
}

const b2i_codec_ops b2i_codec_zlib = {
    .codec = { .id = B2C_CODEC_ZLIB,
               .format = 3,
               .has_dict = false,
               .reads_again = true, /* lengths of codes are for what was counted before */
               .name = "zlib",
               .library = LIBRARY,
               .version = version,
               .encode = zlib_encode,
               .decode = zlib_decode },
    .state_free = state_free,
};

#endif
