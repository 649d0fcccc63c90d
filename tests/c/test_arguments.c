/*
 * test_arguments.c: every public function with pointers that are NULL, and numbers that are 0 or
 * extreme: they fail with a status that names the argument, and change nothing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "blosc2c.h"
#include "world.h"

enum { CHUNK = 400, NCHUNKS = 3 };

static b2c_error err;
static b2c_ctx *ctx;
static b2c_schunk *s;     /* three chunks of 100 items, in memory */
static b2c_schunk *array; /* 6 x 5 items of 4 bytes */
static b2c_nd nd;         /* its shapes */
static uint8_t data[CHUNK], out[4096], chunk[1024];
static size_t len, chunk_len;
static uint64_t zeros[16], ones[16];
static const uint64_t huge = UINT64_MAX;

/* The call fails with a status, and the error says so in full. */
#define FAILS(expected, call)                                                                      \
    do {                                                                                           \
        err = (b2c_error){ .status = B2C_OK, .field = NULL };                                      \
        CHECK_EQ(call, expected);                                                                  \
        CHECK(err.status == (expected) && err.what != NULL && err.what[0] != '\0');                \
    } while (0)

/* A pointer or number that is no good: the error names it. */
#define REFUSED(call)                                                                              \
    do {                                                                                           \
        FAILS(B2C_E_ARGUMENT, call);                                                               \
        CHECK(err.field != NULL && err.field[0] != '\0');                                          \
    } while (0)

static void test_texts(void)
{
    for (int i = -300; i < 300; i++) {
        CHECK(b2c_status_text((b2c_status)i) != NULL && b2c_status_text((b2c_status)i)[0] != '\0');
    }
    CHECK(b2c_version()[0] != '\0' && b2c_simd_level()[0] != '\0');
    for (unsigned i = 0; i < 256; i++) {
        uint8_t id = (uint8_t)i;
        CHECK(!b2c_codec_available(id) || b2c_codec_name(id) != NULL);
        CHECK((b2c_codec_library(id) != NULL) == (b2c_codec_available(id) != 0));
        CHECK((b2c_codec_library_version(id) != NULL) == (b2c_codec_available(id) != 0));
        CHECK(b2c_filter_name(id) == NULL || b2c_filter_name(id)[0] != '\0');
    }
    b2c_advise_huge_pages(NULL, 0);
    b2c_advise_huge_pages(data, sizeof data);
}

static void test_contexts(void)
{
    b2c_pool *pool = NULL;
    b2c_ctx *c = NULL;
    REFUSED(b2c_pool_new(0, &pool, &err));
    REFUSED(b2c_pool_new(257, &pool, &err));
    REFUSED(b2c_pool_new(UINT32_MAX, &pool, &err));
    REFUSED(b2c_pool_new(1, NULL, &err));
    CHECK(pool == NULL);
    CHECK_EQ(b2c_pool_new(256, &pool, &err), B2C_OK);
    REFUSED(b2c_ctx_new(pool, 0, NULL, &c, &err));
    REFUSED(b2c_ctx_new(pool, UINT32_MAX, NULL, &c, &err));
    REFUSED(b2c_ctx_new(pool, 1, NULL, NULL, &err));
    CHECK(c == NULL);
    CHECK_EQ(b2c_ctx_new(pool, 256, NULL, &c, NULL), B2C_OK);
    REFUSED(b2c_ctx_set_nthreads(NULL, 1, &err));
    REFUSED(b2c_ctx_set_nthreads(c, 0, &err));
    REFUSED(b2c_ctx_set_nthreads(c, UINT32_MAX, &err));
    CHECK_EQ(b2c_ctx_set_nthreads(NULL, 1, NULL), B2C_E_ARGUMENT); /* nobody wants to know why */
    REFUSED(b2c_ctx_set_limits(NULL, NULL, &err));
    CHECK_EQ(b2c_ctx_set_limits(c, NULL, &err), B2C_OK);
    REFUSED(b2c_ctx_collect_damage(NULL, 1, &err));
    CHECK_EQ(b2c_ctx_collect_damage(c, 1, &err), B2C_OK);
    REFUSED(b2c_ctx_damage(NULL, 0, &err, &err));
    REFUSED(b2c_ctx_damage(c, 0, NULL, &err));
    CHECK_EQ(b2c_ctx_damage(c, 0, &err, &err), B2C_E_NOT_FOUND);
    b2c_ctx_free(c);
    b2c_ctx_free(NULL);
    b2c_pool_free(pool);
    b2c_pool_free(NULL);
}

