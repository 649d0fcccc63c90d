/*
 * nd_places.c: single places along some dimensions, sorted by the blocks that hold them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "checked.h"

/* ---- order ---- */

/* Distributes n places by 8 bits of their keys; keeps the order of equal ones. */
static void sort_pass(const b2i_place *from, b2i_place *to, uint64_t n, unsigned shift)
{
    uint64_t at[257] = { 0 };
    for (uint64_t i = 0; i < n; i++) {
        at[(from[i].key >> shift & 0xFF) + 1]++;
    }
    for (unsigned v = 1; v < 256; v++) {
        at[v] += at[v - 1];
    }
    for (uint64_t i = 0; i < n; i++) {
        to[at[from[i].key >> shift & 0xFF]++] = from[i];
    }
}

/* Sorts *p by key, with as many places of room at *spare; may exchange the two. */
static void sort_places(b2i_place **p, b2i_place **spare, uint64_t n)
{
    uint64_t varies = 0;
    bool sorted = true;
    for (uint64_t i = 1; i < n; i++) {
        varies |= (*p)[i].key ^ (*p)[0].key;
        sorted = sorted && (*p)[i - 1].key <= (*p)[i].key;
    }
    for (unsigned shift = 0; !sorted && shift < 64; shift += 8) {
        if ((varies >> shift & 0xFF) != 0) {
            sort_pass(*p, *spare, n, shift);
            b2i_place *swap = *p;
            *p = *spare;
            *spare = swap;
        }
    }
}

/* ---- places ---- */

/* 'g' is seen along the axes of the places. */
static b2c_status make_place(const b2i_grid *g, const uint64_t *coord, uint64_t nchunks,
                             b2i_place *out, b2c_error *err)
{
    b2i_item_place place;
    B2I_TRY(b2i_grid_locate(g, coord, &place, err));
    if (place.nchunk >= nchunks) {
        b2c_status st = b2i_grid_check_count(g, nchunks, err); /* of the whole array */
        b2i_err_chunk(err, (int64_t)place.nchunk);
        return st;
    }
    out->key = place.nchunk * g->block_total + place.block; /* < 2^28 * 2^31 */
    out->at = place.at;
    return B2C_OK;
}

/*
 * n places along the dimensions of 'g', with 'row_nbytes' from the row of one to that of the next.
 */
static b2c_status make_places(const b2i_grid *g, const uint64_t *coord, uint64_t n,
                              uint64_t row_nbytes, uint64_t nchunks, b2i_place *out, b2c_error *err)
{
    for (uint64_t i = 0; i < n; i++) {
        out[i].to = i * row_nbytes;
        B2I_TRY(make_place(g, coord, nchunks, &out[i], err));
        coord = g->ndim == 0 ? coord : coord + g->ndim;
    }
    return B2C_OK;
}

static b2c_status check_axes(const b2i_grid *g, const b2c_nd_places *p, b2c_error *err)
{
    if (p->size < sizeof *p) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "size",
                              "must be sizeof(b2c_nd_places)");
    }
    bool good = p->naxes <= g->ndim;
    for (uint32_t i = 0; good && i < p->naxes; i++) {
        good = p->axes[i] < g->ndim && (i == 0 || p->axes[i - 1] < p->axes[i]);
    }
    if (!good) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "axes",
                              "must be dimensions of the array in ascending order");
    }
    return B2C_OK;
}

/* The dimensions that are not axes of the places, with their part of the box. */
static b2c_status select_rest(const b2i_grid *g, const b2c_nd_places *p, b2i_selection *sel,
                              b2c_error *err)
{
    uint32_t dims[B2C_MAX_DIM], n = 0, axis = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        if (axis < p->naxes && p->axes[axis] == d) {
            axis++;
            continue;
        }
        sel->box_start[n] = p->start[d];
        sel->box_count[n] = p->count[d];
        sel->box_step[n] = p->step[d];
        dims[n++] = d;
    }
    b2i_grid_project(g, dims, n, &sel->rest);
    const b2i_box box = { sel->box_start, sel->box_count, sel->box_step };
    return b2i_walk_init(&sel->rest, box, &sel->walk, err);
}

/*
 * Where runs of one block and groups of one chunk begin.  'runs' and 'groups' have n + 1 numbers.
 */
static void find_runs(b2i_place_list *list, uint32_t block_total, uint64_t n, uint64_t *runs,
                      uint64_t *groups)
{
    uint64_t nruns = 0, chunk_end = 0;
    const b2i_place *p = list->places;
    for (uint64_t i = 0; i < n; i++) {
        if (i > 0 && p[i].key == p[i - 1].key) {
            continue;
        }
        if (p[i].key >= chunk_end) {
            chunk_end = (p[i].key / block_total + 1) * block_total;
            groups[list->ngroups++] = nruns;
        }
        runs[nruns++] = i;
    }
    runs[nruns] = n;
    groups[list->ngroups] = nruns;
    list->runs = runs;
    list->groups = groups;
}

