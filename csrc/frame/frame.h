/*
 * frame.h: frames: header, index and trailer as bytes, and the stores that keep
 * super-chunks in them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_FRAME_H
#define B2I_FRAME_H

#include "fs.h"
#include "schunk.h"

enum {
    B2I_FRAME_FIXED_LEN = 87, /* header up to the metalayers */
    B2I_FRAME_FLIP_LEN = 512, /* what one sector of a medium holds: written as a whole or not */
    B2I_FRAME_CONTIGUOUS = 0, /* frame_type */
    B2I_FRAME_SPARSE = 1,
    B2I_TRAILER_TAIL_LEN = 23, /* trailer from its length on */
    B2I_FINGERPRINT_LEN = 16,
    B2I_FINGERPRINT_XXH3 = 3, /* fingerprint type of b2i_frame_fingerprint() */
    B2I_RECORD_LEN = 16,
    /*
     * Numbers of threads in a header, which readers ignore.  The reference library puts its own
     * there when it changes a metalayer, and leaves the fingerprint as it is.
     */
    B2I_FRAME_THREADS_ENC = 11,
    B2I_FRAME_THREADS_DEC = 13,
};

/* ---- parsing ---- */

/* The fixed part of the header; sizes agree with each other. */
typedef struct b2i_frame_head {
    uint32_t header_len;
    uint64_t frame_len;
    uint64_t nbytes;
    uint64_t cbytes; /* contiguous: from the header's end to the index; stale when nbytes is 0 */
    int64_t chunksize;
    uint8_t general_flags;
    uint8_t frame_type;
    bool is_ours; /* nobody else has written the header since */
    b2c_cparams cparams;
} b2i_frame_head;

/*
 * Parses the first 87 bytes of a header (fewer: B2C_E_TRUNCATED, after a look at
 * the magic of what there is).  Frames of the betas of 2019 to 2021 are B2C_E_UNSUPPORTED.
 */
b2c_status b2i_frame_head_parse(b2i_span bytes, b2i_frame_head *out, b2c_error *err);

/* The sizes that headers of all layouts have; in this one, the chunk size is at chunksize_at. */
b2c_status b2i_frame_check_sizes(const b2i_frame_head *head, uint32_t min_header_len,
                                 uint32_t min_trailer_len, uint64_t chunksize_at, b2c_error *err);

/* Adds the metalayers of a complete header; when it fails, those that can be
 * read.  limits may be NULL. */
b2c_status b2i_frame_metas_parse(b2i_span header, const b2c_limits *limits, b2i_metas *metas,
                                 b2c_error *err);

/*
 * Adds the contents of a section (of header or trailer, 'all') whose map of names starts at 'at':
 * the map's size, the map, the array of contents.  What can be read is added also when something
 * else cannot, which repair makes use of.
 */
b2c_status b2i_frame_section_parse(b2i_span all, size_t at, uint32_t max, const b2c_limits *limits,
                                   b2i_metas *metas, b2c_error *err);

/* Length of the trailer that ends a frame, from the frame's last 23 bytes. */
b2c_status b2i_trailer_len_parse(b2i_span tail, const b2i_frame_head *head, uint32_t *trailer_len,
                                 b2c_error *err);

/* The same with the vlmetalayers of a complete trailer.  Offsets in errors count from its start. */
b2c_status b2i_trailer_parse(b2i_span trailer, const b2c_limits *limits, b2i_metas *vlmetas,
                             b2c_error *err);

/* What of a stored frame every commit changes: header, the frame's end, and right behind it. */
enum { B2I_MARK_BEHIND_LEN = 80 }; /* of a commit record up to its number */
typedef struct b2i_frame_mark {
    uint64_t end_at; /* of the last bytes */
    size_t head_len, end_len;
    uint8_t head[B2I_FRAME_FLIP_LEN]; /* the header, or most of it */
    uint8_t end[B2I_TRAILER_TAIL_LEN + B2I_MARK_BEHIND_LEN];
} b2i_frame_mark;

/* Whether the frame at 'origin' of io still bears its mark. */
b2c_status b2i_frame_mark_check(b2i_io *io, uint64_t origin, const b2i_frame_mark *mark, bool *is,
                                b2c_error *err);

/* The mark of a frame with this header that ends with 'tail'; 'behind' is what follows it. */
void b2i_frame_mark_make(b2i_span header, b2i_span tail, uint64_t frame_len, b2i_span behind,
                         b2i_frame_mark *mark);

