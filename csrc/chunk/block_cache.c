/*
 * block_cache.c: decoded blocks that a context keeps: a small set-associative cache.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "block_cache.h"

static b2i_cached *set_of(b2i_block_cache *c, const b2i_block_key *key)
{
    /* Multiplication spreads neighbouring numbers; its top bits depend on all of the key. */
    uint64_t h = (key->owner * 31 + key->nchunk) * 31 + key->block;
    return c->slots[(h * 0x9E3779B97F4A7C15u >> 32) % B2I_CACHE_SETS];
}

static bool is_same(const b2i_block_key *a, const b2i_block_key *b)
{
    return a->block == b->block && a->nchunk == b->nchunk && a->state == b->state &&
           a->owner == b->owner && a->nbytes == b->nbytes && a->itemsize == b->itemsize;
}

const b2i_cached *b2i_cache_find(b2i_block_cache *c, const b2i_block_key *key)
{
    b2i_cached *set = set_of(c, key);
    for (unsigned way = 0; way < B2I_CACHE_WAYS; way++) {
        if (is_same(&set[way].key, key)) {
            set[way].round = c->round;
            return &set[way];
        }
    }
    return NULL;
}

static void drop(b2i_block_cache *c, b2i_cached *slot)
{
    c->nbytes -= slot->bytes.cap;
    b2i_scratch_free(&slot->bytes);
    slot->key = (b2i_block_key){ 0 };
}

static bool fits(const b2i_scratch *room, size_t n)
{
    return room->cap >= n && room->cap / 2 <= n;
}

/*
 * Room of n bytes: from the slots in turn, whose memory is freed, or taken over when it fits,
 * until the cache is small enough.
 */
static bool get_room(b2i_block_cache *c, size_t n, b2i_scratch *room)
{
    enum { NSLOTS = B2I_CACHE_SETS * B2I_CACHE_WAYS };
    for (unsigned i = 0; i < NSLOTS && c->nbytes > 0 && c->nbytes + n > B2I_CACHE_NBYTES; i++) {
        b2i_cached *slot = &c->slots[c->hand / B2I_CACHE_WAYS][c->hand % B2I_CACHE_WAYS];
        c->hand = (c->hand + 1) % NSLOTS;
        if (slot->round == c->round) {
            continue;
        }
        if (fits(&slot->bytes, n)) {
            *room = slot->bytes;
            slot->bytes = (b2i_scratch){ 0 };
            slot->key = (b2i_block_key){ 0 };
            return true;
        }
        drop(c, slot);
    }
    if ((c->nbytes > 0 && c->nbytes + n > B2I_CACHE_NBYTES) || b2i_scratch_get(room, n) == NULL) {
        return false;
    }
    c->nbytes += room->cap;
    return true;
}

b2i_cached *b2i_cache_reserve(b2i_block_cache *c, const b2i_block_key *key, size_t n)
{
    b2i_cached *set = set_of(c, key), *slot = &set[0];
    for (unsigned way = 1; way < B2I_CACHE_WAYS; way++) {
        slot = set[way].round < slot->round ? &set[way] : slot;
    }
    if (slot->round == c->round) {
        return NULL;
    }
    slot->key = (b2i_block_key){ 0 };
    if (!fits(&slot->bytes, n)) {
        drop(c, slot);
        if (!get_room(c, n, &slot->bytes)) {
            return NULL;
        }
    }
    slot->round = c->round;
    return slot;
}

void b2i_cache_free(b2i_block_cache *c)
{
    for (unsigned i = 0; i < B2I_CACHE_SETS; i++) {
        for (unsigned way = 0; way < B2I_CACHE_WAYS; way++) {
            drop(c, &c->slots[i][way]);
        }
    }
}
