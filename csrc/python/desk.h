/*
 * desk.h: what short calls from Python share: a context for each thread, arguments and failures.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A short call gives what is asked for, or None: it is to be had in the long way, of compress.py
 * and handles.py, which also tells what is wrong with an argument.  When the call itself fails it
 * gives the status and the b2c_error.
 */
#ifndef B2I_DESK_H
#define B2I_DESK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "blosc2c.h"

#include <stdbool.h>

#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030B0000
/* The stable ABI has them since 3.11, and 3.10 has the same ones. */
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
int PyObject_GetBuffer(PyObject *obj, Py_buffer *view, int flags);
void PyBuffer_Release(Py_buffer *view);
#define PyBUF_SIMPLE   0
#define PyBUF_WRITABLE 1
#define PyBUF_FORMAT   4
#define PyBUF_ND       8
#endif

enum {
    SHORT_NBYTES = 1 << 16, /* of results that are read before their length is known */
    SERIAL_NBYTES = 1 << 18 /* results and buffers of less are read or filled by one thread */
};

/* As the default limits allow: of results, and of chunks decoded into memory of the user. */
extern size_t b2i_default_nbytes, b2i_default_chunk_nbytes;

typedef struct b2i_desk {
    b2c_ctx *ctx;
    bool is_taken; /* a call is under way, and this one is made in the middle of it */
    uint8_t bytes[SERIAL_NBYTES + B2C_HEADER_LEN]; /* what is not used takes no memory */
} b2i_desk;

/* This thread's, until is_taken is false again; NULL: the long way has to do. */
b2i_desk *b2i_take_desk(void);

/* None.  What is said against an argument is said there; other exceptions may be of a signal. */
PyObject *b2i_long_way(void);

/* What a call gives that failed. */
PyObject *b2i_failure(int st, const b2c_error *err);

/* A buffer of at most 'most' bytes, to be released; false: b2i_long_way(). */
bool b2i_get_buffer(PyObject *arg, Py_ssize_t most, Py_buffer *view);

/* The same to be written to: none of Python objects, which bytes are no pointers to. */
bool b2i_get_room(PyObject *arg, Py_ssize_t most, Py_buffer *view);

#endif
