/*
 * calls.c: short calls of super-chunks as methods of a Python object, the module blosc2c._calls.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Through cffi such a call takes up to five times as long as its work.  Nothing of Python runs in
 * between, no signal handler and no finalizer, but functions of the user's that C calls.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { COPIED_NBYTES = 1 << 13 }; /* chunks up to here are copied twice */

bool b2i_get_number(PyObject *arg, uint64_t *number)
{
    PyObject *index = PyNumber_Index(arg);
    if (index == NULL) {
        return false;
    }
    *number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    return *number != (uint64_t)-1 || PyErr_Occurred() == NULL;
}

static size_t most(const b2i_calls *self)
{
    return self->turn->max_nbytes != 0 ? self->turn->max_nbytes : b2i_default_nbytes;
}

/* ---- Reads --------------------------------------------------------------- */

static int run_read(b2i_calls *self, b2i_turn_read_fn *read, b2i_desk *d, uint64_t number,
                    void *dst, size_t cap, size_t *dst_len, b2c_error *err)
{
    PyThreadState *state = PyEval_SaveThread();
    int st = read(self->turn, d->ctx, number, dst, cap, dst_len, err);
    PyEval_RestoreThread(state);
    d->is_taken = false;
    return st;
}

/* A bytes object of what is read; 'cap' is how many bytes it is thought to have, at most all. */
static PyObject *read_new(b2i_calls *self, b2i_turn_read_fn *read, uint64_t number, size_t cap,
                          size_t max_nbytes, size_t *len)
{
    b2c_error err;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)cap);
    b2i_desk *d = bytes != NULL ? b2i_take_desk() : NULL;
    if (d == NULL) {
        Py_XDECREF(bytes);
        return b2i_long_way();
    }
    int st = run_read(self, read, d, number, PyBytes_AsString(bytes), cap, len, &err);
    if (st == B2C_OK && *len == cap) {
        return bytes;
    }
    PyObject *cut = NULL;
    if (st == B2C_OK) {
        cut = PyBytes_FromStringAndSize(PyBytes_AsString(bytes), (Py_ssize_t)*len);
    }
    Py_DECREF(bytes);
    if (st == B2C_E_OUTPUT_SIZE && *len > cap && *len <= max_nbytes) {
        return read_new(self, read, number, *len, max_nbytes, len);
    }
    return st == B2C_OK ? cut : b2i_failure(st, &err);
}

/* By way of the desk up to 'cap' bytes: while that takes less than to ask for the length first. */
static PyObject *read_all(PyObject *o, b2i_turn_read_fn *read, uint64_t number, size_t cap)
{
    b2i_calls *self = (b2i_calls *)o;
    size_t len = 0;
    b2c_error err;
    b2i_desk *d = b2i_take_desk();
    if (d == NULL) {
        return b2i_long_way();
    }
    int st = run_read(self, read, d, number, d->bytes, cap, &len, &err);
    if (st == B2C_E_OUTPUT_SIZE) {
        return read_new(self, read, number, len, PY_SSIZE_T_MAX, &len);
    }
    return st == B2C_OK ? PyBytes_FromStringAndSize((const char *)d->bytes, (Py_ssize_t)len)
                        : b2i_failure(st, &err);
}

static PyObject *get_chunk(PyObject *o, PyObject *arg)
{
    uint64_t number;
    return b2i_get_number(arg, &number) ? read_all(o, b2i_turn_get_chunk, number, COPIED_NBYTES)
                                        : b2i_long_way();
}

static PyObject *to_cframe(PyObject *o, PyObject *unused)
{
    (void)unused;
    return read_all(o, b2i_turn_to_frame, 0, SHORT_NBYTES);
}

/* True when 'out' is filled; nbytes: how many bytes, or SIZE_MAX: as many as there are. */
static PyObject *read_into(b2i_calls *self, b2i_turn_read_fn *read, uint64_t number, PyObject *out,
                           size_t nbytes)
{
    Py_buffer view;
    b2c_error err;
    size_t len = 0;
    if (!b2i_get_room(out, SERIAL_NBYTES - 1, &view)) {
        return b2i_long_way();
    }
    size_t cap = nbytes == SIZE_MAX ? (size_t)view.len : nbytes;
    b2i_desk *d = cap <= (size_t)view.len ? b2i_take_desk() : NULL;
    if (d == NULL) {
        PyBuffer_Release(&view);
        return b2i_long_way();
    }
    int st = run_read(self, read, d, number, view.buf, cap, &len, &err);
    PyBuffer_Release(&view);
    return st == B2C_OK ? PyBool_FromLong(1) : b2i_failure(st, &err);
}

