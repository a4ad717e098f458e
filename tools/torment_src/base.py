"""The short run that the cases vary."""

import os
import subprocess
import tempfile
from pathlib import Path

from .flag_table import Flag, HelpError, read_flags, read_variables
from .formats.records import bytes_of, some

# The smallest network, for two steps.
_TINY = {"model": "trivial", "data_name": "cifar10", "device": "cpu", "batch_size": "2",
         "num_warmup_batches": "1", "num_batches": "2", "num_intra_threads": "1"}


def tiny(**other: str) -> list[str]:
    """Returns the flags of the short run. `other` replaces some values and appends more flags."""
    return [f"--{name}={value}" for name, value in (_TINY | other).items()]


def tiny_without(names: set[str]) -> list[str]:
    """Returns the flags of the short run without these, and without those that would contradict them."""
    left_out = set(names)
    if "model" in names:
        left_out.add("data_name")
    if "num_epochs" in names:
        left_out.add("num_batches")
    if "autotune_threshold" in names:
        left_out.add("num_warmup_batches")
    return [f"--{name}={value}" for name, value in _TINY.items() if name not in left_out]


def read_database(results: str) -> bytes:
    """Returns a database with some runs, which bench_results makes. Throws HelpError."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, whole in enumerate(some()):
            names.append(f"{folder}/{number}.json")
            Path(names[-1]).write_bytes(bytes_of(whole))
        try:
            subprocess.run([results, "store", *names, f"--store={folder}/s.sqlite"], check=True, capture_output=True,
                           timeout=60)
            return Path(folder, "s.sqlite").read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise HelpError(f"{results} store: {error}") from error


class Program:
    """Returns what the cases must know about the program. Throws HelpError."""

    def __init__(self, bench: str):
        self.bench = bench
        self.database = read_database(os.path.join(os.path.dirname(bench), "bench_results"))
        self.flags: list[Flag] = read_flags(bench)
        self.variables: dict[str, list[int]] = read_variables(bench, tiny())
