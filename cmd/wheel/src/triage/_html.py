"""The answer as a block of HTML, for notebooks. Everything in it is escaped: what a report quotes is a stranger's text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._report import Diagnosis, Fix, Report

_BOX = "border-left:4px solid {colour};padding:.2em 1em;margin:.5em 0;line-height:1.4;overflow-wrap:anywhere"
_CODE = "white-space:pre-wrap;margin:.3em 0;padding:.4em .6em;background:rgba(127,127,127,.12);font-size:90%"
_COLOURS = {"confirmed": "#c62828", "likely": "#b26a00", "unexplained": "#607d8b"}  # read on light and dark


def block(report: Report) -> str:
    """The root cause, the line that shows it, the cause and the fixes."""
    root = report.root
    if root is None:
        return f"<div>No failure found in {report.stats.lines} lines.</div>"
    colour = _COLOURS.get(root.certainty, _COLOURS["unexplained"])
    parts = [f'<b style="color:{colour}">{escape(root.certainty)}</b> <b>{escape(root.title)}</b>{_rank(root)}']
    if root.evidence:
        parts.append(_code(root.evidence[0].text))
    parts += [f"<div>{escape(paragraph)}</div>" for paragraph in root.cause.split("\n\n") if paragraph]
    if root.fixes:
        parts.append("<b>fix</b><ol style='margin:.2em 0'>" + "".join(map(_fix, root.fixes)) + "</ol>")
    if root.missing:
        parts.append("<b>not known, and it would decide</b>")
        parts += [f"<div>{escape(m.name)}{_code(m.how)}</div>" for m in root.missing]
    made = f"<small>triage {escape(report.program)}, knowledge {escape(report.knowledge)}, {escape(root.id)}{_wrong(report.wrong)}</small>"
    return f'<div class="triage" style="{_BOX.format(colour=colour)}">' + "".join([*parts, made]) + "</div>"


def _wrong(link: str) -> str:
    return f' · <a href="{escape(link)}" target="_blank" rel="noopener">Wrong?</a>' if link.startswith("https://") else ""


def _rank(root: Diagnosis) -> str:
    return "" if root.rank is None else f" <small>rank {root.rank}</small>"


def _fix(fix: Fix) -> str:
    return f"<li>{escape(fix.do)}" + "".join(map(_code, fix.run)) + "</li>"


def _code(text: str) -> str:
    return f'<pre style="{_CODE}">{escape(text)}</pre>'
