/*
 * test_threads.c: threads that cannot be started are done without: for each of them that may fail,
 * what is compressed, decoded and read, and the damage that is found, is the same.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd_array.h"
#include "alloc.h"
#include "pool.h"

#include <unistd.h>

enum { NTHREADS = 5, LEN = 1 << 20, CHUNK_CAP = LEN + 1024, SIDE = 512 };

static const b2c_nd nd = { sizeof nd, 2, 4, { SIDE, SIDE }, { 64, 64 }, { 32, 16 } };

static uint8_t data[LEN], out[LEN], chunk[CHUNK_CAP], again[CHUNK_CAP];
static size_t chunk_len;
static b2c_schunk *array;

/* Compresses, decodes, reads all of an array and a part of it; the results are right. */
static void work(b2c_ctx *ctx)
{
    static const uint64_t zero[2], whole[] = { SIDE, SIDE }, one[] = { 1, 1 };
    static const uint64_t start[] = { 7, 9 }, count[] = { 200, 150 }, step[] = { 2, 3 };
    b2c_cparams p;
    b2c_error err;
    size_t len = 0;
    b2c_cparams_init(&p);
    p.codec = B2C_CODEC_BLOSCLZ;
    p.typesize = 4;
    p.blocksize = 1 << 14;
    CHECK_EQ(b2c_compress(ctx, &p, data, LEN, again, CHUNK_CAP, &len, &err), B2C_OK);
    if (chunk_len == 0) {
        memcpy(chunk, again, len);
        chunk_len = len;
    }
    CHECK(len == chunk_len && memcmp(again, chunk, len) == 0);
    memset(out, 0, sizeof out);
    CHECK_EQ(b2c_decompress(ctx, chunk, chunk_len, out, LEN, &len, &err), B2C_OK);
    CHECK(len == LEN && memcmp(out, data, LEN) == 0);
    memset(out, 0, sizeof out);
    CHECK_EQ(b2c_nd_read(array, ctx, &nd, zero, whole, one, out, LEN, &err), B2C_OK);
    CHECK(memcmp(out, data, LEN) == 0);
    CHECK_EQ(b2c_nd_read(array, ctx, &nd, start, count, step, out, LEN, &err), B2C_OK);
    int wrong = 0;
    for (uint64_t i = 0; i < count[0]; i++) {
        for (uint64_t k = 0; k < count[1]; k++) {
            uint64_t at = (start[0] + i * step[0]) * SIDE + start[1] + k * step[1];
            wrong += memcmp(out + 4 * (i * count[1] + k), data + 4 * at, 4) != 0;
        }
    }
    CHECK_EQ(wrong, 0);
}

/* Thread number n fails, once or with all that come later; how many were to be started. */
static uint64_t work_without(uint64_t n, bool for_good)
{
    b2c_pool *pool = NULL;
    b2c_ctx *ctx = NULL;
    CHECK_EQ(b2c_pool_new(NTHREADS, &pool, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(pool, NTHREADS, NULL, &ctx, NULL), B2C_OK);
    b2i_thread_fail_at(n, for_good);
    work(ctx);
    work(ctx); /* with what there is, or what can be started now */
    uint64_t nstarted = b2i_thread_count();
    b2i_thread_fail_at(0, false);
    b2c_ctx_free(ctx);
    b2c_pool_free(pool);
    return nstarted;
}

/* Of a damaged chunk the first bad block is told, whoever found it. */
static void test_failure(uint64_t n)
{
    b2c_pool *pool = NULL;
    b2c_ctx *ctx = NULL;
    b2c_error err;
    size_t len = 0;
    memcpy(again, chunk, chunk_len);
    for (size_t i = 20; i < 60; i += 13) { /* these blocks' first streams become too long */
        memset(again + b2i_ld32le(chunk + B2C_HEADER_LEN + 4 * i), 0x7F, 4);
    }
    CHECK_EQ(b2c_pool_new(NTHREADS, &pool, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(pool, NTHREADS, NULL, &ctx, NULL), B2C_OK);
    b2i_thread_fail_at(n, true);
    CHECK_EQ(b2c_decompress(ctx, again, chunk_len, out, LEN, &len, &err), B2C_E_CORRUPT);
    CHECK_EQ(err.block, 20);
    b2i_thread_fail_at(0, false);
    CHECK_EQ(b2c_decompress(ctx, again, chunk_len, out, LEN, &len, &err), B2C_E_CORRUPT);
    CHECK_EQ(err.block, 20);
    b2c_ctx_free(ctx);
    b2c_pool_free(pool);
}

/* ---- damage that is collected ---- */

static const uint64_t damaged_chunks[] = { 5, 20, 41 };
enum { NDAMAGED = sizeof damaged_chunks / sizeof *damaged_chunks, CHUNK_ROWS = 64 };

/* The first stream of these chunks' second blocks becomes too long. */
static b2c_schunk *make_damaged(b2c_ctx *ctx)
{
    b2c_schunk *s = nd_array_new(&nd, NULL, B2C_FILTER_SHUFFLE);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 64, data, LEN, NULL), B2C_OK);
    for (size_t i = 0; i < NDAMAGED; i++) {
        size_t len = 0;
        CHECK_EQ(b2c_schunk_get_chunk(s, damaged_chunks[i], again, CHUNK_CAP, &len, NULL), B2C_OK);
        memset(again + b2i_ld32le(again + B2C_HEADER_LEN + 4), 0x7F, 4);
        CHECK_EQ(b2c_schunk_update_chunk(s, damaged_chunks[i], again, len, NULL), B2C_OK);
    }
    return s;
}

