/*
 * nd_strip.c: reads of one column, or one plane, after the other.
 *
 * A column runs through many blocks, too many to be kept, and takes a little of each.  Who reads
 * a second one near the first gets those beside it decoded as well: a strip, which the context
 * keeps for the next ones.  Who reads one here and one there gets all that the blocks have beside
 * them kept, if that is not much.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"

/*
 * A strip of neighbours has at most this part of the bytes that are decoded for it: taking it from
 * the blocks costs little beside that.
 */
enum { STRIP_PART = 8 };

/* After so many reads of the same blocks far from the items before, all of them are kept. */
enum { FAR_READS = 2 };

/* Items along one dimension. */
typedef struct window {
    uint64_t first, n;
} window;

/* The items of one block along dimension d, with item i. */
static window block_around(const b2i_grid *g, uint32_t d, uint64_t i)
{
    uint64_t chunk = i - i % g->chunks[d], in_chunk = i - chunk;
    uint64_t first = chunk + in_chunk - in_chunk % g->blocks[d];
    uint64_t end = first + g->blocks[d];
    end = end > chunk + g->chunks[d] ? chunk + g->chunks[d] : end;
    end = end > g->shape[d] ? g->shape[d] : end;
    return (window){ first, end - first };
}

/* Those of the strip with item i: the same, or a part of no more than 'most'. */
static window strip_around(const b2i_grid *g, uint32_t d, uint64_t i, uint64_t most)
{
    window w = block_around(g, d, i);
    if (most < 2) {
        return (window){ i, 1 };
    }
    if (w.n > most) {
        uint64_t end = w.first + w.n;
        w.first = i - (i - w.first) % most;
        w.n = end - w.first < most ? end - w.first : most;
    }
    return w;
}

/* The dimension along which the strip of a box is thickest; its window. */
static uint32_t thickest(const b2i_selection *sel, uint64_t most, window *out)
{
    uint32_t dim = 0;
    *out = (window){ 0, 0 };
    for (uint32_t d = 0; d < sel->grid->ndim; d++) {
        if (sel->walk.box.count[d] == 1) {
            window w = strip_around(sel->grid, d, sel->walk.box.start[d], most);
            dim = w.n > out->n ? d : dim;
            *out = w.n > out->n ? w : *out;
        }
    }
    return dim;
}

static b2i_strip_key key_of(const b2c_schunk *s, const b2i_selection *sel, uint32_t dim)
{
    const b2i_box *box = &sel->walk.box;
    const b2i_grid *g = sel->grid;
    const size_t nbytes = g->ndim * sizeof *g->shape;
    b2i_strip_key key = { .owner = s->id, .state = s->edits, .itemsize = g->itemsize, .dim = dim };
    memcpy(key.shape, g->shape, nbytes);
    memcpy(key.chunks, g->chunks, nbytes);
    memcpy(key.blocks, g->blocks, nbytes);
    memcpy(key.start, box->start, nbytes);
    memcpy(key.count, box->count, nbytes);
    memcpy(key.step, box->step, nbytes);
    key.start[dim] = key.count[dim] = key.step[dim] = 0;
    return key;
}

/* Takes the box from the strip. */
static void take(const b2i_strip *strip, const b2i_selection *sel, uint8_t *dst)
{
    const b2i_box *box = &sel->walk.box;
    const b2i_grid *g = sel->grid;
    uint32_t dim = (uint32_t)strip->key.dim;
    uint64_t shape[B2C_MAX_DIM];
    b2i_copy copy = { .ndim = g->ndim, .itemsize = g->itemsize };
    memcpy(shape, box->count, g->ndim * sizeof *shape);
    memcpy(copy.n, box->count, g->ndim * sizeof *shape);
    memcpy(copy.dst_stride, sel->walk.stride, g->ndim * sizeof *shape);
    shape[dim] = strip->n;
    b2i_strides(g->ndim, shape, g->itemsize, copy.src_stride);
    uint64_t at = (box->start[dim] - strip->first) * copy.src_stride[dim];
    b2i_copy_simplify(&copy);
    b2i_copy_run(&copy, strip->bytes.p + at, dst);
}

