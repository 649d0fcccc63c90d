/*
 * turn.h: readers and writers of a super-chunk that the threads of a Python process share.
 *
 * handles.py lets many read or one write.  What that takes in Python, a microsecond to read and
 * several to write, is as much as handling 4 kB takes: short reads and edits do it here.
 *
 * Whoever comes first says so, and then looks for others, who do the same: so one of two sees the
 * other.  Readers in Python are not counted here.  They leave a mark, which a writer in Python
 * takes away when it has seen that they are gone; as long as it is there, nobody writes from here.
 * Inside of a transaction only its thread does, as long as it makes no edit in Python.
 * Those that hold the lock file are listed here, for who leaves in C code cannot be interrupted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_TURN_H
#define B2I_TURN_H

#include "blosc2c.h"
#include "lock.h"

/* cffi: begin */

typedef struct b2i_turn {
    b2c_schunk *schunk;
    int may_outdate;      /* others may reuse the room of its chunks: who has read looks whether */
    int is_open;          /* nobody in Python writes or waits for that, nor is there a lock file */
    unsigned long writer; /* in Python, as threading.get_ident() tells it, or 0 */
    int was_read;         /* the mark */
    int nreaders;         /* calls from here that read */
    int is_written;       /* one that writes */
    size_t nedits;        /* another number whenever what is shown may be something else */
    size_t max_nbytes;    /* of a result of calls.c; 0: the default limit */
    int is_begun;         /* b2i_turn_begin() was not followed by a commit or rollback */
    b2i_hold *holds;      /* readers in Python with the lock file, one lock for them together */
    int is_listing;       /* a thread is at that list */
} b2i_turn;

enum { B2I_OPEN = 1, B2I_OPEN_TO_WRITER = 2 }; /* is_open: to all threads, or that one */

enum { B2I_NOT_FREE = -1 }; /* no b2c_status: it is Python's turn; nothing has changed */

/* Whether a call from here is under way, or the lock file held; while not open none begins. */
int b2i_turn_open(b2i_turn *turn, int is_open);
int b2i_turn_is_used(b2i_turn *turn);

/* Whether such a call is one of this thread's: C has called Python in the middle of it. */
int b2i_turn_is_here(const b2i_turn *turn);

/* A reader in Python has come.  1: it may read.  0: it may when Python lets it.  -1: not now. */
int b2i_turn_look(b2i_turn *turn);

/* b2c_schunk_info_get() */
int b2i_turn_info(b2i_turn *turn, b2c_schunk_info *info);

/* What C has filled in, but nobody has taken: for cffi to call where Python code might fail. */
void b2i_free_left(b2c_schunk **left);

/*
 * A reader takes the lock file, when nobody else has it yet by b2c_schunk_lock(); of readers that
 * come one waits for the other.  b2i_turn_let_go() may be called at any time, by any thread, also
 * for who holds nothing.
 */
int b2i_turn_hold(b2c_schunk *schunk, b2i_turn *turn, b2i_hold *hold, int *changed, b2c_error *err);
void b2i_turn_let_go(b2c_schunk *schunk, b2i_turn *turn, b2i_hold *hold);
int b2i_turn_holds_here(b2i_turn *turn); /* whether this thread holds it */

/* Ends b2c_schunk_lock(), whose 'changed' was -1 before; nothing if it still is, nor if closed. */
int b2i_turn_unlock(b2i_turn *turn, const int *changed, b2c_error *err);

/*
 * Who has the turn does not wait for the lock file while another thread of the process has it
 * through another handle: that may be about to ask for the turn.  What takes the lock fails with
 * B2C_E_LOCKED then, sys_errno EAGAIN, and is to be called again without the turn in between.
 * Closing would do without the lock: has_rival() tells before whether that is so.
 */
void b2i_turn_give_way(b2i_turn *turn);
int b2i_turn_has_rival(b2i_turn *turn);

/*
 * In a forked child: what other threads were at is over, and the lock file is the parent's.
 * Returns whether this thread is in a call from here, or had the lock file.
 */
int b2i_turn_forked(b2i_turn *turn);

