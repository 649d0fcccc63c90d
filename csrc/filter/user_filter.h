/*
 * user_filter.h: filters that users have registered; private to csrc/filter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_USER_FILTER_H
#define B2I_USER_FILTER_H

#include "filter.h"

/* Whether there is one with this ID. */
bool b2i_user_filter_exists(uint8_t id);

/* Its name, or NULL. */
const char *b2i_user_filter_name(uint8_t id);

/* n bytes of a block from src to dst, forward or backward.  B2C_E_CALLBACK. */
b2c_status b2i_user_filter_run(uint8_t id, uint8_t meta, const b2c_block *block, bool forward,
                               const uint8_t *src, size_t n, uint8_t *dst, b2c_error *err);

#endif
