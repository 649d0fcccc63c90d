/*
 * schunk.h: the super-chunk: an ordered set of chunks with metadata, whatever
 * medium keeps it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_SCHUNK_H
#define B2I_SCHUNK_H

#include "store.h"

#define B2I_MAX_NCHUNKS   ((uint64_t)B2C_MAX_CHUNK_NBYTES / 8) /* the index is a chunk */
#define B2I_SAFE_NCHUNKS  ((uint64_t)1 << 24) /* so many are accepted without being asked for */
#define B2I_MAX_VLMETA    8192
#define B2I_CHUNKSIZE_VAR 0    /* b2i_state.chunksize: chunks of any size */
#define B2I_CHUNKSIZE_NEW (-1) /* no chunk yet, the first one decides */

enum { B2I_MIN_STORED_LEN = 32 }; /* the reference library reads no shorter chunk of a frame */

typedef struct b2i_meta {
    char name[B2C_MAX_NAME_LEN + 1];
    uint8_t *p; /* metalayer: the content; vlmetalayer: a chunk of it */
    size_t n;
    uint32_t at; /* of p in the header or trailer that it was read from */
} b2i_meta;

static inline b2i_span b2i_meta_span(const b2i_meta *meta)
{
    return b2i_span_of(meta->p, meta->n);
}

typedef struct b2i_metas {
    b2i_meta *v;
    uint32_t n;
    uint64_t trailer_at; /* in the file, as it was opened; 0: not known, as after changes */
} b2i_metas;

/* What a commit stores and a rollback restores. */
typedef struct b2i_state {
    b2c_cparams cparams; /* of later appends; typesize and blocksize are the frame's */
    int64_t chunksize;   /* > 0, B2I_CHUNKSIZE_VAR or B2I_CHUNKSIZE_NEW */
    uint64_t nbytes;
    uint64_t cbytes;   /* stored bytes of payload chunks */
    uint64_t nspecial; /* entries without payload */
    bool has_vlblocks; /* bit 7 of general_flags */
    uint64_t nchunks;
    b2i_entry *entries; /* NULL: all are 'uniform', until chunks are changed */
    b2i_entry uniform;
    uint64_t max_listed; /* so many may be listed instead; 0: any number */
    uint64_t *ends;  /* chunksize 0: position behind each chunk in the decoded data; else NULL */
    size_t cap;      /* room in entries, and in ends when there are any */
    bool has_places; /* nothing was edited since the frame was opened: b2i_places_room() knows */
    struct b2i_places *places; /* NULL: 'entries' are in order, and none is special */
    b2i_metas metas;
    b2i_metas vlmetas;
} b2i_state;

struct b2c_schunk {
    b2i_state now;
    b2i_state *saved;  /* what a rollback restores; NULL: no transaction */
    bool is_half_done; /* an edit in the transaction failed after some of its steps */
    b2c_limits limits;
    b2i_store *store;
    char *path; /* absolute, to open it again; NULL: nobody else can change it */
    uint64_t offset;
    int mode;
    struct b2i_lock *lock; /* NULL: none */
    bool has_own_cparams;  /* later appends do not follow those of the frame */
    bool has_stored_flags;
    uint8_t stored_flags;  /* general_flags as they were read */
    uint8_t frame_version; /* what they say of the version */
    bool is_legacy;        /* of a layout before 2021, which is only read */
    bool changed;          /* differs from what was opened */
    uint64_t put_len;      /* bytes of all chunks that were added since it was opened */
    uint64_t id;           /* no other super-chunk of the process has it */
    uint64_t edits;     /* changes whenever the chunks may: decoded blocks that were kept are old */
    b2i_hook pre, post; /* what the user wants done with data before and after it is stored */
};

/* ---- chunks for reading ---- */

/* An open chunk of a super-chunk.  It must stay where it is while it is open. */
typedef struct b2i_stored_chunk {
    b2i_chunk chunk;
    b2i_store *store;
    b2i_entry entry;
    b2i_span hashes; /* of its parts, empty when they are not to be compared */
    b2i_scratch hash_bytes, whole;
    b2i_span ahead; /* stored bytes from ahead_at on that were read before they are asked for */
    uint64_t ahead_at;
    b2i_span bytes; /* of a special chunk, or of one that was read whole; else empty */
    uint8_t special[B2C_HEADER_LEN]; /* where those of a special chunk are */
} b2i_stored_chunk;

