/*
 * api_schunk.c: public functions of super-chunks: checks arguments, then calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "edit.h"
#include "nd.h"
#include "need.h"

/* ---- life ---- */

void b2c_schunk_params_init(b2c_schunk_params *params)
{
    if (params == NULL) {
        return;
    }
    *params = (b2c_schunk_params){ .size = sizeof *params,
                                   .durability = B2C_DURABILITY_PROCESS,
                                   .checksums = 1,
                                   .chunksize = -1 };
    b2c_cparams_init(&params->cparams);
}

b2c_status b2c_schunk_new(const b2c_schunk_params *params, b2c_schunk **schunk, b2c_error *err)
{
    NEED(params);
    NEED(schunk);
    if (params->size != sizeof *params) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "size",
                              "the parameters were not set by b2c_schunk_params_init()");
    }
    return b2i_schunk_create(params, schunk, err);
}

b2c_status b2c_schunk_open(const char *path, uint64_t offset, int mode, const b2c_limits *limits,
                           b2c_schunk **schunk, b2c_error *err)
{
    NEED(path);
    NEED(schunk);
    int access = mode & ~(B2C_OPEN_MMAP | B2C_OPEN_LOCK);
    if (access < B2C_OPEN_READ || access > B2C_OPEN_COPY) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "mode",
                              "the mode is none of B2C_OPEN_…");
    }
    return b2i_schunk_open_path(path, offset, mode, limits, schunk, err);
}

b2c_status b2c_schunk_open_io(const b2c_io_table *io, uint64_t offset, const b2c_limits *limits,
                              b2c_schunk **schunk, b2c_error *err)
{
    NEED(io);
    NEED(io->read_at);
    NEED(io->size);
    NEED(schunk);
    return b2i_schunk_open_io(io, offset, limits, schunk, err);
}

b2c_status b2c_schunk_open_mem(const void *frame, size_t frame_len, int copy,
                               const b2c_limits *limits, b2c_schunk **schunk, b2c_error *err)
{
    NEED_BYTES(frame, frame_len);
    NEED(schunk);
    return b2i_schunk_open_bytes(b2i_span_of(frame, frame_len), copy != 0, limits, schunk, err);
}

b2c_status b2c_schunk_close(b2c_schunk *schunk, b2c_error *err)
{
    return b2i_schunk_close(schunk, err);
}

void b2c_schunk_free(b2c_schunk *schunk)
{
    (void)b2i_schunk_close(schunk, NULL);
}

void b2c_schunk_leave(const b2c_schunk *schunk)
{
    if (schunk != NULL && schunk->store->ops->leave != NULL) {
        schunk->store->ops->leave(schunk->store);
    }
}

void b2c_schunk_info_get(const b2c_schunk *schunk, b2c_schunk_info *info)
{
    if (schunk == NULL || info == NULL) {
        if (info != NULL) {
            *info = (b2c_schunk_info){ .nbytes = 0 };
        }
        return;
    }
    const b2i_state *now = &schunk->now;
    uint8_t flags = schunk->has_stored_flags ? schunk->stored_flags : b2i_state_general_flags(now);
    *info = (b2c_schunk_info){
        .nbytes = now->nbytes,
        .cbytes = now->cbytes + B2C_HEADER_LEN * now->nspecial,
        .nchunks = now->nchunks,
        .frame_len = schunk->store->frame_len,
        .header_len = schunk->store->header_len,
        .trailer_len = schunk->store->trailer_len,
        .chunksize = now->chunksize,
        .typesize = now->cparams.typesize,
        .blocksize = now->cparams.blocksize,
        .storage = schunk->store->storage,
        .is_writable = schunk->store->is_writable && !schunk->store->failed,
        .frame_version = schunk->has_stored_flags ? schunk->frame_version : (uint8_t)(flags & 15u),
        .is_legacy = schunk->is_legacy,
        .general_flags = flags,
        .nmeta = now->metas.n,
        .nvlmeta = now->vlmetas.n,
        .cparams = now->cparams,
    };
}

