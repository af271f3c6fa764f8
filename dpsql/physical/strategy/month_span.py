"""Units with many rows in few months have many in one of them.

A unit with more than 12 rows in the three months of

WHERE day >= '1996-01-01' AND day < '1996-04-01'

has more than 4 in one: 4 in each are no more than 12. A sidecar says beside each row how many its
unit has in the row's month, of all that the table has, so that the statement's are no more. None of
the others' rows have to be counted.

How many months there are is told by comparisons of the statement itself, which each row meets.
What a schema declares of days isn't asked: a row beyond it would be of another month.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.engine.sidecar.row_columns import COUNT_CAP, value_count_column
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE
from dpsql.physical.sidecar_rows import SidecarRows
from dpsql.plan.expression import Column, Compare, Comparison, Expression, Literal, conjuncts
from dpsql.plan.operator import Filter, Plan
from dpsql.schema.sidecar_columns import month_count_columns, month_of


class MonthSpan(Struct, frozen=True):
    """All rows are of so many `months`; `rows` is how many of a row's own its unit has."""

    rows: Column
    months: int

    def month_limit(self, max_rows: int) -> int:
        """How many rows a unit may have in each month, and no more than `max_rows` in all."""
        return max_rows // self.months


def month_span(rows: SidecarRows, number: int, max_rows: int) -> MonthSpan | None:
    """The months of `rows`, whose stored column gets this `number`; None if none are worth it.

    They are where by the schema no unit has more than the `month_limit` of `max_rows`.
    """
    table = rows.row_source.scan.table
    counted = () if rows.is_on_server else month_count_columns(table)
    for column, own in rows.row_source.columns.items():
        months = _months(rows.contributions.source, column) if own.name in counted else None
        if months is not None and max_rows < COUNT_CAP:
            name = value_count_column(month_of(own.name))
            span = MonthSpan(Column(number, name, COUNT_TYPE), months)
            if span.month_limit(max_rows) >= _rows_of_a_month(rows, own):
                return span
    return None


def _rows_of_a_month(rows: SidecarRows, day: Column) -> Fraction:
    """How many rows of a month a unit is taken to have at most, as often in each that may be."""
    limit = highest_fanout_table(rows.contributions).limits.rows
    match rows.row_source.scan.table.columns[day.name].bounds:
        case (dt.date() as first, dt.date() as last):
            return Fraction(limit, _month(last) - _month(first) + 1)
        case _:
            return Fraction(limit)


def _months(plan: Plan, day: Column) -> int | None:
    """How many months there are between those that rows are compared with; None if any number."""
    first, last = None, None
    for condition in _conditions(plan):
        match condition:
            case Compare(op=op, left=left, right=Literal(value=dt.date() as value)) if (
                left == day and not isinstance(value, dt.datetime)
            ):
                month = _month(value)
                if op in {Comparison.GREATER, Comparison.GREATER_EQUAL, Comparison.EQUAL}:
                    first = month if first is None else max(first, month)
                if op in {Comparison.LESS, Comparison.LESS_EQUAL, Comparison.EQUAL}:
                    month -= op is Comparison.LESS and value.day == 1
                    last = month if last is None else min(last, month)
            case _:
                pass
    if first is None or last is None or first > last:
        return None
    return last - first + 1


def _conditions(plan: Plan) -> Iterator[Expression]:
    """What all rows of `plan` meet."""
    while isinstance(plan, Filter):
        yield from conjuncts(plan.predicate)
        plan = plan.source


def _month(day: dt.date) -> int:
    return 12 * day.year + day.month
