/*
 * test_redo.c: what a killed writer has left, met by faults, limits, damage and other writers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "checksum.h"
#include "frame.h"
#include "io_hook.h"
#include "world.h"

#include <poll.h>
#include <sys/wait.h>

enum { CHUNK = 3000, NCHUNKS = 8, NCOMMITTED = 2 };

static char root[256], live[300], left[300];
static b2c_error err;
static b2c_ctx *ctx;
static const uint8_t storages[] = { B2C_STORAGE_FILE, B2C_STORAGE_DIR };

/* ---- files ---- */

/* A file, or a directory of files. */
static void copy_path(const char *from, const char *to)
{
    char a[1024], b[1024];
    DIR *dir = opendir(from);
    remove_path(to);
    if (dir == NULL) {
        copy_file(from, to);
        return;
    }
    CHECK_EQ(mkdir(to, 0777), 0);
    const struct dirent *e;
    while ((e = readdir(dir)) != NULL) {
        if (e->d_name[0] != '.') {
            print_path(a, sizeof a, "%s/%s", from, e->d_name);
            print_path(b, sizeof b, "%s/%s", to, e->d_name);
            copy_file(a, b);
        }
    }
    closedir(dir);
}

static int count_files(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL) {
        n++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

/* ---- a killed writer ---- */

/* Noise that tells which chunk it is. */
static const uint8_t *data_of(uint64_t i)
{
    static uint8_t data[CHUNK];
    uint64_t seed = 77 + i;
    for (size_t k = 0; k < sizeof data; k++) {
        data[k] = (uint8_t)harness_random(&seed);
    }
    return data;
}

static b2c_schunk *make(uint8_t storage, const char *path, int64_t chunksize)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.cparams.typesize = 1;
    p.chunksize = chunksize;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    return s;
}

static void append(b2c_schunk *s, uint64_t i)
{
    CHECK_EQ(b2c_schunk_append(s, ctx, data_of(i), CHUNK, &err), B2C_OK);
}

/* At 'left': a frame whose index names so many of eight chunks; the log tells of the others. */
static void leave(uint8_t storage, int64_t chunksize, uint64_t ncommitted)
{
    remove_path(live);
    b2c_schunk *s = make(storage, live, chunksize);
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        append(s, i);
        if (i + 1 == ncommitted) {
            CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
        }
    }
    copy_path(live, left);
    b2c_schunk_free(s);
}

static void kill_writer(uint8_t storage, int64_t chunksize)
{
    leave(storage, chunksize, NCOMMITTED);
}

static b2c_status open_left(int mode, const b2c_limits *limits, b2c_schunk **s)
{
    *s = NULL;
    err = (b2c_error){ 0 };
    return b2c_schunk_open(left, 0, mode, limits, s, &err);
}

static uint64_t nchunks_of(const b2c_schunk *s)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    return info.nchunks;
}

/* All chunks but one are there, which fails with the status; OK: that one, too. */
static void check_chunks(const b2c_schunk *s, uint64_t n, uint64_t damaged, b2c_status status)
{
    uint8_t out[CHUNK];
    size_t len;
    CHECK_EQ(nchunks_of(s), n);
    for (uint64_t i = 0; i < nchunks_of(s); i++) {
        b2c_status st = b2c_schunk_decode_chunk(s, ctx, i, out, sizeof out, &len, &err);
        CHECK_EQ(st, i == damaged ? status : B2C_OK);
        CHECK(st != B2C_OK || memcmp(out, data_of(i), CHUNK) == 0);
        CHECK(st == B2C_OK || err.chunk == (int64_t)i);
    }
}

static void check_left(uint64_t n)
{
    b2c_schunk *s;
    CHECK_EQ(open_left(B2C_OPEN_READ, NULL, &s), B2C_OK);
    if (s != NULL) {
        check_chunks(s, n, 0, B2C_OK);
        b2c_schunk_free(s);
    }
}

/* ---- faults ---- */

static struct {
    bool is_armed;
    b2i_io_call call;
    const char *name; /* part of it; NULL: any file */
    uint64_t at, count;
    int kind;
} fault;

static int fail_call(b2i_io_event *e)
{
    if (!fault.is_armed || e->call != fault.call ||
        (fault.name != NULL && strstr(e->name, fault.name) == NULL)) {
        return 0;
    }
    return ++fault.count == fault.at ? fault.kind : 0;
}

/* A read or an allocation that fails is a failure, not the end of the log. */
static void test_faults(uint8_t storage, int mode, bool is_memory)
{
    bool fired = true;
    b2c_status expected = is_memory ? B2C_E_MEMORY : B2C_E_IO;
    b2i_io_hook = fail_call;
    kill_writer(storage, CHUNK);
    for (uint64_t n = 1; fired; n++) {
        b2c_schunk *s;
        fault.count = 0;
        fault.call = B2I_CALL_READ;
        fault.at = n;
        fault.kind = EIO;
        fault.is_armed = !is_memory;
        b2i_alloc_fail_at(is_memory ? n : 0, false);
        b2c_status st = open_left(mode, NULL, &s);
        fired = is_memory ? b2i_alloc_count() >= n : fault.count >= n;
        b2i_alloc_fail_at(0, false);
        fault.is_armed = false;
        CHECK(st == B2C_OK || (fired && st == expected)); /* some reads are done again */
        if (st == B2C_OK) {
            check_chunks(s, NCHUNKS, 0, B2C_OK);
            b2c_schunk_free(s);
        }
    }
    b2i_io_hook = NULL;
    check_left(NCHUNKS);
}

/* ---- limits ---- */

/* What is beyond the limits is refused, and nothing of it removed. */
static void test_limits(uint8_t storage, b2c_limits limits, const char *field)
{
    b2c_schunk *s;
    kill_writer(storage, CHUNK);
    int nfiles = count_files(left);
    for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
        CHECK_EQ(open_left(mode, &limits, &s), B2C_E_LIMIT);
        CHECK(field == NULL || strcmp(err.field, field) == 0);
    }
    CHECK_EQ(count_files(left), nfiles);
    check_left(NCHUNKS);
}

