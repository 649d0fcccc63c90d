/*
 * fuzz_array.c: writes to an array that somebody else made, which may be damaged, and other shapes
 * of it, also with new items.  Its items are at any time those of a plain copy that the same was
 * done to; one that fails leaves all as it was.
 * Input: u8 options, u8 number of edits, EDIT_LEN bytes for each, then as in fuzz_place.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

enum { MAX_DIM = 16, MAX_BYTES = 1 << 14, MAX_EDITS = 12, EDIT_LEN = 4, MAX_AXIS = 40 };
enum { LOCKED = 1, COPIED = 2, MAPPED = 4, UNVERIFIED = 8, COMMITS = 16 };
enum { WRITE, PLACES = 3, LISTS = 5, RESIZE, BEGIN = 9, END, FLUSH, COMPACT, SETTLE, APPEND, NOPS };

typedef struct edit {
    unsigned op, a, b, c;
} edit;

enum { NO, YES, MAYBE };

/* An array as a C-ordered one, without the items that cannot be read. */
typedef struct model {
    b2c_nd nd;
    size_t nitems;
    uint8_t items[MAX_BYTES];
    uint8_t is_known[MAX_BYTES]; /* NO, YES or MAYBE */
    bool is_whole;               /* all of it can be read at once, padding of its chunks too */
    bool is_shared; /* a chunk reaches into another one: this is known until the first edit only */
} model;

/* ---- boxes of items ---- */

typedef struct box {
    uint64_t start[MAX_DIM], count[MAX_DIM], step[MAX_DIM];
} box;

static size_t product(const uint64_t *v, uint32_t n)
{
    size_t all = 1;
    for (uint32_t d = 0; d < n; d++) {
        all *= (size_t)v[d];
    }
    return all;
}

/* The next place of a C-ordered walk over 'count'. */
static void advance(uint64_t *index, const uint64_t *count, uint32_t ndim)
{
    for (uint32_t d = ndim; d-- > 0 && ++index[d] == count[d];) {
        index[d] = 0;
    }
}

static size_t number_of(const b2c_nd *nd, const uint64_t *coord)
{
    size_t at = 0;
    for (uint32_t d = 0; d < nd->ndim; d++) {
        at = at * (size_t)nd->shape[d] + (size_t)coord[d];
    }
    return at;
}

/* Some number of an edit for an axis. */
static uint64_t choose(const edit *e, unsigned axis, unsigned what)
{
    unsigned x = (e->a + 5 * axis) ^ (e->b * (what + 1)) ^ (e->c << (axis % 3 * (what & 1)));
    return x & 255;
}

/* A box inside of the array, or all of it. */
static box choose_box(const b2c_nd *nd, const edit *e)
{
    box x;
    for (uint32_t d = 0; d < nd->ndim; d++) {
        uint64_t n = nd->shape[d];
        x.start[d] = n == 0 || e->c == 255 ? 0 : choose(e, d, 0) % n;
        x.step[d] = e->c >= 128 ? 1 : 1 + choose(e, d, 2) % 3;
        uint64_t most = n == 0 ? 0 : (n - x.start[d] - 1) / x.step[d] + 1;
        x.count[d] = e->c == 255 ? most : choose(e, d, 1) % (most + 1);
    }
    return x;
}

/* ---- what the library says ---- */

static bool fits(const b2c_nd *nd)
{
    uint64_t n = nd->itemsize;
    for (uint32_t d = 0; d < nd->ndim; d++) {
        if (nd->shape[d] > MAX_BYTES || n * nd->shape[d] > MAX_BYTES) {
            return false;
        }
        n *= nd->shape[d];
    }
    return n <= MAX_BYTES && b2c_nd_chunksize(nd) <= FUZZ_MAX_NBYTES && b2c_nd_nchunks(nd) <= 512;
}

static void look_at_items(const b2c_schunk *s, model *m)
{
    uint64_t coord[MAX_DIM] = { 0 };
    b2c_error err;
    for (size_t i = 0; i < m->nitems; i++) {
        b2c_status st = b2c_nd_read_item(s, fuzz_ctx(), &m->nd, coord, 0,
                                         m->items + i * m->nd.itemsize, m->nd.itemsize, &err);
        fuzz_check_error(st, &err);
        m->is_known[i] = st == B2C_OK ? YES : NO;
        m->is_shared = m->is_shared || (st != B2C_OK && (strstr(err.what, "its place") != NULL ||
                                                         strstr(err.what, "cut short") != NULL));
        advance(coord, m->nd.shape, m->nd.ndim);
    }
}

