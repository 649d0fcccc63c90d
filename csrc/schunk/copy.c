/*
 * copy.c: chunks of another super-chunk, as they are stored, and its vlmetalayers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"

/* n chunks of those with these numbers, or from the first one on if there are none. */
static b2c_status append_these(const b2c_schunk *from, const uint64_t *numbers, uint64_t n,
                               b2c_schunk *to, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2c_status st = B2C_OK;
    uint64_t total = 0;
    for (uint64_t i = 0; i < n && st == B2C_OK; i++) {
        b2i_span chunk;
        uint64_t number = numbers == NULL ? i : numbers[i];
        st = b2i_schunk_chunk_bytes(from, number, &scratch, &chunk, err);
        if (st == B2C_OK && numbers == NULL && !b2i_is_special(b2i_state_entry(&from->now, i))) {
            total += chunk.n; /* each once: no more than there is */
            st = b2i_places_check_total(from, total, err);
        }
        if (st == B2C_OK) {
            st = b2i_schunk_append_chunk(to, chunk, err);
        }
    }
    b2i_scratch_free(&scratch);
    return st;
}

/* The same where all chunks are the same special one, and no others are there; false: not done. */
static b2c_status append_uniform(const b2c_schunk *from, b2c_schunk *to, bool *done, b2c_error *err)
{
    const b2i_state *now = &from->now;
    b2i_scratch scratch[2] = { { 0 } };
    b2i_span chunk, last;
    *done = false;
    if (now->entries != NULL || now->nchunks == 0) {
        return B2C_OK;
    }
    b2c_status st;
    B2I_GO(st, b2i_schunk_chunk_bytes(from, 0, &scratch[0], &chunk, err));
    B2I_GO(st, b2i_schunk_chunk_bytes(from, now->nchunks - 1, &scratch[1], &last, err));
    B2I_GO(st, b2i_schunk_fill_uniform(to, chunk, last, now->nbytes, done, err));
out:
    b2i_scratch_free(&scratch[0]);
    b2i_scratch_free(&scratch[1]);
    return st;
}

static uint32_t count_new(const b2i_metas *from, const b2i_metas *to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        n += b2i_metas_find(to, from->v[i].name) == NULL;
    }
    return n;
}

b2c_status b2i_schunk_copy_chunks(const b2c_schunk *from, b2c_schunk *to, b2c_error *err)
{
    b2i_steps steps;
    if (from == to) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "to",
                              "a super-chunk cannot be copied to itself");
    }
    uint32_t nnew = count_new(&from->now.vlmetas, &to->now.vlmetas);
    B2I_TRY(b2i_vlmetas_check_room(&to->now.vlmetas, nnew, err));
    B2I_TRY(b2i_schunk_begin_steps(to, &steps, err));
    bool done;
    b2i_metas merged = { 0 }; /* made first: without memory nothing has changed */
    b2c_status st;
    B2I_GO(st, b2i_metas_copy(&to->now.vlmetas, &merged, err));
    B2I_GO(st, b2i_metas_merge(&from->now.vlmetas, &merged, err));
    B2I_GO(st, append_uniform(from, to, &done, err));
    if (!done) {
        B2I_GO(st, append_these(from, NULL, from->now.nchunks, to, err));
    }
    b2i_metas old = to->now.vlmetas;
    to->now.vlmetas = merged;
    merged = old;
out:
    b2i_metas_free(&merged);
    return b2i_schunk_end_appends(to, steps, st, err);
}

b2c_status b2i_schunk_copy_some(const b2c_schunk *from, const uint64_t *numbers, uint64_t n,
                                b2c_schunk *to, b2c_error *err)
{
    b2i_steps steps;
    if (from == to) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "to",
                              "a super-chunk cannot be copied to itself");
    }
    for (uint64_t i = 0; i < n; i++) { /* steps inside a transaction stay when a later one fails */
        B2I_TRY(b2i_schunk_check_nchunk(from, numbers[i], from->now.nchunks, err));
    }
    B2I_TRY(b2i_schunk_begin_steps(to, &steps, err));
    b2c_status st = append_these(from, numbers, n, to, err);
    return b2i_schunk_end_appends(to, steps, st, err);
}
