"""The networks in PyTorch: torchvision's if `bench` has the same definition, otherwise the twins of
../../parity_torch.py."""

import collections
import contextlib
import importlib
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Sequence

import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torch.overrides import TorchFunctionMode

from .work import NotSupportedError

_TOOLS = Path(__file__).resolve().parents[2]
_TORCHVISION_CLASSES = 1000
_IMAGENET_CLASSES = 1001

# name in `bench` -> torchvision's function, number of classes
_TORCHVISION = {
    "resnet50_v1.5": ("resnet50", _IMAGENET_CLASSES),
    "resnet101_v1.5": ("resnet101", _IMAGENET_CLASSES),
    "resnet152_v1.5": ("resnet152", _IMAGENET_CLASSES),
    "torchvision_resnet50": ("resnet50", _TORCHVISION_CLASSES),
    **{name: (name, _TORCHVISION_CLASSES) for name in
       ("densenet121", "densenet169", "densenet201", "mobilenet_v2", "mobilenet_v3_large",
        "resnext50_32x4d", "wide_resnet50_2", "squeezenet1_1", "shufflenet_v2_x1_0",
        "efficientnet_b0")},
}


@dataclass(frozen=True)
class Network:
    module: nn.Module
    image_size: int
    num_classes: int
    # The source of the definition.
    origin: str


def _in_place_functional() -> types.ModuleType:
    """torch.nn.functional, with ReLUs that overwrite their input as torchvision's do."""
    module = types.ModuleType("in_place_functional")
    module.__dict__.update(F.__dict__)
    module.relu = lambda x: F.relu(x, inplace=True)
    module.relu6 = lambda x: F.relu6(x, inplace=True)
    return module


