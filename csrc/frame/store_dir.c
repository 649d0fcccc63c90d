/*
 * store_dir.c: a sparse frame: a directory with an index file and one file per chunk.
 *
 * A chunk gets a file of its own that no committed index names; a commit puts a
 * complete new index file in the place of the old one.  An appended chunk may wait for that: a
 * redo record behind it tells the next who opens the directory.  The index file goes on behind the
 * frame, where others do not look, with
 *
 *     0   "B2CN"                      8  u64 number of the next chunk file
 *     4   u32 version, 1             16  u64 XXH3 of bytes 0…15 and the frame's fingerprint
 *
 * (little-endian); redo records name the commit that they follow by this hash.  Numbers are not
 * used again, so no record that was left behind can fit a later commit.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "checked.h"
#include "checksum.h"

#include <stdlib.h>

#define INDEX_NAME  "chunks.b2frame"
#define INDEX_TMP   "chunks.b2frame.b2tmp"
#define MAX_NUMBER  ((uint64_t)UINT32_MAX)
#define MIN_PENDING ((uint64_t)256 << 10)

enum {
    NAME_LEN = 14, /* "0000002A.chunk" */
    SPECIAL_PENDING = 64,
    NUMBER_RECORD_LEN = 24,
    NUMBER_RECORD_VERSION = 1,
};

typedef struct dir_store {
    b2i_store base;
    int dir;
    uint64_t next;     /* number of the next chunk file */
    uint64_t unsynced; /* files from this number on may not be on the medium */
    uint64_t pending;
    bool is_dirty;
    bool has_log;    /* redo records may follow the last commit */
    bool was_logged; /* the present edit has left one */
    b2i_redo_log log;
    uint8_t fingerprint[B2I_FINGERPRINT_LEN];
    uint64_t *dropped; /* files that the next commit makes superfluous */
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

static b2c_status dir_check(b2i_store *store, b2i_entry entry, b2i_span chunk, b2i_verdict *result,
                            b2c_error *err)
{
    uint8_t bytes[B2I_RECORD_LEN];
    b2i_span record = { NULL, 0 };
    b2i_io *io;
    uint64_t len;
    B2I_TRY(open_chunk((const dir_store *)store, entry, &io, &len, err));
    b2c_status st = B2C_OK;
    if (len >= chunk.n && len - chunk.n >= sizeof bytes) {
        st = io->ops->read(io, chunk.n, bytes, sizeof bytes, err);
        record = b2i_span_of(bytes, sizeof bytes);
    }
    (void)io->ops->close(io, NULL);
    if (st == B2C_OK) {
        *result = b2i_record_check(store, record, chunk, entry);
    }
    return st;
}

/* ---- writing ---- */

static bool syncs(const dir_store *d)
{
    return d->base.durability == B2C_DURABILITY_COMMIT;
}

static b2c_status write_chunk(const dir_store *d, b2i_io *io, b2i_span chunk, b2i_span redo,
                              b2c_error *err)
{
    B2I_TRY(io->ops->write(io, 0, chunk.p, chunk.n, err));
    if (d->base.checksums) {
        b2i_buf records = { 0 };
        b2c_status st = b2i_records_make(chunk, d->next, redo, &records, err);
        if (st == B2C_OK) {
            st = io->ops->write(io, chunk.n, records.p, records.n, err);
        }
        b2i_buf_free(&records);
        B2I_TRY(st);
    }
    return syncs(d) ? io->ops->sync(io, err) : B2C_OK;
}

static b2c_status dir_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                          b2c_error *err)
{
    dir_store *d = (dir_store *)store;
    uint8_t bytes[B2I_REDO_LEN];
    char name[NAME_LEN + 1];
    b2i_io *io;
    bool logs = redo->kind == B2I_REDO_APPEND && d->has_log && store->checksums;
    if (d->next > MAX_NUMBER) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                              "the directory has no more numbers for chunk files", MAX_NUMBER,
                              d->next);
    }
    name_of(d->next, name);
    /* A file of this number can only be one that no index names. */
    B2I_TRY(b2i_io_file_open_in(d->dir, name, B2I_IO_REPLACE, &io, err));
    b2i_redo_make(&d->log, redo, bytes);
    b2c_status st = write_chunk(d, io, chunk, b2i_span_of(bytes, logs ? sizeof bytes : 0), err);
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

