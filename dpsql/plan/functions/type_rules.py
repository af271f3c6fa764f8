"""Rules for the types of a function's arguments and result."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.plan.expression import Expression, Literal
from dpsql.plan.functions.function import Signature, Types
from dpsql.plan.numeric_types import holds, is_fitted, is_number
from dpsql.schema.sql_type import (
    Date,
    Double,
    Integer,
    Interval,
    Null,
    SqlType,
    Timestamp,
    Varchar,
)


def fixed(*parameters: SqlType, gives: SqlType) -> Types:
    """The rule of one given type for each argument, and a result of type `gives`."""

    def types(arguments: tuple[Expression, ...]) -> Signature | None:
        if len(arguments) != len(parameters):
            return None
        if not all(map(converts, arguments, parameters)):
            return None
        return Signature(parameters, gives)

    return types


def first(*overloads: Types) -> Types:
    """The rule of the first of `overloads` that takes the arguments."""

    def types(arguments: tuple[Expression, ...]) -> Signature | None:
        signatures = (overload(arguments) for overload in overloads)
        return next((signature for signature in signatures if signature is not None), None)

    return types


def unary(result: Callable[[SqlType], SqlType | None]) -> Types:
    """The rule of one argument of any type; `result` returns the result's type, or None."""

    def types(arguments: tuple[Expression, ...]) -> Signature | None:
        if len(arguments) != 1:
            return None
        gives = result(arguments[0].type)
        return None if gives is None else Signature((arguments[0].type,), gives)

    return types


def binary(result: Callable[[SqlType, SqlType], SqlType | None]) -> Types:
    """The rule of two arguments of any types; `result` returns the result's type, or None."""

    def types(arguments: tuple[Expression, ...]) -> Signature | None:
        if len(arguments) != 2:
            return None
        left, right = arguments
        kinds = _literal_type(left, right), _literal_type(right, left)
        gives = result(*kinds)
        return None if gives is None else Signature(kinds, gives)

    return types


def _literal_type(argument: Expression, other: Expression) -> SqlType:
    """The argument's type; a whole number has that of the other argument if it fits."""
    kind = other.type
    if isinstance(kind, Integer) and not isinstance(other, Literal) and is_fitted(argument, kind):
        return kind
    return argument.type


def doubles(count: int, gives: SqlType | None = None) -> Types:
    """The rule of `count` numbers, converted to DOUBLE."""
    return fixed(*(Double(),) * count, gives=gives or Double())


def texts(count: int, gives: SqlType) -> Types:
    """The rule of `count` texts; DuckDB converts nothing else to text implicitly."""
    return fixed(*(Varchar(),) * count, gives=gives)


def times(gives: SqlType) -> Types:
    """The rule of a date or a timestamp."""
    return unary(lambda kind: gives if isinstance(kind, Date | Timestamp) else None)


def converts(argument: Expression, parameter: SqlType) -> bool:
    """DuckDB converts `argument` to the type `parameter` implicitly."""
    match argument.type, parameter:
        case (source, target) if source == target:
            return True
        case Null(), _:
            return True
        case (source, Double(bits=64)):
            return is_number(source)
        case Integer(), Integer():
            return parameter.holds(argument.type) or _fits(argument, parameter)
        case Date(), Timestamp():
            return True
        case Varchar(), Interval():
            return isinstance(argument, Literal)
        case _:
            return False


def _fits(argument: Expression, target: SqlType) -> bool:
    assert isinstance(target, Integer)
    return (
        isinstance(argument, Literal)
        and isinstance(argument.value, int)
        and holds(target, argument.value)
    )
