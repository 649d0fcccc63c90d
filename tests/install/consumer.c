/*
 * consumer.c: a round trip through the installed header and library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <blosc2c.h>
#include <stdio.h>
#include <string.h>

static int round_trip(b2c_ctx *ctx, b2c_error *err)
{
    static int values[10000], back[10000];
    static unsigned char chunk[sizeof(values) + 32];
    b2c_cparams cparams;
    size_t len, back_len;

    for (int i = 0; i < 10000; i++) {
        values[i] = i;
    }
    b2c_cparams_init(&cparams);
    cparams.typesize = sizeof(int);
    cparams.codec = B2C_CODEC_BLOSCLZ;
    if (b2c_compress(ctx, &cparams, values, sizeof(values), chunk, sizeof(chunk), &len, err) !=
            B2C_OK ||
        b2c_decompress(ctx, chunk, len, back, sizeof(back), &back_len, err) != B2C_OK) {
        fprintf(stderr, "%s\n", err->what);
        return 1;
    }
    printf("blosc2c %s: %zu bytes became %zu\n", b2c_version(), sizeof(values), len);
    return back_len != sizeof(values) || memcmp(values, back, sizeof(values)) != 0;
}

int main(void)
{
    b2c_ctx *ctx;
    b2c_error err;

    if (b2c_ctx_new(NULL, 1, NULL, &ctx, &err) != B2C_OK) {
        return 1;
    }
    int failed = round_trip(ctx, &err);
    b2c_ctx_free(ctx);
    return failed;
}
