/*
 * nd_read.c: reads selections, decoding only the blocks that they touch.
 *
 * Blocks of which a small read needs a part are kept in the context, for the next read of the
 * same block.  Large reads decode several blocks at once, or several chunks when there are many.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "shuffle.h"

/* Blocks of reads above this are not kept: they would drive each other out. */
#define KEPT_READ_NBYTES ((uint64_t)B2I_CACHE_NBYTES / 2)

/* About as many stored bytes are read at once when blocks are neighbours. */
#define READ_AHEAD_NBYTES ((uint64_t)1 << 20)

/* A block of one item again and again is not made in memory above this. */
#define LARGE_BLOCK_NBYTES ((uint64_t)1 << 20)

/* A block that is to be decoded because the cache does not have it. */
typedef struct missing {
    uint64_t chunk; /* as in b2i_select_chunk() */
    uint32_t block; /* and b2i_select_block() */
    b2i_cached *slot;
    b2i_block_key key;
} missing;

enum { MAX_MISSING = 64 };

typedef struct read_job {
    const b2c_schunk *s;
    b2c_ctx *ctx;
    const b2i_selection *sel;
    const b2i_hook *post;
    uint8_t *dst;
    missing *missing; /* NULL: all blocks */
    uint32_t nmissing;
} read_job;

b2c_status b2i_nd_check_chunk(const b2c_schunk *s, const b2i_grid *g, uint64_t nchunk,
                              b2c_error *err)
{
    b2c_status st = B2C_OK;
    if (nchunk >= s->now.nchunks) {
        st = b2i_grid_check_count(g, s->now.nchunks, err);
    } else if (b2i_schunk_chunk_nbytes(s, nchunk) != g->chunk_nbytes) {
        st = b2i_fail_sizes(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                            "a chunk does not have the size that the array's shapes ask for",
                            g->chunk_nbytes, b2i_schunk_chunk_nbytes(s, nchunk));
    }
    if (st != B2C_OK) {
        b2i_err_chunk(err, (int64_t)nchunk);
    }
    return st;
}

b2c_status b2i_nd_check_chunks(const b2c_schunk *s, const b2i_grid *g, b2c_error *err)
{
    uint64_t n = s->now.nchunks;
    /* Of a super-chunk of equal chunks only the last can be smaller. */
    uint64_t step = s->now.ends == NULL && n > 1 ? n - 1 : 1;
    B2I_TRY(b2i_grid_check_count(g, n, err));
    for (uint64_t i = 0; i < n; i += step) {
        B2I_TRY(b2i_nd_check_chunk(s, g, i, err));
    }
    return B2C_OK;
}

/* ---- blocks of one chunk ---- */

typedef struct chunk_job {
    b2c_ctx *ctx;
    b2i_chunk_part part;
    const b2i_chunk *chunk;
    missing *missing;  /* NULL: all blocks of the part */
    uint32_t first;    /* of those, where the loop begins */
    bool other_blocks; /* the stored blocks are not the array's */
    bool has_planes;   /* items can be fetched before the shuffle is undone */
    b2i_scratch tmp;   /* a block of such a chunk, or the item */
    uint8_t *item;     /* which all are, or NULL */
    uint8_t *dst;
} chunk_job;

static void block_of(const chunk_job *j, uint32_t item, b2i_block_rows *rows)
{
    uint32_t i = j->first + item;
    b2i_select_block(&j->part, j->missing == NULL ? i : j->missing[i].block, rows);
}

static b2c_status decode(const chunk_job *j, uint32_t worker, uint64_t rank, uint8_t *dst,
                         b2c_error *err)
{
    uint64_t n = j->part.sel->grid->block_nbytes;
    if (j->other_blocks) {
        return b2i_chunk_decode_range(j->ctx, j->chunk, rank * n, n, dst, err);
    }
    return b2i_chunk_decode_unit(j->ctx, worker, j->chunk, (uint32_t)rank, dst, err);
}

