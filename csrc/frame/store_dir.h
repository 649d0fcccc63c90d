/*
 * store_dir.h: a sparse frame: a directory with an index file and one file per chunk; shared by
 * its reading half (store_dir.c), its writing half (store_dir_write.c) and recovery
 * (store_dir_redo.c).
 *
 * A chunk gets a file of its own that no committed index names; a commit puts a
 * complete new index file in the place of the old one.  An appended chunk may wait for that: a
 * redo record behind it tells the next who opens the directory.  The index file goes on behind the
 * frame, where others do not look, with a record of the number of the next chunk file.
 * Numbers are not used again, so no record that was left behind can fit a later commit.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_STORE_DIR_H
#define B2I_STORE_DIR_H

#include "frame.h"
#include "gate.h"

#define B2I_DIR_INDEX_NAME "chunks.b2frame"
#define B2I_DIR_INDEX_TMP  "chunks.b2frame.b2tmp"
#define B2I_DIR_MAX_NUMBER ((uint64_t)UINT32_MAX)

enum {
    B2I_DIR_NAME_LEN = 14, /* "0000002A.chunk" */
    B2I_DIR_RECORD_LEN = 24,
};

typedef struct b2i_dir_store {
    b2i_store base;
    int dir;
    b2i_gate gate;     /* of those who read chunk files */
    uint64_t next;     /* number of the next chunk file */
    uint64_t unsynced; /* own files from this number on may not be on the medium */
    bool has_others;   /* nor may those that other handles have written */
    uint64_t pending;  /* bytes of edits that wait for a commit */
    bool is_dirty;     /* anything waits for one */
    bool has_log;      /* redo records may follow the last commit */
    bool was_logged;   /* the present edit has left one */
    b2i_redo_log log;
    bool has_fingerprint; /* when it was opened */
    uint8_t fingerprint[B2I_FINGERPRINT_LEN];
    b2i_frame_mark mark; /* of the last commit, or when it was opened */
    uint64_t *dropped;   /* files that the next commit makes superfluous */
    size_t ndropped, cap;
    uint64_t committed_next; /* chunk files from this one on are not committed */
    bool is_claimed;         /* others leave files alone that no index names, until it is closed */
    uint64_t begin_next;     /* state at the start of a transaction */
    size_t begin_ndropped;
    bool begin_dirty;
    char *place, *path;     /* where it is while it is unborn, and is to be; else NULL */
    b2i_at_path to_replace; /* what is there until then */
} b2i_dir_store;

/* ---- store_dir.c ---- */

/* The name of a chunk file. */
void b2i_dir_name(uint64_t number, char out[B2I_DIR_NAME_LEN + 1]);

/* Opens a chunk file for reading, when not too many of them are open; and closes it. */
b2c_status b2i_dir_open_chunk(b2i_dir_store *d, b2i_entry entry, b2i_io **io, uint64_t *len,
                              b2c_error *err);
void b2i_dir_close_chunk(b2i_dir_store *d, b2i_io *io);

/* ---- store_dir_write.c ---- */

b2c_status b2i_dir_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                       b2c_error *err);
void b2i_dir_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes);
b2c_status b2i_dir_commit(b2i_store *store, b2c_schunk *s, b2i_commit_kind kind, b2c_error *err);
void b2i_dir_begin(b2i_store *store);
void b2i_dir_rollback(b2i_store *store);

/* Stores what waits for a commit. */
b2c_status b2i_dir_settle(b2i_dir_store *d, b2c_schunk *s, b2c_error *err);

/* What has the name of a chunk file. */
b2c_status b2i_dir_look(const b2i_dir_store *d, uint64_t number, b2i_kind *kind, b2c_error *err);

/* Removes a chunk file; one too many does no harm, but its number cannot be used. */
bool b2i_dir_remove(const b2i_dir_store *d, uint64_t number);

/* Puts the index file of a state in the place of the old one; fills 'record'. */
b2c_status b2i_dir_replace_index(int dir, const b2i_state *now, uint64_t next,
                                 const b2i_store *store, bool seal, b2i_frame_image *image,
                                 uint8_t record[B2I_DIR_RECORD_LEN], b2c_error *err);

/* ---- store_dir_redo.c ---- */

void b2i_dir_record_make(uint64_t next, const uint8_t *fingerprint,
                         uint8_t out[B2I_DIR_RECORD_LEN]);

/* The log begins that follows the commit of this record; the first chunk leaves no record. */
void b2i_dir_start_log(b2i_dir_store *d, const b2i_state *now,
                       const uint8_t record[B2I_DIR_RECORD_LEN]);

/* Takes up or removes what a writer that was killed has left, and finds the next number. */
b2c_status b2i_dir_recover(b2i_store *store, b2c_schunk *s, b2c_error *err);

#endif
