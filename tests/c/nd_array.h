/*
 * nd_array.h: a new array without chunks, for the tests of arrays.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ND_ARRAY_H
#define ND_ARRAY_H

#include "harness.h"
#include "nd.h"

/* In memory, or in a file when path is not NULL; BloscLZ and one filter. */
static inline b2c_schunk *nd_array_new(const b2c_nd *nd, const char *path, uint8_t filter)
{
    uint8_t meta[512];
    size_t len = 0;
    b2c_schunk *s = NULL;
    b2c_schunk_params p;
    b2c_schunk_params_init(&p);
    p.storage = path == NULL ? B2C_STORAGE_MEMORY : B2C_STORAGE_FILE;
    p.path = path;
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    p.cparams.typesize = nd->itemsize;
    p.cparams.blocksize = (uint32_t)b2c_nd_blocksize(nd);
    p.cparams.filters[5] = filter;
    p.chunksize = (int64_t)b2c_nd_chunksize(nd);
    CHECK_EQ(b2c_nd_meta_encode(nd, "|u1", 3, meta, sizeof meta, &len, NULL), B2C_OK);
    const char *name = "b2nd";
    const void *content = meta;
    uint32_t meta_len = (uint32_t)len;
    p.nmeta = 1;
    p.meta_names = &name;
    p.meta_contents = &content;
    p.meta_lens = &meta_len;
    CHECK_EQ(b2c_schunk_new(&p, &s, NULL), B2C_OK);
    return s;
}

#endif
