/*
 * calls.h: functions of the module blosc2c._calls that are in files of their own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CALLS_H
#define B2I_CALLS_H

#include "desk.h"

/* (buffer of a b2c_cparams, data): the chunk */
PyObject *b2i_compress(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* (chunk[, out, by one thread]): the data, or True when they are in 'out' */
PyObject *b2i_decompress(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

#endif
