#!/usr/bin/env python3
"""Times one network in ONNX Runtime on the CPU and prints one line of JSON. See README.md.

    ort_peer.py --model=resnet50_v1.5 --mode=infer --batch=32 --onnx=resnet50.onnx
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
                        help="from export_onnx.py; int8: from quantize_onnx.py")
    parser.add_argument("--optimize", choices=("extended", "all"), default="all",
                        help="graph optimisations; all includes blocked layouts")
    parser.add_argument("--nospin", dest="spin", action="store_false",
                        help="idle threads sleep instead of spinning")
    return parser.parse_args(arguments)


def build(work: Work, options: argparse.Namespace) -> tuple[Step, dict[str, Any]]:
    if work.training:
        raise NotSupportedError("ONNX Runtime supports only inference here")
    if work.dtype == "bf16":
        raise NotSupportedError("ONNX Runtime's CPU provider has no bf16 convolution")
    if not options.onnx.exists():
        raise NotSupportedError(f"{options.onnx} is missing")
    import numpy as np
    import onnxruntime as ort
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = work.threads
    settings.inter_op_num_threads = 1
    settings.graph_optimization_level = {
        "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
        "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}[options.optimize]
    settings.add_session_config_entry("session.intra_op.allow_spinning", str(int(options.spin)))
    session = ort.InferenceSession(options.onnx, settings, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()[0]
    if inputs.shape[0] != work.batch:
        raise NotSupportedError(f"{options.onnx} was exported for batch size {inputs.shape[0]}, not {work.batch}")
    images = np.random.default_rng(2).random(inputs.shape, dtype=np.float32)
    # Input and output keep their memory, so a step allocates nothing.
    binding = session.io_binding()
    binding.bind_cpu_input(inputs.name, images)
    binding.bind_output(session.get_outputs()[0].name, "cpu")
    facts = {"versions": {"onnxruntime": ort.__version__}, "network": options.onnx.name,
             "image_size": inputs.shape[2]}
    return lambda: session.run_with_iobinding(binding), facts


def main(arguments: list[str]) -> int:
    return run_peer("onnxruntime", parse(arguments), build)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
