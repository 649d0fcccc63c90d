/*
 * fuzz_others.c: any edits of a frame that somebody else made, which may be damaged.  One that
 * fails leaves all as it was, one that works changes what it is about and nothing else, and what is
 * stored is what the handle shows.
 * Input: u8 options, u8 number of edits, three bytes for each, then as in fuzz_place.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

enum { MAX_CHUNKS = 40, MAX_EDITS = 12, MAX_METAS = 40, ANY_CHUNK = -1, OP_LEN = 3 };
enum { BEGIN = 15, END, COMPACT, CHECKSUMS = 19, FLUSH = 22, NOPS = 24 };
enum { LOCKED = 1, COPIED = 2, MAPPED = 4, UNVERIFIED = 8, COMMITS = 16 };

/* What a handle shows: a hash of each chunk and vlmetalayer, 0 of those that cannot be read. */
typedef struct view {
    uint64_t nchunks, nbytes;
    uint64_t chunks[MAX_CHUNKS];
    uint64_t lens[MAX_CHUNKS];
    uint32_t nmetas;
    uint64_t metas[MAX_METAS];
    int is_readable; /* all of it */
    int is_shared;   /* a chunk reaches into another one: this is known until the first edit only */
} view;

static uint64_t hash_of(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 0x100000001B3u;
    }
    return h | 1;
}

static int is_small(const b2c_schunk *s)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    return info.nchunks <= MAX_CHUNKS && info.nvlmeta <= MAX_METAS;
}

/* Parts of a chunk are as in the whole, and can be had when it is sound. */
static void check_parts(const b2c_schunk *s, uint64_t i, int64_t chunksize, const uint8_t *chunk,
                        size_t n)
{
    b2c_error err;
    int has_checksum;
    b2c_status sound = b2c_schunk_verify_chunk(s, fuzz_ctx(), i, &has_checksum, &err);
    fuzz_check_error(sound, &err);
    for (size_t at = 0; at < n && chunksize > 0; at += n / 4 + 1) {
        uint8_t part[9];
        size_t len = n - at < sizeof part ? n - at : sizeof part;
        b2c_status st = b2c_schunk_read(s, fuzz_ctx(), i * (uint64_t)chunksize + at, len, part,
                                        sizeof part, &err);
        fuzz_check_error(st, &err);
        FUZZ_REQUIRE(st == B2C_OK || sound != B2C_OK);
        FUZZ_ALWAYS(st != B2C_OK || memcmp(part, chunk + at, len) == 0);
    }
}

static void look(const b2c_schunk *s, view *v)
{
    static uint8_t out[FUZZ_MAX_NBYTES];
    b2c_schunk_info info;
    b2c_error err;
    size_t len = 0;
    memset(v, 0, sizeof *v);
    b2c_schunk_info_get(s, &info);
    v->nchunks = info.nchunks;
    v->nbytes = info.nbytes;
    v->nmetas = info.nvlmeta;
    v->is_readable = 1;
    for (uint64_t i = 0; i < v->nchunks; i++) {
        b2c_chunk_info chunk;
        b2c_status st = b2c_schunk_decode_chunk(s, fuzz_ctx(), i, out, sizeof out, &len, &err);
        fuzz_check_error(st, &err);
        v->chunks[i] = st == B2C_OK ? hash_of(7, out, len) : 0;
        if (st == B2C_OK) {
            check_parts(s, i, info.chunksize, out, len);
        }
        v->is_readable = v->is_readable && st == B2C_OK;
        v->is_shared = v->is_shared || (st != B2C_OK && (strstr(err.what, "its place") != NULL ||
                                                         strstr(err.what, "cut short") != NULL));
        st = b2c_schunk_chunk_info(s, i, &chunk, &err);
        fuzz_check_error(st, &err);
        v->lens[i] = st == B2C_OK ? chunk.nbytes : 0;
    }
    for (uint32_t i = 0; i < v->nmetas; i++) {
        char name[32];
        FUZZ_REQUIRE(b2c_schunk_vlmeta_name(s, i, name, &err) == B2C_OK);
        b2c_status st = b2c_schunk_vlmeta_get(s, fuzz_ctx(), name, out, sizeof out, &len, &err);
        fuzz_check_error(st, &err);
        v->metas[i] = st == B2C_OK ? hash_of(hash_of(9, name, strlen(name)), out, len) : 0;
        v->is_readable = v->is_readable && st == B2C_OK;
    }
}

