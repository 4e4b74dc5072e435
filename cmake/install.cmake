# Everything `cmake --install` puts on a machine: the libraries, the public headers, the program,
# and what find_package(pibinn) and pkg-config read.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pibinn)

# While the version starts with 0 a minor release may break the binary interface.
if(PIBINN_SHARED)
  set_target_properties(pibinn_shared PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
install(TARGETS ${PIBINN_LIBRARIES} EXPORT pibinn_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pibinn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

if(TARGET pibinn_program)
  install(TARGETS pibinn_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pibinnConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/pibinnConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pibinnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

# pkg-config finds the prefix by the place of the file, so that the prefix may be moved.
file(RELATIVE_PATH PIBINN_PC_TO_PREFIX
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" PIBINN_PC_TO_PREFIX "${PIBINN_PC_TO_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/pibinn.pc.in ${PROJECT_BINARY_DIR}/pibinn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pibinn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(EXPORT pibinn_targets NAMESPACE pibinn:: FILE pibinnTargets.cmake
        DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/pibinnConfig.cmake
              ${PROJECT_BINARY_DIR}/pibinnConfigVersion.cmake
        DESTINATION ${package_dir})
