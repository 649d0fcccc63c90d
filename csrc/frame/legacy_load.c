/*
 * legacy_load.c: reads a stored frame of 2019 to 2021 into a super-chunk.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "legacy.h"
#include "checked.h"

/* Decoded when the frame is opened, other metadata only on demand. */
enum { MAX_USERMETA = 1 << 26 };

static const char usermeta_name[] = "usermeta", pipeline_name[] = "_filter_pipeline";

/* ---- metadata ---- */

/* One of the writers kept its filters in a metalayer, which is not for users. */
static void take_pipeline(b2i_state *now, bool has_filters)
{
    b2i_meta *meta = b2i_metas_find(&now->metas, pipeline_name);
    if (meta == NULL) {
        return;
    }
    if (!has_filters) {
        (void)b2i_legacy_filters_parse(b2i_meta_span(meta), &now->cparams);
    }
    b2i_metas_remove(&now->metas, meta);
}

static b2c_status load_metas(const b2i_frame_source *f, const b2i_legacy_head *h, b2c_schunk *s,
                             b2i_buf *buf, b2c_error *err)
{
    b2i_span header;
    if (h->metas_at != 0) {
        B2I_TRY(b2i_frame_get(f, 0, h->head.header_len, buf, &header, err));
        B2I_TRY(b2i_frame_section_parse(header, h->metas_at + 1, B2C_MAX_METALAYERS, &s->limits,
                                        &s->now.metas, err));
    }
    take_pipeline(&s->now, h->has_filters);
    return B2C_OK;
}

/* Bytes as a msgpack object: what vlmetalayers hold by convention. */
static bool put_bin(b2i_span value, b2i_buf *out)
{
    uint8_t head[5] = { 0xC6 };
    b2i_st32be(head + 1, (uint32_t)value.n);
    return b2i_buf_append(out, head, sizeof head) && b2i_buf_append(out, value.p, value.n);
}

static b2c_status decode_usermeta(b2c_schunk *s, b2c_ctx *ctx, const b2c_limits *limits,
                                  b2i_span stored, b2i_buf bufs[3], b2c_error *err)
{
    b2i_span value;
    size_t len = 0;
    b2i_meta meta = { .p = (uint8_t *)(uintptr_t)stored.p, .n = stored.n }; /* only read */
    b2c_status st = b2i_vlmeta_get(&meta, limits, ctx, NULL, 0, &len, err);
    if (st == B2C_E_OUTPUT_SIZE) {
        if (!b2i_buf_reserve(&bufs[0], len)) {
            return b2i_fail_memory(err);
        }
        st = b2i_vlmeta_get(&meta, limits, ctx, bufs[0].p, len, &len, err);
    }
    B2I_TRY(st);
    if (!put_bin(b2i_span_of(bufs[0].p, len), &bufs[1])) {
        return b2i_fail_memory(err);
    }
    value = b2i_span_of(bufs[1].p, bufs[1].n);
    B2I_TRY(b2i_vlmeta_encode(ctx, value, &bufs[2], err));
    return b2i_metas_add(&s->now.vlmetas, usermeta_name, b2i_span_of(bufs[2].p, bufs[2].n), err);
}

/* The user's bytes become a vlmetalayer. */
static b2c_status add_usermeta(b2c_schunk *s, b2i_span stored, b2c_error *err)
{
    b2c_ctx *ctx;
    b2i_buf bufs[3] = { { 0 } };
    b2c_limits limits = s->limits;
    limits.max_meta_nbytes =
        limits.max_meta_nbytes < MAX_USERMETA ? limits.max_meta_nbytes : MAX_USERMETA;
    B2I_TRY(b2c_ctx_new(NULL, 1, &limits, &ctx, err));
    b2c_status st = decode_usermeta(s, ctx, &limits, stored, bufs, err);
    for (int i = 0; i < 3; i++) {
        b2i_buf_free(&bufs[i]);
    }
    b2c_ctx_free(ctx);
    return st;
}

/* ---- index and trailer ---- */

