/*
 * nd_walk.c: which chunks and blocks a strided box touches, and where its items
 * lie in them; no bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "checked.h"

const uint64_t b2i_ones[B2C_MAX_DIM] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

/* Static text for each axis, as all that errors say. */
#define LEAVES(axis) "the box leaves the array's shape along axis " #axis
static const char *const leaves[B2C_MAX_DIM] = {
    LEAVES(0), LEAVES(1), LEAVES(2),  LEAVES(3),  LEAVES(4),  LEAVES(5),  LEAVES(6),  LEAVES(7),
    LEAVES(8), LEAVES(9), LEAVES(10), LEAVES(11), LEAVES(12), LEAVES(13), LEAVES(14), LEAVES(15),
};

static b2c_status check_dim(const b2i_grid *g, b2i_box box, uint32_t d, b2c_error *err)
{
    if (box.step[d] == 0) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "step", "must not be 0");
    }
    if (box.count[d] == 0) {
        return B2C_OK;
    }
    uint64_t start = box.start[d], n = g->shape[d];
    if (start >= n || box.count[d] - 1 > (n - 1 - start) / box.step[d]) {
        uint64_t end = b2i_add_most(start, b2i_mul_most(box.count[d] - 1, box.step[d]));
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET, leaves[d], n, b2i_add_most(end, 1));
    }
    return B2C_OK;
}

/*
 * Cells of the given width that items first, first + step, … (n of them) fall into.  Steps
 * at least as wide as a cell put each item into its own; smaller ones skip none.
 */
static uint64_t cells_touched(uint64_t first, uint64_t step, uint64_t n, uint64_t width)
{
    return step >= width ? n : (first + (n - 1) * step) / width - first / width + 1;
}

static uint64_t cell_touched(uint64_t first, uint64_t step, uint64_t width, uint64_t i)
{
    return step >= width ? (first + i * step) / width : first / width + i;
}

/* Items k in [*from, *from + *n) of a box's dimension are those that fall into [lo, hi). */
static void clip(b2i_box box, uint32_t d, uint64_t lo, uint64_t hi, uint64_t *from, uint64_t *n)
{
    uint64_t start = box.start[d], step = box.step[d];
    uint64_t to = hi <= start ? 0 : b2i_ceil_div(hi - start, step);
    to = to > box.count[d] ? box.count[d] : to;
    *from = lo <= start ? 0 : b2i_ceil_div(lo - start, step);
    *n = to > *from ? to - *from : 0;
}

b2c_status b2i_walk_init(const b2i_grid *grid, b2i_box box, b2i_walk *w, b2c_error *err)
{
    bool is_empty = false;
    for (uint32_t d = 0; d < grid->ndim; d++) {
        B2I_TRY(check_dim(grid, box, d, err));
        is_empty = is_empty || box.count[d] == 0;
    }
    w->grid = grid;
    w->box = box;
    w->nbytes = is_empty ? 0 : grid->itemsize;
    w->chunk_total = is_empty ? 0 : 1;
    b2i_strides(grid->ndim, box.count, grid->itemsize, w->stride);
    /* No product is above the array's size. */
    for (uint32_t d = 0; !is_empty && d < grid->ndim; d++) {
        w->nchunks[d] = cells_touched(box.start[d], box.step[d], box.count[d], grid->chunks[d]);
        w->chunk_total *= w->nchunks[d];
        w->nbytes *= box.count[d];
    }
    return B2C_OK;
}

void b2i_walk_to(b2i_walk *w, uint64_t i)
{
    const b2i_grid *g = w->grid;
    uint64_t at[B2C_MAX_DIM], total = 1;
    b2i_unrank(g->ndim, w->nchunks, i, at);
    w->nchunk = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        uint64_t step = w->box.step[d];
        uint64_t chunk = cell_touched(w->box.start[d], step, g->chunks[d], at[d]);
        w->nchunk += chunk * g->chunk_step[d];
        w->origin[d] = chunk * g->chunks[d];
        uint64_t left = g->shape[d] - w->origin[d];
        w->valid[d] = left < g->chunks[d] ? left : g->chunks[d];
        clip(w->box, d, w->origin[d], w->origin[d] + w->valid[d], &w->first[d], &w->n[d]);
        uint64_t item = w->box.start[d] + w->first[d] * step - w->origin[d];
        w->nblocks[d] = cells_touched(item, step, w->n[d], g->blocks[d]);
        total *= w->nblocks[d];
    }
    w->block_total = (uint32_t)total; /* not above the blocks of a chunk */
}

bool b2i_walk_covers(const b2i_walk *w)
{
    for (uint32_t d = 0; d < w->grid->ndim; d++) {
        if (w->n[d] != w->valid[d]) {
            return false;
        }
    }
    return true;
}

void b2i_walk_block(const b2i_walk *w, uint32_t i, b2i_block_part *p)
{
    const b2i_grid *g = w->grid;
    uint64_t at[B2C_MAX_DIM];
    b2i_unrank(g->ndim, w->nblocks, i, at);
    p->rank = p->block_at = p->box_at = 0;
    p->copy.ndim = g->ndim;
    p->copy.itemsize = g->itemsize;
    p->copy.plane_len = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        uint64_t step = w->box.step[d], from;
        uint64_t item = w->box.start[d] + w->first[d] * step - w->origin[d];
        uint64_t block = cell_touched(item, step, g->blocks[d], at[d]);
        uint64_t lo = block * g->blocks[d], hi = lo + g->blocks[d];
        hi = hi > w->valid[d] ? w->valid[d] : hi;
        clip(w->box, d, w->origin[d] + lo, w->origin[d] + hi, &from, &p->copy.n[d]);
        p->rank += block * g->block_step[d];
        p->copy.src_stride[d] = g->item_step[d] * step;
        p->copy.dst_stride[d] = w->stride[d];
        p->block_at += (w->box.start[d] + from * step - w->origin[d] - lo) * g->item_step[d];
        p->box_at += from * w->stride[d];
    }
    b2i_copy_simplify(&p->copy);
}

uint64_t b2i_walk_nblocks(const b2i_walk *w)
{
    const b2i_grid *g = w->grid;
    uint64_t total = 1;
    for (uint32_t d = 0; w->chunk_total > 0 && d < g->ndim; d++) {
        /* As if blocks did not end with their chunks; then each end of a chunk adds one. */
        uint64_t n = cells_touched(w->box.start[d], w->box.step[d], w->box.count[d], g->blocks[d]);
        n = g->ext[d] == g->chunks[d] ? n : n + w->nchunks[d] - 1;
        if (!b2i_mul_u64(total, n, &total)) {
            return UINT64_MAX;
        }
    }
    return w->chunk_total == 0 ? 0 : total;
}
