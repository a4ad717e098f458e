#!/usr/bin/env python3
"""Checks what compilers do not: include rules, and the habits of every file.

    check_layers.py [ROOT]    prints one line per violation; exits 1 when there is one
"""

import pathlib
import re
import sys
from typing import Iterator, NamedTuple

FOLDERS = ("models", "kernels", "pipeline", "variable_mgmt", "bench", "results", "tools")

BELOW_BENCH = ("models/", "kernels/", "variable_mgmt/", "pipeline/", "results/")

# What kernels/ may include from models/: everything except the networks.
GRAPHS = ("models/base/", "models/ir/", "models/ops/", "models/passes/")
# What a device may include from kernels/: its interface, and code that all devices share.
SEAM = GRAPHS + ("kernels/*", "kernels/runtime/")

# What a run consists of, once it is planned.
PLANNED = BELOW_BENCH + ("bench/terminal/", "bench/verify/", "bench/plan/")

# Each folder, and the prefixes that its files may include. `folder/*` means the files directly in the folder. The
# longest matching folder counts. Includes never point back.
MAY_INCLUDE = {
    "models/base/": ("models/base/",),
    "models/ir/": ("models/base/", "models/ir/"),
    "models/ir/test/": ("models/base/", "models/ir/", "models/ops/"),
    "models/ops/": ("models/base/", "models/ir/", "models/ops/"),
    "models/passes/": GRAPHS,
    "models/passes/test/": ("models/",),
    "models/zoo/": ("models/base/", "models/ir/", "models/ops/", "models/zoo/"),
    "models/zoo/test/": ("models/",),
    "kernels/": SEAM,
    "kernels/runtime/": SEAM,
    "kernels/cpu/": ("models/base/", "models/ops/", "kernels/arguments.h", "kernels/optimizer.h", "kernels/step_state.h",
                     "kernels/cpu/"),
    "kernels/reference/": SEAM + ("kernels/reference/",),
    "kernels/reference/test/": SEAM + ("kernels/reference/", "kernels/cases/", "kernels/test/"),
    "kernels/onednn/": SEAM + ("kernels/cpu/", "kernels/onednn/"),
    "kernels/cuda/": SEAM + ("kernels/cuda/", "kernels/gpu_emulator/device.h", "kernels/gpu_emulator/runtime.h"),
    # GPU code does not know the graph.
    "kernels/cuda/gpu/": ("models/base/", "models/ops/", "kernels/arguments.h", "kernels/optimizer.h",
                          "kernels/step_state.h",
                          "kernels/cuda/device/device_api.h", "kernels/cuda/device/device_table.h",
                          "kernels/cuda/device/runtime.h", "kernels/cuda/gpu/"),
    "kernels/cuda/test/": ("models/", "kernels/"),
    "kernels/gpu_emulator/": ("models/base/", "kernels/cuda/device/device_api.h", "kernels/cuda/device/runtime.h",
                              "kernels/gpu_emulator/"),
    "kernels/gpu_emulator/test/": ("models/base/", "kernels/cuda/device/device_api.h", "kernels/cuda/device/runtime.h",
                                   "kernels/gpu_emulator/", "kernels/cuda/gpu/element.h"),
    "kernels/gpu_emulator/libraries/": SEAM + ("kernels/cuda/", "kernels/gpu_emulator/",
                                               "kernels/reference/product.h", "kernels/reference/reference_backend.h"),
    "kernels/cases/": ("models/base/", "models/ir/", "models/ops/", "kernels/cases/"),
    "kernels/test/": ("models/", "kernels/"),
    "variable_mgmt/": ("models/", "kernels/", "variable_mgmt/"),
    # All-reduce code knows devices, but no towers, networks or graphs.
    "variable_mgmt/collectives/": ("models/base/", "kernels/backend.h", "kernels/stream.h", "kernels/nccl_library.h",
                                   "kernels/cpu/vector-inl.h", "variable_mgmt/collectives/"),
    "variable_mgmt/collectives/test/": ("models/base/", "kernels/", "variable_mgmt/collectives/"),
    # The processes of a run add numbers of towers, but know no towers either.
    "variable_mgmt/world/": ("models/base/", "variable_mgmt/collectives/", "variable_mgmt/world/"),
    "variable_mgmt/world/test/": ("models/base/", "kernels/", "variable_mgmt/collectives/", "variable_mgmt/world/"),
    "pipeline/": ("models/base/", "pipeline/"),
    "results/": ("models/base/", "results/"),
    "results/record/": ("models/base/", "results/record/"),
    "results/environment/": ("models/base/", "results/record/", "results/environment/"),
    "bench/": BELOW_BENCH + ("bench/",),
    "bench/flags/": ("models/", "variable_mgmt/learning_rate.h", "results/record/flag_value.h", "bench/flags/",
                     # Only the tables of names.
                     "kernels/optimizers.inc", "pipeline/datasets/datasets.inc",
                     "variable_mgmt/strategies/strategies.inc"),
    "bench/terminal/": ("models/base/", "results/environment/", "bench/terminal/"),
    "bench/verify/": BELOW_BENCH + ("kernels/reference/operations.h", "kernels/reference/storage.h", "bench/verify/"),
    "bench/verify/test/": BELOW_BENCH + ("bench/",),
    "bench/plan/": PLANNED + ("bench/flags/",),
    "bench/quantize/": PLANNED + ("bench/quantize/",),
    "bench/loop/": PLANNED + ("bench/detection/", "bench/loop/"),
    "bench/loop/test/": PLANNED + ("bench/flags/", "bench/loop/"),
    "bench/report/": PLANNED + ("bench/flags/", "bench/loop/", "bench/report/"),
    "bench/report/test/": PLANNED + ("bench/flags/", "bench/quantize/", "bench/loop/", "bench/report/"),
    "bench/runs/": PLANNED + ("bench/flags/", "bench/quantize/", "bench/loop/", "bench/report/", "bench/runs/"),
    "bench/kernels/": PLANNED + ("bench/flags/", "bench/kernels/",),
    "bench/all_reduce/": PLANNED + ("bench/flags/", "bench/runs/run_world.h", "bench/terminal/text_table.h",
                          "bench/all_reduce/"),
    "bench/input/": ("models/base/", "pipeline/", "results/record/statistics.h", "bench/terminal/interrupt.h",
                     "bench/terminal/text_table.h", "bench/input/"),
    "tools/": ("models/base/", "pipeline/", "tools/"),
    "tools/make_tfrecords_src/": ("models/base/", "pipeline/", "bench/terminal/interrupt.h", "tools/"),
    "tools/with_amx_src/": ("kernels/cpu/cpu_isa.h", "tools/with_amx_src/"),
    "tools/with_isa_src/": ("kernels/cpu/cpu_isa.h", "tools/with_isa_src/"),
}

