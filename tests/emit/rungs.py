"""Numbers at, below and above the ends of rungs and powers, and the intervals that they are in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, isnan, nan, nextafter

from sqlglot import exp

from dpsql.bind.statements.calibrate import _rungs_of
from dpsql.bind.statements.suggest_bounds import _code
from dpsql.emit.dialect.nodes import scalar, stored_column
from dpsql.emit.sql.identifier import as_column, column_ref, schema_name, subquery, with_alias
from dpsql.plan.expression import Column, Expression
from dpsql.plan.expression_text import describe_number
from dpsql.schema.sql_type import BIGINT, HUGEINT, Decimal, Double, Integer, SqlType

Number = Fraction | float
"""A finite number, exactly; NaN and infinities as floats."""


@dataclass(frozen=True)
class Intervals:
    """An expression of a column, and what it is by exact arithmetic, None for NULL."""

    name: str
    kind: SqlType
    expression: Expression
    ends: tuple[Fraction, ...]
    expected: Callable[[Number | None], int | None]

    @property
    def column(self) -> Column:
        """The only column of the expression."""
        return Column(1, "x", self.kind)

    @property
    def values(self) -> list[Number | None]:
        """Numbers of the type around all ends, and others; NULL."""
        return [
            None,
            *sorted(set(_around(self.ends, self.kind)), key=float),
            *_no_numbers(self.kind),
        ]

    @property
    def texts(self) -> list[str | None]:
        """The values as they are cast from texts."""
        is_double = isinstance(self.kind, Double)
        return [
            v if v is None else repr(float(v)) if is_double else describe_number(Fraction(v))
            for v in self.values
        ]

    @property
    def tree(self) -> exp.Select:
        """The value and its interval, of each row of the table `of_` and the type."""
        table = exp.Table(
            this=schema_name(f"of_{self.kind}"), alias=exp.TableAlias(this=exp.to_identifier("t"))
        )
        stored = stored_column(column_ref(schema_name("v"), table="t"), self.kind)
        rows = exp.select(as_column(stored, self.column)).from_(table)
        items = [column_ref("c1"), with_alias(scalar(self.expression), "number")]
        return exp.select(*items).from_(subquery(rows, "t"))


def _around(ends: tuple[Fraction, ...], kind: SqlType) -> Iterator[Fraction]:
    for end in (Fraction(0), Fraction(3), *ends):
        for near in _neighbors(end, kind):
            yield abs(near)
            if not isinstance(kind, Integer) or kind.signed:
                yield -near


def _neighbors(end: Fraction, kind: SqlType) -> Iterator[Fraction]:
    """The numbers of the type next to `end`, and it if it is one."""
    match kind:
        case Double():
            for value in (float(end), nextafter(float(end), inf), nextafter(float(end), -inf)):
                yield Fraction(value)
        case Integer(bits=bits, signed=signed):
            most = min(2 ** (bits - signed), 10**38) - 1
            for number in (floor(end), ceil(end), floor(end) + 1, ceil(end) - 1, most):
                yield Fraction(max(-most, min(number, most)))
        case Decimal(precision=precision, scale=scale):
            most, steps = 10**precision - 1, end * 10**scale
            for number in (floor(steps), ceil(steps), floor(steps) + 1, ceil(steps) - 1, most):
                yield Fraction(max(-most, min(number, most)), 10**scale)
        case _:
            raise TypeError(kind)


def _no_numbers(kind: SqlType) -> list[Number | None]:
    return [nan, inf, -inf, 5e-324, 1.7e308] if isinstance(kind, Double) else []


def of_rungs(kind: SqlType) -> Intervals:
    """The rung of a magnitude: that of 0, of less and of NULL is 0."""
    column = Column(1, "x", kind)
    rungs = _rungs_of(column)

    def expected(value: Number | None) -> int:
        if value is None or value <= 0:
            return 0
        if isinstance(value, float) and not value < inf:
            return rungs.last  # infinity, and NaN, which engines have above it
        return min(bisect_left(rungs.ends, Fraction(value)), rungs.last)

    return Intervals(f"rungs of {kind}", kind, rungs.number_of(column), rungs.ends, expected)


def of_codes(kind: SqlType) -> Intervals:
    """The code of a value for its bounds."""
    column = Column(1, "x", kind)
    powers = tuple(Fraction(2) ** k for k in range(-40, 81))

    def expected(value: Number | None) -> int | None:
        if value is None or (isinstance(value, float) and (isnan(value) or abs(value) > 2**80)):
            return None
        place = bisect_left(powers, abs(Fraction(value)))
        if place == len(powers):
            return None
        return 0 if value == 0 else (place + 1 if value > 0 else -(place + 1))

    return Intervals(f"codes of {kind}", kind, _code(column), powers, expected)


SUMS: tuple[SqlType, ...] = (HUGEINT, Decimal(38, 2), Decimal(38, 30), Double())
"""Types of sums, whose magnitudes rungs are of; the second decimal ends below the last rung."""

UNSIGNED = of_codes(Integer(64, signed=False))

ALL = (
    *map(of_rungs, (BIGINT, *SUMS)),
    *map(of_codes, (Integer(8), *SUMS, Decimal(38, 38))),
)
