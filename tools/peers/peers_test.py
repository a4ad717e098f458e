"""Tests that compare.py measures in turn, chooses, computes and reports as README.md describes. Needs no peers: short
scripts replace them."""

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

import compare  # noqa: E402
from peerlib import measure, processes, table, variants  # noqa: E402
from peerlib.processes import Run, RunFailedError  # noqa: E402
from peerlib.table import Contestant  # noqa: E402
from peerlib.variants import Variant  # noqa: E402
from peerlib.work import DTYPES, NotSupportedError, Work, add_flags, work_of  # noqa: E402

_FOLDER = Path(__file__).resolve().parent
_WORK = Work("resnet50_v1.5", "train", "f32", 32, 2, 10, 3, 0)


def _run(rate: float, rss: int = 2**30, setup: float = 1.0, first: float | None = 2.0) -> Run:
    return Run(rate, rss, setup, first)


def _record(step_ns: list[int]) -> dict:
    metrics = {"images_per_sec": 7.5, "step_time.median": 4.0, "peak_rss": 3 * 2**30,
               "setup_time": 0.25}
    return {"status": "ok", "metrics": [{"name": n, "value": v} for n, v in metrics.items()],
            "series": {"step_ns": step_ns}}


class FlagsTest(unittest.TestCase):
    def parsed(self, *arguments: str) -> Work:
        import argparse
        parser = argparse.ArgumentParser()
        add_flags(parser)
        return work_of(parser.parse_args(arguments))

    def test_work_is_parsed_back_from_its_flags(self):
        work = Work("vgg16", "infer", "int8", 8, 1, 5, 2, 96)
        self.assertEqual(self.parsed(*work.flags()), work)

    def test_int8_training_is_refused(self):
        with self.assertRaises(NotSupportedError):
            self.parsed("--dtype=int8", "--mode=train")

    def test_counts_below_one_are_refused(self):
        for name in ("batch", "threads", "steps", "warmup"):
            with self.assertRaises(NotSupportedError, msg=name):
                self.parsed(f"--{name}=0")

    def test_bench_gets_the_same_work(self):
        flags = processes.bench_flags(_WORK)
        for flag in ("--model=resnet50_v1.5", "--batch_size=32", "--num_batches=10",
                     "--num_warmup_batches=3", "--num_intra_threads=2", "--optimizer=momentum",
                     "--init_learning_rate=0.0001"):
            self.assertIn(flag, flags)
        self.assertFalse([flag for flag in flags if "image_size" in flag or "dtype" in flag])
        infer = processes.bench_flags(Work("vgg16", "infer", "int8", 8, 1, 5, 2, 96))
        for flag in ("--forward_only", "--dtype=int8", "--image_size=96"):
            self.assertIn(flag, infer)
        self.assertNotIn("--optimizer=momentum", infer)


class VariantsTest(unittest.TestCase):
    def test_every_side_has_settings_of_distinct_names(self):
        for side in ("ours", *variants.PEERS):
            for mode in ("train", "infer"):
                for dtype in DTYPES:
                    work = Work("resnet50", mode, dtype, 32, 2, 1, 1, 0)
                    names = [variant.name for variant in variants.variants_of(side, work)]
                    self.assertTrue(names)
                    self.assertEqual(len(names), len(set(names)), f"{side} {mode} {dtype}")

    def test_models_without_images_have_no_layouts(self):
        for mode in ("train", "infer"):
            work = Work("lstm_lm", mode, "f32", 20, 2, 1, 1, 0)
            for variant in variants.variants_of("torch", work):
                self.assertFalse([flag for flag in variant.flags if "layout" in flag])

    def test_names_include_the_allocator(self):
        for side in ("torch", "tensorflow", "onnxruntime", "openvino"):
            for variant in variants.variants_of(side, _WORK):
                self.assertEqual("+thp" in variant.name, variant.environment == variants.THP)

    def test_only_a_batch_that_divides_is_cut(self):
        for side, name in (("openvino", "2-streams+thp"), ("ours", "2-towers")):
            names = [[v.name for v in variants.variants_of(side, Work(
                "resnet50", "infer", "f32", batch, 2, 1, 1, 0))] for batch in (3, 4)]
            self.assertNotIn(name, names[0])
            self.assertIn(name, names[1])

    def test_towers_have_a_thread_and_an_equal_part_of_the_batch(self):
        for dtype, frozen in (("f32", True), ("int8", False)):
            towers = variants.variants_of("ours", Work("resnet50", "infer", dtype, 32, 4, 1, 1, 0))[-1]
            self.assertEqual(towers.name, "4-towers")
            for flag in ("--num_gpus=4", "--batch_size=8", "--num_intra_threads=1"):
                self.assertIn(flag, towers.flags)
            self.assertEqual("--freeze_when_forward_only" in towers.flags, frozen)