/* A list of n > 0 places along the dimensions of 'g'. */
static b2c_status make_list(b2i_selection *sel, const b2i_grid *g, const uint64_t *coords,
                            uint64_t n, uint64_t row_nbytes, uint64_t nchunks, b2c_error *err)
{
    /* The spare places are needed while sorting only, and two numbers for each afterwards. */
    b2i_place_list *list = &sel->lists[sel->nlists++];
    size_t room;
    *list = (b2i_place_list){ 0 };
    if (n > (SIZE_MAX - 64) / sizeof(b2i_place)) {
        return b2i_fail_memory(err);
    }
    room = ((size_t)n + 1) * sizeof(b2i_place);
    list->sorted = b2i_malloc(room);
    list->spare = b2i_malloc(room);
    if (list->sorted == NULL || list->spare == NULL) {
        return b2i_fail_memory(err);
    }
    /* There need not be any chunks then; of an array without items a later list fails. */
    bool is_empty = sel->walk.chunk_total == 0 || sel->grid->chunk_total == 0;
    B2I_TRY(
        make_places(g, coords, n, row_nbytes, is_empty ? UINT64_MAX : nchunks, list->sorted, err));
    if (is_empty) {
        return B2C_OK;
    }
    sort_places(&list->sorted, &list->spare, n);
    list->places = list->sorted;
    uint64_t *numbers = (uint64_t *)(void *)list->spare;
    find_runs(list, sel->grid->block_total, n, numbers, numbers + n + 1);
    return B2C_OK;
}

static b2c_status make_lists(b2i_selection *sel, const b2c_nd_places *p, uint64_t nchunks,
                             b2c_error *err)
{
    b2i_grid along;
    if (p->ncoords == NULL) {
        b2i_grid_project(sel->grid, p->axes, p->naxes, &along);
        return make_list(sel, &along, p->coords, p->nplaces, sel->walk.nbytes, nchunks, err);
    }
    const uint64_t *coords = p->coords;
    uint64_t nrows = p->nplaces; /* of all combinations with one coordinate of the last list */
    for (uint32_t i = 0; i < p->naxes; i++) {
        nrows /= p->ncoords[i];
        b2i_grid_project(sel->grid, &p->axes[i], 1, &along);
        B2I_TRY(
            make_list(sel, &along, coords, p->ncoords[i], nrows * sel->walk.nbytes, nchunks, err));
        coords += p->ncoords[i];
    }
    return B2C_OK;
}

static b2c_status check_count(const b2c_nd_places *p, b2c_error *err)
{
    uint64_t n = 1;
    bool good = true, is_empty = false;
    for (uint32_t i = 0; p->ncoords != NULL && i < p->naxes; i++) {
        is_empty = is_empty || p->ncoords[i] == 0;
    }
    for (uint32_t i = 0; p->ncoords != NULL && !is_empty && i < p->naxes; i++) {
        good = good && b2i_mul_u64(n, p->ncoords[i], &n);
    }
    if (p->ncoords != NULL && (!good || p->nplaces != (is_empty ? 0 : n))) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nplaces",
                              "must be the product of ncoords");
    }
    return B2C_OK;
}

b2c_status b2i_select_places(const b2i_grid *grid, const b2c_nd_places *places, uint64_t nchunks,
                             b2i_selection *out, b2c_error *err)
{
    out->grid = grid;
    out->nlists = 0;
    out->nchunks = 0;
    B2I_TRY(check_axes(grid, places, err));
    B2I_TRY(check_count(places, err));
    B2I_TRY(select_rest(grid, places, out, err));
    if (!b2i_mul_u64(places->nplaces, out->walk.nbytes, &out->nbytes)) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nplaces",
                              "the selection has more than 2^64 bytes");
    }
    if (places->nplaces == 0) {
        return B2C_OK;
    }
    b2c_status st = make_lists(out, places, nchunks, err);
    if (st != B2C_OK) {
        b2i_select_free(out);
        return st;
    }
    out->nchunks = out->walk.chunk_total;
    for (uint32_t l = 0; l < out->nlists; l++) { /* no more than the array has, or 0 */
        out->nchunks *= out->lists[l].ngroups;
    }
    return B2C_OK;
}

void b2i_select_free(b2i_selection *sel)
{
    for (uint32_t l = 0; l < sel->nlists; l++) {
        b2i_free(sel->lists[l].sorted);
        b2i_free(sel->lists[l].spare);
    }
    sel->nlists = 0;
}
