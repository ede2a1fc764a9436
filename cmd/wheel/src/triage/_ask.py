"""Asking the program."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from . import _program
from ._report import Report

# Of a longer traceback the end is asked about, which holds the exception that was raised last.
_MAX_TRACEBACK = 4 << 20


def diagnose(
    what: str | os.PathLike[str] | BaseException,
    *,
    facts: Mapping[str, object] | None = None,
    rules: Iterable[str | os.PathLike[str]] = (),
    live: Literal["auto", "on", "off"] | None = None,
    timeout: float | None = 300,
) -> Report:
    """Says why something failed.

    `what` is a path of a log or of a folder of logs, the text of a log, or an exception. A string of one line is a path when there is
    such a file, or when it has no blank; `pathlib.Path` is always a path. `facts` are what else is known, by the names that
    `triage facts` uses; None says that something is not installed or not set. `rules` are folders of signatures of your own. `live`
    says whether this machine is asked about its GPUs and packages; of an exception, which happened here, it is.

    Raises FileNotFoundError for a path that is not there, and TriageError when the program fails or does not answer in time.
    """
    exception = isinstance(what, BaseException)
    arguments = ["--format", "json", "--live", live or ("on" if exception else "auto")]
    for name, value in (facts or {}).items():
        arguments += ["--fact", f"{name}={_written(value)}"]
    for folder in rules:
        arguments += ["--rules", os.fspath(folder)]
    path, text = _source(what)
    answer = _program.run(
        [*arguments, "--", path or "-"],
        text.encode(errors="replace"),
        timeout=timeout,
        environment=_environment() if exception else None,
    )
    return Report.from_json(answer)


def _source(what: str | os.PathLike[str] | BaseException) -> tuple[str, str]:
    """A path, or else a text."""
    if isinstance(what, BaseException):
        return "", "".join(traceback.format_exception(what))[-_MAX_TRACEBACK:]
    if isinstance(what, str) and (not what.strip() or "\n" in what):
        return "", what
    path = os.fspath(what)
    if not isinstance(path, str):
        raise TypeError(f"diagnose takes a path, a text or an exception, not {type(what).__name__}")
    there = len(path) < 4096 and "\0" not in path and Path(path).exists()
    if isinstance(what, str) and not there and " " in what:
        return "", what
    if not there:
        raise FileNotFoundError(f"{path[:200]}: no such file or folder")
    return path, ""


def _written(value: object) -> str:
    """A fact as --fact takes it."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _environment() -> dict[str, Any]:
    """The environment with this interpreter first, so that the program looks at the packages that it has."""
    scripts = os.path.dirname(sys.executable) or sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)])
    virtual = {"VIRTUAL_ENV": sys.prefix} if sys.prefix != sys.base_prefix else {}
    return {**os.environ, **virtual, "PATH": path}
