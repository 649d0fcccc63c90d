/*
 * nd.h: n-dimensional arrays over super-chunks: geometry, metalayer, copies.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_ND_H
#define B2I_ND_H

#include "schunk.h"

/* Shapes of an array with all that follows from them; made by b2i_grid_make() only. */
typedef struct b2i_grid {
    uint32_t ndim;
    size_t itemsize;
    uint64_t shape[B2C_MAX_DIM];
    uint64_t chunks[B2C_MAX_DIM];  /* chunk shape as asked for */
    uint64_t blocks[B2C_MAX_DIM];  /* block shape */
    uint64_t ext[B2C_MAX_DIM];     /* chunk shape as stored: whole blocks */
    uint64_t nchunks[B2C_MAX_DIM]; /* chunks along each dimension */
    uint64_t nblocks[B2C_MAX_DIM]; /* blocks of a chunk along each dimension */
    /* How far neighbours along each dimension are apart: */
    uint64_t chunk_step[B2C_MAX_DIM]; /* in numbers of chunks, */
    uint64_t block_step[B2C_MAX_DIM]; /* of blocks in a chunk, */
    uint64_t item_step[B2C_MAX_DIM];  /* in bytes of a block */
    uint64_t chunk_total;             /* number of chunks */
    uint32_t block_total;             /* blocks of a chunk */
    uint64_t chunk_nbytes;            /* of a stored chunk, padding included */
    uint64_t block_nbytes;
} b2i_grid;

/* Checks every rule that later code relies on.  B2C_E_ARGUMENT, B2C_E_LIMIT. */
b2c_status b2i_grid_make(const b2c_nd *nd, b2i_grid *out, b2c_error *err);

/*
 * The same chunks and blocks seen along some dimensions only, n of them, ascending.  Its steps
 * and sizes in bytes are those of the whole.
 */
void b2i_grid_project(const b2i_grid *grid, const uint32_t *dims, uint32_t n, b2i_grid *out);

/* Where an item is: the chunk, the block in it, and how many bytes are before it there. */
typedef struct b2i_item_place {
    uint64_t nchunk, block, at;
} b2i_item_place;

/* That of the item at coord[0…ndim).  B2C_E_RANGE. */
b2c_status b2i_grid_locate(const b2i_grid *grid, const uint64_t *coord, b2i_item_place *out,
                           b2c_error *err);

/* That there are as many chunks as the grid has.  B2C_E_TRUNCATED, B2C_E_CORRUPT. */
b2c_status b2i_grid_check_count(const b2i_grid *grid, uint64_t nchunks, b2c_error *err);

/* That a chunk of the grid is there and has the size of one; that all are, and no others. */
b2c_status b2i_nd_check_chunk(const b2c_schunk *schunk, const b2i_grid *grid, uint64_t nchunk,
                              b2c_error *err);
b2c_status b2i_nd_check_chunks(const b2c_schunk *schunk, const b2i_grid *grid, b2c_error *err);

/* Coordinates of the i-th cell of a C-ordered grid of n[0…ndim) cells. */
void b2i_unrank(uint32_t ndim, const uint64_t *n, uint64_t i, uint64_t *coord);

/* Bytes between neighbours along each dimension of a C-ordered array. */
void b2i_strides(uint32_t ndim, const uint64_t *shape, size_t itemsize, uint64_t *strides);

/*
 * An n-d copy: n[d] items along dimension d, from and to places 'stride' bytes apart.  With
 * plane_len the source is planes: byte k of an item lies k * plane_len behind its first.
 */
typedef struct b2i_copy {
    uint32_t ndim;
    size_t itemsize;
    uint64_t plane_len; /* or 0 */
    uint64_t n[B2C_MAX_DIM];
    uint64_t src_stride[B2C_MAX_DIM];
    uint64_t dst_stride[B2C_MAX_DIM];
} b2i_copy;

/* Joins dimensions that are contiguous on both sides and drops those of one item. */
void b2i_copy_simplify(b2i_copy *copy);

/* Makes the source of a copy from a decoded block the planes of that block. */
void b2i_copy_from_planes(b2i_copy *copy, uint64_t plane_len);

/* Whether all of a simplified copy is one run of bytes. */
bool b2i_copy_is_run(const b2i_copy *copy);

/* Runs a simplified copy. */
void b2i_copy_run(const b2i_copy *copy, const uint8_t *src, uint8_t *dst);

/* The b2nd metalayer, and the array of an open super-chunk; as the public functions. */
b2c_status b2i_nd_meta_encode(const b2c_nd *nd, b2i_span dtype, uint8_t *dst, size_t dst_cap,
                              size_t *dst_len, b2c_error *err);
b2c_status b2i_nd_meta_decode(b2i_span meta, b2c_nd *nd, size_t *dtype_at, size_t *dtype_len,
                              b2c_error *err);

