"""Tests the output of each part of gpu_check for given program output. Needs no card: short scripts replace the
programs."""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu_check_src import correctness, speed, towers  # noqa: E402
from gpu_check_src.budget import Budget  # noqa: E402
from gpu_check_src.check import Check, HopelessError, PartError, State, Verdict  # noqa: E402
from gpu_check_src.machine import Machine  # noqa: E402
from gpu_check_src.runner import Log, Runner  # noqa: E402

MODELS = """model                  dataset    size  batch  parameters  GFLOP/example  devices
lenet                  imagenet     28     32     2173353       0.0281  cpu gpu reference
ssd300                 coco        300     32    19972534      31.7242  cpu reference; not gpu: multibox_loss runs only on the CPU
resnet20               cifar10      32    128      269787       0.0811  cpu gpu reference
"""
VERIFIED = """model                     dataset    numbers  of tolerance  verdict, and the number with the largest error
lenet                     imagenet        56         3.3 %  ok; update: deviation 3.3e-08
"""
SUITE = """on a card, with libraries
Note: This is test shard 1 of 2.
[==========] Running 4 tests from 2 test suites.
[ RUN      ] F16/Conformance.Matches/gpu_f16_nhwc_conv
[       OK ] F16/Conformance.Matches/gpu_f16_nhwc_conv (3 ms)
[ RUN      ] F16/Conformance.Matches/gpu_f16_nhwc_pool
off by one
[  FAILED  ] F16/Conformance.Matches/gpu_f16_nhwc_pool, where GetParam() = (gpu, nhwc) (3 ms)
[ RUN      ] Gpu/StreamConformance.Waits/gpu
[  SKIPPED ] Gpu/StreamConformance.Waits/gpu (0 ms)
[ RUN      ] F16/Conformance.Matches/gpu_f16_nhwc_relu
"""


def record(rate: float, status: str = "ok", card: str = "NVIDIA H200") -> str:
    return json.dumps({"status": status, "status_reason": "why", "metrics": [
        {"name": "wall_time", "value": 2.0}, {"name": "images_per_sec", "value": rate}], "gpu": [{"name": card}]})


class WithMachine(unittest.TestCase):
    """A machine whose programs are one shell script."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.said: list[str] = []
        self.cards = 1
        for name, text in {"models": MODELS, "verified": VERIFIED, "suite": SUITE, "rate": record(100)}.items():
            (self.root / name).write_text(text)

    def program(self, name: str, body: str) -> Path:
        path = self.root / name
        path.write_text(f"#!/bin/sh\ncd '{self.root}'\n{body}\n")
        path.chmod(0o755)
        return path

    def bench(self, on_run: str = 'cp rate "$record"') -> None:
        """Lists and verifies. Otherwise runs `on_run`, with the record's path in $record."""
        self.program("bench", f"""
          for flag; do case $flag in --result_file=*) record=${{flag#*=}} ;; esac; done
          case "$*" in
            *--list_models*) cat models ;;
            *--verify*) cat verified ;;
            *) {on_run} ;;
          esac""")

    def check(self, seconds: float = 60, torch: str | None = None, sanitizer: str | None = None) -> Check:
        log = Log(self.root / "log")
        self.addCleanup(log.close)
        log.say = lambda line="": (log.write(line), self.said.append(line))
        budget = Budget(seconds, {"part": 1})
        budget.begin("part")
        return Check(Machine(self.root / "bench", torch, sanitizer, cards=self.cards), Runner(log), log, budget, self.root)

    def says(self, text: str) -> None:
        self.assertTrue([line for line in self.said if text in line], f"{text!r} is not in {self.said}")


