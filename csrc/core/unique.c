/*
 * unique.c: numbers that name objects for the life of the process.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "unique.h"

#include <stddef.h>

uint64_t b2i_unique_number(void)
{
    /*
     * Atomic and not locked: a fork may happen at any moment.  32-bit machines have no wider one.
     */
    static size_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}
