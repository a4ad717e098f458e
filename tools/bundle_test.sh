#!/bin/sh
# Tests that a bundle needs only an installed C library, and that it is made completely or not at all. bundle_test.sh
# BUILD_FOLDER [--with_cuda_libraries]; the flag makes it take minutes.
set -eu

root=$(dirname "$(dirname "$(readlink -f "$0")")")
build=$1
libraries=--without_cuda_libraries
[ "${2:-}" != --with_cuda_libraries ] || libraries=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
XZ_OPT=-0
export XZ_OPT

for tool in patchelf xz objdump; do
  command -v "$tool" >/dev/null || { echo "SKIPPED  $tool is not installed" && exit 77; }
done

fail() {
  echo "FAILED  $*"
  failures=$((failures + 1))
}

# refused TEXT ARGUMENTS...: tools/bundle must end with status 2 and a sentence that contains TEXT.
refused() {
  text=$1
  shift
  status=0
  "$root/tools/bundle" "$@" >"$scratch/said" 2>&1 || status=$?
  if [ "$status" = 2 ] && grep -Fq -- "$text" "$scratch/said"; then
    echo "ok      refused: $text"
  else
    fail "$*: status $status, wanted 2 and '$text'; printed:"
    cat "$scratch/said"
  fi
}

# alone PROGRAM ARGUMENTS...: runs a program of the bundle without environment and lists what it loads in debug.*.
alone() {
  program=$unpacked/bin/$1
  shift
  rm -f "$scratch"/debug.*
  env -i LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/debug" "$program" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# within CLAIM: the last program must have loaded only the C library from outside the bundle.
within() {
  loaded=$(sed -n 's/.*calling init: //p' "$scratch"/debug.* | xargs -d '\n' -n 1 readlink -f | sort -u)
  ours=$(printf '%s\n' "$loaded" | grep -c "^$unpacked/" || true)
  others=$(printf '%s\n' "$loaded" | grep -v "^$unpacked/" |
    grep -Ev '/(ld-linux[^/]*|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl)(\.so\.[0-9]|-2)[^/]*)$' || true)
  if [ "$ours" -ge 5 ] && [ -z "$others" ]; then
    echo "ok      $1: $ours libraries, all of the bundle"
  else
    fail "$1: $ours libraries of the bundle, and from outside: $others"
  fi
}

refused '--output=x.zip: the name must end in .tar.xz' --output=x.zip
refused '--fast: unknown option; accepted: --output' --fast
refused "--build=$scratch: this folder does not contain a configured build" --build="$scratch"
refused "$scratch/none is not a writable folder" --build="$build" --output="$scratch/none/b.tar.xz"

# A build that has lost a program since it was configured.
mkdir -p "$scratch/half/bin"
cp "$build/cmake_install.cmake" "$scratch/half/"
sed -i "s,$build/bin/make_tfrecords,$scratch/half/bin/make_tfrecords,g" "$scratch/half/cmake_install.cmake"
ln -s "$build/bin/bench" "$scratch/half/bin/bench"
echo 'the last one' >"$scratch/kept.tar.xz"
refused "cannot install $scratch/half: build all programs first" --build="$scratch/half" --output="$scratch/kept.tar.xz"
[ "$(cat "$scratch/kept.tar.xz")" = 'the last one' ] || fail "a bundle that could not be made replaced the last one"
[ -z "$(find "$scratch" -name '.bundle.*')" ] || fail "a bundle that could not be made left files behind"

mkdir "$scratch/empty folder"
# shellcheck disable=SC2086  # one option or none
"$root/tools/bundle" --build="$build" $libraries --output="$scratch/b.tar.xz" >"$scratch/contents" 2>"$scratch/err" || {
  cat "$scratch/err"
  fail "a build can be bundled"
}
tar -C "$scratch/empty folder" -xf "$scratch/b.tar.xz"
unpacked="$scratch/empty folder/bench"
tail -n 1 "$scratch/contents"
for library in libbench_core.so libglog.so.1; do
  grep -q "^lib/$library " "$scratch/contents" || fail "$library is not among the contents"
done
grep -Eq '^lib/lib(mpi|mpich|open-rte)\.so' "$scratch/contents" && fail "the bundle has its own MPI"
grep -q 'unknown; its text is not in the bundle' "$scratch/contents" && fail "a library's licence is unknown"
[ -s "$unpacked/share/doc/bench/licences/libgflags2.2" ] || [ ! -e /usr/share/doc/libgflags2.2/copyright ] ||
  fail "licences come along"

alone bench --model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=2 --device=cpu || cat "$scratch/err"
grep -q 'total images/sec: ' "$scratch/out" || fail "bench trains in an empty environment"
within "bench trains"
alone make_tfrecords --help || fail "make_tfrecords runs"
within "make_tfrecords runs"

if [ -x "$unpacked/tools/gpu_check" ] && command -v python3 >/dev/null; then
  status=0
  "$unpacked/tools/gpu_check" --parts=properties --output="$scratch/check" >"$scratch/out" 2>&1 || status=$?
  if grep -q '^gpu_check: no usable GPU found, so nothing was checked: ' "$scratch/out"; then
    { [ "$status" = 2 ] && [ "$(wc -l <"$scratch/out")" = 1 ]; } || fail "gpu_check without a card: $(cat "$scratch/out")"
  else
    grep -Fq "bench: $unpacked/bin/bench" "$scratch/out" || fail "gpu_check runs from a bundle: $(cat "$scratch/out")"
    grep -q '^properties ' "$scratch/out" || fail "gpu_check sums up: $(cat "$scratch/out")"
    ! grep -q 'No such file' "$scratch/out" || fail "gpu_check finds its programs: $(cat "$scratch/out")"
  fi
  # It looks for the program before it looks for the card.
  mv "$unpacked/bin/bench" "$scratch/bench"
  "$unpacked/tools/gpu_check" --output="$scratch/check" >"$scratch/out" 2>&1 || true
  grep -Fq "gpu_check: $unpacked/bin/bench" "$scratch/out" || fail "gpu_check misses a program: $(cat "$scratch/out")"
  mv "$scratch/bench" "$unpacked/bin/bench"
  echo "ok      gpu_check runs from a bundle"
fi

if [ -z "$libraries" ] && [ -e "$unpacked/lib/libbench_cuda.so" ]; then
  alone bench --model=resnet50_v1.5 --dtype=f16 --batch_size=256 --plan_for=sm_90 --dump=plan || cat "$scratch/err"
  grep -q '^planned memory: ' "$scratch/out" || fail "bench plans for a GPU"
  within "bench plans for a GPU"
  [ -n "$(find "$unpacked/lib" -name 'libnvrtc-builtins.so.*')" ] || fail "NVRTC has its second part"
fi

[ "$failures" = 0 ] || exit 1
