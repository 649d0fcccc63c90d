/*
 * test_untrusted.c: what strangers put beside a frame and into it: lock files of any kind, headers
 * and trailers of any length, too many metalayers; repair and its callers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd_array.h"
#include "new_schunk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static b2c_schunk *open_locked(const char *path, int mode)
{
    b2c_schunk *s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, mode | B2C_OPEN_LOCK, NULL, &s, &err), B2C_OK);
    return s;
}

/* ---- the lock file ---- */

static void put_file(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

/* The lock file cannot be one: opening fails, and nothing is written elsewhere. */
static void check_refused(const char *path, int why)
{
    static const int modes[] = { B2C_OPEN_READ, B2C_OPEN_UPDATE };
    for (int i = 0; i < 2; i++) {
        b2c_schunk *s = NULL;
        CHECK_EQ(b2c_schunk_open(path, 0, modes[i] | B2C_OPEN_LOCK, NULL, &s, &err), B2C_E_IO);
        CHECK_EQ(err.sys_errno, why);
        CHECK(s == NULL);
    }
}

static void test_lock_files(uint8_t storage)
{
    char path[300], name[320], victim[300];
    struct stat info;
    snprintf(path, sizeof path, "%s/locks%d", dir, storage);
    snprintf(victim, sizeof victim, "%s/victim", dir);
    b2c_schunk_free(make(storage, path, CHUNK));
    snprintf(name, sizeof name, "%s%s", path, storage == B2C_STORAGE_DIR ? "/.b2lock" : ".b2lock");
    CHECK_EQ(mkdir(name, 0700), 0);
    check_refused(path, EISDIR);
    CHECK_EQ(rmdir(name), 0);
    put_file(victim, "precious", 8);
    CHECK_EQ(symlink(victim, name), 0);
    check_refused(path, ELOOP);
    CHECK(stat(victim, &info) == 0 && info.st_size == 8);
    CHECK_EQ(unlink(name), 0);
    CHECK_EQ(mkfifo(name, 0600), 0);
    check_refused(path, EINVAL);
    CHECK_EQ(unlink(name), 0);
    /* Another name of the frame's own file: counting would write into its header. */
    char own[320];
    snprintf(own, sizeof own, "%s%s", path, storage == B2C_STORAGE_DIR ? "/chunks.b2frame" : "");
    CHECK_EQ(link(own, name), 0);
    check_refused(path, EINVAL);
    b2c_schunk *s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    b2c_schunk_free(s);
    CHECK_EQ(unlink(name), 0);
    /* Too short, or a counter at its end: it is counted on. */
    put_file(name, "abc", 3);
    b2c_schunk_free(open_locked(path, B2C_OPEN_UPDATE));
    CHECK(stat(name, &info) == 0 && info.st_size == 16);
    put_file(name, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
    s = open_locked(path, B2C_OPEN_UPDATE);
    CHECK_EQ(b2c_schunk_append(s, ctx, "0123456789abcdef", 16, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* A process that was forked opens the lock file itself. */
static void test_lock_after_fork(void)
{
    const char *path = path_of("forked");
    char name[320];
    int changed = 0, status = -1;
    uint8_t data[CHUNK] = { 1 };
    b2c_schunk_free(make(B2C_STORAGE_FILE, path, CHUNK));
    b2c_schunk *s = open_locked(path, B2C_OPEN_UPDATE);
    snprintf(name, sizeof name, "%s.b2lock", path);
    pid_t pid = fork();
    if (pid == 0) {
        CHECK_EQ(b2c_schunk_lock(s, 1, &changed, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_unlock(s, &err), B2C_OK);
        exit(harness_failures);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK_EQ(b2c_schunk_lock(s, 0, &changed, &err), B2C_OK);
    CHECK_EQ(changed, 1);
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, 1);
    CHECK_EQ(b2c_schunk_unlock(s, &err), B2C_OK);
    CHECK_EQ(unlink(name), 0);
    CHECK_EQ(mkdir(name, 0700), 0);
    pid = fork();
    if (pid == 0) {
        CHECK_EQ(b2c_schunk_lock(s, 1, &changed, &err), B2C_E_IO);
        CHECK_EQ(err.sys_errno, EISDIR);
        exit(harness_failures);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    b2c_schunk_free(s);
}

static void on_alarm(int number)
{
    (void)number;
}

/* A signal ends the wait for a lock that another process holds. */
static void test_lock_interrupted(void)
{
    const char *path = path_of("interrupted");
    int ready[2], done[2], changed, status = -1;
    char byte = 0;
    struct sigaction action = { .sa_handler = on_alarm }; /* calls are not restarted */
    struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { { 0, 0 }, { 0, 0 } };
    b2c_schunk_free(make(B2C_STORAGE_FILE, path, CHUNK));
    CHECK(pipe(ready) == 0 && pipe(done) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(done[1]);
        b2c_schunk *s = open_locked(path, B2C_OPEN_UPDATE);
        CHECK_EQ(b2c_schunk_lock(s, 1, &changed, &err), B2C_OK);
        CHECK_EQ(write(ready[1], &byte, 1), 1);
        CHECK_EQ(read(done[0], &byte, 1), 0);
        b2c_schunk_free(s);
        exit(harness_failures);
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
    b2c_schunk *s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ | B2C_OPEN_LOCK, NULL, &s, &err), B2C_E_IO);
    CHECK_EQ(err.sys_errno, EINTR);
    CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
    close(done[1]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    CHECK_EQ(status, 0);
    s = open_locked(path, B2C_OPEN_READ);
    b2c_schunk_free(s);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
    }
    close(done[0]);
}

/* ---- long parts ---- */

/* A header and a trailer beyond what is read ahead, and chunks between them. */
static void test_long_parts(void)
{
    enum { META = 10000, LONG = 3 << 20 };
    const char *path = path_of("long"), *name = "m";
    uint8_t *data = malloc(LONG), *out = malloc(LONG);
    const void *content = data;
    uint32_t meta_len = META;
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    size_t n = 0;
    for (size_t i = 0; i < LONG; i++) {
        data[i] = (uint8_t)harness_random(&seed);
    }
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_FILE;
    p.path = path;
    p.nmeta = 1;
    p.meta_names = &name;
    p.meta_contents = &content;
    p.meta_lens = &meta_len;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, LONG, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "v", data, LONG, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_meta_get(s, "m", out, LONG, &n, &err), B2C_OK);
    CHECK(n == META && memcmp(out, data, n) == 0);
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "v", out, LONG, &n, &err), B2C_OK);
    CHECK(n == LONG && memcmp(out, data, n) == 0);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, LONG, &n, &err), B2C_OK);
    CHECK(n == LONG && memcmp(out, data, n) == 0);
    b2c_schunk_free(s);
    free(data);
    free(out);
}

/* The only place of 'what' in a file gets other bytes. */
static void change(const char *path, const void *what, size_t n, const void *to)
{
    static uint8_t bytes[1 << 16];
    int fd = open(path, O_RDWR), found = 0;
    ssize_t len = read(fd, bytes, sizeof bytes);
    CHECK(len > 0);
    for (size_t i = 0; i + n <= (size_t)len; i++) {
        if (memcmp(bytes + i, what, n) == 0) {
            CHECK_EQ(pwrite(fd, to, n, (off_t)i), n);
            found++;
        }
    }
    CHECK_EQ(found, 1);
    close(fd);
}

/* ---- a chunk file that several entries name ---- */

static void test_shared_chunk_file(void)
{
    const char *path = path_of("shared");
    char to[320];
    uint8_t data[CHUNK], out[CHUNK];
    size_t n = 0;
    b2c_schunk *s = make(B2C_STORAGE_DIR, path, CHUNK);
    for (int i = 0; i < 4; i++) {
        memset(data, 0, sizeof data);
        data[0] = (uint8_t)(i == 3 ? 9 : 1); /* chunks of the same size */
        data[7] = data[0];
        CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
    }
    s->now.entries[1] = s->now.entries[2] = s->now.entries[0];
    snprintf(to, sizeof to, "%s/00000000.chunk", path);
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 0, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 0, data, sizeof data, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
    CHECK_EQ(access(to, F_OK), 0); /* the last one of them needs it */
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 1, out, sizeof out, &n, &err), B2C_OK);
    CHECK(n == CHUNK && out[0] == 1);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 1, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK(access(to, F_OK) != 0);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 1, out, sizeof out, &n, &err), B2C_OK);
    CHECK(n == CHUNK && out[0] == 9);
    b2c_schunk_free(s);
}

