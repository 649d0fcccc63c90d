/*
 * checksum.c: XXH3 through libxxhash, compiled in from its header.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checksum.h"
#include "cpu.h"

#include <pthread.h>

static uint64_t hash_plainly(b2i_span bytes)
{
    return XXH3_64bits(bytes.p, bytes.n);
}

static uint64_t (*hash)(b2i_span bytes) = hash_plainly;

static void choose(void)
{
#ifdef B2I_HAVE_AVX2
    hash = (b2i_cpu_features() & B2I_CPU_AVX2) != 0 ? b2i_xxh3_64_avx2 : hash_plainly;
#endif
}

uint64_t b2i_xxh3_64(b2i_span bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, choose);
    return hash(bytes);
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
