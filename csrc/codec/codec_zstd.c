/*
 * codec_zstd.c: ZSTD on top of libzstd.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream is exactly one ZSTD frame.  Contexts are kept: making one costs more
 * than coding a small block.
 */
#include "codec_impl.h"

#ifdef B2I_HAVE_ZSTD

#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    DICT_LEVEL = 1,    /* of all frames made with a dictionary */
    TRAIN_FACTOR = 64, /* a dictionary is trained on up to so many times its size */
    MIN_SAMPLES = 16,  /* of the training */
    MIN_SAMPLE_LEN = 64,
    MAX_SAMPLE_LEN = 4096
};

#define FRAME_MAGIC 0xFD2FB528 /* libraries may read old formats and skippable frames as well */

static b2c_status status_of(size_t result, b2c_status otherwise)
{
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? B2C_E_MEMORY : otherwise;
}

static b2c_status zstd_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len)
{
    static const uint8_t levels[B2I_MAX_CLEVEL + 1] = { 0, 1, 3, 5, 7, 9, 11, 13, 15, 22 };
    *out_len = 0;
    if (state->zstd_enc == NULL) {
        state->zstd_enc = b2i_library_may_alloc() ? ZSTD_createCCtx() : NULL;
        if (state->zstd_enc == NULL) {
            return B2C_E_MEMORY;
        }
    }
    size_t len;
    if (dict != NULL && dict->enc != NULL) {
        len = ZSTD_compress_usingCDict(state->zstd_enc, dst, cap, src, n, dict->enc);
    } else {
        len = ZSTD_compressCCtx(state->zstd_enc, dst, cap, src, n, levels[clevel]);
    }
    if (ZSTD_isError(len)) {
        return status_of(len, B2C_OK); /* B2C_OK: no room */
    }
    *out_len = len;
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
    ZSTD_freeDCtx(state->zstd_dec);
}

/* ---- dictionaries ---- */

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
        size_t len = ZDICT_trainFromBuffer(dst, max_len, samples, lens, (unsigned)npieces);
        status = ZDICT_isError(len) ? status_of(len, B2C_OK) : B2C_OK; /* B2C_OK: no use */
        *out_len = ZDICT_isError(len) ? 0 : len;
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
