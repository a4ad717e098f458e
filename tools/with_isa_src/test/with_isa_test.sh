#!/bin/sh
# Programs under the preloaded library use no more than the instruction set that is named.
# with_isa_test.sh BENCH PRELOADED_LIBRARY PYTHON
set -eu

bench=$1 preloaded=$2 python=$3
command -v objdump >/dev/null || { echo 'SKIPPED  objdump is not installed' && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -B "$(dirname "$(dirname "$0")")/find_cpuid.py" "$scratch/sites" "$bench"

# isa_used [VARIABLE=VALUE...]: what the record of a run says.
isa_used() {
  env "$@" "$bench" --device=cpu --model=lenet --batch_size=2 --num_batches=1 --num_warmup_batches=1 \
    --num_intra_threads=1 --result_file="$scratch/record.json" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2 && exit 1; }
  "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["cpu"]["isa_used"])' "$scratch/record.json"
}

own=$(isa_used)
failures=0
for isa in AVX2 AVX512_CORE AVX512_CORE_VNNI; do
  used=$(isa_used "WITH_ISA=$isa" "WITH_ISA_SITES=$scratch/sites" "LD_PRELOAD=$preloaded")
  # A processor that has no more than the level keeps what it has.
  case $used in
    "$(echo "$isa" | tr '[:upper:]' '[:lower:]')" | "$own") echo "ok      $isa: $used of $own" ;;
    *) echo "FAILED  $isa: $used is used" && failures=1 ;;
  esac
  case $isa:$own in
    AVX2:avx512*) [ "$used" = avx2 ] || { echo "FAILED  nothing is hidden" && failures=1; } ;;
  esac
done
exit "$failures"
