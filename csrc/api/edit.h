/*
 * edit.h: edits of super-chunks that other processes may change in turns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_EDIT_H
#define B2I_EDIT_H

#include "frame.h"

/* Leaves a function with the status of an edit that is made under the lock, if there is one. */
#define RETURN_EDIT(schunk, edit)                                                                  \
    do {                                                                                           \
        bool edit_changed;                                                                         \
        B2I_TRY(b2i_schunk_lock(schunk, true, &edit_changed, err));                                \
        return b2i_schunk_unlock(schunk, edit, err);                                               \
    } while (0)

#endif
