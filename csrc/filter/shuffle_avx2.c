/*
 * shuffle_avx2.c: shuffle for AVX2.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "vec_avx2.h"
#include "vec_net.h"
#include "shuffle_vec.h"
#include "plane_sum.h"

const b2i_shuffle_ops b2i_shuffle_avx2 = { "avx2", vec_shuffle, vec_unshuffle, vec_stream_unshuffle,
                                           vec_sum };
