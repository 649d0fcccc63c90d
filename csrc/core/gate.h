/*
 * gate.h: so many threads at a time, and no more.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_GATE_H
#define B2I_GATE_H

#include <stdint.h>

#define B2I_GATE_MAX 1023

/* All zero is an open gate with nobody inside. */
typedef struct b2i_gate {
    uint32_t state; /* who is inside: process in the upper 22 bits, number in the lower 10 */
} b2i_gate;

/*
 * Waits until fewer than 'max' (1…B2I_GATE_MAX) are inside, then enters.  In a forked child nobody
 * of the parent's threads counts.
 */
void b2i_gate_enter(b2i_gate *gate, uint32_t max);
void b2i_gate_leave(b2i_gate *gate);

#endif