/* Entry n < nchunks of the index. */
static inline b2i_entry b2i_state_entry(const b2i_state *state, uint64_t nchunk)
{
    return state->entries == NULL ? state->uniform : state->entries[nchunk];
}

/* Gives a state of equal entries the array that changes of chunks need; B2C_E_LIMIT. */
b2c_status b2i_state_list_entries(b2i_state *state, b2c_error *err);

/*
 * Gives an empty state of one chunksize 'nbytes' of equal entries, without a loop; false: it is not
 * empty, or these are too many.
 */
bool b2i_state_set_uniform(b2i_state *state, b2i_entry entry, uint64_t nbytes);

/* Decoded bytes of chunk n < nchunks, and where they start in the decoded data. */
uint64_t b2i_state_chunk_nbytes(const b2i_state *state, uint64_t nchunk);
uint64_t b2i_schunk_chunk_nbytes(const b2c_schunk *s, uint64_t nchunk);
uint64_t b2i_schunk_chunk_at(const b2c_schunk *s, uint64_t nchunk);

/* The chunk that holds byte 'at' < nbytes of the decoded data. */
uint64_t b2i_schunk_chunk_of(const b2c_schunk *s, uint64_t at);

/*
 * Opens chunk n for b2i_chunk_decode… on out->chunk; only its header and tables
 * are read, or all of a small chunk, so that its checksum is compared.  The blocks of others are
 * compared when they are read.  Its decoded size is the one the super-chunk expects.  limits NULL:
 * those of the super-chunk.  B2C_E_RANGE, and errors as b2i_chunk_open() that name the chunk.
 */
b2c_status b2i_stored_chunk_open(const b2c_schunk *s, uint64_t nchunk, const b2c_limits *limits,
                                 b2i_stored_chunk *out, b2c_error *err);
void b2i_stored_chunk_close(b2i_stored_chunk *c);

/*
 * The same with the limits of the super-chunk, for one read: the context may have the chunk open
 * since an earlier one, and may keep it.  One at a time.
 *
 * b2i_kept_chunk_close() tells whether the read is to be done again: it failed, with what was known
 * since before, and other libraries replace chunks of equal length in place.
 */
b2c_status b2i_kept_chunk_open(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                               b2i_stored_chunk **out, b2c_error *err);
bool b2i_kept_chunk_close(b2c_ctx *ctx, b2i_stored_chunk *c, b2c_status status);

/*
 * Reads the stored bytes of blocks first…last at once, where they are neighbours, so that
 * decoding them takes no further calls.  Where that cannot be done they are read one by one.
 */
void b2i_stored_chunk_read_ahead(b2i_stored_chunk *c, uint32_t first, uint32_t last);

/* A failure in the bytes of chunk n < nchunks: says which, and where that is in the file. */
b2c_status b2i_schunk_fail_in_chunk(const b2c_schunk *s, uint64_t nchunk, b2c_status st,
                                    b2c_error *err);

/* Sets what the metalayer of an array tells of its blocks. */
void b2i_schunk_blockshape(const b2c_schunk *s, b2i_site *site);

/* Where chunk n stands; hook: what is done with its blocks, NULL: nothing. */
b2i_site b2i_schunk_site(const b2c_schunk *s, uint64_t nchunk, const b2i_hook *hook);

/* Decodes chunk n wholly; as b2c_schunk_decode_chunk() when post is the schunk's. */
b2c_status b2i_schunk_decode_chunk(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                                   const b2i_hook *post, uint8_t *dst, size_t dst_cap,
                                   size_t *dst_len, b2c_error *err);

/* As b2c_schunk_vlblock_lens(), b2c_schunk_get_vlblock() and b2c_schunk_append_vlblocks(). */
b2c_status b2i_schunk_vl_lens(const b2c_schunk *s, uint64_t nchunk, uint32_t *lens, size_t lens_cap,
                              size_t *nblocks, b2c_error *err);
b2c_status b2i_schunk_vl_block(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, uint64_t nblock,
                               uint8_t *dst, size_t dst_cap, size_t *dst_len, b2c_error *err);
