/*
 * store_overlay.c: changes in memory on top of a store that stays as it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"

/* Marks an entry of the memory on top; places in frames are far below it. */
#define ON_TOP ((b2i_entry)1 << 62)

typedef struct overlay_store {
    b2i_store base;
    b2i_store *below, *top;
} overlay_store;

static b2i_store *owner(const b2i_store *store, b2i_entry *entry)
{
    const overlay_store *o = (const overlay_store *)store;
    if ((*entry & ON_TOP) == 0) {
        return o->below;
    }
    *entry &= ~ON_TOP;
    return o->top;
}

static b2c_status overlay_read(b2i_store *store, b2i_entry entry, uint64_t at, size_t n,
                               b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    b2i_store *s = owner(store, &entry);
    return s->ops->read(s, entry, at, n, scratch, out, err);
}

static b2c_status overlay_len(b2i_store *store, b2i_entry entry, uint64_t *len, b2c_error *err)
{
    b2i_store *s = owner(store, &entry);
    return s->ops->len(s, entry, len, err);
}

static b2c_status overlay_check(b2i_store *store, b2i_entry entry, b2i_span chunk,
                                b2i_verdict *result, b2c_error *err)
{
    b2i_store *s = owner(store, &entry);
    *result = (b2i_verdict){ .check = B2I_CHECK_NONE };
    return s->ops->check == NULL ? B2C_OK : s->ops->check(s, entry, chunk, result, err);
}

static b2c_status overlay_part_hashes(b2i_store *store, b2i_entry entry, const b2i_chunk_head *head,
                                      b2i_scratch *scratch, b2i_span *hashes, b2c_error *err)
{
    b2i_store *s = owner(store, &entry);
    *hashes = b2i_span_of(NULL, 0);
    return s->ops->part_hashes == NULL ? B2C_OK
                                       : s->ops->part_hashes(s, entry, head, scratch, hashes, err);
}

static uint32_t overlay_part_hash(b2i_span part)
{
    return b2i_record_part_hash(part);
}

static uint64_t overlay_place(const b2i_store *store, b2i_entry entry)
{
    const b2i_store *s = owner(store, &entry);
    return s->ops->place(s, entry);
}

static b2c_status overlay_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo,
                              b2i_entry *entry, b2c_error *err)
{
    b2i_store *top = ((overlay_store *)store)->top;
    top->in_transaction = store->in_transaction;
    B2I_TRY(top->ops->put(top, chunk, redo, entry, err));
    *entry |= ON_TOP;
    return B2C_OK;
}

static void overlay_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes)
{
    overlay_store *o = (overlay_store *)store;
    if ((entry & ON_TOP) != 0) {
        o->top->in_transaction = store->in_transaction;
        o->top->ops->drop(o->top, entry & ~ON_TOP, cbytes);
    }
}

static b2c_status overlay_commit(b2i_store *store, struct b2c_schunk *s, b2i_commit_kind kind,
                                 b2c_error *err)
{
    b2i_store *top = ((overlay_store *)store)->top;
    return top->ops->commit(top, s, kind, err);
}

static void overlay_begin(b2i_store *store)
{
    b2i_store *top = ((overlay_store *)store)->top;
    top->ops->begin(top);
}

static void overlay_rollback(b2i_store *store)
{
    b2i_store *top = ((overlay_store *)store)->top;
    top->ops->rollback(top);
}

static b2c_status overlay_close(b2i_store *store, struct b2c_schunk *s, b2c_error *err)
{
    overlay_store *o = (overlay_store *)store;
    (void)s;
    (void)o->top->ops->close(o->top, NULL, NULL);
    b2c_status st = o->below->ops->close(o->below, NULL, err);
    b2i_free(o);
    return st;
}

static const b2i_store_ops overlay_ops = {
    .read = overlay_read,
    .len = overlay_len,
    .check = overlay_check,
    .part_hashes = overlay_part_hashes,
    .part_hash = overlay_part_hash,
    .place = overlay_place,
    .put = overlay_put,
    .drop = overlay_drop,
    .commit = overlay_commit,
    .begin = overlay_begin,
    .rollback = overlay_rollback,
    .close = overlay_close,
};

b2c_status b2i_store_overlay_new(b2i_store *below, b2i_store **out, b2c_error *err)
{
    overlay_store *o = b2i_malloc(sizeof *o);
    if (o == NULL) {
        return b2i_fail_memory(err);
    }
    *o = (overlay_store){ .base = *below, .below = below };
    b2c_status st = b2i_store_mem_new(&o->top, err);
    if (st != B2C_OK) {
        b2i_free(o);
        return st;
    }
    o->base.ops = &overlay_ops;
    o->base.is_writable = true;
    o->base.has_redo = false;
    *out = &o->base;
    return B2C_OK;
}
