#!/usr/bin/env python3
"""Prints the errors of PyTorch's recurrent layers in bf16, with which rnn_bf16_test.cc compares ours.

usage: rnn_bf16_errors.py

Each number is the root mean square of the differences from the same layer in f64 with the same
(rounded) inputs, divided by that of the values in f64.
"""

import numpy as np
import torch

from make_rnn import module_of

STEPS, BATCH, INPUTS, UNITS = 25, 16, 64, 64
SEEDS = range(8)


def run(module, x, dy):
    x = x.clone().requires_grad_()
    y = module(x)[0]
    y.backward(dy)
    w_x, w_h, b_x, b_h = (weight.grad for weight in module.all_weights[0])
    return {"y": y, "dx": x.grad, "dw_x": w_x, "dw_h": w_h, "db_x": b_x, "db_h": b_h}


def errors_of(cell):
    module = module_of(cell, bidirectional=False, inputs=INPUTS, units=UNITS).to(torch.bfloat16)
    x, dy = (torch.randn(STEPS, BATCH, size).to(torch.bfloat16) for size in (INPUTS, UNITS))
    narrow = run(module, x, dy)
    module.zero_grad()
    wide = run(module.double(), x.double(), dy.double())
    return {name: (torch.linalg.norm(narrow[name].double() - value) / torch.linalg.norm(value)).item()
            for name, value in wide.items()}


def main():
    for cell in ["rnn_relu", "rnn_tanh", "lstm", "gru_reset_after"]:
        runs = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            runs.append(errors_of(cell))
        means = [f"{name} {np.mean([run[name] for run in runs]):.2e}" for name in runs[0]]
        print(cell, *means)


if __name__ == "__main__":
    main()
