/*
 * nd_resize.c: another shape for an array, also with new items; chunks and blocks keep theirs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "checked.h"
#include "nd.h"

/* The grids before and after, and the chunks that both have. */
typedef struct resizing {
    b2c_schunk *s;
    b2c_ctx *ctx;
    b2i_grid old, new;
    b2i_grid padded; /* the old one, with the padding that is to become items */
    uint64_t kept[B2C_MAX_DIM];
    uint64_t kept_total;
} resizing;

/* Whether chunk i of a grid belongs to both, and its number among those. */
static bool is_kept(const resizing *r, const b2i_grid *g, uint64_t i, uint64_t *number)
{
    uint64_t at[B2C_MAX_DIM];
    b2i_unrank(g->ndim, g->nchunks, i, at);
    *number = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        if (at[d] >= r->kept[d]) {
            return false;
        }
        *number = *number * r->kept[d] + at[d];
    }
    return true;
}

/* Chunks that both grids have move together, in their order; others leave. */
static void remove_chunks(const resizing *r)
{
    b2i_state *now = &r->s->now;
    for (uint64_t i = 0, number; i < r->old.chunk_total; i++) {
        if (is_kept(r, &r->old, i, &number)) {
            now->entries[number] = now->entries[i]; /* number <= i */
        } else {
            b2i_schunk_let_go(r->s, i);
        }
    }
    now->nchunks = r->kept_total;
    now->nbytes = r->kept_total * r->new.chunk_nbytes;
}

/* They move to their places in the new grid, with zeros between them. */
static void add_chunks(const resizing *r)
{
    b2i_state *now = &r->s->now;
    for (uint64_t i = r->new.chunk_total, number; i-- > 0;) {
        bool is_old = is_kept(r, &r->new, i, &number); /* number <= i */
        now->entries[i] = is_old ? now->entries[number] : B2I_ENTRY_ZERO;
    }
    now->nspecial += r->new.chunk_total - r->kept_total;
    now->nchunks = r->new.chunk_total;
    now->nbytes = r->new.chunk_total * r->new.chunk_nbytes;
}

/* Gives new chunks of zeros a payload. */
static b2c_status store_zeros(const resizing *r, b2i_span zeros, b2c_error *err)
{
    for (uint64_t i = 0, number; i < r->new.chunk_total; i++) {
        if (!is_kept(r, &r->new, i, &number)) {
            B2I_TRY(b2i_schunk_update_chunk(r->s, i, zeros, err));
        }
    }
    return B2C_OK;
}

/* All chunks have one size, as entries of zeros need it; those of others may say they have not. */
static void make_regular(const resizing *r)
{
    b2i_state *now = &r->s->now;
    b2i_free(now->ends);
    now->ends = NULL;
    now->chunksize = (int64_t)r->new.chunk_nbytes;
}

/*
 * What can fail comes first: a transaction around this one may go on then, with the array as it
 * was.  Only where zeros need a payload, for their size is no multiple of the type size, it cannot.
 */
static b2c_status change_grid(const resizing *r, b2c_error *err)
{
    uint64_t n = r->new.chunk_total, more = n > r->old.chunk_total ? n - r->old.chunk_total : 0;
    B2I_TRY(b2i_state_reserve(&r->s->now, more, err));
    if (n == r->kept_total) {
        remove_chunks(r);
        return B2C_OK;
    }
    uint8_t chunk[B2C_HEADER_LEN];
    size_t len;
    b2i_chunk_head head;
    b2c_cparams cp = b2i_special_cparams(1); /* of zeros the type size does not matter */
    B2I_TRY(b2i_special_encode(&cp, B2C_SPECIAL_ZERO, r->new.chunk_nbytes, NULL, chunk,
                               sizeof chunk, &len, err));
    B2I_TRY(b2i_chunk_head_parse(b2i_span_of(chunk, len), NULL, &head, err));
    B2I_TRY(b2i_schunk_check_zeros(r->s, n, err));
    remove_chunks(r);
    make_regular(r);
    add_chunks(r);
    r->s->edits++; /* who fails after this has failed halfway */
    bool is_stored = !b2i_state_fits_index(&r->s->now, &head);
    return is_stored ? store_zeros(r, b2i_span_of(chunk, len), err) : B2C_OK;
}

