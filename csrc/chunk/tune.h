/*
 * tune.h: choices of the encoder that follow from its parameters alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_TUNE_H
#define B2I_TUNE_H

#include "chunk.h"

/* Type size as chunk headers hold it: 1 for types above 255 bytes. */
uint8_t b2i_tune_typesize(const b2c_cparams *cparams);

/*
 * The size of nblocks blocks of n bytes that are of equal length, up to a small rest: a short block
 * at the end would not be split.
 */
size_t b2i_tune_equal(const b2c_cparams *cparams, size_t n, size_t nblocks);

/* Block size that compression will use for n bytes. */
uint32_t b2i_tune_blocksize(const b2c_cparams *cparams, size_t n);

typedef enum b2i_split {
    B2I_SPLIT_NO,
    B2I_SPLIT_YES,
    B2I_SPLIT_TRY /* whatever makes a sample smaller */
} b2i_split;

/* Whether full blocks of a chunk of n bytes are split into one stream per byte of the item. */
b2i_split b2i_tune_split(const b2c_cparams *cparams, size_t n, size_t blocksize);

/* How long a chunk of n bytes may be; else a copy of them is better, which is read as it is. */
size_t b2i_tune_most(const b2c_cparams *cparams, size_t n);

#endif