/* Where the parts of a stored frame are, relative to its start. */
typedef struct b2i_frame_layout {
    b2i_frame_head head;
    uint64_t index_at;  /* the trailer's place when there is no index */
    uint64_t index_len; /* cbytes of the index chunk, 0 when there is none */
    uint32_t trailer_len;
    bool has_wide_index; /* of 128-bit entries: January 2021 */
    bool has_fingerprint;
    bool is_complete; /* the fingerprint says that every chunk has a record */
    uint8_t fingerprint[B2I_FINGERPRINT_LEN];
    b2i_frame_mark mark;
} b2i_frame_layout;

/* Bytes of the frame that were read before they are asked for. */
typedef struct b2i_frame_window {
    uint64_t at;
    b2i_buf bytes;
} b2i_frame_window;

/* A frame as bytes. */
typedef struct b2i_frame_source {
    b2i_io *io;
    uint64_t origin;
    uint64_t len; /* bytes of io behind the origin */
    b2i_frame_window head, tail;
} b2i_frame_source;

/* Bytes [at, at + n) of the frame: a view, or read into buf, which is replaced. */
b2c_status b2i_frame_get(const b2i_frame_source *f, uint64_t at, uint64_t n, b2i_buf *buf,
                         b2i_span *out, b2c_error *err);

/*
 * Decodes the index at layout->index_at, for which there are index_len bytes, into s; index_len is
 * then its own length and *index its bytes.  nchunks UINT64_MAX: not known.
 */
b2c_status b2i_frame_load_index(const b2i_frame_source *f, b2i_frame_layout *layout,
                                uint64_t nchunks, b2c_schunk *s, b2i_buf *buf, b2i_span *index,
                                b2c_error *err);

/*
 * Reads a frame that starts at 'origin' of io into the state of a schunk that
 * has no store yet.  On failure layout->mark.head is still the start of the header.  exact: the
 * frame must fill the rest of io, otherwise bytes may follow it.
 * Frames of 2019 to 2021 are recognised and read too (legacy.h).
 */
b2c_status b2i_frame_load(b2i_io *io, uint64_t origin, bool exact, uint8_t frame_type,
                          b2c_schunk *s, b2i_frame_layout *layout, b2c_error *err);

/* ---- writing ---- */

/* A frame without its chunks. */
typedef struct b2i_frame_image {
    b2i_buf header;
    b2i_buf tail; /* index chunk and trailer */
    size_t index_len;
} b2i_frame_image;

/* Encodes header, index and trailer; the lengths are set later. */
b2c_status b2i_frame_encode(const b2i_state *state, uint8_t frame_type, b2i_frame_image *image,
                            b2c_error *err);

void b2i_frame_image_free(b2i_frame_image *image);

/* Sets frame length and distance to the index in a header. */
void b2i_frame_set_lengths(uint8_t *header, uint64_t frame_len, uint64_t cbytes);

/* Puts the fingerprint of header and tail into the tail. */
void b2i_frame_seal(b2i_frame_image *image, bool is_complete);

/*
 * XXH3 of header, index and trailer, in which the frame length, the distance to the index and
 * the fingerprint itself count as zero: moving index and trailer does not change it.  When not
 * every chunk has a checksum record, a zero byte follows.
 */
void b2i_frame_fingerprint(b2i_span header, b2i_span index, b2i_span trailer, bool is_complete,
                           uint8_t out[B2I_FINGERPRINT_LEN]);

/* Of an image: the one that b2i_frame_seal() has put there, or that of a frame that has none. */
void b2i_frame_image_fingerprint(const b2i_frame_image *image, bool is_sealed,
                                 uint8_t out[B2I_FINGERPRINT_LEN]);

/*
 * The same of a stored frame that has none, as not complete; tail_at counts from the end of the
 * header.
 */
b2c_status b2i_frame_fingerprint_load(b2i_io *io, uint64_t header_len, uint64_t tail_at,
                                      uint64_t tail_len, uint64_t trailer_len,
                                      uint8_t out[B2I_FINGERPRINT_LEN], b2c_error *err);

/*
 * Writes all of a schunk as a contiguous frame without dead space: *entries are
 * the places of the chunks (the caller's to free), *image the rest, *payload_len the distance
 * of header and index.  b2i_frame_emit() then copies chunks and image to 'io'; B2C_E_CONFLICT when
 * a chunk does not have its planned length any more.
 */
typedef struct b2i_frame_plan {
    b2i_entry *entries;
    b2i_frame_image image;
    uint64_t payload_len;
    uint64_t frame_len;
} b2i_frame_plan;
b2c_status b2i_frame_plan_make(const b2c_schunk *s, bool checksums, b2i_frame_plan *plan,
                               b2c_error *err);
b2c_status b2i_frame_emit(const b2c_schunk *s, const b2i_frame_plan *plan, bool checksums,
                          b2i_io *io, b2c_error *err);
