/*
 * blockshape.c: the shape of blocks, which some codecs and filters need to know.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"

/*
 * It is in the metalayer of an array, behind three bytes, shape and chunk shape.  All the rest
 * of that is the business of ndarray/.
 */
static void read_blockshape(b2i_span meta, b2i_site *site)
{
    enum { INT32 = 0xD2 };
    b2i_reader r = b2i_rd_init(meta, 2);
    uint32_t ndim = b2i_rd_u8(&r), shape[B2C_MAX_DIM];
    if (ndim > B2C_MAX_DIM) {
        return;
    }
    (void)b2i_rd_take(&r, 1 + 9 * (size_t)ndim + 1 + 5 * (size_t)ndim + 1);
    bool ok = true;
    for (uint32_t d = 0; d < ndim; d++) {
        ok = b2i_rd_u8(&r) == INT32 && ok;
        shape[d] = b2i_rd_u32be(&r);
    }
    if (ok && !r.failed) {
        site->ndim = ndim;
        memcpy(site->blockshape, shape, ndim * sizeof shape[0]);
    }
}

void b2i_schunk_blockshape(const b2c_schunk *s, b2i_site *site)
{
    const b2i_meta *meta = b2i_metas_find(&s->now.metas, "b2nd");
    if (meta == NULL) {
        meta = b2i_metas_find(&s->now.metas, "caterva");
    }
    if (meta != NULL) {
        read_blockshape(b2i_meta_span(meta), site);
    }
}
