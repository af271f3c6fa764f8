"""Arithmetic of released numbers without an engine is what the engine computes of them."""

from __future__ import annotations

import decimal
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import pyarrow as pa
import pytest
from neighbor_search.share import values_in_turn

from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Column, Expression, Literal
from dpsql.plan.numeric_types import arithmetic_type, is_fitted
from dpsql.release.columns.arrow import arrow_type
from dpsql.schema.sql_type import HUGEINT, Decimal, Double, Integer, SqlType
from dpsql.session.run.exact_arithmetic import MAX_COMPUTED, exact_arithmetic, is_exact
from dpsql.structs import replace

KINDS: tuple[SqlType, ...] = (
    Integer(8),
    Integer(32),
    Integer(32, signed=False),
    Integer(64),
    Integer(64, signed=False),
    HUGEINT,
    Decimal(2, 1),
    Decimal(5, 2),
    Decimal(18, 0),
    Decimal(18, 15),
    Decimal(38, 0),
    Decimal(38, 2),
    Decimal(38, 4),
    Decimal(38, 15),
    Decimal(38, 16),
    Decimal(38, 38),
    Double(),
)

CONSTANTS = (
    Literal(7, Integer(32)),
    Literal(0, Integer(32)),
    Literal(Fraction(100), Decimal(5, 2)),
    Literal(Fraction(1, 2), Decimal(2, 1)),
    Literal(Fraction(0), Decimal(2, 1)),
    Literal(Fraction(1, 10), Double()),
)

FLOATS = (0.0, -0.0, 1.0, -7.25, 0.1, 1e300, -1e300, 5e-324, 2.0**53, float("inf"), float("nan"))


PAIRS = 100
"""Of two types, tried with each operator."""


@cache
def engine() -> DuckDBEngine:
    return postprocessing_engine()


def values_of(kind: SqlType, generator: random.Random) -> list[object]:
    """The ends of `kind`, what is near them, doubles' last integers, and numbers of all sizes."""
    match kind:
        case Double():
            sizes = [
                generator.uniform(-1, 1) * 10.0 ** generator.randint(-20, 20) for _ in range(6)
            ]
            return [None, *FLOATS, *sizes]
        case Integer(bits=bits, signed=signed):
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            if bits == 128:
                low, high = 1 - 10**38, 10**38 - 1
            scale = 0
        case Decimal(precision=precision, scale=scale):
            low, high = 1 - 10**precision, 10**precision - 1
        case _:
            raise AssertionError(kind)
    near = [2**53, 2**53 + 1, 10**scale * 2**53, 10**scale * (2**53 + 1) + 1]
    sizes = [generator.randint(0, 10 ** generator.randint(0, 38)) for _ in range(8)]
    digits = [low, low + 1, -1, 0, 1, high - 1, high]
    digits += [sign * size for size in near + sizes for sign in (1, -1)]
    there = [one for one in digits if low <= one <= high]
    if isinstance(kind, Integer) and kind.bits < 128:
        return [None, *there]
    context = decimal.Context(prec=80)
    return [None, *(decimal.Decimal(one).scaleb(-scale, context) for one in there)]


def computed(
    expression: Expression, columns: dict[str, pa.Array]
) -> tuple[list[pa.Array | None], pa.ChunkedArray]:
    """Each row's value as it is computed here, None where it isn't, and all of the engine's."""
    text = f"SELECT {rendered(emit_expression(expression))} AS v FROM numbers"
    theirs = engine().execute(text, (), {"numbers": pa.table(columns)}).table.column("v")
    ours = [
        exact_arithmetic(expression, {n: c.slice(row, 1) for n, c in columns.items()}, 1)
        for row in range(len(theirs))
    ]
    return ours, theirs


def same(expression: Expression, columns: dict[str, pa.Array]) -> tuple[int, int]:
    """How many values are computed here, of how many; each of them is the engine's."""
    ours, theirs = computed(expression, columns)
    count = 0
    for one, other in zip(ours, theirs.to_pylist(), strict=True):
        if one is None:
            continue
        count += 1
        assert one.type == theirs.type, expression
        # repr tells -0.0 from 0.0, and 1.50 from 1.5.
        assert repr(one[0].as_py()) == repr(other), expression
    return count, len(ours)


