#!/bin/sh
# Tests the list of missing parts of BenchCuda.cmake, and that an existing build folder finds parts installed later.
# cuda_test.sh CMAKE
set -eu

cmake=$1
modules=$(dirname "$(readlink -f "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CUDACXX CUDA_PATH CUDA_HOME CUDNN_ROOT CUDNN_PATH CMAKE_PREFIX_PATH
failures=0
cuda=$scratch/machine/usr/local/cuda
mkdir -p "$scratch/source" "$cuda/bin" "$cuda/include" "$cuda/lib64" "$scratch/machine/opt/dnn/include" "$scratch/machine/opt/dnn/lib"
cat >"$scratch/source/CMakeLists.txt" <<END_OF_PROJECT
cmake_minimum_required(VERSION 3.25)
project(found LANGUAGES NONE)
include("$modules/BenchCuda.cmake")
bench_find_cuda()
message(STATUS "missing: [\${BENCH_GPUS_MISSING}]; cuDNN: \${CUDNN_LIBRARY}")
END_OF_PROJECT

# says CLAIM TEXT FLAGS...: configuring, with only $scratch/machine visible, must print TEXT.
says() {
  claim=$1 text=$2
  shift 2
  "$cmake" -G Ninja "-DCMAKE_MAKE_PROGRAM=$(command -v ninja)" -S "$scratch/source" -B "$scratch/build" \
    "-DCMAKE_FIND_ROOT_PATH=$scratch/machine" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=ONLY \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY "$@" >"$scratch/said" 2>&1 || true
  if tr -s ' \n' ' ' <"$scratch/said" | grep -Fq -- "$text"; then
    echo "ok      $claim"
  else
    echo "FAILED  $claim: wanted '$text'; printed:"
    cat "$scratch/said"
    failures=$((failures + 1))
  fi
}

nvcc_of() {
  printf '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s.1"\n' "$1" "$1" >"$cuda/bin/nvcc"
  chmod +x "$cuda/bin/nvcc"
}

says "all that is missing is named" \
  "missing: [nvcc of CUDA 13, cuDNN 9 (no cudnn.h), cuBLAS 13 (no cublasLt.h)]"
nvcc_of 12.2
echo '#define CUDNN_MAJOR 8' >"$scratch/machine/opt/dnn/include/cudnn_version.h"
touch "$scratch/machine/opt/dnn/include/cudnn.h" "$scratch/machine/opt/dnn/lib/libcudnn.so.9"
says "older ones are named" "[nvcc of CUDA 13 ($cuda/bin/nvcc: release 12.2), cuDNN 9 ($scratch/machine/opt/dnn/include has version 8), " \
  -DCUDNN_ROOT=/opt/dnn
nvcc_of 13.0
echo '#define CUDNN_MAJOR 9' >"$scratch/machine/opt/dnn/include/cudnn_version.h"
echo '#define CUBLAS_VER_MAJOR 13' >"$cuda/include/cublas_api.h"
# A second cuDNN, outside CUDNN_ROOT, has the first name of the search.
touch "$cuda/include/cublasLt.h" "$cuda/lib64/libcudnn.so"
says "newer ones in their place are seen, and a library that is missing" "missing: [cuBLAS 13 (no libcublasLt.so.13)]"
touch "$cuda/lib64/libcublasLt.so"
says "nothing is missing when all has come" "missing: []; cuDNN: $scratch/machine/opt/dnn/lib/libcudnn.so.9"
rm -r "$scratch/build"
CUDNN_PATH=/opt/dnn says "cuDNN is found by the environment's CUDNN_PATH" "missing: []"
says "an unusable prefix causes an error" "BENCH_CUDA_PREFIX=/opt/dnn: nvcc is $cuda/bin/nvcc; give a folder" \
  -DBENCH_CUDA_PREFIX=/opt/dnn

[ "$failures" = 0 ] || exit 1
