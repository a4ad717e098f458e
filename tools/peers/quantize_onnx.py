#!/usr/bin/env python3
"""Quantises an ONNX file to int8 after training, by ONNX Runtime or by NNCF for OpenVINO.

    quantize_onnx.py --by=onnxruntime --input=resnet50.onnx --output=resnet50.int8.onnx
    quantize_onnx.py --by=openvino --input=resnet50.onnx --output=resnet50.int8.xml

Calibration images are random, because speed does not depend on them. Weights have a scale per channel.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator

from peerlib.work import CALIBRATION_BATCHES, NotSupportedError


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by", choices=("onnxruntime", "openvino"), required=True)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--activations", choices=("u8", "s8"), default="u8",
                        help="onnxruntime: their type; without VNNI u8 may saturate")
    return parser.parse_args(arguments)


def _batches(shape: list[int]) -> Iterator[Any]:
    import numpy as np
    random = np.random.default_rng(1)
    for _ in range(CALIBRATION_BATCHES):
        yield random.random(shape, dtype=np.float32)


def by_onnxruntime(options: argparse.Namespace) -> None:
    import onnxruntime as ort
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                          quantize_static)
    from onnxruntime.quantization.shape_inference import quant_pre_process
    inputs = ort.InferenceSession(options.input, providers=["CPUExecutionProvider"]).get_inputs()

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            self.batches = _batches(inputs[0].shape)

        def get_next(self) -> dict[str, Any] | None:
            batch = next(self.batches, None)
            return None if batch is None else {inputs[0].name: batch}

    activations = {"u8": QuantType.QUInt8, "s8": QuantType.QInt8}[options.activations]
    part = options.output.with_name(f"{options.output.stem}.part.onnx")
    with tempfile.TemporaryDirectory() as folder:
        # Folds batch norm into convolutions. Static quantisation would leave it in f32.
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(options.input, prepared, skip_symbolic_shape=True)
        quantize_static(prepared, part, Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=activations, weight_type=QuantType.QInt8)
    os.replace(part, options.output)


def by_openvino(options: argparse.Namespace) -> None:
    import nncf
    import openvino as ov
    model = ov.Core().read_model(options.input)
    batches = list(_batches(list(model.input(0).shape)))
    quantized = nncf.quantize(model, nncf.Dataset(batches), subset_size=len(batches),
                              preset=nncf.QuantizationPreset.PERFORMANCE)
    # Write the weights first, because callers look for the .xml.
    part = options.output.with_name(f"{options.output.stem}.part.xml")
    ov.save_model(quantized, part, compress_to_fp16=False)
    os.replace(part.with_suffix(".bin"), options.output.with_suffix(".bin"))
    os.replace(part, options.output)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    try:
        {"onnxruntime": by_onnxruntime, "openvino": by_openvino}[options.by](options)
    except (NotSupportedError, ImportError) as error:
        print(f"quantize_onnx: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
