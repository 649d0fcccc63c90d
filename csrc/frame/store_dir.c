/*
 * store_dir.c: a sparse frame in a directory: reading, creating, opening, closing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_dir.h"

#include <errno.h>

void b2i_dir_name(uint64_t number, char out[B2I_DIR_NAME_LEN + 1])
{
    static const char digits[] = "0123456789ABCDEF";
    for (int i = 0; i < 8; i++) {
        out[i] = digits[number >> (4 * (7 - i)) & 15];
    }
    memcpy(out + 8, ".chunk", 7);
}

/* ---- reading ---- */

static b2c_status fail_absent(b2c_error *err)
{
    return b2i_fail(err, B2C_E_CORRUPT, 0, "the chunk's file is not there");
}

b2c_status b2i_dir_open_chunk(b2i_dir_store *d, b2i_entry entry, b2i_io **io, uint64_t *len,
                              b2c_error *err)
{
    char name[B2I_DIR_NAME_LEN + 1];
    if (entry > B2I_DIR_MAX_NUMBER) {
        return fail_absent(err); /* of a damaged index: the name would be that of another file */
    }
    b2i_dir_name(entry, name);
    b2c_error why = { 0 };
    b2i_gate_enter(&d->gate, d->base.max_open_files);
    b2c_status st = b2i_io_file_open_in(d->dir, name, B2I_IO_READ, io, &why);
    if (st != B2C_OK) {
        b2i_gate_leave(&d->gate);
        if (st == B2C_E_IO && why.sys_errno == ENOENT) {
            return fail_absent(err);
        }
        if (err != NULL) {
            *err = why;
        }
        return st;
    }
    st = (*io)->ops->size(*io, len, err);
    if (st != B2C_OK) {
        b2i_dir_close_chunk(d, *io);
    }
    return st;
}

void b2i_dir_close_chunk(b2i_dir_store *d, b2i_io *io)
{
    (void)io->ops->close(io, NULL);
    b2i_gate_leave(&d->gate);
}

static b2c_status read_part(b2i_io *io, uint64_t len, uint64_t at, size_t n, b2i_scratch *scratch,
                            b2i_span *out, b2c_error *err)
{
    if (at > len || len - at < n) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, len, "the chunk file is cut short", at + n,
                              len);
    }
    uint8_t *p = b2i_scratch_get(scratch, n);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    *out = b2i_span_of(p, n);
    return io->ops->read(io, at, p, n, err);
}

static b2c_status dir_read(b2i_store *store, b2i_entry entry, uint64_t at, size_t n,
                           b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    b2i_io *io;
    uint64_t len;
    B2I_TRY(b2i_dir_open_chunk((b2i_dir_store *)store, entry, &io, &len, err));
    b2c_status st = read_part(io, len, at, n, scratch, out, err);
    b2i_dir_close_chunk((b2i_dir_store *)store, io);
    return st;
}

static b2c_status dir_len(b2i_store *store, b2i_entry entry, uint64_t *len, b2c_error *err)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    char name[B2I_DIR_NAME_LEN + 1];
    b2i_io *io;
    if (entry <= B2I_DIR_MAX_NUMBER) {
        b2i_dir_name(entry, name);
        if (b2i_fs_file_size(d->dir, name, len)) {
            return B2C_OK;
        }
    }
    B2I_TRY(b2i_dir_open_chunk(d, entry, &io, len, err)); /* which tells what is wrong */
    b2i_dir_close_chunk(d, io);
    return B2C_OK;
}

static uint64_t dir_place(const b2i_store *store, b2i_entry entry)
{
    (void)store;
    (void)entry;
    return 0; /* a file of its own */
}

/* Compares a chunk with the record behind it, in a file of len bytes. */
static b2c_status check_part(b2i_store *store, b2i_entry entry, b2i_io *io, uint64_t len,
                             b2i_span chunk, b2i_verdict *result, b2c_error *err)
{
    uint8_t bytes[B2I_RECORD_LEN];
    b2i_span record = { NULL, 0 };
    if (len >= chunk.n && len - chunk.n >= sizeof bytes) {
        B2I_TRY(io->ops->read(io, chunk.n, bytes, sizeof bytes, err));
        record = b2i_span_of(bytes, sizeof bytes);
    }
    *result = b2i_record_check(store, record, chunk, entry);
    return B2C_OK;
}

static b2c_status dir_check(b2i_store *store, b2i_entry entry, b2i_span chunk, b2i_verdict *result,
                            b2c_error *err)
{
    b2i_io *io;
    uint64_t len;
    B2I_TRY(b2i_dir_open_chunk((b2i_dir_store *)store, entry, &io, &len, err));
    b2c_status st = check_part(store, entry, io, len, chunk, result, err);
    b2i_dir_close_chunk((b2i_dir_store *)store, io);
    return st;
}

static b2c_status dir_read_whole(b2i_store *store, b2i_entry entry, size_t n, b2i_scratch *scratch,
                                 b2i_span *out, b2i_verdict *result, b2c_error *err)
{
    b2i_io *io;
    uint64_t len;
    B2I_TRY(b2i_dir_open_chunk((b2i_dir_store *)store, entry, &io, &len, err));
    b2c_status st = read_part(io, len, 0, n, scratch, out, err);
    if (st == B2C_OK) {
        st = check_part(store, entry, io, len, *out, result, err);
    }
    b2i_dir_close_chunk((b2i_dir_store *)store, io);
    return st;
}

/* ---- opening and closing ---- */

static b2c_status dir_settle(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    return d->is_dirty ? b2i_dir_settle(d, s, err) : B2C_OK;
}

