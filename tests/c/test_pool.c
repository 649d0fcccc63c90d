/*
 * test_pool.c: the parallel loop: coverage, worker numbers, failures, sharing, nesting, fork.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "alloc.h"
#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN
#endif
#endif

enum { MAX_ITEMS = 5000, MAX_WORKERS = 16 };

typedef struct counts {
    pthread_mutex_t lock;
    uint32_t seen[MAX_ITEMS];
    uint32_t inside[MAX_WORKERS]; /* items running with a worker number */
    uint32_t used[MAX_WORKERS];
    uint32_t last; /* highest item started */
    uint32_t nworkers;
    bool overlap;
    bool wrong_worker;
    uint32_t wait_us; /* an item takes this long */
} counts;

static void counts_init(counts *c, uint32_t nworkers, uint32_t wait_us)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->nworkers = nworkers;
    c->wait_us = wait_us;
}

static void wait_us(uint32_t us)
{
    struct timespec t = { 0, (long)us * 1000 };
    nanosleep(&t, NULL);
}

static b2c_status count_item(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    (void)err;
    counts *c = arg;
    pthread_mutex_lock(&c->lock);
    if (worker >= c->nworkers) {
        c->wrong_worker = true;
        worker = 0;
    }
    c->overlap = c->overlap || c->inside[worker] != 0;
    c->inside[worker]++;
    c->used[worker]++;
    c->seen[item]++;
    c->last = item > c->last ? item : c->last;
    pthread_mutex_unlock(&c->lock);
    if (c->wait_us != 0) {
        wait_us(c->wait_us);
    }
    pthread_mutex_lock(&c->lock);
    c->inside[worker]--;
    pthread_mutex_unlock(&c->lock);
    return B2C_OK;
}

/* Every item once, worker numbers in range and exclusive; returns how many workers took part. */
static uint32_t check_counts(const counts *c, uint32_t nitems)
{
    uint32_t wrong = 0, nused = 0;
    for (uint32_t i = 0; i < nitems; i++) {
        wrong += c->seen[i] != 1;
    }
    for (uint32_t i = 0; i < MAX_WORKERS; i++) {
        nused += c->used[i] != 0;
    }
    CHECK_EQ(wrong, 0);
    CHECK(!c->overlap);
    CHECK(!c->wrong_worker);
    return nused;
}

static void test_arguments(void)
{
    b2c_pool *pool = NULL;
    b2c_error err;
    CHECK_EQ(b2c_pool_new(0, &pool, &err), B2C_E_ARGUMENT);
    CHECK(strcmp(err.field, "nthreads") == 0);
    CHECK_EQ(b2c_pool_new(257, &pool, NULL), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_pool_new(4, NULL, &err), B2C_E_ARGUMENT);
    CHECK(pool == NULL);
    CHECK_EQ(b2c_pool_new(256, &pool, NULL), B2C_OK);
    b2c_pool_free(pool);
    b2c_pool_free(NULL);
}

static void test_coverage(void)
{
    static const uint32_t sizes[] = { 0, 1, 2, 3, 7, 64, 1000, MAX_ITEMS };
    static counts c;
    for (uint32_t nthreads = 0; nthreads <= 8; nthreads = nthreads == 0 ? 1 : nthreads * 2) {
        b2c_pool *pool = NULL;
        if (nthreads != 0) {
            CHECK_EQ(b2c_pool_new(nthreads, &pool, NULL), B2C_OK);
        }
        for (uint32_t nworkers = 0; nworkers <= MAX_WORKERS; nworkers += 3) {
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                counts_init(&c, nworkers == 0 ? 1 : nworkers, 0);
                CHECK_EQ(b2i_pool_run(pool, nworkers, sizes[s], count_item, &c, NULL), B2C_OK);
                uint32_t nused = check_counts(&c, sizes[s]);
                CHECK(nused <= (nthreads == 0 ? 1 : nthreads));
            }
        }
        b2c_pool_free(pool);
    }
}

