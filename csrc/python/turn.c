/*
 * turn.c: readers and writers of a super-chunk that the threads of a Python process share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "turn.h"
#include "schunk.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

/* Sequentially consistent, as those who look for others must see who came before them. */
#define PUT(field, value) __atomic_store_n(&turn->field, value, __ATOMIC_SEQ_CST)
#define GET(field)        __atomic_load_n(&turn->field, __ATOMIC_SEQ_CST)
#define ADD(field, n)     ((void)__atomic_add_fetch(&turn->field, n, __ATOMIC_SEQ_CST))

/*
 * Whether this thread may begin.  Python sets 'writer' in one step, which no signal handler
 * interrupts: who has left a transaction finds nothing open to it.
 */
static bool is_free(const b2i_turn *turn)
{
    const int is_open = GET(is_open);
    return is_open == B2I_OPEN || (is_open == B2I_OPEN_TO_WRITER &&
                                   GET(writer) == (unsigned long)(uintptr_t)pthread_self());
}

int b2i_turn_look(b2i_turn *turn)
{
    PUT(was_read, 1);
    return GET(is_written) ? -1 : is_free(turn);
}

/* For a few steps only, of which none waits for anything. */
static void begin_listing(b2i_turn *turn)
{
    while (__atomic_exchange_n(&turn->is_listing, 1, __ATOMIC_SEQ_CST) != 0) {
        (void)sched_yield();
    }
}

static void end_listing(b2i_turn *turn)
{
    PUT(is_listing, 0);
}

int b2i_turn_is_used(b2i_turn *turn)
{
    begin_listing(turn);
    bool is_held = turn->holds != NULL;
    end_listing(turn);
    return is_held || GET(nreaders) > 0 || GET(is_written);
}

int b2i_turn_open(b2i_turn *turn, int is_open)
{
    ADD(nedits, 1); /* before others may look, */
    PUT(is_open, is_open);
    ADD(nedits, 1); /* and after the last one did */
    return b2i_turn_is_used(turn);
}

/* A call that is under way, and the one of the same thread in the middle of which it is made. */
typedef struct call {
    const b2i_turn *turn;
    bool is_edit;
    struct call *outer;
} call;

static __thread call *innermost;

/* Not inline: gcc 12 would warn of a pointer to what is gone, as if nobody left. */
static __attribute__((noinline)) void enter(call *c, const b2i_turn *turn, bool is_edit)
{
    c->turn = turn;
    c->is_edit = is_edit;
    c->outer = innermost;
    innermost = c;
}

static void leave(const call *c)
{
    innermost = c->outer;
}

int b2i_turn_is_here(const b2i_turn *turn)
{
    const call *c = innermost;
    while (c != NULL && c->turn != turn) {
        c = c->outer;
    }
    return c != NULL;
}

int b2i_turn_hold(b2c_schunk *schunk, b2i_turn *turn, b2i_hold *hold, int *changed, b2c_error *err)
{
    begin_listing(turn);
    bool is_held = turn->holds != NULL;
    if (is_held) {
        b2i_lock_add_hold(schunk->lock, &turn->holds, hold);
    }
    end_listing(turn);
    if (is_held) {
        return B2C_OK;
    }
    b2c_status st = b2c_schunk_lock(schunk, 0, changed, err);
    if (st == B2C_OK) {
        begin_listing(turn);
        b2i_lock_add_hold(schunk->lock, &turn->holds, hold);
        end_listing(turn);
    }
    return (int)st;
}

void b2i_free_left(b2c_schunk **left)
{
    b2c_schunk_free(*left);
}

/* Nobody has edited while the file was held for reading: there is nothing that could fail. */
void b2i_turn_let_go(b2c_schunk *schunk, b2i_turn *turn, b2i_hold *hold)
{
    begin_listing(turn);
    if (turn->holds != NULL && b2i_lock_drop_hold(schunk->lock, &turn->holds, hold) &&
        turn->holds == NULL) {
        b2c_status st = b2c_schunk_unlock(schunk, NULL);
        (void)st;
    }
    end_listing(turn);
}