b2c_status b2i_schunk_append_vlblocks(b2c_schunk *s, b2c_ctx *ctx, b2i_span *blocks, size_t nblocks,
                                      b2c_error *err);

/* B2C_E_RANGE for a chunk of a number from 'end' on: that of the chunks, or one more. */
b2c_status b2i_schunk_check_nchunk(const b2c_schunk *s, uint64_t nchunk, uint64_t end,
                                   b2c_error *err);

/* The header of chunk n alone. */
b2c_status b2i_schunk_chunk_head(const b2c_schunk *s, uint64_t nchunk, b2i_chunk_head *head,
                                 b2c_error *err);

/* As b2c_schunk_next_dict(). */
b2c_status b2i_schunk_next_dict(const b2c_schunk *s, uint64_t first, uint64_t *nchunk,
                                b2c_error *err);

/* Stored bytes of chunk n, in 'scratch' or in memory that the schunk keeps. */
b2c_status b2i_schunk_chunk_bytes(const b2c_schunk *s, uint64_t nchunk, b2i_scratch *scratch,
                                  b2i_span *out, b2c_error *err);

/* As b2c_schunk_get_chunk() and b2c_schunk_verify_chunk(). */
b2c_status b2i_schunk_get_chunk(const b2c_schunk *s, uint64_t nchunk, uint8_t *dst, size_t dst_cap,
                                size_t *dst_len, b2c_error *err);
b2c_status b2i_schunk_verify_chunk(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                                   int *has_checksum, b2c_error *err);

/* As b2c_schunk_verify_chunks(). */
b2c_status b2i_schunk_verify_chunks(const b2c_schunk *s, b2c_ctx *ctx, uint64_t first,
                                    uint64_t max_payloads, uint64_t *nsound, uint64_t *nunverified,
                                    b2c_error *err);

/* Bytes [at, at + n) of the decoded data, through the schunk's post-filter. */
b2c_status b2i_schunk_read(const b2c_schunk *s, b2c_ctx *ctx, uint64_t at, uint64_t n, uint8_t *dst,
                           b2c_error *err);

/* ---- editing (edit.c); all are committed according to the store's durability ---- */

b2c_status b2i_schunk_check_writable(const b2c_schunk *s, b2c_error *err);

/* Appends, inserts before chunk n, or replaces chunk n by a complete chunk. */
b2c_status b2i_schunk_append_chunk(b2c_schunk *s, b2i_span chunk, b2c_error *err);
/* The same of a chunk in scratch memory, which the store may keep: 'made' is empty then. */
b2c_status b2i_schunk_append_made(b2c_schunk *s, b2i_scratch *made, b2i_span chunk, b2c_error *err);
b2c_status b2i_schunk_insert_chunk(b2c_schunk *s, uint64_t nchunk, b2i_span chunk, b2c_error *err);
b2c_status b2i_schunk_update_chunk(b2c_schunk *s, uint64_t nchunk, b2i_span chunk, b2c_error *err);

/*
 * Compresses src, which is to be chunk n, with the schunk's parameters into scratch.  pre: what
 * makes the data of src, whose bytes may then be NULL; or NULL.
 */
b2c_status b2i_schunk_compress(const b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk,
                               const b2i_hook *pre, b2i_span src, b2i_scratch *scratch,
                               b2i_span *out, b2c_error *err);

/* Inserts before chunk n, or at the end, and replaces, with data to be compressed. */
b2c_status b2i_schunk_insert_data(b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, b2i_span src,
                                  b2c_error *err);
b2c_status b2i_schunk_update_data(b2c_schunk *s, b2c_ctx *ctx, uint64_t nchunk, b2i_span src,
                                  b2c_error *err);

/* Appends all chunks of another schunk as they are and sets its vlmetalayers, as one edit. */
b2c_status b2i_schunk_copy_chunks(const b2c_schunk *from, b2c_schunk *to, b2c_error *err);

/* Appends the chunks of another schunk that have these numbers, as they are, as one edit. */
b2c_status b2i_schunk_copy_some(const b2c_schunk *from, const uint64_t *numbers, uint64_t n,
                                b2c_schunk *to, b2c_error *err);

/* Whether a chunk of nbytes fits a state of equal chunks, of which the last may be shorter. */
bool b2i_state_stays_regular(const b2i_state *state, b2i_redo where, uint64_t nbytes);

