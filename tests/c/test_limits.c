/*
 * test_limits.c: b2c_limits: what is beyond them is refused before memory is taken for it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "gate.h"
#include "io_hook.h"
#include "world.h"

#include <pthread.h>
#include <time.h>

enum { CHUNK = 400, NCHUNKS = 6, NTHREADS = 8 };

static char root[256], path[300];
static b2c_error err;
static b2c_ctx *ctx;

static void make_frame(const char *name, uint8_t storage, uint32_t ndim)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    uint8_t data[CHUNK], meta[512];
    const char *names[2] = { "m", "b2nd" };
    const void *contents[2] = { "abc", meta };
    uint32_t lens[2] = { 3, 0 };
    size_t len = 0;
    b2c_nd nd = { .size = sizeof nd, .ndim = ndim, .itemsize = 4 };
    for (uint32_t d = 0; d < ndim; d++) {
        nd.shape[d] = d == 0 ? 100 * NCHUNKS : 1;
        nd.chunks[d] = nd.blocks[d] = d == 0 ? 100 : 1;
    }
    CHECK_EQ(b2c_nd_meta_encode(&nd, "<i4", 3, meta, sizeof meta, &len, &err), B2C_OK);
    lens[1] = (uint32_t)len;
    b2c_schunk_params_init(&p);
    print_path(path, sizeof path, "%s/%s", root, name);
    p.storage = storage;
    p.path = path;
    p.chunksize = CHUNK;
    p.cparams.typesize = 4;
    p.nmeta = 2;
    p.meta_names = names;
    p.meta_contents = contents;
    p.meta_lens = lens;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    for (int i = 0; i < NCHUNKS; i++) {
        for (size_t k = 0; k < sizeof data; k++) {
            data[k] = (uint8_t)(k * k + (size_t)i);
        }
        CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "v", data, sizeof data, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "w", data, 10, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

static b2c_status open_with(b2c_limits limits, b2c_schunk **s)
{
    *s = NULL;
    return b2c_schunk_open(path, 0, B2C_OPEN_READ, &limits, s, &err);
}

/* Whether the failure names the limit that would have to be another one. */
static bool is_field(const char *name)
{
    return err.field != NULL && strcmp(err.field, name) == 0;
}

/* Each limit at what the frame needs, and one below. */
static void test_opening(void)
{
    b2c_schunk *s;
    CHECK_EQ(open_with((b2c_limits){ .max_nchunks = NCHUNKS }, &s), B2C_OK);
    b2c_schunk_free(s);
    CHECK_EQ(open_with((b2c_limits){ .max_nchunks = NCHUNKS - 1 }, &s), B2C_E_LIMIT);
    CHECK(is_field("max_nchunks"));
    CHECK_EQ(err.expected, NCHUNKS - 1);
    CHECK_EQ(err.actual, NCHUNKS);
    CHECK_EQ(open_with((b2c_limits){ .max_nbytes = NCHUNKS * CHUNK }, &s), B2C_OK);
    b2c_schunk_free(s);
    CHECK_EQ(open_with((b2c_limits){ .max_nbytes = NCHUNKS * CHUNK - 1 }, &s), B2C_E_LIMIT);
    CHECK_EQ(err.offset, 0x1E);
    CHECK(is_field("max_nbytes"));
    CHECK_EQ(open_with((b2c_limits){ .max_nmeta = 2 }, &s), B2C_OK);
    b2c_schunk_free(s);
    CHECK_EQ(open_with((b2c_limits){ .max_nmeta = 1 }, &s), B2C_E_LIMIT);
    CHECK(is_field("max_nmeta"));
    CHECK(s == NULL);
}

