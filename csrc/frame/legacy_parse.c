/*
 * legacy_parse.c: bytes of headers and trailers of 2019 to 2021; the only reader of them.
 *
 *   first byte   header                        trailer
 *   9b, 9c       64 bytes (layout 1)           none; since the end of August 2019 "usermeta"
 *   9b, 9c, 9d   82 bytes, d8 at 0x40          "usermeta"; since January 2021 that of today
 *                (layout 2)
 *
 * In files with 9b there is no section of metalayers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "legacy.h"

enum {
    LAYOUT1_LEN = 64,
    LAYOUT2_LEN = 82,
    NSLOTS = 8, /* room for filters in layout 2 */
    MIN_SECTION_LEN = 10,
    NO_TRAILER = 0, /* need follow */
    AT_CHUNKSIZE = 0x35,
    AT_FIXEXT = 0x40,
    FIXEXT16 = 0xD8,
    NO_METAS = 0x9b,     /* first byte */
    ALWAYS_METAS = 0x9d, /* first byte; those in between say that there are some */
    OFFSETS_128BIT = 0x30,
    CODED_AS_TODAY = 0x10, /* among the bits of OFFSETS_128BIT: 64-bit offsets */
    USERMETA_FIXED_LEN = 30,
};

static b2c_status bad(b2c_error *err, uint64_t offset, const char *field, const char *what)
{
    return b2i_fail_field(err, B2C_E_CORRUPT, offset, field, what);
}

bool b2i_legacy_is(b2i_span bytes)
{
    static const uint8_t name[] = { 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 };
    b2i_reader r = b2i_rd_init(bytes, 0);
    uint8_t first = b2i_rd_u8(&r);
    const uint8_t *p = b2i_rd_take(&r, sizeof name);
    return p != NULL && first >= NO_METAS && first <= ALWAYS_METAS &&
           memcmp(p, name, sizeof name) == 0;
}

/* ---- header ---- */

typedef struct raw_head {
    uint8_t first;
    uint32_t header_len;
    uint64_t frame_len, nbytes, cbytes;
    uint8_t general_flags, frame_type, codec_flags;
    uint32_t typesize, chunksize;
    uint8_t threads, more_threads;                            /* markers */
    uint8_t fixext, nfilters, filters[NSLOTS], metas[NSLOTS]; /* layout 2 only */
} raw_head;

/* The first 64 bytes, which both layouts have in common. */
static void read_common(b2i_reader *r, raw_head *h)
{
    h->first = b2i_rd_u8(r);
    (void)b2i_rd_take(r, 10);
    h->header_len = b2i_rd_u32be(r);
    (void)b2i_rd_u8(r);
    h->frame_len = b2i_rd_u64be(r);
    (void)b2i_rd_u8(r);
    h->general_flags = b2i_rd_u8(r);
    h->frame_type = b2i_rd_u8(r); /* in layout 1 something about filters */
    h->codec_flags = b2i_rd_u8(r);
    (void)b2i_rd_take(r, 2);
    h->nbytes = b2i_rd_u64be(r);
    (void)b2i_rd_u8(r);
    h->cbytes = b2i_rd_u64be(r);
    (void)b2i_rd_u8(r);
    h->typesize = b2i_rd_u32be(r);
    (void)b2i_rd_u8(r);
    h->chunksize = b2i_rd_u32be(r);
    h->threads = b2i_rd_u8(r);
    (void)b2i_rd_take(r, 2);
    h->more_threads = b2i_rd_u8(r);
    (void)b2i_rd_take(r, 3); /* and an unreliable flag */
}

static void read_filters(b2i_reader *r, raw_head *h)
{
    h->fixext = b2i_rd_u8(r);
    h->nfilters = b2i_rd_u8(r);
    b2i_rd_copy(r, h->filters, NSLOTS);
    b2i_rd_copy(r, h->metas, NSLOTS);
}

/* One wrong bit must not make a frame of today one of these, which have no checksums. */
static b2c_status check_layout(const raw_head *h, b2c_error *err)
{
    enum { INT16 = 0xD1 };
    if (h->threads != INT16 || h->more_threads != INT16) {
        return bad(
            err, 0x39, "layout",
            "the header's fields are not where frames of 2019-2021 (legacy layout) have them");
    }
    return B2C_OK;
}

static b2c_cparams cparams_of(const raw_head *h)
{
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    uint8_t clevel = (uint8_t)(h->codec_flags >> 4);
    cp.typesize = h->typesize;
    cp.codec = h->codec_flags & 15u;
    cp.clevel = clevel > 9 ? 9 : clevel;
    memset(cp.filters, 0, sizeof cp.filters);
    return cp;
}

static b2c_status set_filters(const raw_head *h, b2c_cparams *cp, b2c_error *err)
{
    if (h->nfilters > B2C_MAX_FILTERS) {
        return bad(err, AT_FIXEXT + 1, "filters", "the frame has more than 6 filters");
    }
    memcpy(cp->filters, h->filters, h->nfilters);
    memcpy(cp->filters_meta, h->metas, h->nfilters);
    return B2C_OK;
}

