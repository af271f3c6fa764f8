"""Lengths of time between two moments, where they are measured or compared: no column holds one.

| written                               | computed                                     |
| ------------------------------------- | -------------------------------------------- |
| `extract(day FROM gone - came)`       | full days                                    |
| `extract(hour FROM gone - came)`      | full hours of the day that isn't full        |
| `epoch(gone - came)`                  | seconds                                      |
| `gone - came > INTERVAL 2 HOUR`       | microseconds on both sides                   |
| `extract(year FROM age(day, birth))`  | full years, as a calendar counts them        |
| `extract(month FROM age(day, birth))` | full months of the year that isn't full      |
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.expression.arithmetic import combined
from dpsql.bind.expression.binder import Binder
from dpsql.bind.expression.interval_literal import length
from dpsql.bind.expression.template import instantiate
from dpsql.bind.function.function_call import bind_call, registered
from dpsql.plan.duration import DAY
from dpsql.plan.expression import ArithmeticOperator, Expression, Literal
from dpsql.schema.sql_type import BIGINT, Date, Double, Timestamp, Varchar

_DAYS_OF_A_MONTH: Final = 30
"""DuckDB compares lengths of time as if a month had so many days."""

_FULL: Final = {"day": None, "hour": 24, "minute": 60, "second": 60}
"""Units, and how many of each are in the next longer one; None of the longest."""

_PARTS: Final = {"year", "month", "epoch", *_FULL}

_LONGEST: Final = 2**63 - 1
"""Microseconds: no two moments are farther apart."""

_MONTHS: Final = """
(year(later) * 12 + month(later)) - (year(earlier) * 12 + month(earlier)) - CASE
  WHEN later >= earlier
    AND date_diff('microsecond', date_trunc('month', later), later)
      < date_diff('microsecond', date_trunc('month', earlier), earlier) THEN 1
  WHEN later < earlier
    AND date_diff('microsecond', date_trunc('month', earlier), earlier)
      < date_diff('microsecond', date_trunc('month', later), later) THEN -1
  ELSE 0
END
"""
"""How many months are full between two moments, towards 0."""


class _Between(Struct, frozen=True):
    """From `earlier` to `later`; `by_calendar` in months and days, else in days and less."""

    later: exp.Expr
    earlier: exp.Expr
    by_calendar: bool


def time_difference(name: str, node: exp.Expr, call: exp.Expr, binder: Binder) -> Expression | None:
    """The function `name` of the length of time `node`; None if it isn't one, or has no rule."""
    difference = _between(node, binder) if name in _PARTS else None
    if difference is None:
        return None
    if difference.by_calendar:
        return _of_calendar(name, difference, binder)
    if name == "epoch":
        million = Literal(1_000_000, Double())
        microseconds = _units("microsecond", difference, call, binder)
        return combined(ArithmeticOperator.DIVIDE, microseconds, million, call)
    if name not in _FULL:
        return None
    units, of_next = _units(name, difference, call, binder), _FULL[name]
    if of_next is None:
        return units
    return bind_call(registered("%", call), (units, Literal(of_next, BIGINT)), call)


def microseconds(
    left: exp.Expr, right: exp.Expr, binder: Binder
) -> tuple[Expression, Expression] | None:
    """Two lengths of time in microseconds, for a comparison of one with a constant one.

    None if they aren't a difference of moments and a constant.
    """
    for node, other in ((left, right), (right, left)):
        constant = length(other)
        difference = None if constant is None else _between(node, binder)
        if (
            constant is None
            or constant.count is not None
            or difference is None
            or difference.by_calendar
        ):
            continue
        of = constant.duration
        meant = (of.months * _DAYS_OF_A_MONTH + of.days) * DAY + of.microseconds
        known = Literal(min(max(meant, -_LONGEST), _LONGEST), BIGINT)
        measured = _units("microsecond", difference, node, binder)
        return (measured, known) if node is left else (known, measured)
    return None


def _between(node: exp.Expr, binder: Binder) -> _Between | None:
    while isinstance(node, exp.Paren):
        node = node.this
    match node:
        case exp.Sub(this=later, expression=earlier) if length(earlier) is None:
            kinds = {binder.bind(later).type, binder.bind(earlier).type}
            # Of two days the difference is a number.
            is_length = Timestamp() in kinds and kinds <= {Date(), Timestamp()}
            return _Between(later, earlier, by_calendar=False) if is_length else None
        case exp.Anonymous(expressions=[later, earlier]) if node.name.lower() == "age":
            return _Between(later, earlier, by_calendar=True)
        case _:
            return None


def _units(unit: str, difference: _Between, call: exp.Expr, binder: Binder) -> Expression:
    """How many full `unit`s the `difference` has."""
    values = (
        Literal(unit, Varchar()),
        binder.bind(difference.earlier),
        binder.bind(difference.later),
    )
    name = "date_diff" if unit == "microsecond" else "date_sub"
    return bind_call(registered(name, call), values, call)


def _of_calendar(name: str, difference: _Between, binder: Binder) -> Expression | None:
    if name not in ("year", "month"):
        return None
    sides = {
        side: exp.cast(node.copy(), "TIMESTAMP")
        for side, node in (("later", difference.later), ("earlier", difference.earlier))
    }
    months = exp.paren(instantiate(_MONTHS, sides))
    twelve = exp.Literal.number(12)
    rest = exp.Mod(this=months, expression=twelve.copy())
    if name == "month":
        return binder.bind(rest)
    full = exp.paren(exp.Sub(this=months.copy(), expression=rest))
    return binder.bind(exp.IntDiv(this=full, expression=twelve))
