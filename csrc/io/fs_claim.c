/*
 * fs_claim.c: new files and directories that are in use, and those that a killed process has left.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* flock() under -std=c99 */
#endif
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool b2i_fs_claim(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void b2i_fs_disclaim(int fd)
{
    (void)flock(fd, LOCK_UN);
}

bool b2i_fs_share(int fd)
{
    enum { MAX_TRIES = 2000 };
    const struct timespec ms = { 0, 1000000 };
    for (int i = 0; i < MAX_TRIES; i++) {
        if (flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            return true;
        }
        (void)nanosleep(&ms, NULL);
    }
    return false;
}

b2c_status b2i_fs_fail_left(b2c_error *err, int why, const char *what)
{
    (void)b2i_fail_io(err, why, B2C_NO_OFFSET, what);
    if (err != NULL) {
        err->field = "temporary name";
    }
    return B2C_E_IO;
}

/* Removes an open file, or none, that a process has left; 0 or the errno for which it stays. */
static int remove_open(int fd, const char *path, bool is_wanted)
{
    struct stat info;
    if (fd < 0) {
        return errno;
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return EEXIST;
    }
    if (!b2i_fs_claim(fd) && (!is_wanted || errno == EWOULDBLOCK)) {
        return EWOULDBLOCK;
    }
    return b2i_fs_remove(B2I_FS_CWD, path, NULL) == B2C_OK ? 0 : errno;
}

b2c_status b2i_fs_remove_left(const char *path, bool is_wanted, b2c_error *err)
{
    int fd = b2i_fs_open_at(B2I_FS_CWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    int why = remove_open(fd, path, is_wanted);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (why == 0 || why == ENOENT) {
        return B2C_OK;
    }
    if (why == EWOULDBLOCK) {
        return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                        "somebody else is about to write the file anew");
    }
    return b2i_fs_fail_left(err, why,
                            "what has the name of a file that a killed writer leaves beside it "
                            "(.b2new or .b2tmp) cannot be removed");
}

b2c_status b2i_io_temporary_open(const char *path, b2i_io **out, b2c_error *err)
{
    b2c_status st = b2i_io_file_open(path, B2I_IO_CREATE, out, err);
    if (st == B2C_OK) {
        (void)b2i_fs_claim((*out)->ops->fd(*out)); /* else others tidy up too early, and say so */
    }
    return st != B2C_E_EXISTS ? st
                              : b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                                         "somebody else is about to write the file anew");
}