/* Whether all items are the same and making a block of them is not worth its memory. */
static bool is_one_item(const chunk_job *j)
{
    const b2i_chunk_head *h = &j->chunk->head;
    const b2i_grid *g = j->part.sel->grid;
    uint32_t period = h->special == B2C_SPECIAL_VALUE ? h->value_len : h->typesize;
    return h->special != B2C_SPECIAL_NONE && g->itemsize % period == 0 &&
           j->chunk->site.hook.fn == NULL && g->block_nbytes > LARGE_BLOCK_NBYTES;
}

/* Whether items can be fetched from the planes of the blocks. */
static bool has_planes(const b2i_chunk *c, const b2i_grid *g)
{
    return c->head.typesize == g->itemsize && c->head.blocksize == g->block_nbytes &&
           b2i_chunk_has_planes(c);
}

/* Memory for a block of which a part is wanted, of the cache if that keeps it; or NULL. */
static uint8_t *room_for_block(chunk_job *j, b2i_cached *slot, uint32_t worker)
{
    if (slot != NULL) {
        return slot->bytes.p;
    }
    /* decoding a range uses the worker's scratch itself */
    b2i_scratch *scratch = j->other_blocks ? &j->tmp : &j->ctx->workers[worker].d;
    return b2i_scratch_get(scratch, (size_t)j->part.sel->grid->block_nbytes);
}

static b2c_status read_block(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    chunk_job *j = arg;
    b2i_block_rows rows;
    const missing *m = j->missing == NULL ? NULL : &j->missing[j->first + item];
    b2i_cached *slot = m == NULL ? NULL : m->slot;
    block_of(j, item, &rows);
    uint64_t whole_at = b2i_select_whole_block(&j->part, &rows);
    if (whole_at != UINT64_MAX) {
        return decode(j, worker, rows.part.rank, j->dst + whole_at, err);
    }
    if (j->item != NULL) {
        b2i_select_fill(&j->part, &rows, j->item, j->dst);
        return B2C_OK;
    }
    uint8_t *block = room_for_block(j, slot, worker);
    if (block == NULL) {
        return b2i_fail_memory(err);
    }
    bool planes = j->has_planes && b2i_select_is_little(&j->part, &rows);
    if (planes) {
        B2I_TRY(b2i_chunk_decode_planes(j->ctx, worker, j->chunk, (uint32_t)rows.part.rank, block,
                                        err));
        b2i_select_take_planes(&j->part, &rows, block, j->dst);
    } else {
        B2I_TRY(decode(j, worker, rows.part.rank, block, err));
        b2i_select_take(&j->part, &rows, block, j->dst);
    }
    if (slot != NULL) {
        slot->key = m->key;
        slot->unit = planes ? j->part.sel->grid->itemsize : 1;
    }
    return B2C_OK;
}

static b2c_status decode_item(chunk_job *j, b2c_error *err)
{
    size_t n = j->part.sel->grid->itemsize;
    uint8_t *item = b2i_scratch_get(&j->tmp, n);
    if (item == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_chunk_decode_range(j->ctx, j->chunk, 0, n, item, err));
    j->item = item;
    return B2C_OK;
}

/* How many blocks are read ahead and decoded before the next are read. */
static uint32_t window_of(const b2i_stored_chunk *c, uint32_t nworkers, uint32_t n)
{
    uint32_t nblocks = c->chunk.head.nblocks;
    bool is_there = c->bytes.n != 0 || c->store->storage == B2C_STORAGE_MEMORY;
    if (is_there || nblocks == 0 || c->chunk.head.cbytes <= READ_AHEAD_NBYTES) {
        return n;
    }
    uint64_t window = READ_AHEAD_NBYTES * nblocks / c->chunk.head.cbytes;
    window = window < 4 * nworkers ? 4 * nworkers : window;
    return window < n ? (uint32_t)window : n;
}

static void read_ahead(const chunk_job *j, b2i_stored_chunk *c, uint32_t n)
{
    b2i_block_rows first, last;
    block_of(j, 0, &first);
    block_of(j, n - 1, &last);
    uint64_t span = last.part.rank - first.part.rank + 1; /* huge when they descend */
    if (span <= n + n / 4) {
        b2i_stored_chunk_read_ahead(c, (uint32_t)first.part.rank, (uint32_t)last.part.rank);
    }
}

