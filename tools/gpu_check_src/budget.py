"""Divides the time among the parts."""

import time
from typing import Callable, Mapping


class Budget:
    """Gives each part a share of the remaining time, by its weight among the parts that have not begun. Later parts can
    use the time that a part leaves."""

    def __init__(self, seconds: float, weights: Mapping[str, float],
                 clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._end = clock() + seconds
        self._weights = dict(weights)
        self._part_end = self._end

    def begin(self, part: str) -> None:
        left = self.left_of_all()
        share = self._weights[part] / sum(self._weights.values())
        del self._weights[part]
        self._part_end = self._clock() + left * share

    def left(self) -> float:
        """Returns the seconds that the current part has."""
        return max(0.0, self._part_end - self._clock())

    def left_of_all(self) -> float:
        return max(0.0, self._end - self._clock())
