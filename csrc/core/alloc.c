/*
 * alloc.c: allocation, growing buffers, aligned scratch memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifdef __linux__
#define _DEFAULT_SOURCE /* madvise() */
#endif
#include "alloc.h"
#include "blosc2c.h"
#include "checked.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

/* Small scratch memory is not aligned: where it is taken and given back around allocations that
 * stay, as when a chunk is appended in memory, glibc leaves gaps larger than these. */
enum { ALIGNMENT = 64, ALIGNED_SCRATCH = 4096 };

#ifdef B2I_FAIL_ALLOC
#include <pthread.h>

static pthread_mutex_t fail_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t count, fail_at, nbytes;
static bool fail_for_good;

void b2i_alloc_fail_at(uint64_t n, bool for_good)
{
    pthread_mutex_lock(&fail_lock);
    count = nbytes = 0;
    fail_at = n;
    fail_for_good = for_good;
    pthread_mutex_unlock(&fail_lock);
}

uint64_t b2i_alloc_count(void)
{
    pthread_mutex_lock(&fail_lock);
    uint64_t n = count;
    pthread_mutex_unlock(&fail_lock);
    return n;
}

uint64_t b2i_alloc_nbytes(void)
{
    pthread_mutex_lock(&fail_lock);
    uint64_t n = nbytes;
    pthread_mutex_unlock(&fail_lock);
    return n;
}

bool b2i_alloc_fails_now(void)
{
    pthread_mutex_lock(&fail_lock);
    count++;
    bool fails = fail_at != 0 && (count == fail_at || (fail_for_good && count > fail_at));
    pthread_mutex_unlock(&fail_lock);
    return fails;
}

static bool fails(size_t n)
{
    pthread_mutex_lock(&fail_lock);
    nbytes += n;
    pthread_mutex_unlock(&fail_lock);
    return b2i_alloc_fails_now();
}
#define FAILS(n) fails(n)
#else
#define FAILS(n) false
#endif

void *b2i_malloc(size_t n)
{
    return FAILS(n) ? NULL : malloc(n == 0 ? 1 : n);
}

void *b2i_calloc(size_t n)
{
    return FAILS(n) ? NULL : calloc(1, n == 0 ? 1 : n);
}

void *b2i_realloc(void *p, size_t n)
{
    return FAILS(n) ? NULL : realloc(p, n == 0 ? 1 : n);
}

void b2i_free(void *p)
{
    free(p);
}

void *b2i_aligned_alloc(size_t n)
{
    void *p = NULL;
    if (FAILS(n) || posix_memalign(&p, ALIGNMENT, n == 0 ? 1 : n) != 0) {
        return NULL;
    }
    return p;
}

void b2i_aligned_free(void *p)
{
    free(p);
}

bool b2i_buf_reserve(b2i_buf *b, size_t more)
{
    size_t need;
    if (!b2i_add_size(b->n, more, &need)) {
        return false;
    }
    if (need <= b->cap) {
        return true;
    }
    size_t cap = b->cap > SIZE_MAX / 3 * 2 ? need : b->cap + b->cap / 2;
    cap = cap < need ? need : cap;
    cap = cap < 64 ? 64 : cap;
    uint8_t *p = b2i_realloc(b->p, cap);
    if (p == NULL) {
        return false;
    }
    b->p = p;
    b->cap = cap;
    return true;
}

bool b2i_buf_append(b2i_buf *b, const void *p, size_t n)
{
    if (!b2i_buf_reserve(b, n)) {
        return false;
    }
    if (n != 0) {
        memcpy(b->p + b->n, p, n);
        b->n += n;
    }
    return true;
}

void b2i_buf_free(b2i_buf *b)
{
    b2i_free(b->p);
    *b = (b2i_buf){ 0 };
}

uint8_t *b2i_scratch_get(b2i_scratch *s, size_t n)
{
    if (n > s->cap || s->p == NULL) {
        uint8_t *p = n < ALIGNED_SCRATCH ? b2i_malloc(n) : b2i_aligned_alloc(n);
        if (p == NULL) {
            return NULL;
        }
        b2i_scratch_free(s);
        s->p = p;
        s->cap = n;
    }
    return s->p;
}

void b2i_scratch_free(b2i_scratch *s)
{
    free(s->p); /* whichever it came from */
    *s = (b2i_scratch){ 0 };
}

/* ---- huge pages ---- */

void b2c_advise_huge_pages(void *p, size_t n)
{
#ifdef MADV_HUGEPAGE
    /* Whole pages inside of the memory: what is around it belongs to others. */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)p + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)p + n) / page * page;
    if (to > from) {
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
#else
    (void)p;
    (void)n;
#endif
}
