/*
 * sound.c: whether a chunk decodes and agrees with its checksum, without keeping what it decodes
 * to.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "repair.h"

typedef struct place {
    b2i_store *store;
    b2i_entry entry;
    b2i_site site;
} place;

static b2c_status read_place(void *arg, uint64_t at, size_t n, b2i_scratch *scratch, b2i_span *out,
                             b2c_error *err)
{
    const place *p = arg;
    return p->store->ops->read(p->store, p->entry, at, n, scratch, out, err);
}

/* The header of a chunk that cannot be opened, because its codec or a filter is not known. */
static b2c_status read_head(const b2i_source *source, const b2c_ctx *ctx, b2i_scratch *scratch,
                            b2i_chunk_head *head, b2c_error *err)
{
    b2i_span s;
    size_t n = source->len < B2C_HEADER_LEN ? (size_t)source->len : B2C_HEADER_LEN;
    B2I_TRY(source->read(source->arg, 0, n, scratch, &s, err));
    B2I_TRY(b2i_chunk_head_parse(s, &ctx->limits, head, err));
    return head->cbytes <= source->len
               ? B2C_OK
               : b2i_fail_sizes(err, B2C_E_TRUNCATED, source->len, "the chunk is cut short",
                                head->cbytes, source->len);
}

static b2c_status check_source(const b2i_source *source, const b2i_site *site, b2c_ctx *ctx,
                               b2i_chunk_head *head, b2c_error *err)
{
    b2i_chunk c;
    B2I_TRY(b2i_chunk_open(source, &ctx->limits, &c, err));
    c.site = *site;
    *head = c.head;
    b2c_status st = b2i_chunk_check(ctx, &c, err);
    b2i_chunk_close(&c);
    return st;
}

b2c_status b2i_sound_bytes(b2i_span chunk, b2c_ctx *ctx, b2c_error *err)
{
    b2i_chunk_head head;
    b2i_source source = b2i_source_mem(&chunk);
    const b2i_site alone = { .typesize = 0 };
    return check_source(&source, &alone, ctx, &head, err);
}

static b2c_status check_stored(const place *p, b2c_ctx *ctx, b2i_scratch *scratch,
                               b2i_chunk_head *head, b2i_span *chunk, b2c_error *err)
{
    b2i_verdict v = { .check = B2I_CHECK_NONE };
    b2i_source source = { .read = read_place, .arg = (void *)p };
    B2I_TRY(p->store->ops->len(p->store, p->entry, &source.len, err));
    b2c_status st = check_source(&source, &p->site, ctx, head, err);
    const bool is_foreign = b2i_is_foreign(st);
    B2I_TRY(is_foreign ? read_head(&source, ctx, scratch, head, err) : st);
    if (head->cbytes < B2I_MIN_STORED_LEN || head->nbytes == 0) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 4, "nbytes", "a frame holds no empty chunk");
    }
    B2I_TRY(p->store->ops->read(p->store, p->entry, 0, head->cbytes, scratch, chunk, err));
    if (p->store->ops->check != NULL) {
        B2I_TRY(p->store->ops->check(p->store, p->entry, *chunk, &v, err));
    }
    if (v.check == B2I_CHECK_BAD) {
        return b2i_fail_sizes(err, B2C_E_CHECKSUM, 0, "the chunk's bytes differ from its checksum",
                              v.stored, v.computed);
    }
    return is_foreign ? b2i_fail(err, st, 0, "the chunk cannot be decoded here, nor checked")
                      : B2C_OK;
}

b2c_status b2i_sound_chunk(const b2c_schunk *s, b2i_entry entry, b2c_ctx *ctx, b2i_scratch *scratch,
                           b2i_chunk_head *head, b2i_span *chunk, b2c_error *err)
{
    /* Not b2i_schunk_site(): the sizes and entries need not be right. */
    place p = { s->store, entry, { .typesize = s->now.cparams.typesize } };
    b2i_schunk_blockshape(s, &p.site);
    b2c_status st = check_stored(&p, ctx, scratch, head, chunk, err);
    if (st != B2C_OK) {
        b2i_err_shift(err, s->store->ops->place(s->store, entry));
    }
    return st;
}
