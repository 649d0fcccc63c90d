/*
 * test_frame.c: frames: worked examples, round trips on every storage, damaged bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "files.h"
#include "frame.h"
#include "harness.h"

#include <sys/stat.h>
#include <unistd.h>

static b2c_ctx *ctx;
static b2c_error err;
static char dir[] = "/tmp/b2c_test_frame_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* ---- the worked example of the format: header and trailer ---- */

static const uint8_t example_header[] = {
    0x9e, 0xa8, 'b',  '2',  'f',  'r',  'a',  'm',  'e',  0x00, 0xd2, 0x00, 0x00, 0x00, 0x74,
    0xcf, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xac, 0xa4, 0x12, 0x00, 0x51, 0x02, 0xd3,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x27, 0x10, 0xd3, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x02, 0xaa, 0xd2, 0x00, 0x00, 0x00, 0x04, 0xd2, 0x00, 0x00, 0x00, 0x00, 0xd2, 0x00, 0x00,
    0x0f, 0xa0, 0xd1, 0x00, 0x01, 0xd1, 0x00, 0x01, 0xc3, 0xd8, 0x06, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x93, 0xcd, 0x00,
    0x12, 0xde, 0x00, 0x01, 0xa5, 'a',  'l',  'p',  'h',  'a',  0xd2, 0x00, 0x00, 0x00, 0x6c,
    0xdc, 0x00, 0x01, 0xc6, 0x00, 0x00, 0x00, 0x03, 0x92, 0x01, 0x02,
};

