"""The input and output of every part."""

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
    UNFINISHED = "not finished in time"
    SKIPPED = "skipped"
    NOT_REACHED = "not reached"


@dataclass(frozen=True)
class Verdict:
    state: State
    # The result, in one line.
    summary: str


# Flags without fusion in cuDNN, tuning and recorded steps.
SAFE = ("--conv_statistics=false", "--conv_prologue=false", "--autotune=off", "--cuda_graph=off")
# Time limit of the shortest commands.
SHORT_SECONDS = 20


class PartError(RuntimeError):
    """A part cannot continue. The message gives the reason."""


class HopelessError(PartError):
    """The check ends, because no later part can succeed."""


def _ignore(line: str) -> None:
    del line


@dataclass
class Check:
    machine: Machine
    runner: Runner
    log: Log
    budget: Budget
    # Folder for the log and other results.
    output: Path
    # Medians of images per second, of bench and the programs that it is compared with, by name.
    rates: dict[str, float] = field(default_factory=dict)
    # The name of the card that bench computed on. Empty before the first run.
    card: str = ""

    def say(self, line: str = "") -> None:
        self.log.say(line)

    def left(self) -> float:
        return self.budget.left()

    def ours(self, program: str, *flags: str, limit: float | None = None, name: str = "",
             environment: dict[str, str] | None = None,
             on_line: Callable[[str], None] = _ignore) -> Outcome:
        """Runs one of our programs within the part's remaining time. Its kernel timings are cached next to the log, so
        that timings of other versions have no influence."""
        own = {"BENCH_CACHE_DIR": str((self.output / "cache").resolve())}
        return self.runner.run([self.machine.program(program), *flags], self._within(limit),
                               {**self.machine.environment(), **own, **(environment or {})}, on_line, name)

    def models(self) -> list[Model]:
        """Returns all networks. Throws PartError."""
        outcome = self.ours("bench", "--list_models", limit=SHORT_SECONDS)
        found = models(outcome.lines)
        if not outcome.ended_well or not found:
            raise PartError(f"bench --list_models: {'it printed no models' if outcome.ended_well else outcome.why()}")
        return found

    def speed(self, flags: Sequence[str], limit: float | None = None, keep: str | None = None) -> float:
        """Returns images per second of a run of bench, or what the model counts instead. Keeps the record if `keep` gives a name. Throws NoRateError."""
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
        """Returns images per second of PyTorch, if it is available. Throws NoRateError."""
        outcome = self.runner.run([self.machine.torch_python or "python3", "-B", script, *flags], self._within(limit))
        if not outcome.ended_well:
            raise NoRateError(outcome.why())
        return torch_rate(outcome.lines)

    def _within(self, limit: float | None) -> float:
        return self.left() if limit is None else min(limit, self.left())
