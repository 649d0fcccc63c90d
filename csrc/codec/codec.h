/*
 * codec.h: one buffer in, one buffer out.  Codecs know no chunk headers and no
 * threads; a b2i_codec_state belongs to one worker at a time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CODEC_H
#define B2I_CODEC_H

#include "bytes.h"
#include "status.h"

/*
 * Library contexts and hash tables of one worker, each made when first needed
 * and kept: making a zstd context costs more than decoding a small block.
 */
typedef struct b2i_codec_state b2i_codec_state;
b2i_codec_state *b2i_codec_state_new(void); /* NULL: no memory */
void b2i_codec_state_free(b2i_codec_state *state);

/* What filters made of the items whose streams are encoded next. */
typedef enum b2i_made {
    B2I_MADE_ITEMS, /* nothing: they are as they were */
    B2I_MADE_BYTES, /* planes of bytes, or items of other values */
    B2I_MADE_BITS   /* rows of bits */
} b2i_made;
void b2i_codec_state_tell(b2i_codec_state *state, b2i_made made);

/* A dictionary prepared for one codec; read-only once made, shared by all workers. */
typedef struct b2i_dict b2i_dict;

enum { B2I_FORMAT_BY_ID = 6 }; /* of codecs that byte 0x16 of chunk headers names */

/*
 * Levels that only one codec knows.  Zstandard's highest for one of several planes, of which those
 * that shrink most are not worth most of the time; and added to one below it, that what repeats is
 * long and far apart.  LZ4HC's first two where they were asked for: search_in_pairs() finds short
 * matches in short streams.  The 1 that a trial takes in place of a higher one does without: short
 * pieces would promise matches that long streams do not get.
 */
enum { B2I_CLEVEL_OF_PLANE = 10, B2I_CLEVEL_FINE = 11, B2I_CLEVEL_FAR = 16 };

/* From this level on the ratio is what was asked for. */
enum { B2I_CLEVEL_OF_RATIO = 8 };

typedef struct b2i_codec {
    uint8_t id;             /* B2C_CODEC_… */
    uint8_t format;         /* value of the chunk header's format bits (0…4, 6) */
    uint8_t stream_version; /* byte 1 of chunks; 0 stands for 1 */
    bool has_dict;          /* takes dictionaries */
    bool reads_again;       /* counts on src not changing meanwhile: gets a copy of users' memory */
    const char *name;       /* "zstd" */
    const char *library;    /* "Zstandard" */
    const char *(*version)(void);

    /*
     * Compresses n > 0 bytes with clevel 1…9, or one of the levels above, into at most cap bytes.
     * *out_len is the compressed size, 0 when it does not fit.  Fails with B2C_E_MEMORY only.  dict
     * may be NULL.  Where cap is n - 1, the output depends on src, clevel, dict and what
     * b2i_codec_state_tell() said alone, never on what the state was used for before.
     */
    b2c_status (*encode)(b2i_codec_state *state, int clevel, const b2i_dict *dict,
                         const uint8_t *src, size_t n, uint8_t *dst, size_t cap, size_t *out_len);

    /*
     * Decodes into exactly n bytes.  Returns B2C_E_CORRUPT when the stream is
     * damaged or gives any other number; never reads beyond src nor writes
     * beyond dst + n, whatever the bytes are.  B2C_E_MEMORY.
     */
    b2c_status (*decode)(b2i_codec_state *state, const b2i_dict *dict, b2i_span src, uint8_t *dst,
                         size_t n);

    /*
     * Codecs that are told about the block have these instead of the two above.  encode_block()
     * is given room for src.n bytes or more, and fails with B2C_E_CALLBACK also.
     */
    b2c_status (*encode_block)(const struct b2i_codec *codec, const b2c_block *block, b2i_span src,
                               uint8_t *dst, size_t cap, size_t *out_len, b2c_error *err);
    b2c_status (*decode_block)(const struct b2i_codec *codec, const b2c_block *block, b2i_span src,
                               uint8_t *dst, size_t n, b2c_error *err);
    /* Before encoding: whether it takes streams of n bytes.  B2C_E_ARGUMENT.  May be NULL. */
    b2c_status (*check_block)(const b2c_block *block, size_t n, b2c_error *err);
    bool takes_items; /* as they are, not the bytes that a shuffle makes of them */
} b2i_codec;

/* The codec with an ID, or NULL when it is neither in this build nor registered. */
const b2i_codec *b2i_codec_by_id(uint8_t id);
bool b2i_codec_is_built_in(uint8_t id);

/* B2C_E_UNKNOWN_CODEC: what an ID that nobody has stands for, and what provides it. */
b2c_status b2i_codec_fail_unknown(uint8_t id, uint64_t offset, b2c_error *err);

/* As b2c_register_codec(). */
b2c_status b2i_codec_register(const b2c_codec_plugin *plugin, b2c_error *err);

/*
 * Makes a dictionary of at most max_len bytes for a codec from samples of src
 * (zstd: trained; lz4, lz4hc: raw content) and appends nothing when there is
 * nothing to gain: *out_len is then 0.  Deterministic.  'blocksize' tells the
 * unit in which src will be compressed.
 */
b2c_status b2i_dict_train(const b2i_codec *codec, b2i_span src, size_t blocksize, uint8_t *dst,
                          size_t max_len, size_t *out_len);

/*
 * Prepares dictionary bytes, which must outlive it, for encoding at clevel 1…9 and
 * decoding; clevel 0: for decoding only.  B2C_E_CORRUPT, B2C_E_MEMORY.
 */
b2c_status b2i_dict_new(const b2i_codec *codec, b2i_span bytes, int clevel, b2i_dict **dict);
void b2i_dict_free(b2i_dict *dict);

/*
 * Whether matches of four bytes and more would save more than nbytes of the n < 2^32 at src, whose
 * bytes are coded by their frequency otherwise.  Looks at a part of the words, so it is a guess.
 */
bool b2i_short_matches_save(const uint8_t *src, size_t n, size_t nbytes);

#endif
