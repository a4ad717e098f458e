"""The short run that the cases are variations of."""

from .flag_table import Flag, read_flags, read_variables

# The smallest network there is, for two steps.
_TINY = {"model": "trivial", "data_name": "cifar10", "device": "cpu", "batch_size": "2",
         "num_warmup_batches": "1", "num_batches": "2", "num_intra_threads": "1"}


def tiny(**other: str) -> list[str]:
    """The flags of the short run, some of them with another value, more of them behind these."""
    return [f"--{name}={value}" for name, value in (_TINY | other).items()]


def tiny_without(names: set[str]) -> list[str]:
    """The flags of the short run but these, and but those that would contradict them."""
    left_out = set(names)
    if "model" in names:
        left_out.add("data_name")
    if "num_epochs" in names:
        left_out.add("num_batches")
    if "autotune_threshold" in names:
        left_out.add("num_warmup_batches")
    return [f"--{name}={value}" for name, value in _TINY.items() if name not in left_out]


class Program:
    """What the cases have to know of the program. Throws HelpError."""

    def __init__(self, bench: str):
        self.bench = bench
        self.flags: list[Flag] = read_flags(bench)
        self.variables: dict[str, list[int]] = read_variables(bench, tiny())
