"""What a case is: a command line, the files it finds, where its output goes, which signals come."""

import dataclasses
import enum
import random
import re
import shlex
import signal


@dataclasses.dataclass(frozen=True)
class File:
    """A regular file in the case's folder."""
    data: bytes = b""
    mode: int = 0o644


@dataclasses.dataclass(frozen=True)
class Folder:
    mode: int = 0o755


@dataclasses.dataclass(frozen=True)
class Fifo:
    """A pipe with a name that nobody else opens."""


@dataclasses.dataclass(frozen=True)
class Link:
    """A symbolic link; relative to where it lies."""
    target: str


Node = File | Folder | Fifo | Link


class Stream(enum.Enum):
    """Where stdout or stderr of the program goes. The value is the shell's redirection without its
    descriptor; `broken` is a pipe whose reader goes away."""
    kept = ""
    closed = ">&-"
    full = ">/dev/full"
    read_only = "</dev/null"
    appended = ">>log"
    broken = "| head -c"


@dataclasses.dataclass(frozen=True)
class Blow:
    """A signal, sent `delay` seconds after `marker` stands on stdout, or after the launch."""
    signal: signal.Signals
    delay: float
    marker: str = ""


# Done; failed; wrong use or data; output that cannot be written.
ENDINGS = frozenset({0, 1, 2, 74})


@dataclasses.dataclass
class Case:
    """Strings may hold bytes that are no UTF-8, as surrogates (PEP 383)."""
    title: str
    args: list[str]
    files: dict[str, Node] = dataclasses.field(default_factory=dict)
    stdout: Stream = Stream.kept
    stderr: Stream = Stream.kept
    # With Stream.broken: how much the reader takes before it goes away.
    taken_bytes: int = 0
    # Variables set for the program, and shell commands run before it, in the same process.
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    prelude: str = ""
    blows: list[Blow] = dataclasses.field(default_factory=list)
    # Exit statuses that are right; those of the signals that were sent are too, unless `deaf`.
    endings: frozenset[int] = ENDINGS
    # The run goes on until a signal ends it.
    endless: bool = False
    # The signals are to be ignored.
    deaf: bool = False
    family: str = ""
    seed: int = 0
    number: int = 0

    def shell_line(self, bench: str) -> str:
        """The command for a POSIX-like shell with $'...', in the folder of the case."""
        words = [quoted(word) for word in (bench, *self.args)]
        for descriptor, stream in (("2", self.stderr), ("1", self.stdout)):
            if stream not in (Stream.kept, Stream.broken):
                words.append(descriptor + stream.value)
        if self.prelude:  # `exec`, so that signals reach the program.
            words.insert(0, "exec")
        words = [f"{name}={quoted(value)}" for name, value in self.environment.items()] + words
        line = " ".join(words)
        if self.prelude:
            line = f"({self.prelude}; {line})"
        if self.stdout is Stream.broken:
            line += f" | head -c {self.taken_bytes}"
        if not self.blows:
            return line
        parts = [f"{line} & p=$!"]
        for blow in self.blows:
            after = f"  # after '{blow.marker}'\n" if blow.marker else ""
            parts.append(f"{after}sleep {blow.delay:.3f}; kill -{blow.signal.name[3:]} $p")
        return "; ".join(parts) + "; wait $p"

    def values_of(self, *names: str) -> list[str]:
        """The values that the command line gives to these flags, however they are written."""
        either = "|".join(names).replace("_", "[-_]")
        flag = re.compile(rf"--?(?:{either})(?:=(.*))?", re.DOTALL | re.IGNORECASE)
        values = []
        for place, word in enumerate(self.args):
            match = flag.fullmatch(word)
            if match and match[1] is not None:
                values.append(match[1])
            elif match and place + 1 < len(self.args):
                values.append(self.args[place + 1])
        return values


def encoded(word: str) -> bytes:
    """The bytes that the program gets."""
    return word.encode("utf-8", "surrogateescape")


def quoted(word: str) -> str:
    """The word for a shell, on one line and printable."""
    if word.isascii() and word.isprintable():
        return shlex.quote(word)
    text = ""
    for byte in encoded(word):
        plain = 0x20 <= byte < 0x7F and byte not in b"'\\"
        text += chr(byte) if plain else f"\\{byte:03o}"
    return f"$'{text}'"


def random_of(seed: int, number: int) -> random.Random:
    """The case's own random numbers: the same on every machine."""
    return random.Random(f"torment {seed} {number}")
