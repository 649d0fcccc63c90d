/*
 * test_same_bytes.c: chunks are the same on every machine, whatever its words, their byte order and
 * its instructions.  For the libraries of third_party: other releases choose other matches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "kinds.h"

#include "blosc2c.h"

#include <stdbool.h>

enum { MAX = 400000, NCHUNKS = 160 };

/* Numbers of few bytes, letters as frequent as in texts, bytes that hardly shrink; or a kind. */
static void make(uint8_t *p, size_t n, uint64_t x)
{
    const unsigned kind = (unsigned)(x % (RECORDS + 5));
    uint64_t r = x;
    if (kind <= RECORDS) {
        generate(p, n, (int)kind, x);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t y = harness_random(&r) >> 24;
        switch (kind - RECORDS) {
        case 1:
            p[i] = (uint8_t)((i / 4 * 17 + y % 16) >> i % 4 * 8);
            break;
        case 2:
            p[i] = (uint8_t) "etaoin shrdlu cmfwyp"[y % 20 * (y >> 20) % 20];
            break;
        case 3:
            p[i] = (uint8_t)(y % (130 + x % 126));
            break;
        default:
            p[i] = y % 50 == 0 ? (uint8_t)(y >> 20) : 0;
            break;
        }
    }
}

/* FNV-1a of the chunks of a codec. */
static uint64_t hash_of_chunks(b2c_ctx *ctx, uint8_t codec, bool use_dict, uint8_t *src,
                               uint8_t *dst)
{
    static const uint8_t filters[] = { 0, 1, 2 };
    uint64_t hash = 14695981039346656037U, r = 12345;
    b2c_error err;
    for (int i = 0; i < NCHUNKS; i++) {
        const uint64_t x = harness_random(&r);
        const size_t n = 100 + (size_t)((x >> 16) % (i % 2 == 0 ? 8000 : MAX - 100));
        size_t len = 0;
        make(src, n, x >> 8);
        make(src + n / 3, n / 3, x >> 20);
        b2c_cparams c;
        b2c_cparams_init(&c);
        c.codec = codec;
        c.clevel = (uint8_t)(1 + i % 9);
        c.typesize = (uint32_t)1 << (x >> 40) % 5;
        c.blocksize = i % 4 == 1 ? 262144 : 0; /* Zstandard looks where to divide what is long */
        c.use_dict = use_dict;
        c.filters[4] = x >> 62 == 0 ? 3 : 0; /* delta */
        c.filters[5] = filters[(x >> 50) % 3];
        CHECK_EQ(b2c_compress(ctx, &c, src, n, dst, MAX + 32, &len, &err), B2C_OK);
        for (size_t k = 0; k < len; k++) {
            hash = (hash ^ dst[k]) * 1099511628211U;
        }
    }
    return hash;
}

int main(void)
{
    static const struct {
        uint8_t codec;
        bool use_dict;
        uint64_t hash;
    } expected[] = {
        { B2C_CODEC_BLOSCLZ, false, 0x938f409f2fa2f5fd },
        { B2C_CODEC_LZ4, false, 0xd28a618d21c72af5 },
        { B2C_CODEC_LZ4, true, 0x4c7ce5255c4497a4 },
        { B2C_CODEC_LZ4HC, false, 0xdeafd0db27f5b441 },
        { B2C_CODEC_LZ4HC, true, 0xa8133102e243378e },
        { B2C_CODEC_ZLIB, false, 0x8385a27e846fafe3 },
        { B2C_CODEC_ZSTD, false, 0x61fc6187f462f228 },
        { B2C_CODEC_ZSTD, true, 0x854911b7ab28070e },
    };
    static uint8_t src[MAX], dst[MAX + 32];
    b2c_ctx *ctx = NULL;
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const uint8_t codec = expected[i].codec;
        if (!b2c_codec_available(codec)) {
            continue; /* not in this build */
        }
        const uint64_t hash = hash_of_chunks(ctx, codec, expected[i].use_dict, src, dst);
        CHECK(hash == expected[i].hash);
        if (hash != expected[i].hash) {
            fprintf(stderr, "%s%s: 0x%llx\n", b2c_codec_name(codec),
                    expected[i].use_dict ? " with dictionaries" : "", (unsigned long long)hash);
        }
    }
    b2c_ctx_free(ctx);
    return RESULT();
}
