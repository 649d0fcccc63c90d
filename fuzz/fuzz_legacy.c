/*
 * fuzz_legacy.c: any bytes as a frame of 2019 to 2021: what can be read of it is the same
 * after it was written as a frame of today.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

enum { MAX_CHUNKS_READ = 64 };

/* Decoded bytes of chunk i, NULL when it cannot be decoded; the caller's to free. */
static uint8_t *decode(const b2c_schunk *s, uint64_t i, size_t *len)
{
    b2c_chunk_info info;
    b2c_error err;
    b2c_status status = b2c_schunk_chunk_info(s, i, &info, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK || info.nbytes > FUZZ_MAX_NBYTES) {
        return NULL;
    }
    uint8_t *out = fuzz_alloc((size_t)info.nbytes);
    status = b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, (size_t)info.nbytes, len, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK) {
        free(out);
        return NULL;
    }
    return out;
}

static void compare_chunk(const b2c_schunk *s, const b2c_schunk *t, uint64_t i)
{
    size_t n = 0, m = 0;
    uint8_t *a = decode(s, i, &n), *b = decode(t, i, &m);
    FUZZ_REQUIRE(a == NULL || (b != NULL && n == m && memcmp(a, b, n) == 0));
    free(a);
    free(b);
}

static void compare_metas(const b2c_schunk *s, const b2c_schunk *t, const b2c_schunk_info *info)
{
    char name[32];
    size_t n = 0, m = 0;
    for (uint32_t i = 0; i < info->nmeta; i++) {
        FUZZ_REQUIRE(b2c_schunk_meta_name(s, i, name, NULL) == B2C_OK);
        (void)b2c_schunk_meta_get(s, name, NULL, 0, &n, NULL);
        (void)b2c_schunk_meta_get(t, name, NULL, 0, &m, NULL);
        FUZZ_REQUIRE(n == m);
    }
    for (uint32_t i = 0; i < info->nvlmeta; i++) {
        n = m = 0;
        FUZZ_REQUIRE(b2c_schunk_vlmeta_name(s, i, name, NULL) == B2C_OK);
        (void)b2c_schunk_vlmeta_get(s, fuzz_ctx(), name, NULL, 0, &n, NULL);
        (void)b2c_schunk_vlmeta_get(t, fuzz_ctx(), name, NULL, 0, &m, NULL);
        FUZZ_REQUIRE(n == m);
    }
}

static void compare(const b2c_schunk *s, const b2c_schunk *t)
{
    b2c_schunk_info info, now;
    b2c_schunk_info_get(s, &info);
    b2c_schunk_info_get(t, &now);
    FUZZ_REQUIRE(info.is_legacy && !info.is_writable && !now.is_legacy);
    FUZZ_REQUIRE(info.nchunks == now.nchunks && info.nbytes == now.nbytes);
    FUZZ_REQUIRE(info.nmeta == now.nmeta && info.nvlmeta == now.nvlmeta);
    compare_metas(s, t, &info);
    for (uint64_t i = 0; i < info.nchunks && i < MAX_CHUNKS_READ; i++) {
        compare_chunk(s, t, i);
    }
}

/* Writes s as a frame of today and compares; a frame with damaged chunks cannot be written. */
static void convert(const b2c_schunk *s)
{
    b2c_limits limits = fuzz_limits();
    b2c_error err;
    b2c_schunk *t = NULL;
    size_t len = 0;
    b2c_status status = b2c_schunk_to_frame(s, NULL, 0, &len, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_E_OUTPUT_SIZE || len > 16 * FUZZ_MAX_NBYTES) {
        return;
    }
    uint8_t *frame = fuzz_alloc(len);
    status = b2c_schunk_to_frame(s, frame, len, &len, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        FUZZ_REQUIRE(b2c_schunk_open_mem(frame, len, 0, &limits, &t, &err) == B2C_OK);
        if (t != NULL) {
            compare(s, t);
        }
        b2c_schunk_free(t);
    }
    free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    b2c_limits limits = fuzz_limits();
    b2c_schunk *s = NULL;
    b2c_error err;
    if (n == 0 || data[0] < 0x9b || data[0] > 0x9d) {
        return 0; /* the business of fuzz_frame */
    }
    b2c_status status = b2c_schunk_open_mem(data, n, 0, &limits, &s, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        convert(s);
        b2c_schunk_free(s);
    }
    return 0;
}
