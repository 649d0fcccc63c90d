/*
 * codec.c: the table of codecs, their names, and the states of workers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "codec_impl.h"

#define TEXT_OF(x)  #x
#define TEXT(x)     TEXT_OF(x)
#define OWN_VERSION TEXT(B2C_VERSION_MAJOR) "." TEXT(B2C_VERSION_MINOR) "." TEXT(B2C_VERSION_PATCH)

static const char *own_version(void)
{
    return OWN_VERSION;
}

static void blosclz_state_free(b2i_codec_state *state)
{
    b2i_free(state->blosclz);
}

const b2i_codec_ops b2i_codec_blosclz = {
    .codec = { .id = B2C_CODEC_BLOSCLZ,
               .format = 0,
               .has_dict = false,
               .name = "blosclz",
               .library = "blosc2c",
               .version = own_version,
               .encode = b2i_blosclz_encode,
               .decode = b2i_blosclz_decode },
    .state_free = blosclz_state_free,
};

/* Of codecs with the same format the first one decodes it. */
static const b2i_codec_ops *const codecs[] = {
    &b2i_codec_blosclz,
#ifdef B2I_HAVE_LZ4
    &b2i_codec_lz4,     &b2i_codec_lz4hc,
#endif
#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)
    &b2i_codec_zlib,
#endif
#ifdef B2I_HAVE_ZSTD
    &b2i_codec_zstd,
#endif
};

enum { NCODECS = sizeof codecs / sizeof codecs[0] };

const b2i_codec *b2i_codec_by_id(uint8_t id)
{
    for (size_t i = 0; i < NCODECS; i++) {
        if (codecs[i]->codec.id == id) {
            return &codecs[i]->codec;
        }
    }
    return NULL;
}

const b2i_codec *b2i_codec_by_format(uint8_t format)
{
    for (size_t i = 0; i < NCODECS; i++) {
        if (codecs[i]->codec.format == format) {
            return &codecs[i]->codec;
        }
    }
    return NULL;
}

b2i_codec_state *b2i_codec_state_new(void)
{
    return b2i_calloc(sizeof(b2i_codec_state));
}

void b2i_codec_state_free(b2i_codec_state *state)
{
    if (state == NULL) {
        return;
    }
    for (size_t i = 0; i < NCODECS; i++) {
        codecs[i]->state_free(state);
    }
    b2i_free(state);
}

/* ---- public ---- */

const char *b2c_codec_name(uint8_t codec)
{
    /* All codecs with a registered ID, whether this build has them or not. */
    static const struct {
        uint8_t id;
        const char *name;
    } names[] = {
        { B2C_CODEC_BLOSCLZ, "blosclz" },
        { B2C_CODEC_LZ4, "lz4" },
        { B2C_CODEC_LZ4HC, "lz4hc" },
        { B2C_CODEC_ZLIB, "zlib" },
        { B2C_CODEC_ZSTD, "zstd" },
        { 32, "ndlz" },
        { 33, "zfp_acc" },
        { 34, "zfp_prec" },
        { 35, "zfp_rate" },
        { 36, "openhtj2k" },
        { 37, "grok" },
        { 38, "openzl" },
        { 39, "j2k" },
        { 40, "htj2k" },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].id == codec) {
            return names[i].name;
        }
    }
    return NULL;
}

int b2c_codec_available(uint8_t codec)
{
    return b2i_codec_by_id(codec) != NULL;
}

const char *b2c_codec_library(uint8_t codec)
{
    const b2i_codec *c = b2i_codec_by_id(codec);
    return c == NULL ? NULL : c->library;
}

const char *b2c_codec_library_version(uint8_t codec)
{
    const b2i_codec *c = b2i_codec_by_id(codec);
    return c == NULL ? NULL : c->version();
}