int b2i_turn_holds_here(b2i_turn *turn)
{
    begin_listing(turn);
    const b2i_hold *hold = turn->holds;
    while (hold != NULL && hold->thread != b2i_lock_thread()) {
        hold = hold->next;
    }
    end_listing(turn);
    return hold != NULL;
}

int b2i_turn_unlock(b2i_turn *turn, const int *changed, b2c_error *err)
{
    bool is_held = *changed >= 0 && turn->schunk != NULL;
    return is_held ? (int)b2c_schunk_unlock(turn->schunk, err) : B2C_OK;
}

void b2i_turn_give_way(b2i_turn *turn)
{
    if (turn->schunk != NULL && turn->schunk->lock != NULL) {
        b2i_lock_give_way(turn->schunk->lock);
    }
}

int b2i_turn_has_rival(b2i_turn *turn)
{
    const b2c_schunk *s = turn->schunk;
    return s != NULL && s->lock != NULL && s->store->is_writable && b2i_lock_has_rival(s->lock);
}

int b2i_turn_forked(b2i_turn *turn)
{
    int nreaders = 0, is_written = 0;
    for (const call *c = innermost; c != NULL; c = c->outer) {
        nreaders += c->turn == turn && !c->is_edit;
        is_written |= c->turn == turn && c->is_edit;
    }
    PUT(nreaders, nreaders);
    PUT(is_written, is_written);
    PUT(is_listing, 0);
    bool is_held = b2i_turn_holds_here(turn) != 0;
    turn->holds = NULL;
    return is_held || nreaders > 0 || is_written;
}

int b2i_turn_begin(b2i_turn *turn, b2c_error *err)
{
    b2c_status st = b2c_schunk_begin(turn->schunk, err);
    turn->is_begun = st == B2C_OK;
    return (int)st;
}

int b2i_turn_commit(b2i_turn *turn, b2c_error *err)
{
    (void)b2i_turn_open(turn, 0);
    b2c_status st = b2c_schunk_commit(turn->schunk, err);
    turn->is_begun = st != B2C_OK;
    return (int)st;
}

void b2i_turn_rollback(b2i_turn *turn)
{
    (void)b2i_turn_open(turn, 0);
    b2c_status st = b2c_schunk_rollback(turn->schunk, NULL);
    (void)st; /* a commit that failed may have left nothing */
    turn->is_begun = 0;
}

static bool begin_read(b2i_turn *turn, call *c)
{
    ADD(nreaders, 1);
    if (is_free(turn) && !GET(is_written)) {
        enter(c, turn, false);
        return true;
    }
    ADD(nreaders, -1);
    return false;
}

/* What a function of the user's has raised stays, whatever was read. */
static int end_read(b2i_turn *turn, const call *c, int st)
{
    leave(c);
    bool is_read = st == B2C_OK || st == B2C_E_OUTPUT_SIZE; /* a length, too, is what is there */
    bool is_sure = !turn->may_outdate || st == B2C_E_CALLBACK ||
                   (is_read && b2c_schunk_is_current(turn->schunk));
    ADD(nreaders, -1);
    return is_sure ? st : B2I_NOT_FREE;
}

#define READ(turn, what)                                                                           \
    do {                                                                                           \
        call c;                                                                                    \
        if (!begin_read(turn, &c)) {                                                               \
            return B2I_NOT_FREE;                                                                   \
        }                                                                                          \
        return end_read(turn, &c, (int)(what));                                                    \
    } while (0)

static bool begin_edit(b2i_turn *turn, call *c)
{
    if (__atomic_exchange_n(&turn->is_written, 1, __ATOMIC_SEQ_CST) != 0) {
        return false;
    }
    if (is_free(turn) && !GET(was_read) && GET(nreaders) == 0) {
        enter(c, turn, true);
        return true;
    }
    PUT(is_written, 0);
    return false;
}

int b2i_turn_decode_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                          size_t *dst_len, b2c_error *err)
{
    READ(turn, b2c_schunk_decode_chunk(turn->schunk, ctx, number, dst, cap, dst_len, err));
}

