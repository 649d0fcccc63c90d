/*
 * store_file_write.c: a contiguous frame in a file: adding chunks, commits, packing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
#include "checked.h"

#define MIN_RESERVE ((uint64_t)1 << 20) /* of the hole between chunks and slots */
#define SLOT_ALIGN  ((uint64_t)4096)
#define REWRITE_MAX ((uint64_t)1 << 20) /* frames up to this are rewritten to get rid of holes */

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

/*
 * The one write that makes a commit the current one, in the place of 'old'.  When it fails, some of
 * its bytes may have been written: the old ones come back then, if that can be done.
 */
static b2c_status flip(b2i_file_store *f, const uint8_t *old, const uint8_t *header, size_t n,
                       b2c_error *err)
{
    const b2i_io_ops *ops = f->io->ops;
    if (f->old_io != NULL) { /* a new file has no header yet */
        return ops->write(f->io, 0, header, n, err);
    }
    n = n > B2I_FRAME_FLIP_LEN ? B2I_FRAME_FLIP_LEN : n; /* can_flip(): the rest stays */
    b2c_status st = ops->write(f->io, FLIP_FROM, header + FLIP_FROM, n - FLIP_FROM, err);
    if (st != B2C_OK) {
        (void)ops->write(f->io, FLIP_FROM, old + FLIP_FROM, n - FLIP_FROM, NULL);
    }
    return st;
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

/*
 * Index and trailer of the last commit as bytes, with the room that write_slot() needs: it can
 * fail in no way then that lets edits go on.
 */
static b2c_status read_tail(const b2i_file_store *f, b2i_buf *out, b2c_error *err)
{
    size_t n;
    if (!b2i_u64_to_size(f->tail_len, &n) || n > SIZE_MAX - B2I_COMMIT_RECORD_LEN ||
        !b2i_buf_reserve(out, n + B2I_COMMIT_RECORD_LEN)) {
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
    b2i_frame_mark_make(b2i_span_of(header, (size_t)f->header_len), b2i_span_of(tail->p, n),
                        frame_len, b2i_span_of(tail->p + n, B2I_COMMIT_RECORD_LEN), &f->mark);
    return write_at(f, at, tail->p, n + B2I_COMMIT_RECORD_LEN, err);
}

/* Makes the present slot, with what read_tail() gave, that of the last commit. */
static b2c_status repeat_commit(b2i_file_store *f, b2i_buf *tail, b2c_error *err)
{
    uint8_t old[B2I_FRAME_FLIP_LEN];
    memcpy(old, f->header.p, f->header.n < sizeof old ? f->header.n : sizeof old);
    B2I_TRY(write_slot(f, f->header.p, tail, err));
    B2I_TRY(sync_if(f, b2i_file_syncs(f), err));
    B2I_TRY(flip(f, old, f->header.p, f->header.n, err));
    f->base.frame_len = f->header_len + f->tail_at + f->tail_len;
    f->has_written = true;
    return B2C_OK;
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
        st = repeat_commit(f, &tail, err);
    }
    b2i_buf_free(&tail);
    B2I_TRY(st);
    B2I_TRY(sync_if(f, b2i_file_syncs(f), err));
    f->is_unpacked = true;
    return B2C_OK;
}

/* Makes room for chunks that end at 'end'. */
static b2c_status unpack(b2i_file_store *f, uint64_t end, b2c_error *err)
{
    if (f->old_io == NULL && f->nbytes != 0) {
        return move_tail(f, end, err);
    }
    if (f->old_io == NULL) {
        B2I_TRY(b2i_file_start_draft(f, err));
    }
    choose_region(f, f->tail_len, end);
    return B2C_OK;
}

/* ---- other writers ---- */

static b2c_status fail_conflict(b2c_error *err)
{
    return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                    "somebody else has written to the file since it was opened here");
}

/* For those who open the file as well, change nothing, and must not tidy up when they close it. */
static void claim(b2i_file_store *f)
{
    if (!f->has_written) {
        (void)b2i_fs_claim(f->io->ops->fd(f->io));
    }
}

