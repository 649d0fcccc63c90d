/*
 * create.c: makes super-chunks: an empty frame where the parameters say, which is there whole or
 * not at all, and the store that keeps it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "frame.h"
#include "lock.h"
#include "unborn.h"

static b2c_status check_params(const b2c_schunk_params *p, b2c_error *err)
{
    const char *field = NULL;
    if (p->storage > B2C_STORAGE_DIR) {
        field = "storage";
    } else if (p->durability > B2C_DURABILITY_COMMIT) {
        field = "durability";
    } else if (p->chunksize < -1 || p->chunksize > B2C_MAX_CHUNK_NBYTES) {
        field = "chunksize";
    } else if (p->nmeta > B2C_MAX_METALAYERS) {
        field = "nmeta";
    } else if (p->storage != B2C_STORAGE_MEMORY && (p->path == NULL || p->path[0] == '\0')) {
        field = "path";
    } else if (p->replaces > (p->storage != B2C_STORAGE_MEMORY)) {
        field = "replaces";
    } else if (p->nmeta > 0 &&
               (p->meta_names == NULL || p->meta_contents == NULL || p->meta_lens == NULL)) {
        field = "metalayers";
    }
    if (field != NULL) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, field,
                              "a parameter of the new super-chunk is missing or out of range");
    }
    return b2i_cparams_check(&p->cparams, err);
}

static b2c_status add_metas(const b2c_schunk_params *p, b2i_state *now, b2c_error *err)
{
    for (unsigned i = 0; i < p->nmeta; i++) {
        if (p->meta_names[i] == NULL || (p->meta_contents[i] == NULL && p->meta_lens[i] > 0)) {
            return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "metalayers",
                                  "must not be NULL");
        }
        B2I_TRY(b2i_meta_name_check(p->meta_names[i], err));
        if (b2i_metas_find(&now->metas, p->meta_names[i]) != NULL) {
            return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "metalayers",
                                  "two metalayers have the same name");
        }
        B2I_TRY(b2i_metas_add(&now->metas, p->meta_names[i],
                              b2i_span_of(p->meta_contents[i], p->meta_lens[i]), err));
    }
    return B2C_OK;
}

/* The layout of an empty frame that was just written. */
static b2i_frame_layout layout_of(const b2i_frame_plan *plan, bool checksums)
{
    const b2i_buf *tail = &plan->image.tail;
    b2i_frame_layout l = {
        .head = { .header_len = (uint32_t)plan->image.header.n, .frame_len = plan->frame_len },
        .index_at = plan->image.header.n,
        .trailer_len = (uint32_t)tail->n,
        .has_fingerprint = checksums,
    };
    memcpy(l.fingerprint, tail->p + tail->n - B2I_FINGERPRINT_LEN, B2I_FINGERPRINT_LEN);
    b2i_frame_mark_make(b2i_span_of(plan->image.header.p, plan->image.header.n),
                        b2i_span_of(tail->p, tail->n), plan->frame_len, b2i_span_of(NULL, 0),
                        &l.mark);
    return l;
}

void b2i_schunk_remove(uint8_t storage, const char *path)
{
    int dir;
    if (storage == B2C_STORAGE_FILE) {
        (void)b2i_fs_remove(B2I_FS_CWD, path, NULL);
    } else if (storage == B2C_STORAGE_DIR && b2i_fs_dir_open(path, &dir, NULL) == B2C_OK) {
        b2i_store_dir_clear(dir);
        b2i_fs_dir_close(dir);
        (void)b2i_fs_dir_remove(path, NULL);
    }
}

/*
 * The empty frame under a temporary name, then its own: there is never half of it.  One that
 * replaces what is there has none for now.
 */
static b2c_status write_empty(const b2c_schunk_params *p, const b2c_schunk *s,
                              const b2i_frame_plan *plan, const char *tmp, b2i_io **io,
                              b2c_error *err)
{
    bool seal = p->durability == B2C_DURABILITY_COMMIT;
    B2I_TRY(b2i_fs_remove_left(tmp, true, err));
    B2I_TRY(b2i_io_temporary_open(tmp, io, err));
    b2c_status st = b2i_frame_emit(s, plan, p->checksums != 0, *io, err);
    if (st == B2C_OK && seal) {
        st = (*io)->ops->sync(*io, err);
    }
    const char *name = tmp;
    if (st == B2C_OK && p->replaces) {
        st = b2i_fs_remove(B2I_FS_CWD, tmp, err);
    } else if (st == B2C_OK) {
        st = b2i_fs_publish(tmp, p->path, err);
        name = st == B2C_OK ? p->path : tmp;
    }
    if (st == B2C_OK && seal && !p->replaces) {
        st = b2i_fs_parent_sync(p->path, err);
    }
    if (st != B2C_OK) {
        (void)b2i_fs_remove(B2I_FS_CWD, name, NULL);
        (void)(*io)->ops->close(*io, NULL);
    }
    return st;
}

