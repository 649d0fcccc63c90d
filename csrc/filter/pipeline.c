/*
 * pipeline.c: the six filter slots.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "filter.h"
#include "bitshuffle.h"
#include "cells.h"
#include "elementwise.h"
#include "shuffle.h"
#include "user_filter.h"

#include <assert.h>

enum {
    NDCELL = 32,
    NDMEAN = 33,
    BYTEDELTA_34 = 34, /* a first version with a defect, only read */
    BYTEDELTA = 35,
    INT_TRUNC = 36,
    FIRST_USER_DEFINED = 160,
    OLD_BITSHUFFLE_VERSION = 2 /* the last one that left blocks of odd lengths alone */
};

static const char *registered_name(uint8_t filter)
{
    switch (filter) {
    case B2C_FILTER_NONE:
        return "nofilter";
    case B2C_FILTER_SHUFFLE:
        return "shuffle";
    case B2C_FILTER_BITSHUFFLE:
        return "bitshuffle";
    case B2C_FILTER_DELTA:
        return "delta";
    case B2C_FILTER_TRUNC_PREC:
        return "trunc_prec";
    case NDCELL:
        return "ndcell";
    case NDMEAN:
        return "ndmean";
    case BYTEDELTA_34:
        return "bytedelta_buggy";
    case BYTEDELTA:
        return "bytedelta";
    case INT_TRUNC:
        return "int_trunc";
    default:
        return NULL;
    }
}

const char *b2c_filter_name(uint8_t filter)
{
    const char *name = registered_name(filter);
    return name != NULL ? name : b2i_user_filter_name(filter);
}

/* ---- checks ---- */

bool b2i_filter_is_built_in(uint8_t filter)
{
    return registered_name(filter) != NULL;
}

static b2c_status check_known(uint8_t filter, b2c_error *err)
{
    const char *what = "the format knows no filter of this number";
    if (b2i_filter_is_built_in(filter) || b2i_user_filter_exists(filter)) {
        return B2C_OK;
    }
    if (filter >= FIRST_USER_DEFINED) {
        what = "a user-defined filter that is not registered";
    }
    (void)b2i_fail_sizes(err, B2C_E_UNKNOWN_FILTER, B2C_NO_OFFSET, what, 0, filter);
    if (err != NULL) {
        err->field = "filters";
    }
    return B2C_E_UNKNOWN_FILTER;
}

static b2c_status check_writing(uint8_t filter, uint8_t meta, size_t typesize, b2c_error *err)
{
    const char *field = "filters_meta";
    const char *what = NULL;

    if (filter == B2C_FILTER_TRUNC_PREC && typesize != 4 && typesize != 8) {
        field = "typesize";
        what = "trunc_prec needs a type size of 4 or 8";
    } else if (filter == B2C_FILTER_TRUNC_PREC && b2i_trunc_nbits(filter, typesize, meta) < 0) {
        what = typesize == 4 ? "trunc_prec of 4-byte items takes 1 to 23 or -1 to -22"
                             : "trunc_prec of 8-byte items takes 1 to 52 or -1 to -51";
    } else if (filter == INT_TRUNC && typesize != 1 && typesize != 2 && typesize != 4 &&
               typesize != 8) {
        field = "typesize";
        what = "int_trunc needs a type size of 1, 2, 4 or 8";
    } else if (filter == INT_TRUNC && b2i_trunc_nbits(filter, typesize, meta) < 0) {
        what = "int_trunc takes 1 to the bits of an item, or -1 to minus one less than those";
    } else if (filter == BYTEDELTA && meta == 0) {
        what = "bytedelta needs the type size as its parameter";
    } else if ((filter == NDCELL || filter == NDMEAN) && meta == 0) {
        what = "ndcell and ndmean need the edge of a cell as their parameter";
    } else if (filter == NDMEAN && typesize != 4 && typesize != 8) {
        field = "typesize";
        what = "ndmean needs a type size of 4 or 8";
    } else if (filter == BYTEDELTA_34) {
        field = "filters";
        what = "filter 34 is a version of bytedelta with a defect; 35 replaces it";
    }
    return what == NULL ? B2C_OK : b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, field, what);
}

b2c_status b2i_pipeline_check(const b2i_pipeline *pl, bool writing, b2c_error *err)
{
    for (size_t slot = 0; slot < B2C_MAX_FILTERS; slot++) {
        B2I_TRY(check_known(pl->filters[slot], err));
        if (writing) {
            B2I_TRY(check_writing(pl->filters[slot], pl->metas[slot], pl->typesize, err));
        }
    }
    return B2C_OK;
}

/* Whether an edge fits into every dimension of the blocks. */
static bool edge_fits(const b2c_block *block, size_t edge)
{
    for (uint32_t d = 0; d < block->ndim; d++) {
        if (edge > block->blockshape[d]) {
            return false;
        }
    }
    return true;
}

bool b2i_pipeline_needs_shape(const b2i_pipeline *pl)
{
    return b2i_pipeline_has(pl, NDCELL) || b2i_pipeline_has(pl, NDMEAN);
}

