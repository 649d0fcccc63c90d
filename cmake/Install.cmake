# What C programs need: header, shared library, CMake package and pkg-config file.
# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/blosc2c")
install(TARGETS blosc2c EXPORT blosc2c-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT devel)
install(FILES csrc/include/blosc2c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)

install(EXPORT blosc2c-targets NAMESPACE blosc2c:: DESTINATION ${package_dir} COMPONENT devel)
configure_package_config_file(cmake/blosc2c-config.cmake.in blosc2c-config.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(blosc2c-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/blosc2c-config.cmake"
              "${PROJECT_BINARY_DIR}/blosc2c-config-version.cmake"
    DESTINATION ${package_dir} COMPONENT devel)

# From the .pc file to the prefix by a relative path, so that the tree can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(B2C_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
    set(B2C_PC_LIBDIR "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(B2C_PC_INCLUDEDIR "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(B2C_PC_PREFIX "\${pcfiledir}/${up}")
    set(B2C_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(B2C_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/blosc2c.pc.in blosc2c.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/blosc2c.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
