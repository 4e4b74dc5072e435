# The module for many machines, libpibinn_mpi.so, which the program loads when mpirun or srun started
# it (src/core/module.hpp). Nothing else is linked with MPI.
if(PIBINN_MPI STREQUAL "OFF" OR CMAKE_CROSSCOMPILING)
  return()
endif()
include(GNUInstallDirs)
if(PIBINN_MPI STREQUAL "AUTO")
  find_package(MPI 3 QUIET COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(STATUS "MPI: not found, so that a start by mpirun is refused")
    return()
  endif()
else()
  find_package(MPI 3 REQUIRED COMPONENTS C)
endif()

file(GLOB mpi_sources CONFIGURE_DEPENDS src/core/mpi/*.cpp)
# Errors are thrown on both sides of the module, which has its own copy of what throws them.
add_library(pibinn_mpi MODULE ${mpi_sources} src/core/error.cpp src/core/escape.cpp)
set_target_properties(pibinn_mpi PROPERTIES UNITY_BUILD OFF
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(pibinn_mpi PRIVATE include src)
target_compile_definitions(pibinn_mpi PRIVATE PIBINN_VERSION="${PROJECT_VERSION}")
target_link_libraries(pibinn_mpi PRIVATE MPI::MPI_C fmt::fmt pibinn_flags)
add_dependencies(pibinn_modules pibinn_mpi)
install(TARGETS pibinn_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
