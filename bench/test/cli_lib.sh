# What the tests of the program share; to be sourced with BENCH MAKE_TFRECORDS [PYTHON] as arguments.
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
# Nothing is left in the cache of whoever runs the tests.
BENCH_CACHE_DIR=$work/cache
export BENCH_CACHE_DIR
quick='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=2 --num_intra_threads=1'

fail() {
  failures=$((failures + 1))
  echo "FAILED: $case_name: $*"
  sed 's/^/  stdout: /' "$out"
  sed 's/^/  stderr: /' "$err"
}

# run STATUS ARGS...: runs the program and looks at its exit status.
run() {
  expected=$1
  shift
  case_name=$*
  "$bench" "$@" >"$out" 2>"$err" </dev/null
  status=$?
  [ "$status" -eq "$expected" ] || fail "exit status $status, not $expected"
}

# says FILE TEXT, lacks FILE TEXT: whether the text is there.
says() { grep -qF -e "$2" "$1" || fail "'$2' is not there"; }
lacks() { ! grep -qF -e "$2" "$1" || fail "'$2' is there"; }

# How lines on stderr begin that are no error: as the program's own table has them, and progress.
sed -n 's/^BENCH_STDERR_LINE([a-z_]*, "\(.*\)")$/^\1/p' "${0%/test/*}/host/stderr_lines.inc" >"$work/no_error"
[ -s "$work/no_error" ] || { echo 'FAILED: the table of lines on stderr is empty'; exit 1; }
echo '^[a-z][a-z ]*: [a-z]* *[0-9][0-9]* ' >>"$work/no_error"

# One sentence of ours, in the last line, besides other kinds of lines.
one_sentence() {
  lines=$(grep -vc -f "$work/no_error" "$err")
  [ "$lines" -eq 1 ] || fail "$lines lines instead of one sentence"
  tail -n 1 "$err" | grep -q '^bench: ' || fail "the last line is no sentence of ours"
}

# refused TEXT ARGS...: exit 2 with one sentence that says TEXT.
refused() {
  text=$1
  shift
  run 2 "$@"
  says "$err" "$text"
  one_sentence
  lacks "$out" 'total images/sec'
}

# computes_in TYPE: whether the program computes in it on this processor. If not, it has to name the instructions.
computes_in() {
  # shellcheck disable=SC2086
  "$bench" $quick --forward_only --dtype="$1" >"$out" 2>"$err" </dev/null && return
  case_name="--dtype=$1"
  says "$err" "onednn computes in $1 on processors with "
  one_sentence
  return 1
}

# record_holds CONDITION FILE: whether Python finds it true of the record r.
record_holds() {
  [ -n "$python" ] || return 0
  "$python" -c "import json, sys
r = json.load(open(sys.argv[1]))
assert $1, (r['status'], r['partial'], r['status_reason'])" "$2" 2>>"$err" ||
    fail "the record does not hold: $1"
}

# As a terminal starts programs: a shell without job control has those in the background ignore
# SIGINT, and nohup SIGHUP.
interruptible='env --default-signal=INT,TERM,HUP'

# started PID LINE, answered PID LINE: waits until the run in the background has printed such a line
# on standard output, on standard error.
started() { wait_for "$1" "$2" "$out"; }
answered() {
  wait_for "$1" "$2" "$err"
  grep -q "$2" "$err" || fail "no line '$2'"
}
wait_for() {
  tries=0
  until grep -q "$2" "$3"; do
    tries=$((tries + 1))
    if [ "$tries" -ge 6000 ] || ! kill -0 "$1" 2>/dev/null; then break; fi
    sleep 0.1
  done
}

# make_shards NAME SOURCE: shards of it in $work/NAME; $shard is the one for training.
make_shards() {
  "$make_tfrecords" --output_dir="$work/$1" --shards=1 "$2" >"$work/make.log" 2>&1 || {
    cat "$work/make.log"
    echo 'FAILED: no shards'
    exit 1
  }
  shard=$work/$1/train-00000-of-00001
}

# make_pictures FOLDER: eight grey pictures of 16 x 16 pixels, four of class 0 and four of class 1, in
# MNIST's form; their records' labels are 1 and 2.
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

# Prints what failed and ends the script.
finish() {
  [ -n "$python" ] || echo 'left out without Python: what the records hold'
  if [ "$failures" -ne 0 ]; then
    echo "$failures failures"
    exit 1
  fi
  echo 'all as expected'
}
