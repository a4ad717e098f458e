#!/bin/sh
# Finds or downloads what the library for GPUs needs to compile, and prints its prefix. It uses nvcc, the CUDA runtime,
# cuBLAS and cuDNN from the wheels of cuda_wheels.txt. pip's index and options apply.
#
#   cuda_wheels.sh find      prints the prefix in the cache, otherwise exits 1; quick, changes nothing
#   cuda_wheels.sh packages  prints the Debian packages that `ensure` needs; nothing if `find` succeeds
#   cuda_wheels.sh ensure    finds it, or downloads it into the cache
set -eu

root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
# shellcheck source=tools/setup/common.sh
. "$root/tools/setup/common.sh"

list=$root/tools/setup/cuda_wheels.txt
# NVIDIA's name for the target machine type.
target=x86_64-linux

cache_entry() {
  entry_version=$(sed -n 's/^nvidia-cuda-nvcc==\([0-9.]*\) .*/\1/p' "$list")
  entry_hash=$(read_list "$list" | sha256sum | cut -c 1-8)
  entry_cache=$(cache_dir) || return
  printf '%s/cuda-%s-wheels-%s\n' "$entry_cache" "$entry_version" "$entry_hash"
}

is_usable() {
  [ -x "$1/bin/nvcc" ] && [ -x "$1/nvvm/bin/cicc" ] && [ -f "$1/include/cudnn.h" ] && [ -f "$1/include/cublasLt.h" ] &&
    [ -e "$1/lib/libcudart.so" ]
}

# make_from_wheels PART PREFIX: downloads the wheels and arranges their files like an installed toolkit. PART keeps the
# downloads for the next attempt until the entry is complete.
make_from_wheels() {
  mkdir -p "$1/wheels"
  step "$1/download.log" "downloading CUDA and cuDNN as Python wheels, 0.9 GiB" \
    python3 -m pip download --no-deps --only-binary=:all: --require-hashes --find-links "$1/wheels" \
    --dest "$1/wheels" --requirement "$list" || return
  rm -rf "$1/unpacked"
  mkdir -p "$1/unpacked" "$2/dist-info" "$2/targets/$target"
  for wheel_file in "$1"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel_file" "$1/unpacked" || return
  done
  for wheel_folder in "$1"/unpacked/nvidia/*; do
    cp -Rl "$wheel_folder/." "$2" || return
  done
  mv "$1"/unpacked/*.dist-info "$2/dist-info" || return
  # A wheel contains no permissions or links. CMake needs libcudart.so, and nvcc searches targets/.
  chmod +x "$2"/bin/* "$2"/nvvm/bin/* || return
  for wheel_library in "$2"/lib/lib*.so.*; do
    wheel_name=${wheel_library##*/}
    ln -sf "$wheel_name" "$2/lib/${wheel_name%%.so.*}.so"
  done
  ln -s lib "$2/lib64"
  ln -s ../../include ../../lib "$2/targets/$target"
}

find_cached() { is_usable "$entry" && printf '%s\n' "$entry"; }

entry=$(cache_entry) || exit
[ "${1:-}" = find ] || [ "$(uname -m)" = x86_64 ] ||
  fail "BENCH_CUDA=wheels: only x86-64 is supported; install nvcc of CUDA 13, cuDNN 9 and cuBLAS 13"
case ${1:-} in
  find) find_cached ;;
  packages) find_cached >/dev/null || read_list "$root/tools/setup/packages-cuda-wheels.txt" ;;
  ensure)
    find_cached || make_entry "$entry" "CUDA from wheels" is_usable make_from_wheels \
      "install nvcc of CUDA 13, cuDNN 9 and cuBLAS 13 instead"
    ;;
  *) fail "usage: cuda_wheels.sh find|packages|ensure" ;;
esac
