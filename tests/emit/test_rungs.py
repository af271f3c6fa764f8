"""Rungs and codes are exact: numbers at, below and above each end are where they are, anywhere."""

from __future__ import annotations

from decimal import Decimal as Number
from fractions import Fraction
from math import ceil, isfinite, log2

import duckdb
import pyarrow as pa
import pytest
from emit import postgres_server, spark_server
from emit.rungs import ALL, UNSIGNED, Intervals, of_rungs

from dpsql.emit.dialect.duckdb.render import rendered as duckdb_text
from dpsql.emit.dialect.postgres.render import rendered as postgres_text
from dpsql.emit.dialect.spark.render import rendered as spark_text
from dpsql.schema.sql_type import Double

Row = tuple[object, ...]


@pytest.fixture(params=ALL, ids=[each.name for each in ALL])
def intervals(request: pytest.FixtureRequest) -> Intervals:
    found = request.param
    assert isinstance(found, Intervals)
    return found


def _filled(intervals: Intervals) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f'CREATE TABLE "of_{intervals.kind}" (v {intervals.kind})')
    into = f'INSERT INTO "of_{intervals.kind}" SELECT unnest(?)'
    connection.execute(into, [intervals.texts])
    return connection


def _shown(rows: list[Row]) -> list[tuple[str, object]]:
    """Numbers with their intervals, in an order."""
    return sorted((_key(value), number) for value, number in rows)


def _key(value: object) -> str:
    if isinstance(value, int | float | Number | Fraction) and isfinite(value):
        return str(Fraction(value))
    return str(value)


def _expected(intervals: Intervals) -> list[tuple[str, object]]:
    return _shown([(value, intervals.expected(value)) for value in intervals.values])


def test_numbers_are_in_their_intervals_in_duckdb(intervals: Intervals) -> None:
    with _filled(intervals) as connection:
        found = connection.execute(duckdb_text(intervals.tree)).fetchall()
    assert _shown(found) == _expected(intervals)


def test_numbers_are_in_their_intervals_on_postgresql(intervals: Intervals) -> None:
    name, table = f"rungs {intervals.name}", f"of_{intervals.kind}"
    rows = {table: [(each,) for each in intervals.texts]}
    postgres_server.create(name, {table: {"v": intervals.kind}}, rows)
    found = postgres_server.run(postgres_text(intervals.tree), name)
    assert _shown(found) == _expected(intervals)


def test_numbers_without_a_sign_are_in_their_intervals() -> None:
    test_numbers_are_in_their_intervals_in_duckdb(UNSIGNED)
    test_numbers_are_in_their_intervals_on_postgresql(UNSIGNED)


def test_numbers_are_in_their_intervals_on_spark(intervals: Intervals) -> None:
    name, table = f"rungs {intervals.name}", f"of_{intervals.kind}"
    kind = spark_server.arrow_type(intervals.kind)
    shown = "v::DECIMAL(38,0) AS v" if kind == pa.decimal128(38, 0) else "v"
    with _filled(intervals) as connection:
        held = connection.sql(f'SELECT {shown} FROM "{table}"').to_arrow_table()
    spark_server.view(name, table, held.cast(pa.schema([("v", kind)])))
    found = spark_server.tuples(spark_server.run(spark_text(intervals.tree), name))
    assert _shown(found) == _expected(intervals)


def test_rungs_are_those_of_a_logarithm_but_at_their_ends() -> None:
    rungs = of_rungs(Double())
    for step in range(-300, 1300):
        value = 1.07**step  # no power of it is a power of the root of two
        by_logarithm = min(max(ceil(2 * log2(value)) + 81, 1), 241)
        assert rungs.expected(value) == by_logarithm, value
