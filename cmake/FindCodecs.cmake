# b2c_codecs: an interface target with the codec libraries of the system, and XXH3.
# SPDX-License-Identifier: BSD-3-Clause
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

add_library(b2c_codecs INTERFACE)
set(B2C_PC_REQUIRES "")

# Where a library was not found: what to install, or how to do without.
function(b2c_missing what debian fedora brew conda without)
    message(FATAL_ERROR
        "${what} was not found.  Install it:\n"
        "  Debian, Ubuntu:  apt install ${debian}\n"
        "  Fedora:          dnf install ${fedora}\n"
        "  Homebrew:        brew install ${brew}\n"
        "  conda:           conda install -c conda-forge ${conda}\n"
        "${without}")
endfunction()

# b2c_find_library(NAME header library pkg-config-name) sets NAME_FOUND and links what it found.
function(b2c_find_library name header library pc)
    if(PKG_CONFIG_FOUND AND NOT CMAKE_CROSSCOMPILING)
        pkg_check_modules(PC_${name} QUIET ${pc})
    endif()
    find_path(${name}_INCLUDE_DIR ${header} HINTS ${PC_${name}_INCLUDE_DIRS})
    find_library(${name}_LIBRARY ${library} HINTS ${PC_${name}_LIBRARY_DIRS})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    if(NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY)
        set(${name}_FOUND OFF PARENT_SCOPE)
        return()
    endif()
    message(STATUS "Found ${name}: ${${name}_LIBRARY}")
    add_library(b2c_${name} UNKNOWN IMPORTED)
    set_target_properties(b2c_${name} PROPERTIES
        IMPORTED_LOCATION "${${name}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
    target_link_libraries(b2c_codecs INTERFACE b2c_${name})
    target_compile_definitions(b2c_codecs INTERFACE B2I_HAVE_${name}=1)
    set(B2C_PC_REQUIRES "${B2C_PC_REQUIRES} ${pc}" PARENT_SCOPE)
    set(${name}_FOUND ON PARENT_SCOPE)
endfunction()

if(B2C_WITH_LZ4)
    b2c_find_library(LZ4 lz4hc.h lz4 liblz4)
    if(NOT LZ4_FOUND)
        b2c_missing("LZ4" liblz4-dev lz4-devel lz4 lz4-c "or build without it: -DB2C_WITH_LZ4=OFF")
    endif()
endif()

if(B2C_WITH_ZSTD)
    b2c_find_library(ZSTD zdict.h zstd libzstd)
    if(NOT ZSTD_FOUND)
        b2c_missing("Zstandard" libzstd-dev libzstd-devel zstd zstd
            "or build without it: -DB2C_WITH_ZSTD=OFF")
    endif()
endif()

if(B2C_WITH_ZLIB)
    set(LIBDEFLATE_FOUND OFF)
    if(B2C_WITH_LIBDEFLATE)
        b2c_find_library(LIBDEFLATE libdeflate.h deflate libdeflate)
    endif()
    if(NOT LIBDEFLATE_FOUND)
        b2c_find_library(ZLIB zlib.h z zlib)
        if(NOT ZLIB_FOUND)
            b2c_missing("Neither libdeflate nor zlib" libdeflate-dev libdeflate-devel libdeflate
                libdeflate "(zlib does as well), or build without them: -DB2C_WITH_ZLIB=OFF")
        endif()
    endif()
endif()

# ZFP, when it is there; its streams are little-endian and so are the items that it is given.
if(B2C_WITH_ZFP)
    include(TestBigEndian)
    test_big_endian(B2C_BIG_ENDIAN)
    if(NOT B2C_BIG_ENDIAN)
        b2c_find_library(ZFP zfp.h zfp libzfp)
        if(ZFP_FOUND)
            target_link_libraries(b2c_codecs INTERFACE m)
        endif()
    endif()
endif()

# Checksums: XXH3 is compiled in from its header, so there is nothing to link.
find_path(B2C_XXHASH_INCLUDE_DIR xxhash.h DOC "Folder that holds xxhash.h")
mark_as_advanced(B2C_XXHASH_INCLUDE_DIR)
if(NOT B2C_XXHASH_INCLUDE_DIR)
    b2c_missing("xxhash.h" libxxhash-dev xxhash-devel xxhash xxhash
        "or say where it is: -DB2C_XXHASH_INCLUDE_DIR=<folder>.  It cannot be left out.")
endif()
target_include_directories(b2c_codecs SYSTEM INTERFACE "${B2C_XXHASH_INCLUDE_DIR}")

# Codec libraries that come as archives must not become exports of ours.
function(b2c_hide_static_libs target)
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
        target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
    endif()
endfunction()
