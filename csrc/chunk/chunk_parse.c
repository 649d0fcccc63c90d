/*
 * chunk_parse.c: bytes to b2i_chunk_head, and with it to b2i_chunk; the only reader of chunk
 * headers and block tables.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "chunk_format.h"
#include "chunk_parse.h"
#include "checked.h"

#include <stdlib.h>

/* The header as stored: no decisions. */
typedef struct raw_head {
    uint8_t version, flags, typesize;
    uint32_t nbytes, blocksize, cbytes;
    uint8_t filters[6], metas[6];
    uint8_t codec_id, codec_meta, flags2, flags3;
    bool is_extended;
} raw_head;

static void read_fields(b2i_reader *r, raw_head *h)
{
    h->version = b2i_rd_u8(r);
    (void)b2i_rd_u8(r); /* version of the codec's stream: 1 ever since */
    h->flags = b2i_rd_u8(r);
    h->typesize = b2i_rd_u8(r);
    h->nbytes = b2i_rd_u32le(r);
    h->blocksize = b2i_rd_u32le(r);
    h->cbytes = b2i_rd_u32le(r);
    h->is_extended = (h->flags & FLAG_EXTENDED) == FLAG_EXTENDED;
    if (h->is_extended) {
        b2i_rd_copy(r, h->filters, 6);
        h->codec_id = b2i_rd_u8(r);
        h->codec_meta = b2i_rd_u8(r);
        b2i_rd_copy(r, h->metas, 6);
        h->flags2 = b2i_rd_u8(r);
        h->flags3 = b2i_rd_u8(r);
    }
}

static b2c_status bad(b2c_error *err, uint64_t offset, const char *field, const char *what)
{
    return b2i_fail_field(err, B2C_E_CORRUPT, offset, field, what);
}

static b2c_status check_sizes(const raw_head *h, uint32_t header_len, b2c_error *err)
{
    if (h->typesize == 0) {
        return bad(err, 3, "typesize", "the type size of the chunk is 0");
    }
    if (h->nbytes > INT32_MAX) {
        return bad(err, 4, "nbytes", "the chunk's decoded size is negative");
    }
    if (h->blocksize == 0 || h->blocksize > B2C_MAX_BLOCKSIZE) {
        return bad(err, 8, "blocksize", "the block size is not from 1 to 536866816");
    }
    if (h->cbytes > INT32_MAX || h->cbytes < header_len) {
        return bad(err, 12, "cbytes", "the chunk's size is smaller than its header");
    }
    return B2C_OK;
}

static b2c_status check_kind(const raw_head *h, uint32_t header_len, b2c_error *err)
{
    uint32_t special = (h->flags3 & FLAG3_SPECIAL) >> SPECIAL_SHIFT;
    /* Some writers leave the flag of a memcpy that they gave up: the special kind decides. */
    bool is_memcpy = (h->flags & FLAG_MEMCPY) != 0 && special == B2C_SPECIAL_NONE;
    uint32_t tail = h->cbytes - header_len;

    if (h->version > VERSION_VLBLOCKS && (h->flags2 & ~FLAG2_VLBLOCKS) != 0) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, 0, "version",
                              "the chunk is of a newer version of the format");
    }
    if ((h->flags3 & FLAG3_LAZY) != 0) {
        return b2i_fail_field(err, B2C_E_UNSUPPORTED, 31, "blosc2_flags",
                              "a lazy chunk: its data stayed in the frame it came from");
    }
    if (special > B2C_SPECIAL_UNINIT) {
        return bad(err, 31, "blosc2_flags", "the kind of special value is not from 0 to 4");
    }
    if ((h->flags2 & FLAG2_VLBLOCKS) != 0 && (special != B2C_SPECIAL_NONE || is_memcpy)) {
        return bad(err, 30, "blosc2_flags2", "variable-size blocks in a special or memcpy chunk");
    }
    if (is_memcpy && (h->nbytes > INT32_MAX - header_len || h->cbytes != h->nbytes + header_len)) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 12,
                              "the size of a memcpy chunk is not its data plus header",
                              (uint64_t)h->nbytes + header_len, h->cbytes);
    }
    if (special == B2C_SPECIAL_VALUE &&
        (tail == 0 || tail > B2C_MAX_TYPESIZE || tail > h->nbytes || h->nbytes % tail != 0)) {
        return bad(err, 12, "cbytes", "the repeated value does not fit the chunk's decoded size");
    }
    if ((special == B2C_SPECIAL_NAN || special == B2C_SPECIAL_UNINIT) &&
        h->nbytes % h->typesize != 0) {
        return bad(err, 4, "nbytes", "the decoded size is no multiple of the type size");
    }
    if (special == B2C_SPECIAL_NAN && h->typesize != 4 && h->typesize != 8) {
        return bad(err, 3, "typesize", "a chunk of NaN has a type size other than 4 or 8");
    }
    return B2C_OK;
}