void b2i_frame_plan_free(b2i_frame_plan *plan);

/* As b2c_schunk_to_frame(). */
b2c_status b2i_schunk_to_frame(const b2c_schunk *s, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                               b2c_error *err);

/* ---- checksum records of chunks (record.c) ---- */

enum {
    B2I_RECORD_FLAG_PARTS = 1, /* hashes of the chunk's parts follow */
    B2I_RECORD_FLAG_REDO = 2,  /* a redo record follows, before those */
    B2I_RECORD_FLAG_LOG = 4,   /* for recovery only: checksums were not wanted */
};

/* Length of what b2i_records_make() makes, without a redo record. */
size_t b2i_records_len(const b2i_chunk_head *head);

/*
 * Appends what follows a chunk in dead space to out: the checksum record, 'redo', which may be
 * empty, and hashes of the parts of large chunks.  for_log: they are no checksums for readers.
 */
b2c_status b2i_records_make(b2i_span chunk, b2i_entry entry, b2i_span redo, bool for_log,
                            b2i_buf *out, b2c_error *err);

/* As the operations of a store. */
b2c_status b2i_record_part_hashes(b2i_store *store, b2i_entry entry, const b2i_chunk_head *head,
                                  b2i_scratch *scratch, b2i_span *hashes, b2c_error *err);
uint32_t b2i_record_part_hash(b2i_span part);

/*
 * Compares a chunk with its record.  When others may have changed the frame, a
 * record that does not fit counts as none; when every chunk must have one, none is bad.
 */
b2i_verdict b2i_record_check(const b2i_store *store, b2i_span record, b2i_span chunk,
                             b2i_entry entry);

/* Length of the record of the chunk at an entry, and of what belongs to it; 0: it is none. */
uint64_t b2i_record_extent(b2i_span record, const b2i_chunk_head *head, b2i_entry entry);

/* Whether a record is there and fits. */
bool b2i_record_fits(b2i_span record, b2i_span chunk, b2i_entry entry);

/*
 * Another library may have changed chunks in place, in front of their old
 * records.  Before the frame gets a fingerprint again, which says that all records fit, those that
 * do not are removed: 'forget' does so for the chunk at an entry.
 */
b2c_status b2i_records_settle(b2c_schunk *s,
                              b2c_status (*forget)(b2i_store *store, b2i_entry entry,
                                                   b2i_span chunk, b2c_error *err),
                              b2c_error *err);

/* ---- redo records (store_file_redo.c) ---- */

enum { B2I_REDO_LEN = 24, B2I_REDO_BASE_LEN = 8, B2I_POINTER_LEN = 48 };

/* What the next redo record must name: the commit that it follows, and its number since then. */
typedef struct b2i_redo_log {
    uint8_t base[B2I_REDO_BASE_LEN];
    uint32_t seq;
} b2i_redo_log;

void b2i_redo_make(const b2i_redo_log *log, const b2i_redo *redo, uint8_t out[B2I_REDO_LEN]);

/* A redo record of a chunk that stands somewhere else. */
void b2i_pointer_make(const b2i_redo_log *log, const b2i_redo *redo, uint64_t place, b2i_span chunk,
                      uint8_t out[B2I_POINTER_LEN]);

/* Where a chunk may stand with its records: at 'at' of io, of which 'end' is the size. */
typedef struct b2i_redo_place {
    b2i_io *io;
    uint64_t at, end;
    b2i_entry entry;
} b2i_redo_place;

/*
 * *found: its redo record continues the log.  Of the chunk, its header is looked at; head->nbytes
 * is 0 when there is none.
 */
b2c_status b2i_redo_look(const b2i_redo_place *place, const b2i_redo_log *log, b2i_chunk_head *head,
                         b2i_redo *redo, bool *found, b2c_error *err);

/*
 * *fits: the chunk is the one of its checksum record; *is_unchecked: which is none for readers.
 * B2C_E_LIMIT; limits may be NULL.
 */
b2c_status b2i_redo_check(const b2i_redo_place *place, const b2i_chunk_head *head,
                          const b2c_limits *limits, b2i_scratch *scratch, bool *fits,
                          bool *is_unchecked, b2c_error *err);

/*
 * Makes the edit of a chunk at 'entry' in the state of the replay, that of s.  B2C_E_CORRUPT when
 * the state does not allow it, B2C_E_LIMIT when the limits of s do not.
 */
b2c_status b2i_redo_apply(const b2c_schunk *s, b2i_replay *replay, const b2i_redo *redo,
                          b2i_entry entry, const b2i_chunk_head *head, b2c_error *err);

/* ---- commits that may wait ---- */

