/*
 * io_file.c: positional I/O on files, and the calls on names and directories.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* O_CLOEXEC, O_NOFOLLOW, fdatasync under -std=c99 */
#endif
#include "io.h"
#include "alloc.h"
#include "checksum.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

/* Bytes of one read or write call; Linux stops a little below 2^31, others at INT_MAX. */
#define MAX_CALL ((size_t)1 << 30)

#ifdef B2I_IO_HOOK
int (*b2i_io_hook)(b2i_io_event *event);

/* Sets errno when the call is to fail. */
static bool fails(b2i_io_event *event)
{
    int why = b2i_io_hook == NULL ? 0 : b2i_io_hook(event);
    errno = why != 0 ? why : errno;
    return why != 0;
}
#define FAILS(...) fails(&(b2i_io_event){ .call = __VA_ARGS__ })

/* How many of n bytes a write may take; 0: it fails. */
static size_t allowed(const void *file, const char *name, uint64_t at, const void *src, size_t n)
{
    b2i_io_event e = { B2I_CALL_WRITE, file, B2I_FS_CWD, name, NULL, at, src, n };
    return fails(&e) ? 0 : e.n;
}
#else
#define FAILS(...)                      false
#define allowed(file, name, at, src, n) (n)
#endif

typedef struct file_io {
    b2i_io io;
    int fd;
    bool writable;
    bool has_size; /* not asked for since it was opened to be read */
    uint64_t size; /* then */
    char name[];   /* for the test hook */
} file_io;

/* A position that off_t holds, or false. */
static bool to_off(uint64_t at, size_t n, off_t *out)
{
    const uint64_t max = sizeof(off_t) == 8 ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX;
    if (at > max || max - at < n) {
        return false;
    }
    *out = (off_t)at;
    return true;
}

static b2c_status file_read(b2i_io *io, uint64_t at, void *dst, size_t n, b2c_error *err)
{
    const file_io *f = (const file_io *)io;
    uint8_t *p = dst;
    off_t pos;
    if (!to_off(at, n, &pos)) {
        return b2i_fail(err, B2C_E_TRUNCATED, at, "the file ends too early");
    }
    while (n > 0) {
        size_t want = n < MAX_CALL ? n : MAX_CALL;
        ssize_t got =
            FAILS(B2I_CALL_READ, .file = f, .name = f->name, .at = (uint64_t)pos, .n = want)
                ? -1
                : pread(f->fd, p, want, pos);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return b2i_fail_io(err, errno, (uint64_t)pos, "reading failed");
        }
        if (got == 0) {
            return b2i_fail(err, B2C_E_TRUNCATED, (uint64_t)pos, "the file ends too early");
        }
        p += got;
        n -= (size_t)got;
        pos += got;
    }
    return B2C_OK;
}

static b2c_status file_write(b2i_io *io, uint64_t at, const void *src, size_t n, b2c_error *err)
{
    const file_io *f = (const file_io *)io;
    const uint8_t *p = src;
    off_t pos;
    if (!f->writable) {
        return b2i_fail(err, B2C_E_READ_ONLY, at, "the file was opened for reading");
    }
    if (!to_off(at, n, &pos)) {
        return b2i_fail_io(err, EFBIG, at, "writing failed");
    }
    while (n > 0) {
        size_t want = n < MAX_CALL ? n : MAX_CALL;
        want = allowed(f, f->name, (uint64_t)pos, p, want);
        ssize_t put = want == 0 ? -1 : pwrite(f->fd, p, want, pos);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return b2i_fail_io(err, put < 0 ? errno : EIO, (uint64_t)pos, "writing failed");
        }
        p += put;
        n -= (size_t)put;
        pos += put;
    }
    return B2C_OK;
}

