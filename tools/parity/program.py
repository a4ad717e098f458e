"""Runs `bench` on given weights and batches."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import safetensors
from .numbers import Arrays, Task
from .zoo import Model

_TAIL_LINES = 15


class ProgramError(RuntimeError):
    """`bench` failed or wrote something unexpected."""


@dataclass(frozen=True)
class Program:
    path: Path
    device: str = "cpu"
    # 0: bench chooses the number.
    threads: int = 0
    timeout_seconds: float = 3600
    # More flags, passed on unchanged.
    extra: tuple[str, ...] = ()

    def _run(self, arguments: list[str]) -> None:
        command = [str(self.path), *arguments, f"--device={self.device}", *self.extra]
        if self.threads:
            command.append(f"--num_intra_threads={self.threads}")
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=self.timeout_seconds)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ProgramError(str(error)) from error
        if done.returncode != 0:
            tail = "\n".join((done.stdout + done.stderr).splitlines()[-_TAIL_LINES:])
            raise ProgramError(f"{' '.join(command)}\nexited with status {done.returncode}:\n{tail}")

    def dump(self, model: Model, task: Task, flags: list[str], folder: Path, name: str) -> Arrays:
        """Returns the tensors of one step, which stay in the folder's file NAME.safetensors."""
        output = folder / f"{name}.safetensors"
        flags = [*flags, f"--dump_tensors={output}"]
        if not task.training:
            flags.append("--forward_only")
        self._run([*_task_flags(model, task, folder), *flags])
        if not output.exists():
            raise ProgramError(f"{output} was not written")
        return safetensors.load(output)

    def losses(self, model: Model, task: Task, steps: int, flags: list[str],
               folder: Path) -> list[float]:
        """Returns the base loss of each step."""
        output = folder / "record.json"
        self._run([*_task_flags(model, task, folder), *flags, f"--result_file={output}",
                   "--num_warmup_batches=0", f"--num_batches={steps}",
                   "--loss_type_to_report=base_loss"])
        losses = step_losses(json.loads(output.read_text()))
        if len(losses) != steps:
            raise ProgramError(f"{output}: {len(losses)} losses, but {steps} steps")
        return losses


def step_losses(record: dict) -> list[float]:
    """Returns the loss of each step from a run's record."""
    return record["series"]["loss"]


def write_task(task: Task, folder: Path) -> None:
    safetensors.save(folder / "weights.safetensors", task.weights)
    safetensors.save(folder / "batch.safetensors", {"images": task.images, "labels": task.labels})


def _task_flags(model: Model, task: Task, folder: Path) -> list[str]:
    """Returns the flags for the files of write_task."""
    flags = [f"--model={model.name}", f"--data_name={model.dataset}",
             f"--batch_size={task.batch}", f"--weight_decay={task.weight_decay!r}",
             f"--init_from={folder / 'weights.safetensors'}",
             f"--input_file={folder / 'batch.safetensors'}", "--deterministic_layers"]
    if model.aux_head and task.training:
        flags.append("--aux_head")
    if task.images.shape[2] != model.image_size:
        flags.append(f"--image_size={task.images.shape[2]}")
    return flags
