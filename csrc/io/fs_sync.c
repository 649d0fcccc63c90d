/*
 * fs_sync.c: puts names and whole file systems on the medium.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syncfs() */
#endif
#include "fs_impl.h"
#include "alloc.h"
#include "io_hook.h"

#include <errno.h>
#include <unistd.h>
#ifdef __linux__
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#endif

/* ---- file systems ---- */

#ifdef __linux__
/* Linux tells what went wrong from 5.8 on. */
static bool tells_errors(void)
{
    struct utsname u;
    unsigned major, minor;
    return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 8));
}

/* Others (of networks, in user space, of several layers) may do nothing and tell no errors. */
static bool is_known(int dir)
{
    enum { EXT4 = 0xEF53, XFS = 0x58465342 };
    const uint32_t btrfs = 0x9123683E;
    struct statfs info;
    if (fstatfs(dir, &info) != 0) {
        return false;
    }
    uint32_t type = (uint32_t)info.f_type;
    return type == EXT4 || type == XFS || type == btrfs;
}

b2c_status b2i_fs_sync_all(int dir, bool *done, b2c_error *err)
{
    *done = tells_errors() && is_known(dir);
    while (*done && (B2I_FAILS(B2I_CALL_SYNC_ALL, .dir = dir, .name = ".") || syncfs(dir) != 0)) {
        if (errno != EINTR) {
            return b2i_fail_io(err, errno, B2C_NO_OFFSET, "synchronising the file system failed");
        }
    }
    return B2C_OK;
}
#else
b2c_status b2i_fs_sync_all(int dir, bool *done, b2c_error *err)
{
    (void)dir;
    (void)err;
    *done = false;
    return B2C_OK;
}
#endif

/* ---- names ---- */

static b2c_status sync_dir(int dir, const char *name, b2c_error *err)
{
    (void)name; /* for the hook */
    while (B2I_FAILS(B2I_CALL_DIR_SYNC, .dir = dir, .name = name) || fsync(dir) != 0) {
        if (errno != EINTR) {
            return b2i_fail_io(err, errno, B2C_NO_OFFSET, "synchronising the directory failed");
        }
    }
    return B2C_OK;
}

b2c_status b2i_fs_dir_sync(int dir, b2c_error *err)
{
    return sync_dir(dir, ".", err);
}

/* The name of what is open as 'inside' (or -1), whose directory could not be opened: 'why'. */
static b2c_status sync_around(int inside, int why, b2c_error *err)
{
    bool done = false;
    if (why == EACCES && inside >= 0) {
        B2I_TRY(b2i_fs_sync_all(inside, &done, err));
    }
    return done ? B2C_OK
                : b2i_fail_io(err, why, B2C_NO_OFFSET,
                              "opening the directory that holds the frame failed");
}

b2c_status b2i_fs_dir_parent_sync(int dir, b2c_error *err)
{
    int fd = b2i_fs_open_at(dir, "..", O_RDONLY | O_DIRECTORY);
    if (fd < 0) {
        return sync_around(dir, errno, err);
    }
    b2c_status st = sync_dir(fd, "..", err);
    (void)close(fd);
    return st;
}

b2c_status b2i_fs_parent_sync(const char *path, b2c_error *err)
{
    char *parent = b2i_fs_parent(path);
    if (parent == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st;
    int fd = b2i_fs_open_at(B2I_FS_CWD, parent, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        st = sync_dir(fd, parent, err);
    } else {
        int why = errno;
        fd = b2i_fs_open_at(B2I_FS_CWD, path, O_RDONLY | O_NONBLOCK);
        st = sync_around(fd, why, err);
    }
    b2i_fs_dir_close(fd);
    b2i_free(parent);
    return st;
}