/*
 * b2c_schunk_begin(), …_commit() and …_rollback(); is_begun changes in the same step.  The last two
 * close it first.
 */
int b2i_turn_begin(b2i_turn *turn, b2c_error *err);
int b2i_turn_commit(b2i_turn *turn, b2c_error *err);
void b2i_turn_rollback(b2i_turn *turn);

/* cffi: end */

/* b2c_schunk_chunk_info() */
int b2i_turn_chunk_info(b2i_turn *turn, uint64_t number, b2c_chunk_info *info, b2c_error *err);

/*
 * The same of a chunk that the index tells all of: without a look at the file, as nothing of it was
 * read that others may have used for something else.  B2I_NOT_FREE also of other chunks.
 */
int b2i_turn_index_info(b2i_turn *turn, uint64_t number, b2c_chunk_info *info);

/*
 * b2c_nd_open() with a copy of the dtype string, of *len bytes and at most 'cap'.  Nothing of the
 * file is read.  B2I_NOT_FREE also when that fails, or there is no array.
 */
int b2i_turn_nd_open(b2i_turn *turn, b2c_nd *nd, char *dtype, size_t cap, size_t *len);

/* Read what has a number or a name. */
typedef int b2i_turn_read_fn(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                             size_t *dst_len, b2c_error *err);
typedef int b2i_turn_get_fn(b2i_turn *turn, b2c_ctx *ctx, const char *name, void *dst, size_t cap,
                            size_t *dst_len, b2c_error *err);

/* Edits with n bytes; counts the chunks afterwards. */
typedef int b2i_turn_edit_fn(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src,
                             size_t n, size_t *nchunks, b2c_error *err);

/*
 * b2c_schunk_decode_chunk(), …_get_chunk() (without 'ctx'), …_to_frame() (without 'number', too),
 * and …_read() from byte 'number' on: B2I_NOT_FREE also beyond the end.
 */
b2i_turn_read_fn b2i_turn_decode_chunk, b2i_turn_get_chunk, b2i_turn_to_frame, b2i_turn_read;

/* b2c_schunk_meta_get() (without 'ctx') and b2c_schunk_vlmeta_get(). */
b2i_turn_get_fn b2i_turn_meta_get, b2i_turn_vlmeta_get;

/* b2c_schunk_vlmeta_set(); 'src' NULL: b2c_schunk_vlmeta_delete(). */
int b2i_turn_vlmeta_set(b2i_turn *turn, b2c_ctx *ctx, const char *name, const void *src, size_t n,
                        b2c_error *err);

/* b2c_schunk_append() (without 'number'), …_insert(), …_update(). */
b2i_turn_edit_fn b2i_turn_append, b2i_turn_insert, b2i_turn_update;

/* b2c_schunk_write() to byte 'number' on; B2I_NOT_FREE also beyond the end. */
b2i_turn_edit_fn b2i_turn_write;

/* b2c_schunk_append_chunk(), …_insert_chunk(), …_update_chunk(), …_delete_chunk(): without 'ctx'.
 */
b2i_turn_edit_fn b2i_turn_append_chunk, b2i_turn_insert_chunk, b2i_turn_update_chunk;
b2i_turn_edit_fn b2i_turn_delete_chunk; /* without 'src', too */

/* b2c_schunk_fill_special(), unless the value's length is no longer that of an item. */
int b2i_turn_fill_special(b2i_turn *turn, uint64_t nbytes, uint8_t kind, const void *value,
                          size_t len, size_t *nchunks, b2c_error *err);

/* b2c_schunk_copy_some() of 'from', of which it is one read. */
int b2i_turn_copy_some(b2i_turn *turn, b2i_turn *from, const uint64_t *numbers, uint64_t n,
                       size_t *nchunks, b2c_error *err);

/* b2c_nd_append_chunks(). */
int b2i_turn_nd_append(b2i_turn *turn, b2c_ctx *ctx, const b2c_nd *nd, uint64_t first, uint64_t n,
                       const void *src, size_t len, size_t *nchunks, b2c_error *err);

#endif