class MeasureTest(unittest.TestCase):
    def test_counts_each_step_once(self):
        steps = []
        result = measure.measure(_WORK, lambda: steps.append(None))
        self.assertEqual(len(steps), _WORK.warmup + _WORK.steps)
        self.assertEqual(len(result["step_seconds"]), _WORK.steps)
        self.assertGreater(result["peak_rss_bytes"], 2**20)

    def test_rate_is_the_batch_over_the_median_step(self):
        clock = iter([0, 9, *(t for i in range(3) for t in (i, i + [1, 4, 2][i]))])
        work = Work("resnet50", "train", "f32", 32, 2, 3, 1, 0)
        with mock.patch("time.perf_counter", lambda: next(clock)):
            result = measure.measure(work, lambda: None)
        self.assertEqual(result["images_per_second"], 16)
        self.assertEqual(result["first_step_seconds"], 9)

    def test_launch_is_when_the_process_started(self):
        code = ("import sys, time; sys.path.insert(0, sys.argv[1]); "
                "from peerlib.measure import seconds_since_launch as s; print(s())")
        before = time.monotonic()
        done = subprocess.run([sys.executable, "-B", "-c", code, str(_FOLDER)], check=True,
                              capture_output=True, text=True)
        seconds = float(done.stdout)
        self.assertGreaterEqual(seconds, 0)
        self.assertLessEqual(seconds, time.monotonic() - before + 0.02)


class ProcessesTest(unittest.TestCase):
    def fails(self, code: str, timeout: float = 60) -> str:
        with self.assertRaises(RunFailedError) as caught:
            processes.run_peer([sys.executable, "-c", code], {}, timeout)
        return str(caught.exception)

    def test_reports_why_there_is_no_result(self):
        self.assertIn("no bf16", self.fails("print('{\"skipped\": \"no bf16\"}'); exit(3)"))
        self.assertIn("boom", self.fails("raise ValueError('boom')"))
        self.assertIn("SIGILL", self.fails("import os; os.kill(os.getpid(), 4)"))
        self.assertIn("README", self.fails("import os; os.kill(os.getpid(), 4)"))
        self.assertIn("not JSON", self.fails("print('hello')"))
        self.assertIn("still running after", self.fails("import time; time.sleep(60)", 0.2))
        with self.assertRaises(RunFailedError):
            processes.run_peer(["/nowhere/python"], {}, 1)

    def test_reads_a_record_of_bench(self):
        run = processes.bench_run(_record([4 * 10**9]), 32)
        self.assertEqual((run.images_per_second, run.peak_rss_bytes, run.setup_seconds),
                         (8, 3 * 2**30, 0.25))
        self.assertIsNone(run.first_step_seconds)
        self.assertEqual(run.raw["images_per_sec"], 7.5)
        self.assertEqual(run.raw["step_seconds"], [4])

    def test_reads_a_record_that_counts_tokens(self):
        record = _record([4 * 10**9])
        record["metrics"][0]["name"] = "tokens_per_sec"
        run = processes.bench_run(record, 20)
        self.assertEqual(run.images_per_second, 5)
        self.assertEqual(run.raw["tokens_per_sec"], 7.5)


