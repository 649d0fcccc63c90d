# The extension is generated from blosc2c.h; only _ffi.py imports it.
from typing import Any

ffi: Any
lib: Any
