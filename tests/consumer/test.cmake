# Installs the build tree to a folder of its own, builds the consumer of it, and runs that.
# Then does the same with the examples, and runs their tests.
#   cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DEXAMPLES_DIR=... -DWORK_DIR=... -DCXX=... -P test.cmake
set(prefix ${WORK_DIR}/prefix)
set(expected "5 of 6, then wait 60 s\nafter it: within_limit\n4 left in this minute\nstores: 11\n")

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(build source_dir build_dir)
  step(${CMAKE_COMMAND} -S ${source_dir} -B ${build_dir} -G Ninja
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${prefix})
  step(${CMAKE_COMMAND} --build ${build_dir})
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
build(${SOURCE_DIR} ${WORK_DIR}/build)
execute_process(COMMAND ${WORK_DIR}/build/consumer OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the consumer said:\n${output}\nexpected:\n${expected}")
endif()

execute_process(COMMAND ${prefix}/bin/brim --version OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "0\\.1\\.0")
  message(FATAL_ERROR "the installed program said: ${output}")
endif()

build(${EXAMPLES_DIR} ${WORK_DIR}/examples)
step(ctest --test-dir ${WORK_DIR}/examples --output-on-failure --no-tests=error)
