/*
 * pool.c: worker threads and the parallel loop.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All state of a pool is under one mutex.  A loop is open to workers while it
 * has 'seats' and unclaimed items; a worker that wakes later finds it closed,
 * so that the caller waits for claimed items only, never for sleepers.
 */
#include "pool.h"
#include "alloc.h"

#include <pthread.h>
#include <signal.h>

struct b2c_pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* workers: a loop has opened, or 'stop' */
    pthread_cond_t done; /* the caller: 'running' has become 0 */
    bool busy;           /* a caller is inside b2i_pool_run() */
    bool stop;
    uint32_t nmax;     /* workers at most, callers not counted */
    uint32_t nstarted; /* workers there are: threads[0 … nstarted) */
    uint32_t nasleep;  /* workers waiting for 'work' */

    /* the current loop */
    b2i_job_fn *fn;
    void *arg;
    uint32_t nitems;
    uint32_t next;    /* first item not claimed; nitems once an item has failed */
    uint32_t seats;   /* workers that may still join */
    uint32_t joined;  /* highest worker number given out */
    uint32_t running; /* workers inside */
    uint32_t to_wake; /* workers that somebody must still wake */
    uint32_t failed_item;
    b2c_status status; /* of failed_item */
    b2c_error error;

    b2c_pool *prev_live, *next_live;
    pthread_t threads[];
};

/* ---- fork: a child has only the forking thread, and locks as they happened to be ---- */

static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static b2c_pool *live;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static bool init_sync(b2c_pool *pool)
{
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&pool->work, NULL) != 0) {
        pthread_mutex_destroy(&pool->lock);
        return false;
    }
    if (pthread_cond_init(&pool->done, NULL) != 0) {
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->lock);
        return false;
    }
    return true;
}

static void before_fork(void)
{
    pthread_mutex_lock(&live_lock);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&live_lock);
}

