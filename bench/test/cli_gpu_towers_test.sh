#!/bin/sh
# Tests several towers on emulated GPUs from the command line, with NCCL.
# cli_gpu_towers_test.sh BENCH MAKE_TFRECORDS PYTHON EMULATED_LIBRARY; without Python records are not parsed.
. "${0%/*}/cli_lib.sh"
emulated=$4
BENCH_GPU_LIBRARY=$emulated
BENCH_NCCL_LIBRARY=$emulated
EMULATED_GPUS=4
export BENCH_GPU_LIBRARY BENCH_NCCL_LIBRARY EMULATED_GPUS
lenet='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=1 --device=gpu --autotune=off'

# under SEED FLAGS...: trains under this schedule and saves losses and variables in $work/SEED.
under() {
  seed=$1
  shift
  EMULATED_GPU_SCHEDULE=$seed
  export EMULATED_GPU_SCHEDULE
  rm -f "$work/$seed.safetensors"
  run 0 "$@" --save_variables="$work/$seed.safetensors" --result_file="$work/$seed.json"
  case "$*" in
    *--num_classes=*) ;; # There is no fingerprint of such a network.
    *) says "$err" 'fingerprint: matches the reference' ;;
  esac
  EMULATED_GPU_SCHEDULE=0
}

# same_bits FLAGS...: steps that are replayed under a random schedule give the same results as steps without queues,
# kernel by kernel.
same_bits() {
  under 1 "$@" --cuda_graph=off
  under 2 "$@" --cuda_graph=on
  cmp -s "$work/1.safetensors" "$work/2.safetensors" || fail 'other variables'
  record_holds "r['series']['loss'] == json.load(open('$work/1.json'))['series']['loss']" "$work/2.json"
}

# --- every strategy on one card --------------------------------------------------------------------

in_parts='note: steps are replayed from recordings of their parts'
# shellcheck disable=SC2086
same_bits $lenet --virtual_gpus=2 --variable_update=replicated --allreduce_bucket_mb=1
says "$out" "Devices:     ['/gpu:0', '/gpu:1']"
says "$err" "$in_parts: the gradients of several towers are reduced on the host"
record_holds "r['choices']['reduced_on'] == 'host'" "$work/2.json"
says "$err" 'the time on each tower is unavailable: the host does not wait for each part'
record_holds "all(t['computing'] is None and t['planned_device_bytes'] > 0 and t['planned_host_bytes'] > 0 \
for t in r['towers']) and 'the host does not wait' in r['capture_errors']['towers.1.computing']" "$work/2.json"
# shellcheck disable=SC2086
same_bits $lenet --virtual_gpus=2 --variable_update=parameter_server --allreduce_bucket_mb=1
says "$out" "Devices:     ['/gpu:0', '/gpu:1']"
says "$err" "$in_parts: several towers synchronize on the host between device-to-device copies"
record_holds "r['choices']['reduced_on'] == 'devices'" "$work/2.json"
# shellcheck disable=SC2086
under 2 $lenet --virtual_gpus=2 --variable_update=independent
lacks "$err" 'note: steps are '
run 0 --model=resnet20 --data_name=cifar10 --batch_size=2 --num_warmup_batches=1 --num_batches=1 --device=gpu \
  --autotune=off --virtual_gpus=2 --variable_update=replicated
says "$err" 'note: gradients are reduced in host memory: NCCL supports one tower per GPU'
says "$err" 'fingerprint: matches the reference'

# --- a dataset, whose batches are brought while the step before is worked on ------------------------------

make_pictures "$work/idx"
make_shards pictures "$work/idx"
pictures="--model=lenet --batch_size=2 --num_classes=3 --data_name=imagenet --data_dir=$work/pictures
  --num_warmup_batches=1 --num_batches=5 --device=gpu --autotune=off --num_gpus=4"
for update in 'replicated --all_reduce_spec=shm' 'replicated' 'parameter_server'; do
  # shellcheck disable=SC2086
  same_bits $pictures --variable_update=$update
done

