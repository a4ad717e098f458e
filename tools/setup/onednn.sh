#!/bin/sh
# Finds or makes a oneDNN 3.x that uses OpenMP, and prints its prefix.
#
#   onednn.sh find       prints the prefix of an existing one, otherwise exits 1; quick, changes nothing
#   onednn.sh packages   prints the Debian packages that `ensure` needs; nothing if `find` succeeds
#   onednn.sh ensure     finds it, or builds or downloads it into the cache
#
# BENCH_ONEDNN=source|wheel ignores installed versions and uses this source. See tools/SETUP.md.
set -eu

root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
# shellcheck source=tools/setup/common.sh
. "$root/tools/setup/common.sh"
# shellcheck source=tools/setup/onednn_source.sh
. "$root/tools/setup/onednn_source.sh"
# shellcheck source=tools/setup/onednn_wheel.sh
. "$root/tools/setup/onednn_wheel.sh"

# The source for distributions without oneDNN 3.x, such as Debian 12. On x86-64, wheels are as fast as the newer source
# package and take only seconds to install. Wheels for other processors do not exist.
case $(uname -m) in
  x86_64) default_way=wheel ;;
  *) default_way=source ;;
esac

way=${BENCH_ONEDNN:-$default_way}
case $way in
  source | wheel) ;;
  *) fail "BENCH_ONEDNN=$way: unknown value; accepted: source, wheel" ;;
esac

# is_usable PREFIX: succeeds if PREFIX has oneDNN 3 or later with headers, CMake package and the OpenMP runtime. It
# rejects SYCL builds (oneAPI since 2024), which need another compiler.
is_usable() {
  [ -f "$1/include/oneapi/dnnl/dnnl_version.h" ] || return 1
  grep -Eq '^#define DNNL_VERSION_MAJOR +([3-9]|[1-9][0-9])$' "$1/include/oneapi/dnnl/dnnl_version.h" &&
    grep -Eq '^#define DNNL_CPU_RUNTIME +DNNL_RUNTIME_OMP$' "$1/include/oneapi/dnnl/dnnl_config.h" &&
    for usable_config in "$1"/lib/cmake/dnnl/dnnl-config.cmake "$1"/lib64/cmake/dnnl/dnnl-config.cmake \
      "$1"/lib/*/cmake/dnnl/dnnl-config.cmake; do
      [ ! -f "$usable_config" ] || return 0
    done
  return 1
}

find_installed() {
  [ -z "${BENCH_ONEDNN:-}" ] || return 1
  installed_ifs=$IFS
  IFS=:
  # shellcheck disable=SC2086  # a list of folders
  set -- ${CMAKE_PREFIX_PATH:-} /usr/local /usr /opt/intel/oneapi/dnnl/latest \
    /opt/intel/oneapi/dnnl/latest/cpu_gomp
  IFS=$installed_ifs
  for installed_prefix in "$@"; do
    if is_usable "$installed_prefix"; then
      printf '%s\n' "$installed_prefix"
      return 0
    fi
  done
  return 1
}

# Prints the folder of the cache entry for the chosen source. Its name contains the version and a hash of everything
# that affects the contents.
cache_entry() {
  entry_compiler=$("${CXX:-c++}" -dumpfullversion -dumpversion 2>/dev/null) || entry_compiler=none
  entry_system=$(
    . /etc/os-release
    printf '%s %s' "${ID:-}" "${VERSION_ID:-}"
  )
  case $way in
    source) set -- "$source_version" "$source_settings" "$entry_compiler" ;;
    wheel) set -- "$wheel_version" "$wheel_release" ;;
  esac
  entry_hash=$(printf '%s\n' "$way" "$(uname -m)" "$entry_system" "$@" | sha256sum | cut -c 1-8)
  entry_cache=$(cache_dir) || return
  printf '%s/onednn-%s-%s-%s\n' "$entry_cache" "$1" "$way" "$entry_hash"
}

find_cached() { is_usable "$entry" && printf '%s\n' "$entry"; }

# Succeeds if apt offers libdnnl-dev in version 3 or later.
apt_offers() {
  [ -z "${BENCH_ONEDNN:-}" ] || return 1
  command -v apt-cache >/dev/null || return 1
  offer=$(apt-cache policy libdnnl-dev 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*\)\..*/\1/p')
  [ "${offer:-0}" -ge 3 ]
}

packages() {
  if find_cached >/dev/null; then
    return
  elif apt_offers; then
    echo libdnnl-dev
  elif [ "$way" = source ]; then
    read_list "$root/tools/setup/packages-onednn.txt"
  else
    read_list "$root/tools/setup/packages-onednn-wheel.txt"
  fi
}

make_cached() {
  make_entry "$entry" "oneDNN from $way" is_usable "make_from_$way" \
    "try the other value of BENCH_ONEDNN (source, wheel), or set CMAKE_PREFIX_PATH to an installed oneDNN 3.x"
}

# An installed oneDNN needs no cache.
case ${1:-} in
  find | ensure) ! find_installed || exit 0 ;;
  packages) ! find_installed >/dev/null || exit 0 ;;
  *) fail "usage: onednn.sh find|packages|ensure" ;;
esac
entry=$(cache_entry) || exit
case $1 in
  find) find_cached ;;
  packages) packages ;;
  ensure) find_cached || make_cached ;;
esac
