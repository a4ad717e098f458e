#!/bin/sh
# cli_checkpoint_test.sh BENCH MAKE_TFRECORDS [PYTHON]: a run that continues from a checkpoint ends with the same bits as
# one without interruption.
. "${0%/*}/cli_lib.sh"
cd "$work" || exit 1

base='--device=cpu --num_intra_threads=1 --num_warmup_batches=2 --display_every=100'
make_pictures idx
make_shards pictures idx
data='--model=lenet --data_dir=pictures --data_name=imagenet --num_classes=3 --batch_size=3'

# same A B: the files are equal.
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
# continues STEPS FLAGS...: trains STEPS steps with a checkpoint after each, and continues from each of them.
continues() {
  steps=$1
  shift
  rm -rf straight
  run 0 $base "$@" --num_batches="$steps" --train_dir=straight --save_model_steps=1 --max_ckpts_to_keep=0
  last=$((steps + 2))
  step=3
  while [ $step -lt $last ]; do
    rm -rf resumed && mkdir resumed && cp straight/model.ckpt-$step.safetensors resumed
    run 0 $base "$@" --num_batches="$steps" --train_dir=resumed
    says "$err" "training continues after step $step"
    lacks "$err" 'the numbers differ'
    same straight/model.ckpt-$last.safetensors resumed/model.ckpt-$last.safetensors
    step=$((step + 1))
  done
}

# Each day some of the combinations.
strategies='--num_gpus=1
--num_gpus=2 --variable_update=parameter_server
--num_gpus=2 --variable_update=replicated
--num_gpus=2 --variable_update=independent
--num_gpus=2 --variable_update=replicated --variable_consistency=relaxed
--num_gpus=2 --variable_update=parameter_server --staged_vars'
types='--dtype=f32'
if computes_in bf16; then
  types="$types
--dtype=bf16"
fi
if computes_in f16; then
  types="$types
--dtype=f16 --fp16_enable_auto_loss_scale --fp16_inc_loss_scale_every_n=2"
fi
number=0
sample=$("${0%/*}/../../tools/sample" part)
echo "sample: BENCH_SAMPLE=$sample repeats this part"
echo "$strategies" >strategies
echo "$types" >types
while read -r type; do
  while read -r strategy; do
    case "$type$strategy" in
      *auto_loss_scale*relaxed* | *auto_loss_scale*staged*) continue ;;
    esac
    for optimizer in sgd momentum rmsprop adam lars; do
      number=$((number + 1))
      case $sample in
        whole) ;;
        *) [ $((number % 16)) -eq $((sample % 16)) ] || continue ;;
      esac
      # shellcheck disable=SC2086
      continues 4 --model=lenet --batch_size=2 --optimizer=$optimizer $strategy $type
    done
  done <strategies
done <types

# Dropout, and records across the ends of epochs with one thread and with several.
continues 3 --model=mobilenet --image_size=32 --batch_size=2
for threads in 1 8; do
  # shellcheck disable=SC2086
  continues 6 $data --datasets_num_private_threads=$threads
done

lenet='--model=lenet --batch_size=2'
# The files of tf_cnn_benchmarks: names count the warm-up; the newest remain, also after the run continued.
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=6 --train_dir=kept --save_model_steps=2 --max_ckpts_to_keep=2 --result_file=record.json
[ "$(cd kept && echo *)" = 'checkpoint model.ckpt-6.safetensors model.ckpt-8.safetensors' ] || fail "$(ls kept)"
printf 'model_checkpoint_path: "%s"\nall_model_checkpoint_paths: "%s"\nall_model_checkpoint_paths: "%s"\n' \
  model.ckpt-8.safetensors model.ckpt-6.safetensors model.ckpt-8.safetensors >expected
same kept/checkpoint expected
record_holds "r['checkpoints']['continued_after'] is None and r['checkpoints']['written'] == 3" record.json
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=9 --train_dir=kept --max_ckpts_to_keep=2 --result_file=record.json
[ "$(cd kept && echo *.safetensors)" = 'model.ckpt-11.safetensors model.ckpt-8.safetensors' ] || fail "$(ls kept)"
record_holds "r['checkpoints']['continued_after'] == 8 and len(r['series']['step_ns']) == 1" record.json
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=9 --train_dir=kept
says "$err" 'the checkpoint after step 11 completes this run'
lacks "$out" 'total images/sec'

# An interrupted run continues, too.
fresh
# shellcheck disable=SC2086
$interruptible "$bench" $base $endless --display_every=1 --train_dir=interrupted >"$out" 2>"$err" &
started $! '^3	'
kill -INT $!
wait $!
status=$?
[ $status -eq 130 ] || fail "exit status $status after SIGINT"
[ "$(find interrupted -name '*.safetensors' | wc -l)" = 1 ] || fail 'no checkpoint after SIGINT'
done=$(find interrupted -name '*.safetensors' | sed 's/.*-\([0-9]*\).safetensors/\1/')
# shellcheck disable=SC2086
run 0 $base $lenet --num_warmup_batches=1 --num_batches=$((done + 2)) --train_dir=interrupted
# shellcheck disable=SC2086
run 0 $base $lenet --num_warmup_batches=1 --num_batches=$((done + 2)) --train_dir=uninterrupted
same interrupted/model.ckpt-$((done + 3)).safetensors uninterrupted/model.ckpt-$((done + 3)).safetensors

