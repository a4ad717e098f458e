#!/bin/sh
# Tests bench_input from the command line.
# bench_input_test.sh BENCH_INPUT MAKE_TFRECORDS
set -u

program=$1 make_tfrecords=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/bench_input.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# run STATUS ARGUMENTS...: stdout and stderr go to the files out and err.
run() {
  wanted=$1
  shift
  "$program" "$@" >out 2>err
  status=$?
  [ $status = "$wanted" ] || { echo "FAILED  bench_input $*: status $status, not $wanted: $(cat err)" && failures=1; }
}
says() {
  grep -Eq -- "$2" "$1" || { echo "FAILED  $1 lacks '$2': $(cat "$1")" && failures=1; }
}

# Two digits in the MNIST format.
idx() { printf "$1" >"raw/$2-$3-ubyte"; }
mkdir raw
pixels=$(printf '%0784d' 0 | tr 0 A)
for part in train t10k; do
  idx '\0\0\010\003\0\0\0\002\0\0\0\034\0\0\0\034'"$pixels$pixels" $part images-idx3
  idx '\0\0\010\001\0\0\0\002\001\002' $part labels-idx1
done
"$make_tfrecords" --output_dir=data --shards=2 --validation_shards=1 raw >made 2>&1 || { cat made && exit 1; }

few='--data_dir=data --image_size=28 --batch_size=2 --seconds=0.05 --repeats=2 --shuffle_buffer=4'
# shellcheck disable=SC2086  # a list of options
{
  run 0 $few --threads=1,2 --result_file=result.json
  says out '^imagenet training images from 2 files, '
  says out '^ *threads  images/sec  lowest  highest  per thread  scaling  '
  says out '^ *2  *[0-9]+ '
  says err '^2 threads: measurement 2 of 2$'
  says result.json '"threads": 2'
  run 0 $few --threads=1 --subset=validation --output=u8 --stage=parse --result_file=-
  says out '"stage": "parse"'
  run 0 --data_dir=data --image_size=28 --batch_size=2 --shuffle_buffer=4 --threads=1,2,4 --checksum=3
  [ "$(wc -l <out) $(sed 's/.*: //' out | sort -u | wc -l)" = '3 1' ] ||
    { echo "FAILED  checksums differ: $(cat out)" && failures=1; }
  run 0 $few --threads=1,1
  [ "$(grep -c '^ *1  ' out)" = 1 ] || { echo "FAILED  --threads=1,1: $(cat out)" && failures=1; }
  # Ctrl-C leaves what was measured.
  env --default-signal=INT "$program" --data_dir=data --image_size=28 --batch_size=2 --seconds=0.2 --threads=1 \
    --repeats=1000 --shuffle_buffer=4 >out 2>err &
  while kill -0 $! 2>/dev/null && ! grep -q 'measurement 3' err; do sleep 0.05; done
  kill -INT $!
  wait $!
  status=$?
  [ $status = 130 ] || { echo "FAILED  status $status after SIGINT" && failures=1; }
  says out '^ *1  *[0-9]+ '
  run 2 $few --threads=none
  says err "^bench_input: --threads: 'none' is not a number from 1 to "
}
# A long path, and a value that is refused after it.
folder=$work/a_folder_with_a_long_name
mv data "$folder"
run 2 --data_dir="$folder" --threads=1 --seconds=0
says err '^bench_input: --seconds'
run 2 --data_dir="$folder" --result_file="$folder/train-00000-of-00002"
says err 'is in the folder that --data_dir reads'
run 2
says err '^bench_input: give --data_dir=FOLDER'
run 2 --data_dir=raw
says err '^bench_input: .*raw'
run 0 --help
says out '^bench_input: measures how fast this machine prepares '
exit $failures
