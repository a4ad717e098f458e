#!/bin/sh
# Tests runs whose disk stops answering.
# cli_stalled_disk_test.sh BENCH MAKE_TFRECORDS PYTHON; BENCH is the program with such a disk.
. "${0%/*}/cli_lib.sh"
make_pictures "$work/idx"
make_shards pictures "$work/idx"
input="--model=lenet --batch_size=2 --num_classes=3 --data_name=imagenet --data_dir=$work/pictures"

# interrupted READS FLAGS...: a signal ends the run although the read after the first READS reads never returns.
interrupted() {
  case_name=$*
  STALLS_BEHIND=$1
  export STALLS_BEHIND
  shift
  fresh
  # shellcheck disable=SC2086
  $interruptible "$bench" $input --num_batches=10000000 "$@" --result_file="$work/ended.json" >"$out" 2>"$err" &
  pid=$!
  answered $pid 'the disk is stalled'
  [ "$STALLS_BEHIND" -eq 0 ] || started $pid '^1	images'
  kill -INT $pid
  wait $pid
  status=$?
  [ "$status" -eq 130 ] || fail "exit status $status, not 130"
}

interrupted 40 --device=reference
record_holds "r['status'] == 'aborted' and len(r['series']['step_ns']) >= 1" "$work/ended.json"
interrupted 40 --device=reference --num_gpus=2 --variable_update=replicated
record_holds "r['status'] == 'aborted' and len(r['series']['step_ns']) >= 1" "$work/ended.json"
# The first batch never arrives.
interrupted 0 --device=reference
record_holds "r['status'] == 'aborted'" "$work/ended.json"

finish
