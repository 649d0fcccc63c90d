/*
 * shuffle_neon.c: shuffle for 64-bit ARM.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "shuffle.h"
#include "vec_neon.h"
#include "vec_net.h"
#include "shuffle_vec.h"
#include "plane_sum.h"

const b2i_shuffle_ops b2i_shuffle_neon = { "neon", vec_shuffle, vec_unshuffle, NULL, vec_sum };