/* vlmetalayer "user", a memcpy chunk of {"k": 1}. */
static const uint8_t example_trailer[] = {
    0x94, 0x01, 0x93, 0xcd, 0x00, 0x10, 0xde, 0x00, 0x01, 0xa4, 'u',  's',  'e',  'r',  0xd2,
    0x00, 0x00, 0x00, 0x16, 0xdc, 0x00, 0x01, 0xc6, 0x00, 0x00, 0x00, 0x24, 0x05, 0x01, 0x07,
    0x01, 0x04, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x24, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x81,
    0xa1, 0x6b, 0x01, 0xce, 0x00, 0x00, 0x00, 0x56, 0xd8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void test_example(void)
{
    b2i_frame_head h;
    b2i_metas metas = { 0 }, vlmetas = { 0 };
    uint32_t trailer_len = 0;
    b2i_span header = b2i_span_of(example_header, sizeof example_header);
    b2i_span trailer = b2i_span_of(example_trailer, sizeof example_trailer);
    CHECK_EQ(sizeof example_header, 0x74);
    CHECK_EQ(sizeof example_trailer, 86);
    CHECK_EQ(b2i_frame_head_parse(header, &h, &err), B2C_OK);
    CHECK_EQ(h.header_len, 116);
    CHECK_EQ(h.frame_len, 940);
    CHECK_EQ(h.general_flags, 0x12);
    CHECK_EQ(h.frame_type, B2I_FRAME_CONTIGUOUS);
    CHECK_EQ(h.nbytes, 10000);
    CHECK_EQ(h.cbytes, 682);
    CHECK_EQ(h.chunksize, 4000);
    CHECK_EQ(h.cparams.typesize, 4);
    CHECK_EQ(h.cparams.blocksize, 0);
    CHECK_EQ(h.cparams.codec, B2C_CODEC_LZ4);
    CHECK_EQ(h.cparams.clevel, 5);
    CHECK_EQ(h.cparams.splitmode, B2C_SPLIT_AUTO);
    CHECK_EQ(h.cparams.filters[0], B2C_FILTER_SHUFFLE);
    CHECK_EQ(h.cparams.use_dict, 0);
    CHECK_EQ(b2i_frame_metas_parse(header, NULL, &metas, &err), B2C_OK);
    CHECK_EQ(metas.n, 1);
    CHECK(strcmp(metas.v[0].name, "alpha") == 0);
    CHECK(metas.v[0].n == 3 && memcmp(metas.v[0].p, "\x92\x01\x02", 3) == 0);
    b2i_span tail = b2i_span_of(example_trailer + sizeof example_trailer - 23, 23);
    CHECK_EQ(b2i_trailer_len_parse(tail, &h, &trailer_len, &err), B2C_OK);
    CHECK_EQ(trailer_len, 86);
    CHECK_EQ(b2i_trailer_parse(trailer, NULL, &vlmetas, &err), B2C_OK);
    CHECK_EQ(vlmetas.n, 1);
    CHECK(strcmp(vlmetas.v[0].name, "user") == 0);
    uint8_t value[4];
    size_t n = 0;
    const b2c_limits limits = b2i_limits_full(NULL);
    CHECK_EQ(b2i_vlmeta_get(&vlmetas.v[0], &limits, ctx, value, sizeof value, &n, &err), B2C_OK);
    CHECK(n == 4 && memcmp(value, "\x81\xa1k\x01", 4) == 0);
    b2i_metas_free(&metas);
    b2i_metas_free(&vlmetas);
}

/* The header that is written for the example's parameters is the example's. */
static void test_encode(void)
{
    b2i_state state = { 0 };
    b2i_frame_image image = { 0 };
    b2i_entry entries[3] = { 0, B2I_ENTRY_ZERO, 0x15b };
    b2c_cparams_init(&state.cparams);
    state.cparams.typesize = 4;
    state.cparams.codec = B2C_CODEC_LZ4;
    state.cparams.filters[5] = 0;
    state.cparams.filters[0] = B2C_FILTER_SHUFFLE;
    state.chunksize = 4000;
    state.nbytes = 10000;
    state.nchunks = 3;
    state.entries = entries;
    CHECK_EQ(b2i_metas_add(&state.metas, "alpha", b2i_span_of("\x92\x01\x02", 3), &err), B2C_OK);
    b2i_span value = b2i_span_of(example_trailer + 27, 36);
    CHECK_EQ(b2i_metas_add(&state.vlmetas, "user", value, &err), B2C_OK);
    CHECK_EQ(b2i_frame_encode(&state, B2I_FRAME_CONTIGUOUS, &image, &err), B2C_OK);
    b2i_frame_set_lengths(image.header.p, 940, 682);
    /* The numbers of threads tell that it is ours. */
    uint8_t expected[sizeof example_header];
    memcpy(expected, example_header, sizeof expected);
    expected[0x40] = B2I_FRAME_THREADS_ENC;
    expected[0x43] = B2I_FRAME_THREADS_DEC;
    CHECK(image.header.n == sizeof expected &&
          memcmp(image.header.p, expected, image.header.n) == 0);
    size_t index_len = image.index_len;
    CHECK(image.tail.n - index_len == sizeof example_trailer &&
          memcmp(image.tail.p + index_len, example_trailer, sizeof example_trailer) == 0);
    /* Moving index and trailer leaves the fingerprint alone. */
    uint8_t before[16];
    b2i_frame_seal(&image, true);
    memcpy(before, image.tail.p + image.tail.n - 16, 16);
    b2i_frame_set_lengths(image.header.p, 1000000, 999000);
    b2i_frame_seal(&image, true);
    CHECK(memcmp(before, image.tail.p + image.tail.n - 16, 16) == 0);
    b2i_frame_seal(&image, false);
    CHECK(memcmp(before, image.tail.p + image.tail.n - 16, 16) != 0);
    image.header.p[0x1E + 7] ^= 1;
    b2i_frame_seal(&image, true);
    CHECK(memcmp(before, image.tail.p + image.tail.n - 16, 16) != 0);
    b2i_frame_image_free(&image);
    b2i_metas_free(&state.metas);
    b2i_metas_free(&state.vlmetas);
}

/* The empty frame of the format's example. */
static void test_empty(void)
{
    uint8_t frame[151];
    static const uint8_t trailer[12] = { 0x94, 0x01, 0x93, 0xcd, 0x00, 0x06,
                                         0xde, 0x00, 0x00, 0xdc, 0x00, 0x00 };
    static const uint8_t tail[7] = { 0xce, 0x00, 0x00, 0x00, 0x23, 0xd8, 0x00 };
    b2c_schunk *s = NULL;
    b2c_schunk_info info;
    memset(frame, 0, sizeof frame);
    memcpy(frame, example_header, sizeof example_header);
    b2i_st64be(frame + 0x10, sizeof frame);
    memset(frame + 0x1E, 0, 8);
    memset(frame + 0x27, 0, 8);
    memset(frame + 0x3A, 0xFF, 4);
    memcpy(frame + 116, trailer, sizeof trailer);
    memcpy(frame + 128, tail, sizeof tail);
    CHECK_EQ(b2c_schunk_open_mem(frame, sizeof frame, 0, NULL, &s, &err), B2C_OK);
    if (s != NULL) {
        b2c_schunk_info_get(s, &info);
        CHECK_EQ(info.nchunks, 0);
        CHECK_EQ(info.chunksize, -1);
        CHECK_EQ(info.nmeta, 1);
        CHECK_EQ(info.trailer_len, 35);
        CHECK_EQ(info.is_writable, 0);
        info.cparams.codec = B2C_CODEC_BLOSCLZ; /* which every build has */
        CHECK_EQ(b2c_schunk_set_cparams(s, &info.cparams, &err), B2C_OK);
        info.cparams.typesize = 8;
        CHECK_EQ(b2c_schunk_set_cparams(s, &info.cparams, &err), B2C_E_READ_ONLY);
    }
    b2c_schunk_free(s);
    frame[0x27 + 7] = 0x57; /* a stale distance to the index does not matter */
    s = NULL;
    CHECK_EQ(b2c_schunk_open_mem(frame, sizeof frame, 1, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_set_cparams(s, &info.cparams, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.typesize, 8);
    b2c_schunk_free(s);
    frame[0x3A + 3] = 0xFE; /* chunksize -2 */
    CHECK_EQ(b2c_schunk_open_mem(frame, sizeof frame, 1, NULL, &s, &err), B2C_E_CORRUPT);
    CHECK_EQ(err.offset, 0x3A);
    frame[0] = 0x9d;
    CHECK_EQ(b2c_schunk_open_mem(frame, sizeof frame, 1, NULL, &s, &err), B2C_E_CORRUPT);
    frame[1] = 0;
    CHECK_EQ(b2c_schunk_open_mem(frame, sizeof frame, 1, NULL, &s, &err), B2C_E_FORMAT);
    CHECK_EQ(b2c_schunk_open_mem(NULL, 0, 0, NULL, &s, &err), B2C_E_FORMAT);
}

/* ---- round trips ---- */

enum { CHUNK = 4000, NCHUNKS = 7 };

static void fill(uint8_t *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)(seed * 31 + i / 4 * (seed + 1));
    }
}

static b2c_schunk *make(uint8_t storage, const char *path)
{
    static const char *const names[] = { "alpha" };
    static const void *const contents[] = { "\x92\x01\x02" };
    static const uint32_t lens[] = { 3 };
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.cparams.typesize = 4;
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    p.nmeta = 1;
    p.meta_names = names;
    p.meta_contents = contents;
    p.meta_lens = lens;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    return s;
}

/* Chunk i is fill(i); chunk 2 is zeros; the last one is short. */
static void content(unsigned i, uint8_t *p)
{
    if (i == 2) {
        memset(p, 0, CHUNK);
    } else {
        fill(p, CHUNK, i);
    }
}

static void append_all(b2c_schunk *s)
{
    uint8_t data[CHUNK];
    for (unsigned i = 0; i < NCHUNKS; i++) {
        content(i, data);
        size_t n = i == NCHUNKS - 1 ? CHUNK / 2 : CHUNK;
        CHECK_EQ(b2c_schunk_append(s, ctx, data, n, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, "user", "\x81\xa1k\x01", 4, &err), B2C_OK);
}

static void check_all(const b2c_schunk *s)
{
    static uint8_t all[NCHUNKS * CHUNK], data[CHUNK];
    uint64_t nbytes = NCHUNKS * CHUNK - CHUNK / 2;
    b2c_schunk_info info;
    size_t n;
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, NCHUNKS);
    CHECK_EQ(info.nbytes, nbytes);
    CHECK_EQ(info.chunksize, CHUNK);
    CHECK_EQ(b2c_schunk_read(s, ctx, 0, nbytes, all, sizeof all, &err), B2C_OK);
    for (unsigned i = 0; i < NCHUNKS; i++) {
        content(i, data);
        CHECK(memcmp(all + i * CHUNK, data, i == NCHUNKS - 1 ? CHUNK / 2 : CHUNK) == 0);
    }
    CHECK_EQ(b2c_schunk_read(s, ctx, CHUNK - 10, 20, data, sizeof data, &err), B2C_OK);
    CHECK(memcmp(data, all + CHUNK - 10, 20) == 0);
    CHECK_EQ(b2c_schunk_read(s, ctx, nbytes - 1, 2, data, sizeof data, &err), B2C_E_RANGE);
    CHECK_EQ(b2c_schunk_meta_get(s, "alpha", data, sizeof data, &n, &err), B2C_OK);
    CHECK(n == 3 && memcmp(data, "\x92\x01\x02", 3) == 0);
    CHECK_EQ(b2c_schunk_meta_get(s, "beta", data, sizeof data, &n, &err), B2C_E_NOT_FOUND);
    CHECK_EQ(b2c_schunk_vlmeta_get(s, ctx, "user", data, sizeof data, &n, &err), B2C_OK);
    CHECK(n == 4 && memcmp(data, "\x81\xa1k\x01", 4) == 0);
    for (unsigned i = 0; i < NCHUNKS; i++) {
        int has = -1;
        CHECK_EQ(b2c_schunk_verify_chunk(s, ctx, i, &has, &err), B2C_OK);
        CHECK(has == 0 || has == 1);
    }
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, NCHUNKS, data, sizeof data, &n, &err), B2C_E_RANGE);
}

