/*
 * codec_zstd.c: ZSTD on top of libzstd.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream is exactly one ZSTD frame.  Contexts are kept: making one costs more
 * than coding a small block.
 */
#include "lz.h"

#ifdef B2I_HAVE_ZSTD

#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>
#ifdef B2I_BUNDLED_ZSTD
#include <common/noted_alloc.h>
#endif

enum {
    MIN_PROBED = 4096,
    MAX_SHORT = 16384,
    SLACK = 16,
    PRICED = 7,        /* from this level on, the library knows what literals cost */
    DICT_LEVEL = 1,    /* of all frames made with a dictionary */
    TRAIN_FACTOR = 64, /* a dictionary is trained on up to so many times its size */
    MIN_SAMPLES = 16,  /* of the training */
    MIN_SAMPLE_LEN = 64,
    MAX_SAMPLE_LEN = 4096
};

enum { AS_OF_LEVEL = 0, FEW_STEPS = 3 }; /* of parameters of the library */

#define FRAME_MAGIC 0xFD2FB528 /* libraries may read old formats and skippable frames as well */

static b2c_status status_of(size_t result, b2c_status otherwise)
{
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? B2C_E_MEMORY : otherwise;
}

static ZSTD_CCtx *context(void **kept)
{
    if (*kept == NULL && b2i_library_may_alloc()) {
        *kept = ZSTD_createCCtx();
    }
    return *kept;
}

/*
 * Level 1 has a context of its own: planes alternate between it and a higher level.  In
 * long streams the library would look for matches of 7 bytes, which passes by items of 8 of which
 * one byte changes.
 */
static size_t encode_fast(ZSTD_CCtx *cctx, uint8_t *dst, size_t cap, const uint8_t *src, size_t n)
{
    enum { LONG = 256 * 1024 };
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, 1);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_minMatch, n > LONG ? 6 : AS_OF_LEVEL);
    return ZSTD_compress2(cctx, dst, cap, src, n);
}

/*
 * Also finds matches of 64 bytes and more that are farther apart than the level would look: by
 * the hash of one place in 64, which a table of 2^14 finds in 1 MiB.
 */
static size_t encode_far(ZSTD_CCtx *cctx, int level, uint8_t *dst, size_t cap, const uint8_t *src,
                         size_t n)
{
    enum { MIN_MATCH = 64, RATE_LOG = 6, HASH_LOG = 14 };
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, level);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_enableLongDistanceMatching, 1);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_ldmMinMatch, MIN_MATCH);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_ldmHashRateLog, RATE_LOG);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_ldmHashLog, HASH_LOG);
    return ZSTD_compress2(cctx, dst, cap, src, n);
}

/*
 * The highest level, but long matches are taken at once: that halves the time and more where there
 * are many, for a twentieth of what little they leave.
 */
static size_t encode_plane(ZSTD_CCtx *cctx, uint8_t *dst, size_t cap, const uint8_t *src, size_t n)
{
    enum { LONG_MATCH = 512 };
    (void)ZSTD_CCtx_reset(cctx, ZSTD_reset_parameters);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, ZSTD_maxCLevel());
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_targetLength, LONG_MATCH);
    return ZSTD_compress2(cctx, dst, cap, src, n);
}

/*
 * Matches are looked for in binary trees.
 *
 * In runs that takes half the time or less where the library would look among rows of candidates:
 * those are all alike within a run.  Planes of numbers that grow are such.
 *
 * In short planes that shrink to a sixth 2^FEW_STEPS steps down a tree find as much as the 2^5 of
 * the library: sizes are 1.0002 of what they were, in 2 to 20 % less time, of rare values in half.
 * With 2^2 sawteeth would be 1.18 times as large, and with 2^3 rows of bits 1.05 times.
 */
static size_t encode_by_trees(ZSTD_CCtx *cctx, int level, int steps, uint8_t *dst, size_t cap,
                              const uint8_t *src, size_t n)
{
    (void)ZSTD_CCtx_reset(cctx, ZSTD_reset_parameters);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, level);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_strategy, ZSTD_btlazy2);
    (void)ZSTD_CCtx_setParameter(cctx, ZSTD_c_searchLog, steps);
    return ZSTD_compress2(cctx, dst, cap, src, n);
}

