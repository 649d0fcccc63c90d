/*
 * txn.c: several edits as one commit.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"

b2c_status b2i_schunk_check_writable(const b2c_schunk *s, b2c_error *err)
{
    if (!s->store->is_writable) {
        return b2i_fail(err, B2C_E_READ_ONLY, B2C_NO_OFFSET, "opened for reading");
    }
    if (s->store->failed) {
        return b2i_fail(err, B2C_E_READ_ONLY, B2C_NO_OFFSET,
                        "an earlier write failed: what is stored is the last committed state");
    }
    return B2C_OK;
}

void b2i_schunk_moved(b2c_schunk *s)
{
    s->edits++;
    b2i_places_forget(&s->now);
    s->now.vlmetas.trailer_at = 0;
}

b2c_status b2i_schunk_edited(b2c_schunk *s, b2i_commit_kind kind, b2c_error *err)
{
    s->changed = true;
    b2i_schunk_moved(s);
    s->has_stored_flags = false;
    if (s->saved != NULL) {
        return B2C_OK;
    }
    b2c_status st = s->store->ops->commit(s->store, s, kind, err);
    s->store->failed = s->store->failed || st != B2C_OK;
    return st;
}

static b2c_status copy_arrays(const b2i_state *from, b2i_state *to, b2c_error *err)
{
    size_t bytes = from->cap * sizeof *to->entries; /* has been allocated before */
    if (from->entries != NULL) {
        to->entries = b2i_malloc(bytes);
        if (to->entries == NULL) {
            return b2i_fail_memory(err);
        }
        memcpy(to->entries, from->entries, (size_t)from->nchunks * sizeof *to->entries);
    }
    if (from->ends != NULL) {
        to->ends = b2i_malloc(bytes);
        if (to->ends == NULL) {
            return b2i_fail_memory(err);
        }
        memcpy(to->ends, from->ends, (size_t)from->nchunks * sizeof *to->ends);
    }
    B2I_TRY(b2i_metas_copy(&from->metas, &to->metas, err));
    return b2i_metas_copy(&from->vlmetas, &to->vlmetas, err);
}

b2c_status b2i_schunk_begin(b2c_schunk *s, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (s->saved != NULL) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "a transaction is open already");
    }
    b2i_state *saved = b2i_malloc(sizeof *saved);
    if (saved == NULL) {
        return b2i_fail_memory(err);
    }
    *saved = s->now;
    saved->entries = NULL;
    saved->ends = NULL;
    saved->places = NULL;
    saved->metas = (b2i_metas){ 0 };
    saved->vlmetas = (b2i_metas){ 0 };
    b2c_status st = copy_arrays(&s->now, saved, err);
    if (st != B2C_OK) {
        b2i_state_free(saved);
        b2i_free(saved);
        return st;
    }
    saved->places = s->now.places; /* a rollback brings them back */
    s->now.places = NULL;
    b2i_places_forget(&s->now);
    s->saved = saved;
    s->store->in_transaction = true;
    if (s->store->ops->begin != NULL) {
        s->store->ops->begin(s->store);
    }
    return B2C_OK;
}

static void end(b2c_schunk *s)
{
    b2i_state_free(s->saved);
    b2i_free(s->saved);
    s->saved = NULL;
    s->is_half_done = false;
    s->store->in_transaction = false;
}

b2c_status b2i_schunk_commit(b2c_schunk *s, b2c_error *err)
{
    if (s->saved == NULL) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "no transaction is open");
    }
    if (s->is_half_done) {
        b2i_schunk_rollback(s);
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                        "an edit in the transaction failed halfway: none of it is stored");
    }
    b2c_status st = b2i_schunk_check_writable(s, err); /* an edit may have failed for good */
    if (st != B2C_OK) {
        b2i_schunk_rollback(s);
        return st;
    }
    end(s);
    return b2i_schunk_edited(s, B2I_COMMIT_NOW, err);
}

void b2i_schunk_rollback(b2c_schunk *s)
{
    if (s->saved == NULL) {
        return;
    }
    s->edits++;
    b2i_state now = s->now;
    s->now = *s->saved;
    *s->saved = now;
    end(s);
    if (s->store->ops->rollback != NULL) {
        s->store->ops->rollback(s->store);
    }
}

b2c_status b2i_schunk_begin_steps(b2c_schunk *s, b2i_steps *steps, b2c_error *err)
{
    *steps = (b2i_steps){ .opened = s->saved == NULL,
                          .edits = s->edits,
                          .nchunks = s->now.nchunks,
                          .chunksize = s->now.chunksize,
                          .has_vlblocks = s->now.has_vlblocks };
    return steps->opened ? b2i_schunk_begin(s, err) : B2C_OK;
}

b2c_status b2i_schunk_end_steps(b2c_schunk *s, b2i_steps steps, b2c_status st, b2c_error *err)
{
    bool is_half_done = st != B2C_OK && s->edits != steps.edits;
    s->edits++;
    if (!steps.opened) {
        s->is_half_done = s->is_half_done || (s->saved != NULL && is_half_done);
        return st;
    }
    if (st != B2C_OK) {
        b2i_schunk_rollback(s);
        return st;
    }
    return b2i_schunk_commit(s, err);
}

/* Not after a change to chunks of any size: those that were there may have other entries. */
static bool take_appended(b2c_schunk *s, const b2i_steps *steps)
{
    b2i_state *now = &s->now;
    if (now->chunksize != steps->chunksize && steps->chunksize != B2I_CHUNKSIZE_NEW) {
        return false;
    }
    b2i_schunk_keep_first(s, steps->nchunks);
    now->chunksize = steps->nchunks == 0 ? steps->chunksize : now->chunksize;
    now->has_vlblocks = steps->has_vlblocks;
    return true;
}

b2c_status b2i_schunk_end_appends(b2c_schunk *s, b2i_steps steps, b2c_status st, b2c_error *err)
{
    if (st != B2C_OK && !steps.opened && take_appended(s, &steps)) {
        steps.edits = s->edits;
    }
    return b2i_schunk_end_steps(s, steps, st, err);
}

b2c_status b2i_schunk_flush(b2c_schunk *s, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (s->saved != NULL) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "a transaction is open");
    }
    b2c_status st = s->store->ops->commit(s->store, s, B2I_COMMIT_FLUSH, err);
    s->store->failed = s->store->failed || st != B2C_OK;
    return st;
}

b2c_status b2i_schunk_settle(b2c_schunk *s, b2c_error *err)
{
    b2i_store *store = s->store;
    bool has_own = store->is_writable && !store->failed && s->changed && s->saved == NULL;
    if (!has_own || s->lock != NULL || store->ops->settle == NULL) {
        return B2C_OK;
    }
    b2c_status st = store->ops->settle(store, s, err);
    store->failed = st != B2C_OK;
    s->edits++;
    return st;
}

b2c_status b2i_schunk_compact(b2c_schunk *s, b2c_error *err)
{
    B2I_TRY(b2i_schunk_check_writable(s, err));
    if (s->saved != NULL) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "a transaction is open");
    }
    if (s->store->ops->compact == NULL) {
        return B2C_OK;
    }
    return s->store->ops->compact(s->store, s, err);
}