/* ---- the place where a new index is written ---- */

/* Whatever is there goes; what other names lead to stays as it is. */
static void test_index_place(void)
{
    const char *path = path_of("place");
    char name[320], chunk[320], index[320];
    uint8_t data[CHUNK] = { [3] = 7 }, out[CHUNK];
    size_t n = 0;
    b2c_schunk *s = make(B2C_STORAGE_DIR, path, CHUNK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
    snprintf(name, sizeof name, "%s/chunks.b2frame.b2tmp", path);
    snprintf(index, sizeof index, "%s/chunks.b2frame", path);
    snprintf(chunk, sizeof chunk, "%s/00000000.chunk", path);
    for (int i = 0; i < 4; i++) { /* at opening they were not there yet */
        CHECK_EQ(i == 0   ? link(chunk, name)
                 : i == 1 ? link(index, name)
                 : i == 2 ? symlink(chunk, name)
                          : mkfifo(name, 0600),
                 0);
        CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "name", "value", (size_t)i + 1, &err), B2C_OK);
        CHECK(access(name, F_OK) != 0);
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, sizeof out, &n, &err), B2C_OK);
        CHECK(n == CHUNK && memcmp(out, data, CHUNK) == 0);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, sizeof out, &n, &err), B2C_OK);
    b2c_schunk_free(s);
}

