#!/usr/bin/env python3
"""Times recurrent layers in `bench_kernels rnn` and in PyTorch (eager, f32) in turn, and prints their ratio.

    torch_env/bin/python tools/peers/rnn_layers.py --filter=lstm/h512

PyTorch's backward starts from the gradient of the states, that of `bench_kernels` from their loss.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from peerlib.variants import THP

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 0.25
_NAME = re.compile(r"(\w+)/h(\d+)/n(\d+)/t(\d+)/f32/fused/(inference|forward|backward)")


def _module(cell: str, units: int):
    import torch
    if cell == "lstm":
        return torch.nn.LSTM(units, units)
    return torch.nn.RNN(units, units, nonlinearity="relu") if cell == "rnn_relu" else torch.nn.GRU(units, units)


def _timed(run) -> tuple[float, object]:
    begin = time.perf_counter()
    result = run()
    return time.perf_counter() - begin, result


def _time_torch(name: str, threads: int) -> float:
    """Returns the mean of at least one run after the first."""
    import torch
    torch.set_num_threads(threads)
    cell, *numbers, phase = _NAME.match(name).groups()
    units, batch, steps = map(int, numbers)
    module = _module(cell, units)
    training = phase != "inference"
    x = torch.randn(steps, batch, units, requires_grad=training)
    times: list[float] = []
    with torch.inference_mode(not training):
        while len(times) < 2 or sum(times[1:]) < _SECONDS:
            module.zero_grad()
            seconds, y = _timed(lambda: module(x)[0])
            if phase == "backward":
                gradient = y.detach().clone()
                seconds, _ = _timed(lambda: y.backward(gradient))
            times.append(seconds)
    return statistics.mean(times[1:])


def _torch_seconds(options: argparse.Namespace, name: str) -> float:
    """Runs PyTorch in a new process, on huge pages, as compare.py does with +thp."""
    command = [sys.executable, "-B", __file__, f"--time_torch={name}", f"--threads={options.threads}"]
    environment = {**os.environ, **THP, "OMP_NUM_THREADS": str(options.threads)}
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)


def _our_seconds(options: argparse.Namespace, name: str) -> float:
    command = [options.bench_kernels, "rnn", f"--num_intra_threads={options.threads}", f"--benchmark_filter=^{name}/",
               f"--benchmark_min_time={_SECONDS}", "--benchmark_format=json"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(printed)["benchmarks"][0]["real_time"] / 1e3


def _compare(options: argparse.Namespace, name: str) -> None:
    sides = {"ours": _our_seconds, "torch": _torch_seconds}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(options.rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            seconds[side].append(sides[side](options, name))
    ours, theirs = (statistics.median(seconds[side]) for side in ("ours", "torch"))
    rounds = [b / a for a, b in zip(seconds["ours"], seconds["torch"])]
    print(f"{name:48} {1e3 * ours:10.2f} {1e3 * theirs:10.2f} {theirs / ours:8.2f}  "
          f"{min(rounds):.2f}..{max(rounds):.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench_kernels", default=str(_ROOT / "build/release/bin/bench_kernels"))
    parser.add_argument("--filter", default="", help="regular expression for the names of layers; all of them take long")
    parser.add_argument("--rounds", type=int, default=6, help="runs of each side")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time_torch", metavar="LAYER", help="only print PyTorch's seconds for this layer")
    options = parser.parse_args()
    if options.time_torch:
        print(_time_torch(options.time_torch, options.threads))
        return
    listed = subprocess.run([options.bench_kernels, "rnn", "--benchmark_list_tests"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    names = [match[0] for match in _NAME.finditer(listed) if re.search(options.filter, match[0])]
    if not names:
        parser.error(f"--filter={options.filter}: no layer matches")
    print(f"{'layer':48} {'ours ms':>10} {'torch ms':>10} {'torch/ours':>10}  by round")
    for name in names:
        _compare(options, name)


if __name__ == "__main__":
    main()