static void test_reading(void)
{
    b2c_schunk *s;
    uint8_t out[CHUNK];
    size_t len;
    int has_checksum;
    uint64_t start[16] = { 0 }, one[16];
    b2c_nd nd = { .size = sizeof nd };
    for (int d = 0; d < 16; d++) {
        one[d] = 1;
    }
    CHECK_EQ(open_with((b2c_limits){ .max_chunk_nbytes = CHUNK - 1 }, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 1, out, sizeof out, &len, &err), B2C_E_LIMIT);
    CHECK_EQ(err.chunk, 1);
    CHECK(is_field("max_chunk_nbytes"));
    CHECK_EQ(b2c_schunk_read(s, ctx, 0, 4, out, sizeof out, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_schunk_verify_chunk(s, ctx, 0, &has_checksum, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_nd_from_schunk(s, &nd, &err), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, start, one, one, out, sizeof out, &err), B2C_E_LIMIT);
    b2c_schunk_free(s);
    CHECK_EQ(open_with((b2c_limits){ .max_meta_nbytes = 10 }, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "v", out, sizeof out, &len, &err), B2C_E_LIMIT);
    CHECK(is_field("max_meta_nbytes"));
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "w", out, sizeof out, &len, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, sizeof out, &len, &err), B2C_OK);
    b2c_schunk_free(s);
    CHECK_EQ(open_with((b2c_limits){ .max_ndim = 2 }, &s), B2C_OK);
    CHECK_EQ(b2c_nd_from_schunk(s, &nd, &err), B2C_E_LIMIT);
    CHECK(is_field("max_ndim"));
    b2c_schunk_free(s);
    CHECK_EQ(open_with((b2c_limits){ .max_ndim = 3 }, &s), B2C_OK);
    CHECK_EQ(b2c_nd_from_schunk(s, &nd, &err), B2C_OK);
    b2c_schunk_free(s);
}

/* Limits of a context are for chunks that are given as bytes. */
static void test_contexts(void)
{
    b2c_schunk *s;
    b2c_ctx *small = NULL;
    const b2c_limits limits = { .max_chunk_nbytes = CHUNK - 1 };
    uint8_t chunk[CHUNK + 32], out[CHUNK];
    size_t chunk_len, len;
    CHECK_EQ(b2c_ctx_new(NULL, 1, &limits, &small, &err), B2C_OK);
    CHECK_EQ(open_with((b2c_limits){ .max_nbytes = 0 }, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_get_chunk(s, 0, chunk, sizeof chunk, &chunk_len, &err), B2C_OK);
    CHECK_EQ(b2c_decompress(small, chunk, chunk_len, out, sizeof out, &len, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_getitem(small, chunk, chunk_len, 0, 1, out, sizeof out, &len, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_schunk_decode_chunk(s, small, 0, out, sizeof out, &len, &err), B2C_OK);
    CHECK_EQ(b2c_ctx_set_limits(small, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_decompress(small, chunk, chunk_len, out, sizeof out, &len, &err), B2C_OK);
    b2c_schunk_free(s);
    b2c_ctx_free(small);
}

/* A large vlmetalayer is for who made it, and for who asks for it. */
static void test_large_values(void)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    const size_t n = B2C_MAX_META_NBYTES + 1;
    uint8_t *data = calloc(1, n), frame[4096];
    size_t frame_len, len;
    CHECK(data != NULL);
    b2c_schunk_params_init(&p);
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "v", data, n, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "w", data, n - 1, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "v", data, n, &len, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_to_frame(s, frame, sizeof frame, &frame_len, &err), B2C_OK);
    b2c_schunk_free(s);
    for (int asks = 0; asks < 2; asks++) {
        const b2c_limits limits = { .max_meta_nbytes = asks ? n : 0 };
        CHECK_EQ(b2c_schunk_open_mem(frame, frame_len, 0, &limits, &s, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "v", data, n, &len, &err),
                 asks ? B2C_OK : B2C_E_LIMIT);
        CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "w", data, n, &len, &err), B2C_OK);
        CHECK_EQ(len, n - 1);
        b2c_schunk_free(s);
    }
    free(data);
}

/* ---- how many chunk files are open ---- */

static int now_open, most_open;

static int count_readers(b2i_io_event *e)
{
    if (e->call == B2I_CALL_READ && strstr(e->name, ".chunk") != NULL) {
        const struct timespec wait = { 0, 200000 };
        int n = __atomic_add_fetch(&now_open, 1, __ATOMIC_SEQ_CST);
        int most = __atomic_load_n(&most_open, __ATOMIC_SEQ_CST);
        while (n > most && !__atomic_compare_exchange_n(&most_open, &most, n, 0, __ATOMIC_SEQ_CST,
                                                        __ATOMIC_SEQ_CST)) {
        }
        (void)nanosleep(&wait, NULL);
        (void)__atomic_sub_fetch(&now_open, 1, __ATOMIC_SEQ_CST);
    }
    return 0;
}

static void *read_chunks(void *arg)
{
    b2c_schunk *s = arg;
    b2c_ctx *own = NULL;
    uint8_t out[CHUNK];
    size_t len;
    intptr_t nfailed = b2c_ctx_new(NULL, 1, NULL, &own, NULL) != B2C_OK;
    for (uint64_t i = 0; i < 4 * NCHUNKS && nfailed == 0; i++) {
        nfailed +=
            b2c_schunk_decode_chunk(s, own, i % NCHUNKS, out, sizeof out, &len, NULL) != B2C_OK;
    }
    b2c_ctx_free(own);
    return (void *)nfailed;
}

