#!/bin/sh
# cli_world_test.sh BENCH MAKE_TFRECORDS MPI MPIRUN [EMULATED_LIBRARY]: runs bench and bench_all_reduce
# as several processes under one MPI library, openmpi or mpich. With the library, also on emulated GPUs.
. "${0%/*}/cli_lib.sh"
set -eu

mpi=$3 mpirun=$4 emulated=${5:-}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fail() {
  echo "$1" >&2
  exit 1
}
# start N ARGUMENTS...: bench with these arguments in N processes.
start() {
  start_count=$1
  shift
  case $mpi in
    openmpi) "$mpirun" --bind-to none --oversubscribe -np "$start_count" "$bench" "$@" ;;
    *) "$mpirun" -np "$start_count" "$bench" "$@" ;;
  esac
}
# The step lines without the speeds.
losses() { sed -n 's/^\([0-9]*\)	images.*	\(.*\)$/\1 \2/p' "$1"; }
cd "$work"
make_pictures idx
make_shards pictures idx

run='--device=reference --dtype=f64 --model=lenet --batch_size=2 --num_batches=3 --num_warmup_batches=1 --display_every=1
     --optimizer=momentum'
data="--data_dir=pictures --data_name=imagenet --num_classes=3"
# shellcheck disable=SC2086
{
  for input in '' "$data" "$data --datasets_use_caching"; do
    "$bench" $run $input --num_gpus=4 --variable_update=collective_all_reduce >one 2>err || fail "$(cat err)"
    for shape in "4 1" "2 2"; do
      set -- $shape
      start "$1" $run $input --num_gpus="$2" --variable_update=collective_all_reduce --result_file=record.json \
        >several 2>err || fail "$1 processes: $(cat err)"
      [ "$(losses one)" = "$(losses several)" ] ||
        fail "$1 processes of $2 towers train differently: $(losses several), not $(losses one)"
      grep -q "\"processes\": $1" record.json || fail "the record does not count $1 processes"
      grep -q '"devices": 4' record.json || fail "the record does not count 4 devices"
    done
  done
  # With SGD, one update per worker is the same as one update with the sum.
  "$bench" $run --optimizer=sgd --num_gpus=3 --variable_update=collective_all_reduce >one 2>err || fail "$(cat err)"
  for update in parameter_server distributed_replicated; do
    start 5 $run --optimizer=sgd --variable_update=$update --worker_hosts=a,b,c --ps_hosts=a,b \
      --result_file=record.json >several 2>err || fail "$update: $(cat err)"
    [ "$(losses one)" = "$(losses several)" ] || fail "$update trains differently: $(losses several), not $(losses one)"
    grep -q '"parameter_servers": 2' record.json || fail "the record does not count 2 parameter servers"
    grep -q '^fingerprint: matches' err || fail "not checked: $(cat err)"
  done
  "$bench" $run --num_gpus=2 >one 2>err || fail "$(cat err)"
  start 3 $run --num_gpus=2 --worker_hosts=a --ps_hosts=a,b >several 2>err || fail "two towers: $(cat err)"
  [ "$(losses one)" = "$(losses several)" ] || fail "two towers train differently: $(losses several), not $(losses one)"
  start 4 $run --worker_hosts=a,b,c --ps_hosts=a --cross_replica_sync=false --result_file=record.json >several 2>err ||
    fail "asynchronous: $(cat err)"
  [ "$(losses several | wc -l)" = 3 ] || fail "asynchronous workers printed: $(cat several)"
  [ "$(grep -c '"staleness": {' record.json)" = 3 ] || fail 'the record does not have the staleness of 3 workers'
  start 2 $run $data --forward_only >out 2>err || fail "forward only: $(cat err)"
  grep -q '^total images/sec' out || fail "forward only printed: $(cat out)"

  # Checkpoints: rank 0 writes them, with the values of all ranks. Any number of processes can continue. In resnet20,
  # each tower has its own averages of batch norm.
  with_averages='--device=cpu --num_intra_threads=1 --model=resnet20 --data_name=cifar10 --batch_size=2 --num_warmup_batches=1'
  for saved in "$with_averages" "$run $data"; do
    saved="$saved --variable_update=collective_all_reduce"
    rm -rf straight
    start 2 $saved --num_batches=3 --train_dir=straight --save_model_steps=1 >out 2>err || fail "checkpoints: $(cat err)"
    for step in 2 3; do
      rm -rf resumed && mkdir resumed && cp straight/model.ckpt-$step.safetensors resumed
      start 2 $saved --num_batches=3 --train_dir=resumed --result_file=record.json >out 2>err || fail "$(cat err)"
      grep -q "training continues after step $step" err || fail "not continued: $(cat err)"
      ! grep -q 'the numbers' err || fail "not continued exactly: $(cat err)"
      cmp straight/model.ckpt-4.safetensors resumed/model.ckpt-4.safetensors ||
        fail 'several processes do not continue exactly'
    done
  done
  # All ranks compute with the kernels of the checkpoint, also new ranks.
  "$bench" $with_averages --data_format=NHWC --dump=choices >out 2>err || fail "$(cat err)"
  sed 's/"data_format": "NHWC"/"data_format": "auto"/' out >choices.json
  for count in 1 2; do
    rm -rf chosen
    start $count $with_averages --variable_update=collective_all_reduce --num_batches=2 --train_dir=chosen \
      --choices_file=choices.json >out 2>err || fail "choices of $count processes: $(cat err)"
    start 2 $with_averages --variable_update=collective_all_reduce --num_batches=3 --train_dir=chosen \
      --result_file=chosen.json >out 2>err || fail "chosen by $count processes: $(cat err)"
    grep -q '"by": "checkpoint"' chosen.json || fail 'the kernels are not those of the checkpoint'
    ! grep -q 'not those of the checkpoint' err || fail "other kernels: $(cat err)"
  done
  # Rank 1's processor has other instructions.
  printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export ONEDNN_MAX_CPU_ISA=SSE41\nexec "%s" "$@"\n' \
    "$bench" >weaker
  chmod +x weaker
  (bench=./weaker && start 2 $with_averages --variable_update=collective_all_reduce --num_batches=4 --train_dir=chosen \
    >out 2>err) || true
  grep -q 'note: rank 1 (host .*): the kernels are not those of the checkpoint' err || fail "no note: $(cat err)"
  # Inference adds no gradients, so the ranks may have different layouts.
  (bench=./weaker && start 2 $with_averages --num_batches=2 --forward_only --result_file=unequal.json >out 2>err) ||
    fail "forward only on unequal processors: $(cat err)"
  for place in err unequal.json; do
    [ "$(grep -c '1 of 2 ranks have a different instruction set from rank 0' $place)" = 1 ] ||
      fail "no single warning of the instruction sets in $place: $(cat $place)"
  done
  grep -q '"continued_after": 3' record.json || fail 'the record does not say where the run continued'
  "$bench" $saved --num_gpus=2 --num_batches=5 --train_dir=resumed >out 2>err || fail "$(cat err)"
  grep -q -e '--np was 2 and is 1' err || fail "no note about the processes: $(cat err)"
  start 2 $with_averages --variable_update=collective_all_reduce --num_batches=100000 --train_dir=timed --save_model_secs=1 --max_seconds=6 \
    >out 2>err || fail "$(cat err)"
  [ "$(ls timed/*.safetensors | wc -l)" -ge 2 ] || fail "not saved by time: $(ls timed)"
  # Rank 0 cannot write the list of checkpoints.
  mkdir -p unwritable/checkpoint
  got=0
  start 2 $saved --num_batches=2 --train_dir=unwritable >out 2>err || got=$?
  # MPICH's launcher may report that it killed the other process.
  [ $got = 74 ] || { [ "$mpi" = mpich ] && [ $got = 9 ]; } || fail "exit status $got without the list: $(cat err)"
  grep -q '^bench: rank 0 (host .*): cannot write the list of checkpoints' err || fail "not about the list: $(cat err)"

  # refused STATUS TEXT ARGUMENTS...: two processes exit with this status, and print the text once.
  refused() {
    status=$1 text=$2
    shift 2
    got=0
    start 2 "$@" >out 2>err || got=$?
    [ "$got" = "$status" ] || fail "exit status $got, not $status: $(cat err)"
    [ "$(grep -c "^${refused_by:-bench}: .*$text" err)" = 1 ] || fail "not printed once: $text; but: $(cat err)"
  }

  # Several ranks run with --use_fp16. All ranks begin with the same variables.
  start 2 --device=reference --model=trivial --batch_size=2 --num_batches=2 --use_fp16 --variable_update=horovod \
    --result_file=record.json >out 2>err || fail "--use_fp16: $(cat err)"
  grep -q '"dtype": "f16"' record.json || fail 'the type is not f16'
  mkdir other_folder
  "$bench" $run --save_variables=first.safetensors >out 2>err || fail "$(cat err)"
  "$bench" $run --tf_random_seed=2 --save_variables=other_folder/first.safetensors >out 2>err || fail "$(cat err)"
  start 2 $run --variable_update=horovod --init_from=first.safetensors >out 2>err || fail "--init_from: $(cat err)"
  printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || cd other_folder || exit 1\nexec "%s" "$@"\n' \
    "$bench" >moved
  chmod +x moved
  (bench=./moved refused_by=bench && refused 2 'rank 1 (host .*) begins with variables of the checksum .*give all hosts the same file' \
    $run --variable_update=horovod --init_from=first.safetensors)

  # On GPUs, each process uses its own. Emulated ones have no NCCL between processes.
  if [ -n "$emulated" ]; then
    export BENCH_GPU_LIBRARY="$emulated" BENCH_NCCL_LIBRARY=absent EMULATED_GPUS=2
    gpu='--device=gpu --autotune=off --model=trivial --num_classes=10 --init_learning_rate=0.01 --batch_size=2
      --num_batches=3 --num_warmup_batches=1 --display_every=1'
    "$bench" $gpu --num_gpus=2 --variable_update=collective_all_reduce >one 2>err || fail "$(cat err)"
    start 2 $gpu --variable_update=horovod --result_file=record.json >several 2>err || fail "GPUs: $(cat err)"
    [ "$(losses one)" = "$(losses several)" ] || fail "GPUs train differently: $(losses several), not $(losses one)"
    grep -q '"reduced_on": "host"' record.json || fail 'the record does not say where GPUs add gradients'
    [ "$(sed -n '/"world"/,$p' record.json | grep -o '0000:[0-9a-f:.]*' | sort -u | wc -l)" = 2 ] ||
      fail 'the processes do not use different GPUs'
    got=0
    EMULATED_GPUS=1
    start 2 $gpu --variable_update=horovod >out 2>err || got=$?
    [ $got = 2 ] || fail "exit status $got with too few GPUs"
    grep -q 'bench: .*2 processes with --num_gpus=1 need 2 GPUs' err || fail "not about GPUs: $(cat err)"
    EMULATED_GPUS=4
    start 2 $gpu --num_gpus=2 --variable_update=collective_all_reduce --result_file=record.json >out 2>err ||
      fail "four GPUs: $(cat err)"
    [ "$(sed -n '/"world"/,$p' record.json | grep -o '0000:[0-9a-f:.]*' | sort -u | wc -l)" = 4 ] ||
      fail 'two processes do not use four GPUs'
    start 2 $gpu --virtual_gpus=2 --variable_update=collective_all_reduce >out 2>err || fail "shared GPU: $(cat err)"
    # NCCL is on rank 0's host alone.
    printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ] || export BENCH_NCCL_LIBRARY="%s"\nexec "%s" "$@"\n' \
      "$emulated" "$bench" >partly
    chmod +x partly
    bench=./partly refused 2 'adds gradients in host memory (cannot open NCCL: .*), but rank 0 .* by NCCL' $gpu \
      --variable_update=horovod
    # A rank that is refused while it prepares is named, with NCCL too.
    printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || cd /\nexec "%s" "$@"\n' "$bench" >elsewhere
    chmod +x elsewhere
    "$bench" $gpu --save_variables=first.safetensors >out 2>err || fail "$(cat err)"
    (export BENCH_NCCL_LIBRARY="$emulated" && bench=./elsewhere refused 2 'first.safetensors' $gpu \
      --variable_update=horovod --init_from=first.safetensors) || exit 1
    # Rank 1 sees one of rank 0's two.
    printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export EMULATED_GPUS=1\nexec "%s" "$@"\n' \
      "$bench" >fewer
    chmod +x fewer
    EMULATED_GPUS=2
    got=0
    (bench=./fewer && start 2 $gpu --variable_update=horovod >out 2>err) || got=$?
    [ $got = 2 ] || fail "exit status $got with a GPU of two ranks"
    grep -q 'bench: rank 1 (host .*) and rank 0 would both use the GPU 0000:' err || fail "not about a GPU: $(cat err)"
    unset BENCH_GPU_LIBRARY BENCH_NCCL_LIBRARY EMULATED_GPUS
  fi

  refused 2 'name the workers and the parameter servers' $run
  refused 2 'was written with --model=lenet, but this run has trivial' --device=cpu --model=trivial $data \
    --variable_update=horovod --train_dir=straight
  refused 2 'checkpoints of parameter servers are not supported yet' $run --worker_hosts=a --ps_hosts=a --train_dir=straight
  refused 2 'the folder does not exist' $run --worker_hosts=a --ps_hosts=a --data_dir=absent --data_name=imagenet
  refused 2 'but 2 processes run: start 3 with --np=3' $run --worker_hosts=a,b --ps_hosts=a
  refused 2 'the largest batch that fits is' $run --worker_hosts=a --ps_hosts=a --batch_size=900000000
  refused 2 'the folder does not exist' $run --variable_update=horovod --data_dir=absent --data_name=imagenet
  refused 2 'the largest batch that fits is' $run --variable_update=horovod --batch_size=900000000
  refused 2 'diagnose_input is not supported yet with several processes (2 were started): start one process' $run \
    --variable_update=horovod --data_dir=absent --data_name=imagenet --diagnose_input=1
  refused 2 '--model=absent: unknown value' --variable_update=horovod --model=absent

  # The other ranks do not wait for one whose output cannot be written.
  printf '#!/bin/sh\nexec "%s" "$@" >/dev/full\n' "$bench" >full
  chmod +x full
  if (bench=./full && start 2 $run --variable_update=horovod >out 2>err); then
    fail "a full standard output is not an error"
  fi
  grep -q 'standard output cannot be written' err || fail "not about the output: $(cat err)"
  # A processor with other instructions lays its variables out in another way.
  printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export ONEDNN_MAX_CPU_ISA=SSE41\nexec "%s" "$@"\n' \
    "$bench" >unequal
  chmod +x unequal
  bench=./unequal refused 2 'plans different layouts from rank 0' --device=cpu --model=lenet --variable_update=horovod
  # A rank whose command line cannot be parsed ends all of them.
  printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || set -- "$@" --absent\nexec "%s" "$@"\n' "$bench" >other
  chmod +x other
  bench=./other refused 2 'rank 1 (host .*): --absent' $run --variable_update=horovod
  # bench itself starts the launcher.
  BENCH_MPI=$mpi "$bench" $run --np=4 --variable_update=horovod >several 2>err || fail "--np=4: $(cat err)"
  "$bench" $run --num_gpus=4 --variable_update=collective_all_reduce >one 2>err || fail "$(cat err)"
  [ "$(losses one)" = "$(losses several)" ] || fail "--np=4 trains differently: $(losses several), not $(losses one)"
  refused 2 'the launcher started 2' $run --np=3 --variable_update=horovod
  # The sums of bench_all_reduce over processes are exact.
  (bench=${bench%/*}/bench_all_reduce && start 3 --num_intra_threads=1 --sizes=1K:64K:64 --num_batches=3 \
    --result_file=sums.json >out 2>err) || fail "bench_all_reduce: $(cat err)"
  grep -q '^3 processes x 1 towers x 1 threads, f32' out || fail "bench_all_reduce printed: $(cat out)"
  for row in '1024  *1  processes' '1024  *1  mpi' '65536  *1  processes' '65536  *1  mpi'; do
    grep -q "^ *$row  *[0-9.]*  *[0-9.]*  *[0-9.]*  *-  *-  *0\$" out || fail "no row of $row: $(cat out)"
  done
  grep -q '"processes": 3' sums.json || fail 'bench_all_reduce does not record the processes'
  bench=${bench%/*}/bench_all_reduce refused_by=bench_all_reduce refused 2 'accepted: one of mpi; shm adds within a process' \
    --all_reduce_spec=shm
  # Two summands have the same sum in either order.
  start 2 $run --variable_update=horovod >own 2>err || fail "$(cat err)"
  start 2 $run --variable_update=horovod --all_reduce_spec=mpi >by_mpi 2>err || fail "mpi: $(cat err)"
  [ "$(losses own)" = "$(losses by_mpi)" ] || fail "MPI adds other sums: $(losses by_mpi), not $(losses own)"
  refused 2 'accepted: one of mpi; shm adds within a process' $run --variable_update=horovod --all_reduce_spec=shm
  # A sweep over processes starts a launcher for each run.
  BENCH_MPI=$mpi "$bench" $run --scaling_sweep=1,2 --variable_update=horovod --result_file=swept.json >out 2>err ||
    fail "--scaling_sweep: $(cat err)"
  grep -q '"processes": 2' swept.devices2.json || fail 'the sweep has no run of two processes'
  grep -q '^ *2  *[0-9.]\{1,\}  *[0-9.]\{1,\} ' out || fail "the sweep printed: $(cat out)"
  refused 2 'start bench without a launcher' $run --scaling_sweep=1,2 --variable_update=horovod
  # The launcher's variables are not for the runs that a run starts.
  start 1 $run --repeats=2 >out 2>err || fail "repeats under a launcher: $(cat err)"
}