static void after_fork_child(void)
{
    for (b2c_pool *p = live; p != NULL; p = p->next_live) {
        (void)init_sync(p); /* cannot fail where it succeeded before */
        p->busy = false;
        p->stop = false;
        p->nstarted = 0;
        p->nasleep = 0;
        p->nitems = 0;
        p->next = 0;
        p->running = 0;
    }
    pthread_mutex_unlock(&live_lock);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static void live_add(b2c_pool *pool)
{
    pthread_mutex_lock(&live_lock);
    pool->next_live = live;
    if (live != NULL) {
        live->prev_live = pool;
    }
    live = pool;
    pthread_mutex_unlock(&live_lock);
}

static void live_remove(b2c_pool *pool)
{
    pthread_mutex_lock(&live_lock);
    if (pool->prev_live != NULL) {
        pool->prev_live->next_live = pool->next_live;
    } else {
        live = pool->next_live;
    }
    if (pool->next_live != NULL) {
        pool->next_live->prev_live = pool->prev_live;
    }
    pthread_mutex_unlock(&live_lock);
}

/* ---- the loop; functions below are called with the lock held, and return so ---- */

static bool is_open(const b2c_pool *pool)
{
    return pool->seats > 0 && pool->next < pool->nitems;
}

/* Everyone who enters a loop wakes two: many workers start in few steps, none pays for all. */
static void wake_two(b2c_pool *pool)
{
    for (int i = 0; i < 2 && pool->to_wake > 0 && pool->nasleep > 0 && is_open(pool); i++) {
        pool->to_wake--;
        pthread_cond_signal(&pool->work);
    }
}

static void run_items(b2c_pool *pool, uint32_t worker)
{
    b2i_job_fn *fn = pool->fn;
    void *arg = pool->arg;
    while (pool->next < pool->nitems) {
        uint32_t item = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        b2c_error error = { 0 };
        b2c_status status = fn(arg, item, worker, &error);
        pthread_mutex_lock(&pool->lock);
        if (status != B2C_OK) {
            pool->next = pool->nitems;
            if (pool->status == B2C_OK || item < pool->failed_item) {
                pool->failed_item = item;
                pool->status = status;
                pool->error = error;
            }
        }
    }
}

static void *worker_main(void *arg)
{
    b2c_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && !is_open(pool)) {
            pool->nasleep++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->nasleep--;
        }
        if (pool->stop) {
            break;
        }
        pool->seats--;
        pool->running++;
        uint32_t worker = ++pool->joined;
        wake_two(pool);
        run_items(pool, worker);
        if (--pool->running == 0) {
            pthread_cond_signal(&pool->done);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals are for the program's own threads; faults must still reach their handlers. */
static void worker_signals(sigset_t *set)
{
    sigfillset(set);
    sigdelset(set, SIGSEGV);
    sigdelset(set, SIGBUS);
    sigdelset(set, SIGFPE);
    sigdelset(set, SIGILL);
    sigdelset(set, SIGTRAP);
    sigdelset(set, SIGABRT);
}

#ifdef B2I_FAIL_ALLOC

static pthread_mutex_t fail_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ntried, fail_at;
static bool fail_for_good;

void b2i_thread_fail_at(uint64_t n, bool for_good)
{
    pthread_mutex_lock(&fail_lock);
    ntried = 0;
    fail_at = n;
    fail_for_good = for_good;
    pthread_mutex_unlock(&fail_lock);
}

uint64_t b2i_thread_count(void)
{
    pthread_mutex_lock(&fail_lock);
    uint64_t n = ntried;
    pthread_mutex_unlock(&fail_lock);
    return n;
}

static bool fails_now(void)
{
    pthread_mutex_lock(&fail_lock);
    ntried++;
    bool fails = fail_at != 0 && (ntried == fail_at || (fail_for_good && ntried > fail_at));
    pthread_mutex_unlock(&fail_lock);
    return fails || b2i_alloc_fails_now(); /* both have their tests */
}

#endif

static bool start_worker(b2c_pool *pool)
{
#ifdef B2I_FAIL_ALLOC
    if (fails_now()) {
        return false;
    }
#endif
    return pthread_create(&pool->threads[pool->nstarted], NULL, worker_main, pool) == 0;
}

/* A new worker looks for an open loop by itself: it counts as woken. */
static void start_workers(b2c_pool *pool, uint32_t n)
{
    if (pool->nstarted >= n) {
        return;
    }
    sigset_t blocked, before;
    worker_signals(&blocked);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    while (pool->nstarted < n && start_worker(pool)) {
        pool->nstarted++;
        pool->to_wake--;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static b2c_status run_serial(uint32_t nitems, b2i_job_fn *fn, void *arg, b2c_error *err)
{
    for (uint32_t item = 0; item < nitems; item++) {
        B2I_TRY(fn(arg, item, 0, err));
    }
    return B2C_OK;
}

b2c_status b2i_pool_run(b2c_pool *pool, uint32_t nworkers, uint32_t nitems, b2i_job_fn *fn,
                        void *arg, b2c_error *err)
{
    uint32_t n = nworkers < nitems ? nworkers : nitems;
    if (pool == NULL || pool->nmax == 0 || n <= 1) {
        return run_serial(nitems, fn, arg, err);
    }
    n = n - 1 < pool->nmax ? n - 1 : pool->nmax;

    pthread_mutex_lock(&pool->lock);
    if (pool->busy) {
        pthread_mutex_unlock(&pool->lock);
        return run_serial(nitems, fn, arg, err);
    }
    pool->busy = true;
    pool->fn = fn;
    pool->arg = arg;
    pool->nitems = nitems;
    pool->next = 0;
    pool->seats = n;
    pool->joined = 0;
    pool->to_wake = n;
    pool->status = B2C_OK;
    start_workers(pool, n);
    wake_two(pool);
    run_items(pool, 0);
    while (pool->running > 0) {
        pthread_cond_wait(&pool->done, &pool->lock);
    }
    b2c_status status = pool->status;
    if (status != B2C_OK && err != NULL) {
        *err = pool->error;
    }
    pool->busy = false;
    pthread_mutex_unlock(&pool->lock);
    return status;
}

/* ---- public ---- */

b2c_status b2i_check_nthreads(uint32_t nthreads, b2c_error *err)
{
    enum { MAX_THREADS = 256 };
    if (nthreads < 1 || nthreads > MAX_THREADS) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nthreads",
                              "the number of threads must be from 1 to 256");
    }
    return B2C_OK;
}

b2c_status b2c_pool_new(uint32_t nthreads, b2c_pool **out, b2c_error *err)
{
    if (out == NULL) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "pool", "must not be NULL");
    }
    B2I_TRY(b2i_check_nthreads(nthreads, err));
    pthread_once(&fork_once, watch_forks);
    b2c_pool *pool = b2i_calloc(sizeof *pool + (nthreads - 1) * sizeof pool->threads[0]);
    if (pool == NULL) {
        return b2i_fail_memory(err);
    }
    if (!init_sync(pool)) {
        b2i_free(pool);
        return b2i_fail_memory(err);
    }
    pool->nmax = nthreads - 1;
    live_add(pool);
    *out = pool;
    return B2C_OK;
}

void b2c_pool_free(b2c_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    live_remove(pool);
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->nstarted; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    b2i_free(pool);
}
