/*
 * new_schunk.h: a folder for a test, and super-chunks with small chunks in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef NEW_SCHUNK_H
#define NEW_SCHUNK_H

#include "files.h"
#include "frame.h"

enum { CHUNK = 400 };

static b2c_ctx *ctx;
static b2c_error err;
static char dir[] = "/tmp/b2c_test_XXXXXX";
static uint64_t seed = 88172645463325252u;

/* The path of a name in the folder; good for four calls. */
static inline const char *path_of(const char *name)
{
    static char paths[4][256];
    static unsigned n;
    char *path = paths[n++ % 4];
    print_path(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

/* A new one of items of 4 bytes, with BloscLZ. */
static inline b2c_schunk *make(uint8_t storage, const char *path, int64_t chunksize)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.chunksize = chunksize;
    p.cparams.typesize = 4;
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    return s;
}

#endif
