/*
 * store_file_room.c: room in a file that no index names any more, for other chunks.
 *
 * What a commit drops may be used again two commits later: the headers that name it
 * cannot come back then.
 *
 * A packed frame that has dead room tells how much, so that many writers who leave a little each
 * notice when it is time to rewrite the frame.  The note stands before the index, is dead itself,
 * and counts for nobody once something else stands there:
 *
 *     0   "B2CD"
 *     4   u32 XXH3 of the place of the note (u64), and of bytes 8…15
 *     8   u64 dead bytes, with the note
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
#include "alloc.h"
#include "checksum.h"

#include <stdlib.h>

#define MAX_EXTENTS   ((size_t)4096)
#define NOT_COMMITTED UINT64_MAX

/* ---- how much is dead ---- */

static const uint8_t dead_magic[4] = { 'B', '2', 'C', 'D' };

static uint32_t dead_hash(uint64_t at, uint64_t dead)
{
    uint8_t bytes[16];
    b2i_st64le(bytes, at);
    b2i_st64le(bytes + 8, dead);
    return (uint32_t)b2i_xxh3_64(b2i_span_of(bytes, sizeof bytes));
}

void b2i_file_dead_make(uint64_t at, uint64_t dead, uint8_t out[B2I_DEAD_LEN])
{
    memcpy(out, dead_magic, sizeof dead_magic);
    b2i_st32le(out + 4, dead_hash(at, dead));
    b2i_st64le(out + 8, dead);
}

void b2i_file_dead_read(b2i_file_store *f)
{
    uint8_t bytes[B2I_DEAD_LEN];
    const uint64_t at = f->end - sizeof bytes;
    if (f->end < sizeof bytes ||
        f->io->ops->read(f->io, f->header_len + at, bytes, sizeof bytes, NULL) != B2C_OK) {
        return;
    }
    const uint64_t dead = b2i_ld64le(bytes + 8);
    if (memcmp(bytes, dead_magic, sizeof dead_magic) == 0 && dead <= f->end &&
        b2i_ld32le(bytes + 4) == dead_hash(at, dead)) {
        f->dead = dead;
    }
}

/* ---- room that is free ---- */

uint64_t b2i_file_take_free(b2i_file_store *f, uint64_t n)
{
    for (size_t i = 0; i < f->nfree; i++) {
        b2i_extent *e = &f->free[i];
        if (e->n >= n && e->commit_no != NOT_COMMITTED && e->commit_no + 2 <= f->commit_no) {
            uint64_t at = e->at;
            f->base.reuse_no = f->commit_no;
            e->at += n;
            e->n -= n;
            f->dead -= n < f->dead ? n : f->dead;
            return at;
        }
    }
    return B2I_NO_ROOM;
}

void b2i_file_add_free(b2i_file_store *f, uint64_t at, uint64_t n)
{
    f->dead += n;
    if (f->nfree == f->free_cap && f->free_cap < MAX_EXTENTS) {
        size_t cap = f->free_cap == 0 ? 16 : 2 * f->free_cap;
        b2i_extent *v = b2i_realloc(f->free, cap * sizeof *v);
        if (v != NULL) {
            f->free = v;
            f->free_cap = cap;
        }
    }
    if (f->nfree < f->free_cap) {
        f->free[f->nfree++] = (b2i_extent){ at, n, NOT_COMMITTED };
    } /* else the room stays unused until the frame is rewritten */
}

void b2i_file_forget_free(b2i_file_store *f)
{
    f->dead = 0;
    f->nfree = 0;
    f->pointers_len = 0;
}

void b2i_file_add_pointer(b2i_file_store *f, uint64_t at)
{
    if (f->pointers_at + f->pointers_len != at) {
        b2i_file_add_free(f, f->pointers_at, f->pointers_len);
        f->pointers_at = at;
        f->pointers_len = 0;
    }
    f->pointers_len += B2I_POINTER_LEN;
}

/*
 * Length of the record of the chunk at an entry and what belongs to it; 0: there is none, or
 * chunk and record of somebody else claim to reach behind all chunks.
 */
static uint64_t record_len(const b2i_file_store *f, b2i_entry entry, uint64_t cbytes)
{
    const b2i_store *store = &f->base;
    uint8_t first[B2C_HEADER_LEN], record[B2I_RECORD_LEN];
    uint64_t at = f->header_len + entry;
    b2i_chunk_head head;
    if ((!store->is_trusted && entry < f->first_end) || f->limit - entry < cbytes + sizeof record ||
        f->io->ops->read(f->io, at, first, sizeof first, NULL) != B2C_OK ||
        f->io->ops->read(f->io, at + cbytes, record, sizeof record, NULL) != B2C_OK ||
        b2i_chunk_head_parse(b2i_span_of(first, sizeof first), NULL, &head, NULL) != B2C_OK) {
        return 0;
    }
    uint64_t n = b2i_record_extent(b2i_span_of(record, sizeof record), &head, entry);
    bool is_ours = entry >= f->first_end;
    return is_ours || cbytes + n <= f->first_end - entry ? n : 0;
}