class PartsTest(WithMachine):
    def test_properties_are_kept_and_compared_with_cudnns(self):
        card = {"name": "H100", "capability": 90, "multiprocessors": 132, "memory_bytes": 2**36}
        found = {"cuda_of_driver": 13000, "libraries": ["cuDNN 9"],
                 "gpus": [{"description": card, "for_cudnn": {"warpSize": 32}, "of_cudnn": {"warpSize": 64}}]}
        self.program("gpu_properties", f"echo '{json.dumps(found)}'")
        self.assertEqual(correctness.properties(self.check()).state, State.PASSED)
        self.says("the descriptions differ: warpSize: ours is 32, cuDNN's is 64")
        self.assertEqual(json.loads((self.root / "device_properties.json").read_text()), found)
        self.program("gpu_properties", "echo 'this host has no usable GPU'; exit 2")
        self.assertEqual(correctness.properties(self.check()).summary,
                         "exited with status 2: this host has no usable GPU")

    def test_properties_without_time_are_unfinished(self):
        self.program("gpu_properties", "exec sleep 100")
        self.assertEqual(correctness.properties(self.check(seconds=1)).state, State.UNFINISHED)

    def test_a_start_without_any_run_ends_the_check(self):
        self.bench("true")
        self.assertEqual(correctness.start(self.check()), Verdict(State.PASSED, "3 networks trained"))
        self.bench("""case "$*" in *--autotune=off*) ;; *) echo 'bench: refused'; exit 1 ;; esac""")
        self.assertEqual(correctness.start(self.check()),
                         Verdict(State.FAILED, "failed: lenet, f32, resnet50, f16, batch 32, lstm_lm, f16"))
        self.says("lenet, f32, safe flags       ran")
        self.bench("echo 'bench: refused'; exit 1")
        with self.assertRaisesRegex(HopelessError, "every run ended with an error"):
            correctness.start(self.check())
        self.bench("exec sleep 100")
        self.assertEqual(correctness.start(self.check(seconds=1)), Verdict(State.UNFINISHED, "0 networks trained"))

    def test_conformance_joins_its_shards_and_names_failures(self):
        self.program("gpu_conformance", 'echo "$GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS" >>shards; cat suite; exit 1')
        with mock.patch.object(os, "sched_getaffinity", return_value=set(range(4))):
            verdict = correctness.conformance(self.check())
        self.assertEqual(sorted((self.root / "shards").read_text().split("\n")), ["", *[f"{i} of 8" for i in range(8)]])
        self.assertEqual(verdict.state, State.FAILED)
        self.says("failed: F16/Conformance.Matches/gpu_f16_nhwc_pool")

    def test_a_conformance_that_dies_names_the_test_that_it_died_in(self):
        self.program("gpu_conformance", "grep -v -e FAILED suite; kill -SEGV $$")
        self.assertEqual(correctness.conformance(self.check()).state, State.FAILED)
        self.says("SIGSEGV")
        self.says("in F16/Conformance.Matches/gpu_f16_nhwc_relu")

    def test_a_conformance_that_loses_the_device_names_the_test_and_those_that_did_not_run(self):
        self.program("gpu_conformance", "grep -v -e FAILED suite; exit 3")
        self.assertEqual(correctness.conformance(self.check()).state, State.FAILED)
        self.says("the device cannot be used since F16/Conformance.Matches/gpu_f16_nhwc_relu; tests that did not run: 1")

    def test_a_conformance_without_failures_at_its_limit_is_unfinished(self):
        self.program("gpu_conformance", "grep -v -e FAILED suite; exec sleep 100")
        self.assertEqual(correctness.conformance(self.check(seconds=1)).state, State.UNFINISHED)

    def test_a_conformance_is_whole_only_if_each_process_reaches_its_end(self):
        tests = "grep -v -e FAILED -e relu suite"
        self.program("gpu_conformance", tests)
        self.assertEqual(correctness.conformance(self.check()).state, State.UNFINISHED)
        self.program("gpu_conformance", f"{tests}; echo '[==========] 2 tests from 2 test suites ran. (9 ms total)'")
        self.assertEqual(correctness.conformance(self.check()).state, State.PASSED)

    def test_a_conformance_that_runs_nothing_fails(self):
        self.program("gpu_conformance", "echo '[==========] Running 0 tests from 0 test suites.'")
        self.assertEqual(correctness.conformance(self.check()).state, State.FAILED)
        self.program("gpu_conformance", "echo 'SKIPPED  this host has no usable GPU'; exit 77")
        self.assertEqual(correctness.conformance(self.check()).state, State.FAILED)
        self.says("exited with status 77")

    def test_verify_passes_only_where_every_network_is_ok(self):
        self.bench()
        self.assertEqual(correctness.verify(self.check()), Verdict(State.PASSED, "5 of 5 ok"))
        (self.root / "verified").write_text(VERIFIED.replace("ok; update", "MISMATCH: update"))
        self.assertEqual(correctness.verify(self.check()), Verdict(State.FAILED, "0 of 5 ok"))
        self.says("MISMATCH: update")

    def train(self, many: str = "2.0, 1.0", recorded: str = "2.0, 1.0",
              told: str = "note: NCCL 2.28.9 reduces the gradients of one GPU", pair: str = "2.0, 1.0") -> Verdict:
        """Runs the part with these losses, on several towers and with NCCL in a recorded step."""
        for name, found in {"alone": "2.0, 1.0", "many": many, "recorded": recorded, "pair": pair}.items():
            (self.root / name).write_text(f'{{"status": "ok", "series": {{"loss": [{found}]}}}}')
        self.bench(f"""case "$*" in *--virtual_gpus=4*--batch_size=8*) cp many "$record" ;;
            *--num_gpus=2*--batch_size=16*) cp pair "$record" ;;
            *--batch_size=32*=nccl*--cuda_graph=on*) echo '{told}'; cp recorded "$record" ;;
            *--batch_size=32*) cp alone "$record" ;; esac""")
        return towers.towers(self.check())

    def test_towers_pass_where_they_and_nccl_train_as_one_tower_does(self):
        self.assertEqual(self.train(many="2.0, 1.00001"), Verdict(
            State.PASSED, "correct: NCCL, --virtual_gpus=4 --variable_update=parameter_server, "
            "--virtual_gpus=4 --variable_update=replicated"))

    def test_towers_with_other_losses_fail(self):
        for found in ("2.0, 1.001", "2.0"):
            self.assertIn("wrong: --virtual_gpus=4 --variable_update=parameter_server, --virtual_gpus=4 --variable_update=replicated",
                          self.train(many=found).summary)
        for verdict in (self.train(recorded="2.0, 2.0"), self.train(told="note: nothing")):
            self.assertEqual(verdict, Verdict(State.FAILED, verdict.summary))
            self.assertIn("wrong: NCCL", verdict.summary)

    def test_two_cards_are_compared_with_one_tower(self):
        self.cards = 2
        self.assertIn("wrong: --num_gpus=2 --variable_update=parameter_server, "
                      "--num_gpus=2 --variable_update=replicated --all_reduce_spec=nccl --cuda_graph=on",
                      self.train(pair="2.0, 3.0").summary)
        self.assertIn(", --num_gpus=2 --variable_update=replicated --all_reduce_spec=nccl --cuda_graph=on",
                      self.train().summary)

    def test_two_cards_without_nccl_are_compared_with_one_tower(self):
        self.cards = 2
        verdict = self.train(told="note: the gradients of one GPU are not reduced: cannot open NCCL: none")
        self.assertEqual(verdict.state, State.PASSED)
        self.assertIn(", --num_gpus=2 --variable_update=parameter_server; NCCL skipped: cannot open NCCL: none",
                      verdict.summary)

    def test_a_missing_nccl_is_reported_and_does_not_fail(self):
        verdict = self.train(told="note: the gradients of one GPU are not reduced: cannot open NCCL: none")
        self.assertEqual(verdict.state, State.PASSED)
        self.assertIn("NCCL skipped: cannot open NCCL: none", verdict.summary)
        self.bench("echo 'bench: no memory'; exit 1")
        self.assertEqual(towers.towers(self.check()).summary, "one tower: exited with status 1: bench: no memory")

    def test_towers_without_time_are_unfinished(self):
        self.bench("exec sleep 100")
        self.assertEqual(towers.towers(self.check(seconds=1)), Verdict(State.UNFINISHED, "correct: none"))

    def test_a_list_that_is_missing_ends_the_part_with_the_reason(self):
        self.program("bench", "echo 'bench: broken'; exit 2")
        with self.assertRaisesRegex(PartError, "--list_models: exited with status 2: bench: broken"):
            speed.zoo(self.check())

    def test_bench_and_torch_take_turns(self):
        self.bench('echo ours >>turns; cp rate "$record"')
        torch = self.program("torch", 'echo theirs >>turns; echo "{\\"images_per_sec\\": 50}"')
        verdict = speed.against_torch(self.check(torch=str(torch)))
        self.assertEqual(verdict.state, State.PASSED)
        self.assertIn("bench is 2.00 times as fast as the fastest torch", verdict.summary)
        self.assertEqual((self.root / "resnet50_v1.5.json").read_text(), record(100))
        # The profile follows our first run. PyTorch compiles once, at the end, between two runs of ours.
        turns = (self.root / "turns").read_text().split()
        self.assertEqual(turns, ["ours", *["ours", "theirs", "theirs"] * 2, "theirs", "ours"])

    def test_a_bench_that_fails_is_tried_again_without_its_options(self):
        self.bench("""case "$*" in *--autotune=off*--cuda_graph=off*) cp rate "$record" ;;
            *) echo 'bench: refused'; exit 1 ;; esac""")
        self.assertEqual(speed.against_torch(self.check()).state, State.FAILED)
        self.says("--cuda_graph=off: 100.0 images/s")

    def test_a_comparison_with_torch_without_time_is_unfinished(self):
        self.bench("exec sleep 100")
        self.assertEqual(speed.against_torch(self.check(seconds=1)),
                         Verdict(State.UNFINISHED, "bench was not measured"))

    def test_a_comparison_without_time_for_torch_is_unfinished(self):
        self.bench()
        torch = self.program("torch", "exec sleep 100")
        verdict = speed.against_torch(self.check(seconds=2, torch=str(torch)))
        self.assertEqual(verdict, Verdict(State.UNFINISHED, "bench 100 images/s"))

    def test_without_torch_bench_runs_alone(self):
        self.bench()
        verdict = speed.against_torch(self.check())
        self.assertEqual(verdict, Verdict(State.PASSED, "bench 100 images/s"))
        self.says("PyTorch and torchvision are not installed")

    def test_a_failing_torch_is_reported_and_skipped(self):
        self.bench()
        torch = self.program("torch", "echo 'RuntimeError: out of memory'; exit 1")
        verdict = speed.against_torch(self.check(torch=str(torch)))
        self.assertEqual(verdict, Verdict(State.PASSED, "bench 100 images/s"))
        self.says("torch eager              exited with status 1: RuntimeError: out of memory")

    def test_options_are_compared_with_their_base(self):
        self.bench("""case "$*" in *--data_format=NCHW*) sed s/100/50/ rate >"$record" ;;
            *--use_tf32*) echo 'bench: refused'; exit 2 ;; *) cp rate "$record" ;; esac""")
        self.assertEqual(speed.options(self.check()), Verdict(State.FAILED, "6 of 7 measured"))
        self.says("f16 --data_format=NCHW                        50.0 images/s, 0.50 times f16 (")
        self.says("bench: refused")

    def test_options_without_their_base_are_skipped_with_the_reason(self):
        self.bench("""case "$*" in *--dtype=f16*) echo 'bench: too large'; exit 2 ;; *) cp rate "$record" ;; esac""")
        self.assertEqual(speed.options(self.check()), Verdict(State.FAILED, "2 of 7 measured"))
        self.assertEqual(sum("too large" in line for line in self.said), 1)
        self.says("f16 --cuda_graph=off                     not measured: it is relative to f16, "
                  "which was not measured")

    def test_each_way_of_tuning_has_its_rate(self):
        self.bench("""case "$*" in *--dtype=f16*--autotune=off*) sed s/100/50/ rate >"$record" ;;
            *--dtype=f16*--autotune=quick*) cp rate "$record" ;;
            *--dtype=f16*--autotune=full*) sed s/100/110/ rate >"$record" ;; esac""")
        self.assertEqual(speed.tuning(self.check()), Verdict(State.PASSED, "3 of 3 measured"))
        for text in ("--autotune=off                                50.0 images/s (",
                     "--autotune=quick                             100.0 images/s, 2.00 times --autotune=off (",
                     "--autotune=full                              110.0 images/s, 2.20 times --autotune=off ("):
            self.says(text)

    def test_each_tier_of_fusion_is_compared_with_the_previous(self):
        self.bench("""case "$*" in *--dump=fusions*) echo 'tiers    steps' ;;
            *--forward_only*--freeze_when_forward_only*) sed s/100/300/ rate >"$record" ;;
            *--forward_only*) sed s/100/200/ rate >"$record" ;;
            *--conv_statistics=false*) sed s/100/50/ rate >"$record" ;;
            *--conv_prologue=false*) sed s/100/80/ rate >"$record" ;;
            *) cp rate "$record" ;; esac""")
        self.assertEqual(speed.fusions(self.check()), Verdict(State.PASSED, "5 of 5 measured"))
        for text in ("tiers    steps", "80.0 images/s, 1.60 times training, batch norm apart (",
                     "100.0 images/s, 1.25 times training, statistics in the convolution (",
                     "inference, batch norm folded                 300.0 images/s, 1.50 times inference ("):
            self.says(text)

    def test_rows_after_the_time_limit_say_so(self):
        self.bench("exec sleep 100")
        self.assertEqual(speed.tuning(self.check(seconds=1)), Verdict(State.UNFINISHED, "0 of 3 measured"))
        self.says("--autotune=full                          not measured: no time left")

    def test_the_zoo_ends_at_its_time_limit(self):
        self.bench()
        self.assertEqual(speed.zoo(self.check()), Verdict(State.PASSED, "2 of 2 measured"))
        self.says("resnet20 cifar10                   batch  128      100.0/s")
        self.bench("exec sleep 100")
        self.assertEqual(speed.zoo(self.check(seconds=1)).state, State.UNFINISHED)

    def test_the_sanitizer_checks_small_networks(self):
        self.bench()
        self.assertEqual(correctness.sanitizer(self.check()),
                         Verdict(State.SKIPPED, "compute-sanitizer is not installed"))
        tool = self.program("sanitizer", """case "$*" in *--autotune=off*) ;; *) exit 98 ;; esac
            case "$*" in *racecheck*resnet20*) echo "ERROR SUMMARY: 1 error"; exit 99 ;; esac""")
        verdict = correctness.sanitizer(self.check(sanitizer=str(tool)))
        self.assertEqual(verdict, Verdict(State.FAILED, "3 clean, 1 with errors: racecheck resnet20"))
        self.says("racecheck resnet20: exited with status 99: ERROR SUMMARY: 1 error")


if __name__ == "__main__":
    unittest.main()
