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

/* Reads a source, and remembers whether it has failed. */
typedef struct watch {
    const b2i_source *source;
    bool failed;
} watch;

static b2c_status read_watched(void *arg, uint64_t at, size_t n, b2i_scratch *scratch,
                               b2i_span *out, b2c_error *err)
{
    watch *w = arg;
    b2c_status st = w->source->read(w->source->arg, at, n, scratch, out, err);
    w->failed = w->failed || st != B2C_OK;
    return st;
}

/*
 * Whether a failure says something about the chunk.  That of a codec or a filter of the user's
 * does: in the wrong reading they get what they have not made.
 */
static bool is_of_chunk(const watch *w, b2c_status st)
{
    return st != B2C_E_MEMORY && !w->failed;
}

/* Whether every block of an open chunk decodes, with a context of its own. */
static b2c_status probe(const b2i_chunk *c, b2c_error *err)
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

static b2c_status choose_reading(const b2i_source *source, const b2i_chunk_head *likely,
                                 const b2i_chunk_head *other, b2i_chunk *out, b2c_error *err)
{
    watch w = { .source = source };
    const b2i_source watched = { read_watched, &w, source->len };
    b2i_chunk c = { 0 }, d = { 0 };
    b2c_error why;
    const b2c_status parsed = b2i_chunk_parse(&watched, likely, &c, err);
    b2c_status st = parsed == B2C_OK ? probe(&c, err) : parsed;
    if (st != B2C_OK && is_of_chunk(&w, st)) {
        b2c_status st2 = b2i_chunk_parse(&watched, other, &d, &why);
        st2 = st2 == B2C_OK ? probe(&d, &why) : st2;
        if (st2 == B2C_OK) {
            b2i_chunk_close(&c);
            c = d;
            d = (b2i_chunk){ 0 };
            st = B2C_OK;
        } else if (is_of_chunk(&w, st2)) {
            st = parsed; /* neither decodes: the likely reading explains the damage */
        } else {
            st = st2;
            if (err != NULL) {
                *err = why;
            }
        }
    }
    b2i_chunk_close(&d);
    if (st != B2C_OK) {
        b2i_chunk_close(&c);
        return st;
    }
    c.source = *source;
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
