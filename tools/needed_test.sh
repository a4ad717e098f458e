#!/bin/sh
# Tests that the program and the core library are not linked with any of NVIDIA's libraries. The plug-in for GPUs, if
# built, is linked only with those that it cannot open at run time. It finds them by a relative path.
# needed_test.sh BENCH CORE_LIBRARY [PLUGIN]
set -eu

failures=0

fail() {
  echo "FAILED  $*"
  failures=$((failures + 1))
}

# needed FILE: prints the libraries that it is linked with, a name per line.
needed() { LC_ALL=C readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'; }

# Selects NVIDIA's libraries from a list with one name per line.
nvidia_libraries() { grep -E '^lib(cuda|cudart|cudnn|cublas|cufft|curand|cusolver|cusparse|nccl|nvidia|nvrtc|nvJitLink|nvToolsExt|cupti)' || true; }

# The libraries that a wrongly linked program would need.
for name in libcuda.so.1 libcudart.so.13 libcudnn.so.9 libcudnn_graph.so.9 libcublas.so.13 libcublasLt.so.13 \
  libnccl.so.2 libnvidia-ml.so.1 libnvrtc.so.13; do
  [ "$(printf 'libc.so.6\n%s\n' "$name" | nvidia_libraries)" = "$name" ] || fail "$name would not be noticed"
done

for file in "$1" "$2"; do
  names=$(needed "$file")
  echo "$names" | grep -q '^libc\.so' || fail "$file: cannot read the libraries that it needs"
  found=$(echo "$names" | nvidia_libraries)
  if [ -z "$found" ]; then
    echo "ok      ${file##*/} needs $(echo "$names" | wc -l) libraries, none of NVIDIA's"
  else
    fail "$file needs $(echo "$found" | tr '\n' ' ')"
  fi
done

if [ -n "${3:-}" ]; then
  found=$(needed "$3" | nvidia_libraries | sort | tr '\n' ' ')
  case $found in
    "libcublasLt.so."*" libcudnn.so."*" ") echo "ok      ${3##*/} needs $found" ;;
    *) fail "$3 needs '$found', not only cuBLASLt and cuDNN" ;;
  esac
  folders=$(LC_ALL=C readelf -d "$3" | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]$/\2/p' | tr ':' '\n')
  # shellcheck disable=SC2016  # the loader expands $ORIGIN
  echo "$folders" | grep -Fqx '$ORIGIN' || fail "$3 does not search its own folder"
  for name in $found; do
    echo "$folders" | while read -r folder; do [ ! -e "$folder/$name" ] || echo there; done | grep -q there ||
      fail "$3: $name is in none of $(echo "$folders" | tr '\n' ' ')"
  done
fi

[ "$failures" = 0 ] || exit 1
