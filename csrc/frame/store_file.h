/*
 * store_file.h: a contiguous frame in a file or buffer; shared by the reading half
 * (store_file.c), the writing half (store_file_write.c) and recovery (store_file_redo.c).
 *
 * Between its first change and its closing, a file is "unpacked":
 *
 *     header | chunks | reserve (a hole) | slot 0 | slot 1 | slot 2
 *            0        end                region_at
 *
 * Chunks are added at 'end'.  A commit writes index and trailer to the next slot
 * and then, with one write to the first sector of the file, a header that
 * names them.  Nothing that the last header, or the one before, leads to is
 * ever overwritten.  At any moment the file is an ordinary frame for
 * everybody else, with dead space.  Positions count from the end of the header, unless they are
 * named otherwise.
 *
 * An empty frame has its trailer right behind the header, where the reference
 * library looks for it.  It is therefore never changed in place: the first chunks go to
 * a new file, the draft, which the first commit puts in the place of the old one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_STORE_FILE_H
#define B2I_STORE_FILE_H

#include "frame.h"

enum {
    B2I_NSLOTS = 3,
    B2I_COMMIT_RECORD_LEN = 128, /* follows the frame in each slot */
};

/* Room that no index names any more. */
typedef struct b2i_extent {
    uint64_t at, n;
    uint64_t commit_no; /* the commit that dropped it; UINT64_MAX: not committed yet */
} b2i_extent;

typedef struct b2i_file_store {
    b2i_store base;
    b2i_io *io;
    b2i_io *old_io; /* the committed file while 'io' is a draft, else NULL */
    char *path;     /* NULL: not a file with a name */
    uint64_t origin;
    uint64_t header_len;
    uint64_t limit; /* end of what an entry may name */

    /* the last commit */
    b2i_buf header;
    uint64_t nbytes;
    uint64_t tail_at, tail_len; /* index and trailer */
    uint64_t committed_end;     /* 'end' at that time */
    uint64_t commit_no;
    bool has_fingerprint;
    uint8_t fingerprint[B2I_FINGERPRINT_LEN];

    /* the writer */
    bool is_unpacked;
    uint64_t end;
    uint64_t region_at, slot_cap;
    uint32_t slot;
    uint64_t pending;  /* bytes of chunks that wait for a commit */
    bool is_dirty;     /* anything waits for one */
    uint32_t seq;      /* of the next redo record */
    bool was_logged;   /* the present edit has left a redo record */
    bool chain_broken; /* edits without one have been made: no further ones until the next commit */
    uint64_t dead;     /* bytes that have become dead and are not used again */
    b2i_extent *free;
    size_t nfree, free_cap;
    uint64_t begin_end; /* state at the start of a transaction */
    size_t begin_nfree;
} b2i_file_store;

/* ---- store_file_write.c ---- */

b2c_status b2i_file_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                        b2c_error *err);
b2c_status b2i_file_log(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2c_error *err);
void b2i_file_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes);
b2c_status b2i_file_commit(b2i_store *store, b2c_schunk *s, b2i_commit_kind kind, b2c_error *err);
void b2i_file_begin(b2i_store *store);
void b2i_file_rollback(b2i_store *store);
b2c_status b2i_file_compact(b2i_store *store, b2c_schunk *s, b2c_error *err);

/* Forgets a draft, if there is one. */
void b2i_file_drop_draft(b2i_file_store *f);

/* Makes an ordinary frame without holes of an unpacked one. */
b2c_status b2i_file_pack(b2i_file_store *f, b2c_schunk *s, b2c_error *err);

/* ---- store_file_redo.c ---- */

/* The log that the next edit continues. */
b2i_redo_log b2i_file_redo_log(const b2i_file_store *f);

void b2i_commit_record_make(const b2i_file_store *f, uint64_t frame_len,
                            uint8_t out[B2I_COMMIT_RECORD_LEN]);

/*
 * Goes on from a frame that was left unpacked: finds its free space, and adds
 * the chunks that were stored after the last commit to the schunk.
 */
b2c_status b2i_file_recover(b2i_store *store, b2c_schunk *s, b2c_error *err);

#endif