static void test_chunks(void)
{
    b2c_chunk_info info;
    b2c_cparams cp, bad;
    b2c_cparams_init(NULL);
    b2c_cparams_init(&cp);
    CHECK(b2c_compress_bound(0) == 32 && b2c_compress_bound(SIZE_MAX) == SIZE_MAX);

    REFUSED(b2c_compress(NULL, &cp, data, CHUNK, out, sizeof out, &len, &err));
    REFUSED(b2c_compress(ctx, NULL, data, CHUNK, out, sizeof out, &len, &err));
    REFUSED(b2c_compress(ctx, &cp, NULL, CHUNK, out, sizeof out, &len, &err));
    REFUSED(b2c_compress(ctx, &cp, data, CHUNK, NULL, sizeof out, &len, &err));
    REFUSED(b2c_compress(ctx, &cp, data, CHUNK, out, sizeof out, NULL, &err));
    FAILS(B2C_E_LIMIT, b2c_compress(ctx, &cp, data, SIZE_MAX, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_compress(ctx, &cp, data, CHUNK, NULL, 0, &len, &err));
    CHECK(len >= 32 && len <= CHUNK + 32);
    CHECK_EQ(b2c_compress(ctx, &cp, NULL, 0, out, sizeof out, &len, &err), B2C_OK);
#define WITH(set) (bad = cp, bad.set)
#define REFUSED_WITH(set)                                                                          \
    do {                                                                                           \
        (void)WITH(set);                                                                           \
        REFUSED(b2c_compress(ctx, &bad, data, CHUNK, out, sizeof out, &len, &err));                \
        REFUSED(b2c_special_chunk(&bad, 1, 8, NULL, out, sizeof out, &len, &err));                 \
        REFUSED(b2c_cparams_check(&bad, &err));                                                    \
    } while (0)
    CHECK_EQ(b2c_cparams_check(&cp, &err), B2C_OK);
    REFUSED(b2c_cparams_check(NULL, &err));
    REFUSED_WITH(size = 0);
    REFUSED_WITH(typesize = 0);
    REFUSED_WITH(typesize = UINT32_MAX);
    REFUSED_WITH(blocksize = UINT32_MAX);
    REFUSED_WITH(clevel = 10);
    REFUSED_WITH(clevel = 255);
    REFUSED_WITH(splitmode = 0);
    REFUSED_WITH(splitmode = 255);
    (void)WITH(codec = 255);
    FAILS(B2C_E_UNKNOWN_CODEC, b2c_compress(ctx, &bad, data, CHUNK, out, sizeof out, &len, &err));
    FAILS(B2C_E_UNKNOWN_CODEC, b2c_cparams_check(&bad, &err));
    (void)WITH(filters[0] = 255);
    FAILS(B2C_E_UNKNOWN_FILTER, b2c_cparams_check(&bad, &err));
    FAILS(B2C_E_UNKNOWN_FILTER, b2c_compress(ctx, &bad, data, CHUNK, out, sizeof out, &len, &err));
#undef REFUSED_WITH
#undef WITH

    REFUSED(b2c_chunk_inspect(NULL, 32, &info, &err));
    REFUSED(b2c_chunk_inspect(chunk, chunk_len, NULL, &err));
    FAILS(B2C_E_TRUNCATED, b2c_chunk_inspect(NULL, 0, &info, &err));
    FAILS(B2C_E_TRUNCATED, b2c_chunk_inspect(chunk, 0, &info, &err));

    REFUSED(b2c_decompress(NULL, chunk, chunk_len, out, sizeof out, &len, &err));
    REFUSED(b2c_decompress(ctx, NULL, chunk_len, out, sizeof out, &len, &err));
    REFUSED(b2c_decompress(ctx, chunk, chunk_len, NULL, sizeof out, &len, &err));
    REFUSED(b2c_decompress(ctx, chunk, chunk_len, out, sizeof out, NULL, &err));
    FAILS(B2C_E_TRUNCATED, b2c_decompress(ctx, NULL, 0, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_decompress(ctx, chunk, chunk_len, NULL, 0, &len, &err));
    CHECK_EQ(len, CHUNK);

    REFUSED(b2c_getitem(NULL, chunk, chunk_len, 0, 1, out, sizeof out, &len, &err));
    REFUSED(b2c_getitem(ctx, NULL, chunk_len, 0, 1, out, sizeof out, &len, &err));
    REFUSED(b2c_getitem(ctx, chunk, chunk_len, 0, 1, NULL, sizeof out, &len, &err));
    REFUSED(b2c_getitem(ctx, chunk, chunk_len, 0, 1, out, sizeof out, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_getitem(ctx, chunk, chunk_len, huge, 1, out, sizeof out, &len, &err));
    FAILS(B2C_E_RANGE, b2c_getitem(ctx, chunk, chunk_len, 1, huge, out, sizeof out, &len, &err));
    FAILS(B2C_E_RANGE, b2c_getitem(ctx, chunk, chunk_len, huge, huge, out, sizeof out, &len, &err));
    FAILS(B2C_E_RANGE,
          b2c_getitem(ctx, chunk, chunk_len, 0, (huge >> 2) + 1, out, sizeof out, &len, &err));
    FAILS(B2C_E_RANGE, b2c_getitem(ctx, chunk, chunk_len, 99, 2, out, sizeof out, &len, &err));
    CHECK_EQ(err.expected, 100);
    CHECK_EQ(err.actual, 101); /* where the range ends, not where it begins */
    FAILS(B2C_E_OUTPUT_SIZE, b2c_getitem(ctx, chunk, chunk_len, 0, 100, out, 399, &len, &err));
    CHECK_EQ(b2c_getitem(ctx, chunk, chunk_len, 100, 0, NULL, 0, &len, &err), B2C_OK);

    REFUSED(b2c_special_chunk(NULL, 1, 8, NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_special_chunk(&cp, 0, 8, NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_special_chunk(&cp, 255, 8, NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_special_chunk(&cp, 1, 7, NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_special_chunk(&cp, 3, 8, NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_special_chunk(&cp, 3, 0, data, out, sizeof out, &len, &err));
    REFUSED(b2c_special_chunk(&cp, 1, 8, NULL, NULL, 32, &len, &err));
    REFUSED(b2c_special_chunk(&cp, 1, 8, NULL, out, sizeof out, NULL, &err));
    FAILS(B2C_E_LIMIT, b2c_special_chunk(&cp, 1, huge, NULL, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_special_chunk(&cp, 1, 8, NULL, NULL, 0, &len, &err));
}

static void refuse_params(const b2c_schunk_params *p)
{
    b2c_schunk *made = NULL;
    REFUSED(b2c_schunk_new(p, &made, &err));
    CHECK(made == NULL);
}

/* An empty name is one as any other. */
static void test_empty_name(void)
{
    b2c_schunk *made = NULL;
    b2c_schunk_params p;
    const char *name = "";
    const void *value = data;
    uint32_t value_len = 3;
    b2c_schunk_params_init(&p);
    p.nmeta = 1;
    p.meta_names = &name;
    p.meta_contents = &value;
    p.meta_lens = &value_len;
    CHECK_EQ(b2c_schunk_new(&p, &made, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_meta_get(made, "", out, sizeof out, &len, &err), B2C_OK);
    CHECK_EQ(len, 3);
    FAILS(B2C_E_EXISTS, b2c_schunk_meta_add(made, "", data, 3, &err));
    CHECK_EQ(b2c_schunk_vlmeta_set(made, ctx, "", data, 2, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_get(made, ctx, "", out, sizeof out, &len, &err), B2C_OK);
    CHECK_EQ(len, 2);
    CHECK_EQ(b2c_schunk_vlmeta_delete(made, "", &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(made, &err), B2C_OK);
}

static void test_new(void)
{
    b2c_schunk *made = NULL;
    b2c_schunk_params p, bad;
    static char long_name[33], long_path[8192];
    const char *names[2] = { "a", "a" };
    const void *contents[2] = { data, data };
    uint32_t lens[2] = { 1, 1 };
    b2c_schunk_params_init(NULL);
    b2c_schunk_params_init(&p);
    memset(long_name, 'x', sizeof long_name - 1);
    memset(long_path, 'x', sizeof long_path - 1);
    REFUSED(b2c_schunk_new(NULL, &made, &err));
    REFUSED(b2c_schunk_new(&p, NULL, &err));
#define REFUSED_WITH(...)                                                                          \
    do {                                                                                           \
        bad = p;                                                                                   \
        __VA_ARGS__;                                                                               \
        refuse_params(&bad);                                                                       \
    } while (0)
    REFUSED_WITH(bad.size = 0);
    REFUSED_WITH(bad.storage = 255);
    REFUSED_WITH(bad.durability = 255);
    REFUSED_WITH(bad.chunksize = -2);
    REFUSED_WITH(bad.chunksize = INT64_MAX);
    REFUSED_WITH(bad.chunksize = INT64_MIN);
    REFUSED_WITH(bad.storage = B2C_STORAGE_FILE);
    REFUSED_WITH(bad.storage = B2C_STORAGE_DIR, bad.path = "");
    REFUSED_WITH(bad.nmeta = 1);
    REFUSED_WITH(bad.nmeta = 255, bad.meta_names = names, bad.meta_contents = contents,
                 bad.meta_lens = lens);
    REFUSED_WITH(bad.nmeta = 2, bad.meta_names = names, bad.meta_contents = contents,
                 bad.meta_lens = lens); /* the same name twice */
    names[0] = long_name;
    REFUSED_WITH(bad.nmeta = 1, bad.meta_names = names, bad.meta_contents = contents,
                 bad.meta_lens = lens);
    names[0] = NULL;
    REFUSED_WITH(bad.nmeta = 1, bad.meta_names = names, bad.meta_contents = contents,
                 bad.meta_lens = lens);
    contents[1] = NULL;
    REFUSED_WITH(bad.nmeta = 1, bad.meta_names = names + 1, bad.meta_contents = contents + 1,
                 bad.meta_lens = lens + 1);
    REFUSED_WITH(bad.cparams.size = 0);
    REFUSED_WITH(bad.cparams.typesize = 0);
#undef REFUSED_WITH
    p.storage = B2C_STORAGE_FILE;
    p.path = long_path;
    FAILS(B2C_E_IO, b2c_schunk_new(&p, &made, &err));
    p.path = "/nonexistent/directory/file";
    FAILS(B2C_E_IO, b2c_schunk_new(&p, &made, &err));
    CHECK(err.sys_errno == ENOENT && made == NULL);
}

static int read_nothing(void *handle, uint64_t at, void *dst, size_t n)
{
    (void)handle;
    (void)at;
    memset(dst, 0, n);
    return 0;
}

static int size_huge(void *handle, uint64_t *size)
{
    (void)handle;
    *size = UINT64_MAX;
    return 0;
}

static void test_open(void)
{
    b2c_schunk *made = NULL;
    b2c_io_table io = { NULL, read_nothing, size_huge, NULL };
    static const int modes[] = { -1, INT32_MIN, INT32_MAX, 3, 4, 8, 15, 64, 1 << 20 };
    REFUSED(b2c_schunk_open(NULL, 0, B2C_OPEN_READ, NULL, &made, &err));
    REFUSED(b2c_schunk_open("x", 0, B2C_OPEN_READ, NULL, NULL, &err));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        REFUSED(b2c_schunk_open("/nonexistent", 0, modes[i], NULL, &made, &err));
    }
    FAILS(B2C_E_IO, b2c_schunk_open("", 0, B2C_OPEN_READ, NULL, &made, &err));
    FAILS(B2C_E_IO, b2c_schunk_open("/nonexistent", huge, B2C_OPEN_READ, NULL, &made, &err));
    FAILS(B2C_E_FORMAT, b2c_schunk_open("CMakeLists.txt", 0, B2C_OPEN_READ, NULL, &made, &err));
    FAILS(B2C_E_FORMAT, b2c_schunk_open("CMakeLists.txt", huge, B2C_OPEN_READ, NULL, &made, &err));
    FAILS(B2C_E_FORMAT,
          b2c_schunk_open("CMakeLists.txt", 0, B2C_OPEN_READ | B2C_OPEN_MMAP, NULL, &made, &err));
    REFUSED(b2c_schunk_open("CMakeLists.txt", 1, B2C_OPEN_UPDATE, NULL, &made, &err));
    REFUSED(b2c_schunk_open_mem(NULL, 1, 0, NULL, &made, &err));
    REFUSED(b2c_schunk_open_mem(data, 1, 0, NULL, NULL, &err));
    FAILS(B2C_E_FORMAT, b2c_schunk_open_mem(NULL, 0, 0, NULL, &made, &err));
    FAILS(B2C_E_FORMAT, b2c_schunk_open_mem(data, 0, 1, NULL, &made, &err));
    REFUSED(b2c_schunk_open_io(NULL, 0, NULL, &made, &err));
    REFUSED(b2c_schunk_open_io(&io, 0, NULL, NULL, &err));
    FAILS(B2C_E_FORMAT, b2c_schunk_open_io(&io, 0, NULL, &made, &err));
    FAILS(B2C_E_FORMAT, b2c_schunk_open_io(&io, huge - 100, NULL, &made, &err));
    FAILS(B2C_E_FORMAT, b2c_schunk_open_io(&io, huge, NULL, &made, &err));
    io.size = NULL;
    REFUSED(b2c_schunk_open_io(&io, 0, NULL, &made, &err));
    io = (b2c_io_table){ NULL, NULL, size_huge, NULL };
    REFUSED(b2c_schunk_open_io(&io, 0, NULL, &made, &err));
    CHECK(made == NULL);
    b2c_schunk_free(NULL);
    b2c_schunk_leave(NULL);
    CHECK_EQ(b2c_schunk_close(NULL, &err), B2C_OK);
    b2c_schunk_info info = { .nchunks = 9 };
    b2c_schunk_info_get(NULL, &info);
    CHECK(info.nchunks == 0 && info.cparams.size == 0);
    b2c_schunk_info_get(s, NULL);
}

static void test_reading(void)
{
    b2c_chunk_info info;
    uint64_t nchunk = 0;
    int has_checksum;
    REFUSED(b2c_schunk_next_dict(NULL, 0, &nchunk, &err));
    REFUSED(b2c_schunk_next_dict(s, 0, NULL, &err));
    CHECK_EQ(b2c_schunk_next_dict(s, huge, &nchunk, &err), B2C_OK);
    CHECK_EQ(nchunk, NCHUNKS);
    REFUSED(b2c_schunk_chunk_info(NULL, 0, &info, &err));
    REFUSED(b2c_schunk_chunk_info(s, 0, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_chunk_info(s, NCHUNKS, &info, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_chunk_info(s, huge, &info, &err));

    REFUSED(b2c_schunk_get_chunk(NULL, 0, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_get_chunk(s, 0, NULL, sizeof out, &len, &err));
    REFUSED(b2c_schunk_get_chunk(s, 0, out, sizeof out, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_get_chunk(s, huge, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_schunk_get_chunk(s, 0, NULL, 0, &len, &err));

    REFUSED(b2c_schunk_decode_chunk(NULL, ctx, 0, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_decode_chunk(s, NULL, 0, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_decode_chunk(s, ctx, 0, NULL, sizeof out, &len, &err));
    REFUSED(b2c_schunk_decode_chunk(s, ctx, 0, out, sizeof out, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_decode_chunk(s, ctx, huge, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_schunk_decode_chunk(s, ctx, 0, NULL, 0, &len, &err));
    CHECK_EQ(len, CHUNK);

    REFUSED(b2c_schunk_read(NULL, ctx, 0, 1, out, sizeof out, &err));
    REFUSED(b2c_schunk_read(s, NULL, 0, 1, out, sizeof out, &err));
    REFUSED(b2c_schunk_read(s, ctx, 0, 1, NULL, sizeof out, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_read(s, ctx, huge, 1, out, sizeof out, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_read(s, ctx, huge, 4000, out, sizeof out, &err));
    CHECK(err.expected == NCHUNKS * CHUNK && err.actual == UINT64_MAX);
    FAILS(B2C_E_OUTPUT_SIZE, b2c_schunk_read(s, ctx, 0, huge, out, sizeof out, &err));
    CHECK_EQ(b2c_schunk_read(s, ctx, NCHUNKS * CHUNK, 0, NULL, 0, &err), B2C_OK);
    FAILS(B2C_E_RANGE, b2c_schunk_read(s, ctx, NCHUNKS * CHUNK + 1, 0, NULL, 0, &err));

    REFUSED(b2c_schunk_verify_chunk(NULL, ctx, 0, &has_checksum, &err));
    REFUSED(b2c_schunk_verify_chunk(s, NULL, 0, &has_checksum, &err));
    REFUSED(b2c_schunk_verify_chunk(s, ctx, 0, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_verify_chunk(s, ctx, huge, &has_checksum, &err));

    uint64_t n = 9, m = 9;
    REFUSED(b2c_schunk_verify_chunks(NULL, ctx, 0, 9, &n, &m, &err));
    REFUSED(b2c_schunk_verify_chunks(s, NULL, 0, 9, &n, &m, &err));
    REFUSED(b2c_schunk_verify_chunks(s, ctx, 0, 9, NULL, &m, &err));
    REFUSED(b2c_schunk_verify_chunks(s, ctx, 0, 9, &n, NULL, &err));
    CHECK_EQ(b2c_schunk_verify_chunks(s, ctx, huge, huge, &n, &m, &err), B2C_OK);
    CHECK(n == 0 && m == 0);
    CHECK_EQ(b2c_schunk_verify_chunks(s, ctx, 0, 2, &n, &m, &err), B2C_OK);
    CHECK(n == 2 && m == 2);

    REFUSED(b2c_schunk_to_frame(NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_to_frame(s, NULL, sizeof out, &len, &err));
    REFUSED(b2c_schunk_to_frame(s, out, sizeof out, NULL, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_schunk_to_frame(s, NULL, 0, &len, &err));
    CHECK(len > 100);
}

static void test_editing(void)
{
    static const uint64_t order[NCHUNKS] = { 0, 0, 1 };
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    REFUSED(b2c_schunk_set_cparams(NULL, &cp, &err));
    REFUSED(b2c_schunk_set_cparams(s, NULL, &err));
    REFUSED(b2c_schunk_set_cparams(s, &cp, &err)); /* another typesize */

    REFUSED(b2c_schunk_append(NULL, ctx, data, CHUNK, &err));
    REFUSED(b2c_schunk_append(s, NULL, data, CHUNK, &err));
    REFUSED(b2c_schunk_append(s, ctx, NULL, CHUNK, &err));
    REFUSED(b2c_schunk_append(s, ctx, NULL, 0, &err)); /* an empty chunk */
    FAILS(B2C_E_LIMIT, b2c_schunk_append(s, ctx, data, SIZE_MAX, &err));
    REFUSED(b2c_schunk_append_chunk(NULL, chunk, chunk_len, &err));
    REFUSED(b2c_schunk_append_chunk(s, NULL, chunk_len, &err));
    FAILS(B2C_E_TRUNCATED, b2c_schunk_append_chunk(s, chunk, 0, &err));
    FAILS(B2C_E_TRUNCATED, b2c_schunk_append_chunk(s, chunk, chunk_len - 1, &err));
    REFUSED(b2c_schunk_insert(NULL, ctx, 0, data, CHUNK, &err));
    REFUSED(b2c_schunk_insert(s, NULL, 0, data, CHUNK, &err));
    REFUSED(b2c_schunk_insert(s, ctx, 0, NULL, CHUNK, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_insert(s, ctx, huge, data, CHUNK, &err));
    REFUSED(b2c_schunk_insert_chunk(NULL, 0, chunk, chunk_len, &err));
    REFUSED(b2c_schunk_insert_chunk(s, 0, NULL, chunk_len, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_insert_chunk(s, huge, chunk, chunk_len, &err));
    REFUSED(b2c_schunk_update(NULL, ctx, 0, data, CHUNK, &err));
    REFUSED(b2c_schunk_update(s, NULL, 0, data, CHUNK, &err));
    REFUSED(b2c_schunk_update(s, ctx, 0, NULL, CHUNK, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_update(s, ctx, NCHUNKS, data, CHUNK, &err));
    REFUSED(b2c_schunk_update_chunk(NULL, 0, chunk, chunk_len, &err));
    REFUSED(b2c_schunk_update_chunk(s, 0, NULL, chunk_len, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_update_chunk(s, huge, chunk, chunk_len, &err));
    REFUSED(b2c_schunk_delete_chunk(NULL, 0, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_delete_chunk(s, huge, &err));
    REFUSED(b2c_schunk_reorder(NULL, order, NCHUNKS, &err));
    REFUSED(b2c_schunk_reorder(s, NULL, NCHUNKS, &err));
    REFUSED(b2c_schunk_reorder(s, order, NCHUNKS, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_reorder(s, order, huge, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_reorder(s, NULL, 0, &err));
    REFUSED(b2c_schunk_fill_special(NULL, 4, 1, NULL, &err));
    REFUSED(b2c_schunk_fill_special(s, 4, 0, NULL, &err));
    REFUSED(b2c_schunk_fill_special(s, 4, 255, NULL, &err));
    REFUSED(b2c_schunk_fill_special(s, 4, B2C_SPECIAL_VALUE, NULL, &err));
    FAILS(B2C_E_LIMIT, b2c_schunk_fill_special(s, huge, 1, NULL, &err));
    REFUSED(b2c_schunk_update_special(NULL, 0, 1, NULL, &err));
    REFUSED(b2c_schunk_update_special(s, 0, 255, NULL, &err));
    REFUSED(b2c_schunk_update_special(s, 0, B2C_SPECIAL_VALUE, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_update_special(s, huge, 1, NULL, &err));
    REFUSED(b2c_schunk_write(NULL, ctx, 0, data, 1, &err));
    REFUSED(b2c_schunk_write(s, NULL, 0, data, 1, &err));
    REFUSED(b2c_schunk_write(s, ctx, 0, NULL, 1, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_write(s, ctx, huge, data, 1, &err));
    REFUSED(b2c_schunk_truncate(NULL, ctx, 0, &err));
    REFUSED(b2c_schunk_truncate(s, NULL, 0, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_truncate(s, ctx, huge, &err));
    REFUSED(b2c_schunk_copy_chunks(NULL, s, &err));
    REFUSED(b2c_schunk_copy_chunks(s, NULL, &err));
    REFUSED(b2c_schunk_copy_chunks(s, s, &err));
    REFUSED(b2c_schunk_copy_some(NULL, &huge, 1, s, &err));
    REFUSED(b2c_schunk_copy_some(s, &huge, 1, NULL, &err));
    REFUSED(b2c_schunk_copy_some(s, &huge, 1, s, &err));
    REFUSED(b2c_schunk_compact(NULL, &err));
}

static void test_commits(void)
{
    REFUSED(b2c_schunk_set_durability(NULL, 0, &err));
    REFUSED(b2c_schunk_set_durability(s, -1, &err));
    REFUSED(b2c_schunk_set_durability(s, INT32_MAX, &err));
    REFUSED(b2c_schunk_set_checksums(NULL, 1, 1, &err));
    REFUSED(b2c_schunk_begin(NULL, &err));
    REFUSED(b2c_schunk_commit(NULL, &err));
    REFUSED(b2c_schunk_rollback(NULL, &err));
    REFUSED(b2c_schunk_flush(NULL, &err));
    REFUSED(b2c_schunk_settle(NULL, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_commit(s, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_rollback(s, &err));
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    FAILS(B2C_E_ARGUMENT, b2c_schunk_begin(s, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_flush(s, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_compact(s, &err));
    CHECK_EQ(b2c_schunk_rollback(s, &err), B2C_OK);
    int changed;
    REFUSED(b2c_schunk_lock(NULL, 1, &changed, &err));
    REFUSED(b2c_schunk_unlock(NULL, &err));
    REFUSED(b2c_schunk_refresh(NULL, &changed, &err));
    REFUSED(b2c_schunk_refresh(s, NULL, &err));
    REFUSED(b2c_schunk_recheck(NULL, &changed, &err));
    REFUSED(b2c_schunk_recheck(s, NULL, &err));
    CHECK(b2c_schunk_is_current(NULL) == 1);
    CHECK_EQ(b2c_schunk_lock(s, 1, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_unlock(s, &err), B2C_OK);
}

static void test_metalayers(void)
{
    char name[32];
    static char long_name[33];
    memset(long_name, 'x', sizeof long_name - 1);
    REFUSED(b2c_schunk_meta_name(NULL, 0, name, &err));
    REFUSED(b2c_schunk_meta_name(s, 0, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_meta_name(s, UINT32_MAX, name, &err));
    REFUSED(b2c_schunk_vlmeta_name(NULL, 0, name, &err));
    REFUSED(b2c_schunk_vlmeta_name(s, 0, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_vlmeta_name(s, UINT32_MAX, name, &err));

    REFUSED(b2c_schunk_meta_get(NULL, "m", out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_meta_get(s, NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_meta_get(s, "m", NULL, sizeof out, &len, &err));
    REFUSED(b2c_schunk_meta_get(s, "m", out, sizeof out, NULL, &err));
    FAILS(B2C_E_NOT_FOUND, b2c_schunk_meta_get(s, "", out, sizeof out, &len, &err));
    FAILS(B2C_E_NOT_FOUND, b2c_schunk_meta_get(s, long_name, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_schunk_meta_get(s, "m", NULL, 0, &len, &err));
    CHECK_EQ(len, 3);
    REFUSED(b2c_schunk_meta_update(NULL, "m", data, 3, &err));
    REFUSED(b2c_schunk_meta_update(s, NULL, data, 3, &err));
    REFUSED(b2c_schunk_meta_update(s, "m", NULL, 3, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_meta_update(s, "m", data, SIZE_MAX, &err));
    FAILS(B2C_E_NOT_FOUND, b2c_schunk_meta_update(s, "x", data, 3, &err));
    REFUSED(b2c_schunk_meta_add(NULL, "x", data, 3, &err));
    REFUSED(b2c_schunk_meta_add(s, NULL, data, 3, &err));
    REFUSED(b2c_schunk_meta_add(s, "x", NULL, 3, &err));
    REFUSED(b2c_schunk_meta_add(s, long_name, data, 3, &err));
    FAILS(B2C_E_ARGUMENT, b2c_schunk_meta_add(s, "x", data, 3, &err)); /* there are chunks */

    REFUSED(b2c_schunk_vlmeta_get(NULL, ctx, "v", out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_vlmeta_get(s, NULL, "v", out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_vlmeta_get(s, ctx, NULL, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_vlmeta_get(s, ctx, "v", NULL, sizeof out, &len, &err));
    REFUSED(b2c_schunk_vlmeta_get(s, ctx, "v", out, sizeof out, NULL, &err));
    FAILS(B2C_E_NOT_FOUND, b2c_schunk_vlmeta_get(s, ctx, "x", out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_schunk_vlmeta_get(s, ctx, "v", NULL, 0, &len, &err));
    CHECK_EQ(len, CHUNK);
    REFUSED(b2c_schunk_vlmeta_set(NULL, ctx, "v", data, 3, &err));
    REFUSED(b2c_schunk_vlmeta_set(s, NULL, "v", data, 3, &err));
    REFUSED(b2c_schunk_vlmeta_set(s, ctx, NULL, data, 3, &err));
    REFUSED(b2c_schunk_vlmeta_set(s, ctx, "v", NULL, 3, &err));
    REFUSED(b2c_schunk_vlmeta_set(s, ctx, long_name, data, 3, &err));
    FAILS(B2C_E_LIMIT, b2c_schunk_vlmeta_set(s, ctx, "v", data, SIZE_MAX, &err));
    REFUSED(b2c_schunk_vlmeta_delete(NULL, "v", &err));
    REFUSED(b2c_schunk_vlmeta_delete(s, NULL, &err));
    FAILS(B2C_E_NOT_FOUND, b2c_schunk_vlmeta_delete(s, "x", &err));
}

static void test_shapes(void)
{
    b2c_nd bad = nd;
    size_t at;
    REFUSED(b2c_nd_check(NULL, &err));
    CHECK(b2c_nd_chunksize(NULL) == 0 && b2c_nd_blocksize(NULL) == 0 && b2c_nd_nchunks(NULL) == 0);
#define BAD(status, set)                                                                           \
    do {                                                                                           \
        bad = nd;                                                                                  \
        bad.set;                                                                                   \
        FAILS(status, b2c_nd_check(&bad, &err));                                                   \
        CHECK(b2c_nd_chunksize(&bad) == 0 && b2c_nd_blocksize(&bad) == 0);                         \
        CHECK_EQ(b2c_nd_nchunks(&bad), 0);                                                         \
    } while (0)
    BAD(B2C_E_ARGUMENT, size = 0);
    BAD(B2C_E_LIMIT, ndim = 17);
    BAD(B2C_E_LIMIT, ndim = UINT32_MAX);
    BAD(B2C_E_ARGUMENT, itemsize = 0);
    BAD(B2C_E_ARGUMENT, itemsize = UINT32_MAX);
    BAD(B2C_E_ARGUMENT, shape[0] = huge);
    BAD(B2C_E_ARGUMENT, chunks[0] = 0);
    BAD(B2C_E_LIMIT, chunks[0] = UINT32_MAX);
    BAD(B2C_E_ARGUMENT, blocks[0] = 0);
    BAD(B2C_E_LIMIT, blocks[0] = UINT32_MAX);
#undef BAD
    REFUSED(b2c_nd_meta_encode(NULL, "<i4", 3, out, sizeof out, &len, &err));
    REFUSED(b2c_nd_meta_encode(&nd, NULL, 3, out, sizeof out, &len, &err));
    REFUSED(b2c_nd_meta_encode(&nd, "<i4", 3, NULL, sizeof out, &len, &err));
    REFUSED(b2c_nd_meta_encode(&nd, "<i4", 3, out, sizeof out, NULL, &err));
    FAILS(B2C_E_LIMIT, b2c_nd_meta_encode(&nd, "<i4", SIZE_MAX, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_nd_meta_encode(&nd, "<i4", 3, NULL, 0, &len, &err));
    REFUSED(b2c_nd_meta_decode(NULL, 9, &bad, &at, &len, &err));
    REFUSED(b2c_nd_meta_decode(out, 9, NULL, &at, &len, &err));
    REFUSED(b2c_nd_meta_decode(out, 9, &bad, NULL, &len, &err));
    REFUSED(b2c_nd_meta_decode(out, 9, &bad, &at, NULL, &err));
    FAILS(B2C_E_TRUNCATED, b2c_nd_meta_decode(NULL, 0, &bad, &at, &len, &err));
    REFUSED(b2c_nd_from_schunk(NULL, &bad, &err));
    REFUSED(b2c_nd_from_schunk(array, NULL, &err));
    FAILS(B2C_E_NOT_FOUND, b2c_nd_from_schunk(s, &bad, &err));
    REFUSED(b2c_nd_check_chunks(NULL, &nd, &err));
    REFUSED(b2c_nd_check_chunks(array, NULL, &err));
    const void *dtype;
    REFUSED(b2c_nd_open(NULL, &bad, &dtype, &len, &err));
    REFUSED(b2c_nd_open(array, NULL, &dtype, &len, &err));
    REFUSED(b2c_nd_open(array, &bad, NULL, &len, &err));
    REFUSED(b2c_nd_open(array, &bad, &dtype, NULL, &err));
    FAILS(B2C_E_NOT_FOUND, b2c_nd_open(s, &bad, &dtype, &len, &err));
}

static void test_boxes(void)
{
    uint64_t far[16] = { huge, huge }, wide[16] = { 7, 1 };
    REFUSED(b2c_nd_read(NULL, ctx, &nd, zeros, ones, ones, out, sizeof out, &err));
    REFUSED(b2c_nd_read(array, NULL, &nd, zeros, ones, ones, out, sizeof out, &err));
    REFUSED(b2c_nd_read(array, ctx, NULL, zeros, ones, ones, out, sizeof out, &err));
    REFUSED(b2c_nd_read(array, ctx, &nd, NULL, ones, ones, out, sizeof out, &err));
    REFUSED(b2c_nd_read(array, ctx, &nd, zeros, NULL, ones, out, sizeof out, &err));
    REFUSED(b2c_nd_read(array, ctx, &nd, zeros, ones, NULL, out, sizeof out, &err));
    REFUSED(b2c_nd_read(array, ctx, &nd, zeros, ones, ones, NULL, sizeof out, &err));
    REFUSED(b2c_nd_read(array, ctx, &nd, zeros, ones, zeros, out, sizeof out, &err)); /* step 0 */
    FAILS(B2C_E_RANGE, b2c_nd_read(array, ctx, &nd, far, ones, ones, out, sizeof out, &err));
    FAILS(B2C_E_RANGE, b2c_nd_read(array, ctx, &nd, zeros, far, ones, out, sizeof out, &err));
    FAILS(B2C_E_RANGE, b2c_nd_read(array, ctx, &nd, zeros, wide, ones, out, sizeof out, &err));
    CHECK(err.expected == nd.shape[0] && err.actual == 7); /* where it ends */
    wide[0] = 2;
    FAILS(B2C_E_RANGE, b2c_nd_read(array, ctx, &nd, zeros, wide, far, out, sizeof out, &err));
    CHECK_EQ(err.actual, UINT64_MAX);
    FAILS(B2C_E_OUTPUT_SIZE, b2c_nd_read(array, ctx, &nd, zeros, ones, ones, NULL, 0, &err));
    FAILS(B2C_E_CORRUPT, b2c_nd_read(s, ctx, &nd, zeros, ones, ones, out, sizeof out, &err));

    REFUSED(b2c_nd_read_item(NULL, ctx, &nd, zeros, 0, out, sizeof out, &err));
    REFUSED(b2c_nd_read_item(array, NULL, &nd, zeros, 0, out, sizeof out, &err));
    REFUSED(b2c_nd_read_item(array, ctx, NULL, zeros, 0, out, sizeof out, &err));
    REFUSED(b2c_nd_read_item(array, ctx, &nd, NULL, 0, out, sizeof out, &err));
    REFUSED(b2c_nd_read_item(array, ctx, &nd, zeros, 0, NULL, sizeof out, &err));
    FAILS(B2C_E_RANGE, b2c_nd_read_item(array, ctx, &nd, far, 0, out, sizeof out, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_nd_read_item(array, ctx, &nd, zeros, 0, NULL, 0, &err));

    REFUSED(b2c_nd_write(NULL, ctx, &nd, zeros, ones, ones, data, 4, &err));
    REFUSED(b2c_nd_write(array, NULL, &nd, zeros, ones, ones, data, 4, &err));
    REFUSED(b2c_nd_write(array, ctx, NULL, zeros, ones, ones, data, 4, &err));
    REFUSED(b2c_nd_write(array, ctx, &nd, NULL, ones, ones, data, 4, &err));
    REFUSED(b2c_nd_write(array, ctx, &nd, zeros, NULL, ones, data, 4, &err));
    REFUSED(b2c_nd_write(array, ctx, &nd, zeros, ones, NULL, data, 4, &err));
    REFUSED(b2c_nd_write(array, ctx, &nd, zeros, ones, ones, NULL, 4, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_write(array, ctx, &nd, zeros, ones, ones, data, 5, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_write(array, ctx, &nd, zeros, ones, ones, data, SIZE_MAX, &err));
    FAILS(B2C_E_RANGE, b2c_nd_write(array, ctx, &nd, far, ones, ones, data, 4, &err));

    b2c_nd shapes = nd;
    REFUSED(b2c_nd_resize(NULL, ctx, &shapes, ones, &err));
    REFUSED(b2c_nd_resize(array, NULL, &shapes, ones, &err));
    REFUSED(b2c_nd_resize(array, ctx, NULL, ones, &err));
    REFUSED(b2c_nd_resize(array, ctx, &shapes, NULL, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_resize(array, ctx, &shapes, far, &err));

    REFUSED(b2c_nd_append(NULL, ctx, &shapes, 0, 1, data, 4, &err));
    REFUSED(b2c_nd_append(array, NULL, &shapes, 0, 1, data, 4, &err));
    REFUSED(b2c_nd_append(array, ctx, NULL, 0, 1, data, 4, &err));
    REFUSED(b2c_nd_append(array, ctx, &shapes, nd.ndim, 1, data, 4, &err));
    REFUSED(b2c_nd_append(array, ctx, &shapes, 0, 1, NULL, 4, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_append(array, ctx, &shapes, 0, 1, data, SIZE_MAX, &err));
    FAILS(B2C_E_LIMIT, b2c_nd_append(array, ctx, &shapes, 0, huge, data, 4, &err));
    CHECK(memcmp(&shapes, &nd, sizeof nd) == 0);

    REFUSED(b2c_nd_append_chunks(NULL, ctx, &nd, 0, 1, data, 4, &err));
    REFUSED(b2c_nd_append_chunks(array, NULL, &nd, 0, 1, data, 4, &err));
    REFUSED(b2c_nd_append_chunks(array, ctx, NULL, 0, 1, data, 4, &err));
    REFUSED(b2c_nd_append_chunks(array, ctx, &nd, 0, 1, NULL, 4, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_append_chunks(array, ctx, &nd, huge, 1, data, 4, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_append_chunks(array, ctx, &nd, 0, huge, data, 4, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_append_chunks(array, ctx, &nd, huge, 0, data, 4, &err));
}

static void refuse_places(b2c_status expected, const b2c_nd_places *p)
{
    FAILS(expected, b2c_nd_read_places(array, ctx, &nd, p, out, sizeof out, &err));
    FAILS(expected, b2c_nd_write_places(array, ctx, &nd, p, data, 4, &err));
}

static void test_places(void)
{
    uint64_t far[2] = { huge, huge };
    const b2c_nd_places one = {
        .size = sizeof one, .naxes = 2, .axes = { 0, 1 }, .nplaces = 1, .coords = zeros
    };
    b2c_nd_places p;
    REFUSED(b2c_nd_read_places(NULL, ctx, &nd, &one, out, sizeof out, &err));
    REFUSED(b2c_nd_read_places(array, NULL, &nd, &one, out, sizeof out, &err));
    REFUSED(b2c_nd_read_places(array, ctx, NULL, &one, out, sizeof out, &err));
    REFUSED(b2c_nd_read_places(array, ctx, &nd, NULL, out, sizeof out, &err));
    REFUSED(b2c_nd_read_places(array, ctx, &nd, &one, NULL, sizeof out, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_nd_read_places(array, ctx, &nd, &one, NULL, 0, &err));
    REFUSED(b2c_nd_write_places(NULL, ctx, &nd, &one, data, 4, &err));
    REFUSED(b2c_nd_write_places(array, NULL, &nd, &one, data, 4, &err));
    REFUSED(b2c_nd_write_places(array, ctx, NULL, &one, data, 4, &err));
    REFUSED(b2c_nd_write_places(array, ctx, &nd, NULL, data, 4, &err));
    REFUSED(b2c_nd_write_places(array, ctx, &nd, &one, NULL, 4, &err));
    FAILS(B2C_E_ARGUMENT, b2c_nd_write_places(array, ctx, &nd, &one, data, 5, &err));
#define BAD(status, ...)                                                                           \
    do {                                                                                           \
        p = one;                                                                                   \
        __VA_ARGS__;                                                                               \
        refuse_places(status, &p);                                                                 \
    } while (0)
    BAD(B2C_E_ARGUMENT, p.size = 0);
    BAD(B2C_E_ARGUMENT, p.naxes = 3);
    BAD(B2C_E_ARGUMENT, p.naxes = UINT32_MAX);
    BAD(B2C_E_ARGUMENT, p.axes[1] = 0);
    BAD(B2C_E_ARGUMENT, p.axes[1] = UINT32_MAX);
    BAD(B2C_E_ARGUMENT, p.coords = NULL);
    BAD(B2C_E_RANGE, p.coords = far);
    BAD(B2C_E_ARGUMENT, p.ncoords = far);
    BAD(B2C_E_ARGUMENT, p.ncoords = zeros);
    BAD(B2C_E_ARGUMENT, p.ncoords = ones, p.nplaces = 2);
    BAD(B2C_E_RANGE, p.ncoords = ones, p.coords = far);
    BAD(B2C_E_ARGUMENT, p.naxes = 1); /* no box for the other axis */
    BAD(B2C_E_ARGUMENT, p.naxes = 1, p.start = zeros, p.count = ones);
    BAD(B2C_E_ARGUMENT, p.naxes = 1, p.start = zeros, p.count = ones, p.step = zeros);
    BAD(B2C_E_RANGE, p.naxes = 1, p.start = far, p.count = ones, p.step = ones);
    BAD(B2C_E_RANGE, p.naxes = 1, p.start = zeros, p.count = far, p.step = ones);
#undef BAD
    p = one;
    p.nplaces = huge;
    FAILS(B2C_E_ARGUMENT, b2c_nd_read_places(array, ctx, &nd, &p, out, sizeof out, &err));
}

static void test_repair(void)
{
    b2c_repair_params p;
    b2c_repair_result result;
    b2c_repair_params_init(NULL);
    b2c_repair_params_init(&p);
    REFUSED(b2c_repair(NULL, "/nonexistent/x", &p, &result, &err));
    REFUSED(b2c_repair("/nonexistent", NULL, &p, &result, &err));
    REFUSED(b2c_repair("/nonexistent", "/nonexistent/x", NULL, &result, &err));
    REFUSED(b2c_repair("/nonexistent", "/nonexistent/x", &p, NULL, &err));
    FAILS(B2C_E_IO, b2c_repair("/nonexistent", "/nonexistent/x", &p, &result, &err));
    FAILS(B2C_E_IO, b2c_repair("", "", &p, &result, &err));
    p.offset = huge;
    FAILS(B2C_E_FORMAT, b2c_repair("CMakeLists.txt", "/nonexistent/x", &p, &result, &err));
    p.storage = B2C_STORAGE_MEMORY;
    REFUSED(b2c_repair("/nonexistent", "/nonexistent/x", &p, &result, &err));
    p.storage = 255;
    REFUSED(b2c_repair("/nonexistent", "/nonexistent/x", &p, &result, &err));
    p.size = 0;
    REFUSED(b2c_repair("/nonexistent", "/nonexistent/x", &p, &result, &err));
}

static void make_objects(void)
{
    b2c_schunk_params p;
    const char *names[] = { "m" };
    const void *contents[] = { "abc" };
    uint32_t lens[] = { 3 };
    uint8_t meta[256];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * i);
    }
    for (int i = 0; i < 16; i++) {
        ones[i] = 1;
    }
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    b2c_schunk_params_init(&p);
    p.cparams.typesize = 4;
    p.chunksize = CHUNK;
    p.nmeta = 1;
    p.meta_names = names;
    p.meta_contents = contents;
    p.meta_lens = lens;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    for (int i = 0; i < NCHUNKS; i++) {
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "v", data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_get_chunk(s, 0, chunk, sizeof chunk, &chunk_len, &err), B2C_OK);

    nd = (b2c_nd){ .size = sizeof nd, .ndim = 2, .itemsize = 4 };
    nd.shape[0] = 6, nd.shape[1] = 5;
    nd.chunks[0] = 4, nd.chunks[1] = 5;
    nd.blocks[0] = 2, nd.blocks[1] = 3;
    CHECK_EQ(b2c_nd_meta_encode(&nd, "<i4", 3, meta, sizeof meta, &len, &err), B2C_OK);
    p.chunksize = (int64_t)b2c_nd_chunksize(&nd);
    names[0] = "b2nd";
    contents[0] = meta;
    lens[0] = (uint32_t)len;
    CHECK_EQ(b2c_schunk_new(&p, &array, &err), B2C_OK);
    CHECK_EQ(b2c_nd_append_chunks(array, ctx, &nd, 0, b2c_nd_nchunks(&nd), data, 120, &err),
             B2C_OK);
}

static int copy(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    (void)user;
    (void)block;
    memmove(dst, src == NULL ? dst : src, n);
    return 0;
}

static int encode(void *user, const b2c_block *block, const void *src, size_t n, void *dst,
                  size_t cap, size_t *dst_len)
{
    (void)cap;
    *dst_len = 0;
    return copy(user, block, src, dst, n);
}

static int decode(void *user, const b2c_block *block, const void *src, size_t src_len, void *dst,
                  size_t n)
{
    (void)src_len;
    return copy(user, block, src, dst, n);
}

static void test_plugins(void)
{
    const b2c_codec_plugin codec = { sizeof codec, 200, 1, "mine", NULL, encode, decode };
    const b2c_filter_plugin filter = { sizeof filter, 200, "mine", NULL, copy, copy };
    b2c_codec_plugin c;
    b2c_filter_plugin f;
#define CODEC_WITH(set)  (c = codec, c.set, &c)
#define FILTER_WITH(set) (f = filter, f.set, &f)
    REFUSED(b2c_register_codec(NULL, &err));
    REFUSED(b2c_register_codec(CODEC_WITH(size = 0), &err));
    REFUSED(b2c_register_codec(CODEC_WITH(id = 0), &err));
    REFUSED(b2c_register_codec(CODEC_WITH(name = NULL), &err));
    REFUSED(b2c_register_codec(CODEC_WITH(encode = NULL), &err));
    REFUSED(b2c_register_codec(CODEC_WITH(decode = NULL), &err));
    REFUSED(b2c_register_filter(NULL, &err));
    REFUSED(b2c_register_filter(FILTER_WITH(size = 0), &err));
    REFUSED(b2c_register_filter(FILTER_WITH(id = 0), &err));
    REFUSED(b2c_register_filter(FILTER_WITH(name = NULL), &err));
    REFUSED(b2c_register_filter(FILTER_WITH(forward = NULL), &err));
    REFUSED(b2c_register_filter(FILTER_WITH(backward = NULL), &err));
#undef CODEC_WITH
#undef FILTER_WITH
    b2c_set_plugin_loader(NULL);
    b2c_ctx_set_prefilter(NULL, copy, NULL);
    b2c_ctx_set_postfilter(NULL, copy, NULL);
    b2c_schunk_set_prefilter(NULL, copy, NULL);
    b2c_schunk_set_postfilter(NULL, copy, NULL);
    REFUSED(b2c_schunk_fill(NULL, ctx, 4, copy, NULL, &err));
    REFUSED(b2c_schunk_fill(s, NULL, 4, copy, NULL, &err));
    REFUSED(b2c_schunk_fill(s, ctx, 4, NULL, NULL, &err));
    FAILS(B2C_E_LIMIT, b2c_schunk_fill(s, ctx, huge, copy, NULL, &err));
    CHECK(err.expected < err.actual && err.actual < huge / CHUNK + 100); /* chunks */
}

static void test_vlblocks(void)
{
    const void *blocks[2] = { data, data }, *holes[2] = { data, NULL };
    size_t lens[2] = { 8, 12 }, none[2] = { 8, 0 }, many[2] = { SIZE_MAX, SIZE_MAX };
    uint8_t vl[512];
    uint32_t sizes[2];
    size_t n;
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    REFUSED(b2c_vlcompress(NULL, &cp, blocks, lens, 2, vl, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, NULL, blocks, lens, 2, vl, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, &cp, NULL, lens, 2, vl, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, &cp, holes, lens, 2, vl, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, &cp, blocks, NULL, 2, vl, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, &cp, blocks, none, 2, vl, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, &cp, blocks, lens, 0, vl, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, &cp, blocks, lens, 2, NULL, sizeof vl, &len, &err));
    REFUSED(b2c_vlcompress(ctx, &cp, blocks, lens, 2, vl, sizeof vl, NULL, &err));
    FAILS(B2C_E_LIMIT, b2c_vlcompress(ctx, &cp, blocks, many, 2, vl, sizeof vl, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_vlcompress(ctx, &cp, blocks, lens, 2, NULL, 0, &len, &err));
    CHECK_EQ(b2c_vlcompress(ctx, &cp, blocks, lens, 2, vl, sizeof vl, &n, &err), B2C_OK);

    REFUSED(b2c_vlblock_lens(NULL, vl, n, sizes, 2, &len, &err));
    REFUSED(b2c_vlblock_lens(ctx, NULL, n, sizes, 2, &len, &err));
    REFUSED(b2c_vlblock_lens(ctx, vl, n, NULL, 2, &len, &err));
    REFUSED(b2c_vlblock_lens(ctx, vl, n, sizes, 2, NULL, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_vlblock_lens(ctx, vl, n, NULL, 0, &len, &err));
    CHECK_EQ(len, 2);
    FAILS(B2C_E_UNSUPPORTED, b2c_vlblock_lens(ctx, chunk, chunk_len, sizes, 2, &len, &err));
    REFUSED(b2c_vldecompress_block(NULL, vl, n, 0, out, sizeof out, &len, &err));
    REFUSED(b2c_vldecompress_block(ctx, NULL, n, 0, out, sizeof out, &len, &err));
    REFUSED(b2c_vldecompress_block(ctx, vl, n, 0, NULL, sizeof out, &len, &err));
    REFUSED(b2c_vldecompress_block(ctx, vl, n, 0, out, sizeof out, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_vldecompress_block(ctx, vl, n, 2, out, sizeof out, &len, &err));
    FAILS(B2C_E_RANGE, b2c_vldecompress_block(ctx, vl, n, huge, out, sizeof out, &len, &err));
    FAILS(B2C_E_OUTPUT_SIZE, b2c_vldecompress_block(ctx, vl, n, 0, NULL, 0, &len, &err));

    REFUSED(b2c_schunk_append_vlblocks(NULL, ctx, blocks, lens, 2, &err));
    REFUSED(b2c_schunk_append_vlblocks(s, NULL, blocks, lens, 2, &err));
    REFUSED(b2c_schunk_append_vlblocks(s, ctx, NULL, lens, 2, &err));
    REFUSED(b2c_schunk_append_vlblocks(s, ctx, blocks, NULL, 2, &err));
    REFUSED(b2c_schunk_append_vlblocks(s, ctx, blocks, none, 2, &err));
    REFUSED(b2c_schunk_append_vlblocks(s, ctx, blocks, lens, 0, &err));
    REFUSED(b2c_schunk_vlblock_lens(NULL, 0, sizes, 2, &len, &err));
    REFUSED(b2c_schunk_vlblock_lens(s, 0, NULL, 2, &len, &err));
    REFUSED(b2c_schunk_vlblock_lens(s, 0, sizes, 2, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_vlblock_lens(s, huge, sizes, 2, &len, &err));
    FAILS(B2C_E_UNSUPPORTED, b2c_schunk_vlblock_lens(s, 0, sizes, 2, &len, &err));
    REFUSED(b2c_schunk_get_vlblock(NULL, ctx, 0, 0, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_get_vlblock(s, NULL, 0, 0, out, sizeof out, &len, &err));
    REFUSED(b2c_schunk_get_vlblock(s, ctx, 0, 0, NULL, sizeof out, &len, &err));
    REFUSED(b2c_schunk_get_vlblock(s, ctx, 0, 0, out, sizeof out, NULL, &err));
    FAILS(B2C_E_RANGE, b2c_schunk_get_vlblock(s, ctx, huge, 0, out, sizeof out, &len, &err));
    FAILS(B2C_E_UNSUPPORTED, b2c_schunk_get_vlblock(s, ctx, 0, 0, out, sizeof out, &len, &err));
}

/* None of the calls that failed has changed anything. */
static void check_objects(void)
{
    uint64_t all[2] = { 6, 5 };
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, out, sizeof out, &len, &err), B2C_OK);
        CHECK(len == CHUNK && memcmp(out, data, CHUNK) == 0);
    }
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    CHECK(info.nchunks == NCHUNKS && info.nmeta == 1 && info.nvlmeta == 1);
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "v", out, sizeof out, &len, &err), B2C_OK);
    CHECK(len == CHUNK && memcmp(out, data, CHUNK) == 0);
    CHECK_EQ(b2c_nd_read(array, ctx, &nd, zeros, all, ones, out, sizeof out, &err), B2C_OK);
    CHECK(memcmp(out, data, 120) == 0);
}

int main(void)
{
    make_objects();
    test_texts();
    test_contexts();
    test_chunks();
    test_empty_name();
    test_new();
    test_open();
    test_reading();
    test_editing();
    test_commits();
    test_metalayers();
    test_shapes();
    test_boxes();
    test_places();
    test_repair();
    test_plugins();
    test_vlblocks();
    check_objects();
    b2c_schunk_free(array);
    b2c_schunk_free(s);
    b2c_ctx_free(ctx);
    return RESULT();
}
