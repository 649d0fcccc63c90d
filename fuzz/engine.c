/*
 * engine.c: what a target needs when an engine runs it, which does not make allocations fail.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

int fuzz_is_excused(void)
{
    return 0;
}
