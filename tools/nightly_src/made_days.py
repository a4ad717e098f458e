"""Generates daily runs for tests of tools/nightly: records of bench's schema, and a stand-in for bench that saves the
day's record in a store folder."""

import datetime
import hashlib
import json
import math
import pathlib
import random
import shlex
import subprocess

FIRST = datetime.datetime(2025, 1, 1, 2, 30, tzinfo=datetime.timezone.utc)
NIGHTLY = pathlib.Path(__file__).resolve().parents[1] / "nightly"

STAND_IN = """#!/bin/sh
# Stands in for bench: puts the record of the day and the model into the store.
for word; do
  case $word in
    --model=*) model=${word#*=} ;;
    --store=*) store=${word#*=} ;;
    --label=canary) model=canary-$model ;;
  esac
done
from=%s/$(cat %s/day)/$model.json
id=$(cat "$from.id")
mkdir -p "$store/$(cat "$from.month")"
cp "$from" "$store/$(cat "$from.month")/$id.json"
"""


class Series:
    """The rate of a model on each day. `disturbed` maps each day on which other programs ran to the share of the rate
    that remains."""

    def __init__(self, model, cv, steps=(), drift=0.0, machine="a", canary=False, seed=1, level=200.0, disturbed=None):
        self.model, self.machine, self.canary, self.disturbed = model, machine, canary, disturbed or {}
        self._cv, self._steps, self._drift, self._level = cv, steps, drift, level
        self._random = random.Random(seed)

    def rate(self, day):
        value = self._level * math.exp(self._random.gauss(0, self._cv) + self._drift * day)
        for at, factor in self._steps:
            value *= factor if day >= at else 1
        value *= self.disturbed.get(day, 1)
        return round(value, 4)

    def name(self):
        return ("canary-" if self.canary else "") + self.model


def sealed(record):
    """Returns the record with the id of its content."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**record, "record_id": hashlib.sha256(text.encode()).hexdigest()[:16]}


def record(series, day, machine):
    start = (FIRST + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    load = {"load": {"busy_processes": [{"name": "make", "processors": 1.0}]}} if day in series.disturbed else {}
    return sealed({
        **load, "schema": "bench.record/2", "status": "ok", "reason": "nightly",
        "label": "canary" if series.canary else "nightly",
        "time": {"start_utc": start, "end_utc": start},
        "workload": {"model": series.model, "mode": "train", "batch_per_device": 32, "dtype": "f32"},
        "source": {"git_rev": "f00" if series.canary else f"{int(day):07x}", "dirty": False},
        "host": {"hostname": machine, "container": "none", "kernel": "6.1.0-28" if day < 100 else "6.1.0-31"},
        "cpu": {"model": f"CPU of {machine}"},
        "metrics": [{"name": "images_per_sec", "value": series.rate(day), "unit": "images/s", "better": "higher",
                     "kind": "noisy"}]})


class Days:
    """Runs tools/nightly in `folder`, one day after the other."""

    def __init__(self, folder, results, machine_of):
        self._folder, self._results, self._machine_of = folder, results, machine_of
        stand_in = folder / "bench"
        stand_in.write_text(STAND_IN % (shlex.quote(str(folder)), shlex.quote(str(folder))))
        stand_in.chmod(0o755)

    def run(self, day, all_series, *options):
        """Returns the script's output and exit status. A day may be a fraction: an hour of that day."""
        place = self._folder / str(day)
        place.mkdir()
        (self._folder / "day").write_text(str(day))
        lines, canary = [], False
        for series in all_series:
            made = record(series, day, self._machine_of(series, day))
            file = place / f"{series.name()}.json"
            file.write_text(json.dumps(made))
            pathlib.Path(f"{file}.id").write_text(made["record_id"])
            pathlib.Path(f"{file}.month").write_text(made["time"]["start_utc"][:7].replace("-", "/"))
            if series.canary:
                canary = True
                lines.insert(0, f"--model={series.model}")
            elif f"--model={series.model}" not in lines:
                lines.append(f"--model={series.model}")
        (self._folder / "workloads").write_text("# made up\n" + "\n".join(lines) + "\n")
        bench = self._folder / "bench"
        command = ["sh", str(NIGHTLY), f"--bench={bench}", f"--results={self._results}", "--repeats=1",
                   f"--store={self._folder / 'store'}/", f"--workloads={self._folder / 'workloads'}",
                   f"--output={self._folder / 'report'}"] + ([f"--canary={bench}"] if canary else [])
        command += options
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def report(self):
        return json.loads((self._folder / "report" / "report.json").read_text())