static b2c_status file_size(b2i_io *io, uint64_t *size, b2c_error *err)
{
    file_io *f = (file_io *)io;
    struct stat info;
    if (f->has_size) { /* a call to the system costs as much as all that is done with the answer */
        f->has_size = false;
        *size = f->size;
        return B2C_OK;
    }
    if (fstat(f->fd, &info) != 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "asking for the size failed");
    }
    *size = (uint64_t)info.st_size;
    return B2C_OK;
}

static b2c_status file_truncate(b2i_io *io, uint64_t size, b2c_error *err)
{
    const file_io *f = (const file_io *)io;
    off_t pos;
    if (!to_off(size, 0, &pos)) {
        return b2i_fail_io(err, EFBIG, size, "truncating failed");
    }
    while (FAILS(B2I_CALL_TRUNCATE, .file = f, .name = f->name, .at = size) ||
           ftruncate(f->fd, pos) != 0) {
        if (errno != EINTR) {
            return b2i_fail_io(err, errno, size, "truncating failed");
        }
    }
    return B2C_OK;
}

static b2c_status file_sync(b2i_io *io, b2c_error *err)
{
    const file_io *f = (const file_io *)io;
    while (FAILS(B2I_CALL_SYNC, .file = f, .name = f->name) || fsync(f->fd) != 0) {
        if (errno != EINTR) {
            return b2i_fail_io(err, errno, B2C_NO_OFFSET, "synchronising failed");
        }
    }
    return B2C_OK;
}

static const uint8_t *file_view(b2i_io *io, uint64_t at, size_t n)
{
    (void)io;
    (void)at;
    (void)n;
    return NULL;
}

static b2c_status file_close(b2i_io *io, b2c_error *err)
{
    file_io *f = (file_io *)io;
    int why = f->writable && FAILS(B2I_CALL_CLOSE, .file = f, .name = f->name) ? errno : 0;
    why = close(f->fd) != 0 ? errno : why;
    /* After EINTR the descriptor is gone on Linux: closing it again could hit another file. */
    bool failed = why != 0 && why != EINTR && f->writable;
    b2i_free(f);
    return failed ? b2i_fail_io(err, why, B2C_NO_OFFSET, "closing failed") : B2C_OK;
}

static int file_fd(const b2i_io *io)
{
    return ((const file_io *)io)->fd;
}

static const b2i_io_ops file_ops = { file_read, file_write, file_size,  file_truncate,
                                     file_sync, file_view,  file_close, file_fd };

static int at_dir(int dir)
{
    return dir == B2I_FS_CWD ? AT_FDCWD : dir;
}

