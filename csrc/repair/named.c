/*
 * named.c: which chunks the entries of an index name, when not all of them need be right.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "repair.h"

#include <stdlib.h>

bool b2i_named_head(b2i_store *store, b2i_entry entry, const b2c_limits *limits,
                    b2i_scratch *scratch, b2i_chunk_head *head)
{
    uint64_t len;
    b2i_span bytes;
    return store->ops->len(store, entry, &len, NULL) == B2C_OK && len >= B2C_HEADER_LEN &&
           store->ops->read(store, entry, 0, B2C_HEADER_LEN, scratch, &bytes, NULL) == B2C_OK &&
           b2i_chunk_head_parse(bytes, limits, head, NULL) == B2C_OK && head->cbytes <= len;
}

b2c_status b2i_named_count(const b2c_schunk *s, uint64_t *named, uint64_t *there, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_chunk_head head;
    b2i_entry *places;
    size_t n;
    B2I_TRY(b2i_places_sorted(&s->now, &places, &n, err));
    *named = n;
    *there = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_first = i == 0 || places[i] != places[i - 1];
        *there += is_first && b2i_named_head(s->store, places[i], NULL, &scratch, &head);
    }
    b2i_free(places);
    b2i_scratch_free(&scratch);
    return B2C_OK;
}

bool b2i_named_has_odd(const b2i_state *now)
{
    uint64_t n = now->entries == NULL ? now->nchunks != 0 : now->nchunks;
    for (uint64_t i = 0; i < n; i++) {
        b2i_entry e = b2i_state_entry(now, i);
        if (b2i_is_special(e) && !b2i_is_plain_special(e)) {
            return true;
        }
    }
    return false;
}

/* Of n places in order keeps one each of those that are there several times; returns how many. */
static size_t keep_shared(b2i_entry *places, size_t n)
{
    size_t nshared = 0;
    for (size_t i = 1; i < n; i++) {
        if (places[i] == places[i - 1] && (nshared == 0 || places[nshared - 1] != places[i])) {
            places[nshared++] = places[i];
        }
    }
    return nshared;
}

/* Of the entries that name one of these places, all but the first become B2I_ENTRY_SHARED. */
static b2c_status mark_shared(b2i_state *now, const b2i_entry *places, size_t nplaces,
                              b2c_error *err)
{
    bool *seen = b2i_calloc(nplaces * sizeof *seen);
    if (seen == NULL) {
        return b2i_fail_memory(err);
    }
    for (uint64_t i = 0; i < now->nchunks; i++) {
        const b2i_entry *found =
            bsearch(&now->entries[i], places, nplaces, sizeof *places, b2i_compare_entries);
        if (found != NULL && seen[found - places]) {
            now->entries[i] = B2I_ENTRY_SHARED;
        } else if (found != NULL) {
            seen[found - places] = true;
        }
    }
    b2i_free(seen);
    return B2C_OK;
}

static b2c_status keep_once(b2i_state *now, b2c_error *err)
{
    b2i_entry *places;
    size_t n;
    if (now->entries == NULL || now->nchunks == 0) {
        return B2C_OK;
    }
    now->nspecial = b2i_index_nspecial(now->entries, now->nchunks);
    B2I_TRY(b2i_places_sorted(now, &places, &n, err));
    size_t nshared = keep_shared(places, n);
    b2c_status st = nshared == 0 ? B2C_OK : mark_shared(now, places, nshared, err);
    b2i_free(places);
    return st;
}

b2c_status b2i_named_once(b2c_schunk *s, b2c_error *err)
{
    B2I_TRY(keep_once(&s->now, err));
    return b2i_places_check(&s->now, s->store->storage == B2C_STORAGE_FILE, NULL, err);
}
