/*
 * store_dir_write.c: a sparse frame in a directory: adding chunks, commits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_dir.h"
#include "lock.h"
#include "unborn.h"

#include <errno.h>
#include <stdlib.h>

static bool syncs(const b2i_dir_store *d)
{
    return d->base.durability == B2C_DURABILITY_COMMIT;
}

static b2c_status fail_conflict(b2c_error *err)
{
    return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                    "somebody else has written to the directory since it was opened here");
}

/* Before anything is written that no index names: those who open the directory leave it alone. */
static b2c_status claim(b2i_dir_store *d, b2c_error *err)
{
    d->is_claimed = d->is_claimed || b2i_fs_share(d->dir);
    return d->is_claimed ? B2C_OK
                         : b2i_fail(err, B2C_E_LOCKED, B2C_NO_OFFSET,
                                    "somebody else opens the directory for writing, and has not "
                                    "removed yet what a killed writer has left there");
}

b2c_status b2i_dir_look(const b2i_dir_store *d, uint64_t number, b2i_kind *kind, b2c_error *err)
{
    char name[B2I_DIR_NAME_LEN + 1];
    b2i_at_path there = { .kind = B2I_NOTHING };
    b2i_dir_name(number, name);
    if (number <= B2I_DIR_MAX_NUMBER) {
        B2I_TRY(b2i_fs_look(d->dir, name, &there, err));
    }
    *kind = there.kind;
    return B2C_OK;
}

/*
 * Before a commit: whether the index is the one that this writer read or committed, the chunk files
 * that it is to name are there, and nobody has added the next one, which would be forgotten.
 */
static b2c_status check_ours(const b2i_dir_store *d, b2c_error *err)
{
    b2i_io *io;
    bool is;
    B2I_TRY(b2i_store_dir_open_index(d->dir, &io, err));
    b2c_status st = b2i_frame_mark_check(io, 0, &d->mark, &is, err);
    (void)io->ops->close(io, NULL);
    B2I_TRY(st);
    for (uint64_t i = d->committed_next; is && i <= d->next; i++) {
        b2i_kind kind;
        B2I_TRY(b2i_dir_look(d, i, &kind, err));
        is = (kind != B2I_NOTHING) == (i < d->next);
    }
    return is ? B2C_OK : fail_conflict(err);
}

static b2c_status write_chunk(const b2i_dir_store *d, b2i_io *io, b2i_span chunk, b2i_span redo,
                              b2c_error *err)
{
    B2I_TRY(io->ops->write(io, 0, chunk.p, chunk.n, err));
    if (d->base.checksums || redo.n > 0) {
        b2i_buf records = { 0 };
        b2c_status st = b2i_records_make(chunk, d->next, redo, !d->base.checksums, &records, err);
        if (st == B2C_OK) {
            st = io->ops->write(io, chunk.n, records.p, records.n, err);
        }
        b2i_buf_free(&records);
        B2I_TRY(st);
    }
    return syncs(d) ? io->ops->sync(io, err) : B2C_OK;
}

b2c_status b2i_dir_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                       b2c_error *err)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    uint8_t bytes[B2I_REDO_LEN];
    char name[B2I_DIR_NAME_LEN + 1];
    b2i_io *io;
    bool logs = redo->kind == B2I_REDO_APPEND && d->has_log && !syncs(d); /* that commits each */
    if (d->next > B2I_DIR_MAX_NUMBER) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                              "the directory has no more numbers for chunk files; a copy has",
                              B2I_DIR_MAX_NUMBER, d->next);
    }
    B2I_TRY(claim(d, err));
    b2i_dir_name(d->next, name);
    b2c_status st = b2i_io_file_open_in(d->dir, name, B2I_IO_CREATE, &io, err);
    if (st == B2C_E_EXISTS) { /* what killed writers had left was removed at opening */
        return fail_conflict(err);
    }
    B2I_TRY(st);
    b2i_redo_make(&d->log, redo, bytes);
    st = write_chunk(d, io, chunk, b2i_span_of(bytes, logs ? sizeof bytes : 0), err);
    b2c_status st2 = io->ops->close(io, st == B2C_OK ? err : NULL);
    st = st == B2C_OK ? st2 : st;
    if (st != B2C_OK) {
        (void)b2i_fs_remove(d->dir, name, NULL);
        return st;
    }
    d->unsynced += syncs(d) && d->unsynced == d->next;
    store->is_complete = store->is_complete && store->checksums;
    *entry = d->next++;
    d->was_logged = logs;
    d->log.seq += logs;
    d->pending += chunk.n;
    d->is_dirty = true;
    return B2C_OK;
}

