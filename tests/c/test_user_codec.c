/*
 * test_user_codec.c: codecs, filters and block functions of the user's: what they are told, several
 * threads, failures, and what nobody has registered.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "alloc.h"
#include "blosc2c.h"

#include <pthread.h>
#include <stdbool.h>

enum { N = 400000, BLOCKSIZE = 4096, TYPESIZE = 4, NBLOCKS = (N + BLOCKSIZE - 1) / BLOCKSIZE };

static uint8_t data[N], chunk[N + 32], out[N];

static void fill_data(void)
{
    for (size_t i = 0; i < N; i++) {
        data[i] = (uint8_t)(i / 100);
    }
}

/* ---- a codec: runs of (count, byte) ---- */

typedef struct calls {
    pthread_mutex_t lock;
    int n;
    int fail_block; /* this and later blocks fail with 1000 + number; -1: none */
    size_t lie;     /* added to the length that encode() tells */
    bool wrong;     /* was told something that is not so */
    uint8_t meta, clevel;
    uint32_t typesize;
    const b2c_schunk *schunk;
    int64_t nchunk;
    uint64_t chunk_at;
} calls;

#define CALLS_INIT                                                                                 \
    { .lock = PTHREAD_MUTEX_INITIALIZER,                                                           \
      .fail_block = -1,                                                                            \
      .nchunk = B2C_NO_NUMBER,                                                                     \
      .typesize = TYPESIZE }

static calls rle = CALLS_INIT, add = CALLS_INIT, hook = CALLS_INIT;

static void reset(calls *c)
{
    pthread_mutex_lock(&c->lock);
    c->n = 0;
    c->fail_block = -1;
    c->lie = 0;
    c->wrong = false;
    c->meta = c->clevel = 0;
    c->typesize = TYPESIZE;
    c->schunk = NULL;
    c->nchunk = B2C_NO_NUMBER;
    c->chunk_at = 0;
    pthread_mutex_unlock(&c->lock);
}

/* Counts a call and compares what it is told; the result is the status of the call. */
static int note(calls *c, const b2c_block *b, bool encoding)
{
    pthread_mutex_lock(&c->lock);
    c->n++;
    c->wrong = c->wrong || b->meta != c->meta || b->clevel != (encoding ? c->clevel : 0) ||
               b->typesize != c->typesize || b->schunk != c->schunk || b->nchunk != c->nchunk ||
               b->chunk_at != c->chunk_at || b->block_at != b->nblock * BLOCKSIZE ||
               b->block_len == 0 || b->block_len > BLOCKSIZE;
    int result = c->fail_block >= 0 && (int)b->nblock >= c->fail_block ? 1000 + (int)b->nblock : 0;
    pthread_mutex_unlock(&c->lock);
    return result;
}

static int rle_encode(void *user, const b2c_block *block, const void *src, size_t n, void *dst,
                      size_t cap, size_t *dst_len)
{
    calls *c = user;
    const uint8_t *s = src;
    uint8_t *d = dst;
    size_t used = 0;
    int result = note(c, block, true);
    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (i + run < n && run < 255 && s[i + run] == s[i]) {
            run++;
        }
        if (used + 2 > cap) {
            *dst_len = 0;
            return result;
        }
        d[used++] = (uint8_t)run;
        d[used++] = s[i];
        i += run;
    }
    *dst_len = used + c->lie;
    return result;
}

static int rle_decode(void *user, const b2c_block *block, const void *src, size_t src_len,
                      void *dst, size_t n)
{
    const uint8_t *s = src;
    uint8_t *d = dst;
    size_t made = 0;
    int result = note(user, block, false);
    for (size_t i = 0; i + 2 <= src_len; i += 2) {
        if (s[i] > n - made) {
            return 7;
        }
        memset(d + made, s[i + 1], s[i]);
        made += s[i];
    }
    return made == n ? result : 7;
}

/* ---- a filter: adds the meta and the number of the block ---- */

static int add_forward(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    int result = note(user, block, true);
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)dst)[i] = (uint8_t)(((const uint8_t *)src)[i] + block->meta + block->nblock);
    }
    return result;
}

static int add_backward(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    int result = note(user, block, false);
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)dst)[i] = (uint8_t)(((const uint8_t *)src)[i] - block->meta - block->nblock);
    }
    return result;
}

