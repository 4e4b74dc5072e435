# Writes HEADER with the commit of SOURCE, and leaves a header alone that says so already, so that a
# build without a new commit compiles nothing. Run by a target of every build.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE status)
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-prefix
                OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# A copy without a repository of its own may lie inside of another one.
if(NOT status EQUAL 0 OR NOT "${prefix}" STREQUAL "")
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define PIBINN_COMMIT \"@commit@\"\n" @ONLY)