/* The first n bytes of a stream, at most MAX_SHORT, at level 1; len is 0 unless that is a sixth. */
typedef struct start {
    size_t n, len;
    uint8_t bytes[MAX_SHORT / 6 + SLACK];
} start;

static b2c_status encode_start(b2i_codec_state *state, const uint8_t *src, size_t n, start *out)
{
    ZSTD_CCtx *cctx = context(&state->zstd_fast);
    if (cctx == NULL) {
        return B2C_E_MEMORY;
    }
    const size_t len = encode_fast(cctx, out->bytes, n / 6 + SLACK, src, n);
    out->n = n;
    out->len = ZSTD_isError(len) || len > n / 6 ? 0 : len;
    return ZSTD_isError(len) ? status_of(len, B2C_OK) : B2C_OK; /* B2C_OK: no room */
}

/*
 * The library's level for streams whose start does not shrink to a sixth: what takes half the time
 * of the level asked for and loses up to 1/160 with the data of bench/.  In other streams high
 * levels find longer matches.  The library has a table of parameters for lengths up to 16, 128 and
 * 256 KiB and for longer ones, and the same level means more effort in some of them.  Level 7
 * follows long chains, which takes twice the time of level 9 for time stamps of 4 kB.
 */
static int level_of_hard(int clevel, size_t n)
{
    static const size_t limits[] = { MAX_SHORT, 131072, 262144 };
    static const uint8_t highest[] = { 15, 18, 17, 18 };
    size_t row = 0;
    while (row < 3 && n > limits[row]) {
        row++;
    }
    return clevel == B2I_MAX_CLEVEL ? highest[row] : n <= MIN_PROBED ? 6 : 7;
}

/* Of rare values in short streams, unless next to nothing is left, level 1 often makes less. */
static b2c_status try_first(b2i_codec_state *state, start *easy, const uint8_t *src, size_t n,
                            uint8_t *dst, size_t cap, size_t *len)
{
    enum { FEW = 48 };
    if (easy->n < n && *len > 0 && *len <= n / FEW) {
        return B2C_OK;
    }
    if (easy->n < n) {
        B2I_TRY(encode_start(state, src, n, easy));
    }
    if (easy->len > 0 && easy->len <= cap && (*len == 0 || easy->len < *len)) {
        memcpy(dst, easy->bytes, easy->len);
        *len = easy->len;
    }
    return B2C_OK;
}

static const uint8_t library_levels[B2I_MAX_CLEVEL + 1] = { 0, 1, 3, 5, 7, 9, 11, 13, 15, 22 };

/*
 * Whether the library makes clearly less of some pieces of a stream at a level than at the first.
 */
static b2c_status try_level(b2i_codec_state *state, int clevel, const uint8_t *src, size_t n,
                            bool *pays)
{
    enum { NPIECES = 4, PIECE = 1024, LEAST = 128 };
    uint8_t sample[NPIECES * PIECE], out[ZSTD_COMPRESSBOUND(NPIECES * PIECE)];
    ZSTD_CCtx *first = context(&state->zstd_fast), *other = context(&state->zstd_enc);
    if (first == NULL || other == NULL) {
        return B2C_E_MEMORY;
    }
    b2i_dict_sample(b2i_span_of(src, n), NPIECES, PIECE, sample);
    const size_t by_first = encode_fast(first, out, sizeof out, sample, sizeof sample);
    const size_t by_other =
        ZSTD_compressCCtx(other, out, sizeof out, sample, sizeof sample, library_levels[clevel]);
    if (ZSTD_isError(by_first) || ZSTD_isError(by_other)) {
        *pays = true;
        return status_of(ZSTD_isError(by_first) ? by_first : by_other, B2C_OK);
    }
    *pays = by_other + by_other / LEAST < by_first;
    return B2C_OK;
}

/*
 * Whether higher levels would find no matches that pay.  All levels do the same then, but versions
 * before 1.5.5 search at full effort, at a tenth of the speed, and the highest looks for the
 * shortest ones.
 */
