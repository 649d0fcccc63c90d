/*
 * fuzz_slice.c: an array of any b2nd metalayer and any keys: items that are read are those at the
 * places that the format gives them.
 * Input: u8 item size - 1 (low 5 bits) and bits 5-6 (what the chunks hold), then KEYS_LEN bytes of
 * keys, then the metalayer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

#include <stdbool.h>

enum {
    MAX_DIM = 16,
    KEY_LEN = 3, /* of each dimension: start, count, step */
    KEYS_LEN = 3 * KEY_LEN * MAX_DIM,
    MAX_NCHUNKS = 64,
    MAX_CHUNKSIZE = 1 << 14,
    MAX_OUT = 1 << 14
};

/* What the data holds at a place. */
static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at * 0x9E3779B97F4A7C15u >> 56);
}

/* The chunks of an array whose data is byte_at() everywhere, or zeros. */
static bool fill(b2c_schunk *s, uint64_t nchunks, uint64_t chunksize, bool zeros)
{
    static uint8_t data[MAX_CHUNKSIZE];
    b2c_error err;
    if (nchunks == 0) {
        return true;
    }
    if (zeros) {
        b2c_status status =
            b2c_schunk_fill_special(s, nchunks * chunksize, B2C_SPECIAL_ZERO, NULL, &err);
        fuzz_check_error(status, &err);
        return status == B2C_OK;
    }
    for (uint64_t i = 0; i < nchunks; i++) {
        for (uint64_t k = 0; k < chunksize; k++) {
            data[k] = byte_at(i * chunksize + k);
        }
        b2c_status status = b2c_schunk_append(s, fuzz_ctx(), data, (size_t)chunksize, &err);
        FUZZ_REQUIRE(status == B2C_OK);
        if (status != B2C_OK) {
            return false;
        }
    }
    return true;
}

static b2c_schunk *make(const uint8_t *meta, size_t len, const b2c_nd *nd, uint64_t chunksize)
{
    const char *name = "b2nd";
    const void *content = meta;
    uint32_t meta_len = (uint32_t)len;
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_schunk_params_init(&p);
    p.cparams.typesize = nd->itemsize;
    p.cparams.blocksize = (uint32_t)b2c_nd_blocksize(nd);
    p.chunksize = (int64_t)chunksize;
    p.nmeta = 1;
    p.meta_names = &name;
    p.meta_contents = &content;
    p.meta_lens = &meta_len;
    b2c_status status = b2c_schunk_new(&p, &s, &err);
    fuzz_check_error(status, &err);
    return s;
}

/* Where the format puts the item: chunks in C order, their blocks, the items of a block. */
static uint64_t place_of(const b2c_nd *nd, const uint64_t *coord)
{
    uint64_t chunk = 0, block = 0, item = 0, nblocks = 1, nitems = 1;
    for (uint32_t d = 0; d < nd->ndim; d++) {
        uint64_t per_dim = (nd->shape[d] + nd->chunks[d] - 1) / nd->chunks[d];
        uint64_t per_chunk = (nd->chunks[d] + nd->blocks[d] - 1) / nd->blocks[d];
        uint64_t inside = coord[d] % nd->chunks[d];
        chunk = chunk * per_dim + coord[d] / nd->chunks[d];
        block = block * per_chunk + inside / nd->blocks[d];
        item = item * nd->blocks[d] + inside % nd->blocks[d];
        nblocks *= per_chunk;
        nitems *= nd->blocks[d];
    }
    return (chunk * nblocks * nitems + block * nitems + item) * nd->itemsize;
}

static void check_item(const b2c_nd *nd, const uint64_t *coord, const uint8_t *item, bool zeros)
{
    uint64_t at = place_of(nd, coord);
    for (uint32_t i = 0; i < nd->itemsize; i++) {
        FUZZ_REQUIRE(item[i] == (zeros ? 0 : byte_at(at + i)));
    }
}

/*
 * All items of a box whose first axes, nlists of them, have lists of coordinates one behind the
 * other; sizes are small.
 */
static void check_box(const b2c_nd *nd, const uint64_t *start, const uint64_t *count,
                      const uint64_t *step, uint32_t nlists, const uint64_t *lists,
                      const uint8_t *out, bool zeros)
{
    uint64_t index[MAX_DIM] = { 0 }, coord[MAX_DIM], n = 1;
    for (uint32_t d = 0; d < nd->ndim; d++) {
        n *= count[d];
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = 0; /* of the next list */
        for (uint32_t d = 0; d < nd->ndim; d++) {
            coord[d] = d < nlists ? lists[at + index[d]] : start[d] + index[d] * step[d];
            at += count[d];
        }
        check_item(nd, coord, out + i * nd->itemsize, zeros);
        for (uint32_t d = nd->ndim; d-- > 0 && ++index[d] == count[d];) {
            index[d] = 0;
        }
    }
}