/* Puts chunk files on the medium that were written when nobody asked for it. */
static b2c_status sync_chunks(dir_store *d, b2c_error *err)
{
    for (; d->unsynced < d->next; d->unsynced++) {
        char name[NAME_LEN + 1];
        b2i_io *io;
        name_of(d->unsynced, name);
        if (b2i_io_file_open_in(d->dir, name, B2I_IO_UPDATE, &io, NULL) != B2C_OK) {
            continue; /* dropped */
        }
        b2c_status st = io->ops->sync(io, err);
        (void)io->ops->close(io, NULL);
        B2I_TRY(st);
    }
    return B2C_OK;
}

/* Puts all of a committed state on the medium, and the name of the directory. */
static b2c_status sync_all(dir_store *d, b2c_error *err)
{
    b2i_io *io;
    B2I_TRY(sync_chunks(d, err));
    B2I_TRY(b2i_io_file_open_in(d->dir, INDEX_NAME, B2I_IO_UPDATE, &io, err));
    b2c_status st = io->ops->sync(io, err);
    b2c_status st2 = io->ops->close(io, st == B2C_OK ? err : NULL);
    B2I_TRY(st);
    B2I_TRY(st2);
    B2I_TRY(b2i_fs_dir_sync(d->dir, err));
    return b2i_fs_dir_parent_sync(d->dir, err);
}

static void number_record_make(uint64_t next, const uint8_t *fingerprint,
                               uint8_t out[NUMBER_RECORD_LEN])
{
    uint8_t hashed[16 + B2I_FINGERPRINT_LEN];
    memcpy(hashed, "B2CN", 4);
    b2i_st32le(hashed + 4, NUMBER_RECORD_VERSION);
    b2i_st64le(hashed + 8, next);
    memcpy(hashed + 16, fingerprint, B2I_FINGERPRINT_LEN);
    memcpy(out, hashed, 16);
    b2i_st64le(out + 16, b2i_xxh3_64(b2i_span_of(hashed, sizeof hashed)));
}

/* The log begins that follows the commit of this record; the first chunk leaves no record. */
static void start_log(dir_store *d, const b2i_state *now, const uint8_t record[NUMBER_RECORD_LEN])
{
    memcpy(d->log.base, record + 16, sizeof d->log.base);
    d->log.seq = 0;
    d->has_log = now->nbytes > 0;
}

/* Writes what makes an index file; record NULL: nothing follows the frame. */
static b2c_status fill_index(b2i_io *io, const b2i_frame_image *image, const uint8_t *record,
                             b2c_error *err)
{
    B2I_TRY(io->ops->write(io, 0, image->header.p, image->header.n, err));
    B2I_TRY(io->ops->write(io, image->header.n, image->tail.p, image->tail.n, err));
    return record == NULL ? B2C_OK
                          : io->ops->write(io, image->header.n + image->tail.n, record,
                                           NUMBER_RECORD_LEN, err);
}