static int is_same(const view *a, const view *b)
{
    return a->nchunks == b->nchunks && a->nbytes == b->nbytes && a->nmetas == b->nmetas &&
           memcmp(a->chunks, b->chunks, sizeof a->chunks) == 0 &&
           memcmp(a->metas, b->metas, sizeof a->metas) == 0;
}

/* Hashes that are equal, but for 0: what could not be read for one of them. */
static int agree(const uint64_t *a, const uint64_t *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (a[i] != b[i] && a[i] != 0 && b[i] != 0) {
            return 0;
        }
    }
    return 1;
}

static int open_it(const char *path, int mode, b2c_schunk **s)
{
    b2c_error err;
    b2c_limits limits = fuzz_limits();
    b2c_status st = b2c_schunk_open(path, 0, mode, &limits, s, &err);
    fuzz_check_error(st, &err);
    FUZZ_REQUIRE((st == B2C_OK) == (*s != NULL));
    return st == B2C_OK;
}

/* What is stored at path is what 'v' says. */
static void check_stored(const char *path, const view *v)
{
    static view stored;
    b2c_schunk *s = NULL;
    FUZZ_REQUIRE(open_it(path, B2C_OPEN_READ, &s));
    if (s != NULL) {
        look(s, &stored);
        FUZZ_REQUIRE(is_same(&stored, v));
    }
    b2c_schunk_free(s);
}

/* ---- edits ---- */

typedef struct edit {
    unsigned op, a, b;
} edit;

static const uint8_t bytes[512] = "what somebody else writes";

static b2c_status edit_metas(b2c_schunk *s, const edit *e, b2c_error *err)
{
    char name[32] = "user";
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    if ((e->a & 1) != 0 && info.nvlmeta > 0) {
        (void)b2c_schunk_vlmeta_name(s, e->a % info.nvlmeta, name, NULL);
    }
    return e->a & 2 ? b2c_schunk_vlmeta_delete(s, name, err)
                    : b2c_schunk_vlmeta_set(s, fuzz_ctx(), name, bytes, e->b, err);
}

static b2c_status edit_array(b2c_schunk *s, const edit *e, b2c_error *err)
{
    b2c_nd nd = { .size = sizeof nd };
    uint64_t start[16] = { 0 }, one[16], shape[16];
    b2c_status st = b2c_nd_from_schunk(s, &nd, err);
    if (st != B2C_OK) {
        return st;
    }
    for (uint32_t d = 0; d < nd.ndim; d++) {
        one[d] = 1;
        start[d] = nd.shape[d] == 0 ? 0 : e->b % nd.shape[d];
        shape[d] = d == e->a % nd.ndim ? (nd.shape[d] > 1000 ? 3 : e->b % 40) : nd.shape[d];
    }
    if (b2c_nd_chunksize(&nd) > FUZZ_MAX_NBYTES || nd.itemsize > sizeof bytes) {
        return B2C_E_LIMIT;
    }
    return e->a & 64 ? b2c_nd_write(s, fuzz_ctx(), &nd, start, one, one, bytes, nd.itemsize, err)
                     : b2c_nd_resize(s, fuzz_ctx(), &nd, shape, err);
}

static b2c_status reorder(b2c_schunk *s, const edit *e, uint64_t nchunks, b2c_error *err)
{
    uint64_t order[MAX_CHUNKS];
    for (uint64_t i = 0; i < nchunks; i++) {
        order[i] = (i + e->a) % nchunks;
    }
    return b2c_schunk_reorder(s, order, nchunks, err);
}

/* Chunks in memory that come back as they are. */
static b2c_status copy_of_all(b2c_schunk *s, b2c_error *err)
{
    b2c_schunk_params params;
    b2c_schunk_info info;
    b2c_schunk *other = NULL;
    b2c_schunk_params_init(&params);
    b2c_schunk_info_get(s, &info);
    params.chunksize = info.chunksize;
    params.cparams = info.cparams;
    b2c_status st = b2c_schunk_new(&params, &other, err);
    if (st == B2C_OK) {
        st = b2c_schunk_copy_chunks(s, other, err);
        view here, there;
        look(s, &here);
        if (st == B2C_OK) {
            look(other, &there);
            FUZZ_REQUIRE(!here.is_readable || is_same(&here, &there));
        }
        b2c_schunk_free(other);
    }
    return st;
}

