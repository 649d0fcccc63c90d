/*
 * chunk.h: validated views of chunks.  Only chunk_parse.c makes them; holding
 * one is the proof that its sizes and tables are sound.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CHUNK_H
#define B2I_CHUNK_H

#include "bytes.h"
#include "codec.h"
#include "ctx.h"
#include "filter.h"
#include "site.h"

/* The header alone: sizes agree with each other, nothing is known of the bytes behind it. */
typedef struct b2i_chunk_head {
    uint32_t header_len; /* 16 or 32 */
    uint32_t nbytes;
    uint32_t blocksize; /* 0 for VL-block chunks; otherwise 1…nbytes when nbytes > 0 */
    uint32_t cbytes;
    uint32_t nblocks;   /* blocks with a bstart: 0 for empty, special and memcpy chunks */
    uint32_t value_len; /* special VALUE: bytes of the repeated item */
    uint8_t version;
    uint8_t typesize; /* 1…255 */
    uint8_t codec_id;
    uint8_t codec_meta;
    uint8_t codec_format; /* 0…7, bits of the flags: names codecs that have no ID */
    uint8_t special;      /* B2C_SPECIAL_… */
    bool is_memcpy;
    bool is_split; /* full blocks consist of nstreams = typesize streams */
    bool has_dict;
    bool has_vlblocks;
    bool is_instrumented;
    bool maybe_unsplit; /* Blosc1: the flag says split, the Blosc1 rule not; see chunk_open.c */
    b2i_pipeline pipeline;
} b2i_chunk_head;

/*
 * Parses a header.  'head' needs 16 bytes, 32 for an extended header;
 * limits may be NULL.  B2C_E_TRUNCATED, B2C_E_CORRUPT, B2C_E_UNSUPPORTED, B2C_E_LIMIT.
 */
b2c_status b2i_chunk_head_parse(b2i_span bytes, const b2c_limits *limits, b2i_chunk_head *out,
                                b2c_error *err);

/* B2C_E_LIMIT for a chunk that decodes to more than the limits allow; they may be NULL. */
b2c_status b2i_chunk_head_check_limit(const b2i_chunk_head *head, const b2c_limits *limits,
                                      b2c_error *err);

/*
 * Number of the parts that are stored one by one and can be checked alone: blocks, for memcpy
 * chunks as if they had blocks of blocksize.  VL blocks do not count.
 */
uint32_t b2i_chunk_head_nparts(const b2i_chunk_head *head);
/* Whether it has several, surely those that the header tells of: see b2i_chunk_open(). */
bool b2i_chunk_head_has_parts(const b2i_chunk_head *head);

/* The public facts of a header. */
void b2i_chunk_info_from_head(const b2i_chunk_head *head, b2c_chunk_info *info);

/*
 * Where the bytes of a chunk come from.  read() gives bytes [at, at + n) of the
 * chunk, either by pointing *out into memory that lives as long as the chunk,
 * or by reading them into 'scratch'.  It must be callable from several threads.
 */
typedef struct b2i_source {
    b2c_status (*read)(void *arg, uint64_t at, size_t n, b2i_scratch *scratch, b2i_span *out,
                       b2c_error *err);
    void *arg;
    uint64_t len; /* bytes that the source has, >= the chunk's cbytes or the chunk is truncated */
} b2i_source;

/* A source over bytes in memory; 'bytes' must outlive it. */
b2i_source b2i_source_mem(const b2i_span *bytes);

typedef struct b2i_chunk b2i_chunk;

struct b2i_chunk {
    b2i_chunk_head head;
    b2i_source source;
    uint32_t *starts;       /* nblocks positions in the chunk */
    uint32_t *ends;         /* nblocks ends: no stream of block i reaches beyond ends[i] */
    uint32_t *vl_at;        /* VL-block chunks: nblocks + 1 positions in the decoded data */
    const b2i_codec *codec; /* NULL: not in this build; raw, run and special still work */
    b2i_dict *dict;
    b2i_scratch dict_bytes;
    b2i_scratch prefix; /* header and tables when they had to be read */
    b2i_site site;      /* set by whoever has opened it */
};

/*
 * Parses header, block starts and dictionary, reading only those from the source.
 * On success *out must be closed.  Errors as b2i_chunk_head_parse(), and
 * B2C_E_MEMORY, B2C_E_UNKNOWN_FILTER.
 */
b2c_status b2i_chunk_open(const b2i_source *source, const b2c_limits *limits, b2i_chunk *out,
                          b2c_error *err);

/* The same for a header that has been parsed, which is not read again. */
b2c_status b2i_chunk_open_as(const b2i_source *source, const b2i_chunk_head *head, b2i_chunk *out,
                             b2c_error *err);
void b2i_chunk_close(b2i_chunk *chunk);

/* The stored bytes of part i: [*at, *at + *n). */
void b2i_chunk_part_at(const b2i_chunk *chunk, uint32_t i, uint32_t *at, uint32_t *n);

/* ---- decoding ---- */

/*
 * Units can be decoded alone: blocks; for memcpy and special chunks as if they had blocks of
 * blocksize.
 */

/* The whole chunk into dst (dst_cap >= nbytes, else B2C_E_OUTPUT_SIZE), blocks through the pool. */
b2c_status b2i_chunk_decode(b2c_ctx *ctx, const b2i_chunk *chunk, uint8_t *dst, size_t dst_cap,
                            b2c_error *err);