class TableTest(unittest.TestCase):
    def test_mad_is_robust(self):
        self.assertAlmostEqual(table.mad([1, 2, 3, 4, 100]), 1.4826)

    def test_ratios_are_ours_to_theirs(self):
        ours = Contestant("ours", "plain", [_run(12, 2**30, 0.5, None), _run(10), _run(11)])
        torch = Contestant("torch", "eager", [_run(8, 2**31), None, _run(10, 2**31)])
        self.assertEqual(table.round_ratios(ours, torch), [1.5, 1.1])
        lines = table.format_table([ours, torch]).splitlines()
        cells = lines[2].split()
        self.assertEqual(cells[:3], ["torch", "eager", "2"])
        self.assertIn("1.222", cells)  # 11 / 9
        self.assertIn("1.100..1.500", cells)
        self.assertIn("0.500", cells)

    def test_quantiles_are_medians_over_the_runs(self):
        runs = [Run(1, 1, 1, 1, {"step_seconds": [slowest / 100 * i / 1000 for i in range(101)]})
                for slowest in (200, 100, 300)]
        cells = table.format_table([Contestant("ours", "plain", runs)]).splitlines()[1].split()
        self.assertEqual(cells[6:8], ["100.00", "198.00"])

    def test_a_side_that_never_ran_has_a_row(self):
        text = table.format_table([Contestant("ours", "plain", [_run(1)]),
                                   Contestant("torch", "eager", [None])])
        self.assertIn("torch", text)
        self.assertTrue(table.format_table([Contestant("torch", "eager", [_run(1)])]))


class _Fake:
    """Sides with given rates, or rates by run. Records who ran."""

    def __init__(self, rates: dict[str, float | list[float]], stop_after: int | None = None):
        self.rates, self.stop_after = rates, stop_after
        self.calls: list[str] = []

    def run(self, side: str, variant: Variant, work: Work) -> Run:
        del work
        if self.stop_after is not None and len(self.calls) >= self.stop_after:
            raise KeyboardInterrupt
        name = f"{side}:{variant.name}"
        self.calls.append(name)
        if name not in self.rates:
            raise RunFailedError("not built yet")
        rate = self.rates[name]
        return _run(rate[self.calls.count(name) - 1] if isinstance(rate, list) else rate)


