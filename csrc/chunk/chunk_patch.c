/*
 * chunk_patch.c: a chunk of which some blocks change: the others are taken over as they are stored.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "chunk_enc.h"
#include "chunk_format.h"
#include "checked.h"
#include "tune.h"

static bool same_filters(const b2i_pipeline *pl, const b2c_cparams *cparams)
{
    return memcmp(pl->filters, cparams->filters, sizeof pl->filters) == 0 &&
           memcmp(pl->metas, cparams->filters_meta, sizeof pl->metas) == 0;
}

bool b2i_chunk_can_patch(const b2i_chunk *c, const b2c_cparams *cparams)
{
    const b2i_chunk_head *h = &c->head;
    bool is_plain = h->nblocks > 0 && !h->has_dict && !h->has_vlblocks && !h->is_instrumented &&
                    h->header_len == B2C_HEADER_LEN && h->version == VERSION_CURRENT &&
                    h->nbytes % h->blocksize == 0;
    bool is_same = h->codec_id == cparams->codec && h->codec_meta == cparams->codec_meta &&
                   h->typesize == b2i_tune_typesize(cparams) && cparams->clevel > 0 &&
                   !cparams->use_dict && c->codec != NULL && same_filters(&h->pipeline, cparams);
    /* Delta: all blocks refer to the first one.  User code is told of whole chunks. */
    return is_plain && is_same && !b2i_pipeline_has(&h->pipeline, B2C_FILTER_DELTA) &&
           !b2i_pipeline_has_user(&h->pipeline) && c->codec->encode_block == NULL;
}

typedef struct patch_job {
    b2c_ctx *ctx;
    b2i_plan plan; /* of the new blocks alone */
    uint8_t *out;  /* room for each of them */
    size_t cap;
    size_t *lens;
} patch_job;

static b2c_status encode_new(void *arg, uint32_t i, uint32_t worker, b2c_error *err)
{
    const patch_job *j = arg;
    b2i_worker *w;
    bool zero;
    B2I_TRY(b2i_ctx_worker(j->ctx, worker, &w, err));
    return b2i_block_encode(w, &j->plan, i, j->out + i * j->cap, j->cap, &j->lens[i], &zero, err);
}

/* Stored bytes of block i: of a new one, or of the old chunk. */
static b2c_status block_bytes(const patch_job *j, const b2i_chunk *old, uint32_t i,
                              const uint32_t *which, b2i_scratch *scratch, b2i_span *out,
                              b2c_error *err)
{
    if (which[i] != B2I_BLOCK_STAYS) {
        *out = b2i_span_of(j->out + which[i] * j->cap, j->lens[which[i]]);
        return B2C_OK;
    }
    return old->source.read(old->source.arg, old->starts[i], old->ends[i] - old->starts[i], scratch,
                            out, err);
}

/*
 * Header, table and blocks in order; *len 0 when they do not fit into cap, or one is so short that
 * it cannot be decoded, nor the chunk be opened when it is the last.
 */
static b2c_status assemble(const patch_job *j, const b2i_chunk *old, const uint32_t *which,
                           uint8_t *dst, size_t cap, size_t *len, b2c_error *err)
{
    enum { MIN_BLOCK = 4 }; /* the size of a stream */
    b2i_scratch scratch = { 0 };
    b2i_span bytes;
    size_t used = B2C_HEADER_LEN + 4 * (size_t)old->head.nblocks;
    *len = 0;
    if (used > cap) {
        return B2C_OK;
    }
    b2c_status st = old->source.read(old->source.arg, 0, B2C_HEADER_LEN, &scratch, &bytes, err);
    if (st == B2C_OK) {
        memcpy(dst, bytes.p, B2C_HEADER_LEN);
    }
    for (uint32_t i = 0; st == B2C_OK && i < old->head.nblocks; i++) {
        st = block_bytes(j, old, i, which, &scratch, &bytes, err);
        if (st != B2C_OK || bytes.n < MIN_BLOCK || bytes.n > cap - used) {
            used = 0;
            break;
        }
        b2i_st32le(dst + B2C_HEADER_LEN + 4 * (size_t)i, (uint32_t)used);
        memcpy(dst + used, bytes.p, bytes.n);
        used += bytes.n;
    }
    b2i_st32le(dst + 12, (uint32_t)used);
    b2i_scratch_free(&scratch);
    *len = used;
    return st;
}

static b2c_status run(patch_job *j, const b2i_chunk *old, const uint32_t *which,
                      b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    size_t len, cap = b2i_tune_most(j->plan.cparams, old->head.nbytes);
    uint32_t nworkers;
    uint8_t *dst = b2i_scratch_get(scratch, cap);
    if (dst == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_ctx_prepare(j->ctx, j->plan.nblocks, &nworkers, err));
    B2I_TRY(b2i_pool_run(j->ctx->pool, nworkers, j->plan.nblocks, encode_new, j, err));
    B2I_TRY(assemble(j, old, which, dst, cap, &len, err));
    *out = b2i_span_of(dst, len);
    return B2C_OK;
}

b2c_status b2i_chunk_patch(b2c_ctx *ctx, const b2c_cparams *cparams, const b2i_chunk *old,
                           const uint32_t *which, b2i_span data, b2i_scratch *scratch,
                           b2i_span *out, b2c_error *err)
{
    uint32_t blocksize = old->head.blocksize, n = (uint32_t)(data.n / blocksize);
    patch_job j = { .ctx = ctx,
                    .plan = { .cparams = cparams,
                              .site = &old->site,
                              .src = data,
                              .codec = old->codec,
                              .pipeline = old->head.pipeline,
                              .blocksize = blocksize,
                              .nblocks = n,
                              .typesize = old->head.typesize,
                              .is_split = old->head.is_split } };
    bool twins = !j.plan.is_split && b2i_plan_has_twins(&j.plan);
    int clevel = twins ? b2i_plan_clevel_far(&j.plan) : b2i_plan_clevel(&j.plan);
    memset(j.plan.clevels, clevel, sizeof j.plan.clevels);
    j.cap = blocksize + 4 * (size_t)b2i_plan_nstreams(&j.plan, blocksize) + 1;
    size_t room;
    bool fits = b2i_mul_size(n, j.cap, &room); /* short blocks take several times theirs */
    j.out = fits ? b2i_malloc(room) : NULL;
    j.lens = b2i_calloc(n * sizeof *j.lens);
    b2c_status st = j.out == NULL || j.lens == NULL ? b2i_fail_memory(err)
                                                    : run(&j, old, which, scratch, out, err);
    b2i_free(j.out);
    b2i_free(j.lens);
    return st;
}
