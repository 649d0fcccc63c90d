/*
 * fuzz_deflate.c: any bytes as a deflate stream.  The first two bytes are the size it should decode
 * to; what decodes is encoded again.  The decoder of this machine and the plain one agree.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "deflate_dec.h"
#include "deflate_enc.h"
#include "fuzz.h"

static void encode_again(b2i_codec_state *state, b2i_deflate_search search, const uint8_t *data,
                         size_t n)
{
    const b2i_deflate_effort effort = { search, search == B2I_SEARCH_PAIRS ? 8 : 0, 60, 3, 32 };
    uint8_t *out = fuzz_alloc(n), *back = fuzz_alloc(n);
    size_t len = 0, used = 0;
    bool misses = false;
    FUZZ_REQUIRE(b2i_deflate_encode(state, &effort, data, n, out, n, &len,
                                    data[0] % 2 == 0 ? NULL : &misses) == B2C_OK);
    if (len > 0) {
        b2i_span stream = b2i_span_of(out, len);
        FUZZ_REQUIRE(b2i_deflate_decode(state, stream, back, n, &used) == B2C_OK && used == len);
        FUZZ_REQUIRE(memcmp(back, data, n) == 0);
    }
    free(out);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static b2i_codec_state *state;
    if (state == NULL) {
        state = b2i_codec_state_new();
    }
    if (n < 2) {
        return 0;
    }
    size_t want = data[0] | (size_t)data[1] << 8, used = 0, again_used = 0;
    uint8_t *out = fuzz_alloc(want);
    uint8_t *again = fuzz_alloc(want);
    b2i_span src = b2i_span_of(data + 2, n - 2);
    memset(out, 0x55, want);
    memset(again, 0xAA, want);
    b2c_status status = b2i_deflate_decode(state, src, out, want, &used);
    FUZZ_REQUIRE(status == B2C_OK || status == B2C_E_CORRUPT);
    FUZZ_REQUIRE(b2i_deflate_decode_plain(state, src, again, want, &again_used) == status);
    if (status == B2C_OK) { /* every byte was written, none was taken from the buffer */
        FUZZ_REQUIRE(used <= src.n && again_used == used);
        FUZZ_REQUIRE(memcmp(out, again, want) == 0);
        encode_again(state, (b2i_deflate_search)(data[0] % 5), out, want);
    }
    free(out);
    free(again);
    return 0;
}
