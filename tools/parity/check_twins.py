"""Compares the twins with the published counts of their networks."""

import torch
from torch import nn

from .numbers import draw_batch, draw_weights, load_weights
from .zoo import Model


def multiply_adds(twin: nn.Module, images: torch.Tensor) -> tuple[int, torch.Tensor]:
    """Returns the multiply-adds of convolutions and fully connected layers per image, and the output of the pass."""
    total = 0

    def count(layer: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        nonlocal total
        del inputs
        # Each output is a sum over one row of weights.
        total += output[0].numel() * layer.weight[0].numel()

    hooks = [layer.register_forward_hook(count) for layer in twin.modules()
             if isinstance(layer, (nn.Conv2d, nn.Linear))]
    with torch.no_grad():
        output = twin(images)
    for hook in hooks:
        hook.remove()
    return total, output


def check(model: Model) -> list[str]:
    """Returns what is wrong with the twin, or nothing."""
    twin = model.make(model.num_classes, model.image_size)
    images, _ = draw_batch(2, model.image_size, model.num_classes, seed=1)
    load_weights(twin, draw_weights(twin, images, seed=1, smooth=False))
    parameters = [parameter.numel() for parameter in twin.parameters()]
    macs, output = multiply_adds(twin.eval(), torch.from_numpy(images[:1]))
    logits = output[0] if isinstance(output, tuple) else output
    expected = model.counts
    print(f"{model.label:24} {sum(parameters):>12,} parameters {len(parameters):>5} tensors "
          f"{macs / 1e9:8.4f} GMAC  logits {logits.abs().max():.2g}", flush=True)
    wrong = []
    if sum(parameters) != expected.parameters:
        wrong.append(f"{sum(parameters):,} parameters, not {expected.parameters:,}")
    if expected.tensors is not None and len(parameters) != expected.tensors:
        wrong.append(f"{len(parameters)} tensors, not {expected.tensors}")
    if expected.gmacs is not None and abs(macs / 1e9 - expected.gmacs) > 0.6e-4:
        wrong.append(f"{macs / 1e9:.4f} GMAC, not {expected.gmacs:.4f}")
    if tuple(logits.shape) != (1, model.num_classes) or not bool(logits.isfinite().all()):
        wrong.append(f"logits of shape {tuple(logits.shape)}, not all finite")
    return [f"{model.label}: {text}" for text in wrong]
