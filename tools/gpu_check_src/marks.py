"""What a card has to reach, and whether it did."""

from typing import Callable, Mapping

from .check import State, Verdict

_TIMES_TORCH = 1.3
_IMAGES_PER_SECOND = 4500
# The keys of speed.against_torch's medians.
BENCH = "bench"
TORCH_EAGER = "torch eager"
TORCH_COMPILED = "torch compiled"

Verdicts = Mapping[str, Verdict]
Rates = Mapping[str, float]


def _whole_conformance(verdicts: Verdicts, rates: Rates) -> tuple[bool | None, str]:
    del rates
    verdict = verdicts.get("conformance")
    if verdict is None:
        return None, "the part conformance was not asked for"
    if verdict.state in (State.PASSED, State.FAILED):
        return verdict.state is State.PASSED, verdict.summary
    return None, f"{verdict.state.value}: {verdict.summary}"


def _against_torch(verdicts: Verdicts, rates: Rates) -> tuple[bool | None, str]:
    del verdicts
    missing = [name for name in (BENCH, TORCH_EAGER, TORCH_COMPILED) if name not in rates]
    if missing:
        return None, f"there is no rate of {', '.join(missing)}"
    better = max((TORCH_EAGER, TORCH_COMPILED), key=rates.__getitem__)
    times = rates[BENCH] / rates[better]
    return times >= _TIMES_TORCH, f"{times:.2f} times {better}, {rates[BENCH]:.0f} to {rates[better]:.0f} images/s"


def _by_itself(verdicts: Verdicts, rates: Rates) -> tuple[bool | None, str]:
    del verdicts
    if BENCH not in rates:
        return None, "there is no rate of bench"
    return rates[BENCH] >= _IMAGES_PER_SECOND, f"{rates[BENCH]:.0f} images/s"


_MARKS: dict[str, Callable[[Verdicts, Rates], tuple[bool | None, str]]] = {
    "conformance is whole": _whole_conformance,
    f"ResNet-50 v1.5 trains in f16 at least {_TIMES_TORCH} times as fast as the better of torch's two": _against_torch,
    f"and with at least {_IMAGES_PER_SECOND} images/s": _by_itself,
}


def marks(verdicts: Verdicts, rates: Rates) -> list[str]:
    """A line for each: what it is, whether it was reached, and by how much."""
    lines = []
    for name, judge in _MARKS.items():
        reached, why = judge(verdicts, rates)
        word = "not measured" if reached is None else "passed" if reached else "missed"
        lines.append(f"{word}: {name}: {why}")
    return lines
