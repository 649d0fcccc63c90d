/*
 * chunk_open.c: opens chunks: finds out what the header means where that is not certain.
 *
 * Two kinds of chunks are stored in a way that the header does not tell: chunks of Blosc 1.x whose
 * split rule differs from the flag, and chunks of some 3.x libraries whose blocks were cut at the
 * multiple of the type size below the recorded block size.  For both there is a likely reading and
 * another one; the other one is taken when only it decodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "chunk_parse.h"
#include "checked.h"

/* Whether a failure says something about the chunk. */
static bool is_of_chunk(b2c_status st)
{
    return st != B2C_E_MEMORY && st != B2C_E_IO;
}

/* Whether every block of an open chunk decodes, with a context of its own. */
static b2c_status probe(const b2i_chunk *c, bool *fits, b2c_error *err)
{
    b2c_ctx *ctx = NULL;
    b2i_scratch block = { 0 };
    uint32_t nworkers;
    b2c_status st;
    B2I_GO(st, b2c_ctx_new(NULL, 1, NULL, &ctx, err));
    B2I_GO(st, b2i_ctx_prepare(ctx, 1, &nworkers, err));
    uint8_t *p = b2i_scratch_get(&block, c->head.blocksize);
    if (p == NULL) {
        st = b2i_fail_memory(err);
        goto out;
    }
    st = b2i_chunk_decode_begin(ctx, c, err);
    for (uint32_t i = 0; st == B2C_OK && i < c->head.nblocks; i++) {
        st = b2i_chunk_decode_unit(ctx, 0, c, i, p, err);
    }
    *fits = st == B2C_OK;
    st = is_of_chunk(st) ? B2C_OK : st;
out:
    b2i_scratch_free(&block);
    b2c_ctx_free(ctx);
    return st;
}

/* Whether there is another reading than that of 'head'. */
static bool other_reading(const b2i_chunk_head *head, b2i_chunk_head *other)
{
    *other = *head;
    if (head->nblocks == 0 || head->has_vlblocks) {
        return false;
    }
    if (head->maybe_unsplit) {
        other->is_split = true;
        return true;
    }
    uint32_t rounded = head->blocksize - head->blocksize % head->typesize;
    if (rounded == head->blocksize || rounded == 0) {
        return false;
    }
    other->blocksize = rounded;
    other->nblocks = (uint32_t)b2i_ceil_div(head->nbytes, rounded);
    return (uint64_t)head->header_len + 4 * (uint64_t)other->nblocks <= head->cbytes;
}

static b2c_status choose_reading(const b2i_source *source, const b2i_chunk_head *head,
                                 const b2i_chunk_head *other, b2i_chunk *out, b2c_error *err)
{
    b2i_chunk c = { 0 };
    bool fits = false;
    b2c_status st = b2i_chunk_parse(source, head, &c, err);
    if (st == B2C_OK) {
        st = probe(&c, &fits, err);
    }
    if (!is_of_chunk(st) || fits) {
        goto out;
    }
    b2i_chunk d = { 0 };
    bool other_fits = false;
    b2c_error why;
    b2c_status st2 = b2i_chunk_parse(source, other, &d, &why);
    if (st2 == B2C_OK) {
        st2 = probe(&d, &other_fits, &why);
    }
    if (other_fits) {
        b2i_chunk_close(&c);
        c = d;
        st = B2C_OK;
        goto out;
    }
    b2i_chunk_close(&d);
    if (!is_of_chunk(st2)) { /* else neither decodes: the likely reading explains the damage */
        st = st2;
        if (err != NULL) {
            *err = why;
        }
    }
out:
    if (st != B2C_OK) {
        b2i_chunk_close(&c);
        return st;
    }
    *out = c;
    return B2C_OK;
}

b2c_status b2i_chunk_open_as(const b2i_source *source, const b2i_chunk_head *head, b2i_chunk *out,
                             b2c_error *err)
{
    b2i_chunk_head other;
    if (head->cbytes > source->len) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, source->len, "the chunk is cut short",
                              head->cbytes, source->len);
    }
    if (head->nblocks > 0) {
        B2I_TRY(b2i_pipeline_check(&head->pipeline, false, err));
    }
    if (other_reading(head, &other)) {
        return choose_reading(source, head, &other, out, err);
    }
    return b2i_chunk_parse(source, head, out, err);
}

b2c_status b2i_chunk_open(const b2i_source *source, const b2c_limits *limits, b2i_chunk *out,
                          b2c_error *err)
{
    b2i_chunk_head head;
    b2i_span s;
    b2i_scratch scratch = { 0 };
    size_t n = source->len < B2C_HEADER_LEN ? (size_t)source->len : B2C_HEADER_LEN;
    b2c_status st = source->read(source->arg, 0, n, &scratch, &s, err);
    if (st == B2C_OK) {
        st = b2i_chunk_head_parse(s, limits, &head, err);
    }
    b2i_scratch_free(&scratch);
    return st == B2C_OK ? b2i_chunk_open_as(source, &head, out, err) : st;
}
