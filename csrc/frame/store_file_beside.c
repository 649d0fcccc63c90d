/*
 * store_file_beside.c: a contiguous frame in a new file beside the old one, whose name it then
 * takes: drafts of frames that were empty, and rewriting without dead space.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "store_file.h"
#include "alloc.h"
#include "unborn.h"

#define DRAFT_SUFFIX   B2I_UNBORN_SUFFIX
#define REWRITE_SUFFIX ".b2tmp"

b2c_status b2i_store_file_unborn(b2i_store *store, const char *path, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    B2I_TRY(b2i_unborn_look(path, &f->to_replace, err));
    if (f->to_replace.kind == B2I_LINK) { /* takes the place of the link, not of its target */
        char *itself;
        B2I_TRY(b2i_fs_absolute_path(path, &itself, err));
        b2i_free(f->path);
        f->path = itself;
    }
    store->is_unborn = true;
    return B2C_OK;
}

/* Whether nobody has come in between. */
static b2c_status has_its_place(const b2i_file_store *f, bool *has, b2c_error *err)
{
    const b2i_io *io = f->old_io != NULL ? f->old_io : f->io;
    return f->base.is_unborn ? b2i_fs_is_still(&f->to_replace, f->path, has, err)
                             : b2i_io_is_at(io, f->path, has, err);
}

b2c_status b2i_file_sync_name(b2i_file_store *f, b2c_error *err)
{
    if (f->path != NULL && !f->base.is_named && !f->base.is_unborn) {
        B2I_TRY(b2i_fs_parent_sync(f->path, err));
        f->base.is_named = true;
    }
    return B2C_OK;
}

/* Gives io, the file at 'from', the name of the frame. */
static b2c_status publish(b2i_file_store *f, b2i_io *io, const char *from, bool seal,
                          b2c_error *err)
{
    bool has_place, is_there;
    B2I_TRY(has_its_place(f, &has_place, err));
    B2I_TRY(b2i_io_is_at(io, from, &is_there, err));
    if (!has_place || !is_there) {
        return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                        "the file has been moved, removed or replaced");
    }
    if (f->base.is_unborn) {
        bool has_path;
        b2c_status st = b2i_unborn_give_path(from, f->path, &f->to_replace, seal, &has_path, err);
        f->base.is_unborn = !has_path;
        return st;
    }
    B2I_TRY(b2i_fs_copy_mode(f->path, from, err));
    B2I_TRY(b2i_fs_rename(B2I_FS_CWD, from, f->path, err));
    f->base.is_named = false;
    return seal ? b2i_file_sync_name(f, err) : B2C_OK;
}

/* Closes io, which did not become the frame, and removes it from its path. */
static void discard(b2i_io *io, const char *path)
{
    bool is_there;
    if (path != NULL && b2i_io_is_at(io, path, &is_there, NULL) == B2C_OK && is_there) {
        (void)b2i_fs_remove(B2I_FS_CWD, path, NULL);
    }
    (void)io->ops->close(io, NULL);
}

void b2i_file_tidy(const b2i_file_store *f)
{
    static const char *const suffixes[] = { DRAFT_SUFFIX, REWRITE_SUFFIX };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *path;
        if (b2i_fs_beside(f->path, suffixes[i], &path, NULL) == B2C_OK) {
            (void)b2i_unborn_clear(path, false, NULL);
            b2i_free(path);
        }
    }
}

/* ---- drafts ---- */

b2c_status b2i_file_start_draft(b2i_file_store *f, b2c_error *err)
{
    b2i_io *io;
    char *path;
    B2I_TRY(b2i_fs_beside(f->path, DRAFT_SUFFIX, &path, err));
    b2c_status st = b2i_unborn_clear(path, true, err);
    if (st == B2C_OK) {
        st = b2i_io_temporary_open(path, &io, err);
    }
    b2i_free(path);
    B2I_TRY(st);
    f->old_io = f->io;
    f->io = io;
    f->is_unpacked = true;
    f->region_at = 0;
    f->slot_cap = 0;
    f->chain_broken = true; /* there is no commit that a record could follow */
    return B2C_OK;
}

