/*
 * world.h: a super-chunk on disk, the steps that tests edit it with, and what it holds as
 * bytes that can be compared.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef WORLD_H
#define WORLD_H

#include "blosc2c.h"
#include "files.h"
#include "harness.h"
#include "io_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- bytes ---- */

typedef struct bytes {
    uint8_t *p;
    size_t n, cap;
} bytes;

static inline void *need(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "the test has no memory\n");
        abort();
    }
    return p;
}

static inline void bytes_reserve(bytes *b, size_t cap)
{
    if (cap > b->cap) {
        b->cap = cap + cap / 2 + 64;
        b->p = need(realloc(b->p, b->cap));
    }
}

static inline void bytes_add(bytes *b, const void *p, size_t n)
{
    bytes_reserve(b, b->n + n);
    if (n > 0) {
        memcpy(b->p + b->n, p, n);
    }
    b->n += n;
}

static inline void bytes_add_u32(bytes *b, size_t value)
{
    uint8_t v[4] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                     (uint8_t)(value >> 24) };
    bytes_add(b, v, sizeof v);
}

static inline void bytes_free(bytes *b)
{
    free(b->p);
    *b = (bytes){ 0 };
}

/* ---- what a super-chunk holds ---- */

/*
 * number of chunks, {length, data}…, number of metalayers, {32 bytes of name, length, content}…,
 * the same for vlmetalayers; all numbers u32 little-endian.  Empty: there is no super-chunk.
 */
typedef struct content {
    bytes all;
    size_t chunks_end;
} content;

static inline void content_free(content *c)
{
    bytes_free(&c->all);
    c->chunks_end = 0;
}

static inline int content_equal(const content *a, const content *b)
{
    return a->all.n == b->all.n && (a->all.n == 0 || memcmp(a->all.p, b->all.p, a->all.n) == 0);
}

static inline void content_copy(const content *from, content *to)
{
    to->all.n = 0;
    bytes_add(&to->all, from->all.p, from->all.n);
    to->chunks_end = from->chunks_end;
}

typedef b2c_status (*name_fn)(const b2c_schunk *s, uint32_t i, char name[32], b2c_error *err);

static inline b2c_status add_meta(const b2c_schunk *s, b2c_ctx *ctx, name_fn get_name, int is_vl,
                                  uint32_t i, bytes *out, b2c_error *err)
{
    char name[32] = { 0 };
    uint8_t value[4096];
    size_t n = 0;
    b2c_status st = get_name(s, i, name, err);
    if (st == B2C_OK && is_vl) {
        st = b2c_schunk_vlmeta_get(s, ctx, name, value, sizeof value, &n, err);
    } else if (st == B2C_OK) {
        st = b2c_schunk_meta_get(s, name, value, sizeof value, &n, err);
    }
    bytes_add(out, name, sizeof name);
    bytes_add_u32(out, n);
    bytes_add(out, value, n);
    return st;
}

static inline b2c_status add_chunk(const b2c_schunk *s, b2c_ctx *ctx, uint64_t i, bytes *out,
                                   b2c_error *err)
{
    b2c_chunk_info info;
    int has_checksum;
    size_t n = 0;
    b2c_status st = b2c_schunk_chunk_info(s, i, &info, err);
    if (st != B2C_OK) {
        return st;
    }
    bytes_add_u32(out, (size_t)info.nbytes);
    bytes_reserve(out, out->n + (size_t)info.nbytes);
    st = b2c_schunk_decode_chunk(s, ctx, i, out->p + out->n, (size_t)info.nbytes, &n, err);
    if (st == B2C_OK && n != info.nbytes) {
        return B2C_E_INTERNAL;
    }
    out->n += (size_t)info.nbytes;
    return st != B2C_OK ? st : b2c_schunk_verify_chunk(s, ctx, i, &has_checksum, err);
}

static inline b2c_status content_of(const b2c_schunk *s, b2c_ctx *ctx, content *out, b2c_error *err)
{
    b2c_schunk_info info;
    b2c_status st = B2C_OK;
    b2c_schunk_info_get(s, &info);
    out->all.n = 0;
    bytes_add_u32(&out->all, (size_t)info.nchunks);
    for (uint64_t i = 0; i < info.nchunks && st == B2C_OK; i++) {
        st = add_chunk(s, ctx, i, &out->all, err);
    }
    out->chunks_end = out->all.n;
    bytes_add_u32(&out->all, info.nmeta);
    for (uint32_t i = 0; i < info.nmeta && st == B2C_OK; i++) {
        st = add_meta(s, ctx, b2c_schunk_meta_name, 0, i, &out->all, err);
    }
    bytes_add_u32(&out->all, info.nvlmeta);
    for (uint32_t i = 0; i < info.nvlmeta && st == B2C_OK; i++) {
        st = add_meta(s, ctx, b2c_schunk_vlmeta_name, 1, i, &out->all, err);
    }
    return st;
}

/* 'from' with one more chunk. */
static inline void content_append(const content *from, const uint8_t *data, size_t n, content *out)
{
    const uint8_t *p = from->all.p;
    size_t nchunks = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
    out->all.n = 0;
    bytes_add_u32(&out->all, nchunks + 1);
    bytes_add(&out->all, p + 4, from->chunks_end - 4);
    bytes_add_u32(&out->all, n);
    bytes_add(&out->all, data, n);
    out->chunks_end = out->all.n;
    bytes_add(&out->all, p + from->chunks_end, from->all.n - from->chunks_end);
}

