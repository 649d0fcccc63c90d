/*
 * deflate_dec_bmi2.c: the decoder of deflate streams with BMI2, which shifts by a variable number
 * of bits, as nearly every step does, in one operation instead of three.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "deflate_decoder.h"

b2c_status b2i_deflate_decode_bmi2(b2i_codec_state *state, b2i_span src, uint8_t *dst, size_t n,
                                   size_t *used)
{
    return decode(state, src, dst, n, used);
}
