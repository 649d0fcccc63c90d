"""What the incumbent, python-blosc2, has and this package leaves out, and what to do instead.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

_ENGINE = "it is part of python-blosc2's compute engine; slice the array (a[...]) or hand it to Dask"
_TABLES = "tables and columns are python-blosc2's own; use it or Parquet for them"
_REMOTE = "there is no network access here; open local files, or bytes with from_cframe()"
_STORES = "collections of arrays are python-blosc2's own; use a directory of files, Zarr or HDF5"
_TYPES = "use the NumPy dtype of that name"
_OBJECTS = "only items of a fixed size are stored; use a dtype such as 'U20', or pack() for objects"
_SORT = "read the array and use NumPy"
_POINTERS = "it points into python-blosc2's own C library; in C, include blosc2c.h"

_BY_REASON: dict[str, str] = {
    _ENGINE: """
        LazyArray LazyExpr LazyUDF DSLKernel DSLSyntaxError Operand Proxy ProxyNDField ProxyNDSource
        ProxySource SimpleProxy Index CachePolicy abs acos acosh add all any arccos arccosh arcsin
        arcsinh arctan arctan2 arctanh argmax argmin as_simpleproxy asin asinh atan atan2 atanh
        bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
        broadcast_to can_cast ceil clip conj contains copysign cos cosh count_nonzero
        cumulative_prod cumulative_sum divide endswith equal exp expm1 finfo floor floor_divide
        get_expr_operands get_matmul_library greater greater_equal hypot imag iinfo isdtype isfinite
        isinf isnan jit lazyexpr dsl_kernel validate_dsl validate_dsl_jit lazyudf lazywhere less
        less_equal linalg_funcs_list log log1p log2 log10 logaddexp logical_and logical_not
        logical_or logical_xor lower matmul max maximum mean meshgrid min minimum
        multiply negative nextafter not_equal positive pow prod real reciprocal
        remainder result_type round sign signbit sin sinh sqrt square startswith std subtract sum
        tan tanh tensordot trunc upper validate_expr var vecdot where e pi inf nan
        Array FPAccuracy IndexKind diagonal euler_gamma evaluate fft open_lazyarray
        DEFAULT_COMPLEX DEFAULT_FLOAT DEFAULT_INDEX DEFAULT_INT array_from_ffi_ptr
        """,
    _TABLES: """
        CTable CTableGroupBy Column NestedColumn RowTransformer col ctable_from_cframe
        DictionarySpec dictionary field NDArraySpec group_reduce NullPolicy DEFAULT_NULL_POLICY
        get_null_policy null_policy get_printoptions printoptions set_printoptions
        """,
    _REMOTE: """
        C2Array C2NDSource URLPath ByteRangeNDSource FsspecNDSource B2ZNDSource Traffic ZarrNDSource
        HDF5NDSource RemoteMetadataMapping RemoteObject RemoteArray RemoteCTable RemoteNode
        RemoteStore available_datasets scan_hdf5_index validate_hdf5_index
        """,
    _STORES: "DictStore EmbedStore TreeStore estore_from_cframe Ref",
    _TYPES: """
        bool bool_ bytes bytes_ complex64 complex128 float16 float32 float64 int8 int16 int32 int64
        str_ string struct timestamp uint8 uint16 uint32 uint64
        """,
    _OBJECTS: """
        Batch BatchArray ListArray ObjectArray UTF8Array utf8 utf8_array vlbytes vlstring from_utf8
        to_utf8 list object object_ objectarray_from_cframe DeserializeMode UnsafeDeserializationError
        ChunkAlreadyWritten
        """,
    _SORT: "sort argsort iter_sorted take_along_axis",
}

MISSING: dict[str, str] = {
    name: f"blosc2c has no {name}: {reason}" for reason, names in _BY_REASON.items() for name in names.split()
}

_METHODS_BY_REASON: dict[str, str] = {
    _ENGINE: """
        all any argmax argmin cumulative_prod cumulative_sum max mean min prod std sum
        var where index indexes create_index drop_index rebuild_index
        compact_index
        """,
    _SORT: "sort argsort iter_sorted",
    _POINTERS: "as_ffi_ptr c_array c_schunk",
}


# Attributes of arrays and super-chunks, and why they are left out.
LEFT_OUT: dict[str, str] = {
    name: reason for reason, names in _METHODS_BY_REASON.items() for name in names.split()
}


def explain(name: str, known: list[str]) -> str:
    """The message for a name that the package does not have."""
    if name in MISSING:
        return MISSING[name]
    from .params import suggestion

    return f"module 'blosc2c' has no attribute {name!r}{suggestion(name, known)}"
