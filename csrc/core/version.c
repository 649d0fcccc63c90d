/*
 * version.c: the version of the library as text.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "blosc2c.h"

#define TEXT_OF(number)           #number
#define JOIN(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *b2c_version(void)
{
    return JOIN(B2C_VERSION_MAJOR, B2C_VERSION_MINOR, B2C_VERSION_PATCH);
}
