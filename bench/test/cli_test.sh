#!/bin/sh
# Tests the program from the command line: exit status, standard output, standard error and the record.
# cli_test.sh BENCH MAKE_TFRECORDS [PYTHON]; without Python the record's JSON is not parsed.
. "${0%/*}/cli_lib.sh"

# --- wrong use -----------------------------------------------------------------------------------

refused 'did you mean --batch_size' --batch_sise=2
[ ! -s "$out" ] || fail 'something is on standard output'
refused 'unknown' --no_such_thing_at_all
refused 'did you mean vgg11 or vgg16 or vgg19?' --model=vgg
refused 'did you mean --model=resnet50?' --resnet50
refused '--num_intra_threads=4096: this process may use 1 to ' --model=lenet --num_intra_threads=4096
refused ' TiB for its input alone, but only ' --model=lenet --batch_size=1073741824
refused "--model=a\\x1b[31m\\nb\\x07: unknown value" --model="$(printf 'a\033[31m\nb\007')"
refused "cannot read 'a\\x1b[2J': " --model=lenet --init_from="$(printf 'a\033[2J')"
refused 'did you mean resnet50' --model=resnet5O
refused 'did you mean --model=lenet?' lenet
refused '--list_models lists all' --model=quux
refused 'lenet has no auxiliary head' --model=lenet --aux_head
refused 'a number from 0 to below 1' --label_smoothing=1
refused 'the dataset is cifar10; give --data_name=imagenet' --model=lenet --data_name=cifar10
# Terabytes of variables, refused before they are drawn.
refused 'for its variables alone' --model=lenet --image_size=16384
refused '--batch_size=many' --batch_size=many
refused 'not applicable: MPI carries' --model=lenet --server_protocol=grpc+mpi
refused '--dtype=int8 is for inference: add --forward_only' --model=lenet --dtype=int8
refused '--verify: int8 rounds' --model=lenet --dtype=int8 --forward_only --verify
refused '--data_format=NCWH' --data_format=NCWH
# shellcheck disable=SC2086
refused 'the folder does not exist' $quick --data_dir="$work/absent" --data_name=imagenet
mkdir "$work/empty"
# shellcheck disable=SC2086
refused 'the folder contains neither shards' $quick --data_dir="$work/empty" --data_name=imagenet
# shellcheck disable=SC2086
refused "the folder '$work/absent' does not exist" $quick --result_file="$work/absent/record.json"
# shellcheck disable=SC2086
refused 'it is a folder' $quick --result_file="$work/empty"
# A need of many TiB, planned without allocating it.
refused 'the largest batch that fits is ' --model=lenet --batch_size=100000000 --num_intra_threads=1
refused 'the largest batch that fits is ' --model=resnet50 --batch_size=10000000 --num_intra_threads=1
run 0 --model=lenet --device=cpu --batch_size=100000000 --dump=plan
says "$out" 'planned memory: '
says "$err" 'note: bench would refuse this run: --batch_size=100000000 needs '
says "$err" 'is available'

# --- help, version, dumps ------------------------------------------------------------------------

run 0 --help
[ "$(wc -l <"$out")" -le 30 ] || fail 'more than one screen'
for flag in --model --data_dir --optimizer --use_fp16 --num_intra_threads --max_seconds --help=all; do
  says "$out" "$flag"
done
[ ! -s "$err" ] || fail 'something is on standard error'
mv "$out" "$work/help"
for flag in -h --helpshort; do
  run 0 $flag
  cmp "$out" "$work/help" || fail 'another help'
done
run 0 --helpfull
says "$out" '--variable_update'
run 0 --help=data
says "$out" '--resize_method'
lacks "$out" '--optimizer'
refused "expected all, a flag's name, or a group: run, data, " --help=datum

printf -- '--model=LeNet\n--batch-size=2\n--undefok=new_flag\n--new_flag=1\n' >"$work/flags"
# shellcheck disable=SC2086
run 0 $quick --flagfile="$work/flags" --dump=plan
says "$err" "note: --new_flag: unknown flag, ignored because of --undefok"
refused "$work/flags, line 1: --lr: unknown flag; did you mean --init_learning_rate?" \
  --flagfile="$(echo '--lr=1' >"$work/flags" && echo "$work/flags")"
run 0 --version
grep -qx 'bench [0-9][0-9.]*' "$out" || fail 'no version'
run 0 --list_models
[ ! -s "$err" ] || fail 'something is on standard error'
grep -q '^model  *dataset  *size  *batch  *parameters  *GFLOP/example  *devices$' "$out" ||
  fail 'no titles'
