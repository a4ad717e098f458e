"""Shows that gpu_check divides its time, reads what programs print, goes on after a failure and sums up as
tools/README.md says. Needs no card: a script of a few lines stands in for the programs."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu_check_src import correctness, main, readers, speed, towers  # noqa: E402
from gpu_check_src.budget import Budget  # noqa: E402
from gpu_check_src.check import Check, PartError, State, Verdict  # noqa: E402
from gpu_check_src.machine import (Libraries, Machine, MachineError, find_bench, find_libraries,  # noqa: E402
                                   needed_libraries)
from gpu_check_src.runner import Log, Runner  # noqa: E402

_MODELS = """model                  dataset   image  batch  parameters  GFLOP/image  devices
lenet                  imagenet     28     32     2173353       0.0281  cpu gpu reference
resnet20               cifar10      32    128      269787       0.0811  cpu gpu reference
"""
_VERIFIED = """model                     dataset    numbers of limit  verdict, and the number nearest to its limit
lenet                     imagenet        56    3.3 %  ok; update: deviation 3.3e-08
"""
_SUITE = """on a card, with libraries
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
_SUITE_END = """[==========] 4 tests from 2 test suites ran. (9 ms total)
[  PASSED  ] 2 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] F16/Conformance.Matches/gpu_f16_nhwc_pool, where GetParam() = (gpu, nhwc)
"""


def _record(rate: float, status: str = "ok") -> str:
    return json.dumps({"status": status, "status_reason": "why", "metrics": [
        {"name": "wall_time", "value": 2.0}, {"name": "images_per_sec", "value": rate}]})


class BudgetTest(unittest.TestCase):
    def setUp(self):
        self.now = 100.0
        self.budget = Budget(60, {"a": 1, "b": 2, "c": 3}, lambda: self.now)

    def test_each_part_has_its_share(self):
        self.budget.begin("a")
        self.assertAlmostEqual(self.budget.left(), 10)

    def test_what_is_not_used_is_for_the_next(self):
        self.budget.begin("a")
        self.now += 5
        self.budget.begin("b")
        self.assertAlmostEqual(self.budget.left(), 22)
        self.now += 22
        self.assertAlmostEqual(self.budget.left(), 0)
        self.budget.begin("c")
        self.assertAlmostEqual(self.budget.left(), 33)

    def test_a_part_that_takes_too_long_leaves_less_and_never_a_negative_time(self):
        self.budget.begin("a")
        self.now += 100
        self.assertEqual(self.budget.left(), 0)
        self.budget.begin("b")
        self.assertEqual(self.budget.left(), 0)


class ReadersTest(unittest.TestCase):
    def test_a_suite_that_was_ended_counts_what_it_did(self):
        suite = readers.suite_of(_SUITE.splitlines())
        self.assertEqual((suite.tests, len(suite.passed), len(suite.failed), len(suite.skipped)), (4, 1, 1, 1))
        self.assertEqual(suite.open, "F16/Conformance.Matches/gpu_f16_nhwc_relu")

    def test_the_list_at_a_suites_end_counts_nothing_twice(self):
        text = _SUITE + "[       OK ] F16/Conformance.Matches/gpu_f16_nhwc_relu (3 ms)\n" + _SUITE_END
        suite = readers.suite_of(text.splitlines())
        self.assertEqual((suite.done, suite.tests, suite.open), (4, 4, ""))
        self.assertEqual(suite.failed, {"F16/Conformance.Matches/gpu_f16_nhwc_pool"})

    def test_verdicts_and_models_are_read_from_their_tables(self):
        self.assertEqual(readers.verified(_VERIFIED.splitlines()),
                         {"lenet imagenet": "ok; update: deviation 3.3e-08"})
        self.assertEqual(readers.models(_MODELS.splitlines()),
                         [readers.Model("lenet", "imagenet", 32), readers.Model("resnet20", "cifar10", 128)])

    def test_a_rate_is_read_or_the_reason_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.json"
            path.write_text(_record(12.5))
            self.assertEqual(readers.bench_rate(path), 12.5)
            path.write_text(_record(12.5, "failed"))
            with self.assertRaisesRegex(readers.NoRateError, "failed: why"):
                readers.bench_rate(path)
            with self.assertRaisesRegex(readers.NoRateError, "no record"):
                readers.bench_rate(Path(folder) / "none")
        self.assertEqual(readers.torch_rate(["warning", '{"images_per_sec": 3.0}', ""]), 3.0)
        for lines in ([], ["{"], ["{}"]):
            with self.assertRaises(readers.NoRateError):
                readers.torch_rate(lines)

    def test_descriptions_differ_only_where_the_card_is_meant(self):
        ours = {"deviceName": "described", "l2CacheSize": 1, "warpSize": 32}
        self.assertEqual(readers.differences(ours, {"deviceName": "H200", "l2CacheSize": 1, "warpSize": 32}), [])
        self.assertEqual(readers.differences(ours, {"l2CacheSize": 2, "warpSize": 32}),
                         ["l2CacheSize: 1, and cuDNN says 2"])


class MachineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def place(self, path: str, content: bytes = b"") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    def test_the_library_itself_says_what_it_needs(self):
        plugin = self.place("p.so", b"\x7fELF\0libcudnn.so.9\0libcublasLt.so.13\0libc.so.6\0")
        self.assertEqual(needed_libraries(plugin), ["libcublasLt.so.13", "libcudnn.so.9", "libnvrtc.so.13"])

    def test_libraries_are_taken_from_the_bundle_then_the_system_then_the_first_folder(self):
        names = ["a.so.1", "b.so.1", "c.so.1", "d.so.1", "e.so.1"]
        for path in ("own/a.so.1", "lib/b.so.1", "x/a.so.1", "x/c.so.1", "y/c.so.1", "y/d.so.1"):
            self.place(path)
        # The cache may name what is gone.
        cached = "".join(f"\t{name} (libc6,x86-64) => {self.root}/lib/{name}\n" for name in ("b.so.1", "d.so.1"))
        found = find_libraries(names, self.root / "own", [self.root / "x", self.root / "y"], cached)
        self.assertEqual(found.folders, (self.root / "x", self.root / "y"))
        self.assertEqual(found.missing, ("e.so.1",))
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": "/z"}):
            self.assertEqual(found.environment(), {"LD_LIBRARY_PATH": f"{self.root}/x:{self.root}/y:/z"})

    def test_a_missing_program_is_told_in_a_sentence(self):
        with self.assertRaisesRegex(MachineError, "no program .*/none: unpack a bundle"):
            find_bench(f"{self.root}/none")


class WithMachine(unittest.TestCase):
    """A machine whose programs are one shell script."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.said: list[str] = []
        for name, text in {"models": _MODELS, "verified": _VERIFIED, "suite": _SUITE, "rate": _record(100)}.items():
            (self.root / name).write_text(text)

    def program(self, name: str, body: str) -> Path:
        path = self.root / name
        path.write_text(f"#!/bin/sh\ncd '{self.root}'\n{body}\n")
        path.chmod(0o755)
        return path

    def bench(self, on_run: str = 'cp rate "$record"') -> None:
        """Lists and verifies; else does `on_run`, with the record's path in $record."""
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
        return Check(Machine(self.root / "bench", torch, sanitizer), Runner(log), log, budget, self.root)

    def says(self, text: str) -> None:
        self.assertTrue([line for line in self.said if text in line], f"{text!r} is not in {self.said}")


class RunnerTest(WithMachine):
    def run_script(self, body: str, limit: float = 30, **more):
        return self.check().runner.run([self.program("script", body)], limit, **more)

    def test_output_and_errors_come_as_lines(self):
        lines: list[str] = []
        outcome = self.run_script("echo one; printf '10 %%\\r20 %%\\n'; echo three >&2; echo $X",
                                  environment={"X": "four"}, on_line=lines.append)
        self.assertEqual((outcome.status, outcome.lines), (0, ("one", "20 %", "three", "four")))
        self.assertEqual(tuple(lines), outcome.lines)
        self.assertIn("20 %", (self.root / "log").read_text())

    def test_a_program_ends_at_its_limit_with_all_that_it_started(self):
        start = time.monotonic()
        outcome = self.run_script("trap '' TERM; echo begun; sleep 100 & echo $! >child; wait; sleep 100", 0.5)
        self.assertLess(time.monotonic() - start, 20)
        self.assertIsNone(outcome.status)
        self.assertIn("ended at its limit", outcome.why())
        self.assertEqual(outcome.lines, ("begun",))
        child = int((self.root / "child").read_text())
        state = Path(f"/proc/{child}/stat")
        for _ in range(100):
            if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.05)
        self.fail("what the program started is still there")

    def test_endings_are_told_with_their_likely_cause(self):
        self.assertEqual(self.run_script("echo 'bench: no GPU'; echo end; exit 2").why(), "ended with 2: bench: no GPU")
        self.assertEqual(self.run_script("kill -SEGV $$").why(), "ended by SIGSEGV")
        self.assertIn("No such file", self.check().runner.run([self.root / "none"], 5).why())
        self.assertEqual(self.check().runner.run(["true"], 0).why(), "no time was left")


