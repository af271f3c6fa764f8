"""What compares equal is one question: constants beside exact numbers in their shortest form.

    WHERE amount <= 5        a constant as it is written
    WHERE amount <= $1       a parameter that a client declares as int2, or as numeric(10,2)
    WHERE amount <= 5.00

Each converts `amount` to another type that has all its values, or to none, and each is true of the
same rows. A conversion that may lose a digit, or have no value, is left as it is: so are doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.bind.expression.coercion import common_type
from dpsql.plan.expression import Cast, Compare, Expression, Literal
from dpsql.plan.numeric_types import as_decimal, holds, whole_number_type
from dpsql.schema.sql_type import Decimal, Integer, SqlType

MAX_DIGITS = 38
"""Of a decimal."""


def sides_in_shortest_form(comparison: Compare) -> tuple[Expression, Expression]:
    """The sides of `comparison`, as if a constant among them were written shortest."""
    left, right = comparison.left, comparison.right
    if isinstance(right, Literal):
        left, (right,) = in_shortest_form(left, (right,))
    elif isinstance(left, Literal):
        right, (left,) = in_shortest_form(right, (left,))
    return left, right


def in_shortest_form(
    operand: Expression, constants: tuple[Literal, ...]
) -> tuple[Expression, tuple[Literal, ...]]:
    """`operand` and the `constants` that it is compared with, as if they were written shortest.

    They are left as they are if not all of them are exact numbers.
    """
    as_written, bare = (operand, constants), _without_widening(operand)
    if isinstance(operand.type, Integer) and bare is operand:
        return as_written  # constants have the operand's type, which each of them fits
    values = [_exact_value(constant) for constant in constants]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not isinstance(bare.type, Integer | Decimal):
        return as_written
    wide = _compared_as(bare.type, known)
    if wide is None or not _has_all(wide, bare.type):
        return as_written
    literals = [literal for value in known if (literal := _literal(value, wide)) is not None]
    if len(literals) < len(known):
        return as_written
    return bare if wide == bare.type else Cast(bare, wide), tuple(literals)


def _exact_value(constant: Literal) -> Fraction | None:
    match constant:
        case Literal(value=bool()):
            return None
        case Literal(value=int() | Fraction() as value, type=Integer() | Decimal()):
            return Fraction(value)
        case _:
            return None


def _without_widening(operand: Expression) -> Expression:
    """What `operand` converts to types that have all its values."""
    while isinstance(operand, Cast) and _has_all(operand.type, operand.operand.type):
        operand = operand.operand
    return operand


def _has_all(wide: SqlType, narrow: SqlType) -> bool:
    """Whether each value of `narrow` is the same number in `wide`, which are exact numbers."""
    match narrow, wide:
        case Integer(), Integer():
            return wide.holds(narrow)
        case Integer(bits=128), Decimal():
            return False  # of 39 digits
        case ((Integer() | Decimal()), Decimal()):
            own = as_decimal(narrow)
            before = wide.precision - wide.scale >= own.precision - own.scale
            return before and wide.scale >= own.scale
        case _:
            return False


def _shortest_type(value: Fraction) -> Integer | Decimal | None:
    """The type of the shortest text of `value`; None if it is no exact number in any."""
    if value.denominator == 1:
        return whole_number_type(value.numerator)
    scale = next(
        (n for n in range(1, MAX_DIGITS + 1) if (value * 10**n).denominator == 1), MAX_DIGITS + 1
    )
    digits = len(str(abs(int(value)))) + scale
    return None if digits > MAX_DIGITS else Decimal(digits, scale)


def _compared_as(own: Integer | Decimal, values: Sequence[Fraction]) -> SqlType | None:
    """The type in which numbers of type `own` meet the shortest texts of `values`."""
    if isinstance(own, Integer) and all(
        value.denominator == 1 and holds(own, value.numerator) for value in values
    ):
        return own
    kinds = [_shortest_type(value) for value in values]
    exact = [kind for kind in kinds if kind is not None]
    return common_type([own, *exact]) if len(exact) == len(kinds) else None


def _literal(value: Fraction, kind: SqlType) -> Literal | None:
    match kind:
        case Integer() if value.denominator == 1 and holds(kind, value.numerator):
            return Literal(value.numerator, kind)
        case Decimal(precision=precision, scale=scale):
            digits = value * 10**scale
            if digits.denominator == 1 and abs(digits) < 10**precision:
                return Literal(value, kind)
            return None
        case _:
            return None