grep -q '^resnet50  *imagenet  *224  *64  *25559081  *7\.7160  *cpu reference$' "$out" ||
  fail 'no line of resnet50'
run 0 --list_variables --model=lenet --num_classes=7 --image_size=32
[ ! -s "$err" ] || fail 'something is on standard error'
grep -q '^fc\.weight  *7x512  *yes  *yes$' "$out" || fail 'no line of fc.weight'
tail -n 1 "$out" | grep -q '^total: 8 with [0-9]* scalars; trained: 8 ' || fail 'no totals'
refused 'does not fit --model=lenet: ' --model=lenet --image_size=3 --list_variables
# shellcheck disable=SC2086
run 0 $quick --dump=graph
says "$out" 'conv0.weight'
lacks "$out" 'Running warm up'
# shellcheck disable=SC2086
run 0 $quick --dump=plan
says "$out" 'planned memory: activations '
lacks "$out" 'Running warm up'
cp "$out" "$work/plan"
# shellcheck disable=SC2086
run 0 $quick --dump=choices
cp "$out" "$work/choices"
# shellcheck disable=SC2086
run 0 $quick --choices_file="$work/choices" --dump=plan
cmp "$out" "$work/plan" || fail 'pinned choices make another plan'
# shellcheck disable=SC2086
run 0 $quick --choices_file="$work/choices" --num_batches=2
# shellcheck disable=SC2086
run 2 $quick --choices_file="$work/choices" --forward_only
says "$err" 'the file was made for --forward_only=false, but this run has true'
# shellcheck disable=SC2086
run 2 $quick --choices_file="$work/choices" --result_file="$work/choices"
says "$err" 'would overwrite'

# --- a whole run ---------------------------------------------------------------------------------

# shellcheck disable=SC2086
run 0 $quick --num_batches=20 --result_file="$work/record.json"
says "$out" 'Model:       lenet'
says "$out" 'Dataset:     imagenet (synthetic)'
[ "$(sed -n '/^Step/,$p' "$out" | awk '/images\/sec: / && /\+\/-/ && NF == 9' | wc -l)" -eq 3 ] ||
  fail 'not three step lines of nine fields'
awk -F '\t' '/\+\/-/ { n += NF != 3 || $1 !~ /^(1|10|20)$/ || $3 !~ /^[0-9]+\.[0-9][0-9][0-9]$/ }
  END { exit n }' "$out" || fail 'a step line has another form'
[ "$(grep -cxE 'total images/sec: [0-9]+\.[0-9]{2}' "$out")" -eq 1 ] || fail 'no total'
says "$err" 'waiting for input: '
record_holds "'input' not in r" "$work/record.json"
record_holds "r['status'] == 'ok' and not r['partial']" "$work/record.json"
record_holds "r['schema'] == 'bench.record/2' and len(r['series']['step_ns']) == 20" \
  "$work/record.json"
record_holds "r['load']['steal_share'] is not None" "$work/record.json"
total=$(sed -n 's,^total images/sec: ,,p' "$out")
record_holds "r['workload']['image_size'] == 28" "$work/record.json"
record_holds "abs([m['value'] for m in r['metrics'] if m['name'] == 'images_per_sec'][0] - $total) \
< 0.006" "$work/record.json"

# shellcheck disable=SC2086
run 0 $quick --num_batches=1 --momentum=0.5 --num_inter_threads=2 --trace_file="$work/trace.json"
says "$err" "note: --num_batches is given more than once: '1' is used, not '2'"
says "$err" 'note: --momentum: no effect with --optimizer=sgd'
says "$err" 'note: --num_inter_threads: no effect: '
[ "$(tail -n 1 "$out")" = "Dumping trace to $work/trace.json" ] || fail 'the trace is not named'
[ -s "$work/trace.json" ] || fail 'no trace'

# shellcheck disable=SC2086
run 0 $quick --print_training_accuracy
[ "$(awk '/images\/sec: / && /\+\/-/ && NF == 11' "$out" | wc -l)" -eq 1 ] ||
  fail 'no step line of eleven fields'
run 0 --model=trivial --batch_size=2 --num_batches=2 --forward_only --num_intra_threads=1
awk '/\+\/-/ { exit NF != 11 || $9 != "0.000" }' "$out" || fail 'the loss is not 0.000'

