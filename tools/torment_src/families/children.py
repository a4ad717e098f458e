"""Programs that run bench several times: signals to them or to the run, stopped and killed runs."""

import random
from signal import SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGSTOP, SIGTERM

from ..base import Program, tiny
from ..case import Blow, Case

_STEP = "1\timages/sec"
_ENDS = (SIGINT, SIGTERM, SIGHUP, SIGQUIT)


def _stopped(rng: random.Random) -> Case:
    """A run that is stopped for a moment continues."""
    child = rng.random() < 0.5
    blows = [Blow(SIGSTOP, 0.0, _STEP, child), Blow(SIGCONT, rng.choice((0.0, 0.1, 0.3)), "", child)]
    args = [*tiny(num_batches="300"), *(["--repeats=2"] if child else [])]
    return Case(f"{'child' if child else 'run'} stopped and continued", args, blows=blows, endings=frozenset({0}))


def _killed(rng: random.Random) -> Case:
    """The system kills a run, or all of bench, as if it had no memory left."""
    child = rng.random() < 0.6
    args = [*tiny(num_batches="100000000"), rng.choice(("--repeats=2", "--repeats=3"))]
    # A program that is killed leaves its temporary file.
    return Case(f"{'one of the repeats' if child else 'repeats'} killed", args, blows=[Blow(SIGKILL, 0.0, _STEP, child)],
                endless=True, outputs=() if child else ("tmp",))


def _ended(rng: random.Random) -> Case:
    signal = rng.choice(_ENDS)
    args = [*tiny(num_batches="100000000"), rng.choice(("--repeats=3", "--batch_size=2,3"))]
    return Case(f"{signal.name} to several runs", args, blows=[Blow(signal, rng.uniform(0, 0.2), _STEP)], endless=True)


def _compared(rng: random.Random) -> Case:
    """The shell of `compare --run` starts the runs."""
    signal = rng.choice(_ENDS)
    command = '"$TORMENT_BENCH" ' + " ".join(tiny(num_batches="100000000"))
    args = ["compare", "--run", command, command, "-n", "6", "--keep=kept"]
    return Case(f"{signal.name} to compare --run", args, blows=[Blow(signal, rng.uniform(0.1, 0.6))], endless=True,
                program="bench_results", outputs=("kept",))


def make(rng: random.Random, program: Program, index: int) -> Case:
    return rng.choice((_stopped, _killed, _ended, _compared))(rng)
