/*
 * test_no_locks.c: file systems that know no locks: nobody can tell there whether who left a file
 * still lives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* flock under -std=c99 */
#endif
#include "new_schunk.h"

#include <errno.h>
#include <sys/file.h>

/* In place of the C library's. */
int flock(int fd, int operation)
{
    (void)fd;
    (void)operation;
    errno = ENOLCK;
    return -1;
}

static void leave(const char *format, const char *path)
{
    char name[300];
    print_path(name, sizeof name, format, path);
    FILE *f = fopen(name, "w");
    CHECK(f != NULL && fputs("left", f) >= 0 && fclose(f) == 0);
}

/* What a killed writer has left keeps nobody from editing, nor from writing the frame anew. */
static void test_left(uint8_t storage)
{
    static uint8_t data[CHUNK];
    const char *path = path_of(storage == B2C_STORAGE_DIR ? "dir" : "file");
    b2c_schunk *s = make(storage, path, CHUNK);
    for (unsigned i = 0; i < 5; i++) {
        data[i] = (uint8_t)harness_random(&seed);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        if (i > 0) {
            CHECK_EQ(b2c_schunk_compact(s, &err), B2C_OK);
        }
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        if (storage == B2C_STORAGE_DIR) {
            leave(i == 1 ? "%s/00000002.chunk" : "%s/0000000F.chunk", path);
        } else {
            leave("%s.b2tmp", path);
            leave("%s.b2new", path);
        }
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    }
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 5);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* A log that was left behind a gap does not follow what is added. */
static void test_gap(void)
{
    static uint8_t data[CHUNK];
    const char *path = path_of("gap");
    char from[300], to[300];
    b2c_schunk *s = make(B2C_STORAGE_DIR, path, CHUNK);
    b2c_schunk_info info;
    for (unsigned i = 0; i < 4; i++) {
        data[i] = (uint8_t)harness_random(&seed);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    }
    s->store->failed = true; /* it is killed: the log tells of the last three */
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    for (unsigned i = 1; i < 3; i++) {
        print_path(from, sizeof from, "%s/%08X.chunk", path, i);
        CHECK_EQ(unlink(from), 0);
    }
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 1);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    s->store->failed = true;
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 2);
    b2c_schunk_free(s);
    print_path(to, sizeof to, "%s/00000003.chunk", path);
    CHECK_EQ(access(to, F_OK), 0);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_left(B2C_STORAGE_FILE);
    test_left(B2C_STORAGE_DIR);
    test_gap();
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
