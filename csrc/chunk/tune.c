/*
 * tune.c: block size and splitting as pure functions of the parameters and the
 * length, never of the machine, so that the same input gives the same chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "tune.h"

#include <string.h>

enum { KIB = 1024, MIB = 1024 * KIB };

uint8_t b2i_tune_typesize(const b2c_cparams *cparams)
{
    return cparams->typesize > 255 ? 1 : (uint8_t)cparams->typesize;
}

static bool has_filter(const b2c_cparams *cparams, uint8_t filter)
{
    return memchr(cparams->filters, filter, B2C_MAX_FILTERS) != NULL;
}

static bool has_planes(const b2c_cparams *cparams)
{
    return has_filter(cparams, B2C_FILTER_SHUFFLE) && b2i_tune_typesize(cparams) <= 16;
}

static bool is_high_ratio(uint8_t codec)
{
    return codec == B2C_CODEC_LZ4HC || codec == B2C_CODEC_ZLIB || codec == B2C_CODEC_ZSTD;
}

/*
 * A byte plane of shuffled numbers is either regular or noise, and is coded and
 * decoded best alone; below 32 bytes that does not pay.  Codecs that look far sometimes find
 * what several planes have in common, as in sparse data: they split where a trial says so,
 * in chunks large enough to pay for it.  ZLIB splits smaller ones as well, down to planes that
 * make up for the codes in front of each: noise in them is then stored, not coded.
 */
b2i_split b2i_tune_split(const b2c_cparams *cparams, size_t n, size_t blocksize)
{
    enum { TRIAL_NBYTES = 256 * KIB, HC_TRIAL_NBYTES = 64 * KIB, ZLIB_PLANE = 2 * KIB };
    if (cparams->splitmode == B2C_SPLIT_ALWAYS) {
        return B2I_SPLIT_YES;
    }
    if (cparams->splitmode == B2C_SPLIT_NEVER || !has_planes(cparams) ||
        blocksize / b2i_tune_typesize(cparams) < 32) {
        return B2I_SPLIT_NO;
    }
    if (cparams->codec == B2C_CODEC_BLOSCLZ || cparams->codec == B2C_CODEC_LZ4 ||
        (cparams->codec == B2C_CODEC_ZSTD && cparams->clevel <= 5)) {
        return B2I_SPLIT_YES;
    }
    size_t typesize = b2i_tune_typesize(cparams);
    if (cparams->codec == B2C_CODEC_ZLIB && n < TRIAL_NBYTES && typesize > 1) {
        return blocksize / typesize >= ZLIB_PLANE ? B2I_SPLIT_YES : B2I_SPLIT_NO;
    }
    bool slow_hc = cparams->codec == B2C_CODEC_LZ4HC && cparams->clevel > 2;
    size_t least = slow_hc ? HC_TRIAL_NBYTES : TRIAL_NBYTES;
    bool try = is_high_ratio(cparams->codec) && n >= least && typesize > 1 && !cparams->use_dict;
    return try ? B2I_SPLIT_TRY : B2I_SPLIT_NO;
}

/* ---- block size ---- */

/* KiB that codecs with long windows make good use of. */
static const size_t far_sighted[10] = { 16, 32, 64, 128, 256, 256, 512, 512, 512, 1024 };

/*
 * The smallest block for a level, in KiB: with less the chunk becomes larger than those of
 * other implementations.  For planes of split blocks, and for whole blocks of codecs with
 * short and long windows.
 */
static size_t least_blocksize(const b2c_cparams *cparams, b2i_split split)
{
    static const size_t plane[10] = { 32, 32, 32, 32, 64, 64, 64, 128, 256, 512 };
    static const size_t fast[10] = { 8, 16, 32, 64, 128, 128, 256, 256, 256, 256 };
    if (split == B2I_SPLIT_YES) {
        size_t b = plane[cparams->clevel] * KIB * b2i_tune_typesize(cparams);
        return b > 4 * MIB ? 4 * MIB : b;
    }
    if (split == B2I_SPLIT_TRY && cparams->clevel < 3) {
        return 128 * KIB; /* planes of half of it take more room, and longer */
    }
    return (is_high_ratio(cparams->codec) ? far_sighted : fast)[cparams->clevel] * KIB;
}

