"""Says what is wrong with the way a case ended."""

import dataclasses
import json
import os
import re
import stat
from typing import Iterator

from .case import Case, Stream, encoded
from .formats import safetensors
from .runner import Found, Outcome
from .streams import stderr_faults, stdout_faults, text_faults

# Flags that name a file to write, and what it then holds.
_JSON_FLAGS = ("result_file", "trace_file")
_TENSOR_FLAGS = ("save_variables", "dump_tensors")
_INPUT_FLAGS = ("init_from", "input_file")
_TEMPORARY = re.compile(r"(?:.*/)?\.[^/]+\.\d+\.tmp")
_CRASHES = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 139: "SIGSEGV"}


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def judge(case: Case, outcome: Outcome) -> list[Fault]:
    """Everything that is wrong, the worst first."""
    faults = [*_status_faults(case, outcome), *_stream_faults(case, outcome),
              *_file_faults(case, outcome)]
    return list(dict.fromkeys(faults))


def _status_faults(case: Case, outcome: Outcome) -> Iterator[Fault]:
    status = outcome.status
    if outcome.hung:
        last = outcome.stdout.rpartition(b"\n")[0].rpartition(b"\n")[2]
        yield Fault("hang", f"not ended after {outcome.seconds:.0f} s"
                    + (f", sent {_names(outcome)}" if outcome.sent else "")
                    + f"; it computed {outcome.busy_seconds:.1f} s of them, last line {last!r}")
        return
    if status in _CRASHES:
        yield Fault("crash", f"{_CRASHES[status]}, exit status {status}")
        return
    signalled = set() if case.deaf else {128 + signal for signal in outcome.sent}
    right = signalled if case.endless and outcome.sent else case.endings | signalled
    if status not in right:
        yield Fault("status", f"exit status {status}, not {', '.join(map(str, sorted(right)))}")


def _names(outcome: Outcome) -> str:
    return ", ".join(signal.name for signal in outcome.sent)


def _stream_faults(case: Case, outcome: Outcome) -> Iterator[Fault]:
    for text in text_faults("stdout", outcome.stdout, tabs=True):
        yield Fault("control", text)
    for text in text_faults("stderr", outcome.stderr, tabs=False):
        yield Fault("control", text)
    crashed = outcome.hung or outcome.status in _CRASHES
    signalled = bool(outcome.sent) and outcome.status > 128
    if case.stderr is Stream.kept and not crashed:
        failed = outcome.status in (1, 2, 74)
        for kind, text in stderr_faults(outcome.stderr, failed, failed or signalled):
            yield Fault(kind, text)
        if _ended_by_one_signal(outcome) and _names(outcome).encode() not in outcome.stderr:
            # Killed before it could look after signals, it has nothing to say.
            if not outcome.killed or _in_steps(outcome):
                yield Fault("silent", f"ended by {_names(outcome)} without a word")
    if case.stdout is Stream.kept:
        for kind, text in stdout_faults(outcome.stdout, case.args, outcome.status == 0):
            yield Fault(kind, text)


def _path(name: str) -> str:
    """A name on the command line as a path in the case's folder."""
    return os.path.normpath(name) if name else ""


def _with_batches(name: str) -> re.Pattern[str]:
    """A file, and those that a list of batch sizes makes of it."""
    root, extension = os.path.splitext(_path(name))
    return re.compile(rf"{re.escape(root)}(?:\.batch\d+)?{re.escape(extension)}", re.DOTALL)


def _resolved(outcome: Outcome, name: str) -> str:
    """The path, through links, as seen from the case's folder."""
    folder = os.path.realpath(os.fsencode(outcome.folder))
    path = os.path.realpath(os.path.join(folder, encoded(name)))
    return os.fsdecode(os.path.relpath(path, folder))


def _file_faults(case: Case, outcome: Outcome) -> Iterator[Fault]:
    json_names = case.values_of(*_JSON_FLAGS)
    tensor_names = case.values_of(*_TENSOR_FLAGS)
    json_files = [_with_batches(_resolved(outcome, name)) for name in json_names]
    tensor_files = [_with_batches(_resolved(outcome, name)) for name in tensor_names]
    inputs = {_resolved(outcome, name) for name in case.values_of(*_INPUT_FLAGS)}
    appended = {"log"} if case.stdout is Stream.appended else set()
    for path, found in outcome.after.items():
        before = outcome.before.get(path)
        if found == before:
            continue
        is_json = any(pattern.fullmatch(path) for pattern in json_files)
        is_tensors = any(pattern.fullmatch(path) for pattern in tensor_files)
        if path in appended:
            yield from _appended_faults(case, outcome, path)
        elif before is not None and (path in inputs or not (is_json or is_tensors)):
            yield Fault("input", f"{path!r} was changed")
        elif _TEMPORARY.fullmatch(path) and len(outcome.sent) > 1:
            continue  # The next run that writes there removes it.
        elif not (is_json or is_tensors):
            yield Fault("stray", f"{path!r} was left behind")
        else:
            yield from _output_faults(outcome, path, before, is_json)
    for path in outcome.before.keys() - outcome.after.keys():
        yield Fault("input", f"{path!r} is gone")
    if outcome.status == 0 and b"total images/sec: " in outcome.stdout:
        yield from _missing_faults(case, outcome, (*_JSON_FLAGS, "save_variables"))
    if _ended_by_one_signal(outcome) and _in_steps(outcome):
        yield from _missing_faults(case, outcome, ("result_file",))


def _ended_by_one_signal(outcome: Outcome) -> bool:
    """A second one ends the run at once."""
    return len(outcome.sent) == 1 and outcome.status == 128 + outcome.sent[0]


def _in_steps(outcome: Outcome) -> bool:
    return b"Running warm up" in outcome.stdout


def _missing_faults(case: Case, outcome: Outcome, flags: tuple[str, ...]) -> Iterator[Fault]:
    """Of a flag that is given twice the last value holds."""
    for name in [name for flag in flags for name in case.values_of(flag)[-1:]]:
        pattern = _with_batches(_resolved(outcome, name))
        plain = name and name != "-" and not name.startswith("/")
        if plain and not any(pattern.fullmatch(path) for path in outcome.after):
            yield Fault("file", f"{name!r} is not there")


def _output_faults(outcome: Outcome, path: str, before: Found | None,
                   is_json: bool) -> Iterator[Fault]:
    now = outcome.after[path]
    if before is not None and before.type != now.type:
        yield Fault("output", f"{path!r} became another kind of file")
    elif before is not None and before.mode != now.mode:
        yield Fault("output", f"{path!r} had the mode {before.mode:o} and has {now.mode:o}")
    if not stat.S_ISREG(now.type):
        return
    with open(os.path.join(os.fsencode(outcome.folder), os.fsencode(path)), "rb") as file:
        data = file.read()
    fault = _json_fault(data) if is_json else safetensors.fault_of(data)
    if fault:
        yield Fault("file", f"{path!r} is not whole: {fault}")


def _json_fault(data: bytes) -> str:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")
    try:
        whole = json.loads(data, parse_constant=refuse)
    except ValueError as error:
        return str(error)
    return "" if isinstance(whole, (dict, list)) and whole else "it holds nothing"


def _appended_faults(case: Case, outcome: Outcome, path: str) -> Iterator[Fault]:
    """What stood in the file that stdout was appended to must still be there."""
    old = getattr(case.files.get(path), "data", b"")
    if not (outcome.folder / path).read_bytes().startswith(old):
        yield Fault("output", f"{path!r} lost what it held")
