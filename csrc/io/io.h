/*
 * io.h: positional I/O.  Everything that touches a file goes through this table
 * and the functions of fs.h, so that tests can record, replay and fail each call (io_hook.h).
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
    /* Its descriptor; NULL when it is no file. */
    int (*fd)(const b2i_io *io);
} b2i_io_ops;

struct b2i_io {
    const b2i_io_ops *ops;
};

#define B2I_IO_READ   0 /* must exist */
#define B2I_IO_UPDATE 1 /* must exist, read and write */
#define B2I_IO_CREATE 2 /* must not exist (B2C_E_EXISTS), read and write */
#define B2I_IO_SYNC   3 /* must exist, to be synchronised; it may be read-only */

b2c_status b2i_io_file_open(const char *path, int mode, b2i_io **out, b2c_error *err);

/* A file in an open directory; a symbolic link is refused (B2C_E_IO with ELOOP). */
b2c_status b2i_io_file_open_in(int dir, const char *name, int mode, b2i_io **out, b2c_error *err);

/* Read-only over memory that outlives it. */
b2c_status b2i_io_mem_open(b2i_span bytes, b2i_io **out, b2c_error *err);

/* Takes 'bytes', made by b2i_malloc(), and frees it at the end; also when it fails. */
b2c_status b2i_io_mem_take(uint8_t *bytes, size_t n, b2i_io **out, b2c_error *err);

/* Writable over 'cap' bytes of the caller; writing beyond them is B2C_E_OUTPUT_SIZE. */
b2c_status b2i_io_mem_over(uint8_t *bytes, size_t cap, b2i_io **out, b2c_error *err);

/* The same as a file, but its bytes can be viewed.  Modes READ and UPDATE. */
b2c_status b2i_io_mmap_open(const char *path, int mode, b2i_io **out, b2c_error *err);

/* Reads through a user's functions; calls the table's close also when it fails. */
b2c_status b2i_io_user_open(const b2c_io_table *table, b2i_io **out, b2c_error *err);

#endif