static b2c_status create_file(const b2c_schunk_params *p, b2c_schunk *s, b2c_error *err)
{
    b2i_frame_plan plan;
    b2i_io *io;
    char *tmp;
    B2I_TRY(b2i_fs_beside(p->path, ".b2tmp", &tmp, err));
    b2c_status st = b2i_frame_plan_make(s, p->checksums != 0, &plan, err);
    if (st == B2C_OK) {
        st = write_empty(p, s, &plan, tmp, &io, err);
        if (st == B2C_OK) {
            b2i_frame_layout layout = layout_of(&plan, p->checksums != 0);
            st = b2i_store_file_new(io, p->path, 0, true, &layout, &s->store, err);
            if (st == B2C_OK && p->replaces) {
                st = b2i_store_file_unborn(s->store, p->path, err);
            }
            if (st != B2C_OK && !p->replaces) {
                (void)b2i_fs_remove(B2I_FS_CWD, p->path, NULL);
            }
        }
        b2i_frame_plan_free(&plan);
    }
    b2i_free(tmp);
    return st;
}

/*
 * Whoever claims the directory first makes its frame; others wait here for its b2i_fs_disclaim(),
 * and find that the directory is not empty.
 */
static b2c_status claim_empty(int dir, b2c_error *err)
{
    if (!b2i_fs_claim(dir) && !b2i_fs_share(dir)) {
        return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                        "somebody else is making a frame in this directory");
    }
    bool is;
    B2I_TRY(b2i_store_dir_is_empty(dir, &is, err));
    return is ? B2C_OK
              : b2i_fail(err, B2C_E_EXISTS, B2C_NO_OFFSET,
                         "there is a directory with files at this path already");
}

/* Opens a new directory, or an empty one: a process may have been killed right after making it. */
static b2c_status take_dir(const char *path, int *dir, b2c_error *err)
{
    b2c_status st = b2i_fs_dir_make(path, err);
    bool was_there = false;
    if (st == B2C_E_EXISTS) {
        B2I_TRY(b2i_fs_is_dir(path, &was_there, err));
    }
    B2I_TRY(was_there ? B2C_OK : st);
    st = b2i_fs_dir_open(path, dir, err);
    if (st == B2C_OK) {
        st = claim_empty(*dir, err);
        if (st != B2C_OK) {
            b2i_fs_dir_close(*dir);
        }
    }
    if (st != B2C_OK && !was_there) {
        (void)b2i_fs_dir_remove(path, NULL); /* if it is still empty */
    }
    return st;
}

static b2c_status create_dir(const b2c_schunk_params *p, b2c_schunk *s, b2c_error *err)
{
    bool seal = p->durability == B2C_DURABILITY_COMMIT;
    b2i_frame_layout layout = { 0 };
    int dir;
    B2I_TRY(take_dir(p->path, &dir, err));
    b2c_status st = b2i_store_dir_create(dir, &s->now, p->checksums != 0, seal, &layout, err);
    if (st == B2C_OK && seal) {
        st = b2i_fs_parent_sync(p->path, err);
    }
    if (st == B2C_OK) {
        b2i_fs_disclaim(dir);
        st = b2i_store_dir_new(dir, true, &layout, &s->store, err);
    } else {
        b2i_fs_dir_close(dir);
    }
    if (st != B2C_OK) {
        b2i_schunk_remove(B2C_STORAGE_DIR, p->path);
    }
    return st;
}

/* A directory at a place that is this process's as long as it is open there. */
static b2c_status make_place(const char *place, int *dir, b2c_error *err)
{
    B2I_TRY(b2i_unborn_clear(place, true, err));
    b2c_status st = b2i_fs_dir_make(place, err);
    if (st == B2C_E_EXISTS) {
        return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                        "somebody else is about to make a frame at this path");
    }
    B2I_TRY(st);
    st = b2i_fs_dir_open(place, dir, err);
    if (st != B2C_OK) {
        (void)b2i_fs_dir_remove(place, NULL);
        return st;
    }
    (void)b2i_fs_claim(*dir); /* else others tidy up too early, and the first commit says so */
    return B2C_OK;
}

