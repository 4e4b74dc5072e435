# Everything `cmake --install` puts on a machine: the library, the public headers, the program, and
# the package that find_package(pibinn) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pibinn)

# While the version starts with 0 a minor release may break the binary interface.
set_target_properties(pibinn PROPERTIES VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS pibinn EXPORT pibinn_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pibinn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

if(TARGET pibinn_program)
  # The program finds a shared library beside it, wherever the prefix is moved to.
  file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(pibinn_program PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  install(TARGETS pibinn_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

get_target_property(PIBINN_LIBRARY_TYPE pibinn TYPE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pibinnConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/pibinnConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pibinnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(EXPORT pibinn_targets NAMESPACE pibinn:: FILE pibinnTargets.cmake
        DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/pibinnConfig.cmake
              ${PROJECT_BINARY_DIR}/pibinnConfigVersion.cmake
        DESTINATION ${package_dir})
