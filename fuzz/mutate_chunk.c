/*
 * mutate_chunk.c: mutations of chunks and of the b2nd metalayer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mutate.h"

enum { HEADER_LEN = 32, MIN_HEADER_LEN = 16, MAX_BLOCKS = 256 };

typedef struct head {
    size_t len, cbytes;
    uint32_t nbytes, blocksize, nblocks;
    bool is_special, is_memcpy, is_vl;
} head;

static bool parse(b2i_span s, head *h)
{
    if (s.n < MIN_HEADER_LEN || s.p[0] == 0 || s.p[0] > 6 || s.p[1] != 1 || s.p[3] == 0) {
        return false;
    }
    *h = (head){ .nbytes = b2i_ld32le(s.p + 4), .blocksize = b2i_ld32le(s.p + 8) };
    h->cbytes = b2i_ld32le(s.p + 12);
    h->len = (s.p[2] & 5) == 5 ? HEADER_LEN : MIN_HEADER_LEN;
    if (h->cbytes < h->len || h->cbytes > s.n || h->blocksize == 0 || h->nbytes > INT32_MAX) {
        return false;
    }
    h->is_special = h->len == HEADER_LEN && (s.p[31] & 0x70) != 0;
    h->is_memcpy = (s.p[2] & 2) != 0;
    h->is_vl = h->len == HEADER_LEN && (s.p[30] & 1) != 0;
    if (!h->is_special && !h->is_memcpy) {
        h->nblocks = h->is_vl ? h->blocksize : (h->nbytes + h->blocksize - 1) / h->blocksize;
    }
    return true;
}

size_t mut_chunk_len(b2i_span s)
{
    head h;
    return parse(s, &h) ? h.cbytes : 0;
}

void mut_plain_chunk(uint8_t typesize, b2i_span data, mut_buf *out)
{
    uint8_t header[HEADER_LEN] = { 5, 1, 0x07, typesize };
    b2i_st32le(header + 4, (uint32_t)data.n);
    b2i_st32le(header + 8, data.n == 0 ? 1 : (uint32_t)data.n);
    b2i_st32le(header + 12, (uint32_t)data.n + HEADER_LEN);
    mut_put(out, header, sizeof header);
    mut_put(out, data.p, data.n);
}

/* One field of the header. */
static void change_header(uint8_t *p, const head *h)
{
    static const uint8_t filters[] = { 0, 1, 2, 3, 4, 32, 33, 34, 35, 36, 37, 160 };
    static const uint8_t flags[] = { 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80 };
    switch (mut_random(h->len == HEADER_LEN ? 9 : 5)) {
    case 0:
        p[0] = (uint8_t)(1 + mut_random(7));
        break;
    case 1:
        p[2] ^= flags[mut_random(8)];
        break;
    case 2:
        p[3] = mut_chance(2) ? (uint8_t)(1 << mut_random(8)) : (uint8_t)mut_number(8);
        break;
    case 3:
        b2i_st32le(p + 4, mut_chance(2) ? (uint32_t)mut_number(32) : h->nbytes + mut_random(9) - 4);
        break;
    case 4:
        b2i_st32le(p + 8,
                   mut_chance(2) ? (uint32_t)mut_number(32) : h->blocksize + mut_random(9) - 4);
        break;
    case 5:
        p[16 + mut_random(6)] = filters[mut_random(sizeof filters)];
        break;
    case 6:
        p[22 + mut_random(8)] = (uint8_t)mut_number(8);
        break;
    case 7:
        p[30] ^= 1;
        break;
    default:
        p[31] = mut_chance(2) ? (uint8_t)(mut_random(8) << 4) : p[31] ^ flags[mut_random(8)];
        break;
    }
}

/* Where block i ends: at the next larger start. */
static size_t end_of(b2i_span s, const head *h, uint32_t i)
{
    uint32_t start = b2i_ld32le(s.p + h->len + 4 * i), end = (uint32_t)h->cbytes;
    for (uint32_t k = 0; k < h->nblocks; k++) {
        uint32_t v = b2i_ld32le(s.p + h->len + 4 * k);
        end = v > start && v < end ? v : end;
    }
    return end;
}

