"""Generate the C source of the Python extension from headers.

usage: gen_ffi.py _b2c.c blosc2c.h other.h...

The text of each between the marks "cffi: begin" and "cffi: end" is plain C once two macros are gone, so
that the declarations exist in one place only.

SPDX-License-Identifier: BSD-3-Clause
"""

import re
import sys
from pathlib import Path

from cffi import FFI

BEGIN = "/* cffi: begin */"
END = "/* cffi: end */"

# Functions that C calls; reader.py, integrity.py, plugins.py, callbacks.py and _ffi.py define them.
CALLBACKS = """
extern "Python" int user_read_at(void *handle, uint64_t at, void *dst, size_t n);
extern "Python" int user_size(void *handle, uint64_t *size);
extern "Python" void user_close(void *handle);
extern "Python" int repair_note(void *handle, const b2c_repair_note *note);
extern "Python" int repair_progress(void *handle, uint64_t done, uint64_t total);
extern "Python" int repair_dtype(void *handle, const b2c_schunk *damaged, int *is_known);
extern "Python" int user_encode(void *user, const b2c_block *block, const void *src, size_t n,
                                void *dst, size_t cap, size_t *dst_len);
extern "Python" int user_decode(void *user, const b2c_block *block, const void *src, size_t src_len,
                                void *dst, size_t n);
extern "Python" int user_forward(void *user, const b2c_block *block, const void *src, void *dst, size_t n);
extern "Python" int user_backward(void *user, const b2c_block *block, const void *src, void *dst, size_t n);
extern "Python" int user_block(void *user, const b2c_block *block, const void *src, void *dst, size_t n);
extern "Python" void plugin_wanted(int kind, uint8_t id);
"""


def declarations(header: str) -> str:
    """The part of the header that cffi is to know, without macros."""
    if header.count(BEGIN) != 1 or header.count(END) != 1:
        raise SystemExit("gen_ffi.py: the header needs one pair of cffi marks")
    text = header.split(BEGIN)[1].split(END)[0]
    return re.sub(r"\b(B2C_API|B2C_MUST_USE)\b", "", text)


def main(source_path: str, *header_paths: str) -> None:
    ffi = FFI()
    for path in header_paths:
        ffi.cdef(declarations(Path(path).read_text(encoding="utf-8")))
    ffi.cdef(CALLBACKS)
    ffi.set_source("blosc2c._b2c", "".join(f'#include "{Path(path).name}"\n' for path in header_paths))
    ffi.emit_c_code(source_path)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