/* A chunk, which follows a header of layout 1 without metalayers, never begins with fixext 16. */
static bool is_layout2(const b2i_reader *r, const raw_head *h)
{
    b2i_reader next = *r;
    return h->first == ALWAYS_METAS ||
           (h->header_len >= LAYOUT2_LEN && b2i_rd_u8(&next) == FIXEXT16);
}

b2c_status b2i_legacy_head_parse(b2i_span bytes, b2i_legacy_head *out, b2c_error *err)
{
    raw_head h = { 0 };
    b2i_reader r = b2i_rd_init(bytes, 0);
    read_common(&r, &h);
    uint32_t fixed = LAYOUT1_LEN;
    bool has_filters = !r.failed && is_layout2(&r, &h);
    if (has_filters) {
        read_filters(&r, &h);
        fixed = LAYOUT2_LEN;
    }
    if (r.failed) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, bytes.n, "the frame's header is cut short",
                              fixed, bytes.n);
    }
    B2I_TRY(check_layout(&h, err));
    if (has_filters && h.fixext != FIXEXT16) {
        return bad(err, AT_FIXEXT, "filters", "the frame's header has no filters");
    }
    b2i_legacy_head l = { .has_filters = has_filters, .version = h.general_flags & 3u };
    b2c_cparams cp = cparams_of(&h);
    if (has_filters) {
        B2I_TRY(set_filters(&h, &cp, err));
    }
    l.has_wide_index = has_filters && (h.general_flags & OFFSETS_128BIT) == OFFSETS_128BIT;
    l.metas_at = h.first == NO_METAS || h.header_len < fixed + MIN_SECTION_LEN ? 0 : fixed;
    bool has_type = has_filters && (h.general_flags & OFFSETS_128BIT) == CODED_AS_TODAY;
    l.head = (b2i_frame_head){
        .header_len = h.header_len,
        .frame_len = h.frame_len,
        .nbytes = h.nbytes,
        .cbytes = h.cbytes,
        .chunksize = h.chunksize == UINT32_MAX ? B2I_CHUNKSIZE_NEW : (int64_t)h.chunksize,
        .general_flags = h.general_flags,
        .frame_type = has_type ? h.frame_type : (uint8_t)B2I_FRAME_CONTIGUOUS,
        .cparams = cp,
    };
    const bool needs_section = h.first != NO_METAS && h.first != ALWAYS_METAS;
    B2I_TRY(b2i_frame_check_sizes(&l.head, fixed + (needs_section ? MIN_SECTION_LEN : 0),
                                  NO_TRAILER, AT_CHUNKSIZE, err));
    *out = l;
    return B2C_OK;
}

bool b2i_legacy_filters_parse(b2i_span content, b2c_cparams *cparams)
{
    enum { ARRAY_OF_2 = 0x92, ARRAY_OF_6 = 0x96 };
    b2i_reader r = b2i_rd_init(content, 0);
    uint8_t outer = b2i_rd_u8(&r), inner = b2i_rd_u8(&r), filters[6], metas[6];
    b2i_rd_copy(&r, filters, 6);
    b2i_rd_copy(&r, metas, 6);
    if (r.failed || outer != ARRAY_OF_2 || inner != ARRAY_OF_6) {
        return false; /* in its first week it was written wrongly */
    }
    memcpy(cparams->filters, filters, 6);
    memcpy(cparams->filters_meta, metas, 6);
    return true;
}

/* ---- trailer ---- */

uint64_t b2i_legacy_trailer_len(b2i_span bytes)
{
    b2i_reader r = b2i_rd_init(bytes, 0);
    uint8_t first = b2i_rd_u8(&r), version = b2i_rd_u8(&r), marker = b2i_rd_u8(&r);
    uint64_t n = b2i_rd_u32be(&r);
    if (r.failed || (first != 0x0D && first != 0x94) || version > 1 || marker != 0xC6) {
        return 0;
    }
    return n + USERMETA_FIXED_LEN;
}

/*
 * 0d or 94, version, c6 and length, usermeta, ce and length of the trailer, d8, kind and 16 bytes
 * of a fingerprint.
 */
static bool read_usermeta(b2i_span bytes, b2i_legacy_trailer *out)
{
    b2i_reader r = b2i_rd_init(bytes, B2I_USERMETA_AT);
    uint64_t len = b2i_legacy_trailer_len(bytes);
    if (len == 0 || len > bytes.n) {
        return false;
    }
    out->usermeta = b2i_rd_span(&r, (size_t)len - USERMETA_FIXED_LEN);
    uint8_t len_marker = b2i_rd_u8(&r);
    out->len = b2i_rd_u32be(&r);
    uint8_t fixext = b2i_rd_u8(&r);
    (void)b2i_rd_take(&r, 1 + B2I_FINGERPRINT_LEN);
    return !r.failed && len_marker == 0xCE && fixext == FIXEXT16 && out->len == len;
}

b2i_legacy_trailer b2i_legacy_trailer_parse(b2i_span bytes)
{
    b2i_legacy_trailer t = { 0 };
    b2i_reader r = b2i_rd_init(bytes, 2);
    if (!read_usermeta(bytes, &t)) {
        t = (b2i_legacy_trailer){ .has_vlmetas = b2i_rd_u8(&r) == 0x93 };
    }
    return t;
}