def _ceil_pool(plain):
    """Replaces padding by ceil mode, because a padded copy of the input costs time that no user would spend. Both read
    the same windows if the padding is only at the bottom and right."""
    def pool(x: torch.Tensor, kernel: int, stride: int, padding: str = "valid") -> torch.Tensor:
        if padding == "same" and isinstance(kernel, int) and isinstance(stride, int):
            totals = [max((-(-size // stride) - 1) * stride + kernel - size, 0)
                      for size in x.shape[2:]]
            if all(total == 1 for total in totals):
                return F.max_pool2d(x, kernel, stride, ceil_mode=True)
        return plain(x, kernel, stride, padding)

    return pool


@contextlib.contextmanager
def _swapped(module: object, **values: object) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values if hasattr(module, name)}
    for name in before:
        setattr(module, name, values[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def _tuned(twin: nn.Module, package: str, image_size: int) -> bool:
    """Lets the twin overwrite values that it need not keep, and pool without copies, if its numbers stay the same.
    Returns whether they do."""
    modules = [module for name, module in sys.modules.items()
               if name.startswith(f"{package}.") and getattr(module, "F", None) is F]
    if not modules:
        raise RuntimeError("only one twin per process: twins may overwrite different values")
    images = torch.rand(2, 3, image_size, image_size)
    twin.eval()
    with torch.no_grad(), contextlib.ExitStack() as stack:
        expected = twin(images.clone())
        for module in modules:
            pool = getattr(module, "max_pool", None)
            stack.enter_context(_swapped(module, F=_in_place_functional(),
                                         max_pool=pool and _ceil_pool(pool)))
        same = torch.equal(expected, twin(images.clone()))
        if same:
            stack.pop_all()
    twin.train()
    return same


def _twin(name: str, image_size: int, folder: Path) -> Network:
    sys.path.append(str(folder))
    try:
        zoo = importlib.import_module("parity.zoo")
    except ModuleNotFoundError as error:
        raise NotSupportedError(f"cannot load the twin of {name}: {folder}/parity is missing ({error})") from error
    try:
        model = zoo.find([name])[0]
    except ValueError as error:
        raise NotSupportedError(f"{name} has no twin in tools/parity") from error
    size = image_size or model.image_size
    module = model.make(model.num_classes, size)
    tuned = _tuned(module, "parity", size)
    return Network(module, size, model.num_classes,
                   f"twin of tools/parity{', in place' if tuned else ''}")


def make(name: str, image_size: int = 0, twins: Path | None = None) -> Network:
    """Returns a network with random weights, in training mode. Throws NotSupportedError for an unknown name."""
    torch.manual_seed(1)
    if name not in _TORCHVISION:
        return _twin(name, image_size, twins or _TOOLS)
    function, classes = _TORCHVISION[name]
    module = getattr(torchvision.models, function)(weights=None, num_classes=classes)
    return Network(module, image_size or 224, classes, f"torchvision {function}")


def settle_statistics(module: nn.Module, inputs: Sequence[torch.Tensor]) -> None:
    """Sets batch norm's statistics from these inputs and ends in inference mode. With initial statistics, activations
    would grow from layer to layer and exceed the range of int8 and bf16."""
    norms = [layer for layer in module.modules() if hasattr(layer, "running_mean")]
    momenta = [layer.momentum for layer in norms]
    for layer in norms:
        layer.momentum = 1.0
    module.train()
    with torch.no_grad():
        module(*inputs)
    for layer, momentum in zip(norms, momenta):
        layer.momentum = momentum
    module.eval()


class _FoldedNorm(nn.Identity):
    """Replaces a batch norm that was folded into the convolution before it."""


class _Readers(TorchFunctionMode):
    """Counts the operations that read each tensor, by its id."""

    def __init__(self) -> None:
        super().__init__()
        self.count: collections.Counter[int] = collections.Counter()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        del types
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):  # else it asked for a shape or the like
            leaves = torch.utils._pytree.tree_leaves((args, kwargs))
            self.count.update({id(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor)})
        return result


def fold_batch_norm(module: nn.Module, inputs: Sequence[torch.Tensor]) -> int:
    """Folds each batch norm into the convolution whose output only it reads. Works for any module, because it runs the
    network in inference mode to find them. Returns their number."""
    writers: dict[int, nn.Conv2d] = {}
    outputs: dict[nn.Conv2d, torch.Tensor] = {}
    pairs: list[tuple[nn.Conv2d, nn.Module]] = []
    readers = _Readers()

    def after_conv(layer: nn.Module, inputs: tuple, output: torch.Tensor) -> None:
        del inputs
        writers[id(output)] = layer
        outputs[layer] = output
        readers.count[id(output)] = 0  # an earlier tensor's, which was at the same address

    def before_norm(layer: nn.Module, inputs: tuple) -> None:
        if id(inputs[0]) in writers:
            pairs.append((writers[id(inputs[0])], layer))

    hooks = []
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            hooks.append(layer.register_forward_hook(after_conv))
        elif hasattr(layer, "running_mean"):
            hooks.append(layer.register_forward_pre_hook(before_norm))
    with torch.no_grad(), readers:
        expected = module(*inputs)
    for hook in hooks:
        hook.remove()
    pairs = [(conv, norm) for conv, norm in pairs if readers.count[id(outputs[conv])] == 1]
    places = {child: (parent, name) for parent in module.modules()
              for name, child in parent.named_children()}
    for conv, norm in pairs:
        epsilon = getattr(norm, "eps", None) or getattr(norm, "epsilon")
        conv.weight, conv.bias = nn.utils.fusion.fuse_conv_bn_weights(
            conv.weight, conv.bias, norm.running_mean, norm.running_var, epsilon, norm.weight,
            norm.bias)
        setattr(*places[norm], _FoldedNorm())
    with torch.no_grad():
        error = (module(*inputs) - expected).norm() / expected.norm()
    # A norm folded into the wrong place changes all values. Rounding changes deep networks with these statistics by a
    # thousandth.
    if not error < 0.05:
        raise RuntimeError(f"folding batch norm changed the logits by {float(error):.2g}")
    return len(pairs)
