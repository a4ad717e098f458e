"""The parts that check whether the results are right."""

import concurrent.futures
import json
import os
from typing import Any, Callable, Iterator, Sequence

from .check import SAFE, SHORT_SECONDS, Check, HopelessError, State, Verdict
from .readers import Suite, differences, verified

# Number of processes that share a card, so that the host computes at the same time.
_MOST_PROCESSES = 8
# After an illegal access, the rest of a process's tests would fail too. So each process has few tests.
_SHARDS_PER_PROCESS = 4
_SHOWN = 20
# The exit status of gpu_conformance if the device cannot be used any more.
_DEVICE_LOST = 3
# Interval for checking signals.
_WAIT_SECONDS = 1
_FIRST_RUNS = {
    "lenet, f32": ("--model=lenet", "--batch_size=32", "--num_warmup_batches=2", "--num_batches=3"),
    "resnet50, f16, batch 32": ("--model=resnet50", "--batch_size=32", "--dtype=f16", "--cuda_graph=on",
                                "--num_warmup_batches=2", "--num_batches=3"),
    "lstm_lm, f16": ("--model=lstm_lm", "--dtype=f16", "--cuda_graph=on", "--num_warmup_batches=2", "--num_batches=3"),
}
_SANITIZED = ("lenet --batch_size=4", "resnet20 --data_name=cifar10 --batch_size=4")


