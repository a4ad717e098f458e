"""Values for flags: hostile values of every kind, and valid ones."""

import random

from .flag_table import Flag

# Bytes that are not valid UTF-8 are written as surrogates (PEP 383).
_NUMBERS = (
    "0", "1", "2", "-1", "-0", "+5", "05", "1e3", "1e400", "-1e400", "1e-400", "5.0", "5.", ".5",
    ".", "nan", "NaN", "inf", "-inf", "infinity", "0x10", "0b1", "0x1p3", "1_000", "1,000", "1;2",
    "½", "٣", "255", "256", "65536", "16777216", "16777217", "2147483647", "2147483648",
    "-2147483649", "4294967295", "4294967296", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "1" * 400, "0." + "0" * 400 + "1", "1e308", "1.8e308", "5e-324", "--5",
)
_TEXTS = (
    "", " ", "  ", "\t", "\n", "-", "--", "---", "=", "==", ",", ",,", ";", "a,b", "a,,b", "true",
    "false", "TRUE", "yes", "no", "null", "none", "auto", "é", "naïve", "😀", "\u202etxt",
    "\u0085", "\u2028", "\x07", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\nb", "a\rb", "a\tb",
    "\x7f", "\udcff", "\udcc3(", "ab\udc80cd", "%s%n%d", "$(touch x)", "`x`", "'", '"', "\\",
    "\\x1b", "a b", "x" * 300, "x" * 5000, "é" * 2000, "none.such", "--model",
)
_BOOLS = ("true", "false", "True", "FALSE", "1", "0", "yes", "no", "t", "f", "on", "off", "2",
          "truee")


def _bent(rng: random.Random, text: str) -> str:
    """Returns a text that differs slightly from a valid one."""
    if not text:
        return " "
    place = rng.randrange(len(text))
    return rng.choice((
        f" {text}", f"{text} ", f"\t{text}", f"{text}\n", f"{text}\r", text.upper(),
        text.swapcase(), text[:-1], text + text[-1], text[:place] + text[place + 1:],
        f"{text},{text}", f"{text},", f"'{text}'", text + "\u200b",
        text[:place] + "\udcfe" + text[place:]))


def hostile(rng: random.Random, flag: Flag) -> str:
    """Returns any text, mostly similar to a valid value of the flag."""
    pools = [_TEXTS]
    if flag.kind in ("INT", "NUM"):
        pools = [_NUMBERS, _NUMBERS, _NUMBERS, _TEXTS]
    elif flag.kind == "":
        pools = [_BOOLS, _BOOLS, _TEXTS]
    elif flag.kind in ("NAME", "LIST"):
        pools = [_TEXTS, _NUMBERS]
    if rng.random() < 0.4:
        return _bent(rng, taken(rng, flag))
    if flag.kind in ("INT", "NUM") and rng.random() < 0.3:
        return _at_bound(rng, flag)
    return rng.choice(rng.choice(pools))


def _at_bound(rng: random.Random, flag: Flag) -> str:
    bound = rng.choice([bound for bound in flag.bounds if bound is not None] or [0.0])
    if flag.kind == "INT":
        return str(int(bound) + rng.choice((-1, 0, 1)))
    return rng.choice((f"{bound:g}", f"{bound:.17g}1", f"-{bound:g}", f"{bound - 1e-9:.12g}"))


# Values that keep a run of a few steps short and small. All values of other flags do not make a run longer.
CALM: dict[str, tuple[str, ...]] = {
    "model": ("trivial",),
    "data_name": ("cifar10",),
    "batch_size": ("1", "2", "4", "3", "1,2", "2,2"),
    "num_batches": ("1", "2", "3", "12"),
    "num_epochs": ("0.0001", "1e-9"),
    "num_warmup_batches": ("0", "1", "3"),
    "repeats": ("1", "2", "3"),
    "autotune_threshold": ("1", "2"),
    "batch_group_size": ("1", "2"),
    "image_size": ("32",),
    "num_classes": ("2", "10", "11"),
    "calibration_batches": ("1", "2", "3"),
    "num_intra_threads": ("1", "2"),
    "datasets_num_private_threads": ("1", "2"),
    "datasets_parallel_interleave_cycle_length": ("1", "2"),
    "verify": ("model",),
}
# Texts that are valid for such a flag.
_TEXTS_TAKEN: dict[str, tuple[str, ...]] = {
    "piecewise_learning_rate_schedule": ("0.1;1;0.01", "0.1", "0.1;0;0.2"),
    "result_file": ("r.json", "./sub/r.json"),
    "trace_file": ("t.json", "sub/t.json"),
    "save_variables": ("w.safetensors", "sub/w"),
    "dump_tensors": ("d.safetensors",),
    "benchmark_log_dir": ("logs", "sub", "new/logs"),
    "train_dir": ("trained", "sub", "new/trained"),
    "eval_dir": ("events", "sub"),
    "scaling_sweep": ("1,2", "1,3"),
    "store": ("s.sqlite", "records/", "new/s", "default"),
    "init_from": ("absent",),
    "input_file": ("absent",),
    "data_dir": ("absent", "sub"),
}


def taken(rng: random.Random, flag: Flag) -> str:
    """Returns a value that is valid for the flag alone. A run with it stays short."""
    if flag.name in CALM:
        return rng.choice(CALM[flag.name])
    if flag.name in _TEXTS_TAKEN:
        return rng.choice(_TEXTS_TAKEN[flag.name])
    if flag.kind == "":
        return rng.choice(("true", "true", "false"))
    if flag.values:
        return rng.choice(flag.values)
    low, high = flag.bounds
    least = 0 if low is None else low
    if flag.kind == "INT":
        largest = least + 4 if high is None else min(high, least + 4)
        return str(rng.randint(int(least), int(largest)))
    if flag.kind == "NUM":
        largest = least + 1 if high is None else high
        return f"{least + (largest - least) * rng.choice((0.001, 0.1, 0.5, 0.9)):g}"
    return rng.choice(("a", "name", "1"))


def is_calm(name: str, value: str) -> bool:
    return name not in CALM or value in CALM[name]
