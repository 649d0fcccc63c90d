/*
 * codec_zlib.c: ZLIB on top of libdeflate or, without that, zlib.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream is one complete zlib stream (RFC 1950), whichever library made it.
 */
#include "codec_impl.h"

#if defined(B2I_HAVE_LIBDEFLATE)

#include <libdeflate.h>

/* The library's levels 1…9 are those of zlib in effort; its 10…12 are far slower. */
static b2c_status zlib_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len)
{
    (void)dict;
    *out_len = 0;
    void **kept = &state->zlib_enc[clevel - 1];
    if (*kept == NULL) {
        *kept = b2i_library_may_alloc() ? libdeflate_alloc_compressor(clevel) : NULL;
        if (*kept == NULL) {
            return B2C_E_MEMORY;
        }
    }
    *out_len = libdeflate_zlib_compress(*kept, src, n, dst, cap); /* 0: no room */
    return B2C_OK;
}

static b2c_status zlib_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                              uint8_t *dst, size_t n)
{
    (void)dict;
    if (state->zlib_dec == NULL) {
        state->zlib_dec = b2i_library_may_alloc() ? libdeflate_alloc_decompressor() : NULL;
        if (state->zlib_dec == NULL) {
            return B2C_E_MEMORY;
        }
    }
    size_t used = 0, len = 0;
    enum libdeflate_result result =
        libdeflate_zlib_decompress_ex(state->zlib_dec, src.p, src.n, dst, n, &used, &len);
    bool ok = result == LIBDEFLATE_SUCCESS && used == src.n && len == n;
    return ok ? B2C_OK : B2C_E_CORRUPT;
}

static void state_free(b2i_codec_state *state)
{
    for (int i = 0; i < B2I_MAX_CLEVEL; i++) {
        if (state->zlib_enc[i] != NULL) {
            libdeflate_free_compressor(state->zlib_enc[i]);
        }
    }
    if (state->zlib_dec != NULL) {
        libdeflate_free_decompressor(state->zlib_dec);
    }
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
    if (z == NULL || deflateInit(z, clevel) != Z_OK) {
        b2i_free(z);
        return NULL;
    }
    *kept = z;
    return z;
}

static z_stream *begin_inflate(void **kept)
{
    z_stream *z = *kept;
    if (z != NULL) {
        (void)inflateReset(z);
        return z;
    }
    z = new_stream();
    if (z == NULL || inflateInit(z) != Z_OK) {
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

static b2c_status zlib_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len)
{
    (void)dict;
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

static b2c_status zlib_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                              uint8_t *dst, size_t n)
{
    (void)dict;
    z_stream *z = begin_inflate(&state->zlib_dec);
    if (z == NULL) {
        return B2C_E_MEMORY;
    }
    z->next_in = (z_const Bytef *)(uintptr_t)src.p;
    z->avail_in = clamp_len(src.n);
    z->next_out = dst;
    z->avail_out = clamp_len(n);
    int result = inflate(z, Z_FINISH);
    if (result == Z_MEM_ERROR) {
        return B2C_E_MEMORY;
    }
    bool ok = result == Z_STREAM_END && z->next_in == src.p + src.n && z->next_out == dst + n;
    return ok ? B2C_OK : B2C_E_CORRUPT;
}

static void state_free(b2i_codec_state *state)
{
    for (int i = 0; i < B2I_MAX_CLEVEL; i++) {
        if (state->zlib_enc[i] != NULL) {
            (void)deflateEnd(state->zlib_enc[i]);
            b2i_free(state->zlib_enc[i]);
        }
    }
    if (state->zlib_dec != NULL) {
        (void)inflateEnd(state->zlib_dec);
        b2i_free(state->zlib_dec);
    }
}

static const char *version(void)
{
    return zlibVersion();
}

#endif

#if defined(B2I_HAVE_LIBDEFLATE) || defined(B2I_HAVE_ZLIB)

const b2i_codec_ops b2i_codec_zlib = {
    .codec = { .id = B2C_CODEC_ZLIB,
               .format = 3,
               .has_dict = false,
               .name = "zlib",
               .library = LIBRARY,
               .version = version,
               .encode = zlib_encode,
               .decode = zlib_decode },
    .state_free = state_free,
};

#endif
