/*
 * test_store.c: super-chunks that change: editing, transactions, recovery, checksums,
 * mappings, and functions of a user.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "edits.h"
#include "io_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BIG = 1 << 20 };

static b2c_schunk *reopen(b2c_schunk *s, const char *path, int mode)
{
    if (path == NULL) {
        return s;
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, mode, NULL, &s, &err), B2C_OK);
    return s;
}

static void test_editing(uint8_t storage, const char *path, int durability, int mode)
{
    model m = { .n = 0 }, kept;
    b2c_schunk *s = make(storage, path, CHUNK);
    for (int i = 0; i < 120; i++) {
        CHECK_EQ(b2c_schunk_set_durability(s, durability, &err), B2C_OK);
        edit(s, &m);
        check_model(s, &m);
        if (i % 10 == 3) {
            kept = m;
            CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
            CHECK_EQ(b2c_schunk_begin(s, &err), B2C_E_ARGUMENT);
            edit(s, &m);
            edit(s, &m);
            check_model(s, &m);
            if (i % 20 == 3) {
                CHECK_EQ(b2c_schunk_rollback(s, &err), B2C_OK);
                m = kept;
            } else {
                CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
            }
            check_model(s, &m);
        }
        if (i % 15 == 7) {
            s = reopen(s, path, mode);
            check_model(s, &m);
        }
        if (i % 30 == 11) {
            CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
        }
        if (m.n > 50) {
            CHECK_EQ(b2c_schunk_truncate(s, ctx, 10 * CHUNK, &err), B2C_OK);
            m.n = 10;
        }
    }
    s = reopen(s, path, B2C_OPEN_READ);
    check_model(s, &m);
    b2c_schunk_free(s);
}

/* ---- what a killed writer leaves ---- */

/* After every edit the file, as it is now, opens with all edits so far; and one can go on. */
static void test_recovery(void)
{
    const char *path = path_of("live"), *copy = path_of("copy");
    model m = { .n = 0 };
    b2c_schunk *s = make(B2C_STORAGE_FILE, path, CHUNK), *t;
    for (int i = 0; i < 60; i++) {
        edit(s, &m);
        copy_file(path, copy);
        t = NULL;
        CHECK_EQ(b2c_schunk_open(copy, 0, B2C_OPEN_READ, NULL, &t, &err), B2C_OK);
        check_model(t, &m);
        b2c_schunk_free(t);
        model more = m;
        CHECK_EQ(b2c_schunk_open(copy, 0, B2C_OPEN_UPDATE, NULL, &t, &err), B2C_OK);
        edit(t, &more);
        t = reopen(t, copy, B2C_OPEN_READ);
        check_model(t, &more);
        b2c_schunk_free(t);
        if (m.n > 50) {
            break;
        }
    }
    b2c_schunk_free(s);
}

/* ---- checksums of blocks ---- */

static void flip_byte(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    CHECK(f != NULL && fseek(f, at, SEEK_SET) == 0);
    int c = fgetc(f);
    CHECK(fseek(f, at, SEEK_SET) == 0 && fputc(c ^ 4, f) != EOF);
    fclose(f);
}

/* Damage in one block of a large chunk is found by who reads it, and by nobody else. */
static void test_blocks(uint8_t storage, const char *path, const char *file, long chunk_at)
{
    uint8_t *data = malloc(BIG), *out = malloc(BIG);
    for (size_t i = 0; i < BIG; i++) {
        data[i] = (uint8_t)(i % 4 == 0 ? harness_random(&seed) : 7);
    }
    b2c_schunk *s = make(storage, path, BIG);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, BIG, &err), B2C_OK);
    b2c_chunk_info info;
    CHECK_EQ(b2c_schunk_chunk_info(s, 0, &info, &err), B2C_OK);
    CHECK(info.nblocks >= 4 && info.cbytes > 65536);
    uint64_t last = (info.nblocks - 1) * info.blocksize;
    s = reopen(s, path, B2C_OPEN_READ);
    b2c_schunk_free(s);
    flip_byte(file, chunk_at + (long)info.cbytes - 100); /* in the last block */
    s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_read(s, ctx, 10, 100, out, BIG, &err), B2C_OK);
    CHECK(memcmp(out, data + 10, 100) == 0);
    CHECK_EQ(b2c_schunk_read(s, ctx, last, 100, out, BIG, &err), B2C_E_CHECKSUM);
    CHECK_EQ(err.chunk, 0);
    CHECK_EQ(err.block, info.nblocks - 1);
    CHECK_EQ(b2c_schunk_read(s, ctx, 0, BIG, out, BIG, &err), B2C_E_CHECKSUM);
    CHECK_EQ(b2c_schunk_set_checksums(s, 1, 0, &err), B2C_OK);
    b2c_status st = b2c_schunk_read(s, ctx, last, 100, out, BIG, &err);
    CHECK(st == B2C_OK || st == B2C_E_CORRUPT); /* not compared any more */
    b2c_schunk_free(s);
    free(data);
    free(out);
}