/* An update adds no chunk. */
static void test_exact_limit(void)
{
    remove_path(live);
    const b2c_limits limits = { .max_nchunks = 2, .max_nbytes = (uint64_t)2 * CHUNK };
    b2c_schunk *s = make(B2C_STORAGE_FILE, live, CHUNK), *t;
    append(s, 0);
    append(s, 5);
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 1, data_of(1), CHUNK, &err), B2C_OK);
    copy_path(live, left);
    CHECK_EQ(open_left(B2C_OPEN_READ, &limits, &t), B2C_OK);
    check_chunks(t, 2, 0, B2C_OK);
    b2c_schunk_free(t);
    b2c_schunk_free(s);
}

/* ---- damage ---- */

enum { HEAD = B2C_HEADER_LEN, RECORDS = 16 + 24 };

/* The file of chunk i at 'left', and where in it the chunk begins. */
static long find_chunk(uint8_t storage, uint64_t i, char *file, size_t cap)
{
    static uint8_t all[4 << 20];
    print_path(file, cap, storage == B2C_STORAGE_DIR ? "%s/%08X.chunk" : "%s", left, (unsigned)i);
    FILE *f = fopen(file, "rb");
    CHECK(f != NULL);
    size_t n = f == NULL ? 0 : fread(all, 1, sizeof all, f);
    if (f != NULL) {
        fclose(f);
    }
    for (size_t k = HEAD; k + CHUNK <= n; k++) {
        if (memcmp(all + k, data_of(i), CHUNK) == 0) {
            return (long)k - HEAD;
        }
    }
    CHECK(!"the chunk is there");
    return 0;
}

/* Changes a bit at 'at' of chunk i with its records. */
static void flip(uint8_t storage, uint64_t i, long at)
{
    char file[400];
    long place = find_chunk(storage, i, file, sizeof file) + at;
    FILE *f = fopen(file, "r+b");
    CHECK(f != NULL && fseek(f, place, SEEK_SET) == 0);
    int c = fgetc(f);
    CHECK(fseek(f, place, SEEK_SET) == 0 && fputc(c ^ 4, f) != EOF);
    fclose(f);
}

static int hear(void *handle, const b2c_repair_note *note)
{
    CHECK(note->error->what != NULL);
    ++*(int *)handle;
    return 0;
}

static void check_repair(uint64_t nkept)
{
    b2c_repair_params p;
    b2c_repair_result r;
    int nnotes = 0;
    b2c_repair_params_init(&p);
    p.note = hear;
    p.handle = &nnotes;
    remove_path(live);
    CHECK_EQ(b2c_repair(left, live, &p, &r, &err), B2C_OK);
    CHECK_EQ(r.nkept, nkept);
    CHECK(nnotes > 0);
}

/* The others of a log are there, and the next writer keeps them. */
static void test_damaged_chunk(uint8_t storage, uint64_t i)
{
    b2c_schunk *s;
    kill_writer(storage, CHUNK);
    flip(storage, i, HEAD + 100);
    check_repair(NCHUNKS - 1);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(open_left(k == 1 ? B2C_OPEN_UPDATE : B2C_OPEN_READ, NULL, &s), B2C_OK);
        check_chunks(s, NCHUNKS, i, B2C_E_CHECKSUM);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    }
}

/* The last one counts as not finished; repair tells of it, and its file stays. */
static void test_damaged_end(uint8_t storage)
{
    b2c_schunk *s;
    char file[400];
    kill_writer(storage, CHUNK);
    flip(storage, NCHUNKS - 1, HEAD + 100);
    check_repair(NCHUNKS - 1);
    print_path(file, sizeof file, "%s/%08X.chunk", left, NCHUNKS - 1);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    check_chunks(s, NCHUNKS - 1, 0, B2C_OK);
    CHECK(storage != B2C_STORAGE_DIR || access(file, F_OK) == 0);
    append(s, NCHUNKS - 1);
    append(s, NCHUNKS);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_left(NCHUNKS + 1);
}

/* Fields of the commit record, which is the end of an unpacked frame. */
enum {
    AT_END = 32,
    AT_REGION = 40,
    AT_SLOT_CAP = 48,
    AT_SLOT = 64,
    AT_NO = 72,
    AT_DEAD = 112,
    AT_HASH = 120
};
enum { COMMIT_LEN = 128 };

static void load_record(uint8_t record[COMMIT_LEN])
{
    FILE *f = fopen(left, "rb");
    CHECK(f != NULL && fseek(f, -COMMIT_LEN, SEEK_END) == 0 &&
          fread(record, COMMIT_LEN, 1, f) == 1);
    CHECK_EQ(memcmp(record, "B2CR", 4), 0);
    fclose(f);
}

/* With a hash that fits. */
static void store_record(uint8_t record[COMMIT_LEN])
{
    FILE *f = fopen(left, "r+b");
    b2i_st64le(record + AT_HASH, b2i_xxh3_64(b2i_span_of(record, AT_HASH)));
    CHECK(f != NULL && fseek(f, -COMMIT_LEN, SEEK_END) == 0 &&
          fwrite(record, COMMIT_LEN, 1, f) == 1);
    fclose(f);
}

static uint64_t place_of_slot(const uint8_t record[COMMIT_LEN])
{
    return b2i_ld64le(record + AT_REGION) +
           b2i_ld32le(record + AT_SLOT) * b2i_ld64le(record + AT_SLOT_CAP);
}

