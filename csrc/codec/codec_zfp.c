/*
 * codec_zfp.c: ZFP on top of the system's libzfp: fixed accuracy, precision and rate.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream is the bare bits of one field: the block of an array of floats in 1 to 4 dimensions.
 * The bits come in little-endian words of 64 bits, items are little-endian in the block; on
 * other machines the codec is left out.
 */
#include "codec_impl.h"

#ifdef B2I_HAVE_ZFP

#include <assert.h>
#include <math.h>
#include <zfp.h>

enum { ZFP_ACC = 33, ZFP_PREC = 34, ZFP_RATE = 35, MIN_EDGE = 4, MAX_ZFP_DIM = 4 };
enum { WORD = 8 };

/* The library's objects, made for one block. */
typedef struct zfp_job {
    zfp_field *field;
    zfp_stream *zfp;
    bitstream *bits;
    uint8_t *buf;
    size_t cap; /* bytes of buf that the library may touch */
} zfp_job;

static bool is_field(const b2c_block *block, size_t n)
{
    if (block->ndim < 1 || block->ndim > MAX_ZFP_DIM ||
        (block->typesize != 4 && block->typesize != 8) || n % block->typesize != 0) {
        return false;
    }
    size_t left = n / block->typesize;
    for (uint32_t d = 0; d < block->ndim; d++) {
        if (block->blockshape[d] < MIN_EDGE || left % block->blockshape[d] != 0) {
            return false;
        }
        left /= block->blockshape[d];
    }
    return left == 1;
}

/* Its x is the last dimension of the array. */
static zfp_field *make_field(const b2c_block *block, void *items)
{
    const uint32_t *shape = block->blockshape;
    uint32_t ndim = block->ndim;
    zfp_type type = block->typesize == 4 ? zfp_type_float : zfp_type_double;
    size_t size[MAX_ZFP_DIM] = { 0 };
    for (uint32_t d = 0; d < ndim; d++) {
        size[d] = shape[ndim - 1 - d];
    }
    switch (ndim) {
    case 1:
        return zfp_field_1d(items, type, size[0]);
    case 2:
        return zfp_field_2d(items, type, size[0], size[1]);
    case 3:
        return zfp_field_3d(items, type, size[0], size[1], size[2]);
    default:
        return zfp_field_4d(items, type, size[0], size[1], size[2], size[3]);
    }
}

static void set_mode(zfp_stream *zfp, uint8_t codec, const b2c_block *block)
{
    zfp_type type = block->typesize == 4 ? zfp_type_float : zfp_type_double;
    int meta = block->meta;
    if (codec == ZFP_ACC) {
        (void)zfp_stream_set_accuracy(zfp, pow(10, meta < 128 ? meta : meta - 256));
    } else if (codec == ZFP_PREC) {
        unsigned bits = (unsigned)meta + 3 + 2 * block->ndim;
        (void)zfp_stream_set_precision(zfp, bits > ZFP_MAX_PREC ? ZFP_MAX_PREC : bits);
    } else {
        double rate = meta / 100.0 * block->typesize * 8;
        (void)zfp_stream_set_rate(zfp, rate, type, block->ndim, zfp_false);
    }
}

static void end_job(zfp_job *j)
{
    if (j->field != NULL) {
        zfp_field_free(j->field);
    }
    if (j->zfp != NULL) {
        zfp_stream_close(j->zfp);
    }
    if (j->bits != NULL) {
        stream_close(j->bits);
    }
    b2i_free(j->buf);
}

/*
 * The library does not look where its buffer ends.  It never reads or writes more bits than
 * the largest stream of such a field has, whatever they are, and works in words.
 */
