# The module for CUDA devices, libpibinn_cuda.so, which the library loads when one is asked for
# (src/core/cuda_module.hpp). Nothing else is linked with CUDA.
# The kernel of small blocks is written in instructions that only Hopper has (sm_90a).
set(PIBINN_CUDA_ARCHITECTURES 90a CACHE STRING "CUDA architectures to compile for")
if(PIBINN_CUDA STREQUAL "OFF" OR CMAKE_CROSSCOMPILING)
  return()
endif()
include(CheckLanguage)
include(GNUInstallDirs)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(NOT PIBINN_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "PIBINN_CUDA=${PIBINN_CUDA}, but there is no nvcc; install CUDA 13")
  endif()
  message(STATUS "CUDA: no nvcc, so that --device cuda is refused")
  return()
endif()
set(CMAKE_CUDA_ARCHITECTURES ${PIBINN_CUDA_ARCHITECTURES})
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 13 has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS src/*/cuda/*.cu)
# Errors are thrown on both sides of the module, which has its own copy of what throws them.
add_library(pibinn_cuda MODULE ${cuda_sources} src/core/error.cpp src/core/escape.cpp)
set_target_properties(pibinn_cuda PROPERTIES UNITY_BUILD OFF CUDA_RUNTIME_LIBRARY Static
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} INSTALL_RPATH_USE_LINK_PATH ON)
target_include_directories(pibinn_cuda PRIVATE include src)
target_compile_definitions(pibinn_cuda PRIVATE PIBINN_VERSION="${PROJECT_VERSION}")
# Kernels call constexpr functions that the tests of the processor check.
target_compile_options(pibinn_cuda PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--expt-relaxed-constexpr>")
target_link_libraries(pibinn_cuda PRIVATE CUDA::cublas fmt::fmt)
add_dependencies(pibinn_modules pibinn_cuda)
install(TARGETS pibinn_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
