/*
 * turn.c: readers and writers of a super-chunk that the threads of a Python process share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "turn.h"

#include <stdbool.h>

/* Sequentially consistent, as those who look for others must see who came before them. */
#define PUT(field, value) __atomic_store_n(&turn->field, value, __ATOMIC_SEQ_CST)
#define GET(field)        __atomic_load_n(&turn->field, __ATOMIC_SEQ_CST)
#define ADD(field, n)     ((void)__atomic_add_fetch(&turn->field, n, __ATOMIC_SEQ_CST))

int b2i_turn_look(b2i_turn *turn)
{
    PUT(was_read, 1);
    return GET(is_written) ? -1 : GET(is_open);
}

int b2i_turn_is_used(const b2i_turn *turn)
{
    return GET(nreaders) > 0 || GET(is_written);
}

int b2i_turn_open(b2i_turn *turn, int is_open)
{
    ADD(nedits, 1); /* before others may look, */
    PUT(is_open, is_open);
    ADD(nedits, 1); /* and after the last one did */
    return b2i_turn_is_used(turn);
}

static bool begin_read(b2i_turn *turn)
{
    ADD(nreaders, 1);
    if (GET(is_open) && !GET(is_written)) {
        return true;
    }
    ADD(nreaders, -1);
    return false;
}

/* What a function of the user's has raised stays, whatever was read. */
static int end_read(b2i_turn *turn, b2c_status st)
{
    bool is_sure = !turn->may_outdate || st == B2C_E_CALLBACK ||
                   (st == B2C_OK && b2c_schunk_is_current(turn->schunk));
    ADD(nreaders, -1);
    return is_sure ? (int)st : B2I_NOT_FREE;
}

static void end_edit(b2i_turn *turn)
{
    ADD(nedits, 1);
    PUT(is_written, 0);
}

static bool begin_edit(b2i_turn *turn)
{
    if (__atomic_exchange_n(&turn->is_written, 1, __ATOMIC_SEQ_CST) != 0) {
        return false;
    }
    if (GET(is_open) && !GET(was_read) && GET(nreaders) == 0) {
        return true;
    }
    PUT(is_written, 0);
    return false;
}

int b2i_turn_decode_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                          size_t *dst_len, b2c_error *err)
{
    if (!begin_read(turn)) {
        return B2I_NOT_FREE;
    }
    b2c_status st = b2c_schunk_decode_chunk(turn->schunk, ctx, number, dst, cap, dst_len, err);
    return end_read(turn, st);
}

int b2i_turn_get_chunk(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                       size_t *dst_len, b2c_error *err)
{
    (void)ctx;
    if (!begin_read(turn)) {
        return B2I_NOT_FREE;
    }
    b2c_status st = b2c_schunk_get_chunk(turn->schunk, number, dst, cap, dst_len, err);
    return end_read(turn, st);
}

int b2i_turn_read(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, void *dst, size_t cap,
                  size_t *dst_len, b2c_error *err)
{
    if (!begin_read(turn)) {
        return B2I_NOT_FREE;
    }
    *dst_len = cap;
    b2c_status st = b2c_schunk_read(turn->schunk, ctx, number, cap, dst, cap, err);
    return end_read(turn, st);
}

static size_t count(const b2i_turn *turn)
{
    b2c_schunk_info info;
    b2c_schunk_info_get(turn->schunk, &info);
    return (size_t)info.nchunks;
}

int b2i_turn_append(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                    size_t *nchunks, b2c_error *err)
{
    (void)number;
    if (!begin_edit(turn)) {
        return B2I_NOT_FREE;
    }
    b2c_status st = b2c_schunk_append(turn->schunk, ctx, src, n, err);
    *nchunks = count(turn);
    end_edit(turn);
    return (int)st;
}

int b2i_turn_insert(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                    size_t *nchunks, b2c_error *err)
{
    if (!begin_edit(turn)) {
        return B2I_NOT_FREE;
    }
    b2c_status st = b2c_schunk_insert(turn->schunk, ctx, number, src, n, err);
    *nchunks = count(turn);
    end_edit(turn);
    return (int)st;
}

int b2i_turn_update(b2i_turn *turn, b2c_ctx *ctx, uint64_t number, const void *src, size_t n,
                    size_t *nchunks, b2c_error *err)
{
    if (!begin_edit(turn)) {
        return B2I_NOT_FREE;
    }
    b2c_status st = b2c_schunk_update(turn->schunk, ctx, number, src, n, err);
    *nchunks = count(turn);
    end_edit(turn);
    return (int)st;
}
