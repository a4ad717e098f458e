#!/usr/bin/env python3
"""Tests the output of tools/nightly, with a stand-in for bench.

    nightly_test.py BENCH_RESULTS
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import made_days
from made_days import Days, Series

RESULTS = ""


class NightlyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.days = Days(self.folder, RESULTS, lambda series, day: series.machine)

    def test_reports_a_regression_once_and_fails_until_acknowledged(self):
        series = [Series("lenet", 0.003, [(14, 0.95)], seed=3), Series("vgg16", 0.003, seed=4)]
        said = [self.days.run(day, series) for day in range(17)]
        self.assertEqual([one.returncode for one in said[:15]], [0] * 15, said[14].stderr)
        self.assertIn("Suspect in the newest run, not confirmed: lenet train bs32 f32 -", said[14].stdout)
        self.assertEqual(said[15].returncode, 1, "the second run confirms")
        line, last = said[15].stdout.splitlines()[-2:]
        self.assertRegex(line, r"^Slower: lenet train bs32 f32 -.*% since 2025-01-15 \(id ")
        self.assertEqual(last, "2 series: 1 new regressions, 0 known and open, 0 new improvements.")
        self.assertEqual(said[16].returncode, 1)
        self.assertIn("0 new regressions, 1 known and open", said[16].stdout)
        change = self.days.report()["series"][0]["changes"][0]
        self.assertEqual(change["git_rev"], ["000000d", "000000e"])
        for form in ("md", "xml", "txt"):
            self.assertIn("PerformanceRegression" if form == "xml" else change["id"],
                          (self.folder / "report" / f"report.{form}").read_text())

    def test_a_series_collects_a_baseline_before_it_is_judged(self):
        series = [Series("lenet", 0.003, seed=3)]
        for day in range(9):
            said = self.days.run(day, series)
            line = f"Not judged yet: 1 series, collecting a baseline: point {day + 1} of 8\n"
            junit = (self.folder / "report" / "report.xml").read_text()
            self.assertEqual(line in said.stdout, day < 8, said.stdout)
            self.assertIn('skipped="1"' if day < 8 else 'skipped="0"', junit)

    def test_runs_of_one_day_are_one_point_unless_each_run_is_asked_for(self):
        series = [Series("lenet", 0.003, seed=3)]
        self.days.run(0.25, series)
        self.assertIn("point 1 of 8", self.days.run(0.5, series).stdout)
        self.assertIn("point 3 of 8", self.days.run(0.75, series, "--points=run").stdout)

    def test_a_change_below_min_effect_does_not_fail(self):
        series = [Series("lenet", 0.001, [(12, 0.97)], seed=3)]
        for day in range(14):
            self.days.run(day, series)
        self.assertEqual(self.days.run(14, series, "--min-effect=5%").returncode, 0)
        self.assertEqual(self.days.run(15, series).returncode, 1)

    def test_the_command_of_on_change_receives_a_change_once_as_json(self):
        series = [Series("lenet", 0.003, [(14, 0.95)], seed=3)]
        for day in range(15):
            self.days.run(day, series)
        inbox = self.folder / "inbox"
        failing = self.days.run(15, series, "--on-change=exit 9")
        self.assertEqual(failing.returncode, 74)
        self.assertIn("--on-change=exit 9: the command ended with exit status 9", failing.stderr)
        self.assertEqual(self.days.run(16, series, f"--on-change=cat > '{inbox}'").returncode, 1)
        told = made_days.json.loads(inbox.read_text())
        self.assertEqual([change["workload"] for change in told["changes"]], ["lenet train bs32 f32"])
        self.assertTrue(told["lines"][0].startswith("Slower: lenet train bs32 f32 -"))
        inbox.unlink()
        self.assertEqual(self.days.run(17, series, f"--on-change=cat > '{inbox}'").returncode, 1)
        self.assertFalse(inbox.exists(), "the change is known")

    @unittest.skipUnless(shutil.which("jq"), "jq is not installed")
    def test_the_messages_of_the_page_can_be_sent(self):
        page = (made_days.NIGHTLY.parents[1] / "bench/manual/TRACK.md").read_text()
        commands = re.findall(r"^    tools/nightly (--on-change=.*)$", page, re.MULTILINE)
        self.assertEqual(len(commands), 2)
        for program in ("curl", "mail"):  # They print what they receive.
            (self.folder / program).write_text("#!/bin/sh\ncat >&2\n")
            (self.folder / program).chmod(0o755)
        series = [Series("lenet", 0.003, [(14, 0.95)], seed=3)]
        for day in range(15):
            self.days.run(day, series)
        path = f"PATH={self.folder}:$PATH"
        for day, (command, start) in enumerate(zip(commands, ('"text": "Slower: lenet', "Slower: lenet")), 15):
            [option] = made_days.shlex.split(command)
            option = option.replace("--on-change=", f"--on-change={path}; ", 1) + "; exit 1"
            self.assertIn(start, self.days.run(day, series, option).stderr)

    def test_a_change_of_the_canary_does_not_fail(self):
        series = [Series("lenet", 0.003, [(14, 0.95)], seed=5),
                  Series("lenet", 0.003, [(14, 0.95)], seed=6, canary=True)]
        said = [self.days.run(day, series) for day in range(16)]
        self.assertEqual(said[-1].returncode, 0, said[-1].stdout)
        self.assertIn("Not caused by the code, according to the revision or the canary: lenet", said[-1].stdout)

    def run_with_a_workload_that_fails(self, *options):
        """Repeats the last day, with a workload that fails."""
        with open(self.folder / "workloads", "a") as file:
            file.write("--model=absent\n")
        bench = self.folder / "bench"
        bench.write_text(bench.read_text().replace("from=", '[ "$model" != absent ] || exit 5\nfrom='))
        return made_days.subprocess.run(
            ["sh", str(made_days.NIGHTLY), f"--bench={bench}", f"--results={RESULTS}", "--repeats=1",
             f"--store={self.folder / 'store'}/", f"--workloads={self.folder / 'workloads'}",
             f"--output={self.folder / 'report'}", *options], capture_output=True, text=True, check=False)

    def test_a_workload_that_fails_is_named_and_the_others_are_run(self):
        self.days.run(0, [Series("lenet", 0.003)])
        again = self.run_with_a_workload_that_fails()
        self.assertEqual(again.returncode, 3)
        self.assertIn("failed: [--model=absent, see ", again.stderr)
        self.assertIn("1 series:", again.stdout)

    def test_a_workload_that_fails_is_named_even_if_the_command_of_on_change_fails(self):
        series = [Series("lenet", 0.003, [(14, 0.95)], seed=3)]
        for day in range(16):
            said = self.days.run(day, series, "--on-change=exit 9")
        self.assertEqual(said.returncode, 74)
        again = self.run_with_a_workload_that_fails("--on-change=exit 9")
        self.assertEqual(again.returncode, 74)
        self.assertIn("failed: [--model=absent, see ", again.stderr)

    def test_a_signal_ends_the_current_run_too(self):
        bench = self.folder / "bench"
        bench.write_text(f"#!{sys.executable}\nimport os, pathlib, signal\n"
                         "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
                         f"open({str(self.folder / 'begun')!r}, 'w').close()\n"
                         "got = signal.sigwait({signal.SIGTERM})\n"
                         f"pathlib.Path({str(self.folder / 'got')!r}).write_text(str(got))\n")
        bench.chmod(0o755)
        os.mkfifo(self.folder / "begun")
        (self.folder / "workloads").write_text("--model=lenet\n--model=vgg16\n")
        for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            (self.folder / "got").unlink(missing_ok=True)
            with subprocess.Popen(
                    ["sh", str(made_days.NIGHTLY), f"--bench={bench}", f"--results={RESULTS}",
                     f"--workloads={self.folder / 'workloads'}", f"--output={self.folder / 'report'}"],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as nightly:
                open(self.folder / "begun").close()  # Waits until the run has begun.
                nightly.send_signal(number)
                error = nightly.communicate()[1]
            self.assertEqual(nightly.returncode, status, error)
            self.assertEqual((self.folder / "got").read_text(), str(int(signal.SIGTERM)))
            self.assertNotIn("vgg16", error)

    def test_refuses_unknown_options_and_values(self):
        for option in ("--workload=x", "--repeats=0", "--workloads=absent", "--bench=absent", "--points=week"):
            with self.subTest(option=option):
                said = made_days.subprocess.run(["sh", str(made_days.NIGHTLY), option, "--no_build"],
                                                  capture_output=True, text=True, check=False)
                self.assertEqual(said.returncode, 2, said.stderr)
                self.assertIn(option.split("=")[0].strip("-") if "absent" not in option else "absent", said.stderr)

    def test_refuses_workloads_that_are_not_shell_words_before_measuring(self):
        workloads = self.folder / "workloads"
        for line in ("--model='lenet", "--model=$UNSET_NAME"):
            workloads.write_text(f"--model=lenet\n{line}\n")
            said = made_days.subprocess.run(
                ["sh", str(made_days.NIGHTLY), f"--workloads={workloads}", f"--output={self.folder / 'out'}", "--no_build"],
                capture_output=True, text=True, check=False)
            self.assertEqual(said.returncode, 2, said.stderr)
            self.assertEqual(said.stderr,
                             f"nightly: --workloads={workloads}: cannot read this line as shell words: {line}\n")

    def test_a_build_that_fails_is_no_regression_and_leaves_no_old_report(self):
        report = self.folder / "report.txt"
        report.write_text("of yesterday")
        environment = {**os.environ, "BENCH_ONEDNN": "unknown", "BENCH_NO_PACKAGES": "1"}
        said = made_days.subprocess.run(["sh", str(made_days.NIGHTLY), f"--output={self.folder}"], env=environment,
                                        capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 3, said.stderr)
        self.assertIn("nightly: cannot build bench", said.stderr)
        self.assertFalse(report.exists())

    def test_refuses_wrong_options_of_track_before_measuring(self):
        for option in ("--min-effect=much", "--since=soon"):
            with self.subTest(option=option):
                said = self.days.run(0.1 if "much" in option else 0.2, [Series("lenet", 0.003)], option)
                self.assertEqual(said.returncode, 2, said.stderr)
                self.assertRegex(said.stderr, f"^nightly: .*{option.partition('=')[2]}")
                self.assertFalse((self.folder / "store").exists())

    def test_the_ready_made_jobs_use_options_that_exist(self):
        help_text = made_days.subprocess.run(["sh", str(made_days.NIGHTLY), "--help"], capture_output=True, text=True,
                                             check=True).stdout
        for name in ("github.yml", "gitlab.yml", "crontab", "bench-nightly.service"):
            text = (pathlib.Path(__file__).parent / name).read_text()
            used = [re.findall(r"(--[\w-]+)", line) for line in text.splitlines() if "tools/nightly" in line]
            self.assertTrue(used, name)
            for option in sum(used, []):
                self.assertIn(f"  {option}", help_text, name)


if __name__ == "__main__":
    RESULTS = sys.argv.pop(1)
    unittest.main()
