/*
 * test_crash.c: a writer is killed, or power fails, at any moment of any edit.
 *
 * The calls that change files are recorded.  Then what is on disk after the first n calls, with
 * part of a write, and (commits that wait for the medium) with any of the sectors that were not
 * synchronised is made again, read, and edited further.  It must be the state before the edit or
 * the one after it.
 *
 * B2C_CRASH_SUBSETS is the number of power failures for each edit.  B2C_CRASH_STATES names an
 * empty directory to which a sample of the states goes, for a test with the reference library.
 * B2C_EVERY thins the states out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "disk.h"

enum { MAX_CUTS = 24, MAX_REPORTS = 3, KEEP_EVERY = 101 };

static const char frame[] = "live.b2frame";

/* One scenario with its recorded history. */
typedef struct history {
    world w;
    content states[MAX_STEPS + 1]; /* [0]: before the first recorded step */
    size_t ends[MAX_STEPS + 1];    /* calls made until then */
    step kinds[MAX_STEPS + 1];
    int nsteps;
    unsigned reports;
    unsigned long nstates;
} history;

static char root[256], state_path[300];
static unsigned long nstates, nkept;
static unsigned every = 1;

/* ---- one state ---- */

/* The states from first to last are right. */
typedef struct place {
    int first, last;
    int visible; /* first state that other libraries may see */
    const char *how;
    size_t ncalls;
} place;

static void report(history *h, const place *p, const char *what, const b2c_error *err)
{
    static const char *const levels[] = { "none", "process", "commit" };
    harness_failures++;
    if (h->reports++ < MAX_REPORTS) {
        fprintf(stderr, "%s, %s, %s: step %d, %s after %lu calls: %s (%d: %s)\n",
                h->w.scenario->name, h->w.storage == B2C_STORAGE_FILE ? "file" : "directory",
                levels[h->w.level], p->last, p->how, (unsigned long)(p->ncalls - h->ends[0]), what,
                err == NULL ? 0 : (int)err->status,
                err == NULL || err->what == NULL ? "" : err->what);
    }
}

/* Reads what is there; a path that does not exist is empty content. */
static int read_state(history *h, int mode, b2c_schunk **s, content *found, b2c_error *err)
{
    *err = (b2c_error){ 0 };
    b2c_status st = b2c_schunk_open(state_path, 0, mode, NULL, s, err);
    if (st == B2C_E_IO && err->sys_errno == ENOENT) {
        content_free(found);
        return 1;
    }
    return st == B2C_OK && content_of(*s, h->w.ctx, found, err) == B2C_OK;
}

static int find_state(const history *h, const place *p, const content *found)
{
    for (int i = p->last; i >= p->first; i--) {
        if (content_equal(&h->states[i], found)) {
            return i;
        }
    }
    return NONE;
}

/* A writer goes on: one more chunk, and everything is there when it has closed. */
static void go_on(history *h, const place *p, const content *before)
{
    content found = { { 0 }, 0 }, expected = { { 0 }, 0 };
    world w = h->w;
    w.path = state_path;
    w.level = B2C_DURABILITY_PROCESS;
    w.s = NULL;
    w.err = (b2c_error){ 0 };
    if (before->all.n == 0) {
        b2c_status st = world_create(&w);
        st = st != B2C_OK ? st : world_append(&w);
        st = st != B2C_OK ? st : world_close(&w);
        if (st != B2C_OK) {
            report(h, p, "it cannot be made anew", &w.err);
        }
    } else if (!read_state(h, B2C_OPEN_UPDATE, &w.s, &found, &w.err)) {
        report(h, p, "a writer cannot open it", &w.err);
    } else if (!content_equal(before, &found)) {
        report(h, p, "a writer sees something else", NULL);
    } else if (world_append(&w) != B2C_OK || world_close(&w) != B2C_OK) {
        report(h, p, "it cannot be edited further", &w.err);
    } else {
        content_append(before, w.data, w.chunk_len, &expected);
        if (!read_state(h, B2C_OPEN_READ, &w.s, &found, &w.err)) {
            report(h, p, "it cannot be read after one more edit", &w.err);
        } else if (!content_equal(&expected, &found)) {
            report(h, p, "one more edit gave something else", NULL);
        }
    }
    b2c_schunk_free(w.s);
    content_free(&found);
    content_free(&expected);
}

