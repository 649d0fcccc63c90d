/*
 * cells.h: filters that visit a block of an array cell by cell.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CELLS_H
#define B2I_CELLS_H

#include "status.h"

#include <stdbool.h>

enum { B2I_MAX_CELL_DIM = 8 };

/* Whether n bytes are a block of an array of 1 to 8 dimensions. */
bool b2i_cells_fit(const b2c_block *block, size_t n);

/*
 * The items of a fitting block in the order of cells of 'edge' > 0 items along each dimension,
 * clipped to the block; and back.
 */
void b2i_cells_forward(const b2c_block *block, size_t edge, const uint8_t *src, uint8_t *dst);
void b2i_cells_backward(const b2c_block *block, size_t edge, const uint8_t *src, uint8_t *dst);

/* b2i_cells_forward() with the mean of its cell for each item, a float of 4 or 8 bytes. */
void b2i_cell_means(const b2c_block *block, size_t edge, const uint8_t *src, uint8_t *dst);

#endif
