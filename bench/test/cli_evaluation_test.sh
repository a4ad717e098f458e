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

# Training stops at an accuracy. It then evaluates no more.
# shellcheck disable=SC2086
run 0 $base $data --batch_size=3 --num_batches=5 --num_eval_epochs=1 --eval_during_training_at_specified_steps=1,2 \
  --stop_at_top_1_accuracy=0
says "$out" 'Stopping, as eval accuracy at least 0 was reached'
says "$err" '--stop_at_top_1_accuracy=0 ended the run after 1 of 5 steps'
lacks "$out" 'final evaluation'

refused 'the folder has no checkpoints' --model=lenet --eval --train_dir=absent
refused '--eval needs --train_dir or --init_from' --model=lenet --eval
rm pictures/validation*
# shellcheck disable=SC2086
refused 'validation' $base $data --eval --train_dir=trained
# shellcheck disable=SC2086
refused 'validation' $base $data --eval_during_training_every_n_steps=1
finish
