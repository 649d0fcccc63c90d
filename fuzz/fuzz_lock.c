/*
 * fuzz_lock.c: any bytes, or something that is no file, in the place of a frame's lock file.
 * Input: u8 what it is first and u8 what it is later (bits 0-2 kind, bit 3: for a directory), u8
 * length, then the bytes; what is left are those of the second time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

enum { A_FILE, NOTHING, A_LINK, A_LOOP, A_DIRECTORY, A_PIPE, READ_ONLY, LARGE, CHUNK = 64 };

typedef struct place {
    char dir[64], path[80], lock[100];
    bool is_dir;
} place;

static void put_lock(const place *w, unsigned kind, const uint8_t *p, size_t n)
{
    char other[100];
    (void)snprintf(other, sizeof other, "%s/other", w->dir);
    (void)unlink(w->lock);
    (void)rmdir(w->lock);
    switch (kind) {
    case NOTHING:
        break;
    case A_LINK:
        fuzz_write_file(other, p, n, n, 0);
        (void)!symlink(other, w->lock);
        break;
    case A_LOOP:
        (void)!symlink(w->lock, w->lock);
        break;
    case A_DIRECTORY:
        (void)mkdir(w->lock, 0700);
        break;
    case A_PIPE:
        (void)mkfifo(w->lock, 0600);
        break;
    default:
        fuzz_write_file(w->lock, p, n, n, kind == LARGE ? FUZZ_MAX_HOLE : 0);
        (void)chmod(w->lock, kind == READ_ONLY ? 0400 : 0600);
        break;
    }
}

static b2c_schunk *open_it(const place *w, int mode)
{
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_status status = b2c_schunk_open(w->path, 0, mode | B2C_OPEN_LOCK, NULL, &s, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE((status == B2C_OK) == (s != NULL));
    return s;
}

/* What it holds are whole chunks of one byte each, counted from 1. */
static void check(const b2c_schunk *s)
{
    uint8_t out[CHUNK];
    b2c_schunk_info info;
    b2c_error err;
    size_t len;
    b2c_schunk_info_get(s, &info);
    FUZZ_REQUIRE(info.nchunks > 0);
    for (uint64_t i = 0; i < info.nchunks; i++) {
        b2c_status status = b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, sizeof out, &len, &err);
        fuzz_check_error(status, &err);
        FUZZ_REQUIRE(status == B2C_OK && len == CHUNK);
        FUZZ_REQUIRE(status != B2C_OK || (out[0] == i + 1 && memcmp(out, out + 1, CHUNK - 1) == 0));
    }
}

/* Appends the next chunk; without the lock nothing is changed. */
static void append(b2c_schunk *s)
{
    uint8_t data[CHUNK];
    b2c_schunk_info before, after;
    b2c_error err;
    int change;
    fuzz_check_error(b2c_schunk_refresh(s, &change, &err), &err);
    b2c_schunk_info_get(s, &before);
    memset(data, (int)before.nchunks + 1, sizeof data);
    b2c_status status = b2c_schunk_append(s, fuzz_ctx(), data, sizeof data, &err);
    fuzz_check_error(status, &err);
    b2c_schunk_info_get(s, &after);
    FUZZ_REQUIRE(after.nchunks == before.nchunks + (status == B2C_OK));
}

static bool create(const place *w)
{
    uint8_t data[CHUNK];
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_schunk_params_init(&p);
    p.storage = w->is_dir ? B2C_STORAGE_DIR : B2C_STORAGE_FILE;
    p.path = w->path;
    p.chunksize = CHUNK;
    p.durability = B2C_DURABILITY_PROCESS;
    p.cparams.typesize = 1;
    memset(data, 1, sizeof data);
    b2c_status status = b2c_schunk_new(&p, &s, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK) {
        return false;
    }
    status = b2c_schunk_append(s, fuzz_ctx(), data, sizeof data, &err);
    b2c_status closed = b2c_schunk_close(s, &err);
    return status == B2C_OK && closed == B2C_OK;
}

static void use(const place *w, const uint8_t *data, size_t n)
{
    size_t first = data[2] < n - 3 ? data[2] : n - 3;
    put_lock(w, data[0] & 7, data + 3, first);
    b2c_schunk *reader = open_it(w, B2C_OPEN_READ), *writer = open_it(w, B2C_OPEN_UPDATE);
    if (writer != NULL) {
        append(writer);
    }
    if (reader != NULL) {
        check(reader);
    }
    put_lock(w, data[1] & 7, data + 3 + first, n - 3 - first);
    if (writer != NULL) {
        append(writer);
        check(writer);
    }
    b2c_error err;
    int change;
    if (reader != NULL) {
        fuzz_check_error(b2c_schunk_refresh(reader, &change, &err), &err);
        check(reader);
    }
    b2c_schunk_free(reader);
    if (writer != NULL) {
        fuzz_check_error(b2c_schunk_close(writer, &err), &err);
    }
    writer = open_it(w, B2C_OPEN_UPDATE);
    if (writer != NULL) {
        check(writer);
        append(writer);
    }
    b2c_schunk_free(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    place w;
    if (n < 3) {
        return 0;
    }
    w.is_dir = (data[0] & 8) != 0;
    fuzz_folder(w.dir, "lock");
    (void)snprintf(w.path, sizeof w.path, "%s/frame", w.dir);
    (void)snprintf(w.lock, sizeof w.lock, w.is_dir ? "%s/.b2lock" : "%s.b2lock", w.path);
    if (create(&w)) {
        use(&w, data, n);
    }
    (void)rmdir(w.lock);
    fuzz_remove(w.path);
    fuzz_remove(w.dir);
    return 0;
}
