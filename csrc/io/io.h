/*
 * io.h: positional I/O.  Everything that touches a file goes through this table
 * and the b2i_fs functions, so that tests can record, replay and fail each call.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_IO_H
#define B2I_IO_H

#include "bytes.h"
#include "status.h"

typedef struct b2i_io b2i_io;

typedef struct b2i_io_ops {
    /* Exactly n bytes at 'at'; fewer present is B2C_E_TRUNCATED.  Any number of threads. */
    b2c_status (*read)(b2i_io *io, uint64_t at, void *dst, size_t n, b2c_error *err);
    /* All n bytes or a failure (short writes and EINTR are continued). */
    b2c_status (*write)(b2i_io *io, uint64_t at, const void *src, size_t n, b2c_error *err);
    b2c_status (*size)(b2i_io *io, uint64_t *size, b2c_error *err);
    b2c_status (*truncate)(b2i_io *io, uint64_t size, b2c_error *err);
    b2c_status (*sync)(b2i_io *io, b2c_error *err); /* data is on the medium on return */
    /* Direct view of [at, at + n), or NULL when the medium has none (files). */
    const uint8_t *(*view)(b2i_io *io, uint64_t at, size_t n);
    /* Frees io also when it fails. */
    b2c_status (*close)(b2i_io *io, b2c_error *err);
    /* Its descriptor; NULL when it is no file. */
    int (*fd)(const b2i_io *io);
} b2i_io_ops;

struct b2i_io {
    const b2i_io_ops *ops;
};

#define B2I_IO_READ   0 /* must exist */
#define B2I_IO_UPDATE 1 /* must exist, read and write */
#define B2I_IO_CREATE 2 /* must not exist (B2C_E_EXISTS), read and write */

b2c_status b2i_io_file_open(const char *path, int mode, b2i_io **out, b2c_error *err);

/* A file in an open directory; a symbolic link is refused (B2C_E_IO with ELOOP). */
b2c_status b2i_io_file_open_in(int dir, const char *name, int mode, b2i_io **out, b2c_error *err);

/* Read-only over memory that outlives it. */
b2c_status b2i_io_mem_open(b2i_span bytes, b2i_io **out, b2c_error *err);

/* Takes 'bytes', made by b2i_malloc(), and frees it at the end; also when it fails. */
b2c_status b2i_io_mem_take(uint8_t *bytes, size_t n, b2i_io **out, b2c_error *err);

/* Writable over 'cap' bytes of the caller; writing beyond them is B2C_E_OUTPUT_SIZE. */
b2c_status b2i_io_mem_over(uint8_t *bytes, size_t cap, b2i_io **out, b2c_error *err);

/* The same as a file, but its bytes can be viewed.  Modes READ and UPDATE. */
b2c_status b2i_io_mmap_open(const char *path, int mode, b2i_io **out, b2c_error *err);

/*
 * A new file that will take the place of another one, B2I_IO_CREATE, at a path where nothing is;
 * B2C_E_CONFLICT otherwise.  It is claimed, also when it has its place.
 */
b2c_status b2i_io_temporary_open(const char *path, b2i_io **out, b2c_error *err);

/*
 * Removes such a file that a process has left which does not live any more, if there is one; fails
 * when something is there that stays.  is_wanted: its name is, so it goes also where the system
 * cannot tell whether its process lives; B2C_E_CONFLICT when it does.
 */
b2c_status b2i_fs_remove_left(const char *path, bool is_wanted, b2c_error *err);
/* B2C_E_IO: what has a name of ours, which 'what' tells, is not ours, or stays. */
b2c_status b2i_fs_fail_left(b2c_error *err, int why, const char *what);

/* Whether an open file is what is at a path. */
b2c_status b2i_io_is_at(const b2i_io *io, const char *path, bool *is, b2c_error *err);
/* Whether it has no name any more while something else is there. */
b2c_status b2i_io_is_replaced(const b2i_io *io, const char *path, bool *is, b2c_error *err);

/* What is at a path or, in an open directory, has a name; to see later whether it still is. */
typedef enum b2i_kind {
    B2I_NOTHING,
    B2I_REGULAR,
    B2I_LINK, /* symbolic, wherever it leads */
    B2I_DIRECTORY,
    B2I_OTHER
} b2i_kind;

typedef struct b2i_at_path {
    b2i_kind kind;
    uint64_t dev, ino;
} b2i_at_path;
b2c_status b2i_fs_look(int dir, const char *name, b2i_at_path *out, b2c_error *err);
b2c_status b2i_fs_is_still(const b2i_at_path *what, const char *path, bool *is, b2c_error *err);
bool b2i_fs_is_open(const b2i_at_path *what, int fd);

/* Reads through a user's functions; calls the table's close also when it fails. */
b2c_status b2i_io_user_open(const b2c_io_table *table, b2i_io **out, b2c_error *err);

/* ---- the lock file of a frame ---- */

/* Of a directory; that of a file is its name with this behind it. */
#define B2I_LOCK_NAME ".b2lock"

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

/* Whether the next release gives it up. */
bool b2i_lock_is_last(const b2i_lock *lock);

/* ---- directories and names; 'dir' may be B2I_FS_CWD ---- */

#define B2I_FS_CWD -1

