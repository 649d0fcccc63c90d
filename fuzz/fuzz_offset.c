/*
 * fuzz_offset.c: a frame inside of a file, with bytes around it that are none of its business.
 * Input: u8 bytes before it, u8 bytes behind it (times 16), then the frame.  What is around it is a
 * part of the frame again, so that it looks like one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

enum { MAX_CHUNKS = 16 };

typedef struct input {
    char path[128];
    uint8_t *bytes; /* of the whole file */
    size_t n, before, frame_len;
} input;

static b2c_schunk *open_it(const input *in, int mode, b2c_status *status)
{
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_limits limits = fuzz_limits();
    *status = b2c_schunk_open(in->path, in->before, mode, &limits, &s, &err);
    fuzz_check_error(*status, &err);
    FUZZ_REQUIRE((*status == B2C_OK) == (s != NULL));
    FUZZ_REQUIRE(*status == B2C_OK || err.offset == B2C_NO_OFFSET || err.offset <= UINT64_MAX / 2);
    return s;
}

/* Two handles on the same bytes give the same. */
static void compare(const b2c_schunk *a, const b2c_schunk *b)
{
    static uint8_t out[2][FUZZ_MAX_NBYTES];
    b2c_schunk_info info, other;
    size_t len[2];
    b2c_schunk_info_get(a, &info);
    b2c_schunk_info_get(b, &other);
    FUZZ_REQUIRE(info.nbytes == other.nbytes && info.nchunks == other.nchunks);
    for (uint64_t i = 0; i < info.nchunks && i < MAX_CHUNKS; i++) {
        b2c_error err;
        b2c_status one =
            b2c_schunk_decode_chunk(a, fuzz_ctx(), i, out[0], sizeof out[0], &len[0], &err);
        fuzz_check_error(one, &err);
        b2c_status two =
            b2c_schunk_decode_chunk(b, fuzz_ctx(), i, out[1], sizeof out[1], &len[1], &err);
        fuzz_check_error(two, &err);
        FUZZ_REQUIRE(one == two);
        if (one == B2C_OK && two == B2C_OK) {
            FUZZ_ALWAYS(len[0] == len[1] && memcmp(out[0], out[1], len[0]) == 0);
        }
    }
}

/* What stands before the frame is as it was. */
static void check_before(const input *in)
{
    uint8_t now[256];
    int fd = open(in->path, O_RDONLY);
    FUZZ_REQUIRE(fd >= 0);
    FUZZ_REQUIRE(pread(fd, now, in->before, 0) == (ssize_t)in->before);
    FUZZ_ALWAYS(memcmp(now, in->bytes, in->before) == 0);
    (void)close(fd);
}

static void edit(b2c_schunk *s)
{
    b2c_error err;
    fuzz_edit_some(s);
    fuzz_check_error(b2c_schunk_close(s, &err), &err);
}

static void run(const input *in)
{
    b2c_status status[2];
    b2c_schunk *s = open_it(in, B2C_OPEN_READ, &status[0]);
    b2c_schunk *mapped = open_it(in, B2C_OPEN_READ | B2C_OPEN_MMAP, &status[1]);
    FUZZ_REQUIRE(status[0] == status[1]);
    if (s != NULL && mapped != NULL) {
        compare(s, mapped);
    }
    b2c_schunk_free(s);
    b2c_schunk_free(mapped);
    s = open_it(in, B2C_OPEN_COPY, &status[0]);
    if (s != NULL) {
        edit(s);
    }
    s = open_it(in, B2C_OPEN_UPDATE, &status[0]);
    if (s != NULL) {
        edit(s);
    }
    check_before(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    input in;
    char dir[64];
    if (n < 2) {
        return 0;
    }
    size_t behind = 16 * (size_t)data[1];
    in.before = data[0];
    in.frame_len = n - 2;
    in.n = in.before + in.frame_len + behind;
    in.bytes = fuzz_alloc(in.n);
    memcpy(in.bytes + in.before, data + 2, in.frame_len);
    for (size_t i = 0; i < in.before; i++) {
        in.bytes[i] = in.frame_len == 0 ? 0 : data[2 + i % in.frame_len];
    }
    for (size_t i = 0; i < behind; i++) { /* its end once more */
        size_t at = in.frame_len == 0 ? 0 : (in.frame_len * 256 - behind + i) % in.frame_len;
        in.bytes[in.n - behind + i] = in.frame_len == 0 ? 0 : data[2 + at];
    }
    fuzz_folder(dir, "offset");
    (void)snprintf(in.path, sizeof in.path, "%s/file", dir);
    fuzz_write_file(in.path, in.bytes, in.n, in.n, 0);
    run(&in);
    fuzz_remove(dir);
    free(in.bytes);
    return 0;
}