/*
 * Whether the index alone can stand for a chunk: its kind has no value, its
 * size follows from the chunksize, and NaN keep their width.
 */
bool b2i_state_fits_index(const b2i_state *state, const b2i_chunk_head *head);

/* Another typesize or blocksize is an edit; there must be no chunks then. */
b2c_status b2i_schunk_set_cparams(b2c_schunk *s, const b2c_cparams *cparams, b2c_error *err);

/* For who changes the arrays itself: B2C_E_LIMIT when zeros cannot make them nchunks. */
b2c_status b2i_schunk_check_zeros(const b2c_schunk *s, uint64_t nchunks, b2c_error *err);

/* The same: chunk n is about to leave them. */
void b2i_schunk_let_go(b2c_schunk *s, uint64_t nchunk);

/* In a transaction: takes away the chunks behind the first n.  It cannot fail. */
void b2i_schunk_keep_first(b2c_schunk *s, uint64_t n);

b2c_status b2i_schunk_delete_chunk(b2c_schunk *s, uint64_t nchunk, b2c_error *err);
b2c_status b2i_schunk_reorder(b2c_schunk *s, const uint64_t *order, uint64_t norder,
                              b2c_error *err);

/*
 * Fills an empty super-chunk of one chunksize with 'nbytes' of special chunks, without a loop over
 * them; the last one may be another.  *done false: it is not empty, or they do not suit the index.
 * In a transaction only.
 */
b2c_status b2i_schunk_fill_uniform(b2c_schunk *s, b2i_span chunk, b2i_span last, uint64_t nbytes,
                                   bool *done, b2c_error *err);

/* Appends special chunks of the schunk's chunksize that make nbytes in all. */
b2c_status b2i_schunk_fill_special(b2c_schunk *s, uint64_t nbytes, uint8_t kind,
                                   const uint8_t *value, b2c_error *err);
b2c_status b2i_schunk_update_special(b2c_schunk *s, uint64_t nchunk, uint8_t kind,
                                     const uint8_t *value, b2c_error *err);

/* As b2c_schunk_fill(). */
b2c_status b2i_schunk_fill(b2c_schunk *s, b2c_ctx *ctx, uint64_t nbytes, b2i_hook hook,
                           b2c_error *err);

/* Writes src at byte 'at' <= nbytes of the decoded data, growing it when it ends beyond. */
b2c_status b2i_schunk_write(b2c_schunk *s, b2c_ctx *ctx, uint64_t at, b2i_span src, b2c_error *err);

/* Cuts the decoded data to nbytes. */
b2c_status b2i_schunk_truncate(b2c_schunk *s, b2c_ctx *ctx, uint64_t nbytes, b2c_error *err);

/* ---- edits of a log (replay.c) ---- */

/*
 * Begins as { .state = ... }, which shows its numbers and sizes but not all of its chunks until the
 * end.  An edit takes about as long with many chunks as with few: all of them move once in 4096.
 */
typedef struct b2i_replay {
    b2i_state *state;
    bool has_begun;
    struct b2i_pending *pending;
    size_t npending;
} b2i_replay;

/*
 * Puts an entry of nbytes in front or in place of a chunk, or at the end: a place that there is.
 * *done false: the chunks would not be of one size any more.
 */
b2c_status b2i_replay_edit(b2i_replay *replay, b2i_redo where, b2i_entry entry, uint64_t nbytes,
                           bool *done, b2c_error *err);

/* Also after a failure. */
void b2i_replay_end(b2i_replay *replay);

/* ---- transactions (txn.c) ---- */

b2c_status b2i_schunk_begin(b2c_schunk *s, b2c_error *err);
b2c_status b2i_schunk_commit(b2c_schunk *s, b2c_error *err);
void b2i_schunk_rollback(b2c_schunk *s);

/* Makes all edits the stored state, at any durability, and synchronises. */
b2c_status b2i_schunk_flush(b2c_schunk *s, b2c_error *err);

/* Stores what closing would, before another handle writes to the file. */
b2c_status b2i_schunk_settle(b2c_schunk *s, b2c_error *err);

/* Rewrites without dead space. */
b2c_status b2i_schunk_compact(b2c_schunk *s, b2c_error *err);

