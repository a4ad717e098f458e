"""Tests that each rule of check_docs.py accepts good pages and rejects bad ones."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_docs

GROUND = {
    "README.md": "# top\n\n[bench](bench/README.md), [fast](bench/FAST.md#how-fast-is-it)\n",
    "bench/README.md": "# bench\n\n## See also\n\n[up](../README.md#top) [code](main.cc)\n",
    "bench/FAST.md": "# Fast\n\n## How fast is it?\n\nSee [the first page](../README.md).\n",
    "bench/main.cc": "int main() {}\n",
}


class DocsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def found(self, files: dict[str, str]) -> list[str]:
        for path, text in {**GROUND, **files}.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")
        return [str(violation) for violation in check_docs.violations(self.root)]

    def assert_good(self, text: str) -> None:
        self.assertEqual(self.found({"bench/README.md": text}), [])

    def assert_bad(self, text: str, *expected: str) -> None:
        found = self.found({"bench/README.md": text})
        self.assertEqual(len(found), 1, found)
        for part in expected:
            self.assertIn(part, found[0])

    def test_accepts_links_to_files_folders_and_headings(self):
        self.assertEqual(self.found({}), [])
        self.assert_good("# a\n[f](.) [g](../bench) [h](#a) [i](FAST.md#fast) [j](main.cc) [k](./main.cc)\n")

    def test_refuses_a_broken_link(self):
        self.assert_bad("# a\n\n[x](GONE.md)\n", "bench/README.md:3: ", "GONE.md", "no bench/GONE.md")
        self.assert_bad("[x](../bench/sub/)\n", "no bench/sub")
        self.assert_bad("[x](README.MD)\n", "no bench/README.MD")
        self.assert_bad("| a | [x](FAST.md) and [y](gone.cc) |\n", "gone.cc")
        self.assert_bad("[over two\nlines](GONE.md)\n", "README.md:2: ", "GONE.md")
        self.assert_bad('[x](GONE.md "with a title")\n', "GONE.md")
        self.assert_bad("[`code`](GONE.md)\n", "GONE.md")
        self.assert_bad("[![image](GONE.png)](FAST.md)\n", "GONE.png")
        self.assert_bad("[![image](main.cc)](GONE.md)\n", "GONE.md")
        self.assert_bad("[x][ref]\n\n[ref]: GONE.md\n", "README.md:3: ", "GONE.md")
        self.assert_bad('<a href="GONE.md">x</a>\n', "GONE.md")

    def test_refuses_a_link_out_of_the_repository(self):
        self.assert_bad("[x](../../README.md)\n", "no ../README.md")
        self.assert_bad("[x](/README.md)\n", "no /README.md")

    def test_refuses_a_link_to_what_is_built(self):
        (self.root / "build").mkdir()
        (self.root / "build/page.md").write_text("# page\n")
        self.assert_bad("[x](../build/page.md)\n", "no build/page.md")

    def test_refuses_a_broken_anchor(self):
        self.assert_bad("[x](FAST.md#how-slow-is-it)\n", "FAST.md#how-slow-is-it", "no heading")
        self.assert_bad("# a\n\n[x](#b)\n", "README.md:3: ", "#b", "no heading")
        self.assert_bad("[x](FAST.md#How-fast-is-it)\n", "no heading")
        self.assert_bad("[x](main.cc#main)\n", "no page")

    def test_names_headings_as_github_does(self):
        self.assertEqual(
            check_docs.anchors_of("# bench_kernels\n## The `--dump` flag, and more!\n### It's [here](a.md)\n"
                                  "## Twice\n## Twice\n## Öl & Gas ##\n    # no heading\n#none\n"),
            {"bench_kernels", "the---dump-flag-and-more", "its-here", "twice", "twice-1", "öl--gas"})

    def test_takes_code_for_code(self):
        self.assert_good("# a\n\n    [x](GONE.md)\n\n    # b\n\n```\n[x](GONE.md)\n```\n")
        self.assert_good("`[x](GONE.md)` and `` ` [x](GONE.md)``\n")
        self.assert_good("a `span over\ntwo lines [x](GONE.md)` ends, and `[y](GONE.md)` too\n")
        self.assert_bad("```\n# b\n```\n\n[x](#b)\n", "no heading")
        self.assert_bad("- a\n    [x](GONE.md)\n", "GONE.md")

    def test_leaves_addresses_of_the_web_alone(self):
        self.assert_good("[a](https://example.com/x#y) [b](mailto:a@example.com) <https://example.com>\n")

    def test_wants_every_page_to_be_found_from_the_first(self):
        found = self.found({"models/LOST.md": "# lost\n\n[to](FRIEND.md)\n", "models/FRIEND.md": "# friend\n"})
        self.assertEqual([line.partition(":")[0] for line in found], ["models/FRIEND.md", "models/LOST.md"])
        self.assertIn("no links lead here", found[0])

    def test_a_readme_longer_than_its_reader_is_patient_is_refused(self):
        lines = "# a\n" + "x\n" * (check_docs.MAX_README_LINES - 1)
        self.assert_good(lines)
        self.assert_bad(lines + "x\n", "171 lines", "read to its end")
        self.assertEqual(self.found({"bench/FAST.md": GROUND["bench/FAST.md"] + 3 * lines,
                                     "bench/README.md": lines}), [])

    def test_exits_1_for_a_violation_and_2_for_another_folder(self):
        def status() -> int:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                return check_docs.main([str(self.root)])

        self.assertEqual(status(), 2)
        self.found({})
        self.assertEqual(status(), 0)
        self.found({"bench/FAST.md": "[x](GONE.md)\n"})
        self.assertEqual(status(), 1)


if __name__ == "__main__":
    unittest.main()
