/*
 * io_file.c: positional I/O on files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fs_impl.h"
#include "alloc.h"
#include "io_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of one read or write call; Linux stops a little below 2^31, others at INT_MAX. */
#define MAX_CALL ((size_t)1 << 30)

#ifdef B2I_IO_HOOK
int (*b2i_io_hook)(b2i_io_event *event);

/* How many of n bytes a write may take; 0: it fails. */
static size_t allowed(const void *file, const char *name, uint64_t at, const void *src, size_t n)
{
    b2i_io_event e = { B2I_CALL_WRITE, file, B2I_FS_CWD, name, NULL, at, src, n };
    return b2i_io_fails(&e) ? 0 : e.n;
}
#else
#define allowed(file, name, at, src, n) (n)
#endif

typedef struct file_io {
    b2i_io io;
    int fd;
    bool is_hooked; /* all but those that are only read */
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
            B2I_FAILS(B2I_CALL_READ, .file = f, .name = f->name, .at = (uint64_t)pos, .n = want)
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
    while (B2I_FAILS(B2I_CALL_TRUNCATE, .file = f, .name = f->name, .at = size) ||
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
    while (B2I_FAILS(B2I_CALL_SYNC, .file = f, .name = f->name) || fsync(f->fd) != 0) {
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
    int why = f->is_hooked && B2I_FAILS(B2I_CALL_CLOSE, .file = f, .name = f->name) ? errno : 0;
    why = close(f->fd) != 0 ? errno : why;
    /* After EINTR the descriptor is gone on Linux: closing it again could hit another file. */
    bool failed = why != 0 && why != EINTR && f->is_hooked;
    b2i_free(f);
    return failed ? b2i_fail_io(err, why, B2C_NO_OFFSET, "closing failed") : B2C_OK;
}

static int file_fd(const b2i_io *io)
{
    return ((const file_io *)io)->fd;
}

static const b2i_io_ops file_ops = { file_read, file_write, file_size,  file_truncate,
                                     file_sync, file_view,  file_close, file_fd };

/* Opens f->fd; 'extra' are flags besides those of the mode. */
static b2c_status open_fd(file_io *f, int dir, int mode, int extra, b2c_error *err)
{
    /* O_NONBLOCK: opening a FIFO must not hang; it changes nothing for regular files. */
    static const int flags[] = { O_RDONLY, O_RDWR, O_RDWR | O_CREAT | O_EXCL, O_RDONLY };
    int fd;
    do {
        bool hooked =
            f->is_hooked && B2I_FAILS(mode == B2I_IO_CREATE ? B2I_CALL_CREATE : B2I_CALL_OPEN,
                                      .file = f, .dir = dir, .name = f->name);
        fd = hooked ? -1
                    : openat(b2i_fs_at(dir), f->name, flags[mode] | O_CLOEXEC | O_NONBLOCK | extra,
                             0666);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == EEXIST) {
        return b2i_fs_fail_exists(err);
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
    f->has_size = !f->is_hooked;
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
    f->is_hooked = mode != B2I_IO_READ;
    f->writable = mode == B2I_IO_UPDATE || mode == B2I_IO_CREATE;
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
