# What tools/bench, tools/test and their like share: packages, oneDNN, CUDA, building a preset. Sourced with $root set
# to the repository's root.

: "${root:?}"
# shellcheck source=tools/setup/common.sh
. "$root/tools/setup/common.sh"
# shellcheck source=tools/setup/packages.sh
. "$root/tools/setup/packages.sh"

# Prints what is installed of nvcc, cuDNN and cuBLAS, a path with its age per line: what CMake may find, and is told to
# look for again when this changes.
cuda_seen() {
  set --
  seen_ifs=$IFS
  IFS=:
  for seen_folder in ${CUDACXX:+"${CUDACXX%/*}"} ${CUDA_PATH:-} ${CUDA_HOME:-} ${CUDNN_ROOT:-} ${CUDNN_PATH:-} \
    ${CMAKE_PREFIX_PATH:-} ${PATH:-} $cuda_folders; do
    for seen_file in nvcc bin/nvcc include/cudnn.h cudnn.h include/cublasLt.h cublasLt.h; do
      [ ! -f "$seen_folder/$seen_file" ] || set -- "$@" "$seen_folder/$seen_file"
    done
  done
  IFS=$seen_ifs
  [ $# = 0 ] || stat -L -c '%n %Y' "$@"
}
cuda_folders=/usr/local/cuda:/usr/local:/usr:/usr/include/$(uname -m)-linux-gnu

# Whether all three are installed.
cuda_is_installed() {
  installed_seen=$(cuda_seen)
  for installed_part in nvcc cudnn.h cublasLt.h; do
    case $installed_seen in
      *"/$installed_part "*) ;;
      *) return 1 ;;
    esac
  done
}

# Sets $cuda_prefix: where CUDA and cuDNN from wheels are, or empty where they are the system's. $1: `find`, or
# `ensure` to fetch what BENCH_CUDA=wheels asks for.
choose_cuda() {
  cuda_prefix=''
  case ${BENCH_CUDA:-} in
    wheels) cuda_prefix=$(sh "$root/tools/setup/cuda_wheels.sh" "$1") || [ "$1" = find ] || exit 2 ;;
    system) ;;
    '') cuda_is_installed || cuda_prefix=$(sh "$root/tools/setup/cuda_wheels.sh" find) || true ;;
    *) fail "BENCH_CUDA=$BENCH_CUDA: accepted are wheels and system" ;;
  esac
}

# prepare LIST...: installs what the package lists name and provides oneDNN, and CUDA where it is asked for, or exits 2.
# Sets $onednn_prefix and $cuda_prefix. With nothing missing it only looks, which takes some hundredths of a second.
prepare() {
  prepare_files=
  for prepare_list in "$@"; do
    prepare_files="$prepare_files $prepare_list.txt"
  done
  # shellcheck disable=SC2086  # a list of files
  prepare_names=$(cd "$root/tools/setup" && read_list $prepare_files)
  if ! onednn_prefix=$(sh "$root/tools/setup/onednn.sh" find); then
    # What apt offers decides how to come by oneDNN, and a fresh machine's lists may be empty.
    [ -n "${BENCH_NO_PACKAGES:-}" ] || ! command -v apt-get >/dev/null || ! has_root || refresh_lists
    prepare_names="$prepare_names $(sh "$root/tools/setup/onednn.sh" packages)"
  fi
  choose_cuda find
  [ "${BENCH_CUDA:-}" != wheels ] || prepare_names="$prepare_names $(sh "$root/tools/setup/cuda_wheels.sh" packages)"
  # shellcheck disable=SC2086  # a list of names
  ensure_packages $prepare_names
  [ -n "$onednn_prefix" ] || onednn_prefix=$(sh "$root/tools/setup/onednn.sh" ensure)
  [ "${BENCH_CUDA:-}" != wheels ] || choose_cuda ensure
}

# gpus_missing FOLDER: prints what a build folder is without, so that it has no support for GPUs.
gpus_missing() { sed -n 's/^BENCH_GPUS_MISSING:INTERNAL=//p' "$1/CMakeCache.txt"; }

# choose_gpus ARGS...: sets $cuda_architectures to what the library for GPUs is compiled for: the cards of this machine;
# without a card but with arguments of bench, or a BENCH_CUDA, that ask for one, a single architecture; else nothing.
choose_gpus() {
  gpus_given=" $* "
  cuda_architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2-real/p' | sort -u | paste -sd ';')
  case $gpus_given in
    *-device=gpu* | *"-device gpu "* | *-plan_for* | *-DEVICE=GPU*) : "${cuda_architectures:=90-real}" ;;
  esac
  [ -z "${BENCH_CUDA:-}" ] || : "${cuda_architectures:=90-real}"
}
# What `release` is configured with, unless choose_gpus or a script says otherwise: nothing for GPUs in a new build
# folder, and what is there in an old one. `all`: what the preset has.
cuda_architectures=

