/*
 * fuzz_lz4.c: any bytes as an LZ4 block.  The first two bytes are the size it should decode to, the
 * third one the size of a dictionary, which is what comes next.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "codec_impl.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 3 || n - 3 < data[2]) {
        return 0;
    }
    size_t want = data[0] | (size_t)data[1] << 8;
    b2i_span dict = b2i_span_of(data + 3, data[2]);
    b2i_span src = b2i_span_of(data + 3 + dict.n, n - 3 - dict.n);
    uint8_t *out = fuzz_alloc(want);
    uint8_t *again = fuzz_alloc(want);
    memset(out, 0x55, want);
    memset(again, 0xAA, want);
    b2c_status status = b2i_lz4_decode(dict, src, out, want);
    FUZZ_REQUIRE(status == B2C_OK || status == B2C_E_CORRUPT);
    FUZZ_REQUIRE(b2i_lz4_decode(dict, src, again, want) == status);
    if (status == B2C_OK) { /* every byte was written, none was taken from the buffer */
        FUZZ_REQUIRE(memcmp(out, again, want) == 0);
    }
    free(out);
    free(again);
    return 0;
}
