/*
 * open.c: opens super-chunks: chooses the store that keeps them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "legacy.h"
#include "lock.h"
#include "unborn.h"

#include <errno.h>

/* A writer may commit while a reader looks: how often the reader starts again. */
enum { MAX_RETRIES = 10 };

#define B2I_OPEN_ACCESS 3 /* the bits of the mode that are no flags */

/* What a store of any kind still needs after header, index and trailer are known. */
static b2c_status finish(b2c_schunk *s, b2c_error *err)
{
    s->store->checksums = true;
    s->store->verifies = true;
    s->store->durability = B2C_DURABILITY_PROCESS;
    s->store->max_open_files = s->limits.max_open_files;
    s->now.max_listed = b2i_index_room_of(&s->limits, s->now.nchunks, s->store->frame_len).max;
    if (s->now.chunksize == B2I_CHUNKSIZE_VAR) {
        B2I_TRY(b2i_state_make_ends(&s->now, err));
        B2I_TRY(b2i_schunk_load_sizes(s, err));
    }
    if (s->is_legacy) {
        return b2i_legacy_settle(s, err);
    }
    bool was_known = s->now.has_places;
    B2I_TRY(s->store->ops->recover == NULL ? B2C_OK : s->store->ops->recover(s->store, s, err));
    /* What a writer that was killed has left may name chunks, too. */
    return was_known && !s->now.has_places ? b2i_places_check(&s->now, true, NULL, err) : B2C_OK;
}

/*
 * Whether a commit came while s was being opened with this status, and what was read may be of
 * several states, or not there any more: sizes and records that are with the chunks.
 */
static bool is_mixed(const b2c_schunk *s, b2c_status st)
{
    bool is_open = st == B2C_OK &&
                   (s->store->storage == B2C_STORAGE_DIR || s->now.chunksize == B2I_CHUNKSIZE_VAR);
    return (b2i_is_bad_data(st) || is_open) && !s->store->ops->is_current(s->store);
}

/*
 * Ends opening s, whose store was made with this status; s is freed when anything fails.  mixed
 * is NULL when nobody else can change the frame.
 */
static b2c_status give(b2c_schunk *s, b2c_status st, bool *mixed, b2c_schunk **out, b2c_error *err)
{
    if (st == B2C_OK) {
        st = finish(s, err);
        if (mixed != NULL) {
            *mixed = is_mixed(s, st);
        }
    }
    if (st != B2C_OK) {
        b2i_schunk_abandon(s);
        return st;
    }
    *out = s;
    return B2C_OK;
}

/*
 * b2i_frame_load() again and again while it fails and the header was another
 * one before and after: it read a header and a trailer of different commits.
 * Once more in any case of a file: headers of different commits may be the same.
 */
static b2c_status load(b2i_io *io, uint64_t origin, bool exact, uint8_t frame_type,
                       const b2c_limits *limits, b2c_schunk **out, b2i_frame_layout *layout,
                       b2c_error *err)
{
    for (int i = 0;; i++) {
        uint8_t after[sizeof layout->mark.head];
        b2c_schunk *s;
        B2I_TRY(b2i_schunk_alloc(limits, &s, err));
        b2c_status st = b2i_frame_load(io, origin, exact, frame_type, s, layout, err);
        if (st == B2C_OK) {
            *out = s;
            return B2C_OK;
        }
        b2i_state_free(&s->now);
        b2i_free(s);
        size_t n = layout->mark.head_len;
        bool is_same = io->ops->read(io, origin, after, n, NULL) != B2C_OK ||
                       memcmp(layout->mark.head, after, n) == 0;
        if (i == MAX_RETRIES || (is_same && (i > 0 || io->ops->fd == NULL))) {
            return st;
        }
    }
}

static b2c_status refuse_legacy(const b2c_schunk *s, bool is_writable, b2c_error *err)
{
    if (s->is_legacy && is_writable) {
        return b2i_fail_field(err, B2C_E_READ_ONLY, 0, "layout",
                              "a frame of 2019-2021 (legacy layout) can only be read; convert it");
    }
    return B2C_OK;
}

/* A contiguous frame in io, which is taken also when this fails. */
static b2c_status open_contiguous(b2i_io *io, const char *path, uint64_t origin, bool exact,
                                  bool is_writable, const b2c_limits *limits, bool *mixed,
                                  b2c_schunk **out, b2c_error *err)
{
    b2c_schunk *s = NULL;
    b2i_frame_layout layout;
    b2c_status st = load(io, origin, exact, B2I_FRAME_CONTIGUOUS, limits, &s, &layout, err);
    if (st == B2C_OK) {
        st = refuse_legacy(s, is_writable, err);
    }
    if (st != B2C_OK) {
        (void)io->ops->close(io, NULL);
        if (s != NULL) {
            b2i_schunk_abandon(s);
        }
        return st;
    }
    st = b2i_store_file_new(io, path, origin, is_writable, &layout, &s->store, err);
    return give(s, st, mixed, out, err);
}

