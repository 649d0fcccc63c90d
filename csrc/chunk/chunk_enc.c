/*
 * chunk_enc.c: a buffer to a chunk: what kind of chunk, its header, its blocks in
 * order.  The chunk is a function of the data and the parameters alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "chunk_enc.h"
#include "chunk_format.h"
#include "checked.h"
#include "special.h"
#include "stream.h"
#include "tune.h"

#include <pthread.h>

static b2c_status bad_param(b2c_error *err, const char *field, const char *what)
{
    return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, field, what);
}

static b2i_pipeline plan_pipeline(const b2c_cparams *cparams)
{
    b2i_pipeline pl = { .typesize = b2i_tune_typesize(cparams), .chunk_version = VERSION_CURRENT };
    memcpy(pl.filters, cparams->filters, 6);
    memcpy(pl.metas, cparams->filters_meta, 6);
    return pl;
}

b2c_status b2i_chunk_check_nbytes(uint64_t nbytes, b2c_error *err)
{
    return nbytes <= B2C_MAX_CHUNK_NBYTES
               ? B2C_OK
               : b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                                "the data is too large for a chunk", B2C_MAX_CHUNK_NBYTES, nbytes);
}

b2c_status b2i_cparams_check(const b2c_cparams *cparams, b2c_error *err)
{
    if (cparams == NULL || cparams->size < sizeof *cparams) {
        return bad_param(err, "cparams", "must be set up by b2c_cparams_init()");
    }
    if (cparams->typesize < 1 || cparams->typesize > B2C_MAX_TYPESIZE) {
        return bad_param(err, "typesize", "must be from 1 to 536866816");
    }
    if (cparams->blocksize > B2C_MAX_BLOCKSIZE) {
        return bad_param(err, "blocksize", "must be from 0 (automatic) to 536866816");
    }
    if (cparams->clevel > 9) {
        return bad_param(err, "clevel", "must be from 0 to 9");
    }
    if (cparams->splitmode < B2C_SPLIT_ALWAYS || cparams->splitmode > B2C_SPLIT_FORWARD_COMPAT) {
        return bad_param(err, "splitmode", "must be from 1 to 4");
    }
    const b2i_codec *codec = b2i_codec_by_id(cparams->codec);
    if (codec == NULL) {
        return b2i_codec_fail_unknown(cparams->codec, B2C_NO_OFFSET, err);
    }
    if (cparams->use_dict && !codec->has_dict) {
        return bad_param(err, "use_dict", "only zstd, lz4 and lz4hc take a dictionary");
    }
    b2i_pipeline pl = plan_pipeline(cparams);
    return b2i_pipeline_check(&pl, true, err);
}

b2i_plan b2i_plan_init(const b2c_cparams *cparams, const b2i_site *site, b2i_span src)
{
    return (b2i_plan){ .cparams = cparams,
                       .site = site,
                       .src = src,
                       .codec = b2i_codec_by_id(cparams->codec),
                       .pipeline = plan_pipeline(cparams),
                       .typesize = b2i_tune_typesize(cparams) };
}

/* ---- headers ---- */

static void put_head(const b2i_plan *p, uint8_t flags, uint8_t flags3, uint32_t cbytes,
                     uint8_t *dst)
{
    dst[0] = p->vl != NULL ? VERSION_VLBLOCKS : VERSION_CURRENT;
    dst[1] = p->codec->stream_version == 0 ? 1 : p->codec->stream_version;
    dst[2] = flags;
    dst[3] = p->typesize;
    b2i_st32le(dst + 4, (uint32_t)p->src.n);
    b2i_st32le(dst + 8, p->vl != NULL ? p->nblocks : p->blocksize);
    b2i_st32le(dst + 12, cbytes);
    memcpy(dst + 16, p->pipeline.filters, 6);
    dst[22] = p->cparams->codec;
    dst[23] = p->cparams->codec_meta;
    memcpy(dst + 24, p->pipeline.metas, 6);
    dst[30] = p->vl != NULL ? FLAG2_VLBLOCKS : 0;
    dst[31] = flags3;
}

static uint8_t plan_flags(const b2i_plan *p)
{
    uint8_t flags = (uint8_t)(FLAG_EXTENDED | p->codec->format << FORMAT_SHIFT);
    if (!p->is_split) {
        flags |= FLAG_UNSPLIT;
    }
    if (b2i_pipeline_has(&p->pipeline, B2C_FILTER_DELTA)) {
        flags |= FLAG_DELTA;
    }
    return flags;
}

