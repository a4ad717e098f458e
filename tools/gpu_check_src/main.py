"""The command line: selects and orders the parts, and prints the summary."""

import argparse
import signal
import sys
import traceback
from pathlib import Path
from typing import Callable, Sequence

from . import correctness, speed, towers
from .budget import Budget
from .check import Check, HopelessError, PartError, State, Verdict
from .machine import Machine, MachineError, check_card, find_bench, find_plugin, keep_cards_ready, look_around
from .marks import Found, marks
from .runner import Log, Runner

_DESCRIPTION = """Checks within minutes whether bench computes correct results on a GPU, and how fast it is. See
tools/GPU_CHECK.md.

    gpu_check --output=FOLDER                 all parts, in nine minutes
    gpu_check --parts=verify,zoo              only these parts
    gpu_check --seconds=120 --bench=FILE      in two minutes, with this program and those in its folder

Exit status: 0 success, 1 a part failed, 2 wrong usage or no usable GPU, 130 interrupted.
"""
_INTERRUPTED = 130
# A part does not begin with less time than this.
_LEAST_SECONDS = 3

Part = Callable[[Check], Verdict]
# The most important parts first, each with its weight in the division of the time.
PARTS: dict[str, tuple[float, Part]] = {
    "properties": (20, correctness.properties),
    "start": (30, correctness.start),
    "conformance": (110, correctness.conformance),
    "verify": (70, correctness.verify),
    "torch": (200, speed.against_torch),
    "tuning": (50, speed.tuning),
    "fusions": (40, speed.fusions),
    "towers": (30, towers.towers),
    "sanitizer": (40, correctness.sanitizer),
    "options": (30, speed.options),
    "zoo": (30, speed.zoo),
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gpu_check", description=_DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("gpu_check_output"),
                        help="folder for the log and the card's properties, created if needed")
    parser.add_argument("--seconds", type=float, default=540, help="total time of all parts")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"a list of parts: {', '.join(PARTS)}")
    parser.add_argument("--bench", help="the program; default: the bundle's, or build/release/bin/bench")
    parser.add_argument("--python", help="an interpreter with PyTorch and torchvision; default: python3")
    options = parser.parse_args(arguments)
    options.parts = options.parts.split(",")
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"--parts={unknown[0]}: unknown part; accepted: {', '.join(PARTS)}")
    if options.seconds <= 0:
        parser.error(f"--seconds={options.seconds:g}: a number above 0 is accepted")
    return options


def run_part(check: Check, name: str, part: Part) -> Verdict:
    """Runs a part. A failure of any kind does not end the other parts."""
    check.budget.begin(name)
    if check.left() < _LEAST_SECONDS and check.budget.left_of_all() < _LEAST_SECONDS:
        return Verdict(State.NOT_REACHED, "no time left")
    check.say()
    check.say(f"== {name}: {part.__doc__.splitlines()[0]} ({check.left():.0f} s)")
    try:
        verdict = part(check)
    except HopelessError:
        raise
    except PartError as error:
        verdict = Verdict(State.FAILED, str(error))
    except Exception as error:  # pylint: disable=broad-exception-caught
        check.log.write(traceback.format_exc())
        verdict = Verdict(State.FAILED, f"internal error of the check: {type(error).__name__}: {error}")
    check.say(f"== {name}: {verdict.state.value}: {verdict.summary}")
    return verdict


def _introduce(check: Check, machine: Machine) -> None:
    check.say(f"bench: {machine.bench}")
    if machine.libraries.folders:
        check.say(f"CUDA libraries: {', '.join(map(str, machine.libraries.folders))}")
    for name in machine.libraries.missing:
        check.say(f"not found: {name}, which bench's GPU library needs")
    check.say(f"Python with PyTorch: {machine.torch_python or 'none'}")
    check.say(f"compute-sanitizer: {machine.sanitizer or 'not installed'}")


def _summarize(check: Check, verdicts: dict[str, Verdict]) -> None:
    check.say()
    check.say("== summary")
    for name, verdict in verdicts.items():
        check.say(f"{name:12} {verdict.state.value}: {verdict.summary}")
    check.say()
    check.say("== marks")
    for line in marks(Found(verdicts, check.rates, check.card)):
        check.say(line)


def _interrupt(number: int, frame: object) -> None:
    """SIGTERM ends a check like Ctrl-C, with the summary."""
    del number, frame
    raise KeyboardInterrupt


def check_all(check: Check, names: Sequence[str], parts: dict[str, tuple[float, Part]]) -> tuple[dict, bool]:
    """Returns the verdicts, and whether all parts had a turn."""
    verdicts = {name: Verdict(State.NOT_REACHED, "the check was interrupted") for name in names}
    try:
        for name in names:
            verdicts[name] = run_part(check, name, parts[name][1])
    except HopelessError as error:
        check.say(f"== {name}: {State.FAILED.value}: {error}")
        verdicts[name] = Verdict(State.FAILED, str(error))
        for other in list(names)[list(names).index(name) + 1:]:
            verdicts[other] = Verdict(State.NOT_REACHED, f"{name} failed")
    except KeyboardInterrupt:
        check.runner.close()
        return verdicts, False
    return verdicts, True


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    try:
        bench = find_bench(options.bench)
        plugin = find_plugin(bench)
        check_card()
        cards = keep_cards_ready()
        options.output.mkdir(parents=True, exist_ok=True)
        log = Log(options.output / "gpu_check.log")
        machine = look_around(bench, plugin, options.python, cards)
        budget = Budget(options.seconds, {name: PARTS[name][0] for name in options.parts})
    except (MachineError, OSError) as error:
        print(f"gpu_check: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _interrupt)
    check = Check(machine, Runner(log), log, budget, options.output)
    _introduce(check, machine)
    verdicts, complete = check_all(check, options.parts, PARTS)
    _summarize(check, verdicts)
    log.close()
    if not complete:
        return _INTERRUPTED
    return 1 if any(verdict.state is State.FAILED for verdict in verdicts.values()) else 0
