/*
 * dict.c: dictionaries, independent of the codec.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "codec_impl.h"

static const b2i_codec_ops *ops_of(const b2i_codec *codec)
{
    return (const b2i_codec_ops *)codec;
}

void b2i_dict_sample(b2i_span src, size_t npieces, size_t piece_len, uint8_t *dst)
{
    size_t room = src.n - piece_len;
    for (size_t i = 0; i < npieces; i++) {
        size_t at = npieces == 1 ? 0 : (size_t)((uint64_t)room * i / (npieces - 1));
        memcpy(dst + i * piece_len, src.p + at, piece_len);
    }
}

b2c_status b2i_dict_train(const b2i_codec *codec, b2i_span src, size_t blocksize, uint8_t *dst,
                          size_t max_len, size_t *out_len)
{
    *out_len = 0;
    if (!codec->has_dict || src.n == 0 || max_len == 0) {
        return B2C_OK;
    }
    return ops_of(codec)->dict_train(src, blocksize, dst, max_len, out_len);
}

b2c_status b2i_dict_new(const b2i_codec *codec, b2i_span bytes, int clevel, b2i_dict **out)
{
    if (!codec->has_dict || bytes.n == 0) {
        return B2C_E_CORRUPT;
    }
    b2i_dict *dict = b2i_calloc(sizeof *dict);
    if (dict == NULL) {
        return B2C_E_MEMORY;
    }
    dict->codec = codec;
    dict->bytes = bytes;
    b2c_status status = ops_of(codec)->dict_init(dict, clevel);
    if (status != B2C_OK) {
        b2i_dict_free(dict);
        return status;
    }
    *out = dict;
    return B2C_OK;
}

void b2i_dict_free(b2i_dict *dict)
{
    if (dict == NULL) {
        return;
    }
    ops_of(dict->codec)->dict_free(dict);
    b2i_free(dict);
}
