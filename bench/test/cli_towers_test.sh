#!/bin/sh
# Tests several CPU devices from the command line; the reference has as many as requested.
# cli_towers_test.sh BENCH MAKE_TFRECORDS PYTHON; without Python records are not parsed.
. "${0%/*}/cli_lib.sh"
towers='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=2 --device=reference'

# --- every strategy --------------------------------------------------------------------------------

for update in parameter_server replicated distributed_all_reduce collective_all_reduce independent; do
  # shellcheck disable=SC2086
  run 0 $towers --num_gpus=2 --variable_update=$update --result_file="$work/towers.json"
  says "$out" "Devices:     ['/reference:0', '/reference:1']"
  says "$out" 'Batch size:  4 global'
  says "$out" '             2 per device'
  says "$err" 'note: tower 1: images 2 to 3 of each step, on any processor'
  says "$err" 'fingerprint: matches the reference'
  says "$err" 'planned memory: per tower '
  says "$err" 'tower 1: input '
  says "$err" ', exposed communication '
  record_holds "abs(sum(t[k] for t in r['towers'][:1] for k in ('input', 'computing', \
'exposed_communication', 'updating', 'host')) - next(m['value'] for m in r['metrics'] if m['name'] == 'step_time.mean')) < 1e-6" \
    "$work/towers.json"
  record_holds "r['workload']['devices'] == 2 and r['workload']['global_batch'] == 4" "$work/towers.json"
  record_holds "all(t['processors'] == [] for t in r['towers']) and r['cpu']['processors_used'] is None" \
    "$work/towers.json"
  record_holds "sum(t['planned_host_bytes'] for t in r['towers']) == sum(m['value'] for m in r['metrics'] \
if m['name'].startswith('planned_bytes.')) and r['towers'][1]['planned_device_bytes'] == 0" "$work/towers.json"
done
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2
says "$err" 'note: the gradients of 2 devices are averaged: '
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --dump=plan
says "$out" 'images/sec per tower, without the optimizer and communication'
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --variable_update=replicated
says "$err" 'note: the gradients of 2 devices are summed: the effective learning rate is '
says "$err" ', 2 times that of their mean'
says "$out" 'AllReduce:   None'
# shellcheck disable=SC2086
run 0 $towers --num_gpus=3 --variable_update=replicated --all_reduce_spec=auto --result_file="$work/auto.json"
record_holds "r['timed_all_reduce'] != 'auto' and r['timed_all_reduce'] in open('$err').read()" "$work/auto.json"
says "$err" 'note: --all_reduce_spec=auto: '
says "$out" 'AllReduce:   auto'
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --variable_update=replicated --all_reduce_spec=xring --gpu_indices=1,0 --allreduce_merge_scope=2
says "$err" 'fingerprint: matches the reference'
says "$err" 'note: --allreduce_merge_scope: no effect: '
lacks "$err" 'note: --gpu_indices'
for how in --all_reduce_spec=xring#2 --hierarchical_copy --gradient_repacking=2 --nooverlap \
  --agg_small_grads_max_bytes=4096 --variable_consistency=relaxed --gradient_reduction=mean; do
  # shellcheck disable=SC2086
  run 0 $towers --num_gpus=2 --variable_update=replicated $how
  says "$err" 'fingerprint: matches the reference'
done
for how in --staged_vars --local_parameter_device=cpu --gradient_reduction=sum; do
  # shellcheck disable=SC2086
  run 0 $towers --num_gpus=2 $how
  says "$err" 'fingerprint: matches the reference'
done
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --forward_only
says "$out" 'total images/sec'

# All towers use one calibration.
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --forward_only --dtype=int8 --result_file="$work/int8.json"
says "$out" '             2 per device'
[ "$(grep -c '^calibrating int8 with ' "$err")" -eq 1 ] || fail 'not one calibration'
record_holds "r['workload']['devices'] == 2 and r['workload']['dtype'] == 'int8' and \
len(r['towers']) == 2 and r['quantization']['images'] == 8" "$work/int8.json"