/* What is no file in the place of the next chunk's: it is not of the log, and others are added. */
static void test_number_taken(void)
{
    const char *path = path_of("taken");
    char name[320];
    uint8_t data[CHUNK] = { 0 }, out[CHUNK];
    size_t n = 0;
    b2c_schunk *s = make(B2C_STORAGE_DIR, path, CHUNK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    for (uint64_t i = 0; i < 8; i++) { /* at the number of the next, then of the one after it */
        snprintf(name, sizeof name, "%s/%08X.chunk", path, (unsigned)(2 * i + i / 4));
        CHECK_EQ(i % 2 == 0 ? mkdir(name, 0700) : symlink("chunks.b2frame", name), 0);
        for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
            CHECK_EQ(b2c_schunk_open(path, 0, mode, NULL, &s, &err), B2C_OK);
            if (mode == B2C_OPEN_UPDATE) {
                data[7] = (uint8_t)(i + 1);
                CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
                s->store->failed = true; /* it is killed */
            }
            CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        }
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
        for (uint64_t k = 0; k <= i; k++) {
            CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, k, out, sizeof out, &n, &err), B2C_OK);
            CHECK(n == CHUNK && out[7] == k + 1);
        }
        b2c_schunk_free(s);
    }
}

/* The room of a chunk that another entry names is not used again. */
static void test_shared_payload(void)
{
    enum { SIZE = 4000 };
    const char *path = path_of("shared.file");
    static uint8_t data[SIZE], first[SIZE], out[SIZE];
    size_t n = 0;
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_FILE;
    p.path = path;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    for (int i = 0; i < 5 * 16; i++) {
        for (int k = 0; k < SIZE; k++) {
            data[k] = (uint8_t)harness_random(&seed);
        }
        if (i == 0) {
            memcpy(first, data, SIZE);
        }
        if (i < 5) {
            CHECK_EQ(b2c_schunk_append(s, ctx, data, SIZE, &err), B2C_OK);
            continue;
        }
        if (i == 5) {
            s->now.entries[1] = s->now.entries[0];
            CHECK_EQ(b2c_schunk_delete_chunk(s, 0, &err), B2C_OK);
        }
        CHECK_EQ(b2c_schunk_update(s, ctx, 1 + (uint64_t)i % 3, data, SIZE, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, SIZE, &n, &err), B2C_OK);
        CHECK(n == SIZE && memcmp(out, first, SIZE) == 0);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, out, SIZE, &n, &err), B2C_OK);
    CHECK(n == SIZE && memcmp(out, first, SIZE) == 0);
    b2c_schunk_free(s);
}

