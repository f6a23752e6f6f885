# The helpers that every CMakeLists.txt of brim uses, and the compiler settings they share.
include(GNUInstallDirs)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Boost 1.81 REQUIRED)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(brim_options INTERFACE)
target_compile_features(brim_options INTERFACE cxx_std_20)
target_compile_options(brim_options INTERFACE -Wall -Wextra -Werror -Wnon-virtual-dtor -Wimplicit-fallthrough
  # g++ 12 sees an overlap in `"literal" + string` that is not there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # It joins fields that were just written one by one to loads of 16 bytes, which have to wait for the
  # writes to leave the store buffer: some 5 ns each, several a check.
  $<$<CXX_COMPILER_ID:GNU>:-fno-tree-slp-vectorize>)
target_include_directories(brim_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(BRIM_SANITIZE)
  target_compile_options(brim_options INTERFACE
    -fsanitize=${BRIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(brim_options INTERFACE -fsanitize=${BRIM_SANITIZE})
  # What g++ 12 thinks of the flow in instrumented code is often wrong, in the standard library's too; the
  # plain build, with the same warnings as errors, has the say.
  target_compile_options(brim_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-error>)
  if(BRIM_SANITIZE MATCHES "thread")
    # Asio uses atomic_thread_fence, which g++ warns about under the thread sanitizer.
    target_compile_options(brim_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()

if(BRIM_FUZZ)
  # All of brim is watched for coverage; brim_fuzz adds the driver.
  target_compile_options(brim_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# brim_library(NAME SRCS ... DEPS ...): the library of one folder, `brim_NAME`. DEPS are folders to its
# right in docs/architecture.md, or outside libraries. cmake/install.cmake says which go into libbrim.a.
function(brim_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(brim_${name} STATIC ${ARG_SRCS})
  target_link_libraries(brim_${name} PUBLIC brim_options ${ARG_DEPS})
endfunction()

# brim_add_test(NAME LABEL COMMAND ...): one ctest entry. The label is its lane: `fast` needs nothing,
# `server` starts real servers, `slow` waits for real. Under a sanitizer all takes longer.
function(brim_add_test name label)
  add_test(NAME ${name} ${ARGN})
  set(timeout 120)
  if(label STREQUAL "slow" OR BRIM_SANITIZE)
    set(timeout 600)
  endif()
  # Where tools/setup puts the server; a test that needs it fails if it is not there.
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout}
    ENVIRONMENT "BRIM_VALKEY_SERVER=${PROJECT_SOURCE_DIR}/.venv/bin/valkey-server")
endfunction()

# brim_test(NAME SRCS ... DEPS ... [LABEL fast|server|slow]): one GoogleTest program, one ctest entry.
function(brim_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SRCS;DEPS" ${ARGN})
  if(NOT BRIM_TESTS)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  brim_add_test(${name} ${ARG_LABEL} COMMAND ${name})
endfunction()

# brim_fuzz(NAME SRCS ... DEPS ...): one libFuzzer target, NAME ends in _fuzz; seeds are in
# tests/fuzz/seeds/NAME.
function(brim_fuzz name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  if(NOT BRIM_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endfunction()

# brim_bench(NAME SRCS ... DEPS ...): one Google Benchmark program, NAME ends in _bench. Sources may lie
# beside the code they measure, as x_bench.cc.
function(brim_bench name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  if(NOT BRIM_BENCH)
    return()
  endif()
  find_package(benchmark REQUIRED)
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} benchmark::benchmark_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()
