/*
 * fuzz_edit.c: any sequence of edits of a super-chunk gives what a plain copy of the data gives.
 * Byte 0 chooses where it is kept; the rest is a script of operations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

enum { MAX_LEN = 1 << 14, MAX_CHUNKS = 64, MAX_OPS = 60, CHUNKSIZE = 512, TYPESIZE = 4 };

/* The data as it should be, cut into chunks. */
typedef struct model {
    uint8_t bytes[2 * MAX_LEN];
    size_t len;
    size_t chunk_len[MAX_CHUNKS];
    size_t nchunks;
} model;

typedef struct script {
    const uint8_t *p;
    size_t n, at;
} script;

static model now, saved; /* 'saved' is the state before a transaction */
static char path[80];    /* empty when it is kept in memory */

static size_t next(script *s)
{
    return s->at < s->n ? s->p[s->at++] : 0;
}

static size_t start_of(const model *m, size_t chunk)
{
    size_t at = 0;
    for (size_t i = 0; i < chunk; i++) {
        at += m->chunk_len[i];
    }
    return at;
}

/* Replaces old_len bytes at 'at' by src. */
static void splice(model *m, size_t at, size_t old_len, const uint8_t *src, size_t n)
{
    memmove(m->bytes + at + n, m->bytes + at + old_len, m->len - at - old_len);
    memcpy(m->bytes + at, src, n);
    m->len = m->len - old_len + n;
}

static void insert_chunk(model *m, size_t k, const uint8_t *src, size_t n)
{
    splice(m, start_of(m, k), 0, src, n);
    memmove(m->chunk_len + k + 1, m->chunk_len + k, (m->nchunks - k) * sizeof *m->chunk_len);
    m->chunk_len[k] = n;
    m->nchunks++;
}

static void update_chunk(model *m, size_t k, const uint8_t *src, size_t n)
{
    splice(m, start_of(m, k), m->chunk_len[k], src, n);
    m->chunk_len[k] = n;
}

static void delete_chunk(model *m, size_t k)
{
    splice(m, start_of(m, k), m->chunk_len[k], m->bytes, 0);
    memmove(m->chunk_len + k, m->chunk_len + k + 1, (m->nchunks - k - 1) * sizeof *m->chunk_len);
    m->nchunks--;
}

static void reverse_chunks(model *m)
{
    static model old;
    old = *m;
    size_t at = 0;
    for (size_t i = 0; i < old.nchunks; i++) {
        size_t k = old.nchunks - 1 - i;
        memcpy(m->bytes + at, old.bytes + start_of(&old, k), old.chunk_len[k]);
        m->chunk_len[i] = old.chunk_len[k];
        at += old.chunk_len[k];
    }
}

/* Chunks that the library cut by itself: their sizes are taken over, the data is compared later. */
static void learn_chunks(model *m, const b2c_schunk *s)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    FUZZ_REQUIRE(info.nbytes == m->len && info.nchunks <= MAX_CHUNKS);
    m->nchunks = (size_t)info.nchunks;
    for (size_t i = 0; i < m->nchunks; i++) {
        b2c_chunk_info chunk;
        FUZZ_REQUIRE(b2c_schunk_chunk_info(s, i, &chunk, NULL) == B2C_OK);
        m->chunk_len[i] = (size_t)chunk.nbytes;
    }
}

static void compare(const b2c_schunk *s, const model *m)
{
    static uint8_t out[2 * MAX_LEN];
    b2c_schunk_info info;
    size_t len = 0, at = 0;
    b2c_error err;
    b2c_schunk_info_get(s, &info);
    FUZZ_REQUIRE(info.nbytes == m->len && info.nchunks == m->nchunks);
    FUZZ_REQUIRE(b2c_schunk_read(s, fuzz_ctx(), 0, m->len, out, sizeof out, &err) == B2C_OK);
    FUZZ_REQUIRE(memcmp(out, m->bytes, m->len) == 0);
    for (size_t i = 0; i < m->nchunks; at += len, i++) {
        b2c_status st = b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, sizeof out, &len, &err);
        FUZZ_REQUIRE(st == B2C_OK && len == m->chunk_len[i]);
        FUZZ_REQUIRE(memcmp(out, m->bytes + at, len) == 0);
    }
}

