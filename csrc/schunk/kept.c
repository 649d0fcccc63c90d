/*
 * kept.c: open chunks that a context keeps from one small read to the next.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a chunk of a file takes six reads, and its table of blocks is checked: that costs as much
 * as all else of reading an item.
 */
#include "schunk.h"

enum {
    NKEPT = 8,
    LARGE_NBYTES = 256 * 1024,        /* of chunks that take more memory one is kept, */
    MAX_KEPT_NBYTES = 2 * 1024 * 1024 /* and none that takes more than this */
};

/* Which chunk of what; whoever changes the object changes 'edits'. */
typedef struct kept_key {
    uint64_t owner, edits, nchunk; /* owner 0: none */
    bool verifies;                 /* whether checksums are compared */
} kept_key;

typedef struct kept_chunk {
    b2i_stored_chunk c; /* the first, so that it leads here */
    kept_key key;
    bool is_old; /* an earlier read opened it */
} kept_chunk;

typedef struct kept_chunks {
    kept_chunk v[NKEPT];
    uint32_t hand; /* the next one to give way */
} kept_chunks;

static void drop(kept_chunk *kept)
{
    if (kept->key.owner != 0) {
        b2i_stored_chunk_close(&kept->c);
        kept->key.owner = 0;
    }
}

static void free_all(void *p)
{
    kept_chunks *all = p;
    for (uint32_t i = 0; i < NKEPT; i++) {
        drop(&all->v[i]);
    }
    b2i_free(all);
}

static bool is_same(const kept_key *a, const kept_key *b)
{
    return a->nchunk == b->nchunk && a->owner == b->owner && a->edits == b->edits &&
           a->verifies == b->verifies;
}

/*
 * Whether the bytes of a kept chunk can be looked at.  Those of a mapped file are not its own: the
 * store is asked whether they are still there.
 */
static bool is_there(kept_chunk *kept)
{
    b2i_stored_chunk *c = &kept->c;
    b2i_scratch scratch = { 0 };
    b2i_span now = c->bytes;
    if (c->bytes.n == 0 || c->bytes.p == c->whole.p || c->bytes.p == c->special) {
        return true;
    }
    b2c_status st = c->store->ops->read(c->store, c->entry, 0, c->bytes.n, &scratch, &now, NULL);
    b2i_scratch_free(&scratch);
    return st == B2C_OK && now.p == c->bytes.p;
}

/* The chunk of a key; NULL: it is not kept, or its bytes are not there any more. */
static kept_chunk *find(kept_chunks *all, const kept_key *key)
{
    for (uint32_t i = 0; i < NKEPT; i++) {
        kept_chunk *kept = &all->v[i];
        if (is_same(&kept->key, key)) {
            if (is_there(kept)) {
                return kept;
            }
            drop(kept);
        }
    }
    return NULL;
}

b2c_status b2i_kept_chunk_open(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                               b2i_stored_chunk **out, b2c_error *err)
{
    const kept_key key = { s->id, s->edits, nchunk, s->store->verifies };
    if (ctx->above == NULL) {
        ctx->above = b2i_calloc(sizeof(kept_chunks));
        ctx->free_above = free_all;
    }
    kept_chunks *all = ctx->above;
    if (all == NULL) {
        return b2i_fail_memory(err);
    }
    kept_chunk *kept = find(all, &key);
    if (kept != NULL) {
        kept->is_old = true;
        *out = &kept->c;
        return B2C_OK;
    }
    kept = &all->v[all->hand];
    all->hand = (all->hand + 1) % NKEPT;
    drop(kept);
    B2I_TRY(b2i_stored_chunk_open(s, nchunk, NULL, &kept->c, err));
    kept->key = key;
    kept->is_old = false;
    *out = &kept->c;
    return B2C_OK;
}

/* Memory for the tables of blocks, and for stored bytes that were read whole. */
static size_t nbytes_of(const kept_chunk *kept)
{
    return 12 * (size_t)kept->c.chunk.head.nblocks + kept->c.whole.cap + kept->c.hash_bytes.cap;
}

static void drop_other_large(kept_chunks *all, const kept_chunk *last)
{
    for (uint32_t i = 0; i < NKEPT; i++) {
        kept_chunk *kept = &all->v[i];
        if (kept != last && kept->key.owner != 0 && nbytes_of(kept) > LARGE_NBYTES) {
            drop(kept);
        }
    }
}

/*
 * Whether a change of the chunk would be noticed: by its checksum, or because nobody else can make
 * one.  With blocks of variable size old tables fit new bytes too easily.
 */
static bool can_be_kept(const b2i_stored_chunk *c)
{
    const b2i_store *store = c->store;
    return c->chunk.dict == NULL && (!c->chunk.head.has_vlblocks || store->is_trusted ||
                                     store->is_writable || store->storage == B2C_STORAGE_MEMORY);
}

bool b2i_kept_chunk_close(b2c_ctx *ctx, b2i_stored_chunk *c, b2c_status status)
{
    kept_chunk *kept = (kept_chunk *)(void *)c;
    bool is_old = kept->is_old;
    /* A wrong argument says nothing against the chunk, unless that is what it was before. */
    bool is_sound =
        status == B2C_OK || (!is_old && (status == B2C_E_OUTPUT_SIZE || status == B2C_E_RANGE));
    c->ahead = b2i_span_of(NULL, 0);
    if (c->bytes.p != c->whole.p) {
        b2i_scratch_free(&c->whole); /* what was read ahead */
    }
    if (!is_sound || nbytes_of(kept) > MAX_KEPT_NBYTES || !can_be_kept(c)) {
        drop(kept);
    } else if (nbytes_of(kept) > LARGE_NBYTES) {
        drop_other_large(ctx->above, kept);
    }
    return status != B2C_OK && is_old;
}
