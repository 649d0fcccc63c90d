/*
 * test_legacy.c: frames of 2019 to 2021: the example of the format, both layouts, damage, and
 * allocations that fail.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "frame.h"
#include "harness.h"

static b2c_ctx *ctx;
static b2c_error err;

typedef struct bytes {
    uint8_t p[1024];
    size_t n;
} bytes;

static void put(bytes *b, const void *p, size_t n)
{
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put8(bytes *b, unsigned v)
{
    b->p[b->n++] = (uint8_t)v;
}

static void put32(bytes *b, unsigned marker, uint32_t v)
{
    put8(b, marker);
    b2i_st32be(b->p + b->n, v);
    b->n += 4;
}

static void put64(bytes *b, unsigned marker, uint64_t v)
{
    put8(b, marker);
    b2i_st64be(b->p + b->n, v);
    b->n += 8;
}

/* A chunk of version 4 that holds n bytes as they are. */
static void put_chunk(bytes *b, const void *data, size_t n)
{
    uint8_t head[32] = { 4, 1, 0x17, 1 };
    b2i_st32le(head + 4, (uint32_t)n);
    b2i_st32le(head + 8, (uint32_t)n);
    b2i_st32le(head + 12, (uint32_t)(n + sizeof head));
    put(b, head, sizeof head);
    put(b, data, n);
}

/*
 * Two chunks "0123456789" and "abcdef", the metalayer "m", the user's bytes "user".  first 9c: the
 * layout of 64 bytes, 9d: that of 82.
 */
static bytes frame_of(unsigned first, unsigned flags)
{
    static const uint8_t section[] = { 0x93, 0xcd, 0,    13, 0xde, 0,    1, 0xa1, 'm', 0xd2, 0,   0,
                                       0,    0,    0xdc, 0,  1,    0xc6, 0, 0,    0,   1,    0x05 };
    bytes b = { .n = 0 };
    size_t fixed = first == 0x9d ? 82 : 64;
    uint32_t header_len = (uint32_t)(fixed + sizeof section);
    put8(&b, first);
    put(&b,
        "\xa8"
        "b2frame",
        9);
    put32(&b, 0xd2, header_len);
    put64(&b, 0xcf, 0); /* set below */
    put8(&b, 0xa4);
    put8(&b, flags);
    put8(&b, first == 0x9d ? 0 : 6); /* what the time of layout 1 said about filters */
    put(&b, "\x50\0", 2);
    put64(&b, 0xd3, 16);
    put64(&b, 0xd3, 42 + 38);
    put32(&b, 0xd2, 1);
    put32(&b, 0xd2, 0);
    put(&b, "\xd1\0\1\xd1\0\1\xc3", 7);
    if (first == 0x9d) {
        put(&b, "\xd8\1\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
    }
    put(&b, section, sizeof section);
    b.p[header_len - 10] = (uint8_t)(header_len - 6); /* where the content is */
    put_chunk(&b, "0123456789", 10);
    put_chunk(&b, "abcdef", 6);
    uint8_t index[32] = { 0 }; /* of entries of 64 or 128 bits */
    bool is_wide = flags == 0x31;
    index[is_wide ? 16 : 8] = 42;
    put_chunk(&b, index, is_wide ? 32 : 16);
    put(&b, "\x0d\0", 2);
    put32(&b, 0xc6, 36);
    put_chunk(&b, "user", 4);
    put32(&b, 0xce, 66);
    put(&b, "\xd8\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
    b2i_st64be(b.p + 16, b.n);
    return b;
}

static b2c_status open_frame(const bytes *b, b2c_schunk **s)
{
    return b2c_schunk_open_mem(b->p, b->n, 0, NULL, s, &err);
}

static void check_contents(const b2c_schunk *s)
{
    uint8_t out[64];
    size_t n = 0;
    CHECK_EQ(b2c_schunk_read(s, ctx, 0, 16, out, sizeof out, &err), B2C_OK);
    CHECK(memcmp(out, "0123456789abcdef", 16) == 0);
    CHECK_EQ(b2c_schunk_meta_get(s, "m", out, sizeof out, &n, &err), B2C_OK);
    CHECK(n == 1 && out[0] == 5);
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "usermeta", out, sizeof out, &n, &err), B2C_OK);
    CHECK(n == 9 && memcmp(out, "\xc6\0\0\0\4user", 9) == 0);
}

