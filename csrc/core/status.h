/*
 * status.h: how functions fail.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_STATUS_H
#define B2I_STATUS_H

#include "blosc2c.h"

#include <stdbool.h>

/* Whether the stored data are at fault: no argument, memory or system. */
static inline bool b2i_is_bad_data(b2c_status status)
{
    return status >= B2C_E_FORMAT && status < B2C_E_MEMORY;
}

/* Pass a failure up. */
#define B2I_TRY(call)                                                                              \
    do {                                                                                           \
        b2c_status b2i_try_status = (call);                                                        \
        if (b2i_try_status != B2C_OK) {                                                            \
            return b2i_try_status;                                                                 \
        }                                                                                          \
    } while (0)

/* Pass a failure up from a function that owns something: st is its status, out: its label. */
#define B2I_GO(st, call)                                                                           \
    do {                                                                                           \
        (st) = (call);                                                                             \
        if ((st) != B2C_OK) {                                                                      \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

/* Fills '*err' (which may be NULL) and returns 'status'.  'what' is static text. */
b2c_status b2i_fail(b2c_error *err, b2c_status status, uint64_t offset, const char *what);

/* The same with the name of the stored field or argument. */
b2c_status b2i_fail_field(b2c_error *err, b2c_status status, uint64_t offset, const char *field,
                          const char *what);

/* A size that is not the one it must be: adds both to the error. */
b2c_status b2i_fail_sizes(b2c_error *err, b2c_status status, uint64_t offset, const char *what,
                          uint64_t expected, uint64_t actual);

/* B2C_E_LIMIT: adds the limit, whose name is the field, and what was asked for. */
b2c_status b2i_fail_limit(b2c_error *err, uint64_t offset, const char *field, const char *what,
                          uint64_t limit, uint64_t actual);

/* B2C_E_IO with the given errno; 'what' says which operation. */
b2c_status b2i_fail_io(b2c_error *err, int sys_errno, uint64_t offset, const char *what);

/* B2C_E_MEMORY. */
b2c_status b2i_fail_memory(b2c_error *err);

/* Says where a failure of something inside lies: moves a known offset by 'base'. */
void b2i_err_shift(b2c_error *err, uint64_t base);

/* Names the chunk or block of a failure, unless an inner call did so. */
void b2i_err_chunk(b2c_error *err, int64_t chunk);
void b2i_err_block(b2c_error *err, int64_t block);

#endif