# --- data ----------------------------------------------------------------------------------------

make_pictures "$work/idx"
make_shards good "$work/idx"
data="$quick --data_name=imagenet --datasets_num_private_threads=1"

# shellcheck disable=SC2086
run 0 $data --data_dir="$work/good" --num_classes=3 --result_file="$work/data.json"
says "$out" 'Dataset:     imagenet'
lacks "$out" '(synthetic)'
record_holds "r['dataset']['shards'] == 1 and r['dataset']['bytes'] > 0" "$work/data.json"

# shellcheck disable=SC2086
refused 'out of range; 0 to 1 are accepted' $data --data_dir="$work/good" --num_classes=2 \
  --result_file="$work/label.json"
says "$err" "$shard, offset "
record_holds "r['status'] == 'failed' and 'out of range' in r['status_reason']" "$work/label.json"

size=$(wc -c <"$shard")
mkdir "$work/truncated" "$work/flipped"
head -c $((size - 7)) "$shard" >"$work/truncated/train-00000-of-00001"
# shellcheck disable=SC2086
refused "$work/truncated/train-00000-of-00001" $data --data_dir="$work/truncated"
says "$err" 'offset'

{
  head -c $((size / 2)) "$shard"
  tail -c +$((size / 2 + 1)) "$shard" | head -c 1 | tr '\000-\377' '\001-\377\000'
  tail -c +$((size / 2 + 2)) "$shard"
} >"$work/flipped/train-00000-of-00001"
# shellcheck disable=SC2086
refused "$work/flipped/train-00000-of-00001" $data --data_dir="$work/flipped"
says "$err" 'offset'
# shellcheck disable=SC2086
run 0 $data --data_dir="$work/flipped" --num_classes=3 --batch_size=8 --on_bad_record=skip --max_bad_records=1000 \
  --result_file="$work/bad.json"
says "$err" 'warning: skipped '
says "$err" "the first: $work/flipped/train-00000-of-00001, offset "
record_holds "sum(r['input']['bad_records'].values()) > 0" "$work/bad.json"

# shellcheck disable=SC2086
run 0 $data --data_dir="$work/good" --num_classes=3 --diagnose_input=0.1
says "$out" 'input and device '
says "$out" 'diagnosis: '

# One record with valid checksums and the label 1, whose image is a text.
mkdir "$work/text"
base64 -d >"$work/text/train-00000-of-00001" <<'RECORD'
RwAAAAAAAAC6w/ubCkUKJwoNaW1hZ2UvZW5jb2RlZBIWChQKEnRoaXMgaXMgbm8gcGljdHVyZQoa
ChFpbWFnZS9jbGFzcy9sYWJlbBIFGgMKAQFzBzzi
RECORD
# shellcheck disable=SC2086
refused "$work/text/train-00000-of-00001, offset 0: " $data --data_dir="$work/text"
says "$err" 'JPEG'

# --- tensor files --------------------------------------------------------------------------------

tiny="--model=lenet --batch_size=2 --num_classes=10 --num_warmup_batches=0 --num_intra_threads=1"

