/*
 * api_nd.c: public functions on n-dimensional arrays: check arguments, then call
 * one thing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "nd.h"
#include "need.h"

b2c_status b2c_nd_check(const b2c_nd *nd, b2c_error *err)
{
    b2i_grid grid;
    NEED(nd);
    return b2i_grid_make(nd, &grid, err);
}

uint64_t b2c_nd_chunksize(const b2c_nd *nd)
{
    b2i_grid grid;
    return nd != NULL && b2i_grid_make(nd, &grid, NULL) == B2C_OK ? grid.chunk_nbytes : 0;
}

uint64_t b2c_nd_blocksize(const b2c_nd *nd)
{
    b2i_grid grid;
    return nd != NULL && b2i_grid_make(nd, &grid, NULL) == B2C_OK ? grid.block_nbytes : 0;
}

uint64_t b2c_nd_nchunks(const b2c_nd *nd)
{
    b2i_grid grid;
    return nd != NULL && b2i_grid_make(nd, &grid, NULL) == B2C_OK ? grid.chunk_total : 0;
}

b2c_status b2c_nd_meta_encode(const b2c_nd *nd, const char *dtype, size_t dtype_len, void *dst,
                              size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    NEED(nd);
    NEED_BYTES(dtype, dtype_len);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    return b2i_nd_meta_encode(nd, b2i_span_of(dtype, dtype_len), dst, dst_cap, dst_len, err);
}

b2c_status b2c_nd_meta_decode(const void *meta, size_t meta_len, b2c_nd *nd, size_t *dtype_at,
                              size_t *dtype_len, b2c_error *err)
{
    NEED_BYTES(meta, meta_len);
    NEED(nd);
    NEED(dtype_at);
    NEED(dtype_len);
    return b2i_nd_meta_decode(b2i_span_of(meta, meta_len), nd, dtype_at, dtype_len, err);
}

b2c_status b2c_nd_from_schunk(const b2c_schunk *schunk, b2c_nd *nd, b2c_error *err)
{
    b2i_span dtype;
    NEED(schunk);
    NEED(nd);
    return b2i_nd_from_schunk(schunk, nd, &dtype, err);
}

b2c_status b2c_nd_open(const b2c_schunk *schunk, b2c_nd *nd, const void **dtype, size_t *dtype_len,
                       b2c_error *err)
{
    b2i_span stored;
    NEED(schunk);
    NEED(nd);
    NEED(dtype);
    NEED(dtype_len);
    B2I_TRY(b2i_nd_from_schunk(schunk, nd, &stored, err));
    *dtype = stored.p;
    *dtype_len = stored.n;
    return B2C_OK;
}

b2c_status b2c_nd_read(const b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd,
                       const uint64_t *start, const uint64_t *count, const uint64_t *step,
                       void *dst, size_t dst_cap, b2c_error *err)
{
    b2i_grid grid;
    b2i_selection box;
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(start, nd->ndim);
    NEED_BYTES(count, nd->ndim);
    NEED_BYTES(step, nd->ndim);
    NEED_BYTES(dst, dst_cap);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    B2I_TRY(b2i_select_box(&grid, (b2i_box){ start, count, step }, &box, err));
    return b2i_nd_read(schunk, ctx, &box, &schunk->post, dst, dst_cap, err);
}

b2c_status b2c_nd_check_chunks(const b2c_schunk *schunk, const b2c_nd *nd, b2c_error *err)
{
    b2i_grid grid;
    NEED(schunk);
    NEED(nd);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    return b2i_nd_check_chunks(schunk, &grid, err);
}

/* Takes the lock; who describes the array as it was before somebody else changed it is told so. */
static b2c_status lock_array(b2c_schunk *schunk, const b2c_nd *nd, b2c_error *err)
{
    bool changed;
    b2c_nd now;
    B2I_TRY(b2i_schunk_lock(schunk, true, &changed, err));
    if (!changed) {
        return B2C_OK;
    }
    b2c_status st = b2c_nd_from_schunk(schunk, &now, err);
    if (st == B2C_OK && (now.itemsize != nd->itemsize || !b2i_nd_has_shapes_of(&now, nd))) {
        st = b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nd",
                            "somebody else has resized or replaced the array: describe it anew");
    }
    return st == B2C_OK ? st : b2i_schunk_unlock(schunk, st, err);
}