b2c_status b2i_fail_room(size_t need, size_t dst_cap, b2c_error *err)
{
    return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                          "the output buffer is too small for the chunk", need, dst_cap);
}

static b2c_status put_memcpy(const b2i_plan *p, uint8_t flags, uint8_t *dst, size_t dst_cap,
                             size_t *dst_len, b2c_error *err)
{
    size_t need = p->src.n + B2C_HEADER_LEN;
    *dst_len = need;
    if (dst_cap < need) {
        return b2i_fail_room(need, dst_cap, err);
    }
    put_head(p, flags | FLAG_MEMCPY, 0, (uint32_t)need, dst);
    if (p->src.n > 0) {
        b2i_copy(dst + B2C_HEADER_LEN, p->src.p, p->src.n);
    }
    return B2C_OK;
}

/* ---- one repeated item ---- */

static bool repeats(b2i_span src, size_t len)
{
    return src.n % len == 0 && src.n > len && memcmp(src.p, src.p + len, src.n - len) == 0;
}

/* Python-Blosc2 up to 3.0 repeats only the first byte of items longer than a header can say. */
static bool is_item_for_all(const uint8_t *item, size_t len)
{
    return len <= UINT8_MAX || repeats(b2i_span_of(item, len), 1);
}

/* A special chunk of kind value, or zero when the item is NULL. */
static b2c_status put_repeated(const b2i_plan *p, const uint8_t *item, uint8_t *dst, size_t dst_cap,
                               size_t *dst_len, b2c_error *err)
{
    size_t len = p->cparams->typesize;
    *dst_len = B2C_HEADER_LEN + (item == NULL ? 0 : len);
    if (*dst_len > dst_cap) {
        return b2i_fail_room(*dst_len, dst_cap, err);
    }
    unsigned kind = item == NULL ? B2C_SPECIAL_ZERO : B2C_SPECIAL_VALUE;
    put_head(p, plan_flags(p), kind << SPECIAL_SHIFT, (uint32_t)*dst_len, dst);
    if (item != NULL) {
        b2i_st32le(dst + 8, b2i_special_blocksize(p->blocksize, (uint32_t)len));
        memcpy(dst + B2C_HEADER_LEN, item, len);
    }
    return B2C_OK;
}

/* Data of one repeated item becomes a special chunk; *dst_len 0 when not. */
static b2c_status put_special(const b2i_plan *p, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                              b2c_error *err)
{
    bool is_zero = p->src.p[0] == 0 && repeats(p->src, 1);
    *dst_len = 0;
    const size_t len = p->cparams->typesize;
    if (!is_zero && (b2i_pipeline_is_lossy(&p->pipeline) || !repeats(p->src, len) ||
                     !is_item_for_all(p->src.p, len))) {
        return B2C_OK;
    }
    return put_repeated(p, is_zero ? NULL : p->src.p, dst, dst_cap, dst_len, err);
}

/* ---- preparation: delta reference, dictionary ---- */

/* Block 0 as the decoder restores it: not the source when a filter loses bits. */
static b2c_status make_ref(b2c_ctx *ctx, b2i_plan *p, b2c_error *err)
{
    const uint8_t *filtered;
    b2i_worker *w;
    b2i_span block0 = b2i_plan_block(p, 0);
    p->ref = block0;
    if (p->nblocks < 2 || !b2i_pipeline_has(&p->pipeline, B2C_FILTER_DELTA) ||
        !b2i_pipeline_is_lossy(&p->pipeline)) {
        return B2C_OK;
    }
    B2I_TRY(b2i_ctx_worker(ctx, 0, &w, err));
    B2I_TRY(b2i_block_filter(w, p, 0, &filtered, err));
    uint8_t *ref = b2i_scratch_get(&ctx->ref, block0.n);
    uint8_t *tmp = b2i_scratch_get(&w->c, block0.n);
    if (ref == NULL || tmp == NULL) {
        return b2i_fail_memory(err);
    }
    uint8_t *in = filtered == w->a.p ? w->a.p : w->b.p;
    b2c_block about = b2i_plan_about(p, 0);
    b2i_pipeline pl = p->pipeline;
    pl.block = &about;
    B2I_TRY(b2i_pipeline_backward(&pl, in, block0.n, NULL, 0, tmp, ref, err));
    p->ref = b2i_span_of(ref, block0.n);
    return B2C_OK;
}

