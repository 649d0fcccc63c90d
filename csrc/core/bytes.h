/*
 * bytes.h: spans, the reading cursor, and loads and stores of fixed-width
 * integers.  b2i_rd_take() is the only bounds comparison of the parsers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_BYTES_H
#define B2I_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct b2i_span {
    const uint8_t *p;
    size_t n;
} b2i_span;

static inline b2i_span b2i_span_of(const void *p, size_t n)
{
    b2i_span s = { (const uint8_t *)p, n };
    return s;
}

/* ---- loads and stores, any alignment, any host byte order ---- */

static inline uint16_t b2i_ld16le(const uint8_t *p)
{
    return (uint16_t)(p[0] | (uint16_t)(p[1] << 8));
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Not byte by byte: compilers do not always see that those are one load or store. */
static inline uint32_t b2i_ld32le(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t b2i_ld64le(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void b2i_st32le(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void b2i_st64le(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}
#else
static inline uint32_t b2i_ld32le(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t b2i_ld64le(const uint8_t *p)
{
    return (uint64_t)b2i_ld32le(p) | (uint64_t)b2i_ld32le(p + 4) << 32;
}

static inline void b2i_st32le(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static inline void b2i_st64le(uint8_t *p, uint64_t v)
{
    b2i_st32le(p, (uint32_t)v);
    b2i_st32le(p + 4, (uint32_t)(v >> 32));
}
#endif

static inline uint16_t b2i_ld16be(const uint8_t *p)
{
    return (uint16_t)((uint16_t)(p[0] << 8) | p[1]);
}

static inline uint32_t b2i_ld32be(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline uint64_t b2i_ld64be(const uint8_t *p)
{
    return (uint64_t)b2i_ld32be(p) << 32 | (uint64_t)b2i_ld32be(p + 4);
}

static inline void b2i_st16be(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void b2i_st32be(uint8_t *p, uint32_t v)
{
    b2i_st16be(p, (uint16_t)(v >> 16));
    b2i_st16be(p + 2, (uint16_t)v);
}

static inline void b2i_st64be(uint8_t *p, uint64_t v)
{
    b2i_st32be(p, (uint32_t)(v >> 32));
    b2i_st32be(p + 4, (uint32_t)v);
}

/* ---- the cursor ---- */

/*
 * A reader that cannot leave its bytes.  After the first overrun 'failed' stays
 * set and every read gives zero or an empty span, so that fixed layouts are
 * read in a straight line and tested once, before a value is used.
 */
typedef struct b2i_reader {
    b2i_span in;
    size_t at;
    bool failed;
} b2i_reader;

static inline b2i_reader b2i_rd_init(b2i_span in, size_t at)
{
    b2i_reader r = { in, at, at > in.n };
    return r;
}

static inline size_t b2i_rd_left(const b2i_reader *r)
{
    return r->failed ? 0 : r->in.n - r->at;
}

/* The next n bytes, or NULL (and failed) when there are fewer. */
static inline const uint8_t *b2i_rd_take(b2i_reader *r, size_t n)
{
    if (r->failed || r->in.n - r->at < n) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *p = r->in.p + r->at;
    r->at += n;
    return p;
}

static inline b2i_span b2i_rd_span(b2i_reader *r, size_t n)
{
    const uint8_t *p = b2i_rd_take(r, n);
    return b2i_span_of(p, p == NULL ? 0 : n);
}

/* Copies n bytes, or writes zeros after an overrun. */
static inline void b2i_rd_copy(b2i_reader *r, uint8_t *out, size_t n)
{
    const uint8_t *p = b2i_rd_take(r, n);
    if (p != NULL) {
        memcpy(out, p, n);
    } else {
        memset(out, 0, n);
    }
}

static inline uint8_t b2i_rd_u8(b2i_reader *r)
{
    const uint8_t *p = b2i_rd_take(r, 1);
    return p == NULL ? 0 : *p;
}

static inline uint32_t b2i_rd_u32le(b2i_reader *r)
{
    const uint8_t *p = b2i_rd_take(r, 4);
    return p == NULL ? 0 : b2i_ld32le(p);
}

static inline uint64_t b2i_rd_u64le(b2i_reader *r)
{
    const uint8_t *p = b2i_rd_take(r, 8);
    return p == NULL ? 0 : b2i_ld64le(p);
}

static inline uint16_t b2i_rd_u16be(b2i_reader *r)
{
    const uint8_t *p = b2i_rd_take(r, 2);
    return p == NULL ? 0 : b2i_ld16be(p);
}

static inline uint32_t b2i_rd_u32be(b2i_reader *r)
{
    const uint8_t *p = b2i_rd_take(r, 4);
    return p == NULL ? 0 : b2i_ld32be(p);
}

static inline uint64_t b2i_rd_u64be(b2i_reader *r)
{
    const uint8_t *p = b2i_rd_take(r, 8);
    return p == NULL ? 0 : b2i_ld64be(p);
}

/* A span of the part [at, at + n) of s, empty when it is not wholly inside. */
static inline b2i_span b2i_span_sub(b2i_span s, size_t at, size_t n)
{
    b2i_reader r = b2i_rd_init(s, at);
    return b2i_rd_span(&r, n);
}

#endif
