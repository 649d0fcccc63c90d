/*
 * test_redo.c: what a killed writer has left, met by faults, limits, damage and other writers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "io.h"
#include "world.h"

enum { CHUNK = 3000, NCHUNKS = 8, NCOMMITTED = 2 };

static char root[256], live[300], left[300];
static b2c_error err;
static b2c_ctx *ctx;
static const uint8_t storages[] = { B2C_STORAGE_FILE, B2C_STORAGE_DIR };

/* ---- files ---- */

static void copy_file(const char *from, const char *to)
{
    uint8_t buf[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n;
    CHECK(in != NULL && out != NULL);
    while (in != NULL && out != NULL && (n = fread(buf, 1, sizeof buf, in)) > 0) {
        CHECK(fwrite(buf, 1, n, out) == n);
    }
    if (in != NULL) {
        fclose(in);
    }
    if (out != NULL) {
        fclose(out);
    }
}

/* A file, or a directory of files. */
static void copy_path(const char *from, const char *to)
{
    char a[1024], b[1024];
    DIR *dir = opendir(from);
    remove_path(to);
    if (dir == NULL) {
        copy_file(from, to);
        return;
    }
    CHECK_EQ(mkdir(to, 0777), 0);
    const struct dirent *e;
    while ((e = readdir(dir)) != NULL) {
        if (e->d_name[0] != '.') {
            print_path(a, sizeof a, "%s/%s", from, e->d_name);
            print_path(b, sizeof b, "%s/%s", to, e->d_name);
            copy_file(a, b);
        }
    }
    closedir(dir);
}

static int count_files(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL) {
        n++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

/* ---- a killed writer ---- */

/* Noise that tells which chunk it is. */
static const uint8_t *data_of(uint64_t i)
{
    static uint8_t data[CHUNK];
    uint64_t seed = 77 + i;
    for (size_t k = 0; k < sizeof data; k++) {
        data[k] = (uint8_t)harness_random(&seed);
    }
    return data;
}

static b2c_schunk *make(uint8_t storage, const char *path, int64_t chunksize)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.cparams.typesize = 1;
    p.chunksize = chunksize;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    return s;
}

static void append(b2c_schunk *s, uint64_t i)
{
    CHECK_EQ(b2c_schunk_append(s, ctx, data_of(i), CHUNK, &err), B2C_OK);
}

/* At 'left': a frame whose index names two of eight chunks; the log tells of the others. */
static void kill_writer(uint8_t storage, int64_t chunksize)
{
    remove_path(live);
    b2c_schunk *s = make(storage, live, chunksize);
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        append(s, i);
        if (i + 1 == NCOMMITTED) {
            CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
        }
    }
    copy_path(live, left);
    b2c_schunk_free(s);
}

static b2c_status open_left(int mode, const b2c_limits *limits, b2c_schunk **s)
{
    *s = NULL;
    err = (b2c_error){ 0 };
    return b2c_schunk_open(left, 0, mode, limits, s, &err);
}

static uint64_t nchunks_of(const b2c_schunk *s)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    return info.nchunks;
}

/* All chunks but one are there, which fails with the status; OK: that one, too. */
static void check_chunks(const b2c_schunk *s, uint64_t n, uint64_t damaged, b2c_status status)
{
    uint8_t out[CHUNK];
    size_t len;
    CHECK_EQ(nchunks_of(s), n);
    for (uint64_t i = 0; i < nchunks_of(s); i++) {
        b2c_status st = b2c_schunk_decode_chunk(s, ctx, i, out, sizeof out, &len, &err);
        CHECK_EQ(st, i == damaged ? status : B2C_OK);
        CHECK(st != B2C_OK || memcmp(out, data_of(i), CHUNK) == 0);
        CHECK(st == B2C_OK || err.chunk == (int64_t)i);
    }
}

static void check_left(uint64_t n)
{
    b2c_schunk *s;
    CHECK_EQ(open_left(B2C_OPEN_READ, NULL, &s), B2C_OK);
    if (s != NULL) {
        check_chunks(s, n, 0, B2C_OK);
        b2c_schunk_free(s);
    }
}

/* ---- faults ---- */

static struct {
    bool is_armed;
    b2i_io_call call;
    const char *name; /* part of it; NULL: any file */
    uint64_t at, count;
    int kind;
} fault;

static int fail_call(b2i_io_event *e)
{
    if (!fault.is_armed || e->call != fault.call ||
        (fault.name != NULL && strstr(e->name, fault.name) == NULL)) {
        return 0;
    }
    return ++fault.count == fault.at ? fault.kind : 0;
}

/* A read or an allocation that fails is a failure, not the end of the log. */
static void test_faults(uint8_t storage, int mode, bool is_memory)
{
    bool fired = true;
    b2c_status expected = is_memory ? B2C_E_MEMORY : B2C_E_IO;
    b2i_io_hook = fail_call;
    kill_writer(storage, CHUNK);
    for (uint64_t n = 1; fired; n++) {
        b2c_schunk *s;
        fault.count = 0;
        fault.call = B2I_CALL_READ;
        fault.at = n;
        fault.kind = EIO;
        fault.is_armed = !is_memory;
        b2i_alloc_fail_at(is_memory ? n : 0, false);
        b2c_status st = open_left(mode, NULL, &s);
        fired = is_memory ? b2i_alloc_count() >= n : fault.count >= n;
        b2i_alloc_fail_at(0, false);
        fault.is_armed = false;
        CHECK(st == B2C_OK || (fired && st == expected)); /* some reads are done again */
        if (st == B2C_OK) {
            check_chunks(s, NCHUNKS, 0, B2C_OK);
            b2c_schunk_free(s);
        }
    }
    b2i_io_hook = NULL;
    check_left(NCHUNKS);
}

/* ---- limits ---- */

/* What is beyond the limits is refused, and nothing of it removed. */
static void test_limits(uint8_t storage, b2c_limits limits, const char *field)
{
    b2c_schunk *s;
    kill_writer(storage, CHUNK);
    int nfiles = count_files(left);
    for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
        CHECK_EQ(open_left(mode, &limits, &s), B2C_E_LIMIT);
        CHECK(field == NULL || strcmp(err.field, field) == 0);
    }
    CHECK_EQ(count_files(left), nfiles);
    check_left(NCHUNKS);
}

/* An update adds no chunk. */
static void test_exact_limit(void)
{
    remove_path(live);
    const b2c_limits limits = { .max_nchunks = 2, .max_nbytes = (uint64_t)2 * CHUNK };
    b2c_schunk *s = make(B2C_STORAGE_FILE, live, CHUNK), *t;
    append(s, 0);
    append(s, 5);
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 1, data_of(1), CHUNK, &err), B2C_OK);
    copy_path(live, left);
    CHECK_EQ(open_left(B2C_OPEN_READ, &limits, &t), B2C_OK);
    check_chunks(t, 2, 0, B2C_OK);
    b2c_schunk_free(t);
    b2c_schunk_free(s);
}

int main(void)
{
    make_root(root, sizeof root);
    print_path(live, sizeof live, "%s/live", root);
    print_path(left, sizeof left, "%s/left", root);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    for (size_t i = 0; i < sizeof storages; i++) {
        for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
            test_faults(storages[i], mode, false);
            test_faults(storages[i], mode, true);
        }
        test_limits(storages[i], (b2c_limits){ .max_nchunks = 4 }, "max_nchunks");
        test_limits(storages[i], (b2c_limits){ .max_nbytes = (uint64_t)4 * CHUNK }, "max_nbytes");
    }
    test_exact_limit();
    b2c_ctx_free(ctx);
    remove_path(root);
    return RESULT();
}
