"""Tests that the judge detects each kind of fault, and none in a correct run. Scripts replace bench."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from torment_src import main, runner  # noqa: E402
from torment_src.case import Blow, Case, Fifo, File, Folder, Link, Stream  # noqa: E402
from torment_src.fake_bench import program_of, write_bench  # noqa: E402
from torment_src.judge import Fault, judge  # noqa: E402

def _unit() -> float:
    """Returns the seconds that starting a shell takes on this machine now."""
    begin = time.monotonic()
    for _ in range(5):
        subprocess.run(["sh", "-c", "echo ready"], check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) / 5


# Long enough for a script to do its part even on a busy machine.
_WHILE = max(0.2, 30 * _unit())
_HEADER = r"printf 'bench:       0.1.0\nModel:       x\n             2 per device\n==========\n'"
_STEPS = rf"""{_HEADER}
printf 'Running warm up\nDone warm up\nStep\tImg/sec\ttotal_loss\n'
printf '1\timages/sec: 1.0 +/- 0.0 (jitter = 0.0)\t2.528\n'"""
_RULE = "-" * 64
_RUN = rf"""{_STEPS}
printf '%s\ntotal images/sec: 17452.69\n%s\n' {_RULE} {_RULE}
printf 'note: x\nplanned memory: 1 B\nmeasuring: step 6 of 20, 0:28 left\n' >&2"""
_FAILED = "echo 'bench: --x=5: accepted is 4' >&2; exit 2"
# Eight bytes of length, a header with one tensor, its four bytes.
_TENSORS = (rf"""printf '\066\000\000\000\000\000\000\000' >w
printf '{{"a":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}}}' >>w""")


class JudgeTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def faults(self, body: str, *args: str, limit: float = 30.0, **case) -> list[Fault]:
        """Returns the faults of a script that runs as bench."""
        bench = write_bench(self.folder, body)
        tried = Case("case", list(args), **case)
        with (mock.patch.object(runner, "LIMIT_SECONDS", limit),
              runner.Workplace(tried) as workplace):
            return judge(tried, workplace.run(bench, tried))

    def kinds(self, body: str, *args: str, **options) -> list[str]:
        return [fault.kind for fault in self.faults(body, *args, **options)]


class JudgeTest(JudgeTestCase):
    def test_correct_runs_have_no_fault(self):
        self.assertEqual(self.kinds(_RUN), [])
        self.assertEqual(self.kinds(_FAILED), [])
        self.assertEqual(self.kinds(f"{_RUN}; echo '{{\"a\": 1}}' >r", "--result_file=r"), [])
        self.assertEqual(self.kinds("printf 'a table\\n'", "--list_models"), [])

    def test_crashes(self):
        for name in ("ABRT", "SEGV", "FPE"):
            self.assertEqual(self.kinds(f"kill -{name} $$"), ["crash"], name)
        self.assertEqual(self.kinds("exit 134"), ["crash"])

    def test_unknown_exit_statuses(self):
        self.assertEqual(self.kinds("exit 3"), ["status"])
        self.assertEqual(self.kinds("exit 130"), ["status"])
        self.assertEqual(self.kinds("kill -TERM $$"), ["status"])

    def test_another_ending_than_the_case_must_have(self):
        self.assertEqual(self.kinds(_RUN, endings=frozenset({2})), ["status"])

    def test_hangs(self):
        self.assertEqual(self.kinds("exec sleep 60", limit=_WHILE), ["hang"])
        self.assertEqual(self.kinds("read x <pipe", limit=_WHILE, files={"pipe": Fifo()}), ["hang"])

    def test_a_hang_is_reported_with_its_last_line(self):
        [waits] = self.faults("echo ready; exec sleep 60", limit=_WHILE)
        self.assertIn("CPU time 0.0 s, last line b'ready'", waits.text)
        [spins] = self.faults("while :; do :; done", limit=_WHILE + 1.4)
        self.assertNotIn("CPU time 0.0 s", spins.text)

    def test_a_signal_that_is_ignored(self):
        blow = Blow(signal.SIGINT, 0.0, "ready")
        body = "trap '' INT; echo ready; exec sleep 60"
        self.assertEqual(self.kinds(body, limit=_WHILE, blows=[blow], endless=True), ["hang"])

    def test_a_signal_that_should_have_been_ignored(self):
        blow = Blow(signal.SIGINT, 0.0, "ready")
        body = f"echo ready; sleep {_WHILE}; echo ended by SIGINT >&2; exit 130"
        case = {"prelude": "trap '' INT", "blows": [blow]}
        self.assertEqual(self.kinds(body, **case), [])
        self.assertEqual(self.kinds(body, deaf=True, **case), ["status"])

    def test_an_endless_run_that_a_signal_ends_with_another_status(self):
        blow = Blow(signal.SIGTERM, 0.0, "ready")
        body = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done"
        self.assertEqual(self.kinds(body, blows=[blow], endless=True), ["status"])
        body = body.replace("exit 0", "echo ended by SIGTERM >&2; exit 143")
        self.assertEqual(self.kinds(body, blows=[blow], endless=True), [])

    def test_no_record_of_a_run_that_a_signal_ended(self):
        blow = Blow(signal.SIGHUP, 0.0, "1\timages")
        body = f"{_STEPS}; while :; do sleep 0.01; done"
        self.assertEqual(self.kinds(body, "--result_file=r", blows=[blow], endless=True),
                         ["silent", "file"])
        said = f"trap 'echo ended by SIGHUP >&2; exit 129' HUP; {body}"
        self.assertEqual(self.kinds(said, "--result_file=r", blows=[blow], endless=True), ["file"])
        self.assertEqual(self.kinds(said, blows=[blow], endless=True), [])

    def test_sigquit_ends_the_run_without_a_message(self):
        body = f"{_STEPS}; while :; do sleep 0.01; done"
        self.assertEqual(self.kinds(body, blows=[Blow(signal.SIGQUIT, 0.0, "1\timages")], endless=True), [])
        self.assertEqual(self.kinds(body, blows=[Blow(signal.SIGTERM, 0.0, "1\timages")], endless=True), ["silent"])

    def test_a_signal_that_ends_the_run_without_a_message(self):
        blow = Blow(signal.SIGINT, 0.0, "ready")
        body = "trap 'exit 130' INT; echo ready; while :; do sleep 0.01; done"
        self.assertEqual(self.kinds(body, blows=[blow], endless=True), ["silent"])
        self.assertEqual(self.kinds("echo ready; exec sleep 60", blows=[blow], endless=True), [])

    def test_sentences(self):
        self.assertEqual(self.kinds("exit 2"), ["sentences"])
        self.assertEqual(self.kinds(f"echo 'bench: one' >&2; {_FAILED}"), ["sentences"])
        self.assertEqual(self.kinds("echo 'bench: ' >&2; exit 1"), ["sentences"])
        self.assertEqual(self.kinds("echo 'bench: fails' >&2; exit 0"), ["sentences"])

    def test_text_that_is_not_a_sentence(self):
        for words in ("std::bad_alloc", "a check: x.cc:12: y", "[json.exception.101] at 5"):
            self.assertEqual(self.kinds(f"echo 'bench: {words}' >&2; exit 1"), ["internals"], words)
        bare = "echo 'bench: No such file or directory' >&2; exit 1"
        self.assertEqual(self.kinds(bare), ["bare"])
        quoted = 'echo "bench: --model=\'std::x\': accepted is y" >&2; exit 2'
        self.assertEqual(self.kinds(quoted), [])

    def test_lines_of_no_known_kind_on_stderr(self):
        for line in ("terminate called", "Corrupt JPEG data", "  what():  x",
                     "free(): invalid pointer", "measuring: step 6 of 20, 0:-5 left"):
            self.assertEqual(self.kinds(f"echo '{line}' >&2; {_FAILED}"), ["stderr"], line)

    def test_lines_of_several_runs_and_towers_on_stderr(self):
        for line in ("repeat 1 of 2", "run 1 of 2: 1 device", "run 2 of 2: 2 devices",
                     "group: 01a20edd-822f-7ac4-94c7-ba7c988ff74a",
                     "planned memory of 2 devices: per tower activations 88.4 KiB",
                     "tower 0: input 0.0 % of the step time, computing 84.2 %, exposed communication "
                     "1.0 % (0.2 % waiting for slower towers), update 14.8 %, host 0.0 %"):
            self.assertEqual(self.kinds(f"{_RUN}; echo '{line}' >&2"), [], line)

    def test_reports_of_sanitizers(self):
        body = f"echo '==1==ERROR: AddressSanitizer: heap' >&2; {_FAILED}"
        self.assertEqual(self.kinds(body)[:1], ["sanitizer"])
        body = f"echo 'a.cc:1:2: runtime error: x' >&2; {_FAILED}"
        self.assertEqual(self.kinds(body)[:1], ["sanitizer"])

    def test_bytes_that_a_terminal_would_obey(self):
        for code in (r"\033[31m", r"\r", r"\007", r"\302\205", r"\177", r"\t"):
            body = f"printf 'bench: a{code}b\\n' >&2; exit 2"
            self.assertEqual(self.kinds(body), ["control"], code)
        self.assertEqual(self.kinds(r"printf 'bench: a\377b\n' >&2; exit 2"), ["control"])
        self.assertEqual(self.kinds(r"printf '\033[31m'"), ["control"])

    def test_lines_that_scripts_do_not_know(self):
        self.assertEqual(self.kinds(f"{_RUN}; echo something else"), ["stdout"])
        self.assertEqual(self.kinds(f"{_RUN}; printf 'Done warm up'"), ["stdout"])

    def test_a_run_without_its_total(self):
        self.assertEqual(self.kinds(_STEPS), ["stdout"])
        self.assertEqual(self.kinds("echo 'bench: what it is for'", "--help"), [])

    def test_files_left_behind(self):
        for name in ("x", ".r.5.tmp", "tmp/x", "sub/y"):
            body = f"touch {name}; {_FAILED}"
            self.assertEqual(self.kinds(body, "--result_file=r", files={"sub": Folder()}),
                             ["stray"], name)

    def test_logs_and_stores_of_a_run(self):
        logs = "mkdir -p a/b; echo '{\"x\": 1}' >a/b/metric.log; cp a/b/metric.log a/b/benchmark_run.log"
        self.assertEqual(self.kinds(f"{logs}; {_RUN}", "--benchmark_log_dir=a/b"), [])
        self.assertEqual(self.kinds(f"{logs}; {_RUN}"), ["stray"] * 4)
        self.assertEqual(self.kinds(f"{logs}; rm a/b/metric.log; {_RUN}", "--benchmark_log_dir=a/b"),
                         ["file"])
        self.assertEqual(self.kinds(f"{logs}; echo x >>a/b/metric.log; {_RUN}",
                                    "--benchmark_log_dir=a/b"), ["file"])
        store = f"{sys.executable} -c 'import sqlite3; sqlite3.connect(\"s\").execute(\"create table t(x)\")'"
        self.assertEqual(self.kinds(f"{store}; {_RUN}", "--store=s"), [])
        self.assertEqual(self.kinds(f"echo x >s; {_RUN}", "--store=s"), ["file"])
        self.assertEqual(self.kinds(_RUN, "--store=s"), ["file"])
        self.assertEqual(self.kinds(f"{store}; touch s-wal; {_RUN}", "--store=s"), ["stray"])
        move = 'mkdir -p "$XDG_DATA_HOME/bench"; mv s "$XDG_DATA_HOME/bench/results.sqlite"'
        self.assertEqual(self.kinds(f"{store}; {move}; {_RUN}", "--store"), [])
        folder = "mkdir -p r/2026/01; echo '{\"x\": 1}' >r/2026/01/a-1.json; mv s r/index.sqlite"
        self.assertEqual(self.kinds(f"{store}; {folder}; {_RUN}", "--store=r/"), [])
        self.assertEqual(self.kinds(f"{store}; {folder}; touch r/x; {_RUN}", "--store=r/"),
                         ["stray"])

    def test_checkpoints(self):
        folder = f"mkdir t; {_TENSORS}; mv w t/model.ckpt-3.safetensors; echo x >t/checkpoint"
        self.assertEqual(self.kinds(f"{folder}; printf 1234 >>t/model.ckpt-3.safetensors; {_RUN}", "--train_dir=t"), [])
        self.assertEqual(self.kinds(f"{folder}; {_RUN}", "--train_dir=t"), ["file"])
        self.assertEqual(self.kinds(f"{folder}; {_RUN}"), ["stray"] * 3)
        self.assertEqual(self.kinds(_RUN, "--train_dir=t"), ["file"])

    def test_logs_and_stores_of_a_run_that_was_refused(self):
        for made in ("mkdir a", "mkdir a; echo '{}' >a/metric.log", "touch s"):
            kinds = self.kinds(f"{made}; {_FAILED}", "--benchmark_log_dir=a", "--store=s")
            self.assertEqual(set(kinds), {"stray"}, made)

    def test_incomplete_results(self):
        for text in ('{"a": ', '{"a": NaN}', "", "1"):
            body = f"echo '{text}' >r; {_FAILED}"
            self.assertEqual(self.kinds(body, "--result_file=r"), ["file"], text)
        self.assertEqual(self.kinds(f"{_TENSORS}; {_FAILED}", "--save_variables", "w"), ["file"])
        whole = f"{_TENSORS}; printf 1234 >>w; {_FAILED}"
        self.assertEqual(self.kinds(whole, "--save_variables=w"), [])

    def test_the_last_file_of_a_repeated_flag_counts(self):
        body = f"echo '{{\"a\": 1}}' >b; {_RUN}"
        self.assertEqual(self.kinds(body, "--result_file=a", "--result_file=b"), [])
        self.assertEqual(self.kinds(body, "--result_file=b", "--result_file=a"), ["file"])

    def test_a_result_that_a_whole_run_did_not_write(self):
        self.assertEqual(self.kinds(_RUN, "--result_file=r"), ["file"])

    def test_results_of_several_runs(self):
        for mark in ("batch2", "repeat0", "devices4", "repeat1.batch8"):
            body = f"echo '{{\"a\": 1}}' >r.{mark}.json; {_FAILED}"
            self.assertEqual(self.kinds(body, "--result_file=r.json"), [], mark)
        logs = "mkdir a.batch2; cd a.batch2; echo '{\"x\": 1}' | tee metric.log >benchmark_run.log"
        self.assertEqual(self.kinds(f"{logs}; {_RUN}", "--benchmark_log_dir=a"), [])
        self.assertEqual(self.kinds(f"{logs}; {_RUN}", "--benchmark_log_dir=b"),
                         ["stray"] * 3 + ["file"] * 2)

    def test_inputs_that_changed(self):
        files = {"in": File(b"abc"), "link": Link("in")}
        for body in ("echo x >>in", "rm in", "chmod 600 in", "rm link; echo x >link"):
            self.assertEqual(self.kinds(f"{body}; {_FAILED}", files=files), ["input"], body)
        body = f"echo '{{}}' >in; {_FAILED}"
        self.assertEqual(self.kinds(body, "--init_from=in", "--result_file=./in", files=files),
                         ["input"])

    def test_outputs_that_became_something_else(self):
        files = {"r": File(b"{}", 0o640), "link": Link("r")}
        new = "echo '{\"a\": 1}' >n"
        body = f"{new}; mv n r; chmod 644 r; {_FAILED}"
        self.assertEqual(self.kinds(body, "--result_file=r", files=files), ["output"])
        body = f"{new}; mv n link; {_FAILED}"
        self.assertEqual(self.kinds(body, "--result_file=link", files=files), ["output"])

    def test_a_log_that_lost_its_lines(self):
        files = {"log": File(b"old\n")}
        self.assertEqual(self.kinds("echo x", files=files, stdout=Stream.appended), [])
        self.assertEqual(self.kinds("echo x >log", files=files, stdout=Stream.appended), ["output"])

    def test_streams_go_where_the_case_says(self):
        body = "echo x 2>/dev/null || { echo 'bench: unwritten' >&2; exit 74; }"
        for stream in (Stream.closed, Stream.full, Stream.read_only):
            self.assertEqual(self.kinds(body, stdout=stream, endings=frozenset({74})), [], stream)
        self.assertEqual(self.kinds("while echo x; do :; done", stdout=Stream.broken), ["status"])
        self.assertEqual(self.kinds("echo x >&2 || exit 3", stderr=Stream.closed), ["status"])

    def test_what_the_program_inherits_is_what_the_case_says(self):
        body = '[ "$A$(ulimit -n)$LANG" = " b20" ] || exit 3'
        self.assertEqual(self.kinds(body, environment={"A": " b"}, prelude="ulimit -n 20"), [])


class OtherProgramsTest(JudgeTestCase):
    """Cases of bench_results, and of programs with children."""

    def results_kinds(self, body: str, *args: str, **options) -> list[str]:
        return self.kinds(body, *args, program="bench_results", endings=frozenset({0, 2, 3}), **options)

    def test_bench_results_has_its_own_name_in_its_sentences(self):
        self.assertEqual(self.results_kinds("echo 'bench_results: no such run' >&2; exit 3"), [])
        self.assertEqual(self.results_kinds("echo 'bench: no such run' >&2; exit 3"), ["sentences"])
        self.assertEqual(self.results_kinds("exit 2"), ["sentences"])
        body = "echo 'bench_results: [json.exception.out_of_range.406] x' >&2; exit 3"
        self.assertEqual(self.results_kinds(body), ["internals"])
        warnings = "for i in 1 2; do echo 'bench_results: warning: skipped x' >&2; done"
        self.assertEqual(self.results_kinds(warnings), [])
        self.assertEqual(self.results_kinds(warnings.replace("warning: ", "")), ["sentences"])

    def test_bytes_that_a_page_must_not_contain(self):
        case = {"forbidden": (b"<x9", "\u202e".encode())}
        self.assertEqual(self.results_kinds("echo '&lt;x9'", **case), [])
        self.assertEqual(self.results_kinds("echo '<x9'", **case), ["markup"])
        self.assertEqual(self.results_kinds(r"printf '\342\200\256'", **case), ["markup"])

    def test_files_that_a_case_expects_are_not_left_behind(self):
        body = "mkdir kept; touch kept/a"
        self.assertEqual(self.results_kinds(body), ["stray"] * 2)
        self.assertEqual(self.results_kinds(body, outputs=("kept",)), [])

    def test_a_process_that_runs_on_after_the_end(self):
        body = f"sleep 60 >&- 2>&- & {_RUN}"
        with mock.patch.object(runner, "_LEFT_SECONDS", 0.0):
            self.assertEqual(self.kinds(body), ["left"])

    def test_a_run_that_was_killed_must_be_named(self):
        blow = Blow(signal.SIGKILL, 0.0, "ready", child=True)
        # Without the shell's own message.
        child = "exec 3>&2 2>&-; sh -c 'echo ready; exec sleep 60'"
        case = {"blows": [blow], "endless": True}
        self.assertEqual(self.kinds(f"{child}; exit 137", **case), ["silent"])
        self.assertEqual(self.kinds(f"{child}; echo 'warning: ended by SIGKILL' >&3; exit 137", **case), [])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root passes by the modes of files")
    def test_root_does_not_pass_by_the_modes_of_files_if_the_case_says_so(self):
        files = {"s": File(b"", 0o444)}
        body = "[ ! -w s ] || exit 9"
        self.assertEqual(self.results_kinds(body, files=files), ["status"])
        self.assertEqual(self.results_kinds(body, files=files, unprivileged=True), [])


class ReportTest(unittest.TestCase):
    def test_goes_on_after_a_finding_and_ends_with_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = program_of(Path(folder), "kill -SEGV $$").bench
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = main.main(["--cases=3", "--families=flags", f"--bench={bench}"], "")
            self.assertEqual(status, 1)
            self.assertEqual(out.getvalue().count("FINDING in case"), 3)
            self.assertIn("again: tools/torment --seed=1 --case=0", out.getvalue())
            self.assertIn("crash: SIGSEGV", out.getvalue().splitlines()[-2])

    def test_an_interrupt_ends_it_with_the_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = program_of(Path(folder), "kill -SEGV $$").bench
            tool = Path(__file__).resolve().parents[1] / "torment"
            command = [sys.executable, tool, "--minutes=9", f"--bench={bench}"]
            with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as process:
                while "FINDING" not in process.stdout.readline():
                    self.assertIsNone(process.poll())
                process.send_signal(signal.SIGINT)
                printed = process.stdout.read()
        self.assertEqual(process.returncode, 130)
        self.assertRegex(printed, r"\d+ cases in \d+ s, \d+ with findings")

    def test_a_program_without_help_is_not_tried(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(main.main(["--bench=/bin/false"], ""), 2)
        self.assertTrue(err.getvalue().startswith("torment: "))


if __name__ == "__main__":
    unittest.main()