/* ---- the world ---- */

typedef enum step {
    END,
    CREATE,
    REPLACE,
    OPEN,
    CLOSE,
    APPEND,
    APPEND_ZEROS,
    APPEND_SHORT,
    INSERT,
    UPDATE,
    UPDATE_SHORT,
    UPDATE_ZEROS,
    UPDATE_VALUE,
    DELETE,
    REORDER,
    FILL,
    FILL_VALUE,
    VLMETA_SET,
    VLMETA_GROW,
    VLMETA_DELETE,
    META,
    WRITE,
    WRITE_END,
    TRUNCATE,
    CLEAR,
    TRANSACTION,
    ROLLBACK,
    ROLLBACK_SYNCED,
    VLBLOCKS,
    ND_WRITE,
    ND_GROW,
    ND_SHRINK,
    ND_APPEND,
    ND_PLACES,
    ND_VARY,
    MADE,
    META_ADD,
    INSERT_CHUNK,
    UPDATE_CHUNK,
    UNCHECKED,
    CHECKED,
    COPY,
    COPY_SOME,
    FLUSH,
    SETTLE,
    COMPACT,
    OTHER,
    LOOK,
    REFRESH,
    RECHECK,
    VERIFY,
    TO_FRAME,
    OPEN_IO,
    NSTEPS
} step;

enum { TYPESIZE = 4, SMALL_CHUNK = 1000, LARGE_CHUNK = 150000, META_LEN = 250, MAX_STEPS = 64 };

typedef struct scenario {
    const char *name;
    step steps[MAX_STEPS]; /* those before RECORDED are preparation */
    int is_large, has_long_header, no_checksums, is_of_files, is_array, has_lock;
} scenario;

#define RECORDED NSTEPS
#define BASE     CREATE, APPEND, APPEND, APPEND, APPEND, APPEND, VLMETA_SET, CLOSE, RECORDED, OPEN
#define ARRAY    CREATE, APPEND, ND_GROW, ND_WRITE, VLMETA_SET, CLOSE, RECORDED, OPEN

