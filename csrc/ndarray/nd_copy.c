/*
 * nd_copy.c: copies of n-dimensional boxes between strided places.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nd.h"
#include "shuffle.h"

/* Runs of items of which the planes are worth calling a kernel for. */
enum { MIN_RUN = 16 };

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

void b2i_copy_from_planes(b2i_copy *c, uint64_t plane_len)
{
    for (uint32_t d = 0; d < c->ndim; d++) {
        c->src_stride[d] /= c->itemsize;
    }
    c->plane_len = plane_len;
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

static void gather_row(const b2i_copy *c, const uint8_t *src, uint64_t src_stride, uint8_t *dst,
                       uint64_t dst_stride, uint64_t n)
{
    size_t unit = c->itemsize;
    if (n >= MIN_RUN && src_stride == 1 && dst_stride == unit) {
        b2i_plane planes[B2I_MAX_UNIT];
        for (size_t k = 0; k < unit; k++) {
            planes[k] = (b2i_plane){ src + k * c->plane_len, SIZE_MAX };
        }
        b2i_unshuffle_planes(planes, unit, (size_t)n, dst);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        for (size_t k = 0; k < unit; k++) {
            dst[i * dst_stride + k] = src[i * src_stride + k * c->plane_len];
        }
    }
}

static void take_row(const b2i_copy *c, const uint8_t *src, uint64_t src_stride, uint8_t *dst,
                     uint64_t dst_stride, uint64_t n)
{
    if (c->plane_len == 0) {
        copy_row(src, src_stride, dst, dst_stride, n, c->itemsize);
    } else {
        gather_row(c, src, src_stride, dst, dst_stride, n);
    }
}

void b2i_copy_run(const b2i_copy *c, const uint8_t *src, uint8_t *dst)
{
    uint64_t at[B2C_MAX_DIM] = { 0 };
    if (c->ndim == 0) {
        take_row(c, src, 0, dst, 0, 1);
        return;
    }
    uint32_t last = c->ndim - 1;
    for (;;) {
        take_row(c, src, c->src_stride[last], dst, c->dst_stride[last], c->n[last]);
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
