# b2c_add_isa(): files for one instruction set, compiled with its flags and nobody else's.
# SPDX-License-Identifier: BSD-3-Clause
include(CheckCCompilerFlag)

# b2c_add_isa(NAME processors [flag…]) adds csrc/*/*_<name>.c to 'sources' and defines
# B2I_HAVE_<NAME>, where the machine is one of 'processors' (a regular expression) and the
# compiler knows the flags.
macro(b2c_add_isa name processors)
    string(TOLOWER "${name}" isa_lower)
    file(GLOB isa_files CONFIGURE_DEPENDS csrc/*/*_${isa_lower}.c)
    set(isa_flags ${ARGN})
    set(B2C_FLAG_${name} ON)
    if(isa_flags)
        list(JOIN isa_flags " " isa_text)
        check_c_compiler_flag("${isa_text}" B2C_FLAG_${name})
    endif()
    # A build for several architectures at once has no flags that suit all of them.
    list(LENGTH CMAKE_OSX_ARCHITECTURES isa_archs)
    if(isa_files AND B2C_FLAG_${name} AND isa_archs LESS 2
       AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(${processors})$")
        list(APPEND sources ${isa_files})
        # Link-time optimisation could move such code to where the processor was not asked.
        set_source_files_properties(${isa_files} PROPERTIES COMPILE_OPTIONS "${isa_flags};-fno-lto")
        target_compile_definitions(b2c_needs INTERFACE B2I_HAVE_${name}=1)
    endif()
endmacro()