# fits_gpus FOLDER: whether a build folder of `release` has what $cuda_architectures asks for.
fits_gpus() {
  [ -n "$cuda_architectures" ] || return 0
  fits_enabled=$(sed -n 's/^ENABLE_CUDA:[A-Z]*=//p' "$1/CMakeCache.txt")
  fits_compiled=$(sed -n 's/^BENCH_CUDA_ARCHITECTURES:[A-Z]*=//p' "$1/CMakeCache.txt")
  [ "$fits_enabled" = AUTO ] && [ "$fits_compiled" = "$(architectures)" ]
}
architectures() {
  case $cuda_architectures in
    all) sed -n 's/^set(BENCH_CUDA_ARCHITECTURES "\(.*\)" CACHE.*/\1/p' "$root/kernels/cuda/plugin/CMakeLists.txt" ;;
    *) printf '%s\n' "$cuda_architectures" ;;
  esac
}

# Whether the build folder $1 is configured for this tree, these presets, this oneDNN and this CUDA. One without
# support for GPUs is not, where what is installed of CUDA has changed since: CMake would not look again by itself.
is_configured() {
  [ -f "$1/build.ninja" ] &&
    [ -z "$(find "$root/CMakePresets.json" -newer "$1/build.ninja")" ] &&
    grep -Fqx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$1/CMakeCache.txt" &&
    grep -Fqx "BENCH_ONEDNN_PREFIX:PATH=$onednn_prefix" "$1/CMakeCache.txt" &&
    grep -Fqx "BENCH_CUDA_PREFIX:PATH=$cuda_prefix" "$1/CMakeCache.txt" && fits_gpus "$1" &&
    { [ -z "$(gpus_missing "$1")" ] || cuda_seen | cmp -s - "$1/cuda_seen"; }
}

# A compiler once found is kept by CMake, so another prefix of nvcc is a new beginning.
configure() {
  configure_fresh=
  for configure_line in "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "BENCH_CUDA_PREFIX:PATH=$cuda_prefix"; do
    grep -Fqsx "$configure_line" "$root/build/$1/CMakeCache.txt" || configure_fresh=--fresh
  done
  configure_gpus=
  if [ -n "$cuda_architectures" ]; then
    configure_gpus=AUTO
  elif [ "$1" = release ] && [ ! -f "$root/build/$1/CMakeCache.txt" ]; then
    configure_gpus=OFF
  fi
  cd "$root" && cmake --preset "$1" ${configure_fresh:+"$configure_fresh"} \
    ${configure_gpus:+"-DENABLE_CUDA=$configure_gpus"} \
    ${cuda_architectures:+"-DBENCH_CUDA_ARCHITECTURES=$(architectures)"} \
    "-DBENCH_ONEDNN_PREFIX:PATH=$onednn_prefix" "-DBENCH_CUDA_PREFIX:PATH=$cuda_prefix" &&
    cuda_seen >"$root/build/$1/cuda_seen"
}

# tell_gpus FOLDER: says of a build folder without support for GPUs what would bring it.
tell_gpus() {
  tell_missing=$(gpus_missing "$1")
  [ -z "$tell_missing" ] || note "no support for GPUs, since these are not found: $tell_missing;" \
    "install them, or set BENCH_CUDA=wheels to fetch all (0.9 GiB)"
}

# configure_preset PRESET: configures build/PRESET where it is not.
configure_preset() {
  is_configured "$root/build/$1" ||
    { (step "$root/build/log/$1-configure.log" "configuring build/$1" configure "$1") && tell_gpus "$root/build/$1"; }
}

# build PRESET [TARGET...]: builds the targets in build/PRESET; one process at a time.
build() {
  build_preset=$1
  build_folder=$root/build/$1
  shift
  take_lock "$build_folder.lock" "builds in $build_folder"
  build_status=0
  configure_preset "$build_preset" && ninja_step "$root/build/log/$build_preset-build.log" "building build/$build_preset" \
    cmake --build "$build_folder" ${1:+--target "$@"} || build_status=$?
  release_lock
  return "$build_status"
}

# build_programs PROGRAM...: builds programs of `release`, and the library for GPUs where choose_gpus asks for it and CUDA
# is found; where it is not, bench says what is missing.
build_programs() {
  build release "$@" || return
  [ -z "$cuda_architectures" ] || [ -n "$(gpus_missing "$root/build/release")" ] || build release bench_cuda
}
