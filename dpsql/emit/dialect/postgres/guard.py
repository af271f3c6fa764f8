"""Guards: what PostgreSQL would raise of a row becomes NULL before it is computed.

PostgreSQL has no TRY. A guard names its operand once, or binds it to a name in a subquery of one
row, so that a nest of guards grows no faster than the expression that it guards. `OFFSET 0` keeps
the planner from putting a bound operand back in all the positions of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.identifier import column_ref, subquery, with_alias
from dpsql.errors import Refused
from dpsql.plan.expression_text import describe_number
from dpsql.schema.sql_type import (
    BIGINT,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)

_BOUND: Final = "bound"

_INFINITIES: Final = ("infinity", "-infinity")

LARGEST_TERM: Final = Fraction(8 * 10**307)
"""Two doubles below it have a sum, which 64 bits hold."""

_LARGEST_FACTOR: Final = Fraction(10**150)
"""A product or quotient of doubles between it and its reciprocal neither over- nor underflows."""


def refused(name: str) -> Refused:
    """The refusal of what `name` names."""
    return Refused(
        f"{name} is not computed on PostgreSQL",
        hint="have it computed in DuckDB, which reads the rows from the server",
    )


def type_name(kind: SqlType) -> str:
    """PostgreSQL's type for values of `kind`; Refused for a type that isn't on the list."""
    match kind:
        case Boolean():
            return "BOOLEAN"
        case Integer() if Integer(32).holds(kind):
            return "INTEGER"
        case Integer() if BIGINT.holds(kind):
            return "BIGINT"
        case Integer(bits=128, signed=False):
            # A difference of it may wrap around on DuckDB: 255 - (2^128 - 1) is 256 there.
            raise refused(f"the type {kind}")
        case Integer() | Decimal():
            return "NUMERIC"
        case Double(bits=64):
            return "DOUBLE PRECISION"
        case Varchar():
            return "TEXT"
        case Date():
            return "DATE"
        case Timestamp():
            return "TIMESTAMP"
        case _:
            raise refused(f"the type {kind}")


def cast(expression: exp.Expr, name: str) -> exp.Expr:
    """`CAST(expression AS name)`, of what the type holds."""
    return exp.Cast(this=expression, to=exp.DataType(this=exp.DType.USERDEFINED, kind=name))


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function of the writer's list."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def exact(number: exp.Expr) -> exp.Expr:
    """An integer or decimal as a numeric, whose arithmetic is exact and doesn't overflow."""
    return cast(number, "NUMERIC")


def double(value: Fraction | float) -> exp.Expr:
    """A constant of type double precision."""
    return cast(exp.Literal.string(repr(float(value))), "DOUBLE PRECISION")


def number(value: Fraction) -> exp.Expr:
    """A constant of type numeric."""
    return cast(exp.Literal.string(describe_number(value)), "NUMERIC")


def range_of(kind: Integer | Decimal) -> tuple[Fraction, Fraction, Fraction]:
    """The least and the largest value of a type, and the distance of its values."""
    match kind:
        case Integer(bits=bits, signed=True):
            return Fraction(-(2 ** (bits - 1))), Fraction(2 ** (bits - 1) - 1), Fraction(1)
        case Integer(bits=bits):
            return Fraction(0), Fraction(2**bits - 1), Fraction(1)
        case Decimal(precision=precision, scale=scale):
            step = Fraction(1, 10**scale)
            return -(10**precision - 1) * step, (10**precision - 1) * step, step


def in_range(value: exp.Expr, kind: Integer | Decimal) -> exp.Expr:
    """A numeric `value` of the scale of `kind`; NULL where `kind` has no such value, and for NaN.

    LEAST and GREATEST ignore NULL: of NULL they make a value beyond the range, which is NULL again.
    """
    low, high, step = range_of(kind)
    return _open_range(value, number(low - step), number(high + step))


def in_open_range(value: exp.Expr, limit: Fraction) -> exp.Expr:
    """A double nearer to 0 than `limit`; NULL for all others, and for NaN, which sorts highest."""
    return _open_range(value, double(-limit), double(limit))


