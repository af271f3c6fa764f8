"""The scalar functions that may be called: one entry each; what isn't here is refused.

An entry says what types the function takes and gives, which arguments must be constants, what is
known of its values, and how it is made total, so that nothing evaluated on private rows can raise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import reduce

from dpsql.plan.expression import Expression, Literal
from dpsql.privacy.domain import Domain, Interval
from dpsql.schema.type import BIGINT, Boolean, Date, Integer, SqlType, Timestamp, Varchar


class Total(Enum):
    """How a call is written so that it can't raise.

    PLAIN: the function is total as it is. TRY: `TRY(f(…))`, NULL where it would raise.
    """

    PLAIN = "plain"
    TRY = "try"


@dataclass(frozen=True, slots=True)
class Function:
    """`result` gives the type for argument types, None if it doesn't take them.

    `constants` are the positions of arguments that must be literals, checked by `accepts`; `unify`
    converts all arguments to their common type first.
    """

    name: str
    result: Callable[[tuple[SqlType, ...]], SqlType | None]
    domain: Callable[[tuple[Domain, ...]], Domain]
    total: Total = Total.PLAIN
    constants: frozenset[int] = frozenset()
    accepts: Callable[[tuple[Expression, ...]], bool] = lambda _: True
    unify: bool = False
    usage: str = ""


def _nullable(arguments: tuple[Domain, ...]) -> bool:
    return any(argument.nullable for argument in arguments)


def _unbounded(arguments: tuple[Domain, ...]) -> Domain:
    return Domain(nullable=_nullable(arguments))


def _boolean(arguments: tuple[Domain, ...]) -> Domain:
    return Domain(values=(False, True), nullable=_nullable(arguments))


def _within(low: int, high: int) -> Callable[[tuple[Domain, ...]], Domain]:
    bounds = Interval(Fraction(low), Fraction(high))
    return lambda arguments: Domain(bounds, nullable=_nullable(arguments))


def _texts(count: int, result: SqlType) -> Callable[[tuple[SqlType, ...]], SqlType | None]:
    wanted = (Varchar(),) * count
    return lambda types: result if types == wanted else None


def _alike(types: tuple[SqlType, ...]) -> SqlType | None:
    return types[0] if types and len(set(types)) == 1 else None


def _greatest(arguments: tuple[Domain, ...]) -> Domain:
    """NULLs are ignored, so only arguments that are never NULL push the result up."""
    known = [a.bounds or Interval(None, None) for a in arguments]
    sure = [a.bounds.low for a in arguments if a.bounds and not a.nullable]
    lows = [low for low in sure if low is not None]
    merged = reduce(Interval.union, known)
    low = max(lows) if lows else merged.low
    return Domain(Interval(low, merged.high), nullable=all(a.nullable for a in arguments))


def _least(arguments: tuple[Domain, ...]) -> Domain:
    known = [a.bounds or Interval(None, None) for a in arguments]
    sure = [a.bounds.high for a in arguments if a.bounds and not a.nullable]
    highs = [high for high in sure if high is not None]
    merged = reduce(Interval.union, known)
    high = min(highs) if highs else merged.high
    return Domain(Interval(merged.low, high), nullable=all(a.nullable for a in arguments))


def _day_part(types: tuple[SqlType, ...]) -> SqlType | None:
    match types:
        case (Date() | Timestamp(),):
            return BIGINT
        case _:
            return None


def _year_domain(arguments: tuple[Domain, ...]) -> Domain:
    (argument,) = arguments
    return Domain(nullable=argument.nullable)


def _text_and_places(types: tuple[SqlType, ...]) -> SqlType | None:
    match types:
        case (Varchar(), Integer(), Integer()) | (Varchar(), Integer()):
            return Varchar()
        case _:
            return None


def _small_places(arguments: tuple[Expression, ...]) -> bool:
    """Offsets and lengths beyond 32 bits raise."""
    return all(
        isinstance(a, Literal) and isinstance(a.value, int) and 0 < a.value < 2**31
        for a in arguments[1:]
    )


def _no_escape(arguments: tuple[Expression, ...]) -> bool:
    """A pattern that ends in a lone escape raises; LIKE has no escape character in DuckDB."""
    pattern = arguments[1]
    return isinstance(pattern, Literal) and isinstance(pattern.value, str)


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function(
            "like",
            _texts(2, Boolean()),
            _boolean,
            constants=frozenset({1}),
            accepts=_no_escape,
            usage="text LIKE 'pattern'",
        ),
        Function(
            "ilike",
            _texts(2, Boolean()),
            _boolean,
            constants=frozenset({1}),
            accepts=_no_escape,
            usage="text ILIKE 'pattern'",
        ),
        Function("lower", _texts(1, Varchar()), _unbounded, usage="lower(text)"),
        Function("upper", _texts(1, Varchar()), _unbounded, usage="upper(text)"),
        Function("length", _texts(1, BIGINT), _unbounded, usage="length(text)"),
        Function(
            "substring",
            _text_and_places,
            _unbounded,
            constants=frozenset({1, 2}),
            accepts=_small_places,
            usage="substring(text FROM 1 FOR 2)",
        ),
        Function("greatest", _alike, _greatest, unify=True, usage="greatest(a, b)"),
        Function("least", _alike, _least, unify=True, usage="least(a, b)"),
        Function("year", _day_part, _year_domain, usage="extract(year FROM day)"),
        Function("month", _day_part, _within(1, 12), usage="extract(month FROM day)"),
        Function("day", _day_part, _within(1, 31), usage="extract(day FROM day)"),
    )
}
