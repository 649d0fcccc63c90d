/*
 * pool.h: a parallel loop over the blocks of a chunk, the caller taking part.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_POOL_H
#define B2I_POOL_H

#include "status.h"

#include <stdbool.h>

/*
 * One item of a loop.  'worker' is below the loop's 'nworkers' and no two items
 * run at the same time with the same number: it indexes scratch memory.
 */
typedef b2c_status b2i_job_fn(void *arg, uint32_t item, uint32_t worker, b2c_error *err);

/*
 * Calls fn for every item below nitems on up to nworkers threads, the caller
 * included, and returns when all are done.  Items are claimed in increasing
 * order.  Once an item has failed no further ones are claimed; the failure of
 * the lowest failing item is returned, whatever the timing.
 *
 * pool NULL, one item or nworkers <= 1: the same loop in the caller.  The same
 * when another thread is using the pool, or in a nested call.  Threads that
 * cannot be started are done without.
 */
b2c_status b2i_pool_run(b2c_pool *pool, uint32_t nworkers, uint32_t nitems, b2i_job_fn *fn,
                        void *arg, b2c_error *err);

/* B2C_E_ARGUMENT for what is no number of threads, of a pool or of a context. */
b2c_status b2i_check_nthreads(uint32_t nthreads, b2c_error *err);

#ifdef B2I_FAIL_ALLOC
/* Tests: the start of thread number n from now on (1 = the next) fails, once or for good; 0 =
 * never. */
void b2i_thread_fail_at(uint64_t n, bool for_good);
/* Starts that were tried since then. */
uint64_t b2i_thread_count(void);
#endif

#endif
