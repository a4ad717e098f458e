#!/usr/bin/env python3
"""Times one network in PyTorch on the CPU and prints one line of JSON. See README.md.

    torch_peer.py --model=resnet50_v1.5 --mode=train --dtype=bf16 --batch=32 --layout=NHWC --compile
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Callable, Sequence

from peerlib.measure import run_peer
from peerlib.work import LEARNING_RATE, OTHER_MODELS, NotSupportedError, Work, add_flags

Step = Callable[[], Any]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_flags(parser)
    parser.add_argument("--layout", choices=("NCHW", "NHWC"), default="NHWC",
                        help="NHWC is PyTorch's channels_last")
    parser.add_argument("--compile", action="store_true", help="torch.compile; inference: frozen")
    parser.add_argument("--compile_mode", default="default", help="for instance max-autotune")
    parser.add_argument("--script", action="store_true",
                        help="inference: TorchScript, frozen and optimised")
    parser.add_argument("--fold", action="store_true",
                        help="inference: batch norm folded into the convolutions first")
    parser.add_argument("--cast", action="store_true",
                        help="bf16 inference: weights and images in bf16, rather than autocast")
    parser.add_argument("--quantizer", choices=("fx", "pt2e"), default="pt2e",
                        help="int8: torch.ao's x86 backend, or torchao's and torch.compile")
    parser.add_argument("--twins", type=Path, help="folder that contains parity/")
    return parser.parse_args(arguments)


def _training(network: Callable, module: Any, inputs: Sequence[Any], loss_of: Callable, bf16: bool) -> Step:
    """SGD with momentum, one fused kernel over all variables. It matches `bench --optimizer=momentum` except for
    Nesterov's step, which needs no additional memory traffic."""
    import torch
    optimizer = torch.optim.SGD(module.parameters(), lr=LEARNING_RATE, momentum=0.9,
                                weight_decay=4e-5, fused=True)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = loss_of(network(*inputs))
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _scripted(module: Any, inputs: Sequence[Any], bf16: bool) -> Callable:
    import torch
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bf16, cache_enabled=False):
        script = torch.jit.freeze(torch.jit.trace(module, tuple(inputs)))
        return torch.jit.optimize_for_inference(script)


def _inference(network: Callable, inputs: Sequence[Any], bf16: bool, frozen: bool) -> Step:
    import torch

    def step() -> Any:
        # torch.compile does not make frozen graphs in inference_mode.
        with torch.no_grad() if frozen else torch.inference_mode(), \
                torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            return network(*inputs)

    return step


def _compiled(module: Any, options: argparse.Namespace, training: bool) -> Callable:
    import torch
    if not training:
        from torch._inductor import config
        config.freezing = True
    return torch.compile(module, mode=options.compile_mode)


def _check(work: Work, options: argparse.Namespace) -> None:
    if work.training and (options.fold or options.script or options.cast):
        raise NotSupportedError("--fold, --script and --cast are only for inference")
    if options.compile and options.script:
        raise NotSupportedError("--compile and --script cannot be combined")


def _image_task(work: Work, options: argparse.Namespace) -> tuple[Any, Any, Callable, list[Any], dict[str, Any]]:
    import torch
    from peerlib import torch_models
    network = torch_models.make(work.model, work.image_size, options.twins)
    shape = (3, network.image_size, network.image_size)
    labels = torch.randint(0, network.num_classes, (work.batch,))
    # Batch norm needs several examples.
    sample = torch.rand(max(2, min(work.batch, 8)), *shape)
    return (network.module, [torch.rand(work.batch, *shape)],
            lambda logits: torch.nn.functional.cross_entropy(logits, labels), [sample],
            {"network": network.origin, "image_size": network.image_size})


def _other_task(work: Work) -> tuple[Any, Any, Callable, list[Any], dict[str, Any]]:
    from peerlib import torch_number_models
    task = torch_number_models.make(work)
    sample = [x[:8] for x in task.inputs]
    return task.module, list(task.inputs), task.loss, sample, {"network": "tools/peers in PyTorch"}


def build(work: Work, options: argparse.Namespace) -> tuple[Step, dict[str, Any]]:
    _check(work, options)
    import torch
    import torchvision
    from peerlib import torch_models
    torch.set_num_threads(work.threads)
    module, inputs, loss, sample, facts = (_other_task(work) if work.model in OTHER_MODELS
                                           else _image_task(work, options))
    facts = {"versions": {"torch": torch.__version__, "torchvision": torchvision.__version__}, **facts,
             "parameters": sum(parameter.numel() for parameter in module.parameters())}
    if not work.training:
        torch_models.settle_statistics(module, sample)
        if options.fold:
            torch_models.fold_batch_norm(module, [x[:2] for x in sample])
    if options.layout == "NHWC":
        module = module.to(memory_format=torch.channels_last)
        inputs = [x.to(memory_format=torch.channels_last) if x.dim() == 4 else x for x in inputs]
    if work.dtype == "int8":
        from peerlib import torch_int8
        quantize = {"fx": torch_int8.quantize_fx, "pt2e": torch_int8.quantize_pt2e}
        return _inference(quantize[options.quantizer](module, inputs[0]), inputs, False, True), facts
    autocast = work.dtype == "bf16" and not options.cast
    if work.dtype == "bf16" and options.cast:
        module = module.to(torch.bfloat16)
        inputs = [x.to(torch.bfloat16) if x.is_floating_point() else x for x in inputs]
    run = module
    if options.compile:
        run = _compiled(module, options, work.training)
    elif options.script:
        run, autocast = _scripted(module, inputs, autocast), False
    if work.training:
        return _training(run, module, inputs, loss, autocast), facts
    return _inference(run, inputs, autocast, options.compile), facts


def main(arguments: list[str]) -> int:
    return run_peer("torch", parse(arguments), build)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
