/*
 * schunk.c: life of a super-chunk, its arrays and sizes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"
#include "checked.h"
#include "lock.h"
#include "unique.h"

#include <errno.h>

/* ---- state ---- */

b2c_status b2i_schunk_alloc(const b2c_limits *limits, b2c_schunk **out, b2c_error *err)
{
    b2c_schunk *s = b2i_calloc(sizeof *s);
    if (s == NULL) {
        return b2i_fail_memory(err);
    }
    s->id = b2i_unique_number();
    s->limits = b2i_limits_full(limits);
    b2c_cparams_init(&s->now.cparams);
    s->now.chunksize = B2I_CHUNKSIZE_NEW;
    *out = s;
    return B2C_OK;
}

void b2i_state_free(b2i_state *state)
{
    b2i_free(state->entries);
    b2i_free(state->ends);
    b2i_places_forget(state);
    b2i_metas_free(&state->metas);
    b2i_metas_free(&state->vlmetas);
    *state = (b2i_state){ 0 };
}

b2c_status b2i_schunk_close(b2c_schunk *s, b2c_error *err)
{
    if (s == NULL) {
        return B2C_OK;
    }
    b2c_status st = B2C_OK;
    b2c_error why = { 0 };
    bool changed = false;
    b2i_schunk_rollback(s);
    if (s->lock != NULL && s->store->is_writable) {
        st = b2i_lock_take(s->lock, true, &changed, &why);
    }
    if (st != B2C_OK || changed) {
        b2i_schunk_abandon(s); /* every edit was stored when the lock was released */
        if (st == B2C_OK || st == B2C_E_LOCKED || why.sys_errno == EINTR) {
            return B2C_OK; /* somebody else may pack it */
        }
        if (err != NULL) {
            *err = why;
        }
        return st;
    }
    if (s->store != NULL) {
        st = s->store->ops->close(s->store, s, err);
        s->store = NULL;
    }
    b2i_schunk_abandon(s);
    return st;
}

void b2i_schunk_abandon(b2c_schunk *s)
{
    b2i_schunk_rollback(s);
    if (s->store != NULL) {
        (void)s->store->ops->close(s->store, NULL, NULL);
    }
    b2i_lock_close(s->lock);
    b2i_state_free(&s->now);
    b2i_free(s->path);
    b2i_free(s);
}

uint8_t b2i_state_general_flags(const b2i_state *state)
{
    enum { VERSION_FIXED = 2, VERSION_VARIABLE = 3, OFFSETS_64BIT = 0x10 };
    bool is_var = state->chunksize == B2I_CHUNKSIZE_VAR;
    unsigned flags = OFFSETS_64BIT;
    flags |= is_var || state->has_vlblocks ? VERSION_VARIABLE : VERSION_FIXED;
    flags |= is_var ? 0x40u : 0;
    flags |= state->has_vlblocks ? 0x80u : 0;
    return (uint8_t)flags;
}

b2c_status b2i_state_list_entries(b2i_state *state, b2c_error *err)
{
    size_t n = (size_t)state->nchunks;
    if (state->entries != NULL || n == 0) {
        return B2C_OK;
    }
    if (state->max_listed != 0 && n > state->max_listed) {
        return b2i_fail_limit(err, B2C_NO_OFFSET, "max_nchunks",
                              "the index of equal entries would have to be listed: more than the "
                              "limit",
                              state->max_listed, n);
    }
    b2i_entry *entries = n > SIZE_MAX / sizeof *entries ? NULL : b2i_malloc(n * sizeof *entries);
    if (entries == NULL) {
        return b2i_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        entries[i] = state->uniform;
    }
    state->entries = entries;
    state->cap = n;
    return B2C_OK;
}

bool b2i_state_set_uniform(b2i_state *state, b2i_entry entry, uint64_t nbytes)
{
    uint64_t size = (uint64_t)state->chunksize;
    if (state->nchunks > 0 || state->ends != NULL || state->chunksize <= 0 || nbytes == 0 ||
        b2i_ceil_div(nbytes, size) > B2I_MAX_NCHUNKS) {
        return false;
    }
    b2i_free(state->entries);
    state->entries = NULL;
    state->cap = 0;
    state->uniform = entry;
    state->nchunks = b2i_ceil_div(nbytes, size);
    state->nspecial = state->nchunks;
    state->nbytes = nbytes;
    return true;
}

b2c_status b2i_state_reserve(b2i_state *state, uint64_t more, b2c_error *err)
{
    B2I_TRY(b2i_state_list_entries(state, err));
    if (more > B2I_MAX_NCHUNKS - state->nchunks) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET, "a frame cannot have more chunks",
                              B2I_MAX_NCHUNKS, state->nchunks + more);
    }
    uint64_t need = state->nchunks + more;
    if (need <= state->cap) {
        return B2C_OK;
    }
    uint64_t cap = need < 16 ? 16 : need + need / 2;
    if (cap > SIZE_MAX / sizeof(uint64_t)) {
        return b2i_fail_memory(err);
    }
    b2i_entry *entries = b2i_realloc(state->entries, (size_t)cap * sizeof *entries);
    if (entries == NULL) {
        return b2i_fail_memory(err);
    }
    state->entries = entries;
    if (state->ends != NULL) {
        uint64_t *ends = b2i_realloc(state->ends, (size_t)cap * sizeof *ends);
        if (ends == NULL) {
            return b2i_fail_memory(err);
        }
        state->ends = ends;
    }
    state->cap = (size_t)cap;
    return B2C_OK;
}

b2c_status b2i_state_make_ends(b2i_state *state, b2c_error *err)
{
    if (state->ends != NULL) {
        return B2C_OK;
    }
    B2I_TRY(b2i_state_list_entries(state, err));
    size_t bytes;
    if (!b2i_mul_size(state->cap, sizeof *state->ends, &bytes)) {
        return b2i_fail_memory(err);
    }
    state->ends = b2i_malloc(bytes);
    if (state->ends == NULL) {
        return b2i_fail_memory(err);
    }
    for (uint64_t i = 0; i < state->nchunks; i++) {
        uint64_t end = (i + 1) * (uint64_t)state->chunksize;
        state->ends[i] = end < state->nbytes ? end : state->nbytes;
    }
    return B2C_OK;
}

/* ---- sizes ---- */

static uint64_t chunk_at(const b2i_state *state, uint64_t nchunk)
{
    if (nchunk == 0) {
        return 0;
    }
    return state->ends != NULL ? state->ends[nchunk - 1] : nchunk * (uint64_t)state->chunksize;
}

uint64_t b2i_state_chunk_nbytes(const b2i_state *state, uint64_t nchunk)
{
    uint64_t at = chunk_at(state, nchunk);
    if (state->ends != NULL) {
        return state->ends[nchunk] - at;
    }
    uint64_t left = state->nbytes - at;
    return left < (uint64_t)state->chunksize ? left : (uint64_t)state->chunksize;
}

uint64_t b2i_schunk_chunk_at(const b2c_schunk *s, uint64_t nchunk)
{
    return chunk_at(&s->now, nchunk);
}

uint64_t b2i_schunk_chunk_nbytes(const b2c_schunk *s, uint64_t nchunk)
{
    return b2i_state_chunk_nbytes(&s->now, nchunk);
}

uint64_t b2i_schunk_chunk_of(const b2c_schunk *s, uint64_t at)
{
    if (s->now.ends == NULL) {
        return at / (uint64_t)s->now.chunksize;
    }
    uint64_t lo = 0, hi = s->now.nchunks - 1; /* the first chunk that ends behind 'at' */
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (s->now.ends[mid] > at) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}
