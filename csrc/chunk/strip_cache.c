/*
 * strip_cache.c: thin boxes of items that a context keeps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "strip_cache.h"

#include <string.h>

b2i_strip *b2i_strip_of(b2i_strip_cache *cache, const b2i_strip_key *key)
{
    b2i_strip *found = NULL, *oldest = &cache->strips[0];
    for (uint32_t i = 0; i < B2I_NSTRIPS; i++) {
        b2i_strip *s = &cache->strips[i];
        found = memcmp(&s->key, key, sizeof *key) == 0 ? s : found;
        oldest = s->round < oldest->round ? s : oldest;
    }
    if (found == NULL) {
        found = oldest;
        found->key = *key;
        found->n = 0;
        found->is_filled = false;
    }
    found->round = ++cache->round;
    return found;
}

static void drop(b2i_strip *s)
{
    b2i_scratch_free(&s->bytes);
    s->is_filled = false;
}

/* Of those with bytes, but for 'strip', the one that was not used for longest, or NULL. */
static b2i_strip *oldest_other(b2i_strip_cache *cache, const b2i_strip *strip, size_t *nbytes)
{
    b2i_strip *oldest = NULL;
    *nbytes = 0;
    for (uint32_t i = 0; i < B2I_NSTRIPS; i++) {
        b2i_strip *s = &cache->strips[i];
        if (s != strip && s->bytes.cap > 0) {
            oldest = oldest == NULL || s->round < oldest->round ? s : oldest;
            *nbytes += s->bytes.cap;
        }
    }
    return oldest;
}

uint8_t *b2i_strip_room(b2i_strip_cache *cache, b2i_strip *strip, size_t nbytes)
{
    size_t others;
    b2i_strip *other;
    strip->is_filled = false;
    if (strip->bytes.cap / 2 > nbytes) {
        drop(strip);
    }
    size_t size = strip->bytes.cap > nbytes ? strip->bytes.cap : nbytes;
    while ((other = oldest_other(cache, strip, &others)) != NULL &&
           others + size > B2I_STRIPS_NBYTES) {
        drop(other);
    }
    return b2i_scratch_get(&strip->bytes, nbytes);
}

void b2i_strips_free(b2i_strip_cache *cache)
{
    for (uint32_t i = 0; i < B2I_NSTRIPS; i++) {
        drop(&cache->strips[i]);
    }
}