/* Puts another shape into a metalayer that b2i_nd_meta_decode() has accepted. */
void b2i_nd_meta_set_shape(uint8_t *meta, uint32_t ndim, const uint64_t *shape);

/* The metalayer of an array, or NULL. */
b2i_meta *b2i_nd_meta_find(const b2c_schunk *schunk);

/* The shapes in it, but for the item size, and its dtype; B2C_E_LIMIT: too many dimensions. */
b2c_status b2i_nd_meta_read(const b2i_meta *meta, const b2c_limits *limits, b2c_nd *nd,
                            b2i_span *dtype, b2c_error *err);
b2c_status b2i_nd_from_schunk(const b2c_schunk *schunk, b2c_nd *nd, b2i_span *dtype,
                              b2c_error *err);

/* Whether two arrays have the same shapes; item sizes may differ. */
bool b2i_nd_has_shapes_of(const b2c_nd *a, const b2c_nd *b);

/* A box of items: start[d], start[d] + step[d], … (count[d] of them, step >= 1). */
typedef struct b2i_box {
    const uint64_t *start, *count, *step;
} b2i_box;

/* Steps of boxes without gaps. */
extern const uint64_t b2i_ones[B2C_MAX_DIM];

/* ---- the chunks and blocks that a box touches (nd_walk.c) ---- */

/* The box of a walk as a C-ordered array of its own, and the chunk that the walk is at. */
typedef struct b2i_walk {
    const b2i_grid *grid;
    b2i_box box;
    uint64_t nbytes;               /* of the box */
    uint64_t stride[B2C_MAX_DIM];  /* bytes between neighbours in it */
    uint64_t nchunks[B2C_MAX_DIM]; /* chunks touched along each dimension */
    uint64_t chunk_total;          /* and in all */
    uint64_t nchunk;               /* number of the chunk */
    uint64_t origin[B2C_MAX_DIM];  /* its first item */
    uint64_t valid[B2C_MAX_DIM];   /* its items that lie inside the array */
    uint64_t first[B2C_MAX_DIM];   /* first item of the box in it */
    uint64_t n[B2C_MAX_DIM];       /* and how many there are; never 0 */
    uint64_t nblocks[B2C_MAX_DIM]; /* blocks touched along each dimension */
    uint32_t block_total;          /* and in all */
} b2i_walk;

/* The items of one block that belong to the box. */
typedef struct b2i_block_part {
    uint64_t rank;     /* number of the block in its chunk */
    uint64_t block_at; /* the first item's place in the block */
    uint64_t box_at;   /* and in the box */
    b2i_copy copy;     /* simplified, from the block to the box */
} b2i_block_part;

/* Checks the box.  B2C_E_ARGUMENT, B2C_E_RANGE.  chunk_total is 0 for a box without items. */
b2c_status b2i_walk_init(const b2i_grid *grid, b2i_box box, b2i_walk *walk, b2c_error *err);

/* Goes to the i-th chunk touched; in increasing order of their numbers. */
void b2i_walk_to(b2i_walk *walk, uint64_t i);

/* Whether all items of the present chunk that lie inside the array belong to the box. */
bool b2i_walk_covers(const b2i_walk *walk);

/* The i-th block touched of the present chunk. */
void b2i_walk_block(const b2i_walk *walk, uint32_t i, b2i_block_part *out);

/* Blocks that all of the walk touches, or a few more; UINT64_MAX when they cannot be counted. */
uint64_t b2i_walk_nblocks(const b2i_walk *walk);

/* ---- selections: what is read or written (nd_select.c) ---- */

/* A place along some dimensions, as a block and an item in it. */
typedef struct b2i_place {
    uint64_t key; /* what it adds to the number of the block, counted through all chunks */
    uint64_t at;  /* bytes that it adds to the position in the block */
    uint64_t to;  /* and to the position among the bytes of the selection */
} b2i_place;

typedef struct b2i_place_list {
    const b2i_place *places; /* sorted by key */
    const uint64_t *runs;    /* where the places of each block begin, and the end */
    const uint64_t *groups;  /* where the runs of each chunk begin, and the end */
    uint64_t ngroups;
    b2i_place *sorted, *spare; /* memory of the arrays above */
} b2i_place_list;

/*
 * Places along some dimensions, and for each of them a box along the others.  The places are all
 * combinations of those of several lists, each along dimensions of its own: single places are one
 * list along several dimensions, orthogonal ones a list for each dimension, and a box alone has no
 * lists.  In memory it is a C-ordered array of one row for each place.
 */
typedef struct b2i_selection {
    const b2i_grid *grid;
    b2i_grid rest; /* along the dimensions of the box */
    b2i_walk walk; /* of the box */
    uint64_t box_start[B2C_MAX_DIM], box_count[B2C_MAX_DIM], box_step[B2C_MAX_DIM];
    uint32_t nlists;
    b2i_place_list lists[B2C_MAX_DIM];
    uint64_t nchunks; /* chunks touched */
    uint64_t nbytes;  /* of all rows */
} b2i_selection;

