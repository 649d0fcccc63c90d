/*
 * io_mem.c: positional I/O over bytes in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "io.h"
#include "alloc.h"

typedef struct mem_io {
    b2i_io io;
    const uint8_t *p;
    uint8_t *writable; /* p when it may be written, else NULL */
    uint8_t *owned;    /* p when it is to be freed, else NULL */
    size_t n;
} mem_io;

static b2c_status mem_read(b2i_io *io, uint64_t at, void *dst, size_t n, b2c_error *err)
{
    const mem_io *m = (const mem_io *)io;
    if (at > m->n || m->n - at < n) {
        return b2i_fail(err, B2C_E_TRUNCATED, at, "the data ends too early");
    }
    if (n != 0) {
        memcpy(dst, m->p + at, n);
    }
    return B2C_OK;
}

static b2c_status mem_write(b2i_io *io, uint64_t at, const void *src, size_t n, b2c_error *err)
{
    const mem_io *m = (const mem_io *)io;
    if (m->writable == NULL) {
        return b2i_fail(err, B2C_E_READ_ONLY, at, "the memory is read-only");
    }
    if (at > m->n || m->n - at < n) {
        return b2i_fail(err, B2C_E_OUTPUT_SIZE, at, "the output buffer is too small");
    }
    if (n != 0) {
        memcpy(m->writable + at, src, n);
    }
    return B2C_OK;
}

static b2c_status mem_size(b2i_io *io, uint64_t *size, b2c_error *err)
{
    (void)err;
    *size = ((const mem_io *)io)->n;
    return B2C_OK;
}

static b2c_status mem_truncate(b2i_io *io, uint64_t size, b2c_error *err)
{
    (void)io;
    return b2i_fail(err, B2C_E_READ_ONLY, size, "memory cannot be truncated");
}

static b2c_status mem_sync(b2i_io *io, b2c_error *err)
{
    (void)io;
    (void)err;
    return B2C_OK;
}

static const uint8_t *mem_view(b2i_io *io, uint64_t at, size_t n)
{
    const mem_io *m = (const mem_io *)io;
    return at > m->n || m->n - at < n ? NULL : m->p + at;
}

static b2c_status mem_close(b2i_io *io, b2c_error *err)
{
    (void)err;
    b2i_free(((mem_io *)io)->owned);
    b2i_free(io);
    return B2C_OK;
}

static const b2i_io_ops mem_ops = { mem_read, mem_write, mem_size,  mem_truncate,
                                    mem_sync, mem_view,  mem_close, NULL };

static b2c_status make(mem_io init, b2i_io **out, b2c_error *err)
{
    mem_io *m = b2i_malloc(sizeof *m);
    if (m == NULL) {
        return b2i_fail_memory(err);
    }
    *m = init;
    m->io.ops = &mem_ops;
    *out = &m->io;
    return B2C_OK;
}

b2c_status b2i_io_mem_open(b2i_span bytes, b2i_io **out, b2c_error *err)
{
    return make((mem_io){ .p = bytes.p, .n = bytes.n }, out, err);
}

b2c_status b2i_io_mem_take(uint8_t *bytes, size_t n, b2i_io **out, b2c_error *err)
{
    b2c_status st = make((mem_io){ .p = bytes, .owned = bytes, .n = n }, out, err);
    if (st != B2C_OK) {
        b2i_free(bytes);
    }
    return st;
}

b2c_status b2i_io_mem_over(uint8_t *bytes, size_t cap, b2i_io **out, b2c_error *err)
{
    return make((mem_io){ .p = bytes, .writable = bytes, .n = cap }, out, err);
}
