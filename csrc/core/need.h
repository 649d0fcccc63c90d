/*
 * need.h: the checks of pointers that all public functions share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_NEED_H
#define B2I_NEED_H

#include "status.h"

static inline b2c_status b2i_null_argument(b2c_error *err, const char *field)
{
    return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, field, "must not be NULL");
}

/* Leaves a function when a pointer argument is NULL, naming it. */
#define NEED(arg)                                                                                  \
    do {                                                                                           \
        if ((arg) == NULL) {                                                                       \
            return b2i_null_argument(err, #arg);                                                   \
        }                                                                                          \
    } while (0)

/* A buffer: NULL only when it is empty. */
#define NEED_BYTES(arg, n)                                                                         \
    do {                                                                                           \
        if ((arg) == NULL && (n) != 0) {                                                           \
            return b2i_null_argument(err, #arg);                                                   \
        }                                                                                          \
    } while (0)

#endif
