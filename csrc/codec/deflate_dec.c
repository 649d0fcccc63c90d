/*
 * deflate_dec.c: the decoder of deflate streams for any processor, and the choice of one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "cpu.h"
#include "deflate_decoder.h"

#include <pthread.h>

b2c_status b2i_deflate_decode_plain(b2i_codec_state *state, b2i_span src, uint8_t *dst, size_t n,
                                    size_t *used)
{
    return decode(state, src, dst, n, used);
}

static b2i_deflate_decoder *chosen = b2i_deflate_decode_plain;

static void choose(void)
{
#ifdef B2I_HAVE_BMI2
    if ((b2i_cpu_features() & B2I_CPU_BMI2) != 0) {
        chosen = b2i_deflate_decode_bmi2;
    }
#endif
}

b2c_status b2i_deflate_decode(b2i_codec_state *state, b2i_span src, uint8_t *dst, size_t n,
                              size_t *used)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, choose);
    return chosen(state, src, dst, n, used);
}