static uint8_t *frame_of(const b2c_schunk *s, size_t *n)
{
    CHECK_EQ(b2c_schunk_to_frame(s, NULL, 0, n, &err), B2C_E_OUTPUT_SIZE);
    uint8_t *p = malloc(*n);
    CHECK_EQ(b2c_schunk_to_frame(s, p, *n, n, &err), B2C_OK);
    return p;
}

static void round_trip(uint8_t storage, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s", path_of(name));
    b2c_schunk *s = make(storage, path);
    if (s == NULL) {
        return;
    }
    if (storage != B2C_STORAGE_MEMORY) { /* a frame is there from the beginning */
        b2c_schunk *t = NULL;
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &t, &err), B2C_OK);
        b2c_schunk_free(t);
    }
    append_all(s);
    check_all(s);
    size_t n, n2;
    uint8_t *frame = frame_of(s, &n);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);

    s = NULL;
    CHECK_EQ(b2c_schunk_open_mem(frame, n, 0, NULL, &s, &err), B2C_OK);
    if (s != NULL) {
        check_all(s);
        CHECK_EQ(b2c_schunk_append_chunk(s, frame, n, &err), B2C_E_READ_ONLY);
        CHECK_EQ(b2c_schunk_append(s, ctx, frame, 8, &err), B2C_E_READ_ONLY);
    }
    b2c_schunk_free(s);
    if (storage != B2C_STORAGE_MEMORY) {
        s = NULL;
        CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
        if (s != NULL) {
            check_all(s);
            uint8_t *again = frame_of(s, &n2);
            CHECK(n == n2 && memcmp(frame, again, n) == 0); /* every storage gives the same frame */
            free(again);
        }
        b2c_schunk_free(s);
        b2c_schunk_params p;
        b2c_schunk_params_init(&p);
        p.storage = storage;
        p.path = path;
        CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_E_EXISTS);
    }
    free(frame);
}

