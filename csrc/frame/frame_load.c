/*
 * frame_load.c: reads header, index and trailer of a stored frame into a super-chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "legacy.h"
#include "checked.h"

/* Most frames take two reads to open: of the header, and of all that follows the chunks. */
enum { HEAD_WINDOW = 4096, TAIL_WINDOW = 1 << 20 };

static bool is_in(const b2i_frame_window *w, uint64_t at, uint64_t n, b2i_span *out)
{
    if (at < w->at || at - w->at > w->bytes.n || n > w->bytes.n - (at - w->at)) {
        return false;
    }
    *out = b2i_span_of(w->bytes.p + (at - w->at), (size_t)n);
    return true;
}

/* Reads at a place of the frame, from which the offset of a failure counts, too. */
static b2c_status read_at(const b2i_frame_source *f, uint64_t at, uint8_t *dst, size_t n,
                          b2c_error *err)
{
    b2c_status st = f->io->ops->read(f->io, f->origin + at, dst, n, err);
    if (st != B2C_OK) {
        b2i_err_shift(err, 0 - f->origin);
    }
    return st;
}

/*
 * A view of n bytes at 'at', or NULL.  Not of a mapped file, which a writer may change between two
 * looks: header, index and trailer would be those of several commits.
 */
static const uint8_t *view_of(const b2i_frame_source *f, uint64_t at, uint64_t n)
{
    const b2i_io_ops *ops = f->io->ops;
    return n > SIZE_MAX || ops->fd != NULL ? NULL : ops->view(f->io, f->origin + at, (size_t)n);
}

/*
 * Reads [at, end) if io gives no view of it anyway.  Where that fails nothing is there yet: not all
 * of a window is needed, and what is will be read by itself.
 */
static b2c_status fill(const b2i_frame_source *f, b2i_frame_window *w, uint64_t at, uint64_t end,
                       b2c_error *err)
{
    size_t n = (size_t)(end - at);
    if (n == 0 || view_of(f, at, n) != NULL) {
        return B2C_OK;
    }
    if (!b2i_buf_reserve(&w->bytes, n)) {
        return b2i_fail_memory(err);
    }
    b2c_status st = read_at(f, at, w->bytes.p, n, err);
    w->at = at;
    w->bytes.n = st == B2C_OK ? n : 0;
    return st == B2C_E_IO ? B2C_OK : st;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

b2c_status b2i_frame_get(const b2i_frame_source *f, uint64_t at, uint64_t n, b2i_buf *buf,
                         b2i_span *out, b2c_error *err)
{
    if (at > f->len || n > f->len - at) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, f->len, "the frame is cut short", at + n,
                              f->len);
    }
    if (n == 0) { /* there may be no address that it could have */
        *out = b2i_span_of(NULL, 0);
        return B2C_OK;
    }
    if (is_in(&f->head, at, n, out) || is_in(&f->tail, at, n, out)) {
        return B2C_OK;
    }
    const uint8_t *view = view_of(f, at, n);
    if (view != NULL) {
        *out = b2i_span_of(view, (size_t)n);
        return B2C_OK;
    }
    buf->n = 0;
    if (n > SIZE_MAX || !b2i_buf_reserve(buf, (size_t)n)) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(read_at(f, at, buf->p, (size_t)n, err));
    buf->n = (size_t)n;
    *out = b2i_span_of(buf->p, buf->n);
    return B2C_OK;
}

b2c_status b2i_frame_fingerprint_load(b2i_io *io, uint64_t header_len, uint64_t tail_at,
                                      uint64_t tail_len, uint64_t trailer_len,
                                      uint8_t out[B2I_FINGERPRINT_LEN], b2c_error *err)
{
    b2i_buf buf = { 0 };
    size_t head, tail;
    b2c_status st = B2C_OK;
    if (!b2i_u64_to_size(header_len, &head) || !b2i_u64_to_size(tail_len, &tail) ||
        head > SIZE_MAX - tail || !b2i_buf_reserve(&buf, head + tail)) {
        return b2i_fail_memory(err);
    }
    B2I_GO(st, io->ops->read(io, 0, buf.p, head, err));
    B2I_GO(st, io->ops->read(io, header_len + tail_at, buf.p + head, tail, err));
    size_t index = tail - (size_t)trailer_len;
    b2i_frame_fingerprint(b2i_span_of(buf.p, head), b2i_span_of(buf.p + head, index),
                          b2i_span_of(buf.p + head + index, tail - index), false, out);
out:
    b2i_buf_free(&buf);
    return st;
}