/* openat() with O_CLOEXEC, again after a signal; -1 with errno. */
int b2i_fs_open_at(int dir, const char *name, int flags);
b2c_status b2i_fs_dir_open(const char *path, int *dir, b2c_error *err);
void b2i_fs_dir_close(int dir);
b2c_status b2i_fs_dir_make(const char *path, b2c_error *err); /* B2C_E_EXISTS */
b2c_status b2i_fs_dir_remove(const char *path, b2c_error *err);
/* Calls fn for every name in an open directory. */
b2c_status b2i_fs_dir_each(int dir, void (*fn)(void *arg, const char *name), void *arg,
                           b2c_error *err);
b2c_status b2i_fs_rename(int dir, const char *from, const char *to, b2c_error *err);
/* The same for files and their paths when nothing is at 'to' (B2C_E_EXISTS). */
b2c_status b2i_fs_publish(const char *from, const char *to, b2c_error *err);
/* The same for directories. */
b2c_status b2i_fs_publish_dir(const char *from, const char *to, b2c_error *err);
/*
 * What is at two paths changes its place, at once; in file systems that cannot do that, in three
 * steps, between which what was at 'b' is at 'aside'.  Nothing else there is replaced.
 */
b2c_status b2i_fs_exchange(const char *a, const char *b, const char *aside, b2c_error *err);
b2c_status b2i_fs_remove(int dir, const char *name, b2c_error *err);
/* An open directory with all that is in it, of which the file 'last' goes last. */
b2c_status b2i_fs_remove_all(int dir, const char *path, const char *last, b2c_error *err);
/* Gives 'to' the permissions of 'from'. */
b2c_status b2i_fs_copy_mode(const char *from, const char *to, b2c_error *err);
/*
 * Marks an open file or directory as in use by this process, for others that would tidy up.  False
 * when one of them has done so (then errno is EWOULDBLOCK), or the system cannot; it ends with the
 * descriptor at the latest.
 */
bool b2i_fs_claim(int fd);
void b2i_fs_disclaim(int fd);
/*
 * The same together with others that call this, so that nobody tidies up.  Waits for who does;
 * false when that takes longer than two seconds.  True where the system cannot: nobody tidies up
 * there.
 */
bool b2i_fs_share(int fd);
/* Makes names created, renamed and removed in a directory durable. */
b2c_status b2i_fs_dir_sync(int dir, b2c_error *err);
/* The same for the directory that holds an open directory, and for the one that holds 'path'. */
b2c_status b2i_fs_dir_parent_sync(int dir, b2c_error *err);
b2c_status b2i_fs_parent_sync(const char *path, b2c_error *err);
bool b2i_fs_is_dir(const char *path);
/* The size of a regular file; false when there is none of that name. */
bool b2i_fs_file_size(int dir, const char *name, uint64_t *size);
/* Whether two descriptors are of one file or directory. */
bool b2i_fs_is_same(int fd, int other);
/*
 * The path of a file that belongs to the one at 'path': with a suffix, to be freed.  A name that is
 * too long for that is replaced by its hash.
 */
b2c_status b2i_fs_beside(const char *path, const char *suffix, char **out, b2c_error *err);
/* A path that goes on to mean the same when the process changes its directory, to be freed. */
b2c_status b2i_fs_absolute_path(const char *path, char **out, b2c_error *err);
/*
 * The absolute path of what is, or is to be made, at 'path', without symbolic links, to be freed.
 * Where the system cannot tell it, as in a directory whose own path is too long, a copy of 'path';
 * of a link a failure.
 */
b2c_status b2i_fs_real_path(const char *path, char **out, b2c_error *err);

#ifdef B2I_IO_HOOK
typedef enum b2i_io_call {
    B2I_CALL_OPEN,   /* of a file that is there, for writing */
    B2I_CALL_CREATE, /* of a file; what is there is cut to nothing or in the way */
    B2I_CALL_READ,
    B2I_CALL_WRITE,
    B2I_CALL_TRUNCATE,
    B2I_CALL_SYNC,
    B2I_CALL_CLOSE, /* of a file that was open for writing */
    B2I_CALL_RENAME,
    B2I_CALL_EXCHANGE,
    B2I_CALL_REMOVE,
    B2I_CALL_COPY_MODE,
    B2I_CALL_DIR_READ, /* of the next name */
    B2I_CALL_DIR_MAKE,
    B2I_CALL_DIR_REMOVE,
    B2I_CALL_DIR_SYNC,
    B2I_CALL_LOOK, /* at what has a name */
} b2i_io_call;

typedef struct b2i_io_event {
    b2i_io_call call;
    const void *file; /* the same from OPEN or CREATE to CLOSE; NULL when it is about a name */
    int dir;          /* of OPEN, CREATE, RENAME, REMOVE, LOOK, DIR_SYNC: where, or B2I_FS_CWD */
    const char *name; /* as the file or directory was opened; "." an open directory */
    const char *to;   /* of RENAME, EXCHANGE and COPY_MODE */
    uint64_t at;      /* of WRITE; the new size of TRUNCATE */
    const void *src;  /* of WRITE */
    size_t n;         /* of READ and WRITE */
} b2i_io_event;

/*
 * Tests: asked before each of these calls.  What it returns other than 0 is the errno that
 * the call fails with instead; it may lower n > 1 of a WRITE, which is then a short one.
 */
extern int (*b2i_io_hook)(b2i_io_event *event);
#endif

#endif