# --- NCCL ------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
same_bits $lenet --num_gpus=2 --variable_update=replicated
says "$err" 'note: NCCL 2.28.9 reduces the gradients'
says "$out" 'AllReduce:   nccl'
record_holds "r['choices']['reduced_on'] == 'nccl'" "$work/2.json"
lacks "$err" 'note: steps are '
run 0 --verify --model=lenet --device=gpu --num_gpus=2 --variable_update=replicated
says "$out" ' ok; '
# shellcheck disable=SC2086
run 0 $lenet --num_gpus=2 --variable_update=replicated --trace_file="$work/trace.json"
record_holds "{e['pid'] for e in r['traceEvents']} == {0, 1}" "$work/trace.json"
for how in 'NCCL 2.28.9 is timed too' 'NCCL is not timed: cannot open NCCL: '; do
  # shellcheck disable=SC2086
  run 0 $lenet --num_gpus=2 --variable_update=replicated --all_reduce_spec=auto --result_file="$work/auto.json"
  says "$err" "note: $how"
  says "$err" 'fingerprint: matches the reference'
  figures=$(grep 'note: --all_reduce_spec=auto: ' "$err")
  case $how in
    *too) echo "$figures" | grep -q ' nccl ' || fail 'NCCL was not timed' ;;
    *) echo "$figures" | grep -q 'nccl' && fail 'NCCL was timed' ;;
  esac
  record_holds "r['timed_all_reduce'] in open('$err').read()" "$work/auto.json"
  BENCH_NCCL_LIBRARY=$work/missing.so
done
BENCH_NCCL_LIBRARY=$emulated
# shellcheck disable=SC2086
run 0 $lenet --virtual_gpus=2 --variable_update=replicated --all_reduce_spec=auto
says "$err" 'note: NCCL is not timed: it supports one tower per GPU'
# A single card adds nothing.
# shellcheck disable=SC2086
under 1 $lenet
# shellcheck disable=SC2086
run_start=$(date +%s)
# shellcheck disable=SC2086
under 2 $lenet --variable_update=replicated --all_reduce_spec=nccl --cuda_graph=on
step_limit=$((2 * ($(date +%s) - run_start + 1)))
says "$err" 'note: NCCL 2.28.9 reduces the gradients of one GPU'
cmp -s "$work/1.safetensors" "$work/2.safetensors" || fail 'NCCL with one rank leaves other variables'

# A failure ends the run soon and reports its cause; the preceding steps are kept. The time limit of a step is twice the
# time of a whole run, because a step takes long on a busy machine.
two='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=100000 --device=gpu --autotune=off --num_gpus=2'
for how in 'never:9 on' 'error:9 on' 'lost:9 off'; do
  FAKE_NCCL=${how% *}
  export FAKE_NCCL
  # shellcheck disable=SC2086
  run 1 $two --variable_update=replicated --nccl_timeout=$step_limit --cuda_graph=${how#* } --result_file="$work/failed.json"
  case $FAKE_NCCL in
    never*) cause='a step that reduces gradients with NCCL missed its deadline' ;;
    error*) cause="tower 1: an asynchronous NCCL operation: unhandled cuda error" ;;
    lost*) cause="tower 0: an asynchronous NCCL operation: remote process exited or there was a network error" ;;
  esac
  says "$err" "$cause"
  tail -n 1 "$err" | grep -q '^bench: .*tower [01]: ' || fail 'the last line names no tower'
  record_holds "r['status'] == 'failed' and 'tower' in r['status_reason'] and len(r['series']['step_ns']) >= 1" \
    "$work/failed.json"
done
FAKE_NCCL=init_error
# shellcheck disable=SC2086
run 1 $two --variable_update=replicated
says "$err" 'ncclCommInitRankConfig: internal error'
unset FAKE_NCCL

# --- what cannot be --------------------------------------------------------------------------------

# shellcheck disable=SC2086
refused 'NCCL supports one tower per GPU, but --virtual_gpus=2 puts all on one' $lenet --virtual_gpus=2 \
  --variable_update=replicated --all_reduce_spec=nccl
# shellcheck disable=SC2086
refused 'bench: --num_gpus=5: this host has 4 usable GPUs' $lenet --num_gpus=5
# shellcheck disable=SC2086
refused 'bench: --scaling_sweep=1,5: this host has 4 usable GPUs' $lenet --scaling_sweep=1,5
lacks "$err" '--num_gpus'
BENCH_NCCL_LIBRARY=$work/missing.so
# shellcheck disable=SC2086
refused '--all_reduce_spec=nccl: cannot open NCCL: ' $lenet --num_gpus=2 --variable_update=replicated \
  --all_reduce_spec=nccl
# shellcheck disable=SC2086
run 0 $lenet --num_gpus=2 --variable_update=replicated
says "$err" 'note: gradients are reduced in host memory: cannot open NCCL: '
# shellcheck disable=SC2086
run 0 $lenet --variable_update=replicated --all_reduce_spec=nccl
says "$err" 'note: the gradients of one GPU are not reduced: cannot open NCCL: '

finish
