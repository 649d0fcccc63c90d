/*
 * store_file_write.c: a contiguous frame in a file: adding chunks, commits, packing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
#include "checked.h"

#define MIN_RESERVE     ((uint64_t)1 << 20)   /* of the hole between chunks and slots */
#define MIN_PENDING     ((uint64_t)256 << 10) /* chunks that may wait for a commit */
#define SLOT_ALIGN      ((uint64_t)4096)
#define MAX_EXTENTS     ((size_t)4096)
#define NOT_COMMITTED   UINT64_MAX
#define REWRITE_MAX     ((uint64_t)1 << 20) /* frames up to this are rewritten to get rid of holes */
#define DRAFT_SUFFIX    ".b2new"
#define REWRITE_SUFFIX  ".b2tmp"
#define SPECIAL_PENDING 64 /* what an edit without payload counts for */

static bool syncs(const b2i_file_store *f)
{
    return f->base.durability == B2C_DURABILITY_COMMIT;
}

static b2c_status sync_if(const b2i_file_store *f, bool really, b2c_error *err)
{
    return really ? f->io->ops->sync(f->io, err) : B2C_OK;
}

static b2c_status write_at(const b2i_file_store *f, uint64_t at, const void *p, size_t n,
                           b2c_error *err)
{
    return f->io->ops->write(f->io, f->header_len + at, p, n, err);
}

enum { FLIP_FROM = 0x10 }; /* the first byte of a header that a commit may change */

/* Whether the header can become this one with a single write, which is done or not. */
static bool can_flip(const b2i_file_store *f, b2i_span header)
{
    const size_t n = B2I_FRAME_FLIP_LEN;
    return header.n == f->header_len && memcmp(header.p, f->header.p, FLIP_FROM) == 0 &&
           (header.n <= n || memcmp(header.p + n, f->header.p + n, header.n - n) == 0);
}

/* The one write that makes a commit the current one. */
static b2c_status flip(b2i_file_store *f, const uint8_t *header, size_t n, b2c_error *err)
{
    if (f->old_io != NULL) { /* a new file has no header yet */
        return f->io->ops->write(f->io, 0, header, n, err);
    }
    n = n > B2I_FRAME_FLIP_LEN ? B2I_FRAME_FLIP_LEN : n; /* can_flip(): the rest stays */
    return f->io->ops->write(f->io, FLIP_FROM, header + FLIP_FROM, n - FLIP_FROM, err);
}

/* ---- where index and trailer go ---- */