static bool has_sizes(const b2c_schunk *s, const b2c_cparams *cparams)
{
    const b2c_cparams *now = &s->now.cparams;
    return cparams->typesize == now->typesize && cparams->blocksize == now->blocksize;
}

static b2c_status set_cparams(b2c_schunk *s, const b2c_cparams *cparams, b2c_error *err)
{
    if (!has_sizes(s, cparams) && (s->now.nchunks > 0 || b2i_nd_meta_find(s) != NULL)) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                              cparams->typesize != s->now.cparams.typesize ? "typesize"
                                                                           : "blocksize",
                              "the type size and block size do not change when there are chunks, "
                              "nor those of an array");
    }
    return b2i_schunk_set_cparams(s, cparams, err);
}

b2c_status b2c_schunk_set_cparams(b2c_schunk *schunk, const b2c_cparams *cparams, b2c_error *err)
{
    NEED(schunk);
    NEED(cparams);
    B2I_TRY(b2i_cparams_check(cparams, err));
    if (has_sizes(schunk, cparams)) { /* which is no edit */
        return set_cparams(schunk, cparams, err);
    }
    RETURN_EDIT(schunk, set_cparams(schunk, cparams, err));
}

/* ---- reading ---- */

b2c_status b2c_schunk_next_dict(const b2c_schunk *schunk, uint64_t first, uint64_t *nchunk,
                                b2c_error *err)
{
    NEED(schunk);
    NEED(nchunk);
    return b2i_schunk_next_dict(schunk, first, nchunk, err);
}

b2c_status b2c_schunk_chunk_info(const b2c_schunk *schunk, uint64_t nchunk, b2c_chunk_info *info,
                                 b2c_error *err)
{
    NEED(schunk);
    NEED(info);
    b2i_chunk_head head;
    B2I_TRY(b2i_schunk_chunk_head(schunk, nchunk, &head, err));
    b2i_chunk_info_from_head(&head, info);
    return B2C_OK;
}

b2c_status b2c_schunk_get_chunk(const b2c_schunk *schunk, uint64_t nchunk, void *dst,
                                size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    NEED(schunk);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    return b2i_schunk_get_chunk(schunk, nchunk, dst, dst_cap, dst_len, err);
}

b2c_status b2c_schunk_decode_chunk(const b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nchunk,
                                   void *dst, size_t dst_cap, size_t *dst_len, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    return b2i_schunk_decode_chunk(schunk, ctx, nchunk, &schunk->post, dst, dst_cap, dst_len, err);
}

b2c_status b2c_schunk_read(const b2c_schunk *schunk, b2c_ctx *ctx, uint64_t at, uint64_t nbytes,
                           void *dst, size_t dst_cap, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(dst, nbytes);
    if (dst_cap < nbytes) {
        return b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                              "the output buffer is smaller than the range", nbytes, dst_cap);
    }
    return b2i_schunk_read(schunk, ctx, at, nbytes, dst, err);
}

/* ---- editing ---- */

b2c_status b2c_schunk_append(b2c_schunk *schunk, b2c_ctx *ctx, const void *src, size_t src_len,
                             b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(src, src_len);
    RETURN_EDIT(schunk, b2i_schunk_insert_data(schunk, ctx, schunk->now.nchunks,
                                               b2i_span_of(src, src_len), err));
}

b2c_status b2c_schunk_append_chunk(b2c_schunk *schunk, const void *chunk, size_t chunk_len,
                                   b2c_error *err)
{
    NEED(schunk);
    NEED(chunk);
    RETURN_EDIT(schunk, b2i_schunk_append_chunk(schunk, b2i_span_of(chunk, chunk_len), err));
}

b2c_status b2c_schunk_insert(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nchunk, const void *src,
                             size_t src_len, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(src, src_len);
    RETURN_EDIT(schunk,
                b2i_schunk_insert_data(schunk, ctx, nchunk, b2i_span_of(src, src_len), err));
}