static b2c_status write_index(int dir, const b2i_frame_image *image, const uint8_t *record,
                              bool seal, b2c_error *err)
{
    b2i_io *io;
    B2I_TRY(b2i_io_file_open_in(dir, INDEX_TMP, B2I_IO_REPLACE, &io, err));
    b2c_status st = fill_index(io, image, record, err);
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

/* The index file of a state, in the place of the old one; fills 'record' when there are checksums.
 */
static b2c_status replace_index(int dir, const b2i_state *now, uint64_t next,
                                const b2i_store *store, bool seal, b2i_frame_image *image,
                                uint8_t record[NUMBER_RECORD_LEN], b2c_error *err)
{
    B2I_TRY(b2i_frame_encode(now, B2I_FRAME_SPARSE, image, err));
    b2i_frame_set_lengths(image->header.p, image->header.n + image->tail.n, stored_size(now));
    if (store->checksums) {
        b2i_frame_seal(image, store->is_complete);
        number_record_make(next, image->tail.p + image->tail.n - B2I_FINGERPRINT_LEN, record);
    }
    b2c_status st = write_index(dir, image, store->checksums ? record : NULL, seal, err);
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

/* The commit that has just become the current one. */
static void committed(dir_store *d, const b2i_frame_image *image)
{
    d->base.header_len = image->header.n;
    d->base.frame_len = image->header.n + image->tail.n;
    d->base.trailer_len = image->tail.n - image->index_len;
    for (size_t i = 0; i < d->ndropped; i++) {
        remove_number(d, d->dropped[i]);
    }
    d->ndropped = 0;
    d->pending = 0;
    d->is_dirty = false;
}

static b2c_status commit_now(dir_store *d, b2c_schunk *s, bool seal, b2c_error *err)
{
    uint8_t record[NUMBER_RECORD_LEN];
    b2i_frame_image image = { 0 };
    if (d->base.checksums && !d->base.is_trusted) {
        B2I_TRY(b2i_records_settle(s, forget_record, err));
    }
    if (seal) {
        B2I_TRY(sync_chunks(d, err));
    }
    b2c_status st = replace_index(d->dir, &s->now, d->next, &d->base, seal, &image, record, err);
    if (st == B2C_OK) {
        committed(d, &image);
        d->has_log = false;
        if (d->base.checksums) {
            start_log(d, &s->now, record);
        }
    }
    b2i_frame_image_free(&image);
    return st;
}

/*
 * Whether a commit may wait: because recovery finds the chunk.  Without checksums there is no
 * recovery, and a writer that is killed loses its latest appends.
 */
static bool may_wait(const dir_store *d, const b2c_schunk *s, b2i_commit_kind kind)
{
    if (d->base.durability == B2C_DURABILITY_NONE) {
        return true;
    }
    if (kind == B2I_COMMIT_NOW || syncs(d) || (!d->was_logged && d->base.checksums)) {
        return false;
    }
    uint64_t index_len = 32 * s->now.nchunks; /* several times the index itself */
    return d->pending < (index_len > MIN_PENDING ? index_len : MIN_PENDING);
}

static b2c_status dir_commit(b2i_store *store, struct b2c_schunk *s, b2i_commit_kind kind,
                             b2c_error *err)
{
    dir_store *d = (dir_store *)store;
    if (kind == B2I_COMMIT_FLUSH) {
        B2I_TRY(d->is_dirty ? commit_now(d, s, false, err) : B2C_OK);
        return sync_all(d, err);
    }
    d->is_dirty = true;
    d->pending += SPECIAL_PENDING;
    bool waits = may_wait(d, s, kind);
    if (!d->was_logged) {
        d->has_log = false; /* what follows could not be understood without this edit */
    }
    d->was_logged = false;
    return waits ? B2C_OK : commit_now(d, s, syncs(d), err);
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
    } else if (number_of(name, &number) &&
               (j->n == 0 ||
                bsearch(&number, j->sorted, j->n, sizeof *j->sorted, compare_u64) == NULL)) {
        remove_number(j->d, number);
    }
}

static b2c_status remove_orphans(dir_store *d, const uint64_t *sorted, size_t n, b2c_error *err)
{
    orphan_job j = { d, sorted, n };
    return b2i_fs_dir_each(d->dir, remove_orphan, &j, err);
}

/* Reads the record behind the frame in the index file and starts the log; 'first' at least. */
static b2c_status read_next(dir_store *d, const b2i_state *now, uint64_t first, b2c_error *err)
{
    uint8_t record[NUMBER_RECORD_LEN], expected[NUMBER_RECORD_LEN];
    b2i_io *io;
    uint64_t len;
    d->next = first;
    B2I_TRY(b2i_store_dir_open_index(d->dir, &io, err));
    b2c_status st = io->ops->size(io, &len, err);
    if (st == B2C_OK && d->has_log && len >= d->base.frame_len &&
        len - d->base.frame_len >= sizeof record &&
        io->ops->read(io, d->base.frame_len, record, sizeof record, NULL) == B2C_OK) {
        uint64_t next = b2i_ld64le(record + 8);
        number_record_make(next, d->fingerprint, expected);
        if (memcmp(record, expected, sizeof record) == 0 && next >= first && next <= MAX_NUMBER) {
            d->next = next;
            start_log(d, now, record);
            (void)io->ops->close(io, NULL);
            return B2C_OK;
        }
    }
    d->has_log = false;
    (void)io->ops->close(io, NULL);
    return st;
}

/* Takes up the chunks that were appended after the last commit. */
static b2c_status roll_forward(dir_store *d, b2c_schunk *s, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_chunk_head head;
    b2i_redo redo;
    b2i_redo_place place = { .at = 0 };
    b2c_status st = B2C_OK;
    for (bool done = true; st == B2C_OK && done && d->has_log && d->next <= MAX_NUMBER;) {
        if (open_chunk(d, d->next, &place.io, &place.end, NULL) != B2C_OK) {
            break;
        }
        place.entry = d->next;
        done = b2i_redo_find(&place, &d->log, &s->limits, &scratch, &head, &redo);
        (void)place.io->ops->close(place.io, NULL);
        if (done) {
            st = b2i_redo_apply(s, &redo, place.entry, &head, &done, err);
        }
        if (st == B2C_OK && done) {
            d->next++;
            d->log.seq++;
            d->is_dirty = d->base.is_writable;
        }
    }
    b2i_scratch_free(&scratch);
    return st;
}

/* The numbers of the chunk files that a state names, in order, to be freed. */
static b2c_status sorted_numbers(const b2i_state *now, uint64_t **out, size_t *nout, b2c_error *err)
{
    size_t n = (size_t)now->nchunks;
    uint64_t *sorted = b2i_malloc(n * sizeof *sorted); /* the entries have this size, too */
    if (sorted == NULL) {
        return b2i_fail_memory(err);
    }
    if (n > 0) {
        memcpy(sorted, now->entries, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_u64);
    }
    while (n > 0 && (sorted[n - 1] & B2I_ENTRY_SPECIAL) != 0) {
        n--;
    }
    *out = sorted;
    *nout = n;
    return B2C_OK;
}

/* Takes up or removes what a writer that was killed has left, and finds the next number. */
static b2c_status dir_recover(b2i_store *store, struct b2c_schunk *s, b2c_error *err)
{
    dir_store *d = (dir_store *)store;
    uint64_t *sorted;
    size_t n;
    B2I_TRY(sorted_numbers(&s->now, &sorted, &n, err));
    b2c_status st = read_next(d, &s->now, n == 0 ? 0 : sorted[n - 1] + 1, err);
    b2i_free(sorted);
    B2I_TRY(st);
    B2I_TRY(roll_forward(d, s, err));
    d->unsynced = d->next;
    if (!store->is_writable) {
        return B2C_OK;
    }
    B2I_TRY(sorted_numbers(&s->now, &sorted, &n, err));
    st = remove_orphans(d, sorted, n, err);
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
    .part_hashes = b2i_record_part_hashes,
    .part_hash = b2i_record_part_hash,
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
    d->base.is_complete = layout->is_complete || layout->head.nbytes == 0;
    d->base.trailer_len = layout->trailer_len;
    d->has_log = layout->has_fingerprint;
    memcpy(d->fingerprint, layout->fingerprint, sizeof d->fingerprint);
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
    uint8_t record[NUMBER_RECORD_LEN];
    b2i_frame_image image = { 0 };
    const b2i_store store = { .checksums = checksums, .is_complete = true };
    b2c_status st = replace_index(dir, now, 0, &store, seal, &image, record, err);
    if (st == B2C_OK) {
        layout->head.header_len = (uint32_t)image.header.n;
        layout->head.frame_len = image.header.n + image.tail.n;
        layout->trailer_len = (uint32_t)image.tail.n;
    }
    b2i_frame_image_free(&image);
    return st;
}

static void count_others(void *arg, const char *name)
{
    size_t *n = arg;
    *n += strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, INDEX_TMP) != 0;
}

b2c_status b2i_store_dir_check_empty(int dir, b2c_error *err)
{
    size_t n = 0;
    B2I_TRY(b2i_fs_dir_each(dir, count_others, &n, err));
    return n == 0 ? B2C_OK
                  : b2i_fail(err, B2C_E_EXISTS, B2C_NO_OFFSET,
                             "there is a directory with files at this path already");
}

void b2i_store_dir_destroy(int dir)
{
    (void)b2i_fs_remove(dir, INDEX_NAME, NULL);
    b2i_fs_dir_close(dir);
}
