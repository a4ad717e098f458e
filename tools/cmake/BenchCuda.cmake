# Finds what the library for GPUs needs: nvcc of CUDA 13, cuDNN 9 and cuBLAS 13. It searches again for parts that were
# missing or had another version.

set(BENCH_CUDA_PREFIX "" CACHE PATH "Where nvcc, cuDNN and cuBLAS are taken from before all other places")

# Stores the names of the missing parts in CMake's cache, where tools/setup reads them.
function(bench_miss_for_gpus missing)
  set(BENCH_GPUS_MISSING "${missing}" CACHE INTERNAL "What support for GPUs takes and is not found")
endfunction()

# Sets `result` to the number that the header `file` defines as `macro`, or to an empty string.
function(bench_defined_number file macro result)
  set(line)
  if(EXISTS "${file}")
    file(STRINGS "${file}" line REGEX "^#define ${macro} +[0-9]+")
  endif()
  string(REGEX MATCH "[0-9]+$" number "${line}")
  set(${result} "${number}" PARENT_SCOPE)
endfunction()

# bench_find_cuda_part(NAME title version HEADER a.h DEFINES b.h MACRO A LIBRARY names... HINTS folders...)
# Finds NAME_INCLUDE_DIR and NAME_LIBRARY. Adds missing parts to the caller's list `missing`.
macro(bench_find_cuda_part name title version)
  cmake_parse_arguments(part "" "HEADER;DEFINES;MACRO" "LIBRARY;HINTS" ${ARGN})
  find_path(${name}_INCLUDE_DIR ${part_HEADER} HINTS ${part_HINTS} PATH_SUFFIXES include)
  find_library(${name}_LIBRARY NAMES ${part_LIBRARY} NAMES_PER_DIR HINTS ${part_HINTS} PATH_SUFFIXES lib lib64)
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  bench_defined_number("${${name}_INCLUDE_DIR}/${part_DEFINES}" ${part_MACRO} part_version)
  if(NOT ${name}_INCLUDE_DIR)
    list(APPEND missing "${title} ${version} (no ${part_HEADER})")
  elseif(NOT part_version EQUAL ${version})
    list(APPEND missing "${title} ${version} (${${name}_INCLUDE_DIR} has version ${part_version})")
    unset(${name}_INCLUDE_DIR CACHE)
    unset(${name}_LIBRARY CACHE)
  elseif(NOT ${name}_LIBRARY)
    list(GET part_LIBRARY -1 part_library)
    list(APPEND missing "${title} ${version} (no ${part_library})")
  endif()
endmacro()

# Sets BENCH_NVCC, CUDNN_ and CUBLASLT_INCLUDE_DIR and _LIBRARY, and BENCH_GPUS_MISSING.
macro(bench_find_cuda)
  set(missing)
  set(nvcc_hints ${BENCH_CUDA_PREFIX})
  if(CMAKE_CUDA_COMPILER)
    get_filename_component(folder "${CMAKE_CUDA_COMPILER}" DIRECTORY)
    list(APPEND nvcc_hints "${folder}")
  endif()
  if(DEFINED ENV{CUDACXX})
    get_filename_component(folder "$ENV{CUDACXX}" DIRECTORY)
    list(APPEND nvcc_hints "${folder}")
  endif()
  find_program(BENCH_NVCC nvcc HINTS ${nvcc_hints} ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(BENCH_NVCC)
  set(cuda_toolkit)
  if(BENCH_NVCC)
    get_filename_component(cuda_toolkit "${BENCH_NVCC}" REALPATH)
    get_filename_component(cuda_toolkit "${cuda_toolkit}/../.." ABSOLUTE)
    execute_process(COMMAND "${BENCH_NVCC}" --version OUTPUT_VARIABLE nvcc_said ERROR_VARIABLE nvcc_said)
    string(REGEX MATCH "release ([0-9.]+)" nvcc_release "${nvcc_said}")
    if(NOT nvcc_release MATCHES "release 13\\.")
      list(APPEND missing "nvcc of CUDA 13 (${BENCH_NVCC}: ${nvcc_release})")
      unset(BENCH_NVCC CACHE)
    endif()
  else()
    list(APPEND missing "nvcc of CUDA 13")
  endif()
  bench_find_cuda_part(CUDNN cuDNN 9 HEADER cudnn.h DEFINES cudnn_version.h MACRO CUDNN_MAJOR
    LIBRARY cudnn libcudnn.so.9
    HINTS ${BENCH_CUDA_PREFIX} ${CUDNN_ROOT} ${CUDNN_PATH} ENV CUDNN_ROOT ENV CUDNN_PATH ${cuda_toolkit} /usr/local/cuda)
  bench_find_cuda_part(CUBLASLT cuBLAS 13 HEADER cublasLt.h DEFINES cublas_api.h MACRO CUBLAS_VER_MAJOR
    LIBRARY cublasLt libcublasLt.so.13
    HINTS ${BENCH_CUDA_PREFIX} ${cuda_toolkit} /usr/local/cuda)
  list(JOIN missing ", " missing)
  bench_miss_for_gpus("${missing}")
  if(BENCH_CUDA_PREFIX AND NOT BENCH_NVCC STREQUAL "${BENCH_CUDA_PREFIX}/bin/nvcc")
    message(FATAL_ERROR "BENCH_CUDA_PREFIX=${BENCH_CUDA_PREFIX}: nvcc is ${BENCH_NVCC}; give a folder with bin/nvcc of "
                        "CUDA 13, and configure with --fresh where another was used before")
  endif()
endmacro()
