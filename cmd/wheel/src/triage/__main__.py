"""Runs the program: `python -m triage train.log`, and what uvx calls."""

import os
import subprocess
import sys

from ._program import TriageError, program


def main() -> None:
    """Becomes the program, so that its streams and its exit status are the program's own."""
    try:
        path = program()
    except TriageError as error:
        sys.exit(f"triage: {error}")
    command = [path, *sys.argv[1:]]
    if sys.platform == "win32":  # where a process cannot become another
        sys.exit(subprocess.call(command))
    os.execv(path, command)


if __name__ == "__main__":
    main()
