"""The output that the program may print: kinds of lines on stderr, and the grammar of a run on stdout."""

import os
import re
from pathlib import Path
from typing import Iterator

# The program's table of the beginnings of stderr lines that are not errors.
_TABLE = Path(__file__).resolve().parents[2] / "bench" / "terminal" / "stderr_lines.inc"
_STARTS = re.findall(r'^BENCH_STDERR_LINE\(\w+, "(.+)"\)$', _TABLE.read_text(encoding="utf-8"), re.MULTILINE)
_STDERR_LINES = re.compile("|".join((
    *map(re.escape, _STARTS),
    # oneDNN's lines, if its variables request them.
    r"onednn_verbose,",
    # Progress: a phase, how much of it is done, the time left.
    r"[a-z][\w ]*: \w+ \d+ of \d+(?:, (?:\d+:)?\d+:\d\d left)?$", r"[a-z][\w ]*: \d+ \w+$",
    # Lines of the OpenMP library about its variables, before the program begins.
    r"libgomp: (?!Thread creation|Out of memory)",
)))
_SENTENCE = "bench: "
_SANITIZERS = re.compile(r"\b(?:Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer\b|"
                         r": runtime error: ")
# Internal names: exceptions of the library, and our checks.
_INTERNALS = re.compile(r"std::|what\(\)|bad_alloc|basic_string|vector::|filesystem error|"
                        r"json\.exception|nlohmann|\bsto[id]\b|_M_\w|\.(?:cc|h):\d+")
_SYSTEM_WORDS = {os.strerror(number).casefold() for number in range(1, 134)}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def text_faults(name: str, data: bytes, tabs: bool) -> Iterator[str]:
    """Returns bytes that a terminal would interpret, and bytes that are not valid text."""
    text = data.decode("utf-8", "replace")
    if b"\xef\xbf\xbd" not in data and "\ufffd" in text:
        yield f"{name} contains bytes that are not UTF-8"
    match = _CONTROL.search(text) or (None if tabs else re.search("\t", text))
    if match:
        yield f"{name} contains the control character {match[0]!r}"


def stderr_faults(data: bytes, wants_sentence: bool,
                  may_have_sentence: bool) -> Iterator[tuple[str, str]]:
    """Returns (kind, text) for faults of stderr: a missing or unexpected sentence, several sentences, or lines of no
    known kind."""
    text = data.decode("utf-8", "replace")
    if match := _SANITIZERS.search(text):
        yield "sanitizer", text[match.start():].partition("\n")[0]
    lines = text.split("\n")
    if lines and lines[-1]:
        yield "stderr", f"the last line has no line break: {lines[-1]!r}"
    sentences = [line for line in lines if line.startswith(_SENTENCE)]
    for line in lines:
        if line and not line.startswith(_SENTENCE) and not _STDERR_LINES.match(line):
            yield "stderr", f"unknown kind of line: {line!r}"
    if len(sentences) > 1:
        yield "sentences", f"{len(sentences)} error messages instead of one: {sentences}"
    if not sentences and wants_sentence:
        yield "sentences", "no error message"
    if sentences and not may_have_sentence:
        yield "sentences", f"an error message, but the run did not fail: {sentences[0]!r}"
    for line in sentences:
        yield from _sentence_faults(line[len(_SENTENCE):])


_RESULTS_SENTENCE = "bench_results: "
# Each of several files may have such a line.
_RESULTS_NOTES = re.compile(r"bench_results: (?:warning|note|not stored): ")


def results_stderr_faults(data: bytes, wants_sentence: bool) -> Iterator[tuple[str, str]]:
    """Returns (kind, text) for faults of bench_results' stderr."""
    text = data.decode("utf-8", "replace")
    if match := _SANITIZERS.search(text):
        yield "sanitizer", text[match.start():].partition("\n")[0]
    lines = [line for line in text.split("\n") if line.startswith(_RESULTS_SENTENCE)]
    sentences = [line for line in lines if not _RESULTS_NOTES.match(line)]
    if len(sentences) > 1:
        yield "sentences", f"{len(sentences)} error messages instead of one: {sentences}"
    if wants_sentence and not lines:
        yield "sentences", "no error message"
    for line in lines:
        yield from _sentence_faults(line[len(_RESULTS_SENTENCE):])


def _sentence_faults(body: str) -> Iterator[tuple[str, str]]:
    if not body.strip():
        yield "sentences", "the error message is empty"
    if body.strip().casefold() in _SYSTEM_WORDS:
        yield "bare", f"only the text of a system error: {body!r}"
    # Text between quotes may be the user's.
    if match := _INTERNALS.search(re.sub(r"'[^']*'", "''", body)):
        yield "internals", f"contains an internal name ({match[0]}): {body!r}"


_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|nan|inf)"
_RATE = r"\d+\.\d"
# The first line of a run. The help's first line begins with a word.
_FIRST_LINE = re.compile(r"bench: +\d")
_HEADER_LINE = re.compile(r"(?:[A-Z][\w .]*:| ) .*")
_RUN_LINE = re.compile("|".join((
    r"Generating (?:training|evaluation) model", r"Initializing graph", r"Running warm up",
    r"Done warm up", r"Round up warm up steps to \d+ to match batch_group_size",
    r"Step\tImg/sec\t(?:total|base)_loss(?:\ttop_1_accuracy\ttop_5_accuracy)?",
    rf"\d+\timages/sec: {_RATE} \+/- {_RATE} \(jitter = {_RATE}\)\t{_NUMBER}"
    rf"(?:\t{_NUMBER}\t{_NUMBER})?",
    r"-{64}", r"total images/sec: \d+\.\d\d",
)))
_TABLES = re.compile(r"--?(?:profile|batch_size)", re.IGNORECASE)


def stdout_faults(data: bytes, args: list[str], done: bool) -> Iterator[tuple[str, str]]:
    """Returns (kind, text) for faults of stdout. `done` means that the run reports its normal end."""
    text = data.decode("utf-8", "replace")
    if not _FIRST_LINE.match(text):
        return
    lines = text.split("\n")
    if lines.pop() and done:
        yield "stdout", "the last line has no line break"
    tables = any(_TABLES.match(word) for word in args)
    in_header = False
    for line in lines:
        if _FIRST_LINE.match(line):
            in_header = True
        elif line == "=" * 10:
            in_header = False
        elif not (_HEADER_LINE if in_header else _RUN_LINE).fullmatch(line) and not tables:
            yield "stdout", f"a line outside of the fixed grammar: {line!r}"
    runs = sum(bool(_FIRST_LINE.match(line)) for line in lines)
    totals = sum(line.startswith("total images/sec: ") for line in lines)
    dumps = any(word.lower().lstrip("-").replace("-", "_").startswith("dump_tensors") for word in args)
    if done and runs != totals and not dumps:
        yield "stdout", f"{totals} totals, but {runs} runs"
