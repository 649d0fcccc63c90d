/*
 * fuzz_place.h: an input as files.
 * Input: u8 kind, u32 at and u32 n (little endian): n zero bytes are inserted at byte 'at' of the
 * rest.  Kind bit 0: the rest is the index file of a directory, and also its first chunk file, from
 * byte 'at' on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef FUZZ_PLACE_H
#define FUZZ_PLACE_H

#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FUZZ_HEAD_LEN = 9, FUZZ_MAX_HOLE = 2 << 20 };

typedef struct fuzz_place {
    char dir[64];
    char path[128]; /* of the frame: the directory, or a file in it */
} fuzz_place;

static inline void fuzz_write_file(const char *path, const uint8_t *p, size_t n, size_t at,
                                   size_t hole)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    FUZZ_REQUIRE(fd >= 0);
    FUZZ_REQUIRE(pwrite(fd, p, at, 0) == (ssize_t)at);
    FUZZ_REQUIRE(ftruncate(fd, (off_t)(at + hole)) == 0);
    FUZZ_REQUIRE(pwrite(fd, p + at, n - at, (off_t)(at + hole)) == (ssize_t)(n - at));
    (void)close(fd);
}

/* Removes a file, or a directory with the files and empty directories in it. */
static inline void fuzz_remove(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    if (dir == NULL) {
        (void)unlink(path);
        return;
    }
    while ((e = readdir(dir)) != NULL) {
        bool is_self = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        if (!is_self && unlinkat(dirfd(dir), e->d_name, 0) != 0) {
            (void)unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
        }
    }
    (void)closedir(dir);
    (void)rmdir(path);
}

/* Makes a new folder, in memory where there is such a place, for speed.  What a killed run left is
 * never met again, though numbers of processes come again. */
static inline void fuzz_folder(char dir[64], const char *name)
{
    (void)snprintf(dir, 64, "%s/fuzz-%s-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", name);
    FUZZ_REQUIRE(mkdtemp(dir) != NULL);
}

/* False when the input is too short.  fuzz_remove(place->dir) removes it all. */
static inline bool fuzz_place_make(fuzz_place *place, const char *name, const uint8_t *data,
                                   size_t n)
{
    char chunk[128];
    if (n < FUZZ_HEAD_LEN) {
        return false;
    }
    bool is_dir = data[0] & 1;
    size_t at = fuzz_u32(data + 1), hole = fuzz_u32(data + 5);
    data += FUZZ_HEAD_LEN;
    n -= FUZZ_HEAD_LEN;
    at = at < n ? at : n;
    fuzz_folder(place->dir, name);
    (void)snprintf(place->path, sizeof place->path, "%s/chunks.b2frame", place->dir);
    (void)snprintf(chunk, sizeof chunk, "%s/00000000.chunk", place->dir);
    if (is_dir) {
        fuzz_write_file(place->path, data, at, at, 0);
        fuzz_write_file(chunk, data + at, n - at, n - at, 0);
        memcpy(place->path, place->dir, sizeof place->dir);
    } else {
        fuzz_write_file(place->path, data, n, at, hole < FUZZ_MAX_HOLE ? hole : FUZZ_MAX_HOLE);
    }
    return true;
}

#endif