static void test_layout(unsigned first, unsigned flags, unsigned version)
{
    bytes b = frame_of(first, flags);
    b2c_schunk *s = NULL, *t = NULL;
    b2c_schunk_info info;
    uint8_t again[1024];
    size_t n = 0;
    CHECK_EQ(open_frame(&b, &s), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK(info.is_legacy && !info.is_writable);
    CHECK_EQ(info.frame_version, version);
    CHECK_EQ(info.general_flags, flags);
    CHECK_EQ(info.nchunks, 2);
    CHECK_EQ(info.chunksize, 10); /* the last one may be shorter */
    CHECK_EQ(info.frame_len, b.n);
    CHECK_EQ(info.trailer_len, 66);
    check_contents(s);
    CHECK_EQ(b2c_schunk_append(s, ctx, "x", 1, &err), B2C_E_READ_ONLY);
    CHECK_EQ(b2c_schunk_to_frame(s, again, sizeof again, &n, &err), B2C_OK);
    b2c_schunk_free(s);
    CHECK_EQ(b2c_schunk_open_mem(again, n, 0, NULL, &t, &err), B2C_OK);
    b2c_schunk_info_get(t, &info);
    CHECK(!info.is_legacy);
    CHECK_EQ(info.chunksize, 10);
    check_contents(t);
    b2c_schunk_free(t);
}

/* Every shorter frame is refused. */
static void test_truncated(unsigned first, unsigned flags)
{
    bytes whole = frame_of(first, flags), b = whole;
    for (b.n = 0; b.n < whole.n; b.n++) {
        b2c_schunk *s = NULL;
        b2c_status st = open_frame(&b, &s);
        CHECK(st == (b.n < 10 ? B2C_E_FORMAT : B2C_E_TRUNCATED));
        b2c_schunk_free(s);
    }
}

static void test_damages(void)
{
    static const struct {
        size_t at;
        uint8_t value;
        b2c_status status;
        uint64_t offset;
    } damages[] = {
        { 0x0B, 0x80, B2C_E_CORRUPT, 0x0B },          { 0x10, 0x80, B2C_E_CORRUPT, 0x10 },
        { 0x19, 0x31, B2C_E_CORRUPT, B2C_NO_OFFSET }, /* 128 bits of which 64 are another entry */
        { 0x1E, 0x80, B2C_E_CORRUPT, 0x1E },          { 0x27, 0x80, B2C_E_CORRUPT, 0x27 },
        { 0x33, 0x00, B2C_E_CORRUPT, 0x30 },          { 0x35, 0x80, B2C_E_CORRUPT, 0x35 },
        { 0x39, 0xd2, B2C_E_CORRUPT, 0x39 },          { 0x40, 0xd7, B2C_E_CORRUPT, 0x40 },
        { 0x41, 0x07, B2C_E_CORRUPT, 0x41 },          { 0x56, 0x00, B2C_E_CORRUPT, 0x56 },
        { 0x30, 0x20, B2C_E_CORRUPT, 0x30 }, /* 2**29 + 1 */
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        bytes b = frame_of(0x9d, 0x21);
        b2c_schunk *s = NULL;
        b.p[damages[i].at] = damages[i].value;
        CHECK_EQ(open_frame(&b, &s), damages[i].status);
        CHECK_EQ(err.offset, damages[i].offset);
        CHECK(s == NULL);
    }
}

static void test_allocations(void)
{
    bytes b = frame_of(0x9c, 0x24);
    b2c_status st = B2C_E_MEMORY;
    int failures = 0;
    for (uint64_t n = 1; st != B2C_OK; n++, failures++) {
        b2c_schunk *s = NULL;
        b2i_alloc_fail_at(n, false);
        st = open_frame(&b, &s);
        b2i_alloc_fail_at(0, false);
        CHECK(st == B2C_E_MEMORY || st == B2C_OK);
        if (st == B2C_OK) {
            check_contents(s);
        }
        b2c_schunk_free(s);
    }
    CHECK(failures > 10);
}

int main(void)
{
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_layout(0x9c, 0x24, 0);
    test_layout(0x9d, 0x21, 1);
    test_layout(0x9d, 0x31, 1);
    test_layout(0x9d, 0x12, 2);
    test_truncated(0x9c, 0x24);
    test_truncated(0x9d, 0x21);
    test_damages();
    test_allocations();
    b2c_ctx_free(ctx);
    return RESULT();
}
