# Finds the libraries that programs need, and sets the paths by which they find them in a bundle. Sourced by
# tools/bundle.

# belongs_to_machine NAME: succeeds for libraries that each machine must have. These are the C library and the NVIDIA
# driver, which must match its kernel module.
belongs_to_machine() {
  case $1 in
    ld-linux* | linux-vdso* | libc.so.* | libm.so.* | libmvec.so.* | libdl.so.* | libpthread.so.* | librt.so.* | \
      libresolv.so.* | libutil.so.* | libanl.so.* | libcuda.so.* | libnvidia-*) ;;
    *) return 1 ;;
  esac
}

# is_cuda_library NAME: succeeds for the libraries that --without_cuda_libraries omits.
is_cuda_library() {
  case $1 in
    libcudnn* | libcublas* | libnvrtc*) ;;
    *) return 1 ;;
  esac
}

# needed_by FILE...: prints a line per library that the files need directly or indirectly. A line has the name, a tab
# and the path. The path is empty if the library is not found.
needed_by() {
  LC_ALL=C ldd "$@" | sed -n -e 's/^\t\([^ ]*\) => \(.*\) (0x[0-9a-f]*)$/\1\t\2/p' \
    -e 's/^\t\([^ ]*\) => not found$/\1\t/p' | sort -u
}

# take_library STAGE NAME PATH: copies a library and records its origin in STAGE.taken.
take_library() {
  cp -L "$3" "$1/lib/$2" || fail "cannot copy $3"
  printf '%s\t%s\n' "$2" "$3" >>"$1.taken"
}

# take_near STAGE FOLDER PATTERN: copies the libraries that match a pattern from FOLDER, or from where Python wheels put
# those of other packages.
take_near() {
  # shellcheck disable=SC2231  # a pattern
  for near_path in "$2"/$3 "$2"/../../cu*/lib/$3 "$2"/../../cuda_nvrtc/lib/$3; do
    [ -e "$near_path" ] || continue
    take_library "$1" "$(basename "$near_path")" "$near_path"
    return
  done
  fail "$3 is missing from $2, which contains the other CUDA libraries"
}

# Libraries that cuDNN and cuBLASLt open only at run time. `adv`, which needs `ops`, is for recurrent layers. Nothing
# needs `cnn`, which is for the legacy interface.
take_opened_by_cudnn() {
  opened_cudnn=$(needed_by "$1/lib/libbench_cuda.so" | sed -n 's/^libcudnn\.so[^\t]*\t//p')
  opened_folder=$(dirname "$(readlink -f "$opened_cudnn")")
  opened_major=${opened_cudnn##*.so.}
  for opened_part in graph heuristic engines_precompiled engines_runtime_compiled adv ops; do
    take_near "$1" "$opened_folder" "libcudnn_$opened_part.so.$opened_major"
  done
  # Newer versions have more engines, and `ext`.
  for opened_path in "$opened_folder"/libcudnn_engines_*.so."$opened_major" \
    "$opened_folder"/libcudnn_ext.so."$opened_major"; do
    opened_name=$(basename "$opened_path")
    if [ -e "$opened_path" ] && [ ! -e "$1/lib/$opened_name" ]; then
      take_library "$1" "$opened_name" "$opened_path"
    fi
  done
  opened_cuda=$(needed_by "$1/lib/libbench_cuda.so" | sed -n 's/^libcublasLt\.so\.\([0-9]*\)\t.*/\1/p')
  take_near "$1" "$opened_folder" "libnvrtc.so.$opened_cuda"
  take_near "$1" "$opened_folder" "libnvrtc-builtins.so.$opened_cuda.*"
}

# take_libraries STAGE CUDA: copies into STAGE/lib the libraries that STAGE's programs and libraries need. CUDA is
# `all`, or `own` or `none` if the machine provides CUDA's libraries.
take_libraries() {
  if [ "$2" = all ] && [ -e "$1/lib/libbench_cuda.so" ]; then
    take_opened_by_cudnn "$1"
  fi
  for take_file in "$1"/bin/* "$1"/lib/*.so*; do
    case $take_file in
      # The machine whose launcher starts the processes has the MPI.
      */libbench_openmpi.so | */libbench_mpich.so) ;;
      *) needed_by "$take_file" ;;
    esac
  done | sort -u >"$1.needed"
  while IFS='	' read -r take_name take_path; do
    if belongs_to_machine "$take_name" || [ -e "$1/lib/$take_name" ]; then
      continue
    fi
    if [ "$2" != all ] && is_cuda_library "$take_name"; then
      continue
    fi
    [ -n "$take_path" ] || fail "cannot find the library $take_name, which the programs need"
    take_library "$1" "$take_name" "$take_path"
  done <"$1.needed"
}

# set_search_paths STAGE CUDA: makes programs and libraries find each other by relative paths. NVIDIA's libraries
# already do so, except NVRTC, which would search the system for its second part. If the machine provides CUDA's
# libraries, files that are linked with them search the toolkit's usual folder.
# shellcheck disable=SC2016  # the loader expands $ORIGIN
set_search_paths() {
  paths_toolkit=''
  [ "$2" != own ] || paths_toolkit=':/usr/local/cuda/lib64:/usr/local/cuda/lib'
  for paths_file in "$1"/bin/*; do
    paths='$ORIGIN/../lib'
    [ "${paths_file##*/}" != gpu_properties ] || paths=$paths$paths_toolkit
    patchelf --set-rpath "$paths" "$paths_file"
  done
  for paths_file in "$1"/lib/*.so*; do
    paths='$ORIGIN'
    [ "${paths_file##*/}" != libbench_cuda.so ] || paths=$paths$paths_toolkit
    case $(patchelf --print-rpath "$paths_file") in
      "$paths" | '$ORIGIN:$ORIGIN/'*) ;;
      *) patchelf --set-rpath "$paths" "$paths_file" ;;
    esac
  done
}
