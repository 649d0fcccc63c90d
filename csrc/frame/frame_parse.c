/*
 * frame_parse.c: bytes of headers and trailers to b2i_frame_head and metalayers; the
 * only reader of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"

#include <stdlib.h>

enum {
    AT_HEADER_LEN = 0x0B,
    AT_FRAME_LEN = 0x10,
    AT_GENERAL_FLAGS = 0x19,
    AT_NBYTES = 0x1E,
    AT_CBYTES = 0x27,
    AT_TYPESIZE = 0x30,
    AT_BLOCKSIZE = 0x35,
    AT_CHUNKSIZE = 0x3A,
    AT_NFILTERS = 0x46,
    AT_METAS = 0x57,
    MAGIC_LEN = 10,
    MIN_HEADER_LEN = B2I_FRAME_FIXED_LEN,
    MIN_TRAILER_LEN = 25,
    MAX_VERSION = 3,
    FIRST_VERSION = 2, /* 0 and 1 had other layouts */
    CODEC_BY_ID = 6,   /* nibble that stands for the byte at 0x4D */
};

static b2c_status bad(b2c_error *err, uint64_t offset, const char *field, const char *what)
{
    return b2i_fail_field(err, B2C_E_CORRUPT, offset, field, what);
}

/* ---- header ---- */

/* The fixed part as stored: no decisions. */
typedef struct raw_head {
    uint32_t header_len;
    uint64_t frame_len, nbytes, cbytes;
    uint8_t general_flags, frame_type, codec_flags, other_flags;
    uint32_t typesize, blocksize, chunksize;
    uint16_t threads_enc, threads_dec;
    uint8_t nfilters, filters[6], codec_id, codec_meta, metas[6], other_flags2;
} raw_head;

static void read_fields(b2i_reader *r, raw_head *h)
{
    (void)b2i_rd_take(r, AT_HEADER_LEN);
    h->header_len = b2i_rd_u32be(r);
    (void)b2i_rd_u8(r);
    h->frame_len = b2i_rd_u64be(r);
    (void)b2i_rd_u8(r);
    h->general_flags = b2i_rd_u8(r);
    h->frame_type = b2i_rd_u8(r);
    h->codec_flags = b2i_rd_u8(r);
    h->other_flags = b2i_rd_u8(r);
    (void)b2i_rd_u8(r);
    h->nbytes = b2i_rd_u64be(r);
    (void)b2i_rd_u8(r);
    h->cbytes = b2i_rd_u64be(r);
    (void)b2i_rd_u8(r);
    h->typesize = b2i_rd_u32be(r);
    (void)b2i_rd_u8(r);
    h->blocksize = b2i_rd_u32be(r);
    (void)b2i_rd_u8(r);
    h->chunksize = b2i_rd_u32be(r);
    (void)b2i_rd_u8(r);
    h->threads_enc = b2i_rd_u16be(r);
    (void)b2i_rd_u8(r);
    h->threads_dec = b2i_rd_u16be(r);
    (void)b2i_rd_take(r, 2); /* flag of vlmetalayers, fixext 16 */
    h->nfilters = b2i_rd_u8(r);
    b2i_rd_copy(r, h->filters, 6);
    h->codec_id = b2i_rd_u8(r);
    h->codec_meta = b2i_rd_u8(r);
    b2i_rd_copy(r, h->metas, 6);
    h->other_flags2 = b2i_rd_u8(r);
    (void)b2i_rd_u8(r);
}

/* Looks at the first bytes alone: is it a frame, and one of a layout that is read here? */
static b2c_status check_magic(b2i_span bytes, b2c_error *err)
{
    static const uint8_t magic[] = { 0x9e, 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 };
    b2i_reader r = b2i_rd_init(bytes, 0);
    uint8_t first = b2i_rd_u8(&r);
    const uint8_t *name = b2i_rd_take(&r, MAGIC_LEN - 1);
    if (r.failed || memcmp(name, magic + 1, MAGIC_LEN - 1) != 0) {
        return b2i_fail_field(err, B2C_E_FORMAT, 1, "magic",
                              "not a frame: the name b2frame is not at its beginning");
    }
    if (first >= 0x9b && first <= 0x9d) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, 0, "layout",
                              "a frame of 2019-2021 (legacy layout)");
    }
    if (first != magic[0]) {
        return b2i_fail_field(err, B2C_E_FORMAT, 0, "layout",
                              "not a frame: it does not begin with an array of 14");
    }
    return B2C_OK;
}

static b2c_status check_flags(const raw_head *h, b2c_error *err)
{
    unsigned version = h->general_flags & 15u;
    if (version > MAX_VERSION) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, AT_GENERAL_FLAGS, "general_flags",
                              "the frame is of a newer version of the format");
    }
    if (version < FIRST_VERSION) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, AT_GENERAL_FLAGS, "general_flags",
                              "a frame of 2019-2021 (legacy layout)");
    }
    if (h->nfilters > B2C_MAX_FILTERS) {
        return bad(err, AT_NFILTERS, "filters", "the frame has more than 6 filter slots");
    }
    return B2C_OK;
}

