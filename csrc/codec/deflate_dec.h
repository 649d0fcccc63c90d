/*
 * deflate_dec.h: our decoder of deflate streams; private to csrc/codec.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_DEFLATE_DEC_H
#define B2I_DEFLATE_DEC_H

#include "codec_impl.h"

/*
 * Decodes a raw deflate stream at the start of src into exactly n bytes; *used is where it ends.
 * The contract is that of b2i_codec.
 */
typedef b2c_status b2i_deflate_decoder(b2i_codec_state *state, b2i_span src, uint8_t *dst, size_t n,
                                       size_t *used);

b2i_deflate_decoder b2i_deflate_decode;

/* One for any processor, and one with BMI2; the first call of b2i_deflate_decode() chooses. */
b2i_deflate_decoder b2i_deflate_decode_plain, b2i_deflate_decode_bmi2;

#endif
