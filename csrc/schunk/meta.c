/*
 * meta.c: named contents: fixed metalayers and variable-length ones.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"

b2c_status b2i_meta_name_check(const char *name, b2c_error *err)
{
    size_t n = 0;
    while (n <= B2C_MAX_NAME_LEN && name[n] != '\0') {
        n++;
    }
    if (n > B2C_MAX_NAME_LEN) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "name",
                              "a metalayer's name must have at most 31 bytes");
    }
    return B2C_OK;
}

b2i_meta *b2i_metas_find(const b2i_metas *metas, const char *name)
{
    /* There may be thousands: names are compared whole, with the zeros behind them. */
    char padded[B2C_MAX_NAME_LEN + 1] = { 0 };
    for (size_t n = 0; name[n] != '\0'; n++) {
        if (n == B2C_MAX_NAME_LEN) {
            return NULL;
        }
        padded[n] = name[n];
    }
    for (uint32_t i = 0; i < metas->n; i++) {
        if (memcmp(metas->v[i].name, padded, sizeof padded) == 0) {
            return &metas->v[i];
        }
    }
    return NULL;
}

/* In memory of its own; NULL: there is none. */
static uint8_t *copy_of(b2i_span bytes)
{
    uint8_t *copy = b2i_malloc(bytes.n);
    if (copy != NULL && bytes.n > 0) {
        memcpy(copy, bytes.p, bytes.n);
    }
    return copy;
}

b2c_status b2i_metas_add(b2i_metas *metas, const char *name, b2i_span bytes, b2c_error *err)
{
    uint8_t *copy = copy_of(bytes);
    if (copy == NULL) {
        return b2i_fail_memory(err);
    }
    /* Room grows at the powers of two. */
    if ((metas->n & (metas->n - 1)) == 0) {
        size_t cap = metas->n == 0 ? 1 : 2 * (size_t)metas->n;
        b2i_meta *v = b2i_realloc(metas->v, cap * sizeof *v);
        if (v == NULL) {
            b2i_free(copy);
            return b2i_fail_memory(err);
        }
        metas->v = v;
    }
    b2i_meta *m = &metas->v[metas->n++];
    *m = (b2i_meta){ .p = copy, .n = bytes.n };
    memcpy(m->name, name, strlen(name));
    return B2C_OK;
}

void b2i_metas_remove(b2i_metas *metas, b2i_meta *meta)
{
    b2i_free(meta->p);
    size_t after = (size_t)(metas->v + metas->n - (meta + 1));
    memmove(meta, meta + 1, after * sizeof *meta);
    metas->n--;
    /*
     * The room may now be larger than the power of two that b2i_metas_add() counts
     * with; it then shrinks when the next one is added.
     */
}

b2c_status b2i_metas_copy(const b2i_metas *from, b2i_metas *to, b2c_error *err)
{
    b2i_metas copy = { 0 };
    for (uint32_t i = 0; i < from->n; i++) {
        b2c_status st = b2i_metas_add(&copy, from->v[i].name, b2i_meta_span(&from->v[i]), err);
        if (st != B2C_OK) {
            b2i_metas_free(&copy);
            return st;
        }
    }
    *to = copy;
    return B2C_OK;
}

/* Adds a copy of the bytes, or puts it in place of those that have the name. */
static b2c_status set(b2i_metas *metas, const char *name, b2i_span bytes, b2c_error *err)
{
    b2i_meta *old = b2i_metas_find(metas, name);
    if (old == NULL) {
        return b2i_metas_add(metas, name, bytes, err);
    }
    uint8_t *copy = copy_of(bytes);
    if (copy == NULL) {
        return b2i_fail_memory(err);
    }
    b2i_free(old->p);
    old->p = copy;
    old->n = bytes.n;
    return B2C_OK;
}

b2c_status b2i_metas_merge(const b2i_metas *from, b2i_metas *to, b2c_error *err)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const b2i_meta *m = &from->v[i];
        B2I_TRY(set(to, m->name, b2i_meta_span(m), err));
    }
    return B2C_OK;
}

void b2i_metas_free(b2i_metas *metas)
{
    for (uint32_t i = 0; i < metas->n; i++) {
        b2i_free(metas->v[i].p);
    }
    b2i_free(metas->v);
    *metas = (b2i_metas){ 0 };
}

