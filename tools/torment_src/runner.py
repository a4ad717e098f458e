"""Runs a case in a new folder and returns the outcome."""

import contextlib
import dataclasses
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from .case import Case, Fifo, File, Folder, Link, Stream, encoded

# A run takes a few tenths of a second. A run that takes longer than this hangs. set_limits raises the limit.
LIMIT_SECONDS = 60.0
# Signals wait for their marker at most this long, then they are sent anyway.
_MARKER_SECONDS = 10.0
_POLL_SECONDS = 0.005
# A run whose parent was killed ends within this time.
_LEFT_SECONDS = 5.0
_MOST_BYTES = 8 << 20
# Folder in the case's folder where the program keeps files without a given name.
DATA_FOLDER = "data"
_SHELL = shutil.which("sh") or "/bin/sh"
# The variables of our environment that the program sees. Others could change its behavior.
_INHERITED = re.compile(r"PATH|HOME|LD_LIBRARY_PATH|\w+SAN_OPTIONS")


def set_limits(unit: float) -> None:
    """Raises the limits on a slow or busy machine. `unit` is the time in seconds of two small runs."""
    global LIMIT_SECONDS, _MARKER_SECONDS
    LIMIT_SECONDS = max(LIMIT_SECONDS, 200 * unit)
    _MARKER_SECONDS = max(_MARKER_SECONDS, 50 * unit)


@dataclasses.dataclass(frozen=True)
class Found:
    """The entry at a path: its type and mode, and a digest of its content."""
    type: int
    mode: int
    digest: str


@dataclasses.dataclass
class Outcome:
    # The status as a shell reports it: 128 + n for a program that signal n killed.
    status: int
    killed: bool
    hung: bool
    # Processor time of a hung program until it was killed.
    busy_seconds: float
    stdout: bytes
    stderr: bytes
    sent: list[signal.Signals]
    folder: Path
    before: dict[str, Found]
    after: dict[str, Found]
    seconds: float
    # Names of processes that the program left running.
    left: list[str] = dataclasses.field(default_factory=list)


