/*
 * gate.c: so many threads at a time.  Waiting is rare, and goes by looking again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "gate.h"

#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { NUMBER_BITS = 10, WAIT_NS = 50000 };

#define NUMBER_MASK (((uint32_t)1 << NUMBER_BITS) - 1)

/* How many of this process are inside. */
static uint32_t inside(uint32_t state, uint32_t process)
{
    return state >> NUMBER_BITS == process ? state & NUMBER_MASK : 0;
}

static uint32_t this_process(void)
{
    return (uint32_t)getpid() & (UINT32_MAX >> NUMBER_BITS);
}

void b2i_gate_enter(b2i_gate *gate, uint32_t max)
{
    uint32_t process = this_process(), old = __atomic_load_n(&gate->state, __ATOMIC_RELAXED);
    for (;;) {
        uint32_t n = inside(old, process);
        if (n >= max || n >= B2I_GATE_MAX) {
            const struct timespec wait = { 0, WAIT_NS };
            (void)nanosleep(&wait, NULL);
            old = __atomic_load_n(&gate->state, __ATOMIC_RELAXED);
        } else if (__atomic_compare_exchange_n(&gate->state, &old, process << NUMBER_BITS | (n + 1),
                                               true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
    }
}

void b2i_gate_leave(b2i_gate *gate)
{
    uint32_t process = this_process(), old = __atomic_load_n(&gate->state, __ATOMIC_RELAXED);
    while (inside(old, process) > 0 &&
           !__atomic_compare_exchange_n(&gate->state, &old, old - 1, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
}
