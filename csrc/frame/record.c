/*
 * record.c: the checksum record that follows a chunk in dead space:
 *
 *     0  "B2CK"
 *     4  u8 flags; bit 0: hashes of the blocks follow, bit 1: a redo record follows, before those
 *     5  u24 tag, the low bits of the hash of the chunk's place in the index
 *     8  u64 XXH3 of the chunk's bytes
 *
 * All little-endian.  Other libraries move chunks and put new ones in front of records of
 * removed ones; the tag tells a record that does not belong to the chunk before it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "checksum.h"

static const uint8_t magic[4] = { 'B', '2', 'C', 'K' };

static uint32_t tag_of(b2i_entry entry)
{
    uint8_t bytes[8];
    b2i_st64le(bytes, entry);
    return (uint32_t)b2i_xxh3_64(b2i_span_of(bytes, sizeof bytes)) & 0xFFFFFFu;
}

void b2i_record_make(b2i_span chunk, b2i_entry entry, uint8_t flags, uint8_t out[B2I_RECORD_LEN])
{
    memcpy(out, magic, sizeof magic);
    b2i_st32le(out + 4, tag_of(entry) << 8 | flags);
    b2i_st64le(out + 8, b2i_xxh3_64(chunk));
}

b2i_check b2i_record_check(b2i_span record, b2i_span chunk, b2i_entry entry)
{
    b2i_reader r = b2i_rd_init(record, 0);
    const uint8_t *name = b2i_rd_take(&r, sizeof magic);
    uint32_t tag = b2i_rd_u32le(&r);
    uint64_t hash = b2i_rd_u64le(&r);
    if (r.failed || memcmp(name, magic, sizeof magic) != 0 || tag >> 8 != tag_of(entry)) {
        return B2I_CHECK_NONE;
    }
    return hash == b2i_xxh3_64(chunk) ? B2I_CHECK_GOOD : B2I_CHECK_BAD;
}