static uint64_t round_up(uint64_t n)
{
    return (n + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
}

/* A new region of slots behind everything, with a reserve for chunks before it. */
static void choose_region(b2i_file_store *f, uint64_t tail_len, uint64_t end)
{
    uint64_t behind = f->tail_at + f->tail_len + B2I_COMMIT_RECORD_LEN;
    if (f->is_unpacked) {
        behind = f->region_at + B2I_NSLOTS * f->slot_cap;
    }
    behind = behind > end ? behind : end;
    uint64_t reserve = behind / 8 > MIN_RESERVE ? behind / 8 : MIN_RESERVE;
    f->region_at = round_up(behind + reserve);
    f->slot_cap = round_up(2 * (tail_len + B2I_COMMIT_RECORD_LEN));
    f->slot = 0;
}

/* Index and trailer of the last commit as bytes. */
static b2c_status read_tail(const b2i_file_store *f, b2i_buf *out, b2c_error *err)
{
    size_t n;
    if (!b2i_u64_to_size(f->tail_len, &n) || !b2i_buf_reserve(out, n)) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(f->io->ops->read(f->io, f->header_len + f->tail_at, out->p, n, err));
    out->n = n;
    return B2C_OK;
}

/* Writes a tail with its commit record into the present slot; lengths in 'header' are set. */
static b2c_status write_slot(b2i_file_store *f, uint8_t *header, b2i_buf *tail, b2c_error *err)
{
    size_t n = tail->n;
    uint64_t at = f->region_at + f->slot * f->slot_cap;
    if (!b2i_buf_reserve(tail, B2I_COMMIT_RECORD_LEN)) {
        return b2i_fail_memory(err);
    }
    f->tail_at = at;
    f->tail_len = n;
    uint64_t frame_len = f->header_len + at + n;
    b2i_commit_record_make(f, frame_len, tail->p + n);
    b2i_frame_set_lengths(header, frame_len, f->nbytes == 0 ? 0 : at);
    return write_at(f, at, tail->p, n + B2I_COMMIT_RECORD_LEN, err);
}

/*
 * Moves the last commit's index and trailer out of the way of chunks that end
 * at 'end', without changing what they say.  What they covered is free then.
 */
static b2c_status move_tail(b2i_file_store *f, uint64_t end, b2c_error *err)
{
    b2i_buf tail = { 0 };
    b2c_status st = read_tail(f, &tail, err);
    if (st == B2C_OK) {
        choose_region(f, f->tail_len, end);
        st = write_slot(f, f->header.p, &tail, err);
    }
    b2i_buf_free(&tail);
    B2I_TRY(st);
    B2I_TRY(sync_if(f, syncs(f), err));
    B2I_TRY(flip(f, f->header.p, f->header.n, err));
    B2I_TRY(sync_if(f, syncs(f), err));
    f->is_unpacked = true;
    f->base.frame_len = f->header_len + f->tail_at + f->tail_len;
    return B2C_OK;
}

/* ---- drafts ---- */

/* The path of the frame with a suffix; to be freed. */
static char *beside(const b2i_file_store *f, const char *suffix)
{
    size_t n = strlen(f->path), m = strlen(suffix) + 1;
    char *path = b2i_malloc(n + m);
    if (path != NULL) {
        memcpy(path, f->path, n);
        memcpy(path + n, suffix, m);
    }
    return path;
}

static b2c_status start_draft(b2i_file_store *f, uint64_t end, b2c_error *err)
{
    b2i_io *io;
    char *path = beside(f, DRAFT_SUFFIX);
    if (path == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = b2i_io_file_open(path, B2I_IO_REPLACE, &io, err);
    b2i_free(path);
    B2I_TRY(st);
    f->old_io = f->io;
    f->io = io;
    f->is_unpacked = true;
    f->region_at = 0;
    f->slot_cap = 0;
    choose_region(f, f->tail_len, end);
    f->chain_broken = true; /* there is no commit that a record could follow */
    return B2C_OK;
}

void b2i_file_drop_draft(b2i_file_store *f)
{
    if (f->old_io == NULL) {
        return;
    }
    (void)f->io->ops->close(f->io, NULL);
    f->io = f->old_io;
    f->old_io = NULL;
    f->is_unpacked = false;
    char *path = beside(f, DRAFT_SUFFIX);
    if (path != NULL) { /* else it stays until there is another one */
        (void)b2i_fs_remove(B2I_FS_CWD, path, NULL);
        b2i_free(path);
    }
}

/* Gives the file at 'from' the name of the frame. */
static b2c_status publish(const b2i_file_store *f, const char *from, bool seal, b2c_error *err)
{
    B2I_TRY(b2i_fs_copy_mode(f->path, from, err));
    B2I_TRY(b2i_fs_rename(B2I_FS_CWD, from, f->path, err));
    return seal ? b2i_fs_parent_sync(f->path, err) : B2C_OK;
}

static b2c_status publish_draft(b2i_file_store *f, bool seal, b2c_error *err)
{
    char *path = beside(f, DRAFT_SUFFIX);
    if (path == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = publish(f, path, seal, err);
    b2i_free(path);
    if (st == B2C_OK) {
        (void)f->old_io->ops->close(f->old_io, NULL); /* nobody needs it any more */
        f->old_io = NULL;
    }
    return st;
}

/* Makes room for chunks that end at 'end'. */
static b2c_status unpack(b2i_file_store *f, uint64_t end, b2c_error *err)
{
    if (f->old_io != NULL) {
        choose_region(f, f->tail_len, end);
        return B2C_OK;
    }
    return f->nbytes == 0 ? start_draft(f, end, err) : move_tail(f, end, err);
}

/* ---- chunks ---- */

/* Room that was dropped two commits ago or more, for n bytes. */
static b2i_extent *find_free(b2i_file_store *f, uint64_t n)
{
    for (size_t i = 0; i < f->nfree; i++) {
        b2i_extent *e = &f->free[i];
        if (e->n >= n && e->commit_no != NOT_COMMITTED && e->commit_no + 2 <= f->commit_no) {
            return e;
        }
    }
    return NULL;
}

/* logs: preferably behind 'end', where recovery looks for the chunks of uncommitted edits. */
static b2c_status choose_place(b2i_file_store *f, uint64_t need, bool logs, uint64_t *at,
                               b2c_error *err)
{
    b2i_extent *e = logs && f->dead <= f->end / 4 ? NULL : find_free(f, need);
    if (e != NULL) {
        *at = e->at;
        e->at += need;
        e->n -= need;
        f->dead -= need < f->dead ? need : f->dead;
        f->chain_broken = true;
        return B2C_OK;
    }
    uint64_t end;
    if (!b2i_add_u64(f->end, need, &end) || end > INT64_MAX / 4) {
        return b2i_fail(err, B2C_E_LIMIT, B2C_NO_OFFSET, "the file would become too large");
    }
    if (!f->is_unpacked || end > f->region_at) {
        B2I_TRY(unpack(f, end, err));
    }
    *at = f->end;
    f->end = end;
    return B2C_OK;
}

/* Whether a redo record for the edit would be understood. */
static bool can_log(const b2i_file_store *f, const b2i_redo *redo)
{
    return redo->kind != B2I_REDO_NONE && f->base.checksums && f->has_fingerprint &&
           !f->chain_broken && f->nbytes != 0;
}

b2c_status b2i_file_log(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    b2i_entry entry;
    if (!can_log(f, redo)) {
        f->chain_broken = true;
        return B2C_OK;
    }
    uint64_t end = f->end;
    B2I_TRY(b2i_file_put(store, chunk, redo, &entry, err));
    f->dead += f->end - end;
    return B2C_OK;
}

/* Writes a chunk and what follows it. */
static b2c_status write_chunk(b2i_file_store *f, b2i_span chunk, uint64_t at, b2i_span redo,
                              b2c_error *err)
{
    b2i_buf records = { 0 };
    b2c_status st = B2C_OK;
    if (f->base.checksums) {
        st = b2i_records_make(chunk, at, redo, &records, err);
    }
    if (st == B2C_OK) {
        st = write_at(f, at, chunk.p, chunk.n, err);
    }
    if (st == B2C_OK && records.n > 0) {
        st = write_at(f, at + chunk.n, records.p, records.n, err);
    }
    uint64_t end = at + chunk.n + records.n;
    f->limit = end > f->limit ? end : f->limit;
    b2i_buf_free(&records);
    return st;
}

b2c_status b2i_file_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                        b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    uint8_t bytes[B2I_REDO_LEN];
    b2i_chunk_head head;
    uint64_t at = 0;
    bool logs = can_log(f, redo);
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, &head, err));
    uint64_t need = chunk.n + (store->checksums ? b2i_records_len(&head) : 0);
    need += logs ? B2I_REDO_LEN : 0;
    B2I_TRY(choose_place(f, need, logs, &at, err));
    f->chain_broken = f->chain_broken || !logs;
    logs = !f->chain_broken; /* not in a place that was free before */
    if (logs) {
        b2i_redo_log log = b2i_file_redo_log(f);
        b2i_redo_make(&log, redo, bytes);
    }
    B2I_TRY(write_chunk(f, chunk, at, b2i_span_of(bytes, logs ? sizeof bytes : 0), err));
    if (logs) {
        f->was_logged = true;
        f->seq++;
    }
    store->is_complete = store->is_complete && store->checksums;
    f->pending += chunk.n;
    f->is_dirty = true;
    *entry = at;
    return B2C_OK;
}

