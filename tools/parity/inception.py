"""GoogLeNet and Inception v3 and v4: modules of columns whose outputs are concatenated."""

from typing import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor

from .layers import Layers, Padding, Size, avg_pool, concat, max_pool, spatial_mean

Column = Callable[[Tensor], Sequence[Tensor]]
Conv = Callable[..., Tensor]


def _columns(x: Tensor, *columns: Column) -> Tensor:
    """Adds the columns from left to right, which is the order of the layers' numbers."""
    return concat([part for column in columns for part in column(x)])


def _chain(conv: Conv, *layers: tuple) -> Column:
    """Applies one convolution after the other. Each is (channels, kernel[, stride, padding])."""
    def run(x: Tensor) -> Sequence[Tensor]:
        for layer in layers:
            x = conv(x, *layer)
        return [x]

    return run


def _fork(stem: Column, *ends: Column) -> Column:
    """Returns several outputs that share the stem's convolutions."""
    def run(x: Tensor) -> Sequence[Tensor]:
        (shared,) = stem(x)
        return [end(shared)[0] for end in ends]

    return run


def _pooled(pool: Callable[..., Tensor], conv: Conv, channels: int) -> Column:
    return lambda x: [conv(pool(x, 3, 1, "same"), channels, 1)]


def _halved(x: Tensor) -> Sequence[Tensor]:
    return [max_pool(x, 3, 2)]


def googlenet(net: Layers, x: Tensor) -> Tensor:
    def conv(y: Tensor, channels: int, kernel: Size, stride: int = 1) -> Tensor:
        return F.relu(net.conv(net.next("conv"), y, channels, kernel, stride))

    def module(y: Tensor, k: int, l: int, m: int, n: int, p: int, q: int) -> Tensor:
        return _columns(y, _chain(conv, (k, 1)), _chain(conv, (l, 1), (m, 3)),
                        _chain(conv, (n, 1), (p, 5)), _pooled(max_pool, conv, q))

    x = max_pool(conv(x, 64, 7, 2), 3, 2, "same")
    x = max_pool(conv(conv(x, 64, 1), 192, 3), 3, 2, "same")
    x = module(x, 64, 96, 128, 16, 32, 32)
    x = max_pool(module(x, 128, 128, 192, 32, 96, 64), 3, 2, "same")
    x = module(x, 192, 96, 208, 16, 48, 64)
    x = module(x, 160, 112, 224, 24, 64, 64)
    x = module(x, 128, 128, 256, 24, 64, 64)
    x = module(x, 112, 144, 288, 32, 64, 64)
    x = max_pool(module(x, 256, 160, 320, 32, 128, 128), 3, 2, "same")
    x = module(x, 256, 160, 320, 32, 128, 128)
    x = module(x, 384, 192, 384, 48, 128, 128)
    return net.head(avg_pool(x, 7, 1).flatten(1))


def _norm_conv(net: Layers) -> Conv:
    """A convolution, batch norm without scale, ReLU."""
    def conv(x: Tensor, channels: int, kernel: Size, stride: int = 1,
             padding: Padding = "same") -> Tensor:
        y = net.conv(net.next("conv"), x, channels, kernel, stride, padding=padding, bias=False)
        return F.relu(net.norm(net.next("bn"), y))

    return conv


def inception3(aux_head: bool) -> Callable[[Layers, Tensor], Tensor]:
    def define(net: Layers, x: Tensor) -> Tensor:
        conv = _norm_conv(net)
        x = conv(conv(conv(x, 32, 3, 2, "valid"), 32, 3, 1, "valid"), 64, 3)
        x = conv(conv(max_pool(x, 3, 2), 80, 1, 1, "valid"), 192, 3, 1, "valid")
        x = max_pool(x, 3, 2)
        for pooled in (32, 64, 64):
            x = _v3_a(conv, x, pooled)
        x = _columns(x, _chain(conv, (384, 3, 2, "valid")),
                     _chain(conv, (64, 1), (96, 3), (96, 3, 2, "valid")), _halved)
        for width in (128, 160, 160, 192):
            x = _v3_c(conv, x, width)
        if aux_head:
            net.aux_logits = _v3_aux(net, x)
        x = _columns(x, _chain(conv, (192, 1), (320, 3, 2, "valid")),
                     _chain(conv, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, "valid")),
                     _halved)
        for pool in (avg_pool, max_pool):
            x = _v3_e(conv, x, pool)
        return net.head(avg_pool(x, 8, 1).flatten(1))

    return define