/* Filters of either header form, in slots. */
static void set_pipeline(const raw_head *h, b2i_pipeline *pl)
{
    pl->typesize = h->typesize;
    pl->chunk_version = h->version;
    if (h->is_extended) {
        memcpy(pl->filters, h->filters, 6);
        memcpy(pl->metas, h->metas, 6);
        if (h->version == VERSION_ALPHA) {
            pl->filters[5] = 0;
            pl->metas[5] = 0;
        }
        return;
    }
    if ((h->flags & FLAG_DELTA) != 0) {
        pl->filters[4] = B2C_FILTER_DELTA;
    }
    if ((h->flags & FLAG_SHUFFLE) != 0) {
        pl->filters[5] = B2C_FILTER_SHUFFLE;
    } else if ((h->flags & FLAG_BITSHUFFLE) != 0) {
        pl->filters[5] = B2C_FILTER_BITSHUFFLE;
    }
}

/* The ID of the codec that a header names. */
static uint8_t codec_id_of(const raw_head *h)
{
    uint8_t format = (uint8_t)(h->flags >> FORMAT_SHIFT);
    if (format == B2I_FORMAT_BY_ID) {
        return h->is_extended ? h->codec_id : CODEC_NONE;
    }
    if (h->is_extended && h->codec_id == B2C_CODEC_LZ4HC && format == 1) {
        return B2C_CODEC_LZ4HC; /* same streams as LZ4; the byte tells who wrote them */
    }
    static const uint8_t ids[] = { B2C_CODEC_BLOSCLZ, B2C_CODEC_LZ4, CODEC_NONE, B2C_CODEC_ZLIB,
                                   B2C_CODEC_ZSTD };
    return format < sizeof ids ? ids[format] : CODEC_NONE;
}

static b2c_status set_blocks(const raw_head *h, b2i_chunk_head *out, b2c_error *err)
{
    out->has_vlblocks = (h->flags2 & FLAG2_VLBLOCKS) != 0;
    out->blocksize = h->blocksize;
    if (!out->has_vlblocks && h->nbytes > 0 && h->blocksize > h->nbytes) {
        out->blocksize = h->nbytes;
    }
    bool has_table = !out->is_memcpy && out->special == B2C_SPECIAL_NONE;
    if (out->has_vlblocks) {
        out->nblocks = h->blocksize;
        out->blocksize = 0;
        if (h->nbytes == 0) {
            return bad(err, 4, "nbytes", "variable-size blocks that decode to nothing");
        }
    } else if (has_table && h->nbytes > 0) {
        out->nblocks = (uint32_t)b2i_ceil_div(h->nbytes, out->blocksize);
    }
    if ((uint64_t)out->header_len + 4 * (uint64_t)out->nblocks > h->cbytes) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, 8, "the table of blocks does not fit the chunk",
                              out->header_len + 4 * (uint64_t)out->nblocks, h->cbytes);
    }
    return B2C_OK;
}

/*
 * Split flag.  Blosc 1.x before 1.11 had none and followed a rule instead; its
 * readers use the rule for all their chunks.  Later libraries obey the flag.
 */