/* ---- copies, mappings, functions ---- */

static void test_modes(void)
{
    const char *path = path_of("modes");
    uint8_t data[CHUNK], out[CHUNK];
    struct stat before, after;
    size_t n;
    memset(data, 5, sizeof data);
    b2c_schunk *s = make(B2C_STORAGE_FILE, path, CHUNK), *t = NULL;
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, 3, NULL, &t, &err), B2C_E_ARGUMENT);
    s = reopen(s, path, B2C_OPEN_READ);
    CHECK(stat(path, &before) == 0);
    s = reopen(s, path, B2C_OPEN_COPY | B2C_OPEN_MMAP);
    memset(data, 6, sizeof data);
    CHECK_EQ(b2c_schunk_update(s, ctx, 0, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, sizeof out, &n, &err), B2C_OK);
    CHECK(memcmp(data, out, CHUNK) == 0);
    s = reopen(s, path, B2C_OPEN_READ | B2C_OPEN_MMAP);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, sizeof out, &n, &err), B2C_OK);
    CHECK_EQ(out[0], 5);
    CHECK(stat(path, &after) == 0 && before.st_size == after.st_size);
    b2c_schunk_free(s);
}

typedef struct user {
    int fd;
    int fails_after; /* calls of read_at; below 0: never */
    int nclosed;
    int nsizes;
} user;

static int user_read(void *handle, uint64_t at, void *dst, size_t n)
{
    user *u = handle;
    if (u->fails_after == 0) {
        return 5;
    }
    u->fails_after--;
    return pread(u->fd, dst, n, (off_t)at) == (ssize_t)n ? 0 : 5;
}

static int user_size(void *handle, uint64_t *size)
{
    struct stat st;
    CHECK(fstat(((user *)handle)->fd, &st) == 0);
    *size = (uint64_t)st.st_size;
    return 0;
}

/* A file that grows between the first and the second question. */
static int user_growing_size(void *handle, uint64_t *size)
{
    user *u = handle;
    (void)user_size(handle, size);
    *size -= u->nsizes++ == 0 ? 40 : 0;
    return 0;
}

static void user_close(void *handle)
{
    ((user *)handle)->nclosed++;
}

