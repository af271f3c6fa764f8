"""Sums and means of numbers whose total is beyond their type: exact, NULL where it has no place."""

from __future__ import annotations

from decimal import Decimal as Number
from fractions import Fraction
from functools import cache
from random import Random

import duckdb
import pytest
from data.database import attached
from sqlglot import exp

from dpsql.emit.dialect.duckdb.aggregate import emit_aggregate, emit_window
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OpenFunction
from dpsql.plan.expression import Column, Compare, Comparison, Literal
from dpsql.plan.frame import Frame, FrameKind
from dpsql.plan.operator import Values, WindowCall
from dpsql.plan.sort_key import SortKey
from dpsql.schema.sql_type import BIGINT, HUGEINT, Decimal, Double, SqlType

KINDS: tuple[SqlType, ...] = (HUGEINT, *(Decimal(38, scale) for scale in (0, 1, 4, 19, 37, 38)))
ROW = Column(2, "n", BIGINT)


@cache
def engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def scale_of(kind: SqlType) -> int:
    return kind.scale if isinstance(kind, Decimal) else 0


def largest(kind: SqlType) -> int:
    return 2**127 - 1 if kind == HUGEINT else 10**38 - 1


def shown(units: int, kind: SqlType) -> str:
    whole, part = divmod(abs(units), 10 ** scale_of(kind))
    fraction = f".{part:0{scale_of(kind)}}" if scale_of(kind) else ""
    return f"{'-' if units < 0 else ''}{whole}{fraction}"


def evaluated(expression: exp.Expr, kind: SqlType, numbers: list[int | None]) -> list[object]:
    """`expression` over rows that have these `numbers` of units of the last digit of `kind`."""
    rows = ", ".join(
        f"({n}, CAST({'NULL' if x is None else repr(shown(x, kind))} AS {kind}))"
        for n, x in enumerate(numbers)
    )
    sql = f"SELECT {rendered(expression)} FROM (VALUES {rows}) t(c2, c1)"
    return [value for (value,) in engine().execute(sql).fetchall()]


def units(value: object, kind: SqlType) -> int | None:
    """The number of units of the last digit that `value` is."""
    assert value is None or isinstance(value, int | Number)
    return None if value is None else int(Fraction(value) * 10 ** scale_of(kind))


def numbers_of(kind: SqlType, random: Random) -> list[int | None]:
    """A few numbers, large and small, of both signs; some are the largest, some are NULL."""
    top = largest(kind)
    return [
        random.choice((None, top, -top, random.randint(-top, top), random.randint(-9, 9)))
        for _ in range(random.randint(1, 8))
    ]


def called(function: AggregateFunction, kind: SqlType, *, distinct: bool) -> AggregateCall:
    own = kind if function is AggregateFunction.SUM else Double()
    first = Compare(Comparison.LESS, ROW, Literal(6, BIGINT))
    return AggregateCall(function, (Column(1, "x", kind),), distinct, first, own)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("distinct", [False, True])
def test_a_sum_of_numbers_of_any_size_is_exact(kind: SqlType, *, distinct: bool) -> None:
    random = Random(f"{kind} {distinct}")
    outcomes = set()
    for _ in range(30):
        numbers = numbers_of(kind, random)
        terms = [x for x in numbers[:6] if x is not None]
        total = sum(set(terms) if distinct else terms) if terms else None
        fits = total is not None and abs(total) <= largest(kind)
        call = called(AggregateFunction.SUM, kind, distinct=distinct)
        sql = emit_aggregate(call, None, guarded=random.random() < 0.5, is_total=True)
        (value,) = evaluated(sql, kind, numbers)
        assert units(value, kind) == (total if fits else None), numbers
        outcomes.add(fits)
    assert outcomes == {True, False}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("distinct", [False, True])
def test_a_mean_lies_where_its_numbers_do(kind: SqlType, *, distinct: bool) -> None:
    random = Random(f"{kind} {distinct}")
    for _ in range(30):
        numbers = numbers_of(kind, random)
        terms = [x for x in numbers[:6] if x is not None]
        terms = list(set(terms)) if distinct else terms
        call = called(AggregateFunction.AVG, kind, distinct=distinct)
        sql = emit_aggregate(call, None, guarded=False, is_total=True)
        (value,) = evaluated(sql, kind, numbers)
        if not terms:
            assert value is None
            continue
        mean = float(Fraction(sum(terms), len(terms) * 10 ** scale_of(kind)))
        assert value == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("function", ["sum", "avg"])
def test_so_are_windows(kind: SqlType, function: str) -> None:
    random = Random(f"{kind} {function}")
    column = Column(1, "x", kind)
    source = Values((column, ROW), ())
    order = (SortKey(ROW, descending=False, nulls_first=False),)
    frame = Frame(FrameKind.ROWS, -1, 0, None)
    own = kind if function == "sum" else Double()
    call = WindowCall(function, (column,), (), order, frame, own)
    for _ in range(20):
        numbers = numbers_of(kind, random)
        values = evaluated(emit_window(call, source, is_total=True), kind, numbers)
        for row, value in enumerate(values):
            terms = [x for x in numbers[max(0, row - 1) : row + 1] if x is not None]
            if not terms:
                assert value is None
            elif function == "avg":
                mean = float(Fraction(sum(terms), len(terms) * 10 ** scale_of(kind)))
                assert value == pytest.approx(mean, rel=1e-12)
            else:
                fits = abs(sum(terms)) <= largest(kind)
                assert units(value, kind) == (sum(terms) if fits else None)


@pytest.mark.parametrize(
    "function", [OpenFunction.SKEWNESS, OpenFunction.KURTOSIS, OpenFunction.KURTOSIS_POP]
)
def test_what_is_no_finite_number_is_null(function: OpenFunction) -> None:
    call = AggregateCall(function, (Column(1, "x", Double()),), False, None, Double())
    plain, total = (
        rendered(emit_aggregate(call, None, guarded=False, is_total=is_total))
        for is_total in (False, True)
    )
    with attached() as connection:
        connection.execute("CREATE TABLE far AS SELECT unnest([1e308, -1e308, 1, 2]) AS c1")
        connection.execute("CREATE TABLE near AS SELECT unnest([1, 2, 5, NULL, 7.5::DOUBLE]) AS c1")
        assert connection.execute(f"SELECT {total} FROM far").fetchall() == [(None,)]
        with pytest.raises(duckdb.OutOfRangeException):
            connection.execute(f"SELECT {plain} FROM far").fetchall()
        ordinary, same = (
            connection.execute(f"SELECT {sql} FROM near").fetchall() for sql in (plain, total)
        )
    assert ordinary == same != [(None,)]
