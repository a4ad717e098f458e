"""The command line: selects and orders the cases, and prints the results."""

import argparse
import collections
import concurrent.futures
import itertools
import math
import os
import random
import re
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Callable, Iterator

from . import runner
from .base import Program
from .case import Case, random_of
from .families import (children, cifar, filters, flags, outputs, pages, pairs, shards, signals, stores, surroundings,
                       tensors)
from .flag_table import HelpError
from .judge import Fault, judge
from .runner import Outcome, Workplace

_ROOT = Path(__file__).resolve().parents[2]
FAMILIES: dict[str, Callable[[random.Random, Program, int], Case]] = {
    "flags": flags.make, "pairs": pairs.make, "shards": shards.make, "cifar": cifar.make,
    "tensors": tensors.make, "signals": signals.make, "outputs": outputs.make,
    "surroundings": surroundings.make, "stores": stores.make, "filters": filters.make, "pages": pages.make,
    "children": children.make}
# The order of families. A case's number is its place here, whichever families run.
_TURNS = ("flags", "pairs", "shards", "flags", "tensors", "outputs", "flags", "pairs", "signals",
          "flags", "shards", "cifar", "surroundings", "flags", "pairs", "tensors", "flags",
          "shards", "outputs", "pairs", "signals", "surroundings", "stores", "filters", "pages", "children")


def make_case(program: Program, seed: int, number: int) -> Case:
    """Returns case `number` of the seed, which is the same on every machine for a program with the same flags."""
    rounds, place = divmod(number, len(_TURNS))
    family = _TURNS[place]
    index = rounds * _TURNS.count(family) + _TURNS[:place].count(family)
    case = FAMILIES[family](random_of(seed, number), program, index)
    case.family, case.seed, case.number = family, seed, number
    return case


def numbers_of(families: set[str], cases: int | None = None) -> Iterator[int]:
    """Returns the numbers of the families' cases: the given count, or without end."""
    numbers = (number for number in itertools.count() if _TURNS[number % len(_TURNS)] in families)
    return itertools.islice(numbers, cases)


def try_case(program: Program, case: Case, keep: bool) -> tuple[Outcome, list[Fault]]:
    with Workplace(case) as workplace:
        outcome = workplace.run(program.bench, case)
        faults = judge(case, outcome)
        workplace.keep = keep and bool(faults)
    return outcome, faults


class Report:
    """Prints findings as they come, and all counts at the end."""

    def __init__(self, program: Program, arguments: argparse.Namespace):
        self._program = program
        self._arguments = arguments
        # Exit statuses, or "hung", by family; cases by cause.
        self._statuses = collections.defaultdict(collections.Counter)
        self._findings = collections.defaultdict(list)
        self._failed = 0
        # Only of cases that ended without being killed.
        self._slowest: tuple[float, str] = (0.0, "")

    def add(self, case: Case, outcome: Outcome, faults: list[Fault]) -> None:
        self._statuses[case.family]["hung" if outcome.hung else str(outcome.status)] += 1
        if not outcome.hung:
            self._slowest = max(self._slowest, (outcome.seconds, self.again(case)))
        if not faults:
            return
        self._failed += 1
        for cause in {cause_of(fault) for fault in faults}:
            self._findings[cause].append(case)
        print(f"\nFINDING in case {case.number} ({case.family}: {printable(case.title)})")
        for fault in faults:
            print(f"  {printable(str(fault))}")
        print(f"  again: {self.again(case)}")
        print(f"  plain: {case.shell_line(self._program.bench)}")
        if self._arguments.keep:
            print(f"  kept:  {outcome.folder}")
        sys.stdout.flush()

    def again(self, case: Case) -> str:
        bench = self._arguments.bench
        other = f" --bench={bench}" if bench != default_bench() else ""
        return f"tools/torment --seed={case.seed} --case={case.number}{other}"

    def end(self, seconds: float) -> int:
        """Prints the counts and returns the exit status."""
        columns = sorted({status for counts in self._statuses.values() for status in counts},
                         key=lambda status: int(status) if status.isdigit() else 1000)
        print(f"\n{'family':<10}{'cases':>8}" + "".join(f"{status:>7}" for status in columns))
        for family, counts in self._statuses.items():
            print(f"{family:<10}{counts.total():>8}"
                  + "".join(f"{counts[status] or '-':>7}" for status in columns))
        total = sum(counts.total() for counts in self._statuses.values())
        print(f"{total} cases in {seconds:.0f} s, {self._failed} with findings")
        print(f"slowest: {self._slowest[0]:.1f} of {runner.LIMIT_SECONDS:.0f} s, {self._slowest[1]}")
        for cause, cases in sorted(self._findings.items()):
            print(f"{len(cases):>6} {cause}\n       {self.again(cases[0])}")
        return 1 if self._failed else 0


