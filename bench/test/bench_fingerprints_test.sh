#!/bin/sh
# Tests bench_fingerprints from the command line.
# bench_fingerprints_test.sh BENCH_FINGERPRINTS
set -u
program=$1
failures=0

# ends STATUS TEXT ARGS...: checks the exit status and the beginning of both streams together.
ends() {
  expected=$1
  text=$2
  shift 2
  said=$("$program" "$@" 2>&1 </dev/null)
  status=$?
  case $said in
    "$text"*) [ "$status" -eq "$expected" ] && return ;;
  esac
  failures=$((failures + 1))
  echo "FAILED: $*: exit status $status, said: $said"
}

ends 0 'Usage: bench_fingerprints [NETWORK]...' --help
ends 2 'bench_fingerprints: --nonsense: must be a network that bench --list_models lists' --nonsense
ends 2 'bench_fingerprints: lennet: must be a network that bench --list_models lists' trivial lennet
ends 0 'imagenet trivial
BENCH_FINGERPRINT("trivial", "imagenet", 0x' Trivial
[ "$failures" -eq 0 ]
