/*
 * nd_select.c: the chunks and blocks of a selection, and copies between them and its items.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"

b2c_status b2i_select_box(const b2i_grid *grid, b2i_box box, b2i_selection *out, b2c_error *err)
{
    out->grid = grid;
    out->nlists = 0;
    B2I_TRY(b2i_walk_init(grid, box, &out->walk, err));
    out->nchunks = out->walk.chunk_total;
    out->nbytes = out->walk.nbytes;
    return B2C_OK;
}

void b2i_select_chunk(const b2i_selection *sel, uint64_t i, b2i_chunk_part *out)
{
    out->sel = sel;
    out->walk = sel->walk;
    b2i_walk_to(&out->walk, i % sel->walk.chunk_total);
    out->nchunk = out->walk.nchunk;
    out->nblocks = out->walk.block_total;
    i /= sel->walk.chunk_total;
    for (uint32_t l = sel->nlists; l-- > 0;) {
        const b2i_place_list *list = &sel->lists[l];
        const uint64_t *runs = out->groups[l] = list->groups + i % list->ngroups;
        out->nchunk += list->places[list->runs[runs[0]]].key / sel->grid->block_total;
        out->nblocks *= (uint32_t)(runs[1] - runs[0]);
        i /= list->ngroups;
    }
}

bool b2i_select_covers(const b2i_chunk_part *c)
{
    return c->sel->nlists == 0 && b2i_walk_covers(&c->walk);
}

void b2i_select_block(const b2i_chunk_part *c, uint32_t i, b2i_block_rows *out)
{
    const b2i_selection *sel = c->sel;
    b2i_walk_block(&c->walk, i % c->walk.block_total, &out->part);
    i /= c->walk.block_total;
    for (uint32_t l = sel->nlists; l-- > 0;) {
        const b2i_place_list *list = &sel->lists[l];
        uint32_t nruns = (uint32_t)(c->groups[l][1] - c->groups[l][0]);
        const uint64_t *run = list->runs + c->groups[l][0] + i % nruns;
        out->first[l] = list->places + run[0];
        out->end[l] = list->places + run[1];
        out->part.rank += out->first[l]->key % sel->grid->block_total;
        i /= nruns;
    }
}

uint64_t b2i_select_whole_block(const b2i_chunk_part *c, const b2i_block_rows *rows)
{
    const b2i_copy *copy = &rows->part.copy;
    uint64_t nbytes = copy->ndim == 0 ? copy->itemsize : copy->n[0] * copy->itemsize;
    uint64_t at = rows->part.box_at;
    if (!b2i_copy_is_run(copy) || nbytes != c->sel->grid->block_nbytes) {
        return UINT64_MAX;
    }
    for (uint32_t l = 0; l < c->sel->nlists; l++) {
        if (rows->end[l] - rows->first[l] > 1) {
            return UINT64_MAX;
        }
        at += rows->first[l]->to;
    }
    return at;
}

static void copy_item(uint8_t *dst, const uint8_t *src, size_t n)
{
    switch (n) { /* constant sizes become loads and stores */
    case 1:
        *dst = *src;
        break;
    case 2:
        memcpy(dst, src, 2);
        break;
    case 4:
        memcpy(dst, src, 4);
        break;
    case 8:
        memcpy(dst, src, 8);
        break;
    default:
        memcpy(dst, src, n);
    }
}

/* The rows of one block, on their way from it or, with 'puts', to it. */
typedef struct row_job {
    const b2i_block_rows *rows;
    b2i_copy copy;
    uint32_t nlists;
    bool puts, fills; /* to the block; from one item */
} row_job;

static void move_row(const b2i_copy *copy, const uint8_t *src, uint8_t *dst)
{
    if (copy->ndim == 0 && copy->plane_len == 0) {
        copy_item(dst, src, copy->itemsize);
    } else {
        b2i_copy_run(copy, src, dst);
    }
}

