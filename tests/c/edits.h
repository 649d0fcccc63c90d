/*
 * edits.h: super-chunks of chunks of one byte value each, random edits, and a model of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EDITS_H
#define EDITS_H

#include "new_schunk.h"

/* ---- editing, compared with an array of bytes ---- */

/* Chunks of a model are one byte value each, so that a number is enough. */
typedef struct model {
    int v[64];
    unsigned n;
} model;

static void check_model(const b2c_schunk *s, const model *m)
{
    uint8_t data[CHUNK];
    b2c_schunk_info info;
    size_t n;
    b2c_schunk_info_get(s, &info);
    CHECK_EQ(info.nchunks, m->n);
    CHECK_EQ(info.nbytes, m->n * CHUNK);
    for (unsigned i = 0; i < m->n; i++) {
        memset(data, 0xEE, sizeof data);
        CHECK_EQ(b2c_schunk_decode_chunk(s, ctx, i, data, sizeof data, &n, &err), B2C_OK);
        CHECK_EQ(data[0], m->v[i]);
        CHECK(memcmp(data, data + 1, CHUNK - 1) == 0);
    }
}

static void put_in(model *m, unsigned at, int v)
{
    memmove(m->v + at + 1, m->v + at, (m->n - at) * sizeof m->v[0]);
    m->v[at] = v;
    m->n++;
}

static void edit(b2c_schunk *s, model *m)
{
    uint8_t data[2 * CHUNK];
    unsigned kind = (unsigned)(harness_random(&seed) % 8), n = m->n;
    unsigned at = n == 0 ? 0 : (unsigned)(harness_random(&seed) % n);
    int v = (int)(harness_random(&seed) % 256);
    uint64_t order[64];
    memset(data, v, sizeof data);
    if (kind <= 1 || n == 0) {
        CHECK_EQ(b2c_schunk_append(s, ctx, data, CHUNK, &err), B2C_OK);
        put_in(m, n, v);
    } else if (kind == 2) {
        CHECK_EQ(b2c_schunk_insert(s, ctx, at, data, CHUNK, &err), B2C_OK);
        put_in(m, at, v);
    } else if (kind == 3) {
        CHECK_EQ(b2c_schunk_update(s, ctx, at, data, CHUNK, &err), B2C_OK);
        m->v[at] = v;
    } else if (kind == 4) {
        CHECK_EQ(b2c_schunk_delete_chunk(s, at, &err), B2C_OK);
        memmove(m->v + at, m->v + at + 1, (n - at - 1) * sizeof m->v[0]);
        m->n--;
    } else if (kind == 5) {
        for (unsigned i = 0; i < n; i++) {
            order[i] = (i + at) % n;
        }
        model old = *m;
        CHECK_EQ(b2c_schunk_reorder(s, order, n, &err), B2C_OK);
        for (unsigned i = 0; i < n; i++) {
            m->v[i] = old.v[order[i]];
        }
    } else if (kind == 6) {
        CHECK_EQ(b2c_schunk_update_special(s, at, B2C_SPECIAL_ZERO, NULL, &err), B2C_OK);
        m->v[at] = 0;
    } else if (at + 2 <= n) {
        CHECK_EQ(b2c_schunk_write(s, ctx, at * CHUNK, data, 2 * CHUNK, &err), B2C_OK);
        m->v[at] = m->v[at + 1] = v;
    }
}

#endif