static b2c_status measure(b2i_frame_source *f, b2c_error *err)
{
    uint64_t size;
    B2I_TRY(f->io->ops->size(f->io, &size, err));
    f->len = size < f->origin ? 0 : size - f->origin;
    return B2C_OK;
}

/* The first bytes, which tell the layout. */
static b2c_status load_first(b2i_frame_source *f, b2i_buf *buf, b2i_frame_layout *l,
                             b2i_span *first, b2c_error *err)
{
    B2I_TRY(fill(f, &f->head, 0, smaller(f->len, HEAD_WINDOW), err));
    B2I_TRY(b2i_frame_get(f, 0, smaller(f->len, B2I_FRAME_FIXED_LEN), buf, first, err));
    l->mark.head_len = first->n;
    if (first->n > 0) {
        memcpy(l->mark.head, first->p, first->n);
    }
    return B2C_OK;
}

static b2c_status load_head(b2i_frame_source *f, b2i_span first, bool exact, uint8_t frame_type,
                            b2i_frame_head *head, b2c_error *err)
{
    B2I_TRY(b2i_frame_head_parse(first, head, err));
    if (head->frame_len > f->len) { /* a writer may have been busy before the header was read */
        B2I_TRY(measure(f, err));
    }
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
        if (trailer_at != l->head.header_len) { /* opened for writing, it would lose all chunks */
            return b2i_fail_field(err, B2C_E_CORRUPT, 0x1E, "nbytes",
                                  "there is something between header and trailer, but no data");
        }
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

/* Chunks begin at places before this one: none in a payload area without room for a header. */
static uint64_t end_of_places(const b2i_frame_head *head)
{
    if (head->frame_type != B2I_FRAME_CONTIGUOUS) {
        return (uint64_t)UINT32_MAX + 1;
    }
    return head->cbytes < B2C_MIN_HEADER_LEN ? 0 : head->cbytes - B2C_MIN_HEADER_LEN + 1;
}

/* The entries are what they may be, and no two name the same chunk. */
static b2c_status check_entries(b2i_state *now, const b2i_frame_head *head, b2c_error *err)
{
    bool is_uniform = now->entries == NULL;
    uint64_t n = is_uniform ? now->nchunks != 0 : now->nchunks; /* one is like the other */
    b2i_survey found =
        b2i_index_survey(is_uniform ? &now->uniform : now->entries, n, end_of_places(head));
    if (found.odd < n) {
        bool is_special = b2i_is_special(b2i_state_entry(now, found.odd));
        (void)b2i_fail_field(err, B2C_E_CORRUPT, B2C_NO_OFFSET, "index",
                             is_special ? "a special chunk of no known kind"
                                        : "a chunk lies outside the frame");
        b2i_err_chunk(err, (int64_t)found.odd);
        return B2C_E_CORRUPT;
    }
    now->nspecial = is_uniform ? now->nchunks : found.nspecial;
    return b2i_places_check(now, head->frame_type == B2I_FRAME_CONTIGUOUS, &found, err);
}

b2c_status b2i_frame_load_index(const b2i_frame_source *f, b2i_frame_layout *l, uint64_t nchunks,
                                b2c_schunk *s, b2i_buf *buf, b2i_span *index, b2c_error *err)
{
    b2i_state *now = &s->now;
    b2i_span head_bytes;
    b2i_chunk_head head;
    b2i_index found;
    B2I_TRY(b2i_frame_get(f, l->index_at, B2C_HEADER_LEN, buf, &head_bytes, err));
    b2c_status st = b2i_chunk_head_parse(head_bytes, NULL, &head, err);
    if (st == B2C_OK && head.cbytes > l->index_len) {
        st = b2i_fail_sizes(err, B2C_E_CORRUPT, 12, "the index reaches into the trailer",
                            l->index_len, head.cbytes);
    }
    if (st == B2C_OK) {
        l->index_len = head.cbytes;
        B2I_TRY(b2i_frame_get(f, l->index_at, l->index_len, buf, index, err));
        b2i_index_room room = b2i_index_room_of(&s->limits, nchunks, l->head.frame_len);
        room.is_wide = l->has_wide_index;
        st = b2i_index_decode(*index, room, &found, err);
    }
    if (st != B2C_OK) {
        b2i_err_shift(err, l->index_at);
        return st;
    }
    now->entries = found.entries;
    now->uniform = found.uniform;
    now->nchunks = found.n;
    now->cap = found.entries == NULL ? 0 : (size_t)found.n;
    return check_entries(now, &l->head, err);
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
    if (!l->has_fingerprint && l->head.is_ours) {
        return b2i_fail_field(err, B2C_E_CHECKSUM, l->head.frame_len - B2I_FINGERPRINT_LEN,
                              "fingerprint",
                              "header, index or trailer differ from the frame's checksum");
    }
    return B2C_OK;
}

/* All from the index on, unless that is too far from the end. */
static b2c_status load_tail(b2i_frame_source *f, const b2i_frame_head *head, b2c_error *err)
{
    uint64_t end = smaller(f->len, head->frame_len + B2I_MARK_BEHIND_LEN);
    uint64_t at = end < TAIL_WINDOW ? 0 : end - TAIL_WINDOW, index_at = head->header_len;
    if (head->frame_type == B2I_FRAME_CONTIGUOUS &&
        !b2i_add_u64(index_at, head->cbytes, &index_at)) {
        return B2C_OK; /* locate_index() complains */
    }
    if (index_at > at && index_at < end) {
        at = index_at;
    }
    return at < f->head.bytes.n && end <= f->head.bytes.n ? B2C_OK
                                                          : fill(f, &f->tail, at, end, err);
}

void b2i_frame_mark_make(b2i_span header, b2i_span tail, uint64_t frame_len, b2i_span behind,
                         b2i_frame_mark *mark)
{
    mark->end_at = frame_len - B2I_TRAILER_TAIL_LEN;
    mark->head_len = (size_t)smaller(header.n, sizeof mark->head);
    memcpy(mark->head, header.p, mark->head_len);
    memcpy(mark->end, tail.p + tail.n - B2I_TRAILER_TAIL_LEN, B2I_TRAILER_TAIL_LEN);
    size_t n = (size_t)smaller(behind.n, B2I_MARK_BEHIND_LEN);
    if (n > 0) {
        memcpy(mark->end + B2I_TRAILER_TAIL_LEN, behind.p, n);
    }
    mark->end_len = B2I_TRAILER_TAIL_LEN + n;
}

static b2c_status load_mark(const b2i_frame_source *f, b2i_span header, b2i_span trailer,
                            uint64_t frame_len, b2i_buf *buf, b2i_frame_mark *mark, b2c_error *err)
{
    b2i_span behind = { NULL, 0 };
    uint64_t n = smaller(f->len - frame_len, B2I_MARK_BEHIND_LEN);
    if (n > 0) {
        B2I_TRY(b2i_frame_get(f, frame_len, n, buf, &behind, err));
    }
    b2i_frame_mark_make(header, trailer, frame_len, behind, mark);
    return B2C_OK;
}

static b2c_status load_parts(const b2i_frame_source *f, b2i_frame_layout *l, b2c_schunk *s,
                             b2i_buf bufs[4], b2c_error *err)
{
    b2i_span header, index = { NULL, 0 }, trailer, tail;
    uint64_t trailer_at;
    if (l->head.nbytes > s->limits.max_nbytes) {
        return b2i_fail_limit(err, 0x1E, "max_nbytes", "the frame decodes to more than the limit",
                              s->limits.max_nbytes, l->head.nbytes);
    }
    B2I_TRY(b2i_frame_get(f, 0, l->head.header_len, &bufs[0], &header, err));
    B2I_TRY(b2i_frame_metas_parse(header, &s->limits, &s->now.metas, err));
    B2I_TRY(b2i_frame_get(f, l->head.frame_len - B2I_TRAILER_TAIL_LEN, B2I_TRAILER_TAIL_LEN,
                          &bufs[2], &tail, err));
    B2I_TRY(b2i_trailer_len_parse(tail, &l->head, &l->trailer_len, err));
    B2I_TRY(locate_index(l, err));
    trailer_at = l->head.frame_len - l->trailer_len;
    B2I_TRY(b2i_frame_get(f, trailer_at, l->trailer_len, &bufs[2], &trailer, err));
    b2c_status st = b2i_trailer_parse(trailer, &s->limits, &s->now.vlmetas, err);
    if (st != B2C_OK) {
        b2i_err_shift(err, trailer_at);
        return st;
    }
    s->now.vlmetas.trailer_at = f->origin + trailer_at;
    if (l->head.nbytes > 0) {
        uint64_t nchunks = UINT64_MAX;
        if (l->head.chunksize > 0) {
            nchunks = b2i_ceil_div(l->head.nbytes, (uint64_t)l->head.chunksize);
        }
        B2I_TRY(b2i_frame_load_index(f, l, nchunks, s, &bufs[1], &index, err));
    }
    B2I_TRY(check_fingerprint(header, index, trailer, l, err));
    return load_mark(f, header, trailer, l->head.frame_len, &bufs[3], &l->mark, err);
}

b2c_status b2i_frame_mark_check(b2i_io *io, uint64_t origin, const b2i_frame_mark *mark, bool *is,
                                b2c_error *err)
{
    uint8_t head[sizeof mark->head], end[sizeof mark->end];
    *is = false;
    uint64_t len = mark->end_at + mark->end_len;
    const uint8_t *view = len > SIZE_MAX ? NULL : io->ops->view(io, origin, (size_t)len);
    if (view != NULL) { /* one look: of a mapped file the size is asked for each time */
        *is = memcmp(view, mark->head, mark->head_len) == 0 &&
              memcmp(view + mark->end_at, mark->end, mark->end_len) == 0;
        return B2C_OK;
    }
    b2c_status st = io->ops->read(io, origin, head, mark->head_len, err);
    if (st == B2C_OK && memcmp(head, mark->head, mark->head_len) == 0) {
        st = io->ops->read(io, origin + mark->end_at, end, mark->end_len, err);
        *is = st == B2C_OK && memcmp(end, mark->end, mark->end_len) == 0;
    }
    return st == B2C_E_TRUNCATED ? B2C_OK : st;
}

static b2c_status load_all(b2i_frame_source *f, bool exact, uint8_t frame_type, b2c_schunk *s,
                           b2i_frame_layout *l, b2i_buf bufs[4], b2c_error *err)
{
    b2i_span first;
    B2I_TRY(load_first(f, &bufs[0], l, &first, err));
    if (b2i_legacy_is(first)) {
        return b2i_legacy_load(f, first, frame_type, s, l, err);
    }
    B2I_TRY(load_head(f, first, exact, frame_type, &l->head, err));
    B2I_TRY(load_tail(f, &l->head, err));
    B2I_TRY(load_parts(f, l, s, bufs, err));
    s->now.cparams = l->head.cparams;
    s->frame_version = l->head.general_flags & 15u;
    return B2C_OK;
}

b2c_status b2i_frame_load(b2i_io *io, uint64_t origin, bool exact, uint8_t frame_type,
                          b2c_schunk *s, b2i_frame_layout *layout, b2c_error *err)
{
    b2i_frame_source f = { .io = io, .origin = origin };
    b2i_buf bufs[4] = { { 0 } };
    b2i_frame_layout *l = layout;
    *l = (b2i_frame_layout){ 0 };
    B2I_TRY(measure(&f, err));
    b2c_status st = load_all(&f, exact, frame_type, s, l, bufs, err);
    for (int i = 0; i < 4; i++) {
        b2i_buf_free(&bufs[i]);
    }
    b2i_buf_free(&f.head.bytes);
    b2i_buf_free(&f.tail.bytes);
    if (st != B2C_OK) {
        b2i_err_shift(err, origin); /* of the file, as all that is told of it */
        return st;
    }
    s->now.chunksize = l->head.chunksize;
    s->now.nbytes = l->head.nbytes;
    s->now.cbytes = l->head.nbytes == 0 ? 0 : l->head.cbytes;
    s->now.has_vlblocks = !s->is_legacy && (l->head.general_flags & 0x80u) != 0;
    s->has_stored_flags = true;
    s->stored_flags = l->head.general_flags;
    return B2C_OK;
}
