/*
 * unborn.h: a new frame beside its path, until its first commit gives it that.  What is there until
 * then, anything or nothing, is there whole, and so is the new one from then on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_UNBORN_H
#define B2I_UNBORN_H

#include "fs.h"

/* The place of a new frame is its path with this. */
#define B2I_UNBORN_SUFFIX ".b2new"

/* The path as absolute one, without a slash at its end, and the place beside it; to be freed. */
b2c_status b2i_unborn_place(const char *path, char **absolute, char **place, b2c_error *err);

/* What a new frame is to replace; B2C_E_EXISTS when that is neither a file, a link nor a frame. */
b2c_status b2i_unborn_look(const char *path, b2i_at_path *there, b2c_error *err);

/* As b2i_fs_remove_left(), also for a directory, unless it is no frame. */
b2c_status b2i_unborn_clear(const char *place, bool is_wanted, b2c_error *err);

/*
 * Gives what is at 'place' its path, and removes what was there.  B2C_E_CONFLICT or _EXISTS when
 * that is something else than 'there'.  *has_path: it has it, also when only synchronising failed.
 */
b2c_status b2i_unborn_give_path(const char *place, const char *path, const b2i_at_path *there,
                                bool seal, bool *has_path, b2c_error *err);

#endif