b2c_status b2c_schunk_insert_chunk(b2c_schunk *schunk, uint64_t nchunk, const void *chunk,
                                   size_t chunk_len, b2c_error *err)
{
    NEED(schunk);
    NEED(chunk);
    RETURN_EDIT(schunk,
                b2i_schunk_insert_chunk(schunk, nchunk, b2i_span_of(chunk, chunk_len), err));
}

b2c_status b2c_schunk_update(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nchunk, const void *src,
                             size_t src_len, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(src, src_len);
    RETURN_EDIT(schunk,
                b2i_schunk_update_data(schunk, ctx, nchunk, b2i_span_of(src, src_len), err));
}

b2c_status b2c_schunk_update_chunk(b2c_schunk *schunk, uint64_t nchunk, const void *chunk,
                                   size_t chunk_len, b2c_error *err)
{
    NEED(schunk);
    NEED(chunk);
    RETURN_EDIT(schunk,
                b2i_schunk_update_chunk(schunk, nchunk, b2i_span_of(chunk, chunk_len), err));
}

b2c_status b2c_schunk_delete_chunk(b2c_schunk *schunk, uint64_t nchunk, b2c_error *err)
{
    NEED(schunk);
    RETURN_EDIT(schunk, b2i_schunk_delete_chunk(schunk, nchunk, err));
}

b2c_status b2c_schunk_reorder(b2c_schunk *schunk, const uint64_t *order, uint64_t norder,
                              b2c_error *err)
{
    NEED(schunk);
    NEED_BYTES(order, norder);
    RETURN_EDIT(schunk, b2i_schunk_reorder(schunk, order, norder, err));
}

b2c_status b2c_schunk_fill_special(b2c_schunk *schunk, uint64_t nbytes, uint8_t kind,
                                   const void *value, b2c_error *err)
{
    NEED(schunk);
    RETURN_EDIT(schunk, b2i_schunk_fill_special(schunk, nbytes, kind, value, err));
}

b2c_status b2c_schunk_update_special(b2c_schunk *schunk, uint64_t nchunk, uint8_t kind,
                                     const void *value, b2c_error *err)
{
    NEED(schunk);
    RETURN_EDIT(schunk, b2i_schunk_update_special(schunk, nchunk, kind, value, err));
}

b2c_status b2c_schunk_write(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t at, const void *src,
                            size_t src_len, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED_BYTES(src, src_len);
    RETURN_EDIT(schunk, b2i_schunk_write(schunk, ctx, at, b2i_span_of(src, src_len), err));
}

b2c_status b2c_schunk_truncate(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nbytes, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    RETURN_EDIT(schunk, b2i_schunk_truncate(schunk, ctx, nbytes, err));
}

b2c_status b2c_schunk_copy_chunks(const b2c_schunk *from, b2c_schunk *to, b2c_error *err)
{
    NEED(from);
    NEED(to);
    RETURN_EDIT(to, b2i_schunk_copy_chunks(from, to, err));
}

b2c_status b2c_schunk_copy_some(const b2c_schunk *from, const uint64_t *numbers, uint64_t n,
                                b2c_schunk *to, b2c_error *err)
{
    NEED(from);
    NEED(to);
    NEED_BYTES(numbers, n);
    RETURN_EDIT(to, b2i_schunk_copy_some(from, numbers, n, to, err));
}

b2c_status b2c_schunk_compact(b2c_schunk *schunk, b2c_error *err)
{
    NEED(schunk);
    RETURN_EDIT(schunk, b2i_schunk_compact(schunk, err));
}

/* ---- commits ---- */

b2c_status b2c_schunk_set_durability(b2c_schunk *schunk, int durability, b2c_error *err)
{
    NEED(schunk);
    if (durability < B2C_DURABILITY_NONE || durability > B2C_DURABILITY_COMMIT) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "durability",
                              "the durability is none of B2C_DURABILITY_…");
    }
    schunk->store->durability = (uint8_t)durability;
    return B2C_OK;
}

