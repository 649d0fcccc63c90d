/*
 * calls.h: what the files of the module blosc2c._calls share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CALLS_H
#define B2I_CALLS_H

#include "desk.h"
#include "turn.h"

/* The type blosc2c._calls.Calls. */
typedef struct b2i_calls {
    PyObject ob_base;
    PyObject *owner; /* of the memory of turn and super-chunk */
    b2i_turn *turn;
    size_t chunk_nbytes; /* of the chunk that was decoded last: the next one may have as many */
} b2i_calls;

/* An integer from 0 to 2^64 - 1; false: b2i_long_way(). */
bool b2i_get_number(PyObject *arg, uint64_t *number);

/* (buffer of a b2c_cparams, data): the chunk */
PyObject *b2i_compress(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* (chunk[, out, by one thread]): the data, or True when they are in 'out' */
PyObject *b2i_decompress(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* Edits, methods of a b2i_calls: how many chunks there are then. */
PyObject *b2i_append_data(PyObject *o, PyObject *data);
PyObject *b2i_append_chunk(PyObject *o, PyObject *chunk);
PyObject *b2i_insert_data(PyObject *o, PyObject *const *args, Py_ssize_t nargs);
PyObject *b2i_insert_chunk(PyObject *o, PyObject *const *args, Py_ssize_t nargs);
PyObject *b2i_update_data(PyObject *o, PyObject *const *args, Py_ssize_t nargs);
PyObject *b2i_update_chunk(PyObject *o, PyObject *const *args, Py_ssize_t nargs);
PyObject *b2i_delete_chunk(PyObject *o, PyObject *arg);
PyObject *b2i_set_items(PyObject *o, PyObject *const *args, Py_ssize_t nargs);
PyObject *b2i_fill_special(PyObject *o, PyObject *const *args, Py_ssize_t nargs);
PyObject *b2i_copy_some(PyObject *o, PyObject *const *args, Py_ssize_t nargs);
PyObject *b2i_append_to_nd(PyObject *o, PyObject *const *args, Py_ssize_t nargs);

#endif
