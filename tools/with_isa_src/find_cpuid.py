#!/usr/bin/env python3
"""Lists the CPUID instructions of programs and libraries, for preload.cc.

usage: find_cpuid.py SITES FOLDER...

Writes "PATH ADDRESS" lines to the file SITES, for every program and library in the folders and every library that they
are linked with, apart from the C library's, which chooses no kernels. Files older than SITES are not read again.
"""

import pathlib
import re
import subprocess
import sys

_CPUID = re.compile(r"^ *([0-9a-f]+):\tcpuid", re.MULTILINE)
_LINKED = re.compile(r"=> (/\S+) \(")
_C_LIBRARY = re.compile(r"/(?:libc|libm|libdl|libpthread|librt|libstdc\+\+|ld-linux-x86-64)\.so[.\d]*$")


def output_of(*command: str) -> str:
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def is_elf(path: pathlib.Path) -> bool:
    if path.suffix in (".o", ".a") or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def files_in(folders: list[str]) -> set[pathlib.Path]:
    built = {path.resolve() for folder in folders for path in pathlib.Path(folder).rglob("*") if is_elf(path)}
    linked = {pathlib.Path(name).resolve() for path in built for name in _LINKED.findall(output_of("ldd", str(path)))}
    return {path for path in built | linked if not _C_LIBRARY.search(str(path))}


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    sites = pathlib.Path(sys.argv[1])
    known: dict[str, list[str]] = {}
    age = 0.0
    if sites.exists():
        age = sites.stat().st_mtime
        for line in sites.read_text(encoding="utf-8").splitlines():
            known.setdefault(line.partition(" ")[0], []).append(line)
    lines: list[str] = []
    for path in sorted(files_in(sys.argv[2:])):
        if path.stat().st_mtime < age:
            lines += known.get(str(path), [])
        else:
            found = _CPUID.findall(output_of("objdump", "-d", "--no-show-raw-insn", str(path)))
            lines += [f"{path} {address}" for address in found]
    sites.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
