/*
 * codec_lz4.c: LZ4 and LZ4HC: our own coders, and the LZ4 library where more effort is asked for.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every stream is one independent LZ4 block.  A dictionary is what stands before it; what an
 * encoder learns of one is made once.
 */
#include "codec_impl.h"

#ifdef B2I_HAVE_LZ4

#include <limits.h>
#include <lz4.h>
#include <lz4hc.h>

enum {
    SAMPLE_LEN = 512, /* of the pieces that a dictionary is made of */
    MIN_HC = 3        /* the library's search for long is slow below, and finds less than ours */
};

/* dict->enc of LZ4HC: a state, and the dictionary that it points to. */
typedef struct lz4hc_dict {
    LZ4_streamHC_t stream;
    uint8_t bytes[];
} lz4hc_dict;

static int clamp_cap(size_t cap)
{
    return cap > INT_MAX ? INT_MAX : (int)cap;
}

static b2c_status lz4_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                             const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                             size_t *out_len)
{
    return b2i_lz4_encode(state, clevel, dict == NULL ? NULL : dict->enc, src, n, dst, cap,
                          out_len);
}

/* Whether matches of four bytes save a 64th of n bytes. */
static bool short_matches_save(const uint8_t *src, size_t n)
{
    return b2i_short_matches_save(src, n, n / 64);
}

/*
 * The library searches at length where there are no matches, as in the rows of noise that
 * bitshuffled data begin with.  Of such a start two thirds are passed over, for the look has gone
 * in growing steps.
 */
static size_t skipped_start(const uint8_t *src, size_t nhard, size_t n, size_t cap)
{
    enum { LEAST = 1024, WINDOW = 65536 };
    const size_t nlit = nhard / 3 * 2, last = nlit < WINDOW ? nlit : WINDOW;
    const bool pays = nlit >= LEAST && nlit >= n / 16 && b2i_lz4_room_in_front(nlit) < cap &&
                      !short_matches_save(src + nlit - last, last) &&
                      !b2i_recurs(src, nlit, n, WINDOW);
    return pays ? nlit : 0;
}

/*
 * How many bytes at the start, or all, are not given to the library.  For short streams a look
 * takes a third of the time of the library; those that filters made mostly have matches, which is
 * known sooner.
 */
static b2c_status find_skipped(b2i_codec_state *state, const uint8_t *src, size_t n, uint8_t *dst,
                               size_t cap, size_t *nskipped)
{
    enum { LAST = 16384, SHORT = 4096 };
    const size_t last = n < LAST ? n : LAST;
    b2i_lz4_look look;
    *nskipped = 0;
    if (n <= SHORT && state->made != B2I_MADE_ITEMS && b2i_has_matches(src, n)) {
        return B2C_OK;
    }
    B2I_TRY(b2i_lz4_look_at(state, src, n, dst, cap, &look));
    const bool is_hard = !look.shrinks && !short_matches_save(src + n - last, last);
    *nskipped = is_hard ? n : skipped_start(src, look.nhard, n, cap);
    return B2C_OK;
}

static b2c_status lz4hc_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                               const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                               size_t *out_len)
{
    const bool is_ours = clevel < MIN_HC || clevel == B2I_CLEVEL_FINE;
    if (is_ours && (dict == NULL || dict->enc == NULL)) {
        return b2i_lz4_encode(state, clevel < MIN_HC ? B2I_LZ4_MID : clevel, NULL, src, n, dst, cap,
                              out_len);
    }
    *out_len = 0;
    if (n > LZ4_MAX_INPUT_SIZE || cap == 0) { /* what the library takes */
        return B2C_OK;
    }
    size_t nskipped = 0;
    if (dict == NULL || dict->enc == NULL) {
        B2I_TRY(find_skipped(state, src, n, dst, cap, &nskipped));
        if (nskipped == n) {
            return B2C_OK;
        }
    }
    LZ4_streamHC_t *stream = state->lz4hc;
    if (stream == NULL) {
        stream = state->lz4hc = b2i_aligned_alloc(sizeof *stream);
        if (stream == NULL) {
            return B2C_E_MEMORY;
        }
        LZ4_initStreamHC(stream, sizeof *stream);
    }
    if (dict != NULL && dict->enc != NULL) {
        memcpy(stream, &((const lz4hc_dict *)dict->enc)->stream, sizeof *stream);
    } else { /* makes what LZ4_compress_HC_extStateHC() makes, but does not clear 256 KiB before */
        LZ4_resetStreamHC_fast(stream, clevel);
    }
    const size_t room = b2i_lz4_room_in_front(nskipped);
    int len = LZ4_compress_HC_continue(stream, (const char *)src + nskipped, (char *)dst + room,
                                       (int)(n - nskipped), clamp_cap(cap - room));
    if (len > 0) {
        b2i_lz4_spread(src + nskipped, dst + room, (size_t)len);
        *out_len = b2i_lz4_put_in_front(src, nskipped, dst, (size_t)len);
    }
    return B2C_OK;
}

