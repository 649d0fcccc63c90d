/*
 * test_faults.c: each call that touches a file fails, and each allocation, once and from then on.
 *
 * Whatever fails, there is a status that says why, no leak and no crash (sanitizers look), the
 * handle takes no edits after a failed write, and the file holds the state before the failed step
 * or the one after it.  B2C_EVERY thins the cases out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "io_hook.h"
#include "world.h"

enum { SHORT_WRITE = -1, NO_MEMORY = -2, HALF_WRITE = -3, MAX_REPORTS = 3, EINTR_BURST = 4 };

static char root[256], path[300];
static unsigned long nruns;

/* ---- faults ---- */

typedef struct fault {
    int kind; /* an errno, SHORT_WRITE, NO_MEMORY, or HALF_WRITE: a short write, then EIO */
    int lasts;
    uint64_t at; /* the call that fails first, 1… */
    uint64_t count;
    int armed, fired, is_half;
    b2i_io_call call; /* that failed last */
} fault;

static fault now;

static int can_be_interrupted(b2i_io_call call)
{
    return call == B2I_CALL_OPEN || call == B2I_CALL_CREATE || call == B2I_CALL_READ ||
           call == B2I_CALL_WRITE || call == B2I_CALL_TRUNCATE || call == B2I_CALL_SYNC ||
           call == B2I_CALL_DIR_SYNC || call == B2I_CALL_CLOSE;
}

/* The first write from call 'at' on writes half of its bytes, the call for the others fails. */
static int fail_half(b2i_io_event *e)
{
    if (now.fired || now.count < now.at || e->call != B2I_CALL_WRITE) {
        return 0;
    }
    if (!now.is_half && e->n > 1) {
        now.is_half = 1;
        e->n /= 2;
        return 0;
    }
    now.fired = 1;
    now.call = e->call;
    return EIO;
}

static int hook(b2i_io_event *e)
{
    if (!now.armed || now.kind == NO_MEMORY) {
        return 0;
    }
    now.count++;
    if (now.kind == HALF_WRITE) {
        return fail_half(e);
    }
    if (now.count < now.at || (now.count > now.at && !now.lasts)) {
        return 0;
    }
    if (now.kind == SHORT_WRITE) {
        now.fired = 1;
        e->n -= e->call == B2I_CALL_WRITE ? e->n / 2 : 0;
        return 0;
    }
    if (now.kind == EINTR &&
        (!can_be_interrupted(e->call) || (now.count - now.at) % EINTR_BURST == EINTR_BURST - 1)) {
        now.fired = 1;
        return 0;
    }
    now.fired = 1;
    now.call = e->call;
    return now.kind;
}

/* Calls count while it is on. */
static void arm(int on)
{
    if (now.kind == NO_MEMORY) {
        now.count += now.armed ? b2i_alloc_count() : 0;
        now.fired = now.count >= now.at;
        uint64_t next = now.fired ? (uint64_t)now.lasts : now.at - now.count;
        b2i_alloc_fail_at(on ? next : 0, now.lasts);
    }
    now.armed = on;
}

/* ---- runs ---- */

typedef struct plan {
    world w;
    content states[MAX_STEPS + 1]; /* after each recorded step of a run without faults */
    unsigned reports;
} plan;

static void report(plan *p, int k, const char *what, const b2c_error *err)
{
    harness_failures++;
    if (p->reports++ < MAX_REPORTS) {
        fprintf(stderr, "%s, %s: step %d, fault %d (%s) at %lu, call %d: %s (%d %d: %s)\n",
                p->w.scenario->name, p->w.storage == B2C_STORAGE_FILE ? "file" : "directory", k,
                now.kind, now.lasts ? "lasting" : "once", (unsigned long)now.at, (int)now.call,
                what, (int)err->status, err->sys_errno, err->what == NULL ? "" : err->what);
    }
}

/* Whether a failure is what was injected. */
static int is_injected(const b2c_error *err)
{
    if (err->what == NULL) {
        return 0;
    }
    const int why = now.kind == HALF_WRITE ? EIO : now.kind;
    if (now.kind == NO_MEMORY) {
        return err->status == B2C_E_MEMORY;
    }
    return (err->status == B2C_E_IO || err->status == B2C_E_CALLBACK) && err->sys_errno == why;
}

/* What is stored, with no faults any more; nothing there is empty content. */
static int read_stored(plan *p, int mode, b2c_schunk **s, content *out, b2c_error *err)
{
    *err = (b2c_error){ 0 };
    b2c_status st = b2c_schunk_open(path, 0, mode, NULL, s, err);
    if (st == B2C_E_IO && err->sys_errno == ENOENT) {
        content_free(out);
        return 1;
    }
    return st == B2C_OK && content_of(*s, p->w.ctx, out, err) == B2C_OK;
}

