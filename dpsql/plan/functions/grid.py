"""Moments on a grid: truncated to a unit or to a bucket; what depends on the grid point alone."""

from __future__ import annotations

import datetime as dt
import re

from dpsql.plan.duration import DAY, UNITS, Duration, Unit
from dpsql.plan.expression import Call, Expression, Literal
from dpsql.plan.functions.bound import MOST_VALUES, ends, monotone, perhaps
from dpsql.plan.functions.function import Application, Function, Rule, Signature, Total
from dpsql.plan.functions.signature import first, fixed, times
from dpsql.privacy.domain import Domain, Value, of_values
from dpsql.schema.type import Date, Interval, Timestamp, Varchar

MOST_MOMENTS = 1_000_000
"""Grids of more points are known by their ends only."""

_TRUNCATED = first(
    fixed(Varchar(), Date(), gives=Timestamp()), fixed(Varchar(), Timestamp(), gives=Timestamp())
)


def _is_unit(arguments: tuple[Expression, ...]) -> bool:
    unit = arguments[0]
    return isinstance(unit, Literal) and unit.value in UNITS


def _truncated(found: Application) -> Domain:
    """Every step of the unit from the first moment's to the last one's."""
    (unit,) = found.domains[0].values or (None,)
    return _steps(monotone()(found), UNITS[str(unit)])


def _bucketed(found: Application) -> Domain:
    """Every bucket from the first moment's to the last one's."""
    (text,) = found.domains[0].values or (None,)
    width = Duration.read(str(text))
    if width is None:
        return Domain(nullable=True)
    size = Unit(width.months, months=True) if width.months else _days(width, found)
    return _steps(monotone()(found), size)


def _days(width: Duration, found: Application) -> Unit:
    size = width.days * DAY + width.microseconds
    # Buckets of dates begin on dates: those of 36 hours are a day or two apart.
    uneven = isinstance(found.call.type, Date) and size % DAY
    return Unit(DAY if uneven else size, months=False)


def _steps(found: Domain, unit: Unit, kind: SqlType) -> Domain:
    """`found`, whose ends are on the grid, with every point of the grid between them."""
    edges = ends(found, kind)
    if not edges:
        return found
    low, high = edges[0], edges[-1]
    assert isinstance(low, dt.date)
    assert isinstance(high, dt.date)
    values = grid(low, high, unit)
    return found if values is None else of_values(values, nullable=found.nullable)


def grid(low: dt.date, high: dt.date, unit: Unit) -> tuple[dt.date, ...] | None:
    """Every step of `unit` from `low` to `high`; None if there are too many."""
    if unit.months:
        months = (high.year - low.year) * 12 + high.month - low.month
        count, step = months // unit.size, _month_later
    else:
        count, step = (high - low) // dt.timedelta(microseconds=unit.size), _later
    if count >= MOST_MOMENTS:
        return None
    return tuple(step(low, unit.size * place) for place in range(count + 1))


def _later(start: dt.date, microseconds: int) -> dt.date:
    return start + dt.timedelta(microseconds=microseconds)


def _month_later(start: dt.date, months: int) -> dt.date:
    """Points of a grid of months are the first of one."""
    years, month = divmod(start.month - 1 + months, 12)
    return start.replace(year=start.year + years, month=month + 1)


def by_grid(unit: str, otherwise: Rule) -> Rule:
    """A call whose value depends on its first argument's step of `unit` alone."""

    def rule(found: Application) -> Domain:
        known = otherwise(found)
        moments = _moments(found, unit)
        if moments is None:
            return known
        others = tuple(
            (d.values[0],) * len(moments) for d in found.domains[1:] if d.values is not None
        )
        if len(others) + 1 != len(found.domains):
            return known
        values = found.at(moments, *others)
        if values is None or None in values:
            return known
        return of_values(_distinct(values), nullable=found.null)

    return rule


def _moments(found: Application, unit: str) -> tuple[dt.date, ...] | None:
    kind = found.call.arguments[0].type
    edges = ends(found.domains[0], kind)
    if not edges:
        return None
    truncated = evaluated(
        ("date_trunc", 0, 1), (Operand((unit, unit), Varchar()), Operand((edges[0], edges[-1]), kind)), kind, 2
    )