void b2i_file_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes)
{
    b2i_file_store *f = (b2i_file_store *)store;
    f->dead += cbytes;
    if (f->nfree == f->free_cap && f->free_cap < MAX_EXTENTS) {
        size_t cap = f->free_cap == 0 ? 16 : 2 * f->free_cap;
        b2i_extent *v = b2i_realloc(f->free, cap * sizeof *v);
        if (v != NULL) {
            f->free = v;
            f->free_cap = cap;
        }
    }
    if (f->nfree < f->free_cap) {
        f->free[f->nfree++] = (b2i_extent){ entry, cbytes, NOT_COMMITTED };
    } /* else the room stays unused until the frame is rewritten */
}

/* What was dropped is now dropped by a commit; used-up extents go away. */
static void stamp_free(b2i_file_store *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->nfree; i++) {
        if (f->free[i].n < B2C_HEADER_LEN) {
            continue;
        }
        f->free[n] = f->free[i];
        if (f->free[n].commit_no == NOT_COMMITTED) {
            f->free[n].commit_no = f->commit_no;
        }
        n++;
    }
    f->nfree = n;
}

/* ---- commits ---- */

/* The commit that has just become the current one. */
static void committed(b2i_file_store *f, b2i_frame_image *image, const b2c_schunk *s)
{
    b2i_buf old = f->header;
    f->header = image->header;
    image->header = old;
    f->nbytes = s->now.nbytes;
    f->committed_end = f->end;
    f->commit_no++;
    f->pending = 0;
    f->seq = 0;
    f->is_dirty = false;
    f->chain_broken = false;
    f->base.frame_len = f->header_len + f->tail_at + f->tail_len;
    f->base.trailer_len = f->tail_len - image->index_len;
    stamp_free(f);
}

