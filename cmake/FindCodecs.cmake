# b2c_codecs: an interface target with the codec libraries and XXH3.
# SPDX-License-Identifier: BSD-3-Clause
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

add_library(b2c_codecs INTERFACE)

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
    set(${name}_FOUND ON PARENT_SCOPE)
endfunction()

# b2c_bundled_library(NAME definitions file…) compiles third_party/<name>, as released, into what
# links b2c_codecs, where nobody else sees its names.
function(b2c_bundled_library name definitions)
    string(TOLOWER "${name}" dir)
    add_library(b2c_${name} STATIC ${ARGN})
    target_include_directories(b2c_${name} SYSTEM INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/third_party/${dir}>)
    target_compile_definitions(b2c_${name} PRIVATE ${definitions})
    target_compile_options(b2c_${name} PRIVATE ${B2C_FAST_FLAGS} -w)
    if("address" IN_LIST B2C_SANITIZE) # what they do that is undefined is not ours to mend
        target_compile_options(b2c_${name} PRIVATE -fsanitize=address -fno-omit-frame-pointer)
    endif()
    set_target_properties(b2c_${name} PROPERTIES
        C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(b2c_codecs INTERFACE b2c_${name})
    target_compile_definitions(b2c_codecs INTERFACE B2I_HAVE_${name}=1 B2I_BUNDLED_${name}=1)
    message(STATUS "${name}: third_party/${dir}")
endfunction()

if(B2C_WITH_LZ4 AND B2C_SYSTEM_LIBS)
    b2c_find_library(LZ4 lz4hc.h lz4 liblz4)
    if(NOT LZ4_FOUND)
        b2c_missing("LZ4" liblz4-dev lz4-devel lz4 lz4-c "or use our copy: -DB2C_SYSTEM_LIBS=OFF")
    endif()
elseif(B2C_WITH_LZ4)
    b2c_bundled_library(LZ4 "LZ4LIB_VISIBILITY=" third_party/lz4/lz4.c third_party/lz4/lz4hc.c)
    # Registers are few in the loop over candidates: a twentieth faster.
    set_source_files_properties(third_party/lz4/lz4hc.c PROPERTIES
        COMPILE_OPTIONS $<$<C_COMPILER_ID:GNU>:-fno-tree-pre>)
endif()

if(B2C_WITH_ZSTD AND B2C_SYSTEM_LIBS)
    b2c_find_library(ZSTD zdict.h zstd libzstd)
    if(NOT ZSTD_FOUND)
        b2c_missing("Zstandard" libzstd-dev libzstd-devel zstd zstd
            "or use our copy: -DB2C_SYSTEM_LIBS=OFF")
    endif()
elseif(B2C_WITH_ZSTD)
    enable_language(ASM)
    file(GLOB zstd_files CONFIGURE_DEPENDS third_party/zstd/*/*.c third_party/zstd/*/*.S)
    b2c_bundled_library(ZSTD
        "XXH_NAMESPACE=ZSTD_;ZSTD_LEGACY_SUPPORT=0;ZSTDLIB_VISIBLE=;ZSTDERRORLIB_VISIBLE=;ZDICTLIB_VISIBLE="
        ${zstd_files})
    # Registers are few here, too, in the search of the library's levels 5 to 12: with periodic data
    # an eighth faster.
    set_source_files_properties(third_party/zstd/compress/zstd_lazy.c PROPERTIES
        COMPILE_OPTIONS $<$<C_COMPILER_ID:GNU>:-fno-gcse>)
endif()

if(B2C_WITH_ZLIB)
    set(LIBDEFLATE_FOUND OFF)
    if(B2C_WITH_LIBDEFLATE AND NOT B2C_SYSTEM_LIBS)
        file(GLOB libdeflate_files CONFIGURE_DEPENDS
            third_party/libdeflate/lib/*.c third_party/libdeflate/lib/*/*.c)
        b2c_bundled_library(LIBDEFLATE "" ${libdeflate_files})
        set(LIBDEFLATE_FOUND ON)
    elseif(B2C_WITH_LIBDEFLATE)
        b2c_find_library(LIBDEFLATE libdeflate.h deflate libdeflate)
    endif()
    if(NOT LIBDEFLATE_FOUND)
        b2c_find_library(ZLIB zlib.h z zlib)
        if(NOT ZLIB_FOUND)
            b2c_missing("Neither libdeflate nor zlib" libdeflate-dev libdeflate-devel libdeflate
                libdeflate "(zlib does as well), or use our copy of libdeflate: -DB2C_SYSTEM_LIBS=OFF")
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