static void test_user(void)
{
    const char *path = path_of("user");
    uint8_t data[CHUNK] = { 1, 2, 3 }, out[CHUNK];
    b2c_schunk *s = make(B2C_STORAGE_FILE, path, CHUNK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    user u = { .fd = open(path, O_RDONLY), .fails_after = -1 };
    b2c_io_table table = { &u, user_read, user_size, user_close };
    s = NULL;
    CHECK_EQ(b2c_schunk_open_io(&table, 0, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_read(s, ctx, 0, CHUNK, out, CHUNK, &err), B2C_OK);
    CHECK(memcmp(data, out, CHUNK) == 0);
    u.fails_after = 0;
    CHECK_EQ(b2c_schunk_read(s, ctx, 0, CHUNK, out, CHUNK, &err), B2C_E_CALLBACK);
    CHECK_EQ(err.sys_errno, 5);
    b2c_schunk_free(s);
    CHECK_EQ(u.nclosed, 1);
    int i = 0;
    for (u.fails_after = 0; b2c_schunk_open_io(&table, 0, NULL, &s, &err) != B2C_OK;) {
        CHECK_EQ(err.status, B2C_E_CALLBACK);
        CHECK_EQ(u.nclosed, 2 + i);
        u.fails_after = ++i;
    }
    CHECK(i == 1); /* one read for all of a small frame */
    b2c_schunk_free(s);
    u.fails_after = -1;
    table.size = user_growing_size;
    CHECK_EQ(b2c_schunk_open_io(&table, 0, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_read(s, ctx, 0, CHUNK, out, CHUNK, &err), B2C_OK);
    b2c_schunk_free(s);
    table.size = NULL;
    CHECK_EQ(b2c_schunk_open_io(&table, 0, NULL, &s, &err), B2C_E_ARGUMENT);
    close(u.fd);
}

enum { NITEMS = 3000 };

/* Items that are all 'v', or noise behind the first one. */
static const uint32_t *items_of(uint32_t v, bool is_noise)
{
    static uint32_t items[NITEMS];
    for (size_t i = 0; i < NITEMS; i++) {
        items[i] = is_noise && i > 0 ? (uint32_t)harness_random(&seed) : v;
    }
    return items;
}

static void add(b2c_schunk *s, uint32_t v, bool is_noise)
{
    const uint32_t *items = items_of(v, is_noise);
    CHECK_EQ(b2c_schunk_append(s, ctx, items, NITEMS * sizeof *items, &err), B2C_OK);
}

static void replace(b2c_schunk *s, uint64_t nchunk, uint32_t v, bool is_noise)
{
    const uint32_t *items = items_of(v, is_noise);
    CHECK_EQ(b2c_schunk_update(s, ctx, nchunk, items, NITEMS * sizeof *items, &err), B2C_OK);
}

/* Where records of the old file were, the new one has chunks. */
static void test_room_after_compact(void)
{
    b2c_schunk *s = make(B2C_STORAGE_FILE, path_of("compacted"), NITEMS * sizeof(uint32_t));
    b2c_schunk_info info;
    uint32_t out[NITEMS];
    size_t n;
    for (uint32_t i = 0; i < 10; i++) {
        add(s, i, true);
    }
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    for (uint32_t i = 0; i < 6; i++) {
        replace(s, i, 10 + i, true);
    }
    for (int i = 0; i < 3; i++) { /* commits, after which the room of the replaced ones is used */
        CHECK_EQ(b2c_schunk_delete_chunk(s, 7, &err), B2C_OK);
    }
    for (uint32_t i = 0; i < 6; i++) { /* and leaves six records in a row */
        replace(s, i, 20 + i, false);
    }
    CHECK_EQ(b2c_schunk_compact(s, &err), B2C_OK);
    for (uint32_t i = 0; i < 40; i++) {
        add(s, 100 + i, true);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(b2c_schunk_delete_chunk(s, 0, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK); /* edits that leave no records take any room */
    add(s, 200, false);
    CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 45);
    for (uint64_t i = 0; i < info.nchunks; i++) {
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, out, sizeof out, &n, &err), B2C_OK);
        CHECK_EQ(out[0], i < 3 ? 23 + i : i < 4 ? 6 : i < 44 ? 96 + i : 200);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* ---- copies in a transaction ---- */

/* Chunks and, with all of them, vlmetalayers are copied or none, however much memory there is. */
static void test_copies_without_memory(bool all)
{
    static const uint64_t numbers[] = { 1, 0, 2 };
    b2c_schunk_info info;
    b2c_schunk *from = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    CHECK_EQ(b2c_schunk_fill_special(from, 3 * CHUNK, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(from, ctx, "a", "1", 1, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(from, ctx, "b", "2", 1, &err), B2C_OK);
    b2c_status st = B2C_E_MEMORY;
    for (uint64_t n = 1; st == B2C_E_MEMORY; n++) {
        b2c_schunk *to = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
        CHECK_EQ(b2c_schunk_begin(to, &err), B2C_OK);
        b2i_alloc_fail_at(n, false);
        st = all ? b2c_schunk_copy_chunks(from, to, &err)
                 : b2c_schunk_copy_some(from, numbers, 3, to, &err);
        b2i_alloc_fail_at(0, false);
        b2c_status end = b2c_schunk_commit(to, &err);
        CHECK(end == B2C_OK || (st != B2C_OK && end == B2C_E_ARGUMENT));
        b2c_schunk_info_get(to, &info);
        CHECK_EQ(info.nchunks, st == B2C_OK ? 3 : 0);
        CHECK_EQ(info.nvlmeta, st == B2C_OK && all ? 2 : 0);
        b2c_schunk_free(to);
    }
    CHECK_EQ(st, B2C_OK);
    b2c_schunk_free(from);
}

/* Chunks by their numbers, in any order and more than once; all or none. */
/*
 * Chunks so large that the store keeps the memory in which they were made, beside small ones: they
 * are there or not when memory lacks at any place, and gone after a rollback.
 */
static void test_large_chunks_in_memory(void)
{
    enum { N = 2200000, SMALL = 400 };
    static uint8_t data[N], back[N];
    b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL, 0);
    uint64_t r = 1, nchunks = 0;
    for (size_t i = 0; i < N; i++) {
        r = r * 6364136223846793005U + 1442695040888963407U;
        data[i] = (uint8_t)(r >> 56);
    }
    bool fails = true;
    for (uint64_t k = 1; fails; k++) {
        b2i_alloc_fail_at(k, false);
        b2c_status st = b2c_schunk_append(s, ctx, data, N, &err);
        fails = b2i_alloc_count() >= k;
        b2i_alloc_fail_at(0, false);
        CHECK(st == B2C_OK || (fails && st == B2C_E_MEMORY));
        nchunks += st == B2C_OK;
        b2c_schunk_info info;
        b2c_schunk_info_get(s, &info);
        CHECK_EQ(info.nchunks, nchunks);
    }
    CHECK_EQ(b2c_schunk_append(s, ctx, data, SMALL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 0, data + SMALL, N - SMALL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_insert(s, ctx, 1, data, N, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_rollback(s, &err), B2C_OK);
    for (uint64_t i = 0; i <= nchunks; i++) {
        const size_t n = i < nchunks ? N : SMALL;
        size_t len = 0;
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, back, N, &len, &err), B2C_OK);
        CHECK(len == n && memcmp(back, data, n) == 0);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

static void test_copies_of_some(void)
{
    static const uint64_t numbers[] = { 2, 0, 2, 1 }, wrong[] = { 1, 4 };
    uint8_t data[CHUNK], got[CHUNK];
    size_t len;
    b2c_schunk_info info;
    b2c_schunk *from = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    b2c_schunk *to = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    for (int i = 0; i < 3; i++) {
        memset(data, i + 1, sizeof data);
        CHECK_EQ(b2c_schunk_append(from, ctx, data, CHUNK, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_copy_some(from, numbers, 4, to, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_copy_some(from, wrong, 2, to, &err), B2C_E_RANGE);
    CHECK(err.expected == 3 && err.actual == 4);
    CHECK_EQ(b2c_schunk_begin(to, &err), B2C_OK); /* in which others than this one may follow */
    CHECK_EQ(b2c_schunk_copy_some(from, wrong, 2, to, &err), B2C_E_RANGE);
    CHECK_EQ(b2c_schunk_commit(to, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_copy_some(from, NULL, 0, to, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_copy_some(from, NULL, 1, to, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_schunk_copy_some(from, numbers, 1, from, &err), B2C_E_ARGUMENT);
    b2c_schunk_info_get(to, &info);
    CHECK_EQ(info.nchunks, 4);
    for (uint64_t i = 0; i < info.nchunks; i++) {
        memset(data, (int)numbers[i] + 1, sizeof data);
        CHECK_EQ(b2c_schunk_decode_chunk(to, ctx, i, got, CHUNK, &len, &err), B2C_OK);
        CHECK(len == CHUNK && memcmp(got, data, CHUNK) == 0);
    }
    b2c_schunk_free(from);
    b2c_schunk_free(to);
}

/* Nobody would open a frame with more vlmetalayers. */
static void test_copies_of_many_vlmetalayers(void)
{
    enum { MOST = 8192 };
    char name[16];
    b2c_schunk_info info;
    b2c_schunk *from = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    b2c_schunk *to = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    CHECK_EQ(b2c_schunk_fill_special(from, CHUNK, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "%d", i);
        CHECK_EQ(b2c_schunk_vlmeta_set(to, ctx, name, "", 0, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_vlmeta_set(from, ctx, "77", "1", 1, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_copy_chunks(from, to, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(from, ctx, "more", "1", 1, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_copy_chunks(from, to, &err), B2C_E_LIMIT);
    b2c_schunk_info_get(to, &info);
    CHECK_EQ(info.nchunks, 1);
    CHECK_EQ(info.nvlmeta, MOST);
    b2c_schunk_free(from);
    b2c_schunk_free(to);
}

static b2c_status make_late(uint8_t storage, const char *path, uint8_t lock, b2c_schunk **s)
{
    b2c_schunk_params p;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.lock = lock;
    p.replaces = 1;
    p.chunksize = CHUNK;
    p.cparams.typesize = 4;
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    return b2c_schunk_new(&p, s, &err);
}

/* How many chunks the frame at a path has, or -1. */
static int chunks_at(const char *path)
{
    b2c_schunk_info info;
    b2c_schunk *s;
    if (b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, NULL) != B2C_OK) {
        return -1;
    }
    b2c_schunk_info_get(s, &info);
    b2c_schunk_free(s);
    return (int)info.nchunks;
}

/* What 'replaces' makes takes its path with the first commit. */
static void test_late(uint8_t storage, const char *path)
{
    const uint8_t data[CHUNK] = { 1 };
    b2c_schunk *s, *other;
    for (int n = 0; n < 3; n++) { /* nothing is there at first */
        CHECK_EQ(make_late(storage, path, n == 2, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        CHECK_EQ(chunks_at(path), n - 1);
        CHECK_EQ(make_late(storage, path, n == 2, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
            CHECK_EQ(chunks_at(path), n - 1);
        }
        CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
        CHECK_EQ(chunks_at(path), n);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_truncate(s, ctx, (uint64_t)n * CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        CHECK_EQ(chunks_at(path), n);
    }

    /* Edits that were taken back. */
    CHECK_EQ(make_late(storage, path, 0, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_rollback(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(chunks_at(path), 2);

    /* Somebody else was faster. */
    CHECK_EQ(make_late(storage, path, 0, &s), B2C_OK);
    CHECK_EQ(rename(path, path_of("late_moved")), 0);
    other = make(storage, path, CHUNK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_E_CONFLICT);
    b2c_schunk_free(s);
    CHECK_EQ(b2c_schunk_append(other, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    CHECK_EQ(chunks_at(path), 1);
    CHECK_EQ(remove_path(path_of("late_moved")), 0);
}

static void test_late_with_lock(void)
{
    const uint8_t data[CHUNK] = { 1 };
    b2c_schunk *s, *other;
    int changed;
    const char *path = path_of("late_locked");
    CHECK_EQ(make_late(B2C_STORAGE_FILE, path, 1, &s), B2C_OK);
    CHECK_EQ(make_late(B2C_STORAGE_FILE, path, 1, &other), B2C_OK);
    CHECK_EQ(b2c_schunk_append(other, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_E_CONFLICT);
    b2c_schunk_free(s);
    CHECK_EQ(b2c_schunk_append(other, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    CHECK_EQ(chunks_at(path), 2);

    path = path_of("late_locked_dir");
    CHECK_EQ(make_late(B2C_STORAGE_DIR, path, 1, &s), B2C_OK);
    CHECK_EQ(make_late(B2C_STORAGE_DIR, path, 1, &other), B2C_E_CONFLICT);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(s, 1, &changed, &err),
             B2C_OK); /* the file in the directory's new place */
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE | B2C_OPEN_LOCK, NULL, &other, &err),
             B2C_E_LOCKED);
    CHECK_EQ(b2c_schunk_unlock(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE | B2C_OPEN_LOCK, NULL, &other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(other, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(chunks_at(path), 3);
}

static int cannot_exchange(b2i_io_event *e)
{
    return e->call == B2I_CALL_EXCHANGE ? EINVAL : 0;
}

/* Files, directories and links take each other's place, also where names cannot be exchanged. */
static void test_late_kinds(int (*hook)(b2i_io_event *event))
{
    static const uint8_t kinds[] = { B2C_STORAGE_FILE, B2C_STORAGE_DIR };
    char path[300], link[300];
    const uint8_t data[CHUNK] = { 1 };
    b2c_schunk *s;
    snprintf(path, sizeof path, "%s/late_kinds", dir);
    snprintf(link, sizeof link, "%s/late_link", dir);
    for (int i = 0; i < 8; i++) {
        const char *at = i % 4 < 2 ? path : link;
        CHECK_EQ(make_late(kinds[i / 4], at, 0, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        CHECK_EQ(chunks_at(at), 1);
        (void)remove_path(link);
        CHECK_EQ(symlink(path, link), 0);
        b2i_io_hook = hook;
        CHECK_EQ(make_late(kinds[i % 2], at, 0, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK); /* it leaves all as it was */
        CHECK_EQ(chunks_at(at), 1);
        CHECK_EQ(make_late(kinds[i % 2], at, 0, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
        b2i_io_hook = NULL;
        CHECK_EQ(chunks_at(at), 0);
        CHECK_EQ(chunks_at(path), at == path ? 0 : 1);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        CHECK_EQ(chunks_at(at), 1);
        CHECK(access(path_of("late_kinds.b2new"), F_OK) != 0);
        CHECK(access(path_of("late_kinds.b2old"), F_OK) != 0);
    }
}

/* A directory that is no frame stays, and so does a place that somebody uses. */
static void test_late_refusals(void)
{
    const char *path = path_of("late_no_frame"), *place;
    char file[400];
    b2c_schunk *s;
    CHECK_EQ(mkdir(path, 0777), 0);
    snprintf(file, sizeof file, "%s/letter", path);
    CHECK_EQ(symlink("x", file), 0);
    for (uint8_t kind = B2C_STORAGE_FILE; kind <= B2C_STORAGE_DIR; kind++) {
        CHECK_EQ(make_late(kind, path, 0, &s), B2C_E_EXISTS);
        CHECK_EQ(make_late(kind, "/dev/null", 0, &s), B2C_E_EXISTS);
    }
    CHECK_EQ(make_late(B2C_STORAGE_MEMORY, path, 0, &s), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "replaces") == 0);

    path = path_of("late_place");
    place = path_of("late_place.b2new");
    CHECK_EQ(mkdir(place, 0777), 0); /* a killed process left it */
    CHECK_EQ(make_late(B2C_STORAGE_DIR, path, 0, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(mkdir(place, 0777), 0);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK(access(place, F_OK) != 0);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

int main(void)
{
    char path[300], file[400];
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_editing(B2C_STORAGE_MEMORY, NULL, B2C_DURABILITY_PROCESS, 0);
    for (int level = B2C_DURABILITY_NONE; level <= B2C_DURABILITY_COMMIT; level++) {
        snprintf(path, sizeof path, "%s/edit%d", dir, level);
        test_editing(B2C_STORAGE_FILE, path, level, B2C_OPEN_UPDATE);
        snprintf(path, sizeof path, "%s/edit_dir%d", dir, level);
        test_editing(B2C_STORAGE_DIR, path, level, B2C_OPEN_UPDATE);
    }
    snprintf(path, sizeof path, "%s/edit_mapped", dir);
    test_editing(B2C_STORAGE_FILE, path, B2C_DURABILITY_PROCESS, B2C_OPEN_UPDATE | B2C_OPEN_MMAP);
    test_recovery();
    snprintf(path, sizeof path, "%s/blocks", dir);
    test_blocks(B2C_STORAGE_FILE, path, path, 97);
    snprintf(path, sizeof path, "%s/blocks_dir", dir);
    snprintf(file, sizeof file, "%s/00000000.chunk", path);
    test_blocks(B2C_STORAGE_DIR, path, file, 0);
    test_modes();
    test_user();
    test_room_after_compact();
    test_late(B2C_STORAGE_FILE, path_of("late_file"));
    test_late(B2C_STORAGE_DIR, path_of("late_dir"));
    test_late_with_lock();
    test_late_kinds(NULL);
    test_late_kinds(cannot_exchange);
    test_late_refusals();
    test_copies_without_memory(true);
    test_copies_without_memory(false);
    test_large_chunks_in_memory();
    test_copies_of_some();
    test_copies_of_many_vlmetalayers();
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
