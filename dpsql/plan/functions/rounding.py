"""Rounding: floor, ceil, round, trunc, even, and the sign and size of a number."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.plan.expression import Expression, Literal
from dpsql.plan.functions.domain_rules import corner_values, floor_interval, monotone
from dpsql.plan.functions.function import Application, Function, Signature, Totalization
from dpsql.plan.functions.type_rules import doubles, unary
from dpsql.plan.numeric_types import is_number
from dpsql.privacy.domain import Domain, Interval
from dpsql.schema.sql_type import BIGINT, HUGEINT, Decimal, Double, Integer, SqlType

MAX_DIGITS = 38


def _same(kind: SqlType) -> SqlType | None:
    return kind if is_number(kind) else None


def _floored(kind: SqlType) -> SqlType | None:
    match kind:
        case Decimal(precision=precision):
            return Decimal(precision, 0)
        case Integer():
            return Double()
        case Double():
            return kind
        case _:
            return None


def _rounded(kind: SqlType) -> SqlType | None:
    match kind:
        case Integer(signed=True) | Double():
            return kind
        case Integer(bits=128):
            return Double()
        case Integer(bits=64):
            return HUGEINT
        case Integer():
            return BIGINT
        case Decimal(precision=precision):
            return Decimal(precision, 0)
        case _:
            return None


def _truncated(kind: SqlType) -> SqlType | None:
    return _floored(kind) if isinstance(kind, Decimal) else _same(kind)


def _rounded_to(kind: SqlType, digits: int) -> SqlType | None:
    if not isinstance(kind, Decimal):
        return _rounded(kind)
    if digits < 0 and kind.scale == 0 and -digits <= kind.precision:
        # 95 rounds to 100.
        return Decimal(min(kind.precision + 1, 38), 0)
    return _digits_left(kind, digits)


def _truncated_to(kind: SqlType, digits: int) -> SqlType | None:
    return _digits_left(kind, digits) if isinstance(kind, Decimal) else _same(kind)


def _digits_left(kind: Decimal, digits: int) -> Decimal:
    return Decimal(kind.precision, min(kind.scale, max(digits, 0)))


def _round(arguments: tuple[Expression, ...]) -> Signature | None:
    return _to_digits(arguments, _rounded, _rounded_to)


def _trunc(arguments: tuple[Expression, ...]) -> Signature | None:
    return _to_digits(arguments, _truncated, _truncated_to)


def _to_digits(
    arguments: tuple[Expression, ...],
    plain: Callable[[SqlType], SqlType | None],
    precision: Callable[[SqlType, int], SqlType | None],
) -> Signature | None:
    match arguments:
        case (number,):
            gives = plain(number.type)
            return None if gives is None else Signature((number.type,), gives)
        case (number, Literal(value=int() as digits)):
            gives = precision(number.type, digits)
            return None if gives is None else Signature((number.type, Integer(32)), gives)
        case (number, _) if is_number(number.type):
            # Its type depends on the digits, which have to be a constant: said by `accepts`.
            return Signature((number.type, Integer(32)), number.type)
        case _:
            return None


def _has_exact_digits(arguments: tuple[Expression, ...]) -> bool:
    return all(
        isinstance(a, Literal) and isinstance(a.value, int) and abs(a.value) <= MAX_DIGITS
        for a in arguments[1:]
    )


def _size(application: Application) -> Domain:
    """The domain of |x|, whose extremes are at the ends of x, or at 0 between them."""
    bounds = application.domains[0].bounds
    zero = (0,) if bounds is not None and Fraction(0) in bounds else ()
    extremes = corner_values(application, *zero)
    if extremes is None:
        return Domain(Interval(Fraction(0), None), nullable=True)
    return Domain(Interval(*extremes), nullable=application.null)


def _maybe_whole(application: Application) -> Domain:
    """The domain of round and trunc: whole numbers for round(x), not for round(x, 2)."""
    one = len(application.domains) == 1 or application.domains[1].values == (0,)
    return (floor_interval(monotone()) if one else monotone())(application)


ROUNDING = (
    Function("abs", unary(_same), _size, Totalization.TRY, "abs(x)"),
    Function(
        "sign",
        unary(lambda kind: Integer(8) if is_number(kind) else None),
        monotone(-1, 1),
        Totalization.TRY,
        "sign(x)",
    ),
    Function("floor", unary(_floored), floor_interval(monotone()), Totalization.TRY, "floor(x)"),
    Function(
        "ceil",
        unary(_floored),
        floor_interval(monotone()),
        Totalization.TRY,
        "ceil(x)",
        ("ceiling",),
    ),
    Function(
        "round",
        _round,
        _maybe_whole,
        Totalization.TRY,
        "round(x, 2)",
        constants=frozenset({1}),
        accepts=_has_exact_digits,
    ),
    Function(
        "trunc",
        _trunc,
        _maybe_whole,
        Totalization.TRY,
        "trunc(x, 2)",
        constants=frozenset({1}),
        accepts=_has_exact_digits,
    ),
    Function("even", doubles(1), floor_interval(monotone()), Totalization.TRY, "even(x)"),
)
