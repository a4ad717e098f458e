#!/usr/bin/env python3
"""Checks the pages (*.md): every relative link works, every page can be reached, and pages, table cells and sentences
are short. The manual explains every line on stderr.

    check_docs.py [ROOT]    prints one line per violation; exits 1 when there is one
"""

import pathlib
import posixpath
import re
import sys
from typing import Iterator, NamedTuple
from urllib.parse import unquote

from check_english import paragraphs_of, without_code
from check_layers import FOLDERS, Violation

FIRST_PAGE = "README.md"
# Readers finish a short page. Longer material goes to another page next to its subject.
MAX_FIRST_PAGE_WORDS = 900
MAX_README_WORDS = 600  # the README.md of a folder
MAX_PAGE_WORDS = 1200  # any other page
MAX_CELL_CHARACTERS = 150  # of a table, without the targets of links
MAX_SENTENCE_WORDS = 25
# The table of the lines on stderr, and the page that explains each in the row of a table.
STDERR_LINES = "bench/terminal/stderr_lines.inc"
LINES_PAGE = "bench/manual/OUTPUT.md"
# Pages to look things up in, most of them generated, which may have any number of words.
GENERATED = ("bench/manual/FLAGS.md", "bench/manual/OUTPUT.md", "results/RECORD.md")

CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n).)*?)(?<!`)\1(?!`)", re.DOTALL)
TARGET = re.compile(r'\]\(\s*<?([^)\s>]+)|^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)|\b(?:href|src)="([^"]+)"',
                    re.MULTILINE)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$")
LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
TABLE_RULE = re.compile(r"[\s|:-]*$")
# A sentence ends at a mark that a capital letter, a number, code or the program's name follows. An abbreviation with
# inner dots (e.g., i.e.) does not end one.
SENTENCE_END = re.compile(r"(?<!\.[a-z])(?<=[.!?])[)\"*]*\s+(?=[*(\"]*(?:[A-Z0-9`-]|bench\b))")
WORD = re.compile(r"\S*\w\S*")
STDERR_LINE = re.compile(r'^BENCH_STDERR_LINE\(\w+, "(.+)"\)$', re.MULTILINE)
WITH_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class Link(NamedTuple):
    line: int
    path: str  # empty: the page itself
    anchor: str


def without_code_blocks(text: str) -> str:
    """Returns the same lines, with empty lines in place of code blocks (fenced, or indented after an empty line)."""
    kept, fence, before_is_empty = [], "", True
    for line in text.splitlines():
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if fence:
            code = True
            if mark and mark[1].startswith(fence):
                fence = ""
        elif mark:
            code, fence = True, mark[1]
        else:
            code = before_is_empty and line.startswith(("    ", "\t"))
        before_is_empty = code or not line.strip()
        kept.append("" if code else line)
    return "\n".join(kept)


