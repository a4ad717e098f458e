"""Defines the marks that a card must reach, and checks them."""

from dataclasses import dataclass
from typing import Callable, Mapping

from .check import State, Verdict

_TIMES_TORCH = 1.3
# This mark is for this card only, by its driver's name. Related cards have other clocks and power limits.
_CARD = "NVIDIA H200"
_IMAGES_PER_SECOND = 4500
# The keys of speed.against_torch's medians.
BENCH = "bench"
TORCH_EAGER = "torch eager"
TORCH_COMPILED = "torch compiled"

_NOT_MEASURED = "not measured"
_NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Found:
    """The results of the parts."""
    verdicts: Mapping[str, Verdict]
    rates: Mapping[str, float]
    # The name of the card that the rates are of. Empty if unknown.
    card: str


def _judged(reached: bool) -> str:
    return "passed" if reached else "missed"


def _whole_conformance(found: Found) -> tuple[str, str]:
    verdict = found.verdicts.get("conformance")
    if verdict is None:
        return _NOT_MEASURED, "the part conformance was not selected"
    if verdict.state in (State.PASSED, State.FAILED):
        return _judged(verdict.state is State.PASSED), verdict.summary
    return _NOT_MEASURED, f"{verdict.state.value}: {verdict.summary}"


def _against_torch(found: Found) -> tuple[str, str]:
    rates = found.rates
    missing = [name for name in (BENCH, TORCH_EAGER, TORCH_COMPILED) if name not in rates]
    if missing:
        return _NOT_MEASURED, f"missing rates: {', '.join(missing)}"
    better = max((TORCH_EAGER, TORCH_COMPILED), key=rates.__getitem__)
    times = rates[BENCH] / rates[better]
    return (_judged(times >= _TIMES_TORCH),
            f"{times:.2f} times {better} ({rates[BENCH]:.0f} and {rates[better]:.0f} images/s)")


def _by_itself(found: Found) -> tuple[str, str]:
    if BENCH not in found.rates:
        return _NOT_MEASURED, "missing rate: bench"
    rate = found.rates[BENCH]
    if found.card != _CARD:
        card = found.card or "whose name is unknown"
        return _NOT_JUDGED, f"{rate:.0f} images/s were measured on another card, {card}"
    return _judged(rate >= _IMAGES_PER_SECOND), f"{rate:.0f} images/s"


_MARKS: dict[str, Callable[[Found], tuple[str, str]]] = {
    "all conformance tests pass": _whole_conformance,
    f"ResNet-50 v1.5 trains in f16 at least {_TIMES_TORCH} times as fast as torch, eager or compiled": _against_torch,
    f"ResNet-50 v1.5 trains in f16 with at least {_IMAGES_PER_SECOND} images/s on an {_CARD}": _by_itself,
}


def marks(found: Found) -> list[str]:
    """Returns a line for each mark: whether it was reached, its definition, and the margin."""
    lines = []
    for name, judge in _MARKS.items():
        word, why = judge(found)
        lines.append(f"{word}: {name}: {why}")
    return lines
