#!/bin/sh
# Tests how runs end and what they leave: signals during set-up, a reader that goes away, outputs of all kinds.
# cli_endings_test.sh BENCH MAKE_TFRECORDS [PYTHON]; without Python the record's JSON is not parsed.
. "${0%/*}/cli_lib.sh"

# --- signals before the first step -----------------------------------------------------------------

# interrupted STATUS ARGS...: starts a run and sends it SIGINT when standard error contains the line $when.
interrupted() {
  expected=$1
  shift
  case_name="SIGINT: $*"
  fresh
  $interruptible "$bench" "$@" >"$out" 2>"$err" </dev/null &
  pid=$!
  wait_for "$pid" "$when" "$watched"
  kill -INT "$pid"
  wait "$pid"
  status=$?
  [ "$status" -eq "$expected" ] || fail "exit status $status, not $expected"
  says "$err" 'SIGINT: the run ends after the current step, or during set-up after the current part. Send it again '
  lacks "$out" 'total images/sec'
}

# Plans for many seconds, and reports that after two.
watched=$err
when='^planning: [0-9]* layers$'
interrupted 130 --model=nasnetlarge --batch_size=max --num_intra_threads=1
says "$err" 'ended by SIGINT while planning'
[ ! -s "$out" ] || fail 'something is on standard output'

# On the slow device the check of all models takes hours.
watched=$out
when='^model  *dataset '
interrupted 130 --verify=all --device=reference
grep -qE '^ended by SIGINT (while planning|while checking|before the check of )' "$err" || fail 'no place is named'

# Calibration takes hours; the record contains what was begun.
watched=$err
when='^calibrating int8 with 1000000 batches'
interrupted 130 --model=lenet --dtype=int8 --forward_only --device=reference --batch_size=2 \
  --calibration_batches=1000000 --result_file="$work/calibrating.json"
says "$err" 'ended by SIGINT while calibrating int8'
record_holds "r['status'] == 'aborted' and r['partial'] and r['series']['step_ns'] == [] and \
r['status_reason'] == 'ended by SIGINT while calibrating int8'" "$work/calibrating.json"

# Measuring the ceiling and the kernels takes seconds after the last step.
case_name='SIGKILL before the check'
"$bench" --model=lenet --device=cpu --batch_size=2 --num_warmup_batches=0 --num_batches=2 --profile \
  --result_file="$work/killed.json" >"$out" 2>"$err" </dev/null &
killed=$!
while [ ! -e "$work/killed.json" ] && kill -0 "$killed" 2>/dev/null; do sleep 0.01; done
kill -KILL "$killed"
wait "$killed" 2>/dev/null || status=$?
[ "$status" -eq 137 ] || fail "exit status $status, not 137"
record_holds "r['status'] == 'aborted' and not r['partial'] and len(r['series']['step_ns']) == 2 and \
r['status_reason'] == 'the process ended before the check of the network'" "$work/killed.json"

case_name='signals that were ignored at launch'
: >"$out"
(
  trap '' INT HUP
  # shellcheck disable=SC2086
  exec "$bench" $endless >"$out" 2>"$err" </dev/null
) &
pid=$!
started "$pid" '^1	images'
kill -INT "$pid"
kill -HUP "$pid"
kill -TERM "$pid"
wait "$pid"
status=$?
[ "$status" -eq 143 ] || fail "exit status $status, not 143"
says "$err" 'ended by SIGTERM after '

# --- a reader that goes away -----------------------------------------------------------------------

case_name='standard output is closed'
# shellcheck disable=SC2086
{
  "$bench" $endless --result_file="$work/closed.json" 2>"$err" </dev/null
  echo "$?" >"$work/status"
} | head -n 1 >"$out"
[ "$(cat "$work/status")" -eq 74 ] || fail "exit status $(cat "$work/status"), not 74"
tail -n 1 "$err" | grep -qx 'bench: standard output cannot be written' || fail 'no sentence of ours'
record_holds "r['status'] == 'failed' and r['partial'] and \
r['status_reason'].startswith('standard output cannot be written ')" "$work/closed.json"