# A device's folder, whose public header is `<device>_backend.h`.
DEVICE = re.compile(r"kernels/(cuda|onednn|reference)/")

# Libraries that only some folders may include, even through another header.
CONFINED = (
    ("oneDNN", re.compile(r"(oneapi/dnnl/.*|dnnl[^/]*)\.h(pp)?$"), ("kernels/onednn/",)),
    ("CUDA", re.compile(r"(cuda|cudnn|cublas|cufft|curand|nccl|nvrtc|driver_types)[^/]*\.h(pp)?$|(cub|thrust|cuda)/"),
     ("kernels/cuda/", "kernels/gpu_emulator/")),
    ("gflags", re.compile(r"gflags/"), ("bench/flags/",)),
    ("hwloc", re.compile(r"hwloc[./]"), ("kernels/cpu/",)),
    ("Boost.Math", re.compile(r"boost/math/"), ("results/stats/",)),
    ("SQLite", re.compile(r"sqlite3"), ("results/store/",)),
    ("MPI", re.compile(r"mpi(cxx)?\.h$"), ("variable_mgmt/world/mpi_plugin.cc",)),
)

SOURCE = (".h", ".cc", ".cu", ".cuh", ".inc")
TEXT = SOURCE + (".py", ".sh", ".cmake", ".txt", ".md", ".json", ".proto", "")
MAX_LINES = 450

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
FORBIDDEN_TEXT = (
    ("an absolute machine path", re.compile(r"(?<![\w.$}/])/(home|work|Users|root/\.)(?=/|\b)")),
    ("a path outside of the repository", re.compile(r"\.\./shared\b")),
    ("the host name of a package registry", re.compile(
        r"\b[\w.-]*(pypi|pythonhosted|debian|ubuntu|anaconda|conda-forge|npmjs|rubygems|crates|maven|"
        r"docker|quay|ghcr|nvcr)[\w-]*\.(org|com|io|net)\b")),
)


