/*
 * store_dir_redo.c: what a writer of a directory that was killed has left.
 *
 * The index file goes on behind the frame, where others do not look, with
 *
 *     0   "B2CN"                      8  u64 number of the next chunk file
 *     4   u32 version, 1             16  u64 XXH3 of bytes 0…15 and the frame's fingerprint
 *
 * (little-endian); redo records (store_file_redo.c) name the commit that they follow by this hash.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_dir.h"
#include "checksum.h"
#include "lock.h"

#include <errno.h>
#include <stdlib.h>

enum { RECORD_VERSION = 1 };

void b2i_dir_record_make(uint64_t next, const uint8_t *fingerprint, uint8_t out[B2I_DIR_RECORD_LEN])
{
    uint8_t hashed[16 + B2I_FINGERPRINT_LEN];
    memcpy(hashed, "B2CN", 4);
    b2i_st32le(hashed + 4, RECORD_VERSION);
    b2i_st64le(hashed + 8, next);
    memcpy(hashed + 16, fingerprint, B2I_FINGERPRINT_LEN);
    memcpy(out, hashed, 16);
    b2i_st64le(out + 16, b2i_xxh3_64(b2i_span_of(hashed, sizeof hashed)));
}

void b2i_dir_start_log(b2i_dir_store *d, const b2i_state *now,
                       const uint8_t record[B2I_DIR_RECORD_LEN])
{
    memcpy(d->log.base, record + 16, sizeof d->log.base);
    d->log.seq = 0;
    d->has_log = now->nbytes > 0;
}

/* Reads the record behind the frame in the index file; *found: it is there and belongs to it. */
static b2c_status read_record(b2i_dir_store *d, b2i_io *io, uint8_t record[B2I_DIR_RECORD_LEN],
                              bool *found, b2c_error *err)
{
    const b2i_store *store = &d->base;
    uint8_t expected[B2I_DIR_RECORD_LEN];
    uint64_t len;
    *found = false;
    B2I_TRY(io->ops->size(io, &len, err));
    if (len < store->frame_len || len - store->frame_len < sizeof expected) {
        return B2C_OK;
    }
    B2I_TRY(io->ops->read(io, store->frame_len, record, sizeof expected, err));
    if (!d->has_fingerprint) {
        B2I_TRY(b2i_frame_fingerprint_load(io, store->header_len, 0,
                                           store->frame_len - store->header_len, store->trailer_len,
                                           d->fingerprint, err));
    }
    b2i_dir_record_make(b2i_ld64le(record + 8), d->fingerprint, expected);
    *found = memcmp(record, expected, sizeof expected) == 0;
    return B2C_OK;
}

/* Finds the next number, 'first' at least, and starts the log.  *is_ours: we wrote the index. */
static b2c_status read_next(b2i_dir_store *d, const b2i_state *now, uint64_t first, bool *is_ours,
                            b2c_error *err)
{
    uint8_t record[B2I_DIR_RECORD_LEN];
    b2i_io *io;
    d->next = first;
    d->has_log = false;
    B2I_TRY(b2i_store_dir_open_index(d->dir, &io, err));
    b2c_status st = read_record(d, io, record, is_ours, err);
    (void)io->ops->close(io, NULL);
    B2I_TRY(st);
    uint64_t next = *is_ours ? b2i_ld64le(record + 8) : 0;
    if (*is_ours && next >= first && next <= B2I_DIR_MAX_NUMBER + 1) { /* then there is none */
        d->next = next;
        b2i_dir_start_log(d, now, record);
    }
    return B2C_OK;
}

/* An edit of the log: a chunk file. */
typedef struct step {
    b2i_redo redo;
    b2i_chunk_head head;
    bool is_there;
    bool has_record;   /* that continues the log */
    bool is_sound;     /* and the chunk is the record's */
    bool is_unchecked; /* and that is no checksum for readers */
} step;

/* A directory, a link or a device has the name of a chunk file, which no writer has put there. */
static bool is_no_file(const b2i_dir_store *d, uint64_t number)
{
    b2i_kind kind;
    return b2i_dir_look(d, number, &kind, NULL) == B2C_OK && kind != B2I_NOTHING &&
           kind != B2I_REGULAR;
}

/* What a chunk file is for the log; scratch NULL: its record alone matters. */
static b2c_status look(b2i_dir_store *d, uint64_t number, const b2c_limits *limits,
                       b2i_scratch *scratch, step *out, b2c_error *err)
{
    b2i_redo_place place = { .entry = number };
    b2i_redo_log log = d->log;
    log.seq += (uint32_t)(number - d->next);
    *out = (step){ .is_there = false };
    if (!d->has_log || number > B2I_DIR_MAX_NUMBER) {
        return B2C_OK;
    }
    b2c_status st = b2i_dir_open_chunk(d, number, &place.io, &place.end, err);
    if (st == B2C_E_CORRUPT || (st == B2C_E_IO && is_no_file(d, number))) { /* it is not there */
        return B2C_OK;
    }
    B2I_TRY(st);
    out->is_there = true;
    st = b2i_redo_look(&place, &log, &out->head, &out->redo, &out->has_record, err);
    if (st == B2C_OK && out->has_record && scratch != NULL) {
        st = b2i_redo_check(&place, &out->head, limits, scratch, &out->is_sound, &out->is_unchecked,
                            err);
    }
    b2i_dir_close_chunk(d, place.io);
    return st;
}