/* (number[, out]) */
static PyObject *decompress_chunk(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    b2i_calls *self = (b2i_calls *)o;
    uint64_t number;
    if (nargs < 1 || !b2i_get_number(args[0], &number)) {
        return b2i_long_way();
    }
    if (nargs > 1) {
        return read_into(self, b2i_turn_decode_chunk, number, args[1], SIZE_MAX);
    }
    size_t len = self->chunk_nbytes <= most(self) ? self->chunk_nbytes : most(self);
    PyObject *bytes = read_new(self, b2i_turn_decode_chunk, number, len, most(self), &len);
    self->chunk_nbytes = len;
    return bytes;
}

/* Where the items of a key are in the data; false: to be had, or refused, in the long way. */
static bool find_items(const b2i_calls *self, PyObject *key, uint64_t *at, size_t *nbytes)
{
    b2c_schunk_info info;
    Py_ssize_t start, stop, step;
    if (b2i_turn_info(self->turn, &info) != B2C_OK || info.nbytes > PY_SSIZE_T_MAX) {
        return false;
    }
    Py_ssize_t n = (Py_ssize_t)(info.nbytes / info.typesize);
    if (PySlice_Check(key)) {
        if (PySlice_Unpack(key, &start, &stop, &step) != 0 || step != 1) {
            return false;
        }
        (void)PySlice_AdjustIndices(n, &start, &stop, step);
    } else {
        start = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if ((start == -1 && PyErr_Occurred() != NULL) || start >= n || start < -n) {
            return false;
        }
        start += start < 0 ? n : 0;
        stop = start + 1;
    }
    *at = (uint64_t)start * info.typesize;
    *nbytes = stop > start ? (size_t)(stop - start) * info.typesize : 0;
    return true;
}

/* (key[, out]) */
static PyObject *items(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    b2i_calls *self = (b2i_calls *)o;
    uint64_t at;
    size_t nbytes, len;
    if (nargs < 1 || !find_items(self, args[0], &at, &nbytes)) {
        return b2i_long_way();
    }
    if (nargs > 1) { /* of nothing the result is what there would be without a buffer */
        return nbytes != 0 ? read_into(self, b2i_turn_read, at, args[1], nbytes) : b2i_long_way();
    }
    return nbytes <= most(self) ? read_new(self, b2i_turn_read, at, nbytes, nbytes, &len)
                                : b2i_long_way();
}

/* (first byte, out): True when all of 'out' is filled */
static PyObject *read_bytes(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    uint64_t at;
    if (nargs != 2 || !b2i_get_number(args[0], &at)) {
        return b2i_long_way();
    }
    return read_into((b2i_calls *)o, b2i_turn_read, at, args[1], SIZE_MAX);
}

/* ---- Metalayers ---------------------------------------------------------- */

/* A name that lives as long as 'arg'; NULL: to be looked at, or refused, in the long way. */
static const char *get_name(PyObject *arg)
{
    Py_ssize_t len;
    const char *name = PyUnicode_Check(arg) ? PyUnicode_AsUTF8AndSize(arg, &len) : NULL;
    if (name == NULL || len == 0 || len > B2C_MAX_NAME_LEN || strlen(name) != (size_t)len) {
        return NULL;
    }
    return name;
}

/* What get() gives with room for 'cap' bytes of the desk; B2I_NOT_FREE: nothing. */
static int run_get(PyObject *o, b2i_turn_get_fn *get, PyObject *arg, size_t cap, b2i_desk **d,
                   size_t *len, b2c_error *err)
{
    const char *name = get_name(arg);
    *d = name != NULL ? b2i_take_desk() : NULL;
    if (*d == NULL) {
        return B2I_NOT_FREE;
    }
    PyThreadState *state = PyEval_SaveThread();
    int st = get(((b2i_calls *)o)->turn, (*d)->ctx, name, (*d)->bytes, cap, len, err);
    PyEval_RestoreThread(state);
    (*d)->is_taken = false;
    return st;
}

static PyObject *get_value(PyObject *o, b2i_turn_get_fn *get, PyObject *name)
{
    b2i_desk *d;
    size_t len = 0;
    b2c_error err;
    int st = run_get(o, get, name, SHORT_NBYTES, &d, &len, &err);
    return st == B2C_OK ? PyBytes_FromStringAndSize((const char *)d->bytes, (Py_ssize_t)len)
                        : b2i_failure(st, &err);
}

