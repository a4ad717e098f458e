#!/bin/sh
# cli_store_test.sh BENCH MAKE_TFRECORDS PYTHON BENCH_RESULTS: tests what a run writes to a store, repeats, and what
# --reportable refuses.
. "$(dirname "$0")/cli_lib.sh"
bench_results=$4

# results ARGS...: runs bench_results, which must succeed.
results() {
  case_name="bench_results $*"
  "$bench_results" "$@" >"$out" 2>"$err" </dev/null
  status=$?
  [ "$status" -eq 0 ] || fail "exit status $status, not 0"
}

# --- a run in the store ----------------------------------------------------------------------------

for store in "$work/s.sqlite" "$work/folder/"; do
  # shellcheck disable=SC2086
  run 0 $quick --store="$store" --label=one --tags=site=ams,rack=7 --reason=pr
  results list --store="$store" tag.rack:7 --columns=label,reason,model,batch,tag.site --format=csv
  says "$out" 'one,pr,lenet,2,ams'
  results show --store="$store" label:one
  says "$out" 'lenet train bs2 f32  ok'
  says "$out" 'quality  '
  # Facts that the machine does not report are null with a reason.
  says "$out" 'cost: not given (--cost)'
  says "$out" 'dataset.storage: synthetic data are not read from a file'
done
[ "$(find "$work/folder" -name '*.json' | wc -l)" -eq 1 ] || fail 'there is no file per record'

BENCH_STORE=$work/default.sqlite
export BENCH_STORE
# shellcheck disable=SC2086
run 0 $quick --store
results list --columns=id --format=jsonl
[ "$(wc -l <"$out")" -eq 1 ] || fail 'the store without a name is another'

# A run that fails is stored too.
# shellcheck disable=SC2086
run 1 --model=lenet --batch_size=2 --num_warmup_batches=0 --num_batches=3 --init_learning_rate=1e30 --store \
  --label=failed
results list label:failed --columns=status,score --format=csv
says "$out" 'failed,0.0'

echo text >"$work/text"
# shellcheck disable=SC2086
refused 'the file is not an SQLite database' $quick --store="$work/text"
lacks "$out" 'Generating'
printf '{"currency": "EUR", "capx": 1}' >"$work/cost.json"
# shellcheck disable=SC2086
refused "unknown member 'capx'; it accepts currency, " $quick --cost="$work/cost.json"
printf '{"currency": "EUR", "years": 4, "systems": [{"match": "no such machine", "capex": 9000}]}' >"$work/cost.json"
# shellcheck disable=SC2086
refused 'no entry matches this machine' $quick --cost="$work/cost.json"
printf '{"currency": "EUR", "years": 4, "systems": [{"capex": 9000}]}' >"$work/cost.json"
# shellcheck disable=SC2086
run 0 $quick --cost="$work/cost.json" --result_file="$work/cost_run.json"
says "$work/cost_run.json" '"capex": 9000.0'
# shellcheck disable=SC2086
refused "'ams' is not of the form name=value" $quick --tags=ams

# --- repeats ---------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run 0 $quick --repeats=3 --store --label=three --result_file="$work/run.json"
says "$out" 'median of 3 runs: '
says "$err" 'repeat 3 of 3'
[ "$(grep -c 'total images/sec' "$out")" -eq 3 ] || fail 'the runs did not print their lines'
results list label:three --columns=group,metric.wall_time --format=csv
[ "$(sed 1d "$out" | cut -d, -f1 | sort -u | wc -l)" -eq 1 ] || fail 'they are not one group'
[ "$(sed 1d "$out" | wc -l)" -eq 3 ] || fail 'they are not three'
for i in 0 1 2; do
  grep -q "\"repeat_index\": $i" "$work/run.repeat$i.json" || fail "run.repeat$i.json is not repeat $i"
done
[ ! -e "$work/run.json" ] || fail 'a repeat took the name of all'

# shellcheck disable=SC2086
refused 'give one in --batch_size' $quick --repeats=2 --batch_size=2,4
run 0 --model=trivial --device=cpu --forward_only --batch_size=auto --num_batches=1 --num_warmup_batches=0 --repeats=2 \
  --result_file="$work/auto.json"
[ "$(grep -c 'auto tries the batch sizes' "$err")" -eq 1 ] || fail 'not only the first repeat chose the batch'
for i in 0 1; do grep '"batch_per_device"' "$work/auto.repeat$i.json" >"$work/batch$i"; done
cmp -s "$work/batch0" "$work/batch1" || fail "the repeats have other batches: $(cat "$work/batch0" "$work/batch1")"
BENCH_GROUP=g/0/0
export BENCH_GROUP
# shellcheck disable=SC2086
refused 'is already part of a group (BENCH_GROUP=g/0/0)' $quick --repeats=2
# shellcheck disable=SC2086
run 0 $quick --store --label=grouped
results list label:grouped --columns=group --format=csv
says "$out" 'g'
BENCH_GROUP=nonsense
# shellcheck disable=SC2086
refused 'BENCH_GROUP=nonsense: expected group/repeat/order' $quick
unset BENCH_GROUP

# A repeat that fails ends the repeats, as does Ctrl-C.
run 1 --model=lenet --batch_size=2 --num_warmup_batches=0 --num_batches=3 --init_learning_rate=1e30 --repeats=3
lacks "$err" 'repeat 2 of 3'
case_name='SIGTERM between the steps of a repeat'
fresh
# shellcheck disable=SC2086
"$bench" --model=lenet --batch_size=2 --num_batches=1000000 --repeats=3 --store --label=ended >"$out" 2>"$err" &
pid=$!
while ! grep -q '^10[[:space:]]' "$out" && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
kill -TERM "$pid"
wait "$pid"
status=$?
[ "$status" -eq 143 ] || fail "exit status $status, not 143"
lacks "$err" 'repeat 2 of 3'
results list label:ended --columns=status --format=csv
says "$out" 'aborted'

# begin_repeats: starts repeats, and waits for a step of the first; $child is the process of that run.
begin_repeats() {
  fresh
  # shellcheck disable=SC2086
  $interruptible,QUIT "$bench" $endless --repeats=3 >"$out" 2>"$err" </dev/null &
  pid=$!
  started "$pid" '^1	images'
  read -r child _ <"/proc/$pid/task/$pid/children"
}

case_name='a repeat that is killed'
begin_repeats
kill -KILL "$child"
wait "$pid"
status=$?
[ "$status" -eq 137 ] || fail "exit status $status, not 137"
says "$err" 'warning: the run was ended by SIGKILL; if nobody sent the signal, the system probably ran out of memory'

# The run of repeats that are killed ends too.
for signal in QUIT KILL; do
  case_name="repeats that are sent SIG$signal"
  begin_repeats
  kill -"$signal" "$pid"
  wait "$pid" 2>"$work/shell"
  while kill -0 "$child" 2>"$work/shell"; do sleep 0.1; done
  says "$err" 'ended by SIGTERM after '
done

# --- fit to publish --------------------------------------------------------------------------------

# shellcheck disable=SC2086
refused 'too few repeats: 1, but an interval needs 6 (--repeats=6)' $quick --reportable

finish