/* The first chunk file behind the next one that goes on with the log; 0: there is none. */
static b2c_status find_later(b2i_dir_store *d, uint64_t *number, b2c_error *err)
{
    step other = { .is_there = true };
    *number = 0;
    for (uint64_t i = d->next + 1; other.is_there; i++) {
        B2I_TRY(look(d, i, NULL, NULL, &other, err));
        if (other.has_record) {
            *number = i;
            return B2C_OK;
        }
    }
    return B2C_OK;
}

/* What is known of a chunk that is damaged or gone while there are later ones. */
static b2c_status guess(const b2i_dir_store *d, const b2i_state *now, step *out, b2c_error *err)
{
    if (!d->base.is_trusted || (!out->has_record && now->chunksize <= 0)) {
        (void)b2i_fail(err, B2C_E_CHECKSUM, 0,
                       "a chunk file that a killed writer has left is damaged in front of others");
        b2i_err_chunk(err, (int64_t)now->nchunks);
        return B2C_E_CHECKSUM;
    }
    if (!out->has_record) { /* a short chunk would be the last */
        out->redo = (b2i_redo){ B2I_REDO_APPEND, now->nchunks };
        out->head = (b2i_chunk_head){ .nbytes = (uint32_t)now->chunksize };
    }
    out->head.special = B2C_SPECIAL_NONE; /* who reads the chunk at its place is told */
    return B2C_OK;
}

/*
 * The edit that continues the log.  A chunk that does not fit its record is the last one, which was
 * not finished, unless the log goes on behind it: then it is damaged, and who reads it is told.
 * *later is the last file that is known to be of the log.
 */
static b2c_status find_step(b2i_dir_store *d, const b2c_schunk *s, b2i_scratch *scratch,
                            uint64_t *later, step *out, bool *found, b2c_error *err)
{
    for (int i = 0; i < 2; i++) { /* a writer that lives may have finished it meanwhile */
        B2I_TRY(look(d, d->next, &s->limits, scratch, out, err));
        if (!out->is_sound && *later <= d->next) {
            B2I_TRY(find_later(d, later, err));
        }
        *found = out->is_sound || *later > d->next;
        if (out->is_sound || !*found) {
            d->base.is_cut = out->has_record && !*found;
            return B2C_OK;
        }
    }
    return guess(d, &s->now, out, err);
}

static b2c_status take_steps(b2i_dir_store *d, b2c_schunk *s, b2i_replay *replay,
                             b2i_scratch *scratch, b2c_error *err)
{
    step next;
    uint64_t later = 0;
    bool found;
    for (;;) {
        B2I_TRY(find_step(d, s, scratch, &later, &next, &found, err));
        if (!found) {
            return B2C_OK;
        }
        B2I_TRY(b2i_redo_apply(s, replay, &next.redo, d->next, &next.head, err));
        d->base.is_complete = d->base.is_complete && !next.is_unchecked;
        d->next++;
        d->log.seq++;
        d->is_dirty = d->base.is_writable;
    }
}

/* Takes up the chunks that were appended after the last commit. */
static b2c_status roll_forward(b2i_dir_store *d, b2c_schunk *s, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_replay replay = { .state = &s->now };
    b2c_status st = take_steps(d, s, &replay, &scratch, err);
    b2i_replay_end(&replay);
    b2i_scratch_free(&scratch);
    return st;
}

/* ---- chunk files that no index names ---- */

/* What the last commit and its log need. */
typedef struct needed {
    b2i_entry *named; /* by the index, in order */
    size_t n;
    uint64_t first; /* of the log */
} needed;

static bool is_needed(const b2i_dir_store *d, const needed *by, uint64_t number)
{
    return (number >= by->first && number < d->next) ||
           (by->n > 0 &&
            bsearch(&number, by->named, by->n, sizeof *by->named, b2i_compare_entries) != NULL);
}

/*
 * Removes the files that no index names, but not what a log tells of, though it is damaged: the
 * next number is behind it then.  What the log has made superfluous goes with the next commit.
 */
static b2c_status remove_orphans(b2i_dir_store *d, const needed *by, const b2i_entry *there,
                                 size_t nthere, b2c_error *err)
{
    uint64_t next = d->next;
    step left;
    for (size_t i = 0; i < nthere; i++) {
        uint64_t number = there[i];
        if (is_needed(d, by, number)) {
            if (d->next > by->first) {
                b2i_dir_drop(&d->base, number, 0);
            }
            continue;
        }
        left = (step){ .is_there = false };
        if (number >= d->next) {
            B2I_TRY(look(d, number, NULL, NULL, &left, err));
        }
        if (left.has_record) {
            next = number + 1;
        } else {
            (void)b2i_dir_remove(d, number);
        }
    }
    d->has_log = d->has_log && next == d->next;
    d->next = next;
    return B2C_OK;
}

