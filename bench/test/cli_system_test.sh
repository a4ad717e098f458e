#!/bin/sh
# Tests the program under limits of the system and with variables of its libraries. Checks exit status, standard output,
# standard error and the record.
# cli_system_test.sh BENCH MAKE_TFRECORDS [PYTHON]; without Python the record's JSON is not parsed.
. "${0%/*}/cli_lib.sh"

# under LIMIT STATUS ARGS...: runs the program under `ulimit LIMIT`.
under() {
  limit=$1
  expected=$2
  shift 2
  case_name="ulimit $limit: $*"
  # shellcheck disable=SC2086
  (ulimit $limit && exec "$bench" "$@") >"$out" 2>"$err" </dev/null
  status=$?
  [ "$status" -eq "$expected" ] || fail "exit status $status, not $expected"
}
small='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=2'

# --- threads -------------------------------------------------------------------------------------

processors=$(nproc)
cores=$(lscpu -p=core 2>/dev/null | grep -v '^#' | sort -u | wc -l)
OMP_THREAD_LIMIT=1
export OMP_THREAD_LIMIT
case_name='OMP_THREAD_LIMIT=1'
# shellcheck disable=SC2086
"$bench" $small >"$out" 2>"$err" </dev/null || fail 'it fails, or waits for a thread'
if [ "$processors" -gt 1 ] && [ "$cores" -gt 1 ]; then
  says "$err" 'note: OMP_THREAD_LIMIT allows 1 of '
  # shellcheck disable=SC2086
  refused '--num_intra_threads=2: OMP_THREAD_LIMIT allows 1' $small --num_intra_threads=2
fi
unset OMP_THREAD_LIMIT
# Stacks larger than the address space: no thread can be started.
# shellcheck disable=SC2086
under '-s 200000000000' 1 $small
says "$err" 'bench: cannot start a thread: '
one_sentence

# Waiting threads sleep after a short time, unless the user's variables say otherwise.
run 0 $small --result_file="$work/waits.json"
record_holds "r['env']['GOMP_SPINCOUNT'] == '10000'" "$work/waits.json"
case_name='a link to the program, an argument with blanks, and the loader by name'
ln -s "$(readlink -f "$bench")" "$work/a link"
# shellcheck disable=SC2086
"$work/a link" $small --result_file="$work/a  record.json" >"$out" 2>"$err" </dev/null || fail 'it fails'
record_holds "r['flags']['command_line'][-1].endswith('/a  record.json')" "$work/a  record.json"
loader=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -1)
if [ -n "$loader" ]; then
  # shellcheck disable=SC2086
  "$loader" "$bench" $small >"$out" 2>"$err" </dev/null || fail 'it fails'
  says "$out" 'total images/sec'
fi
case_name='OMP_WAIT_POLICY'
# shellcheck disable=SC2086
OMP_WAIT_POLICY=active "$bench" $small --result_file="$work/active.json" >"$out" 2>"$err" </dev/null ||
  fail 'it fails'
record_holds "'GOMP_SPINCOUNT' not in r['env']" "$work/active.json"

# Stacks too small for any kernel.
OMP_STACKSIZE=16k
export OMP_STACKSIZE
# shellcheck disable=SC2086
refused 'OMP_STACKSIZE gives each thread a stack of 16384 bytes; accepted: at least 256K' $small
unset OMP_STACKSIZE
# shellcheck disable=SC2086
under '-s 64' 2 $small
says "$err" 'bench: the stack limit (ulimit -s) is 64 KiB; accepted: at least 256 KiB'
one_sentence

# --- memory --------------------------------------------------------------------------------------

# Enough for the threads of every processor, with a small reserve.
under "-d $((150000 + processors * 17000))" 0 --model=lenet --batch_size=max --num_warmup_batches=1 \
  --num_batches=1 --forward_only
says "$err" ' of the usable '
says "$err" ' (ulimit -d)'
arenas=$((processors < 4 ? processors : 4))
under "-v $((200000 + processors * 17000 + arenas * 132000))" 0 --model=lenet --batch_size=max \
  --num_warmup_batches=1 --num_batches=1 --forward_only
says "$err" ' of the usable '
says "$err" ' (ulimit -v)'
run 1 --model=lenet --verify --batch_size=1073741824
says "$err" 'of memory (mmap: Cannot allocate memory)'

# --- variables of libraries ------------------------------------------------------------------------

case_name='ONEDNN_VERBOSE'
# shellcheck disable=SC2086
ONEDNN_VERBOSE=1 "$bench" $quick --result_file="$work/verbose.json" >"$out" 2>"$err" </dev/null ||
  fail 'it fails'
lacks "$out" 'onednn_verbose'
says "$out" 'total images/sec'
says "$err" 'onednn_verbose'
says "$err" 'warning: ONEDNN_VERBOSE=1 makes oneDNN '
record_holds "any('ONEDNN_VERBOSE=1' in w for w in r['quality']['warnings'])" "$work/verbose.json"
if grep -q avx2 /proc/cpuinfo; then
  case_name='DNNL_MAX_CPU_ISA'
  # shellcheck disable=SC2086
  env -u ONEDNN_MAX_CPU_ISA DNNL_MAX_CPU_ISA=SSE41 "$bench" $quick --result_file="$work/sse.json" >"$out" 2>"$err" </dev/null ||
    fail 'it fails'
  says "$err" 'warning: DNNL_MAX_CPU_ISA=SSE41 prevents oneDNN from using '
  record_holds "any('DNNL_MAX_CPU_ISA=SSE41' in w for w in r['quality']['warnings'])" "$work/sse.json"

  # No layer of a training step falls back to oneDNN's reference, which is many times slower.
  case_name='AVX2 only'
  # shellcheck disable=SC2086
  ONEDNN_MAX_CPU_ISA=AVX2 "$bench" $quick --dump=plan >"$out" 2>"$err" </dev/null || fail "exit status $?"
  says "$out" 'fc0/backward_weights'
  lacks "$out" 'ref:'
fi

finish
