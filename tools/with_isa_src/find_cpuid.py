#!/usr/bin/env python3
"""Lists the CPUID instructions of programs and libraries, for preload.cc.

usage: find_cpuid.py SITES PATH...

Writes "FILE ADDRESS" lines to the file SITES, for every program and library among the paths and in their folders, and
every library that they are linked with. Skips the C library, which chooses no kernels, and the preloaded library. Keeps
what it has found in SITES.json, and reads a file again only if it has changed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

_CPUID = re.compile(r"^ *([0-9a-f]+):\tcpuid", re.MULTILINE)
_LINKED = re.compile(r"=> (/\S+) \(")
_SKIPPED = re.compile(r"/(?:libc|libm|libdl|libpthread|librt|libstdc\+\+|ld-linux-x86-64|libmasked_cpuid)\.so[.\d]*$")


def output_of(*command: str, check: bool = True) -> str:
    return subprocess.run(command, check=check, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def is_elf(path: pathlib.Path) -> bool:
    if path.suffix in (".o", ".a") or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def files_of(names: list[str]) -> set[pathlib.Path]:
    paths = [path for name in names for path in (pathlib.Path(name), *pathlib.Path(name).rglob("*"))]
    built = {path.resolve() for path in paths if is_elf(path)}
    # ldd fails for what is not linked dynamically.
    linked = {pathlib.Path(name).resolve()
              for path in built for name in _LINKED.findall(output_of("ldd", str(path), check=False))}
    return {path for path in built | linked if not _SKIPPED.search(str(path))}


def replace(path: pathlib.Path, text: str) -> None:
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    sites = pathlib.Path(sys.argv[1])
    cache = sites.with_name(f"{sites.name}.json")
    known = json.loads(cache.read_text(encoding="utf-8")) if cache.exists() else {}
    found = {}
    for path in sorted(files_of(sys.argv[2:])):
        state = path.stat()
        entry = known.get(str(path), {})
        if (entry.get("time"), entry.get("size")) != (state.st_mtime_ns, state.st_size):
            addresses = _CPUID.findall(output_of("objdump", "-d", "--no-show-raw-insn", str(path)))
            entry = {"time": state.st_mtime_ns, "size": state.st_size, "addresses": addresses}
        found[str(path)] = entry
    replace(cache, json.dumps(found))
    replace(sites, "".join(f"{name} {address}\n" for name, entry in found.items() for address in entry["addresses"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
