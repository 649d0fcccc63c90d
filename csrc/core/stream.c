/*
 * stream.c: copying and writing large results.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifdef __linux__
#define _DEFAULT_SOURCE /* mincore() */
#endif
#include "stream.h"

#include "cpu.h"

#include <pthread.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { LINE = 64 };

/* So many bytes from a position on are before the next line. */
static size_t before_line(const uint8_t *p)
{
    return (LINE - (uintptr_t)p % LINE) % LINE;
}

/* The line so far behind p, which will be read or written soon; harmless past the end. */
static void prefetch_line(const uint8_t *p, size_t distance)
{
    _mm_prefetch((const char *)((uintptr_t)p + distance), _MM_HINT_T0);
}

static inline void copy_lines(uint8_t *dst, const uint8_t *src, size_t n, bool prefetching)
{
    enum { AHEAD = 2048 };
    size_t done = before_line(dst);
    done = done < n ? done : n;
    memcpy(dst, src, done);
    for (; n - done >= LINE; done += LINE) {
        const __m128i *from = (const __m128i *)(src + done);
        __m128i *to = (__m128i *)(dst + done);
        if (prefetching) {
            prefetch_line(src, done + AHEAD);
            prefetch_line(dst, done + AHEAD); /* or each new page waits for its first lines */
        }
        __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
        __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
        _mm_store_si128(to, a);
        _mm_store_si128(to + 1, b);
        _mm_store_si128(to + 2, c);
        _mm_store_si128(to + 3, d);
    }
    memcpy(dst + done, src + done, n - done);
}

void b2i_copy_by_lines(uint8_t *dst, const uint8_t *src, size_t n)
{
    copy_lines(dst, src, n, false);
}

void b2i_copy_prefetching(uint8_t *dst, const uint8_t *src, size_t n)
{
    copy_lines(dst, src, n, true);
}

/* One instruction.  MemorySanitizer does not see what it writes. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define UNSEEN_WRITES_HURT
#endif
#endif

void b2i_copy_by_string(uint8_t *dst, const uint8_t *src, size_t n)
{
#ifdef UNSEEN_WRITES_HURT
    memcpy(dst, src, n);
#else
    enum { PIECE = 64 * 1024, PAGE = 4096 };
    while (n > 0) {
        size_t len = n < PIECE ? n : PIECE;
        for (size_t at = 0; at < len; at += PAGE) { /* new pages would interrupt the instruction */
            ((volatile uint8_t *)dst)[at] = 0;
        }
        ((volatile uint8_t *)dst)[len - 1] = 0;
        n -= len;
        __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(len) : : "memory");
    }
#endif
}

static void (*copy_large)(uint8_t *dst, const uint8_t *src, size_t n) = b2i_copy_by_lines;

static void choose_copy(void)
{
    const unsigned features = b2i_cpu_features();
    if ((features & B2I_CPU_FAST_STRINGS) != 0) {
        copy_large = b2i_copy_by_string;
    } else if ((features & B2I_CPU_SLOW_PAGES) != 0) {
        copy_large = b2i_copy_prefetching;
    }
}

void b2i_copy(uint8_t *dst, const uint8_t *src, size_t n)
{
    enum { LARGE_COPY = 64 * 1024 };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (n < LARGE_COPY) {
        memcpy(dst, src, n);
        return;
    }
    (void)pthread_once(&once, choose_copy);
    copy_large(dst, src, n);
}

#else

void b2i_copy(uint8_t *dst, const uint8_t *src, size_t n)
{
    memcpy(dst, src, n);
}

void b2i_copy_by_lines(uint8_t *dst, const uint8_t *src, size_t n)
{
    memcpy(dst, src, n);
}

void b2i_copy_prefetching(uint8_t *dst, const uint8_t *src, size_t n)
{
    memcpy(dst, src, n);
}

void b2i_copy_by_string(uint8_t *dst, const uint8_t *src, size_t n)
{
    memcpy(dst, src, n);
}

#endif

#if defined(__SSE2__) && defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

enum { NPROBES = 8 };

/* Below, caches keep enough of the result for the next reader to gain by it. */
#define LARGE ((uint64_t)32 << 20)

bool b2i_stream_pays(const uint8_t *dst, uint64_t n)
{
    if (n < LARGE) {
        return false;
    }
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0) {
        return false;
    }
    for (uint64_t i = 0; i < NPROBES; i++) {
        unsigned char resident = 0;
        uintptr_t at = (uintptr_t)dst + (uintptr_t)(n / NPROBES * i);
        if (mincore((void *)(at - at % (uintptr_t)page), 1, &resident) != 0 || !(resident & 1)) {
            return false;
        }
    }
    return true;
}

static void copy_line(uint8_t *dst, const uint8_t *src)
{
    const __m128i *from = (const __m128i *)src;
    __m128i *to = (__m128i *)dst;
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
}

void b2i_stream_copy(uint8_t *dst, const uint8_t *src, size_t n)
{
    size_t head = before_line(dst);
    if (n < head + LINE) {
        memcpy(dst, src, n);
        return;
    }
    memcpy(dst, src, head);
    for (; n - head >= LINE; head += LINE) {
        copy_line(dst + head, src + head);
    }
    memcpy(dst + head, src + head, n - head);
}

void b2i_stream_end(void)
{
    _mm_sfence();
}

#else

bool b2i_stream_pays(const uint8_t *dst, uint64_t n)
{
    (void)dst;
    (void)n;
    return false;
}

void b2i_stream_copy(uint8_t *dst, const uint8_t *src, size_t n)
{
    memcpy(dst, src, n);
}

void b2i_stream_end(void)
{
}

#endif
