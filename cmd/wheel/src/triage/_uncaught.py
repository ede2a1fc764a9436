"""The answer under every uncaught traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from . import _workers
from ._ask import diagnose
from ._report import Report

# A program that has failed should not keep its user, or the other workers of its job, waiting.
_TIMEOUT = 20.0

_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]
_before: tuple[_Hook, Callable[[threading.ExceptHookArgs], Any]] | None = None
_facts: dict[str, object] = {}
_shells: list[Any] = []


def install(*, facts: dict[str, object] | None = None) -> None:
    """Has the answer printed under the traceback of every uncaught exception, of threads too, and in IPython and Jupyter.

    The traceback is printed first, as it was before, by whatever hook was there. The exit status does not change, and an error in
    here is one line and no traceback. `facts` are what else is known, as for diagnose. Calling it again does nothing more.
    """
    global _before
    _facts.clear()
    _facts.update(facts or {})
    if _before is None:
        _before = (sys.excepthook, threading.excepthook)
        sys.excepthook, threading.excepthook = _uncaught, _uncaught_in_thread
    shell = _shell()
    if shell is not None and shell not in _shells:
        shell.events.register("post_run_cell", _after_cell)
        _shells.append(shell)


def uninstall() -> None:
    """Undoes install, unless somebody else has put a hook of theirs in front since."""
    global _before
    if _before is not None and sys.excepthook is _uncaught and threading.excepthook is _uncaught_in_thread:
        sys.excepthook, threading.excepthook = _before
        _before = None
    for shell in _shells:
        with contextlib.suppress(ValueError):
            shell.events.unregister("post_run_cell", _after_cell)
    _shells.clear()


def load_ipython_extension(shell: Any) -> None:
    """%load_ext triage"""
    install()


def unload_ipython_extension(shell: Any) -> None:
    """%unload_ext triage"""
    uninstall()


def _shell() -> Any:
    """The IPython that this runs in, or None. It is not imported for that."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    hook = _before[0] if _before is not None else sys.__excepthook__
    claimed = _asked(error) and _workers.first()  # before anything else: the next worker may fail while this one prints
    with _undisturbed() if claimed else contextlib.nullcontext():
        hook(kind, error, trace)
        if claimed:
            _say(error)


def _uncaught_in_thread(arguments: threading.ExceptHookArgs) -> None:
    hook = _before[1] if _before is not None else threading.__excepthook__
    hook(arguments)
    if arguments.exc_value is not None and _asked(arguments.exc_value) and _workers.first():
        _say(arguments.exc_value)


def _asked(error: BaseException) -> bool:
    """Whether somebody wants to know why: not of Ctrl-C, and not of an exit."""
    return not isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit))


def _after_cell(result: Any) -> None:
    """Shows the answer under the traceback of a notebook's cell, as HTML where the front end can."""
    error = result.error_in_exec or result.error_before_exec
    if error is None or not _asked(error):
        return
    report = _report(error)
    if report is not None and report.diagnoses:
        from IPython.display import display

        display(report)  # type: ignore[no-untyped-call, unused-ignore]


def _say(error: BaseException) -> None:
    """Prints the answer where the traceback was printed."""
    report = _report(error)
    if report is None or not report.diagnoses or sys.stderr is None:
        return
    with contextlib.suppress(Exception, KeyboardInterrupt):  # a closed or full stream is no reason to say more
        sys.stderr.write("\n" + report.text("--color=always" if _coloured() else "--color=never"))
        sys.stderr.flush()


def _coloured() -> bool:
    """Whether there is a terminal that shows colours, and https://no-color.org does not forbid them."""
    shows = "WT_SESSION" in os.environ if sys.platform == "win32" else os.environ.get("TERM") != "dumb"
    return shows and sys.stderr.isatty() and not os.environ.get("NO_COLOR")


def _report(error: BaseException) -> Report | None:
    try:
        return diagnose(error, facts=_facts, timeout=_TIMEOUT)
    except (Exception, KeyboardInterrupt) as trouble:
        with contextlib.suppress(Exception):
            print(f"triage: {trouble}", file=sys.stderr)
        return None


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Lets the process end as it would without the answer, which takes a moment: with the exit status of the exception, although its
    launcher may send SIGTERM meanwhile because another worker has failed too."""
    before = signal.getsignal(signal.SIGTERM)
    if before is None or threading.current_thread() is not threading.main_thread():  # it could not be set back, or not be set
        yield
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        yield
    finally:
        ending = before == signal.SIG_DFL and not (sys.flags.interactive or hasattr(sys, "ps1"))
        signal.signal(signal.SIGTERM, _end if ending else before)


def _end(*_: object) -> None:
    """Ends at once, as SIGTERM does, and as Python ends after an uncaught exception."""
    os._exit(1)