/*
 * Whether the last commit is ours; cheap enough for every chunk.  Lengths do not tell: they may be
 * the same after three commits of others, as slots come round again.
 */
static b2c_status check_mark(const b2i_file_store *f, b2c_error *err)
{
    bool is;
    if (f->old_io != NULL) {
        return B2C_OK; /* nobody else writes to a draft */
    }
    B2I_TRY(b2i_frame_mark_check(f->io, 0, &f->mark, &is, err));
    return is ? B2C_OK : fail_conflict(err);
}

b2c_status b2i_file_check_ours(const b2i_file_store *f, b2c_error *err)
{
    b2i_io *io = f->old_io != NULL ? f->old_io : f->io;
    bool is_first = f->is_unpacked && !f->has_written && f->old_io == NULL;
    bool is = false, is_gone, has_more = false;
    if (f->base.is_unborn) {
        B2I_TRY(b2i_fs_is_still(&f->to_replace, f->path, &is, err));
        is_gone = !is;
    } else {
        B2I_TRY(b2i_io_is_replaced(io, f->path, &is_gone, err));
    }
    if (!is_gone) {
        B2I_TRY(b2i_frame_mark_check(io, 0, &f->mark, &is, err));
    }
    if (is && is_first) {
        B2I_TRY(b2i_file_has_more(f, &has_more, err));
    }
    return is && !has_more ? B2C_OK : fail_conflict(err);
}

/*
 * The first write to a frame that was left unpacked: the same commit in another slot.  Whoever
 * has opened it as well notices that its header is another one.
 */
static b2c_status show_up(b2i_file_store *f, b2c_error *err)
{
    b2i_buf tail = { 0 };
    b2c_status st = read_tail(f, &tail, err);
    if (st == B2C_OK) {
        f->slot = (f->slot + 1) % B2I_NSLOTS;
        st = repeat_commit(f, &tail, err);
    }
    b2i_buf_free(&tail);
    return st;
}

/* Before a chunk is written. */
static b2c_status begin_write(b2i_file_store *f, b2c_error *err)
{
    claim(f);
    B2I_TRY(f->has_written && f->is_unpacked ? check_mark(f, err) : b2i_file_check_ours(f, err));
    return f->is_unpacked && !f->has_written && f->old_io == NULL ? show_up(f, err) : B2C_OK;
}

/* ---- chunks ---- */

/* Room for n bytes behind all chunks, where recovery looks for those of uncommitted edits. */
static b2c_status extend(b2i_file_store *f, uint64_t n, uint64_t *at, b2c_error *err)
{
    uint64_t end;
    if (!b2i_add_u64(f->end, n, &end) || end > INT64_MAX / 4) {
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
    return redo->kind != B2I_REDO_NONE && f->has_fingerprint && !f->chain_broken && f->nbytes != 0;
}

/*
 * Writes a chunk and its records.  Without checksums as well: else the record of a chunk that was
 * at the same place before would pass for its own.
 */
static b2c_status write_chunk(b2i_file_store *f, b2i_span chunk, uint64_t at, b2i_span redo,
                              b2c_error *err)
{
    b2i_buf records = { 0 };
    b2c_status st = b2i_records_make(chunk, at, redo, !f->base.checksums, &records, err);
    if (st == B2C_OK) {
        st = write_at(f, at, chunk.p, chunk.n, err);
    }
    if (st == B2C_OK) {
        st = write_at(f, at + chunk.n, records.p, records.n, err);
    }
    uint64_t end = at + chunk.n + records.n;
    f->limit = end > f->limit ? end : f->limit;
    b2i_buf_free(&records);
    return st;
}

/* Writes a chunk of 'len' bytes with its records behind all others, followed by a redo record. */
static b2c_status log_chunk(b2i_file_store *f, b2i_span chunk, uint64_t len, const b2i_redo *redo,
                            uint64_t *at, b2c_error *err)
{
    uint8_t bytes[B2I_REDO_LEN];
    b2i_redo_log log = b2i_file_redo_log(f);
    b2i_redo_make(&log, redo, bytes);
    B2I_TRY(extend(f, len + sizeof bytes, at, err));
    B2I_TRY(write_chunk(f, chunk, *at, b2i_span_of(bytes, sizeof bytes), err));
    f->was_logged = true;
    f->seq++;
    return B2C_OK;
}

/* The same for a chunk in room that was used before: recovery finds a pointer to it. */
static b2c_status log_pointer(b2i_file_store *f, uint64_t place, b2i_span chunk,
                              const b2i_redo *redo, b2c_error *err)
{
    uint8_t bytes[B2I_POINTER_LEN];
    uint64_t at;
    b2i_redo_log log = b2i_file_redo_log(f);
    b2i_pointer_make(&log, redo, place, chunk, bytes);
    B2I_TRY(extend(f, sizeof bytes, &at, err));
    B2I_TRY(write_at(f, at, bytes, sizeof bytes, err));
    b2i_file_add_pointer(f, at);
    f->was_logged = true;
    f->seq++;
    return B2C_OK;
}

b2c_status b2i_file_log(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    b2i_chunk_head head;
    uint64_t at;
    if (!can_log(f, redo)) {
        f->chain_broken = true;
        return B2C_OK;
    }
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, &head, err));
    B2I_TRY(begin_write(f, err));
    uint64_t len = chunk.n + b2i_records_len(&head);
    b2c_status st = log_chunk(f, chunk, len, redo, &at, err);
    f->chain_broken = st != B2C_OK;
    B2I_TRY(st);
    b2i_file_add_free(f, at, len + B2I_REDO_LEN); /* nobody needs it after the next commit */
    return B2C_OK;
}

