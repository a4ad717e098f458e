#!/usr/bin/env python3
"""Tests the output of tools/nightly, with a stand-in for bench.

    nightly_test.py BENCH_RESULTS
"""

import os
import pathlib
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
        last = said[15].stdout.splitlines()[-1]
        self.assertIn("2 series: 1 new regressions, 0 known and open", last)
        self.assertIn("since 2025-01-15", last)
        self.assertEqual(said[16].returncode, 1)
        self.assertIn("0 new regressions, 1 known and open", said[16].stdout)
        change = self.days.report()["series"][0]["changes"][0]
        self.assertEqual(change["git_rev"], ["000000d", "000000e"])
        for form in ("md", "xml", "txt"):
            self.assertIn("PerformanceRegression" if form == "xml" else change["id"],
                          (self.folder / "report" / f"report.{form}").read_text())

    def test_a_change_of_the_canary_does_not_fail(self):
        series = [Series("lenet", 0.003, [(14, 0.95)], seed=5),
                  Series("lenet", 0.003, [(14, 0.95)], seed=6, canary=True)]
        said = [self.days.run(day, series) for day in range(16)]
        self.assertEqual(said[-1].returncode, 0, said[-1].stdout)
        self.assertIn("Not caused by the code, according to the revision or the canary: lenet", said[-1].stdout)

    def test_a_workload_that_fails_is_named_and_the_others_are_run(self):
        self.days.run(0, [Series("lenet", 0.003)])
        with open(self.folder / "workloads", "a") as file:
            file.write("--model=absent\n")
        bench = self.folder / "bench"
        bench.write_text(bench.read_text().replace("from=", '[ "$model" != absent ] || exit 5\nfrom='))
        again = made_days.subprocess.run(
            ["sh", str(made_days.NIGHTLY), f"--bench={bench}", f"--results={RESULTS}", "--repeats=1",
             f"--store={self.folder / 'store'}/", f"--workloads={self.folder / 'workloads'}",
             f"--output={self.folder / 'report'}"], capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 3)
        self.assertIn("failed: [--model=absent, see ", again.stderr)
        self.assertIn("1 series:", again.stdout)

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
        for option in ("--workload=x", "--repeats=0", "--workloads=absent", "--bench=absent"):
            with self.subTest(option=option):
                said = made_days.subprocess.run(["sh", str(made_days.NIGHTLY), option, "--no_build"],
                                                  capture_output=True, text=True, check=False)
                self.assertEqual(said.returncode, 2, said.stderr)
                self.assertIn(option.split("=")[0].strip("-") if "absent" not in option else "absent", said.stderr)


if __name__ == "__main__":
    RESULTS = sys.argv.pop(1)
    unittest.main()