/* n blocks of an open chunk. */
static b2c_status read_blocks(chunk_job *j, b2i_stored_chunk *c, uint32_t n, b2c_error *err)
{
    const b2i_grid *g = j->part.sel->grid;
    uint32_t nworkers;
    j->chunk = &c->chunk;
    j->other_blocks = c->chunk.head.has_vlblocks || c->chunk.head.blocksize != g->block_nbytes;
    j->has_planes = has_planes(&c->chunk, g);
    B2I_TRY(b2i_ctx_prepare(j->ctx, 1, &nworkers, err));
    if (is_one_item(j)) {
        B2I_TRY(decode_item(j, err));
    }
    if (j->other_blocks) { /* one after the other: each may use the whole pool */
        for (uint32_t i = 0; i < n; i++) {
            B2I_TRY(read_block(j, i, 0, err));
        }
        return B2C_OK;
    }
    B2I_TRY(b2i_chunk_decode_begin(j->ctx, &c->chunk, err));
    if (n * g->block_nbytes >= B2I_ND_SERIAL_NBYTES) {
        B2I_TRY(b2i_ctx_prepare(j->ctx, n, &nworkers, err));
    }
    uint32_t window = window_of(c, nworkers, n);
    for (; n > 0; n -= window, j->first += window) {
        window = window < n ? window : n;
        if (window > 1) {
            read_ahead(j, c, window);
        }
        B2I_TRY(b2i_pool_run(j->ctx->pool, nworkers, window, read_block, j, err));
    }
    return B2C_OK;
}

/* The same with scratch memory for it; a failure tells the chunk and its place. */
static b2c_status read_open_chunk(const read_job *r, chunk_job *j, b2i_stored_chunk *c, uint32_t n,
                                  b2c_error *err)
{
    j->first = 0;
    j->tmp = (b2i_scratch){ 0 };
    j->item = NULL;
    c->chunk.site = b2i_schunk_site(r->s, j->part.nchunk, r->post);
    b2c_status st = read_blocks(j, c, n, err);
    b2i_scratch_free(&j->tmp);
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(r->s, j->part.nchunk, st, err);
}

static b2c_status try_chunk(const read_job *r, b2c_ctx *ctx, uint64_t i, missing *m, uint32_t n,
                            b2c_error *err)
{
    b2i_stored_chunk alone, *kept;
    chunk_job j;
    j.ctx = ctx;
    j.dst = r->dst;
    j.missing = m;
    b2i_select_chunk(r->sel, i, &j.part);
    B2I_TRY(b2i_nd_check_chunk(r->s, r->sel->grid, j.part.nchunk, err));
    b2c_status st;
    if (m == NULL) {
        B2I_TRY(b2i_stored_chunk_open(r->s, j.part.nchunk, NULL, &alone, err));
        st = read_open_chunk(r, &j, &alone, j.part.nblocks, err);
        b2i_stored_chunk_close(&alone);
        return st;
    }
    do { /* a small read, of which more may follow */
        B2I_TRY(b2i_kept_chunk_open(r->s, ctx, j.part.nchunk, &kept, err));
        st = read_open_chunk(r, &j, kept, n, err);
    } while (b2i_kept_chunk_close(ctx, kept, st));
    return st;
}

/* The i-th chunk: its blocks, or n of them that are missing. */
static b2c_status read_chunk(const read_job *r, b2c_ctx *ctx, uint64_t i, missing *m, uint32_t n,
                             b2c_error *err)
{
    b2c_status st = try_chunk(r, ctx, i, m, n, err);
    return st == B2C_OK ? st : b2i_damage_skip(ctx, r->s->now.nchunks, st, err);
}

/* ---- all chunks ---- */

static b2c_status read_chunk_alone(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const read_job *r = arg;
    return read_chunk(r, r->ctx->helpers[worker], item, NULL, 0, err);
}