bool b2i_pipeline_is_lossy(const b2i_pipeline *pl)
{
    return b2i_pipeline_has(pl, B2C_FILTER_TRUNC_PREC) || b2i_pipeline_has(pl, INT_TRUNC) ||
           b2i_pipeline_has(pl, NDMEAN) || b2i_pipeline_has_user(pl);
}

bool b2i_pipeline_breaks_items(const b2i_pipeline *pl)
{
    return b2i_pipeline_has(pl, B2C_FILTER_SHUFFLE) ||
           b2i_pipeline_has(pl, B2C_FILTER_BITSHUFFLE) || b2i_pipeline_has(pl, B2C_FILTER_DELTA) ||
           b2i_pipeline_has(pl, BYTEDELTA);
}

b2c_status b2i_pipeline_check_block(const b2i_pipeline *pl, size_t n, bool writing, b2c_error *err)
{
    for (size_t slot = 0; slot < B2C_MAX_FILTERS; slot++) {
        uint8_t filter = pl->filters[slot], edge = pl->metas[slot];
        const char *what = NULL;
        if (filter != NDCELL && filter != NDMEAN) {
            continue;
        }
        if (!b2i_cells_fit(pl->block, n)) {
            what = "ndcell and ndmean are for blocks of arrays of 1 to 8 dimensions";
        } else if (edge == 0 || (filter == NDMEAN && pl->typesize != 4 && pl->typesize != 8)) {
            what = "ndcell or ndmean has parameters that are impossible";
        } else if (writing && filter == NDCELL && !edge_fits(pl->block, edge)) {
            what = "a cell of ndcell is larger than a block";
        }
        if (what != NULL) {
            return b2i_fail_field(err, writing ? B2C_E_ARGUMENT : B2C_E_UNSUPPORTED, B2C_NO_OFFSET,
                                  "filters", what);
        }
    }
    return B2C_OK;
}

/* ---- which slots do something ---- */

/* Width of shuffle's and bytedelta's units. */
static size_t unit_of(const b2i_pipeline *pl, size_t slot)
{
    if (pl->metas[slot] != 0) {
        return pl->metas[slot];
    }
    bool is_shuffle = pl->filters[slot] == B2C_FILTER_SHUFFLE;
    return is_shuffle || pl->block == NULL ? pl->typesize : pl->block->typesize;
}

static bool is_active(const b2i_pipeline *pl, size_t slot, bool backward)
{
    switch (pl->filters[slot]) {
    case B2C_FILTER_NONE:
        return false;
    case B2C_FILTER_SHUFFLE:
        return unit_of(pl, slot) != 1;
    case B2C_FILTER_TRUNC_PREC:
    case INT_TRUNC:
        return !backward;
    default:
        return true;
    }
}

static size_t count_active(const b2i_pipeline *pl, bool backward)
{
    size_t count = 0;
    for (size_t slot = 0; slot < B2C_MAX_FILTERS; slot++) {
        count += is_active(pl, slot, backward);
    }
    return count;
}

bool b2i_pipeline_is_empty(const b2i_pipeline *pl, bool backward)
{
    return count_active(pl, backward) == 0;
}

bool b2i_pipeline_single(const b2i_pipeline *pl)
{
    return count_active(pl, true) <= 1;
}

bool b2i_pipeline_is_shuffle(const b2i_pipeline *pl, size_t unit)
{
    size_t count = 0;
    for (size_t slot = 0; slot < B2C_MAX_FILTERS; slot++) {
        if (pl->filters[slot] == B2C_FILTER_SHUFFLE && unit_of(pl, slot) == unit) {
            count += unit != 1;
        } else if (is_active(pl, slot, true)) {
            return false;
        }
    }
    return count == 1;
}

bool b2i_pipeline_is_bytedelta(const b2i_pipeline *pl, size_t unit)
{
    static const uint8_t expected[] = { B2C_FILTER_SHUFFLE, BYTEDELTA };
    size_t count = 0;
    for (size_t slot = 0; slot < B2C_MAX_FILTERS; slot++) {
        if (is_active(pl, slot, true)) {
            if (count == 2 || pl->filters[slot] != expected[count] || unit_of(pl, slot) != unit) {
                return false;
            }
            count++;
        }
    }
    return count == 2;
}

bool b2i_pipeline_has(const b2i_pipeline *pl, uint8_t filter)
{
    return memchr(pl->filters, filter, sizeof pl->filters) != NULL;
}

bool b2i_pipeline_has_user(const b2i_pipeline *pl)
{
    bool has = false;
    for (size_t slot = 0; slot < B2C_MAX_FILTERS; slot++) {
        has = has || !b2i_filter_is_built_in(pl->filters[slot]);
    }
    return has;
}

/* ---- one slot ---- */

