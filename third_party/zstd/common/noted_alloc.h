/*
 * blosc2c: noted_alloc.h: memory, and whether the calling thread did not get some.  Training a
 * dictionary goes on without, and returns another dictionary or an error that may mean anything.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef NOTED_ALLOC_H
#define NOTED_ALLOC_H

#include <stddef.h>

void *b2i_zstd_malloc(size_t n);
void *b2i_zstd_calloc(size_t n, size_t size);

/* Whether one of these has failed in this thread since it was asked last. */
int b2i_zstd_lacked_memory(void);

#endif
