# Functions shared by the tests of the program; source it with BENCH MAKE_TFRECORDS [PYTHON] as arguments.
# shellcheck shell=sh
set -u
LC_ALL=C
export LC_ALL

bench=$1
make_tfrecords=$2
python=${3:-}
[ -x "$python" ] || python=

work=$(mktemp -d "${TMPDIR:-/tmp}/bench_cli.XXXXXX") || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
out=$work/out
err=$work/err
failures=0
# Keeps the tests from writing to the cache of the user who runs them.
BENCH_CACHE_DIR=$work/cache
export BENCH_CACHE_DIR
quick='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=2 --num_intra_threads=1'

fail() {
  failures=$((failures + 1))
  echo "FAILED: $case_name: $*"
  sed 's/^/  stdout: /' "$out"
  sed 's/^/  stderr: /' "$err"
}

# run STATUS ARGS...: runs the program and checks its exit status.
run() {
  expected=$1
  shift
  case_name=$*
  "$bench" "$@" >"$out" 2>"$err" </dev/null
  status=$?
  [ "$status" -eq "$expected" ] || fail "exit status $status, not $expected"
}

# says FILE TEXT, lacks FILE TEXT: check that the text is present or absent.
says() { grep -qF -e "$2" "$1" || fail "'$2' is not there"; }
lacks() { ! grep -qF -e "$2" "$1" || fail "'$2' is there"; }

# The beginnings of stderr lines that are not errors: those of the program's table, and progress.
sed -n 's/^BENCH_STDERR_LINE([a-z_]*, "\(.*\)")$/^\1/p' "${0%/test/*}/terminal/stderr_lines.inc" >"$work/no_error"
[ -s "$work/no_error" ] || { echo 'FAILED: the table of lines on stderr is empty'; exit 1; }
echo '^[a-z][a-z ]*: [a-z]* *[0-9][0-9]* ' >>"$work/no_error"

# stderr has exactly one sentence of the program, in the last line, apart from lines of other kinds.
one_sentence() {
  lines=$(($(grep -c '^bench: ' "$err") + $(grep -v '^bench: ' "$err" | grep -vc -f "$work/no_error")))
  [ "$lines" -eq 1 ] || fail "$lines lines instead of one sentence"
  tail -n 1 "$err" | grep -q '^bench: ' || fail "the last line is not a sentence of bench"
}

# refused TEXT ARGS...: exit status 2 with one sentence that contains TEXT.
refused() {
  text=$1
  shift
  run 2 "$@"
  says "$err" "$text"
  one_sentence
  lacks "$out" 'total images/sec'
}

# computes_in TYPE: true if the program supports the type on this processor. If not, it has to name the instructions.
computes_in() {
  # shellcheck disable=SC2086
  "$bench" $quick --forward_only --dtype="$1" >"$out" 2>"$err" </dev/null && return
  case_name="--dtype=$1"
  says "$err" " to compute in $1, but this processor has "
  one_sentence
  return 1
}

# record_holds CONDITION FILE: true if the condition is true in Python for the record r.
record_holds() {
  [ -n "$python" ] || return 0
  "$python" -c "import json, sys
r = json.load(open(sys.argv[1]))
assert $1, (r['status'], r['partial'], r['status_reason'])" "$2" 2>>"$err" ||
    fail "the record does not hold: $1"
}

# Restores the signal handling that a terminal gives programs. A shell without job control starts background programs
# with SIGINT ignored, and nohup does so with SIGHUP.
interruptible='env --default-signal=INT,TERM,HUP'

# fresh: removes the output of the previous run. A run in the background may open its files late.
fresh() {
  : >"$out"
  : >"$err"
}

# started PID LINE, answered PID LINE: wait until the background run prints such a line on standard output or standard
# error.
started() { wait_for "$1" "$2" "$out"; }
answered() { wait_for "$1" "$2" "$err"; }
wait_for() {
  until grep -q "$2" "$3"; do
    if ! kill -0 "$1" 2>/dev/null; then
      grep -q "$2" "$3" || fail "no line '$2'"
      break
    fi
    sleep 0.1
  done
}

# make_shards NAME SOURCE: makes shards of SOURCE in $work/NAME; $shard is the shard for training.
make_shards() {
  "$make_tfrecords" --output_dir="$work/$1" --shards=1 "$2" >"$work/make.log" 2>&1 || {
    cat "$work/make.log"
    echo 'FAILED: no shards'
    exit 1
  }
  shard=$work/$1/train-00000-of-00001
}

# make_pictures FOLDER: makes eight grey 16 x 16 images in MNIST's format, four of class 0 and four of class 1. Their
# records have the labels 1 and 2.
make_pictures() {
  mkdir "$1"
  for set in train t10k; do
    {
      printf '\000\000\010\003\000\000\000\010\000\000\000\020\000\000\000\020'
      head -c 2048 /dev/zero | tr '\000' 'x'
    } >"$1/$set-images-idx3-ubyte"
    printf '\000\000\010\001\000\000\000\010\000\001\000\001\000\001\000\001' \
      >"$1/$set-labels-idx1-ubyte"
  done
}

endless='--model=lenet --batch_size=2 --num_intra_threads=1 --num_warmup_batches=1'
endless="$endless --num_batches=100000000"

# Prints the failures and ends the script.
finish() {
  [ -n "$python" ] || echo 'skipped without Python: the checks of records'
  if [ "$failures" -ne 0 ]; then
    echo "$failures failures"
    exit 1
  fi
  echo 'all as expected'
}
