/*
 * api_meta.c: public functions of metalayers: checks arguments, then calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "edit.h"
#include "need.h"

static b2c_status name_of(const b2i_metas *metas, uint32_t i, char name[32], b2c_error *err)
{
    if (i >= metas->n) {
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                              "there is no metalayer of this number", metas->n, i);
    }
    memcpy(name, metas->v[i].name, sizeof metas->v[i].name);
    return B2C_OK;
}

static b2c_status find(const b2i_metas *metas, const char *name, b2i_meta **out, b2c_error *err)
{
    *out = b2i_metas_find(metas, name);
    if (*out == NULL) {
        return b2i_fail_field(err, B2C_E_NOT_FOUND, B2C_NO_OFFSET, "name",
                              "there is no metalayer of this name");
    }
    return B2C_OK;
}

b2c_status b2c_schunk_meta_name(const b2c_schunk *schunk, uint32_t i, char name[32], b2c_error *err)
{
    NEED(schunk);
    NEED(name);
    return name_of(&schunk->now.metas, i, name, err);
}

b2c_status b2c_schunk_vlmeta_name(const b2c_schunk *schunk, uint32_t i, char name[32],
                                  b2c_error *err)
{
    NEED(schunk);
    NEED(name);
    return name_of(&schunk->now.vlmetas, i, name, err);
}

b2c_status b2c_schunk_meta_get(const b2c_schunk *schunk, const char *name, void *dst,
                               size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    b2i_meta *m;
    NEED(schunk);
    NEED(name);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    B2I_TRY(find(&schunk->now.metas, name, &m, err));
    *dst_len = m->n;
    if (dst_cap < m->n) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the content", m->n, dst_cap);
    }
    if (m->n > 0) {
        memcpy(dst, m->p, m->n);
    }
    return B2C_OK;
}

static b2c_status update_meta(b2c_schunk *s, const char *name, b2i_span src, b2c_error *err)
{
    b2i_meta *m;
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(find(&s->now.metas, name, &m, err));
    if (src.n != m->n) {
        return b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                              "the content of a metalayer cannot change its length", m->n, src.n);
    }
    if (src.n > 0) {
        memcpy(m->p, src.p, src.n);
    }
    return b2i_schunk_edited(s, B2I_COMMIT_NOW, err);
}

b2c_status b2c_schunk_meta_update(b2c_schunk *schunk, const char *name, const void *src,
                                  size_t src_len, b2c_error *err)
{
    NEED(schunk);
    NEED(name);
    NEED_BYTES(src, src_len);
    RETURN_EDIT(schunk, update_meta(schunk, name, b2i_span_of(src, src_len), err));
}

b2c_status b2c_schunk_meta_add(b2c_schunk *schunk, const char *name, const void *src,
                               size_t src_len, b2c_error *err)
{
    NEED(schunk);
    NEED(name);
    NEED_BYTES(src, src_len);
    B2I_TRY(b2i_meta_name_check(name, err));
    RETURN_EDIT(schunk, b2i_meta_add(schunk, name, b2i_span_of(src, src_len), err));
}

b2c_status b2c_schunk_vlmeta_get(const b2c_schunk *schunk, b2c_ctx *ctx, const char *name,
                                 void *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    b2i_meta *m;
    NEED(schunk);
    NEED(ctx);
    NEED(name);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    B2I_TRY(find(&schunk->now.vlmetas, name, &m, err));
    return b2i_schunk_vlmeta_get(schunk, ctx, m, dst, dst_cap, dst_len, err);
}

b2c_status b2c_schunk_vlmeta_set(b2c_schunk *schunk, b2c_ctx *ctx, const char *name,
                                 const void *src, size_t src_len, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED(name);
    NEED_BYTES(src, src_len);
    B2I_TRY(b2i_meta_name_check(name, err));
    RETURN_EDIT(schunk, b2i_vlmeta_set(schunk, ctx, name, b2i_span_of(src, src_len), err));
}

static b2c_status delete_vlmeta(b2c_schunk *s, const char *name, b2c_error *err)
{
    b2i_meta *m;
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(find(&s->now.vlmetas, name, &m, err));
    b2i_metas_remove(&s->now.vlmetas, m);
    return b2i_schunk_edited(s, B2I_COMMIT_NOW, err);
}

b2c_status b2c_schunk_vlmeta_delete(b2c_schunk *schunk, const char *name, b2c_error *err)
{
    NEED(schunk);
    NEED(name);
    RETURN_EDIT(schunk, delete_vlmeta(schunk, name, err));
}
