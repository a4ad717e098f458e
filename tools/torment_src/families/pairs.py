"""Two or three flags together, mostly with values that are valid for each alone."""

import random

from ..base import Program, tiny_without
from ..case import Case, Folder
from ..values import hostile, is_calm, taken

# These take long: a check of a model, a measurement of the machine.
_SLOW = {"profile", "verify"}


def make(rng: random.Random, program: Program, index: int) -> Case:
    built = [flag for flag in program.flags if flag.built]
    chosen = {}
    for _ in range(rng.choice((2, 2, 3))):
        flag = rng.choice(built if rng.random() < 0.9 else program.flags)
        if flag.name in _SLOW and rng.random() < 0.8:
            continue
        chosen[flag.name] = flag
    args, calm = [], True
    for name, flag in chosen.items():
        value = hostile(rng, flag) if rng.random() < 0.1 else taken(rng, flag)
        calm = calm and is_calm(name, value)
        args.append(f"--{name}={value}")
    args += tiny_without(set(chosen))
    if not calm and "dump" not in chosen:
        args.append("--dump=graph")
    return Case(" ".join(f"--{name}" for name in chosen), args, {"sub": Folder()})
