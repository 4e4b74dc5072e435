# Cross-compiles for 64-bit ARM under Linux. scripts/setup-aarch64 fills the sysroot; tests run under
# qemu. Usage: cmake --preset aarch64
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64/sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(libraries ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${libraries}/pkgconfig:${libraries}/openblas-pthread/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
# Libraries that others need, in folders which postinst scripts of Debian would link to.
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-L${libraries}/openblas-pthread -L${libraries}/hdf5/serial \
-Wl,-rpath-link,${libraries}:${libraries}/openblas-pthread:${libraries}/hdf5/serial")
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64 -L ${CMAKE_SYSROOT} -E
    LD_LIBRARY_PATH=${libraries}:${libraries}/openblas-pthread:${libraries}/hdf5/serial:${CMAKE_SYSROOT}/lib/aarch64-linux-gnu)
