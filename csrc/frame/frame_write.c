/*
 * frame_write.c: header and trailer as bytes; whole frames without dead space.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "checked.h"
#include "checksum.h"

enum {
    AT_HEADER_LEN = 0x0B,
    AT_FRAME_LEN = 0x10,
    AT_CBYTES = 0x27,
    AT_METAS = 0x57,
    CODEC_BY_ID = 6,
    TRAILER_VERSION = 1,
};

/* ---- a growing output whose room has been made before: none of these can fail ---- */

static void put_u8(b2i_buf *b, unsigned v)
{
    b->p[b->n++] = (uint8_t)v;
}

static void put_u16(b2i_buf *b, unsigned marker, unsigned v)
{
    put_u8(b, marker);
    b2i_st16be(b->p + b->n, (uint16_t)v);
    b->n += 2;
}

static void put_u32(b2i_buf *b, unsigned marker, uint32_t v)
{
    put_u8(b, marker);
    b2i_st32be(b->p + b->n, v);
    b->n += 4;
}

static void put_u64(b2i_buf *b, unsigned marker, uint64_t v)
{
    put_u8(b, marker);
    b2i_st64be(b->p + b->n, v);
    b->n += 8;
}

static void put_bytes(b2i_buf *b, const void *p, size_t n)
{
    if (n > 0) {
        memcpy(b->p + b->n, p, n);
        b->n += n;
    }
}

/* ---- metalayers ---- */

static b2c_status section_room(const b2i_metas *metas, size_t fixed, b2i_buf *out, b2c_error *err)
{
    size_t need = fixed;
    for (uint32_t i = 0; i < metas->n; i++) {
        /* marker, name, offset; marker, length, content */
        if (!b2i_add_size(need, 11 + strlen(metas->v[i].name), &need) ||
            !b2i_add_size(need, metas->v[i].n, &need)) {
            return b2i_fail_memory(err);
        }
    }
    if (need > INT32_MAX) {
        return b2i_fail(err, B2C_E_LIMIT, B2C_NO_OFFSET,
                        "the metalayers are too large for a frame");
    }
    return b2i_buf_reserve(out, need) ? B2C_OK : b2i_fail_memory(err);
}

/*
 * The section, as it stands in header and trailer; offsets of contents count
 * from byte 'start' of out.  The recorded size of the map starts at 'sized_from'.
 */
static void put_section(const b2i_metas *metas, size_t start, size_t sized_from, b2i_buf *out)
{
    size_t size_at = out->n + 1;
    put_u16(out, 0xCD, 0);
    put_u16(out, 0xDE, metas->n);
    size_t map_len = 0;
    for (uint32_t i = 0; i < metas->n; i++) {
        map_len += 6 + strlen(metas->v[i].name);
    }
    size_t content_at = out->n + map_len + 3 - start;
    for (uint32_t i = 0; i < metas->n; i++) {
        size_t n = strlen(metas->v[i].name);
        put_u8(out, 0xA0u + (unsigned)n);
        put_bytes(out, metas->v[i].name, n);
        put_u32(out, 0xD2, (uint32_t)content_at);
        content_at += 5 + metas->v[i].n;
    }
    b2i_st16be(out->p + size_at, (uint16_t)(out->n - sized_from));
    put_u16(out, 0xDC, metas->n);
    for (uint32_t i = 0; i < metas->n; i++) {
        put_u32(out, 0xC6, (uint32_t)metas->v[i].n);
        put_bytes(out, metas->v[i].p, metas->v[i].n);
    }
}

/* ---- header and trailer ---- */

static void put_pipeline(const b2c_cparams *cp, b2i_buf *out)
{
    put_u8(out, 0xD8);
    put_u8(out, B2C_MAX_FILTERS);
    put_bytes(out, cp->filters, 6);
    put_u8(out, cp->codec);
    put_u8(out, cp->codec_meta);
    put_bytes(out, cp->filters_meta, 6);
    put_u8(out, cp->use_dict != 0);
    put_u8(out, 0);
}

