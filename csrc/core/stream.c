/*
 * stream.c: copying and writing large results.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifdef __linux__
#define _DEFAULT_SOURCE /* mincore() */
#endif
#include "stream.h"

#include <string.h>

#if defined(__SSE2__) && defined(__linux__)
#include <emmintrin.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, NPROBES = 8 };

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
    size_t head = (LINE - (uintptr_t)dst % LINE) % LINE;
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

void b2i_copy(uint8_t *dst, const uint8_t *src, size_t n)
{
    enum { PIECE = 256 * 1024 };
    for (; n > PIECE; n -= PIECE) {
        memcpy(dst, src, PIECE);
        dst += PIECE;
        src += PIECE;
    }
    memcpy(dst, src, n);
}