int b2i_fs_open_at(int dir, const char *name, int flags)
{
    int fd;
    do {
        fd = openat(at_dir(dir), name, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static b2c_status fail_exists(b2c_error *err)
{
    (void)b2i_fail_io(err, EEXIST, B2C_NO_OFFSET, "there is something at this path already");
    if (err != NULL) {
        err->status = B2C_E_EXISTS;
    }
    return B2C_E_EXISTS;
}

/* Opens f->fd; 'extra' are flags besides those of the mode. */
static b2c_status open_fd(file_io *f, int dir, int mode, int extra, b2c_error *err)
{
    /* O_NONBLOCK: opening a FIFO must not hang; it changes nothing for regular files. */
    static const int flags[] = { O_RDONLY, O_RDWR, O_RDWR | O_CREAT | O_EXCL };
    int fd;
    do {
        bool hooked = f->writable && FAILS(mode == B2I_IO_UPDATE ? B2I_CALL_OPEN : B2I_CALL_CREATE,
                                           .file = f, .dir = dir, .name = f->name);
        fd = hooked
                 ? -1
                 : openat(at_dir(dir), f->name, flags[mode] | O_CLOEXEC | O_NONBLOCK | extra, 0666);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == EEXIST) {
        return fail_exists(err);
    }
    if (fd < 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "opening the file failed");
    }
    struct stat info;
    int why = fstat(fd, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (why != 0) {
        close(fd);
        return b2i_fail_io(err, why, B2C_NO_OFFSET, "opening the file failed");
    }
    if (!S_ISREG(info.st_mode)) {
        close(fd);
        return b2i_fail_io(err, EINVAL, B2C_NO_OFFSET, "not a regular file");
    }
    f->fd = fd;
    f->has_size = !f->writable;
    f->size = (uint64_t)info.st_size;
    return B2C_OK;
}

static b2c_status open_file(int dir, const char *name, int mode, int extra, b2i_io **out,
                            b2c_error *err)
{
    size_t len = strlen(name) + 1;
    file_io *f = b2i_malloc(sizeof *f + len);
    if (f == NULL) {
        return b2i_fail_memory(err);
    }
    f->io.ops = &file_ops;
    f->writable = mode != B2I_IO_READ;
    memcpy(f->name, name, len);
    b2c_status st = open_fd(f, dir, mode, extra, err);
    if (st != B2C_OK) {
        b2i_free(f);
        return st;
    }
    *out = &f->io;
    return B2C_OK;
}

b2c_status b2i_io_file_open(const char *path, int mode, b2i_io **out, b2c_error *err)
{
    return open_file(B2I_FS_CWD, path, mode, 0, out, err);
}

b2c_status b2i_io_file_open_in(int dir, const char *name, int mode, b2i_io **out, b2c_error *err)
{
    return open_file(dir, name, mode, O_NOFOLLOW, out, err);
}

/* ---- files that take the place of others ---- */

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

/* ---- what is at a path ---- */

/* 0 or an errno; ENOENT: nothing is there. */
static int look(int dir, const char *name, int flags, struct stat *info)
{
    bool failed = FAILS(B2I_CALL_LOOK, .dir = dir, .name = name);
    return failed || fstatat(at_dir(dir), name, info, flags) != 0 ? errno : 0;
}

/* Whether these are the facts of an open file. */
static bool is_of(const struct stat *info, int fd)
{
    struct stat mine;
    return fstat(fd, &mine) == 0 && mine.st_dev == info->st_dev && mine.st_ino == info->st_ino;
}

static b2c_status fail_look(b2c_error *err, int why)
{
    return b2i_fail_io(err, why, B2C_NO_OFFSET, "looking at what is there failed");
}

/* What is at a path to be opened; *is_there: anything. */
static b2c_status look_along(const char *path, struct stat *info, bool *is_there, b2c_error *err)
{
    int why = look(B2I_FS_CWD, path, 0, info);
    *is_there = why == 0;
    return why == 0 || why == ENOENT ? B2C_OK : fail_look(err, why);
}

b2c_status b2i_io_is_at(const b2i_io *io, const char *path, bool *is, b2c_error *err)
{
    struct stat there;
    B2I_TRY(look_along(path, &there, is, err));
    *is = *is && io->ops->fd != NULL && is_of(&there, io->ops->fd(io));
    return B2C_OK;
}

b2c_status b2i_io_is_replaced(const b2i_io *io, const char *path, bool *is, b2c_error *err)
{
    struct stat mine, there;
    *is = io->ops->fd != NULL && fstat(io->ops->fd(io), &mine) == 0 && mine.st_nlink == 0;
    return *is ? look_along(path, &there, is, err) : B2C_OK;
}

b2c_status b2i_fs_look(int dir, const char *name, b2i_at_path *out, b2c_error *err)
{
    struct stat info;
    int why = look(dir, name, AT_SYMLINK_NOFOLLOW, &info);
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

/* ---- directories ---- */

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
    if (FAILS(B2I_CALL_DIR_MAKE, .name = path) || mkdir(path, 0777) != 0) {
        return errno == EEXIST
                   ? fail_exists(err)
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
        e = FAILS(B2I_CALL_DIR_READ, .name = ".") ? NULL : readdir(d);
        why = errno;
        if (e != NULL) {
            fn(arg, e->d_name);
        }
    } while (e != NULL);
    closedir(d);
    return why == 0 ? B2C_OK : b2i_fail_io(err, why, B2C_NO_OFFSET, "listing the directory failed");
}

b2c_status b2i_fs_rename(int dir, const char *from, const char *to, b2c_error *err)
{
    if (FAILS(B2I_CALL_RENAME, .dir = dir, .name = from, .to = to) ||
        renameat(at_dir(dir), from, at_dir(dir), to) != 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "renaming failed");
    }
    return B2C_OK;
}

/* 0 or an errno, EEXIST when something is at 'to'; what appears in between is replaced. */
static int rename_to_nothing(const char *from, const char *to)
{
    struct stat info;
    int why = look(B2I_FS_CWD, to, AT_SYMLINK_NOFOLLOW, &info);
    if (why != ENOENT) {
        return why == 0 ? EEXIST : why;
    }
    why = rename(from, to) != 0 ? errno : 0;
    return why == ENOTEMPTY ? EEXIST : why;
}

b2c_status b2i_fs_publish(const char *from, const char *to, b2c_error *err)
{
    int why =
        FAILS(B2I_CALL_RENAME, .dir = B2I_FS_CWD, .name = from, .to = to) || link(from, to) != 0
            ? errno
            : 0;
    if (why == EPERM || why == ENOTSUP || why == EOPNOTSUPP || why == ENOSYS || why == EMLINK) {
        why = rename_to_nothing(from, to); /* no links in this file system */
    }
    if (why == EEXIST) {
        return fail_exists(err);
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
    int why = FAILS(B2I_CALL_RENAME, .dir = B2I_FS_CWD, .name = from, .to = to)
                  ? errno
                  : rename_with(NO_REPLACE, from, to);
    return why == ENOSYS || why == EINVAL ? rename_to_nothing(from, to) : why;
}

b2c_status b2i_fs_publish_dir(const char *from, const char *to, b2c_error *err)
{
    int why = rename_new(from, to);
    if (why == EEXIST) {
        return fail_exists(err);
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
    int why = FAILS(B2I_CALL_EXCHANGE, .dir = B2I_FS_CWD, .name = a, .to = b)
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
    if (FAILS(B2I_CALL_COPY_MODE, .name = from, .to = to) || stat(from, &info) != 0 ||
        chmod(to, info.st_mode & 07777) != 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "copying the permissions failed");
    }
    return B2C_OK;
}

b2c_status b2i_fs_remove(int dir, const char *name, b2c_error *err)
{
    if (FAILS(B2I_CALL_REMOVE, .dir = dir, .name = name) || unlinkat(at_dir(dir), name, 0) != 0) {
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
    if (FAILS(B2I_CALL_DIR_REMOVE, .dir = dir, .name = name) ||
        unlinkat(at_dir(dir), name, AT_REMOVEDIR) != 0) {
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

static b2c_status sync_dir(int dir, const char *name, b2c_error *err)
{
    (void)name; /* for the hook */
    while (FAILS(B2I_CALL_DIR_SYNC, .dir = dir, .name = name) || fsync(dir) != 0) {
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

b2c_status b2i_fs_dir_parent_sync(int dir, b2c_error *err)
{
    int fd = b2i_fs_open_at(dir, "..", O_RDONLY | O_DIRECTORY);
    if (fd < 0) {
        return b2i_fail_io(err, errno, B2C_NO_OFFSET, "opening the directory failed");
    }
    b2c_status st = sync_dir(fd, "..", err);
    (void)close(fd);
    return st;
}

/* Where the last name of a path begins, which slashes may follow. */
static size_t name_at(const char *path)
{
    size_t at = strlen(path);
    while (at > 1 && path[at - 1] == '/') {
        at--;
    }
    while (at > 0 && path[at - 1] != '/') {
        at--;
    }
    return at;
}

/* The path of the directory that holds 'path', to be freed; NULL without memory. */
static char *parent_of(const char *path)
{
    size_t len = name_at(path);
    char *parent = b2i_malloc(len + 2);
    if (parent != NULL) {
        memcpy(parent, len == 0 ? "." : path, len == 0 ? 1 : len);
        parent[len == 0 ? 1 : len] = '\0';
    }
    return parent;
}

b2c_status b2i_fs_parent_sync(const char *path, b2c_error *err)
{
    char *parent = parent_of(path);
    if (parent == NULL) {
        return b2i_fail_memory(err);
    }
    int dir;
    b2c_status st = b2i_fs_dir_open(parent, &dir, err);
    if (st == B2C_OK) {
        st = sync_dir(dir, parent, err);
        b2i_fs_dir_close(dir);
    }
    b2i_free(parent);
    return st;
}

bool b2i_fs_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool b2i_fs_file_size(int dir, const char *name, uint64_t *size)
{
    struct stat info;
    if (fstatat(at_dir(dir), name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) {
        return false;
    }
    *size = (uint64_t)info.st_size;
    return true;
}

/* ---- paths ---- */

/* 'name' in 'dir', to be freed. */
static b2c_status join(const char *dir, const char *name, char **out, b2c_error *err)
{
    size_t n = strlen(dir), len = strlen(name) + 1;
    char *path = b2i_malloc(n + 1 + len);
    if (path == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(path, dir, n);
    if (n > 0 && path[n - 1] != '/') {
        path[n++] = '/';
    }
    memcpy(path + n, name, len);
    *out = path;
    return B2C_OK;
}

b2c_status b2i_fs_beside(const char *path, const char *suffix, char **out, b2c_error *err)
{
    enum { MAX_NAME = 255, HEX_LEN = 16 };
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t before = (size_t)(name - path), len = strlen(name), n = strlen(suffix);
    char *beside = b2i_malloc(before + len + HEX_LEN + n + 1);
    if (beside == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(beside, path, before + len);
    if (len + n > MAX_NAME) {
        uint64_t hash = b2i_xxh3_64(b2i_span_of(name, len));
        for (len = 0; len < HEX_LEN; len++) {
            beside[before + len] = "0123456789abcdef"[hash >> (60 - 4 * len) & 15];
        }
    }
    memcpy(beside + before + len, suffix, n + 1);
    *out = beside;
    return B2C_OK;
}

static b2c_status fail_path(int why, b2c_error *err)
{
    return why == ENOMEM ? b2i_fail_memory(err)
                         : b2i_fail_io(err, why, B2C_NO_OFFSET, "finding the path failed");
}

b2c_status b2i_fs_absolute_path(const char *path, char **out, b2c_error *err)
{
    if (path[0] == '/') {
        return join("", path, out, err);
    }
    char *cwd = getcwd(NULL, 0); /* of the C library's malloc */
    if (cwd == NULL) {
        return fail_path(errno, err);
    }
    b2c_status st = join(cwd, path, out, err);
    free(cwd);
    return st;
}

/* Of what is not there yet, in a directory that is. */
static b2c_status real_path_of_new(const char *path, char **out, b2c_error *err)
{
    char *parent = parent_of(path);
    if (parent == NULL) {
        return b2i_fail_memory(err);
    }
    char *real = realpath(parent, NULL);
    int why = errno;
    b2i_free(parent);
    if (real == NULL && why == ENOMEM) {
        return b2i_fail_memory(err);
    }
    b2c_status st =
        real == NULL ? join("", path, out, err) : join(real, path + name_at(path), out, err);
    free(real);
    return st;
}

b2c_status b2i_fs_real_path(const char *path, char **out, b2c_error *err)
{
    struct stat info;
    char *real = realpath(path, NULL); /* of the C library's malloc */
    int why = errno;
    if (real == NULL && why == ENOENT) {
        return real_path_of_new(path, out, err);
    }
    if (real == NULL && (why == ENOMEM || (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)))) {
        return fail_path(why, err); /* a file must not take the place of a link */
    }
    b2c_status st = join("", real == NULL ? path : real, out, err);
    free(real);
    return st;
}