static b2c_status encode_header(const b2i_state *state, uint8_t frame_type, b2i_buf *out,
                                b2c_error *err)
{
    static const uint8_t magic[] = { 0x9e, 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 };
    const b2c_cparams *cp = &state->cparams;
    B2I_TRY(section_room(&state->metas, 128, out, err));
    unsigned codec = cp->codec >= CODEC_BY_ID ? CODEC_BY_ID : cp->codec;
    put_bytes(out, magic, sizeof magic);
    put_u32(out, 0xD2, 0);
    put_u64(out, 0xCF, 0);
    put_u8(out, 0xA4);
    put_u8(out, b2i_state_general_flags(state));
    put_u8(out, frame_type);
    put_u8(out, codec | (unsigned)cp->clevel << 4);
    put_u8(out, (cp->splitmode - 1u) & 3u);
    put_u64(out, 0xD3, state->nbytes);
    put_u64(out, 0xD3, 0);
    put_u32(out, 0xD2, cp->typesize);
    put_u32(out, 0xD2, cp->blocksize);
    put_u32(out, 0xD2, state->chunksize < 0 ? UINT32_MAX : (uint32_t)state->chunksize);
    put_u16(out, 0xD1, B2I_FRAME_THREADS_ENC);
    put_u16(out, 0xD1, B2I_FRAME_THREADS_DEC);
    put_u8(out, state->vlmetas.n > 0 ? 0xC3 : 0xC2);
    put_pipeline(cp, out);
    put_u8(out, 0x93);
    put_section(&state->metas, 0, AT_METAS, out);
    b2i_st32be(out->p + AT_HEADER_LEN, (uint32_t)out->n);
    return B2C_OK;
}

static b2c_status encode_trailer(const b2i_metas *vlmetas, b2i_buf *out, b2c_error *err)
{
    size_t start = out->n;
    B2I_TRY(section_room(vlmetas, 64, out, err));
    put_u8(out, 0x94);
    put_u8(out, TRAILER_VERSION);
    put_u8(out, 0x93);
    put_section(vlmetas, start, out->n, out);
    put_u32(out, 0xCE, (uint32_t)(out->n - start) + B2I_TRAILER_TAIL_LEN);
    put_u8(out, 0xD8);
    memset(out->p + out->n, 0, 1 + B2I_FINGERPRINT_LEN);
    out->n += 1 + B2I_FINGERPRINT_LEN;
    return B2C_OK;
}

void b2i_frame_image_free(b2i_frame_image *image)
{
    b2i_buf_free(&image->header);
    b2i_buf_free(&image->tail);
    *image = (b2i_frame_image){ 0 };
}

/* b2i_frame_encode() with entries that need not be the state's. */
static b2c_status encode(const b2i_state *state, const b2i_entry *entries, uint8_t frame_type,
                         b2i_frame_image *image, b2c_error *err)
{
    b2i_frame_image im = { 0 };
    b2c_status st = encode_header(state, frame_type, &im.header, err);
    if (st == B2C_OK && state->nchunks > 0) {
        st = b2i_index_encode(entries, state->uniform, state->nchunks, &im.tail, err);
    }
    im.index_len = im.tail.n;
    if (st == B2C_OK) {
        st = encode_trailer(&state->vlmetas, &im.tail, err);
    }
    if (st != B2C_OK) {
        b2i_frame_image_free(&im);
        return st;
    }
    *image = im;
    return B2C_OK;
}

b2c_status b2i_frame_encode(const b2i_state *state, uint8_t frame_type, b2i_frame_image *image,
                            b2c_error *err)
{
    return encode(state, state->entries, frame_type, image, err);
}

void b2i_frame_set_lengths(uint8_t *header, uint64_t frame_len, uint64_t cbytes)
{
    b2i_st64be(header + AT_FRAME_LEN, frame_len);
    b2i_st64be(header + AT_CBYTES, cbytes);
}

