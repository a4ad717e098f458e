#!/usr/bin/env python3
"""Writes rnn.safetensors: recurrent layers of PyTorch in f64, with all gradients.

usage: make_rnn.py [OUTPUT]

Each tensor is named CASE/TENSOR, as rnn_torch_test.cc reads it. PyTorch has no GRU that resets
before the product. That one is written out here, and PyTorch derives its gradients.
"""

import pathlib
import sys

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools"))
from parity import safetensors  # noqa: E402

STEPS, BATCH, INPUTS, UNITS = 4, 3, 2, 3
LENGTHS = [4, 1, 3]
#: Our order of the gates, in PyTorch's.
GATES = {"rnn_relu": [0], "rnn_tanh": [0], "lstm": [0, 1, 2, 3], "gru_reset_before": [1, 0, 2],
         "gru_reset_after": [1, 0, 2]}


class GruResetBefore(torch.nn.GRU):
    """The GRU of Cho et al., with the parameters of PyTorch's."""

    def forward(self, x, lengths=None):
        lengths = torch.full((x.shape[1],), x.shape[0]) if lengths is None else lengths
        outputs = []
        for direction in range(2 if self.bidirectional else 1):
            w_x, w_h, b_x, b_h = self.all_weights[direction]
            h = torch.zeros(x.shape[1], self.hidden_size, dtype=x.dtype)
            states = [None] * len(x)
            order = range(len(x)) if direction == 0 else reversed(range(len(x)))
            for t in order:
                r_x, z_x, n_x = (x[t] @ w_x.T + b_x).chunk(3, 1)
                r_w, z_w, n_w = w_h.chunk(3)
                r_b, z_b, n_b = b_h.chunk(3)
                r = torch.sigmoid(r_x + h @ r_w.T + r_b)
                z = torch.sigmoid(z_x + h @ z_w.T + z_b)
                n = torch.tanh(n_x + (r * h) @ n_w.T + n_b)
                active = (t < lengths)[:, None]
                h = torch.where(active, z * h + (1 - z) * n, h)
                states[t] = torch.where(active, h, torch.zeros_like(h))
            outputs.append(torch.stack(states))
        return torch.cat(outputs, 2)


def module_of(cell, bidirectional, inputs=INPUTS, units=UNITS):
    options = {"input_size": inputs, "hidden_size": units, "bidirectional": bidirectional,
               "dtype": torch.float64}
    if cell.startswith("rnn_"):
        return torch.nn.RNN(nonlinearity=cell.removeprefix("rnn_"), **options)
    return {"lstm": torch.nn.LSTM, "gru_reset_before": GruResetBefore,
            "gru_reset_after": torch.nn.GRU}[cell](**options)


def run(module, x, lengths):
    if isinstance(module, GruResetBefore):
        return module(x, lengths)
    if lengths is None:
        return module(x)[0]
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    return torch.nn.utils.rnn.pad_packed_sequence(module(packed)[0], total_length=len(x))[0]


def ours(cell, tensors):
    """One tensor per direction, with the gates in our order: D x G x H x ..."""
    order = GATES[cell]
    parts = [t.detach().numpy().reshape(len(order), UNITS, *t.shape[1:])[order] for t in tensors]
    return np.stack(parts)


def add_case(tensors, cell, bidirectional, masked):
    name = f"{cell}{'/bidirectional' if bidirectional else ''}{'/lengths' if masked else ''}"
    module = module_of(cell, bidirectional)
    x = torch.randn(STEPS, BATCH, INPUTS, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor(LENGTHS) if masked else None
    y = run(module, x, lengths)
    dy = torch.randn_like(y)
    y.backward(dy)
    values = {"x": x, "y": y, "dy": dy, "dx": x.grad}
    for position, tensor in enumerate(["w_x", "w_h", "b_x", "b_h"]):
        weights = [direction[position] for direction in module.all_weights]
        values[tensor] = ours(cell, weights)
        values[f"d{tensor}"] = ours(cell, [w.grad for w in weights])
    for key, value in values.items():
        tensors[f"{name}/{key}"] = value if isinstance(value, np.ndarray) else value.detach().numpy()
    if masked:
        tensors[f"{name}/lengths"] = np.array(LENGTHS)


def main():
    torch.manual_seed(1)
    tensors = {}
    for cell in GATES:
        for bidirectional in [False, True]:
            for masked in [False, True]:
                add_case(tensors, cell, bidirectional, masked)
    here = pathlib.Path(__file__).parent / "rnn.safetensors"
    safetensors.save(sys.argv[1] if len(sys.argv) > 1 else here, tensors)


if __name__ == "__main__":
    main()