void b2i_dir_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    (void)cbytes;
    if (d->ndropped == d->cap) {
        size_t cap = d->cap == 0 ? 16 : 2 * d->cap;
        uint64_t *v = b2i_realloc(d->dropped, cap * sizeof *v);
        if (v == NULL) {
            return; /* the next one who opens the directory for writing removes the file */
        }
        d->dropped = v;
        d->cap = cap;
    }
    d->dropped[d->ndropped++] = entry;
}

bool b2i_dir_remove(const b2i_dir_store *d, uint64_t number)
{
    char name[B2I_DIR_NAME_LEN + 1];
    b2i_dir_name(number, name);
    return b2i_fs_remove(d->dir, name, NULL) == B2C_OK;
}

/* ---- the medium ---- */

/* One takes milliseconds, also when it is on the medium already; so does the whole file system. */
enum { MAX_SYNCS = 16 };

static b2c_status sync_file(const b2i_dir_store *d, const char *name, b2c_error *err)
{
    b2i_io *io;
    B2I_TRY(b2i_io_file_open_in(d->dir, name, B2I_IO_SYNC, &io, err));
    b2c_status st = io->ops->sync(io, err);
    b2c_status st2 = io->ops->close(io, st == B2C_OK ? err : NULL);
    return st == B2C_OK ? st2 : st;
}

static b2c_status sync_chunk(const b2i_dir_store *d, uint64_t number, b2c_error *err)
{
    char name[B2I_DIR_NAME_LEN + 1];
    b2i_kind kind;
    b2c_error why = { 0 };
    b2i_dir_name(number, name);
    b2c_status st = sync_file(d, name, &why);
    if (st != B2C_OK && b2i_dir_look(d, number, &kind, NULL) == B2C_OK && kind != B2I_REGULAR) {
        return B2C_OK; /* it was dropped, or no writer has put it there */
    }
    if (st != B2C_OK && err != NULL) {
        *err = why;
    }
    return st;
}

/* The chunk files that are there from this number on, whoever wrote them. */
static b2c_status sync_chunks(b2i_dir_store *d, uint64_t first, b2c_error *err)
{
    b2i_entry *there;
    size_t n, at = 0;
    bool done = false;
    B2I_TRY(b2i_store_dir_list(d->dir, &there, &n, err));
    while (at < n && there[at] < first) {
        at++;
    }
    b2c_status st = n - at > MAX_SYNCS ? b2i_fs_sync_all(d->dir, &done, err) : B2C_OK;
    for (; at < n && !done && st == B2C_OK; at++) {
        st = sync_chunk(d, there[at], err);
    }
    b2i_free(there);
    d->unsynced = st == B2C_OK ? d->next : d->unsynced;
    return st;
}

/* Those that this handle wrote when nobody asked for it. */
static b2c_status sync_own(b2i_dir_store *d, b2c_error *err)
{
    return d->unsynced < d->next ? sync_chunks(d, d->unsynced, err) : B2C_OK;
}

/* Once: whoever made the directory may not have done so. */
static b2c_status sync_name(b2i_dir_store *d, b2c_error *err)
{
    if (!d->base.is_named && !d->base.is_unborn) {
        B2I_TRY(b2i_fs_dir_parent_sync(d->dir, err));
        d->base.is_named = true;
    }
    return B2C_OK;
}

/* Puts all of a committed state on the medium, whose index may be somebody else's by now. */
static b2c_status sync_all(b2i_dir_store *d, b2c_error *err)
{
    if (!d->has_others) {
        B2I_TRY(sync_own(d, err)); /* which takes long, before the look at what others do */
    }
    if (d->has_others || check_ours(d, NULL) != B2C_OK) {
        B2I_TRY(sync_chunks(d, 0, err));
        d->has_others = false;
    }
    B2I_TRY(sync_file(d, B2I_DIR_INDEX_NAME, err));
    B2I_TRY(b2i_fs_dir_sync(d->dir, err));
    return b2i_fs_dir_parent_sync(d->dir, err);
}

/* ---- commits ---- */

/* A new file: what has the name may have others, as that of a chunk. */
static b2c_status open_tmp(int dir, b2i_io **io, b2c_error *err)
{
    b2c_status st = b2i_io_file_open_in(dir, B2I_DIR_INDEX_TMP, B2I_IO_CREATE, io, err);
    if (st != B2C_E_EXISTS) {
        return st;
    }
    if (b2i_fs_remove(dir, B2I_DIR_INDEX_TMP, NULL) != B2C_OK) {
        return b2i_fs_fail_left(err, errno,
                                "what has the name of the new index (" B2I_DIR_INDEX_TMP
                                ") cannot be removed");
    }
    return b2i_io_file_open_in(dir, B2I_DIR_INDEX_TMP, B2I_IO_CREATE, io, err);
}

