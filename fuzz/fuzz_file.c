/*
 * fuzz_file.c: any bytes as a frame on disk, opened for reading and for editing.
 * Unlike a frame in memory, files may have holes, and records behind the frame from which commits
 * are recovered.  Input: u8 kind, u32 at and u32 n (little endian): n zero bytes are inserted at
 * byte 'at' of the rest.  Kind bit 0: the rest is the index file of a directory, and also its first
 * chunk file, from byte 'at' on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_LEN = 9, MAX_HOLE = 2 << 20, MAX_CHUNKS = 32 };

static char dir_path[64], file_path[96], chunk_path[96];

static uint32_t u32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void write_file(const char *path, const uint8_t *p, size_t n, size_t at, size_t hole)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    FUZZ_REQUIRE(fd >= 0);
    FUZZ_REQUIRE(pwrite(fd, p, at, 0) == (ssize_t)at);
    FUZZ_REQUIRE(ftruncate(fd, (off_t)(at + hole)) == 0);
    FUZZ_REQUIRE(pwrite(fd, p + at, n - at, (off_t)(at + hole)) == (ssize_t)(n - at));
    (void)close(fd);
}

static void set_up(void)
{
    (void)snprintf(dir_path, sizeof dir_path, "/tmp/fuzz-file-%ld", (long)getpid());
    (void)mkdir(dir_path, 0700);
    (void)snprintf(file_path, sizeof file_path, "%s/chunks.b2frame", dir_path);
    (void)snprintf(chunk_path, sizeof chunk_path, "%s/00000000.chunk", dir_path);
}

static void clean_up(void)
{
    char name[96];
    for (int i = 0; i < 80; i++) {
        (void)snprintf(name, sizeof name, "%s/%08X.chunk", dir_path, (unsigned)i);
        (void)unlink(name);
    }
    (void)unlink(file_path);
    (void)rmdir(dir_path);
}

static b2c_status open_it(const char *path, int mode, b2c_schunk **s)
{
    b2c_error err;
    b2c_limits limits = fuzz_limits();
    b2c_status status = b2c_schunk_open(path, 0, mode, &limits, s, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE((status == B2C_OK) == (*s != NULL));
    return status;
}

/* Whether all chunks are sound. */
static bool read_all(const b2c_schunk *s)
{
    static uint8_t out[FUZZ_MAX_NBYTES];
    b2c_schunk_info info;
    b2c_error err;
    b2c_schunk_info_get(s, &info);
    bool sound = info.nchunks <= MAX_CHUNKS;
    for (uint64_t i = 0; i < info.nchunks && i < MAX_CHUNKS; i++) {
        size_t len = 0;
        int has_checksum;
        b2c_status status = b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, sizeof out, &len, &err);
        fuzz_check_error(status, &err);
        sound = sound && status == B2C_OK;
        status = b2c_schunk_verify_chunk(s, fuzz_ctx(), i, &has_checksum, &err);
        fuzz_check_error(status, &err);
    }
    return sound;
}

/* What the array of a stranger's file takes: an item written, a row more. */
static void edit_array(b2c_schunk *s)
{
    b2c_nd nd;
    b2c_error err;
    uint8_t item[512] = { 1 };
    uint64_t start[16] = { 0 }, one[16], shape[16];
    memset(&nd, 0, sizeof nd);
    nd.size = sizeof nd;
    b2c_status status = b2c_nd_from_schunk(s, &nd, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK || nd.itemsize > sizeof item) {
        return;
    }
    for (uint32_t d = 0; d < nd.ndim; d++) {
        one[d] = 1;
        shape[d] = nd.shape[d] + (d == 0);
    }
    if (b2c_nd_chunksize(&nd) <= FUZZ_MAX_NBYTES) {
        status = b2c_nd_write(s, fuzz_ctx(), &nd, start, one, one, item, nd.itemsize, &err);
        fuzz_check_error(status, &err);
        if (nd.ndim > 0 && nd.shape[0] < 1000) {
            status = b2c_nd_resize(s, fuzz_ctx(), &nd, shape, &err);
            fuzz_check_error(status, &err);
        }
    }
}

/* Edits of a frame that somebody else made: they work or fail, and a sound one stays that. */
static void edit(b2c_schunk *s, const char *path, bool is_sound)
{
    static const uint8_t data[64] = "what is appended";
    b2c_schunk_info info;
    b2c_error err;
    b2c_schunk_info_get(s, &info);
    uint64_t before = info.nchunks;
    b2c_status status = b2c_schunk_append(s, fuzz_ctx(), data, sizeof data, &err);
    fuzz_check_error(status, &err);
    b2c_schunk_info_get(s, &info);
    bool appended = status == B2C_OK;
    if (appended || info.nchunks == before) {
        FUZZ_REQUIRE(info.nchunks == before + appended);
    } else { /* the edit was made but could not be stored: no further one is taken */
        status = b2c_schunk_append(s, fuzz_ctx(), data, sizeof data, &err);
        FUZZ_REQUIRE(status == B2C_E_READ_ONLY);
    }
    fuzz_check_error(b2c_schunk_vlmeta_set(s, fuzz_ctx(), "name", data, 8, &err), &err);
    fuzz_check_error(b2c_schunk_write(s, fuzz_ctx(), 0, data, 4, &err), &err);
    fuzz_check_error(b2c_schunk_update(s, fuzz_ctx(), before, data, sizeof data, &err), &err);
    status = b2c_schunk_delete_chunk(s, 0, &err);
    fuzz_check_error(status, &err);
    b2c_schunk_info_get(s, &info);
    uint64_t after = info.nchunks;
    status = b2c_schunk_close(s, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK && appended && is_sound) {
        b2c_schunk *again = NULL;
        FUZZ_REQUIRE(open_it(path, B2C_OPEN_READ, &again) == B2C_OK);
        b2c_schunk_info_get(again, &info);
        FUZZ_REQUIRE(info.nchunks == after);
        b2c_schunk_free(again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < HEAD_LEN) {
        return 0;
    }
    bool is_dir = data[0] & 1;
    size_t at = u32(data + 1), hole = u32(data + 5);
    data += HEAD_LEN;
    n -= HEAD_LEN;
    at = at < n ? at : n;
    set_up();
    if (is_dir) {
        write_file(file_path, data, at, at, 0);
        write_file(chunk_path, data + at, n - at, n - at, 0);
    } else {
        write_file(file_path, data, n, at, hole < MAX_HOLE ? hole : MAX_HOLE);
    }
    const char *path = is_dir ? dir_path : file_path;
    b2c_schunk *s = NULL;
    if (open_it(path, B2C_OPEN_READ, &s) == B2C_OK) {
        (void)read_all(s);
    }
    b2c_schunk_free(s);
    s = NULL;
    if (open_it(path, B2C_OPEN_UPDATE, &s) == B2C_OK) {
        bool is_sound = read_all(s);
        edit_array(s);
        edit(s, path, is_sound);
    }
    clean_up();
    return 0;
}
