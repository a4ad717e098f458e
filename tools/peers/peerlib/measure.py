"""Runs steps and prints their times as one line of JSON, the last line on stdout."""

import argparse
import dataclasses
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Callable

from .work import NotSupportedError, Work, work_of

NOT_SUPPORTED = 3


def seconds_since_launch() -> float:
    """Returns the time since the kernel started this process, to 10 ms. It includes all imports."""
    with open("/proc/self/stat", encoding="ascii") as file:
        # The name in parentheses may contain spaces. The start time is the 20th field after it.
        ticks = int(file.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def peak_rss_bytes() -> int:
    """Returns the peak memory of this process. It does not use ru_maxrss, which survives exec and so may be the
    parent's."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


def measure(work: Work, step: Callable[[], Any]) -> dict[str, Any]:
    """Warms up and measures. `step` returns when its work is done."""
    setup_seconds = seconds_since_launch()
    first = time.perf_counter()
    step()
    first_step_seconds = time.perf_counter() - first
    for _ in range(work.warmup - 1):
        step()
    seconds = []
    for _ in range(work.steps):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return {"images_per_second": work.batch / statistics.median(seconds), "step_seconds": seconds,
            "peak_rss_bytes": peak_rss_bytes(), "setup_seconds": setup_seconds,
            "first_step_seconds": first_step_seconds}


def _say(result: dict[str, Any]) -> None:
    print(json.dumps(result), flush=True)


def run_peer(peer: str, options: argparse.Namespace,
             build: Callable[[Work, argparse.Namespace], tuple[Callable[[], Any], dict[str, Any]]],
             ) -> int:
    """Measures the step of `build`, which also returns metadata (versions, source of the network). Returns the exit
    status."""
    settings: dict[str, Any] = {name: str(value) if isinstance(value, Path) else value
                                for name, value in vars(options).items()}
    settings["environment"] = {name: os.environ[name] for name in
                               ("GLIBC_TUNABLES", "LD_PRELOAD", "ONEDNN_MAX_CPU_ISA",
                                "OMP_NUM_THREADS") if name in os.environ}
    head = {"peer": peer, "settings": settings}
    try:
        work = work_of(options)
        step, facts = build(work, options)
        _say({**head, "work": dataclasses.asdict(work), **facts, **measure(work, step)})
        return 0
    except ImportError as error:
        _say({**head, "skipped": f"not installed in {sys.executable}: {error}"})
    except NotSupportedError as error:
        _say({**head, "skipped": str(error)})
    return NOT_SUPPORTED
