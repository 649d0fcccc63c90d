/*
 * test_checksum.c: the hashes of the machine's kernels are those that the library defines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checksum.h"
#include "harness.h"

int main(void)
{
    enum { N = 5000 };
    uint8_t data[N];
    uint64_t r = 3;
    for (size_t i = 0; i < N; i++) {
        data[i] = (uint8_t)(harness_random(&r) >> 20);
    }
    CHECK_EQ(b2i_xxh3_64(b2i_span_of(data, 0)), 0x2D06800538D394C2); /* of the specification */
    for (size_t n = 0; n < N; n += n < 600 ? 1 : 131) {
        const b2i_span parts[] = { b2i_span_of(data, n / 3), b2i_span_of(data + n / 3, n - n / 3) };
        XXH128_canonical_t want;
        uint8_t out[16];
        CHECK_EQ(b2i_xxh3_64(b2i_span_of(data, n)), XXH3_64bits(data, n));
        XXH128_canonicalFromHash(&want, XXH3_128bits(data, n));
        b2i_xxh3_128(parts, 2, out);
        CHECK(memcmp(out, want.digest, sizeof out) == 0);
    }
    return RESULT();
}
