#!/bin/sh
# Tests bench_all_reduce from the command line.
# bench_all_reduce_test.sh BENCH_ALL_REDUCE [EMULATED_GPU_LIBRARY]
set -u
LC_ALL=C
export LC_ALL

work=$(mktemp -d "${TMPDIR:-/tmp}/bench_all_reduce.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $case_name: $*"
  sed 's/^/  stdout: /' "$work/out"
  sed 's/^/  stderr: /' "$work/err"
}

# run STATUS ARGS...: runs the program and checks its exit status.
program=$1
run() {
  expected=$1
  shift
  case_name=$*
  "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ "$status" -eq "$expected" ] || fail "exit status $status, not $expected"
}
says() { grep -qE -e "$2" "$work/$1" || fail "'$2' is not there"; }

# A machine with one processor has one tower.
towers=2
[ "$(nproc)" -ge 2 ] || towers=1

run 0 --num_gpus=$towers --num_intra_threads=1 --sizes=1K:16K:4 --num_batches=3 --iters_per_step=2
says out "^$towers towers x 1 threads, f32, medians of 3 steps of 2 all-reduces$"
[ "$(wc -l <"$work/err")" = 3 ] || fail 'not one line of progress for each size'
says out '^bound: every byte of every tower is read once and written once'
for size in 1024 4096 16384; do
  for spec in shm xring pscpu psgpu rechd tree; do
    says out "^ *$size +1  $spec +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ +0$"
  done
done

run 0 --num_gpus=$towers --num_intra_threads=1 --model=lenet --all_reduce_spec=pscpu:32k:xring --num_batches=20 \
  --result_file="$work/result.json"
says out '^ *[0-9]+ +8  pscpu:32768:xring .* 0$'
says out '^Iteration: 10\. Average time per step so far: [0-9.e-]+$'
tail -n 1 "$work/out" | grep -qE '^Average time per step: [0-9.]+$' || fail 'the last line'
grep -q '"model": "lenet"' "$work/result.json" || fail 'the JSON'

run 0 --num_gpus=1 --sizes=4K --num_batches=1 --result_file=-
says out '"wrong_elements": 0'

run 0 --help
says out '^  --sizes=FROM:TO:FACTOR '
run 2 --num_gpus=100000
says err '^bench_all_reduce: --num_gpus=100000: this process may use '
run 2 --sizes=10
says err '^bench_all_reduce: --sizes: 10 is not a multiple of 4'
run 2 --sizes=x
says err '^bench_all_reduce: --sizes=x: must be '
run 2 --all_reduce_spec=nccl
says err '^bench_all_reduce: --all_reduce_spec=nccl: NCCL needs GPUs; add --device=gpu$'
run 2 --modell=lenet
says err '^bench_all_reduce: --modell=lenet: unknown option; did you mean --model?'

run 2 --device=tpu
says err '^bench_all_reduce: --device=tpu: unknown value; accepted: cpu, gpu'
run 2 --device=gpu --num_intra_threads=1
says err '^bench_all_reduce: --num_intra_threads is for CPU towers'

run 74 --sizes=1K --num_batches=1 --num_gpus=1 --all_reduce_spec=shm --result_file=/dev/full
says err "^bench_all_reduce: cannot write the result file '/dev/full': "

if [ $# -ge 2 ]; then
  BENCH_GPU_LIBRARY=$2
  BENCH_NCCL_LIBRARY=$2
  EMULATED_GPUS=3
  export BENCH_GPU_LIBRARY BENCH_NCCL_LIBRARY EMULATED_GPUS
  few='--device=gpu --sizes=1K:4K:4 --num_batches=2 --num_warmup_batches=1 --iters_per_step=2'
  # shellcheck disable=SC2086
  run 0 $few --num_gpus=3
  says out '^3 towers x .*, f32, medians of 2 steps of 2 all-reduces$'
  for size in 1024 4096; do
    for spec in shm xring rechd nccl; do
      says out "^ *$size +1  $spec +[0-9.]+ +[0-9.]+ +[0-9.]+ +- +- +0$"
    done
  done
  # shellcheck disable=SC2086
  run 0 $few --all_reduce_spec=nccl --result_file=-
  says out '"spec": "nccl"'
  says out '"wrong_elements": 0'
  says out '"bound": null'
  # shellcheck disable=SC2086
  run 2 $few --num_gpus=4
  says err '^bench_all_reduce: --num_gpus=4: this host has 3 usable GPUs$'
  BENCH_NCCL_LIBRARY=$work/missing.so
  # shellcheck disable=SC2086
  run 0 $few --num_gpus=2
  says err '^note: NCCL is not timed: cannot open NCCL: '
  # shellcheck disable=SC2086
  run 2 $few --all_reduce_spec=nccl
  says err '^bench_all_reduce: cannot open NCCL: '
fi

if [ "$failures" -ne 0 ]; then
  echo "$failures failures"
  exit 1
fi
echo 'all as expected'