enum { RLE = 200, ADD = 201, NOBODYS = 222 };

static b2c_status register_codec(uint8_t id, const char *name, b2c_error *err)
{
    b2c_codec_plugin p = { .size = sizeof p,
                           .id = id,
                           .version = 3,
                           .name = name,
                           .user = &rle,
                           .encode = rle_encode,
                           .decode = rle_decode };
    return b2c_register_codec(&p, err);
}

static b2c_status register_filter(uint8_t id, const char *name, b2c_error *err)
{
    b2c_filter_plugin p = { .size = sizeof p,
                            .id = id,
                            .name = name,
                            .user = &add,
                            .forward = add_forward,
                            .backward = add_backward };
    return b2c_register_filter(&p, err);
}

static b2c_cparams params(uint8_t codec, uint8_t filter)
{
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.typesize = TYPESIZE;
    cp.blocksize = BLOCKSIZE;
    cp.codec = codec;
    cp.filters[5] = filter;
    return cp;
}

static b2c_pool *pool;
static b2c_ctx *serial, *parallel;

/* ---- tests ---- */

static void test_registering(void)
{
    b2c_error err;
    char name[] = "rle";
    CHECK_EQ(register_codec(RLE, name, &err), B2C_OK);
    name[0] = 'X'; /* the name was copied */
    CHECK(strcmp(b2c_codec_name(RLE), "rle") == 0);
    CHECK(b2c_codec_available(RLE) && strcmp(b2c_codec_library(RLE), "rle") == 0);
    CHECK(strcmp(b2c_codec_library_version(RLE), "3") == 0);
    CHECK_EQ(register_codec(RLE, "again", &err), B2C_E_EXISTS);
    CHECK(strcmp(err.field, "id") == 0);
    CHECK_EQ(register_codec(B2C_CODEC_BLOSCLZ, "x", &err), B2C_E_ARGUMENT);
    CHECK_EQ(register_codec(31, "x", &err), B2C_E_ARGUMENT);
    CHECK_EQ(register_filter(ADD, "add", &err), B2C_OK);
    CHECK(strcmp(b2c_filter_name(ADD), "add") == 0);
    CHECK_EQ(register_filter(ADD, "again", &err), B2C_E_EXISTS);
    CHECK_EQ(register_filter(35, "bytedelta", &err), B2C_E_EXISTS);
    CHECK_EQ(register_filter(B2C_FILTER_SHUFFLE, "x", &err), B2C_E_ARGUMENT);

    b2c_codec_plugin p = { .size = sizeof p, .id = 210, .name = "x", .encode = rle_encode };
    CHECK_EQ(b2c_register_codec(&p, &err), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "plugin->decode") == 0);
    p.decode = rle_decode;
    p.size--;
    CHECK_EQ(b2c_register_codec(&p, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_register_codec(NULL, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_register_filter(NULL, &err), B2C_E_ARGUMENT);
    p.size++;
    b2i_alloc_fail_at(1, true);
    CHECK_EQ(b2c_register_codec(&p, &err), B2C_E_MEMORY);
    b2i_alloc_fail_at(0, false);
    CHECK(!b2c_codec_available(210) && b2c_codec_name(210) == NULL);
}

static void test_round_trip(void)
{
    b2c_ctx *contexts[] = { serial, parallel };
    static uint8_t first[N + 32];
    size_t len, first_len = 0, got;
    b2c_error err;
    for (int i = 0; i < 2; i++) {
        b2c_cparams cp = params(RLE, ADD);
        cp.codec_meta = 77;
        cp.filters_meta[5] = 5;
        reset(&rle);
        reset(&add);
        rle.meta = 77;
        add.meta = 5;
        rle.clevel = add.clevel = cp.clevel = 3;
        CHECK_EQ(b2c_compress(contexts[i], &cp, data, N, chunk, sizeof chunk, &len, &err), B2C_OK);
        CHECK(rle.n == NBLOCKS && add.n == NBLOCKS && len < N / 10);
        CHECK_EQ(chunk[1], 3);      /* version of the codec's streams */
        CHECK_EQ(chunk[2] >> 5, 6); /* the codec is told by its number */
        CHECK_EQ(chunk[22], RLE);
        CHECK_EQ(chunk[23], 77);
        if (i == 0) {
            memcpy(first, chunk, len);
            first_len = len;
        }
        CHECK(len == first_len && memcmp(chunk, first, len) == 0);
        memset(out, 0, N);
        CHECK_EQ(b2c_decompress(contexts[i], chunk, len, out, N, &got, &err), B2C_OK);
        CHECK(got == N && memcmp(out, data, N) == 0);
        CHECK(!rle.wrong && !add.wrong && rle.n == 2 * NBLOCKS);
        CHECK_EQ(b2c_getitem(contexts[i], chunk, len, 5000, 10, out, N, &got, &err), B2C_OK);
        CHECK(got == 40 && memcmp(out, data + 20000, 40) == 0 && rle.n == 2 * NBLOCKS + 1);
    }
}

/* Streams that the codec cannot shrink are stored; those of one byte never reach it. */
static void test_raw_and_runs(void)
{
    static uint8_t noise[BLOCKSIZE];
    uint64_t seed = 12345;
    size_t len, got;
    b2c_cparams cp = params(RLE, B2C_FILTER_NONE);
    for (size_t i = 0; i < BLOCKSIZE; i++) {
        noise[i] = (uint8_t)(harness_random(&seed) >> 20);
    }
    memcpy(out, noise, BLOCKSIZE);
    memset(out + BLOCKSIZE, 9, BLOCKSIZE);
    reset(&rle);
    rle.clevel = cp.clevel;
    CHECK_EQ(b2c_compress(serial, &cp, out, (size_t)2 * BLOCKSIZE, chunk, sizeof chunk, &len, NULL),
             B2C_OK);
    CHECK_EQ(rle.n, 1);
    CHECK_EQ(len, 32 + 8 + 4 + BLOCKSIZE + 5);
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, NULL), B2C_OK);
    CHECK(memcmp(out, noise, BLOCKSIZE) == 0 && out[BLOCKSIZE] == 9 && out[2 * BLOCKSIZE - 1] == 9);
    CHECK_EQ(rle.n, 1);
}

