/*
 * fuzz_chunk.c: any bytes as a chunk: header, whole decoding, and parts that must agree with it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

/* Items [first, first + nitems) decoded alone are those of the whole. */
static void check_part(const uint8_t *data, size_t n, const b2c_chunk_info *info,
                       const uint8_t *whole, uint64_t first, uint64_t nitems)
{
    size_t len = 0, size = (size_t)nitems * info->typesize;
    uint8_t *part = fuzz_alloc(size);
    b2c_error err;
    b2c_status status = b2c_getitem(fuzz_ctx(), data, n, first, nitems, part, size, &len, &err);
    fuzz_check_error(status, &err);
    if (whole != NULL) {
        FUZZ_REQUIRE(status == B2C_OK && len == size);
        FUZZ_REQUIRE(status != B2C_OK || /* then nothing is there that could be compared */
                     memcmp(part, whole + first * info->typesize, size) == 0);
    }
    free(part);
}

static void check_parts(const uint8_t *data, size_t n, const b2c_chunk_info *info,
                        const uint8_t *whole)
{
    uint64_t nitems = info->nbytes / info->typesize;
    if (info->has_vlblocks || nitems == 0) {
        return;
    }
    check_part(data, n, info, whole, 0, 1);
    check_part(data, n, info, whole, nitems - 1, 1);
    check_part(data, n, info, whole, nitems / 3, nitems / 2);
    size_t len;
    uint8_t byte;
    FUZZ_REQUIRE(b2c_getitem(fuzz_ctx(), data, n, nitems, 1, &byte, 1, &len, NULL) != B2C_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    b2c_chunk_info info;
    b2c_error err;
    b2c_status status = b2c_chunk_inspect(data, n, &info, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK || info.nbytes > FUZZ_MAX_NBYTES) {
        return 0;
    }
    size_t len = 0;
    uint8_t *whole = fuzz_alloc((size_t)info.nbytes);
    status = b2c_decompress(fuzz_ctx(), data, n, whole, (size_t)info.nbytes, &len, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        FUZZ_REQUIRE(len == info.nbytes);
        FUZZ_REQUIRE(info.cbytes <= n);
    }
    if (info.nbytes > 0) {
        FUZZ_REQUIRE(b2c_decompress(fuzz_ctx(), data, n, whole, (size_t)info.nbytes - 1, &len,
                                    NULL) != B2C_OK);
        if (status == B2C_OK) { /* the failed call may have left anything there */
            status = b2c_decompress(fuzz_ctx(), data, n, whole, (size_t)info.nbytes, &len, &err);
            FUZZ_REQUIRE(status == B2C_OK);
        }
    }
    check_parts(data, n, &info, status == B2C_OK ? whole : NULL);
    free(whole);
    return 0;
}
