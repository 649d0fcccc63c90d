/*
 * fuzz_frame.c: any bytes as a contiguous frame in memory: every metalayer and chunk is read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

enum { MAX_META_READ = 1 << 16, MAX_CHUNKS_READ = 64 };

static uint8_t meta_buf[MAX_META_READ];

static void read_metalayers(const b2c_schunk *s, const b2c_schunk_info *info)
{
    char name[32];
    size_t len;
    b2c_error err;
    for (uint32_t i = 0; i < info->nmeta; i++) {
        b2c_status status = b2c_schunk_meta_name(s, i, name, &err);
        fuzz_check_error(status, &err);
        FUZZ_REQUIRE(status == B2C_OK && memchr(name, 0, sizeof name) != NULL);
        fuzz_check_error(b2c_schunk_meta_get(s, name, meta_buf, sizeof meta_buf, &len, &err), &err);
    }
    for (uint32_t i = 0; i < info->nvlmeta; i++) {
        b2c_status status = b2c_schunk_vlmeta_name(s, i, name, &err);
        FUZZ_REQUIRE(status == B2C_OK && memchr(name, 0, sizeof name) != NULL);
        status = b2c_schunk_vlmeta_get(s, fuzz_ctx(), name, meta_buf, sizeof meta_buf, &len, &err);
        fuzz_check_error(status, &err);
    }
    FUZZ_REQUIRE(b2c_schunk_meta_name(s, info->nmeta, name, NULL) != B2C_OK);
    FUZZ_REQUIRE(b2c_schunk_vlmeta_name(s, info->nvlmeta, name, NULL) != B2C_OK);
}

static void read_chunk(const b2c_schunk *s, uint64_t i)
{
    b2c_chunk_info info;
    b2c_error err;
    size_t len = 0;
    b2c_status status = b2c_schunk_chunk_info(s, i, &info, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK || info.nbytes > FUZZ_MAX_NBYTES || info.cbytes > FUZZ_MAX_NBYTES) {
        return;
    }
    uint8_t *out = fuzz_alloc((size_t)info.nbytes);
    status = b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, (size_t)info.nbytes, &len, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE(status != B2C_OK || len == info.nbytes);
    fuzz_read_vlblocks(s, i, status == B2C_OK ? out : NULL);
    free(out);
    out = fuzz_alloc((size_t)info.cbytes);
    status = b2c_schunk_get_chunk(s, i, out, (size_t)info.cbytes, &len, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE(status != B2C_OK || len == info.cbytes);
    free(out);
}

/* A few bytes from the places where chunks meet. */
static void read_ranges(const b2c_schunk *s, uint64_t nbytes)
{
    uint8_t out[300];
    b2c_error err;
    uint64_t starts[] = { 0, nbytes / 2, nbytes - (nbytes < sizeof out ? nbytes : sizeof out) };
    for (size_t i = 0; i < 3; i++) {
        uint64_t n = nbytes - starts[i] < sizeof out ? nbytes - starts[i] : sizeof out;
        fuzz_check_error(b2c_schunk_read(s, fuzz_ctx(), starts[i], n, out, sizeof out, &err), &err);
    }
    FUZZ_REQUIRE(b2c_schunk_read(s, fuzz_ctx(), nbytes, 1, out, sizeof out, NULL) != B2C_OK);
}

/*
 * All at once, past what is damaged: chunks that are told of are those that cannot be read alone.
 */