/* Keeps the state and what may be in it: each with its length before it. */
static void keep_state(const history *h, const disk *d, const place *p)
{
    const char *dir = getenv("B2C_CRASH_STATES");
    char path[1024];
    bytes all = { 0 };
    unsigned stride = h->w.scenario->is_large ? 10 * KEEP_EVERY : KEEP_EVERY;
    if (dir == NULL || nstates % stride != 0 || h->states[p->visible].all.n == 0) {
        return;
    }
    print_path(path, sizeof path, "%s/%05lu", dir, nkept++);
    (void)mkdir(path, 0777);
    disk_put(d, path);
    for (int i = p->visible; i <= p->last; i++) {
        bytes_add_u32(&all, h->states[i].all.n);
        bytes_add(&all, h->states[i].all.p, h->states[i].all.n);
    }
    print_path(path + strlen(path), sizeof path - strlen(path), "/expected");
    put_file(path, &all);
    bytes_free(&all);
}

static void check_state(history *h, const disk *d, const place *p)
{
    content found = { { 0 }, 0 };
    b2c_schunk *s = NULL;
    b2c_error err;
    char dir[300];
    h->nstates++;
    if (nstates++ % every != 0) {
        return;
    }
    print_path(dir, sizeof dir, "%s/state", root);
    remove_path(dir);
    (void)mkdir(dir, 0777);
    disk_put(d, dir);
    keep_state(h, d, p);
    harness_checks++;
    if (!read_state(h, B2C_OPEN_READ, &s, &found, &err)) {
        report(h, p, "it cannot be read", &err);
    } else if (find_state(h, p, &found) == NONE) {
        report(h, p, "it is neither the old nor the new state", NULL);
    } else {
        b2c_schunk_free(s);
        s = NULL;
        go_on(h, p, &found);
    }
    b2c_schunk_free(s);
    content_free(&found);
}

/* ---- all states of a history ---- */

static int seals(step kind)
{
    return kind == CREATE || kind == FLUSH || kind == SETTLE || kind == CLOSE || kind == OPEN;
}

/* A commit may wait with these: others do not see them yet, and a log replaces it. */
static int may_wait(step kind)
{
    return kind == APPEND || kind == APPEND_SHORT || kind == INSERT || kind == UPDATE ||
           kind == UPDATE_ZEROS || kind == UPDATE_VALUE || kind == ROLLBACK || kind == VLBLOCKS ||
           kind == UNCHECKED || kind == CHECKED || kind == INSERT_CHUNK || kind == UPDATE_CHUNK ||
           kind == ROLLBACK_SYNCED;
}

/* Directories are not compacted: what waits goes on waiting. */
static int leaves_waiting(const history *h, step kind)
{
    return may_wait(kind) || (kind == COMPACT && h->w.storage == B2C_STORAGE_DIR);
}

/* What is right when step k has been made (done), or is being made. */
static place place_of(const history *h, int k, int done)
{
    place p = { .first = k, .last = k, .visible = k };
    if (!done && k > 0) {
        p.first = p.visible = k - 1;
    }
    while (p.visible > 0 && leaves_waiting(h, h->kinds[p.visible])) {
        p.visible--;
    }
    if (h->w.level == B2C_DURABILITY_NONE) {
        while (p.visible > 0 && !seals(h->kinds[p.visible])) {
            p.visible--;
        }
        p.first = p.visible;
    }
    return p;
}

static void check_torn(history *h, disk *d, const op *o, place p)
{
    uint64_t first = o->at / SECTOR + 1, last = o->n == 0 ? 0 : (o->at + o->n - 1) / SECTOR;
    uint64_t ncuts = last < first ? 0 : last - first + 1, step_len = ncuts / MAX_CUTS + 1;
    p.how = "a torn write";
    for (uint64_t i = 0; i < ncuts; i += step_len) {
        apply_data(d, o, (size_t)((first + i) * SECTOR - o->at));
        check_state(h, d, &p);
    }
}

/* After every call, and in the middle of every write. */
static void check_kills(history *h)
{
    disk d;
    disk_init(&d);
    for (size_t i = 0; i < h->ends[0]; i++) {
        apply(&d, &rec.v[i]);
    }
    for (int k = 1; k <= h->nsteps; k++) {
        for (size_t i = h->ends[k - 1]; i < h->ends[k]; i++) {
            const op *o = &rec.v[i];
            place p = place_of(h, k, i + 1 == h->ends[k]);
            p.how = "killed";
            p.ncalls = i + 1;
            if (o->call == B2I_CALL_WRITE) {
                place torn = place_of(h, k, 0);
                torn.ncalls = i;
                check_torn(h, &d, o, torn);
            }
            apply(&d, o);
            if (changes_disk(o) || i + 1 == h->ends[k]) {
                check_state(h, &d, &p);
            }
        }
    }
    disk_free(&d);
}

