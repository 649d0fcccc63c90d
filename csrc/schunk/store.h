/*
 * store.h: what a super-chunk asks of the medium that keeps its chunks.  The
 * stores themselves (frame/store_*.c) know frames; the super-chunk does not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_STORE_H
#define B2I_STORE_H

#include "alloc.h"
#include "chunk.h"

/*
 * An entry of the offset index, as the format stores it: top bit clear, where
 * the store keeps the chunk (offset behind the header, number of a chunk file,
 * slot of a list); top bit set, a special chunk that has no payload.
 */
typedef uint64_t b2i_entry;
#define B2I_ENTRY_SPECIAL ((b2i_entry)1 << 63)
#define B2I_ENTRY_ZERO    (B2I_ENTRY_SPECIAL | (b2i_entry)1 << 56)
#define B2I_ENTRY_NAN     (B2I_ENTRY_SPECIAL | (b2i_entry)2 << 56)
#define B2I_ENTRY_UNINIT  (B2I_ENTRY_SPECIAL | (b2i_entry)4 << 56)

/* Whether an entry stands for a special chunk; else the store keeps the chunk, its payload. */
static inline bool b2i_is_special(b2i_entry entry)
{
    return (entry & B2I_ENTRY_SPECIAL) != 0;
}

/* How soon an edit must become the stored state. */
typedef enum b2i_commit_kind {
    B2I_COMMIT_SOON,  /* an append: may wait until pending ones outweigh the index */
    B2I_COMMIT_NOW,   /* any other edit: unless the durability is "none" */
    B2I_COMMIT_SHOW,  /* what waits, at any level: another process is going to look */
    B2I_COMMIT_FLUSH, /* at any level, and synchronised */
} b2i_commit_kind;

/* What a chunk is kept for, so that a crashed writer's last chunks can be found again. */
typedef enum b2i_redo_kind {
    B2I_REDO_NONE, /* part of a transaction, or of an edit of several steps */
    B2I_REDO_APPEND,
    B2I_REDO_INSERT,
    B2I_REDO_UPDATE,
} b2i_redo_kind;

typedef struct b2i_redo {
    b2i_redo_kind kind;
    uint64_t nchunk;
} b2i_redo;

/* What is known of a stored chunk's bytes. */
typedef enum b2i_check {
    B2I_CHECK_NONE, /* no checksum is stored */
    B2I_CHECK_GOOD,
    B2I_CHECK_BAD
} b2i_check;

/* The same with the hashes that were compared. */
typedef struct b2i_verdict {
    b2i_check check;
    uint64_t stored, computed;
} b2i_verdict;

typedef struct b2i_store b2i_store;
struct b2c_schunk;

