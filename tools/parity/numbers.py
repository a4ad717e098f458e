"""Draws weights and batches, and computes PyTorch's results."""

import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

Arrays = dict[str, np.ndarray]

AUX_WEIGHT = 0.4
# In standard deviations of a channel: ReLU then cuts one value of 700.
_OFFSET = 3.0
_STATISTICS = ("running_mean", "running_var")


def variables(twin: nn.Module) -> dict[str, Tensor]:
    """Returns parameters and running statistics by name, which `bench` calls variables."""
    return {name: value for name, value in twin.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def norm_variables(twin: nn.Module) -> set[str]:
    """Returns the variables of batch norm, which the L2 sum excludes."""
    return {f"{path}.{name}" for path, layer in twin.named_modules()
            if hasattr(layer, "running_var") for name, _ in layer.named_parameters()}


def draw_batch(batch: int, image_size: int, num_classes: int, seed: int) -> tuple[np.ndarray,
                                                                                  np.ndarray]:
    """(images[N,3,S,S] f32, labels[N] i64)"""
    random = np.random.default_rng([seed, batch, image_size])
    images = random.standard_normal((batch, 3, image_size, image_size), dtype=np.float32)
    return images, random.integers(0, num_classes, batch, dtype=np.int64)


def _draw(name: str, shape: tuple[int, ...], seed: int, gain: float) -> np.ndarray:
    """Sets batch norm's vectors and biases to values other than 1 and 0, so that omitting one changes the results."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    normal = random.standard_normal(shape, dtype=np.float32)
    if len(shape) > 1:
        return normal * np.float32(np.sqrt(gain / np.prod(shape[1:])))
    return np.float32(1 if name.endswith("weight") else 0) + np.float32(0.1) * normal


def _move_mean(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
    """Forward hook that gives each channel a mean of _OFFSET deviations through the bias."""
    del inputs
    others = [axis for axis in range(output.dim()) if axis != 1]
    shift = _OFFSET * output.std(others) - output.mean(others)
    layer.bias += shift
    return output + shift.reshape([-1 if axis == 1 else 1 for axis in range(output.dim())])


def _keep_off_kinks(twin: nn.Module) -> list[RemovableHandle]:
    """Moves biases so that few values come near the point where ReLU bends. For layers without batch norm, this happens
    in the next pass."""
    # Hard swish bends on both sides of the middle.
    centred = {id(norm) for layer in twin.modules() if isinstance(layer, nn.Sequential)
               for norm, activation in zip(layer, list(layer)[1:])
               if isinstance(activation, nn.Hardswish)}
    handles = []
    for layer in twin.modules():
        if hasattr(layer, "running_var") and id(layer) not in centred:
            layer.bias.data += _OFFSET
        elif isinstance(layer, (nn.Conv2d, nn.Linear)) and layer.bias is not None:
            handles.append(layer.register_forward_hook(_move_mean))
    return handles


def draw_weights(twin: nn.Module, images: np.ndarray, seed: int, smooth: bool) -> Arrays:
    """Returns every variable as f32, such that activations keep their size.

    Plain: half of the inputs of a ReLU are negative. Rounding then decides for some elements which of two gradients
    they get. One such element causes a thousand times the error of all other rounding. Smooth: biases keep nearly
    all values on one side, so that gradients can be compared.

    Running statistics are those of the images, moved by about a tenth.
    """
    twin.float().train()
    load_weights(twin, {name: _draw(name, tuple(value.shape), seed, gain=1 if smooth else 2)
                        for name, value in variables(twin).items()
                        if not name.endswith(_STATISTICS)}, strict=False)
    norms = [layer for layer in twin.modules() if hasattr(layer, "running_var")]
    kept = [layer.momentum for layer in norms]
    for layer in norms:
        layer.momentum = 1.0
    handles = _keep_off_kinks(twin) if smooth else []
    with torch.no_grad():
        twin(torch.from_numpy(images))
    for handle in handles:
        handle.remove()
    for layer, momentum in zip(norms, kept):
        layer.momentum = momentum
    weights = {name: value.numpy().copy() for name, value in variables(twin).items()}
    _move_statistics(weights, seed)
    return weights


def _move_statistics(weights: Arrays, seed: int) -> None:
    for name in [name for name in weights if name.endswith("running_var")]:
        random = np.random.default_rng([seed, zlib.crc32(name.encode())])
        variance, mean = weights[name], name[:-len("var")] + "mean"
        shift = random.standard_normal(variance.shape, dtype=np.float32)
        weights[mean] = weights[mean] + np.float32(0.1) * np.sqrt(variance) * shift
        weights[name] = variance * random.uniform(0.8, 1.25, variance.shape).astype(np.float32)


def load_weights(twin: nn.Module, weights: Arrays, strict: bool = True) -> None:
    """Throws ValueError if names or shapes differ."""
    target = variables(twin)
    if strict and set(target) != set(weights):
        raise ValueError(f"only one side has the variables {sorted(set(target) ^ set(weights))}")
    with torch.no_grad():
        for name, value in weights.items():
            if target[name].shape != value.shape:
                raise ValueError(f"{name} is {value.shape}, not {tuple(target[name].shape)}")
            target[name].copy_(torch.from_numpy(np.ascontiguousarray(value)))


@dataclass(frozen=True)
class Task:
    """The task of both sides: numbers to compute from, for training or for logits only. The images may be those of
    several batches."""
    weights: Arrays
    images: np.ndarray
    labels: np.ndarray
    batch: int
    training: bool
    weight_decay: float


def base_loss(twin: nn.Module, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (logits, loss including the auxiliary logits)."""
    output = twin(images)
    if isinstance(output, Tensor):
        return output, F.cross_entropy(output, labels)
    logits, aux = output
    return logits, F.cross_entropy(logits, labels) + AUX_WEIGHT * F.cross_entropy(aux, labels)


def l2_loss(twin: nn.Module, weight_decay: float) -> Tensor:
    exempt = norm_variables(twin)
    return weight_decay / 2 * sum(value.square().sum() for name, value in twin.named_parameters()
                                  if name not in exempt)


@dataclass(frozen=True)
class Way:
    """Selects how PyTorch computes."""
    name: str
    dtype: torch.dtype
    onednn: bool = True
    channels_last: bool = False


EXACT = Way("float64", torch.float64)
# PyTorch's float32 error depends on which kernels run.
SINGLE = (Way("oneDNN", torch.float32),
          Way("native", torch.float32, onednn=False),
          Way("channels last", torch.float32, channels_last=True))


def _hardsigmoid(x: Tensor, inplace: bool = False) -> Tensor:
    """Hard sigmoid with an exact derivative. PyTorch's derivative is 1/6 rounded to float32 in every type."""
    del inplace
    return F.relu6(x + 3) / 6


def run_twin(twin: nn.Module, task: Task, way: Way) -> Arrays:
    """Returns what `bench --dump_tensors` writes, in float64: logits, and in training loss, total_loss and
    grad/<variable> of the base loss. Dropout and drop-path are off."""
    layout = torch.channels_last if way.channels_last else torch.contiguous_format
    twin.zero_grad(set_to_none=True)
    twin.to(way.dtype).to(memory_format=layout)
    load_weights(twin, task.weights)
    images = torch.from_numpy(task.images).to(way.dtype).contiguous(memory_format=layout)
    exact = (patch.object(F, "hardsigmoid", _hardsigmoid) if way.dtype is torch.float64
             else nullcontext())
    with exact, torch.backends.mkldnn.flags(enabled=way.onednn):
        if not task.training:
            with torch.no_grad():
                output = twin.eval()(images)
            return _arrays({"logits": output if isinstance(output, Tensor) else output[0]})
        logits, loss = base_loss(twin.train(), images, torch.from_numpy(task.labels))
        loss.backward()
    result = {"logits": logits, "loss": loss,
              "total_loss": loss + l2_loss(twin, task.weight_decay)}
    for name, parameter in twin.named_parameters():
        gradient = parameter.grad
        result[f"grad/{name}"] = torch.zeros_like(parameter) if gradient is None else gradient
    return _arrays(result)


def _arrays(tensors: dict[str, Tensor]) -> Arrays:
    return {name: tensor.detach().to(torch.float64).contiguous().numpy().copy()
            for name, tensor in tensors.items()}
