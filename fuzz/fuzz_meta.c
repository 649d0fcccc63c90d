/*
 * fuzz_meta.c: any bytes as the metalayers of a frame without chunks, fixed and variable-length
 * ones: listed, read, changed, and the same again after the frame was written anew.
 * Input: u16 size of the first part (little endian), the part of the header from its metalayers on,
 * then the part of the trailer that comes before its length.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bytes.h"
#include "fuzz.h"

enum { FIXED_LEN = 87, TAIL_LEN = 23, MAX_INPUT = 1 << 15, MAX_VALUE = 1 << 16 };

/* An empty frame with these parts. */
static uint8_t *make_frame(b2i_span metas, b2i_span vlmetas, size_t *len)
{
    static const uint8_t head[FIXED_LEN] = {
        0x9e, 0xa8, 'b',  '2',  'f',  'r',  'a', 'm', 'e',  0, 0xd2, 0,    0,    0, 0, /* 0x0B */
        0xcf, 0,    0,    0,    0,    0,    0,   0,   0,                               /* 0x10 */
        0xa4, 0x12, 0,    5,    2,    0xd3, 0,   0,   0,    0, 0,    0,    0,    0,    /* 0x1E */
        0xd3, 0,    0,    0,    0,    0,    0,   0,   0,                               /* 0x27 */
        0xd2, 0,    0,    0,    1,    0xd2, 0,   0,   0,    0,                         /* sizes */
        0xd2, 0xff, 0xff, 0xff, 0xff, 0xd1, 0,   1,   0xd1, 0, 1,    0xc3, 0xd8, 6,
    };
    size_t trailer_len = vlmetas.n + TAIL_LEN;
    *len = sizeof head + metas.n + trailer_len;
    uint8_t *frame = fuzz_alloc(*len), *tail = frame + *len - TAIL_LEN;
    memcpy(frame, head, sizeof head);
    b2i_st32be(frame + 0x0B, (uint32_t)(sizeof head + metas.n));
    b2i_st64be(frame + 0x10, *len);
    memcpy(frame + sizeof head, metas.p, metas.n);
    memcpy(frame + sizeof head + metas.n, vlmetas.p, vlmetas.n);
    memset(tail, 0, TAIL_LEN);
    tail[0] = 0xce;
    b2i_st32be(tail + 1, (uint32_t)trailer_len);
    tail[5] = 0xd8;
    return frame;
}

typedef b2c_status get_fn(const b2c_schunk *s, const char *name, uint8_t *dst, size_t cap,
                          size_t *len, b2c_error *err);

static b2c_status get_meta(const b2c_schunk *s, const char *name, uint8_t *dst, size_t cap,
                           size_t *len, b2c_error *err)
{
    return b2c_schunk_meta_get(s, name, dst, cap, len, err);
}

static b2c_status get_vlmeta(const b2c_schunk *s, const char *name, uint8_t *dst, size_t cap,
                             size_t *len, b2c_error *err)
{
    return b2c_schunk_vlmeta_get(s, fuzz_ctx(), name, dst, cap, len, err);
}