/* A box of some edit, as another way to read. */
static void check_box(const b2c_schunk *s, const model *m, const edit *e)
{
    static uint8_t out[MAX_BYTES];
    box x = choose_box(&m->nd, e);
    uint64_t index[MAX_DIM] = { 0 }, coord[MAX_DIM];
    size_t size = m->nd.itemsize, n = product(x.count, m->nd.ndim);
    b2c_error err;
    bool is_known = true;
    b2c_status st =
        b2c_nd_read(s, fuzz_ctx(), &m->nd, x.start, x.count, x.step, out, sizeof out, &err);
    fuzz_check_error(st, &err);
    for (size_t i = 0; i < n; i++, advance(index, x.count, m->nd.ndim)) {
        for (uint32_t d = 0; d < m->nd.ndim; d++) {
            coord[d] = x.start[d] + index[d] * x.step[d];
        }
        size_t at = number_of(&m->nd, coord);
        is_known = is_known && m->is_known[at] == YES;
        FUZZ_REQUIRE(st != B2C_OK || memcmp(out + i * size, m->items + at * size, size) == 0);
    }
    FUZZ_REQUIRE(st == B2C_OK ? is_known : !m->is_whole); /* blocks of chunks may be smaller */
}

/* False when it is no array, or too large a one. */
static bool look(const b2c_schunk *s, model *m, const edit *e)
{
    box x;
    b2c_error err;
    memset(m, 0, sizeof *m);
    m->nd.size = sizeof m->nd;
    b2c_status st = b2c_nd_from_schunk(s, &m->nd, &err);
    fuzz_check_error(st, &err);
    if (st != B2C_OK || !fits(&m->nd)) {
        return false;
    }
    m->nitems = product(m->nd.shape, m->nd.ndim);
    x = choose_box(&m->nd, &(edit){ .c = 255 });
    st = b2c_nd_read(s, fuzz_ctx(), &m->nd, x.start, x.count, x.step, m->items, MAX_BYTES, &err);
    fuzz_check_error(st, &err);
    memset(m->is_known, YES, sizeof m->is_known);
    m->is_whole = st == B2C_OK;
    if (!m->is_whole) {
        look_at_items(s, m);
    }
    check_box(s, m, e);
    return true;
}

/* Whether what was found is what it has to be. */
static bool is_same(const model *a, const model *must)
{
    size_t size = a->nd.itemsize;
    bool same = memcmp(&a->nd, &must->nd, sizeof a->nd) == 0;
    for (size_t i = 0; same && i < a->nitems; i++) {
        same = (a->is_known[i] == must->is_known[i] || must->is_known[i] == MAYBE) &&
               (a->is_known[i] == NO ||
                memcmp(a->items + i * size, must->items + i * size, size) == 0);
    }
    return same;
}

static b2c_schunk *open_it(const char *path, int mode)
{
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_limits limits = fuzz_limits();
    b2c_status st = b2c_schunk_open(path, 0, mode, &limits, &s, &err);
    fuzz_check_error(st, &err);
    FUZZ_REQUIRE((st == B2C_OK) == (s != NULL));
    return s;
}

static void check_stored(const char *path, const model *m, const edit *e)
{
    static model stored;
    b2c_schunk *s = open_it(path, B2C_OPEN_READ);
    FUZZ_REQUIRE(s != NULL);
    if (s != NULL) {
        FUZZ_REQUIRE(look(s, &stored, e));
        FUZZ_REQUIRE(is_same(&stored, m));
    }
    b2c_schunk_free(s);
}

/* ---- edits of the array, and of the model as if they worked ---- */

static uint8_t content[MAX_BYTES];

/* What an edit writes: one item again and again, zeros too, or one after the other. */
static void make_content(const edit *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        content[i] = e->b % 3 == 0 ? (uint8_t)e->a % 2 : (uint8_t)(e->a + i * (e->c | 1));
    }
}

static void put(model *m, const uint64_t *coord, const uint8_t *item)
{
    size_t at = number_of(&m->nd, coord);
    memcpy(m->items + at * m->nd.itemsize, item, m->nd.itemsize);
    m->is_known[at] = YES;
}

