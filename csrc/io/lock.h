/*
 * lock.h: the lock file of a frame, by which those take turns who ask for it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_LOCK_H
#define B2I_LOCK_H

#include "status.h"

#include <stdbool.h>

/* Of a directory; that of a file is its name with this behind it. */
#define B2I_LOCK_NAME ".b2lock"

/* cffi: begin */

/* A thread that has a lock, as one of several: zeros at first. */
typedef struct b2i_hold {
    struct b2i_hold *next;
    const void *thread; /* b2i_lock_thread() */
} b2i_hold;

/* cffi: end */

/* The lock file of one open frame.  Its functions must not run at the same time as each other. */
typedef struct b2i_lock b2i_lock;

/* Makes the file when there is none; *out is NULL for readers where nobody can make one. */
b2c_status b2i_lock_open(const char *path, bool is_dir, bool is_writable, b2i_lock **out,
                         b2c_error *err);
/* The directory is going to be at another path; and now it is. */
b2c_status b2i_lock_will_move(b2i_lock *lock, const char *path, b2c_error *err);
void b2i_lock_moved(b2i_lock *lock);
void b2i_lock_close(b2i_lock *lock);

/*
 * Waits; B2C_E_IO with EINTR when a signal ends the wait, B2C_E_LOCKED when the calling thread
 * would wait for itself.  It may be taken again before it is released, but not exclusively while
 * it is shared.  *changed: somebody else has held it exclusively since the last b2i_lock_seen(), or
 * the file at its path is another one than then: that is the one that is locked.
 */
b2c_status b2i_lock_take(b2i_lock *lock, bool exclusive, bool *changed, b2c_error *err);
void b2i_lock_seen(b2i_lock *lock);
void b2i_lock_release(b2i_lock *lock);

/*
 * From now on the lock is not waited for when another thread of this process has it through another
 * handle, or waits for it itself: B2C_E_LOCKED with EAGAIN.  For who has something meanwhile that
 * this thread may wait for.  Who takes it again soon keeps a place before those who come later.
 */
void b2i_lock_give_way(b2i_lock *lock);
/* Whether it could not be had exclusively for that reason. */
bool b2i_lock_has_rival(b2i_lock *lock);

/* The calling thread: an address that no other one has. */
const void *b2i_lock_thread(void);
/*
 * A lock that was taken for several threads is theirs, who have it one after the other or together:
 * adds one to the list, or takes it away; false: it is not there.  'lock' may be NULL.
 */
void b2i_lock_add_hold(b2i_lock *lock, b2i_hold **holds, b2i_hold *hold);
bool b2i_lock_drop_hold(b2i_lock *lock, b2i_hold **holds, b2i_hold *hold);

/* Whether the next release gives it up. */
bool b2i_lock_is_last(const b2i_lock *lock);

#endif
