# How this project makes targets: one call per library, program or test.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Programs find the libraries that come with them from where they lie, in a build and installed.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

option(BENCH_WARNINGS_AS_ERRORS "Warnings are errors" OFF)
set(BENCH_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (address,undefined or thread)")
option(BENCH_VERIFY_HEADERS "Compile every header alone" OFF)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ${BENCH_VERIFY_HEADERS})

find_program(BENCH_CCACHE ccache)
if(BENCH_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${BENCH_CCACHE}")
endif()

add_library(bench_options INTERFACE)
target_include_directories(bench_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_options(bench_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual)
if(BENCH_WARNINGS_AS_ERRORS)
  target_compile_options(bench_options INTERFACE -Werror)
endif()
if(BENCH_SANITIZE)
  target_compile_options(bench_options INTERFACE -fsanitize=${BENCH_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(bench_options INTERFACE -fsanitize=${BENCH_SANITIZE})
  # The vector files take minutes each: two instruction sets less, between the plain one and AVX2.
  target_compile_definitions(bench_options INTERFACE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
endif()

# bench_library(NAME [FOLDER folder] SOURCES a.cc... HEADERS a.h... LINK public... PRIVATE_LINK private...)
# FOLDER stands for all sources of a folder, and for all its headers where HEADERS names none. It is for folders
# that get a file per op or network: a row in their .inc names each, so that a file that is missing does not link.
function(bench_library name)
  cmake_parse_arguments(arg "" "FOLDER" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  if(arg_FOLDER)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*.cc")
    file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*.h")
    list(APPEND arg_SOURCES ${sources})
    if(NOT arg_HEADERS)
      set(arg_HEADERS ${headers})
    endif()
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  target_link_libraries(${name} PUBLIC bench_options ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
endfunction()

# bench_program(NAME SOURCES a.cc... LINK libraries...)
function(bench_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bench_options ${arg_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()

# bench_test(NAME SOURCES a_test.cc... LINK libraries... LABELS quick...)
# Each test program is one ctest entry; label `quick` puts it into the sanitizer run.
function(bench_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bench_options ${arg_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()
