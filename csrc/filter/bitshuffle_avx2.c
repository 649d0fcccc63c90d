/*
 * bitshuffle_avx2.c: bitshuffle for AVX2.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bitshuffle.h"
#include "vec_avx2.h"
#include "vec_net.h"
#include "bitshuffle_tile.h"
#include "bitshuffle_vec.h"

const b2i_bitshuffle_ops b2i_bitshuffle_avx2 = { "avx2", vec_bitshuffle, vec_bitunshuffle };