void b2i_file_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes)
{
    b2i_file_store *f = (b2i_file_store *)store;
    uint64_t n = record_len(f, entry, cbytes);
    if (n > 0 || entry >= f->first_end) {
        b2i_file_add_free(f, entry, cbytes + n);
    } else {
        f->dead += cbytes; /* others may have let two entries name it */
    }
}

static int compare_places(const void *a, const void *b)
{
    const b2i_extent *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static int compare_lengths(const void *a, const void *b)
{
    const b2i_extent *x = a, *y = b;
    return (x->n < y->n) - (x->n > y->n);
}

/* Makes one of neighbours; when there are many all the same, the smallest are forgotten. */
static void merge(b2i_file_store *f)
{
    size_t n = 0;
    qsort(f->free, f->nfree, sizeof *f->free, compare_places);
    for (size_t i = 1; i < f->nfree; i++) {
        b2i_extent *last = &f->free[n], e = f->free[i];
        if (last->at + last->n == e.at) {
            last->n += e.n;
            last->commit_no = e.commit_no > last->commit_no ? e.commit_no : last->commit_no;
        } else {
            f->free[++n] = e;
        }
    }
    f->nfree = f->nfree == 0 ? 0 : n + 1;
    if (f->nfree > MAX_EXTENTS / 2) {
        qsort(f->free, f->nfree, sizeof *f->free, compare_lengths);
        f->nfree = MAX_EXTENTS / 2;
    }
}

static int compare_extents(const void *a, const void *b)
{
    const b2i_extent *const *x = a, *const *y = b;
    return ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

/* Of n extents in the order of their places the one that holds an entry loses its room. */
static void forget_place(b2i_extent **v, size_t n, b2i_entry entry)
{
    size_t lo = 0, hi = n; /* the first one behind the entry */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid]->at > entry) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    if (lo > 0 && entry - v[lo - 1]->at < v[lo - 1]->n) {
        v[lo - 1]->n = 0;
    }
}

/*
 * An index may name a chunk twice: what one entry has dropped is still the other one's.  Records of
 * others may claim to reach over chunks behind them: room that these have dropped is free once.
 */
static void forget_shared(b2i_file_store *f, const b2i_state *now)
{
    size_t n = 0;
    b2i_extent **v = f->nfree == 0 ? NULL : b2i_malloc(f->nfree * sizeof(b2i_extent *));
    for (size_t i = 0; i < f->nfree; i++) {
        if (f->free[i].n > 0 && f->free[i].commit_no == NOT_COMMITTED) {
            if (v == NULL) {
                f->free[i].n = 0; /* without memory the room stays unused */
            } else {
                v[n++] = &f->free[i];
            }
        }
    }
    if (n > 0) {
        qsort(v, n, sizeof(b2i_extent *), compare_extents);
        for (size_t i = 1; i < n; i++) {
            bool is_over = v[i]->at - v[i - 1]->at < v[i - 1]->n;
            v[i - 1]->n = is_over ? 0 : v[i - 1]->n;
        }
        for (size_t i = 0; i < f->nfree; i++) {
            if (f->free[i].n > 0 && f->free[i].commit_no != NOT_COMMITTED) {
                forget_place(v, n, f->free[i].at);
            }
        }
        for (uint64_t i = 0; i < now->nchunks; i++) {
            b2i_entry e = b2i_state_entry(now, i);
            if (!b2i_is_special(e)) {
                forget_place(v, n, e);
            }
        }
    }
    b2i_free(v);
}

void b2i_file_stamp_free(b2i_file_store *f, const b2i_state *now)
{
    size_t n = 0;
    forget_shared(f, now);
    if (f->pointers_len > 0) {
        b2i_file_add_free(f, f->pointers_at, f->pointers_len);
        f->pointers_len = 0;
    }
    for (size_t i = 0; i < f->nfree; i++) {
        if (f->free[i].n == 0) {
            continue;
        }
        f->free[n] = f->free[i];
        if (f->free[n].commit_no == NOT_COMMITTED) {
            f->free[n].commit_no = f->commit_no;
        }
        n++;
    }
    f->nfree = n;
    if (n > MAX_EXTENTS * 3 / 4) {
        merge(f);
    }
}