/* Filtered blocks from all over the chunk, at most about 100 times the dictionary. */
static b2c_status sample_blocks(b2c_ctx *ctx, const b2i_plan *p, size_t max_len, b2i_buf *out,
                                b2c_error *err)
{
    size_t typical = p->vl != NULL ? p->src.n / p->nblocks : p->blocksize;
    size_t want = 100 * max_len / typical + 1;
    uint32_t step = p->nblocks <= want ? 1 : (uint32_t)(p->nblocks / want);
    b2i_worker *w;
    B2I_TRY(b2i_ctx_worker(ctx, 0, &w, err));
    for (uint64_t i = 0; i < p->nblocks; i += step) {
        const uint8_t *filtered;
        B2I_TRY(b2i_block_filter(w, p, (uint32_t)i, &filtered, err));
        if (!b2i_buf_append(out, filtered, b2i_plan_block_len(p, (uint32_t)i))) {
            return b2i_fail_memory(err);
        }
    }
    return B2C_OK;
}

/* Trains a dictionary into dst (its section without the size); *len 0: better without. */
static b2c_status make_dict(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t cap, size_t *len,
                            b2c_error *err)
{
    size_t max_len = p->src.n / 20 < MAX_DICT_WRITE ? p->src.n / 20 : MAX_DICT_WRITE;
    b2i_buf samples = { 0 };
    b2c_status st = B2C_OK;
    *len = 0;
    bool too_few = p->vl != NULL && p->nblocks < MIN_DICT_BLOCKS;
    if (!p->cparams->use_dict || max_len < MIN_DICT_WRITE || max_len > cap || too_few) {
        return B2C_OK;
    }
    B2I_GO(st, sample_blocks(ctx, p, max_len, &samples, err));
    size_t stream_len =
        p->vl != NULL ? p->src.n / p->nblocks : p->blocksize / b2i_plan_nstreams(p, p->blocksize);
    st = b2i_dict_train(p->codec, b2i_span_of(samples.p, samples.n), stream_len, dst, max_len, len);
    if (st == B2C_OK && *len > 0) {
        st = b2i_dict_new(p->codec, b2i_span_of(dst, *len), p->cparams->clevel, &p->dict);
    }
    if (st != B2C_OK) {
        (void)b2i_fail(err, st, B2C_NO_OFFSET, "the dictionary could not be made");
    }
out:
    b2i_buf_free(&samples);
    return st;
}

/* ---- blocks, in order ---- */

typedef struct encode_job {
    b2c_ctx *ctx;
    b2i_plan *plan;  /* 'raw_later' changes for a lone worker only */
    uint8_t *starts; /* table of block starts in dst */
    uint8_t *dst;
    size_t limit; /* of the chunk */
    bool is_serial;
    uint32_t nwaiting; /* raw blocks from the first on that were not copied yet */

    pthread_mutex_t lock;
    pthread_cond_t turn_changed;
    uint32_t turn; /* the block that may claim room next */
    size_t used;
    bool overflow; /* the blocks do not fit */
    bool all_zero; /* so far */
} encode_job;

/* Waits until all blocks before this one have room; returns where it goes, SIZE_MAX when full. */
static size_t claim(encode_job *j, uint32_t block, size_t len, bool zero)
{
    pthread_mutex_lock(&j->lock);
    while (j->turn != block) {
        pthread_cond_wait(&j->turn_changed, &j->lock);
    }
    size_t at = SIZE_MAX;
    if (len == 0 || len > j->limit - j->used) {
        j->overflow = true;
    }
    if (!j->overflow) {
        at = j->used;
        j->used += len;
        j->all_zero = j->all_zero && zero;
    }
    j->turn++;
    pthread_cond_broadcast(&j->turn_changed);
    pthread_mutex_unlock(&j->lock);
    return at;
}

static bool has_overflown(encode_job *j)
{
    pthread_mutex_lock(&j->lock);
    bool overflow = j->overflow;
    pthread_mutex_unlock(&j->lock);
    return overflow;
}

/*
 * Codes block i with room for all its streams raw: what a codec makes of a stream
 * must not depend on how much room other blocks left.  In place when there is
 * that much at 'room', else into scratch memory; *out tells where.
 */
