/*
 * test_nd_patch.c: of a chunk that changes in part, only the blocks concerned are made anew.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd_array.h"

static b2c_ctx *ctx, *parallel;
static uint64_t seed = 7;

enum { NBLOCKS = 8, BLOCK = 1000 };

static const b2c_nd nd = { sizeof nd, 1, 4, { NBLOCKS * BLOCK }, { NBLOCKS * BLOCK }, { BLOCK } };

typedef struct stored {
    uint8_t bytes[NBLOCKS * BLOCK * 4 + 32];
    size_t len;
    b2i_span span;
    b2i_chunk chunk;
} stored;

static void load(const b2c_schunk *s, stored *out)
{
    CHECK_EQ(b2c_schunk_get_chunk(s, 0, out->bytes, sizeof out->bytes, &out->len, NULL), B2C_OK);
    out->span = b2i_span_of(out->bytes, out->len);
    b2i_source source = b2i_source_mem(&out->span);
    CHECK_EQ(b2i_chunk_open(&source, NULL, &out->chunk, NULL), B2C_OK);
}

/* Blocks whose stored bytes are those of another chunk. */
static int blocks_in_common(const stored *a, const stored *b)
{
    int n = 0;
    for (uint32_t i = 0; i < NBLOCKS; i++) {
        size_t len = a->chunk.ends[i] - a->chunk.starts[i];
        n += len == b->chunk.ends[i] - b->chunk.starts[i] &&
             memcmp(a->bytes + a->chunk.starts[i], b->bytes + b->chunk.starts[i], len) == 0;
    }
    return n;
}

static void check_items(const b2c_schunk *s, const uint32_t *items)
{
    uint32_t *out = malloc(4 * NBLOCKS * BLOCK);
    uint64_t start = 0, step = 1;
    CHECK_EQ(b2c_nd_read(s, parallel, &nd, &start, nd.shape, &step, out, 4 * NBLOCKS * BLOCK, NULL),
             B2C_OK);
    CHECK(memcmp(out, items, 4 * NBLOCKS * BLOCK) == 0);
    free(out);
}

static void check_patch(const b2c_cparams *cp)
{
    uint32_t *items = malloc(NBLOCKS * BLOCK * 4), value = 77;
    stored *before = malloc(sizeof *before), *after = malloc(sizeof *after);
    uint64_t start = 3 * BLOCK + 5, one = 1, n = BLOCK, at = 100;
    b2c_schunk *s = nd_array_new(&nd, NULL, 0);
    CHECK_EQ(b2c_schunk_set_cparams(s, cp, NULL), B2C_OK);
    for (uint32_t i = 0; i < NBLOCKS * BLOCK; i++) {
        items[i] = i / 5 * 3 + (uint32_t)(harness_random(&seed) % 2);
    }
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, items, 4 * nd.shape[0], NULL), B2C_OK);
    load(s, before);
    CHECK_EQ(b2c_nd_write(s, ctx, &nd, &start, &one, &one, &value, 4, NULL), B2C_OK);
    items[start] = value;
    load(s, after);
    CHECK_EQ(before->chunk.head.nblocks, NBLOCKS);
    CHECK(after->chunk.head.nblocks == NBLOCKS && after->len == after->chunk.head.cbytes);
    CHECK_EQ(blocks_in_common(before, after), NBLOCKS - 1);
    CHECK_EQ(b2c_nd_write(s, parallel, &nd, &at, &n, &one, items, 4 * BLOCK, NULL), B2C_OK);
    memmove(items + 100, items, 4 * BLOCK);
    check_items(s, items);
    b2i_chunk_close(&before->chunk);
    b2i_chunk_close(&after->chunk);
    free(before);
    free(after);
    free(items);
    b2c_schunk_free(s);
}