/* ---- the log of a killed writer ---- */

/* Edits at random places, and the arrays that they must lead to. */
static void test_replay(bool is_variable)
{
    enum { FIRST = 100, NEDITS = 12000, MAX = FIRST + NEDITS };
    static b2i_entry entries[MAX];
    static uint64_t sizes[MAX];
    bool done = false;
    uint64_t n = FIRST, nbytes = 0, nspecial = 0;
    b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    CHECK_EQ(b2c_schunk_fill_special(s, FIRST * CHUNK, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
    for (uint64_t i = 0; i < n; i++) {
        entries[i] = B2I_ENTRY_ZERO;
        sizes[i] = CHUNK;
    }
    if (is_variable) {
        CHECK_EQ(b2i_state_make_ends(&s->now, &err), B2C_OK);
        s->now.chunksize = B2I_CHUNKSIZE_VAR;
    }
    b2i_replay replay = { .state = &s->now };
    for (uint64_t k = 0; k < NEDITS; k++) {
        uint64_t r = harness_random(&seed), size = is_variable ? 1 + r % 1000 : CHUNK;
        b2i_entry entry = r % 5 == 0 ? B2I_ENTRY_NAN : k;
        b2i_redo where = { r % 7 < 2 ? B2I_REDO_UPDATE : B2I_REDO_INSERT, r / 7 % n };
        where.nchunk = where.kind == B2I_REDO_INSERT && r % 11 == 0 ? n : where.nchunk;
        if (where.kind == B2I_REDO_INSERT) {
            memmove(entries + where.nchunk + 1, entries + where.nchunk,
                    (size_t)(n - where.nchunk) * sizeof *entries);
            memmove(sizes + where.nchunk + 1, sizes + where.nchunk,
                    (size_t)(n - where.nchunk) * sizeof *sizes);
            n++;
        }
        entries[where.nchunk] = entry;
        sizes[where.nchunk] = size;
        CHECK_EQ(b2i_replay_edit(&replay, where, entry, size, &done, &err), B2C_OK);
        CHECK(done && s->now.nchunks == n);
    }
    b2i_redo last = { B2I_REDO_UPDATE, n - 1 }, append = { B2I_REDO_APPEND, n };
    sizes[n - 1] = is_variable ? 5000 : CHUNK - 1;
    CHECK_EQ(b2i_replay_edit(&replay, last, entries[n - 1], sizes[n - 1], &done, &err), B2C_OK);
    CHECK(done);
    if (!is_variable) { /* a short chunk can only be the last */
        CHECK_EQ(b2i_replay_edit(&replay, append, 0, CHUNK, &done, &err), B2C_OK);
        CHECK(!done && s->now.nchunks == n);
    }
    b2i_replay_end(&replay);
    CHECK_EQ(s->now.nchunks, n);
    for (uint64_t i = 0; i < n; i++) {
        nbytes += sizes[i];
        nspecial += entries[i] >> 63;
        CHECK(b2i_state_entry(&s->now, i) == entries[i] &&
              b2i_state_chunk_nbytes(&s->now, i) == sizes[i] &&
              (s->now.ends == NULL || s->now.ends[i] == nbytes));
    }
    CHECK(s->now.nbytes == nbytes && s->now.nspecial == nspecial);
    b2c_schunk_free(s);
}

/* 10 million bytes of records in front of 4 million chunks: hours, if each moved them all. */
static void test_long_log(void)
{
    enum { NCHUNKS = 1 << 22, NEDITS = 100000 };
    const b2i_redo insert = { B2I_REDO_INSERT, 0 };
    b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    const b2i_chunk_head head = { .nbytes = CHUNK,
                                  .cbytes = 32,
                                  .typesize = (uint8_t)s->now.cparams.typesize,
                                  .special = B2C_SPECIAL_NAN };
    s->limits.max_nchunks = NCHUNKS + NEDITS;
    CHECK_EQ(b2c_schunk_fill_special(s, (uint64_t)NCHUNKS * CHUNK, B2C_SPECIAL_ZERO, NULL, &err),
             B2C_OK);
    b2i_replay replay = { .state = &s->now };
    b2c_status st = B2C_OK;
    for (int i = 0; i < NEDITS && st == B2C_OK; i++) {
        st = b2i_redo_apply(s, &replay, &insert, 0, &head, &err);
    }
    CHECK_EQ(st, B2C_OK);
    CHECK_EQ(b2i_redo_apply(s, &replay, &insert, 0, &head, &err), B2C_E_LIMIT);
    CHECK(strcmp(err.field, "max_nchunks") == 0 && err.actual == NCHUNKS + NEDITS + 1);
    b2i_replay_end(&replay);
    CHECK(b2i_state_entry(&s->now, NEDITS - 1) == B2I_ENTRY_NAN &&
          b2i_state_entry(&s->now, NEDITS) == B2I_ENTRY_ZERO);
    b2c_schunk_free(s);
}

/* ---- metalayers ---- */

static void test_many_metalayers(void)
{
    char name[32];
    b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL, CHUNK);
    for (int i = 0; i < B2C_MAX_METALAYERS; i++) {
        snprintf(name, sizeof name, "m%d", i);
        CHECK_EQ(b2c_schunk_meta_add(s, name, "abc", 3, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_meta_add(s, name, "abc", 3, &err), B2C_E_EXISTS);
    }
    CHECK_EQ(b2c_schunk_meta_add(s, "more", "abc", 3, &err), B2C_E_LIMIT);
    CHECK_EQ(err.actual, B2C_MAX_METALAYERS + 1);
    int wrong = 0;
    for (int i = 0; i < B2I_MAX_VLMETA; i++) {
        snprintf(name, sizeof name, "v%d", i);
        wrong += b2c_schunk_vlmeta_set(s, ctx, name, "value", 5, &err) != B2C_OK;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "more", "value", 5, &err), B2C_E_LIMIT);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "v77", "other", 5, &err),
             B2C_OK); /* one that is there */
    CHECK_EQ(b2c_schunk_append(s, ctx, "0123456789abcdef", 16, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_meta_add(s, "late", "abc", 3, &err), B2C_E_ARGUMENT);
    b2c_schunk_free(s);
}

