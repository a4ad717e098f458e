#!/usr/bin/env python3
"""Runs the same workload in `bench` and its peers, process by process in turn, and prints a table.

    compare.py --model=resnet50_v1.5 --mode=train --dtype=f32 --batch=32 --threads=2 \\
        --torch_python=TORCH_ENV/bin/python --tensorflow_python=TF_ENV/bin/python --out=sitting.json

A short screening selects the fastest settings of each side. See README.md.
"""

import argparse
import dataclasses
import json
import os
import platform
import signal
import sys
import time
from pathlib import Path
from typing import Any, Sequence

from peerlib.processes import Run, RunFailedError
from peerlib.sides import Sides, Tools, python_of
from peerlib.table import Contestant, format_table
from peerlib.variants import PEERS, Variant, variants_of
from peerlib.work import NotSupportedError, Work, add_flags, work_of

_ROOT = Path(__file__).resolve().parents[2]
_INTERRUPTED = 130
# Environment variables that the comparison sets, from --threads and from the settings.
_OWN_VARIABLES = ("OMP_NUM_THREADS", "GLIBC_TUNABLES")
_SHORT = {"tensorflow": "tf", "onnxruntime": "ort"}


def _interrupt(number: int, frame: object) -> None:
    """Makes SIGTERM end a comparison like Ctrl-C. The processes that it started are in separate sessions and would
    survive it."""
    del number, frame
    raise KeyboardInterrupt


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    work = parser.add_argument_group("workload")
    add_flags(work)
    how = parser.add_argument_group("comparison")
    how.add_argument("--peers", default=",".join(PEERS), help="peers, separated by commas")
    how.add_argument("--rounds", type=int, default=6, help="process runs of each contestant")
    how.add_argument("--keep", choices=("best_of_each", "best_peer", "all"), default="best_of_each",
                     help="settings that the screening passes on to the rounds")
    how.add_argument("--settings", default="", help="SIDE:NAME,...: use these settings without screening")
    how.add_argument("--screen_steps", type=int, default=3)
    how.add_argument("--screen_warmup", type=int, default=2)
    how.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                     help="environment variable of every process; may be repeated")
    how.add_argument("--timeout", type=float, default=1800, help="time limit of one process, in seconds")
    how.add_argument("--out", type=Path, help="JSON file for all measurements, updated during the comparison")
    tools = parser.add_argument_group("programs")
    tools.add_argument("--bench", type=Path, default=_ROOT / "build/release/bin/bench")
    tools.add_argument("--bench_flags", default="", help="more flags for bench, separated by spaces")
    for peer in PEERS:
        short = [f"--{_SHORT[peer]}_python"] if peer in _SHORT else []
        tools.add_argument(f"--{peer}_python", *short,
                           help=f"interpreter; default: $BENCH_{peer.upper()}_PYTHON, or this one")
    tools.add_argument("--work_folder", type=Path, default=_ROOT / "build/peers",
                       help="folder for exported networks")
    tools.add_argument("--twins", type=Path, help="folder that contains parity/")
    options = parser.parse_args(arguments)
    unknown = set(options.peers.split(",")) - {*PEERS, ""}
    if unknown:
        parser.error(f"--peers={','.join(sorted(unknown))}: unknown peer; accepted: {', '.join(PEERS)}")
    for item in options.env:
        if "=" not in item:
            parser.error("--env: write NAME=VALUE")
        if item.partition("=")[0] in _OWN_VARIABLES:
            parser.error(f"--env={item}: the comparison sets this variable; --threads and the settings choose its value")
    folder = options.out and options.out.parent
    if folder and (options.out.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK)):
        parser.error(f"--out={options.out}: expected a file in a writable folder")
    if options.rounds < 1:
        parser.error(f"--rounds={options.rounds}: at least 1 is accepted")
    return options


def _tools(options: argparse.Namespace) -> Tools:
    pythons = {peer: python_of(peer, getattr(options, f"{peer}_python")) for peer in PEERS}
    return Tools(options.bench, pythons, options.work_folder,
                 dict(item.split("=", 1) for item in options.env), options.timeout,
                 tuple(options.bench_flags.split()), options.twins)


def _host() -> dict[str, Any]:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return {"cpu": names[0] if names else None, "processors": os.cpu_count(),
            "kernel": platform.release(), "load": os.getloadavg(),
            "preload": os.environ.get("LD_PRELOAD"), "time": time.time()}


@dataclasses.dataclass(frozen=True)
class Screened:
    """The images/s of a setting in short runs."""

    side: str
    variant: Variant
    rates: list[float]


