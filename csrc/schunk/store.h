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

typedef struct b2i_store b2i_store;
struct b2c_schunk;

typedef struct b2i_store_ops {
    /* Bytes of a payload chunk, as b2i_source.read; any number of threads. */
    b2c_status (*read)(b2i_store *store, b2i_entry entry, uint64_t at, size_t n,
                       b2i_scratch *scratch, b2i_span *out, b2c_error *err);
    /* Upper bound of the bytes that may be read at an entry. */
    b2c_status (*len)(b2i_store *store, b2i_entry entry, uint64_t *len, b2c_error *err);
    /* Keeps a new chunk and says where.  Nothing committed changes.  NULL: read-only. */
    b2c_status (*put)(b2i_store *store, b2i_span chunk, b2i_entry *entry, b2c_error *err);
    /* A committed chunk is no longer named by the index; its room may be reused when safe. */
    void (*drop)(b2i_store *store, b2i_entry entry);
    /* Makes header, index and trailer of the schunk's present state the stored ones. */
    b2c_status (*commit)(b2i_store *store, const struct b2c_schunk *schunk, b2c_error *err);
    /* Frees the store, also on failure. */
    b2c_status (*close)(b2i_store *store, const struct b2c_schunk *schunk, b2c_error *err);
} b2i_store_ops;

struct b2i_store {
    const b2i_store_ops *ops;
    uint8_t storage;   /* B2C_STORAGE_… */
    bool is_writable;
};

#endif