/* ---- repair ---- */

typedef struct listener {
    int notes[5]; /* of each part */
    int stop;     /* returned by the next call */
    char name[32];
} listener;

static int hear(void *handle, const b2c_repair_note *note)
{
    listener *l = handle;
    l->notes[note->part]++;
    snprintf(l->name, sizeof l->name, "%s", note->name == NULL ? "" : note->name);
    return l->stop;
}

static int advance(void *handle, uint64_t done, uint64_t total)
{
    CHECK(done <= total);
    return ((listener *)handle)->stop;
}

/* A frame with two metalayers of one name, a damaged vlmetalayer and a damaged chunk. */
static void make_damaged(const char *path)
{
    static const char *names[] = { "first", "secnd" };
    const void *contents[] = { "one", "two" };
    uint32_t lens[] = { 3, 3 };
    uint8_t data[CHUNK + 4];
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    for (int i = 0; i < CHUNK + 4; i++) {
        data[i] = (uint8_t)harness_random(&seed);
    }
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_FILE;
    p.path = path;
    p.nmeta = 2;
    p.meta_names = names;
    p.meta_contents = contents;
    p.meta_lens = lens;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, data + 4, CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "good", "a value", 7, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "bad", "no value", 8, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    change(path, "secnd", 5, "first");
    /* The chunk of 8 bytes says that it holds 9. */
    static const uint8_t eight[] = { 8, 0, 0, 0, 8, 0, 0, 0, 40, 0, 0, 0 };
    static const uint8_t nine[] = { 9, 0, 0, 0, 8, 0, 0, 0, 40, 0, 0, 0 };
    change(path, eight, sizeof eight, nine);
}