static bool is_damaged(uint64_t nchunk)
{
    bool is = false;
    for (size_t i = 0; i < NDAMAGED; i++) {
        is = is || damaged_chunks[i] == nchunk;
    }
    return is;
}

/* One read finds all damaged chunks and has all others, whatever threads there are. */
static void collect(b2c_ctx *ctx, const b2c_schunk *s)
{
    static const uint64_t zero[2], whole[] = { SIDE, SIDE }, one[] = { 1, 1 };
    const size_t row = (size_t)SIDE * 4, part = (size_t)CHUNK_ROWS * 4;
    unsigned found[64] = { 0 }, nfound = 0;
    int wrong = 0;
    b2c_error err, damage;
    memset(out, 0, sizeof out);
    CHECK_EQ(b2c_ctx_collect_damage(ctx, 1, &err), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, zero, whole, one, out, LEN, &err), B2C_E_CORRUPT);
    CHECK_EQ(err.chunk, damaged_chunks[0]);
    for (uint64_t i = 0; b2c_ctx_damage(ctx, i, &damage, &err) == B2C_OK; i++) {
        CHECK(damage.status == B2C_E_CORRUPT && damage.block == 1);
        CHECK(is_damaged((uint64_t)damage.chunk));
        nfound += found[damage.chunk]++ == 0;
    }
    CHECK_EQ(nfound, NDAMAGED);
    for (uint64_t i = 0; i < 64; i++) {
        size_t at = i / 8 * CHUNK_ROWS * row + i % 8 * part;
        for (size_t r = 0; r < CHUNK_ROWS && !is_damaged(i); r++) {
            wrong += memcmp(out + at + r * row, data + at + r * row, part) != 0;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(b2c_ctx_collect_damage(ctx, 0, &err), B2C_OK);
    CHECK_EQ(b2c_ctx_damage(ctx, 0, &damage, &err), B2C_E_NOT_FOUND);
}

static void test_collecting(const b2c_schunk *s, uint64_t n)
{
    b2c_pool *pool = NULL;
    b2c_ctx *ctx = NULL;
    CHECK_EQ(b2c_pool_new(NTHREADS, &pool, NULL), B2C_OK);
    CHECK_EQ(b2c_ctx_new(pool, NTHREADS, NULL, &ctx, NULL), B2C_OK);
    b2i_thread_fail_at(n, true);
    collect(ctx, s);
    b2i_thread_fail_at(0, false);
    collect(ctx, s);
    b2c_ctx_free(ctx);
    b2c_pool_free(pool);
}

/* Without memory for the notes the read fails; nothing is lost or freed twice. */
static void test_collecting_without_memory(const b2c_schunk *s)
{
    static const uint64_t zero[2], whole[] = { SIDE, SIDE }, one[] = { 1, 1 };
    b2c_status st = B2C_E_MEMORY;
    for (uint64_t n = 1; st == B2C_E_MEMORY || n < 20; n++) {
        b2c_ctx *ctx = NULL;
        b2c_error err, damage;
        CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
        CHECK_EQ(b2c_ctx_collect_damage(ctx, 1, &err), B2C_OK);
        b2i_alloc_fail_at(n, true);
        st = b2c_nd_read(s, ctx, &nd, zero, whole, one, out, LEN, &err);
        b2i_alloc_fail_at(0, false);
        CHECK(st == B2C_E_MEMORY || st == B2C_E_CORRUPT);
        for (uint64_t i = 0; b2c_ctx_damage(ctx, i, &damage, &err) == B2C_OK; i++) {
            CHECK(is_damaged((uint64_t)damage.chunk));
        }
        CHECK_EQ(b2c_ctx_collect_damage(ctx, 1, &err), B2C_OK);
        CHECK_EQ(b2c_nd_read(s, ctx, &nd, zero, whole, one, out, LEN, &err), B2C_E_CORRUPT);
        CHECK_EQ(b2c_ctx_damage(ctx, NDAMAGED - 1, &damage, &err), B2C_OK);
        b2c_ctx_free(ctx);
    }
}

int main(void)
{
    b2c_ctx *ctx = NULL;
    uint64_t seed = 5;
    alarm(600); /* a deadlock is a failure */
    for (size_t i = 0; i < LEN; i++) {
        data[i] = (uint8_t)(i % 4 == 0 ? harness_random(&seed) : i >> 12);
    }
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
    array = nd_array_new(&nd, NULL, B2C_FILTER_SHUFFLE);
    CHECK_EQ(b2c_nd_append_chunks(array, ctx, &nd, 0, 64, data, LEN, NULL), B2C_OK);
    work(ctx);
    uint64_t n = work_without(0, false);
    CHECK_EQ(n, NTHREADS - 1); /* the caller is one of them */
    for (uint64_t i = 1; i <= n; i++) {
        CHECK(work_without(i, false) >= n);
        CHECK(work_without(i, true) >= i);
        test_failure(i);
    }
    b2c_schunk *damaged = make_damaged(ctx);
    for (uint64_t i = 0; i <= n; i++) {
        test_collecting(damaged, i);
    }
    test_collecting_without_memory(damaged);
    b2c_schunk_free(damaged);
    b2c_schunk_free(array);
    b2c_ctx_free(ctx);
    return RESULT();
}