static b2c_status code_block(b2i_worker *w, const b2i_plan *p, uint32_t i, b2i_span room,
                             uint8_t **out, size_t *len, bool *zero, b2c_error *err)
{
    size_t n = b2i_plan_block_len(p, i);
    size_t cap = n + 4 * (size_t)b2i_plan_nstreams(p, n) + 1;
    *out = room.n >= cap ? (uint8_t *)room.p : b2i_scratch_get(&w->c, cap);
    if (*out == NULL) {
        return b2i_fail_memory(err);
    }
    if (p->vl != NULL) {
        *zero = false;
        return b2i_vlblock_encode(w, p, i, *out, cap, len, err);
    }
    return b2i_block_encode(w, p, i, *out, cap, len, zero, err);
}

/*
 * Raw blocks are the source itself where there are no filters.  As long as there was nothing else
 * they wait: if it stays like this, the chunk becomes a memcpy of the source.
 */
static bool can_wait(const b2i_plan *p)
{
    return p->vl == NULL && !p->is_split && p->codec->encode_block == NULL &&
           b2i_pipeline_is_empty(&p->pipeline, false);
}

static void put_waiting(encode_job *j)
{
    for (uint32_t i = 0; i < j->nwaiting; i++) {
        b2i_span src = b2i_plan_block(j->plan, i);
        uint8_t *at = j->dst + b2i_ld32le(j->starts + 4 * (size_t)i);
        b2i_st32le(at, (uint32_t)src.n);
        memcpy(at + 4, src.p, src.n);
    }
    j->nwaiting = 0;
}

/* The job of a lone worker: blocks come in order, most are written in place. */
static b2c_status encode_serially(encode_job *j, b2i_worker *w, uint32_t i, b2c_error *err)
{
    size_t len;
    bool zero;
    uint8_t *out, *at = j->dst + j->used;
    if (j->overflow) {
        return B2C_OK;
    }
    bool may_wait = j->nwaiting == i && can_wait(j->plan);
    j->plan->raw_later = may_wait;
    b2c_status st =
        code_block(w, j->plan, i, b2i_span_of(at, j->limit - j->used), &out, &len, &zero, err);
    j->plan->raw_later = false;
    if (st != B2C_OK) {
        b2i_err_block(err, i);
        return st;
    }
    j->overflow = len == 0 || len > j->limit - j->used;
    if (j->overflow) {
        return B2C_OK;
    }
    if (may_wait && len == b2i_plan_block_len(j->plan, i) + 4) {
        j->nwaiting++;
    } else {
        put_waiting(j);
        if (out != at) {
            memcpy(at, out, len);
        }
    }
    b2i_st32le(j->starts + 4 * (size_t)i, (uint32_t)j->used);
    j->used += len;
    j->all_zero = j->all_zero && zero;
    return B2C_OK;
}

static b2c_status encode_block(void *arg, uint32_t i, uint32_t worker, b2c_error *err)
{
    encode_job *j = arg;
    b2i_worker *w;
    size_t len = 0;
    bool zero = false;
    uint8_t *tmp = NULL;
    b2c_status st = b2i_ctx_worker(j->ctx, worker, &w, err);
    if (j->is_serial) {
        return st == B2C_OK ? encode_serially(j, w, i, err) : st;
    }
    if (st == B2C_OK && !has_overflown(j)) {
        st = code_block(w, j->plan, i, b2i_span_of(NULL, 0), &tmp, &len, &zero, err);
    }
    if (st != B2C_OK) {
        b2i_err_block(err, i);
    }
    /* Also after a failure: the blocks behind are waiting. */
    size_t at = claim(j, i, st == B2C_OK ? len : 0, zero);
    if (st == B2C_OK && at != SIZE_MAX) {
        b2i_st32le(j->starts + 4 * (size_t)i, (uint32_t)at);
        memcpy(j->dst + at, tmp, len);
    }
    return st;
}

/* All blocks behind 'used'; j->overflow and j->all_zero tell how it went. */
static b2c_status encode_blocks(b2c_ctx *ctx, encode_job *j, b2c_error *err)
{
    uint32_t nworkers = 1;
    const b2i_plan *p = j->plan;
    B2I_TRY(b2i_ctx_prepare(ctx, p->src.n < B2I_PARALLEL_NBYTES ? 1 : p->nblocks, &nworkers, err));
    j->is_serial = nworkers == 1;
    if (pthread_mutex_init(&j->lock, NULL) != 0) {
        return b2i_fail_memory(err);
    }
    if (pthread_cond_init(&j->turn_changed, NULL) != 0) {
        pthread_mutex_destroy(&j->lock);
        return b2i_fail_memory(err);
    }
    b2c_status st = b2i_pool_run(ctx->pool, nworkers, p->nblocks, encode_block, j, err);
    pthread_cond_destroy(&j->turn_changed);
    pthread_mutex_destroy(&j->lock);
    return st;
}

