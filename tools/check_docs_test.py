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

    def test_refuses_a_link_outside_the_repository(self):
        self.assert_bad("[x](../../README.md)\n", "no ../README.md")
        self.assert_bad("[x](/README.md)\n", "no /README.md")

    def test_refuses_a_link_to_a_build_output(self):
        (self.root / "build").mkdir()
        (self.root / "build/page.md").write_text("# page\n")
        self.assert_bad("[x](../build/page.md)\n", "no build/page.md")

    def test_refuses_a_broken_anchor(self):
        self.assert_bad("[x](FAST.md#how-slow-is-it)\n", "FAST.md#how-slow-is-it", "no heading")
        self.assert_bad("# a\n\n[x](#b)\n", "README.md:3: ", "#b", "no heading")
        self.assert_bad("[x](FAST.md#How-fast-is-it)\n", "no heading")
        self.assert_bad("[x](main.cc#main)\n", "not a page")

    def test_names_headings_as_github_does(self):
        self.assertEqual(
            check_docs.anchors_of("# bench_kernels\n## The `--dump` flag, and more!\n### It's [here](a.md)\n"
                                  "## Twice\n## Twice\n## Öl & Gas ##\n    # no heading\n#none\n"),
            {"bench_kernels", "the---dump-flag-and-more", "its-here", "twice", "twice-1", "öl--gas"})

    def test_ignores_links_in_code(self):
        self.assert_good("# a\n\n    [x](GONE.md)\n\n    # b\n\n```\n[x](GONE.md)\n```\n")
        self.assert_good("`[x](GONE.md)` and `` ` [x](GONE.md)``\n")
        self.assert_good("a `span over\ntwo lines [x](GONE.md)` ends, and `[y](GONE.md)` too\n")
        self.assert_bad("```\n# b\n```\n\n[x](#b)\n", "no heading")
        self.assert_bad("- a\n    [x](GONE.md)\n", "GONE.md")

    def test_ignores_web_addresses(self):
        self.assert_good("[a](https://example.com/x#y) [b](mailto:a@example.com) <https://example.com>\n")

    def test_requires_a_path_from_the_first_page_to_each(self):
        found = self.found({"models/LOST.md": "# lost\n\n[to](FRIEND.md)\n", "models/FRIEND.md": "# friend\n"})
        self.assertEqual([line.partition(":")[0] for line in found], ["models/FRIEND.md", "models/LOST.md"])
        self.assertIn("cannot be reached by links", found[0])

    def test_limits_the_words_of_a_page(self):
        links = "[b](bench/README.md) [f](bench/FAST.md)\n\n"  # two words
        limits = {"README.md": check_docs.MAX_FIRST_PAGE_WORDS, "bench/README.md": check_docs.MAX_README_WORDS,
                  "bench/FAST.md": check_docs.MAX_PAGE_WORDS}
        full = {page: (links if page == "README.md" else "Two words.\n") + "Two words.\n" * (limit // 2 - 1)
                for page, limit in limits.items()}
        self.assertEqual(self.found(full), [])
        for page, limit in limits.items():
            found = self.found({**full, page: full[page] + "More.\n"})
            self.assertEqual(len(found), 1, found)
            self.assertIn(f"{page}:", found[0])
            self.assertIn(f"has {limit + 1} words, more than {limit}", found[0])

    def test_does_not_limit_the_words_of_generated_pages(self):
        generated = check_docs.GENERATED[0]
        self.assertEqual(self.found({generated: "# a\n\n" + "Two words.\n" * check_docs.MAX_PAGE_WORDS,
                                     "bench/README.md": f"# b\n\n[x](../{generated})\n"}), [])

    def test_counts_words_with_code_but_without_targets_and_marks(self):
        self.assertEqual(check_docs.words_of("# One\n\n| two | - |\n|---|---|\n\n    three --four\n"), 4)
        self.assertEqual(check_docs.words_of("[a link](over/there.md#now) ![it](x.png) [b][ref]\n"), 4)

    def test_limits_the_characters_of_a_cell(self):
        cell = "x" * check_docs.MAX_CELL_CHARACTERS
        target = "FAST.md" + "?" * 99
        self.assert_good(f"| a | b |\n|---|---|\n| {cell} | {cell} |\n\n    | {cell}x |\n")
        self.assert_bad(f"| a | b |\n|---|---|\n| c | {cell}x |\n", "README.md:3: ", "cell of 151 characters")
        self.assert_bad(f"| `{cell[:99]}|{cell[:99]}` | b |\n", "cell of 201 characters")
        self.assertEqual(list(check_docs.cells_of(f"|[link]({target})|b|\n")), [(1, "link"), (1, "b")])

    def test_limits_the_words_of_a_sentence(self):
        words = "So " + "on " * (check_docs.MAX_SENTENCE_WORDS - 2)
        self.assert_good(f"# a\n\n{words}end. {words}end! {words}end. bench ends. `x` ends.\n")
        self.assert_bad(f"# a\n\nShort. {words}\nmore and more.\n", "README.md:3: ", "a sentence of 27 words")
        self.assert_bad(f"- Short.\n- {words}more, e.g. more.\n", "README.md:2: ", "a sentence of 27 words")
        self.assert_good(f"{words}`several words of code`.\n\n- {words}end\n- {words}end\n")
        self.assert_good(f"| {words[:140]} | {words[:140]} |\n\n    {words} more and more\n\n{words}[end](FAST.md).\n")

    def test_wants_each_line_on_stderr_explained(self):
        page = "# Output\n\n[up](../../README.md)\n\n| line | means |\n|---|---|\n"
        files = {"README.md": GROUND["README.md"] + f"[output]({check_docs.LINES_PAGE})\n",
                 check_docs.STDERR_LINES: 'BENCH_STDERR_LINE(note, "note: ")\nBENCH_STDERR_LINE(run, "run ")\n'}
        self.assertEqual(self.found({**files, check_docs.LINES_PAGE: page + "| `note: ...`, `run 2` | x |\n"}), [])
        found = self.found({**files, check_docs.LINES_PAGE: page + "| `note` | `run 2` |\n"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("begins with 'run '", found[0])

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
