/*
 * strip_cache.c: thin boxes of items that a context keeps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "strip_cache.h"

#include <string.h>

/*
 * A wide strip that was not used for so many rounds of its context makes room for others.  One of a
 * context that is not used any more stays until that is freed: nobody else may touch it.
 */
enum { WIDE_ROUNDS = 64 };

/* Of the wide strips of all contexts. */
static size_t wide_nbytes;

static void give_back(size_t nbytes)
{
    (void)__atomic_sub_fetch(&wide_nbytes, nbytes, __ATOMIC_RELAXED);
}

/* False: they have too many. */
static bool take_wide(size_t nbytes)
{
    if (__atomic_add_fetch(&wide_nbytes, nbytes, __ATOMIC_RELAXED) > B2I_WIDE_NBYTES) {
        give_back(nbytes);
        return false;
    }
    return true;
}

static bool is_wide(const b2i_strip *s)
{
    return s->bytes.cap > B2I_STRIPS_NBYTES;
}

static void drop(b2i_strip *s)
{
    give_back(is_wide(s) ? s->bytes.cap : 0);
    b2i_scratch_free(&s->bytes);
    s->is_filled = false;
}

void b2i_strip_forget(b2i_strip *s)
{
    s->is_filled = false;
    if (is_wide(s)) {
        drop(s);
    }
}

b2i_strip *b2i_strip_of(b2i_strip_cache *cache, const b2i_strip_key *key)
{
    b2i_strip *found = NULL, *oldest = &cache->strips[0];
    cache->round++;
    for (uint32_t i = 0; i < B2I_NSTRIPS; i++) {
        b2i_strip *s = &cache->strips[i];
        found = memcmp(&s->key, key, sizeof *key) == 0 ? s : found;
        oldest = s->round < oldest->round ? s : oldest;
        if (s != found && is_wide(s) && cache->round - s->round > WIDE_ROUNDS) {
            drop(s);
        }
    }
    if (found == NULL) {
        found = oldest;
        b2i_strip_forget(found);
        found->key = *key;
        found->n = 0;
        found->nfar = 0;
    }
    found->round = cache->round;
    return found;
}

/* Of the others with bytes that are not wide the one that was not used for longest, or NULL. */
static b2i_strip *oldest_other(b2i_strip_cache *cache, const b2i_strip *strip, size_t *nbytes)
{
    b2i_strip *oldest = NULL;
    *nbytes = 0;
    for (uint32_t i = 0; i < B2I_NSTRIPS; i++) {
        b2i_strip *s = &cache->strips[i];
        if (s != strip && !is_wide(s) && s->bytes.cap > 0) {
            oldest = oldest == NULL || s->round < oldest->round ? s : oldest;
            *nbytes += s->bytes.cap;
        }
    }
    return oldest;
}

static uint8_t *wide_room(b2i_strip *strip, size_t nbytes)
{
    drop(strip);
    if (!take_wide(nbytes)) {
        return NULL;
    }
    uint8_t *room = b2i_scratch_get(&strip->bytes, nbytes);
    give_back(room == NULL ? nbytes : 0);
    return room;
}

uint8_t *b2i_strip_room(b2i_strip_cache *cache, b2i_strip *strip, size_t nbytes)
{
    size_t others;
    b2i_strip *other;
    strip->is_filled = false;
    if (nbytes > B2I_STRIPS_NBYTES) {
        return wide_room(strip, nbytes);
    }
    if (is_wide(strip) || strip->bytes.cap / 2 > nbytes) {
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