/* With slow items all threads take part, and again after a pause. */
static void test_parallel(void)
{
    static counts c;
    b2c_pool *pool = NULL;
    CHECK_EQ(b2c_pool_new(6, &pool, NULL), B2C_OK);
    for (int round = 0; round < 3; round++) {
        counts_init(&c, 6, 2000);
        CHECK_EQ(b2i_pool_run(pool, 6, 120, count_item, &c, NULL), B2C_OK);
        CHECK_EQ(check_counts(&c, 120), 6);
        counts_init(&c, 3, 2000);
        CHECK_EQ(b2i_pool_run(pool, 3, 60, count_item, &c, NULL), B2C_OK);
        CHECK_EQ(check_counts(&c, 60), 3);
        wait_us(5000);
    }
    b2c_pool_free(pool);
}

/* ---- failures ---- */

typedef struct failing {
    counts c;
    uint32_t period; /* items 'first' + k * period fail */
    uint32_t first;
} failing;

static b2c_status fail_some(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    failing *f = arg;
    (void)count_item(&f->c, item, worker, err);
    if (item < f->first || (item - f->first) % f->period != 0) {
        return B2C_OK;
    }
    if (item == f->first) {
        wait_us(3000); /* later ones fail before */
    }
    return b2i_fail(err, item == f->first ? B2C_E_CORRUPT : B2C_E_IO, item, "it fails");
}

static void test_failures(void)
{
    static failing f;
    b2c_pool *pool = NULL;
    CHECK_EQ(b2c_pool_new(4, &pool, NULL), B2C_OK);
    for (uint32_t first = 0; first < 40; first++) {
        for (uint32_t nworkers = 1; nworkers <= 4; nworkers += 3) {
            counts_init(&f.c, nworkers, 0);
            f.first = first;
            f.period = 1 + first % 3;
            b2c_error err = { 0 };
            CHECK_EQ(b2i_pool_run(pool, nworkers, MAX_ITEMS, fail_some, &f, &err), B2C_E_CORRUPT);
            CHECK_EQ(err.status, B2C_E_CORRUPT);
            CHECK_EQ(err.offset, first);
            CHECK(f.c.last < MAX_ITEMS / 2); /* the rest was not begun */
        }
    }
    CHECK_EQ(b2i_pool_run(pool, 4, 100, fail_some, &f, NULL), B2C_E_CORRUPT);
    counts_init(&f.c, 4, 0);
    CHECK_EQ(b2i_pool_run(pool, 4, 100, count_item, &f.c, NULL), B2C_OK); /* no memory of it */
    check_counts(&f.c, 100);
    b2c_pool_free(pool);
}

/* ---- one pool, many callers ---- */

static b2c_pool *shared;

/* Returns NULL on failure: CHECK() is for the main thread only. */
static void *call_often(void *arg)
{
    counts *c = arg;
    for (int i = 0; i < 200; i++) {
        counts_init(c, 4, 0);
        b2c_status status = b2i_pool_run(shared, 4, 50, count_item, c, NULL);
        uint32_t nright = 0;
        for (uint32_t k = 0; k < 50; k++) {
            nright += c->seen[k] == 1;
        }
        if (status != B2C_OK || nright != 50 || c->overlap || c->wrong_worker) {
            return NULL;
        }
    }
    return c;
}

static void test_shared(void)
{
    static counts c[8];
    pthread_t threads[8];
    CHECK_EQ(b2c_pool_new(4, &shared, NULL), B2C_OK);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, call_often, &c[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CHECK(result == &c[i]);
    }
    b2c_pool_free(shared);
}

/* ---- nested ---- */

static b2c_status run_inner(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    (void)worker;
    counts *c = arg;
    counts_init(&c[item], 1, 0); /* an inner loop is serial: worker 0 only */
    return b2i_pool_run(shared, 4, 100, count_item, &c[item], err);
}

static void test_nested(void)
{
    static counts c[20];
    CHECK_EQ(b2c_pool_new(4, &shared, NULL), B2C_OK);
    CHECK_EQ(b2i_pool_run(shared, 4, 20, run_inner, c, NULL), B2C_OK);
    for (int i = 0; i < 20; i++) {
        check_counts(&c[i], 100);
    }
    b2c_pool_free(shared);
}

/* ---- fork ---- */

/* ThreadSanitizer cannot start threads in the child of a threaded process. */
#ifdef WITH_TSAN
enum { CHILD_WORKERS = 1 };
#else
enum { CHILD_WORKERS = 4 };
#endif

