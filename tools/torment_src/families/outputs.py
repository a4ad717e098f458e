"""Streams that are closed, full, broken or not writable, and output files at impossible or existing paths."""

import random
import signal

from ..base import Program, tiny
from ..case import ENDINGS, Case, Fifo, File, Folder, Link, Node, Stream
from ..formats.safetensors import header_of, joined

_REFUSED, _UNWRITTEN = frozenset({2}), frozenset({74})
_OUTPUTS = ("result_file", "save_variables", "trace_file", "dump_tensors")


def _printing(rng: random.Random) -> list[str]:
    """Returns a command line that prints something on stdout and succeeds."""
    return rng.choice((["--help=all"], ["--help"], ["--version"], ["--list_models"],
                       [*tiny(), "--list_variables"], [*tiny(), "--dump=graph"],
                       [*tiny(), "--dump=plan"], tiny(), [*tiny(), "--result_file=r.json"],
                       [*tiny(), "--forward_only"], tiny(batch_size="2,3"),
                       [*tiny(num_batches="300"), "--display_every=1"],
                       [*tiny(), "--profile"], [*tiny(), "--dump_tensors=d.safetensors"],
                       [*tiny(), "--save_variables=w", "--trace_file=t.json"]))


def _streams(rng: random.Random, _: Program) -> Case:
    args = _printing(rng)
    stdout = rng.choice((Stream.closed, Stream.full, Stream.broken, Stream.read_only, Stream.kept))
    stderr = rng.choice((Stream.kept, Stream.kept, Stream.closed, Stream.full, Stream.read_only))
    taken = rng.choice((0, 0, 1, 10, 300))
    # Bytes that the pipe accepted before its reader closed it count as written.
    endings = _UNWRITTEN if stdout is not Stream.kept else frozenset({0})
    if stdout is Stream.broken and taken:
        endings |= {0}
    if stdout is Stream.broken and any(arg.startswith(("--help", "--list_", "--version"))
                                       for arg in args):
        endings |= {128 + signal.SIGPIPE}  # As other programs that only print.
    if args[0].startswith("--help="):
        endings |= {2}
    return Case(f"stdout {stdout.name}, stderr {stderr.name}", args, stdout=stdout, stderr=stderr,
                taken_bytes=taken, endings=endings)


def _place(rng: random.Random) -> tuple[str, str, dict[str, Node], frozenset[int]]:
    """Returns an output's path, what exists there before, and how a run that writes there must end."""
    done = frozenset({0})
    old = File(b"old", rng.choice((0o600, 0o640, 0o644, 0o664)))
    places: dict[str, tuple[str, dict[str, Node], frozenset[int]]] = {
        "new": ("out", {}, done), "in a folder": ("sub/./out", {"sub": Folder()}, done),
        "old file": ("out", {"out": old}, done),
        "read-only file": ("out", {"out": File(b"old", 0o444)}, ENDINGS),
        "folder": ("out", {"out": Folder()}, _REFUSED), "with a slash": ("out/", {}, _REFUSED),
        "folder with a slash": ("out/", {"out": Folder()}, _REFUSED),
        ".": (".", {}, _REFUSED), "..": ("..", {}, _REFUSED), "/": ("/", {}, _REFUSED),
        "no folder": ("absent/out", {}, _REFUSED),
        "file as folder": ("x/out", {"x": old}, _REFUSED),
        "folder through a loop": ("x/out", {"x": Link("x")}, _REFUSED),
        "unwritable folder": ("sub/out", {"sub": Folder(0o555)}, ENDINGS),
        "link": ("out", {"out": Link("x"), "x": old}, done),
        "link into a folder": ("out", {"out": Link("sub/x"), "sub": Folder()}, done),
        "dangling link": ("out", {"out": Link("x")}, ENDINGS),
        "link into no folder": ("out", {"out": Link("absent/x")}, _REFUSED),
        "circle": ("out", {"out": Link("out")}, _REFUSED),
        "fifo": ("out", {"out": Fifo()}, ENDINGS),
        "/dev/full": ("/dev/full", {}, ENDINGS), "/dev/stdout": ("/dev/stdout", {}, ENDINGS),
        "long name": ("x" * 300, {}, _REFUSED), "nearly too long a name": ("x" * 250, {}, ENDINGS),
        "long path": ("./" * 3000 + "out", {}, ENDINGS), "spaces": (" out ", {}, ENDINGS),
        "é": ("é", {}, ENDINGS),
        "control": ("o\x1b[31mt\n", {}, ENDINGS),
        "no UTF-8": ("o\udcffut", {}, ENDINGS),
        "-": ("-", {}, ENDINGS),
        "leading dash": ("--out", {}, ENDINGS),
        "like ours": (".out.1.tmp", {}, done),
        "empty": ("", {}, ENDINGS)}
    kind = rng.choice(sorted(places))
    return kind, *places[kind]


def _files(rng: random.Random, _: Program) -> Case:
    flag = rng.choice(_OUTPUTS)
    kind, path, files, endings = _place(rng)
    case = Case(f"--{flag}: {kind}", [f"--{flag}={path}", *tiny()], files, endings=endings)
    if kind == "/dev/stdout":
        case.stdout = Stream.appended
        case.files["log"] = File(b"old lines\n")
    return case


def _tensor_file(program: Program, flag: str) -> bytes:
    """Returns zeros that are valid for the flag."""
    tensors = {"images": ("F32", [2, 3, 32, 32]), "labels": ("I64", [2])}
    if flag == "init_from":
        tensors = {name: ("F32", shape) for name, shape in program.variables.items()}
    header = header_of(tensors)
    return joined(header, bytes(max(entry["data_offsets"][1] for entry in header.values())))


def _two_in_one(rng: random.Random, program: Program) -> Case:
    """Names one file in two notations, as two outputs, or as an input and an output."""
    first, second = rng.choice((("result_file", "save_variables"), ("result_file", "trace_file"),
                                ("save_variables", "trace_file"), ("init_from", "save_variables"),
                                ("init_from", "result_file"), ("input_file", "dump_tensors"),
                                ("init_from", "trace_file")))
    other, nodes = rng.choice((("t/a", {}), ("./t/a", {}), ("t//a", {}), ("t/../t/a", {}),
                               ("u/a", {"u": Link("t")}), ("b", {"b": Link("t/a")}),
                               ("t/b", {"t/b": Link("a")})))
    files: dict[str, Node] = {"t": Folder(), **nodes}
    if first in ("init_from", "input_file"):
        files["t/a"] = File(_tensor_file(program, first))
    paths = ["t/a", other]
    rng.shuffle(paths)
    args = [f"--{first}={paths[0]}", f"--{second}={paths[1]}", *tiny()]
    return Case(f"--{first} and --{second} on one file", args, files, endings=_REFUSED)


def make(rng: random.Random, program: Program, index: int) -> Case:
    return rng.choice((_streams, _files, _files, _two_in_one))(rng, program)
