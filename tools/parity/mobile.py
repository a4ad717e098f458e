"""MobileNet v2 and the CIFAR DenseNets."""

from typing import Callable

import torch.nn.functional as F
from torch import Tensor

from .layers import Layers, avg_pool, concat, spatial_mean

_BOTTLENECKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                (6, 160, 3, 2), (6, 320, 1, 1))


def mobilenet(net: Layers, x: Tensor) -> Tensor:
    def conv(y: Tensor, channels: int, kernel: int, stride: int = 1, groups: int = 1) -> Tensor:
        y = net.conv(net.next("conv"), y, channels, kernel, stride, groups=groups, bias=False)
        return net.norm(net.next("bn"), y, epsilon=1e-3, scale=True)

    def bottleneck(y: Tensor, expansion: int, channels: int, stride: int) -> Tensor:
        narrow = y
        if expansion > 1:
            y = F.relu6(conv(y, expansion * y.shape[1], 1))
        y = F.relu6(conv(y, y.shape[1], 3, stride, groups=y.shape[1]))
        y = conv(y, channels, 1)
        return y + narrow if stride == 1 and channels == narrow.shape[1] else y

    x = F.relu6(conv(x, 32, 3, 2))
    for expansion, channels, count, stride in _BOTTLENECKS:
        for i in range(count):
            x = bottleneck(x, expansion, channels, stride if i == 0 else 1)
    x = spatial_mean(F.relu6(conv(x, 1280, 1)))
    return net.conv("fc", x[:, :, None, None], net.num_classes, 1).flatten(1)


def cifar_densenet(layers: int, growth: int) -> Callable[[Layers, Tensor], Tensor]:
    def define(net: Layers, x: Tensor) -> Tensor:
        def activated(y: Tensor) -> Tensor:
            return F.relu(net.norm(net.next("bn"), y, epsilon=1e-5, scale=True))

        x = net.conv(net.next("conv"), x, 16, 3)
        for block in range(3):
            if block > 0:
                x = F.relu(net.conv(net.next("conv"), activated(x), x.shape[1], 1))
                x = avg_pool(x, 2, 2)
            for _ in range(layers):
                x = concat([x, net.conv(net.next("conv"), activated(x), growth, 3)])
        return net.head(spatial_mean(activated(x)))

    return define
