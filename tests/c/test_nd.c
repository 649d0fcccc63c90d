/*
 * test_nd.c: the b2nd metalayer, geometry, and boxes against plain loops.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "nd.h"

static b2c_ctx *ctx, *parallel;
static uint64_t seed = 7;

static uint64_t below(uint64_t n)
{
    return harness_random(&seed) % n;
}

static void test_meta(void)
{
    static const uint8_t want[] = {
        0x97, 0,    2,    0x92, 0xd3, 0, 0, 0, 0, 0, 0,    0, 5, 0xd3, 0, 0,    0, 0,
        0,    0,    0,    7,    0x92, 0xd2, 0, 0, 0, 4, 0xd2, 0, 0, 0,    5, 0x92, 0xd2, 0,
        0,    0,    3,    0xd2, 0,    0, 0, 2, 0, 0xdb, 0, 0, 0, 3,    '<', 'i', '4'
    };
    b2c_nd nd = { .size = sizeof nd, .ndim = 2, .itemsize = 4, .shape = { 5, 7 },
                  .chunks = { 4, 5 }, .blocks = { 3, 2 } };
    uint8_t meta[512];
    size_t len = 0, at = 0, n = 0;
    CHECK_EQ(b2c_nd_meta_encode(&nd, "<i4", 3, meta, sizeof meta, &len, NULL), B2C_OK);
    CHECK_EQ(len, sizeof want);
    CHECK(memcmp(meta, want, sizeof want) == 0);
    CHECK_EQ(b2c_nd_meta_encode(&nd, "<i4", 3, meta, 52, &len, NULL), B2C_E_OUTPUT_SIZE);
    CHECK_EQ(b2c_nd_chunksize(&nd), 144);
    CHECK_EQ(b2c_nd_blocksize(&nd), 24);
    CHECK_EQ(b2c_nd_nchunks(&nd), 4);

    b2c_nd back;
    CHECK_EQ(b2c_nd_meta_decode(want, sizeof want, &back, &at, &n, NULL), B2C_OK);
    CHECK(back.ndim == 2 && back.shape[1] == 7 && back.chunks[0] == 4 && back.blocks[1] == 2);
    CHECK(n == 3 && memcmp(want + at, "<i4", 3) == 0);
    for (size_t i = 0; i < sizeof want; i++) { /* without the dtype: only at its very start */
        b2c_error err;
        b2c_status st = b2c_nd_meta_decode(want, i, &back, &at, &n, &err);
        CHECK_EQ(st, i == 44 ? B2C_OK : B2C_E_TRUNCATED);
        CHECK(st == B2C_OK ? n == 0 : err.offset <= i);
    }
    for (size_t i = 0; i < 8 * sizeof want; i++) {
        uint8_t bad[sizeof want];
        b2c_error err = { 0 };
        memcpy(bad, want, sizeof want);
        bad[i / 8] ^= (uint8_t)(1u << i % 8);
        b2c_status st = b2c_nd_meta_decode(bad, sizeof bad, &back, &at, &n, &err);
        CHECK(st == B2C_OK || (err.what != NULL && err.field != NULL));
    }

    b2c_nd sixteen = { .size = sizeof nd, .ndim = 16, .itemsize = 1 };
    for (int d = 0; d < 16; d++) {
        sixteen.shape[d] = sixteen.chunks[d] = sixteen.blocks[d] = 1;
    }
    CHECK_EQ(b2c_nd_meta_encode(&sixteen, "|u1", 3, meta, sizeof meta, &len, NULL), B2C_OK);
    CHECK_EQ(meta[3], 0xA0);
    CHECK_EQ(b2c_nd_meta_decode(meta, len, &back, &at, &n, NULL), B2C_OK);
    CHECK_EQ(back.ndim, 16);
}