/* One call per stream when blocks are split. */
static void test_split(void)
{
    size_t len, got;
    b2c_cparams cp = params(RLE, B2C_FILTER_SHUFFLE);
    cp.splitmode = B2C_SPLIT_ALWAYS;
    reset(&rle);
    rle.clevel = cp.clevel;
    CHECK_EQ(b2c_compress(parallel, &cp, data, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
    CHECK_EQ(rle.n, (NBLOCKS - 1) * TYPESIZE + 1);
    CHECK_EQ(b2c_decompress(parallel, chunk, len, out, N, &got, NULL), B2C_OK);
    CHECK(memcmp(out, data, N) == 0 && !rle.wrong);
}

/* With automatic splitting it gets whole blocks, and nothing else to try on. */
static void test_not_split(void)
{
    size_t len;
    b2c_cparams cp = params(RLE, B2C_FILTER_SHUFFLE);
    reset(&rle);
    rle.clevel = cp.clevel = 7;
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
    CHECK(rle.n == NBLOCKS && !rle.wrong);
    cp = params(B2C_CODEC_ZLIB, ADD);
    cp.filters[4] = B2C_FILTER_SHUFFLE;
    reset(&add);
    add.clevel = cp.clevel;
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, NULL),
             b2c_codec_available(B2C_CODEC_ZLIB) ? B2C_OK : B2C_E_UNKNOWN_CODEC);
    CHECK((add.n == NBLOCKS || !b2c_codec_available(B2C_CODEC_ZLIB)) && !add.wrong);
}

/* What a filter turns into zeros is not zeros. */
static void test_filtered_zeros(void)
{
    size_t len, got;
    b2c_cparams cp = params(B2C_CODEC_BLOSCLZ, ADD);
    cp.filters_meta[5] = 255;
    for (size_t i = 0; i < BLOCKSIZE; i++) {
        out[i] = 1;
    }
    out[BLOCKSIZE] = 2; /* not one repeated item */
    reset(&add);
    add.meta = 255;
    add.clevel = cp.clevel;
    CHECK_EQ(b2c_compress(serial, &cp, out, BLOCKSIZE, chunk, sizeof chunk, &len, NULL), B2C_OK);
    memset(out, 0, BLOCKSIZE);
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, NULL), B2C_OK);
    CHECK(got == BLOCKSIZE && out[0] == 1 && out[BLOCKSIZE - 1] == 1);
}

