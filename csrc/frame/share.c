/*
 * share.c: super-chunks that other processes change meanwhile: the lock file, and reading anew.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "lock.h"

/* ---- reading anew ---- */

static bool entries_are_equal(const b2i_state *a, const b2i_state *b, uint64_t n)
{
    if (a->entries != NULL && b->entries != NULL) {
        return n == 0 || memcmp(a->entries, b->entries, (size_t)n * sizeof *a->entries) == 0;
    }
    bool same = true;
    bool is_listed = a->entries != NULL || b->entries != NULL; /* else one is like the other */
    for (uint64_t i = 0; i < n && same && (i == 0 || is_listed); i++) {
        same = b2i_state_entry(a, i) == b2i_state_entry(b, i);
    }
    return same;
}

/* Whether the first chunks of 'now' are where all those of 'old' were. */
static bool only_grew(const b2i_state *old, const b2i_state *now)
{
    uint64_t n = old->nchunks;
    if (now->nchunks < n) {
        return false;
    }
    bool same_sizes = n == 0 || (now->chunksize == old->chunksize &&
                                 (n == now->nchunks || b2i_state_chunk_nbytes(now, n - 1) ==
                                                           b2i_state_chunk_nbytes(old, n - 1)));
    return same_sizes && entries_are_equal(now, old, n);
}

static bool metas_are_equal(const b2i_metas *a, const b2i_metas *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; i < a->n && same; i++) {
        same = a->v[i].n == b->v[i].n && strcmp(a->v[i].name, b->v[i].name) == 0 &&
               (a->v[i].n == 0 || memcmp(a->v[i].p, b->v[i].p, a->v[i].n) == 0);
    }
    return same;
}

static int change_between(const b2i_state *old, const b2i_state *now)
{
    if (!only_grew(old, now)) {
        return B2C_CHANGE_ANY;
    }
    bool same = old->nchunks == now->nchunks && old->nbytes == now->nbytes &&
                metas_are_equal(&old->metas, &now->metas) &&
                metas_are_equal(&old->vlmetas, &now->vlmetas);
    return same ? B2C_CHANGE_NONE : B2C_CHANGE_GREW;
}

/* Takes the store of 'fresh', which gets the old one. */
static void swap_stores(b2c_schunk *s, b2c_schunk *fresh)
{
    b2i_store *store = s->store;
    s->edits++;
    s->now.vlmetas.trailer_at = 0;
    s->store = fresh->store;
    fresh->store = store;
}

static void swap_states(b2c_schunk *s, b2c_schunk *fresh)
{
    b2i_state now = s->now;
    if (s->has_own_cparams && fresh->now.cparams.typesize == now.cparams.typesize &&
        fresh->now.cparams.blocksize == now.cparams.blocksize) {
        fresh->now.cparams = now.cparams;
    }
    s->now = fresh->now;
    s->has_stored_flags = fresh->has_stored_flags;
    s->stored_flags = fresh->stored_flags;
    fresh->now = now;
}

/*
 * Whether room of chunks that were shown may have been used again: what the next commit has dropped
 * may be, when there were two more after that one.  Nobody knows across packed frames.
 */
static bool may_be_reused(const b2i_shown *was, const b2i_store *now)
{
    bool same_count = memcmp(was->since, now->shown.since, sizeof was->since) == 0;
    return !same_count || now->reuse_no > was->no + 2;
}

/* always: take the new state also when all chunks of the present one are still there. */
static b2c_status reload(b2c_schunk *s, bool always, int *change, b2c_error *err)
{
    b2c_schunk *fresh;
    B2I_TRY(b2i_schunk_reopen(s, &fresh, err));
    const b2i_shown was = s->store->shown;
    bool is_same = s->store->ops->is_same(s->store, fresh->store);
    /* Entries do not tell of chunks that were written in the place of others of the same length. */
    bool is_kept = is_same && !may_be_reused(&was, fresh->store);
    *change = is_kept ? change_between(&s->now, &fresh->now) : B2C_CHANGE_ANY;
    swap_stores(s, fresh);
    if (always || *change == B2C_CHANGE_ANY) {
        swap_states(s, fresh);
    } else {
        s->store->shown = was;
    }
    b2i_schunk_abandon(fresh);
    return B2C_OK;
}

b2c_status b2i_schunk_refresh(b2c_schunk *s, int *change, b2c_error *err)
{
    *change = B2C_CHANGE_NONE;
    if (s->path == NULL || s->saved != NULL) {
        return B2C_OK;
    }
    if (s->lock == NULL) {
        return s->store->is_writable ? B2C_OK : reload(s, true, change, err);
    }
    bool changed;
    B2I_TRY(b2i_schunk_lock(s, false, &changed, err));
    *change = changed ? B2C_CHANGE_ANY : B2C_CHANGE_NONE;
    return b2i_schunk_unlock(s, B2C_OK, err);
}

static bool can_be_outdated(const b2c_schunk *s)
{
    return s->path != NULL && s->lock == NULL && !s->store->is_writable &&
           s->store->ops->is_current != NULL;
}

bool b2i_schunk_is_current(const b2c_schunk *s)
{
    return !can_be_outdated(s) || s->store->ops->is_current(s->store);
}

b2c_status b2i_schunk_recheck(b2c_schunk *s, bool *lost, b2c_error *err)
{
    int change = B2C_CHANGE_NONE;
    b2c_status st = can_be_outdated(s) ? reload(s, false, &change, err) : B2C_OK;
    *lost = change == B2C_CHANGE_ANY;
    return st;
}

/* ---- the lock file ---- */

b2c_status b2i_schunk_lock(b2c_schunk *s, bool exclusive, bool *changed, b2c_error *err)
{
    int change;
    *changed = false;
    if (s->lock == NULL) {
        return B2C_OK;
    }
    if (exclusive) {
        B2I_TRY(b2i_schunk_check_writable(s, err));
    }
    B2I_TRY(b2i_lock_take(s->lock, exclusive, changed, err));
    if (!*changed) {
        return B2C_OK;
    }
    b2c_status st = reload(s, true, &change, err);
    if (st != B2C_OK) {
        b2i_lock_release(s->lock);
        return st;
    }
    b2i_lock_seen(s->lock);
    return B2C_OK;
}

b2c_status b2i_schunk_unlock(b2c_schunk *s, b2c_status st, b2c_error *err)
{
    if (s->lock == NULL) {
        return st;
    }
    b2i_store *store = s->store;
    bool shows = st == B2C_OK && b2i_lock_is_last(s->lock) && store->is_writable &&
                 !store->failed && s->saved == NULL;
    if (shows) {
        st = store->ops->commit(store, s, B2I_COMMIT_SHOW, err);
        store->failed = st != B2C_OK;
    }
    b2i_lock_release(s->lock);
    return st;
}
