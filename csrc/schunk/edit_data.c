/*
 * edit_data.c: edits of the decoded data: ranges of bytes, special values, length.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"
#include "checked.h"

/* ---- special chunks ---- */

static b2c_status make_special(const b2c_schunk *s, uint64_t nbytes, uint8_t kind,
                               const uint8_t *value, b2i_scratch *scratch, b2i_span *out,
                               b2c_error *err)
{
    size_t cap = B2C_HEADER_LEN + (size_t)s->now.cparams.typesize, len;
    if (kind == B2C_SPECIAL_VALUE && value == NULL) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "value",
                              "a repeated value is missing");
    }
    uint8_t *p = b2i_scratch_get(scratch, cap);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_special_encode(&s->now.cparams, kind, nbytes, value, p, cap, &len, err));
    *out = b2i_span_of(p, len);
    return B2C_OK;
}

static b2c_status append_specials(b2c_schunk *s, uint64_t nbytes, uint64_t size, uint8_t kind,
                                  const uint8_t *value, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_span chunk = { NULL, 0 };
    b2c_status st = B2C_OK;
    uint64_t made = 0;
    while (nbytes > 0 && st == B2C_OK) {
        uint64_t n = nbytes < size ? nbytes : size;
        if (n != made) {
            st = make_special(s, n, kind, value, &scratch, &chunk, err);
            made = n;
        }
        if (st == B2C_OK) {
            st = b2i_schunk_append_chunk(s, chunk, err);
        }
        nbytes -= n;
    }
    b2i_scratch_free(&scratch);
    return st;
}

/* The same of an empty super-chunk at once, where the index can tell it. */
static b2c_status fill_empty(b2c_schunk *s, uint64_t nbytes, uint64_t size, uint8_t kind,
                             bool *done, b2c_error *err)
{
    b2i_scratch scratch[2] = { { 0 } };
    b2i_span chunk, last;
    b2c_status st;
    *done = false;
    if (s->now.nchunks > 0 || nbytes <= size || kind == B2C_SPECIAL_VALUE) {
        return B2C_OK;
    }
    uint64_t rest = nbytes % size;
    B2I_GO(st, make_special(s, size, kind, NULL, &scratch[0], &chunk, err));
    B2I_GO(st, make_special(s, rest == 0 ? size : rest, kind, NULL, &scratch[1], &last, err));
    B2I_GO(st, b2i_schunk_fill_uniform(s, chunk, last, nbytes, done, err));
out:
    b2i_scratch_free(&scratch[0]);
    b2i_scratch_free(&scratch[1]);
    return st;
}

b2c_status b2i_schunk_fill_special(b2c_schunk *s, uint64_t nbytes, uint8_t kind,
                                   const uint8_t *value, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    uint64_t size = s->now.chunksize > 0 ? (uint64_t)s->now.chunksize : nbytes;
    if (size > B2C_MAX_CHUNK_NBYTES) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "chunksize",
                              "the super-chunk has no chunksize and the data is too large for one "
                              "chunk");
    }
    if (nbytes == 0) {
        return B2C_OK;
    }
    b2i_steps steps;
    bool done;
    B2I_TRY(b2i_schunk_begin_steps(s, &steps, err));
    b2c_status st = fill_empty(s, nbytes, size, kind, &done, err);
    if (st == B2C_OK && !done) {
        B2I_GO(st, b2i_state_reserve(&s->now, b2i_ceil_div(nbytes, size), err));
        st = append_specials(s, nbytes, size, kind, value, err);
    }
out:
    return b2i_schunk_end_appends(s, steps, st, err);
}

b2c_status b2i_schunk_update_special(b2c_schunk *s, uint64_t nchunk, uint8_t kind,
                                     const uint8_t *value, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    b2i_span chunk;
    B2I_TRY(b2i_schunk_check_writable(s, err));
    B2I_TRY(b2i_schunk_check_nchunk(s, nchunk, s->now.nchunks, err));
    b2c_status st =
        make_special(s, b2i_schunk_chunk_nbytes(s, nchunk), kind, value, &scratch, &chunk, err);
    if (st == B2C_OK) {
        st = b2i_schunk_update_chunk(s, nchunk, chunk, err);
    }
    b2i_scratch_free(&scratch);
    return st;
}