static PyObject *is_there(PyObject *o, b2i_turn_get_fn *get, PyObject *name)
{
    b2i_desk *d;
    size_t len = 0;
    b2c_error err;
    int st = run_get(o, get, name, 0, &d, &len, &err);
    return st == B2I_NOT_FREE ? b2i_long_way() : PyBool_FromLong(st != B2C_E_NOT_FOUND);
}

static PyObject *get_meta(PyObject *o, PyObject *name)
{
    return get_value(o, b2i_turn_meta_get, name);
}

static PyObject *get_vlmeta(PyObject *o, PyObject *name)
{
    return get_value(o, b2i_turn_vlmeta_get, name);
}

static PyObject *has_meta(PyObject *o, PyObject *name)
{
    return is_there(o, b2i_turn_meta_get, name);
}

static PyObject *has_vlmeta(PyObject *o, PyObject *name)
{
    return is_there(o, b2i_turn_vlmeta_get, name);
}

/* (name[, bytes]): without them it is deleted.  True when that is done */
static PyObject *set_vlmeta(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    Py_ssize_t n = 0;
    char *src = NULL;
    b2c_error err;
    const char *name = nargs > 0 ? get_name(args[0]) : NULL;
    if (name == NULL || (nargs > 1 && PyBytes_AsStringAndSize(args[1], &src, &n) != 0)) {
        return b2i_long_way();
    }
    b2i_desk *d = n < SERIAL_NBYTES ? b2i_take_desk() : NULL;
    if (d == NULL) {
        return b2i_long_way();
    }
    PyThreadState *state = PyEval_SaveThread();
    int st = b2i_turn_vlmeta_set(((b2i_calls *)o)->turn, d->ctx, name, src, (size_t)n, &err);
    PyEval_RestoreThread(state);
    d->is_taken = false;
    return st == B2C_OK ? PyBool_FromLong(1) : b2i_failure(st, &err);
}

/* ---- Facts --------------------------------------------------------------- */

static PyObject *get_cratio(PyObject *o, void *closure)
{
    b2c_schunk_info info;
    (void)closure;
    if (b2i_turn_info(((b2i_calls *)o)->turn, &info) != B2C_OK) {
        Py_RETURN_NONE;
    }
    return PyFloat_FromDouble(info.cbytes > 0 ? (double)info.nbytes / (double)info.cbytes : 0);
}

enum { NCHUNKS, NBYTES, CBYTES, TYPESIZE, BLOCKSIZE, CHUNKSIZE, NITEMS, NVLMETA, STORAGE };

static PyObject *get_fact(PyObject *o, void *which)
{
    b2c_schunk_info info;
    if (b2i_turn_info(((b2i_calls *)o)->turn, &info) != B2C_OK) {
        Py_RETURN_NONE;
    }
    const uint64_t facts[] = {
        [NCHUNKS] = info.nchunks,
        [NBYTES] = info.nbytes,
        [CBYTES] = info.cbytes,
        [TYPESIZE] = info.typesize,
        [BLOCKSIZE] = info.blocksize,
        [CHUNKSIZE] = info.chunksize < 0 ? 0 : (uint64_t)info.chunksize,
        [NITEMS] = info.nbytes / info.typesize,
        [NVLMETA] = info.nvlmeta,
        [STORAGE] = info.storage,
    };
    return PyLong_FromUnsignedLongLong(facts[(uintptr_t)which]);
}

/* The decoded and stored size of a chunk, and which special value it is. */
static PyObject *chunk_info(PyObject *o, PyObject *arg)
{
    uint64_t number;
    b2c_chunk_info info;
    b2c_error err;
    if (!b2i_get_number(arg, &number)) {
        return b2i_long_way();
    }
    b2i_turn *turn = ((b2i_calls *)o)->turn;
    /* The index is in memory: nothing is waited for. */
    if (b2i_turn_index_info(turn, number, &info) != B2C_OK) {
        PyThreadState *state = PyEval_SaveThread();
        int st = b2i_turn_chunk_info(turn, number, &info, &err);
        PyEval_RestoreThread(state);
        if (st != B2C_OK) {
            return b2i_failure(st, &err);
        }
    }
    return Py_BuildValue("(KKi)", (unsigned long long)info.nbytes, (unsigned long long)info.cbytes,
                         (int)info.special);
}

