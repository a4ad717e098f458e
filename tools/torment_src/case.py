"""A case: a command line, its files, the targets of its output, and the signals that it receives."""

import dataclasses
import enum
import os
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
    """A named pipe that no other process opens."""


@dataclasses.dataclass(frozen=True)
class Link:
    """A symbolic link, relative to its folder."""
    target: str


Node = File | Folder | Fifo | Link


class Stream(enum.Enum):
    """The target of the program's stdout or stderr. The value is the shell's redirection without its descriptor.
    `broken` is a pipe whose reader closes it."""
    kept = ""
    closed = ">&-"
    full = ">/dev/full"
    read_only = "</dev/null"
    appended = ">>log"
    broken = "| head -c"


@dataclasses.dataclass(frozen=True)
class Blow:
    """A signal, sent `delay` seconds after stdout contains `marker`, or after the launch. With `child`, the youngest
    descendant of the program receives it."""
    signal: signal.Signals
    delay: float
    marker: str = ""
    child: bool = False


# Takes from root what other users do not have.
_WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--")

# Success; failure; wrong usage or data; output that cannot be written.
ENDINGS = frozenset({0, 1, 2, 74})


@dataclasses.dataclass
class Case:
    """A case. Strings may contain bytes that are not valid UTF-8, as surrogates (PEP 383)."""
    title: str
    args: list[str]
    files: dict[str, Node] = dataclasses.field(default_factory=dict)
    stdout: Stream = Stream.kept
    stderr: Stream = Stream.kept
    # With Stream.broken: the number of bytes that the reader takes before it closes the pipe.
    taken_bytes: int = 0
    # Variables to set for the program, and shell commands to run before it in the same process.
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    prelude: str = ""
    blows: list[Blow] = dataclasses.field(default_factory=list)
    # Valid exit statuses. The statuses of the sent signals are valid too, unless `deaf`.
    endings: frozenset[int] = ENDINGS
    # bench, or bench_results, for which the variable TORMENT_BENCH names bench.
    program: str = "bench"
    # The program has no right to pass by the modes of files, even if root runs it.
    unprivileged: bool = False
    # Files and folders that the program may write, in addition to those of its flags.
    outputs: tuple[str, ...] = ()
    # Bytes that stdout must not contain.
    forbidden: tuple[bytes, ...] = ()
    # The run continues until a signal ends it.
    endless: bool = False
    # The program must ignore the signals.
    deaf: bool = False
    family: str = ""
    seed: int = 0
    number: int = 0

    def words(self, bench: str) -> list[str]:
        """Returns the command without redirections. bench_results is in bench's folder."""
        program = bench if self.program == "bench" else os.path.join(os.path.dirname(bench), self.program)
        before = _WITHOUT_RIGHTS if self.unprivileged and os.geteuid() == 0 else ()
        return [*before, program, *self.args]

    def shell_line(self, bench: str) -> str:
        """Returns the command for a POSIX-like shell with $'...', to run in the folder of the case."""
        words = [quoted(word) for word in self.words(bench)]
        if self.program != "bench":
            words.insert(0, f"TORMENT_BENCH={quoted(bench)}")
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
            parts.append(f"{after}sleep {blow.delay:.3f}; kill -{blow.signal.name[3:]} "
                         + ("$(pgrep -P $p)" if blow.child else "$p"))
        return "; ".join(parts) + "; wait $p"

    def values_of(self, *names: str) -> list[str]:
        """Returns the values that the command line gives to these flags, in any notation."""
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
    """Returns the bytes that the program gets."""
    return word.encode("utf-8", "surrogateescape")


def quoted(word: str) -> str:
    """Returns the word for a shell, on one line and printable."""
    if word.isascii() and word.isprintable():
        return shlex.quote(word)
    text = ""
    for byte in encoded(word):
        plain = 0x20 <= byte < 0x7F and byte not in b"'\\"
        text += chr(byte) if plain else f"\\{byte:03o}"
    return f"$'{text}'"


def random_of(seed: int, number: int) -> random.Random:
    """Returns the case's random numbers, which are the same on every machine."""
    return random.Random(f"torment {seed} {number}")
