/*
 * test_nd.c: the b2nd metalayer, geometry, and boxes against plain loops.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "nd_array.h"

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
    b2c_nd nd = { sizeof nd, 2, 4, { 5, 7 }, { 4, 5 }, { 3, 2 } };
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
    b2c_nd nd = { sizeof nd, 1, 4, { 5 }, { 0 }, { 0 } };
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
    b2c_nd huge = { sizeof nd, 2, 8, { (uint64_t)1 << 40, (uint64_t)1 << 40 }, { 1, 1 }, { 1, 1 } };
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
    return nd_array_new(nd, NULL, (uint8_t)below(4));
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
            const uint32_t d = (uint32_t)below(nd->ndim);
            char axis[32];
            (void)snprintf(axis, sizeof axis, "along axis %u", d);
            count[d] = nd->shape[d] + 1;
            CHECK_EQ(b2c_nd_read(s, ctx, nd, start, count, step, out, nbytes, &err), B2C_E_RANGE);
            CHECK(strcmp(strstr(err.what, "along"), axis) == 0);
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
        CHECK_EQ(
            b2c_nd_append_chunks(s, parallel, &nd, 0, b2c_nd_nchunks(&nd), src, nbytes + 1, NULL),
            B2C_E_ARGUMENT);
        CHECK_EQ(b2c_nd_append_chunks(s, parallel, &nd, 0, b2c_nd_nchunks(&nd), src, nbytes, &err),
                 B2C_OK);
        const void *dtype = NULL;
        size_t dtype_len = 0;
        CHECK_EQ(b2c_nd_open(s, &back, &dtype, &dtype_len, &err), B2C_OK);
        CHECK(dtype_len == 3 && memcmp(dtype, "|u1", 3) == 0);
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

/* Chunks that make boxes, a few at a time: the same array as all at once. */
static void test_append_boxes(void)
{
    b2c_nd nd = { sizeof nd, 2, 2, { 7, 11 }, { 3, 4 }, { 2, 2 } };
    uint16_t src[77], out[77], part[77];
    uint64_t start[2] = { 0, 0 }, step[2] = { 1, 1 };
    b2c_error err;
    b2c_schunk *s = new_array(&nd);
    for (uint16_t i = 0; i < 77; i++) {
        src[i] = i;
    }
    CHECK_EQ(b2c_nd_append_chunks(s, parallel, &nd, 0, 3, src, 66, NULL), B2C_OK); /* a row */
    CHECK_EQ(b2c_nd_append_chunks(s, parallel, &nd, 4, 1, src, 66, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_nd_append_chunks(s, parallel, &nd, 3, 4, src, 66, &err), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "nchunks") == 0);
    CHECK_EQ(b2c_nd_append_chunks(s, parallel, &nd, 3, 7, src, 66, &err), B2C_E_ARGUMENT);
    for (int i = 0; i < 3; i++) {
        memcpy(part + 4 * i, src + 33 + 11 * i, 8);
        memcpy(part + 20 + 7 * i, src + 37 + 11 * i, 14);
    }
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 3, 1, part, 24, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 4, 2, part + 20, 42, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 6, 3, src + 66, 20, NULL), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 6, 3, src + 66, 22, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 9, 0, NULL, 0, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, start, nd.shape, step, out, sizeof out, NULL), B2C_OK);
    CHECK(memcmp(out, src, sizeof src) == 0);
    b2c_schunk_free(s);
}

