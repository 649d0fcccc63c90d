/*
 * store_file.c: a contiguous frame in a file or buffer: reading, opening, closing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
#include "checksum.h"
#include "checked.h"

static b2c_status file_read(b2i_store *store, b2i_entry entry, uint64_t at, size_t n,
                            b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    const b2i_file_store *f = (const b2i_file_store *)store;
    uint64_t begin;
    if (!b2i_add_u64(entry, at, &begin) || begin > f->limit || f->limit - begin < n) {
        return b2i_fail(err, B2C_E_CORRUPT, at, "the chunk reaches beyond the frame's chunks");
    }
    begin += f->origin + f->header_len;
    const uint8_t *view = f->io->ops->view(f->io, begin, n);
    if (view != NULL) {
        *out = b2i_span_of(view, n);
        return B2C_OK;
    }
    uint8_t *p = b2i_scratch_get(scratch, n);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = f->io->ops->read(f->io, begin, p, n, err);
    if (st != B2C_OK) {
        b2i_err_shift(err, at - begin); /* counted from the chunk, as all errors of a source */
        return st;
    }
    *out = b2i_span_of(p, n);
    return B2C_OK;
}

static b2c_status file_len(b2i_store *store, b2i_entry entry, uint64_t *len, b2c_error *err)
{
    const b2i_file_store *f = (const b2i_file_store *)store;
    if (entry > f->limit) {
        return b2i_fail(err, B2C_E_CORRUPT, 0, "a chunk lies outside the frame");
    }
    *len = f->limit - entry;
    return B2C_OK;
}

static uint64_t file_place(const b2i_store *store, b2i_entry entry)
{
    const b2i_file_store *f = (const b2i_file_store *)store;
    return f->origin + f->header_len + entry;
}

static b2c_status file_check(b2i_store *store, b2i_entry entry, b2i_span chunk, b2i_verdict *result,
                             b2c_error *err)
{
    const b2i_file_store *f = (const b2i_file_store *)store;
    b2i_scratch scratch = { 0 };
    b2i_span record = { NULL, 0 };
    b2c_status st = B2C_OK;
    if (f->limit - entry - chunk.n >= B2I_RECORD_LEN) {
        st = file_read(store, entry, chunk.n, B2I_RECORD_LEN, &scratch, &record, err);
    }
    if (st == B2C_OK) {
        *result = b2i_record_check(store, record, chunk, entry);
    }
    b2i_scratch_free(&scratch);
    return st;
}

static bool file_is_current(const b2i_store *store)
{
    const b2i_file_store *f = (const b2i_file_store *)store;
    bool is;
    return b2i_frame_mark_check(f->io, f->origin, &f->mark, &is, NULL) == B2C_OK && is;
}

static bool file_is_same(const b2i_store *store, const b2i_store *other)
{
    const b2i_io *a = ((const b2i_file_store *)store)->io;
    const b2i_io *b = ((const b2i_file_store *)other)->io;
    return b2i_fs_is_same(a->ops->fd(a), b->ops->fd(b));
}

static void free_store(b2i_file_store *f)
{
    b2i_buf_free(&f->header);
    b2i_free(f->free);
    b2i_free(f->path);
    b2i_free(f);
}

static b2c_status file_settle(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    if (!f->is_unpacked && !f->is_dirty) {
        return B2C_OK;
    }
    B2I_TRY(b2i_file_pack(f, s, err));
    f->has_written = false; /* its lengths do not tell a packed frame from another writer's */
    return B2C_OK;
}

static b2c_status file_close(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    b2c_status st = B2C_OK;
    bool is_mine = store->is_writable && !store->failed && s != NULL &&
                   (s->changed || b2i_fs_claim(f->io->ops->fd(f->io)));
    if (is_mine) {
        st = file_settle(store, s, err);
        if (st == B2C_E_CONFLICT && !s->changed) {
            st = B2C_OK; /* another writer's frame, to which this one has added nothing */
        }
    }
    b2i_file_drop_draft(f);
    b2c_status st2 = f->io->ops->close(f->io, st == B2C_OK ? err : NULL);
    free_store(f);
    return st == B2C_OK ? st2 : st;
}