/* Overwrites the magic of a record. */
static b2c_status forget_record(b2i_store *store, b2i_entry entry, uint64_t cbytes, b2c_error *err)
{
    static const uint8_t zeros[4] = { 0 };
    return write_at((const b2i_file_store *)store, entry + cbytes, zeros, sizeof zeros, err);
}

static b2c_status make_image(b2i_file_store *f, b2c_schunk *s, b2i_frame_image *image,
                             b2c_error *err)
{
    if (f->base.checksums && !f->base.is_trusted) {
        B2I_TRY(b2i_records_settle(s, forget_record, err));
    }
    B2I_TRY(b2i_frame_encode(&s->now, B2I_FRAME_CONTIGUOUS, image, err));
    if (f->base.checksums) {
        b2i_frame_seal(image, f->base.is_complete);
    }
    return B2C_OK;
}

/* The fingerprint of the image counts from now on, also for its own commit record. */
static void take_fingerprint(b2i_file_store *f, const b2i_frame_image *image)
{
    f->has_fingerprint = f->base.checksums;
    memcpy(f->fingerprint, image->tail.p + image->tail.n - B2I_FINGERPRINT_LEN,
           B2I_FINGERPRINT_LEN);
}

static b2c_status rewrite(b2i_file_store *f, b2c_schunk *s, bool seal, b2c_error *err);

/* Writes the image to a slot and makes it the current one. */
static b2c_status flip_to_slot(b2i_file_store *f, b2c_schunk *s, b2i_frame_image *image, bool seal,
                               b2c_error *err)
{
    if (!f->is_unpacked) {
        B2I_TRY(unpack(f, f->end, err));
    }
    /* Chunks may soon cover the old slots: the header must not come back to them then. */
    bool moves = image->tail.n + B2I_COMMIT_RECORD_LEN > f->slot_cap;
    if (moves) {
        choose_region(f, image->tail.n, f->end);
    } else {
        f->slot = (f->slot + 1) % B2I_NSLOTS;
    }
    take_fingerprint(f, image);
    f->nbytes = s->now.nbytes;
    f->committed_end = f->end;
    B2I_TRY(write_slot(f, image->header.p, &image->tail, err));
    B2I_TRY(sync_if(f, seal || syncs(f), err));
    B2I_TRY(flip(f, image->header.p, image->header.n, err));
    B2I_TRY(sync_if(f, seal || syncs(f), err));
    if (f->old_io != NULL) {
        B2I_TRY(publish_draft(f, seal || syncs(f), err));
    }
    committed(f, image, s);
    return B2C_OK;
}