static b2c_status load_entries(const b2i_frame_source *f, b2i_frame_layout *l, b2c_schunk *s,
                               b2i_buf *buf, b2c_error *err)
{
    b2i_span index;
    b2i_frame_head *h = &l->head;
    l->index_at = h->header_len;
    l->index_len = 0;
    if (h->nbytes == 0) {
        return B2C_OK;
    }
    if (h->frame_type == B2I_FRAME_CONTIGUOUS &&
        !b2i_add_u64(l->index_at, h->cbytes, &l->index_at)) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 0x27, "cbytes", "the index lies too far away");
    }
    if (l->index_at > f->len || f->len - l->index_at < B2C_HEADER_LEN) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, f->len,
                              "the frame is cut short: its index is missing", l->index_at, f->len);
    }
    l->index_len = f->len - l->index_at; /* until its chunk is looked at */
    B2I_TRY(b2i_frame_load_index(f, l, UINT64_MAX, s, buf, &index, err));
    bool fits =
        h->chunksize > 0 && s->now.nchunks == b2i_ceil_div(h->nbytes, (uint64_t)h->chunksize);
    if (!fits) {
        h->chunksize = B2I_CHUNKSIZE_VAR;
    }
    return B2C_OK;
}

/* Takes the metadata of a trailer, if these bytes begin with one of *len bytes or of any length. */
static b2c_status take_trailer(b2i_span bytes, b2c_schunk *s, uint32_t *len, b2c_error *err)
{
    b2i_legacy_trailer t = b2i_legacy_trailer_parse(bytes);
    if (t.has_vlmetas && *len != 0) {
        return b2i_trailer_parse(bytes, &s->limits, &s->now.vlmetas, err);
    }
    if (*len != 0 && t.len != *len) {
        t.len = 0;
    }
    *len = t.len;
    if (t.len == 0 || t.usermeta.n == 0) {
        return B2C_OK;
    }
    b2c_status st = add_usermeta(s, t.usermeta, err);
    if (st != B2C_OK) {
        b2i_err_shift(err, (uint64_t)(t.usermeta.p - bytes.p));
    }
    return st;
}

/* The trailer that ends the frame as long as its header says; *len is 0 when there is none. */
static b2c_status load_last(const b2i_frame_source *f, uint64_t index_end, uint64_t frame_len,
                            b2c_schunk *s, b2i_buf *buf, uint32_t *len, b2c_error *err)
{
    b2i_span bytes;
    b2i_frame_head bounds = { .header_len = 0, .frame_len = frame_len - index_end };
    *len = 0;
    if (bounds.frame_len < B2I_TRAILER_TAIL_LEN) {
        return B2C_OK;
    }
    B2I_TRY(
        b2i_frame_get(f, frame_len - B2I_TRAILER_TAIL_LEN, B2I_TRAILER_TAIL_LEN, buf, &bytes, err));
    if (b2i_trailer_len_parse(bytes, &bounds, len, NULL) != B2C_OK) {
        *len = 0;
        return B2C_OK;
    }
    B2I_TRY(b2i_frame_get(f, frame_len - *len, *len, buf, &bytes, err));
    return take_trailer(bytes, s, len, err);
}

/*
 * The trailer right behind the index.  Its first writers left the frame's length as it was
 * before it became longer.
 */
static b2c_status load_next(const b2i_frame_source *f, uint64_t at, b2c_schunk *s, b2i_buf *buf,
                            uint32_t *len, b2c_error *err)
{
    b2i_span bytes;
    uint64_t left = f->len - at, first = left < B2I_USERMETA_AT ? left : B2I_USERMETA_AT;
    B2I_TRY(b2i_frame_get(f, at, first, buf, &bytes, err));
    uint64_t n = b2i_legacy_trailer_len(bytes);
    B2I_TRY(b2i_frame_get(f, at, n < left ? n : left, buf, &bytes, err));
    *len = 0;
    return take_trailer(bytes, s, len, err);
}

static b2c_status load_trailer(const b2i_frame_source *f, b2i_frame_layout *l, b2c_schunk *s,
                               b2i_buf *buf, b2c_error *err)
{
    uint64_t index_end = l->index_at + l->index_len, end = l->head.frame_len, at = index_end;
    b2c_status st = B2C_OK;
    l->trailer_len = 0;
    if (end > index_end) {
        st = load_last(f, index_end, end, s, buf, &l->trailer_len, err);
        at = end - l->trailer_len;
    }
    if (st == B2C_OK && l->trailer_len == 0) {
        st = load_next(f, index_end, s, buf, &l->trailer_len, err);
        at = index_end;
    }
    if (st == B2C_OK && l->trailer_len == 0 && end > index_end) {
        st = b2i_fail_field(err, B2C_E_CORRUPT, 0, "trailer",
                            "there is no trailer behind the frame's index");
    }
    if (st != B2C_OK) {
        b2i_err_shift(err, at);
        return st;
    }
    l->head.frame_len = at + l->trailer_len;
    s->now.vlmetas.trailer_at = f->origin + at;
    return B2C_OK;
}

