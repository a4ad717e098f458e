#!/usr/bin/env python3
"""Times one network in OpenVINO on the CPU and prints one line of JSON. See README.md.

    openvino_peer.py --model=resnet50_v1.5 --mode=infer --dtype=bf16 --batch=32 --onnx=resnet50.onnx
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Callable

from peerlib.measure import run_peer
from peerlib.work import NotSupportedError, Work, add_flags

Step = Callable[[], Any]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_flags(parser)
    parser.set_defaults(mode="infer")
    parser.add_argument("--onnx", type=Path, required=True,
                        help="from export_onnx.py; int8: the .xml from quantize_onnx.py")
    parser.add_argument("--streams", type=int, default=1, help="number of parts of the batch; "
                        "they run concurrently, each with a part of the threads")
    parser.add_argument("--rest", choices=("f32", "bf16"), default="f32",
                        help="int8: type of the layers that are not quantised")
    return parser.parse_args(arguments)


def build(work: Work, options: argparse.Namespace) -> tuple[Step, dict[str, Any]]:
    if work.training:
        raise NotSupportedError("OpenVINO supports only inference")
    if work.batch % options.streams:
        raise NotSupportedError(f"a batch of {work.batch} is not divisible into {options.streams} streams")
    if not options.onnx.exists():
        raise NotSupportedError(f"{options.onnx} is missing")
    import numpy as np
    import openvino as ov
    core = ov.Core()
    precision = options.rest if work.dtype == "int8" else work.dtype
    if precision == "bf16" and "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        raise NotSupportedError("OpenVINO sees no bf16 instructions on this processor")
    model = core.read_model(options.onnx)
    shape = list(model.input(0).shape)
    if shape[0] != work.batch:
        raise NotSupportedError(f"{options.onnx} was exported for batch size {shape[0]}, not {work.batch}")
    part = [work.batch // options.streams, *shape[1:]]
    if options.streams > 1:
        model.reshape(part)
    compiled = core.compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": work.threads, "NUM_STREAMS": options.streams,
        # By default, OpenVINO uses bf16 for f32 if the processor supports it.
        "INFERENCE_PRECISION_HINT": precision})
    images = np.random.default_rng(2).random(part, dtype=np.float32)
    requests = [compiled.create_infer_request() for _ in range(options.streams)]
    for request in requests:
        request.set_input_tensor(ov.Tensor(images))

    def step() -> None:
        for request in requests:
            request.start_async()
        for request in requests:
            request.wait()

    taken = compiled.get_property("INFERENCE_PRECISION_HINT")
    facts = {"versions": {"openvino": ov.__version__}, "network": options.onnx.name,
             "image_size": shape[2], "precision": taken.get_type_name()}
    return step, facts


def main(arguments: list[str]) -> int:
    return run_peer("openvino", parse(arguments), build)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