/* What a process left beside a directory that was about to make another one of it. */
static void tidy_beside(const char *dir)
{
    char *path, *place;
    if (b2i_unborn_place(dir, &path, &place, NULL) == B2C_OK) {
        (void)b2i_unborn_clear(place, false, NULL);
        b2i_free(place);
        b2i_free(path);
    }
}

static b2c_status open_dir(const char *path, int mode, const b2c_limits *limits, bool *mixed,
                           b2c_schunk **out, b2c_error *err)
{
    bool is_writable = (mode & B2I_OPEN_ACCESS) == B2C_OPEN_UPDATE;
    int dir;
    b2i_io *io;
    b2c_schunk *s = NULL;
    b2i_frame_layout layout;
    B2I_TRY(b2i_fs_dir_open(path, &dir, err));
    b2c_status st = b2i_store_dir_open_index(dir, &io, err);
    if (st == B2C_OK) {
        st = load(io, 0, false, B2I_FRAME_SPARSE, limits, &s, &layout, err);
        (void)io->ops->close(io, NULL);
    }
    if (st == B2C_OK) {
        st = refuse_legacy(s, is_writable, err);
    }
    if (st != B2C_OK) {
        b2i_fs_dir_close(dir);
        if (s != NULL) {
            b2i_schunk_abandon(s);
        }
        return st;
    }
    st = b2i_store_dir_new(dir, is_writable, &layout, &s->store, err);
    if (st == B2C_OK) {
        s->store->is_locked = (mode & B2C_OPEN_LOCK) != 0;
    }
    if (st == B2C_OK && is_writable) {
        tidy_beside(path);
    }
    return give(s, st, mixed, out, err);
}

static b2c_status open_once(const char *path, bool is_dir, uint64_t offset, int mode,
                            const b2c_limits *limits, bool *mixed, b2c_schunk **out, b2c_error *err)
{
    bool is_writable = (mode & B2I_OPEN_ACCESS) == B2C_OPEN_UPDATE;
    int io_mode = is_writable ? B2I_IO_UPDATE : B2I_IO_READ;
    b2i_io *io;
    if (is_dir) {
        return open_dir(path, mode, limits, mixed, out, err);
    }
    if ((mode & B2C_OPEN_MMAP) != 0) {
        B2I_TRY(b2i_io_mmap_open(path, io_mode, &io, err));
    } else {
        B2I_TRY(b2i_io_file_open(path, io_mode, &io, err));
    }
    return open_contiguous(io, path, offset, false, is_writable, limits, mixed, out, err);
}

/*
 * A commit while the frame is being opened for reading may leave chunks that the index does not
 * name any more without their sizes, and those of a directory without the records that follow it: a
 * state that is older than others have seen.  It is opened again then, so often that only a writer
 * who does nothing else could be in the way each time.
 */
static b2c_status open_unlocked(const char *path, bool is_dir, uint64_t offset, int mode,
                                const b2c_limits *limits, b2c_schunk **out, b2c_error *err)
{
    enum { MAX_TRIES = 16 };
    bool is_writable = (mode & B2I_OPEN_ACCESS) == B2C_OPEN_UPDATE;
    for (int i = 1;; i++) {
        bool mixed = false;
        b2c_schunk *s = NULL;
        b2c_status st =
            open_once(path, is_dir, offset, mode, limits, is_writable ? NULL : &mixed, &s, err);
        if (mixed && i < MAX_TRIES) {
            if (st == B2C_OK) {
                b2i_schunk_abandon(s);
            }
            continue;
        }
        if (st == B2C_OK) {
            *out = s;
        }
        return st;
    }
}

/* What is to be read at a path; most often a file, which need not be asked for what it is. */
static b2c_status open_to_read(const char *path, int mode, const b2c_limits *limits,
                               b2c_schunk **out, b2c_error *err)
{
    b2c_error why;
    b2c_status st = open_unlocked(path, false, 0, mode, limits, out, &why);
    if (st == B2C_E_IO && why.sys_errno == EISDIR) {
        return open_unlocked(path, true, 0, mode, limits, out, err);
    }
    if (st != B2C_OK && err != NULL) {
        *err = why;
    }
    return st;
}

/* Lets an open frame be changed in memory. */
static b2c_status overlay(b2c_schunk *s, b2c_error *err)
{
    b2i_store *store;
    B2I_TRY(b2i_store_overlay_new(s->store, &store, err));
    s->store = store;
    return B2C_OK;
}

b2c_status b2i_schunk_keep_origin(b2c_schunk *s, const char *path, uint64_t offset, int mode,
                                  b2c_error *err)
{
    char *real = NULL;
    s->offset = offset;
    s->mode = mode;
    if ((mode & B2I_OPEN_ACCESS) == B2C_OPEN_UPDATE || (mode & B2C_OPEN_LOCK) != 0) {
        B2I_TRY(b2i_fs_real_path(path, &real, err));
    }
    b2c_status st = b2i_fs_absolute_path(real == NULL ? path : real, &s->path, err);
    b2i_free(real);
    return st;
}

