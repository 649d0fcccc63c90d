/*
 * repair.h: getting back what a damaged frame or directory still holds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_REPAIR_H
#define B2I_REPAIR_H

#include "frame.h"

/* An entry whose chunk is known to be gone; no index holds it. */
#define B2I_ENTRY_LOST (B2I_ENTRY_SPECIAL | 1)

/* The same of one whose chunk an earlier entry names. */
#define B2I_ENTRY_SHARED (B2I_ENTRY_SPECIAL | 2)

/* Bytes of an empty header: the fixed part and a section without metalayers. */
#define B2I_MIN_FULL_HEADER_LEN 97

/* Who hears of what is wrong; see b2c_repair_params. */
typedef struct b2i_listener {
    int (*note)(void *handle, const b2c_repair_note *note);
    void *handle;
} b2i_listener;

/* Tells the listener.  B2C_E_CALLBACK when it wants no more. */
b2c_status b2i_note(const b2i_listener *to, int part, const char *name, uint64_t nchunks,
                    const b2c_error *what, b2c_error *err);

/*
 * What was found: a super-chunk for reading whose entries are those of the index, or
 * else the sound chunks in the order of the file.  Its sizes may be wrong; it is not for the
 * functions that rely on them.
 */
typedef struct b2i_salvage {
    b2c_schunk *s;
    bool has_index;
    bool has_head;
    bool has_sizes;         /* chunksize and nbytes are those of a sound frame */
    uint64_t header_nbytes; /* what a readable header says of all chunks, else 0 */
} b2i_salvage;

static inline bool b2i_is_foreign(b2c_status st)
{
    return st == B2C_E_UNKNOWN_CODEC || st == B2C_E_UNKNOWN_FILTER;
}

/* Whether a special entry is one that writers make, without further bits. */
static inline bool b2i_is_plain_special(b2i_entry e)
{
    return e == B2I_ENTRY_ZERO || e == B2I_ENTRY_NAN || e == B2I_ENTRY_UNINIT;
}

/* What reading it takes. */
typedef struct b2i_salvage_job {
    const b2i_listener *to;
    const b2c_limits *limits;
    b2c_ctx *ctx;
    uint64_t offset; /* of the frame in its file */
} b2i_salvage_job;

/* On success out->s is to be given to b2i_schunk_abandon(). */
b2c_status b2i_salvage_open(const b2i_salvage_job *job, const char *path, b2i_salvage *out,
                            b2c_error *err);

/*
 * Whether the chunk at an entry of a frame decodes and agrees with its checksum.  Some codecs and
 * filters need what else is known of the frame: type size and shape of blocks.  Its bytes are in
 * 'scratch' or in the store's memory.
 * B2C_E_UNKNOWN_CODEC or _FILTER: nobody can tell, but nothing speaks against it; the outputs are
 * set.
 */
b2c_status b2i_sound_chunk(const b2c_schunk *s, b2i_entry entry, b2c_ctx *ctx, b2i_scratch *scratch,
                           b2i_chunk_head *head, b2i_span *chunk, b2c_error *err);

/* Whether an entry leads to a header of a chunk all bytes of which can be there. */
bool b2i_named_head(b2i_store *store, b2i_entry entry, const b2c_limits *limits,
                    b2i_scratch *scratch, b2i_chunk_head *head);

/*
 * How good an index is: how many chunks with payload it names, and how many different ones of them
 * have a header.
 */
b2c_status b2i_named_count(const b2c_schunk *s, uint64_t *named, uint64_t *there, b2c_error *err);

/* Whether there are entries that no writer makes. */
bool b2i_named_has_odd(const b2i_state *now);

/*
 * Of the entries that name the same chunk the first keeps it, others become B2I_ENTRY_SHARED.
 * b2i_places_room() knows then how far each reaches.
 */
b2c_status b2i_named_once(b2c_schunk *s, b2c_error *err);

/* Whether a chunk in memory decodes. */
b2c_status b2i_sound_bytes(b2i_span chunk, b2c_ctx *ctx, b2c_error *err);

/*
 * Reads n bytes, with zeros for the sectors that the medium does not give; the status and *why, as
 * of a read, are those of the first of them.
 */
b2c_status b2i_read_most(b2i_io *io, uint64_t at, uint8_t *dst, size_t n, b2c_error *why);

/* ---- looking for chunks without an index (scan.c) ---- */

/*
 * Length of the header or trailer that holds these metalayers, as all writers lay it out; without
 * any it has empty_len bytes.
 */
uint64_t b2i_laid_out_len(uint64_t empty_len, const b2i_metas *metas);

/* Where a sound chunk with its record is: [at, end), counted like entries. */
typedef struct b2i_found {
    b2i_entry at;
    uint64_t end;
} b2i_found;

typedef struct b2i_scan {
    const b2i_salvage_job *job;
    b2i_io *io;
    const b2c_schunk *of;
    uint64_t header_len; /* entries count from here */
    uint64_t start, end; /* where to look, counted from the frame's start */
    uint64_t data_end;   /* behind this no chunk is one of data */
    bool silent;         /* tells nothing */

    /* what was found */
    b2i_buf entries; /* b2i_entry of each chunk, in the order of the file */
    b2i_buf sound;   /* b2i_found of each of the sound ones */
    bool has_index;  /* entries are those of an index */
    b2i_metas vlmetas;
} b2i_scan;

/* Fills the result, which b2i_scan_free() frees, also after a failure. */
b2c_status b2i_scan_run(b2i_scan *scan, b2c_error *err);

/* Where the header ends, told by the first chunk and its record; 0: there is no chunk. */
b2c_status b2i_scan_header_len(b2i_scan *scan, uint64_t *header_len, b2c_error *err);
void b2i_scan_free(b2i_scan *scan);

/*
 * Entries that lead nowhere, while as many sound chunks are named by no entry: the first get the
 * second, in the order of the file.
 */
b2c_status b2i_scan_mend(const b2i_scan *scan, b2i_state *now, b2c_error *err);

/* Makes the new frame of all that was found; as b2c_repair(). */
b2c_status b2i_repair(const char *from, const char *to, const b2c_repair_params *params,
                      b2c_repair_result *result, b2c_error *err);

#endif
