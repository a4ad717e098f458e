"""The parts that measure speed."""

import statistics
from typing import Callable, Sequence

from .check import SAFE, SHORT_SECONDS, Check, State, Verdict
from .machine import torch_script
from .marks import BENCH, TORCH_COMPILED, TORCH_EAGER
from .readers import NoRateError

_ROUNDS = 2
_RESNET = ("--model=resnet50_v1.5", "--batch_size=256", "--optimizer=momentum", "--init_learning_rate=0.0001")
_RESNET_F16 = (*_RESNET, "--dtype=f16")
_TORCH = ("--model=resnet50", "--batch_size=256", "--dtype=fp16", "--layout=NHWC", "--device=cuda",
          "--num_warmup_batches=10", "--num_batches=100")
# Compiling takes a minute, so that side comes last. With max-autotune it takes more than two.
_SIDES_OF_TORCH = {
    TORCH_EAGER: (),
    "torch eager, CUDA graph": ("--cuda_graph",),
    TORCH_COMPILED: ("--compile", "--compile_mode=reduce-overhead"),
}
_STEPS = ("--num_warmup_batches=20", "--num_batches=100")
_FEW_STEPS = ("--num_warmup_batches=5", "--num_batches=30")
# By the type that they are compared with.
_OPTIONS = {
    "f16": {"--cuda_graph=off": ("--dtype=f16", "--cuda_graph=off"),
            "--data_format=NCHW": ("--dtype=f16", "--data_format=NCHW"),
            "--data_format=auto": ("--dtype=f16", "--data_format=auto"),
            "--dtype=bf16": ("--dtype=bf16",)},
    "f32": {"--use_tf32": ("--dtype=f32", "--use_tf32")},
}
# What each tier of fusion adds to the previous one: its name, the previous one's name, and the flags.
_FUSIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "training, batch norm apart": ("", ("--conv_statistics=false",)),
    "training, statistics in the convolution": ("training, batch norm apart", ("--conv_prologue=false",)),
    "training, batch norm where it is read": ("training, statistics in the convolution", ()),
    "inference": ("", ("--forward_only",)),
    "inference, batch norm folded": ("inference", ("--forward_only", "--freeze_when_forward_only")),
}
# How the lines begin that are shown of a profile, besides its first table.
_SHOWN_LINES = ("kernels: ", "ceiling, ", "step: ", "planned memory: ", "note: ", "warning: ")
_TUNINGS = ("off", "quick", "full")
_MODEL_SECONDS = 25
# These networks run first, in case the time does not suffice for all.
_KNOWN = ("resnet50", "vgg16", "inception3", "alexnet", "googlenet", "resnet152", "mobilenet", "densenet121",
          "efficientnet_b0", "lenet")


def against_torch(check: Check) -> Verdict:
    """Trains ResNet-50 v1.5 in f16 with 256 images, in turn with PyTorch on the same card."""
    sides: dict[str, Callable[[], float]] = {
        BENCH: lambda: check.speed((*_RESNET_F16, *_STEPS), keep="resnet50_v1.5.json")}
    if check.machine.torch_python is None:
        check.say("PyTorch and torchvision are not installed: only bench is measured")
    else:
        for name, flags in _SIDES_OF_TORCH.items():
            sides[name] = lambda flags=flags: check.torch_speed(torch_script(), (*_TORCH, *flags))
    rates: dict[str, list[float]] = {name: [] for name in sides}
    failures: dict[str, str] = {}

    def measure(number: int, name: str) -> None:
        if name in failures or name not in sides or check.left() <= 0:
            return
        try:
            rates[name].append(sides[name]())
            check.say(f"round {number}: {name:24} {rates[name][-1]:9.1f} images/s")
        except NoRateError as error:
            if check.left() > 0:
                failures[name] = str(error)
            check.say(f"round {number}: {name:24} {error}")

    for number in range(1, _ROUNDS + 1):
        measure(number, BENCH)
        if number == 1:
            _profile(check) if rates[BENCH] else _try_safe(check)
        for name in _SIDES_OF_TORCH:
            if name != TORCH_COMPILED or number == _ROUNDS:
                measure(number, name)
    measure(_ROUNDS + 1, BENCH)
    medians = {name: statistics.median(found) for name, found in rates.items() if found}
    check.rates.update(medians)
    if BENCH not in medians:
        if BENCH not in failures:
            return Verdict(State.UNFINISHED, "bench was not measured")
        return Verdict(State.FAILED, failures[BENCH])
    text = ", ".join(f"{name} {rate:.0f}" for name, rate in medians.items()) + " images/s"
    torch = max((rate for name, rate in medians.items() if name != BENCH), default=None)
    if torch is not None:
        text += f": bench is {medians[BENCH] / torch:.2f} times as fast as the fastest torch"
    if BENCH in failures:
        return Verdict(State.FAILED, text)
    unmeasured = any(not rates[name] and name not in failures for name in sides)
    return Verdict(State.UNFINISHED if unmeasured else State.PASSED, text)