/* An edit of several steps. */
typedef struct b2i_steps {
    bool opened;    /* a transaction, for there was none */
    uint64_t edits; /* that had been made before */
    uint64_t nchunks;
    int64_t chunksize;
    bool has_vlblocks;
} b2i_steps;

/*
 * begin_steps() opens a transaction unless there is one already, end_steps() ends the one that it
 * opened: rolled back when 'st' is a failure.  One that was there cannot be committed then, if some
 * of the steps were made.
 */
b2c_status b2i_schunk_begin_steps(b2c_schunk *s, b2i_steps *steps, b2c_error *err);
b2c_status b2i_schunk_end_steps(b2c_schunk *s, b2i_steps steps, b2c_status st, b2c_error *err);

/*
 * The same of steps that have but appended chunks: after a failure these are taken away again, and
 * a transaction that was there goes on.
 */
b2c_status b2i_schunk_end_appends(b2c_schunk *s, b2i_steps steps, b2c_status st, b2c_error *err);

/* Forgets where chunks and vlmetalayers were, also what contexts keep of that. */
void b2i_schunk_moved(b2c_schunk *s);

/* What every edit calls when it is done: commits unless a transaction is open. */
b2c_status b2i_schunk_edited(b2c_schunk *s, b2i_commit_kind kind, b2c_error *err);

/* ---- metadata (meta.c) ---- */

/* Checks a name of up to 31 bytes. */
b2c_status b2i_meta_name_check(const char *name, b2c_error *err);

/* The metalayer with a name, or NULL. */
b2i_meta *b2i_metas_find(const b2i_metas *metas, const char *name);

/* Adds a copy of the bytes under a checked name that is not there yet. */
b2c_status b2i_metas_add(b2i_metas *metas, const char *name, b2i_span bytes, b2c_error *err);

/* Adds all of others, in place of those that have their names. */
b2c_status b2i_metas_merge(const b2i_metas *from, b2i_metas *to, b2c_error *err);

/* Makes *to, which is empty, a copy. */
b2c_status b2i_metas_copy(const b2i_metas *from, b2i_metas *to, b2c_error *err);
void b2i_metas_remove(b2i_metas *metas, b2i_meta *meta);
void b2i_metas_free(b2i_metas *metas);

/* B2C_E_LIMIT when so many new ones would be more than anybody opens. */
b2c_status b2i_vlmetas_check_room(const b2i_metas *vlmetas, uint32_t nnew, b2c_error *err);

/* A new metalayer, while there are no chunks. */
b2c_status b2i_meta_add(b2c_schunk *s, const char *name, b2i_span content, b2c_error *err);

/* Offsets in errors count from the meta's bytes. */
b2c_status b2i_vlmeta_get(const b2i_meta *meta, const b2c_limits *of, b2c_ctx *ctx, uint8_t *dst,
                          size_t dst_cap, size_t *dst_len, b2c_error *err);
/* The same of a super-chunk, with its limits; offsets of the file. */
b2c_status b2i_schunk_vlmeta_get(const b2c_schunk *s, b2c_ctx *ctx, const b2i_meta *meta,
                                 uint8_t *dst, size_t dst_cap, size_t *dst_len, b2c_error *err);
/*
 * Makes out, which is empty, the chunk of a vlmetalayer's value, with the parameters that
 * Python-Blosc2 uses for its own: the defaults.
 */
b2c_status b2i_vlmeta_encode(b2c_ctx *ctx, b2i_span value, b2i_buf *out, b2c_error *err);
b2c_status b2i_vlmeta_set(b2c_schunk *s, b2c_ctx *ctx, const char *name, b2i_span value,
                          b2c_error *err);

/* ---- places (places.c) ---- */

/* What the entries of an index are. */
typedef struct b2i_survey {
    uint64_t nspecial;
    uint64_t odd;    /* the first special one of no known kind, or place from 'end' on; n: none */
    b2i_entry last;  /* the highest place, if there is any */
    bool is_ordered; /* the places come in their order, as in frames that were written in one go */
} b2i_survey;

/* What readers find out of them, any number of threads at a time. */
typedef struct b2i_places {
    size_t n;          /* of chunks with payload */
    bool is_ordered;   /* each is behind those of the chunks before */
    uint32_t nlooks;   /* for the one behind another */
    b2i_entry *sorted; /* NULL: that was not often */
} b2i_places;