static b2c_status edit_vlblocks(b2c_schunk *s, const edit *e, b2c_error *err)
{
    const void *blocks[3] = { bytes, bytes + 8, bytes + 16 };
    size_t lens[3] = { e->a + 1u, e->b + 1u, 5 };
    return b2c_schunk_append_vlblocks(s, fuzz_ctx(), blocks, lens, 1 + e->a % 3, err);
}

/* Makes one edit.  *at is the chunk that it is about, or ANY_CHUNK. */
static b2c_status make(b2c_schunk *s, const edit *e, const view *v, int64_t *at, b2c_error *err)
{
    uint64_t k = v->nchunks == 0 ? 0 : e->a % (v->nchunks + 1);
    size_t n = v->nchunks > 0 && (e->b & 1) ? (size_t)v->lens[k % v->nchunks] : e->b;
    n = n < sizeof bytes ? n : sizeof bytes;
    uint8_t chunk[300];
    size_t len = 0;
    int lost;
    *at = ANY_CHUNK;
    switch (e->op % NOPS) {
    case 0:
    case 1:
        *at = (int64_t)v->nchunks;
        return b2c_schunk_append(s, fuzz_ctx(), bytes, n, err);
    case 2:
        return b2c_schunk_insert(s, fuzz_ctx(), k, bytes, n, err);
    case 3:
    case 4:
        *at = (int64_t)k;
        return b2c_schunk_update(s, fuzz_ctx(), k, bytes, n, err);
    case 5:
        return b2c_schunk_delete_chunk(s, k, err);
    case 6:
        return reorder(s, e, v->nchunks, err);
    case 7:
        return b2c_schunk_fill_special(s, 40u * e->a, 1 + e->b % 4, bytes, err);
    case 8:
        *at = (int64_t)k;
        return b2c_schunk_update_special(s, k, 1 + e->b % 4, bytes, err);
    case 9:
        return b2c_schunk_write(s, fuzz_ctx(), v->nbytes * e->a / 256, bytes, e->b, err);
    case 10:
        return b2c_schunk_truncate(s, fuzz_ctx(), v->nbytes * e->a / 256, err);
    case 11:
        return edit_metas(s, e, err);
    case 12:
        return edit_array(s, e, err);
    case 13:
        if (b2c_schunk_get_chunk(s, k, chunk, sizeof chunk, &len, NULL) == B2C_OK) {
            return e->b & 1 ? b2c_schunk_append_chunk(s, chunk, len, err)
                            : b2c_schunk_update_chunk(s, e->b, chunk, len, err);
        }
        return B2C_E_LIMIT;
    case 14:
        return edit_vlblocks(s, e, err);
    case BEGIN:
        return b2c_schunk_begin(s, err);
    case END:
        return e->a & 1 ? b2c_schunk_commit(s, err) : b2c_schunk_rollback(s, err);
    case COMPACT:
        return b2c_schunk_compact(s, err);
    case 18:
        return b2c_schunk_recheck(s, &lost, err);
    case CHECKSUMS:
        return b2c_schunk_set_checksums(s, e->a & 1, e->b & 1, err);
    case 20:
        return copy_of_all(s, err);
    case 21:
        return b2c_schunk_set_durability(s, 1 + e->a % 2, err);
    case FLUSH:
        return b2c_schunk_flush(s, err);
    default:
        return b2c_schunk_settle(s, err);
    }
}

static int is_store(unsigned op)
{
    return op == COMPACT || op >= FLUSH;
}

/* What was found and done so far. */
typedef struct state {
    view now;       /* what the handle shows */
    view committed; /* what must be stored */
    int in_transaction, is_broken, is_failed;
    int is_unverified; /* what is stored need not be the same for another handle */
} state;

/* Whether what is stored is shown; without checksums, also chunks that do not fit theirs. */
static int is_committed(const state *t, const view *v)
{
    const view *c = &t->committed;
    return is_same(c, v) ||
           (t->is_unverified && c->nchunks == v->nchunks && c->nbytes == v->nbytes &&
            c->nmetas == v->nmetas && agree(c->chunks, v->chunks, v->nchunks) &&
            agree(c->metas, v->metas, v->nmetas));
}

