/*
 * desk.c: what short calls from Python share: a context for each thread, arguments and failures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "desk.h"
#include "alloc.h"
#include "turn.h"

#include <pthread.h>
#include <string.h>

size_t b2i_default_nbytes = SERIAL_NBYTES - 1;
size_t b2i_default_chunk_nbytes = SIZE_MAX;

static pthread_key_t desk_key;
static pthread_once_t desk_once = PTHREAD_ONCE_INIT;
static bool has_key;

static __thread b2i_desk *mine;

static void free_desk(void *p)
{
    b2i_desk *d = p;
    mine = NULL;
    b2c_ctx_free(d->ctx);
    b2i_free(d);
}

static void make_key(void)
{
    has_key = pthread_key_create(&desk_key, free_desk) == 0;
}

static b2i_desk *new_desk(void)
{
    (void)pthread_once(&desk_once, make_key);
    b2i_desk *d = has_key ? b2i_calloc(sizeof *d) : NULL;
    if (d == NULL) {
        return NULL;
    }
    if (b2c_ctx_new(NULL, 1, NULL, &d->ctx, NULL) != B2C_OK) {
        b2i_free(d);
        return NULL;
    }
    if (pthread_setspecific(desk_key, d) != 0) {
        free_desk(d);
        return NULL;
    }
    return d;
}

b2i_desk *b2i_take_desk(void)
{
    if (mine == NULL) {
        mine = new_desk();
    }
    if (mine == NULL || mine->is_taken) {
        return NULL;
    }
    mine->is_taken = true;
    return mine;
}

PyObject *b2i_long_way(void)
{
    PyObject *told[] = { PyExc_TypeError, PyExc_ValueError, PyExc_BufferError, PyExc_OverflowError,
                         PyExc_IndexError };
    bool is_told = PyErr_Occurred() == NULL;
    for (size_t i = 0; !is_told && i < sizeof told / sizeof *told; i++) {
        is_told = PyErr_ExceptionMatches(told[i]) != 0;
    }
    if (!is_told) {
        return NULL;
    }
    PyErr_Clear();
    Py_RETURN_NONE;
}

PyObject *b2i_failure(int st, const b2c_error *err)
{
    if (st == B2I_NOT_FREE || st == B2C_E_OUTPUT_SIZE) {
        return b2i_long_way();
    }
    return Py_BuildValue("(iy#)", st, (const char *)err, (Py_ssize_t)sizeof *err);
}

/* b2i_get_room() of an array whose dtype holds no objects, but cannot be spelled: of dates. */
static bool get_unspelled(PyObject *array, Py_buffer *view)
{
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) {
        return false;
    }
    PyErr_Clear();
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *has_objects = dtype == NULL ? NULL : PyObject_GetAttrString(dtype, "hasobject");
    const bool got =
        has_objects == Py_False && PyObject_GetBuffer(array, view, PyBUF_WRITABLE) == 0;
    Py_XDECREF(has_objects);
    Py_XDECREF(dtype);
    return got;
}

bool b2i_get_buffer(PyObject *arg, Py_ssize_t most, Py_buffer *view)
{
    if (PyObject_GetBuffer(arg, view, PyBUF_SIMPLE) != 0) {
        return false;
    }
    if (view->len > most) {
        PyBuffer_Release(view);
        return false;
    }
    return true;
}

bool b2i_get_room(PyObject *arg, Py_ssize_t most, Py_buffer *view)
{
    if (PyObject_GetBuffer(arg, view, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_ND) != 0 &&
        !get_unspelled(arg, view)) {
        return false;
    }
    const bool has_objects = view->format != NULL && strchr(view->format, 'O') != NULL;
    if (view->len > most || has_objects) {
        PyBuffer_Release(view);
        return false;
    }
    return true;
}
