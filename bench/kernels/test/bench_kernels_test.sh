#!/bin/sh
# Tests bench_kernels from the command line: which kernels it lists, what it prints about each, what it refuses.
# bench_kernels_test.sh BENCH_KERNELS [LIBRARY_OF_AN_EMULATED_GPU]
set -u
LC_ALL=C
export LC_ALL

work=$(mktemp -d "${TMPDIR:-/tmp}/bench_kernels.XXXXXX") || exit 1
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
absent() { ! grep -qE -e "$2" "$work/$1" || fail "'$2' is there"; }

lenet='--model=lenet --batch_size=2 --num_intra_threads=1'

# shellcheck disable=SC2086
run 0 $lenet --benchmark_list_tests
for format in NCHW NHWC auto; do
  says out "^lenet/train/b2/f32/$format/t1/conv2d/conv0/x1/manual_time$"
  says out "^lenet/train/b2/f32/$format/t1/conv2d_backward_weights/.*/x1/manual_time$"
done
# shellcheck disable=SC2086
run 0 $lenet --forward_only --data_format=NHWC --benchmark_list_tests
says out '^lenet/infer/b2/f32/NHWC/t1/conv2d/'
absent out 'backward|NCHW|auto'

# shellcheck disable=SC2086
run 0 $lenet --data_format=auto --benchmark_min_time=0.001
says out '^lenet/.*/conv2d/conv0/x1/manual_time .* GB/s=[0-9.]+.* GFLOP/s=[0-9.]+.* count=1 ms/step='
says out '^lenet/.*/max_pool_backward/'
kernels=$(grep -c '^lenet/' "$work/out")
says err "^auto: $kernels of $kernels kernels ran and take [0-9.e-]+ ms of a step$"
# shellcheck disable=SC2086
run 0 $lenet --data_format=auto --benchmark_min_time=0.001 --benchmark_filter='/conv2d/'
says err '^auto: 2 of [0-9]+ kernels ran'

run 0 --benchmark_filter='^conv2d_' --benchmark_list_tests --num_intra_threads=1
says out '/NHWC/manual_time$'
absent out 'lenet'
first=$(head -n 1 "$work/out" | sed 's,/manual_time,,')
run 0 --num_intra_threads=1 --benchmark_min_time=0.001 --benchmark_filter="^$first"
says out 'GFLOP/s='

run 0 rnn --benchmark_list_tests
says out '^lstm/h512/n1/t25/f32/fused/inference/manual_time$'
says out '^rnn_relu/h1760/n16/t50/f32/stepwise/backward/manual_time$'
says out '^gru_reset_after/h512/n32/t1/f32/fused/forward/manual_time$'
absent out 'gru.*stepwise'
run 0 rnn --num_intra_threads=1 --benchmark_min_time=0.001 --benchmark_filter='^rnn_relu/h64/'
for form in fused stepwise; do
  says out "^rnn_relu/h64/n1/t96/f32/$form/inference/.* % of matmul=[0-9.]+ GFLOP/s=[0-9.]+ MiB=[0-9.]+ us/step=[0-9.]+ "
done
run 2 rnn --dtype=int8 --benchmark_list_tests
says err '^bench_kernels: --dtype=int8 '
run 2 rnn --device=reference --dtype=f64 --benchmark_list_tests
says err '^bench_kernels: --dtype=f64: '
run 2 rnn --model=lenet
says err '^bench_kernels: --model: accepted flags of rnn are num_intra_threads, '

if [ $# -gt 1 ]; then
  BENCH_GPU_LIBRARY=$2
  export BENCH_GPU_LIBRARY
  run 0 --model=lenet --batch_size=2 --device=gpu --data_format=NHWC --benchmark_min_time=0.001
  says out '^lenet/.*/conv2d/conv0/x1/manual_time .* GB/s='
  kernels=$(grep -c '^lenet/' "$work/out")
  says err "^NHWC: $kernels of $kernels kernels ran"
  run 0 --device=gpu --data_format=NHWC --benchmark_min_time=0.001 --benchmark_filter='^(conv2d_bias|quantize|embedding_line|rnn_lstm_odd)_?'
  says out '^conv2d_bias/NHWC/manual_time .* GFLOP/s='
  says out 'ERROR OCCURRED: .int8 runs only on the CPU'
  says out '^embedding_line/NHWC/manual_time .* GB/s='
  says out '^rnn_lstm_odd/NHWC/manual_time .* GFLOP/s='
  unset BENCH_GPU_LIBRARY
fi

run 2 --benchmark_filter=x --batch_size=2
says err '^bench_kernels: --batch_size: accepted flags without --model are data_format, '
run 2 --model=lenet --result_file=x
says err '^bench_kernels: --result_file: accepted flags are data_format, '
run 2 --model=lenet --batch_size=2,4
says err 'must be one number'
run 2 --model=lenett
says err 'did you mean lenet'
run 0 --help
says out 'Usage: bench_kernels'

if [ "$failures" -ne 0 ]; then
  echo "$failures failures"
  exit 1
fi
echo 'all as expected'
