#!/bin/sh
# Tests two CPU devices under a hypervisor that advertises AMX and hides its tiles.
# cli_hidden_amx_test.sh BENCH MAKE_TFRECORDS PYTHON; BENCH is the program that sees such a processor.
. "${0%/*}/cli_lib.sh"
[ "$(nproc)" -ge 2 ] || { echo 'skipped: one processor'; exit 77; }
# A limit on instructions would keep AMX out anyway.
unset ONEDNN_MAX_CPU_ISA DNNL_MAX_CPU_ISA
towers='--model=lenet --batch_size=4 --num_warmup_batches=1 --num_batches=2 --device=cpu --num_gpus=2
  --num_intra_threads=1 --variable_update=replicated'

for type in f32 bf16; do
  computes_in "$type" || continue
  # shellcheck disable=SC2086
  run 0 $towers --dtype=$type --result_file="$work/two.json"
  says "$err" 'warning: the processor advertises AMX but the hypervisor hides its tiles'
  says "$err" 'note: tower 1: images 4 to 7 of each step, on processors '
  says "$err" 'fingerprint: matches the reference'
  record_holds "'amx' not in r['cpu']['isa_used'] and len(r['towers']) == 2 and \
len({p for t in r['towers'] for p in t['processors']}) == 2" "$work/two.json"
done

finish