/* Writes a chunk of 'len' bytes with its records to where there is room; logs: recovery finds it.
 */
static b2c_status place_chunk(b2i_file_store *f, b2i_span chunk, uint64_t len, const b2i_redo *redo,
                              bool logs, uint64_t *at, b2c_error *err)
{
    *at = !logs || f->dead > f->end / 4 ? b2i_file_take_free(f, len) : B2I_NO_ROOM;
    if (*at == B2I_NO_ROOM && logs) {
        return log_chunk(f, chunk, len, redo, at, err);
    }
    if (*at == B2I_NO_ROOM) {
        B2I_TRY(extend(f, len, at, err));
    }
    B2I_TRY(write_chunk(f, chunk, *at, b2i_span_of(NULL, 0), err));
    return logs ? log_pointer(f, *at, chunk, redo, err) : B2C_OK;
}

b2c_status b2i_file_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                        b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    b2i_chunk_head head;
    uint64_t at;
    bool logs = can_log(f, redo);
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, &head, err));
    B2I_TRY(begin_write(f, err));
    uint64_t len = chunk.n + b2i_records_len(&head);
    b2c_status st = place_chunk(f, chunk, len, redo, logs, &at, err);
    /* What follows a chunk that recovery does not find, or half of one, would not be found. */
    f->chain_broken = f->chain_broken || !logs || st != B2C_OK;
    B2I_TRY(st);
    store->is_complete = store->is_complete && store->checksums;
    f->pending += chunk.n;
    f->is_dirty = true;
    *entry = at;
    return B2C_OK;
}

/* ---- commits ---- */

void b2i_file_committed(b2i_file_store *f, b2i_frame_image *image, const b2c_schunk *s)
{
    b2i_buf old = f->header;
    f->header = image->header;
    image->header = old;
    f->has_written = true;
    f->nbytes = s->now.nbytes;
    f->committed_end = f->end;
    f->commit_no++;
    f->pending = 0;
    f->seq = 0;
    f->is_dirty = false;
    f->chain_broken = false;
    f->base.frame_len = f->header_len + f->tail_at + f->tail_len;
    f->base.trailer_len = f->tail_len - image->index_len;
    b2i_file_stamp_free(f, &s->now);
}

