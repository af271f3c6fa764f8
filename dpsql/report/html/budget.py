"""The spent and the remaining budget as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct

from dpsql.ledger.refusal import Refusal
from dpsql.report.budget import Allowance, Budget, with_delta
from dpsql.report.budget_history import Point, Record, spend_by
from dpsql.report.html.template import render
from dpsql.report.local_epsilon import local_epsilon_lines
from dpsql.report.sample_budget import sample_lines
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import to_ledger_currency

_MAX_STATEMENTS = 20
_LATEST = 200
_WIDTH, _HEIGHT = 720, 160


class BurnDown(Struct, frozen=True):
    """The path of the burn-down line in an SVG box of `width` × `height` pixels, and its labels."""

    line: str
    left: str
    start: str
    end: str
    width: int = _WIDTH
    height: int = _HEIGHT


def page(
    schema: Schema,
    budget: Budget,
    records: Sequence[Record],
    points: Sequence[Point],
    refusals: Sequence[Refusal],
    now: datetime,
) -> str:
    """The page: balances, burn-down, sums by analyst and by statement, refusals, entries."""
    cap = to_ledger_currency(schema, schema.budget.epsilon)
    by_analyst = spend_by(schema, cap, ((r.analyst, r) for r in records), len(records))
    statements = ((" ".join(r.statement.split()), r) for r in records)
    by_statement = spend_by(schema, cap, statements, _MAX_STATEMENTS)
    return render(
        "budget.html.j2",
        title=f"Privacy budget of {schema.ledger_name}",
        now=_time(now),
        balance=list(_balance(budget)),
        enough=_enough(budget),
        beside=[
            *sample_lines(schema, Fraction(budget.dataset.epsilon_spent)),
            *local_epsilon_lines(schema),
        ],
        burn_down=_burn_down(points, now) if points else None,
        spent=[
            ("Spent by analyst", "analyst", by_analyst),
            ("Spent by query", "statement", by_statement),
        ],
        refusals=[
            (_time(r.last), r.analyst, r.count, r.sqlstate, r.message, r.query)
            for r in reversed(refusals)
        ],
        entries=[
            (r.entry, _time(r.at), r.analyst, _epsilon(r), r.outcome, r.statement)
            for r in reversed(records[-_LATEST:])
        ],
        all_entries=len(records),
    )


def _balance(budget: Budget) -> Iterator[tuple[str, ...]]:
    yield "the dataset, all analysts together", *_amounts(budget.dataset)
    if budget.own.epsilon_cap is not None:
        yield f"analyst {budget.analyst}", *_amounts(budget.own)


def _amounts(allowance: Allowance) -> Iterator[str]:
    yield from map(
        _digits, (allowance.epsilon_spent, allowance.epsilon_left, allowance.epsilon_cap)
    )
    yield from map(_digits, (allowance.delta_spent, allowance.delta_cap))


def _enough(budget: Budget) -> str:
    text = f"Enough for {budget.queries_left} more queries at ε = {_digits(budget.epsilon)}"
    text += f"{with_delta(budget)}."
    text += f" Accounting: {budget.accounting}."
    unit = {"zcdp": "ρ", "gdp": "μ²"}.get(budget.accounting)
    if unit is not None:
        text += f" Losses add up as {unit}, so what is spent and what is left don't sum to the cap."
    return text


def _burn_down(points: Sequence[Point], now: datetime) -> BurnDown:
    start, end = points[0].at, max(now, points[-1].at)
    span = (end - start).total_seconds() or 1.0
    steps = [f"M0 {_y(points[0]):.1f}"]
    for point in points[1:]:
        steps.append(f"H{_WIDTH * (point.at - start).total_seconds() / span:.1f}")
        steps.append(f"V{_y(point):.1f}")
    line = " ".join([*steps, f"H{_WIDTH}"])
    return BurnDown(line, f"{float(points[-1].left):.1%}", _time(start), _time(end))


def _y(point: Point) -> float:
    return _HEIGHT * (1 - float(point.left))


def _epsilon(record: Record) -> str:
    return f"{float(record.epsilon):.4g}" if record.analyst else ""


def _digits(number: Decimal | None) -> str:
    return "no limit" if number is None else f"{float(number):g}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
