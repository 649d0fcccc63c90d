/*
 * blosc2c: noted_alloc.c: see noted_alloc.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noted_alloc.h"

#include <stdlib.h>

static __thread int lacked_memory;

void *b2i_zstd_malloc(size_t n)
{
    void *p = malloc(n);
    lacked_memory = lacked_memory || p == NULL;
    return p;
}

void *b2i_zstd_calloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    lacked_memory = lacked_memory || p == NULL;
    return p;
}

int b2i_zstd_lacked_memory(void)
{
    int lacked = lacked_memory;
    lacked_memory = 0;
    return lacked;
}