static b2c_status is_in_vain(b2i_codec_state *state, int clevel, const uint8_t *src, size_t n,
                             bool *in_vain)
{
    enum {
        LEAST_OF_PRICED = 48, /* they take matches of two or three where they are cheap */
        LEAST_BITS = 18,
        MIN_TRIED = 16384 /* streams in which trying is worth it */
    };
    *in_vain = false;
    if (n < MIN_PROBED) {
        return B2C_OK;
    }
    if (clevel < B2I_MAX_CLEVEL && !b2i_has_matches(src, n) &&
        !b2i_short_matches_save(src, n, n / 128)) {
        *in_vain = true;
    } else if (clevel >= PRICED) {
        *in_vain = b2i_codes_suffice(src, n, LEAST_OF_PRICED);
    } else if (n >= MIN_TRIED && b2i_codes_suffice(src, n, LEAST_BITS)) {
        bool pays;
        B2I_TRY(try_level(state, clevel, src, n, &pays));
        *in_vain = !pays;
    }
    return B2C_OK;
}

/*
 * Whether encode_by_trees() is better: where runs follow runs, so that bytes differ from several
 * before the end of one; not where single bytes are between them, as in masks of rare things, whose
 * matches are so long that comparing them takes the time.  The levels of others take other
 * searches.
 */
static bool has_long_runs(int clevel, const uint8_t *src, size_t n)
{
    enum { LOWEST = 4, HIGHEST = 5, MOST = 131072, NPIECES = 4, PIECE = 1024, MEAN_LEN = 128 };
    enum { FAR = 8 };
    if (clevel < LOWEST || clevel > HIGHEST || n <= MAX_SHORT || n > MOST) {
        return false;
    }
    size_t nends = 0, nfar = 0;
    for (size_t k = 0; k < NPIECES; k++) {
        const uint8_t *p = src + n / NPIECES * k;
        for (size_t i = 0; i < PIECE; i++) {
            nends += p[i] != p[i + 1];
            nfar += p[i] != p[i + FAR];
        }
    }
    return nends > 0 && nends <= NPIECES * PIECE / MEAN_LEN && nfar > nends * FAR / 2;
}

/*
 * Whether the library would store a stream, since neither codes nor matches save 1/64, which it
 * finds out at the full effort of the level.  High levels take matches that are not seen here, and
 * the first takes no longer than looking for those of items and rows of bits.
 */
static bool is_noise(int clevel, b2i_made made, const uint8_t *src, size_t n)
{
    enum { SHORTEST = 256, LONG = 40960 }; /* from there on it looks at two pieces only */
    if (clevel >= PRICED || n >= LONG) {
        return false;
    }
    if (n >= MIN_PROBED) {
        return made == B2I_MADE_BYTES && b2i_looks_flat(src, n) && !b2i_has_matches(src, n) &&
               !b2i_short_matches_save(src, n, n / 128);
    }
    return clevel > 1 && n >= SHORTEST && b2i_short_repeats(src, n) <= n / 128 &&
           b2i_is_flat(src, n, 64);
}

