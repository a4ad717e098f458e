"""Tests that gpu_check divides its time, reads program output, inspects the machine, continues after a failure and sums
up as tools/GPU_CHECK.md describes. Needs no card. gpu_check_parts_test.py tests the parts."""

import contextlib
import io
import os
import shutil
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

from gpu_check_src import machine, main, marks, readers  # noqa: E402
from gpu_check_src.budget import Budget  # noqa: E402
from gpu_check_src.check import State, Verdict  # noqa: E402
from gpu_check_src.machine import (Libraries, MachineError, check_card, find_bench, find_libraries,  # noqa: E402
                                   needed_libraries)
from gpu_check_src.gpu_check_parts_test import MODELS, SUITE, VERIFIED, WithMachine, record  # noqa: E402

_SUITE_END = """[==========] 4 tests from 2 test suites ran. (9 ms total)
[  PASSED  ] 2 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] F16/Conformance.Matches/gpu_f16_nhwc_pool, where GetParam() = (gpu, nhwc)
"""


class BudgetTest(unittest.TestCase):
    def setUp(self):
        self.now = 100.0
        self.budget = Budget(60, {"a": 1, "b": 2, "c": 3}, lambda: self.now)

    def test_each_part_has_its_share(self):
        self.budget.begin("a")
        self.assertAlmostEqual(self.budget.left(), 10)

    def test_unused_time_goes_to_the_next_part(self):
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
    def test_an_interrupted_suite_counts_its_finished_tests(self):
        suite = readers.suite_of(SUITE.splitlines())
        self.assertEqual((suite.tests, len(suite.passed), len(suite.failed), len(suite.skipped)), (4, 1, 1, 1))
        self.assertEqual(suite.open, "F16/Conformance.Matches/gpu_f16_nhwc_relu")

    def test_the_final_list_of_failures_is_not_counted_again(self):
        text = SUITE + "[       OK ] F16/Conformance.Matches/gpu_f16_nhwc_relu (3 ms)\n" + _SUITE_END
        suite = readers.suite_of(text.splitlines())
        self.assertEqual((suite.done, suite.tests, suite.open), (4, 4, ""))
        self.assertEqual(set(suite.failed), {"F16/Conformance.Matches/gpu_f16_nhwc_pool"})

    def test_verdicts_and_models_are_read_from_their_tables(self):
        self.assertEqual(readers.verified(VERIFIED.splitlines()),
                         {"lenet imagenet": "ok; update: deviation 3.3e-08"})
        self.assertEqual(readers.models(MODELS.splitlines()),
                         [readers.Model("lenet", "imagenet", 32), readers.Model("resnet20", "cifar10", 128)])

    def test_a_rate_is_read_or_the_reason_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.json"
            path.write_text(record(12.5))
            self.assertEqual(readers.bench_rate(path), 12.5)
            path.write_text(record(12.5).replace("images_per_sec", "tokens_per_sec"))
            self.assertEqual(readers.bench_rate(path), 12.5)
            self.assertEqual(readers.card_of(path), "NVIDIA H200")
            path.write_text('{"gpu": []}')
            self.assertEqual(readers.card_of(path), "")
            path.write_text(record(12.5, "failed"))
            with self.assertRaisesRegex(readers.NoRateError, "failed: why"):
                readers.bench_rate(path)
            with self.assertRaisesRegex(readers.NoRateError, "cannot read the record"):
                readers.bench_rate(Path(folder) / "none")
        self.assertEqual(readers.torch_rate(["warning", '{"images_per_sec": 3.0}', ""]), 3.0)
        for lines in ([], ["{"], ["{}"]):
            with self.assertRaises(readers.NoRateError):
                readers.torch_rate(lines)

    def test_descriptions_differ_only_in_properties_of_the_card(self):
        ours = {"deviceName": "described", "l2CacheSize": 1, "warpSize": 32}
        self.assertEqual(readers.differences(ours, {"deviceName": "H200", "l2CacheSize": 1, "warpSize": 32}), [])
        self.assertEqual(readers.differences(ours, {"l2CacheSize": 2, "warpSize": 32}),
                         ["l2CacheSize: ours is 1, cuDNN's is 2"])


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
        # The cache may name a file that no longer exists.
        cached = "".join(f"\t{name} (libc6,x86-64) => {self.root}/lib/{name}\n" for name in ("b.so.1", "d.so.1"))
        found = find_libraries(names, self.root / "own", [self.root / "x", self.root / "y"], cached)
        self.assertEqual(found.folders, (self.root / "x", self.root / "y"))
        self.assertEqual(found.missing, ("e.so.1",))
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": "/z"}):
            self.assertEqual(found.environment(), {"LD_LIBRARY_PATH": f"{self.root}/x:{self.root}/y:/z"})

    def test_the_newest_cudnn_is_used(self):
        name, versions = "libcudnn.so.9", {"system": 91400, "wheel": 91900, "older": 90800}
        for folder in versions:
            self.place(f"{folder}/{name}")
        cached = f"\t{name} (libc6,x86-64) => {self.root}/system/{name}\n"

        def found(*folders: str) -> tuple:
            return find_libraries([name], self.root / "own", [self.root / folder for folder in folders], cached,
                                  lambda library: versions[library.parent.name]).folders
        self.assertEqual(found("older", "wheel"), (self.root / "wheel",))
        self.assertEqual(found("older"), ())
        cached = ""
        self.assertEqual(found("older", "wheel"), (self.root / "wheel",))

    def test_nccl_of_a_wheel_is_used_if_the_system_has_none(self):
        self.place("wheel/libnccl.so.2")
        wheel = [self.root / "wheel"]
        found = find_libraries([], self.root / "own", wheel, "")
        self.assertEqual(found.environment()["BENCH_NCCL_LIBRARY"], f"{self.root}/wheel/libnccl.so.2")
        self.assertIsNone(find_libraries([], self.root / "own", wheel, "\tlibnccl.so.2 (libc6) => /usr/lib/x\n").nccl)

    def test_a_missing_program_is_reported_in_a_sentence(self):
        with self.assertRaisesRegex(MachineError, "/none not found: unpack a bundle, .*or give --bench=FILE$"):
            find_bench(f"{self.root}/none")

    def test_a_tree_without_programs_names_the_missing_packages(self):
        self.place("tools/setup/packages.txt", b"# Names.\nlibthis-dev\nlibthat-dev # of old\n")
        self.place("tools/setup/packages-bundle.txt", b"packer\n")
        told = {"dpkg-query": "installed libthat-dev\n", "sh": ""}
        with mock.patch.object(machine, "_ROOT", self.root), \
                mock.patch.object(machine, "_printed", lambda command: told[command[0]]), \
                mock.patch.object(machine.shutil, "which", lambda name: name):
            with self.assertRaisesRegex(MachineError,
                                        "or build one with tools/bundle after installing libthis-dev, packer, oneDNN 3$"):
                find_bench(None)
            told.update({"dpkg-query": "installed libthat-dev\ninstalled libthis-dev\ninstalled packer\n", "sh": "/usr\n"})
            with self.assertRaisesRegex(MachineError, "or build one with tools/bundle$"):
                find_bench(None)
            with mock.patch.object(machine.shutil, "which", lambda name: None), \
                    self.assertRaisesRegex(MachineError,
                                           "contents of these Debian packages: libthis-dev, libthat-dev, packer$"):
                find_bench(None)

    def driver(self, status: int, cards: int) -> None:
        """A library that answers like NVIDIA's driver. The search finds it first."""
        source = self.place("driver.c", f"int cuInit(unsigned flags) {{ return (int)flags + {status}; }}\n"
                            f"int cuDeviceGetCount(int* count) {{ *count = {cards}; return 0; }}\n".encode())
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.root / "libcuda.so.1", source], check=True)

    @unittest.skipUnless(shutil.which("cc"), "cc is not installed")
    def test_a_missing_card_is_reported_with_the_cause(self):
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": "7"}):
            self.driver(0, 1)
            check_card()
            for status, cards, text in ((100, 0, "the NVIDIA driver, libcuda.so.1, returns error 100, and "),
                                        (0, 0, "the NVIDIA driver reports no GPU, .*; CUDA_VISIBLE_DEVICES is '7'$")):
                self.driver(status, cards)
                with self.assertRaisesRegex(MachineError, f"^no usable GPU found, so nothing was checked: {text}"):
                    check_card()
            self.place("libcuda.so.1", b"no library")
            with self.assertRaisesRegex(MachineError, "cannot be opened"):
                check_card()


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
        self.run_script("echo begun")
        limit = max(0.5, 30 * (time.monotonic() - start))
        outcome = self.run_script("trap '' TERM; echo begun; sleep 1000 & echo $! >child; wait; sleep 1000", limit)
        self.assertLess(time.monotonic() - start, 1000)
        self.assertIsNone(outcome.status)
        self.assertIn("stopped at its time limit", outcome.why())
        self.assertEqual(outcome.lines, ("begun",))
        child = int((self.root / "child").read_text())
        state = Path(f"/proc/{child}/stat")
        while time.monotonic() - start < 1000:
            if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.05)
        self.fail("what the program started is still there")

    def test_failures_are_reported_with_their_likely_cause(self):
        self.assertEqual(self.run_script("echo 'bench: no GPU'; echo end; exit 2").why(),
                         "exited with status 2: bench: no GPU")
        self.assertEqual(self.run_script("kill -SEGV $$").why(), "killed by SIGSEGV")
        self.assertIn("No such file", self.check().runner.run([self.root / "none"], 5).why())
        self.assertEqual(self.check().runner.run(["true"], 0).why(), "no time left")


