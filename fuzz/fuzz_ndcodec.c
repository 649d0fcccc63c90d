/*
 * fuzz_ndcodec.c: any bytes as a stream of NDLZ or ZFP, and as data for NDLZ.
 * Input: codec, parameter, type size, four sizes of a block, what to do; then the bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "codec.h"

enum { HEAD_LEN = 8, NDLZ = 32, MAX_LEN = 1 << 16 };

static void decode(const b2i_codec *codec, const b2c_block *block, b2i_span src, size_t n)
{
    b2c_error err;
    uint8_t *in = fuzz_alloc(src.n), *out = fuzz_alloc(n);
    if (src.n > 0) {
        memcpy(in, src.p, src.n);
    }
    b2c_status st = codec->decode_block(codec, block, b2i_span_of(in, src.n), out, n, &err);
    fuzz_check_error(st, &err);
    free(in);
    free(out);
}

/* What NDLZ makes of the block it decodes again, in whatever room. */
static void round_trip(const b2i_codec *codec, const b2c_block *block, b2i_span src, size_t cap)
{
    b2c_error err;
    size_t len = 0;
    uint8_t *dst = fuzz_alloc(cap), *out = fuzz_alloc(src.n);
    if (codec->check_block(block, src.n, &err) == B2C_OK) {
        b2c_status st = codec->encode_block(codec, block, src, dst, cap, &len, &err);
        FUZZ_REQUIRE(st == B2C_OK && len <= cap);
        if (len > 0) {
            st = codec->decode_block(codec, block, b2i_span_of(dst, len), out, src.n, &err);
            FUZZ_REQUIRE(st == B2C_OK && memcmp(out, src.p, src.n) == 0);
        }
    }
    free(dst);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < HEAD_LEN) {
        return 0;
    }
    const b2i_codec *codec = b2i_codec_by_id((uint8_t)(NDLZ + data[0] % 4));
    if (codec == NULL) {
        return 0;
    }
    uint32_t shape[4];
    b2c_block job = {
        .meta = data[1], .typesize = data[2] % 9, .ndim = data[7] % 5, .blockshape = shape
    };
    size_t nbytes = job.typesize;
    for (uint32_t d = 0; d < 4; d++) {
        shape[d] = data[3 + d];
        nbytes *= d < job.ndim ? data[3 + d] : 1u;
    }
    if (nbytes == 0 || nbytes > MAX_LEN) {
        return 0;
    }
    b2i_span rest = b2i_span_of(data + HEAD_LEN, n - HEAD_LEN);
    decode(codec, &job, rest, nbytes);
    if (codec->id == NDLZ && rest.n >= nbytes) {
        round_trip(codec, &job, b2i_span_of(rest.p, nbytes), rest.n);
    }
    return 0;
}
