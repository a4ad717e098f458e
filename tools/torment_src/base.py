"""The short run that the cases vary."""

from .flag_table import Flag, read_flags, read_variables

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


class Program:
    """Returns what the cases must know about the program. Throws HelpError."""

    def __init__(self, bench: str):
        self.bench = bench
        self.flags: list[Flag] = read_flags(bench)
        self.variables: dict[str, list[int]] = read_variables(bench, tiny())