/* Every kind of edit after opening, with an append before and behind it, and longer ones. */
static const scenario scenarios[] = {
    { .name = "create", .steps = { RECORDED, CREATE, APPEND, CLOSE } },
    { .name = "create and flush",
      .steps = { RECORDED, CREATE, FLUSH, APPEND, FLUSH, CLEAR, FLUSH, CLOSE } },
    { .name = "create at once", .steps = { RECORDED, REPLACE, APPEND, UPDATE, CLOSE } },
    { .name = "replace",
      .steps = { CREATE, APPEND, APPEND, CLOSE, RECORDED, REPLACE, UPDATE, FLUSH, CLOSE, REPLACE,
                 CLOSE } },
    { .name = "append", .steps = { BASE, APPEND, APPEND, CLOSE } },
    { .name = "append zeros", .steps = { BASE, APPEND_ZEROS, APPEND, CLOSE } },
    { .name = "append short", .steps = { BASE, APPEND_SHORT, APPEND, APPEND, CLOSE } },
    { .name = "insert", .steps = { BASE, INSERT, APPEND, INSERT, CLOSE } },
    { .name = "update", .steps = { BASE, UPDATE, UPDATE, UPDATE, UPDATE, APPEND, CLOSE } },
    { .name = "update short", .steps = { BASE, APPEND_ZEROS, UPDATE_SHORT, APPEND, CLOSE } },
    { .name = "update zeros", .steps = { BASE, UPDATE_ZEROS, APPEND, UPDATE, CLOSE } },
    { .name = "update value", .steps = { BASE, APPEND, UPDATE_VALUE, APPEND, CLOSE } },
    { .name = "delete", .steps = { BASE, DELETE, APPEND, DELETE, CLOSE } },
    { .name = "reorder", .steps = { BASE, REORDER, APPEND, REORDER, CLOSE } },
    { .name = "fill", .steps = { BASE, FILL, APPEND, CLOSE } },
    { .name = "fill value", .steps = { BASE, APPEND, FILL_VALUE, CLOSE } },
    { .name = "vlmeta set", .steps = { BASE, VLMETA_SET, APPEND, VLMETA_SET, CLOSE } },
    { .name = "vlmeta grow", .steps = { BASE, VLMETA_GROW, VLMETA_GROW, VLMETA_GROW, CLOSE } },
    { .name = "vlmeta delete", .steps = { BASE, VLMETA_DELETE, APPEND, CLOSE } },
    { .name = "meta", .steps = { BASE, META, APPEND, META, CLOSE } },
    { .name = "long meta", .steps = { BASE, META, APPEND, META, CLOSE }, .has_long_header = 1 },
    { .name = "write", .steps = { BASE, WRITE, APPEND, WRITE, CLOSE } },
    { .name = "write end", .steps = { BASE, WRITE_END, WRITE_END, CLOSE } },
    { .name = "truncate", .steps = { BASE, TRUNCATE, WRITE_END, CLOSE } },
    { .name = "clear", .steps = { BASE, CLEAR, APPEND, CLEAR, CLOSE, OPEN, APPEND, CLOSE } },
    { .name = "transaction", .steps = { BASE, TRANSACTION, APPEND, TRANSACTION, CLOSE } },
    { .name = "rollback", .steps = { BASE, APPEND, ROLLBACK, APPEND, ROLLBACK, CLOSE } },
    { .name = "flush after a rollback",
      .steps = { BASE, FLUSH, ROLLBACK_SYNCED, APPEND, FLUSH, CLOSE } },
    { .name = "copy", .steps = { BASE, COPY, APPEND, CLOSE } },
    { .name = "flush", .steps = { BASE, APPEND, FLUSH, UPDATE, FLUSH, FLUSH, CLOSE } },
    { .name = "flush what was there",
      .steps = { BASE, APPEND, UPDATE, CLOSE, OPEN, FLUSH, APPEND, CLOSE, OPEN, UPDATE, FLUSH,
                 CLOSE } },
    { .name = "flush what others wrote",
      .steps = { BASE, OTHER, FLUSH, APPEND, OTHER, UPDATE, OTHER, FLUSH, CLOSE },
      .has_lock = 1 },
    { .name = "flush much", .steps = { BASE,   APPEND, APPEND, APPEND, APPEND, APPEND, APPEND,
                                       APPEND, APPEND, APPEND, APPEND, APPEND, CLOSE,  OPEN,
                                       APPEND, APPEND, APPEND, FLUSH,  APPEND, FLUSH,  CLOSE } },
    { .name = "settle",
      .steps = { BASE, APPEND, SETTLE, UPDATE, SETTLE, SETTLE, DELETE, APPEND, SETTLE, CLOSE } },
    { .name = "create and settle",
      .steps = { RECORDED, CREATE, SETTLE, APPEND, SETTLE, APPEND, UPDATE, META, SETTLE, CLOSE } },
    { .name = "compact",
      .steps = { BASE, UPDATE, COMPACT, DELETE, APPEND, COMPACT, COMPACT, UPDATE, CLOSE } },
    { .name = "reopen", .steps = { BASE, UPDATE, CLOSE, OPEN, DELETE, CLOSE, OPEN, CLOSE } },
    { .name = "many", .steps = { BASE,   APPEND, APPEND, APPEND, APPEND, APPEND, APPEND, APPEND,
                                 APPEND, APPEND, APPEND, APPEND, APPEND, APPEND, APPEND, APPEND,
                                 APPEND, APPEND, APPEND, APPEND, APPEND, CLOSE } },
    { .name = "mixed",
      .steps = { BASE,         APPEND,      UPDATE,       VLMETA_SET,    DELETE,   APPEND,
                 UPDATE,       TRANSACTION, INSERT,       WRITE,         ROLLBACK, UPDATE,
                 APPEND_ZEROS, META,        UPDATE,       FLUSH,         REORDER,  UPDATE,
                 APPEND,       DELETE,      UPDATE_SHORT, VLMETA_DELETE, INSERT,   TRUNCATE,
                 UPDATE,       APPEND,      UPDATE_ZEROS, UPDATE,        CLOSE } },
    /* Room of replaced chunks is used again, which recovery learns from pointers. */
    { .name = "update again",
      .steps = { BASE,         UPDATE, FLUSH,  UPDATE, FLUSH,  UPDATE, FLUSH,
                 UPDATE,       FLUSH,  UPDATE, UPDATE, UPDATE, APPEND, UPDATE,
                 APPEND_ZEROS, UPDATE, DELETE, UPDATE, UPDATE, CLOSE } },
    { .name = "no checksums",
      .steps = { BASE,   APPEND, APPEND, UPDATE,      INSERT, APPEND_ZEROS, DELETE,
                 APPEND, UPDATE, FLUSH,  UPDATE,      FLUSH,  UPDATE,       APPEND,
                 CLOSE,  OPEN,   APPEND, TRANSACTION, APPEND, CLOSE },
      .no_checksums = 1 },
    /* Records of both kinds beside each other, and where one kind took the place of the other. */
    { .name = "checksums off and on",
      .steps = { BASE, UNCHECKED, APPEND, UPDATE, APPEND, CHECKED, APPEND, UPDATE, UNCHECKED,
                 UPDATE, DELETE, CHECKED, UPDATE, INSERT, FLUSH, UNCHECKED, APPEND, CLOSE } },
    { .name = "blocks of any sizes",
      .steps = { CREATE, CLOSE, RECORDED, OPEN, VLBLOCKS, VLBLOCKS, FLUSH, VLBLOCKS, DELETE,
                 VLBLOCKS, CLOSE } },
    { .name = "write an array",
      .steps = { ARRAY, ND_WRITE, ND_WRITE, FLUSH, ND_WRITE, CLOSE },
      .is_array = 1 },
    { .name = "resize an array",
      .steps = { ARRAY, ND_GROW, ND_WRITE, ND_SHRINK, ND_WRITE, ND_GROW, FLUSH, ND_SHRINK, ND_GROW,
                 CLOSE },
      .is_array = 1 },
    { .name = "resize and compact",
      .steps = { ARRAY, ND_SHRINK, COMPACT, ND_GROW, ND_WRITE, COMPACT, ND_SHRINK, CLOSE },
      .is_array = 1 },
    { .name = "append to an array",
      .steps = { ARRAY, ND_APPEND, ND_PLACES, ND_SHRINK, ND_APPEND, FLUSH, ND_PLACES, ND_APPEND,
                 CLOSE },
      .is_array = 1 },
    /* Chunks of several sizes, for once: the header says so until new ones make them regular. */
    { .name = "array of variable sizes",
      .steps = { CREATE, APPEND, ND_GROW, ND_WRITE, ND_VARY, CLOSE, RECORDED, OPEN, ND_SHRINK,
                 ND_GROW, ND_WRITE, ND_VARY, ND_APPEND, FLUSH, ND_VARY, ND_SHRINK, ND_WRITE,
                 ND_GROW, CLOSE },
      .is_array = 1 },
    { .name = "ready chunks",
      .steps = { BASE, INSERT_CHUNK, UPDATE_CHUNK, APPEND, UPDATE_CHUNK, INSERT_CHUNK, FLUSH,
                 INSERT_CHUNK, CLOSE } },
    { .name = "metadata before chunks",
      .steps = { CREATE, CLOSE, RECORDED, OPEN, META_ADD, META, VLMETA_SET, APPEND, CLOSE } },
    { .name = "from elsewhere",
      .steps = { BASE, MADE, COPY_SOME, UPDATE, MADE, FLUSH, COPY_SOME, CLOSE } },
    { .name = "with others in turn",
      .steps = { BASE, APPEND, OTHER, UPDATE, OTHER, TRANSACTION, APPEND_ZEROS, OTHER, DELETE,
                 VLMETA_SET, OTHER, CLOSE },
      .has_lock = 1 },
    { .name = "resize in turn",
      .steps = { ARRAY, ND_SHRINK, ND_WRITE, ND_GROW, ND_APPEND, CLOSE },
      .is_array = 1,
      .has_lock = 1 },
    { .name = "beside a reader",
      .steps = { BASE, LOOK, APPEND, FLUSH, REFRESH, UPDATE, FLUSH, RECHECK, UPDATE, FLUSH, RECHECK,
                 UPDATE, FLUSH, RECHECK, DELETE, VLMETA_GROW, FLUSH, REFRESH, CLOSE } },
    { .name = "looked at",
      .steps = { BASE, VERIFY, TO_FRAME, APPEND, APPEND_ZEROS, VLMETA_GROW, VERIFY, TO_FRAME,
                 CLOSE } },
    { .name = "through a user's functions",
      .steps = { BASE, OPEN_IO, APPEND_ZEROS, UPDATE, FLUSH, OPEN_IO, CLOSE },
      .is_of_files = 1 },
    { .name = "large",
      .steps = { BASE, APPEND, APPEND, UPDATE, APPEND, APPEND, UPDATE, APPEND, APPEND, UPDATE,
                 DELETE, UPDATE, APPEND, CLOSE },
      .is_large = 1 },
};

