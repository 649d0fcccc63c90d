/*
 * io_hook.h: lets tests record and fail each call on files and names; nothing in other builds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_IO_HOOK_H
#define B2I_IO_HOOK_H

#include <stdbool.h>

#ifdef B2I_IO_HOOK
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

typedef enum b2i_io_call {
    B2I_CALL_OPEN,   /* of a file that is there, to be written or synchronised */
    B2I_CALL_CREATE, /* of a file; what is there is in the way */
    B2I_CALL_READ,
    B2I_CALL_WRITE,
    B2I_CALL_TRUNCATE,
    B2I_CALL_SYNC,
    B2I_CALL_CLOSE, /* of such a file, or of a new one */
    B2I_CALL_RENAME,
    B2I_CALL_EXCHANGE,
    B2I_CALL_REMOVE,
    B2I_CALL_COPY_MODE,
    B2I_CALL_DIR_READ, /* of the next name */
    B2I_CALL_DIR_MAKE,
    B2I_CALL_DIR_REMOVE,
    B2I_CALL_DIR_SYNC,
    B2I_CALL_SYNC_ALL, /* of the file system that a directory is in */
    B2I_CALL_LOOK,     /* at what has a name, or is open */
} b2i_io_call;

typedef struct b2i_io_event {
    b2i_io_call call;
    const void *file; /* the same from OPEN or CREATE to CLOSE; NULL when it is about a name */
    int dir; /* of OPEN, CREATE, RENAME, REMOVE, LOOK, DIR_SYNC, SYNC_ALL: where, or B2I_FS_CWD */
    const char *name; /* as the file or directory was opened; "." an open directory */
    const char *to;   /* of RENAME, EXCHANGE and COPY_MODE */
    uint64_t at;      /* of WRITE; the new size of TRUNCATE */
    const void *src;  /* of WRITE */
    size_t n;         /* of READ and WRITE */
} b2i_io_event;

/*
 * Asked before each of these calls.  What it returns other than 0 is the errno that
 * the call fails with instead; it may lower n > 1 of a WRITE, which is then a short one.
 */
extern int (*b2i_io_hook)(b2i_io_event *event);

/* Sets errno when the call is to fail. */
static inline bool b2i_io_fails(b2i_io_event *event)
{
    int why = b2i_io_hook == NULL ? 0 : b2i_io_hook(event);
    errno = why != 0 ? why : errno;
    return why != 0;
}
#define B2I_FAILS(...) b2i_io_fails(&(b2i_io_event){ .call = __VA_ARGS__ })
#else
#define B2I_FAILS(...) false
#endif

#endif