/* A box from the keys that is inside the array, unless the keys of the first dimension say 255. */
static void choose_box(const b2c_nd *nd, const uint8_t *key, uint64_t *start, uint64_t *count,
                       uint64_t *step)
{
    uint64_t room = MAX_OUT / nd->itemsize;
    for (uint32_t d = 0; d < nd->ndim; d++, key += KEY_LEN) {
        uint64_t n = nd->shape[d];
        start[d] = n == 0 ? 0 : key[0] * 0x0101010101010101u % n;
        step[d] = key[2] < 128 ? key[2] % 8 + 1u : (uint64_t)key[2] << (key[2] % 56);
        uint64_t most = n == 0 ? 0 : (n - start[d] - 1) / step[d] + 1;
        count[d] = key[1] % 32 < most ? key[1] % 32 : most;
        count[d] = count[d] < room ? count[d] : room;
        room = count[d] == 0 ? room : room / count[d];
        if (key[1] == 255) { /* whatever it is */
            start[d] = (uint64_t)key[0] << (key[2] % 57);
            count[d] = (uint64_t)key[1] << (key[0] % 57);
        }
    }
}

static bool is_inside(const b2c_nd *nd, const uint64_t *start, const uint64_t *count,
                      const uint64_t *step)
{
    bool inside = true, empty = false;
    for (uint32_t d = 0; d < nd->ndim; d++) {
        empty = empty || count[d] == 0;
        inside = inside && start[d] <= nd->shape[d] &&
                 (count[d] == 0 || (start[d] < nd->shape[d] &&
                                    (count[d] - 1) <= (nd->shape[d] - 1 - start[d]) / step[d]));
    }
    return inside && !empty;
}

static void read_box(const b2c_schunk *s, const b2c_nd *nd, const uint8_t *key, bool zeros)
{
    static uint8_t out[MAX_OUT];
    uint64_t start[MAX_DIM] = { 0 }, count[MAX_DIM] = { 0 }, step[MAX_DIM] = { 0 };
    b2c_error err;
    choose_box(nd, key, start, count, step);
    memset(out, 0xA5, sizeof out);
    b2c_status status = b2c_nd_read(s, fuzz_ctx(), nd, start, count, step, out, sizeof out, &err);
    fuzz_check_error(status, &err);
    if (!is_inside(nd, start, count, step)) {
        return; /* refused, or nothing to compare */
    }
    FUZZ_REQUIRE(status == B2C_OK || status == B2C_E_OUTPUT_SIZE);
    if (status == B2C_OK) {
        check_box(nd, start, count, step, 0, NULL, out, zeros);
        for (int kept = 0; kept < 2; kept++) {
            status = b2c_nd_read_item(s, fuzz_ctx(), nd, start, kept, out, nd->itemsize, &err);
            fuzz_check_error(status, &err);
            FUZZ_REQUIRE(status == B2C_OK || kept == 1);
            if (status == B2C_OK) {
                check_item(nd, start, out, zeros);
            }
        }
    }
}

