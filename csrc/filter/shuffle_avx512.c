/*
 * shuffle_avx512.c: shuffle for AVX-512 with VBMI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "vec_avx512.h"
#include "vec_net.h"
#include "shuffle_vec.h"

/* Sums are as fast with AVX2: most of what they take are shuffles, of which there is one a cycle.
 */
const b2i_shuffle_ops b2i_shuffle_avx512 = { "avx512", vec_shuffle, vec_unshuffle,
                                             vec_stream_unshuffle, NULL };
