/*
 * fuzz_sframe.c: a directory of anything as a sparse frame: read, edited, repaired; nothing outside
 * of it is read or changed.
 * Input: u8 how it is opened (1: locked, 2: edited, 4: repaired), then the directory's entries: u8
 * kind, u8 name, and for a file u32 size (little endian) and its bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

#include <errno.h>

enum { LOCKED = 1, EDITED = 2, REPAIRED = 4, MAX_CHUNKS = 32, MAX_ENTRIES = 64 };

/* Kinds of entries. */
enum { A_FILE, A_LINK_OUT, A_LINK_TO_DIR, A_LOOP, A_DIR, A_FIFO, NKINDS };

/* A chunk outside of the directory that nobody may read. */
static const uint8_t secret[32 + 16] = "\x05\x01\x07\x01\x10\0\0\0\x10\0\0\0\x30\0\0\0"
                                       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                       "outside, secret!";

static char dir_path[64], outside_dir[96], outside_path[128], repaired_path[96];

/* Names that mean something are below 16 and from 240 on; others are strange ones. */
static void name_of(uint8_t code, char out[64])
{
    static const char *const special[] = {
        "chunks.b2frame",
        ".b2lock",
        "chunks.b2frame.b2tmp",
        "FFFFFFFF.chunk",
        "7FFFFFFF.chunk",
        "0000000A.chunk",
        "0000000a.chunk",
        "00000000.chunk.b2tmp",
        "0.chunk",
        "000000000.chunk",
        "-0000001.chunk",
        "00000000.CHUNK",
        "..chunk",
        "0000000\xff.chunk",
        "\n",
        "chunks.b2framE",
    };
    if (code < 240) {
        (void)snprintf(out, 64, "%08X.chunk", (unsigned)code);
    } else {
        (void)snprintf(out, 64, "%s", special[code - 240]);
    }
}

static void make_entry(uint8_t kind, const char *path, const uint8_t *bytes, size_t n)
{
    switch (kind) {
    case A_LINK_OUT:
        (void)!symlink(outside_path, path);
        break;
    case A_LINK_TO_DIR:
        (void)!symlink(outside_dir, path);
        break;
    case A_LOOP:
        (void)!symlink(path, path);
        break;
    case A_DIR:
        (void)mkdir(path, 0700);
        break;
    case A_FIFO:
        (void)mkfifo(path, 0600);
        break;
    default:
        if (access(path, F_OK) != 0 && errno == ENOENT) {
            fuzz_write_file(path, bytes, n, n, 0);
        }
        break;
    }
}

static void make_dir(const uint8_t *data, size_t n)
{
    for (int i = 0; i < MAX_ENTRIES && n >= 2; i++) {
        char name[64], path[192];
        uint8_t kind = data[0] % NKINDS;
        size_t len = 0;
        name_of(data[1], name);
        (void)snprintf(path, sizeof path, "%s/%s", dir_path, name);
        data += 2;
        n -= 2;
        if (kind == A_FILE) {
            if (n < 4) {
                break;
            }
            len = fuzz_u32(data);
            data += 4;
            n -= 4;
            len = len < n ? len : n;
        }
        make_entry(kind, path, data, len);
        data += len;
        n -= len;
    }
}

static void make_outside(void)
{
    FUZZ_REQUIRE(mkdir(outside_dir, 0700) == 0);
    fuzz_write_file(outside_path, secret, sizeof secret, sizeof secret, 0);
}

/* Nothing was written through a link. */
static void check_outside(void)
{
    uint8_t bytes[sizeof secret + 1];
    int fd = open(outside_path, O_RDONLY), nentries = 0;
    FUZZ_REQUIRE(fd >= 0);
    FUZZ_REQUIRE(read(fd, bytes, sizeof bytes) == (ssize_t)sizeof secret);
    FUZZ_REQUIRE(memcmp(bytes, secret, sizeof secret) == 0);
    (void)close(fd);
    DIR *dir = opendir(outside_dir);
    FUZZ_REQUIRE(dir != NULL);
    while (readdir(dir) != NULL) {
        nentries++;
    }
    (void)closedir(dir);
    FUZZ_REQUIRE(nentries == 3); /* ., .. and the secret */
}