/* Of a chunk that changes in part, the other blocks stay as they are stored. */
static void test_patches(void)
{
    static const uint8_t codecs[] = { B2C_CODEC_BLOSCLZ, B2C_CODEC_LZ4, B2C_CODEC_ZLIB,
                                      B2C_CODEC_ZSTD };
    for (size_t i = 0; i < sizeof codecs * 4; i++) {
        b2c_cparams cp;
        b2c_cparams_init(&cp);
        cp.codec = codecs[i / 4];
        if (!b2c_codec_available(cp.codec)) {
            continue;
        }
        cp.typesize = 4;
        cp.blocksize = 4 * BLOCK;
        cp.filters[5] = (uint8_t)(i % 4);
        if (cp.filters[5] != B2C_FILTER_DELTA) { /* whose blocks refer to the first */
            check_patch(&cp);
        }
    }
}

/* Parameters that were changed since are those of what is written. */
static void test_patch_with_other_parameters(void)
{
    b2c_cparams cp;
    b2c_schunk *s = nd_array_new(&nd, NULL, 0);
    stored *after = malloc(sizeof *after);
    uint32_t *items = malloc(NBLOCKS * BLOCK * 4), value = 1;
    uint64_t start = 5, one = 1;
    for (uint32_t i = 0; i < NBLOCKS * BLOCK; i++) {
        items[i] = i / 5 * 3;
    }
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, items, 4 * nd.shape[0], NULL), B2C_OK);
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_BLOSCLZ;
    cp.typesize = 4;
    cp.blocksize = 4 * BLOCK;
    cp.filters[4] = B2C_FILTER_DELTA;
    cp.filters[5] = B2C_FILTER_SHUFFLE;
    CHECK_EQ(b2c_schunk_set_cparams(s, &cp, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_write(s, ctx, &nd, &start, &one, &one, &value, 4, NULL), B2C_OK);
    items[start] = value;
    load(s, after);
    CHECK_EQ(after->chunk.head.pipeline.filters[4], B2C_FILTER_DELTA);
    b2i_chunk_close(&after->chunk);
    check_items(s, items);
    start = 4999;
    CHECK_EQ(b2c_nd_write(s, ctx, &nd, &start, &one, &one, &value, 4, NULL), B2C_OK);
    items[start] = value;
    check_items(s, items);
    free(after);
    free(items);
    b2c_schunk_free(s);
}

/*
 * A block of which next to nothing is left would, at the end of the new chunk, make all of that
 * unreadable: it is found out, and what can be read stays so.
 */
static void test_patch_beside_a_stub(void)
{
    enum { STUB = NBLOCKS - 1, SOUND = 4 };
    b2c_schunk *s = nd_array_new(&nd, NULL, 0);
    stored *before = malloc(sizeof *before);
    uint32_t *items = malloc(NBLOCKS * BLOCK * 4), value = 1;
    uint64_t start = SOUND * BLOCK + 5, one = 1;
    for (uint32_t i = 0; i < NBLOCKS * BLOCK; i++) {
        items[i] = i / 5 * 3;
    }
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, items, 4 * nd.shape[0], NULL), B2C_OK);
    load(s, before);
    b2i_st32le(before->bytes + B2C_HEADER_LEN + (size_t)4 * STUB, before->chunk.starts[2] - 1);
    b2i_chunk_close(&before->chunk);
    CHECK_EQ(b2c_schunk_update_chunk(s, 0, before->bytes, before->len, NULL), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, &start, &one, &one, &value, 4, NULL), B2C_OK);
    CHECK_EQ(value, items[start]);
    CHECK_EQ(b2c_nd_write(s, ctx, &nd, &start, &one, &one, &start, 4, NULL), B2C_E_CORRUPT);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, &start, &one, &one, &value, 4, NULL), B2C_OK);
    CHECK_EQ(value, items[start]);
    free(before);
    free(items);
    b2c_schunk_free(s);
}

int main(void)
{
    b2c_pool *pool = NULL;
    CHECK_EQ(b2c_pool_new(3, &pool, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(pool, 3, NULL, &parallel, NULL), B2C_OK);
    test_patches();
    test_patch_with_other_parameters();
    test_patch_beside_a_stub();
    b2c_ctx_free(ctx);
    b2c_ctx_free(parallel);
    b2c_pool_free(pool);
    return RESULT();
}