/* ---- ranges ---- */

typedef struct write_job {
    b2c_schunk *s;
    b2c_ctx *ctx;
    b2i_scratch data;  /* a decoded chunk */
    b2i_scratch chunk; /* its compressed form */
} write_job;

static b2c_status update_data(write_job *j, uint64_t nchunk, b2i_span data, b2c_error *err)
{
    b2i_span chunk;
    B2I_TRY(b2i_schunk_compress(j->s, j->ctx, nchunk, &j->s->pre, data, &j->chunk, &chunk, err));
    return b2i_schunk_update_chunk(j->s, nchunk, chunk, err);
}

static b2c_status append_data(write_job *j, const b2i_hook *pre, b2i_span data, b2c_error *err)
{
    b2i_span chunk;
    B2I_TRY(
        b2i_schunk_compress(j->s, j->ctx, j->s->now.nchunks, pre, data, &j->chunk, &chunk, err));
    return b2i_schunk_append_made(j->s, &j->chunk, chunk, err);
}

static b2c_status refuse_vlblocks(const b2c_schunk *s, uint64_t nchunk, b2c_error *err)
{
    b2i_chunk_head head;
    B2I_TRY(b2i_schunk_chunk_head(s, nchunk, &head, err));
    if (head.has_vlblocks) {
        (void)b2i_fail(err, B2C_E_UNSUPPORTED, B2C_NO_OFFSET,
                       "a chunk of variable-size blocks can only be replaced as a whole");
        b2i_err_chunk(err, (int64_t)nchunk);
        return B2C_E_UNSUPPORTED;
    }
    return B2C_OK;
}

/* Chunk n with 'src' at byte 'at' of it, and of 'nbytes' then. */
static b2c_status patch_chunk(write_job *j, uint64_t nchunk, uint64_t at, b2i_span src,
                              uint64_t nbytes, b2c_error *err)
{
    size_t len;
    B2I_TRY(refuse_vlblocks(j->s, nchunk, err));
    if (at == 0 && src.n == nbytes) {
        return update_data(j, nchunk, src, err);
    }
    uint64_t old = b2i_schunk_chunk_nbytes(j->s, nchunk);
    size_t cap = (size_t)(old > nbytes ? old : nbytes);
    uint8_t *p = b2i_scratch_get(&j->data, cap);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_schunk_decode_chunk(j->s, j->ctx, nchunk, NULL, p, cap, &len, err));
    if (src.n > 0) {
        memcpy(p + at, src.p, src.n);
    }
    return update_data(j, nchunk, b2i_span_of(p, (size_t)nbytes), err);
}

/* The part of src that lies in existing chunks. */
static b2c_status overwrite(write_job *j, uint64_t at, b2i_span *src, b2c_error *err)
{
    b2c_schunk *s = j->s;
    while (src->n > 0 && at < s->now.nbytes) {
        uint64_t nchunk = b2i_schunk_chunk_of(s, at);
        uint64_t inner = at - b2i_schunk_chunk_at(s, nchunk);
        uint64_t nbytes = b2i_schunk_chunk_nbytes(s, nchunk);
        uint64_t part = src->n < nbytes - inner ? src->n : nbytes - inner;
        B2I_TRY(patch_chunk(j, nchunk, inner, b2i_span_of(src->p, (size_t)part), nbytes, err));
        *src = b2i_span_of(src->p + part, src->n - (size_t)part);
        at += part;
    }
    return B2C_OK;
}

/* Fills up a last chunk that is shorter than the others. */
static b2c_status fill_last(write_job *j, b2i_span *src, b2c_error *err)
{
    const b2i_state *now = &j->s->now;
    if (now->chunksize <= 0 || now->nbytes % (uint64_t)now->chunksize == 0 || src->n == 0) {
        return B2C_OK;
    }
    uint64_t last = now->nchunks - 1;
    uint64_t have = b2i_schunk_chunk_nbytes(j->s, last);
    uint64_t room = (uint64_t)now->chunksize - have;
    uint64_t part = src->n < room ? src->n : room;
    B2I_TRY(patch_chunk(j, last, have, b2i_span_of(src->p, (size_t)part), have + part, err));
    *src = b2i_span_of(src->p + part, src->n - (size_t)part);
    return B2C_OK;
}