def anchors_of(text: str) -> set[str]:
    """Returns the anchors that GitHub gives to a page's headings. They are in lower case, without punctuation, with
    hyphens for spaces. A repeated anchor gets a number."""
    found: set[str] = set()
    for line in without_code_blocks(text).splitlines():
        heading = HEADING.match(line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            slug = anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            number = 0
            while anchor in found:
                number += 1
                anchor = f"{slug}-{number}"
            found.add(anchor)
    return found


def links_of(text: str) -> Iterator[Link]:
    """Returns the relative links of a page, except those in code."""
    prose = CODE_SPAN.sub(lambda span: re.sub(r"[^\n]", " ", span[0]), without_code_blocks(text))
    for match in TARGET.finditer(prose):
        target = match[1] or match[2] or match[3]
        if not WITH_SCHEME.match(target) and not target.startswith("//"):
            path, _, anchor = unquote(target).partition("#")
            yield Link(prose.count("\n", 0, match.start()) + 1, path, anchor)


class Pages:
    """The files of the repository under `root`, and the text of its pages."""

    def __init__(self, root: pathlib.Path):
        paths = [path for path in root.iterdir() if path.is_file()]
        for folder in (*FOLDERS, ".ci"):
            paths += [path for path in (root / folder).rglob("*")
                      if path.is_file() and "__pycache__" not in path.parts]
        self.files = {path.relative_to(root).as_posix() for path in paths}
        self.folders = {parent.as_posix() for path in self.files
                        for parent in pathlib.PurePosixPath(path).parents}
        self.texts = {path: (root / path).read_text(encoding="utf-8")
                      for path in sorted(self.files) if path.endswith(".md")}
        self.stderr_lines = (STDERR_LINE.findall((root / STDERR_LINES).read_text(encoding="utf-8"))
                             if STDERR_LINES in self.files else [])

    @staticmethod
    def target(page: str, link: Link) -> str:
        if not link.path:
            return page
        return posixpath.normpath(posixpath.join(posixpath.dirname(page), link.path))


def check_links(pages: Pages) -> Iterator[Violation]:
    """Checks that the file or folder of every link exists, and that every anchor is a heading of that page."""
    for page, text in pages.texts.items():
        for link in links_of(text):
            target = Pages.target(page, link)
            if target not in pages.files and target not in pages.folders:
                yield Violation(page, link.line, f"links to {link.path}, but the repository has no {target}")
            elif link.anchor and target not in pages.texts:
                yield Violation(page, link.line, f"links to {link.path}#{link.anchor}: "
                                f"{target} is not a page, so it has no anchors")
            elif link.anchor and link.anchor not in anchors_of(pages.texts[target]):
                yield Violation(page, link.line, f"links to {link.path}#{link.anchor}: "
                                f"{target} has no heading of that name")


def check_reachable(pages: Pages) -> Iterator[Violation]:
    """Checks that every page can be reached by links from the first page."""
    reached, waiting = {FIRST_PAGE}, [FIRST_PAGE]
    while waiting:
        page = waiting.pop()
        for link in links_of(pages.texts[page]):
            target = Pages.target(page, link)
            if target in pages.texts and target not in reached:
                reached.add(target)
                waiting.append(target)
    for page in pages.texts:
        if page not in reached:
            yield Violation(page, 1, f"this page cannot be reached by links from {FIRST_PAGE}")


def words_of(text: str) -> int:
    """Counts the words of a page with its code. A link's target is not a word; neither is a mark such as | or -."""
    return len(WORD.findall(LINK.sub(r"\1", text)))


def cells_of(text: str) -> Iterator[tuple[int, str]]:
    """Returns the cells of all tables as they are read: links without targets, | in code does not end a cell."""
    for number, line in enumerate(without_code_blocks(text).splitlines(), 1):
        if line.lstrip().startswith("|") and not TABLE_RULE.match(line):
            shown = LINK.sub(r"\1", CODE_SPAN.sub(lambda span: span[0].replace("|", "!"), line))
            for cell in re.split(r"(?<!\\)\|", shown.strip().strip("|")):
                yield number, cell.strip()


def sentences_of(text: str) -> Iterator[tuple[int, str]]:
    """Returns the sentences of paragraphs and list items, with the line where the paragraph begins."""
    lines = ("" if line.lstrip().startswith("|") else line for line in without_code_blocks(text).splitlines())
    for number, paragraph in paragraphs_of("\n".join(lines)):
        for sentence in SENTENCE_END.split(without_code(paragraph)):
            yield number, sentence


def check_lengths(pages: Pages) -> Iterator[Violation]:
    """Checks that each page, table cell and sentence is short."""
    for page, text in pages.texts.items():
        most = MAX_PAGE_WORDS
        if page == FIRST_PAGE:
            most = MAX_FIRST_PAGE_WORDS
        elif posixpath.basename(page) == "README.md":
            most = MAX_README_WORDS
        words = words_of(text)
        if words > most and page not in GENERATED:
            yield Violation(page, len(text.splitlines()), f"has {words} words, more than {most}: shorten it, or move a "
                            "part to another page")
        for line, cell in cells_of(text):
            if len(cell) > MAX_CELL_CHARACTERS:
                yield Violation(page, line, f"has a table cell of {len(cell)} characters, more than "
                                f"{MAX_CELL_CHARACTERS}: {cell[:60]}")
        for line, sentence in sentences_of(text):
            words = len(WORD.findall(sentence))
            if words > MAX_SENTENCE_WORDS:
                yield Violation(page, line, f"has a sentence of {words} words, more than {MAX_SENTENCE_WORDS}: "
                                f"{sentence[:60]}")


def check_stderr_lines(pages: Pages) -> Iterator[Violation]:
    """Checks that a row of the page explains each kind of line on stderr: its first cell has the line's start."""
    names = [line.split(" | ")[0] for line in pages.texts.get(LINES_PAGE, "").splitlines() if line.startswith("| ")]
    for start in pages.stderr_lines:
        if not any("`" + start.rstrip(": =") in name for name in names):
            yield Violation(LINES_PAGE, 1, f"explains no line that begins with '{start}' ({STDERR_LINES})")


CHECKS = (check_links, check_reachable, check_lengths, check_stderr_lines)


def violations(root: pathlib.Path) -> list[Violation]:
    pages = Pages(root)
    return [violation for check in CHECKS for violation in check(pages)]


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[1]
    if not (root / FIRST_PAGE).is_file():
        print(f"check_docs: {root} is not the root of the repository: it has no {FIRST_PAGE}", file=sys.stderr)
        return 2
    found = violations(root)
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