/* One edit and what must be true afterwards. */
static void step(b2c_schunk *s, const edit *e, state *t)
{
    static view after;
    b2c_error err = { .status = B2C_OK };
    int64_t at;
    unsigned op = e->op % NOPS;
    b2c_status st = make(s, e, &t->now, &at, &err);
    if (st != B2C_OK && err.status != B2C_OK) {
        fuzz_check_error(st, &err);
    }
    if (!is_small(s)) {
        t->is_unverified = 1;
        return;
    }
    look(s, &after);
    if (st == B2C_OK && at != ANY_CHUNK) {
        for (uint64_t i = 0; i < t->now.nchunks; i++) {
            FUZZ_REQUIRE((int64_t)i == at || after.chunks[i] == t->now.chunks[i]);
        }
    }
    FUZZ_REQUIRE(st != B2C_OK || !is_store(op) || is_same(&after, &t->now));
    int is_partial = st != B2C_OK && op != END && !is_same(&after, &t->now);
    if (is_partial && t->in_transaction) {
        t->is_broken = 1; /* it can only be rolled back */
    } else if (is_partial) {
        /* the edit was made but could not be stored: no further one is taken */
        FUZZ_REQUIRE(b2c_schunk_append(s, fuzz_ctx(), bytes, 4, &err) == B2C_E_READ_ONLY);
        t->is_failed = 1;
    }
    if (op == END && t->in_transaction) {
        int is_commit = e->a & 1;
        FUZZ_REQUIRE(st != B2C_OK || !is_commit || !t->is_broken);
        FUZZ_REQUIRE(st != B2C_OK || is_commit || is_committed(t, &after));
        FUZZ_REQUIRE(!is_commit || !t->is_broken || is_committed(t, &after));
        t->is_failed = t->is_failed || (st != B2C_OK && !t->is_broken);
        t->is_broken = 0;
    }
    t->in_transaction = st == B2C_OK && op == BEGIN ? 1 : op == END ? 0 : t->in_transaction;
    t->is_unverified = t->is_unverified || op == CHECKSUMS;
    t->now = after;
    if (!t->in_transaction && !t->is_failed) {
        t->committed = after;
    }
}

static void run(const fuzz_place *place, unsigned options, const uint8_t *script, size_t nedits)
{
    static state t;
    static view first;
    b2c_schunk *s = NULL;
    b2c_error err;
    memset(&t, 0, sizeof t);
    int mode = options & COPIED   ? B2C_OPEN_COPY
               : options & LOCKED ? B2C_OPEN_UPDATE | B2C_OPEN_LOCK
                                  : B2C_OPEN_UPDATE;
    mode |= options & MAPPED ? B2C_OPEN_MMAP : 0;
    if (!open_it(place->path, mode, &s) || !is_small(s)) {
        b2c_schunk_free(s);
        return;
    }
    if (options & UNVERIFIED) {
        t.is_unverified = 1;
        (void)b2c_schunk_set_checksums(s, 1, 0, NULL);
    }
    if (options & COMMITS) {
        (void)b2c_schunk_set_durability(s, B2C_DURABILITY_COMMIT, NULL);
    }
    look(s, &t.now);
    first = t.committed = t.now;
    for (size_t i = 0; i < nedits && is_small(s) && !first.is_shared; i++) {
        const uint8_t *p = script + OP_LEN * i;
        edit e = { p[0], p[1], p[2] };
        step(s, &e, &t);
        if (is_store(e.op % NOPS) && !t.in_transaction && !t.is_unverified && !(options & COPIED)) {
            check_stored(place->path, &t.committed);
        }
    }
    b2c_status st = b2c_schunk_close(s, &err); /* forgets a transaction */
    fuzz_check_error(st, &err);
    if (!t.is_unverified) {
        check_stored(place->path, options & COPIED ? &first : &t.committed);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_place place;
    size_t nedits = n < 2 ? 0 : data[1] % (MAX_EDITS + 1), head = 2 + OP_LEN * nedits;
    if (n < 2 || n < head || !fuzz_place_make(&place, "others", data + head, n - head)) {
        return 0;
    }
    run(&place, data[0], data + 2, nedits);
    fuzz_remove(place.dir);
    return 0;
}
