/*
 * test_dir.c: what others do in the directory of a sparse frame: links to its files, and things of
 * theirs that have names of ours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "io_hook.h"
#include "lock.h"
#include "new_schunk.h"
#include "store_dir.h"

#include <errno.h>
#include <sys/stat.h>

static uint8_t data[CHUNK]; /* of every chunk */

/* A frame of so many chunks. */
static void make_frame(const char *path, unsigned nchunks)
{
    b2c_schunk *s = make(B2C_STORAGE_DIR, path, CHUNK);
    for (unsigned i = 0; i < nchunks; i++) {
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* Adds a chunk and closes; returns how that went. */
static b2c_status append_and_close(b2c_schunk *s)
{
    b2c_status st = b2c_schunk_append(s, ctx, data, CHUNK, &err);
    b2c_status st2 = b2c_schunk_close(s, st == B2C_OK ? &err : NULL);
    return st == B2C_OK ? st2 : st;
}

static b2c_status add_chunk(const char *path)
{
    b2c_schunk *s;
    b2c_status st = b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err);
    return st == B2C_OK ? append_and_close(s) : st;
}

/* The frame opens, and has so many sound chunks. */
static void check_between(const char *path, uint64_t least, uint64_t most)
{
    b2c_schunk *s = NULL;
    b2c_schunk_info info;
    uint8_t got[CHUNK];
    size_t n;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    if (s == NULL) {
        return;
    }
    b2c_schunk_info_get(s, &info);
    CHECK(info.nchunks >= least && info.nchunks <= most);
    for (uint64_t i = 0; i < info.nchunks; i++) {
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, got, sizeof got, &n, &err), B2C_OK);
        CHECK(memcmp(got, data, CHUNK) == 0);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

static void check_chunks(const char *path, uint64_t nchunks)
{
    check_between(path, nchunks, nchunks);
}

/* Overwrites bytes of a file that are so far from its end. */
static void poke(const char *file, long from_end, const void *bytes, size_t n)
{
    FILE *f = fopen(file, "r+b");
    CHECK(f != NULL && fseek(f, -from_end, SEEK_END) == 0 && fwrite(bytes, 1, n, f) == n);
    CHECK(f != NULL && fclose(f) == 0);
}

static off_t size_of(const char *file)
{
    struct stat info;
    return stat(file, &info) == 0 ? info.st_size : -1;
}

/* Two chunks, of which the last has a record that does not fit, and no fingerprint. */
static void make_foreign(const char *path, const char *last)
{
    enum { TRAILER_END = B2I_FINGERPRINT_LEN + 1 };
    static const uint8_t zeros[TRAILER_END] = { 0 };
    char index[300];
    make_frame(path, 2);
    print_path(index, sizeof index, "%s/" B2I_DIR_INDEX_NAME, path);
    poke(last, B2I_REDO_LEN + 8, zeros, 8); /* the hash in the checksum record */
    poke(index, B2I_DIR_RECORD_LEN + TRAILER_END, zeros, TRAILER_END); /* as others leave it */
}

/* A record that does not fit its chunk goes, but not from the file that a snapshot shares. */
static void test_snapshot(void)
{
    const char *path = path_of("shared"), *snapshot = path_of("snapshot");
    char chunk[300];
    print_path(chunk, sizeof chunk, "%s/00000001.chunk", path);
    make_foreign(path, chunk);
    CHECK_EQ(link(chunk, snapshot), 0);
    const off_t size = size_of(snapshot);
    CHECK_EQ(add_chunk(path), B2C_OK);
    CHECK_EQ(size_of(snapshot), size);
    CHECK_EQ(size_of(chunk), size - B2I_RECORD_LEN - B2I_REDO_LEN);
    check_chunks(path, 3);
}

static unsigned ncalls, fails_at;

static int fail_at(b2i_io_event *e)
{
    bool looks =
        e->call == B2I_CALL_READ || e->call == B2I_CALL_DIR_READ || e->call == B2I_CALL_LOOK;
    return !looks && ++ncalls == fails_at ? ENOSPC : 0;
}

/* Whatever fails while that is done, all chunks are there, and the next writer goes on. */
static void test_snapshot_faults(void)
{
    const char *path = path_of("foreign"), *snapshot = path_of("kept");
    char chunk[300];
    print_path(chunk, sizeof chunk, "%s/00000001.chunk", path);
    bool has_failed = true;
    for (fails_at = 1; has_failed; fails_at++) {
        make_foreign(path, chunk);
        CHECK_EQ(link(chunk, snapshot), 0);
        const off_t size = size_of(snapshot);
        ncalls = 0;
        b2i_io_hook = fail_at;
        b2c_status st = add_chunk(path);
        b2i_io_hook = NULL;
        has_failed = ncalls >= fails_at;
        CHECK(st == B2C_OK || (st == B2C_E_IO && err.sys_errno == ENOSPC));
        CHECK_EQ(size_of(snapshot), size);
        CHECK_EQ(add_chunk(path), B2C_OK);
        check_between(path, st == B2C_OK ? 4 : 3, 4);
        CHECK(remove_path(path) == 0 && unlink(snapshot) == 0);
    }
    CHECK(fails_at > 10);
}

/* ---- the names of files to come ---- */

/* The index says that the next chunk file has this number. */
static void set_next(const char *path, uint64_t next)
{
    enum { LEN = B2I_FINGERPRINT_LEN + B2I_DIR_RECORD_LEN };
    char index[300];
    uint8_t end[LEN];
    print_path(index, sizeof index, "%s/" B2I_DIR_INDEX_NAME, path);
    FILE *f = fopen(index, "r+b");
    CHECK(f != NULL && fseek(f, -(long)LEN, SEEK_END) == 0 && fread(end, 1, LEN, f) == LEN);
    CHECK(f != NULL && fclose(f) == 0);
    b2i_dir_record_make(next, end, end + B2I_FINGERPRINT_LEN);
    poke(index, B2I_DIR_RECORD_LEN, end + B2I_FINGERPRINT_LEN, B2I_DIR_RECORD_LEN);
}

/* The last number is used, then there are no more; all that is there stays. */
static void test_last_number(void)
{
    const char *path = path_of("last");
    b2c_schunk *s;
    make_frame(path, 2);
    set_next(path, B2I_DIR_MAX_NUMBER);
    CHECK_EQ(add_chunk(path), B2C_OK);
    check_chunks(path, 3);
    CHECK_EQ(add_chunk(path), B2C_E_LIMIT);
    check_chunks(path, 3);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update_special(s, 0, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_schunk_rollback(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_chunks(path, 3);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 2, &err), B2C_OK); /* the one with the number */
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(add_chunk(path), B2C_E_LIMIT);
    check_chunks(path, 2);
}

/* Somebody's file with the last number is in the way of a writer who may not remove it. */
static void test_last_name(void)
{
    const char *path = path_of("last_name");
    char chunk[300];
    b2c_schunk *s, *other;
    make_frame(path, 2);
    set_next(path, B2I_DIR_MAX_NUMBER);
    print_path(chunk, sizeof chunk, "%s/FFFFFFFF.chunk", path);
    CHECK_EQ(mkdir(chunk, 0777), 0);
    CHECK_EQ(add_chunk(path), B2C_E_LIMIT);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 1, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(other, ctx, data, CHUNK, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_chunks(path, 1);
}

/* A folder with the name of the new index stays; the message names it. */
static void test_index_name(void)
{
    const char *path = path_of("index_name");
    char tmp[300];
    make_frame(path, 1);
    print_path(tmp, sizeof tmp, "%s/" B2I_DIR_INDEX_TMP, path);
    CHECK_EQ(mkdir(tmp, 0777), 0);
    CHECK_EQ(add_chunk(path), B2C_E_IO);
    CHECK(err.sys_errno == EISDIR || err.sys_errno == EPERM);
    CHECK(strstr(err.what, B2I_DIR_INDEX_TMP) != NULL);
    CHECK_EQ(rmdir(tmp), 0);
    CHECK_EQ(add_chunk(path), B2C_OK);
    check_chunks(path, 3); /* with the one that could not be committed */
}

/* ---- files that no index names ---- */

/* Overwrites bytes of the index with zeros. */
static void erase(const char *path, long at, size_t n)
{
    static const uint8_t zeros[8] = { 0 };
    char index[300];
    print_path(index, sizeof index, "%s/" B2I_DIR_INDEX_NAME, path);
    poke(index, (long)size_of(index) - at, zeros, n);
}

/* An index that says that there is nothing is damaged: who opens it would remove all chunks. */
static void test_emptied(void)
{
    enum { AT_NBYTES = 0x1E, AT_THREADS = 0x3F, NFILES = 3 };
    const char *path = path_of("emptied");
    b2c_schunk *s;
    make_frame(path, NFILES);
    erase(path, AT_NBYTES, 8);
    erase(path, AT_THREADS, 2); /* as in the header of another library, which has no checksum */
    for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
        CHECK_EQ(b2c_schunk_open(path, 0, mode, NULL, &s, &err), B2C_E_CORRUPT);
        CHECK(strcmp(err.field, "nbytes") == 0);
    }
    for (int i = 0; i < NFILES; i++) {
        char name[300];
        print_path(name, sizeof name, "%s/%08d.chunk", path, i);
        CHECK(size_of(name) > 0);
    }
}

/* What another library's index does not name stays until one of ours stands for the whole. */
static void test_not_named(void)
{
    static const char *const numbers[] = { "00000005", "FFFFFFFF" };
    const char *path = path_of("not_named");
    char last[300], left[300];
    print_path(last, sizeof last, "%s/00000001.chunk", path);
    for (int i = 0; i < 2; i++) {
        print_path(left, sizeof left, "%s/%s.chunk", path, numbers[i]);
        make_foreign(path, last);
        CHECK_EQ(link(last, left), 0);
        CHECK_EQ(add_chunk(path), B2C_OK);
        CHECK(size_of(left) > 0);
        CHECK_EQ(add_chunk(path), B2C_OK);
        CHECK_EQ(size_of(left), -1);
        check_chunks(path, 4);
        CHECK_EQ(remove_path(path), 0);
    }
}

/* ---- names that cannot be looked at ---- */

static const char *end_of_name; /* of those to which it happens */
static b2i_io_call call_to_fail;
static int why_it_fails;
static unsigned nfailed;

static int fail_some(b2i_io_event *e)
{
    size_t n = strlen(end_of_name), len = e->name == NULL ? 0 : strlen(e->name);
    if (e->call != call_to_fail || len < n || strcmp(e->name + len - n, end_of_name) != 0) {
        return 0;
    }
    nfailed++;
    return why_it_fails;
}

static void start_failing(b2i_io_call call, const char *end, int why)
{
    call_to_fail = call;
    end_of_name = end;
    why_it_fails = why;
    nfailed = 0;
    b2i_io_hook = fail_some;
}

static void check_failed(b2c_status st)
{
    b2i_io_hook = NULL;
    CHECK_EQ(st, B2C_E_IO);
    CHECK_EQ(err.sys_errno, why_it_fails);
    CHECK(nfailed > 0);
}

/* A frame of a chunk in the place of what is at the path. */
static b2c_status replace(uint8_t storage, const char *path)
{
    b2c_schunk_params p;
    b2c_schunk *s;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.replaces = 1;
    p.chunksize = CHUNK;
    p.cparams.typesize = 4;
    b2c_status st = b2c_schunk_new(&p, &s, &err);
    return st == B2C_OK ? append_and_close(s) : st;
}

static void test_no_looking(void)
{
    static const int whys[] = { EACCES, ELOOP, EIO, ENAMETOOLONG, ENOTDIR };
    const char *path = path_of("no_looking"), *file = path_of("file");
    make_frame(path, 1);
    CHECK_EQ(replace(B2C_STORAGE_FILE, file), B2C_OK);
    for (size_t i = 0; i < sizeof whys / sizeof whys[0]; i++) {
        start_failing(B2I_CALL_LOOK, ".chunk", whys[i]);
        check_failed(add_chunk(path));
        start_failing(B2I_CALL_LOOK, ".", whys[i]); /* the open file: nobody has replaced it */
        check_failed(replace(B2C_STORAGE_FILE, file));
        start_failing(B2I_CALL_LOOK, ".", whys[i]);
        check_failed(add_chunk(file));
        for (uint8_t kind = B2C_STORAGE_FILE; kind <= B2C_STORAGE_DIR; kind++) {
            start_failing(B2I_CALL_LOOK, "no_looking", whys[i]);
            check_failed(replace(kind, path));
            start_failing(B2I_CALL_LOOK, "file", whys[i]);
            check_failed(replace(kind, file));
            start_failing(B2I_CALL_LOOK, ".b2new", whys[i]);
            check_failed(replace(kind, path));
        }
    }
    check_chunks(path, 1);
    check_chunks(file, 1);
}

/* What stays at a name of ours is no other writer. */
static void test_what_stays(void)
{
    const char *path = path_of("stays"), *place = path_of("stays.b2new");
    char letter[300];
    FILE *f;
    print_path(letter, sizeof letter, "%s/letter", place);
    for (uint8_t kind = B2C_STORAGE_FILE; kind <= B2C_STORAGE_DIR; kind++) {
        CHECK(mkdir(place, 0777) == 0 && mkdir(letter, 0777) == 0);
        CHECK_EQ(replace(kind, path), B2C_E_IO);
        CHECK_EQ(err.sys_errno, ENOTEMPTY);
        CHECK(strstr(err.what, ".b2new") != NULL);
        CHECK(rmdir(letter) == 0 && rmdir(place) == 0 && mkfifo(place, 0666) == 0);
        CHECK_EQ(replace(kind, path), B2C_E_IO);
        CHECK_EQ(err.sys_errno, EEXIST);
        CHECK(unlink(place) == 0 && (f = fopen(place, "w")) != NULL && fclose(f) == 0);
        start_failing(B2I_CALL_REMOVE, ".b2new", EPERM);
        check_failed(replace(kind, path));
        CHECK(strstr(err.what, ".b2new") != NULL);
        CHECK_EQ(replace(kind, path), B2C_OK);
        check_chunks(path, 1);
    }
}

/* A link with the name of the lock file is not followed; the message names it. */
static void test_lock_name(void)
{
    const char *path = path_of("lock_name"), *target = path_of("target");
    char lock[300];
    b2c_schunk *s;
    make_frame(path, 1);
    print_path(lock, sizeof lock, "%s/" B2I_LOCK_NAME, path);
    CHECK_EQ(symlink(target, lock), 0);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE | B2C_OPEN_LOCK, NULL, &s, &err), B2C_E_IO);
    CHECK_EQ(err.sys_errno, ELOOP);
    CHECK(strstr(err.what, B2I_LOCK_NAME) != NULL);
    CHECK(access(target, F_OK) != 0);
}