# holds CONDITION FILE: true if the condition is true in Python for a safetensors file. In it, t has the tensors (name:
# dtype, shape, values of F32), m the metadata.
holds() {
  [ -n "$python" ] || return 0
  "$python" -c "import json, struct, sys
raw = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', raw[:8])[0]
head = json.loads(raw[8:8 + size])
m = head.pop('__metadata__')
data = raw[8 + size:]
t = {n: (e['dtype'], e['shape'], struct.unpack('<%df' % ((e['data_offsets'][1] -
     e['data_offsets'][0]) // 4), data[slice(*e['data_offsets'])])) for n, e in head.items()}
assert $1, (m, {n: e[:2] for n, e in t.items()})" "$2" 2>>"$err" ||
    fail "the tensors do not hold: $1"
}

# shellcheck disable=SC2086
run 0 $tiny --num_batches=3 --init_learning_rate=1e-7 --save_variables="$work/saved" \
  --result_file="$work/saved.json"
holds "m['format'] == 'bench' and m['model'] == 'lenet' and m['global_step'] == '3'" "$work/saved"
holds "t['fc.weight'][:2] == ('F32', [10, 512]) and len(t) == 8" "$work/saved"
record_holds "len(r['series']['loss']) == 3" "$work/saved.json"
# shellcheck disable=SC2086
run 0 $tiny --init_from="$work/saved" --dump_tensors="$work/tensors"
says "$err" '8 of 8 variables are initialized from '
lacks "$out" 'Running warm up'
holds "t['logits'][1] == [2, 10] and t['grad/conv0.weight'][1] == [32, 3, 5, 5]" "$work/tensors"
holds "len(t) == 11 and t['total_loss'][2][0] > t['loss'][2][0] > 0" "$work/tensors"
# shellcheck disable=SC2086
run 0 $tiny --forward_only --init_from="$work/saved" --dump_tensors="$work/logits"
holds "list(t) == ['logits']" "$work/logits"
# Loading them, running as many steps without training and saving them gives the same variables, whatever the seed.
# shellcheck disable=SC2086
run 0 $tiny --num_batches=3 --forward_only --tf_random_seed=7 --init_from="$work/saved" \
  --save_variables="$work/again"
cmp "$work/saved" "$work/again" || fail 'the variables changed on their way'
# A run that continues from the saved variables begins with their loss.
# shellcheck disable=SC2086
run 0 $tiny --num_batches=1 --init_from="$work/saved" --result_file="$work/on.json"
record_holds "abs(r['series']['loss'][0] / $([ -z "$python" ] || "$python" -c "
import json, struct, sys
raw = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', raw[:8])[0]
begin = json.loads(raw[8:8 + size])['total_loss']['data_offsets'][0] + 8 + size
print(struct.unpack('<f', raw[begin:begin + 4])[0])" "$work/tensors") - 1) < 1e-5" "$work/on.json"

# shellcheck disable=SC2086
refused 'fc.weight has shape 10x512, not 11x512' $tiny --num_classes=11 --init_from="$work/saved"
# shellcheck disable=SC2086
run 0 $tiny --num_classes=11 --num_batches=1 --init_from="$work/saved" --init_from_partial
says "$err" '6 of 8 variables are initialized from '
says "$err" 'skipped because shape or type differs: fc.weight has shape 10x512, not 11x512, fc.bias has shape 10, not 11'
refused 'The file lacks fc1.weight' --model=trivial --init_from="$work/saved"
refused 'No such file' --model=lenet --init_from="$work/absent"
refused 'begin with' --model=lenet --init_from="$work/good/train-00000-of-00001"
refused '--input_file and --data_dir are mutually exclusive' --input_file=a --data_dir=imagenet
# shellcheck disable=SC2086
refused 'cannot write the file of --save_variables' $tiny --save_variables="$work/absent/file"

if [ -n "$python" ]; then
  "$python" -c "import json, struct, sys
pixels = 3 * 28 * 28
images = struct.pack('<%df' % (4 * pixels), *((i % 251) / 125 - 1 for i in range(4 * pixels)))
labels = struct.pack('<4q', 1, 2, 3, 4)
head = json.dumps({'images': {'dtype': 'F32', 'shape': [4, 3, 28, 28], 'data_offsets':
                              [0, len(images)]},
                   'labels': {'dtype': 'I64', 'shape': [4], 'data_offsets':
                              [len(images), len(images) + 32]}}).encode()
open(sys.argv[1], 'wb').write(struct.pack('<Q', len(head)) + head + images + labels)" "$work/batches"
  for format in NCHW NHWC; do
    # shellcheck disable=SC2086
    run 0 $tiny --num_batches=4 --input_file="$work/batches" --init_learning_rate=0 \
      --init_from="$work/saved" --data_format=$format --result_file="$work/$format.json"
    says "$out" 'Dataset:     imagenet (file)'
    record_holds "r['workload']['data'] == 'file' and r['dataset']['records'] == 4" \
      "$work/$format.json"
    # Two batches, each twice, without training in between.
    record_holds "(lambda l: l[0] == l[2] != l[1] == l[3])(r['series']['loss'])" "$work/$format.json"
  done
  record_holds "abs(r['series']['loss'][0] / \
json.load(open('$work/NCHW.json'))['series']['loss'][0] - 1) < 1e-4" "$work/NHWC.json"
  # shellcheck disable=SC2086
  refused 'N a multiple of the batch size 3' $tiny --batch_size=3 --input_file="$work/batches"
  # shellcheck disable=SC2086
  refused '0 to 3 are accepted' $tiny --num_classes=4 --input_file="$work/batches"
fi

# --- results that cannot be written --------------------------------------------------------------

if [ -w /dev/full ]; then
  # shellcheck disable=SC2086
  case_name='standard output is full'
  # shellcheck disable=SC2086
  "$bench" $quick >/dev/full 2>"$err" </dev/null
  status=$?
  : >"$out"
  [ "$status" -eq 74 ] || fail "exit status $status, not 74"
  one_sentence
else
  echo 'left out: there is no /dev/full'
fi

case_name='the folder of the result is removed during the run'
mkdir "$work/gone"
fresh
# shellcheck disable=SC2086
"$bench" $endless --result_file="$work/gone/record.json" >"$out" 2>"$err" </dev/null &
pid=$!
started "$pid" 'Running warm up'
rmdir "$work/gone"
kill -TERM "$pid"
wait "$pid"
status=$?
[ "$status" -eq 74 ] || fail "exit status $status, not 74"
says "$err" 'cannot write the result file'
lacks "$out" 'total images/sec'

# --- interrupts ----------------------------------------------------------------------------------

# ended NAME STATUS: sends the signal to an endless run.
ended() {
  case_name="SIG$1"
  fresh
  # shellcheck disable=SC2086
  $interruptible "$bench" $endless --result_file="$work/$1.json" --save_variables="$work/$1.safetensors" \
    >"$out" 2>"$err" </dev/null &
  pid=$!
  started "$pid" "$2"
  kill -"$1" "$pid"
  wait "$pid"
  status=$?
  [ "$status" -eq "$3" ] || fail "exit status $status, not $3"
  says "$err" "ended by SIG$1 after "
  lacks "$out" 'total images/sec'
  [ -s "$work/$1.safetensors" ] || fail 'no variables were saved'
  record_holds "r['status'] == 'aborted' and r['partial'] and 'SIG$1' in r['status_reason']" \
    "$work/$1.json"
}
ended INT '^1	images' 130
record_holds "len(r['series']['step_ns']) >= 1" "$work/INT.json"
ended TERM 'Running warm up' 143
ended HUP '^1	images' 129

case_name='an interrupt in a sweep'
fresh
# shellcheck disable=SC2086
$interruptible "$bench" $endless --batch_size=4,2 --result_file="$work/swept.json" >"$out" 2>"$err" </dev/null &
pid=$!
started "$pid" '^1	images'
kill -INT "$pid"
wait "$pid"
status=$?
[ "$status" -eq 130 ] || fail "exit status $status, not 130"
tail -n 1 "$out" | grep -qE '^ +4 .* ended after [0-9]+ steps$' || fail 'no table of what was done'
lacks "$err" 'run 2 of 2'
record_holds "r['status'] == 'aborted' and r['partial']" "$work/swept.batch4.json"
[ ! -e "$work/swept.batch2.json" ] || fail 'the second batch has a record'

# reads_no_images TITLE UNIT ARGS...: trains with these arguments, and checks the unit of the output and the record.
reads_no_images() {
  title=$1 unit=$2
  shift 2
  case_name="a model that counts $unit"
  fresh
  "$bench" "$@" --batch_size=2 --num_batches=2 --num_warmup_batches=0 --device=cpu --result_file="$work/$unit.json" \
    >"$out" 2>"$err" </dev/null || fail "exit status $?"
  grep -q "^Step	$title/sec	total_loss\$" "$out" || fail 'no titles of the step lines'
  grep -qE "^1	$unit/sec: [0-9]" "$out" || fail 'no step line'
  grep -qE "^total $unit/sec: [0-9]" "$out" || fail 'no total'
  grep -q 'images/sec' "$out" && fail 'it counts images'
  record_holds "[m['name'] for m in r['metrics'] if m['name'].endswith('_per_sec')] == ['${unit}_per_sec']" \
    "$work/$unit.json"
}
reads_no_images Tokens tokens --model=lstm_lm --num_classes=40
reads_no_images Examples examples --model=ncf

case_name='a second signal'
# One step takes much longer than the test.
fresh
$interruptible "$bench" --model=resnet50 --batch_size=64 --device=reference \
  --result_file="$work/second.json" >"$out" 2>"$err" </dev/null &
pid=$!
started "$pid" 'Running warm up'
kill -INT "$pid"
answered "$pid" '^SIGINT: the run ends after the current step'
kill -0 "$pid" || fail 'the first one ended the run at once'
kill -TERM "$pid"
wait "$pid"
status=$?
[ "$status" -eq 143 ] || fail "exit status $status, not 143"
lacks "$err" 'ended by'
[ ! -e "$work/second.json" ] || fail 'it left a record'

finish
