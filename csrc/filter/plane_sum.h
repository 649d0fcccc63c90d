/*
 * plane_sum.h: running sums of the bytes of a plane, for bytedelta.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_PLANE_SUM_H
#define B2I_PLANE_SUM_H

/* dst[i] = src[0] + … + src[i], modulo 256; dst may be src. */
static void vec_sum(const uint8_t *src, size_t n, uint8_t *dst)
{
    vec before = vec_splat(0); /* the sum of all vectors before, all over it */
    size_t i = 0;

    for (; i + sizeof(vec) <= n; i += sizeof(vec)) {
        vec v = vec_load(src + i);
        B2I_UNROLL
        for (int nbytes = 1; nbytes < 16; nbytes *= 2) {
            v = vec_add(v, vec_slide(v, nbytes));
        }
        vec last = vec_last(v);
        v = vec_add(v, vec_sum_before(last));
        vec_store(dst + i, vec_add(v, before));
        before = vec_add(before, vec_sum_all(last)); /* all that a step waits for */
    }
    sum_rest(src, n, i, dst);
}

#endif
