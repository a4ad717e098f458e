#!/bin/sh
# Tests of the setup scripts with stand-ins for the system's commands. Nothing is installed, downloaded or built.
# shellcheck disable=SC2016  # the code in quotes runs in another shell
set -eu

root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
unset BENCH_ONEDNN BENCH_CUDA BENCH_NO_PACKAGES CMAKE_PREFIX_PATH CUDACXX CUDA_PATH CUDA_HOME CUDNN_ROOT CUDNN_PATH
export BENCH_CACHE_DIR="$scratch/cache"
failures=0

# stand_in NAME: makes a command NAME from the script on stdin.
stand_in() {
  { echo '#!/bin/sh' && cat; } >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

# expect CLAIM STATUS TEXT COMMAND...: COMMAND must end with STATUS and print TEXT.
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

# with_setup CODE: sources setup.sh, then runs CODE.
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
expect "a ninja step keeps the status" 4 "2 of 4 steps, about 3 seconds left" with_setup \
  'ninja_step "$BENCH_CACHE_DIR/log/x" "trying" sh -c "echo \"[2/4 3.5] Building a\"; exit 4"'
expect "a ninja step without work is silent" 0 "" with_setup \
  'test -z "$(ninja_step "$BENCH_CACHE_DIR/log/x" "trying" echo "ninja: no work to do." 2>&1)"'
expect "a lock that its owner left behind is free" 0 "mine" with_setup \
  '(take_lock "$BENCH_CACHE_DIR/l" "works"; kill -9 $(sh -c "echo \$PPID")) && exit 5
   take_lock "$BENCH_CACHE_DIR/l" "works"; echo mine'

# lists_fail TIMES REASON: `apt-get update` fails TIMES times for this reason, and waiting takes no time.
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
# Prints the number of calls of apt-get and the output of refresh_lists, in one line.
refresh='root=$BENCH_CACHE_DIR; as_root() { "$@"; }
  said=$(refresh_lists 2>&1 | sed 1d | tr "\n" " "); echo "$(wc -l <"$root/../calls") calls $said"'
lists_fail 2 "Could not get lock /var/lib/apt/lists/lock."
expect "lists that another program holds are waited for, without a word of failure" 0 \
  "3 calls setup: waiting for another program that uses apt-get " with_setup "$refresh"
lists_fail 9 "Could not resolve a name"
expect "unreachable package lists cause one message" 0 \
  "1 calls setup: apt-get update failed; continuing with the existing package lists " with_setup "$refresh"

onednn="$root/tools/setup/onednn.sh"
fake_onednn "$scratch/two" 2 OMP
fake_onednn "$scratch/sycl" 3 SYCL
fake_onednn "$scratch/three" 3 OMP
export CMAKE_PREFIX_PATH="$scratch/two:$scratch/sycl:$scratch/three"
expect "oneDNN 2 and SYCL builds are passed over" 0 "$scratch/three" sh "$onednn" find
expect "an unknown way is refused" 2 "unknown value; accepted: source, wheel" \
  env BENCH_ONEDNN=magic sh "$onednn" find
expect "a chosen way leaves installed ones aside" 1 "" env BENCH_ONEDNN=source sh "$onednn" find
for script in onednn cuda_wheels; do
  expect "without a folder for the cache, $script says so and ends" 2 "cannot choose a cache folder: set BENCH_CACHE_DIR or HOME" \
    env -u BENCH_CACHE_DIR -u XDG_CACHE_HOME -u HOME BENCH_ONEDNN=source sh "$root/tools/setup/$script.sh" packages
done
expect "an installed oneDNN needs no folder for the cache" 0 "$scratch/three" \
  env -u BENCH_CACHE_DIR -u XDG_CACHE_HOME -u HOME sh "$onednn" find
expect "building from source names its packages" 0 "libspdlog-dev" \
  env BENCH_ONEDNN=source sh "$onednn" packages

# A build folder that was configured without any part of CUDA, and its list of missing parts.
configured='root=$BENCH_CACHE_DIR/tree PATH=/usr/bin:/bin cuda_folders=$BENCH_CACHE_DIR/cuda cuda_prefix= onednn_prefix=/o
  folder=$root/build/x
  mkdir -p "$folder" "$cuda_folders/bin" "$cuda_folders/include"
  touch "$root/CMakePresets.json" "$folder/build.ninja"
  printf "%s\n" "CMAKE_HOME_DIRECTORY:INTERNAL=$root" BENCH_ONEDNN_PREFIX:PATH=/o BENCH_CUDA_PREFIX:PATH= \
    "BENCH_GPUS_MISSING:INTERNAL=cuDNN 9 (no cudnn.h)" >"$folder/CMakeCache.txt"
  rm -f "$cuda_folders/include/cudnn.h"; cuda_seen >"$folder/cuda_seen"; '
expect "a build folder without GPUs is configured where nothing was installed since" 0 "" \
  with_setup "$configured"'is_configured "$folder"'
expect "it is not, where a part of CUDA was installed since" 1 "" \
  with_setup "$configured"'touch "$cuda_folders/include/cudnn.h"; is_configured "$folder"'
expect "it is not, where another version took the place of an installed part" 1 "" with_setup "$configured"'
  touch -d 2020-01-01 "$cuda_folders/include/cudnn.h"; cuda_seen >"$folder/cuda_seen"; is_configured "$folder" || exit 5
  touch "$cuda_folders/include/cudnn.h"; is_configured "$folder"'
expect "with support for GPUs it is, whatever is installed since" 0 "" with_setup "$configured"'
  sed -i "s/\(MISSING:INTERNAL=\).*/\1/" "$folder/CMakeCache.txt"
  touch "$cuda_folders/include/cudnn.h"; is_configured "$folder"'
expect "it is not for CUDA from elsewhere" 1 "" with_setup "$configured"'cuda_prefix=/w; is_configured "$folder"'
expect "missing parts for GPUs are reported with their remedy" 0 \
  "because these parts were not found: cuDNN 9 (no cudnn.h); install them, or set BENCH_CUDA=wheels to fetch all" \
  with_setup "$configured"'tell_gpus "$folder"'
expect "a build with GPU support reports nothing" 0 "silent" with_setup "$configured"'
  sed -i "s/\(MISSING:INTERNAL=\).*/\1/" "$folder/CMakeCache.txt"; test -z "$(tell_gpus "$folder" 2>&1)" && echo silent'
expect "an unknown way to CUDA is refused" 2 "BENCH_CUDA=magic: unknown value; accepted: wheels, system" \
  with_setup 'BENCH_CUDA=magic; choose_cuda find'
expect "fetching CUDA names its packages" 0 "python3-pip" sh "$root/tools/setup/cuda_wheels.sh" packages

# fake_wheels BODY: replaces pip. It downloads nothing and makes wheels of the files that BODY prints, one path per
# line.
fake_wheels() {
  stand_in python3 <<END
case "\$*" in
  *"pip download"*--require-hashes*) mkdir -p "$scratch/wheels"; while [ "\$1" != --dest ]; do shift; done; : >"\$2/a.whl" ;;
  *"zipfile -e"*) $1 | while read -r path; do mkdir -p "\$5/\${path%/*}"; echo "\$path" >"\$5/\$path"; done ;;