/* The delta filter takes what the decoder restores, whatever the user's filter does before. */
static void test_delta(void)
{
    size_t len, got;
    b2c_cparams cp = params(B2C_CODEC_BLOSCLZ, B2C_FILTER_DELTA);
    cp.filters[4] = ADD;
    reset(&add);
    add.clevel = cp.clevel;
    CHECK_EQ(b2c_compress(parallel, &cp, data, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
    CHECK_EQ(b2c_decompress(parallel, chunk, len, out, N, &got, NULL), B2C_OK);
    CHECK(got == N && memcmp(out, data, N) == 0);
}

static void check_failure(const b2c_error *err, b2c_status st, const char *name, int number,
                          int64_t nchunk, int64_t block)
{
    CHECK_EQ(st, B2C_E_CALLBACK);
    CHECK_EQ(err->status, B2C_E_CALLBACK);
    CHECK(name == NULL ? err->field == NULL : err->field != NULL && strcmp(err->field, name) == 0);
    CHECK_EQ(err->sys_errno, number);
    CHECK_EQ(err->chunk, nchunk);
    CHECK_EQ(err->block, block);
}

static void test_failures(void)
{
    b2c_ctx *contexts[] = { serial, parallel };
    b2c_cparams cp = params(RLE, ADD);
    b2c_error err;
    size_t len, got;
    for (int i = 0; i < 2; i++) {
        b2c_ctx *ctx = contexts[i];
        reset(&rle);
        reset(&add);
        CHECK_EQ(b2c_compress(ctx, &cp, data, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
        rle.fail_block = 5;
        b2c_status st = b2c_decompress(ctx, chunk, len, out, N, &got, &err);
        check_failure(&err, st, "rle", 1005, B2C_NO_NUMBER, 5);
        CHECK(err.offset > 32 && err.offset < len);
        st = b2c_compress(ctx, &cp, data, N, out, N, &got, &err);
        check_failure(&err, st, "rle", 1005, B2C_NO_NUMBER, 5);
        reset(&rle);
        add.fail_block = 9;
        st = b2c_decompress(ctx, chunk, len, out, N, &got, &err);
        check_failure(&err, st, "add", 1009, B2C_NO_NUMBER, 9);
        st = b2c_compress(ctx, &cp, data, N, out, N, &got, &err);
        check_failure(&err, st, "add", 1009, B2C_NO_NUMBER, 9);
        reset(&add);
        rle.lie = N;
        st = b2c_compress(ctx, &cp, data, N, out, N, &got, &err);
        check_failure(&err, st, "rle", 0, B2C_NO_NUMBER, 0);
    }
}

static void test_damage(void)
{
    b2c_cparams cp = params(RLE, ADD);
    b2c_error err;
    size_t len, got;
    reset(&rle);
    reset(&add);
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
    uint8_t *payload = chunk + (chunk[32] | chunk[33] << 8) + 4;
    payload[0]++;
    b2c_status st = b2c_decompress(serial, chunk, len, out, N, &got, &err);
    check_failure(&err, st, "rle", 7, B2C_NO_NUMBER, 0);
}

static int loads[2];
static uint8_t loaded_id;

static void load(int kind, uint8_t id)
{
    loads[kind]++;
    if (kind == B2C_PLUGIN_CODEC && id == 230) {
        CHECK_EQ(register_codec(230, "loaded", NULL), B2C_OK);
        loaded_id = id;
    }
}

/*
 * The block size that is told is no multiple of the type size, the blocks were cut below: the codec
 * refuses what it gets as long as they are taken for larger ones, and none is lost for that.
 */
static void test_other_reading(void)
{
    enum { SIZE = 999, TOLD = 1000, LEN = 9 * SIZE };
    b2c_error err;
    size_t len, got = 0;
    b2c_cparams cp = params(RLE, B2C_FILTER_NONE);
    cp.typesize = 3;
    cp.blocksize = SIZE;
    reset(&rle);
    CHECK_EQ(b2c_compress(serial, &cp, data, LEN, chunk, sizeof chunk, &len, &err), B2C_OK);
    chunk[8] = TOLD & 255;
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_OK);
    CHECK(got == LEN && memcmp(out, data, LEN) == 0);
}

static void test_unknown(void)
{
    b2c_cparams cp = params(RLE, ADD);
    b2c_error err;
    size_t len, got;
    reset(&rle);
    reset(&add);
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, NULL), B2C_OK);
    chunk[22] = NOBODYS;
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_E_UNKNOWN_CODEC);
    CHECK(err.actual == NOBODYS && strstr(err.what, "user-defined codec") != NULL);
    chunk[22] = 36;
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_E_UNKNOWN_CODEC);
    CHECK(err.actual == 36 && strcmp(err.field, "codec") == 0);
    CHECK(strstr(err.what, "libblosc2_openhtj2k") != NULL);
    chunk[22] = 100;
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_E_UNKNOWN_CODEC);
    CHECK_EQ(err.actual, 100);
    chunk[22] = 255; /* a number like any other */
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_E_UNKNOWN_CODEC);
    CHECK_EQ(err.actual, 255);
    chunk[22] = RLE;
    chunk[21] = NOBODYS;
    CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_E_UNKNOWN_FILTER);
    CHECK(err.actual == NOBODYS && strstr(err.what, "user-defined filter") != NULL);
    cp.codec = NOBODYS;
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, &err),
             B2C_E_UNKNOWN_CODEC);
    CHECK_EQ(err.actual, NOBODYS);

    b2c_set_plugin_loader(load);
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, &err),
             B2C_E_UNKNOWN_CODEC);
    CHECK(loads[0] > 0 && loads[1] == 0);
    cp.codec = 230;
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, &err), B2C_OK);
    CHECK_EQ(loaded_id, 230);
    int n = loads[0];
    CHECK_EQ(b2c_decompress(parallel, chunk, len, out, N, &got, &err), B2C_OK);
    CHECK_EQ(loads[0], n); /* never for what is there */
    cp.codec = B2C_CODEC_BLOSCLZ;
    CHECK_EQ(b2c_compress(serial, &cp, data, N, chunk, sizeof chunk, &len, &err), B2C_OK);
    CHECK(loads[0] == n && loads[1] == 0);
    b2c_set_plugin_loader(NULL);
}