/*
 * After an index was loaded: B2C_E_CORRUPT when two entries name the same chunk.  are_offsets: they
 * are places in one file, of which is kept how far each is from the next one.  The survey of the
 * entries saves time; NULL: there was none.
 */
b2c_status b2i_places_check(b2i_state *now, bool are_offsets, const b2i_survey *survey,
                            b2c_error *err);

/*
 * For what copies all chunks, also after edits: B2C_E_CORRUPT when the first of them take more
 * bytes together than the frame has, so that copies of a frame are no larger than it is.
 */
b2c_status b2i_places_check_total(const b2c_schunk *s, uint64_t total, b2c_error *err);

/* What every edit of the entries calls. */
void b2i_places_forget(b2i_state *now);

/* The last of the places in one file; one with B2I_ENTRY_SPECIAL: there is none. */
b2i_entry b2i_places_last(const b2i_state *now);

/* Bytes from the place of chunk n, which has payload, to the next one; UINT64_MAX: not known. */
uint64_t b2i_places_room(const b2i_state *now, uint64_t nchunk);

/* The order of entries, for bsearch(). */
int b2i_compare_entries(const void *a, const void *b);

/* The entries that are listed and have payload, in their order; to be freed. */
b2c_status b2i_places_sorted(const b2i_state *now, b2i_entry **places, size_t *nplaces,
                             b2c_error *err);

/* ---- index (index.c) ---- */

/* How many entries an index may have. */
typedef struct b2i_index_room {
    uint64_t nchunks;     /* exactly, or UINT64_MAX */
    uint64_t max;         /* that are listed */
    uint64_t max_uniform; /* that are one and the same special one */
    bool is_wide;         /* of 128 bits, as frames of a few days had them */
} b2i_index_room;

/* By the limits of a super-chunk, in a frame of so many bytes. */
b2i_index_room b2i_index_room_of(const b2c_limits *limits, uint64_t nchunks, uint64_t frame_len);

typedef struct b2i_index {
    b2i_entry *entries; /* to be freed; NULL: all are 'uniform' */
    b2i_entry uniform;
    uint64_t n;
} b2i_index;

b2c_status b2i_index_decode(b2i_span chunk, b2i_index_room room, b2i_index *out, b2c_error *err);

/* Appends the index chunk of n > 0 entries to out; entries NULL: all are 'uniform'. */
b2c_status b2i_index_encode(const b2i_entry *entries, b2i_entry uniform, uint64_t n, b2i_buf *out,
                            b2c_error *err);

/* Number of special entries; every one of them has a known kind. */
uint64_t b2i_index_nspecial(const b2i_entry *entries, uint64_t n);

/* In one go, as there may be millions. */
b2i_survey b2i_index_survey(const b2i_entry *entries, uint64_t n, uint64_t end);

/* B2C_SPECIAL_… of an entry with the top bit set; NONE for a kind that does not exist. */
uint8_t b2i_entry_kind(b2i_entry entry);

/* The entry of a kind other than NONE and VALUE. */
b2i_entry b2i_special_entry(uint8_t kind);

/* ---- life ---- */

/* A schunk without store or chunks; limits may be NULL. */
b2c_status b2i_schunk_alloc(const b2c_limits *limits, b2c_schunk **out, b2c_error *err);
void b2i_state_free(b2i_state *state);

/* Room for 'more' entries.  Appending to the arrays cannot fail then. */
b2c_status b2i_state_reserve(b2i_state *state, uint64_t more, b2c_error *err);

/* Gives a state of equal chunks the array of ends that chunks of any size need. */
b2c_status b2i_state_make_ends(b2i_state *state, b2c_error *err);

/* After entries and chunksize were loaded: reads the sizes of variable chunks. */
b2c_status b2i_schunk_load_sizes(b2c_schunk *s, b2c_error *err);

/* Commits, closes the store and frees; NULL is fine. */
b2c_status b2i_schunk_close(b2c_schunk *s, b2c_error *err);

/* Closes without writing anything. */
void b2i_schunk_abandon(b2c_schunk *s);

/* Byte 0x19 as it would be written now. */
uint8_t b2i_state_general_flags(const b2i_state *state);

#endif
