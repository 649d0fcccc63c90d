/*
 * codec_ndlz.c: NDLZ, which finds repeated cells and lines of cells in blocks of two dimensions.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream is the number 2, rows and columns (i32, little-endian), and a token for each cell of
 * C x C bytes in C order, C being 4 or 8.  Cells at the border are cut off.  References are
 * distances, from the token, to the bytes of an earlier literal cell in the stream itself.
 *
 *   00       pr * pc bytes: the cell                   40  one byte that fills the cell
 *   c0       u16: the whole cell
 *   C = 4    three lines, u16 and the other line; two lines, u16 and the others; two pairs, 2 u16
 *   C = 8    three or two neighbouring lines, u16 and the others
 */
#include "codec_impl.h"

enum {
    HEAD_LEN = 9,
    MAX_EDGE = 8,
    LITERAL = 0x00,
    FILL = 0x40,
    WHOLE = 0xC0,
    NO_LINE = MAX_EDGE,
};

/* A block as cells. */
typedef struct grid {
    size_t rows, cols, edge;
} grid;

/* One of them: its place in the block, and how much of it there is. */
typedef struct cell {
    size_t at, nrows, ncols;
} cell;

static size_t ncells(const grid *g)
{
    return ((g->rows + g->edge - 1) / g->edge) * ((g->cols + g->edge - 1) / g->edge);
}

static cell cell_of(const grid *g, size_t i)
{
    size_t across = (g->cols + g->edge - 1) / g->edge;
    size_t row = i / across * g->edge, col = i % across * g->edge;
    cell c = { row * g->cols + col, g->rows - row, g->cols - col };
    c.nrows = c.nrows < g->edge ? c.nrows : g->edge;
    c.ncols = c.ncols < g->edge ? c.ncols : g->edge;
    return c;
}

/* ---- which lines of a cell a token speaks of ---- */

/* Lines that are copied from the reference, and then from the second one; ended by NO_LINE. */
typedef struct lines {
    uint8_t first[MAX_EDGE + 1], second[MAX_EDGE + 1];
} lines;

static bool set_run(lines *l, size_t from, size_t n, size_t edge)
{
    for (size_t i = 0; i < n; i++) {
        l->first[i] = (uint8_t)(from + i);
    }
    l->first[n] = NO_LINE;
    return from + n <= edge;
}

static bool set_pair(lines *l, size_t i, size_t j)
{
    l->first[0] = (uint8_t)i;
    l->first[1] = (uint8_t)j;
    l->first[2] = NO_LINE;
    return i < j;
}

/* Lines 0 and j, then the two others. */
static bool set_two_pairs(lines *l, size_t j)
{
    if (j < 1 || !set_pair(l, 0, j)) {
        return false;
    }
    l->second[0] = j == 1 ? 2 : 1;
    l->second[1] = j == 3 ? 2 : 3;
    l->second[2] = NO_LINE;
    return true;
}

static bool set_three(lines *l, unsigned which)
{
    static const uint8_t three[4][4] = {
        { 1, 2, 3, NO_LINE }, { 0, 1, 2, NO_LINE }, { 0, 1, 3, NO_LINE }, { 0, 2, 3, NO_LINE }
    };
    memcpy(l->first, three[which], 4);
    return true;
}

/* What a token other than LITERAL, FILL and WHOLE means; false for one that means nothing. */
static bool lines_of(unsigned token, size_t edge, lines *l)
{
    l->first[0] = l->second[0] = NO_LINE;
    if (edge == 8) {
        bool three = token >= 0xA8 && token <= 0xAF;
        return (three || (token >= 0x88 && token <= 0x8F)) &&
               set_run(l, token & 7u, three ? 3 : 2, edge);
    }
    if (token >= 0xE0) {
        return set_three(l, (token >> 3) - 28);
    }
    if (token == 0x80) {
        return set_pair(l, 2, 3);
    }
    if (token > 0x80 && token < 0xC0) {
        return set_pair(l, (token - 0x80) >> 5, (token >> 3) & 3u);
    }
    return token >= 0x28 && token < 0x40 && set_two_pairs(l, (token - 0x20) >> 3);
}

static bool has_line(const uint8_t *list, size_t line)
{
    for (; *list != NO_LINE; list++) {
        if (*list == line) {
            return true;
        }
    }
    return false;
}

/* ---- decoder ---- */

