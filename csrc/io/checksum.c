/*
 * checksum.c: XXH3 through libxxhash, compiled in from its header.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checksum.h"

uint64_t b2i_xxh3_64(b2i_span bytes)
{
    return XXH3_64bits(bytes.p, bytes.n);
}

void b2i_xxh3_128(const b2i_span *parts, unsigned nparts, uint8_t out[16])
{
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    (void)XXH3_128bits_reset(&state);
    for (unsigned i = 0; i < nparts; i++) {
        (void)XXH3_128bits_update(&state, parts[i].p, parts[i].n);
    }
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(out, canonical.digest, 16);
}
