/*
 * test_share.c: several handles on one frame: editing in turns with the lock, reading without.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "edits.h"
#include "fs.h"
#include "io_hook.h"
#include "nd_array.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NHANDLES = 3 };

static b2c_schunk *open_as(const char *path, int mode)
{
    b2c_schunk *s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, mode, NULL, &s, &err), B2C_OK);
    return s;
}

static uint64_t count_of(const char *path)
{
    char name[300];
    uint8_t bytes[16] = { 0 };
    bool is_dir;
    CHECK_EQ(b2i_fs_is_dir(path, &is_dir, &err), B2C_OK);
    snprintf(name, sizeof name, "%s%s", path, is_dir ? "/.b2lock" : ".b2lock");
    int fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && read(fd, bytes, sizeof bytes) == 16);
    close(fd);
    return b2i_ld64le(bytes + 8);
}

/* Random edits through handles in turns; each sees what the others did. */
static void test_turns(uint8_t storage, int durability)
{
    char path[300];
    model m = { .n = 0 };
    b2c_schunk *h[NHANDLES], *r;
    snprintf(path, sizeof path, "%s/turns%d_%d", dir, storage, durability);
    b2c_schunk_free(make(storage, path, CHUNK));
    for (int i = 0; i < NHANDLES; i++) {
        h[i] = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    }
    r = open_as(path, B2C_OPEN_READ | B2C_OPEN_LOCK);
    for (int i = 0; i < 150; i++) {
        int k = (int)(harness_random(&seed) % NHANDLES), changed;
        uint64_t count = count_of(path);
        CHECK_EQ(b2c_schunk_set_durability(h[k], durability, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_lock(h[k], 1, &changed, &err), B2C_OK);
        CHECK_EQ(count_of(path), count + 1);
        check_model(h[k], &m);
        edit(h[k], &m);
        if (i % 3 == 0) {
            edit(h[k], &m); /* in the same turn */
        }
        CHECK_EQ(b2c_schunk_unlock(h[k], &err), B2C_OK);
        CHECK_EQ(b2c_schunk_lock(r, 0, &changed, &err), B2C_OK);
        CHECK_EQ(changed, 1);
        check_model(r, &m);
        CHECK_EQ(b2c_schunk_unlock(r, &err), B2C_OK);
        b2c_schunk *other = open_as(path, B2C_OPEN_READ);
        check_model(other, &m); /* also for those who know nothing of locks */
        b2c_schunk_free(other);
        if (i % 10 == 4) { /* closing one packs the file under the others */
            CHECK_EQ(b2c_schunk_close(h[k], &err), B2C_OK);
            h[k] = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
        }
        if (m.n > 40) {
            CHECK_EQ(b2c_schunk_lock(h[k], 1, NULL, &err), B2C_OK);
            CHECK_EQ(b2c_schunk_truncate(h[k], ctx, 10 * CHUNK, &err), B2C_OK);
            CHECK_EQ(b2c_schunk_unlock(h[k], &err), B2C_OK);
            m.n = 10;
        }
    }
    for (int i = 0; i < NHANDLES; i++) {
        CHECK_EQ(b2c_schunk_close(h[i], &err), B2C_OK);
    }
    check_model(r, &m); /* what it knew is still there */
    CHECK_EQ(b2c_schunk_lock(r, 0, NULL, &err), B2C_OK);
    check_model(r, &m);
    b2c_schunk_free(r);
}

/* An edit alone takes the lock for itself; a transaction keeps it; nesting counts. */
static void test_who_holds_it(void)
{
    const char *path = path_of("holds");
    uint8_t data[CHUNK] = { 0 };
    b2c_schunk_info info;
    int changed;
    b2c_schunk_free(make(B2C_STORAGE_FILE, path, CHUNK));
    b2c_schunk *a = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    b2c_schunk *b = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    b2c_schunk *r = open_as(path, B2C_OPEN_READ | B2C_OPEN_LOCK);
    CHECK_EQ(b2c_schunk_append(a, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_OK);
    b2c_schunk_info_get(b, &info);
    CHECK_EQ(info.nchunks, 2);
    CHECK_EQ(b2c_schunk_begin(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(a, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_E_LOCKED); /* not for ever */
    CHECK_EQ(b2c_schunk_lock(r, 0, NULL, &err), B2C_E_LOCKED);
    CHECK_EQ(b2c_schunk_commit(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_OK);
    b2c_schunk_info_get(b, &info);
    CHECK_EQ(info.nchunks, 4);
    CHECK_EQ(b2c_schunk_begin(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_rollback(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(r, 0, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(r, 0, &changed, &err), B2C_OK);
    CHECK_EQ(changed, 0);
    CHECK_EQ(b2c_schunk_lock(r, 1, NULL, &err), B2C_E_READ_ONLY);
    CHECK_EQ(b2c_schunk_unlock(r, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_unlock(r, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_unlock(r, &err), B2C_OK); /* not held: nothing happens */
    CHECK_EQ(b2c_schunk_lock(a, 0, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(a, 1, NULL, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_E_LOCKED); /* not for ever */
    CHECK_EQ(b2c_schunk_lock(r, 0, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_unlock(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(b, 1, NULL, &err), B2C_E_LOCKED);
    CHECK_EQ(b2c_schunk_unlock(r, &err), B2C_OK);
    b2c_schunk *c = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    CHECK_EQ(b2c_schunk_append(c, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(c, &err), B2C_OK); /* every edit was stored: it does not pack */
    b2c_schunk_info_get(a, &info);
    CHECK_EQ(info.nchunks, 5);
    CHECK_EQ(b2c_schunk_commit(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(a, &err), B2C_OK); /* gives the lock up */
    CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_COPY | B2C_OPEN_LOCK, NULL, &a, &err),
             B2C_E_ARGUMENT);
    CHECK_EQ(b2c_schunk_close(b, &err), B2C_OK);
    b2c_schunk_free(r);
}

/* A description of what is no longer there is refused. */
static void test_replaced_array(void)
{
    const char *path = path_of("array");
    const uint64_t start = 0, count = 5, step = 1;
    uint8_t items[40] = { 0 };
    b2c_nd nd = { sizeof nd, 1, 4, { 10 }, { 10 }, { 10 } };
    b2c_nd wider = { sizeof nd, 1, 8, { 10 }, { 10 }, { 10 } };
    b2c_schunk_free(nd_array_new(&nd, path, B2C_FILTER_SHUFFLE));
    b2c_schunk *a = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    CHECK_EQ(b2i_fs_remove(B2I_FS_CWD, path, &err), B2C_OK);
    b2c_schunk_free(nd_array_new(&wider, path, B2C_FILTER_SHUFFLE));
    b2c_schunk *b = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    CHECK_EQ(b2c_nd_append_chunks(a, ctx, &nd, 0, 1, items, sizeof items, &err), B2C_E_ARGUMENT);
    CHECK(strstr(err.what, "describe it anew") != NULL);
    CHECK_EQ(b2c_nd_write(a, ctx, &wider, &start, &count, &step, items, 20, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_schunk_close(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(b, &err), B2C_OK);
}

/* Who shows what another one has changed compares shapes, not what lies behind them in b2c_nd. */
static void test_changed_array(void)
{
    const char *path = path_of("changed");
    const uint64_t start = 0, count = 5, step = 1;
    const uint8_t items[40] = { 1 };
    b2c_nd nd;
    memset(&nd, 0xEE, sizeof nd);
    nd.size = sizeof nd;
    nd.ndim = 1;
    nd.itemsize = 4;
    nd.shape[0] = nd.chunks[0] = nd.blocks[0] = 10;
    b2c_schunk_free(nd_array_new(&nd, path, B2C_FILTER_SHUFFLE));
    b2c_schunk *a = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    b2c_schunk *b = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    CHECK_EQ(b2c_nd_append_chunks(a, ctx, &nd, 0, 1, items, sizeof items, &err), B2C_OK);
    CHECK_EQ(b2c_nd_write(b, ctx, &nd, &start, &count, &step, items, 20, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(b, &err), B2C_OK);
}

/* A new directory is found again by its path, also with slashes at the end. */
static void test_slashes(void)
{
    uint8_t data[CHUNK] = { 1 };
    b2c_schunk_params p;
    b2c_schunk *a = NULL;
    b2c_schunk_info info;
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_DIR;
    p.path = path_of("slashes//");
    p.lock = 1;
    CHECK_EQ(b2c_schunk_new(&p, &a, &err), B2C_OK);
    b2c_schunk *b = open_as(p.path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(a, ctx, data, CHUNK, &err), B2C_OK);
    b2c_schunk_info_get(a, &info);
    CHECK_EQ(info.nchunks, 2);
    CHECK_EQ(b2c_schunk_close(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(b, &err), B2C_OK);
}

/* Sizes are changed in turn with others: not where one of them has stored chunks meanwhile. */
static void test_sizes_in_turn(uint8_t storage)
{
    const uint8_t data[CHUNK] = { 1 };
    const char *path = path_of(storage == B2C_STORAGE_DIR ? "sizes_dir" : "sizes_file");
    b2c_schunk_info info;
    b2c_schunk_free(make(storage, path, CHUNK));
    b2c_schunk *a = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    b2c_schunk *b = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    b2c_schunk_info_get(a, &info);
    b2c_cparams cp = info.cparams;
    cp.typesize = 2;
    CHECK_EQ(b2c_schunk_set_cparams(a, &cp, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_OK);
    b2c_schunk_info_get(b, &info);
    CHECK_EQ(info.cparams.typesize, 2);
    cp.typesize = 8;
    CHECK_EQ(b2c_schunk_set_cparams(a, &cp, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_schunk_close(a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(b, &err), B2C_OK);
    a = open_as(path, B2C_OPEN_READ);
    b2c_schunk_info_get(a, &info);
    CHECK(info.cparams.typesize == 2 && info.nchunks == 1);
    CHECK_EQ(b2c_schunk_close(a, &err), B2C_OK);
}

/* Waiting for another process; and a forked one does not give up its parent's lock. */
static void test_processes(void)
{
    const char *path = path_of("processes");
    uint8_t data[CHUNK] = { 0 };
    b2c_schunk_info info;
    enum { N = 40, NPROCESSES = 4 };
    b2c_schunk_free(make(B2C_STORAGE_FILE, path, CHUNK));
    b2c_schunk *s = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    CHECK_EQ(b2c_schunk_lock(s, 1, NULL, &err), B2C_OK);
    for (int i = 0; i < NPROCESSES; i++) {
        if (fork() == 0) {
            b2c_status st = B2C_OK;
            for (int k = 0; k < N && st == B2C_OK; k++) {
                st = b2c_schunk_append(s, ctx, data, CHUNK, &err);
            }
            _exit(st == B2C_OK ? 0 : 1);
        }
    }
    usleep(50000);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK); /* still the only one */
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 1);
    CHECK_EQ(b2c_schunk_unlock(s, &err), B2C_OK);
    for (int i = 0; i < NPROCESSES; i++) {
        int status;
        CHECK(wait(&status) > 0 && status == 0);
    }
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 2 + N * NPROCESSES);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* Whether somebody holds the lock of the file at the path. */
static bool is_locked(const char *path)
{
    char name[300];
    snprintf(name, sizeof name, "%s.b2lock", path);
    int fd = open(name, O_RDWR);
    CHECK(fd >= 0);
    bool is = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    return is;
}

/* The lock of a process that was killed is free, also when one that it has forked lives on. */
static void test_a_killed_parent(bool was_held)
{
    const char *path = path_of(was_held ? "killed1" : "killed0");
    int told[2], wait_here[2], status;
    char byte;
    b2c_schunk_free(make(B2C_STORAGE_FILE, path, CHUNK));
    CHECK(pipe(told) == 0 && pipe(wait_here) == 0);
    pid_t parent = fork();
    if (parent == 0) {
        b2c_schunk *s = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
        b2c_status st = was_held ? b2c_schunk_lock(s, 1, NULL, &err) : B2C_OK;
        if (fork() == 0) {
            close(wait_here[1]);
            _exit(write(told[1], "c", 1) == 1 && read(wait_here[0], &byte, 1) == 0 ? 0 : 1);
        }
        st = st == B2C_OK ? b2c_schunk_lock(s, 1, NULL, &err) : st;
        _exit(st == B2C_OK && write(told[1], "p", 1) == 1 ? 0 : 1);
    }
    CHECK(read(told[0], &byte, 1) == 1 && read(told[0], &byte, 1) == 1);
    CHECK(waitpid(parent, &status, 0) == parent && status == 0);
    CHECK(!is_locked(path));
    for (int i = 0; i < 2; i++) {
        close(wait_here[i]); /* which ends the child */
        close(told[i]);
    }
}

/* Chunks of sizes of their own, of which most are gone when a reader looks again. */
static void test_fewer_chunks(uint8_t storage)
{
    char path[300];
    uint8_t data[CHUNK] = { 1 };
    int change;
    b2c_schunk_info info;
    snprintf(path, sizeof path, "%s/fewer%d", dir, storage);
    b2c_schunk *w = make(storage, path, 0);
    for (size_t i = 0; i < 200; i++) {
        CHECK_EQ(b2c_schunk_append(w, ctx, data, i % 3 * 4 + 4, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_flush(w, &err), B2C_OK);
    b2c_schunk *r = open_as(path, B2C_OPEN_READ);
    CHECK_EQ(b2c_schunk_truncate(w, ctx, 4, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_flush(w, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_refresh(r, &change, &err), B2C_OK);
    CHECK_EQ(change, B2C_CHANGE_ANY);
    b2c_schunk_info_get(r, &info);
    CHECK_EQ(info.nchunks, 1);
    b2c_schunk_free(w);
    CHECK_EQ(remove_path(path), 0);
    change = 77; /* an output, which only success writes */
    CHECK_EQ(b2c_schunk_refresh(r, &change, &err), B2C_E_IO);
    CHECK_EQ(change, 77);
    b2c_schunk_free(r);
}

/* Chunks of one size that take the room of older ones again and again: they are told apart. */
static void test_same_rooms(void)
{
    char path[300];
    uint8_t noise[CHUNK], first[CHUNK], out[CHUNK];
    size_t n;
    int lost, nchanged = 0;
    snprintf(path, sizeof path, "%s/rooms", dir);
    b2c_schunk *w = make(B2C_STORAGE_FILE, path, CHUNK);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < CHUNK; k++) {
            noise[k] = (uint8_t)harness_random(&seed);
        }
        b2c_status st = i == 0 ? b2c_schunk_append(w, ctx, noise, CHUNK, &err)
                               : b2c_schunk_update(w, ctx, 0, noise, CHUNK, &err);
        CHECK_EQ(st, B2C_OK);
        CHECK_EQ(b2c_schunk_flush(w, &err), B2C_OK);
        memcpy(first, noise, CHUNK);
        b2c_schunk *r = open_as(path, B2C_OPEN_READ);
        for (int k = 0; k < i % 9; k++) {
            noise[0]++;
            CHECK_EQ(b2c_schunk_update(w, ctx, 0, noise, CHUNK, &err), B2C_OK);
            CHECK_EQ(b2c_schunk_flush(w, &err), B2C_OK);
        }
        st = b2c_schunk_decode_chunk(r, ctx, 0, out, CHUNK, &n, &err);
        bool is_same = st == B2C_OK && memcmp(out, first, CHUNK) == 0;
        CHECK_EQ(b2c_schunk_is_current(r), i % 9 == 0);
        CHECK_EQ(b2c_schunk_recheck(r, &lost, &err), B2C_OK);
        CHECK(is_same || lost);
        nchanged += !is_same;
        b2c_schunk_free(r);
    }
    CHECK(nchanged > 0);
    CHECK_EQ(b2c_schunk_close(w, &err), B2C_OK);
}

/* A reader without the lock: told that its state is an old one, and what became of it. */
static void test_readers(uint8_t storage)
{
    char path[300];
    uint8_t data[CHUNK] = { 0 }, out[CHUNK], noise[6 * CHUNK];
    size_t n;
    int change, lost;
    b2c_schunk_info info;
    snprintf(path, sizeof path, "%s/readers%d", dir, storage);
    b2c_schunk *w = make(storage, path, CHUNK), *r;
    model m = { .n = 0 };
    for (int i = 0; i < 6 * CHUNK; i++) { /* of some size: room for other chunks */
        noise[i] = (uint8_t)harness_random(&seed);
    }
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(b2c_schunk_append(w, ctx, noise + i * CHUNK, CHUNK, &err), B2C_OK);
        put_in(&m, (unsigned)i, 0);
    }
    CHECK_EQ(b2c_schunk_flush(w, &err), B2C_OK);
    r = open_as(path, B2C_OPEN_READ);
    CHECK_EQ(b2c_schunk_is_current(r), 1);
    CHECK_EQ(b2c_schunk_refresh(r, &change, &err), B2C_OK);
    CHECK_EQ(change, B2C_CHANGE_NONE);
    CHECK_EQ(b2c_schunk_is_current(w), 1);
    CHECK_EQ(b2c_schunk_refresh(w, &change, &err), B2C_OK);

    CHECK_EQ(b2c_schunk_append(w, ctx, data, CHUNK, &err), B2C_OK);
    put_in(&m, m.n, 0);
    CHECK_EQ(b2c_schunk_flush(w, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_is_current(r), 0);
    CHECK_EQ(b2c_schunk_recheck(r, &lost, &err), B2C_OK);
    CHECK_EQ(lost, 0);
    CHECK_EQ(b2c_schunk_is_current(r), 1);
    b2c_schunk_info_get(r, &info); /* what it shows is still there */
    CHECK_EQ(info.nchunks, 6);
    CHECK_EQ(b2c_schunk_decode_chunk(r, ctx, 5, out, CHUNK, &n, &err), B2C_OK);
    CHECK(memcmp(out, noise + 5 * CHUNK, CHUNK) == 0);
    CHECK_EQ(b2c_schunk_refresh(r, &change, &err), B2C_OK);
    CHECK_EQ(change, B2C_CHANGE_GREW);
    b2c_schunk_info_get(r, &info);
    CHECK_EQ(info.nchunks, 7);

    int stale = 0;
    for (int i = 0; i < 40; i++) { /* replaced again and again, until room is used again */
        memset(data, 100 + i, sizeof data);
        CHECK_EQ(b2c_schunk_update(w, ctx, (uint64_t)(i % 6), data, CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_flush(w, &err), B2C_OK);
        m.v[i % 6] = 100 + i;
        b2c_status st = b2c_schunk_decode_chunk(r, ctx, (uint64_t)(i % 6), out, CHUNK, &n, &err);
        CHECK_EQ(b2c_schunk_is_current(r), 0);
        stale += st != B2C_OK || memcmp(out, noise + i % 6 * CHUNK, CHUNK) != 0;
    }
    CHECK(stale > 0); /* or the check would not be needed */
    CHECK_EQ(b2c_schunk_recheck(r, &lost, &err), B2C_OK);
    CHECK_EQ(lost, 1);
    CHECK_EQ(b2c_schunk_is_current(r), 1);
    check_model(r, &m);
    CHECK_EQ(b2c_schunk_close(w, &err), B2C_OK);
    b2c_schunk_free(r);
}

/* ---- a chunk that somebody without a lock replaces in its place while it is copied ---- */

static struct {
    const char *path;
    const uint8_t *bytes;
    size_t n;
    off_t at;
    unsigned nreads, when; /* before which read */
} stranger;

static void put_strange_chunk(const uint8_t *bytes, size_t n)
{
    int fd = open(stranger.path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, bytes, n, stranger.at) == (ssize_t)n);
    close(fd);
}

static int come_between(b2i_io_event *event)
{
    if (event->call == B2I_CALL_READ && stranger.nreads++ == stranger.when) {
        put_strange_chunk(stranger.bytes, stranger.n);
    }
    return 0;
}

/* A copy has all of one chunk or the other. */
static void check_copy(const uint8_t *frame, size_t n, uint64_t nchunk, uint8_t data[2][4 * CHUNK])
{
    uint8_t out[CHUNK];
    size_t len;
    b2c_schunk *s;
    CHECK_EQ(b2c_schunk_open_mem(frame, n, 0, NULL, &s, &err), B2C_OK);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, out, sizeof out, &len, &err), B2C_OK);
        CHECK(memcmp(out, data[0] + i * CHUNK, CHUNK) == 0 ||
              (i == nchunk && memcmp(out, data[1], CHUNK) == 0));
    }
    b2c_schunk_free(s);
}

static void test_copying_beside_a_stranger(uint64_t nchunk, bool grows)
{
    uint8_t data[2][4 * CHUNK] = { { 0 } }, chunks[2][CHUNK + 64], frame[8 * CHUNK];
    size_t n = 0, lens[2], len;
    unsigned when = 0, nconflicts = 0;
    FILE *f;
    stranger.path = path_of("strange");
    b2c_schunk *s = make(B2C_STORAGE_FILE, stranger.path, CHUNK), *other;
    CHECK_EQ(b2c_schunk_set_checksums(s, 0, 0, &err), B2C_OK);
    for (size_t i = 0; i < 3 * CHUNK; i++) {
        data[0][i] = (uint8_t)harness_random(&seed);
    }
    memcpy(data[1] + CHUNK / 2, data[0], CHUNK / 2);
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(b2c_schunk_append(s, ctx, data[0] + i * CHUNK, CHUNK, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_get_chunk(s, nchunk, chunks[0], sizeof chunks[0], &lens[0], &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    other = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    CHECK_EQ(b2c_schunk_append(other, ctx, data[1], CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_get_chunk(other, 0, chunks[1], sizeof chunks[1], &lens[1], &err), B2C_OK);
    b2c_schunk_free(other);
    CHECK(lens[1] < lens[0]);
    f = fopen(stranger.path, "rb");
    CHECK(f != NULL && (n = fread(frame, 1, sizeof frame, f)) > 0 && fclose(f) == 0);
    stranger.at = 0;
    while ((size_t)stranger.at + lens[0] < n &&
           memcmp(frame + stranger.at, chunks[0], lens[0]) != 0) {
        stranger.at++;
    }
    do {
        put_strange_chunk(chunks[grows], lens[grows]);
        stranger.bytes = chunks[!grows];
        stranger.n = lens[!grows];
        stranger.nreads = 0;
        stranger.when = when++;
        s = open_as(stranger.path, B2C_OPEN_READ);
        b2i_io_hook = come_between;
        b2c_status st = b2c_schunk_to_frame(s, frame, sizeof frame, &len, &err);
        b2i_io_hook = NULL;
        b2c_schunk_free(s);
        if (st == B2C_OK) {
            check_copy(frame, len, nchunk, data);
        } else {
            CHECK_EQ(st, B2C_E_CONFLICT);
            CHECK_EQ(err.chunk, nchunk);
            nconflicts++;
        }
    } while (stranger.nreads > stranger.when);
    CHECK(nconflicts > 0 && when > nconflicts);
    CHECK_EQ(remove_path(stranger.path), 0);
}

/* ---- what is stored before another handle is opened ---- */

static void test_settling(int storage)
{
    char path[300];
    uint8_t data[CHUNK] = { 1 };
    b2c_schunk_info info;
    snprintf(path, sizeof path, "%s/settled%d", dir, storage);
    b2c_schunk *first = make(storage, path, CHUNK);
    for (int i = 0; i < 2; i++) { /* it can be edited afterwards */
        CHECK_EQ(b2c_schunk_append(first, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_settle(first, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_settle(first, &err), B2C_OK);
    }
    b2c_schunk *second = open_as(path, B2C_OPEN_UPDATE);
    CHECK_EQ(b2c_schunk_close(first, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(second, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(second, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(second, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_settle(second, &err), B2C_OK); /* not what may be rolled back */
    CHECK_EQ(b2c_schunk_rollback(second, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_settle(second, &err), B2C_OK);
    first = open_as(path, B2C_OPEN_UPDATE);
    CHECK_EQ(b2c_schunk_settle(first, &err), B2C_OK); /* nothing of its own */
    b2c_schunk_info_get(first, &info);
    CHECK_EQ(info.nchunks, 3);
    CHECK_EQ(b2c_schunk_append(first, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_flush(first, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(second, ctx, data, CHUNK, &err), B2C_E_CONFLICT);
    CHECK_EQ(b2c_schunk_settle(second, &err), B2C_OK); /* read-only by now */
    b2c_schunk_free(second);
    CHECK_EQ(b2c_schunk_close(first, &err), B2C_OK);
}

/* ---- opening while another handle edits ---- */

static b2c_schunk *writer;
static model written;
static unsigned nreads, edit_at;

/* Lets the writer edit before the edit_at-th read of whoever is opening. */
static int edit_between(b2i_io_event *event)
{
    if (event->call == B2I_CALL_READ && ++nreads == edit_at) {
        b2i_io_hook = NULL;
        edit(writer, &written);
    }
    return 0;
}

static bool has_chunks_of(const b2c_schunk *s, const model *m)
{
    uint8_t data[CHUNK];
    b2c_schunk_info info;
    size_t n;
    b2c_schunk_info_get(s, &info);
    bool same = info.nchunks == m->n;
    for (unsigned i = 0; same && i < m->n; i++) {
        same = b2c_schunk_decode_chunk(s, ctx, i, data, sizeof data, &n, &err) == B2C_OK &&
               data[0] == m->v[i];
    }
    return same;
}

/* Whatever the moment: the state before the edit or behind it, never one that is older. */
static void test_opening_beside_an_edit(uint8_t storage)
{
    char path[300];
    snprintf(path, sizeof path, "%s/beside%d", dir, storage);
    writer = make(storage, path, CHUNK);
    written.n = 0;
    unsigned nbetween = 0;
    int lost;
    b2c_schunk_info info;
    for (unsigned i = 0; i < 1500; i++) {
        model before = written;
        nreads = 0;
        edit_at = 1 + i % 12;
        b2i_io_hook = edit_between;
        b2c_schunk *r = open_as(path, B2C_OPEN_READ);
        nbetween += b2i_io_hook == NULL;
        b2i_io_hook = NULL;
        b2c_schunk_info_get(r, &info);
        CHECK(info.nchunks == before.n || info.nchunks == written.n);
        if (!has_chunks_of(r, &before)) { /* the edit may have taken some of them away */
            CHECK_EQ(b2c_schunk_recheck(r, &lost, &err), B2C_OK);
            CHECK(has_chunks_of(r, &written));
        }
        b2c_schunk_free(r);
        edit(writer, &written);
        if (written.n > 50) {
            CHECK_EQ(b2c_schunk_truncate(writer, ctx, 10 * CHUNK, &err), B2C_OK);
            written.n = 10;
        }
    }
    CHECK(nbetween > 200);
    CHECK_EQ(b2c_schunk_close(writer, &err), B2C_OK);
}

/* The states since a reader began to open: chunks and their bytes. */
static struct {
    uint64_t nchunks, nbytes;
} states[8];
static unsigned nstates;

static void note_state(void)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(writer, &info);
    states[nstates].nchunks = info.nchunks;
    states[nstates++].nbytes = info.nbytes;
}

/* An edit of a frame of variable chunk sizes, and its commit. */
static void edit_sizes(void)
{
    uint8_t noise[CHUNK];
    b2c_schunk_info info;
    size_t len = 40 + (size_t)(harness_random(&seed) % (CHUNK - 40));
    b2c_schunk_info_get(writer, &info);
    uint64_t n = info.nchunks, at = n == 0 ? 0 : harness_random(&seed) % n;
    for (size_t i = 0; i < len; i++) {
        noise[i] = (uint8_t)harness_random(&seed);
    }
    if (n < 10) {
        CHECK_EQ(b2c_schunk_append(writer, ctx, noise, len, &err), B2C_OK);
    } else if (n > 20) {
        CHECK_EQ(b2c_schunk_delete_chunk(writer, at, &err), B2C_OK);
    } else if (len % 2 == 0) {
        CHECK_EQ(b2c_schunk_insert(writer, ctx, at, noise, len, &err), B2C_OK);
    } else {
        CHECK_EQ(b2c_schunk_update(writer, ctx, at, noise, len, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_flush(writer, &err), B2C_OK);
    note_state();
}

static int edit_sizes_between(b2i_io_event *event)
{
    if (event->call == B2I_CALL_READ && ++nreads == edit_at) {
        b2i_io_hook = NULL;
        for (int i = 0; i < 4; i++) { /* until the room of chunks is used again */
            edit_sizes();
        }
    }
    return 0;
}

/* The same where the sizes of chunks are known from their headers only: each is of one state. */
static void test_opening_sizes_beside_edits(uint8_t storage)
{
    char path[300];
    int change;
    snprintf(path, sizeof path, "%s/sizes%d", dir, storage);
    writer = make(storage, path, 0);
    for (int i = 0; i < 20; i++) {
        nstates = 0;
        edit_sizes();
    }
    b2c_schunk *old = open_as(path, B2C_OPEN_READ);
    for (unsigned i = 0; i < 2000; i++) {
        b2c_schunk *r = NULL;
        b2c_schunk_info info;
        bool is_known = false;
        nstates = nreads = 0;
        note_state();
        edit_at = 1 + i / 2 % 30;
        b2i_io_hook = edit_sizes_between;
        b2c_status st = i % 2 == 0 ? b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &r, &err)
                                   : b2c_schunk_refresh(old, &change, &err);
        b2i_io_hook = NULL;
        CHECK_EQ(st, B2C_OK);
        b2c_schunk_info_get(i % 2 == 0 ? r : old, &info);
        for (unsigned k = 0; k < nstates; k++) {
            is_known =
                is_known || (states[k].nchunks == info.nchunks && states[k].nbytes == info.nbytes);
        }
        CHECK(is_known);
        b2c_schunk_free(r);
    }
    b2c_schunk_free(old);
    CHECK_EQ(b2c_schunk_close(writer, &err), B2C_OK);
}

/* ---- edits of an empty frame that fail ---- */

/* What was begun of them keeps nobody waiting. */
static void test_failed_first_edit(bool in_transaction)
{
    const uint64_t numbers[] = { 0, 0, 0, 0 };
    const b2c_limits limits = { .max_nchunks = 3 }; /* one too many, in the middle of the edit */
    const char *path = path_of(in_transaction ? "failed_in" : "failed");
    uint8_t data[CHUNK] = { 1 };
    b2c_schunk_info info;
    int change;
    b2c_schunk *from = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    CHECK_EQ(b2c_schunk_append(from, ctx, data, CHUNK, &err), B2C_OK);
    b2c_schunk_free(make(B2C_STORAGE_FILE, path, CHUNK));
    b2c_schunk *a;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE | B2C_OPEN_LOCK, &limits, &a, &err), B2C_OK);
    b2c_schunk *b = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
    for (uint64_t n = 1; n < 3; n++) {
        if (in_transaction) {
            CHECK_EQ(b2c_schunk_begin(a, &err), B2C_OK);
        }
        CHECK_EQ(b2c_schunk_copy_some(from, numbers, 4, a, &err), B2C_E_LIMIT);
        if (in_transaction) {
            CHECK_EQ(b2c_schunk_commit(a, &err), B2C_OK); /* of what was appended nothing is left */
        }
        b2c_schunk_info_get(a, &info);
        CHECK_EQ(info.nchunks, n - 1);
        CHECK_EQ(b2c_schunk_append(b, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_refresh(a, &change, &err), B2C_OK);
        b2c_schunk_info_get(a, &info);
        CHECK_EQ(info.nchunks, n);
    }
    CHECK_EQ(b2c_schunk_copy_some(from, numbers, 1, a, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(b, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(a, &err), B2C_OK);
    a = open_as(path, B2C_OPEN_READ);
    b2c_schunk_info_get(a, &info);
    CHECK_EQ(info.nchunks, 3);
    b2c_schunk_free(a);
    b2c_schunk_free(from);
}

/* ---- two that make a frame in one directory at the same moment ---- */

static b2c_status second;

static b2c_status make_dir(const char *path, b2c_schunk **s)
{
    b2c_schunk_params p;
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_DIR;
    p.path = path;
    return b2c_schunk_new(&p, s, &err);
}

/* The second one comes when the first has found the directory empty, but has no index yet. */
static int make_second(b2i_io_event *event)
{
    b2c_schunk *s = NULL;
    if (event->call == B2I_CALL_RENAME) {
        b2i_io_hook = NULL;
        second = make_dir(path_of("both"), &s);
        b2c_schunk_free(s);
    }
    return 0;
}

static void test_making_at_once(void)
{
    b2c_schunk *s = NULL;
    second = B2C_OK;
    b2i_io_hook = make_second;
    CHECK_EQ(make_dir(path_of("both"), &s), B2C_OK);
    CHECK(b2i_io_hook == NULL);
    CHECK_EQ(second, B2C_E_CONFLICT);
    CHECK_EQ(b2c_schunk_append(s, ctx, "data", 4, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    s = NULL;
    CHECK_EQ(make_dir(path_of("both"), &s), B2C_E_EXISTS);
    b2c_schunk_free(open_as(path_of("both"), B2C_OPEN_READ));
}

static void append_noise(b2c_schunk *s, uint8_t value, b2c_status expected)
{
    uint8_t data[CHUNK];
    uint64_t state = value + 1u;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)harness_random(&state);
    }
    data[0] = value;
    b2c_status st = b2c_schunk_append(s, ctx, data, sizeof data, &err);
    if (st == B2C_OK) {
        st = b2c_schunk_flush(s, &err);
    }
    CHECK_EQ(st, expected);
}

/* Commits of others after which all lengths are what they were, in a slot that comes round again.
 */
static void test_same_lengths(uint8_t storage)
{
    const char *path = path_of(storage == B2C_STORAGE_DIR ? "lengths_dir" : "lengths_file");
    uint8_t data[CHUNK];
    size_t n;
    for (unsigned ncommits = 1; ncommits <= 9; ncommits++) {
        b2c_schunk *mine = make(storage, path, CHUNK), *other;
        append_noise(mine, 0, B2C_OK);
        append_noise(mine, 1, B2C_OK);
        other = open_as(path, B2C_OPEN_UPDATE);
        for (unsigned i = 0; i < ncommits; i++) {
            append_noise(other, (uint8_t)(2 + i), B2C_OK);
            CHECK_EQ(b2c_schunk_delete_chunk(other, 0, &err), B2C_OK);
        }
        append_noise(mine, 99, B2C_E_CONFLICT);
        CHECK_EQ(b2c_schunk_close(mine, &err), B2C_OK);
        b2c_schunk *r = open_as(path, B2C_OPEN_READ);
        for (unsigned i = 0; i < 2; i++) {
            CHECK_EQ(b2c_schunk_decode_chunk(r, ctx, i, data, sizeof data, &n, &err), B2C_OK);
            CHECK_EQ(data[0], ncommits + i);
        }
        CHECK_EQ(b2c_schunk_close(r, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
        CHECK_EQ(remove_path(path), 0);
    }
}

/* Who has made a frame in the place of a symbolic link goes on with it after others have. */
static void test_replaced_link(uint8_t storage)
{
    const char *path = path_of(storage == B2C_STORAGE_FILE ? "link" : "dlink");
    uint8_t data[CHUNK] = { 0 };
    b2c_schunk_info info;
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    int change;
    CHECK_EQ(symlink("nothing", path), 0);
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.chunksize = CHUNK;
    p.replaces = 1;
    p.lock = 1;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        b2c_schunk *other = open_as(path, B2C_OPEN_UPDATE | B2C_OPEN_LOCK);
        CHECK_EQ(b2c_schunk_append(other, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_refresh(s, &change, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 6);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    for (int level = B2C_DURABILITY_NONE; level <= B2C_DURABILITY_COMMIT; level++) {
        test_turns(B2C_STORAGE_FILE, level);
        test_turns(B2C_STORAGE_DIR, level);
    }
    test_who_holds_it();
    test_making_at_once();
    test_failed_first_edit(false);
    test_failed_first_edit(true);
    test_replaced_array();
    test_replaced_link(B2C_STORAGE_FILE);
    test_replaced_link(B2C_STORAGE_DIR);
    test_changed_array();
    test_slashes();
    test_sizes_in_turn(B2C_STORAGE_FILE);
    test_sizes_in_turn(B2C_STORAGE_DIR);
    test_processes();
    test_a_killed_parent(true);
    test_a_killed_parent(false);
    test_fewer_chunks(B2C_STORAGE_FILE);
    test_fewer_chunks(B2C_STORAGE_DIR);
    test_same_rooms();
    test_same_lengths(B2C_STORAGE_FILE);
    test_same_lengths(B2C_STORAGE_DIR);
    test_readers(B2C_STORAGE_FILE);
    test_readers(B2C_STORAGE_DIR);
    for (uint64_t nchunk = 0; nchunk < 3; nchunk++) {
        test_copying_beside_a_stranger(nchunk, true);
        test_copying_beside_a_stranger(nchunk, false);
    }
    test_settling(B2C_STORAGE_FILE);
    test_settling(B2C_STORAGE_DIR);
    test_opening_beside_an_edit(B2C_STORAGE_FILE);
    test_opening_beside_an_edit(B2C_STORAGE_DIR);
    test_opening_sizes_beside_edits(B2C_STORAGE_FILE);
    test_opening_sizes_beside_edits(B2C_STORAGE_DIR);
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