b2c_status b2i_vlmeta_encode(b2c_ctx *ctx, b2i_span value, b2i_buf *out, b2c_error *err)
{
    b2c_cparams cp;
    size_t len;
    b2c_cparams_init(&cp);
    cp.typesize = 1;
    if (value.n > B2C_MAX_CHUNK_NBYTES) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET, "the value is too large",
                              B2C_MAX_CHUNK_NBYTES, value.n);
    }
    if (!b2i_buf_reserve(out, value.n + B2C_HEADER_LEN)) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_chunk_encode(ctx, &cp, NULL, value, out->p, out->cap, &len, err));
    out->n = len;
    return B2C_OK;
}

b2c_status b2i_vlmetas_check_room(const b2i_metas *vlmetas, uint32_t nnew, b2c_error *err)
{
    uint64_t n = (uint64_t)vlmetas->n + nnew;
    if (nnew > 0 && n > B2I_MAX_VLMETA) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                              "a frame cannot have more variable-length metalayers", B2I_MAX_VLMETA,
                              n);
    }
    return B2C_OK;
}

b2c_status b2i_vlmeta_set(b2c_schunk *s, b2c_ctx *ctx, const char *name, b2i_span value,
                          b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    bool is_new = b2i_metas_find(&s->now.vlmetas, name) == NULL;
    B2I_TRY(b2i_vlmetas_check_room(&s->now.vlmetas, is_new, err));
    b2i_buf chunk = { 0 };
    b2c_status st = b2i_vlmeta_encode(ctx, value, &chunk, err);
    if (st == B2C_OK) {
        st = set(&s->now.vlmetas, name, b2i_span_of(chunk.p, chunk.n), err);
    }
    b2i_buf_free(&chunk);
    return st == B2C_OK ? b2i_schunk_edited(s, B2I_COMMIT_NOW, err) : st;
}

b2c_status b2i_vlmeta_get(const b2i_meta *meta, const b2c_limits *of, b2c_ctx *ctx, uint8_t *dst,
                          size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    b2i_span bytes = b2i_meta_span(meta);
    b2i_source source = b2i_source_mem(&bytes);
    b2i_chunk chunk = { 0 };
    b2c_limits limits = *of;
    limits.max_chunk_nbytes = limits.max_meta_nbytes;
    b2c_status st = b2i_chunk_open(&source, &limits, &chunk, err);
    if (st == B2C_E_LIMIT && err != NULL && err->field != NULL) {
        err->field = "max_meta_nbytes";
    }
    B2I_TRY(st);
    size_t n = chunk.head.nbytes;
    *dst_len = n;
    if (dst_cap < n) {
        st = b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                            "the output buffer is smaller than the value", n, dst_cap);
    } else {
        st = b2i_chunk_decode(ctx, &chunk, dst, dst_cap, err);
    }
    b2i_chunk_close(&chunk);
    return st;
}

b2c_status b2i_schunk_vlmeta_get(const b2c_schunk *s, b2c_ctx *ctx, const b2i_meta *meta,
                                 uint8_t *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    uint64_t at = s->now.vlmetas.trailer_at;
    b2c_status st = b2i_vlmeta_get(meta, &s->limits, ctx, dst, dst_cap, dst_len, err);
    if (st != B2C_OK && at != 0) {
        b2i_err_shift(err, at + meta->at);
    } else if (st != B2C_OK && err != NULL) {
        err->offset = B2C_NO_OFFSET;
    }
    return st;
}

b2c_status b2i_meta_add(b2c_schunk *s, const char *name, b2i_span content, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (s->now.nchunks > 0) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                        "fixed metalayers can be added only while there are no chunks");
    }
    if (b2i_metas_find(&s->now.metas, name) != NULL) {
        return b2i_fail_field(err, B2C_E_EXISTS, B2C_NO_OFFSET, "name",
                              "there is a metalayer of this name");
    }
    if (s->now.metas.n >= B2C_MAX_METALAYERS) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                              "a frame cannot have more metalayers", B2C_MAX_METALAYERS,
                              s->now.metas.n + 1);
    }
    B2I_TRY(b2i_metas_add(&s->now.metas, name, content, err));
    return b2i_schunk_edited(s, B2I_COMMIT_NOW, err);
}
