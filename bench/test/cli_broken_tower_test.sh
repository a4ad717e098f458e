#!/bin/sh
# Tests runs of two towers of which the first or the last fails, in a kernel or in an update.
# cli_broken_tower_test.sh BENCH MAKE_TFRECORDS PYTHON; BENCH is the program with such devices.
. "${0%/*}/cli_lib.sh"
towers='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=10000000 --device=reference --num_gpus=2'

for BREAKS_AT in kernel update; do
  for BREAKS_ON in first last; do
    export BREAKS_AT BREAKS_ON
    number=0
    [ $BREAKS_ON = first ] || number=1
    for update in replicated parameter_server; do
      rm -f "$work/broken.json"
      # shellcheck disable=SC2086
      run 1 $towers --variable_update=$update --result_file="$work/broken.json"
      case_name="$BREAKS_AT, $BREAKS_ON, $case_name"
      cause="tower $number: the $BREAKS_AT broke"
      says "$err" "$cause"
      tail -n 1 "$err" | grep -q "^bench: .*$cause" || fail 'the last line does not name the cause'
      record_holds "r['status'] == 'failed' and '$cause' in r['status_reason'] and len(r['series']['step_ns']) >= 1" \
        "$work/broken.json"
    done
  done
done

finish
