#!/usr/bin/env python3
"""Prints the files that clang-tidy must read to see every source except tests.

usage: tidied.py ROOT BUILD [--changed=REVISION] [--sample=PARTS]

Prints one line per file in BUILD/compile_commands.json. A file that CMake made to compile several sources of ROOT
represents them. Omits generated code and tests: tests would take most of the time, and compiler warnings and sanitizers
check them. --changed prints only the sources that differ from REVISION, and for each header that differs one file that
includes it; BUILD has to be built. --sample also prints one of PARTS equal parts of the other files, another one each
day.
"""

import argparse
import datetime
import json
import pathlib
import sys

from select_tests import Build, changed_since, sources_of


def is_tidied(source: pathlib.Path, root: pathlib.Path, build: pathlib.Path) -> bool:
    if not source.is_relative_to(root) or source.is_relative_to(build):
        return False
    return source.suffix == ".cc" and not {"test", "fuzz"} & set(source.relative_to(root).parts)


def tidied(root: pathlib.Path, build: pathlib.Path) -> dict[pathlib.Path, str]:
    """Returns each file with its object file."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {pathlib.Path(command["directory"], command["file"]): command.get("output", "") for command in commands}
    return {path: files[path] for path in sorted(files)
            if any(is_tidied(source, root, build) for source in sources_of(path))}


def affected(files: dict[pathlib.Path, str], build: Build, changed: set[pathlib.Path]) -> list[pathlib.Path]:
    chosen = [path for path in files if not changed.isdisjoint(sources_of(path))]
    read = {path: {build.folder / name for name in build.read_by_object.get(made, ())} for path, made in files.items()}
    # clang-tidy reports what it finds in a header with any file that includes it: one file per header is enough.
    for header in sorted(path for path in changed if path.suffix in (".h", ".inc")):
        including = [path for path in files if header in read[path]]
        if including and not set(including) & set(chosen):
            chosen.append(including[0])
    return sorted(chosen)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--changed")
    parser.add_argument("--sample", type=int, default=0)
    arguments = parser.parse_args()
    root, folder = arguments.root.resolve(), arguments.build.resolve()
    files = tidied(root, folder)
    chosen = list(files)
    if arguments.changed:
        chosen = affected(files, Build(folder), changed_since(arguments.changed, root))
        if arguments.sample:
            part = datetime.date.today().toordinal() % arguments.sample
            sampled = [path for number, path in enumerate(files) if number % arguments.sample == part]
            chosen = sorted({*chosen, *sampled})
    for path in chosen:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
