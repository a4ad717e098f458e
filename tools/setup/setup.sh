# What tools/bench, tools/test and their like share: packages, oneDNN, building a preset. Sourced with
# $root set to the repository's root.

: "${root:?}"
# shellcheck source=tools/setup/common.sh
. "$root/tools/setup/common.sh"
# shellcheck source=tools/setup/packages.sh
. "$root/tools/setup/packages.sh"

# prepare LIST...: installs what the package lists name and provides oneDNN, or exits 2. Sets
# $onednn_prefix. With nothing missing it only looks, which takes some hundredths of a second.
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
  # shellcheck disable=SC2086  # a list of names
  ensure_packages $prepare_names
  [ -n "$onednn_prefix" ] || onednn_prefix=$(sh "$root/tools/setup/onednn.sh" ensure)
}

# Whether the build folder $1 is configured for this tree, these presets and this oneDNN.
is_configured() {
  [ -f "$1/build.ninja" ] &&
    [ -z "$(find "$root/CMakePresets.json" -newer "$1/build.ninja")" ] &&
    grep -Fqx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$1/CMakeCache.txt" &&
    grep -Fqx "BENCH_ONEDNN_PREFIX:PATH=$onednn_prefix" "$1/CMakeCache.txt"
}

configure() {
  configure_fresh=
  grep -Fqsx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$root/build/$1/CMakeCache.txt" || configure_fresh=--fresh
  cd "$root" && cmake --preset "$1" ${configure_fresh:+"$configure_fresh"} \
    "-DBENCH_ONEDNN_PREFIX:PATH=$onednn_prefix"
}

# build PRESET [TARGET...]: builds the targets in build/PRESET; one process at a time.
build() {
  build_preset=$1
  build_folder=$root/build/$1
  shift
  take_lock "$build_folder.lock" "builds in $build_folder"
  build_status=0
  {
    is_configured "$build_folder" ||
      (step "$root/build/log/$build_preset-configure.log" "configuring build/$build_preset" \
        configure "$build_preset")
  } && ninja_step "$root/build/log/$build_preset-build.log" \
    "building build/$build_preset, minutes the first time" \
    cmake --build "$build_folder" ${1:+--target "$@"} || build_status=$?
  release_lock
  return "$build_status"
}