static b2c_status write_tmp(int dir, const b2i_span *parts, size_t nparts, bool seal,
                            b2c_error *err)
{
    b2i_io *io;
    uint64_t at = 0;
    b2c_status st = B2C_OK;
    B2I_TRY(open_tmp(dir, &io, err));
    for (size_t i = 0; i < nparts && st == B2C_OK; i++) {
        st = io->ops->write(io, at, parts[i].p, parts[i].n, err);
        at += parts[i].n;
    }
    if (st == B2C_OK && seal) {
        st = io->ops->sync(io, err);
    }
    b2c_status st2 = io->ops->close(io, st == B2C_OK ? err : NULL);
    return st == B2C_OK ? st2 : st;
}

/* Puts a new file of these parts in the place of another one; seal: it is on the medium before. */
static b2c_status replace_file(int dir, const char *name, const b2i_span *parts, size_t nparts,
                               bool seal, b2c_error *err)
{
    b2c_status st = write_tmp(dir, parts, nparts, seal, err);
    if (st == B2C_OK && seal) {
        st = b2i_fs_dir_sync(dir, err); /* names of chunk files before the name of the index */
    }
    if (st == B2C_OK) {
        st = b2i_fs_rename(dir, B2I_DIR_INDEX_TMP, name, err);
    }
    if (st != B2C_OK) {
        (void)b2i_fs_remove(dir, B2I_DIR_INDEX_TMP, NULL);
    }
    return st;
}

/*
 * The size of all chunk files.  The reference library takes numbers of chunk files
 * for offsets below it, which they are not after many were deleted: it is made large enough.
 */
static uint64_t stored_size(const b2i_state *now)
{
    uint64_t n = now->cbytes;
    for (uint64_t i = 0; now->entries != NULL && i < now->nchunks; i++) {
        b2i_entry e = now->entries[i];
        if (!b2i_is_special(e) && e + B2C_HEADER_LEN > n) {
            n = e + B2C_HEADER_LEN;
        }
    }
    return n;
}

b2c_status b2i_dir_replace_index(int dir, const b2i_state *now, uint64_t next,
                                 const b2i_store *store, bool seal, b2i_frame_image *image,
                                 uint8_t record[B2I_DIR_RECORD_LEN], b2c_error *err)
{
    B2I_TRY(b2i_frame_encode(now, B2I_FRAME_SPARSE, image, err));
    b2i_frame_set_lengths(image->header.p, image->header.n + image->tail.n, stored_size(now));
    uint8_t fingerprint[B2I_FINGERPRINT_LEN];
    if (store->checksums) {
        b2i_frame_seal(image, store->is_complete);
    }
    b2i_frame_image_fingerprint(image, store->checksums, fingerprint);
    b2i_dir_record_make(next, fingerprint, record);
    const b2i_span parts[] = {
        { image->header.p, image->header.n },
        { image->tail.p, image->tail.n },
        { record, B2I_DIR_RECORD_LEN },
    };
    B2I_TRY(replace_file(dir, B2I_DIR_INDEX_NAME, parts, 3, seal, err));
    return seal ? b2i_fs_dir_sync(dir, err) : B2C_OK;
}

/* The chunk without its record gets a new file: the old one may have other names. */
static b2c_status forget_record(b2i_store *store, b2i_entry entry, b2i_span chunk, b2c_error *err)
{
    char name[B2I_DIR_NAME_LEN + 1];
    b2i_dir_name(entry, name);
    return replace_file(((const b2i_dir_store *)store)->dir, name, &chunk, 1, true, err);
}

/* Numbers of chunk files have 32 bits. */
#define NEEDED ((uint64_t)1 << 63)

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a & ~NEEDED, y = *(const uint64_t *)b & ~NEEDED;
    return (x > y) - (x < y);
}

/* Removes what was dropped, unless another entry of the index names the file as well. */
static void remove_dropped(b2i_dir_store *d, const b2i_state *now)
{
    size_t n = 0;
    if (d->ndropped > 0) {
        qsort(d->dropped, d->ndropped, sizeof *d->dropped, compare_numbers);
    }
    for (size_t i = 0; i < d->ndropped; i++) {
        if (n == 0 || d->dropped[n - 1] != d->dropped[i]) {
            d->dropped[n++] = d->dropped[i];
        }
    }
    d->ndropped = n;
    for (uint64_t i = 0; d->ndropped > 0 && i < now->nchunks; i++) {
        uint64_t e = b2i_state_entry(now, i);
        uint64_t *p = b2i_is_special(e) ? NULL
                                        : bsearch(&e, d->dropped, d->ndropped, sizeof *d->dropped,
                                                  compare_numbers);
        if (p != NULL) {
            *p |= NEEDED;
        }
    }
    for (size_t i = 0; i < d->ndropped; i++) {
        if ((d->dropped[i] & NEEDED) == 0) {
            (void)b2i_dir_remove(d, d->dropped[i]);
        }
    }
    d->ndropped = 0;
}

