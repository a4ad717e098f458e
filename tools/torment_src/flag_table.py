"""The program's flags, read from its help."""

import dataclasses
import os
import re
import subprocess


class HelpError(RuntimeError):
    """The program's help cannot be parsed."""


@dataclasses.dataclass(frozen=True)
class Flag:
    name: str
    # INT, NUM, NAME, LIST or TEXT; empty for a boolean.
    kind: str
    meaning: str

    @property
    def values(self) -> list[str]:
        """Returns the accepted names, or none if the flag accepts other values."""
        match = re.search(r"(?:one of|comma-separated list of) ([^;()]*?)(?: in any case)?[;)]",
                          self.meaning)
        return re.split(r",? or |, ", match[1]) if match else []

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Returns the smallest and largest accepted number, if the help gives them."""
        number = r"(-?[\d.]+(?:e[-+]?\d+)?)"
        if match := re.search(rf"\(from {number} to (?:below )?{number}[;)]", self.meaning):
            return float(match[1]), float(match[2])
        if match := re.search(rf"\((?:at least|above) {number}[;)]", self.meaning):
            return float(match[1]), None
        return None, None

    @property
    def built(self) -> bool:
        """Returns whether values other than the default can have an effect."""
        return not re.search(r"\[(not applicable|no effect)", self.meaning)


_FLAG = re.compile(r" {1,4}(?:-\w, )?--(\w+)(?:\[?=([A-Z]+)\]?)?(?: +(\S.*))?")
_FEWEST = 50
# They start another program, whose output and exit status are not ours.
_START_MPIRUN = {"np", "hosts"}


def parse_help(text: str) -> list[Flag]:
    """Returns all flags in their order. Throws HelpError if the text lists too few."""
    found: dict[str, list[str]] = {}
    kinds: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        match = _FLAG.fullmatch(line)
        if match and match[1] not in found:
            current = match[1]
            kinds[current] = match[2] or ""
            found[current] = [match[3]] if match[3] else []
        elif current and line.startswith("      "):
            found[current].append(line.strip())
        else:
            current = ""
    if len(found) < _FEWEST:
        raise HelpError(f"the help lists {len(found)} flags, fewer than {_FEWEST}")
    return [Flag(name, kinds[name], " ".join(words)) for name, words in found.items()
            if name not in _START_MPIRUN]


def _printed(bench: str, *args: str) -> str | None:
    """Returns the program's output, or nothing if it refuses."""
    try:
        run = subprocess.run([bench, *args], stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HelpError(f"{bench} {' '.join(args)}: {error}") from error
    return run.stdout.decode("utf-8", "replace") if run.returncode == 0 else None


def read_flags(bench: str) -> list[Flag]:
    """Returns the flags of the program at this path. Throws HelpError."""
    text = _printed(bench, "--help=all")
    if text is None:
        raise HelpError(f"{bench} --help=all failed")
    return parse_help(text)


def read_variables(bench: str, model_flags: list[str]) -> dict[str, list[int]]:
    """Returns names and shapes of the network's variables. Throws HelpError."""
    text = _printed(bench, "--list_variables", *model_flags) or ""
    shapes = {}
    for line in text.splitlines():
        if match := re.match(r"(\S+) +(\d+(?:x\d+)*) +(?:yes|no)\b", line):
            shapes[match[1]] = [int(extent) for extent in match[2].split("x")]
    if not shapes:
        raise HelpError(f"{os.path.basename(bench)} --list_variables {' '.join(model_flags)} "
                        "prints no variables")
    return shapes