/* ---- from several threads ---- */

enum { NTHREADS = 6 };

static int winners;
static pthread_mutex_t winners_lock = PTHREAD_MUTEX_INITIALIZER;

static void *race(void *arg)
{
    b2c_ctx *ctx;
    static const char *const names[NTHREADS] = { "a", "b", "c", "d", "e", "f" };
    uint8_t *buf = malloc(2 * N + 32);
    size_t len, got;
    int thread = *(const int *)arg;
    bool ok = b2c_ctx_new(NULL, 1, NULL, &ctx, NULL) == B2C_OK && buf != NULL;
    for (int id = 240; ok && id < 250; id++) {
        b2c_cparams cp = params((uint8_t)id, (uint8_t)id);
        int won = register_codec((uint8_t)id, names[thread], NULL) == B2C_OK;
        won += register_filter((uint8_t)id, names[thread], NULL) == B2C_OK;
        pthread_mutex_lock(&winners_lock);
        winners += won;
        pthread_mutex_unlock(&winners_lock);
        ok = b2c_compress(ctx, &cp, data, N, buf, N + 32, &len, NULL) == B2C_OK &&
             b2c_decompress(ctx, buf, len, buf + N + 32, N, &got, NULL) == B2C_OK &&
             memcmp(data, buf + N + 32, N) == 0;
    }
    b2c_ctx_free(ctx);
    free(buf);
    return ok ? arg : NULL;
}

static void test_threads(void)
{
    pthread_t threads[NTHREADS];
    int numbers[NTHREADS];
    reset(&rle);
    reset(&add);
    for (int i = 0; i < NTHREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, race, &numbers[i]) == 0);
    }
    for (int i = 0; i < NTHREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        CHECK(result == &numbers[i]);
    }
    CHECK_EQ(winners, 20); /* each number once */
}

/* ---- block functions ---- */

static int plus_one(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    int result = note(user, block, false);
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)dst)[i] = (uint8_t)(((const uint8_t *)src)[i] + 1);
    }
    return result;
}

/* Byte i of all the data becomes i mod 251. */
static int position(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    (void)user;
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)dst)[i] = (uint8_t)((block->chunk_at + block->block_at + i) % 251);
    }
    return src == NULL ? 0 : 1;
}

