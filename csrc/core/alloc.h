/*
 * alloc.h: all memory of the library comes from here, so that a test build can
 * make the n-th allocation fail (B2I_FAIL_ALLOC).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_ALLOC_H
#define B2I_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc, realloc, free; n = 0 gives a unique pointer. */
void *b2i_malloc(size_t n);
void *b2i_calloc(size_t n);
void *b2i_realloc(void *p, size_t n);
void b2i_free(void *p);

/* 64-byte aligned; freed with b2i_aligned_free(). */
void *b2i_aligned_alloc(size_t n);
void b2i_aligned_free(void *p);

/* A growing byte buffer; all zero is the empty one. */
typedef struct b2i_buf {
    uint8_t *p;
    size_t n;
    size_t cap;
} b2i_buf;

/* Room for at least 'more' bytes after n (capacity grows geometrically).  False: no memory. */
bool b2i_buf_reserve(b2i_buf *b, size_t more);
bool b2i_buf_append(b2i_buf *b, const void *p, size_t n);
void b2i_buf_free(b2i_buf *b);

/* Scratch memory whose contents are lost when it grows; all zero is the empty one. */
typedef struct b2i_scratch {
    uint8_t *p;
    size_t cap;
} b2i_scratch;

/* At least n bytes, 64-byte aligned from 4 KiB on, or NULL when there is no memory. */
uint8_t *b2i_scratch_get(b2i_scratch *s, size_t n);
void b2i_scratch_free(b2i_scratch *s);

#ifdef B2I_FAIL_ALLOC
/* Tests: allocation number n from now on (1 = the next) fails, once or for good; 0 = never. */
void b2i_alloc_fail_at(uint64_t n, bool for_good);
uint64_t b2i_alloc_count(void);
/* Bytes asked for since then, whether or not they were freed. */
uint64_t b2i_alloc_nbytes(void);
/* Asked by the pool before it starts a thread, so that thread creation can fail as well. */
bool b2i_alloc_fails_now(void);
#endif

#endif
