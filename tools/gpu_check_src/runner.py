"""Runs programs with a time limit, and writes their output to the log as it comes."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Mapping, Sequence

# Time between asking a program to end and killing it.
_GRACE_SECONDS = 2
# The beginning of the reason of a program that took too long.
TIME_LIMIT = "stopped at its time limit"
# The reason of a program that did not start because the time was over.
NO_TIME = "no time left"


@dataclass(frozen=True)
class Outcome:
    # None: it was stopped at its time limit, or did not start.
    status: int | None
    lines: tuple[str, ...]
    seconds: float
    # The reason for a missing `status`.
    reason: str = ""

    @property
    def ended_well(self) -> bool:
        return self.status == 0

    @property
    def out_of_time(self) -> bool:
        return self.status is None and self.reason.startswith((TIME_LIMIT, NO_TIME))

    def why(self) -> str:
        """Describes in one line how a program failed."""
        if self.status is None:
            return self.reason
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name}{_behind(self.lines)}"
        return f"exited with status {self.status}{_behind(self.lines)}"


def _behind(lines: Sequence[str]) -> str:
    """Returns the line that most likely shows the cause."""
    said = [line.strip() for line in lines if line.strip()]
    telling = [line for line in said if "error" in line.lower() or line.startswith("bench: ")] or said
    return f": {telling[-1][:300]}" if telling else ""


class Log:
    """Writes to one file, and to stdout for what the user must see at once."""

    def __init__(self, path: Path):
        self._file = path.open("w", encoding="utf-8", errors="replace")
        self._lock = threading.Lock()
        self._start = time.monotonic()

    def write(self, line: str) -> None:
        with self._lock:
            self._file.write(f"{time.monotonic() - self._start:7.1f}  {line}\n")
            self._file.flush()

    def close(self) -> None:
        self._file.close()

    def say(self, line: str = "") -> None:
        self.write(line)
        print(line, flush=True)


class Runner:
    def __init__(self, log: Log):
        self._log = log
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen] = set()
        self._closed = False

    def run(self, command: Sequence[str | Path], limit_seconds: float,
            environment: Mapping[str, str] | None = None,
            on_line: Callable[[str], None] = lambda line: None, name: str = "") -> Outcome:
        """One program, with stdout and stderr combined. It leads a process group, which ends with it."""
        start = time.monotonic()
        words = [str(word) for word in command]
        label = f"[{name}] " if name else ""
        self._log.write(f"{label}$ {' '.join(words)}")
        if limit_seconds <= 0:
            return Outcome(None, (), 0.0, NO_TIME)
        try:
            process = self._start(words, environment)
        except OSError as error:
            return Outcome(None, (), 0.0, f"{words[0]}: {error.strerror}")
        lines: list[str] = []

        def read() -> None:
            with process.stdout as output:
                for line in output:
                    # A progress line overwrites itself.
                    text = line.decode(errors="replace").rstrip("\n").rpartition("\r")[2]
                    lines.append(text)
                    self._log.write(label + text)
                    on_line(text)

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        ended = self._wait(process, limit_seconds)
        reader.join(_GRACE_SECONDS)
        seconds = time.monotonic() - start
        with self._lock:
            self._running.discard(process)
        self._log.write(f"{label}{f'exit status {process.returncode}' if ended else TIME_LIMIT}"
                        f" after {seconds:.1f} s")
        if not ended:
            return Outcome(None, tuple(lines), seconds, f"{TIME_LIMIT} of {limit_seconds:.0f} s")
        return Outcome(process.returncode, tuple(lines), seconds)

    def close(self) -> None:
        """Ends the running programs. No others start."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            _signal(process, signal.SIGKILL)

    def _start(self, words: Sequence[str], environment: Mapping[str, str] | None) -> subprocess.Popen:
        with self._lock:
            if self._closed:
                raise OSError(0, "the check is ending")
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})}, start_new_session=True)
            self._running.add(process)
            return process

    @staticmethod
    def _wait(process: subprocess.Popen, limit_seconds: float) -> bool:
        """Returns true if it ended without being killed."""
        try:
            process.wait(limit_seconds)
            return True
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGTERM)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _signal(process, signal.SIGKILL)
        process.wait()
        return False


def _signal(process: subprocess.Popen, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
