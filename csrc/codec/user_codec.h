/*
 * user_codec.h: codecs that users have registered; private to csrc/codec.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_USER_CODEC_H
#define B2I_USER_CODEC_H

#include "codec.h"

/* The one with an ID, or NULL. */
const b2i_codec *b2i_user_codec(uint8_t id);

/* The version of its streams as text. */
const char *b2i_user_codec_version(const b2i_codec *codec);

#endif