/* The stored state is number k or the one before, with 'extra' appended when that is set. */
static void check_stored(plan *p, int first, int k, const uint8_t *extra)
{
    content found = { { 0 }, 0 }, more = { { 0 }, 0 };
    b2c_schunk *s = NULL;
    b2c_error err;
    int good = 0;
    if (!read_stored(p, B2C_OPEN_UPDATE, &s, &found, &err)) {
        report(p, k, "it cannot be read", &err);
        b2c_schunk_free(s);
        return;
    }
    for (int i = first; i <= k && !good; i++) {
        const content *c = &p->states[i];
        if (extra != NULL && c->all.n > 0) {
            content_append(c, extra, p->w.chunk_len, &more);
            c = &more;
        }
        good = content_equal(&found, c);
    }
    if (!good) {
        report(p, k, "neither the old nor the new state is stored", &err);
    }
    if (s != NULL) {
        p->w.s = s;
        if (world_append(&p->w) != B2C_OK || world_close(&p->w) != B2C_OK) {
            report(p, k, "it cannot be edited further", &p->w.err);
        }
        b2c_schunk_free(p->w.s);
        p->w.s = NULL;
    }
    content_free(&found);
    content_free(&more);
}

/* What the handle shows after a failure is the old state or the new one as well. */
static void check_shown(plan *p, int k)
{
    content found = { { 0 }, 0 };
    b2c_error err = { 0 };
    if (content_of(p->w.s, p->w.ctx, &found, &err) != B2C_OK) {
        report(p, k, "the handle cannot be read", &err);
    } else if (!content_equal(&found, &p->states[k - 1]) && !content_equal(&found, &p->states[k])) {
        report(p, k, "the handle shows neither the old nor the new state", &err);
    }
    content_free(&found);
}

static int is_write(b2i_io_call call)
{
    return call == B2I_CALL_WRITE || call == B2I_CALL_TRUNCATE || call == B2I_CALL_SYNC;
}

/* Step k has failed. */
static void check_failure(plan *p, int k, step kind)
{
    static uint8_t extra[LARGE_CHUNK];
    int appended = 0;
    if (!now.fired || !is_injected(&p->w.err)) {
        report(p, k, "another failure than the injected one", &p->w.err);
    }
    if (p->w.s != NULL) {
        check_shown(p, k);
        int says_so =
            now.kind != NO_MEMORY && is_write(now.call) && kind != COMPACT && kind != OTHER;
        arm(now.lasts);
        b2c_status st = world_append(&p->w);
        appended = st == B2C_OK;
        memcpy(extra, p->w.data, p->w.chunk_len);
        if (says_so ? st != B2C_E_READ_ONLY
                    : st != B2C_OK && st != B2C_E_READ_ONLY && !is_injected(&p->w.err)) {
            report(p, k, "the next edit", &p->w.err);
        }
        b2c_status st2 = world_close(&p->w);
        if (appended && st2 != B2C_OK && !is_injected(&p->w.err)) {
            report(p, k, "closing after the failure", &p->w.err);
        }
    }
    arm(0);
    check_stored(p, k - 1, k, appended ? extra : NULL);
}

/* Makes the steps with the present fault; 'states' are filled when there is none. */
static void run_steps(plan *p)
{
    const step *steps = p->w.scenario->steps;
    int k = 0, recorded = 0;
    for (int i = 0; i < MAX_STEPS && steps[i] != END; i++) {
        if (steps[i] == RECORDED) {
            recorded = 1;
            continue;
        }
        k += recorded;
        arm(recorded);
        b2c_status st = world_step(&p->w, steps[i]);
        arm(0);
        harness_checks++;
        if (st != B2C_OK && now.kind != 0 && recorded) {
            check_failure(p, k, steps[i]);
            return;
        }
        if (st != B2C_OK) {
            report(p, k, "a step without a fault", &p->w.err);
            return;
        }
        if (now.kind == 0 && p->w.s != NULL) {
            CHECK_EQ(content_of(p->w.s, p->w.ctx, &p->states[k], &p->w.err), B2C_OK);
        } else if (now.kind == 0 && k > 0) {
            content_copy(&p->states[k - 1], &p->states[k]);
        }
    }
    if (now.kind != 0) {
        check_stored(p, k, k, NULL);
    }
}