static size_t make_data(script *s, uint8_t *data)
{
    size_t n = next(s) % 4 == 0 ? (next(s) % 129) * TYPESIZE : CHUNKSIZE;
    size_t seed = next(s);
    for (size_t i = 0; i < n; i++) {
        data[i] = (uint8_t)(seed < 40 ? 0 : seed < 80 ? seed : (i * seed) >> (i % 3));
    }
    return n;
}

static b2c_status fill(b2c_schunk *s, script *in)
{
    uint8_t kind = next(in) % 2 ? B2C_SPECIAL_ZERO : B2C_SPECIAL_VALUE;
    size_t n = (next(in) % 200) * TYPESIZE;
    static const uint8_t item[TYPESIZE] = { 1, 2, 3, 4 };
    b2c_status st = b2c_schunk_fill_special(s, n, kind, item, NULL);
    if (st == B2C_OK) {
        for (size_t i = 0; i < n; i++) {
            now.bytes[now.len + i] = kind == B2C_SPECIAL_ZERO ? 0 : item[i % TYPESIZE];
        }
        now.len += n;
        learn_chunks(&now, s);
    }
    return st;
}

/* Writes over and past the end, or cuts. */
static b2c_status rewrite(b2c_schunk *s, script *in, const uint8_t *data, size_t n)
{
    size_t at = now.len == 0 ? 0 : (next(in) * 131) % (now.len + 1);
    b2c_status st;
    if (next(in) % 2) {
        st = b2c_schunk_write(s, fuzz_ctx(), at, data, n, NULL);
        if (st == B2C_OK) {
            memcpy(now.bytes + at, data, n);
            now.len = at + n > now.len ? at + n : now.len;
        }
    } else {
        st = b2c_schunk_truncate(s, fuzz_ctx(), at, NULL);
        now.len = st == B2C_OK ? at : now.len;
    }
    if (st == B2C_OK) {
        learn_chunks(&now, s);
    }
    return st;
}

static b2c_status reorder(b2c_schunk *s)
{
    uint64_t order[MAX_CHUNKS];
    for (size_t i = 0; i < now.nchunks; i++) {
        order[i] = now.nchunks - 1 - i;
    }
    b2c_status st = b2c_schunk_reorder(s, order, now.nchunks, NULL);
    if (st == B2C_OK) {
        reverse_chunks(&now);
    }
    return st;
}

static b2c_status edit_chunk(b2c_schunk *s, size_t op, size_t k, const uint8_t *data, size_t n)
{
    b2c_error err;
    b2c_status st;
    switch (op) {
    case 0:
        st = b2c_schunk_append(s, fuzz_ctx(), data, n, &err);
        if (st == B2C_OK) {
            insert_chunk(&now, now.nchunks, data, n);
        }
        break;
    case 1:
        st = b2c_schunk_insert(s, fuzz_ctx(), k, data, n, &err);
        if (st == B2C_OK) {
            insert_chunk(&now, k, data, n);
        }
        break;
    case 2:
        st = b2c_schunk_update(s, fuzz_ctx(), k, data, n, &err);
        FUZZ_REQUIRE(k < now.nchunks || st == B2C_E_RANGE);
        if (st == B2C_OK) {
            update_chunk(&now, k, data, n);
        }
        break;
    default:
        st = b2c_schunk_delete_chunk(s, k, &err);
        FUZZ_REQUIRE((k < now.nchunks) == (st == B2C_OK));
        if (st == B2C_OK) {
            delete_chunk(&now, k);
        }
    }
    fuzz_check_error(st, &err);
    return st;
}

/* The same contents out of the stored form. */
static b2c_schunk *reopen(b2c_schunk *s)
{
    b2c_error err;
    b2c_schunk *again = NULL;
    if (path[0] != '\0') {
        FUZZ_REQUIRE(b2c_schunk_close(s, &err) == B2C_OK);
        FUZZ_REQUIRE(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &again, &err) == B2C_OK);
        return again;
    }
    size_t len = 0;
    FUZZ_REQUIRE(b2c_schunk_to_frame(s, NULL, 0, &len, NULL) == B2C_E_OUTPUT_SIZE);
    uint8_t *frame = fuzz_alloc(len);
    FUZZ_REQUIRE(b2c_schunk_to_frame(s, frame, len, &len, &err) == B2C_OK);
    FUZZ_REQUIRE(b2c_schunk_open_mem(frame, len, 1, NULL, &again, &err) == B2C_OK);
    free(frame);
    compare(again, &now);
    b2c_schunk_info info;
    b2c_schunk_info_get(again, &info);
    if (!info.is_writable) { /* a frame in memory is for reading */
        b2c_schunk_free(again);
        return s;
    }
    b2c_schunk_free(s);
    return again;
}

