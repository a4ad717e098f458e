#!/usr/bin/env python3
"""Says which tests a command selects, and what ninja has to build for them.

usage: select_tests.py BUILD [--changed=REVISION] [CTEST ARGUMENTS...]

BUILD is a configured build folder, and the ctest arguments (-R, -L, -LE, ...) select tests in it. Prints a
regular expression that matches the names of the selected tests, then one ninja target per line. With --changed,
it keeps only the tests that are affected by a file that differs from REVISION, in the working tree or since
committed. A test is affected by the sources and headers of what it runs, and by the scripts and pages it is given.
"""

import functools
import pathlib
import re
import subprocess
import sys

# A folder's Python program imports its neighbours, and a shell test may source them.
_SCRIPTS = (".py", ".sh")
# What the build itself depends on affects every test.
_BUILD_FILES = re.compile(r"(?:^|/)CMakeLists\.txt$|\.cmake$|\.in$|(?:^|/)CMakePresets\.json$")
_ADD_TEST = re.compile(r"^add_test\(\[=+\[(.*?)\]=+\] (.*)\)$", re.MULTILINE)
_PROPERTIES = re.compile(r"^set_tests_properties\(\[=+\[(.*?)\]=+\] PROPERTIES (.*)\)$", re.MULTILINE)
_SUBDIRECTORY = re.compile(r'^subdirs\("(.*)"\)$', re.MULTILINE)


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sources_of(path: pathlib.Path) -> list[pathlib.Path]:
    """The sources that a compiled file holds: those that a united one includes, or itself."""
    if path.parent.name != "Unity" or path.suffix != ".cxx" or not path.exists():
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'#include "(.*)"', path.read_text(encoding="utf-8"))]


class Build:
    """A configured build folder: its tests and the graph of ninja."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8")
        self.root = pathlib.Path(re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)[1])
        self.words = self._words_of_tests(folder)

    def _words_of_tests(self, folder: pathlib.Path) -> dict[str, str]:
        """The command of each test with its properties, as CMake wrote them."""
        text = (folder / "CTestTestfile.cmake").read_text(encoding="utf-8")
        words = dict(_ADD_TEST.findall(text))
        for name, properties in _PROPERTIES.findall(text):
            words[name] += " " + properties.partition(" _BACKTRACE_TRIPLES")[0]
        for below in _SUBDIRECTORY.findall(text):
            words |= self._words_of_tests(folder / below)
        return words

    def selected(self, arguments: list[str]) -> list[str]:
        listing = output_of("ctest", "--test-dir", str(self.folder), "-N", *arguments)
        return re.findall(r"^  Test +#\d+: (\S+)", listing, re.MULTILINE)

    @functools.cached_property
    def targets(self) -> set[str]:
        listing = output_of("ninja", "-C", str(self.folder), "--quiet", "-t", "targets", "all")
        return {line.rpartition(": ")[0] for line in listing.splitlines()}

    def paths_in(self, name: str) -> list[pathlib.Path]:
        """The files and folders that a test's command and properties name."""
        return [pathlib.Path(path) for path in re.findall(r'/[^";=,\s]+', self.words[name])]

    def needs(self, name: str) -> set[str]:
        """The ninja targets among what a test names."""
        inside = [path.relative_to(self.folder) for path in self.paths_in(name) if path.is_relative_to(self.folder)]
        return {str(path) for path in inside} & self.targets

    @functools.cached_property
    def read_by_object(self) -> dict[str, set[str]]:
        """What the compiler read for each object when it was last compiled."""
        read: dict[str, set[str]] = {}
        current: set[str] = set()
        for line in output_of("ninja", "-C", str(self.folder), "--quiet", "-t", "deps").splitlines():
            if line.startswith("    "):
                current.add(line.strip())
            elif ": #deps" in line:
                current = read.setdefault(line.partition(": #deps")[0], set())
        return read

    @functools.lru_cache(maxsize=None)
    def made_of(self, target: str) -> frozenset[str]:
        """All files that a target is built from."""
        inputs = output_of("ninja", "-C", str(self.folder), "--quiet", "-t", "inputs", target).splitlines()
        united = [source for name in inputs if name.endswith(".cxx") for source in sources_of(self.folder / name)]
        return frozenset(inputs).union(map(str, united), *(self.read_by_object.get(name, ()) for name in inputs))

    def folders_of(self, name: str) -> set[pathlib.Path]:
        """The folders whose scripts a test may run: those of its scripts, and X_src of a script X and vice versa."""
        folders: set[pathlib.Path] = set()
        for path in self.paths_in(name):
            if not path.is_relative_to(self.root) or path.is_relative_to(self.folder):
                continue
            if path.suffix in _SCRIPTS:
                folders.add(path.parent)
                if path.parent.name.endswith("_src"):
                    folders.add(path.parent.with_name(path.parent.name.removesuffix("_src")))
            folders.add(path.with_name(path.name + "_src"))
        return folders

    def is_affected(self, name: str, changed: set[pathlib.Path]) -> bool:
        named = set(self.paths_in(name))
        # A check that is given the whole tree reads all of it.
        if self.root in named or any(_BUILD_FILES.search(str(path)) for path in changed):
            return True
        made = set().union(*map(self.made_of, self.needs(name)))
        # An object that was never compiled may include anything.
        if any(item.endswith(".o") and item not in self.read_by_object for item in made):
            return True
        if not changed.isdisjoint(named | {self.folder / item for item in made}):
            return True
        folders = self.folders_of(name)
        return any(not folders.isdisjoint((path, *path.parents)) for path in changed)


def changed_since(revision: str, root: pathlib.Path) -> set[pathlib.Path]:
    git = ("git", "-C", str(root))
    changed = output_of(*git, "diff", "--name-only", revision, "--").splitlines()
    new = output_of(*git, "ls-files", "--others", "--exclude-standard").splitlines()
    return {root / name for name in changed + new}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    build = Build(pathlib.Path(arguments[0]).resolve())
    revisions = [word.partition("=")[2] for word in arguments if word.startswith("--changed=")]
    names = build.selected([word for word in arguments[1:] if not word.startswith("--changed=")])
    if revisions:
        changed = changed_since(revisions[-1], build.root)
        names = [name for name in names if build.is_affected(name, changed)]
    print("^(" + "|".join(map(re.escape, names)) + ")$" if names else "")
    print(*sorted(set().union(*map(build.needs, names))), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