def cause_of(fault: Fault) -> str:
    """Returns the fault without the parts that differ from case to case."""
    return printable(re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "_", str(fault)))


def printable(text: str) -> str:
    """Returns the text with unprintable characters escaped, for a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def show(case: Case, outcome: Outcome) -> None:
    """Prints one case in full."""
    print(f"case {case.number} ({case.family}: {printable(case.title)})")
    for path in case.files:
        print(f"  file   {printable(path)}")
    print(f"  status {outcome.status} after {outcome.seconds:.2f} s")
    for name, data in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        for line in data.decode("utf-8", "backslashreplace").splitlines():
            print(f"  {name} {printable(line)}")


def run_all(program: Program, arguments: argparse.Namespace, families: set[str]) -> int:
    report, lock, stop = Report(program, arguments), threading.Lock(), threading.Event()
    begin = time.monotonic()
    minutes = arguments.minutes or (2 if arguments.cases is None else math.inf)
    until = begin + minutes * 60
    numbers = numbers_of(families, arguments.cases)

    def work() -> None:
        while time.monotonic() < until and not stop.is_set():
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            case = make_case(program, arguments.seed, number)
            outcome, faults = try_case(program, case, arguments.keep)
            with lock:
                report.add(case, outcome, faults)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        workers = [pool.submit(work) for _ in range(arguments.jobs)]
        try:
            for worker in workers:
                worker.result()
        except BaseException as error:
            stop.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
    status = report.end(time.monotonic() - begin)
    return 128 + signal.SIGINT if stop.is_set() else status


def run_one(program: Program, arguments: argparse.Namespace) -> int:
    case = make_case(program, arguments.seed, arguments.case)
    report = Report(program, arguments)
    outcome, faults = try_case(program, case, arguments.keep)
    show(case, outcome)
    print(f"  plain: {case.shell_line(program.bench)}")
    report.add(case, outcome, faults)
    return report.end(outcome.seconds)


def default_bench() -> str:
    return str(_ROOT / "build/release/bin/bench")


def parse(arguments: list[str], about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torment", description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float,
                        help="start no more cases after this time (default 2; no limit with --cases)")
    parser.add_argument("--cases", type=int, help="start at most this number of cases (default: no limit)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the cases (default 1)")
    parser.add_argument("--case", type=int, help="run only this case, and print it in full")
    parser.add_argument("--families", default=",".join(FAMILIES),
                        help="families of cases, separated by commas (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="cases to run concurrently (default 1)")
    parser.add_argument("--bench", default=default_bench(), help="the program (default %(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep the folders of failed cases")
    parsed = parser.parse_args(arguments)
    parsed.families = set(parsed.families.split(","))
    if unknown := parsed.families - FAMILIES.keys():
        parser.error(f"--families={','.join(sorted(unknown))}: unknown family; accepted: {', '.join(FAMILIES)}")
    for name in ("jobs", "cases"):
        if (value := getattr(parsed, name)) is not None and value < 1:
            parser.error(f"--{name}={value}: at least 1 is accepted")
    return parsed


def main(arguments: list[str], about: str) -> int:
    """Returns the exit status: 0 no findings, 1 findings, 2 wrong usage or a program that cannot be tested, 130 ended
    by Ctrl-C after the current cases."""
    parsed = parse(arguments, about)
    # The calling shell may ignore these signals, and the tested program would inherit that.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    begin = time.monotonic()
    try:
        program = Program(os.path.abspath(parsed.bench))
    except HelpError as error:
        print(f"torment: {error}", file=sys.stderr)
        return 2
    runner.set_limits(time.monotonic() - begin)
    if parsed.case is not None:
        return run_one(program, parsed)
    return run_all(program, parsed, parsed.families)
