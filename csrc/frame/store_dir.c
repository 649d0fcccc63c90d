/*
 * store_dir.c: a sparse frame: a directory with an index file and one file per chunk.
 *
 * A chunk gets a file of its own that no committed index names; a commit puts a
 * complete new index file in the place of the old one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "checked.h"

#include <stdlib.h>

#define INDEX_NAME  "chunks.b2frame"
#define INDEX_TMP   "chunks.b2frame.b2tmp"
#define MAX_NUMBER  ((uint64_t)UINT32_MAX)
#define MIN_PENDING ((uint64_t)256 << 10)

enum { NAME_LEN = 14, SPECIAL_PENDING = 64 }; /* "0000002A.chunk" */

typedef struct dir_store {
    b2i_store base;
    int dir;
    uint64_t next; /* number of the next chunk file */
    uint64_t pending;
    bool is_dirty;
    uint64_t *dropped;  /* files that the next commit makes superfluous */
    size_t ndropped, cap;
    uint64_t begin_next; /* state at the start of a transaction */
    size_t begin_ndropped;
} dir_store;

static void name_of(uint64_t number, char out[NAME_LEN + 1])
{
    static const char digits[] = "0123456789ABCDEF";
    for (int i = 0; i < 8; i++) {
        out[i] = digits[number >> (4 * (7 - i)) & 15];
    }
    memcpy(out + 8, ".chunk", 7);
}

/* ---- reading ---- */

static b2c_status open_chunk(const dir_store *d, b2i_entry entry, b2i_io **io, uint64_t *len,
                             b2c_error *err)
{
    char name[NAME_LEN + 1];
    name_of(entry, name);
    B2I_TRY(b2i_io_file_open_in(d->dir, name, B2I_IO_READ, io, err));
    b2c_status st = (*io)->ops->size(*io, len, err);
    if (st != B2C_OK) {
        (void)(*io)->ops->close(*io, NULL);
    }
    return st;
}

static b2c_status dir_read(b2i_store *store, b2i_entry entry, uint64_t at, size_t n,
                           b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    b2i_io *io;
    uint64_t len;
    B2I_TRY(open_chunk((const dir_store *)store, entry, &io, &len, err));
    b2c_status st = B2C_OK;
    uint8_t *p = NULL;
    if (at > len || len - at < n) {
        st = b2i_fail_sizes(err, B2C_E_TRUNCATED, len, "the chunk file is cut short", at + n, len);
    } else if ((p = b2i_scratch_get(scratch, n)) == NULL) {
        st = b2i_fail_memory(err);
    } else {
        st = io->ops->read(io, at, p, n, err);
    }
    (void)io->ops->close(io, NULL);
    if (st == B2C_OK) {
        *out = b2i_span_of(p, n);
    }
    return st;
}

static b2c_status dir_len(b2i_store *store, b2i_entry entry, uint64_t *len, b2c_error *err)
{
    b2i_io *io;
    B2I_TRY(open_chunk((const dir_store *)store, entry, &io, len, err));
    (void)io->ops->close(io, NULL);
    return B2C_OK;
}

static uint64_t dir_place(const b2i_store *store, b2i_entry entry)
{
    (void)store;
    (void)entry;
    return 0; /* a file of its own */
}

static b2c_status dir_check(b2i_store *store, b2i_entry entry, b2i_span chunk, b2i_check *result,
                            b2c_error *err)
{
    uint8_t record[B2I_RECORD_LEN];
    b2i_io *io;
    uint64_t len;
    *result = B2I_CHECK_NONE;
    B2I_TRY(open_chunk((const dir_store *)store, entry, &io, &len, err));
    b2c_status st = B2C_OK;
    if (len >= chunk.n && len - chunk.n >= sizeof record) {
        st = io->ops->read(io, chunk.n, record, sizeof record, err);
        if (st == B2C_OK) {
            *result = b2i_record_check(b2i_span_of(record, sizeof record), chunk, entry,
                                       store->is_trusted);
        }
    }
    (void)io->ops->close(io, NULL);
    return st;
}