typedef struct decoder {
    b2i_reader r;
    grid g;
    uint8_t *dst;
} decoder;

/* n bytes that lie 'u16' before the token. */
static const uint8_t *referred(decoder *d, size_t token_at, size_t n)
{
    size_t back = b2i_rd_u8(&d->r);
    back |= (size_t)b2i_rd_u8(&d->r) << 8;
    if (d->r.failed || back > token_at || n > d->r.in.n - (token_at - back)) {
        d->r.failed = true;
        return NULL;
    }
    return d->r.in.p + (token_at - back);
}

static void copy_lines(const decoder *d, const cell *c, const uint8_t *list, const uint8_t *src)
{
    for (; *list != NO_LINE; list++, src += d->g.edge) {
        memcpy(d->dst + c->at + *list * d->g.cols, src, d->g.edge);
    }
}

static size_t count(const uint8_t *list)
{
    size_t n = 0;
    while (list[n] != NO_LINE) {
        n++;
    }
    return n;
}

/* A cell of which some lines are elsewhere. */
static bool decode_lines(decoder *d, const cell *c, size_t token_at, unsigned token)
{
    lines l;
    size_t edge = d->g.edge;
    if (!lines_of(token, edge, &l)) {
        return false;
    }
    const uint8_t *src = referred(d, token_at, count(l.first) * edge);
    if (src == NULL) {
        return false;
    }
    copy_lines(d, c, l.first, src);
    if (l.second[0] != NO_LINE) {
        src = referred(d, token_at, 2 * edge);
        if (src == NULL) {
            return false;
        }
        copy_lines(d, c, l.second, src);
    }
    for (size_t i = 0; i < edge; i++) {
        if (!has_line(l.first, i) && !has_line(l.second, i)) {
            b2i_rd_copy(&d->r, d->dst + c->at + i * d->g.cols, edge);
        }
    }
    return !d->r.failed;
}

static bool decode_cell(decoder *d, const cell *c)
{
    size_t token_at = d->r.at;
    unsigned token = b2i_rd_u8(&d->r), value;
    const uint8_t *src;
    bool is_full = c->nrows == d->g.edge && c->ncols == d->g.edge;
    switch (token) {
    case LITERAL:
        src = b2i_rd_take(&d->r, c->nrows * c->ncols);
        for (size_t i = 0; src != NULL && i < c->nrows; i++) {
            memcpy(d->dst + c->at + i * d->g.cols, src + i * c->ncols, c->ncols);
        }
        return src != NULL;
    case FILL:
        value = b2i_rd_u8(&d->r);
        for (size_t i = 0; i < c->nrows; i++) {
            memset(d->dst + c->at + i * d->g.cols, (int)value, c->ncols);
        }
        return !d->r.failed;
    case WHOLE:
        src = is_full ? referred(d, token_at, d->g.edge * d->g.edge) : NULL;
        for (size_t i = 0; src != NULL && i < d->g.edge; i++) {
            memcpy(d->dst + c->at + i * d->g.cols, src + i * d->g.edge, d->g.edge);
        }
        return src != NULL;
    default:
        return is_full && !d->r.failed && decode_lines(d, c, token_at, token);
    }
}

static bool decode_cells(decoder *d)
{
    for (size_t i = 0, end = ncells(&d->g); i < end; i++) {
        cell c = cell_of(&d->g, i);
        if (!decode_cell(d, &c)) {
            return false;
        }
    }
    return d->r.at == d->r.in.n;
}

static b2c_status ndlz_decode(const b2i_codec *codec, const b2c_block *block, b2i_span src,
                              uint8_t *dst, size_t n, b2c_error *err)
{
    (void)codec;
    decoder d = { .r = b2i_rd_init(src, 0), .dst = dst };
    unsigned ndim = b2i_rd_u8(&d.r);
    uint32_t rows = b2i_rd_u32le(&d.r), cols = b2i_rd_u32le(&d.r);
    d.g = (grid){ rows, cols, block->meta };
    bool fits = !d.r.failed && ndim == 2 && (block->meta == 4 || block->meta == 8) && cols != 0 &&
                n % cols == 0 && n / cols == rows;
    if (!fits || !decode_cells(&d)) {
        return b2i_fail(err, B2C_E_CORRUPT, B2C_NO_OFFSET, "a compressed stream is damaged");
    }
    return B2C_OK;
}

/* ---- encoder ---- */

