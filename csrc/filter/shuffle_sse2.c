/*
 * shuffle_sse2.c: shuffle for SSE2.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "vec_sse2.h"
#include "vec_net.h"
#include "shuffle_vec.h"
#include "plane_sum.h"

const b2i_shuffle_ops b2i_shuffle_sse2 = { "sse2", vec_shuffle, vec_unshuffle, vec_stream_unshuffle,
                                           vec_sum };