static b2c_status read_all(read_job *r, uint64_t nbytes, b2c_error *err)
{
    uint64_t n = r->sel->nchunks;
    if (n > 1 && n <= UINT32_MAX && nbytes >= B2I_ND_SERIAL_NBYTES) {
        uint32_t nworkers;
        B2I_TRY(b2i_ctx_helpers(r->ctx, n, &nworkers, err));
        /* A few large chunks are better shared block by block. */
        if (nworkers > 1 && n >= 2 * (uint64_t)nworkers) {
            return b2i_pool_run(r->ctx->pool, nworkers, (uint32_t)n, read_chunk_alone, r, err);
        }
    }
    for (uint64_t i = 0; i < n; i++) {
        B2I_TRY(read_chunk(r, r->ctx, i, NULL, 0, err));
    }
    return B2C_OK;
}

/* ---- through the cache ---- */

static b2i_block_key key_of(const b2c_schunk *s, const b2i_grid *g, uint64_t nchunk, uint64_t rank)
{
    return (b2i_block_key){ s->id, s->edits, nchunk, rank, g->block_nbytes, g->itemsize };
}

/* The missing blocks of one chunk, from number 'first' on. */
static uint32_t missing_together(const read_job *r, uint32_t first)
{
    uint32_t n = 1;
    while (first + n < r->nmissing && r->missing[first + n].chunk == r->missing[first].chunk) {
        n++;
    }
    return n;
}

static b2c_status read_missing_alone(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    const read_job *r = arg;
    uint32_t first = 0;
    for (; item > 0; item--) {
        first += missing_together(r, first);
    }
    return read_chunk(r, r->ctx->helpers[worker], r->missing[first].chunk, r->missing + first,
                      missing_together(r, first), err);
}

static b2c_status read_missing(read_job *r, b2c_error *err)
{
    uint32_t nworkers = 1, nchunks = 0;
    for (uint32_t i = 0; i < r->nmissing; i += missing_together(r, i)) {
        nchunks++;
    }
    if (nchunks > 1 && r->nmissing * r->sel->grid->block_nbytes >= B2I_ND_SERIAL_NBYTES) {
        B2I_TRY(b2i_ctx_helpers(r->ctx, nchunks, &nworkers, err));
    }
    if (nworkers > 1) {
        B2I_TRY(b2i_pool_run(r->ctx->pool, nworkers, nchunks, read_missing_alone, r, err));
    } else {
        for (uint32_t i = 0, n; i < r->nmissing; i += n) {
            n = missing_together(r, i);
            B2I_TRY(read_chunk(r, r->ctx, r->missing[i].chunk, r->missing + i, n, err));
        }
    }
    r->nmissing = 0;
    return B2C_OK;
}

/* Copies items from a block of the cache. */
static b2c_status take_kept(const read_job *r, const b2i_chunk_part *part,
                            const b2i_block_rows *rows, const b2i_cached *kept, b2c_error *err)
{
    const uint8_t *block = kept->bytes.p;
    size_t n = (size_t)r->sel->grid->block_nbytes;
    if (kept->unit > 1 && b2i_select_is_little(part, rows)) {
        b2i_select_take_planes(part, rows, block, r->dst);
        return B2C_OK;
    }
    if (kept->unit > 1) {
        uint32_t nworkers;
        B2I_TRY(b2i_ctx_prepare(r->ctx, 1, &nworkers, err));
        uint8_t *whole = b2i_scratch_get(&r->ctx->workers[0].d, n);
        if (whole == NULL) {
            return b2i_fail_memory(err);
        }
        b2i_unshuffle(block, n, kept->unit, whole);
        block = whole;
    }
    b2i_select_take(part, rows, block, r->dst);
    return B2C_OK;
}

