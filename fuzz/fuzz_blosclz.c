/*
 * fuzz_blosclz.c: any bytes as a BloscLZ stream.  The first two bytes are the size it should decode
 * to.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "codec.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static b2i_codec_state *state;
    const b2i_codec *codec = b2i_codec_by_id(B2C_CODEC_BLOSCLZ);
    if (state == NULL) {
        state = b2i_codec_state_new();
    }
    if (n < 2) {
        return 0;
    }
    size_t want = data[0] | (size_t)data[1] << 8;
    uint8_t *out = fuzz_alloc(want);
    uint8_t *again = fuzz_alloc(want);
    b2i_span src = b2i_span_of(data + 2, n - 2);
    memset(out, 0x55, want);
    memset(again, 0xAA, want);
    b2c_status status = codec->decode(state, NULL, src, out, want);
    FUZZ_REQUIRE(status == B2C_OK || status == B2C_E_CORRUPT);
    FUZZ_REQUIRE(codec->decode(state, NULL, src, again, want) == status);
    if (status == B2C_OK) { /* every byte was written, none was taken from the buffer */
        FUZZ_REQUIRE(memcmp(out, again, want) == 0);
    }
    free(out);
    free(again);
    return 0;
}
