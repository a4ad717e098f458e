# Shared by tools/bench, tools/test and similar commands: packages, oneDNN, CUDA, and building a preset. The caller must
# set $root to the repository's root.

: "${root:?}"
# shellcheck source=tools/setup/common.sh
. "$root/tools/setup/common.sh"
# shellcheck source=tools/setup/packages.sh
. "$root/tools/setup/packages.sh"

# Prints the installed parts of nvcc, cuDNN and cuBLAS, a path with its time per line. If the output changes, CMake must
# search again.
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

# Succeeds if all three are installed.
cuda_is_installed() {
  installed_seen=$(cuda_seen)
  for installed_part in nvcc cudnn.h cublasLt.h; do
    case $installed_seen in
      *"/$installed_part "*) ;;
      *) return 1 ;;
    esac
  done
}

# Sets $cuda_prefix to the prefix of CUDA and cuDNN from wheels. It is empty if they are installed. $1 is `find`, or
# `ensure` to download for BENCH_CUDA=wheels.
choose_cuda() {
  cuda_prefix=''
  case ${BENCH_CUDA:-} in
    wheels) cuda_prefix=$(sh "$root/tools/setup/cuda_wheels.sh" "$1") || [ "$1" = find ] || exit 2 ;;
    system) ;;
    '') cuda_is_installed || cuda_prefix=$(sh "$root/tools/setup/cuda_wheels.sh" find) || true ;;
    *) fail "BENCH_CUDA=$BENCH_CUDA: unknown value; accepted: wheels, system" ;;
  esac
}

# prepare LIST...: installs the packages of the lists and provides oneDNN, and CUDA if requested, or exits 2. Sets
# $onednn_prefix and $cuda_prefix. If nothing is missing, it takes a few hundredths of a second.
prepare() {
  prepare_files=
  for prepare_list in "$@"; do
    prepare_files="$prepare_files $prepare_list.txt"
  done
  # shellcheck disable=SC2086  # a list of files
  prepare_names=$(cd "$root/tools/setup" && read_list $prepare_files)
  if ! onednn_prefix=$(sh "$root/tools/setup/onednn.sh" find); then
    # The source of oneDNN depends on what apt offers, and a new machine's lists may be empty.
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

# gpus_missing FOLDER: prints the parts that a build folder lacks for GPU support.
gpus_missing() { sed -n 's/^BENCH_GPUS_MISSING:INTERNAL=//p' "$1/CMakeCache.txt"; }

# choose_gpus ARGS...: sets $cuda_architectures to the targets of the library for GPUs. These are the machine's cards.
# Without a card, it is a single architecture if bench's arguments or BENCH_CUDA request a GPU, otherwise nothing.
choose_gpus() {
  gpus_given=" $* "
  cuda_architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2-real/p' | sort -u | paste -sd ';')
  case $gpus_given in
    *-device=gpu* | *"-device gpu "* | *-plan_for* | *-DEVICE=GPU*) : "${cuda_architectures:=90-real}" ;;
  esac
  [ -z "${BENCH_CUDA:-}" ] || : "${cuda_architectures:=90-real}"
}
# Configuration of `release` if neither choose_gpus nor a script sets it: no GPUs in a new build folder, no change in an
# existing one. `all` uses the preset's architectures.
cuda_architectures=

# fits_gpus FOLDER: succeeds if a build folder of `release` has the $cuda_architectures.
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

# is_configured FOLDER: succeeds if the build folder is configured for this tree, these presets, this oneDNN and this
# CUDA. A folder without GPU support fails if the installed parts of CUDA have changed, because CMake would not search
# again.
is_configured() {
  [ -f "$1/build.ninja" ] &&
    [ -z "$(find "$root/CMakePresets.json" -newer "$1/build.ninja")" ] &&
    grep -Fqx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$1/CMakeCache.txt" &&
    grep -Fqx "BENCH_ONEDNN_PREFIX:PATH=$onednn_prefix" "$1/CMakeCache.txt" &&
    grep -Fqx "BENCH_CUDA_PREFIX:PATH=$cuda_prefix" "$1/CMakeCache.txt" && fits_gpus "$1" &&
    { [ -z "$(gpus_missing "$1")" ] || cuda_seen | cmp -s - "$1/cuda_seen"; }
}

# CMake keeps a compiler once it has found one, so another prefix of nvcc needs a new configuration.
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

# tell_gpus FOLDER: for a build folder without GPU support, prints how to enable it.
tell_gpus() {
  tell_missing=$(gpus_missing "$1")
  [ -z "$tell_missing" ] || note "GPU support is disabled because these parts were not found: $tell_missing;" \
    "install them, or set BENCH_CUDA=wheels to fetch all (0.9 GiB)"
}

# configure_preset PRESET: configures build/PRESET if necessary.
configure_preset() {
  is_configured "$root/build/$1" ||
    { (step "$root/build/log/$1-configure.log" "configuring build/$1" configure "$1") && tell_gpus "$root/build/$1"; }
}

# build PRESET [TARGET...]: builds the targets in build/PRESET, one process at a time.
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

# build_programs PROGRAM...: builds programs of `release`. Also builds the library for GPUs if choose_gpus requests it
# and CUDA is found. If CUDA is not found, bench reports what is missing.
build_programs() {
  build release "$@" || return
  [ -z "$cuda_architectures" ] || [ -n "$(gpus_missing "$root/build/release")" ] || build release bench_cuda
}