/*
 * The size from which on chunks hardly shrink any more.  Rows of bitshuffled blocks should
 * fit the codec's window (LZ4: 64 KiB, deflate: 32 KiB) several times, and decoding
 * them is fastest in the L2 cache; the low levels of ZSTD lose track in long ones, and those below
 * the highest in long streams of bytes: texts and pictures.
 */
static size_t good_blocksize(const b2c_cparams *cparams)
{
    size_t level = cparams->clevel;
    if (cparams->codec == B2C_CODEC_BLOSCLZ) {
        return 0; /* whether a stream is worth coding is judged for each block: they are small */
    }
    if (!has_filter(cparams, B2C_FILTER_BITSHUFFLE)) {
        if (cparams->codec == B2C_CODEC_ZSTD && b2i_tune_typesize(cparams) == 1 && level > 0 &&
            level < 7) {
            bool by_default = level < 6 && has_filter(cparams, B2C_FILTER_SHUFFLE);
            return by_default ? 0 : far_sighted[level] * KIB;
        }
        return level < 7 ? 512 * KIB : MIB;
    }
    if (cparams->codec == B2C_CODEC_ZSTD && level < 4) {
        return level == 1 ? 64 * KIB : 128 * KIB;
    }
    bool far = cparams->codec == B2C_CODEC_ZSTD || cparams->codec == B2C_CODEC_LZ4HC;
    return (level < 6 ? 128 * KIB : 256 * KIB) << (far ? 1 + (level == 9) : 0);
}

/*
 * Rows of bitshuffled blocks get an odd number of cache lines, where they would all be in the
 * same cache set otherwise and filtering take 4 times as long; for codecs that
 * are not much slower than that.
 */
static size_t spread_rows(const b2c_cparams *cparams, size_t b)
{
    enum { CROWDED = 32 };
    size_t line = 512 * (size_t)b2i_tune_typesize(cparams), nlines = b / line;
    bool fast = cparams->codec != B2C_CODEC_ZSTD && cparams->codec != B2C_CODEC_ZLIB;
    bool spread =
        fast && line > 512 && nlines >= CROWDED && has_filter(cparams, B2C_FILTER_BITSHUFFLE);
    return spread ? (nlines | 1) * line : b;
}

size_t b2i_tune_equal(const b2c_cparams *cparams, size_t n, size_t nblocks)
{
    const size_t b = n / nblocks;
    return nblocks == 1 ? b : spread_rows(cparams, b - b % (64 * b2i_tune_typesize(cparams)));
}

/*
 * The larger of both, but four blocks at least where that costs nothing, so that threads
 * have something to share.
 */
static size_t auto_blocksize(const b2c_cparams *cparams, size_t n)
{
    b2i_split split = cparams->clevel == 0 ? B2I_SPLIT_NO : b2i_tune_split(cparams, n, n);
    if (n < 32 * KIB && split == B2I_SPLIT_NO) {
        return n;
    }
    size_t least = least_blocksize(cparams, split), good = good_blocksize(cparams);
    size_t b = good > n / 4 ? n / 4 : good;
    b = b > least ? b : least;
    if (b >= n || cparams->clevel == 0) {
        return b;
    }
    /* ZSTD searches streams of 128 and 256 KiB with more care than those just above. */
    return b2i_tune_equal(cparams, n, cparams->codec == B2C_CODEC_ZSTD ? (n + b - 1) / b : n / b);
}

uint32_t b2i_tune_blocksize(const b2c_cparams *cparams, size_t n)
{
    size_t typesize = b2i_tune_typesize(cparams);
    if (n < typesize || n == 0) {
        return 1;
    }
    size_t b = cparams->blocksize == 0 ? auto_blocksize(cparams, n) : cparams->blocksize;
    b = b > n ? n : b;
    b = b < typesize ? typesize : b;
    return (uint32_t)(b - b % typesize);
}

size_t b2i_tune_most(const b2c_cparams *cparams, size_t n)
{
    enum { LEAST = 256, LEAST_OF_RATIO = 2048 }; /* parts of the data to be saved */
    const size_t saved = n / (cparams->clevel < B2I_CLEVEL_OF_RATIO ? LEAST : LEAST_OF_RATIO);
    return n + B2C_HEADER_LEN - (saved > 0 ? saved : 1);
}