static bool is_data_plus(const uint8_t *p, size_t at, size_t n, int plus)
{
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        same = same && p[i] == (uint8_t)(data[at + i] + plus);
    }
    return same;
}

static void test_context_hooks(void)
{
    b2c_ctx *contexts[] = { serial, parallel };
    b2c_error err;
    size_t len, got;
    for (int i = 0; i < 2; i++) {
        b2c_ctx *ctx = contexts[i];
        b2c_cparams cp = params(B2C_CODEC_BLOSCLZ, B2C_FILTER_SHUFFLE);
        reset(&hook);
        b2c_ctx_set_prefilter(ctx, plus_one, &hook);
        CHECK_EQ(b2c_compress(ctx, &cp, data, N, chunk, sizeof chunk, &len, &err), B2C_OK);
        CHECK_EQ(hook.n, NBLOCKS);
        hook.fail_block = 3;
        b2c_status st = b2c_compress(ctx, &cp, data, N, out, N, &got, &err);
        check_failure(&err, st, NULL, 1003, B2C_NO_NUMBER, 3);
        b2c_ctx_set_prefilter(ctx, NULL, NULL);
        CHECK_EQ(b2c_decompress(ctx, chunk, len, out, N, &got, &err), B2C_OK);
        CHECK(is_data_plus(out, 0, N, 1));
        reset(&hook);
        b2c_ctx_set_postfilter(ctx, plus_one, &hook);
        CHECK_EQ(b2c_decompress(ctx, chunk, len, out, N, &got, &err), B2C_OK);
        CHECK(is_data_plus(out, 0, N, 2) && hook.n == NBLOCKS && !hook.wrong);
        CHECK_EQ(b2c_getitem(ctx, chunk, len, 1023, 2, out, N, &got, &err), B2C_OK);
        CHECK(is_data_plus(out, 4092, 8, 2) && hook.n == NBLOCKS + 2);
        b2c_ctx_set_postfilter(ctx, NULL, NULL);
    }
}

/* Zeros, repeated items, stored and tiny chunks are filtered too. */
static void test_kinds(void)
{
    b2c_error err;
    size_t len, got;
    static const size_t sizes[] = { 3, 31, 5000 };
    for (int kind = 0; kind < 4; kind++) {
        for (int k = 0; k < 3; k++) {
            b2c_cparams cp = params(B2C_CODEC_BLOSCLZ, B2C_FILTER_SHUFFLE);
            uint64_t seed = 99;
            size_t n = sizes[k];
            uint8_t src[5000];
            cp.clevel = kind == 3 ? 0 : 5;
            for (size_t i = 0; i < n; i++) {
                src[i] = kind == 0 ? 0 : kind == 1 ? 7 : (uint8_t)harness_random(&seed);
            }
            reset(&hook);
            b2c_ctx_set_prefilter(serial, plus_one, &hook);
            b2c_ctx_set_postfilter(serial, plus_one, &hook);
            CHECK_EQ(b2c_compress(serial, &cp, src, n, chunk, sizeof chunk, &len, &err), B2C_OK);
            CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_OK);
            bool same = got == n;
            for (size_t i = 0; i < n && same; i++) {
                same = out[i] == (uint8_t)(src[i] + 2);
            }
            CHECK(same);
            CHECK_EQ(b2c_compress(serial, &cp, src, 0, chunk, sizeof chunk, &len, &err), B2C_OK);
            CHECK_EQ(b2c_decompress(serial, chunk, len, out, N, &got, &err), B2C_OK);
            CHECK_EQ(got, 0);
            b2c_ctx_set_prefilter(serial, NULL, NULL);
            b2c_ctx_set_postfilter(serial, NULL, NULL);
        }
    }
}

enum { CHUNKSIZE = 100000 };

static b2c_schunk *new_schunk(b2c_cparams cp)
{
    b2c_schunk *s = NULL;
    b2c_schunk_params p;
    b2c_schunk_params_init(&p);
    p.chunksize = CHUNKSIZE;
    p.cparams = cp;
    CHECK_EQ(b2c_schunk_new(&p, &s, NULL), B2C_OK);
    return s;
}