static void check_power_at(history *h, const medium *m, int k, size_t i, unsigned ntrials,
                           disk tmp[2], uint64_t *seed)
{
    place p = place_of(h, k, i == h->ends[k]);
    p.how = "a loss of power";
    p.ncalls = i;
    for (unsigned t = 0; t < ntrials; t++) {
        lose_power(m, i, &tmp[0], &tmp[1], seed);
        check_state(h, &tmp[0], &p);
    }
}

/*
 * Power fails at any moment, and what was not synchronised is there or not.  Levels that do not
 * wait for the medium promise something after a flush only.
 */
static void check_power(history *h, unsigned nsubsets)
{
    static disk now, tmp[2];
    static medium m;
    uint64_t seed = 0x9E3779B97F4A7C15u;
    disk_init(&now);
    disk_init(&tmp[0]);
    disk_init(&tmp[1]);
    disk_init(&m.durable);
    for (size_t i = 0; i < h->ends[0]; i++) {
        apply(&now, &rec.v[i]);
    }
    medium_settle(&m, &now, h->ends[0]);
    for (int k = 1; k <= h->nsteps; k++) {
        size_t ncalls = h->ends[k] - h->ends[k - 1];
        unsigned ntrials = nsubsets / (unsigned)(ncalls + 1) + 1;
        for (size_t i = h->ends[k - 1]; i < h->ends[k]; i++) {
            apply(&now, &rec.v[i]);
            medium_follow(&m, &now, i);
            if (h->w.level == B2C_DURABILITY_COMMIT) {
                check_power_at(h, &m, k, i + 1, ntrials, tmp, &seed);
            }
        }
        if (h->w.level != B2C_DURABILITY_COMMIT && h->kinds[k] == FLUSH) {
            check_power_at(h, &m, k, h->ends[k], nsubsets, tmp, &seed);
        }
    }
    disk_free(&now);
    disk_free(&tmp[0]);
    disk_free(&tmp[1]);
    disk_free(&m.durable);
}

/* ---- scenarios ---- */

/* Makes the steps and notes what the super-chunk holds after each of them. */
static int make_history(history *h)
{
    const step *steps = h->w.scenario->steps;
    content last = { { 0 }, 0 };
    int recorded = 0, good = 1;
    for (int i = 0; good && i < MAX_STEPS && steps[i] != END; i++) {
        if (steps[i] == RECORDED) {
            recorded = 1;
        } else {
            good = world_step(&h->w, steps[i]) == B2C_OK &&
                   (h->w.s == NULL || content_of(h->w.s, h->w.ctx, &last, &h->w.err) == B2C_OK);
            h->nsteps += recorded;
        }
        h->ends[h->nsteps] = rec.n;
        h->kinds[h->nsteps] = steps[i];
        content_copy(&last, &h->states[h->nsteps]);
        if (!good) {
            fprintf(stderr, "%s: step %d of the recording: %d %s\n", h->w.scenario->name, i,
                    (int)h->w.err.status, h->w.err.what == NULL ? "" : h->w.err.what);
        }
    }
    content_free(&last);
    return good;
}

static void run(const scenario *sc, uint8_t storage, uint8_t level, unsigned nsubsets)
{
    static history h;
    char path[300];
    print_path(path, sizeof path, "%s/%s", root, frame);
    h = (history){ .nsteps = 0 };
    world_init(&h.w, sc, path, storage, level);
    record_start(root);
    int good = make_history(&h);
    b2i_io_hook = NULL;
    CHECK(good);
    if (good) {
        check_kills(&h);
        check_power(&h, nsubsets);
        CHECK(h.nstates > 0);
    }
    for (int i = 0; i <= h.nsteps; i++) {
        content_free(&h.states[i]);
    }
    world_free(&h.w);
    record_free();
    remove_path(path);
}

int main(int argc, char **argv)
{
    const char *number = getenv("B2C_CRASH_SUBSETS"), *only = argc > 1 ? argv[1] : NULL;
    unsigned nsubsets = number == NULL ? 40 : (unsigned)strtoul(number, NULL, 10);
    every = world_every();
    make_root(root, sizeof root);
    print_path(state_path, sizeof state_path, "%s/state/%s", root, frame);
    for (int i = 0; i < NSCENARIOS; i++) {
        for (int level = B2C_DURABILITY_NONE; level <= B2C_DURABILITY_COMMIT; level++) {
            if (only == NULL || strcmp(only, scenarios[i].name) == 0) {
                run(&scenarios[i], B2C_STORAGE_FILE, (uint8_t)level, nsubsets);
                if (!scenarios[i].is_of_files) {
                    run(&scenarios[i], B2C_STORAGE_DIR, (uint8_t)level, nsubsets);
                }
            }
        }
    }
    remove_path(root);
    printf("%lu states of disks\n", nstates);
    return RESULT();
}