/* Items at four places along all dimensions, with a repeat. */
static void read_places(const b2c_schunk *s, const b2c_nd *nd, const uint8_t *key, bool zeros)
{
    enum { NPLACES = 4 };
    uint64_t coords[NPLACES * MAX_DIM] = { 0 };
    uint8_t out[NPLACES * 32];
    b2c_error err;
    b2c_nd_places places = {
        .size = sizeof places, .naxes = nd->ndim, .nplaces = NPLACES, .coords = coords
    };
    for (uint32_t d = 0; d < nd->ndim; d++) {
        if (nd->shape[d] == 0) {
            return;
        }
        places.axes[d] = d;
        for (uint32_t i = 0; i < NPLACES; i++) {
            coords[i * nd->ndim + d] =
                key[(d * 7 + i % 3) % KEYS_LEN] * 0x0101010101010101u % nd->shape[d];
        }
    }
    b2c_status status = b2c_nd_read_places(s, fuzz_ctx(), nd, &places, out, sizeof out, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE(status == B2C_OK || nd->ndim == 0);
    for (uint32_t i = 0; status == B2C_OK && i < NPLACES; i++) {
        check_item(nd, coords + i * nd->ndim, out + i * nd->itemsize, zeros);
    }
}

/* All combinations of lists of coordinates along the first axes, with a box along the others. */
static void read_lists(const b2c_schunk *s, const b2c_nd *nd, const uint8_t *key, bool zeros)
{
    enum { MAX_LISTS = 3, MAX_COUNT = 4 };
    static uint8_t out[MAX_OUT];
    uint64_t start[MAX_DIM] = { 0 }, count[MAX_DIM] = { 0 }, step[MAX_DIM] = { 0 };
    uint64_t coords[MAX_LISTS * MAX_COUNT], n = 0;
    b2c_error err;
    b2c_nd_places places = { .size = sizeof places,
                             .naxes = key[0] % (MAX_LISTS + 1u),
                             .nplaces = 1,
                             .coords = coords,
                             .start = start,
                             .count = count,
                             .step = step,
                             .ncoords = count };
    places.naxes = places.naxes < nd->ndim ? places.naxes : nd->ndim;
    choose_box(nd, key, start, count, step);
    for (uint32_t d = 0; d < places.naxes; d++, key += KEY_LEN) {
        places.axes[d] = d;
        start[d] = 0;
        step[d] = 1;
        count[d] = nd->shape[d] == 0 ? 0 : key[1] % (MAX_COUNT + 1u);
        places.nplaces *= count[d];
        for (uint64_t i = 0; i < count[d]; i++) {
            coords[n++] = key[(i + 2) % KEY_LEN] * 0x0101010101010101u % nd->shape[d];
        }
    }
    bool inside = is_inside(nd, start, count, step), wrong = key[1] == 254;
    wrong = wrong && places.naxes > 0 && count[0] > 0;
    if (wrong) {
        coords[0] = nd->shape[0] + key[2];
    }
    places.nplaces += key[1] == 253;
    b2c_status status = b2c_nd_read_places(s, fuzz_ctx(), nd, &places, out, sizeof out, &err);
    fuzz_check_error(status, &err);
    FUZZ_REQUIRE(status != B2C_OK || key[1] != 253 || places.naxes == 0);
    FUZZ_REQUIRE(status != B2C_OK || !wrong || !inside);
    if (inside && !wrong && status == B2C_OK) {
        check_box(nd, start, count, step, places.naxes, coords, out, zeros);
    }
}

static void read_all(const b2c_schunk *s, const b2c_nd *nd, const uint8_t *keys, bool zeros)
{
    for (int i = 0; i < 3; i++) {
        read_box(s, nd, keys + (size_t)i * KEY_LEN * MAX_DIM, zeros);
    }
    read_places(s, nd, keys, zeros);
    read_lists(s, nd, keys, zeros);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    b2c_nd nd = { .size = sizeof nd }, found = { .size = sizeof found };
    size_t at, len, meta_at = 1 + KEYS_LEN;
    b2c_error err;
    if (n < meta_at) {
        return 0;
    }
    b2c_status status = b2c_nd_meta_decode(data + meta_at, n - meta_at, &nd, &at, &len, &err);
    fuzz_check_error(status, &err);
    nd.itemsize = (data[0] & 31u) + 1;
    bool is_array = status == B2C_OK && b2c_nd_check(&nd, &err) == B2C_OK;
    uint64_t chunksize = is_array ? b2c_nd_chunksize(&nd) : 100;
    uint64_t nchunks = is_array ? b2c_nd_nchunks(&nd) : 1;
    bool zeros = (data[0] & 32) != 0;
    if (!zeros && (chunksize > MAX_CHUNKSIZE || nchunks > MAX_NCHUNKS)) {
        return 0;
    }
    if (zeros && (nchunks > 4096 || nchunks * chunksize > INT64_MAX)) {
        return 0;
    }
    nd.ndim = is_array ? nd.ndim : 0;
    b2c_schunk *s = make(data + meta_at, n - meta_at, &nd, chunksize);
    if (s == NULL) {
        return 0;
    }
    if (fill(s, nchunks, chunksize, zeros)) {
        status = b2c_nd_from_schunk(s, &found, &err);
        fuzz_check_error(status, &err);
        /* Items of another size may make an array of the chunk that stands for none. */
        if (status == B2C_OK && is_array) {
            FUZZ_REQUIRE(found.itemsize == nd.itemsize);
            read_all(s, &found, data + 1, zeros);
        }
    }
    b2c_schunk_free(s);
    return 0;
}