class Sitting:
    """One comparison with its measurements so far."""

    def __init__(self, sides: Sides, work: Work, out: Path | None):
        self._sides = sides
        self._out = out
        self.work = work
        self.host = _host()
        self.screened: list[dict[str, Any]] = []
        # side and settings -> by round
        self.runs: dict[tuple[str, str], list[Run | None]] = {}
        # side and settings -> why
        self.skipped: dict[tuple[str, str], str] = {}

    def _attempt(self, side: str, variant: Variant, work: Work, stage: str) -> Run | None:
        """Returns None after a failure. The reason is recorded, and the comparison continues."""
        where = f"{stage} {side} {variant.name}"
        try:
            run = self._sides.run(side, variant, work)
        except RunFailedError as error:
            print(f"{where}: {error}", file=sys.stderr, flush=True)
            self.skipped[side, variant.name] = str(error)
            return None
        print(f"{where}: {run.images_per_second:.2f} {work.examples}/s", file=sys.stderr, flush=True)
        return run

    def screen(self, sides: Sequence[str], steps: int, warmup: int) -> dict[str, list[Screened]]:
        """Runs all settings of the sides twice, the second time in the opposite order. Returns those that ran."""
        work = dataclasses.replace(self.work, steps=steps, warmup=warmup)
        found = [Screened(side, variant, []) for side in sides
                 for variant in variants_of(side, self.work)]
        for number in (1, 2):
            for setting in found:
                run = self._attempt(setting.side, setting.variant, work, f"screening {number} of 2")
                if run is not None:
                    setting.rates.append(run.images_per_second)
                    self.screened.append({"side": setting.side, "settings": setting.variant.name,
                                          **dataclasses.asdict(run)})
                    self.save()
            found = [setting for setting in reversed(found) if len(setting.rates) == number]
        return {side: [setting for setting in found if setting.side == side] for side in sides}

    def compare(self, entries: Sequence[tuple[str, Variant]], rounds: int) -> None:
        """Runs all in turn, every second round in the opposite order, so that a drift of the machine affects all
        alike."""
        self.runs = {(side, variant.name): [] for side, variant in entries}
        for number in range(rounds):
            for side, variant in entries if number % 2 == 0 else reversed(entries):
                run = self._attempt(side, variant, self.work, f"round {number + 1} of {rounds}")
                self.runs[side, variant.name].append(run)
                self.save()

    def contestants(self) -> list[Contestant]:
        return [Contestant(side, name, runs) for (side, name), runs in self.runs.items()]

    def save(self) -> bool:
        """Returns false after a message if the file cannot be written."""
        if self._out is None:
            return True
        rows = [{"side": c.side, "settings": c.settings,
                 "runs": [run and dataclasses.asdict(run) for run in c.runs]}
                for c in self.contestants()]
        text = json.dumps({"work": dataclasses.asdict(self.work), "host": self.host,
                           "screened": self.screened, "compared": rows,
                           "skipped": [{"side": side, "settings": name, "reason": reason}
                                       for (side, name), reason in self.skipped.items()]},
                          indent=1)
        part = self._out.with_name(f"{self._out.name}.part")
        try:
            part.write_text(text)
            part.replace(self._out)
        except OSError as error:
            print(f"cannot write {self._out}: {error.strerror}", file=sys.stderr, flush=True)
            return False
        return True

    def text(self) -> str:
        work = self.work
        size = f", {work.image_size} x {work.image_size}" if work.image_size else ""
        title = (f"{work.model}, {'training' if work.training else 'inference'}, {work.dtype}, "
                 f"batch {work.batch}, {work.threads} threads{size}; {work.steps} steps a run "
                 f"after {work.warmup}; {self.host['cpu']}")
        lines = [title]
        if any(self.runs.values()):
            lines.append(format_table(self.contestants(), work.examples))
        elif self.screened:
            lines += ["screening only:", *(f"{row['side']} {row['settings']}: "
                                           f"{row['images_per_second']:.2f} {work.examples}/s"
                                           for row in self.screened)]
        together: dict[tuple[str, str], list[str]] = {}
        for (side, name), reason in self.skipped.items():
            together.setdefault((side, reason), []).append(name)
        lines += [f"skipped: {side} {', '.join(names)}: {reason}"
                  for (side, reason), names in together.items()]
        return "\n".join(lines)


def _chosen(options: argparse.Namespace, work: Work) -> list[tuple[str, Variant]]:
    """Returns what --settings names. Throws NotSupportedError for unknown names."""
    entries = []
    for item in options.settings.split(","):
        side, _, name = item.partition(":")
        known = variants_of(side, work) if side in ("ours", *PEERS) else []
        match = [variant for variant in known if variant.name == name]
        if not match:
            names = " ".join(variant.name for variant in known)
            raise NotSupportedError(f"--settings={item}: unknown settings; accepted for {side}: {names or 'none'}")
        entries.append((side, match[0]))
    return entries


def _may_be_fastest(found: Sequence[Screened]) -> list[Screened]:
    """Returns the settings that are within the noise of the fastest one: one of their runs was as fast as its slowest."""
    least = min(max(found, key=lambda setting: max(setting.rates)).rates)
    return [setting for setting in found if max(setting.rates) >= least]


def _screened(options: argparse.Namespace, sitting: Sitting) -> list[tuple[str, Variant]]:
    """Returns our settings first, then those of the peers that continue; of each side, the fastest first."""
    sides = ("ours", *(peer for peer in PEERS if peer in options.peers.split(",")))
    screened = {side: sorted(found, key=lambda setting: -max(setting.rates)) for side, found in
                sitting.screen(sides, options.screen_steps, options.screen_warmup).items() if found}
    if options.keep != "all":
        screened = {side: _may_be_fastest(found) for side, found in screened.items()}
    if options.keep == "best_peer":
        peers = sorted((side for side in screened if side != "ours"),
                       key=lambda side: -max(screened[side][0].rates))
        screened = {side: found for side, found in screened.items() if side in ("ours", *peers[:1])}
    return [(side, setting.variant) for side, found in screened.items() for setting in found]


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    try:
        work = work_of(options)
        entries = _chosen(options, work) if options.settings else None
    except NotSupportedError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    sitting = Sitting(Sides(_tools(options)), work, options.out)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        sitting.compare(entries or _screened(options, sitting), options.rounds)
    except KeyboardInterrupt:
        print("interrupted; results so far:", file=sys.stderr)
        print(sitting.text())
        sitting.save()
        return _INTERRUPTED
    print(sitting.text())
    saved = sitting.save()
    ran = {c.side for c in sitting.contestants() if c.good()}
    return 0 if saved and "ours" in ran and len(ran) > 1 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
