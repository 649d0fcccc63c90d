/*
 * bitshuffle_neon.c: bitshuffle for 64-bit ARM.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bitshuffle.h"
#include "vec_neon.h"
#include "vec_net.h"
#include "bitshuffle_tile.h"
#include "bitshuffle_vec.h"

const b2i_bitshuffle_ops b2i_bitshuffle_neon = { "neon", vec_bitshuffle, vec_bitunshuffle };
