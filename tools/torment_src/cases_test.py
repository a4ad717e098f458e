"""Tests that cases are the same on every machine, and that files and command lines are written correctly."""

import base64
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from torment_src import main, values  # noqa: E402
from torment_src.case import Case, Stream, encoded  # noqa: E402
from torment_src.fake_bench import HELP, program_of  # noqa: E402
from torment_src.flag_table import Flag, HelpError, parse_help  # noqa: E402
from torment_src.formats import jpegs, safetensors, tfrecord  # noqa: E402

_MANY = 400


class CasesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.program = program_of(Path(folder))
        cls.row = [main.make_case(cls.program, 1, number) for number in range(_MANY)]

    def cases(self, seed: int, numbers) -> list[Case]:
        return [main.make_case(self.program, seed, number) for number in numbers]

    def test_a_seed_and_a_number_are_one_case(self):
        # Alone and in any order, it must be the same as in sequence.
        for number in (317, 5, 142):
            self.assertEqual(self.cases(1, [number]), [self.row[number]])
        self.assertNotEqual([case.args for case in self.cases(2, range(20))],
                            [case.args for case in self.row[:20]])

    def test_a_case_does_not_depend_on_the_process(self):
        script = ("import sys; sys.dont_write_bytecode = True; from pathlib import Path; "
                  "from torment_src import main; from torment_src.fake_bench import program_of; "
                  "p = program_of(Path(sys.argv[1])); "
                  "print(ascii([main.make_case(p, 1, n) for n in range(100)]))")
        with tempfile.TemporaryDirectory() as folder:
            printed = {subprocess.run([sys.executable, "-c", script, folder], check=True, text=True,
                                      capture_output=True, cwd=Path(__file__).resolve().parents[1],
                                      env={"PYTHONHASHSEED": str(seed)}).stdout for seed in (1, 2)}
        self.assertEqual(printed, {ascii(self.row[:100]) + "\n"})

    def test_every_flag_and_every_family_is_used(self):
        cases = self.row
        self.assertEqual({case.family for case in cases}, set(main.FAMILIES))
        flags = {case.title for case in cases if case.family == "flags"}
        self.assertEqual(flags, {f"--{flag.name}" for flag in self.program.flags})

    def test_families_leave_the_numbers_alone(self):
        numbers = main.numbers_of({"signals"})
        for number in (next(numbers) for _ in range(5)):
            self.assertEqual(main.make_case(self.program, 1, number).family, "signals")

    def test_words_contain_no_null_byte(self):
        rng = random.Random(1)
        drawn = {values.hostile(rng, flag) for flag in self.program.flags * 40}
        for word in drawn.union(*(case.args for case in self.row)):
            self.assertNotIn(b"\0", encoded(word))

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_the_plain_command_line_passes_the_same_words(self):
        words = ["a b", "", "\x1b[31m", "é", "\udcff\n", "it's", "a\\", "$(x)", "--x=\t"]
        script = Case("", ["%s\\n", *words]).shell_line("printf")
        printed = subprocess.run(["bash", "-c", script], check=True, capture_output=True).stdout
        lines = "".join(f"{word}\n" for word in words)
        self.assertEqual(printed, encoded(lines))

    def test_the_plain_command_line_redirects(self):
        case = Case("", ["x"], stdout=Stream.full, stderr=Stream.closed)
        self.assertEqual(case.shell_line("b"), "b x 2>&- 1>/dev/full")
        case = Case("", ["x"], prelude="ulimit -n 5", environment={"A": "b c"})
        self.assertEqual(case.shell_line("b"), "(ulimit -n 5; A='b c' exec b x)")
        case = Case("", [], stdout=Stream.broken, taken_bytes=5)
        self.assertEqual(case.shell_line("b"), "b | head -c 5")

    def test_values_of_a_flag_in_every_spelling(self):
        case = Case("", ["--r=a", "-r=b", "--R", "c", "--other=d", "--r", "e\n", "--r-s=f"])
        self.assertEqual(case.values_of("r"), ["a", "b", "c", "e\n"])
        self.assertEqual(case.values_of("r_s", "other"), ["d", "f"])


class FlagsTest(unittest.TestCase):
    def setUp(self):
        self.flags = {flag.name: flag for flag in parse_help(HELP)}

    def test_names_kinds_values_and_bounds_are_read(self):
        self.assertEqual(self.flags["device"].values, ["cpu", "gpu", "reference"])
        self.assertEqual(self.flags["dump"].values, ["graph", "plan"])
        self.assertEqual(self.flags["a_flag_with_a_name_of_great_length"].bounds, (0, 4096))
        self.assertEqual(self.flags["verify"].values, ["model", "all"])
        self.assertEqual(self.flags["num_batches"].bounds, (1, None))
        self.assertEqual(self.flags["label_smoothing"].bounds, (0, 1))
        self.assertEqual(self.flags["forward_only"].kind, "")
        self.assertEqual(self.flags["batch_size"].meaning, "images (0, 8,16 or auto; default 0)")
        self.assertFalse(self.flags["a_flag_with_a_name_of_great_length"].built)
        self.assertTrue(self.flags["num_batches"].built)

    def test_a_help_without_flags_is_refused(self):
        with self.assertRaises(HelpError):
            parse_help("Usage: bench\n\n  --model=TEXT  the network\n")

    def test_accepted_values_are_calm(self):
        rng = random.Random(1)
        for name in values.CALM:
            self.assertTrue(values.is_calm(name, values.taken(rng, Flag(name, "INT", ""))), name)
        self.assertFalse(values.is_calm("num_batches", "9223372036854775807"))


class FormatsTest(unittest.TestCase):
    def test_crc_of_the_known_check_value(self):
        self.assertEqual(tfrecord.crc32c(b"123456789"), 0xE3069283)

    def test_a_record_is_framed_as_tensorflow_does(self):
        record = base64.b64decode(
            "RwAAAAAAAAC6w/ubCkUKJwoNaW1hZ2UvZW5jb2RlZBIWChQKEnRoaXMgaXMgbm8gcGljdHVyZQoa"
            "ChFpbWFnZS9jbGFzcy9sYWJlbBIFGgMKAQFzBzzi")
        ours = tfrecord.example(tfrecord.image_features(b"this is " b"no picture", 1))
        self.assertEqual(tfrecord.frame(ours), record)

    def test_varints(self):
        self.assertEqual(tfrecord.varint(300), b"\xac\x02")
        self.assertEqual(tfrecord.varint(-1), b"\xff" * 9 + b"\x01")

    def test_jpegs_begin_and_end_as_such(self):
        for name, jpeg in jpegs.JPEGS.items():
            self.assertTrue(jpeg.startswith(b"\xff\xd8") and jpeg.endswith(b"\xff\xd9"), name)
            self.assertEqual(len(jpegs.with_size(jpeg, 7, 9)), len(jpeg), name)

    def test_whole_and_broken_tensor_files_are_distinguished(self):
        header = safetensors.header_of({"a": ("F32", [2, 2]), "b": ("I64", [1])})
        self.assertEqual(header["b"]["data_offsets"], [16, 24])
        whole = safetensors.joined(header, bytes(24))
        self.assertEqual(safetensors.fault_of(whole), "")
        headers = (safetensors.joined(b"{", b""), safetensors.joined(b"[]", b""))
        for broken in (b"", whole[:-1], whole + b"x", *headers):
            self.assertTrue(safetensors.fault_of(broken))


if __name__ == "__main__":
    unittest.main()