/* B2C_E_ARGUMENT, B2C_E_RANGE. */
b2c_status b2i_select_box(const b2i_grid *grid, b2i_box box, b2i_selection *out, b2c_error *err);

/* Also B2C_E_MEMORY, and B2C_E_TRUNCATED for places in chunks beyond nchunks.  To be freed. */
b2c_status b2i_select_places(const b2i_grid *grid, const b2c_nd_places *places, uint64_t nchunks,
                             b2i_selection *out, b2c_error *err);
void b2i_select_free(b2i_selection *sel);

/* One chunk of a selection. */
typedef struct b2i_chunk_part {
    const b2i_selection *sel;
    uint64_t nchunk;
    const uint64_t *groups[B2C_MAX_DIM]; /* of each list */
    uint32_t nblocks;                    /* that the selection touches */
    b2i_walk walk;
} b2i_chunk_part;

/* One block of it: each combination of places takes part.copy, moved. */
typedef struct b2i_block_rows {
    b2i_block_part part;
    const b2i_place *first[B2C_MAX_DIM], *end[B2C_MAX_DIM]; /* of each list */
} b2i_block_rows;

/* The i-th chunk touched, i < sel->nchunks. */
void b2i_select_chunk(const b2i_selection *sel, uint64_t i, b2i_chunk_part *out);

/* Whether the selection has all items of the chunk. */
bool b2i_select_covers(const b2i_chunk_part *chunk);

/* The i-th block touched. */
void b2i_select_block(const b2i_chunk_part *chunk, uint32_t i, b2i_block_rows *out);

/* Place among the selection's bytes of a block whose bytes are there in order, or UINT64_MAX. */
uint64_t b2i_select_whole_block(const b2i_chunk_part *chunk, const b2i_block_rows *rows);

/* Puts one item to all places of the selection's bytes that come from a block. */
void b2i_select_fill(const b2i_chunk_part *chunk, const b2i_block_rows *rows, const uint8_t *item,
                     uint8_t *items);

/* Copies the items of one block from it to the selection's bytes, and back. */
void b2i_select_take(const b2i_chunk_part *chunk, const b2i_block_rows *rows, const uint8_t *block,
                     uint8_t *items);
void b2i_select_put(const b2i_chunk_part *chunk, const b2i_block_rows *rows, uint8_t *block,
                    const uint8_t *items);

/* As take, from the planes of a block whose shuffle has not been undone. */
void b2i_select_take_planes(const b2i_chunk_part *chunk, const b2i_block_rows *rows,
                            const uint8_t *block, uint8_t *items);

/* Whether so few items of a block are taken that this costs less than to undo its shuffle. */
bool b2i_select_is_little(const b2i_chunk_part *chunk, const b2i_block_rows *rows);

/* Puts one item to all places of a block that are selected. */
void b2i_select_spread(const b2i_chunk_part *chunk, const b2i_block_rows *rows, uint8_t *block,
                       const uint8_t *item);

/* Below this many bytes of blocks, or of data to be copied, the caller does it alone. */
#define B2I_ND_SERIAL_NBYTES ((uint64_t)256 * 1024)

/* ---- reading and writing; as the public functions ---- */

/* kept: only from the blocks that the context keeps, else B2C_E_NOT_FOUND. */
b2c_status b2i_nd_read_item(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid,
                            const uint64_t *coord, bool kept, uint8_t *dst, size_t dst_cap,
                            b2c_error *err);

/* post: what is done with the blocks, as in b2i_schunk_site(). */
b2c_status b2i_nd_read(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_selection *sel,
                       const b2i_hook *post, uint8_t *dst, size_t dst_cap, b2c_error *err);

/* The same of a selection that has items, without keeping any of what is decoded. */
b2c_status b2i_nd_read_once(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_selection *sel,
                            const b2i_hook *post, uint8_t *dst, b2c_error *err);

/*
 * The same of a box from its strip, if it has one and is to have it now (nd_strip.c); *is_read
 * tells.  nbytes_touched: of the blocks that it touches.
 */
b2c_status b2i_nd_read_strip(const b2c_schunk *schunk, b2c_ctx *ctx, const b2i_selection *sel,
                             uint64_t nbytes_touched, uint8_t *dst, bool *is_read, b2c_error *err);

/* src: all items of the selection, or one that goes everywhere. */
b2c_status b2i_nd_write(b2c_schunk *schunk, b2c_ctx *ctx, const b2i_selection *sel, b2i_span src,
                        b2c_error *err);
b2c_status b2i_nd_resize(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, const uint64_t *shape,
                         b2c_error *err);
b2c_status b2i_nd_append(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd, uint32_t axis, uint64_t n,
                         b2i_span src, b2c_error *err);

b2c_status b2i_nd_append_chunks(b2c_schunk *schunk, b2c_ctx *ctx, const b2i_grid *grid,
                                uint64_t first, uint64_t n, b2i_span src, b2c_error *err);

#endif