class PartsTest(WithMachine):
    def test_properties_are_kept_and_compared_with_cudnns(self):
        card = {"name": "H100", "capability": 90, "multiprocessors": 132, "memory_bytes": 2**36}
        found = {"cuda_of_driver": 13000, "libraries": ["cuDNN 9"],
                 "gpus": [{"description": card, "for_cudnn": {"warpSize": 32}, "of_cudnn": {"warpSize": 64}}]}
        self.program("gpu_properties", f"echo '{json.dumps(found)}'")
        self.assertEqual(correctness.properties(self.check()).state, State.PASSED)
        self.says("described differently: warpSize: 32, and cuDNN says 64")
        self.assertEqual(json.loads((self.root / "device_properties.json").read_text()), found)
        self.program("gpu_properties", "echo 'no GPU can be used'; exit 2")
        self.assertEqual(correctness.properties(self.check()).summary, "ended with 2: no GPU can be used")

    def test_conformance_joins_its_shards_and_names_failures(self):
        self.program("gpu_conformance", 'echo "$GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS" >>shards; cat suite; exit 1')
        with mock.patch.object(os, "sched_getaffinity", return_value=set(range(4))):
            verdict = correctness.conformance(self.check())
        self.assertEqual(sorted((self.root / "shards").read_text().split("\n")), ["", "0 of 2", "1 of 2"])
        self.assertEqual(verdict.state, State.FAILED)
        self.says("failed: F16/Conformance.Matches/gpu_f16_nhwc_pool")

    def test_a_conformance_that_dies_names_the_test_that_it_died_in(self):
        self.program("gpu_conformance", "grep -v -e FAILED suite; kill -SEGV $$")
        self.assertEqual(correctness.conformance(self.check()).state, State.FAILED)
        self.says("SIGSEGV")
        self.says("in F16/Conformance.Matches/gpu_f16_nhwc_relu")

    def test_a_conformance_without_failures_at_its_limit_is_unfinished(self):
        self.program("gpu_conformance", "grep -v -e FAILED suite; exec sleep 100")
        self.assertEqual(correctness.conformance(self.check(seconds=1)).state, State.UNFINISHED)

    def test_a_conformance_that_runs_nothing_fails(self):
        self.program("gpu_conformance", "echo '[==========] Running 0 tests from 0 test suites.'")
        self.assertEqual(correctness.conformance(self.check()).state, State.FAILED)
        self.program("gpu_conformance", "echo 'SKIPPED  no GPU can be used'; exit 77")
        self.assertEqual(correctness.conformance(self.check()).state, State.FAILED)
        self.says("ended with 77")

    def test_verify_passes_only_where_every_network_is_ok(self):
        self.bench()
        self.assertEqual(correctness.verify(self.check()), Verdict(State.PASSED, "5 of 5 ok"))
        (self.root / "verified").write_text(_VERIFIED.replace("ok; update", "MISMATCH: update"))
        self.assertEqual(correctness.verify(self.check()), Verdict(State.FAILED, "0 of 5 ok"))
        self.says("MISMATCH: update")

    def train(self, many: str = "2.0, 1.0", recorded: str = "2.0, 1.0",
              told: str = "note: NCCL 2.28.9 adds the gradients of one GPU") -> Verdict:
        """The part over runs with these losses, on several towers and with NCCL in a recorded step."""
        for name, found in {"alone": "2.0, 1.0", "many": many, "recorded": recorded}.items():
            (self.root / name).write_text(f'{{"status": "ok", "series": {{"loss": [{found}]}}}}')
        self.bench(f"""case "$*" in *--virtual_gpus=4*--batch_size=8*) cp many "$record" ;;
            *--batch_size=32*=nccl*--cuda_graph=on*) echo '{told}'; cp recorded "$record" ;;
            *--batch_size=32*) cp alone "$record" ;; esac""")
        return towers.towers(self.check())

    def test_towers_pass_where_they_and_nccl_train_as_one_tower_does(self):
        self.assertEqual(self.train(many="2.0, 1.00001"), Verdict(
            State.PASSED, "right: --virtual_gpus=4 parameter_server, --virtual_gpus=4 replicated, NCCL"))

    def test_towers_that_train_otherwise_fail(self):
        for found in ("2.0, 1.001", "2.0"):
            self.assertIn("wrong: --virtual_gpus=4 parameter_server, --virtual_gpus=4 replicated",
                          self.train(many=found).summary)
        for verdict in (self.train(recorded="2.0, 2.0"), self.train(told="note: nothing")):
            self.assertEqual(verdict, Verdict(State.FAILED, verdict.summary))
            self.assertIn("wrong: NCCL", verdict.summary)

    def test_a_missing_nccl_is_told_and_does_not_fail(self):
        verdict = self.train(told="note: the gradients of one GPU are not added: NCCL cannot be opened: none")
        self.assertEqual(verdict.state, State.PASSED)
        self.assertIn("NCCL not tried: NCCL cannot be opened: none", verdict.summary)
        self.bench("echo 'bench: no memory'; exit 1")
        self.assertEqual(towers.towers(self.check()).summary, "one tower: ended with 1: bench: no memory")

    def test_a_list_that_is_missing_ends_the_part_with_the_reason(self):
        self.program("bench", "echo 'bench: broken'; exit 2")
        with self.assertRaisesRegex(PartError, "--list_models: ended with 2: bench: broken"):
            speed.zoo(self.check())

    def test_bench_and_torch_take_turns(self):
        self.bench('echo ours >>turns; cp rate "$record"')
        torch = self.program("torch", 'echo theirs >>turns; echo "{\\"images_per_sec\\": 50}"')
        verdict = speed.against_torch(self.check(torch=str(torch)))
        self.assertEqual(verdict.state, State.PASSED)
        self.assertIn("2.00 times the better of torch's", verdict.summary)
        self.assertEqual((self.root / "resnet50_v1.5.json").read_text(), _record(100))
        # A round is ours and three of PyTorch's; behind our first one comes the profile.
        turns = (self.root / "turns").read_text().split()
        self.assertEqual(turns, ["ours", *["theirs"] * 3, "ours", *["ours", *["theirs"] * 3] * 2])

    def test_without_torch_bench_runs_alone(self):
        self.bench()
        verdict = speed.against_torch(self.check())
        self.assertEqual(verdict, Verdict(State.PASSED, "bench 100 images/s"))
        self.says("no Python here has PyTorch")

    def test_a_torch_that_fails_is_told_and_left_out(self):
        self.bench()
        torch = self.program("torch", "echo 'RuntimeError: out of memory'; exit 1")
        verdict = speed.against_torch(self.check(torch=str(torch)))
        self.assertEqual(verdict, Verdict(State.PASSED, "bench 100 images/s"))
        self.says("torch eager              ended with 1: RuntimeError: out of memory")

    def test_options_are_compared_with_their_base(self):
        self.bench("""case "$*" in *--data_format=NCHW*) sed s/100/50/ rate >"$record" ;;
            *--use_tf32*) echo 'bench: refused'; exit 2 ;; *) cp rate "$record" ;; esac""")
        self.assertEqual(speed.options(self.check()), Verdict(State.FAILED, "9 of 10 measured"))
        self.says("f16 --data_format=NCHW        50.0 images/s, 0.50 times f16")
        self.says("bench: refused")

    def test_options_without_their_base_are_left_out(self):
        self.bench("""case "$*" in *--dtype=f16*) echo 'bench: too large'; exit 2 ;; *) cp rate "$record" ;; esac""")
        self.assertEqual(speed.options(self.check()), Verdict(State.FAILED, "2 of 10 measured"))
        self.assertEqual(sum("too large" in line for line in self.said), 1)

    def test_the_zoo_goes_as_far_as_its_time(self):
        self.bench()
        self.assertEqual(speed.zoo(self.check()), Verdict(State.PASSED, "2 of 2 measured"))
        self.says("resnet20 cifar10                   batch  128      100.0 images/s")
        self.bench("exec sleep 100")
        self.assertEqual(speed.zoo(self.check(seconds=1)).state, State.UNFINISHED)

    def test_the_sanitizer_is_asked_about_small_networks(self):
        self.bench()
        self.assertEqual(correctness.sanitizer(self.check()),
                         Verdict(State.SKIPPED, "compute-sanitizer is not installed"))
        tool = self.program("sanitizer", 'case "$*" in *racecheck*resnet20*) echo "ERROR SUMMARY: 1 error"; exit 99;; esac')
        verdict = correctness.sanitizer(self.check(sanitizer=str(tool)))
        self.assertEqual(verdict, Verdict(State.FAILED, "3 clean, 1 not: racecheck resnet20"))
        self.says("racecheck resnet20: ended with 99: ERROR SUMMARY: 1 error")


