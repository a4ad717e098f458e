#!/bin/sh
# mpi_world_test.sh NAME MPIRUN PROGRAM FOLDER: runs processes that add numbers through one MPI library, NAME, whose
# launcher is MPIRUN. FOLDER contains the plug-ins.
set -eu

name=$1 mpirun=$2 program=$3 folder=$4
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
start() {
  start_count=$1
  shift
  case $name in
    openmpi) "$mpirun" --bind-to none --oversubscribe -np "$start_count" "$@" ;;
    *) "$mpirun" -np "$start_count" "$@" ;;
  esac
}
fail() {
  echo "$1" >&2
  exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

for processes in 1 2 3; do
  start "$processes" "$program" "$folder" >out 2>err || fail "$processes processes: $(cat err)"
  grep -q "^$processes processes added by " out || fail "$processes processes printed: $(cat out)"
done

# Every rank reports a lost rank, or the launcher ends it first.
! start 3 "$program" "$folder" lose 1 >out 2>err || fail "the loss of a rank is not an error"
! grep -q ' processes added by ' out || fail "processes went on without a rank"

# The other MPI's plug-in sees worlds of one process.
case $name in openmpi) other=mpich ;; *) other=openmpi ;; esac
if [ -e "$folder/libbench_$other.so" ]; then
  status=0
  BENCH_MPI=$other start 2 "$program" "$folder" >out 2>err || status=$?
  [ "$status" != 0 ] || fail "the wrong MPI is accepted: $(cat out)"
fi

# A process alone opens no plug-in.
[ "$("$program" "$folder")" = "no launcher started this process" ] || fail "a process alone used MPI"