static void read_past_damage(const b2c_schunk *s, uint64_t nbytes)
{
    static uint8_t out[FUZZ_MAX_NBYTES];
    b2c_error first, damage, err;
    uint64_t n = 0;
    if (nbytes > sizeof out || b2c_ctx_collect_damage(fuzz_ctx(), 1, &err) != B2C_OK) {
        return;
    }
    b2c_status status = b2c_schunk_read(s, fuzz_ctx(), 0, nbytes, out, sizeof out, &first);
    fuzz_check_error(status, &first);
    while (b2c_ctx_damage(fuzz_ctx(), n, &damage, &err) == B2C_OK) {
        fuzz_check_error(damage.status, &damage);
        FUZZ_REQUIRE(status != B2C_OK && damage.chunk >= first.chunk);
        n++;
    }
    FUZZ_REQUIRE(status == B2C_OK || n > 0);
    FUZZ_REQUIRE(b2c_ctx_collect_damage(fuzz_ctx(), 0, &err) == B2C_OK);
}

/* What could be opened can be written as a frame again, or says why not. */
static void rewrite(const b2c_schunk *s, size_t n)
{
    size_t cap = 4 * n + (1 << 16), len = 0;
    uint8_t *frame = fuzz_alloc(cap);
    b2c_error err;
    b2c_limits limits = fuzz_limits();
    b2c_schunk *again = NULL;
    b2c_status status = b2c_schunk_to_frame(s, frame, cap, &len, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        status = b2c_schunk_open_mem(frame, len, 0, &limits, &again, &err);
        FUZZ_REQUIRE(status == B2C_OK);
    }
    b2c_schunk_free(again);
    free(frame);
}

static void read_array(const b2c_schunk *s)
{
    b2c_nd nd;
    b2c_error err;
    const void *dtype;
    size_t dtype_len, meta_len;
    uint8_t out[4096], item[4096];
    uint64_t start[16] = { 0 }, count[16], step[16];
    memset(&nd, 0, sizeof nd);
    nd.size = sizeof nd;
    b2c_status status = b2c_nd_open(s, &nd, &dtype, &dtype_len, &err);
    fuzz_check_error(status, &err);
    if (status != B2C_OK) {
        return;
    }
    uint8_t *meta = fuzz_alloc(dtype_len + 512); /* where all of the dtype is copied to */
    status = b2c_nd_meta_encode(&nd, dtype, dtype_len, meta, dtype_len + 512, &meta_len, &err);
    fuzz_check_error(status, &err);
    free(meta);
    uint64_t room = sizeof out / nd.itemsize;
    for (uint32_t d = 0; d < nd.ndim; d++) {
        count[d] = nd.shape[d] == 0                    ? 0
                   : nd.shape[d] % 3 + 1 < nd.shape[d] ? nd.shape[d] % 3 + 1
                                                       : 1;
        count[d] = count[d] <= room ? count[d] : 1;
        step[d] = count[d] > 1 ? (nd.shape[d] - 1) / (count[d] - 1) : 1;
        room = count[d] == 0 ? room : room / count[d];
    }
    /* One alone first: its block is then kept, and the others of the box are read beside it. */
    b2c_status alone = b2c_nd_read_item(s, fuzz_ctx(), &nd, start, 0, item, sizeof item, &err);
    fuzz_check_error(alone, &err);
    status = b2c_nd_read(s, fuzz_ctx(), &nd, start, count, step, out, sizeof out, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK && alone == B2C_OK && nd.itemsize <= sizeof out) {
        FUZZ_REQUIRE(memcmp(out, item, nd.itemsize) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    b2c_limits limits = fuzz_limits();
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_status status = b2c_schunk_open_mem(data, n, 0, &limits, &s, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE((status == B2C_OK) == (s != NULL));
    if (status != B2C_OK) {
        return 0;
    }
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    read_metalayers(s, &info);
    for (uint64_t i = 0; i < info.nchunks && i < MAX_CHUNKS_READ; i++) {
        read_chunk(s, i);
    }
    FUZZ_REQUIRE(b2c_schunk_decode_chunk(s, fuzz_ctx(), info.nchunks, NULL, 0, &(size_t){ 0 },
                                         NULL) != B2C_OK);
    read_ranges(s, info.nbytes);
    read_past_damage(s, info.nbytes);
    read_array(s);
    rewrite(s, n);
    b2c_schunk_free(s);
    return 0;
}