static void test_schunk(void)
{
    b2c_error err;
    b2c_cparams cp = params(RLE, ADD);
    b2c_schunk *s = new_schunk(cp);
    size_t len;
    for (int64_t i = 0; i < 4; i++) {
        reset(&rle);
        reset(&add);
        reset(&hook);
        rle.schunk = add.schunk = hook.schunk = s;
        rle.nchunk = add.nchunk = hook.nchunk = i;
        rle.chunk_at = add.chunk_at = hook.chunk_at = (uint64_t)i * CHUNKSIZE;
        rle.clevel = add.clevel = cp.clevel;
        b2c_schunk_set_prefilter(s, plus_one, &hook);
        CHECK_EQ(b2c_schunk_append(s, parallel, data + i * CHUNKSIZE, CHUNKSIZE, &err), B2C_OK);
        CHECK(rle.n > 20 && add.n == 25 && hook.n == 25);
        CHECK_EQ(b2c_schunk_decode_chunk(s, parallel, (uint64_t)i, out, N, &len, &err), B2C_OK);
        CHECK(is_data_plus(out, (size_t)i * CHUNKSIZE, CHUNKSIZE, 1) && hook.n == 25);
        b2c_schunk_set_prefilter(s, NULL, NULL);
        b2c_schunk_set_postfilter(s, plus_one, &hook);
        CHECK_EQ(b2c_schunk_read(s, parallel, (uint64_t)i * CHUNKSIZE + 4095, 2, out, N, &err),
                 B2C_OK);
        CHECK(is_data_plus(out, (size_t)i * CHUNKSIZE + 4095, 2, 2) && hook.n == 27);
        b2c_schunk_set_postfilter(s, NULL, NULL);
        CHECK(!rle.wrong && !add.wrong && !hook.wrong);
    }
    rle.nchunk = add.nchunk = 2;
    rle.fail_block = 6;
    b2c_status st = b2c_schunk_read(s, serial, 0, N, out, N, &err);
    check_failure(&err, st, "rle", 1006, 0, 6);
    st = b2c_schunk_update(s, parallel, 2, data, CHUNKSIZE, &err);
    check_failure(&err, st, "rle", 1006, 2, 6);
    reset(&rle);
    CHECK_EQ(b2c_schunk_decode_chunk(s, parallel, 2, out, N, &len, &err), B2C_OK);
    CHECK(is_data_plus(out, (size_t)2 * CHUNKSIZE, CHUNKSIZE, 1)); /* as it was */
    b2c_schunk_free(s);
}

/* Functions of the user's are not called for a chunk of a number that there cannot be. */
static void test_no_such_chunk(void)
{
    b2c_error err;
    b2c_schunk *s = new_schunk(params(B2C_CODEC_BLOSCLZ, B2C_FILTER_SHUFFLE));
    reset(&hook);
    b2c_schunk_set_prefilter(s, plus_one, &hook);
    CHECK_EQ(b2c_schunk_insert(s, serial, 1, data, CHUNKSIZE, &err), B2C_E_RANGE);
    CHECK(err.expected == 0 && err.actual == 1);
    CHECK_EQ(b2c_schunk_update(s, serial, 0, data, CHUNKSIZE, &err), B2C_E_RANGE);
    CHECK_EQ(hook.n, 0);
    b2c_schunk_free(s);
}

static int delete_last(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    b2c_schunk *s = user;
    b2c_schunk_info info;
    (void)block;
    memcpy(dst, src, n);
    b2c_schunk_info_get(s, &info);
    return info.nchunks == 0 ? 0 : (int)b2c_schunk_delete_chunk(s, info.nchunks - 1, NULL);
}

/* One that edits what it works for breaks the rules; its chunk goes nowhere. */
static void test_edits_in_between(void)
{
    b2c_error err;
    for (int inserts = 0; inserts < 2; inserts++) {
        b2c_schunk *s = new_schunk(params(B2C_CODEC_BLOSCLZ, B2C_FILTER_SHUFFLE));
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(b2c_schunk_append(s, serial, data, CHUNKSIZE, &err), B2C_OK);
        }
        b2c_schunk_set_prefilter(s, delete_last, s);
        CHECK_EQ(inserts ? b2c_schunk_insert(s, serial, 2, data, CHUNKSIZE, &err)
                         : b2c_schunk_update(s, serial, 2, data, CHUNKSIZE, &err),
                 B2C_E_ARGUMENT);
        b2c_schunk_free(s);
    }
}

