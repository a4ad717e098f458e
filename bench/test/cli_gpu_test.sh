#!/bin/sh
# Tests GPUs from the command line: an emulated one, none at all, and planning for a GPU.
# cli_gpu_test.sh BENCH MAKE_TFRECORDS PYTHON EMULATED_LIBRARY FAKE_NVML [PLUGIN]; without Python the record's JSON is
# not parsed. Without the plug-in the test plans for no described card.
. "${0%/*}/cli_lib.sh"
emulated=$4
nvml=$5
plugin=${6:-}
h200=${0%/*}/../../kernels/cuda/test/data/h200.json

# --- no GPU ----------------------------------------------------------------------------------------

unset BENCH_GPU_LIBRARY
if [ ! -e /dev/nvidiactl ]; then
  # shellcheck disable=SC2086
  refused '--device=gpu: this host has no usable GPU: the NVIDIA driver is not installed' $quick --device=gpu
  # shellcheck disable=SC2086
  refused 'bench: --device=gpu: this host has no usable GPU: the NVIDIA driver is not installed' $quick --device=gpu \
    --num_gpus=2
  # shellcheck disable=SC2086
  refused 'bench: --virtual_gpus=2: this host has no usable GPU: the NVIDIA driver is not installed' $quick --virtual_gpus=2
  # shellcheck disable=SC2086
  run 0 $quick
  says "$err" 'note: --device: not given; bench uses the CPU because no GPU can be used: the NVIDIA driver is not installed'
fi
export BENCH_GPU_LIBRARY="$work/missing.so"
# shellcheck disable=SC2086
refused "this host has no usable GPU: BENCH_GPU_LIBRARY=$work/missing.so: the file does not exist" $quick --device=gpu
echo 'no library' >"$work/bad.so"
export BENCH_GPU_LIBRARY="$work/bad.so"
# shellcheck disable=SC2086
refused 'cannot open the GPU library' $quick --device=gpu
lacks "$err" 'cuDNN'
export BENCH_GPU_LIBRARY="${emulated%/*}/libbench_gpu_library_without_cudnn.so"
# shellcheck disable=SC2086
refused 'cannot open the GPU library: libcudnn.so.99: cannot open shared object file' $quick --device=gpu
says "$err" " is required; the loader searched LD_LIBRARY_PATH ("
says "$err" "), ${emulated%/*}"
[ -z "$plugin" ] || says "$err" '. cuDNN 9.'
unset BENCH_GPU_LIBRARY
# shellcheck disable=SC2086
run 0 $quick --device=cpu --cuda_graph=on --use_tf32
says "$err" 'note: --cuda_graph: no effect with --device=cpu'
says "$err" 'note: --use_tf32: no effect with --device=cpu'

# --- an emulated one -------------------------------------------------------------------------------

export BENCH_GPU_LIBRARY="$emulated"


# agree FILE FILE [TOLERANCE]: true if the losses of two records agree within TOLERANCE (2e-4 by default).
agree() {
  [ -n "$python" ] || return 0
  "$python" -c "import json, sys
a, b = (json.load(open(name))['series']['loss'] for name in sys.argv[1:3])
most = float(sys.argv[3])
assert len(a) == len(b) > 0 and all(abs(x - y) <= most * abs(y) for x, y in zip(a, b)), (a, b)" \
    "$1" "$2" "${3:-2e-4}" 2>>"$err" ||
    fail "the losses of $1 and $2 differ"
}

# With a small rate, rounding errors do not grow from step to step.
for model in '--model=lenet --batch_size=4' '--model=resnet20 --data_name=cifar10 --batch_size=2 --init_learning_rate=0.001'; do
  # shellcheck disable=SC2086
  run 0 $model --num_warmup_batches=2 --num_batches=3 --device=cpu --data_format=NHWC \
    --result_file="$work/cpu.json"
  for graph in on off; do
    for format in NHWC NCHW; do
      # shellcheck disable=SC2086
      run 0 $model --num_warmup_batches=2 --num_batches=3 --device=gpu --data_format=$format \
        --cuda_graph=$graph --result_file="$work/gpu.json"
      says "$err" 'note: computing on '
      says "$err" 'fingerprint: matches the reference'
      lacks "$err" 'not replayed'
      agree "$work/gpu.json" "$work/cpu.json"
    done
  done
done

# reads_numbers MODEL CHECKED: a network that reads numbers trains as on the CPU.
reads_numbers() {
  for device in cpu gpu; do
    # shellcheck disable=SC2086
    run 0 $1 --num_warmup_batches=1 --num_batches=2 --device=$device --result_file="$work/$device.json"
    says "$err" "$2"
  done
  says "$err" 'note: computing on '
  agree "$work/gpu.json" "$work/cpu.json"
}
# With another number of classes, the check of lstm_lm compares no losses.
reads_numbers '--model=lstm_lm --num_classes=20 --batch_size=1' 'numbers match the reference'
reads_numbers '--model=ncf --batch_size=4' 'fingerprint: matches the reference'
run 2 --model=deepspeech2 --batch_size=1 --device=gpu
says "$err" 'bench: ctc_loss runs only on the CPU'
run 2 --model=ssd300 --batch_size=1 --device=gpu
says "$err" 'bench: multibox_loss runs only on the CPU'

# shellcheck disable=SC2086
run 0 $quick --device=gpu --dtype=f16 --fp16_enable_auto_loss_scale --num_batches=4
says "$err" '--data_format: not given; bench uses NHWC'
says "$err" 'fingerprint: matches the reference'
# shellcheck disable=SC2086
run 0 $quick --device=gpu --forward_only --profile
says "$out" 'total images/sec'
run 0 $quick --device=gpu --dump=plan
says "$out" 'planned memory'
# shellcheck disable=SC2086
run 2 $quick --device=gpu --forward_only --dtype=int8
says "$err" 'runs no layer of lenet in int8: int8 runs only on the CPU'

# --- pixels ----------------------------------------------------------------------------------------

make_pictures "$work/idx"
for set in train t10k; do
  { head -c 16 "$work/idx/$set-images-idx3-ubyte"; seq 1000 2000 | head -c 2048 | tr '0-9\n' '\012\050\074\120\144\170\214\240\264\310\346'; } \
    >"$work/pictures" && mv "$work/pictures" "$work/idx/$set-images-idx3-ubyte"
done
make_shards data "$work/idx"
data="--model=lenet --batch_size=4 --num_warmup_batches=1 --num_batches=4 --num_classes=3 --data_name=imagenet
  --data_dir=$work/data --datasets_num_private_threads=1 --init_learning_rate=0.01"
# shellcheck disable=SC2086
run 0 $data --device=cpu --num_intra_threads=1 --result_file="$work/floats.json"
lacks "$err" 'uint8'
says "$err" '(1 thread prepares images of 9408 bytes in f32)'
record_holds "r['dataset']['image_type'] == 'f32' and r['dataset']['image_bytes'] == 9408" "$work/floats.json"
# shellcheck disable=SC2086
run 0 $data --device=cpu --num_intra_threads=1 --input_transfer=uint8 --result_file="$work/pixels.json"
says "$err" 'rounded after the resize, by at most half a grey level'
agree "$work/pixels.json" "$work/floats.json" 4e-3
record_holds "r['series']['loss'] != json.load(open('$work/floats.json'))['series']['loss']" "$work/pixels.json"
for format in NHWC NCHW; do
  # shellcheck disable=SC2086
  run 0 $data --device=gpu --data_format=$format --result_file="$work/gpu.json"
  says "$err" 'rounded after the resize, by at most half a grey level'
  says "$err" '(1 thread prepares images of 2352 bytes in u8)'
  says "$err" 'numbers match the reference'
  record_holds "'pixels' in [n['name'] for n in r['verification']['numbers']]" "$work/gpu.json"
  agree "$work/gpu.json" "$work/pixels.json"
  record_holds "r['dataset']['image_type'] == 'u8' and r['dataset']['image_bytes'] == 2352" "$work/gpu.json"
  record_holds "r['flags']['execution']['input_transfer'] == 'uint8'" "$work/gpu.json"
done
# Each tower has its rows of the batch.
# shellcheck disable=SC2086
run 0 $data --batch_size=2 --virtual_gpus=2 --device=gpu --variable_update=replicated --gradient_reduction=mean \
  --result_file="$work/towers.json"
agree "$work/towers.json" "$work/pixels.json"
# shellcheck disable=SC2086
run 0 $data --device=gpu --input_transfer=float --result_file="$work/gpu.json"
lacks "$err" 'uint8'
agree "$work/gpu.json" "$work/floats.json"
# shellcheck disable=SC2086
run 0 $data --device=gpu --resize_method=crop
says "$err" 'no pixel is rounded'
# shellcheck disable=SC2086
run 0 $quick --device=gpu --input_transfer=uint8
says "$err" 'note: --input_transfer: no effect without --data_dir'

# --- statistics of batch norm from convolutions ----------------------------------------------------

# After a warm-up step at this rate the two runs differ only by rounding.
resnet20='--model=resnet20 --data_name=cifar10 --batch_size=4 --dtype=f16 --device=gpu --autotune=off
  --num_warmup_batches=1 --num_batches=3 --init_learning_rate=0.0001'
for statistics in true false; do
  # shellcheck disable=SC2086
  run 0 $resnet20 --conv_statistics=$statistics --result_file="$work/statistics_$statistics.json"
  says "$err" 'fingerprint: matches the reference'
done
agree "$work/statistics_true.json" "$work/statistics_false.json" 1e-3
# shellcheck disable=SC2086
run 0 $resnet20 --device=cpu --dtype=f32 --data_format=NHWC --result_file="$work/cpu.json"
agree "$work/statistics_true.json" "$work/cpu.json" 1e-3
# shellcheck disable=SC2086
run 0 $resnet20 --dump=plan
says "$out" '+statistics+cuda'
# shellcheck disable=SC2086
run 0 $resnet20 --dump=plan --data_format=NCHW
lacks "$out" '+statistics+cuda'
# shellcheck disable=SC2086
run 0 $resnet20 --dump=plan --conv_statistics=false
lacks "$out" '+statistics+cuda'
# shellcheck disable=SC2086
run 0 $resnet20 --dump=choices
cp "$out" "$work/choices.json"
# shellcheck disable=SC2086
run 0 $resnet20 --choices_file="$work/choices.json" --result_file="$work/chosen.json"
agree "$work/chosen.json" "$work/statistics_true.json" 0
# shellcheck disable=SC2086
run 2 $resnet20 --choices_file="$work/choices.json" --conv_statistics=false
says "$err" 'the choices are for another network'

# --- batch norm where a convolution reads it ---------------------------------------------------------

# shellcheck disable=SC2086
run 0 $resnet20 --conv_prologue=false --result_file="$work/prologue_false.json"
says "$err" 'fingerprint: matches the reference'
agree "$work/prologue_false.json" "$work/statistics_true.json" 1e-3
agree "$work/prologue_false.json" "$work/statistics_false.json" 1e-3
# shellcheck disable=SC2086
run 0 $resnet20 --dump=graph,plan
says "$out" 'after batch norm'
says "$out" '+prologue+statistics+cuda'
says "$out" '+prologue '
# shellcheck disable=SC2086
run 0 $resnet20 --dump=plan --conv_prologue=false
says "$out" '+statistics+cuda'
lacks "$out" '+prologue'
# shellcheck disable=SC2086
run 0 $resnet20 --dump=fusions
says "$out" 'conv2d: batch norm before it'
lacks "$out" 'conv2d_backward_weights: batch norm before it'
for unlike in --data_format=NCHW --dtype=bf16 --dtype=f32 --conv_statistics=false; do
  # shellcheck disable=SC2086
  run 0 $resnet20 --dump=graph,plan $unlike
  lacks "$out" '+prologue'
  lacks "$out" 'after batch norm'
done
# Filter gradients of such a deep network mostly cancel out, but rounding errors before the sum do not.
# shellcheck disable=SC2086
run 0 $resnet20 --model=resnet110 --num_batches=1
says "$err" 'fingerprint: matches the reference'
# shellcheck disable=SC2086
run 2 $resnet20 --choices_file="$work/choices.json" --conv_prologue=false
says "$err" 'the choices are for another network'
# shellcheck disable=SC2086
run 0 $resnet20 --conv_prologue=false --dump=choices
cp "$out" "$work/older.json"
# shellcheck disable=SC2086
run 2 $resnet20 --choices_file="$work/older.json"
says "$err" 'If they are older than fused input normalization, use --conv_prologue=false'
# shellcheck disable=SC2086
run 0 $resnet20 --choices_file="$work/older.json" --conv_prologue=false --dump=plan
# shellcheck disable=SC2086
run 0 $resnet20 --conv_statistics=false --conv_prologue=true --dump=plan
says "$err" '--conv_prologue: no effect with --conv_statistics=false'
# shellcheck disable=SC2086
run 0 $resnet20 --data_format=NCHW --conv_prologue=true --dump=plan
says "$err" '--conv_prologue: no effect with --data_format=NCHW'

# --- its sensors -----------------------------------------------------------------------------------

# shellcheck disable=SC2086
run 0 $quick --device=gpu --result_file="$work/gpu.json"
says "$err" 'verdict: unavailable: '
lacks "$err" 'GPU: '
record_holds "r['gpu'][0]['name'] and r['gpu'][0]['watched'] is None and r['quality']['verdict'] is None" \
  "$work/gpu.json"

# watched ANSWERS STATUS ARGS...: a run whose card gives these answers.
watched() {
  FAKE_NVML_ANSWERS=$1
  export FAKE_NVML_ANSWERS
  shift
  # shellcheck disable=SC2086
  run "$@" $quick --device=gpu --result_file="$work/gpu.json"
}
library_path=${LD_LIBRARY_PATH:-}
LD_LIBRARY_PATH="${nvml%/*}${library_path:+:$library_path}"
export LD_LIBRARY_PATH
watched '' 0
says "$err" 'GPU: SM clock 1965 MHz (1965 to 1965), 1500 MHz counted by a kernel after the steps, clocks not reduced, 500 W'
says "$err" 'J/image unavailable: the energy counter needs 5 s'
says "$err" 'verdict: VALID'
record_holds "r['gpu'][0]['uuid'] == 'GPU-fake' and r['gpu'][0]['watched']['samples'] >= 1" "$work/gpu.json"
record_holds "r['quality']['verdict'] == 'VALID' and r['quality']['reasons'] == []" "$work/gpu.json"
record_holds "r['quality']['unread'] == [] and r['gpu'][0]['watched']['others_count'] == 0" "$work/gpu.json"
# By both clocks: the time of each step on the device is within that on the host.
says "$err" " of the step time by the device's clock, gaps included; the median step takes "
record_holds "[0 < d <= h for d, h in zip(r['series']['device_ns'], r['series']['step_ns'], strict=True)].count(True) == \
  int([m['value'] for m in r['metrics'] if m['name'] == 'step_time.n'][0])" "$work/gpu.json"
record_holds "0 < [m['value'] for m in r['metrics'] if m['name'] == 'device_span_share'][0] <= 1" "$work/gpu.json"
watched 'nvmlDeviceGetCurrentClocksEventReasons=64 process=4000001 nvmlDeviceGetTotalEccErrors:0=0,3' 0
says "$err" 'warning: the card'"'"'s memory had 3 errors that ECC corrected'
says "$err" 'verdict: INVALID: heat reduced the clocks for 100.0 % of the time'
says "$err" 'other processes were on the card: 4000001'
record_holds "r['quality']['verdict'] == 'INVALID' and len(r['quality']['reasons']) == 2" "$work/gpu.json"
watched '' 1 --init_learning_rate=1e30
says "$err" 'verdict: INVALID: the run failed: the loss is '
record_holds "r['status'] == 'failed' and r['quality']['verdict'] == 'INVALID'" "$work/gpu.json"
# shellcheck disable=SC2086
run 0 $quick --device=cpu --result_file="$work/cpu.json"
lacks "$err" 'verdict'
lacks "$err" "by the device's clock"
record_holds "r['series']['device_ns'] == [] and 'uses the host' in r['capture_errors']['metrics.device_span_share.value']" \
  "$work/cpu.json"
record_holds "r['gpu'] == [] and r['quality']['verdict'] is None" "$work/cpu.json"

LD_LIBRARY_PATH=$library_path

# --- kernels by time -------------------------------------------------------------------------------

rm -rf "$BENCH_CACHE_DIR"
# shellcheck disable=SC2086
run 0 $quick --device=gpu --result_file="$work/timed.json"
says "$err" ' s to choose between them'
record_holds "r['choices']['by'] == 'timed' and r['flags']['execution']['autotune'] == 'quick'" "$work/timed.json"
set -- "$BENCH_CACHE_DIR"/tuning/*.json
timed_file=$1
if [ "$#" -ne 1 ] || [ ! -f "$timed_file" ]; then fail "not one file of timed choices"; fi
# shellcheck disable=SC2086
run 0 $quick --device=gpu --result_file="$work/kept.json"
says "$err" 'note: the kernels were chosen from timings of an earlier run'
lacks "$err" ' s to choose between them'
record_holds "r['choices']['by'] == 'kept'" "$work/kept.json"
record_holds "r['choices']['nodes'] == json.load(open('$work/timed.json'))['choices']['nodes']" "$work/kept.json"
echo "{" >"$timed_file"
# shellcheck disable=SC2086
run 0 $quick --device=gpu
says "$err" "note: kernels are timed again: $timed_file does not contain choices"
says "$err" ' s to choose between them'
# shellcheck disable=SC2086
run 0 $quick --device=gpu --choices_file="$work/timed.json" --result_file="$work/pinned.json"
lacks "$err" 'were timed'
record_holds "r['choices']['by'] == 'file'" "$work/pinned.json"
record_holds "r['choices']['nodes'] == json.load(open('$work/timed.json'))['choices']['nodes']" "$work/pinned.json"
# Selects another kernel of a product by name, and one that this device does not have.
# shellcheck disable=SC2086
run 0 $quick --device=gpu --autotune=off --dump=choices
sed '/"fc.*{/,/implementation/s/"emulated[a-z:]*"/"emulated:roomy"/' "$out" >"$work/roomy.json"
# shellcheck disable=SC2086
run 0 $quick --device=gpu --choices_file="$work/roomy.json" --result_file="$work/pinned.json"
record_holds "r['choices']['nodes'] == json.load(open('$work/roomy.json'))['nodes']" "$work/pinned.json"
record_holds "'emulated:roomy' in [n['implementation'] for n in r['choices']['nodes'].values()]" "$work/pinned.json"
sed 's/"emulated:roomy"/"emulated:gone"/' "$work/roomy.json" >"$work/gone.json"
# shellcheck disable=SC2086
refused 'emulated:gone' $quick --device=gpu --choices_file="$work/gone.json"
sed 's/"emulated:roomy"/"emulated:inplace"/' "$work/roomy.json" >"$work/inplace.json"
# shellcheck disable=SC2086
refused 'the chosen kernel, emulated:inplace, is not deterministic' $quick --device=gpu \
  --choices_file="$work/inplace.json" --deterministic
# shellcheck disable=SC2086
refused 'did you mean --choices_file?' $quick --device=gpu --replay_choices="$work/timed.json"
# shellcheck disable=SC2086
run 0 $quick --device=gpu --use_tf32
says "$err" 'note: --use_tf32: f32 convolutions and matrix products round their inputs to TF32'
# shellcheck disable=SC2086
run 0 $quick --device=gpu --autotune=off
lacks "$err" 'TF32'
lacks "$err" 'were timed'
# shellcheck disable=SC2086
run 0 $quick --device=gpu --autotune=full --deterministic
says "$err" ' s to choose between them'

# --- one that is too old ---------------------------------------------------------------------------

export EMULATED_GPUS=2 EMULATED_GPU_0_CAPABILITY=70
# shellcheck disable=SC2086
run 0 $quick --device=gpu --autotune=off
says "$err" 'note: GPU 0 (Emulated GPU) is skipped: it has compute capability 7.0, but this program needs at least 7.5'
says "$err" 'fingerprint: matches the reference'
# shellcheck disable=SC2086
refused '--num_gpus=2: this host has 1 usable GPU; GPU 0 (Emulated GPU) is skipped: it has compute capability 7.0' \
  $quick --device=gpu --num_gpus=2
export EMULATED_GPUS=1
# shellcheck disable=SC2086
refused 'this host has no usable GPU: this program needs compute capability 7.5 or newer, but GPU 0 (Emulated GPU) has 7.0' \
  $quick --device=gpu
unset EMULATED_GPUS EMULATED_GPU_0_CAPABILITY

# --- a card that is described ----------------------------------------------------------------------

# Every card that the flag accepts by name.
run 0 --help=plan_for
for card in $(grep -o 'sm_[0-9]*' "$out"); do
  run 0 --model=lenet --plan_for="$card" --dump=plan
  says "$err" 'note: planned for '
done

# The planned step of the emulated card and that of its file.
# shellcheck disable=SC2086
run 0 $quick --device=gpu --dump=plan --autotune=off
says "$out" 'planned step: '
says "$out" ' nodes and reorders in '
says "$out" ' launches, '
# shellcheck disable=SC2086
run 0 $quick --plan_for="$h200" --dump=plan
says "$err" 'note: planned for NVIDIA H200 (compute capability 9.0, 131.3 GiB): times are estimates for one device, at 3600 GB/s (0.75 of the'
says "$out" 'planned step: '
# shellcheck disable=SC2086
run 0 $quick --plan_for="$h200" --dump=fusions
says "$out" ' launches '
refused "--plan_for=$work/none.json: unknown value; accepted: an existing file, or one of sm_75, " --model=lenet --plan_for="$work/none.json" --dump=plan
echo '{"name": "x"}' >"$work/card.json"
refused "--plan_for=$work/card.json: the description has no \"capability\"" --model=lenet --plan_for="$work/card.json" --dump=plan
echo 'name: x' >"$work/card.json"
refused "--plan_for=$work/card.json: the file is not JSON" --model=lenet --plan_for="$work/card.json" --dump=plan
refused '--plan_for=sm_70: unknown value; accepted: an existing file, or one of sm_75, ' --model=lenet --plan_for=sm_70 --dump=plan
refused 'sm_121; did you mean sm_90?' --model=lenet --plan_for=h100 --dump=plan

# The largest batch fits; a much larger one does not, even without any reserve for unplanned memory.
run 0 --model=lenet --plan_for="$h200" --batch_size=max --dump=plan
says "$err" ' of the usable 131.3 GiB (all memory of the card). Batch '
says "$err" ' bench leaves 5 % for unplanned memory.'
lacks "$err" 'would refuse'
largest=$(sed -n 's/^--batch_size=max: batch \([0-9]*\) needs .*/\1/p' "$err")
says "$err" " Batch $((largest + 1)) would need "
says "$out" "f32[${largest}x"
run 0 --model=lenet --plan_for="$h200" --batch_size=$((largest * 11 / 10)) --dump=plan
says "$err" 'note: bench would refuse this run: '
refused 'cannot be combined with --dump' --model=lenet --device=gpu --batch_size=max --dump=plan

unset BENCH_GPU_LIBRARY
refused 'add what to print, such as --dump=plan' --model=lenet --plan_for=sm_90
refused 'is for GPUs and cannot be combined with --device=cpu' --model=lenet --device=cpu --plan_for=sm_90 --dump=plan
if [ -n "$plugin" ]; then
  run 0 --model=resnet50 --batch_size=8 --dtype=f16 --plan_for=SM_90 --dump=plan
  says "$out" 'cudnn'
  says "$out" 'planned memory'
  says "$out" 'planned step: '
  lacks "$err" 'would refuse'
  run 0 --model=resnet50 --batch_size=100000 --plan_for=sm_90 --dump=plan
  says "$out" 'planned memory'
  says "$err" 'note: bench would refuse this run: --batch_size=100000 needs '
  says "$err" ', but only 80.0 GiB is available (all memory of the card)'
else
  refused 'run BENCH_CUDA=wheels tools/bench' --model=lenet --plan_for=sm_90 --dump=plan
fi

finish