enum { B2I_EDIT_PENDING = 64 }; /* bytes that an edit counts for besides its chunk */

/*
 * Bytes of edits that may wait for a commit while a log tells of them: several times the index,
 * which takes 8 for each chunk at the most, so that commits write less than edits do.
 */
static inline uint64_t b2i_max_pending(uint64_t nchunks)
{
    const uint64_t least = (uint64_t)256 << 10, several = 32 * nchunks;
    return several > least ? several : least;
}

/* ---- stores ---- */

b2c_status b2i_store_mem_new(b2i_store **out, b2c_error *err);

/* Changes in memory on top of 'below', which is taken on success. */
b2c_status b2i_store_overlay_new(b2i_store *below, b2i_store **out, b2c_error *err);

/* Takes io, also when it fails.  path NULL: no file. */
b2c_status b2i_store_file_new(b2i_io *io, const char *path, uint64_t origin, bool is_writable,
                              const b2i_frame_layout *layout, b2i_store **out, b2c_error *err);
/* The first commit gives an empty frame, whose file has no name, its path.  B2C_E_EXISTS. */
b2c_status b2i_store_file_unborn(b2i_store *store, const char *path, b2c_error *err);

/* Takes dir, an open directory, also when it fails. */
b2c_status b2i_store_dir_new(int dir, bool is_writable, const b2i_frame_layout *layout,
                             b2i_store **out, b2c_error *err);
/*
 * The first commit gives a new frame, whose directory is at 'place', its path; both are taken, to
 * be freed, with success.
 */
void b2i_store_dir_unborn(b2i_store *store, char *place, char *path, const b2i_at_path *there);
/* Where its directory is until then. */
const char *b2i_store_dir_place(const b2i_store *store);

/* The index file of an open directory; and the first one of a new directory. */
b2c_status b2i_store_dir_open_index(int dir, b2i_io **io, b2c_error *err);
b2c_status b2i_store_dir_create(int dir, const b2i_state *now, bool checksums, bool seal,
                                b2i_frame_layout *layout, b2c_error *err);

/* Whether there is no more in a directory than the start of an index file. */
b2c_status b2i_store_dir_is_empty(int dir, bool *is, b2c_error *err);

/* The numbers of all chunk files in a directory, in order; to be freed. */
b2c_status b2i_store_dir_list(int dir, b2i_entry **entries, size_t *n, b2c_error *err);

/* Removes all files that belong to a frame in a directory. */
void b2i_store_dir_clear(int dir);

/* ---- making (create.c) ---- */

b2c_status b2i_schunk_create(const b2c_schunk_params *params, b2c_schunk **out, b2c_error *err);
/* Removes a frame that was made and, closed, is no use. */
void b2i_schunk_remove(uint8_t storage, const char *path);

/* ---- opening (open.c) ---- */

b2c_status b2i_schunk_open_path(const char *path, uint64_t offset, int mode,
                                const b2c_limits *limits, b2c_schunk **out, b2c_error *err);
/* A second super-chunk for what an open one refers to, without a lock. */
b2c_status b2i_schunk_reopen(const b2c_schunk *s, b2c_schunk **out, b2c_error *err);
/*
 * What it is opened again from: the same file for those that edit it or have its lock; for other
 * readers what is at the path then.
 */
b2c_status b2i_schunk_keep_origin(b2c_schunk *s, const char *path, uint64_t offset, int mode,
                                  b2c_error *err);

b2c_status b2i_schunk_open_io(const b2c_io_table *table, uint64_t offset, const b2c_limits *limits,
                              b2c_schunk **out, b2c_error *err);
b2c_status b2i_schunk_open_bytes(b2i_span frame, bool copy, const b2c_limits *limits,
                                 b2c_schunk **out, b2c_error *err);

/* ---- with other processes (share.c) ---- */

/*
 * As b2c_schunk_lock() and b2c_schunk_unlock(); nothing happens without a lock file.  unlock()
 * stores what an edit has left pending, unless st, the edit's own status, is a failure;
 * returns the first failure.
 */
b2c_status b2i_schunk_lock(b2c_schunk *s, bool exclusive, bool *changed, b2c_error *err);
b2c_status b2i_schunk_unlock(b2c_schunk *s, b2c_status st, b2c_error *err);

/* As b2c_schunk_is_current() and b2c_schunk_recheck(). */
bool b2i_schunk_is_current(const b2c_schunk *s);
b2c_status b2i_schunk_recheck(b2c_schunk *s, bool *lost, b2c_error *err);

/* Reads the stored frame anew; as b2c_schunk_refresh(). */
b2c_status b2i_schunk_refresh(b2c_schunk *s, int *change, b2c_error *err);

#endif