static b2c_status write_box(b2c_schunk *s, const edit *e, model *m, b2c_error *err)
{
    box x = choose_box(&m->nd, e);
    uint64_t index[MAX_DIM] = { 0 }, coord[MAX_DIM];
    size_t size = m->nd.itemsize, n = product(x.count, m->nd.ndim);
    make_content(e, n * size);
    for (size_t i = 0; i < n; i++, advance(index, x.count, m->nd.ndim)) {
        for (uint32_t d = 0; d < m->nd.ndim; d++) {
            coord[d] = x.start[d] + index[d] * x.step[d];
        }
        put(m, coord, content + i * size);
    }
    return b2c_nd_write(s, fuzz_ctx(), &m->nd, x.start, x.count, x.step, content, n * size, err);
}

/* Single items, the last one for a place that comes again. */
static b2c_status write_places(b2c_schunk *s, const edit *e, model *m, b2c_error *err)
{
    enum { NPLACES = 5 };
    uint64_t coords[NPLACES * MAX_DIM];
    uint32_t ndim = m->nd.ndim;
    b2c_nd_places places = { .size = sizeof places,
                             .naxes = ndim,
                             .nplaces = m->nitems == 0 ? 0 : NPLACES,
                             .coords = coords };
    size_t size = m->nd.itemsize, n = (size_t)places.nplaces;
    if (n * size > MAX_BYTES) {
        return B2C_E_LIMIT;
    }
    make_content(e, n * size);
    for (uint32_t d = 0; d < ndim; d++) {
        places.axes[d] = d;
    }
    for (size_t i = 0; i < n; i++) {
        for (uint32_t d = 0; d < ndim; d++) {
            coords[i * ndim + d] = choose(e, d, (unsigned)i % 4) % m->nd.shape[d];
        }
        put(m, coords + i * ndim, content + i * size);
    }
    return b2c_nd_write_places(s, fuzz_ctx(), &m->nd, &places, content, n * size, err);
}

/* Rows: places along the first axis, a box along the others. */
static b2c_status write_lists(b2c_schunk *s, const edit *e, model *m, b2c_error *err)
{
    enum { NROWS = 3 };
    box x = choose_box(&m->nd, e);
    uint64_t rows[NROWS], index[MAX_DIM] = { 0 }, coord[MAX_DIM];
    if (m->nd.ndim == 0 || m->nitems == 0) {
        return B2C_E_LIMIT;
    }
    for (unsigned i = 0; i < NROWS; i++) {
        rows[i] = choose(e, 0, i) % m->nd.shape[0];
    }
    x.count[0] = NROWS;
    b2c_nd_places places = { .size = sizeof places,
                             .naxes = 1,
                             .nplaces = NROWS,
                             .coords = rows,
                             .start = x.start,
                             .count = x.count,
                             .step = x.step,
                             .ncoords = e->b & 1 ? x.count : NULL };
    size_t size = m->nd.itemsize, n = product(x.count, m->nd.ndim);
    if (n * size > MAX_BYTES) {
        return B2C_E_LIMIT;
    }
    make_content(e, n * size);
    for (size_t i = 0; i < n; i++, advance(index, x.count, m->nd.ndim)) {
        coord[0] = rows[index[0]];
        for (uint32_t d = 1; d < m->nd.ndim; d++) {
            coord[d] = x.start[d] + index[d] * x.step[d];
        }
        put(m, coord, content + i * size);
    }
    return b2c_nd_write_places(s, fuzz_ctx(), &m->nd, &places, content, n * size, err);
}

/* The model in another shape; new items are zeros. */
static void reshape(model *m, const b2c_nd *now)
{
    static model old;
    uint64_t coord[MAX_DIM] = { 0 };
    size_t size = now->itemsize;
    old = *m;
    m->nd = *now;
    m->nitems = product(now->shape, now->ndim);
    for (size_t i = 0; i < m->nitems; i++, advance(coord, now->shape, now->ndim)) {
        bool is_old = true, has_old = !old.is_whole; /* items of a chunk that may be damaged */
        for (uint32_t d = 0; d < now->ndim; d++) {
            is_old = is_old && coord[d] < old.nd.shape[d];
            has_old = has_old && coord[d] - coord[d] % now->chunks[d] < old.nd.shape[d];
        }
        size_t at = is_old ? number_of(&old.nd, coord) : 0;
        m->is_known[i] = is_old ? old.is_known[at] : has_old ? MAYBE : YES;
        memset(m->items + i * size, 0, size);
        memcpy(m->items + i * size, old.items + at * size, is_old ? size : 0);
    }
}

