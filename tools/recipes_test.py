#!/usr/bin/env python3
"""Runs the commands of bench/manual/RECIPES.md as written, and compares their output with the page's, apart from
numbers.

    recipes_test.py PROGRAMS COMPILER    PROGRAMS is the folder of bench and the other programs
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from torment_src.formats import jpegs  # noqa: E402

PAGE = ROOT / "bench" / "manual" / "RECIPES.md"
PROGRAMS, COMPILER = pathlib.Path(), ""
# The state of the machine decides how these end.
EITHER = ("bench_results doctor", "bench_results compare")
# Replaces cmake: building takes minutes, so it only compiles what the recipe for a network writes.
CMAKE = """#!/bin/sh
for file in models/zoo/smallnet.cc models/zoo/zoo.cc; do
  [ ! -e models/zoo/smallnet.cc ] || {compiler} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I. $file || exit
done
"""
# These need the program that cmake would build.
NEEDS_A_BUILD = re.compile(r"build/release/bin/|cmake --build build/release --target bench$")


def commands_of(text):
    """Returns the sections' commands, each with the lines of its output."""
    sections, end, before = {"": []}, "", ""
    for line in text.splitlines():
        if line.startswith("## "):
            sections[line[3:]] = []
        found = list(sections.values())[-1]
        code = line[4:] if line.startswith("    ") else None if line else ""
        if code is None:
            before = ""
        elif end:
            found[-1][0] += "\n" + code
            end = "" if code == end else end
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + code
        elif code.startswith("$ "):
            found.append([code[2:], []])
            heredoc = re.search(r"<< '(\w+)'", code)
            end, before = heredoc[1] if heredoc else "", "$"
        elif code and before:
            found[-1][1].append(code)
    return sections


def plain(line):
    """Returns the line without numbers and without the width of columns."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.,]*(?:e-?\d+)?", "N", line)).strip()


def first_missing(expected, printed):
    """Returns the first expected line that the printed lines do not contain in this order. Lines may only be omitted
    at `...`, and ` ...` at the end of a line stands for its rest."""
    at, gap = 0, False
    for line in map(plain, expected):
        if line == "...":
            gap = True
            continue
        matches = (lambda other, l=line: other.startswith(l[:-4])) if line.endswith(" ...") else line.__eq__
        fits = [i for i in range(at, len(printed) if gap else at + 1) if i < len(printed) and matches(printed[i])]
        if not fits:
            return line
        at, gap = fits[0] + 1, False
    return "" if gap or at == len(printed) or not expected else f"nothing after line {at}, not {printed[at]}"


class RecipesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for path in ("build/release", "tools", "shims", "photos/cats", "photos/dogs"):
            (self.folder / path).mkdir(parents=True)
        (self.folder / "build/release/bin").symlink_to(PROGRAMS)
        (self.folder / "tools/nightly").symlink_to(ROOT / "tools/nightly")
        (self.folder / "tools/make_tfrecords").symlink_to(PROGRAMS / "make_tfrecords")
        cmake = self.folder / "shims/cmake"
        cmake.write_text(CMAKE.format(compiler=COMPILER))
        cmake.chmod(0o755)
        for place in ("cats", "dogs"):
            for number in range(40):
                (self.folder / "photos" / place / f"{number}.jpg").write_bytes(jpegs.JPEGS["rgb"])
        self.sections = commands_of(PAGE.read_text())

    def follow(self, title):
        """Runs the commands of a section in one folder, like a reader."""
        environment = {**os.environ, "PATH": f"{self.folder}/shims:{PROGRAMS}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        for name in ("BENCH_STORE", "COLUMNS"):
            environment.pop(name, None)
        for command, expected in self.sections[title]:
            if NEEDS_A_BUILD.match(command):
                continue
            said = subprocess.run(["sh", "-c", f"exec 2>&1\n{command}"], cwd=self.folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
            self.assertIn(said.returncode, (0, 1) if command.startswith(EITHER) else (0,), f"{command}\n{said.stdout}")
            missing = first_missing(expected, list(map(plain, said.stdout.splitlines())))
            self.assertEqual(missing, "", f"{command}\n{said.stdout}")

    def test_the_page_has_the_recipes_that_are_run_here(self):
        titles = [title for title, commands in self.sections.items() if commands]
        self.assertEqual(titles, ["", "Benchmark this CPU", "Use your own images", "Compare machines for a purchase",
                                  "Track every day in CI", "Add a network"])
        self.follow("")

    def test_benchmark_this_cpu(self):
        self.follow("Benchmark this CPU")
        self.assertTrue((self.folder / "step.json").exists())

    def test_use_your_own_images(self):
        self.follow("Use your own images")

    def test_compare_machines_for_a_purchase(self):
        self.follow("Compare machines for a purchase")
        self.assertIn("<h1>Which machine?</h1>", (self.folder / "report.html").read_text())

    def test_track_every_day_in_ci(self):
        self.follow("Track every day in CI")

    def test_add_a_network(self):
        shutil.copytree(ROOT / "models", self.folder / "models")
        self.follow("Add a network")
        self.assertIn("build_smallnet", (self.folder / "models/zoo/zoo.inc").read_text())


class OutputTest(unittest.TestCase):
    def test_numbers_may_differ_and_words_may_not(self):
        printed = ["a N", "total N", "end"]
        self.assertEqual(first_missing(["a 5", "total  7.5", "end"], printed), "")
        self.assertEqual(first_missing(["...", "total 3", "..."], printed), "")
        self.assertEqual(first_missing(["a ...", "..."], printed), "")
        self.assertEqual(first_missing([], printed), "")
        self.assertEqual(first_missing(["...", "sum 3", "..."], printed), "sum N")
        self.assertEqual(first_missing(["total 3", "..."], printed), "total N")
        self.assertTrue(first_missing(["a 5"], printed))


if __name__ == "__main__":
    COMPILER = sys.argv.pop(2)
    PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
