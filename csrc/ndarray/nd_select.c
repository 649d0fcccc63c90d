/*
 * nd_select.c: the chunks and blocks of a selection, and copies between them and its items.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"

b2c_status b2i_select_box(const b2i_grid *grid, b2i_box box, b2i_selection *out, b2c_error *err)
{
    /* One place along no dimension, in one run of one group. */
    static const b2i_place here = { 0, 0, 0 };
    static const uint64_t once[] = { 0, 1 };
    out->sorted = out->spare = NULL;
    out->grid = grid;
    B2I_TRY(b2i_walk_init(grid, box, &out->walk, err));
    out->places = &here;
    out->runs = out->groups = once;
    out->ngroups = 1;
    out->nchunks = out->walk.chunk_total;
    out->nbytes = out->walk.nbytes;
    return B2C_OK;
}

void b2i_select_chunk(const b2i_selection *sel, uint64_t i, b2i_chunk_part *out)
{
    out->sel = sel;
    out->walk = sel->walk;
    out->group = i / sel->walk.chunk_total;
    b2i_walk_to(&out->walk, i % sel->walk.chunk_total);
    const uint64_t *runs = sel->groups + out->group;
    uint64_t key = sel->places[sel->runs[runs[0]]].key;
    out->nchunk = out->walk.nchunk + key / sel->grid->block_total;
    out->nblocks = (uint32_t)(runs[1] - runs[0]) * out->walk.block_total;
}

bool b2i_select_covers(const b2i_chunk_part *c)
{
    return c->sel->sorted == NULL && b2i_walk_covers(&c->walk);
}

void b2i_select_block(const b2i_chunk_part *c, uint32_t i, b2i_block_rows *out)
{
    const b2i_selection *sel = c->sel;
    const uint64_t *run = sel->runs + sel->groups[c->group] + i / c->walk.block_total;
    b2i_walk_block(&c->walk, i % c->walk.block_total, &out->part);
    out->first = sel->places + run[0];
    out->end = sel->places + run[1];
    out->part.rank += out->first->key % sel->grid->block_total;
}

uint64_t b2i_select_whole_block(const b2i_chunk_part *c, const b2i_block_rows *rows)
{
    const b2i_copy *copy = &rows->part.copy;
    uint64_t nbytes = copy->ndim == 0 ? copy->itemsize : copy->n[0] * copy->itemsize;
    if (rows->end - rows->first > 1 || !b2i_copy_is_run(copy) ||
        nbytes != c->sel->grid->block_nbytes) {
        return UINT64_MAX;
    }
    return rows->first->i * c->walk.nbytes + rows->part.box_at;
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

void b2i_select_take(const b2i_chunk_part *c, const b2i_block_rows *rows, const uint8_t *block,
                     uint8_t *items)
{
    const b2i_block_part *part = &rows->part;
    for (const b2i_place *p = rows->first; p < rows->end; p++) {
        const uint8_t *src = block + part->block_at + p->at;
        uint8_t *dst = items + p->i * c->walk.nbytes + part->box_at;
        if (part->copy.ndim == 0) {
            copy_item(dst, src, part->copy.itemsize);
        } else {
            b2i_copy_run(&part->copy, src, dst);
        }
    }
}

void b2i_select_put(const b2i_chunk_part *c, const b2i_block_rows *rows, uint8_t *block,
                    const uint8_t *items)
{
    const b2i_block_part *part = &rows->part;
    b2i_copy back = part->copy;
    memcpy(back.src_stride, part->copy.dst_stride, sizeof back.src_stride);
    memcpy(back.dst_stride, part->copy.src_stride, sizeof back.dst_stride);
    for (const b2i_place *p = rows->first; p < rows->end; p++) {
        uint8_t *dst = block + part->block_at + p->at;
        const uint8_t *src = items + p->i * c->walk.nbytes + part->box_at;
        if (back.ndim == 0) {
            copy_item(dst, src, back.itemsize);
        } else {
            b2i_copy_run(&back, src, dst);
        }
    }
}
