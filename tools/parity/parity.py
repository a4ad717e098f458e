"""Compares one step of each model in bench and in PyTorch, from the same weights and batch."""

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, Sequence

from . import safetensors
from .compare import Limits, Quantity, Verdict, compare, worst
from .numbers import (EXACT, SINGLE, Arrays, Task, draw_batch, draw_weights, run_twin)
from .program import Program, write_task
from .zoo import Model


@dataclass(frozen=True)
class Plan:
    program: Program
    limits: Limits
    formats: tuple[str, ...]
    batch: int
    # 0: a small size, if the network has one.
    image_size: int
    full_size: bool
    # Number of weights and batches to try until each quantity has passed once.
    draws: int
    seed: int
    modes: tuple[str, ...]
    plain_weights: bool
    weight_decay: float
    # Folder to keep files in, or None.
    keep: Path | None
    flags: tuple[str, ...] = ()

    def size(self, model: Model) -> int:
        if self.image_size:
            return self.image_size
        return model.image_size if self.full_size or not model.small_size else model.small_size


@dataclass
class Row:
    """The result of one model in one mode and data format: every quantity from the draw in which it passed, or from the
    last draw."""
    model: Model
    mode: str
    data_format: str
    batch: int
    image_size: int
    draws: int = 0
    quantities: dict[str, Quantity] = field(default_factory=dict)
    error: str = ""

    @property
    def settled(self) -> bool:
        return bool(self.error) or bool(self.quantities) and not self._with(Verdict.FAILED)

    @property
    def passed(self) -> bool:
        return self.settled and not self.error

    def add(self, found: dict[str, Quantity]) -> None:
        self.draws += 1
        for name, quantity in found.items():
            before = self.quantities.get(name)
            if before is None or before.verdict is Verdict.FAILED:
                self.quantities[name] = quantity

    def _with(self, verdict: Verdict) -> list[Quantity]:
        return [q for q in self.quantities.values() if q.verdict is verdict]

    def text(self) -> str:
        start = (f"{self.model.label:22} {self.mode:7} {self.data_format:5} {self.batch:>3} "
                 f"{self.image_size:>4}  ")
        if self.error:
            return f"{start}FAILED: {self.error}"
        cells = [_cell(self.quantities.get(name)) for name in ("logits", "loss", "total_loss")]
        gradients = [q for name, q in self.quantities.items() if name.startswith("grad/")]
        least = worst(gradients)
        floor = sum(q.verdict is Verdict.UNDER_FLOOR for q in gradients)
        cells.append(_cell(least))
        name = least.name.removeprefix("grad/") if least else "-"
        failed = len(self._with(Verdict.FAILED))
        return (f"{start}{' '.join(cells)}  {name:34} {floor:>3}/{len(gradients):<4} {self.draws}  "
                f"{'ok' if self.passed else f'FAILED ({failed})'}")


def _cell(quantity: Quantity | None) -> str:
    """Returns our error and its ratio to PyTorch's; ~ if a floor made the ratio meaningless."""
    if quantity is None:
        return f"{'-':>15}"
    exact = quantity.verdict in (Verdict.OK, Verdict.FAILED)
    return f"{quantity.ours:8.1e} {f'{quantity.ratio:.2f}' if exact else '~':>6}"


HEADER = (f"{'model':22} {'mode':7} {'fmt':5} {'N':>3} {'size':>4}  {'logits  ratio':>15} "
          f"{'loss  ratio':>15} {'total  ratio':>15} {'gradient  ratio':>15}  "
          f"{'worst gradient':34} {'floor':8} draws")


@contextmanager
def _folder(keep: Path | None, name: str) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="parity-") as folder:
            yield Path(folder)
        return
    folder = keep / name
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def compare_model(model: Model, plan: Plan) -> Iterator[Row]:
    """Prints a row per mode and format."""
    size = plan.size(model)
    twin = model.make(model.num_classes, size)
    for mode in plan.modes:
        training = mode == "train"
        if model.aux_head and not training:
            continue
        rows = [Row(model, mode, data_format, plan.batch, size) for data_format in plan.formats]
        for draw in range(plan.draws):
            seed = plan.seed + draw
            images, labels = draw_batch(plan.batch, size, model.num_classes, seed)
            weights = draw_weights(twin, images, seed, smooth=training and not plan.plain_weights)
            task = Task(weights, images, labels, plan.batch, training, plan.weight_decay)
            with _folder(plan.keep, f"{model.label.replace('/', '-')}-{mode}-{seed}") as folder:
                _one_draw(twin, task, [row for row in rows if not row.settled], plan, folder)
            if all(row.settled for row in rows):
                break
        yield from rows


def _one_draw(twin, task: Task, rows: Sequence[Row], plan: Plan, folder: Path) -> None:
    write_task(task, folder)
    exact = run_twin(twin, task, EXACT)
    if plan.keep is not None:
        safetensors.save(folder / "exact.safetensors", exact)
    singles: dict[str, Arrays] = {}
    for row in rows:
        # PyTorch's channels-last kernels are less exact, so they are not used as a standard for NCHW.
        ways = [way for way in SINGLE if row.data_format != "NCHW" or not way.channels_last]
        for way in ways:
            if way.name not in singles:
                singles[way.name] = run_twin(twin, task, way)
        try:
            ours = plan.program.dump(row.model, task,
                                     [f"--data_format={row.data_format}", *plan.flags], folder,
                                     f"ours-{row.data_format}")
            row.add(compare(ours, [singles[way.name] for way in ways], exact, plan.limits))
        except (RuntimeError, ValueError, OSError) as error:
            row.error = f"{type(error).__name__}: {error}"
