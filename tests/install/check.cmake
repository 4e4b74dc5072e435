# Installs a build tree to a prefix, moves the prefix, and lets an outside project build against it.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${command}\nended with ${status}:\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

function(expect_output what)
  if(NOT output MATCHES "${what}")
    message(FATAL_ERROR "expected '${what}', got:\n${output}")
  endif()
endfunction()

set(work ${BUILD_DIR}/install-test)
set(prefix ${work}/moved)
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/first)
file(RENAME ${work}/first ${prefix})

# All public headers and nothing else.
file(GLOB public RELATIVE ${REPOSITORY}/include ${REPOSITORY}/include/pibinn/*)
file(GLOB_RECURSE installed RELATIVE ${prefix}/include ${prefix}/include/*)
if(NOT public STREQUAL installed)
  message(FATAL_ERROR "public headers: ${public}\ninstalled headers: ${installed}")
endif()

# The package says nothing of the machine it was built on, nor of what is private to the build.
file(GLOB_RECURSE package ${prefix}/*.cmake)
foreach(file ${package})
  file(READ ${file} text)
  foreach(leak ${REPOSITORY} ${BUILD_DIR} nlohmann Eigen pibinn_flags)
    string(FIND "${text}" "${leak}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} mentions ${leak}")
    endif()
  endforeach()
endforeach()

# The C++ of the README, cut out of it.
file(READ ${REPOSITORY}/README.md readme)
string(FIND "${readme}" "```cpp\n" begin)
string(SUBSTRING "${readme}" ${begin} -1 readme)
string(SUBSTRING "${readme}" 7 -1 readme)
string(FIND "${readme}" "```" end)
string(SUBSTRING "${readme}" 0 ${end} readme)
file(WRITE ${work}/readme.inc "${readme}")

run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${work}/outside -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DREADME_FOLDER=${work} -DEXPECTED_VERSION=${VERSION} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS}
    # A sanitizer has to be linked into a program of C too, before the library that needs it.
    -DCMAKE_EXE_LINKER_FLAGS=${LINKER_FLAGS})
run(${CMAKE_COMMAND} --build ${work}/outside)
run(${work}/outside/outside)
expect_output("^pibinn ${VERSION} measures\n")
run(${CMAKE_COMMAND} -E chdir ${work} ${work}/outside/readme)
expect_output("nmse -")

# pkg-config names the same library, wherever the prefix stands.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE pc ${prefix}/*/pibinn.pc)
  get_filename_component(pc_folder "${pc}" DIRECTORY)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder} ${PKG_CONFIG} --modversion pibinn)
  expect_output("^${VERSION}\n")
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder}
      ${PKG_CONFIG} --variable=includedir pibinn)
  string(STRIP "${output}" includes)
  if(NOT EXISTS ${includes}/pibinn/pibinn.hpp)
    message(FATAL_ERROR "pkg-config names ${includes}, which holds no pibinn/pibinn.hpp")
  endif()
endif()

# Of the programs only pibinn: parts of the benchmark are compiled for the machine that built it.
file(GLOB programs RELATIVE ${prefix}/bin ${prefix}/bin/*)
if(programs AND NOT programs STREQUAL "pibinn")
  message(FATAL_ERROR "installed programs: ${programs}")
endif()

if(EXISTS ${BUILD_DIR}/pibinn)
  run(${prefix}/bin/pibinn --version)
  expect_output("${VERSION}")
  run(${prefix}/bin/pibinn init --set model.layers=2 --out ${work}/model.safetensors)
  run(${work}/outside/outside_c ${work}/model.safetensors)
  expect_output("^100 entries from 50 measurements\n")
endif()