# Nothing is timed if no algorithm adds.
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --all_reduce_spec=auto --result_file="$work/untimed.json"
says "$err" 'note: --all_reduce_spec: no effect with --variable_update=parameter_server'
lacks "$err" 'note: --all_reduce_spec=auto: '
record_holds "'timed_all_reduce' not in r or not r['timed_all_reduce']" "$work/untimed.json"

# The loss scale changes equally with all strategies that add equally.
losses() { sed -n 's/^[0-9]*\timages.*\t//p' "$out"; }
half='--dtype=f16 --fp16_enable_auto_loss_scale --fp16_inc_loss_scale_every_n=1 --display_every=1'
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 $half --variable_update=replicated --result_file="$work/half.json"
says "$err" 'note: gradients are reduced in f32; tf_cnn_benchmarks sends them in 16 bits by default'
record_holds "r['flags']['workload']['compact_gradient_transfer'] is False" "$work/half.json"
replicated=$(losses)
[ -n "$replicated" ] || fail 'no losses'
for update in distributed_all_reduce collective_all_reduce; do
  # shellcheck disable=SC2086
  run 0 $towers --num_gpus=2 $half --variable_update=$update
  [ "$(losses)" = "$replicated" ] || fail "$update has other losses than replicated"
done

# With 16-bit sums the losses differ, but within the tolerance of the check.
for type in f16 bf16; do
  # shellcheck disable=SC2086
  run 0 $towers --num_gpus=2 --dtype=$type --fp16_loss_scale=1 --variable_update=replicated \
    --compact_gradient_transfer
  says "$err" "note: gradients are sent and added in $type, 2 bytes per element"
  says "$err" 'fingerprint: matches the reference'
done

# The type that --use_fp16 selects applies to them too.
# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --use_fp16 --fp16_loss_scale=1 --variable_update=replicated --compact_gradient_transfer
type=$(sed -n 's/^note: --use_fp16: computing in \([a-z0-9]*\);.*/\1/p' "$err")
[ -n "$type" ] || fail 'no type is told'
says "$err" "note: gradients are sent and added in $type, 2 bytes per element"
says "$err" 'fingerprint: matches the reference'

# --- profile, trace and check -----------------------------------------------------------------------

# shellcheck disable=SC2086
run 0 $towers --num_gpus=2 --variable_update=replicated --profile --trace_file="$work/trace.json"
says "$out" 'tower 1'
says "$out" 'exchange all towers [replicated]'
record_holds "{(e['pid'], e['args']['name']) for e in r['traceEvents'] if e['ph'] == 'M'} == \
{(0, 'tower 0'), (1, 'tower 1')} and len({sum(e['pid'] == t for e in r['traceEvents']) for t in (0, 1)}) == 1" \
  "$work/trace.json"
run 0 --verify --model=lenet --device=reference --num_gpus=2
says "$out" ' ok; '

# --- the joined batch ------------------------------------------------------------------------------

# Four images on one device, and two on each of two: the same losses, to rounding.
same='--model=lenet --num_warmup_batches=0 --num_batches=3 --device=reference --init_learning_rate=1e-5'
# shellcheck disable=SC2086
run 0 $same --batch_size=4 --result_file="$work/one.json"
# shellcheck disable=SC2086
run 0 $same --batch_size=2 --num_gpus=2 --result_file="$work/two.json"
record_holds "all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(r['series']['loss'], \
json.load(open('$work/one.json'))['series']['loss']))" "$work/two.json"

# The images of a file, two for each of two devices or four for one.
if [ -n "$python" ]; then
  "$python" -c "import json, struct, sys
pixels = 3 * 28 * 28
images = struct.pack('<%df' % (8 * pixels), *((i % 251) / 125 - 1 for i in range(8 * pixels)))
labels = struct.pack('<8q', *range(1, 9))
head = json.dumps({'images': {'dtype': 'F32', 'shape': [8, 3, 28, 28], 'data_offsets': [0, len(images)]},
                   'labels': {'dtype': 'I64', 'shape': [8], 'data_offsets':
                              [len(images), len(images) + 64]}}).encode()