/* Arrays of strangers whose chunks have other blocks than the array says. */
static void test_other_blocks(void)
{
    b2c_nd nd = { sizeof nd, 1, 4, { 1000 }, { 500 }, { 100 } };
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
    b2c_nd nd = { sizeof nd, 1, 1, { 100 }, { 50 }, { 50 } };
    b2c_schunk *s = new_array(&nd);
    uint8_t src[50] = { 1, 2, 3 }, out[100];
    uint64_t start = 0, count = 100, step = 1;
    b2c_error err = { 0 };
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 1, 1, src, 50, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, src, 49, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, src, 50, &err), B2C_OK);
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
    CHECK_EQ(b2c_nd_append_chunks(m.s, ctx, &m.nd, 0, b2c_nd_nchunks(&m.nd), m.items, n, NULL),
             B2C_OK);
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
    size_t room = n + m->nd.itemsize + 1;
    uint8_t *src = malloc(room);
    fill(src, room);
    CHECK_EQ(b2c_nd_write(m->s, parallel, &m->nd, start, count, step, src, room, NULL),
             B2C_E_ARGUMENT);
    size_t given = below(3) == 0 ? m->nd.itemsize : n; /* one item for all, or each */
    CHECK_EQ(
        b2c_nd_write(m->s, below(2) ? ctx : parallel, &m->nd, start, count, step, src, given, NULL),
        B2C_OK);
    for (uint64_t i = 0; i < total; i++) {
        uint64_t coord[16], at = 0;
        b2i_unrank(m->nd.ndim, count, i, coord);
        for (uint32_t d = 0; d < m->nd.ndim; d++) {
            at += (start[d] + coord[d] * step[d]) * stride[d];
        }
        memcpy(m->items + at, src + (given == n ? i * m->nd.itemsize : 0), m->nd.itemsize);
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

/* Arrays whose frame says that chunks have several sizes, or has another type size. */
static void test_resize_odd(void)
{
    b2c_nd nd = { sizeof nd, 2, 12, { 8, 9 }, { 3, 5 }, { 3, 5 } }; /* chunks of 180 bytes */
    const uint64_t shapes[][2] = { { 13, 7 }, { 2, 21 }, { 0, 4 }, { 5, 30 } };
    for (int is_odd = 0; is_odd < 3; is_odd++) {
        model m = { .nd = nd, .s = new_array(&nd), .items = malloc(8 * 9 * 12) };
        fill(m.items, 8 * 9 * 12);
        CHECK_EQ(b2c_nd_append_chunks(m.s, ctx, &nd, 0, 6, m.items, 8 * 9 * 12, NULL), B2C_OK);
        if (is_odd == 1) {
            CHECK_EQ(b2c_schunk_insert(m.s, ctx, 2, "short", 5, NULL), B2C_OK);
            CHECK_EQ(b2c_schunk_delete_chunk(m.s, 2, NULL), B2C_OK);
            CHECK(m.s->now.ends != NULL);
        }
        if (is_odd == 2) {
            m.s->now.cparams.typesize = 8;
        }
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            resize(&m, shapes[i]);
            check_model(&m);
        }
        free_model(&m);
    }
}

/* Chunks that cannot stay in the index have blocks of the array's size, as other libraries ask. */
static void test_blocks_of_stored_zeros(void)
{
    b2c_nd nd = { sizeof nd, 1, 4, { 40 }, { 20 }, { 5 } };
    b2c_schunk *s = new_array(&nd);
    CHECK_EQ(b2c_schunk_fill_special(s, 160, B2C_SPECIAL_ZERO, NULL, NULL), B2C_OK);
    CHECK_EQ(b2c_schunk_insert(s, ctx, 1, "short", 5, NULL), B2C_OK);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 1, NULL), B2C_OK);
    for (uint64_t i = 0; i < 2; i++) {
        b2c_chunk_info info;
        CHECK_EQ(b2c_schunk_chunk_info(s, i, &info, NULL), B2C_OK);
        CHECK_EQ(info.special, B2C_SPECIAL_VALUE);
        CHECK_EQ(info.blocksize, 20);
    }
    b2c_schunk_free(s);
}

/* Also where something has been cut off. */
static void test_append(void)
{
    for (int round = 0; round < 200; round++) {
        model m = new_model();
        for (int i = 0; m.nd.ndim > 0 && i < 5; i++) {
            uint32_t axis = below(m.nd.ndim);
            uint64_t shape[16], n = below(9), stride[16], nbytes = m.nd.itemsize * n;
            memcpy(shape, m.nd.shape, sizeof shape);
            shape[axis] -= below((uint32_t)shape[axis] + 1) / 2;
            resize(&m, shape);
            b2c_nd to = m.nd;
            to.shape[axis] += n;
            for (uint32_t d = 0; d < m.nd.ndim; d++) {
                nbytes *= d == axis ? 1 : m.nd.shape[d];
            }
            uint8_t *items = reshaped(&m, &to), *src = malloc(nbytes + 1);
            fill(src, nbytes);
            CHECK_EQ(
                b2c_nd_append(m.s, below(2) ? ctx : parallel, &m.nd, axis, n, src, nbytes, NULL),
                B2C_OK);
            CHECK(memcmp(m.nd.shape, to.shape, sizeof shape) == 0);
            /* The new items are the ends of runs along the axis and those after it. */
            b2i_strides(to.ndim, to.shape, to.itemsize, stride);
            uint64_t run = n * stride[axis], step = to.shape[axis] * stride[axis];
            for (uint64_t k = 0; nbytes > 0 && k < nbytes / run; k++) {
                memcpy(items + (k + 1) * step - run, src + k * run, run);
            }
            free(src);
            free(m.items);
            m.items = items;
            check_model(&m);
        }
        free_model(&m);
    }
}

