/*
 * frame_load.c: reads header, index and trailer of a stored frame into a super-chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "checked.h"

/* Bytes [at, at + n) of the frame: a view, or read into buf, which is replaced. */
typedef struct frame_source {
    b2i_io *io;
    uint64_t origin;
    uint64_t len; /* bytes of io behind the origin */
} frame_source;

static b2c_status get(const frame_source *f, uint64_t at, uint64_t n, b2i_buf *buf, b2i_span *out,
                      b2c_error *err)
{
    if (at > f->len || n > f->len - at) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, f->len, "the frame is cut short", at + n,
                              f->len);
    }
    const uint8_t *view = n > SIZE_MAX ? NULL : f->io->ops->view(f->io, f->origin + at, (size_t)n);
    if (view != NULL) {
        *out = b2i_span_of(view, (size_t)n);
        return B2C_OK;
    }
    buf->n = 0;
    if (n > SIZE_MAX || !b2i_buf_reserve(buf, (size_t)n)) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(f->io->ops->read(f->io, f->origin + at, buf->p, (size_t)n, err));
    buf->n = (size_t)n;
    *out = b2i_span_of(buf->p, buf->n);
    return B2C_OK;
}

static b2c_status load_head(const frame_source *f, bool exact, uint8_t frame_type,
                            b2i_frame_head *head, b2c_error *err)
{
    uint8_t bytes[B2I_FRAME_FIXED_LEN];
    size_t n = f->len < sizeof bytes ? (size_t)f->len : sizeof bytes;
    B2I_TRY(f->io->ops->read(f->io, f->origin, bytes, n, err));
    B2I_TRY(b2i_frame_head_parse(b2i_span_of(bytes, n), head, err));
    if (head->frame_len > f->len) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, f->len,
                              "the frame is cut short: its header announces more bytes",
                              head->frame_len, f->len);
    }
    if (exact && head->frame_len != f->len) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 0x10, "the buffer is longer than the frame in it",
                              head->frame_len, f->len);
    }
    if (head->frame_type != frame_type) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 0x1A, "frame_type",
                              frame_type == B2I_FRAME_SPARSE
                                  ? "the index file of a directory says it is a contiguous frame"
                                  : "the file says it is part of a directory (sparse frame)");
    }
    return B2C_OK;
}

/* Sets index_at; index_len is the room for the index until its chunk is looked at. */
static b2c_status locate_index(b2i_frame_layout *l, b2c_error *err)
{
    uint64_t trailer_at = l->head.frame_len - l->trailer_len;
    if (l->head.nbytes == 0) {
        l->index_at = trailer_at; /* cbytes may be stale */
        l->index_len = 0;
        return B2C_OK;
    }
    l->index_at = l->head.header_len;
    if (l->head.frame_type == B2I_FRAME_CONTIGUOUS &&
        !b2i_add_u64(l->index_at, l->head.cbytes, &l->index_at)) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 0x27, "cbytes", "the index lies too far away");
    }
    if (l->index_at > trailer_at || trailer_at - l->index_at < B2C_HEADER_LEN) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 0x27,
                              "there is no room for an index between chunks and trailer",
                              l->index_at, trailer_at);
    }
    l->index_len = trailer_at - l->index_at;
    return B2C_OK;
}

/* An entry that lies outside the payload area or is of no known kind. */
static b2c_status check_entries(const b2i_state *now, const b2i_frame_head *head, b2c_error *err)
{
    uint64_t max = UINT32_MAX;
    if (head->frame_type == B2I_FRAME_CONTIGUOUS) {
        max = head->cbytes < B2C_MIN_HEADER_LEN ? 0 : head->cbytes - B2C_MIN_HEADER_LEN;
    }
    for (uint64_t i = 0; i < now->nchunks; i++) {
        b2i_entry e = now->entries[i];
        bool is_special = (e & B2I_ENTRY_SPECIAL) != 0;
        if (is_special ? b2i_entry_kind(e) == B2C_SPECIAL_NONE : e > max) {
            (void)b2i_fail_field(err, B2C_E_CORRUPT, B2C_NO_OFFSET, "index",
                                 is_special ? "a special chunk of no known kind"
                                            : "a chunk lies outside the frame");
            b2i_err_chunk(err, (int64_t)i);
            return B2C_E_CORRUPT;
        }
    }
    return B2C_OK;
}

