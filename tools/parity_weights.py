#!/usr/bin/python3
"""Compares evaluations of torchvision's networks by `bench` and by torchvision, preprocessing included.

    parity_weights.py --images=FOLDER [--bench=build/release/bin/bench] [--models=a,b]

FOLDER has JPEGs. The weights are torchvision's initial ones, with drawn statistics of batch norm. Each program
decodes, resizes and normalises the JPEGs and computes the logits in f32. An error is relative to PyTorch's result in
float64, from torchvision's images. Exit status: 0 if each error is at most twice PyTorch's or 8 float32 epsilons, and
the numbers of correct images are equal; otherwise 1.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torchvision  # noqa: E402
from PIL import Image  # noqa: E402

from parity import safetensors  # noqa: E402
from torment_src.formats import tfrecord  # noqa: E402

NETWORKS = ("torchvision_resnet50", "resnext50_32x4d", "wide_resnet50_2", "densenet121", "densenet169", "densenet201",
            "mobilenet_v2", "mobilenet_v3_large", "squeezenet1_1", "shufflenet_v2_x1_0", "efficientnet_b0")
_ROOT = Path(__file__).resolve().parent.parent
_FLOOR = 8 * float(np.finfo(np.float32).eps)


def write_shard(path: Path, jpegs: list[bytes], classes: list[int]) -> None:
    with path.open("wb") as file:
        for jpeg, number in zip(jpegs, classes):
            file.write(tfrecord.frame(tfrecord.example(tfrecord.image_features(jpeg, number + 1))))


def randomise_statistics(network: torch.nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.8, 1.2)


def drawn_classes(logits: np.ndarray) -> list[int]:
    """Classes of which about a third are the best guess, and a third another one of the best five."""
    order = np.argsort(-logits, axis=1)
    return [int(row[(0, 3, 500)[place % 3]]) for place, row in enumerate(order)]


def evaluate(bench: str, folder: Path, model: str, *more: str) -> str:
    """What bench prints about torchvision's weights in the folder."""
    command = [bench, "--eval", f"--model={model}", f"--init_from={folder}/weights.safetensors",
               f"--data_dir={folder}/data", "--data_name=imagenet", "--device=cpu",
               "--input_preprocessor=torchvision", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexited with status {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def correct(printed: str) -> tuple[int, int]:
    """The numbers of images whose class is the best guess, and one of the best five."""
    found = re.search(r"Accuracy @ 1 = (\S+) Accuracy @ 5 = (\S+) \[(\d+) examples\]", printed)
    return tuple(round(float(found[i]) * int(found[3])) for i in (1, 2))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", required=True, type=Path)
    parser.add_argument("--bench", default=str(_ROOT / "build/release/bin/bench"))
    parser.add_argument("--models", default=",".join(NETWORKS))
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.images.iterdir() if path.suffix.lower() in (".jpg", ".jpeg"))
    if not paths:
        parser.error(f"--images={arguments.images}: the folder has no JPEGs")
    torch.manual_seed(0)
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = folder / "data"
        data.mkdir()
        jpegs = [path.read_bytes() for path in paths]
        print(f"{'network':<22}{'images':>7}{'bench':>10}{'PyTorch':>10}   correct, and of the best five")
        for model in arguments.models.split(","):
            name = model.removeprefix("torchvision_")
            preset = torchvision.models.get_model_weights(name).IMAGENET1K_V1.transforms()
            network = torchvision.models.get_model(name).eval()
            with torch.no_grad():
                randomise_statistics(network)
                safetensors.save(folder / "weights.safetensors",
                                 {key: value.numpy() for key, value in network.state_dict().items()})
                images = torch.stack([preset(Image.open(path).convert("RGB")) for path in paths])
                narrow = network(images).double().numpy()
                exact = network.double()(images.double()).numpy()
            classes = drawn_classes(narrow)
            write_shard(data / "validation-00000-of-00001", jpegs, classes)
            dumped = folder / "logits.safetensors"
            evaluate(arguments.bench, folder, model, f"--batch_size={len(paths)}",
                     "--num_eval_batches=1", f"--dump_tensors={dumped}")
            ours = safetensors.load(dumped)["logits"]
            norm = np.linalg.norm(exact)
            error = np.linalg.norm(ours - exact) / norm
            allowed = np.linalg.norm(narrow - exact) / norm
            counts = correct(evaluate(arguments.bench, folder, model, "--batch_size=24",
                                      "--num_eval_epochs=1"))
            best = np.argsort(-narrow, axis=1)[:, :5]
            expected = (sum(int(row[0] == number) for row, number in zip(best, classes)),
                        sum(int(number in row) for row, number in zip(best, classes)))
            good = error <= max(2 * allowed, _FLOOR) and counts == expected
            failed = failed or not good
            print(f"{model:<22}{len(paths):>7}{error:>10.1e}{allowed:>10.1e}   bench {counts}, "
                  f"torchvision {expected}{'' if good else '  FAILED'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