/* The combinations of places of the lists from l on; src and dst are where those before lead to. */
static void move_rows(const row_job *j, uint32_t l, const uint8_t *src, uint8_t *dst)
{
    if (l == j->nlists) {
        move_row(&j->copy, src, dst);
        return;
    }
    const b2i_place *end = j->rows->end[l];
    bool last = l + 1 == j->nlists;
    for (const b2i_place *p = j->rows->first[l]; p < end; p++) {
        uint64_t at = j->copy.plane_len == 0 ? p->at : p->at / j->copy.itemsize;
        const uint8_t *from = src + (j->fills ? 0 : j->puts ? p->to : at);
        uint8_t *to = dst + (j->puts ? p->at : p->to);
        if (last) {
            move_row(&j->copy, from, to);
        } else {
            move_rows(j, l + 1, from, to);
        }
    }
}

void b2i_select_take(const b2i_chunk_part *c, const b2i_block_rows *rows, const uint8_t *block,
                     uint8_t *items)
{
    const row_job j = { rows, rows->part.copy, c->sel->nlists, false, false };
    move_rows(&j, 0, block + rows->part.block_at, items + rows->part.box_at);
}

void b2i_select_take_planes(const b2i_chunk_part *c, const b2i_block_rows *rows,
                            const uint8_t *block, uint8_t *items)
{
    const b2i_grid *g = c->sel->grid;
    row_job j = { rows, rows->part.copy, c->sel->nlists, false, false };
    b2i_copy_from_planes(&j.copy, g->block_nbytes / g->itemsize);
    move_rows(&j, 0, block + rows->part.block_at / g->itemsize, items + rows->part.box_at);
}

bool b2i_select_is_little(const b2i_chunk_part *c, const b2i_block_rows *rows)
{
    enum { LONG_RUN = 32, PART = 16 };
    const b2i_copy *copy = &rows->part.copy;
    uint64_t nitems = 1;
    for (uint32_t d = 0; d < copy->ndim; d++) {
        nitems *= copy->n[d];
    }
    uint32_t last = copy->ndim - 1;
    if (copy->ndim > 0 && copy->n[last] >= LONG_RUN && copy->src_stride[last] == copy->itemsize &&
        copy->dst_stride[last] == copy->itemsize) {
        return true; /* runs are taken by the kernels that would do all of it */
    }
    for (uint32_t l = 0; l < c->sel->nlists; l++) {
        nitems *= (uint64_t)(rows->end[l] - rows->first[l]);
    }
    /* One by one an item takes some ten times as long. */
    return nitems <= c->sel->grid->block_nbytes / copy->itemsize / PART;
}

void b2i_select_fill(const b2i_chunk_part *c, const b2i_block_rows *rows, const uint8_t *item,
                     uint8_t *items)
{
    row_job j = { rows, rows->part.copy, c->sel->nlists, false, true };
    memset(j.copy.src_stride, 0, sizeof j.copy.src_stride);
    move_rows(&j, 0, item, items + rows->part.box_at);
}

void b2i_select_put(const b2i_chunk_part *c, const b2i_block_rows *rows, uint8_t *block,
                    const uint8_t *items)
{
    row_job j = { rows, rows->part.copy, c->sel->nlists, true, false };
    memcpy(j.copy.src_stride, rows->part.copy.dst_stride, sizeof j.copy.src_stride);
    memcpy(j.copy.dst_stride, rows->part.copy.src_stride, sizeof j.copy.dst_stride);
    move_rows(&j, 0, items + rows->part.box_at, block + rows->part.block_at);
}

void b2i_select_spread(const b2i_chunk_part *c, const b2i_block_rows *rows, uint8_t *block,
                       const uint8_t *item)
{
    row_job j = { rows, rows->part.copy, c->sel->nlists, true, true };
    memset(j.copy.src_stride, 0, sizeof j.copy.src_stride);
    memcpy(j.copy.dst_stride, rows->part.copy.src_stride, sizeof j.copy.dst_stride);
    move_rows(&j, 0, item, block + rows->part.block_at);
}
