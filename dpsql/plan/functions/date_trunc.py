"""Functions onto a grid: truncation to a unit or a bucket, and functions of the truncated value."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from dpsql.plan.duration import DAY, UNITS, Duration, Unit
from dpsql.plan.expression import Expression, Literal, Scalar
from dpsql.plan.functions.domain_rules import MAX_VALUES, ends, monotone, nullable
from dpsql.plan.functions.evaluation import Operand, evaluated
from dpsql.plan.functions.function import Application, Function, Rule, Totalization
from dpsql.plan.functions.text import MAX_CHARACTERS
from dpsql.plan.functions.type_rules import first, fixed, times
from dpsql.privacy.domain import Domain, of_values
from dpsql.schema.sql_type import Date, Interval, Timestamp, Varchar
from dpsql.structs import replace

MAX_TIMESTAMPS = 1_000_000
"""The largest number of points of a grid that is listed; larger grids are known by their ends."""


def truncation_grid(low: dt.date, high: dt.date, unit: Unit) -> tuple[dt.date, ...] | None:
    """Every step of `unit` from `low` to `high`; None if there are too many."""
    if unit.months:
        count = ((high.year - low.year) * 12 + high.month - low.month) // unit.size
    else:
        count = (high - low) // dt.timedelta(microseconds=unit.size)
    if count >= MAX_TIMESTAMPS:
        return None
    offsets = range(0, unit.size * count + 1, unit.size)
    if unit.months:
        return tuple(_month_later(low, offset) for offset in offsets)
    return tuple(low + dt.timedelta(microseconds=offset) for offset in offsets)


def _month_later(start: dt.date, months: int) -> dt.date:
    """The first day of a month, so many months later."""
    years, month = divmod(start.month - 1 + months, 12)
    return start.replace(year=start.year + years, month=month + 1)


def _is_unit(arguments: tuple[Expression, ...]) -> bool:
    unit = arguments[0]
    return isinstance(unit, Literal) and unit.value in UNITS


def _truncated(application: Application) -> Domain:
    """The domain of a truncation: every step from the earliest value's to the latest's."""
    return _stepped(application, UNITS[str(_constant(application.domains[0]))])


def _bucketed(application: Application) -> Domain:
    """The domain of a bucket's start: every bucket from the earliest value's to the latest's."""
    width = Duration.read(str(_constant(application.domains[0])))
    if width is None or (width.months and len(application.domains) > 2):
        return monotone()(application)
    if width.months:
        return _stepped(application, Unit(width.months, months=True))
    size = width.days * DAY + width.microseconds
    # Buckets of dates begin on dates: those of 36 hours begin one or two days apart.
    uneven = isinstance(application.call.type, Date) and size % DAY != 0
    return _stepped(application, Unit(DAY if uneven else size, months=False))


def _stepped(application: Application, unit: Unit) -> Domain:
    """The monotone rule's interval, and in it all steps of `unit`, if they aren't too many."""
    known = monotone()(application)
    edges = ends(known, application.call.type)
    if not edges:
        return known
    values = truncation_grid(_timestamp(edges[0]), _timestamp(edges[-1]), unit)
    return known if values is None else replace(known, values=values)


def truncation(unit_of: Callable[[Application], str], otherwise: Rule) -> Rule:
    """The rule of a call whose value depends only on the step of a unit with its first argument.

    `unit_of` is the unit of a call. `otherwise` is the rule where steps are too many.
    """

    def rule(application: Application) -> Domain:
        known = otherwise(application)
        steps = _steps(application, unit_of(application))
        if steps is None:
            return known
        rest = tuple((_constant(domain),) * len(steps) for domain in application.domains[1:])
        values = application.at(steps, *rest)
        if values is None or None in values:
            return known
        distinct = dict.fromkeys(value for value in values if value is not None)
        return of_values(tuple(distinct), nullable=application.null)

    return rule


def _steps(application: Application, unit: str) -> tuple[dt.date, ...] | None:
    """Every step of `unit` that the first argument may lie in; None if they are too many."""
    kind = application.call.arguments[0].type
    edges = ends(application.domains[0], kind)
    if not edges:
        return None
    operands = Operand((unit,) * len(edges), Varchar()), Operand(edges, kind)
    steps = evaluated(("date_trunc", 0, 1), operands, Timestamp(), len(edges))
    if steps is None or None in steps:
        return None
    low, high = _timestamp(steps[0]), _timestamp(steps[-1])
    size = UNITS[unit]
    many = not size.months and (high - low) // dt.timedelta(microseconds=size.size) >= MAX_VALUES
    moments = None if many else truncation_grid(low, high, size)
    if moments is None or not isinstance(kind, Date):
        return moments
    return tuple(moment.date() for moment in moments if isinstance(moment, dt.datetime))


def _timestamp(value: object) -> dt.date:
    assert isinstance(value, dt.date)
    return value


def _constant(domain: Domain) -> Scalar:
    return domain.values[0] if domain.values else None


_DAILY = "aAwudbBmyYjUWVGxZ%"
_HOURLY = "HIp"


def _grain(application: Application) -> str:
    """The smallest unit that a format shows."""
    pattern = str(_constant(application.domains[1]))
    shown = set("".join(re.findall(r"%-?(.)", pattern, re.DOTALL)))
    if shown <= set(_DAILY):
        return "day"
    if shown <= set(_DAILY + _HOURLY):
        return "hour"
    return "minute" if shown <= set(_DAILY + _HOURLY + "M") else "second"


def _is_short(arguments: tuple[Expression, ...]) -> bool:
    pattern = arguments[1]
    return isinstance(pattern, Literal) and len(str(pattern.value)) <= MAX_CHARACTERS


_BUCKETED = first(
    *(
        fixed(Interval(), kind, *more, gives=kind)
        for kind in (Date(), Timestamp())
        for more in ((), (Interval(),), (kind,))
    )
)

GRIDS = (
    Function(
        "date_trunc",
        first(*(fixed(Varchar(), kind, gives=Timestamp()) for kind in (Date(), Timestamp()))),
        _truncated,
        Totalization.TRY,
        "date_trunc('month', moment)",
        ("datetrunc",),
        constants=frozenset({0}),
        accepts=_is_unit,
    ),
    Function(
        "time_bucket",
        _BUCKETED,
        _bucketed,
        Totalization.TRY,
        "time_bucket(INTERVAL '15 minutes', moment)",
        constants=frozenset({0, 2}),
        probed=True,
    ),
    Function(
        "last_day",
        times(Date()),
        truncation(lambda _: "month", monotone()),
        Totalization.TRY,
        "last_day(moment)",
    ),
    Function(
        "strftime",
        first(*(fixed(kind, Varchar(), gives=Varchar()) for kind in (Date(), Timestamp()))),
        truncation(_grain, nullable),
        Totalization.TRY,
        "strftime(moment, '%Y-%m')",
        constants=frozenset({1}),
        accepts=_is_short,
        probed=True,
    ),
)
