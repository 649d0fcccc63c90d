/*
 * nd_meta.c: the b2nd metalayer to and from b2c_nd.
 *
 *   97  version 00  ndim  9n n x (d3 i64)  9n n x (d2 i32)  9n n x (d2 i32)  00  db u32 dtype
 *
 * Positions follow from ndim, not from the array markers: for 16 dimensions
 * those are a0, which is not an array in msgpack.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"

enum {
    ARRAY_OF_5 = 0x95, /* "caterva", the predecessor, and early b2nd: without the dtype */
    ARRAY_OF_7 = 0x97,
    INT32 = 0xD2,
    INT64 = 0xD3,
    STR32 = 0xDB,
    FORMAT_NUMPY = 0,
    SHAPE_AT = 3 /* the array marker before the first dimension */
};

static b2c_status bad(b2c_error *err, b2c_status st, size_t at, const char *field, const char *what)
{
    return b2i_fail_field(err, st, at, field, what);
}

/* Integers of a shape; only values that are not negative. */
static b2c_status read_shape(b2i_reader *r, uint32_t ndim, uint8_t marker, const char *field,
                             uint64_t *out, b2c_error *err)
{
    (void)b2i_rd_u8(r); /* 90 + ndim */
    for (uint32_t d = 0; d < ndim; d++) {
        size_t at = r->at;
        uint8_t found = b2i_rd_u8(r);
        uint64_t v = marker == INT64 ? b2i_rd_u64be(r) : b2i_rd_u32be(r);
        if (r->failed) {
            break;
        }
        if (found != marker) {
            return bad(err, B2C_E_CORRUPT, at, field, "the array's shape has a wrong marker");
        }
        if (v > (marker == INT64 ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX)) {
            return bad(err, B2C_E_CORRUPT, at + 1, field, "the array's shape is negative");
        }
        out[d] = v;
    }
    if (r->failed) {
        return bad(err, B2C_E_TRUNCATED, r->at, field, "the array's metalayer is cut short");
    }
    return B2C_OK;
}

static b2c_status read_small(b2i_reader *r, uint32_t ndim, const char *field, uint32_t *out,
                             b2c_error *err)
{
    uint64_t v[B2C_MAX_DIM];
    B2I_TRY(read_shape(r, ndim, INT32, field, v, err));
    for (uint32_t d = 0; d < ndim; d++) {
        out[d] = (uint32_t)v[d];
    }
    return B2C_OK;
}

/* The dtype string, which may be missing altogether. */
static b2c_status read_dtype(b2i_reader *r, size_t *at, size_t *len, b2c_error *err)
{
    *at = *len = 0;
    if (b2i_rd_left(r) == 0) {
        return B2C_OK;
    }
    uint8_t format = b2i_rd_u8(r);
    if (format != FORMAT_NUMPY) {
        return bad(err, B2C_E_UNSUPPORTED, r->at - 1, "dtype_format",
                   "the array's dtype is not in NumPy's notation");
    }
    uint8_t marker = b2i_rd_u8(r);
    uint32_t n = b2i_rd_u32be(r);
    size_t start = r->at;
    (void)b2i_rd_span(r, n);
    if (r->failed) {
        return bad(err, B2C_E_TRUNCATED, r->at, "dtype", "the array's dtype is cut short");
    }
    if (marker != STR32) {
        return bad(err, B2C_E_CORRUPT, start - 5, "dtype", "the array's dtype is not a string");
    }
    *at = start;
    *len = n;
    return B2C_OK;
}

b2c_status b2i_nd_meta_decode(b2i_span meta, b2c_nd *nd, size_t *dtype_at, size_t *dtype_len,
                              b2c_error *err)
{
    b2c_nd out = { .size = sizeof out };
    b2i_grid grid;
    size_t at, len;
    b2i_reader r = b2i_rd_init(meta, 0);
    uint8_t marker = b2i_rd_u8(&r);
    uint8_t version = b2i_rd_u8(&r);
    out.ndim = b2i_rd_u8(&r);
    if (r.failed) {
        return bad(err, B2C_E_TRUNCATED, r.at, "b2nd", "the array's metalayer is cut short");
    }
    if (marker < ARRAY_OF_5 || marker > ARRAY_OF_7) {
        return bad(err, B2C_E_CORRUPT, 0, "b2nd",
                   "the array's metalayer is not an array of 5 to 7");
    }
    if (version != 0) {
        return bad(err, B2C_E_UNSUPPORTED, 1, "version", "a newer version of the array format");
    }
    if (out.ndim > B2C_MAX_DIM) {
        return bad(err, B2C_E_CORRUPT, 2, "ndim", "the array has more than 16 dimensions");
    }
    B2I_TRY(read_shape(&r, out.ndim, INT64, "shape", out.shape, err));
    B2I_TRY(read_small(&r, out.ndim, "chunkshape", out.chunks, err));
    B2I_TRY(read_small(&r, out.ndim, "blockshape", out.blocks, err));
    B2I_TRY(read_dtype(&r, &at, &len, err));

    out.itemsize = 1;
    b2c_status st = b2i_grid_make(&out, &grid, err);
    if (st != B2C_OK) { /* the caller's mistake in a file is damage */
        if (err != NULL) {
            err->status = B2C_E_CORRUPT;
            err->offset = 2;
        }
        return B2C_E_CORRUPT;
    }
    out.itemsize = 0;
    *nd = out;
    *dtype_at = at;
    *dtype_len = len;
    return B2C_OK;
}

void b2i_nd_meta_set_shape(uint8_t *meta, uint32_t ndim, const uint64_t *shape)
{
    uint8_t *p = meta + SHAPE_AT + 1;
    for (uint32_t d = 0; d < ndim; d++, p += 9) {
        p[0] = INT64;
        b2i_st64be(p + 1, shape[d]);
    }
}

