/*
 * store_file.h: a contiguous frame in a file or buffer; shared by the reading half
 * (store_file.c), the writing half (store_file_write.c, store_file_room.c, store_file_beside.c)
 * and recovery (store_file_redo.c).
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
 * a new file, the draft, which the first commit puts in the place of the old one.  An unborn
 * frame is an empty one in a file without a name.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_STORE_FILE_H
#define B2I_STORE_FILE_H

#include "frame.h"

enum {
    B2I_NSLOTS = 3,
    B2I_COMMIT_RECORD_LEN = 128, /* follows the frame in each slot */
    B2I_DEAD_LEN = 16,           /* before the index of a packed frame with dead room */
};

/* Room that no index names any more. */
typedef struct b2i_extent {
    uint64_t at, n;
    uint64_t commit_no; /* the commit that dropped it; UINT64_MAX: not committed yet */
} b2i_extent;

typedef struct b2i_file_store {
    b2i_store base;
    b2i_io *io;
    b2i_io *old_io;         /* the committed file while 'io' is a draft, else NULL */
    char *path;             /* of a writer; absolute, without symbolic links */
    b2i_at_path to_replace; /* what is there while the frame is unborn */
    uint64_t origin;
    uint64_t header_len;
    uint64_t limit;      /* end of what an entry may name */
    b2i_frame_mark mark; /* of the last commit, or when it was opened */

    /* the last commit */
    b2i_buf header;
    uint64_t nbytes;
    uint64_t tail_at, tail_len; /* index and trailer */
    uint64_t committed_end;     /* 'end' at that time */
    uint64_t commit_no;
    bool has_fingerprint;
    uint8_t fingerprint[B2I_FINGERPRINT_LEN];

    /* the writer */
    bool has_written; /* its first write has changed the header, so that other writers notice */
    bool is_unpacked;
    uint64_t end;
    uint64_t first_end; /* chunks from here on are this writer's, and their records */
    uint64_t region_at, slot_cap;
    uint32_t slot;
    uint64_t pending;  /* bytes of chunks that wait for a commit */
    bool is_dirty;     /* anything waits for one */
    uint32_t seq;      /* of the next redo record */
    bool was_logged;   /* the present edit has left a redo record */
    bool chain_broken; /* edits without one have been made: no further ones until the next commit */
    uint64_t dead;     /* bytes that have become dead and are not used again, as far as is known */
    b2i_extent *free;
    size_t nfree, free_cap;
    uint64_t pointers_at, pointers_len; /* a run of pointers since the last commit */
    uint64_t begin_end;                 /* state at the start of a transaction */
    size_t begin_nfree;
    bool begin_dirty, begin_draft;
} b2i_file_store;

/* Whether a commit must be on the medium when it is done. */
static inline bool b2i_file_syncs(const b2i_file_store *f)
{
    return f->base.durability == B2C_DURABILITY_COMMIT;
}

/* ---- store_file_write.c ---- */

b2c_status b2i_file_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                        b2c_error *err);
b2c_status b2i_file_log(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2c_error *err);
b2c_status b2i_file_commit(b2i_store *store, b2c_schunk *s, b2i_commit_kind kind, b2c_error *err);
void b2i_file_begin(b2i_store *store);
void b2i_file_rollback(b2i_store *store);

/* Makes an ordinary frame without holes of an unpacked one. */
b2c_status b2i_file_pack(b2i_file_store *f, b2c_schunk *s, b2c_error *err);

/*
 * Whether the stored frame is the one that this writer read or committed: B2C_E_CONFLICT when
 * somebody else has written to it since, whose commits must not be destroyed.
 */
b2c_status b2i_file_check_ours(const b2i_file_store *f, b2c_error *err);

/* The commit that has just become the current one. */
void b2i_file_committed(b2i_file_store *f, b2i_frame_image *image, const b2c_schunk *s);

/*
 * Commits are counted from here on, when the frame with the present mark and fingerprint is packed:
 * sets 'since', which tells it from others.
 */
void b2i_file_count_since(b2i_file_store *f);

/* The mark of a frame that nothing follows; its lengths and the place of the tail are set. */
void b2i_file_mark_packed(b2i_file_store *f, const b2i_frame_image *image);

/* The fingerprint of the image counts from now on, also for its own commit record. */
void b2i_file_take_fingerprint(b2i_file_store *f, const b2i_frame_image *image);

/* ---- store_file_room.c ---- */

#define B2I_NO_ROOM UINT64_MAX

/* The place of n bytes that are free again, which are taken; B2I_NO_ROOM when there are none. */
uint64_t b2i_file_take_free(b2i_file_store *f, uint64_t n);

/* Bytes that the next commit makes free. */
void b2i_file_add_free(b2i_file_store *f, uint64_t at, uint64_t n);
void b2i_file_add_pointer(b2i_file_store *f, uint64_t at);
void b2i_file_forget_free(b2i_file_store *f); /* of a file that another one has replaced */
void b2i_file_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes);

/* What is to stand at 'at', at the end of a packed frame's chunks, and tells of dead bytes. */
void b2i_file_dead_make(uint64_t at, uint64_t dead, uint8_t out[B2I_DEAD_LEN]);

/* Takes over what the last writer of a packed frame has told, if that can be read. */
void b2i_file_dead_read(b2i_file_store *f);

/* After a commit. */
void b2i_file_stamp_free(b2i_file_store *f, const b2i_state *now);

/* ---- store_file_beside.c ---- */

/* Chunks go to a new file from now on.  Where index and trailer go is to be chosen. */
b2c_status b2i_file_start_draft(b2i_file_store *f, b2c_error *err);

/* Gives the draft the name of the frame. */
b2c_status b2i_file_publish_draft(b2i_file_store *f, bool seal, b2c_error *err);

/* Puts the path on the medium, once: whoever gave it to the file may not have done so. */
b2c_status b2i_file_sync_name(b2i_file_store *f, b2c_error *err);

/* Removes files that a writer which was killed has left beside the frame. */
void b2i_file_tidy(const b2i_file_store *f);

/* Forgets a draft, if there is one. */
void b2i_file_drop_draft(b2i_file_store *f);

/* Commits by writing the whole frame anew, without dead space.  Entries change. */
b2c_status b2i_file_rewrite(b2i_file_store *f, b2c_schunk *s, bool seal, b2c_error *err);
b2c_status b2i_file_compact(b2i_store *store, b2c_schunk *s, b2c_error *err);

/* ---- store_file_redo.c ---- */

/* The log that the next edit continues. */
b2i_redo_log b2i_file_redo_log(const b2i_file_store *f);

/* *has: somebody has continued it meanwhile. */
b2c_status b2i_file_has_more(const b2i_file_store *f, bool *has, b2c_error *err);

void b2i_commit_record_make(const b2i_file_store *f, uint64_t frame_len,
                            uint8_t out[B2I_COMMIT_RECORD_LEN]);

/*
 * Goes on from a frame that was left unpacked: finds its free space, and adds
 * the chunks that were stored after the last commit to the schunk.
 */
b2c_status b2i_file_recover(b2i_store *store, b2c_schunk *s, b2c_error *err);

#endif
