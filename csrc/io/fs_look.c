/*
 * fs_look.c: what is at a path, and whether it still is what was seen there or is open.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fs_impl.h"
#include "io_hook.h"

#include <errno.h>
#include <fcntl.h>

int b2i_fs_stat(int dir, const char *name, int flags, struct stat *info)
{
    bool failed = B2I_FAILS(B2I_CALL_LOOK, .dir = dir, .name = name);
    return failed || fstatat(b2i_fs_at(dir), name, info, flags) != 0 ? errno : 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether these are the facts of an open file. */
static bool is_of(const struct stat *info, int fd)
{
    struct stat mine;
    return fstat(fd, &mine) == 0 && is_same(&mine, info);
}

static b2c_status fail_look(b2c_error *err, int why)
{
    return b2i_fail_io(err, why, B2C_NO_OFFSET, "looking at what is there failed");
}

b2c_status b2i_fs_fail_exists(b2c_error *err)
{
    (void)b2i_fail_io(err, EEXIST, B2C_NO_OFFSET, "there is something at this path already");
    if (err != NULL) {
        err->status = B2C_E_EXISTS;
    }
    return B2C_E_EXISTS;
}

/* What is at a path to be opened; *is_there: anything. */
static b2c_status look_along(const char *path, struct stat *info, bool *is_there, b2c_error *err)
{
    int why = b2i_fs_stat(B2I_FS_CWD, path, 0, info);
    *is_there = why == 0;
    return why == 0 || why == ENOENT ? B2C_OK : fail_look(err, why);
}

/* The facts of an open file; *is: it is one. */
static b2c_status look_inside(const b2i_io *io, struct stat *info, bool *is, b2c_error *err)
{
    *is = io->ops->fd != NULL;
    const bool failed = *is && (B2I_FAILS(B2I_CALL_LOOK, .file = io, .name = ".") ||
                                fstat(io->ops->fd(io), info) != 0);
    return failed ? fail_look(err, errno) : B2C_OK;
}

b2c_status b2i_io_is_at(const b2i_io *io, const char *path, bool *is, b2c_error *err)
{
    struct stat mine, there;
    B2I_TRY(look_inside(io, &mine, is, err));
    if (*is) {
        B2I_TRY(look_along(path, &there, is, err));
        *is = *is && is_same(&mine, &there);
    }
    return B2C_OK;
}

b2c_status b2i_io_is_replaced(const b2i_io *io, const char *path, bool *is, b2c_error *err)
{
    struct stat mine, there;
    B2I_TRY(look_inside(io, &mine, is, err));
    *is = *is && mine.st_nlink == 0;
    return *is ? look_along(path, &there, is, err) : B2C_OK;
}

b2c_status b2i_fs_look(int dir, const char *name, b2i_at_path *out, b2c_error *err)
{
    struct stat info;
    int why = b2i_fs_stat(dir, name, AT_SYMLINK_NOFOLLOW, &info);
    if (why == ENOENT) {
        *out = (b2i_at_path){ .kind = B2I_NOTHING };
        return B2C_OK;
    }
    if (why != 0) {
        return fail_look(err, why);
    }
    const b2i_kind kind = S_ISREG(info.st_mode)   ? B2I_REGULAR
                          : S_ISLNK(info.st_mode) ? B2I_LINK
                          : S_ISDIR(info.st_mode) ? B2I_DIRECTORY
                                                  : B2I_OTHER;
    *out = (b2i_at_path){ kind, info.st_dev, info.st_ino };
    return B2C_OK;
}

b2c_status b2i_fs_is_still(const b2i_at_path *what, const char *path, bool *is, b2c_error *err)
{
    b2i_at_path now;
    B2I_TRY(b2i_fs_look(B2I_FS_CWD, path, &now, err));
    *is = now.kind == what->kind && now.dev == what->dev && now.ino == what->ino;
    return B2C_OK;
}

bool b2i_fs_is_open(const b2i_at_path *what, int fd)
{
    const struct stat info = { .st_dev = (dev_t)what->dev, .st_ino = (ino_t)what->ino };
    return is_of(&info, fd);
}

bool b2i_fs_is_same(int fd, int other)
{
    struct stat info;
    return fstat(other, &info) == 0 && is_of(&info, fd);
}

b2c_status b2i_fs_is_dir(const char *path, bool *is, b2c_error *err)
{
    struct stat info;
    B2I_TRY(look_along(path, &info, is, err));
    *is = *is && S_ISDIR(info.st_mode);
    return B2C_OK;
}

bool b2i_fs_file_size(int dir, const char *name, uint64_t *size)
{
    struct stat info;
    if (fstatat(b2i_fs_at(dir), name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) {
        return false;
    }
    *size = (uint64_t)info.st_size;
    return true;
}