enum { NSCENARIOS = sizeof scenarios / sizeof *scenarios };

typedef struct world {
    const scenario *scenario;
    b2c_ctx *ctx;
    b2c_schunk *s;
    b2c_schunk *reader; /* of the same path; or NULL */
    const char *path;
    uint8_t storage, level;
    uint64_t seed; /* the same steps give the same data */
    size_t chunk_len;
    uint8_t *data; /* 4 chunks */
    b2c_error err;
} world;

/* The arrays: chunks of SMALL_CHUNK bytes.  ND_GROW and ND_SHRINK go between these shapes. */
enum { ND_ROWS = 23, ND_COLS = 60, ND_FEW_ROWS = 13, ND_FEW_COLS = 30 };

static inline b2c_nd nd_of_world(void)
{
    return (b2c_nd){ .size = sizeof(b2c_nd),
                     .ndim = 2,
                     .itemsize = TYPESIZE,
                     .shape = { 5, 20 },
                     .chunks = { 10, 25 },
                     .blocks = { 5, 25 } };
}

/* Ramps and noise in turns, of n bytes. */
static inline uint8_t *new_data(world *w, size_t n)
{
    uint64_t x = 88172645463325252u + ++w->seed;
    for (size_t i = 0; i < n; i++) {
        int noisy = w->chunk_len == LARGE_CHUNK || (w->seed + i / 500) % 2 == 0;
        w->data[i] = (uint8_t)(noisy ? harness_random(&x) : i / TYPESIZE + w->seed);
    }
    return w->data;
}

static inline void world_init(world *w, const scenario *sc, const char *path, uint8_t storage,
                              uint8_t level)
{
    *w = (world){ .scenario = sc, .path = path, .storage = storage, .level = level };
    w->chunk_len = sc->is_large ? LARGE_CHUNK : SMALL_CHUNK;
    w->data = need(malloc(4 * w->chunk_len));
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &w->ctx, NULL), B2C_OK);
}

static inline void world_free(world *w)
{
    b2c_schunk_free(w->s);
    b2c_schunk_free(w->reader);
    b2c_ctx_free(w->ctx);
    free(w->data);
}

