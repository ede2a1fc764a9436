"""install() in programs: what they print, and how they end."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

FAILS = "raise ModuleNotFoundError(\"No module named 'flash_attn'\")"
ANSWER = "confirmed"


def run(script: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Runs a script that begins with install()."""
    script = "import triage, sys\ntriage.install()\n" + textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env={**os.environ, "NO_COLOR": "1", **environment}
    )


class Uncaught(unittest.TestCase):
    def test_answer_stands_under_the_traceback(self) -> None:
        done = run(FAILS)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        traceback, answer = done.stderr.split("\n\n", 1)
        self.assertTrue(traceback.startswith("Traceback (most recent call last):"), done.stderr)
        self.assertTrue(traceback.endswith("No module named 'flash_attn'"), done.stderr)
        self.assertIn(ANSWER, answer)

    def test_installed_twice_answers_once(self) -> None:
        done = run("triage.install()\n" + FAILS)
        self.assertEqual(done.stderr.count(ANSWER), 1, done.stderr)

    def test_uninstalled(self) -> None:
        self.assertNotIn(ANSWER, run("triage.uninstall()\n" + FAILS).stderr)

    def test_notes_and_causes_stay(self) -> None:
        note = "\nerror.add_note('epoch 3')" if sys.version_info >= (3, 11) else ""
        done = run(
            f"""
            try:
                try:
                    1 / 0
                except ZeroDivisionError as cause:
                    {FAILS} from cause
            except ModuleNotFoundError as e:
                error = e{textwrap.indent(note, " " * 16)}
                raise
            """
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn(ANSWER, done.stderr)
        if note:
            self.assertIn("\nepoch 3\n", done.stderr)

    def test_a_hook_that_was_there_is_called(self) -> None:
        done = run(f"triage.uninstall()\nsys.excepthook = lambda *_: print('mine')\ntriage.install()\n{FAILS}")
        self.assertEqual((done.returncode, done.stdout), (1, "mine\n"))
        self.assertIn(ANSWER, done.stderr)

    def test_thread(self) -> None:
        done = run(f"import threading\ndef work():\n    {FAILS}\nt = threading.Thread(target=work)\nt.start()\nt.join()")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Exception in thread", done.stderr)
        self.assertIn(ANSWER, done.stderr)

    def test_exits_are_left_alone(self) -> None:
        for script, status in ("sys.exit(7)", 7), ("sys.exit('bye')", 1), ("raise KeyboardInterrupt", None), ("print('done')", 0):
            without = subprocess.run([sys.executable, "-c", "import sys\n" + script], capture_output=True, text=True, timeout=60)
            done = run(script)
            self.assertEqual(done.returncode, without.returncode, script)
            self.assertEqual(done.stderr.splitlines()[-1:], without.stderr.splitlines()[-1:], script)
            if status is not None:
                self.assertEqual(done.returncode, status)

    def test_a_failure_of_ours_is_one_line(self) -> None:
        done = run(FAILS, TRIAGE_PROGRAM="/nowhere/triage")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("Traceback"), 1, done.stderr)
        self.assertTrue(done.stderr.splitlines()[-1].startswith("triage: the program cannot be run"), done.stderr)

    def test_a_closed_stream(self) -> None:
        self.assertEqual(run("sys.stderr.close()\n" + FAILS).returncode, 1)
        self.assertEqual(run("sys.stderr = None\n" + FAILS).returncode, 1)


class Workers(unittest.TestCase):
    """A launcher starts four workers; two of them fail, the second one because of the first."""

    def test_only_the_first_that_fails_answers(self) -> None:
        worker = f"""
            import os, time
            rank = int(os.environ["RANK"])
            if rank == 2:
                time.sleep(0.5)
                {FAILS}
            if rank == 1:
                time.sleep(1.0)
                raise RuntimeError("Connection closed by peer")
        """
        with tempfile.TemporaryDirectory() as folder:
            launcher = Path(folder, "launcher.py")
            launcher.write_text(
                "import os, subprocess, sys\n"
                "script = sys.argv[1]\n"
                "run = [subprocess.Popen([sys.executable, '-c', script], env={**os.environ, 'RANK': str(r), 'WORLD_SIZE': '4'}, stderr=open(f'{r}', 'w')) for r in range(4)]\n"
                "print([w.wait() for w in run])\n"
            )
            script = "import triage\ntriage.install()\n" + textwrap.dedent(worker)
            done = subprocess.run(
                [sys.executable, str(launcher), script],
                capture_output=True, text=True, timeout=60, cwd=folder, env={**os.environ, "NO_COLOR": "1", "TMPDIR": folder},
            )
            self.assertEqual(done.stdout, "[0, 1, 1, 0]\n", done.stderr)
            said = [Path(folder, str(rank)).read_text() for rank in range(4)]
        self.assertEqual([said[0], said[3]], ["", ""])
        self.assertIn(ANSWER, said[2])
        self.assertTrue(said[1].endswith("RuntimeError: Connection closed by peer\n"), said[1])

    @unittest.skipIf(sys.platform == "win32", "where no signals are sent")
    def test_a_launcher_that_stops_all_workers_meanwhile(self) -> None:
        done = run("import os, signal\ntriage.uninstall()\n"
                   "sys.excepthook = lambda *a: (os.kill(os.getpid(), signal.SIGTERM), sys.__excepthook__(*a))\n"
                   f"triage.install()\n{FAILS}")
        self.assertEqual(done.returncode, 1, "the exit status is the exception's")
        self.assertIn(ANSWER, done.stderr)
        done = run(f"import atexit, os, signal, time\natexit.register(lambda: (os.kill(os.getpid(), signal.SIGTERM), time.sleep(9)))\n{FAILS}")
        self.assertEqual(done.returncode, 1, "also while Python ends")
        done = run(f"import os, signal\nsignal.signal(signal.SIGTERM, lambda *a: os._exit(9))\nimport atexit\natexit.register(os.kill, os.getpid(), signal.SIGTERM)\n{FAILS}")
        self.assertEqual(done.returncode, 9, "the program's own handler stays")


if __name__ == "__main__":
    unittest.main()
