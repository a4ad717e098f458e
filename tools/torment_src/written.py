"""Lists the files that the flags of a case let the program write, and checks whether they are complete."""

import contextlib
import enum
import json
import os
import re
import sqlite3
import stat

from .case import Case, encoded
from .formats import safetensors
from .runner import DATA_FOLDER, Outcome

# Flags that name an output file, and the file's content.
JSON_FLAGS = ("result_file", "trace_file")
_TENSOR_FLAGS = ("save_variables", "dump_tensors")
_LOG_NAMES = ("benchmark_run.log", "metric.log")
_CHECKPOINT = re.compile(r"model\.ckpt-\d+\.safetensors")
_BESIDE_A_CHECKPOINT = re.compile(r"checkpoint|events\.out\.tfevents\.\S+")
# The index and records of a store that is a folder.
_IN_A_STORE = re.compile(r"\.gitignore|index\.sqlite(?:-wal|-shm)?|\d{4}(?:/\d{2}(?:/[\w-]+\.json)?)?")
_BESIDE_A_STORE = re.compile(r"-wal|-shm|-journal")
_DEFAULT_STORE = f"{DATA_FOLDER}/bench/results.sqlite"


class Kind(enum.Enum):
    json = enum.auto()
    tensors = enum.auto()
    log = enum.auto()
    store = enum.auto()
    training = enum.auto()
    # A folder that is created for one of these files.
    folder = enum.auto()


def _of_each_run(name: str) -> re.Pattern[str]:
    """Matches a file, and the files that several runs of one command line make from it."""
    root, extension = os.path.splitext(os.path.normpath(name) if name else "")
    mark = r"(?:\.(?:batch|repeat|devices)\d+)*"
    return re.compile(rf"{re.escape(root)}{mark}{re.escape(extension)}", re.DOTALL)


def resolved(outcome: Outcome, name: str) -> str:
    """Returns the path with links resolved, relative to the case's folder."""
    folder = os.path.realpath(os.fsencode(outcome.folder))
    path = os.path.realpath(os.path.join(folder, encoded(name)))
    return os.fsdecode(os.path.relpath(path, folder))


def _stores_of(case: Case) -> list[str]:
    """The value is optional. The next word is never the value."""
    flag = re.compile(r"--?store(?:=(.*))?", re.DOTALL | re.IGNORECASE)
    values = [match[1] for match in map(flag.fullmatch, case.args) if match]
    return [_DEFAULT_STORE if value in (None, "default") else value for value in values]


class Written:
    """The files that the program of a case may have written, by paths in the case's folder."""

    def __init__(self, case: Case, outcome: Outcome):
        self._outcome = outcome
        self._patterns = {
            kind: [_of_each_run(resolved(outcome, name)) for name in case.values_of(*flags)]
            for kind, flags in ((Kind.json, JSON_FLAGS), (Kind.tensors, _TENSOR_FLAGS))}
        self._logs = [_of_each_run(resolved(outcome, name))
                      for name in case.values_of("benchmark_log_dir")]
        self._trainings = [resolved(outcome, name) for name in case.values_of("train_dir", "eval_dir")]
        self._checkpoints = [resolved(outcome, name) for name in case.values_of("train_dir")]
        self._stores = [resolved(outcome, name) for name in _stores_of(case)]

    def kind_of(self, path: str) -> Kind | None:
        for kind, patterns in self._patterns.items():
            if any(pattern.fullmatch(path) for pattern in patterns):
                return kind
        folder, name = os.path.split(path)
        if name in _LOG_NAMES and self._is_log_folder(folder or "."):
            return Kind.log
        if (folder or ".") in self._trainings and _CHECKPOINT.fullmatch(name):
            return Kind.tensors
        if (folder or ".") in self._trainings and _BESIDE_A_CHECKPOINT.fullmatch(name):
            return Kind.training
        if any(path == store or self._is_of_store(path, store) for store in self._stores):
            return Kind.store
        made = self._outcome.after.get(path)
        if made and stat.S_ISDIR(made.type) and self._is_for_others(path):
            return Kind.folder
        return None

    def _is_log_folder(self, path: str) -> bool:
        return any(pattern.fullmatch(path) for pattern in self._logs)

    def _is_for_others(self, folder: str) -> bool:
        """Returns true if it contains or is a folder of logs, a store or a folder of checkpoints."""
        below = [path for path in self._outcome.after if path.startswith(f"{folder}/")]
        return (any(self._is_log_folder(path) for path in (folder, *below))
                or any(f"{store}/".startswith(f"{folder}/") for store in (*self._stores, *self._trainings)))

    def _is_of_store(self, path: str, store: str) -> bool:
        if not path.startswith(store):
            return False
        rest = path[len(store):]
        # SQLite's temporary files are gone when the last program has closed the store.
        beside = _BESIDE_A_STORE.fullmatch(rest) and len(self._outcome.sent) > 1
        return bool(beside or (rest[:1] == "/" and _IN_A_STORE.fullmatch(rest[1:])))

    def is_missing(self, name: str) -> bool:
        """Returns true if the file that a flag with this value must write does not exist."""
        if not name or name == "-" or name.startswith("/"):
            return False
        pattern = _of_each_run(resolved(self._outcome, name))
        return not any(pattern.fullmatch(path) for path in self._outcome.after)

    def missing_kept(self) -> list[str]:
        """Returns missing logs, stores and checkpoints in the case's folder. If a flag is repeated, the last value
        wins."""
        missing = [path for path in self._stores[-1:]
                   if not path.startswith("..") and path not in self._outcome.after]
        for pattern in self._logs[-1:]:
            if not pattern.pattern.startswith(r"\.\./"):
                there = {os.path.basename(path) for path in self._outcome.after
                         if pattern.fullmatch(os.path.dirname(path) or ".")}
                missing += [name for name in _LOG_NAMES if name not in there]
        for folder in self._checkpoints[-1:]:
            there = [path for path in self._outcome.after if os.path.dirname(path) == folder.removeprefix("./")]
            if not folder.startswith("..") and not any(_CHECKPOINT.fullmatch(os.path.basename(path)) for path in there):
                missing.append(f"{folder}/model.ckpt-*")
        return missing


def fault_in(outcome: Outcome, path: str, kind: Kind) -> str:
    """Returns what is wrong with a written file, or nothing."""
    now = outcome.after[path]
    if not stat.S_ISREG(now.type) or kind is Kind.folder:
        return ""
    whole = os.path.join(os.fsencode(outcome.folder), os.fsencode(path))
    with open(whole, "rb") as file:
        data = file.read()
    match kind:
        case Kind.json:
            return _json_fault(data)
        case Kind.tensors:
            return safetensors.fault_of(data)
        case Kind.training:
            return "" if data else "it is empty"
        case Kind.log:
            return next(filter(None, map(_json_fault, data.splitlines())), "")
        case _:
            return _store_fault(path, whole, data)


def _store_fault(path: str, whole: bytes, data: bytes) -> str:
    if path.endswith(".json"):
        return _json_fault(data)
    if not data.startswith(b"SQLite format 3\0"):
        return "" if os.path.basename(path) == ".gitignore" or path.endswith(("-wal", "-shm")) \
            else "it is not an SQLite file"
    with contextlib.closing(sqlite3.connect(whole)) as database:
        (answer,) = database.execute("PRAGMA integrity_check").fetchone()
    return "" if answer == "ok" else answer


def _json_fault(data: bytes) -> str:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")
    try:
        whole = json.loads(data, parse_constant=refuse)
    except ValueError as error:
        return str(error)
    return "" if isinstance(whole, (dict, list)) and whole else "it is empty"
