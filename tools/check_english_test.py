"""Shows that check_english.py finds what it bans, in comments, pages and strings, and nothing else."""

import pathlib
import subprocess
import tempfile
import unittest

import check_english

_LONG = "One two three four five six seven eight nine ten " * 3 + "end."


class CheckEnglishTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(("git", "init", "-q", str(self.root)), check=True)

    def found(self, name: str, text: str, kinds: str = "comments,pages,strings") -> list[str]:
        (self.root / name).write_text(text)
        findings = check_english.check(self.root, [name], set(kinds.split(",")))
        return [f"{finding.line}: {finding.text}" for finding in findings]

    def test_phrases_are_found_with_their_replacement(self):
        self.assertEqual(self.found("a.md", "Plain.\n\nIt is read anew.\n"), ["3: 'anew': again"])
        self.assertEqual(self.found("a.cc", "int x;  // read anew\n"), ["1: 'anew': again"])
        self.assertEqual(self.found("a.py", "# Read\n# anew.\n"), ["1: 'anew': again"])
        self.assertEqual(self.found("a.cc", 'say("it is read anew");\n'), ["1: 'anew': again"])

    def test_comments_may_not_begin_with_certain_words(self):
        self.assertEqual(self.found("a.h", "/// Whether it ends.\nbool ends();\n"), ["1: begins with 'Whether': Whether it ends."])
        self.assertEqual(self.found("a.h", "/// True if it ends.\nbool ends();\n"), [])

    def test_sentences_have_an_end(self):
        self.assertEqual(self.found("a.md", _LONG), [f"1: a sentence of 31 words: {_LONG[:60]}"])
        self.assertEqual(self.found("a.md", _LONG.replace(" six", ". Six")), [])
        self.assertEqual(self.found("a.cc", f'say("{_LONG}");\n'), [], "messages may be lists")

    def test_code_is_not_prose(self):
        self.assertEqual(self.found("a.md", "Run `bench anew`:\n\n    bench anew\n\n```\nanew\n```\n"), [])
        self.assertEqual(self.found("a.cc", "int anew = 0;\n"), [])

    def test_kinds_can_be_chosen(self):
        self.assertEqual(self.found("a.cc", 'say("it is read anew");\n', "comments"), [])


if __name__ == "__main__":
    unittest.main()