void b2i_frame_fingerprint(b2i_span header, b2i_span index, b2i_span trailer, bool is_complete,
                           uint8_t out[B2I_FINGERPRINT_LEN])
{
    static const uint8_t zeros[B2I_FINGERPRINT_LEN] = { 0 };
    const b2i_span parts[] = {
        { header.p, AT_FRAME_LEN },
        { zeros, 8 },
        { header.p + AT_FRAME_LEN + 8, AT_CBYTES - AT_FRAME_LEN - 8 },
        { zeros, 8 },
        { header.p + AT_CBYTES + 8, header.n - AT_CBYTES - 8 },
        index,
        { trailer.p, trailer.n - B2I_FINGERPRINT_LEN },
        { zeros, B2I_FINGERPRINT_LEN },
        { zeros, is_complete ? 0 : 1 },
    };
    b2i_xxh3_128(parts, sizeof parts / sizeof parts[0], out);
}

void b2i_frame_seal(b2i_frame_image *image, bool is_complete)
{
    b2i_span index = { image->tail.p, image->index_len };
    b2i_span trailer = { image->tail.p + image->index_len, image->tail.n - image->index_len };
    uint8_t *end = image->tail.p + image->tail.n;
    end[-B2I_FINGERPRINT_LEN - 1] = B2I_FINGERPRINT_XXH3;
    b2i_frame_fingerprint(b2i_span_of(image->header.p, image->header.n), index, trailer,
                          is_complete, end - B2I_FINGERPRINT_LEN);
}

void b2i_frame_image_fingerprint(const b2i_frame_image *image, bool is_sealed,
                                 uint8_t out[B2I_FINGERPRINT_LEN])
{
    const b2i_buf *tail = &image->tail;
    if (is_sealed) {
        memcpy(out, tail->p + tail->n - B2I_FINGERPRINT_LEN, B2I_FINGERPRINT_LEN);
        return;
    }
    b2i_frame_fingerprint(
        b2i_span_of(image->header.p, image->header.n), b2i_span_of(tail->p, image->index_len),
        b2i_span_of(tail->p + image->index_len, tail->n - image->index_len), false, out);
}

/* ---- whole frames ---- */

void b2i_frame_plan_free(b2i_frame_plan *plan)
{
    b2i_free(plan->entries);
    b2i_frame_image_free(&plan->image);
    *plan = (b2i_frame_plan){ 0 };
}

/* Places chunks one after the other, in their logical order. */
static b2c_status place_chunks(const b2c_schunk *s, bool checksums, b2i_frame_plan *plan,
                               b2c_error *err)
{
    uint64_t total = 0;
    if (s->now.entries == NULL && s->now.nchunks > 0) {
        return B2C_OK; /* all are the same special one */
    }
    if (s->now.nchunks > SIZE_MAX / sizeof *plan->entries) {
        return b2i_fail_memory(err);
    }
    plan->entries = b2i_malloc((size_t)s->now.nchunks * sizeof *plan->entries);
    if (plan->entries == NULL) {
        return b2i_fail_memory(err);
    }
    for (uint64_t i = 0; i < s->now.nchunks; i++) {
        b2i_chunk_head head;
        plan->entries[i] = b2i_state_entry(&s->now, i);
        if (b2i_is_special(plan->entries[i])) {
            continue;
        }
        B2I_TRY(b2i_schunk_chunk_head(s, i, &head, err));
        plan->entries[i] = plan->payload_len;
        plan->payload_len += (uint64_t)head.cbytes + (checksums ? b2i_records_len(&head) : 0);
        total += head.cbytes;
    }
    return b2i_places_check_total(s, total, err);
}

b2c_status b2i_frame_plan_make(const b2c_schunk *s, bool checksums, b2i_frame_plan *plan,
                               b2c_error *err)
{
    b2i_frame_plan p = { 0 };
    b2c_status st = place_chunks(s, checksums, &p, err);
    if (st == B2C_OK) {
        st = encode(&s->now, p.entries, B2I_FRAME_CONTIGUOUS, &p.image, err);
    }
    if (st != B2C_OK) {
        b2i_frame_plan_free(&p);
        return st;
    }
    p.frame_len = p.image.header.n + p.payload_len + p.image.tail.n;
    b2i_frame_set_lengths(p.image.header.p, p.frame_len, p.payload_len);
    if (checksums) {
        b2i_frame_seal(&p.image, true);
    }
    *plan = p;
    return B2C_OK;
}

