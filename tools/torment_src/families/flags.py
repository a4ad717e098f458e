"""Every flag of the table in turn, with a value of any kind in any notation."""

import random

from ..base import Program, tiny_without
from ..case import Case, Folder
from ..flag_table import Flag
from ..values import CALM, hostile, is_calm, taken

# Flags that end the program before a run.
_ENDING = {"help", "version", "list_models", "list_variables", "dump", "verify", "dump_tensors"}
_RECORDS = ("result_file=r.json", "result_file=r.json", "forward_only", "profile=false")


def _written(rng: random.Random, flag: Flag, value: str) -> list[str]:
    """Returns ways to give a value, including rare and wrong ones."""
    forms = [[f"--{flag.name}={value}"]] * 8
    forms += [[f"-{flag.name}={value}"], [f"--{flag.name}", value],
              [f"--{flag.name.upper()}={value}"], [f"--{flag.name.replace('_', '-')}={value}"],
              [f"--{flag.name}"], [f"--no{flag.name}"], [f"--{flag.name}= {value}"],
              [f"--no{flag.name}={value}"]]
    if rng.random() < 0.12:
        other = hostile(rng, flag) if rng.random() < 0.5 else value
        return [f"--{flag.name}={other}", f"--{flag.name}={value}"]
    return rng.choice(forms)


def make(rng: random.Random, program: Program, index: int) -> Case:
    flag = program.flags[index % len(program.flags)]
    value = taken(rng, flag) if rng.random() < 0.15 else hostile(rng, flag)
    words = _written(rng, flag, value)
    case = Case(f"--{flag.name}", words, {"sub": Folder()})
    # The notation of a value may make the flag's default apply.
    calm = all(is_calm(flag.name, given) for given in [value, *case.values_of(flag.name)])
    calm = calm and not (flag.name in CALM and words == [f"--{flag.name}"])
    case.args += tiny_without({flag.name})
    if flag.name not in _ENDING:
        dumped = not calm or rng.random() < 0.3
        # The record contains the flags as given.
        more = "--dump=graph" if dumped else f"--{rng.choice(_RECORDS)}"
        if not more.startswith(f"--{flag.name}"):
            case.args.append(more)
    return case
