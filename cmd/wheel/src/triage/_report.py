"""The answer in Python's types. The fields are those of the JSON report, which `triage schema` describes."""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from . import _html, _program

Certainty = Literal["confirmed", "likely", "unexplained"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Evidence:
    """A line of a log. `line` counts from 1."""

    source: str = ""
    line: int = 0
    rank: int | None = None
    text: str = ""


@dataclass(frozen=True)
class FactValue:
    """Something known of the situation. A value of None is known to be absent; `source` is user, log or live."""

    name: str = ""
    value: Any = None
    source: str = ""
    where: str = ""


@dataclass(frozen=True)
class Missing:
    """A fact that would decide, and the command that tells it."""

    name: str = ""
    why: str = ""
    how: str = ""


@dataclass(frozen=True)
class BackendRule:
    """A rule that disables a backend, or may."""

    id: str = ""
    because: str = ""
    source: str = ""


@dataclass(frozen=True)
class Backend:
    """What the backend rules say of one implementation: allowed, disabled or unknown."""

    name: str = ""
    verdict: str = ""
    rules: tuple[BackendRule, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fix:
    """Something to do: in words, as commands, and as the facts that it changes. `kind` says what the commands are written in: sh, python,
    flag, config or text; `kinds` has one for each where they differ. `verified`: the backend rules say yes after it."""

    do: str = ""
    run: tuple[str, ...] = ()
    kind: str = ""
    kinds: tuple[str, ...] = ()
    set: dict[str, Any] = field(default_factory=dict)
    verified: bool = False
    effect: str = ""
    loses: str = ""
    cost: int = 0


@dataclass(frozen=True)
class Consequence:
    """A later failure that the diagnosis explains."""

    title: str = ""
    line: int = 0
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """One thing that went wrong: why, how sure that is, and what helps."""

    id: str = ""
    title: str = ""
    cause: str = ""
    certainty: Certainty = "unexplained"
    rank: int | None = None
    ranks: tuple[int, ...] = ()
    count: int = 0
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[FactValue, ...] = ()
    missing: tuple[Missing, ...] = ()
    backends: tuple[Backend, ...] = ()
    fixes: tuple[Fix, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stats:
    """How much was read."""

    bytes: int = 0
    lines: int = 0
    truncated_lines: int = 0
    elapsed_ms: int = 0
    incomplete: bool = False


@dataclass(frozen=True)
class Report:
    """An answer. As a string it is what the program prints; in a notebook it is a block of HTML."""

    schema: str = ""
    program: str = ""
    knowledge: str = ""
    diagnoses: tuple[Diagnosis, ...] = ()
    facts: tuple[FactValue, ...] = ()
    notes: tuple[str, ...] = ()
    stats: Stats = Stats()
    wrong: str = ""
    """A link to an issue that says that this answer is wrong, prefilled; nothing is sent until somebody does."""

    json: str = field(default="", repr=False, compare=False)
    """The report as the program wrote it, with what this version of the package has no field for."""

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Reads what `triage --format json` printed."""
        try:
            decoded = json.loads(text)
        except ValueError as error:
            raise _program.TriageError(f"this is no JSON report: {error}") from error
        if not isinstance(decoded, dict) or not str(decoded.get("schema", "")).startswith("triage.report/"):
            raise _program.TriageError("this is no JSON report; triage --format json makes them")
        report: Report = dataclasses.replace(_typed(cls, decoded), json=text)
        return report

    @property
    def root(self) -> Diagnosis | None:
        """The root cause, or None when nothing failed."""
        return self.diagnoses[0] if self.diagnoses else None

    @property
    def explained(self) -> bool:
        """Whether a cause is named."""
        return self.root is not None and self.root.certainty != "unexplained"

    def text(self, *arguments: str) -> str:
        """The report as the program prints it, with more of its flags, such as "-v" or "--color=always"."""
        return self._as("text", *arguments)

    def markdown(self) -> str:
        """The report as GitHub's Markdown."""
        return self._as("markdown")

    def _as(self, form: str, *arguments: str) -> str:
        return _program.run(["merge", "--format", form, *arguments, "-"], self.json.encode(), timeout=60)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return _html.block(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text().rstrip("\n"))


@functools.cache
def _fields(cls: type[Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _typed(hint: Any, value: Any) -> Any:
    """Makes of decoded JSON what a field of that type holds. Members that the type does not have are left out."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, dict):
        known = _fields(hint)
        return hint(**{name: _typed(known[name], v) for name, v in value.items() if name in known and name != "json"})
    if typing.get_origin(hint) is tuple:
        return tuple(_typed(typing.get_args(hint)[0], v) for v in value or ())
    if isinstance(hint, types.UnionType):
        return None if value is None else _typed(typing.get_args(hint)[0], value)
    return value
