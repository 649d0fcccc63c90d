/*
 * replay.c: the edits that a killed writer's log tells, applied together.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A record of a hundred bytes can insert in front of millions of chunks, whose index may be as
 * small: moving all of them for each record would take as long as a stranger likes.  Insertions
 * wait in a short list instead, and go into the arrays many at a time.
 */
#include "schunk.h"

enum { MAX_PENDING = 4096 }; /* what moves per edit, and how seldom everything moves */

/* An insertion in front of entry 'at' of the arrays; it is chunk 'at' + its number in the list. */
typedef struct b2i_pending {
    uint64_t at;
    b2i_entry entry;
    uint64_t nbytes;
} pending;

/* With chunks of any size the array of ends holds sizes meanwhile. */
static void ends_to_sizes(b2i_state *s)
{
    for (uint64_t i = s->nchunks; s->ends != NULL && i-- > 1;) {
        s->ends[i] -= s->ends[i - 1];
    }
}

static void sizes_to_ends(b2i_state *s)
{
    for (uint64_t i = 1; s->ends != NULL && i < s->nchunks; i++) {
        s->ends[i] += s->ends[i - 1];
    }
}

static void move(uint64_t *v, uint64_t to, uint64_t from, uint64_t n)
{
    memmove(v + to, v + from, (size_t)n * sizeof *v);
}

/* The list goes into the arrays, from their end. */
static void merge(b2i_replay *r)
{
    b2i_state *s = r->state;
    uint64_t listed = s->nchunks - r->npending;
    while (r->npending > 0) {
        const pending *p = &r->pending[--r->npending];
        uint64_t to = p->at + r->npending;
        move(s->entries, to + 1, p->at, listed - p->at);
        s->entries[to] = p->entry;
        if (s->ends != NULL) {
            move(s->ends, to + 1, p->at, listed - p->at);
            s->ends[to] = p->nbytes;
        }
        listed = p->at;
    }
}

/* The first of the list that is chunk 'nchunk' or a later one. */
static size_t find(const b2i_replay *r, uint64_t nchunk)
{
    size_t lo = 0, hi = r->npending;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->pending[mid].at + mid < nchunk) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* What the new one adds to nspecial and nbytes is not counted yet. */
static void replace(b2i_replay *r, uint64_t nchunk, b2i_entry entry, uint64_t nbytes)
{
    b2i_state *s = r->state;
    size_t i = find(r, nchunk);
    bool waits = i < r->npending && r->pending[i].at + i == nchunk;
    b2i_entry *place = waits ? &r->pending[i].entry : &s->entries[nchunk - i];
    s->nspecial -= b2i_is_special(*place);
    *place = entry;
    if (s->ends == NULL) {
        s->nbytes -= b2i_state_chunk_nbytes(s, nchunk);
    } else {
        uint64_t *size = waits ? &r->pending[i].nbytes : &s->ends[nchunk - i];
        s->nbytes -= *size;
        *size = nbytes;
    }
}

static b2c_status insert(b2i_replay *r, uint64_t nchunk, b2i_entry entry, uint64_t nbytes,
                         b2c_error *err)
{
    b2i_state *s = r->state;
    if (r->pending == NULL) {
        r->pending = b2i_malloc(MAX_PENDING * sizeof *r->pending);
        if (r->pending == NULL) {
            return b2i_fail_memory(err);
        }
    }
    B2I_TRY(b2i_state_reserve(s, 1, err));
    if (r->npending == MAX_PENDING) {
        merge(r);
    }
    size_t i = find(r, nchunk);
    memmove(r->pending + i + 1, r->pending + i, (r->npending - i) * sizeof *r->pending);
    r->pending[i] = (pending){ nchunk - i, entry, nbytes };
    r->npending++;
    s->nchunks++;
    return B2C_OK;
}

b2c_status b2i_replay_edit(b2i_replay *r, b2i_redo where, b2i_entry entry, uint64_t nbytes,
                           bool *done, b2c_error *err)
{
    b2i_state *s = r->state;
    *done = s->ends != NULL || b2i_state_stays_regular(s, where, nbytes);
    if (!*done) {
        return B2C_OK;
    }
    if (!r->has_begun) {
        B2I_TRY(b2i_state_reserve(s, 1, err)); /* lists the entries */
        ends_to_sizes(s);
        r->has_begun = true;
    }
    if (where.kind == B2I_REDO_UPDATE) {
        replace(r, where.nchunk, entry, nbytes);
    } else {
        B2I_TRY(insert(r, where.nchunk, entry, nbytes, err));
    }
    if (s->chunksize == B2I_CHUNKSIZE_NEW) {
        s->chunksize = (int64_t)nbytes;
    }
    s->nspecial += b2i_is_special(entry);
    s->nbytes += nbytes;
    return B2C_OK;
}

void b2i_replay_end(b2i_replay *r)
{
    merge(r);
    if (r->has_begun) {
        sizes_to_ends(r->state);
    }
    b2i_free(r->pending);
    *r = (b2i_replay){ .state = r->state };
}
