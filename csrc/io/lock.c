/*
 * lock.c: the lock file beside a frame: 16 bytes, of which the last 8 count
 * (little-endian) how often somebody held it for writing.  The lock itself
 * is flock(2), as the reference library takes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* flock under -std=c99 */
#endif
#include "io.h"
#include "alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LOCK_LEN = 16, AT_COUNT = 8 };

static int open_lock(const char *path, bool exclusive)
{
    int fd;
    do {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0 && !exclusive && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    }
    return fd;
}

/* Tells those who read with the lock that things may have changed. */
static b2c_status count_up(int fd, b2c_error *err)
{
    uint8_t bytes[LOCK_LEN] = { 0 };
    if (pread(fd, bytes, sizeof bytes, 0) < 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "reading the lock file failed");
    }
    b2i_st64le(bytes + AT_COUNT, b2i_ld64le(bytes + AT_COUNT) + 1);
    ssize_t n = pwrite(fd, bytes, sizeof bytes, 0);
    if (n != (ssize_t)sizeof bytes) {
        return b2i_fail_io(err, n < 0 ? errno : EIO, B2C_NO_OFFSET, "writing the lock file failed");
    }
    return B2C_OK;
}

static b2c_status take(int fd, bool exclusive, b2c_error *err)
{
    while (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return b2i_fail(err, B2C_E_LOCKED, B2C_NO_OFFSET,
                            exclusive ? "somebody else has the frame open"
                                      : "somebody else has the frame open for writing");
        }
        if (errno != EINTR) {
            return b2i_fail_io(err, errno, B2C_NO_OFFSET, "locking failed");
        }
    }
    return exclusive ? count_up(fd, err) : B2C_OK;
}

b2c_status b2i_lock_take(const char *path, bool is_dir, bool exclusive, int *lock, b2c_error *err)
{
    const char *suffix = is_dir ? "/.b2lock" : ".b2lock";
    size_t n = strlen(path);
    char *name = b2i_malloc(n + 16);
    if (name == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(name, path, n + 1);
    strcat(name, suffix);
    int fd = open_lock(name, exclusive);
    int why = errno;
    b2i_free(name);
    if (fd < 0 && !exclusive && (why == ENOENT || why == EACCES || why == EROFS)) {
        *lock = B2I_NO_LOCK; /* a place that nobody can write to */
        return B2C_OK;
    }
    if (fd < 0) {
        return b2i_fail_io(err, why, B2C_NO_OFFSET, "opening the lock file failed");
    }
    b2c_status st = take(fd, exclusive, err);
    if (st != B2C_OK) {
        close(fd);
        return st;
    }
    *lock = fd;
    return B2C_OK;
}

void b2i_lock_release(int lock)
{
    if (lock != B2I_NO_LOCK) {
        (void)close(lock);
    }
}
