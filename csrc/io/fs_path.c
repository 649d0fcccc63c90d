/*
 * fs_path.c: paths: of what is beside or above a file, and where they lead.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* realpath() under -std=c99 */
#endif
#include "fs_impl.h"
#include "alloc.h"
#include "checksum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the last name of a path begins, which slashes may follow. */
static size_t name_at(const char *path)
{
    size_t at = strlen(path);
    while (at > 1 && path[at - 1] == '/') {
        at--;
    }
    while (at > 0 && path[at - 1] != '/') {
        at--;
    }
    return at;
}

char *b2i_fs_parent(const char *path)
{
    size_t len = name_at(path);
    char *parent = b2i_malloc(len + 2);
    if (parent != NULL) {
        memcpy(parent, len == 0 ? "." : path, len == 0 ? 1 : len);
        parent[len == 0 ? 1 : len] = '\0';
    }
    return parent;
}

/* 'name' in 'dir', to be freed. */
static b2c_status join(const char *dir, const char *name, char **out, b2c_error *err)
{
    size_t n = strlen(dir), len = strlen(name) + 1;
    char *path = b2i_malloc(n + 1 + len);
    if (path == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(path, dir, n);
    if (n > 0 && path[n - 1] != '/') {
        path[n++] = '/';
    }
    memcpy(path + n, name, len);
    *out = path;
    return B2C_OK;
}

b2c_status b2i_fs_beside(const char *path, const char *suffix, char **out, b2c_error *err)
{
    enum { MAX_NAME = 255, HEX_LEN = 16 };
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t before = (size_t)(name - path), len = strlen(name), n = strlen(suffix);
    char *beside = b2i_malloc(before + len + HEX_LEN + n + 1);
    if (beside == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(beside, path, before + len);
    if (len + n > MAX_NAME) {
        uint64_t hash = b2i_xxh3_64(b2i_span_of(name, len));
        for (len = 0; len < HEX_LEN; len++) {
            beside[before + len] = "0123456789abcdef"[hash >> (60 - 4 * len) & 15];
        }
    }
    memcpy(beside + before + len, suffix, n + 1);
    *out = beside;
    return B2C_OK;
}

static b2c_status fail_path(int why, b2c_error *err)
{
    return why == ENOMEM ? b2i_fail_memory(err)
                         : b2i_fail_io(err, why, B2C_NO_OFFSET, "finding the path failed");
}

b2c_status b2i_fs_absolute_path(const char *path, char **out, b2c_error *err)
{
    if (path[0] == '/') {
        return join("", path, out, err);
    }
    char *cwd = getcwd(NULL, 0); /* of the C library's malloc */
    if (cwd == NULL) {
        return fail_path(errno, err);
    }
    b2c_status st = join(cwd, path, out, err);
    free(cwd);
    return st;
}

/* Of what is not there yet, in a directory that is. */
static b2c_status real_path_of_new(const char *path, char **out, b2c_error *err)
{
    char *parent = b2i_fs_parent(path);
    if (parent == NULL) {
        return b2i_fail_memory(err);
    }
    char *real = realpath(parent, NULL);
    int why = errno;
    b2i_free(parent);
    if (real == NULL && why == ENOMEM) {
        return b2i_fail_memory(err);
    }
    b2c_status st =
        real == NULL ? join("", path, out, err) : join(real, path + name_at(path), out, err);
    free(real);
    return st;
}

b2c_status b2i_fs_real_path(const char *path, char **out, b2c_error *err)
{
    struct stat info;
    char *real = realpath(path, NULL); /* of the C library's malloc */
    int why = errno;
    if (real == NULL && why == ENOENT) {
        return real_path_of_new(path, out, err);
    }
    if (real == NULL && (why == ENOMEM || (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)))) {
        return fail_path(why, err); /* a file must not take the place of a link */
    }
    b2c_status st = join("", real == NULL ? path : real, out, err);
    free(real);
    return st;
}