static inline b2c_status world_new(world *w, uint8_t replaces)
{
    static const char *const names[] = { "m0", "m1", "m2", "m3" };
    uint8_t first[10] = { 0xC4, 8 }, more[META_LEN] = { 0xC4, META_LEN - 2 }; /* msgpack */
    const void *contents[] = { first, more, more, more };
    const uint32_t lens[] = { sizeof first, sizeof more, sizeof more, sizeof more };
    uint32_t nd_len = 0;
    b2c_schunk_params p;
    b2c_schunk_params_init(&p);
    p.storage = w->storage;
    p.replaces = replaces;
    p.lock = w->scenario->has_lock;
    p.durability = w->level;
    p.checksums = !w->scenario->no_checksums;
    p.chunksize = (int64_t)w->chunk_len;
    p.path = w->path;
    p.cparams.typesize = TYPESIZE;
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    p.nmeta = w->scenario->has_long_header ? 4 : 1;
    p.meta_names = names;
    p.meta_contents = contents;
    p.meta_lens = lens;
    if (w->scenario->is_array) {
        b2c_nd nd = nd_of_world();
        static const char *const nd_name[] = { "b2nd" };
        size_t len = 0;
        b2c_status st = b2c_nd_meta_encode(&nd, "<i4", 3, more, sizeof more, &len, &w->err);
        if (st != B2C_OK) {
            return st;
        }
        contents[0] = more;
        nd_len = (uint32_t)len;
        p.meta_names = nd_name;
        p.meta_lens = &nd_len;
        p.nmeta = 1;
        p.cparams.blocksize = (uint32_t)b2c_nd_blocksize(&nd);
    }
    return b2c_schunk_new(&p, &w->s, &w->err);
}

static inline b2c_status world_create(world *w)
{
    return world_new(w, 0);
}

static inline b2c_status world_open(world *w)
{
    int mode = B2C_OPEN_UPDATE | (w->scenario->has_lock ? B2C_OPEN_LOCK : 0);
    b2c_status st = b2c_schunk_open(w->path, 0, mode, NULL, &w->s, &w->err);
    if (st == B2C_OK) {
        st = b2c_schunk_set_checksums(w->s, !w->scenario->no_checksums, 1, &w->err);
    }
    return st == B2C_OK ? b2c_schunk_set_durability(w->s, w->level, &w->err) : st;
}

static inline b2c_status world_append(world *w)
{
    return b2c_schunk_append(w->s, w->ctx, new_data(w, w->chunk_len), w->chunk_len, &w->err);
}

/* Several edits; the caller commits or takes them back. */
static inline b2c_status world_edit(world *w)
{
    b2c_status st = world_append(w);
    if (st == B2C_OK) {
        st = b2c_schunk_update(w->s, w->ctx, 0, new_data(w, w->chunk_len), w->chunk_len, &w->err);
    }
    if (st == B2C_OK) {
        st = b2c_schunk_delete_chunk(w->s, 1, &w->err);
    }
    return st != B2C_OK ? st : b2c_schunk_vlmeta_set(w->s, w->ctx, "txn", "\xC4\3abc", 5, &w->err);
}

static inline b2c_status world_transaction(world *w, int commits)
{
    b2c_error ignored;
    b2c_status st = b2c_schunk_begin(w->s, &w->err);
    if (st != B2C_OK) {
        return st;
    }
    st = world_edit(w);
    if (st == B2C_OK) {
        return commits ? b2c_schunk_commit(w->s, &w->err) : b2c_schunk_rollback(w->s, &w->err);
    }
    (void)!b2c_schunk_rollback(w->s, &ignored);
    return st;
}

/* What is taken back was on the medium. */
static inline b2c_status world_rollback_synced(world *w)
{
    b2c_status st = b2c_schunk_set_durability(w->s, B2C_DURABILITY_COMMIT, &w->err);
    if (st == B2C_OK) {
        st = world_transaction(w, 0);
    }
    return st != B2C_OK ? st : b2c_schunk_set_durability(w->s, w->level, &w->err);
}

/* A new one with two chunks and more, instead of what there may be. */
static inline b2c_status world_replace(world *w)
{
    b2c_status st = world_new(w, 1);
    if (st != B2C_OK) {
        return st;
    }
    st = b2c_schunk_begin(w->s, &w->err);
    if (st == B2C_OK) {
        st = world_append(w);
    }
    if (st == B2C_OK) {
        st = world_edit(w);
    }
    if (st == B2C_OK) {
        st = b2c_schunk_commit(w->s, &w->err);
    }
    if (st != B2C_OK) {
        b2c_schunk_free(w->s);
        w->s = NULL;
    }
    return st;
}

static inline b2c_status world_reorder(world *w, uint64_t n)
{
    uint64_t order[128];
    for (uint64_t i = 0; i < n && i < 128; i++) {
        order[i] = n - 1 - i;
    }
    return b2c_schunk_reorder(w->s, order, n, &w->err);
}

