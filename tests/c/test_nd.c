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
    static const uint8_t want[] = { 0x97, 0,    2,    0x92, 0xd3, 0, 0,    0,   0,  0, 0,
                                    0,    5,    0xd3, 0,    0,    0, 0,    0,   0,  0, 7,
                                    0x92, 0xd2, 0,    0,    0,    4, 0xd2, 0,   0,  0, 5,
                                    0x92, 0xd2, 0,    0,    0,    3, 0xd2, 0,   0,  0, 2,
                                    0,    0xdb, 0,    0,    0,    3, '<',  'i', '4' };
    b2c_nd nd = { .size = sizeof nd,
                  .ndim = 2,
                  .itemsize = 4,
                  .shape = { 5, 7 },
                  .chunks = { 4, 5 },
                  .blocks = { 3, 2 } };
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
    b2c_nd nd = { .size = sizeof nd,
                  .ndim = 1,
                  .itemsize = 4,
                  .shape = { 5 },
                  .chunks = { 0 },
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
    b2c_nd huge = { .size = sizeof nd,
                    .ndim = 2,
                    .itemsize = 8,
                    .shape = { (uint64_t)1 << 40, (uint64_t)1 << 40 },
                    .chunks = { 1, 1 },
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
    b2c_nd nd = { .size = sizeof nd,
                  .ndim = 1,
                  .itemsize = 4,
                  .shape = { 1000 },
                  .chunks = { 500 },
                  .blocks = { 100 } };
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
        CHECK_EQ(b2c_compress(ctx, &cp, src + 500 * i, 2000, chunk, sizeof chunk, &len, NULL),
                 B2C_OK);
        CHECK_EQ(b2c_schunk_append_chunk(s, chunk, len, NULL), B2C_OK);
    }
    uint64_t start = 90, count = 500, step = 1;
    CHECK_EQ(b2c_nd_read(s, parallel, &nd, &start, &count, &step, out, 2000, NULL), B2C_OK);
    CHECK(memcmp(out, src + 90, 2000) == 0);
    b2c_schunk_free(s);
}