/* ---- writing ---- */

static bool syncs(const dir_store *d)
{
    return d->base.durability == B2C_DURABILITY_COMMIT;
}

static b2c_status write_chunk(const dir_store *d, b2i_io *io, b2i_span chunk, b2i_entry entry,
                              b2c_error *err)
{
    uint8_t record[B2I_RECORD_LEN];
    B2I_TRY(io->ops->write(io, 0, chunk.p, chunk.n, err));
    if (d->base.checksums) {
        b2i_record_make(chunk, entry, 0, record);
        B2I_TRY(io->ops->write(io, chunk.n, record, sizeof record, err));
    }
    return syncs(d) ? io->ops->sync(io, err) : B2C_OK;
}

static b2c_status dir_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo,
                          b2i_entry *entry, b2c_error *err)
{
    dir_store *d = (dir_store *)store;
    char name[NAME_LEN + 1];
    b2i_io *io;
    (void)redo;
    if (d->next > MAX_NUMBER) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                              "the directory has no more numbers for chunk files", MAX_NUMBER,
                              d->next);
    }
    name_of(d->next, name);
    /* A file of this number can only be one that no index names. */
    B2I_TRY(b2i_io_file_open_in(d->dir, name, B2I_IO_REPLACE, &io, err));
    b2c_status st = write_chunk(d, io, chunk, d->next, err);
    b2c_status st2 = io->ops->close(io, st == B2C_OK ? err : NULL);
    st = st == B2C_OK ? st2 : st;
    if (st != B2C_OK) {
        (void)b2i_fs_remove(d->dir, name, NULL);
        return st;
    }
    *entry = d->next++;
    d->pending += chunk.n;
    d->is_dirty = true;
    return B2C_OK;
}