class MainTest(WithMachine):
    def test_a_part_that_breaks_does_not_end_the_others(self):
        def breaks(check):
            """Breaks."""
            raise KeyError("gone")

        def passes(check):
            """Passes."""
            return Verdict(State.PASSED, "fine")

        check = self.check()
        check.budget = Budget(60, {"a": 1, "b": 1})
        verdicts, complete = main.check_all(check, ["a", "b"], {"a": (1, breaks), "b": (1, passes)})
        self.assertTrue(complete)
        self.assertEqual(verdicts["a"].state, State.FAILED)
        self.assertIn("KeyError", verdicts["a"].summary)
        self.assertEqual(verdicts["b"], Verdict(State.PASSED, "fine"))

    def test_parts_behind_the_end_of_the_time_are_not_reached(self):
        def passes(check):
            """Passes."""
            return Verdict(State.PASSED, "fine")

        check = self.check()
        check.budget = Budget(1, {"a": 1})
        verdicts, _ = main.check_all(check, ["a"], {"a": (1, passes)})
        self.assertEqual(verdicts["a"].state, State.NOT_REACHED)

    def call(self, *arguments: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                status = main.main(arguments, "gpu_check")
            except SystemExit as error:
                status = error.code
        return status, out.getvalue()

    def test_wrong_use_ends_with_2_and_a_sentence(self):
        for arguments, text in ((("--parts=zoo,x",), "--parts=x: accepted are properties"),
                                (("--seconds=0",), "a number above 0 is accepted"),
                                (("--bench=/none",), "no program /none")):
            status, said = self.call(*arguments, f"--output={self.root}/out")
            self.assertEqual(status, 2)
            self.assertIn(text, said)

    def tree(self) -> Path:
        """A bundle with the stand-in for bench."""
        self.bench()
        (self.root / "bin").mkdir()
        (self.root / "lib").mkdir()
        (self.root / "lib/libbench_cuda.so").write_bytes(b"\0libc.so.6\0")
        return (self.root / "bench").rename(self.root / "bin/bench")

    def test_the_summary_names_every_part_and_the_status_tells_failures(self):
        bench = self.tree()
        status, said = self.call(f"--bench={bench}", f"--output={self.root}/out", "--parts=properties,zoo",
                                 "--python=/none")
        self.assertEqual(status, 1)
        summary = said[said.index("== summary"):]
        self.assertIn("properties   FAILED: ", summary)
        self.assertIn("zoo          passed: 2 of 2 measured", summary)
        self.assertIn(summary.splitlines()[-1], (self.root / "out/gpu_check.log").read_text())
        status, _ = self.call(f"--bench={bench}", f"--output={self.root}/out", "--parts=zoo", "--python=/none")
        self.assertEqual(status, 0)

    def test_a_terminated_check_ends_its_programs_and_sums_up(self):
        bench = self.tree()
        bench.write_text(f"#!/bin/sh\ncase \"$*\" in *--list_models*) cat '{self.root}/models' ;; "
                         f"*) : >'{self.root}/begun'; exec sleep 100 ;; esac\n")
        process = subprocess.Popen(
            [sys.executable, "-B", Path(main.__file__).parents[1] / "gpu_check", f"--bench={bench}",
             f"--output={self.root}/out", "--parts=verify,zoo", "--python=/none"], stdout=subprocess.PIPE, text=True)
        while not (self.root / "begun").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("verify       not reached: the check was interrupted", said)


class LibrariesTest(unittest.TestCase):
    def test_nothing_to_search_changes_nothing(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("LD_LIBRARY_PATH", None)
            self.assertEqual(Libraries().environment(), {})


if __name__ == "__main__":
    unittest.main()