int b2i_turn_get_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                       size_t *dst_len, b2c_error *err)
{
    (void)ctx;
    READ(turn, b2c_schunk_get_chunk(turn->schunk, number, dst, cap, dst_len, err));
}

int b2i_turn_to_frame(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                      size_t *dst_len, b2c_error *err)
{
    (void)ctx;
    (void)number;
    READ(turn, b2c_schunk_to_frame(turn->schunk, dst, cap, dst_len, err));
}

static bool is_within(const b2c_schunk *schunk, uint64_t at, size_t n)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(schunk, &info);
    return at <= info.nbytes && n <= info.nbytes - at;
}

int b2i_turn_read(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                  size_t *dst_len, b2c_error *err)
{
    *dst_len = cap;
    READ(turn, is_within(turn->schunk, number, cap)
                   ? (int)b2c_schunk_read(turn->schunk, ctx, number, cap, dst, cap, err)
                   : B2I_NOT_FREE);
}

int b2i_turn_meta_get(b2i_turn *turn, b2c_ctx *ctx, const char *name, void *dst, size_t cap,
                      size_t *dst_len, b2c_error *err)
{
    (void)ctx;
    READ(turn, b2c_schunk_meta_get(turn->schunk, name, dst, cap, dst_len, err));
}

int b2i_turn_vlmeta_get(b2i_turn *turn, b2c_ctx *ctx, const char *name, void *dst, size_t cap,
                        size_t *dst_len, b2c_error *err)
{
    READ(turn, b2c_schunk_vlmeta_get(turn->schunk, ctx, name, dst, cap, dst_len, err));
}

int b2i_turn_info(b2i_turn *turn, b2c_schunk_info *info)
{
    call c;
    if (!begin_read(turn, &c)) {
        return B2I_NOT_FREE;
    }
    b2c_schunk_info_get(turn->schunk, info);
    leave(&c);
    ADD(nreaders, -1);
    return B2C_OK;
}

int b2i_turn_chunk_info(b2i_turn *turn, uint64_t number, b2c_chunk_info *info, b2c_error *err)
{
    READ(turn, b2c_schunk_chunk_info(turn->schunk, number, info, err));
}

int b2i_turn_index_info(b2i_turn *turn, uint64_t number, b2c_chunk_info *info)
{
    call c;
    int st = B2I_NOT_FREE;
    if (!begin_read(turn, &c)) {
        return st;
    }
    const b2i_state *now = &turn->schunk->now;
    if (number < now->nchunks && b2i_is_special(b2i_state_entry(now, number))) {
        st = (int)b2c_schunk_chunk_info(turn->schunk, number, info, NULL);
    }
    leave(&c);
    ADD(nreaders, -1);
    return st == B2C_OK ? st : B2I_NOT_FREE;
}

int b2i_turn_nd_open(b2i_turn *turn, b2c_nd *nd, char *dtype, size_t cap, size_t *len)
{
    call c;
    const void *stored = NULL;
    if (!begin_read(turn, &c)) {
        return B2I_NOT_FREE;
    }
    int st = (int)b2c_nd_open(turn->schunk, nd, &stored, len, NULL);
    st = st == B2C_OK && *len <= cap ? st : B2I_NOT_FREE;
    if (st == B2C_OK && *len != 0) {
        memcpy(dtype, stored, *len);
    }
    leave(&c);
    ADD(nreaders, -1);
    return st;
}

static int end_edit(b2i_turn *turn, const call *c, int st, size_t *nchunks)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(turn->schunk, &info);
    *nchunks = (size_t)info.nchunks;
    leave(c);
    ADD(nedits, 1);
    PUT(is_written, 0);
    return st;
}

#define EDIT(turn, nchunks, what)                                                                  \
    do {                                                                                           \
        call c;                                                                                    \
        if (!begin_edit(turn, &c)) {                                                               \
            return B2I_NOT_FREE;                                                                   \
        }                                                                                          \
        return end_edit(turn, &c, (int)(what), nchunks);                                           \
    } while (0)

