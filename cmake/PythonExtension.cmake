# The extension module blosc2c/_b2c: cffi code generated from headers, plus csrc/python and the core.
# SPDX-License-Identifier: BSD-3-Clause
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)

set(generated "${PROJECT_BINARY_DIR}/_b2c.c")
set(bound_headers
    "${PROJECT_SOURCE_DIR}/csrc/include/blosc2c.h" "${PROJECT_SOURCE_DIR}/csrc/io/lock.h"
    "${PROJECT_SOURCE_DIR}/csrc/python/turn.h")
add_custom_command(OUTPUT "${generated}"
    COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/gen_ffi.py"
            "${generated}" ${bound_headers}
    DEPENDS tools/gen_ffi.py ${bound_headers}
    COMMENT "Generating the Python binding from the headers"
    VERBATIM)

# Free-threaded builds of Python have no stable ABI: they get a module of their own version.
execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
            "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    OUTPUT_VARIABLE gil_disabled OUTPUT_STRIP_TRAILING_WHITESPACE)

Python_add_library(_b2c MODULE "${generated}" csrc/python/calls.c csrc/python/calls_chunk.c
    csrc/python/calls_edit.c csrc/python/desk.c csrc/python/turn.c)
target_include_directories(_b2c PRIVATE ${include_dirs} csrc/python)
if(gil_disabled)
    set_target_properties(_b2c PROPERTIES SUFFIX ".${Python_SOABI}.so")
else()
    target_compile_definitions(_b2c PRIVATE Py_LIMITED_API=0x030A0000)
    set_target_properties(_b2c PROPERTIES SUFFIX ".abi3.so")
endif()
target_link_libraries(_b2c PRIVATE b2c_core b2c_needs)
# cffi's own code is not ours to warn about.
set_source_files_properties("${generated}" PROPERTIES COMPILE_OPTIONS -w)
set_target_properties(_b2c PROPERTIES
    C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/blosc2c")
b2c_hide_static_libs(_b2c)
install(TARGETS _b2c LIBRARY DESTINATION blosc2c COMPONENT python)
