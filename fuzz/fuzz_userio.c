/*
 * fuzz_userio.c: a frame that is read through functions of a user's, which fail and lie.
 * Input: u8 number of faults (low 4 bits) and bit 7 (the frame begins at byte 5 of what is read),
 * then for each fault u8 kind, u8 number of the read from which on it is there, u16 value; then the
 * frame.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

#include <stdbool.h>

enum { FAULT_LEN = 4, LEAD = 5, MAX_CHUNKS = 16, READ_NBYTES_MIN = 1 << 16 };

/* What goes wrong. */
enum {
    FAILS,    /* an error from then on */
    STUMBLES, /* once */
    SHORT,    /* once the end of what is read is not written */
    FLIPS,    /* once a byte is another one: so a second read gives something else */
    CHANGES,  /* a byte of the frame is another one from then on */
    SHRINKS,  /* the size is less, or more, from then on */
    NKINDS
};

typedef struct liar {
    const uint8_t *faults, *frame;
    size_t nfaults, n, lead;
    uint64_t nreads, nbytes;
    unsigned nclosed;
} liar;

static unsigned value_of(const uint8_t *fault)
{
    return fault[2] | (unsigned)fault[3] << 8;
}

static uint64_t size_now(const liar *l)
{
    uint64_t size = l->lead + l->n;
    for (size_t i = 0; i < l->nfaults; i++) {
        const uint8_t *f = l->faults + FAULT_LEN * i;
        if (f[0] % NKINDS == SHRINKS && l->nreads >= f[1]) {
            unsigned v = value_of(f);
            size = (v & 1) != 0 ? size + v : size - (v < size ? v : size);
        }
    }
    return size;
}

static int lie_size(void *handle, uint64_t *size)
{
    *size = size_now(handle);
    return 0;
}

static void copy_true(const liar *l, uint64_t at, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t k = at + i;
        dst[i] = k < l->lead || k - l->lead >= l->n ? 0x5A : l->frame[k - l->lead];
    }
}

static int lie(void *handle, uint64_t at, void *dst, size_t n)
{
    liar *l = handle;
    uint8_t *p = dst;
    uint64_t number = l->nreads++;
    FUZZ_ALWAYS(n > 0 && l->nclosed == 0);
    l->nbytes += n;
    copy_true(l, at, p, n);
    for (size_t i = 0; i < l->nfaults; i++) {
        const uint8_t *f = l->faults + FAULT_LEN * i;
        unsigned kind = f[0] % NKINDS, v = value_of(f);
        uint64_t place = l->lead + (l->n == 0 ? 0 : v % l->n);
        if ((kind == FAILS && number >= f[1]) || (kind == STUMBLES && number == f[1])) {
            return 1 + (int)(v % 100);
        }
        if (kind == SHORT && number == f[1]) {
            memset(p + v % n, 0xAA, n - v % n);
        } else if (kind == FLIPS && number == f[1]) {
            p[v % n] ^= (uint8_t)(1u << f[0] / NKINDS % 8);
        } else if (kind == CHANGES && number >= f[1] && place >= at && place - at < n) {
            p[place - at] ^= (uint8_t)(1u << f[0] / NKINDS % 8);
        }
    }
    return 0;
}

static void lie_close(void *handle)
{
    ((liar *)handle)->nclosed++;
}

/* A call reads what it needs a few times at most, and not more for the blocks of a chunk each. */
static void check_call(liar *l, b2c_status status, const b2c_error *err)
{
    fuzz_check_error(status, err);
    FUZZ_ALWAYS(status != B2C_E_CALLBACK || err->sys_errno != 0);
    FUZZ_ALWAYS(l->nbytes <= 4 * (uint64_t)l->n + READ_NBYTES_MIN);
    l->nbytes = 0;
}

static void read_all(liar *l, const b2c_schunk *s)
{
    static uint8_t out[FUZZ_MAX_NBYTES];
    b2c_schunk_info info;
    b2c_error err;
    size_t len;
    int has_checksum;
    b2c_schunk_info_get(s, &info);
    for (uint64_t i = 0; i < info.nchunks && i < MAX_CHUNKS; i++) {
        check_call(l, b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, sizeof out, &len, &err), &err);
        check_call(l, b2c_schunk_verify_chunk(s, fuzz_ctx(), i, &has_checksum, &err), &err);
        check_call(l, b2c_schunk_get_chunk(s, i, out, sizeof out, &len, &err), &err);
    }
    /* A few bytes after the other: chunks that stay open, and blocks that are read ahead. */
    for (uint64_t at = 0; at < info.nbytes && at < 16 * 64; at += 64) {
        uint64_t n = info.nbytes - at < 40 ? info.nbytes - at : 40;
        check_call(l, b2c_schunk_read(s, fuzz_ctx(), at, n, out, sizeof out, &err), &err);
    }
    if (info.nbytes <= sizeof out && info.nchunks <= MAX_CHUNKS) {
        b2c_status status = b2c_schunk_read(s, fuzz_ctx(), 0, info.nbytes, out, sizeof out, &err);
        check_call(l, status, &err);
    }
}

static void read_array(liar *l, const b2c_schunk *s)
{
    b2c_nd nd;
    b2c_error err;
    uint8_t item[512];
    uint64_t coord[16] = { 0 };
    memset(&nd, 0, sizeof nd);
    nd.size = sizeof nd;
    b2c_status status = b2c_nd_from_schunk(s, &nd, &err);
    check_call(l, status, &err);
    for (unsigned k = 0; status == B2C_OK && k < 8; k++) {
        for (uint32_t d = 0; d < nd.ndim; d++) {
            coord[d] = nd.shape[d] == 0 ? 0 : k * 3 % nd.shape[d];
        }
        check_call(l, b2c_nd_read_item(s, fuzz_ctx(), &nd, coord, 0, item, sizeof item, &err),
                   &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t nfaults = n == 0 ? 0 : data[0] & 15;
    if (n < 1 + FAULT_LEN * nfaults) {
        return 0;
    }
    liar l = { .faults = data + 1, .nfaults = nfaults, .frame = data + 1 + FAULT_LEN * nfaults };
    l.n = n - 1 - FAULT_LEN * nfaults;
    l.lead = (data[0] & 0x80) != 0 ? LEAD : 0;
    b2c_io_table table = { .handle = &l, .read_at = lie, .size = lie_size, .close = lie_close };
    b2c_limits limits = fuzz_limits();
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_status status = b2c_schunk_open_io(&table, l.lead, &limits, &s, &err);
    check_call(&l, status, &err);
    FUZZ_REQUIRE((status == B2C_OK) == (s != NULL));
    FUZZ_ALWAYS(l.nclosed == (status != B2C_OK));
    if (status == B2C_OK) {
        read_all(&l, s);
        read_array(&l, s);
        b2c_schunk_free(s);
        FUZZ_ALWAYS(l.nclosed == 1);
    }
    return 0;
}