/* A value of s is that of t, in which it is damaged in the same way. */
static void check_value(const b2c_schunk *s, const b2c_schunk *t, const char *name, get_fn *get)
{
    static uint8_t a[MAX_VALUE], b[MAX_VALUE];
    size_t n = 0, m = 0;
    b2c_error err;
    b2c_status status = get(s, name, a, sizeof a, &n, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE(get(t, name, b, sizeof b, &m, NULL) == status);
    if (status == B2C_OK) {
        FUZZ_REQUIRE(n == m && n <= sizeof a && memcmp(a, b, n) == 0);
        FUZZ_REQUIRE(n == 0 || get(s, name, b, n - 1, &m, NULL) == B2C_E_OUTPUT_SIZE);
        FUZZ_REQUIRE(n == 0 || m == n);
    }
}

static void check_all(const b2c_schunk *s, const b2c_schunk *t)
{
    b2c_schunk_info info, now;
    char name[32];
    b2c_schunk_info_get(s, &info);
    b2c_schunk_info_get(t, &now);
    FUZZ_REQUIRE(info.nmeta == now.nmeta && info.nvlmeta == now.nvlmeta);
    for (uint32_t i = 0; i < info.nmeta; i++) {
        FUZZ_REQUIRE(b2c_schunk_meta_name(s, i, name, NULL) == B2C_OK);
        FUZZ_REQUIRE(memchr(name, 0, sizeof name) != NULL);
        check_value(s, t, name, get_meta);
    }
    for (uint32_t i = 0; i < info.nvlmeta; i++) {
        FUZZ_REQUIRE(b2c_schunk_vlmeta_name(s, i, name, NULL) == B2C_OK);
        FUZZ_REQUIRE(memchr(name, 0, sizeof name) != NULL);
        check_value(s, t, name, get_vlmeta);
    }
    FUZZ_REQUIRE(b2c_schunk_meta_name(s, info.nmeta, name, NULL) != B2C_OK);
    FUZZ_REQUIRE(b2c_schunk_vlmeta_name(s, info.nvlmeta, name, NULL) != B2C_OK);
}

static b2c_schunk *open_frame(const uint8_t *frame, size_t len, int copy)
{
    b2c_limits limits = fuzz_limits();
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_status status = b2c_schunk_open_mem(frame, len, copy, &limits, &s, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE((status == B2C_OK) == (s != NULL));
    return s;
}

/* As a frame again, opened. */
static b2c_schunk *rewrite(const b2c_schunk *s)
{
    size_t len = 0;
    b2c_error err;
    FUZZ_REQUIRE(b2c_schunk_to_frame(s, NULL, 0, &len, &err) == B2C_E_OUTPUT_SIZE);
    uint8_t *frame = fuzz_alloc(len);
    b2c_status status = b2c_schunk_to_frame(s, frame, len, &len, &err);
    FUZZ_REQUIRE(status == B2C_OK);
    b2c_schunk *t = status == B2C_OK ? open_frame(frame, len, 1) : NULL;
    free(frame);
    return t;
}

/* Changes of names that may or may not be there. */
static void change(b2c_schunk *s)
{
    char name[32] = "x";
    uint8_t value[9] = "new value";
    size_t n = 0;
    b2c_error err;
    (void)b2c_schunk_vlmeta_name(s, 0, name, NULL);
    fuzz_check_error(b2c_schunk_vlmeta_set(s, fuzz_ctx(), name, value, sizeof value, &err), &err);
    if (get_vlmeta(s, name, value, sizeof value, &n, NULL) == B2C_OK) {
        FUZZ_REQUIRE(n == sizeof value && memcmp(value, "new value", n) == 0);
        fuzz_check_error(b2c_schunk_vlmeta_delete(s, name, &err), &err);
        FUZZ_REQUIRE(get_vlmeta(s, name, value, sizeof value, &n, NULL) == B2C_E_NOT_FOUND);
    }
    if (b2c_schunk_meta_name(s, 0, name, NULL) == B2C_OK) {
        fuzz_check_error(b2c_schunk_meta_update(s, name, value, sizeof value, &err), &err);
    }
    fuzz_check_error(b2c_schunk_append(s, fuzz_ctx(), value, sizeof value, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2 || n > MAX_INPUT) {
        return 0;
    }
    size_t first = data[0] | (size_t)data[1] << 8, len;
    first = first < n - 2 ? first : n - 2;
    uint8_t *frame = make_frame(b2i_span_of(data + 2, first),
                                b2i_span_of(data + 2 + first, n - 2 - first), &len);
    b2c_schunk *s = open_frame(frame, len, 0);
    if (s != NULL) {
        b2c_schunk *t = rewrite(s);
        FUZZ_REQUIRE(t != NULL);
        if (t != NULL) {
            check_all(s, t);
            change(t);
            b2c_schunk *u = rewrite(t);
            FUZZ_REQUIRE(u != NULL);
            if (u != NULL) {
                check_all(t, u);
            }
            b2c_schunk_free(u);
        }
        b2c_schunk_free(t);
    }
    b2c_schunk_free(s);
    free(frame);
    return 0;
}
