/*
 * test_turn.c: threads that read and edit a super-chunk, as those of Python do: the ones by calls
 * of turn.h, the others in the way of handles.py.  No two of which one edits are ever at it
 * together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "schunk.h"
#include "turn.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

enum { LEN = 4096, NTURNS = 500, READERS = 2, EDITORS = 2, NTHREADS = READERS + EDITORS + 2 };

static b2i_turn turn;
static int nviews;     /* of readers in the way of Python */
static int is_touched; /* an edit in the way of Python is under way */
static int nbusy;      /* threads that have turns to come, without the last one */
static int nfailed;

static void require(bool ok)
{
    if (!ok) {
        (void)__atomic_add_fetch(&nfailed, 1, __ATOMIC_RELAXED);
    }
}

typedef struct worker {
    pthread_t thread;
    b2c_ctx *ctx;
    uint8_t bytes[LEN];
    unsigned n;
    uint64_t ndone;
} worker;

static bool is_uniform(const uint8_t *p)
{
    return memcmp(p, p + 1, LEN - 1) == 0;
}

static void *read_quickly(void *arg)
{
    worker *w = arg;
    size_t len = 0;
    b2c_error err;
    for (int i = 0; w->ndone < NTURNS; i++) {
        int st = i % 2 == 0 ? b2i_turn_decode_chunk(&turn, w->ctx, 0, w->bytes, LEN, &len, &err)
                            : b2i_turn_read(&turn, w->ctx, 0, w->bytes, LEN, &len, &err);
        require(st == B2C_OK || st == B2I_NOT_FREE);
        require(st != B2C_OK || (len == LEN && is_uniform(w->bytes)));
        w->ndone += st == B2C_OK;
        (void)sched_yield();
    }
    (void)__atomic_sub_fetch(&nbusy, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *edit_quickly(void *arg)
{
    worker *w = arg;
    size_t nchunks = 0;
    b2c_error err;
    for (int i = 0; w->ndone < NTURNS; i++) {
        memset(w->bytes, (int)(w->n + (unsigned)i), LEN);
        int st = i % 64 == 0 ? b2i_turn_append(&turn, w->ctx, 0, w->bytes, LEN, &nchunks, &err)
                             : b2i_turn_update(&turn, w->ctx, 0, w->bytes, LEN, &nchunks, &err);
        require(st == B2C_OK || st == B2I_NOT_FREE);
        require(st != B2C_OK || nchunks > 0);
        w->ndone += st == B2C_OK;
        (void)sched_yield();
    }
    (void)__atomic_sub_fetch(&nbusy, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Comes and looks; a writer that has the turn would be waited for. */
static void *read_in_python(void *arg)
{
    worker *w = arg;
    b2c_error err;
    while (w->ndone < NTURNS) {
        (void)__atomic_add_fetch(&nviews, 1, __ATOMIC_SEQ_CST);
        if (b2i_turn_look(&turn) > 0) {
            require(!__atomic_load_n(&is_touched, __ATOMIC_SEQ_CST));
            require(b2c_schunk_read(turn.schunk, w->ctx, 0, LEN, w->bytes, LEN, &err) == B2C_OK);
            require(is_uniform(w->bytes));
            w->ndone++;
        }
        (void)__atomic_sub_fetch(&nviews, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < 10; i++) {
            (void)sched_yield();
        }
    }
    (void)__atomic_sub_fetch(&nbusy, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *edit_in_python(void *arg)
{
    worker *w = arg;
    b2c_error err;
    for (int i = 0; __atomic_load_n(&nbusy, __ATOMIC_SEQ_CST) > 0; i++) {
        (void)b2i_turn_open(&turn, 0);
        while (b2i_turn_is_used(&turn) || __atomic_load_n(&nviews, __ATOMIC_SEQ_CST) > 0) {
            (void)sched_yield();
        }
        __atomic_store_n(&turn.was_read, 0, __ATOMIC_SEQ_CST);
        __atomic_store_n(&is_touched, 1, __ATOMIC_SEQ_CST);
        memset(w->bytes, i, LEN);
        require(b2c_schunk_update(turn.schunk, w->ctx, 0, w->bytes, LEN, &err) == B2C_OK);
        __atomic_store_n(&is_touched, 0, __ATOMIC_SEQ_CST);
        w->ndone++;
        (void)b2i_turn_open(&turn, 1);
        (void)sched_yield();
    }
    return NULL;
}

static b2c_schunk *make(void)
{
    static const uint8_t zeros[LEN];
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_ctx *ctx = NULL;
    b2c_error err;
    b2c_schunk_params_init(&p);
    p.chunksize = LEN;
    p.cparams.codec = B2C_CODEC_BLOSCLZ;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, zeros, LEN, &err), B2C_OK);
    b2c_ctx_free(ctx);
    return s;
}

static void test_threads(void)
{
    static worker workers[NTHREADS];
    turn = (b2i_turn){ .schunk = make(), .is_open = 1 };
    nbusy = NTHREADS - 1;
    for (unsigned i = 0; i < NTHREADS; i++) {
        worker *w = &workers[i];
        void *(*work)(void *) = i < READERS              ? read_quickly
                                : i < READERS + EDITORS  ? edit_quickly
                                : i == READERS + EDITORS ? read_in_python
                                                         : edit_in_python;
        w->n = i;
        CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &w->ctx, NULL), B2C_OK);
        CHECK_EQ(pthread_create(&w->thread, NULL, work, w), 0);
    }
    for (unsigned i = 0; i < NTHREADS; i++) {
        CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
        b2c_ctx_free(workers[i].ctx);
    }
    CHECK_EQ(nfailed, 0);
    CHECK(workers[NTHREADS - 1].ndone > 0);
    CHECK(turn.nreaders == 0 && !turn.is_written && turn.is_open);
    b2c_schunk_free(turn.schunk);
}

/* Chunks as they are stored; three of them before and after. */
static void test_chunks(b2c_ctx *ctx)
{
    uint8_t chunk[2 * LEN], got[LEN];
    size_t len = 0, n = 0, nedits = turn.nedits;
    b2c_error err;
    b2c_schunk_info info;
    CHECK_EQ(b2i_turn_get_chunk(&turn, ctx, 1, chunk, sizeof chunk, &len, &err), B2C_OK);
    CHECK_EQ(b2i_turn_append_chunk(&turn, ctx, 0, chunk, len, &n, &err), B2C_OK);
    CHECK_EQ(n, 4);
    CHECK_EQ(b2i_turn_insert_chunk(&turn, ctx, 0, chunk, len, &n, &err), B2C_OK);
    CHECK_EQ(n, 5);
    CHECK_EQ(b2i_turn_update_chunk(&turn, ctx, 5, chunk, len, &n, &err), B2C_E_RANGE);
    CHECK_EQ(b2i_turn_delete_chunk(&turn, ctx, 0, NULL, 0, &n, &err), B2C_OK);
    CHECK_EQ(b2i_turn_delete_chunk(&turn, ctx, 3, NULL, 0, &n, &err), B2C_OK);
    CHECK_EQ(n, 3);
    CHECK_EQ(b2i_turn_update_chunk(&turn, ctx, 2, chunk, len, &n, &err), B2C_OK);
    CHECK_EQ(b2i_turn_decode_chunk(&turn, ctx, 2, got, LEN, &n, &err), B2C_OK);
    CHECK(n == LEN && is_uniform(got) && got[0] == 77);
    CHECK(turn.nedits != nedits);
    CHECK_EQ(b2i_turn_info(&turn, &info), B2C_OK);
    CHECK(info.nchunks == 3 && info.nbytes == 3 * LEN);
    b2c_chunk_info facts;
    CHECK_EQ(b2i_turn_chunk_info(&turn, 2, &facts, &err), B2C_OK);
    CHECK(facts.nbytes == LEN && facts.cbytes == len);
    CHECK_EQ(b2i_turn_chunk_info(&turn, 3, &facts, &err), B2C_E_RANGE);
    CHECK_EQ(b2i_turn_read(&turn, ctx, 3 * LEN - 5, got, 5, &n, &err), B2C_OK);
    CHECK_EQ(b2i_turn_read(&turn, ctx, 3 * LEN - 4, got, 5, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_read(&turn, ctx, UINT64_MAX, got, 5, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(turn.nreaders, 0);
    CHECK_EQ(b2i_turn_write(&turn, ctx, 3 * LEN - 5, got, 5, &n, &err), B2C_OK);
    CHECK_EQ(b2i_turn_write(&turn, ctx, 3 * LEN - 4, got, 5, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_write(&turn, ctx, UINT64_MAX, got, 5, &n, &err), B2I_NOT_FREE);
    CHECK(n == 3 && !turn.is_written);
}

static void test_metas(b2c_ctx *ctx)
{
    char got[8];
    size_t n = 0, nedits = turn.nedits;
    b2c_error err;
    b2c_schunk_info info;
    CHECK_EQ(b2i_turn_meta_get(&turn, ctx, "a", got, sizeof got, &n, &err), B2C_E_NOT_FOUND);
    CHECK_EQ(b2i_turn_vlmeta_get(&turn, ctx, "a", got, sizeof got, &n, &err), B2C_E_NOT_FOUND);
    CHECK_EQ(b2i_turn_vlmeta_set(&turn, ctx, "a", "value", 5, &err), B2C_OK);
    CHECK(turn.nedits != nedits);
    CHECK_EQ(b2i_turn_vlmeta_get(&turn, ctx, "a", got, sizeof got, &n, &err), B2C_OK);
    CHECK(n == 5 && memcmp(got, "value", 5) == 0);
    CHECK_EQ(b2i_turn_vlmeta_set(&turn, ctx, "a", NULL, 0, &err), B2C_OK);
    CHECK_EQ(b2i_turn_vlmeta_set(&turn, ctx, "a", NULL, 0, &err), B2C_E_NOT_FOUND);

    b2i_turn_open(&turn, 0);
    CHECK_EQ(b2i_turn_meta_get(&turn, ctx, "a", got, sizeof got, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_vlmeta_get(&turn, ctx, "a", got, sizeof got, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_vlmeta_set(&turn, ctx, "a", "value", 5, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_delete_chunk(&turn, ctx, 0, NULL, 0, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_info(&turn, &info), B2I_NOT_FREE);
    b2i_turn_open(&turn, 1);
}

/* As a forked child does in a function that C calls for a block. */
static int fork_in_call(void *user, const b2c_block *block, const void *src, void *dst, size_t n)
{
    (void)block;
    int *nused = user;
    memcpy(dst, src, n);
    int nreaders = turn.nreaders, is_written = turn.is_written;
    turn.nreaders += 3; /* of threads that are not there */
    *nused += b2i_turn_forked(&turn);
    CHECK(turn.nreaders == nreaders && turn.is_written == is_written);
    CHECK_EQ(nreaders + is_written, 1);
    return 0;
}

static void test_fork(b2c_ctx *ctx)
{
    uint8_t bytes[LEN] = { 1 };
    size_t n = 0;
    int nused = 0;
    b2c_error err;
    b2i_hold hold = { 0 };
    turn.is_written = turn.nreaders = turn.is_listing = 1;
    CHECK(!b2i_turn_forked(&turn) && !b2i_turn_is_used(&turn));
    turn.was_read = 0;
    b2c_schunk_set_prefilter(turn.schunk, fork_in_call, &nused);
    b2c_schunk_set_postfilter(turn.schunk, fork_in_call, &nused);
    CHECK_EQ(b2i_turn_append(&turn, ctx, 0, bytes, LEN, &n, &err), B2C_OK);
    CHECK_EQ(nused, 1);
    CHECK_EQ(b2i_turn_read(&turn, ctx, 0, bytes, 1, &n, &err), B2C_OK);
    CHECK(nused == 2 && !b2i_turn_is_used(&turn));
    int changed = 0;
    CHECK_EQ(b2i_turn_hold(turn.schunk, &turn, &hold, &changed, &err), B2C_OK);
    CHECK(b2i_turn_forked(&turn) && !b2i_turn_is_used(&turn));
}

/* What the index tells of chunks is told without a look at the file, but in turn. */
static void test_index_info(void)
{
    char path[] = "/tmp/b2c_test_XXXXXX";
    const uint8_t bytes[LEN] = { 1 };
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_ctx *ctx = NULL;
    b2c_chunk_info info = { 0 };
    b2c_error err;
    CHECK(mkdtemp(path) != NULL);
    CHECK_EQ(rmdir(path), 0);
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_FILE;
    p.path = path;
    p.chunksize = LEN;
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_append(s, ctx, bytes, LEN, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_fill_special(s, LEN, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);

    turn = (b2i_turn){ .is_open = 1, .may_outdate = 1 };
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &turn.schunk, &err), B2C_OK);
    CHECK_EQ(b2i_turn_index_info(&turn, 0, &info), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_index_info(&turn, 1, &info), B2C_OK);
    CHECK(info.nbytes == LEN && info.special == B2C_SPECIAL_ZERO);
    CHECK_EQ(b2i_turn_index_info(&turn, 2, &info), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_chunk_info(&turn, 0, &info, &err), B2C_OK);

    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE, NULL, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_update(s, ctx, 1, bytes, LEN, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK(!b2c_schunk_is_current(turn.schunk)); /* of which it tells as it was opened */
    CHECK_EQ(b2i_turn_chunk_info(&turn, 0, &info, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_index_info(&turn, 1, &info), B2C_OK);
    CHECK(info.nbytes == LEN && info.special == B2C_SPECIAL_ZERO && turn.nreaders == 0);

    turn.is_written = 1;
    CHECK_EQ(b2i_turn_index_info(&turn, 1, &info), B2I_NOT_FREE);
    turn.is_written = 0;
    b2i_turn_open(&turn, 0); /* as when another thread closes it */
    CHECK_EQ(b2i_turn_index_info(&turn, 1, &info), B2I_NOT_FREE);
    CHECK_EQ(turn.nreaders, 0);
    b2c_schunk_free(turn.schunk);
    b2c_ctx_free(ctx);
    CHECK_EQ(unlink(path), 0);
}

/* Chunks without data of their own, those of another super-chunk, and of an array. */
static void test_more_chunks(b2c_ctx *ctx)
{
    const uint64_t numbers[] = { 0, 1 };
    uint8_t bytes[LEN] = { 1 }, got[LEN];
    size_t n = 0, len = 0;
    b2c_error err;
    b2i_turn to = { .schunk = make(), .is_open = 1 };
    CHECK_EQ(b2i_turn_fill_special(&to, LEN, B2C_SPECIAL_ZERO, NULL, 0, &n, &err), B2C_OK);
    CHECK_EQ(n, 2);
    CHECK_EQ(b2i_turn_fill_special(&to, LEN, B2C_SPECIAL_VALUE, bytes, 9, &n, &err), B2I_NOT_FREE);
    CHECK(n == 2 && !to.is_written); /* no item of this super-chunk */
    CHECK_EQ(b2i_turn_copy_some(&to, &turn, numbers, 2, &n, &err), B2C_OK);
    CHECK(n == 4 && turn.nreaders == 0 && !to.is_written);
    CHECK_EQ(b2i_turn_decode_chunk(&to, ctx, 3, got, LEN, &len, &err), B2C_OK);
    CHECK_EQ(b2i_turn_decode_chunk(&turn, ctx, 1, bytes, LEN, &len, &err), B2C_OK);
    CHECK(memcmp(got, bytes, LEN) == 0);
    CHECK_EQ(b2i_turn_copy_some(&to, &turn, (uint64_t[]){ 99 }, 1, &n, &err), B2C_E_RANGE);
    CHECK_EQ(b2i_turn_copy_some(&turn, &turn, numbers, 1, &n, &err), B2I_NOT_FREE); /* itself */
    turn.may_outdate = 1;
    CHECK_EQ(b2i_turn_copy_some(&to, &turn, numbers, 1, &n, &err), B2I_NOT_FREE);
    turn.may_outdate = 0;
    turn.is_written = 1;
    CHECK_EQ(b2i_turn_copy_some(&to, &turn, numbers, 1, &n, &err), B2I_NOT_FREE);
    turn.is_written = 0;
    b2i_turn_open(&to, 0);
    CHECK_EQ(b2i_turn_copy_some(&to, &turn, numbers, 1, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_fill_special(&to, LEN, B2C_SPECIAL_ZERO, NULL, 0, &n, &err), B2I_NOT_FREE);
    b2i_turn_open(&to, 1);
    CHECK(turn.nreaders == 0 && to.nreaders == 0 && n == 4);

    b2c_nd nd = { .size = sizeof nd, .ndim = 1, .itemsize = 1, .shape = { 5 * LEN } };
    nd.chunks[0] = nd.blocks[0] = LEN;
    CHECK_EQ(b2i_turn_nd_append(&to, ctx, &nd, 4, 1, bytes, LEN, &n, &err), B2C_OK);
    CHECK_EQ(n, 5);
    CHECK(b2i_turn_nd_append(&to, ctx, &nd, 5, 1, bytes, LEN, &n, &err) > B2C_OK);
    CHECK(n == 5 && !to.is_written);
    b2c_schunk_free(to.schunk);
}

/* Who is there keeps whom out; what cannot be leaves everything as it was. */
static void test_turns(void)
{
    uint8_t bytes[LEN] = { 1 }, got[LEN];
    size_t n = 0, nedits;
    b2c_ctx *ctx = NULL;
    b2c_error err;
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, NULL), B2C_OK);
    turn = (b2i_turn){ .schunk = make(), .is_open = 1 };

    nedits = turn.nedits;
    CHECK_EQ(b2i_turn_append(&turn, ctx, 0, bytes, LEN, &n, &err), B2C_OK);
    CHECK_EQ(n, 2);
    CHECK(turn.nedits != nedits);
    CHECK_EQ(b2i_turn_decode_chunk(&turn, ctx, 1, got, LEN, &n, &err), B2C_OK);
    CHECK(n == LEN && memcmp(got, bytes, LEN) == 0);
    CHECK_EQ(b2i_turn_decode_chunk(&turn, ctx, 1, got, LEN - 1, &n, &err), B2C_E_OUTPUT_SIZE);
    CHECK_EQ(n, LEN);
    CHECK_EQ(b2i_turn_get_chunk(&turn, ctx, 2, got, LEN, &n, &err), B2C_E_RANGE);
    CHECK_EQ(b2i_turn_get_chunk(&turn, ctx, 1, got, LEN, &n, &err), B2C_OK);
    CHECK(n > 32 && n < 200);
    CHECK_EQ(b2i_turn_update(&turn, ctx, 2, bytes, LEN, &n, &err), B2C_E_RANGE);
    CHECK_EQ(n, 2);
    CHECK_EQ(b2i_turn_insert(&turn, ctx, 3, bytes, LEN, &n, &err), B2C_E_RANGE);
    CHECK_EQ(n, 2);

    CHECK_EQ(b2i_turn_look(&turn), 1); /* a reader in Python: others read, nobody writes */
    CHECK_EQ(b2i_turn_read(&turn, ctx, LEN, got, 5, &n, &err), B2C_OK);
    CHECK(n == 5 && memcmp(got, bytes, 5) == 0);
    CHECK_EQ(b2i_turn_append(&turn, ctx, 0, bytes, LEN, &n, &err), B2I_NOT_FREE);
    nedits = turn.nedits;
    b2i_turn_open(&turn, 0); /* a writer in Python */
    CHECK(turn.nedits != nedits && !b2i_turn_is_used(&turn));
    turn.was_read = 0;
    CHECK_EQ(b2i_turn_read(&turn, ctx, 0, got, 5, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_update(&turn, ctx, 0, bytes, LEN, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_insert(&turn, ctx, 0, bytes, LEN, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_look(&turn), 0);
    turn.was_read = 0;
    b2i_turn_open(&turn, 1);
    CHECK_EQ(b2i_turn_update(&turn, ctx, 0, bytes, LEN, &n, &err), B2C_OK);
    memset(bytes, 77, LEN);
    CHECK_EQ(b2i_turn_insert(&turn, ctx, 1, bytes, LEN, &n, &err), B2C_OK);
    CHECK_EQ(n, 3);
    CHECK_EQ(b2i_turn_decode_chunk(&turn, ctx, 1, got, LEN, &n, &err), B2C_OK);
    CHECK(memcmp(got, bytes, LEN) == 0);
    test_chunks(ctx);
    test_more_chunks(ctx);
    test_metas(ctx);

    turn.nreaders = 1; /* a call that reads keeps out those that write, not others that read */
    CHECK(b2i_turn_is_used(&turn));
    CHECK_EQ(b2i_turn_update(&turn, ctx, 0, bytes, LEN, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_read(&turn, ctx, 0, got, 5, &n, &err), B2C_OK);
    turn.nreaders = 0;
    turn.is_written = 1; /* a call that writes keeps out all */
    CHECK(b2i_turn_is_used(&turn));
    CHECK_EQ(b2i_turn_update(&turn, ctx, 0, bytes, LEN, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_read(&turn, ctx, 0, got, 5, &n, &err), B2I_NOT_FREE);
    CHECK_EQ(b2i_turn_look(&turn), -1);
    CHECK(turn.nreaders == 0 && turn.is_written);
    test_fork(ctx);

    b2c_schunk_free(turn.schunk);
    b2c_ctx_free(ctx);
}

/* NULL when this thread did not hold it, as it should be. */
static void *let_go(void *arg)
{
    bool holds = b2i_turn_holds_here(&turn) != 0;
    b2i_turn_let_go(turn.schunk, &turn, arg);
    return holds ? arg : NULL;
}

/* What a thread finds that comes while another one has the lock file through another handle. */
static void *come(void *arg)
{
    const bool *is_kept = arg;
    b2i_hold hold = { 0 };
    int changed = 0;
    b2c_error err = { 0 };
    require(b2i_turn_has_rival(&turn) == *is_kept);
    int st = b2i_turn_hold(turn.schunk, &turn, &hold, &changed, &err);
    require(*is_kept ? st == B2C_E_LOCKED && err.sys_errno == EAGAIN : st == B2C_OK);
    b2i_turn_let_go(turn.schunk, &turn, &hold);
    return NULL;
}

static void run(void *(*function)(void *), void *arg)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, function, arg), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* Two readers, of whom the first one has left. */
typedef struct pair {
    b2i_hold first, second;
    b2c_schunk *other;
} pair;

static bool would_wait_for_itself(b2c_schunk *other)
{
    b2c_error err = { 0 };
    require(b2c_schunk_lock(other, 1, NULL, &err) == B2C_E_LOCKED);
    return err.sys_errno == 0;
}

static void *join_reader(void *arg)
{
    pair *p = arg;
    int changed = 0;
    b2c_error err;
    require(b2i_turn_hold(turn.schunk, &turn, &p->second, &changed, &err) == B2C_OK);
    require(would_wait_for_itself(p->other));
    b2i_turn_let_go(turn.schunk, &turn, &p->first);
    require(would_wait_for_itself(p->other));
    return NULL;
}

/* All that read have the lock, and nobody else. */
static void test_owners(b2c_schunk *other)
{
    pair p = { .other = other };
    int changed = 0;
    b2c_error err;
    b2i_lock_give_way(other->lock);
    CHECK_EQ(b2i_turn_hold(turn.schunk, &turn, &p.first, &changed, &err), B2C_OK);
    CHECK(would_wait_for_itself(other));
    run(join_reader, &p);
    CHECK(!would_wait_for_itself(other));
    b2i_turn_let_go(turn.schunk, &turn, &p.second);
    CHECK_EQ(b2c_schunk_lock(other, 1, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_unlock(other, &err), B2C_OK);

    b2i_hold *holds = NULL, last = { 0 }; /* who has taken it may use the other one already */
    CHECK_EQ(b2c_schunk_lock(turn.schunk, 0, NULL, &err), B2C_OK);
    b2i_lock_add_hold(turn.schunk->lock, &holds, &last);
    CHECK(b2i_lock_drop_hold(turn.schunk->lock, &holds, &last));
    CHECK(!would_wait_for_itself(other));
    CHECK_EQ(b2c_schunk_unlock(turn.schunk, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(other, 1, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_unlock(other, &err), B2C_OK);

    CHECK_EQ(b2c_schunk_lock(turn.schunk, 1, NULL, &err), B2C_OK); /* a writer that reads */
    CHECK_EQ(b2i_turn_hold(turn.schunk, &turn, &p.first, &changed, &err), B2C_OK);
    b2i_turn_let_go(turn.schunk, &turn, &p.first);
    CHECK(would_wait_for_itself(other));
    changed = -1; /* as when it was not taken */
    CHECK_EQ(b2i_turn_unlock(&turn, &changed, &err), B2C_OK);
    CHECK(would_wait_for_itself(other));
    changed = 0;
    CHECK_EQ(b2i_turn_unlock(&turn, &changed, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_lock(other, 1, NULL, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_unlock(other, &err), B2C_OK);
    CHECK_EQ(nfailed, 0);
}

/* Who has the turn waits for nobody of this process. */
static void test_rivals(b2c_schunk *other)
{
    bool yes = true, no = false;
    b2i_hold hold = { 0 };
    int changed = 0;
    b2c_error err = { 0 };
    b2i_turn_give_way(&turn);
    run(come, &no);
    CHECK_EQ(b2c_schunk_lock(other, 1, NULL, &err), B2C_OK);
    run(come, &yes);
    CHECK_EQ(b2i_turn_hold(turn.schunk, &turn, &hold, &changed, &err), B2C_E_LOCKED);
    CHECK_EQ(err.sys_errno, 0); /* it would be for ever */
    CHECK(!b2i_turn_has_rival(&turn));
    CHECK_EQ(b2c_schunk_unlock(other, &err), B2C_OK);
    run(come, &no);
    CHECK_EQ(nfailed, 0);
}

/* The first reader takes the lock file and the last one gives it up, on whatever thread. */
static void test_holds(void)
{
    const char *path = "test_turn.b2frame";
    b2c_schunk_params p;
    b2c_schunk *other = NULL;
    b2i_hold a = { 0 }, b = { 0 };
    pthread_t thread;
    void *held = &b;
    int changed = 0;
    b2c_error err;
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_FILE;
    p.path = path;
    p.replaces = p.lock = 1;
    turn = (b2i_turn){ 0 };
    CHECK_EQ(b2c_schunk_new(&p, &turn.schunk, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_flush(turn.schunk, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(path, 0, B2C_OPEN_UPDATE | B2C_OPEN_LOCK, NULL, &other, &err), B2C_OK);

    CHECK(!b2i_turn_is_used(&turn) && !b2i_turn_holds_here(&turn));
    b2i_turn_let_go(turn.schunk, &turn, &a); /* who holds nothing */
    CHECK_EQ(b2i_turn_hold(turn.schunk, &turn, &a, &changed, &err), B2C_OK);
    CHECK_EQ(b2i_turn_hold(turn.schunk, &turn, &b, &changed, &err), B2C_OK);
    CHECK(b2i_turn_is_used(&turn) && b2i_turn_holds_here(&turn));
    b2i_turn_let_go(turn.schunk, &turn, &a);
    b2i_turn_let_go(turn.schunk, &turn, &a); /* a second time */
    CHECK_EQ(b2c_schunk_lock(other, 1, NULL, &err), B2C_E_LOCKED);
    CHECK_EQ(pthread_create(&thread, NULL, let_go, &b), 0);
    CHECK_EQ(pthread_join(thread, &held), 0);
    CHECK(held == NULL);
    CHECK(!b2i_turn_is_used(&turn) && !b2i_turn_holds_here(&turn));
    CHECK_EQ(b2c_schunk_lock(other, 1, NULL, &err), B2C_OK);
    CHECK_EQ(b2i_turn_hold(turn.schunk, &turn, &a, &changed, &err), B2C_E_LOCKED);
    CHECK(!b2i_turn_is_used(&turn));
    CHECK_EQ(b2c_schunk_unlock(other, &err), B2C_OK);

    test_rivals(other);
    test_owners(other);

    CHECK_EQ(b2i_turn_begin(&turn, &err), B2C_OK);
    CHECK(turn.is_begun);
    CHECK_EQ(b2i_turn_commit(&turn, &err), B2C_OK);
    CHECK(!turn.is_begun);
    CHECK_EQ(b2i_turn_begin(&turn, &err), B2C_OK);
    b2i_turn_rollback(&turn);
    CHECK(!turn.is_begun);
    b2c_schunk_free(other);
    b2c_schunk_free(turn.schunk);
    (void)remove(path);
    (void)remove("test_turn.b2frame.b2lock");
}

int main(void)
{
    test_turns();
    test_index_info();
    test_holds();
    test_threads();
    return RESULT();
}
