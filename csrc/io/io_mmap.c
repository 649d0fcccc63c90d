/*
 * io_mmap.c: a file whose bytes can be seen without copying.  What is written
 * goes through the file, which the mapping shows as well; bytes behind the
 * size at opening are read like those of any file.
 *
 * Somebody else may cut the file, and touching pages behind its end would end the process: so its
 * size is asked for before each look.  Who cuts it between that and the look still does so.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "io.h"
#include "alloc.h"

#include <sys/mman.h>
#include <sys/stat.h>

typedef struct mmap_io {
    b2i_io io;
    b2i_io *file;
    uint8_t *map; /* NULL: nothing is mapped */
    size_t map_len;
    size_t n; /* bytes of the mapping that the file still has */
} mmap_io;

/* Whether [at, at + n) is mapped and the file has it now; n is not 0. */
static bool is_there(const mmap_io *m, uint64_t at, size_t n)
{
    struct stat info;
    return n > 0 && at <= m->n && m->n - at >= n && fstat(m->file->ops->fd(m->file), &info) == 0 &&
           info.st_size >= 0 && (uint64_t)info.st_size >= at + n;
}

static b2c_status mmap_read(b2i_io *io, uint64_t at, void *dst, size_t n, b2c_error *err)
{
    const mmap_io *m = (const mmap_io *)io;
    if (is_there(m, at, n)) {
        memcpy(dst, m->map + at, n);
        return B2C_OK;
    }
    return m->file->ops->read(m->file, at, dst, n, err);
}

static b2c_status mmap_write(b2i_io *io, uint64_t at, const void *src, size_t n, b2c_error *err)
{
    const mmap_io *m = (const mmap_io *)io;
    return m->file->ops->write(m->file, at, src, n, err);
}

static b2c_status mmap_size(b2i_io *io, uint64_t *size, b2c_error *err)
{
    const mmap_io *m = (const mmap_io *)io;
    return m->file->ops->size(m->file, size, err);
}

static b2c_status mmap_truncate(b2i_io *io, uint64_t size, b2c_error *err)
{
    mmap_io *m = (mmap_io *)io;
    /* Touching pages behind the end of the file would end the process. */
    m->n = size < m->n ? (size_t)size : m->n;
    return m->file->ops->truncate(m->file, size, err);
}

static b2c_status mmap_sync(b2i_io *io, b2c_error *err)
{
    const mmap_io *m = (const mmap_io *)io;
    return m->file->ops->sync(m->file, err);
}

static const uint8_t *mmap_view(b2i_io *io, uint64_t at, size_t n)
{
    const mmap_io *m = (const mmap_io *)io;
    return is_there(m, at, n) ? m->map + at : NULL;
}

static b2c_status mmap_close(b2i_io *io, b2c_error *err)
{
    mmap_io *m = (mmap_io *)io;
    b2i_io *file = m->file;
    if (m->map != NULL) {
        (void)munmap(m->map, m->map_len);
    }
    b2i_free(m);
    return file->ops->close(file, err);
}

static int mmap_fd(const b2i_io *io)
{
    const mmap_io *m = (const mmap_io *)io;
    return m->file->ops->fd(m->file);
}

static const b2i_io_ops mmap_ops = { mmap_read, mmap_write, mmap_size,  mmap_truncate,
                                     mmap_sync, mmap_view,  mmap_close, mmap_fd };

b2c_status b2i_io_mmap_open(const char *path, int mode, b2i_io **out, b2c_error *err)
{
    uint64_t size;
    int fd;
    mmap_io *m = b2i_calloc(sizeof *m);
    if (m == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = b2i_io_file_open(path, mode, &m->file, err);
    if (st != B2C_OK) {
        b2i_free(m);
        return st;
    }
    m->io.ops = &mmap_ops;
    fd = m->file->ops->fd(m->file);
    st = m->file->ops->size(m->file, &size, err);
    if (st == B2C_OK && size > 0 && size <= SIZE_MAX) {
        void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
        if (p != MAP_FAILED) { /* else it is read like any file */
            m->map = p;
            m->map_len = (size_t)size;
            m->n = (size_t)size;
        }
    }
    if (st != B2C_OK) {
        (void)mmap_close(&m->io, NULL);
        return st;
    }
    *out = &m->io;
    return B2C_OK;
}
