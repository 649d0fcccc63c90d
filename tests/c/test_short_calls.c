/*
 * test_short_calls.c: a system whose calls read and write a few bytes at a time, and that signals
 * interrupt.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pread, pwrite under -std=c99 */
#endif
#include "new_schunk.h"

#include <errno.h>
#include <unistd.h>

enum { MOST = 7 }; /* bytes of a call */

static unsigned ncalls;

/* Every third call is interrupted. */
static int is_interrupted(void)
{
    errno = EINTR;
    return ++ncalls % 3 == 0;
}

/* In place of the C library's. */
ssize_t pread(int fd, void *dst, size_t n, off_t at)
{
    if (is_interrupted() || lseek(fd, at, SEEK_SET) < 0) {
        return -1;
    }
    return read(fd, dst, n < MOST ? n : MOST);
}

ssize_t pwrite(int fd, const void *src, size_t n, off_t at)
{
    if (is_interrupted() || lseek(fd, at, SEEK_SET) < 0) {
        return -1;
    }
    return write(fd, src, n < MOST ? n : MOST);
}

/* Two handles that edit in turns see what the other has done. */
static void test_turns(uint8_t storage, const char *path)
{
    enum { NTURNS = 300 }; /* the counter of the lock file has a second byte then */
    uint8_t data[CHUNK] = { 0 };
    b2c_schunk *h[2] = { NULL, NULL };
    b2c_schunk_info info;
    CHECK_EQ(b2c_schunk_close(make(storage, path, CHUNK), &err), B2C_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE | B2C_OPEN_LOCK, NULL, &h[i], &err),
                 B2C_OK);
    }
    for (int i = 0; i < NTURNS && h[1] != NULL; i++) {
        data[i] = (uint8_t)harness_random(&seed);
        CHECK_EQ(b2c_schunk_append(h[i % 2], ctx, data, CHUNK, &err), B2C_OK);
        b2c_schunk_info_get(h[i % 2], &info);
        CHECK_EQ(info.nchunks, i + 1);
    }
    CHECK_EQ(b2c_schunk_close(h[0], &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(h[1], &err), B2C_OK);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_turns(B2C_STORAGE_FILE, path_of("file"));
    test_turns(B2C_STORAGE_DIR, path_of("dir"));
    CHECK(ncalls > 0);
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