static void set_split(const raw_head *h, b2i_chunk_head *out)
{
    out->is_split = (h->flags & FLAG_UNSPLIT) == 0 && !out->has_vlblocks;
    if (h->version <= VERSION_BLOSC1_LAST && !h->is_extended && out->is_split) {
        out->is_split = h->typesize <= 16 && out->blocksize / h->typesize >= 128;
        out->maybe_unsplit = !out->is_split;
    }
}

b2c_status b2i_chunk_head_parse(b2i_span bytes, const b2c_limits *limits, b2i_chunk_head *out,
                                b2c_error *err)
{
    raw_head h = { 0 };
    b2i_reader r = b2i_rd_init(bytes, 0);
    read_fields(&r, &h);
    uint32_t header_len = h.is_extended ? B2C_HEADER_LEN : B2C_MIN_HEADER_LEN;
    if (r.failed) {
        return b2i_fail_sizes(err, B2C_E_TRUNCATED, bytes.n, "the chunk header is cut short",
                              header_len, bytes.n);
    }
    B2I_TRY(check_sizes(&h, header_len, err));
    B2I_TRY(check_kind(&h, header_len, err));

    /* Field by field: a copy of what was written so would have to wait for each of them. */
    *out = (b2i_chunk_head){ 0 };
    out->header_len = header_len;
    out->nbytes = h.nbytes;
    out->cbytes = h.cbytes;
    out->version = h.version;
    out->typesize = h.typesize;
    out->codec_id = codec_id_of(&h);
    out->codec_format = (uint8_t)(h.flags >> FORMAT_SHIFT);
    out->codec_meta = h.codec_meta;
    out->special = (uint8_t)((h.flags3 & FLAG3_SPECIAL) >> SPECIAL_SHIFT);
    out->is_memcpy = (h.flags & FLAG_MEMCPY) != 0 && out->special == B2C_SPECIAL_NONE;
    out->is_instrumented = (h.flags3 & FLAG3_INSTRUMENTED) != 0;
    out->value_len = out->special == B2C_SPECIAL_VALUE ? h.cbytes - header_len : 0;
    set_pipeline(&h, &out->pipeline);
    b2c_status st = set_blocks(&h, out, err);
    if (st == B2C_OK) {
        set_split(&h, out);
        /* A memcpy chunk may keep the flag of a dictionary that was given up with the blocks. */
        out->has_dict = out->nblocks > 0 && (h.flags3 & FLAG3_DICT) != 0;
        st = b2i_chunk_head_check_limit(out, limits, err);
    }
    if (st != B2C_OK) {
        *out = (b2i_chunk_head){ 0 };
    }
    return st;
}

b2c_status b2i_chunk_head_check_limit(const b2i_chunk_head *head, const b2c_limits *limits,
                                      b2c_error *err)
{
    uint64_t max = limits == NULL ? B2C_MAX_CHUNK_NBYTES : limits->max_chunk_nbytes;
    if (head->nbytes <= max) {
        return B2C_OK;
    }
    /* Nobody can be asked for more than the format allows. */
    const char *field = head->nbytes <= B2C_MAX_CHUNK_NBYTES ? "max_chunk_nbytes" : NULL;
    return b2i_fail_limit(err, 4, field, "the chunk decodes to more than the limit", max,
                          head->nbytes);
}

void b2i_chunk_info_from_head(const b2i_chunk_head *head, b2c_chunk_info *info)
{
    *info = (b2c_chunk_info){
        .nbytes = head->nbytes,
        .cbytes = head->cbytes,
        .blocksize = head->blocksize,
        .nblocks = head->nblocks,
        .header_len = head->header_len,
        .typesize = head->typesize,
        .version = head->version,
        .codec = head->codec_id,
        .codec_meta = head->codec_meta,
        .special = head->special,
        .is_memcpy = head->is_memcpy,
        .is_split = head->is_split,
        .has_dict = head->has_dict,
        .has_vlblocks = head->has_vlblocks,
    };
    memcpy(info->filters, head->pipeline.filters, 6);
    memcpy(info->filters_meta, head->pipeline.metas, 6);
}