/* Whoever edits the eight chunks at 'left' goes on, and every edit is found at once. */
static void check_three_more(void)
{
    b2c_schunk *s;
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    for (uint64_t n = NCHUNKS; n < NCHUNKS + 3; n++) {
        append(s, n);
        check_left(n + 1);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_left(NCHUNKS + 3);
}

/* A record that fits the frame and says that chunks end where they do not: edits hurt none. */
static void test_made_up_end(uint64_t end, bool moves_slots)
{
    uint8_t record[COMMIT_LEN];
    b2c_schunk *s;
    leave(B2C_STORAGE_FILE, CHUNK, NCHUNKS);
    load_record(record);
    if (moves_slots) { /* the first one lies over the chunks then */
        uint64_t at = place_of_slot(record);
        b2i_st64le(record + AT_REGION, end);
        b2i_st64le(record + AT_SLOT_CAP, at - end);
        b2i_st32le(record + AT_SLOT, 1);
    }
    b2i_st64le(record + AT_END, end);
    store_record(record);
    check_left(NCHUNKS);
    for (int i = 0; i < 2; i++) { /* a second writer goes on */
        CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "name", "value", 5, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
        append(s, NCHUNKS + (uint64_t)i);
        check_chunks(s, NCHUNKS + (uint64_t)i + 1, 0, B2C_OK);
        CHECK_EQ(i == 0 ? b2c_schunk_flush(s, &err) : b2c_schunk_close(s, &err), B2C_OK);
        check_left(NCHUNKS + (uint64_t)i + 1);
        b2c_schunk_free(i == 0 ? s : NULL);
    }
}

/* What such a frame takes first may be an edit for the log, which must be found as well. */
static void test_log_after_made_up_end(uint64_t end)
{
    uint8_t record[COMMIT_LEN];
    leave(B2C_STORAGE_FILE, CHUNK, NCHUNKS);
    load_record(record);
    b2i_st64le(record + AT_END, end);
    store_record(record);
    check_three_more();
}

/*
 * Nor does a record of a later edit, which a stranger has put where the log will be, keep anybody
 * from opening what is edited: behind a packed frame, or in the room that an unpacked one has.
 */
static void test_log_in_front_of_another(bool is_packed)
{
    enum { MAX = 2 << 20, LEN = HEAD + CHUNK + RECORDS, MORE = 100 };
    static uint8_t file[MAX];
    const b2i_redo redo = { B2I_REDO_APPEND, NCHUNKS + 5 };
    b2i_redo_log log = { .seq = 5 };
    b2c_schunk *s;
    leave(B2C_STORAGE_FILE, CHUNK, NCHUNKS);
    if (is_packed) {
        CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "name", "value", 5, &err), B2C_OK);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    }
    FILE *f = fopen(left, "r+b");
    CHECK(f != NULL);
    const size_t n = fread(file, 1, MAX - 2 * LEN, f), header_len = b2i_ld32be(file + 0x0B);
    const uint8_t *base = is_packed ? file + n - 16 : file + n - COMMIT_LEN + 80;
    uint64_t at = is_packed ? n : header_len + b2i_ld64le(file + n - COMMIT_LEN + AT_END);
    memcpy(log.base, base, sizeof log.base);
    memset(file + at, 0, HEAD); /* no log yet */
    memset(file + at + HEAD, 0xFF, LEN + MORE - HEAD);
    b2i_redo_make(&log, &redo, file + at + LEN + MORE);
    CHECK(fseek(f, (long)at, SEEK_SET) == 0 &&
          fwrite(file + at, LEN + MORE + B2I_REDO_LEN, 1, f) == 1);
    fclose(f);
    check_three_more();
}

/* Slots that are said to be large make no file that is. */
static void test_made_up_slot_cap(uint64_t cap)
{
    uint8_t record[COMMIT_LEN];
    struct stat was, now;
    b2c_schunk *s;
    leave(B2C_STORAGE_FILE, CHUNK, NCHUNKS);
    load_record(record);
    uint64_t at = place_of_slot(record);
    b2i_st64le(record + AT_REGION, at);
    b2i_st64le(record + AT_SLOT_CAP, cap);
    b2i_st32le(record + AT_SLOT, 0);
    store_record(record);
    CHECK_EQ(stat(left, &was), 0);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    append(s, NCHUNKS);
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    CHECK(stat(left, &now) == 0 && now.st_size < 4 * was.st_size);
    check_left(NCHUNKS + 1);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_left(NCHUNKS + 1);
}