static b2c_status lz4_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                             uint8_t *dst, size_t n)
{
    (void)state;
    return b2i_lz4_decode(dict == NULL ? b2i_span_of(NULL, 0) : dict->bytes, src, dst, n);
}

static void state_free(b2i_codec_state *state)
{
    b2i_aligned_free(state->lz4hc);
}

/* ---- dictionaries ---- */

static b2c_status dict_train(b2i_span src, size_t blocksize, uint8_t *dst, size_t max_len,
                             size_t *out_len)
{
    (void)blocksize;
    size_t npieces = max_len / SAMPLE_LEN, piece_len = SAMPLE_LEN;
    if (npieces == 0) {
        npieces = 1;
        piece_len = max_len;
    }
    if (npieces * piece_len >= src.n) {
        return B2C_OK; /* the dictionary would be the data */
    }
    b2i_dict_sample(src, npieces, piece_len, dst);
    *out_len = npieces * piece_len;
    return B2C_OK;
}

static b2c_status lz4_dict_init(b2i_dict *dict, int clevel)
{
    if (clevel > 0) {
        dict->enc = b2i_lz4_dict_new(dict->bytes);
    }
    return clevel > 0 && dict->enc == NULL ? B2C_E_MEMORY : B2C_OK;
}

static void lz4_dict_free(b2i_dict *dict)
{
    b2i_free(dict->enc);
}

/*
 * The library gets a copy of the dictionary: it cannot happen to end where the
 * data begin, which LZ4 would take for a prefix and might encode in another way.
 */
static b2c_status lz4hc_dict_init(b2i_dict *dict, int clevel)
{
    if (dict->bytes.n > INT_MAX) {
        return B2C_E_CORRUPT;
    }
    if (clevel > 0) {
        lz4hc_dict *d = dict->enc = b2i_aligned_alloc(sizeof *d + dict->bytes.n + 1);
        if (d == NULL) {
            return B2C_E_MEMORY;
        }
        memcpy(d->bytes, dict->bytes.p, dict->bytes.n);
        LZ4_initStreamHC(&d->stream, sizeof d->stream);
        LZ4_resetStreamHC_fast(&d->stream, clevel);
        LZ4_loadDictHC(&d->stream, (const char *)d->bytes, (int)dict->bytes.n);
    }
    return B2C_OK;
}

static void lz4hc_dict_free(b2i_dict *dict)
{
    b2i_aligned_free(dict->enc);
}

const b2i_codec_ops b2i_codec_lz4 = {
    .codec = { .id = B2C_CODEC_LZ4,
               .format = 1,
               .has_dict = true,
               .name = "lz4",
               .library = "LZ4",
               .version = LZ4_versionString,
               .encode = lz4_encode,
               .decode = lz4_decode },
    .dict_train = dict_train,
    .dict_init = lz4_dict_init,
    .dict_free = lz4_dict_free,
};

const b2i_codec_ops b2i_codec_lz4hc = {
    .codec = { .id = B2C_CODEC_LZ4HC,
               .format = 1,
               .has_dict = true,
               .name = "lz4hc",
               .library = "LZ4",
               .version = LZ4_versionString,
               .encode = lz4hc_encode,
               .decode = lz4_decode },
    .state_free = state_free,
    .dict_train = dict_train,
    .dict_init = lz4hc_dict_init,
    .dict_free = lz4hc_dict_free,
};

#endif
