/*
 * test_dict_memory.c: memory that Zstandard does not get while it trains a dictionary: compression
 * fails, or makes the same bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "blosc2c.h"
#include "kinds.h"

#include <common/noted_alloc.h>
#include <stdbool.h>

/* In the place of those of third_party, which are not linked. */
static uint64_t ncalls, failing;
static int lacked;

static int fails(void)
{
    int is = ++ncalls == failing;
    lacked |= is;
    return is;
}

void *b2i_zstd_malloc(size_t n)
{
    return fails() ? NULL : malloc(n);
}

void *b2i_zstd_calloc(size_t n, size_t size)
{
    return fails() ? NULL : calloc(n, size);
}

int b2i_zstd_lacked_memory(void)
{
    int was = lacked;
    lacked = 0;
    return was;
}

static void test_training(void)
{
    enum { N = 400000, CAP = N + 32 };
    static uint8_t src[N], expected[CAP], dst[CAP];
    size_t n = 0, len = 0;
    b2c_error err;
    b2c_cparams p;
    generate(src, N, RECORDS, 1);
    b2c_cparams_init(&p);
    p.codec = B2C_CODEC_ZSTD;
    p.clevel = 5;
    p.use_dict = 1;
    p.typesize = 4;
    p.blocksize = 32768;
    uint64_t nfailed = 0;
    bool fired = true;
    for (uint64_t k = 0; fired; k++) {
        b2c_ctx *ctx = NULL;
        CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
        ncalls = 0;
        failing = k;
        b2c_status st = b2c_compress(ctx, &p, src, N, k == 0 ? expected : dst, CAP, &len, &err);
        fired = ncalls >= k;
        CHECK(st == B2C_OK || (k > 0 && st == B2C_E_MEMORY));
        n = k == 0 ? len : n;
        CHECK(st != B2C_OK || k == 0 || (len == n && memcmp(dst, expected, n) == 0));
        nfailed += st != B2C_OK;
        b2c_ctx_free(ctx);
    }
    CHECK(nfailed > 5);
}

int main(void)
{
    test_training();
    return RESULT();
}
