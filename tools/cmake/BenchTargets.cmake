# Defines the project's targets: one call per library, program or test.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Programs find their libraries by relative paths, both in a build and after installation.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

option(BENCH_WARNINGS_AS_ERRORS "Warnings are errors" OFF)
set(BENCH_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (address,undefined or thread)")
option(BENCH_SANITIZE_WHOLE "With BENCH_SANITIZE: also the checks that take long to compile" OFF)
option(BENCH_VERIFY_HEADERS "Compile alone every header that is not the first include of its source" OFF)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ${BENCH_VERIFY_HEADERS})
option(BENCH_UNITY "Compile several sources of a target as one file (CMake's unity build)" ON)

find_program(BENCH_CCACHE ccache)
if(BENCH_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${BENCH_CCACHE}")
endif()

add_library(bench_options INTERFACE)
target_include_directories(bench_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_options(bench_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual)
# GCC 12 reports a false positive for `"literal" + string` (GCC bug 105651).
target_compile_options(bench_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Highway compiles a vector file once per instruction set: SSE2, AVX2 and AVX-512.
target_compile_definitions(bench_options INTERFACE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
if(BENCH_WARNINGS_AS_ERRORS)
  target_compile_options(bench_options INTERFACE -Werror)
endif()
if(BENCH_SANITIZE)
  target_compile_options(bench_options INTERFACE -fsanitize=${BENCH_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  if(BENCH_SANITIZE MATCHES undefined AND NOT BENCH_SANITIZE_WHOLE)
    # These checks take half of the compile time.
    target_compile_options(
      bench_options INTERFACE -fno-sanitize=pointer-overflow,alignment,null,vptr,nonnull-attribute,returns-nonnull-attribute)
  endif()
  # With sanitizers, GCC reports false positives. Builds without sanitizers keep the warning.
  target_compile_options(bench_options INTERFACE -Wno-maybe-uninitialized)
  target_link_options(bench_options INTERFACE -fsanitize=${BENCH_SANITIZE})
endif()

# Halves the compile time of a target. It joins the sources, or with `separate` uses a precompiled header of the
# standard library.
function(bench_compile_fast target separate)
  if(BENCH_UNITY AND separate)
    target_precompile_headers(${target} PRIVATE ${BENCH_PRECOMPILED})
  elseif(BENCH_UNITY)
    bench_unite(${target})
  endif()
endfunction()
function(bench_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()
set(BENCH_PRECOMPILED <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <sstream> <string>
                      <string_view> <vector> <fmt/core.h>)

# Marks files with vector kernels. They get no precompiled header, because GCC would compile their functions with the
# header's options instead of -ffp-contract. Without use-after-scope, a build with sanitizers takes a fifth of the time.
function(bench_vector_files)
  if(BENCH_SANITIZE MATCHES address)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize-address-use-after-scope)
  endif()
  set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The core that programs and plug-ins share. It must be one library, because ops are identified by the address of their
# definition. It contains the libraries that bench_library marks as CORE.
add_library(bench_core SHARED)
target_link_libraries(bench_core PRIVATE bench_options)
set_target_properties(bench_core PROPERTIES LINKER_LANGUAGE CXX BUILD_WITH_INSTALL_RPATH ON
                      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# bench_library(NAME [CORE] [SEPARATE | VECTOR] [FOLDER folder]
#               SOURCES a.cc... HEADERS a.h... LINK public... PRIVATE_LINK private...)
# FOLDER adds all sources of a folder, and all its headers if HEADERS is empty. Use it for folders with a file per op or
# network. A row in their .inc names each file, so a missing file causes a link error.
# CORE links the library only into bench_core. SEPARATE, here and below, compiles each file alone, because the files use
# the same names. VECTOR marks all files as vector kernels.
function(bench_library name)
  cmake_parse_arguments(arg "CORE;SEPARATE;VECTOR" "FOLDER" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  if(arg_FOLDER)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*.cc")
    file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*.h")
    list(APPEND arg_SOURCES ${sources})
    if(NOT arg_HEADERS)
      set(arg_HEADERS ${headers})
    endif()
  endif()
  set(compiled ${name})
  set(scope PUBLIC)
  if(arg_CORE)
    set(compiled ${name}_objects)
    set(scope INTERFACE)
    add_library(${compiled} OBJECT ${arg_SOURCES})
    set_target_properties(${compiled} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Exclude the core's other libraries, because the core contains this one too.
    set(others ${arg_LINK})
    get_property(core GLOBAL PROPERTY BENCH_CORE_LIBRARIES)
    list(REMOVE_ITEM others ${core})
    target_link_libraries(${compiled} PRIVATE bench_options ${others} ${arg_PRIVATE_LINK})
    target_sources(bench_core PRIVATE $<TARGET_OBJECTS:${compiled}>)
    target_link_libraries(bench_core PRIVATE ${others} ${arg_PRIVATE_LINK})
    set_property(GLOBAL APPEND PROPERTY BENCH_CORE_LIBRARIES ${name})
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE bench_options bench_core ${arg_LINK})
  else()
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC bench_options ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  endif()
  # If the source with the header's name includes it first (tools/check_layers.py), it is already compiled alone there.
  set(met)
  set(alone)
  foreach(header IN LISTS arg_HEADERS)
    string(REGEX REPLACE "\\.h$" ".cc" source "${header}")
    if(source IN_LIST arg_SOURCES)
      list(APPEND met "${header}")
    else()
      list(APPEND alone "${header}")
    endif()
  endforeach()
  target_sources(${name} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${met})
  target_sources(${name} ${scope} FILE_SET alone TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${alone})
  set_target_properties(${name} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY alone)
  if(arg_VECTOR)
    bench_vector_files(${arg_SOURCES})
  else()
    bench_compile_fast(${compiled} ${arg_SEPARATE})
  endif()
endfunction()

# bench_program(NAME SOURCES a.cc... LINK libraries...)
function(bench_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bench_options ${arg_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()

# All test programs with label `quick`, which the sanitizers' runs need.
add_custom_target(quick_tests)

# Compiles the headers of GoogleTest once for all tests.
function(bench_test_header)
  file(WRITE "${PROJECT_BINARY_DIR}/generated/test_header.cc" "")
  add_library(bench_test_header OBJECT "${PROJECT_BINARY_DIR}/generated/test_header.cc")
  target_link_libraries(bench_test_header PRIVATE bench_options fmt::fmt GTest::gtest GTest::gmock)
  target_compile_options(bench_test_header PRIVATE ${BENCH_TEST_OPTIONS})
  target_precompile_headers(bench_test_header PRIVATE ${BENCH_PRECOMPILED} <gmock/gmock.h> <gtest/gtest.h>)
endfunction()
# Tests compile with little optimisation, which takes a third less time in a release and half in other builds. The code
# under test is fully optimised.
set(BENCH_TEST_OPTIONS $<IF:$<CONFIG:Release>,-O1,-O0>)

# bench_test(NAME [SEPARATE] [LONG] [SAMPLE parts] SOURCES a_test.cc... LINK libraries... LABELS labels...)
# Each test program is one ctest entry. Labels: `quick` runs it with sanitizers, `tsan` marks tests with threads of
# ours, and `isa` marks tests that depend on the processor's instructions.
# SAMPLE runs one of that many parts, a different one each day. LONG makes ctest start the test before the others, so
# that they do not wait for it at the end.
function(bench_test name)
  cmake_parse_arguments(arg "SEPARATE;LONG" "SAMPLE" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bench_options ${arg_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${BENCH_TEST_OPTIONS})
  if(arg_SAMPLE)
    add_test(NAME ${name}
      COMMAND "${PROJECT_SOURCE_DIR}/tools/sample" gtest ${arg_SAMPLE} $<TARGET_FILE:${name}> --gtest_brief=1)
  else()
    add_test(NAME ${name} COMMAND ${name})
  endif()
  # Parallel tests need more threads than there are processors, so waiting threads must not spin.
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT OMP_WAIT_POLICY=passive)
  if(arg_LONG)
    set_tests_properties(${name} PROPERTIES COST 60)
  endif()
  if("quick" IN_LIST arg_LABELS)
    add_dependencies(quick_tests ${name})
  endif()
  if(BENCH_UNITY)
    if(NOT TARGET bench_test_header)
      bench_test_header()
    endif()
    target_precompile_headers(${name} REUSE_FROM bench_test_header)
    if(NOT arg_SEPARATE)
      bench_unite(${name})
    endif()
  endif()
endfunction()