static b2c_status mem_read(void *arg, uint64_t at, size_t n, b2i_scratch *scratch, b2i_span *out,
                           b2c_error *err)
{
    const b2i_span *bytes = arg;
    (void)scratch;
    if (at > bytes->n || bytes->n - (size_t)at < n) {
        return b2i_fail(err, B2C_E_TRUNCATED, at, "the chunk is cut short");
    }
    *out = b2i_span_of(n == 0 ? NULL : bytes->p + at, n);
    return B2C_OK;
}

b2i_source b2i_source_mem(const b2i_span *bytes)
{
    b2i_source s = { mem_read, (void *)bytes, bytes->n };
    return s;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How many of the n sorted values are not larger than v. */
static uint32_t count_to(const uint32_t *sorted, uint32_t n, uint32_t v)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (sorted[mid] > v) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

/* Ends of blocks in any order, from their sorted starts. */
static b2c_status set_ends(b2i_chunk *c, const uint32_t *sorted, b2c_error *err)
{
    uint32_t n = c->head.nblocks;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = count_to(sorted, n, c->starts[i]);
        if (next >= 2 && sorted[next - 2] == c->starts[i]) {
            (void)b2i_fail_field(err, B2C_E_CORRUPT, c->head.header_len + 4 * (uint64_t)i, "bstart",
                                 "two blocks start at the same place");
            b2i_err_block(err, i);
            return B2C_E_CORRUPT;
        }
        c->ends[i] = next < n ? sorted[next] : c->head.cbytes;
    }
    return B2C_OK;
}

/*
 * Writers with several threads store blocks in any order: a block ends where the next one starts.
 * None shares its bytes with another, so all blocks together take no longer than the chunk's
 * bytes allow.
 */