/* The bytes of a b2c_nd, and the dtype string. */
static PyObject *description(PyObject *o, PyObject *unused)
{
    enum { MOST = 256 };
    b2c_nd nd;
    char dtype[MOST];
    size_t len = 0;
    (void)unused;
    if (b2i_turn_nd_open(((b2i_calls *)o)->turn, &nd, dtype, MOST, &len) != B2C_OK) {
        return b2i_long_way();
    }
    return Py_BuildValue("(y#y#)", (const char *)&nd, (Py_ssize_t)sizeof(nd), dtype,
                         (Py_ssize_t)len);
}

static PyObject *new_tuple(uint32_t n, const uint64_t *sizes)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);
    for (uint32_t i = 0; tuple != NULL && i < n; i++) {
        PyObject *size = PyLong_FromUnsignedLongLong(sizes[i]);
        if (size == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, size) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* (address of a b2c_nd): tuples of its shape, chunks and blocks */
static PyObject *shapes(PyObject *module, PyObject *address)
{
    (void)module;
    const b2c_nd *nd = PyLong_AsVoidPtr(address);
    if (nd == NULL) {
        return NULL;
    }
    uint64_t chunks[B2C_MAX_DIM], blocks[B2C_MAX_DIM];
    for (uint32_t i = 0; i < nd->ndim; i++) {
        chunks[i] = nd->chunks[i];
        blocks[i] = nd->blocks[i];
    }
    return Py_BuildValue("(NNN)", new_tuple(nd->ndim, nd->shape), new_tuple(nd->ndim, chunks),
                         new_tuple(nd->ndim, blocks));
}

/* (address of a b2i_hold, of the super-chunk, its owner): ends it, for which no memory is needed */
static PyObject *let_go(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    b2i_hold *hold = nargs == 3 ? PyLong_AsVoidPtr(args[0]) : NULL;
    b2c_schunk *schunk = hold != NULL ? PyLong_AsVoidPtr(args[1]) : NULL;
    if (schunk == NULL) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "addresses are needed");
    }
    PyThreadState *state = PyEval_SaveThread();
    b2i_turn_let_go(schunk, ((b2i_calls *)o)->turn, hold);
    PyEval_RestoreThread(state);
    Py_RETURN_NONE;
}

/* ---- The type and the module --------------------------------------------- */

/* (owner, address): of a b2i_turn */
static PyObject *new_calls(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *owner, *address;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "OO", &owner, &address)) {
        return NULL;
    }
    b2i_turn *turn = PyLong_AsVoidPtr(address);
    if (turn == NULL) {
        return NULL;
    }
    b2i_calls *self = (b2i_calls *)PyType_GenericAlloc(type, 0);
    if (self != NULL) {
        Py_INCREF(owner);
        self->owner = owner;
        self->turn = turn;
    }
    return (PyObject *)self;
}

static void free_calls(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    Py_XDECREF(((b2i_calls *)o)->owner);
    PyObject_Free(o);
    Py_DECREF(type);
}

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL

