"""The layers of the twins, with our variables' names and TensorFlow's paddings."""

from typing import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Size = int | tuple[int, int]
Padding = str  # "same", "valid" or "same_resnet"


def _pair(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def pad_extents(size: int, kernel: int, stride: int, padding: Padding) -> tuple[int, int]:
    """Returns the zeros before and after one dimension. "same" puts the odd one after, as TensorFlow does. Above stride
    1, "same_resnet" pads as if the stride were 1."""
    if padding == "valid":
        return 0, 0
    if padding == "same_resnet" and stride > 1:
        total = kernel - 1
    elif padding in ("same", "same_resnet"):
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    else:
        raise ValueError(f"padding {padding}")
    return total // 2, total - total // 2


class _Window:
    """Returns a filter's extents and the padding of its input in two parts: what PyTorch's ops add (the same on both
    sides), and what must be added at the bottom and right."""

    def __init__(self, x: Tensor, kernel: Size, stride: Size, padding: Padding):
        self.kernel, self.stride = _pair(kernel), _pair(stride)
        extents = [pad_extents(x.shape[2 + axis], self.kernel[axis], self.stride[axis], padding)
                   for axis in (0, 1)]
        self.both = tuple(before for before, _ in extents)
        self.extra = tuple(after - before for before, after in extents)

    def add_extra(self, x: Tensor, value: float) -> Tensor:
        bottom, right = self.extra
        return F.pad(x, (0, right, 0, bottom), value=value) if bottom or right else x


class BatchNorm(nn.Module):
    """Batch norm over N, H, W with an optional scale. PyTorch's has both vectors or none."""

    def __init__(self, channels: int, epsilon: float, scale: bool):
        super().__init__()
        self.epsilon = epsilon
        self.momentum = 0.1
        self.register_parameter("weight", nn.Parameter(torch.ones(channels)) if scale else None)
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                            self.training, self.momentum, self.epsilon)


class Layers:
    """Adds layers to a module: values in, values out. The first pass makes each layer under the given dotted path, and
    later passes find it there. `Twin` makes one per pass."""

    def __init__(self, root: nn.Module, num_classes: int, building: bool):
        self.num_classes = num_classes
        self.aux_logits: Tensor | None = None
        self._root = root
        self._building = building
        self._counts: dict[str, int] = {}

    def next(self, kind: str) -> str:
        """Returns conv0, conv1, ...: layers are counted per kind in the order of their creation."""
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return f"{kind}{number}"

    def conv(self, path: str, x: Tensor, channels: int, kernel: Size, stride: Size = 1, *,
             padding: Padding = "same", groups: int = 1, bias: bool = True) -> Tensor:
        window = _Window(x, kernel, stride, padding)
        layer = self._layer(path, lambda: nn.Conv2d(
            x.shape[1], channels, window.kernel, window.stride, window.both, groups=groups,
            bias=bias))
        return layer(window.add_extra(x, 0.0))

    def norm(self, path: str, x: Tensor, epsilon: float = 1e-3, scale: bool = False) -> Tensor:
        return self._layer(path, lambda: BatchNorm(x.shape[1], epsilon, scale))(x)

    def linear(self, path: str, x: Tensor, outputs: int) -> Tensor:
        return self._layer(path, lambda: nn.Linear(x.shape[1], outputs))(x)

    def head(self, x: Tensor) -> Tensor:
        return self.linear("fc", x, self.num_classes)

    def _layer(self, path: str, make: Callable[[], nn.Module]) -> nn.Module:
        if not self._building:
            return self._root.get_submodule(path)
        parent = self._root
        *folders, leaf = path.split(".")
        for folder in folders:
            if not hasattr(parent, folder):
                parent.add_module(folder, nn.Module())
            parent = getattr(parent, folder)
        if hasattr(parent, leaf):
            raise ValueError(f"two layers are named {path}")
        parent.add_module(leaf, make().train(self._root.training))
        return getattr(parent, leaf)


class Twin(nn.Module):
    """A network of Layers: images[N,3,S,S] -> logits, or (logits, auxiliary logits). Its size is fixed when it is
    made."""

    def __init__(self, define: Callable[[Layers, Tensor], Tensor], num_classes: int,
                 image_size: int):
        super().__init__()
        self._define = define
        self._num_classes = num_classes
        # A pass over one black image finds the layers' shapes. It uses running statistics, because one image may have
        # no variance.
        self.eval()
        with torch.no_grad():
            self._run(torch.zeros(1, 3, image_size, image_size), building=True)
        self.train()

    def forward(self, images: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        return self._run(images, building=False)

    def _run(self, images: Tensor, building: bool) -> Tensor | tuple[Tensor, Tensor]:
        layers = Layers(self, self._num_classes, building)
        logits = self._define(layers, images)
        return logits if layers.aux_logits is None else (logits, layers.aux_logits)


def max_pool(x: Tensor, kernel: Size, stride: Size, padding: Padding = "valid") -> Tensor:
    """Max pooling in which padding never wins."""
    window = _Window(x, kernel, stride, padding)
    return F.max_pool2d(window.add_extra(x, float("-inf")), window.kernel, window.stride,
                        window.both)


def avg_pool(x: Tensor, kernel: Size, stride: Size, padding: Padding = "valid") -> Tensor:
    """Average pooling in which padding does not count."""
    window = _Window(x, kernel, stride, padding)
    if not any(window.extra):
        return F.avg_pool2d(x, window.kernel, window.stride, window.both, count_include_pad=False)

    def mean(of: Tensor) -> Tensor:
        return F.avg_pool2d(window.add_extra(of, 0.0), window.kernel, window.stride, window.both)

    return mean(x) / mean(torch.ones_like(x[:1, :1]))


def spatial_mean(x: Tensor) -> Tensor:
    return x.mean((2, 3))


def concat(parts: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(parts), 1)


def channel_lrn(x: Tensor, radius: int, bias: float, alpha: float, beta: float) -> Tensor:
    """x / (bias + alpha * the plain sum of squares over 2 * radius + 1 channels) ^ beta."""
    channels = x.shape[1]
    squares = F.pad(x * x, (0, 0, 0, 0, radius, radius))
    total = sum(squares[:, shift:shift + channels] for shift in range(2 * radius + 1))
    return x / (bias + alpha * total) ** beta
