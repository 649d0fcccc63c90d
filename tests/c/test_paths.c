/*
 * test_paths.c: the same file by several paths: after a change of the directory, through links,
 * from where paths are too long.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "files.h"
#include "frame.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 400 };

static b2c_ctx *ctx;
static b2c_error err;
static char dir[] = "/tmp/b2c_test_XXXXXX";

static b2c_schunk *make(uint8_t storage, const char *path, uint8_t lock)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.chunksize = CHUNK;
    p.lock = lock;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    return s;
}

static b2c_schunk *open_as(const char *path, int mode)
{
    b2c_schunk *s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, mode, NULL, &s, &err), B2C_OK);
    return s;
}

static void append(b2c_schunk *s, uint8_t value)
{
    uint8_t data[CHUNK] = { value };
    CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
}

static uint64_t nchunks_of(const char *path)
{
    b2c_schunk_info info = { 0 };
    b2c_schunk *s = open_as(path, B2C_OPEN_READ);
    b2c_schunk_info_get(s, &info);
    b2c_schunk_free(s);
    return info.nchunks;
}

/* A handle is on the file that it was opened on, whatever its path means by now. */
static void test_change_of_directory(uint8_t storage)
{
    char first[200], second[200], name[] = "moving0";
    b2c_schunk_info info;
    int changed;
    name[sizeof name - 2] = (char)('0' + storage);
    snprintf(first, sizeof first, "%s/first", dir);
    snprintf(second, sizeof second, "%s/second", dir);
    CHECK((mkdir(first, 0700) == 0 || errno == EEXIST) &&
          (mkdir(second, 0700) == 0 || errno == EEXIST));
    CHECK_EQ(chdir(second), 0);
    b2c_schunk *s = make(storage, name, 0);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(chdir(first), 0);
    b2c_schunk_free(make(storage, name, 0));
    s = open_as(name, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    b2c_schunk *r = open_as(name, B2C_OPEN_READ);
    b2c_schunk *other = open_as(name, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    append(other, 1);
    CHECK_EQ(chdir(second), 0);
    append(other, 2);
    append(s, 3); /* it is opened again, since the other has written */
    CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(nchunks_of(name), 0);
    CHECK_EQ(b2c_schunk_refresh(r, &changed, &err), B2C_OK);
    b2c_schunk_info_get(r, &info);
    CHECK_EQ(info.nchunks, 3);
    b2c_schunk_free(r);
    CHECK_EQ(chdir("/"), 0);
}

/* The lock file is beside the name that was given, where the reference library looks for it. */
static void test_lock_of_link(void)
{
    char real[300], link[300], lock[310];
    snprintf(real, sizeof real, "%s/real", dir);
    snprintf(link, sizeof link, "%s/link", dir);
    snprintf(lock, sizeof lock, "%s.b2lock", link);
    CHECK_EQ(symlink("real", link), 0);
    b2c_schunk_free(make(B2C_STORAGE_FILE, real, 0));
    b2c_schunk *s = open_as(link, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    append(s, 1);
    CHECK_EQ(access(lock, F_OK), 0);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(nchunks_of(real), 1);
}

/* The lock of a file that is made is the one by which others find it. */
static void test_lock_of_new(void)
{
    char folder[200], alias[200], name[300];
    snprintf(folder, sizeof folder, "%s/folder", dir);
    snprintf(alias, sizeof alias, "%s/alias", dir);
    CHECK_EQ(mkdir(folder, 0700), 0);
    CHECK_EQ(symlink("folder", alias), 0);
    snprintf(name, sizeof name, "%s/new", alias);
    b2c_schunk *s = make(B2C_STORAGE_FILE, name, 1);
    snprintf(name, sizeof name, "%s/new", folder);
    b2c_schunk *other = open_as(name, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    CHECK_EQ(b2c_schunk_lock(s, 1, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(other, 1, NULL, &err), B2C_E_LOCKED);
    b2c_schunk_free(s);
    b2c_schunk_free(other);
}

/* Where the system cannot tell what a link leads to, no file takes the link's place. */
static void test_deep(void)
{
    enum { DEPTH = 25 }; /* longer than PATH_MAX */
    char folder[201];
    struct stat info;
    b2c_schunk *s = NULL;
    memset(folder, 'd', sizeof folder - 1);
    folder[sizeof folder - 1] = '\0';
    CHECK_EQ(chdir(dir), 0);
    for (int i = 0; i < DEPTH; i++) {
        CHECK(mkdir(folder, 0700) == 0 && chdir(folder) == 0);
    }
    s = make(B2C_STORAGE_FILE, "real", 0);
    append(s, 1);
    append(s, 2);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(symlink("real", "link"), 0);
    CHECK_EQ(b2c_schunk_open("link", 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_E_IO);
    CHECK_EQ(err.sys_errno, ENAMETOOLONG);
    CHECK(lstat("link", &info) == 0 && S_ISLNK(info.st_mode));
    s = open_as("real", B2C_OPEN_UPDATE);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 0, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_compact(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(nchunks_of("link"), 1);
    CHECK(unlink("link") == 0 && unlink("real") == 0);
    for (int i = 0; i < DEPTH; i++) {
        CHECK(chdir("..") == 0 && rmdir(folder) == 0);
    }
    CHECK_EQ(chdir("/"), 0);
}

/* A name of as many bytes as there may be. */
static void test_long_name(void)
{
    enum { MAX_NAME = 255 };
    char path[300];
    size_t n = strlen(dir) + 1;
    memset(path, 'n', n + MAX_NAME);
    memcpy(path, dir, n - 1);
    path[n - 1] = '/';
    path[n + MAX_NAME] = '\0';
    b2c_schunk *s = make(B2C_STORAGE_FILE, path, 0);
    append(s, 1);
    append(s, 2);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 0, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_compact(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(nchunks_of(path), 1);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_change_of_directory(B2C_STORAGE_FILE);
    test_change_of_directory(B2C_STORAGE_DIR);
    test_lock_of_link();
    test_lock_of_new();
    test_deep();
    test_long_name();
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