/* ---- damage ---- */

static b2c_schunk *open_bytes(const uint8_t *p, size_t n)
{
    b2c_schunk *s = NULL;
    b2c_status st = b2c_schunk_open_mem(p, n, 0, NULL, &s, &err);
    CHECK((st == B2C_OK) == (s != NULL));
    CHECK(st == B2C_OK || (err.status == st && err.what != NULL));
    return s;
}

/* Reads all that there is; every failure is a proper one. */
static bool reads(b2c_schunk *s, uint8_t *out, size_t cap, uint64_t *nbytes)
{
    static uint8_t data[100000];
    b2c_schunk_info info;
    bool good = true;
    size_t n;
    b2c_schunk_info_get(s, &info);
    for (uint64_t i = 0; i < info.nchunks && i < 20; i++) {
        b2c_status st = b2c_schunk_decode_chunk(s, ctx, i, data, sizeof data, &n, &err);
        CHECK(st == B2C_OK || err.status == st);
        good = good && st == B2C_OK;
    }
    for (uint32_t i = 0; i < info.nvlmeta && i < 20; i++) {
        char name[32];
        CHECK_EQ(b2c_schunk_vlmeta_name(s, i, name, &err), B2C_OK);
        good = b2c_schunk_vlmeta_get(s, ctx, name, data, sizeof data, &n, &err) == B2C_OK && good;
    }
    *nbytes = info.nbytes;
    return good && info.nbytes <= cap &&
           b2c_schunk_read(s, ctx, 0, info.nbytes, out, cap, &err) == B2C_OK;
}