static b2c_status resize(b2c_schunk *s, const edit *e, model *m, b2c_error *err)
{
    b2c_nd nd = m->nd, old = m->nd, now = m->nd;
    for (uint32_t d = 0; d < nd.ndim; d++) {
        if ((d == e->a % nd.ndim || e->c >= 128) && now.chunks[d] > 0) {
            now.shape[d] = choose(e, d, 1) % MAX_AXIS;
        }
    }
    if (!fits(&now)) {
        return B2C_E_LIMIT;
    }
    reshape(m, &now);
    b2c_status st = b2c_nd_resize(s, fuzz_ctx(), &nd, now.shape, err);
    FUZZ_ALWAYS(memcmp(&nd, st == B2C_OK ? &now : &old, sizeof nd) == 0);
    return st;
}

/* What is no append: too many items for an axis, or no axis. */
static b2c_status append_wrongly(b2c_schunk *s, const edit *e, const model *m, b2c_error *err)
{
    b2c_nd nd = m->nd;
    uint32_t ndim = nd.ndim, axis = e->a % (ndim + 1);
    uint64_t n = axis == ndim ? 1 : UINT64_MAX - e->b * (uint64_t)e->b;
    b2c_status st = b2c_nd_append(s, fuzz_ctx(), &nd, axis, n, content, e->c, err);
    FUZZ_ALWAYS(st != B2C_OK && memcmp(&nd, &m->nd, sizeof nd) == 0);
    return st;
}

static b2c_status append(b2c_schunk *s, const edit *e, model *m, b2c_error *err)
{
    uint64_t index[MAX_DIM] = { 0 }, coord[MAX_DIM], count[MAX_DIM];
    b2c_nd nd = m->nd, old = m->nd, now = m->nd;
    uint32_t ndim = nd.ndim, axis = ndim == 0 ? 0 : e->a % ndim;
    size_t size = nd.itemsize;
    uint64_t n = e->b % MAX_AXIS;
    if (ndim == 0 || nd.chunks[axis] == 0 || e->c % 32 == 31) {
        return append_wrongly(s, e, m, err);
    }
    memcpy(count, nd.shape, sizeof count);
    count[axis] = n;
    now.shape[axis] += n;
    if (!fits(&now)) {
        return B2C_E_LIMIT;
    }
    size_t nitems = product(count, ndim), nbytes = nitems * size;
    bool is_wrong = e->c % 32 == 30; /* not the bytes of the items */
    make_content(e, nbytes);
    reshape(m, &now);
    for (size_t i = 0; i < nitems; i++, advance(index, count, ndim)) {
        memcpy(coord, index, sizeof coord);
        coord[axis] += old.shape[axis];
        put(m, coord, content + i * size);
    }
    b2c_status st = b2c_nd_append(s, fuzz_ctx(), &nd, axis, n, content, nbytes + is_wrong, err);
    FUZZ_ALWAYS(st != B2C_OK || !is_wrong);
    FUZZ_ALWAYS(memcmp(&nd, st == B2C_OK ? &now : &old, sizeof nd) == 0);
    return st;
}

/* Makes one edit, and in the model as if it worked.  B2C_E_LIMIT without an error: none. */
static b2c_status make(b2c_schunk *s, const edit *e, model *m, b2c_error *err)
{
    switch (e->op % NOPS) {
    case PLACES:
    case PLACES + 1:
        return write_places(s, e, m, err);
    case LISTS:
        return write_lists(s, e, m, err);
    case RESIZE:
    case RESIZE + 1:
    case RESIZE + 2:
        return resize(s, e, m, err);
    case BEGIN:
        return b2c_schunk_begin(s, err);
    case END:
        return e->a & 1 ? b2c_schunk_commit(s, err) : b2c_schunk_rollback(s, err);
    case FLUSH:
        return b2c_schunk_flush(s, err);
    case COMPACT:
        return b2c_schunk_compact(s, err);
    case SETTLE:
        return b2c_schunk_settle(s, err);
    case APPEND:
        return append(s, e, m, err);
    default:
        return write_box(s, e, m, err);
    }
}

/* ---- a script ---- */

typedef struct state {
    model now, committed;
    bool in_transaction, is_failed;
    int is_broken; /* the transaction, by a failure halfway: NO, YES or MAYBE */
} state;

