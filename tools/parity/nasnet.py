"""NASNet-A as published (Zoph et al., arXiv:1707.07012): mobile, large and CIFAR."""

from dataclasses import dataclass, field
from typing import Callable, NamedTuple

import torch.nn.functional as F
from torch import Tensor

from .layers import Layers, Padding, avg_pool, concat, max_pool, spatial_mean


@dataclass(frozen=True)
class Config:
    cells: int
    filters: int
    stem_filters: int
    # Two reduction cells as a stem, after a 3x3 convolution of stride 2 (CIFAR: stride 1, no reduction cells).
    stem_cells: bool
    # A normal cell after a reduction uses the input of the cell before the reduction.
    skip_reduction_input: bool = False
    epsilon: float = 1e-3


class Term(NamedTuple):
    """Applies an operation to one of a cell's states: sep3, sep5, sep7, avg, max or id."""
    operation: str
    state: int


# States 0 and 1 are the adapted inputs h0 and h1. Each pair adds one state, their sum.
_NORMAL = ((Term("sep5", 0), Term("sep3", 1)), (Term("sep5", 1), Term("sep3", 1)),
           (Term("avg", 0), Term("id", 1)), (Term("avg", 1), Term("avg", 1)),
           (Term("sep3", 0), Term("id", 0)))
_REDUCTION = ((Term("sep5", 0), Term("sep7", 1)), (Term("max", 0), Term("sep7", 1)),
              (Term("avg", 0), Term("sep5", 1)), (Term("id", 3), Term("avg", 2)),
              (Term("sep3", 2), Term("max", 0)))


@dataclass
class _Builder:
    net: Layers
    epsilon: float

    def norm(self, x: Tensor) -> Tensor:
        return self.net.norm(self.net.next("bn"), x, self.epsilon, scale=True)

    def conv(self, x: Tensor, channels: int, kernel: int, stride: int = 1, groups: int = 1,
             padding: Padding = "same") -> Tensor:
        return self.net.conv(self.net.next("conv"), x, channels, kernel, stride, padding=padding,
                             groups=groups, bias=False)

    def point(self, x: Tensor, channels: int) -> Tensor:
        return self.norm(self.conv(x, channels, 1))

    def separable(self, x: Tensor, channels: int, kernel: int, stride: int) -> Tensor:
        for step in (stride, 1):
            x = self.conv(F.relu(x), x.shape[1], kernel, step, groups=x.shape[1])
            x = self.point(x, channels)
        return x

    def halve(self, x: Tensor, channels: int) -> Tensor:
        """Factorized reduction: even and odd pixels, each to half of the channels."""
        shifted = F.pad(x, (0, 1, 0, 1))[:, :, 1:, 1:]
        parts = [self.conv(part[:, :, ::2, ::2], count, 1)
                 for part, count in ((x, channels // 2), (shifted, channels - channels // 2))]
        return self.norm(concat(parts))

    def adapt(self, previous: Tensor | None, x: Tensor, channels: int) -> Tensor:
        if previous is None:
            return x
        if previous.shape[2] != x.shape[2]:
            return self.halve(F.relu(previous), channels)
        if previous.shape[1] != channels:
            return self.point(F.relu(previous), channels)
        return previous

    def term(self, term: Term, states: list[Tensor], channels: int, stride: int) -> Tensor:
        x = states[term.state]
        step = stride if term.state < 2 else 1
        if term.operation.startswith("sep"):
            return self.separable(x, channels, int(term.operation[3:]), step)
        if term.operation == "id":
            return x if x.shape[1] == channels and step == 1 else self.strided(x, channels, step)
        pool = avg_pool if term.operation == "avg" else max_pool
        y = pool(x, 3, step, "same")
        return y if y.shape[1] == channels else self.point(y, channels)

    def strided(self, x: Tensor, channels: int, stride: int) -> Tensor:
        return self.norm(self.conv(F.relu(x), channels, 1, stride))

    def cell(self, x: Tensor, previous: Tensor | None, channels: int, reduce: bool) -> Tensor:
        h1 = self.adapt(previous, x, channels)
        h0 = self.point(F.relu(x), channels)
        states = [h0, h1]
        for left, right in _REDUCTION if reduce else _NORMAL:
            stride = 2 if reduce else 1
            a = self.term(left, states, channels, stride)
            states.append(a + self.term(right, states, channels, stride))
        if reduce:
            return concat(states[3:])
        # The first CIFAR cell's h1 is the stem's output, which has another width.
        if h1.shape[1] != channels:
            states[1] = self.point(h1, channels)
        return concat(states[1:])


@dataclass
class _Network:
    """Applies the cells. The inputs of each are the two previous outputs."""
    build: _Builder
    config: Config
    outputs: list[Tensor | None] = field(default_factory=list)

    def stem(self, images: Tensor) -> None:
        stride, padding = (2, "valid") if self.config.stem_cells else (1, "same")
        x = self.build.conv(images, self.config.stem_filters, 3, stride, padding=padding)
        self.outputs = [None, self.build.norm(x)]
        if self.config.stem_cells:
            for scale in (4, 2):
                self.add(self.outputs[-2], self.config.filters // scale, reduce=True)

    def add(self, previous: Tensor | None, channels: int, reduce: bool) -> None:
        self.outputs.append(self.build.cell(self.outputs[-1], previous, channels, reduce))

    def cells(self) -> None:
        channels = self.config.filters
        reductions = [self.config.cells * part // 3 for part in (1, 2)]
        for number in range(self.config.cells):
            skipped = self.outputs[-2]
            if number in reductions:
                channels *= 2
                self.add(self.outputs[-2], channels, reduce=True)
            skip = self.config.skip_reduction_input
            self.add(skipped if skip else self.outputs[-2], channels, reduce=False)


def nasnet(config: Config) -> Callable[[Layers, Tensor], Tensor]:
    def define(net: Layers, x: Tensor) -> Tensor:
        network = _Network(_Builder(net, config.epsilon), config)
        network.stem(x)
        network.cells()
        return net.head(spatial_mean(F.relu(network.outputs[-1])))

    return define


MOBILE = Config(cells=12, filters=44, stem_filters=32, stem_cells=True)
LARGE = Config(cells=18, filters=168, stem_filters=96, stem_cells=True, skip_reduction_input=True)
CIFAR = Config(cells=18, filters=32, stem_filters=96, stem_cells=False, epsilon=1e-5)
