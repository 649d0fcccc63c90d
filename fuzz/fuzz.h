/*
 * fuzz.h: what the fuzz targets share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "blosc2c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Whether an allocation of this run was made to fail, so that nothing needs to succeed any more. */
int fuzz_is_excused(void);

/* Stops the process with a message when a property does not hold, also in release builds. */
#define FUZZ_ALWAYS(cond)                                                                          \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The same for what may be otherwise when there was no memory. */
#define FUZZ_REQUIRE(cond) FUZZ_ALWAYS((cond) || fuzz_is_excused())

/* Decoded sizes a target accepts: enough for every path, small enough to be fast. */
enum { FUZZ_MAX_NBYTES = 1 << 20 };

static inline b2c_limits fuzz_limits(void)
{
    b2c_limits limits = { .max_chunk_nbytes = FUZZ_MAX_NBYTES,
                          .max_nchunks = 4096,
                          .max_meta_nbytes = FUZZ_MAX_NBYTES };
    return limits;
}

/* Whether filters change items when they are written, which need not be read as they were. */
static inline int fuzz_is_lossy(const b2c_cparams *c)
{
    static const uint8_t lossy[] = { B2C_FILTER_TRUNC_PREC, 33 /* ndmean */, 36 /* int_trunc */ };
    int found = 0;
    for (size_t i = 0; i < sizeof lossy; i++) {
        found = found || memchr(c->filters, lossy[i], sizeof c->filters) != NULL;
    }
    return found;
}

/* A context for single-threaded use, kept from input to input as an application would. */
static inline b2c_ctx *fuzz_ctx(void)
{
    static b2c_ctx *ctx;
    b2c_limits limits = fuzz_limits();
    if (ctx == NULL && b2c_ctx_new(NULL, 1, &limits, &ctx, NULL) != B2C_OK) {
        abort();
    }
    return ctx;
}

/* A failure fills all of the error; a success is a success. */
static inline void fuzz_check_error(b2c_status status, const b2c_error *err)
{
    if (status != B2C_OK) {
        FUZZ_ALWAYS(err->status == status);
        FUZZ_ALWAYS(err->what != NULL && err->what[0] != '\0');
        FUZZ_ALWAYS(status != B2C_E_INTERNAL);
    }
}

/* n bytes that a sanitizer guards on both sides. */
static inline uint8_t *fuzz_alloc(size_t n)
{
    uint8_t *p = malloc(n == 0 ? 1 : n);
    FUZZ_REQUIRE(p != NULL);
    return p;
}

/* Some edits; each may fail. */
static inline void fuzz_edit_some(b2c_schunk *s)
{
    static const uint8_t data[64] = "what is appended";
    b2c_error err;
    fuzz_check_error(b2c_schunk_append(s, fuzz_ctx(), data, sizeof data, &err), &err);
    fuzz_check_error(b2c_schunk_vlmeta_set(s, fuzz_ctx(), "name", data, 8, &err), &err);
    fuzz_check_error(b2c_schunk_update(s, fuzz_ctx(), 0, data, sizeof data, &err), &err);
}

/*
 * The blocks of variable size of a chunk that has such, each alone and twice, because the context
 * may keep the chunk open.  They are as in the decoded chunk; NULL: that could not be had.
 */
static inline void fuzz_read_vlblocks(const b2c_schunk *s, uint64_t i, const uint8_t *decoded)
{
    b2c_chunk_info info;
    b2c_error err;
    size_t nblocks = 0, at = 0;
    b2c_status status = b2c_schunk_chunk_info(s, i, &info, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK || !info.has_vlblocks || info.nbytes > FUZZ_MAX_NBYTES) {
        return;
    }
    uint32_t *lens = (uint32_t *)(void *)fuzz_alloc((size_t)info.nblocks * sizeof *lens);
    status = b2c_schunk_vlblock_lens(s, i, lens, (size_t)info.nblocks, &nblocks, &err);
    fuzz_check_error(status, &err);
    for (size_t k = 0; status == B2C_OK && k < nblocks; at += lens[k], k++) {
        if (k > 2 && k + 1 < nblocks) {
            continue; /* the first ones and the last one */
        }
        uint8_t *block = fuzz_alloc(lens[k]);
        for (int twice = 0; twice < 2; twice++) {
            size_t len = 0;
            b2c_status one =
                b2c_schunk_get_vlblock(s, fuzz_ctx(), i, k, block, lens[k], &len, &err);
            fuzz_check_error(one, &err);
            FUZZ_REQUIRE(decoded == NULL || one == B2C_OK);
            if (one == B2C_OK) {
                FUZZ_ALWAYS(len == lens[k]);
                FUZZ_ALWAYS(decoded == NULL || memcmp(block, decoded + at, len) == 0);
            }
        }
        free(block);
    }
    status = b2c_schunk_get_vlblock(s, fuzz_ctx(), i, info.nblocks, NULL, 0, &nblocks, &err);
    fuzz_check_error(status, &err);
    FUZZ_ALWAYS(status != B2C_OK); /* there is no such block */
    free(lens);
}

static inline uint32_t fuzz_u32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#endif