static void transact(b2c_schunk *s, size_t choice, int *is_open)
{
    b2c_status st;
    if (choice % 3 == 0) {
        st = b2c_schunk_begin(s, NULL);
        FUZZ_REQUIRE((st == B2C_OK) == !*is_open);
        if (st == B2C_OK) {
            saved = now;
            *is_open = 1;
        }
        return;
    }
    if (choice % 3 == 1) {
        st = b2c_schunk_commit(s, NULL);
        FUZZ_REQUIRE((st == B2C_OK) == (*is_open != 0));
    } else {
        st = b2c_schunk_rollback(s, NULL);
        FUZZ_REQUIRE(st == B2C_OK || !*is_open);
        now = *is_open ? saved : now;
    }
    *is_open = 0;
}

static void edit_vlmeta(b2c_schunk *s, script *in, const uint8_t *data, size_t n)
{
    b2c_error err;
    const char *name = next(in) % 2 ? "a" : "b";
    b2c_status st = next(in) % 3 ? b2c_schunk_vlmeta_set(s, fuzz_ctx(), name, data, n, &err)
                                 : b2c_schunk_vlmeta_delete(s, name, &err);
    fuzz_check_error(st, &err);
}

/* One operation; returns the super-chunk, which may have been opened anew. */
static b2c_schunk *step(b2c_schunk *s, script *in, int *in_transaction)
{
    static uint8_t data[CHUNKSIZE + 8];
    size_t n = 0, op = next(in) % 12;
    if (now.len > MAX_LEN || now.nchunks + 8 > MAX_CHUNKS) {
        op = 3;
    }
    if (op < 4 || (op >= 6 && op < 10)) {
        n = make_data(in, data);
    }
    if (op < 4) {
        size_t k = now.nchunks == 0 ? 0 : next(in) % (now.nchunks + 1);
        (void)edit_chunk(s, op, k, data, n);
    } else if (op == 4) {
        (void)reorder(s);
    } else if (op == 5) {
        (void)fill(s, in);
    } else if (op < 8) {
        (void)rewrite(s, in, data, n);
    } else if (op < 10) {
        edit_vlmeta(s, in, data, n);
    } else if (op == 10) {
        transact(s, next(in), in_transaction);
    } else if (!*in_transaction) {
        return reopen(s);
    }
    return s;
}

static void run(b2c_schunk *s, script *in)
{
    int in_transaction = 0;
    for (int ops = 0; in->at < in->n && ops < MAX_OPS; ops++) {
        s = step(s, in, &in_transaction);
        compare(s, &now);
    }
    if (in_transaction) { /* closing forgets it */
        FUZZ_REQUIRE(b2c_schunk_rollback(s, NULL) == B2C_OK);
        now = saved;
        compare(s, &now);
    }
    s = reopen(s);
    compare(s, &now);
    b2c_schunk_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    script in = { data, n, 1 };
    b2c_schunk_params params;
    b2c_schunk *s = NULL;
    b2c_error err;
    char dir[64];
    if (n < 2) {
        return 0;
    }
    b2c_schunk_params_init(&params);
    params.chunksize = data[0] & 2 ? 0 : CHUNKSIZE;
    params.cparams.typesize = TYPESIZE;
    params.cparams.clevel = 1;
    params.cparams.codec = B2C_CODEC_BLOSCLZ; /* every build has it */
    path[0] = '\0';
    if (data[0] & 1) {
        fuzz_folder(dir, "edit");
        (void)snprintf(path, sizeof path, "%s/frame", dir);
        params.storage = B2C_STORAGE_FILE;
        params.path = path;
    }
    memset(&now, 0, sizeof now);
    FUZZ_REQUIRE(b2c_schunk_new(&params, &s, &err) == B2C_OK);
    run(s, &in);
    if (path[0] != '\0') {
        fuzz_remove(dir);
    }
    return 0;
}
