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
    uint64_t *order; /* old or new chunk_total of them, whichever is larger; NULL: not needed */
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

/* Whether the chunks that stay keep their numbers: only the first dimension has more or fewer. */
static bool keep_numbers(const resizing *r)
{
    for (uint32_t d = 1; d < r->old.ndim; d++) {
        if (r->old.nchunks[d] != r->new.nchunks[d]) {
            return false;
        }
    }
    return true;
}

/* Moves the chunks that leave to the end and deletes them there. */
static b2c_status remove_chunks(const resizing *r, b2c_error *err)
{
    uint64_t n = r->old.chunk_total, number, leaving = r->kept_total;
    if (r->kept_total == n) {
        return B2C_OK;
    }
    if (r->order != NULL) {
        for (uint64_t i = 0; i < n; i++) {
            r->order[is_kept(r, &r->old, i, &number) ? number : leaving++] = i;
        }
        B2I_TRY(b2i_schunk_reorder(r->s, r->order, n, err));
    }
    while (n > r->kept_total) {
        B2I_TRY(b2i_schunk_delete_chunk(r->s, --n, err));
    }
    return B2C_OK;
}

static b2c_status append_zeros(const resizing *r, uint64_t n, b2c_error *err)
{
    uint8_t chunk[B2C_HEADER_LEN];
    size_t len;
    b2c_cparams cp = b2i_special_cparams(1); /* of zeros the type size does not matter */
    B2I_TRY(b2i_special_encode(&cp, B2C_SPECIAL_ZERO, r->new.chunk_nbytes, NULL, chunk,
                               sizeof chunk, &len, err));
    for (uint64_t i = 0; i < n; i++) {
        B2I_TRY(b2i_schunk_append_chunk(r->s, b2i_span_of(chunk, len), err));
    }
    return B2C_OK;
}

/* Appends the chunks of zeros that come in and moves them to their places. */
static b2c_status add_chunks(const resizing *r, b2c_error *err)
{
    uint64_t n = r->new.chunk_total, number, coming = r->kept_total;
    if (r->kept_total == n) {
        return B2C_OK;
    }
    B2I_TRY(append_zeros(r, n - r->kept_total, err));
    if (r->order == NULL) {
        return B2C_OK;
    }
    for (uint64_t i = 0; i < n; i++) {
        r->order[i] = is_kept(r, &r->new, i, &number) ? number : coming++;
    }
    return b2i_schunk_reorder(r->s, r->order, n, err);
}

/* A super-chunk without chunks forgets that they were of variable size. */
static void make_regular(const resizing *r)
{
    b2i_state *now = &r->s->now;
    if (now->nchunks == 0 && r->new.chunk_total > 0) {
        b2i_free(now->ends);
        now->ends = NULL;
        now->chunksize = (int64_t)r->new.chunk_nbytes;
    }
}

static b2c_status change_grid(resizing *r, b2c_error *err)
{
    uint64_t n = r->old.chunk_total > r->new.chunk_total ? r->old.chunk_total : r->new.chunk_total;
    B2I_TRY(b2i_state_reserve(&r->s->now, n - r->old.chunk_total, err));
    if (!keep_numbers(r)) {
        r->order = b2i_malloc((size_t)n * sizeof *r->order); /* n < 2^28 */
        if (r->order == NULL) {
            return b2i_fail_memory(err);
        }
    }
    b2c_status st = remove_chunks(r, err);
    if (st == B2C_OK) {
        make_regular(r);
        st = add_chunks(r, err);
    }
    b2i_free(r->order);
    r->order = NULL;
    return st;
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