class Violation(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class Include(NamedTuple):
    line: int
    quoted: bool
    path: str


def folder_of(path: str) -> str:
    return max((folder for folder in MAY_INCLUDE if path.startswith(folder)), key=len, default="")


def is_within(path: str, place: str) -> bool:
    """Returns true if a file matches an entry of MAY_INCLUDE: a prefix, or a file directly in `folder/*`."""
    if place.endswith("/*"):
        return path.rpartition("/")[0] + "/*" == place
    return path.startswith(place)


def may_include(path: str, header: str) -> bool:
    return any(is_within(header, place) for place in MAY_INCLUDE.get(folder_of(path), ()))


class Tree:
    """Returns the text files of the repository under `root`, in its folders and at its top level."""

    def __init__(self, root: pathlib.Path):
        self.files: dict[str, list[str]] = {}
        for path in sorted(root.iterdir()):
            if path.is_file():
                self._add(root, path)
        for folder in FOLDERS:
            for path in sorted((root / folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    self._add(root, path)
        for path in sorted((root / ".ci").glob("*")):
            self._add(root, path)

    def _add(self, root: pathlib.Path, path: pathlib.Path) -> None:
        if path.suffix in TEXT and path.name not in (".git", "LICENSE"):
            self.files[path.relative_to(root).as_posix()] = path.read_text().splitlines()

    def sources(self) -> list[str]:
        return [path for path in self.files if path.endswith(SOURCE)]

    def includes(self, path: str) -> Iterator[Include]:
        for number, line in enumerate(self.files[path], 1):
            match = INCLUDE.match(line)
            if match:
                yield Include(number, match[1] == '"', match[2])

    def is_generated(self, includer: str, header: str) -> bool:
        """Returns true if the build generates this header: by protoc from a file in the includer's top folder, or by a
        step in the CMake files of the header's folder."""
        folder, _, name = header.rpartition("/")
        if name.endswith(".pb.h"):
            top = (folder or includer).partition("/")[0]
            return any(path.startswith(top + "/") and path.endswith(f"/{name[:-len('.pb.h')]}.proto")
                       for path in self.files)
        return bool(folder) and any(
            name in line for path in self.files
            if path.startswith(folder + "/") and path.endswith(("CMakeLists.txt", ".cmake"))
            for line in self.files[path])


def check_direction(tree: Tree) -> Iterator[Violation]:
    """Includes are relative to the repository's root and point down."""
    for path in tree.sources():
        room = folder_of(path)
        for include in tree.includes(path):
            ours = include.path in tree.files or tree.is_generated(path, include.path)
            first, slash, _ = include.path.partition("/")
            library = slash and first not in FOLDERS and first not in (".", "..")
            if include.quoted and not ours and not library:
                yield Violation(path, include.line,
                                f'"{include.path}" is not a file, relative to the root of the repository')
            elif ours and not include.quoted:
                yield Violation(path, include.line, f'includes <{include.path}>; write "{include.path}" with quotes')
            elif ours and "/" in include.path and not may_include(path, include.path):
                allowed = ", ".join(MAY_INCLUDE.get(room, ())) or "nothing"
                yield Violation(path, include.line,
                                f'includes "{include.path}"; {room or path} may include {allowed}')


def check_doors(tree: Tree) -> Iterator[Violation]:
    """Other folders include only a device's public header and the files that their rules name."""
    for path in tree.sources():
        for include in tree.includes(path):
            device = DEVICE.match(include.path)
            if device is None or path.startswith(device[0]) or any(
                    place.startswith(device[0]) and is_within(include.path, place)
                    for place in MAY_INCLUDE.get(folder_of(path), ())):
                continue
            door = f"{device[1]}_backend.h"
            if include.path != device[0] + door:
                yield Violation(path, include.line,
                                f'includes "{include.path}"; outside of {device[0]} only {door} is allowed')


def check_tests(tree: Tree) -> Iterator[Violation]:
    """Only tests include headers that are made for tests."""
    for path in tree.sources():
        for include in tree.includes(path):
            if include.path in tree.files and "/test/" in include.path and "/test/" not in path:
                yield Violation(path, include.line, f'includes "{include.path}", which only tests may include')


def check_confined(tree: Tree) -> Iterator[Violation]:
    """Only some folders see some libraries, even through headers of ours."""
    for name, pattern, allowed in CONFINED:
        direct = {path: [i for i in tree.includes(path)
                         if i.path not in tree.files and pattern.match(i.path)]
                  for path in tree.sources()}
        seeing = {path for path, found in direct.items() if found}
        while True:
            more = {path for path in tree.sources() if path not in seeing
                    and any(i.quoted and i.path in seeing for i in tree.includes(path))}
            if not more:
                break
            seeing |= more
        where = f"only {', '.join(allowed)} may" if allowed else "no folder may"
        for path in sorted(seeing):
            if path.startswith(allowed) and allowed:
                continue
            place = next(i for i in tree.includes(path) if i in direct[path] or i.path in seeing)
            yield Violation(path, place.line, f"sees {name} through {place.path}; {where}")


def check_headers(tree: Tree) -> Iterator[Violation]:
    """Headers are included once. Highway's `-inl.h` headers are included once per instruction set."""
    for path in tree.files:
        if path.endswith("-inl.h"):
            continue
        if path.endswith((".h", ".cuh")) and "#pragma once" not in tree.files[path]:
            yield Violation(path, 1, "has no `#pragma once`")


def check_own_headers(tree: Tree) -> Iterator[Violation]:
    """A source includes the header of its name first, which shows that the header compiles alone."""
    for path in tree.files:
        own = path.removesuffix(".cc") + ".h"
        if not path.endswith(".cc") or own not in tree.files:
            continue
        first = next(tree.includes(path), None)
        if first is None or first.path != own:
            yield Violation(path, first.line if first else 1, f'must include "{own}" first')


def check_lengths(tree: Tree) -> Iterator[Violation]:
    for path, lines in tree.files.items():
        generated = any(re.search("Made by (tools/|bench_results )", line) for line in lines[:3])
        if not (path.endswith(".md") or generated) and len(lines) > MAX_LINES:
            yield Violation(path, len(lines), f"has {len(lines)} lines; at most {MAX_LINES} are accepted")


def check_text(tree: Tree) -> Iterator[Violation]:
    for path, lines in tree.files.items():
        for number, line in enumerate(lines, 1):
            for what, pattern in FORBIDDEN_TEXT:
                match = pattern.search(line)
                if match:
                    yield Violation(path, number, f"contains {what}: {match[0]}")


CHECKS = (check_direction, check_doors, check_tests, check_confined, check_headers, check_own_headers, check_lengths,
          check_text)


def violations(root: pathlib.Path) -> list[Violation]:
    tree = Tree(root)
    return [violation for check in CHECKS for violation in check(tree)]


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[1]
    if not (root / "models").is_dir():
        print(f"check_layers: {root} is not the root of the repository: it has no folder models", file=sys.stderr)
        return 2
    found = violations(root)
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