static bool is_beside(const window *w, const b2i_strip *strip)
{
    return w->first + w->n >= strip->first && w->first <= strip->first + strip->n;
}

/* From now on the strip is of these items, which are not there yet. */
static void want(b2i_strip *strip, window w)
{
    strip->first = w.first;
    strip->n = w.n;
    b2i_strip_forget(strip);
}

/* Reads items for the strip; *is_there is false when there is no memory for them. */
static b2c_status fill(const b2c_schunk *s, b2c_ctx *ctx, const b2i_selection *sel,
                       b2i_strip *strip, window w, bool *is_there, b2c_error *err)
{
    b2i_strip_key box = strip->key;
    b2i_selection wide;
    box.start[box.dim] = w.first;
    box.count[box.dim] = w.n;
    box.step[box.dim] = 1;
    want(strip, w);
    B2I_TRY(b2i_select_box(sel->grid, (b2i_box){ box.start, box.count, box.step }, &wide, err));
    uint8_t *room = b2i_strip_room(ctx->strips, strip, (size_t)wide.nbytes);
    *is_there = room != NULL;
    if (room != NULL) {
        b2c_status st = b2i_nd_read_once(s, ctx, &wide, &s->post, room, err);
        if (st != B2C_OK) {
            b2i_strip_forget(strip);
            return st;
        }
        strip->is_filled = true;
    }
    return B2C_OK;
}

/*
 * Fills the strip with the box of a read, if it is to have it now; *is_there tells.  w: the
 * neighbours that are worth to be read with it.
 */
static b2c_status prepare(const b2c_schunk *s, b2c_ctx *ctx, const b2i_selection *sel,
                          b2i_strip *strip, window w, bool *is_there, b2c_error *err)
{
    uint32_t dim = (uint32_t)strip->key.dim;
    uint64_t i = sel->walk.box.start[dim];
    *is_there = strip->is_filled && i >= strip->first && i - strip->first < strip->n;
    if (*is_there) {
        return B2C_OK;
    }
    window block = block_around(sel->grid, dim, i);
    bool is_new = strip->n == 0 || strip->first - block.first >= block.n;
    bool is_near = strip->n > 0 && is_beside(&w, strip);
    strip->nfar = is_new ? 0 : strip->nfar + !is_near;
    if (strip->nfar >= FAR_READS && sel->nbytes <= B2I_WIDE_NBYTES / block.n) {
        B2I_TRY(fill(s, ctx, sel, strip, block, is_there, err));
        if (*is_there) {
            return B2C_OK;
        }
    }
    if (is_near) {
        return fill(s, ctx, sel, strip, w, is_there, err);
    }
    want(strip, w);
    return B2C_OK;
}

b2c_status b2i_nd_read_strip(const b2c_schunk *s, b2c_ctx *ctx, const b2i_selection *sel,
                             uint64_t nbytes_touched, uint8_t *dst, bool *is_read, b2c_error *err)
{
    uint64_t most = nbytes_touched / STRIP_PART < B2I_STRIPS_NBYTES ? nbytes_touched / STRIP_PART
                                                                    : B2I_STRIPS_NBYTES;
    window w;
    uint32_t dim = thickest(sel, most / sel->nbytes, &w);
    *is_read = false;
    if (w.n < 2 || b2i_ctx_strips(ctx) == NULL) {
        return B2C_OK;
    }
    b2i_strip_key key = key_of(s, sel, dim);
    b2i_strip *strip = b2i_strip_of(ctx->strips, &key);
    B2I_TRY(prepare(s, ctx, sel, strip, w, is_read, err));
    if (*is_read) {
        take(strip, sel, dst);
    }
    return B2C_OK;
}
