/*
 * unique.h: numbers that name objects for the life of the process.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_UNIQUE_H
#define B2I_UNIQUE_H

#include <stdint.h>

/*
 * A number that no other call returns (of 2^32 calls on 32-bit machines), never 0.  Unlike
 * an address it is not given again when the object is gone: what is remembered under it cannot
 * be taken for another's.
 */
uint64_t b2i_unique_number(void);

#endif