open(sys.argv[1], 'wb').write(struct.pack('<Q', len(head)) + head + images + labels)" "$work/batches"
  # shellcheck disable=SC2086
  run 0 $same --batch_size=4 --input_file="$work/batches" --result_file="$work/one.json"
  # shellcheck disable=SC2086
  run 0 $same --batch_size=2 --num_gpus=2 --input_file="$work/batches" --result_file="$work/two.json"
  says "$out" '(file)'
  record_holds "r['workload']['data'] == 'file' and r['dataset']['records'] == 8" "$work/two.json"
  record_holds "len(r['series']['loss']) == 3 and all(abs(a - b) <= 1e-5 * abs(b) for a, b in \
zip(r['series']['loss'], json.load(open('$work/one.json'))['series']['loss']))" "$work/two.json"
fi

# --- scaling ---------------------------------------------------------------------------------------

scaled='--model=lenet --batch_size=2 --num_warmup_batches=1 --num_batches=4 --device=reference'
# shellcheck disable=SC2086
run 0 $scaled --scaling_sweep=1,2 --variable_update=replicated --result_file="$work/s.json"
says "$err" 'planned memory of 2 devices: per tower '
says "$err" 'run 2 of 2: 2 devices'
says "$out" 'devices  images/sec  efficiency %  lost: input  computing  exposed communication  update  host'
record_holds "r['workload']['devices'] == 1 and r['scaling']['efficiency'] == 1 and len(r['towers']) == 1" \
  "$work/s.devices1.json"
record_holds "abs(1 - r['scaling']['efficiency'] - sum(r['scaling']['lost'].values())) < 1e-9" \
  "$work/s.devices2.json"
record_holds "r['scaling']['reference_devices'] == 1 and r['group_id'] == \
json.load(open('$work/s.devices1.json'))['group_id']" "$work/s.devices2.json"
# shellcheck disable=SC2086
refused 'write 1,2,4' $scaled --scaling_sweep=2,1
# shellcheck disable=SC2086
refused 'remove --num_gpus' $scaled --scaling_sweep=1,2 --num_gpus=2
refused '--scaling_sweep=1,64: this process may use ' --model=lenet --device=cpu --scaling_sweep=1,64
lacks "$err" 'num_'
refused '--scaling_sweep=1,2 --num_intra_threads=4096: this process may use ' \
  --model=lenet --device=cpu --scaling_sweep=1,2 --num_intra_threads=4096
# shellcheck disable=SC2086
refused "file of a run 'sub/r.json'" $scaled --scaling_sweep=1,2 --result_file=sub/r.json

# --- what cannot be --------------------------------------------------------------------------------

refused 'this process may use ' --model=lenet --device=cpu --num_gpus=64
refused 'which uses one device: omit one of them' --model=lenet --num_gpus=2 --dump_tensors="$work/t"
refused '--virtual_gpus puts towers on a GPU and cannot be combined with --device=cpu' \
  --model=lenet --device=cpu --virtual_gpus=2
# shellcheck disable=SC2086
refused "is 'warp'; accepted: one of xring, pscpu, psgpu, collective, shm, rechd, tree, auto; append #N" \
  $towers --num_gpus=2 --variable_update=replicated --all_reduce_spec=warp
# shellcheck disable=SC2086
refused 'nccl' $towers --num_gpus=2 --variable_update=replicated --all_reduce_spec=nccl

# shellcheck disable=SC2086
refused "part 1 (character 1) is 'xring#3'; accepted: xring with 1 to 2 shards" \
  $towers --num_gpus=2 --variable_update=replicated --all_reduce_spec=xring#3
# shellcheck disable=SC2086
refused 'needs --ps_hosts and --worker_hosts' $towers --num_gpus=2 --variable_update=distributed_replicated

# --- processors -------------------------------------------------------------------------------------