def snapshot(folder: Path) -> dict[str, Found]:
    """Returns everything below the folder by its relative path. Opens nothing that could block."""
    found = {}
    # Bytes, because a name may be invalid text.
    top = os.fsencode(folder)
    for parent, folders, names in os.walk(top):
        for name in (*folders, *names):
            path = os.path.join(parent, name)
            status = os.lstat(path)
            digest = ""
            if stat.S_ISLNK(status.st_mode):
                digest = os.fsdecode(os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    digest = hashlib.sha1(file.read()).hexdigest()
            relative = os.fsdecode(os.path.relpath(path, top))
            mode = status.st_mode
            found[relative] = Found(stat.S_IFMT(mode), stat.S_IMODE(mode), digest)
    return found


def _fill(folder: Path, case: Case) -> None:
    (folder / "tmp").mkdir()
    for name, node in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match node:
            case File(data, mode):
                path.write_bytes(data)
                path.chmod(mode)
            case Folder(mode):
                path.mkdir(exist_ok=True)
                path.chmod(mode)
            case Fifo():
                os.mkfifo(path)
            case Link(target):
                path.symlink_to(target)


def _session(leader: int) -> dict[int, str]:
    """Returns the processes that the leader's session still has, and their names."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text(errors="replace").rpartition(")")
                fields = rest.split()  # State, parent, group, session.
                if fields[3] == str(leader) and fields[0] != "Z":
                    found[int(entry.name)] = name.partition("(")[2]
    return found


def _youngest(process: int) -> int | None:
    """Returns the last of the process's descendants, if it has any."""
    last = None
    with contextlib.suppress(OSError):
        while children := Path(f"/proc/{process}/task/{process}/children").read_text().split():
            process = last = int(children[-1])
    return last


class _BrokenPipe:
    """A pipe whose reader takes some bytes and then closes it."""

    def __init__(self, taken_bytes: int):
        self._read_end, self.write_end = os.pipe()
        self.taken = b""
        self._left = taken_bytes
        self._thread = threading.Thread(target=self._take)

    def start(self) -> None:
        """Closes the write end. Call this when the program has its copy."""
        os.close(self.write_end)
        self._thread.start()

    def _take(self) -> None:
        while self._left > 0 and (piece := os.read(self._read_end, self._left)):
            self.taken += piece
            self._left -= len(piece)
        os.close(self._read_end)

    def join(self) -> bytes:
        self._thread.join()
        return self.taken


class _Running:
    """The program of one case, started in its folder."""

    def __init__(self, bench: str, case: Case, folder: Path, streams: Path):
        self._out, self._err = streams / "out", streams / "err"
        self._pipe = _BrokenPipe(case.taken_bytes) if case.stdout is Stream.broken else None
        words = case.words(bench)
        redirections = [number + stream.value
                        for number, stream in (("2", case.stderr), ("1", case.stdout))
                        if stream not in (Stream.kept, Stream.broken)]
        if redirections or case.prelude:
            command = f'{case.prelude or ":"}; exec "$@" {" ".join(redirections)}'
            words = [_SHELL, "-c", command, "sh", *words]
        environment = {name: value for name, value in os.environ.items()
                       if _INHERITED.fullmatch(name)}
        environment |= {"LC_ALL": "C", "TORMENT_BENCH": bench, "TMPDIR": str(folder / "tmp"),
                        "XDG_DATA_HOME": str(folder / DATA_FOLDER)} | case.environment
        self.busy_seconds = 0.0
        self.begin = time.monotonic()
        with open(self._out, "wb") as out, open(self._err, "wb") as err:
            self.process = subprocess.Popen(
                [encoded(word) for word in words], cwd=folder, env=environment,
                stdin=subprocess.DEVNULL, stderr=err,
                stdout=self._pipe.write_end if self._pipe else out, start_new_session=True)
        if self._pipe:
            self._pipe.start()

    def _wait_for(self, marker: str) -> None:
        until = time.monotonic() + _MARKER_SECONDS
        while marker and self.process.poll() is None and time.monotonic() < until:
            if marker.encode() in self._out.read_bytes():
                return
            time.sleep(_POLL_SECONDS)

    def strike(self, case: Case) -> list[signal.Signals]:
        """Sends the signals at their time. Returns those that arrived while the program ran."""
        sent = []
        for blow in case.blows:
            self._wait_for(blow.marker)
            time.sleep(blow.delay)
            if self.process.poll() is not None:
                break
            receiver = _youngest(self.process.pid) if blow.child else self.process.pid
            if receiver is None:
                continue
            with contextlib.suppress(ProcessLookupError):
                os.kill(receiver, blow.signal)
                sent.append(blow.signal)
        return sent

    def _busy_seconds(self) -> float:
        # Skip the name, which may contain spaces. utime and stime are fields 14 and 15 of proc(5).
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> bool:
        """Waits until it has ended. Kills it when its time is over, and then returns false."""
        try:
            left = LIMIT_SECONDS - (time.monotonic() - self.begin)
            self.process.wait(max(left, LIMIT_SECONDS / 3))
            return True
        except subprocess.TimeoutExpired:
            self.busy_seconds = self._busy_seconds()
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return False

    def left_running(self) -> list[str]:
        """Kills what still runs a moment after the program has ended, and returns its names."""
        until = time.monotonic() + _LEFT_SECONDS
        while (left := _session(self.process.pid)) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return sorted(left.values())

    def printed(self) -> tuple[bytes, bytes]:
        out = self._pipe.join() if self._pipe else self._out.read_bytes()
        return out[:_MOST_BYTES], self._err.read_bytes()[:_MOST_BYTES]


class Workplace:
    """A folder for one case. `with` removes it unless `keep` was set."""

    def __init__(self, case: Case):
        self.top = Path(tempfile.mkdtemp(prefix=f"torment.{case.seed}.{case.number}."))
        self.keep = False

    def __enter__(self) -> "Workplace":
        return self

    def __exit__(self, *_: object) -> None:
        if self.keep:
            return
        for parent, folders, _ in os.walk(os.fsencode(self.top)):
            for name in folders:
                path = os.path.join(parent, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o755)
        shutil.rmtree(self.top)

    def run(self, bench: str, case: Case) -> Outcome:
        """Prepares the files of the case, runs it, and inspects the folder afterwards."""
        folder, streams = self.top / "work", self.top / "streams"
        folder.mkdir()
        streams.mkdir()
        _fill(folder, case)
        before = snapshot(folder)
        running = _Running(bench, case, folder, streams)
        sent = running.strike(case)
        ended = running.end()
        seconds = time.monotonic() - running.begin
        left = running.left_running()
        out, err = running.printed()
        code = running.process.returncode
        return Outcome(status=code if code >= 0 else 128 - code, killed=code < 0, hung=not ended,
                       busy_seconds=running.busy_seconds, stdout=out, stderr=err, sent=sent,
                       folder=folder, before=before, after=snapshot(folder), seconds=seconds, left=left)