static b2c_status emit_chunk(b2i_span chunk, b2i_entry entry, uint64_t at, bool checksums,
                             b2i_io *io, b2c_error *err)
{
    b2i_buf records = { 0 };
    b2c_status st = io->ops->write(io, at, chunk.p, chunk.n, err);
    if (st == B2C_OK && checksums) {
        st = b2i_records_make(chunk, entry, b2i_span_of(NULL, 0), false, &records, err);
        if (st == B2C_OK) {
            st = io->ops->write(io, at + chunk.n, records.p, records.n, err);
        }
    }
    b2i_buf_free(&records);
    return st;
}

/* The room of chunk i and its records, of n chunks. */
static uint64_t planned_room(const b2i_frame_plan *plan, uint64_t i, uint64_t n)
{
    uint64_t next = i + 1;
    while (next < n && b2i_is_special(plan->entries[next])) {
        next++;
    }
    return (next < n ? plan->entries[next] : plan->payload_len) - plan->entries[i];
}

/* Who asks for no lock may have written another chunk in its place since its room was planned. */
static b2c_status check_room(b2i_span chunk, uint64_t room, bool checksums, b2c_error *err)
{
    b2i_chunk_head head;
    B2I_TRY(b2i_chunk_head_parse(chunk, NULL, &head, err));
    uint64_t need = (uint64_t)head.cbytes + (checksums ? b2i_records_len(&head) : 0);
    if (head.cbytes != chunk.n || need != room) {
        return b2i_fail_sizes(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                              "somebody else has replaced the chunk while it was copied", room,
                              need);
    }
    return B2C_OK;
}

static b2c_status emit_chunks(const b2c_schunk *s, const b2i_frame_plan *plan, bool checksums,
                              b2i_io *io, b2i_scratch *scratch, b2c_error *err)
{
    for (uint64_t i = 0; plan->entries != NULL && i < s->now.nchunks; i++) {
        b2i_span chunk;
        b2i_entry entry = plan->entries[i];
        if (b2i_is_special(entry)) {
            continue;
        }
        B2I_TRY(b2i_schunk_chunk_bytes(s, i, scratch, &chunk, err));
        b2c_status st = check_room(chunk, planned_room(plan, i, s->now.nchunks), checksums, err);
        if (st != B2C_OK) {
            return b2i_schunk_fail_in_chunk(s, i, st, err);
        }
        B2I_TRY(emit_chunk(chunk, entry, plan->image.header.n + entry, checksums, io, err));
    }
    return B2C_OK;
}

b2c_status b2i_frame_emit(const b2c_schunk *s, const b2i_frame_plan *plan, bool checksums,
                          b2i_io *io, b2c_error *err)
{
    b2i_scratch scratch = { 0 };
    const b2i_frame_image *im = &plan->image;
    b2c_status st = emit_chunks(s, plan, checksums, io, &scratch, err);
    b2i_scratch_free(&scratch);
    B2I_TRY(st);
    B2I_TRY(io->ops->write(io, im->header.n + plan->payload_len, im->tail.p, im->tail.n, err));
    return io->ops->write(io, 0, im->header.p, im->header.n, err);
}

b2c_status b2i_schunk_to_frame(const b2c_schunk *s, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                               b2c_error *err)
{
    b2i_frame_plan plan;
    b2i_io *io = NULL;
    b2c_status st;
    B2I_TRY(b2i_frame_plan_make(s, s->store->checksums, &plan, err));
    if (plan.frame_len > dst_cap) {
        *dst_len = plan.frame_len > SIZE_MAX ? SIZE_MAX : (size_t)plan.frame_len;
        st = b2i_fail_sizes(err, B2C_E_OUTPUT_SIZE, B2C_NO_OFFSET,
                            "the output buffer is smaller than the frame", plan.frame_len, dst_cap);
        goto out;
    }
    B2I_GO(st, b2i_io_mem_over(dst, dst_cap, &io, err));
    B2I_GO(st, b2i_frame_emit(s, &plan, s->store->checksums, io, err));
    *dst_len = (size_t)plan.frame_len;
out:
    if (io != NULL) {
        (void)io->ops->close(io, NULL);
    }
    b2i_frame_plan_free(&plan);
    return st;
}