static void test_damage(uint8_t *frame, size_t n, bool has_checksums)
{
    static uint8_t good[NCHUNKS * CHUNK], out[NCHUNKS * CHUNK];
    uint64_t good_nbytes, nbytes;
    b2c_schunk *s = open_bytes(frame, n);
    CHECK(s != NULL && reads(s, good, sizeof good, &good_nbytes));
    b2c_schunk_free(s);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *copy = malloc(cut + 1); /* so that a read beyond is seen */
        memcpy(copy, frame, cut);
        s = open_bytes(copy, cut);
        CHECK(s == NULL);
        CHECK(cut < 10 ? err.status == B2C_E_FORMAT : err.status == B2C_E_TRUNCATED);
        b2c_schunk_free(s);
        free(copy);
    }
    static const uint8_t flips[] = { 0x01, 0x80, 0xFF };
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof flips; k++) {
            frame[i] ^= flips[k];
            s = open_bytes(frame, n);
            /* With checksums a change is seen, or it is in bytes that do not matter. */
            if (s != NULL && reads(s, out, sizeof out, &nbytes) && has_checksums) {
                CHECK(nbytes == good_nbytes && memcmp(good, out, (size_t)nbytes) == 0);
            }
            b2c_schunk_free(s);
            frame[i] ^= flips[k];
        }
    }
}

static void test_damages(void)
{
    size_t n;
    for (int checksums = 0; checksums < 2; checksums++) {
        b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL);
        CHECK_EQ(b2c_schunk_set_checksums(s, checksums, 1, &err), B2C_OK);
        append_all(s);
        uint8_t *frame = frame_of(s, &n);
        test_damage(frame, n, checksums != 0);
        free(frame);
        b2c_schunk_free(s);
    }
    /* Variable chunk sizes. */
    b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL);
    uint8_t data[CHUNK];
    for (unsigned i = 0; i < 4; i++) {
        fill(data, sizeof data, i);
        CHECK_EQ(b2c_schunk_append(s, ctx, data, 100 + 300 * (i % 3), &err), B2C_OK);
    }
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.chunksize, 0);
    CHECK_EQ(info.general_flags, 0x53);
    uint8_t *frame = frame_of(s, &n);
    test_damage(frame, n, true);
    free(frame);
    b2c_schunk_free(s);
}

