"""How the time is divided among the parts."""

import time
from typing import Callable, Mapping


class Budget:
    """Each part has the share of the time that is left when it begins, by its weight among those that have
    not begun. So what one part does not use is for the next ones."""

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
        """Seconds of the part that has begun."""
        return max(0.0, self._part_end - self._clock())

    def left_of_all(self) -> float:
        return max(0.0, self._end - self._clock())