/* Reads s with several threads; no more than 'max' chunk files are open at a time. */
static void check_open_files(b2c_schunk *s, uint32_t max)
{
    pthread_t threads[NTHREADS];
    void *failed;
    now_open = most_open = 0;
    b2i_io_hook = count_readers;
    for (int i = 0; i < NTHREADS; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, read_chunks, s), 0);
    }
    for (int i = 0; i < NTHREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], &failed), 0);
        CHECK(failed == NULL);
    }
    b2i_io_hook = NULL;
    CHECK(most_open >= 1 && most_open <= (int)max);
}

static void test_open_files(uint32_t max)
{
    b2c_schunk *s;
    CHECK_EQ(open_with((b2c_limits){ .max_open_files = max }, &s), B2C_OK);
    check_open_files(s, max);
    b2c_schunk_free(s);
}

/* Whoever makes a directory has the limits that it was made with. */
static void test_open_files_of_maker(uint32_t max)
{
    const b2c_limits limits = { .max_open_files = max };
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    uint8_t data[CHUNK] = { 0 };
    b2c_schunk_params_init(&p);
    print_path(path, sizeof path, "%s/made", root);
    p.storage = B2C_STORAGE_DIR;
    p.path = path;
    p.limits = &limits;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    for (int i = 0; i < NCHUNKS; i++) {
        data[0] = (uint8_t)(i + 1); /* no chunk of zeros, which has no file */
        CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
    }
    check_open_files(s, max);
    b2c_schunk_free(s);
    remove_path(path);
}

/* A child does not wait for threads that it does not have. */
static void test_gate(void)
{
    b2i_gate gate = { 0 };
    b2i_gate_enter(&gate, 2);
    b2i_gate_enter(&gate, 2);
    gate.state ^= 1u << 10; /* another process */
    b2i_gate_enter(&gate, 2);
    b2i_gate_enter(&gate, 2);
    b2i_gate_leave(&gate);
    b2i_gate_leave(&gate);
    b2i_gate_leave(&gate); /* nobody is inside any more */
    b2i_gate_enter(&gate, 1);
    b2i_gate_leave(&gate);
}

/* ---- many chunks ---- */

/* A frame of n chunks of zeros, which all share one entry of the index. */
static void make_specials(uint64_t n)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    print_path(path, sizeof path, "%s/specials", root);
    p.storage = B2C_STORAGE_FILE;
    p.path = path;
    p.chunksize = 1000;
    p.cparams.typesize = 1;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_fill_special(s, 1000 * n, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

static void test_specials(void)
{
    enum { N = 5000 };
    b2c_schunk *s;
    uint8_t out[100] = { 1 };
    b2c_schunk_info info;
    make_specials(N);
    CHECK_EQ(open_with((b2c_limits){ .max_nchunks = N - 1 }, &s), B2C_E_LIMIT);
    CHECK_EQ(open_with((b2c_limits){ .max_nchunks = N }, &s), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK(info.nchunks == N && info.cbytes == 32 * N);
    CHECK_EQ(b2c_schunk_read(s, ctx, 999950, 100, out, sizeof out, &err), B2C_OK);
    CHECK(out[0] == 0 && out[99] == 0);
    size_t len = 0;
    CHECK_EQ(b2c_schunk_to_frame(s, NULL, 0, &len, &err), B2C_E_OUTPUT_SIZE);
    CHECK(len < 300);
    b2c_schunk_free(s);
    s = NULL;
    /* For a change there is an array of entries, as for others. */
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 2500, path, sizeof path, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 7, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(open_with((b2c_limits){ .max_nchunks = 0 }, &s), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, N - 1);
    b2c_schunk_free(s);
    remove_path(path);
}

int main(void)
{
    make_root(root, sizeof root);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    make_frame("file", B2C_STORAGE_FILE, 3);
    test_opening();
    test_reading();
    test_contexts();
    test_large_values();
    make_frame("dir", B2C_STORAGE_DIR, 3);
    test_opening();
    test_open_files(1);
    test_open_files(3);
    test_open_files_of_maker(1);
    test_gate();
    test_specials();
    b2c_ctx_free(ctx);
    remove_path(root);
    return RESULT();
}
