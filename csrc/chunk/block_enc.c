/*
 * block_enc.c: one block: filters forward, then its streams.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "chunk_enc.h"

b2i_span b2i_plan_block(const b2i_plan *plan, uint32_t i)
{
    size_t at = (size_t)i * plan->blocksize;
    size_t left = plan->src.n - at;
    return b2i_span_of(plan->src.p + at, left < plan->blocksize ? left : plan->blocksize);
}

uint32_t b2i_plan_nstreams(const b2i_plan *plan, size_t n)
{
    return plan->is_split && n == plan->blocksize ? plan->typesize : 1;
}

b2c_status b2i_block_filter(b2i_worker *w, const b2i_plan *plan, uint32_t i, const uint8_t **out,
                            b2c_error *err)
{
    b2i_span src = b2i_plan_block(plan, i);
    if (b2i_pipeline_is_empty(&plan->pipeline, false)) {
        *out = src.p;
        return B2C_OK;
    }
    uint8_t *a = b2i_scratch_get(&w->a, plan->blocksize);
    uint8_t *b = b2i_scratch_get(&w->b, plan->blocksize);
    if (a == NULL || b == NULL) {
        return b2i_fail_memory(err);
    }
    b2i_span ref = i == 0 ? b2i_span_of(NULL, 0) : plan->ref;
    b2i_pipeline_forward(&plan->pipeline, src.p, src.n, ref.p, ref.n, a, b, out);
    return B2C_OK;
}

static bool is_run(const uint8_t *p, size_t n)
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

/* One stream of n bytes; *len 0 when it does not fit. */
static b2c_status put_stream(b2i_worker *w, const b2i_plan *plan, const uint8_t *src, size_t n,
                             uint8_t *dst, size_t cap, size_t *len)
{
    size_t clen = 0;
    *len = 0;
    if (cap <= 4) {
        return B2C_OK;
    }
    size_t room = cap - 4 < n - 1 ? cap - 4 : n - 1;
    if (room > 0) {
        B2I_TRY(plan->codec->encode(w->codecs, plan->cparams->clevel, plan->dict, src, n, dst + 4,
                                    room, &clen));
    }
    if (clen == 0 && cap - 4 >= n) { /* raw: a size equal to the stream's length says so */
        memcpy(dst + 4, src, n);
        clen = n;
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
    size_t n = b2i_plan_block(plan, i).n, used = 0;
    uint32_t nstreams = b2i_plan_nstreams(plan, n);
    size_t stream_len = n / nstreams;

    *len = 0;
    *all_zero = true;
    B2I_TRY(b2i_block_filter(w, plan, i, &src, err));
    for (uint32_t k = 0; k < nstreams; k++, src += stream_len) {
        size_t put = 0;
        if (is_run(src, stream_len)) {
            put = put_run(src[0], dst + used, cap - used);
            *all_zero = *all_zero && src[0] == 0;
        } else {
            b2c_status st = put_stream(w, plan, src, stream_len, dst + used, cap - used, &put);
            if (st != B2C_OK) {
                return b2i_fail(err, st, B2C_NO_OFFSET, b2c_status_text(st));
            }
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
