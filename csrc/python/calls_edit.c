/*
 * calls_edit.c: short edits of super-chunks for Python.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "calls.h"

/* How many chunks there are after an edit with a buffer of 'nbytes', or SIZE_MAX: of any size. */
static PyObject *run_sized(PyObject *o, b2i_turn_edit_fn *edit, uint64_t number, PyObject *arg,
                           uint64_t nbytes)
{
    b2i_calls *self = (b2i_calls *)o;
    Py_buffer view = { .len = 0 };
    size_t nchunks = 0;
    b2c_error err;
    if (arg != NULL && !b2i_get_buffer(arg, SERIAL_NBYTES - 1, &view)) {
        return b2i_long_way();
    }
    int st = B2I_NOT_FREE;
    b2i_desk *d = nbytes == SIZE_MAX || nbytes == (uint64_t)view.len ? b2i_take_desk() : NULL;
    if (d != NULL) {
        PyThreadState *state = PyEval_SaveThread();
        st = edit(self->turn, d->ctx, number, view.buf, (size_t)view.len, &nchunks, &err);
        PyEval_RestoreThread(state);
        d->is_taken = false;
    }
    if (arg != NULL) {
        PyBuffer_Release(&view);
    }
    return st == B2C_OK ? PyLong_FromSize_t(nchunks) : b2i_failure(st, &err);
}

/* 'arg' NULL: without a buffer. */
static PyObject *run_edit(PyObject *o, b2i_turn_edit_fn *edit, uint64_t number, PyObject *arg)
{
    return run_sized(o, edit, number, arg, SIZE_MAX);
}

/* (number, buffer) */
static PyObject *run_numbered(PyObject *o, b2i_turn_edit_fn *edit, PyObject *const *args,
                              Py_ssize_t nargs)
{
    uint64_t number;
    if (nargs != 2 || !b2i_get_number(args[0], &number)) {
        return b2i_long_way();
    }
    return run_edit(o, edit, number, args[1]);
}

PyObject *b2i_append_data(PyObject *o, PyObject *data)
{
    return run_edit(o, b2i_turn_append, 0, data);
}

PyObject *b2i_append_chunk(PyObject *o, PyObject *chunk)
{
    return run_edit(o, b2i_turn_append_chunk, 0, chunk);
}

PyObject *b2i_insert_data(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    return run_numbered(o, b2i_turn_insert, args, nargs);
}

PyObject *b2i_insert_chunk(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    return run_numbered(o, b2i_turn_insert_chunk, args, nargs);
}

PyObject *b2i_update_data(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    return run_numbered(o, b2i_turn_update, args, nargs);
}

PyObject *b2i_update_chunk(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    return run_numbered(o, b2i_turn_update_chunk, args, nargs);
}

PyObject *b2i_delete_chunk(PyObject *o, PyObject *arg)
{
    uint64_t number;
    return b2i_get_number(arg, &number) ? run_edit(o, b2i_turn_delete_chunk, number, NULL)
                                        : b2i_long_way();
}

/* (key, buffer): of items that are there, counted from the first one */
PyObject *b2i_set_items(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    b2c_schunk_info info;
    Py_ssize_t start, stop, step = 1;
    if (nargs != 2 || b2i_turn_info(((b2i_calls *)o)->turn, &info) != B2C_OK) {
        return b2i_long_way();
    }
    if (!PySlice_Check(args[0])) {
        start = PyNumber_AsSsize_t(args[0], PyExc_IndexError);
        stop = start < PY_SSIZE_T_MAX ? start + 1 : start;
    } else if (PySlice_Unpack(args[0], &start, &stop, &step) != 0) {
        return b2i_long_way();
    }
    uint64_t n = info.nbytes / info.typesize;
    if (start < 0 || stop <= start || (uint64_t)stop > n || step != 1) {
        return b2i_long_way();
    }
    uint64_t nbytes = (uint64_t)(stop - start) * info.typesize;
    return run_sized(o, b2i_turn_write, (uint64_t)start * info.typesize, args[1], nbytes);
}

/* (number of bytes, kind, item or None) */
PyObject *b2i_fill_special(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    uint64_t nbytes, kind;
    char *item = NULL;
    Py_ssize_t len = 0;
    size_t nchunks = 0;
    b2c_error err;
    if (nargs != 3 || !b2i_get_number(args[0], &nbytes) || !b2i_get_number(args[1], &kind) ||
        kind > 255 || (args[2] != Py_None && PyBytes_AsStringAndSize(args[2], &item, &len) != 0)) {
        return b2i_long_way();
    }
    PyThreadState *state = PyEval_SaveThread();
    int st = b2i_turn_fill_special(((b2i_calls *)o)->turn, nbytes, (uint8_t)kind, item, (size_t)len,
                                   &nchunks, &err);
    PyEval_RestoreThread(state);
    return st == B2C_OK ? PyLong_FromSize_t(nchunks) : b2i_failure(st, &err);
}

/* (Calls of another super-chunk, buffer of the numbers of its chunks) */
PyObject *b2i_copy_some(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    Py_buffer view;
    size_t nchunks = 0;
    b2c_error err;
    if (nargs != 2 || Py_TYPE(args[0]) != Py_TYPE(o) ||
        !b2i_get_buffer(args[1], PY_SSIZE_T_MAX, &view)) {
        return b2i_long_way();
    }
    PyThreadState *state = PyEval_SaveThread();
    int st = b2i_turn_copy_some(((b2i_calls *)o)->turn, ((b2i_calls *)args[0])->turn, view.buf,
                                (uint64_t)view.len / sizeof(uint64_t), &nchunks, &err);
    PyEval_RestoreThread(state);
    PyBuffer_Release(&view);
    return st == B2C_OK ? PyLong_FromSize_t(nchunks) : b2i_failure(st, &err);
}

/* (address of a b2c_nd, first chunk, number of chunks, buffer of their items) */
PyObject *b2i_append_to_nd(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    uint64_t first, n;
    Py_buffer view;
    size_t nchunks = 0;
    b2c_error err;
    const b2c_nd *nd = nargs == 4 ? PyLong_AsVoidPtr(args[0]) : NULL;
    if (nd == NULL || !b2i_get_number(args[1], &first) || !b2i_get_number(args[2], &n) ||
        !b2i_get_buffer(args[3], SERIAL_NBYTES - 1, &view)) {
        return b2i_long_way();
    }
    int st = B2I_NOT_FREE;
    b2i_desk *d = b2i_take_desk();
    if (d != NULL) {
        PyThreadState *state = PyEval_SaveThread();
        st = b2i_turn_nd_append(((b2i_calls *)o)->turn, d->ctx, nd, first, n, view.buf,
                                (size_t)view.len, &nchunks, &err);
        PyEval_RestoreThread(state);
        d->is_taken = false;
    }
    PyBuffer_Release(&view);
    return st == B2C_OK ? PyLong_FromSize_t(nchunks) : b2i_failure(st, &err);
}
