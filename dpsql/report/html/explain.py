"""EXPLAIN PRIVACY as HTML: a fragment with its own few styles, for notebooks and web consoles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from dpsql.report.explain_text import HIDDEN, noise, price, threshold
from dpsql.session.explain.report import OperatorLine, PrivacyReport, ReleaseReport

_STYLE: Final = """<style>
.dpsql-proof{font:14px/1.45 system-ui,sans-serif;max-width:70em}
.dpsql-proof h4{margin:1em 0 .3em}
.dpsql-proof table{border-collapse:collapse}
.dpsql-proof td{padding:0 1.5em 0 0;text-align:left;font-family:ui-monospace,monospace}
.dpsql-proof td+td,.dpsql-proof small{opacity:.65}
.dpsql-proof ul{margin:.2em 0;padding-left:1.4em}
.dpsql-proof pre{white-space:pre-wrap;margin:.3em 0}
.dpsql-proof .cost{border-left:4px solid currentColor;padding-left:.8em;margin:1em 0}
</style>"""


def page(report: PrivacyReport) -> str:
    """The fragment; nothing in it acts, and names from the statement are escaped."""
    return "\n".join(["<div class='dpsql-proof'>", _STYLE, *_body(report), "</div>"])


def _body(report: PrivacyReport) -> Iterator[str]:
    yield from _table(report.operators)
    for release in report.releases:
        yield from _release(release)
    if report.totals:
        yield "<h4>totals</h4>"
        yield from _list(map(escape, report.totals))
    yield (
        "<div class='cost'>" + "<br>".join(escape(line) for line in price(report.price)) + "</div>"
    )
    if report.advice:
        yield "<h4>to get less noise for it</h4>"
        yield from _list(map(escape, report.advice))
    if report.releases:
        yield from _sql("the answer, of what was released", report.finish)


def _release(release: ReleaseReport) -> Iterator[str]:
    yield f"<h4>{escape(release.name)}</h4>"
    yield from _table(release.operators)
    yield "<h4>limits</h4>"
    yield from _list(map(escape, release.limits))
    yield "<h4>sensitivity <small>what one unit changes in a group</small></h4>"
    yield from _list(
        "".join([escape(line.claim), *(f"<br><small>{escape(o)}</small>" for o in line.origins)])
        for line in release.sensitivities
    )
    yield "<h4>noise</h4>"
    lines = [noise(column) for column in release.noise]
    if release.threshold is not None:
        lines.append(threshold(release.threshold))
    yield from _list(map(escape, lines))
    yield from _sql("what the engine runs", release.sql)


def _table(lines: tuple[OperatorLine, ...]) -> Iterator[str]:
    yield "<table>"
    for line in lines:
        indent = f"padding-left:{2 * line.depth}ch"
        yield f"<tr><td style='{indent}'>{escape(line.operator)}</td>"
        yield f"<td>{escape(line.distance)}</td></tr>"
    yield "</table>"


def _list(items: Iterable[str]) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{item}</li>" for item in items)
    yield "</ul>"


def _sql(title: str, sql: str) -> Iterator[str]:
    yield f"<details><summary>{escape(title)}</summary><pre>{escape(sql or HIDDEN)}</pre></details>"
