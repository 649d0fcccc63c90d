/*
 * long_use.h: the hash tables of our own encoders after very many streams.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LONG_USE_H
#define LONG_USE_H

#include "harness.h"
#include "kinds.h"
#include "lz.h"

enum { LONG_USE_LEN = 5000 };

/*
 * Tables count positions over all streams.  The same bytes also where 2^32 is near and the count
 * begins anew: nothing that an older stream left may be taken for a place in this one.
 * 'encode' makes a stream of LONG_USE_LEN bytes, whose length it returns.
 */
static inline void check_long_use(size_t (*encode)(b2i_codec_state *s, const uint8_t *src,
                                                   uint8_t *dst))
{
    enum { N = LONG_USE_LEN, BEFORE = 2 * (B2I_LZ_WINDOW + N) / N * N };
    /* what the stream holds is before it, too, wherever a wrong position leads */
    uint8_t *memory = malloc(BEFORE + N), *data = memory + BEFORE, expected[N], stream[N];
    CHECK(memory != NULL);
    generate(data, N, 8, 1);
    for (size_t i = 0; i < BEFORE; i += N) {
        memcpy(memory + i, data, N);
    }
    b2i_codec_state *s = b2i_codec_state_new();
    const size_t len = encode(s, data, expected);
    CHECK(len > 0);
    b2i_lz_table *t = s->lz;
    for (uint32_t left = 0; left < 2 * (N + B2I_LZ_WINDOW); left += 499) {
        memset(t, 0, sizeof *t);
        t->base = UINT32_MAX - left;
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(encode(s, data, stream), len);
            CHECK(memcmp(stream, expected, len) == 0);
        }
    }
    free(memory);
    b2i_codec_state_free(s);
}

#endif