class CompareTest(unittest.TestCase):
    def sitting(self, fake: _Fake, *flags: str) -> tuple[int, str, dict]:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.json"
            stdout = io.StringIO()
            with mock.patch.object(compare, "Sides", lambda tools: fake), \
                    contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(io.StringIO()):
                status = compare.main([*flags, f"--out={out}"])
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            return status, stdout.getvalue(), json.loads(out.read_text())

    _RATES = {"ours:plain": 10.0, "torch:eager-nhwc+thp": 7.0, "torch:compile-nhwc+thp": 8.0,
              "tensorflow:function": 6.0}

    def test_screens_then_alternates_in_both_orders(self):
        fake = _Fake(self._RATES)
        status, text, out = self.sitting(fake, "--rounds=2", "--peers=torch,tensorflow")
        self.assertEqual(status, 0)
        self.assertEqual(fake.calls[-6:], [
            "ours:plain", "torch:compile-nhwc+thp", "tensorflow:function",
            "tensorflow:function", "torch:compile-nhwc+thp", "ours:plain"])
        self.assertIn("1.250", text)
        self.assertIn("skipped: torch eager-nhwc, eager-nchw+thp, compile-nchw+thp: not built yet",
                      text)
        self.assertEqual([row["side"] for row in out["compared"]], ["ours", "torch", "tensorflow"])
        self.assertEqual([len(row["runs"]) for row in out["compared"]], [2, 2, 2])

    def test_refuses_before_measuring_what_it_cannot_do(self):
        for flag, reason in (("--env=OMP_NUM_THREADS=1", "the comparison sets this variable"),
                             ("--env=GLIBC_TUNABLES=x", "the comparison sets this variable"),
                             ("--env=NAME", "write NAME=VALUE"),
                             ("--out=/tmp", "expected a file in a writable folder"),
                             ("--out=/nonexistent/x.json", "expected a file in a writable folder")):
            stderr = io.StringIO()
            with contextlib.redirect_stderr(stderr), self.assertRaises(SystemExit):
                compare.parse([flag])
            self.assertIn(reason, stderr.getvalue())

    def test_keeps_the_requested_settings(self):
        fake = _Fake(self._RATES)
        self.sitting(fake, "--rounds=1", "--keep=best_peer")
        self.assertEqual(fake.calls[-2:], ["ours:plain", "torch:compile-nhwc+thp"])
        fake = _Fake(self._RATES)
        self.sitting(fake, "--rounds=1", "--keep=all", "--peers=torch")
        self.assertEqual(fake.calls[-3:], ["ours:plain", "torch:compile-nhwc+thp",
                                           "torch:eager-nhwc+thp"])

    def test_settings_within_the_noise_of_the_fastest_continue(self):
        fake = _Fake({"ours:plain": 10.0, "torch:eager-nhwc+thp": [9.0, 7.5, 8.0],
                      "torch:compile-nhwc+thp": [7.0, 7.6, 8.5], "torch:eager-nhwc": [7.4, 7.4]})
        self.sitting(fake, "--rounds=1", "--peers=torch")
        self.assertEqual(fake.calls[-3:], ["ours:plain", "torch:eager-nhwc+thp",
                                           "torch:compile-nhwc+thp"])

    def test_ratios_are_to_our_fastest_setting(self):
        ours = [Contestant("ours", "plain", [_run(8)]), Contestant("ours", "frozen", [_run(12)])]
        text = table.format_table([*ours, Contestant("torch", "eager", [_run(6)])])
        self.assertIn("2.000", text)

    def test_named_settings_are_not_screened(self):
        fake = _Fake(self._RATES)
        self.sitting(fake, "--rounds=1", "--settings=ours:plain,torch:eager-nhwc+thp")
        self.assertEqual(fake.calls, ["ours:plain", "torch:eager-nhwc+thp"])

    def test_unknown_settings_are_wrong_use(self):
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertEqual(compare.main(["--settings=torch:fast"]), 2)
        self.assertIn("eager-nhwc+thp", stderr.getvalue())

    def test_ctrl_c_prints_the_finished_part(self):
        # Two screened runs need six calls, so this cuts the second round.
        fake = _Fake(self._RATES, stop_after=3)
        status, text, out = self.sitting(fake, "--rounds=4",
                                         "--settings=ours:plain,torch:eager-nhwc+thp")
        self.assertEqual(status, 130)
        self.assertIn("1.429", text)
        self.assertEqual([len(row["runs"]) for row in out["compared"]], [1, 2])

    def test_no_comparison_is_a_failure(self):
        self.assertEqual(self.sitting(_Fake({"ours:plain": 1.0}), "--rounds=1")[0], 1)
        self.assertEqual(self.sitting(_Fake({"torch:eager-nhwc": 1.0}), "--rounds=1")[0], 1)

    def test_ends_its_processes_when_terminated(self):
        with tempfile.TemporaryDirectory() as folder:
            pid_file = Path(folder) / "pid"
            bench = Path(folder) / "bench"
            bench.write_text(f"#!/bin/sh\necho $$ > {pid_file}.part\nmv {pid_file}.part {pid_file}\n"
                             "exec sleep 600\n")
            bench.chmod(0o755)
            process = subprocess.Popen(
                [sys.executable, "-B", str(_FOLDER / "compare.py"), f"--bench={bench}",
                 "--settings=ours:plain"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            while not pid_file.exists():
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.terminate()
            process.communicate()
            self.assertEqual(process.returncode, 130)
            with self.assertRaises(ProcessLookupError):
                os.kill(int(pid_file.read_text()), 0)

    def test_ends_a_process_after_an_interrupted_wait(self):
        process, before = processes._start(["sleep", "600"], {}, subprocess.DEVNULL, subprocess.DEVNULL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        process._waitpid_lock.acquire()
        processes._stop(process)
        with self.assertRaises(ProcessLookupError):
            os.kill(process.pid, 0)

    def test_ends_a_starting_process_when_terminated(self):
        started = []

        def start_and_terminate(*arguments, **options):
            started.append(subprocess_popen(*arguments, **options))
            os.kill(os.getpid(), signal.SIGTERM)
            return started[0]

        subprocess_popen = subprocess.Popen
        handler = signal.signal(signal.SIGTERM, compare._interrupt)
        try:
            with mock.patch.object(processes.subprocess, "Popen", start_and_terminate), \
                    self.assertRaises(KeyboardInterrupt):
                processes.run_process(["sleep", "600"], {}, 60)
            self.assertIsNotNone(started[0].returncode)
        finally:
            signal.signal(signal.SIGTERM, handler)
            started[0].kill()
            started[0].wait()


if __name__ == "__main__":
    unittest.main()
