/*
 * codec_impl.h: what the codecs share; private to csrc/codec.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CODEC_IMPL_H
#define B2I_CODEC_IMPL_H

#include "alloc.h"
#include "codec.h"

/*
 * Functions that are made several times, with constants for some arguments, and those that stay
 * apart: they are called seldom, or need the registers for themselves.
 */
#if defined(__GNUC__)
#define B2I_LZ_TEMPLATE static inline __attribute__((always_inline))
#define B2I_LZ_APART    __attribute__((noinline))
#else
#define B2I_LZ_TEMPLATE static inline
#define B2I_LZ_APART
#endif

enum { B2I_MAX_CLEVEL = 9 };

/* Each pointer is NULL until its codec needs it, and belongs to that codec. */
struct b2i_codec_state {
    b2i_made made;                         /* as b2i_codec_state_tell() said */
    void *lz;                              /* hash tables of our own encoders */
    struct b2i_lz4_joined *lz4;            /* for streams with a dictionary */
    void *lz4hc;                           /* compression state */
    void *zstd_enc, *zstd_fast, *zstd_far; /* contexts: the second for level 1 */
    void *zstd_dec;
    void *zlib_enc[B2I_MAX_CLEVEL]; /* a compressor per level */
    void *deflate, *inflate;        /* our own coder */
    void *deflate_parser;
};

struct b2i_dict {
    const b2i_codec *codec;
    b2i_span bytes;
    void *enc, *dec; /* the codec's own forms; NULL where it needs none */
};

/* A codec and how to get rid of what it made.  The functions of dictionaries are NULL without. */
typedef struct b2i_codec_ops {
    b2i_codec codec; /* first: the public face is the address of the whole */
    void (*state_free)(b2i_codec_state *state); /* NULL: it has no part in the state */
    b2c_status (*dict_train)(b2i_span src, size_t blocksize, uint8_t *dst, size_t max_len,
                             size_t *out_len);
    b2c_status (*dict_init)(b2i_dict *dict, int clevel); /* on failure dict_free() follows */
    void (*dict_free)(b2i_dict *dict);
} b2i_codec_ops;

extern const b2i_codec_ops b2i_codec_blosclz;
extern const b2i_codec_ops b2i_codec_lz4;
extern const b2i_codec_ops b2i_codec_lz4hc;
extern const b2i_codec_ops b2i_codec_zlib;
extern const b2i_codec_ops b2i_codec_zstd;
extern const b2i_codec_ops b2i_codec_ndlz;
extern const b2i_codec_ops b2i_codec_zfp_acc;
extern const b2i_codec_ops b2i_codec_zfp_prec;
extern const b2i_codec_ops b2i_codec_zfp_rate;

/* BloscLZ; the contracts are those of b2i_codec. */
b2c_status b2i_blosclz_encode(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                              const uint8_t *src, size_t n, uint8_t *dst, size_t cap,
                              size_t *out_len);
b2c_status b2i_blosclz_decode(b2i_codec_state *state, const b2i_dict *dict, b2i_span src,
                              uint8_t *dst, size_t n);

/*
 * LZ4 blocks.  A stream that would not become at least a 64th smaller is said not to fit: raw
 * bytes need no decoding at all.  Levels for LZ4HC, without dictionaries, are B2I_CLEVEL_FINE, and
 * this one, which has no short matches.
 */
enum { B2I_LZ4_MID = B2I_MAX_CLEVEL + 1 };
typedef struct b2i_lz4_dict b2i_lz4_dict;
b2i_lz4_dict *b2i_lz4_dict_new(b2i_span bytes); /* not empty; copied; for b2i_free(), or NULL */
b2c_status b2i_lz4_encode(b2i_codec_state *state, int clevel, const b2i_lz4_dict *dict,
                          const uint8_t *src, size_t n, uint8_t *dst, size_t cap, size_t *out_len);
/*
 * What a look, no longer than needed to know it, tells of a stream.  Where short matches, which it
 * does not see, show at the start, it ends there: shrinks is assumed and nhard 0.
 */
typedef struct b2i_lz4_look {
    bool shrinks; /* by a 512th or more */
    size_t nhard; /* bytes at its start in which no matches were found */
} b2i_lz4_look;
b2c_status b2i_lz4_look_at(b2i_codec_state *state, const uint8_t *src, size_t n, uint8_t *dst,
                           size_t cap, b2i_lz4_look *look);
/*
 * Puts literals in front of a block of len bytes that stands at dst plus the room for them: the
 * result, whose length is returned, stands at dst.
 */
size_t b2i_lz4_room_in_front(size_t nlit);
size_t b2i_lz4_put_in_front(const uint8_t *lits, size_t nlit, uint8_t *dst, size_t len);
/*
 * Makes short matches of a block that the library has made of src be with what is farther back, as
 * distance_to_take() tells, until fewer than half of those so far were with what is near.
 */
void b2i_lz4_spread(const uint8_t *src, uint8_t *block, size_t len);
b2c_status b2i_lz4_decode(b2i_span dict, b2i_span src, uint8_t *dst, size_t n);

/* Bits that the best code for symbols takes which occur so often, less than 2^32 in all; about. */
uint64_t b2i_entropy(const uint32_t *counts, size_t n);

/*
 * Whether coding bytes by how often their values occur saves no more than a part of n, but for what
 * it would save by chance; false of 2^28 bytes and more.
 */
bool b2i_is_flat(const uint8_t *src, size_t n, unsigned part);

/* The same as far as 1024 bytes tell, of about a 64th; false of fewer, and of a period of 256. */
bool b2i_looks_flat(const uint8_t *src, size_t n);

/*
 * Whether a stream has repetitions: whether more than 1/512 of it would be saved by matches of 6
 * bytes, as far as a look at one position in 16 tells.  Returns early when it has.
 */
bool b2i_has_matches(const uint8_t *src, size_t n);

/* About how many bytes matches of four bytes and more save of n < 2^16. */
size_t b2i_short_repeats(const uint8_t *src, size_t n);

/*
 * Whether matches with what is among the first bytes, nfront < n, would save more than a 128th of
 * n, no farther away than a window: matches of 86 bytes are seen, of shorter ones some.
 */
bool b2i_recurs(const uint8_t *src, size_t nfront, size_t n, size_t window);

/*
 * Whether bytes that are coded by their frequency alone take hardly more than with matches: these
 * would save no more than a 128th of it, and frequencies are the same everywhere.  A guess, as it
 * looks at parts; false of less than 4096 bytes and from 2^24 on, where a byte takes less than
 * 'least' eighths of a bit or nearly all (b2i_is_flat() is for that), and where one value is more
 * frequent than all others.  What short matches save where there are very many of
 * them, as in items that were not shuffled, only a trial shows.
 */
bool b2i_codes_suffice(const uint8_t *src, size_t n, unsigned least);

/* Samples of src: npieces pieces of piece_len bytes, evenly spread, one behind the other. */
void b2i_dict_sample(b2i_span src, size_t npieces, size_t piece_len, uint8_t *dst);

/* Libraries that allocate by themselves: asked before, so that tests can make them fail. */
static inline bool b2i_library_may_alloc(void)
{
#ifdef B2I_FAIL_ALLOC
    return !b2i_alloc_fails_now();
#else
    return true;
#endif
}

#endif
