#!/bin/sh
# cli_evaluation_test.sh BENCH MAKE_TFRECORDS [PYTHON]: evaluates checkpoints, and networks during training.
. "${0%/*}/cli_lib.sh"
cd "$work" || exit 1

base='--device=cpu --num_intra_threads=1 --num_warmup_batches=2 --display_every=1'
make_pictures idx
make_shards pictures idx
data='--model=lenet --data_dir=pictures --data_name=imagenet --num_classes=3'
losses() { sed -n 's/^\([0-9]*\)	images.*	\(.*\)$/\1 \2/p' "$1"; }
accuracy() { grep '^Accuracy @ 1 = ' "$1"; }

# Training with evaluations: the lines of tf_cnn_benchmarks.
# shellcheck disable=SC2086
run 0 $base $data --batch_size=3 --num_batches=5 --num_eval_epochs=1 --eval_during_training_every_n_steps=2 \
  --train_dir=trained --result_file=record.json
says "$out" 'Mode:        training + evaluation'
grep -v '^[0-9]' "$out" | sed -n '/^Step/,$p' | grep -v '^Accuracy\|^---\|^total' >lines
cat >expected <<'END'
Step	Img/sec	total_loss
Running evaluation at global_step 4
Resuming training
Running evaluation at global_step 6
Resuming training
Done with training
Running final evaluation at global_step 7
END
cmp -s lines expected || fail "the lines are: $(cat lines)"
[ "$(grep -c '\[8 examples\]$' "$out")" = 3 ] || fail 'there are not three evaluations of 8 images'
[ "$(grep -c '^[123]	[0-9.]* examples/sec$' "$out")" = 9 ] || fail 'there are not nine batches'
record_holds "[e['step'] for e in r['evaluations']] == [4, 6, 7] and r['evaluations'][2]['images'] == 8" record.json
last=$(accuracy "$out" | tail -n 1)
losses "$out" >with_evaluations

# It computes the same losses without evaluations.
# shellcheck disable=SC2086
run 0 $base $data --batch_size=3 --num_batches=5
losses "$out" >without
cmp -s with_evaluations without || fail "the losses differ: $(cat with_evaluations without)"

# The record says what was evaluated. Damaged checkpoints and those of other networks are refused.
# shellcheck disable=SC2086
run 0 $base $data --eval --train_dir=trained --num_eval_epochs=1 --batch_size=8 --result_file=evaluated.json
record_holds "[(e['step'], e['images']) for e in r['evaluations']] == [(7, 8)]" evaluated.json
refused 'was written with --model=lenet, not trivial' $base --eval --model=trivial --train_dir=trained
mkdir damaged && cp trained/model.ckpt-7.safetensors damaged
printf 'x' | dd of=damaged/model.ckpt-7.safetensors bs=1 seek=100000 conv=notrunc 2>"$work/dd.log"
# shellcheck disable=SC2086
refused 'its checksum does not match' $base $data --eval --train_dir=damaged --num_eval_epochs=1
# shellcheck disable=SC2086
refused 'its checksum does not match' $base $data --init_from=damaged/model.ckpt-7.safetensors

# The checkpoint has the accuracy of the last evaluation, with any batch and number of devices.
for devices in 1 2; do
  for batch in 1 3 8 24; do
    # shellcheck disable=SC2086
    run 0 $base $data --eval --train_dir=trained --num_eval_epochs=1 --batch_size=$batch --num_gpus=$devices
    [ "$(accuracy "$out")" = "$last" ] || fail "the accuracy is $(accuracy "$out"), not $last"
  done
done
says "$out" 'Mode:        evaluation'
says "$out" 'Generating evaluation model'
lacks "$out" 'Initializing graph'
# shellcheck disable=SC2086
run 0 $base $data --eval --init_from=trained/model.ckpt-7.safetensors --num_eval_batches=2 --eval_batch_size=4 \
  --result_file=record.json
[ "$(accuracy "$out")" = "$last" ] || fail "with --init_from, the accuracy is $(accuracy "$out"), not $last"
record_holds "r['workload']['mode'] == 'eval' and r['status'] == 'ok'" record.json

# An evaluation waits for new checkpoints, and records their accuracies for TensorBoard.
mkdir watched && cp trained/model.ckpt-7.safetensors watched
fresh
# shellcheck disable=SC2086
$interruptible "$bench" $base $data --eval --train_dir=watched --num_eval_epochs=1 --batch_size=4 --eval_interval_secs=1 \
  --eval_dir=seen >"$out" 2>"$err" &