/* Where some bytes of literal cells were last seen in the stream, by a hash of them; 0: nowhere. */
enum { TABLE_BITS = 12, MAX_BACK = 0xFFFF };

typedef struct tables {
    uint32_t whole[1 << TABLE_BITS], three[1 << TABLE_BITS], two[1 << TABLE_BITS];
} tables;

typedef struct encoder {
    grid g;
    tables *t;
    uint8_t *dst;
    size_t at, cap;                     /* of dst */
    uint8_t bytes[MAX_EDGE * MAX_EDGE]; /* the present cell, if it is full */
} encoder;

static uint32_t *slot_of(uint32_t *table, const uint8_t *p, size_t n)
{
    uint64_t h = 0;
    for (size_t i = 0; i < n; i += 4) {
        h = (h ^ b2i_ld32le(p + i)) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return &table[h >> (64 - TABLE_BITS)];
}

/* The distance at which these bytes are, or 0. */
static size_t find(const encoder *e, uint32_t *table, const uint8_t *p, size_t n)
{
    uint32_t at = *slot_of(table, p, n);
    return at != 0 && e->at - at <= MAX_BACK && memcmp(e->dst + at, p, n) == 0 ? e->at - at : 0;
}

static size_t gather(const encoder *e, const uint8_t *list, uint8_t *out)
{
    size_t n = 0;
    for (; *list != NO_LINE; list++, n += e->g.edge) {
        memcpy(out + n, e->bytes + *list * e->g.edge, e->g.edge);
    }
    return n;
}

static void put_back(uint8_t **p, size_t back)
{
    *(*p)++ = (uint8_t)back;
    *(*p)++ = (uint8_t)(back >> 8);
}

/* Bytes of a token with its references and other lines. */
static size_t lines_len(const encoder *e, const lines *l)
{
    size_t edge = e->g.edge, found = count(l->first) + count(l->second);
    return 3 + (l->second[0] == NO_LINE ? 0 : 2) + (edge - found) * edge;
}

static void put_lines(encoder *e, unsigned token, const lines *l, size_t back, size_t back2)
{
    uint8_t *p = e->dst + e->at;
    *p++ = (uint8_t)token;
    put_back(&p, back);
    if (l->second[0] != NO_LINE) {
        put_back(&p, back2);
    }
    for (size_t i = 0; i < e->g.edge; i++) {
        if (!has_line(l->first, i) && !has_line(l->second, i)) {
            memcpy(p, e->bytes + i * e->g.edge, e->g.edge);
            p += e->g.edge;
        }
    }
    e->at = (size_t)(p - e->dst);
}

/* Tokens in the order of what they save. */
static const uint8_t tokens4[] = { 0x28, 0x30, 0x38, 0xE8, 0xE0, 0xF0, 0xF8,
                                   0x88, 0x90, 0x98, 0xB0, 0xB8, 0x80 };
static const uint8_t tokens8[] = { 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0x88,
                                   0x89, 0x8A, 0x8B, 0x8C, 0x8D, 0x8E };

static bool encode_lines(encoder *e)
{
    const uint8_t *tokens = e->g.edge == 4 ? tokens4 : tokens8;
    uint8_t buf[3 * MAX_EDGE];
    for (size_t i = 0; i < sizeof tokens4; i++) {
        lines l;
        size_t back2 = 0;
        (void)lines_of(tokens[i], e->g.edge, &l);
        if (lines_len(e, &l) > e->cap - e->at) {
            continue;
        }
        size_t n = gather(e, l.first, buf);
        size_t back = find(e, n == 3 * e->g.edge ? e->t->three : e->t->two, buf, n);
        if (back != 0 && l.second[0] != NO_LINE) {
            n = gather(e, l.second, buf);
            back2 = find(e, e->t->two, buf, n);
            back = back2 == 0 ? 0 : back;
        }
        if (back != 0) {
            put_lines(e, tokens[i], &l, back, back2);
            return true;
        }
    }
    return false;
}

/* Remembers the cell whose bytes begin at 'at' of the stream, and its neighbouring lines. */
static void remember(encoder *e, size_t at)
{
    size_t edge = e->g.edge;
    const uint8_t *p = e->dst + at;
    *slot_of(e->t->whole, p, edge * edge) = (uint32_t)at;
    for (size_t i = 0; i + 2 <= edge; i++) {
        *slot_of(e->t->two, p + i * edge, 2 * edge) = (uint32_t)(at + i * edge);
        if (i + 3 <= edge) {
            *slot_of(e->t->three, p + i * edge, 3 * edge) = (uint32_t)(at + i * edge);
        }
    }
}

static bool encode_literal(encoder *e, const uint8_t *src, const cell *c)
{
    size_t n = c->nrows * c->ncols, at = e->at + 1;
    if (e->cap - e->at < 1 + n) {
        return false;
    }
    e->dst[e->at] = LITERAL;
    for (size_t i = 0; i < c->nrows; i++) {
        memcpy(e->dst + at + i * c->ncols, src + c->at + i * e->g.cols, c->ncols);
    }
    e->at += 1 + n;
    if (n == e->g.edge * e->g.edge) {
        remember(e, at);
    }
    return true;
}

static bool is_filled(const encoder *e, const uint8_t *src, const cell *c)
{
    const uint8_t *p = src + c->at;
    for (size_t i = 0; i < c->nrows; i++) {
        for (size_t j = 0; j < c->ncols; j++) {
            if (p[i * e->g.cols + j] != p[0]) {
                return false;
            }
        }
    }
    return true;
}

/* False when there is no room. */
static bool encode_cell(encoder *e, const uint8_t *src, const cell *c)
{
    size_t edge = e->g.edge;
    if (e->cap - e->at < 3) {
        return false;
    }
    if (is_filled(e, src, c)) {
        e->dst[e->at++] = FILL;
        e->dst[e->at++] = src[c->at];
        return true;
    }
    if (c->nrows < edge || c->ncols < edge) {
        return encode_literal(e, src, c);
    }
    for (size_t i = 0; i < edge; i++) {
        memcpy(e->bytes + i * edge, src + c->at + i * e->g.cols, edge);
    }
    size_t back = find(e, e->t->whole, e->bytes, edge * edge);
    if (back != 0) {
        uint8_t *p = e->dst + e->at;
        *p++ = WHOLE;
        put_back(&p, back);
        e->at += 3;
        return true;
    }
    return encode_lines(e) || encode_literal(e, src, c);
}

/* Length of the stream, 0 when there is no room for it. */
static size_t encode_cells(encoder *e, const uint8_t *src)
{
    e->dst[0] = 2;
    b2i_st32le(e->dst + 1, (uint32_t)e->g.rows);
    b2i_st32le(e->dst + 5, (uint32_t)e->g.cols);
    for (size_t i = 0, end = ncells(&e->g); i < end; i++) {
        cell c = cell_of(&e->g, i);
        if (!encode_cell(e, src, &c)) {
            return 0;
        }
    }
    return e->at;
}

static b2c_status ndlz_encode(const b2i_codec *codec, const b2c_block *block, b2i_span src,
                              uint8_t *dst, size_t cap, size_t *out_len, b2c_error *err)
{
    (void)codec;
    *out_len = 0;
    cap = cap < src.n ? cap : src.n - 1;
    if (cap < HEAD_LEN) {
        return B2C_OK;
    }
    encoder e = { .g = { block->blockshape[0], block->blockshape[1], block->meta },
                  .t = b2i_calloc(sizeof(tables)),
                  .dst = dst,
                  .at = HEAD_LEN,
                  .cap = cap };
    if (e.t == NULL) {
        return b2i_fail_memory(err);
    }
    *out_len = encode_cells(&e, src.p);
    b2i_free(e.t);
    return B2C_OK;
}

static b2c_status ndlz_check(const b2c_block *block, size_t n, b2c_error *err)
{
    if (block->meta != 4 && block->meta != 8) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "codec_meta",
                              "ndlz takes 4 or 8, the edge of a cell");
    }
    if (block->ndim != 2 || (uint64_t)block->blockshape[0] * block->blockshape[1] != n) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "codec",
                              "ndlz is for arrays of two dimensions and items of one byte, or of "
                              "more with splitmode ALWAYS_SPLIT");
    }
    return B2C_OK;
}

const b2i_codec_ops b2i_codec_ndlz = {
    .codec = { .id = 32,
               .format = B2I_FORMAT_BY_ID,
               .name = "ndlz",
               .library = "blosc2c",
               .version = b2c_version,
               .check_block = ndlz_check,
               .encode_block = ndlz_encode,
               .decode_block = ndlz_decode },
};
