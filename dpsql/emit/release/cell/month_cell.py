"""The cell of a row by the month of a day, counted in place of looked up.

date_trunc('month', day), of the months from 1992-01 to 1998-12

12·year(day) + month(day) - 1 - 12·1992 is the cell's number, if it is one from 0 to 83

An engine finds the year and the month of a day in a fifth of the time that it takes to find the
month's first moment, and neither is joined to a list of 84.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer, month_number, quotient, scalar
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.duration import UNITS
from dpsql.plan.expression import (
    Arithmetic,
    ArithmeticOperator,
    Call,
    Column,
    Expression,
    Literal,
)
from dpsql.schema.sql_type import BIGINT, Date


def month_cell(key: Expression, cells: Sequence[Cell]) -> exp.Expr | None:
    """The index in `cells` of a row's `key`, NULL if it has none.

    None where `key` isn't a day's month, quarter or year, or `cells` aren't all between two.
    """
    match key:
        case Call(function="date_trunc", arguments=(Literal(value=str(name)), Column() as day)):
            unit = UNITS.get(name)
        case _:
            return None
    if not isinstance(day.type, Date) or unit is None or not unit.months:
        return None
    values = [value for (value,) in cells]
    first = values.index(None) + 1 if values[:1] == [None] else 0
    listed = values[first:-1] if values[-1:] == [None] else values[first:]
    months = [_months(value) for value in listed if isinstance(value, dt.datetime)]
    if not months or len(months) < len(listed):
        return None
    # None between two others is left out, and each is known by its first moment.
    if months != list(range(months[0], months[0] + len(months) * unit.size, unit.size)):
        return None
    if (months[0] - 1) % unit.size or listed != [_first_moment(total) for total in months]:
        return None
    # A month before the first one is none: a quotient would round it up to the first cell.
    passed = exp.Paren(this=exp.Sub(this=_month_number(day), expression=integer(months[0])))
    number = passed if unit.size == 1 else quotient(passed, integer(unit.size))
    if first:
        number = exp.Add(this=number, expression=integer(first))
    last = integer(len(months) * unit.size - 1)
    is_listed = exp.Between(this=passed.copy(), low=integer(0), high=last)
    case = exp.case().when(is_listed, number.copy(), copy=False)
    if len(listed) < len(cells):
        # An infinite day has no year, and isn't NULL: it is in no cell.
        is_null = exp.Is(this=scalar(key), expression=exp.null())
        case = case.when(is_null, integer(0 if first else len(months)), copy=False)
    return case


def _month_number(day: Column) -> exp.Expr:
    """12·year + month."""
    year, month = (Call(part, (day,), BIGINT) for part in ("year", "month"))
    months = Arithmetic(ArithmeticOperator.MULTIPLY, year, Literal(12, BIGINT), BIGINT)
    return month_number(day, Arithmetic(ArithmeticOperator.ADD, months, month, BIGINT))


def _months(moment: dt.datetime) -> int:
    """12·year + month."""
    return 12 * moment.year + moment.month


def _first_moment(months: int) -> dt.datetime:
    """The first moment of the month that has so many `months`, as `_months` counts them."""
    year, month = divmod(months - 1, 12)
    return dt.datetime(year, month + 1, 1)  # noqa: DTZ001 - days have no zone
