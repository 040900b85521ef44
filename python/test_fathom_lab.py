"""Tests of fathom_lab, with the program in $FATHOM: python3 python/test_fathom_lab.py"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import fathom_lab  # noqa: E402


class Module(unittest.TestCase):
    def test_the_classes_are_those_of_the_schemas(self) -> None:
        subprocess.run([sys.executable, HERE / "generate.py", "--check"], check=True)

    def test_commands_are_timed_and_compared(self) -> None:
        found = fathom_lab.bench("true", "sleep 0.1", runs=8)
        outcome = found.record.outcome
        assert outcome is not None
        self.assertEqual([one.command for one in found.record.benchmarks], ["true", "sleep 0.1"])
        ratio = outcome.comparisons[0].ratio
        self.assertTrue(ratio.low <= ratio.value <= ratio.high)
        self.assertIn("sleep 0.1 is ", found.answer)
        wall = [row for row in found.rows() if row["metric"] == "wall"]
        self.assertEqual([row["runs"] for row in wall], [8, 8])
        self.assertTrue(wall[1]["median"] >= 0.1)

    def test_a_command_is_explained(self) -> None:
        found = fathom_lab.why("sleep 0.1", options=("--runs=3",))
        account = found.record.account
        self.assertEqual(sum(part.ns for part in account.parts), account.wall_ns if account.parts else 0)
        self.assertTrue(found.answer.startswith("sleep 0.1 takes "))
        for row in found.where():
            self.assertTrue(0 <= row["share"] <= 1)

    def test_two_commands_are_explained_and_read_back(self) -> None:
        found = fathom_lab.difference("true", "sleep 0.1", options=("--runs=10",))
        wall = found.record.difference.wall
        self.assertTrue(wall.low <= wall.milliseconds <= wall.high)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.json"
            path.write_text(json.dumps(found.raw))
            again = fathom_lab.read(path)
            assert isinstance(again, fathom_lab.Difference)
            self.assertEqual(again.record, found.record)
            path.write_text('{"kind": "else"}')
            with self.assertRaises(fathom_lab.UsageError):
                fathom_lab.read(path)

    def test_errors_have_the_exit_code(self) -> None:
        for command, error, code in [
            ("false", fathom_lab.CommandFailed, 3),
            ("no-such-program-here", fathom_lab.UsageError, 2),
            ("--html=x", fathom_lab.UsageError, 2),
        ]:
            with self.assertRaises(error) as caught:
                fathom_lab.bench(command, runs=2)
            self.assertEqual(caught.exception.exit_code, code)

    def test_a_notebook_shows_text_and_never_markup_of_others(self) -> None:
        found = fathom_lab.bench("printf '<script>alert(1)</script>'", runs=3)
        shown = found._repr_html_()
        self.assertNotIn("<script>", shown)
        for part in ("<strong>", "<svg ", "<table>"):
            self.assertIn(part, shown)
        # A notebook also keeps this text: the answer, not the record.
        self.assertEqual(repr(found), f"<Bench: {found.answer}>")

    def test_rows_are_frames_where_the_libraries_are(self) -> None:
        found = fathom_lab.bench("true", runs=3)
        for library, convert in (("pandas", found.to_pandas), ("polars", found.to_polars)):
            try:
                __import__(library)
            except ImportError:
                self.assertRaises(ImportError, convert)
            else:
                self.assertEqual(len(convert()), len(found.rows()))


if __name__ == "__main__":
    unittest.main()
