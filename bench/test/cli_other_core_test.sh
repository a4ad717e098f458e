#!/bin/sh
# cli_other_core_test.sh BENCH MAKE_TFRECORDS, BENCH being the program beside a core of another build.
. "${0%/*}/cli_lib.sh"

run 1 --version
says "$err" 'bench: libbench_core.so is of another build than this program'
one_sentence
[ ! -s "$out" ] || fail 'it went on'

finish