def properties(check: Check) -> Verdict:
    """Prints the card and its software, and a fixture for --plan_for."""
    outcome = check.ours("gpu_properties")
    if not outcome.ended_well:
        return Verdict(State.UNFINISHED if outcome.out_of_time else State.FAILED, outcome.why())
    try:
        found = json.loads("\n".join(outcome.lines))
    except json.JSONDecodeError as error:
        return Verdict(State.FAILED, f"the output of gpu_properties is not JSON: {error}")
    (check.output / "device_properties.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    check.say(f"CUDA version of the driver: {found['cuda_of_driver']}, {', '.join(found['libraries'])}")
    for gpu in found["gpus"]:
        card = gpu["description"]
        check.say(f"{card['name']}: compute capability {card['capability']}, {card['multiprocessors']} "
                  f"multiprocessors, {card['memory_bytes'] / 2**30:.1f} GiB")
        if not isinstance(gpu["of_cudnn"], dict):
            check.say(f"cuDNN's description is unavailable: {gpu['of_cudnn']}")
            continue
        for difference in differences(gpu["for_cudnn"], gpu["of_cudnn"]):
            check.say(f"the descriptions differ: {difference}")
    # For the log. On some machines they are slow.
    for flags in ([], ["-q"]):
        check.runner.run(["nvidia-smi", *flags], min(SHORT_SECONDS, check.left()))
    return Verdict(State.PASSED, f"{found['gpus'][0]['description']['name']}, {', '.join(found['libraries'])}")


def start(check: Check) -> Verdict:
    """Trains LeNet, ResNet-50 and lstm_lm for some steps. If all of these runs end with an error, so does the check."""
    good, bad = [], []
    ended = True
    for name, flags in _FIRST_RUNS.items():
        for suffix, more in (("", ()), (", safe flags", SAFE)):
            outcome = check.ours("bench", "--device=gpu", *flags, *more, name=name + suffix)
            (good if outcome.ended_well else bad).append(name + suffix)
            ended = ended and outcome.status is not None
            check.say(f"{name + suffix:28} {'ran' if outcome.ended_well else outcome.why()} ({outcome.seconds:.1f} s)")
            if outcome.ended_well:
                break
    if not ended:
        return Verdict(State.UNFINISHED, f"{len(good)} networks trained")
    if not good:
        raise HopelessError("every run ended with an error")
    if bad:
        return Verdict(State.FAILED, f"failed: {', '.join(bad)}")
    return Verdict(State.PASSED, f"{len(good)} networks trained")


def _side_by_side(check: Check, most: int, work: Callable[..., Any], items: Sequence[tuple]) -> Iterator[Any]:
    """Returns what `work` returns for each item, in the order in which they end."""
    with concurrent.futures.ThreadPoolExecutor(most) as pool:
        try:
            running = {pool.submit(work, check, *item) for item in items}
            while running:
                # A signal that arrives directly before a wait does not end the wait.
                ended, running = concurrent.futures.wait(running, _WAIT_SECONDS, concurrent.futures.FIRST_COMPLETED)
                yield from (run.result() for run in ended)
        except (KeyboardInterrupt, GeneratorExit):
            # Otherwise the pool would wait for programs whose results are not needed any more.
            check.runner.close()
            raise


def _shard(check: Check, number: int, count: int) -> tuple[Suite, str]:
    """Returns the findings of a process, and how it ended if it did not end normally."""
    suite = Suite()
    outcome = check.ours("gpu_conformance", "--gtest_shuffle", "--gtest_random_seed=1", "--gtest_color=no",
                         name=f"shard {number}", on_line=suite.read,
                         environment={"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(number)})
    if outcome.status == _DEVICE_LOST:
        return suite, f"the device cannot be used since {suite.open}; tests that did not run: {suite.left}"
    if outcome.status is not None and outcome.status not in (0, 1):
        return suite, f"{outcome.why()}{f', in {suite.open}' if suite.open else ''}"
    if outcome.status is None and not outcome.out_of_time:
        return suite, outcome.reason
    if outcome.status == 1 and not suite.failed:
        return suite, outcome.why()
    return suite, ""


def conformance(check: Check) -> Verdict:
    """Compares every op in every type and layout with the reference."""
    processes = max(1, min(_MOST_PROCESSES, len(os.sched_getaffinity(0)) // 2))
    count = processes * _SHARDS_PER_PROCESS
    total, faults = Suite(), []
    for suite, fault in _side_by_side(check, processes, _shard, [(number, count) for number in range(count)]):
        total.add(suite)
        faults += [fault] if fault else []
    for fault in faults:
        check.say(f"a process failed: {fault}")
    for name in list(total.failed)[:_SHOWN]:
        check.say(f"failed: {name}")
    if len(total.failed) > _SHOWN:
        check.say(f"{len(total.failed) - _SHOWN} more failures are in the log")
    text = (f"{len(total.passed)} passed, {len(total.failed)} failed, {len(total.skipped)} skipped of "
            f"{total.tests} tests")
    if faults or total.failed:
        return Verdict(State.FAILED, text + (f"; failed processes: {len(faults)}" if faults else ""))
    if total.tests == 0:
        return Verdict(State.FAILED, "no tests were found")
    return Verdict(State.PASSED if total.ended == count else State.UNFINISHED, text)


def _verify(check: Check, name: str, *flags: str) -> tuple[str, str]:
    """Returns what was checked, and its verdict. Empty if no time was left."""
    outcome = check.ours("bench", "--device=gpu", "--verify=model", *flags, name=name)
    found = verified(outcome.lines)
    if found:
        return name, next(iter(found.values()))
    return name, "" if outcome.status is None and check.left() <= 0 else outcome.why()


def verify(check: Check) -> Verdict:
    """Compares every network with its stored fingerprint, first ResNet-50 in three types."""
    runs = [(f"resnet50 {dtype}", "--model=resnet50", f"--dtype={dtype}") for dtype in ("f32", "f16", "bf16")]
    runs += [(f"{model.name} {model.dataset}", f"--model={model.name}", f"--data_name={model.dataset}")
             for model in check.models()]
    verdicts: dict[str, str] = {}
    for name, verdict in _side_by_side(check, _MOST_PROCESSES // 2, _verify, runs):
        verdicts[name] = verdict
        if verdict:
            check.say(f"{name:34} {verdict}")
    good = sum(verdict.startswith("ok") for verdict in verdicts.values())
    open_ones = [verdict for verdict in verdicts.values() if not verdict]
    if open_ones:
        check.say(f"not finished in time: {len(open_ones)}")
    text = f"{good} of {len(verdicts)} ok"
    if good + len(open_ones) < len(verdicts):
        return Verdict(State.FAILED, text)
    return Verdict(State.UNFINISHED if open_ones else State.PASSED, text)


def sanitizer(check: Check) -> Verdict:
    """Runs small networks under compute-sanitizer, kernel by kernel."""
    if check.machine.sanitizer is None:
        return Verdict(State.SKIPPED, "compute-sanitizer is not installed")
    clean, found, unfinished = 0, [], 0
    for tool in ("memcheck", "racecheck"):
        for model in _SANITIZED:
            outcome = check.runner.run(
                [check.machine.sanitizer, f"--tool={tool}", "--error-exitcode=99", check.machine.program("bench"),
                 "--device=gpu", *f"--model={model}".split(), "--autotune=off", "--cuda_graph=off",
                 "--num_warmup_batches=0", "--num_batches=1"], check.left(), check.machine.environment())
            name = f"{tool} {model.split()[0]}"
            result = "clean" if outcome.ended_well else outcome.why()
            check.say(f"{name}: {result}")
            clean += outcome.ended_well
            unfinished += outcome.status is None
            if outcome.status not in (None, 0):
                found.append(name)
    text = f"{clean} clean{f', {len(found)} with errors: ' + ', '.join(found) if found else ''}"
    if found:
        return Verdict(State.FAILED, text)
    return Verdict(State.UNFINISHED if unfinished else State.PASSED, text)
