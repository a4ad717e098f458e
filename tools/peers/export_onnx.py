#!/usr/bin/env python3
"""Writes the PyTorch definition of a network as ONNX, for the peers that read it. Needs PyTorch, onnx and onnxscript.

    export_onnx.py --model=resnet50_v1.5 --batch=32 --output=resnet50.onnx
"""

import argparse
import os
import sys
from pathlib import Path


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="the network's name in `bench`")
    parser.add_argument("--batch", type=int, default=32, help="stored in the file, because shapes are fixed")
    parser.add_argument("--image_size", type=int, default=0, help="0: the model's own")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--twins", type=Path, help="folder that contains parity/")
    return parser.parse_args(arguments)


def infer_batch_of_reshapes(path: Path, batch: int) -> None:
    """Replaces the batch size in target shapes by -1, so that a peer can run the file on a part of the batch."""
    import onnx
    from onnx import numpy_helper
    model = onnx.load(path)
    uses = [(name, node.op_type == "Reshape" and place == 1)
            for node in model.graph.node for place, name in enumerate(node.input)]
    shapes = {name for name, is_shape in uses if is_shape} - {name for name, is_shape in uses if not is_shape}
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if tensor.name in shapes and values.size and values[0] == batch and (values > 0).all():
            free = values.copy()
            free[0] = -1
            tensor.CopyFrom(numpy_helper.from_array(free, tensor.name))
    onnx.save(model, path)


def export(options: argparse.Namespace) -> None:
    import torch
    from peerlib import torch_models
    from peerlib.work import OTHER_MODELS, NotSupportedError
    if options.model in OTHER_MODELS:
        raise NotSupportedError(f"{options.model} runs only in PyTorch")
    network = torch_models.make(options.model, options.image_size, options.twins)
    images = torch.rand(options.batch, 3, network.image_size, network.image_size)
    sample = torch.rand(max(2, min(options.batch, 8)), *images.shape[1:])
    torch_models.settle_statistics(network.module, [sample])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    part = options.output.with_name(f"{options.output.stem}.part.onnx")
    torch.onnx.export(network.module, (images,), part, dynamo=True, external_data=False,
                      input_names=["images"], output_names=["logits"])
    infer_batch_of_reshapes(part, options.batch)
    os.replace(part, options.output)


def main(arguments: list[str]) -> int:
    from peerlib.work import NotSupportedError
    try:
        export(parse(arguments))
    except (NotSupportedError, ImportError) as error:
        print(f"export_onnx: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
