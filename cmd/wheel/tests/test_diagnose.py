"""What diagnose takes and gives."""

import tempfile
import unittest
from pathlib import Path

import triage

LOG = """step 1 loss 2.31
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    import flash_attn
ModuleNotFoundError: No module named 'flash_attn'
"""


class Diagnose(unittest.TestCase):
    def test_text(self) -> None:
        report = triage.diagnose(LOG, live="off")
        self.assertIsNotNone(report.root)
        assert report.root is not None
        self.assertTrue(report.explained)
        self.assertIn("flash", report.root.id)
        self.assertEqual(report.root.evidence[0].line, 5)
        self.assertIsInstance(report.root.fixes[0], triage.Fix)
        self.assertIsInstance(report.root.fixes[-1].run, tuple)
        self.assertEqual(report.stats.lines, 5)
        self.assertRegex(report.program, r"^\d+\.\d+")
        self.assertRegex(report.knowledge, r"^20\d\d\.")
        self.assertIn(report.root.title.split(",")[0], " ".join(str(report).split()))
        self.assertIn("### ", report.markdown())

    def test_path(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "train log.txt")
            log.write_text(LOG)
            for path in log, str(log), folder:
                root = triage.diagnose(path, live="off").root
                assert root is not None
                self.assertIn("train log.txt", root.evidence[0].source)
            with self.assertRaises(FileNotFoundError):
                triage.diagnose(Path(folder, "no such file"))
            with self.assertRaises(FileNotFoundError):
                triage.diagnose("nowhere.log")

    def test_exception(self) -> None:
        try:
            raise ModuleNotFoundError("No module named 'flash_attn'")
        except ModuleNotFoundError as error:
            root = triage.diagnose(error).root
        assert root is not None
        self.assertIn("flash", root.id)

    def test_nothing_failed(self) -> None:
        for text in "", "step 1 loss 2.31\n":
            report = triage.diagnose(text, live="off")
            self.assertIsNone(report.root)
            self.assertFalse(report.explained)
            self.assertIn("No failure", report._repr_html_())

    def test_facts(self) -> None:
        report = triage.diagnose(LOG, facts={"torch": "2.6.0", "flash_attn": None}, live="off")
        known = {fact.name: fact.value for fact in report.facts}
        self.assertEqual(known["torch"], "2.6.0")
        self.assertIsNone(known["flash_attn"])

    def test_wrong_calls(self) -> None:
        with self.assertRaisesRegex(triage.TriageError, "no_such_fact"):
            triage.diagnose(LOG, facts={"no_such_fact": 1})
        with self.assertRaisesRegex(triage.TriageError, "within"):
            triage.diagnose(LOG, timeout=0.000001)
        with self.assertRaises(TypeError):
            triage.diagnose(b"bytes")  # type: ignore[arg-type]
        with self.assertRaisesRegex(triage.TriageError, "no JSON report"):
            triage.Report.from_json("{}")

    def test_html_is_escaped(self) -> None:
        report = triage.diagnose("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nOddError: <script>alert(1)</script>\n", live="off")
        self.assertIn("&lt;script&gt;", report._repr_html_())
        self.assertNotIn("<script>", report._repr_html_())

    def test_members_of_later_versions(self) -> None:
        report = triage.Report.from_json('{"schema": "triage.report/v1", "new": 1, "diagnoses": [{"id": "a", "newer": [2], "rank": 3}]}')
        self.assertEqual(report.diagnoses, (triage.Diagnosis(id="a", rank=3),))
        self.assertIn('"newer"', report.json)


if __name__ == "__main__":
    unittest.main()
