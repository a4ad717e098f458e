"""One workload, as every peer's script reads it from its command line."""

import argparse
import dataclasses
from dataclasses import dataclass

DTYPES = ("f32", "bf16", "int8")
CALIBRATION_BATCHES = 4
# Small, because `bench` does not normalise its synthetic images. At 1e-3, AlexNet's loss grows.
LEARNING_RATE = 1e-4
# Models that do not classify images -> what their batches count. Only PyTorch has them.
OTHER_MODELS = {"lstm_lm": "sequences", "ncf": "pairs", "deepspeech2": "utterances", "ssd300": "images"}
# Those whose tensors have no layouts to choose from.
WITHOUT_IMAGES = ("lstm_lm", "ncf")


class NotSupportedError(RuntimeError):
    """This peer does not support this workload. The message names what is missing."""


@dataclass(frozen=True)
class Work:
    """A workload, the same for every side. If `image_size` is 0, images have the model's default size."""
    model: str
    mode: str
    dtype: str
    batch: int
    threads: int
    steps: int
    warmup: int
    image_size: int

    @property
    def training(self) -> bool:
        return self.mode == "train"

    @property
    def examples(self) -> str:
        """What a batch counts."""
        return OTHER_MODELS.get(self.model, "images")

    def flags(self) -> list[str]:
        """Returns the command line that `parse` turns into the same workload."""
        return [f"--{name}={value}" for name, value in dataclasses.asdict(self).items()]


def add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="resnet50_v1.5", help="the network's name in `bench`")
    parser.add_argument("--mode", choices=("train", "infer"), default="train")
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10, help="steps to time")
    parser.add_argument("--warmup", type=int, default=3, help="steps before the timed ones")
    parser.add_argument("--image_size", type=int, default=0, help="0: the model's own")


def work_of(options: argparse.Namespace) -> Work:
    """Throws NotSupportedError for int8 training and counts below 1."""
    work = Work(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Work)})
    if work.training and work.dtype == "int8":
        raise NotSupportedError("int8 is only for inference")
    for name in ("batch", "threads", "steps", "warmup"):
        if getattr(work, name) < 1:
            raise NotSupportedError(f"--{name} must be at least 1")
    return work