static void test_check(void)
{
    b2c_error err;
    b2c_nd nd = { .size = sizeof nd, .ndim = 1, .itemsize = 4, .shape = { 5 }, .chunks = { 0 },
                  .blocks = { 0 } };
    CHECK_EQ(b2c_nd_check(&nd, &err), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "chunks") == 0);
    nd.chunks[0] = 5;
    CHECK_EQ(b2c_nd_check(&nd, &err), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "blocks") == 0);
    nd.blocks[0] = 2;
    CHECK_EQ(b2c_nd_check(&nd, &err), B2C_OK);
    nd.chunks[0] = 2147483647;
    CHECK_EQ(b2c_nd_check(&nd, &err), B2C_E_LIMIT);
    nd.ndim = 17;
    CHECK_EQ(b2c_nd_check(&nd, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_nd_check(NULL, &err), B2C_E_ARGUMENT);
    b2c_nd huge = { .size = sizeof nd, .ndim = 2, .itemsize = 8,
                    .shape = { (uint64_t)1 << 40, (uint64_t)1 << 40 }, .chunks = { 1, 1 },
                    .blocks = { 1, 1 } };
    CHECK_EQ(b2c_nd_check(&huge, &err), B2C_E_LIMIT);
}

static b2c_nd random_nd(void)
{
    b2c_nd nd = { .size = sizeof nd, .ndim = (uint32_t)below(5) };
    static const uint32_t sizes[] = { 1, 2, 3, 4, 8, 16, 300 };
    nd.itemsize = sizes[below(7)];
    for (uint32_t d = 0; d < nd.ndim; d++) {
        nd.shape[d] = below(20) == 0 ? 0 : 1 + below(14);
        nd.chunks[d] = (uint32_t)(1 + below(nd.shape[d] + 2));
        nd.blocks[d] = (uint32_t)(1 + below(nd.chunks[d]));
    }
    return nd;
}