b2c_status b2c_nd_append_chunks(b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd, uint64_t first,
                                uint64_t nchunks, const void *src, size_t src_len, b2c_error *err)
{
    b2i_grid grid;
    b2i_span bytes = b2i_span_of(src, src_len);
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(src, src_len);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    B2I_TRY(lock_array(schunk, nd, err));
    b2c_status st = b2i_nd_append_chunks(schunk, ctx, &grid, first, nchunks, bytes, err);
    return b2i_schunk_unlock(schunk, st, err);
}

b2c_status b2c_nd_read_item(const b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd,
                            const uint64_t *coord, int kept, void *dst, size_t dst_cap,
                            b2c_error *err)
{
    b2i_grid grid;
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(coord, nd->ndim);
    NEED_BYTES(dst, dst_cap);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    return b2i_nd_read_item(schunk, ctx, &grid, coord, kept != 0, dst, dst_cap, err);
}

static b2c_status need_places(const b2c_nd *nd, const b2c_nd_places *places, b2c_error *err)
{
    NEED(nd);
    NEED(places);
    NEED_BYTES(places->coords, places->naxes != 0 && places->nplaces != 0);
    NEED_BYTES(places->start, places->naxes < nd->ndim);
    NEED_BYTES(places->count, places->naxes < nd->ndim);
    NEED_BYTES(places->step, places->naxes < nd->ndim);
    return B2C_OK;
}

b2c_status b2c_nd_read_places(const b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd,
                              const b2c_nd_places *places, void *dst, size_t dst_cap,
                              b2c_error *err)
{
    b2i_grid grid;
    b2i_selection sel;
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(dst, dst_cap);
    B2I_TRY(need_places(nd, places, err));
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    B2I_TRY(b2i_select_places(&grid, places, schunk->now.nchunks, &sel, err));
    b2c_status st = b2i_nd_read(schunk, ctx, &sel, &schunk->post, dst, dst_cap, err);
    b2i_select_free(&sel);
    return st;
}

b2c_status b2c_nd_write_places(b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd,
                               const b2c_nd_places *places, const void *src, size_t src_len,
                               b2c_error *err)
{
    b2i_grid grid;
    b2i_selection sel;
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(src, src_len);
    B2I_TRY(need_places(nd, places, err));
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    B2I_TRY(lock_array(schunk, nd, err));
    b2c_status st = b2i_select_places(&grid, places, schunk->now.nchunks, &sel, err);
    if (st == B2C_OK) {
        st = b2i_nd_write(schunk, ctx, &sel, b2i_span_of(src, src_len), err);
        b2i_select_free(&sel);
    }
    return b2i_schunk_unlock(schunk, st, err);
}

b2c_status b2c_nd_write(b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd, const uint64_t *start,
                        const uint64_t *count, const uint64_t *step, const void *src,
                        size_t src_len, b2c_error *err)
{
    b2i_grid grid;
    b2i_selection box;
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(start, nd->ndim);
    NEED_BYTES(count, nd->ndim);
    NEED_BYTES(step, nd->ndim);
    NEED_BYTES(src, src_len);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    B2I_TRY(b2i_select_box(&grid, (b2i_box){ start, count, step }, &box, err));
    B2I_TRY(lock_array(schunk, nd, err));
    return b2i_schunk_unlock(schunk,
                             b2i_nd_write(schunk, ctx, &box, b2i_span_of(src, src_len), err), err);
}

b2c_status b2c_nd_resize(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, const uint64_t *shape,
                         b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(shape, nd->ndim);
    B2I_TRY(lock_array(schunk, nd, err));
    return b2i_schunk_unlock(schunk, b2i_nd_resize(schunk, ctx, nd, shape, err), err);
}

b2c_status b2c_nd_append(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, uint32_t axis, uint64_t n,
                         const void *src, size_t src_len, b2c_error *err)
{
    b2i_span items = b2i_span_of(src, src_len);
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(src, src_len);
    if (nd->ndim > B2C_MAX_DIM || axis >= nd->ndim) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "axis", "there is no such axis");
    }
    B2I_TRY(lock_array(schunk, nd, err));
    return b2i_schunk_unlock(schunk, b2i_nd_append(schunk, ctx, nd, axis, n, items, err), err);
}
