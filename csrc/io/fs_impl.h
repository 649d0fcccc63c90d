/*
 * fs_impl.h: what the files on names and directories share; private to csrc/io.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_FS_IMPL_H
#define B2I_FS_IMPL_H

#include "fs.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The descriptor of 'dir' for the system's …at() functions. */
static inline int b2i_fs_at(int dir)
{
    return dir == B2I_FS_CWD ? AT_FDCWD : dir;
}

/* fstatat(): 0 or an errno; ENOENT: nothing is there. */
int b2i_fs_stat(int dir, const char *name, int flags, struct stat *info);

/* B2C_E_EXISTS with EEXIST. */
b2c_status b2i_fs_fail_exists(b2c_error *err);

/* The path of the directory that holds 'path', to be freed; NULL without memory. */
char *b2i_fs_parent(const char *path);

#endif