/* Chunks of a super-chunk in memory: all, or some in another order. */
static inline b2c_status world_copy(world *w, step kind)
{
    static const uint64_t some[] = { 1, 0, 1 };
    b2c_schunk_params p;
    b2c_schunk *from;
    b2c_schunk_params_init(&p);
    p.chunksize = (int64_t)w->chunk_len;
    p.cparams.typesize = TYPESIZE;
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    b2c_status st = b2c_schunk_new(&p, &from, &w->err);
    for (int i = 0; i < 2 && st == B2C_OK; i++) {
        st = b2c_schunk_append(from, w->ctx, new_data(w, w->chunk_len), w->chunk_len, &w->err);
        if (st == B2C_OK && i == 1) {
            st = kind == COPY ? b2c_schunk_copy_chunks(from, w->s, &w->err)
                              : b2c_schunk_copy_some(from, some, 3, w->s, &w->err);
        }
        if (st != B2C_OK || i == 1) {
            b2c_schunk_free(from);
        }
    }
    return st;
}

static inline b2c_status world_meta_step(world *w, step kind)
{
    uint8_t value[4096] = { 0xC5, 0, 0 };
    char name[3] = "v0";
    size_t n = 50;
    if (kind == META) {
        n = w->scenario->has_long_header ? META_LEN : 10;
        value[0] = 0xC4;
        value[1] = (uint8_t)(n - 2);
        memcpy(value + 2, new_data(w, n), n - 2);
        return b2c_schunk_meta_update(w->s, w->scenario->has_long_header ? "m3" : "m0", value, n,
                                      &w->err);
    }
    n = kind == VLMETA_GROW ? 1000 + 1000 * (w->seed % 3) : n;
    value[1] = (uint8_t)((n - 3) >> 8);
    value[2] = (uint8_t)(n - 3);
    memcpy(value + 3, new_data(w, w->chunk_len * 4), n - 3);
    name[1] = (char)(kind == VLMETA_GROW ? '1' + (int)(w->seed % 3) : '0');
    return b2c_schunk_vlmeta_set(w->s, w->ctx, name, value, n, &w->err);
}

static inline b2c_status world_special_step(world *w, step kind, uint64_t n)
{
    static const uint8_t value[TYPESIZE] = { 1, 2, 3, 4 };
    uint64_t some = w->chunk_len * 5 / 2 / TYPESIZE * TYPESIZE;
    switch (kind) {
    case APPEND_ZEROS:
        return b2c_schunk_fill_special(w->s, w->chunk_len, B2C_SPECIAL_ZERO, NULL, &w->err);
    case UPDATE_ZEROS:
        return b2c_schunk_update_special(w->s, w->seed % n, B2C_SPECIAL_ZERO, NULL, &w->err);
    case UPDATE_VALUE:
        return b2c_schunk_update_special(w->s, w->seed % n, B2C_SPECIAL_VALUE, value, &w->err);
    case FILL:
        return b2c_schunk_fill_special(w->s, some, B2C_SPECIAL_ZERO, NULL, &w->err);
    default:
        return b2c_schunk_fill_special(w->s, some, B2C_SPECIAL_VALUE, value, &w->err);
    }
}

/* The data of a block that nobody has given. */
static inline int world_make(void *user, const b2c_block *block, const void *src, void *dst,
                             size_t n)
{
    (void)block;
    (void)src;
    memcpy(dst, new_data(user, n), n);
    return 0;
}

/* A chunk that is compressed already. */
static inline b2c_status world_chunk_step(world *w, step kind, uint64_t nchunks)
{
    uint8_t chunk[SMALL_CHUNK + B2C_HEADER_LEN];
    size_t len = 0;
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.typesize = TYPESIZE;
    b2c_status st = b2c_compress(w->ctx, &cp, new_data(w, SMALL_CHUNK), SMALL_CHUNK, chunk,
                                 sizeof chunk, &len, &w->err);
    if (st != B2C_OK) {
        return st;
    }
    uint64_t at = w->seed % nchunks;
    return kind == INSERT_CHUNK ? b2c_schunk_insert_chunk(w->s, at, chunk, len, &w->err)
                                : b2c_schunk_update_chunk(w->s, at, chunk, len, &w->err);
}

static inline b2c_status world_data_step(world *w, step kind, uint64_t nchunks, uint64_t nbytes)
{
    size_t n = w->chunk_len, part = n * 2 / 5;
    uint64_t at = nbytes - nbytes * 1 / 3;
    switch (kind) {
    case APPEND_SHORT:
        return b2c_schunk_append(w->s, w->ctx, new_data(w, part), part, &w->err);
    case INSERT:
        return b2c_schunk_insert(w->s, w->ctx, w->seed % nchunks, new_data(w, n), n, &w->err);
    case UPDATE:
        return b2c_schunk_update(w->s, w->ctx, w->seed % nchunks, new_data(w, n), n, &w->err);
    case UPDATE_SHORT:
        return b2c_schunk_update(w->s, w->ctx, 0, new_data(w, part), part, &w->err);
    case DELETE:
        return b2c_schunk_delete_chunk(w->s, w->seed % nchunks, &w->err);
    case WRITE:
        return b2c_schunk_write(w->s, w->ctx, n / 2, new_data(w, n * 2), n * 2, &w->err);
    case WRITE_END:
        return b2c_schunk_write(w->s, w->ctx, at, new_data(w, n * 4), n * 4, &w->err);
    case TRUNCATE:
        return b2c_schunk_truncate(w->s, w->ctx, at, &w->err);
    default:
        return b2c_schunk_truncate(w->s, w->ctx, 0, &w->err);
    }
}

