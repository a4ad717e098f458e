#!/bin/sh
# Tests element types and batch sizes from the command line: exit status, standard output, standard error and the
# record.
# cli_variants_test.sh BENCH MAKE_TFRECORDS [PYTHON]; without Python the record's JSON is not parsed.
. "${0%/*}/cli_lib.sh"

# --- networks without batch norm: synthetic images leave the loss a number --------------------------

for model in '--model=squeezenet1_1 --batch_size=2' \
  '--model=alexnet --data_name=cifar10 --batch_size=4'; do
  # shellcheck disable=SC2086
  run 0 $model --num_warmup_batches=0 --num_batches=20 --display_every=1
  says "$err" 'has no batch norm: its learning rate is divided by 16256.2'
  says "$out" 'total images/sec'
  [ "$(grep -cE '^[0-9]+	images.*[0-9]$' "$out")" -eq 20 ] || fail 'a loss is no number'
done

# --- 16 bits ---------------------------------------------------------------------------------------

refused 'chooses the type and cannot be combined with --dtype=bf16' --use_fp16 --dtype=bf16
for dtype in bf16 f16; do
  # shellcheck disable=SC2086
  run 0 $quick --device=reference --dtype=$dtype --init_learning_rate=1e-6 \
    --result_file="$work/$dtype.json"
  says "$out" "Precision:   $dtype (f32 variables)"
  says "$err" 'fingerprint: matches the reference'
  record_holds "r['workload']['dtype'] == '$dtype'" "$work/$dtype.json"
done
# shellcheck disable=SC2086
run 0 $quick --device=reference --dtype=BFloat16 --forward_only --result_file="$work/word.json"
record_holds "r['workload']['dtype'] == 'bf16'" "$work/word.json"
# shellcheck disable=SC2086
run 0 $quick --device=reference --use_fp16 --forward_only --result_file="$work/fp16.json"
grep -qx 'Precision:   f16' "$out" || fail 'the type that was chosen is not in the header'
says "$err" 'note: --use_fp16: computing in f16; '
record_holds "r['workload']['dtype'] == 'f16'" "$work/fp16.json"

# Every run of a list contains the notice about the choice.
# shellcheck disable=SC2086
run 0 $quick --device=reference --use_fp16 --forward_only --batch_size=4,2
[ "$(grep -c '^note: --use_fp16: computing in f16; ' "$err")" -eq 2 ] || fail 'not two notes'
refused 'rounds its filters; use --dtype=f32' --model=lenet --dtype=bf16 --forward_only \
  --save_variables="$work/rounded.safetensors"

# --- int8 ------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run 0 $quick --device=reference --forward_only --dtype=int8 --result_file="$work/int8.json"
says "$out" 'Precision:   int8'
says "$err" 'calibrating int8 with 2 batches of 2 in f32'
grep -qE '^int8 against f32 on 8 images that calibration has not seen: signal-to-noise ratio [0-9.]+ dB for the differences' \
  "$err" || fail 'int8 is not judged'
says "$err" 'int8: the weights are untrained (no --init_from)'
lacks "$err" 'fingerprint'
record_holds "r['workload']['dtype'] == 'int8' and 25 < r['quantization']['snr_db'] < 80 and \
10 < r['quantization']['centred_snr_db'] < r['quantization']['snr_db']" "$work/int8.json"
record_holds "r['quantization']['images'] == 8 and r['verification']['skipped'] != '' and \
not r['quantization']['trained'] and not r['quantization']['images_seen'] and \
r['capture_errors']['quantization.correct_int8'] == 'synthetic images have no true labels'" "$work/int8.json"

# A network whose logits are 0 for every image.
run 0 --model=trivial --device=reference --forward_only --dtype=int8 --batch_size=2 \
  --num_warmup_batches=0 --num_batches=1 --result_file="$work/trivial.json"
says "$err" "signal-to-noise ratio undefined (f32's logits are the same for all images) for the differences"
lacks "$err" 'nan'
record_holds "r['quantization']['centred_snr_db'] is None and 'all images' in \
r['capture_errors']['quantization.centred_snr_db']" "$work/trivial.json"

# shellcheck disable=SC2086
run 0 $quick --device=reference --forward_only --dtype=int8 --batch_size=auto --num_batches=1
says "$err" 'is the smallest within 2 % of the best'

# --- batch sizes ---------------------------------------------------------------------------------

refused 'the list has an empty item' --batch_size=8,,16
refused "'0' is not a batch size" --batch_size=0,8
refused 'expected 0, a batch size from 1' --batch_size=-1
refused 'a list cannot contain auto' --batch_size=auto,8
refused '8 is listed more than once' --batch_size=8,8
refused 'cannot be combined with --verify' --model=lenet --batch_size=max --verify
refused 'cannot be combined with --input_file' --model=lenet --batch_size=auto --input_file=x
# A batch that does not fit is refused before any run starts.
refused 'the largest batch that fits is ' --model=lenet --batch_size=2,100000000
[ ! -s "$out" ] || fail 'something is on standard output'

# The table has a line per batch in the order given, with the results of each run.
# shellcheck disable=SC2086
run 0 $quick --batch_size=4,2 --result_file="$work/sweep.json"
[ "$(grep -cxE 'total images/sec: [0-9]+\.[0-9]{2}' "$out")" -eq 2 ] || fail 'not two totals'
grep -qxE ' *batch +images/sec +\+/- +ms/step +planned +peak RSS' "$out" || fail 'no titles'
for batch in 4 2; do
  record_holds "r['workload']['batch_per_device'] == $batch and r['status'] == 'ok' and \
r['batch_choice'] == {'rule': 'list', 'tried': []}" "$work/sweep.batch$batch.json"
done
table=$(tail -n 2 "$out" | awk '{ print $1, $2 }' | tr '\n' ' ')
totals=$(sed -n 's,^total images/sec: ,,p' "$out" | tr '\n' ' ')
[ "$table" = "4 ${totals%% *} 2 $(echo "$totals" | awk '{ print $2 }') " ] ||
  fail "the table says $table, the totals are $totals"

# shellcheck disable=SC2086
run 0 $quick --batch_size=auto --forward_only --result_file="$work/auto.json"
grep -qE '^batch 1: [0-9.]+ images/sec, median of [0-9]+ steps' "$err" || fail 'no trial of 1'
says "$err" 'is the smallest within 2 % of the best'
[ "$(grep -c '^total images/sec' "$out")" -eq 1 ] || fail 'not one run'
record_holds "(lambda c, b: c['rule'] == 'auto' and [t['batch'] for t in c['tried']] == \
[2 ** i for i in range(len(c['tried']))] and b == min(t['batch'] for t in c['tried'] if \
t['images_per_sec'] >= 0.98 * max(u['images_per_sec'] for u in c['tried'])))(r['batch_choice'], \
r['workload']['batch_per_device'])" "$work/auto.json"

finish
