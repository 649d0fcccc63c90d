/*
 * chunk_format.h: the numbers of the chunk header that its reader and its writer
 * share; private to csrc/chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CHUNK_FORMAT_H
#define B2I_CHUNK_FORMAT_H

/* byte 0: version */
#define VERSION_BLOSC1_LAST 2 /* 1 and 2: Blosc 1.x rules for splitting and bitshuffle */
#define VERSION_ALPHA       3 /* filter slot 5 was not initialised */
#define VERSION_CURRENT     5
#define VERSION_VLBLOCKS    6

/* byte 2: flags */
#define FLAG_SHUFFLE    0x01
#define FLAG_MEMCPY     0x02
#define FLAG_BITSHUFFLE 0x04
#define FLAG_EXTENDED   0x05 /* both: a 32-byte header */
#define FLAG_DELTA      0x08
#define FLAG_UNSPLIT    0x10
#define FORMAT_SHIFT    5

/* codec formats, the top three bits of flags */
#define FORMAT_SNAPPY 2
#define FORMAT_LIZARD 5

/* byte 0x1E: flags2 */
#define FLAG2_VLBLOCKS 0x01

/* byte 0x1F: blosc2 flags */
#define FLAG3_DICT         0x01
#define FLAG3_LAZY         0x08
#define FLAG3_SPECIAL      0x70
#define SPECIAL_SHIFT      4
#define FLAG3_INSTRUMENTED 0x80

#define MAX_DICT_READ  131072 /* version 2 of the library wrote up to this */
#define MAX_DICT_WRITE 32768  /* version 3 reads up to this */
#define MIN_DICT_WRITE 256

#define MIN_DICT_BLOCKS 8 /* of variable size */

#define CODEC_NONE 3 /* Snappy, for all formats whose codecs have no ID: nobody has them */

#endif