/* A frame that has not become one, unless somebody has moved it. */
static void remove_unborn(const b2i_dir_store *d)
{
    int dir;
    if (b2i_fs_dir_open(d->place, &dir, NULL) == B2C_OK) {
        if (b2i_fs_is_same(dir, d->dir)) {
            b2i_schunk_remove(B2C_STORAGE_DIR, d->place);
        }
        b2i_fs_dir_close(dir);
    }
}

static b2c_status dir_close(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    b2c_status st = B2C_OK;
    bool is_mine =
        store->is_writable && !store->failed && s != NULL && (s->changed || b2i_fs_claim(d->dir));
    if (is_mine) {
        st = dir_settle(store, s, err);
        if (st == B2C_E_CONFLICT && !s->changed) {
            st = B2C_OK; /* another writer's frame, to which this one has added nothing */
        }
    }
    if (store->is_unborn) {
        remove_unborn(d);
    }
    b2i_fs_dir_close(d->dir);
    b2i_free(d->dropped);
    b2i_free(d->place);
    b2i_free(d->path);
    b2i_free(d);
    return st;
}

static void dir_leave(const b2i_store *store)
{
    b2i_fs_dir_close(((const b2i_dir_store *)store)->dir);
}

static bool dir_is_current(const b2i_store *store)
{
    const b2i_dir_store *d = (const b2i_dir_store *)store;
    b2i_io *io;
    if (b2i_store_dir_open_index(d->dir, &io, NULL) != B2C_OK) {
        return false;
    }
    bool is;
    b2c_status st = b2i_frame_mark_check(io, 0, &d->mark, &is, NULL);
    (void)io->ops->close(io, NULL);
    return st == B2C_OK && is;
}

static bool dir_is_same(const b2i_store *store, const b2i_store *other)
{
    return b2i_fs_is_same(((const b2i_dir_store *)store)->dir, ((const b2i_dir_store *)other)->dir);
}

static const b2i_store_ops dir_ops = {
    .read = dir_read,
    .len = dir_len,
    .check = dir_check,
    .read_whole = dir_read_whole,
    .part_hashes = b2i_record_part_hashes,
    .part_hash = b2i_record_part_hash,
    .place = dir_place,
    .put = b2i_dir_put,
    .drop = b2i_dir_drop,
    .commit = b2i_dir_commit,
    .begin = b2i_dir_begin,
    .rollback = b2i_dir_rollback,
    .settle = dir_settle,
    .leave = dir_leave,
    .is_current = dir_is_current,
    .is_same = dir_is_same,
    .recover = b2i_dir_recover,
    .close = dir_close,
};

b2c_status b2i_store_dir_new(int dir, bool is_writable, const b2i_frame_layout *layout,
                             b2i_store **out, b2c_error *err)
{
    b2i_dir_store *d = b2i_calloc(sizeof *d);
    if (d == NULL) {
        b2i_fs_dir_close(dir);
        return b2i_fail_memory(err);
    }
    d->base.ops = &dir_ops;
    d->base.storage = B2C_STORAGE_DIR;
    d->base.max_open_files = B2I_GATE_MAX;
    d->base.is_writable = is_writable;
    d->base.frame_len = layout->head.frame_len;
    d->base.header_len = layout->head.header_len;
    d->base.is_trusted = layout->has_fingerprint || layout->head.nbytes == 0;
    d->base.is_complete = layout->is_complete || layout->head.nbytes == 0;
    d->base.trailer_len = layout->trailer_len;
    d->has_fingerprint = layout->has_fingerprint;
    d->mark = layout->mark;
    memcpy(d->fingerprint, layout->fingerprint, sizeof d->fingerprint);
    d->dir = dir;
    *out = &d->base;
    return B2C_OK;
}

void b2i_store_dir_unborn(b2i_store *store, char *place, char *path, const b2i_at_path *there)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    store->is_unborn = true;
    d->place = place;
    d->path = path;
    d->to_replace = *there;
}

const char *b2i_store_dir_place(const b2i_store *store)
{
    return ((const b2i_dir_store *)store)->place;
}

b2c_status b2i_store_dir_open_index(int dir, b2i_io **io, b2c_error *err)
{
    return b2i_io_file_open_in(dir, B2I_DIR_INDEX_NAME, B2I_IO_READ, io, err);
}

b2c_status b2i_store_dir_create(int dir, const b2i_state *now, bool checksums, bool seal,
                                b2i_frame_layout *layout, b2c_error *err)
{
    uint8_t record[B2I_DIR_RECORD_LEN];
    b2i_frame_image image = { 0 };
    const b2i_store store = { .checksums = checksums, .is_complete = true };
    b2c_status st = b2i_dir_replace_index(dir, now, 0, &store, seal, &image, record, err);
    if (st == B2C_OK) {
        layout->head.header_len = (uint32_t)image.header.n;
        layout->head.frame_len = image.header.n + image.tail.n;
        layout->trailer_len = (uint32_t)image.tail.n;
        b2i_frame_mark_make(b2i_span_of(image.header.p, image.header.n),
                            b2i_span_of(image.tail.p, image.tail.n), layout->head.frame_len,
                            b2i_span_of(record, B2I_DIR_RECORD_LEN), &layout->mark);
    }
    b2i_frame_image_free(&image);
    return st;
}

static void count_others(void *arg, const char *name)
{
    size_t *n = arg;
    *n += strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, B2I_DIR_INDEX_TMP) != 0;
}

b2c_status b2i_store_dir_is_empty(int dir, bool *is, b2c_error *err)
{
    size_t n = 0;
    B2I_TRY(b2i_fs_dir_each(dir, count_others, &n, err));
    *is = n == 0;
    return B2C_OK;
}
