"""Arithmetic without TRY: in a type that holds every result, and then NULL where its own doesn't.

    TRY(a * b)    TRY_CAST(CAST(a AS DECIMAL(19, 2)) * b AS DECIMAL(18, 4))

Both are NULL in the same rows. A TRY takes half to two thirds of the time, but where rows are
joined it has to read copies of their columns (`column_copies`), which takes more than twice as long
as this.

Decimals of 18 digits and fewer are integers of 64 bits, which a file may claim of greater ones: no
value of these bits raises here. Sums and differences have a digit more than what is added, and
DuckDB looks at their digits only where that would be the 39th. No type is wider than integers of
128 bits.
"""

from __future__ import annotations

from typing import Final, assert_never

from sqlglot import exp

from dpsql.emit.dialect.duckdb.expression import applied, emit_expression, is_wide
from dpsql.emit.dialect.duckdb.function_call import cast, try_cast
from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Expression, Literal
from dpsql.plan.numeric_types import as_decimal
from dpsql.schema.sql_type import BIGINT, Decimal, Double, Integer

_SHORT: Final = 18
"""Digits of the decimals in 64 bits; DuckDB cuts off what a product of two such has more."""

_LONG: Final = 38
"""Digits of the decimals in 128 bits."""

_LARGEST: Final = 2**127 - 1


def wide_arithmetic(expression: Expression) -> exp.Expr | None:
    """`expression`, whose arithmetic is in wider types; None where DuckDB has none for it."""
    if not isinstance(expression, Arithmetic):
        return None if is_wide(expression) else emit_expression(expression)
    left, right = wide_arithmetic(expression.left), wide_arithmetic(expression.right)
    if left is None or right is None:
        return None
    match expression.type:
        case Double():
            return applied(expression, left, right)
        case Integer(bits=bits, signed=True) if bits <= 32:
            return try_cast(applied(expression, cast(left, str(BIGINT)), right), expression.type)
        case Decimal() as kind if expression.op is ArithmeticOperator.MULTIPLY:
            one, other = _decimal(expression.left), _decimal(expression.right)
            if one.precision + other.precision <= _SHORT:
                return applied(expression, left, right)
            longer = Decimal(max(one.precision, _SHORT + 1), one.scale)
            if longer.precision + other.precision > _LONG or not _fits(expression, 0, 0):
                return None
            return try_cast(applied(expression, cast(left, str(longer)), right), kind)
        case Decimal(precision=precision, scale=scale):
            terms = _decimal(expression.left), _decimal(expression.right)
            whole = max(term.precision - term.scale for term in terms)
            added = scale - terms[0].scale, scale - terms[1].scale
            if whole + scale + 1 > _LONG or (precision > _SHORT and not _fits(expression, *added)):
                return None
            return applied(expression, left, right)
        case _:
            return None


def _decimal(operand: Expression) -> Decimal:
    kind = operand.type
    assert isinstance(kind, Integer | Decimal)
    return as_decimal(kind)


def _fits(expression: Arithmetic, left_zeros: int, right_zeros: int) -> bool:
    """Whether 128 bits hold what is computed, whatever bits operands have; zeros are appended."""
    left, right = _largest(expression.left), _largest(expression.right)
    if left is None or right is None:
        return False
    left, right = left * int(10**left_zeros), right * int(10**right_zeros)
    match expression.op:
        case ArithmeticOperator.MULTIPLY:
            return left * right <= _LARGEST
        case ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT:
            return left + right <= _LARGEST
        case ArithmeticOperator.DIVIDE:
            return False
        case missing:
            assert_never(missing)


def _largest(operand: Expression) -> int | None:
    """The largest integer that an operand may be, without its point; None: any of 128 bits."""
    match operand.type:
        case Integer(bits=bits) if bits <= 64:
            return int(2**bits)
        case Decimal(precision=digits) if digits <= _SHORT:
            return 2**63
        case Decimal(precision=digits) if _has_no_digit_more(operand):
            return int(10**digits)
        case _:
            return None


def _has_no_digit_more(operand: Expression) -> bool:
    """Whether `operand` is a constant, or a product, whose digits are looked at by its cast."""
    is_product = isinstance(operand, Arithmetic) and operand.op is ArithmeticOperator.MULTIPLY
    return is_product or isinstance(operand, Literal)