b2c_status b2i_plan_put_blocks(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t limit,
                               size_t *dst_len, b2c_error *err)
{
    size_t data_at = B2C_HEADER_LEN + 4 * (size_t)p->nblocks, dict_len = 0;
    *dst_len = 0;
    if (limit < data_at + 4) {
        return B2C_OK;
    }
    B2I_TRY(make_ref(ctx, p, err));
    B2I_TRY(make_dict(ctx, p, dst + data_at + 4, limit - data_at - 4, &dict_len, err));
    if (dict_len > 0) {
        b2i_st32le(dst + data_at, (uint32_t)dict_len);
        data_at += 4 + dict_len;
    }
    encode_job j = { .ctx = ctx,
                     .plan = p,
                     .starts = dst + B2C_HEADER_LEN,
                     .dst = dst,
                     .limit = limit,
                     .used = data_at,
                     .all_zero = true };
    B2I_TRY(encode_blocks(ctx, &j, err));
    if (j.overflow) {
        return B2C_OK;
    }
    put_waiting(&j);
    if (j.all_zero && !b2i_pipeline_has_user(&p->pipeline)) { /* whose zeros may mean anything */
        put_head(p, plan_flags(p), B2C_SPECIAL_ZERO << SPECIAL_SHIFT, B2C_HEADER_LEN, dst);
        *dst_len = B2C_HEADER_LEN;
        return B2C_OK;
    }
    put_head(p, plan_flags(p), dict_len > 0 ? FLAG3_DICT : 0, (uint32_t)j.used, dst);
    *dst_len = j.used;
    return B2C_OK;
}

/* What can be checked only when the sizes of the blocks and their shape are known. */
static b2c_status check_block(const b2i_plan *p, uint32_t i, b2c_error *err)
{
    size_t n = b2i_plan_block_len(p, i);
    b2c_block about = b2i_plan_about(p, i);
    b2i_pipeline pl = p->pipeline;
    pl.block = &about;
    B2I_TRY(b2i_pipeline_check_block(&pl, n, true, err));
    if (p->codec->check_block == NULL || p->cparams->clevel == 0) {
        return B2C_OK;
    }
    about.meta = p->cparams->codec_meta;
    return p->codec->check_block(&about, n / b2i_plan_nstreams(p, n), err);
}

b2c_status b2i_plan_check_blocks(const b2i_plan *p, b2c_error *err)
{
    if (p->codec->takes_items && b2i_pipeline_breaks_items(&p->pipeline)) {
        return bad_param(err, "filters",
                         "zfp takes items as they are: no shuffle, bitshuffle, delta, bytedelta");
    }
    /* But for those of variable size, only the last block may be of another size. */
    uint32_t step = p->vl != NULL || p->nblocks < 2 ? 1 : p->nblocks - 1;
    for (uint32_t i = 0; i < p->nblocks; i += step) {
        b2c_status st = check_block(p, i, err);
        if (st != B2C_OK) {
            b2i_err_block(err, i);
            return st;
        }
    }
    return B2C_OK;
}

