/*
 * store_mem.c: chunks as a list of blocks of memory; nothing is a frame until asked for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"

/* An entry is the number of a slot.  Free slots are linked through their n. */
#define NO_SLOT SIZE_MAX

typedef struct slot {
    uint8_t *p; /* NULL: free */
    size_t n;   /* bytes of the chunk, or the next free slot */
} slot;

typedef struct slot_list {
    size_t *v;
    size_t n, cap;
} slot_list;

typedef struct mem_store {
    b2i_store base;
    slot *slots;
    size_t nslots, cap;
    size_t first_free;
    /* Of the transaction, so that it can be undone. */
    slot_list added, dropped;
} mem_store;

static b2c_status mem_read(b2i_store *store, b2i_entry entry, uint64_t at, size_t n,
                           b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    const slot *s = &((const mem_store *)store)->slots[entry];
    (void)scratch;
    if (at > s->n || s->n - at < n) {
        return b2i_fail(err, B2C_E_TRUNCATED, at, "the chunk is cut short");
    }
    *out = b2i_span_of(s->p + at, n);
    return B2C_OK;
}

static b2c_status mem_len(b2i_store *store, b2i_entry entry, uint64_t *len, b2c_error *err)
{
    (void)err;
    *len = ((const mem_store *)store)->slots[entry].n;
    return B2C_OK;
}

static uint64_t mem_place(const b2i_store *store, b2i_entry entry)
{
    (void)store;
    (void)entry;
    return 0;
}

static bool list_reserve(slot_list *list)
{
    if (list->n < list->cap) {
        return true;
    }
    size_t cap = list->cap == 0 ? 16 : 2 * list->cap;
    size_t *v = b2i_realloc(list->v, cap * sizeof *v);
    if (v == NULL) {
        return false;
    }
    list->v = v;
    list->cap = cap;
    return true;
}

/* A free slot, made when there is none.  Room to free or forget every slot is made as well. */
static bool take_slot(mem_store *m, size_t *out)
{
    if (!list_reserve(&m->added)) {
        return false;
    }
    if (m->first_free == NO_SLOT) {
        if (m->nslots == m->cap) {
            size_t cap = m->cap == 0 ? 16 : 2 * m->cap;
            slot *slots = b2i_realloc(m->slots, cap * sizeof *slots);
            if (slots == NULL) {
                return false;
            }
            m->slots = slots;
            m->cap = cap;
        }
        m->slots[m->nslots] = (slot){ NULL, NO_SLOT };
        m->first_free = m->nslots++;
    }
    *out = m->first_free;
    return true;
}

static void free_slot(mem_store *m, size_t i)
{
    b2i_free(m->slots[i].p);
    m->slots[i] = (slot){ NULL, m->first_free };
    m->first_free = i;
}

/* Slot i, which take_slot() gave, gets n bytes. */
static b2i_entry fill_slot(mem_store *m, size_t i, uint8_t *p, size_t n)
{
    m->first_free = m->slots[i].n;
    m->slots[i] = (slot){ p, n };
    if (m->base.in_transaction) {
        m->added.v[m->added.n++] = i;
    }
    return i;
}

static b2c_status mem_put(b2i_store *store, b2i_span chunk, const b2i_redo *redo, b2i_entry *entry,
                          b2c_error *err)
{
    mem_store *m = (mem_store *)store;
    size_t i;
    (void)redo;
    uint8_t *p = b2i_malloc(chunk.n);
    if (p == NULL || !take_slot(m, &i)) {
        b2i_free(p);
        return b2i_fail_memory(err);
    }
    memcpy(p, chunk.p, chunk.n);
    *entry = fill_slot(m, i, p, chunk.n);
    return B2C_OK;
}

static b2c_status mem_keep(b2i_store *store, b2i_scratch *chunk, size_t n, b2i_entry *entry,
                           b2c_error *err)
{
    mem_store *m = (mem_store *)store;
    size_t i;
    if (!take_slot(m, &i)) {
        return b2i_fail_memory(err);
    }
    uint8_t *cut = b2i_realloc(chunk->p, n);
    *entry = fill_slot(m, i, cut != NULL ? cut : chunk->p, n);
    *chunk = (b2i_scratch){ 0 };
    return B2C_OK;
}

static void mem_drop(b2i_store *store, b2i_entry entry, uint64_t cbytes)
{
    mem_store *m = (mem_store *)store;
    (void)cbytes;
    if (!store->in_transaction) {
        free_slot(m, (size_t)entry);
    } else if (list_reserve(&m->dropped)) {
        m->dropped.v[m->dropped.n++] = (size_t)entry;
    } /* else its memory is freed with the store */
}

static void mem_begin(b2i_store *store)
{
    mem_store *m = (mem_store *)store;
    m->added.n = 0;
    m->dropped.n = 0;
}

static b2c_status mem_commit(b2i_store *store, struct b2c_schunk *schunk, b2i_commit_kind kind,
                             b2c_error *err)
{
    mem_store *m = (mem_store *)store;
    (void)schunk;
    (void)kind;
    (void)err;
    for (size_t i = 0; i < m->dropped.n; i++) {
        free_slot(m, m->dropped.v[i]);
    }
    mem_begin(store);
    return B2C_OK;
}

static void mem_rollback(b2i_store *store)
{
    mem_store *m = (mem_store *)store;
    for (size_t i = 0; i < m->added.n; i++) {
        free_slot(m, m->added.v[i]);
    }
    mem_begin(store);
}

static b2c_status mem_close(b2i_store *store, struct b2c_schunk *schunk, b2c_error *err)
{
    mem_store *m = (mem_store *)store;
    (void)schunk;
    (void)err;
    for (size_t i = 0; i < m->nslots; i++) {
        b2i_free(m->slots[i].p);
    }
    b2i_free(m->slots);
    b2i_free(m->added.v);
    b2i_free(m->dropped.v);
    b2i_free(m);
    return B2C_OK;
}

static const b2i_store_ops mem_ops = {
    .read = mem_read,
    .len = mem_len,
    .place = mem_place,
    .put = mem_put,
    .keep = mem_keep,
    .drop = mem_drop,
    .commit = mem_commit,
    .begin = mem_begin,
    .rollback = mem_rollback,
    .close = mem_close,
};

b2c_status b2i_store_mem_new(b2i_store **out, b2c_error *err)
{
    mem_store *m = b2i_calloc(sizeof *m);
    if (m == NULL) {
        return b2i_fail_memory(err);
    }
    m->base.ops = &mem_ops;
    m->base.storage = B2C_STORAGE_MEMORY;
    m->base.is_writable = true;
    m->first_free = NO_SLOT;
    *out = &m->base;
    return B2C_OK;
}
