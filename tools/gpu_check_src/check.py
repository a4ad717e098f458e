"""What every part is given, and what it gives back."""

import enum
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Sequence

from .budget import Budget
from .machine import Machine
from .readers import Model, NoRateError, bench_rate, card_of, models, torch_rate
from .runner import Log, Outcome, Runner


class State(enum.Enum):
    PASSED = "passed"
    FAILED = "FAILED"
    UNFINISHED = "not finished in its time"
    SKIPPED = "skipped"
    NOT_REACHED = "not reached"


@dataclass(frozen=True)
class Verdict:
    state: State
    # What it found, in one line.
    summary: str


# Of the shortest commands.
SHORT_SECONDS = 20


class PartError(RuntimeError):
    """A part cannot go on; the message says why."""


def _ignore(line: str) -> None:
    del line


@dataclass
class Check:
    machine: Machine
    runner: Runner
    log: Log
    budget: Budget
    # For what is to be kept beside the log.
    output: Path
    # Images per second of bench and its rivals by name, as medians.
    rates: dict[str, float] = field(default_factory=dict)
    # The name of the card that bench computed on; empty: it has not yet.
    card: str = ""

    def say(self, line: str = "") -> None:
        self.log.say(line)

    def left(self) -> float:
        return self.budget.left()

    def ours(self, program: str, *flags: str, limit: float | None = None, name: str = "",
             environment: dict[str, str] | None = None,
             on_line: Callable[[str], None] = _ignore) -> Outcome:
        """Runs a program of ours, within what is left for the part. What it times and keeps for later runs is kept
        beside the log, so that earlier ones of other programs decide nothing."""
        own = {"BENCH_CACHE_DIR": str((self.output / "cache").resolve())}
        return self.runner.run([self.machine.program(program), *flags], self._within(limit),
                               {**self.machine.environment(), **own, **(environment or {})}, on_line, name)

    def models(self) -> list[Model]:
        """All networks. Throws PartError."""
        outcome = self.ours("bench", "--list_models", limit=SHORT_SECONDS)
        found = models(outcome.lines)
        if not outcome.ended_well or not found:
            raise PartError(f"bench --list_models: {'no list' if outcome.ended_well else outcome.why()}")
        return found

    def speed(self, flags: Sequence[str], limit: float | None = None, keep: str | None = None) -> float:
        """Images per second of a run of bench, whose record is kept under a name, if any. Throws NoRateError."""
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.json"
            outcome = self.ours("bench", "--device=gpu", *flags, f"--result_file={record}", limit=limit)
            if not outcome.ended_well:
                raise NoRateError(outcome.why())
            if keep is not None:
                shutil.copy(record, self.output / keep)
            rate = bench_rate(record)
            self.card = card_of(record)
            return rate

    def torch_speed(self, script: Path, flags: Sequence[str], limit: float | None = None) -> float:
        """The same of PyTorch, where there is one. Throws NoRateError."""
        outcome = self.runner.run([self.machine.torch_python or "python3", "-B", script, *flags], self._within(limit))
        if not outcome.ended_well:
            raise NoRateError(outcome.why())
        return torch_rate(outcome.lines)

    def _within(self, limit: float | None) -> float:
        return self.left() if limit is None else min(limit, self.left())
