"""Plain float32: convolutions and products whose sums are one chain of additions each."""

from typing import Any, Callable, Iterable, Mapping

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.overrides import TorchFunctionMode


def _pixels(height: int, width: int) -> Iterable[tuple[int, int]]:
    return ((i, j) for i in range(height) for j in range(width))


class _Conv(torch.autograd.Function):
    """Of padded images x[N,G,I,H,W] with filters w[G,O,I,R,S], to [N,G,O,P,Q]."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, w: Tensor, stride: tuple[int, int]) -> Tensor:
        ctx.save_for_backward(x, w)
        ctx.stride = stride
        size = [(x.shape[3 + k] - w.shape[3 + k]) // stride[k] + 1 for k in range(2)]
        y = x.new_zeros(x.shape[0], w.shape[0], w.shape[1], *size)
        for c in range(w.shape[2]):
            for i, j in _pixels(*w.shape[3:]):
                y.addcmul_(_window(x, i, j, size, stride)[:, :, c, None],
                           w[None, :, :, c, i, j, None, None])
        return y

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (dy,), (x, w), stride = gradients, ctx.saved_tensors, ctx.stride
        dx, dw = torch.zeros_like(x), torch.zeros_like(w)
        size, (rows, columns) = dy.shape[3:], w.shape[3:]
        for o in range(w.shape[1]):
            for i, j in _pixels(rows, columns):
                _window(dx, i, j, size, stride).addcmul_(dy[:, :, o, None],
                                                         w[None, :, o, :, i, j, None, None])
        for n in range(x.shape[0]):
            for p, q in _pixels(*size):
                top, left = p * stride[0], q * stride[1]
                patch = x[n, :, None, :, top:top + rows, left:left + columns]
                dw.addcmul_(dy[n, :, :, p, q, None, None, None], patch)
        return dx, dw, None


def _window(x: Tensor, i: int, j: int, size: Iterable[int], stride: tuple[int, int]) -> Tensor:
    """What of x the filter's element (i, j) reads."""
    height, width = size
    return x[..., i:i + (height - 1) * stride[0] + 1:stride[0],
             j:j + (width - 1) * stride[1] + 1:stride[1]]


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


def conv2d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
           padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """torch.conv2d without dilation."""
    if isinstance(padding, str) or _pair(dilation) != (1, 1):
        raise NotImplementedError(f"padding {padding}, dilation {dilation}")
    (above, beside), filters = _pair(padding), weight.unflatten(0, (groups, -1))
    padded = torch.nn.functional.pad(x, (beside, beside, above, above)).unflatten(1, (groups, -1))
    y = _Conv.apply(padded, filters, _pair(stride)).flatten(1, 2)
    return y if bias is None else y + bias[:, None, None]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """torch.nn.functional.linear of a matrix."""
    y = conv2d(x[:, :, None, None], weight[:, :, None, None])[:, :, 0, 0]
    return y if bias is None else y + bias


class ChainSums(TorchFunctionMode):
    """Within it, PyTorch's convolutions and fully connected layers compute so."""

    _OURS: Mapping[Callable, Callable] = {torch.conv2d: conv2d, torch.nn.functional.linear: linear}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        del types
        return self._OURS.get(func, func)(*args, **(kwargs or {}))
