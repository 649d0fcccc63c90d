/*
 * block_enc.c: one block: filters forward, then its streams.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "chunk_enc.h"

size_t b2i_plan_block_len(const b2i_plan *plan, uint32_t i)
{
    if (plan->vl != NULL) {
        return plan->vl[i].n;
    }
    size_t left = plan->src.n - (size_t)i * plan->blocksize;
    return left < plan->blocksize ? left : plan->blocksize;
}

b2i_span b2i_plan_block(const b2i_plan *plan, uint32_t i)
{
    return plan->vl != NULL ? plan->vl[i]
                            : b2i_span_of(plan->src.p + (size_t)i * plan->blocksize,
                                          b2i_plan_block_len(plan, i));
}

b2c_block b2i_plan_about(const b2i_plan *plan, uint32_t i)
{
    uint32_t at = plan->vl != NULL ? plan->vl_at[i] : i * plan->blocksize;
    b2c_block block =
        b2i_site_block(plan->site, i, at, b2i_plan_block_len(plan, i), plan->typesize);
    block.clevel = plan->cparams->clevel;
    return block;
}

uint32_t b2i_plan_nstreams(const b2i_plan *plan, size_t n)
{
    return plan->is_split && n == plan->blocksize ? plan->typesize : 1;
}

b2c_status b2i_block_filter(b2i_worker *w, const b2i_plan *plan, uint32_t i, const uint8_t **out,
                            b2c_error *err)
{
    b2i_span src = b2i_plan_block(plan, i);
    const bool is_empty = b2i_pipeline_is_empty(&plan->pipeline, false);
    if (is_empty && !plan->codec->reads_again) {
        *out = src.p;
        return B2C_OK;
    }
    uint8_t *a = b2i_scratch_get(&w->a, plan->blocksize);
    if (a == NULL) {
        return b2i_fail_memory(err);
    }
    if (is_empty) {
        *out = memcpy(a, src.p, src.n);
        return B2C_OK;
    }
    uint8_t *b = b2i_scratch_get(&w->b, plan->blocksize);
    if (b == NULL) {
        return b2i_fail_memory(err);
    }
    b2i_span ref = i == 0 ? b2i_span_of(NULL, 0) : plan->ref;
    b2c_block about = b2i_plan_about(plan, i);
    b2i_pipeline pl = plan->pipeline;
    pl.block = &about;
    return b2i_pipeline_forward(&pl, src.p, src.n, ref.p, ref.n, a, b, out, err);
}

bool b2i_is_run(const uint8_t *p, size_t n)
{
    return p[0] == p[n / 2] && memcmp(p, p + 1, n - 1) == 0;
}

/* A run of one byte: size 0 for zeros, else minus the byte and a token. */
static size_t put_run(uint8_t byte, uint8_t *dst, size_t cap)
{
    size_t len = byte == 0 ? 4 : 5;
    if (cap < len) {
        return 0;
    }
    b2i_st32le(dst, 0U - byte);
    if (byte != 0) {
        dst[4] = 1;
    }
    return len;
}

static b2i_made made_by(const b2i_pipeline *pl)
{
    return b2i_pipeline_is_empty(pl, false)              ? B2I_MADE_ITEMS
           : b2i_pipeline_has(pl, B2C_FILTER_BITSHUFFLE) ? B2I_MADE_BITS
                                                         : B2I_MADE_BYTES;
}

b2c_status b2i_plan_encode(b2i_worker *w, const b2i_plan *plan, const b2i_dict *dict, int clevel,
                           b2i_span src, uint8_t *dst, size_t room, size_t *len, b2c_error *err)
{
    b2i_codec_state_tell(w->codecs, made_by(&plan->pipeline));
    b2c_status st = plan->codec->encode(w->codecs, clevel, dict, src.p, src.n, dst, room, len);
    return st == B2C_OK ? st : b2i_fail(err, st, B2C_NO_OFFSET, b2c_status_text(st));
}