def _open_range(value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    clamped = call("GREATEST", call("LEAST", value, high), low)
    return call("NULLIF", call("NULLIF", clamped, high.copy()), low.copy())


def finite(value: exp.Expr, name: str) -> exp.Expr:
    """A value of the type `name`, NULL where it is NaN or infinite."""
    words = _INFINITIES if name in ("DATE", "TIMESTAMP") else ("NaN", "Infinity", "-Infinity")
    for word in words:
        value = call("NULLIF", value, cast(exp.Literal.string(word), name))
    return value


def bind(operands: Sequence[exp.Expr], body: Callable[..., exp.Expr]) -> exp.Expr:
    """`body` of columns that hold the values of `operands`, each computed once."""
    names = [f"b{index}" for index in range(len(operands))]
    items = [with_alias(value, name) for value, name in zip(operands, names, strict=True)]
    row = exp.select(*items, copy=False).offset(0, copy=False)
    computed = body(*(column_ref(name, table=_BOUND) for name in names))
    return exp.Subquery(
        this=exp.select(computed, copy=False).from_(subquery(row, _BOUND), copy=False)
    )


def scaled(left: exp.Expr, right: exp.Expr, *, divided: bool) -> exp.Expr:
    """A product or quotient of doubles; NULL for x / 0, and where it may over- or underflow.

    PostgreSQL raises where a product that isn't 0 is too near to 0, too: 1e-200 * 1e-200.
    """

    def body(first: exp.Expr, second: exp.Expr) -> exp.Expr:
        zero: exp.Condition = exp.EQ(this=first.copy(), expression=double(0))
        others = [_is_medium(first), _is_medium(second)]
        if not divided:
            zero = exp.or_(zero, exp.EQ(this=second.copy(), expression=double(0)), copy=False)
            finite_too = (
                exp.LT(this=call("ABS", f.copy()), expression=double(float("inf")))
                for f in (first, second)
            )
            zero = exp.and_(zero, *finite_too, copy=False)
        else:
            zero = exp.and_(zero, _is_medium(second), copy=False)
        operator = exp.Div if divided else exp.Mul
        computed = operator(this=first.copy(), expression=second.copy())
        case = exp.case().when(zero, double(0), copy=False)
        return case.when(exp.and_(*others, copy=False), computed, copy=False)

    return bind([left, right], body)


def _is_medium(column: exp.Expr) -> exp.Expr:
    low, high = double(1 / _LARGEST_FACTOR), double(_LARGEST_FACTOR)
    return exp.Between(this=call("ABS", column.copy()), low=low, high=high)


_FIRST_DAY: Final = "4714-11-24 BC"
_LAST_DAY: Final = "294247-01-01"
"""Between them a date or timestamp is a timestamp, on PostgreSQL as on DuckDB."""

FIRST_YEAR: Final = "4713-01-01 BC"
"""From it on its truncations are, too."""


def when_known(moment: exp.Expr, computed: exp.Expr, first: str = _FIRST_DAY) -> exp.Case:
    """`computed` of a column `moment`; NULL where it is infinite, before `first` or too far."""
    low, high = (cast(exp.Literal.string(day), "DATE") for day in (first, _LAST_DAY))
    return exp.case().when(
        exp.Between(this=moment.copy(), low=low, high=high), computed, copy=False
    )


def or_infinite(known: exp.Case, moment: exp.Expr, name: str) -> exp.Expr:
    """`known`, and of an infinite column `moment` the same as a value of the type `name`.

    As NULL it would be in the cell that a list of months has for NULL, and on DuckDB in none.
    """
    infinite = [cast(exp.Literal.string(word), "DATE") for word in _INFINITIES]
    is_infinite = exp.In(this=moment.copy(), expressions=infinite)
    return known.when(is_infinite, cast(moment.copy(), name), copy=False)


def printed(moment: exp.Expr) -> exp.Expr:
    """The text of a column `moment`; NULL where it is finite and not of the years 1 to 9999."""
    low, high = (cast(exp.Literal.string(day), "DATE") for day in ("0001-01-01", "9999-12-31"))
    is_plain = exp.Between(this=cast(moment.copy(), "DATE"), low=low, high=high)
    plain = exp.case().when(is_plain, cast(moment.copy(), "TEXT"), copy=False)
    return or_infinite(plain, moment, "TEXT")