static uint8_t *put_shape(uint8_t *p, uint32_t ndim, const uint32_t *v)
{
    *p++ = (uint8_t)(0x90 + ndim);
    for (uint32_t d = 0; d < ndim; d++, p += 5) {
        p[0] = INT32;
        b2i_st32be(p + 1, v[d]);
    }
    return p;
}

b2c_status b2i_nd_meta_encode(const b2c_nd *nd, b2i_span dtype, uint8_t *dst, size_t dst_cap,
                              size_t *dst_len, b2c_error *err)
{
    b2i_grid grid;
    b2c_nd shapes = *nd;
    shapes.itemsize = shapes.itemsize == 0 ? 1 : shapes.itemsize;
    B2I_TRY(b2i_grid_make(&shapes, &grid, err));
    if (dtype.n > INT32_MAX) {
        return b2i_fail_field(err, B2C_E_LIMIT, B2C_NO_OFFSET, "dtype", "the dtype is too long");
    }
    size_t need = 3 + (1 + 9 * (size_t)nd->ndim) + 2 * (1 + 5 * (size_t)nd->ndim) + 6 + dtype.n;
    *dst_len = need;
    if (dst_cap < need) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is too small for the metalayer", need, dst_cap);
    }
    uint8_t *p = dst;
    *p++ = ARRAY_OF_7;
    *p++ = 0;
    *p++ = (uint8_t)nd->ndim;
    *p++ = (uint8_t)(0x90 + nd->ndim);
    b2i_nd_meta_set_shape(dst, nd->ndim, nd->shape);
    p += 9 * (size_t)nd->ndim;
    p = put_shape(p, nd->ndim, nd->chunks);
    p = put_shape(p, nd->ndim, nd->blocks);
    *p++ = FORMAT_NUMPY;
    *p++ = STR32;
    b2i_st32be(p, (uint32_t)dtype.n);
    if (dtype.n > 0) {
        memcpy(p + 4, dtype.p, dtype.n);
    }
    return B2C_OK;
}

/*
 * The item size: the frame's type size, except that frames made in memory store
 * 1 for types above 255 bytes.  The size of a chunk tells the truth.
 */
static b2c_status find_itemsize(const b2c_schunk *s, b2c_nd *nd, b2c_error *err)
{
    b2i_grid grid;
    uint64_t chunk_nbytes = s->now.chunksize > 0 ? (uint64_t)s->now.chunksize : 0;
    nd->itemsize = 1;
    B2I_TRY(b2i_grid_make(nd, &grid, err));
    if (nd->ndim == 0 && s->now.nchunks > 0) {
        chunk_nbytes = b2i_schunk_chunk_nbytes(s, 0);
    }
    if (chunk_nbytes == 0 || grid.chunk_total == 0 || grid.chunk_nbytes == 0) {
        nd->itemsize = s->now.cparams.typesize;
    } else if (chunk_nbytes % grid.chunk_nbytes != 0 ||
               chunk_nbytes / grid.chunk_nbytes > B2C_MAX_TYPESIZE) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                              "the chunks' size does not fit the array's chunk shape",
                              grid.chunk_nbytes * s->now.cparams.typesize, chunk_nbytes);
    } else {
        nd->itemsize = (uint32_t)(chunk_nbytes / grid.chunk_nbytes);
    }
    return b2i_grid_make(nd, &grid, err);
}

b2i_meta *b2i_nd_meta_find(const b2c_schunk *schunk)
{
    b2i_meta *meta = b2i_metas_find(&schunk->now.metas, "b2nd");
    return meta != NULL ? meta : b2i_metas_find(&schunk->now.metas, "caterva");
}

b2c_status b2i_nd_meta_read(const b2i_meta *meta, const b2c_limits *limits, b2c_nd *nd,
                            b2i_span *dtype, b2c_error *err)
{
    size_t at, len;
    const b2i_span stored = b2i_meta_span(meta);
    B2I_TRY(b2i_nd_meta_decode(stored, nd, &at, &len, err));
    *dtype = len > 0 ? b2i_span_of(stored.p + at, len) : b2i_span_of(NULL, 0);
    if (nd->ndim > limits->max_ndim) {
        return b2i_fail_limit(err, B2C_NO_OFFSET, "max_ndim",
                              "the array has more dimensions than the limit", limits->max_ndim,
                              nd->ndim);
    }
    return B2C_OK;
}

b2c_status b2i_nd_from_schunk(const b2c_schunk *schunk, b2c_nd *nd, b2i_span *dtype, b2c_error *err)
{
    b2c_nd out;
    const b2i_meta *meta = b2i_nd_meta_find(schunk);
    if (meta == NULL) {
        return b2i_fail_field(err, B2C_E_NOT_FOUND, B2C_NO_OFFSET, "b2nd",
                              "the super-chunk is not an n-dimensional array");
    }
    B2I_TRY(b2i_nd_meta_read(meta, &schunk->limits, &out, dtype, err));
    b2c_status st = find_itemsize(schunk, &out, err);
    if (st == B2C_E_ARGUMENT || st == B2C_E_LIMIT) {
        st = B2C_E_CORRUPT;
        if (err != NULL) {
            err->status = st;
        }
    }
    B2I_TRY(st);
    *nd = out;
    return B2C_OK;
}

bool b2i_nd_has_shapes_of(const b2c_nd *a, const b2c_nd *b)
{
    const size_t n = a->ndim;
    return n == b->ndim && memcmp(a->shape, b->shape, n * sizeof *a->shape) == 0 &&
           memcmp(a->chunks, b->chunks, n * sizeof *a->chunks) == 0 &&
           memcmp(a->blocks, b->blocks, n * sizeof *a->blocks) == 0;
}
