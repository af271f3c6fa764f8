"""All of it as one HTML page that needs nothing else: no script, no font, no image."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from html import escape

from dpsql.ledger.refusal import Refusal
from dpsql.report.budget import Allowance, Budget
from dpsql.report.budget_history import Point, Record, Share, spend_by
from dpsql.report.html.page import whole_page
from dpsql.report.local_epsilon import local_epsilon_lines
from dpsql.report.terminal.sanitize import sanitize
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import to_ledger_currency

_MAX_STATEMENTS = 20
_LATEST = 200
_WIDTH, _HEIGHT = 720, 160


def page(
    schema: Schema,
    budget: Budget,
    records: Sequence[Record],
    points: Sequence[Point],
    refusals: Sequence[Refusal],
    now: datetime,
) -> str:
    """What is left, the burn-down, what each analyst and statement took, refusals, entries."""
    cap = to_ledger_currency(schema, schema.budget.epsilon)
    by_analyst = spend_by(schema, cap, ((r.analyst, r) for r in records), len(records))
    statements = ((" ".join(r.statement.split()), r) for r in records)
    by_statement = spend_by(schema, cap, statements, _MAX_STATEMENTS)
    title = f"Privacy budget of {_text(schema.ledger_name)}"
    parts = [
        f"<h1>{title}</h1>",
        f"<p>as of {now:%Y-%m-%d %H:%M} UTC</p>",
        _balance(budget),
        *(f"<p>{_text(line)}</p>" for line in local_epsilon_lines(schema)),
        "<h2>What was left over time</h2>",
        _burn_down(points, now),
        "<h2>Spent by analyst</h2>",
        _shares("analyst", by_analyst),
        "<h2>Spent by query</h2>",
        _shares("statement", by_statement),
        "<h2>Refusals</h2>",
        _refusals(refusals),
        f"<h2>The latest {min(_LATEST, len(records))} of {len(records)} entries</h2>",
        _entries(records[-_LATEST:]),
    ]
    body = "\n".join(parts)
    return whole_page(title, body, _STYLE)


def _balance(budget: Budget) -> str:
    rows = [("the dataset, all analysts together", budget.dataset)]
    if budget.own.epsilon_cap is not None:
        rows.append((f"analyst {budget.analyst}", budget.own))
    lines = [_row("th", ["budget of", "ε spent", "ε left", "ε cap", "δ spent", "δ cap"])]
    lines += [_row("td", [name, *_amounts(found)]) for name, found in rows]
    note = f"Accounting: {budget.accounting}."
    if budget.accounting == "zcdp":
        note += " Losses add up as ρ, so what is spent and what is left don't sum to the cap."
    enough = f"Enough for {budget.queries_left} more queries at ε = {_digits(budget.epsilon)}."
    return f"{_table(lines)}\n<p>{enough} {note}</p>"


def _amounts(allowance: Allowance) -> list[str]:
    epsilons = (allowance.epsilon_spent, allowance.epsilon_left, allowance.epsilon_cap)
    return [*map(_digits, epsilons), _digits(allowance.delta_spent), _digits(allowance.delta_cap)]


def _burn_down(points: Sequence[Point], now: datetime) -> str:
    if not points:
        return "<p>Nothing was charged yet.</p>"
    start, end = points[0].at, max(now, points[-1].at)
    span = (end - start).total_seconds() or 1.0
    steps = [f"M0 {_y(points[0]):.1f}"]
    for point in points[1:]:
        steps.append(f"H{_WIDTH * (point.at - start).total_seconds() / span:.1f}")
        steps.append(f"V{_y(point):.1f}")
    steps.append(f"H{_WIDTH}")
    line = " ".join(steps)
    left = float(points[-1].left)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{left:.1%} of the budget is left">'
        f'<path class="area" d="{line} V{_HEIGHT} H0 Z"/><path class="line" d="{line}"/></svg>'
        f"<p>{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC; {left:.1%} is left.</p>"
    )


def _y(point: Point) -> float:
    return _HEIGHT * (1 - float(point.left))


def _shares(name: str, shares: Sequence[Share]) -> str:
    if not shares:
        return "<p>Nobody spent anything.</p>"
    lines = [_row("th", [name, "charges", "ε together", "of the budget"])]
    for share in shares:
        percent = 100 * float(share.share)
        bar = f'<span class="bar" style="width:{min(100.0, percent):.1f}%"></span>{percent:.1f} %'
        cells = [share.name, str(share.times), f"{float(share.epsilon):.4g}"]
        lines.append(_row("td", cells, bar))
    return _table(lines)


def _refusals(refusals: Sequence[Refusal]) -> str:
    if not refusals:
        return "<p>Nothing was refused.</p>"
    lines = [_row("th", ["last", "analyst", "times", "SQLSTATE", "why", "statement"])]
    for refusal in reversed(refusals):
        cells = [_time(refusal.last), refusal.analyst, str(refusal.count), refusal.sqlstate]
        lines.append(_row("td", [*cells, refusal.message, refusal.query]))
    return _table(lines)


def _entries(records: Sequence[Record]) -> str:
    lines = [_row("th", ["entry", "at", "analyst", "ε", "outcome", "statement"])]
    for record in reversed(records):
        epsilon = f"{float(record.epsilon):.4g}" if record.analyst else ""
        cells = [str(record.entry), _time(record.at), record.analyst, epsilon, record.outcome]
        lines.append(_row("td", [*cells, record.statement]))
    return _table(lines)


def _table(lines: Sequence[str]) -> str:
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _row(kind: str, cells: Sequence[str], last: str = "") -> str:
    """Cells of text, and one that is HTML already."""
    inside = "".join(f"<{kind}>{_text(cell)}</{kind}>" for cell in cells)
    return f"<tr>{inside}{f'<td>{last}</td>' if last else ''}</tr>"


def _text(text: str) -> str:
    return escape(sanitize(text))


def _digits(number: Decimal | None) -> str:
    return "no limit" if number is None else f"{float(number):g}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


_STYLE = """
:root { --line: #1769aa; --area: #1769aa33; }
td { overflow-wrap: anywhere; }
svg { width: 100%; border-bottom: 1px solid var(--rule); border-left: 1px solid var(--rule); }
.area { fill: var(--area); } .line { fill: none; stroke: var(--line); stroke-width: 2; }
.bar { display: inline-block; height: .7em; margin-right: .4em; background: var(--line); }
"""