/* A number, as of the commit, that is near its end: what a commit has dropped is kept. */
static void test_made_up_number(size_t field, uint64_t no)
{
    uint8_t record[COMMIT_LEN];
    char file[400];
    b2c_schunk *s;
    leave(B2C_STORAGE_FILE, CHUNK, NCHUNKS);
    load_record(record);
    b2i_st64le(record + field, no);
    store_record(record);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        CHECK_EQ(b2c_schunk_update(s, ctx, i, data_of(NCHUNKS + i), CHUNK, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    append(s, 2 * NCHUNKS);
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        (void)find_chunk(B2C_STORAGE_FILE, i, file, sizeof file); /* fails when it is not there */
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* Tells the next writer of a packed frame of so many dead bytes; its length. */
static long store_dead(uint64_t dead)
{
    enum { MAX = 2 << 20, AT_HEADER_LEN = 0x0B };
    static uint8_t file[MAX];
    uint8_t hashed[16];
    FILE *f = fopen(left, "r+b");
    CHECK(f != NULL);
    size_t n = fread(file, 1, MAX, f), at = n - 16;
    while (at > 0 && memcmp(file + at, "B2CD", 4) != 0) {
        at--;
    }
    b2i_st64le(hashed, at - b2i_ld32be(file + AT_HEADER_LEN));
    b2i_st64le(hashed + 8, b2i_ld64le(file + at + 8));
    CHECK_EQ(b2i_ld32le(file + at + 4), (uint32_t)b2i_xxh3_64(b2i_span_of(hashed, 16)));
    b2i_st64le(hashed + 8, dead);
    b2i_st64le(file + at + 8, dead);
    b2i_st32le(file + at + 4, (uint32_t)b2i_xxh3_64(b2i_span_of(hashed, 16)));
    CHECK(fseek(f, (long)at, SEEK_SET) == 0 && fwrite(file + at, 16, 1, f) == 1);
    fclose(f);
    return (long)n;
}

/* A frame is rewritten when more than a quarter is said to be dead; not for more than it has. */
static void test_made_up_dead(uint64_t dead, bool is_rewritten)
{
    enum { N = 400 }; /* too large to be rewritten for every hole */
    remove_path(left);
    b2c_schunk *s = make(B2C_STORAGE_FILE, left, CHUNK);
    struct stat now;
    for (uint64_t i = 0; i < N; i++) {
        append(s, i);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 0, data_of(0), CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    long len = store_dead(dead);
    check_left(N);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    append(s, N);
    CHECK_EQ(b2c_schunk_update(s, ctx, 1, data_of(1), CHUNK, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK(stat(left, &now) == 0 && (now.st_size < len + CHUNK / 2) == is_rewritten);
    check_left(N + 1);
}

static void check_data(const b2c_schunk *s, uint64_t nchunk, const uint8_t *data, size_t n)
{
    enum { MAX = 2 * CHUNK };
    uint8_t out[MAX];
    size_t len = 0;
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, nchunk, out, MAX, &len, &err), B2C_OK);
    CHECK(len == n && memcmp(out, data, n) == 0);
}

/*
 * A record whose flags tell of a redo record that is not there, over the next chunk or behind all
 * of them: what is written into room that is used again harms nothing else that is.
 */
static void test_record_that_takes_more(bool is_last)
{
    enum { MORE = B2I_REDO_LEN, LARGE = CHUNK + MORE };
    uint8_t large[LARGE], flags = 2;
    char file[400];
    b2c_schunk *s;
    const uint64_t n = is_last ? NCHUNKS - 1 : NCHUNKS - 2;
    remove_path(left);
    s = make(B2C_STORAGE_FILE, left, 0);
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        append(s, i);
    }
    CHECK_EQ(b2c_schunk_compact(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    long at = find_chunk(B2C_STORAGE_FILE, n, file, sizeof file) + HEAD + CHUNK;
    FILE *f = fopen(file, "r+b");
    CHECK(f != NULL && fseek(f, at + 4, SEEK_SET) == 0 && fwrite(&flags, 1, 1, f) == 1);
    fclose(f);
    check_left(NCHUNKS);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    for (uint64_t i = n; i < NCHUNKS; i++) {
        CHECK_EQ(b2c_schunk_delete_chunk(s, n, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
    append(s, n);
    for (int i = 0; i < 3; i++) { /* commits, until the room is free */
        CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "name", "value", 5, &err), B2C_OK);
    }
    memcpy(large, data_of(0), CHUNK);
    memcpy(large + CHUNK, data_of(1), MORE);
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, large, LARGE, &err), B2C_OK);
    append(s, 2);
    CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
    for (uint64_t i = 0; i <= n; i++) {
        check_data(s, i, data_of(i), CHUNK);
    }
    check_data(s, n + 1, large, LARGE);
    check_data(s, n + 2, data_of(2), CHUNK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* Any bit: others are not lost in silence. */
static void test_damaged_bits(uint8_t storage)
{
    uint8_t out[CHUNK];
    size_t len;
    for (long at = 0; at < HEAD + CHUNK + RECORDS;
         at += at < HEAD || at >= HEAD + CHUNK ? 1 : 997) {
        for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
            b2c_schunk *s;
            kill_writer(storage, CHUNK);
            flip(storage, 3, at);
            b2c_status st = open_left(mode, NULL, &s);
            CHECK(st == B2C_OK || st == B2C_E_CHECKSUM || st == B2C_E_CORRUPT);
            CHECK(st == B2C_OK || storage == B2C_STORAGE_FILE || at < HEAD);
            for (uint64_t i = 0; st == B2C_OK && i < NCHUNKS; i++) {
                CHECK_EQ(nchunks_of(s), NCHUNKS);
                b2c_status st2 = b2c_schunk_decode_chunk(s, ctx, i, out, sizeof out, &len, &err);
                CHECK(st2 == B2C_OK ? memcmp(out, data_of(i), CHUNK) == 0 : i == 3);
            }
            b2c_schunk_free(s);
            if (st != B2C_OK && mode == B2C_OPEN_READ) {
                check_repair(NCOMMITTED);
            }
        }
    }
}

/* A chunk of zeros does not become one of NaN. */
static void test_damaged_special(void)
{
    static const uint8_t zeros[CHUNK];
    uint8_t out[CHUNK];
    char file[400];
    size_t len;
    b2c_schunk *s, *t;
    remove_path(live);
    s = make(B2C_STORAGE_FILE, live, CHUNK);
    append(s, 0);
    append(s, 1);
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, zeros, CHUNK, &err), B2C_OK);
    append(s, 3);
    for (long bit = 0; bit < 8 * HEAD; bit++) {
        copy_path(live, left);
        long at = find_chunk(B2C_STORAGE_FILE, 3, file, sizeof file) - RECORDS - HEAD + bit / 8;
        FILE *f = fopen(file, "r+b");
        CHECK(f != NULL && fseek(f, at, SEEK_SET) == 0);
        int c = fgetc(f);
        CHECK(fseek(f, at, SEEK_SET) == 0 && fputc(c ^ 1 << bit % 8, f) != EOF);
        fclose(f);
        b2c_status st = open_left(B2C_OPEN_READ, NULL, &t);
        CHECK(st == B2C_OK || st == B2C_E_CHECKSUM || st == B2C_E_CORRUPT);
        if (st == B2C_OK) {
            CHECK_EQ(nchunks_of(t), 4);
            CHECK(b2c_schunk_decode_chunk(t, ctx, 2, out, sizeof out, &len, &err) != B2C_OK);
            b2c_schunk_free(t);
        }
    }
    b2c_schunk_free(s);
}

/* Files of a log that are gone, empty, or two in a row. */
static void test_missing_files(int64_t chunksize)
{
    b2c_schunk *s;
    char file[400];
    for (int how = 0; how < 3; how++) {
        kill_writer(B2C_STORAGE_DIR, chunksize);
        find_chunk(B2C_STORAGE_DIR, 3, file, sizeof file);
        CHECK_EQ(how == 0 ? unlink(file) : truncate(file, 0), 0);
        if (how == 2) {
            find_chunk(B2C_STORAGE_DIR, 4, file, sizeof file);
            CHECK_EQ(truncate(file, 40), 0);
        }
        int nfiles = count_files(left);
        b2c_status expected = chunksize > 0 ? B2C_OK : B2C_E_CHECKSUM; /* nothing tells its size */
        for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
            CHECK_EQ(open_left(mode, NULL, &s), expected);
            CHECK(expected == B2C_OK || err.chunk == 3);
            if (expected == B2C_OK && how < 2) {
                check_chunks(s, NCHUNKS, 3, how == 0 ? B2C_E_CORRUPT : B2C_E_TRUNCATED);
            }
            CHECK(expected != B2C_OK || nchunks_of(s) == NCHUNKS);
            b2c_schunk_free(s);
        }
        CHECK_EQ(count_files(left), nfiles);
    }
}

/* Without checksums nobody could tell who reads a damaged chunk. */
static void test_damage_unseen(uint8_t storage)
{
    b2c_schunk *s;
    remove_path(live);
    s = make(storage, live, CHUNK);
    CHECK_EQ(b2c_schunk_set_checksums(s, 0, 1, &err), B2C_OK);
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        append(s, i);
        CHECK_EQ(i == 1 ? b2c_schunk_flush(s, &err) : B2C_OK, B2C_OK);
    }
    copy_path(live, left);
    b2c_schunk_free(s);
    check_left(NCHUNKS);
    flip(storage, 3, HEAD + 100);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_E_CHECKSUM);
}