int b2i_turn_vlmeta_set(b2i_turn *turn, b2c_ctx *ctx, const char *name, const void *src, size_t n,
                        b2c_error *err)
{
    size_t nchunks;
    EDIT(turn, &nchunks,
         src != NULL ? b2c_schunk_vlmeta_set(turn->schunk, ctx, name, src, n, err)
                     : b2c_schunk_vlmeta_delete(turn->schunk, name, err));
}

int b2i_turn_append(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                    size_t *nchunks, b2c_error *err)
{
    (void)number;
    EDIT(turn, nchunks, b2c_schunk_append(turn->schunk, ctx, src, n, err));
}

int b2i_turn_insert(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                    size_t *nchunks, b2c_error *err)
{
    EDIT(turn, nchunks, b2c_schunk_insert(turn->schunk, ctx, number, src, n, err));
}

int b2i_turn_update(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                    size_t *nchunks, b2c_error *err)
{
    EDIT(turn, nchunks, b2c_schunk_update(turn->schunk, ctx, number, src, n, err));
}

int b2i_turn_write(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                   size_t *nchunks, b2c_error *err)
{
    EDIT(turn, nchunks,
         is_within(turn->schunk, number, n)
             ? (int)b2c_schunk_write(turn->schunk, ctx, number, src, n, err)
             : B2I_NOT_FREE);
}

int b2i_turn_append_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                          size_t *nchunks, b2c_error *err)
{
    (void)ctx;
    (void)number;
    EDIT(turn, nchunks, b2c_schunk_append_chunk(turn->schunk, src, n, err));
}

int b2i_turn_insert_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                          size_t *nchunks, b2c_error *err)
{
    (void)ctx;
    EDIT(turn, nchunks, b2c_schunk_insert_chunk(turn->schunk, number, src, n, err));
}

int b2i_turn_update_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                          size_t *nchunks, b2c_error *err)
{
    (void)ctx;
    EDIT(turn, nchunks, b2c_schunk_update_chunk(turn->schunk, number, src, n, err));
}

int b2i_turn_delete_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                          size_t *nchunks, b2c_error *err)
{
    (void)ctx;
    (void)src;
    (void)n;
    EDIT(turn, nchunks, b2c_schunk_delete_chunk(turn->schunk, number, err));
}

static bool is_item(const b2c_schunk *schunk, size_t len)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(schunk, &info);
    return len == info.typesize;
}

int b2i_turn_fill_special(b2i_turn *turn, uint64_t nbytes, uint8_t kind, const void *value,
                          size_t len, size_t *nchunks, b2c_error *err)
{
    EDIT(turn, nchunks,
         value == NULL || is_item(turn->schunk, len)
             ? (int)b2c_schunk_fill_special(turn->schunk, nbytes, kind, value, err)
             : B2I_NOT_FREE);
}

static int copy_some(b2i_turn *turn, const b2c_schunk *from, const uint64_t *numbers, uint64_t n,
                     size_t *nchunks, b2c_error *err)
{
    EDIT(turn, nchunks, b2c_schunk_copy_some(from, numbers, n, turn->schunk, err));
}

/* What was copied cannot be taken back when it turns out to be of no state. */
int b2i_turn_copy_some(b2i_turn *turn, b2i_turn *from, const uint64_t *numbers, uint64_t n,
                       size_t *nchunks, b2c_error *err)
{
    call c;
    if (from->may_outdate || !begin_read(from, &c)) {
        return B2I_NOT_FREE;
    }
    int st = copy_some(turn, from->schunk, numbers, n, nchunks, err);
    return end_read(from, &c, st);
}

int b2i_turn_nd_append(b2i_turn *turn, b2c_ctx *ctx, const b2c_nd *nd, uint64_t first, uint64_t n,
                       const void *src, size_t len, size_t *nchunks, b2c_error *err)
{
    EDIT(turn, nchunks, b2c_nd_append_chunks(turn->schunk, ctx, nd, first, n, src, len, err));
}
