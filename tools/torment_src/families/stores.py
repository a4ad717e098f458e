"""Stores with a part that is broken, hangs a reader or cannot be written: folders and databases of runs."""

import random

from ..base import Program
from ..case import Case, Fifo, File, Folder, Link, Node
from ..formats.records import STORE, bytes_of, path_of, record, some

_DONE = frozenset({0})
# A database or an index that is broken may be refused.
_EITHER = frozenset({0, 3})
_READING = (["list"], ["report", "status:ok"], ["track"], ["compare", "label:a", "label:b"],
            ["export", "status:ok", "--format=google-benchmark"], ["show", some()[0]["record_id"]], ["list", "--columns=id,score,label"])
_ODD = f"{STORE}/2026/01/0123456789abcdef.json"


def _broken_record(rng: random.Random) -> tuple[str, dict[str, Node]]:
    """Returns a file next to whole records that is not one."""
    whole = bytes_of(record(100, "a", 9))
    cut, place = rng.randrange(1, len(whole)), rng.randrange(len(whole))
    strange = record(100, "a", 9, **{rng.choice(("capture_errors", "metrics", "time", "workload", "host", "quality")):
                                     rng.choice((5, "x", [], [1], {}, {"a": [1]}, None, True))})
    kinds: dict[str, tuple[str, Node]] = {
        "infinite number": (_ODD, File(b'{"a":1e999}')),
        "member of another type": (path_of(strange), File(bytes_of(strange))),
        "cut": (_ODD, File(whole[:cut])), "empty": (_ODD, File(b"")),
        "flipped": (_ODD, File(whole[:place] + bytes([whole[place] ^ 1 << rng.randrange(8)]) + whole[place + 1:])),
        "deep": (_ODD, File(b'{"a":' * rng.choice((100, 100_000)))), "list": (_ODD, File(b"[1,2]")),
        "not UTF-8": (_ODD, File(b'{"a":"\xff\xfe"}')), "zero bytes": (_ODD, File(bytes(1000))),
        "fifo": (_ODD, Fifo()), "folder": (_ODD, Folder()), "circle": (_ODD, Link("0123456789abcdef.json")),
        "dangling link": (_ODD, Link("absent")), "endless device": (_ODD, Link("/dev/zero")),
        "fifo as month": (f"{STORE}/2026/02", Fifo()), "file as year": (f"{STORE}/2025", File(b"x")),
        "hostile name": (f"{STORE}/2026/01/\x1b[31m\u202e.json", File(b"{}"))}
    kind = rng.choice(sorted(kinds))
    path, node = kinds[kind]
    return kind, {path: node}


def _command(rng: random.Random, store: str) -> list[str]:
    words = rng.choice(_READING)
    return [*words, f"--store={store}"]


def _folder(rng: random.Random, _: Program) -> Case:
    kind, odd = _broken_record(rng)
    files = {path_of(whole): File(bytes_of(whole)) for whole in some()} | odd
    args = rng.choice((_command(rng, f"{STORE}/"), ["store", "--reindex", f"--store={STORE}/"], ["report", f"{STORE}/"]))
    # A folder that is named in place of a store may be refused, and so may a rebuild.
    endings = _DONE if args[-1].startswith("--store") and args[0] != "store" else _EITHER
    return Case(f"{args[0]}, folder with a broken record: {kind}", args, files, endings=endings)


def _index(rng: random.Random, program: Program) -> Case:
    files: dict[str, Node] = {path_of(whole): File(bytes_of(whole)) for whole in some()}
    node = rng.choice((File(b"garbage"), File(b""), File(program.database[:rng.randrange(1, 5000)]), Fifo(), Folder(),
                       Link("index.sqlite"), File(b"SQLite format 3\0" + bytes(100))))
    files[f"{STORE}/index.sqlite"] = node
    return Case(f"folder with a broken index: {type(node).__name__}", _command(rng, f"{STORE}/"), files,
                endings=_EITHER | {74})


def _database(rng: random.Random, program: Program) -> Case:
    data = bytearray(program.database)
    for _ in range(rng.choice((1, 3, 30))):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return Case("database with flipped bits", _command(rng, "s.sqlite"), {"s.sqlite": File(bytes(data))},
                endings=_EITHER | {1})


def _read_only(rng: random.Random, program: Program) -> Case:
    """A user reads the store of another user, or one on a read-only medium."""
    place, files = rng.choice((
        ("s/s.sqlite", {"s/s.sqlite": File(program.database, 0o444), "s": Folder(0o555)}),
        ("s.sqlite", {"s.sqlite": File(program.database, 0o444)})))
    case = Case("database that cannot be written", _command(rng, place), files, endings=_DONE)
    case.unprivileged = True
    return case


def make(rng: random.Random, program: Program, index: int) -> Case:
    case = rng.choice((_folder, _folder, _folder, _index, _database, _read_only))(rng, program)
    case.program = "bench_results"
    # SQLite creates them to read a database.
    case.outputs = ("s.sqlite-wal", "s.sqlite-shm")
    return case