/* ---- two writers ---- */

static struct {
    bool is_armed;
    uint64_t at, count;
    int go, done; /* pipes */
} other;

/* At one of the calls that open a directory, another process stores three chunks in it. */
static int let_other_write(b2i_io_event *e)
{
    struct pollfd p = { .fd = other.done, .events = POLLIN };
    (void)e;
    if (other.is_armed && ++other.count == other.at) {
        CHECK_EQ(write(other.go, "g", 1), 1);
        (void)poll(&p, 1, 30); /* it may have to wait for this one */
    }
    return 0;
}

/* Opens at once, and goes on when it is told to. */
static void be_other(int go, int done, bool is_closed)
{
    b2c_schunk *s;
    char c;
    if (open_left(B2C_OPEN_UPDATE, NULL, &s) != B2C_OK || write(done, "o", 1) != 1 ||
        read(go, &c, 1) != 1) {
        _exit(1);
    }
    for (uint64_t i = NCOMMITTED; i < NCOMMITTED + 3; i++) {
        if (b2c_schunk_append(s, ctx, data_of(i), CHUNK, &err) != B2C_OK) {
            _exit(2);
        }
    }
    if (is_closed && b2c_schunk_close(s, &err) != B2C_OK) {
        _exit(3);
    }
    if (write(done, "d", 1) != 1) {
        _exit(1);
    }
    _exit(0); /* or is killed */
}

/* What one writer stores while another opens and closes without an edit is there. */
static void test_opening_beside(uint8_t storage, bool is_closed)
{
    bool fired = true;
    for (uint64_t n = 1; fired; n++) {
        int go[2], done[2], status = 0;
        char c;
        remove_path(left);
        b2c_schunk *s = make(storage, left, CHUNK);
        append(s, 0);
        append(s, 1);
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        CHECK(pipe(go) == 0 && pipe(done) == 0);
        pid_t pid = fork();
        if (pid == 0) {
            be_other(go[0], done[1], is_closed);
        }
        CHECK_EQ(read(done[0], &c, 1), 1);
        other.count = 0;
        other.at = n;
        other.go = go[1];
        other.done = done[0];
        other.is_armed = true;
        b2i_io_hook = let_other_write;
        b2c_status st = open_left(B2C_OPEN_UPDATE, NULL, &s);
        b2i_io_hook = NULL;
        other.is_armed = false;
        CHECK(st == B2C_OK ? b2c_schunk_close(s, &err) == B2C_OK : st == B2C_E_CONFLICT);
        fired = other.count >= n;
        if (!fired) {
            CHECK_EQ(write(go[1], "g", 1), 1);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
        check_left(NCOMMITTED + 3);
        for (int i = 0; i < 2; i++) {
            close(go[i]);
            close(done[i]);
        }
    }
}

/* What one writer appends is not forgotten by the commit of another, which has not seen it. */
static void test_commit_beside(uint8_t storage)
{
    b2c_schunk *s, *t;
    remove_path(left);
    s = make(storage, left, CHUNK);
    append(s, 0);
    append(s, 1);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &t), B2C_OK);
    append(s, 2);
    CHECK_EQ(b2c_schunk_vlmeta_set(t, ctx, "name", "value", 5, &err), B2C_E_CONFLICT);
    CHECK_EQ(b2c_schunk_close(t, &err), B2C_OK);
    check_left(3);
    append(s, 3);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_left(4);
}

/* ---- strange logs ---- */

/* Adds an edit with a chunk to the log at 'left', a directory; the first has number 0. */
static void add_edit(uint32_t number, b2i_redo redo, b2i_span chunk)
{
    uint8_t tail[24], redo_bytes[B2I_REDO_LEN];
    char path[400];
    b2i_buf records = { 0 };
    b2i_redo_log log = { .seq = number };
    print_path(path, sizeof path, "%s/chunks.b2frame", left);
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL && fseek(f, -(long)sizeof tail, SEEK_END) == 0 &&
          fread(tail, 1, sizeof tail, f) == sizeof tail);
    fclose(f);
    uint64_t entry = b2i_ld64le(tail + 8) + number;
    memcpy(log.base, tail + 16, sizeof log.base);
    b2i_redo_make(&log, &redo, redo_bytes);
    CHECK_EQ(b2i_records_make(chunk, entry, b2i_span_of(redo_bytes, sizeof redo_bytes), false,
                              &records, &err),
             B2C_OK);
    print_path(path, sizeof path, "%s/%08X.chunk", left, (unsigned)entry);
    f = fopen(path, "wb");
    CHECK(f != NULL && fwrite(chunk.p, 1, chunk.n, f) == chunk.n &&
          fwrite(records.p, 1, records.n, f) == records.n);
    fclose(f);
    b2i_buf_free(&records);
}