static b2c_status encode_frame(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                               const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                               size_t *out_len)
{
    const bool of_plane = clevel == B2I_CLEVEL_OF_PLANE, is_far = clevel >= B2I_CLEVEL_FAR;
    const bool use_dict = dict != NULL && dict->enc != NULL;
    size_t len;
    *out_len = 0;
    clevel = of_plane ? B2I_MAX_CLEVEL : is_far ? clevel - B2I_CLEVEL_FAR : clevel;
    const bool looks =
        !use_dict && !is_far && (clevel == B2I_MAX_CLEVEL || (clevel == 5 && n <= MAX_SHORT));
    if (!use_dict && !is_far && is_noise(clevel, state->made, src, n)) {
        return B2C_OK;
    }
    start easy; /* most of it is not written */
    easy.len = 0;
    if (looks) {
        size_t most = clevel == B2I_MAX_CLEVEL ? MAX_SHORT : MIN_PROBED;
        B2I_TRY(encode_start(state, src, n < most ? n : most, &easy));
    }
    bool in_vain = false;
    if (!use_dict && easy.len == 0 && clevel > 1) {
        B2I_TRY(is_in_vain(state, clevel, src, n, &in_vain));
        clevel = in_vain ? 1 : clevel;
    }
    bool fast = clevel == 1 && !use_dict && !is_far;
    ZSTD_CCtx *cctx = context(fast     ? &state->zstd_fast
                              : is_far ? &state->zstd_far
                                       : &state->zstd_enc);
    if (cctx == NULL) {
        return B2C_E_MEMORY;
    }
    if (use_dict) {
        len = ZSTD_compress_usingCDict(cctx, dst, cap, src, n, dict->enc);
    } else if (is_far) {
        len = encode_far(cctx, library_levels[clevel], dst, cap, src, n);
    } else if (fast) {
        len = encode_fast(cctx, dst, cap, src, n);
    } else if (of_plane && easy.len > 0) {
        len = encode_plane(cctx, dst, cap, src, n);
    } else if (clevel == 5 && easy.len > 0 && state->made == B2I_MADE_BYTES) {
        len = encode_by_trees(cctx, library_levels[clevel], FEW_STEPS, dst, cap, src, n);
    } else if (has_long_runs(clevel, src, n)) {
        len = encode_by_trees(cctx, library_levels[clevel], AS_OF_LEVEL, dst, cap, src, n);
    } else {
        int level = looks && easy.len == 0 ? level_of_hard(clevel, n) : library_levels[clevel];
        len = ZSTD_compressCCtx(cctx, dst, cap, src, n, level);
    }
    if (ZSTD_isError(len)) {
        B2I_TRY(status_of(len, B2C_OK)); /* B2C_OK: no room */
        len = 0;
    }
    if (easy.len > 0 && n <= MAX_SHORT) {
        B2I_TRY(try_first(state, &easy, src, n, dst, cap, &len));
    }
    *out_len = len;
    return B2C_OK;
}

/*
 * Within the last bytes of its room (a word, 8 or 4 bytes) the library stores what it would have
 * compressed, so that frames would depend on the room and on the machine.  Short streams get room
 * for any frame; long ones whose frames come that near to the end do not fit.
 */
static b2c_status zstd_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len)
{
    if (n > MAX_SHORT) {
        B2I_TRY(encode_frame(state, clevel, dict, src, n, dst, cap, out_len));
        *out_len = *out_len + SLACK <= cap ? *out_len : 0;
        return B2C_OK;
    }
    uint8_t roomy[ZSTD_COMPRESSBOUND(MAX_SHORT)];
    B2I_TRY(encode_frame(state, clevel, dict, src, n, roomy, sizeof roomy, out_len));
    *out_len = *out_len <= cap ? *out_len : 0;
    memcpy(dst, roomy, *out_len);
    return B2C_OK;
}

static b2c_status zstd_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                              uint8_t *dst, size_t n)
{
    if (src.n < 4 || b2i_ld32le(src.p) != FRAME_MAGIC ||
        ZSTD_findFrameCompressedSize(src.p, src.n) != src.n) {
        return B2C_E_CORRUPT;
    }
    if (state->zstd_dec == NULL) {
        state->zstd_dec = b2i_library_may_alloc() ? ZSTD_createDCtx() : NULL;
        if (state->zstd_dec == NULL) {
            return B2C_E_MEMORY;
        }
    }
    size_t len;
    if (dict != NULL) {
        len = ZSTD_decompress_usingDDict(state->zstd_dec, dst, n, src.p, src.n, dict->dec);
    } else {
        len = ZSTD_decompressDCtx(state->zstd_dec, dst, n, src.p, src.n);
    }
    if (ZSTD_isError(len)) {
        return status_of(len, B2C_E_CORRUPT);
    }
    return len == n ? B2C_OK : B2C_E_CORRUPT;
}

static void state_free(b2i_codec_state *state)
{
    ZSTD_freeCCtx(state->zstd_enc);
    ZSTD_freeCCtx(state->zstd_fast);
    ZSTD_freeCCtx(state->zstd_far);
    ZSTD_freeDCtx(state->zstd_dec);
}

