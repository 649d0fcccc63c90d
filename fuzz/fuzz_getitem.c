/*
 * fuzz_getitem.c: items of a chunk, alone and as part of a super-chunk, are those of the whole.
 * Input: u8 number of ranges (low 3 bits) and bit 7 (ranges as they are, not made to fit), for each
 * range u32 first item and u32 number of items (little endian), then the chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

enum { RANGE_LEN = 8, MAX_ITEMS_LEN = 1 << 16 };

typedef struct subject {
    const uint8_t *chunk;
    size_t chunk_len;
    b2c_chunk_info info;
    const uint8_t *whole; /* NULL when it does not decode */
    const b2c_schunk *s;  /* holds the chunk twice; NULL when it cannot */
} subject;

static void check_range(const subject *x, uint64_t first, uint64_t nitems)
{
    uint64_t total = x->info.nbytes / x->info.typesize, size = nitems * x->info.typesize;
    size_t len = 0, cap = size < MAX_ITEMS_LEN ? (size_t)size : MAX_ITEMS_LEN;
    uint8_t *out = fuzz_alloc(cap);
    b2c_error err;
    memset(out, 0xA5, cap == 0 ? 1 : cap);
    b2c_status status =
        b2c_getitem(fuzz_ctx(), x->chunk, x->chunk_len, first, nitems, out, cap, &len, &err);
    fuzz_check_error(status, &err);
    if (first > total || nitems > total - first) {
        FUZZ_REQUIRE(status != B2C_OK);
    } else if (x->whole != NULL) {
        FUZZ_REQUIRE(status == (size <= cap ? B2C_OK : B2C_E_OUTPUT_SIZE));
    }
    if (status == B2C_OK) {
        FUZZ_REQUIRE(len == size);
        FUZZ_REQUIRE(x->whole == NULL ||
                     memcmp(out, x->whole + first * x->info.typesize, len) == 0);
    }
    free(out);
}

/* Bytes that may lie in both of the super-chunk's chunks; the second read finds kept blocks. */
static void check_slice(const subject *x, uint64_t first, uint64_t nitems)
{
    static uint8_t out[MAX_ITEMS_LEN];
    uint64_t n = x->info.nbytes, at = first, size = nitems;
    b2c_error err;
    for (int round = 0; round < 2; round++) {
        b2c_status status = b2c_schunk_read(x->s, fuzz_ctx(), at, size, out, sizeof out, &err);
        fuzz_check_error(status, &err);
        if (at > 2 * n || size > 2 * n - at) {
            FUZZ_REQUIRE(status != B2C_OK);
            return;
        }
        if (status != B2C_OK) {
            FUZZ_REQUIRE(x->whole == NULL || size > sizeof out);
            return;
        }
        for (uint64_t i = 0; x->whole != NULL && i < size; i++) {
            FUZZ_REQUIRE(out[i] == x->whole[(at + i) % n]);
        }
    }
}

/* The whole, or NULL. */
static uint8_t *decode(const uint8_t *chunk, size_t n, const b2c_chunk_info *info)
{
    size_t len = 0;
    b2c_error err;
    uint8_t *whole = fuzz_alloc((size_t)info->nbytes);
    b2c_status status =
        b2c_decompress(fuzz_ctx(), chunk, n, whole, (size_t)info->nbytes, &len, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK) {
        free(whole);
        return NULL;
    }
    return whole;
}

static b2c_schunk *make_schunk(const uint8_t *chunk, size_t n, const b2c_chunk_info *info)
{
    b2c_schunk_params params;
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_schunk_params_init(&params);
    params.cparams.typesize = info->typesize;
    FUZZ_REQUIRE(b2c_schunk_new(&params, &s, &err) == B2C_OK);
    for (int i = 0; s != NULL && i < 2; i++) {
        b2c_status status = b2c_schunk_append_chunk(s, chunk, n, &err);
        fuzz_check_error(status, &err);
        if (status != B2C_OK) {
            b2c_schunk_free(s);
            return NULL;
        }
    }
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t nranges = n == 0 ? 0 : data[0] & 7u;
    if (n < 1 + nranges * RANGE_LEN) {
        return 0;
    }
    subject x = { data + 1 + nranges * RANGE_LEN, n - 1 - nranges * RANGE_LEN, { 0 }, NULL, NULL };
    b2c_error err;
    b2c_status status = b2c_chunk_inspect(x.chunk, x.chunk_len, &x.info, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK || x.info.nbytes > FUZZ_MAX_NBYTES) {
        return 0;
    }
    uint8_t *whole = decode(x.chunk, x.chunk_len, &x.info);
    b2c_schunk *s = make_schunk(x.chunk, x.chunk_len, &x.info);
    x.whole = whole;
    x.s = s;
    uint64_t total = x.info.nbytes / x.info.typesize;
    for (size_t i = 0; i < nranges; i++) {
        uint64_t first = fuzz_u32(data + 1 + i * RANGE_LEN);
        uint64_t nitems = fuzz_u32(data + 5 + i * RANGE_LEN);
        if ((data[0] & 0x80) == 0) {
            first %= total + 1;
            nitems %= total - first + 1;
        }
        if (!x.info.has_vlblocks) {
            check_range(&x, first, nitems);
        }
        if (s != NULL) {
            check_slice(&x, first, nitems);
        }
    }
    b2c_schunk_free(s);
    free(whole);
    return 0;
}