/* One run from the beginning. */
static void run_once(plan *p, const scenario *sc, uint8_t storage, uint8_t level)
{
    nruns++;
    world_init(&p->w, sc, path, storage, level);
    run_steps(p);
    b2c_schunk_free(p->w.s);
    p->w.s = NULL;
    world_free(&p->w);
    remove_path(root);
    (void)mkdir(root, 0777);
}

static void run_all(const scenario *sc, uint8_t storage, unsigned every)
{
    static const int kinds[] = { ENOSPC, EIO, EINTR, SHORT_WRITE, HALF_WRITE, NO_MEMORY };
    static plan p;
    p = (plan){ .reports = 0 };
    now = (fault){ .kind = 0 };
    run_once(&p, sc, storage, B2C_DURABILITY_COMMIT);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int lasts = 0; lasts <= (kinds[i] != HALF_WRITE); lasts++) {
            uint64_t n = 0;
            do {
                n += n == 0 ? 1 : every;
                now = (fault){ .kind = kinds[i], .lasts = lasts, .at = n };
                run_once(&p, sc, storage, B2C_DURABILITY_COMMIT);
            } while (now.fired);
            CHECK(n > 1);
        }
    }
    for (int i = 0; i <= MAX_STEPS; i++) {
        content_free(&p.states[i]);
    }
}

/* ---- transactions that go on ---- */

/* Shape and items: what the padding of chunks holds is nobody's business. */
static b2c_status items_of(plan *p, content *out, b2c_error *err)
{
    static const uint64_t start[2] = { 0, 0 }, one[2] = { 1, 1 };
    b2c_nd nd = { .size = sizeof nd };
    b2c_status st = b2c_nd_from_schunk(p->w.s, &nd, err);
    size_t n = (size_t)(nd.shape[0] * nd.shape[1] * TYPESIZE);
    out->all.n = 0;
    bytes_add(&out->all, nd.shape, sizeof nd.shape);
    bytes_reserve(&out->all, out->all.n + n);
    out->all.n += n;
    return st != B2C_OK ? st
                        : b2c_nd_read(p->w.s, p->w.ctx, &nd, start, nd.shape, one,
                                      out->all.p + sizeof nd.shape, n, err);
}

static void take_content(plan *p, content *out)
{
    b2c_error err = { 0 };
    if ((p->w.scenario->is_array ? items_of(p, out, &err)
                                 : content_of(p->w.s, p->w.ctx, out, &err)) != B2C_OK) {
        report(p, 0, "the handle cannot be read", &err);
    }
}

/* One more edit: a chunk is appended, or where it would not be one of the array's, stored anew. */
static b2c_status go_on(plan *p, content *before)
{
    static uint8_t chunk[SMALL_CHUNK];
    content more = { { 0 }, 0 };
    size_t n;
    b2c_status st;
    if (p->w.scenario->is_array) {
        st = b2c_schunk_decode_chunk(p->w.s, p->w.ctx, 0, chunk, sizeof chunk, &n, &p->w.err);
        return st != B2C_OK ? st : b2c_schunk_update(p->w.s, p->w.ctx, 0, chunk, n, &p->w.err);
    }
    st = world_append(&p->w);
    content_append(before, p->w.data, p->w.chunk_len, &more);
    content_copy(&more, before);
    content_free(&more);
    return st;
}

/* Edits of several steps that take their memory first, or take back what they have appended. */
static int is_whole_without_memory(step kind)
{
    return kind == CLEAR || kind == FILL || kind == FILL_VALUE || kind == MADE || kind == COPY ||
           kind == COPY_SOME || kind == ND_APPEND || kind == ND_GROW || kind == ND_SHRINK;
}

/*
 * An edit with the present fault between two others, and the commit.  What is shown and stored is
 * the state before the transaction, or the one after all edits that did not fail.
 */
