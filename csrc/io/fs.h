/*
 * fs.h: names, directories and paths: what a store does with them besides reading and writing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_FS_H
#define B2I_FS_H

#include "io.h"

/* As 'dir', which is an open directory: the one that the process is in. */
#define B2I_FS_CWD -1

/* ---- what is at a path (fs_look.c) ---- */

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

/* Whether an open file is what is at a path. */
b2c_status b2i_io_is_at(const b2i_io *io, const char *path, bool *is, b2c_error *err);
/* Whether it has no name any more while something else is there. */
b2c_status b2i_io_is_replaced(const b2i_io *io, const char *path, bool *is, b2c_error *err);

/* Whether two descriptors are of one file or directory. */
bool b2i_fs_is_same(int fd, int other);
/* *is: there is a directory at a path, or a link to one. */
b2c_status b2i_fs_is_dir(const char *path, bool *is, b2c_error *err);
/* The size of a regular file; false when there is none of that name. */
bool b2i_fs_file_size(int dir, const char *name, uint64_t *size);

/* ---- directories (fs_dir.c) ---- */

/* openat() with O_CLOEXEC, again after a signal; -1 with errno. */
int b2i_fs_open_at(int dir, const char *name, int flags);
b2c_status b2i_fs_dir_open(const char *path, int *dir, b2c_error *err);
void b2i_fs_dir_close(int dir);
b2c_status b2i_fs_dir_make(const char *path, b2c_error *err); /* B2C_E_EXISTS */
/* Calls fn for every name in an open directory. */
b2c_status b2i_fs_dir_each(int dir, void (*fn)(void *arg, const char *name), void *arg,
                           b2c_error *err);

b2c_status b2i_fs_remove(int dir, const char *name, b2c_error *err);
b2c_status b2i_fs_dir_remove(const char *path, b2c_error *err);
/* An open directory with all that is in it, of which the file 'last' goes last. */
b2c_status b2i_fs_remove_all(int dir, const char *path, const char *last, b2c_error *err);

/* ---- the medium (fs_sync.c) ---- */

/* Makes names created, renamed and removed in a directory durable. */
b2c_status b2i_fs_dir_sync(int dir, b2c_error *err);
/*
 * The same for the directory that holds an open directory, and for the one that holds 'path'; with
 * its whole file system where it may be used, but not opened.
 */
b2c_status b2i_fs_dir_parent_sync(int dir, b2c_error *err);
b2c_status b2i_fs_parent_sync(const char *path, b2c_error *err);
/*
 * Makes all files of the file system durable that an open directory is in, which takes about as
 * long as one file does.  done: false when nothing was done, as it is not known to work there.
 */
b2c_status b2i_fs_sync_all(int dir, bool *done, b2c_error *err);

/* ---- other names (fs_rename.c) ---- */

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
/* Gives 'to' the permissions of 'from', whose place it will take. */
b2c_status b2i_fs_copy_mode(const char *from, const char *to, b2c_error *err);

/* ---- who makes something new (fs_claim.c) ---- */

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

/* ---- paths (fs_path.c) ---- */

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

#endif
