"""Says why a training job failed, from its log or its traceback, and what to do about it.

>>> import triage
>>> triage.install()                        # the answer under every uncaught traceback
>>> report = triage.diagnose("train.log")   # a path, the text of a log, or an exception
"""

from importlib import metadata as _metadata

from ._ask import diagnose
from ._program import TriageError
from ._report import (
    Backend,
    BackendRule,
    Consequence,
    Diagnosis,
    Evidence,
    FactValue,
    Fix,
    Missing,
    Report,
    Stats,
)
from ._uncaught import install, load_ipython_extension, uninstall, unload_ipython_extension

__all__ = [
    "Backend",
    "BackendRule",
    "Consequence",
    "Diagnosis",
    "Evidence",
    "FactValue",
    "Fix",
    "Missing",
    "Report",
    "Stats",
    "TriageError",
    "diagnose",
    "install",
    "load_ipython_extension",
    "uninstall",
    "unload_ipython_extension",
]

try:
    __version__ = _metadata.version("gpu-triage")
except _metadata.PackageNotFoundError:  # run from its sources
    __version__ = "0"
