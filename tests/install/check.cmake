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

run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${work}/outside -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DEXPECTED_VERSION=${VERSION} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
run(${CMAKE_COMMAND} --build ${work}/outside)
run(${work}/outside/outside)
expect_output("^pibinn ${VERSION} measures\n")

if(EXISTS ${BUILD_DIR}/pibinn)
  run(${prefix}/bin/pibinn --version)
  expect_output("${VERSION}")
  run(${prefix}/bin/pibinn init --set model.layers=2 --out ${work}/model.safetensors)
  run(${work}/outside/outside_c ${work}/model.safetensors)
  expect_output("^100 entries from 50 measurements\n")
endif()