/* A file may go on after the frame, a buffer may not; a frame may start inside a file. */
static void test_around(void)
{
    size_t n;
    char path[256];
    snprintf(path, sizeof path, "%s", path_of("around"));
    b2c_schunk *s = make(B2C_STORAGE_MEMORY, NULL);
    append_all(s);
    uint8_t *frame = frame_of(s, &n);
    b2c_schunk_free(s);
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fwrite("0123456789", 1, 10, f) == 10 && fwrite(frame, 1, n, f) == n &&
          fwrite("behind", 1, 6, f) == 6);
    fclose(f);
    s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 10, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    if (s != NULL) {
        check_all(s);
    }
    b2c_schunk_free(s);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_E_FORMAT);
    CHECK_EQ(b2c_schunk_open(path, 10, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_E_ARGUMENT);
    CHECK_EQ(b2c_schunk_open(path_of("nothing"), 0, 0, NULL, &s, &err), B2C_E_IO);
    CHECK(err.sys_errno != 0);
    uint8_t *longer = malloc(n + 1);
    memcpy(longer, frame, n);
    longer[n] = 0;
    CHECK_EQ(b2c_schunk_open_mem(longer, n + 1, 0, NULL, &s, &err), B2C_E_CORRUPT);
    free(longer);
    free(frame);
}

/* A chunk file that is a link out of the directory is not followed. */
static void test_dir_links(void)
{
    char path[256], chunk[300], other[300];
    snprintf(path, sizeof path, "%s", path_of("linked"));
    snprintf(chunk, sizeof chunk, "%s/00000000.chunk", path);
    snprintf(other, sizeof other, "%s/moved", path);
    b2c_schunk *s = make(B2C_STORAGE_DIR, path);
    append_all(s);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK(rename(chunk, other) == 0 && symlink("moved", chunk) == 0);
    uint8_t data[CHUNK];
    size_t n;
    s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 0, data, sizeof data, &n, &err), B2C_E_IO);
    CHECK_EQ(err.chunk, 0);
    CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, 1, data, sizeof data, &n, &err), B2C_OK);
    b2c_schunk_free(s);
}

/* A million chunks without payload open at once; the limit is respected. */
static void test_many(void)
{
    enum { MANY = 1000000 };
    char path[256];
    snprintf(path, sizeof path, "%s", path_of("many"));
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_FILE;
    p.path = path;
    p.chunksize = 80;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_fill_special(s, 80ull * MANY, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    struct stat st;
    CHECK(stat(path, &st) == 0 && st.st_size < 400);
    s = NULL;
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    uint8_t data[160] = { 1 };
    CHECK_EQ(b2c_schunk_read(s, ctx, 80ull * MANY - 150, 150, data, sizeof data, &err), B2C_OK);
    CHECK_EQ(data[0], 0);
    b2c_schunk_free(s);
    b2c_limits limits = { .max_nchunks = MANY - 1 };
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, &limits, &s, &err), B2C_E_LIMIT);
}

/* ---- entries of an index, in runs of special ones and of chunks ---- */

enum { MAX_ENTRIES = 1500, MAX_PLACE = 40000 };

/* Runs of special entries and of ascending places, and now and then something else among them. */
static size_t make_entries(b2i_entry *e, uint64_t *seed)
{
    static const b2i_entry others[] = {
        MAX_PLACE,        MAX_PLACE + 1,         0,
        (1ull << 63) - 1, B2I_ENTRY_SPECIAL,     ~(b2i_entry)0,
        B2I_ENTRY_NAN,    B2I_ENTRY_SPECIAL | 5, B2I_ENTRY_ZERO | 9
    };
    size_t n = 1 + harness_random(seed) % MAX_ENTRIES, at = 0;
    b2i_entry place = 0;
    while (at < n) {
        size_t len = 1 + harness_random(seed) % 900;
        bool is_special = harness_random(seed) % 3 == 0;
        b2i_entry kind = harness_random(seed) % 8 == 0 ? B2I_ENTRY_SPECIAL : B2I_ENTRY_NAN;
        for (size_t i = 0; i < len && at < n; i++) {
            e[at++] = is_special ? kind : (place += 1 + harness_random(seed) % 100);
        }
    }
    for (uint64_t i = harness_random(seed) % 4; i > 0; i--) { /* chunks that were written anew */
        size_t from = harness_random(seed) % n, len = harness_random(seed) % (n / 8 + 1);
        for (size_t k = from; k < from + len && k < n; k++) {
            bool is_moved = e[k] >> 63 == 0 && harness_random(seed) % 4 != 0;
            e[k] = is_moved ? (i == 1 ? place -= 101 : (place += 101)) : e[k];
        }
    }
    for (uint64_t i = harness_random(seed) % 3; i > 0; i--) {
        uint64_t r = harness_random(seed), other = r % (2 * sizeof others / sizeof *others);
        size_t to = r / 64 % n,
               from = r >> 32 & 1 ? r / 4096 % n : to - (to > 0); /* or the one before */
        e[to] = other < sizeof others / sizeof *others ? others[other] : e[from];
    }
    return n;
}

