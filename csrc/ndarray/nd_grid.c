/*
 * nd_grid.c: integer geometry of chunks and blocks; no bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "checked.h"

static b2c_status bad_shape(b2c_error *err, const char *field, const char *what)
{
    return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, field, what);
}

static b2c_status set_dim(const b2c_nd *nd, uint32_t d, b2i_grid *g, b2c_error *err)
{
    g->shape[d] = nd->shape[d];
    g->chunks[d] = nd->chunks[d];
    g->blocks[d] = nd->blocks[d];
    if (nd->shape[d] > INT64_MAX) {
        return bad_shape(err, "shape", "a dimension is larger than 2^63 - 1");
    }
    if (nd->chunks[d] == 0) {
        if (nd->shape[d] != 0) {
            return bad_shape(err, "chunks", "a chunk of no items along a dimension that has some");
        }
        g->blocks[d] = 0; /* no chunks along it */
        return B2C_OK;
    }
    if (nd->blocks[d] == 0) {
        return bad_shape(err, "blocks", "a block of no items along a dimension");
    }
    g->nblocks[d] = b2i_ceil_div(nd->chunks[d], nd->blocks[d]);
    g->ext[d] = g->nblocks[d] * nd->blocks[d];
    g->nchunks[d] = b2i_ceil_div(nd->shape[d], nd->chunks[d]);
    return B2C_OK;
}

/* Product of n factors, false when above max. */
static bool product(const uint64_t *f, uint32_t n, uint64_t max, uint64_t *out)
{
    uint64_t p = *out;
    bool has_zero = false;
    for (uint32_t i = 0; i < n; i++) {
        has_zero = has_zero || f[i] == 0;
    }
    for (uint32_t i = 0; i < n && !has_zero; i++) {
        if (!b2i_mul_u64(p, f[i], &p) || p > max) {
            return false;
        }
    }
    *out = has_zero ? 0 : p;
    return true;
}

static b2c_status set_totals(b2i_grid *g, b2c_error *err)
{
    uint64_t items = g->itemsize, blocks = 1;
    g->chunk_nbytes = g->block_nbytes = g->itemsize;
    g->chunk_total = 1;
    if (!product(g->shape, g->ndim, INT64_MAX, &items)) {
        return b2i_fail_field(err, B2C_E_LIMIT, B2C_NO_OFFSET, "shape",
                              "the array has more than 2^63 - 1 bytes");
    }
    if (!product(g->ext, g->ndim, B2C_MAX_CHUNK_NBYTES, &g->chunk_nbytes)) {
        return b2i_fail_field(err, B2C_E_LIMIT, B2C_NO_OFFSET, "chunks",
                              "a chunk has more than 2147483615 bytes");
    }
    if (!product(g->blocks, g->ndim, B2C_MAX_BLOCKSIZE, &g->block_nbytes)) {
        return b2i_fail_field(err, B2C_E_LIMIT, B2C_NO_OFFSET, "blocks",
                              "a block has more than 536866816 bytes");
    }
    /* Not above the products just checked. */
    (void)product(g->nchunks, g->ndim, INT64_MAX, &g->chunk_total);
    (void)product(g->nblocks, g->ndim, B2C_MAX_CHUNK_NBYTES, &blocks);
    g->block_total = (uint32_t)blocks;
    return B2C_OK;
}

/* Products that were checked; of an array without chunks they are not used. */
static void set_steps(b2i_grid *g)
{
    uint64_t chunk = 1, block = 1, item = g->itemsize;
    for (uint32_t d = g->ndim; d-- > 0;) {
        g->chunk_step[d] = chunk;
        g->block_step[d] = block;
        g->item_step[d] = item;
        chunk *= g->nchunks[d];
        block *= g->nblocks[d];
        item *= g->blocks[d];
    }
}

void b2i_grid_project(const b2i_grid *grid, const uint32_t *dims, uint32_t n, b2i_grid *out)
{
    *out = *grid;
    out->ndim = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = dims[i];
        out->shape[i] = grid->shape[d];
        out->chunks[i] = grid->chunks[d];
        out->blocks[i] = grid->blocks[d];
        out->ext[i] = grid->ext[d];
        out->nchunks[i] = grid->nchunks[d];
        out->nblocks[i] = grid->nblocks[d];
        out->chunk_step[i] = grid->chunk_step[d];
        out->block_step[i] = grid->block_step[d];
        out->item_step[i] = grid->item_step[d];
    }
}

b2c_status b2i_grid_make(const b2c_nd *nd, b2i_grid *out, b2c_error *err)
{
    b2i_grid g = { .ndim = nd->ndim, .itemsize = nd->itemsize };
    if (nd->size < sizeof *nd) {
        return bad_shape(err, "size", "must be sizeof(b2c_nd)");
    }
    if (nd->ndim > B2C_MAX_DIM) {
        return b2i_fail_field(err, B2C_E_LIMIT, B2C_NO_OFFSET, "ndim",
                              "an array has at most 16 dimensions");
    }
    if (nd->itemsize < 1 || nd->itemsize > B2C_MAX_TYPESIZE) {
        return bad_shape(err, "itemsize", "must be from 1 to 536866816");
    }
    for (uint32_t d = 0; d < nd->ndim; d++) {
        B2I_TRY(set_dim(nd, d, &g, err));
    }
    B2I_TRY(set_totals(&g, err));
    set_steps(&g);
    *out = g;
    return B2C_OK;
}

b2c_status b2i_grid_check_count(const b2i_grid *g, uint64_t nchunks, b2c_error *err)
{
    if (nchunks == g->chunk_total) {
        return B2C_OK;
    }
    bool few = nchunks < g->chunk_total;
    return b2i_fail_sizes(err, few ? B2C_E_TRUNCATED : B2C_E_CORRUPT, B2C_NO_OFFSET,
                          few ? "the array has fewer chunks than its shape asks for"
                              : "the array has more chunks than its shape asks for",
                          g->chunk_total, nchunks);
}

b2c_status b2i_grid_locate(const b2i_grid *g, const uint64_t *coord, b2i_item_place *out,
                           b2c_error *err)
{
    b2i_item_place place = { 0 };
    for (uint32_t d = 0; d < g->ndim; d++) {
        if (coord[d] >= g->shape[d]) {
            return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                                  "a place lies outside the array's shape", g->shape[d], coord[d]);
        }
        uint64_t chunk = coord[d] / g->chunks[d], in_chunk = coord[d] - chunk * g->chunks[d];
        uint64_t block = in_chunk / g->blocks[d];
        place.nchunk += chunk * g->chunk_step[d];
        place.block += block * g->block_step[d];
        place.at += (in_chunk - block * g->blocks[d]) * g->item_step[d];
    }
    *out = place;
    return B2C_OK;
}

void b2i_unrank(uint32_t ndim, const uint64_t *n, uint64_t i, uint64_t *coord)
{
    for (uint32_t d = ndim; d-- > 0;) {
        coord[d] = i % n[d];
        i /= n[d];
    }
}

void b2i_strides(uint32_t ndim, const uint64_t *shape, size_t itemsize, uint64_t *strides)
{
    uint64_t stride = itemsize;
    for (uint32_t d = ndim; d-- > 0;) {
        strides[d] = stride;
        stride *= shape[d];
    }
}