/*
 * While no writer has a claim.  What one has committed since the index was read here, or will
 * commit, stays: the files are listed before the index is compared, and writers wait.  All stay
 * when the index is another library's, in which damage to what it names would not show.
 */
static b2c_status tidy(b2i_dir_store *d, const needed *by, bool is_ours, b2c_error *err)
{
    b2i_entry *there;
    size_t n;
    b2c_status st = B2C_OK;
    B2I_TRY(b2i_store_dir_list(d->dir, &there, &n, err));
    if (d->base.ops->is_current(&d->base)) {
        (void)b2i_fs_remove(d->dir, B2I_DIR_INDEX_TMP, NULL); /* mostly there is none */
        if (is_ours) {
            st = remove_orphans(d, by, there, n, err);
        } else if (n > 0 && there[n - 1] >= d->next && there[n - 1] < B2I_DIR_MAX_NUMBER) {
            d->next = there[n - 1] + 1;
        }
    }
    b2i_free(there);
    return st;
}

/*
 * Who edits in turns with others goes on while they need what no index names, and so does who
 * cannot know whether somebody does, or cannot remove it: the number of the next chunk file is
 * behind those that a killed one has left.
 */
static b2c_status skip_left(b2i_dir_store *d, b2c_error *err)
{
    for (;; d->next++) {
        b2i_kind kind;
        B2I_TRY(b2i_dir_look(d, d->next, &kind, err));
        if (kind == B2I_NOTHING) {
            return B2C_OK;
        }
        d->has_log = false; /* whose numbers have no gap */
    }
}

b2c_status b2i_dir_recover(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_dir_store *d = (b2i_dir_store *)store;
    needed by = { .named = NULL };
    bool is_ours = false;
    b2c_status st = B2C_OK;
    b2i_entry last = b2i_places_last(&s->now);
    if (store->is_writable) { /* who only reads removes nothing */
        B2I_TRY(b2i_places_sorted(&s->now, &by.named, &by.n, err));
    }
    B2I_GO(st, read_next(d, &s->now, b2i_is_special(last) ? 0 : last + 1, &is_ours, err));
    by.first = d->next;
    B2I_GO(st, roll_forward(d, s, err));
    if (store->is_writable && b2i_fs_claim(d->dir)) { /* else these are another writer's files */
        st = tidy(d, &by, is_ours, err);
        st = st == B2C_OK ? skip_left(d, err) : st;
        b2i_fs_disclaim(d->dir);
    } else if (store->is_writable && (store->is_locked || errno != EWOULDBLOCK)) {
        d->has_log = false; /* files that have been left may look like the log that would follow */
        B2I_GO(st, skip_left(d, err));
    }
    d->unsynced = d->next;
    d->has_others = d->next > 0;
    d->committed_next = d->next;
out:
    b2i_free(by.named);
    return st;
}

/* ---- all chunk files that are there ---- */

/* The number of a name like "0000002A.chunk". */
static bool number_of(const char *name, uint64_t *number)
{
    uint64_t n = 0;
    if (strlen(name) != B2I_DIR_NAME_LEN || strcmp(name + 8, ".chunk") != 0) {
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

typedef struct listing {
    b2i_buf numbers;
    bool failed;
} listing;

static void list_number(void *arg, const char *name)
{
    listing *l = arg;
    uint64_t number;
    if (number_of(name, &number) && !b2i_buf_append(&l->numbers, &number, sizeof number)) {
        l->failed = true;
    }
}

static void remove_number(void *arg, const char *name)
{
    uint64_t number;
    if (number_of(name, &number)) {
        (void)b2i_fs_remove(*(const int *)arg, name, NULL);
    }
}

void b2i_store_dir_clear(int dir)
{
    (void)b2i_fs_dir_each(dir, remove_number, &dir, NULL);
    (void)b2i_fs_remove(dir, B2I_LOCK_NAME, NULL);
    (void)b2i_fs_remove(dir, B2I_DIR_INDEX_NAME, NULL);
}

b2c_status b2i_store_dir_list(int dir, b2i_entry **entries, size_t *n, b2c_error *err)
{
    listing l = { 0 };
    b2c_status st = b2i_fs_dir_each(dir, list_number, &l, err);
    if (st == B2C_OK && l.failed) {
        st = b2i_fail_memory(err);
    }
    if (st != B2C_OK) {
        b2i_buf_free(&l.numbers);
        return st;
    }
    *entries = (b2i_entry *)(void *)l.numbers.p; /* malloc's memory suits any type */
    *n = l.numbers.n / sizeof(b2i_entry);
    if (*n > 0) {
        qsort(*entries, *n, sizeof(b2i_entry), b2i_compare_entries);
    }
    return B2C_OK;
}