def pairs(left: SqlType, right: SqlType, generator: random.Random) -> dict[str, pa.Array]:
    both = list(product(values_of(left, generator), values_of(right, generator)))
    some = generator.sample(both, min(PAIRS, len(both)))
    return columns_of([left, right], list(zip(*some, strict=True)))


def columns_of(kinds: Sequence[SqlType], values: Sequence[Sequence[object]]) -> dict[str, pa.Array]:
    return {
        f"c{number}": pa.array(list(some), arrow_type(kind))
        for number, (kind, some) in enumerate(zip(kinds, values, strict=True))
    }


@pytest.mark.parametrize("op", ArithmeticOperator)
@pytest.mark.parametrize("left", values_in_turn(KINDS, 4))
def test_two_columns(op: ArithmeticOperator, left: SqlType) -> None:
    generator = random.Random(f"{op} {left}")
    counted = 0
    for right in KINDS:
        kind = arithmetic_type(op, left, right)
        if kind is None:
            continue
        expression = Arithmetic(op, Column(0, "a", left), Column(1, "b", right), kind)
        assert is_exact(expression)
        counted += same(expression, pairs(left, right, generator))[0]
    assert counted > 100


@pytest.mark.parametrize("left", values_in_turn(KINDS, 4))
def test_a_column_and_constants(left: SqlType) -> None:
    """A factor, a divisor, and both: 100.00 * part / whole is the ratio of TPC-H's Q14."""
    generator, column, other = random.Random(str(left)), Column(0, "a", left), Column(1, "b", left)
    for op, constant in product(ArithmeticOperator, CONSTANTS):
        is_of_column = isinstance(left, Integer) and is_fitted(constant, left)
        fitted = replace(constant, type=left) if is_of_column else constant
        for sides in ((column, fitted), (fitted, column)):
            kind = arithmetic_type(op, sides[0].type, sides[1].type)
            if kind is None:
                continue
            columns, simple = pairs(left, left, generator), Arithmetic(op, sides[0], sides[1], kind)
            same(simple, columns)
            for outer in (ArithmeticOperator.DIVIDE, generator.choice(list(ArithmeticOperator))):
                for operands in ((simple, other), (other, simple)):
                    kind = arithmetic_type(outer, operands[0].type, operands[1].type)
                    if kind is not None:
                        same(Arithmetic(outer, operands[0], operands[1], kind), columns)


def test_of_usual_numbers_all_are_computed() -> None:
    generator = random.Random(7)
    numbers: list[SqlType] = [Decimal(38, 4), Decimal(38, 2), Integer(64), Double()]
    for left, right, op in product(numbers, numbers, ArithmeticOperator):
        kind = arithmetic_type(op, left, right)
        assert kind is not None
        scales = [one.scale if isinstance(one, Decimal) else 0 for one in (left, right)]
        some = [
            [
                generator.uniform(-1e9, 1e9)
                if one == Double()
                else generator.randint(-(10**9), 10**9)
                if isinstance(one, Integer)
                else decimal.Decimal(generator.randint(-(10**13), 10**13)).scaleb(-scale)
                for _ in range(50)
            ]
            for one, scale in zip((left, right), scales, strict=True)
        ]
        expression = Arithmetic(op, Column(0, "a", left), Column(1, "b", right), kind)
        assert same(expression, columns_of([left, right], some)) == (50, 50)


def test_many_rows_are_left_to_the_engine() -> None:
    column = Column(0, "a", Integer(64))
    expression = Arithmetic(ArithmeticOperator.ADD, column, column, Integer(64))
    for rows in (MAX_COMPUTED, MAX_COMPUTED + 1):
        values = exact_arithmetic(expression, {"c0": pa.array([1] * rows, pa.int64())}, rows)
        assert (values is None) == (rows > MAX_COMPUTED)