/* Its header and its last bytes, by which a change is noticed. */
static b2c_status load_mark(const b2i_frame_source *f, b2i_frame_layout *l, b2i_buf bufs[2],
                            b2c_error *err)
{
    b2i_span header, tail;
    uint64_t end = l->head.frame_len;
    B2I_TRY(b2i_frame_get(f, 0, l->head.header_len, &bufs[0], &header, err));
    B2I_TRY(
        b2i_frame_get(f, end - B2I_TRAILER_TAIL_LEN, B2I_TRAILER_TAIL_LEN, &bufs[1], &tail, err));
    b2i_frame_mark_make(header, tail, end, b2i_span_of(NULL, 0), &l->mark);
    return B2C_OK;
}

static b2c_status load_parts(const b2i_frame_source *f, const b2i_legacy_head *h, b2c_schunk *s,
                             b2i_frame_layout *l, b2i_buf bufs[2], b2c_error *err)
{
    if (h->head.nbytes > s->limits.max_nbytes) {
        return b2i_fail_limit(err, 0x1E, "max_nbytes", "the frame decodes to more than the limit",
                              s->limits.max_nbytes, h->head.nbytes);
    }
    if (h->head.frame_len > f->len) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, f->len,
                              "the frame is cut short: its header announces more bytes",
                              h->head.frame_len, f->len);
    }
    B2I_TRY(load_metas(f, h, s, &bufs[0], err));
    B2I_TRY(load_entries(f, l, s, &bufs[0], err));
    B2I_TRY(load_trailer(f, l, s, &bufs[0], err));
    return load_mark(f, l, bufs, err);
}

b2c_status b2i_legacy_load(const b2i_frame_source *f, b2i_span first, uint8_t frame_type,
                           b2c_schunk *s, b2i_frame_layout *layout, b2c_error *err)
{
    b2i_legacy_head h;
    b2i_frame_layout l = { 0 };
    b2i_buf bufs[2] = { { 0 } };
    B2I_TRY(b2i_legacy_head_parse(first, &h, err));
    if (h.head.frame_type != frame_type && frame_type == B2I_FRAME_CONTIGUOUS) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 0x1A, "frame_type",
                              "the file says it is part of a directory (sparse frame)");
    }
    l.head = h.head;
    l.has_wide_index = h.has_wide_index;
    l.head.frame_type = frame_type; /* the first directories did not say what they are */
    s->now.cparams = h.head.cparams;
    b2c_status st = load_parts(f, &h, s, &l, bufs, err);
    b2i_buf_free(&bufs[0]);
    b2i_buf_free(&bufs[1]);
    B2I_TRY(st);
    s->is_legacy = true;
    s->frame_version = h.version;
    *layout = l;
    return B2C_OK;
}

/* ---- what only the chunks tell ---- */

/* Chunks of one size are often marked as variable because the last one is shorter. */
static void settle_chunksize(b2i_state *now)
{
    uint64_t size = now->ends == NULL || now->nchunks == 0 ? 0 : now->ends[0];
    if (size == 0 || size > B2C_MAX_CHUNK_NBYTES) {
        return;
    }
    for (uint64_t i = 1; i < now->nchunks; i++) {
        uint64_t n = now->ends[i] - now->ends[i - 1];
        if (n > size || (n < size && i + 1 < now->nchunks) || n == 0) {
            return;
        }
    }
    b2i_free(now->ends);
    now->ends = NULL;
    now->chunksize = (int64_t)size;
}

b2c_status b2i_legacy_settle(b2c_schunk *s, b2c_error *err)
{
    b2i_chunk_head head;
    b2c_cparams *cp = &s->now.cparams;
    settle_chunksize(&s->now);
    bool is_known = false;
    for (size_t i = 0; i < B2C_MAX_FILTERS; i++) {
        is_known = is_known || cp->filters[i] != B2C_FILTER_NONE;
    }
    if (is_known || s->now.nchunks == 0) {
        return B2C_OK;
    }
    b2c_status st = b2i_schunk_chunk_head(s, 0, &head, err);
    if (st == B2C_OK) {
        memcpy(cp->filters, head.pipeline.filters, sizeof cp->filters);
        memcpy(cp->filters_meta, head.pipeline.metas, sizeof cp->filters_meta);
    }
    return st == B2C_E_MEMORY || st == B2C_E_IO ? st : B2C_OK; /* damage is found when it is read */
}