static PyMethodDef methods[] = {
    { "get_chunk", get_chunk, METH_O, NULL },
    { "let_go", FAST(let_go) },
    { "to_cframe", to_cframe, METH_NOARGS, NULL },
    { "decompress_chunk", FAST(decompress_chunk) },
    { "items", FAST(items) },
    { "read_bytes", FAST(read_bytes) },
    { "set_items", FAST(b2i_set_items) },
    { "chunk_info", chunk_info, METH_O, NULL },
    { "description", description, METH_NOARGS, NULL },
    { "get_meta", get_meta, METH_O, NULL },
    { "get_vlmeta", get_vlmeta, METH_O, NULL },
    { "has_meta", has_meta, METH_O, NULL },
    { "has_vlmeta", has_vlmeta, METH_O, NULL },
    { "set_vlmeta", FAST(set_vlmeta) },
    { "append_data", b2i_append_data, METH_O, NULL },
    { "insert_data", FAST(b2i_insert_data) },
    { "update_data", FAST(b2i_update_data) },
    { "append_chunk", b2i_append_chunk, METH_O, NULL },
    { "insert_chunk", FAST(b2i_insert_chunk) },
    { "update_chunk", FAST(b2i_update_chunk) },
    { "delete_chunk", b2i_delete_chunk, METH_O, NULL },
    { "fill_special", FAST(b2i_fill_special) },
    { "copy_some", FAST(b2i_copy_some) },
    { "append_to_nd", FAST(b2i_append_to_nd) },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef getters[] = {
    { "nchunks", get_fact, NULL, NULL, (void *)NCHUNKS },
    { "nbytes", get_fact, NULL, NULL, (void *)NBYTES },
    { "cbytes", get_fact, NULL, NULL, (void *)CBYTES },
    { "typesize", get_fact, NULL, NULL, (void *)TYPESIZE },
    { "blocksize", get_fact, NULL, NULL, (void *)BLOCKSIZE },
    { "chunksize", get_fact, NULL, NULL, (void *)CHUNKSIZE },
    { "cratio", get_cratio, NULL, NULL, NULL },
    { "nitems", get_fact, NULL, NULL, (void *)NITEMS },
    { "nvlmeta", get_fact, NULL, NULL, (void *)NVLMETA },
    { "storage", get_fact, NULL, NULL, (void *)STORAGE },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot calls_slots[] = {
    { Py_tp_new, new_calls },
    { Py_tp_dealloc, free_calls },
    { Py_tp_methods, methods },
    { Py_tp_getset, getters },
    { 0, NULL },
};

static PyType_Spec calls_spec = {
    .name = "blosc2c._calls.Calls",
    .basicsize = sizeof(b2i_calls),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = calls_slots,
};

/* (of results, of chunks): the bytes that the default limits allow */
static PyObject *set_default_limits(PyObject *module, PyObject *args)
{
    (void)module;
    Py_ssize_t nbytes, chunk_nbytes;
    if (!PyArg_ParseTuple(args, "nn", &nbytes, &chunk_nbytes)) {
        return NULL;
    }
    b2i_default_nbytes = (size_t)nbytes;
    b2i_default_chunk_nbytes = (size_t)chunk_nbytes;
    Py_RETURN_NONE;
}

/* Whether the environment asks for locks: os.environ takes ten times as long to tell. */
static PyObject *wants_lock(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const char *wish = getenv("BLOSC_LOCKING");
    return PyBool_FromLong(wish != NULL && strcmp(wish, "") != 0 && strcmp(wish, "0") != 0);
}

/*
 * (ffi.gc, pointer, free, address of what owns it so far): gc(pointer, free), which owns it now.
 * Signal handlers run before or after that, and when gc() fails everything is as it was.
 */
static PyObject *take_over(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    b2c_schunk **owner = nargs == 4 ? PyLong_AsVoidPtr(args[3]) : NULL;
    if (owner == NULL) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "four arguments are needed");
    }
    PyObject *owned = PyObject_CallFunctionObjArgs(args[0], args[1], args[2], NULL);
    if (owned != NULL) {
        *owner = NULL;
    }
    return owned;
}

/*
 * (room, fill): a bytes object of what fill(it) writes into 'room' bytes, which are not filled with
 * zeros first, and returns the number of.  Nobody else sees it before.
 */
static PyObject *filled(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    Py_ssize_t room = nargs == 2 ? PyLong_AsSsize_t(args[0]) : -1;
    if (room < 0) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "room and fill are needed");
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, room);
    PyObject *given = bytes != NULL ? PyObject_CallFunctionObjArgs(args[1], bytes, NULL) : NULL;
    Py_ssize_t len = given != NULL ? PyLong_AsSsize_t(given) : -1;
    Py_XDECREF(given);
    if (len < 0 || len > room) {
        Py_CLEAR(bytes);
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "not a length of these");
    }
    if (len < room && Py_REFCNT(bytes) == 1) {
        (void)_PyBytes_Resize(&bytes, len); /* NULL when that fails */
    } else if (len < room) {                /* a debugger may keep what fill() was called with */
        PyObject *cut = PyBytes_FromStringAndSize(PyBytes_AsString(bytes), len);
        Py_DECREF(bytes);
        bytes = cut;
    }
    return bytes;
}

static int fill_module(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&calls_spec);
    if (type == NULL || PyModule_AddObject(module, "Calls", type) != 0) {
        Py_XDECREF(type);
        return -1;
    }
    return 0;
}

static PyMethodDef functions[] = {
    { "compress", FAST(b2i_compress) },
    { "decompress", FAST(b2i_decompress) },
    { "shapes", shapes, METH_O, NULL },
    { "take_over", FAST(take_over) },
    { "filled", FAST(filled) },
    { "wants_lock", wants_lock, METH_NOARGS, NULL },
    { "set_default_limits", set_default_limits, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, fill_module },
#ifdef Py_GIL_DISABLED
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0, NULL },
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_calls",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__calls(void); /* beside PyInit__b2c(): see _ffi.py */
PyMODINIT_FUNC PyInit__calls(void)
{
    return PyModuleDef_Init(&definition);
}