def _try_safe(check: Check) -> None:
    """Shows whether the network trains without fusion in cuDNN, tuning and recorded steps."""
    try:
        check.say(f"with {' '.join(SAFE)}: {check.speed((*_RESNET_F16, *_STEPS, *SAFE)):.1f} images/s")
    except NoRateError as error:
        check.say(f"with {' '.join(SAFE)}: {error}")


def _profile(check: Check) -> None:
    """Shows where the time goes, by kind of op on the screen, and by kernel in the log."""
    outcome = check.ours("bench", "--device=gpu", *_RESNET_F16, *_FEW_STEPS, "--profile")
    shown = False
    for line in outcome.lines:
        shown = (shown or line.rstrip().endswith("kind of op")) and bool(line.strip())
        if shown or line.startswith(_SHOWN_LINES):
            check.say(line)
    if not outcome.ended_well:
        check.say(f"--profile: {outcome.why()}")


class _Rows:
    """Measures ResNet-50 v1.5 with several settings in turn, some relative to an earlier one."""

    def __init__(self, check: Check):
        self._check = check
        self._rates: dict[str, float] = {}
        self._count = self._failures = 0

    def measure(self, name: str, flags: Sequence[str], base: str = "") -> None:
        """Skips a row if its time is over, or if `base` has no rate."""
        check = self._check
        self._count += 1
        if check.left() <= 0:
            check.say(f"{name:40} not measured: no time left")
            return
        if base and base not in self._rates:
            check.say(f"{name:40} not measured: it is relative to {base}, which was not measured")
            return
        before = check.left()
        try:
            rate = check.speed((*_RESNET, *flags, *_FEW_STEPS))
        except NoRateError as error:
            self._failures += check.left() > 0
            check.say(f"{name:40} {error}")
            return
        self._rates[name] = rate
        gain = f", {rate / self._rates[base]:.2f} times {base}" if base else ""
        check.say(f"{name:40} {rate:9.1f} images/s{gain} ({before - check.left():.0f} s)")

    def verdict(self) -> Verdict:
        text = f"{len(self._rates)} of {self._count} measured"
        if self._failures:
            return Verdict(State.FAILED, text)
        return Verdict(State.PASSED if len(self._rates) == self._count else State.UNFINISHED, text)


def tuning(check: Check) -> Verdict:
    """Measures the gain of choosing kernels by their time, in f16. Brackets show the seconds of the whole run."""
    rows = _Rows(check)
    for mode in _TUNINGS:
        rows.measure(f"--autotune={mode}", ("--dtype=f16", f"--autotune={mode}"),
                     "" if mode == _TUNINGS[0] else f"--autotune={_TUNINGS[0]}")
    return rows.verdict()


def fusions(check: Check) -> Verdict:
    """Measures the gain of each tier of fusion in f16, after an estimate."""
    outcome = check.ours("bench", "--device=gpu", *_RESNET_F16, "--dump=fusions", limit=SHORT_SECONDS)
    for line in outcome.lines:
        check.say(line)
    rows = _Rows(check)
    for name, (base, flags) in _FUSIONS.items():
        rows.measure(name, ("--dtype=f16", *flags), base)
    return rows.verdict()


def options(check: Check) -> Verdict:
    """Measures the gain or cost of other options."""
    rows = _Rows(check)
    for base, variants in _OPTIONS.items():
        rows.measure(base, (f"--dtype={base}",))
        for name, flags in variants.items():
            rows.measure(f"{base} {name}", flags, base)
    return rows.verdict()


def zoo(check: Check) -> Verdict:
    """Measures f16 training of every network with its default batch."""
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
            check.say(f"{name:34} batch {model.batch:4} {rate:10.1f}/s")
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