static b2c_schunk *open_it(int mode)
{
    b2c_limits limits = fuzz_limits();
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_status status = b2c_schunk_open(dir_path, 0, mode, &limits, &s, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE((status == B2C_OK) == (s != NULL));
    return s;
}

static uint64_t hash_of(const uint8_t *p, size_t n)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 0x100000001B3u;
    }
    return h;
}

/* Whether these bytes come from outside.  Engines learn what is compared with memcmp(). */
static bool is_secret(const uint8_t *p, size_t n, size_t at)
{
    return n == sizeof secret - at && hash_of(p, n) == hash_of(secret + at, n);
}

static void read_all(const b2c_schunk *s)
{
    static uint8_t out[FUZZ_MAX_NBYTES];
    b2c_schunk_info info;
    b2c_error err;
    b2c_schunk_info_get(s, &info);
    for (uint64_t i = 0; i < info.nchunks && i < MAX_CHUNKS; i++) {
        size_t len = 0;
        int has_checksum;
        b2c_status status = b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, sizeof out, &len, &err);
        fuzz_check_error(status, &err);
        FUZZ_REQUIRE(status != B2C_OK || !is_secret(out, len, B2C_HEADER_LEN));
        status = b2c_schunk_get_chunk(s, i, out, sizeof out, &len, &err);
        fuzz_check_error(status, &err);
        FUZZ_REQUIRE(status != B2C_OK || !is_secret(out, len, 0));
        status = b2c_schunk_verify_chunk(s, fuzz_ctx(), i, &has_checksum, &err);
        fuzz_check_error(status, &err);
    }
    uint64_t n = info.nbytes < 100 ? info.nbytes : 100;
    fuzz_check_error(b2c_schunk_read(s, fuzz_ctx(), info.nbytes / 2, n / 2, out, 100, &err), &err);
}

static void edit(b2c_schunk *s)
{
    b2c_error err;
    fuzz_edit_some(s);
    fuzz_check_error(b2c_schunk_delete_chunk(s, 0, &err), &err);
    fuzz_check_error(b2c_schunk_close(s, &err), &err);
}

static void repair(void)
{
    b2c_repair_params params;
    b2c_repair_result result;
    b2c_error err;
    b2c_limits limits = fuzz_limits();
    b2c_schunk *s = NULL;
    b2c_repair_params_init(&params);
    params.storage = B2C_STORAGE_FILE;
    params.limits = &limits;
    b2c_status status = b2c_repair(dir_path, repaired_path, &params, &result, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        status = b2c_schunk_open(repaired_path, 0, B2C_OPEN_READ, &limits, &s, &err);
        FUZZ_REQUIRE(status == B2C_OK);
        read_all(s);
        b2c_schunk_free(s);
    }
    fuzz_remove(repaired_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1) {
        return 0;
    }
    fuzz_folder(dir_path, "sframe");
    (void)snprintf(outside_dir, sizeof outside_dir, "%s.out", dir_path);
    (void)snprintf(outside_path, sizeof outside_path, "%s/secret", outside_dir);
    (void)snprintf(repaired_path, sizeof repaired_path, "%s.new", dir_path);
    make_outside();
    make_dir(data + 1, n - 1);
    int lock = (data[0] & LOCKED) != 0 ? B2C_OPEN_LOCK : 0;
    b2c_schunk *s = open_it(B2C_OPEN_READ | lock);
    if (s != NULL) {
        read_all(s);
    }
    b2c_schunk_free(s);
    if ((data[0] & REPAIRED) != 0) {
        repair();
    }
    s = (data[0] & EDITED) != 0 ? open_it(B2C_OPEN_UPDATE | lock) : NULL;
    if (s != NULL) {
        read_all(s);
        edit(s);
    }
    check_outside();
    fuzz_remove(dir_path);
    fuzz_remove(outside_dir);
    return 0;
}