b2c_status b2i_frame_check_sizes(const b2i_frame_head *h, uint32_t min_header_len,
                                 uint32_t min_trailer_len, uint64_t chunksize_at, b2c_error *err)
{
    const uint32_t typesize = h->cparams.typesize;
    if (h->header_len < min_header_len || h->header_len > INT32_MAX) {
        return bad(err, AT_HEADER_LEN, "header_len", "the header's length is impossible");
    }
    if (h->frame_len > INT64_MAX || h->frame_len < (uint64_t)h->header_len + min_trailer_len) {
        return bad(err, AT_FRAME_LEN, "frame_len",
                   "the frame is shorter than its header and the smallest trailer");
    }
    if (h->nbytes > INT64_MAX) {
        return bad(err, AT_NBYTES, "nbytes", "the decoded size is negative");
    }
    if (h->cbytes > INT64_MAX) {
        return bad(err, AT_CBYTES, "cbytes", "the size of the chunks is negative");
    }
    if (typesize == 0 || typesize > B2C_MAX_TYPESIZE) {
        return bad(err, AT_TYPESIZE, "typesize", "the type size is not from 1 to 536866816");
    }
    if (h->chunksize > INT32_MAX) {
        return bad(err, chunksize_at, "chunksize", "the chunk size is below -1");
    }
    return B2C_OK;
}

static b2c_status check_sizes(const b2i_frame_head *h, b2c_error *err)
{
    B2I_TRY(b2i_frame_check_sizes(h, MIN_HEADER_LEN, MIN_TRAILER_LEN, AT_CHUNKSIZE, err));
    if (h->cparams.blocksize > B2C_MAX_BLOCKSIZE) {
        return bad(err, AT_BLOCKSIZE, "blocksize", "the block size is not from 0 to 536866816");
    }
    if (h->chunksize == B2I_CHUNKSIZE_NEW && h->nbytes > 0) {
        return bad(err, AT_CHUNKSIZE, "chunksize", "the chunk size is unknown, yet there is data");
    }
    return B2C_OK;
}

static b2c_cparams cparams_of(const raw_head *h)
{
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    uint8_t codec = h->codec_flags & 15u, clevel = (uint8_t)(h->codec_flags >> 4);
    cp.typesize = h->typesize;
    cp.blocksize = h->blocksize;
    cp.codec = codec >= CODEC_BY_ID ? h->codec_id : codec;
    cp.codec_meta = h->codec_meta;
    cp.clevel = clevel > 9 ? 9 : clevel;
    cp.splitmode = (uint8_t)((h->other_flags & 3u) + 1);
    cp.use_dict = h->other_flags2 & 1u;
    memcpy(cp.filters, h->filters, 6);
    memcpy(cp.filters_meta, h->metas, 6);
    return cp;
}

b2c_status b2i_frame_head_parse(b2i_span bytes, b2i_frame_head *out, b2c_error *err)
{
    raw_head h = { 0 };
    b2i_reader r = b2i_rd_init(bytes, 0);
    B2I_TRY(check_magic(bytes, err));
    read_fields(&r, &h);
    if (r.failed) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, bytes.n, "the frame's header is cut short",
                              MIN_HEADER_LEN, bytes.n);
    }
    B2I_TRY(check_flags(&h, err));
    const b2i_frame_head head = {
        .header_len = h.header_len,
        .frame_len = h.frame_len,
        .nbytes = h.nbytes,
        .cbytes = h.cbytes,
        .chunksize = h.chunksize == UINT32_MAX ? B2I_CHUNKSIZE_NEW : (int64_t)h.chunksize,
        .general_flags = h.general_flags,
        .frame_type = h.frame_type,
        .is_ours = h.threads_enc == B2I_FRAME_THREADS_ENC && h.threads_dec == B2I_FRAME_THREADS_DEC,
        .cparams = cparams_of(&h),
    };
    B2I_TRY(check_sizes(&head, err));
    *out = head;
    return B2C_OK;
}

/* ---- named contents: the same grammar in header and trailer ---- */

/* A name of the map and the place of its content; the name ends with NUL. */
static b2c_status read_name(b2i_reader *r, char name[B2C_MAX_NAME_LEN + 1], uint32_t *offset,
                            b2c_error *err)
{
    uint64_t at = r->at;
    uint8_t marker = b2i_rd_u8(r);
    size_t n = marker & 31u;
    const uint8_t *p = b2i_rd_take(r, n);
    uint8_t i32_marker = b2i_rd_u8(r);
    *offset = b2i_rd_u32be(r);
    if (r->failed) {
        return bad(err, at, "metalayer name", "a metalayer's name is cut short");
    }
    if ((marker & 0xE0u) != 0xA0u || i32_marker != 0xD2u) {
        return bad(err, at, "metalayer name", "a metalayer has no name of up to 31 bytes");
    }
    memset(name, 0, B2C_MAX_NAME_LEN + 1);
    memcpy(name, p, n);
    if (memchr(p, 0, n) != NULL) {
        return bad(err, at, "metalayer name", "a metalayer's name holds a zero byte");
    }
    return B2C_OK;
}

/* '*left' bytes of contents are possible: if they could overlap, a few bytes would take much
 * memory. */