# --- outputs ---------------------------------------------------------------------------------------

case_name='a record on standard output'
# shellcheck disable=SC2086
run 0 $quick --result_file=-
grep -n '^{$' "$out" >"$work/begin" || fail 'no record'
tail -n +"$(cut -d : -f 1 "$work/begin")" "$out" >"$work/stdout.json"
record_holds "r['status'] == 'ok' and len(r['verification']['numbers']) > 0" "$work/stdout.json"
says "$out" 'total images/sec'

case_name='a record behind what a log holds'
echo 'what was there' >"$work/log"
for name in /dev/stdout /dev/fd/1; do
  # shellcheck disable=SC2086
  "$bench" $quick --result_file=$name >>"$work/log" 2>"$err" </dev/null || fail "exit status $?"
done
[ "$(head -n 1 "$work/log")" = 'what was there' ] || fail 'the log lost its first line'
[ "$(grep -c '^{$' "$work/log")" -eq 2 ] || fail 'not two records'
[ "$(grep -c '^total images/sec' "$work/log")" -eq 2 ] || fail 'not two totals'

case_name='a record into a pipe'
# shellcheck disable=SC2086
"$bench" $quick --result_file=/dev/stderr 2>&1 >"$out" </dev/null | cat >"$work/piped"
[ "$(grep -c '^{$' "$work/piped")" -eq 1 ] || fail 'no record'
# shellcheck disable=SC2086
run 0 $quick --result_file=/dev/null --trace_file=/dev/null
[ -c /dev/null ] || fail 'there is no /dev/null any more'

# shellcheck disable=SC2086
run 0 $quick --save_variables="$work/w"
before=$(cksum "$work/w")
ln -s w "$work/link"
# shellcheck disable=SC2086
refused ', which --init_from reads' $quick --init_from="$work/w" --result_file="$work/link"
# shellcheck disable=SC2086
refused 'name the same file' $quick --result_file="$work/new" --trace_file="$work/./new"
[ "$(cksum "$work/w")" = "$before" ] || fail 'the weights changed'

# A sweep checks all its outputs before the first run.
mkdir "$work/sweep.batch4.json"
# shellcheck disable=SC2086
refused 'it is a folder' $quick --batch_size=2,4 --result_file="$work/sweep.json"
[ ! -s "$out" ] || fail 'the first run was made'
mkdir "$work/trace.batch4.json"
# shellcheck disable=SC2086
refused 'it is a folder' $quick --batch_size=2,4 --trace_file="$work/trace.json"
[ ! -s "$out" ] || fail 'the first run was made'

# A file beyond the process's limit counts as a failed write and does not end the process.
case_name='ulimit -f'
(
  ulimit -f 8
  # shellcheck disable=SC2086
  exec "$bench" $quick --save_variables="$work/large" >"$out" 2>"$err" </dev/null
)
status=$?
[ "$status" -eq 74 ] || fail "exit status $status, not 74"
[ -z "$(find "$work" -name '*large*')" ] || fail 'a part of the file is left'

# --- inputs that would be waited for ---------------------------------------------------------------

mkdir "$work/pipes" "$work/cifar"
mkfifo "$work/pipes/train-00000-of-00001" "$work/cifar/data_batch_1.bin" "$work/pipe"
# shellcheck disable=SC2086
refused 'it is not a regular file' $quick --data_name=imagenet --data_dir="$work/pipes"
refused 'it is not a regular file' --model=resnet20 --data_name=cifar10 --data_dir="$work/cifar"
# shellcheck disable=SC2086
refused 'it is not a regular file' $quick --init_from="$work/pipe"
# shellcheck disable=SC2086
refused 'it is not a regular file' $quick --input_file="$work/pipe"

finish