/*
 * An append of a special chunk to a directory of two chunk files, which no writer would do: nothing
 * in the index could tell its size, or the width of its items.
 */
static void add_special(const b2c_cparams *cparams, uint8_t kind)
{
    uint8_t chunk[64];
    size_t len = 0;
    CHECK_EQ(b2c_special_chunk(cparams, kind, CHUNK, NULL, chunk, sizeof chunk, &len, &err),
             B2C_OK);
    add_edit(0, (b2i_redo){ B2I_REDO_APPEND, 2 }, b2i_span_of(chunk, len));
}

/* What a writer stores who goes on with such a log can be opened. */
static void test_special(int64_t chunksize, uint32_t typesize, uint8_t kind)
{
    b2c_schunk *s;
    b2c_cparams cparams;
    b2c_chunk_info info;
    remove_path(left);
    s = make(B2C_STORAGE_DIR, left, chunksize);
    append(s, 0);
    append(s, 1);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    b2c_cparams_init(&cparams);
    cparams.typesize = typesize;
    add_special(&cparams, kind);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    CHECK_EQ(nchunks_of(s), 3);
    append(s, 3);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(open_left(B2C_OPEN_READ, NULL, &s), B2C_OK);
    CHECK_EQ(nchunks_of(s), 4);
    CHECK_EQ(b2c_schunk_chunk_info(s, 2, &info, &err), B2C_OK);
    CHECK(info.nbytes == CHUNK && info.special == kind && info.typesize == typesize);
    b2c_schunk_free(s);
}

/*
 * A log of other edits than appends, and of a chunk that the index itself can hold: who opens the
 * directory for writing and is killed has taken away nothing that the index or the log needs; the
 * first commit has.
 */
static void test_dropping_log(void)
{
    uint8_t chunk[CHUNK + HEAD], zeros[64], out[CHUNK];
    size_t len = 0, n = 0;
    b2c_cparams cparams;
    b2c_schunk *s;
    remove_path(left);
    s = make(B2C_STORAGE_DIR, left, CHUNK);
    append(s, 9);
    append(s, 1);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    b2c_cparams_init(&cparams);
    cparams.typesize = 1;
    cparams.clevel = 0;
    CHECK_EQ(
        b2c_special_chunk(&cparams, B2C_SPECIAL_ZERO, CHUNK, NULL, zeros, sizeof zeros, &n, &err),
        B2C_OK);
    for (uint32_t i = 0; i < 2; i++) { /* in the place of 9, then 8 */
        CHECK_EQ(b2c_compress(ctx, &cparams, data_of(i == 0 ? 8 : 0), CHUNK, chunk, sizeof chunk,
                              &len, &err),
                 B2C_OK);
        add_edit(i, (b2i_redo){ B2I_REDO_UPDATE, 0 }, b2i_span_of(chunk, len));
    }
    add_edit(2, (b2i_redo){ B2I_REDO_APPEND, 2 }, b2i_span_of(zeros, n));
    CHECK_EQ(count_files(left), 2 + 1 + 5);
    for (int i = 0; i < 4; i++) {
        if (i == 3) {
            CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
            CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
            CHECK_EQ(count_files(left), 2 + 1 + 2);
        }
        CHECK_EQ(open_left(i == 1 ? B2C_OPEN_UPDATE : B2C_OPEN_READ, NULL, &s), B2C_OK);
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 2, out, sizeof out, &n, &err), B2C_OK);
        CHECK(out[0] == 0 && memcmp(out, out + 1, CHUNK - 1) == 0);
        CHECK_EQ(nchunks_of(s), 3);
        for (uint64_t k = 0; k < 2; k++) {
            CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, k, out, sizeof out, &n, &err), B2C_OK);
            CHECK(memcmp(out, data_of(k), CHUNK) == 0);
        }
        s->store->failed = true; /* it is killed */
        CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
        CHECK_EQ(count_files(left), 2 + 1 + (i < 3 ? 5 : 2));
    }
}

/* ---- pointers that a stranger made ---- */

/* What XXH3 made its last step of. */
static uint64_t undo_last_step(uint64_t hash)
{
    const uint64_t factor = 0x165667919E3779F9;
    uint64_t inverse = factor;
    for (int i = 0; i < 6; i++) {
        inverse *= 2 - factor * inverse;
    }
    hash = (hash ^ hash >> 32) * inverse;
    return hash ^ hash >> 37;
}

/* Gives n bytes, 17 to 128, the hash by their last 16, which count as x * y: y is made 1. */
static void give_hash(uint8_t *p, size_t n, uint64_t hash)
{
    const uint64_t secret_x = 0xDB979083E96DD4DE, secret_y = 0x1F67B3B7A4A44072;
    b2i_st64le(p + n - 16, secret_x);
    b2i_st64le(p + n - 8, secret_y ^ 1);
    uint64_t others = undo_last_step(b2i_xxh3_64(b2i_span_of(p, n)));
    b2i_st64le(p + n - 16, secret_x ^ (undo_last_step(hash) - others));
    CHECK(b2i_xxh3_64(b2i_span_of(p, n)) == hash);
}

