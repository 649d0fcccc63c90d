/*
 * io_user.c: reading through the functions of a user.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "io.h"
#include "alloc.h"

typedef struct user_io {
    b2i_io io;
    b2c_io_table table;
} user_io;

static b2c_status fail_user(b2c_error *err, int why, uint64_t at, const char *what)
{
    (void)b2i_fail(err, B2C_E_CALLBACK, at, what);
    if (err != NULL) {
        err->sys_errno = why;
    }
    return B2C_E_CALLBACK;
}

static b2c_status user_size(b2i_io *io, uint64_t *size, b2c_error *err)
{
    const b2c_io_table *t = &((const user_io *)io)->table;
    int why = t->size(t->handle, size);
    return why == 0 ? B2C_OK : fail_user(err, why, B2C_NO_OFFSET, "the size function failed");
}

static b2c_status user_read(b2i_io *io, uint64_t at, void *dst, size_t n, b2c_error *err)
{
    const b2c_io_table *t = &((const user_io *)io)->table;
    uint64_t size;
    if (n == 0) {
        return B2C_OK;
    }
    B2I_TRY(user_size(io, &size, err));
    if (at > size || size - at < n) {
        return b2i_fail(err, B2C_E_TRUNCATED, size < at ? at : size, "the data ends too early");
    }
    int why = t->read_at(t->handle, at, dst, n);
    return why == 0 ? B2C_OK : fail_user(err, why, at, "the read_at function failed");
}

static b2c_status user_write(b2i_io *io, uint64_t at, const void *src, size_t n, b2c_error *err)
{
    (void)io;
    (void)src;
    (void)n;
    return b2i_fail(err, B2C_E_READ_ONLY, at, "there is no function for writing");
}

static b2c_status user_truncate(b2i_io *io, uint64_t size, b2c_error *err)
{
    return user_write(io, size, NULL, 0, err);
}

static b2c_status user_sync(b2i_io *io, b2c_error *err)
{
    (void)io;
    (void)err;
    return B2C_OK;
}

static const uint8_t *user_view(b2i_io *io, uint64_t at, size_t n)
{
    (void)io;
    (void)at;
    (void)n;
    return NULL;
}

static b2c_status user_close(b2i_io *io, b2c_error *err)
{
    const b2c_io_table *t = &((const user_io *)io)->table;
    (void)err;
    if (t->close != NULL) {
        t->close(t->handle);
    }
    b2i_free(io);
    return B2C_OK;
}

static const b2i_io_ops user_ops = { user_read, user_write, user_size,  user_truncate,
                                     user_sync, user_view,  user_close, NULL };

b2c_status b2i_io_user_open(const b2c_io_table *table, b2i_io **out, b2c_error *err)
{
    user_io *u = b2i_malloc(sizeof *u);
    if (u == NULL) {
        if (table->close != NULL) {
            table->close(table->handle);
        }
        return b2i_fail_memory(err);
    }
    u->io.ops = &user_ops;
    u->table = *table;
    *out = &u->io;
    return B2C_OK;
}