/* Takes block k of a part from the cache, or notes that it is missing. */
static b2c_status read_kept_block(read_job *r, b2i_block_cache *cache, const b2i_chunk_part *part,
                                  uint64_t chunk, uint32_t k, b2c_error *err)
{
    b2i_block_rows rows;
    b2i_select_block(part, k, &rows);
    b2i_block_key key = key_of(r->s, r->sel->grid, part->nchunk, rows.part.rank);
    const b2i_cached *kept = b2i_cache_find(cache, &key);
    if (kept != NULL) {
        return take_kept(r, part, &rows, kept, err);
    }
    /* A block that is wanted whole is not needed a second time. */
    bool keep = b2i_select_whole_block(part, &rows) == UINT64_MAX;
    b2i_cached *slot =
        keep ? b2i_cache_reserve(cache, &key, (size_t)r->sel->grid->block_nbytes) : NULL;
    r->missing[r->nmissing++] = (missing){ chunk, k, slot, key };
    return B2C_OK;
}

static b2c_status read_kept(read_job *r, b2i_block_cache *cache, b2c_error *err)
{
    missing list[MAX_MISSING];
    b2i_chunk_part part;
    r->missing = list;
    b2i_cache_begin(cache);
    for (uint64_t i = 0; i < r->sel->nchunks; i++) {
        b2i_select_chunk(r->sel, i, &part);
        for (uint32_t k = 0; k < part.nblocks; k++) {
            B2I_TRY(read_kept_block(r, cache, &part, i, k, err));
            if (r->nmissing == MAX_MISSING) {
                B2I_TRY(read_missing(r, err));
            }
        }
    }
    return read_missing(r, err);
}

static uint64_t nbytes_touched(const b2i_selection *sel)
{
    uint64_t n = b2i_walk_nblocks(&sel->walk), nruns = 1;
    uint64_t nbytes = sel->grid->block_nbytes;
    for (uint32_t l = 0; l < sel->nlists; l++) { /* no more than the array has blocks */
        nruns *= sel->lists[l].groups[sel->lists[l].ngroups];
    }
    return n > UINT64_MAX / nbytes / nruns ? UINT64_MAX : n * nruns * nbytes;
}

b2c_status b2i_nd_read_once(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_selection *sel,
                            const b2i_hook *post, uint8_t *dst, b2c_error *err)
{
    read_job r = { .s = schunk, .ctx = ctx, .sel = sel, .post = post, .dst = dst };
    B2I_TRY(read_all(&r, nbytes_touched(sel), err));
    return b2i_damage_status(ctx, err);
}

b2c_status b2i_nd_read(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_selection *sel,
                       const b2i_hook *post, uint8_t *dst, size_t dst_cap, b2c_error *err)
{
    read_job r = { .s = schunk, .ctx = ctx, .sel = sel, .post = post, .dst = dst };
    if (sel->nbytes > dst_cap) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the selection", sel->nbytes,
                              dst_cap);
    }
    if (sel->nchunks == 0) {
        return B2C_OK;
    }
    uint64_t nbytes = nbytes_touched(sel);
    /* What a post-filter makes of a block may be something else the next time. */
    bool keep = schunk->post.fn == NULL;
    bool is_read = false;
    if (keep && nbytes <= KEPT_READ_NBYTES && b2i_ctx_cache(ctx) != NULL) {
        B2I_TRY(read_kept(&r, ctx->cache, err));
        is_read = true;
    } else if (keep && sel->nlists == 0 && !ctx->collects) {
        B2I_TRY(b2i_nd_read_strip(schunk, ctx, sel, nbytes, dst, &is_read, err));
    }
    if (!is_read) {
        B2I_TRY(read_all(&r, nbytes, err));
    }
    return b2i_damage_status(ctx, err);
}

/* ---- one item ---- */

/* An item at byte 'at' of a block of the cache. */
static void take_item(const b2i_cached *kept, const b2i_grid *g, uint64_t at, uint8_t *dst)
{
    if (kept->unit == 1) {
        memcpy(dst, kept->bytes.p + at, g->itemsize);
        return;
    }
    uint64_t plane_len = g->block_nbytes / kept->unit;
    const uint8_t *p = kept->bytes.p + at / kept->unit;
    for (size_t k = 0; k < kept->unit; k++) {
        dst[k] = p[k * plane_len];
    }
}