pid=$!
case_name='--eval_interval_secs'
started $pid '^total images/sec'
# shellcheck disable=SC2086
"$bench" $base $data --batch_size=3 --num_batches=6 --train_dir=watched >/dev/null 2>&1
while kill -0 $pid 2>/dev/null && [ "$(accuracy "$out" | wc -l)" != 2 ]; do sleep 0.1; done
kill -INT $pid
wait $pid
status=$?
[ $status -eq 130 ] || fail "exit status $status after SIGINT"
[ "$(accuracy "$out" | head -n 1)" = "$last" ] || fail 'the first accuracy is another'
[ "$(cat seen/events.out.tfevents.* | grep -ao 'eval/Accuracy@1' | wc -l)" = 2 ] || fail 'there are not two events'

# A folder that cannot be written ends the run before the evaluation.
# shellcheck disable=SC2086
run 74 $base $data --eval --train_dir=trained --num_eval_epochs=1 --eval_dir=/proc/unwritable
lacks "$out" 'Accuracy @ 1'

# Training stops at an accuracy. It then evaluates no more.
# shellcheck disable=SC2086
run 0 $base $data --batch_size=3 --num_batches=5 --num_eval_epochs=1 --eval_during_training_at_specified_steps=1,2 \
  --stop_at_top_1_accuracy=0
says "$out" 'Stopping, as eval accuracy at least 0 was reached'
says "$err" '--stop_at_top_1_accuracy=0 ended the run after 1 of 5 steps'
says "$err" 'top-1 accuracy 0 was reached '
lacks "$out" 'final evaluation'

# So does a training that continues, already in its warm-up. The same command then has nothing left to do.
# shellcheck disable=SC2086
run 0 $base $data --batch_size=3 --num_batches=2 --train_dir=reached
for _ in 1 2; do
  # shellcheck disable=SC2086
  run 0 $base $data --batch_size=3 --num_batches=5 --train_dir=reached --num_eval_epochs=1 \
    --eval_during_training_every_n_steps=1 --stop_at_top_1_accuracy=0
done
says "$err" 'the checkpoint after step 5 completes this run'
[ "$(cd reached && echo *.safetensors)" = 'model.ckpt-4.safetensors model.ckpt-5.safetensors' ] || fail "$(ls reached)"

# A flag of inference does not fold the variables of an evaluation in training.
# shellcheck disable=SC2086
run 0 $base --model=resnet20 --batch_size=2 --num_batches=1 --num_warmup_batches=0 --freeze_when_forward_only \
  --num_eval_batches=1 --eval_during_training_every_n_steps=1

# The time limit ends an evaluation, whose counts remain.
# shellcheck disable=SC2086
run 0 $base --model=lenet --num_classes=3 --batch_size=2 --eval --init_from=trained/model.ckpt-7.safetensors \
  --num_eval_batches=100000000 --max_seconds=0.2
says "$out" 'Accuracy @ 1 = '
says "$out" 'total images/sec: '

# Logits that are not finite are an error. The record keeps the measurements.
if [ -n "$python" ]; then
  # A file of --save_variables has no checksum.
  # shellcheck disable=SC2086
  run 0 $base $data --init_from=trained/model.ckpt-7.safetensors --num_batches=1 --save_variables=sound.safetensors
  "$python" - sound.safetensors spoiled.safetensors <<'END'
import json, struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
size = struct.unpack('<Q', data[:8])[0]
begin = json.loads(data[8:8 + size])['fc.bias']['data_offsets'][0]
data[8 + size + begin:8 + size + begin + 4] = b'\xff\xff\xff\xff'
open(sys.argv[2], 'wb').write(data)
END
  # shellcheck disable=SC2086
  run 1 $base $data --eval --init_from=spoiled.safetensors --num_eval_epochs=1 --batch_size=4 --result_file=spoiled.json
  says "$err" 'are not all finite'
  record_holds "r['status'] == 'failed' and not r['partial'] and len(r['series']['step_ns']) == 2" spoiled.json
fi

# The preprocessing of torchvision's weights.
small='--device=cpu --model=squeezenet1_1 --batch_size=2'
# shellcheck disable=SC2086
run 0 $small --num_batches=1 --num_warmup_batches=0 --save_variables=squeezenet.safetensors
for preprocessor in default torchvision; do
  # shellcheck disable=SC2086
  run 0 $small --eval --init_from=squeezenet.safetensors --data_dir=pictures --data_name=imagenet --num_eval_epochs=1 \
    --input_preprocessor=$preprocessor --result_file=$preprocessor.json
  says "$out" '[8 examples]'
done
record_holds "r['flags']['workload']['jpeg_dct'] == 'original'" default.json
record_holds "r['flags']['workload']['jpeg_dct'] == 'accurate'" torchvision.json

refused 'the folder has no checkpoints' --model=lenet --eval --train_dir=absent
refused '--eval needs --train_dir or --init_from' --model=lenet --eval
rm pictures/validation*
# shellcheck disable=SC2086
refused 'validation' $base $data --eval --train_dir=trained
# shellcheck disable=SC2086
refused 'validation' $base $data --eval_during_training_every_n_steps=1
finish
