"""install() in IPython and in a real Jupyter kernel."""

import subprocess
import sys
import unittest
from typing import Any

import nbformat
from nbclient import NotebookClient

v4: Any = nbformat.v4

FAILS = "raise ModuleNotFoundError(\"No module named 'flash_attn'\")"


class Notebook(unittest.TestCase):
    def test_jupyter(self) -> None:
        cells = ["%load_ext triage", FAILS, "import triage\ntriage.diagnose('step 1 loss 2.3\\n', live='off')", "1 +", "%unload_ext triage\n" + FAILS]
        notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
        NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
        first, failed, value, wrong, unloaded = (cell.outputs for cell in notebook.cells)
        self.assertEqual(first, [])
        self.assertEqual([output.output_type for output in failed], ["error", "display_data"])
        self.assertIn("No module named", failed[0].evalue)
        self.assertIn('<div class="triage"', failed[1].data["text/html"])
        self.assertIn("flash-attn", failed[1].data["text/plain"])
        self.assertIn("No failure found", value[0].data["text/html"])
        self.assertEqual(wrong[0].output_type, "error")
        self.assertEqual([output.output_type for output in unloaded], ["error"])

    def test_ipython(self) -> None:
        typed = f"import triage\ntriage.install()\n{FAILS}\nprint('goes on')\n"
        command = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor", "--quick"]
        done = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=60)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertLess(said.index("ModuleNotFoundError: "), said.index("confirmed[flash-attn"), said)
        self.assertIn("goes on", said)


if __name__ == "__main__":
    unittest.main()