/* Decodes the index; *index is its chunk, for the fingerprint. */
static b2c_status load_index(const frame_source *f, b2i_frame_layout *l, b2c_schunk *s,
                             b2i_buf *buf, b2i_span *index, b2c_error *err)
{
    b2i_state *now = &s->now;
    b2i_span head_bytes;
    b2i_chunk_head head;
    uint64_t nchunks = UINT64_MAX, nentries;
    if (l->head.chunksize > 0) {
        nchunks = b2i_ceil_div(l->head.nbytes, (uint64_t)l->head.chunksize);
    }
    B2I_TRY(get(f, l->index_at, B2C_HEADER_LEN, buf, &head_bytes, err));
    b2c_status st = b2i_chunk_head_parse(head_bytes, NULL, &head, err);
    if (st == B2C_OK && head.cbytes > l->index_len) {
        st = b2i_fail_sizes(err, B2C_E_CORRUPT, 12, "the index reaches into the trailer",
                            l->index_len, head.cbytes);
    }
    if (st == B2C_OK) {
        l->index_len = head.cbytes;
        B2I_TRY(get(f, l->index_at, l->index_len, buf, index, err));
        st = b2i_index_decode(*index, nchunks, &s->limits, &now->entries, &nentries, err);
    }
    if (st != B2C_OK) {
        b2i_err_shift(err, l->index_at);
        return st;
    }
    now->nchunks = nentries;
    now->cap = (size_t)nentries;
    B2I_TRY(check_entries(now, &l->head, err));
    now->nspecial = b2i_index_nspecial(now->entries, now->nchunks);
    return B2C_OK;
}

static b2c_status check_fingerprint(b2i_span header, b2i_span index, b2i_span trailer,
                                    b2i_frame_layout *l, b2c_error *err)
{
    uint8_t computed[B2I_FINGERPRINT_LEN];
    b2i_reader r = b2i_rd_init(trailer, trailer.n - B2I_FINGERPRINT_LEN - 1);
    if (b2i_rd_u8(&r) != B2I_FINGERPRINT_XXH3) {
        return B2C_OK; /* none, or of a kind that others may define */
    }
    b2i_rd_copy(&r, l->fingerprint, B2I_FINGERPRINT_LEN);
    for (int complete = 1; complete >= 0 && !r.failed && !l->has_fingerprint; complete--) {
        b2i_frame_fingerprint(header, index, trailer, complete != 0, computed);
        l->has_fingerprint = memcmp(computed, l->fingerprint, sizeof computed) == 0;
        l->is_complete = l->has_fingerprint && complete != 0;
    }
    if (!l->has_fingerprint) {
        return b2i_fail_field(err, B2C_E_CHECKSUM, l->head.frame_len - B2I_FINGERPRINT_LEN,
                              "fingerprint",
                              "header, index or trailer differ from the frame's checksum");
    }
    return B2C_OK;
}

static b2c_status load_parts(const frame_source *f, b2i_frame_layout *l, b2c_schunk *s,
                             b2i_buf bufs[3], b2c_error *err)
{
    b2i_span header, index = { NULL, 0 }, trailer, tail;
    uint64_t trailer_at;
    B2I_TRY(get(f, 0, l->head.header_len, &bufs[0], &header, err));
    B2I_TRY(b2i_frame_metas_parse(header, &s->now.metas, err));
    B2I_TRY(get(f, l->head.frame_len - B2I_TRAILER_TAIL_LEN, B2I_TRAILER_TAIL_LEN, &bufs[2], &tail,
                err));
    B2I_TRY(b2i_trailer_len_parse(tail, &l->head, &l->trailer_len, err));
    B2I_TRY(locate_index(l, err));
    trailer_at = l->head.frame_len - l->trailer_len;
    B2I_TRY(get(f, trailer_at, l->trailer_len, &bufs[2], &trailer, err));
    b2c_status st = b2i_trailer_parse(trailer, &s->now.vlmetas, err);
    if (st != B2C_OK) {
        b2i_err_shift(err, trailer_at);
        return st;
    }
    if (l->head.nbytes > 0) {
        B2I_TRY(load_index(f, l, s, &bufs[1], &index, err));
    }
    return check_fingerprint(header, index, trailer, l, err);
}

b2c_status b2i_frame_load(b2i_io *io, uint64_t origin, bool exact, uint8_t frame_type,
                          b2c_schunk *s, b2i_frame_layout *layout, b2c_error *err)
{
    frame_source f = { .io = io, .origin = origin };
    b2i_frame_layout l = { 0 };
    b2i_buf bufs[3] = { { 0 } };
    B2I_TRY(io->ops->size(io, &f.len, err));
    f.len = f.len < origin ? 0 : f.len - origin;
    B2I_TRY(load_head(&f, exact, frame_type, &l.head, err));
    b2c_status st = load_parts(&f, &l, s, bufs, err);
    for (int i = 0; i < 3; i++) {
        b2i_buf_free(&bufs[i]);
    }
    B2I_TRY(st);
    s->now.cparams = l.head.cparams;
    s->now.chunksize = l.head.chunksize;
    s->now.nbytes = l.head.nbytes;
    s->now.cbytes = l.head.nbytes == 0 ? 0 : l.head.cbytes;
    s->now.has_vlblocks = (l.head.general_flags & 0x80u) != 0;
    s->has_stored_flags = true;
    s->stored_flags = l.head.general_flags;
    *layout = l;
    return B2C_OK;
}