/* ---- dictionaries ---- */

/* Whether the library could not get memory in this thread since it was asked last; ours tells. */
static bool lacked_memory(void)
{
#ifdef B2I_BUNDLED_ZSTD
    return b2i_zstd_lacked_memory() != 0;
#else
    return false;
#endif
}

static size_t clamp(size_t x, size_t low, size_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Trains on an eighth of a block at a time, evenly spread over the data. */
static b2c_status dict_train(b2i_span src, size_t blocksize, uint8_t *dst, size_t max_len,
                             size_t *out_len)
{
    size_t piece_len = clamp(blocksize / 8, MIN_SAMPLE_LEN, MAX_SAMPLE_LEN);
    piece_len = piece_len < src.n / MIN_SAMPLES ? piece_len : src.n / MIN_SAMPLES;
    if (piece_len < 8) {
        return B2C_OK; /* the library's minimum */
    }
    size_t total = max_len < src.n / TRAIN_FACTOR ? max_len * TRAIN_FACTOR : src.n;
    size_t npieces = clamp(total / piece_len, MIN_SAMPLES, UINT32_MAX / 2);

    uint8_t *samples = b2i_malloc(npieces * piece_len);
    size_t *lens = b2i_malloc(npieces * sizeof *lens);
    b2c_status status = B2C_E_MEMORY;
    if (samples != NULL && lens != NULL && b2i_library_may_alloc()) {
        b2i_dict_sample(src, npieces, piece_len, samples);
        for (size_t i = 0; i < npieces; i++) {
            lens[i] = piece_len;
        }
        (void)lacked_memory();
        size_t len = ZDICT_trainFromBuffer(dst, max_len, samples, lens, (unsigned)npieces);
        if (lacked_memory()) {
            status = B2C_E_MEMORY; /* there may be a dictionary, but another one */
        } else if (ZDICT_isError(len)) {
            status = status_of(len, B2C_OK); /* B2C_OK: no use */
        } else {
            *out_len = len;
            status = B2C_OK;
        }
    }
    b2i_free(lens);
    b2i_free(samples);
    return status;
}

/* The library does not say why it refuses a dictionary: let it decode an empty frame. */
static b2c_status dict_trouble(b2i_span bytes)
{
    static const uint8_t empty[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0 };
    uint8_t none[1];
    ZSTD_DCtx *dctx = b2i_library_may_alloc() ? ZSTD_createDCtx() : NULL;
    if (dctx == NULL) {
        return B2C_E_MEMORY;
    }
    size_t len = ZSTD_decompress_usingDict(dctx, none, 0, empty, sizeof empty, bytes.p, bytes.n);
    ZSTD_freeDCtx(dctx);
    return ZSTD_isError(len) ? status_of(len, B2C_E_CORRUPT) : B2C_E_MEMORY;
}

static b2c_status dict_init(b2i_dict *dict, int clevel)
{
    b2i_span b = dict->bytes;
    if (!b2i_library_may_alloc()) {
        return B2C_E_MEMORY;
    }
    dict->dec = ZSTD_createDDict(b.p, b.n);
    if (dict->dec == NULL) {
        return dict_trouble(b);
    }
    if (clevel > 0) {
        dict->enc = b2i_library_may_alloc() ? ZSTD_createCDict(b.p, b.n, DICT_LEVEL) : NULL;
        if (dict->enc == NULL) {
            return B2C_E_MEMORY;
        }
    }
    return B2C_OK;
}

static void dict_free(b2i_dict *dict)
{
    ZSTD_freeCDict(dict->enc);
    ZSTD_freeDDict(dict->dec);
}

const b2i_codec_ops b2i_codec_zstd = {
    .codec = { .id = B2C_CODEC_ZSTD,
               .format = 4,
               .has_dict = true,
               .name = "zstd",
               .library = "Zstandard",
               .version = ZSTD_versionString,
               .encode = zstd_encode,
               .decode = zstd_decode },
    .state_free = state_free,
    .dict_train = dict_train,
    .dict_init = dict_init,
    .dict_free = dict_free,
};

#endif