/* Chunks that are too few, too many, or of another size than the others. */
static void test_chunks_that_do_not_fit(void)
{
    b2c_nd nd = { sizeof nd, 1, 1, { 100 }, { 40 }, { 40 } };
    b2c_schunk *s = new_array(&nd);
    uint8_t src[120] = { 1, 2, 3 };
    b2c_error err;
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 2, src, 80, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_check_chunks(s, &nd, &err), B2C_E_TRUNCATED);
    CHECK(err.expected == 3 && err.actual == 2);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 2, 1, src, 20, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_check_chunks(s, &nd, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 2, src, 39, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_check_chunks(s, &nd, &err), B2C_E_CORRUPT);
    CHECK(err.chunk == 2 && err.expected == 40 && err.actual == 39);
    CHECK_EQ(b2c_schunk_append(s, ctx, src, 40, NULL), B2C_OK); /* now sizes vary */
    CHECK_EQ(b2c_nd_check_chunks(s, &nd, &err), B2C_E_CORRUPT);
    CHECK(err.chunk == B2C_NO_NUMBER && err.expected == 3 && err.actual == 4);
    nd.shape[0] = 160;
    CHECK_EQ(b2c_nd_check_chunks(s, &nd, &err), B2C_E_CORRUPT);
    CHECK(err.chunk == 2 && err.expected == 40 && err.actual == 39);
    b2c_schunk_free(s);
}

static void test_resize_errors(void)
{
    b2c_nd nd = { sizeof nd, 1, 1, { 100 }, { 50 }, { 50 } };
    b2c_schunk *s = new_array(&nd);
    uint8_t src[100] = { 1, 2, 3 };
    uint64_t shape = 200;
    b2c_nd other = nd;
    b2c_error err;
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, src, 50, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, &shape, &err), B2C_E_TRUNCATED); /* a chunk is missing */
    CHECK(err.expected == 2 && err.actual == 1);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 1, 1, src, 50, NULL), B2C_OK);
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

enum { THIN = 640 }; /* rows and columns; a column runs through more blocks than are kept */

static b2c_schunk *new_thin(b2c_nd *nd, uint32_t *items)
{
    *nd = (b2c_nd){ .size = sizeof *nd,
                    .ndim = 2,
                    .itemsize = 4,
                    .shape = { THIN, THIN },
                    .chunks = { 64, THIN },
                    .blocks = { 8, THIN } };
    b2c_schunk *s = new_array(nd);
    for (uint32_t i = 0; i < THIN * THIN; i++) {
        items[i] = i * 3;
    }
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, nd, 0, b2c_nd_nchunks(nd), items, THIN * THIN * 4, NULL),
             B2C_OK);
    return s;
}

/* After each allocation that fails, columns in turn are what they were. */
static void test_columns_without_memory(void)
{
    b2c_nd nd;
    uint32_t *items = malloc(THIN * THIN * 4), column[THIN];
    const uint64_t count[] = { THIN, 1 }, step[] = { 1, 1 };
    b2c_schunk *s = new_thin(&nd, items);
    int failures = 0, wrong = 0;
    bool some_failed = true;
    for (uint64_t n = 1; some_failed; n++) {
        b2c_ctx *own = NULL;
        CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &own, NULL), B2C_OK);
        some_failed = false;
        static const uint64_t columns[] = { 20, 21, 22, 23, 300, 600, 9 }; /* near, then far */
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            const uint64_t c = columns[k], start[] = { 0, c };
            b2i_alloc_fail_at(n, c % 3 == 1); /* one, or all from the n-th on */
            b2c_status st =
                b2c_nd_read(s, own, &nd, start, count, step, column, sizeof column, NULL);
            some_failed = some_failed || b2i_alloc_count() >= n;
            b2i_alloc_fail_at(0, false);
            CHECK(st == B2C_OK || st == B2C_E_MEMORY);
            failures += st != B2C_OK;
            for (uint64_t i = 0; st == B2C_OK && i < THIN; i++) {
                wrong += column[i] != items[i * THIN + c];
            }
        }
        b2c_ctx_free(own);
    }
    CHECK_EQ(wrong, 0);
    CHECK(failures > 5);
    b2c_schunk_free(s);
    free(items);
}

/*
 * Where there is one item, the step means nothing; and an array may be described in several ways.
 */
static void test_columns_of_any_step_and_kind(void)
{
    b2c_nd nd, bytes;
    uint32_t *items = malloc(THIN * THIN * 4), column[THIN];
    b2c_schunk *s = new_thin(&nd, items);
    static const uint64_t steps[] = { 5, (uint64_t)1 << 40, UINT64_MAX };
    const uint64_t count[] = { THIN, 1 }, ones[] = { 1, 1 };
    int wrong = 0;
    bytes = nd;
    bytes.itemsize = 1;
    bytes.shape[1] = bytes.chunks[1] = bytes.blocks[1] = THIN * 4;
    for (uint64_t c = 0; c < 30; c++) {
        const uint64_t step[] = { 1, steps[c % 3] }, start[] = { 0, c < 20 ? THIN - 20 + c : c };
        uint8_t one[THIN];
        CHECK_EQ(b2c_nd_read(s, ctx, &bytes, start, count, ones, one, sizeof one, NULL), B2C_OK);
        CHECK_EQ(b2c_nd_read(s, ctx, &nd, start, count, step, column, sizeof column, NULL), B2C_OK);
        for (uint64_t i = 0; i < THIN; i++) {
            wrong += column[i] != items[i * THIN + start[1]];
            wrong += one[i] != ((uint8_t *)items)[i * THIN * 4 + start[1]];
        }
        for (uint64_t i = 0; i < THIN; i += 31) { /* and through the blocks that are kept */
            const uint64_t at[] = { i, start[1] }, item[] = { 1, 1 };
            CHECK_EQ(b2c_nd_read(s, ctx, &bytes, at, item, ones, one, 1, NULL), B2C_OK);
            CHECK_EQ(b2c_nd_read(s, ctx, &nd, at, item, ones, column, 4, NULL), B2C_OK);
            wrong += column[0] != items[i * THIN + start[1]];
            wrong += one[0] != ((uint8_t *)items)[i * THIN * 4 + start[1]];
        }
    }
    CHECK_EQ(wrong, 0);
    b2c_schunk_free(s);
    free(items);
}

