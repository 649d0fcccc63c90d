/*
 * fs_rename.c: gives files and directories other names, so that there is never half a change.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall() under -std=c99 */
#endif
#include "fs_impl.h"
#include "io_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

b2c_status b2i_fs_rename(int dir, const char *from, const char *to, b2c_error *err)
{
    if (B2I_FAILS(B2I_CALL_RENAME, .dir = dir, .name = from, .to = to) ||
        renameat(b2i_fs_at(dir), from, b2i_fs_at(dir), to) != 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "renaming failed");
    }
    return B2C_OK;
}

/* 0 or an errno, EEXIST when something is at 'to'; what appears in between is replaced. */
static int rename_to_nothing(const char *from, const char *to)
{
    struct stat info;
    int why = b2i_fs_stat(B2I_FS_CWD, to, AT_SYMLINK_NOFOLLOW, &info);
    if (why != ENOENT) {
        return why == 0 ? EEXIST : why;
    }
    why = rename(from, to) != 0 ? errno : 0;
    return why == ENOTEMPTY ? EEXIST : why;
}

b2c_status b2i_fs_publish(const char *from, const char *to, b2c_error *err)
{
    int why =
        B2I_FAILS(B2I_CALL_RENAME, .dir = B2I_FS_CWD, .name = from, .to = to) || link(from, to) != 0
            ? errno
            : 0;
    if (why == EPERM || why == ENOTSUP || why == EOPNOTSUPP || why == ENOSYS || why == EMLINK) {
        why = rename_to_nothing(from, to); /* no links in this file system */
    }
    if (why == EEXIST) {
        return b2i_fs_fail_exists(err);
    }
    if (why != 0) {
        return b2i_fail_io(err, why, B2C_NO_OFFSET, "giving the new file its name failed");
    }
    (void)b2i_fs_remove(B2I_FS_CWD, from, NULL);
    return B2C_OK;
}

#if defined(__linux__) && defined(SYS_renameat2)
enum { NO_REPLACE = 1, EXCHANGE = 2 }; /* of <linux/fs.h> */

/* 0 or an errno; ENOSYS where the system, and EINVAL where the file system, cannot do it. */
static int rename_with(int flags, const char *from, const char *to)
{
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags) == 0 ? 0 : errno;
}
#else
enum { NO_REPLACE, EXCHANGE };

static int rename_with(int flags, const char *from, const char *to)
{
    (void)flags;
    (void)from;
    (void)to;
    return ENOSYS;
}
#endif

/* The same at once where the system and the file system can do it. */
static int rename_new(const char *from, const char *to)
{
    int why = B2I_FAILS(B2I_CALL_RENAME, .dir = B2I_FS_CWD, .name = from, .to = to)
                  ? errno
                  : rename_with(NO_REPLACE, from, to);
    return why == ENOSYS || why == EINVAL ? rename_to_nothing(from, to) : why;
}

b2c_status b2i_fs_publish_dir(const char *from, const char *to, b2c_error *err)
{
    int why = rename_new(from, to);
    if (why == EEXIST) {
        return b2i_fs_fail_exists(err);
    }
    return why == 0 ? B2C_OK
                    : b2i_fail_io(err, why, B2C_NO_OFFSET, "giving the directory its name failed");
}

/* In three steps; a failed one is undone.  0 or an errno. */
static int exchange_by(const char *aside, const char *a, const char *b)
{
    int why = rename_new(b, aside);
    if (why != 0) {
        return why;
    }
    why = rename_new(a, b);
    if (why == 0) {
        why = rename_new(aside, a);
        if (why == 0 || rename_new(b, a) != 0) {
            return why;
        }
    }
    (void)rename_new(aside, b);
    return why;
}

b2c_status b2i_fs_exchange(const char *a, const char *b, const char *aside, b2c_error *err)
{
    int why = B2I_FAILS(B2I_CALL_EXCHANGE, .dir = B2I_FS_CWD, .name = a, .to = b)
                  ? errno
                  : rename_with(EXCHANGE, a, b);
    if (why == ENOSYS || why == EINVAL) {
        why = exchange_by(aside, a, b);
    }
    if (why == EEXIST) {
        return b2i_fs_fail_left(err, why,
                                "what has the name that what is there gets for a moment (.b2old) "
                                "is in the way");
    }
    return why == 0 ? B2C_OK : b2i_fail_io(err, why, B2C_NO_OFFSET, "exchanging names failed");
}

b2c_status b2i_fs_copy_mode(const char *from, const char *to, b2c_error *err)
{
    struct stat info;
    if (B2I_FAILS(B2I_CALL_COPY_MODE, .name = from, .to = to) || stat(from, &info) != 0 ||
        chmod(to, info.st_mode & 07777) != 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "copying the permissions failed");
    }
    return B2C_OK;
}
