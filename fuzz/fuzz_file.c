/*
 * fuzz_file.c: any bytes as a frame on disk, opened for reading and for editing.
 * Unlike a frame in memory, files may have holes, and records behind the frame from which commits
 * are recovered.  Input: see fuzz_place.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

enum { MAX_CHUNKS = 32 };

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
        fuzz_read_vlblocks(s, i, status == B2C_OK ? out : NULL);
        status = b2c_schunk_verify_chunk(s, fuzz_ctx(), i, &has_checksum, &err);
        fuzz_check_error(status, &err);
    }
    return sound;
}

/* Gives the shape of an array, which some filters need, to a super-chunk without chunks. */
static void copy_shape(const b2c_schunk *from, b2c_schunk *to)
{
    static uint8_t meta[FUZZ_MAX_NBYTES];
    size_t len;
    if (b2c_schunk_meta_get(from, "b2nd", meta, sizeof meta, &len, NULL) == B2C_OK) {
        FUZZ_REQUIRE(b2c_schunk_meta_add(to, "b2nd", meta, len, NULL) == B2C_OK);
    }
}

/* Chunks of a stranger's file in another order, some twice, in memory: what decodes is the same. */
static void copy_some(const b2c_schunk *from)
{
    static uint8_t out[FUZZ_MAX_NBYTES], again[FUZZ_MAX_NBYTES];
    uint64_t numbers[MAX_CHUNKS];
    b2c_schunk_params params;
    b2c_schunk_info info;
    b2c_schunk *to = NULL;
    b2c_error err;
    b2c_schunk_info_get(from, &info);
    for (uint64_t i = 0; i < MAX_CHUNKS && info.nchunks > 0; i++) {
        numbers[i] = 7 * i % info.nchunks;
    }
    const uint64_t n = info.nchunks < MAX_CHUNKS ? info.nchunks : MAX_CHUNKS;
    b2c_schunk_params_init(&params);
    params.chunksize = 0;
    params.cparams.typesize = info.cparams.typesize;
    FUZZ_REQUIRE(b2c_schunk_new(&params, &to, &err) == B2C_OK);
    copy_shape(from, to);
    b2c_status status = b2c_schunk_copy_some(from, numbers, n, to, &err);
    fuzz_check_error(status, &err);
    b2c_schunk_info_get(to, &info);
    FUZZ_REQUIRE(info.nchunks == (status == B2C_OK ? n : 0));
    for (uint64_t i = 0; i < info.nchunks; i++) {
        size_t len = 0, len2 = 0;
        status = b2c_schunk_decode_chunk(from, fuzz_ctx(), numbers[i], out, sizeof out, &len, &err);
        if (status == B2C_OK) {
            status = b2c_schunk_decode_chunk(to, fuzz_ctx(), i, again, sizeof again, &len2, &err);
            FUZZ_REQUIRE(status == B2C_OK && len == len2 && memcmp(out, again, len) == 0);
        }
    }
    b2c_schunk_free(to);
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
        if (again != NULL) {
            b2c_schunk_info_get(again, &info);
            FUZZ_REQUIRE(info.nchunks == after);
            FUZZ_REQUIRE(after > MAX_CHUNKS || read_all(again));
        }
        b2c_schunk_free(again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_place place;
    if (!fuzz_place_make(&place, "file", data, n)) {
        return 0;
    }
    b2c_schunk *s = NULL;
    if (open_it(place.path, B2C_OPEN_READ, &s) == B2C_OK) {
        (void)read_all(s);
        copy_some(s);
    }
    b2c_schunk_free(s);
    s = NULL;
    if (open_it(place.path, B2C_OPEN_UPDATE, &s) == B2C_OK) {
        bool is_sound = read_all(s);
        edit_array(s);
        edit(s, place.path, is_sound);
    }
    fuzz_remove(place.dir);
    return 0;
}
