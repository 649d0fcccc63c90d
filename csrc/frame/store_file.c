/*
 * store_file.c: a contiguous frame in a file or buffer: reading, opening, closing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
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
    return ((const b2i_file_store *)store)->header_len + entry;
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

static void free_store(b2i_file_store *f)
{
    b2i_buf_free(&f->header);
    b2i_free(f->free);
    b2i_free(f->path);
    b2i_free(f);
}

static b2c_status file_close(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    b2c_status st = B2C_OK;
    if (s != NULL && store->is_writable && !store->failed && (f->is_unpacked || f->is_dirty)) {
        st = b2i_file_pack(f, s, err);
    }
    b2i_file_drop_draft(f);
    b2c_status st2 = f->io->ops->close(f->io, st == B2C_OK ? err : NULL);
    free_store(f);
    return st == B2C_OK ? st2 : st;
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
    return f->io->ops->read(f->io, f->origin, f->header.p, f->header.n, err);
}

static b2c_status keep_path(b2i_file_store *f, const char *path, b2c_error *err)
{
    if (path == NULL) {
        return B2C_OK;
    }
    size_t n = strlen(path) + 1;
    f->path = b2i_malloc(n);
    if (f->path == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(f->path, path, n);
    return B2C_OK;
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
    f->has_fingerprint = layout->has_fingerprint;
    f->base.is_trusted = layout->has_fingerprint || layout->head.nbytes == 0;
    f->base.is_complete = layout->is_complete || layout->head.nbytes == 0;
    memcpy(f->fingerprint, layout->fingerprint, sizeof f->fingerprint);
    b2c_status st = keep_path(f, path, err);
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
