"""Computes statistics of process runs, and prints the table."""

import statistics
from dataclasses import dataclass
from typing import Sequence

from .processes import Run

_MIB = 2**20
_SECONDS = "{:.2f}"


@dataclass(frozen=True)
class Contestant:
    side: str
    settings: str
    # By round. None if the process failed.
    runs: Sequence[Run | None]

    def good(self) -> list[Run]:
        return [run for run in self.runs if run is not None]


def mad(values: Sequence[float]) -> float:
    """Returns 1.4826 times the median distance from the median, which for normal values is their standard deviation."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median([abs(value - middle) for value in values])


def _median(runs: Sequence[Run], quantity: str) -> float | None:
    values = [getattr(run, quantity) for run in runs]
    return statistics.median(values) if values and None not in values else None


def _step_quantile(runs: Sequence[Run], percent: int) -> str:
    """Returns the median over the runs of a quantile of the step times, in milliseconds."""
    steps = [run.raw.get("step_seconds", []) for run in runs]
    if any(len(times) < 2 for times in steps):
        return "-"
    quantiles = [statistics.quantiles(times, n=100, method="inclusive")[percent - 1] for times in steps]
    return f"{1000 * statistics.median(quantiles):.2f}"


def _ratio(ours: float | None, theirs: float | None) -> str:
    return f"{ours / theirs:.3f}" if ours is not None and theirs else "-"


def round_ratios(ours: Contestant, other: Contestant) -> list[float]:
    """Returns the ratios of our images/s to the other's, for the rounds in which both ran."""
    return [a.images_per_second / b.images_per_second for a, b in zip(ours.runs, other.runs)
            if a is not None and b is not None]


def _own_cells(contestant: Contestant) -> list[str]:
    runs = contestant.good()
    if not runs:
        return [contestant.side, contestant.settings, "0", *["-"] * 8]
    rates = [run.images_per_second for run in runs]
    first = _median(runs, "first_step_seconds")
    return [contestant.side, contestant.settings, str(len(runs)),
            f"{statistics.median(rates):.2f}", f"{min(rates):.2f}..{max(rates):.2f}",
            f"{100 * mad(rates) / statistics.median(rates):.1f}",
            _step_quantile(runs, 50), _step_quantile(runs, 99),
            f"{_median(runs, 'peak_rss_bytes') / _MIB:.0f}",
            _SECONDS.format(_median(runs, "setup_seconds")),
            _SECONDS.format(first) if first is not None else "-"]


def _ratio_cells(ours: Contestant, other: Contestant) -> list[str]:
    if other is ours:
        return ["", "", "", ""]
    mine, theirs = ours.good(), other.good()
    rounds = round_ratios(ours, other)
    return [_ratio(_median(mine, "images_per_second"), _median(theirs, "images_per_second")),
            f"{min(rounds):.3f}..{max(rounds):.3f}" if rounds else "-",
            _ratio(_median(mine, "peak_rss_bytes"), _median(theirs, "peak_rss_bytes")),
            _ratio(_median(mine, "setup_seconds"), _median(theirs, "setup_seconds"))]


_HEADER = ["side", "settings", "runs", "{}/s", "min..max", "MAD %", "p50 ms", "p99 ms", "peak RSS MiB",
           "launch s", "1st step s", "ours/side", "by round", "RSS ours/side", "launch ours/side"]


def format_rows(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if column < 2 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def format_table(contestants: Sequence[Contestant], examples: str = "images") -> str:
    """Prints a row for each. `examples` is what a batch counts. Ratios are relative to the fastest of our settings, if
    one ran."""
    ours = max((c for c in contestants if c.side == "ours" and c.good()), default=None,
               key=lambda c: _median(c.good(), "images_per_second"))
    rows = [[title.format(examples) for title in _HEADER]]
    for contestant in contestants:
        ratios = _ratio_cells(ours, contestant) if ours else ["-"] * 4
        rows.append([*_own_cells(contestant), *ratios])
    return format_rows(rows)