static bool is_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Zeros in a box that does not leave one chunk; written only where something else is there. */
static b2c_status clear_part(const resizing *r, const uint64_t *start, const uint64_t *count,
                             b2i_scratch *scratch, b2c_error *err)
{
    const b2i_grid *g = &r->padded;
    b2i_selection box;
    size_t n = g->itemsize;
    for (uint32_t d = 0; d < g->ndim; d++) {
        n *= (size_t)count[d]; /* at most a chunk */
    }
    uint8_t *p = b2i_scratch_get(scratch, n);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_select_box(g, (b2i_box){ start, count, b2i_ones }, &box, err));
    B2I_TRY(b2i_nd_read(r->s, r->ctx, &box, NULL, p, n, err));
    if (is_zero(p, n)) {
        return B2C_OK;
    }
    memset(p, 0, g->itemsize);
    return b2i_nd_write(r->s, r->ctx, &box, b2i_span_of(p, g->itemsize), err);
}

/* The same for a box of any size. */
static b2c_status clear_box(const resizing *r, const uint64_t *start, const uint64_t *count,
                            b2i_scratch *scratch, b2c_error *err)
{
    b2i_walk w;
    B2I_TRY(b2i_walk_init(&r->padded, (b2i_box){ start, count, b2i_ones }, &w, err));
    for (uint64_t i = 0; i < w.chunk_total; i++) {
        uint64_t first[B2C_MAX_DIM];
        b2i_walk_to(&w, i);
        if (b2i_state_entry(&r->s->now, w.nchunk) == B2I_ENTRY_ZERO) {
            continue;
        }
        for (uint32_t d = 0; d < r->padded.ndim; d++) {
            first[d] = start[d] + w.first[d];
        }
        B2I_TRY(clear_part(r, first, w.n, scratch, err));
    }
    return B2C_OK;
}

/*
 * Items of the kept chunks that are padding and are to belong to the array: they may hold what
 * an earlier shrinking has cut off.  Each dimension that grows gives a box; those of
 * earlier dimensions are left out of later ones.  The array itself does not change by that.
 */
static b2c_status clear_padding(resizing *r, b2c_error *err)
{
    uint64_t seen[B2C_MAX_DIM], old[B2C_MAX_DIM], start[B2C_MAX_DIM] = { 0 };
    b2i_scratch scratch = { 0 };
    b2c_status st = B2C_OK;
    r->padded = r->old;
    for (uint32_t d = 0; d < r->new.ndim; d++) {
        uint64_t end = r->kept[d] * r->new.chunks[d];
        seen[d] = end < r->new.shape[d] ? end : r->new.shape[d];
        old[d] = r->old.shape[d] < seen[d] ? r->old.shape[d] : seen[d];
        r->padded.shape[d] += seen[d] - old[d]; /* within the last chunk */
    }
    for (uint32_t d = 0; st == B2C_OK && d < r->new.ndim; d++) {
        uint64_t all = seen[d];
        start[d] = old[d];
        seen[d] = all - old[d];
        st = clear_box(r, start, seen, &scratch, err);
        start[d] = 0;
        seen[d] = old[d];
    }
    b2i_scratch_free(&scratch);
    return st;
}

static b2c_status set_shape(const resizing *r, b2c_error *err)
{
    b2i_meta *meta = b2i_nd_meta_find(r->s); /* there: resize() has decoded it */
    b2i_nd_meta_set_shape(meta->p, r->new.ndim, r->new.shape);
    if (r->new.chunk_total == 0) {
        r->s->now.cparams.typesize = r->new.itemsize; /* no chunk is left to tell it */
    }
    return b2i_schunk_edited(r->s, B2I_COMMIT_NOW, err);
}