static void step(b2c_schunk *s, const edit *e, state *t)
{
    static model wanted, found;
    b2c_error err = { .status = B2C_OK };
    unsigned op = e->op % NOPS;
    bool is_rollback = op == END && (e->a & 1) == 0;
    wanted = is_rollback && t->in_transaction ? t->committed : t->now;
    b2c_status st = make(s, e, &wanted, &err);
    if (st != B2C_OK && err.status != B2C_OK) {
        fuzz_check_error(st, &err);
    }
    FUZZ_REQUIRE(look(s, &found, e));
    if (st == B2C_OK) {
        FUZZ_REQUIRE(t->is_broken != YES || op != END || is_rollback);
        FUZZ_REQUIRE(is_same(&found, &wanted));
    } else if (!is_same(&found, &t->now)) {
        if (op == END && t->is_broken) {
            FUZZ_REQUIRE(is_same(&found, &t->committed)); /* there was nothing else to do */
        } else if (t->in_transaction && op != END) {
            FUZZ_REQUIRE(op != APPEND || t->is_broken); /* it takes itself back */
            t->is_broken = YES;                         /* it can only be rolled back */
        } else {
            /* the edit was made but could not be stored: no further one is taken */
            FUZZ_REQUIRE(b2c_schunk_append(s, fuzz_ctx(), content, 4, &err) == B2C_E_READ_ONLY);
            t->is_failed = true;
        }
    } else if (t->in_transaction && op < BEGIN && t->is_broken == NO) {
        t->is_broken = MAYBE; /* what was done does not show */
    }
    if (op == END) {
        t->is_failed = t->is_failed || (st != B2C_OK && t->in_transaction && !t->is_broken);
        t->in_transaction = false;
        t->is_broken = NO;
    } else if (op == BEGIN && st == B2C_OK) {
        t->in_transaction = true;
    }
    t->now = found;
    if (!t->in_transaction && !t->is_failed) {
        t->committed = found;
    }
}

static void run(const fuzz_place *place, unsigned options, const uint8_t *script, size_t nedits)
{
    static state t;
    static model first;
    edit e = { .c = options };
    b2c_error err;
    int mode = options & COPIED   ? B2C_OPEN_COPY
               : options & LOCKED ? B2C_OPEN_UPDATE | B2C_OPEN_LOCK
                                  : B2C_OPEN_UPDATE;
    b2c_schunk *s = open_it(place->path, mode | (options & MAPPED ? B2C_OPEN_MMAP : 0));
    if (s == NULL) {
        return;
    }
    if (options & UNVERIFIED) {
        (void)b2c_schunk_set_checksums(s, 1, 0, NULL);
    }
    if (options & COMMITS) {
        (void)b2c_schunk_set_durability(s, B2C_DURABILITY_COMMIT, NULL);
    }
    memset(&t, 0, sizeof t);
    if (!look(s, &t.now, &e) || t.now.is_shared) {
        b2c_schunk_free(s);
        return;
    }
    first = t.committed = t.now;
    b2c_schunk_info info;
    b2c_schunk_info_get(s, &info);
    nedits = fuzz_is_lossy(&info.cparams) ? 0 : nedits; /* the model would keep what they change */
    bool can_look = !(options & (COPIED | UNVERIFIED)); /* what is stored is what is shown */
    for (size_t i = 0; i < nedits; i++) {
        const uint8_t *p = script + EDIT_LEN * i;
        e = (edit){ p[0], p[1], p[2], p[3] };
        step(s, &e, &t);
        bool stores = e.op % NOPS >= FLUSH && e.op % NOPS < APPEND;
        if (stores && !t.in_transaction && can_look) {
            check_stored(place->path, &t.committed, &e);
        }
    }
    b2c_status st = b2c_schunk_close(s, &err); /* forgets a transaction */
    fuzz_check_error(st, &err);
    if (!(options & UNVERIFIED)) {
        check_stored(place->path, options & COPIED ? &first : &t.committed, &e);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_place place;
    size_t nedits = n < 2 ? 0 : data[1] % (MAX_EDITS + 1), head = 2 + EDIT_LEN * nedits;
    if (n < 2 || n < head || !fuzz_place_make(&place, "array", data + head, n - head)) {
        return 0;
    }
    run(&place, data[0], data + 2, nedits);
    fuzz_remove(place.dir);
    return 0;
}