void b2i_file_drop_draft(b2i_file_store *f)
{
    if (f->old_io == NULL) {
        return;
    }
    char *path = NULL;
    (void)b2i_fs_beside(f->path, DRAFT_SUFFIX, &path, NULL);
    b2i_io *draft = f->io;
    f->io = f->old_io;
    f->old_io = NULL;
    f->is_unpacked = false;
    discard(draft, path); /* without memory it stays until somebody tidies up */
    b2i_free(path);
}

b2c_status b2i_file_publish_draft(b2i_file_store *f, bool seal, b2c_error *err)
{
    char *path;
    B2I_TRY(b2i_fs_beside(f->path, DRAFT_SUFFIX, &path, err));
    b2c_status st = publish(f, f->io, path, seal, err);
    b2i_free(path);
    if (st == B2C_OK) {
        b2i_io *old = f->old_io;
        f->old_io = NULL;
        (void)old->ops->close(old, NULL); /* nobody needs it any more */
    }
    return st;
}

/* ---- rewriting ---- */

/* The frame without holes in a new file, which then gets the name of the old one. */
static b2c_status write_beside(b2i_file_store *f, const b2c_schunk *s, const b2i_frame_plan *plan,
                               bool seal, b2i_io **out, b2c_error *err)
{
    b2i_io *io;
    char *path;
    B2I_TRY(b2i_fs_beside(f->path, REWRITE_SUFFIX, &path, err));
    b2c_status st = b2i_fs_remove_left(path, true, err);
    if (st == B2C_OK) {
        st = b2i_io_temporary_open(path, &io, err);
    }
    if (st == B2C_OK) {
        st = b2i_frame_emit(s, plan, f->base.checksums, io, err);
        if (st == B2C_OK && seal) {
            st = io->ops->sync(io, err);
        }
        if (st == B2C_OK) {
            st = publish(f, io, path, false, err);
        }
        if (st != B2C_OK) {
            discard(io, path);
        }
    }
    b2i_free(path);
    if (st == B2C_OK) {
        *out = io;
    }
    return st;
}

/* Goes on with the rewritten file. */
static void adopt(b2i_file_store *f, b2c_schunk *s, b2i_frame_plan *plan, b2i_io *io)
{
    b2i_file_drop_draft(f);
    b2i_io *old = f->io;
    f->io = io;
    (void)old->ops->close(old, NULL); /* it has no name any more */
    f->header_len = plan->image.header.n;
    f->base.header_len = f->header_len;
    f->end = plan->payload_len;
    f->limit = plan->payload_len;
    f->tail_at = plan->payload_len;
    f->tail_len = plan->image.tail.n;
    f->is_unpacked = false;
    f->first_end = 0;
    b2i_file_forget_free(f);
    f->base.is_trusted = f->base.checksums;
    f->base.is_complete = f->base.checksums;
    b2i_file_take_fingerprint(f, &plan->image);
    f->commit_no = 0; /* there is no room yet that could be used again */
    b2i_file_mark_packed(f, &plan->image);
    b2i_file_count_since(f);
    b2i_file_committed(f, &plan->image, s);
    b2i_schunk_moved(s);
    if (s->now.nchunks > 0 && plan->entries != NULL) {
        memcpy(s->now.entries, plan->entries, (size_t)s->now.nchunks * sizeof *plan->entries);
    }
}

b2c_status b2i_file_rewrite(b2i_file_store *f, b2c_schunk *s, bool seal, b2c_error *err)
{
    b2i_frame_plan plan = { 0 };
    b2i_io *io = NULL;
    if (f->path == NULL) {
        return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                        "only a frame in a file of its own can be rewritten");
    }
    B2I_TRY(b2i_frame_plan_make(s, f->base.checksums, &plan, err));
    b2c_status st = write_beside(f, s, &plan, seal, &io, err);
    if (st == B2C_OK) {
        adopt(f, s, &plan, io);
        st = seal ? b2i_file_sync_name(f, err) : B2C_OK;
    }
    b2i_frame_plan_free(&plan);
    return st;
}

b2c_status b2i_file_compact(b2i_store *store, b2c_schunk *s, b2c_error *err)
{
    b2i_file_store *f = (b2i_file_store *)store;
    B2I_TRY(b2i_file_check_ours(f, err));
    return b2i_file_rewrite(f, s, b2i_file_syncs(f), err);
}