static void test_repair_of_names(void)
{
    const char *from = path_of("damaged"), *to = path_of("repaired");
    listener l = { .stop = 0 };
    b2c_repair_params p;
    b2c_repair_result result;
    b2c_schunk_info info;
    b2c_schunk *s = NULL;
    uint8_t out[16];
    size_t n = 0;
    make_damaged(from);
    b2c_repair_params_init(&p);
    p.handle = &l;
    p.note = hear;
    p.progress = advance;
    for (l.stop = 7; l.stop >= 0; l.stop -= 7) {
        memset(l.notes, 0, sizeof l.notes);
        b2c_status st = b2c_repair(from, to, &p, &result, &err);
        CHECK_EQ(st, l.stop == 0 ? B2C_OK : B2C_E_CALLBACK);
        CHECK(l.stop == 0 || (err.sys_errno == 7 && access(to, F_OK) != 0));
    }
    CHECK_EQ(l.notes[B2C_PART_META], 2); /* that there are two, and that one was removed */
    CHECK_EQ(l.notes[B2C_PART_VLMETA], 1);
    CHECK_EQ(l.notes[B2C_PART_CHUNK], 0);
    CHECK_EQ(result.nkept, 2);
    CHECK_EQ(b2c_schunk_open(to, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK(info.nmeta == 1 && info.nvlmeta == 1);
    CHECK_EQ(b2c_schunk_meta_get(s, "first", out, sizeof out, &n, &err), B2C_OK);
    CHECK(n == 3 && memcmp(out, "one", 3) == 0);
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "good", out, sizeof out, &n, &err), B2C_OK);
    CHECK(n == 7 && memcmp(out, "a value", 7) == 0);
    b2c_schunk_free(s);
    /* Nothing is wrong with the new one; only the progress function says no. */
    l.stop = 9;
    memset(l.notes, 0, sizeof l.notes);
    CHECK_EQ(b2c_repair(to, path_of("again"), &p, &result, &err), B2C_E_CALLBACK);
    CHECK_EQ(err.sys_errno, 9);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(l.notes[i], 0);
    }
}

static int know_nothing(void *handle, const b2c_schunk *damaged, int *is_known)
{
    b2c_nd nd = { .size = sizeof nd };
    const void *dtype;
    size_t n;
    CHECK_EQ(b2c_nd_open(damaged, &nd, &dtype, &n, &err), B2C_OK);
    CHECK_EQ(nd.itemsize, 6);
    *is_known = 0;
    return *(int *)handle;
}

static void test_repair_of_dtype(void)
{
    int why = 5;
    static const b2c_nd nd = { sizeof nd, 1, 6, { 5 }, { 5 }, { 5 } };
    const char *from = path_of("array"), *to = path_of("plain");
    uint8_t items[30] = { 1, 2, 3 }, meta[200];
    size_t n = 0, at = 0, len = 0;
    b2c_nd found = { .size = sizeof found };
    b2c_repair_params p;
    b2c_repair_result result;
    b2c_schunk *s = nd_array_new(&nd, from, 0);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 1, items, sizeof items, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    b2c_repair_params_init(&p);
    p.handle = &why;
    p.dtype = know_nothing;
    CHECK_EQ(b2c_repair(from, to, &p, &result, &err), B2C_E_CALLBACK);
    CHECK_EQ(err.sys_errno, 5);
    why = 0;
    CHECK_EQ(b2c_repair(from, to, &p, &result, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(to, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_meta_get(s, "b2nd", meta, sizeof meta, &n, &err), B2C_OK);
    CHECK_EQ(b2c_nd_meta_decode(meta, n, &found, &at, &len, &err), B2C_OK);
    CHECK(len == 3 && memcmp(meta + at, "|S6", 3) == 0);
    b2c_schunk_free(s);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_lock_files(B2C_STORAGE_FILE);
    test_lock_files(B2C_STORAGE_DIR);
    test_lock_after_fork();
    test_lock_interrupted();
    test_long_parts();
    test_shared_chunk_file();
    test_index_place();
    test_number_taken();
    test_shared_payload();
    test_replay(false);
    test_replay(true);
    test_long_log();
    test_many_metalayers();
    test_repair_of_names();
    test_repair_of_dtype();
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
