"""Finds faults in the way a case ended."""

import dataclasses
import re
from signal import SIGKILL, SIGQUIT
from typing import Iterator

from .case import Case, Stream
from .runner import Found, Outcome
from .streams import results_stderr_faults, stderr_faults, stdout_faults, text_faults
from .written import JSON_FLAGS, Kind, Written, fault_in, resolved

# Files that a refused run must not create. A store is kept and grows from run to run.
_KEPT = (Kind.log, Kind.store, Kind.training, Kind.folder)
_REFUSED = 2
_INPUT_FLAGS = ("init_from", "input_file")
_TEMPORARY = re.compile(r"(?:.*/)?\.[^/]+\.\d+\.tmp")
# Holds the records of several runs until they have ended.
_SCRATCH = re.compile(r"tmp/bench_run\.\w{6}")
_CRASHES = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 139: "SIGSEGV"}


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def judge(case: Case, outcome: Outcome) -> list[Fault]:
    """Returns all faults, the worst first."""
    faults = [*_status_faults(case, outcome), *_stream_faults(case, outcome),
              *_file_faults(case, outcome)]
    return list(dict.fromkeys(faults))


def _status_faults(case: Case, outcome: Outcome) -> Iterator[Fault]:
    status = outcome.status
    if outcome.hung:
        last = outcome.stdout.rpartition(b"\n")[0].rpartition(b"\n")[2]
        yield Fault("hang", f"still running after {outcome.seconds:.0f} s"
                    + (f", despite {_names(outcome)}" if outcome.sent else "")
                    + f"; CPU time {outcome.busy_seconds:.1f} s, last line {last!r}")
        return
    if status in _CRASHES:
        yield Fault("crash", f"{_CRASHES[status]}, exit status {status}")
        return
    signalled = set() if case.deaf else {128 + signal for signal in outcome.sent}
    right = signalled if case.endless and outcome.sent else case.endings | signalled
    if outcome.left:
        yield Fault("left", f"still running after the end: {', '.join(outcome.left)}")
    if status not in right:
        yield Fault("status", f"exit status {status}, not {', '.join(map(str, sorted(right)))}")


def _names(outcome: Outcome) -> str:
    return ", ".join(signal.name for signal in outcome.sent)


def _stream_faults(case: Case, outcome: Outcome) -> Iterator[Fault]:
    for text in text_faults("stdout", outcome.stdout, tabs=True):
        yield Fault("control", text)
    for text in text_faults("stderr", outcome.stderr, tabs=False):
        yield Fault("control", text)
    for bytes_found in (part for part in case.forbidden if part in outcome.stdout):
        yield Fault("markup", f"stdout contains {bytes_found!r}")
    crashed = outcome.hung or outcome.status in _CRASHES
    signalled = bool(outcome.sent) and outcome.status > 128
    if case.program != "bench" and not crashed:
        for kind, text in results_stderr_faults(outcome.stderr, outcome.status in (2, 3, 74)):
            yield Fault(kind, text)
    elif case.stderr is Stream.kept and not crashed:
        failed = outcome.status in (1, 2, 74)
        for kind, text in stderr_faults(outcome.stderr, failed, failed or signalled):
            yield Fault(kind, text)
        if _ended_by_one_signal(outcome) and _names(outcome).encode() not in outcome.stderr:
            # A program that was killed before it handled signals prints nothing. It leaves SIGQUIT to the system.
            if not outcome.killed or (_in_steps(outcome) and outcome.sent[0] not in (SIGKILL, SIGQUIT)):
                yield Fault("silent", f"ended by {_names(outcome)} without a message")
    if case.stdout is Stream.kept:
        for kind, text in stdout_faults(outcome.stdout, case.args, outcome.status == 0):
            yield Fault(kind, text)


def _file_faults(case: Case, outcome: Outcome) -> Iterator[Fault]:
    written = Written(case, outcome)
    inputs = {resolved(outcome, name) for name in case.values_of(*_INPUT_FLAGS)}
    appended = {"log"} if case.stdout is Stream.appended else set()
    for path, found in outcome.after.items():
        before = outcome.before.get(path)
        if found == before or _may_write(case, path):
            continue
        kind = written.kind_of(path)
        if path in appended:
            yield from _appended_faults(case, outcome, path)
        elif before is not None and (path in inputs or kind is None):
            yield Fault("input", f"{path!r} was changed")
        elif _TEMPORARY.fullmatch(path) and len(outcome.sent) > 1:
            continue  # The next run that writes there removes it.
        elif _SCRATCH.fullmatch(path) and {SIGKILL, SIGQUIT} & set(outcome.sent):
            continue  # A program that is killed removes nothing.
        elif kind is None or (before is None and outcome.status == _REFUSED and kind in _KEPT):
            yield Fault("stray", f"{path!r} was left behind")
        else:
            yield from _output_faults(outcome, path, before, kind)
    for path in outcome.before.keys() - outcome.after.keys():
        yield Fault("input", f"{path!r} was removed")
    if outcome.status == 0 and b"total images/sec: " in outcome.stdout:
        yield from _missing_faults(case, written, (*JSON_FLAGS, "save_variables"))
        yield from (Fault("file", f"{path!r} is missing") for path in written.missing_kept())
    if _ended_by_one_signal(outcome) and _in_steps(outcome):
        yield from _missing_faults(case, written, ("result_file",))


def _may_write(case: Case, path: str) -> bool:
    return any(path == output or path.startswith(f"{output}/") for output in case.outputs)


def _ended_by_one_signal(outcome: Outcome) -> bool:
    """A second signal ends the run at once."""
    return len(outcome.sent) == 1 and outcome.status == 128 + outcome.sent[0]


def _in_steps(outcome: Outcome) -> bool:
    return b"Running warm up" in outcome.stdout


def _missing_faults(case: Case, written: Written, flags: tuple[str, ...]) -> Iterator[Fault]:
    """If a flag is repeated, the last value wins."""
    for name in [name for flag in flags for name in case.values_of(flag)[-1:]]:
        if written.is_missing(name):
            yield Fault("file", f"{name!r} is missing")


def _output_faults(outcome: Outcome, path: str, before: Found | None,
                   kind: Kind) -> Iterator[Fault]:
    now = outcome.after[path]
    if before is not None and before.type != now.type:
        yield Fault("output", f"the file type of {path!r} changed")
    elif before is not None and before.mode != now.mode:
        yield Fault("output", f"the mode of {path!r} changed from {before.mode:o} to {now.mode:o}")
    if fault := fault_in(outcome, path, kind):
        yield Fault("file", f"{path!r} is incomplete or invalid: {fault}")


def _appended_faults(case: Case, outcome: Outcome, path: str) -> Iterator[Fault]:
    """If stdout was appended to a file, the old content must still be there."""
    old = getattr(case.files.get(path), "data", b"")
    if not (outcome.folder / path).read_bytes().startswith(old):
        yield Fault("output", f"{path!r} lost its old content")