/* 'nd' must be the stored array with all its chunks. */
static b2c_status check_stored(const b2c_schunk *s, const b2c_nd *nd, const b2i_grid *g,
                               b2c_error *err)
{
    b2c_nd stored;
    b2i_span dtype;
    B2I_TRY(b2i_nd_from_schunk(s, &stored, &dtype, err));
    bool has_items_of = g->chunk_total == 0 || stored.itemsize == nd->itemsize;
    if (!has_items_of || !b2i_nd_has_shapes_of(&stored, nd)) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nd",
                              "not the shapes of the stored array");
    }
    return b2i_nd_check_chunks(s, g, err);
}

/* b2i_nd_resize(), of which those who write all new items need not have them cleared. */
static b2c_status resize(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, const uint64_t *shape,
                         bool clears, b2c_error *err)
{
    resizing r = { .s = schunk, .ctx = ctx, .kept_total = 1 };
    b2c_nd resized = *nd;
    b2i_steps steps;
    bool same = true;
    B2I_TRY(b2i_schunk_check_writable(schunk, err));
    B2I_TRY(b2i_grid_make(nd, &r.old, err));
    B2I_TRY(check_stored(schunk, nd, &r.old, err));
    for (uint32_t d = 0; d < nd->ndim; d++) {
        resized.shape[d] = shape[d];
        same = same && shape[d] == nd->shape[d];
    }
    if (same) {
        return B2C_OK;
    }
    B2I_TRY(b2i_grid_make(&resized, &r.new, err));
    for (uint32_t d = 0; d < nd->ndim; d++) {
        r.kept[d] = r.old.nchunks[d] < r.new.nchunks[d] ? r.old.nchunks[d] : r.new.nchunks[d];
        r.kept_total *= r.kept[d];
    }
    B2I_TRY(b2i_schunk_begin_steps(schunk, &steps, err));
    b2c_status st = B2C_OK;
    if (clears && r.kept_total > 0) { /* first: it fails where a chunk is damaged */
        st = clear_padding(&r, err);
        steps.edits = schunk->edits; /* a failure has left the array as it was */
    }
    if (st == B2C_OK) {
        st = change_grid(&r, err);
    }
    if (st == B2C_OK) {
        st = set_shape(&r, err);
    }
    B2I_TRY(b2i_schunk_end_steps(schunk, steps, st, err));
    *nd = resized;
    return B2C_OK;
}

b2c_status b2i_nd_resize(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, const uint64_t *shape,
                         b2c_error *err)
{
    return resize(schunk, ctx, nd, shape, true, err);
}

b2c_status b2i_nd_append(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, uint32_t axis, uint64_t n,
                         b2i_span src, b2c_error *err)
{
    b2c_nd longer = *nd, now = *nd;
    uint64_t start[B2C_MAX_DIM] = { 0 }, count[B2C_MAX_DIM];
    b2i_grid grid;
    b2i_selection end;
    b2i_steps steps;
    memcpy(count, nd->shape, sizeof count);
    start[axis] = nd->shape[axis];
    count[axis] = n;
    if (!b2i_add_u64(nd->shape[axis], n, &longer.shape[axis])) {
        return b2i_fail_field(err, B2C_E_LIMIT, B2C_NO_OFFSET, "n", "too many for an axis");
    }
    B2I_TRY(b2i_grid_make(&longer, &grid, err));
    B2I_TRY(b2i_select_box(&grid, (b2i_box){ start, count, b2i_ones }, &end, err));
    if (src.n != end.nbytes) {
        return b2i_fail_sizes(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "not the size of the new items",
                              end.nbytes, src.n);
    }
    B2I_TRY(b2i_schunk_begin_steps(schunk, &steps, err));
    bool was_half_done = schunk->is_half_done;
    b2c_status st = resize(schunk, ctx, &now, longer.shape, false, err);
    if (st == B2C_OK) {
        st = b2i_nd_write(schunk, ctx, &end, src, err);
        /* A transaction around this one may go on, with the array as it was. */
        bool goes_on = st != B2C_OK && !steps.opened;
        if (goes_on && resize(schunk, ctx, &now, nd->shape, false, NULL) == B2C_OK) {
            steps.edits = schunk->edits;
            schunk->is_half_done = was_half_done; /* some chunks may have been written */
        }
    }
    B2I_TRY(b2i_schunk_end_steps(schunk, steps, st, err));
    *nd = now;
    return B2C_OK;
}
