"""The part that checks whether several towers train like one."""

import tempfile
from pathlib import Path
from typing import Sequence

from .check import Check, State, Verdict
from .readers import NoRateError, losses

# A network without batch norm, whose statistics differ between towers, and with dropout.
_NETWORK = ("--model=lenet", "--num_warmup_batches=2", "--num_batches=8", "--init_learning_rate=1e-5", "--autotune=off")
_JOINED_BATCH = 32
_TOWERS = 4
# Tolerance for losses after some steps in f32, whose sums have a different order.
_TOLERANCE = 1e-4
_NCCL = ("--variable_update=replicated", "--all_reduce_spec=nccl")


class _RunError(RuntimeError):
    """A run failed. The message describes how."""


class _NoTimeError(RuntimeError):
    """The part's time ended before or during a run."""


def _train(check: Check, flags: Sequence[str]) -> tuple[list[float], tuple[str, ...]]:
    """Returns the losses of a run's steps, and its output. Throws _RunError and _NoTimeError."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        outcome = check.ours("bench", "--device=gpu", *_NETWORK, *flags, f"--result_file={record}")
        if outcome.out_of_time:
            raise _NoTimeError
        if not outcome.ended_well:
            raise _RunError(outcome.why())
        try:
            return losses(record), outcome.lines
        except NoRateError as error:
            raise _RunError(str(error)) from error


def _deviation(found: Sequence[float], wanted: Sequence[float]) -> float:
    if len(found) != len(wanted):
        return float("inf")
    return max(abs(a - b) / abs(b) for a, b in zip(found, wanted))


def _compare(check: Check, name: str, found: Sequence[float], alone: Sequence[float]) -> bool:
    deviation = _deviation(found, alone)
    check.say(f"{name}: the losses deviate by {deviation:.1e} from those of one tower; {_TOLERANCE:.0e} is accepted")
    return deviation <= _TOLERANCE


def towers(check: Check) -> Verdict:
    """Compares several towers, on one card and on two, with one tower on their joined batch.

    Two cards are compared only if the machine has them. NCCL also runs with one rank in a recorded step."""
    done: list[str] = []
    wrong: list[str] = []
    skipped, state = "", State.PASSED
    try:
        skipped = _compare_all(check, done, wrong)
    except _RunError as error:
        return Verdict(State.FAILED, f"one tower: {error}")
    except _NoTimeError:
        state = State.UNFINISHED
    summary = f"correct: {', '.join(done) or 'none'}{skipped}"
    if wrong:
        return Verdict(State.FAILED, f"{summary}; wrong: {', '.join(wrong)}")
    return Verdict(state, summary)


def _compare_all(check: Check, done: list[str], wrong: list[str]) -> str:
    """Adds the name of each comparison to `done` or `wrong`. Returns why NCCL was skipped, or nothing. Throws
    _RunError if one tower fails, and _NoTimeError."""
    alone, _ = _train(check, (f"--batch_size={_JOINED_BATCH}",))
    runs = [(f"--virtual_gpus={_TOWERS}", _TOWERS, ("--variable_update=parameter_server",)),
            (f"--virtual_gpus={_TOWERS}", _TOWERS, ("--variable_update=replicated",))]
    state, text = _nccl(check, alone)
    check.say(f"NCCL with one rank: {text}")
    if state is State.PASSED:
        done.append("NCCL")
    elif state is State.FAILED:
        wrong.append("NCCL")
    if check.machine.cards > 1:
        runs.append(("--num_gpus=2", 2, ("--variable_update=parameter_server",)))
        if state is not State.SKIPPED:
            runs.append(("--num_gpus=2", 2, (*_NCCL, "--cuda_graph=on")))
    for devices, count, flags in runs:
        name = " ".join((devices, *flags))
        try:
            many, _ = _train(check, (devices, f"--batch_size={_JOINED_BATCH // count}", *flags,
                                     "--gradient_reduction=mean"))
            (done if _compare(check, name, many, alone) else wrong).append(name)
        except _RunError as error:
            check.say(f"{name}: {error}")
            wrong.append(name)
    return f"; NCCL skipped: {text}" if state is State.SKIPPED else ""


def _nccl(check: Check, alone: Sequence[float]) -> tuple[State, str]:
    """Runs NCCL in a step that must be recorded."""
    try:
        found, lines = _train(check, (f"--batch_size={_JOINED_BATCH}", *_NCCL, "--cuda_graph=on"))
    except _RunError as error:
        return State.FAILED, str(error)
    told = [line for line in lines if "gradients of one GPU" in line]
    if not told:
        return State.FAILED, "bench printed no note about NCCL"
    if "not reduced" in told[0]:
        return State.SKIPPED, told[0].split("not reduced: ", 1)[1]
    if _deviation(found, alone) > _TOLERANCE:
        return State.FAILED, f"the losses deviate by {_deviation(found, alone):.1e} from those without NCCL"
    return State.PASSED, told[0].removeprefix("note: ")
