/*
 * cells.c: ndcell, which puts neighbours in all dimensions of an array side by side, and ndmean,
 * which keeps only their means.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "cells.h"
#include "bytes.h"

/* A walk over the cells of a block in C order. */
typedef struct cell_walk {
    uint32_t ndim;
    size_t itemsize, edge;
    size_t shape[B2I_MAX_CELL_DIM];  /* of the block */
    size_t stride[B2I_MAX_CELL_DIM]; /* bytes between neighbours in the block */
    size_t start[B2I_MAX_CELL_DIM];  /* of the present cell */
    size_t n[B2I_MAX_CELL_DIM];      /* its items along each dimension */
    size_t nitems;                   /* in all */
} cell_walk;

bool b2i_cells_fit(const b2c_block *block, size_t n)
{
    if (block == NULL || block->ndim < 1 || block->ndim > B2I_MAX_CELL_DIM ||
        block->typesize == 0 || n % block->typesize != 0) {
        return false;
    }
    size_t left = n / block->typesize;
    for (uint32_t d = 0; d < block->ndim; d++) {
        if (block->blockshape[d] == 0 || left % block->blockshape[d] != 0) {
            return false;
        }
        left /= block->blockshape[d];
    }
    return left == 1;
}

static void measure(cell_walk *w)
{
    w->nitems = 1;
    for (uint32_t d = 0; d < w->ndim; d++) {
        size_t left = w->shape[d] - w->start[d];
        w->n[d] = left < w->edge ? left : w->edge;
        w->nitems *= w->n[d];
    }
}

static cell_walk first_cell(const b2c_block *block, size_t edge)
{
    cell_walk w = { .ndim = block->ndim, .itemsize = block->typesize, .edge = edge };
    size_t stride = w.itemsize;
    for (uint32_t d = w.ndim; d-- > 0;) {
        w.shape[d] = block->blockshape[d];
        w.stride[d] = stride;
        stride *= w.shape[d];
    }
    measure(&w);
    return w;
}

/* False behind the last cell. */
static bool next_cell(cell_walk *w)
{
    for (uint32_t d = w->ndim; d-- > 0;) {
        w->start[d] += w->n[d];
        if (w->start[d] < w->shape[d]) {
            measure(w);
            return true;
        }
        w->start[d] = 0;
        w->n[d] = w->shape[d] < w->edge ? w->shape[d] : w->edge;
    }
    return false;
}

/* Place of the i-th line of the present cell in the block: all items along the last dimension. */
static size_t line_at(const cell_walk *w, size_t i)
{
    size_t at = w->start[w->ndim - 1] * w->itemsize;
    for (uint32_t d = w->ndim - 1; d-- > 0;) {
        at += (w->start[d] + i % w->n[d]) * w->stride[d];
        i /= w->n[d];
    }
    return at;
}

void b2i_cells_forward(const b2c_block *block, size_t edge, const uint8_t *src, uint8_t *dst)
{
    cell_walk w = first_cell(block, edge);
    do {
        size_t len = w.n[w.ndim - 1] * w.itemsize, nlines = w.nitems / w.n[w.ndim - 1];
        for (size_t i = 0; i < nlines; i++, dst += len) {
            memcpy(dst, src + line_at(&w, i), len);
        }
    } while (next_cell(&w));
}

void b2i_cells_backward(const b2c_block *block, size_t edge, const uint8_t *src, uint8_t *dst)
{
    cell_walk w = first_cell(block, edge);
    do {
        size_t len = w.n[w.ndim - 1] * w.itemsize, nlines = w.nitems / w.n[w.ndim - 1];
        for (size_t i = 0; i < nlines; i++, src += len) {
            memcpy(dst + line_at(&w, i), src, len);
        }
    } while (next_cell(&w));
}

static float load_f32(const uint8_t *p)
{
    uint32_t bits = b2i_ld32le(p);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static double load_f64(const uint8_t *p)
{
    uint64_t bits = b2i_ld64le(p);
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* n items of 4 bytes become their mean, as the reference library adds them up. */
static void mean_f32(uint8_t *p, size_t n)
{
    float sum = 0;
    uint32_t bits;
    for (size_t i = 0; i < n; i++) {
        sum += load_f32(p + 4 * i);
    }
    sum /= (float)n;
    memcpy(&bits, &sum, sizeof bits);
    for (size_t i = 0; i < n; i++) {
        b2i_st32le(p + 4 * i, bits);
    }
}

static void mean_f64(uint8_t *p, size_t n)
{
    double sum = 0;
    uint64_t bits;
    for (size_t i = 0; i < n; i++) {
        sum += load_f64(p + 8 * i);
    }
    sum /= (double)n;
    memcpy(&bits, &sum, sizeof bits);
    for (size_t i = 0; i < n; i++) {
        b2i_st64le(p + 8 * i, bits);
    }
}

void b2i_cell_means(const b2c_block *block, size_t edge, const uint8_t *src, uint8_t *dst)
{
    cell_walk w = first_cell(block, edge);
    b2i_cells_forward(block, edge, src, dst);
    do {
        if (w.itemsize == 4) {
            mean_f32(dst, w.nitems);
        } else {
            mean_f64(dst, w.nitems);
        }
        dst += w.nitems * w.itemsize;
    } while (next_cell(&w));
}