static int child(b2c_pool *pool)
{
    static counts c;
    for (int round = 0; round < 3; round++) {
        counts_init(&c, 4, 2000);
        if (b2i_pool_run(pool, CHILD_WORKERS, 80, count_item, &c, NULL) != B2C_OK) {
            return 1;
        }
        if (check_counts(&c, 80) != CHILD_WORKERS || harness_failures != 0) {
            return 2;
        }
    }
    b2c_pool_free(pool);
    return 0;
}

static void check_child(b2c_pool *pool)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(60); /* a deadlock is a failure */
        _exit(child(pool));
    }
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *keep_busy(void *arg)
{
    static counts c;
    counts_init(&c, 4, 1000);
    (void)arg;
    (void)b2i_pool_run(shared, 4, 300, count_item, &c, NULL);
    return NULL;
}

static void test_fork(void)
{
    static counts c;
    b2c_pool *other = NULL;
    CHECK_EQ(b2c_pool_new(4, &shared, NULL), B2C_OK);
    CHECK_EQ(b2c_pool_new(2, &other, NULL), B2C_OK);
    check_child(shared); /* before any worker exists */
    counts_init(&c, 4, 1000);
    CHECK_EQ(b2i_pool_run(shared, 4, 40, count_item, &c, NULL), B2C_OK);
    check_child(shared); /* with sleeping workers */
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, keep_busy, NULL), 0);
    for (int i = 0; i < 5; i++) {
        wait_us(3000);
        check_child(shared); /* while another thread uses the pool */
    }
    pthread_join(thread, NULL);
    counts_init(&c, 4, 1000);
    CHECK_EQ(b2i_pool_run(shared, 4, 80, count_item, &c, NULL), B2C_OK); /* the parent goes on */
    CHECK_EQ(check_counts(&c, 80), 4);
    b2c_pool_free(other);
    b2c_pool_free(shared);
}

/* ---- signals go to the program's threads ---- */

static b2c_status look_at_mask(void *arg, uint32_t item, uint32_t worker, b2c_error *err)
{
    int *blocked = arg;
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    blocked[item] = worker == 0 ? -1 : sigismember(&set, SIGINT) && !sigismember(&set, SIGSEGV);
    wait_us(1000);
    (void)err;
    return B2C_OK;
}

static void test_signals(void)
{
    int blocked[40];
    b2c_pool *pool = NULL;
    CHECK_EQ(b2c_pool_new(2, &pool, NULL), B2C_OK);
    CHECK_EQ(b2i_pool_run(pool, 2, 40, look_at_mask, blocked, NULL), B2C_OK);
    int nblocked = 0, nopen = 0;
    for (int i = 0; i < 40; i++) {
        nblocked += blocked[i] == 1;
        nopen += blocked[i] == 0;
    }
    CHECK(nblocked > 0);
    CHECK_EQ(nopen, 0);
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    CHECK(!sigismember(&set, SIGINT)); /* the caller's mask is as before */
    b2c_pool_free(pool);
}

#ifdef B2I_FAIL_ALLOC
static void test_no_threads(void)
{
    static counts c;
    for (uint64_t n = 1; n <= 4; n++) {
        b2c_pool *pool = NULL;
        CHECK_EQ(b2c_pool_new(4, &pool, NULL), B2C_OK);
        b2i_alloc_fail_at(n, true);
        counts_init(&c, 4, 1000);
        CHECK_EQ(b2i_pool_run(pool, 4, 60, count_item, &c, NULL), B2C_OK);
        b2i_alloc_fail_at(0, false);
        CHECK_EQ(check_counts(&c, 60), n); /* n - 1 threads and the caller */
        b2c_pool_free(pool);
    }
    b2c_pool *pool = NULL;
    b2i_alloc_fail_at(1, true);
    CHECK_EQ(b2c_pool_new(4, &pool, NULL), B2C_E_MEMORY);
    b2i_alloc_fail_at(0, false);
    CHECK(pool == NULL);
}
#endif

int main(void)
{
    test_arguments();
    test_coverage();
    test_parallel();
    test_failures();
    test_shared();
    test_nested();
    test_fork();
    test_signals();
#ifdef B2I_FAIL_ALLOC
    test_no_threads();
#endif
    return RESULT();
}
