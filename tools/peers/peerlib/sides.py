"""The sides of a comparison: `bench` and the peers, each with its preparation."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping

from .processes import Run, RunFailedError, run_bench, run_peer, run_process
from .variants import Variant
from .work import Work

_FOLDER = Path(__file__).resolve().parents[1]
_SCRIPTS = {"torch": "torch_peer.py", "tensorflow": "tf_peer.py", "onnxruntime": "ort_peer.py",
            "openvino": "openvino_peer.py"}


@dataclass(frozen=True)
class Tools:
    """The installed interpreters, and what every process gets."""
    bench: Path
    # side -> interpreter
    pythons: Mapping[str, str]
    # Folder for exported networks.
    work_folder: Path
    environment: Mapping[str, str]
    timeout_seconds: float
    bench_flags: tuple[str, ...] = ()
    twins: Path | None = None


def python_of(side: str, given: str | None) -> str:
    """Returns the interpreter of the flag, else of the environment, else this one."""
    return given or os.environ.get(f"BENCH_{side.upper()}_PYTHON") or sys.executable


class Sides:
    def __init__(self, tools: Tools):
        self._tools = tools

    def run(self, side: str, variant: Variant, work: Work) -> Run:
        """Runs one process. Throws RunFailedError."""
        tools = self._tools
        environment = {**tools.environment, "OMP_NUM_THREADS": str(work.threads),
                       **variant.environment}
        if side == "ours":
            return run_bench(tools.bench, work, (*variant.flags, *tools.bench_flags), environment,
                             tools.timeout_seconds)
        command = [tools.pythons[side], "-B", str(_FOLDER / _SCRIPTS[side]), *work.flags(),
                   *variant.flags]
        if side == "torch":
            command += self._twins()
        elif side in ("onnxruntime", "openvino"):
            command.append(f"--onnx={self._network(side, variant, work)}")
        return run_peer(command, environment, tools.timeout_seconds)

    def _twins(self) -> list[str]:
        return [f"--twins={self._tools.twins}"] if self._tools.twins else []

    def _make(self, side: str, script: str, *flags: str) -> None:
        """Makes a file without the variant's settings, which are only for measuring."""
        tools = self._tools
        run_process([tools.pythons[side], "-B", str(_FOLDER / script), *flags], tools.environment,
                    tools.timeout_seconds)

    def _network(self, side: str, variant: Variant, work: Work) -> Path:
        """Returns the network's file and makes it if it is missing."""
        if work.training:
            raise RunFailedError(f"{side} supports only inference")
        size = f"-{work.image_size}" if work.image_size else ""
        exported = self._tools.work_folder / f"{work.model}{size}-b{work.batch}.onnx"
        if not exported.exists():
            self._make("torch", "export_onnx.py", f"--model={work.model}", f"--batch={work.batch}",
                       f"--image_size={work.image_size}", f"--output={exported}", *self._twins())
        if work.dtype != "int8":
            return exported
        activations = "s8" if variant.name.startswith("s8") else "u8"
        suffix = ".int8.xml" if side == "openvino" else f".{activations}.onnx"
        quantized = exported.with_suffix(suffix)
        if not quantized.exists():
            self._make(side, "quantize_onnx.py", f"--by={side}", f"--input={exported}",
                       f"--output={quantized}", f"--activations={activations}")
        return quantized