def _v3_a(conv: Conv, x: Tensor, pooled: int) -> Tensor:
    return _columns(x, _chain(conv, (64, 1)), _chain(conv, (48, 1), (64, 5)),
                    _chain(conv, (64, 1), (96, 3), (96, 3)), _pooled(avg_pool, conv, pooled))


def _v3_c(conv: Conv, x: Tensor, n: int) -> Tensor:
    return _columns(x, _chain(conv, (192, 1)),
                    _chain(conv, (n, 1), (n, (1, 7)), (192, (7, 1))),
                    _chain(conv, (n, 1), (n, (7, 1)), (n, (1, 7)), (n, (7, 1)), (192, (1, 7))),
                    _pooled(avg_pool, conv, 192))


def _v3_e(conv: Conv, x: Tensor, pool: Callable[..., Tensor]) -> Tensor:
    ends = [_chain(conv, (384, (1, 3))), _chain(conv, (384, (3, 1)))]
    return _columns(x, _chain(conv, (320, 1)), _fork(_chain(conv, (384, 1)), *ends),
                    _fork(_chain(conv, (448, 1), (384, 3)), *ends), _pooled(pool, conv, 192))


def _v3_aux(net: Layers, x: Tensor) -> Tensor:
    """Uses separate names, so that the other layers have the same names with and without it."""
    x = avg_pool(x, 5, 3)
    for index, (channels, kernel) in enumerate(((128, 1), (768, 5))):
        y = net.conv(f"aux_conv{index}", x, channels, kernel, padding="valid", bias=False)
        x = F.relu(net.norm(f"aux_bn{index}", y))
    return net.linear("aux_fc", x.flatten(1), net.num_classes)


def inception4(net: Layers, x: Tensor) -> Tensor:
    conv = _norm_conv(net)
    x = conv(conv(conv(x, 32, 3, 2, "valid"), 32, 3, 1, "valid"), 64, 3)
    x = _columns(x, _halved, _chain(conv, (96, 3, 2, "valid")))
    x = _columns(x, _chain(conv, (64, 1), (96, 3, 1, "valid")),
                 _chain(conv, (64, 1), (64, (7, 1)), (64, (1, 7)), (96, 3, 1, "valid")))
    x = _columns(x, _chain(conv, (192, 3, 2, "valid")), _halved)
    for _ in range(4):
        x = _columns(x, _pooled(avg_pool, conv, 96), _chain(conv, (96, 1)),
                     _chain(conv, (64, 1), (96, 3)), _chain(conv, (64, 1), (96, 3), (96, 3)))
    x = _columns(x, _halved, _chain(conv, (384, 3, 2, "valid")),
                 _chain(conv, (192, 1), (224, 3), (256, 3, 2, "valid")))
    for _ in range(7):
        x = _v4_b(conv, x)
    x = _columns(x, _halved, _chain(conv, (192, 1), (192, 3, 2, "valid")),
                 _chain(conv, (256, 1), (256, (1, 7)), (320, (7, 1)), (320, 3, 2, "valid")))
    for _ in range(3):
        x = _v4_c(conv, x)
    return net.head(spatial_mean(x))


def _v4_b(conv: Conv, x: Tensor) -> Tensor:
    return _columns(x, _pooled(avg_pool, conv, 128), _chain(conv, (384, 1)),
                    _chain(conv, (192, 1), (224, (1, 7)), (256, (7, 1))),
                    _chain(conv, (192, 1), (192, (1, 7)), (224, (7, 1)), (224, (1, 7)),
                           (256, (7, 1))))


def _v4_c(conv: Conv, x: Tensor) -> Tensor:
    across, along = _chain(conv, (256, (1, 3))), _chain(conv, (256, (3, 1)))
    return _columns(x, _pooled(avg_pool, conv, 256), _chain(conv, (256, 1)),
                    _fork(_chain(conv, (384, 1)), across, along),
                    _fork(_chain(conv, (384, 1), (448, (1, 3)), (512, (3, 1))), along, across))