static b2i_survey survey_one_by_one(const b2i_entry *e, size_t n)
{
    b2i_survey out = { .odd = n, .is_ordered = true };
    for (size_t i = n; i-- > 0;) {
        bool is_special = e[i] >> 63 != 0;
        bool is_known = (e[i] >> 56 & 7) != 0;
        out.nspecial += is_special;
        out.odd = (is_special ? !is_known : e[i] > MAX_PLACE) ? i : out.odd;
        for (size_t k = i; k-- > 0 && !is_special && out.is_ordered;) {
            out.is_ordered = e[k] >> 63 != 0 || e[k] < e[i];
            if (e[k] >> 63 == 0) {
                break; /* the ones before it are compared with that one */
            }
        }
    }
    return out;
}

static int by_place(const void *a, const void *b)
{
    b2i_entry x = *(const b2i_entry *)a, y = *(const b2i_entry *)b;
    return x < y ? -1 : x > y;
}

/* Every chunk reaches as far as the next place, and no two are at one. */
static void check_places(b2i_entry *e, size_t n, const b2i_survey *survey)
{
    static b2i_entry sorted[MAX_ENTRIES];
    b2i_state state = { .entries = e, .nchunks = n, .nspecial = survey->nspecial };
    size_t nplaces = 0, nshared = 0;
    for (size_t i = 0; i < n; i++) {
        if (e[i] >> 63 == 0) {
            sorted[nplaces++] = e[i];
        }
    }
    qsort(sorted, nplaces, sizeof *sorted, by_place);
    for (size_t i = 1; i < nplaces; i++) {
        nshared += sorted[i] == sorted[i - 1];
    }
    for (int has_survey = 0; has_survey < 2; has_survey++) {
        b2c_status st = b2i_places_check(&state, true, has_survey ? survey : NULL, &err);
        CHECK_EQ(st, nshared > 0 ? B2C_E_CORRUPT : B2C_OK);
        for (size_t i = 0; i < n && st == B2C_OK; i++) {
            const b2i_entry *at = bsearch(&e[i], sorted, nplaces, sizeof *sorted, by_place);
            if (at != NULL) {
                uint64_t room = at + 1 < sorted + nplaces ? at[1] - e[i] : UINT64_MAX;
                CHECK_EQ(b2i_places_room(&state, i), room);
            }
        }
        b2i_places_forget(&state);
    }
}

static void test_entries(void)
{
    static b2i_entry e[MAX_ENTRIES];
    uint64_t seed = 5;
    for (int run = 0; run < 400; run++) {
        size_t n = make_entries(e, &seed);
        b2i_survey found = b2i_index_survey(e, n, MAX_PLACE + 1),
                   expected = survey_one_by_one(e, n);
        CHECK_EQ(found.nspecial, expected.nspecial);
        CHECK_EQ(found.odd, expected.odd);
        CHECK_EQ(found.is_ordered, expected.is_ordered);
        check_places(e, n, &found);
    }
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_example();
    test_encode();
    test_empty();
    round_trip(B2C_STORAGE_MEMORY, "mem");
    round_trip(B2C_STORAGE_FILE, "file");
    round_trip(B2C_STORAGE_DIR, "sparse");
    test_damages();
    test_around();
    test_dir_links();
    test_many();
    test_entries();
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