/* Compresses one stream of block i; *clen 0 when it does not get smaller. */
static b2c_status encode_stream(b2i_worker *w, const b2i_plan *plan, uint32_t i, int clevel,
                                b2i_span src, uint8_t *dst, size_t cap, size_t *clen,
                                b2c_error *err)
{
    const b2i_codec *codec = plan->codec;
    size_t room = cap < src.n - 1 ? cap : src.n - 1;
    *clen = 0;
    if (codec->encode_block != NULL && cap >= src.n) {
        b2c_block about = b2i_plan_about(plan, i);
        about.meta = plan->cparams->codec_meta;
        return codec->encode_block(codec, &about, src, dst, cap, clen, err);
    }
    if (codec->encode_block != NULL || room == 0) {
        return B2C_OK;
    }
    return b2i_plan_encode(w, plan, plan->dict, clevel, src, dst, room, clen, err);
}

/* One stream; *len 0 when it does not fit. */
static b2c_status put_stream(b2i_worker *w, const b2i_plan *plan, uint32_t i, int clevel,
                             b2i_span src, uint8_t *dst, size_t cap, size_t *len, b2c_error *err)
{
    size_t clen;
    *len = 0;
    if (cap <= 4) {
        return B2C_OK;
    }
    B2I_TRY(encode_stream(w, plan, i, clevel, src, dst + 4, cap - 4, &clen, err));
    if (clen == 0 && cap - 4 >= src.n) { /* raw: a size equal to the stream's length says so */
        if (!plan->raw_later) {
            memcpy(dst + 4, src.p, src.n);
        }
        clen = src.n;
    }
    if (clen != 0) {
        b2i_st32le(dst, (uint32_t)clen);
        *len = 4 + clen;
    }
    return B2C_OK;
}

b2c_status b2i_block_encode(b2i_worker *w, const b2i_plan *plan, uint32_t i, uint8_t *dst,
                            size_t cap, size_t *len, bool *all_zero, b2c_error *err)
{
    const uint8_t *src;
    size_t n = b2i_plan_block_len(plan, i), used = 0;
    uint32_t nstreams = b2i_plan_nstreams(plan, n);
    size_t stream_len = n / nstreams;
    bool full = n == plan->blocksize || !plan->is_split;

    *len = 0;
    *all_zero = true;
    B2I_TRY(b2i_block_filter(w, plan, i, &src, err));
    for (uint32_t k = 0; k < nstreams; k++, src += stream_len) {
        size_t put = 0;
        if (b2i_is_run(src, stream_len)) {
            put = put_run(src[0], dst + used, cap - used);
            *all_zero = *all_zero && src[0] == 0;
        } else {
            int clevel = full ? plan->clevels[k] : plan->cparams->clevel;
            b2i_span stream = b2i_span_of(src, stream_len);
            B2I_TRY(put_stream(w, plan, i, clevel, stream, dst + used, cap - used, &put, err));
            *all_zero = false;
        }
        if (put == 0) {
            *all_zero = false;
            return B2C_OK;
        }
        used += put;
    }
    *len = used;
    return B2C_OK;
}

b2c_status b2i_vlblock_encode(b2i_worker *w, const b2i_plan *plan, uint32_t i, uint8_t *dst,
                              size_t cap, size_t *len, b2c_error *err)
{
    const uint8_t *src;
    size_t n = b2i_plan_block_len(plan, i);
    B2I_TRY(b2i_block_filter(w, plan, i, &src, err));
    if (plan->cparams->clevel == 0) {
        memcpy(dst + 4, src, n); /* cap is enough for that */
        *len = 4 + n;
    } else {
        b2i_span stream = b2i_span_of(src, n);
        B2I_TRY(put_stream(w, plan, i, plan->cparams->clevel, stream, dst, cap, len, err));
    }
    if (*len > 0) { /* the size in front is that of the block, its end tells that of the stream */
        b2i_st32le(dst, (uint32_t)n);
    }
    return B2C_OK;
}
