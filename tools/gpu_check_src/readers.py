"""Converts program output to numbers."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence

_SUITE_SIZE = re.compile(r"^\[=+\] Running (\d+) tests? from")
_SUITE_END = re.compile(r"^\[=+\] \d+ tests? from .* ran\.")
_TEST = re.compile(r"^\[ *(RUN|OK|FAILED|SKIPPED) *\] ([\w/.]+)")
_VERIFIED = re.compile(r"^(\S+) +(\S+) +(\d+) +([\d.]+) % +(.*)$")
# Only models that a GPU runs, whole or in part.
_RATES = ("images_per_sec", "tokens_per_sec", "examples_per_sec")
_MODEL = re.compile(r"^(\S+) +(\S+) +(\d+) +(\d+) +\d+ +[\d.]+ +(?!not )(?:\w+ )*gpu\b")


@dataclass
class Suite:
    """The output of a GoogleTest process, which may have been killed."""
    tests: int = 0
    passed: set[str] = field(default_factory=set)
    # In the order in which they ended.
    failed: dict[str, None] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    # Tests that began but did not end.
    open: str = ""
    # The number of processes that ran all of their tests.
    ended: int = 0

    def read(self, line: str) -> None:
        if size := _SUITE_SIZE.match(line):
            self.tests = int(size[1])
        self.ended += bool(_SUITE_END.match(line))
        if not (test := _TEST.match(line)) or "." not in test[2]:
            return
        kind, name = test[1], test[2]
        if kind == "RUN":
            self.open = name
            return
        if kind == "FAILED":
            self.failed[name] = None
        else:
            (self.passed if kind == "OK" else self.skipped).add(name)
        self.open = ""

    def add(self, other: "Suite") -> None:
        self.tests += other.tests
        self.ended += other.ended
        self.passed |= other.passed
        self.failed |= other.failed
        self.skipped |= other.skipped

    @property
    def done(self) -> int:
        return len(self.passed) + len(self.failed) + len(self.skipped)

    @property
    def left(self) -> int:
        """Returns the number of tests that did not begin."""
        return self.tests - self.done - bool(self.open)


def suite_of(lines: Sequence[str]) -> Suite:
    suite = Suite()
    for line in lines:
        suite.read(line)
    return suite


def verified(lines: Sequence[str]) -> dict[str, str]:
    """Returns the verdicts of `bench --verify`, by model and dataset."""
    rows = (_VERIFIED.match(line) for line in lines)
    return {f"{row[1]} {row[2]}": row[5] for row in rows if row}


@dataclass(frozen=True)
class Model:
    name: str
    dataset: str
    batch: int


def models(lines: Sequence[str]) -> list[Model]:
    """Returns the models of `bench --list_models` that a GPU runs."""
    rows = (_MODEL.match(line) for line in lines)
    return [Model(row[1], row[2], int(row[4])) for row in rows if row]


class NoRateError(RuntimeError):
    """A run gave no images per second, or no losses. The message gives the reason."""


def _good_record(path: Path) -> dict[str, Any]:
    """Throws NoRateError for a run that failed."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise NoRateError(f"cannot read the record: {error}") from error
    if record["status"] != "ok":
        raise NoRateError(f"{record['status']}: {record['status_reason']}")
    return record


def losses(path: Path) -> list[float]:
    """Returns the loss of each step of a record. Throws NoRateError."""
    found = _good_record(path)["series"]["loss"]
    if not found:
        raise NoRateError("the record has no losses")
    return found


def bench_rate(path: Path) -> float:
    """Returns images per second of a record, or what the model counts instead. Throws NoRateError."""
    record = _good_record(path)
    rates = [metric["value"] for metric in record["metrics"] if metric["name"] in _RATES]
    if not rates or not rates[0]:
        raise NoRateError("the record has no images_per_sec")
    return float(rates[0])


def card_of(path: Path) -> str:
    """Returns the name of a record's first GPU, or an empty string."""
    gpus = json.loads(path.read_text(encoding="utf-8")).get("gpu") or [{}]
    return gpus[0].get("name") or ""


def torch_rate(lines: Sequence[str]) -> float:
    """Returns images per second from torch_cnn.py's last line. Throws NoRateError."""
    for line in reversed(lines):
        if line.startswith("{"):
            try:
                return float(json.loads(line)["images_per_sec"])
            except (json.JSONDecodeError, KeyError) as error:
                raise NoRateError(f"cannot read the line of JSON: {error}") from error
    raise NoRateError("the program printed no line of JSON")


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Returns the differences between two descriptions of a card, ignoring fields that identify the individual card."""
    own = {"deviceName", "pciDeviceId", "cudaDeviceId", "driverVer"}
    return [f"{name}: ours is {ours.get(name)}, cuDNN's is {theirs.get(name)}"
            for name in sorted({*ours, *theirs} - own) if ours.get(name) != theirs.get(name)]