/* Opens while nobody who asks for the lock changes the frame. */
static b2c_status open_locked(const char *path, bool is_dir, uint64_t offset, int mode,
                              const b2c_limits *limits, b2c_schunk **out, b2c_error *err)
{
    bool is_writable = (mode & B2I_OPEN_ACCESS) == B2C_OPEN_UPDATE, changed = false;
    b2i_lock *lock;
    b2c_schunk *s = NULL;
    B2I_TRY(b2i_lock_open(path, is_dir, is_writable, &lock, err));
    b2c_status st = lock == NULL ? B2C_OK : b2i_lock_take(lock, is_writable, &changed, err);
    if (st == B2C_OK) {
        st = open_unlocked(path, is_dir, offset, mode, limits, &s, err);
    }
    if (st != B2C_OK) {
        b2i_lock_close(lock);
        return st;
    }
    s->lock = lock;
    st = b2i_schunk_keep_origin(s, path, offset, mode, err);
    if (lock != NULL) {
        b2i_lock_seen(lock);
        st = b2i_schunk_unlock(s, st, err);
    }
    if (st != B2C_OK) {
        b2i_schunk_abandon(s);
        return st;
    }
    *out = s;
    return B2C_OK;
}

b2c_status b2i_schunk_reopen(const b2c_schunk *s, b2c_schunk **out, b2c_error *err)
{
    bool is_dir = s->store->storage == B2C_STORAGE_DIR;
    if (s->store->is_unborn) {
        return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                        "somebody else has written to the path of the new frame");
    }
    B2I_TRY(open_unlocked(s->path, is_dir, s->offset, s->mode, &s->limits, out, err));
    b2i_store *store = (*out)->store;
    store->checksums = s->store->checksums;
    store->verifies = s->store->verifies;
    store->durability = s->store->durability;
    store->is_named = s->store->is_named && store->ops->is_same(store, s->store);
    store->failed = s->store->failed;
    return B2C_OK;
}

b2c_status b2i_schunk_open_path(const char *path, uint64_t offset, int mode,
                                const b2c_limits *limits, b2c_schunk **out, b2c_error *err)
{
    int access = mode & B2I_OPEN_ACCESS;
    bool only_reads = offset == 0 && access != B2C_OPEN_UPDATE && (mode & B2C_OPEN_LOCK) == 0;
    bool is_dir = false;
    b2c_schunk *s;
    B2I_TRY(only_reads ? B2C_OK : b2i_fs_is_dir(path, &is_dir, err));
    if (offset != 0 && (is_dir || access == B2C_OPEN_UPDATE)) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "offset",
                              is_dir ? "a directory has no offset"
                                     : "a frame inside another file cannot be changed");
    }
    if (access == B2C_OPEN_COPY && (mode & B2C_OPEN_LOCK) != 0) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "mode",
                              "what is opened as a copy cannot follow the changes of others");
    }
    if ((mode & B2C_OPEN_LOCK) != 0) {
        return open_locked(path, is_dir, offset, mode, limits, out, err);
    }
    B2I_TRY(only_reads ? open_to_read(path, mode, limits, &s, err)
                       : open_unlocked(path, is_dir, offset, mode, limits, &s, err));
    b2c_status st = access == B2C_OPEN_COPY ? overlay(s, err)
                                            : b2i_schunk_keep_origin(s, path, offset, mode, err);
    if (st != B2C_OK) {
        b2i_schunk_abandon(s);
        return st;
    }
    *out = s;
    return B2C_OK;
}

b2c_status b2i_schunk_open_io(const b2c_io_table *table, uint64_t offset, const b2c_limits *limits,
                              b2c_schunk **out, b2c_error *err)
{
    b2i_io *io;
    B2I_TRY(b2i_io_user_open(table, &io, err));
    return open_contiguous(io, NULL, offset, false, false, limits, NULL, out, err);
}

b2c_status b2i_schunk_open_bytes(b2i_span frame, bool copy, const b2c_limits *limits,
                                 b2c_schunk **out, b2c_error *err)
{
    b2i_io *io;
    if (!copy) {
        B2I_TRY(b2i_io_mem_open(frame, &io, err));
    } else {
        uint8_t *p = b2i_malloc(frame.n);
        if (p == NULL) {
            return b2i_fail_memory(err);
        }
        if (frame.n > 0) {
            memcpy(p, frame.p, frame.n);
        }
        B2I_TRY(b2i_io_mem_take(p, frame.n, &io, err));
    }
    b2c_schunk *s = NULL;
    b2c_status st = open_contiguous(io, NULL, 0, true, false, limits, NULL, &s, err);
    if (st == B2C_OK && copy) {
        st = overlay(s, err); /* what it owns it may change */
    }
    if (st != B2C_OK) {
        if (s != NULL) {
            b2i_schunk_abandon(s);
        }
        return st;
    }
    *out = s;
    return B2C_OK;
}