typedef struct b2i_store_ops {
    /* Bytes of a payload chunk, as b2i_source.read; any number of threads. */
    b2c_status (*read)(b2i_store *store, b2i_entry entry, uint64_t at, size_t n,
                       b2i_scratch *scratch, b2i_span *out, b2c_error *err);
    /* Upper bound of the bytes that may be read at an entry. */
    b2c_status (*len)(b2i_store *store, b2i_entry entry, uint64_t *len, b2c_error *err);
    /* Compares a chunk's bytes with the checksum stored with it. */
    b2c_status (*check)(b2i_store *store, b2i_entry entry, b2i_span chunk, b2i_verdict *result,
                        b2c_error *err);
    /*
     * read() of the n bytes of a whole chunk, and check() of them, for who would have to open a
     * file for each.  NULL: one after the other.
     */
    b2c_status (*read_whole)(b2i_store *store, b2i_entry entry, size_t n, b2i_scratch *scratch,
                             b2i_span *out, b2i_verdict *result, b2c_error *err);
    /*
     * The stored hashes of a chunk's parts, 32 bits each, little-endian: of what
     * comes before the first block, and of every block.  An empty span when there are
     * none, or they may be out of date.  NULL: there never are.
     */
    b2c_status (*part_hashes)(b2i_store *store, b2i_entry entry, const b2i_chunk_head *head,
                              b2i_scratch *scratch, b2i_span *hashes, b2c_error *err);
    /* One of them. */
    uint32_t (*part_hash)(b2i_span part);
    /* Place of byte 0 of a chunk in the file or chunk file, for error messages. */
    uint64_t (*place)(const b2i_store *store, b2i_entry entry);
    /* Keeps a new chunk and says where.  Nothing committed changes.  NULL: read-only. */
    b2c_status (*put)(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                      b2c_error *err);
    /* put() of the first n bytes of memory that becomes the store's.  NULL: it needs a copy. */
    b2c_status (*keep)(b2i_store *store, b2i_scratch *chunk, size_t n, b2i_entry *entry,
                       b2c_error *err);
    /*
     * Keeps a special chunk that the index alone stands for only until the next
     * commit, for who finds the store after a crash.  NULL: not done.
     */
    b2c_status (*log)(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2c_error *err);
    /* The index no longer names a chunk; its room may be reused when that is safe. */
    void (*drop)(b2i_store *store, b2i_entry entry, uint64_t cbytes);
    /* Makes header, index and trailer of the schunk's present state the stored ones. */
    b2c_status (*commit)(b2i_store *store, struct b2c_schunk *schunk, b2i_commit_kind kind,
                         b2c_error *err);
    /* Forgets all puts and drops since begin(); both may be NULL: nothing to remember. */
    void (*begin)(b2i_store *store);
    void (*rollback)(b2i_store *store);
    /* Rewrites without dead space; NULL: there is none.  Entries change. */
    b2c_status (*compact)(b2i_store *store, struct b2c_schunk *schunk, b2c_error *err);
    /* Writes what close() would, so that it writes nothing without later edits.  NULL: nothing. */
    b2c_status (*settle)(b2i_store *store, struct b2c_schunk *schunk, b2c_error *err);
    /* In a forked process: closes the parent's files, and no more.  NULL: there are none. */
    void (*leave)(const b2i_store *store);
    /*
     * Of a store that is read: whether its last commit is still the frame's.  After two more of
     * them the room of chunks may have been used again.  NULL: nobody else can change it.
     */
    bool (*is_current)(const b2i_store *store);
    /*
     * Whether a store of the same kind is of the same file or directory: in another one, entries
     * name other chunks.  NULL where is_current is.
     */
    bool (*is_same)(const b2i_store *store, const b2i_store *other);
    /* After opening: takes up what a writer that was killed has left.  May be NULL. */
    b2c_status (*recover)(b2i_store *store, struct b2c_schunk *schunk, b2c_error *err);
    /* Frees the store, also on failure.  schunk NULL: writes nothing any more. */
    b2c_status (*close)(b2i_store *store, struct b2c_schunk *schunk, b2c_error *err);
} b2i_store_ops;

enum { B2I_SINCE_LEN = 16 }; /* as a fingerprint */

/* The commit whose state is shown. */
typedef struct b2i_shown {
    uint8_t since[B2I_SINCE_LEN]; /* tells the packed frame from which they are counted */
    uint64_t no;
} b2i_shown;

struct b2i_store {
    const b2i_store_ops *ops;
    uint8_t storage; /* B2C_STORAGE_… */
    bool is_writable;
    bool is_locked; /* edits hold the lock of the frame: nobody else's are under way then */
    bool failed;    /* a write failed: what is on the medium is older than the object */
    bool is_unborn; /* a new frame, which gets its path with the first commit */
    bool is_named;  /* its path has been put on the medium */
    bool in_transaction;
    bool has_redo;           /* single chunks kept since the last commit survive a crash */
    bool is_trusted;         /* nobody else wrote since the records of chunks were: they must fit */
    bool is_complete;        /* trusted, and every chunk has a record */
    bool is_cut;             /* an unfinished or damaged edit of a killed writer was left out */
    bool checksums;          /* write records and fingerprints */
    bool verifies;           /* compare checksums when reading */
    uint8_t durability;      /* B2C_DURABILITY_… */
    uint32_t max_open_files; /* of a directory */
    /* Of the frame as stored now; 0 for lists in memory. */
    uint64_t frame_len;
    uint64_t header_len;
    uint64_t trailer_len;
    /* Where room of chunks is used again: */
    b2i_shown shown;
    uint64_t reuse_no; /* the commit after which it was the last time */
};

#endif
