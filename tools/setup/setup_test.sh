#!/bin/sh
# Tests of the setup scripts, with stand-ins for the system's commands: nothing is installed, fetched
# or built.
# shellcheck disable=SC2016  # the code in quotes runs in another shell
set -eu

root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
unset BENCH_ONEDNN BENCH_NO_PACKAGES CMAKE_PREFIX_PATH
export BENCH_CACHE_DIR="$scratch/cache"
failures=0

# stand_in NAME: makes a command NAME of the script on stdin.
stand_in() {
  { echo '#!/bin/sh' && cat; } >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

# expect CLAIM STATUS TEXT COMMAND...: COMMAND ends with STATUS and prints TEXT somewhere.
expect() {
  expect_claim=$1 expect_status=$2 expect_text=$3
  shift 3
  expect_got=0
  (PATH="$scratch/bin:$PATH" "$@") >"$scratch/got" 2>&1 </dev/null || expect_got=$?
  echo >>"$scratch/got"
  if [ "$expect_got" = "$expect_status" ] && grep -Fq -- "$expect_text" "$scratch/got"; then
    echo "ok      $expect_claim"
  else
    echo "FAILED  $expect_claim: status $expect_got, wanted $expect_status and '$expect_text'; printed:"
    cat "$scratch/got"
    failures=$((failures + 1))
  fi
}

# with_setup CODE: runs CODE after setup.sh.
with_setup() { sh -euc 'root=$1; . "$root/tools/setup/setup.sh"; eval "$2"' setup "$root" "$1"; }

# fake_onednn PREFIX VERSION RUNTIME
fake_onednn() {
  mkdir -p "$1/include/oneapi/dnnl" "$1/lib/cmake/dnnl"
  echo "#define DNNL_VERSION_MAJOR $2" >"$1/include/oneapi/dnnl/dnnl_version.h"
  echo "#define DNNL_CPU_RUNTIME DNNL_RUNTIME_$3" >"$1/include/oneapi/dnnl/dnnl_config.h"
  : >"$1/lib/cmake/dnnl/dnnl-config.cmake"
}

stand_in dpkg-query <<'END'
printf 'installed here\nnot-installed gone\n'
END
stand_in apt-get <<'END'
echo "apt-get $*" >&2
END
stand_in id <<'END'
echo 1000
END
stand_in sudo <<'END'
exit 1
END

expect "what is installed needs nothing" 0 "" with_setup 'ensure_packages here'
expect "without root the missing packages are named, all of them" 2 \
  "apt-get install --no-install-recommends gone never" with_setup 'ensure_packages here gone never'
expect "packages can be left to the user" 0 "" with_setup 'BENCH_NO_PACKAGES=1; ensure_packages never'
expect "a list has comments" 0 "a b" with_setup \
  'printf "# one\na # two\nb\n" >"$BENCH_CACHE_DIR.txt"; echo $(read_list "$BENCH_CACHE_DIR.txt")'
expect "a failed step shows its log" 3 "the reason" with_setup \
  'step "$BENCH_CACHE_DIR/log/x" "trying" sh -c "echo the reason; exit 3"'
expect "a ninja step keeps the status" 4 "2/4 steps" with_setup \
  'ninja_step "$BENCH_CACHE_DIR/log/x" "trying" sh -c "echo \"[2/4] Building a\"; exit 4"'
expect "a ninja step without work is silent" 0 "" with_setup \
  'test -z "$(ninja_step "$BENCH_CACHE_DIR/log/x" "trying" echo "ninja: no work to do." 2>&1)"'
expect "a lock that its owner left behind is free" 0 "mine" with_setup \
  '(take_lock "$BENCH_CACHE_DIR/l" "works"; kill -9 $(sh -c "echo \$PPID")) && exit 5
   take_lock "$BENCH_CACHE_DIR/l" "works"; echo mine'

# lists_fail TIMES REASON: `apt-get update` fails so often for this reason; waiting takes no time.
lists_fail() {
  : >"$scratch/calls"
  stand_in apt-get <<END
echo >>"$scratch/calls"
[ "\$(wc -l <"$scratch/calls")" -gt $1 ] || { echo "E: $2"; exit 100; }
END
}
stand_in sleep <<'END'
exit 0
END
# Prints what refresh_lists says, in one line, after the number of calls of apt-get.
refresh='root=$BENCH_CACHE_DIR; as_root() { "$@"; }
  said=$(refresh_lists 2>&1 | sed 1d | tr "\n" " "); echo "$(wc -l <"$root/../calls") calls $said"'
lists_fail 2 "Could not get lock /var/lib/apt/lists/lock."
expect "lists that another program holds are waited for, without a word of failure" 0 \
  "3 calls setup: waiting for another program that uses apt-get " with_setup "$refresh"
lists_fail 9 "Could not resolve a name"
expect "lists that cannot be reached are told in one sentence" 0 \
  "1 calls setup: apt-get update failed; going on with the lists that are there " with_setup "$refresh"

onednn="$root/tools/setup/onednn.sh"
fake_onednn "$scratch/two" 2 OMP
fake_onednn "$scratch/sycl" 3 SYCL
fake_onednn "$scratch/three" 3 OMP
export CMAKE_PREFIX_PATH="$scratch/two:$scratch/sycl:$scratch/three"
expect "oneDNN 2 and SYCL builds are passed over" 0 "$scratch/three" sh "$onednn" find
expect "an unknown way is refused" 2 "accepted are source and wheel" \
  env BENCH_ONEDNN=magic sh "$onednn" find
expect "a chosen way leaves installed ones aside" 1 "" env BENCH_ONEDNN=source sh "$onednn" find
expect "building from source names its packages" 0 "libspdlog-dev" \
  env BENCH_ONEDNN=source sh "$onednn" packages

printf '# note\nTypes: deb\nURIs: http://b.example/x\nSuites: other\nComponents: main\n\nTypes: deb deb-src\n# here\nURIs: http://a.example/debian\nSuites: old old-updates\nComponents: main contrib\nSigned-By:\n -----BEGIN\n .\n key\n' \
  >"$scratch/a.sources"
expect "a .sources entry keeps address and key" 0 "ok" sh -euc '
  . "$1/tools/setup/onednn_source.sh"; private_sources "$2/a.sources:2" "$2"
  printf "Types: deb-src\nSuites: trixie\nComponents: main\nURIs: http://a.example/debian\nSigned-By:\n -----BEGIN\n .\n key\n" |
    cmp - "$2/private.sources" && echo ok' test "$root" "$scratch"
printf '# note\ndeb [arch=amd64,arm64 signed-by=/k.gpg] http://a.example/debian old main contrib # all\n' >"$scratch/b.list"
expect "a .list entry keeps address and key" 0 "deb-src [signed-by=/k.gpg] http://a.example/debian trixie main" \
  sh -euc '. "$1/tools/setup/onednn_source.sh"; private_sources "$2/b.list:2" "$2"; cat "$2/private.list"' \
  test "$root" "$scratch"

[ "$failures" = 0 ] || exit 1