/* Writes n bytes to a box, after each allocation that fails in that; nothing changes before. */
static void write_without_memory(model *m, const uint64_t *start, const uint64_t *count,
                                 const uint64_t *step, const uint8_t *src, size_t n)
{
    b2c_status st = B2C_E_MEMORY;
    int failures = 0;
    for (uint64_t at = 1; st != B2C_OK; at++, failures++) {
        b2i_alloc_fail_at(at, true);
        st = b2c_nd_write(m->s, ctx, &m->nd, start, count, step, src, n, NULL);
        b2i_alloc_fail_at(0, false);
        if (st != B2C_OK) {
            CHECK_EQ(st, B2C_E_MEMORY);
            check_model(m);
        }
    }
    CHECK(failures > 5);
}

/* The same for two rows more of 11 items. */
static void append_without_memory(model *m)
{
    b2c_status st = B2C_E_MEMORY;
    uint8_t src[2 * 11 * 4] = { 1, 2, 3 };
    for (uint64_t n = 1; st != B2C_OK; n++) {
        b2c_nd before = m->nd;
        b2i_alloc_fail_at(n, true);
        st = b2c_nd_append(m->s, ctx, &m->nd, 0, 2, src, sizeof src, NULL);
        b2i_alloc_fail_at(0, false);
        if (st != B2C_OK) {
            CHECK_EQ(st, B2C_E_MEMORY);
            CHECK(memcmp(&before, &m->nd, sizeof before) == 0);
            check_model(m);
        }
    }
    CHECK(m->nd.shape[0] == 11);
}