static b2c_schunk *new_array(const b2c_nd *nd)
{
    uint8_t meta[512];
    size_t len = 0;
    b2c_schunk *s = NULL;
    b2c_schunk_params p;
    b2c_schunk_params_init(&p);
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    p.cparams.typesize = nd->itemsize;
    p.cparams.blocksize = (uint32_t)b2c_nd_blocksize(nd);
    p.cparams.filters[5] = (uint8_t)below(4);
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

/* A random box of an array with the given items, read by the library and by plain loops. */
static void check_box(const b2c_schunk *s, const b2c_nd *nd, const uint8_t *src)
{
    uint64_t start[16], count[16], step[16], total = 1, stride[16];
    for (uint32_t d = 0; d < nd->ndim; d++) {
        uint64_t n = nd->shape[d];
        start[d] = n == 0 ? 0 : below(n);
        step[d] = 1 + below(below(3) == 0 ? 9 : 2);
        count[d] = n == 0 ? 0 : below((n - 1 - start[d]) / step[d] + 2);
        if (below(3) == 0) {
            start[d] = 0;
            step[d] = 1;
            count[d] = n;
        }
        total *= count[d];
    }
    size_t nbytes = (size_t)total * nd->itemsize;
    uint8_t *out = malloc(nbytes + 1);
    b2c_error err = { 0 };
    CHECK_EQ(b2c_nd_read(s, below(2) ? ctx : parallel, nd, start, count, step, out, nbytes, &err),
             B2C_OK);
    b2i_strides(nd->ndim, nd->shape, nd->itemsize, stride);
    int wrong = 0;
    for (uint64_t i = 0; i < total; i++) {
        uint64_t coord[16], at = 0;
        b2i_unrank(nd->ndim, count, i, coord);
        for (uint32_t d = 0; d < nd->ndim; d++) {
            at += (start[d] + coord[d] * step[d]) * stride[d];
        }
        wrong += memcmp(out + i * nd->itemsize, src + at, nd->itemsize) != 0;
    }
    CHECK_EQ(wrong, 0);
    if (nbytes > 0) {
        CHECK_EQ(b2c_nd_read(s, ctx, nd, start, count, step, out, nbytes - 1, &err),
                 B2C_E_OUTPUT_SIZE);
        if (nd->ndim > 0) {
            count[0] = nd->shape[0] + 1;
            CHECK_EQ(b2c_nd_read(s, ctx, nd, start, count, step, out, nbytes, &err), B2C_E_RANGE);
        }
    }
    free(out);
}

static void test_arrays(void)
{
    for (int round = 0; round < 400; round++) {
        b2c_nd nd = random_nd(), back;
        uint64_t items = 1;
        for (uint32_t d = 0; d < nd.ndim; d++) {
            items *= nd.shape[d];
        }
        size_t nbytes = (size_t)items * nd.itemsize;
        uint8_t *src = malloc(nbytes + 1);
        for (size_t i = 0; i < nbytes; i++) {
            src[i] = (uint8_t)(below(3) ? i / nd.itemsize : harness_random(&seed));
        }
        b2c_schunk *s = new_array(&nd);
        b2c_error err = { 0 };
        CHECK_EQ(b2c_nd_append_all(s, parallel, &nd, src, nbytes + 1, NULL), B2C_E_ARGUMENT);
        CHECK_EQ(b2c_nd_append_all(s, parallel, &nd, src, nbytes, &err), B2C_OK);
        CHECK_EQ(b2c_nd_from_schunk(s, &back, &err), B2C_OK);
        if (b2c_nd_nchunks(&nd) > 0) {
            CHECK_EQ(back.itemsize, nd.itemsize);
        }
        for (int i = 0; i < 6; i++) {
            check_box(s, &nd, src);
        }
        b2c_schunk_free(s);
        free(src);
    }
}

/* Arrays of strangers whose chunks have other blocks than the array says. */
static void test_other_blocks(void)
{
    b2c_nd nd = { .size = sizeof nd, .ndim = 1, .itemsize = 4, .shape = { 1000 },
                  .chunks = { 500 }, .blocks = { 100 } };
    b2c_schunk *s = new_array(&nd);
    b2c_cparams cp;
    uint32_t src[1000], out[1000] = { 0 };
    uint8_t chunk[4096];
    size_t len = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        src[i] = i * i;
    }
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_BLOSCLZ;
    cp.typesize = 4;
    cp.blocksize = 64;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(b2c_compress(ctx, &cp, src + 500 * i, 2000, chunk, sizeof chunk, &len, NULL), B2C_OK);
        CHECK_EQ(b2c_schunk_append_chunk(s, chunk, len, NULL), B2C_OK);
    }
    uint64_t start = 90, count = 500, step = 1;
    CHECK_EQ(b2c_nd_read(s, parallel, &nd, &start, &count, &step, out, 2000, NULL), B2C_OK);
    CHECK(memcmp(out, src + 90, 2000) == 0);
    b2c_schunk_free(s);
}

static void test_missing_chunk(void)
{
    b2c_nd nd = { .size = sizeof nd, .ndim = 1, .itemsize = 1, .shape = { 100 }, .chunks = { 50 },
                  .blocks = { 50 } };
    b2c_schunk *s = new_array(&nd);
    uint8_t src[50] = { 1, 2, 3 }, out[100];
    uint64_t start = 0, count = 100, step = 1;
    b2c_error err = { 0 };
    CHECK_EQ(b2c_nd_append_chunk(s, ctx, &nd, 1, src, 50, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_nd_append_chunk(s, ctx, &nd, 0, src, 49, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_nd_append_chunk(s, ctx, &nd, 0, src, 50, &err), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, &start, &count, &step, out, 100, &err), B2C_E_TRUNCATED);
    CHECK_EQ(err.chunk, 1);
    step = 0;
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, &start, &count, &step, out, 100, &err), B2C_E_ARGUMENT);
    b2c_schunk_free(s);
}

int main(void)
{
    b2c_pool *pool = NULL;
    CHECK_EQ(b2c_pool_new(3, &pool, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(pool, 3, NULL, &parallel, NULL), B2C_OK);
    test_meta();
    test_check();
    test_arrays();
    test_other_blocks();
    test_missing_chunk();
    b2c_ctx_free(ctx);
    b2c_ctx_free(parallel);
    b2c_pool_free(pool);
    return RESULT();
}
