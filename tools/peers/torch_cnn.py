#!/usr/bin/env python3
"""Times a torchvision network in PyTorch on a GPU. Needs no other file of this repository.

    torch_cnn.py --model=resnet50 --batch_size=256 --dtype=fp16 --compile --compile_mode=max-autotune

A training step is forward, cross-entropy, backward and SGD with momentum, on synthetic images in device memory. Prints
one line of JSON. images_per_sec is the number of timed images divided by the time from the start of the first step to
the end of the last, as in bench's total. torchvision's resnet50 is bench's resnet50_v1.5. For CPUs, use torch_peer.py.
"""

import argparse
import contextlib
import json
import sys
import time
from typing import Any, Callable, Sequence

import torch
import torchvision

_DTYPES = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}
_CLASSES = 1000


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50", help="a constructor in torchvision.models")
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--dtype", choices=_DTYPES, default="fp32", help="bf16 and fp16 run under autocast")
    parser.add_argument("--layout", choices=("NCHW", "NHWC"), default="NHWC", help="NHWC is channels_last")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu is only for trying the script")
    parser.add_argument("--forward_only", action="store_true")
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    parser.add_argument("--compile_mode", default="default",
                        help="for instance max-autotune, which records CUDA graphs itself")
    parser.add_argument("--cuda_graph", action="store_true",
                        help="training without --compile: record the forward and the backward pass as CUDA graphs")
    parser.add_argument("--image_size", type=int, default=224)
    parser.add_argument("--num_warmup_batches", type=int, default=3)
    parser.add_argument("--num_batches", type=int, default=10)
    options = parser.parse_args(arguments)
    if options.cuda_graph and (options.compile or options.forward_only or options.device != "cuda"):
        parser.error("--cuda_graph is only for training on a GPU without --compile")
    return options


def _autocast(options: argparse.Namespace) -> contextlib.AbstractContextManager:
    dtype = _DTYPES[options.dtype]
    # The recording must not contain casts that another step made.
    return torch.autocast(options.device, dtype=dtype, enabled=dtype is not None,
                          cache_enabled=not options.cuda_graph)


def _make(options: argparse.Namespace) -> tuple[Any, Callable, torch.Tensor]:
    """Returns the module, the function that computes it, and images."""
    extra = {"aux_logits": False, "init_weights": False} if options.model in ("inception_v3", "googlenet") else {}
    module = getattr(torchvision.models, options.model)(**extra).to(options.device)
    images = torch.rand(options.batch_size, 3, options.image_size, options.image_size, device=options.device)
    if options.layout == "NHWC":
        module = module.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    module.train(not options.forward_only)
    if options.compile and options.forward_only:
        from torch._inductor import config
        config.freezing = True
    if options.compile:
        return module, torch.compile(module, mode=options.compile_mode), images
    if options.cuda_graph:
        with _autocast(options):
            return module, torch.cuda.make_graphed_callables(module, (images,)), images
    return module, module, images


def _training(options: argparse.Namespace, module: Any, network: Callable, images: torch.Tensor) -> Callable:
    labels = torch.randint(0, _CLASSES, (options.batch_size,), device=options.device)
    loss_of = torch.nn.CrossEntropyLoss()
    # One kernel over all variables, which also divides by the loss scale, without waiting for the device.
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-3, momentum=0.9, weight_decay=4e-5, fused=True)
    scaler = torch.amp.GradScaler(options.device, enabled=options.dtype == "fp16")

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with _autocast(options):
            loss = loss_of(network(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


def _inference(options: argparse.Namespace, network: Callable, images: torch.Tensor) -> Callable:
    def step() -> None:
        # torch.compile does not make frozen graphs in inference_mode.
        with torch.no_grad() if options.compile else torch.inference_mode(), _autocast(options):
            network(images)

    return step


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    module, network, images = _make(options)
    step = (_inference(options, network, images) if options.forward_only
            else _training(options, module, network, images))
    for _ in range(options.num_warmup_batches):
        step()
    _wait(options.device)
    start = time.perf_counter()
    for _ in range(options.num_batches):
        step()
    _wait(options.device)
    seconds = time.perf_counter() - start
    print(json.dumps({**vars(options), "peer": f"torch {torch.__version__}",
                      "seconds_per_step": seconds / options.num_batches,
                      "images_per_sec": round(options.batch_size * options.num_batches / seconds, 3)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
