"""Compares our numbers and PyTorch's with PyTorch's in float64."""

from dataclasses import dataclass
from enum import Enum
from typing import Iterable, Sequence

import numpy as np

from .numbers import Arrays

FLOAT_EPSILON = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Limits:
    # Our error may be this many times PyTorch's error in float32.
    factor: float
    # A relative error up to this many float32 epsilons passes, whatever PyTorch's error is.
    epsilons: float
    # An error of a gradient up to this fraction of the norm of all gradients passes.
    floor: float


class Verdict(Enum):
    OK = "ok"
    WITHIN_EPSILONS = "within a few epsilons"
    UNDER_FLOOR = "under the floor"
    FAILED = "FAILED"


@dataclass(frozen=True)
class Quantity:
    """The comparison of one tensor. Errors are ||a - b|| / ||b|| in the 2-norm, where b is PyTorch's in float64."""
    name: str
    ours: float
    torch: float
    verdict: Verdict

    @property
    def ratio(self) -> float:
        """Returns our error divided by PyTorch's; 0 if neither has one."""
        if self.ours == 0:
            return 0.0
        return self.ours / self.torch if self.torch > 0 else float("inf")


class MismatchError(ValueError):
    """The two sides did not compute the same tensors."""


def _norm(array: np.ndarray) -> float:
    return float(np.linalg.norm(array.astype(np.float64).ravel()))


def _relative(error: float, norm: float) -> float:
    if norm > 0:
        return error / norm
    return 0.0 if error == 0 else float("inf")


def _check_names(ours: Arrays, exact: Arrays) -> None:
    missing, extra = sorted(set(exact) - set(ours)), sorted(set(ours) - set(exact))
    if missing or extra:
        raise MismatchError(f"only in PyTorch: {missing}; only in bench: {extra}")
    shapes = [f"{name}: ours {ours[name].shape}, PyTorch {exact[name].shape}"
              for name in exact if ours[name].size != exact[name].size or
              (ours[name].ndim > 1 and ours[name].shape != exact[name].shape)]
    if shapes:
        raise MismatchError("; ".join(shapes))


def _judge(ours: float, torch: float, norm: float, total: float, limits: Limits) -> Verdict:
    """Judges absolute errors. `total` is the norm of all gradients, 0 for tensors that are not gradients."""
    if not np.isfinite(ours):
        return Verdict.FAILED
    if ours <= limits.epsilons * FLOAT_EPSILON * norm:
        return Verdict.WITHIN_EPSILONS
    if ours <= limits.factor * torch:
        return Verdict.OK
    return Verdict.UNDER_FLOOR if ours <= limits.floor * total else Verdict.FAILED


def compare(ours: Arrays, singles: Sequence[Arrays], exact: Arrays,
            limits: Limits) -> dict[str, Quantity]:
    """Returns a Quantity per tensor of `exact`. `singles` are PyTorch's float32 runs, of which the worst counts. Throws
    MismatchError if names or shapes differ."""
    _check_names(ours, exact)
    gradients = [name for name in exact if name.startswith("grad/")]
    total = float(np.sqrt(sum(_norm(exact[name]) ** 2 for name in gradients)))
    result = {}
    for name, value in exact.items():
        norm, flat = _norm(value), value.ravel()
        own = _norm(ours[name].astype(np.float64).ravel() - flat)
        theirs = max(_norm(single[name].ravel() - flat) for single in singles)
        verdict = _judge(own, theirs, norm, total if name in gradients else 0.0, limits)
        result[name] = Quantity(name, _relative(own, norm), _relative(theirs, norm), verdict)
    return result


def worst(quantities: Iterable[Quantity]) -> Quantity | None:
    """Returns the worst quantity, or None. Failed ones come first, then those that were judged by their ratio, then the
    largest ratio."""
    return max(quantities, default=None,
               key=lambda q: (q.verdict is Verdict.FAILED, q.verdict is Verdict.OK, q.ratio))
