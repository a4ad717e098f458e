#!/bin/sh
# Tests that built and installed programs run without the folder that oneDNN came from, even after a move.
# install_test.sh BUILD_FOLDER CMAKE
set -eu

build=$1
cmake=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  echo "FAILED  $1"
  failures=$((failures + 1))
}

# has_onednn_in CLAIM PROGRAM FOLDER: PROGRAM's oneDNN must be in FOLDER or in the system's path.
has_onednn_in() {
  library=$(ldd "$2" | sed -n 's/.*libdnnl[^ ]* => \([^ ]*\) .*/\1/p')
  case $(readlink -f "$library") in
    "$3"/* | /lib/* | /usr/lib/*) echo "ok      $1" ;;
    *) fail "$1: $2 takes '$library'" ;;
  esac
}

has_onednn_in "a build has its own library" "$build/bin/bench" "$build"
"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/log" 2>&1 || {
  cat "$scratch/log"
  fail "the programs can be installed"
}
mv "$scratch/first" "$scratch/moved"
has_onednn_in "an installation can be moved" "$scratch/moved/bin/bench" "$scratch/moved"
"$scratch/moved/bin/bench" --version >/dev/null || fail "an installed program runs"
[ -s "$scratch/moved/share/doc/bench/LICENSE" ] || fail "an installation has the licence"
[ ! -e "$scratch/moved/lib/libdnnl.so.3" ] || [ -s "$scratch/moved/lib/onednn/LICENSE" ] ||
  fail "the library has its licence"

[ "$failures" = 0 ] || exit 1
