"""Date arithmetic: date + 1, timestamp + INTERVAL, differences, and timestamps made of numbers."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from fractions import Fraction
from typing import TypeGuard

from dpsql.engine.duckdb.constant_evaluation import Template
from dpsql.plan.duration import DAY, UNITS, Duration
from dpsql.plan.expression import Expression, Literal, Scalar
from dpsql.plan.functions.domain_rules import MAX_VALUES, corner_values, listed, monotone, nullable
from dpsql.plan.functions.function import Application, Function, Signature, Totalization
from dpsql.plan.functions.text import MAX_CHARACTERS
from dpsql.plan.functions.type_rules import first, fixed
from dpsql.privacy.domain import Domain, Value, of_values
from dpsql.privacy.domain import Interval as Bounds
from dpsql.schema.sql_type import (
    BIGINT,
    Date,
    Double,
    Integer,
    Interval,
    Timestamp,
    Varchar,
)

_DATE, _MOMENT, _LENGTH, _TEXT = Date(), Timestamp(), Interval(), Varchar()


_SINCE_EPOCH: Template = (
    # DuckDB's own gives a TIMESTAMP WITH TIME ZONE, which dpsql has no columns of.
    "make_timestamp",
    ("cast", ("*", 0, ("constant", "1000000", "DOUBLE")), "BIGINT"),
)


def _moved(application: Application) -> Domain:
    """The domain of a timestamp plus a length: later stays later, or on the same last day."""
    length = Duration.read(str((application.domains[1].values or ("",))[0]))
    if length is None or (len(application.domains) > 2 and _mixed(length)):
        return Domain(nullable=True)
    values = _steps(application, length)
    if values is not None:
        return of_values(values, nullable=application.null)
    extremes = corner_values(application)
    if extremes is None:
        return Domain(nullable=True)
    timed = length.months and isinstance(application.call.arguments[0].type, Timestamp)
    # 30 January 23:00 and 31 January 01:00, a month later, are both on 28 February.
    margin = Fraction(DAY if timed else 0)
    return Domain(Bounds(extremes[0] - margin, extremes[1] + margin), nullable=application.null)


def _steps(application: Application, length: Duration) -> tuple[Value, ...] | None:
    """All listed timestamps plus multiples of `length`; None if not listed, or months count."""
    starts, *counts = (
        _listed(application, 0),
        *(_listed(application, p) for p in range(2, len(application.domains))),
    )
    times = counts[0] if counts else (1,)
    if length.months or not starts or not times or len(starts) * len(times) > MAX_VALUES:
        return None
    one = dt.timedelta(days=length.days, microseconds=length.microseconds)
    moments: dict[Value, None] = {}
    try:
        for start, count in itertools.product(starts, times):
            if not isinstance(start, dt.datetime) or not _is_whole(count):
                return None
            moments[start + one * int(count)] = None
    except OverflowError:
        return None
    return tuple(moments)


def _listed(application: Application, index: int) -> tuple[Scalar, ...] | None:
    domain = application.domains[index].as_not_null()
    return listed(domain, application.call.arguments[index].type, MAX_VALUES)


def _is_whole(count: Scalar) -> TypeGuard[int | Fraction]:
    return isinstance(count, int | Fraction) and Fraction(count).denominator == 1


def _mixed(length: Duration) -> bool:
    """A part is positive and another negative, as in a month less 30 days: neither up nor down."""
    return any(part > 0 for part in length.parts) and any(part < 0 for part in length.parts)


def _unit(arguments: tuple[Expression, ...]) -> bool:
    unit = arguments[0]
    return isinstance(unit, Literal) and unit.value in UNITS


def _zoneless(arguments: tuple[Expression, ...]) -> bool:
    """The format has no zone, which would make a TIMESTAMP WITH TIME ZONE."""
    pattern = arguments[1]
    return (
        isinstance(pattern, Literal)
        and isinstance(pattern.value, str)
        and len(pattern.value) <= MAX_CHARACTERS
        and re.search(r"%-?[zZ]", pattern.value.replace("%%", "")) is None
    )


def _difference(name: str, *aliases: str) -> Function:
    return Function(
        name,
        _dated,
        monotone(),
        Totalization.TRY,
        f"{name}('day', a, b)",
        aliases,
        constants=frozenset({0}),
        accepts=_unit,
    )


def _dated(arguments: tuple[Expression, ...]) -> Signature | None:
    """The signature of a difference; a text constant has the type of the other argument."""
    if len(arguments) != 3:
        return None
    kinds = {a.type for a in arguments[1:] if isinstance(a.type, Date | Timestamp)}
    if not kinds:
        return None
    kind = _MOMENT if _MOMENT in kinds else _DATE
    texts = [a for a in arguments[1:] if isinstance(a.type, Varchar)]
    if all(isinstance(text, Literal) for text in texts):
        untyped = [Literal(None, kind) if a in texts else a for a in arguments[1:]]
        return fixed(_TEXT, kind, kind, gives=BIGINT)((arguments[0], *untyped))
    return None


SHIFTS = (
    Function(
        "+",
        first(fixed(_DATE, Integer(32), gives=_DATE), fixed(Integer(32), _DATE, gives=_DATE)),
        monotone(),
        Totalization.TRY,
        "day + 1",
    ),
    Function(
        "-",
        first(fixed(_DATE, _DATE, gives=BIGINT), fixed(_DATE, Integer(32), gives=_DATE)),
        monotone(),
        Totalization.TRY,
        "day - 1",
    ),
    Function(
        "date_add",
        first(
            *(
                fixed(kind, _LENGTH, *count, gives=_MOMENT)
                for kind in (_DATE, _MOMENT)
                for count in ((), (BIGINT,), (Double(),))
            )
        ),
        _moved,
        Totalization.TRY,
        "moment + INTERVAL '1 month'",
        constants=frozenset({1}),
        engine=lambda arity: ("+", 0, 1) if arity == 2 else ("+", 0, ("*", 1, 2)),
    ),
    _difference("date_diff", "datediff"),
    _difference("date_sub", "datesub"),
    Function(
        "make_date",
        fixed(BIGINT, BIGINT, BIGINT, gives=_DATE),
        nullable,
        Totalization.TRY,
        "make_date(2024, 12, 31)",
    ),
    Function(
        "make_timestamp",
        first(
            fixed(BIGINT, gives=_MOMENT),
            fixed(BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, Double(), gives=_MOMENT),
        ),
        lambda application: (monotone() if len(application.domains) == 1 else nullable)(
            application
        ),
        Totalization.TRY,
        "make_timestamp(2024, 12, 31, 23, 59, 59)",
    ),
    Function(
        "strptime",
        fixed(_TEXT, _TEXT, gives=_MOMENT),
        nullable,
        Totalization.TRY,
        "strptime(text, '%Y-%m-%d')",
        ("try_strptime",),
        constants=frozenset({1}),
        accepts=_zoneless,
        probed=True,
        engine=lambda _: ("try_strptime", 0, 1),
    ),
    Function(
        "to_timestamp",
        fixed(Double(), gives=_MOMENT),
        monotone(),
        Totalization.TRY,
        "to_timestamp(1704067200)",
        engine=lambda _: _SINCE_EPOCH,
    ),
    Function(
        "epoch_ms",
        first(
            fixed(BIGINT, gives=_MOMENT),
            *(fixed(kind, gives=BIGINT) for kind in (_DATE, _MOMENT)),
        ),
        monotone(),
        Totalization.TRY,
        "epoch_ms(moment)",
    ),
)
