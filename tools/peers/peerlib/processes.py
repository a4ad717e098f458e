"""Runs one process of one side and reads its results."""

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Mapping, Sequence

from .work import LEARNING_RATE, Work

_SPEEDS = ("images_per_sec", "tokens_per_sec", "examples_per_sec")
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class RunFailedError(RuntimeError):
    """The process gave no result. The message gives the reason in one line."""


@dataclass(frozen=True)
class Run:
    images_per_second: float
    peak_rss_bytes: int
    setup_seconds: float
    # None: the side does not report it.
    first_step_seconds: float | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False)


def _stop(process: subprocess.Popen) -> None:
    """Ends the process and its helpers, which form a process group. Popen's wait() is not used: an exception that a
    signal raises in it can leave it locked forever."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        os.waitpid(process.pid, 0)
    except ChildProcessError:
        pass
    process.returncode = -signal.SIGKILL


def _start(command: Sequence[str], environment: Mapping[str, str], stdout: IO[str],
           stderr: IO[str]) -> tuple[subprocess.Popen, set[signal.Signals]]:
    """Starts the process. Also returns the signals that the caller must unblock when it is ready to end the process. A
    signal between the start and the caller's `try` would otherwise leave a process behind."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING_SIGNALS)
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
            env={**os.environ, **environment}, text=True, start_new_session=True,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before))
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise RunFailedError(str(error)) from error
    return process, before


def _reason(command: Sequence[str], status: int, stderr: str) -> str:
    if status < 0:
        name = signal.Signals(-status).name
        hint = "; if the machine hides AMX details, see README.md" if name == "SIGILL" else ""
        return f"killed by {name}{hint}"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or "error" in line]
    return (errors or lines or [f"{command[0]} exited with status {status}"])[-1][:300]


def run_process(command: Sequence[str], environment: Mapping[str, str],
                timeout_seconds: float) -> str:
    """Returns its stdout. Throws RunFailedError. Ctrl-C in the caller also ends the process."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        process, unblocked = _start(command, environment, stdout, stderr)
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            status = process.wait(timeout_seconds)
        except subprocess.TimeoutExpired as error:
            raise RunFailedError(f"still running after {timeout_seconds:.0f} s") from error
        finally:
            if process.returncode is None:
                _stop(process)
        stdout.seek(0)
        stderr.seek(0)
        text = stdout.read()
        if status != 0 and not text.rstrip().endswith("}"):
            raise RunFailedError(_reason(command, status, stderr.read()))
        return text


def run_peer(command: Sequence[str], environment: Mapping[str, str],
             timeout_seconds: float) -> Run:
    """Runs a script whose last line has the format of peerlib/measure.py."""
    lines = run_process(command, environment, timeout_seconds).strip().splitlines()
    try:
        result = json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError) as error:
        raise RunFailedError("the last line on stdout is not JSON") from error
    if "skipped" in result:
        raise RunFailedError(result["skipped"])
    return Run(result["images_per_second"], result["peak_rss_bytes"], result["setup_seconds"],
               result["first_step_seconds"], result)


def bench_flags(work: Work) -> list[str]:
    """Runs the same workload in `bench`."""
    flags = [f"--model={work.model}", "--device=cpu", f"--batch_size={work.batch}",
             f"--num_batches={work.steps}", f"--num_warmup_batches={work.warmup}",
             f"--num_intra_threads={work.threads}"]
    flags += (["--optimizer=momentum", f"--init_learning_rate={LEARNING_RATE}"] if work.training
              else ["--forward_only"])
    if work.dtype != "f32":
        flags.append(f"--dtype={work.dtype}")
    if work.image_size:
        flags.append(f"--image_size={work.image_size}")
    return flags


def bench_run(record: Mapping[str, Any], batch: int) -> Run:
    """Reads a record of `bench`. The rate is the batch divided by the median step, as for the peers."""
    metrics = {metric["name"]: metric["value"] for metric in record["metrics"]}
    kept = {name: record.get(name) for name in ("run_uuid", "source", "build", "cpu", "quality")}
    speeds = {name: value for name, value in metrics.items() if name in _SPEEDS}
    raw = {**speeds, "step_seconds": [ns / 1e9 for ns in record["series"]["step_ns"]], **kept}
    return Run(batch / metrics["step_time.median"], metrics["peak_rss"], metrics["setup_time"],
               None, raw)


def run_bench(bench: Path, work: Work, flags: Sequence[str], environment: Mapping[str, str],
              timeout_seconds: float) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.json"
        command = [str(bench), *bench_flags(work), *flags, f"--result_file={file}"]
        run_process(command, environment, timeout_seconds)
        try:
            record = json.loads(file.read_text())
        except (OSError, json.JSONDecodeError) as error:
            raise RunFailedError(f"bench wrote no record: {error}") from error
    if record["status"] != "ok":
        raise RunFailedError(f"bench: {record['status']}: {record.get('status_reason')}")
    return bench_run(record, work.batch)
