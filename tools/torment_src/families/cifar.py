"""Folders with valid and invalid files of CIFAR-10's binary version."""

import random

from ..base import Program, tiny
from ..case import Case, Fifo, File, Folder, Link, Node

_RECORD_BYTES = 3073
_FIRST, _TEST = "data/data_batch_1.bin", "data/test_batch.bin"


def records(rng: random.Random, labels: list[int]) -> bytes:
    return b"".join(bytes([label]) + rng.randbytes(_RECORD_BYTES - 1) for label in labels)


def _right(rng: random.Random) -> dict[str, Node]:
    """Returns files with valid records. Three batches of four read all of them."""
    count = rng.choice((1, 2, 5))
    return {f"data/data_batch_{i + 1}.bin": File(records(rng, rng.choices(range(10), k=2)))
            for i in range(count)}


def _files(rng: random.Random, kind: str) -> tuple[dict[str, Node], frozenset[int]]:
    """Returns the files, and how a run that uses them must end."""
    files, refused = _right(rng), frozenset({2})
    whole = records(rng, [1, 2])
    match kind:
        case "right":
            return files, frozenset({0})
        case "size":
            off = rng.choice((1, -1, -7, 512, _RECORD_BYTES - 1, -_RECORD_BYTES + 1))
            files[_FIRST] = File(whole[:off] if off < 0 else whole + bytes(off))
        case "empty":
            files[_FIRST] = File()
        case "label":
            files[_FIRST] = File(records(rng, [rng.choice((11, 127, 128, 255)), 3]))
        case "noise":
            files[_FIRST] = File(rng.randbytes(rng.choice((10, _RECORD_BYTES, 2 * _RECORD_BYTES))))
            return files, frozenset({0, 2})
        case "fifo":
            files[_FIRST] = Fifo()
        case "folder in its place":
            files[_FIRST] = Folder()
        case "dangling link":
            files[_FIRST] = Link("absent")
        case "symlink loop":
            files[_FIRST] = Link("data_batch_1.bin")
        case "link":
            files[_FIRST] = Link("../elsewhere")
            files["elsewhere"] = File(whole)
            return files, frozenset({0})
        case "none":
            files = {"data": Folder()}
        case "python version":
            files = {"data/data_batch_1": File(b"\x80\x02}q\x00.")}
        case "test alone":
            files = {_TEST: File(whole)}
        case "other names":
            name = rng.choice(("data_batch_1.bin.gz", "data_batch_.bin", "data_batch_\x1b[31m.bin",
                               "data_batch_é.bin", "data_batch_\n.bin"))
            files = {f"data/{name}": File(whole[:-3])}
        case "file as folder":
            files = {"data": File(whole)}
        case "no folder":
            files = {}
    return files, refused


_KINDS = ("right", "size", "empty", "label", "noise", "fifo", "folder in its place",
          "dangling link", "symlink loop", "link", "none", "python version", "test alone",
          "other names", "file as folder", "no folder")
_VARIATIONS = ("--distortions", "--forward_only", "--datasets_use_caching",
               "--datasets_repeat_cached_sample", "--datasets_num_private_threads=3",
               "--result_file=r.json", "--data_format=NHWC", "--print_training_accuracy")


def make(rng: random.Random, program: Program, index: int) -> Case:
    kind = _KINDS[index % len(_KINDS)] if index < len(_KINDS) else rng.choice(_KINDS)
    files, endings = _files(rng, kind)
    more = rng.sample(_VARIATIONS, rng.choice((0, 0, 1, 2)))
    # If a record is repeated, bench does not read the others.
    if kind == "label" and "--datasets_repeat_cached_sample" in more:
        more.remove("--datasets_repeat_cached_sample")
    folder = rng.choice(("data", "./data/", "data"))
    args = [f"--data_dir={folder}", *tiny(batch_size="4", num_batches="3"), *more]
    return Case(f"CIFAR-10 files: {kind}", args, files, endings=endings)