static inline b2c_status world_vlblocks(world *w)
{
    const uint8_t *p = new_data(w, w->chunk_len);
    const void *blocks[] = { p, p + 100, p + 101 };
    const size_t lens[] = { 100, 1, 50 + w->seed * 37 % 800 };
    return b2c_schunk_append_vlblocks(w->s, w->ctx, blocks, lens, 3, &w->err);
}

/* Single items of several chunks. */
static inline b2c_status world_nd_places(world *w, const b2c_nd *nd)
{
    const uint64_t coords[] = { 0, 0, nd->shape[0] - 1, 2, 2, nd->shape[1] - 1 };
    const b2c_nd_places places = {
        .size = sizeof places, .naxes = 2, .axes = { 0, 1 }, .nplaces = 3, .coords = coords
    };
    return b2c_nd_write_places(w->s, w->ctx, nd, &places, new_data(w, 3 * TYPESIZE), 3 * TYPESIZE,
                               &w->err);
}

/* A box across chunks, some of which it holds all items of; another shape. */
static inline b2c_status world_nd_step(world *w, step kind)
{
    static const uint64_t one[2] = { 1, 1 }, large[2] = { ND_ROWS, ND_COLS },
                          small[2] = { ND_FEW_ROWS, ND_FEW_COLS };
    b2c_nd nd = { .size = sizeof nd };
    b2c_status st = b2c_nd_from_schunk(w->s, &nd, &w->err);
    if (st != B2C_OK) {
        return st;
    }
    if (kind == ND_PLACES) {
        return world_nd_places(w, &nd);
    }
    if (kind == ND_APPEND) {
        size_t len = (size_t)(8 * nd.shape[1] * TYPESIZE);
        return b2c_nd_append(w->s, w->ctx, &nd, 0, 8, new_data(w, len), len, &w->err);
    }
    if (kind != ND_WRITE) {
        return b2c_nd_resize(w->s, w->ctx, &nd, kind == ND_GROW ? large : small, &w->err);
    }
    const uint64_t start[2] = { 3, 0 }, count[2] = { nd.shape[0] - 3, nd.shape[1] / 2 + 3 };
    size_t n = (size_t)(count[0] * count[1] * TYPESIZE);
    return b2c_nd_write(w->s, w->ctx, &nd, start, count, one, new_data(w, n), n, &w->err);
}

/* Makes the frame of an array one of variable sizes, with the same chunks. */
static inline b2c_status world_vary(world *w)
{
    b2c_error ignored;
    b2c_status st = b2c_schunk_begin(w->s, &w->err);
    if (st != B2C_OK) {
        return st;
    }
    st = b2c_schunk_insert(w->s, w->ctx, 1, new_data(w, 100), 100, &w->err);
    if (st == B2C_OK) {
        st = b2c_schunk_delete_chunk(w->s, 1, &w->err);
    }
    if (st == B2C_OK) {
        return b2c_schunk_commit(w->s, &w->err);
    }
    (void)!b2c_schunk_rollback(w->s, &ignored);
    return st;
}

static inline b2c_status world_close(world *w)
{
    b2c_schunk *s = w->s;
    w->s = NULL;
    return b2c_schunk_close(s, &w->err);
}

/* Somebody else appends, and this one looks. */
static inline b2c_status world_other(world *w)
{
    world other = *w;
    int change;
    other.s = NULL;
    b2c_status st = world_open(&other);
    if (st == B2C_OK) {
        st = world_append(&other);
    }
    if (st == B2C_OK) {
        st = world_close(&other);
    }
    b2c_schunk_free(other.s);
    w->seed = other.seed;
    w->err = other.err;
    return st != B2C_OK ? st : b2c_schunk_refresh(w->s, &change, &w->err);
}

/* B2C_E_INTERNAL when 's' does not hold what the world's does. */
static inline b2c_status world_compare(world *w, const b2c_schunk *s)
{
    content found = { { 0 }, 0 }, expected = { { 0 }, 0 };
    b2c_status st = content_of(s, w->ctx, &found, &w->err);
    if (st == B2C_OK) {
        st = content_of(w->s, w->ctx, &expected, &w->err);
    }
    if (st == B2C_OK && !content_equal(&found, &expected)) {
        st = B2C_E_INTERNAL;
    }
    content_free(&found);
    content_free(&expected);
    return st;
}

/* What the reader shows can be read afterwards, and is what the writer has stored. */
static inline b2c_status world_reader_step(world *w, step kind)
{
    content found = { { 0 }, 0 };
    int change;
    b2c_status st = B2C_OK;
    if (kind == LOOK) {
        return b2c_schunk_open(w->path, 0, B2C_OPEN_READ, NULL, &w->reader, &w->err);
    }
    if (kind == REFRESH) {
        st = b2c_schunk_refresh(w->reader, &change, &w->err);
        return st == B2C_OK ? world_compare(w, w->reader) : st;
    }
    if (!b2c_schunk_is_current(w->reader)) {
        st = b2c_schunk_recheck(w->reader, &change, &w->err);
    }
    st = st == B2C_OK ? content_of(w->reader, w->ctx, &found, &w->err) : st;
    content_free(&found);
    return st;
}

