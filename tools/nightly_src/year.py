#!/usr/bin/env python3
"""Runs a year of generated daily runs of 20 series through tools/nightly. The series have fixed seeds, a noise of
0.3 to 1.2 %, three real steps and a drift. One machine is replaced, another changes its speed (as its canary shows),
and one month has no runs. Prints the planted changes, what the script reported as new on which day, and its final
report.

    year.py BENCH_RESULTS [--disturbed] [--trust_disturbed]

With --disturbed, other programs run on machines a and b on one day in ten, and on machine a for a fortnight, and take
5 to 50 % of the speed. With --trust_disturbed, the script judges disturbed runs like others.
"""

import argparse
import pathlib
import random
import shlex
import sys
import tempfile

from made_days import Days, Series

MISSING = range(180, 210)
REPLACED, SLOWER = 250, 220
FORTNIGHT = range(100, 114)


def disturbed_days(machine, draw):
    """Returns the days on which other programs run on the machine."""
    return [day for day in range(365) if draw.random() < 0.1 or (machine == "a" and day in FORTNIGHT)]


def year(with_disturbed):
    all_series = []
    draw = random.Random(1)
    slow = {machine: disturbed_days(machine, draw) if with_disturbed else [] for machine in "ab"}
    for i in range(20):
        steps = {2: [(60, 0.97)], 7: [(150, 1.05)], 13: [(300, 0.96)]}.get(i, [])
        machine = "a" if i < 10 else "b"
        if machine == "b":
            steps = steps + [(SLOWER, 0.98)]
        if i in (0, 1):
            steps = steps + [(REPLACED, 1.4)]
        all_series.append(Series(f"model{i:02}", 0.003 + 0.0005 * (i % 19), steps, -0.03 / 365 if i == 16 else 0.0,
                                 machine, seed=100 + i,
                                 disturbed={day: draw.uniform(0.5, 0.95) for day in slow[machine]}))
    all_series.append(Series("model10", 0.003, [(SLOWER, 0.98)], machine="b", canary=True, seed=200,
                             disturbed={day: draw.uniform(0.5, 0.95) for day in slow["b"]}))
    return all_series


def machine_of(series, day):
    return "c" if series.model in ("model00", "model01") and day >= REPLACED else series.machine


def trusting(folder, results):
    """Returns a program that is bench_results and trusts disturbed runs."""
    program = folder / "trusting"
    program.write_text(f"""#!/bin/sh
[ "$1" != track ] || set -- "$@" --trust-disturbed
exec {shlex.quote(results)} "$@"
""")
    program.chmod(0o755)
    return str(program)


def main(options):
    print("planted: model02 -3 % on day 60, model07 +5 % on day 150, model13 -4 % on day 300,\n"
          "  model16 -3 % over the year, all of machine b (model10 to model19 and the canary) -2 % on day\n"
          f"  {SLOWER}, model00 and model01 on a new machine, 40 % faster, from day {REPLACED},\n"
          f"  no runs from day {MISSING.start} to {MISSING.stop - 1}")
    if options.disturbed:
        print(f"  disturbed: one day in ten on machines a and b, days {FORTNIGHT.start} to {FORTNIGHT.stop - 1} on a")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = trusting(folder, options.results) if options.trust_disturbed else options.results
        days = Days(folder, results, machine_of)
        all_series, failed, before = year(options.disturbed), 0, ""
        for day in range(365):
            if day in MISSING:
                continue
            said = days.run(day, all_series)
            if said.returncode not in (0, 1):
                print(f"day {day}: status {said.returncode}: {said.stderr}")
                return 1
            failed += said.returncode
            news = [line for line in said.stdout.splitlines() if line.startswith(("Slower:", "Faster:"))]
            if news:
                print(f"day {day}, status {said.returncode}: {'; '.join(news)}")
            before = said.stdout.splitlines()[-1]
        print(f"{failed} of 335 runs exit with 1; the last one reports:\n{before}")
        for series in days.report()["series"]:
            for change in series["changes"]:
                since = change["first_bad"][:10]
                print(f"{series['workload']}{' (canary)' if series['canary'] else ''} on {series['machine']}: {since} "
                      f"{100 * change['change']:+.2f} % {change['verdict']}, {change['cause']}"
                      f"{', drift' if change['drift'] else ''}{', recovered' if change['recovered'] else ''}"
                      f"{', fails' if change['fails'] else ''}")
            if series["continues"]:
                print(f"{series['workload']} on {series['machine']}, then {series['continues']}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", metavar="BENCH_RESULTS")
    parser.add_argument("--disturbed", action="store_true")
    parser.add_argument("--trust_disturbed", action="store_true")
    sys.exit(main(parser.parse_args()))