static void test_missing_chunk(void)
{
    b2c_nd nd = { .size = sizeof nd,
                  .ndim = 1,
                  .itemsize = 1,
                  .shape = { 100 },
                  .chunks = { 50 },
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

/* ---- editing ---- */

/* An array in memory and the items that it should have. */
typedef struct model {
    b2c_nd nd;
    b2c_schunk *s;
    uint8_t *items;
} model;

static uint64_t nitems(const b2c_nd *nd)
{
    uint64_t n = 1;
    for (uint32_t d = 0; d < nd->ndim; d++) {
        n *= nd->shape[d];
    }
    return n;
}

static void fill(uint8_t *p, size_t n)
{
    bool is_noise = below(4) != 0;
    for (size_t i = 0; i < n; i++) {
        p[i] = is_noise ? (uint8_t)harness_random(&seed) : 0;
    }
}

static model new_model(void)
{
    model m = { .nd = random_nd() };
    size_t n = (size_t)nitems(&m.nd) * m.nd.itemsize;
    m.items = malloc(n + 1);
    fill(m.items, n);
    m.s = new_array(&m.nd);
    CHECK_EQ(b2c_nd_append_all(m.s, ctx, &m.nd, m.items, n, NULL), B2C_OK);
    return m;
}

static void free_model(model *m)
{
    b2c_schunk_free(m->s);
    free(m->items);
}

/* The whole array is the model's, and so is its stored metalayer. */
static void check_model(const model *m)
{
    uint64_t zero[16] = { 0 }, one[16];
    size_t n = (size_t)nitems(&m->nd) * m->nd.itemsize;
    uint8_t *out = malloc(n + 1);
    b2c_nd stored;
    for (int d = 0; d < 16; d++) {
        one[d] = 1;
    }
    CHECK_EQ(b2c_nd_read(m->s, parallel, &m->nd, zero, m->nd.shape, one, out, n, NULL), B2C_OK);
    CHECK(memcmp(out, m->items, n) == 0);
    CHECK_EQ(b2c_nd_from_schunk(m->s, &stored, NULL), B2C_OK);
    CHECK(memcmp(stored.shape, m->nd.shape, m->nd.ndim * sizeof *stored.shape) == 0);
    b2c_schunk_info info;
    b2c_schunk_info_get(m->s, &info);
    CHECK_EQ(info.nchunks, b2c_nd_nchunks(&m->nd));
    CHECK_EQ(info.nbytes, info.nchunks * b2c_nd_chunksize(&m->nd));
    free(out);
}

static void random_box(const b2c_nd *nd, uint64_t *start, uint64_t *count, uint64_t *step)
{
    for (uint32_t d = 0; d < nd->ndim; d++) {
        uint64_t n = nd->shape[d];
        step[d] = 1 + below(below(3) == 0 ? 9 : 2);
        start[d] = n == 0 ? 0 : below(n);
        count[d] = n == 0 ? 0 : below((n - 1 - start[d]) / step[d] + 2);
        if (below(3) == 0) { /* whole dimensions, so that chunks are covered */
            start[d] = 0;
            step[d] = 1;
            count[d] = n;
        }
        if (count[d] <= 1 && below(4) == 0) {
            step[d] = UINT64_MAX; /* of a single item it does not matter */
        }
    }
}

static void write_box(model *m, const uint64_t *start, const uint64_t *count, const uint64_t *step)
{
    uint64_t stride[16], total = 1;
    b2i_strides(m->nd.ndim, m->nd.shape, m->nd.itemsize, stride);
    for (uint32_t d = 0; d < m->nd.ndim; d++) {
        total *= count[d];
    }
    size_t n = (size_t)total * m->nd.itemsize;
    uint8_t *src = malloc(n + 1);
    fill(src, n);
    CHECK_EQ(b2c_nd_write(m->s, parallel, &m->nd, start, count, step, src, n + 1, NULL),
             B2C_E_ARGUMENT);
    CHECK_EQ(
        b2c_nd_write(m->s, below(2) ? ctx : parallel, &m->nd, start, count, step, src, n, NULL),
        B2C_OK);
    for (uint64_t i = 0; i < total; i++) {
        uint64_t coord[16], at = 0;
        b2i_unrank(m->nd.ndim, count, i, coord);
        for (uint32_t d = 0; d < m->nd.ndim; d++) {
            at += (start[d] + coord[d] * step[d]) * stride[d];
        }
        memcpy(m->items + at, src + i * m->nd.itemsize, m->nd.itemsize);
    }
    free(src);
}

static void test_write(void)
{
    for (int round = 0; round < 200; round++) {
        model m = new_model();
        uint64_t start[16], count[16], step[16];
        for (int i = 0; i < 5; i++) {
            random_box(&m.nd, start, count, step);
            write_box(&m, start, count, step);
        }
        check_model(&m);
        if (m.nd.ndim > 0) {
            uint8_t byte = 0;
            start[0] = 0;
            step[0] = 1;
            count[0] = m.nd.shape[0] + 1;
            CHECK_EQ(b2c_nd_write(m.s, ctx, &m.nd, start, count, step, &byte, 1, NULL),
                     B2C_E_RANGE);
            step[0] = 0;
            CHECK_EQ(b2c_nd_write(m.s, ctx, &m.nd, start, count, step, &byte, 1, NULL),
                     B2C_E_ARGUMENT);
        }
        free_model(&m);
    }
}

/* The model's items in another shape. */
static uint8_t *reshaped(const model *m, const b2c_nd *to)
{
    uint64_t n = nitems(to), stride[16];
    uint8_t *out = calloc(1, (size_t)n * to->itemsize + 1);
    b2i_strides(m->nd.ndim, m->nd.shape, m->nd.itemsize, stride);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t coord[16], at = 0;
        bool is_old = true;
        b2i_unrank(to->ndim, to->shape, i, coord);
        for (uint32_t d = 0; d < to->ndim; d++) {
            is_old = is_old && coord[d] < m->nd.shape[d];
            at += coord[d] * stride[d];
        }
        if (is_old) {
            memcpy(out + i * to->itemsize, m->items + at, to->itemsize);
        }
    }
    return out;
}

static void resize(model *m, const uint64_t *shape)
{
    b2c_nd to = m->nd;
    memcpy(to.shape, shape, to.ndim * sizeof *shape);
    uint8_t *items = reshaped(m, &to);
    CHECK_EQ(b2c_nd_resize(m->s, below(2) ? ctx : parallel, &m->nd, shape, NULL), B2C_OK);
    CHECK(memcmp(m->nd.shape, to.shape, to.ndim * sizeof *shape) == 0);
    free(m->items);
    m->items = items;
}

static void test_resize(void)
{
    for (int round = 0; round < 200; round++) {
        model m = new_model();
        uint64_t start[16], count[16], step[16];
        for (int i = 0; i < 5; i++) {
            uint64_t shape[16];
            for (uint32_t d = 0; d < m.nd.ndim; d++) {
                shape[d] = below(3) == 0 ? m.nd.shape[d] : below(12) + (below(12) != 0);
            }
            resize(&m, shape);
            check_model(&m);
            random_box(&m.nd, start, count, step);
            write_box(&m, start, count, step);
        }
        check_model(&m);
        free_model(&m);
    }
}

static void test_resize_errors(void)
{
    b2c_nd nd = { .size = sizeof nd,
                  .ndim = 1,
                  .itemsize = 1,
                  .shape = { 100 },
                  .chunks = { 50 },
                  .blocks = { 50 } };
    b2c_schunk *s = new_array(&nd);
    uint8_t src[100] = { 1, 2, 3 };
    uint64_t shape = 200;
    b2c_nd other = nd;
    b2c_error err;
    CHECK_EQ(b2c_nd_append_chunk(s, ctx, &nd, 0, src, 50, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, &shape, &err), B2C_E_CORRUPT); /* a chunk is missing */
    CHECK(err.expected == 2 && err.actual == 1);
    CHECK_EQ(b2c_nd_append_chunk(s, ctx, &nd, 1, src, 50, NULL), B2C_OK);
    other.shape[0] = 99;
    CHECK_EQ(b2c_nd_resize(s, ctx, &other, &shape, &err), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "nd") == 0);
    shape = (uint64_t)1 << 40;
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, &shape, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, NULL, &err), B2C_E_ARGUMENT);
    CHECK_EQ(nd.shape[0], 100);
    shape = 75;
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, &shape, &err), B2C_OK);
    b2c_schunk_free(s);
}