b2c_status b2i_encode_apart(b2i_encode_fn *encode, b2c_ctx *ctx, b2i_plan *p, size_t bound,
                            uint8_t *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    uint8_t *chunk = b2i_malloc(bound);
    if (chunk == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = encode(ctx, p, chunk, bound, dst_len, err);
    if (st == B2C_OK && *dst_len > dst_cap) {
        st = b2i_fail_room(*dst_len, dst_cap, err);
    } else if (st == B2C_OK) {
        memcpy(dst, chunk, *dst_len);
    }
    b2i_free(chunk);
    return st;
}

static b2i_split choose_split(b2i_plan *p)
{
    b2i_split split = b2i_tune_split(p->cparams, p->src.n, p->blocksize);
    p->is_split = split == B2I_SPLIT_YES;
    memset(p->clevels, b2i_plan_clevel(p), sizeof p->clevels);
    return split;
}

/* In no more room than the bound. */
static b2c_status encode_here(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t dst_cap,
                              size_t *dst_len, b2c_error *err)
{
    b2i_split split = choose_split(p);
    B2I_TRY(b2i_plan_check_blocks(p, err));
    bool plain = p->cparams->clevel == 0 || p->src.n < p->cparams->typesize || p->src.n == 0;
    *dst_len = 0;
    if (!plain) {
        B2I_TRY(put_special(p, dst, dst_cap, dst_len, err));
    }
    if (*dst_len > 0) {
        return B2C_OK;
    }
    if (plain || p->src.n < B2C_HEADER_LEN) {
        return put_memcpy(p, FLAG_EXTENDED, dst, dst_cap, dst_len, err);
    }
    B2I_TRY(b2i_plan_try(ctx, p, split, err));
    const size_t most = b2i_tune_most(p->cparams, p->src.n), room = dst_cap < most ? dst_cap : most;
    b2c_status st = b2i_plan_put_blocks(ctx, p, dst, room, dst_len, err);
    b2i_dict_free(p->dict);
    B2I_TRY(st);
    return *dst_len > 0 ? B2C_OK : put_memcpy(p, plan_flags(p), dst, dst_cap, dst_len, err);
}

/* A dictionary, and what lossy filters make zeros, may need more room than the chunk does. */
static b2c_status encode(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                         b2c_error *err)
{
    const size_t bound = p->src.n + B2C_HEADER_LEN;
    if (dst_cap < bound && (p->cparams->use_dict || b2i_pipeline_is_lossy(&p->pipeline))) {
        return b2i_encode_apart(encode_here, ctx, p, bound, dst, dst_cap, dst_len, err);
    }
    return encode_here(ctx, p, dst, dst_cap < bound ? dst_cap : bound, dst_len, err);
}

/* With the source as the pre-filter makes it. */
static b2c_status encode_filtered(b2c_ctx *ctx, b2i_plan *p, uint8_t *dst, size_t dst_cap,
                                  size_t *dst_len, b2c_error *err)
{
    b2i_scratch filtered = { 0 };
    uint8_t *src = b2i_scratch_get(&filtered, p->src.n);
    if (src == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st =
        b2i_site_filter(ctx, p->site, p->blocksize, p->typesize, p->src.p, p->src.n, src, err);
    if (st == B2C_OK) {
        p->src.p = src;
        st = encode(ctx, p, dst, dst_cap, dst_len, err);
    }
    b2i_scratch_free(&filtered);
    return st;
}

static b2i_plan plan_blocks(const b2c_cparams *cparams, const b2i_site *site, b2i_span src)
{
    b2i_plan p = b2i_plan_init(cparams, site, src);
    p.blocksize = b2i_tune_blocksize(cparams, src.n);
    p.nblocks = (uint32_t)b2i_ceil_div(src.n, p.blocksize);
    return p;
}

b2c_status b2i_chunk_encode_repeated(const b2c_cparams *cparams, const uint8_t *item, size_t nbytes,
                                     bool is_padded, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                                     b2c_error *err)
{
    static const b2i_site alone;
    *dst_len = 0;
    B2I_TRY(b2i_cparams_check(cparams, err));
    b2i_plan p = plan_blocks(cparams, &alone, b2i_span_of(NULL, nbytes));
    (void)choose_split(&p);
    B2I_TRY(b2i_plan_check_blocks(&p, err));
    const size_t len = (size_t)cparams->typesize;
    bool is_zero = item[0] == 0 && (len == 1 || repeats(b2i_span_of(item, len), 1));
    if (cparams->clevel == 0 || nbytes == len ||
        (!is_zero &&
         (is_padded || b2i_pipeline_is_lossy(&p.pipeline) || !is_item_for_all(item, len)))) {
        return B2C_OK;
    }
    return put_repeated(&p, is_zero ? NULL : item, dst, dst_cap, dst_len, err);
}

b2c_status b2i_chunk_encode(b2c_ctx *ctx, const b2c_cparams *cparams, const b2i_site *site,
                            b2i_span src, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                            b2c_error *err)
{
    static const b2i_site alone;
    uint32_t nworkers;
    B2I_TRY(b2i_cparams_check(cparams, err));
    B2I_TRY(b2i_chunk_check_nbytes(src.n, err));
    B2I_TRY(b2i_ctx_prepare(ctx, 1, &nworkers, err));
    b2i_plan p = plan_blocks(cparams, site == NULL ? &alone : site, src);
    if (p.site->hook.fn != NULL && src.n > 0) {
        return encode_filtered(ctx, &p, dst, dst_cap, dst_len, err);
    }
    return encode(ctx, &p, dst, dst_cap, dst_len, err);
}
