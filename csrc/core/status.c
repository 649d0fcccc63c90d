/*
 * status.c: status texts and the functions that fill b2c_error.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "status.h"

const char *b2c_status_text(b2c_status status)
{
    switch (status) {
    case B2C_OK:
        return "success";
    case B2C_E_ARGUMENT:
        return "invalid argument";
    case B2C_E_RANGE:
        return "out of range";
    case B2C_E_OUTPUT_SIZE:
        return "output buffer too small";
    case B2C_E_READ_ONLY:
        return "not writable";
    case B2C_E_EXISTS:
        return "already exists";
    case B2C_E_NOT_FOUND:
        return "not found";
    case B2C_E_FORMAT:
        return "not a Blosc2 chunk or frame";
    case B2C_E_CORRUPT:
        return "corrupt data";
    case B2C_E_TRUNCATED:
        return "truncated data";
    case B2C_E_UNSUPPORTED:
        return "unsupported variant of the format";
    case B2C_E_UNKNOWN_CODEC:
        return "unknown codec";
    case B2C_E_UNKNOWN_FILTER:
        return "unknown filter";
    case B2C_E_CHECKSUM:
        return "checksum mismatch";
    case B2C_E_MEMORY:
        return "out of memory";
    case B2C_E_LIMIT:
        return "limit exceeded";
    case B2C_E_IO:
        return "input/output error";
    case B2C_E_LOCKED:
        return "locked through another handle";
    case B2C_E_CONFLICT:
        return "changed by somebody else at the same time";
    case B2C_E_CALLBACK:
        return "a user function failed";
    case B2C_E_INTERNAL:
        return "internal error";
    }
    return "unknown status";
}

b2c_status b2i_fail(b2c_error *err, b2c_status status, uint64_t offset, const char *what)
{
    if (err != NULL) {
        *err = (b2c_error){ .status = status,
                            .offset = offset,
                            .chunk = B2C_NO_NUMBER,
                            .block = B2C_NO_NUMBER,
                            .what = what };
    }
    return status;
}

b2c_status b2i_fail_field(b2c_error *err, b2c_status status, uint64_t offset, const char *field,
                          const char *what)
{
    (void)b2i_fail(err, status, offset, what);
    if (err != NULL) {
        err->field = field;
    }
    return status;
}

b2c_status b2i_fail_sizes(b2c_error *err, b2c_status status, uint64_t offset, const char *what,
                          uint64_t expected, uint64_t actual)
{
    (void)b2i_fail(err, status, offset, what);
    if (err != NULL) {
        err->expected = expected;
        err->actual = actual;
    }
    return status;
}

b2c_status b2i_fail_limit(b2c_error *err, uint64_t offset, const char *field, const char *what,
                          uint64_t limit, uint64_t actual)
{
    (void)b2i_fail_sizes(err, B2C_E_LIMIT, offset, what, limit, actual);
    if (err != NULL) {
        err->field = field;
    }
    return B2C_E_LIMIT;
}

b2c_status b2i_fail_io(b2c_error *err, int sys_errno, uint64_t offset, const char *what)
{
    (void)b2i_fail(err, B2C_E_IO, offset, what);
    if (err != NULL) {
        err->sys_errno = sys_errno;
    }
    return B2C_E_IO;
}

b2c_status b2i_fail_memory(b2c_error *err)
{
    return b2i_fail(err, B2C_E_MEMORY, B2C_NO_OFFSET, "out of memory");
}

void b2i_err_shift(b2c_error *err, uint64_t base)
{
    if (err != NULL && err->offset != B2C_NO_OFFSET) {
        err->offset += base;
    }
}

void b2i_err_chunk(b2c_error *err, int64_t chunk)
{
    if (err != NULL && err->chunk == B2C_NO_NUMBER) {
        err->chunk = chunk;
    }
}

void b2i_err_block(b2c_error *err, int64_t block)
{
    if (err != NULL && err->block == B2C_NO_NUMBER) {
        err->block = block;
    }
}
