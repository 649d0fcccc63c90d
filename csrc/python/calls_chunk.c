/*
 * calls_chunk.c: short compressions and decompressions for Python.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "calls.h"

PyObject *b2i_compress(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    Py_buffer cparams, src;
    size_t len = 0;
    b2c_error err;
    (void)module;
    if (nargs != 2 || !b2i_get_buffer(args[0], SERIAL_NBYTES - 1, &cparams)) {
        return b2i_long_way();
    }
    if (!b2i_get_buffer(args[1], SERIAL_NBYTES - 1, &src)) {
        PyBuffer_Release(&cparams);
        return b2i_long_way();
    }
    int st = B2I_NOT_FREE;
    b2i_desk *d = cparams.len == sizeof(b2c_cparams) ? b2i_take_desk() : NULL;
    if (d != NULL) {
        PyThreadState *state = PyEval_SaveThread();
        st = b2c_compress(d->ctx, cparams.buf, src.buf, (size_t)src.len, d->bytes, sizeof d->bytes,
                          &len, &err);
        PyEval_RestoreThread(state);
        d->is_taken = false;
    }
    /* Before any release, which may run Python code that uses the desk. */
    PyObject *chunk = NULL;
    if (st == B2C_OK) {
        chunk = PyBytes_FromStringAndSize((const char *)d->bytes, (Py_ssize_t)len);
    }
    PyBuffer_Release(&src);
    PyBuffer_Release(&cparams);
    return st == B2C_OK ? chunk : b2i_failure(st, &err);
}

/* Decodes into 'out', or, when that is NULL, into *bytes, which is made. */
static int run_decompress(const Py_buffer *chunk, const Py_buffer *out, PyObject **bytes,
                          b2c_error *err)
{
    b2c_chunk_info info;
    size_t len;
    int st = b2c_chunk_inspect(chunk->buf, (size_t)chunk->len, &info, err);
    if (st != B2C_OK) {
        return st;
    }
    if (out == NULL && info.nbytes <= b2i_default_nbytes) {
        *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)info.nbytes);
    }
    bool has_room = out == NULL ? *bytes != NULL : out->len > 0 && (size_t)out->len >= info.nbytes;
    b2i_desk *d = has_room && info.nbytes <= b2i_default_chunk_nbytes ? b2i_take_desk() : NULL;
    if (d == NULL) {
        return B2I_NOT_FREE;
    }
    void *dst = out != NULL ? out->buf : PyBytes_AsString(*bytes);
    PyThreadState *state = PyEval_SaveThread();
    st = b2c_decompress(d->ctx, chunk->buf, (size_t)chunk->len, dst, info.nbytes, &len, err);
    PyEval_RestoreThread(state);
    d->is_taken = false;
    return st == B2C_OK && len != info.nbytes ? B2I_NOT_FREE : st; /* another thread changed it */
}

PyObject *b2i_decompress(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    Py_buffer chunk, out;
    b2c_error err;
    PyObject *bytes = NULL;
    (void)module;
    if (nargs < 1 || !b2i_get_buffer(args[0], PY_SSIZE_T_MAX, &chunk)) {
        return b2i_long_way();
    }
    int st = B2I_NOT_FREE;
    Py_ssize_t most = nargs > 2 && args[2] == Py_True ? PY_SSIZE_T_MAX : SERIAL_NBYTES - 1;
    if (nargs == 1) {
        st = run_decompress(&chunk, NULL, &bytes, &err);
    } else if (b2i_get_room(args[1], most, &out)) {
        st = run_decompress(&chunk, &out, NULL, &err);
        PyBuffer_Release(&out);
    }
    PyBuffer_Release(&chunk);
    if (st == B2C_OK) {
        return bytes != NULL ? bytes : PyBool_FromLong(1);
    }
    Py_XDECREF(bytes);
    return b2i_failure(st, &err);
}