class MarksTest(unittest.TestCase):
    def judged(self, state: State | None, card: str = "NVIDIA H200", **rates: float) -> list[str]:
        verdicts = {} if state is None else {"conformance": Verdict(state, "9 of 9")}
        lines = marks.marks(marks.Found(verdicts, {name.replace("_", " "): rate for name, rate in rates.items()}, card))
        return [line.partition(":")[0] for line in lines]

    def test_a_mark_is_passed_at_its_threshold(self):
        self.assertEqual(self.judged(State.PASSED, bench=4500, torch_eager=2000, torch_compiled=4500 / 1.3 - 1),
                         ["passed"] * 3)
        self.assertEqual(self.judged(State.FAILED, bench=4499, torch_eager=2000, torch_compiled=4500 / 1.3),
                         ["missed"] * 3)

    def test_an_unmeasured_mark_is_neither_passed_nor_missed(self):
        self.assertEqual(self.judged(None), ["not measured"] * 3)
        self.assertEqual(self.judged(State.UNFINISHED, torch_eager=1, torch_compiled=1), ["not measured"] * 3)
        self.assertEqual(self.judged(State.NOT_REACHED, bench=5000, torch_eager=1),
                         ["not measured", "not measured", "passed"])

    def test_each_line_gives_the_reason(self):
        lines = marks.marks(marks.Found({"conformance": Verdict(State.UNFINISHED, "8 of 9")},
                                        {"bench": 4000.0, "torch eager": 3000.0, "torch compiled": 3200.0}, ""))
        self.assertEqual(lines[0], "not measured: all conformance tests pass: not finished in time: 8 of 9")
        self.assertIn("missed: ResNet-50 v1.5 trains in f16 at least 1.3 times", lines[1])
        self.assertIn(": 1.25 times torch compiled (4000 and 3200 images/s)", lines[1])
        self.assertTrue(marks.marks(marks.Found({}, {"bench": 1.0}, ""))[1].endswith(
            ": missing rates: torch eager, torch compiled"))

    def test_rates_are_judged_only_on_their_card(self):
        for card in ("NVIDIA H100 80GB HBM3", "NVIDIA H200 NVL", ""):
            self.assertEqual(self.judged(State.PASSED, card, bench=5000, torch_eager=2000, torch_compiled=2000),
                             ["passed", "passed", "not judged"])
            self.assertEqual(self.judged(State.PASSED, card)[2], "not measured")
        self.assertEqual(marks.marks(marks.Found({}, {"bench": 5000.0}, "NVIDIA H200 NVL"))[2],
                         "not judged: ResNet-50 v1.5 trains in f16 with at least 4500 images/s on an NVIDIA H200: "
                         "5000 images/s were measured on another card, NVIDIA H200 NVL")
        self.assertIn("on another card, whose name is unknown", marks.marks(marks.Found({}, {"bench": 1.0}, ""))[2])


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

    def test_parts_after_the_time_limit_do_not_run(self):
        def passes(check):
            """Passes."""
            return Verdict(State.PASSED, "fine")

        check = self.check()
        check.budget = Budget(1, {"a": 1})
        verdicts, _ = main.check_all(check, ["a"], {"a": (1, passes)})
        self.assertEqual(verdicts["a"].state, State.NOT_REACHED)

    def call(self, *arguments: str, card: bool = True) -> tuple[int, str]:
        out = io.StringIO()
        without = None if card else MachineError("no GPU: looked everywhere")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), \
                mock.patch.object(main, "check_card", side_effect=without):
            try:
                status = main.main(arguments)
            except SystemExit as error:
                status = error.code
        return status, out.getvalue()

    def test_wrong_use_exits_with_2_and_a_sentence(self):
        for arguments, text in ((("--parts=zoo,x",), "--parts=x: unknown part; accepted: properties"),
                                (("--seconds=0",), "--seconds=0: a number above 0 is accepted"),
                                (("--bench=/none",), "/none not found")):
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

    def test_the_summary_names_every_part_and_the_status_shows_failures(self):
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

    def test_without_a_card_one_sentence_is_printed_and_nothing_runs(self):
        bench = self.tree()
        self.assertEqual(self.call(f"--bench={bench}", f"--output={self.root}/out", card=False),
                         (2, "gpu_check: no GPU: looked everywhere\n"))
        self.assertFalse((self.root / "out").exists())

    def test_marks_follow_the_summary_without_changing_the_status(self):
        bench = self.tree()
        status, said = self.call(f"--bench={bench}", f"--output={self.root}/out", "--parts=torch", "--python=/none")
        self.assertEqual(status, 0)
        self.assertIn("missed: ResNet-50 v1.5 trains in f16 with at least 4500 images/s on an NVIDIA H200: "
                      "100 images/s", said[said.index("== marks"):])
        self.assertIn("not measured: all conformance tests pass: the part conformance was not selected", said)

    def test_timings_are_kept_next_to_the_log(self):
        bench = self.tree()
        bench.write_text("#!/bin/sh\necho \"cache: $BENCH_CACHE_DIR\"\n")
        self.call(f"--bench={bench}", f"--output={self.root}/out", "--parts=torch", "--python=/none")
        self.assertIn(f"cache: {self.root.resolve()}/out/cache", (self.root / "out/gpu_check.log").read_text())

    def test_without_python_the_shell_prints_a_sentence(self):
        for python in ("/none", "false"):
            ended = subprocess.run([Path(main.__file__).parents[1] / "gpu_check"], capture_output=True, text=True,
                                   env={**os.environ, "PYTHON": python}, check=False)
            self.assertEqual((ended.returncode, ended.stderr),
                             (2, f"gpu_check: {python} is not Python 3.10 or later with its standard library; "
                                 "set PYTHON to one\n"))

    def test_a_terminated_check_ends_its_programs_and_sums_up(self):
        bench = self.tree()
        bench.write_text(f"#!/bin/sh\ncase \"$*\" in *--list_models*) cat '{self.root}/models' ;; "
                         f"*) : >'{self.root}/begun'; exec sleep 100 ;; esac\n")
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", "import sys; from gpu_check_src import main; main.check_card = lambda: None; "
             "sys.exit(main.main(sys.argv[1:]))", f"--bench={bench}", f"--output={self.root}/out",
             "--parts=verify,zoo", "--python=/none"],
            stdout=subprocess.PIPE, text=True, cwd=Path(main.__file__).parents[1])
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
