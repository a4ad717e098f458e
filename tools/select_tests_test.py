"""Tests which tests select_tests.py selects after a change, and what it builds for them. Builds a small project."""

import pathlib
import subprocess
import tempfile
import unittest

import select_tests

_PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
enable_testing()
add_library(shared_code STATIC shared.cc)
add_executable(with_shared with_shared.cc)
target_link_libraries(with_shared shared_code)
add_executable(alone alone.cc)
set_target_properties(alone PROPERTIES UNITY_BUILD ON)
add_test(NAME with_shared_test COMMAND with_shared)
add_test(NAME alone_test COMMAND alone)
add_test(NAME script_test COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/scripts/run.sh" $<TARGET_FILE:alone>)
add_test(NAME page_test COMMAND sh -c true "${CMAKE_CURRENT_SOURCE_DIR}/page.md")
add_test(NAME data_test COMMAND sh -c true)
set_tests_properties(data_test PROPERTIES REQUIRED_FILES "${CMAKE_CURRENT_SOURCE_DIR}/data.json")
add_test(NAME tree_test COMMAND sh -c true "${CMAKE_CURRENT_SOURCE_DIR}")
add_test(NAME tool_test COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/tool")
add_test(NAME tool_part_test COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/tool_src/part.py")
set_tests_properties(alone_test PROPERTIES LABELS quick)
"""
_FILES = {
    "CMakeLists.txt": _PROJECT, "shared.h": "int shared();\n", "shared.cc": '#include "shared.h"\nint shared() { return 0; }\n',
    "with_shared.cc": '#include "shared.h"\nint main() { return shared(); }\n', "alone.cc": "int main() {}\n",
    "scripts/run.sh": ". ./lib.sh\n", "scripts/lib.sh": "", "page.md": "", "data.json": "{}", "unused.txt": "",
    "tool": "", "tool_src/part.py": "",
    ".gitignore": "/build/\n"}


class SelectTestsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve()
        for name, text in _FILES.items():
            (cls.root / name).parent.mkdir(exist_ok=True)
            (cls.root / name).write_text(text)
        identity = ("-c", "user.name=x", "-c", "user.email=x@y")
        for command in (("git", "init", "-q"), ("git", "add", "."), ("git", *identity, "commit", "-q", "-m", "x"),
                        ("cmake", "-G", "Ninja", "-S", ".", "-B", "build"), ("ninja", "-C", "build")):
            subprocess.run(command, cwd=cls.root, check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        self.build = select_tests.Build(self.root / "build")

    def affected_by(self, *names: str) -> set[str]:
        for name in names:
            with (self.root / name).open("a") as file:
                file.write("\n")
        try:
            changed = select_tests.changed_since("HEAD", self.root)
            return {name for name in self.build.selected([]) if self.build.is_affected(name, changed)} - {"tree_test"}
        finally:
            subprocess.run(("git", "checkout", "-q", "."), cwd=self.root, check=True)
            subprocess.run(("git", "clean", "-fdq"), cwd=self.root, check=True)

    def test_a_header_affects_what_includes_it(self):
        self.assertEqual(self.affected_by("shared.h"), {"with_shared_test"})

    def test_a_source_affects_its_programs_and_their_scripts(self):
        self.assertEqual(self.affected_by("shared.cc"), {"with_shared_test"})
        self.assertEqual(self.affected_by("alone.cc"), {"alone_test", "script_test"})

    def test_scripts_pages_and_data_affect_the_tests_that_name_them(self):
        self.assertEqual(self.affected_by("scripts/lib.sh"), {"script_test"})
        self.assertEqual(self.affected_by("page.md"), {"page_test"})
        self.assertEqual(self.affected_by("data.json"), {"data_test"})

    def test_a_check_of_the_whole_tree_is_affected_by_every_change(self):
        self.assertEqual(self.affected_by("unused.txt"), set())
        self.assertTrue(self.build.is_affected("tree_test", {self.root / "new.txt"}))

    def test_a_file_that_git_does_not_know_yet_is_a_change(self):
        self.assertEqual(self.affected_by("scripts/new.sh"), {"script_test"})

    def test_a_test_needs_the_programs_that_it_names(self):
        self.assertEqual(self.build.needs("with_shared_test"), {"with_shared"})
        self.assertEqual(self.build.needs("script_test"), {"alone"})
        self.assertEqual(self.build.needs("page_test"), set())

    def test_a_file_of_the_build_affects_every_test(self):
        for name in ("CMakeLists.txt", "x.cmake", "CMakePresets.json", "x.h.in"):
            self.assertTrue(self.build.is_affected("data_test", {self.root / name}), name)

    def test_an_object_that_was_never_compiled_may_include_anything(self):
        build = select_tests.Build(self.root / "build")
        build.read_by_object = {}
        self.assertTrue(build.is_affected("alone_test", {self.root / "unused.txt"}))
        self.assertFalse(build.is_affected("data_test", {self.root / "unused.txt"}))

    def test_a_script_and_the_folder_of_its_sources_belong_together(self):
        self.assertEqual(self.affected_by("tool_src/part.py"), {"tool_test", "tool_part_test"})
        self.assertTrue(self.build.is_affected("tool_part_test", {self.root / "tool"}))

    def test_arguments_of_ctest_select(self):
        self.assertEqual(self.build.selected(["-L", "quick"]), ["alone_test"])
        self.assertEqual(self.build.selected(["-R", "nothing"]), [])


if __name__ == "__main__":
    unittest.main()
