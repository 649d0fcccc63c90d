/*
 * ctx.h: what a thread needs to work on chunks: pool, limits, and per worker
 * scratch memory and codec states.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CTX_H
#define B2I_CTX_H

#include "alloc.h"
#include "block_cache.h"
#include "codec.h"
#include "pool.h"
#include "strip_cache.h"

#define B2I_NO_LIMIT UINT64_MAX

/* With defaults in place of zeros; NULL: all of them. */
b2c_limits b2i_limits_full(const b2c_limits *limits);

typedef struct b2i_worker {
    b2i_codec_state *codecs; /* made when first needed; see b2i_ctx_worker() */
    b2i_scratch a, b, c;     /* block-sized buffers of the block coder */
    b2i_scratch d;           /* for the layers above: a decoded block (n-d arrays, partial reads) */
    b2i_scratch in;          /* stored bytes of a block that had to be read */
} b2i_worker;

/* A function of the user's for blocks; fn NULL: none. */
typedef struct b2i_hook {
    b2c_block_fn *fn;
    void *user;
} b2i_hook;

struct b2c_ctx {
    b2c_pool *pool;
    uint32_t nthreads;
    b2c_limits limits; /* no field is 0 */
    b2i_worker *workers;
    uint32_t nworkers;        /* length of workers */
    b2i_scratch ref;          /* delta: block 0 as the decoder restores it */
    b2i_block_cache *cache;   /* see b2i_ctx_cache() */
    b2i_strip_cache *strips;  /* and b2i_ctx_strips() */
    struct b2c_ctx **helpers; /* see b2i_ctx_helpers() */
    uint32_t nhelpers;
    void *above; /* what the layers above keep with it, and how to free that */
    void (*free_above)(void *above);
    b2i_hook pre, post; /* of chunks that are alone */
    bool collects;      /* reads go on past damaged chunks, see damage.c */
    b2i_buf damage;     /* b2c_error of each */
};

/*
 * Chunks and parts of them that decode to less are the work of the caller alone: waking a worker
 * costs as much as decoding them.
 */
enum { B2I_PARALLEL_NBYTES = 256 * 1024 };

/*
 * Makes room for the workers of a loop of nitems items and returns in *nworkers how
 * many it may use (at least 1).  Call before b2i_pool_run().
 */
b2c_status b2i_ctx_prepare(b2c_ctx *ctx, uint32_t nitems, uint32_t *nworkers, b2c_error *err);

/*
 * For loops whose items need a context of their own, such as whole chunks: prepares serial ones,
 * ctx->helpers[worker], and returns in *nworkers how many the loop may use (at least 1).
 */
b2c_status b2i_ctx_helpers(b2c_ctx *ctx, uint64_t nitems, uint32_t *nworkers, b2c_error *err);

/* The context's decoded blocks, or NULL when there is no memory for them. */
b2i_block_cache *b2i_ctx_cache(b2c_ctx *ctx);

/* And its strips. */
b2i_strip_cache *b2i_ctx_strips(b2c_ctx *ctx);

/*
 * After a chunk of a read of 'nchunks' chunks: 'st', or B2C_OK when the context collects damage and
 * the failure was noted.  At the end of the read b2i_damage_status() fails with the first of all.
 */
b2c_status b2i_damage_skip(b2c_ctx *ctx, uint64_t nchunks, b2c_status st, const b2c_error *err);
b2c_status b2i_damage_status(const b2c_ctx *ctx, b2c_error *err);

/* The worker's state with codecs in place.  B2C_E_MEMORY. */
b2c_status b2i_ctx_worker(b2c_ctx *ctx, uint32_t worker, b2i_worker **out, b2c_error *err);

#endif