/* One stream of a block: its size is what follows of it, whatever it became. */
static void change_stream(b2i_span block, bool is_vl, mut_buf *out)
{
    static uint8_t bytes[MUT_MAX_LEN];
    size_t at = 0, chosen = mut_random(4);
    while (block.n - at >= 4) {
        uint32_t size = b2i_ld32le(block.p + at);
        size_t n = is_vl ? block.n - 4 : size > INT32_MAX ? 1 : size;
        n = n <= block.n - at - 4 ? n : block.n - at - 4;
        memcpy(bytes, block.p + at + 4, n);
        if (chosen == 0 || block.n - at - 4 - n < 4) {
            size_t m = mut_bytes(bytes, n, n + 16);
            uint8_t size_field[4];
            b2i_st32le(size_field, is_vl || mut_chance(8) ? size : (uint32_t)m);
            if (mut_chance(16)) {
                b2i_st32le(size_field, (uint32_t)mut_number(32));
            }
            mut_put(out, size_field, 4);
            mut_put(out, bytes, m);
            at += 4 + n;
            break;
        }
        chosen--;
        mut_put(out, block.p + at, 4 + n);
        at += 4 + n;
    }
    mut_put(out, block.p + at, block.n - at);
}

/* One block becomes longer or shorter; those behind it move. */
static bool change_block(b2i_span s, const head *h, mut_buf *out)
{
    uint32_t i = mut_random(h->nblocks), start = b2i_ld32le(s.p + h->len + 4 * i);
    size_t table_end = h->len + 4 * (size_t)h->nblocks, from = out->n;
    if (start < table_end || start > h->cbytes) {
        return false;
    }
    size_t end = end_of(s, h, i);
    mut_put(out, s.p, start);
    change_stream(b2i_span_of(s.p + start, end - start), h->is_vl, out);
    size_t new_end = out->n - from;
    mut_put(out, s.p + end, h->cbytes - end);
    for (uint32_t k = 0; k < h->nblocks; k++) {
        uint32_t v = b2i_ld32le(s.p + h->len + 4 * k);
        if (v >= end) {
            b2i_st32le(out->p + from + h->len + 4 * k, (uint32_t)(v - end + new_end));
        }
    }
    return true;
}

/* Block starts: exchanged, or the same for two. */
static void change_starts(uint8_t *p, const head *h)
{
    uint8_t *a = p + h->len + 4 * mut_random(h->nblocks),
            *b = p + h->len + 4 * mut_random(h->nblocks);
    uint32_t x = b2i_ld32le(a), y = b2i_ld32le(b);
    b2i_st32le(a, mut_chance(4) ? x + mut_random(17) - 8 : y);
    if (mut_chance(2)) {
        b2i_st32le(b, x);
    }
}

void mut_chunk(b2i_span chunk, mut_buf *out)
{
    head h;
    size_t from = out->n;
    if (!parse(chunk, &h) || chunk.n > MUT_MAX_LEN / 2) {
        mut_put(out, chunk.p, chunk.n);
        return;
    }
    bool has_table = h.nblocks > 0 && h.nblocks <= MAX_BLOCKS && h.len + 4 * h.nblocks <= h.cbytes;
    uint32_t what = mut_random(8);
    if (!(what < 4 && has_table && change_block(chunk, &h, out))) {
        mut_put(out, chunk.p, h.cbytes);
        if (what == 4 && has_table) {
            change_starts(out->p + from, &h);
        } else if (what < 7 && h.cbytes > h.len) {
            size_t n = mut_bytes(out->p + from + h.len, h.cbytes - h.len, h.cbytes - h.len + 32);
            out->n = from + h.len + n;
            if (h.is_memcpy && !h.is_special && mut_chance(2)) {
                b2i_st32le(out->p + from + 4, (uint32_t)n);
            }
        } else {
            change_header(out->p + from, &h);
        }
    }
    b2i_st32le(out->p + from + 12, (uint32_t)(out->n - from));
}

/* ---- b2nd ---- */

size_t mut_nd(uint8_t *p, size_t n)
{
    if (n < 6 || p[0] < 0x95 || p[0] > 0x97 || p[1] != 0 || p[2] > 16) {
        return 0;
    }
    size_t ndim = p[2], shape = 4, chunks = shape + 9 * ndim + 1, blocks = chunks + 5 * ndim + 1;
    size_t len = blocks + 5 * ndim;
    if (len > n || p[3] != 0x90 + ndim) {
        return 0;
    }
    size_t d = mut_random((uint32_t)ndim);
    uint64_t small = 1 + mut_random(12);
    if (ndim == 0 || mut_chance(16)) {
        p[2] = (uint8_t)mut_random(18);
    } else if (mut_chance(3)) {
        b2i_st64be(p + shape + 9 * d + 1, mut_chance(2) ? small * 3 : mut_number(64));
    } else if (mut_chance(2)) {
        b2i_st32be(p + chunks + 5 * d + 1, (uint32_t)(mut_chance(2) ? small : mut_number(32)));
    } else {
        b2i_st32be(p + blocks + 5 * d + 1, (uint32_t)(mut_chance(2) ? small : mut_number(32)));
    }
    return len;
}
