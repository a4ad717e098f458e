"""Filters of runs in every notation, also unquoted."""

import random

from ..base import Program
from ..case import Case, File
from ..formats.records import STORE, bytes_of, path_of, some

_KEYS = ("model", "label", "status", "batch", "start", "since", "host", "tag.site", "id", "reason", "dtype", "mode")
_VALUES = ("lenet", "LENET", "a", "ok", "failed", "32", ">8", "<nan", ">inf", "<1e400", "<-0", "2026-01-02", "30d", "0d",
           "-5d", "99999999999d", "2026-13-99", "", ":", "*", "%", "'", '"', "a:b", "\u202e", "\x1b[31m", "é", "x" * 5000)
_WHOLE = ("model:lenet -status:failed", "-status:failed", "--status:failed", "model:lenet or", "or", "(", "model=lenet",
          "model:", ":lenet", "-", "--", "-model", "not model:lenet", "model:lenet,vgg16", "start:2026-01-02")


def _term(rng: random.Random) -> str:
    return f"{rng.choice(('', '', '-'))}{rng.choice(_KEYS)}{rng.choice((':', ':', '='))}{rng.choice(_VALUES)}"


def make(rng: random.Random, program: Program, index: int) -> Case:
    if rng.random() < 0.1:
        words = [" ".join(["model:lenet"] * rng.choice((100, 5000)))]
    elif rng.random() < 0.4:
        words = rng.choice(_WHOLE).split(" ")
    else:
        words = [_term(rng) for _ in range(rng.choice((1, 2, 3)))]
    quoted = rng.random() < 0.3
    title = f"{'quoted' if quoted else 'unquoted'} filter: {' '.join(words)[:40]}"
    args = [rng.choice(("list", "list", "track", "report")), f"--store={STORE}/"]
    args += [" ".join(words)] if quoted else words
    # Without a run that matches, the status is 3.
    endings = frozenset({0, 2, 3})
    if words == ["model:lenet", "-status:failed"] or words == ["-status:failed"]:
        endings = frozenset({0})  # As the help shows them.
    files = {path_of(whole): File(bytes_of(whole)) for whole in some()}
    return Case(title, args, files, endings=endings, program="bench_results",
                outputs=(f"{STORE}/index.sqlite",))
