# Fuzz targets: with an engine (libFuzzer, AFL++), or as programs that replay their corpora.
# SPDX-License-Identifier: BSD-3-Clause

file(GLOB fuzz_targets CONFIGURE_DEPENDS fuzz/fuzz_*.c)
list(FILTER fuzz_targets EXCLUDE REGEX "fuzz_main\\.c$")

# The mutator, which uses parts of the library.
function(b2c_fuzz_mutator name type)
    file(GLOB sources CONFIGURE_DEPENDS fuzz/mutate*.c)
    add_library(${name} ${type} ${sources})
    target_include_directories(${name} PRIVATE ${include_dirs})
    target_link_libraries(${name} PRIVATE b2c_testcore b2c_needs)
    set_target_properties(${name} PROPERTIES
        C_STANDARD 99 C_STANDARD_REQUIRED ON POSITION_INDEPENDENT_CODE ON)
    if(NOT B2C_FUZZ_ENGINE)
        target_compile_definitions(${name} PRIVATE B2C_MUTATE_ALONE)
    endif()
endfunction()

b2c_fuzz_mutator(b2c_mutator STATIC)
if(NOT B2C_FUZZ_ENGINE)
    b2c_fuzz_mutator(b2c_mutate MODULE) # for AFL++: AFL_CUSTOM_MUTATOR_LIBRARY=libb2c_mutate.so
endif()

# A target that replays its corpus in each of the modes of fuzz_main.c.
function(b2c_fuzz_replay name corpus)
    b2c_test_program(${name} "fuzz/${name}.c" fuzz/fuzz_main.c)
    target_link_libraries(${name} PRIVATE b2c_mutator)
    set(modes replay guard alloc mutate)
    if(corpus STREQUAL "edit")
        set(modes replay guard mutate) # its model does not know of failures; test_faults does
    endif()
    foreach(mode IN LISTS modes)
        set(option "")
        if(NOT mode STREQUAL "replay")
            set(option --${mode})
        endif()
        add_test(NAME ${mode}_${corpus} COMMAND ${name} ${option} ${ARGN})
        set_tests_properties(${mode}_${corpus} PROPERTIES TIMEOUT 900)
    endforeach()
endfunction()

foreach(file IN LISTS fuzz_targets)
    get_filename_component(name "${file}" NAME_WE)
    string(REPLACE "fuzz_" "" corpus "${name}")
    set(corpora "${PROJECT_SOURCE_DIR}/fuzz/corpus/${corpus}")
    if(corpus STREQUAL "repair")
        list(APPEND corpora "${PROJECT_SOURCE_DIR}/fuzz/corpus/file") # has the same inputs
    endif()
    if(B2C_FUZZ_ENGINE)
        b2c_test_program(${name} "${file}" fuzz/engine.c)
        # The engine looks for the mutator by its name: all of it is linked.
        target_link_libraries(${name} PRIVATE -Wl,--whole-archive b2c_mutator -Wl,--no-whole-archive)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        b2c_fuzz_replay(${name} ${corpus} ${corpora})
    endif()
    # A fuzz target may not care whether a call fails; gcc ignores the cast to void.
    target_compile_options(${name} PRIVATE -Wno-unused-result)
endforeach()