/* After each allocation that fails in an edit, the array is as it was. */
static void test_all_or_nothing(void)
{
    b2c_nd nd = { sizeof nd, 2, 4, { 9, 11 }, { 4, 5 }, { 3, 2 } };
    model m = { .nd = nd, .s = new_array(&nd), .items = malloc(9 * 11 * 4) };
    uint64_t start[] = { 1, 2 }, count[] = { 8, 9 }, step[] = { 1, 1 }, shape[] = { 13, 7 };
    uint64_t back[] = { 9, 11 };
    uint8_t src[8 * 9 * 4];
    seed = 11;
    fill(m.items, 9 * 11 * 4);
    memset(src, 7, sizeof src);
    CHECK_EQ(b2c_nd_append_chunks(m.s, ctx, &nd, 0, b2c_nd_nchunks(&nd), m.items, 9 * 11 * 4, NULL),
             B2C_OK);
    write_without_memory(&m, start, count, step, src, sizeof src);
    write_box(&m, start, count, step);
    memset(src, 0, 4); /* one item for all: chunks of nothing else are not made item by item */
    write_without_memory(&m, start, count, step, src, 4);
    write_box(&m, start, count, step);
    append_without_memory(&m);
    resize(&m, back);
    b2c_status st = B2C_E_MEMORY;
    int failures = 0;
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

/* The same for a resize in a transaction, which then goes on, rolled back and committed. */
static void test_resize_in_transaction(void)
{
    b2c_nd nd = { sizeof nd, 2, 4, { 9, 11 }, { 4, 5 }, { 3, 2 } };
    const uint64_t shapes[][2] = { { 13, 7 }, { 9, 21 }, { 3, 4 }, { 0, 4 }, { 5, 30 }, { 20, 2 } };
    model m = { .nd = nd, .s = new_array(&nd), .items = malloc(9 * 11 * 4) };
    seed = 12;
    fill(m.items, 9 * 11 * 4);
    CHECK_EQ(b2c_nd_append_chunks(m.s, ctx, &nd, 0, b2c_nd_nchunks(&nd), m.items, 9 * 11 * 4, NULL),
             B2C_OK);
    for (size_t i = 0; i < 2 * (sizeof shapes / sizeof *shapes); i++) {
        const uint64_t *shape = shapes[i / 2];
        b2c_status st = B2C_E_MEMORY;
        b2c_nd before = m.nd;
        CHECK_EQ(b2c_schunk_begin(m.s, NULL), B2C_OK);
        for (uint64_t n = 1; st == B2C_E_MEMORY; n++) {
            b2i_alloc_fail_at(n, true);
            st = b2c_nd_resize(m.s, ctx, &m.nd, shape, NULL);
            b2i_alloc_fail_at(0, false);
            if (st == B2C_E_MEMORY) {
                CHECK(memcmp(&before, &m.nd, sizeof before) == 0);
                check_model(&m);
            }
        }
        CHECK_EQ(st, B2C_OK);
        m.nd = before;
        if (i % 2 == 0) {
            CHECK_EQ(b2c_schunk_rollback(m.s, NULL), B2C_OK);
        } else {
            CHECK_EQ(b2c_schunk_commit(m.s, NULL), B2C_OK);
            memcpy(before.shape, shape, 2 * sizeof *shape);
            uint8_t *items = reshaped(&m, &before);
            free(m.items);
            m.items = items;
            m.nd = before;
        }
        check_model(&m);
    }
    free_model(&m);
}

/* Zeros that the index cannot tell are stored one by one: a transaction ends where that fails. */
static void test_resize_of_stored_zeros(void)
{
    b2c_nd nd = { sizeof nd, 2, 12, { 8, 9 }, { 3, 5 }, { 3, 5 } }; /* chunks of 180 bytes */
    const uint64_t shape[] = { 13, 21 };
    model m = { .nd = nd, .s = new_array(&nd), .items = malloc(8 * 9 * 12) };
    b2c_status st = B2C_E_MEMORY;
    fill(m.items, 8 * 9 * 12);
    CHECK_EQ(b2c_nd_append_chunks(m.s, ctx, &nd, 0, 6, m.items, 8 * 9 * 12, NULL), B2C_OK);
    m.s->now.cparams.typesize = 8;
    for (uint64_t n = 1; st == B2C_E_MEMORY; n++) {
        CHECK_EQ(b2c_schunk_begin(m.s, NULL), B2C_OK);
        b2i_alloc_fail_at(n, true);
        st = b2c_nd_resize(m.s, ctx, &m.nd, shape, NULL);
        b2i_alloc_fail_at(0, false);
        if (b2c_schunk_commit(m.s, NULL) == B2C_OK) {
            CHECK_EQ(b2c_nd_check_chunks(m.s, &m.nd, NULL), B2C_OK);
        }
        if (st != B2C_OK) {
            CHECK_EQ(st, B2C_E_MEMORY);
            check_model(&m);
        }
    }
    CHECK_EQ(st, B2C_OK);
    free_model(&m);
}

/* Random places along some dimensions of a model, and a box along the others. */
typedef struct place_list {
    b2c_nd_places p;
    uint64_t coords[60 * 16];
    uint64_t ncoords[16]; /* used when the places are combinations */
    uint64_t start[16], count[16], step[16];
    uint64_t row; /* items of the box */
} place_list;

/* Single places, or combinations of coordinates along each axis. */
static void random_coords(const b2c_nd *nd, place_list *list)
{
    b2c_nd_places *p = &list->p;
    uint64_t n = 0;
    p->nplaces = below(60);
    for (uint32_t i = 0; i < p->naxes; i++) {
        p->nplaces = nd->shape[p->axes[i]] == 0 ? 0 : p->nplaces;
    }
    if (below(2) == 0) {
        for (; n < p->nplaces * p->naxes; n++) {
            list->coords[n] = below(nd->shape[p->axes[n % p->naxes]]);
        }
        return;
    }
    p->ncoords = list->ncoords;
    p->nplaces = 1;
    for (uint32_t i = 0; i < p->naxes; i++) {
        uint64_t size = nd->shape[p->axes[i]], most = p->naxes > 2 ? 3 : 9;
        list->ncoords[i] = size == 0 ? 0 : below(most) + (below(8) != 0);
        for (uint64_t k = 0; k < list->ncoords[i]; k++) {
            list->coords[n++] = below(size);
        }
        p->nplaces *= list->ncoords[i];
    }
}

/* The coordinate of place k along the i-th axis of the places. */
static uint64_t coord_of(const place_list *list, uint64_t k, uint32_t i)
{
    const b2c_nd_places *p = &list->p;
    const uint64_t *coords = list->coords;
    if (p->ncoords == NULL) {
        return coords[k * p->naxes + i];
    }
    for (uint32_t a = p->naxes; a-- > i + 1;) {
        k /= p->ncoords[a];
    }
    for (uint32_t a = 0; a < i; a++) {
        coords += p->ncoords[a];
    }
    return coords[k % p->ncoords[i]];
}

static void random_places(const b2c_nd *nd, place_list *list)
{
    *list = (place_list){ .p = { .size = sizeof list->p }, .row = 1 };
    b2c_nd_places *p = &list->p;
    random_box(nd, list->start, list->count, list->step);
    for (uint32_t d = 0; d < nd->ndim; d++) {
        if (below(2) != 0) {
            p->axes[p->naxes++] = d;
        } else {
            list->row *= list->count[d];
        }
    }
    random_coords(nd, list);
    p->coords = list->coords;
    p->start = list->start;
    p->count = list->count;
    p->step = list->step;
}

/* Where item i of row k is among the model's. */
static uint64_t place_of(const model *m, const place_list *list, uint64_t k, uint64_t i)
{
    uint64_t stride[16], at = 0;
    uint32_t axis = list->p.naxes;
    b2i_strides(m->nd.ndim, m->nd.shape, m->nd.itemsize, stride);
    for (uint32_t d = m->nd.ndim; d-- > 0;) {
        if (axis > 0 && list->p.axes[axis - 1] == d) {
            axis--;
            at += coord_of(list, k, axis) * stride[d];
        } else {
            at += (list->start[d] + i % list->count[d] * list->step[d]) * stride[d];
            i /= list->count[d];
        }
    }
    return at;
}

static void check_places(const model *m, const place_list *list)
{
    size_t row = (size_t)list->row * m->nd.itemsize, n = (size_t)list->p.nplaces * row;
    uint8_t *out = malloc(n + 1);
    int wrong = 0;
    CHECK_EQ(b2c_nd_read_places(m->s, below(2) ? ctx : parallel, &m->nd, &list->p, out, n, NULL),
             B2C_OK);
    for (uint64_t k = 0; k < list->p.nplaces; k++) {
        for (uint64_t i = 0; i < list->row; i++) {
            wrong += memcmp(out + k * row + i * m->nd.itemsize, m->items + place_of(m, list, k, i),
                            m->nd.itemsize) != 0;
        }
    }
    CHECK_EQ(wrong, 0);
    if (n > 0) {
        CHECK_EQ(b2c_nd_read_places(m->s, ctx, &m->nd, &list->p, out, n - 1, NULL),
                 B2C_E_OUTPUT_SIZE);
    }
    free(out);
}

static void write_places(model *m, const place_list *list)
{
    size_t row = (size_t)list->row * m->nd.itemsize, n = (size_t)list->p.nplaces * row;
    size_t room = n + m->nd.itemsize + 1;
    uint8_t *src = malloc(room);
    fill(src, room);
    CHECK_EQ(b2c_nd_write_places(m->s, parallel, &m->nd, &list->p, src, room, NULL),
             B2C_E_ARGUMENT);
    size_t given = below(3) == 0 ? m->nd.itemsize : n; /* one item for all, or each */
    b2c_ctx *any = below(2) ? ctx : parallel;
    CHECK_EQ(b2c_nd_write_places(m->s, any, &m->nd, &list->p, src, given, NULL), B2C_OK);
    for (uint64_t k = 0; k < list->p.nplaces; k++) { /* in order: the last of a place counts */
        for (uint64_t i = 0; i < list->row; i++) {
            memcpy(m->items + place_of(m, list, k, i),
                   src + (given == n ? k * row + i * m->nd.itemsize : 0), m->nd.itemsize);
        }
    }
    free(src);
}

static void check_bad_places(const model *m, place_list *list)
{
    uint8_t out[1];
    if (list->p.naxes > 0) {
        list->p.ncoords = NULL;
        list->p.nplaces = 1;
        list->coords[list->p.naxes - 1] = m->nd.shape[list->p.axes[list->p.naxes - 1]];
        CHECK_EQ(b2c_nd_read_places(m->s, ctx, &m->nd, &list->p, out, 0, NULL), B2C_E_RANGE);
        CHECK_EQ(b2c_nd_write_places(m->s, ctx, &m->nd, &list->p, out, 0, NULL), B2C_E_RANGE);
        list->p.coords = NULL;
        CHECK_EQ(b2c_nd_read_places(m->s, ctx, &m->nd, &list->p, out, 1, NULL), B2C_E_ARGUMENT);
        list->p.nplaces = 0;
    }
    list->p.axes[list->p.naxes++] = m->nd.ndim;
    CHECK_EQ(b2c_nd_read_places(m->s, ctx, &m->nd, &list->p, out, 1, NULL), B2C_E_ARGUMENT);
    if (m->nd.ndim > 1) {
        list->p.naxes = 2;
        list->p.axes[0] = list->p.axes[1] = 1;
        CHECK_EQ(b2c_nd_read_places(m->s, ctx, &m->nd, &list->p, out, 1, NULL), B2C_E_ARGUMENT);
    }
    list->p.size = 0;
    CHECK_EQ(b2c_nd_read_places(m->s, ctx, &m->nd, &list->p, out, 1, NULL), B2C_E_ARGUMENT);
}

static void test_places(void)
{
    for (int round = 0; round < 300; round++) {
        model m = new_model();
        place_list list;
        for (int i = 0; i < 4; i++) {
            random_places(&m.nd, &list);
            check_places(&m, &list);
            random_places(&m.nd, &list);
            write_places(&m, &list);
        }
        check_model(&m);
        check_bad_places(&m, &list);
        free_model(&m);
    }
}

/* Combinations of which only the last coordinate is outside, in an array of empty blocks. */
static void test_places_of_nothing(void)
{
    const uint64_t zeros[] = { 0, 0 }, ones[] = { 1, 1 };
    const b2c_nd nd = { sizeof nd, 2, 1, { 3, 0 }, { 3, 0 }, { 3, 0 } };
    const b2c_nd_places p = { .size = sizeof p,
                              .naxes = 2,
                              .axes = { 0, 1 },
                              .nplaces = 1,
                              .coords = zeros,
                              .ncoords = ones };
    b2c_schunk *s = new_array(&nd);
    uint8_t item = 0;
    b2c_error err;
    CHECK_EQ(b2c_nd_read_places(s, ctx, &nd, &p, &item, 1, &err), B2C_E_RANGE);
    CHECK_EQ(b2c_schunk_append(s, ctx, &item, 1, &err), B2C_OK);
    CHECK_EQ(b2c_nd_read_places(s, ctx, &nd, &p, &item, 1, &err), B2C_E_RANGE);
    CHECK_EQ(b2c_nd_write_places(s, ctx, &nd, &p, &item, 1, &err), B2C_E_RANGE);
    b2c_schunk_free(s);
}

/* Single items, again and again between edits: never one from before. */
static void test_items(void)
{
    int nkept = 0;
    for (int round = 0; round < 100; round++) {
        model m = new_model(), other = new_model();
        uint64_t start[16], count[16], step[16], stride[16];
        for (int i = 0; i < 60; i++) {
            model *use = below(2) != 0 ? &m : &other;
            uint64_t coord[16], at = 0;
            uint8_t item[300];
            if (nitems(&use->nd) == 0) {
                continue;
            }
            b2i_strides(use->nd.ndim, use->nd.shape, use->nd.itemsize, stride);
            for (uint32_t d = 0; d < use->nd.ndim; d++) {
                coord[d] = below(use->nd.shape[d]);
                at += coord[d] * stride[d];
            }
            CHECK_EQ(b2c_nd_read_item(use->s, ctx, &use->nd, coord, 0, item, sizeof item, NULL),
                     B2C_OK);
            CHECK(memcmp(item, use->items + at, use->nd.itemsize) == 0);
            b2c_status st = b2c_nd_read_item(use->s, ctx, &use->nd, coord, 1, item, 300, NULL);
            CHECK(st == B2C_OK || st == B2C_E_NOT_FOUND); /* chunks of zeros are not kept */
            CHECK(memcmp(item, use->items + at, use->nd.itemsize) == 0);
            nkept += st == B2C_OK;
            CHECK_EQ(b2c_nd_read_item(use->s, ctx, &use->nd, coord, 0, item, use->nd.itemsize - 1u,
                                      NULL),
                     B2C_E_OUTPUT_SIZE);
            if (use->nd.ndim > 0) {
                coord[0] = use->nd.shape[0];
                CHECK_EQ(b2c_nd_read_item(use->s, ctx, &use->nd, coord, 0, item, sizeof item, NULL),
                         B2C_E_RANGE);
            }
            if (below(4) == 0) {
                random_box(&use->nd, start, count, step);
                write_box(use, start, count, step);
            }
        }
        free_model(&m);
        free_model(&other); /* the next ones may be made where these were */
    }
    CHECK(nkept > 1000);
}

/* What was read inside a transaction that is rolled back is not there afterwards. */
static void test_items_after_rollback(void)
{
    b2c_nd nd = { sizeof nd, 1, 4, { 100 }, { 50 }, { 50 } };
    b2c_schunk *s = new_array(&nd);
    uint32_t src[100] = { 1, 2, 3 }, item = 0, nine = 9;
    uint64_t start = 1, one = 1, shape = 40, full = 100;
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, b2c_nd_nchunks(&nd), src, sizeof src, NULL),
             B2C_OK);
    CHECK_EQ(b2c_schunk_begin(s, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_write(s, ctx, &nd, &start, &one, &one, &nine, 4, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_read_item(s, ctx, &nd, &start, 0, &item, 4, NULL), B2C_OK);
    CHECK_EQ(item, 9);
    CHECK_EQ(b2c_schunk_rollback(s, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_read_item(s, ctx, &nd, &start, 0, &item, 4, NULL), B2C_OK);
    CHECK_EQ(item, 2);
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, &shape, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_resize(s, ctx, &nd, &full, NULL), B2C_OK);
    start = 70;
    CHECK_EQ(b2c_nd_read_item(s, ctx, &nd, &start, 0, &item, 4, NULL), B2C_OK);
    CHECK_EQ(item, 0);
    b2c_schunk_free(s);
}

static uint8_t *frame_of(const b2c_schunk *s, size_t *len)
{
    *len = 0;
    CHECK_EQ(b2c_schunk_to_frame(s, NULL, 0, len, NULL), B2C_E_OUTPUT_SIZE);
    uint8_t *frame = malloc(*len);
    CHECK_EQ(b2c_schunk_to_frame(s, frame, *len, len, NULL), B2C_OK);
    return frame;
}

/* Many small chunks are made and read several at once: the same bytes as one after the other. */
static void test_many_chunks(void)
{
    b2c_nd nd = { sizeof nd, 2, 4, { 700, 900 }, { 50, 60 }, { 20, 30 } };
    size_t n = 700 * 900, len[2];
    uint32_t *src = malloc(4 * n), *out = malloc(4 * n);
    uint64_t start[] = { 3, 5 }, count[] = { 600, 800 }, step[] = { 1, 1 };
    uint8_t *frames[2];
    for (uint32_t i = 0; i < n; i++) {
        src[i] = i * 3;
    }
    for (int k = 0; k < 2; k++) {
        b2c_ctx *use = k == 0 ? ctx : parallel;
        seed = 5;
        b2c_schunk *s = new_array(&nd);
        CHECK_EQ(b2c_nd_append_chunks(s, use, &nd, 0, b2c_nd_nchunks(&nd), src, 4 * n, NULL),
                 B2C_OK);
        CHECK_EQ(b2c_nd_read(s, use, &nd, start, count, step, out, 4 * n, NULL), B2C_OK);
        for (uint64_t i = 0; i < count[0]; i++) {
            CHECK(memcmp(out + i * 800, src + (i + 3) * 900 + 5, 3200) == 0);
            out[i * 800] = 7;
        }
        CHECK_EQ(b2c_nd_write(s, use, &nd, start, count, step, out, 4 * 600 * 800, NULL), B2C_OK);
        CHECK_EQ(b2c_nd_read(s, use, &nd, start, count, step, src, 4 * n, NULL), B2C_OK);
        CHECK(memcmp(out, src, 4 * 600 * 800) == 0);
        for (uint32_t i = 0; i < n; i++) {
            src[i] = i * 3;
        }
        frames[k] = frame_of(s, &len[k]);
        CHECK_EQ(b2c_schunk_delete_chunk(s, 200, NULL), B2C_OK);
        const uint64_t origin[2] = { 0 };
        b2c_error err;
        CHECK_EQ(b2c_nd_read(s, use, &nd, origin, nd.shape, step, out, 4 * n, &err),
                 B2C_E_TRUNCATED);
        CHECK_EQ(err.chunk, 209);
        b2c_schunk_free(s);
    }
    CHECK(len[0] == len[1] && memcmp(frames[0], frames[1], len[0]) == 0);
    free(frames[0]);
    free(frames[1]);
    free(src);
    free(out);
}

/* Large steps visit the chunks of their items, not all that lie between. */
static void test_long_steps(void)
{
    b2c_nd nd = { sizeof nd, 1, 1, { INT64_MAX }, { 1 }, { 1 } };
    b2c_schunk *s = new_array(&nd);
    uint64_t start = 0, count = 3, step = (uint64_t)1 << 61, place = INT64_MAX - 1;
    uint8_t out[3], one = 1;
    b2c_error err;
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, &one, 1, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, &start, &count, &step, out, 3, &err), B2C_E_TRUNCATED);
    CHECK_EQ(err.chunk, (int64_t)step);
    CHECK_EQ(out[0], 1);
    CHECK_EQ(b2c_nd_write(s, ctx, &nd, &start, &count, &step, out, 3, &err), B2C_E_TRUNCATED);
    CHECK_EQ(b2c_nd_read_item(s, ctx, &nd, &place, 0, out, 1, &err), B2C_E_TRUNCATED);
    b2c_nd_places places = { .size = sizeof places, .naxes = 1, .nplaces = 1, .coords = &place };
    CHECK_EQ(b2c_nd_read_places(s, ctx, &nd, &places, out, 1, &err), B2C_E_TRUNCATED);
    CHECK_EQ(err.chunk, INT64_MAX - 1);
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
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, b2c_nd_nchunks(&nd), src, sizeof src, NULL),
             B2C_OK);
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
    test_append_boxes();
    test_other_blocks();
    test_missing_chunk();
    test_write();
    test_resize();
    test_resize_odd();
    test_blocks_of_stored_zeros();
    test_append();
    test_chunks_that_do_not_fit();
    test_resize_errors();
    test_columns_without_memory();
    test_columns_of_any_step_and_kind();
    test_all_or_nothing();
    test_resize_in_transaction();
    test_resize_of_stored_zeros();
    test_places();
    test_places_of_nothing();
    test_items();
    test_items_after_rollback();
    test_many_chunks();
    test_long_steps();
    test_caterva();
    b2c_ctx_free(ctx);
    b2c_ctx_free(parallel);
    b2c_pool_free(pool);
    return RESULT();
}
