/*
 * test_dir.c: what others do in the directory of a sparse frame: links to its files, and things of
 * theirs that have names of ours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "new_schunk.h"

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

/* Adds a chunk; returns how that went, or how closing did. */
static b2c_status add_chunk(const char *path)
{
    b2c_schunk *s;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    b2c_status st = b2c_schunk_append(s, ctx, data, CHUNK, &err);
    b2c_status st2 = b2c_schunk_close(s, st == B2C_OK ? &err : NULL);
    return st == B2C_OK ? st2 : st;
}

/* The frame opens, and has so many sound chunks. */
static void check_chunks(const char *path, uint64_t nchunks)
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
    CHECK_EQ(info.nchunks, nchunks);
    for (uint64_t i = 0; i < info.nchunks; i++) {
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, got, sizeof got, &n, &err), B2C_OK);
        CHECK(memcmp(got, data, CHUNK) == 0);
    }
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
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

/* A record that does not fit its chunk goes, but not from the file that a snapshot shares. */
static void test_snapshot(void)
{
    enum { TRAILER_END = 17, NEXT_RECORD = 24 };
    static const uint8_t zeros[TRAILER_END] = { 0 };
    const char *path = path_of("shared"), *snapshot = path_of("snapshot");
    char chunk[300], index[300];
    make_frame(path, 2);
    print_path(chunk, sizeof chunk, "%s/00000001.chunk", path);
    print_path(index, sizeof index, "%s/chunks.b2frame", path);
    poke(chunk, B2I_REDO_LEN + 8, zeros, 8); /* the hash in the checksum record */
    poke(index, NEXT_RECORD + TRAILER_END, zeros, TRAILER_END); /* as others leave it */
    CHECK_EQ(link(chunk, snapshot), 0);
    const off_t size = size_of(snapshot);
    CHECK_EQ(add_chunk(path), B2C_OK);
    CHECK_EQ(size_of(snapshot), size);
    CHECK_EQ(size_of(chunk), size - B2I_RECORD_LEN - B2I_REDO_LEN);
    check_chunks(path, 3);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)harness_random(&seed);
    }
    test_snapshot();
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