/* ---- flush ---- */

static unsigned nsynced;

static int count_syncs(b2i_io_event *e)
{
    nsynced += e->call == B2I_CALL_SYNC && strstr(e->name, ".chunk") != NULL;
    return 0;
}

/* The number of chunk files that it synchronises. */
static unsigned flush(b2c_schunk *s)
{
    nsynced = 0;
    b2i_io_hook = count_syncs;
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    b2i_io_hook = NULL;
    return nsynced;
}

/* All that is there gets on the medium, whoever wrote it and when, but what is no chunk file. */
static void test_flush(void)
{
    const char *path = path_of("flush");
    char name[300];
    b2c_schunk *s, *other;
    make_frame(path, 3);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK_EQ(flush(s), 3);
    CHECK_EQ(flush(s), 0);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(other, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(flush(s), 4); /* though no index names it yet */
    CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    print_path(name, sizeof name, "%s/00000010.chunk", path);
    CHECK_EQ(mkdir(name, 0777), 0);
    print_path(name, sizeof name, "%s/00000011.chunk", path);
    CHECK_EQ(mkfifo(name, 0666), 0);
    print_path(name, sizeof name, "%s/00000012.chunk", path);
    CHECK_EQ(symlink("nowhere", name), 0);
    CHECK_EQ(flush(s), 4);
    CHECK_EQ(append_and_close(s), B2C_E_CONFLICT);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(flush(s), 5);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(flush(s), 1);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_chunks(path, 6);
}

/* At "commit", an append whose index could not be stored is not there for those who open it. */
static void test_failed_commit(void)
{
    const char *path = path_of("failed");
    b2c_schunk *s;
    make_frame(path, 3);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_set_durability(s, B2C_DURABILITY_COMMIT, &err), B2C_OK);
        start_failing(i == 0 ? B2I_CALL_RENAME : B2I_CALL_DIR_SYNC,
                      i == 0 ? B2I_DIR_INDEX_TMP : "..", ENOSPC);
        check_failed(b2c_schunk_append(s, ctx, data, CHUNK, &err));
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        check_chunks(path, 3);
    }
    CHECK_EQ(add_chunk(path), B2C_OK);
    check_chunks(path, 4);
}