static inline b2c_status world_verify(world *w)
{
    b2c_schunk_info info;
    uint64_t nsound, nunverified;
    b2c_schunk_info_get(w->s, &info);
    b2c_status st =
        b2c_schunk_verify_chunks(w->s, w->ctx, 0, info.nchunks, &nsound, &nunverified, &w->err);
    return st == B2C_OK && nsound != info.nchunks ? B2C_E_INTERNAL : st;
}

static inline b2c_status world_to_frame(world *w)
{
    b2c_schunk *copy = NULL;
    uint8_t *frame = NULL;
    size_t n;
    b2c_status st = b2c_schunk_to_frame(w->s, NULL, 0, &n, &w->err);
    if (st == B2C_E_OUTPUT_SIZE) {
        frame = need(malloc(n));
        st = b2c_schunk_to_frame(w->s, frame, n, &n, &w->err);
    }
    if (st == B2C_OK) {
        st = b2c_schunk_open_mem(frame, n, 0, NULL, &copy, &w->err);
    }
    st = st == B2C_OK ? world_compare(w, copy) : st;
    b2c_schunk_free(copy);
    free(frame);
    return st;
}

/* Functions of a user's, which fail as the library's calls do. */
static inline int world_read_at(void *handle, uint64_t at, void *dst, size_t n)
{
    if (b2i_io_fails(&(b2i_io_event){ .call = B2I_CALL_READ, .n = n })) {
        return errno;
    }
    return pread(*(int *)handle, dst, n, (off_t)at) == (ssize_t)n ? 0 : EPROTO;
}

static inline int world_size(void *handle, uint64_t *size)
{
    struct stat info;
    if (b2i_io_fails(&(b2i_io_event){ .call = B2I_CALL_LOOK })) {
        return errno;
    }
    *size = fstat(*(int *)handle, &info) == 0 ? (uint64_t)info.st_size : 0;
    return 0;
}

static inline b2c_status world_open_io(world *w)
{
    b2c_schunk *s = NULL;
    int fd = open(w->path, O_RDONLY);
    b2c_io_table table = { &fd, world_read_at, world_size, NULL };
    b2c_status st = b2c_schunk_open_io(&table, 0, NULL, &s, &w->err);
    st = st == B2C_OK ? world_compare(w, s) : st;
    b2c_schunk_free(s);
    (void)close(fd);
    return st;
}

static inline b2c_status world_step(world *w, step kind)
{
    b2c_schunk_info info = { 0 };
    w->err = (b2c_error){ 0 };
    if (w->s != NULL) {
        b2c_schunk_info_get(w->s, &info);
    }
    switch (kind) {
    case CREATE:
        return world_create(w);
    case REPLACE:
        return world_replace(w);
    case OPEN:
        return world_open(w);
    case CLOSE:
        return world_close(w);
    case APPEND:
        return world_append(w);
    case REORDER:
        return world_reorder(w, info.nchunks);
    case TRANSACTION:
    case ROLLBACK:
        return world_transaction(w, kind == TRANSACTION);
    case ROLLBACK_SYNCED:
        return world_rollback_synced(w);
    case VLBLOCKS:
        return world_vlblocks(w);
    case ND_WRITE:
    case ND_GROW:
    case ND_SHRINK:
    case ND_APPEND:
    case ND_PLACES:
        return world_nd_step(w, kind);
    case ND_VARY:
        return world_vary(w);
    case OTHER:
        return world_other(w);
    case LOOK:
    case REFRESH:
    case RECHECK:
        return world_reader_step(w, kind);
    case VERIFY:
        return world_verify(w);
    case TO_FRAME:
        return world_to_frame(w);
    case OPEN_IO:
        return world_open_io(w);
    case UNCHECKED:
    case CHECKED:
        return b2c_schunk_set_checksums(w->s, kind == CHECKED, 1, &w->err);
    case COPY:
    case COPY_SOME:
        return world_copy(w, kind);
    case MADE:
        return b2c_schunk_fill(w->s, w->ctx, w->chunk_len * 2, world_make, w, &w->err);
    case META_ADD:
        return b2c_schunk_meta_add(w->s, "added", "\xC4\3abc", 5, &w->err);
    case INSERT_CHUNK:
    case UPDATE_CHUNK:
        return world_chunk_step(w, kind, info.nchunks);
    case FLUSH:
        return b2c_schunk_flush(w->s, &w->err);
    case SETTLE:
        return b2c_schunk_settle(w->s, &w->err);
    case COMPACT:
        return b2c_schunk_compact(w->s, &w->err);
    case VLMETA_DELETE:
        return b2c_schunk_vlmeta_delete(w->s, "v0", &w->err);
    case META:
    case VLMETA_SET:
    case VLMETA_GROW:
        return world_meta_step(w, kind);
    case APPEND_ZEROS:
    case UPDATE_ZEROS:
    case UPDATE_VALUE:
    case FILL:
    case FILL_VALUE:
        return world_special_step(w, kind, info.nchunks);
    default:
        return world_data_step(w, kind, info.nchunks, info.nbytes);
    }
}

/* B2C_EVERY: slow machines and emulators look at every n-th case only. */
static inline unsigned world_every(void)
{
    const char *number = getenv("B2C_EVERY");
    unsigned every = number == NULL ? 1 : (unsigned)strtoul(number, NULL, 10);
    return every == 0 ? 1 : every;
}

#endif