static void dir_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes)
{
    dir_store *d = (dir_store *)store;
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

static void remove_number(const dir_store *d, uint64_t number)
{
    char name[NAME_LEN + 1];
    name_of(number, name);
    (void)b2i_fs_remove(d->dir, name, NULL); /* a file too many does no harm */
}

static b2c_status write_index(int dir, const b2i_frame_image *image, bool seal, b2c_error *err)
{
    b2i_io *io;
    B2I_TRY(b2i_io_file_open_in(dir, INDEX_TMP, B2I_IO_REPLACE, &io, err));
    b2c_status st = io->ops->write(io, 0, image->header.p, image->header.n, err);
    if (st == B2C_OK) {
        st = io->ops->write(io, image->header.n, image->tail.p, image->tail.n, err);
    }
    if (st == B2C_OK && seal) {
        st = io->ops->sync(io, err);
    }
    b2c_status st2 = io->ops->close(io, st == B2C_OK ? err : NULL);
    return st == B2C_OK ? st2 : st;
}

/*
 * The size of all chunk files.  The reference library takes numbers of chunk files
 * for offsets below it, which they are not after many were deleted: it is made large enough.
 */
static uint64_t stored_size(const b2i_state *now)
{
    uint64_t n = now->cbytes;
    for (uint64_t i = 0; i < now->nchunks; i++) {
        b2i_entry e = now->entries[i];
        if ((e & B2I_ENTRY_SPECIAL) == 0 && e + B2C_HEADER_LEN > n) {
            n = e + B2C_HEADER_LEN;
        }
    }
    return n;
}

/* The index file of a state, in the place of the old one. */
static b2c_status replace_index(int dir, const b2i_state *now, bool checksums, bool seal,
                                b2i_frame_image *image, b2c_error *err)
{
    B2I_TRY(b2i_frame_encode(now, B2I_FRAME_SPARSE, image, err));
    b2i_frame_set_lengths(image->header.p, image->header.n + image->tail.n, stored_size(now));
    if (checksums) {
        b2i_frame_seal(image);
    }
    b2c_status st = write_index(dir, image, seal, err);
    if (st == B2C_OK && seal) {
        st = b2i_fs_dir_sync(dir, err); /* names of chunk files before the name of the index */
    }
    if (st == B2C_OK) {
        st = b2i_fs_rename(dir, INDEX_TMP, INDEX_NAME, err);
    }
    if (st != B2C_OK) {
        (void)b2i_fs_remove(dir, INDEX_TMP, NULL);
        return st;
    }
    return seal ? b2i_fs_dir_sync(dir, err) : B2C_OK;
}

/* Removes the record of a chunk file. */
static b2c_status forget_record(b2i_store *store, b2i_entry entry, uint64_t cbytes, b2c_error *err)
{
    const dir_store *d = (const dir_store *)store;
    char name[NAME_LEN + 1];
    b2i_io *io;
    name_of(entry, name);
    B2I_TRY(b2i_io_file_open_in(d->dir, name, B2I_IO_UPDATE, &io, err));
    b2c_status st = io->ops->truncate(io, cbytes, err);
    b2c_status st2 = io->ops->close(io, st == B2C_OK ? err : NULL);
    return st == B2C_OK ? st2 : st;
}

static b2c_status commit_now(dir_store *d, b2c_schunk *s, bool seal, b2c_error *err)
{
    b2i_frame_image image = { 0 };
    if (d->base.checksums && !d->base.is_trusted) {
        B2I_TRY(b2i_records_settle(s, forget_record, err));
    }
    b2c_status st = replace_index(d->dir, &s->now, d->base.checksums, seal, &image, err);
    if (st == B2C_OK) {
        d->base.header_len = image.header.n;
        d->base.frame_len = image.header.n + image.tail.n;
        d->base.trailer_len = image.tail.n - image.index_len;
        for (size_t i = 0; i < d->ndropped; i++) {
            remove_number(d, d->dropped[i]);
        }
        d->ndropped = 0;
        d->pending = 0;
        d->is_dirty = false;
    }
    b2i_frame_image_free(&image);
    return st;
}

static b2c_status dir_commit(b2i_store *store, struct b2c_schunk *s, b2i_commit_kind kind,
                             b2c_error *err)
{
    dir_store *d = (dir_store *)store;
    bool seal = kind == B2I_COMMIT_FLUSH || syncs(d);
    if (kind == B2I_COMMIT_FLUSH && !d->is_dirty) {
        return b2i_fs_dir_sync(d->dir, err);
    }
    d->is_dirty = true;
    d->pending += SPECIAL_PENDING;
    uint64_t index_len = 32 * s->now.nchunks; /* several times the index itself */
    bool waits = d->pending < (index_len > MIN_PENDING ? index_len : MIN_PENDING);
    bool may_wait = kind == B2I_COMMIT_SOON && store->durability == B2C_DURABILITY_PROCESS && waits;
    if (may_wait || (kind != B2I_COMMIT_FLUSH && store->durability == B2C_DURABILITY_NONE)) {
        return B2C_OK;
    }
    return commit_now(d, s, seal, err);
}

static void dir_begin(b2i_store *store)
{
    dir_store *d = (dir_store *)store;
    d->begin_next = d->next;
    d->begin_ndropped = d->ndropped;
}

static void dir_rollback(b2i_store *store)
{
    dir_store *d = (dir_store *)store;
    for (uint64_t i = d->begin_next; i < d->next; i++) {
        remove_number(d, i);
    }
    d->next = d->begin_next;
    d->ndropped = d->begin_ndropped;
}

/* ---- opening and closing ---- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The number of a name like "0000002A.chunk". */
static bool number_of(const char *name, uint64_t *number)
{
    uint64_t n = 0;
    if (strlen(name) != NAME_LEN || strcmp(name + 8, ".chunk") != 0) {
        return false;
    }
    for (int i = 0; i < 8; i++) {
        char c = name[i];
        if (c >= '0' && c <= '9') {
            n = n << 4 | (uint64_t)(c - '0');
        } else if (c >= 'A' && c <= 'F') {
            n = n << 4 | (uint64_t)(c - 'A' + 10);
        } else {
            return false;
        }
    }
    *number = n;
    return true;
}

typedef struct orphan_job {
    dir_store *d;
    const uint64_t *sorted;
    size_t n;
} orphan_job;

static void remove_orphan(void *arg, const char *name)
{
    const orphan_job *j = arg;
    uint64_t number;
    if (strcmp(name, INDEX_TMP) == 0) {
        (void)b2i_fs_remove(j->d->dir, name, NULL);
    } else if (number_of(name, &number) && (j->n == 0 || bsearch(&number, j->sorted, j->n,
                                                     sizeof *j->sorted, compare_u64) == NULL)) {
        remove_number(j->d, number);
    }
}

/* Removes what a writer that was killed has left, and finds the next number. */
static b2c_status dir_recover(b2i_store *store, struct b2c_schunk *s, b2c_error *err)
{
    dir_store *d = (dir_store *)store;
    if (!store->is_writable) {
        return B2C_OK;
    }
    size_t n = (size_t)s->now.nchunks;
    uint64_t *sorted = b2i_malloc(n * sizeof *sorted); /* the entries have this size, too */
    if (sorted == NULL) {
        return b2i_fail_memory(err);
    }
    if (n > 0) {
        memcpy(sorted, s->now.entries, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_u64);
    }
    while (n > 0 && (sorted[n - 1] & B2I_ENTRY_SPECIAL) != 0) {
        n--;
    }
    d->next = n == 0 ? 0 : sorted[n - 1] + 1;
    orphan_job j = { d, sorted, n };
    b2c_status st = b2i_fs_dir_each(d->dir, remove_orphan, &j, err);
    b2i_free(sorted);
    return st;
}

static b2c_status dir_close(b2i_store *store, struct b2c_schunk *s, b2c_error *err)
{
    dir_store *d = (dir_store *)store;
    b2c_status st = B2C_OK;
    if (s != NULL && store->is_writable && !store->failed && d->is_dirty) {
        st = commit_now(d, s, syncs(d), err);
    }
    b2i_fs_dir_close(d->dir);
    b2i_free(d->dropped);
    b2i_free(d);
    return st;
}

static const b2i_store_ops dir_ops = {
    .read = dir_read,
    .len = dir_len,
    .check = dir_check,
    .place = dir_place,
    .put = dir_put,
    .drop = dir_drop,
    .commit = dir_commit,
    .begin = dir_begin,
    .rollback = dir_rollback,
    .recover = dir_recover,
    .close = dir_close,
};

b2c_status b2i_store_dir_new(int dir, bool is_writable, const b2i_frame_layout *layout,
                             b2i_store **out, b2c_error *err)
{
    dir_store *d = b2i_calloc(sizeof *d);
    if (d == NULL) {
        b2i_fs_dir_close(dir);
        return b2i_fail_memory(err);
    }
    d->base.ops = &dir_ops;
    d->base.storage = B2C_STORAGE_DIR;
    d->base.is_writable = is_writable;
    d->base.frame_len = layout->head.frame_len;
    d->base.header_len = layout->head.header_len;
    d->base.is_trusted = layout->has_fingerprint || layout->head.nbytes == 0;
    d->base.trailer_len = layout->trailer_len;
    d->dir = dir;
    *out = &d->base;
    return B2C_OK;
}

b2c_status b2i_store_dir_open_index(int dir, b2i_io **io, b2c_error *err)
{
    return b2i_io_file_open_in(dir, INDEX_NAME, B2I_IO_READ, io, err);
}

b2c_status b2i_store_dir_create(int dir, const b2i_state *now, bool checksums, bool seal,
                                b2i_frame_layout *layout, b2c_error *err)
{
    b2i_frame_image image = { 0 };
    b2c_status st = replace_index(dir, now, checksums, seal, &image, err);
    if (st == B2C_OK) {
        layout->head.header_len = (uint32_t)image.header.n;
        layout->head.frame_len = image.header.n + image.tail.n;
        layout->trailer_len = (uint32_t)image.tail.n;
    }
    b2i_frame_image_free(&image);
    return st;
}

void b2i_store_dir_destroy(int dir)
{
    (void)b2i_fs_remove(dir, INDEX_NAME, NULL);
    b2i_fs_dir_close(dir);
}
