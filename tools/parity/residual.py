"""Residual networks: resnet v1, v1.5 and v2, official_resnet, the CIFAR resnets. Names are
torchvision's; in v2 a block's bn1 comes before its conv1, and the last batch norm is `bn2`."""

from dataclasses import dataclass
from typing import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor

from .layers import Layers, max_pool, spatial_mean

Define = Callable[[Layers, Tensor], Tensor]


@dataclass(frozen=True)
class Norm:
    epsilon: float
    scale: bool

    def __call__(self, net: Layers, path: str, x: Tensor) -> Tensor:
        return net.norm(path, x, self.epsilon, self.scale)


_SCALED = Norm(1e-5, True)
_DEFAULT = Norm(1e-3, False)


@dataclass(frozen=True)
class Style:
    """The differences between the families of ImageNet residual networks."""
    preactivated: bool = False
    stride_on_3x3: bool = False
    bottleneck: bool = True
    # The norm after a stem convolution. official_resnet v2 has no such norm.
    stem_norm: bool = True
    # If true, each stage begins with a projection.
    always_project: bool = False
    inner: Norm = _SCALED
    before_block: Norm = _SCALED


@dataclass(frozen=True)
class _Block:
    net: Layers
    path: str
    style: Style

    def conv(self, number: int, x: Tensor, channels: int, kernel: int, stride: int) -> Tensor:
        return self.net.conv(f"{self.path}.conv{number}", x, channels, kernel, stride,
                             padding="same_resnet", bias=False)

    def norm(self, number: int, x: Tensor) -> Tensor:
        return self.style.inner(self.net, f"{self.path}.bn{number}", x)

    def project(self, x: Tensor, channels: int, stride: int) -> Tensor:
        return self.net.conv(f"{self.path}.downsample.0", x, channels, 1, stride,
                             padding="same_resnet", bias=False)


def _layer_specs(style: Style, width: int, stride: int) -> list[tuple[int, int, int]]:
    """Returns (channels, kernel, stride) of a block's convolutions."""
    if not style.bottleneck:
        return [(width, 3, stride), (width, 3, 1)]
    first, second = (1, stride) if style.stride_on_3x3 else (stride, 1)
    return [(width, 1, first), (width, 3, second), (4 * width, 1, 1)]


def _plain_block(block: _Block, x: Tensor, width: int, stride: int, project: bool) -> Tensor:
    specs = _layer_specs(block.style, width, stride)
    shortcut = x
    if project:
        shortcut = block.style.inner(block.net, f"{block.path}.downsample.1",
                                     block.project(x, specs[-1][0], stride))
    for number, spec in enumerate(specs, 1):
        x = block.norm(number, block.conv(number, x, *spec))
        x = F.relu(x if number < len(specs) else x + shortcut)
    return x


def _preactivated_block(block: _Block, x: Tensor, width: int, stride: int,
                        project: bool) -> Tensor:
    specs = _layer_specs(block.style, width, stride)
    y = F.relu(block.style.before_block(block.net, f"{block.path}.bn1", x))
    shortcut = block.project(y, specs[-1][0], stride) if project else x
    for number, spec in enumerate(specs, 1):
        if number > 1:
            y = F.relu(block.norm(number, y))
        y = block.conv(number, y, *spec)
    return shortcut + y


def resnet(blocks: Sequence[int], style: Style) -> Define:
    def define(net: Layers, x: Tensor) -> Tensor:
        x = net.conv("conv1", x, 64, 7, 2, padding="same_resnet", bias=False)
        if style.stem_norm:
            x = F.relu(style.inner(net, "bn1", x))
        x = max_pool(x, 3, 2, "same")
        make = _preactivated_block if style.preactivated else _plain_block
        for stage, count in enumerate(blocks):
            for i in range(count):
                width, stride = 64 << stage, 2 if i == 0 and stage > 0 else 1
                project = i == 0 and (style.always_project or style.bottleneck or stage > 0)
                x = make(_Block(net, f"layer{stage + 1}.{i}", style), x, width, stride, project)
        if style.preactivated:
            x = F.relu(style.before_block(net, "bn2", x))
        return net.head(spatial_mean(x))

    return define


V1 = Style()
V1_5 = Style(stride_on_3x3=True)
V2 = Style(preactivated=True, before_block=_DEFAULT)


def official(bottleneck: bool, preactivated: bool) -> Style:
    return Style(preactivated=preactivated, stride_on_3x3=True, bottleneck=bottleneck,
                 stem_norm=not preactivated, always_project=True)


def _cifar_block(net: Layers, path: str, x: Tensor, channels: int, stride: int,
                 preactivated: bool) -> Tensor:
    shortcut = x[:, :, ::stride, ::stride]
    missing = (channels - x.shape[1]) // 2
    if missing > 0:
        shortcut = F.pad(shortcut, (0, 0, 0, 0, missing, missing))
    if preactivated:
        x = F.relu(_DEFAULT(net, f"{path}.bn1", x))
    x = net.conv(f"{path}.conv1", x, channels, 3, stride, bias=False)
    x = F.relu(_SCALED(net, f"{path}.bn{2 if preactivated else 1}", x))
    x = net.conv(f"{path}.conv2", x, channels, 3, bias=False)
    if preactivated:
        return shortcut + x
    return F.relu(shortcut + _SCALED(net, f"{path}.bn2", x))


def cifar_resnet(blocks: int, preactivated: bool) -> Define:
    def define(net: Layers, x: Tensor) -> Tensor:
        x = _SCALED(net, "bn1", net.conv("conv1", x, 16, 3, bias=False))
        if preactivated:
            x = F.relu(x)
        for stage in range(3):
            for i in range(blocks):
                x = _cifar_block(net, f"layer{stage + 1}.{i}", x, 16 << stage,
                                 2 if i == 0 and stage > 0 else 1, preactivated)
        if preactivated:
            x = F.relu(_DEFAULT(net, "bn2", x))
        return net.head(spatial_mean(x))

    return define
