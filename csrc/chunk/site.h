/*
 * site.h: where a chunk stands, and what the user wants done with its blocks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_SITE_H
#define B2I_SITE_H

#include "bytes.h"
#include "ctx.h"

/* The site of a chunk; all zero for one that is alone. */
typedef struct b2i_site {
    const b2c_schunk *schunk;
    uint64_t nchunk;
    uint64_t at;       /* decoded bytes of the schunk in front of it */
    uint32_t typesize; /* bytes of an item; 0: as the chunk's header tells */
    uint32_t ndim;     /* of the array that the schunk is; 0: none */
    uint32_t blockshape[B2C_MAX_DIM];
    b2i_hook hook; /* pre-filter of data, post-filter of a chunk to be read; fn NULL: none */
} b2i_site;

/* What user code is told of block i: n decoded bytes at 'at' of a chunk. */
b2c_block b2i_site_block(const b2i_site *site, uint32_t i, uint32_t at, size_t n,
                         uint32_t typesize);

/* Calls the hook for one block.  B2C_E_CALLBACK. */
b2c_status b2i_hook_call(const b2i_hook *hook, const b2c_block *block, const uint8_t *src,
                         uint8_t *dst, b2c_error *err);

/*
 * Calls the hook of a site for all blocks of a chunk to be, through the pool: n > 0 bytes from
 * src, which is NULL when they are made of nothing, to dst.  B2C_E_CALLBACK names the block.
 */
b2c_status b2i_site_filter(b2c_ctx *ctx, const b2i_site *site, uint32_t blocksize,
                           uint32_t typesize, const uint8_t *src, size_t n, uint8_t *dst,
                           b2c_error *err);

#endif