esac
END
}
fake_wheels 'printf "%s\n" nvidia/cu13/bin/nvcc nvidia/cu13/nvvm/bin/cicc nvidia/cu13/include/cublasLt.h nvidia/cudnn/include/cudnn.h nvidia/cu13/lib/libcudart.so.13 a.dist-info/RECORD'
expect "wheels of CUDA become a toolkit" 0 "nvidia/cu13/lib/libcudart.so.13" sh -euc '
  prefix=$(sh "$1/tools/setup/cuda_wheels.sh" ensure)
  test -x "$prefix/bin/nvcc" && test -d "$prefix/dist-info/a.dist-info" && cat "$prefix/targets/x86_64-linux/lib/libcudart.so"
  test "$(sh "$1/tools/setup/cuda_wheels.sh" find)" = "$prefix"' test "$root"
expect "fetched wheels are used if nothing is installed" 0 "/cuda-13" with_setup "$configured"'
  root=$1; choose_cuda find; echo "$cuda_prefix"'
expect "and is ignored if all three parts are installed" 0 "[]" with_setup "$configured"'
  root=$1; touch "$cuda_folders/bin/nvcc" "$cuda_folders/include/cublasLt.h"; choose_cuda find; echo "[$cuda_prefix]"
  touch "$cuda_folders/include/cudnn.h"; choose_cuda find; echo "[$cuda_prefix]"'
expect "and is ignored if the system's CUDA is requested" 0 "[]" with_setup "$configured"'
  root=$1; BENCH_CUDA=system; choose_cuda ensure; echo "[$cuda_prefix]"'
rm -rf "$BENCH_CACHE_DIR"/cuda-*
fake_wheels 'printf "%s\\n" nvidia/cu13/bin/nvcc nvidia/cu13/nvvm/bin/cicc a.dist-info/RECORD'
expect "wheels that lack a part are refused" 2 "CUDA from wheels is not usable" \
  sh "$root/tools/setup/cuda_wheels.sh" ensure

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