/* After each allocation that fails in an edit, the array is as it was. */
static void test_all_or_nothing(void)
{
    b2c_nd nd = { .size = sizeof nd,
                  .ndim = 2,
                  .itemsize = 4,
                  .shape = { 9, 11 },
                  .chunks = { 4, 5 },
                  .blocks = { 3, 2 } };
    model m = { .nd = nd, .s = new_array(&nd), .items = malloc(9 * 11 * 4) };
    uint64_t start[] = { 1, 2 }, count[] = { 8, 9 }, step[] = { 1, 1 }, shape[] = { 13, 7 };
    uint64_t back[] = { 9, 11 };
    uint8_t src[8 * 9 * 4];
    seed = 11;
    fill(m.items, 9 * 11 * 4);
    memset(src, 7, sizeof src);
    CHECK_EQ(b2c_nd_append_all(m.s, ctx, &nd, m.items, 9 * 11 * 4, NULL), B2C_OK);
    b2c_status st = B2C_E_MEMORY;
    int failures = 0;
    for (uint64_t n = 1; st != B2C_OK; n++, failures++) {
        b2i_alloc_fail_at(n, true);
        st = b2c_nd_write(m.s, ctx, &m.nd, start, count, step, src, sizeof src, NULL);
        b2i_alloc_fail_at(0, false);
        if (st != B2C_OK) {
            CHECK_EQ(st, B2C_E_MEMORY);
            check_model(&m);
        }
    }
    CHECK(failures > 5);
    write_box(&m, start, count, step);
    st = B2C_E_MEMORY;
    failures = 0;
    for (uint64_t n = 1; st != B2C_OK; n++, failures++) {
        b2c_nd before = m.nd;
        b2i_alloc_fail_at(n, true);
        st = b2c_nd_resize(m.s, ctx, &m.nd, shape, NULL);
        b2i_alloc_fail_at(0, false);
        if (st != B2C_OK) {
            CHECK_EQ(st, B2C_E_MEMORY);
            CHECK(memcmp(&before, &m.nd, sizeof before) == 0);
            check_model(&m);
        }
    }
    CHECK(failures > 5);
    CHECK_EQ(b2c_nd_resize(m.s, ctx, &m.nd, back, NULL), B2C_OK);
    free_model(&m);
}