static b2c_status add_content(b2i_span all, const char *name, uint32_t offset, size_t *left,
                              b2i_metas *metas, b2c_error *err)
{
    b2i_reader r = b2i_rd_init(all, offset);
    uint8_t marker = b2i_rd_u8(&r);
    uint32_t n = b2i_rd_u32be(&r);
    b2i_span content = b2i_rd_span(&r, n);
    if (r.failed || marker != 0xC6) {
        return bad(err, offset, "metalayer content",
                   "a metalayer's content is not where its offset says");
    }
    if (content.n > *left) {
        return bad(err, offset, "metalayer content", "the contents of metalayers overlap");
    }
    *left -= content.n;
    B2I_TRY(b2i_metas_add(metas, name, content, err));
    metas->v[metas->n - 1].at = (uint32_t)(r.at - n);
    return B2C_OK;
}

static int compare_names(const void *a, const void *b)
{
    const b2i_meta *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static b2c_status check_unique(const b2i_metas *metas, uint64_t at, b2c_error *err)
{
    bool is_unique = true;
    const b2i_meta **sorted = b2i_malloc(metas->n * sizeof *sorted);
    if (sorted == NULL) {
        return b2i_fail_memory(err);
    }
    for (uint32_t i = 0; i < metas->n; i++) {
        sorted[i] = &metas->v[i];
    }
    if (metas->n > 0) {
        qsort(sorted, metas->n, sizeof *sorted, compare_names);
    }
    for (uint32_t i = 1; i < metas->n && is_unique; i++) {
        is_unique = strcmp(sorted[i - 1]->name, sorted[i]->name) != 0;
    }
    b2i_free(sorted);
    return is_unique ? B2C_OK : bad(err, at, "metalayer name", "two metalayers have the same name");
}

b2c_status b2i_frame_section_parse(b2i_span all, size_t at, uint32_t max, const b2c_limits *limits,
                                   b2i_metas *metas, b2c_error *err)
{
    b2i_reader r = b2i_rd_init(all, at);
    (void)b2i_rd_take(&r, 3); /* cd, size of the map: nobody relies on it */
    uint8_t map = b2i_rd_u8(&r);
    uint32_t n = b2i_rd_u16be(&r);
    if (r.failed || map != 0xDE) {
        return bad(err, at + 3, "metalayers", "the map of metalayers is missing");
    }
    if (n > max) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, at + 4, "the frame has too many metalayers", max,
                              n);
    }
    if (limits != NULL && n > limits->max_nmeta) {
        return b2i_fail_limit(err, at + 4, "max_nmeta",
                              "the frame has more metalayers than the limit", limits->max_nmeta, n);
    }
    b2c_status st = B2C_OK;
    size_t left = all.n;
    for (uint32_t i = 0; i < n; i++) {
        char name[B2C_MAX_NAME_LEN + 1];
        uint32_t offset;
        b2c_error *first = st == B2C_OK ? err : NULL;
        b2c_status st2 = read_name(&r, name, &offset, first);
        if (st2 == B2C_OK) {
            st2 = add_content(all, name, offset, &left, metas, first);
        }
        st = st == B2C_OK ? st2 : st;
        if (r.failed || st2 == B2C_E_MEMORY) {
            return st2 == B2C_E_MEMORY && first == NULL ? b2i_fail_memory(err) : st;
        }
    }
    return st == B2C_OK ? check_unique(metas, at + 6, err) : st;
}

b2c_status b2i_frame_metas_parse(b2i_span header, const b2c_limits *limits, b2i_metas *metas,
                                 b2c_error *err)
{
    return b2i_frame_section_parse(header, AT_METAS + 1, B2C_MAX_METALAYERS, limits, metas, err);
}

/* ---- trailer ---- */

b2c_status b2i_trailer_len_parse(b2i_span tail, const b2i_frame_head *head, uint32_t *trailer_len,
                                 b2c_error *err)
{
    uint64_t at = head->frame_len - B2I_TRAILER_TAIL_LEN;
    b2i_reader r = b2i_rd_init(tail, 0);
    uint8_t marker = b2i_rd_u8(&r);
    uint32_t n = b2i_rd_u32be(&r);
    if (r.failed || marker != 0xCE) {
        return bad(err, at, "trailer", "there is no trailer at the frame's end");
    }
    if (n < MIN_TRAILER_LEN || n > head->frame_len - head->header_len) {
        return bad(err, at + 1, "trailer_len", "the trailer's length is impossible");
    }
    *trailer_len = n;
    return B2C_OK;
}

b2c_status b2i_trailer_parse(b2i_span trailer, const b2c_limits *limits, b2i_metas *vlmetas,
                             b2c_error *err)
{
    enum { AT_SECTION = 3 }; /* behind 94, version, 93 */
    b2i_reader r = b2i_rd_init(trailer, 2);
    if (b2i_rd_u8(&r) == 0xC6) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, 2, "trailer",
                              "a frame of 2019-2021 (legacy layout)");
    }
    return b2i_frame_section_parse(trailer, AT_SECTION, B2I_MAX_VLMETA, limits, vlmetas, err);
}
