/*
 * api_nd.c: public functions on n-dimensional arrays: check arguments, then call
 * one thing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
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
    NEED(schunk);
    NEED(nd);
    return b2i_nd_from_schunk(schunk, nd, err);
}

b2c_status b2c_nd_read(const b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd,
                       const uint64_t *start, const uint64_t *count, const uint64_t *step,
                       void *dst, size_t dst_cap, b2c_error *err)
{
    b2i_grid grid;
    b2i_box box = { start, count, step };
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(start, nd->ndim);
    NEED_BYTES(count, nd->ndim);
    NEED_BYTES(step, nd->ndim);
    NEED_BYTES(dst, dst_cap);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    return b2i_nd_read(schunk, ctx, &grid, box, dst, dst_cap, err);
}

b2c_status b2c_nd_append_chunk(b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd, uint64_t nchunk,
                               const void *src, size_t src_len, b2c_error *err)
{
    b2i_grid grid;
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(src, src_len);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    return b2i_nd_append_chunk(schunk, ctx, &grid, nchunk, b2i_span_of(src, src_len), err);
}

b2c_status b2c_nd_append_all(b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd, const void *src,
                             size_t src_len, b2c_error *err)
{
    b2i_grid grid;
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(src, src_len);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    return b2i_nd_append_all(schunk, ctx, &grid, b2i_span_of(src, src_len), err);
}

b2c_status b2c_nd_read_points(const b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd,
                              const uint64_t *coords, uint64_t npoints, void *dst, size_t dst_cap,
                              b2c_error *err)
{
    b2i_grid grid;
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(coords, nd->ndim != 0 && npoints != 0);
    NEED_BYTES(dst, dst_cap);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    return b2i_nd_read_points(schunk, ctx, &grid, coords, npoints, dst, dst_cap, err);
}

b2c_status b2c_nd_write(b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd, const uint64_t *start,
                        const uint64_t *count, const uint64_t *step, const void *src,
                        size_t src_len, b2c_error *err)
{
    b2i_grid grid;
    b2i_box box = { start, count, step };
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(start, nd->ndim);
    NEED_BYTES(count, nd->ndim);
    NEED_BYTES(step, nd->ndim);
    NEED_BYTES(src, src_len);
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    return b2i_nd_write(schunk, ctx, &grid, box, b2i_span_of(src, src_len), err);
}

b2c_status b2c_nd_resize(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, const uint64_t *shape,
                         b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED(nd);
    NEED_BYTES(shape, nd->ndim);
    return b2i_nd_resize(schunk, ctx, nd, shape, err);
}