static b2c_status find_ends(b2i_chunk *c, b2c_error *err)
{
    uint32_t n = c->head.nblocks;
    bool in_order = true;
    for (uint32_t i = 0; i + 1 < n; i++) {
        c->ends[i] = c->starts[i + 1];
        in_order = in_order && c->starts[i] < c->starts[i + 1];
    }
    c->ends[n - 1] = c->head.cbytes;
    if (in_order) {
        return B2C_OK;
    }
    if (c->head.has_vlblocks) {
        return b2i_fail(err, B2C_E_CORRUPT, c->head.header_len,
                        "the starts of variable-size blocks do not increase");
    }
    uint32_t *sorted = b2i_malloc(n * sizeof *sorted);
    if (sorted == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(sorted, c->starts, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_u32);
    b2c_status st = set_ends(c, sorted, err);
    b2i_free(sorted);
    return st;
}

/* The table of block starts; 'data_at' is the first byte that a block may have. */
static b2c_status read_starts(b2i_chunk *c, b2i_span table, uint32_t data_at, b2c_error *err)
{
    uint32_t n = c->head.nblocks;
    c->starts = b2i_malloc(2 * (size_t)n * sizeof *c->starts);
    if (c->starts == NULL) {
        return b2i_fail_memory(err);
    }
    c->ends = c->starts + n;
    b2i_reader r = b2i_rd_init(table, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t start = b2i_rd_u32le(&r);
        if (start < data_at || start > c->head.cbytes - 4) {
            (void)b2i_fail_field(err, B2C_E_CORRUPT, c->head.header_len + 4 * (uint64_t)i, "bstart",
                                 "a block starts outside the chunk's data");
            b2i_err_block(err, i);
            return B2C_E_CORRUPT;
        }
        c->starts[i] = start;
    }
    return find_ends(c, err);
}

/* Dictionary section behind the table; sets *data_at behind it. */
static b2c_status read_dict(b2i_chunk *c, uint32_t *data_at, b2c_error *err)
{
    uint32_t at = *data_at;
    b2i_span s;
    if (c->head.cbytes - at < 4) {
        return b2i_fail_field(err, B2C_E_CORRUPT, at, "dsize", "the dictionary is cut short");
    }
    B2I_TRY(c->source.read(c->source.arg, at, 4, &c->dict_bytes, &s, err));
    b2i_reader r = b2i_rd_init(s, 0);
    uint32_t dsize = b2i_rd_u32le(&r);
    if (r.failed || dsize == 0 || dsize > MAX_DICT_READ || dsize > c->head.cbytes - at - 4) {
        return b2i_fail_field(err, B2C_E_CORRUPT, at, "dsize",
                              "the dictionary's size is not from 1 to 131072 or leaves the chunk");
    }
    B2I_TRY(c->source.read(c->source.arg, at + 4, dsize, &c->dict_bytes, &s, err));
    *data_at = at + 4 + dsize;
    if (c->codec == NULL) {
        return B2C_OK;
    }
    if (!c->codec->has_dict && c->head.has_vlblocks) {
        return B2C_OK; /* the reference library stores one that it does not use */
    }
    if (!c->codec->has_dict) {
        return b2i_fail_field(err, B2C_E_CORRUPT, 31, "blosc2_flags",
                              "a dictionary for a codec that has none");
    }
    b2c_status st = b2i_dict_new(c->codec, s, 0, &c->dict);
    return st == B2C_OK ? st
                        : b2i_fail_field(err, st, at, "dictionary", "the dictionary is damaged");
}

/* Sizes of variable-size blocks, which stand in front of each. */
static b2c_status read_vlsizes(b2i_chunk *c, b2c_error *err)
{
    uint32_t n = c->head.nblocks, total = 0;
    b2i_scratch scratch = { 0 };
    b2c_status st = B2C_OK;
    c->vl_at = b2i_malloc(((size_t)n + 1) * sizeof *c->vl_at);
    if (c->vl_at == NULL) {
        return b2i_fail_memory(err);
    }
    c->vl_at[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        b2i_span s;
        B2I_GO(st, c->source.read(c->source.arg, c->starts[i], 4, &scratch, &s, err));
        b2i_reader r = b2i_rd_init(s, 0);
        uint32_t size = b2i_rd_u32le(&r);
        if (r.failed || size == 0 || size > c->head.nbytes - total ||
            c->ends[i] - c->starts[i] <= 4) {
            st = b2i_fail_field(err, B2C_E_CORRUPT, c->starts[i], "block size",
                                "a variable-size block is empty or larger than the chunk");
            b2i_err_block(err, i);
            goto out;
        }
        total += size;
        c->vl_at[i + 1] = total;
    }
    if (total != c->head.nbytes) {
        st = b2i_fail_sizes(err, B2C_E_CORRUPT, 4, "the blocks' sizes do not add up to the chunk's",
                            c->head.nbytes, total);
    }
out:
    b2i_scratch_free(&scratch);
    return st;
}

static b2c_status read_tables(b2i_chunk *c, b2c_error *err)
{
    uint32_t table_len = 4 * c->head.nblocks;
    uint32_t data_at = c->head.header_len + table_len;
    b2i_span table;
    if (c->head.has_dict) {
        B2I_TRY(read_dict(c, &data_at, err));
    }
    B2I_TRY(c->source.read(c->source.arg, c->head.header_len, table_len, &c->prefix, &table, err));
    B2I_TRY(read_starts(c, table, data_at, err));
    return c->head.has_vlblocks ? read_vlsizes(c, err) : B2C_OK;
}

b2c_status b2i_chunk_parse(const b2i_source *source, const b2i_chunk_head *head, b2i_chunk *out,
                           b2c_error *err)
{
    *out = (b2i_chunk){ .head = *head, .source = *source };
    b2c_status st = B2C_OK;
    if (head->nblocks > 0) {
        out->codec = b2i_codec_by_id(head->codec_id);
        st = read_tables(out, err);
    }
    if (st != B2C_OK) {
        b2i_chunk_close(out);
    }
    return st;
}

void b2i_chunk_close(b2i_chunk *chunk)
{
    b2i_free(chunk->starts);
    b2i_free(chunk->vl_at);
    b2i_dict_free(chunk->dict);
    b2i_scratch_free(&chunk->dict_bytes);
    b2i_scratch_free(&chunk->prefix);
    chunk->starts = chunk->ends = chunk->vl_at = NULL; /* so that it may be closed again */
    chunk->dict = NULL;
    chunk->head.nblocks = 0;
}
