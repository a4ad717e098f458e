#!/usr/bin/env python3
"""Times recurrent layers in `bench_kernels rnn` and in PyTorch (eager, f32) in turn, and prints their ratio.

    torch_env/bin/python tools/peers/rnn_layers.py --filter=lstm/h512

PyTorch's backward starts from the gradient of the states, that of `bench_kernels` from their loss.
"""

import argparse
import json
import re
import statistics
import subprocess
import time
from pathlib import Path

import torch

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 0.25
_NAME = re.compile(r"(\w+)/h(\d+)/n(\d+)/t(\d+)/f32/fused/(inference|forward|backward)")


def _module(cell: str, units: int) -> torch.nn.Module:
    if cell == "lstm":
        return torch.nn.LSTM(units, units)
    return torch.nn.RNN(units, units, nonlinearity="relu") if cell == "rnn_relu" else torch.nn.GRU(units, units)


def _timed(run) -> tuple[float, object]:
    begin = time.perf_counter()
    result = run()
    return time.perf_counter() - begin, result


def _torch_seconds(cell: str, units: int, batch: int, steps: int, phase: str) -> float:
    """Returns the mean of at least one run after the first."""
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


def _our_seconds(options: argparse.Namespace, name: str) -> float:
    command = [options.bench_kernels, "rnn", f"--num_intra_threads={options.threads}", f"--benchmark_filter=^{name}/",
               f"--benchmark_min_time={_SECONDS}", "--benchmark_format=json"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(printed)["benchmarks"][0]["real_time"] / 1e3


def _compare(options: argparse.Namespace, name: str) -> None:
    cell, units, batch, steps, phase = _NAME.match(name).groups()
    sides = {"ours": lambda: _our_seconds(options, name),
             "torch": lambda: _torch_seconds(cell, int(units), int(batch), int(steps), phase)}
    seconds: dict[str, list[float]] = {"ours": [], "torch": []}
    for number in range(options.rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            seconds[side].append(sides[side]())
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
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
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
