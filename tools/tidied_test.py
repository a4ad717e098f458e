"""Tests which compiled files are passed to clang-tidy."""

import json
import pathlib
import tempfile
import unittest
import unittest.mock

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

    def test_tests_and_generated_code_are_skipped(self):
        self.assertEqual(self.found("models/test/a_test.cc", "pipeline/fuzz/f.cc", "build/asan/made.cc"), [])

    def test_a_unity_file_replaces_its_sources(self):
        self.assertEqual(self.found(united={"x.dir/Unity/unity_0_cxx.cxx": ["models/a.cc", "models/b.cc"]}),
                         ["build/asan/x.dir/Unity/unity_0_cxx.cxx"])

    def test_a_change_selects_its_sources_and_a_file_for_each_header(self):
        self.found(united={"x/Unity/unity_0_cxx.cxx": ["models/a.cc"], "x/Unity/unity_1_cxx.cxx": ["models/b.cc"],
                           "x/Unity/unity_2_cxx.cxx": ["models/c.cc"]})
        files = {path: f"{path.name}.o" for path in tidied.tidied(self.root, self.build)}
        read = {"unity_0_cxx.cxx.o": {str(self.root / "models/x.h")},
                "unity_1_cxx.cxx.o": {str(self.root / "models/x.h"), str(self.root / "models/y.h")},
                "unity_2_cxx.cxx.o": {str(self.root / "models/y.h")}}
        build = unittest.mock.Mock(folder=self.build, read_by_object=read)

        def chosen(*names: str) -> list[str]:
            return [path.name for path in tidied.affected(files, build, {self.root / name for name in names})]

        self.assertEqual(chosen("models/c.cc"), ["unity_2_cxx.cxx"])
        self.assertEqual(chosen("models/x.h"), ["unity_0_cxx.cxx"])
        self.assertEqual(chosen("models/b.cc", "models/x.h", "models/y.h"), ["unity_1_cxx.cxx"])
        self.assertEqual(chosen("README.md"), [])

    def test_a_unity_file_of_tests_is_skipped(self):
        self.assertEqual(self.found(united={"x.dir/Unity/unity_0_cxx.cxx": ["models/test/a_test.cc"]}), [])


if __name__ == "__main__":
    unittest.main()