static b2c_status decode_kept(b2c_ctx *ctx, const b2i_chunk *chunk, const b2i_grid *g,
                              const b2i_block_key *key, b2i_cached *slot, b2c_error *err)
{
    uint32_t i = (uint32_t)key->block;
    bool planes = has_planes(chunk, g);
    if (planes) {
        B2I_TRY(b2i_chunk_decode_planes(ctx, 0, chunk, i, slot->bytes.p, err));
    } else {
        B2I_TRY(b2i_chunk_decode_begin(ctx, chunk, err));
        B2I_TRY(b2i_chunk_decode_unit(ctx, 0, chunk, i, slot->bytes.p, err));
    }
    slot->key = *key;
    slot->unit = planes ? g->itemsize : 1;
    return B2C_OK;
}

/* A chunk without blocks needs no decoding: the item can be had alone. */
static b2c_status read_item_in(const b2c_schunk *s, b2c_ctx *ctx, const b2i_grid *g,
                               const b2i_block_key *key, b2i_stored_chunk *c, uint64_t at,
                               uint8_t *dst, b2c_error *err)
{
    uint32_t nworkers;
    uint64_t block_at = key->block * g->block_nbytes;
    b2i_block_cache *cache = s->post.fn == NULL ? b2i_ctx_cache(ctx) : NULL;
    b2i_cached *slot = NULL;
    c->chunk.site.hook = s->post;
    if (c->chunk.head.nblocks > 0 && !c->chunk.head.has_vlblocks && cache != NULL &&
        c->chunk.head.blocksize == g->block_nbytes) {
        b2i_cache_begin(cache);
        slot = b2i_cache_reserve(cache, key, (size_t)g->block_nbytes);
    }
    b2c_status st = b2i_ctx_prepare(ctx, 1, &nworkers, err);
    if (st == B2C_OK && slot == NULL) {
        st = b2i_chunk_decode_range(ctx, &c->chunk, block_at + at, g->itemsize, dst, err);
    } else if (st == B2C_OK) {
        st = decode_kept(ctx, &c->chunk, g, key, slot, err);
        if (st == B2C_OK) {
            take_item(slot, g, at, dst);
        }
    }
    return st == B2C_OK ? st : b2i_schunk_fail_in_chunk(s, key->nchunk, st, err);
}

static b2c_status read_item_of(const b2c_schunk *s, b2c_ctx *ctx, const b2i_grid *g,
                               const b2i_block_key *key, uint64_t at, uint8_t *dst, b2c_error *err)
{
    b2i_stored_chunk *c;
    b2c_status st;
    do {
        B2I_TRY(b2i_kept_chunk_open(s, ctx, key->nchunk, &c, err));
        st = read_item_in(s, ctx, g, key, c, at, dst, err);
    } while (b2i_kept_chunk_close(ctx, c, st));
    return st;
}

b2c_status b2i_nd_read_item(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid,
                            const uint64_t *coord, bool kept, uint8_t *dst, size_t dst_cap,
                            b2c_error *err)
{
    b2i_item_place place;
    B2I_TRY(b2i_grid_locate(grid, coord, &place, err));
    if (grid->itemsize > dst_cap) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the item", grid->itemsize,
                              dst_cap);
    }
    b2i_block_key key = key_of(schunk, grid, place.nchunk, place.block);
    bool may_be_kept = ctx->cache != NULL && schunk->post.fn == NULL;
    const b2i_cached *found = may_be_kept ? b2i_cache_find(ctx->cache, &key) : NULL;
    if (found != NULL) {
        take_item(found, grid, place.at, dst);
        return B2C_OK;
    }
    if (kept) {
        return b2i_fail(err, B2C_E_NOT_FOUND, B2C_NO_OFFSET, "the block of the item is not kept");
    }
    B2I_TRY(b2i_nd_check_chunk(schunk, grid, place.nchunk, err));
    return read_item_of(schunk, ctx, grid, &key, place.at, dst, err);
}