static void test_points(void)
{
    for (int round = 0; round < 200; round++) {
        model m = new_model();
        uint64_t stride[16], n = nitems(&m.nd) == 0 ? 0 : below(60);
        uint64_t *coords = malloc(n * 16 * sizeof *coords + 1);
        uint8_t *out = malloc((size_t)n * m.nd.itemsize + 1);
        int wrong = 0;
        b2i_strides(m.nd.ndim, m.nd.shape, m.nd.itemsize, stride);
        for (uint64_t i = 0; i < n * m.nd.ndim; i++) {
            coords[i] = below(m.nd.shape[i % m.nd.ndim]);
        }
        CHECK_EQ(b2c_nd_read_points(m.s, below(2) ? ctx : parallel, &m.nd, coords, n, out,
                                    (size_t)n * m.nd.itemsize, NULL),
                 B2C_OK);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = 0;
            for (uint32_t d = 0; d < m.nd.ndim; d++) {
                at += coords[i * m.nd.ndim + d] * stride[d];
            }
            wrong += memcmp(out + i * m.nd.itemsize, m.items + at, m.nd.itemsize) != 0;
        }
        CHECK_EQ(wrong, 0);
        if (n > 0) {
            CHECK_EQ(b2c_nd_read_points(m.s, ctx, &m.nd, coords, n, out,
                                        (size_t)n * m.nd.itemsize - 1, NULL),
                     B2C_E_OUTPUT_SIZE);
        }
        if (n > 0 && m.nd.ndim > 0) {
            coords[0] = m.nd.shape[0];
            CHECK_EQ(b2c_nd_read_points(m.s, ctx, &m.nd, coords, n, out, (size_t)n * m.nd.itemsize,
                                        NULL),
                     B2C_E_RANGE);
        }
        free(coords);
        free(out);
        free_model(&m);
    }
}

/* Large steps visit the chunks of their items, not all that lie between. */
static void test_long_steps(void)
{
    b2c_nd nd = { .size = sizeof nd,
                  .ndim = 1,
                  .itemsize = 1,
                  .shape = { INT64_MAX },
                  .chunks = { 1 },
                  .blocks = { 1 } };
    b2c_schunk *s = new_array(&nd);
    uint64_t start = 0, count = 3, step = (uint64_t)1 << 61, place = INT64_MAX - 1;
    uint8_t out[3], one = 1;
    b2c_error err;
    CHECK_EQ(b2c_nd_append_chunk(s, ctx, &nd, 0, &one, 1, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, &start, &count, &step, out, 3, &err), B2C_E_TRUNCATED);
    CHECK_EQ(err.chunk, (int64_t)step);
    CHECK_EQ(out[0], 1);
    CHECK_EQ(b2c_nd_write(s, ctx, &nd, &start, &count, &step, out, 3, &err), B2C_E_TRUNCATED);
    CHECK_EQ(b2c_nd_read_points(s, ctx, &nd, &place, 1, out, 1, &err), B2C_E_TRUNCATED);
    b2c_schunk_free(s);
}

/* The predecessor's metalayer: an array of five under another name, without a dtype. */
static void test_caterva(void)
{
    static const uint8_t meta[] = { 0x95, 0,    1, 0x91, 0xd3, 0, 0,    0,    0, 0, 0, 0, 5,
                                    0x91, 0xd2, 0, 0,    0,    4, 0x91, 0xd2, 0, 0, 0, 3 };
    const char *name = "caterva";
    const void *content = meta;
    uint32_t meta_len = sizeof meta;
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_nd nd;
    uint16_t src[5] = { 1, 2, 3, 4, 5 }, out[7];
    uint64_t start = 0, count = 7, step = 1, shape = 7;
    b2c_schunk_params_init(&p);
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    p.cparams.typesize = 2;
    p.cparams.blocksize = 6;
    p.chunksize = 12;
    p.nmeta = 1;
    p.meta_names = &name;
    p.meta_contents = &content;
    p.meta_lens = &meta_len;
    CHECK_EQ(b2c_schunk_new(&p, &s, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_from_schunk(s, &nd, NULL), B2C_OK);
    CHECK(nd.ndim == 1 && nd.shape[0] == 5 && nd.chunks[0] == 4 && nd.blocks[0] == 3);
    CHECK_EQ(nd.itemsize, 2);
    CHECK_EQ(b2c_nd_append_all(s, ctx, &nd, src, sizeof src, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, &shape, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_from_schunk(s, &nd, NULL), B2C_OK);
    CHECK_EQ(nd.shape[0], 7);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, &start, &count, &step, out, sizeof out, NULL), B2C_OK);
    CHECK(memcmp(out, src, sizeof src) == 0 && out[5] == 0 && out[6] == 0);
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
    test_write();
    test_resize();
    test_resize_errors();
    test_all_or_nothing();
    test_points();
    test_long_steps();
    test_caterva();
    b2c_ctx_free(ctx);
    b2c_ctx_free(parallel);
    b2c_pool_free(pool);
    return RESULT();
}
