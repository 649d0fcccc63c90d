/*
 * fuzz_nd.c: any bytes as the b2nd metalayer; what is accepted can be written and read again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

static void check_derived(const b2c_nd *nd)
{
    b2c_nd copy = *nd;
    b2c_error err;
    copy.itemsize = 1;
    b2c_status status = b2c_nd_check(&copy, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        FUZZ_REQUIRE(b2c_nd_blocksize(&copy) <= B2C_MAX_BLOCKSIZE);
        FUZZ_REQUIRE(b2c_nd_chunksize(&copy) <= B2C_MAX_CHUNK_NBYTES);
        FUZZ_REQUIRE(b2c_nd_chunksize(&copy) >= b2c_nd_blocksize(&copy));
        (void)b2c_nd_nchunks(&copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    b2c_nd nd, again;
    size_t at = 0, len = 0, meta_len = 0;
    b2c_error err;
    memset(&nd, 0, sizeof nd);
    memset(&again, 0, sizeof again);
    nd.size = again.size = sizeof nd;
    b2c_status status = b2c_nd_meta_decode(data, n, &nd, &at, &len, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK) {
        return 0;
    }
    FUZZ_REQUIRE(nd.ndim <= B2C_MAX_DIM && at <= n && len <= n - at);
    check_derived(&nd);

    size_t cap = n + 512;
    uint8_t *meta = fuzz_alloc(cap);
    status = b2c_nd_meta_encode(&nd, (const char *)data + at, len, meta, cap, &meta_len, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        size_t at2 = 0, len2 = 0;
        status = b2c_nd_meta_decode(meta, meta_len, &again, &at2, &len2, &err);
        FUZZ_REQUIRE(status == B2C_OK && again.ndim == nd.ndim && len2 == len);
        FUZZ_REQUIRE(memcmp(nd.shape, again.shape, sizeof nd.shape) == 0);
        FUZZ_REQUIRE(memcmp(nd.chunks, again.chunks, sizeof nd.chunks) == 0);
        FUZZ_REQUIRE(memcmp(nd.blocks, again.blocks, sizeof nd.blocks) == 0);
        FUZZ_REQUIRE(memcmp(data + at, meta + at2, len) == 0);
    }
    free(meta);
    return 0;
}
