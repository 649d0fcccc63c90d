/*
 * io.h: positional I/O.  Everything that touches a file goes through this table,
 * so that tests can record, replay and fail each call.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_IO_H
#define B2I_IO_H

#include "bytes.h"
#include "status.h"

typedef struct b2i_io b2i_io;

typedef struct b2i_io_ops {
    /* Exactly n bytes at 'at'; fewer present is B2C_E_TRUNCATED.  Any number of threads. */
    b2c_status (*read)(b2i_io *io, uint64_t at, void *dst, size_t n, b2c_error *err);
    /* All n bytes or a failure (short writes and EINTR are continued). */
    b2c_status (*write)(b2i_io *io, uint64_t at, const void *src, size_t n, b2c_error *err);
    b2c_status (*size)(b2i_io *io, uint64_t *size, b2c_error *err);
    b2c_status (*truncate)(b2i_io *io, uint64_t size, b2c_error *err);
    b2c_status (*sync)(b2i_io *io, b2c_error *err); /* data is on the medium on return */
    /* Direct view of [at, at + n), or NULL when the medium has none (files). */
    const uint8_t *(*view)(b2i_io *io, uint64_t at, size_t n);
    /* Frees io also when it fails. */
    b2c_status (*close)(b2i_io *io, b2c_error *err);
} b2i_io_ops;

struct b2i_io {
    const b2i_io_ops *ops;
};

#define B2I_IO_READ 0   /* must exist */
#define B2I_IO_UPDATE 1 /* must exist, read and write */
#define B2I_IO_CREATE 2 /* must not exist (B2C_E_EXISTS), read and write */

b2c_status b2i_io_file_open(const char *path, int mode, b2i_io **out, b2c_error *err);

/* Read-only over memory that outlives it. */
b2c_status b2i_io_mem_open(b2i_span bytes, b2i_io **out, b2c_error *err);

#endif