/*
 * What decoding single units needs beforehand (block 0 for delta, into ctx->ref);
 * call once before b2i_chunk_decode_unit(), from the thread that owns ctx.
 */
b2c_status b2i_chunk_decode_begin(b2c_ctx *ctx, const b2i_chunk *chunk, b2c_error *err);

/*
 * Unit i alone into dst (its whole extent), by worker number 'worker' of ctx; may be called by
 * several workers at once.  Works for every kind of chunk.  Does not use worker->d.
 */
b2c_status b2i_chunk_decode_unit(b2c_ctx *ctx, uint32_t worker, const b2i_chunk *chunk, uint32_t i,
                                 uint8_t *dst, b2c_error *err);

/*
 * Whether full blocks can be had as planes: undoing a shuffle of items of 'typesize' bytes is all
 * that there is to do behind the codec.
 */
bool b2i_chunk_has_planes(const b2i_chunk *chunk);

/*
 * b2i_chunk_decode_unit() of full block i of such a chunk, as planes: byte k of every item, then
 * byte k + 1.  Who needs a few items only fetches them from there.
 */
b2c_status b2i_chunk_decode_planes(b2c_ctx *ctx, uint32_t worker, const b2i_chunk *chunk,
                                   uint32_t i, uint8_t *dst, b2c_error *err);

/* Bytes [at, at + n) of the decoded data into dst, decoding only the units they touch. */
b2c_status b2i_chunk_decode_range(b2c_ctx *ctx, const b2i_chunk *chunk, uint64_t at, uint64_t n,
                                  uint8_t *dst, b2c_error *err);

/* Whether the chunk decodes; in memory for a block per worker. */
b2c_status b2i_chunk_check(b2c_ctx *ctx, const b2i_chunk *chunk, b2c_error *err);

/*
 * Blocks of variable size: their decoded sizes (B2C_E_OUTPUT_SIZE, B2C_E_UNSUPPORTED), and one of
 * them (B2C_E_RANGE too); as the public functions.
 */
b2c_status b2i_chunk_vl_lens(const b2i_chunk *chunk, uint32_t *lens, size_t lens_cap,
                             size_t *nblocks, b2c_error *err);
b2c_status b2i_chunk_vl_block(b2c_ctx *ctx, const b2i_chunk *chunk, uint64_t nblock, uint8_t *dst,
                              size_t dst_cap, size_t *dst_len, b2c_error *err);

/* ---- encoding ---- */

/* Checks all of cparams; fails naming the parameter. */
b2c_status b2i_cparams_check(const b2c_cparams *cparams, b2c_error *err);

/* B2C_E_LIMIT when one chunk cannot hold so many bytes. */
b2c_status b2i_chunk_check_nbytes(uint64_t nbytes, b2c_error *err);

/*
 * As b2c_compress(); dst_cap >= n + 32 never fails for lack of room.  site NULL: the chunk is
 * alone and nothing is to be done with the data before.
 */
b2c_status b2i_chunk_encode(b2c_ctx *ctx, const b2c_cparams *cparams, const b2i_site *site,
                            b2i_span src, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                            b2c_error *err);

/*
 * The same of nbytes of one item, of cparams->typesize bytes, without making these.  is_padded:
 * zeros may be among them.  *dst_len is 0 where that is not enough to know.
 */
b2c_status b2i_chunk_encode_repeated(const b2c_cparams *cparams, const uint8_t *item, size_t nbytes,
                                     bool is_padded, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                                     b2c_error *err);

/*
 * As b2c_vlcompress() with the blocks as spans, which are changed when there is a pre-filter.
 * dst_cap >= 32 and for each block its bytes and 8 never fails for lack of room.
 */
b2c_status b2i_vl_encode(b2c_ctx *ctx, const b2c_cparams *cparams, const b2i_site *site,
                         b2i_span *blocks, size_t nblocks, uint8_t *dst, size_t dst_cap,
                         size_t *dst_len, b2c_error *err);

/* Parameters for special chunks; the codec, which has nothing to do, is one of all builds. */
b2c_cparams b2i_special_cparams(uint32_t typesize);

/* Writes a special chunk; see b2c_special_chunk(). */
b2c_status b2i_special_encode(const b2c_cparams *cparams, uint8_t kind, uint64_t nbytes,
                              const uint8_t *value, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                              b2c_error *err);

/* A chunk of zeros, whatever their number above 0, that is no special one but as good as. */
b2c_status b2i_zeros_encode(uint32_t nbytes, b2i_scratch *scratch, b2i_span *out, b2c_error *err);

/* ---- changing some blocks (chunk_patch.c) ---- */

#define B2I_BLOCK_STAYS UINT32_MAX

/* Whether blocks that these parameters make can stand beside those of the chunk. */
bool b2i_chunk_can_patch(const b2i_chunk *chunk, const b2c_cparams *cparams);

/*
 * The chunk with some blocks replaced, in scratch; out->n is 0 when it would be larger than its
 * data. 'data' holds the new blocks, one after the other, which[i] is the number there of block i,
 * or B2I_BLOCK_STAYS.  b2i_chunk_can_patch() must be true.
 */
b2c_status b2i_chunk_patch(b2c_ctx *ctx, const b2c_cparams *cparams, const b2i_chunk *chunk,
                           const uint32_t *which, b2i_span data, b2i_scratch *scratch,
                           b2i_span *out, b2c_error *err);

#endif
