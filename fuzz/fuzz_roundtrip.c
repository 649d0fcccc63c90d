/*
 * fuzz_roundtrip.c: any data with any parameters compresses to a chunk that decodes to the data.
 * The first 24 bytes choose the parameters, the rest is the data.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

enum { NPARAMS = 24 };

static b2c_cparams params_of(const uint8_t *p)
{
    b2c_cparams c;
    b2c_cparams_init(&c);
    c.codec = p[0] % 8;
    c.clevel = p[1] % 11;
    c.typesize = p[2] < 250 ? p[2] % 33 : 200 + (uint32_t)p[3];
    c.blocksize = (uint32_t)p[4] | (uint32_t)p[5] << 8;
    c.splitmode = p[6] % 6;
    c.use_dict = p[7] % 4 == 3;
    for (int i = 0; i < 6; i++) {
        c.filters[i] = p[8 + i] % 9 < 5 ? p[8 + i] % 9 : 0;
        c.filters_meta[i] = p[14 + i];
    }
    return c;
}

/* Sometimes repeats the data, so that a small input makes several blocks; never to more than can be
 * decoded again. */
static uint8_t *expand(const uint8_t *src, size_t n, size_t times, size_t *len)
{
    times = n * times <= FUZZ_MAX_NBYTES ? times : FUZZ_MAX_NBYTES / n;
    *len = n * times;
    uint8_t *data = fuzz_alloc(*len);
    for (size_t i = 0; i < times; i++) {
        memcpy(data + i * n, src, n);
    }
    return data;
}

/* The chunk, to be freed, of *len bytes, or NULL where there is none. */
static uint8_t *check(const b2c_cparams *c, const uint8_t *data, size_t n, size_t cap, size_t *len)
{
    size_t out_len = 0;
    uint8_t *chunk = fuzz_alloc(cap);
    uint8_t *out = fuzz_alloc(n);
    b2c_error err;
    *len = 0;
    b2c_status status = b2c_compress(fuzz_ctx(), c, data, n, chunk, cap, len, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        FUZZ_REQUIRE(*len <= cap && *len >= B2C_HEADER_LEN);
        b2c_chunk_info info;
        FUZZ_REQUIRE(b2c_chunk_inspect(chunk, *len, &info, NULL) == B2C_OK);
        FUZZ_REQUIRE(info.nbytes == n && info.cbytes == *len);
        status = b2c_decompress(fuzz_ctx(), chunk, *len, out, n, &out_len, &err);
        FUZZ_REQUIRE(status == B2C_OK && out_len == n);
        FUZZ_REQUIRE(status != B2C_OK || fuzz_is_lossy(c) || memcmp(out, data, n) == 0);
        free(out);
        return chunk;
    }
    if (status == B2C_E_OUTPUT_SIZE) {
        FUZZ_REQUIRE(cap < b2c_compress_bound(n));
        FUZZ_REQUIRE(*len > cap && *len <= b2c_compress_bound(n));
    }
    free(chunk);
    free(out);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < NPARAMS || n > 1 << 16) {
        return 0;
    }
    b2c_cparams c = params_of(data);
    size_t len, whole_len;
    uint8_t *src = expand(data + NPARAMS, n - NPARAMS, data[20] % 8 == 7 ? data[21] : 1, &len);
    uint8_t *whole = check(&c, src, len, b2c_compress_bound(len), &whole_len);
    if (data[22] % 4 == 0) { /* less room than may be needed: the same chunk, or none */
        size_t got;
        uint8_t *chunk = check(&c, src, len, b2c_compress_bound(len) * data[23] / 256, &got);
        FUZZ_REQUIRE(chunk == NULL || (whole != NULL && got == whole_len));
        FUZZ_REQUIRE(chunk == NULL || memcmp(chunk, whole, got) == 0);
        free(chunk);
    }
    free(whole);
    free(src);
    return 0;
}
