"""Where the program is, and how it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_FILE = "triage.exe" if sys.platform == "win32" else "triage"

# The program's exit statuses: 0 a cause was named, 1 none was. Everything else is a failure of the call.
_ANSWERED = (0, 1)


class TriageError(RuntimeError):
    """The program is missing, was called wrongly, or did not answer in time."""


def program() -> str:
    """The path of the program that came with this package, or else of the one in PATH. TRIAGE_PROGRAM names another."""
    named = os.environ.get("TRIAGE_PROGRAM")
    if named:
        return named
    for folder in _folders():
        if (folder / _FILE).is_file():
            return str(folder / _FILE)
    found = shutil.which(_FILE)
    if found is None:
        raise TriageError("the program is not installed; pip install --force-reinstall gpu-triage brings it back")
    return found


def _folders() -> Iterator[Path]:
    """Where installers put scripts: of this interpreter, of its user, and beside the package with --target or --prefix."""
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    package = Path(__file__).resolve().parent
    yield package.parent / "bin"
    if len(package.parents) > 3:
        yield package.parents[3] / ("Scripts" if sys.platform == "win32" else "bin")


def run(
    arguments: Sequence[str],
    stdin: bytes,
    *,
    timeout: float | None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """What the program prints."""
    try:
        done = subprocess.run(
            [program(), *arguments],
            input=stdin,
            capture_output=True,
            timeout=timeout,
            env=None if environment is None else dict(environment),
        )
    except subprocess.TimeoutExpired:
        raise TriageError(f"no answer within {timeout:g} seconds") from None
    except OSError as error:
        raise TriageError(f"the program cannot be run: {error}") from error
    if done.returncode not in _ANSWERED:
        said = done.stderr.decode(errors="replace").strip().removeprefix("triage: ")
        raise TriageError(said or f"the program ended with status {done.returncode}")
    return done.stdout.decode(errors="replace")
