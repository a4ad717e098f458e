#!/bin/sh
# cli_world_faults_test.sh BENCH MPI MPIRUN: ends, stops and interrupts ranks of a run of three processes. No process may
# be left.
set -u

bench=$1 mpi=$2 mpirun=$3
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
# A name for this test's processes.
tag=$work/record.json
# The ids of the processes with this name; also of grep itself, which has ended by then.
named() { grep -aslF "$tag" /proc/[0-9]*/cmdline | cut -d/ -f3; }
# shellcheck disable=SC2046  # a list of numbers
trap 'kill -9 $(named) 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
  failures=$((failures + 1))
  echo "FAILED: $case_name: $1"
  sed 's/^/  /' err
}
# start [PROCESSES]: by the launcher, or by bench.
start() {
  rm -f "$tag" out
  run="$bench --device=cpu --model=trivial --batch_size=1 --num_batches=100000000 --num_warmup_batches=1 --display_every=10
       --variable_update=horovod --result_file=$tag"
  # shellcheck disable=SC2086
  case $mpi${1:-} in
    *[0-9]) BENCH_MPI=$mpi $run --np="$1" >out 2>err & ;;
    openmpi)
      # By default mpirun kills the ranks a second after SIGTERM, and a step here can take longer.
      "$mpirun" --mca odls_base_sigkill_timeout 10 --bind-to none --oversubscribe -np 3 $run >out 2>err & ;;
    *) "$mpirun" -np 3 $run >out 2>err & ;;
  esac
  launcher=$!
  until grep -q "^10	images" out 2>/dev/null; do
    kill -0 $launcher 2>/dev/null || { fail 'it does not start' && exit 1; }
    sleep 0.1
  done
}
# The processes of bench: "PID PARENT RANK".
processes() {
  for pid in $(named); do
    [ -r "/proc/$pid/environ" ] || continue
    rank=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p')
    [ -z "$rank" ] || echo "$pid $(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$pid/stat") $rank"
  done
}
worker_of() { processes | awk -v rank="$1" '{ parent[$1] = $2; if ($3 == rank) own[$1] }
  END { for (pid in own) if (parent[pid] in own) print pid }'; }
guard_of() { sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$(worker_of "$1")/stat"; }
# ended TEXT...: the launcher fails, the processes are gone, and stderr has all texts. MPICH's launcher sometimes returns
# 0 after SIGTERM.
ended() {
  begin=$(date +%s)
  wait $launcher
  status=$?
  seconds=$(($(date +%s) - begin))
  [ $status -ne 0 ] || [ "$mpi $1" = 'mpich ended by SIGTERM' ] || fail 'exit status 0'
  for _ in $(seq 600); do
    [ -n "$(processes)" ] || break
    sleep 0.1
  done
  [ -z "$(processes)" ] || fail "processes are left: $(processes)"
  for text in "$@"; do
    grep -q "$text" err || fail "stderr lacks: $text"
  done
  echo "$case_name: exit status $status after $seconds s"
}
recorded() { grep -q "\"status\": \"$1\"" "$tag" || fail "the record is not marked $1"; }

# reported RANK: its guard names it, and the others report a loss. A rank that ended in the middle of a message may hide
# the messages of the others, so they may name another rank.
reported() {
  grep -q "rank $1 (host .*): .*process" err || fail "rank $1 is not named"
  grep -q "rank . (host .*) is lost" err || fail "the others do not report the loss"
  [ "$1" = 0 ] || recorded failed
}

# One of the two ranks each day, and the other one under the other MPI.
day=$("${0%/*}/../../tools/sample" part)
echo "sample: BENCH_SAMPLE=$day repeats this part"
case $day$mpi in
  whole*) ranks='0 2' ;;
  *[02468]openmpi | *[13579]mpich) ranks=0 ;;
  *) ranks=2 ;;
esac
for rank in $ranks; do
  case_name="rank $rank is killed"
  start
  kill -9 "$(worker_of $rank)"
  ended 'was killed by signal 9'
  reported $rank

  case_name="rank $rank is stopped"
  start
  kill -STOP "$(worker_of $rank)"
  ended 'was stopped or stuck'
  reported $rank
done

# The machine stands still for longer than the ranks wait for each other.
case_name='rank 2 is killed, then all stand still'
start
kill -9 "$(worker_of 2)"
all=$(processes | cut -d' ' -f1)
# shellcheck disable=SC2086
kill -STOP $all
sleep 4
# shellcheck disable=SC2086
kill -CONT $all
ended 'was killed by signal 9'
reported 2

case_name="the guard of rank 1 is stopped"
start
kill -STOP "$(guard_of 1)"
ended 'its guard, process'

for processes in 1 3; do
  case_name="bench --np=$processes gets SIGTERM"
  start $processes
  kill -TERM $launcher
  ended 'ended by SIGTERM'
  [ $status = 143 ] || fail "exit status $status"
  recorded aborted
done

case_name='bench gets SIGTERM while the launcher starts'
# shellcheck disable=SC2086
BENCH_MPI=$mpi $run --np=3 >out 2>err &
launcher=$!
until [ -n "$(pgrep -P $launcher)" ]; do sleep 0.01; done
kill -TERM $launcher
ended SIGTERM
[ $status = 143 ] || fail "exit status $status"

case_name='the launcher gets SIGTERM'
start
kill -TERM $launcher
ended 'ended by SIGTERM'
recorded aborted
exit $((failures > 0))