/* The commit that has just become the current one. */
static void committed(b2i_dir_store *d, const b2i_state *now, const b2i_frame_image *image,
                      const uint8_t *record)
{
    b2i_frame_mark_make(b2i_span_of(image->header.p, image->header.n),
                        b2i_span_of(image->tail.p, image->tail.n), image->header.n + image->tail.n,
                        b2i_span_of(record, B2I_DIR_RECORD_LEN), &d->mark);
    d->committed_next = d->next;
    d->base.header_len = image->header.n;
    d->base.frame_len = image->header.n + image->tail.n;
    d->base.trailer_len = image->tail.n - image->index_len;
    remove_dropped(d, now);
    d->pending = 0;
    d->is_dirty = false;
}

/* The first commit of a new frame is complete. */
static b2c_status give_path(b2i_dir_store *d, b2c_schunk *s, bool seal, b2c_error *err)
{
    bool has_path;
    b2c_status st = b2i_unborn_give_path(d->place, d->path, &d->to_replace, seal, &has_path, err);
    if (has_path) {
        d->base.is_unborn = false;
        (void)b2i_fs_share(d->dir); /* so far nobody else was to come */
        if (s->lock != NULL) {
            b2i_lock_moved(s->lock);
        }
    }
    return st;
}

static b2c_status commit_now(b2i_dir_store *d, b2c_schunk *s, bool seal, b2c_error *err)
{
    uint8_t record[B2I_DIR_RECORD_LEN];
    b2i_frame_image image = { 0 };
    B2I_TRY(claim(d, err));
    if (seal) { /* which takes long, before the last look */
        B2I_TRY(sync_name(d, err));
        B2I_TRY(sync_own(d, err));
    }
    B2I_TRY(check_ours(d, err));
    if (d->base.checksums && !d->base.is_trusted) {
        B2I_TRY(b2i_records_settle(s, forget_record, err));
    }
    b2c_status st =
        b2i_dir_replace_index(d->dir, &s->now, d->next, &d->base, seal, &image, record, err);
    if (st == B2C_OK) {
        committed(d, &s->now, &image, record);
        b2i_dir_start_log(d, &s->now, record);
    }
    b2i_frame_image_free(&image);
    if (st == B2C_OK && d->base.is_unborn) {
        st = give_path(d, s, seal, err);
    }
    return st;
}

b2c_status b2i_dir_settle(b2i_dir_store *d, b2c_schunk *s, b2c_error *err)
{
    return commit_now(d, s, syncs(d), err);
}

/* Whether a commit may wait: because recovery finds the chunk. */
static bool may_wait(const b2i_dir_store *d, const b2c_schunk *s, b2i_commit_kind kind)
{
    if (d->base.durability == B2C_DURABILITY_NONE) {
        return true;
    }
    if (kind == B2I_COMMIT_NOW || syncs(d) || !d->was_logged) {
        return false;
    }
    return d->pending < b2i_max_pending(s->now.nchunks);
}

b2c_status b2i_dir_commit(b2i_store *store, b2c_schunk *s, b2i_commit_kind kind, b2c_error *err)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    if (kind == B2I_COMMIT_SHOW) {
        return d->is_dirty ? commit_now(d, s, syncs(d), err) : B2C_OK;
    }
    if (kind == B2I_COMMIT_FLUSH) {
        B2I_TRY(d->is_dirty || store->is_unborn ? commit_now(d, s, false, err) : B2C_OK);
        return sync_all(d, err);
    }
    d->is_dirty = true;
    d->pending += B2I_EDIT_PENDING;
    bool waits = may_wait(d, s, kind);
    if (!d->was_logged) {
        d->has_log = false; /* what follows could not be understood without this edit */
    }
    d->was_logged = false;
    return waits ? B2C_OK : commit_now(d, s, syncs(d), err);
}

void b2i_dir_begin(b2i_store *store)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    d->begin_next = d->next;
    d->begin_ndropped = d->ndropped;
    d->begin_dirty = d->is_dirty;
}

void b2i_dir_rollback(b2i_store *store)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    bool are_gone = true;
    for (uint64_t i = d->begin_next; i < d->next; i++) {
        are_gone = b2i_dir_remove(d, i) && are_gone;
    }
    if (are_gone) {
        d->next = d->begin_next;
        d->unsynced = d->unsynced < d->next ? d->unsynced : d->next;
    } else { /* their numbers cannot be used until the directory is opened again */
        d->committed_next = d->next;
        d->has_log = false;
    }
    d->ndropped = d->begin_ndropped;
    d->is_dirty = store->is_unborn ? d->begin_dirty : d->is_dirty; /* closed, it leaves nothing */
}
