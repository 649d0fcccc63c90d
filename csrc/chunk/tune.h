/*
 * tune.h: choices of the encoder that follow from its parameters; private to
 * csrc/chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_TUNE_H
#define B2I_TUNE_H

#include "chunk.h"

/* Type size as chunk headers hold it: 1 for types above 255 bytes. */
uint8_t b2i_tune_typesize(const b2c_cparams *cparams);

/* Whether full blocks of 'blocksize' bytes are split into one stream per byte of the item. */
bool b2i_tune_split(const b2c_cparams *cparams, size_t blocksize);

#endif