static void file_leave(const b2i_store *store)
{
    const b2i_file_store *f = (const b2i_file_store *)store;
    (void)f->io->ops->close(f->io, NULL);
    if (f->old_io != NULL) {
        (void)f->old_io->ops->close(f->old_io, NULL);
    }
}

static const b2i_store_ops file_ops = {
    .read = file_read,
    .len = file_len,
    .check = file_check,
    .part_hashes = b2i_record_part_hashes,
    .part_hash = b2i_record_part_hash,
    .place = file_place,
    .put = b2i_file_put,
    .log = b2i_file_log,
    .drop = b2i_file_drop,
    .commit = b2i_file_commit,
    .begin = b2i_file_begin,
    .rollback = b2i_file_rollback,
    .compact = b2i_file_compact,
    .settle = file_settle,
    .leave = file_leave,
    .is_current = file_is_current,
    .is_same = file_is_same,
    .recover = b2i_file_recover,
    .close = file_close,
};

/* The header as it is stored: commits change it in place. */
static b2c_status keep_header(b2i_file_store *f, b2c_error *err)
{
    if (!b2i_buf_reserve(&f->header, (size_t)f->header_len)) {
        return b2i_fail_memory(err);
    }
    f->header.n = (size_t)f->header_len; /* was read before, so it fits */
    B2I_TRY(f->io->ops->read(f->io, f->origin, f->header.p, f->header.n, err));
    if (memcmp(f->header.p, f->mark.head, f->mark.head_len) != 0) {
        return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                        "somebody else writes to the file at this moment");
    }
    return B2C_OK;
}

void b2i_file_count_since(b2i_file_store *f)
{
    uint8_t *since = f->base.shown.since;
    const b2i_span head = b2i_span_of(f->mark.head, f->mark.head_len);
    memcpy(since, f->fingerprint, B2I_SINCE_LEN);
    b2i_st64le(since,
               b2i_ld64le(since) ^ b2i_xxh3_64(head)); /* whose lengths that does not cover */
    f->base.reuse_no = 0;
}

b2c_status b2i_store_file_new(b2i_io *io, const char *path, uint64_t origin, bool is_writable,
                              const b2i_frame_layout *layout, b2i_store **out, b2c_error *err)
{
    b2i_file_store *f = b2i_calloc(sizeof *f);
    if (f == NULL) {
        (void)io->ops->close(io, NULL);
        return b2i_fail_memory(err);
    }
    f->base.ops = &file_ops;
    f->base.storage = B2C_STORAGE_FILE;
    f->base.is_writable = is_writable;
    f->base.has_redo = true;
    f->base.frame_len = layout->head.frame_len;
    f->base.header_len = layout->head.header_len;
    f->base.trailer_len = layout->trailer_len;
    f->io = io;
    f->origin = origin;
    f->header_len = layout->head.header_len;
    f->nbytes = layout->head.nbytes;
    f->tail_at = layout->index_at - f->header_len;
    f->tail_len = layout->head.frame_len - layout->index_at;
    f->limit = layout->head.nbytes == 0 ? 0 : f->tail_at;
    f->end = f->limit;
    f->committed_end = f->end;
    f->first_end = f->end;
    f->has_fingerprint = layout->has_fingerprint;
    f->mark = layout->mark;
    f->base.is_trusted = layout->has_fingerprint || layout->head.nbytes == 0;
    f->base.is_complete = layout->is_complete || layout->head.nbytes == 0;
    memcpy(f->fingerprint, layout->fingerprint, sizeof f->fingerprint);
    b2c_status st = B2C_OK;
    b2i_file_count_since(f);
    if (path != NULL && is_writable) {
        /* New files take its place later: then it must still mean the same one. */
        st = b2i_fs_real_path(path, &f->path, err);
    }
    if (st == B2C_OK && is_writable) {
        st = keep_header(f, err);
    }
    if (st != B2C_OK) {
        (void)io->ops->close(io, NULL);
        free_store(f);
        return st;
    }
    *out = &f->base;
    return B2C_OK;
}