static b2c_status commit_slot(b2i_file_store *f, b2c_schunk *s, bool seal, b2c_error *err)
{
    b2i_frame_image image = { 0 };
    B2I_TRY(make_image(f, s, &image, err));
    bool is_new = s->now.nchunks == 0 || !can_flip(f, b2i_span_of(image.header.p, image.header.n));
    b2c_status st =
        is_new ? rewrite(f, s, seal || syncs(f), err) : flip_to_slot(f, s, &image, seal, err);
    b2i_frame_image_free(&image);
    return st;
}

/*
 * Whether a commit may wait: because recovery finds what the edit has stored.
 * Without checksums there is no recovery, and a writer that is killed loses its latest appends.
 */
static bool may_wait(b2i_file_store *f, const b2c_schunk *s, b2i_commit_kind kind)
{
    if (kind == B2I_COMMIT_FLUSH) {
        return false;
    }
    if (f->base.durability == B2C_DURABILITY_NONE) {
        return true;
    }
    if (f->nbytes == 0) {
        return false; /* the first chunks leave no records */
    }
    bool logged = f->was_logged && !f->chain_broken;
    if (kind == B2I_COMMIT_NOW || (!logged && (syncs(f) || f->base.checksums))) {
        return false;
    }
    uint64_t index_len = 32 * s->now.nchunks; /* several times the index itself */
    return f->pending < (index_len > MIN_PENDING ? index_len : MIN_PENDING);
}

b2c_status b2i_file_commit(b2i_store *store, b2c_schunk *s, b2i_commit_kind kind, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    if (kind != B2I_COMMIT_FLUSH) {
        f->is_dirty = true;
        f->pending += SPECIAL_PENDING;
    }
    bool waits = may_wait(f, s, kind);
    if (!f->was_logged) {
        f->chain_broken = true; /* what follows could not be understood without this edit */
    }
    f->was_logged = false;
    if (waits) {
        return sync_if(f, syncs(f), err);
    }
    if (kind != B2I_COMMIT_FLUSH) {
        return commit_slot(f, s, false, err);
    }
    B2I_TRY(f->is_dirty ? commit_slot(f, s, true, err) : f->io->ops->sync(f->io, err));
    return f->path == NULL ? B2C_OK : b2i_fs_parent_sync(f->path, err);
}

void b2i_file_begin(b2i_store *store)
{
    b2i_file_store *f = (b2i_file_store *)store;
    f->begin_nfree = f->nfree;
    f->begin_end = f->end;
}

void b2i_file_rollback(b2i_store *store)
{
    b2i_file_store *f = (b2i_file_store *)store;
    for (size_t i = f->begin_nfree; i < f->nfree; i++) {
        f->dead -= f->free[i].n < f->dead ? f->free[i].n : f->dead;
    }
    f->nfree = f->begin_nfree;
    f->end = f->begin_end;
    f->chain_broken = true; /* stale records may lie behind 'end' */
}

/* ---- packing and rewriting ---- */

static b2c_status write_packed(b2i_file_store *f, b2c_schunk *s, b2i_frame_image *image,
                               b2c_error *err)
{
    if (!f->is_unpacked || f->end + image->tail.n > f->region_at) {
        B2I_TRY(unpack(f, f->end + image->tail.n, err));
    }
    uint64_t frame_len = f->header_len + f->end + image->tail.n;
    b2i_frame_set_lengths(image->header.p, frame_len, f->end);
    B2I_TRY(write_at(f, f->end, image->tail.p, image->tail.n, err));
    B2I_TRY(sync_if(f, syncs(f), err));
    B2I_TRY(flip(f, image->header.p, image->header.n, err));
    B2I_TRY(sync_if(f, syncs(f), err));
    B2I_TRY(f->io->ops->truncate(f->io, frame_len, err));
    if (f->old_io != NULL) {
        B2I_TRY(publish_draft(f, syncs(f), err));
    }
    take_fingerprint(f, image);
    f->tail_at = f->end;
    f->tail_len = image->tail.n;
    f->is_unpacked = false;
    committed(f, image, s);
    return B2C_OK;
}