static void run_inside(plan *p, step kind)
{
    content old = { { 0 }, 0 }, before = { { 0 }, 0 }, found = { { 0 }, 0 };
    b2c_error err = { 0 };
    b2c_status st = world_open(&p->w);
    take_content(p, &old);
    st = st == B2C_OK ? b2c_schunk_begin(p->w.s, &err) : st;
    st = st == B2C_OK ? world_step(&p->w, p->w.scenario->is_array ? UPDATE : APPEND) : st;
    take_content(p, &before);
    arm(1);
    b2c_status failed = world_step(&p->w, kind);
    arm(0);
    if (failed == B2C_OK) {
        take_content(p, &before);
    } else if (!is_injected(&p->w.err)) {
        report(p, kind, "another failure than the injected one", &p->w.err);
    }
    b2c_status goes_on = go_on(p, &before);
    st = st == B2C_OK ? b2c_schunk_commit(p->w.s, &err) : st;
    if (st != B2C_OK && now.kind == NO_MEMORY && is_whole_without_memory(kind)) {
        report(p, kind, "the transaction is lost", &err);
    }
    content *expected = st == B2C_OK && goes_on == B2C_OK ? &before : &old;
    take_content(p, &found);
    if (!content_equal(&found, expected)) {
        report(p, kind, "the handle shows half a transaction", &err);
    }
    (void)!world_close(&p->w);
    b2c_schunk *s = NULL;
    if (b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, &err) != B2C_OK) {
        report(p, kind, "it cannot be opened", &err);
    } else {
        p->w.s = s;
        take_content(p, &found);
        if (!content_equal(&found, expected)) {
            report(p, kind, "half a transaction is stored", &err);
        }
    }
    content_free(&old);
    content_free(&before);
    content_free(&found);
}

/* The scenario's steps come before the transaction with each kind of edit. */
static void run_transactions(const scenario *sc, const step *kinds, size_t nkinds, uint8_t storage,
                             unsigned every)
{
    static plan p;
    p = (plan){ .reports = 0 };
    for (size_t i = 0; i < 2 * nkinds; i++) {
        uint64_t n = 0;
        do {
            n += n == 0 ? 1 : every;
            nruns++;
            now = (fault){ .kind = 0 };
            world_init(&p.w, sc, path, storage, B2C_DURABILITY_PROCESS);
            for (size_t k = 0; sc->steps[k] != END; k++) {
                CHECK_EQ(world_step(&p.w, sc->steps[k]), B2C_OK);
            }
            now = (fault){ .kind = i % 2 == 0 ? EIO : NO_MEMORY, .at = n };
            run_inside(&p, kinds[i / 2]);
            world_free(&p.w);
            remove_path(root);
            (void)mkdir(root, 0777);
        } while (now.fired);
    }
}

static void run_all_transactions(uint8_t storage)
{
    static const step kinds[] = { APPEND_ZEROS,  APPEND_SHORT, INSERT,       UPDATE,
                                  UPDATE_SHORT,  UPDATE_VALUE, DELETE,       REORDER,
                                  FILL,          FILL_VALUE,   VLMETA_SET,   VLMETA_GROW,
                                  VLMETA_DELETE, META,         WRITE,        WRITE_END,
                                  TRUNCATE,      CLEAR,        VLBLOCKS,     MADE,
                                  COPY,          COPY_SOME,    INSERT_CHUNK, UPDATE_CHUNK };
    static const step of_arrays[] = { ND_WRITE, ND_PLACES, ND_APPEND, ND_SHRINK, ND_GROW };
    static const scenario found[] = {
        { .name = "transaction",
          .steps = { CREATE, APPEND, APPEND, APPEND_ZEROS, APPEND, VLMETA_SET, CLOSE } },
        { .name = "transaction of an array",
          .steps = { CREATE, APPEND, ND_GROW, ND_WRITE, ND_SHRINK, CLOSE },
          .is_array = 1 },
        { .name = "transaction of an array of variable sizes",
          .steps = { CREATE, APPEND, ND_GROW, ND_WRITE, ND_SHRINK, ND_VARY, CLOSE },
          .is_array = 1 },
    };
    unsigned every = world_every();
    run_transactions(&found[0], kinds, sizeof kinds / sizeof *kinds, storage, every);
    for (int i = 1; i <= 2; i++) {
        run_transactions(&found[i], of_arrays, sizeof of_arrays / sizeof *of_arrays, storage,
                         every);
    }
}

int main(int argc, char **argv)
{
    make_root(root, sizeof root);
    print_path(path, sizeof path, "%s/live.b2frame", root);
    b2i_io_hook = hook;
    for (int i = 0; i < NSCENARIOS; i++) {
        if (argc < 2 || strcmp(argv[1], scenarios[i].name) == 0) {
            run_all(&scenarios[i], B2C_STORAGE_FILE, world_every());
            if (!scenarios[i].is_of_files) {
                run_all(&scenarios[i], B2C_STORAGE_DIR, world_every());
            }
        }
    }
    if (argc < 2 || strcmp(argv[1], "transaction") == 0) {
        run_all_transactions(B2C_STORAGE_FILE);
        run_all_transactions(B2C_STORAGE_DIR);
    }
    b2i_io_hook = NULL;
    remove_path(root);
    printf("%lu runs\n", nruns);
    return RESULT();
}
