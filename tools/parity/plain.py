"""Networks that are one chain of layers: trivial, lenet, alexnet, overfeat, vgg, cifar alexnet."""

from typing import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor

from .layers import Layers, Padding, Size, channel_lrn, max_pool

Define = Callable[[Layers, Tensor], Tensor]


def _conv(net: Layers, x: Tensor, channels: int, kernel: Size, stride: Size = 1,
          padding: Padding = "same") -> Tensor:
    return F.relu(net.conv(net.next("conv"), x, channels, kernel, stride, padding=padding))


def _dense(net: Layers, x: Tensor, *outputs: int) -> Tensor:
    for count in outputs:
        x = F.relu(net.linear(net.next("fc"), x, count))
    return x


def trivial(net: Layers, x: Tensor) -> Tensor:
    return net.head(_dense(net, x.flatten(1), 1, 4096))


def lenet(net: Layers, x: Tensor) -> Tensor:
    x = max_pool(_conv(net, x, 32, 5), 2, 2)
    x = max_pool(_conv(net, x, 64, 5), 2, 2)
    return net.head(_dense(net, x.flatten(1), 512))


def alexnet(net: Layers, x: Tensor) -> Tensor:
    x = max_pool(_conv(net, x, 64, 11, 4, "valid"), 3, 2)
    x = max_pool(_conv(net, x, 192, 5), 3, 2)
    for channels in (384, 384, 256):
        x = _conv(net, x, channels, 3)
    return net.head(_dense(net, max_pool(x, 3, 2).flatten(1), 4096, 4096))


def overfeat(net: Layers, x: Tensor) -> Tensor:
    x = max_pool(_conv(net, x, 96, 11, 4, "valid"), 2, 2)
    x = max_pool(_conv(net, x, 256, 5, 1, "valid"), 2, 2)
    for channels in (512, 1024, 1024):
        x = _conv(net, x, channels, 3)
    return net.head(_dense(net, max_pool(x, 2, 2).flatten(1), 3072, 4096))


def vgg(layers: Sequence[int]) -> Define:
    def define(net: Layers, x: Tensor) -> Tensor:
        for channels, count in zip((64, 128, 256, 512, 512), layers):
            for _ in range(count):
                x = _conv(net, x, channels, 3)
            x = max_pool(x, 2, 2)
        return net.head(_dense(net, x.flatten(1), 4096, 4096))

    return define


def cifar_alexnet(net: Layers, x: Tensor) -> Tensor:
    def normalize(y: Tensor) -> Tensor:
        return channel_lrn(y, radius=4, bias=1.0, alpha=0.001 / 9, beta=0.75)

    x = normalize(max_pool(_conv(net, x, 64, 5), 3, 2, "same"))
    x = max_pool(normalize(_conv(net, x, 64, 5)), 3, 2, "same")
    return net.head(_dense(net, x.flatten(1), 384, 192))
