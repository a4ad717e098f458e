"""Inherited environment, limits, working folder and ignored signals."""

import random
from signal import SIGHUP, SIGINT

from ..base import Program, tiny
from ..case import Blow, Case, File, Folder

_VARIABLES: dict[str, tuple[str, ...]] = {
    "OMP_NUM_THREADS": ("0", "1", "3", "-1", "", "abc", "2,2", "1000000", "99999999999999999999"),
    "OMP_THREAD_LIMIT": ("1", "2", "0", "abc"),
    "OMP_DYNAMIC": ("true", "x"),
    "OMP_PROC_BIND": ("true", "close", "spread", "x"),
    "OMP_PLACES": ("cores", "{0}", "{99}", "x"),
    "OMP_STACKSIZE": ("1", "16k", "256k", "1T", "x"),
    "OMP_WAIT_POLICY": ("passive", "active", "x"),
    "OMP_MAX_ACTIVE_LEVELS": ("0",),
    "OMP_SCHEDULE": ("dynamic,1", "x"),
    "GOMP_SPINCOUNT": ("0", "infinity"),
    "GOMP_CPU_AFFINITY": ("0", "99"),
    "DNNL_VERBOSE": ("1", "2", "x"),
    "ONEDNN_VERBOSE": ("all", "none"),
    "DNNL_MAX_CPU_ISA": ("SSE41", "AVX2", "x"),
    "DNNL_PRIMITIVE_CACHE_CAPACITY": ("0", "-1", "x"),
    "TERM": ("dumb", "", "xterm"),
    "COLUMNS": ("20", "0", "-1"),
    "LC_ALL": ("C.UTF-8", "de_DE.UTF-8", "xx", ""),
    "TMPDIR": ("/absent", ""),
    "HOME": ("", "/absent"),
    "PATH": ("",),
    "TZ": ("x" * 300, ":/dev/null"),
    "GLOG_minloglevel": ("0", "3", "x"),
    "GLOG_v": ("9",),
    "GLOG_log_dir": ("/absent",),
    "GLOG_logtostderr": ("0",),
    "GLOG_log_prefix": ("1",),
    "GLOG_colorlogtostderr": ("1",),
    "MALLOC_PERTURB_": ("165",),
    "BENCH_CACHE_DIR": ("/absent",)}
# Shell commands that limit resources before the program starts. With lower limits, its libraries cannot be loaded.
_PRELUDES = (
    "ulimit -f 64", "ulimit -n 8", "ulimit -n 20", "ulimit -v 100000",
    "ulimit -v 300000", "ulimit -v 1000000", "ulimit -s 64",
    "ulimit -s 256", "ulimit -s 1024", "ulimit -s unlimited", "ulimit -l 0", "ulimit -d 20000", "mkdir gone; cd gone; rmdir ../gone",
    "trap '' PIPE", "umask 777", "umask 0", "exec 0<&-", "exec 0</dev/full",
    "exec 5<&0 6<&0 7<&0")
_FILES = ("--result_file=r.json", "--save_variables=w.safetensors", "--trace_file=t.json")


def _ignoring(rng: random.Random) -> Case:
    """Starts the program like `nohup` and `sh -c 'bench &'`. The signal that they ignore must not end it."""
    signal = rng.choice((SIGINT, SIGHUP))
    # Steps for some tenths of a second on an idle machine.
    return Case(f"{signal.name} ignored", [*tiny(num_batches="4000"), "--result_file=r.json"],
                prelude=f"trap '' {signal.name[3:]}", deaf=True, endings=frozenset({0}),
                blows=[Blow(signal, rng.choice((0.0, 0.05, 0.1)), "Running warm up")])


def make(rng: random.Random, program: Program, index: int) -> Case:
    if rng.random() < 0.05:
        return _ignoring(rng)
    args = tiny(num_intra_threads=rng.choice(("1", "2")))
    args += rng.sample(_FILES, rng.choice((0, 1, 1, 2)))
    data = rng.random() < 0.2
    case = Case("", args, {"data/data_batch_1.bin": File(bytes(3073 * 4)), "sub": Folder()})
    if rng.random() < 0.6:
        names = rng.sample(sorted(_VARIABLES), rng.choice((1, 1, 2)))
        case.environment = {name: rng.choice(_VARIABLES[name]) for name in names}
        case.title = ", ".join(f"{name}={value[:20]}" for name, value in case.environment.items())
    else:
        case.prelude = case.title = rng.choice(_PRELUDES)
    if data:
        case.args.append("--data_dir=" + ("../data" if "cd gone" in case.prelude else "data"))
    return case
