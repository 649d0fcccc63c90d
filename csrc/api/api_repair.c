/*
 * api_repair.c: public functions of repair: check arguments, then call one thing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "need.h"
#include "repair.h"

void b2c_repair_params_init(b2c_repair_params *params)
{
    if (params != NULL) {
        *params = (b2c_repair_params){ .size = sizeof *params, .storage = B2C_STORAGE_FILE };
    }
}

b2c_status b2c_repair(const char *from, const char *to, const b2c_repair_params *params,
                      b2c_repair_result *result, b2c_error *err)
{
    NEED(from);
    NEED(to);
    NEED(params);
    NEED(result);
    if (params->size != sizeof *params) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "size",
                              "the parameters were not set by b2c_repair_params_init()");
    }
    if (params->replaces > 1) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "replaces", "is 0 or 1");
    }
    if (params->storage != B2C_STORAGE_FILE && params->storage != B2C_STORAGE_DIR) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "storage",
                              "the new frame is a file or a directory");
    }
    return b2i_repair(from, to, params, result, err);
}