b2c_status b2c_schunk_set_checksums(b2c_schunk *schunk, int write, int verify, b2c_error *err)
{
    NEED(schunk);
    schunk->store->checksums = write != 0;
    schunk->store->verifies = verify != 0;
    return B2C_OK;
}

b2c_status b2c_schunk_begin(b2c_schunk *schunk, b2c_error *err)
{
    NEED(schunk);
    bool changed;
    B2I_TRY(b2i_schunk_lock(schunk, true, &changed, err));
    b2c_status st = b2i_schunk_begin(schunk, err);
    return st == B2C_OK ? st : b2i_schunk_unlock(schunk, st, err);
}

b2c_status b2c_schunk_commit(b2c_schunk *schunk, b2c_error *err)
{
    NEED(schunk);
    bool was_open = schunk->saved != NULL;
    b2c_status st = b2i_schunk_commit(schunk, err);
    return was_open ? b2i_schunk_unlock(schunk, st, err) : st;
}

b2c_status b2c_schunk_rollback(b2c_schunk *schunk, b2c_error *err)
{
    NEED(schunk);
    if (schunk->saved == NULL) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "no transaction is open");
    }
    b2i_schunk_rollback(schunk);
    return b2i_schunk_unlock(schunk, B2C_OK, err);
}

b2c_status b2c_schunk_flush(b2c_schunk *schunk, b2c_error *err)
{
    NEED(schunk);
    RETURN_EDIT(schunk, b2i_schunk_flush(schunk, err));
}

b2c_status b2c_schunk_settle(b2c_schunk *schunk, b2c_error *err)
{
    NEED(schunk);
    return b2i_schunk_settle(schunk, err);
}

b2c_status b2c_schunk_verify_chunk(const b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nchunk,
                                   int *has_checksum, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED(has_checksum);
    return b2i_schunk_verify_chunk(schunk, ctx, nchunk, has_checksum, err);
}

/* ---- with other processes ---- */

b2c_status b2c_schunk_lock(b2c_schunk *schunk, int exclusive, int *changed, b2c_error *err)
{
    NEED(schunk);
    bool is_changed;
    B2I_TRY(b2i_schunk_lock(schunk, exclusive != 0, &is_changed, err));
    if (changed != NULL) {
        *changed = is_changed;
    }
    return B2C_OK;
}

b2c_status b2c_schunk_unlock(b2c_schunk *schunk, b2c_error *err)
{
    NEED(schunk);
    return b2i_schunk_unlock(schunk, B2C_OK, err);
}

b2c_status b2c_schunk_refresh(b2c_schunk *schunk, int *change, b2c_error *err)
{
    NEED(schunk);
    NEED(change);
    int made;
    B2I_TRY(b2i_schunk_refresh(schunk, &made, err));
    *change = made;
    return B2C_OK;
}

int b2c_schunk_is_current(const b2c_schunk *schunk)
{
    return schunk == NULL || b2i_schunk_is_current(schunk);
}

b2c_status b2c_schunk_recheck(b2c_schunk *schunk, int *lost, b2c_error *err)
{
    NEED(schunk);
    NEED(lost);
    bool is_lost;
    B2I_TRY(b2i_schunk_recheck(schunk, &is_lost, err));
    *lost = is_lost;
    return B2C_OK;
}

b2c_status b2c_schunk_verify_chunks(const b2c_schunk *schunk, b2c_ctx *ctx, uint64_t first,
                                    uint64_t max_payloads, uint64_t *nsound, uint64_t *nunverified,
                                    b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED(nsound);
    NEED(nunverified);
    return b2i_schunk_verify_chunks(schunk, ctx, first, max_payloads, nsound, nunverified, err);
}

/* ---- as one contiguous frame ---- */

b2c_status b2c_schunk_to_frame(const b2c_schunk *schunk, void *dst, size_t dst_cap, size_t *dst_len,
                               b2c_error *err)
{
    NEED(schunk);
    NEED_BYTES(dst, dst_cap);
    NEED(dst_len);
    return b2i_schunk_to_frame(schunk, dst, dst_cap, dst_len, err);
}