/* Edits of parts decode what is stored, not what reading shows. */
static void test_post_and_edits(void)
{
    b2c_error err;
    b2c_schunk *s = new_schunk(params(B2C_CODEC_BLOSCLZ, B2C_FILTER_SHUFFLE));
    reset(&hook);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(b2c_schunk_append(s, serial, data + i * CHUNKSIZE, CHUNKSIZE, &err), B2C_OK);
    }
    b2c_schunk_set_postfilter(s, plus_one, &hook);
    CHECK_EQ(b2c_schunk_write(s, serial, 150000, data + 150000, 10, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_truncate(s, serial, 390000, &err), B2C_OK);
    CHECK_EQ(hook.n, 0);
    CHECK_EQ(b2c_schunk_read(s, serial, 0, 390000, out, N, &err), B2C_OK);
    CHECK(is_data_plus(out, 0, 390000, 1));
    int has;
    int n = hook.n;
    CHECK_EQ(b2c_schunk_verify_chunk(s, serial, 1, &has, &err), B2C_OK);
    CHECK_EQ(hook.n, n);
    b2c_schunk_set_postfilter(s, NULL, NULL);
    CHECK_EQ(b2c_schunk_read(s, serial, 0, 390000, out, N, &err), B2C_OK);
    CHECK(is_data_plus(out, 0, 390000, 0));
    b2c_schunk_free(s);
}

static void test_fill(void)
{
    b2c_error err;
    b2c_schunk_info info;
    b2c_schunk *s = new_schunk(params(B2C_CODEC_BLOSCLZ, B2C_FILTER_SHUFFLE));
    CHECK_EQ(b2c_schunk_fill(s, parallel, 250001, position, NULL, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK(info.nbytes == 250001 && info.nchunks == 3);
    CHECK_EQ(b2c_schunk_read(s, parallel, 0, 250001, out, N, &err), B2C_OK);
    bool same = true;
    for (size_t i = 0; i < 250001; i++) {
        same = same && out[i] == i % 251;
    }
    CHECK(same);
    reset(&hook);
    hook.fail_block = 0;
    CHECK_EQ(b2c_schunk_fill(s, parallel, 300000, NULL, NULL, &err), B2C_E_ARGUMENT);
    b2c_schunk_free(s);
}

/* Zeros, in as many blocks as *user says; then it fails. */
static int some_zeros(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    (void)block;
    (void)src;
    memset(dst, 0, n);
    return (*(int *)user)-- == 0;
}

/* A function that fails takes along the chunks that it has made, not the transaction. */
static void test_fill_in_transaction(void)
{
    b2c_error err;
    b2c_schunk_info info;
    b2c_schunk *s = new_schunk(params(B2C_CODEC_BLOSCLZ, B2C_FILTER_SHUFFLE));
    for (int nblocks = 0; nblocks < 40; nblocks += 13) {
        int left = nblocks;
        CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_append(s, serial, data, CHUNKSIZE, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_fill(s, serial, (uint64_t)50 * CHUNKSIZE, some_zeros, &left, &err),
                 B2C_E_CALLBACK);
        CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
        b2c_schunk_info_get(s, &info);
        CHECK_EQ(info.nchunks, nblocks / 13 + 1);
        CHECK_EQ(info.nbytes, info.nchunks * CHUNKSIZE);
    }
    b2c_schunk_free(s);
}

int main(void)
{
    fill_data();
    if (b2c_pool_new(4, &pool, NULL) != B2C_OK ||
        b2c_ctx_new(NULL, 1, NULL, &serial, NULL) != B2C_OK ||
        b2c_ctx_new(pool, 4, NULL, &parallel, NULL) != B2C_OK) {
        return 1;
    }
    test_registering();
    test_round_trip();
    test_raw_and_runs();
    test_split();
    test_not_split();
    test_filtered_zeros();
    test_delta();
    test_failures();
    test_damage();
    test_other_reading();
    test_unknown();
    test_threads();
    test_context_hooks();
    test_kinds();
    test_schunk();
    test_no_such_chunk();
    test_edits_in_between();
    test_post_and_edits();
    test_fill();
    test_fill_in_transaction();
    b2c_ctx_free(parallel);
    b2c_ctx_free(serial);
    b2c_pool_free(pool);
    return RESULT();
}
