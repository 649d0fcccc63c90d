/*
 * fs_dir.c: directories: opening, listing and emptying them, and removing files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fs_impl.h"
#include "io_hook.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int b2i_fs_open_at(int dir, const char *name, int flags)
{
    int fd;
    do {
        fd = openat(b2i_fs_at(dir), name, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

b2c_status b2i_fs_dir_open(const char *path, int *dir, b2c_error *err)
{
    int fd = b2i_fs_open_at(B2I_FS_CWD, path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "opening the directory failed");
    }
    *dir = fd;
    return B2C_OK;
}

void b2i_fs_dir_close(int dir)
{
    if (dir >= 0) {
        (void)close(dir);
    }
}

b2c_status b2i_fs_dir_make(const char *path, b2c_error *err)
{
    if (B2I_FAILS(B2I_CALL_DIR_MAKE, .name = path) || mkdir(path, 0777) != 0) {
        return errno == EEXIST
                   ? b2i_fs_fail_exists(err)
                   : b2i_fail_io(err, errno, B2C_NO_OFFSET, "making the directory failed");
    }
    return B2C_OK;
}

b2c_status b2i_fs_dir_each(int dir, void (*fn)(void *arg, const char *name), void *arg,
                           b2c_error *err)
{
    int fd = b2i_fs_open_at(dir, ".", O_RDONLY | O_DIRECTORY); /* with a position of its own */
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (d == NULL) {
        int why = errno;
        if (fd >= 0) {
            close(fd);
        }
        return b2i_fail_io(err, why, B2C_NO_OFFSET, "listing the directory failed");
    }
    const struct dirent *e;
    int why;
    do {
        errno = 0; /* the end is no error */
        e = B2I_FAILS(B2I_CALL_DIR_READ, .name = ".") ? NULL : readdir(d);
        why = errno;
        if (e != NULL) {
            fn(arg, e->d_name);
        }
    } while (e != NULL);
    closedir(d);
    return why == 0 ? B2C_OK : b2i_fail_io(err, why, B2C_NO_OFFSET, "listing the directory failed");
}

b2c_status b2i_fs_remove(int dir, const char *name, b2c_error *err)
{
    if (B2I_FAILS(B2I_CALL_REMOVE, .dir = dir, .name = name) ||
        unlinkat(b2i_fs_at(dir), name, 0) != 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "removing a file failed");
    }
    return B2C_OK;
}

/* A directory that is being emptied. */
typedef struct removal {
    int dir;
    const char *last; /* a name that stays */
    b2c_status status;
    b2c_error *err;
} removal;

static b2c_status remove_tree(int dir, const char *name, b2c_error *err);

static void remove_name(void *arg, const char *name)
{
    removal *r = arg;
    b2i_at_path what;
    if (r->status != B2C_OK || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        (r->last != NULL && strcmp(name, r->last) == 0)) {
        return;
    }
    r->status = b2i_fs_look(r->dir, name, &what, r->err);
    if (r->status == B2C_OK && what.kind == B2I_DIRECTORY) {
        r->status = remove_tree(r->dir, name, r->err);
    } else if (r->status == B2C_OK && what.kind != B2I_NOTHING) {
        r->status = b2i_fs_remove(r->dir, name, r->err);
    }
}

/* Removes what is in a directory, and 'last' at the end. */
static b2c_status empty(int dir, const char *last, b2c_error *err)
{
    removal r = { dir, last, B2C_OK, err };
    B2I_TRY(b2i_fs_dir_each(dir, remove_name, &r, err));
    B2I_TRY(r.status);
    if (last != NULL) {
        r.last = NULL;
        remove_name(&r, last);
    }
    return r.status;
}

static b2c_status remove_dir(int dir, const char *name, b2c_error *err)
{
    if (B2I_FAILS(B2I_CALL_DIR_REMOVE, .dir = dir, .name = name) ||
        unlinkat(b2i_fs_at(dir), name, AT_REMOVEDIR) != 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "removing the directory failed");
    }
    return B2C_OK;
}

static b2c_status remove_tree(int dir, const char *name, b2c_error *err)
{
    int inside = b2i_fs_open_at(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (inside < 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "opening the directory failed");
    }
    b2c_status st = empty(inside, NULL, err);
    (void)close(inside);
    return st == B2C_OK ? remove_dir(dir, name, err) : st;
}

b2c_status b2i_fs_remove_all(int dir, const char *path, const char *last, b2c_error *err)
{
    B2I_TRY(empty(dir, last, err));
    return remove_dir(B2I_FS_CWD, path, err);
}

b2c_status b2i_fs_dir_remove(const char *path, b2c_error *err)
{
    return remove_dir(B2I_FS_CWD, path, err);
}