static b2c_status forward_slot(const b2i_pipeline *pl, size_t slot, const uint8_t *src, size_t n,
                               b2i_span ref, uint8_t *dst, b2c_error *err)
{
    uint8_t filter = pl->filters[slot];

    switch (filter) {
    case B2C_FILTER_SHUFFLE:
        b2i_shuffle(src, n, unit_of(pl, slot), dst);
        break;
    case B2C_FILTER_BITSHUFFLE:
        b2i_bitshuffle(src, n, pl->typesize, dst);
        break;
    case B2C_FILTER_DELTA:
        b2i_delta_forward(src, n, pl->typesize, ref.p, ref.n, dst);
        break;
    case B2C_FILTER_TRUNC_PREC:
    case INT_TRUNC:
        b2i_trunc(src, n, pl->typesize,
                  (unsigned)b2i_trunc_nbits(filter, pl->typesize, pl->metas[slot]), dst);
        break;
    case NDCELL:
        b2i_cells_forward(pl->block, pl->metas[slot], src, dst);
        break;
    case NDMEAN:
        b2i_cell_means(pl->block, pl->metas[slot], src, dst);
        break;
    case BYTEDELTA:
        b2i_bytedelta_forward(src, n, unit_of(pl, slot), dst);
        break;
    default:
        return b2i_user_filter_run(filter, pl->metas[slot], pl->block, true, src, n, dst, err);
    }
    return B2C_OK;
}

static void undo_bitshuffle(const b2i_pipeline *pl, const uint8_t *src, size_t n, uint8_t *dst)
{
    if (pl->chunk_version <= OLD_BITSHUFFLE_VERSION && n / pl->typesize % 8 != 0) {
        memcpy(dst, src, n);
    } else {
        b2i_bitunshuffle(src, n, pl->typesize, dst);
    }
}

static b2c_status backward_slot(const b2i_pipeline *pl, size_t slot, const uint8_t *src, size_t n,
                                b2i_span ref, uint8_t *dst, b2c_error *err)
{
    uint8_t filter = pl->filters[slot];

    switch (filter) {
    case B2C_FILTER_SHUFFLE:
        b2i_unshuffle(src, n, unit_of(pl, slot), dst);
        break;
    case B2C_FILTER_BITSHUFFLE:
        undo_bitshuffle(pl, src, n, dst);
        break;
    case B2C_FILTER_DELTA:
        b2i_delta_backward(src, n, pl->typesize, ref.p, ref.n, dst);
        break;
    case NDCELL:
    case NDMEAN:
        b2i_cells_backward(pl->block, pl->metas[slot], src, dst);
        break;
    case BYTEDELTA_34:
        b2i_bytedelta34_backward(src, n, unit_of(pl, slot), dst);
        break;
    case BYTEDELTA:
        b2i_bytedelta_backward(src, n, unit_of(pl, slot), dst);
        break;
    default:
        return b2i_user_filter_run(filter, pl->metas[slot], pl->block, false, src, n, dst, err);
    }
    return B2C_OK;
}

/* ---- all slots ---- */

b2c_status b2i_pipeline_forward(const b2i_pipeline *pl, const uint8_t *src, size_t n,
                                const uint8_t *ref, size_t ref_len, uint8_t *a, uint8_t *b,
                                const uint8_t **out, b2c_error *err)
{
    const uint8_t *from = src;

    for (size_t slot = 0; slot < B2C_MAX_FILTERS && n > 0; slot++) {
        if (is_active(pl, slot, false)) {
            uint8_t *to = from == a ? b : a;
            B2I_TRY(forward_slot(pl, slot, from, n, b2i_span_of(ref, ref_len), to, err));
            from = to;
        }
    }
    *out = from;
    return B2C_OK;
}

b2c_status b2i_pipeline_backward(const b2i_pipeline *pl, uint8_t *src, size_t n, const uint8_t *ref,
                                 size_t ref_len, uint8_t *tmp, uint8_t *dst, b2c_error *err)
{
    size_t left = count_active(pl, true);
    uint8_t *from = src;

    if (n > 0 && left == 0) {
        memcpy(dst, src, n);
    }
    for (size_t slot = B2C_MAX_FILTERS; slot-- > 0 && n > 0;) {
        if (is_active(pl, slot, true)) {
            uint8_t *to = --left == 0 ? dst : from == src ? tmp : src;
            B2I_TRY(backward_slot(pl, slot, from, n, b2i_span_of(ref, ref_len), to, err));
            from = to;
        }
    }
    return B2C_OK;
}

b2c_status b2i_pipeline_backward_single(const b2i_pipeline *pl, const uint8_t *src, size_t n,
                                        const uint8_t *ref, size_t ref_len, uint8_t *dst,
                                        b2c_error *err)
{
    assert(b2i_pipeline_single(pl));
    for (size_t slot = 0; slot < B2C_MAX_FILTERS && n > 0; slot++) {
        if (is_active(pl, slot, true)) {
            return backward_slot(pl, slot, src, n, b2i_span_of(ref, ref_len), dst, err);
        }
    }
    if (n > 0) {
        memcpy(dst, src, n);
    }
    return B2C_OK;
}
