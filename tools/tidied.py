#!/usr/bin/env python3
"""Prints what clang-tidy has to read so that it sees every source but tests.

usage: tidied.py ROOT BUILD

The files that BUILD/compile_commands.json compiles, one a line. A file that CMake made to compile several
sources of ROOT at once stands for them. Tests are left out: they would take most of the time, and the
compilers' warnings and the sanitizers see them; so is generated code.
"""

import json
import pathlib
import re
import sys


def sources_of(path: pathlib.Path) -> list[pathlib.Path]:
    """What a compiled file holds: the sources that a united one includes, or itself."""
    if path.parent.name != "Unity":
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'#include "(.*)"', path.read_text(encoding="utf-8"))]


def is_tidied(source: pathlib.Path, root: pathlib.Path, build: pathlib.Path) -> bool:
    if not source.is_relative_to(root) or source.is_relative_to(build):
        return False
    return source.suffix == ".cc" and not {"test", "fuzz"} & set(source.relative_to(root).parts)


def tidied(root: pathlib.Path, build: pathlib.Path) -> list[pathlib.Path]:
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {pathlib.Path(command["directory"], command["file"]) for command in commands}
    return sorted(
        path for path in files if any(is_tidied(source, root, build) for source in sources_of(path)))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    for path in tidied(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
