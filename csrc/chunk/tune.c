/*
 * tune.c: block size and splitting as pure functions of the parameters and the
 * length, never of the machine, so that the same input gives the same chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "tune.h"

enum { KIB = 1024, MIB = 1024 * KIB };

uint8_t b2i_tune_typesize(const b2c_cparams *cparams)
{
    return cparams->typesize > 255 ? 1 : (uint8_t)cparams->typesize;
}

static bool has_shuffle(const b2c_cparams *cparams)
{
    for (int i = 0; i < B2C_MAX_FILTERS; i++) {
        if (cparams->filters[i] == B2C_FILTER_SHUFFLE) {
            return true;
        }
    }
    return false;
}

/*
 * Splitting pays for codecs that look at few positions: a byte plane of shuffled
 * numbers is either regular or noise.  Planes below 32 bytes are not worth it.
 */
bool b2i_tune_split(const b2c_cparams *cparams, size_t blocksize)
{
    uint8_t typesize = b2i_tune_typesize(cparams);
    if (cparams->splitmode == B2C_SPLIT_ALWAYS) {
        return true;
    }
    if (cparams->splitmode == B2C_SPLIT_NEVER) {
        return false;
    }
    bool fast = cparams->codec == B2C_CODEC_BLOSCLZ || cparams->codec == B2C_CODEC_LZ4 ||
                (cparams->codec == B2C_CODEC_ZSTD && cparams->clevel <= 5);
    return fast && has_shuffle(cparams) && typesize <= 16 && blocksize / typesize >= 32;
}

static bool is_high_ratio(uint8_t codec)
{
    return codec == B2C_CODEC_LZ4HC || codec == B2C_CODEC_ZLIB || codec == B2C_CODEC_ZSTD;
}

/* Whole blocks: about the L1 or L2 cache, more for codecs and levels that use long windows. */
static size_t whole_blocksize(const b2c_cparams *cparams)
{
    size_t b = is_high_ratio(cparams->codec) ? 64 * KIB : 32 * KIB;
    switch (cparams->clevel) {
    case 0:
        return b / 4;
    case 1:
        return b / 2;
    case 2:
        return b;
    case 3:
        return b * 2;
    case 4:
    case 5:
        return b * 4;
    case 9:
        return is_high_ratio(cparams->codec) ? b * 16 : b * 8;
    default:
        return b * 8;
    }
}

/* Split blocks: planes of 32 KiB at low levels to 512 KiB at level 9. */
static size_t split_blocksize(const b2c_cparams *cparams, uint8_t typesize)
{
    static const size_t plane[10] = { 32, 32, 32, 32, 64, 64, 64, 128, 256, 512 };
    size_t b = plane[cparams->clevel] * KIB * typesize;
    return b > 4 * MIB ? 4 * MIB : b;
}

uint32_t b2i_tune_blocksize(const b2c_cparams *cparams, size_t n)
{
    size_t typesize = b2i_tune_typesize(cparams);
    if (n < typesize || n == 0) {
        return 1;
    }
    size_t b = cparams->blocksize;
    if (b == 0) {
        b = n < 32 * KIB ? n : whole_blocksize(cparams);
        if (cparams->clevel > 0 && b2i_tune_split(cparams, n)) {
            b = split_blocksize(cparams, (uint8_t)typesize);
        }
    }
    b = b > n ? n : b;
    b = b < typesize ? typesize : b;
    return (uint32_t)(b - b % typesize);
}
