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

static b2c_status fail_conflict(b2c_error *err)
{
    return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                    "somebody else has come to the path of the new frame");
}

/* Whether a directory is a sparse frame, or the start or the rest of one. */
static b2c_status is_frame(int dir, bool *is, b2c_error *err)
{
    b2i_at_path index;
    B2I_TRY(b2i_fs_look(dir, B2I_DIR_INDEX_NAME, &index, err));
    if (index.kind == B2I_NOTHING) {
        return b2i_store_dir_is_empty(dir, is, err);
    }
    *is = true;
    return B2C_OK;
}

b2c_status b2i_unborn_look(const char *path, b2i_at_path *there, b2c_error *err)
{
    int dir;
    bool is;
    B2I_TRY(b2i_fs_look(B2I_FS_CWD, path, there, err));
    if (there->kind == B2I_OTHER) {
        return b2i_fail(err, B2C_E_EXISTS, B2C_NO_OFFSET,
                        "what is there is neither a file nor a directory");
    }
    if (there->kind != B2I_DIRECTORY) {
        return B2C_OK;
    }
    B2I_TRY(b2i_fs_dir_open(path, &dir, err));
    b2c_status st = is_frame(dir, &is, err);
    b2i_fs_dir_close(dir);
    B2I_TRY(st);
    return is ? B2C_OK
              : b2i_fail(err, B2C_E_EXISTS, B2C_NO_OFFSET, "there is a directory with other files");
}

/* Removes an open directory that was left at 'place'. */
static b2c_status clear_dir(int dir, const char *place, bool is_wanted, b2c_error *err)
{
    bool is;
    if (!b2i_fs_claim(dir) && (!is_wanted || errno == EWOULDBLOCK)) {
        return b2i_fail(err, B2C_E_CONFLICT, B2C_NO_OFFSET,
                        "somebody else is about to make a frame at this path");
    }
    B2I_TRY(is_frame(dir, &is, err));
    return is ? b2i_fs_remove_all(dir, place, B2I_DIR_INDEX_NAME, err)
              : b2i_fs_fail_left(err, ENOTEMPTY,
                                 "the directory that has the name of the new frame (.b2new) holds "
                                 "other files");
}

/* Opens the directory at a path when it is the one that was seen there. */
static b2c_status open_seen(const char *path, const b2i_at_path *seen, int *dir, b2c_error *err)
{
    B2I_TRY(b2i_fs_dir_open(path, dir, err));
    if (b2i_fs_is_open(seen, *dir)) {
        return B2C_OK;
    }
    b2i_fs_dir_close(*dir);
    return fail_conflict(err);
}

b2c_status b2i_unborn_clear(const char *place, bool is_wanted, b2c_error *err)
{
    int dir;
    b2i_at_path there;
    B2I_TRY(b2i_fs_look(B2I_FS_CWD, place, &there, err));
    if (there.kind != B2I_DIRECTORY) {
        return b2i_fs_remove_left(place, is_wanted, err);
    }
    B2I_TRY(open_seen(place, &there, &dir, err));
    b2c_status st = clear_dir(dir, place, is_wanted, err);
    b2i_fs_dir_close(dir);
    return st;
}

static b2c_status check_still(const b2i_at_path *what, const char *path, b2c_error *err)
{
    bool is;
    B2I_TRY(b2i_fs_is_still(what, path, &is, err));
    return is ? B2C_OK : fail_conflict(err);
}

/* What was there is at 'place' then; it comes back when anything fails. */
static b2c_status exchange(const char *place, const char *path, const b2i_at_path *there, bool seal,
                           b2c_error *err)
{
    char *aside;
    B2I_TRY(b2i_fs_beside(path, ".b2old", &aside, err));
    b2c_status st = b2i_fs_exchange(place, path, aside, err);
    if (st == B2C_OK) {
        st = check_still(there, place, err);
        if (st == B2C_OK && seal) {
            st = b2i_fs_parent_sync(path, err);
        }
        if (st != B2C_OK) {
            (void)b2i_fs_exchange(place, path, aside, NULL);
        }
    }
    b2i_free(aside);
    return st;
}

/* What has been replaced and is at 'place' now; who writes next tidies up what does not go. */
static void remove_replaced(const char *place, const b2i_at_path *there)
{
    int dir;
    if (there->kind != B2I_DIRECTORY) {
        (void)b2i_fs_remove(B2I_FS_CWD, place, NULL);
    } else if (open_seen(place, there, &dir, NULL) == B2C_OK) {
        (void)b2i_fs_remove_all(dir, place, B2I_DIR_INDEX_NAME, NULL);
        b2i_fs_dir_close(dir);
    }
}

b2c_status b2i_unborn_give_path(const char *place, const char *path, const b2i_at_path *there,
                                bool seal, bool *has_path, b2c_error *err)
{
    b2i_at_path mine;
    *has_path = false;
    B2I_TRY(b2i_fs_look(B2I_FS_CWD, place, &mine, err));
    B2I_TRY(check_still(there, path, err));
    const bool is_dir = mine.kind == B2I_DIRECTORY;
    if (there->kind != B2I_NOTHING && (is_dir || there->kind == B2I_DIRECTORY)) {
        B2I_TRY(exchange(place, path, there, seal, err));
        *has_path = true;
        remove_replaced(place, there);
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