/* Overwrites the magic of a record. */
static b2c_status forget_record(b2i_store *store, b2i_entry entry, b2i_span chunk, b2c_error *err)
{
    static const uint8_t zeros[4] = { 0 };
    return write_at((const b2i_file_store *)store, entry + chunk.n, zeros, sizeof zeros, err);
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

void b2i_file_take_fingerprint(b2i_file_store *f, const b2i_frame_image *image)
{
    f->has_fingerprint = true;
    b2i_frame_image_fingerprint(image, f->base.checksums, f->fingerprint);
}

/* Writes the image to a slot and makes it the current one. */
static b2c_status flip_to_slot(b2i_file_store *f, b2c_schunk *s, b2i_frame_image *image, bool syncs,
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
    b2i_file_take_fingerprint(f, image);
    f->nbytes = s->now.nbytes;
    f->committed_end = f->end;
    B2I_TRY(write_slot(f, image->header.p, &image->tail, err));
    B2I_TRY(sync_if(f, syncs, err));
    B2I_TRY(flip(f, f->header.p, image->header.p, image->header.n, err));
    B2I_TRY(sync_if(f, syncs, err));
    if (f->old_io != NULL) {
        B2I_TRY(b2i_file_publish_draft(f, syncs, err));
    }
    b2i_file_committed(f, image, s);
    return B2C_OK;
}

void b2i_file_mark_packed(b2i_file_store *f, const b2i_frame_image *image)
{
    b2i_frame_mark_make(b2i_span_of(image->header.p, image->header.n),
                        b2i_span_of(image->tail.p, image->tail.n),
                        f->header_len + f->tail_at + f->tail_len, b2i_span_of(NULL, 0), &f->mark);
}

/* What tells the next writer how much of the frame is dead room. */
static b2c_status write_dead(b2i_file_store *f, b2c_error *err)
{
    uint8_t bytes[B2I_DEAD_LEN];
    f->dead += sizeof bytes;
    b2i_file_dead_make(f->end, f->dead, bytes);
    B2I_TRY(write_at(f, f->end, bytes, sizeof bytes, err));
    f->end += sizeof bytes;
    return B2C_OK;
}

/* Index and trailer behind the chunks, and nothing behind them. */
static b2c_status write_packed(b2i_file_store *f, b2c_schunk *s, b2i_frame_image *image, bool syncs,
                               b2c_error *err)
{
    uint64_t end = f->end + B2I_DEAD_LEN + image->tail.n;
    if (!f->is_unpacked || end > f->region_at) {
        B2I_TRY(unpack(f, end, err));
    }
    if (f->dead > 0) {
        B2I_TRY(write_dead(f, err));
    }
    uint64_t frame_len = f->header_len + f->end + image->tail.n;
    b2i_frame_set_lengths(image->header.p, frame_len, f->end);
    B2I_TRY(write_at(f, f->end, image->tail.p, image->tail.n, err));
    B2I_TRY(sync_if(f, syncs, err));
    B2I_TRY(flip(f, f->header.p, image->header.p, image->header.n, err));
    B2I_TRY(sync_if(f, syncs, err));
    B2I_TRY(f->io->ops->truncate(f->io, frame_len, err));
    if (f->old_io != NULL) {
        B2I_TRY(b2i_file_publish_draft(f, syncs, err));
    }
    b2i_file_take_fingerprint(f, image);
    f->tail_at = f->end;
    f->tail_len = image->tail.n;
    f->is_unpacked = false;
    b2i_file_mark_packed(f, image);
    b2i_file_count_since(f);
    b2i_file_committed(f, image, s);
    f->has_written = false; /* its lengths do not tell a packed frame from another writer's */
    return B2C_OK;
}

static b2c_status commit(b2i_file_store *f, b2c_schunk *s, bool seal, b2c_error *err)
{
    const bool syncs = seal || b2i_file_syncs(f), is_first = f->base.is_unborn;
    b2i_frame_image image = { 0 };
    claim(f);
    B2I_TRY(b2i_file_check_ours(f, err));
    B2I_TRY(make_image(f, s, &image, err));
    bool is_new = s->now.nchunks == 0 || !can_flip(f, b2i_span_of(image.header.p, image.header.n));
    b2c_status st = is_new     ? b2i_file_rewrite(f, s, syncs, err)
                    : is_first ? write_packed(f, s, &image, syncs, err)
                               : flip_to_slot(f, s, &image, syncs, err);
    b2i_frame_image_free(&image);
    return st;
}

/* Whether a commit may wait: because recovery finds what the edit has stored. */
static bool may_wait(b2i_file_store *f, const b2c_schunk *s, b2i_commit_kind kind)
{
    if (kind == B2I_COMMIT_FLUSH) {
        return false;
    }
    if (f->base.durability == B2C_DURABILITY_NONE) {
        return true;
    }
    if (kind == B2I_COMMIT_NOW || !f->was_logged || f->chain_broken) {
        return false;
    }
    return f->pending < b2i_max_pending(s->now.nchunks);
}

b2c_status b2i_file_commit(b2i_store *store, b2c_schunk *s, b2i_commit_kind kind, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    if (kind == B2I_COMMIT_SHOW) {
        return f->is_dirty ? commit(f, s, false, err) : B2C_OK;
    }
    if (kind != B2I_COMMIT_FLUSH) {
        f->is_dirty = true;
        f->pending += B2I_EDIT_PENDING;
        B2I_TRY(b2i_file_syncs(f) ? b2i_file_sync_name(f, err) : B2C_OK);
    }
    bool waits = may_wait(f, s, kind);
    if (!f->was_logged) {
        f->chain_broken = true; /* what follows could not be understood without this edit */
    }
    f->was_logged = false;
    if (waits) {
        return sync_if(f, b2i_file_syncs(f), err);
    }
    if (kind != B2I_COMMIT_FLUSH) {
        return commit(f, s, false, err);
    }
    B2I_TRY(f->is_dirty || store->is_unborn ? commit(f, s, true, err)
                                            : f->io->ops->sync(f->io, err));
    return f->path == NULL ? B2C_OK : b2i_fs_parent_sync(f->path, err);
}

void b2i_file_begin(b2i_store *store)
{
    b2i_file_store *f = (b2i_file_store *)store;
    f->begin_nfree = f->nfree;
    f->begin_end = f->end;
    f->begin_dirty = f->is_dirty;
    f->begin_draft = f->old_io != NULL;
}

void b2i_file_rollback(b2i_store *store)
{
    b2i_file_store *f = (b2i_file_store *)store;
    for (size_t i = f->begin_nfree; i < f->nfree; i++) {
        f->dead -= f->free[i].n < f->dead ? f->free[i].n : f->dead;
    }
    f->nfree = f->begin_nfree;
    f->end = f->begin_end;
    if (!f->begin_draft) {
        b2i_file_drop_draft(f); /* else nobody but this writer could make one */
    }
    f->is_dirty = f->base.is_unborn ? f->begin_dirty : f->is_dirty; /* closed, it leaves nothing */
    f->chain_broken = true; /* stale records may lie behind 'end' */
}

/* ---- packing ---- */

b2c_status b2i_file_pack(b2i_file_store *f, b2c_schunk *s, b2c_error *err)
{
    B2I_TRY(b2i_file_check_ours(f, err));
    if (s->now.nchunks == 0) {
        return f->is_dirty || f->nbytes != 0 ? b2i_file_rewrite(f, s, b2i_file_syncs(f), err)
                                             : B2C_OK;
    }
    if (f->dead > 0 && (f->end <= REWRITE_MAX || f->dead > f->end / 4)) {
        b2c_status st = b2i_file_rewrite(f, s, b2i_file_syncs(f), err);
        if (st == B2C_OK || f->dead == 0) {
            return st;
        }
        /*
         * No room for a second file, or a damaged chunk that cannot be copied: keep the holes, and
         * do not try again before there are as many more.
         */
        f->dead = 0;
    }
    b2i_frame_image image = { 0 };
    B2I_TRY(make_image(f, s, &image, err));
    bool is_new = !can_flip(f, b2i_span_of(image.header.p, image.header.n));
    b2c_status st = is_new ? b2i_file_rewrite(f, s, b2i_file_syncs(f), err)
                           : write_packed(f, s, &image, b2i_file_syncs(f), err);
    b2i_frame_image_free(&image);
    return st;
}
