"""One or two signals at any moment, in runs of every kind."""

import random
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM

from ..base import Program, tiny
from ..case import Blow, Case, File, Folder
from . import cifar

_MARKERS = ("", "", "Generating", "Initializing graph", "Running warm up", "Done warm up",
            "1\timages/sec", "10\timages/sec")
_FOREVER = "100000000"


def _has_int8() -> bool:
    """True if oneDNN's int8 layers run on this processor."""
    return "_vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")


def _work(rng: random.Random) -> tuple[str, list[str], bool]:
    """A kind of run, its flags, and whether it runs until a signal ends it."""
    steps = {"num_batches": _FOREVER}
    kinds: dict[str, tuple[list[str], bool]] = {
        "training": (tiny(**steps), True),
        "inference": ([*tiny(**steps), "--forward_only"], True),
        "warm-up": (tiny(num_warmup_batches=_FOREVER), True),
        "sweep": (tiny(batch_size="2,3,4", **steps), True),
        "calibration": ([*tiny(model="lenet", data_name="imagenet", **steps), "--forward_only",
                         "--dtype=int8", "--calibration_batches=1000000"], True),
        "larger steps": (tiny(model="resnet20", batch_size="32", **steps), True),
        "set-up": (tiny(model="resnet56", batch_size="8", **steps), True),
        "data": ([*tiny(**steps), "--data_dir=data"], True),
        "distorted data": ([*tiny(**steps), "--data_dir=data", "--distortions"], True),
        "trace": ([*tiny(**steps), "--trace_file=t.json"], True),
        "every step printed": ([*tiny(**steps), "--display_every=1"], True),
        "search for the batch": (tiny(batch_size="auto"), False),
        "short run": (tiny(num_batches="20"), False),
        "profile": ([*tiny(num_batches="20"), "--profile"], False),
        "check": ([*tiny(model="resnet20"), "--verify"], False),
        "tensors": ([*tiny(model="resnet56"), "--dump_tensors=d.safetensors"], False),
        "plan": ([*tiny(model="resnet56"), "--dump=graph,plan"], False),
        "list": (["--list_models"], False)}
    kind = rng.choice(sorted(kinds))
    return kind, *kinds[kind]


def make(rng: random.Random, program: Program, index: int) -> Case:
    kind, args, endless = _work(rng)
    if kind == "check":
        args = [word for word in args if not word.startswith("--num_")]
    measured = kind not in ("check", "tensors", "plan", "list")
    if measured:
        args.append("--result_file=sub/r.json")
        if not {"--dtype=int8"} & set(args) and rng.random() < 0.5:
            args.append("--save_variables=w.safetensors")
    # A search takes seconds and meanwhile prints nothing on stdout.
    marker = rng.choice(_MARKERS) if measured and kind != "search for the batch" else ""
    delay = rng.uniform(0, 0.25)
    if marker:
        delay = rng.choice((0.0, 0.001, 0.02, delay))
    first = rng.choice((SIGINT, SIGINT, SIGTERM, SIGHUP))
    blows = [Blow(first, delay, marker)]
    if rng.random() < 0.3:
        blows.append(Blow(rng.choice((first, first, SIGINT, SIGTERM, SIGHUP)),
                          rng.choice((0.0, 0.0005, 0.01, 0.1))))
    files = {"sub": Folder(), "data/data_batch_1.bin": File(cifar.records(rng, [1, 2, 3, 4]))}
    title = f"{'+'.join(blow.signal.name for blow in blows)} in {kind}"
    refused = {2} if kind == "calibration" and not _has_int8() else set()
    return Case(title, args, files, blows=blows, endless=endless,
                endings=frozenset({0, 1} | refused))