b2c_status b2i_file_pack(b2i_file_store *f, b2c_schunk *s, b2c_error *err)
{
    if (s->now.nchunks == 0) {
        return f->is_dirty || f->nbytes != 0 ? rewrite(f, s, syncs(f), err) : B2C_OK;
    }
    if (f->dead > 0 && (f->end <= REWRITE_MAX || f->dead > f->end / 4)) {
        b2c_status st = rewrite(f, s, syncs(f), err);
        if (st == B2C_OK || f->dead == 0) {
            return st;
        }
        /* No room for a second file, or a damaged chunk that cannot be copied: keep the holes. */
    }
    b2i_frame_image image = { 0 };
    B2I_TRY(make_image(f, s, &image, err));
    bool is_new = !can_flip(f, b2i_span_of(image.header.p, image.header.n));
    b2c_status st = is_new ? rewrite(f, s, syncs(f), err) : write_packed(f, s, &image, err);
    b2i_frame_image_free(&image);
    return st;
}

/* The frame without holes in a new file, which then gets the name of the old one. */
static b2c_status write_beside(b2i_file_store *f, const b2c_schunk *s, const b2i_frame_plan *plan,
                               bool seal, b2i_io **out, b2c_error *err)
{
    b2i_io *io;
    char *path = beside(f, REWRITE_SUFFIX);
    if (path == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = b2i_io_file_open(path, B2I_IO_REPLACE, &io, err);
    if (st == B2C_OK) {
        st = b2i_frame_emit(s, plan, f->base.checksums, io, err);
        if (st == B2C_OK && seal) {
            st = io->ops->sync(io, err);
        }
        if (st == B2C_OK) {
            st = publish(f, path, false, err);
        }
        if (st != B2C_OK) {
            (void)io->ops->close(io, NULL);
            (void)b2i_fs_remove(B2I_FS_CWD, path, NULL);
        }
    }
    b2i_free(path);
    if (st == B2C_OK) {
        *out = io;
    }
    return st;
}

/* Goes on with the rewritten file. */
static void adopt(b2i_file_store *f, b2c_schunk *s, b2i_frame_plan *plan, b2i_io *io)
{
    b2i_file_drop_draft(f);
    (void)f->io->ops->close(f->io, NULL); /* the old file has no name any more */
    f->io = io;
    f->header_len = plan->image.header.n;
    f->base.header_len = f->header_len;
    f->end = plan->payload_len;
    f->limit = plan->payload_len;
    f->tail_at = plan->payload_len;
    f->tail_len = plan->image.tail.n;
    f->is_unpacked = false;
    f->dead = 0;
    f->nfree = 0;
    f->base.is_trusted = f->base.checksums;
    f->base.is_complete = f->base.checksums;
    take_fingerprint(f, &plan->image);
    committed(f, &plan->image, s);
    if (s->now.nchunks > 0) {
        memcpy(s->now.entries, plan->entries, (size_t)s->now.nchunks * sizeof *plan->entries);
    }
}

static b2c_status rewrite(b2i_file_store *f, b2c_schunk *s, bool seal, b2c_error *err)
{
    b2i_frame_plan plan = { 0 };
    b2i_io *io = NULL;
    if (f->path == NULL) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                        "only a frame in a file of its own can be rewritten");
    }
    B2I_TRY(b2i_frame_plan_make(s, f->base.checksums, &plan, err));
    b2c_status st = write_beside(f, s, &plan, seal, &io, err);
    if (st == B2C_OK) {
        adopt(f, s, &plan, io);
        st = seal ? b2i_fs_parent_sync(f->path, err) : B2C_OK;
    }
    b2i_frame_plan_free(&plan);
    return st;
}

b2c_status b2i_file_compact(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    return rewrite(f, s, syncs(f), err);
}