/* The log names a sound chunk that holds the pointer itself: others are put behind that. */
static void test_chunk_over_pointer(void)
{
    enum { LEN = 128, FRONT = HEAD };
    const b2i_redo redo = { B2I_REDO_APPEND, NCHUNKS };
    uint8_t record[COMMIT_LEN], chunk[LEN] = { 0 };
    b2i_redo_log log = { .seq = 0 };
    b2i_buf records = { 0 };
    b2c_cparams cparams;
    b2c_schunk *s;
    b2c_schunk_info info;
    size_t len;
    leave(B2C_STORAGE_FILE, 0, NCHUNKS);
    CHECK_EQ(open_left(B2C_OPEN_READ, NULL, &s), B2C_OK);
    b2c_schunk_info_get(s, &info);
    b2c_schunk_free(s);
    load_record(record);
    uint64_t place = b2i_ld64le(record + AT_END);
    memcpy(log.base, record + 80, sizeof log.base);
    b2c_cparams_init(&cparams);
    cparams.clevel = 0;
    CHECK_EQ(b2c_compress(ctx, &cparams, data_of(0), LEN - HEAD, chunk, LEN, &len, &err), B2C_OK);
    CHECK_EQ(len, LEN);
    b2i_pointer_make(&log, &redo, place, b2i_span_of("any", 3), chunk + FRONT);
    give_hash(chunk, LEN, b2i_xxh3_64(b2i_span_of("any", 3)));
    CHECK_EQ(b2i_records_make(b2i_span_of(chunk, LEN), place, b2i_span_of(NULL, 0), false, &records,
                              &err),
             B2C_OK);
    FILE *f = fopen(left, "r+b");
    CHECK(f != NULL && fseek(f, (long)(info.header_len + place), SEEK_SET) == 0 &&
          fwrite(chunk, LEN, 1, f) == 1 && fwrite(records.p, records.n, 1, f) == 1);
    fclose(f);
    b2i_buf_free(&records);
    b2i_st64le(record + AT_END, place + FRONT);
    store_record(record);
    check_left(NCHUNKS); /* the pointer is none */
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    append(s, NCHUNKS);
    check_chunks(s, NCHUNKS + 1, 0, B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_left(NCHUNKS + 1);
}

/* The log names a sound chunk that holds the slots, into which the next commit goes. */
static void test_chunk_over_slots(void)
{
    static uint8_t all[4 << 20];
    const b2i_redo redo = { B2I_REDO_APPEND, NCHUNKS };
    uint8_t record[COMMIT_LEN], redo_bytes[B2I_REDO_LEN];
    b2i_redo_log log = { .seq = 0 };
    b2i_buf records = { 0 };
    b2c_cparams cparams;
    b2c_schunk *s;
    b2c_schunk_info info;
    size_t len;
    leave(B2C_STORAGE_FILE, 0, NCHUNKS);
    CHECK_EQ(open_left(B2C_OPEN_READ, NULL, &s), B2C_OK);
    b2c_schunk_info_get(s, &info);
    b2c_schunk_free(s);
    load_record(record);
    uint64_t place = b2i_ld64le(record + AT_END);
    memcpy(log.base, record + 80, sizeof log.base);
    b2i_redo_make(&log, &redo, redo_bytes);
    FILE *f = fopen(left, "r+b");
    CHECK(f != NULL && fseek(f, (long)(info.header_len + place), SEEK_SET) == 0);
    size_t n = f == NULL ? 0 : fread(all, 1, sizeof all / 2, f);
    CHECK(n > b2i_ld64le(record + AT_REGION) - place && n < sizeof all / 2);
    n += 3 * (size_t)b2i_ld64le(record + AT_SLOT_CAP); /* all three */
    memcpy(all + sizeof all / 2, all + HEAD, n - HEAD);
    b2c_cparams_init(&cparams);
    cparams.clevel = 0;
    CHECK_EQ(b2c_compress(ctx, &cparams, all + sizeof all / 2, n - HEAD, all, n, &len, &err),
             B2C_OK);
    CHECK_EQ(len, n);
    CHECK_EQ(b2i_records_make(b2i_span_of(all, n), place,
                              b2i_span_of(redo_bytes, sizeof redo_bytes), false, &records, &err),
             B2C_OK);
    CHECK(fseek(f, (long)(info.header_len + place), SEEK_SET) == 0 && fwrite(all, n, 1, f) == 1 &&
          fwrite(records.p, records.n, 1, f) == 1);
    fclose(f);
    b2i_buf_free(&records);
    check_left(NCHUNKS); /* no writer has put it there */
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "name", "value", 5, &err), B2C_OK);
    check_chunks(s, NCHUNKS, NCHUNKS, B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, NCHUNKS, all, sizeof all, &len, &err), B2C_E_RANGE);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    check_left(NCHUNKS);
}

/* ---- flushing ---- */

static int nsynced;

static int count_syncs(b2i_io_event *e)
{
    int failure = fail_call(e);
    nsynced += failure == 0 && e->call == B2I_CALL_SYNC && strstr(e->name, ".chunk") != NULL;
    return failure;
}

/*
 * A chunk file that cannot be opened to be put on the medium fails the flush, and the next has it.
 */
static void test_flush(void)
{
    remove_path(left);
    remove_path(live);
    b2c_schunk *s = make(B2C_STORAGE_DIR, left, CHUNK);
    append(s, 0);
    append(s, 1);
    b2i_io_hook = count_syncs;
    fault.is_armed = true;
    fault.call = B2I_CALL_OPEN;
    fault.name = ".chunk";
    fault.count = 0;
    fault.at = 2;
    fault.kind = EMFILE;
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_E_IO);
    CHECK_EQ(err.sys_errno, EMFILE);
    CHECK_EQ(nsynced, 1);
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_E_READ_ONLY);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    fault.at = 0;
    nsynced = 0;
    s = make(B2C_STORAGE_DIR, live, CHUNK);
    append(s, 0);
    append(s, 1);
    append(s, 2);
    CHECK_EQ(b2c_schunk_delete_chunk(s, 1, &err), B2C_OK); /* its file is gone, and needs nothing */
    CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
    CHECK_EQ(nsynced, 2);
    fault.is_armed = false;
    fault.name = NULL;
    b2i_io_hook = NULL;
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
}

/* ---- chunks whose blocks are others than the header tells ---- */

enum { ODD_SIZE = 100, ODD_CUT = 99, ODD_NBLOCKS = 800, ODD_NBYTES = ODD_CUT * ODD_NBLOCKS };
enum { ODD_STARTS = 32, ODD_STREAM = 4 + ODD_CUT };
enum { ODD_CBYTES = ODD_STARTS + ODD_NBLOCKS * (4 + ODD_STREAM) };

