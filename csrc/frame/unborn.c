/*
 * unborn.c: a new frame beside its path, until its first commit gives it that.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "unborn.h"
#include "store_dir.h"

#include <errno.h>

b2c_status b2i_unborn_place(const char *path, char **absolute, char **place, b2c_error *err)
{
    char *whole;
    B2I_TRY(b2i_fs_absolute_path(path, &whole, err));
    for (size_t n = strlen(whole); n > 1 && whole[n - 1] == '/'; n--) {
        whole[n - 1] = '\0';
    }
    b2c_status st = b2i_fs_beside(whole, B2I_UNBORN_SUFFIX, place, err);
    if (st != B2C_OK) {
        b2i_free(whole);
        return st;
    }
    *absolute = whole;
    return B2C_OK;
}

/* Whether a directory is a sparse frame, or the start or the rest of one. */
static bool is_frame(int dir)
{
    return b2i_fs_exists(dir, B2I_DIR_INDEX_NAME) || b2i_store_dir_check_empty(dir, NULL) == B2C_OK;
}

b2c_status b2i_unborn_look(const char *path, b2i_at_path *there, b2c_error *err)
{
    int dir;
    *there = b2i_fs_at_path(path);
    if (there->kind == B2I_OTHER) {
        return b2i_fail(err, B2C_E_EXISTS, B2C_NO_OFFSET,
                        "what is there is neither a file nor a directory");
    }
    if (there->kind != B2I_DIRECTORY) {
        return B2C_OK;
    }
    B2I_TRY(b2i_fs_dir_open(path, &dir, err));
    const bool is = is_frame(dir);
    b2i_fs_dir_close(dir);
    return is ? B2C_OK
              : b2i_fail(err, B2C_E_EXISTS, B2C_NO_OFFSET, "there is a directory with other files");
}

void b2i_unborn_clear(const char *place, bool is_wanted)
{
    int dir;
    b2i_fs_remove_left(place);
    if (b2i_fs_at_path(place).kind != B2I_DIRECTORY ||
        b2i_fs_dir_open(place, &dir, NULL) != B2C_OK) {
        return;
    }
    const bool is_free = b2i_fs_claim(dir) || (is_wanted && errno != EWOULDBLOCK);
    if (is_free && is_frame(dir)) {
        (void)b2i_fs_remove_all(place, B2I_DIR_INDEX_NAME, NULL);
    }
    b2i_fs_dir_close(dir);
}

static b2c_status fail_conflict(b2c_error *err)
{
    return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                    "somebody else has come to the path of the new frame");
}

/* What was there is at 'place' then; it comes back when anything fails. */
static b2c_status exchange(const char *place, const char *path, const b2i_at_path *there, bool seal,
                           b2c_error *err)
{
    char *aside;
    B2I_TRY(b2i_fs_beside(path, ".b2old", &aside, err));
    b2c_status st = b2i_fs_exchange(place, path, aside, err);
    if (st == B2C_OK) {
        st = !b2i_fs_is_still(there, place) ? fail_conflict(err)
             : seal                         ? b2i_fs_parent_sync(path, err)
                                            : B2C_OK;
        if (st != B2C_OK) {
            (void)b2i_fs_exchange(place, path, aside, NULL);
        }
    }
    b2i_free(aside);
    return st;
}

b2c_status b2i_unborn_give_path(const char *place, const char *path, const b2i_at_path *there,
                                bool seal, bool *has_path, b2c_error *err)
{
    const bool is_dir = b2i_fs_at_path(place).kind == B2I_DIRECTORY;
    *has_path = false;
    if (!b2i_fs_is_still(there, path)) {
        return fail_conflict(err);
    }
    if (there->kind != B2I_NOTHING && (is_dir || there->kind == B2I_DIRECTORY)) {
        B2I_TRY(exchange(place, path, there, seal, err));
        *has_path = true;
        (void)b2i_fs_remove_all(place, B2I_DIR_INDEX_NAME, NULL); /* else who writes next tidies */
        return B2C_OK;
    }
    if (there->kind != B2I_NOTHING) {
        B2I_TRY(b2i_fs_rename(B2I_FS_CWD, place, path, err));
    } else if (is_dir) {
        B2I_TRY(b2i_fs_publish_dir(place, path, err));
    } else {
        B2I_TRY(b2i_fs_publish(place, path, err));
    }
    *has_path = true;
    return seal ? b2i_fs_parent_sync(path, err) : B2C_OK;
}
