"""Compares loss curves: a few hundred steps of training in bench and in PyTorch, batch after batch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from .numbers import Task, base_loss, draw_batch, draw_weights, load_weights, norm_variables
from .parity import _folder
from .program import Program, write_task
from .zoo import Model

_MOMENTUM = 0.9
# Number of batches, which are repeated.
_BATCHES = 40
_WINDOW = 20


@dataclass(frozen=True)
class Training:
    optimizer: str  # sgd or momentum
    steps: int
    batch: int
    learning_rate: float
    weight_decay: float
    seed: int


@dataclass(frozen=True)
class CurveResult:
    text: str
    passed: bool


class _Update:
    """g = gradient + weight_decay * w, the latter not for batch norm. sgd: w -= rate * g.
    momentum, Nesterov's: a = momentum * a + g; w -= rate * (g + momentum * a)."""

    def __init__(self, twin: nn.Module, training: Training):
        self._training = training
        exempt = norm_variables(twin)
        self._variables = [(value, 0.0 if name in exempt else training.weight_decay)
                           for name, value in twin.named_parameters()]
        self._sums = [torch.zeros_like(value) for value, _ in self._variables]

    def __call__(self) -> None:
        rate = self._training.learning_rate
        with torch.no_grad():
            for (value, decay), total in zip(self._variables, self._sums):
                gradient = value.grad + decay * value
                step = gradient
                if self._training.optimizer == "momentum":
                    total.mul_(_MOMENTUM).add_(gradient)
                    step = gradient + _MOMENTUM * total
                value -= rate * step


def torch_losses(twin: nn.Module, task: Task, training: Training,
                 dtype: torch.dtype) -> np.ndarray:
    """Returns the base loss of each step, before its update."""
    twin.to(dtype).train()
    load_weights(twin, task.weights)
    images = torch.from_numpy(task.images).to(dtype).split(task.batch)
    labels = torch.from_numpy(task.labels).split(task.batch)
    update = _Update(twin, training)
    losses: list[Tensor] = []
    for step in range(training.steps):
        twin.zero_grad(set_to_none=True)
        _, loss = base_loss(twin, images[step % len(images)], labels[step % len(labels)])
        loss.backward()
        update()
        losses.append(loss.detach())
    return torch.stack(losses).double().numpy()


def largest_difference(ours: np.ndarray, exact: np.ndarray) -> float:
    """Returns the largest relative error over the steps."""
    return float(np.max(np.abs(ours - exact) / np.abs(exact)))


def largest_mean_difference(ours: np.ndarray, exact: np.ndarray) -> float:
    """Returns the same for the means over 20 steps."""
    count = len(exact) // _WINDOW * _WINDOW
    return largest_difference(ours[:count].reshape(-1, _WINDOW).mean(1),
                              exact[:count].reshape(-1, _WINDOW).mean(1))


def compare_curves(model: Model, training: Training, program: Program, reference: Program,
                   keep: Path | None) -> Iterator[CurveResult]:
    """Compares each step of f64 on the reference backend, and means over 20 steps of f32, with PyTorch in float64."""
    twin = model.make(model.num_classes, model.image_size)
    images, labels = draw_batch(training.batch * _BATCHES, model.image_size, model.num_classes,
                                training.seed)
    weights = draw_weights(twin, images[:training.batch], training.seed, smooth=False)
    task = Task(weights, images, labels, training.batch, True, training.weight_decay)
    exact = torch_losses(twin, task, training, torch.float64)
    single = torch_losses(twin, task, training, torch.float32)
    flags = [f"--optimizer={training.optimizer}", f"--momentum={_MOMENTUM}",
             f"--init_learning_rate={training.learning_rate!r}"]
    label = f"{model.label} {training.optimizer}"
    with _folder(keep, f"curve-{label.replace('/', '-').replace(' ', '-')}") as folder:
        write_task(task, folder)
        np.savetxt(folder / "torch.txt", np.stack([exact, single], 1))
        doubles = np.array(reference.losses(model, task, training.steps, flags, folder))
        difference = largest_difference(doubles, exact)
        yield CurveResult(f"{label}: loss {exact[0]:.4f} to {exact[-1]:.4f} in {training.steps} "
                          f"steps of {training.batch} images; f64 on the reference backend: "
                          f"every step within {difference:.1e} (allowed 1e-6)",
                          difference <= 1e-6)
        singles = np.array(program.losses(model, task, training.steps, flags, folder))
        difference = largest_mean_difference(singles, exact)
        yield CurveResult(f"{label}: f32: 20-step means within {difference:.1e} (allowed 1e-2); "
                          f"PyTorch in float32: {largest_mean_difference(single, exact):.1e}",
                          difference <= 1e-2)