# A continued run computes with the kernels of its checkpoint, not with those that it would choose.
# shellcheck disable=SC2086
run 0 $base $lenet --data_format=NHWC --dump=choices
sed 's/"data_format": "NHWC"/"data_format": "auto"/' "$out" >choices.json
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=2 --train_dir=chosen --choices_file=choices.json --result_file=chosen.json
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=4 --train_dir=chosen --result_file=continued.json
lacks "$err" 'not those of the checkpoint'
record_holds "r['choices']['by'] == 'checkpoint'" continued.json
record_holds "r['choices']['nodes'] == json.load(open('chosen.json'))['choices']['nodes']" continued.json
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=6 --train_dir=chosen --deterministic --result_file=continued.json
says "$err" 'the kernels are not those of the checkpoint, so the numbers may differ:'
says "$err" 'was made for deterministic=false, which is now true'
record_holds "r['choices']['by'] == 'estimates'" continued.json
record_holds "r['choices']['nodes'] != json.load(open('chosen.json'))['choices']['nodes']" continued.json
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=8 --train_dir=chosen --deterministic --choices_file=choices.json
says "$err" 'so the numbers may differ: they come from --choices_file'

# Other settings continue with a note. Other networks and files are refused.
# shellcheck disable=SC2086
run 0 $base --model=lenet --batch_size=4 --num_gpus=2 --variable_update=replicated --num_batches=12 --train_dir=kept
says "$err" '--batch_size was 2 and is 4, so the numbers differ'
says "$err" '--variable_update was parameter_server and is replicated'
lacks "$err" '--optimizer was'
# shellcheck disable=SC2086
refused 'was written with --model=lenet, but this run has trivial' $base --model=trivial --train_dir=kept
# shellcheck disable=SC2086
refused 'the training used synthetic images, but this run has the dataset' $base $data --train_dir=kept
# shellcheck disable=SC2086
refused 'is in the folder of --train_dir' $base $lenet --train_dir=kept --result_file=kept/record.json
# shellcheck disable=SC2086
refused 'was written with --optimizer=sgd, but this run has adam' $base $lenet --optimizer=adam --train_dir=kept
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=1 --init_from=kept/model.ckpt-14.safetensors
says "$err" '--init_from: 8 of 8 variables are initialized from'
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=1 --save_variables=weights.safetensors --save_model_steps=2
says "$err" '--save_model_steps: no effect without --train_dir'
mkdir foreign damaged newer && cp weights.safetensors foreign/model.ckpt-3.safetensors
# shellcheck disable=SC2086
refused '--train_dir did not write this file' $base $lenet --train_dir=foreign
head -c 20000 kept/model.ckpt-14.safetensors >damaged/model.ckpt-14.safetensors
# shellcheck disable=SC2086
refused 'model.ckpt-14.safetensors' $base $lenet --train_dir=damaged
# One byte of a variable is wrong.
mkdir flipped && cp kept/model.ckpt-14.safetensors flipped
printf 'x' | dd of=flipped/model.ckpt-14.safetensors bs=1 seek=100000 conv=notrunc 2>"$work/dd.log"
# shellcheck disable=SC2086
refused 'its checksum does not match; remove the file to restart the training' $base $lenet --train_dir=flipped
sed 's#bench.checkpoint/1#bench.checkpoint/2#' kept/model.ckpt-14.safetensors >newer/model.ckpt-14.safetensors
# shellcheck disable=SC2086
refused 'but this version of bench reads bench.checkpoint/1' $base $lenet --train_dir=newer
# shellcheck disable=SC2086
refused 'cannot create the folder' $base $lenet --train_dir=weights.safetensors
refused '--train_dir cannot be combined with --forward_only' --forward_only --train_dir=kept
refused 'is for a single run' --repeats=2 --train_dir=kept

# Events for TensorBoard: names and tags are plain text in the file.
# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=4 --train_dir=events --summary_verbosity=3 --save_summaries_steps=2
[ "$(grep -ac 'brain.Event:2' events/events.out.tfevents.*)" = 1 ] || fail 'no event file'
for tag in total_loss:3 learning_rate_1:3 global_step/sec:2 log_gradients_summary/log_gradients:3 fc.bias/gradients:3; do
  [ "$(grep -ao "${tag%:*}" events/events.out.tfevents.* | wc -l)" = "${tag#*:}" ] || fail "the tag ${tag%:*}"
done

# shellcheck disable=SC2086
run 0 $base $lenet --num_batches=1 --train_dir=base --summary_verbosity=1 --save_summaries_steps=1 \
  --loss_type_to_report=base_loss
grep -aq 'base_loss' base/events.out.tfevents.* || fail 'the tag base_loss'
! grep -aq 'total_loss' base/events.out.tfevents.* || fail 'the tag of another loss'

# Two runs cannot use one folder.
fresh
# shellcheck disable=SC2086
$interruptible "$bench" $base $endless --display_every=1 --train_dir=shared >"$out" 2>"$err" &
pid=$!
started $pid '^1	'
case_name='a second run in one folder'
"$bench" --model=lenet --train_dir=shared >second 2>&1 && fail 'it was accepted'
grep -q 'another run of bench is using the folder' second || fail "$(cat second)"
kill -INT $pid
wait $pid

# A full disk: the run goes on, and fails at its end. The earlier checkpoints remain.
case_name='a full disk'
# shellcheck disable=SC2086
(ulimit -f 100 && exec "$bench" $base $lenet --num_batches=4 --train_dir=full --save_model_steps=2) >"$out" 2>"$err"
status=$?
[ $status -eq 74 ] || fail "exit status $status, not 74"
says "$err" 'training continues'
says "$out" 'total images/sec'
[ -z "$(find full -name 'model*' -o -name '*.tmp')" ] || fail "left: $(ls -a full)"
finish
