/*
 * nd_copy.c: copies of n-dimensional boxes between strided places.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"

void b2i_copy_simplify(b2i_copy *c)
{
    uint32_t kept = 0;
    for (uint32_t d = 0; d < c->ndim; d++) {
        if (c->n[d] == 1) {
            continue;
        }
        if (kept > 0 && c->src_stride[kept - 1] == c->n[d] * c->src_stride[d] &&
            c->dst_stride[kept - 1] == c->n[d] * c->dst_stride[d]) {
            kept--; /* the outer one goes on where this one ends */
            c->n[d] *= c->n[kept];
        }
        c->n[kept] = c->n[d];
        c->src_stride[kept] = c->src_stride[d];
        c->dst_stride[kept] = c->dst_stride[d];
        kept++;
    }
    c->ndim = kept;
}

bool b2i_copy_is_run(const b2i_copy *c)
{
    return c->ndim == 0 ||
           (c->ndim == 1 && c->src_stride[0] == c->itemsize && c->dst_stride[0] == c->itemsize);
}

/* n items of a constant size: the compiler makes loads and stores of it. */
#define COPY_ITEMS(SIZE)                                                                           \
    for (uint64_t i = 0; i < n; i++) {                                                             \
        memcpy(dst + i * dst_stride, src + i * src_stride, SIZE);                                  \
    }

static void copy_row(const uint8_t *src, uint64_t src_stride, uint8_t *dst, uint64_t dst_stride,
                     uint64_t n, size_t itemsize)
{
    if (src_stride == itemsize && dst_stride == itemsize) {
        memcpy(dst, src, (size_t)n * itemsize);
        return;
    }
    switch (itemsize) {
    case 1:
        COPY_ITEMS(1)
        break;
    case 2:
        COPY_ITEMS(2)
        break;
    case 4:
        COPY_ITEMS(4)
        break;
    case 8:
        COPY_ITEMS(8)
        break;
    case 16:
        COPY_ITEMS(16)
        break;
    default:
        COPY_ITEMS(itemsize)
    }
}

void b2i_copy_run(const b2i_copy *c, const uint8_t *src, uint8_t *dst)
{
    uint64_t at[B2C_MAX_DIM] = { 0 };
    if (c->ndim == 0) {
        memcpy(dst, src, c->itemsize);
        return;
    }
    uint32_t last = c->ndim - 1;
    for (;;) {
        copy_row(src, c->src_stride[last], dst, c->dst_stride[last], c->n[last], c->itemsize);
        uint32_t d = last;
        do { /* the next row: count up, carrying outward */
            if (d == 0) {
                return;
            }
            d--;
            src += c->src_stride[d];
            dst += c->dst_stride[d];
            at[d]++;
            if (at[d] < c->n[d]) {
                break;
            }
            src -= c->n[d] * c->src_stride[d];
            dst -= c->n[d] * c->dst_stride[d];
            at[d] = 0;
        } while (true);
    }
}
