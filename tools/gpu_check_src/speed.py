"""The parts that ask how fast it is."""

import statistics
from typing import Callable

from .check import Check, State, Verdict
from .machine import torch_script
from .readers import NoRateError

_ROUNDS = 3
_RESNET = ("--model=resnet50_v1.5", "--batch_size=256", "--optimizer=momentum", "--init_learning_rate=0.0001")
_RESNET_F16 = (*_RESNET, "--dtype=f16")
_TORCH = ("--model=resnet50", "--batch_size=256", "--dtype=fp16", "--layout=NHWC", "--device=cuda",
          "--num_warmup_batches=10", "--num_batches=100")
_SIDES_OF_TORCH = {
    "torch eager": (),
    "torch compiled": ("--compile", "--compile_mode=max-autotune"),
    "torch eager, CUDA graph": ("--cuda_graph",),
}
_STEPS = ("--num_warmup_batches=20", "--num_batches=100")
_FEW_STEPS = ("--num_warmup_batches=5", "--num_batches=30")
# By the type that they are compared with.
_OPTIONS = {
    "f16": {"--cuda_graph=off": ("--dtype=f16", "--cuda_graph=off"),
            "--data_format=NCHW": ("--dtype=f16", "--data_format=NCHW"),
            "--data_format=auto": ("--dtype=f16", "--data_format=auto"),
            "--conv_prologue=false": ("--dtype=f16", "--conv_prologue=false"),
            "--conv_statistics=false": ("--dtype=f16", "--conv_statistics=false"),
            "--dtype=bf16": ("--dtype=bf16",),
            "--forward_only": ("--dtype=f16", "--forward_only")},
    "f32": {"--use_tf32": ("--dtype=f32", "--use_tf32")},
}
_MODEL_SECONDS = 25
# Of the zoo first, as far as the time goes.
_KNOWN = ("resnet50", "vgg16", "inception3", "alexnet", "googlenet", "resnet152", "mobilenet", "densenet121",
          "efficientnet_b0", "lenet")


def against_torch(check: Check) -> Verdict:
    """ResNet-50 v1.5, training in f16 with 256 images, in turn with PyTorch on the same card."""
    sides: dict[str, Callable[[], float]] = {"bench": lambda: check.speed((*_RESNET_F16, *_STEPS), keep="resnet50_v1.5.json")}
    if check.machine.torch_python is None:
        check.say("no Python here has PyTorch and torchvision: bench runs alone")
    else:
        for name, flags in _SIDES_OF_TORCH.items():
            sides[name] = lambda flags=flags: check.torch_speed(torch_script(), (*_TORCH, *flags))
    rates: dict[str, list[float]] = {name: [] for name in sides}
    failures: dict[str, str] = {}
    for number in range(_ROUNDS):
        for name, run in sides.items():
            if name in failures or check.left() <= 0:
                continue
            try:
                rates[name].append(run())
                check.say(f"round {number + 1}: {name:24} {rates[name][-1]:9.1f} images/s")
            except NoRateError as error:
                failures[name] = str(error)
                check.say(f"round {number + 1}: {name:24} {error}")
        if number == 0 and rates["bench"]:
            _profile(check)
    medians = {name: statistics.median(found) for name, found in rates.items() if found}
    if "bench" not in medians:
        return Verdict(State.FAILED, failures.get("bench", "no time was left"))
    text = ", ".join(f"{name} {rate:.0f}" for name, rate in medians.items()) + " images/s"
    torch = max((rate for name, rate in medians.items() if name != "bench"), default=None)
    if torch is not None:
        text += f": {medians['bench'] / torch:.2f} times the better of torch's"
    return Verdict(State.FAILED if "bench" in failures else State.PASSED, text)


def _profile(check: Check) -> None:
    """Where the time goes: by kind of op on the screen, by kernel in the log."""
    outcome = check.ours("bench", "--device=gpu", *_RESNET_F16, *_FEW_STEPS, "--profile")
    shown = False
    for line in outcome.lines:
        shown = (shown or line.rstrip().endswith("kind of op")) and bool(line.strip())
        if shown or line.startswith(("kernels: ", "ceiling, ", "step: ", "planned memory: ")):
            check.say(line)
    if not outcome.ended_well:
        check.say(f"--profile: {outcome.why()}")


def options(check: Check) -> Verdict:
    """What each option gains or costs."""
    measured = failures = count = 0
    for base, variants in _OPTIONS.items():
        base_rate = None
        for name, flags in (("", (f"--dtype={base}",)), *variants.items()):
            count += 1
            title = f"{base} {name}".strip()
            if check.left() <= 0 or (name and base_rate is None):
                continue
            try:
                rate = check.speed((*_RESNET, *flags, *_FEW_STEPS))
            except NoRateError as error:
                failures += check.left() > 0
                check.say(f"{title:24} {error}")
                continue
            base_rate = base_rate or rate
            measured += 1
            check.say(f"{title:24} {rate:9.1f} images/s, {rate / base_rate:.2f} times {base}")
    text = f"{measured} of {count} measured"
    if failures:
        return Verdict(State.FAILED, text)
    return Verdict(State.PASSED if measured == count else State.UNFINISHED, text)


def zoo(check: Check) -> Verdict:
    """Images per second of every network, training in f16 with its own batch."""
    place = {name: number for number, name in enumerate(_KNOWN)}
    listed = sorted(check.models(), key=lambda model: place.get(model.name, len(place)))
    measured = failures = 0
    for model in listed:
        if check.left() <= 0:
            break
        name = f"{model.name} {model.dataset}"
        try:
            rate = check.speed((f"--model={model.name}", f"--data_name={model.dataset}", "--dtype=f16", *_FEW_STEPS),
                               limit=_MODEL_SECONDS)
            check.say(f"{name:34} batch {model.batch:4} {rate:10.1f} images/s")
            measured += 1
        except NoRateError as error:
            if check.left() <= 0:
                break
            check.say(f"{name:34} {error}")
            failures += 1
    text = f"{measured} of {len(listed)} measured"
    if failures:
        return Verdict(State.FAILED, f"{text}, {failures} failed")
    return Verdict(State.PASSED if measured == len(listed) else State.UNFINISHED, text)