static b2c_status grow(write_job *j, b2i_span src, b2c_error *err)
{
    while (src.n > 0) {
        uint64_t size = j->s->now.chunksize > 0 ? (uint64_t)j->s->now.chunksize
                                                : (uint64_t)B2C_MAX_CHUNK_NBYTES;
        size_t part = src.n < size ? src.n : (size_t)size;
        B2I_TRY(append_data(j, &j->s->pre, b2i_span_of(src.p, part), err));
        src = b2i_span_of(src.p + part, src.n - part);
    }
    return B2C_OK;
}

b2c_status b2i_schunk_write(b2c_schunk *s, b2c_ctx *ctx, uint64_t at, b2i_span src, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (at > s->now.nbytes) {
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                              "the range starts behind the end of the data", s->now.nbytes, at);
    }
    write_job j = { .s = s, .ctx = ctx };
    b2i_steps steps;
    B2I_TRY(b2i_schunk_begin_steps(s, &steps, err));
    b2c_status st = overwrite(&j, at, &src, err);
    st = st == B2C_OK ? fill_last(&j, &src, err) : st;
    bool appends = s->edits == steps.edits;
    st = st == B2C_OK ? grow(&j, src, err) : st;
    b2i_scratch_free(&j.data);
    b2i_scratch_free(&j.chunk);
    return appends ? b2i_schunk_end_appends(s, steps, st, err)
                   : b2i_schunk_end_steps(s, steps, st, err);
}

static b2c_status fill(write_job *j, const b2i_hook *hook, uint64_t nbytes, b2c_error *err)
{
    uint64_t size = (uint64_t)j->s->now.chunksize;
    for (uint64_t n; nbytes > 0; nbytes -= n) {
        n = nbytes < size ? nbytes : size;
        B2I_TRY(append_data(j, hook, b2i_span_of(NULL, (size_t)n), err));
    }
    return B2C_OK;
}

b2c_status b2i_schunk_fill(b2c_schunk *s, b2c_ctx *ctx, uint64_t nbytes, b2i_hook hook,
                           b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (s->now.chunksize <= 0) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "chunksize",
                              "the super-chunk has no chunksize");
    }
    uint64_t nchunks = s->now.nchunks + b2i_ceil_div(nbytes, (uint64_t)s->now.chunksize);
    if (nchunks > B2I_MAX_NCHUNKS) {
        return b2i_fail_sizes(err, B2C_E_LIMIT, B2C_NO_OFFSET, "a frame cannot have more chunks",
                              B2I_MAX_NCHUNKS, nchunks);
    }
    write_job j = { .s = s, .ctx = ctx };
    b2i_steps steps;
    B2I_TRY(b2i_schunk_begin_steps(s, &steps, err));
    b2c_status st = fill(&j, &hook, nbytes, err);
    b2i_scratch_free(&j.chunk);
    return b2i_schunk_end_appends(s, steps, st, err);
}

static b2c_status cut(write_job *j, uint64_t nbytes, b2c_error *err)
{
    b2c_schunk *s = j->s;
    uint64_t n = s->now.nchunks;
    while (n > 0 && b2i_schunk_chunk_at(s, n - 1) >= nbytes) {
        n--;
    }
    b2i_schunk_keep_first(s, n);
    if (s->now.nbytes > nbytes) {
        uint64_t left = nbytes - b2i_schunk_chunk_at(s, n - 1);
        B2I_TRY(patch_chunk(j, n - 1, 0, b2i_span_of(NULL, 0), left, err));
    }
    return B2C_OK;
}

b2c_status b2i_schunk_truncate(b2c_schunk *s, b2c_ctx *ctx, uint64_t nbytes, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (nbytes > s->now.nbytes) {
        return b2i_fail_sizes(err, B2C_E_RANGE, B2C_NO_OFFSET,
                              "the new length is larger than the data", s->now.nbytes, nbytes);
    }
    write_job j = { .s = s, .ctx = ctx };
    b2i_steps steps;
    B2I_TRY(b2i_schunk_begin_steps(s, &steps, err));
    b2c_status st = cut(&j, nbytes, err);
    b2i_scratch_free(&j.data);
    b2i_scratch_free(&j.chunk);
    return b2i_schunk_end_steps(s, steps, st, err);
}
