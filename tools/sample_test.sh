#!/bin/sh
# Tests that tools/sample runs the part of the day, the requested part, or everything. sample_test.sh
set -eu

sample=$(dirname "$(readlink -f "$0")")/sample
failures=0

# gives CLAIM PART TEXT ARGS...: with BENCH_SAMPLE=PART, `sample ARGS...` must print TEXT.
gives() {
  claim=$1 text=$3
  BENCH_SAMPLE=$2
  export BENCH_SAMPLE
  [ -n "$BENCH_SAMPLE" ] || unset BENCH_SAMPLE
  shift 3
  said=$(sh "$sample" "$@" | tail -n +2 | tr '\n' ' ')
  if [ "$said" = "$text " ]; then
    echo "ok      $claim"
  else
    echo "FAILED  $claim: '$said', not '$text '"
    failures=$((failures + 1))
  fi
}

shards='printf "%s of %s" "${GTEST_SHARD_INDEX:-none}" "${GTEST_TOTAL_SHARDS:-none}"; echo'
gives "a part of a GoogleTest program is a shard" 11 "3 of 8" gtest 8 sh -c "$shards"
gives "the whole has no shards" whole "none of none" gtest 8 sh -c "$shards"
gives "every part is another one" 12 "a --every=5 --first=2" every 5 echo a
gives "the whole has every case" whole "a" every 5 echo a
gives "random cases have the part as their seed" 12 "a --cases=200 --seed=12" seed 200 echo a
gives "the whole has more cases" whole "a --cases=1000 --seed=1" seed 200 echo a
part() { env -u BENCH_SAMPLE sh "$sample" part; }
# Again where a new day begins between the two.
unset BENCH_SAMPLE
until day=$(part) && said=$(sh "$sample" seed 200 echo a | tail -n 1) && [ "$day" = "$(part)" ]; do :; done
[ "$said" = "a --cases=200 --seed=$day" ] || { echo "FAILED  the part is the day's: $said" && failures=1; }

[ "$failures" = 0 ] || exit 1