static b2c_status begin_job(zfp_job *j, uint8_t codec, const b2c_block *block, void *items,
                            b2c_error *err)
{
    j->field = b2i_library_may_alloc() ? make_field(block, items) : NULL;
    j->zfp = b2i_library_may_alloc() ? zfp_stream_open(NULL) : NULL;
    if (j->field == NULL || j->zfp == NULL) {
        return b2i_fail_memory(err);
    }
    set_mode(j->zfp, codec, block);
    size_t n = zfp_stream_maximum_size(j->zfp, j->field);
    j->cap = (n + 2 * WORD) / WORD * WORD;
    j->buf = b2i_calloc(j->cap);
    j->bits = j->buf != NULL && b2i_library_may_alloc() ? stream_open(j->buf, j->cap) : NULL;
    if (j->bits == NULL) {
        return b2i_fail_memory(err);
    }
    zfp_stream_set_bit_stream(j->zfp, j->bits);
    zfp_stream_rewind(j->zfp);
    return B2C_OK;
}

/* The library writes whole words, of 64 bits or, in some builds, of 8; readers may want 64. */
static size_t whole_words(size_t len)
{
    return (len + WORD - 1) / WORD * WORD;
}

static b2c_status zfp_encode(const b2i_codec *codec, const b2c_block *block, b2i_span src,
                             uint8_t *dst, size_t cap, size_t *out_len, b2c_error *err)
{
    zfp_job j = { 0 };
    *out_len = 0;
    b2c_status st = begin_job(&j, codec->id, block, (void *)(uintptr_t)src.p, err);
    if (st == B2C_OK) {
        size_t len = whole_words(zfp_compress(j.zfp, j.field));
        if (len > 0 && len <= cap && len < src.n) {
            memcpy(dst, j.buf, len);
            *out_len = len;
        }
    }
    end_job(&j);
    return st;
}

/* A stream ends where the bits of its last block do, but for the rest of a word. */
static bool decode_bits(zfp_job *j, b2i_span src)
{
    if (src.n > j->cap) {
        return false;
    }
    memcpy(j->buf, src.p, src.n);
    size_t used = zfp_decompress(j->zfp, j->field);
    assert(used <= j->cap);
    return whole_words(used) == whole_words(src.n);
}

static b2c_status zfp_decode(const b2i_codec *codec, const b2c_block *block, b2i_span src,
                             uint8_t *dst, size_t n, b2c_error *err)
{
    zfp_job j = { 0 };
    if (!is_field(block, n)) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, B2C_NO_OFFSET, "codec",
                              "zfp streams decode only in the array that they belong to");
    }
    b2c_status st = begin_job(&j, codec->id, block, dst, err);
    if (st == B2C_OK && !decode_bits(&j, src)) {
        st = b2i_fail(err, B2C_E_CORRUPT, B2C_NO_OFFSET, "a compressed stream is damaged");
    }
    end_job(&j);
    return st;
}

static b2c_status zfp_check(const b2c_block *block, size_t n, b2c_error *err)
{
    if (!is_field(block, n)) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "codec",
                              "zfp is for arrays of 1 to 4 dimensions, of floats of 4 or 8 bytes, "
                              "in blocks of at least 4 items along each, that are not split");
    }
    return B2C_OK;
}

static const char *version(void)
{
    return ZFP_VERSION_STRING;
}

#define ROW_OF(number, word)                                                                       \
    {                                                                                              \
        .codec = {                                                                                 \
            .id = (number),                                                                        \
            .format = B2I_FORMAT_BY_ID,                                                            \
            .takes_items = true,                                                                   \
            .name = (word),                                                                        \
            .library = "zfp",                                                                      \
            .version = version,                                                                    \
            .check_block = zfp_check,                                                              \
            .encode_block = zfp_encode,                                                            \
            .decode_block = zfp_decode                                                             \
        }                                                                                          \
    }

const b2i_codec_ops b2i_codec_zfp_acc = ROW_OF(ZFP_ACC, "zfp_acc");
const b2i_codec_ops b2i_codec_zfp_prec = ROW_OF(ZFP_PREC, "zfp_prec");
const b2i_codec_ops b2i_codec_zfp_rate = ROW_OF(ZFP_RATE, "zfp_rate");

#endif
