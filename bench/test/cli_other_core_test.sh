#!/bin/sh
# cli_other_core_test.sh OTHER_CORE PROGRAM...: runs the programs with a core library of another build.
set -u
other_core=$1
shift
failures=0
for program in "$@"; do
  name=${program##*/}
  # Allow the sanitizer's runtime to be loaded second here.
  said=$(ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$other_core "$program" --help 2>&1)
  status=$?
  wanted="$name: libbench_core.so and this program come from different builds; use both from one build"
  if [ "$status" -ne 1 ] || [ "$said" != "$wanted" ]; then
    failures=$((failures + 1))
    echo "FAILED: $name: exit status $status, said: $said"
  fi
done
[ "$failures" -eq 0 ]
