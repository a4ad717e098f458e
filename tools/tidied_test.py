"""Tests which compiled files are passed to clang-tidy."""

import json
import pathlib
import tempfile
import unittest

import tidied


class TidiedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.build = self.root / "build" / "asan"

    def found(self, *files: str, united: dict[str, list[str]] | None = None) -> list[str]:
        for path, sources in (united or {}).items():
            (self.build / path).parent.mkdir(parents=True, exist_ok=True)
            (self.build / path).write_text("".join(f'#include "{self.root / name}"\n' for name in sources))
        named = [str(self.root / name) for name in files] + [str(self.build / name) for name in united or {}]
        self.build.mkdir(parents=True, exist_ok=True)
        commands = [{"directory": str(self.build), "file": name, "command": ""} for name in named]
        (self.build / "compile_commands.json").write_text(json.dumps(commands))
        return [str(path.relative_to(self.root)) for path in tidied.tidied(self.root, self.build)]

    def test_sources_are_given_once(self):
        self.assertEqual(self.found("bench/main.cc", "models/a.cc", "models/a.cc"), ["bench/main.cc", "models/a.cc"])

    def test_tests_and_generated_code_are_left_out(self):
        self.assertEqual(self.found("models/test/a_test.cc", "pipeline/fuzz/f.cc", "build/asan/made.cc"), [])

    def test_a_united_file_stands_for_its_sources(self):
        self.assertEqual(self.found(united={"x.dir/Unity/unity_0_cxx.cxx": ["models/a.cc", "models/b.cc"]}),
                         ["build/asan/x.dir/Unity/unity_0_cxx.cxx"])

    def test_a_united_file_of_tests_alone_is_left_out(self):
        self.assertEqual(self.found(united={"x.dir/Unity/unity_0_cxx.cxx": ["models/test/a_test.cc"]}), [])


if __name__ == "__main__":
    unittest.main()