/* The same beside the path of a frame that replaces what is there. */
static b2c_status create_dir_beside(const b2c_schunk_params *p, b2c_schunk *s, b2c_error *err)
{
    b2i_frame_layout layout = { 0 };
    b2i_at_path there;
    char *path, *place;
    int dir;
    B2I_TRY(b2i_unborn_look(p->path, &there, err));
    B2I_TRY(b2i_unborn_place(p->path, &path, &place, err));
    b2c_status st = make_place(place, &dir, err);
    if (st == B2C_OK) {
        st = b2i_store_dir_create(dir, &s->now, p->checksums != 0, false, &layout, err);
        if (st == B2C_OK) {
            st = b2i_store_dir_new(dir, true, &layout, &s->store, err);
        } else {
            b2i_fs_dir_close(dir);
        }
        if (st != B2C_OK) {
            b2i_schunk_remove(B2C_STORAGE_DIR, place);
        }
    }
    if (st != B2C_OK) {
        b2i_free(place);
        b2i_free(path);
        return st;
    }
    b2i_store_dir_unborn(s->store, place, path, &there);
    return B2C_OK;
}

static b2c_status create(const b2c_schunk_params *p, b2c_schunk *s, b2c_error *err)
{
    s->now.cparams = p->cparams;
    s->now.chunksize = p->chunksize;
    B2I_TRY(add_metas(p, &s->now, err));
    if (p->chunksize == B2I_CHUNKSIZE_VAR) {
        B2I_TRY(b2i_state_make_ends(&s->now, err));
    }
    switch (p->storage) {
    case B2C_STORAGE_FILE:
        B2I_TRY(create_file(p, s, err));
        break;
    case B2C_STORAGE_DIR:
        B2I_TRY(p->replaces ? create_dir_beside(p, s, err) : create_dir(p, s, err));
        break;
    default:
        B2I_TRY(b2i_store_mem_new(&s->store, err));
        break;
    }
    s->store->checksums = p->checksums != 0;
    s->store->verifies = true;
    s->store->durability = p->durability;
    s->store->max_open_files = s->limits.max_open_files;
    return B2C_OK;
}

/* The lock of a frame that is to be made; that of a directory lies in it, so it comes later. */
static b2c_status lock_new(const b2c_schunk_params *p, b2c_schunk *s, b2c_error *err)
{
    const bool is_dir = p->storage == B2C_STORAGE_DIR;
    const char *place = is_dir && p->replaces ? b2i_store_dir_place(s->store) : NULL;
    bool changed;
    B2I_TRY(b2i_lock_open(place == NULL ? p->path : place, is_dir, true, &s->lock, err));
    if (place != NULL) {
        B2I_TRY(b2i_lock_will_move(s->lock, p->path, err));
    }
    B2I_TRY(b2i_lock_take(s->lock, true, &changed, err));
    b2i_lock_seen(s->lock);
    return B2C_OK;
}

/* What the frame is opened again from: a link that it replaces is not followed. */
static b2c_status keep_path(const b2c_schunk_params *p, b2c_schunk *s, b2c_error *err)
{
    const int mode = p->lock != 0 ? B2C_OPEN_UPDATE | B2C_OPEN_LOCK : B2C_OPEN_UPDATE;
    b2i_at_path there = { .kind = B2I_NOTHING };
    if (p->replaces) {
        B2I_TRY(b2i_fs_look(B2I_FS_CWD, p->path, &there, err));
    }
    if (there.kind != B2I_LINK) {
        return b2i_schunk_keep_origin(s, p->path, 0, mode, err);
    }
    s->mode = mode;
    return b2i_fs_absolute_path(p->path, &s->path, err);
}

b2c_status b2i_schunk_create(const b2c_schunk_params *params, b2c_schunk **out, b2c_error *err)
{
    b2c_schunk *s;
    /* Metalayers come from its maker, who may read them back whatever their size. */
    b2c_limits limits = { 0 };
    B2I_TRY(check_params(params, err));
    if (params->limits != NULL) {
        limits = *params->limits;
    }
    if (limits.max_meta_nbytes == 0) {
        limits.max_meta_nbytes = B2C_MAX_CHUNK_NBYTES;
    }
    B2I_TRY(b2i_schunk_alloc(&limits, &s, err));
    b2c_status st = B2C_OK;
    bool is_made = false;
    if (params->storage != B2C_STORAGE_MEMORY) {
        st = keep_path(params, s, err);
    }
    if (st == B2C_OK && params->lock != 0 && params->storage == B2C_STORAGE_FILE) {
        st = lock_new(params, s, err);
    }
    if (st == B2C_OK) {
        st = create(params, s, err);
        is_made = st == B2C_OK;
    }
    if (st == B2C_OK && params->lock != 0 && params->storage == B2C_STORAGE_DIR) {
        st = lock_new(params, s, err);
    }
    if (s->lock != NULL) {
        st = b2i_schunk_unlock(s, st, err);
    }
    if (st != B2C_OK) {
        b2i_schunk_abandon(s);
        if (is_made && !params->replaces) {
            b2i_schunk_remove(params->storage, params->path);
        }
        return st;
    }
    *out = s;
    return B2C_OK;
}