# processors_of PID: the processors on which the threads may run, a line for each distinct set.
processors_of() { sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$1/task/"*/status | sort -u; }

# decode_next_to_towers FLAGS...: towers keep to their processors; $processors is where threads may run.
decode_next_to_towers() {
  case_name="towers next to threads that decode: $*"
  fresh
  $interruptible "$bench" --model=lenet --device=cpu --num_intra_threads=1 --batch_size=2 --num_classes=3 \
    --data_name=imagenet --data_dir="$work/pictures" --num_batches=10000000 "$@" >"$out" 2>"$err" &
  pid=$!
  started $pid '^1'
  processors=$(processors_of $pid)
  for tower in 0 1; do
    own=$(sed -n "s/^note: tower $tower: .* on processors //p" "$err")
    [ -n "$own" ] || fail "tower $tower has no processors"
    echo "$processors" | grep -qx "$own" || fail "no thread is kept to the processor of tower $tower, $own"
  done
  kill -INT $pid
  wait $pid
}

if [ "$(nproc)" -ge 2 ] && [ -r /proc/self/task ]; then
  all=$(processors_of $$)
  make_pictures "$work/idx"
  make_shards pictures "$work/idx"
  decode_next_to_towers --num_gpus=2
  if [ "$(nproc)" -gt 2 ]; then
    says "$err" ', which no tower uses'
  else
    echo "$processors" | grep -qx "$all" || fail "no thread that decodes may run on all of $all"
    says "$err" 'note: 2 threads prepare images on processors '
    says "$err" ', which also compute'
  fi
fi

# --- NUMA nodes -------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run 0 $quick --device=cpu --use_numa_affinity
says "$out" 'NUMA bind:   True'
grep -q -e '^note: --use_numa_affinity has no effect: ' -e '^[a-z]*: tower 0: 1 thread on NUMA node ' "$err" ||
  fail 'nothing is said of the nodes'
# hwloc describes a machine that does not exist. Its second node has memory only if this machine also has two nodes.
case $(processors_of $$) in
  0-*)
    HWLOC_SYNTHETIC='pack:2 [numa] core:1 pu:1'
    export HWLOC_SYNTHETIC
    run 0 --model=lenet --device=cpu --num_gpus=2 --batch_size=2 --num_warmup_batches=1 --num_batches=1 \
      --use_numa_affinity
    unset HWLOC_SYNTHETIC
    for tower in 0 1; do
      says "$err" ": tower $tower: 1 thread on NUMA node $tower"
      says "$err" "of each step, on processors $tower"
    done
    [ -e /sys/devices/system/node/node1 ] || says "$err" 'node 1; its memory is placed by first touch'
    ;;
esac

# --- the end ---------------------------------------------------------------------------------------

case_name='a signal to several towers'
fresh
# shellcheck disable=SC2086
$interruptible "$bench" $towers --num_gpus=2 --variable_update=replicated --num_batches=100000 \
  --result_file="$work/ended.json" >"$out" 2>"$err" &
pid=$!
started $pid '^1'
kill -INT $pid
wait $pid
status=$?
[ "$status" -eq 130 ] || fail "exit status $status, not 130"
record_holds "r['status'] == 'aborted' and len(r['series']['step_ns']) >= 1" "$work/ended.json"

# An input that ends early ends all towers, and the record keeps the completed steps.
make_pictures "$work/broken_idx"
make_shards broken "$work/broken_idx"
size=$(wc -c <"$shard")
head -c $((size - 10)) "$shard" >"$work/cut" && cp "$work/cut" "$shard"
for update in replicated parameter_server; do
  rm -f "$work/cut.json"
  run 2 --model=lenet --batch_size=1 --num_classes=3 --data_name=imagenet --data_dir="$work/broken" --device=reference \
    --num_gpus=2 --variable_update=$update --num_warmup_batches=0 --num_batches=100000 --result_file="$work/cut.json"
  tail -n 1 "$err" | grep -q "^bench: .*$shard" || fail 'the last line does not name the shard'
  record_holds "r['status'] == 'failed' and '$shard' in r['status_reason']" "$work/cut.json"
done

finish
