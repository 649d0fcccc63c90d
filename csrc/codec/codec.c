/*
 * codec.c: the table of codecs, their names, and the states of workers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "codec_impl.h"
#include "user_codec.h"

const b2i_codec_ops b2i_codec_blosclz = {
    .codec = { .id = B2C_CODEC_BLOSCLZ,
               .format = 0,
               .has_dict = false,
               .name = "blosclz",
               .library = "blosc2c",
               .version = b2c_version,
               .encode = b2i_blosclz_encode,
               .decode = b2i_blosclz_decode },
};

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
    &b2i_codec_ndlz,
#ifdef B2I_HAVE_ZFP
    &b2i_codec_zfp_acc, &b2i_codec_zfp_prec, &b2i_codec_zfp_rate,
#endif
};

enum { NCODECS = sizeof codecs / sizeof codecs[0] };

static const b2i_codec *built_in(uint8_t id)
{
    for (size_t i = 0; i < NCODECS; i++) {
        if (codecs[i]->codec.id == id) {
            return &codecs[i]->codec;
        }
    }
    return NULL;
}

const b2i_codec *b2i_codec_by_id(uint8_t id)
{
    const b2i_codec *codec = built_in(id);
    return codec != NULL ? codec : b2i_user_codec(id);
}

bool b2i_codec_is_built_in(uint8_t id)
{
    return built_in(id) != NULL;
}

b2i_codec_state *b2i_codec_state_new(void)
{
    return b2i_calloc(sizeof(b2i_codec_state));
}

void b2i_codec_state_tell(b2i_codec_state *state, b2i_made made)
{
    state->made = made;
}

void b2i_codec_state_free(b2i_codec_state *state)
{
    if (state == NULL) {
        return;
    }
    for (size_t i = 0; i < NCODECS; i++) {
        if (codecs[i]->state_free != NULL) {
            codecs[i]->state_free(state);
        }
    }
    b2i_free(state->lz);
    b2i_free(state->lz4); /* our encoder's, which is in builds without the library too */
    b2i_free(state->deflate);
    b2i_free(state->deflate_parser);
    b2i_free(state->inflate);
    b2i_free(state);
}

/* ---- names ---- */

#define PLUGIN(name) "a plugin of the reference library (libblosc2_" name ") that is not registered"
#define WITHOUT_ZFP  "zfp is a codec of the library libzfp, which this build was made without"
#define LEFT_OUT     "the codec is not in this build of the library"

/* All codecs with a registered ID, whether this build has them or not. */
static const struct {
    uint8_t id;
    const char *name;
    const char *missing; /* what is to be said when it is not there */
} names[] = {
    { B2C_CODEC_BLOSCLZ, "blosclz", LEFT_OUT },
    { B2C_CODEC_LZ4, "lz4", LEFT_OUT },
    { B2C_CODEC_LZ4HC, "lz4hc", LEFT_OUT },
    { B2C_CODEC_ZLIB, "zlib", LEFT_OUT },
    { B2C_CODEC_ZSTD, "zstd", LEFT_OUT },
    { 32, "ndlz", LEFT_OUT },
    { 33, "zfp_acc", WITHOUT_ZFP },
    { 34, "zfp_prec", WITHOUT_ZFP },
    { 35, "zfp_rate", WITHOUT_ZFP },
    { 36, "openhtj2k", PLUGIN("openhtj2k") },
    { 37, "grok", PLUGIN("grok") },
    { 38, "openzl", PLUGIN("openzl") },
    { 39, "j2k", PLUGIN("j2k") },
    { 40, "htj2k", PLUGIN("htj2k") },
};

enum { FIRST_USER_DEFINED = 160 };

b2c_status b2i_codec_fail_unknown(uint8_t id, uint64_t offset, b2c_error *err)
{
    const char *what = id >= FIRST_USER_DEFINED ? "a user-defined codec that is not registered"
                                                : "the format knows no codec of this number";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].id == id) {
            what = names[i].missing;
        }
    }
    (void)b2i_fail_sizes(err, B2C_E_UNKNOWN_CODEC, offset, what, 0, id);
    if (err != NULL) {
        err->field = "codec";
    }
    return B2C_E_UNKNOWN_CODEC;
}

/* ---- public ---- */

const char *b2c_codec_name(uint8_t id)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].id == id) {
            return names[i].name;
        }
    }
    const b2i_codec *codec = b2i_user_codec(id);
    return codec == NULL ? NULL : codec->name;
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
    if (c == NULL) {
        return NULL;
    }
    return c->version != NULL ? c->version() : b2i_user_codec_version(c);
}