/* Raw blocks that were cut below the block size, at a multiple of the type size: 800, not 792. */
static void make_odd(uint8_t chunk[ODD_CBYTES], uint64_t i)
{
    static const uint8_t start[] = { 5, 1, 0x15, 3 };
    uint64_t seed = 177 + i;
    memset(chunk, 0, ODD_STARTS);
    memcpy(chunk, start, sizeof start);
    b2i_st32le(chunk + 4, ODD_NBYTES);
    b2i_st32le(chunk + 8, ODD_SIZE);
    b2i_st32le(chunk + 12, ODD_CBYTES);
    for (uint32_t k = 0; k < ODD_NBLOCKS; k++) {
        uint32_t at = ODD_STARTS + 4 * ODD_NBLOCKS + ODD_STREAM * k;
        b2i_st32le(chunk + ODD_STARTS + 4 * k, at);
        b2i_st32le(chunk + at, ODD_CUT);
        for (uint32_t j = 4; j < ODD_STREAM; j++) {
            chunk[at + j] = (uint8_t)harness_random(&seed);
        }
    }
}

/* Such chunks are all there after a kill, and a packed frame has no byte that nobody wrote. */
static void test_odd_blocks(uint8_t storage)
{
    enum { NODD = 3, CAP = NODD * (ODD_CBYTES + 8192) };
    static uint8_t chunk[ODD_CBYTES], got[ODD_CBYTES], frames[2][CAP];
    size_t len[2] = { 0 };
    remove_path(live);
    b2c_schunk *s = make(storage, live, ODD_NBYTES);
    for (uint64_t i = 0; i < NODD; i++) {
        make_odd(chunk, i);
        CHECK_EQ(b2c_schunk_append_chunk(s, chunk, sizeof chunk, &err), B2C_OK);
        if (i == 0) {
            CHECK_EQ(b2c_schunk_flush(s, &err), B2C_OK);
        }
    }
    copy_path(live, left);
    for (int k = 0; k < 2; k++) {
        memset(frames[k], k, CAP);
        CHECK_EQ(b2c_schunk_to_frame(s, frames[k], CAP, &len[k], &err), B2C_OK);
    }
    CHECK(len[0] == len[1] && memcmp(frames[0], frames[1], len[0]) == 0);
    b2c_schunk_free(s);
    CHECK_EQ(open_left(B2C_OPEN_UPDATE, NULL, &s), B2C_OK);
    CHECK_EQ(nchunks_of(s), NODD);
    for (uint64_t i = 0; i < nchunks_of(s); i++) {
        make_odd(chunk, i);
        CHECK_EQ(b2c_schunk_get_chunk(s, i, got, sizeof got, &len[0], &err), B2C_OK);
        CHECK(len[0] == sizeof chunk && memcmp(got, chunk, sizeof chunk) == 0);
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, frames[0], CAP, &len[0], &err), B2C_OK);
        CHECK_EQ(frames[0][0], chunk[ODD_STARTS + 4 * ODD_NBLOCKS + 4]);
    }
    b2c_schunk_free(s);
}

int main(void)
{
    make_root(root, sizeof root);
    print_path(live, sizeof live, "%s/live", root);
    print_path(left, sizeof left, "%s/left", root);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    for (size_t i = 0; i < sizeof storages; i++) {
        for (int mode = B2C_OPEN_READ; mode <= B2C_OPEN_UPDATE; mode++) {
            test_faults(storages[i], mode, false);
            test_faults(storages[i], mode, true);
        }
        test_limits(storages[i], (b2c_limits){ .max_nchunks = 4 }, "max_nchunks");
        test_limits(storages[i], (b2c_limits){ .max_nbytes = (uint64_t)4 * CHUNK }, "max_nbytes");
        for (uint64_t k = NCOMMITTED; k < NCHUNKS - 1; k++) {
            test_damaged_chunk(storages[i], k);
        }
        test_damaged_end(storages[i]);
        test_damaged_bits(storages[i]);
        test_damage_unseen(storages[i]);
        test_opening_beside(storages[i], true);
        test_opening_beside(storages[i], false);
        test_odd_blocks(storages[i]);
    }
    for (int moves_slots = 0; moves_slots <= 1; moves_slots++) {
        test_made_up_end(0, moves_slots);
        test_made_up_end(CHUNK, moves_slots);
        test_made_up_end((uint64_t)CHUNK * NCHUNKS, moves_slots);
        for (size_t lacks = 1; lacks < 70; lacks += 4) {
            test_made_up_end((uint64_t)(HEAD + CHUNK + RECORDS) * NCHUNKS - lacks, moves_slots);
        }
    }
    test_log_after_made_up_end(0);
    test_log_after_made_up_end((uint64_t)(HEAD + CHUNK + RECORDS) * NCHUNKS - 25);
    test_log_in_front_of_another(false);
    test_log_in_front_of_another(true);
    test_made_up_slot_cap((uint64_t)1 << 36);
    test_made_up_slot_cap(((uint64_t)1 << 60) - 1);
    test_record_that_takes_more(false);
    test_record_that_takes_more(true);
    for (uint64_t back = 0; back < 5; back++) {
        test_made_up_number(AT_NO, UINT64_MAX - back);
        test_made_up_number(AT_DEAD, UINT64_MAX - back);
    }
    test_made_up_dead(0, false);
    test_made_up_dead(1 << 20, true);
    test_made_up_dead((uint64_t)1 << 21, false);
    test_made_up_dead(UINT64_MAX, false);
    test_damaged_special();
    test_missing_files(CHUNK);
    test_missing_files(0);
    test_exact_limit();
    test_commit_beside(B2C_STORAGE_FILE);
    test_commit_beside(B2C_STORAGE_DIR);
    test_chunk_over_pointer();
    test_chunk_over_slots();
    test_flush();
    test_special(CHUNK, 1, B2C_SPECIAL_ZERO);
    test_special(0, 1, B2C_SPECIAL_ZERO);
    test_special(0, 4, B2C_SPECIAL_NAN);
    test_special(CHUNK, 4, B2C_SPECIAL_NAN);
    test_dropping_log();
    b2c_ctx_free(ctx);
    remove_path(root);
    return RESULT();
}