static unsigned nnamed;

static int count_names(b2i_io_event *e)
{
    size_t n = strlen(dir); /* in which the frames are */
    nnamed += e->call == B2I_CALL_DIR_SYNC &&
              (strcmp(e->name, "..") == 0 ||
               (strncmp(e->name, dir, n) == 0 && strcmp(e->name + n, "/") == 0));
    return 0;
}

/* Who waits for the medium does so for a path that somebody made who did not, too. */
static void test_name(void)
{
    for (uint8_t kind = B2C_STORAGE_FILE; kind <= B2C_STORAGE_DIR; kind++) {
        const char *path = path_of(kind == B2C_STORAGE_FILE ? "named" : "named_dir");
        b2c_schunk *s;
        CHECK_EQ(replace(kind, path), B2C_OK);
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_set_durability(s, B2C_DURABILITY_COMMIT, &err), B2C_OK);
        b2i_io_hook = count_names;
        nnamed = 0;
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(nnamed, 1);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(nnamed, 1);
        b2i_io_hook = NULL;
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        check_chunks(path, 3);
    }
}

/* What compact() puts at the path, here or elsewhere, without waiting for the medium. */
static void test_new_name(void)
{
    const int mode = B2C_OPEN_UPDATE | B2C_OPEN_LOCK;
    const char *path = path_of("renamed");
    b2c_schunk *s, *other, *by[2];
    CHECK_EQ(replace(B2C_STORAGE_FILE, path), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, mode, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, mode, NULL, &other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_set_durability(s, B2C_DURABILITY_COMMIT, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    by[0] = s;
    by[1] = other;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(b2c_schunk_set_durability(s, B2C_DURABILITY_PROCESS, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_compact(by[i], &err), B2C_OK);
        CHECK_EQ(b2c_schunk_set_durability(s, B2C_DURABILITY_COMMIT, &err), B2C_OK);
        b2i_io_hook = count_names;
        nnamed = 0;
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        CHECK_EQ(nnamed, 1);
        b2i_io_hook = NULL;
    }
    CHECK_EQ(b2c_schunk_close(other, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_chunks(path, 4);
}

static unsigned nsynced_all;

static int count_all(b2i_io_event *e)
{
    nsynced_all += e->call == B2I_CALL_SYNC_ALL;
    return 0;
}

/* Whose names cannot be put on the medium alone, as the directory cannot be opened. */
static void test_hidden_name(void)
{
    enum { NOBODY = 65534 };
    char in[280], path[300];
    const bool is_root = geteuid() == 0;
    print_path(in, sizeof in, "%s", path_of("hidden"));
    CHECK_EQ(mkdir(in, 0777), 0);
    CHECK_EQ(chmod(in, 0777), 0);
    CHECK_EQ(chmod(dir, 0711), 0);
    CHECK(!is_root || seteuid(NOBODY) == 0);
    for (uint8_t kind = B2C_STORAGE_FILE; kind <= B2C_STORAGE_DIR; kind++) {
        print_path(path, sizeof path, "%s/%d", in, kind);
        CHECK_EQ(replace(kind, path), B2C_OK);
    }
    CHECK(!is_root || seteuid(0) == 0);
    CHECK_EQ(chmod(in, 0311), 0);
    CHECK(!is_root || seteuid(NOBODY) == 0);
    for (uint8_t kind = B2C_STORAGE_FILE; kind <= B2C_STORAGE_DIR; kind++) {
        b2c_schunk *s;
        print_path(path, sizeof path, "%s/%d", in, kind);
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_set_durability(s, B2C_DURABILITY_COMMIT, &err), B2C_OK);
        b2i_io_hook = count_all;
        nsynced_all = 0;
        b2c_status st = b2c_schunk_append(s, ctx, data, CHUNK, &err);
        if (st == B2C_OK) {
            CHECK_EQ(nsynced_all, 1);
            CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
            CHECK_EQ(nsynced_all, 2);
        } else { /* not known to work in this file system */
            CHECK_EQ(st, B2C_E_IO);
            CHECK_EQ(err.sys_errno, EACCES);
        }
        b2i_io_hook = NULL;
        b2c_schunk_free(s);
    }
    CHECK(!is_root || seteuid(0) == 0);
    CHECK_EQ(chmod(in, 0777), 0);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)harness_random(&seed);
    }
    test_snapshot();
    test_snapshot_faults();
    test_last_number();
    test_last_name();
    test_index_name();
    test_emptied();
    test_not_named();
    test_lock_name();
    test_no_looking();
    test_flush();
    test_failed_commit();
    test_name();
    test_new_name();
    test_hidden_name();
    test_what_stays();
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
