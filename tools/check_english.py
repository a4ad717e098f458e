#!/usr/bin/env python3
"""Finds sentences that are not plain English in comments, pages and messages.

    check_english.py [--kinds=comments,pages,strings] [PATH...]    prints one line per finding; exits 1 when there is one

PATH is a file or a folder, by default the whole repository. A finding is a phrase of the table below, a comment of
documentation that begins with "Of", "As", "Whether" or "That", or a sentence of more than 25 words. The table's second
column says what to write instead.
"""

import argparse
import pathlib
import re
import subprocess
import sys
from typing import Iterator, NamedTuple

MOST_WORDS = 25

# What is not plain English, and what to write.
PHRASES = (
    (r"\banew\b", "again"),
    (r"\b(?:is|are|was|were) (?-i:none)\b", "there is no X"),
    (r"\b(?:is|are) no (?!longer\b|more\b|less\b|different\b|better\b|worse\b|faster\b|slower\b|larger\b|smaller\b)[a-z]+",
     "is not an X, there is no X"),
    (r"\btells? of\b", "reports"),
    (r"\b(?:is|are|was|were|be|been) told\b", "is reported, is printed"),
    (r"\btells (?!apart)", "reports, prints, shows"),
    (r"\bsays? of (?:itself|themselves)\b", "reports"),
    (r"\bso many\b", "N, that many"),
    (r"\bevery so (?:many|often)\b", "every N"),
    (r"\b[Oo]f (?:several|each|a|an|the|what|one|two|both)\b[^.;:]{0,60}?\b(?:each has|have each|has its own)\b", "With several X, each"),
    (r"\bwhat (?:lacks|is lacking)\b", "the remainder"),
    (r"\bin hand\b", "current"),
    (r"\bmeet(?:s|ing|ings)?\b", "reduce, all-reduce, synchronize; communicator, barrier"),
    (r"\ba work\b|\b(?:two|the|these|all|both) works\b", "workload"),
    (r"\bnights?\b", "run, day"),
    (r"\bstretch(?:es)?\b", "buffer view, range"),
    (r"\bseats?\b", "context"),
    (r"\bwhoever\b", "callers, downstream code"),
    (r"\bgo(?:es)? by\b", "uses"),
    (r"\bheld against\b|\bholds? [^.;:]{1,40} against\b", "compared with"),
    (r"\bleft out\b|\bleaves? out\b", "omitted, skipped"),
    (r"\bleft aside\b|\bleaves? aside\b", "ignored, skipped"),
    (r"\bis made of\b|\bare made of\b|\bmakes of\b", "consists of, converts"),
    (r"\bwhere nobody\b|\bnobody (?:says|has|knows|asked)\b", "by default"),
    (r"\bbeside\b", "next to, in addition to, concurrently with"),
    (r"\btaken with a note\b", "accepted with a note"),
    (r"\brooms?\b", "folder, module"),
    (r"\blies?\b|\blay\b|\blying\b", "is (located)"),
    (r"\bbehind (?:it|them|this|that|the|each|so many)\b", "after, following"),
    (r"\bin vain\b", "without success"),
    (r"\bby a hair\b", "slightly"),
    (r"\bof its own\b|\bof their own\b", "its own"),
    (r"\bit is said\b|\bis said\b|\bare said\b", "is reported"),
)
_PHRASES = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in PHRASES]
_BEGINS = re.compile(r"^(?:Of|As|Whether|That) ")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(])|;\s")
_COMMENT = {".cc": r"\s*//+<? ?", ".h": r"\s*//+<? ?", ".cu": r"\s*//+<? ?", ".inc": r"\s*//+<? ?", ".py": r"\s*# ?",
            ".sh": r"\s*# ?", ".cmake": r"\s*# ?", ".txt": r"\s*# ?", "": r"\s*# ?"}
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_NOT_PROSE = re.compile(r"NOLINT|clang-format|shellcheck|#include|^!|^SPDX|namespace\b|^-+$|^={3,}")
# The table and the list of replacements name what they ban.
_EXEMPT = ("tools/check_english.py", "tools/check_english_test.py", "LICENSE")


class Finding(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def comments_of(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Each block of comment lines as its first line and its text, joined."""
    mark = re.compile(_COMMENT[suffix])
    trailing = re.compile(r"^(.*?\S)\s+//+<? ?(.*)$") if suffix in (".cc", ".h", ".cu", ".inc") else None
    begin, words = 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        match = mark.match(line)
        body = line[match.end():] if match else ""
        if match and body.strip() and not body.startswith("  ") and not _NOT_PROSE.search(body):
            begin = begin or number
            words.append(body.strip())
            continue
        if words:
            yield begin, " ".join(words)
        begin, words = 0, []
        end = trailing.match(line) if trailing and not match else None
        if end and '"' not in end[1] and not _NOT_PROSE.search(end[2]):
            yield number, end[2]


def paragraphs_of(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, list items and table cells of a page, without code."""
    begin, words, fence = 0, [], False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
            line = ""
        code = fence or line.startswith(("    ", "\t"))
        bullet = re.match(r"\s*(?:[-*+]|\d+\.)\s", line)
        table = line.lstrip().startswith("|")
        if not line.strip() or code or bullet or table or line.startswith("#"):
            if words:
                yield begin, " ".join(words)
            begin, words = 0, []
        if table:
            for cell in line.strip().strip("|").split(" | "):
                yield number, cell.strip()
        elif line.strip() and not code and not line.startswith("#"):
            begin = begin or number
            words.append(line[bullet.end():].strip() if bullet else line.strip())


def strings_of(text: str) -> Iterator[tuple[int, str]]:
    """String literals that hold at least three words."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("//", "#")):
            continue
        for match in _STRING.finditer(line):
            if len(match[1].split()) >= 3:
                yield number, match[1]


def without_code(text: str) -> str:
    return re.sub(r"`[^`]*`", "`x`", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))


def findings_in(path: str, line: int, text: str, kind: str) -> Iterator[Finding]:
    prose = without_code(text)
    for pattern, instead in _PHRASES:
        for match in pattern.finditer(prose):
            yield Finding(path, line, f"'{match[0]}': {instead}")
    if kind == "comments" and (match := _BEGINS.match(prose)):
        yield Finding(path, line, f"begins with '{match[0].strip()}': {prose[:60]}")
    if kind != "strings":
        for sentence in _SENTENCE_END.split(prose):
            words = len(re.findall(r"[A-Za-z`][\w'`-]*", sentence))
            if words > MOST_WORDS:
                yield Finding(path, line, f"a sentence of {words} words: {sentence[:60]}")


def check(root: pathlib.Path, paths: list[str], kinds: set[str]) -> Iterator[Finding]:
    listing = subprocess.run(("git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "--", *paths), check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    for name in sorted(set(listing.splitlines())):
        path = root / name
        if name in _EXEMPT or not path.is_file():
            continue
        suffix = path.suffix
        if suffix == ".md":
            parts = [("pages", paragraphs_of)] if "pages" in kinds else []
        elif suffix in _COMMENT and (suffix != ".txt" or path.name == "CMakeLists.txt"):
            parts = [("comments", lambda text: comments_of(text, suffix))] if "comments" in kinds else []
            parts += [("strings", strings_of)] if "strings" in kinds else []
        else:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if suffix == "" and not text.startswith("#!"):
            continue
        for kind, read in parts:
            for line, prose in read(text):
                yield from findings_in(name, line, prose, kind)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kinds", default="comments,pages,strings")
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[1]
    count = 0
    for count, finding in enumerate(check(root, arguments.paths, set(arguments.kinds.split(","))), 1):
        print(finding)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
